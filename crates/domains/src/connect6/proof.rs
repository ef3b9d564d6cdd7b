//! Proofs of wins by threats, as data, and a checker that shares nothing with the search that finds them: it looks at
//! cells, one window after the other, and believes no count and no list.

use super::board::NONE;
use std::collections::HashMap;

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

/// A proof that the side to move has lost, whatever it plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// How the other side wins if it passes.
    pub pass: Proof,
    /// For cells in the zone of that proof, how it wins against a stone there.
    pub stones: Vec<(u16, Proof)>,
    /// For every second cell in the zone of those, and for all where there is none, how it wins against the turn.
    pub turns: Vec<([u16; 2], Proof)>,
}

/// Checks that a proof wins for `side` on a board of `size` times `size`, `stones[cell]` being 0, 1 or 2 for nobody.
/// The error says at which turn it does not hold.
pub fn check(size: usize, stones: &[u8], side: u8, proof: &Proof) -> Result<(), String> {
    check_zone(size, stones, side, proof, 0).map(|_| ())
}

/// Checks that `side`, to move with `left` stones, has lost, but for the turns in `excluded` (smaller cell first).
pub fn check_loss(
    size: usize,
    stones: &[u8],
    side: u8,
    left: u32,
    excluded: &[[u16; 2]],
    loss: &Loss,
) -> Result<(), String> {
    let mut stones = stones.to_vec();
    if !Checker::new(size, &stones, side, &loss.pass, 0).windows(side, 6 - left as usize).is_empty() {
        return Err("the side to move makes six".into());
    }
    let zone = check_zone(size, &stones, 1 - side, &loss.pass, left as usize)?;
    for first in empty_cells(&zone, &stones) {
        let known = loss.stones.iter().find(|(cell, _)| *cell == first);
        if left == 1 && excluded.contains(&[first, NONE]) {
            continue;
        }
        stones[usize::from(first)] = side;
        let inner = match known {
            Some((_, proof)) => check_zone(size, &stones, 1 - side, proof, left as usize - 1)?,
            None if left == 1 => return Err(format!("nothing against a stone on {first}")),
            None => vec![true; stones.len()],
        };
        let seconds = if left == 2 { empty_cells(&inner, &stones) } else { Vec::new() };
        for second in seconds {
            let turn = [first.min(second), first.max(second)];
            if excluded.contains(&turn) {
                continue;
            }
            let Some((_, proof)) = loss.turns.iter().find(|(known, _)| *known == turn) else {
                return Err(format!("nothing against stones on {first} and {second}"));
            };
            stones[usize::from(second)] = side;
            check(size, &stones, 1 - side, proof)?;
            stones[usize::from(second)] = 2;
        }
        stones[usize::from(first)] = 2;
    }
    Ok(())
}

/// Checks a proof; the cells that it depends on when the other side has `extra` more stones.
fn check_zone(
    size: usize,
    stones: &[u8],
    side: u8,
    proof: &Proof,
    extra: usize,
) -> Result<Vec<bool>, String> {
    let mut checker = Checker::new(size, stones, side, proof, extra);
    checker.step(0, 0)?;
    Ok(checker.zone)
}

fn empty_cells(zone: &[bool], stones: &[u8]) -> Vec<u16> {
    (0..stones.len()).filter(|&cell| zone[cell] && stones[cell] == 2).map(|cell| cell as u16).collect()
}

struct Checker<'a> {
    size: i32,
    stones: Vec<u8>,
    side: u8,
    proof: &'a Proof,
    extra: usize,
    zone: Vec<bool>,
    /// Steps that hold, with the stones they were checked with. A step stands for one position, so that a proof is
    /// checked in the time it takes to read, whoever wrote it.
    seen: HashMap<u32, Vec<u8>>,
}

impl<'a> Checker<'a> {
    fn new(size: usize, stones: &[u8], side: u8, proof: &'a Proof, extra: usize) -> Self {
        let zone = vec![false; stones.len()];
        Checker { size: size as i32, stones: stones.to_vec(), side, proof, extra, zone, seen: HashMap::new() }
    }

    fn step(&mut self, number: u32, depth: usize) -> Result<(), String> {
        let step = self.proof.steps.get(number as usize).ok_or("a step that is not there")?;
        // Stones are only added, so no line is longer than the board has cells, whatever the proof says.
        let fail = |what: &str| Err(format!("turn {depth} (step {number}) {what}"));
        if let Some(seen) = self.seen.get(&number) {
            return if *seen == self.stones { Ok(()) } else { fail("stands for two positions") };
        }
        let turn = || step.turn.into_iter().filter(|&cell| cell != NONE);
        if step.turn[0] == step.turn[1] || turn().any(|cell| self.stones.get(usize::from(cell)) != Some(&2)) {
            return fail("is not on empty cells");
        }
        for cell in turn() {
            self.stones[usize::from(cell)] = self.side;
            self.zone[usize::from(cell)] = true;
        }
        let verdict = self.answers(step, number, depth);
        for cell in turn() {
            self.stones[usize::from(cell)] = 2;
        }
        if verdict.is_ok() && !step.answers.is_empty() {
            self.seen.insert(number, self.stones.clone());
        }
        verdict
    }

    /// The turn is on the board: it has won, or every answer that stops it is refuted by a step of its own.
    fn answers(&mut self, step: &Step, number: u32, depth: usize) -> Result<(), String> {
        let fail = |what: &str| Err(format!("turn {depth} (step {number}) {what}"));
        let threats = self.windows(self.side, 4);
        if threats.iter().any(|window| window.is_empty()) {
            return Ok(());
        }
        for window in self.windows(1 - self.side, 4 - self.extra) {
            if window.len() <= 2 {
                return fail("lets the other side make six");
            }
            window.iter().for_each(|&cell| self.zone[usize::from(cell)] = true);
        }
        let mut cells: Vec<u16> = threats.iter().flatten().copied().collect();
        cells.sort_unstable();
        cells.dedup();
        cells.iter().for_each(|&cell| self.zone[usize::from(cell)] = true);
        let stops = |a: u16, b: u16| threats.iter().all(|window| window.contains(&a) || window.contains(&b));
        if cells.is_empty() || cells.iter().any(|&cell| stops(cell, cell)) {
            return fail("leaves the other side a stone to spare");
        }
        for (i, &a) in cells.iter().enumerate() {
            for &b in cells[i + 1..].iter().filter(|&&b| stops(a, b)) {
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

    /// The empty cells of every window with `least` stones of this side or more, and none of the other's.
    fn windows(&self, side: u8, least: usize) -> Vec<Vec<u16>> {
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
                if count(side) >= least && count(1 - side) == 0 {
                    windows.push(cells.filter(|&c| self.stones[c as usize] == 2).map(|c| c as u16).collect());
                }
            }
        }
        windows
    }
}
