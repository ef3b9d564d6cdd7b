//! Who is connected already, whatever the other side does: virtual connections by the H-search of V. Anshelevich ("A
//! hierarchical approach to computer Hex", 2002).
//!
//! A *full* connection of two points holds if the other side moves first, a *semi* connection if its owner does. A
//! carrier is the set of empty cells that it needs. Two rules make new ones of old ones: two full connections with
//! disjoint carriers that meet in a stone are a full one, and in an empty cell a semi one (AND); semi connections whose
//! carriers have no cell in common are a full one (OR). So an edge-to-edge connection is a proof; what is not found may
//! still be there, because only a few small carriers are kept of every pair and connections that lean on the edges are
//! left out.

use sortie_core::Side;

/// Boards up to this size: a carrier is a word. On larger ones nobody searches to the end.
pub const SIZE_MAX: usize = 8;
/// Carriers kept of a pair.
const FULL_MAX: usize = 6;
const SEMI_MAX: usize = 12;
/// Semi connections that are joined to a full one, at most.
const JOIN_MAX: usize = 4;

/// Stones as bits, cell `size * row + column`.
#[derive(Debug, Clone, Copy)]
pub struct Stones {
    pub size: usize,
    pub first: u64,
    pub second: u64,
}

/// What is certain for the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forecast {
    /// It wins by this cell.
    Won(u64),
    /// It loses with every cell but, perhaps, these; with none of them it is lost.
    Only(u64),
}

/// Looks for connections of both sides. The side to move may play `allowed` cells only.
pub fn forecast(stones: Stones, to_move: Side, allowed: u64) -> Forecast {
    let own = Web::weave(stones, to_move, Until::Semi);
    if let Some(&carrier) = own.full[EDGES].iter().min_by_key(|carrier| carrier.count_ones())
        && allowed != 0
    {
        return Forecast::Won(nearest(stones, to_move, carrier, allowed));
    }
    let semi = own.semi[EDGES].iter().filter(|semi| semi.key & allowed != 0);
    if let Some(semi) = semi.min_by_key(|semi| semi.carrier.count_ones()) {
        return Forecast::Won(semi.key);
    }
    let other = Web::weave(stones, to_move.other(), Until::Full);
    if !other.full[EDGES].is_empty() {
        return Forecast::Only(0);
    }
    // A stone outside the carrier of a semi connection leaves it as it is.
    Forecast::Only(other.semi[EDGES].iter().fold(u64::MAX, |must, semi| must & semi.carrier))
}

/// Whether a side connects its edges if it moves first, as certificates know it (docs/certificates.md).
pub fn reaches(stones: Stones, side: Side) -> bool {
    let web = Web::weave(stones, side, Until::Semi);
    !web.full[EDGES].is_empty() || !web.semi[EDGES].is_empty()
}

/// The cells with which the other side, to move, may keep a side from connecting its edges; none if there is no such cell.
pub fn replies(stones: Stones, side: Side) -> u64 {
    let web = Web::weave(stones, side, Until::Full);
    match web.full[EDGES].is_empty() {
        true => web.semi[EDGES].iter().fold(u64::MAX, |must, semi| must & semi.carrier),
        false => 0,
    }
}

/// Of the allowed cells, all of which win, one that brings the end nearer: after it the fewest stones are missing on a path
/// within the carrier. Any other would be as good, but what follows from it longer to write down.
fn nearest(stones: Stones, side: Side, carrier: u64, allowed: u64) -> u64 {
    let own = if side == Side::First { stones.first } else { stones.second };
    let inside = if carrier & allowed == 0 { allowed } else { carrier & allowed };
    let (low, high) = edges(stones.size, side);
    let missing = |cell: u64| {
        let own = own | cell;
        let near = |cells: u64| around(stones.size, cells);
        let mut reached = flood(low & own, own, near);
        let mut count = 0;
        while reached & high == 0 {
            let more = (near(reached) | low) & (carrier | own) & !reached;
            if more == 0 {
                return usize::MAX;
            }
            reached = flood(reached | more, own, near);
            count += 1;
        }
        count
    };
    let cells = (0..64).map(|bit| 1 << bit).filter(|cell| inside & cell != 0);
    cells.min_by_key(|&cell| missing(cell)).expect("some cell is allowed")
}

