//! The database of proved positions ("win/loss database" of Shih et al. 2018). It holds what is proved and nothing else:
//! an entry says whose proof it is, and one that contradicts another is refused.
//!
//! `Store` is what a database does; `Embedded` is one file, `MariaDb` (feature `mariadb`) a server. Both pass
//! `tests/suite`. docs/database.md says what is kept and why.

#![forbid(unsafe_code)]

mod door;
mod embedded;
mod entry;
mod guard;
mod lines;
#[cfg(feature = "mariadb")]
mod mariadb;
mod upgrade;

pub use embedded::{Embedded, Saved};
pub use entry::{Batch, Entry, GameName, Source};
pub use lines::{Line, export, import};
#[cfg(feature = "mariadb")]
pub use mariadb::MariaDb;

use sortie_core::Ident;
use sortie_core::exact::{Bounds, Fact};

/// A database of proved positions. Shared by threads; other processes may use the same one.
pub trait Store: Send + Sync {
    /// Adds what is proved, all of it or nothing. Whoever else writes is waited for.
    fn put(&self, game: &GameName, batches: &[Batch]) -> Result<Added, StoreError>;

    /// What is known of positions, in their order: all entries of a position, whatever they hold under. Whoever asks
    /// uses those whose precondition holds (`known`).
    fn get(&self, game: &GameName, idents: &[Ident]) -> Result<Vec<Vec<Entry>>, StoreError>;

    /// Calls `each` for every entry of a game, in the order of the keys.
    fn scan(&self, game: &GameName, each: Each) -> Result<(), StoreError>;

    /// The games, and how many entries each has.
    fn games(&self) -> Result<Vec<(GameName, u64)>, StoreError>;

    /// Where the entries of a game come from, by number.
    fn sources(&self, game: &GameName) -> Result<Vec<(u32, Source)>, StoreError>;

    /// Bytes on the disk.
    fn bytes(&self) -> Result<u64, StoreError>;

    /// Whether the file or the tables are sound. What they say is another question: `sortie db check`.
    fn sound(&self) -> Result<(), StoreError>;

    /// Gives back the space that is not needed.
    fn tidy(&self) -> Result<(), StoreError>;
}

/// Called with an entry.
pub type Each<'a> = &'a mut dyn FnMut(Entry) -> Result<(), StoreError>;

/// What came of a `put`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// Positions that were not there.
    pub new: u64,
    /// Positions of which more is known now, or the same from better evidence.
    pub better: u64,
    /// Positions that were there.
    pub known: u64,
}

impl std::ops::AddAssign for Added {
    fn add_assign(&mut self, more: Added) {
        self.new += more.new;
        self.better += more.better;
        self.known += more.known;
    }
}

/// Why a database does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else has it, and has not given it back in time.
    #[error("{0}: in use by another process")]
    Busy(String),
    /// Two positions with one key.
    #[error(
        "{game}: two positions have the key {key:032x} (check {known:08x} and {new:08x}): nothing was stored"
    )]
    Collision {
        /// The game.
        game: String,
        /// The key.
        key: u128,
        /// The check of the one that is there.
        known: u32,
        /// The check of the one that came.
        new: u32,
    },
    /// One of two entries is false.
    #[error("{game}: {key:032x} is {} in source {source_known} and {} in what is to be stored: one is false", show(.known), show(.new))]
    Contradiction {
        /// The game.
        game: String,
        /// The key.
        key: u128,
        /// What is there.
        known: Bounds,
        /// What came.
        new: Bounds,
        /// Where what is there comes from.
        source_known: u32,
    },
    /// Only what is proved is stored.
    #[error("{0}: only what a solver or a checker has proved is stored")]
    NotProved(String),
    /// A file or a server does not answer as it should.
    #[error("{place}: {message}")]
    Broken {
        /// The file or the server.
        place: String,
        /// What happened.
        message: String,
    },
}

/// Bounds as text: `win`, `loss..draw`.
pub fn show(bounds: &Bounds) -> String {
    let word = |value| format!("{value:?}").to_lowercase();
    match bounds.value() {
        Some(value) => word(value),
        None => format!("{}..{}", word(bounds.low), word(bounds.high)),
    }
}

/// What is known of each position under what holds there: the entry that says most, and none whose precondition does
/// not hold.
pub fn known(store: &dyn Store, game: &GameName, idents: &[Ident]) -> Result<Vec<Option<Entry>>, StoreError> {
    let found = store.get(game, idents)?;
    let best = |(entries, ident): (Vec<Entry>, &Ident)| {
        let holds = |entry: &Entry| entry.precondition.holds(ident.precondition) && entry.side == ident.side;
        let width = |entry: &Entry| entry.bounds.high as i8 - entry.bounds.low as i8;
        entries.into_iter().filter(holds).min_by_key(width)
    };
    Ok(found.into_iter().zip(idents).map(best).collect())
}

/// An entry made of a fact.
fn entry_of(game: &GameName, fact: &Fact, batch: &Batch, source: u32) -> Result<Entry, StoreError> {
    if batch.trust < sortie_core::exact::Trust::Solver || fact.bounds == Bounds::OPEN {
        return Err(StoreError::NotProved(game.to_string()));
    }
    Ok(Entry {
        key: fact.ident.key,
        check: fact.ident.check,
        side: fact.ident.side,
        precondition: fact.ident.precondition,
        bounds: fact.bounds,
        best: fact.best,
        trust: batch.trust,
        source,
    })
}
