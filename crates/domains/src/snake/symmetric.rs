//! Snakes and coils that a symmetry of the cube maps to themselves, found by choosing half of them or less: the way
//! long ones have been found since the 1990s, when coils whose second half repeats the first held the records.
//!
//! The first move names the symmetry, x -> permutation of x, xor a shift. A snake is turned end for end: the walk
//! starts in its middle, a vertex or an edge, and each step lengthens it at both ends. A coil is turned by an m-th of
//! its length: the walk goes from 0 towards the image of 0, its images go with it, and the score is that of the longest
//! coil that could be closed at any point of the walk, so that no walk is lost by not ending at home.
//!
//! Order 1 is no symmetry: any coil, walked in the same way.
//!
//! Leaves out: symmetries that are the same but for the names of dimensions.

use super::{Cube, State as Plain, edges, free_beyond, free_neighbours};
use sortie_core::measure::Measure;
use sortie_core::picture::Picture;
use sortie_core::{Choices, Domain, Problem};
use std::ops::RangeInclusive;

/// All orders that are looked at.
pub(super) const ORDERS: RangeInclusive<usize> = 2..=5;

/// The instance.
#[derive(Debug)]
pub(super) struct Symmetric {
    cube: Cube,
    symmetries: Vec<Symmetry>,
}

/// A symmetry of the cube.
#[derive(Debug)]
struct Symmetry {
    /// Where the dimensions go, one hexadecimal digit each, and the shift behind a `+`.
    word: String,
    shift: u16,
    /// `images[a]` applies the symmetry `a + 1` times, up to one less than its order.
    images: Vec<Image>,
    /// By dimension.
    turns: Vec<Turn>,
}

/// The symmetry, applied some number of times: a table for each byte of a vertex.
#[derive(Debug)]
struct Image {
    low: [u16; 256],
    high: [u16; 256],
}

impl Image {
    #[inline]
    fn of(&self, v: u16) -> u16 {
        self.low[(v & 255) as usize] ^ self.high[(v >> 8) as usize]
    }
}

/// When a dimension may first be used: of walks that differ only in the names of dimensions that the symmetry treats
/// alike, one is enough.
#[derive(Debug)]
struct Turn {
    /// The dimensions of its cycle, as bits.
    cycle: u32,
    /// Those of a cycle that is alike, one of which must come first; 0 if there is none.
    before: u32,
    /// Whether it may be the first of its cycle.
    opens: bool,
}

/// Half of a snake from its middle, or the part of a coil that its images repeat.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// Vertices that a step must not go to, as in the plain cube, because of the walk or its images.
    blocked: Vec<u64>,
    /// The vertices; of a snake with an edge in its middle from the end of the edge that is not 0.
    path: Vec<u16>,
    /// The dimensions in use, as bits.
    used: u32,
    symmetry: Option<u16>,
    /// The last steps of the longest coil: where they leave the walk, and the vertices.
    closed_at: usize,
    closing: Vec<u16>,
}

/// Written out so that `clone_from` keeps the memory of the last playout.
impl Clone for State {
    fn clone(&self) -> State {
        let (blocked, path, closing) = (self.blocked.clone(), self.path.clone(), self.closing.clone());
        State { blocked, path, closing, ..*self }
    }

    fn clone_from(&mut self, from: &State) {
        self.blocked.clone_from(&from.blocked);
        self.path.clone_from(&from.path);
        self.closing.clone_from(&from.closing);
        (self.used, self.symmetry, self.closed_at) = (from.used, from.symmetry, from.closed_at);
    }
}

impl Symmetric {
    /// What symmetries of these orders map to itself; `None` if there are none. Those of a snake have order 2.
    pub(super) fn new(cube: Cube, orders: RangeInclusive<usize>) -> Option<Symmetric> {
        let symmetries = match cube.closed {
            true => coil_symmetries(&cube, orders),
            false if orders.contains(&2) => snake_symmetries(&cube),
            false => Vec::new(),
        };
        (!symmetries.is_empty()).then_some(Symmetric { cube, symmetries })
    }

    fn block(&self, state: &mut State, centre: u16) {
        let (word, low) = ((centre >> 6) as usize, (centre & 63) as usize);
        for &(xor, r) in &self.cube.ball {
            state.blocked[word ^ xor] |= self.cube.near[r][low];
        }
    }

