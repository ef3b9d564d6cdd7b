//! The client's accounts: which jobs are out, whose answers have come, and what may be believed of them. No network and
//! no clock in here, so that any schedule can be played through in a test.
//!
//! An answer counts once, and only from whoever got the job: it carries the ticket of the task. What an answer claims to
//! be proved steers the search by the rule of the run: at once, when so many different credentials say the same, or when
//! the client's own solver has been through it. Everything else becomes an opinion. A worker is blamed only for what the
//! client's own solver contradicts, and refused only after several of those: one wrong answer may be anybody's. Names are
//! free, so all who come without a credential of their own are one when votes are counted.

use sortie_core::Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Claims of a worker that our own solver contradicted, after which it is refused.
pub const BLAMES_MAX: u32 = 3;
/// Jobs in a row that a worker failed at, after which it is refused.
pub const FAILURES_MAX: u32 = 20;
/// Workers that may fail at a job before it is given up.
const TRIES_MAX: usize = 3;
/// Sendings of a job whose tickets are good.
const TICKETS_MAX: usize = 8;
/// Workers that a job is not given to, at most: names are free.
const NOT_MAX: usize = 100;
/// Workers with something against them that are remembered.
const PEOPLE_MAX: usize = 10_000;

/// Who answers: a credential that the server vouches for, or only a name that anybody may give itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Let in by a credential of its own.
    Credential(String),
    /// One of those who share a token, or need none.
    Named(String),
}

impl Who {
    /// What it is called.
    pub fn name(&self) -> &str {
        let (Who::Credential(name) | Who::Named(name)) = self;
        name
    }

    /// Whether both may be the same person.
    fn may_be(&self, other: &Who) -> bool {
        match (self, other) {
            (Who::Credential(a), Who::Credential(b)) => a == b,
            (Who::Named(_), Who::Named(_)) => true,
            _ => false,
        }
    }
}

/// Whose claims count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trust {
    /// A claim counts when so many different workers say the same; 1: no need to ask others.
    pub quorum: u32,
    /// The share of claims that the client's own solver goes through.
    pub recheck: f64,
}

impl Trust {
    /// Everybody who is let in is believed.
    pub const ALL: Trust = Trust { quorum: 1, recheck: 0.0 };

    fn is_all(self) -> bool {
        self.quorum <= 1 && self.recheck <= 0.0
    }
}

/// How the answers of a run are compared. The defaults are those of answers that claim nothing.
pub trait Judge<J, A>: Sync {
    /// The answer as far as anybody may be believed who is not this process.
    fn heard(&self, answer: A) -> A {
        answer
    }
    /// Whether the answer claims something that is not to be taken on trust.
    fn claims(&self, _answer: &A) -> bool {
        false
    }
    /// Whether two answers to the same job claim the same.
    fn agree(&self, _a: &A, _b: &A) -> bool {
        false
    }
    /// Whether they cannot both be true.
    fn contradict(&self, _a: &A, _b: &A) -> bool {
        false
    }
    /// The answer with its claims taken for opinions; `None`: nothing is left of it.
    fn opinion(&self, answer: A) -> Option<A> {
        Some(answer)
    }
    /// Our own answer; called on a thread of its own.
    fn recheck(&self, _job: &J) -> Option<A> {
        None
    }
}

/// A judge for runs whose answers are checked anyhow.
pub struct NoClaims;
impl<J, A> Judge<J, A> for NoClaims {}

/// What is to be done after news.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling<A> {
    /// Nothing: it came before, was never asked for, or is not enough yet.
    Wait,
    /// The answer is taken.
    Take(A),
    /// The job is sent again, for somebody else.
    Again,
    /// Our own solver does it.
    Check,
    /// The job is given up.
    Lost(String),
}

/// What happened, for the result of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Jobs sent, each counted once.
    pub issued: u64,
    /// Answers taken.
    pub taken: u64,
    /// Deliveries after a lease was lost, as far as answers tell.
    pub redelivered: u64,
    /// Jobs that the client sent again.
    pub reissued: u64,
    /// Answers that came twice or too late.
    pub late: u64,
    /// Jobs that workers failed at.
    pub failed: u64,
    /// Claims that enough workers made.
    pub confirmed: u64,
    /// Claims that our own solver went through.
    pub rechecked: u64,
    /// Claims that it contradicted.
    pub refuted: u64,
    /// Claims that were taken for opinions.
    pub doubted: u64,
    /// Answers of workers that are refused.
    pub refused: u64,
    /// Answers to jobs that whoever brought them was not given.
    pub unasked: u64,
}

/// What is known of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Person {
    blames: u32,
    failures_in_a_row: u32,
    refused: bool,
}

struct Out<J, A> {
    job: J,
    issue: u32,
    /// When it was last sent, or somebody was last seen at it.
    since: f64,
    sent: f64,
    /// The words of the tasks it went out in, the last ones.
    tickets: VecDeque<String>,
    heard: Vec<(Who, A)>,
    failed: BTreeSet<Who>,
    checking: bool,
}

