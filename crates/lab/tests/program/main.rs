//! The laboratory as a program: its studies, and that it is `sortie` besides.

mod bench;
mod categories;
mod drills;
#[path = "../../../sortie/tests/program/home.rs"]
mod home;
#[path = "../../../sortie/tests/program/long.rs"]
mod long;
#[cfg(feature = "neural")]
#[path = "../../../sortie/tests/program/net.rs"]
mod net;
mod paper;
mod scale;
#[path = "../../../sortie/tests/program/versions.rs"]
mod versions;

use home::Home;

/// What is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_lab");

/// Commands that take seconds, each with the log it writes.
const LONG: [(&str, &str); 2] = [
    (
        "scale nim/21 --virtual --forms tds --nodes 1,2 --threads 3 --time 3ms --player plain --positions 3 --games 60",
        "games.jsonl",
    ),
    ("paper samegame-table1 --rows 1..4 --time 300ms --threads 1", "cells.jsonl"),
];
