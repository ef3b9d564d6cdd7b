//! How the canopy grows, and how it is kept from move to move.

use super::sync::neighbours;
use super::{Canopy, Flight, GROW, HANDOVER, Top, name_below};
use crate::ground::{from_code, to_code};
use crate::{Outbox, RankId, Reader, Refused};
use sortie_core::parts::NodeId;

/// The name of the start of a game.
const START_NAME: u64 = 0x5072_7469_6563_616e;
/// Bytes of a subtree that are handed over; what is beyond, its least visited parts, is learnt again.
const HANDOVER_MAX: usize = 24 << 10;
/// The share of the arena beyond which the tree is thinned out before a search.
const FULL_AT: f64 = 0.6;

impl Canopy {
    /// A simulation has come back through a subtree of ours: if that has more than its share of all, its root becomes
    /// part of the canopy.
    pub(super) fn consider_growth(&mut self, flight: &Flight, out: &mut Outbox) {
        let (Some(gate), true) = (flight.gate, self.alive.len() > 1) else { return };
        // The trail begins here, or further up where the simulation itself began here; its node after the gate:
        let at = gate - (flight.edges.len() - flight.trail.len());
        let Some(&(node, _)) = flight.trail.get(at) else { return };
        if self.ground.tree.flagged(node) {
            return;
        }
        let visits: u64 = (0..self.ground.tree.edges(node))
            .map(|edge| u64::from(self.ground.tree.stats(node, edge).visits()))
            .sum();
        let share = self.total / (u64::from(self.gang.pieces) * self.alive.len() as u64);
        if visits >= share.max(u64::from(self.gang.grow_min)) {
            self.grow(node, &flight.edges[..gate], &flight.moves[..gate], out);
        }
    }

    /// Makes the position at the end of an edge, where the walker stands, part of the canopy from its first node on.
    pub(super) fn sprout(
        &mut self,
        node: NodeId,
        edge: usize,
        flight: &Flight,
        out: &mut Outbox,
    ) -> Option<NodeId> {
        let child = self.below(node, edge, out)?;
        if self.add_top(child, edge as u16, &flight.moves).is_some() {
            for neighbour in &self.neighbours {
                out.record(neighbour.to, GROW).path(&flight.edges);
            }
        }
        Some(child)
    }

    /// Makes the root of a subtree of ours part of the canopy, tells everybody, and hands over what hangs below it.
    fn grow(&mut self, node: NodeId, path: &[u16], moves: &[u16], out: &mut Outbox) {
        let Some(&last) = path.last() else { return };
        let Some(top) = self.add_top(node, last, moves) else { return };
        let tree = &self.ground.tree;
        let told: Vec<usize> = (0..tree.edges(node))
            .filter(|&edge| tree.stats(node, edge).0 != 0 || tree.link(node, edge).in_flight() > 0)
            .collect();
        for i in 0..self.neighbours.len() {
            let mut record = out.record(self.neighbours[i].to, GROW);
            record.path(path);
            for &edge in &told {
                let (stats, link) = (self.ground.tree.stats(node, edge), self.ground.tree.link(node, edge));
                record.u16(edge as u16).u32(stats.visits()).u32(stats.0 as u32);
                record.u16(link.in_flight() as u16).u8(to_code(stats.proof()));
            }
        }
        for &edge in &told {
            let link = self.ground.tree.link(node, edge);
            let (child, owner) = (link.child(), self.owner(name_below(self.tops[top].name, link.move_id())));
            if child == NodeId::NONE || owner == self.me {
                continue;
            }
            let mut bytes = Vec::new();
            self.pack(child, HANDOVER_MAX, &mut bytes);
            if !bytes.is_empty() {
                let mut way = path.to_vec();
                way.push(edge as u16);
                out.record(owner, HANDOVER).path(&way).bytes(&bytes);
            }
        }
    }