/// A semi connection; the first stone goes to `key`, which is in the carrier.
#[derive(Debug, Clone, Copy)]
struct Semi {
    carrier: u64,
    key: u64,
}

/// Which connection of the edges is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Semi,
    Full,
}

/// The pair of the two edges: points 0 and 1.
const EDGES: usize = 1;

/// The connections of one side. Points are the two edges, each with the stones that touch it, then the other groups of
/// stones, then empty cells. The pair `i < j` is at `points * i + j`.
struct Web {
    /// The cell of a point, 0 for a group.
    cell: Vec<u64>,
    /// Carriers.
    full: Vec<Vec<u64>>,
    semi: Vec<Vec<Semi>>,
    /// Full connections that have not been looked at.
    fresh: std::collections::VecDeque<(usize, usize, u64)>,
}

impl Web {
    /// All connections of a side that the rules find, or enough of them.
    fn weave(stones: Stones, side: Side, until: Until) -> Web {
        let mut web = Web::begin(stones, side);
        let enough = |web: &Web| match until {
            Until::Semi => !web.semi[EDGES].is_empty() || !web.full[EDGES].is_empty(),
            Until::Full => !web.full[EDGES].is_empty(),
        };
        while let Some((i, j, carrier)) = web.fresh.pop_front() {
            // A smaller one may have come after it.
            if !web.full[web.pair(i, j)].contains(&carrier) {
                continue;
            }
            web.and(i, j, carrier);
            web.and(j, i, carrier);
            if enough(&web) {
                break;
            }
        }
        web
    }

    /// Points and the connections of neighbours.
    fn begin(stones: Stones, side: Side) -> Web {
        let size = stones.size;
        let own = if side == Side::First { stones.first } else { stones.second };
        let empty = !(stones.first | stones.second) & (u64::MAX >> (64 - size * size));
        let near = |cells: u64| around(size, cells);
        let (low, high) = edges(size, side);
        let (mut cells, mut cell) = (Vec::new(), Vec::new());
        let mut left = own;
        for edge in [low, high] {
            let group = flood(edge & left, left, near);
            left &= !group;
            // What touches the group or the edge is beside this point.
            cells.push((group, near(group) | edge));
            cell.push(0);
        }
        while left != 0 {
            let group = flood(left & left.wrapping_neg(), left, near);
            left &= !group;
            cells.push((group, near(group)));
            cell.push(0);
        }
        let mut rest = empty;
        while rest != 0 {
            let one = rest & rest.wrapping_neg();
            rest ^= one;
            cells.push((one, near(one)));
            cell.push(one);
        }
        let points = cells.len();
        let mut web = Web {
            cell,
            full: vec![Vec::new(); points * points],
            semi: vec![Vec::new(); points * points],
            fresh: Default::default(),
        };
        for (i, (_, beside)) in cells.iter().enumerate() {
            for (j, (other, _)) in cells.iter().enumerate().skip(i + 1) {
                if beside & other != 0 {
                    web.add_full(i, j, 0);
                }
            }
        }
        web
    }

    fn pair(&self, i: usize, j: usize) -> usize {
        self.cell.len() * i.min(j) + i.max(j)
    }

    /// Joins a full connection of `middle` and `end` to all others of `middle`.
    fn and(&mut self, middle: usize, end: usize, carrier: u64) {
        if middle < 2 {
            return;
        }
        for other in 0..self.cell.len() {
            if other == middle || other == end || carrier & self.cell[other] != 0 {
                continue;
            }
            for n in 0..self.full[self.pair(middle, other)].len() {
                let Some(&second) = self.full[self.pair(middle, other)].get(n) else { break };
                if second & (carrier | self.cell[end]) != 0 {
                    continue;
                }
                let (both, key) = (carrier | second, self.cell[middle]);
                match key {
                    0 => self.add_full(end, other, both),
                    _ => self.add_semi(end, other, Semi { carrier: both | key, key }),
                }
            }
        }
    }

