//! Proof and disproof numbers of all nodes, and the order of moves that follows from them, as the search itself has them
//! when no job is out (`sortie_jobs::tree`).

use super::{NONE, ROOT, State, Tree};
use sortie_core::Side;
use sortie_core::exact::{Status, Value};
use sortie_jobs::tree::Select;
use std::cmp::Reverse;

/// More than any sum of numbers.
const INFINITE: u64 = u64::MAX >> 8;

/// The work to prove and to disprove what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// To prove it.
    pub proof: u64,
    /// To disprove it.
    pub disproof: u64,
}

impl Numbers {
    /// Before anything was counted.
    pub const OPEN: Numbers = Numbers { proof: 1, disproof: 1 };

    /// A number for people: what can never be is infinite.
    pub fn written(number: u64) -> String {
        if number > u64::from(u32::MAX) { "∞".into() } else { crate::show::count(number as f64) }
    }
}

impl Tree {
    /// Counts all numbers anew. Children have higher numbers than their parents, so one pass does.
    pub(super) fn count(&mut self) {
        let (mover, known) = (self.nodes[ROOT as usize].mover, self.nodes[ROOT as usize].bounds);
        let asks = self.plan.question.asks(mover);
        // Once all is decided, what was asked last: a draw takes both questions.
        let last = if known.value() == Some(Value::Draw) { asks[asks.len() - 1] } else { asks[0] };
        let ask = asks.into_iter().find(|ask| known.decides(*ask).is_none()).unwrap_or(last);
        for id in (0..self.nodes.len() as u32).rev() {
            let numbers = self.numbers_of(id, ask);
            self.nodes[id as usize].numbers = numbers;
        }
    }

    /// Whether the numbers of a node depend on how many moves it has: all its moves that are open have moves themselves.
    pub(super) fn asks_for_more(&self, id: u32) -> bool {
        let waits = |child: u32| {
            let node = &self.nodes[child as usize];
            node.first == NONE && node.state != State::Faulty && node.bounds.value().is_none()
        };
        let node = &self.nodes[id as usize];
        node.first != NONE && node.bounds.value().is_none() && !self.children(id).any(waits)
    }

    fn numbers_of(&mut self, id: u32, ask: Value) -> Numbers {
        let node = &self.nodes[id as usize];
        match node.bounds.decides(ask) {
            Some(true) => return Numbers { proof: 0, disproof: INFINITE },
            Some(false) => return Numbers { proof: INFINITE, disproof: 0 },
            None => {}
        }
        let (mover, rest) = (node.mover, node.rest);
        if node.first == NONE {
            return self.guess(node.status);
        }
        let rest_guess = self.guess(node.rest_status);
        let (mut proof, mut disproof) = match mover {
            Side::First => (INFINITE, 0),
            Side::Second => (0, INFINITE),
        };
        let mut take = |numbers: Numbers| match mover {
            Side::First => (proof, disproof) = (proof.min(numbers.proof), disproof + numbers.disproof),
            Side::Second => (proof, disproof) = (proof + numbers.proof, disproof.min(numbers.disproof)),
        };
        // As long as a move waits for its first job, that job comes before one that looks for another move.
        let (mut waiting, mut count) = (false, 0);
        for child in self.children(id) {
            let node = &self.nodes[child as usize];
            if node.state == State::Faulty {
                continue;
            }
            count += 1;
            if node.bounds.decides(ask).is_none() {
                waiting |= node.first == NONE;
                take(node.numbers);
            }
        }
        let wanted = match mover {
            Side::First => rest >= ask,
            Side::Second => rest.view(Side::Second) < ask,
        };
        if wanted && !waiting && count < self.legal(id, false) {
            take(rest_guess);
        }
        Numbers { proof: proof.min(INFINITE), disproof: disproof.min(INFINITE) }
    }

    fn guess(&self, status: Status) -> Numbers {
        let (table, s) = (&self.plan.statuses, status as usize);
        Numbers { proof: table.proof[s].into(), disproof: table.disproof[s].into() }
    }

    /// The children of a node in the order in which the search would play them: a win first, a loss last, and among those
    /// of which nothing is known by status and numbers, or by size where the search counts visits.
    pub(super) fn ranked(&self, id: u32) -> Vec<u32> {
        let side = self.nodes[id as usize].mover;
        let mut children: Vec<u32> = self.children(id).collect();
        // The list is the newest first.
        children.reverse();
        let by_numbers = matches!(self.plan.select, Select::Pns);
        let guess = |id: &u32| {
            let node = &self.nodes[*id as usize];
            let Numbers { proof, disproof } = node.numbers;
            let (small, large) = if side == Side::First { (proof, disproof) } else { (disproof, proof) };
            let status = node.status as i32;
            let status = if side == Side::First { status } else { 12 - status };
            match by_numbers {
                true => (f64::from(status), small as f64 / (large as f64).max(1e-9)),
                false => (-f64::from(node.size), 0.0),
            }
        };
        let known = |id: &u32| {
            let seen = self.nodes[*id as usize].bounds.view(side);
            Reverse((seen.low == Value::Win, seen.high != Value::Loss, seen.high))
        };
        children.sort_by(|a, b| {
            let (x, y) = (guess(a), guess(b));
            known(a).cmp(&known(b)).then(x.0.total_cmp(&y.0)).then(x.1.total_cmp(&y.1))
        });
        children
    }
}