    /// A subtree as bytes, no more than so many: for every node the number of its tried moves, and for each of them edge,
    /// visits, sum, proof and whether its child follows.
    fn pack(&self, node: NodeId, room: usize, bytes: &mut Vec<u8>) {
        let tree = &self.ground.tree;
        let mut tried: Vec<usize> =
            (0..tree.edges(node)).filter(|&edge| tree.stats(node, edge).0 != 0).collect();
        tried.sort_by_key(|&edge| std::cmp::Reverse(tree.stats(node, edge).visits()));
        tried.truncate(255);
        if tried.is_empty() || bytes.len() + 1 + 12 * tried.len() > room {
            return;
        }
        bytes.push(tried.len() as u8);
        for edge in tried {
            let stats = tree.stats(node, edge);
            bytes.extend_from_slice(&(edge as u16).to_le_bytes());
            bytes.extend_from_slice(&stats.visits().to_le_bytes());
            bytes.extend_from_slice(&(stats.0 as u32).to_le_bytes());
            bytes.push(to_code(stats.proof()));
            let flag = bytes.len();
            bytes.push(0);
            let child = tree.link(node, edge).child();
            if child != NodeId::NONE && stats.proof().is_none() {
                let before = bytes.len();
                self.pack(child, room, bytes);
                bytes[flag] = (bytes.len() > before).into();
            }
        }
    }

    /// Another rank hands over a subtree that is ours now.
    pub(super) fn take_over(&mut self, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        let mut record = record;
        let (mut path, mut moves) = (Vec::new(), Vec::new());
        record.path(&mut path)?;
        if let Some((_, node)) = self.locate(&path, &mut moves, &record, out)? {
            self.unpack(node, path.len(), &mut record, &mut moves, out)?;
        }
        Ok(())
    }

    fn unpack(
        &mut self,
        node: NodeId,
        depth: usize,
        record: &mut Reader,
        moves: &mut Vec<u16>,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        for _ in 0..record.u8()? {
            let (edge, visits, sum) = (usize::from(record.u16()?), record.u32()?, record.u32()?);
            let proof = from_code(record.u8()?).map_err(|()| record.wrong("no such outcome"))?;
            let follows = record.u8()? == 1;
            let sane = edge < self.ground.tree.edges(node)
                && visits < 1 << 26
                && u64::from(sum) <= 16 * u64::from(visits)
                && depth < crate::ground::PATH_MAX;
            if !sane {
                return Err(record.wrong("not what could be"));
            }
            self.ground.tree.add_stats(node, edge, visits, sum);
            if let Some(outcome) = proof {
                self.ground.tree.prove(node, edge, outcome);
                if outcome == sortie_core::Outcome::Draw {
                    self.ground.tree.note_draw(node);
                }
            }
            if !follows {
                continue;
            }
            let id = self.ground.tree.link(node, edge).move_id();
            // The walker goes on from where it stands, and comes back by way of the moves.
            moves.push(id);
            if self.ground.walk.step(id).is_some() {
                return Err(record.wrong("the game is over there"));
            }
            out.work.replayed += 1;
            match self.below(node, edge, out) {
                Some(child) => self.unpack(child, depth + 1, record, moves, out)?,
                None => return Ok(()),
            }
            moves.pop();
            self.ground.walk.retrace(moves);
        }
        Ok(())
    }

