//! The search against oracles: Nim from both sides, and random trees solved by minimax, on every variant of `Uct`.

use super::*;
use crate::domain::{Domain, Game, Outcome, Side};
use crate::play::{AnyPlayer, Budget, Thought};
use crate::rng::{Rng, mix};
use crate::toy::Nim;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// A random game tree: whose move it is and how it ends are hashes of the path, so that sides do not alternate and
/// all three outcomes occur. Depth and branching are small enough for minimax.
#[derive(Debug)]
struct Thicket {
    seed: u64,
    depth: u32,
    branching: u8,
    /// Some lines end before the last level.
    ragged: bool,
}

/// The path as a number whose digits are the moves plus one, its length, and the hash that decides everything.
type Path = (u64, u32, u64);

impl Domain for Thicket {
    type State = Path;
    type Move = u8;

    fn initial(&self) -> Path {
        (0, 0, mix(self.seed))
    }

    fn moves(&self, state: &Path, out: &mut Vec<u8>) {
        if self.outcome(state).is_none() {
            out.extend(0..self.branching);
        }
    }

    fn play(&self, state: &mut Path, mv: u8) {
        let path = state.0 * (u64::from(self.branching) + 1) + u64::from(mv) + 1;
        *state = (path, state.1 + 1, mix(path ^ mix(self.seed)));
    }

    fn show(&self, state: &Path) -> String {
        format!("{state:?}")
    }

    fn show_move(&self, _: &Path, mv: u8) -> String {
        mv.to_string()
    }
}

impl Game for Thicket {
    fn to_move(&self, state: &Path) -> Side {
        if state.2 & 1 == 0 { Side::First } else { Side::Second }
    }

    fn outcome(&self, state: &Path) -> Option<Outcome> {
        let early = self.ragged && state.1 > 1 && state.2 >> 8 & 7 == 0;
        let outcome = match state.2 >> 16 & 3 {
            0 => Outcome::Win(Side::First),
            1 => Outcome::Win(Side::Second),
            _ => Outcome::Draw,
        };
        (early || state.1 == self.depth).then_some(outcome)
    }

    fn key(&self, state: &Path) -> u64 {
        mix(state.0)
    }

    fn move_id(&self, mv: u8) -> u16 {
        u16::from(mv)
    }

    fn move_of(&self, _: &Path, id: u16) -> u8 {
        id as u8
    }

    fn categories(&self) -> &[f64] {
        &[0.1, 0.3, 0.6]
    }

    fn category(&self, state: &Path, mv: u8) -> usize {
        (mix(state.2 ^ u64::from(mv)) % 3) as usize
    }

    fn evaluate(&self, state: &Path) -> f64 {
        (state.2 >> 24 & 0xff) as f64 / 255.0
    }
}

fn minimax<G: Game>(game: &G, state: &G::State) -> Outcome {
    if let Some(outcome) = game.outcome(state) {
        return outcome;
    }
    let side = game.to_move(state);
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    let outcomes = moves.into_iter().map(|mv| {
        let mut next = state.clone();
        game.play(&mut next, mv);
        minimax(game, &next)
    });
    outcomes.max_by(|a, b| a.value_for(side).total_cmp(&b.value_for(side))).expect("a move")
}

fn think<G: Game>(player: &mut Searcher<G>, playouts: u64) -> Thought {
    player.think(&Budget::playouts(playouts), &AtomicBool::new(false), &mut |_| {}).expect("ours never fail")
}

/// Every switch of the search, one at a time.
fn variants() -> Vec<(&'static str, Uct)> {
    let base = || Uct { memory: 8, ..Uct::default() };
    vec![
        ("default", base()),
        ("no decisive moves", Uct { decisive: false, ..base() }),
        ("fpu", Uct { fpu: 0.4, ..base() }),
        ("bias", Uct { knowledge: Knowledge::Evaluation, bias: 2.0, ..base() }),
        ("unpruning", Uct { knowledge: Knowledge::Categories, unprune_first: 1, ..base() }),
        ("puct", Uct { rule: Rule::Puct, knowledge: Knowledge::Categories, c: 2.0, ..base() }),
        ("puct, even", Uct { rule: Rule::Puct, knowledge: Knowledge::None, c: 2.0, ..base() }),
        ("weighted playouts", Uct { weighted: true, ..base() }),
        ("cut playouts", Uct { cut: 1, ..base() }),
        ("late nodes", Uct { expand: 5, ..base() }),
        ("transpositions", Uct { transpositions: true, ..base() }),
        ("in flight", Uct { in_flight: 16, ..base() }),
        ("virtual loss", Uct { in_flight: 16, counting: Counting::VirtualLoss, ..base() }),
        ("mixed", Uct { in_flight: 16, counting: Counting::Mixed, ..base() }),
        ("uncounted", Uct { in_flight: 16, counting: Counting::Ignore, ..base() }),
        ("two threads", Uct { threads: 2, in_flight: 2, ..base() }),
        ("max", Uct { final_move: FinalMove::Max, ..base() }),
        ("secure", Uct { final_move: FinalMove::Secure, ..base() }),
        ("max-robust", Uct { final_move: FinalMove::MaxRobust, ..base() }),
    ]
}