    /// Blocks what must not be stepped on next: balls around all vertices k or more behind the next one.
    fn block_behind(&self, state: &mut State, symmetry: &Symmetry) {
        let (next, k) = (state.path.len(), self.cube.k as usize);
        if let Some(i) = next.checked_sub(k) {
            self.block(state, state.path[i]);
        }
        let newest = state.path[next - 1];
        if self.cube.closed {
            symmetry.images.iter().for_each(|image| self.block(state, image.of(newest)));
            return;
        }
        // The image of vertex i is i + next + middle edges from the next one.
        let (image, middle) = (&symmetry.images[0], usize::from(symmetry.shift != 0));
        let first = k.saturating_sub(next + middle);
        if first < next {
            self.block(state, image.of(newest));
            if next + middle <= k && first + 1 < next {
                self.block(state, image.of(state.path[first]));
            }
        }
    }

    /// Whether a vertex that is not blocked can be next: whether it keeps its distance from its own images.
    #[inline]
    fn fits(&self, state: &State, symmetry: &Symmetry, v: u16) -> bool {
        let next = state.path.len() as u32;
        if self.cube.closed {
            return (next >= self.cube.k || v.count_ones() == next)
                && symmetry.images.iter().all(|image| (v ^ image.of(v)).count_ones() >= self.cube.k);
        }
        let along = 2 * next + u32::from(symmetry.shift != 0);
        (v ^ symmetry.images[0].of(v)).count_ones() >= along.min(self.cube.k)
    }

    #[inline]
    fn each_step(&self, state: &State, symmetry: &Symmetry, mut f: impl FnMut(u8)) {
        let head = state.path[state.path.len() - 1];
        for dimension in 0..self.cube.d as u8 {
            let to = head ^ 1 << dimension;
            let turn = &symmetry.turns[dimension as usize];
            let fresh = turn.opens && (turn.before == 0 || state.used & turn.before != 0);
            if (fresh || state.used & turn.cycle != 0)
                && state.blocked[(to >> 6) as usize] >> (to & 63) & 1 == 0
                && self.fits(state, symmetry, to)
            {
                f(dimension);
            }
        }
    }

    /// The free neighbours of where a step leads.
    #[inline]
    fn room(&self, state: &State, mv: u16) -> u32 {
        free_neighbours(&self.cube, &state.blocked, state.path[state.path.len() - 1] ^ 1 << mv)
    }

    /// Closes the coil by the shortest way from the head to the image of 0, if there is one that fits.
    fn close(&self, state: &mut State, symmetry: &Symmetry) {
        let head = state.path[state.path.len() - 1];
        if (head ^ symmetry.shift).count_ones() != self.cube.k {
            return;
        }
        let walked = state.path.len();
        let n = walked - 1 + self.cube.k as usize;
        if self.go_home(&mut state.path, symmetry, n) {
            state.closed_at = walked;
            state.closing.clear();
            state.closing.extend_from_slice(&state.path[walked..]);
        }
        state.path.truncate(walked);
    }

    /// Adds vertices to the walk until it is one step from home, if all of them fit into a coil that the walk is `n`
    /// edges of.
    fn go_home(&self, path: &mut Vec<u16>, symmetry: &Symmetry, n: usize) -> bool {
        if path.len() == n {
            return true;
        }
        let head = path[path.len() - 1];
        let (at, total) = (path.len(), n * (symmetry.images.len() + 1));
        for dimension in (0..self.cube.d).filter(|i| (head ^ symmetry.shift) >> i & 1 == 1) {
            let v = head ^ 1 << dimension;
            let apart_enough = |w: u16, along: usize| {
                let apart = (v ^ w).count_ones();
                apart >= self.cube.k || apart as usize == along.min(total - along)
            };
            path.push(v);
            let fits = (0..at).all(|i| apart_enough(path[i], at - i))
                && symmetry.images.iter().enumerate().all(|(a, image)| {
                    (0..=at).all(|i| apart_enough(image.of(path[i]), (a + 1) * n + i - at))
                });
            if fits && self.go_home(path, symmetry, n) {
                return true;
            }
            path.pop();
        }
        false
    }

