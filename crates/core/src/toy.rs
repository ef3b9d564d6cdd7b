//! The smallest domains: for the documentation, and as oracles in the tests of every search.

use crate::domain::{Domain, Game, Outcome, Problem, Side};
use crate::planes::{Cell, Layout, Learnable, Planes, Representation};

/// LeftMove: `depth` times left or right; the score is the number of lefts. A policy search learns it at once.
#[derive(Debug, Clone)]
pub struct LeftMove {
    /// The length of every playout.
    pub depth: u32,
}

impl Domain for LeftMove {
    type State = (u32, u32); // moves played, lefts among them
    type Move = bool; // true is left

    fn initial(&self) -> (u32, u32) {
        (0, 0)
    }

    fn moves(&self, state: &(u32, u32), out: &mut Vec<bool>) {
        if state.0 < self.depth {
            out.extend([true, false]);
        }
    }

    fn play(&self, state: &mut (u32, u32), left: bool) {
        state.0 += 1;
        state.1 += u32::from(left);
    }

    fn show(&self, state: &(u32, u32)) -> String {
        format!("{} of {} moves, {} left", state.0, self.depth, state.1)
    }

    fn show_move(&self, _: &(u32, u32), left: bool) -> String {
        if left { "left".into() } else { "right".into() }
    }

    fn learnable(&self) -> Option<&dyn Learnable<State = (u32, u32), Move = bool>> {
        (self.depth <= 256).then_some(self)
    }
}

/// A row of cells, one a move, with a one where the game stands; left has its value in the first plane, right in the
/// second.
impl Learnable for LeftMove {
    fn layout(&self) -> Layout {
        Layout {
            domain: "leftmove".into(),
            width: self.depth as usize,
            height: 1,
            representations: vec![Representation { name: "r1", planes: Planes::fixed(1) }],
            outputs: Planes::fixed(2),
        }
    }

    fn features(&self, state: &(u32, u32), _: usize, out: &mut Vec<Cell>) {
        out.push(Cell { plane: 0, x: state.0 as u8, y: 0 });
    }

    fn output(&self, state: &(u32, u32), left: bool) -> Cell {
        Cell { plane: u8::from(!left), x: state.0 as u8, y: 0 }
    }

    fn output_of_code(&self, code: u64) -> Option<Cell> {
        Some(self.output(&((code / 2) as u32, 0), code % 2 == 1))
    }
}

impl Problem for LeftMove {
    fn score(&self, state: &(u32, u32)) -> f64 {
        state.1 as f64
    }

    fn code(&self, state: &(u32, u32), left: bool) -> u64 {
        2 * state.0 as u64 + u64::from(left)
    }

    fn codes_max(&self) -> Option<usize> {
        Some(2 * self.depth as usize)
    }

    fn best_known(&self) -> Option<f64> {
        Some(self.depth as f64)
    }
}

/// A tree written out node by node: a state is a node, a move the index of a child, a leaf has a score.
#[derive(Debug, Clone)]
pub struct Tree {
    /// `children[n]` are the children of node `n`; node 0 is the root.
    pub children: Vec<Vec<usize>>,
    /// `scores[n]` is the score of node `n`; only leaves' scores are looked at.
    pub scores: Vec<f64>,
}

impl Domain for Tree {
    type State = usize;
    type Move = usize; // the child's node number

    fn initial(&self) -> usize {
        0
    }

    fn moves(&self, &node: &usize, out: &mut Vec<usize>) {
        out.extend(&self.children[node]);
    }

    fn play(&self, node: &mut usize, child: usize) {
        *node = child;
    }

    fn show(&self, node: &usize) -> String {
        format!("node {node}")
    }

    fn show_move(&self, _: &usize, child: usize) -> String {
        child.to_string()
    }
}

impl Problem for Tree {
    fn score(&self, &node: &usize) -> f64 {
        self.scores[node]
    }

    fn code(&self, _: &usize, child: usize) -> u64 {
        // Spread out on purpose: the codes of this toy exercise the hashed policy, those of LeftMove the dense one.
        crate::rng::mix(child as u64)
    }
}

/// Nim on one heap: take one, two or three; who takes the last wins. Multiples of four are lost for the side to move.
#[derive(Debug, Clone)]
pub struct Nim {
    /// Objects at the start.
    pub heap: u32,
}

impl Domain for Nim {
    type State = (u32, bool); // objects left, second side to move
    type Move = u32;

    fn initial(&self) -> (u32, bool) {
        (self.heap, false)
    }

    fn moves(&self, state: &(u32, bool), out: &mut Vec<u32>) {
        out.extend(1..=state.0.min(3));
    }

    fn play(&self, state: &mut (u32, bool), take: u32) {
        state.0 -= take;
        state.1 = !state.1;
    }

    fn show(&self, state: &(u32, bool)) -> String {
        format!("{} left, {:?} to move", state.0, self.to_move(state))
    }

    fn show_move(&self, _: &(u32, bool), take: u32) -> String {
        take.to_string()
    }
}

impl Game for Nim {
    fn to_move(&self, state: &(u32, bool)) -> Side {
        if state.1 { Side::Second } else { Side::First }
    }

    fn outcome(&self, state: &(u32, bool)) -> Option<Outcome> {
        // The side that just moved took the last object.
        (state.0 == 0).then(|| Outcome::Win(self.to_move(state).other()))
    }

    fn key(&self, state: &(u32, bool)) -> u64 {
        crate::rng::mix(2 * state.0 as u64 + u64::from(state.1))
    }

    fn move_id(&self, take: u32) -> u16 {
        take as u16
    }

    fn move_of(&self, _: &(u32, bool), id: u16) -> u32 {
        u32::from(id)
    }

    fn position(&self, state: &(u32, bool)) -> Option<String> {
        Some(format!("{} {}", state.0, if state.1 { "second" } else { "first" }))
    }

    fn parse_position(&self, text: &str) -> Result<(u32, bool), String> {
        let expected = || "expected the heap and who is to move, as in '21 first'".to_string();
        let (heap, side) = text.trim().split_once(' ').ok_or_else(expected)?;
        let heap = heap.parse().map_err(|_| expected())?;
        match side.trim() {
            "first" => Ok((heap, false)),
            "second" => Ok((heap, true)),
            _ => Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[test]
    fn toys_conform() {
        conformance::problem(&LeftMove { depth: 12 }, 20, 1);
        let tree = Tree {
            children: vec![vec![1, 2], vec![3, 4], vec![], vec![], vec![]],
            scores: vec![0.0, 0.0, 5.0, 3.0, 9.0],
        };
        conformance::problem(&tree, 20, 1);
        conformance::game(&Nim { heap: 21 }, 20, 1);
    }
}
