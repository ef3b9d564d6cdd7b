//! Beam search: all positions of one length side by side, the most promising of them kept. What a position promises is
//! said by the domain (`Problem::promise`), or else by playouts from it, the best of which counts: that is one level of
//! Monte-Carlo beam search (Cazenave, "Monte-Carlo beam search", TCIAIG 2012). Ends are offered as they come.
//!
//! A run with a limit repeats the search, twice as wide each time up to `width`, so that there is an answer soon and a
//! better one later; equals are ordered by chance, so that no two searches are the same.
//!
//! Leaves out: the nesting of that paper, and looking for positions that can be reached in two ways.

use super::{STABILISE_MAX, SpecError};
use crate::domain::{Choices, Problem};
use crate::playout::{Offer, draw, fill};
use crate::prior::Advice;
use crate::replay::words;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The parameters of beam search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BeamSearch {
    /// Positions that are kept of each length.
    pub width: u32,
    /// The most that chance adds to what a position promises.
    pub noise: f64,
    /// Playouts a position that say what it promises; 0: the domain does, or one playout where it has nothing to say.
    pub stabilise: u32,
    /// Look at the domain's choices rather than at all legal moves.
    pub selective: bool,
}

impl Default for BeamSearch {
    fn default() -> Self {
        BeamSearch { width: 10_000, noise: 0.0, stabilise: 0, selective: true }
    }
}

/// A position takes some hundred bytes to some thousand: more of them would not fit.
const WIDTH_MAX: u32 = 1_000_000;

/// The width of the first search of several.
const WIDTH_FIRST: u32 = 128;

impl BeamSearch {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let fail = |parameter, given, expected| Err(SpecError { parameter, given, expected });
        if !(1..=WIDTH_MAX).contains(&self.width) {
            return fail("width", self.width.to_string(), "a whole number from 1 to 1000000");
        }
        if !(0.0..=1e12).contains(&self.noise) {
            return fail("noise", self.noise.to_string(), "a number from 0 to 1e12");
        }
        if self.stabilise > STABILISE_MAX {
            return fail("stabilise", self.stabilise.to_string(), "a whole number up to 1000000");
        }
        Ok(())
    }

    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let saved = run.take_resumed().and_then(|bytes| postcard::from_bytes::<u32>(&bytes).ok());
        let mut width = match saved {
            Some(width) if (1..=self.width).contains(&width) => width,
            _ if run.restarts() => WIDTH_FIRST.min(self.width),
            _ => self.width,
        };
        let mut beam = Beam::new(problem, self);
        beam.advice = run.guide().and_then(|guide| Advice::new(guide, problem));
        while !run.stopped() {
            run.checkpoint(|| postcard::to_stdvec(&width).expect("a number is written"));
            beam.search(width as usize, run);
            if !run.restarts() {
                return;
            }
            width = (width * 2).min(self.width);
        }
    }
}

/// A position of the beam.
struct Place<P: Problem> {
    state: P::State,
    /// How it was reached; `None` at the start.
    last: Option<Rc<Step<P::Move>>>,
}

/// A move and those before it, which the positions of the beam have in common more often than not.
struct Step<M> {
    mv: M,
    before: Option<Rc<Step<M>>>,
}

/// In a loop: the steps of a long game, dropped one inside the other, would not fit on the stack.
impl<M> Drop for Step<M> {
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(mut step) = before.and_then(Rc::into_inner) {
            before = step.before.take();
        }
    }
}

/// A position that may be kept: choice number `choice` of `places[parent]`.
struct Candidate {
    value: f64,
    /// Orders equals.
    lot: u64,
    parent: u32,
    choice: u32,
}

struct Beam<'a, P: Problem> {
    problem: &'a P,
    params: &'a BeamSearch,
    offer: Offer,
    /// The domain says what positions promise.
    promises: bool,
    /// The positions of the length under way, and room for those one move longer.
    places: Vec<Place<P>>,
    next: Vec<Place<P>>,
    candidates: Vec<Candidate>,
    choices: Choices<P::Move>,
    /// A position that is looked at, and a playout from it.
    state: P::State,
    playout: P::State,
    /// Buffers of a playout.
    drawn: Vec<P::Move>,
    options: Choices<P::Move>,
    advice: Option<Advice>,
    factors: Vec<f64>,
}

