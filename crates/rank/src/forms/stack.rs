//! The stack that a job of df-UCT carries: for every node on its way the followed move and its best rivals, with the
//! numbers they had there, so that somebody far below can tell whether the node would still choose as it did.

use crate::wire::{Reader, Refused, Writer};
use sortie_core::Side;
use sortie_core::parts::Chooser;
use sortie_core::parts::{FULL, NodeId, Tree};

/// Moves that a level holds at most, the followed one among them.
pub(crate) const SIBLINGS_MAX: usize = 8;
/// Every move is considered.
const ALL: u16 = u16::MAX;
/// Visits and sums beyond this nobody has.
const VISITS_SANE: u32 = 1 << 27;

/// What a node knew when a job left it, and what the job has learnt since.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    side: Side,
    /// Simulations that had come to the node without this one, and those the job has done below it.
    arrived: u32,
    /// The values of `arrived` that came in after the job had left.
    since: u32,
    /// Moves that were considered then, where it was not all of them (progressive unpruning).
    considered: u16,
    /// `moves[0]` is the followed one; `moves[1..count]` the best others.
    moves: [Standing; SIBLINGS_MAX],
    count: u8,
}

/// The numbers of a move.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Standing {
    visits: u32,
    /// In flight, without the job itself.
    flying: u16,
    /// The sum of the values for the first side, in sixteenths.
    sum: u32,
    known: f32,
}

impl Level {
    /// A node that a job is about to leave along `edge`, where it is in flight already, with the `siblings` best moves.
    pub fn of(
        tree: &Tree,
        chooser: &Chooser,
        node: NodeId,
        edge: usize,
        siblings: usize,
        known: bool,
    ) -> Level {
        let arrived = tree.arrived(node).saturating_sub(1);
        let (side, edges) = (tree.side(node), tree.edges(node));
        let considered = chooser.considered(arrived, edges);
        let standing = |e: usize| {
            let (stats, link) = (tree.stats(node, e), tree.link(node, e));
            Standing {
                visits: stats.visits(),
                flying: link.in_flight().saturating_sub(u32::from(e == edge)) as u16,
                sum: stats.0 as u32,
                known: if known { tree.known(node, e) } else { 0.0 },
            }
        };
        let mut level = Level {
            side,
            arrived,
            since: 0,
            considered: if considered < edges { considered.min(usize::from(ALL - 1)) as u16 } else { ALL },
            moves: [Standing::default(); SIBLINGS_MAX],
            count: 1,
        };
        level.moves[0] = standing(edge);
        // The best others by insertion: there are few places.
        let mut values = [f32::NEG_INFINITY; SIBLINGS_MAX];
        let places = siblings.clamp(1, SIBLINGS_MAX);
        for e in (0..considered).filter(|&e| e != edge && tree.stats(node, e).proof().is_none()) {
            let new = standing(e);
            let value = level.value(chooser, &new);
            let mut at = usize::from(level.count);
            while at > 1 && values[at - 1] < value {
                at -= 1;
            }
            if at < places {
                let last = usize::from(level.count).min(places - 1);
                values.copy_within(at..last, at + 1);
                level.moves.copy_within(at..last, at + 1);
                (values[at], level.moves[at]) = (value, new);
                level.count = (last + 1) as u8;
            }
        }
        level
    }

    fn value(&self, chooser: &Chooser, of: &Standing) -> f32 {
        chooser.worth(self.arrived, self.side, of.visits, of.flying.into(), of.sum, of.known)
    }

    /// The followed move was tried so many times more.
    pub fn add(&mut self, visits: u32, sum: u32) {
        let followed = &mut self.moves[0];
        followed.visits = followed.visits.saturating_add(visits);
        followed.sum = followed.sum.saturating_add(sum);
        self.arrived = self.arrived.saturating_add(visits);
        self.since = self.since.saturating_add(visits);
    }

    /// Whether the node would now choose another move. Nobody asks before a share `stay` of its visits are new.
    pub fn turned(&self, chooser: &Chooser, stay: f64) -> bool {
        if f64::from(self.since) < stay * f64::from(self.arrived) {
            return false;
        }
        if self.considered != ALL && chooser.considered(self.arrived, usize::MAX) > self.considered.into() {
            return true;
        }
        let followed = self.value(chooser, &self.moves[0]);
        self.moves[1..usize::from(self.count)].iter().any(|other| self.value(chooser, other) > followed)
    }

    /// Whether it knows of as many simulations as another level of the same node, or more.
    pub fn as_fresh_as(&self, other: &Level) -> bool {
        self.arrived >= other.arrived
    }

    /// Another level of the same node that begins to count anew what has come in.
    pub fn renewed(&self) -> Level {
        Level { since: 0, ..*self }
    }

