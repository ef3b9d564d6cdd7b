//! A gang as numbers and choices.

use crate::search::SpecError;
use serde::{Deserialize, Serialize};

/// How a search is spread over ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Transposition-driven scheduling: nodes live at home ranks, searches travel to them.
    Tds,
    /// A replicated top, and subtrees below it that each have one owner.
    Canopy,
}

impl Form {
    /// The names, each with a line about it.
    pub const ALL: &[(&str, &str)] = &[
        ("tds", "nodes at home ranks by hash, searches travel to them"),
        ("canopy", "ours: a replicated top, subtrees with one owner below it"),
    ];

    /// By name.
    pub fn named(name: &str) -> Option<Form> {
        Some(match name {
            "tds" => Form::Tds,
            "canopy" => Form::Canopy,
            _ => return None,
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Form::Tds => "tds",
            Form::Canopy => "canopy",
        }
    }

    /// Whether every rank begins simulations; else the front alone.
    pub fn all_begin(self) -> bool {
        match self {
            Form::Tds => false,
            Form::Canopy => true,
        }
    }
}

/// A gang: how many ranks there are and how they share a search. A form reads the numbers that are its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gang {
    /// How the search is spread.
    pub form: Form,
    /// Machines.
    pub nodes: u32,
    /// Ranks on each.
    pub ranks: u32,
    /// Threads of each rank. One does everything; of several one keeps the tree and the others play out.
    pub threads: u32,
    /// Simulations in flight for each thread that plays out (TDS, df-UCT, UCT-Treesplit).
    pub par: u32,
    /// Canopy: subtrees for each rank, at least: a subtree with more than one part in `pieces` times the ranks of all
    /// visits becomes part of the replicated top.
    pub pieces: u32,
    /// Canopy: visits that a subtree has at least before that.
    pub grow_min: u32,
    /// Canopy: the share of all visits that a neighbour may lag behind by.
    pub lag: f64,
    /// Canopy: neighbours below each rank in the tree of ranks that differences travel along.
    pub fan: u32,
    /// Canopy: simulations in flight are at most this share of all visits, but for the first of each rank.
    pub share: f64,
}

impl Default for Gang {
    fn default() -> Self {
        Gang {
            form: Form::Tds,
            nodes: 2,
            ranks: 1,
            threads: 1,
            par: 2,
            pieces: 16,
            grow_min: 32,
            lag: 0.005,
            fan: 4,
            share: 0.25,
        }
    }
}

impl Gang {
    /// All ranks.
    pub fn size(&self) -> u32 {
        self.nodes * self.ranks
    }

    /// Threads of a rank that play out.
    pub fn players(&self) -> u32 {
        self.threads.saturating_sub(1).max(1)
    }

    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), SpecError> {
        let refuse = |parameter, given: String, expected| Err(SpecError { parameter, given, expected });
        let whole = [
            ("nodes", self.nodes, 1, 4096, "1 to 4096"),
            ("ranks", self.ranks, 1, 256, "1 to 256"),
            ("threads", self.threads, 1, 256, "1 to 256"),
            ("par", self.par, 1, 1000, "1 to 1000"),
            ("pieces", self.pieces, 1, 10_000, "1 to 10000"),
            ("grow-min", self.grow_min, 2, 1 << 20, "2 to 1048576"),
            ("fan", self.fan, 1, 4096, "1 to 4096"),
        ];
        for (name, given, min, max, expected) in whole {
            if !(min..=max).contains(&given) {
                return refuse(name, given.to_string(), expected);
            }
        }
        for (name, given) in [("lag", self.lag), ("share", self.share)] {
            if !(0.0..=1000.0).contains(&given) {
                return refuse(name, given.to_string(), "0 to 1000");
            }
        }
        if self.size() > 4096 {
            return refuse("nodes times ranks", self.size().to_string(), "at most 4096");
        }
        Ok(())
    }
}
