//! Boards: the twenty standard ones, random ones, files, and the names of cells.

use super::COLOURS_MAX;
use sortie_core::Rng;
use sortie_core::{OpenError, Request};

pub const NAMES: &str =
    "1 to 20 (the standard boards), COLUMNSxROWSxCOLOURS-SEED (random), or the path of a board file";

/// The largest board: 64 columns of 63 rows.
const COLUMNS_MAX: usize = 64;
const ROWS_MAX: usize = 63;

static STANDARD: &str = include_str!("../../instances/samegame/standard20.txt");

/// The best scores known for the standard boards under the papers' rule: the list of js-games.de as of 2016.
const BEST_KNOWN: [u32; 20] = [
    3413, 4023, 4019, 4215, 4379, 4869, 3435, 4771, 5041, 3937, 3783, 3921, 3821, 3263, 4161, 5517, 5227,
    5503, 5343, 5217,
];

/// A full board.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    pub columns: usize,
    pub rows: usize,
    /// `cells[row * columns + column]`, row 0 at the bottom.
    cells: Vec<u8>,
    pub best_known: Option<f64>,
}

impl Board {
    pub fn colour(&self, column: usize, row: usize) -> u8 {
        self.cells[row * self.columns + column]
    }
}

pub fn open(request: &Request) -> Result<Board, OpenError> {
    let name = request.name;
    if !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) {
        return match name.parse() {
            Ok(number @ 1..=20) => Ok(standard(number)),
            _ => Err(out_of_range(name, "the standard boards are numbered 1 to 20".into())),
        };
    }
    if let Some(result) = random(name) {
        return result;
    }
    let text = request.read_file("samegame", NAMES)?;
    parse(&text).map_err(|(line, message)| OpenError::Parse { path: name.to_string(), line, message })
}

fn out_of_range(name: &str, message: String) -> OpenError {
    OpenError::OutOfRange { domain: "samegame", name: name.to_string(), message }
}

fn standard(number: usize) -> Board {
    let header = format!("board {number}");
    let block =
        STANDARD.lines().skip_while(|line| *line != header).skip(1).take_while(|line| !line.is_empty());
    let block: Vec<&str> = block.collect();
    let mut board = parse(&block.join("\n")).expect("the built-in boards are well formed");
    board.best_known = Some(BEST_KNOWN[number - 1] as f64);
    board
}

/// `15x15x5-7`: columns, rows, colours, seed. `None`: the name has another form.
fn random(name: &str) -> Option<Result<Board, OpenError>> {
    let (size, seed) = name.split_once('-')?;
    let numbers: Vec<usize> = size.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (&[columns, rows, colours], Ok(seed)) = (numbers.as_slice(), seed.parse()) else { return None };
    let fits = (1..=COLUMNS_MAX).contains(&columns) && (1..=ROWS_MAX).contains(&rows);
    if !fits || !(1..=COLOURS_MAX).contains(&colours) {
        let message = format!(
            "at most {COLUMNS_MAX} columns, {ROWS_MAX} rows and {COLOURS_MAX} colours, none of them 0"
        );
        return Some(Err(out_of_range(name, message)));
    }
    let mut rng = Rng::new(seed, 0);
    let cells = (0..columns * rows).map(|_| rng.below(colours) as u8).collect();
    Some(Ok(Board { columns, rows, cells, best_known: None }))
}

/// Rows of digits, the top row first; spaces between the digits and lines that start with # do not count.
fn parse(text: &str) -> Result<Board, (usize, String)> {
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let mut last = 1;
    for (line, number) in text.lines().zip(1..) {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        last = number;
        let mut row = Vec::new();
        for (column, c) in (1..).zip(line.chars()).filter(|(_, c)| !c.is_whitespace()) {
            match c.to_digit(10) {
                Some(colour) if (colour as usize) < COLOURS_MAX => row.push(colour as u8),
                _ => {
                    return Err((
                        number,
                        format!(
                            "column {column}: '{c}' is not a colour: expected digits 0 to {}",
                            COLOURS_MAX - 1
                        ),
                    ));
                }
            }
        }
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            let message = format!(
                "{} cells, but the rows above have {}: is the row cut off?",
                row.len(),
                rows[0].len()
            );
            return Err((number, message));
        }
        if row.len() > COLUMNS_MAX || rows.len() == ROWS_MAX {
            return Err((number, format!("a board has at most {COLUMNS_MAX} columns and {ROWS_MAX} rows")));
        }
        rows.push(row);
    }
    let Some(columns) = rows.first().map(Vec::len) else {
        return Err((last, "no board: expected rows of digits, the top row first".into()));
    };
    let cells = rows.iter().rev().flatten().copied().collect();
    Ok(Board { columns, rows: rows.len(), cells, best_known: None })
}

/// `c4`: column by letters (a to z, then aa, ab ...), row from 1 at the bottom.
pub fn cell_name(column: usize, row: usize) -> String {
    let letter = |i: usize| (b'a' + i as u8) as char;
    let mut name = String::new();
    if column >= 26 {
        name.push(letter(column / 26 - 1));
    }
    name.push(letter(column % 26));
    name + &(row + 1).to_string()
}

pub fn parse_cell(word: &str) -> Option<(usize, usize)> {
    let digits = word.find(|c: char| c.is_ascii_digit())?;
    let (letters, number) = word.split_at(digits);
    let column = match letters.as_bytes() {
        [a @ b'a'..=b'z'] => (a - b'a') as usize,
        [a @ b'a'..=b'z', b @ b'a'..=b'z'] => ((a - b'a' + 1) as usize) * 26 + (b - b'a') as usize,
        _ => return None,
    };
    let row: usize = number.parse().ok().filter(|_| !number.starts_with(['0', '+']))?;
    Some((column, row - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_boards_are_as_published() {
        for number in 1..=20 {
            let board = standard(number);
            assert_eq!((board.columns, board.rows), (15, 15));
            let mut counts = [0; 5];
            board.cells.iter().for_each(|&c| counts[c as usize] += 1);
            counts.sort();
            match number {
                11..=15 => assert_eq!(counts, [45; 5]),
                16..=20 => assert_eq!(counts, [40, 40, 40, 40, 65]),
                _ => assert!(counts[0] > 0),
            }
        }
        // The top left and bottom right corners of board 1.
        assert_eq!((standard(1).colour(0, 14), standard(1).colour(14, 0)), (3, 2));
    }

    #[test]
    fn broken_boards_name_their_line() {
        let line = |text: &str| parse(text).unwrap_err().0;
        assert_eq!(line("# nothing\n\n"), 1);
        assert_eq!(line("0123\n012\n"), 2);
        assert_eq!(line("0123\n0189\n"), 2);
        assert_eq!(line(&"0".repeat(65)), 1);
        assert_eq!(line(&"01\n".repeat(64)), 64);
        assert_eq!(parse("0 1\n2 3\n").unwrap().cells, [2, 3, 0, 1]);
        assert!(random("99x5x3-1").unwrap().is_err());
        assert!(random("boards/a-1").is_none());
    }

    #[test]
    fn cell_names_round_trip() {
        for column in 0..64 {
            for row in 0..63 {
                assert_eq!(parse_cell(&cell_name(column, row)), Some((column, row)));
            }
        }
        for word in ["", "a", "7", "a0", "a01", "A1", "aaa1", "é1", "a99999999999999999999"] {
            assert_eq!(parse_cell(word), None, "{word}");
        }
    }
}
