//! The searches: one file each, and the enum that names them with their parameters.

mod beam;
mod hd;
mod nmcs;
mod nrpa;
mod parallel;
mod per_level;
mod sample;

pub use beam::BeamNrpa;
pub use hd::HdNrpa;
pub use nmcs::Nmcs;
pub use nrpa::{Nrpa, Parallel};
pub use per_level::PerLevel;
pub use sample::Sample;

use crate::domain::Problem;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// A search and its parameters, as they stand in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Search {
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
    /// The name of the search in a spec and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Search::Sample(_) => "sample",
            Search::Nmcs(_) => "nmcs",
            Search::Nrpa(_) => "nrpa",
            Search::BeamNrpa(_) => "beam-nrpa",
            Search::HdNrpa(_) => "hd-nrpa",
        }
    }

    /// Refuses parameters that make no sense.
    pub fn check(&self) -> Result<(), SpecError> {
        match self {
            Search::Sample(_) => Ok(()),
            Search::Nmcs(nmcs) => nmcs.check(),
            Search::Nrpa(nrpa) => nrpa.check(),
            Search::BeamNrpa(beam) => beam.check(),
            Search::HdNrpa(hd) => hd.check(),
        }
    }

    /// Runs the search on one stream, again and again if the run has limits and the search comes to its end earlier.
    pub fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        while !run.stopped() {
            match self {
                Search::Sample(sample) => sample.run(problem, run),
                Search::Nmcs(nmcs) => nmcs.run(problem, run),
                Search::Nrpa(nrpa) => nrpa.run(problem, run),
                Search::BeamNrpa(beam) => beam.run(problem, run),
                Search::HdNrpa(hd) => hd.run(problem, run),
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

/// A level must be at least 1, and beyond 8 no search of this family ever comes to its end.
const LEVEL_MAX: u32 = 8;

fn check_level(level: u32) -> Result<(), SpecError> {
    if (1..=LEVEL_MAX).contains(&level) {
        return Ok(());
    }
    Err(SpecError { parameter: "level", given: level.to_string(), expected: "a whole number from 1 to 8" })
}