/// The accounts.
pub struct Desk<J, A> {
    trust: Trust,
    rng: Rng,
    out: BTreeMap<u64, Out<J, A>>,
    /// Those who have something against them.
    people: BTreeMap<Who, Person>,
    /// What happened so far.
    pub tally: Tally,
    /// Workers that were refused since this was last emptied, and why.
    pub expelled: Vec<(String, String)>,
}

/// Who brings what.
pub struct Heard<'a, A> {
    /// The job.
    pub job: u64,
    /// Which delivery of it.
    pub attempt: u32,
    /// The word of the task.
    pub ticket: &'a str,
    /// The worker.
    pub worker: &'a Who,
    /// The answer, or why there is none.
    pub answer: Result<A, String>,
    /// The workers there are, all of them.
    pub present: &'a BTreeSet<Who>,
}

impl<J, A: Clone> Desk<J, A> {
    /// Nothing is out.
    pub fn new(trust: Trust, seed: u64) -> Self {
        let (out, people) = (BTreeMap::new(), BTreeMap::new());
        Desk { trust, rng: Rng::new(seed, 0), out, people, tally: Tally::default(), expelled: Vec::new() }
    }

    /// Jobs that are out.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The job, if it is out.
    pub fn job(&self, job: u64) -> Option<&J> {
        self.out.get(&job).map(|out| &out.job)
    }

    /// Workers that are refused.
    pub fn refused(&self) -> Vec<String> {
        let refused = self.people.iter().filter(|(_, person)| person.refused);
        refused.map(|(who, _)| who.name().to_string()).collect()
    }

    /// A worker whose word was found false elsewhere: no more of it is taken.
    pub fn refuse(&mut self, worker: &Who, why: String) {
        self.expel(worker, why);
    }

    /// A job goes out for the first time.
    pub fn issue(&mut self, number: u64, job: J, now: f64) {
        self.tally.issued += 1;
        let (heard, failed) = (Vec::new(), BTreeSet::new());
        let tickets = VecDeque::new();
        let out = Out { job, issue: 0, since: now, sent: now, tickets, heard, failed, checking: false };
        self.out.insert(number, out);
    }

    /// It is about to be sent: which sending this is, and who is not to do it.
    pub fn send(&mut self, number: u64, now: f64) -> Option<(u32, Vec<String>)> {
        let out = self.out.get_mut(&number)?;
        out.issue += 1;
        (out.since, out.sent) = (now, now);
        self.tally.reissued += u64::from(out.issue > 1);
        let heard = out.heard.iter().map(|(worker, _)| worker);
        let not = heard.chain(&out.failed).map(|who| who.name().to_string());
        Some((out.issue, not.take(NOT_MAX).collect()))
    }

    /// It goes out in a task with this word.
    pub fn ticket(&mut self, number: u64, ticket: &str) {
        let Some(out) = self.out.get_mut(&number) else { return };
        out.tickets.push_back(ticket.to_string());
        if out.tickets.len() > TICKETS_MAX {
            out.tickets.pop_front();
        }
    }

    /// Nobody needs it any more.
    pub fn forget(&mut self, number: u64) {
        self.out.remove(&number);
    }

    /// Somebody is at it.
    pub fn seen(&mut self, number: u64, now: f64) {
        if let Some(out) = self.out.get_mut(&number) {
            out.since = now;
        }
    }

    /// Jobs that nobody was seen at for `silence` seconds, or that were sent `age` seconds ago: the engine has lost
    /// them, or whoever holds them will not answer. To send them again costs at most time.
    pub fn stale(&self, now: f64, silence: f64, age: f64) -> Vec<u64> {
        let stale = |out: &Out<J, A>| !out.checking && (now - out.since > silence || now - out.sent > age);
        self.out.iter().filter(|(_, out)| stale(out)).map(|(&number, _)| number).collect()
    }

