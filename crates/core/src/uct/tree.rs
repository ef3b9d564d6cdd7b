//! The tree: nodes in one arena of 64-bit words, which several threads read and change without locks, within a bound.
//!
//! A node is a header followed by what is known of its moves, kind by kind, so that choosing a move reads one run of
//! memory: with seven moves header and statistics are the 64 bytes of a cache line, and nodes begin where lines do.
//!
//! ```text
//! header      side to move, proof, number of moves; room for the compaction
//!             with transpositions two words more: visits and value of the node, the key
//! statistics  a word a move: sum of values in sixteenths (32 bits), visits (27), proof (2), so that one addition
//!             updates visits and sum
//! links       a word a move: child (32), move number (16), simulations in flight (15)
//! knowledge   half a word a move, as f32 (where the search uses any)
//! ```
//!
//! The top bit of a word says that it is no open move: it is set in headers, links, the padding, and the statistics of
//! proved moves. So whoever looks for the best move takes whole lines without asking what their words are.
//!
//! Threads take chunks of the arena and fill them on their own. When the arena is full, or the game has moved on,
//! `keep` slides what is still wanted to the front, in address order, as compacting garbage collectors do; nobody
//! searches meanwhile. There is no other way for memory to be freed, and none by which it could grow.

use crate::domain::{Outcome, Side};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

/// Words a thread takes at a time. No node is larger: 1,600 moves with knowledge.
pub const CHUNK: usize = 4096;
/// Words of a cache line.
pub const LINE: usize = 8;
/// One visit, in the word that counts visits and values.
pub const VISIT: u64 = 1 << 32;
/// The value 1 of one simulation.
pub const FULL: u64 = 16;
const VISITS_MASK: u32 = (1 << 27) - 1;
/// Visits at which statistics are halved: the sum is then still below 2^31, and there is room for what other threads
/// add until it is done.
const VISITS_MAX: u32 = VISITS_MASK - (1 << 16);
/// No open move.
const CLOSED: u64 = 1 << 63;
const PROOF_SHIFT: u32 = 61;
const IN_FLIGHT: u64 = 1 << 48;
const IN_FLIGHT_MASK: u64 = 0x7fff;
const NODE_MARK: u64 = 1 << 40;
const HAS_DRAW: u64 = 1 << 60;
/// Marks nodes for whoever searches; it stays through a compaction.
const FLAG: u64 = 1 << 39;
/// How many places of the table are looked at, as in UCT-Treesplit and the thesis.
const PROBES: usize = 10;

/// A node: the index of its first word. Zero is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeId(pub u32);

impl NodeId {
    pub const NONE: NodeId = NodeId(0);
}

/// The statistics of a move at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Stats(pub u64);

impl Stats {
    #[inline]
    pub fn visits(self) -> u32 {
        (self.0 >> 32) as u32 & VISITS_MASK
    }

    /// The sum of the values for the first side, in sixteenths.
    pub fn sixteenths(self) -> u32 {
        self.0 as u32
    }

    /// The sum of the values for the first side.
    #[inline]
    pub fn sum(self) -> f32 {
        self.0 as i32 as f32 * (1.0 / FULL as f32)
    }

    /// The mean value for the first side; 0 without visits.
    #[inline]
    pub fn mean(self) -> f32 {
        self.sum() / self.visits().max(1) as f32
    }

    /// The outcome under perfect play, where it is known.
    #[inline]
    pub fn proof(self) -> Option<Outcome> {
        outcome_of(self.0 >> PROOF_SHIFT & 3)
    }

    /// Half the visits and half the sum: the mean stays, and there is room again.
    fn halved(self) -> Stats {
        let visits = u64::from(self.visits() / 2) << 32;
        Stats(self.0 & !(u64::from(VISITS_MASK) << 32 | 0xffff_ffff) | visits | u64::from(self.0 as u32 / 2))
    }
}

/// Where a move leads, at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Link(pub u64);

impl Link {
    #[inline]
    pub fn child(self) -> NodeId {
        NodeId(self.0 as u32)
    }

    #[inline]
    pub fn move_id(self) -> u16 {
        (self.0 >> 32) as u16
    }

    #[inline]
    pub fn in_flight(self) -> u32 {
        (self.0 >> 48 & IN_FLIGHT_MASK) as u32
    }
}

