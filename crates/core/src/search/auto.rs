//! Several searches that take turns on one stream, most of the time to those that pay on this instance. For whoever has
//! an instance and no opinion. Beyond the papers, which each have one search; it is a portfolio in the sense of Huberman,
//! Lukose and Hogg (Science 1997) with the time shared anew after every turn.
//!
//! All of them begin with a short turn. From then on the one that has found most (of equals: soonest, in its own time) has
//! the lead and the rest share what it leaves, the second more than the third; what it leaves shrinks from a third towards
//! a twelfth. Turns grow with the time there was, so that there is an answer at once and little is spent on taking turns.
//! A search that is interrupted goes on where it was: turns end at its checkpoints. Which turn comes next follows from
//! what was found and from what turns cost: seconds where the run is limited by a clock, otherwise playouts, and then the
//! same seed gives the same answer anywhere.
//!
//! Leaves out: learning which search pays on which instance from one run to the next.

use super::{BeamSearch, HdNrpa, Nmcs, Nrpa, Own, Search};
use crate::domain::{Choices, Problem};
use crate::measure::told;
use crate::replay::{moves_of, replay_whole, words};
use crate::rng::{Rng, mix};
use crate::run::{Run, StreamCheckpoint};
use serde::{Deserialize, Serialize};

/// A portfolio. It has no parameters: what there is to choose, it chooses.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Auto {}

/// The problem in another form (`Problem::forms`), with solutions that are solutions of the whole.
pub trait Form<M>: Send + Sync {
    /// What it is, in a few words: `symmetric ones`.
    fn name(&self) -> &str;
    /// Whether its positions say what they promise.
    fn promises(&self) -> bool;
    /// Runs a search of it.
    fn run(&self, search: &Search, run: &mut Run);
    /// A solution of it as all moves of a solution of the whole problem; `None` if these are not moves of this form.
    fn lift(&self, words: &[String]) -> Option<Vec<M>>;
}

/// A form that is a problem itself, and how its ends become solutions of the whole.
pub struct Lifted<Q, F> {
    /// What it is, in a few words.
    pub name: &'static str,
    /// The problem.
    pub problem: Q,
    /// The moves of the whole problem that one of its ends stands for.
    pub lift: F,
}

impl<Q: Problem, M, F: Fn(&Q, &Q::State) -> Vec<M> + Send + Sync> Form<M> for Lifted<Q, F> {
    fn name(&self) -> &str {
        self.name
    }

    fn promises(&self) -> bool {
        self.problem.promise(&self.problem.initial()).is_some()
    }

    fn run(&self, search: &Search, run: &mut Run) {
        search.run(&self.problem, run);
    }

    fn lift(&self, words: &[String]) -> Option<Vec<M>> {
        let mut state = self.problem.initial();
        moves_of(&self.problem, words).ok()?.into_iter().for_each(|mv| self.problem.play(&mut state, mv));
        Some((self.lift)(&self.problem, &state))
    }
}

/// The first turn of each, in seconds and in playouts.
const FIRST_TURN: [f64; 2] = [0.02, 400.0];
/// A turn is this part of all time so far, and no longer than this.
const TURN_SHARE: f64 = 0.02;
const TURN_MAX: [f64; 2] = [1.0, 100_000.0];
/// What is left for all but the leader: at first, and at least.
const REST_FIRST: f64 = 1.0 / 3.0;
const REST_LAST: f64 = 1.0 / 12.0;
/// Playouts of a run without limits.
const PLAYOUTS: u64 = 1_000_000;

/// One of those that take turns.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Arm {
    /// Where it stands.
    at: StreamCheckpoint,
    best: Option<f64>,
    /// What it had spent when it found that, and what it has spent.
    best_at: f64,
    spent: f64,
    /// What it has spent, divided by its share at that time: the next turn is of who has least.
    pass: f64,
    /// It has come to an end in a run that wants it once.
    over: bool,
}

/// What an arm does: a search of a form, or of the problem itself.
struct Part {
    form: Option<usize>,
    search: Search,
    /// It looks around the solution that the run begins with; the others begin with nothing, so that it cannot lead
    /// all of them astray.
    around: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Turns {
    /// As many as there are parts, in their order.
    arms: Vec<Arm>,
    turns: u32,
    leader: Option<u32>,
}

impl Auto {
    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let forms = problem.forms();
        let parts = parts(problem, &forms, run.start().is_some());
        let saved = run.take_resumed().and_then(|bytes| postcard::from_bytes::<Turns>(&bytes).ok());
        let fits = |turns: &Turns| turns.arms.len() == parts.len();
        let mut turns = saved.filter(fits).unwrap_or_else(|| {
            let mut turns = Turns::new(&parts, run.rng.bits());
            // What it begins with is theirs who go on from it.
            let score = run
                .start()
                .and_then(|words| replay_whole(problem, words).ok())
                .map(|end| problem.score(&end));
            for (arm, _) in turns.arms.iter_mut().zip(&parts).filter(|(_, part)| part.around) {
                arm.best = score;
            }
            turns
        });
        while !run.stopped() && (run.restarts() || run.playouts() < PLAYOUTS) {
            let Some(next) = turns.next() else { return };
            turns.take(next, &parts[next], problem, &forms, run);
            turns.tell(problem, &parts, &forms, run);
            run.checkpoint(|| postcard::to_stdvec(&turns).expect("plain data always serialises"));
        }
    }
}

