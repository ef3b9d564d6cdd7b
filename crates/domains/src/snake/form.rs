//! Circuit codes of a given form, in cubes of up to 20 dimensions. A coil is a part that the powers of a symmetry repeat,
//! of any order: the walk goes from 0 towards the image of 0, its images go with it, and the score is that of the longest
//! coil that could be closed on the way. In an interleaved one every second edge (or third, ...) flips one of a few
//! dimensions that take turns: Q dimensions that do are what makes spread 3 with Q = 2, (k + 1) / 2 in general. Order 1 is
//! no symmetry; a snake has none here and is walked from one end.
//!
//! The first moves choose the frame (`frame.rs`), unless it was drawn by number. What is learnt of an edge is learnt for
//! the frame it was walked in.

use super::frame::{Frame, Part, Turns};
use super::{Cube, State as Plain, edges};
use sortie_core::measure::Measure;
use sortie_core::picture::Picture;
use sortie_core::{Choices, Domain, Problem, Rng};
use std::sync::Arc;

/// The instance.
#[derive(Debug)]
pub(super) struct Form {
    cube: Cube,
    order: usize,
    turns: Turns,
    /// The frame to begin with: nothing chosen, or all of it.
    frame: Arc<Frame>,
    /// Vertices that are of no use: outside the cube, or, where the frame is known, too near to an image of themselves.
    useless: Vec<u64>,
}

/// A move: part of the frame, then the dimension to flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Move {
    Part(Part),
    Step(u8),
}

/// The part of a coil that its images repeat, or a snake.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    frame: Arc<Frame>,
    /// Vertices that a step must not go to because of the walk or its images, 64 to a word.
    blocked: Vec<u64>,
    /// The vertices, from 0.
    path: Vec<u32>,
    /// The images of the last vertex.
    heads: Vec<u32>,
    /// The dimensions in use, as bits.
    used: u32,
    /// The last steps of the longest coil: where they leave the walk, and the vertices.
    closed_at: usize,
    closing: Vec<u32>,
}

/// Written out so that `clone_from` keeps the memory of the last playout.
impl Clone for State {
    fn clone(&self) -> State {
        State {
            frame: self.frame.clone(),
            blocked: self.blocked.clone(),
            path: self.path.clone(),
            heads: self.heads.clone(),
            closing: self.closing.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, from: &State) {
        if !Arc::ptr_eq(&self.frame, &from.frame) {
            self.frame = from.frame.clone();
        }
        self.blocked.clone_from(&from.blocked);
        self.path.clone_from(&from.path);
        self.heads.clone_from(&from.heads);
        self.closing.clone_from(&from.closing);
        (self.used, self.closed_at) = (from.used, from.closed_at);
    }
}

impl State {
    #[inline]
    fn head(&self) -> u32 {
        self.path[self.path.len() - 1]
    }
}

impl Form {
    /// The form of a cube with this order and these turns, in the frame that a number draws or in any. The error says what
    /// there is none of.
    pub fn new(cube: Cube, order: usize, turns: Turns, draw: Option<u64>) -> Result<Form, &'static str> {
        let d = cube.d as usize;
        if turns.count + 2 > d {
            return Err("form: too few dimensions for those that take turns");
        }
        if cube.k > cube.d {
            return Err("expected a spread up to the dimension");
        }
        let frame = match draw {
            None => Frame::new(d, order, turns),
            Some(seed) => Frame::draw(d, order, turns, cube.k, &mut Rng::new(seed, order as u64))
                .ok_or("symmetric: no symmetry of that order keeps its distance")?,
        };
        let mut useless = vec![0u64; 1 << d.saturating_sub(6)];
        if d < 6 {
            useless[0] |= u64::MAX << (1 << d);
        }
        if frame.is_whole() && order > 1 {
            let mut zeros = Vec::new();
            frame.of_zero(&mut zeros);
            for v in 0..1u32 << d {
                let near = |(a, &zero)| (v ^ frame.image(a, zero, v)).count_ones() < cube.k;
                useless[(v >> 6) as usize] |= u64::from(zeros.iter().enumerate().any(near)) << (v & 63);
            }
        }
        Ok(Form { cube, order, turns, frame: Arc::new(frame), useless })
    }

