//! Several threads in one tree. A simulation of a small game takes a third of a microsecond, and a line of the cache
//! that another thread has just written comes a tenth of one later: threads that meet at the root with every simulation
//! are slower together than one alone.
//!
//! So a thread goes down to a node that is as thick as the work is worth (`THICK` visits a thread), and does several
//! simulations from there before it comes up again: what lies above is read and written once a batch. A batch is a
//! small share of what its node has seen (`STALE`), even when every thread has one under way at the same node, so that no
//! choice rests on statistics that are much older than they would be otherwise. On the way down the whole batch is in
//! flight, which sends the others elsewhere; below its node nothing is, for nobody else is likely to be there: there the
//! quick choice of a lone thread will do, and one addition a level. As long as the tree is thinner than that a
//! simulation is a batch, in flight from the root to its end.
//!
//! No simulation is lost: all statistics are added to atomically.

use super::search::{Flight, PATH_MAX, Shared, Worker};
use super::tree::{FULL, NodeId, Tree};
use crate::domain::{Game, Side};
use crate::processor::Processor;
use std::sync::atomic::Ordering::Relaxed;

/// Visits for each thread from which on a node is passed through in batches.
const THICK: u32 = 512;
/// A batch is no more than the visits of its node divided by this and the threads.
const STALE: u32 = 64;
/// The most simulations of a batch, and of all batches under way: in-flight counts hold twice as many.
const BATCH_MAX: u32 = 32;
const UNDER_WAY_MAX: u32 = 1 << 14;

impl<G: Game> Worker<G> {
    /// Does one batch of at most `most` simulations, one or more; says how many.
    #[inline(always)]
    pub(super) fn batch(
        &mut self,
        shared: &Shared<G>,
        flight: &mut Flight<G>,
        most: u64,
        processor: Processor,
    ) -> u64 {
        let (tree, uct) = (shared.tree, shared.uct);
        let flying = self.flies(shared);
        let (node, arrived) = self.go_in(shared, flight, processor);
        let many = if flight.path.is_empty() && arrived < THICK * uct.threads {
            1
        } else {
            let most = BATCH_MAX.min(UNDER_WAY_MAX / uct.threads).min(most as u32);
            (arrived / (STALE * uct.threads)).clamp(1, most)
        };
        if many == 1 {
            flight.path.iter().for_each(|&(node, edge)| set_out(tree, node, edge, 1, flying));
            self.select(shared, flight, node, arrived, flying, processor);
            self.finish(shared, flight, 0, flying);
            return 1;
        }
        let top = flight.path.len();
        flight.path.iter().for_each(|&(node, edge)| set_out(tree, node, edge, many as i32, flying));
        let mut gate = self.gate.take().unwrap_or_else(|| flight.state.clone());
        gate.clone_from(&flight.state);
        let mut values = [0; BATCH_MAX as usize];
        let mut done = 0;
        loop {
            self.select(shared, flight, node, arrived + done, false, processor);
            values[done as usize] = self.finish(shared, flight, top, false);
            done += 1;
            flight.path.truncate(top);
            let over = shared.stop.load(Relaxed) || shared.done.load(Relaxed) || shared.full.load(Relaxed);
            if done == many || over || (uct.solver && tree.node_proof(node).is_some()) {
                break;
            }
            flight.state.clone_from(&gate);
        }
        self.gate = Some(gate);
        bring_up(tree, &flight.path, &mut values[..done as usize], uct.solver);
        flight.path.iter().for_each(|&(node, edge)| set_out(tree, node, edge, -(many as i32), flying));
        done.into()
    }

    /// Goes down to the last node that is thick, and that no thread need leave for what is known of its moves. Gives it
    /// and how many came there.
    #[inline(always)]
    fn go_in(&mut self, shared: &Shared<G>, flight: &mut Flight<G>, processor: Processor) -> (NodeId, u32) {
        let (tree, game, uct) = (shared.tree, shared.game, shared.uct);
        flight.begin(shared.root);
        let (mut node, mut arrived) = (tree.root, tree.arrived(tree.root));
        while arrived >= THICK * uct.threads && flight.path.len() < PATH_MAX / 2 {
            let edge = shared.chooser.descend_on(tree, node, arrived, self.flies(shared), processor);
            let (stats, link) = (tree.stats(node, edge), tree.link(node, edge));
            let child = link.child();
            let thin = stats.visits() < THICK * uct.threads || stats.proof().is_some();
            if thin || child == NodeId::NONE || flight.path.iter().any(|&(n, _)| n == child) {
                break;
            }
            tree.prefetch(child);
            let mv = game.move_of(&flight.state, link.move_id());
            game.play(&mut flight.state, mv);
            flight.path.push((node, edge as u32));
            node = child;
            arrived =
                if uct.transpositions { tree.arrived(child) } else { stats.visits() + link.in_flight() };
        }
        (node, arrived)
    }
}

/// So many simulations set out along an edge, where that counts.
fn set_out(tree: &Tree, node: NodeId, edge: u32, many: i32, flying: bool) {
    if flying {
        tree.set_out_many(node, edge as usize, many);
    }
}

/// Brings the values of a batch up the path to its node: `back_up` for all of them at once.
fn bring_up(tree: &Tree, path: &[(NodeId, u32)], values: &mut [u64], solver: bool) {
    for &(node, edge) in path.iter().rev() {
        let sum = values.iter().sum::<u64>();
        tree.record_many(node, edge as usize, values.len() as u32, sum as u32);
        if solver && tree.has_draw(node) {
            values.iter_mut().for_each(|value| *value = at_least_a_draw(tree.side(node), *value));
        }
    }
}

/// Whoever has a sure draw need not take less: what lies above sees at least that.
pub fn at_least_a_draw(side: Side, value: u64) -> u64 {
    match side {
        Side::First => value.max(FULL / 2),
        Side::Second => value.min(FULL / 2),
    }
}
