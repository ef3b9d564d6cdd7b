//! The searches: one file each, and the enum that names them with their parameters.

mod auto;
mod beam_nrpa;
mod beam_search;
mod hd_nrpa;
mod islands;
mod nmcs;
mod nrpa;
mod own;
mod per_level;
mod sample;
mod streams;
mod team;
#[cfg(test)]
mod trial;

pub use auto::{Auto, Form, Lifted};
pub use beam_nrpa::BeamNrpa;
pub use beam_search::BeamSearch;
pub use hd_nrpa::HdNrpa;
pub(crate) use islands::answer as answer_call;
pub use islands::{Brought, Call, CallMaker, CallSource, Islands, Lesson};
pub use nmcs::Nmcs;
pub use nrpa::{Nrpa, Parallel};
pub use own::Own;
pub use per_level::PerLevel;
pub use sample::Sample;
pub(crate) use streams::best_of;
pub use streams::{BestOf, Outcomes};

use crate::domain::Problem;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// A search and its parameters, as they stand in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Search {
    /// Several searches in turn, most of the time to what pays.
    Auto(Auto),
    /// Random playouts.
    Sample(Sample),
    /// Nested Monte-Carlo search.
    Nmcs(Nmcs),
    /// Nested rollout policy adaptation.
    Nrpa(Nrpa),
    /// Beam-NRPA: several solutions a level, each with its policy.
    BeamNrpa(BeamNrpa),
    /// High-diversity NRPA: several solutions a level, no two alike, one policy.
    HdNrpa(HdNrpa),
    /// Beam search: the most promising positions of each length.
    Beam(BeamSearch),
    /// The domain's own search, where it has one.
    Own(Own),
}

/// Why a search cannot run as it is specified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {given}: expected {expected}")]
pub struct SpecError {
    /// The parameter.
    pub parameter: &'static str,
    /// Its value.
    pub given: String,
    /// What is allowed.
    pub expected: &'static str,
}

impl Search {
    /// Every name that a search can have.
    pub const NAMES: &'static [&'static str] =
        &["sample", "nmcs", "nrpa", "beam-nrpa", "hd-nrpa", "beam", "own"];

    /// The name of the search in a spec and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Search::Auto(_) => "auto",
            Search::Sample(_) => "sample",
            Search::Nmcs(_) => "nmcs",
            Search::Nrpa(_) => "nrpa",
            Search::BeamNrpa(_) => "beam-nrpa",
            Search::HdNrpa(_) => "hd-nrpa",
            Search::Beam(_) => "beam",
            Search::Own(_) => "own",
        }
    }

    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Search::Auto(_) | Search::Sample(_) | Search::Own(_) => Ok(()),
            Search::Nmcs(nmcs) => nmcs.check(),
            Search::Nrpa(nrpa) => nrpa.check(),
            Search::BeamNrpa(beam) => beam.check(),
            Search::HdNrpa(hd) => hd.check(),
            Search::Beam(beam) => beam.check(),
        }
    }

    /// Runs the search on one stream, again and again if the run has limits and the search comes to its end earlier.
    pub fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        while !run.stopped() {
            match self {
                Search::Auto(auto) => auto.run(problem, run),
                Search::Sample(sample) => sample.run(problem, run),
                Search::Nmcs(nmcs) => nmcs.run(problem, run),
                Search::Nrpa(nrpa) => nrpa.run(problem, run),
                Search::BeamNrpa(beam) => beam.run(problem, run),
                Search::HdNrpa(hd) => hd.run(problem, run),
                Search::Beam(beam) => beam.run(problem, run),
                Search::Own(own) => own.run(problem, run),
            }
            if !run.restarts() {
                break;
            }
            // Between two runs there is nothing to keep but the random stream.
            run.checkpoint(Vec::new);
        }
    }
}

fn check_alpha(alpha: f64) -> Result<(), SpecError> {
    if alpha > 0.0 && alpha <= 100.0 {
        return Ok(());
    }
    let given = alpha.to_string();
    Err(SpecError { parameter: "alpha", given, expected: "a number above 0 and up to 100" })
}

/// More playouts a step than anybody wants.
const STABILISE_MAX: u32 = 1_000_000;

fn check_stabilise(playouts: u32) -> Result<(), SpecError> {
    if (1..=STABILISE_MAX).contains(&playouts) {
        return Ok(());
    }
    let expected = "a whole number from 1 to 1000000";
    Err(SpecError { parameter: "stabilise", given: playouts.to_string(), expected })
}

/// A level must be at least 1, and beyond 8 no search of this family ever comes to its end.
const LEVEL_MAX: u32 = 8;

