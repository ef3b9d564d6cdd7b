//! A database as text, for other programs and other databases: one JSON object a line. A line with a `run` is a source,
//! and the positions after it that have its number are its. docs/database.md describes the fields.

use crate::entry::{Batch, Entry, GameName, Source};
use crate::{Added, Store, StoreError};
use serde::{Deserialize, Serialize};
use sortie_core::exact::{Bounds, Fact, Trust, Value};
use sortie_core::{Ident, Precondition, Side};
use std::collections::{BTreeMap, HashMap};

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "line")]
pub enum Line {
    /// Where positions come from.
    Source {
        /// Its number in this text.
        number: u32,
        /// The game.
        game: String,
        /// The version of its rules.
        rules: u16,
        /// The rest.
        source: Source,
    },
    /// A position.
    Position {
        /// The number of its source, which also says the game.
        source: u32,
        /// The key, 32 hexadecimal digits.
        key: String,
        /// The second hash, 8 hexadecimal digits.
        check: String,
        /// Who is to move.
        side: Side,
        /// At least this, for the first side.
        low: Value,
        /// At most this.
        high: Value,
        /// The number of the best move, in the mirror image that the key belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best: Option<u16>,
        /// What it holds under.
        #[serde(default, skip_serializing_if = "is_none")]
        precondition: Precondition,
        /// Who says so.
        trust: Trust,
    },
}

fn is_none(precondition: &Precondition) -> bool {
    *precondition == Precondition::NONE
}

/// Calls `each` with the lines of a whole store.
pub fn export(
    store: &dyn Store,
    each: &mut dyn FnMut(&Line) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let (mut next, mut count) = (0, 0);
    for (game, _) in store.games()? {
        let mut numbers = HashMap::new();
        for (number, source) in store.sources(&game)? {
            next += 1;
            numbers.insert(number, next);
            each(&Line::Source { number: next, game: game.game.clone(), rules: game.rules, source })?;
        }
        store.scan(&game, &mut |entry| {
            let source = numbers.get(&entry.source).copied().unwrap_or(0);
            count += 1;
            each(&position(&entry, source))
        })?;
    }
    Ok(count)
}

fn position(entry: &Entry, source: u32) -> Line {
    Line::Position {
        source,
        key: format!("{:032x}", entry.key),
        check: format!("{:08x}", entry.check),
        side: entry.side,
        low: entry.bounds.low,
        high: entry.bounds.high,
        best: entry.best,
        precondition: entry.precondition,
        trust: entry.trust,
    }
}

/// So many positions are stored at a time: all or none of them.
const CHUNK: usize = 100_000;

/// Stores lines. `next` gives them one by one, and says what is wrong with one that it cannot read.
pub fn import<E: From<StoreError>>(
    store: &dyn Store,
    next: &mut dyn FnMut() -> Result<Option<Line>, E>,
    wrong: &dyn Fn(&str) -> E,
) -> Result<Added, E> {
    let mut sources: HashMap<u32, (GameName, Source)> = HashMap::new();
    let mut waiting: BTreeMap<(u32, Trust), Vec<Fact>> = BTreeMap::new();
    let (mut added, mut count) = (Added::default(), 0);
    loop {
        let line = next()?;
        if count >= CHUNK || line.is_none() {
            flush(store, &sources, &mut waiting, &mut added)?;
            count = 0;
        }
        match line {
            None => return Ok(added),
            Some(Line::Source { number, game, rules, source }) => {
                // A second file begins to count anew: what waits belongs to the old number.
                if sources.contains_key(&number) {
                    flush(store, &sources, &mut waiting, &mut added)?;
                }
                sources.insert(number, (GameName { game, rules }, source));
            }
            Some(Line::Position { source, key, check, side, low, high, best, precondition, trust }) => {
                if !sources.contains_key(&source) {
                    return Err(wrong("expected a line with this source before it"));
                }
                let hex = |text: &str, digits: usize| {
                    let number = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == digits);
                    number.ok_or_else(|| wrong(&format!("'{text}': expected {digits} hexadecimal digits")))
                };
                if low > high {
                    return Err(wrong("the lower bound is above the upper one"));
                }
                let (key, check) = (hex(&key, 32)?, hex(&check, 8)? as u32);
                let ident = Ident { key, check, side, image: 0, precondition };
                let fact = Fact { ident, bounds: Bounds { low, high }, best };
                waiting.entry((source, trust)).or_default().push(fact);
                count += 1;
            }
        }
    }
}

fn flush(
    store: &dyn Store,
    sources: &HashMap<u32, (GameName, Source)>,
    waiting: &mut BTreeMap<(u32, Trust), Vec<Fact>>,
    added: &mut Added,
) -> Result<(), StoreError> {
    let mut games: HashMap<&GameName, Vec<Batch>> = HashMap::new();
    for ((number, trust), facts) in std::mem::take(waiting) {
        let (game, source) = &sources[&number];
        games.entry(game).or_default().push(Batch { source: source.clone(), trust, facts });
    }
    for (game, batches) in games {
        *added += store.put(game, &batches)?;
    }
    Ok(())
}