    /// The whole snake or coil, walked in the plain cube from one end; a coil that is not closed as far as it goes.
    fn whole(&self, state: &State) -> Plain {
        let Some(symmetry) = state.symmetry.map(|i| &self.symmetries[i as usize]) else {
            return self.cube.initial();
        };
        let mut vertices = Vec::new();
        if !self.cube.closed {
            let image = state.path.iter().rev().map(|&v| symmetry.images[0].of(v));
            vertices.extend(image);
            vertices.extend(&state.path[usize::from(symmetry.shift == 0)..]);
        } else if state.closed_at == 0 {
            vertices.extend(&state.path);
        } else {
            vertices.extend(&state.path[..state.closed_at]);
            vertices.extend(&state.closing);
            let n = vertices.len();
            for image in &symmetry.images {
                vertices.extend_from_within(..n);
                let from = vertices.len() - n;
                vertices[from..].iter_mut().for_each(|v| *v = image.of(*v));
            }
            vertices.push(0);
        }
        let mut plain = self.cube.initial();
        let mut names = Vec::new();
        for edge in vertices.windows(2) {
            let dimension = (edge[0] ^ edge[1]).trailing_zeros();
            let known = names.iter().position(|&name| name == dimension);
            let name = known.unwrap_or_else(|| {
                names.push(dimension);
                names.len() - 1
            });
            self.cube.play(&mut plain, name as u8);
        }
        plain
    }
}

impl Symmetric {
    /// The moves of the plain cube that walk an end, and on from there as far as there is a way: the plain cube has ends
    /// where nothing is left to do.
    pub(super) fn lift(&self, state: &State) -> Vec<u8> {
        let mut plain = self.whole(state);
        let mut moves = Vec::new();
        loop {
            moves.clear();
            self.cube.moves(&plain, &mut moves);
            let Some(&mv) = moves.first() else { break };
            self.cube.play(&mut plain, mv);
        }
        self.cube.dimensions(&plain).map(|dimension| dimension as u8).collect()
    }
}

impl Domain for Symmetric {
    type State = State;
    type Move = u16; // first the number of the symmetry, then dimensions

    fn initial(&self) -> State {
        let mut blocked = vec![0; 1 << self.cube.d.saturating_sub(6)];
        if self.cube.d < 6 {
            blocked[0] |= u64::MAX << (1 << self.cube.d);
        }
        State { blocked, path: vec![0], used: 0, symmetry: None, closed_at: 0, closing: Vec::new() }
    }

    fn moves(&self, state: &State, out: &mut Vec<u16>) {
        match state.symmetry {
            None => out.extend(0..self.symmetries.len() as u16),
            Some(i) => {
                self.each_step(state, &self.symmetries[i as usize], |dimension| out.push(dimension.into()));
            }
        }
    }

    fn play(&self, state: &mut State, mv: u16) {
        match state.symmetry {
            None => {
                state.symmetry = Some(mv);
                let symmetry = &self.symmetries[mv as usize];
                if !self.cube.closed && symmetry.shift != 0 {
                    state.path[0] = symmetry.shift;
                    state.used = symmetry.shift.into();
                }
                self.block_behind(state, symmetry);
            }
            Some(i) => {
                let symmetry = &self.symmetries[i as usize];
                let head = state.path[state.path.len() - 1];
                state.path.push(head ^ 1 << mv);
                state.used |= 1 << mv;
                if self.cube.closed {
                    self.close(state, symmetry);
                }
                self.block_behind(state, symmetry);
            }
        }
    }

    fn show(&self, state: &State) -> String {
        let plain = self.cube.show(&self.whole(state));
        match state.symmetry {
            None => plain,
            Some(i) => format!("symmetric under {}: {plain}", self.symmetries[i as usize].word),
        }
    }

    fn show_move(&self, state: &State, mv: u16) -> String {
        match state.symmetry {
            None => self.symmetries[mv as usize].word.clone(),
            Some(_) => mv.to_string(),
        }
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        self.cube.draw(&self.whole(state))
    }
}

impl Problem for Symmetric {
    fn score(&self, state: &State) -> f64 {
        let Some(symmetry) = state.symmetry.map(|i| &self.symmetries[i as usize]) else { return 0.0 };
        let head = state.path[state.path.len() - 1];
        let length = match (self.cube.closed, state.closed_at) {
            (false, _) => 2 * (state.path.len() - 1) + usize::from(symmetry.shift != 0),
            (true, 0) => return -f64::from((head ^ symmetry.shift).count_ones()),
            (true, at) => (at + state.closing.len()) * (symmetry.images.len() + 1),
        };
        length as f64
    }