#[test]
fn nim_is_solved_from_both_sides_by_every_variant() {
    for (name, uct) in variants() {
        let mut player = Searcher::new(Arc::new(Nim { heap: 9 }), uct.clone(), 1).unwrap();
        for heap in 1..=9u32 {
            for (text, side) in [("first", Side::First), ("second", Side::Second)] {
                player.set(Some(&format!("{heap} {text}")), &[]).unwrap();
                let thought = think(&mut player, 4000);
                let winner = if heap % 4 == 0 { side.other() } else { side };
                assert_eq!(thought.proved, Some(Outcome::Win(winner)), "{name}: {heap} {text}");
                if heap % 4 != 0 {
                    assert_eq!(thought.best, Some((heap % 4).to_string()), "{name}: {heap} {text}");
                }
            }
        }
    }
}

#[test]
fn random_trees_are_proved_as_minimax_has_them() {
    for (name, uct) in variants() {
        for seed in 0..12 {
            let game = Thicket { seed, depth: 4, branching: 3, ragged: true };
            let exact = minimax(&game, &game.initial());
            let mut player = Searcher::new(Arc::new(game), uct.clone(), seed).unwrap();
            let thought = think(&mut player, 20_000);
            // Draws are not proved across transpositions: see `Worker::prove`.
            if uct.transpositions && exact == Outcome::Draw {
                continue;
            }
            if !uct.transpositions {
                assert_eq!(thought.proved, Some(exact), "{name}: seed {seed}");
            }
            assert!(thought.proved.is_none_or(|o| o == exact), "{name}: seed {seed}");
        }
    }
}

#[test]
fn without_the_solver_means_go_to_the_right_value() {
    let uct = Uct { solver: false, decisive: false, c: 0.3, ..Uct::plain() };
    for seed in 0..8 {
        let game = Thicket { seed, depth: 4, branching: 3, ragged: true };
        let exact = minimax(&game, &game.initial()).value();
        let mut player = Searcher::new(Arc::new(game), uct.clone(), seed).unwrap();
        let thought = think(&mut player, 50_000);
        assert!((thought.value - exact).abs() < 0.1, "seed {seed}: {} and {exact}", thought.value);
        assert_eq!(thought.playouts, 50_000);
    }
}

#[test]
fn the_same_seed_gives_the_same_thought() {
    for (name, uct) in variants().into_iter().filter(|(_, uct)| uct.threads == 1) {
        let once = |seed| {
            let game = Arc::new(Thicket { seed: 5, depth: 12, branching: 4, ragged: true });
            // Without proofs, so that nothing but the limit ends it.
            let uct = Uct { solver: false, ..uct.clone() };
            let mut player = Searcher::new(game, uct, seed).unwrap();
            let mut thought = think(&mut player, 3000);
            (thought.seconds, thought.cpu_seconds) = (0.0, 0.0);
            thought
        };
        assert_eq!(once(1), once(1), "{name}");
        assert_ne!(once(1).lines, once(2).lines, "{name}");
    }
}

#[test]
fn a_bounded_tree_goes_on_when_it_is_full() {
    for (transpositions, threads) in [(false, 1), (true, 1), (false, 2)] {
        let uct = Uct { memory: 1, threads, transpositions, solver: false, ..Uct::plain() };
        let game = Arc::new(Thicket { seed: 2, depth: 10, branching: 8, ragged: false });
        let mut player = Searcher::new(game, uct, 1).unwrap();
        let thought = think(&mut player, 150_000);
        assert_eq!(thought.playouts, 150_000);
        assert!(thought.recycled > 0 && thought.fill <= 1.0, "{thought:?}");
        let visits: u64 = thought.lines.iter().map(|line| line.visits).sum();
        assert_eq!(visits, 150_000, "giving up nodes loses no visit of the root");
    }
}

#[test]
fn nothing_stays_in_flight() {
    for (name, uct) in variants() {
        let game = Arc::new(Thicket { seed: 3, depth: 10, branching: 4, ragged: true });
        let mut player = Searcher::new(game, uct, 1).unwrap();
        think(&mut player, 2000);
        assert_eq!(player.in_flight(), 0, "{name}");
    }
}

/// A thicket whose positions are played out together, and how many were so at most.
struct Herd(Thicket, AtomicUsize);

impl Domain for Herd {
    type State = <Thicket as Domain>::State;
    type Move = <Thicket as Domain>::Move;

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn moves(&self, state: &Self::State, out: &mut Vec<Self::Move>) {
        self.0.moves(state, out);
    }