    fn block(&self, blocked: &mut [u64], centre: u32) {
        let (word, low) = ((centre >> 6) as usize, (centre & 63) as usize);
        for &(xor, r) in &self.cube.ball {
            blocked[word ^ xor] |= self.cube.near[r][low];
        }
    }

    /// Blocks what must not be stepped on next: balls around all vertices k or more behind the next one.
    fn block_behind(&self, state: &mut State) {
        if let Some(i) = state.path.len().checked_sub(self.cube.k as usize) {
            let behind = state.path[i];
            self.block(&mut state.blocked, behind);
        }
        for a in 0..state.heads.len() {
            let head = state.heads[a];
            self.block(&mut state.blocked, head);
        }
    }

    /// Whether a vertex that is not blocked can be next: whether it keeps its distance from its own images.
    #[inline]
    fn fits(&self, state: &State, dimension: usize, v: u32) -> bool {
        let (next, k) = (state.path.len() as u32, self.cube.k);
        let image = |(head, to): (&u32, &[u8; 20])| head ^ 1 << to[dimension];
        (next >= k || v.count_ones() == next)
            && state.heads.iter().zip(&state.frame.images).all(|pair| (v ^ image(pair)).count_ones() >= k)
    }

    #[inline]
    fn each_step(&self, state: &State, mut f: impl FnMut(u8)) {
        if !state.frame.is_whole() {
            return;
        }
        let d = self.cube.d as usize;
        let range = match self.turns.forced(state.path.len() - 1, d) {
            Some(dimension) => dimension..dimension + 1,
            None => 0..d - self.turns.count,
        };
        for dimension in range {
            let to = state.head() ^ 1 << dimension;
            if state.blocked[(to >> 6) as usize] >> (to & 63) & 1 == 1 {
                continue;
            }
            let first = &state.frame.firsts[dimension];
            let fresh = first.opens && (first.before == 0 || state.used & first.before != 0);
            if (fresh || state.used & first.cycle != 0) && self.fits(state, dimension, to) {
                f(dimension as u8);
            }
        }
    }

    /// The free neighbours of where a step leads.
    #[inline]
    fn room(&self, state: &State, dimension: u8) -> u32 {
        let v = state.head() ^ 1 << dimension;
        let (word, low) = ((v >> 6) as usize, (v & 63) as usize);
        let mut free = (self.cube.next[low] & !state.blocked[word]).count_ones();
        for dimension in 6..self.cube.d {
            free += 1 - (state.blocked[word ^ 1 << (dimension - 6)] >> low & 1) as u32;
        }
        free
    }

    /// Closes the coil by the shortest way from the head to the image of 0, if there is one that fits.
    fn close(&self, state: &mut State) {
        let k = self.cube.k;
        let walked = state.path.len();
        let n = walked - 1 + k as usize;
        if (state.head() ^ state.frame.shift).count_ones() != k
            || walked <= k as usize && self.order == 1
            || !self.turns.fit(n, state.frame.phase.unwrap_or(0))
        {
            return;
        }
        let mut zeros = Vec::new();
        state.frame.of_zero(&mut zeros);
        let frame = state.frame.clone();
        if self.go_home(&mut state.path, &frame, &zeros, n) {
            state.closed_at = walked;
            state.closing.clear();
            state.closing.extend_from_slice(&state.path[walked..]);
        }
        state.path.truncate(walked);
    }

    /// Whether a vertex k from home is free, or the coil needs none.
    fn has_gates(&self, state: &State) -> bool {
        let (k, home) = (self.cube.k, state.frame.shift);
        if !self.cube.closed || !state.frame.is_whole() || (state.head() ^ home).count_ones() == k {
            return true;
        }
        let (word, low) = ((home >> 6) as usize, (home & 63) as usize);
        (0..state.blocked.len()).any(|i| {
            let free = !state.blocked[i];
            match k.checked_sub((i ^ word).count_ones()) {
                Some(0) => free >> low & 1 == 1,
                Some(r @ 1..=6) => {
                    free & self.cube.near[r as usize][low] & !self.cube.near[r as usize - 1][low] != 0
                }
                _ => false,
            }
        })
    }