    #[inline]
    fn code(&self, state: &State, mv: u16) -> u64 {
        match state.symmetry {
            None => mv.into(),
            Some(i) => {
                let head = state.path[state.path.len() - 1];
                let edge = u64::from(head) * u64::from(self.cube.d) + u64::from(mv);
                self.symmetries.len() as u64 + ((u64::from(i) * u64::from(self.cube.d)) << self.cube.d) + edge
            }
        }
    }

    fn codes_max(&self) -> Option<usize> {
        let all = self.symmetries.len() * (1 + ((self.cube.d as usize) << self.cube.d));
        (all <= 1_000_000).then_some(all)
    }

    fn bias(&self, state: &State, mv: u16) -> f64 {
        match state.symmetry {
            None => 0.0,
            Some(_) => -2.0 * f64::from(self.room(state, mv)),
        }
    }

    /// With spread 2 as in the plain cube: neither dead ends nor steps to vertices with over two more free neighbours
    /// than the tightest. With more spread this would lose the longest: the snake of 39 edges in the 11-cube, spread 5.
    fn choices(&self, state: &State, out: &mut Choices<u16>) {
        self.moves(state, &mut out.moves);
        if self.cube.k == 2 && state.symmetry.is_some() && out.moves.len() > 1 {
            let mut rooms = [0; 16];
            let mut tightest = u32::MAX;
            for &mv in &out.moves {
                let room = self.room(state, mv);
                rooms[mv as usize] = room;
                if room > 0 {
                    tightest = tightest.min(room);
                }
            }
            if tightest < u32::MAX {
                out.moves.retain(|&mv| (1..=tightest + 2).contains(&rooms[mv as usize]));
            }
        }
        out.codes.extend(out.moves.iter().map(|&mv| self.code(state, mv)));
    }

    fn promise(&self, state: &State) -> Option<f64> {
        Some(f64::from(free_beyond(&self.cube, &state.blocked, state.path[state.path.len() - 1])))
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        edges(score)
    }

    fn best_known(&self) -> Option<f64> {
        self.cube.best_known()
    }
}

/// The involutions that turn a snake around its middle: a vertex, 0, which stays where it is, or an edge, from 0 along
/// dimension 0, the ends of which change places.
fn snake_symmetries(cube: &Cube) -> Vec<Symmetry> {
    let d = cube.d as usize;
    let mut all = Vec::new();
    for middle in [0, 1] {
        for pairs in 1..=(d - middle) / 2 {
            let mut cycles = vec![Cycle { length: 1, shift: 1 }; middle];
            cycles.resize(middle + pairs, Cycle { length: 2, shift: 0 });
            cycles.resize(d - pairs, Cycle { length: 1, shift: 0 });
            all.push(Symmetry::new(&cycles, 2));
        }
    }
    all
}

/// The symmetries of these orders that take 0 to vertices at least k from it.
fn coil_symmetries(cube: &Cube, orders: RangeInclusive<usize>) -> Vec<Symmetry> {
    let mut all = Vec::new();
    for order in orders {
        let kinds: Vec<Cycle> = (1..=order)
            .filter(|length| order % length == 0)
            .flat_map(|length| (0..1u32 << length).map(move |shift| Cycle { length, shift }))
            // One of those that differ by where the cycle starts; and `order` times must be the identity.
            .filter(|c| c.turned().all(|shift| shift >= c.shift))
            .filter(|c| (c.shift.count_ones() as usize * (order / c.length)).is_multiple_of(2))
            .collect();
        each_sum(&kinds, cube.d as usize, &mut Vec::new(), &mut |cycles| {
            let symmetry = Symmetry::new(cycles, order);
            if symmetry.images.iter().all(|image| image.of(0).count_ones() >= cube.k) {
                all.push(symmetry);
            }
        });
    }
    all
}

/// Calls `f` with every selection of cycles, in the order of `kinds`, the lengths of which add up to `rest`.
fn each_sum(kinds: &[Cycle], rest: usize, chosen: &mut Vec<Cycle>, f: &mut impl FnMut(&[Cycle])) {
    if rest == 0 {
        return f(chosen);
    }
    for (i, &kind) in kinds.iter().enumerate().filter(|(_, kind)| kind.length <= rest) {
        chosen.push(kind);
        each_sum(&kinds[i..], rest - kind.length, chosen, f);
        chosen.pop();
    }
}

