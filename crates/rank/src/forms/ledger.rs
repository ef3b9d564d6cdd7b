//! Who saw what at the top of a tree that several ranks share.
//!
//! The tree holds the sums, because choosing reads nothing else; the ledger says what of them came from others, and what
//! of one's own the others have been told. So nothing is sent on, sent twice or counted twice. A page is for a node and
//! hangs where the node hangs, found by the numbers of edges: these stay when the tree is compacted, addresses do not.

use sortie_core::parts::{NodeId, Stats, Tree};

/// Visits of a move and the sum of their values for the first side, in sixteenths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub visits: u32,
    pub sum: u32,
}

impl Seen {
    fn less(self, other: Seen) -> Seen {
        // A tree halves statistics that grow too large: then there is nothing new for a while.
        Seen { visits: self.visits.saturating_sub(other.visits), sum: self.sum.saturating_sub(other.sum) }
    }
}

/// A page by its number; 0 is that of the root.
pub(crate) type PageId = u32;

#[derive(Default)]
pub(crate) struct Ledger {
    pages: Vec<Page>,
}

#[derive(Default, Clone)]
struct Page {
    /// `entries[edge]`.
    entries: Vec<Entry>,
    /// Visits received for all of its moves.
    received: u32,
}

#[derive(Default, Clone, Copy)]
struct Entry {
    received: Seen,
    sent: Seen,
    /// The others know of its proof, or said so.
    proof_known: bool,
    /// The page of the node it leads to; 0 is none.
    below: PageId,
}

impl Ledger {
    /// Nothing is known but a root with so many moves.
    pub fn clear(&mut self, edges: usize) {
        self.pages.clear();
        self.pages.push(Page { entries: vec![Entry::default(); edges], received: 0 });
    }

    fn entry(&self, page: PageId, edge: usize) -> &Entry {
        &self.pages[page as usize].entries[edge]
    }

    /// The page of the node that a move leads to, if it has one.
    pub fn below(&self, page: PageId, edge: usize) -> Option<PageId> {
        Some(self.entry(page, edge).below).filter(|&page| page != 0)
    }

    /// The same, made where there is none, for a node with so many moves.
    pub fn open_below(&mut self, page: PageId, edge: usize, edges: usize) -> PageId {
        if let Some(below) = self.below(page, edge) {
            return below;
        }
        let below = self.pages.len() as PageId;
        self.pages.push(Page { entries: vec![Entry::default(); edges], received: 0 });
        self.pages[page as usize].entries[edge].below = below;
        below
    }

    /// What of the statistics of a move this rank saw itself.
    pub fn own(&self, page: PageId, edge: usize, stats: Stats) -> Seen {
        Seen { visits: stats.visits(), sum: stats.sixteenths() }.less(self.entry(page, edge).received)
    }

    /// What was received of the visits of all moves of a node.
    pub fn received(&self, page: PageId) -> u32 {
        self.pages[page as usize].received
    }

    /// Others saw this.
    pub fn receive(&mut self, page: PageId, edge: usize, seen: Seen) {
        let page = &mut self.pages[page as usize];
        page.received += seen.visits;
        let received = &mut page.entries[edge].received;
        *received = Seen { visits: received.visits + seen.visits, sum: received.sum + seen.sum };
    }

    /// What of a move the others have not been told; they are now.
    pub fn tell(&mut self, page: PageId, edge: usize, stats: Stats) -> Seen {
        let own = self.own(page, edge, stats);
        let entry = &mut self.pages[page as usize].entries[edge];
        let news = own.less(entry.sent);
        entry.sent = own;
        news
    }

    /// Whether others have yet to learn that a move is proved; they do now.
    pub fn tell_proof(&mut self, page: PageId, edge: usize) -> bool {
        !std::mem::replace(&mut self.pages[page as usize].entries[edge].proof_known, true)
    }

    /// The game has gone on along these edges: their pages become the ledger, where there are any.
    pub fn advance(&mut self, edges: &[usize], edges_of_root: usize) {
        let page = edges.iter().try_fold(0, |page, &edge| self.below(page, edge));
        let Some(page) = page else { return self.clear(edges_of_root) };
        let old = std::mem::take(&mut self.pages);
        self.pages.push(old[page as usize].clone());
        // The pages below are copied one after the other; `next` runs behind them.
        let mut next = 0;
        while next < self.pages.len() {
            for edge in 0..self.pages[next].entries.len() {
                let below = self.pages[next].entries[edge].below;
                if below != 0 {
                    self.pages[next].entries[edge].below = self.pages.len() as PageId;
                    self.pages.push(old[below as usize].clone());
                }
            }
            next += 1;
        }
    }

    /// Gives up the pages of nodes that the tree has given up.
    pub fn prune(&mut self, tree: &Tree, root: NodeId) {
        let mut stack = vec![(0, root)];
        while let Some((page, node)) = stack.pop() {
            for edge in 0..tree.edges(node) {
                let child = tree.link(node, edge).child();
                match self.below(page, edge) {
                    Some(below) if child != NodeId::NONE => stack.push((below, child)),
                    _ => self.pages[page as usize].entries[edge].below = 0,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::parts::VISIT;

    #[test]
    fn own_and_received_are_kept_apart_and_told_once() {
        let mut ledger = Ledger::default();
        ledger.clear(2);
        let below = ledger.open_below(0, 1, 3);
        // Five own visits worth 40 sixteenths, then three of somebody else's worth 48.
        ledger.receive(below, 2, Seen { visits: 3, sum: 48 });
        let stats = Stats(8 * VISIT + 88);
        let own = Seen { visits: 5, sum: 40 };
        assert_eq!((ledger.own(below, 2, stats), ledger.received(below)), (own, 3));
        assert_eq!(ledger.tell(below, 2, stats), own);
        assert_eq!(ledger.tell(below, 2, stats), Seen::default());
        assert_eq!(ledger.tell(below, 2, Stats(9 * VISIT + 104)), Seen { visits: 1, sum: 16 });
        assert!(ledger.tell_proof(below, 2) && !ledger.tell_proof(below, 2));
        // The page moves up with its node; what was beside it is gone.
        let deeper = ledger.open_below(below, 0, 4);
        ledger.receive(deeper, 3, Seen { visits: 7, sum: 7 });
        ledger.open_below(0, 0, 5);
        ledger.advance(&[1], 3);
        assert_eq!((ledger.own(0, 2, stats), ledger.pages.len()), (own, 2));
        assert_eq!(ledger.below(0, 0).map(|page| ledger.received(page)), Some(7));
        ledger.advance(&[1], 6);
        assert_eq!((ledger.received(0), ledger.pages[0].entries.len()), (0, 6));
    }
}
