//! The games as the peers want them: known by type alone, and with a playout that brings its own random numbers.

use sortie_core::{Domain, Game, Outcome, Rng};
use sortie_domains::{Connect4, Loa, Rules};
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// A game that there is one of.
pub trait Ground: Game<State: 'static, Move: 'static> {
    /// A position that can be copied bit by bit.
    type Flat: Copy;

    /// The game.
    fn ground() -> &'static Self;
    /// A copy of it to be owned.
    fn owned() -> Self;
    fn flat(state: Self::State) -> Self::Flat;
    fn state(flat: &Self::Flat) -> &Self::State;
    fn state_mut(flat: &mut Self::Flat) -> &mut Self::State;
}

impl Ground for Connect4 {
    type Flat = <Connect4 as Domain>::State;

    fn ground() -> &'static Connect4 {
        &Connect4
    }

    fn owned() -> Connect4 {
        Connect4
    }

    fn flat(state: Self::Flat) -> Self::Flat {
        state
    }

    fn state(flat: &Self::Flat) -> &Self::Flat {
        flat
    }

    fn state_mut(flat: &mut Self::Flat) -> &mut Self::Flat {
        flat
    }
}

type LoaState = <Loa as Domain>::State;

/// The bits of a position of Lines of Action.
///
/// Sound to copy and never to drop, because under `RULES` a position owns nothing: its only vector, the history, is
/// kept for repetitions alone and stays without memory. What the game does to a copy therefore frees nothing either.
#[derive(Clone, Copy)]
pub struct LoaBits([MaybeUninit<u64>; size_of::<LoaState>() / 8]);

const _: () = assert!(size_of::<LoaBits>() == size_of::<LoaState>() && align_of::<LoaState>() <= 8);

/// Without repetition.
const RULES: Rules = Rules::THESIS;
static LOA: LazyLock<Loa> = LazyLock::new(Loa::owned);

impl Ground for Loa {
    type Flat = LoaBits;

    fn ground() -> &'static Loa {
        &LOA
    }

    fn owned() -> Loa {
        Loa::new(RULES)
    }

    fn flat(state: LoaState) -> LoaBits {
        // Of the same size, and any bits are a LoaBits; the position itself is forgotten by the move.
        unsafe { std::mem::transmute::<LoaState, LoaBits>(state) }
    }

    fn state(flat: &LoaBits) -> &LoaState {
        // Made by `flat` only, from a position; the alignment is checked above.
        unsafe { &*flat.0.as_ptr().cast() }
    }

    fn state_mut(flat: &mut LoaBits) -> &mut LoaState {
        // As above, and the borrow is unique.
        unsafe { &mut *flat.0.as_mut_ptr().cast() }
    }
}

/// Threads that ever play out here.
const THREADS_MAX: usize = 128;

/// One thread's count, on cache lines of its own.
#[repr(align(128))]
struct Count(AtomicU64);

static COUNTS: [Count; THREADS_MAX] = [const { Count(AtomicU64::new(0)) }; THREADS_MAX];
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static DICE: RefCell<(Rng, &'static AtomicU64)> = {
        let number = THREADS.fetch_add(1, Relaxed);
        RefCell::new((Rng::new(1, number as u64), &COUNTS[number % THREADS_MAX].0))
    };
}

/// A uniformly random game from here, by our fast kernel.
pub fn play_out<G: Ground>(state: &mut G::State) -> Outcome {
    DICE.with_borrow_mut(|(rng, count)| {
        // Nobody else writes here: no need to lock the bus.
        count.store(count.load(Relaxed) + 1, Relaxed);
        let outcome = G::ground().rollout(state, 1, 100_000, rng, &mut Vec::new());
        outcome.unwrap_or(Outcome::Draw)
    })
}

/// How often `play_out` was called, by all threads.
pub fn playouts() -> u64 {
    COUNTS.iter().map(|count| count.0.load(Relaxed)).sum()
}

/// The legal moves, as a list of one's own.
pub fn moves<G: Ground>(state: &G::State) -> Vec<G::Move> {
    let mut moves = Vec::new();
    G::ground().moves(state, &mut moves);
    moves
}

/// A move of the start position in our words.
pub fn word<G: Ground>(best: Option<G::Move>) -> String {
    let game = G::ground();
    best.map_or_else(|| "none".into(), |mv| game.show_move(&game.initial(), mv))
}
