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
    /// Who brought it, where it was not the process that keeps the journal: what it claims is proved again before it
    /// counts as proved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}
