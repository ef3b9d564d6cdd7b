//! What travels: five kinds of messages, as JSON. JSON and not a positional format, because jobs and answers leave out
//! what is empty, because a body is passed on without being understood, and because `nats sub 'sortie.>'` is then all
//! that is needed to look. Every message says its protocol; every size is bounded.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of everything here. It is raised when an old worker could misunderstand a new client or the reverse.
pub const PROTOCOL: u32 = 2;
/// No message is longer.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// No word of a worker about itself is longer: a client keeps the last one of each.
pub const PRESENCE_BYTES_MAX: usize = 16 << 10;
/// No name of a worker or a session is longer.
pub const NAME_CHARS_MAX: usize = 48;
/// Jobs of a task, and so answers of a report: a report of nothing but failures fits into a message.
pub const TASK_JOBS_MAX: usize = 256;
/// No reason for a failure is longer.
pub const FAILURE_CHARS_MAX: usize = 500;
/// Jobs that a worker does at a time, whatever it says.
pub const CORES_MAX: u32 = 1024;
/// Jobs in hand that a presence names.
pub const NAMED_MAX: usize = 100;
/// Titles that a presence names.
pub const DOING_MAX: usize = 8;
/// What people read of others is no longer.
const TEXT_CHARS_MAX: usize = 200;

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
    /// A word that only whoever gets the task can know: an answer without it does not count.
    pub ticket: String,
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
    /// The word of the task.
    pub ticket: String,
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
    /// Jobs in hand, as session and number; the first `NAMED_MAX`.
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

/// What others say of themselves, cut to what is believed of it before anybody keeps or shows it.
pub trait Bounded: Sized {
    /// No such message is longer.
    const BYTES_MAX: usize = MESSAGE_BYTES_MAX;
    /// The message within its bounds; otherwise what is wrong.
    fn bounded(self) -> Result<Self, String>;
}

impl Bounded for Run {
    fn bounded(mut self) -> Result<Run, String> {
        let seconds = |s: f64| s.is_finite() && (0.1..=1e9).contains(&s);
        if !is_name(&self.session) {
            return Err("a session without a sound name".into());
        }
        if !seconds(self.lease_seconds) || !seconds(self.job_seconds_max) {
            return Err("times that are none".into());
        }
        self.title = plain(&self.title, TEXT_CHARS_MAX);
        self.refused.retain(|name| is_name(name));
        Ok(self)
    }
}

impl Bounded for Task {
    fn bounded(self) -> Result<Task, String> {
        match self.jobs.len() {
            0 => Err("a task without a job".into()),
            1..=TASK_JOBS_MAX if self.ticket.len() <= NAME_CHARS_MAX => Ok(self),
            1..=TASK_JOBS_MAX => Err("a ticket that is too long".into()),
            many => Err(format!("a task of {many} jobs: expected at most {TASK_JOBS_MAX}")),
        }
    }
}

impl Bounded for Report {
    fn bounded(mut self) -> Result<Report, String> {
        if !is_name(&self.worker) {
            return Err("a worker without a sound name".into());
        }
        if self.done.len() > TASK_JOBS_MAX {
            return Err(format!("{} answers: expected at most {TASK_JOBS_MAX}", self.done.len()));
        }
        for done in &mut self.done {
            done.seconds = if done.seconds.is_finite() { done.seconds.clamp(0.0, 1e9) } else { 0.0 };
            done.failure = plain(&done.failure, TEXT_CHARS_MAX);
        }
        Ok(self)
    }
}

impl Bounded for Note {
    fn bounded(self) -> Result<Note, String> {
        if is_name(&self.session) { Ok(self) } else { Err("a session without a sound name".into()) }
    }
}

impl Bounded for Presence {
    const BYTES_MAX: usize = PRESENCE_BYTES_MAX;

