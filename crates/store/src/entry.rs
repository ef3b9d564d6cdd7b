//! What is kept of a position, and as how many bytes: 16 for the key and 12 for the rest, which end
//! with a checksum of both: what a disk has changed means nothing any more.

use crate::StoreError;
use serde::{Deserialize, Serialize};
use sortie_core::exact::{Bounds, Fact, Trust, Value};
use sortie_core::{Precondition, Side, mix};
use std::fmt;

/// A game as a database knows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GameName {
    /// `domain/name` with its options.
    pub game: String,
    /// The version of its rules.
    pub rules: u16,
}

impl GameName {
    /// The game that `to_string` wrote.
    pub fn parse(text: &str) -> Option<GameName> {
        let (game, rules) = text.rsplit_once('#')?;
        Some(GameName { game: game.into(), rules: rules.parse().ok()? })
    }
}

impl fmt::Display for GameName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.game, self.rules)
    }
}

/// Where entries come from, and how they can be proved again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// The run that proved it.
    pub run: String,
    /// Where the game of the position that was proved begins; `None`: at its own start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The moves from there to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
    /// The file of the proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// The game proves it again by its own means with so many nodes (`Game::settle`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Not the position alone, but every one after so many of the moves or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
}

impl Source {
    /// The moves to each of the positions that are proved again.
    pub fn positions(&self) -> impl Iterator<Item = &[String]> {
        (self.from.unwrap_or(self.moves.len()).min(self.moves.len())..=self.moves.len())
            .map(|n| &self.moves[..n])
    }
}

/// A hash of a text.
pub(crate) fn digest(text: &str) -> [u8; 16] {
    let half = |salt: u64| {
        let words = text.as_bytes().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        words.fold(mix(salt ^ text.len() as u64), |hash, word| mix(hash.rotate_left(29) ^ word))
    };
    (u128::from(half(1)) << 64 | u128::from(half(2))).to_be_bytes()
}

/// What one proof has proved.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Where it comes from.
    pub source: Source,
    /// Who says so.
    pub trust: Trust,
    /// What.
    pub facts: Vec<Fact>,
}

/// A position and what is proved of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name: see `sortie_core::Ident`.
    pub key: u128,
    /// The second hash.
    pub check: u32,
    /// Who is to move.
    pub side: Side,
    /// What the value depends on besides the position.
    pub precondition: Precondition,
    /// The value, for the first side.
    pub bounds: Bounds,
    /// The move that gets it for the side to move, in the mirror image that the name belongs to.
    pub best: Option<u16>,
    /// Who says so.
    pub trust: Trust,
    /// The number of the source.
    pub source: u32,
}

/// Bytes of an entry beside its key and precondition.
pub const REST: usize = 12;
/// Sources of a game, at most: three bytes count them.
pub const SOURCES_MAX: u32 = (1 << 24) - 1;

impl Entry {
    /// Whether this entry is to replace one of the same position, or what is wrong with either.
    pub(crate) fn replaces(&self, known: &Entry, game: &GameName) -> Result<bool, StoreError> {
        let game = || game.to_string();
        if known.check != self.check || known.side != self.side {
            return Err(StoreError::Collision {
                game: game(),
                key: self.key,
                known: known.check,
                new: self.check,
            });
        }
        let Some(both) = known.bounds.meet(self.bounds) else {
            // A proof that our checker has been through settles it: the other was somebody's word.
            if self.trust == Trust::Checked && known.trust < Trust::Checked {
                return Ok(true);
            }
            return Err(StoreError::Contradiction {
                game: game(),
                key: self.key,
                known: known.bounds,
                new: self.bounds,
                source_known: known.source,
            });
        };
        // An entry rests on one source, so what two say together is not put together.
        Ok(if self.bounds == known.bounds {
            self.trust > known.trust
                || self.trust == known.trust && self.best.is_some() && known.best.is_none()
        } else {
            both == self.bounds
        })
    }

