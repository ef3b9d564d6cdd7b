//! What every algorithm must satisfy, on every schedule.

use crate::forms::tds::Tds;
use crate::gang::{Engine, GangPlayer, Plan};
use crate::member::Answer;
use crate::virtual_time::{Costs, Net};
use crate::{Form, Gang, Next, Outbox, Rank, RankId, RootMove, Tally, Vote};
use sortie_core::Rng;
use sortie_core::Uct;
use sortie_core::parts::{GameWalker, Searcher};
use sortie_core::toy::Nim;
use sortie_core::{AnyGame, Boxed};
use sortie_core::{AnyPlayer, Budget, Thought};
use sortie_core::{Outcome, Side};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn forms() -> impl Iterator<Item = Form> {
    Form::ALL.iter().map(|(name, _)| Form::named(name).expect("listed"))
}

fn uct() -> Uct {
    Uct { memory: 1, ..Uct::plain() }
}

fn costs() -> Costs {
    Costs { playout: vec![1_000.0, 5_000.0, 9_000.0], ..Costs::default() }
}

fn think(player: &mut GangPlayer, budget: Budget) -> Thought {
    player.think(&budget, &AtomicBool::new(false), &mut |_| {}).unwrap()
}

fn virtual_player(gang: &Gang, uct: &Uct, net: Net, seed: u64) -> GangPlayer {
    let game = Boxed::new(Nim { heap: 21 });
    let plan = Plan { gang: gang.clone(), uct: uct.clone(), seed };
    GangPlayer::new(&game, &plan, Engine::Virtual(net, costs())).unwrap()
}

/// Every simulation that was begun came home, or was lost with a rank or a frame.
fn assert_accounts(thought: &Thought, what: &str) {
    let gang = thought.gang.as_ref().unwrap();
    assert_eq!(gang.begun, gang.home + gang.lost, "{what}: {gang:?}");
    if gang.lost == 0 && thought.proved.is_none() {
        let visits: u64 = thought.lines.iter().map(|line| line.visits).sum();
        assert!(visits >= gang.home, "{what}: {visits} visits of {} simulations", gang.home);
    }
}

#[test]
fn lost_frames_and_dead_ranks_end_no_search_without_a_move() {
    for form in forms() {
        for seed in 0..100 {
            let mut rng = Rng::new(seed, 2);
            let gang = Gang {
                form,
                nodes: 2 + rng.below(4) as u32,
                threads: 1 + rng.below(3) as u32,
                traversers: 1 + rng.below(2) as u32,
                group: 1 + rng.below(3) as u32,
                frequency: [3.0, 1_000.0][rng.below(2)],
                ..Gang::default()
            };
            let dies = 1 + rng.below(gang.nodes as usize - 1) as u32;
            let net = Net {
                loss: [0.0, 0.05][rng.below(2)],
                crash: if rng.below(2) == 0 {
                    vec![(dies, 50_000 + rng.below(2_000_000) as u64)]
                } else {
                    Vec::new()
                },
                slow: vec![(0, 1.0 + rng.unit() * 10.0)],
                ..Net::default()
            };
            // Long playouts: whoever is not told to halt goes on until everybody has lost patience.
            let costs = Costs { playout: vec![500_000.0, 1_500_000.0], ..Costs::default() };
            let game = Boxed::new(Nim { heap: 21 });
            let plan = Plan { gang, uct: uct(), seed };
            let mut player = GangPlayer::new(&game, &plan, Engine::Virtual(net, costs)).unwrap();
            for budget in [Budget::playouts(500), Budget { seconds: Some(0.002), ..Budget::default() }] {
                let thought = think(&mut player, budget);
                assert!(thought.best.is_some(), "{form:?}, seed {seed}");
                let gang = thought.gang.unwrap();
                assert!(gang.begun >= gang.home + gang.lost, "{form:?}, seed {seed}: {gang:?}");
            }
        }
    }
}

