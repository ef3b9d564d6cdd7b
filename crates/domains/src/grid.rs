//! What the games on squared (and Hex) boards share: the names of cells, a position as one line, the board as text and
//! as a drawing, and how random games go on boards that only fill up.
//!
//! Columns are letters from `a` on (`i` is not left out), rows numbers from 1. The stones are `x` for the first side
//! and `o` for the second.

use sortie_core::picture::{
    BLACK, CELL, Colour, INK, PALETTE, PAPER, Picture, SHADED, Shape, Spot, WHITE, WOOD, rim,
};
use sortie_core::{Entry, OpenError, Request};
use sortie_core::{Game, Outcome, Rng, Side, mix};

/// The largest width and height: 19 letters, and two digits are enough for a row.
pub const SIDE_MAX: usize = 19;

/// The measures of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    pub width: usize,
    pub height: usize,
    /// As Hex is drawn: row 1 on top, every row half a cell to the right of the one above. Otherwise row 1 is below.
    pub slanted: bool,
}

impl Grid {
    /// An upright board.
    pub fn new(width: usize, height: usize) -> Grid {
        Grid { width, height, slanted: false }
    }

    /// The rows as they are seen, from the top.
    fn rows(self) -> impl Iterator<Item = usize> {
        (0..self.height).map(move |i| if self.slanted { i } else { self.height - 1 - i })
    }

    /// The cell that a name means.
    pub fn parse_cell(self, word: &str) -> Option<(usize, usize)> {
        let letter = *word.as_bytes().first()?;
        let column = usize::from(letter.checked_sub(b'a')?);
        let digits = word.get(1..)?;
        let row: usize = digits.parse().ok()?;
        let inside = column < self.width && (1..=self.height).contains(&row);
        // A plus sign and leading zeros would be second names of the same cell.
        (inside && digits.as_bytes()[0].is_ascii_digit() && digits.as_bytes()[0] != b'0')
            .then(|| (column, row - 1))
    }

    /// A position as one line: the rows from the top, numbers for runs of empty cells, and who is to move.
    pub fn line(self, at: impl Fn(usize, usize) -> Option<Side>, to_move: Side) -> String {
        let row_text = |row| {
            let (mut text, mut empty) = (String::new(), 0);
            for column in 0..self.width {
                match at(column, row) {
                    None => empty += 1,
                    Some(side) => {
                        if empty > 0 {
                            text += &empty.to_string();
                        }
                        empty = 0;
                        text.push(letter(side));
                    }
                }
            }
            if empty > 0 { text + &empty.to_string() } else { text }
        };
        let rows: Vec<String> = self.rows().map(row_text).collect();
        format!("{} {}", rows.join("/"), letter(to_move))
    }

    /// Where a cell is in a mirror image of the board.
    pub fn image(self, how: Image, (column, row): (usize, usize)) -> (usize, usize) {
        let (across, down) = (self.width - 1 - column, self.height - 1 - row);
        match how {
            Image::Same => (column, row),
            Image::Across => (across, row),
            Image::Down => (column, down),
            Image::Turned => (across, down),
            Image::Swapped => (row, column),
            Image::Left => (down, column),
            Image::Right => (row, across),
            Image::Back => (down, across),
        }
    }

    /// The line of a mirror image.
    pub fn line_image(self, how: Image, at: impl Fn(usize, usize) -> Option<Side>, to_move: Side) -> String {
        let from = |column, row| self.image(how.inverse(), (column, row));
        self.line(
            |column, row| {
                let (c, r) = from(column, row);
                at(c, r)
            },
            to_move,
        )
    }