pub fn code_of(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Win(Side::First) => 1,
        Outcome::Win(Side::Second) => 2,
        Outcome::Draw => 3,
    }
}

#[inline]
pub fn outcome_of(code: u64) -> Option<Outcome> {
    match code {
        0 => None,
        1 => Some(Outcome::Win(Side::First)),
        2 => Some(Outcome::Win(Side::Second)),
        _ => Some(Outcome::Draw),
    }
}

pub struct Tree {
    words: Box<[AtomicU64]>,
    /// Words before the statistics: 1, with transpositions 3.
    header: usize,
    knowledge: bool,
    /// Key tag and node, open addressing; empty without transpositions.
    table: Box<[AtomicU64]>,
    /// The first word that a node may stand on: not 0, and the beginning of a cache line.
    first: usize,
    /// Below this word nodes lie side by side, from `first` on; above it chunk by chunk.
    packed: usize,
    pub root: NodeId,
    /// One thread searches: additions need not be atomic, which makes them several times cheaper.
    pub alone: bool,
    counts: Apart<Counts>,
}

/// What every thread writes to, now and then.
struct Counts {
    /// The first word that belongs to no chunk yet.
    top: AtomicU32,
    nodes: AtomicU64,
    /// Nodes ever added, also those given up since.
    added: AtomicU64,
}

/// On cache lines of its own, and their neighbours', which processors fetch with them: whoever writes to it does not take
/// anything else away from those who only read.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct Apart<T>(pub T);

/// The rest of the chunk that a thread fills.
#[derive(Debug, Default, Clone, Copy)]
pub struct Chunk {
    next: usize,
    end: usize,
    /// Nodes added that the tree has not been told of: a counter that all threads change with every node would cost each
    /// of them as much as a level of the tree.
    uncounted: u32,
}

impl Tree {
    pub fn new(bytes: usize, knowledge: bool, transpositions: bool) -> Tree {
        // A place in the table for every sixteen words of nodes: the smallest nodes are not much smaller.
        let total = bytes / 8;
        let places = if transpositions { (total / 17 / 2).next_power_of_two() } else { 0 };
        let chunks = ((total - places) / CHUNK).max(2);
        let words = zeroed(chunks * CHUNK + LINE);
        let first = LINE - words.as_ptr() as usize / 8 % LINE;
        Tree {
            words,
            header: if transpositions { 3 } else { 1 },
            knowledge,
            table: zeroed(places),
            first,
            packed: first,
            root: NodeId::NONE,
            alone: true,
            counts: Apart(Counts {
                top: AtomicU32::new(first as u32),
                nodes: AtomicU64::new(0),
                added: AtomicU64::new(0),
            }),
        }
    }

    /// The words that nodes may fill.
    fn room(&self) -> usize {
        self.words.len() - LINE
    }

    /// The share of the arena in use.
    pub fn fill(&self) -> f64 {
        (self.counts.0.top.load(Relaxed) as usize - self.first) as f64 / self.room() as f64
    }

    pub fn nodes(&self) -> u64 {
        self.counts.0.nodes.load(Relaxed)
    }

    pub fn added(&self) -> u64 {
        self.counts.0.added.load(Relaxed)
    }

    /// Adds a node with these moves (number, knowledge), or `None` when the arena is full.
    pub fn add(
        &self,
        chunk: &mut Chunk,
        side: Side,
        key: u64,
        moves: impl ExactSizeIterator<Item = (u16, f32)>,
    ) -> Option<NodeId> {
        let edges = moves.len();
        let size = self.size_of(edges);
        assert!(edges > 0 && size <= CHUNK, "a node of {edges} moves");
        if chunk.end - chunk.next < size {
            (chunk.next, chunk.end) = self.take_chunk()?;
        }
        let node = chunk.next;
        chunk.next += size;
        let words = &self.words[node..chunk.next];
        let header = CLOSED | (edges as u64) << 44 | u64::from(side == Side::Second) << 41;
        words[0].store(header, Relaxed);
        if self.header == 3 {
            words[1].store(0, Relaxed);
            words[2].store(key, Relaxed);
        }
        let (stats, rest) = words[self.header..].split_at(edges);
        let (links, rest) = rest.split_at(edges);
        stats.iter().for_each(|word| word.store(0, Relaxed));
        rest.iter().for_each(|word| word.store(CLOSED, Relaxed));
        for (i, (id, knowledge)) in moves.enumerate() {
            links[i].store(CLOSED | u64::from(id) << 32, Relaxed);
            if self.knowledge {
                let word = &rest[i / 2];
                let other = if i % 2 == 0 { 0 } else { word.load(Relaxed) };
                word.store(other | u64::from(knowledge.to_bits()) << (i % 2 * 32), Relaxed);
            }
        }
        chunk.uncounted += 1;
        if self.alone {
            self.count_nodes(chunk);
        }
        Some(NodeId(node as u32))
    }

