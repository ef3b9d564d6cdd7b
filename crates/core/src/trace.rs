//! A recorded playout: what was on offer at each step and which of it was chosen. What stays on offer from step to step is
//! one entry, looked up in the policy once; a step is a row of places of entries.

use crate::policy::{Policy, UNKNOWN};

/// A recorded playout.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace<M> {
    /// The moves, one a step.
    pub moves: Vec<M>,
    /// What was on offer, step after step, as places in `codes` and `ids`; as ids where a code is its own.
    pub rows: Vec<u32>,
    /// The codes of the entries; none where a code is its own id.
    pub codes: Vec<u64>,
    /// Their ids in the policy.
    pub ids: Vec<u32>,
    /// exp(bias) of each of `rows`, the domain's and the guide's, or empty when the search uses neither.
    pub factors: Vec<f64>,
    /// The policy's generation that the ids are of.
    pub generation: u64,
    /// `ends[i]` is where step `i` ends in `rows`.
    pub ends: Vec<u32>,
    /// `chosen[i]` is the index in `rows` of what step `i` chose.
    pub chosen: Vec<u32>,
    /// The score at the end; negative infinity for a trace that was never played.
    pub score: f64,
}

impl<M> Default for Trace<M> {
    fn default() -> Self {
        Trace {
            moves: Vec::new(),
            rows: Vec::new(),
            codes: Vec::new(),
            ids: Vec::new(),
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
        self.rows.clear();
        self.codes.clear();
        self.ids.clear();
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
        self.rows.clone_from(&other.rows);
        self.codes.clone_from(&other.codes);
        self.ids.clone_from(&other.ids);
        self.factors.clone_from(&other.factors);
        self.generation = other.generation;
        self.ends.clone_from(&other.ends);
        self.chosen.clone_from(&other.chosen);
        self.score = other.score;
    }

    /// Adds a step by hand: these hashed codes were on offer, and the one at index `chosen` was played.
    pub fn push_step(&mut self, codes: &[u64], chosen: usize, mv: M) {
        let start = self.rows.len();
        for &code in codes {
            self.rows.push(self.codes.len() as u32);
            self.codes.push(code);
            self.ids.push(UNKNOWN);
        }
        self.ends.push(self.rows.len() as u32);
        self.chosen.push((start + chosen) as u32);
        self.moves.push(mv);
    }

    /// The policy's id of what stands at this index of `rows`.
    #[inline]
    pub fn id(&self, index: usize) -> u32 {
        let row = self.rows[index];
        if self.codes.is_empty() { row } else { self.ids[row as usize] }
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
        self.ids.fill(UNKNOWN);
    }

    /// Forgets the ids of hashed codes that the policy has taken back.
    pub fn forget_ids(&mut self, policy: &Policy) {
        if self.generation == policy.generation() {
            for (id, &code) in self.ids.iter_mut().zip(&self.codes) {
                if *id != UNKNOWN {
                    *id = policy.id(code);
                }
            }
        }
    }
}
