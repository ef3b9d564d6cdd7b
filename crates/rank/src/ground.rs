//! What every rank stands on: its part of the tree, the rule that chooses moves, and the walker.

use crate::sketch::Sketch;
use crate::wire::Outbox;
use crate::{RootMove, Tally, Walk};
use sortie_core::Outcome;
use sortie_core::Uct;
use sortie_core::parts::Chooser;
use sortie_core::parts::{NodeId, Tree};

/// A path longer than this is played out, not followed: its length has to fit a byte.
pub(crate) const PATH_MAX: usize = 200;

/// A way down a tree: nodes with the number of the move chosen there.
pub(crate) type Trail = Vec<(NodeId, u32)>;

pub(crate) struct Ground {
    pub uct: Uct,
    pub chooser: Chooser,
    pub tree: Tree,
    pub walk: Box<dyn Walk>,
    pub distinct: Sketch,
    pub depth: u32,
    pub playouts: u64,
    added_before: u64,
}

impl Ground {
    /// `table`: nodes are found by the key of their position.
    pub fn new(walk: Box<dyn Walk>, table: bool) -> Ground {
        let uct = walk.uct().clone();
        // Whoever chooses has others beside him: what is in flight counts, and moves are judged by their own visits,
        // because the position behind them may live elsewhere.
        let chooser = Chooser::new(&Uct { transpositions: false, in_flight: 2, threads: 1, ..uct.clone() });
        let knowledge = uct.needs_knowledge();
        Ground {
            tree: Tree::new((uct.memory as usize) << 20, knowledge, table),
            uct,
            chooser,
            walk,
            distinct: Sketch::default(),
            depth: 0,
            playouts: 0,
            added_before: 0,
        }
    }

    /// Begins to count anew.
    pub fn begin(&mut self) {
        (self.depth, self.playouts, self.distinct) = (0, 0, Sketch::default());
        self.added_before = self.tree.added();
    }

    /// The node of the walker's position, from the table or new. `None`: there is no room for another.
    pub fn node_here(&mut self, out: &mut Outbox) -> Option<NodeId> {
        let key = self.walk.key();
        if let Some(node) = self.tree.find(key) {
            return Some(node);
        }
        let node = self.walk.grow(&self.tree)?;
        self.tree.enter(key, node);
        self.distinct.add(key);
        out.work.added += 1;
        Some(node)
    }

    /// The move that a simulation follows out of a node; it is then in flight there.
    pub fn set_out(&mut self, node: NodeId, out: &mut Outbox) -> usize {
        let edge = self.chooser.descend(&self.tree, node, self.tree.arrived(node));
        self.tree.set_out(node, edge);
        out.work.steps += 1;
        edge
    }

    /// Takes back that a simulation set out along this way.
    pub fn call_off(&mut self, trail: &[(NodeId, u32)]) {
        for &(node, edge) in trail {
            self.tree.call_off(node, edge as usize);
        }
    }

    /// Forgets the tree.
    pub fn clear(&mut self) {
        self.tree.clear();
        self.walk.leave_chunk();
    }

    /// What this tree says about a node that is the root.
    pub fn tally(&self, root: Option<NodeId>, tally: &mut Tally) {
        if let Some(root) = root {
            tally.moves = (0..self.tree.edges(root))
                .map(|edge| {
                    let stats = self.tree.stats(root, edge);
                    RootMove {
                        id: self.tree.link(root, edge).move_id(),
                        visits: u64::from(stats.visits()),
                        sum: f64::from(stats.sum()),
                        proof: stats.proof(),
                    }
                })
                .collect();
            tally.proved = self.tree.node_proof(root);
        }
        tally.playouts = self.playouts;
        tally.added = self.tree.added() - self.added_before;
        tally.nodes = self.tree.nodes();
        tally.depth = self.depth;
        tally.fill = self.tree.fill();
        tally.distinct = self.distinct.clone();
    }
}

/// An outcome as a byte on the wire; 0 is none.
pub(crate) fn to_code(outcome: Option<Outcome>) -> u8 {
    outcome.map_or(0, |outcome| sortie_core::parts::code_of(outcome) as u8)
}

/// The outcome that a byte on the wire says; `Err` if it is none.
pub(crate) fn from_code(code: u8) -> Result<Option<Outcome>, ()> {
    if code > 3 { Err(()) } else { Ok(sortie_core::parts::outcome_of(code.into())) }
}
