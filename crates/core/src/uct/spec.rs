//! What a two-player search is made of, as numbers and choices.

use crate::search::SpecError;
use serde::{Deserialize, Serialize};

/// How a move is chosen within the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Mean value plus `c * sqrt(ln N / n)`.
    Uct,
    /// Mean value plus `c * P * sqrt(N) / (1 + n)`, P being the share of the move in the knowledge of all.
    Puct,
}

/// What is known of a move before it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knowledge {
    /// Nothing.
    None,
    /// The weight of its category.
    Categories,
    /// The evaluation of the position it leads to.
    Evaluation,
}

/// How simulations that have not come back yet are counted by those that follow them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Not at all.
    Ignore,
    /// As visits that lost.
    VirtualLoss,
    /// As visits that leave the mean as it is (Liu et al. 2020).
    Unobserved,
    /// As visits that leave the mean as it is where they are few beside those that came back, and the more as lost ones
    /// the more they are: a move is not to draw everybody on the strength of one lucky playout.
    Mixed,
}

/// Which move is played when the search is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinalMove {
    /// The highest mean value.
    Max,
    /// The most visits.
    Robust,
    /// Both at once; as long as they are two, the search goes on a little, then the most visits.
    MaxRobust,
    /// The highest lower confidence bound.
    Secure,
}

/// UCT and its enhancements. `Default` is our own player, tuned by matches of Lines of Action (docs/results.md); `preset`
/// has others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Uct {
    /// How a move is chosen within the tree.
    pub rule: Rule,
    /// The weight of exploration.
    pub c: f64,
    /// The value of a move never tried (first play urgency), for the side to move. Above 1 all moves are tried before any twice.
    pub fpu: f64,
    /// What is known of a move before it is tried.
    pub knowledge: Knowledge,
    /// The weight of that knowledge, fading with the visits (progressive bias).
    pub bias: f64,
    /// Moves considered at a node's first visit, the best known first (progressive unpruning); 0: all, always.
    pub unprune_first: u32,
    /// One more is considered each time the visits grow by this factor.
    pub unprune_rate: f64,
    /// Playouts play the most appealing of so many moves drawn at random; 1: uniform.
    pub draws: u32,
    /// Playouts draw moves by the weights of their categories instead.
    pub weighted: bool,
    /// Moves after which a playout is cut off and its position evaluated; 0: playouts go to the end.
    pub cut: u32,
    /// How steeply an evaluation becomes a probability to win where a playout is cut off.
    pub steepness: f64,
    /// A winning move is played at once, in the tree and where a playout begins (decisive moves).
    pub decisive: bool,
    /// Wins, losses and draws that are certain are proved back through the tree (MCTS-Solver).
    pub solver: bool,
    /// Visits of a move before the position it leads to gets a node.
    pub expand: u32,
    /// Positions reached by several paths have one node.
    pub transpositions: bool,
    /// A move is judged by all visits of the position it leads to, not only by those that came through it.
    pub pool_means: bool,
    /// The move that is played.
    pub final_move: FinalMove,
    /// The tree is kept between the moves of a game.
    pub reuse: bool,
    /// Threads that search one tree.
    pub threads: u32,
    /// Simulations in flight at once on each thread: selected, not yet played out.
    pub in_flight: u32,
    /// How the simulations in flight are counted.
    pub counting: Counting,
    /// The bound on the memory of the tree, in MiB.
    pub memory: u32,
}

impl Default for Uct {
    fn default() -> Self {
        Uct {
            rule: Rule::Uct,
            c: 0.5,
            fpu: 1.1,
            knowledge: Knowledge::Categories,
            bias: 0.0,
            unprune_first: 7,
            unprune_rate: 2.0,
            draws: 10,
            weighted: false,
            cut: 0,
            steepness: 4.0,
            decisive: true,
            solver: true,
            expand: 1,
            transpositions: false,
            pool_means: true,
            final_move: FinalMove::Robust,
            reuse: true,
            threads: 1,
            in_flight: 1,
            counting: Counting::Mixed,
            memory: 256,
        }
    }
}