    /// Counts what a thread has added. Nothing may be left uncounted when a thread's search is over.
    #[inline]
    pub fn count_nodes(&self, chunk: &mut Chunk) {
        let added = std::mem::take(&mut chunk.uncounted).into();
        self.add_to(&self.counts.0.nodes, added);
        self.add_to(&self.counts.0.added, added);
    }

    fn take_chunk(&self) -> Option<(usize, usize)> {
        let limit = self.first + self.room();
        let take = |top: u32| (top as usize + CHUNK <= limit).then(|| top + CHUNK as u32);
        let next = self.counts.0.top.fetch_update(Relaxed, Relaxed, take).ok()? as usize;
        Some((next, next + CHUNK))
    }

    /// Takes the last node of this thread back, as when another thread was faster.
    pub fn take_back(&self, chunk: &mut Chunk, node: NodeId) {
        let start = node.0 as usize;
        self.words[start..chunk.next].iter().for_each(|word| word.store(0, Relaxed));
        chunk.next = start;
        // It was added, and is no more.
        self.count_nodes(chunk);
        self.counts.0.nodes.fetch_sub(1, Relaxed);
    }

    #[inline]
    fn head(&self, node: NodeId) -> u64 {
        self.words[node.0 as usize].load(Relaxed)
    }

    #[inline]
    pub fn edges(&self, node: NodeId) -> usize {
        (self.head(node) >> 44) as usize & 0xffff
    }

    #[inline]
    pub fn side(&self, node: NodeId) -> Side {
        if self.head(node) >> 41 & 1 == 0 { Side::First } else { Side::Second }
    }

    /// The cache lines of a node from its header to its last statistics. Word i belongs to move i - 1, if it is
    /// open; its upper half is then the visits. Only without transpositions.
    #[inline]
    pub fn lines(&self, node: NodeId) -> &[[AtomicU64; LINE]] {
        debug_assert!(self.header == 1);
        let start = node.0 as usize;
        let lines = (1 + self.edges(node)).div_ceil(LINE);
        self.words[start..start + lines * LINE].as_chunks().0
    }

    /// The words of all moves: statistics, and links.
    #[inline]
    pub fn moves(&self, node: NodeId) -> (&[AtomicU64], &[AtomicU64]) {
        let (start, edges) = (node.0 as usize + self.header, self.edges(node));
        self.words[start..start + 2 * edges].split_at(edges)
    }

    #[inline]
    fn stats_at(&self, node: NodeId, edge: usize) -> &AtomicU64 {
        &self.words[node.0 as usize + self.header + edge]
    }

    #[inline]
    fn link_at(&self, node: NodeId, edge: usize) -> &AtomicU64 {
        &self.words[node.0 as usize + self.header + self.edges(node) + edge]
    }

    #[inline]
    pub fn stats(&self, node: NodeId, edge: usize) -> Stats {
        Stats(self.stats_at(node, edge).load(Relaxed))
    }

    #[inline]
    pub fn link(&self, node: NodeId, edge: usize) -> Link {
        Link(self.link_at(node, edge).load(Acquire))
    }

    /// What was known of a move beforehand.
    #[inline]
    pub fn known(&self, node: NodeId, edge: usize) -> f32 {
        let at = node.0 as usize + self.header + 2 * self.edges(node) + edge / 2;
        f32::from_bits((self.words[at].load(Relaxed) >> (edge % 2 * 32)) as u32)
    }

