//! Proved positions of Connect6 per CPU second: the engine plays itself from random openings, every position of every game
//! is searched for a win by double threats, and each proof is checked by code that shares nothing with the search. All
//! positions of a proof tree are counted, each once, mirror images as one.
//!
//! `cargo run --release --example connect6 -p sortie-domains -- 60 300 500`: CPU seconds, nodes of the engine a turn and
//! nodes of the search for a win. With `positions` as a fourth word it prints positions with proved values instead.

use cpu_time::ThreadTime;
use sortie_core::{Domain, Game, Rng, Side};
use sortie_domains::connect6::{
    Attempt, Board, Connect6, Covers, Effort, Engine, Limits, Proof, State, Vcdt, Verdict, Windows, check,
    prove_loss,
};
use std::collections::HashSet;
use std::sync::Arc;

const SIZE: usize = 19;
/// Games are given up after so many stones.
const STONES_MAX: usize = 200;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| words.get(i).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (seconds, engine_nodes, attack_nodes) = (number(0, 10) as f64, number(1, 300), number(2, 500));
    let mut study = Study {
        game: Connect6::new(SIZE),
        windows: Arc::new(Windows::new(SIZE)),
        engine: Engine::new(SIZE),
        vcdt: Vcdt::default(),
        positions: HashSet::new(),
        prints: words.get(3).is_some_and(|word| word == "positions"),
        searches: 0,
        proofs: 0,
        attack_seconds: 0.0,
        check_seconds: 0.0,
    };
    let (clock, mut rng, mut games) = (ThreadTime::now(), Rng::new(1, 0), 0);
    while clock.elapsed().as_secs_f64() < seconds {
        study.play(&mut rng, engine_nodes, attack_nodes);
        games += 1;
    }
    if !study.prints {
        study.report(games, clock.elapsed().as_secs_f64());
    }
}

struct Study {
    game: Connect6,
    windows: Arc<Windows>,
    engine: Engine,
    vcdt: Vcdt,
    positions: HashSet<u128>,
    prints: bool,
    searches: u64,
    proofs: u64,
    attack_seconds: f64,
    check_seconds: f64,
}

impl Study {
    /// One game, and what is proved on the way.
    fn play(&mut self, rng: &mut Rng, engine_nodes: u64, attack_nodes: u64) {
        let mut states = vec![self.opening(rng)];
        let mut undecided = true;
        loop {
            let state = states.last().expect("the opening at least").clone();
            if self.game.outcome(&state).is_some() || state.played() >= STONES_MAX {
                return;
            }
            let side = usize::from(state.to_move() == Side::Second);
            let mut board = Board::of(self.windows.clone(), &self.game, &state);
            let clock = ThreadTime::now();
            let verdict = self.vcdt.search(&mut board, side, attack_nodes);
            self.attack_seconds += clock.elapsed().as_secs_f64();
            self.searches += 1;
            if let Verdict::Wins(proof) = &verdict {
                self.proofs += 1;
                let clock = ThreadTime::now();
                check(SIZE, board.stones(), side as u8, proof).expect("a proof that holds");
                self.check_seconds += clock.elapsed().as_secs_f64();
                let seen = &mut vec![false; proof.steps.len()];
                collect(&mut board, side, proof, 0, seen, &mut self.positions);
                if self.prints && std::mem::take(&mut undecided) {
                    self.print(&states, proof);
                }
            }
            let answer = self.engine.answer(&self.game, &state, &[], Limits::nodes(engine_nodes));
            let mut next = state;
            answer.turn.iter().for_each(|&cell| self.game.play(&mut next, cell));
            states.push(next);
        }
    }

    /// Lines of `instances/connect6/positions.txt`: the last position, which is won by double threats; the one before, if
    /// it was lost with at most one stone needed to stop anything; and the turn that led there.
    fn print(&mut self, states: &[State], proof: &Proof) {
        let text = |state: &State| self.game.position(state).expect("a position has a text");
        let Some([.., before, lost, won]) = Some(states).filter(|states| states.len() > 2) else { return };
        let depth = depth(proof, 0);
        println!("attack {depth} {}", text(won));
        let loser = usize::from(lost.to_move() == Side::Second);
        let mut board = Board::of(self.windows.clone(), &self.game, lost);
        let mut threats = Vec::new();
        board.threats(1 - loser, &mut threats);
        let effort = Effort { each: 2000, total: 200_000, over: &|| false };
        if Covers::of(&threats).number < 2
            && let Attempt::Lost(_) = prove_loss(&mut self.vcdt, &mut board, loser, 2, &[], effort)
        {
            println!("lost {depth} {}", text(lost));
            let cells = (0..(SIZE * SIZE) as u16).filter(|&cell| {
                self.game.stone(lost, cell).is_some() && self.game.stone(before, cell).is_none()
            });
            let turn: String = cells.map(|cell| self.game.show_move(before, cell)).collect();
            println!("quiet {turn} {}", text(before));
        }
    }

    /// A stone in the middle, and four near it.
    fn opening(&self, rng: &mut Rng) -> State {
        let mut state = self.game.initial();
        self.game.play(&mut state, (SIZE * SIZE / 2) as u16);
        while state.played() < 5 {
            let cell = ((6 + rng.below(7)) * SIZE + 6 + rng.below(7)) as u16;
            if self.game.stone(&state, cell).is_none() {
                self.game.play(&mut state, cell);
            }
        }
        state
    }

    fn report(&self, games: u64, seconds: f64) {
        let count = self.positions.len();
        println!("{games} games, {} proofs in {} searches, {count} positions", self.proofs, self.searches);
        println!("{seconds:.1} CPU s: {:.0} positions a second", count as f64 / seconds);
        let speed = self.vcdt.visited as f64 / self.attack_seconds;
        println!(
            "search for wins {:.1} s, {speed:.0} nodes/s; checks {:.1} s",
            self.attack_seconds, self.check_seconds
        );
    }
}

/// The longest line of a proof, in turns of the side that wins.
fn depth(proof: &Proof, at: u32) -> usize {
    let answers = &proof.steps[at as usize].answers;
    1 + answers.iter().map(|&(_, next)| depth(proof, next)).max().unwrap_or(0)
}

/// The positions of a proof, with either side to move.
fn collect(
    board: &mut Board,
    side: usize,
    proof: &Proof,
    at: u32,
    seen: &mut [bool],
    out: &mut HashSet<u128>,
) {
    if std::mem::replace(&mut seen[at as usize], true) {
        return;
    }
    out.insert(board.symmetric_key(side));
    let step = &proof.steps[at as usize];
    board.play(step.turn, side);
    out.insert(board.symmetric_key(1 - side));
    for &(answer, next) in &step.answers {
        board.play(answer, 1 - side);
        collect(board, side, proof, next, seen, out);
        board.undo(answer, 1 - side);
    }
    board.undo(step.turn, side);
}