    /// The owner of a subtree has made its root part of the canopy.
    pub(super) fn learn_growth(
        &mut self,
        from: RankId,
        record: Reader,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        let whole = record;
        let mut record = record;
        let (mut path, mut moves) = (Vec::new(), Vec::new());
        record.path(&mut path)?;
        let Some((parent, node)) = self.locate(&path, &mut moves, &record, out)? else { return Ok(()) };
        if !self.neighbours.iter().any(|n| n.to == from) || !self.ground.tree.flagged(parent) {
            return Err(record.wrong("it does not hang on this canopy"));
        }
        let last = path.last().copied().unwrap_or_default();
        if self.add_top(node, last, &moves).is_none() {
            return Ok(());
        }
        while record.left() > 0 {
            let (edge, visits, sum) = (usize::from(record.u16()?), record.u32()?, record.u32()?);
            let (in_flight, code) = (record.u16()?, record.u8()?);
            let proof = from_code(code).map_err(|()| record.wrong("no such outcome"))?;
            let tree = &self.ground.tree;
            if edge >= tree.edges(node) || visits >= 1 << 26 || u64::from(sum) > 16 * u64::from(visits) {
                return Err(record.wrong("not what could be"));
            }
            tree.add_stats(node, edge, visits, sum);
            tree.add_in_flight(node, edge, in_flight.into());
            if let Some(outcome) = proof {
                tree.prove(node, edge, outcome);
                if outcome == sortie_core::Outcome::Draw {
                    tree.note_draw(node);
                }
            }
        }
        for i in 0..self.neighbours.len() {
            if self.neighbours[i].to != from {
                out.record(self.neighbours[i].to, GROW).bytes(whole.rest());
            }
        }
        Ok(())
    }

    /// Makes the node that these moves lead to, the last of them by this edge, part of the canopy; `None` if it is
    /// already. What this rank had learnt of it on its own, as the filler of somebody's way, is nothing.
    fn add_top(&mut self, node: NodeId, edge: u16, moves: &[u16]) -> Option<usize> {
        let (&last, above) = moves.split_last()?;
        let above = above.iter().fold(self.tops.first()?.name, |name, &id| name_below(name, id));
        let parent = *self.by_name.get(&above)?;
        let name = name_below(above, last);
        if self.ground.tree.flagged(node) || self.by_name.contains_key(&name) {
            return None;
        }
        Some(self.push_top(node, name, Some((parent, edge))))
    }

    fn push_top(&mut self, node: NodeId, name: u64, parent: Option<(u32, u16)>) -> usize {
        let index = self.tops.len();
        let base = self.tops.last().map_or(0, |last| last.base + self.ground.tree.edges(last.node) as u32);
        self.ground.tree.flag(node, index as u32);
        self.tops.push(Top { node, name, parent, base });
        self.by_name.insert(name, index as u32);
        let moves = base as usize + self.ground.tree.edges(node);
        self.neighbours.iter_mut().for_each(|neighbour| neighbour.extend(moves));
        index
    }

    /// The node that the game has come to, if the tree has it and it is part of the canopy: others have it too, then.
    pub(super) fn follow(&self, moves: &[u16]) -> Option<NodeId> {
        let mut node = self.tops.first()?.node;
        for &id in moves {
            let tree = &self.ground.tree;
            let edge = (0..tree.edges(node)).find(|&edge| tree.link(node, edge).move_id() == id)?;
            node = tree.link(node, edge).child();
            if node == NodeId::NONE || (!tree.flagged(node) && self.alive.len() > 1) {
                return None;
            }
        }
        Some(node)
    }

    /// Begins a search from `root`, or from an empty tree. Every rank does this alike, so that they agree on the canopy.
    pub(super) fn reroot(&mut self, root: Option<NodeId>) {
        self.tops.clear();
        self.by_name.clear();
        self.phantoms.clear();
        self.neighbours = neighbours(self.me, &self.alive, self.gang.fan as usize);
        // As deep as makes a subtree for every rank, if a dozen moves of a node are worth anything. No deeper: of a node with
        // few visits replicas do not hear in time that others are trying its moves, too; its owner knows.
        self.depth = (self.alive.len() as f64).log(12.0).ceil() as usize;
        let root = match root {
            Some(root) => {
                self.ground.tree.keep(root, 0);
                self.ground.walk.leave_chunk();
                Some(self.ground.tree.root)
            }
            None => {
                self.ground.clear();
                self.ground.walk.to_root();
                match self.ground.walk.root_outcome() {
                    None => self.ground.walk.grow(&self.ground.tree),
                    Some(_) => None,
                }
            }
        };
        let Some(root) = root else { return };
        self.ground.tree.root = root;
        self.restore(root, self.root_name(), None);
        if self.ground.tree.fill() > FULL_AT {
            self.thin_out();
        }
    }

