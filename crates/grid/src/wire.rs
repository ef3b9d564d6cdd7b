//! What travels: five kinds of messages, as JSON. JSON and not a positional format, because jobs and answers leave out
//! what is empty, because a body is passed on without being understood, and because `nats sub 'sortie.>'` is then all
//! that is needed to look. Every message says its protocol; every size is bounded.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of everything here. It is raised when an old worker could misunderstand a new client or the reverse.
pub const PROTOCOL: u32 = 1;
/// No message is longer.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// No name of a worker or a session is longer.
pub const NAME_CHARS_MAX: usize = 48;

/// What sort of work a run hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Positions of a job tree.
    Prove,
    /// Games of a match.
    MatchGame,
    /// Searches with seeds of their own.
    Solve,
    /// Calls of islands.
    Island,
    /// Nothing but CPU time, to measure.
    Bench,
}

impl Kind {
    /// As a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Prove => "prove",
            Kind::MatchGame => "match-game",
            Kind::Solve => "solve",
            Kind::Island => "island",
            Kind::Bench => "bench",
        }
    }
}

/// A run that wants workers. Its client says it every few seconds; silence is its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    /// See `PROTOCOL`.
    pub protocol: u32,
    /// One life of a client: a client that is resumed has another one.
    pub session: String,
    /// What sort of work.
    pub kind: Kind,
    /// What it is about, for people.
    pub title: String,
    /// All that a worker needs to know besides the jobs.
    pub spec: Box<RawValue>,
    /// A job whose worker is silent for so long goes to another one.
    pub lease_seconds: f64,
    /// A job that takes longer has failed.
    pub job_seconds_max: f64,
    /// Workers whose answers are not taken any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// There is nothing left to do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over: bool,
}

/// Jobs on their way to a worker: one, or a bundle of short ones, which are leased, done and answered together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// See `PROTOCOL`.
    pub protocol: u32,
    /// Whose they are.
    pub session: String,
    /// How often the client has sent them, this time included.
    pub issue: u32,
    /// Workers who are not to do them: they have answered already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<String>,
    /// The jobs, in the order in which they are to be done.
    pub jobs: Vec<Work>,
}

/// A job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Work {
    /// Its number in the session.
    pub job: u64,
    /// What is to be done.
    pub body: Box<RawValue>,
}

/// What came of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Report {
    /// See `PROTOCOL`.
    pub protocol: u32,
    /// Whose it is.
    pub session: String,
    /// Which sending of the task.
    pub issue: u32,
    /// Which delivery of that sending: more than 1 after a lease was lost.
    pub attempt: u32,
    /// Who answers.
    pub worker: String,
    /// What came of each job; those that were cancelled are left out.
    pub done: Vec<Done>,
}

/// What came of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Done {
    /// The job.
    pub job: u64,
    /// Wall time.
    pub seconds: f64,
    /// The answer; `None`: the job failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Box<RawValue>>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// What a worker thinks of a job that it is still at, or which jobs are not wanted any more. Neither is stored: if it
/// gets lost, only time is lost.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Note {
    /// See `PROTOCOL`.
    pub protocol: u32,
    /// Whose it is.
    pub session: String,
    /// The jobs.
    pub jobs: Vec<u64>,
    /// What the worker thinks; nothing in a cancellation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Box<RawValue>>,
}

/// How a worker is, every few seconds and when it changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// See `PROTOCOL`.
    pub protocol: u32,
    /// Who it is.
    pub worker: String,
    /// Jobs it does at a time.
    pub cores: u32,
    /// Its version of the program.
    pub version: String,
    /// The titles of the runs it has jobs of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doing: Vec<String>,
    /// Jobs in hand, as session and number; the first hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<(String, u64)>,
    /// Why it does nothing, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<String>,
    /// Jobs answered so far.
    pub answered: u64,
    /// Jobs that failed.
    pub failed: u64,
    /// It takes no more jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
}

/// Why a message is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It is too long.
    #[error("a message of {0} bytes: expected at most {MESSAGE_BYTES_MAX}")]
    Long(usize),
    /// Another version speaks.
    #[error("protocol {0}: this program speaks protocol {PROTOCOL}; the older of the two needs an update")]
    Version(u64),
    /// Not a message of ours.
    #[error("not a message of this protocol: {0}")]
    Nonsense(String),
}

/// A message as bytes.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, WireError> {
    let bytes = serde_json::to_vec(message).map_err(|error| WireError::Nonsense(error.to_string()))?;
    if bytes.len() > MESSAGE_BYTES_MAX { Err(WireError::Long(bytes.len())) } else { Ok(bytes) }
}

