//! The command, tested as a program: the real binary in a folder of its own.

mod arena_match;
mod bad_input;
mod certificate;
mod convert;
mod database;
mod drills;
mod engines;
mod gauntlet;
mod grid;
mod home;
mod interrupt;
#[cfg(feature = "neural")]
mod learning;
mod long;
mod look;
mod many;
#[cfg(feature = "neural")]
mod net;
mod old;
mod pages;
mod policy;
mod prove;
mod solve;
mod trust;
mod verify;
mod versions;
mod workers;

use home::{Home, Ran, finish, until};
use serde_json::Value;
use std::path::Path;

/// What is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_sortie");

/// Commands that take seconds, each with the log it writes.
const LONG: [(&str, &str); 3] = [
    (
        "match nim/21 --player default --player plain --limit 2000playouts --games 60 --concurrency 1",
        "games.jsonl",
    ),
    (
        "tune nim/21 --player plain --param c=0.1..2.0 --against random --games 60 --limit 2000playouts --concurrency 1",
        "games.jsonl",
    ),
    ("prove breakthrough/4x4 --job-nodes 8 --jobs 4000 --workers 1", "jobs.jsonl"),
];

/// The moves of a result or a record of one.
fn moves(result: &Value) -> Vec<String> {
    serde_json::from_value(result["moves"].clone()).expect("words")
}

/// The moves in a record file.
fn record_moves(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a record");
    sortie_core::Record::parse(&text).expect("a record").moves
}