impl<'a, P: Problem> Beam<'a, P> {
    fn new(problem: &'a P, params: &'a BeamSearch) -> Self {
        Beam {
            problem,
            params,
            offer: Offer { selective: params.selective, bias: false },
            promises: params.stabilise == 0 && problem.promise(&problem.initial()).is_some(),
            places: Vec::new(),
            next: Vec::new(),
            candidates: Vec::new(),
            choices: Choices::new(),
            state: problem.initial(),
            playout: problem.initial(),
            drawn: Vec::new(),
            options: Choices::new(),
            advice: None,
            factors: Vec::new(),
        }
    }

    /// One search, from the initial position until all positions of the beam are ends.
    fn search(&mut self, width: usize, run: &mut Run) {
        self.places.clear();
        self.places.push(Place { state: self.problem.initial(), last: None });
        while !self.places.is_empty() {
            self.look_ahead(run);
            if run.stopped() {
                return;
            }
            self.keep(width);
        }
    }

    /// Lists what every position of the beam leads to, with what that promises. Ends are offered.
    fn look_ahead(&mut self, run: &mut Run) {
        self.candidates.clear();
        for parent in 0..self.places.len() {
            let Place { state, last } = &self.places[parent];
            fill(self.problem, self.offer, state, &mut self.choices);
            if self.choices.moves.is_empty() {
                run.offer(self.problem.score(state), || words(self.problem, &line(last)));
                continue;
            }
            if self.promises && self.problem.score(state) > run.best_score() {
                // Better than all ends already, and what it promises need not keep it in the beam.
                self.state.clone_from(state);
                self.play_out(parent, None, run);
            }
            for choice in 0..self.choices.moves.len() {
                let mv = self.choices.moves[choice];
                self.state.clone_from(&self.places[parent].state);
                self.problem.play(&mut self.state, mv);
                let value = self.promise(parent, mv, run) + self.params.noise * run.rng.unit();
                let lot = run.rng.bits();
                self.candidates.push(Candidate { value, lot, parent: parent as u32, choice: choice as u32 });
                if run.stopped() {
                    return;
                }
            }
        }
    }

    /// What the position in `state` promises, which is where `mv` leads from a position of the beam.
    fn promise(&mut self, parent: usize, mv: P::Move, run: &mut Run) -> f64 {
        if self.promises
            && let Some(value) = self.problem.promise(&self.state)
        {
            run.count_playout();
            return value;
        }
        let playouts = (0..self.params.stabilise.max(1)).map(|_| self.play_out(parent, Some(mv), run));
        playouts.fold(f64::NEG_INFINITY, f64::max)
    }

    /// A playout from `state`, by the guide if there is one. That is a position of the beam, or one move from it.
    fn play_out(&mut self, parent: usize, mv: Option<P::Move>, run: &mut Run) -> f64 {
        self.drawn.clear();
        self.drawn.extend(mv);
        self.playout.clone_from(&self.state);
        loop {
            fill(self.problem, self.offer, &self.playout, &mut self.options);
            if self.options.moves.is_empty() {
                break;
            }
            let i = match &mut self.advice {
                Some(advice) => {
                    advice.weigh(self.problem, &self.playout, &self.options.moves, &mut self.factors);
                    draw(&mut self.factors, &mut run.rng)
                }
                None => run.rng.below(self.options.moves.len()),
            };
            let mv = self.options.moves[i];
            self.problem.play(&mut self.playout, mv);
            self.drawn.push(mv);
        }
        let score = self.problem.score(&self.playout);
        run.count_playout();
        run.offer(score, || {
            let before = line(&self.places[parent].last);
            words(self.problem, &[before.as_slice(), &self.drawn].concat())
        });
        score
    }

