//! The graph history interaction problem, shown and solved: a game in which the board says little without what came
//! before. The store with preconditions never helps to a falsehood; the same store without them does.

use sortie_core::exact::{After, Asked, Claim, Effort, Fact, Proof, Trust, Value};
use sortie_core::{
    AnyBoard, AnyGame, Boxed, Domain, Game, Ident, JobSource, Outcome, Precondition, Rng, Side, mix,
};
use sortie_jobs::tree::{JobTree, Plan, Virtual, simulate};
use sortie_store::{Batch, Embedded, GameName, Source, Store, StoreError, known};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Graphs that are tried.
const SEEDS: u64 = 16;

/// A token on a graph; no node is visited twice, and who cannot move loses. On the board is the token alone, as in Go with
/// a rule against repetition the stones are.
#[derive(Debug, Clone)]
struct Geography {
    /// `next[n]`: the nodes that the token can go to from `n`, as bits.
    next: Vec<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Token {
    at: u8,
    second: bool,
    /// Bits.
    visited: u16,
}

impl Geography {
    fn random(nodes: usize, seed: u64) -> Geography {
        let mut rng = Rng::new(seed, 0);
        let mut row = |n: usize| (0..nodes).filter(|&m| m != n && rng.below(3) == 0).map(|m| 1 << m).sum();
        Geography { next: (0..nodes).map(&mut row).collect() }
    }

    /// The visited nodes beside what can still be reached: two histories that agree on these leave the same game.
    fn blocked(&self, state: &Token) -> u16 {
        let (mut reached, mut beside) = (1u16 << state.at, 0u16);
        loop {
            let nodes = (0..self.next.len()).filter(|n| reached >> n & 1 == 1);
            let around = nodes.fold(0, |around, n| around | self.next[n]);
            let more = reached | around & !state.visited;
            beside |= around & state.visited;
            if more == reached {
                return beside & !(1 << state.at);
            }
            reached = more;
        }
    }
}

impl Domain for Geography {
    type State = Token;
    type Move = u8;

    fn initial(&self) -> Token {
        Token { at: 0, second: false, visited: 1 }
    }

    fn moves(&self, state: &Token, out: &mut Vec<u8>) {
        out.extend((0..16).filter(|n| self.next[usize::from(state.at)] & !state.visited & 1 << n != 0));
    }

    fn play(&self, state: &mut Token, to: u8) {
        *state = Token { at: to, second: !state.second, visited: state.visited | 1 << to };
    }

    fn show(&self, state: &Token) -> String {
        format!("{state:?}")
    }

    fn show_move(&self, _: &Token, to: u8) -> String {
        to.to_string()
    }
}

impl Game for Geography {
    fn to_move(&self, state: &Token) -> Side {
        if state.second { Side::Second } else { Side::First }
    }

    fn outcome(&self, state: &Token) -> Option<Outcome> {
        let stuck = self.next[usize::from(state.at)] & !state.visited == 0;
        stuck.then(|| Outcome::Win(self.to_move(state).other()))
    }

    fn key(&self, state: &Token) -> u64 {
        mix(2 * u64::from(state.at) + u64::from(state.second))
    }

    fn move_id(&self, to: u8) -> u16 {
        to.into()
    }

    fn move_of(&self, _: &Token, id: u16) -> u8 {
        id as u8
    }

    fn written(&self, state: &Token, _: usize) -> Option<String> {
        Some(format!("{} {}", state.at, state.second))
    }

    fn precondition(&self, state: &Token) -> Precondition {
        match self.blocked(state) {
            0 => Precondition::NONE,
            blocked => Precondition { kind: Precondition::HISTORY, hash: blocked.into() },
        }
    }
}

/// The value by trying everything.
fn truth(board: &mut dyn AnyBoard, seen: &mut HashMap<u128, Value>) -> Value {
    if let Some(outcome) = board.outcome() {
        return Value::of(outcome);
    }
    if let Some(&value) = seen.get(&board.identity()) {
        return value;
    }
    let side = board.to_move();
    let mut best = Value::Loss;
    for word in board.legal() {
        board.play(&word).expect("a legal move");
        best = best.max(truth(board, seen).view(side));
        board.undo();
    }
    seen.insert(board.identity(), best.view(side));
    best.view(side)
}

/// A store, with its preconditions or as if nobody had thought of them.
struct Memory<'a> {
    store: &'a dyn Store,
    name: GameName,
    forgetful: bool,
}