/// A message from bytes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    #[derive(Deserialize)]
    struct Version {
        protocol: u64,
    }
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::Long(bytes.len()));
    }
    let nonsense = |error: serde_json::Error| WireError::Nonsense(error.to_string());
    // The version first: what another one says need not make sense here.
    let Version { protocol } = serde_json::from_slice(bytes).map_err(nonsense)?;
    if protocol != u64::from(PROTOCOL) {
        return Err(WireError::Version(protocol));
    }
    serde_json::from_slice(bytes).map_err(nonsense)
}

/// Something as the body of a message.
pub fn body<T: Serialize>(of: &T) -> Result<Box<RawValue>, WireError> {
    serde_json::value::to_raw_value(of).map_err(|error| WireError::Nonsense(error.to_string()))
}

/// Whether a text may name a worker or a session: it becomes part of a subject.
pub fn is_name(text: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=NAME_CHARS_MAX).contains(&text.len()) && text.chars().all(sound)
}

/// A text as a name: what may not be in one becomes a line.
pub fn to_name(text: &str) -> String {
    let sound = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().take(NAME_CHARS_MAX).map(sound).collect();
    if name.is_empty() { "worker".into() } else { name }
}

/// Subjects and streams. A session has its own, so that nothing of one reaches another.
pub mod names {
    /// Where a run says that it is there.
    pub fn run(session: &str) -> String {
        format!("sortie.run.{session}")
    }
    /// Where workers say how they are.
    pub fn presence(worker: &str) -> String {
        format!("sortie.worker.{worker}")
    }
    /// A newcomer says so here, and runs answer by saying that they are there.
    pub const HELLO: &str = "sortie.hello";
    /// Everything that is said on `run` and `presence` is kept in this stream, the last of each.
    pub const BOARD: &str = "sortie-board";
    /// The subject of jobs.
    pub fn jobs(session: &str) -> String {
        format!("sortie.jobs.{session}")
    }
    /// The subject of answers.
    pub fn answers(session: &str) -> String {
        format!("sortie.answers.{session}")
    }
    /// The subject of partial results.
    pub fn notes(session: &str) -> String {
        format!("sortie.notes.{session}")
    }
    /// The subject of cancellations.
    pub fn cancel(session: &str) -> String {
        format!("sortie.cancel.{session}")
    }
    /// The stream that holds the jobs.
    pub fn jobs_stream(session: &str) -> String {
        format!("sortie-jobs-{session}")
    }
    /// The stream that holds the answers.
    pub fn answers_stream(session: &str) -> String {
        format!("sortie-answers-{session}")
    }
    /// The consumer of the jobs, shared by all workers.
    pub const WORKERS: &str = "workers";
    /// The consumer of the answers.
    pub const CLIENT: &str = "client";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were_and_others_are_refused_by_name() {
        let body = body(&vec!["d4", "e5"]).unwrap();
        let jobs = vec![Work { job: 7, body }];
        let task = Task { protocol: PROTOCOL, session: "ab".into(), issue: 1, not: vec!["w".into()], jobs };
        let bytes = encode(&task).unwrap();
        let back: Task = decode(&bytes).unwrap();
        let first = &back.jobs[0];
        assert_eq!((first.job, back.not, first.body.get()), (7, vec!["w".to_string()], "[\"d4\",\"e5\"]"));
        let other = String::from_utf8(bytes).unwrap().replace("\"protocol\":1", "\"protocol\":2");
        assert_eq!(decode::<Task>(other.as_bytes()).unwrap_err(), WireError::Version(2));
        // A later version may look like anything.
        assert_eq!(decode::<Task>(b"{\"protocol\":3,\"x\":[]}").unwrap_err(), WireError::Version(3));
        for text in ["", "{", "[]", "{}", "null", "{\"protocol\":1}", "{\"protocol\":-1}", "\u{1F600}"] {
            assert!(matches!(decode::<Task>(text.as_bytes()), Err(WireError::Nonsense(_))), "{text}");
        }
        let long = vec![b' '; MESSAGE_BYTES_MAX + 1];
        assert_eq!(decode::<Task>(&long).unwrap_err(), WireError::Long(long.len()));
        assert!(encode(&"x".repeat(MESSAGE_BYTES_MAX)).is_err());
    }

    #[test]
    fn names_fit_into_subjects() {
        assert!(is_name("host-3_a") && !is_name("") && !is_name("a.b") && !is_name("a>") && !is_name("ä"));
        assert_eq!(to_name("my host.example"), "my-host-example");
        assert!(is_name(&to_name("ü*.>")) && is_name(&to_name("")) && is_name(&to_name(&"x".repeat(99))));
    }
}
