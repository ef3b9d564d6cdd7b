//! Replicas of the canopy told of each other's visits.
//!
//! The ranks are a tree of their own, `fan` children to a rank. What a rank does to the canopy, and what it hears from one
//! neighbour, is added up for each of its other neighbours until it is worth a record; so a visit crosses every link once,
//! merged with all that happened to the same move meanwhile. Records of growth take the same links, and links keep their
//! order, so nobody hears of visits to a node that he has not heard of.

use super::{Canopy, SYNC, Top};
use crate::{Nanos, Outbox, RankId, Reader, Refused};
use sortie_core::parts::NodeId;

/// No record has more entries: they must fit one, and nobody should wait long for it.
const ENTRIES_MAX: usize = 200;
/// Bytes of an entry: edge, visits, sum, in flight.
const ENTRY_BYTES: usize = 2 + 4 + 4 + 2;
/// The least time between two records to a neighbour, in nanoseconds, and as simulations of this rank that come home
/// meanwhile: where playouts take long, news is not worth a record sooner.
const SPACING: Nanos = 20_000;
const SPACING_HOME: Nanos = 1;
/// The most, while there is something to say.
const SILENCE: Nanos = 500_000;

/// A rank beside this one in the tree of ranks, and what it has not been told yet.
pub(super) struct Neighbour {
    pub to: RankId,
    /// By move of the canopy, at `Top::base` and after.
    pending: Vec<Delta>,
    /// The moves with something pending: top and edge.
    dirty: Vec<(u32, u16)>,
    visits: u64,
    told: Nanos,
}

/// A node that a record names: its place among the tops, if it is there, the node, and how many moves it has.
pub(super) type Found = (Option<u32>, NodeId, usize);

#[derive(Debug, Clone, Copy, Default)]
struct Delta {
    visits: u32,
    /// In sixteenths.
    sum: u32,
    in_flight: i32,
    dirty: bool,
}

impl Neighbour {
    pub fn new(to: RankId) -> Neighbour {
        Neighbour { to, pending: Vec::new(), dirty: Vec::new(), visits: 0, told: 0 }
    }

    /// There are so many moves in the canopy now.
    pub fn extend(&mut self, moves: usize) {
        self.pending.resize(moves, Delta::default());
    }

    fn add(&mut self, (top, edge): (u32, u16), base: u32, visits: u32, sum: u32, in_flight: i32) {
        let delta = &mut self.pending[base as usize + usize::from(edge)];
        delta.visits += visits;
        delta.sum += sum;
        delta.in_flight += in_flight;
        self.visits += u64::from(visits);
        if !delta.dirty {
            delta.dirty = true;
            self.dirty.push((top, edge));
        }
    }
}

/// The neighbours of a rank among those alive: the one above it and those below.
pub(super) fn neighbours(me: RankId, alive: &[RankId], fan: usize) -> Vec<Neighbour> {
    let Some(i) = alive.iter().position(|&rank| rank == me) else { return Vec::new() };
    let above = (i > 0).then(|| (i - 1) / fan);
    let below = (i * fan + 1..=i * fan + fan).filter(|&j| j < alive.len());
    above.into_iter().chain(below).map(|j| Neighbour::new(alive[j])).collect()
}

impl Canopy {
    /// Something was done to a move of the canopy, here or by somebody who told us: the others have to hear of it.
    pub(super) fn note(
        &mut self,
        top: usize,
        edge: usize,
        visits: u32,
        sum: u64,
        in_flight: i32,
        from: Option<RankId>,
    ) {
        let (base, at) = (self.tops[top].base, (top as u32, edge as u16));
        for neighbour in &mut self.neighbours {
            if Some(neighbour.to) != from {
                neighbour.add(at, base, visits, sum as u32, in_flight);
            }
        }
    }