    /// The stones and the side to move that `line` wrote; `stones[row * width + column]`.
    pub fn parse_line(self, text: &str) -> Result<(Vec<Option<Side>>, Side), String> {
        let expected = || {
            let example = self.line(|_, _| None, Side::First);
            format!("expected {} rows and who is to move, as in '{example}'", self.height)
        };
        let (rows, to_move) = text.trim().split_once(' ').ok_or_else(expected)?;
        let to_move = match to_move.trim() {
            "x" => Side::First,
            "o" => Side::Second,
            other => return Err(format!("'{}' is to move: expected x or o", short(other))),
        };
        let count = rows.split('/').count();
        if count != self.height {
            return Err(format!("{count} rows: {}", expected()));
        }
        let mut stones = vec![None; self.width * self.height];
        for (row, text) in self.rows().zip(rows.split('/')) {
            let wrong = |what: String| format!("row {} ('{}') {what}", row + 1, short(text));
            let (mut column, mut run) = (0, 0);
            for c in text.chars() {
                if let Some(digit) = c.to_digit(10) {
                    run = (10 * run + digit as usize).min(1000);
                    continue;
                }
                column += std::mem::take(&mut run);
                let side = match c {
                    'x' => Side::First,
                    'o' => Side::Second,
                    _ => return Err(wrong(format!("has a '{c}': expected x, o and numbers of empty cells"))),
                };
                if column < self.width {
                    stones[row * self.width + column] = Some(side);
                }
                column += 1;
            }
            if column + run != self.width {
                return Err(wrong(format!("has {} cells: expected {}", column + run, self.width)));
            }
        }
        Ok((stones, to_move))
    }

    /// The board for a terminal, its coordinates around it and `below` underneath.
    pub fn text(self, at: impl Fn(usize, usize) -> Option<Side>, below: &str) -> String {
        let letters: Vec<String> = (0..self.width).map(|c| column_name(c).to_string()).collect();
        let mut lines = Vec::new();
        if self.slanted {
            lines.push(format!("   {}", letters.join(" ")));
        }
        for (i, row) in self.rows().enumerate() {
            let cells: Vec<String> =
                (0..self.width).map(|c| at(c, row).map_or('.', letter).to_string()).collect();
            let indent = if self.slanted { i } else { 0 };
            lines.push(format!("{:indent$}{:>2} {}", "", row + 1, cells.join(" ")));
        }
        if !self.slanted {
            lines.push(format!("   {}", letters.join(" ")));
        }
        lines.push(below.to_string());
        lines.join("\n")
    }

    /// The board as a drawing.
    pub fn picture(self, look: Look, at: impl Fn(usize, usize) -> Option<Side>, standing: &str) -> Picture {
        // Rows of a Hex board overlap, so that the hexagons meet.
        let step = if self.slanted { SIDE * 0.75_f64.sqrt() } else { SIDE };
        let slant = if self.slanted { SIDE / 2.0 } else { 0.0 };
        // What is written grows with the board, which is shown in the same room whatever its size.
        let board_width = SIDE * self.width as f64 + slant * (self.height - 1) as f64;
        let size = (board_width / 34.0).clamp(11.0, 22.0);
        let (margin, top) = (2.2 * size, 4.0 * size);
        let width = 2.0 * margin + board_width;
        let mut picture = Picture::new(width.max(220.0), top + margin + step * self.height as f64, standing);
        picture.sides = look.sides();
        let left = (picture.width - width) / 2.0 + margin;
        let middle = |column: usize, i: usize| {
            (left + slant * i as f64 + SIDE * (column as f64 + 0.5), top + step * (i as f64 + 0.5))
        };
        let text = |x, y, size, text: String| Shape::Text { x, y, size, fill: INK, text };
        picture.shapes.push(text(picture.width / 2.0, 1.4 * size, 1.15 * size, standing.into()));
        let rows: Vec<usize> = self.rows().collect();
        let rim = if look == Look::Hex { HEX_RIM } else { 0.0 };
        self.ground(look, (left, top), &middle, &rows, &mut picture.shapes);
        for (i, &row) in rows.iter().enumerate() {
            let (x, y) = middle(0, i);
            picture.shapes.push(text(x - SIDE / 2.0 - 0.95 * size - rim, y, size, (row + 1).to_string()));
            for column in 0..self.width {
                let (x, y) = middle(column, i);
                picture.spots.push(Spot { name: cell_name(column, row), x, y, r: SIDE * 0.48 });
                if i == 0 {
                    picture.shapes.push(text(
                        x,
                        top - 0.85 * size - 1.6 * rim,
                        size,
                        column_name(column).to_string(),
                    ));
                }
                if let Some(side) = at(column, row) {
                    look.piece(side, (x, y), &mut picture.shapes);
                }
            }
        }
        picture
    }