    /// Takes what a worker brings.
    pub fn hear(&mut self, heard: Heard<A>, judge: &dyn Judge<J, A>) -> Ruling<A> {
        let Heard { job, attempt, ticket, worker, answer, present } = heard;
        let Some(out) = self.out.get_mut(&job) else {
            self.tally.late += 1;
            return Ruling::Wait;
        };
        // Numbers of jobs can be guessed; their tickets cannot.
        if !out.tickets.iter().any(|given| given == ticket) {
            self.tally.unasked += 1;
            return Ruling::Wait;
        }
        if self.people.get(worker).is_some_and(|person| person.refused) {
            self.tally.refused += 1;
            // It swallowed the job: somebody else has to do it.
            let fresh = !out.checking && out.failed.len() < NOT_MAX && out.failed.insert(worker.clone());
            return if fresh { Ruling::Again } else { Ruling::Wait };
        }
        self.tally.redelivered += u64::from(attempt.saturating_sub(1));
        let answer = match answer {
            Ok(answer) => judge.heard(answer),
            Err(why) => return self.failed(job, worker, why, present),
        };
        if let Some(person) = self.people.get_mut(worker) {
            person.failures_in_a_row = 0;
        }
        if out.checking || out.heard.iter().any(|(who, _)| who == worker) {
            self.tally.late += 1;
            return Ruling::Wait;
        }
        if self.trust.is_all() || !judge.claims(&answer) {
            return self.take(job, answer);
        }
        out.heard.push((worker.clone(), answer.clone()));
        let mut voters: Vec<&Who> = Vec::new();
        for (who, other) in &out.heard {
            if judge.agree(other, &answer) && !voters.iter().any(|voter| voter.may_be(who)) {
                voters.push(who);
            }
        }
        let same = voters.len() as u32;
        let check = self.rng.unit() < self.trust.recheck;
        let asked =
            |who: &Who| out.failed.contains(who) || out.heard.iter().any(|(other, _)| other.may_be(who));
        let somebody_else =
            present.iter().any(|who| !asked(who) && !self.people.get(who).is_some_and(|p| p.refused));
        if !check && self.trust.quorum > 1 && same >= self.trust.quorum {
            self.tally.confirmed += 1;
            return self.take(job, answer);
        }
        let disagree = out.heard.iter().any(|(_, other)| !judge.agree(other, &answer));
        if !check && self.trust.quorum > 1 && !disagree && somebody_else {
            return Ruling::Again;
        }
        if !check
            && self.trust.quorum <= 1
            && let Some(opinion) = judge.opinion(answer)
        {
            self.tally.doubted += 1;
            return self.take(job, opinion);
        }
        out.checking = true;
        Ruling::Check
    }

    /// Takes what our own solver says; `None`: it could not tell either.
    pub fn checked(&mut self, job: u64, own: Option<A>, judge: &dyn Judge<J, A>) -> Ruling<A> {
        let Some(out) = self.out.get_mut(&job) else { return Ruling::Wait };
        self.tally.rechecked += 1;
        out.checking = false;
        let heard = std::mem::take(&mut out.heard);
        if let Some(own) = own.clone().filter(|own| judge.claims(own)) {
            for (worker, answer) in &heard {
                if judge.contradict(answer, &own) {
                    self.tally.refuted += 1;
                    let person = person(&mut self.people, worker);
                    person.blames += 1;
                    let blames = person.blames;
                    if blames >= BLAMES_MAX {
                        self.expel(worker, format!("{blames} of its claims were false"));
                    }
                }
            }
            // What a worker claims besides is not checked: our own answer is the one that counts.
            return self.take(job, own);
        }
        self.tally.doubted += 1;
        let opinion = heard.into_iter().find_map(|(_, answer)| judge.opinion(answer));
        match opinion.or(own) {
            Some(answer) => self.take(job, answer),
            None => {
                self.out.remove(&job);
                Ruling::Lost("a claim could not be checked".into())
            }
        }
    }

    fn take(&mut self, job: u64, answer: A) -> Ruling<A> {
        self.out.remove(&job);
        self.tally.taken += 1;
        Ruling::Take(answer)
    }

    fn failed(&mut self, job: u64, worker: &Who, why: String, present: &BTreeSet<Who>) -> Ruling<A> {
        self.tally.failed += 1;
        // Whoever gives up on a second opinion has given its first.
        let has_answered = |out: &Out<J, A>| out.heard.iter().any(|(who, _)| who == worker);
        if !self.out.get(&job).is_some_and(has_answered) {
            let person = person(&mut self.people, worker);
            person.failures_in_a_row += 1;
            if person.failures_in_a_row >= FAILURES_MAX {
                self.expel(worker, format!("{FAILURES_MAX} jobs in a row failed, the last one: {why}"));
            }
        }
        let Some(out) = self.out.get_mut(&job) else { return Ruling::Wait };
        if out.failed.len() >= NOT_MAX || !out.failed.insert(worker.clone()) || out.checking {
            return Ruling::Wait;
        }
        if !out.heard.is_empty() {
            // Somebody has answered; only the second opinion is missing.
            out.checking = true;
            return Ruling::Check;
        }
        if out.failed.len() < TRIES_MAX && present.iter().any(|who| !out.failed.contains(who)) {
            return Ruling::Again;
        }
        self.out.remove(&job);
        Ruling::Lost(why)
    }

    fn expel(&mut self, worker: &Who, why: String) {
        if !std::mem::replace(&mut person(&mut self.people, worker).refused, true) {
            self.expelled.push((worker.name().to_string(), why));
        }
    }
}

/// What is known of a worker. Where too many are known, somebody who is not refused is forgotten.
fn person<'a>(people: &'a mut BTreeMap<Who, Person>, worker: &Who) -> &'a mut Person {
    if people.len() >= PEOPLE_MAX && !people.contains_key(worker) {
        let first = people.iter().find(|(_, person)| !person.refused).or(people.iter().next());
        if let Some(who) = first.map(|(who, _)| who.clone()) {
            people.remove(&who);
        }
    }
    people.entry(worker.clone()).or_default()
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
