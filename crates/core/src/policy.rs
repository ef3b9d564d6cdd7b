//! The policy of NRPA: one weight per code, kept as its exponential so that no playout calls `exp`.
//!
//! A nested search adapts a copy of its parent's policy and throws the copy away. Here there is one table and a log:
//! `mark` starts a level, the first change of an entry in a level writes the old value to the log, `rewind` takes the
//! level back. Codes are small numbers (`Problem::codes_max`) or hashes; either way a code has an `id`, its place in
//! the table. A small code is its own id. A hashed code gets a place in an open-addressed table when it is first
//! adapted; until then it is `UNKNOWN`, whose weight is that of a code never heard of. Places are taken back in the
//! reverse order of taking, so taking one back is emptying it: no probe chain can run through it. When the table
//! grows all ids change, which its `generation` tells.

use crate::processor::Processor;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// The id of every hashed code that is not in the policy. Dense policies do not use it.
pub const UNKNOWN: u32 = 0;

/// Weights are kept within exp(-WEIGHT_MAX) and exp(WEIGHT_MAX): far beyond what changes a probability.
const WEIGHT_MAX: f64 = 300.0;
/// Marks an empty place. No code is this number: see `hashed`.
const EMPTY: u64 = u64::MAX;
/// Places of a new table of hashed codes.
const PLACES_MIN: usize = 4096;

/// Weights by code, with levels that can be taken back.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// `weights[id]` is exp(w); `weights[UNKNOWN]` is 1 when codes are hashed.
    weights: Vec<f64>,
    /// Hashed codes only: `codes[id]` or EMPTY. Place UNKNOWN, the first, stays empty; behind it a power of two.
    codes: Vec<u64>,
    /// Hashed codes only: the places taken, in the order of taking.
    taken: Vec<u32>,
    generation: u64,
    dense: bool,
    /// The old values of the entries changed since each `mark`, oldest first.
    log: Vec<(u32, f64)>,
    /// `logged[id]` is the level (by its number) in which the entry was last written to the log.
    logged: Vec<u64>,
    /// The number of the level going on, and of the last one begun.
    level: u64,
    levels_begun: u64,
    /// Scratch of `adapt`: `deltas[id]` is zero between calls.
    deltas: Vec<f64>,
    touched: Vec<u32>,
    /// Scratch: the weights of a step or of all entries, then the factors of the changes.
    factors: Vec<f64>,
    /// Scratch: the changes of the entries of a trace.
    changes: Vec<f64>,
    processor: Processor,
}

/// Where a level began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    log_len: usize,
    n_taken: usize,
    level: u64,
}

/// A policy in a checkpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedPolicy {
    /// Codes and weights in the order of taking; of a dense policy the entries that are not 1.
    entries: Vec<(u64, f64)>,
    log: Vec<(u64, f64)>,
    places: usize,
    level: u64,
    levels_begun: u64,
}

impl Policy {
    /// All weights zero. `codes_max` is the domain's: `Some(n)` for codes below `n`, `None` for hashes.
    pub fn new(codes_max: Option<usize>) -> Policy {
        let mut policy =
            Policy { dense: codes_max.is_some(), processor: Processor::here(), ..Policy::default() };
        policy.clear(codes_max.unwrap_or(1 + PLACES_MIN));
        policy
    }

    /// A policy of small codes that begins with these weights, given as their exponentials.
    pub(crate) fn of_weights(weights: Vec<f64>) -> Policy {
        let mut policy = Policy::new(Some(weights.len()));
        let (low, high) = ((-WEIGHT_MAX).exp(), WEIGHT_MAX.exp());
        policy.weights = weights.into_iter().map(|weight| weight.clamp(low, high)).collect();
        policy
    }

    fn clear(&mut self, places: usize) {
        self.weights = vec![1.0; places];
        self.logged = vec![0; places];
        self.deltas = vec![0.0; places];
        self.codes = if self.dense { Vec::new() } else { vec![EMPTY; places] };
        self.taken.clear();
    }

