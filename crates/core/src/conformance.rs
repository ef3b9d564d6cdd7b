//! What every domain must satisfy, checked on random playouts. A domain's tests call `problem` or `game` once per
//! instance; a failure panics with the state, the move and the rule that was broken.

use crate::domain::{Choices, Domain, Game, Outcome, Problem};
use crate::playout::{Offer, Scratch, Trace, playout};
use crate::policy::Policy;
use crate::processor::Processor;
use crate::rng::Rng;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A playout longer than this is taken for endless.
const PLAYOUT_MOVES_MAX: usize = 100_000;

/// Checks a single-player domain on `playouts` random playouts.
pub fn problem<P: Problem>(p: &P, playouts: usize, seed: u64) {
    let mut rng = Rng::new(seed, 0);
    let mut choices = Choices::new();
    for playout in 0..playouts {
        let mut places = Vec::new();
        let (end, played) = walk(p, &mut rng, |state, moves| {
            choices.clear();
            p.choices(state, &mut choices);
            assert_eq!(
                choices.moves.len(),
                choices.codes.len(),
                "choices: one code a move in\n{}",
                p.show(state)
            );
            assert!(
                !choices.moves.is_empty(),
                "choices: none, though there are legal moves in\n{}",
                p.show(state)
            );
            for (&mv, &code) in choices.moves.iter().zip(&choices.codes) {
                assert!(moves.contains(&mv), "choices: {mv:?} is not legal in\n{}", p.show(state));
                assert_eq!(
                    code,
                    p.code(state, mv),
                    "choices and code differ on {mv:?} in\n{}",
                    p.show(state)
                );
                if let Some(max) = p.codes_max() {
                    assert!((code as usize) < max, "code {code} of {mv:?} is not below codes_max {max}");
                }
                assert!(p.bias(state, mv).is_finite(), "bias of {mv:?} is not finite");
            }
            let (codes, offered) = (choices.codes.clone(), choices.moves.clone());
            choices.clear();
            if let Some(list) = p.places(state, &mut choices) {
                let named: Vec<u64> = choices.places.iter().map(|&place| list[place as usize]).collect();
                assert_eq!((&choices.moves, &named), (&offered, &codes), "places: other choices or codes");
                assert!(list.starts_with(&places), "places: the list has changed in\n{}", p.show(state));
                assert!(
                    moves.iter().all(|&mv| list.contains(&p.code(state, mv))),
                    "places: a code is missing"
                );
                places = list.to_vec();
            }
            let promise = p.promise(state);
            assert_eq!(
                promise.is_some(),
                p.promise(&p.initial()).is_some(),
                "promise of some positions only"
            );
            assert!(
                promise.is_none_or(|value| value.is_finite()),
                "promise is not finite in\n{}",
                p.show(state)
            );
            let distinct: HashSet<_> = offered.iter().collect();
            assert_eq!(distinct.len(), offered.len(), "choices: a move twice in\n{}", p.show(state));
        });
        choices.clear();
        p.choices(&end, &mut choices);
        assert!(choices.moves.is_empty(), "choices at the end of a playout in\n{}", p.show(&end));
        assert!(p.score(&end).is_finite(), "score is not finite in\n{}", p.show(&end));
        assert_eq!(p.score(&end), p.score(&end.clone()), "score depends on more than the state");
        // Once: it may take as long as a thousand playouts.
        if playout == 0 {
            improvement(p, &end, &played, &mut rng);
        }
    }
    paths(p, seed);
}

/// Checks that playouts and what is learnt from them are the same to the last bit whatever the processor has.
fn paths<P: Problem>(p: &P, seed: u64) {
    let learn = |processor: Processor| {
        let mut policy = Policy::new(p.codes_max()).on(processor);
        let (mut scratch, mut rng) = (Scratch::new(p).on(processor), Rng::new(seed, 2));
        let offer = Offer { selective: true, bias: true };
        let once = |_| {
            let mut trace = Trace::default();
            playout(p, offer, &policy, &mut rng, &mut scratch, &mut trace);
            policy.adapt(&mut trace, 1.0);
            trace
        };
        (0..3).map(once).collect::<Vec<Trace<P::Move>>>()
    };
    assert!(learn(Processor::PORTABLE) == learn(Processor::here()), "playouts depend on the processor");
}