    /// Tells the neighbours what they lag behind by, if it is enough; returns when to look again.
    pub(super) fn synchronise(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        let enough = (self.gang.lag * self.total as f64 / self.alive.len() as f64) as u64;
        let each = now.saturating_sub(self.begun) / self.account.home.max(1);
        let spacing = (SPACING_HOME * each).clamp(SPACING, SILENCE);
        let mut next = Nanos::MAX;
        for i in 0..self.neighbours.len() {
            let neighbour = &self.neighbours[i];
            if neighbour.dirty.is_empty() {
                continue;
            }
            let waited = now.saturating_sub(neighbour.told);
            let due = neighbour.visits > enough || waited >= SILENCE;
            if waited >= spacing && due {
                self.tell(i, now, out);
            } else {
                let wait = if neighbour.visits > enough { spacing } else { SILENCE };
                next = next.min(self.neighbours[i].told.saturating_add(wait).max(now + 1));
            }
        }
        next
    }

    fn tell(&mut self, i: usize, now: Nanos, out: &mut Outbox) {
        let mut dirty = std::mem::take(&mut self.neighbours[i].dirty);
        // Moves of one node side by side: it is named once.
        dirty.sort_unstable();
        for some in dirty.chunks(ENTRIES_MAX) {
            let to = self.neighbours[i].to;
            let mut record = out.record(to, SYNC);
            let mut rest = some;
            while let Some(&(top, _)) = rest.first() {
                let here = rest.iter().take_while(|&&(other, _)| other == top).count();
                let Top { base, name, .. } = self.tops[top as usize];
                record.u64(name).u8(here as u8);
                for &(_, edge) in &rest[..here] {
                    let at = base as usize + usize::from(edge);
                    let delta = std::mem::take(&mut self.neighbours[i].pending[at]);
                    record.u16(edge).u32(delta.visits).u32(delta.sum).u16(delta.in_flight as i16 as u16);
                }
                rest = &rest[here..];
            }
        }
        dirty.clear();
        let neighbour = &mut self.neighbours[i];
        neighbour.dirty = dirty;
        (neighbour.visits, neighbour.told) = (0, now);
    }

    /// A neighbour tells what was done to the canopy on his side.
    pub(super) fn merge(&mut self, from: RankId, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        if !self.neighbours.iter().any(|neighbour| neighbour.to == from) {
            return Err(record.wrong("not from a neighbour"));
        }
        self.dismiss_phantoms();
        let mut found = std::mem::take(&mut self.found);
        self.look_up(record, &mut found)?;
        let mut record = record;
        for (top, node, edges) in found.drain(..) {
            record.u64()?;
            for _ in 0..record.u8()? {
                let (edge, visits, sum) = (usize::from(record.u16()?), record.u32()?, record.u32()?);
                let in_flight = i32::from(record.u16()? as i16);
                // Of a node that is not in this canopy: a record of growth was lost with an earlier search.
                let Some(top) = top else { continue };
                let sane = edge < edges && visits < 1 << 26 && u64::from(sum) <= 16 * u64::from(visits);
                if !sane {
                    return Err(record.wrong("not what could be"));
                }
                self.ground.tree.add_stats(node, edge, visits, sum);
                self.ground.tree.add_in_flight(node, edge, in_flight);
                self.note(top as usize, edge, visits, sum.into(), in_flight, Some(from));
                if top == 0 {
                    self.total += u64::from(visits);
                }
                out.work.merged += 1;
            }
        }
        self.found = found;
        Ok(())
    }

    /// The nodes that a record names, all at once: each is somewhere else in memory, and so nobody waits for the one before.
    fn look_up(&self, mut record: Reader, found: &mut Vec<Found>) -> Result<(), Refused> {
        while record.left() > 0 {
            let (name, entries) = (record.u64()?, record.u8()?);
            record.bytes(ENTRY_BYTES * usize::from(entries))?;
            found.push((self.by_name.get(&name).copied(), NodeId::NONE, 0));
        }
        for (top, node, _) in &mut *found {
            *node = top.map_or(NodeId::NONE, |top| self.tops[top as usize].node);
        }
        for (top, node, edges) in found {
            *edges = top.map_or(0, |_| self.ground.tree.edges(*node));
        }
        Ok(())
    }
}