    /// The empty board.
    fn ground(
        self,
        look: Look,
        (left, top): (f64, f64),
        middle: &dyn Fn(usize, usize) -> (f64, f64),
        rows: &[usize],
        shapes: &mut Vec<Shape>,
    ) {
        let (w, h) = (SIDE * self.width as f64, SIDE * self.height as f64);
        let plate = |fill| Shape::Rect { x: left, y: top, w, h, round: 4.0, fill };
        let cells = || (0..rows.len()).flat_map(move |i| (0..self.width).map(move |column| (column, i)));
        match look {
            Look::Stones => {
                shapes.push(plate(WOOD));
                let line = |a: (f64, f64), b: (f64, f64)| Shape::Line {
                    points: vec![a, b],
                    width: 1.2,
                    stroke: LINE,
                };
                let (last_column, last_row) = (self.width - 1, rows.len() - 1);
                shapes.extend((0..rows.len()).map(|i| line(middle(0, i), middle(last_column, i))));
                shapes.extend((0..self.width).map(|c| line(middle(c, 0), middle(c, last_row))));
                for column in stars(self.width) {
                    for i in stars(self.height) {
                        let (x, y) = middle(column, i);
                        shapes.push(Shape::Circle { x, y, r: 4.0, fill: LINE });
                    }
                }
            }
            Look::Hex => {
                // The rims show whose they are: top and bottom are the first side's. Each is a row of hexagons that the
                // cells hide but for their outer edges.
                let rim = HEX_RIM;
                for (column, i) in cells() {
                    let (x, y) = middle(column, i);
                    let mut edge =
                        |dx: f64, dy: f64, fill| shapes.push(hexagon(x + dx, y + dy, SIDE * 0.58, fill));
                    if column == 0 {
                        edge(-rim, rim * 0.5, EDGE);
                    }
                    if column + 1 == self.width {
                        edge(rim, -rim * 0.5, EDGE);
                    }
                    if i == 0 {
                        edge(-rim * 0.5, -rim, BLACK);
                    }
                    if i + 1 == rows.len() {
                        edge(rim * 0.5, rim, BLACK);
                    }
                }
                for (column, i) in cells() {
                    let (x, y) = middle(column, i);
                    shapes.push(hexagon(x, y, SIDE * 0.58, LINE));
                    shapes.push(hexagon(x, y, SIDE * 0.56, WOOD));
                }
            }
            Look::Discs => {
                shapes.push(plate(PANEL));
                for (column, i) in cells() {
                    let (x, y) = middle(column, i);
                    shapes.push(Shape::Circle { x, y, r: SIDE * 0.4, fill: PAPER });
                }
            }
            Look::Pieces | Look::Signs => {
                for (column, i) in cells() {
                    let (x, y) = middle(column, i);
                    let shaded = look == Look::Pieces && (column + rows[i]).is_multiple_of(2);
                    let (w, round) = if look == Look::Pieces { (SIDE, 0.0) } else { (SIDE * 0.94, 3.0) };
                    let (x, y, fill) = (x - w / 2.0, y - w / 2.0, if shaded { SHADED } else { CELL });
                    shapes.push(Shape::Rect { x, y, w, h: w, round, fill });
                }
            }
        }
    }
}

/// The side of a cell in a drawing.
const SIDE: f64 = 40.0;
/// How far the coloured edges of a Hex board stand out.
const HEX_RIM: f64 = SIDE * 0.17;
/// Lines on wood.
const LINE: Colour = 0x6b5330;
/// The frame of Connect Four.
const PANEL: Colour = 0x2f6db3;
/// White's edges of a Hex board, which must be told from the paper.
const EDGE: Colour = 0xd2d3da;

/// How a board is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Black and white stones on the crossings of lines.
    Stones,
    /// Black and white stones on hexagons.
    Hex,
    /// Red and yellow discs in a frame.
    Discs,
    /// Black and white pieces on squares.
    Pieces,
    /// Crosses and noughts.
    Signs,
}