    /// Lets what changes it use this much of the processor.
    pub(crate) fn on(self, processor: Processor) -> Policy {
        Policy { processor, ..self }
    }

    /// All ids are below this.
    pub(crate) fn places(&self) -> usize {
        self.weights.len()
    }

    /// Becomes a copy of another policy outside of its levels: what `clone` does, without the log and into the
    /// memory there is.
    pub(crate) fn copy_from(&mut self, other: &Policy) {
        debug_assert!(
            self.log.is_empty() && self.level == 0,
            "only a policy without levels can be written over"
        );
        self.weights.clone_from(&other.weights);
        self.codes.clone_from(&other.codes);
        self.taken.clone_from(&other.taken);
        (self.generation, self.dense) = (other.generation, other.dense);
        // All zero between calls, and nothing is logged outside of a level: only the lengths must fit.
        self.logged.resize(self.weights.len(), 0);
        self.deltas.resize(self.weights.len(), 0.0);
    }

    /// Whether a code is its own id.
    pub fn is_dense(&self) -> bool {
        self.dense
    }

    /// Changes whenever ids do.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The weight of a code, as w. For reports and tests.
    pub fn log_weight(&self, code: u64) -> f64 {
        self.weights[self.id(code) as usize].ln()
    }

    /// The mean entropy of the choices along a trace, in nats: 0 where the policy would always play it, ln n where it
    /// draws among n as by lot. `None` for a trace that was never played. For reports: nothing is changed by it.
    pub fn entropy<M>(&self, trace: &Trace<M>) -> Option<f64> {
        let (mut start, mut sum) = (0, 0.0);
        for &end in &trace.ends {
            let step = start..end as usize;
            let weight = |i: usize| {
                // Ids may be of another generation: codes are not.
                let row = trace.rows[i];
                let id = trace.codes.get(row as usize).map_or(row, |&code| self.id(code));
                self.weights[id as usize] * trace.factors.get(i).unwrap_or(&1.0)
            };
            let total: f64 = step.clone().map(weight).sum();
            let part = |i: usize| {
                let p = weight(i) / total;
                if p > 0.0 { -p * p.ln() } else { 0.0 }
            };
            sum += step.map(part).sum::<f64>();
            start = end as usize;
        }
        (!trace.ends.is_empty() && sum.is_finite()).then(|| sum / trace.ends.len() as f64)
    }

    /// The id of a code.
    #[inline]
    pub fn id(&self, code: u64) -> u32 {
        if self.dense {
            return code as u32;
        }
        let place = self.place(code);
        if self.codes[place] == EMPTY { UNKNOWN } else { place as u32 }
    }

    /// The id of a code and its weight, as exp(w).
    #[inline(always)]
    pub(crate) fn find(&self, code: u64) -> (u32, f64) {
        let id = self.id(code);
        (id, self.weights[id as usize])
    }

    /// The weights of small codes, as exp(w).
    #[inline(always)]
    pub(crate) fn weigh<'a>(&'a self, codes: &'a [u64]) -> impl Iterator<Item = f64> + 'a {
        codes.iter().map(|&code| self.weights[code as usize])
    }

    /// Begins a level.
    pub fn mark(&mut self) -> Mark {
        let mark = Mark { log_len: self.log.len(), n_taken: self.taken.len(), level: self.level };
        self.levels_begun += 1;
        self.level = self.levels_begun;
        mark
    }

    /// Ends the level begun at `mark`: every weight is again what it was.
    pub fn rewind(&mut self, mark: Mark) {
        for (id, old) in self.log.drain(mark.log_len..).rev() {
            self.weights[id as usize] = old;
        }
        for place in self.taken.drain(mark.n_taken..).rev() {
            self.codes[place as usize] = EMPTY;
            self.weights[place as usize] = 1.0;
        }
        self.level = mark.level;
    }

    /// What has changed since `mark`, as codes and exp(w): what `assign` does to another policy.
    pub fn changes(&self, mark: Mark, out: &mut Vec<(u64, f64)>) {
        out.clear();
        let changed = self.log[mark.log_len..].iter().map(|&(id, _)| id);
        for id in changed.chain(self.taken[mark.n_taken..].iter().copied()) {
            let code = if self.dense { id as u64 } else { self.codes[id as usize] };
            out.push((code, self.weights[id as usize]));
        }
    }

