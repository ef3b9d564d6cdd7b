//! What a database knows a position by: 160 bits of what is on the board, the same for all mirror images, on every machine
//! and in every build; and what a value depends on besides, where the rules look at history.

use crate::domain::{Game, Side};
use crate::rng::mix;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// What a value holds under besides the position on the board (the graph history interaction problem): a proof for one
/// history is none for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Precondition {
    /// 0: nothing; `HISTORY`; what else a game may have.
    pub kind: u8,
    /// A hash of what has to be the same.
    pub hash: u64,
}

impl Precondition {
    /// The value holds whatever came before.
    pub const NONE: Precondition = Precondition { kind: 0, hash: 0 };
    /// The kind of a value that holds after one history.
    pub const HISTORY: u8 = 1;

    /// Exactly this history, or whatever else later play depends on.
    pub fn history(of: &impl Hash) -> Precondition {
        let mut hasher = Stable(0);
        of.hash(&mut hasher);
        Precondition { kind: Precondition::HISTORY, hash: hasher.finish() }
    }

    /// Whether a value that holds under this may be used where `here` holds.
    pub fn holds(self, here: Precondition) -> bool {
        self == Precondition::NONE || self == here
    }
}

/// The name of a position in a database: that of the mirror image with the smallest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ident {
    /// A hash of the board and the side to move.
    pub key: u128,
    /// Another one that shares nothing with the first: two positions with one key are told apart by it.
    pub check: u32,
    /// Who is to move.
    pub side: Side,
    /// Which mirror image it is that the name belongs to.
    pub image: u8,
    /// What came before, as far as it matters.
    pub precondition: Precondition,
}

/// The name of a position by the texts of its mirror images; `None` if the game has no text for it.
pub(crate) fn by_text<G: Game>(game: &G, state: &G::State) -> Option<Ident> {
    let name = |image: usize| {
        let text = game.written(state, image)?;
        let half = |salt: u64| u128::from(hash(text.as_bytes(), salt));
        Some((half(1) << 64 | half(2), hash(text.as_bytes(), 3) as u32, image as u8))
    };
    let names: Option<Vec<_>> = (0..game.images()).map(name).collect();
    let (key, check, image) = names?.into_iter().min()?;
    Some(Ident { key, check, side: game.to_move(state), image, precondition: game.precondition(state) })
}

/// A hash of bytes, one for every salt.
fn hash(bytes: &[u8], salt: u64) -> u64 {
    let mut hasher = Stable(mix(salt));
    hasher.write(bytes);
    hasher.finish()
}

/// A hasher without secrets: the same in every process.
struct Stable(u64);

impl Hasher for Stable {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = mix(self.0.rotate_left(23) ^ u64::from_le_bytes(word));
        }
        self.0 = mix(self.0 ^ bytes.len() as u64);
    }

    fn finish(&self) -> u64 {
        mix(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Domain;
    use crate::toy::Nim;

    #[test]
    fn names_stay_as_they_are() {
        let nim = Nim { heap: 9 };
        let ident = by_text(&nim, &nim.initial()).expect("nim has texts");
        // Written on the disk: whoever changes it makes every database unreadable.
        let (key, check) = (210950032658478484780000984266821344192, 1526728687);
        let stored = Ident { key, check, side: Side::First, image: 0, precondition: Precondition::NONE };
        assert_eq!(ident, stored);
        assert_ne!(by_text(&nim, &(9, true)).unwrap().key, ident.key);
    }

    #[test]
    fn a_value_of_one_history_is_none_of_another() {
        let (one, other) = (Precondition::history(&[1u16, 2]), Precondition::history(&[2u16, 1]));
        assert!(one.holds(one) && !one.holds(other) && !one.holds(Precondition::NONE));
        assert!(Precondition::NONE.holds(one));
    }
}