/// What takes turns, in the order in which it begins.
fn parts<P: Problem>(problem: &P, forms: &[Box<dyn Form<P::Move> + '_>], started: bool) -> Vec<Part> {
    let grows = Nrpa { level: 5, repetitions: 8, improve: true, ..Nrpa::default() };
    let whole = |search| Part { form: None, search, around: false };
    let around = |search| Part { around: started, ..whole(search) };
    let mut parts = Vec::new();
    if problem.specialist(None).is_some() {
        parts.push(around(Search::Own(Own {})));
    }
    if started {
        parts.push(around(Search::Nrpa(Nrpa { level: 3, ..grows.clone() })));
    }
    parts.push(whole(Search::Nrpa(grows.clone())));
    for (number, form) in forms.iter().enumerate() {
        if form.promises() {
            let search = Search::Beam(BeamSearch::default());
            parts.push(Part { form: Some(number), ..whole(search) });
        }
        parts.push(Part { form: Some(number), ..whole(Search::Nrpa(grows.clone())) });
    }
    parts.push(whole(Search::Beam(BeamSearch::default())));
    if biased(problem) {
        parts.push(whole(Search::Nrpa(Nrpa { bias: true, ..grows })));
    }
    parts.push(whole(Search::Nrpa(Nrpa::default())));
    parts.push(whole(Search::Nmcs(Nmcs { level: 2, selective: true, ..Nmcs::default() })));
    parts.push(whole(Search::HdNrpa(HdNrpa::default())));
    parts
}

impl Turns {
    fn new(parts: &[Part], seed: u64) -> Turns {
        let arm = |(number, part): (usize, &Part)| Arm {
            at: StreamCheckpoint {
                stream: 0,
                rng: Rng::new(mix(seed), number as u64),
                playouts: 0,
                improved_at: 0,
                best: None,
                ended: None,
                search: opening(&part.search),
            },
            best: None,
            best_at: 0.0,
            spent: 0.0,
            pass: 0.0,
            over: false,
        };
        Turns { arms: parts.iter().enumerate().map(arm).collect(), turns: 0, leader: None }
    }

    /// Whose turn it is: those who have had none in their order, then who is furthest behind with its share.
    fn next(&self) -> Option<usize> {
        let on = self.arms.iter().enumerate().filter(|(_, arm)| !arm.over);
        let waits = |arm: &Arm| if arm.spent == 0.0 { f64::NEG_INFINITY } else { arm.pass };
        on.min_by(|(_, a), (_, b)| waits(a).total_cmp(&waits(b))).map(|(number, _)| number)
    }

    fn take<P: Problem>(
        &mut self,
        number: usize,
        part: &Part,
        problem: &P,
        forms: &[Box<dyn Form<P::Move> + '_>],
        run: &mut Run,
    ) {
        let unit = usize::from(!run.timed());
        let total: f64 = self.arms.iter().map(|arm| arm.spent).sum();
        let length = (TURN_SHARE * total).clamp(FIRST_TURN[unit], TURN_MAX[unit]);
        let shares = self.shares();
        let arm = &mut self.arms[number];
        let (before, first) = (run.spent(), arm.spent == 0.0);
        let best = match part.form {
            None => {
                std::mem::swap(&mut run.rng, &mut arm.at.rng);
                run.begin_turn(length, Some(std::mem::take(&mut arm.at.search)));
                run.begin_blank(!part.around);
                part.search.run(problem, run);
                run.begin_blank(false);
                let (state, best) = run.end_turn();
                std::mem::swap(&mut run.rng, &mut arm.at.rng);
                arm.over = state.is_none() && !run.stopped() && !run.restarts();
                arm.at.search = state.unwrap_or_default();
                best
            }
            Some(form) => {
                let form = &forms[form];
                arm.at = run.aside(length, arm.at.clone(), |aside| form.run(&part.search, aside));
                let lifted = arm.at.best.as_ref().and_then(|best| form.lift(&best.moves));
                lifted.map_or(f64::NEG_INFINITY, |moves| offer(problem, &moves, run))
            }
        };
        let spent = (run.spent() - before).max(FIRST_TURN[unit] / 100.0);
        arm.spent += spent;
        if best > arm.best.unwrap_or(f64::NEG_INFINITY) {
            (arm.best, arm.best_at) = (Some(best), arm.spent);
        }
        self.turns += 1;
        match first {
            // It has had what all have to begin with: nothing to make up for, on either side.
            true => self.arms[number].pass = spent / shares[number],
            false => self.arms[number].pass += spent / shares[number],
        }
    }

    /// The arms, the best first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.arms.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.arms[a], &self.arms[b]);
            let best = |arm: &Arm| arm.best.unwrap_or(f64::NEG_INFINITY);
            best(b).total_cmp(&best(a)).then(a.best_at.total_cmp(&b.best_at))
        });
        order
    }

    /// What part of the time each has: of those that are over, nobody asks.
    fn shares(&self) -> Vec<f64> {
        let n = self.arms.len();
        if self.arms.iter().any(|arm| arm.spent == 0.0) || n == 1 {
            return vec![1.0 / n as f64; n];
        }
        let rounds = f64::from(self.turns) / n as f64;
        let rest = (REST_FIRST / (1.0 + rounds / 20.0)).max(REST_LAST);
        let weights: f64 = (1..n).map(|rank| 1.0 / rank as f64).sum();
        let mut shares = vec![0.0; n];
        for (rank, number) in self.order().into_iter().enumerate() {
            shares[number] = if rank == 0 { 1.0 - rest } else { rest / (rank as f64 * weights) };
        }
        shares
    }

    /// Says who leads, and with what, whenever that is somebody new.
    fn tell<P: Problem>(
        &mut self,
        problem: &P,
        parts: &[Part],
        forms: &[Box<dyn Form<P::Move> + '_>],
        run: &Run,
    ) {
        if self.arms.iter().any(|arm| arm.spent == 0.0) {
            return;
        }
        let order = self.order();
        if self.leader == Some(order[0] as u32) {
            return;
        }
        self.leader = Some(order[0] as u32);
        let said = |number: usize| {
            let (arm, part) = (&self.arms[number], &parts[number]);
            let of = part.form.map_or(String::new(), |form| format!(" of {}", forms[form].name()));
            let found = arm.best.map_or("nothing".to_string(), |best| told(&problem.measures(best)));
            (format!("{}{of}", title(part)), found)
        };
        let share = (100.0 * self.shares()[order[0]]).round();
        let ((leader, found), next) = (said(order[0]), order.get(1).map(|&next| said(next)));
        let next = next.map_or(String::new(), |(next, found)| format!("; next {next}, {found}"));
        run.say(format!("{leader} has {share} % of the time: it has found {found}{next}"));
    }
}

