//! Proofs of wins by threats, as data, and a checker that shares nothing with the search that finds them: it looks at
//! cells, one window after the other, and believes no count and no list.

use super::board::NONE;

/// A strategy that wins: `steps[0]` is the first turn of the side that attacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The turns, each with all answers to it. Steps that several answers lead to are there once.
    pub steps: Vec<Step>,
}

/// A turn and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The stones; the second may be `NONE` in the first step of a turn that was begun.
    pub turn: [u16; 2],
    /// The answers that stop all threats of the turn, and the step after each. None: the turn makes six, or threatens
    /// more than two stones can stop.
    pub answers: Vec<([u16; 2], u32)>,
}

/// Checks that a proof wins for `side` on a board of `size` times `size`, `stones[cell]` being 0, 1 or 2 for nobody.
/// The error says at which turn it does not hold.
pub fn check(size: usize, stones: &[u8], side: u8, proof: &Proof) -> Result<(), String> {
    let mut checker = Checker { size: size as i32, stones: stones.to_vec(), side, proof, seen: Vec::new() };
    checker.step(0, 0)
}

struct Checker<'a> {
    size: i32,
    stones: Vec<u8>,
    side: u8,
    proof: &'a Proof,
    /// Steps that hold, with the stones they were checked with.
    seen: Vec<(u32, Vec<u8>)>,
}

impl Checker<'_> {
    fn step(&mut self, number: u32, depth: usize) -> Result<(), String> {
        let step = self.proof.steps.get(number as usize).ok_or("a step that is not there")?;
        let fail = |what: &str| Err(format!("turn {depth} (step {number}) {what}"));
        if self.seen.iter().any(|(n, stones)| *n == number && *stones == self.stones) {
            return Ok(());
        }
        for cell in step.turn.into_iter().filter(|&cell| cell != NONE) {
            match self.stones.get_mut(usize::from(cell)) {
                Some(stone) if *stone == 2 => *stone = self.side,
                _ => return fail("is not on empty cells"),
            }
        }
        let verdict = self.answers(step, number, depth);
        for cell in step.turn.into_iter().filter(|&cell| cell != NONE) {
            self.stones[usize::from(cell)] = 2;
        }
        if verdict.is_ok() && step.answers.len() > 1 {
            self.seen.push((number, self.stones.clone()));
        }
        verdict
    }

    /// The turn is on the board: it has won, or every answer that stops it is refuted by a step of its own.
    fn answers(&mut self, step: &Step, number: u32, depth: usize) -> Result<(), String> {
        let fail = |what: &str| Err(format!("turn {depth} (step {number}) {what}"));
        let (own, other) = (self.windows(self.side), self.windows(1 - self.side));
        if own.iter().any(|window| window.is_empty()) {
            return Ok(());
        }
        if other.iter().any(|window| window.len() <= 2) {
            return fail("lets the other side make six");
        }
        let threats: Vec<&Vec<u16>> = own.iter().filter(|window| window.len() <= 2).collect();
        let mut cells: Vec<u16> = threats.iter().flat_map(|window| window.iter().copied()).collect();
        cells.sort_unstable();
        cells.dedup();
        let stops = |a: u16, b: u16| threats.iter().all(|window| window.contains(&a) || window.contains(&b));
        if cells.is_empty() || cells.iter().any(|&cell| stops(cell, cell)) {
            return fail("leaves the other side a stone to spare");
        }
        for (i, &a) in cells.iter().enumerate() {
            for &b in &cells[i + 1..] {
                if !stops(a, b) {
                    continue;
                }
                let known = step.answers.iter().find(|(turn, _)| *turn == [a, b] || *turn == [b, a]);
                let Some(&(_, next)) = known else {
                    return fail("has an answer that the proof does not know");
                };
                (self.stones[usize::from(a)], self.stones[usize::from(b)]) = (1 - self.side, 1 - self.side);
                let verdict = self.step(next, depth + 1);
                (self.stones[usize::from(a)], self.stones[usize::from(b)]) = (2, 2);
                verdict?;
            }
        }
        Ok(())
    }

    /// The empty cells of every window that has stones of this side, and only of it, if they are at most two.
    fn windows(&self, side: u8) -> Vec<Vec<u16>> {
        let n = self.size;
        let mut windows = Vec::new();
        for start in 0..n * n {
            for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let (c, r) = (start % n + 5 * dc, start / n + 5 * dr);
                if !(0..n).contains(&c) || !(0..n).contains(&r) {
                    continue;
                }
                let cells = (0..6).map(|i| start + i * (dc + n * dr));
                let count = |stone: u8| cells.clone().filter(|&c| self.stones[c as usize] == stone).count();
                if count(side) >= 4 && count(1 - side) == 0 {
                    windows.push(cells.filter(|&c| self.stones[c as usize] == 2).map(|c| c as u16).collect());
                }
            }
        }
        windows
    }
}