/// Dimensions that a symmetry permutes cyclically, and which of them it flips, as bits.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cycle {
    length: usize,
    shift: u32,
}

impl Cycle {
    /// The shift as it would be if the cycle started elsewhere.
    fn turned(self) -> impl Iterator<Item = u32> {
        let Cycle { length, shift } = self;
        (1..length).map(move |by| (shift >> by | shift << (length - by)) & ((1 << length) - 1))
    }
}

impl Symmetry {
    /// The symmetry of the given order that has these cycles.
    fn new(cycles: &[Cycle], order: usize) -> Symmetry {
        let (mut to, mut shift, mut turns) = (Vec::new(), 0u16, Vec::new());
        let (mut last, mut last_bits) = (None, 0);
        for &cycle in cycles {
            let from = to.len();
            let bits = ((1u32 << cycle.length) - 1) << from;
            shift |= (cycle.shift << from) as u16;
            let before = if last == Some(cycle) { last_bits } else { 0 };
            for i in 0..cycle.length {
                to.push(from + (i + 1) % cycle.length);
                let alike = cycle.turned().all(|turned| turned == cycle.shift);
                turns.push(Turn { cycle: bits, before, opens: i == 0 || !alike });
            }
            (last, last_bits) = (Some(cycle), bits);
        }
        let apply = |v: u16| to.iter().enumerate().fold(shift, |w, (i, &to)| w ^ (v >> i & 1) << to);
        let images = (1..order).map(|times| {
            let image = |v: u16| (0..times).fold(v, |v, _| apply(v));
            let low = std::array::from_fn(|v| image(v as u16));
            let high = std::array::from_fn(|v| image((v << 8) as u16) ^ image(0));
            Image { low, high }
        });
        let images = images.collect();
        let digits: String = to.iter().map(|to| format!("{to:x}")).collect();
        Symmetry { word: format!("{digits}+{shift:x}"), shift, images, turns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::{Rng, conformance};

    #[test]
    fn conforms() {
        for (d, k) in [(2, 2), (4, 4), (5, 2), (7, 3), (8, 2), (9, 4), (13, 6)] {
            for closed in [false, true] {
                conformance::problem(&Symmetric::new(Cube::new(d, k, closed), ORDERS).unwrap(), 5, 1);
            }
            conformance::problem(&Symmetric::new(Cube::new(d, k, true), 1..=1).unwrap(), 5, 1);
        }
    }

    #[test]
    fn snakes_have_symmetries_of_order_2_only() {
        let new = |closed, order| {
            Symmetric::new(Cube::new(7, 3, closed), order..=order).map(|s| s.symmetries.len())
        };
        assert_eq!((new(false, 1), new(false, 3)), (None, None));
        assert!(new(false, 2).is_some_and(|n| n > 1));
        assert_eq!(new(true, 1), Some(1));
    }

    #[test]
    fn what_is_found_replays_in_the_plain_cube() {
        let mut rng = Rng::new(5, 0);
        for (d, k) in [(3, 2), (5, 2), (7, 2), (6, 3), (8, 3), (9, 4), (10, 5), (11, 6), (8, 7)] {
            for (closed, orders) in [(false, ORDERS), (true, ORDERS), (true, 1..=1)] {
                let half = Symmetric::new(Cube::new(d, k, closed), orders).unwrap();
                let (mut scratch, mut longest) = (Vec::new(), 0.0f64);
                for _ in 0..200 {
                    let mut state = half.initial();
                    while let Some(mv) = half.random_move(&state, &mut rng, &mut scratch) {
                        half.play(&mut state, mv);
                    }
                    let whole = half.whole(&state);
                    let words: Vec<String> = half.cube.dimensions(&whole).map(|i| i.to_string()).collect();
                    if half.score(&state) > 0.0 {
                        let again = sortie_core::record::replay(&half.cube, &words).unwrap();
                        assert_eq!(half.cube.score(&again), half.score(&state), "{}", half.show(&state));
                        longest = longest.max(half.score(&state));
                    }
                }
                assert!(longest > d.into(), "dimension {d} spread {k}: {longest}");
            }
        }
    }
}
