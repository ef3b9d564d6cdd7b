//! Which move: within the tree, and at the end of the search.

use super::spec::{Counting, FinalMove, Knowledge, Rule, Uct};
use super::tree::{FULL, LINE, Link, NodeId, Stats, Tree};
use crate::domain::Side;
use crate::processor::Processor;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

/// The numbers of a `Uct` as the hot loop wants them.
#[derive(Debug, Clone)]
pub struct Chooser {
    rule: Rule,
    c: f32,
    fpu: f32,
    bias: f32,
    /// The mean expected of a move that has none yet.
    guess: f32,
    unprune_first: usize,
    /// 1 / ln of the unpruning rate.
    unprune_scale: f32,
    counting: Counting,
    transpositions: bool,
    /// UCT and first play urgency alone, but for what is in flight.
    plain: bool,
    /// What is in flight counts everywhere.
    flying: bool,
    /// `c * sqrt(ln n)` at every n whose binary digits after the first eight are zeros.
    explore: Box<[f32; 32 * 128 + 1]>,
    pub processor: Processor,
}

/// The value of a closed move in the order of `Terms`.
const CLOSED: i32 = i32::MIN;
/// A first play urgency from here on, in the same order, means every move once before anything else: 1e6.
const TRY_FIRST: i32 = 1e6f32.to_bits() as i32;

impl Chooser {
    pub fn new(uct: &Uct) -> Chooser {
        let knowledge = uct.knowledge != Knowledge::None;
        Chooser {
            rule: uct.rule,
            processor: Processor::here(),
            c: uct.c as f32,
            explore: Box::new(std::array::from_fn(|place| {
                let n = (1.0 + (place % 128) as f32 / 128.0) * (1u64 << (place / 128)) as f32;
                uct.c as f32 * ln(n).sqrt()
            })),
            // Plus 0: the bits of minus 0 would say closed.
            fpu: uct.fpu.min(f64::from(f32::MAX)) as f32 + 0.0,
            bias: if knowledge { uct.bias as f32 } else { 0.0 },
            guess: uct.fpu.min(0.5) as f32,
            unprune_first: uct.unprune_first as usize,
            unprune_scale: 1.0 / uct.unprune_rate.ln() as f32,
            counting: uct.counting,
            transpositions: uct.transpositions && uct.pool_means,
            plain: uct.rule == Rule::Uct
                && !(knowledge && uct.bias > 0.0)
                && uct.unprune_first == 0
                && !uct.transpositions,
            flying: (uct.threads > 1 || uct.in_flight > 1) && uct.counting != Counting::Ignore,
        }
    }

    /// The edge a simulation follows out of a node that `arrived` simulations have come to. Where a move is proved
    /// there is nothing more to learn, so it is followed only when all are; that a proved draw is there to be had,
    /// `Worker::finish` sees to.
    #[inline(always)]
    pub fn descend(&self, tree: &Tree, node: NodeId, arrived: u32) -> usize {
        self.processor.run(
            #[inline(always)]
            |processor| self.descend_on(tree, node, arrived, self.flying, processor),
        )
    }

    /// The same for who knows the processor, and whether simulations are in flight here.
    #[inline(always)]
    pub fn descend_on(
        &self,
        tree: &Tree,
        node: NodeId,
        arrived: u32,
        flying: bool,
        processor: Processor,
    ) -> usize {
        let best = if self.plain && !flying {
            self.plain(tree, node, arrived, processor)
        } else {
            self.enhanced(tree, node, arrived)
        };
        best.unwrap_or_else(|| best_proved(tree, node))
    }

    /// The best move by UCT alone, a cache line at a time.
    #[inline(always)]
    fn plain(&self, tree: &Tree, node: NodeId, arrived: u32, processor: Processor) -> Option<usize> {
        let (turn, shift) = view(tree.side(node));
        let terms =
            Terms { explore: self.explore(arrived), turn: turn * (1.0 / FULL as f32), shift, fpu: self.fpu };
        let lines = tree.lines(node);
        let (mut most, mut best) = terms.best(&lines[0], processor);
        for (l, line) in lines.iter().enumerate().skip(1) {
            // Plain UCT tries every move once: there is nothing to compare yet.
            if most >= TRY_FIRST {
                break;
            }
            let (value, word) = terms.best(line, processor);
            if value > most {
                (most, best) = (value, l * LINE + word);
            }
        }
        (most != CLOSED).then(|| best - 1)
    }

