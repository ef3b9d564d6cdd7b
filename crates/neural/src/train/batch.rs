//! Positions made ready for training: only the cells that their moves depend on.
//!
//! The value of a move needs its cell of the last layer, that needs the 3x3 cells around it in the layer before, and so
//! on down. Early in a game that is most of the board, later a small part of it, so a batch lists the cells of every
//! layer as rows of a matrix, and where the nine neighbours of each are. Nothing is left out that the loss depends on:
//! the gradient is that of the dense network, at a tenth of its price.

use super::params::padded;
use crate::spec::NetSpec;
use sortie_core::planes::Scene;
use std::ops::Range;

/// A tap of a 3x3 convolution that lies outside of the window, where every layer is zero.
pub const OUTSIDE: u32 = 0;

/// Some positions, as the rows that each layer has to compute.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// The cells of the input that are one, as they count in the first layer: (row, row of the weights).
    pub ones: Vec<(u32, u32)>,
    /// `rows[i]`: the rows of layer i, the first one included.
    pub rows: Vec<usize>,
    /// `taps[i][9 * row + tap]`: one more than the row of layer i - 1 that lies there, or `OUTSIDE`. Nothing for layer 0.
    pub taps: Vec<Vec<u32>>,
    /// The moves of all positions: `row of the last layer * padded outputs + plane`.
    pub moves: Vec<u32>,
    /// Position e has the moves `ends[e - 1]..ends[e]`.
    pub ends: Vec<usize>,
    /// The index in `moves` of what was played.
    pub played: Vec<usize>,
    /// Position e has the rows `tops[e - 1]..tops[e]` of the last layer: one for each cell that a move has its logit at.
    pub tops: Vec<usize>,
    /// What the value of each position should be.
    pub targets: Vec<f32>,
}

/// Makes batches; holds what it needs between them.
#[derive(Debug)]
pub struct Builder {
    size: usize,
    depth: usize,
    ins: usize,
    outs: usize,
    /// `maps[i][cell]`: one more than the row of layer i, or 0.
    maps: Vec<Vec<u32>>,
    /// `cells[i]`: the cells of layer i, in the order of their rows.
    cells: Vec<Vec<u16>>,
}

impl Builder {
    /// For networks like this one.
    pub fn new(spec: &NetSpec) -> Builder {
        Builder {
            size: spec.size,
            depth: spec.depth,
            ins: padded(spec.inputs),
            outs: padded(spec.outputs),
            maps: vec![vec![0; spec.size * spec.size]; spec.depth],
            cells: vec![Vec::new(); spec.depth],
        }
    }

    /// An empty batch.
    pub fn begin(&self) -> Batch {
        Batch { rows: vec![0; self.depth], taps: vec![Vec::new(); self.depth], ..Batch::default() }
    }

    /// Adds a position, the index of the move played there and what its value should be, which only a network with
    /// that head looks at. False, and nothing is added, if the window does not show that move.
    pub fn add(&mut self, batch: &mut Batch, scene: &Scene, played: usize, target: f32) -> bool {
        let (size, area) = (self.size, self.size * self.size);
        if scene.index(scene.outputs[played], size).is_none() {
            return false;
        }
        let last = self.depth - 1;
        self.claim(
            last,
            batch.rows[last],
            scene.outputs.iter().filter_map(|&cell| Some(scene.index(cell, size)? % area)),
        );
        for (i, &cell) in scene.outputs.iter().enumerate() {
            // Moves that the window does not show take no part.
            let Some(index) = scene.index(cell, size) else { continue };
            if i == played {
                batch.played.push(batch.moves.len());
            }
            batch.moves.push((self.maps[last][index % area] - 1) * self.outs as u32 + (index / area) as u32);
        }
        batch.ends.push(batch.moves.len());
        batch.tops.push(batch.rows[last] + self.cells[last].len());
        batch.targets.push(target);

        for i in (1..self.depth).rev() {
            let cells = std::mem::take(&mut self.cells[i]);
            let around = |&cell: &u16| (0..9).filter_map(move |tap| neighbour(cell as usize, tap, size));
            self.claim(i - 1, batch.rows[i - 1], cells.iter().flat_map(around));
            for &cell in &cells {
                let row =
                    |tap| neighbour(cell as usize, tap, size).map_or(OUTSIDE, |cell| self.maps[i - 1][cell]);
                batch.taps[i].extend((0..9).map(row));
            }
            self.cells[i] = cells;
        }
        for index in scene.inputs.iter().filter_map(|&cell| scene.index(cell, size)) {
            for tap in 0..9 {
                // The cell that sees this one at `tap` sees it from the other side.
                let Some(cell) = neighbour(index % area, 8 - tap, size) else { continue };
                if let Some(row) = self.maps[0][cell].checked_sub(1) {
                    batch.ones.push((row, (tap * self.ins + index / area) as u32));
                }
            }
        }
        for i in 0..self.depth {
            batch.rows[i] += self.cells[i].len();
            for cell in self.cells[i].drain(..) {
                self.maps[i][cell as usize] = 0;
            }
        }
        true
    }

