//! What workers elsewhere claim is not taken for proved: before a search over a grid says that anything is, the claims
//! that it rests on are proved again by this process, and what was found of them is written down beside the journal. A
//! claim that our own solver contradicts names a liar, whose word counts for nothing from then on; one that it cannot
//! confirm becomes an opinion. The tree is then grown again from the journal, and the search goes on.

use crate::folder::Folder;
use crate::journal::{self, Journal};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use sortie_core::exact::{Answer, AnyWorker, Asked, Job, Trust, Value};
use sortie_core::{AnyGame, Side};
use sortie_jobs::tree::{Ended, JobTree};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The file, in the folder of the run.
const AUDIT: &str = "audit.jsonl";
/// Our own solver looks at so many times the positions of a job before it gives up on a claim: it has not the warm
/// table of whoever claimed it.
const TIMES: u64 = 50;

/// An answer as the journal of a search keeps it.
pub trait Said {
    /// What was asked.
    fn job(&self) -> &Job;
    /// What was said.
    fn answer(&self) -> &Answer;
    /// Who said it, if it was not this process.
    fn by(&self) -> &str;
}

/// What came of proving a claim again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is so.
    Confirmed,
    /// Our own answer says as much or more, by another move.
    Replaced,
    /// It is not so.
    Refuted,
    /// Our own solver cannot tell.
    Open,
}

/// What was found of one line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Finding {
    /// Its number, from 0 on.
    line: usize,
    by: String,
    verdict: Verdict,
    /// Our own answer, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
}

/// How often each came up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Claims that are so.
    pub confirmed: u64,
    /// Claims that our own answers took the place of.
    pub replaced: u64,
    /// Claims that are not so.
    pub refuted: u64,
    /// Claims of which we cannot tell.
    pub open: u64,
}

/// What was found so far of what workers elsewhere said.
#[derive(Default)]
pub struct Audit {
    findings: HashMap<usize, Finding>,
    liars: BTreeSet<String>,
    tally: Tally,
}

impl Audit {
    /// What earlier sessions found.
    pub fn read(path: &Path) -> Result<Audit> {
        let mut audit = Audit::default();
        journal::read::<Finding>(&path.join(AUDIT))?.into_iter().for_each(|finding| audit.note(finding));
        Ok(audit)
    }

    /// Whether nothing was looked into.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// How often each came up.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whose word was found false.
    pub fn liars(&self) -> Vec<String> {
        self.liars.iter().cloned().collect()
    }

    fn note(&mut self, finding: Finding) {
        let count = match finding.verdict {
            Verdict::Confirmed => &mut self.tally.confirmed,
            Verdict::Replaced => &mut self.tally.replaced,
            Verdict::Refuted => &mut self.tally.refuted,
            Verdict::Open => &mut self.tally.open,
        };
        *count += 1;
        if finding.verdict == Verdict::Refuted {
            self.liars.insert(finding.by.clone());
        }
        self.findings.insert(finding.line, finding);
    }

    /// A line of the journal as it counts for the tree: as it was said, until it is looked into.
    pub fn counts(&self, line: usize, by: &str, answer: Answer) -> Answer {
        match self.findings.get(&line) {
            _ if by.is_empty() => answer,
            Some(Finding { answer: Some(own), .. }) => own.clone(),
            Some(_) => answer.distrusted(),
            None if self.liars.contains(by) => answer.distrusted(),
            None => answer,
        }
    }

    /// The same for whoever stores it: what was not looked into is an opinion.
    pub fn proved(&self, line: usize, by: &str, answer: Answer) -> Answer {
        let seen = by.is_empty() || self.findings.contains_key(&line);
        let answer = self.counts(line, by, answer);
        if seen { answer } else { answer.distrusted() }
    }

