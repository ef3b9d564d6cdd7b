//! What a player knows about Lines of Action beyond its rules, after M. Christoph's thesis (Stellenbosch 2020): the
//! move categories of its section 4.1.3.2, the evaluation by concentration of 4.1.3.1 (a part of M. Winands'), and a
//! cheap preference for playouts, which is ours.

use super::kernel::Move;

/// Categories of moves: region from, region to, capture or not.
pub const CATEGORIES: usize = 32;

/// The probabilities of the thesis, in the format of `parse_categories`.
pub const THESIS: &str = include_str!("categories.txt");

const REGIONS: &[u8] = b"ABCD";

/// The region of a square: corners, the rest of the rim, the two rings inside, the four squares in the middle.
const fn region(square: usize) -> usize {
    match (ring(square % 8), ring(square / 8)) {
        (0, 0) => 0,
        (0, _) | (_, 0) => 1,
        (3, 3) => 3,
        _ => 2,
    }
}

/// How far a row or column is from the nearer edge.
const fn ring(at: usize) -> usize {
    if at < 4 { at } else { 7 - at }
}

/// The category of a move. To pass is one like any other: it is never a choice.
pub fn category(mv: Move, capture: bool) -> usize {
    index(region(mv.from()), region(mv.to()), capture)
}

const fn index(from: usize, to: usize, capture: bool) -> usize {
    from * 8 + to * 2 + capture as usize
}

/// A table of categories as `parse_categories` reads it.
pub fn show_categories(weights: &[f64]) -> String {
    let mut text = "# from to capture quiet\n".to_string();
    for (from, to) in (0..16).map(|i| (i / 4, i % 4)) {
        let (a, b) = (char::from(REGIONS[from]), char::from(REGIONS[to]));
        let of = |capture| weights[index(from, to, capture)];
        text += &format!("{a} {b} {:.4} {:.4}\n", of(true), of(false));
    }
    text
}

/// A table of categories: sixteen lines of two regions (`A` to `D`, from and to) and two numbers in `0..=1`, for
/// captures and for other moves. Empty lines and what follows a `#` are skipped. The error has the line, from 1.
pub fn parse_categories(text: &str) -> Result<[f64; CATEGORIES], (usize, String)> {
    let mut table = [None; CATEGORIES];
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let expected = || {
            (
                i + 1,
                "expected two regions A to D and two numbers from 0 to 1, as in 'B C 0.2471 0.0453'".into(),
            )
        };
        let [from, to, capture, quiet] = words[..] else { return Err(expected()) };
        let region = |word: &str| REGIONS.iter().position(|&r| word.as_bytes() == [r]).ok_or_else(expected);
        let weight = |word: &str| match word.parse() {
            Ok(w) if (0.0..=1.0).contains(&w) => Ok(w),
            _ => Err(expected()),
        };
        let (from, to) = (region(from)?, region(to)?);
        for (capture, word) in [(true, capture), (false, quiet)] {
            if table[index(from, to, capture)].replace(weight(word)?).is_some() {
                return Err((i + 1, format!("the line of {} {} is there twice", words[0], words[1])));
            }
        }
    }
    let mut weights = [0.0; CATEGORIES];
    for (i, weight) in table.iter().enumerate() {
        let name = |region: usize| REGIONS[region] as char;
        weights[i] = weight.ok_or_else(|| {
            (
                text.lines().count().max(1),
                format!("the line of {} {} is missing", name(i / 8), name(i / 2 % 4)),
            )
        })?;
    }
    Ok(weights)
}

/// `CENTRE[square]`: the nearer to the middle of the board, the higher.
static CENTRE: [i8; 64] = centre();
/// What a capture is worth, in steps towards the middle.
const CAPTURE: i32 = 2;

const fn centre() -> [i8; 64] {
    let mut table = [0; 64];
    let mut square = 0;
    while square < 64 {
        table[square] = (ring(square % 8) + ring(square / 8)) as i8;
        square += 1;
    }
    table
}