impl Memory<'_> {
    fn name_of(&self, mut ident: Ident) -> Ident {
        if self.forgetful {
            ident.precondition = Precondition::NONE;
        }
        ident
    }

    fn put(&self, mut facts: Vec<Fact>) {
        facts.iter_mut().for_each(|fact| fact.ident = self.name_of(fact.ident));
        loop {
            let batch = Batch { source: Source::default(), trust: Trust::Checked, facts: facts.clone() };
            match self.store.put(&self.name, &[batch]) {
                Ok(_) => return,
                // The store sees that something is wrong; who keeps the first answer anyway is lost.
                Err(StoreError::Contradiction { key, new, .. }) => {
                    assert!(self.forgetful, "two truths under one name");
                    facts.retain(|fact| fact.ident.key != key || fact.bounds != new);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// What a search for the position after some moves proves, and what it proves it with. Every position after a move is
/// looked up.
fn prove(game: &dyn AnyGame, moves: &[String], memory: &Memory, hits: &mut u64) -> (JobTree, Option<Value>) {
    let mut board = game.board(None).expect("the start");
    moves.iter().for_each(|word| board.play(word).expect("a legal move"));
    let plan = Plan { effort: Effort { nodes: 2, playouts: 0 }, ..Plan::default() };
    let mut worker = game.worker(1, &plan.statuses, 1);
    let mut tree = JobTree::new(board, None, plan);
    let never = AtomicBool::new(false);
    let asked = Asked { stop: &never, cancel: &never };
    simulate(&mut tree, &Virtual::workers(2), |job, _| {
        let mut answer = worker.answer(job, asked, &mut |_| {}).expect("a job of ours")?;
        let mut board = game.board(None).expect("the start");
        job.moves.iter().for_each(|word| board.play(word).expect("a legal move"));
        for word in board.legal().into_iter().filter(|word| !job.exclude.contains(word)) {
            board.play(&word).expect("a legal move");
            let ident = memory.name_of(board.ident().expect("a name"));
            let entry = known(memory.store, &memory.name, &[ident]).expect("a store")[0];
            if let Some(entry) = entry.filter(|_| board.outcome().is_none()) {
                *hits += 1;
                let claim = Claim { bounds: entry.bounds, trust: entry.trust };
                answer.after.push(After { word, claim });
            }
            board.undo();
        }
        Some((answer, 1))
    });
    assert!(tree.finished());
    let value = tree.bounds().value();
    (tree, value)
}

/// Proves the positions after every two first moves, one after the other, each with what the others have stored. Returns
/// how many searches came to a falsehood or a contradiction, and how many entries were used.
fn run(forgetful: bool) -> (u64, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Embedded::new(&folder.path().join("db"), Duration::from_secs(10));
    let (mut wrong, mut hits) = (0, 0);
    for seed in 0..SEEDS {
        let game = Boxed::new(Geography::random(8, seed));
        let name = GameName { game: format!("geography/{seed}"), rules: 1 };
        let memory = Memory { store: &store, name, forgetful };
        let mut seen = HashMap::new();
        let mut board = game.board(None).expect("the start");
        let mut roots = vec![Vec::new()];
        for first in board.legal() {
            board.play(&first).expect("a legal move");
            roots.extend(board.legal().into_iter().map(|second| vec![first.clone(), second]));
            board.undo();
        }
        // The start comes last, so that all of the others may be used for it.
        roots.reverse();
        for moves in roots {
            moves.iter().for_each(|word| board.play(word).expect("a legal move"));
            let (over, value) = (board.outcome().is_some(), truth(&mut *board, &mut seen));
            moves.iter().for_each(|_| assert!(board.undo()));
            if over {
                continue;
            }
            let (tree, found) = prove(&game, &moves, &memory, &mut hits);
            if found != Some(value) {
                wrong += 1;
                continue;
            }
            // What is stored is checked, so every single entry is true: under its precondition.
            let sections = tree
                .goals()
                .into_iter()
                .map(|goal| game.certify(None, &moves, goal, &tree.guide(goal), 10_000, &|| false));
            let sections: Result<Vec<_>, String> = sections.collect();
            match sections {
                Ok(sections) => {
                    let proof = Proof { instance: "graph".into(), moves, sections, ..Proof::default() };
                    memory.put(game.harvest(&proof).expect("a proof that holds"));
                }
                // The right value for wrong reasons.
                Err(_) => wrong += 1,
            }
        }
    }
    (wrong, hits)
}

#[test]
fn with_preconditions_the_database_answers_right_and_without_it_proves_falsehoods() {
    let (with, without) = (run(false), run(true));
    println!("falsehoods and hits: {with:?} with preconditions, {without:?} without");
    assert!(with.0 == 0 && with.1 > 10, "{with:?}");
    assert!(without.0 > 3, "{without:?}");
}