impl Look {
    fn sides(self) -> [(&'static str, Colour); 2] {
        match self {
            Look::Stones | Look::Hex | Look::Pieces => [("black", BLACK), ("white", WHITE)],
            Look::Discs => [("red", 0xd8432e), ("yellow", 0xf2c230)],
            Look::Signs => [("crosses", PALETTE[0]), ("noughts", PALETTE[1])],
        }
    }

    fn piece(self, side: Side, (x, y): (f64, f64), shapes: &mut Vec<Shape>) {
        let fill = self.sides()[side as usize].1;
        match (self, side) {
            (Look::Signs, Side::First) => {
                let d = SIDE * 0.26;
                for points in [vec![(x - d, y - d), (x + d, y + d)], vec![(x - d, y + d), (x + d, y - d)]] {
                    shapes.push(Shape::Line { points, width: SIDE * 0.11, stroke: fill });
                }
            }
            (Look::Signs, Side::Second) => {
                shapes.push(Shape::Circle { x, y, r: SIDE * 0.34, fill });
                shapes.push(Shape::Circle { x, y, r: SIDE * 0.23, fill: CELL });
            }
            _ => {
                let r = SIDE * if self == Look::Stones { 0.45 } else { 0.39 };
                shapes.push(Shape::Stone { x, y, r, fill, rim: rim(fill) });
            }
        }
    }

    /// How a game stands, in the words of the board.
    pub fn standing(self, outcome: Option<Outcome>, to_move: Side) -> String {
        let name = |side: Side| {
            let name = self.sides()[side as usize].0;
            name[..1].to_uppercase() + &name[1..]
        };
        // Crosses and noughts are many.
        let many = self == Look::Signs;
        match outcome {
            None => format!("{} to move", name(to_move)),
            Some(Outcome::Win(side)) => format!("{} {} won", name(side), if many { "have" } else { "has" }),
            Some(Outcome::Draw) => "A draw".into(),
        }
    }
}

/// Where the points are that help the eye on a board of so many lines.
fn stars(lines: usize) -> Vec<usize> {
    match lines {
        13.. => {
            let from = if lines < 16 { 3 } else { 3 + usize::from(lines.is_multiple_of(2)) };
            let mut all = vec![from, lines - 1 - from];
            if !lines.is_multiple_of(2) {
                all.push(lines / 2);
            }
            all
        }
        9..13 => vec![2, lines - 3],
        _ => Vec::new(),
    }
}

/// A mirror image of a board: what leaves a square as it is. Only boards of equal sides have those that swap columns and
/// rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    Same,
    Across,
    Down,
    Turned,
    Swapped,
    Left,
    Right,
    Back,
}

impl Image {
    /// All that a square has.
    pub const SQUARE: [Image; 8] = [
        Image::Same,
        Image::Across,
        Image::Down,
        Image::Turned,
        Image::Swapped,
        Image::Left,
        Image::Right,
        Image::Back,
    ];
    /// Left and right change places.
    pub const MIRROR: [Image; 2] = [Image::Same, Image::Across];
    /// Half a turn.
    pub const TURN: [Image; 2] = [Image::Same, Image::Turned];

    /// What makes it the board again.
    pub fn inverse(self) -> Image {
        match self {
            Image::Left => Image::Right,
            Image::Right => Image::Left,
            own => own,
        }
    }
}

/// Enough of a text for an error of one line.
pub fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

fn hexagon(x: f64, y: f64, r: f64, fill: Colour) -> Shape {
    let corner = |i: u32| {
        let angle = f64::from(2 * i + 1) * std::f64::consts::PI / 6.0;
        (x + r * angle.cos(), y + r * angle.sin())
    };
    Shape::Area { points: (0..6).map(corner).collect(), fill, opacity: 1.0 }
}

/// The letter of a column.
pub fn column_name(column: usize) -> char {
    (b'a' + column as u8) as char
}

/// The name of a cell.
pub fn cell_name(column: usize, row: usize) -> String {
    format!("{}{}", column_name(column), row + 1)
}

/// The letter of a side's stones.
pub fn letter(side: Side) -> char {
    match side {
        Side::First => 'x',
        Side::Second => 'o',
    }
}