    /// Adds vertices to the walk until it is one step from home, if all of them fit into a coil that the walk is `n`
    /// edges of. `zeros` are the images of 0.
    fn go_home(&self, path: &mut Vec<u32>, frame: &Frame, zeros: &[u32], n: usize) -> bool {
        let (head, at, d) = (path[path.len() - 1], path.len(), self.cube.d as usize);
        let open = head ^ frame.shift;
        if at == n {
            // The last edge, too, is one of those that take turns or it is not.
            return self.may_flip(n - 1, open.trailing_zeros() as usize, d);
        }
        let total = n * self.order;
        for dimension in (0..d).filter(|&i| open >> i & 1 == 1 && self.may_flip(at - 1, i, d)) {
            let v = head ^ 1 << dimension;
            path.push(v);
            // The distance of v from an image of w is that of w from the image of v under what is left of the order.
            let apart_from_all = |v: u32, at: usize| {
                path.iter().enumerate().all(|(i, w)| {
                    let (apart, along) = ((v ^ w).count_ones(), at.abs_diff(i) % total);
                    apart >= self.cube.k || apart as usize == along.min(total - along)
                })
            };
            let fits = apart_from_all(v, at)
                && zeros
                    .iter()
                    .enumerate()
                    .all(|(a, &zero)| apart_from_all(frame.image(a, zero, v), (a + 1) * n + at));
            if fits && self.go_home(path, frame, zeros, n) {
                return true;
            }
            path.pop();
        }
        false
    }

    fn may_flip(&self, edge: usize, dimension: usize, d: usize) -> bool {
        match self.turns.forced(edge, d) {
            Some(forced) => dimension == forced,
            None => dimension < d - self.turns.count,
        }
    }

    /// The edges of the whole coil, or of the walk where there is none, dimensions in order of their first use.
    fn whole(&self, state: &State) -> Vec<u8> {
        let mut vertices = state.path.clone();
        if state.closed_at > 0 {
            vertices.truncate(state.closed_at);
            vertices.extend(&state.closing);
            let part = vertices.clone();
            let mut zeros = Vec::new();
            state.frame.of_zero(&mut zeros);
            for (a, &zero) in zeros.iter().enumerate() {
                vertices.extend(part.iter().map(|&v| state.frame.image(a, zero, v)));
            }
            vertices.push(0);
        }
        let mut names = Vec::new();
        let dimensions = vertices.windows(2).map(|edge| (edge[0] ^ edge[1]).trailing_zeros());
        let name = dimensions.map(|dimension| {
            let known = names.iter().position(|&name| name == dimension);
            known.unwrap_or_else(|| {
                names.push(dimension);
                names.len() - 1
            }) as u8
        });
        name.collect()
    }

    fn plain(&self, state: &State) -> Plain {
        let mut plain = self.cube.initial();
        for dimension in self.whole(state) {
            self.cube.play(&mut plain, dimension);
        }
        plain
    }

    fn length(&self, state: &State) -> usize {
        match state.closed_at {
            0 => state.path.len() - 1,
            at => (at + state.closing.len()) * self.order,
        }
    }

    fn begin(&self, state: &mut State) {
        state.frame.of_zero(&mut state.heads);
        self.block_behind(state);
    }
}

impl Domain for Form {
    type State = State;
    type Move = Move;

    fn initial(&self) -> State {
        let mut state = State {
            frame: self.frame.clone(),
            blocked: self.useless.clone(),
            path: vec![0],
            heads: Vec::new(),
            used: 0,
            closed_at: 0,
            closing: Vec::new(),
        };
        if state.frame.is_whole() {
            self.begin(&mut state);
        }
        state
    }

