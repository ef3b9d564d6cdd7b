//! How the first side wins with few answers: the strategist of certificates. Of the moves that win it takes the one whose
//! strategy is the smallest, counted where that is small and estimated where it is not.

use super::follow::forces;
use super::solve::{Position, after, landing, safe, winning};
use super::winner::{COLUMNS, Oracle, holds, key};
use super::{BOARD, WIDTH, column_bits};

/// What the counts remember, in entries of 16 bytes.
const COUNTS: usize = 1 << 22;
/// Positions that a count may look at, for a move and for a reply to one.
const COUNT_NODES: u64 = 5000;
const REPLY_NODES: u64 = 1000;
/// Counts end here.
const COUNT_MAX: u32 = 2000;
/// More than any strategy has.
const NEVER: u32 = u16::MAX as u32;
/// Positions that the oracle gets for a move at first; so many times as many in each round that follows.
const NODES: u64 = 1000;
const MORE: u64 = 3;
/// What a reply counts whose strategy is large: so many answers, and one for so many positions of the oracle's.
const LARGE: u64 = 200;
const NODES_AN_ANSWER: u64 = 100;
/// Positions that the oracle gets for such a reply.
const LARGE_NODES: u64 = 300_000;

/// Who knows how the first side wins.
pub struct Strategy {
    oracle: Oracle,
    counts: Counts,
}

impl Strategy {
    /// Remembers about so many bytes.
    pub fn new(memory_max: usize) -> Self {
        let counts = Counts::new(COUNTS.min(memory_max / 64).next_power_of_two());
        Strategy { oracle: Oracle::new(memory_max.saturating_sub(counts.bytes())), counts }
    }

    /// The cell where the first side plays.
    pub fn answer(&mut self, position: Position, stop: &dyn Fn() -> bool) -> Result<u64, String> {
        let (own, all) = position;
        let fours = winning(own, all) & landing(all);
        if fours != 0 {
            return Ok(fours & fours.wrapping_neg());
        }
        let cells = safe(position);
        if let Some((cell, _)) = self.counts.least(position, cells, COUNT_NODES) {
            return Ok(cell);
        }
        let mut best = (u64::MAX, 0);
        let winners = self.winners(position, cells, stop)?;
        for cell in each(winners) {
            if winners == cell {
                return Ok(cell);
            }
            best = best.min((self.estimate(position, cell, stop), cell));
        }
        if stop() {
            return Err("stopped".into());
        }
        Ok(best.1)
    }

    /// The moves that win, as far as they are not much harder to prove than the first that is found.
    fn winners(
        &mut self,
        position: Position,
        mut cells: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, String> {
        let (mut found, mut nodes) = (0, NODES);
        let mut enough = u64::MAX;
        while cells != 0 && nodes <= enough {
            for cell in COLUMNS.map(|column| cells & column_bits(column)) {
                if stop() {
                    return Err("stopped".into());
                }
                if cell == 0 {
                    continue;
                }
                match self.oracle.wins(after(position, cell), nodes, stop) {
                    None => continue,
                    Some(true) => {
                        found |= cell;
                        enough = enough.min(nodes.saturating_mul(MORE));
                    }
                    Some(false) => {}
                }
                cells &= !cell;
            }
            nodes = nodes.saturating_mul(MORE);
        }
        match found {
            0 => Err("the claim does not hold here".into()),
            _ => Ok(found),
        }
    }

    /// About how many answers there are after a move that wins.
    fn estimate(&mut self, position: Position, cell: u64, stop: &dyn Fn() -> bool) -> u64 {
        let mut sum = 0;
        for reply in replies(position, cell) {
            if forces(reply) {
                continue;
            }
            let cells = safe(reply);
            sum += match self.counts.least(reply, cells, REPLY_NODES) {
                Some((_, count)) => count.into(),
                None => LARGE + self.effort(reply, cells, stop) / NODES_AN_ANSWER,
            };
        }
        sum
    }

    /// What it costs the oracle to find a move that wins.
    fn effort(&mut self, position: Position, cells: u64, stop: &dyn Fn() -> bool) -> u64 {
        let (before, mut nodes) = (self.oracle.nodes(), NODES);
        while nodes < LARGE_NODES {
            for cell in COLUMNS.map(|column| cells & column_bits(column)) {
                if cell != 0 && self.oracle.wins(after(position, cell), nodes, stop) == Some(true) {
                    return self.oracle.nodes() - before;
                }
            }
            nodes *= MORE;
        }
        // Longer than any that ended.
        10 * WIDTH as u64 * LARGE_NODES
    }
}

/// Cells one by one.
fn each(mut cells: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let cell = cells & cells.wrapping_neg();
        cells ^= cell;
        (cell != 0).then_some(cell)
    })
}

/// The positions after a move and a reply that must be answered: to a threat there is only one.
fn replies(position: Position, cell: u64) -> impl Iterator<Item = Position> {
    let next = after(position, cell);
    let threats = winning(position.0 | cell, next.1) & landing(next.1);
    let cells = if threats == 0 { landing(next.1) } else { threats };
    each(cells).map(move |reply| after(next, reply))
}

/// How many answers the smallest strategy has, of positions where the first side is to move. What is shared in it is counted
/// each time.
struct Counts {
    /// Keys with what is known: at least and at most so many. At the upper bits of a product of the key.
    table: Vec<(u64, u16, u16)>,
    nodes: u64,
    nodes_max: u64,
}

/// At least and at most so many answers.
#[derive(Clone, Copy)]
struct Range {
    least: u32,
    most: u32,
}