/// Whose turn it is after so many moves, where the sides move in turn.
#[inline]
pub fn turn(played: u32) -> Side {
    if played.is_multiple_of(2) { Side::First } else { Side::Second }
}

/// How a game stands, in words.
pub fn standing(outcome: Option<Outcome>, to_move: Side) -> String {
    match outcome {
        None => format!("{} to move", letter(to_move)),
        Some(Outcome::Win(side)) => format!("{} has won", letter(side)),
        Some(Outcome::Draw) => "a draw".into(),
    }
}

/// Draws must be uniform over the legal moves of a position, of which there are `count`: those of `random_move`, and the
/// first move of a playout, which a game may draw in another way.
#[cfg(test)]
pub fn assert_uniform<G: Game>(game: &G, state: &G::State, count: usize) {
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    assert_eq!(moves.len(), count);
    let (mut rng, mut scratch) = (Rng::new(6, 0), Vec::new());
    let uneven = unevenness(&moves, || game.random_move(state, &mut rng, &mut scratch).expect("a move"));
    assert!(uneven < 2.5, "random_move: {uneven}");
    let mut rng = Rng::new(7, 0);
    let after = |mv| {
        let mut next = state.clone();
        game.play(&mut next, mv);
        next
    };
    let uneven = unevenness(&moves, || {
        let mut next = state.clone();
        game.rollout(&mut next, 1, 1, &mut rng, &mut scratch);
        *moves.iter().find(|mv| after(**mv) == next).expect("one move was played")
    });
    assert!(uneven < 2.5, "rollout: {uneven}");
}

/// How far draws are from uniform over `choices`: chi-square over the mean it has then, so about 1.
#[cfg(test)]
fn unevenness<M: PartialEq>(choices: &[M], mut draw: impl FnMut() -> M) -> f64 {
    let mut counts = vec![0.0; choices.len()];
    let expected = 2000.0;
    for _ in 0..2000 * choices.len() {
        let drawn = draw();
        counts[choices.iter().position(|choice| *choice == drawn).expect("a legal move")] += 1.0;
    }
    let chi2: f64 = counts.iter().map(|count| (count - expected) * (count - expected) / expected).sum();
    chi2 / (choices.len() - 1) as f64
}

/// The random number of a stone on a cell: the key of a position is the xor of them (Zobrist).
#[inline]
pub fn zobrist(cell: usize, side: Side) -> u64 {
    mix(2 * cell as u64 + u64::from(side == Side::Second))
}

/// Width and height from `8` or `6x8`, both within `min..=max`.
pub fn parse_size(request: &Request, entry: &Entry, min: usize, max: usize) -> Result<Grid, OpenError> {
    let (width, height) = request.name.split_once('x').unwrap_or((request.name, request.name));
    match (width.parse(), height.parse()) {
        (Ok(w), Ok(h)) if (min..=max).contains(&w) && (min..=max).contains(&h) => Ok(Grid::new(w, h)),
        _ => Err(out_of_range(request, entry)),
    }
}

/// The width of a square board, within `min..=max`.
pub fn parse_square(request: &Request, entry: &Entry, min: usize, max: usize) -> Result<usize, OpenError> {
    match request.name.parse() {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        _ => Err(out_of_range(request, entry)),
    }
}

/// The name means nothing to this domain.
pub fn out_of_range(request: &Request, entry: &Entry) -> OpenError {
    OpenError::OutOfRange {
        domain: entry.name,
        name: request.name.to_string(),
        message: format!("expected {}", entry.names),
    }
}

/// Checks that the sides have moved in turn, the first side first.
pub fn check_turns(stones: &[Option<Side>], to_move: Side) -> Result<(), String> {
    let count = |side| stones.iter().filter(|stone| **stone == Some(side)).count();
    let (first, second) = (count(Side::First), count(Side::Second));
    let ahead = usize::from(to_move == Side::Second);
    if first == second + ahead {
        return Ok(());
    }
    Err(format!("{first} x and {second} o with {} to move: the sides move in turn, x first", letter(to_move)))
}

