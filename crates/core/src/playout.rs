//! The hot loop: one playout, drawn uniformly or by a policy, recorded so that nothing is ever generated twice.

use crate::domain::{Choices, Problem};
pub use crate::policy::{Mark, Policy, exp};
use crate::policy::{Memo, UNKNOWN};
use crate::prior::{Advice, Guide};
use crate::processor::Processor;
use crate::rng::Rng;

/// A recorded playout: for every step the ids (and codes) on offer and which of them was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace<M> {
    /// The moves, one a step.
    pub moves: Vec<M>,
    /// The policy ids on offer, step after step.
    pub ids: Vec<u32>,
    /// Their codes; left empty when a code is its own id.
    pub codes: Vec<u64>,
    /// exp(bias) of each, the domain's and the guide's, or empty when the search uses neither.
    pub factors: Vec<f64>,
    /// The policy's generation that the ids are of.
    pub generation: u64,
    /// `ends[i]` is where step `i` ends in `ids`.
    pub ends: Vec<u32>,
    /// `chosen[i]` is the index in `ids` of what step `i` chose.
    pub chosen: Vec<u32>,
    /// The score at the end; negative infinity for a trace that was never played.
    pub score: f64,
}

impl<M> Default for Trace<M> {
    fn default() -> Self {
        Trace {
            moves: Vec::new(),
            ids: Vec::new(),
            codes: Vec::new(),
            factors: Vec::new(),
            generation: 0,
            ends: Vec::new(),
            chosen: Vec::new(),
            score: f64::NEG_INFINITY,
        }
    }
}

impl<M> Trace<M> {
    /// Makes it a trace that was never played, keeping the memory.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.ids.clear();
        self.codes.clear();
        self.factors.clear();
        self.ends.clear();
        self.chosen.clear();
        self.score = f64::NEG_INFINITY;
    }

    /// Makes it equal to another trace, keeping the memory.
    pub fn copy_from(&mut self, other: &Trace<M>)
    where
        M: Copy,
    {
        self.moves.clone_from(&other.moves);
        self.ids.clone_from(&other.ids);
        self.codes.clone_from(&other.codes);
        self.factors.clone_from(&other.factors);
        self.generation = other.generation;
        self.ends.clone_from(&other.ends);
        self.chosen.clone_from(&other.chosen);
        self.score = other.score;
    }

    /// Forgets all ids of hashed codes: the trace was played by another policy than this one.
    pub fn adopt(&mut self, policy: &Policy) {
        self.forget_all_ids();
        self.generation = policy.generation();
    }

    /// The index of the choice at each step: what a checkpoint keeps of it, for `retrace`.
    pub(crate) fn indices(&self) -> Vec<u32> {
        let starts = std::iter::once(&0).chain(&self.ends);
        self.chosen.iter().zip(starts).map(|(chosen, start)| chosen - start).collect()
    }

    /// Forgets the ids of hashed codes: the trace goes to a policy that it was not made with.
    pub(crate) fn forget_all_ids(&mut self) {
        if !self.codes.is_empty() {
            self.ids.fill(UNKNOWN);
        }
    }

    /// Forgets the ids of hashed codes that the policy has taken back.
    pub fn forget_ids(&mut self, policy: &Policy) {
        if !policy.is_dense() && self.generation == policy.generation() {
            for (id, &code) in self.ids.iter_mut().zip(&self.codes) {
                if *id != UNKNOWN {
                    *id = policy.id(code);
                }
            }
        }
    }
}

/// How choices are offered and weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offer {
    /// Offer the domain's `choices` rather than all legal moves.
    pub selective: bool,
    /// Use the domain's `bias`.
    pub bias: bool,
}

/// Buffers of a playout, allocated once a search.
pub struct Scratch<P: Problem> {
    start: P::State,
    state: P::State,
    choices: Choices<P::Move>,
    weights: Vec<f64>,
    memo: Memo,
    advice: Option<Advice>,
    /// The advice on a step.
    factors: Vec<f64>,
    processor: Processor,
}

impl<P: Problem> Scratch<P> {
    /// Buffers for playouts of `problem` from its initial position.
    pub fn new(problem: &P) -> Scratch<P> {
        let start = problem.initial();
        Scratch {
            state: start.clone(),
            start,
            choices: Choices::new(),
            weights: Vec::new(),
            memo: Memo::new(),
            advice: None,
            factors: Vec::new(),
            processor: problem.processor(),
        }
    }