    fn bounded(mut self) -> Result<Presence, String> {
        if !is_name(&self.worker) {
            return Err("a worker without a sound name".into());
        }
        self.cores = self.cores.min(CORES_MAX);
        self.version = plain(&self.version, NAME_CHARS_MAX);
        self.doing.truncate(DOING_MAX);
        self.doing.iter_mut().for_each(|title| *title = plain(title, TEXT_CHARS_MAX));
        self.idle = self.idle.map(|why| plain(&why, TEXT_CHARS_MAX));
        self.jobs.truncate(NAMED_MAX);
        self.jobs.retain(|(session, _)| is_name(session));
        Ok(self)
    }
}

/// A stranger's text as it may stand on a terminal: one line, no escape codes, nothing that turns the direction of
/// writing, no longer than so many characters.
pub fn plain(text: &str, chars_max: usize) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown: String =
        text.chars().map(|c| if hidden(c) { ' ' } else { c }).take(chars_max + 1).collect();
    if let Some((end, _)) = shown.char_indices().nth(chars_max) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// Why a message is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It is too long.
    #[error("a message of {0} bytes, which is more than is taken")]
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

/// A message from bytes, within its bounds.
pub fn decode<T: DeserializeOwned + Bounded>(bytes: &[u8]) -> Result<T, WireError> {
    #[derive(Deserialize)]
    struct Version {
        protocol: u64,
    }
    if bytes.len() > T::BYTES_MAX {
        return Err(WireError::Long(bytes.len()));
    }
    // What a message names wrongly is repeated in the error.
    let nonsense = |error: serde_json::Error| WireError::Nonsense(plain(&error.to_string(), TEXT_CHARS_MAX));
    // The version first: what another one says need not make sense here.
    let Version { protocol } = serde_json::from_slice(bytes).map_err(nonsense)?;
    if protocol != u64::from(PROTOCOL) {
        return Err(WireError::Version(protocol));
    }
    serde_json::from_slice::<T>(bytes).map_err(nonsense)?.bounded().map_err(WireError::Nonsense)
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
    pub fn presence(credential: &str, worker: &str) -> String {
        format!("sortie.worker.{credential}.{worker}")
    }
    /// Who comes without a credential of its own: with the token that all share, or without one.
    pub const ANYBODY: &str = "anybody";
    /// The credential that a subject of answers or presences ends with; `None`: that of everybody.
    pub fn credential(subject: &str, from_the_left: usize) -> Option<&str> {
        subject.split('.').nth(from_the_left).filter(|name| *name != ANYBODY && super::is_name(name))
    }
    /// A newcomer says so here, and runs answer by saying that they are there.
    pub const HELLO: &str = "sortie.hello";
    /// Everything that is said on `run` and `presence` is kept in this stream, the last of each.
    pub const BOARD: &str = "sortie-board";
    /// The subject of jobs.
    pub fn jobs(session: &str) -> String {
        format!("sortie.jobs.{session}")
    }
    /// The subject of a worker's answers. It ends with who has let it in, so that a server with credentials lets nobody
    /// answer in the name of another.
    pub fn answers(session: &str, credential: &str) -> String {
        format!("sortie.answers.{session}.{credential}")
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
        let (session, ticket) = ("ab".into(), "t".into());
        let task = Task { protocol: PROTOCOL, session, issue: 1, ticket, not: vec!["w".into()], jobs };
        let bytes = encode(&task).unwrap();
        let back: Task = decode(&bytes).unwrap();
        let first = &back.jobs[0];
        assert_eq!((first.job, back.not, first.body.get()), (7, vec!["w".to_string()], "[\"d4\",\"e5\"]"));
        let other = String::from_utf8(bytes).unwrap().replace("\"protocol\":2", "\"protocol\":1");
        assert_eq!(decode::<Task>(other.as_bytes()).unwrap_err(), WireError::Version(1));
        // A later version may look like anything.
        assert_eq!(decode::<Task>(b"{\"protocol\":3,\"x\":[]}").unwrap_err(), WireError::Version(3));
        for text in ["", "{", "[]", "{}", "null", "{\"protocol\":2}", "{\"protocol\":-1}", "\u{1F600}"] {
            assert!(matches!(decode::<Task>(text.as_bytes()), Err(WireError::Nonsense(_))), "{text}");
        }
        let long = vec![b' '; MESSAGE_BYTES_MAX + 1];
        assert_eq!(decode::<Task>(&long).unwrap_err(), WireError::Long(long.len()));
        assert!(encode(&"x".repeat(MESSAGE_BYTES_MAX)).is_err());
    }

    #[test]
    fn what_a_stranger_says_of_itself_is_cut_to_size_and_cannot_drive_a_terminal() {
        let presence = Presence {
            protocol: PROTOCOL,
            worker: "w".into(),
            cores: u32::MAX,
            version: "\x1b[31mred".into(),
            doing: vec!["z\u{202e}".repeat(400); 40],
            jobs: (0..150).map(|job| ("s".to_string(), job)).collect(),
            idle: Some("\x1b]0;owned\x07\nsecond line".into()),
            answered: 0,
            failed: 0,
            leaving: false,
        };
        assert!(matches!(decode::<Presence>(&encode(&presence).unwrap()), Err(WireError::Long(_))));
        let presence = Presence { doing: vec!["z\u{202e}".repeat(250); 10], ..presence };
        let told: Presence = decode(&encode(&presence).unwrap()).unwrap();
        assert_eq!((told.cores, told.doing.len(), told.jobs.len()), (CORES_MAX, DOING_MAX, NAMED_MAX));
        assert!(told.doing.iter().all(|title| title.chars().count() <= TEXT_CHARS_MAX + 1));
        assert_eq!(told.idle.as_deref(), Some(" ]0;owned  second line"));
        assert!(!format!("{told:?}").contains(['\x1b', '\u{202e}']));
        let nameless = Presence { worker: "a.b".into(), doing: Vec::new(), ..presence };
        assert!(matches!(decode::<Presence>(&encode(&nameless).unwrap()), Err(WireError::Nonsense(_))));
    }

    /// Defect 3: 30,000 bad jobs in a task made the report on them too long, which was a panic.
    #[test]
    fn a_task_of_too_many_jobs_is_refused_and_the_failures_of_the_largest_fit_into_a_report() {
        let task = |jobs: usize| Task {
            protocol: PROTOCOL,
            session: "s".into(),
            issue: 1,
            ticket: "t".into(),
            not: Vec::new(),
            jobs: (0..jobs as u64).map(|job| Work { job, body: body(&"x").unwrap() }).collect(),
        };
        let decoded = |jobs| decode::<Task>(&encode(&task(jobs)).unwrap());
        assert!(decoded(20_000).unwrap_err().to_string().contains("20000 jobs"));
        assert!(decoded(0).is_err() && decoded(TASK_JOBS_MAX).is_ok());
        // The longest reasons, each character of which takes six bytes.
        let failure = "\u{1}".repeat(FAILURE_CHARS_MAX);
        let failed = |work: Work| Done {
            job: u64::MAX - work.job,
            seconds: 1.0 / 3.0,
            answer: None,
            failure: failure.clone(),
        };
        let done = task(TASK_JOBS_MAX).jobs.into_iter().map(failed).collect();
        let (session, worker) = ("s".repeat(NAME_CHARS_MAX), "w".repeat(NAME_CHARS_MAX));
        let report =
            Report { protocol: PROTOCOL, session, issue: 1, ticket: "t".into(), attempt: 1, worker, done };
        assert!(encode(&report).is_ok());
    }

    #[test]
    fn names_fit_into_subjects() {
        assert!(is_name("host-3_a") && !is_name("") && !is_name("a.b") && !is_name("a>") && !is_name("ä"));
        assert_eq!(to_name("my host.example"), "my-host-example");
        assert_eq!(names::credential(&names::answers("ab", "eve"), 3), Some("eve"));
        assert_eq!(names::credential(&names::presence("eve", "attic"), 2), Some("eve"));
        assert_eq!(names::credential(&names::answers("ab", names::ANYBODY), 3), None);
        assert!(is_name(&to_name("ü*.>")) && is_name(&to_name("")) && is_name(&to_name(&"x".repeat(99))));
    }
}