    /// `c * sqrt(ln n)`, between the points of the table on a straight line: computing it would take as long as
    /// everything else about a choice.
    #[inline(always)]
    fn explore(&self, arrived: u32) -> f32 {
        let arrived = arrived.max(1);
        let zeros = arrived.leading_zeros();
        // The leading one, the seven bits that find the place, and sixteen that say where between two places.
        let digits = arrived << zeros;
        let place = ((31 - zeros) << 7 | digits >> 24 & 0x7f) as usize;
        let between = (digits >> 8 & 0xffff) as f32 * (1.0 / 65536.0);
        let (low, high) = (self.explore[place], self.explore[place + 1]);
        low + (high - low) * between
    }

    /// The best move by whatever rule and enhancements are asked for.
    #[inline(never)]
    fn enhanced(&self, tree: &Tree, node: NodeId, arrived: u32) -> Option<usize> {
        let side = tree.side(node);
        let (all_stats, links) = tree.moves(node);
        let edges = links.len();
        let considered = self.considered(arrived, edges);
        let explore = self.exploration(arrived);
        let (turn, shift) = view(side);
        let (mut best, mut best_value) = (None, f32::NEG_INFINITY);
        for (i, (stats, link)) in all_stats.iter().zip(links).enumerate() {
            if i >= considered && best.is_some() {
                break;
            }
            let stats = Stats(stats.load(Relaxed));
            if stats.proof().is_some() {
                continue;
            }
            let link = Link(link.load(Acquire));
            let visits = stats.visits();
            let flying = if self.counting == Counting::Ignore { 0 } else { link.in_flight() };
            // Plain UCT tries every move once: there is nothing to compare yet.
            if visits + flying == 0 && self.fpu > 1e6 {
                return Some(i);
            }
            let tried = (visits + flying) as f32;
            let share = 1.0 / tried;
            let plain = flying == 0 && !self.transpositions;
            let mean =
                if plain { stats.sum() * share * turn + shift } else { self.mean(tree, link, side, stats) };
            let value = self.value(explore, visits, tried, mean, || tree.known(node, i));
            if value > best_value {
                (best, best_value) = (Some(i), value);
            }
        }
        best
    }

    /// The moves considered at a node that `arrived` simulations have come to.
    #[inline(always)]
    pub fn considered(&self, arrived: u32, edges: usize) -> usize {
        if self.unprune_first == 0 {
            return edges;
        }
        edges.min(self.unprune_first + (ln(arrived.max(1) as f32) * self.unprune_scale) as usize)
    }

    /// Whether moves that nobody has tried are all worth the same.
    pub fn untried_alike(&self) -> bool {
        self.rule == Rule::Uct && self.bias == 0.0
    }

    /// What the rule makes of the simulations that have come to a node.
    #[inline(always)]
    fn exploration(&self, arrived: u32) -> f32 {
        match self.rule {
            Rule::Uct => self.explore(arrived),
            Rule::Puct => self.c * (arrived.max(1) as f32).sqrt(),
        }
    }

    /// The value of a move by the rule: tried so often, what is in flight included, with this mean for the side to move.
    #[inline(always)]
    fn value(&self, explore: f32, visits: u32, tried: f32, mean: f32, known: impl Fn() -> f32) -> f32 {
        let mut value = match self.rule {
            // First play urgency stands in for mean and exploration of a move never tried.
            Rule::Uct if tried == 0.0 => self.fpu,
            // Nothing has come back yet. To hope for the best would send everybody else there too, before moves that
            // nobody has tried; and what they would learn is what the first is about to.
            Rule::Uct if visits == 0 => (mean + explore * (1.0 / tried).sqrt()).min(self.fpu * 0.999),
            Rule::Uct => mean + explore * (1.0 / tried).sqrt(),
            Rule::Puct => {
                let mean = if tried == 0.0 { self.guess } else { mean };
                mean + explore * known() / (tried + 1.0)
            }
        };
        if self.bias > 0.0 {
            value += self.bias * known() / (tried + 1.0);
        }
        value
    }