    /// The simulations that have gone out of a node, and those on their way.
    pub fn arrived(&self, node: NodeId) -> u32 {
        let of = |edge| self.stats(node, edge).visits() + self.link(node, edge).in_flight();
        (0..self.edges(node)).map(of).sum()
    }

    /// The statistics of a node itself; only with transpositions.
    #[inline]
    pub fn node_stats(&self, node: NodeId) -> Stats {
        Stats(self.words[node.0 as usize + 1].load(Relaxed))
    }

    /// Has the processor fetch a node that is going to be read: what a choice reads, and the links behind it.
    #[inline]
    pub fn prefetch(&self, node: NodeId) {
        #[cfg(target_arch = "x86_64")]
        if let Some(word) = self.words.get(node.0 as usize) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let word = std::ptr::from_ref(word).cast::<i8>();
            // SAFETY: a prefetch reads nothing, so that the second line need not even be there.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(word);
                _mm_prefetch::<_MM_HINT_T0>(word.wrapping_add(8 * LINE));
            }
        }
    }

    #[inline]
    fn add_to(&self, word: &AtomicU64, amount: u64) -> u64 {
        if self.alone {
            let old = word.load(Relaxed);
            word.store(old.wrapping_add(amount), Relaxed);
            old
        } else {
            word.fetch_add(amount, Relaxed)
        }
    }

    #[inline]
    fn count(&self, word: &AtomicU64, value: u64) {
        if Stats(self.add_to(word, VISIT | value)).visits() >= VISITS_MAX {
            halve(word);
        }
    }

    /// A simulation went along this edge and came back with a value, in sixteenths, for the first side.
    #[inline(always)]
    pub fn record(&self, node: NodeId, edge: usize, value: u64, flown: bool) {
        self.count(self.stats_at(node, edge), value);
        if flown {
            self.add_to(self.link_at(node, edge), IN_FLIGHT.wrapping_neg());
        }
        if self.header == 3 {
            self.count(&self.words[node.0 as usize + 1], value);
        }
    }

    /// Adds what simulations elsewhere saw behind this edge: visits, and the sum of their values in sixteenths. False:
    /// the numbers are none, or there is no room for so many. Only without transpositions.
    pub fn merge(&self, node: NodeId, edge: usize, visits: u32, sum: u32) -> bool {
        debug_assert!(self.header == 1);
        let word = self.stats_at(node, edge);
        let all = u64::from(Stats(word.load(Relaxed)).visits()) + u64::from(visits);
        if all >= VISITS_MAX.into() || u64::from(sum) > FULL * u64::from(visits) {
            return false;
        }
        self.add_to(word, u64::from(visits) << 32 | u64::from(sum));
        true
    }

    /// Simulations that went along this edge have come back: fewer than 2^16, with the sum of their values. What was
    /// in flight stays so.
    pub fn record_many(&self, node: NodeId, edge: usize, visits: u32, sum: u32) {
        let many = u64::from(visits) * VISIT + u64::from(sum);
        let own = (self.header == 3).then(|| &self.words[node.0 as usize + 1]);
        for word in std::iter::once(self.stats_at(node, edge)).chain(own) {
            if Stats(self.add_to(word, many)).visits() + visits > VISITS_MAX {
                halve(word);
            }
        }
    }

    /// A simulation sets out along this edge.
    #[inline]
    pub fn set_out(&self, node: NodeId, edge: usize) {
        self.add_to(self.link_at(node, edge), IN_FLIGHT);
    }

    /// So many simulations set out along this edge, or come back where the number is below 0.
    #[inline]
    pub fn set_out_many(&self, node: NodeId, edge: usize, many: i32) {
        self.add_to(self.link_at(node, edge), (i64::from(many) as u64).wrapping_mul(IN_FLIGHT));
    }

    /// A simulation that set out along this edge will not come back.
    pub fn call_off(&self, node: NodeId, edge: usize) {
        self.add_to(self.link_at(node, edge), IN_FLIGHT.wrapping_neg());
    }

    /// Adds visits and values, in sixteenths, of simulations elsewhere.
    pub fn add_stats(&self, node: NodeId, edge: usize, visits: u32, sum: u32) {
        let word = self.stats_at(node, edge);
        let added = u64::from(visits.min(VISITS_MAX)) * VISIT + u64::from(sum);
        // Both fit once they are halved as often as it takes.
        while Stats(word.load(Relaxed)).visits() >= VISITS_MAX - visits.min(VISITS_MAX) && visits > 0 {
            halve(word);
        }
        self.add_to(word, added);
    }

    /// Adds simulations in flight elsewhere, or takes them off.
    pub fn add_in_flight(&self, node: NodeId, edge: usize, more: i32) {
        let flying = i64::from(self.link(node, edge).in_flight()) + i64::from(more);
        self.set_in_flight(node, edge, flying.clamp(0, IN_FLIGHT_MASK as i64) as u32);
    }

    /// Says how many simulations are in flight.
    pub fn set_in_flight(&self, node: NodeId, edge: usize, flying: u32) {
        let word = self.link_at(node, edge);
        let rest = word.load(Relaxed) & !(IN_FLIGHT_MASK << 48);
        word.store(rest | u64::from(flying) << 48, Relaxed);
    }

    /// Sets the mark of a node, and a number that is lost in a compaction.
    pub fn flag(&self, node: NodeId, tag: u32) {
        let word = &self.words[node.0 as usize];
        word.store(word.load(Relaxed) >> 32 << 32 | FLAG | u64::from(tag), Relaxed);
    }

    /// Whether a node is marked.
    pub fn flagged(&self, node: NodeId) -> bool {
        self.head(node) & FLAG != 0
    }

    /// The number that came with the mark.
    #[inline]
    pub fn tag(&self, node: NodeId) -> Option<usize> {
        let head = self.head(node);
        (head & FLAG != 0).then_some(head as u32 as usize)
    }

    /// Cuts the child off an edge.
    pub fn cut(&mut self, node: NodeId, edge: usize) {
        self.redirect(node, edge, NodeId::NONE);
    }

    /// Gives an edge its child, unless it has one by now; says which it has.
    pub fn connect(&self, node: NodeId, edge: usize, child: NodeId) -> NodeId {
        let word = self.link_at(node, edge);
        let old = word.load(Relaxed);
        if self.alone && old as u32 == 0 {
            word.store(old | u64::from(child.0), Relaxed);
            return child;
        }
        let set = |old: u64| (old as u32 == 0).then_some(old | u64::from(child.0));
        match word.fetch_update(AcqRel, Acquire, set) {
            Ok(_) => child,
            Err(old) => Link(old).child(),
        }
    }

    /// Writes down the outcome of a move under perfect play. Proofs are never taken back.
    pub fn prove(&self, node: NodeId, edge: usize, outcome: Outcome) {
        self.stats_at(node, edge).fetch_or(CLOSED | code_of(outcome) << PROOF_SHIFT, Relaxed);
    }

    /// Writes down the outcome of a node.
    pub fn prove_node(&self, node: NodeId, outcome: Outcome) {
        self.words[node.0 as usize].fetch_or(code_of(outcome) << 42, Relaxed);
    }

    /// A move of this node is a proved draw.
    pub fn note_draw(&self, node: NodeId) {
        self.words[node.0 as usize].fetch_or(HAS_DRAW, Relaxed);
    }

    #[inline]
    pub fn has_draw(&self, node: NodeId) -> bool {
        self.head(node) & HAS_DRAW != 0
    }

    #[inline]
    pub fn node_proof(&self, node: NodeId) -> Option<Outcome> {
        outcome_of(self.head(node) >> 42 & 3)
    }

    /// The node of a position, if the table has it.
    pub fn find(&self, key: u64) -> Option<NodeId> {
        let mask = self.table.len() - 1;
        (0..PROBES.min(self.table.len())).find_map(|i| {
            let entry = self.table[(key as usize + i) & mask].load(Acquire);
            let node = entry as u32;
            let hit = node != 0 && entry >> 32 == key >> 32 && self.key(NodeId(node)) == key;
            hit.then_some(NodeId(node))
        })
    }

    /// Puts a node into the table where one of the places is free; without one it stays a node of its parent alone.
    pub fn enter(&self, key: u64, node: NodeId) {
        let mask = self.table.len() - 1;
        let entry = key >> 32 << 32 | u64::from(node.0);
        for i in 0..PROBES.min(self.table.len()) {
            let place = &self.table[(key as usize + i) & mask];
            if place.compare_exchange(0, entry, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn key(&self, node: NodeId) -> u64 {
        self.words[node.0 as usize + 2].load(Relaxed)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let top = *self.counts.0.top.get_mut() as usize;
        self.words[..top].iter_mut().for_each(|word| *word.get_mut() = 0);
        self.table.iter_mut().for_each(|word| *word.get_mut() = 0);
        *self.counts.0.top.get_mut() = self.first as u32;
        *self.counts.0.nodes.get_mut() = 0;
        self.packed = self.first;
        self.root = NodeId::NONE;
    }

    /// Makes room by giving up the children of rarely tried moves, as many as it takes to free half of the arena.
    /// Their statistics stay in their edges. Returns the visits a move needed to keep its child.
    pub fn recycle(&mut self) -> u32 {
        // `words_by[v]`: the words of nodes whose most visited edge in has v visits, all of `v` and above in the last.
        const LAST: usize = 1 << 16;
        let mut words_by = vec![0usize; LAST + 1];
        let mut stack = vec![self.root];
        while let Some(node) = stack.pop() {
            for edge in 0..self.edges(node) {
                let child = self.link(node, edge).child();
                if child != NodeId::NONE && !self.mark(child) {
                    let visits = (self.stats(node, edge).visits() as usize).min(LAST);
                    words_by[visits] += self.size(child);
                    stack.push(child);
                }
            }
        }
        self.unmark();
        let mut kept = 0;
        let mut least = LAST;
        while least > 2 && kept + words_by[least] <= self.room() / 2 {
            kept += words_by[least];
            least -= 1;
        }
        self.keep(self.root, least as u32 + 1);
        least as u32 + 1
    }

    /// Keeps `root` and what hangs below it by edges with at least `visits_min` visits; frees the rest.
    pub fn keep(&mut self, root: NodeId, visits_min: u32) {
        let mut stack = vec![root];
        self.mark(root);
        while let Some(node) = stack.pop() {
            for edge in 0..self.edges(node) {
                let child = self.link(node, edge).child();
                if child == NodeId::NONE {
                    continue;
                }
                if self.stats(node, edge).visits() < visits_min {
                    self.redirect(node, edge, NodeId::NONE);
                } else if !self.mark(child) {
                    stack.push(child);
                }
            }
        }
        self.slide(root);
    }

    /// Moves the marked nodes to the front, in the order of their addresses, so that none is overwritten before it
    /// has moved; their new addresses are first noted in their headers and put into the edges.
    fn slide(&mut self, root: NodeId) {
        let starts = self.marked();
        let mut to = self.first;
        for &node in &starts {
            let word = self.words[node.0 as usize].get_mut();
            *word = *word >> 32 << 32 | to as u64;
            to += self.size(node);
        }
        for &node in &starts {
            for edge in 0..self.edges(node) {
                let child = self.link(node, edge).child();
                if child != NodeId::NONE {
                    let new = *self.words[child.0 as usize].get_mut() as u32;
                    self.redirect(node, edge, NodeId(new));
                }
            }
        }
        let new_root = *self.words[root.0 as usize].get_mut() as u32;
        self.table.iter_mut().for_each(|word| *word.get_mut() = 0);
        let old_top = *self.counts.0.top.get_mut() as usize;
        for &node in &starts {
            let (from, size) = (node.0 as usize, self.size(node));
            let header = self.words[from].get_mut();
            let to = *header as u32 as usize;
            *header = (*header & !NODE_MARK) >> 32 << 32;
            for i in 0..size {
                let word = *self.words[from + i].get_mut();
                *self.words[to + i].get_mut() = word;
            }
            if self.header == 3 {
                self.enter(self.key(NodeId(to as u32)), NodeId(to as u32));
            }
        }
        self.packed = to;
        let top = self.chunk_after(to);
        self.words[to..old_top.max(top)].iter_mut().for_each(|word| *word.get_mut() = 0);
        *self.counts.0.top.get_mut() = top as u32;
        *self.counts.0.nodes.get_mut() = starts.len() as u64;
        self.root = NodeId(new_root);
    }

    /// The marked nodes in the order of their addresses.
    fn marked(&mut self) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        self.walk(|tree, node| {
            if *tree.words[node].get_mut() & NODE_MARK != 0 {
                nodes.push(NodeId(node as u32));
            }
        });
        nodes
    }

    fn unmark(&mut self) {
        self.walk(|tree, node| *tree.words[node].get_mut() &= !NODE_MARK);
    }

    /// Visits every node ever added, in the order of their addresses.
    fn walk(&mut self, mut visit: impl FnMut(&mut Tree, usize)) {
        let mut at = self.first;
        while at < self.packed {
            visit(self, at);
            at += self.size(NodeId(at as u32));
        }
        let top = *self.counts.0.top.get_mut() as usize;
        let mut chunk = self.chunk_after(self.packed);
        while chunk < top {
            at = chunk;
            chunk += CHUNK;
            // A chunk is filled from its start; where the next node would be, there are zeros.
            while at < chunk && *self.words[at].get_mut() != 0 {
                visit(self, at);
                at += self.size(NodeId(at as u32));
            }
        }
    }

    /// Every node by its key, with the statistics of its moves; only with transpositions.
    #[doc(hidden)]
    pub fn dump(&mut self) -> std::collections::BTreeMap<u64, Vec<u64>> {
        let mut nodes = Vec::new();
        self.walk(|_, node| nodes.push(NodeId(node as u32)));
        let stats = |node| (0..self.edges(node)).map(|edge| self.stats(node, edge).0).collect();
        nodes.into_iter().map(|node| (self.key(node), stats(node))).collect()
    }

    /// Where the first chunk begins at or after a word.
    fn chunk_after(&self, word: usize) -> usize {
        self.first + (word - self.first).next_multiple_of(CHUNK)
    }

    fn redirect(&mut self, node: NodeId, edge: usize, child: NodeId) {
        let at = node.0 as usize + self.header + self.edges(node) + edge;
        let word = self.words[at].get_mut();
        *word = *word >> 32 << 32 | u64::from(child.0);
    }

    fn size(&self, node: NodeId) -> usize {
        self.size_of(self.edges(node))
    }

    /// The words of a node with so many moves.
    fn size_of(&self, edges: usize) -> usize {
        let knowledge = if self.knowledge { edges.div_ceil(2) } else { 0 };
        (self.header + 2 * edges + knowledge).next_multiple_of(LINE)
    }

    /// Marks a node; whether it was marked before.
    fn mark(&mut self, node: NodeId) -> bool {
        let word = self.words[node.0 as usize].get_mut();
        let was = *word & NODE_MARK != 0;
        *word |= NODE_MARK;
        was
    }
}

/// Makes room in statistics that are about to overflow, unless another thread just did.
#[cold]
fn halve(word: &AtomicU64) {
    let half = |old| (Stats(old).visits() >= VISITS_MAX).then(|| Stats(old).halved().0);
    // An error says that it is done already.
    let _ = word.fetch_update(Relaxed, Relaxed, half);
}

/// Words that cost no memory until they are written: a calloc of plain integers.
fn zeroed(size: usize) -> Box<[AtomicU64]> {
    let plain = Box::into_raw(vec![0u64; size].into_boxed_slice());
    const { assert!(align_of::<AtomicU64>() == align_of::<u64>()) };
    // SAFETY: AtomicU64 has the size, the alignment (on the 64-bit targets this is built for, checked above) and the
    // bit validity of u64, and nobody else knows the allocation.
    let words = unsafe { Box::from_raw(plain as *mut [AtomicU64]) };
    in_large_pages(&words);
    words
}

/// Asks for pages of 2 MiB, where the system has them for those who ask: a walk down the tree meets a new page at
/// almost every node, and the first touch of a small one costs as much as a simulation.
fn in_large_pages(words: &[AtomicU64]) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        // SAFETY: as the manual page of madvise(2) declares it.
        unsafe extern "C" {
            fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
        }
        const PAGE: usize = 1 << 21;
        const MADV_HUGEPAGE: c_int = 14;
        let start = words.as_ptr() as usize;
        let (first, end) = (start.next_multiple_of(PAGE), (start + size_of_val(words)) / PAGE * PAGE);
        if first < end {
            // SAFETY: whole pages within the allocation, and the advice changes nothing but speed. If it is not taken,
            // all goes on as it was.
            unsafe { madvise(first as *mut c_void, end - first, MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = words;
}

#[cfg(test)]
mod tests;
