//! The job tree on Nim, whose values everybody knows, and on trees small enough to do by hand.

use super::*;
use sortie_core::Rng;
use sortie_core::Side;
use sortie_core::exact::*;
use sortie_core::toy::Nim;
use sortie_core::{AnyGame, Boxed};
use sortie_core::{JobId, JobSource};
use std::sync::atomic::AtomicBool;

fn nim(heap: u32) -> Boxed<Nim> {
    Boxed::new(Nim { heap })
}

fn tree(heap: u32, plan: Plan) -> JobTree {
    JobTree::new(nim(heap).board(None).unwrap(), None, plan)
}

fn plan(select: Select, policy: Policy) -> Plan {
    Plan { select, policy, effort: Effort { nodes: 3, playouts: 0 }, jobs_max: 5000, ..Plan::default() }
}

fn plans() -> impl Iterator<Item = Plan> {
    Select::ALL.into_iter().flat_map(|(_, select)| Policy::ALL.map(|(_, policy)| plan(select, policy)))
}

/// An answer without a claim: the first move that is not excluded.
fn guess(job: &Job, status: Status) -> Answer {
    let heap: u32 = 40 - job.moves.iter().map(|word| word.parse::<u32>().unwrap()).sum::<u32>();
    let mut moves = (1..=heap.min(3)).map(|n| n.to_string());
    let best = moves.find(|word| !job.exclude.contains(word));
    Answer { best, status, value: None, claim: None, after: Vec::new(), nodes: 1, seconds: 0.0 }
}

/// Everything that selection looks at, node by node.
fn guesses(tree: &JobTree) -> Vec<String> {
    let nodes = tree.tree_for_tests().nodes.iter();
    nodes.map(|n| format!("{:?} {} {} {}", n.numbers, n.blocked, n.virtual_visits, n.virtual_sum)).collect()
}

#[test]
fn what_is_reserved_is_taken_back_exactly() {
    for plan in plans() {
        let mut tree = tree(40, plan.clone());
        let mut rng = Rng::new(1, 0);
        for _ in 0..30 {
            let Some((id, job)) = tree.next() else { break };
            let status = Status::ALL[1 + rng.below(11)];
            assert!(tree.done(id, guess(&job, status)));
            // Jobs that were made beside it and not handed out yet go too.
            let rest: Vec<JobId> = std::iter::from_fn(|| tree.next().map(|(id, _)| id)).take(1).collect();
            rest.into_iter().for_each(|id| tree.lost(id));
            tree.drop_all_for_tests();
            let before = guesses(&tree);
            let out: Vec<JobId> = std::iter::from_fn(|| tree.next().map(|(id, _)| id)).take(7).collect();
            assert!(!out.is_empty());
            for id in out {
                tree.lost(id);
            }
            tree.drop_all_for_tests();
            assert_eq!(guesses(&tree), before, "{:?} {:?}", plan.select, plan.policy);
        }
    }
}

#[test]
fn virtual_values_never_end_a_search() {
    for policy in [Policy::VirtualWin, Policy::VirtualLoss, Policy::Greedy] {
        let mut tree = tree(40, plan(Select::Pns, policy));
        let (id, job) = tree.next().unwrap();
        let (proof, disproof) = tree.numbers();
        assert!(proof == 0 || disproof == 0, "the only leaf is reserved, so the root looks solved");
        assert!(!tree.finished() && tree.bounds() == Bounds::OPEN);
        assert!(tree.next().is_none(), "nothing else can be done");
        tree.done(id, guess(&job, Status::Stable));
        assert!(tree.numbers().0 > 0 && tree.numbers().1 > 0);
    }
}

#[test]
fn a_selection_makes_a_job_on_the_leaf_and_one_on_its_parent() {
    let mut tree = tree(40, plan(Select::Pns, Policy::VeFlag));
    let (id, job) = tree.next().unwrap();
    assert_eq!((job.kind, job.moves.len(), job.exclude.len()), (Kind::Leaf, 0, 0));
    tree.done(id, guess(&job, Status::Stable));
    let (leaf, job) = tree.next().unwrap();
    assert_eq!((job.kind, &job.moves[..], job.priority), (Kind::Leaf, &["1".to_string()][..], 1));
    let (sibling, job) = tree.next().unwrap();
    assert_eq!((job.kind, job.moves.len(), &job.exclude[..]), (Kind::Sibling, 0, &["1".to_string()][..]));
    assert!(tree.next().is_none());
    // An answer that names an excluded move is a fault, and changes nothing.
    let nodes = tree.nodes();
    let answer = Answer { best: Some("1".into()), ..guess(&job, Status::Stable) };
    assert!(tree.done(sibling, answer));
    assert_eq!((tree.nodes(), tree.tally().faulty), (nodes, 1));
    tree.lost(leaf);
    assert_eq!(tree.tally().lost, 1);
}