    fn add_full(&mut self, i: usize, j: usize, carrier: u64) {
        let pair = self.pair(i, j);
        let list = &mut self.full[pair];
        if list.iter().any(|c| c & !carrier == 0) {
            return;
        }
        list.retain(|c| carrier & !c != 0);
        if list.len() == FULL_MAX {
            return;
        }
        list.push(carrier);
        self.semi[pair].retain(|semi| carrier & !semi.carrier != 0);
        self.fresh.push_back((i, j, carrier));
    }

    fn add_semi(&mut self, i: usize, j: usize, semi: Semi) {
        let pair = self.pair(i, j);
        let within = |c: u64| c & !semi.carrier == 0;
        if self.full[pair].iter().any(|&c| within(c)) || self.semi[pair].iter().any(|s| within(s.carrier)) {
            return;
        }
        let list = &mut self.semi[pair];
        list.retain(|s| semi.carrier & !s.carrier != 0);
        if list.len() == SEMI_MAX {
            return;
        }
        let before: Vec<u64> = list.iter().map(|s| s.carrier).collect();
        list.push(semi);
        let mut found = Vec::new();
        join(&before, semi.carrier, semi.carrier, 1, &mut found);
        for carrier in found {
            self.add_full(i, j, carrier);
        }
    }
}

/// Sets of semi connections without a cell in common: their carriers together.
fn join(carriers: &[u64], common: u64, all: u64, joined: usize, found: &mut Vec<u64>) {
    for (n, &carrier) in carriers.iter().enumerate() {
        match common & carrier {
            0 => found.push(all | carrier),
            // One that takes nothing away is of no use.
            rest if rest != common && joined + 1 < JOIN_MAX => {
                join(&carriers[n + 1..], rest, all | carrier, joined + 1, found);
            }
            _ => {}
        }
    }
}

/// The cells beside the two edges of a side.
fn edges(size: usize, side: Side) -> (u64, u64) {
    let row = u64::MAX >> (64 - size);
    let column = (0..size).fold(0, |cells, i| cells | 1 << (size * i));
    match side {
        Side::First => (row, row << (size * (size - 1))),
        Side::Second => (column, column << (size - 1)),
    }
}

/// The cells beside some cells.
fn around(size: usize, cells: u64) -> u64 {
    let board = u64::MAX >> (64 - size * size);
    let (first, last) = edges(size, Side::Second);
    let (left, right) = (cells & !first, cells & !last);
    let all =
        left >> 1 | right << 1 | cells >> size | cells << size | right >> (size - 1) | left << (size - 1);
    all & board & !cells
}

/// All stones that hang together with some of them.
fn flood(from: u64, stones: u64, near: impl Fn(u64) -> u64) -> u64 {
    let mut group = from;
    loop {
        let more = near(group) & stones;
        if more == 0 {
            return group;
        }
        group |= more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_small_board_wins_at_a_glance() {
        for size in [3, 5] {
            let (all, middle) = ((1u64 << (size * size)) - 1, 1 << (size * size / 2));
            let stones = Stones { size, first: middle, second: 0 };
            let allowed = all & !middle;
            assert_eq!(forecast(stones, Side::Second, allowed), Forecast::Only(0));
            let Forecast::Won(cell) = forecast(stones, Side::First, allowed) else { panic!("it wins") };
            assert!(cell.is_power_of_two() && cell & allowed != 0);
            let stones = Stones { first: middle | cell, ..stones };
            assert_eq!(forecast(stones, Side::Second, all & !stones.first), Forecast::Only(0));
            // Nothing is allowed: nothing wins.
            assert!(matches!(forecast(stones, Side::First, 0), Forecast::Only(_)));
        }
    }

    #[test]
    fn a_threat_is_answered_where_it_is() {
        let (all, mut answered) = ((1u64 << 16) - 1, 0);
        for first in (0..16).map(|cell| 1 << cell) {
            let stones = Stones { size: 4, first, second: 0 };
            if let Forecast::Only(cells) = forecast(stones, Side::Second, all & !first) {
                answered += u32::from(cells & all != 0 && cells & all & !first != all & !first);
            }
        }
        assert!(answered > 0, "no opening of 4x4 threatens anything that leaves some answers and not all");
    }
}