    /// Lines whose claims an ended search rests on, and that nobody has looked into.
    fn suspects<L: Said>(&self, tree: &JobTree, lines: &[L]) -> Vec<usize> {
        let least = tree.plan().trust.max(Trust::Solver);
        let rests: Option<HashSet<Vec<String>>> = match tree.ended() {
            Some(Ended::Decided) => Some(tree.goals().iter().flat_map(|goal| tree.rests_on(*goal)).collect()),
            // Any of them may be the false one.
            Some(Ended::Contradiction) => None,
            _ => return Vec::new(),
        };
        let matters = |(number, line): &(usize, &L)| {
            let claims = line.answer().claim.is_some_and(|claim| claim.trust >= least);
            claims
                && !line.by().is_empty()
                && !self.liars.contains(line.by())
                && !self.findings.contains_key(number)
                && rests.as_ref().is_none_or(|rests| rests.contains(&line.job().moves))
        };
        lines.iter().enumerate().filter(matters).map(|(number, _)| number).collect()
    }

    /// Proves again what an ended search rests on. True: it rests on nothing but what this process has proved; false:
    /// the tree is to be grown again. `None`: it was stopped before it could tell.
    pub fn review<L: Said>(
        &mut self,
        folder: &Folder,
        tree: &JobTree,
        lines: &[L],
        (game, seed, memory_max): (&dyn AnyGame, u64, usize),
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Option<bool>> {
        let suspects = self.suspects(tree, lines);
        if suspects.is_empty() {
            return Ok(Some(true));
        }
        say(&format!("proving {} claims of workers again", suspects.len()));
        let mut journal = Journal::open(folder, AUDIT)?;
        let mut own = game.worker(memory_max, &tree.plan().statuses, seed);
        let mut sound = true;
        for number in suspects {
            let line = &lines[number];
            if self.liars.contains(line.by()) {
                sound = false;
                continue;
            }
            let side = game_side(game, line.job())?;
            let Some(finding) = look(&mut *own, line, number, side, stop) else { return Ok(None) };
            journal.append(&finding)?;
            if finding.verdict == Verdict::Refuted {
                say(&format!(
                    "{} lied: job '{}' was answered with a claim that is false; nothing that it claims counts",
                    finding.by,
                    line.job().moves.join(" ")
                ));
            }
            sound &= finding.verdict == Verdict::Confirmed;
            self.note(finding);
        }
        journal.sync()?;
        Ok(Some(sound))
    }
}

/// Who is to move at a job.
fn game_side(game: &dyn AnyGame, job: &Job) -> Result<Side> {
    let mut board = game.board(job.start.as_deref())?;
    for word in &job.moves {
        board.play(word)?;
    }
    Ok(board.to_move())
}

/// Proves a claim again. `None`: it was stopped.
fn look(
    own: &mut dyn AnyWorker,
    line: &impl Said,
    number: usize,
    side: Side,
    stop: &AtomicBool,
) -> Option<Finding> {
    let mut job = line.job().clone();
    job.effort.nodes = job.effort.nodes.saturating_mul(TIMES);
    let answer = own.answer(&job, Asked { stop, cancel: stop }, &mut |_| {});
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return None;
    }
    let answer = answer.ok().flatten().filter(|answer| answer.claim.is_some());
    let finding = |verdict, answer| Finding { line: number, by: line.by().to_string(), verdict, answer };
    let (Some(ours), Some(theirs)) = (answer.as_ref().and_then(|a| a.claim), line.answer().claim) else {
        return Some(finding(Verdict::Open, None));
    };
    let same_move = answer.as_ref().is_some_and(|answer| answer.best == line.answer().best);
    // Where a claim says more for the side to move than that it may lose, it is about the move too.
    let by_move = theirs.bounds.view(side).low > Value::Loss;
    let verdict = match ours.bounds.meet(theirs.bounds) {
        None => Verdict::Refuted,
        Some(both) if both == ours.bounds && (same_move || !by_move) => Verdict::Confirmed,
        Some(_) => Verdict::Replaced,
    };
    Some(finding(verdict, answer))
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