impl Counts {
    fn new(entries: usize) -> Self {
        Counts { table: vec![(0, 0, 0); entries], nodes: 0, nodes_max: 0 }
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.table)
    }

    /// Of some moves the one with the fewest answers, and how many there are with that to the position itself.
    fn least(&mut self, position: Position, cells: u64, nodes: u64) -> Option<(u64, u32)> {
        (self.nodes, self.nodes_max) = (0, nodes);
        let mut bound = 1;
        while bound <= COUNT_MAX {
            let (mut best, mut left, mut lowest) = (None, bound, NEVER);
            for cell in each(cells) {
                let count = self.with(position, cell, left);
                lowest = lowest.min(count);
                if count <= left {
                    best = Some((cell, count));
                    left = count - 1;
                }
                if left == 0 {
                    break;
                }
            }
            if best.is_some() {
                return best;
            }
            if self.nodes > self.nodes_max || lowest >= NEVER {
                return None;
            }
            bound = (bound + 1 + bound / 3).max(lowest.min(2 * bound));
        }
        None
    }

    /// The answers with a move, if they are not more than `bound`; otherwise a number above it that they reach.
    fn with(&mut self, position: Position, cell: u64, bound: u32) -> u32 {
        let mut open = [((0, 0), 0); WIDTH];
        let (mut count, mut sum) = (0, 1);
        let mut any = false;
        for reply in replies(position, cell) {
            any = true;
            if reply.1 == BOARD {
                return NEVER;
            }
            let Range { least, most } = self.glance(reply);
            sum += least;
            if sum > bound {
                return sum.min(NEVER);
            }
            if least < most {
                open[count] = (reply, least);
                count += 1;
            }
        }
        if !any {
            return NEVER;
        }
        // What is large already goes over the bound first.
        open[..count].sort_by_key(|&(_, least)| std::cmp::Reverse(least));
        for &(reply, least) in &open[..count] {
            sum = sum - least + self.count(reply, bound + least - sum);
            if sum > bound {
                return sum.min(NEVER);
            }
        }
        sum
    }

    /// The answers from a position on, in the same way.
    fn count(&mut self, position: Position, bound: u32) -> u32 {
        self.nodes += 1;
        let Range { least, most } = self.glance(position);
        if least > bound {
            return least;
        }
        if least == most {
            return most;
        }
        if self.nodes > self.nodes_max {
            return bound + 1;
        }
        let mut left = bound.min(most - 1);
        let mut moves = [(0, 0u32); WIDTH];
        let mut n = 0;
        for cell in each(safe(position)) {
            moves[n] = (cell, winning(position.0 | cell, position.1 | cell).count_ones());
            n += 1;
        }
        moves[..n].sort_by_key(|&(_, threats)| std::cmp::Reverse(threats));
        let (mut best, mut lowest) = (most, NEVER);
        for &(cell, _) in &moves[..n] {
            let count = self.with(position, cell, left);
            lowest = lowest.min(count);
            if count <= left {
                best = count;
                left = count - 1;
            }
            if left < least || self.nodes > self.nodes_max {
                break;
            }
        }
        let over = self.nodes > self.nodes_max;
        if best > bound && over {
            return bound + 1;
        }
        let least = if over { least } else { least.max(lowest) };
        self.put(position, Range { least: least.min(best), most: best });
        if best <= bound { best } else { least.max(bound + 1).min(NEVER) }
    }

    /// What is known without a search.
    fn glance(&mut self, position: Position) -> Range {
        let (key, at) = self.slot(position);
        let (stored, least, most) = self.table[at];
        if stored == key {
            return Range { least: least.into(), most: most.into() };
        }
        let range = if forces(position) {
            Range { least: 0, most: 0 }
        } else if safe(position) == 0 || holds(position) {
            Range { least: NEVER, most: NEVER }
        } else {
            Range { least: 1, most: NEVER }
        };
        self.put(position, range);
        range
    }

    fn put(&mut self, position: Position, Range { least, most }: Range) {
        let (key, at) = self.slot(position);
        self.table[at] = (key, least as u16, most as u16);
    }

    fn slot(&self, position: Position) -> (u64, usize) {
        let key = key(position);
        let upper = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.table.len().trailing_zeros());
        (key, upper as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::solve::Solver;
    use super::*;

    fn at(columns: &str) -> Position {
        let column = |c: u8| column_bits((c - b'a').into());
        columns.bytes().fold((0, 0), |position, c| after(position, landing(position.1) & column(c)))
    }

    #[test]
    fn its_answers_win_and_are_few() {
        let mut solver = Solver::new(16 << 20);
        let mut strategy = Strategy::new(16 << 20);
        // Layer by layer, as a certificate is made.
        let (mut layer, mut answers) = (vec![at("dddddbbgcaef")], 0);
        while !layer.is_empty() {
            let mut next = Vec::new();
            for position in layer.into_iter().filter(|&position| !forces(position)) {
                let cell = strategy.answer(position, &|| false).expect("the first side wins");
                assert!(!solver.reaches(after(position, cell), 0), "{position:?}");
                answers += 1;
                next.extend(replies(position, cell));
            }
            next.sort_unstable();
            next.dedup();
            layer = next;
        }
        // The first move that was found to win made it 1,905.
        assert!((10..100).contains(&answers), "{answers}");
    }

    #[test]
    fn nobody_answers_for_who_does_not_win() {
        let mut strategy = Strategy::new(16 << 20);
        // Three in a row, open at both ends.
        let lost = strategy.answer(at("acadge"), &|| false);
        assert_eq!(lost, Err("the claim does not hold here".into()));
        assert_eq!(strategy.answer(at("dddddbbg"), &|| true), Err("stopped".into()));
    }
}
