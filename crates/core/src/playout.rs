//! The hot loop: one playout, drawn uniformly or by a policy, recorded so that nothing is ever generated twice.

use crate::domain::{Choices, Problem};
pub use crate::policy::{Mark, Policy, exp};
use crate::prior::{Advice, Guide};
use crate::processor::Processor;
use crate::rng::Rng;
pub use crate::trace::Trace;

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
    /// The weights of all entries of the trace.
    known: Vec<f64>,
    /// The weights of a step; then sums of them.
    weights: Vec<f64>,
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
            known: Vec::new(),
            weights: Vec::new(),
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
    scratch.state.clone_from(&scratch.start);
    loop {
        let start = trace.rows.len();
        step(problem, offer, policy, scratch, trace);
        if scratch.choices.moves.is_empty() {
            break;
        }
        record(problem, offer, scratch, trace);
        let i = draw(&mut scratch.weights, rng);
        let mv = scratch.choices.moves[i];
        trace.chosen.push((start + i) as u32);
        trace.moves.push(mv);
        problem.play(&mut scratch.state, mv);
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
    scratch.state.clone_from(&scratch.start);
    for &i in indices {
        let start = trace.rows.len();
        step(problem, offer, policy, scratch, &mut trace);
        let mut i = i as usize;
        if i >= scratch.choices.moves.len() {
            legal.clear();
            problem.moves(&scratch.state, &mut legal);
            let mv = *legal.get(i - scratch.choices.moves.len())?;
            i = scratch.choices.moves.len();
            scratch.choices.moves.push(mv);
            extend(policy, problem.code(&scratch.state, mv), scratch, &mut trace);
        }
        record(problem, offer, scratch, &mut trace);
        let mv = scratch.choices.moves[i];
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

/// Fills the choices of a step with their weights, and begins its row in the trace.
#[inline(always)]
fn step<P: Problem>(
    problem: &P,
    offer: Offer,
    policy: &Policy,
    scratch: &mut Scratch<P>,
    trace: &mut Trace<P::Move>,
) {
    let Scratch { state, choices, known, weights, .. } = scratch;
    weights.clear();
    if offer.selective && !policy.is_dense() {
        choices.clear();
        if let Some(codes) = problem.places(state, choices) {
            known.truncate(trace.codes.len());
            for &code in &codes[trace.codes.len()..] {
                let (id, weight) = policy.find(code);
                trace.codes.push(code);
                trace.ids.push(id);
                known.push(weight);
            }
            trace.rows.extend_from_slice(&choices.places);
            weights.extend(choices.places.iter().map(|&place| known[place as usize]));
            return;
        }
    }
    fill(problem, offer, state, choices);
    if policy.is_dense() {
        trace.rows.extend(choices.codes.iter().map(|&code| code as u32));
        weights.extend(policy.weigh(&choices.codes));
    } else {
        for &code in &choices.codes {
            let (id, weight) = policy.find(code);
            trace.rows.push(trace.codes.len() as u32);
            trace.codes.push(code);
            trace.ids.push(id);
            weights.push(weight);
        }
    }
}

/// Adds a choice to the step that has just begun: a legal move with this code, which was not on offer.
fn extend<P: Problem>(policy: &Policy, code: u64, scratch: &mut Scratch<P>, trace: &mut Trace<P::Move>) {
    let (id, weight) = policy.find(code);
    scratch.weights.push(weight);
    // Where the domain keeps a list of codes it has this one, and the last of those that are equal is the latest.
    if policy.is_dense() {
        trace.rows.push(code as u32);
    } else if let Some(place) =
        trace.codes.iter().rposition(|&other| other == code).filter(|_| !scratch.choices.places.is_empty())
    {
        trace.rows.push(place as u32);
    } else {
        trace.rows.push(trace.codes.len() as u32);
        trace.codes.push(code);
        trace.ids.push(id);
    }
}

/// Ends the row of a step, with what biases and a guide make of its weights.
#[inline(always)]
fn record<P: Problem>(problem: &P, offer: Offer, scratch: &mut Scratch<P>, trace: &mut Trace<P::Move>) {
    let Scratch { state, choices, weights, .. } = scratch;
    if offer.bias {
        for (&mv, weight) in choices.moves.iter().zip(&mut *weights) {
            let factor = exp(problem.bias(state, mv));
            *weight *= factor;
            trace.factors.push(factor);
        }
    }
    trace.ends.push(trace.rows.len() as u32);
    if let Some(advice) = &mut scratch.advice {
        heed(problem, advice, state, choices, &mut scratch.factors, weights, trace);
    }
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
    let start = trace.rows.len() - factors.len();
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