/// `Game::rollout` where every empty cell is a legal move until the end: the empty cells are listed once, and each
/// move is taken out of the list. The moves are distributed as by the default.
pub fn rollout_by_filling<G: Game>(
    game: &G,
    state: &mut G::State,
    draws: u32,
    moves_max: u32,
    rng: &mut Rng,
    cells: &mut Vec<G::Move>,
) -> Option<Outcome> {
    cells.clear();
    game.moves(state, cells);
    for _ in 0..moves_max {
        if cells.is_empty() {
            break;
        }
        let mut best = rng.below(cells.len());
        for _ in 1..draws {
            let other = rng.below(cells.len());
            if game.appeal(state, cells[other]) > game.appeal(state, cells[best]) {
                best = other;
            }
        }
        let mv = cells.swap_remove(best);
        game.play(state, mv);
        let outcome = game.outcome(state);
        if outcome.is_some() {
            return outcome;
        }
    }
    game.outcome(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_one_name_each() {
        let grid = Grid::new(19, 12);
        for column in 0..19 {
            for row in 0..12 {
                assert_eq!(grid.parse_cell(&cell_name(column, row)), Some((column, row)));
            }
        }
        for bad in
            ["", "a", "a0", "a13", "t1", "a+1", "a01", "1a", "é1", "aé", "a1 ", "A1", "a99999999999999999999"]
        {
            assert_eq!(grid.parse_cell(bad), None, "{bad}");
        }
    }

    #[test]
    fn lines_are_read_back_and_errors_say_where() {
        let grid = Grid::new(12, 2);
        let text = "11x/o9oo o";
        let (stones, to_move) = grid.parse_line(text).unwrap();
        assert_eq!(grid.line(|column, row| stones[12 * row + column], to_move), text);
        assert_eq!(stones[0], Some(Side::Second));
        for (bad, says) in [
            ("12/12", "expected 2 rows"),
            ("12 x", "1 rows"),
            ("12/12 y", "expected x or o"),
            ("12/13 x", "row 1 ('13') has 13 cells"),
            ("11q/12 x", "row 2 ('11q') has a 'q'"),
            ("99999999999999999999999x/12 x", "has 1001 cells"),
            ("xxxxxxxxxxxxx/12 x", "has 13 cells"),
            ("/ x", "has 0 cells"),
        ] {
            let error = grid.parse_line(bad).unwrap_err();
            assert!(error.contains(says), "{bad}: {error}");
        }
    }

    #[test]
    fn boards_are_drawn_with_their_coordinates() {
        let at = |column: usize, row: usize| (column == 1 && row == 0).then_some(Side::Second);
        assert_eq!(Grid::new(3, 2).text(at, "end"), " 2 . . .\n 1 . o .\n   a b c\nend");
        let slanted = Grid { width: 2, height: 2, slanted: true };
        assert_eq!(slanted.text(at, "end"), "   a b\n 1 . o\n  2 . .\nend");
        let svg = slanted.picture(Look::Hex, at, "White to move").svg();
        // Each cell twice, for its outline, and two edges of each of the four, which are all corners.
        assert_eq!((svg.matches("<polygon").count(), svg.matches("<circle").count()), (16, 1));
        let stones = Grid::new(19, 19).picture(Look::Stones, at, "White to move");
        let count = |is: fn(&Shape) -> bool| stones.shapes.iter().filter(|shape| is(shape)).count();
        assert_eq!(count(|shape| matches!(shape, Shape::Line { .. })), 38, "lines both ways");
        assert_eq!(count(|shape| matches!(shape, Shape::Circle { .. })), 9, "star points");
        assert_eq!(count(|shape| matches!(shape, Shape::Stone { fill: WHITE, .. })), 1);
        assert_eq!(stars(15), [3, 11, 7]);
        assert!(stars(5).is_empty());
    }

    #[test]
    fn boards_name_their_sides_as_people_do() {
        assert_eq!(Look::Stones.standing(None, Side::First), "Black to move");
        assert_eq!(Look::Discs.standing(Some(Outcome::Win(Side::Second)), Side::First), "Yellow has won");
        assert_eq!(Look::Signs.standing(Some(Outcome::Win(Side::First)), Side::Second), "Crosses have won");
    }
}