    /// Everything but the key and the precondition.
    pub(crate) fn rest(&self) -> [u8; REST] {
        let mut bytes = [0; REST];
        bytes[..4].copy_from_slice(&self.check.to_be_bytes());
        bytes[4] = self.flags();
        bytes[5..7].copy_from_slice(&self.best.unwrap_or_default().to_be_bytes());
        bytes[7..10].copy_from_slice(&self.source.to_be_bytes()[1..]);
        let sum = checksum(self.key, self.precondition, &bytes);
        bytes[10..].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// The entry of a key. `None`: the bytes mean nothing.
    pub(crate) fn of(key: u128, precondition: Precondition, bytes: &[u8; REST]) -> Option<Entry> {
        let [a, b, c, d, flags, e, f, g, h, i, sum @ ..] = *bytes;
        if u16::from_be_bytes(sum) != checksum(key, precondition, bytes) {
            return None;
        }
        let check = u32::from_be_bytes([a, b, c, d]);
        let best = u16::from_be_bytes([e, f]);
        Entry::of_fields(key, precondition, check, flags, best, u32::from_be_bytes([0, g, h, i]))
    }

    /// Bits 0 and 1 the lower bound, 2 and 3 the upper one, 4 the side, 5 and 6 the trust, 7 whether there is a move.
    pub(crate) fn flags(&self) -> u8 {
        let side = u8::from(self.side == Side::Second);
        let (low, high) = (self.bounds.low as u8, self.bounds.high as u8);
        low | high << 2 | side << 4 | (self.trust as u8) << 5 | u8::from(self.best.is_some()) << 7
    }

    pub(crate) fn of_fields(
        key: u128,
        precondition: Precondition,
        check: u32,
        flags: u8,
        best: u16,
        source: u32,
    ) -> Option<Entry> {
        let value = |bits: u8| [Value::Loss, Value::Draw, Value::Win].get(usize::from(bits & 3)).copied();
        let trust = [Trust::Word, Trust::Solver, Trust::Checked].get(usize::from(flags >> 5 & 3)).copied()?;
        Some(Entry {
            key,
            check,
            side: if flags >> 4 & 1 == 0 { Side::First } else { Side::Second },
            precondition,
            bounds: Bounds { low: value(flags)?, high: value(flags >> 2)? },
            best: (flags >> 7 == 1).then_some(best),
            trust,
            source,
        })
    }
}

/// A checksum of the key and all bytes but the last two.
pub(crate) fn checksum(key: u128, precondition: Precondition, rest: &[u8; REST]) -> u16 {
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let words = [
        key as u64,
        (key >> 64) as u64,
        precondition.hash,
        u64::from(precondition.kind),
        word(&rest[..5]),
        word(&rest[5..REST - 2]),
    ];
    words.iter().fold(mix(REST as u64), |hash, word| mix(hash.rotate_left(29) ^ word)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            key: 7 << 90,
            check: 0xdead_beef,
            side: Side::Second,
            precondition: Precondition::NONE,
            bounds: Bounds { low: Value::Draw, high: Value::Win },
            best: Some(359),
            trust: Trust::Solver,
            source: 77,
        }
    }

    #[test]
    fn an_entry_is_read_back() {
        for best in [None, Some(0), Some(u16::MAX)] {
            for low in [Value::Loss, Value::Draw, Value::Win] {
                let entry = Entry { best, bounds: Bounds { low, high: Value::Win }, ..entry() };
                assert_eq!(Entry::of(entry.key, entry.precondition, &entry.rest()), Some(entry));
            }
        }
        assert_eq!(Entry::of(1, Precondition::NONE, &[0xff; REST]), None);
    }

    /// Defect 10: 181 of 500 flipped bits changed an export in silence.
    #[test]
    fn no_flipped_bit_makes_another_entry() {
        let entry = entry();
        for bit in 0..8 * REST {
            let mut bytes = entry.rest();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Entry::of(entry.key, entry.precondition, &bytes), None, "bit {bit}");
        }
        for bit in 0..128 {
            assert_eq!(
                Entry::of(entry.key ^ 1 << bit, entry.precondition, &entry.rest()),
                None,
                "bit {bit} of the key"
            );
        }
    }

    #[test]
    fn what_was_checked_takes_the_place_of_a_solvers_word_that_it_contradicts() {
        let game = GameName { game: "nim/3".into(), rules: 1 };
        let word = Entry { bounds: Bounds::exactly(Value::Win), trust: Trust::Solver, ..entry() };
        let checked = Entry { bounds: Bounds::exactly(Value::Loss), trust: Trust::Checked, ..entry() };
        assert!(checked.replaces(&word, &game).unwrap());
        // The other way round, and where both were checked, one is false and nobody here can tell which.
        assert!(matches!(word.replaces(&checked, &game), Err(StoreError::Contradiction { .. })));
        let other = Entry { bounds: Bounds::exactly(Value::Win), ..checked };
        assert!(matches!(other.replaces(&checked, &game), Err(StoreError::Contradiction { .. })));
    }

    #[test]
    fn more_replaces_less_and_a_contradiction_is_an_error() {
        let game = GameName { game: "nim/3".into(), rules: 1 };
        let known = entry();
        let with = |bounds, trust| Entry { bounds, trust, ..known };
        let draws = Bounds::exactly(Value::Draw);
        assert!(with(draws, Trust::Solver).replaces(&known, &game).unwrap());
        assert!(with(known.bounds, Trust::Checked).replaces(&known, &game).unwrap());
        assert!(!known.replaces(&known, &game).unwrap());
        assert!(!known.replaces(&with(draws, Trust::Solver), &game).unwrap());
        // Two halves of a draw from two sources: either is kept, and what they say together is not.
        let half = Bounds { low: Value::Loss, high: Value::Draw };
        assert!(!with(half, Trust::Checked).replaces(&known, &game).unwrap());
        let lost = with(Bounds::exactly(Value::Loss), Trust::Solver);
        assert!(matches!(lost.replaces(&known, &game), Err(StoreError::Contradiction { .. })));
        let other = Entry { check: 1, ..known };
        assert!(matches!(other.replaces(&known, &game), Err(StoreError::Collision { .. })));
    }
}