/// Ranks are taken for gone when nothing is heard of them for a second of virtual time; these searches take ten, and
/// as much again where one rank is slower than the front.
#[test]
fn a_search_by_playouts_may_take_its_time() {
    for form in forms() {
        for (nodes, frequency) in [(1, 3.0), (3, 3.0), (3, 0.0)] {
            let costs = Costs { playout: vec![50_000_000.0], ..Costs::default() };
            let net = Net { slow: vec![(1, 2.0)], ..Net::default() };
            let gang = Gang { form, nodes, frequency, ..Gang::default() };
            let plan = Plan { gang, uct: uct(), seed: 1 };
            let game = Boxed::new(Nim { heap: 200 });
            let mut player = GangPlayer::new(&game, &plan, Engine::Virtual(net, costs)).unwrap();
            let thought = think(&mut player, Budget::playouts(u64::from(200 * nodes)));
            let gang = thought.gang.as_ref().unwrap();
            assert_eq!((gang.home, &gang.note), (u64::from(200 * nodes), &None), "{form:?}, {nodes} nodes");
        }
    }
}

#[test]
fn all_forms_find_the_winning_move_on_threads_and_in_virtual_time() {
    // Few enough that a tree without a table finds it, too.
    let game = Boxed::new(Nim { heap: 9 });
    for form in forms() {
        for threads in [1, 3] {
            for engine in [Engine::Threads, Engine::Virtual(Net::default(), costs())] {
                let gang = Gang { form, nodes: 3, threads, ..Gang::default() };
                let mut player = GangPlayer::new(&game, &Plan { gang, uct: uct(), seed: 1 }, engine).unwrap();
                for (words, best) in [(vec![], "1"), (vec!["1".to_string(), "3".into()], "1")] {
                    player.set(None, &words).unwrap();
                    let thought = think(&mut player, Budget::playouts(3_000));
                    assert_eq!(thought.best.as_deref(), Some(best), "{form:?}: {:?}", thought.lines);
                    assert_accounts(&thought, form.name());
                    assert_eq!(thought.gang.unwrap().note, None);
                }
                assert_eq!(player.log(), Vec::<String>::new());
            }
        }
    }
}

#[test]
fn proofs_end_a_search_everywhere() {
    for form in forms() {
        let gang = Gang { form, nodes: 3, ..Gang::default() };
        let uct = Uct { memory: 1, decisive: true, solver: true, ..Uct::plain() };
        let mut player = virtual_player(&gang, &uct, Net::default(), 1);
        player.set(Some("6 first"), &[]).unwrap();
        let thought = think(&mut player, Budget::playouts(100_000));
        assert_eq!(thought.best.as_deref(), Some("2"), "{form:?}");
        assert_eq!(thought.value, 1.0, "{form:?}: {thought:?}");
        assert!(thought.playouts < 100_000, "{form:?}");
    }
}

/// What is proved, of the root and of every move, is true, however the ranks met.
#[test]
fn no_form_proves_what_is_not_so() {
    for form in forms() {
        for seed in 0..60 {
            let mut rng = Rng::new(seed, 3);
            let heap = 5 + rng.below(12) as u32;
            let gang = Gang {
                form,
                nodes: 1 + rng.below(4) as u32,
                threads: 1 + rng.below(4) as u32,
                frequency: 20_000.0,
                grow_min: 4,
                ..Gang::default()
            };
            let uct = Uct { memory: 1, decisive: true, solver: true, ..Uct::plain() };
            let net = Net { latency: [10.0, 5_000.0][rng.below(2)], ..Net::default() };
            let mut player = virtual_player(&gang, &uct, net, seed);
            player.set(Some(&format!("{heap} first")), &[]).unwrap();
            let thought = think(&mut player, Budget::playouts(400));
            // Multiples of four are lost for the side to move.
            let value = |heap: u32, side: Side| {
                let winner = if heap.is_multiple_of(4) { side.other() } else { side };
                Outcome::Win(winner)
            };
            let what = format!("{form:?}, seed {seed}, {heap}: {thought:?}");
            assert!(thought.proved.is_none_or(|proved| proved == value(heap, Side::First)), "{what}");
            for line in &thought.lines {
                let left = heap - line.moves[0].parse::<u32>().unwrap();
                assert!(line.proved.is_none_or(|proved| proved == value(left, Side::Second)), "{what}");
            }
        }
    }
}