    /// Gives rows of a layer to cells, each once.
    fn claim(&mut self, layer: usize, first_row: usize, cells: impl Iterator<Item = usize>) {
        for cell in cells {
            if self.maps[layer][cell] == 0 {
                self.cells[layer].push(cell as u16);
                self.maps[layer][cell] = (first_row + self.cells[layer].len()) as u32;
            }
        }
    }
}

/// The cell that tap `tap` of a 3x3 convolution reads, if it is in the window.
fn neighbour(cell: usize, tap: usize, size: usize) -> Option<usize> {
    let (x, y) = (cell % size + tap % 3, cell / size + tap / 3);
    let inside = (1..=size).contains(&x) && (1..=size).contains(&y);
    inside.then(|| (y - 1) * size + x - 1)
}

impl Batch {
    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// For every position the range of its moves and the index of the one played.
    pub fn positions(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        ranges(&self.ends).zip(self.played.iter().copied())
    }

    /// For every position the range of its rows of the last layer, at least one.
    pub fn top_rows(&self) -> impl Iterator<Item = Range<usize>> {
        ranges(&self.tops)
    }
}

/// The ranges that end there, one after the other.
fn ranges(ends: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(ends).map(|(begin, &end)| begin..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::planes::Cell;

    #[test]
    fn a_move_needs_its_neighbourhood_and_no_more() {
        let spec = super::super::tests::tiny(crate::Architecture::Basic);
        let cell = |plane, x, y| Cell { plane, x, y };
        let mut builder = Builder::new(&spec);
        let mut batch = builder.begin();
        // In the corner of a window of 6 x 6: 1, then 2 x 2, then 3 x 3 cells.
        let scene = Scene {
            inputs: vec![cell(1, 0, 0), cell(0, 5, 5)],
            outputs: vec![cell(1, 0, 0), cell(0, 0, 0)],
            corner: (0, 0),
        };
        assert!(builder.add(&mut batch, &scene, 1, 0.5));
        assert_eq!(batch.rows, [9, 4, 1]);
        assert_eq!(batch.moves, [1, 0]);
        assert_eq!(batch.played, [1]);
        assert_eq!(batch.taps[2].iter().filter(|&&tap| tap == OUTSIDE).count(), 5);
        // The one in the corner is seen by the four cells around it, the far one by none.
        assert_eq!(batch.ones.len(), 4);
        // A second position has rows of its own; one whose move cannot be seen is left out.
        assert!(builder.add(&mut batch, &scene, 0, -1.0));
        assert_eq!(batch.rows, [18, 8, 2]);
        assert_eq!(batch.taps[2][9..].iter().filter(|&&tap| tap > 4).count(), 4);
        let far = Scene { outputs: vec![cell(0, 9, 9)], ..scene };
        assert!(!builder.add(&mut batch, &far, 0, 0.0));
        assert_eq!(batch.len(), 2);
        // Both moves are at the same cell.
        assert_eq!(batch.top_rows().collect::<Vec<_>>(), [0..1, 1..2]);
        assert_eq!(batch.targets, [0.5, -1.0]);
    }
}
