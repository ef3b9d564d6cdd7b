//! The frame that a form of circuit code is built in: a symmetry of the cube, x -> permutation of x, xor a shift, and
//! the dimensions that take turns in an interleaved one.
//!
//! A frame is chosen in a few moves rather than listed: from order 6 on there are too many. A cycle of dimensions is
//! named by its length and by the bits it flips; where it starts makes no difference, so that of all patterns that are
//! turned into each other only the least is offered, and cycles come from the longest to the shortest.

use sortie_core::Rng;

/// The dimensions of the largest cube.
pub(super) const DIMENSIONS_MAX: usize = 20;

/// The longest cycle: of longer ones there are thousands of patterns, and no table has use for them.
const CYCLE_MAX: usize = 14;

/// The dimensions that take turns: every `every`-th edge flips the next of the `count` highest ones. No count, no turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Turns {
    pub count: usize,
    pub every: usize,
}

impl Turns {
    /// The dimension that edge number `edge` has to flip, if it is not free to choose.
    #[inline]
    pub fn forced(self, edge: usize, d: usize) -> Option<usize> {
        (self.count > 0 && edge % self.every == self.every - 1)
            .then(|| d - self.count + edge / self.every % self.count)
    }

    /// Whether a part of `edges` edges ends in this phase, so that its images go on with the turns where it left them.
    pub fn fit(self, edges: usize, phase: usize) -> bool {
        self.count == 0 || edges.is_multiple_of(self.every) && edges / self.every % (2 * self.count) == phase
    }
}

/// Part of a frame, as a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// How many turns a part of the coil takes, modulo twice their number.
    Phase(u8),
    /// The length of the next cycle.
    Length(u8),
    /// What it flips.
    Flips(u16),
}

/// What is known of a symmetry so far.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    d: usize,
    order: usize,
    turns: Turns,
    /// Of the turns; `None` until it is chosen.
    pub phase: Option<usize>,
    /// The cycles chosen, each with the bits it flips, and the length of one that has none yet.
    cycles: Vec<(usize, u32)>,
    length: Option<usize>,
    /// `to[i]` is where dimension `i` goes, of those in cycles.
    to: Vec<u8>,
    pub shift: u32,
    /// `images[a][i]` is where dimension `i` goes when the symmetry is applied `a + 1` times; filled when it is whole.
    pub images: Vec<[u8; DIMENSIONS_MAX]>,
    /// When a dimension may first be used, by dimension: walks that differ in the names of dimensions only are one.
    pub firsts: Vec<First>,
    /// Tells frames apart.
    pub key: u64,
}

/// When a dimension may first be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct First {
    /// The dimensions of its cycle, as bits.
    pub cycle: u32,
    /// Those of a cycle that is alike, one of which must come first; 0 if there is none.
    pub before: u32,
    /// Whether it may be the first of its cycle.
    pub opens: bool,
}

impl Frame {
    /// Nothing chosen; whole already where there is nothing to choose.
    pub fn new(d: usize, order: usize, turns: Turns) -> Frame {
        let mut frame = Frame {
            d,
            order,
            turns,
            phase: None,
            cycles: Vec::new(),
            length: None,
            to: Vec::new(),
            shift: 0,
            images: Vec::new(),
            firsts: Vec::new(),
            key: 0,
        };
        if order == 1 {
            frame.phase = Some(0);
            while frame.to.len() < d - turns.count {
                frame.add_cycle(1, 0);
            }
            frame.finish();
        } else if turns.count == 0 {
            frame.phase = Some(0);
        }
        frame
    }

    /// A whole frame, drawn at random; `None` if none of the draws keeps the images of 0 at least k apart.
    pub fn draw(d: usize, order: usize, turns: Turns, k: u32, rng: &mut Rng) -> Option<Frame> {
        let mut parts = Vec::new();
        (0..1000).find_map(|_| {
            let mut frame = Frame::new(d, order, turns);
            while !frame.is_whole() {
                parts.clear();
                frame.parts(k, &mut parts);
                frame.add(*parts.get(rng.below(parts.len().max(1)))?);
            }
            Some(frame)
        })
    }

    pub fn is_whole(&self) -> bool {
        !self.firsts.is_empty()
    }

    /// The dimensions that cycles are made of.
    fn inner(&self) -> usize {
        self.d - self.turns.count
    }

    /// Every part that may come next. Those that would make the frame whole must keep the images of 0 `k` apart, so
    /// that there may be none.
    pub fn parts(&self, k: u32, out: &mut Vec<Part>) {
        if self.is_whole() {
            return;
        }
        if self.phase.is_none() {
            let twice = 2 * self.turns.count;
            let closes = (0..twice).filter(|phase| (self.order * phase).is_multiple_of(twice));
            out.extend(closes.map(|phase| Part::Phase(phase as u8)));
            return;
        }
        let rest = self.inner() - self.to.len();
        let (last, last_flips) = self.cycles.last().copied().unwrap_or((usize::MAX, 0));
        let Some(length) = self.length else {
            let lengths = (1..=rest.min(last).min(CYCLE_MAX)).rev();
            out.extend(lengths.filter(|n| self.order.is_multiple_of(*n)).map(|n| Part::Length(n as u8)));
            return;
        };
        for flips in 0..1u32 << length {
            // In order among cycles of a length; the least of those that differ by where the cycle starts; and as many
            // times as the order says it must be the identity.
            if (length == last && flips < last_flips)
                || turned(length, flips).any(|other| other < flips)
                || !(flips.count_ones() as usize * (self.order / length)).is_multiple_of(2)
            {
                continue;
            }
            let part = Part::Flips(flips as u16);
            if length < rest || self.after(part).is_apart(k) {
                out.push(part);
            }
        }
    }

