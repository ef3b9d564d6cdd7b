//! The numbers of ways to play so many moves, against the lists in `instances/perft`: the shortest test of rules there
//! is. A line is an instance and its counts from one move on.

use crate::open;
use sortie_core::Opened;

/// Counts above this are left to whoever has the time.
const COUNT_MAX: u64 = 1_000_000;

#[test]
fn counts_are_those_of_the_lists() {
    for text in [
        include_str!("../instances/perft/breakthrough.txt"),
        include_str!("../instances/perft/connect4.txt"),
        include_str!("../instances/perft/connect6.txt"),
        include_str!("../instances/perft/gomoku.txt"),
        include_str!("../instances/perft/hex.txt"),
        include_str!("../instances/perft/pgame.txt"),
        include_str!("../instances/perft/tictactoe.txt"),
    ] {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert!(lines.clone().count() > 0);
        for line in lines {
            let (instance, counts) = line.split_once(' ').expect("an instance and counts");
            let Ok(Opened::Game(game)) = open(instance, &|_| Err("no files".into())) else {
                panic!("{instance} is no game")
            };
            for (depth, count) in (1..).zip(counts.split_whitespace()) {
                let count: u64 = count.parse().expect("a count");
                if count <= COUNT_MAX {
                    assert_eq!(game.perft(depth), count, "{instance} after {depth}");
                }
            }
        }
    }
}
