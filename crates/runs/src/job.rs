//! A line of `jobs.jsonl`: an answer of a proof search, and what it answers.

use serde::{Deserialize, Serialize};
use sortie_core::exact::{Answer, Job};

/// An answer that came, and what it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobLine {
    /// What was asked.
    pub job: Job,
    /// What came of it.
    pub answer: Answer,
}