impl Uct {
    /// The names that `Uct::preset` knows, each with a line about it.
    pub const PRESETS: &[(&str, &str)] = &[
        ("default", "our own player"),
        ("plain", "UCT with uniform playouts and nothing else"),
        ("pu-mc", "thesis: progressive unpruning by move categories"),
        ("pu-ef", "thesis: progressive unpruning by evaluation"),
        ("fpu-mc", "thesis: first play urgency, bias by move categories"),
        ("fpu-ef", "thesis: first play urgency, bias by evaluation"),
    ];

    /// UCT with uniform playouts and nothing else.
    pub fn plain() -> Uct {
        Uct {
            c: 1.0,
            fpu: f64::MAX,
            knowledge: Knowledge::None,
            unprune_first: 0,
            draws: 1,
            decisive: false,
            solver: false,
            ..Uct::default()
        }
    }

    /// Named parameters. The four of the thesis are table 5.1 of Christoph (2020), found with CLOP for its serial
    /// agents, which write the exploration term as `2 C sqrt(2 ln N / n)` on rewards of 0 and 1.
    pub fn preset(name: &str) -> Option<Uct> {
        use Knowledge::{Categories, Evaluation};
        let thesis = |c: f64, bias, knowledge| Uct { c: c * 8f64.sqrt(), bias, knowledge, ..Uct::plain() };
        let unpruned = |uct: Uct, first, rate| Uct { unprune_first: first, unprune_rate: rate, ..uct };
        Some(match name {
            "default" => Uct::default(),
            "plain" => Uct::plain(),
            "pu-mc" => unpruned(thesis(1.0748, 12.3619, Categories), 1, 2.5365),
            "pu-ef" => unpruned(thesis(0.8610, 14.2020, Evaluation), 2, 2.6011),
            "fpu-mc" => Uct { fpu: 1.1050, ..thesis(0.6838, 16.0458, Categories) },
            "fpu-ef" => Uct { fpu: 1.1734, ..thesis(1.1077, 10.8757, Evaluation) },
            _ => return None,
        })
    }

    /// Whether a tree has to store what is known of moves; PUCT without knowledge has even shares.
    #[doc(hidden)]
    pub fn needs_knowledge(&self) -> bool {
        self.knowledge != Knowledge::None || self.rule == Rule::Puct
    }

    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<(), SpecError> {
        let refuse = |parameter, given: String, expected| Err(SpecError { parameter, given, expected });
        let real = [
            ("c", self.c, 0.0, 1000.0, "0 to 1000"),
            ("fpu", self.fpu, -1000.0, f64::MAX, "at least -1000"),
            ("bias", self.bias, 0.0, 1e6, "0 to 1000000"),
            ("unprune-rate", self.unprune_rate, 1.000_1, 1e9, "more than 1"),
            ("steepness", self.steepness, 0.0, 1000.0, "0 to 1000"),
        ];
        for (name, given, min, max, expected) in real {
            if !(min..=max).contains(&given) {
                return refuse(name, given.to_string(), expected);
            }
        }
        let whole = [
            ("draws", self.draws, 1, 64, "1 to 64"),
            ("expand", self.expand, 1, 1 << 20, "1 to 1048576"),
            ("threads", self.threads, 1, 1024, "1 to 1024"),
            ("in-flight", self.in_flight, 1, 2048, "1 to 2048"),
            ("memory", self.memory, 1, 1 << 14, "1 to 16384 MiB"),
            ("unprune-first", self.unprune_first, 0, 1 << 16, "0 to 65536"),
        ];
        for (name, given, min, max, expected) in whole {
            if !(min..=max).contains(&given) {
                return refuse(name, given.to_string(), expected);
            }
        }
        if self.threads * self.in_flight > 4000 {
            let given = (self.threads * self.in_flight).to_string();
            return refuse("threads times in-flight", given, "at most 4000");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound_and_nonsense_is_refused() {
        for (name, _) in Uct::PRESETS {
            assert_eq!(Uct::preset(name).expect("listed").check(), Ok(()), "{name}");
        }
        assert!(Uct::preset("no such player").is_none());
        for bad in [
            Uct { c: f64::NAN, ..Uct::default() },
            Uct { unprune_rate: 1.0, ..Uct::default() },
            Uct { threads: 0, ..Uct::default() },
            Uct { threads: 100, in_flight: 100, ..Uct::default() },
            Uct { memory: 0, ..Uct::default() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