    /// Sets the weights of some codes, as part of the level going on.
    pub fn assign(&mut self, changes: &[(u64, f64)]) {
        for &(code, weight) in changes {
            let id = if self.dense { code as u32 } else { self.learn(code) };
            let i = id as usize;
            if self.logged[i] != self.level {
                self.logged[i] = self.level;
                self.log.push((id, self.weights[i]));
            }
            self.weights[i] = weight;
        }
    }

    /// Moves the policy towards `trace`: at each of its steps the chosen code gains `alpha` and every code on offer
    /// loses `alpha` times its probability, all probabilities taken before any change (Rosin 2011). The trace's ids
    /// are brought up to date on the way.
    pub fn adapt<M>(&mut self, trace: &mut Trace<M>, alpha: f64) {
        self.learn_ids(trace);
        self.adapt_known(trace, alpha);
    }

    /// The same for a trace whose ids are all known and of this generation.
    pub(crate) fn adapt_known<M>(&mut self, trace: &Trace<M>, alpha: f64) {
        self.processor.run(
            #[inline(always)]
            |_| self.add_steps(trace, alpha),
        );
    }

    #[inline(always)]
    fn add_steps<M>(&mut self, trace: &Trace<M>, alpha: f64) {
        if trace.codes.is_empty() {
            self.add_ids(trace, alpha);
        } else {
            self.add_entries(trace, alpha);
        }
        self.apply_deltas();
    }

    /// The deltas of a trace whose rows are ids.
    #[inline(always)]
    fn add_ids<M>(&mut self, trace: &Trace<M>, alpha: f64) {
        // At most one touch a code on offer; the list is cut to those that were new.
        self.touched.resize(trace.rows.len() + 1, 0);
        let (touched, mut n) = (&mut self.touched[..], 0);
        lose(
            trace,
            alpha,
            &self.weights,
            &mut self.deltas,
            #[inline(always)]
            |id, loss| {
                touched[n] = id;
                n += usize::from(loss == 0.0);
            },
        );
        self.touched.truncate(n);
        for &id in &self.touched {
            self.deltas[id as usize] *= -self.weights[id as usize];
        }
        for &chosen in &trace.chosen {
            self.deltas[trace.rows[chosen as usize] as usize] += alpha;
        }
    }

    /// The deltas of a trace with entries: first what each entry loses, side by side in little memory, then the deltas of
    /// their codes, of which several entries may be.
    #[inline(always)]
    fn add_entries<M>(&mut self, trace: &Trace<M>, alpha: f64) {
        let n = trace.ids.len();
        self.factors.clear();
        self.factors.extend(trace.ids.iter().map(|&id| self.weights[id as usize]));
        self.changes.clear();
        self.changes.resize(n, 0.0);
        lose(
            trace,
            alpha,
            &self.factors,
            &mut self.changes,
            #[inline(always)]
            |_, _| (),
        );
        for (change, weight) in self.changes.iter_mut().zip(&self.factors) {
            *change *= -weight;
        }
        for &chosen in &trace.chosen {
            self.changes[trace.rows[chosen as usize] as usize] += alpha;
        }
        self.touched.resize(n, 0);
        let mut n_touched = 0;
        for (&id, &change) in trace.ids.iter().zip(&self.changes) {
            let delta = &mut self.deltas[id as usize];
            self.touched[n_touched] = id;
            n_touched += usize::from(*delta == 0.0);
            *delta += change;
        }
        self.touched.truncate(n_touched);
    }