/// An arm in few words.
fn title(part: &Part) -> String {
    match &part.search {
        _ if part.around => format!("{} around the solution given", part.search.name()),
        Search::Nrpa(nrpa) if nrpa.bias => format!("nrpa level {} with bias", nrpa.level),
        Search::Nrpa(nrpa) => format!("nrpa level {}", nrpa.level),
        Search::Nmcs(nmcs) => format!("nmcs level {}", nmcs.level),
        other => other.name().to_string(),
    }
}

/// Where an arm begins: a beam so narrow that it comes to an end in its first turns.
fn opening(search: &Search) -> Vec<u8> {
    match search {
        Search::Beam(_) => postcard::to_stdvec(&4u32).expect("a number is written"),
        _ => Vec::new(),
    }
}

/// Plays a solution and offers it: its score, or nothing where it is none.
fn offer<P: Problem>(problem: &P, moves: &[P::Move], run: &mut Run) -> f64 {
    let (mut state, mut legal) = (problem.initial(), Vec::new());
    for mv in moves {
        legal.clear();
        problem.moves(&state, &mut legal);
        if !legal.contains(mv) {
            return f64::NEG_INFINITY;
        }
        problem.play(&mut state, *mv);
    }
    legal.clear();
    problem.moves(&state, &mut legal);
    if !legal.is_empty() {
        return f64::NEG_INFINITY;
    }
    let score = problem.score(&state);
    run.offer(score, || words(problem, moves));
    score
}

/// Whether the domain prefers any move of a random game to another.
fn biased<P: Problem>(problem: &P) -> bool {
    let (mut rng, mut state, mut choices) = (Rng::new(1, 0), problem.initial(), Choices::new());
    loop {
        choices.clear();
        problem.choices(&state, &mut choices);
        if choices.moves.is_empty() {
            return false;
        }
        let bias = |&mv: &P::Move| problem.bias(&state, mv);
        if choices.moves.iter().map(bias).any(|bias| bias != problem.bias(&state, choices.moves[0])) {
            return true;
        }
        let mv = choices.moves[rng.below(choices.moves.len())];
        problem.play(&mut state, mv);
    }
}

#[cfg(test)]
mod tests;