/// Checks what local search makes of the end of a playout.
fn improvement<P: Problem>(p: &P, end: &P::State, played: &[P::Move], rng: &mut Rng) {
    let mut twin = rng.clone();
    let better = p.improve(end, played, rng);
    assert!(
        better == p.improve(end, played, &mut twin),
        "improve depends on more than the end and the random numbers"
    );
    let Some(better) = better else { return };
    let (mut state, mut moves) = (p.initial(), Vec::new());
    for mv in better {
        moves.clear();
        p.moves(&state, &mut moves);
        assert!(moves.contains(&mv), "improve: {mv:?} is not legal in\n{}", p.show(&state));
        p.play(&mut state, mv);
    }
    moves.clear();
    p.moves(&state, &mut moves);
    assert!(moves.is_empty(), "improve does not lead to an end but to\n{}", p.show(&state));
    assert!(p.score(&state) > p.score(end), "improve: the score is not higher in\n{}", p.show(&state));
}

/// Checks a two-player domain on `playouts` random games.
pub fn game<G: Game>(g: &G, playouts: usize, seed: u64) {
    let (mut rng, mut rng_id) = (Rng::new(seed, 0), Rng::new(seed, 1));
    let mut scratch = Vec::new();
    let weights = g.categories();
    assert!(
        !weights.is_empty() && weights.iter().all(|w| (0.0..=1.0).contains(w)),
        "categories: {weights:?}"
    );
    for _ in 0..playouts {
        let (end, _) = walk(g, &mut rng, |state, moves| {
            let shown = || g.show(state);
            assert!(g.outcome(state).is_none(), "legal moves in a finished game:\n{}", shown());
            assert_eq!(g.key(state), g.key(&state.clone()), "key depends on more than the state");
            let ids: HashSet<u16> = moves.iter().map(|&mv| g.move_id(mv)).collect();
            assert_eq!(ids.len(), moves.len(), "two moves with one number in\n{}", shown());
            for &mv in moves {
                assert_eq!(g.move_of(state, g.move_id(mv)), mv, "the number of {mv:?} in\n{}", shown());
                assert!(g.category(state, mv) < weights.len(), "the category of {mv:?} in\n{}", shown());
            }
            for id in moves.iter().map(|&mv| g.move_id(mv)).chain((0..8).map(|_| rng_id.bits() as u16)) {
                let legal = moves.iter().copied().find(|&mv| g.move_id(mv) == id);
                assert_eq!(g.legal_move(state, id), legal, "the legal move number {id} in\n{}", shown());
            }
            assert!((0.0..=1.0).contains(&g.evaluate(state)), "evaluate is outside 0..=1 in\n{}", shown());
            if let Some(text) = g.position(state) {
                let again = g.parse_position(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
                assert_eq!(g.position(&again).as_deref(), Some(&*text), "the text of a position changes");
                assert_eq!(g.to_move(&again), g.to_move(state), "who is to move in {text}");
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                g.moves(state, &mut ours);
                g.moves(&again, &mut theirs);
                assert_eq!(ours, theirs, "the moves of {text} differ from those of\n{}", shown());
            }
        });
        assert!(g.outcome(&end).is_some(), "no legal move and no outcome in\n{}", g.show(&end));
        assert!(g.draws() || g.outcome(&end) != Some(Outcome::Draw), "a draw in\n{}", g.show(&end));
        for draws in [1, 2] {
            let mut state = g.initial();
            let outcome = g.rollout(&mut state, draws, PLAYOUT_MOVES_MAX as u32, &mut rng, &mut scratch);
            assert!(outcome.is_some(), "a rollout did not end within {PLAYOUT_MOVES_MAX} moves");
        }
    }
    assert!(g.parse_position("no such position").is_err() && g.parse_position("").is_err());
}

/// `Game::narrow` against minimax, in the positions of random games from which at most `moves_max` moves are legal. Tells
/// how many moves it took out.
pub fn narrow<G: Game>(g: &G, playouts: usize, moves_max: usize, seed: u64) -> usize {
    let (mut rng, mut values, mut taken) = (Rng::new(seed, 0), HashMap::new(), 0);
    for _ in 0..playouts {
        walk(g, &mut rng, |state, moves| {
            if moves.len() > moves_max {
                return;
            }
            let side = g.to_move(state);
            let mut worth = |mv: G::Move| {
                let mut next = state.clone();
                g.play(&mut next, mv);
                side.view(minimax(g, &next, &mut values))
            };
            let mut left = moves.to_vec();
            g.narrow(state, &mut left);
            assert!(left.iter().all(|mv| moves.contains(mv)), "a new move in\n{}", g.show(state));
            let wins = left.len() == 1 && worth(left[0]) == 1.0;
            for &mv in moves.iter().filter(|mv| !left.contains(mv)) {
                assert!(wins || worth(mv) == 0.0, "{mv:?} does not lose in\n{}", g.show(state));
            }
            taken += moves.len() - left.len();
        });
    }
    taken
}

/// The value of a position to the first side.
fn minimax<G: Game>(g: &G, state: &G::State, values: &mut HashMap<G::State, f64>) -> f64 {
    if let Some(outcome) = g.outcome(state) {
        return outcome.value();
    }
    if let Some(&value) = values.get(state) {
        return value;
    }
    let (side, mut moves, mut best) = (g.to_move(state), Vec::new(), 0.0f64);
    g.moves(state, &mut moves);
    for mv in moves {
        let mut next = state.clone();
        g.play(&mut next, mv);
        best = best.max(side.view(minimax(g, &next, values)));
        if best == 1.0 {
            break;
        }
    }
    let value = side.view(best);
    values.insert(state.clone(), value);
    value
}

/// Plays one random playout, checks the rules at every state on the way, and calls `at` where there are moves.
fn walk<D: Domain>(
    d: &D,
    rng: &mut Rng,
    mut at: impl FnMut(&D::State, &[D::Move]),
) -> (D::State, Vec<D::Move>) {
    let mut state = d.initial();
    assert!(state == d.initial(), "initial is not the same twice");
    let (mut moves, mut again, mut scratch, mut played) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PLAYOUT_MOVES_MAX {
        moves.clear();
        d.moves(&state, &mut moves);
        again.clear();
        d.moves(&state.clone(), &mut again);
        assert_eq!(moves, again, "the order of moves changes in\n{}", d.show(&state));
        assert!(d.parse_move(&state, "no such move").is_none() && d.parse_move(&state, "").is_none());
        let drawn = d.random_move(&state, rng, &mut scratch);
        let Some(mv) = drawn else {
            assert!(moves.is_empty(), "random_move finds none of {moves:?} in\n{}", d.show(&state));
            return (state, played);
        };
        played.push(mv);
        assert!(moves.contains(&mv), "random_move draws {mv:?}, not legal in\n{}", d.show(&state));
        let mut words = HashSet::new();
        for &mv in &moves {
            let word = d.show_move(&state, mv);
            assert!(
                !word.is_empty() && !word.contains(char::is_whitespace),
                "the text of {mv:?} is not a word"
            );
            assert_eq!(
                d.parse_move(&state, &word),
                Some(mv),
                "{word} does not parse back in\n{}",
                d.show(&state)
            );
            assert!(words.insert(word), "two moves with the text of {mv:?} in\n{}", d.show(&state));
        }
        at(&state, &moves);
        let mut twin = state.clone();
        d.play(&mut twin, mv);
        d.play(&mut state, mv);
        assert!(twin == state, "play of {mv:?} is not a function of the state");
        assert_eq!(hash(&twin), hash(&state), "equal states with different hashes");
    }
    panic!("a playout did not end within {PLAYOUT_MOVES_MAX} moves");
}

fn hash<T: Hash>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
