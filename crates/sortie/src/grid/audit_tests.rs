//! Searches whose answers are brought by honest workers and by one who lies: what is decided in the end is so, and the
//! liar is named.

use super::*;
use crate::contest::claim;
use crate::source::Instance;
use sortie_core::JobSource;
use sortie_core::exact::{Bounds, Claim, Statuses};
use sortie_jobs::tree::Plan;
use std::collections::BTreeMap;

struct Line(Job, Answer, &'static str);

impl Said for Line {
    fn job(&self) -> &Job {
        &self.0
    }

    fn answer(&self) -> &Answer {
        &self.1
    }

    fn by(&self) -> &str {
        self.2
    }
}

/// A win for whoever moves, by the first move that is not excluded; or a loss.
fn lie(game: &dyn AnyGame, job: &Job, number: usize) -> Answer {
    let mut board = game.board(job.start.as_deref()).expect("a board");
    job.moves.iter().for_each(|word| board.play(word).expect("a move"));
    let won = number.is_multiple_of(2);
    let value = if won { Value::Win } else { Value::Loss };
    let bounds = Bounds::exactly(value.view(board.to_move()));
    let best = board.legal().into_iter().find(|word| won && !job.exclude.contains(word));
    let claim = Some(Claim { bounds, trust: Trust::Solver });
    let (status, value) = (Statuses::default().nearest(0.5), Some(0.5));
    Answer { best, status, value, claim, after: Vec::new(), nodes: 1, seconds: 0.0 }
}

/// Defect 2: what a volunteer claimed was reported as proved.
#[test]
fn what_one_liar_claims_is_never_reported_as_proved_and_it_is_named() {
    let home = tempfile::tempdir().expect("a folder");
    let (stop, mut named) = (AtomicBool::new(false), 0);
    // Both sides, and a game with draws.
    for (name, value) in [("nim/20", Value::Loss), ("nim/21", Value::Win), ("tictactoe/3", Value::Draw)] {
        let instance = Instance::open_game(name).expect("a game");
        let game = instance.game().expect("a game");
        let path = home.path().join(name.replace('/', "-"));
        let folder = claim(&path, "prove.toml", &BTreeMap::from([("format".to_string(), 1)]), "search")
            .expect("a folder");
        let plan = Plan {
            effort: sortie_core::exact::Effort { nodes: 8, playouts: 0 },
            jobs_max: 20_000,
            ..Plan::default()
        };
        let fresh = || JobTree::new(game.board(None).expect("a board"), None, plan.clone());
        let (mut tree, mut audit, mut lines) = (fresh(), Audit::default(), Vec::<Line>::new());
        let mut honest = game.worker(1 << 20, &plan.statuses, 1);
        for round in 0.. {
            assert!(round < 1000, "{name} does not end");
            while let Some((id, job)) = tree.next() {
                let lies = lines.len() % 3 == 1 && !audit.liars().contains(&"evil".to_string());
                let answer = match lies {
                    true => lie(game, &job, lines.len()),
                    false => {
                        let asked = Asked { stop: &stop, cancel: &stop };
                        honest.answer(&job, asked, &mut |_| {}).expect("an answer").expect("an answer")
                    }
                };
                lines.push(Line(job, answer.clone(), if lies { "evil" } else { "good" }));
                tree.done(id, answer);
            }
            let own = (game, 1, 1 << 20);
            let sound = audit.review(&folder, &tree, &lines, own, &stop, &mut |_| {}).expect("a review");
            if sound == Some(true) {
                break;
            }
            tree = fresh();
            for (number, line) in lines.iter().enumerate() {
                let _ = tree.known(&line.0, audit.counts(number, line.2, line.1.clone()));
            }
            tree.take_cancelled();
        }
        assert_eq!(tree.ended(), Some(Ended::Decided), "{name}");
        assert_eq!(tree.bounds().value(), Some(value), "{name}");
        // A lie that nothing rests on, or that happens to be so, tells nothing.
        assert!(audit.liars().iter().all(|by| by == "evil"), "{name}: {:?}", audit.liars());
        named += audit.liars().len();
        // Whoever goes on later knows it too.
        let again = Audit::read(&path).expect("what was found");
        assert_eq!((again.liars(), again.tally()), (audit.liars(), audit.tally()));
        // What was not looked into is nobody's proof.
        for (number, line) in lines.iter().enumerate() {
            let proved = audit.proved(number, line.2, line.1.clone()).claim;
            let looked = audit.findings.contains_key(&number);
            assert!(looked || proved.is_none_or(|claim| claim.trust == Trust::Word), "{name}: line {number}");
        }
    }
    assert!(named > 0, "nobody was named");
}
