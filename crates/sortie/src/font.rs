//! A stroke font for the pixels of `show --png`: printable ASCII as polylines, so that no font file is needed.
//!
//! A glyph is a string: lines apart by `/`, points apart by spaces, a point two digits, x from 0 to 4 and y from 0
//! (top of a capital) over 6 (base line) to 8. A line of one point is a dot.

/// The width of a stroke, as a part of the size.
pub const WEIGHT: f64 = 0.085;
/// The same for a dot.
pub const DOT: f64 = 0.13;
/// One step of the grid, as a part of the size: capitals are 0.72 high, a character takes 0.57.
const STEP_X: f64 = 0.095;
const STEP_Y: f64 = 0.12;
/// From one character to the next, in steps.
const ADVANCE: f64 = 6.0;

/// `GLYPHS[c - 32]` for the characters from space to tilde.
#[rustfmt::skip]
const GLYPHS: [&str; 95] = [
    "", "20 24/26", "10 12/30 32", "10 16/30 36/02 42/04 44", // space ! " #
    "41 30 10 01 02 13 33 44 45 36 16 05/20 26", "40 06/00 10 11 01 00/35 45 46 36 35", // $ %
    "46 12 11 20 30 31 03 05 16 26 44", "20 22", "30 12 14 36", "10 32 34 16", // & ' ( )
    "21 25/02 44/42 04", "21 25/03 43", "25 26 17", "03 43", "26", "40 06", // * + , - . /
    "10 30 41 45 36 16 05 01 10", "11 20 26/16 36", "01 10 30 41 42 06 46", // 0 1 2
    "00 40 22 32 43 45 36 16 05", "30 04 44/30 36", "40 00 02 32 43 45 36 16 05", // 3 4 5
    "40 20 02 05 16 36 45 44 33 03", "00 40 16", // 6 7
    "10 30 41 42 33 13 02 01 10/13 04 05 16 36 45 44 33", "06 26 44 41 30 10 01 02 13 43", // 8 9
    "22/26", "22/25 26 17", "41 03 45", "02 42/04 44", "01 43 05", "01 10 30 41 42 23 24/26", // : ; < = > ?
    "34 32 22 13 14 25 34 44 42 30 10 01 05 16 46", "06 20 46/14 34", // @ A
    "00 06 36 45 44 33 03/33 42 41 30 00", "41 30 10 01 05 16 36 45", "00 06 26 44 42 20 00", // B C D
    "40 00 06 46/03 33", "40 00 06/03 33", "41 30 10 01 05 16 36 45 43 23", "00 06/40 46/03 43", // E F G H
    "10 30/20 26/16 36", "40 45 36 16 05", "00 06/40 03 46", "00 06 46", "06 00 23 40 46", // I J K L M
    "06 00 46 40", "10 30 41 45 36 16 05 01 10", "06 00 30 41 42 33 03", // N O P
    "10 30 41 45 36 16 05 01 10/34 46", "06 00 30 41 42 33 03/23 46", // Q R
    "41 30 10 01 02 13 33 44 45 36 16 05", "00 40/20 26", "00 05 16 36 45 40", "00 26 40", // S T U V
    "00 16 22 36 40", "00 46/40 06", "00 23 40/23 26", "00 40 06 46", // W X Y Z
    "30 10 16 36", "00 46", "10 30 36 16", "02 20 42", "07 47", "10 21", // [ \ ] ^ _ `
    "12 32 43 46/44 14 05 16 36 45", "00 06/03 12 32 43 45 36 16 05", "43 32 12 03 05 16 36 45", // a b c
    "40 46/43 32 12 03 05 16 36 45", "04 44 43 32 12 03 05 16 36", "30 21 26/12 32", // d e f
    "42 47 38 18 07/43 32 12 03 05 16 36 45", "00 06/03 12 32 43 46", "20/12 22 26/16 36", // g h i
    "30/32 37 28 18", "00 06/42 04 46", "10 20 25 36", "06 02/03 12 23 26/23 32 43 46", // j k l m
    "02 06/03 12 32 43 46", "12 32 43 45 36 16 05 03 12", "02 08/03 12 32 43 45 36 16 05", // n o p
    "42 48/43 32 12 03 05 16 36 45", "02 06/04 22 42", "43 32 12 03 14 34 45 36 16 05", // q r s
    "20 25 36/12 32", "02 05 16 36 45/42 46", "02 26 42", "02 16 24 36 42", "02 46/42 06", // t u v w x
    "02 26/42 18", "02 42 06 46", "30 21 22 13 24 25 36", "20 27", "10 21 22 33 24 25 16", // y z { | }
    "03 12 34 43", // ~
];

/// What stands for a character that is not here.
const BOX: &str = "00 40 46 06 00";

/// How wide a text is.
pub fn width(text: &str, size: f64) -> f64 {
    (text.chars().count() as f64 * ADVANCE - (ADVANCE - 4.0)) * STEP_X * size
}

/// The lines of a text whose middle is at (x, y).
pub fn strokes(text: &str, x: f64, y: f64, size: f64) -> Vec<Vec<(f64, f64)>> {
    let mut lines = Vec::new();
    let mut left = x - width(text, size) / 2.0;
    for c in text.chars() {
        let index = (c as usize).wrapping_sub(32);
        for line in GLYPHS.get(index).unwrap_or(&BOX).split('/').filter(|line| !line.is_empty()) {
            let point = |point: &str| {
                let [px, py] = [0, 1].map(|i| f64::from(point.as_bytes()[i] - b'0'));
                (left + px * STEP_X * size, y + (py - 3.0) * STEP_Y * size)
            };
            lines.push(line.split(' ').map(point).collect());
        }
        left += ADVANCE * STEP_X * size;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_is_well_formed_and_its_own() {
        let mut seen = std::collections::HashMap::new();
        for (c, glyph) in (' '..='~').zip(GLYPHS) {
            for point in glyph.split(['/', ' ']).filter(|point| !point.is_empty()) {
                let digits: Vec<u32> = point.chars().filter_map(|d| d.to_digit(10)).collect();
                assert!(matches!(digits[..], [0..=4, 0..=8]) && point.len() == 2, "{c}: {point}");
            }
            if let Some(other) = seen.insert(glyph, c) {
                assert!((other, c) == ('0', 'O'), "{other} and {c} look the same");
            }
        }
    }

    #[test]
    fn a_text_is_centred() {
        for text in ["H", "HH", "H8H", "Hé", "H\n\u{7f}H"] {
            let xs: Vec<f64> = strokes(text, 50.0, 20.0, 10.0).into_iter().flatten().map(|p| p.0).collect();
            let (low, high) =
                (xs.iter().copied().fold(f64::MAX, f64::min), xs.iter().copied().fold(f64::MIN, f64::max));
            assert!((low + high - 100.0).abs() < 1e-9, "{text}: {low} to {high}");
        }
    }
}
