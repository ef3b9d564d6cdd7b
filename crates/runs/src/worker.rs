//! A line of `workers.jsonl`: a worker of a run with workers elsewhere has come, has changed its state, or is still there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A worker that is still at what it was says so this often, in seconds.
pub const SAID_EVERY: u64 = 30;
/// One that was not heard of for so long, in seconds, is silent.
pub const SILENT_SECONDS: f64 = 60.0;

/// What is known of a worker at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(
    title = "One line of workers.jsonl of a run with workers elsewhere: a worker has come, has changed its state, or is still there"
)]
pub struct WorkerLine {
    /// UTC.
    pub time: String,
    /// Its name.
    pub worker: String,
    /// How many jobs it can do at a time.
    #[serde(default)]
    pub cores: u64,
    /// What it does.
    pub state: Doing,
    /// Why it is idle or gone.
    #[serde(default)]
    pub reason: Option<String>,
    /// What it is at, for people.
    #[serde(default)]
    pub job: Option<JobName>,
    /// Jobs it has answered.
    #[serde(default)]
    pub done: u64,
    /// CPU time it has spent, where it tells.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub cpu_seconds: f64,
}

/// What a worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Doing {
    /// It has jobs in hand.
    Working,
    /// It has none.
    Idle,
    /// It has left, or was given up.
    Gone,
}

/// A job as a worker calls it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum JobName {
    /// Its number.
    Number(u64),
    /// In words.
    Words(String),
}

impl std::fmt::Display for JobName {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JobName::Number(number) => number.fmt(to),
            JobName::Words(words) => words.fmt(to),
        }
    }
}