#[test]
fn one_rank_answers_alike_on_every_driver_and_again_after_a_reset() {
    let game = Boxed::new(Nim { heap: 21 });
    for form in forms() {
        let gang = Gang { form, nodes: 1, par: 1, ..Gang::default() };
        let lines = |engine| {
            let mut player =
                GangPlayer::new(&game, &Plan { gang: gang.clone(), uct: uct(), seed: 5 }, engine).unwrap();
            let first = think(&mut player, Budget::playouts(500)).lines;
            player.reset(5);
            assert_eq!(think(&mut player, Budget::playouts(500)).lines, first, "{form:?}");
            first
        };
        assert_eq!(lines(Engine::Threads), lines(Engine::Virtual(Net::default(), costs())), "{form:?}");
    }
}

/// Jobs of df-UCT go home seldom: there are fewer records for a playout than in TDS, and all values come home.
#[test]
fn jobs_that_stay_at_depth_send_fewer_records() {
    let records = |form, stay| {
        let gang = Gang { form, nodes: 8, par: 4, stay, keep: 1e6, ..Gang::default() };
        let mut player = virtual_player(&gang, &uct(), Net::default(), 1);
        let thought = think(&mut player, Budget::playouts(4_000));
        assert_accounts(&thought, form.name());
        assert_eq!(thought.playouts, 4_000, "{form:?}");
        thought.gang.unwrap().records
    };
    let tds = records(Form::Tds, 0.0);
    for form in [Form::DfUct, Form::MpMcts] {
        let (published, patient) = (records(form, 0.0), records(form, 0.01));
        assert!(
            published < 0.9 * tds && patient < 0.8 * published,
            "{form:?}: {published}, {patient}, {tds}"
        );
    }
}

/// With one rank those who have one tree are UCT with a table.
#[test]
fn tree_forms_on_one_rank_are_serial_uct() {
    let all = [Form::Tds, Form::DfUct, Form::MpMcts, Form::Treesplit];
    for (form, (seed, solver)) in
        all.into_iter().flat_map(|form| [(1, false), (2, false), (3, true)].map(|how| (form, how)))
    {
        let uct = Uct { transpositions: true, pool_means: false, decisive: solver, solver, ..uct() };
        let game = Boxed::new(Nim { heap: 40 });
        let gang = Gang { form, nodes: 1, par: 1, ..Gang::default() };
        let mut serial = game.player(&uct, seed).unwrap();
        let mut spread =
            GangPlayer::new(&game, &Plan { gang, uct: uct.clone(), seed }, Engine::Threads).unwrap();
        // The statistics of every move of every position that can be reached in three moves.
        for words in ["", "1", "2", "3", "1 1", "2 3", "3 1", "1 2 3", "3 3 3"] {
            let words: Vec<String> = words.split_whitespace().map(String::from).collect();
            serial.reset(seed);
            serial.set(None, &words).unwrap();
            spread.reset(seed);
            spread.set(None, &words).unwrap();
            let expected =
                serial.think(&Budget::playouts(2_000), &AtomicBool::new(false), &mut |_| {}).unwrap();
            let thought = think(&mut spread, Budget::playouts(2_000));
            let stats = |thought: &Thought| -> Vec<_> {
                thought
                    .lines
                    .iter()
                    .map(|l| (l.moves[0].clone(), l.visits, l.value as f32, l.proved))
                    .collect()
            };
            assert_eq!(stats(&thought), stats(&expected), "{form:?} after {words:?}");
            assert_eq!((thought.nodes, thought.depth), (expected.nodes, expected.depth));
        }
    }
}

/// With one rank root/tree is UCT, also when the tree is kept from move to move.
#[test]
fn root_tree_on_one_rank_is_serial_uct() {
    for (seed, solver) in [(1, false), (2, false), (3, true)] {
        let uct = Uct { decisive: solver, solver, ..uct() };
        let game = Boxed::new(Nim { heap: 40 });
        for form in [Form::RootTree, Form::RootLeaf, Form::Leaf] {
            let gang = Gang { form, nodes: 1, par: 1, ..Gang::default() };
            let plan = Plan { gang, uct: uct.clone(), seed };
            let mut serial = game.player(&uct, seed).unwrap();
            let mut root = GangPlayer::new(&game, &plan, Engine::Virtual(Net::default(), costs())).unwrap();
            for words in ["", "1", "1 2 3", "1 2 3 3", "2", "2 1"] {
                let words: Vec<String> = words.split_whitespace().map(String::from).collect();
                serial.set(None, &words).unwrap();
                root.set(None, &words).unwrap();
                let budget = Budget::playouts(1_000);
                let expected = serial.think(&budget, &AtomicBool::new(false), &mut |_| {}).unwrap();
                let thought = think(&mut root, budget);
                let stats = |thought: &Thought| -> Vec<_> {
                    let line = |l: &sortie_core::play::Line| {
                        (l.moves[0].clone(), l.visits, l.value as f32, l.proved)
                    };
                    thought.lines.iter().map(line).collect()
                };
                assert_eq!(stats(&thought), stats(&expected), "{form:?} after {words:?}");
                assert_eq!((thought.nodes, thought.depth), (expected.nodes, expected.depth));
            }
        }
    }
}