    /// Lets playouts use this much of the processor.
    pub fn on(self, processor: Processor) -> Scratch<P> {
        Scratch { processor, ..self }
    }

    /// Lets a guide weigh the moves of all playouts, where the problem can be shown to it. Gives the policy to begin
    /// with: all weights zero, or what the guide has to say where that is one number a code.
    pub fn follow(&mut self, problem: &P, guide: Option<&Guide>) -> Policy {
        self.advice = guide.and_then(|guide| Advice::new(guide, problem));
        let codes_max = problem.codes_max();
        match (&self.advice, codes_max) {
            (Some(advice), Some(n)) => match advice.weights(problem, n) {
                Some(weights) => {
                    self.advice = None;
                    Policy::of_weights(weights)
                }
                None => Policy::new(codes_max),
            },
            _ => Policy::new(codes_max),
        }
    }

    /// Plays a whole sequence, for its end.
    pub(crate) fn replay(&mut self, problem: &P, moves: &[P::Move]) {
        self.state.clone_from(&self.start);
        for &mv in moves {
            problem.play(&mut self.state, mv);
        }
    }

    /// The end of the last playout.
    pub(crate) fn end(&self) -> &P::State {
        &self.state
    }
}

/// Plays from the initial position to the end, each move drawn with a probability proportional to exp(weight + bias),
/// and records everything in `trace`.
pub fn playout<P: Problem>(
    problem: &P,
    offer: Offer,
    policy: &Policy,
    rng: &mut Rng,
    scratch: &mut Scratch<P>,
    trace: &mut Trace<P::Move>,
) {
    scratch.processor.run(
        #[inline(always)]
        |_| play_through(problem, offer, policy, rng, scratch, trace),
    );
}

#[inline(always)]
fn play_through<P: Problem>(
    problem: &P,
    offer: Offer,
    policy: &Policy,
    rng: &mut Rng,
    scratch: &mut Scratch<P>,
    trace: &mut Trace<P::Move>,
) {
    trace.clear();
    trace.generation = policy.generation();
    if !policy.is_dense() {
        scratch.memo.clear();
    }
    scratch.state.clone_from(&scratch.start);
    loop {
        fill(problem, offer, &scratch.state, &mut scratch.choices);
        let choices = &scratch.choices;
        if choices.moves.is_empty() {
            break;
        }
        let start = trace.ids.len();
        policy.weigh(&choices.codes, &mut scratch.memo, &mut trace.ids, &mut scratch.weights);
        record(problem, offer, policy, &scratch.state, choices, &mut scratch.weights, trace);
        if let Some(advice) = &mut scratch.advice {
            heed(problem, advice, &scratch.state, choices, &mut scratch.factors, &mut scratch.weights, trace);
        }

        let i = draw(&mut scratch.weights, rng);
        trace.chosen.push((start + i) as u32);
        trace.moves.push(choices.moves[i]);
        problem.play(&mut scratch.state, choices.moves[i]);
    }
    trace.score = problem.score(&scratch.state);
}

/// Rebuilds the trace of a playout from the index of the choice at each step, as a checkpoint keeps it: `Trace::indices`
/// or `indices_of`. An index beyond the choices is that of a legal move, which is then listed as one choice more: so it
/// is learnt like the others, against the choices that a playout has. `None` if an index is out of range: the checkpoint
/// is of another problem.
pub(crate) fn retrace<P: Problem>(
    problem: &P,
    offer: Offer,
    policy: &Policy,
    indices: &[u32],
    scratch: &mut Scratch<P>,
) -> Option<Trace<P::Move>> {
    let mut trace = Trace { generation: policy.generation(), ..Trace::default() };
    let mut legal = Vec::new();
    scratch.memo.clear();
    scratch.state.clone_from(&scratch.start);
    for &i in indices {
        fill(problem, offer, &scratch.state, &mut scratch.choices);
        let choices = &mut scratch.choices;
        let mut i = i as usize;
        if i >= choices.moves.len() {
            legal.clear();
            problem.moves(&scratch.state, &mut legal);
            let mv = *legal.get(i - choices.moves.len())?;
            i = choices.moves.len();
            choices.moves.push(mv);
            choices.codes.push(problem.code(&scratch.state, mv));
        }
        let mv = choices.moves[i];
        let start = trace.ids.len();
        policy.weigh(&choices.codes, &mut scratch.memo, &mut trace.ids, &mut scratch.weights);
        record(problem, offer, policy, &scratch.state, choices, &mut scratch.weights, &mut trace);
        if let Some(advice) = &mut scratch.advice {
            heed(
                problem,
                advice,
                &scratch.state,
                choices,
                &mut scratch.factors,
                &mut scratch.weights,
                &mut trace,
            );
        }
        trace.chosen.push((start + i) as u32);
        trace.moves.push(mv);
        problem.play(&mut scratch.state, mv);
    }
    trace.score = problem.score(&scratch.state);
    Some(trace)
}

