//! The words of `records/circuit-codes.txt`, replayed by the rules. `records/check.py` checks them by the definition alone.

use sortie_core::Opened;
use std::collections::BTreeMap;

const WORDS: &str = include_str!("../records/circuit-codes.txt");

/// What the table of 2016 knew (Cazenave and Edelkamp, tables 2 and 3), by dimension from 3 and spread from 2.
const SNAKES: [[u32; 6]; 11] = [
    [4, 3, 3, 3, 3, 3],
    [7, 5, 4, 4, 4, 4],
    [13, 7, 6, 5, 5, 5],
    [26, 13, 8, 7, 6, 6],
    [50, 21, 11, 9, 8, 7],
    [98, 35, 19, 11, 10, 9],
    [190, 63, 28, 19, 12, 11],
    [370, 103, 47, 25, 15, 13],
    [707, 157, 68, 39, 25, 15],
    [1302, 286, 104, 56, 33, 25],
    [2520, 493, 181, 79, 47, 31],
];
const COILS: [[u32; 6]; 11] = [
    [6, 6, 6, 6, 6, 6],
    [8, 8, 8, 8, 8, 8],
    [14, 10, 10, 10, 10, 10],
    [26, 16, 12, 12, 12, 12],
    [48, 24, 14, 14, 14, 14],
    [96, 36, 22, 16, 16, 16],
    [188, 64, 30, 24, 18, 18],
    [358, 102, 46, 28, 20, 20],
    [668, 160, 70, 40, 30, 22],
    [1276, 288, 102, 60, 36, 32],
    [2468, 494, 182, 80, 50, 36],
];

/// The lengths found here, by kind, dimension and spread.
fn found() -> BTreeMap<(String, usize, usize), u32> {
    let mut longest = BTreeMap::new();
    for line in WORDS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let [kind, d, k, length, source, word] = fields[..] else { panic!("not six fields: {line}") };
        let moves: Vec<String> =
            word.chars().map(|digit| digit.to_digit(16).expect("a hexadecimal digit").to_string()).collect();
        let name = format!("{kind}/{d}-{k}");
        let Ok(Opened::Problem(problem)) = sortie_domains::open(&name, &|_| Err("no files".into())) else {
            panic!("{name} is a problem")
        };
        let end = problem.position(&moves).unwrap_or_else(|e| panic!("{name} of length {length}: {e}"));
        assert_eq!(end.score, length.parse::<f64>().unwrap(), "{name}");
        if source.starts_with("own") {
            let known =
                longest.entry((kind.to_string(), d.parse().unwrap(), k.parse().unwrap())).or_insert(0);
            *known = length.parse::<u32>().unwrap().max(*known);
        }
    }
    longest
}

#[test]
fn every_word_replays_and_what_was_won_stays_won() {
    let found = found();
    let mut above = 0;
    for (kind, table) in [("coil", COILS), ("snake", SNAKES)] {
        for (row, d) in table.iter().zip(3..) {
            for (&known, k) in row.iter().zip(2..) {
                let ours = found.get(&(kind.to_string(), d, k)).copied().unwrap_or(0);
                above += u32::from(ours > known);
                // The cells below the table: docs/circuit-codes.md.
                let behind = k == 2 && d >= 9 || (kind, d, k) == ("snake", 13, 4);
                assert!(ours >= known || behind, "{kind} ({d}, {k}): {ours} of {known}");
            }
        }
    }
    assert!(above >= ABOVE, "{above} cells above the table of 2016");
}

/// The cells of the table that are longer here.
const ABOVE: u32 = 13;