#[test]
fn only_a_restricted_job_that_answers_lost_closes_a_list() {
    let lost = |trust| Some(Claim { bounds: Bounds::exactly(Value::Loss), trust });
    let answer = |best: Option<&str>, claim| Answer {
        best: best.map(String::from),
        status: Status::W4,
        value: None,
        claim,
        after: Vec::new(),
        nodes: 1,
        seconds: 0.0,
    };
    let mut tree = tree(40, plan(Select::Pns, Policy::VeFlag));
    let at = |moves: &[&str], exclude: &[&str]| Job {
        start: None,
        moves: moves.iter().map(|w| w.to_string()).collect(),
        exclude: exclude.iter().map(|w| w.to_string()).collect(),
        ask: Value::Win,
        effort: Effort { nodes: 1, playouts: 0 },
        kind: Kind::Leaf,
        priority: 0,
    };
    tree.known(&at(&[], &[]), answer(Some("1"), None)).unwrap();
    // The opponent wins after 1: the only child is lost, but that is not a proof.
    let won = Some(Claim { bounds: Bounds::exactly(Value::Loss), trust: Trust::Solver });
    tree.known(&at(&["1"], &[]), answer(Some("3"), won)).unwrap();
    assert_eq!(tree.bounds(), Bounds::OPEN);
    // A word is not enough, nor an answer without a claim.
    assert_eq!(tree.known(&at(&[], &["1"]), answer(None, lost(Trust::Word))), Err(Fault::Nothing));
    tree.known(&at(&[], &["1"]), answer(Some("2"), lost(Trust::Word))).unwrap();
    assert_eq!((tree.bounds(), tree.tally().doubted), (Bounds::OPEN, 2));
    // The restricted job says lost: that closes the list and settles the child that was not excluded.
    tree.known(&at(&[], &["1"]), answer(None, lost(Trust::Solver))).unwrap();
    assert_eq!((tree.bounds(), tree.ended()), (Bounds::exactly(Value::Loss), Some(Ended::Decided)));
}

#[test]
fn what_is_known_of_single_moves_counts_if_it_is_trusted() {
    for (trust, ended) in [(Trust::Word, None), (Trust::Checked, Some(Ended::Decided))] {
        let mut tree = tree(40, plan(Select::Pns, Policy::VeFlag));
        let (id, job) = tree.next().unwrap();
        let after = |word: &str, value| After {
            word: word.into(),
            claim: Claim { bounds: Bounds::exactly(value), trust },
        };
        // One move loses, which proves nothing of the position; two do, and the third is no better.
        let known = vec![after("2", Value::Loss), after("3", Value::Loss)];
        tree.done(id, Answer { after: known, ..guess(&job, Status::Stable) });
        assert_eq!((tree.bounds(), tree.ended()), (Bounds::OPEN, None));
        let (id, job) = tree.next().unwrap();
        assert_eq!(job.moves, ["1"]);
        let known = vec![after("2", Value::Loss)];
        tree.done(id, Answer { after: known, ..guess(&job, Status::Stable) });
        assert_eq!(tree.ended(), ended);
    }
}

#[test]
fn contradictions_prove_nothing() {
    let mut tree = tree(40, plan(Select::Pns, Policy::VeFlag));
    let job = tree.next().unwrap().1;
    let claim = |value| Some(Claim { bounds: Bounds::exactly(value), trust: Trust::Solver });
    tree.known(
        &Job { exclude: vec![], ..job.clone() },
        Answer { claim: claim(Value::Win), ..guess(&job, Status::Bw) },
    )
    .unwrap();
    assert_eq!(tree.ended(), Some(Ended::Decided));
    let _ = tree.known(&job, Answer { claim: claim(Value::Loss), ..guess(&job, Status::Ww) });
    assert_eq!(tree.ended(), Some(Ended::Contradiction));
}

#[test]
fn every_selector_and_policy_solves_nim_and_the_proof_checks() {
    let stop = AtomicBool::new(false);
    for heap in [9, 12] {
        for plan in plans() {
            let game = nim(heap);
            let mut tree = tree(heap, plan.clone());
            let mut worker = game.worker(1, &plan.statuses, 1);
            let asked = Asked { stop: &stop, cancel: &stop };
            let ran = simulate(&mut tree, &Virtual::workers(4), |job, _| {
                let answer = worker.answer(job, asked, &mut |_| {}).unwrap().unwrap();
                let nodes = answer.nodes;
                Some((answer, nodes))
            });
            assert!(!ran.stuck);
            assert_eq!(tree.ended(), Some(Ended::Decided), "{:?} {:?}", plan.select, plan.policy);
            let value = if heap % 4 == 0 { Value::Loss } else { Value::Win };
            assert_eq!(tree.bounds().value(), Some(value));
            let side = if heap % 4 == 0 { Side::Second } else { Side::First };
            let goal = Goal { side, at_least: Value::Win };
            let section = game.certify(None, &[], goal, &tree.guide(goal), 1000, &|| false).unwrap();
            let proof =
                Proof { instance: format!("nim/{heap}"), sections: vec![section], ..Proof::default() };
            assert_eq!(game.check(&Proof::parse(&proof.to_text()).unwrap()).unwrap().goals, [goal]);
            // Every change of a move or of where it leads is found out.
            for line in 0..proof.positions() {
                for entry in 0..proof.sections[0].lines[line].len() {
                    let mut false_proof = proof.clone();
                    let lines = &mut false_proof.sections[0].lines;
                    lines[line][entry].0 = if lines[line][entry].0 == "1" { "2".into() } else { "1".into() };
                    assert!(game.check(&false_proof).is_err());
                    let mut false_proof = proof.clone();
                    false_proof.sections[0].lines[line].remove(entry);
                    assert!(game.check(&false_proof).is_err());
                }
            }
            let mut false_proof = proof.clone();
            false_proof.sections[0].goal.side = side.other();
            assert!(game.check(&false_proof).is_err());
        }
    }
}