    /// The value of a move for `side` at a node that `arrived` simulations have come to, from its numbers alone: for
    /// whoever has no node at hand. `sum` is in sixteenths for the first side.
    pub fn worth(&self, arrived: u32, side: Side, visits: u32, flying: u32, sum: u32, known: f32) -> f32 {
        let flying = if self.counting == Counting::Ignore { 0 } else { flying };
        let (turn, shift) = view(side);
        let mean = if visits == 0 {
            0.0
        } else {
            let mean = sum as f32 / (FULL as f32 * visits as f32) * turn + shift;
            mean * self.counting.weight(visits, flying)
        };
        self.value(self.exploration(arrived), visits, (visits + flying) as f32, mean, || known)
    }

    /// The mean of a move for the side to move where it is not simply that of its visits: with simulations in flight,
    /// and where its position has a node that other moves lead to as well.
    fn mean(&self, tree: &Tree, link: Link, side: Side, stats: Stats) -> f32 {
        let visits = stats.visits();
        if visits == 0 {
            return 0.0;
        }
        let mut mean = stats.mean();
        if self.transpositions && link.child() != NodeId::NONE {
            let shared = tree.node_stats(link.child());
            mean = if shared.visits() > 0 { shared.mean() } else { mean };
        }
        let mean = side.view(f64::from(mean)) as f32;
        mean * self.counting.weight(visits, link.in_flight())
    }
}

impl Counting {
    /// What is left of the mean of so many visits, at least one, with so many in flight beside them.
    #[inline]
    fn weight(self, visits: u32, flying: u32) -> f32 {
        let (visits, flying) = (visits as f32, flying as f32);
        match self {
            Counting::VirtualLoss => visits / (visits + flying),
            // The share of those in flight among all is the share of them that count as lost.
            Counting::Mixed => visits / (visits + flying * flying / (visits + flying)),
            Counting::Unobserved | Counting::Ignore => 1.0,
        }
    }
}

/// A mean for the first side times the first plus the second is the mean for this side.
#[inline]
fn view(side: Side) -> (f32, f32) {
    let second = f32::from(u8::from(side == Side::Second));
    (1.0 - 2.0 * second, second)
}

/// What makes statistics a value: `sum / visits * turn + shift + explore / sqrt(visits)`, `fpu` without visits.
///
/// Values are compared as the integers that have their bits. None is below 0 but those of moves never tried, which
/// are all the same, and of closed ones, the least of all; so their order is the same.
struct Terms {
    explore: f32,
    turn: f32,
    shift: f32,
    fpu: f32,
}

impl Terms {
    /// The highest value in a line of a node, and the first word that has it.
    #[inline(always)]
    fn best(&self, line: &[AtomicU64; LINE], processor: Processor) -> (i32, usize) {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() {
            // SAFETY: a wide processor has AVX2.
            return unsafe { self.best_at_once(line) };
        }
        self.best_one_by_one(line)
    }

    #[inline(always)]
    fn best_one_by_one(&self, line: &[AtomicU64; LINE]) -> (i32, usize) {
        let value = |i: usize| {
            let word = line[i].load(Relaxed);
            match (word >> 32) as i32 {
                ..0 => CLOSED,
                0 => self.fpu.to_bits() as i32,
                visits => {
                    let share = 1.0 / visits as f32;
                    let mean = word as i32 as f32 * share * self.turn + self.shift;
                    (mean.max(0.0) + self.explore * share.sqrt()).to_bits() as i32
                }
            }
        };
        let values: [i32; LINE] = std::array::from_fn(value);
        let (mut most, mut first) = (values[0], 0);
        for (i, &value) in values.iter().enumerate() {
            if value > most {
                (most, first) = (value, i);
            }
        }
        (most, first)
    }

