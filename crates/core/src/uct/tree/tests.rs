use super::*;

fn moves(n: u16) -> impl ExactSizeIterator<Item = (u16, f32)> {
    (0..n).map(|i| (i, f32::from(i)))
}

/// A tree of `levels` levels of three moves each, edge i of every node with `10 - 3 i` visits.
fn grow(tree: &mut Tree, chunk: &mut Chunk, levels: u32) -> NodeId {
    let node = tree.add(chunk, Side::First, u64::from(levels), moves(3)).expect("room");
    if levels > 1 {
        for edge in 0..3 {
            let child = grow(tree, chunk, levels - 1);
            assert_eq!(tree.connect(node, edge, child), child);
            for _ in 0..10 - 3 * edge {
                tree.record(node, edge, FULL / 2, false);
            }
        }
    }
    node
}

fn count(tree: &Tree, node: NodeId) -> u64 {
    let children = (0..tree.edges(node)).map(|edge| tree.link(node, edge).child());
    1 + children.filter(|&c| c != NodeId::NONE).map(|c| count(tree, c)).sum::<u64>()
}

#[test]
fn an_edge_counts_proves_and_links() {
    let tree = Tree::new(1 << 20, true, false);
    let mut chunk = Chunk::default();
    let node = tree.add(&mut chunk, Side::Second, 0, moves(5)).unwrap();
    assert_eq!((tree.edges(node), tree.side(node)), (5, Side::Second));
    assert_eq!(tree.words[node.0 as usize].as_ptr() as usize % 64, 0, "nodes begin where cache lines do");
    assert!((0..5).all(|edge| tree.known(node, edge) == edge as f32));
    tree.set_out(node, 3);
    tree.set_out(node, 3);
    tree.record(node, 3, FULL, true);
    tree.record(node, 3, FULL / 2, false);
    tree.prove(node, 3, Outcome::Draw);
    let (stats, link) = (tree.stats(node, 3), tree.link(node, 3));
    assert_eq!((stats.visits(), stats.mean()), (2, 0.75));
    assert_eq!((link.in_flight(), stats.proof(), link.move_id()), (1, Some(Outcome::Draw), 3));
    let other = tree.add(&mut chunk, Side::First, 0, moves(1)).unwrap();
    assert_eq!(tree.connect(node, 3, other), other);
    assert_eq!(tree.connect(node, 3, node), other, "the first child stays");
    tree.prove_node(other, Outcome::Win(Side::Second));
    assert_eq!(tree.node_proof(other), Some(Outcome::Win(Side::Second)));
    assert_eq!(tree.edges(other), 1);
}

#[test]
fn statistics_are_halved_before_they_overflow() {
    for alone in [true, false] {
        let mut tree = Tree::new(1 << 20, false, true);
        tree.alone = alone;
        let node = tree.add(&mut Chunk::default(), Side::First, 0, moves(2)).unwrap();
        // Just below the bound, all won, and proved.
        let full = u64::from(VISITS_MAX - 1) * (VISIT | FULL);
        tree.stats_at(node, 0).store(full, Relaxed);
        tree.words[node.0 as usize + 1].store(full, Relaxed);
        tree.prove(node, 0, Outcome::Draw);
        tree.record(node, 0, FULL, false);
        assert_eq!((tree.stats(node, 0).visits(), tree.stats(node, 0).mean()), (VISITS_MAX, 1.0));
        tree.record(node, 0, FULL, false);
        for stats in [tree.stats(node, 0), tree.node_stats(node)] {
            assert_eq!((stats.visits(), stats.mean()), (VISITS_MAX.div_ceil(2), 1.0), "{stats:x?}");
        }
        assert_eq!(tree.stats(node, 0).proof(), Some(Outcome::Draw), "proofs stay");
        assert_eq!((tree.stats(node, 1).visits(), tree.edges(node)), (0, 2));
    }
}

#[test]
fn keeping_a_subtree_moves_it_whole() {
    for transpositions in [false, true] {
        let mut tree = Tree::new(1 << 22, true, transpositions);
        let mut chunk = Chunk::default();
        tree.root = grow(&mut tree, &mut chunk, 8);
        assert_eq!(tree.nodes(), (3u64.pow(8) - 1) / 2);
        let child = tree.link(tree.root, 1).child();
        tree.keep(child, 0);
        assert_eq!((tree.nodes(), count(&tree, tree.root)), (1093, 1093));
        let stats = tree.stats(tree.root, 1);
        assert_eq!((stats.visits(), stats.mean()), (7, 0.5));
        if transpositions {
            assert!(tree.find(7).is_some(), "the table knows the new addresses");
        }
        // And once more, from the packed part and from new chunks.
        let mut chunk = Chunk::default();
        let extra = tree.add(&mut chunk, Side::Second, 99, moves(2)).unwrap();
        let mut leaf = tree.root;
        while tree.link(leaf, 2).child() != NodeId::NONE {
            leaf = tree.link(leaf, 2).child();
        }
        tree.connect(leaf, 2, extra);
        let child = tree.link(tree.root, 2).child();
        tree.keep(child, 0);
        assert_eq!((tree.nodes(), count(&tree, tree.root)), (365, 365));
    }
}

#[test]
fn recycling_frees_half_and_keeps_what_was_visited() {
    let mut tree = Tree::new(4 * CHUNK * 8, false, false);
    let mut chunk = Chunk::default();
    tree.root = tree.add(&mut chunk, Side::First, 0, moves(500)).unwrap();
    let mut edge = 0;
    // Later edges are visited more often.
    while let Some(child) = tree.add(&mut chunk, Side::Second, 0, moves(40)) {
        tree.connect(tree.root, edge, child);
        (0..=edge).for_each(|_| tree.record(tree.root, edge, 0, false));
        edge += 1;
    }
    assert!(edge > 50, "{edge} nodes fit");
    let least = tree.recycle();
    let kept = |e: usize| tree.link(tree.root, e).child() != NodeId::NONE;
    assert!(kept(edge - 1) && !kept(0), "the least visited go");
    assert!((0..edge).all(|e| kept(e) == (e as u32 + 1 >= least)));
    assert_eq!(tree.stats(tree.root, 0).visits(), 1, "their statistics stay");
    assert!(tree.fill() <= 0.75 && tree.nodes() as usize >= edge / 4);
    assert!(tree.add(&mut Chunk::default(), Side::First, 0, moves(20)).is_some());
}