    /// Multiplies the changed weights by the exponentials of their deltas, and logs what they were.
    #[inline(always)]
    fn apply_deltas(&mut self) {
        self.factors.clear();
        self.factors.extend(self.touched.iter().map(|&id| self.deltas[id as usize]));
        for x in &mut self.factors {
            *x = exp(*x);
        }
        let (low, high) = ((-WEIGHT_MAX).exp(), WEIGHT_MAX.exp());
        for (&id, &factor) in self.touched.iter().zip(&self.factors) {
            let i = id as usize;
            // A delta that came back to zero on its way puts its code on the list twice; the second time it is spent.
            if self.deltas[i] != 0.0 {
                self.deltas[i] = 0.0;
                if self.logged[i] != self.level {
                    self.logged[i] = self.level;
                    self.log.push((id, self.weights[i]));
                }
                self.weights[i] = (self.weights[i] * factor).clamp(low, high);
            }
        }
        self.touched.clear();
    }

    /// Gives every unknown code of a trace an id. The generation may change on the way.
    pub(crate) fn learn_ids<M>(&mut self, trace: &mut Trace<M>) {
        loop {
            if trace.generation != self.generation {
                trace.forget_all_ids();
                trace.generation = self.generation;
            }
            for (id, &code) in trace.ids.iter_mut().zip(&trace.codes) {
                if *id == UNKNOWN {
                    *id = self.learn(code);
                }
            }
            // Growing on the way has changed the ids given before.
            if trace.generation == self.generation {
                return;
            }
        }
    }

    fn learn(&mut self, code: u64) -> u32 {
        let mut place = self.place(code);
        if self.codes[place] == EMPTY {
            if 2 * self.taken.len() >= self.codes.len() {
                self.grow();
                place = self.place(code);
            }
            self.codes[place] = hashed(code);
            self.taken.push(place as u32);
            self.logged[place] = self.level;
        }
        place as u32
    }

    /// The place of this code, or the empty one where it would go.
    #[inline]
    fn place(&self, code: u64) -> usize {
        let code = hashed(code);
        let places = &self.codes[1..];
        let mask = places.len() - 1;
        // Domains may give codes whose low bits are all alike; the upper half of a product depends on all bits.
        let mut place = (code.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        loop {
            if places[place] == code || places[place] == EMPTY {
                return place + 1;
            }
            place = (place + 1) & mask;
        }
    }

    /// Twice the places. The codes move in the order they came, so that they can still be taken back.
    fn grow(&mut self) {
        let codes: Vec<u64> = self.taken.iter().map(|&place| self.codes[place as usize]).collect();
        let entries: Vec<(f64, u64)> = self
            .taken
            .iter()
            .map(|&place| (self.weights[place as usize], self.logged[place as usize]))
            .collect();
        let log: Vec<(u64, f64)> = self.log.iter().map(|&(id, old)| (self.codes[id as usize], old)).collect();
        self.clear(2 * self.codes.len() - 1);
        for (code, (weight, logged)) in codes.into_iter().zip(entries) {
            let place = self.place(code);
            self.codes[place] = code;
            self.taken.push(place as u32);
            (self.weights[place], self.logged[place]) = (weight, logged);
        }
        self.log = log.into_iter().map(|(code, old)| (self.id(code), old)).collect();
        self.generation += 1;
    }

    /// The policy for a checkpoint.
    pub(crate) fn save(&self) -> SavedPolicy {
        let code = |id: u32| if self.dense { id as u64 } else { self.codes[id as usize] };
        let entry = |id: u32| (code(id), self.weights[id as usize]);
        let entries = if self.dense {
            (0..self.weights.len() as u32).filter(|&id| self.weights[id as usize] != 1.0).map(entry).collect()
        } else {
            self.taken.iter().map(|&id| entry(id)).collect()
        };
        SavedPolicy {
            entries,
            log: self.log.iter().map(|&(id, old)| (code(id), old)).collect(),
            places: self.weights.len(),
            level: self.level,
            levels_begun: self.levels_begun,
        }
    }

    /// Whether these marks, of the outermost level first, can be gone back to: a checkpoint may be of another making.
    pub(crate) fn holds(&self, marks: impl Iterator<Item = Mark>) -> bool {
        let marks: Vec<(usize, usize)> = marks.map(|mark| (mark.log_len, mark.n_taken)).collect();
        let ends = (self.log.len(), self.taken.len());
        marks.iter().chain([&ends]).is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1)
    }

