//! MP-MCTS (Yang, Aasawat and Yoshizoe 2021): df-UCT with a memory in the nodes.
//!
//! In df-UCT the stack travels with its job, and a job knows of the nodes above it what they knew when it passed them, and
//! what it has found itself. In MP-MCTS the node where a job comes to a rank keeps the stack. Whoever comes brings news
//! of the nodes above, whoever finds a value there adds it, and all who are at the node or below it judge by the same
//! numbers: a job learns from the others that the move above is refuted, and goes back up sooner. The trees become
//! deeper and narrower, nearly those of a single searcher.
//!
//! What differs from the paper: a history lasts as long as a job is at its node or below, which bounds the memory and
//! loses little, since the next job brings a fresher one; level by level the fresher of two stacks is kept; a node
//! that is reached by two ways keeps the history of the last. The rest is `df`.

use crate::forms::stack::Level;
use sortie_core::parts::NodeId;
use std::collections::HashMap;

/// The stacks that nodes of a rank keep.
#[derive(Default)]
pub(crate) struct Histories(HashMap<u32, History>);

struct History {
    /// The moves that lead to the node on the way that is told of.
    path: Vec<u16>,
    /// `levels[i]` is the node after `i` moves.
    levels: Vec<Level>,
    /// Jobs at the node or below.
    jobs: u32,
}

impl Histories {
    /// A job has come to a node along this path with this stack. It leaves with what is known here.
    pub fn enter(&mut self, node: NodeId, path: &[u16], levels: &mut [Level]) {
        let history =
            self.0.entry(node.0).or_insert_with(|| History { path: Vec::new(), levels: Vec::new(), jobs: 0 });
        history.jobs += 1;
        if history.path == path {
            for (ours, theirs) in history.levels.iter_mut().zip(&mut *levels) {
                if !ours.as_fresh_as(theirs) {
                    *ours = *theirs;
                }
                *theirs = ours.renewed();
            }
        } else {
            path.clone_into(&mut history.path);
            levels.clone_into(&mut history.levels);
        }
    }

    /// A job that came to the node along this path has found values below it; it learns what others have.
    pub fn add(&mut self, node: NodeId, path: &[u16], visits: u32, sum: u32, levels: &mut [Level]) {
        levels.iter_mut().for_each(|level| level.add(visits, sum));
        if let Some(history) = self.0.get_mut(&node.0).filter(|history| history.path == path) {
            history.levels.iter_mut().for_each(|level| level.add(visits, sum));
            levels.copy_from_slice(&history.levels);
        }
    }

    /// A job goes back up from the node.
    pub fn leave(&mut self, node: NodeId) {
        if let Some(history) = self.0.get_mut(&node.0) {
            history.jobs -= 1;
            if history.jobs == 0 {
                self.0.remove(&node.0);
            }
        }
    }

    /// Nobody is anywhere any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