/// What `retrace` makes a trace of these moves from, though not all of them may be among the choices. `None` if one is
/// not legal. `scratch` is left at the end of them.
pub(crate) fn indices_of<P: Problem>(
    problem: &P,
    offer: Offer,
    moves: &[P::Move],
    scratch: &mut Scratch<P>,
) -> Option<Vec<u32>> {
    let (mut indices, mut legal) = (Vec::with_capacity(moves.len()), Vec::new());
    scratch.state.clone_from(&scratch.start);
    for &mv in moves {
        fill(problem, offer, &scratch.state, &mut scratch.choices);
        let choices = &scratch.choices.moves;
        let index = match choices.iter().position(|&choice| choice == mv) {
            Some(i) => i,
            None => {
                legal.clear();
                problem.moves(&scratch.state, &mut legal);
                choices.len() + legal.iter().position(|&other| other == mv)?
            }
        };
        indices.push(index as u32);
        problem.play(&mut scratch.state, mv);
    }
    Some(indices)
}

/// What a search is offered in a state.
#[inline(always)]
pub(crate) fn fill<P: Problem>(problem: &P, offer: Offer, state: &P::State, out: &mut Choices<P::Move>) {
    out.clear();
    if offer.selective {
        problem.choices(state, out);
    } else {
        problem.moves(state, &mut out.moves);
        for &mv in &out.moves {
            out.codes.push(problem.code(state, mv));
        }
    }
}

/// Adds a step whose choices are weighed to the trace: codes, bias factors (also to the weights) and where it ends.
#[inline(always)]
fn record<P: Problem>(
    problem: &P,
    offer: Offer,
    policy: &Policy,
    state: &P::State,
    choices: &Choices<P::Move>,
    weights: &mut [f64],
    trace: &mut Trace<P::Move>,
) {
    if !policy.is_dense() {
        trace.codes.extend_from_slice(&choices.codes);
    }
    if offer.bias {
        for (&mv, weight) in choices.moves.iter().zip(weights) {
            let factor = exp(problem.bias(state, mv));
            *weight *= factor;
            trace.factors.push(factor);
        }
    }
    trace.ends.push(trace.ids.len() as u32);
}

/// Multiplies the weights of the step recorded last by what a guide thinks of its choices, and adds that to the trace.
#[inline(never)]
fn heed<P: Problem>(
    problem: &P,
    advice: &mut Advice,
    state: &P::State,
    choices: &Choices<P::Move>,
    factors: &mut Vec<f64>,
    weights: &mut [f64],
    trace: &mut Trace<P::Move>,
) {
    advice.weigh(problem, state, &choices.moves, factors);
    weights.iter_mut().zip(&*factors).for_each(|(weight, factor)| *weight *= factor);
    let start = trace.ids.len() - factors.len();
    match trace.factors.get_mut(start..) {
        // The domain's bias stands there already.
        Some(biases) if !biases.is_empty() => {
            biases.iter_mut().zip(&*factors).for_each(|(bias, factor)| *bias *= factor)
        }
        _ => trace.factors.extend_from_slice(factors),
    }
}

/// An index drawn with probability proportional to its weight. Turns the weights into sums from the left and counts
/// those that the drawn point has passed: no branch depends on chance, so none is mispredicted.
#[inline(always)]
pub(crate) fn draw(weights: &mut [f64], rng: &mut Rng) -> usize {
    let mut total = 0.0;
    let mut fours = weights.chunks_exact_mut(4);
    for four in &mut fours {
        let (first_two, last_two) = (four[0] + four[1], four[2] + four[3]);
        four[0] += total;
        four[1] = total + first_two;
        four[2] += total + first_two;
        four[3] = total + (first_two + last_two);
        total = four[3];
    }
    for weight in fours.into_remainder() {
        total += *weight;
        *weight = total;
    }
    let point = rng.unit() * total;
    let passed: usize = weights.iter().map(|&sum| usize::from(sum <= point)).sum();
    // Rounding can carry the point past the last sum.
    passed.min(weights.len() - 1)
}