    /// A policy from a checkpoint; `None` if it is of another kind.
    pub(crate) fn load(saved: &SavedPolicy, codes_max: Option<usize>) -> Option<Policy> {
        let mut policy = Policy::new(codes_max);
        let fits = match codes_max {
            Some(n) => {
                saved.places == n
                    && saved.entries.iter().chain(&saved.log).all(|&(code, _)| (code as usize) < n)
            }
            None => {
                saved.places > PLACES_MIN && (saved.places - 1).is_power_of_two() && saved.places >> 28 == 0
            }
        };
        if !fits {
            return None;
        }
        policy.clear(saved.places);
        for &(code, weight) in &saved.entries {
            let id = if policy.dense { code as u32 } else { policy.learn(code) };
            policy.weights[id as usize] = weight;
        }
        policy.log = saved.log.iter().map(|&(code, old)| (policy.id(code), old)).collect();
        policy.logged.fill(0);
        (policy.level, policy.levels_begun) = (saved.level, saved.levels_begun);
        Some(policy)
    }
}

/// The code as the table keeps it: EMPTY must not be one.
#[inline]
fn hashed(code: u64) -> u64 {
    code - u64::from(code == EMPTY)
}

/// What everything on offer loses at all steps of a trace, divided by its weight: the sum of alpha / (sum of the weights).
/// `meet` is told what it has lost before each.
#[inline(always)]
fn lose<M>(
    trace: &Trace<M>,
    alpha: f64,
    weights: &[f64],
    losses: &mut [f64],
    mut meet: impl FnMut(u32, f64),
) {
    let n = weights.len().min(losses.len());
    let most = trace.rows.iter().fold(0, |most, &row| most.max(row)) as usize;
    assert!(most < n || trace.rows.is_empty(), "rows are places in the table or of entries");
    // SAFETY: no row is above `most`.
    let weight = |row: u32| unsafe { *weights.get_unchecked(row as usize) };
    let mut lose = |row: u32, more: f64| {
        // SAFETY: as above.
        let loss = unsafe { losses.get_unchecked_mut(row as usize) };
        meet(row, *loss);
        *loss += more;
    };
    let mut start = 0;
    for &end in &trace.ends {
        let row = &trace.rows[start..end as usize];
        if let Some(factors) = trace.factors.get(start..end as usize) {
            let scale = alpha / sum(row, |i, row| weight(row) * factors[i]);
            row.iter().zip(factors).for_each(|(&row, factor)| lose(row, scale * factor));
        } else {
            let scale = alpha / sum(row, |_, row| weight(row));
            row.iter().for_each(|&row| lose(row, scale));
        }
        start = end as usize;
    }
}

/// The sum of something of each, in four interleaved parts: four times the speed of one chain of additions, and always the
/// same order.
#[inline(always)]
fn sum<T: Copy>(all: &[T], of: impl Fn(usize, T) -> f64) -> f64 {
    let mut parts = [0.0; 4];
    let fours = all.len() / 4 * 4;
    for start in (0..fours).step_by(4) {
        for (i, part) in parts.iter_mut().enumerate() {
            *part += of(start + i, all[start + i]);
        }
    }
    let rest: f64 = (fours..all.len()).map(|i| of(i, all[i])).sum();
    (parts[0] + parts[1]) + (parts[2] + parts[3]) + rest
}