    /// Makes the best candidates the beam.
    fn keep(&mut self, width: usize) {
        let order = |a: &Candidate, b: &Candidate| b.value.total_cmp(&a.value).then(a.lot.cmp(&b.lot));
        if self.candidates.len() > width {
            self.candidates.select_nth_unstable_by(width - 1, order);
            self.candidates.truncate(width);
        }
        // By parent, so that what a parent has on offer is worked out once.
        self.candidates.sort_unstable_by_key(|candidate| (candidate.parent, candidate.choice));
        let mut filled = None;
        for (i, candidate) in self.candidates.iter().enumerate() {
            let parent = &self.places[candidate.parent as usize];
            if filled != Some(candidate.parent) {
                fill(self.problem, self.offer, &parent.state, &mut self.choices);
                filled = Some(candidate.parent);
            }
            let mv = self.choices.moves[candidate.choice as usize];
            let last = Some(Rc::new(Step { mv, before: parent.last.clone() }));
            match self.next.get_mut(i) {
                Some(place) => {
                    place.state.clone_from(&parent.state);
                    place.last = last;
                }
                None => self.next.push(Place { state: parent.state.clone(), last }),
            }
            self.problem.play(&mut self.next[i].state, mv);
        }
        self.next.truncate(self.candidates.len());
        std::mem::swap(&mut self.places, &mut self.next);
    }
}

/// The moves up to a step.
fn line<M: Copy>(last: &Option<Rc<Step<M>>>) -> Vec<M> {
    let mut moves: Vec<M> =
        std::iter::successors(last.as_deref(), |step| step.before.as_deref()).map(|step| step.mv).collect();
    moves.reverse();
    moves
}

#[cfg(test)]
mod tests {
    use super::super::Search;
    use super::super::trial::{end, optimum, resumes_exactly_within, tree};
    use super::*;
    use crate::toy::LeftMove;

    fn beam(width: u32) -> Search {
        Search::Beam(BeamSearch { width, ..BeamSearch::default() })
    }

    /// Wide enough it sees everything.
    #[test]
    fn finds_the_best_of_a_small_tree() {
        for depth in 1..=7 {
            let tree = tree(depth);
            let best = end(&tree, &beam(3u32.pow(depth)), None, 1).best.expect("played");
            assert_eq!(best.score, optimum(&tree), "depth {depth}");
        }
    }

    /// Playouts say that left is better, a step at a time: two positions are enough where sampling has no chance.
    #[test]
    fn is_led_by_what_positions_promise() {
        let left = LeftMove { depth: 60 };
        let found = end(&left, &beam(50), None, 1).best.expect("played");
        let sampled = end(&left, &Search::Sample(super::super::Sample::default()), Some(6_000), 1);
        assert!(found.score > sampled.best.expect("played").score + 10.0, "{}", found.score);
    }

    /// From any checkpoint, which holds the width under way, to the end of the whole run.
    #[test]
    fn resumes_at_the_beginning_of_a_search() {
        resumes_exactly_within(&LeftMove { depth: 12 }, &beam(1_000), 40_000, 4);
    }

    #[test]
    fn a_long_line_is_read_and_dropped() {
        let steps = 1_000_000;
        let last = (0..steps).fold(None, |before, mv| Some(Rc::new(Step { mv, before })));
        assert!(line(&last).into_iter().eq(0..steps));
        drop(last);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let check = |change: fn(&mut BeamSearch)| {
            let mut params = BeamSearch::default();
            change(&mut params);
            params.check().map_err(|e| e.parameter)
        };
        assert_eq!(check(|_| ()), Ok(()));
        assert_eq!(check(|p| p.width = 0), Err("width"));
        assert_eq!(check(|p| p.width = 1_000_001), Err("width"));
        assert_eq!(check(|p| p.noise = -1.0), Err("noise"));
        assert_eq!(check(|p| p.noise = f64::NAN), Err("noise"));
        assert_eq!(check(|p| p.stabilise = 1_000_001), Err("stabilise"));
    }
}