    /// The same eight at a time: compilers do it by halves only, and its wrong guesses cost more than its arithmetic.
    /// Unsafe where there is no AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn best_at_once(&self, line: &[AtomicU64; LINE]) -> (i32, usize) {
        use std::arch::x86_64::*;
        let pairs = line.as_ptr().cast::<__m128i>();
        // SAFETY: the caller has seen to AVX2, and a line is four pairs of words, which need no alignment. Other threads
        // may be writing: the loads stand for one relaxed load of each word, which is what every processor with AVX makes
        // of them, and which the compiler neither knows how to do in one go nor may assume anything of.
        unsafe {
            let pair = |i: usize| {
                let pair: __m128i;
                std::arch::asm!(
                    "vmovdqu {pair}, xmmword ptr [{at}]",
                    pair = out(xmm_reg) pair,
                    at = in(reg) pairs.add(i),
                    options(readonly, nostack, preserves_flags),
                );
                pair
            };
            // Words 0 1 4 5 and 2 3 6 7, whose halves shuffle into the order of the words.
            let even = _mm256_castsi256_ps(_mm256_set_m128i(pair(2), pair(0)));
            let odd = _mm256_castsi256_ps(_mm256_set_m128i(pair(3), pair(1)));
            let sums = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(even, odd));
            let visits = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(even, odd));
            let share = _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_cvtepi32_ps(visits));
            let mean =
                _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sums), share), _mm256_set1_ps(self.turn));
            let mean = _mm256_max_ps(_mm256_add_ps(mean, _mm256_set1_ps(self.shift)), _mm256_setzero_ps());
            let value =
                _mm256_add_ps(mean, _mm256_mul_ps(_mm256_set1_ps(self.explore), _mm256_sqrt_ps(share)));
            // What needs no arithmetic is ready before it. Of a mask the top bits choose: of the visits, closed ones.
            let closed = _mm256_castsi256_ps(_mm256_set1_epi32(CLOSED));
            let given = _mm256_blendv_ps(_mm256_set1_ps(self.fpu), closed, _mm256_castsi256_ps(visits));
            let tried = _mm256_cmpgt_epi32(visits, _mm256_setzero_si256());
            let value = _mm256_castps_si256(_mm256_blendv_ps(given, value, _mm256_castsi256_ps(tried)));
            // The highest, in every place.
            let most = _mm256_max_epi32(value, _mm256_permute2x128_si256::<1>(value, value));
            let most = _mm256_max_epi32(most, _mm256_shuffle_epi32::<0b01_00_11_10>(most));
            let most = _mm256_max_epi32(most, _mm256_shuffle_epi32::<0b10_11_00_01>(most));
            let firsts = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(value, most)));
            (_mm_cvtsi128_si32(_mm256_castsi256_si128(most)), firsts.trailing_zeros() as usize)
        }
    }
}

/// The best move of a node whose moves are all proved: it is met by simulations that were under way meanwhile.
fn best_proved(tree: &Tree, node: NodeId) -> usize {
    let side = tree.side(node);
    let worth = |&edge: &usize| tree.stats(node, edge).proof().map_or(0.0, |o| o.value_for(side));
    (0..tree.edges(node)).max_by(|a, b| worth(a).total_cmp(&worth(b))).expect("a node has a move")
}

/// A move at the root, as the final choice sees it.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    pub edge: usize,
    pub visits: u32,
    /// For the side to move.
    pub mean: f64,
    /// For the side to move: 1 won, 0 lost, 1/2 drawn, where it is proved.
    pub proved: Option<f64>,
}

/// All moves of a node.
pub fn candidates(tree: &Tree, node: NodeId) -> Vec<Candidate> {
    let side = tree.side(node);
    let of = |edge| {
        let stats = tree.stats(node, edge);
        Candidate {
            edge,
            visits: stats.visits(),
            mean: side.view(f64::from(stats.mean())),
            proved: stats.proof().map(|outcome| outcome.value_for(side)),
        }
    };
    (0..tree.edges(node)).map(of).collect()
}

/// The moves in the order in which they would be played.
pub fn rank(how: FinalMove, candidates: &mut [Candidate]) {
    let total: u32 = candidates.iter().map(|c| c.visits).sum();
    let log = f64::from(total.max(2)).ln();
    let merit = |c: &Candidate| match (c.proved, how) {
        _ if c.visits == 0 && c.proved.is_none() => f64::NEG_INFINITY,
        (Some(value), _) if value == 0.5 && how == FinalMove::Max => 0.5,
        (_, FinalMove::Max) => c.mean,
        (_, FinalMove::Robust | FinalMove::MaxRobust) => f64::from(c.visits),
        (_, FinalMove::Secure) => c.mean - (log / f64::from(c.visits.max(1))).sqrt(),
    };
    // A proved win before everything, a proved loss after everything.
    let class = |c: &Candidate| match c.proved {
        Some(1.0) => 2,
        Some(0.0) => 0,
        _ => 1,
    };
    candidates.sort_by(|a, b| {
        let by_class = class(b).cmp(&class(a));
        by_class.then(merit(b).total_cmp(&merit(a))).then(b.mean.total_cmp(&a.mean)).then(a.edge.cmp(&b.edge))
    });
}

