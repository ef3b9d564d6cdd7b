//! Boards in colour, on a terminal that wants it. A board is text, so this looks for rows: a number, then cells that are
//! colours (digits, as in SameGame) or stones (`x`, `o` and dots). Everything else stays as it is.

use std::io::IsTerminal;

/// Backgrounds of the colours 0 to 9 as terminals number them, told apart by light as well as by hue.
const COLOURS: [u8; 10] = [167, 71, 68, 179, 97, 73, 173, 245, 131, 65];
/// The first side's stones, the second's, and what is empty.
const FIRST: &str = "\x1b[1;34m";
const SECOND: &str = "\x1b[1;31m";
const EMPTY: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// A board as stdout is to have it.
pub fn board(text: &str) -> String {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()); // no-color.org
    if std::io::stdout().is_terminal() && !dumb && !refused { painted(text) } else { text.to_string() }
}

fn painted(text: &str) -> String {
    let rows = text.lines().map(|line| match row(line) {
        Some((label, cells)) => format!("{label}{}", cells.chars().map(cell).collect::<String>()),
        None => line.to_string(),
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// The number of a row with the space around it, and its cells.
fn row(line: &str) -> Option<(&str, &str)> {
    let start = line.len() - line.trim_start().len();
    let digits = line[start..].find(|c: char| !c.is_ascii_digit())?;
    let after = &line[start + digits..];
    let space = after.len() - after.trim_start().len();
    let (label, cells) = line.split_at(start + digits + space);
    let colours = cells.chars().all(|c| c.is_ascii_digit() || c == '.');
    let stones = cells.chars().all(|c| "xo. ".contains(c));
    (digits > 0 && space > 0 && !cells.is_empty() && (colours || stones)).then_some((label, cells))
}

fn cell(c: char) -> String {
    match c {
        'x' => format!("{FIRST}x{PLAIN}"),
        'o' => format!("{SECOND}o{PLAIN}"),
        '.' => format!("{EMPTY}.{PLAIN}"),
        c => match c.to_digit(10) {
            Some(colour) => format!("\x1b[30;48;5;{}m{c}{PLAIN}", COLOURS[colour as usize]),
            None => c.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_painted_and_nothing_else() {
        let text = " 2 012.\n 1 . x o\n   abcd\n5 of 9 moves\n12 points after 3 moves";
        let painted = painted(text);
        let lines: Vec<&str> = painted.lines().collect();
        assert!(
            lines[0].starts_with(" 2 \x1b[30;48;5;167m0\x1b[0m") && lines[0].ends_with("\x1b[2m.\x1b[0m")
        );
        assert!(lines[1].contains("\x1b[1;34mx\x1b[0m \x1b[1;31mo\x1b[0m"));
        assert_eq!(lines[2..], ["   abcd", "5 of 9 moves", "12 points after 3 moves"]);
        // Without the colours it is what it was.
        let mut bare = painted.clone();
        while let Some(at) = bare.find('\x1b') {
            let end = at + bare[at..].find('m').expect("a sequence ends");
            bare.replace_range(at..=end, "");
        }
        assert_eq!(bare, text);
    }
}