fn check_level(level: u32) -> Result<(), SpecError> {
    if (1..=LEVEL_MAX).contains(&level) {
        return Ok(());
    }
    Err(SpecError { parameter: "level", given: level.to_string(), expected: "a whole number from 1 to 8" })
}

#[cfg(test)]
mod tests {
    use super::trial::{end, guided_end, resumes_exactly_guided, tree};
    use super::*;
    use crate::prior::Trust;
    use crate::prior::tests::leftist;
    use crate::toy::LeftMove;
    use std::fmt::Write;

    /// Seeded runs word for word, in `golden.txt` beside this file. Where a change means to change them, rewrite it by
    /// `cargo test -p sortie-core rewrite_golden -- --ignored` and read the difference.
    fn golden() -> String {
        let each = |values: &[u32]| PerLevel::Each(values.to_vec());
        let iterations = PerLevel::Same(6);
        let hd = HdNrpa { iterations: iterations.clone(), beam: each(&[2, 3, 4]), ..HdNrpa::default() };
        let beam = BeamNrpa { level: 2, iterations, beam: each(&[2, 3]), ..BeamNrpa::default() };
        let mut text = String::new();
        let wide = BeamSearch { width: 12, noise: 2.0, ..BeamSearch::default() };
        for search in [Search::HdNrpa(hd), Search::BeamNrpa(beam), Search::Beam(wide)] {
            for seed in 1..=3 {
                let ends = [
                    ("leftmove/60", end(&LeftMove { depth: 60 }, &search, None, seed)),
                    ("tree/9", end(&tree(9), &search, None, seed)),
                ];
                for (instance, end) in ends {
                    let best = end.best.expect("played");
                    let (name, moves) = (search.name(), best.moves.join(" "));
                    let _ = writeln!(
                        text,
                        "{name} {instance} seed {seed}: {} in {}: {moves}",
                        best.score, end.playouts
                    );
                }
            }
        }
        text
    }

    #[test]
    fn a_guide_draws_the_playouts_of_every_search() {
        let left = LeftMove { depth: 50 };
        let guide = leftist(2.0, Trust { once: true, ..Trust::default() });
        let searches = [
            Search::Sample(Sample::default()),
            Search::Nmcs(Nmcs { level: 1, stabilise: 3, early_stop: true, ..Nmcs::default() }),
            Search::Nrpa(Nrpa { level: 1, iterations: 3, ..Nrpa::default() }),
            Search::BeamNrpa(BeamNrpa { level: 1, iterations: PerLevel::Same(3), ..BeamNrpa::default() }),
            Search::HdNrpa(HdNrpa { level: 1, iterations: PerLevel::Same(3), ..HdNrpa::default() }),
            Search::Beam(BeamSearch { stabilise: 3, ..BeamSearch::default() }),
        ];
        for search in searches {
            // Two or three playouts: uniform ones do not come near 40 of 50.
            let playouts = |guide| guided_end(&left, &search, guide, Some(3), 1).best.expect("played").score;
            assert!(playouts(Some(guide.clone())) >= 40.0, "{}", search.name());
            assert!(playouts(None) < 40.0, "{}", search.name());
        }
    }

    #[test]
    fn guided_searches_resume_exactly() {
        let left = LeftMove { depth: 12 };
        let nrpa = |level, iterations| Search::Nrpa(Nrpa { level, iterations, ..Nrpa::default() });
        for search in
            [nrpa(2, 8), nrpa(3, 4), Search::Nmcs(Nmcs { level: 2, stabilise: 2, ..Nmcs::default() })]
        {
            for (once, mix) in [(false, 0.9), (true, 0.9), (true, 1.0)] {
                let guide = leftist(-0.1, Trust { once, mix, temperature: 1.5 });
                resumes_exactly_guided(&left, &search, Some(guide), 1);
            }
        }
    }

    /// Every first move is tried with so many playouts, and no second one.
    #[test]
    fn an_early_stop_ends_after_the_first_step() {
        let left = LeftMove { depth: 20 };
        let nmcs = |early_stop| Nmcs { level: 1, stabilise: 4, early_stop, ..Nmcs::default() };
        let count = |early_stop| end(&left, &Search::Nmcs(nmcs(early_stop)), None, 1).playouts;
        assert_eq!((count(true), count(false)), (8, 8 * 20));
    }

    #[test]
    fn runs_are_golden() {
        assert_eq!(golden(), include_str!("golden.txt"));
    }

    #[test]
    #[ignore = "writes golden.txt"]
    fn rewrite_golden() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/search/golden.txt"), golden()).unwrap();
    }
}