/// The natural logarithm of a number from 1 on, to about six digits and the same on every machine, in a few instructions:
/// the exponent, and the series of the logarithm at the mantissa.
#[inline]
fn ln(n: f32) -> f32 {
    let bits = n.to_bits();
    let exponent = ((bits >> 23) as i32 - 127) as f32;
    let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    // ln m = 2 atanh((m - s) / (m + s)) + ln s around s = sqrt 2, the middle of [1, 2).
    let middle = std::f32::consts::SQRT_2;
    let x = (mantissa - middle) / (mantissa + middle);
    let square = x * x;
    let series = x * (2.0 + square * (0.666_666_7 + square * (0.4 + square * 0.285_714_3)));
    ((exponent + 0.5) * std::f32::consts::LN_2 + series).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_line_is_judged_alike_at_once_and_one_by_one() {
        let mut rng = Rng::new(1, 0);
        for round in 0..20_000 {
            let visits_max = [2, 10, 1000, 1 << 27][round % 4];
            let line = std::array::from_fn(|_| {
                let visits = rng.below(visits_max) as u64;
                let sum = (rng.unit() * 16.0 * visits as f64) as u64;
                AtomicU64::new(u64::from(rng.below(4) == 0) << 63 | visits << 32 | sum)
            });
            let (turn, shift) = view(if rng.below(2) == 0 { Side::First } else { Side::Second });
            let fpu = [f32::MAX, 1.1, -3.0][rng.below(3)];
            let explore = [0.0, rng.unit() as f32][rng.below(2)];
            let terms = Terms { explore, turn: turn / FULL as f32, shift, fpu };
            let best = terms.best(&line, Processor::here());
            assert_eq!(best, terms.best(&line, Processor::PORTABLE), "{line:x?}");
        }
    }

    #[test]
    fn no_urgency_is_taken_for_closed() {
        for fpu in [-1000.0, -0.0, 0.0, f64::MAX] {
            let fpu = Chooser::new(&Uct { fpu, ..Uct::plain() }).fpu;
            assert!(fpu.to_bits() as i32 > CLOSED, "{fpu}");
        }
    }

    #[test]
    fn what_is_in_flight_counts_as_lost_by_its_share() {
        use Counting::{Mixed, Unobserved, VirtualLoss};
        for (visits, flying) in [(1, 1), (1, 30), (10, 2), (100, 30), (20_000, 700)] {
            let weight = Mixed.weight(visits, flying);
            assert!(weight < Unobserved.weight(visits, flying), "{visits} {flying}");
            assert!(weight > VirtualLoss.weight(visits, flying), "{visits} {flying}");
        }
        assert_eq!([Mixed, Unobserved, VirtualLoss].map(|counting| counting.weight(3, 0)), [1.0; 3]);
        assert_eq!(Mixed.weight(1, 1), 1.0 / 1.5, "one of two is in flight: half of it is lost");
        assert!(Mixed.weight(20_000, 700) > 0.998, "a few beside many change next to nothing");
    }

    #[test]
    fn the_logarithm_is_close() {
        let chooser = Chooser::new(&Uct::default());
        for n in (1..5000).chain([1 << 20, 123_456_789, 1 << 30]) {
            let exact = f64::from(n).ln();
            assert!((f64::from(ln(n as f32)) - exact).abs() < 2e-6 * (1.0 + exact), "ln {n}");
            let explore = f64::from(chooser.explore(n) / chooser.c).powi(2);
            assert!((explore - exact).abs() < 3e-6 * (1.0 + exact), "ln {n} of the table: {explore}");
        }
    }

    fn candidate(edge: usize, visits: u32, mean: f64, proved: Option<f64>) -> Candidate {
        Candidate { edge, visits, mean, proved }
    }

    #[test]
    fn final_moves_follow_their_names() {
        let all = [candidate(0, 900, 0.5, None), candidate(1, 90, 0.6, None), candidate(2, 10, 0.7, None)];
        let best = |how| {
            let mut moves = all;
            rank(how, &mut moves);
            moves[0].edge
        };
        assert_eq!(best(FinalMove::Robust), 0);
        assert_eq!(best(FinalMove::Max), 2);
        assert_eq!(best(FinalMove::Secure), 0);
        let mut proved =
            [candidate(0, 900, 0.9, Some(0.0)), candidate(1, 2, 0.1, None), candidate(2, 1, 0.2, Some(1.0))];
        rank(FinalMove::Robust, &mut proved);
        assert_eq!(proved.map(|c| c.edge), [2, 1, 0], "won, unknown, lost");
    }
}
