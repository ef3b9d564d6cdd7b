//! A gang as numbers and choices.

use crate::forms::stack::SIBLINGS_MAX;
use serde::{Deserialize, Serialize};
use sortie_core::search::SpecError;

/// How a search is spread over ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Transposition-driven scheduling: nodes live at home ranks, searches travel to them.
    Tds,
    /// A replicated top, and subtrees below it that each have one owner.
    Canopy,
    /// Leaf parallelisation: few ranks have trees, the others play out for them.
    Leaf,
    /// Root/leaf: groups of ranks, in each of which one has a tree and the others play out for it.
    RootLeaf,
    /// Root/tree: every rank has a tree of its own.
    RootTree,
    /// Depth-first UCT: as TDS, but a job stays where it is until a node above would choose another move.
    DfUct,
    /// Massively parallel MCTS: as df-UCT, with the stacks kept in the nodes.
    MpMcts,
    /// UCT-Treesplit: as TDS, from all ranks, with copies of the nodes that are visited most everywhere.
    Treesplit,
}

/// Whose word decides on the move when several ranks have searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// The sums of the visits and values of all.
    Sum,
    /// Every rank with a tree names a move; the sums decide between moves named equally often (Soejima et al. 2010).
    Majority,
}

impl Form {
    /// The names, each with a line about it.
    pub const ALL: &[(&str, &str)] = &[
        ("tds", "nodes at home ranks by hash, searches travel to them"),
        ("canopy", "ours: a replicated top, subtrees with one owner below it"),
        ("leaf", "one rank or a few have trees, the others play out for them"),
        ("root-leaf", "groups of ranks, each a tree and its players; the trees share their tops"),
        ("root-tree", "every rank has a tree of its own; the trees share their tops"),
        ("df-uct", "as TDS, but a job stays at depth until a node above would choose another move"),
        ("mp-mcts", "as df-UCT, with what is known of the nodes above kept in the nodes"),
        ("treesplit", "as TDS, begun by all ranks, with copies of hot nodes everywhere"),
    ];

    /// By name.
    pub fn named(name: &str) -> Option<Form> {
        Some(match name {
            "tds" => Form::Tds,
            "canopy" => Form::Canopy,
            "leaf" => Form::Leaf,
            "root-leaf" => Form::RootLeaf,
            "root-tree" => Form::RootTree,
            "df-uct" => Form::DfUct,
            "mp-mcts" => Form::MpMcts,
            "treesplit" => Form::Treesplit,
            _ => return None,
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Form::Tds => "tds",
            Form::Canopy => "canopy",
            Form::Leaf => "leaf",
            Form::RootLeaf => "root-leaf",
            Form::RootTree => "root-tree",
            Form::DfUct => "df-uct",
            Form::MpMcts => "mp-mcts",
            Form::Treesplit => "treesplit",
        }
    }

    /// The options of a gang that this form reads; an option that it does not read is refused, so that nobody believes to
    /// have changed anything.
    pub fn options(self) -> impl Iterator<Item = &'static str> {
        let own: &[&str] = match self {
            Form::Tds => &[],
            Form::Canopy => &["pieces", "grow-min", "lag", "fan", "flying", "vote"],
            Form::Leaf => &["traversers"],
            Form::RootLeaf => &["group"],
            Form::RootTree => &[],
            Form::DfUct | Form::MpMcts => &["siblings", "stay", "keep"],
            Form::Treesplit => &["dup", "error", "sync-min", "sync-max", "broadcasters", "merge", "vote"],
        };
        let trees: &[&str] = match self {
            Form::Leaf | Form::RootLeaf | Form::RootTree => {
                &["leaf-playouts", "frequency", "depth", "share", "vote"]
            }
            _ => &[],
        };
        ["nodes", "ranks", "threads", "par"].into_iter().chain(own.iter().chain(trees).copied())
    }

    /// Whether an option is one of this form's.
    pub fn takes(self, option: &str) -> bool {
        self.options().any(|known| known == option)
    }