/// exp(x) to a few units in the last place for |x| <= 700, in plain arithmetic: it vectorises, and unlike the
/// system's it gives the same bits on every machine, which is what makes a seed repeat.
#[inline(always)]
#[allow(clippy::excessive_precision)]
pub fn exp(x: f64) -> f64 {
    // x = k ln 2 + r with |r| <= ln 2 / 2; k comes out of the low bits of a float that has no room for a fraction.
    const SHIFT: f64 = 6755399441055744.0; // 1.5 * 2^52
    let x = x.clamp(-700.0, 700.0);
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * 6.931471803691238e-1) - k * 1.9082149292705877e-10;
    // Taylor to r^13: the next term is below 2^-57 at the end of the range.
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    let middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0));
    let top = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    let mantissa = low + r4 * (middle + r4 * (high + r4 * top));
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    mantissa * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_library() {
        for i in -70_000..=70_000 {
            let x = i as f64 / 100.0 + 0.00317;
            let (ours, theirs) = (exp(x), x.clamp(-700.0, 700.0).exp());
            assert!((ours - theirs).abs() <= 5e-16 * theirs, "exp({x}) = {ours}, expected {theirs}");
        }
        assert_eq!(exp(0.0), 1.0);
    }

    /// Two steps: codes {1, 2, 3} choosing 1, then {2, 4} choosing 4.
    fn trace() -> Trace<()> {
        of_codes([1, 2, 3, 2, 4])
    }

    /// The same steps with other codes: three and two.
    fn of_codes(codes: [u64; 5]) -> Trace<()> {
        let mut trace = Trace::default();
        trace.push_step(&codes[..3], 0, ());
        trace.push_step(&codes[3..], 1, ());
        trace
    }

    /// The same for a policy of small codes.
    fn dense_trace() -> Trace<()> {
        Trace { codes: vec![], ids: vec![], rows: vec![1, 2, 3, 2, 4], ..trace() }
    }

    /// What stays on offer is one entry: what is learnt is what single steps teach.
    #[test]
    fn entries_teach_what_their_steps_do() {
        for alpha in [0.3, 1.0, 30.0] {
            let (mut whole, mut apart) = (Policy::new(None), Policy::new(None));
            let mut rng = crate::rng::Rng::new(1, 0);
            for _ in 0..20 {
                // Codes that come and go, some more than once.
                let (mut joined, mut split) = (Trace::default(), Trace::default());
                let mut offered: Vec<u32> = Vec::new();
                for _ in 0..37 {
                    offered.retain(|_| rng.below(4) > 0);
                    for _ in 0..2 + rng.below(4) {
                        offered.push(joined.codes.len() as u32);
                        joined.codes.push(rng.below(50) as u64);
                    }
                    let chosen = rng.below(offered.len());
                    joined.chosen.push((joined.rows.len() + chosen) as u32);
                    joined.rows.extend_from_slice(&offered);
                    joined.ends.push(joined.rows.len() as u32);
                    let codes: Vec<u64> = offered.iter().map(|&i| joined.codes[i as usize]).collect();
                    split.push_step(&codes, chosen, ());
                }
                joined.ids = vec![UNKNOWN; joined.codes.len()];
                let mut weighed = Trace { factors: vec![1.0; split.rows.len()], ..split.clone() };
                let mut biased = apart.clone();
                whole.adapt::<()>(&mut joined, alpha);
                apart.adapt(&mut split, alpha);
                biased.adapt(&mut weighed, alpha);
                for code in 0..50 {
                    let (w, a, b) = (whole.log_weight(code), apart.log_weight(code), biased.log_weight(code));
                    assert!((w - a).abs() < 1e-9 && a == b, "code {code}: {w} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn entropy_is_that_of_the_choices() {
        let mut policy = Policy::new(None);
        let even = (3f64.ln() + 2f64.ln()) / 2.0;
        assert!((policy.entropy(&trace()).unwrap() - even).abs() < 1e-12, "nothing learnt: as by lot");
        assert_eq!(policy.entropy(&Trace::<()>::default()), None);
        let biased = Trace { factors: vec![1.0, 0.0, 0.0, 1.0, 0.0], ..trace() };
        assert_eq!(policy.entropy(&biased), Some(0.0));
        for _ in 0..100 {
            policy.adapt(&mut trace(), 1.0);
        }
        assert!(policy.entropy(&trace()).unwrap() < 0.2, "learnt: nearly always the same");
        let mut dense = Policy::new(Some(5));
        assert!((dense.entropy(&dense_trace()).unwrap() - even).abs() < 1e-12);
        dense.adapt(&mut dense_trace(), 1.0);
        policy = Policy::new(None);
        policy.adapt(&mut trace(), 1.0);
        assert_eq!(dense.entropy(&dense_trace()), policy.entropy(&trace()));
    }

    #[test]
    fn adapt_follows_the_formula() {
        let mut policy = Policy::new(None);
        policy.adapt(&mut trace(), 1.0);
        let third = 1.0 / 3.0;
        for (code, expected) in [(1, 1.0 - third), (2, -third - 0.5), (3, -third), (4, 0.5), (5, 0.0)] {
            assert!((policy.log_weight(code) - expected).abs() < 1e-12, "code {code}");
        }
        // A second time the probabilities come from the weights above, and from before either step's change.
        let w = |c| policy.log_weight(c);
        let (z1, z2) = (w(1).exp() + w(2).exp() + w(3).exp(), w(2).exp() + w(4).exp());
        let expected = w(2) - w(2).exp() / z1 - w(2).exp() / z2;
        let mut twice = policy.clone();
        twice.adapt(&mut trace(), 1.0);
        assert!((twice.log_weight(2) - expected).abs() < 1e-12);
    }

    #[test]
    fn changes_carry_a_level_over_to_another_policy() {
        let other = Trace { rows: vec![1, 6, 7, 2, 4], ..dense_trace() };
        for (codes_max, trace, other) in
            [(None, trace(), of_codes([1, 6, 7, 2, 4])), (Some(100), dense_trace(), other)]
        {
            let weights = |policy: &Policy| -> Vec<f64> { (0..9).map(|c| policy.log_weight(c)).collect() };
            let mut here = Policy::new(codes_max);
            here.adapt(&mut trace.clone(), 0.5);
            let mut there = here.clone();
            let before = weights(&here);
            let mark = here.mark();
            here.adapt(&mut other.clone(), 1.0);
            here.adapt(&mut trace.clone(), 1.0);
            let mut changes = Vec::new();
            here.changes(mark, &mut changes);
            let outer = there.mark();
            there.assign(&changes);
            assert_eq!(weights(&there), weights(&here));
            assert_ne!(weights(&there), before);
            there.rewind(outer);
            assert_eq!(weights(&there), before);
        }
    }

    #[test]
    fn marks_beyond_the_log_are_not_held() {
        let mut policy = Policy::new(None);
        let outer = policy.mark();
        policy.adapt(&mut trace(), 1.0);
        let inner = policy.mark();
        let beyond = Mark { n_taken: 99, ..inner };
        assert!(policy.holds([outer, inner].into_iter()));
        assert!(!policy.holds([inner, outer].into_iter()));
        assert!(!policy.holds([outer, beyond].into_iter()));
    }

    #[test]
    fn rewind_takes_a_level_back_and_dense_equals_hashed() {
        let mut hashed = Policy::new(None);
        let mut dense = Policy::new(Some(100));
        let mut dense_trace = dense_trace();
        let outer = hashed.mark();
        dense.mark();
        hashed.adapt(&mut trace(), 1.0);
        dense.adapt(&mut dense_trace.clone(), 1.0);
        let before: Vec<f64> = (0..9).map(|c| hashed.log_weight(c)).collect();
        let (mark, dense_mark) = (hashed.mark(), dense.mark());
        for i in 0..2000 {
            // Enough new codes to make the table grow in the middle of a level.
            hashed.adapt(&mut of_codes([1, 2, 3, 100 + 2 * i, 101 + 2 * i]), 0.7);
            dense.adapt(&mut dense_trace, 0.7);
        }
        assert_ne!(before[1], hashed.log_weight(1));
        hashed.rewind(mark);
        dense.rewind(dense_mark);
        assert_eq!(before, (0..9).map(|c| hashed.log_weight(c)).collect::<Vec<_>>());
        assert_eq!(before, (0..9).map(|c| dense.log_weight(c)).collect::<Vec<_>>());
        hashed.rewind(outer);
        assert!((0..5000).all(|c| hashed.log_weight(c) == 0.0 && hashed.id(c) == UNKNOWN));
    }
}