    /// Eleven bytes, and ten for every move; four more with knowledge.
    pub fn write(&self, record: &mut Writer, known: bool) {
        record.u8(self.count | u8::from(self.side == Side::Second) << 7);
        record.u32(self.arrived).u32(self.since).u16(self.considered);
        for m in &self.moves[..usize::from(self.count)] {
            record.u32(m.visits).u16(m.flying).u32(m.sum);
            if known {
                record.u32(m.known.to_bits());
            }
        }
    }

    /// Reads what `write` wrote, and nothing else.
    pub fn read(record: &mut Reader, known: bool) -> Result<Level, Refused> {
        let first = record.u8()?;
        let (count, side) = (first & 0x7f, if first >> 7 == 0 { Side::First } else { Side::Second });
        let (arrived, since, considered) = (record.u32()?, record.u32()?, record.u16()?);
        if count == 0 || usize::from(count) > SIBLINGS_MAX || since > arrived {
            return Err(record.wrong("no such level"));
        }
        let mut moves = [Standing::default(); SIBLINGS_MAX];
        for m in &mut moves[..usize::from(count)] {
            *m = Standing { visits: record.u32()?, flying: record.u16()?, sum: record.u32()?, known: 0.0 };
            if known {
                m.known = f32::from_bits(record.u32()?);
            }
            if m.visits > VISITS_SANE || u64::from(m.sum) > FULL * u64::from(m.visits) || !m.known.is_finite()
            {
                return Err(record.wrong("numbers that are none"));
            }
        }
        Ok(Level { side, arrived, since, considered, moves, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RankId;
    use crate::wire::{Outbox, open_frame};
    use sortie_core::Rng;
    use sortie_core::Uct;
    use sortie_core::parts::Chunk;
    use sortie_core::uct::Knowledge;

    /// A node with random statistics, and the chooser for it.
    fn node(rng: &mut Rng, uct: &Uct) -> (Tree, Chooser, NodeId) {
        let tree = Tree::new(1 << 16, true, true);
        let side = if rng.below(2) == 0 { Side::First } else { Side::Second };
        let moves = (0..12u16).map(|id| (id, f32::from(id) / 12.0));
        let node = tree.add(&mut Chunk::default(), side, 1, moves).unwrap();
        for edge in 0..12 {
            let visits = 1 + rng.below(30) as u32;
            tree.record_many(node, edge, visits, rng.below(16 * visits as usize + 1) as u32);
            (0..rng.below(3)).for_each(|_| tree.set_out(node, edge));
        }
        (tree, Chooser::new(&Uct { in_flight: 2, transpositions: false, ..uct.clone() }), node)
    }

    #[test]
    fn a_level_turns_when_its_node_does() {
        let mut rng = Rng::new(1, 0);
        let (mut turns, mut wrong) = (0, 0);
        let known = Uct { bias: 3.0, knowledge: Knowledge::Categories, ..Uct::plain() };
        for uct in [Uct::plain(), Uct { unprune_first: 2, ..known.clone() }, known] {
            for _ in 0..300 {
                let (tree, chooser, node) = node(&mut rng, &uct);
                let edge = chooser.descend(&tree, node, tree.arrived(node));
                tree.set_out(node, edge);
                // The second best is all it needs: nothing else has changed meanwhile.
                let mut level = Level::of(&tree, &chooser, node, edge, 2, true);
                assert!(!level.turned(&chooser, 0.0), "{level:?}");
                tree.call_off(node, edge);
                for _ in 0..40 {
                    let value = rng.below(17) as u32;
                    tree.record_many(node, edge, 1, value);
                    level.add(1, value);
                    assert!(!level.turned(&chooser, 1.0), "not before all of it is new");
                    // Equal values, and a move that was opened and is not the best, are told otherwise.
                    let now = chooser.descend(&tree, node, tree.arrived(node));
                    wrong += usize::from(level.turned(&chooser, 0.0) != (now != edge));
                    if level.turned(&chooser, 0.0) {
                        turns += 1;
                        break;
                    }
                }
            }
        }
        assert!(turns > 300 && wrong < turns / 20, "{turns} of 900 turned, {wrong} wrongly");
    }

    #[test]
    fn levels_hold_the_best_moves_and_travel_unchanged() {
        let mut rng = Rng::new(2, 0);
        for siblings in [1, 2, 3, 8] {
            let (tree, chooser, node) = node(&mut rng, &Uct::plain());
            tree.set_out(node, 5);
            let level = Level::of(&tree, &chooser, node, 5, siblings, true);
            let values: Vec<f32> =
                level.moves[1..siblings].iter().map(|other| level.value(&chooser, other)).collect();
            assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
            let mut outbox = Outbox::new(1);
            level.write(&mut outbox.record(RankId(0), 16), true);
            outbox.flush();
            let (_, frame) = outbox.pop().unwrap();
            let mut record = open_frame(&frame).unwrap().1.next().unwrap().unwrap();
            assert_eq!(Level::read(&mut record, true), Ok(level));
            record.end().unwrap();
        }
    }
}
