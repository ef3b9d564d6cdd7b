//! Local search on a solution: one move is played earlier or later, or another one in between, and then all others in
//! their order, as far as they are still there.
//!
//! What a move is after such a change, its cell does not tell, for cells fall. So a solution is the order in which tiles
//! are taken: of every group one tile by where it was at the start. A tile whose group is gone is passed over, a lone one
//! waits until it has company; when the list ends, chance goes on by the selective policy. What scores as well as the
//! best takes its place, so that the search drifts along ridges.

use super::bits::{Bits, spread};
use super::{SameGame, State};
use sortie_core::{Choices, Domain, Problem, Processor, Rng};

/// Changes that are tried. With half a playout for each they cost about as much as a call of level 1.
const TRIES: usize = 100;

/// A solution, step by step.
struct Way<const LANE: usize, const W: usize> {
    /// `states[i]`: after i moves. What stands behind the last is left over from longer ones.
    states: Vec<State<LANE, W>>,
    moves: Vec<u16>,
    /// `tiles[i]`: a tile of the group that move i takes.
    tiles: Vec<u16>,
}

/// A better solution than these moves, if one is found.
pub fn improve<const LANE: usize, const W: usize>(
    game: &SameGame<LANE, W>,
    moves: &[u16],
    rng: &mut Rng,
) -> Option<Vec<u16>> {
    let mut best = Way { states: vec![game.initial()], moves: Vec::new(), tiles: Vec::new() };
    moves.iter().for_each(|&mv| best.play(game, mv));
    let before = game.score(best.last());
    let mut best_score = before;
    let (mut state, mut played) = (game.initial(), Vec::new());
    let (mut list, mut choices) = (Vec::new(), Choices::new());
    for _ in 0..if moves.is_empty() { 0 } else { TRIES } {
        let from = rng.below(best.moves.len());
        list.clear();
        list.extend_from_slice(&best.tiles[from..]);
        let by_chance = change(&mut list, rng);
        state.clone_from(&best.states[from]);
        played.clear();
        while !state.groups.is_empty() {
            let listed = if by_chance && played.is_empty() { None } else { next(&state, &mut list) };
            let mv = listed.unwrap_or_else(|| {
                choices.clear();
                game.choices(&state, &mut choices);
                choices.moves[rng.below(choices.moves.len())]
            });
            game.play(&mut state, mv);
            played.push(mv);
        }
        let score = game.score(&state);
        if score >= best_score {
            best_score = score;
            best.moves.truncate(from);
            best.tiles.truncate(from);
            played.iter().for_each(|&mv| best.play(game, mv));
        }
    }
    (best_score > before).then_some(best.moves)
}

/// Changes a list of tiles at its beginning; true: chance makes the first move.
fn change(list: &mut [u16], rng: &mut Rng) -> bool {
    let other = rng.below(list.len());
    match rng.below(3) {
        // The first later.
        0 => list[..=other].rotate_left(1),
        // Another one first.
        1 => list[..=other].rotate_right(1),
        _ => return true,
    }
    false
}

/// The first move of a list that can be played, which is taken out of it.
fn next<const LANE: usize, const W: usize>(state: &State<LANE, W>, list: &mut Vec<u16>) -> Option<u16> {
    let mut at = 0;
    while at < list.len() {
        let Some(cell) = state.cell_of(list[at]) else {
            list.remove(at);
            continue;
        };
        let group = state.groups.iter().find(|group| state.shape(group.name).contains(cell));
        if let Some(group) = group {
            list.remove(at);
            return Some(group.first);
        }
        at += 1;
    }
    None
}

impl<const LANE: usize, const W: usize> Way<LANE, W> {
    fn last(&self) -> &State<LANE, W> {
        &self.states[self.moves.len()]
    }

    fn play(&mut self, game: &SameGame<LANE, W>, mv: u16) {
        let at = self.moves.len();
        self.tiles.push(self.last().tile_at(mv));
        self.moves.push(mv);
        if self.states.len() == at + 1 {
            self.states.push(self.states[at].clone());
        }
        let (before, after) = self.states.split_at_mut(at + 1);
        after[0].clone_from(&before[at]);
        game.play(&mut after[0], mv);
    }
}

impl<const LANE: usize, const W: usize> State<LANE, W> {
    /// Where the tile of a cell was at the start.
    pub(super) fn tile_at(&self, cell: u16) -> u16 {
        let (column, row) = (cell as usize / LANE, cell as usize % LANE);
        let from = spread(1 << column, self.standing, Processor::PORTABLE).trailing_zeros() as usize;
        let height = spread(1 << row, self.tiles_of(column), Processor::PORTABLE).trailing_zeros() as usize;
        (from * LANE + height) as u16
    }

    /// Where that tile is now; `None`: it is gone.
    pub(super) fn cell_of(&self, tile: u16) -> Option<usize> {
        let (from, height) = (tile as usize / LANE, tile as usize % LANE);
        let below = |bits: u64, place: usize| (bits & ((1 << place) - 1)).count_ones() as usize;
        let standing = self.standing >> from & 1 == 1;
        let column = below(self.standing, from);
        let tiles = if standing { self.tiles_of(column) } else { 0 };
        (tiles >> height & 1 == 1).then(|| column * LANE + below(tiles, height))
    }

    /// The rows at the start of the tiles that are left of a column.
    fn tiles_of(&self, column: usize) -> u64 {
        let at = column * LANE;
        self.tiles.0[at / 64] >> (at % 64) & Bits::<LANE, W>::LANE_MASK
    }
}
