//! What a window is worth: learned from games, by the stones in it and by what lies at its two ends. A window counts for a
//! side as long as the other has no stone in it; the same window is worth more to the side whose turn it is, so each has
//! two weights.
//!
//! The table is `weights.txt`; `examples/connect6_tune.rs` makes it.

/// By side to move and side that waits.
pub type Pair = [i16; 2];

/// What lies beyond an end of a window, as one side sees it: nothing, its own stone, or the other's or the edge.
pub const ENDS: usize = 3;
/// Windows that differ: which of six cells have stones, and both ends.
pub const PATTERNS: usize = 64 * ENDS * ENDS;
/// Points of the table for one natural logarithm of the odds.
pub const POINTS: f64 = 256.0;

/// The weights of all patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// By pattern.
    pub worth: Vec<Pair>,
    /// What it is worth to be to move.
    pub tempo: i16,
}

/// The number of a pattern: the stones as bits, the left end first, and the ends.
#[inline]
pub fn pattern(stones: u8, left: usize, right: usize) -> usize {
    (left * ENDS + right) * 64 + usize::from(stones)
}

/// The pattern seen from the other end.
pub fn mirrored(pattern: usize) -> usize {
    let (stones, ends) = (pattern % 64, pattern / 64);
    ((ends % ENDS) * ENDS + ends / ENDS) * 64 + ((stones as u8).reverse_bits() >> 2) as usize
}

impl Weights {
    /// The table that the engine plays with.
    pub fn ours() -> Weights {
        Weights::parse(include_str!("weights.txt")).expect("the table is sound, or its test fails")
    }

    /// Reads a table. Lines that begin with # are comments; the error names a line.
    pub fn parse(text: &str) -> Result<Weights, String> {
        let mut worth: Vec<Option<Pair>> = vec![None; PATTERNS];
        let mut tempo = None;
        for (line, number) in text.lines().zip(1..) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let whole =
                |word: &str| word.parse().map_err(|_| format!("line {number}: '{word}' is no weight"));
            match words[..] {
                [] => {}
                [first, ..] if first.starts_with('#') && !is_pattern(first) => {}
                ["tempo", points] => tempo = Some(whole(points)?),
                [name, mover, other] => {
                    let at = parse_pattern(name)
                        .ok_or_else(|| format!("line {number}: '{name}' is no pattern"))?;
                    let pair = [whole(mover)?, whole(other)?];
                    (worth[at], worth[mirrored(at)]) = (Some(pair), Some(pair));
                }
                _ => return Err(format!("line {number}: expected a pattern and two weights")),
            }
        }
        // A window without stones is nobody's.
        for ends in 0..ENDS * ENDS {
            worth[ends * 64] = Some([0; 2]);
        }
        if let Some(at) = worth.iter().position(Option::is_none) {
            return Err(format!("there is no weight for {}", show_pattern(at)));
        }
        let tempo = tempo.ok_or("there is no line 'tempo'")?;
        Ok(Weights { worth: worth.into_iter().flatten().collect(), tempo })
    }

    /// The table as `parse` reads it, below some lines of where it comes from.
    pub fn show(&self, origin: &str) -> String {
        let mut text: String = origin.lines().map(|line| format!("# {line}\n")).collect();
        text += &format!("tempo {}\n", self.tempo);
        for at in (0..PATTERNS).filter(|&at| at % 64 != 0 && at <= mirrored(at)) {
            let [mover, other] = self.worth[at];
            text += &format!("{} {mover} {other}\n", show_pattern(at));
        }
        text
    }
}

/// A pattern as eight letters: `x` a stone, `.` nothing, `#` at an end what stands in the way.
pub fn show_pattern(pattern: usize) -> String {
    let end = |end: usize| ['.', 'x', '#'][end];
    let (stones, ends) = (pattern % 64, pattern / 64);
    let inside = (0..6).map(|i| if stones >> i & 1 == 1 { 'x' } else { '.' });
    [end(ends / ENDS)].into_iter().chain(inside).chain([end(ends % ENDS)]).collect()
}

fn is_pattern(word: &str) -> bool {
    word.len() == 8 && word.chars().all(|c| "x.#".contains(c))
}

fn parse_pattern(word: &str) -> Option<usize> {
    let cells = word.as_bytes();
    if !is_pattern(word) || cells[1..7].contains(&b'#') {
        return None;
    }
    let end = |cell: u8| b".x#".iter().position(|c| *c == cell);
    let stones = (0..6).filter(|i| cells[i + 1] == b'x').map(|i| 1 << i).sum();
    Some(pattern(stones, end(cells[0])?, end(cells[7])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_back_and_says_where_it_comes_from() {
        let ours = Weights::ours();
        assert_eq!(Weights::parse(&ours.show("again")), Ok(ours));
        assert!(include_str!("weights.txt").starts_with("# "));
    }

    #[test]
    fn more_stones_are_worth_more_and_mirror_images_the_same() {
        let ours = Weights::ours();
        for at in 0..PATTERNS {
            assert_eq!(ours.worth[at], ours.worth[mirrored(at)], "{}", show_pattern(at));
            assert_eq!(parse_pattern(&show_pattern(at)), Some(at));
        }
        let open = |stones: u8| ours.worth[pattern(stones, 0, 0)];
        assert!(open(0b001110)[0] > open(0b001100)[0] && open(0b001100)[0] > open(0b000100)[0]);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_named() {
        for (text, says) in [
            ("tempo much", "line 1: 'much' is no weight"),
            ("#x.....# 1 2\nx 1 2", "line 2: 'x' is no pattern"),
            ("..x#.... 1 2", "is no pattern"),
            ("tempo 3\n..x..... 1", "line 2: expected"),
            ("tempo 3\n", "there is no weight for .x......"),
        ] {
            let error = Weights::parse(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