#[test]
fn playouts_at_a_rank_that_dies_are_lost_and_the_others_go_on() {
    for form in [Form::Leaf, Form::RootLeaf] {
        let gang = Gang { form, nodes: 3, ..Gang::default() };
        let net = Net { crash: vec![(2, 1_000_000)], ..Net::default() };
        let mut player = virtual_player(&gang, &uct(), net, 1);
        let thought = think(&mut player, Budget::playouts(2_000));
        let report = thought.gang.unwrap();
        assert!((1..=2).contains(&report.lost), "what it had at hand: {report:?}");
        assert_eq!(report.home + report.lost, 2_000);
        assert_eq!(report.note.as_deref(), Some("rank 2 is gone; the others went on"));
        let thought = think(&mut player, Budget::playouts(500));
        assert_eq!((thought.gang.clone().unwrap().lost, thought.gang.unwrap().note), (0, None));
    }
}

#[test]
fn a_majority_decides_where_it_is_asked_to() {
    let mv = |id, visits| RootMove { id, visits, sum: visits as f64 / 2.0, proof: None };
    let ballots = vec![
        vec![mv(1, 10), mv(2, 9), mv(3, 0)],
        vec![mv(1, 10), mv(2, 9), mv(3, 0)],
        vec![mv(1, 0), mv(2, 90), mv(3, 1)],
        Vec::new(),
    ];
    for (vote, won, best) in
        [(Vote::Sum, None, "2"), (Vote::Majority, None, "1"), (Vote::Majority, Some(3), "3")]
    {
        let mut tally = Tally::default();
        ballots.iter().for_each(|moves| tally.add(&Tally { moves: moves.clone(), ..Tally::default() }));
        if let Some(won) = won {
            let win = sortie_core::Outcome::Win(sortie_core::Side::First);
            tally.moves.iter_mut().filter(|mv| mv.id == won).for_each(|mv| mv.proof = Some(win));
        }
        let gang = Gang { form: Form::RootTree, vote, ..Gang::default() };
        let mut player = virtual_player(&gang, &uct(), Net::default(), 1);
        let thought = player.thought(Answer { tally, ballots: ballots.clone(), ..Answer::default() });
        assert_eq!(thought.best.as_deref(), Some(best), "{vote:?}");
    }
}

/// TDS on one rank and serial UCT with a table have the same tree, node by node, from the same seed.
#[test]
fn the_whole_tree_of_tds_is_that_of_serial_uct() {
    for (seed, solver) in [(1, false), (2, true), (3, false)] {
        let uct = Uct { transpositions: true, pool_means: false, decisive: solver, solver, ..uct() };
        let game = Arc::new(Nim { heap: 60 });
        let mut serial = Searcher::new(game.clone(), uct.clone(), seed).unwrap();
        serial.think(&Budget::playouts(3_000), &AtomicBool::new(false), &mut |_| {}).unwrap();
        let gang = Gang { form: Form::Tds, nodes: 1, par: 1, ..Gang::default() };
        let walk = Box::new(GameWalker::new(game, &uct, seed, 0));
        let mut tds = Tds::new(&gang, RankId(0), walk, None);
        let mut out = Outbox::new(1);
        tds.set(None, &[], &[RankId(0)]).unwrap();
        tds.begin(3_000, 0);
        loop {
            match tds.next(0, &mut out) {
                Next::Play(ticket) => {
                    let played = tds.play(ticket);
                    tds.played(ticket, played, 0, &mut out);
                }
                Next::Again => {}
                Next::Nothing => break,
            }
        }
        let (expected, nodes) = (serial.dump(), tds.dump());
        assert!(expected.len() > 30, "{} nodes", expected.len());
        assert_eq!(nodes, expected, "seed {seed}");
    }
}