    /// By the moves that were played, so that names, and with them owners, stay when the game goes on.
    fn root_name(&self) -> u64 {
        self.played.iter().fold(START_NAME, |name, &id| name_below(name, id))
    }

    /// Numbers the nodes of the canopy again, from the root on, and drops what is in flight in them and what hangs on them
    /// and belongs to others.
    fn restore(&mut self, node: NodeId, name: u64, parent: Option<(u32, u16)>) {
        let index = self.push_top(node, name, parent) as u32;
        for edge in 0..self.ground.tree.edges(node) {
            self.ground.tree.set_in_flight(node, edge, 0);
            let link = self.ground.tree.link(node, edge);
            let (child, below) = (link.child(), name_below(name, link.move_id()));
            if child == NodeId::NONE {
                continue;
            }
            if self.ground.tree.flagged(child) {
                self.restore(child, below, Some((index, edge as u16)));
            } else if self.owner(below) != self.me {
                self.ground.tree.cut(node, edge);
            }
        }
    }

    /// Makes room: the least visited nodes go. Those of the canopy are the most visited, and stay.
    fn thin_out(&mut self) {
        self.ground.tree.recycle();
        self.ground.walk.leave_chunk();
        let root = self.ground.tree.root;
        self.tops.clear();
        self.by_name.clear();
        self.neighbours = neighbours(self.me, &self.alive, self.gang.fan as usize);
        self.restore(root, self.root_name(), None);
    }

    /// Before anything is known of the others, all would begin with the same move. So a rank imagines those before it to
    /// have begun, and forgets about it as soon as it hears from somebody.
    pub(super) fn imagine_others(&mut self, root: NodeId) {
        let Some(i) = self.alive.iter().position(|&rank| rank == self.me) else { return };
        let others = (self.alive.len() as f64 * self.players()) as u64;
        if self.total >= 4 * others {
            return;
        }
        for _ in 0..i {
            let tree = &self.ground.tree;
            let edge = self.ground.chooser.descend(tree, root, tree.arrived(root));
            tree.add_in_flight(root, edge, 1);
            self.phantoms.push(edge);
        }
    }

    pub(super) fn dismiss_phantoms(&mut self) {
        if let Some(root) = self.tops.first() {
            for edge in self.phantoms.drain(..) {
                self.ground.tree.add_in_flight(root.node, edge, -1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, Gang, Rank};
    use sortie_core::Uct;
    use sortie_core::parts::GameWalker;
    use sortie_core::toy::Nim;
    use std::sync::Arc;

    /// Otherwise all but one in so many subtrees would be thrown away with every move of the game.
    #[test]
    fn subtrees_keep_their_owners_when_the_game_goes_on() {
        let gang = Gang { form: Form::Canopy, nodes: 7, ..Gang::default() };
        let uct = Uct { memory: 1, ..Uct::plain() };
        let walk = Box::new(GameWalker::new(Arc::new(Nim { heap: 40 }), &uct, 1, 0));
        let mut canopy = Canopy::new(&gang, RankId(0), walk);
        let alive: Vec<RankId> = (0..7).map(RankId).collect();
        let below = |canopy: &Canopy, moves: &[u16]| {
            moves.iter().fold(canopy.tops[0].name, |name, &id| name_below(name, id))
        };
        canopy.set(None, &[], &alive).unwrap();
        let ids: Vec<u16> =
            ["1", "3", "2", "2"].iter().map(|word| canopy.ground.walk.id(word).unwrap()).collect();
        let (name, other) = (below(&canopy, &ids), below(&canopy, &ids[2..]));
        canopy.set(None, &["1".into(), "3".into()], &alive).unwrap();
        assert_eq!(below(&canopy, &ids[2..]), name, "the same position of the game");
        assert_ne!(below(&canopy, &ids[2..]), other, "and not that of another");
    }
}
