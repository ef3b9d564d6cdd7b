//! The signature: one hash for every example instance and every search or player, from a fixed seed. It covers the best
//! moves, when they were found and how many random numbers were drawn; of a player, all lines of its thought. A change that moves a line of `signature.txt` has
//! changed what a search does; its commit says so and why.
//!
//! The rows come from `sortie list`, so a new domain or search needs no line of code here. This rewrites the file:
//!
//! ```text
//! SORTIE_BLESS=1 cargo test -p sortie --test signature
//! ```

use serde_json::{Value, json};
use sortie_core::Opened;
use sortie_core::{AnyGame, AnyProblem, BestOf, Budget, Control, Limits, Search, Uct};
use sortie_domains::open;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// Enough for a level-2 search of `ITERATIONS` to end twice and begin again.
const PLAYOUTS: u64 = 500;
const ITERATIONS: u32 = 15;

const HEADER: &str = "\
# Instance, search and level, best score, hash: seed 1, one stream, 500 playouts, 15 iterations a level.
# Of a game: player, value of the start for the first side, hash.
# Written by: SORTIE_BLESS=1 cargo test -p sortie --test signature
";

#[test]
fn every_search_still_does_what_it_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signature.txt");
    let list = list();
    let mut text = HEADER.to_string();
    for instance in instances(&list) {
        // No example is a file.
        match open(&instance, &|_| Err("no files".into())).expect("an example opens") {
            Opened::Problem(problem) => {
                for search in searches(&list) {
                    text += &row(&instance, &*problem, search);
                }
            }
            Opened::Game(game) => {
                for (name, _) in Uct::PRESETS {
                    text += &thought(&instance, &*game, name);
                }
            }
        }
    }
    if std::env::var_os("SORTIE_BLESS").is_some() {
        std::fs::write(&path, text).expect("signature.txt is writable");
        return;
    }
    let signed = std::fs::read_to_string(&path).unwrap_or_default();
    let gone: Vec<String> = lines_not_in(&signed, &text).map(|line| format!("- {line}")).collect();
    let new: Vec<String> = lines_not_in(&text, &signed).map(|line| format!("+ {line}")).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the signature has moved:\n{}\nif that is meant, say so in the commit, and rewrite it with\n    \
         SORTIE_BLESS=1 cargo test -p sortie --test signature",
        [gone, new].concat().join("\n")
    );
}

/// What the program says there is.
fn list() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_sortie")).args(["list", "--json"]).output();
    serde_json::from_slice(&output.expect("the program starts").stdout).expect("JSON")
}

fn array<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("a list of {key}"))
}

/// Every example of every domain.
fn instances(list: &Value) -> impl Iterator<Item = String> {
    let examples = array(list, "domains").iter().flat_map(|domain| array(domain, "examples"));
    examples.map(|example| example.as_str().expect("a name").to_string())
}

/// Every search, at levels 1 and 2 if it has levels, otherwise with its own defaults.
fn searches(list: &Value) -> Vec<Search> {
    let mut all = Vec::new();
    for search in array(list, "searches") {
        let has = |key: &str| array(search, "parameters").iter().any(|parameter| parameter["name"] == key);
        let mut spec = json!({ "name": search["name"] });
        if has("iterations") {
            spec["iterations"] = json!(ITERATIONS);
        }
        for level in if has("level") { 1..=2 } else { 0..=0 } {
            if level > 0 {
                spec["level"] = json!(level);
            }
            all.push(serde_json::from_value(spec.clone()).expect("a search and its parameters"));
        }
    }
    all
}

/// One line: the instance, the search, the score and the hash.
fn row(instance: &str, problem: &dyn AnyProblem, search: Search) -> String {
    let spec = serde_json::to_value(&search).expect("plain data");
    let level = spec.get("level").map_or(String::new(), |level| format!("-{level}"));
    let name = format!("{}{level}", search.name());
    let stop = AtomicBool::new(false);
    let limits = Limits { playouts: Some(PLAYOUTS), ..Limits::default() };
    let control = Control::new(limits, &stop, &|_| {});
    let spec = BestOf { search, seed: 1, streams: 1, threads: 1 };
    let outcomes = problem.solve(&spec, &control, Vec::new());
    let best = outcomes.best.expect("playouts were played");
    let mut end = outcomes.streams.into_iter().next().expect("one stream");
    let told = format!("{} at {} then {}", best.moves.join(" "), end.improved_at, end.rng.bits());
    problem.verify(&best.moves).unwrap_or_else(|error| panic!("{instance} {name}: {error}"));
    format!("{instance:28} {name:12} {:<10} {:016x}\n", best.score, hash(&told))
}

/// One line: the game, the player, the value of the start for the first side, and the hash of all that was thought.
fn thought(instance: &str, game: &dyn AnyGame, name: &str) -> String {
    let uct = Uct::preset(name).expect("a preset");
    let mut player = game.player(&uct, 1).expect("a sound preset");
    let stop = AtomicBool::new(false);
    let thought = player.think(&Budget::playouts(PLAYOUTS), &stop, &mut |_| {}).expect("ours never fail");
    let told: Vec<String> = thought
        .lines
        .iter()
        .map(|line| format!("{} {} {}", line.moves.join(" "), line.visits, line.value))
        .collect();
    format!("{instance:28} {name:12} {:<10.4} {:016x}\n", thought.value, hash(&told.join("\n")))
}

/// FNV-1a: the standard library's hash may change from release to release.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn lines_not_in<'a>(text: &'a str, other: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter(move |line| !other.lines().any(|known| known == *line))
}
