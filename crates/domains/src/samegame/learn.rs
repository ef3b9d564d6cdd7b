//! SameGame as planes: one a colour, and one with the cell that names each group. Moves have their values there. A
//! board that falls and closes to the left has no symmetries.

use super::{SameGame, State};
use sortie_core::planes::{Cell, Layout, Learnable, Planes, Representation};

impl<const LANE: usize, const W: usize> SameGame<LANE, W> {
    fn colours(&self) -> usize {
        self.start.colours as usize
    }

    fn cell(&self, plane: usize, cell: usize) -> Cell {
        let y = self.board.rows - 1 - cell % LANE;
        Cell { plane: plane as u8, x: (cell / LANE) as u8, y: y as u8 }
    }
}

impl<const LANE: usize, const W: usize> Learnable for SameGame<LANE, W> {
    fn layout(&self) -> Layout {
        let planes = Planes::fixed(self.colours() + 1);
        Layout {
            domain: "samegame".into(),
            width: self.board.columns,
            height: self.board.rows,
            representations: vec![Representation { name: "r1", planes }],
            outputs: Planes::fixed(1),
        }
    }

    fn features(&self, state: &State<LANE, W>, _: usize, out: &mut Vec<Cell>) {
        for colour in 0..self.colours() {
            for (word, &bits) in state.cells[colour].0.iter().enumerate() {
                let mut bits = bits;
                while bits != 0 {
                    out.push(self.cell(colour, 64 * word + bits.trailing_zeros() as usize));
                    bits &= bits - 1;
                }
            }
        }
        out.extend(state.groups.iter().map(|group| self.cell(self.colours(), group.first as usize)));
    }

    fn output(&self, _: &State<LANE, W>, mv: u16) -> Cell {
        self.cell(0, mv as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::board;
    use super::*;
    use sortie_core::Domain;
    use sortie_core::planes::Scene;
    use sortie_core::{Options, Request};

    #[test]
    fn a_board_drawn_by_hand() {
        let read = |_: &str| Ok("0 0 1\n2 1 1\n".to_string());
        let board = board::open(&Request { name: "x", options: Options::default(), read: &read });
        let game = SameGame::<16, 4>::new(board.expect("a board"), false, false);
        let state = game.initial();
        let mut moves = Vec::new();
        game.moves(&state, &mut moves);
        let mut scene = Scene::default();
        game.scene(&state, &moves, 0, 3, &mut scene);
        let mut planes = [0.0; 4 * 9];
        scene.planes(3, &mut planes);
        // Row by row from the top; the window's last row is below the board.
        let rows = |plane: usize| {
            let row =
                |y: usize| planes[plane * 9 + 3 * y..][..3].iter().map(|&v| v as u32).collect::<Vec<_>>();
            [row(0), row(1), row(2)]
        };
        assert_eq!(rows(0), [[1, 1, 0], [0, 0, 0], [0, 0, 0]].map(Vec::from));
        assert_eq!(rows(1), [[0, 0, 1], [0, 1, 1], [0, 0, 0]].map(Vec::from));
        assert_eq!(rows(2), [[0, 0, 0], [1, 0, 0], [0, 0, 0]].map(Vec::from));
        // The groups are named by their leftmost column, and there the lowest cell.
        assert_eq!(rows(3), [[1, 0, 0], [0, 1, 0], [0, 0, 0]].map(Vec::from));
        assert_eq!(scene.outputs, [(0, 0), (1, 1)].map(|(x, y)| Cell { plane: 0, x, y }));
        assert_eq!(Learnable::layout(&game).symmetries(), 1);
    }
}
