//! What a folder holds: the one list of the files that make it so. Another kind of run is a line here, a command that
//! goes on with it, and a page.

use crate::folder::{CHECKPOINT, EVENTS, RECORD};
use std::path::Path;

/// The file of a search for a solution.
pub const SPEC: &str = "spec.toml";
/// What a match was asked for.
pub const MATCH: &str = "match.toml";
/// What a tuning was asked for.
pub const TUNE: &str = "tune.toml";
/// What a study was asked for.
pub const STUDY: &str = "study.toml";
/// What a search for a proof was asked for.
pub const PROVE: &str = "prove.toml";
/// What a study of scaling was asked for.
pub const SCALE: &str = "scale.toml";
/// What games to learn from were asked for.
pub const DATA: &str = "data.toml";
/// What a training was asked for.
pub const TRAIN: &str = "train.toml";
/// What an expert iteration was asked for.
pub const EXIT: &str = "exit.toml";
/// What a campaign is about.
pub const CAMPAIGN: &str = "campaign.toml";
/// The grid of a run, whatever its kind.
pub const GRID: &str = "grid.toml";

/// The games of a match, a tuning or a set to learn from, one a line.
pub const GAMES: &str = "games.jsonl";
/// The answers of a proof search.
pub const JOBS: &str = "jobs.jsonl";
/// How fast everybody was in a study of scaling.
pub const RATES: &str = "rates.jsonl";
/// Rounds of a training.
pub const CURVE: &str = "curve.jsonl";
/// The runs of a study.
pub const CELLS: &str = "cells.jsonl";
/// The tries of a campaign.
pub const TRIES: &str = "tries.jsonl";
/// The searches of a run whose searches are jobs of a grid.
pub const SEARCHES: &str = "searches.jsonl";
/// Workers elsewhere.
pub const WORKERS: &str = "workers.jsonl";

/// What a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A search for a solution.
    Solve,
    /// Games between players.
    Match,
    /// Games that find parameters.
    Tune,
    /// A table or figure of a paper.
    Study,
    /// A search for the value of a position.
    Prove,
    /// How spread searches scale.
    Scale,
    /// Games to learn from.
    Data,
    /// A network that learns.
    Train,
    /// Experts and networks that learn from them, in turn.
    Exit,
    /// Many searches over many instances.
    Campaign,
    /// Some files of a run, but not the one that says what it is.
    Torn,
    /// Nothing of ours.
    Foreign,
}

/// What there is to know of a kind: what it is, the file that makes a folder one of it, the file that grows while it goes
/// on, its name for people, and the command that begins one.
type Row = (Kind, &'static str, &'static str, &'static str, &'static str);

const ROWS: [Row; 10] = [
    (Kind::Solve, SPEC, EVENTS, "search", "sortie solve"),
    (Kind::Match, MATCH, GAMES, "match", "sortie match"),
    (Kind::Tune, TUNE, GAMES, "tuning", "sortie tune"),
    (Kind::Study, STUDY, CELLS, "study", "lab paper"),
    (Kind::Prove, PROVE, JOBS, "proof search", "sortie prove"),
    (Kind::Scale, SCALE, GAMES, "scaling study", "lab scale"),
    (Kind::Data, DATA, GAMES, "games to learn from", "sortie data"),
    (Kind::Train, TRAIN, CURVE, "training", "sortie train"),
    (Kind::Exit, EXIT, CURVE, "expert iteration", "sortie exit"),
    (Kind::Campaign, CAMPAIGN, TRIES, "campaign", "sortie campaign"),
];

/// Files that show that something of ours was here.
const TRACES: [&str; 5] = [EVENTS, RECORD, GAMES, JOBS, CHECKPOINT];

impl Kind {
    /// Those that a run can be.
    pub const ALL: [Kind; 10] = {
        let mut all = [Kind::Solve; 10];
        let mut i = 0;
        while i < all.len() {
            all[i] = ROWS[i].0;
            i += 1;
        }
        all
    };

    /// The kind of a folder. Whoever begins a run refuses a folder that holds another, so one file decides.
    pub fn of(folder: &Path) -> Kind {
        let there = |file: &str| folder.join(file).is_file();
        match ROWS.iter().find(|row| there(row.1)) {
            Some(row) => row.0,
            None if TRACES.iter().any(|file| there(file)) => Kind::Torn,
            None => Kind::Foreign,
        }
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.0 == self)
    }

    /// The file that says what was asked for.
    pub fn request(self) -> &'static str {
        self.row().map_or(SPEC, |row| row.1)
    }

    /// The file that grows while it goes on.
    pub fn log(self) -> &'static str {
        self.row().map_or(EVENTS, |row| row.2)
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Torn => "incomplete",
            Kind::Foreign => "not a run",
            _ => self.row().map_or("", |row| row.3),
        }
    }

    /// The command that begins such a run.
    pub fn command(self) -> &'static str {
        self.row().map_or("sortie solve", |row| row.4)
    }

    /// The program that begins such a run and goes on with one.
    pub fn program(self) -> &'static str {
        self.command().split(' ').next().unwrap_or("sortie")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_says_what_a_folder_holds() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Kind::of(home.path()), Kind::Foreign);
        std::fs::write(home.path().join(EVENTS), "").unwrap();
        assert_eq!(Kind::of(home.path()), Kind::Torn);
        for kind in Kind::ALL {
            let folder = home.path().join(kind.name());
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(kind.request()), "").unwrap();
            assert_eq!(Kind::of(&folder), kind);
            assert!(kind.log().ends_with(".jsonl") && kind.command().contains(' '), "{kind:?}");
        }
    }
}