    fn moves(&self, state: &State, out: &mut Vec<Move>) {
        if state.frame.is_whole() {
            self.each_step(state, |dimension| out.push(Move::Step(dimension)));
        } else {
            let mut parts = Vec::new();
            state.frame.parts(self.cube.k, &mut parts);
            out.extend(parts.into_iter().map(Move::Part));
        }
    }

    fn play(&self, state: &mut State, mv: Move) {
        match mv {
            Move::Part(part) => {
                Arc::make_mut(&mut state.frame).add(part);
                if state.frame.is_whole() {
                    self.begin(state);
                }
            }
            Move::Step(dimension) => {
                state.path.push(state.head() ^ 1 << dimension);
                state.used |= 1 << dimension;
                for (head, to) in state.heads.iter_mut().zip(&state.frame.images) {
                    *head ^= 1 << to[dimension as usize];
                }
                if self.cube.closed {
                    self.close(state);
                }
                self.block_behind(state);
            }
        }
    }

    fn show(&self, state: &State) -> String {
        let kind = match (self.cube.closed, state.closed_at) {
            (false, _) => "snake",
            (true, 0) => "open path, not a coil,",
            (true, _) => "coil",
        };
        let (length, d, k) = (self.length(state), self.cube.d, self.cube.k);
        let mut text = format!("{kind} of length {length} in the {d}-cube, spread {k}");
        if self.order > 1 && state.frame.is_whole() {
            text = format!("symmetric under {}: {text}", state.frame.word());
        }
        for (i, dimension) in self.whole(state).into_iter().enumerate() {
            text += if i % 32 == 0 { "\n" } else { " " };
            text += &dimension.to_string();
        }
        text
    }

    fn show_move(&self, _: &State, mv: Move) -> String {
        match mv {
            Move::Part(Part::Phase(phase)) => format!("turns{phase}"),
            Move::Part(Part::Length(length)) => format!("cycle{length}"),
            Move::Part(Part::Flips(flips)) => format!("flips{flips:x}"),
            Move::Step(dimension) => dimension.to_string(),
        }
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        (self.cube.d <= 16).then(|| self.cube.draw(&self.plain(state))).flatten()
    }
}

impl Problem for Form {
    fn score(&self, state: &State) -> f64 {
        if self.cube.closed && state.closed_at == 0 {
            // One less than any walk that was begun, where the frame came to nothing.
            let begun = if state.frame.is_whole() { 0 } else { self.cube.d + 1 };
            return -f64::from((state.head() ^ state.frame.shift).count_ones() + begun);
        }
        self.length(state) as f64
    }

    #[inline]
    fn code(&self, state: &State, mv: Move) -> u64 {
        let number = match mv {
            Move::Part(Part::Phase(phase)) => u64::from(phase) << 40 | 1 << 48,
            Move::Part(Part::Length(length)) => u64::from(length) << 40 | 2 << 48,
            Move::Part(Part::Flips(flips)) => u64::from(flips) << 24 | 3 << 48,
            Move::Step(dimension) => u64::from(state.head()) << 5 | u64::from(dimension),
        };
        number ^ state.frame.key
    }

    fn codes_max(&self) -> Option<usize> {
        // In one frame an array, where most of it is used.
        (self.frame.is_whole() && self.frame.key == 0 && self.cube.d <= 13).then_some(32 << self.cube.d)
    }

    fn bias(&self, state: &State, mv: Move) -> f64 {
        match mv {
            Move::Part(_) => 0.0,
            Move::Step(dimension) => -2.0 * f64::from(self.room(state, dimension)),
        }
    }

    /// With spread 2 neither dead ends nor steps to vertices with over two more free neighbours than the tightest.
    fn choices(&self, state: &State, out: &mut Choices<Move>) {
        self.moves(state, &mut out.moves);
        if self.cube.k == 2 && self.turns.count == 0 && state.frame.is_whole() && out.moves.len() > 1 {
            let mut rooms = [0; 20];
            let mut tightest = u32::MAX;
            for &mv in &out.moves {
                let Move::Step(dimension) = mv else { continue };
                let room = self.room(state, dimension);
                rooms[dimension as usize] = room;
                if room > 0 {
                    tightest = tightest.min(room);
                }
            }
            if tightest < u32::MAX {
                out.moves.retain(|&mv| match mv {
                    Move::Part(_) => true,
                    Move::Step(dimension) => (1..=tightest + 2).contains(&rooms[dimension as usize]),
                });
            }
        }
        out.codes.extend(out.moves.iter().map(|&mv| self.code(state, mv)));
    }