    fn play(&self, state: &mut Self::State, mv: Self::Move) {
        self.0.play(state, mv);
    }

    fn show(&self, state: &Self::State) -> String {
        self.0.show(state)
    }

    fn show_move(&self, state: &Self::State, mv: Self::Move) -> String {
        self.0.show_move(state, mv)
    }
}

impl Game for Herd {
    fn to_move(&self, state: &Self::State) -> Side {
        self.0.to_move(state)
    }

    fn outcome(&self, state: &Self::State) -> Option<Outcome> {
        self.0.outcome(state)
    }

    fn key(&self, state: &Self::State) -> u64 {
        self.0.key(state)
    }

    fn move_id(&self, mv: Self::Move) -> u16 {
        self.0.move_id(mv)
    }

    fn move_of(&self, state: &Self::State, id: u16) -> Self::Move {
        self.0.move_of(state, id)
    }

    fn plays_out_together(&self) -> bool {
        true
    }

    fn rollouts(&self, states: &[&Self::State], rng: &mut Rng) -> Vec<f64> {
        self.1.fetch_max(states.len(), Relaxed);
        let mut scratch = Vec::new();
        let mut value = |state: &&Self::State| {
            self.0.rollout(&mut (*state).clone(), 1, 1000, rng, &mut scratch).expect("it ends").value()
        };
        states.iter().map(&mut value).collect()
    }
}

#[test]
fn positions_in_flight_are_played_out_together() {
    for solver in [true, false] {
        let thicket = || Thicket { seed: 5, depth: 6, branching: 4, ragged: true };
        let exact = minimax(&thicket(), &thicket().initial()).value();
        let game = Arc::new(Herd(thicket(), AtomicUsize::new(0)));
        let uct = Uct { in_flight: 100, solver, decisive: false, ..Uct::plain() };
        let mut player = Searcher::new(game.clone(), uct, 1).unwrap();
        let thought = think(&mut player, 20_000);
        assert_eq!(game.1.load(Relaxed), 100, "as many as may be in flight");
        assert_eq!(player.in_flight(), 0);
        assert!((thought.value - exact).abs() < 0.1, "{} and not {exact}", thought.value);
        assert!(thought.playouts == 20_000 || thought.proved.is_some());
    }
}

#[test]
fn the_tree_follows_the_game() {
    let uct = Uct { solver: false, ..Uct::plain() };
    let mut player =
        Searcher::new(Arc::new(Thicket { seed: 7, depth: 30, branching: 3, ragged: true }), uct, 1).unwrap();
    let thought = think(&mut player, 5000);
    let line = thought.lines[0].clone();
    player.set(None, &line.moves[..1]).unwrap();
    let after = think(&mut player, 1);
    let visits: u64 = after.lines.iter().map(|l| l.visits).sum();
    assert!(visits + 1 >= line.visits && after.playouts == 1, "{visits} of {}", line.visits);
    assert!(after.nodes < thought.nodes, "the rest is given up");
    // Somewhere else: a new tree.
    player.set(None, &["2".into(), "2".into(), "2".into()]).unwrap();
    let error = player.set(None, &["2".into(), "9".into()]).unwrap_err().to_string();
    assert!(error.contains("move 2 '9' is not legal"), "{error}");
    assert!(player.set(Some("x"), &[]).is_err());
}

#[test]
fn limits_of_every_kind_end_a_search() {
    let game = Arc::new(Thicket { seed: 4, depth: 30, branching: 3, ragged: true });
    let uct = Uct { solver: false, ..Uct::plain() };
    let mut player = Searcher::new(game, uct, 1).unwrap();
    let mut run = |budget: Budget| player.think(&budget, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let nodes = run(Budget { nodes: Some(100), ..Budget::default() });
    assert!((100..200).contains(&nodes.nodes), "{}", nodes.nodes);
    run(Budget { seconds: Some(0.01), ..Budget::default() });
    run(Budget { cpu_seconds: Some(0.01), ..Budget::default() });
    assert_eq!(run(Budget::playouts(77)).playouts, 77);
    let stopped = player.think(&Budget::default(), &AtomicBool::new(true), &mut |_| {}).unwrap();
    assert!(stopped.best.is_some(), "a move even when stopped at once");
    // A tree that is all there cannot grow to more nodes than it has.
    let small = Arc::new(Thicket { seed: 4, depth: 2, branching: 2, ragged: false });
    let mut player = Searcher::new(small, Uct { solver: false, ..Uct::plain() }, 1).unwrap();
    let budget = Budget { nodes: Some(1000), ..Budget::default() };
    let whole = player.think(&budget, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(whole.best.is_some() && whole.nodes < 10, "{}", whole.nodes);
}
