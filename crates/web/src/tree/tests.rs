use super::*;
use serde_json::json;
use sortie_core::JobSource;
use sortie_core::exact::{Asked, Effort};
use sortie_jobs::tree::JobTree;
use std::sync::atomic::AtomicBool;

const REQUEST: &str = "format = 1\ninstance = \"GAME\"\nmoves = []\nseed = 1\nmemory = 1\n";

/// A folder with a search of `game` by jobs of so many positions, and the tree that the search itself has.
fn searched(game: &str, nodes: u64, jobs: u64) -> (tempfile::TempDir, JobTree, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let request = REQUEST.replace("GAME", game);
    std::fs::write(home.path().join("prove.toml"), &request).unwrap();
    let Ok(Opened::Game(game)) = open_instance(home.path(), game) else { panic!("a game") };
    let plan = Plan { effort: Effort { nodes, ..Plan::default().effort }, jobs_max: jobs, ..Plan::default() };
    let mut worker = game.worker(1 << 20, &plan.statuses, 1);
    let mut tree = JobTree::new(game.board(None).unwrap(), None, plan);
    let no = AtomicBool::new(false);
    let mut lines = Vec::new();
    while let Some((id, job)) = tree.next() {
        let asked = Asked { stop: &no, cancel: &no };
        let answer = worker.answer(&job, asked, &mut |_| {}).unwrap().unwrap();
        lines.push(json!({ "job": job, "answer": answer }).to_string() + "\n");
        tree.done(id, answer);
    }
    (home, tree, lines)
}

#[test]
fn what_is_proved_is_what_the_search_has_proved() {
    for (game, nodes, jobs) in [
        ("tictactoe/3", 20, 400),
        ("hex/4", 5, 300),
        ("nim/9", 3, 50),
        ("hex/3", 10, 200),
        ("tictactoe/3", 5, 12),
    ] {
        let (home, search, lines) = searched(game, nodes, jobs);
        let path = home.path().join(JOBS);
        let forest = Forest::default();
        // In pieces, as a page of a search that goes on reads it.
        for part in [1, lines.len() / 3, lines.len() / 2, lines.len()] {
            std::fs::write(&path, lines[..part].concat()).unwrap();
            forest.with(home.path(), |_| ()).unwrap();
        }
        let same = |tree: &mut Tree| {
            assert_eq!(tree.len(), search.nodes(), "{game}");
            assert_eq!(tree.row(ROOT).bounds, search.bounds(), "{game}");
            let (rows, total) = tree.rows(ROOT, 0, 1000);
            assert_eq!(rows.len(), total);
            // In the same order, with the same numbers and the same values.
            let ours: Vec<_> = rows
                .iter()
                .map(|r| (r.word.clone(), r.bounds, u64::from(r.size), r.numbers.proof, r.numbers.disproof))
                .collect();
            let theirs: Vec<_> = search
                .root_moves()
                .into_iter()
                .map(|m| (m.word, m.bounds, m.size, m.proof, m.disproof))
                .collect();
            assert_eq!(ours, theirs, "{game}");
            for (row, known) in rows.iter().zip(search.root_moves()) {
                assert!((row.value - known.value).abs() < 1e-5, "{game}: {} {}", row.value, known.value);
            }
            let root = tree.row(ROOT).numbers;
            assert_eq!((root.proof, root.disproof), search.numbers(), "{game}");
            assert!(!tree.contradiction && tree.skipped == 0);
            assert!(tree.position(tree.len() as u32 - 1).is_some());
        };
        forest.with(home.path(), same).unwrap();
        Forest::default().with(home.path(), same).unwrap();
    }
}

#[test]
fn a_tree_says_why() {
    let (home, search, lines) = searched("tictactoe/3", 20, 400);
    std::fs::write(home.path().join(JOBS), lines.concat()).unwrap();
    Forest::default()
        .with(home.path(), |tree| {
            assert!(search.bounds().value().is_some(), "a small search comes to its end");
            let all: Vec<Row> = (0..tree.len() as u32).map(|id| tree.row(id)).collect();
            for says in ["leaf job", "sibling job", "solved", "by ", "all moves"] {
                assert!(all.iter().any(|row| row.why.contains(says)), "{says}");
            }
            let deep = all.iter().max_by_key(|row| row.depth).unwrap();
            assert_eq!(tree.path(deep.id).len(), deep.depth as usize);
            assert_eq!(all.iter().map(|row| row.work).sum::<u64>(), tree.work);
        })
        .unwrap();
}

#[test]
fn what_is_not_of_the_search_is_passed_over() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("prove.toml"), REQUEST.replace("GAME", "tictactoe/3")).unwrap();
    let line = |moves: &str, best: &str| {
        format!(
            "{{\"job\":{{\"moves\":[{moves}],\"kind\":\"leaf\"}},\"answer\":{{\"best\":\"{best}\",\"status\":\"b1\"}}}}\n"
        )
    };
    let text = [line("", "b2"), "torn\n".into(), line("\"a9\"", "b3"), line("\"b2\"", "b2"), line("", "z1")];
    std::fs::write(home.path().join(JOBS), text.concat()).unwrap();
    let forest = Forest::default();
    forest
        .with(home.path(), |tree| {
            assert_eq!((tree.answers, tree.skipped, tree.len()), (3, 2, 4));
            let why = |id: u32| tree.row(id).why;
            assert!(why(2).contains("not a legal move") && why(3).contains("not a legal move"));
            assert!(tree.position(2).is_none() && tree.position(1).is_some());
        })
        .unwrap();
    // A file that was replaced is read anew, and a request that cannot be opened says why.
    std::fs::write(home.path().join(JOBS), line("", "a1")).unwrap();
    assert_eq!(forest.with(home.path(), |tree| (tree.len(), tree.skipped)), Ok((2, 0)));
    std::fs::write(home.path().join("prove.toml"), REQUEST.replace("GAME", "samegame/1")).unwrap();
    assert!(forest.with(home.path(), |_| ()).unwrap_err().contains("problem for one"));
    std::fs::write(home.path().join("prove.toml"), "instance = ").unwrap();
    assert!(forest.with(home.path(), |_| ()).unwrap_err().contains("damaged"));
}