/// How good a move looks: towards the middle, and captures.
#[inline(always)]
pub fn appeal(opp: u64, mv: Move) -> i32 {
    let gain = i32::from(CENTRE[mv.to()]) - i32::from(CENTRE[mv.from()]);
    gain + CAPTURE * (opp >> mv.to() & 1) as i32
}

/// How close together the pieces of a side stand: 1 over the excess of their distances from their centre of mass.
///
/// The centre of mass is rounded to a square and a distance is a king's number of steps. The excess is over the sum of
/// minimal distances (SOMD), what as many pieces would have crowding around a square in the open: without it few
/// pieces would always seem closer than many. The thesis does not say what 1 over an excess of 0 is; here, 1.
pub fn concentration(pieces: u64) -> f64 {
    let excess = distances(pieces).saturating_sub(distances_min(pieces.count_ones()));
    1.0 / f64::from(excess.max(1))
}

/// The sum of the distances of the pieces from their centre of mass.
fn distances(pieces: u64) -> u32 {
    // Bit by bit of the number of a column or row.
    let sum = |masks: [u64; 3]| {
        let count = |i: usize| (pieces & masks[i]).count_ones() << i;
        count(0) + count(1) + count(2)
    };
    let n = pieces.count_ones().max(1);
    let middle = |sum: u32| (2 * sum + n) / (2 * n);
    let column = middle(sum([0xaaaa_aaaa_aaaa_aaaa, 0xcccc_cccc_cccc_cccc, 0xf0f0_f0f0_f0f0_f0f0]));
    let row = middle(sum([0xff00_ff00_ff00_ff00, 0xffff_0000_ffff_0000, 0xffff_ffff_0000_0000]));
    let (mut left, mut total) = (pieces, 0);
    while left != 0 {
        let square = left.trailing_zeros();
        left &= left - 1;
        total += (square % 8).abs_diff(column).max((square / 8).abs_diff(row));
    }
    total
}

/// SOMD: one piece in the middle, eight around it, sixteen around those.
fn distances_min(pieces: u32) -> u32 {
    let (mut left, mut ring, mut total) = (pieces.saturating_sub(1), 1, 0);
    while left > 0 {
        let here = left.min(8 * ring);
        total += here * ring;
        left -= here;
        ring += 1;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_distances_grow_ring_by_ring() {
        let all: Vec<u32> = (0..=12).map(distances_min).collect();
        assert_eq!(all, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14]);
        // A square of nine, far from the middle of the board.
        assert_eq!(distances(0x0707_0700), 8);
        assert_eq!(concentration(0x0707_0700), 1.0);
        // Two opposite corners: the centre is rounded to e5.
        assert_eq!(distances(1 | 1 << 63), 4 + 3);
        assert_eq!(concentration(1 | 1 << 63), 1.0 / 6.0);
    }

    #[test]
    fn regions_are_those_of_the_figure() {
        let counts = (0..64).fold([0; 4], |mut counts, square| {
            counts[region(square)] += 1;
            counts
        });
        assert_eq!(counts, [4, 24, 32, 4]);
        assert_eq!([0, 1, 9, 27].map(region), [0, 1, 2, 3]);
    }

    #[test]
    fn tables_of_categories_are_checked() {
        let table = parse_categories(THESIS).unwrap();
        // b1xd3 and b1-d3, e4-c2.
        assert_eq!(table[category(Move::new(1, 19), true)], 0.2471);
        assert_eq!(table[category(Move::new(1, 19), false)], 0.0453);
        assert_eq!(table[category(Move::new(28, 10), false)], 0.0146);
        let line = |text: &str| parse_categories(text).unwrap_err();
        assert_eq!(line(""), (1, "the line of A A is missing".into()));
        assert_eq!(line("# regions\nA A 0 1\nA A 0 1\n"), (3, "the line of A A is there twice".into()));
        for bad in
            ["A A 0", "A A 0 2", "A A -1 0", "A E 0 0", "AA A 0 0", "A A NaN 0", "A A 0 0 0", "é A 0 0"]
        {
            assert_eq!(line(bad).0, 1, "{bad}");
            assert!(line(bad).1.starts_with("expected"), "{bad}");
        }
    }
}