    /// Whether every rank with a tree begins simulations; else the front alone.
    pub fn all_begin(self) -> bool {
        match self {
            Form::Tds | Form::DfUct | Form::MpMcts => false,
            Form::Treesplit => true,
            Form::Canopy => true,
            Form::Leaf | Form::RootLeaf | Form::RootTree => true,
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
    /// Simulations in flight for each thread that plays out (all forms).
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
    pub flying: f64,
    /// Ranks that have trees (leaf).
    pub traversers: u32,
    /// Ranks of a group, the first of which has a tree (root-leaf).
    pub group: u32,
    /// Playouts of a position that is played out (leaf, root-leaf, root-tree).
    pub leaf_playouts: u32,
    /// How often a second trees share what is new at their tops; 0: never (leaf, root-leaf, root-tree).
    pub frequency: f64,
    /// Nodes less than so many moves from the root are shared: with 1 the root alone.
    pub depth: u32,
    /// Nodes are shared that have at least this share of the visits of the root.
    pub share: f64,
    /// Whose word decides on the move.
    pub vote: Vote,
    /// The best moves of a node that a job carries with it, the followed one among them (df-UCT, MP-MCTS).
    pub siblings: u32,
    /// The share of a node's visits that must be new to a job before it goes back up to that node because another move
    /// is better there (df-UCT, MP-MCTS); 0: at once, as published.
    pub stay: f64,
    /// Jobs may keep values to themselves until these are this share of all that are home (df-UCT, MP-MCTS); a million: for
    /// as long as they like, as published.
    pub keep: f64,
    /// Visits above which a node is copied to all ranks (UCT-Treesplit).
    pub dup: u32,
    /// The standard error that is left, of what the others know of a move, when they are told again: alpha is
    /// 1 / error^2 - 1 (UCT-Treesplit).
    pub error: f64,
    /// New visits of a move before which nobody is told, and with which everybody is (UCT-Treesplit).
    pub sync_min: u32,
    /// See `sync_min`.
    pub sync_max: u32,
    /// Ranks through which the others are told; 0: everybody tells everybody (UCT-Treesplit).
    pub broadcasters: u32,
    /// Microseconds for which those ranks collect before they pass on (UCT-Treesplit).
    pub merge: u32,
}

impl Default for Gang {
    fn default() -> Self {
        Gang {
            form: Form::Tds,
            nodes: 2,
            ranks: 1,
            threads: 1,
            par: 2,
            pieces: 4,
            grow_min: 32,
            lag: 0.0005,
            fan: 4,
            flying: 1.0,
            traversers: 1,
            group: 4,
            leaf_playouts: 1,
            frequency: 3.0,
            depth: 3,
            share: 0.05,
            vote: Vote::Sum,
            siblings: 2,
            stay: 0.0,
            keep: 0.25,
            dup: 256,
            error: 0.99,
            sync_min: 8,
            sync_max: 1024,
            broadcasters: 0,
            merge: 1000,
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
            ("traversers", self.traversers, 1, 4096, "1 to 4096"),
            ("group", self.group, 1, 4096, "1 to 4096"),
            ("leaf-playouts", self.leaf_playouts, 1, 64, "1 to 64"),
            ("depth", self.depth, 1, 16, "1 to 16"),
            ("dup", self.dup, 0, 1 << 20, "0 to 1048576"),
            ("sync-min", self.sync_min, 1, 1 << 16, "1 to 65536"),
            ("sync-max", self.sync_max, 1, 1 << 16, "1 to 65536"),
            ("broadcasters", self.broadcasters, 0, 4096, "0 to 4096"),
            ("merge", self.merge, 0, 1_000_000, "0 to 1000000"),
            ("siblings", self.siblings, 1, SIBLINGS_MAX as u32, "1 to 8"),
        ];
        for (name, given, min, max, expected) in whole {
            if !(min..=max).contains(&given) {
                return refuse(name, given.to_string(), expected);
            }
        }
        let real = [
            ("frequency", self.frequency, 1e6, "0 to 1000000 a second"),
            ("share", self.share, 1.0, "0 to 1"),
            ("lag", self.lag, 1000.0, "0 to 1000"),
            ("flying", self.flying, 1000.0, "0 to 1000"),
            ("stay", self.stay, 1.0, "0 to 1"),
            ("keep", self.keep, 1e6, "0 to 1000000"),
        ];
        for (name, given, max, expected) in real {
            if !(0.0..=max).contains(&given) {
                return refuse(name, given.to_string(), expected);
            }
        }
        if !(0.5..1.0).contains(&self.error) {
            return refuse("error", self.error.to_string(), "0.5 up to, not including, 1");
        }
        if self.sync_min > self.sync_max {
            return refuse("sync-min", self.sync_min.to_string(), "at most sync-max");
        }
        if self.size() > 4096 {
            return refuse("nodes times ranks", self.size().to_string(), "at most 4096");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_gang_is_read_by_a_form() {
        let all: Vec<Form> = Form::ALL.iter().filter_map(|(name, _)| Form::named(name)).collect();
        assert_eq!(all.len(), Form::ALL.len());
        // Every key of a gang but its form, as serde names them.
        let refused = serde::de::value::MapDeserializer::new(std::iter::once(("?", 0u32)));
        let error: serde::de::value::Error = Gang::deserialize(refused).expect_err("no such key");
        let text = error.to_string();
        let keys: Vec<&str> = text.split('`').skip(3).step_by(2).filter(|key| *key != "form").collect();
        assert!(keys.len() > 20, "{text}");
        for key in &keys {
            assert!(all.iter().any(|form| form.takes(key)), "nobody takes {key}");
        }
        for form in all {
            assert!(form.options().all(|option| keys.contains(&option)), "{}", form.name());
        }
        assert!(Form::Canopy.takes("pieces") && !Form::Tds.takes("pieces"));
    }
}