    fn after(&self, part: Part) -> Frame {
        let mut frame = self.clone();
        frame.add(part);
        frame
    }

    pub fn add(&mut self, part: Part) {
        let number = match part {
            Part::Phase(phase) => {
                self.phase = Some(phase.into());
                u64::from(phase)
            }
            Part::Length(length) => {
                self.length = Some(length.into());
                u64::from(length)
            }
            Part::Flips(flips) => {
                let length = self.length.take().expect("a length comes before what is flipped");
                self.add_cycle(length, flips.into());
                u64::from(flips)
            }
        };
        self.key = (self.key ^ (number + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        if self.to.len() == self.inner() && self.length.is_none() {
            self.finish();
        }
    }

    fn add_cycle(&mut self, length: usize, flips: u32) {
        let from = self.to.len();
        self.shift |= flips << from;
        self.to.extend((0..length).map(|i| (from + (i + 1) % length) as u8));
        self.cycles.push((length, flips));
    }

    /// Adds the dimensions that take turns, and works out the powers and who may come first.
    fn finish(&mut self) {
        let (inner, Turns { count, .. }) = (self.inner(), self.turns);
        let (mut from, mut before) = (0, 0);
        for (i, &(length, flips)) in self.cycles.iter().enumerate() {
            let cycle = ((1u32 << length) - 1) << from;
            if i == 0 || self.cycles[i - 1] != (length, flips) {
                before = 0;
            }
            let alike = turned(length, flips).all(|other| other == flips);
            self.firsts.extend((0..length).map(|i| First { cycle, before, opens: i == 0 || !alike }));
            (from, before) = (from + length, cycle);
        }
        let phase = self.phase.expect("the phase is chosen first");
        for i in 0..count {
            self.to.push((inner + (i + phase) % count) as u8);
            // As many of the turns of a part are its own; what the image flips goes where it is sent.
            let own = (0..phase).filter(|turn| turn % count == i).count() as u32;
            self.shift |= (own & 1) << (inner + i);
            self.firsts.push(First { cycle: 1 << (inner + i), before: 0, opens: true });
        }
        let mut image: [u8; DIMENSIONS_MAX] = std::array::from_fn(|i| i as u8);
        for _ in 1..self.order {
            for to in &mut image[..self.d] {
                *to = self.to[*to as usize];
            }
            self.images.push(image);
        }
    }

    /// Whether 0 and its images are all at least k apart.
    fn is_apart(&self, k: u32) -> bool {
        let mut heads = Vec::new();
        self.of_zero(&mut heads);
        heads.iter().all(|head| head.count_ones() >= k)
    }

    /// The images of 0, by how often the symmetry is applied.
    pub fn of_zero(&self, out: &mut Vec<u32>) {
        out.clear();
        let mut v = 0;
        for _ in 1..self.order {
            v = self.send(v, &self.to) ^ self.shift;
            out.push(v);
        }
    }

    fn send(&self, v: u32, to: &[u8]) -> u32 {
        to.iter().enumerate().fold(0, |w, (i, &to)| w | (v >> i & 1) << to)
    }

    /// The image of a vertex when the symmetry is applied `a + 1` times; `zero` is that of 0.
    pub fn image(&self, a: usize, zero: u32, v: u32) -> u32 {
        self.send(v, &self.images[a][..self.d]) ^ zero
    }

    /// Where the dimensions go, and what is flipped then.
    pub fn word(&self) -> String {
        let digits: Vec<String> = self.to.iter().map(|to| to.to_string()).collect();
        format!("{}+{:x}", digits.join("."), self.shift)
    }
}

/// The bits that a cycle flips as they would be if it started elsewhere.
fn turned(length: usize, flips: u32) -> impl Iterator<Item = u32> {
    (1..length).map(move |by| (flips >> by | flips << (length - by)) & ((1 << length) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symmetry_applied_as_often_as_its_order_is_the_identity() {
        let mut rng = Rng::new(1, 0);
        let none = Turns { count: 0, every: 1 };
        for (d, order) in [(7, 7), (8, 8), (9, 6), (12, 12), (13, 13), (13, 26), (16, 10), (20, 14)] {
            for turns in [none, Turns { count: 2, every: 2 }, Turns { count: 3, every: 2 }] {
                let Some(frame) = Frame::draw(d, order, turns, 2, &mut rng) else { continue };
                let mut zeros = Vec::new();
                frame.of_zero(&mut zeros);
                assert!(zeros.iter().all(|zero| zero.count_ones() >= 2), "{frame:?}");
                for v in [0u32, 1, 5, (1 << d) - 1, 0b1011] {
                    let last = frame.image(order - 2, zeros[order - 2], v);
                    assert_eq!(frame.image(0, zeros[0], last), v, "dimension {d} order {order} {frame:?}");
                }
            }
        }
    }
}