    fn promise(&self, state: &State) -> Option<f64> {
        let (word, low) = ((state.head() >> 6) as usize, (state.head() & 63) as usize);
        let free: u32 = state.blocked.iter().map(|bits| bits.count_zeros()).sum();
        let taken =
            |&(xor, r): &(usize, usize)| (self.cube.near[r][low] & !state.blocked[word ^ xor]).count_ones();
        let left = f64::from(free) - f64::from(self.cube.ball.iter().map(taken).sum::<u32>());
        // Without a way home all the room there is is worth nothing.
        Some(if self.has_gates(state) { left } else { left - f64::from(1 << self.cube.d) })
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        edges(score)
    }

    fn best_known(&self) -> Option<f64> {
        self.cube.best_known()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::{Rng, conformance};

    const NONE: Turns = Turns { count: 0, every: 1 };

    fn form(d: u32, k: u32, order: usize, turns: Turns, draw: Option<u64>) -> Form {
        Form::new(Cube::new(d, k, true), order, turns, draw).unwrap()
    }

    #[test]
    fn conforms() {
        for (d, k, order) in [(5, 2, 2), (7, 2, 7), (8, 3, 1), (9, 3, 8), (12, 4, 12), (13, 5, 6)] {
            conformance::problem(&form(d, k, order, NONE, None), 5, 1);
            conformance::problem(&form(d, k, order, NONE, Some(3)), 5, 1);
            conformance::problem(&form(d, k, order, Turns { count: 2, every: 2 }, None), 5, 1);
        }
        conformance::problem(&Form::new(Cube::new(18, 3, false), 1, NONE, None).unwrap(), 2, 1);
        conformance::problem(&form(17, 5, 1, NONE, None), 2, 1);
    }

    /// The definition itself, on every pair of vertices.
    fn check(d: u32, k: u32, edges: &[u8]) {
        let mut vertices = vec![0u32];
        for &dimension in edges {
            assert!(u32::from(dimension) < d);
            vertices.push(vertices[vertices.len() - 1] ^ 1 << dimension);
        }
        assert_eq!(vertices.pop(), Some(0), "not closed");
        let n = vertices.len();
        for j in 0..n {
            for i in 0..j {
                let apart = (vertices[i] ^ vertices[j]).count_ones();
                assert!(apart >= k || apart as usize == (j - i).min(n - j + i), "{i} and {j} of {edges:?}");
            }
        }
    }

    #[test]
    fn what_is_found_is_a_coil() {
        let mut rng = Rng::new(5, 0);
        for (d, k, turns) in [
            (7, 2, NONE),
            (8, 3, NONE),
            (9, 4, NONE),
            (10, 3, Turns { count: 2, every: 2 }),
            (12, 3, Turns { count: 2, every: 2 }),
            (13, 5, Turns { count: 3, every: 2 }),
        ] {
            let mut longest = 0.0f64;
            for order in [1, 2, 3, 4, 6, 8, 12, 13] {
                let Ok(form) = Form::new(Cube::new(d, k, true), order, turns, None) else { continue };
                let mut scratch = Vec::new();
                for _ in 0..300 {
                    let mut state = form.initial();
                    while let Some(mv) = form.random_move(&state, &mut rng, &mut scratch) {
                        form.play(&mut state, mv);
                    }
                    if form.score(&state) > 0.0 {
                        let edges = form.whole(&state);
                        assert_eq!(edges.len() as f64, form.score(&state));
                        check(d, k, &edges);
                        longest = longest.max(form.score(&state));
                    }
                }
            }
            assert!(longest > f64::from(d), "dimension {d} spread {k}: {longest}");
        }
    }
}
