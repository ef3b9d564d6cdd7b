//! Where texts of strangers come in, for the fuzz targets: no promise.

use crate::convert::Format;
use crate::players::Player;

/// A record as others write it, in every format.
pub fn convert(text: &str) {
    let formats = [Format::Record, Format::Pentasol, Format::Msr, Format::Sol, Format::Sintef, Format::Sgf];
    let _ = Format::of(text);
    for format in formats {
        let Ok(read) = format.read(text) else { continue };
        assert_eq!(read.moves.len(), read.lines.len(), "every move stood on a line");
        let instance = read.instance.clone().unwrap_or_else(|| "gomoku/9".into());
        let _ = format.translate(read, &instance);
    }
}

/// A player as text.
pub fn player(text: &str) {
    if let Ok(player) = Player::parse(text) {
        let _ = (player.starts_a_program(), player.parameters());
    }
}
