//! The store in one file. redb gives the B-tree, the transactions and the repair after a crash; a file belongs to one
//! writer or to any number of readers at a time. So nobody keeps it: a reader gives it back every now and then, a writer
//! after every batch, and who holds the lock of a second file is the next to have it.

use crate::door;
use crate::entry::{Batch, Entry, GameName, REST, SOURCES_MAX, Source, digest};
use crate::guard::guarded;
use crate::upgrade::{OLD, upgrade};
use crate::{Added, Each, Store, StoreError, entry_of};
use redb::{
    Database, DatabaseError, ReadOnlyDatabase, ReadOnlyTable, ReadTransaction, ReadableDatabase,
    ReadableTable, ReadableTableMetadata, StorageError, TableDefinition, TableError, TableHandle,
    WriteTransaction,
};
use sortie_core::{Ident, Precondition};
use sortie_disk::File;
use std::fs::TryLockError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A reader gives the file back after so long, and then sees what others have stored.
const HOLD: Duration = Duration::from_millis(500);
/// How often a lock is tried.
const TRY_EVERY: Duration = Duration::from_millis(5);
/// Pages that are kept in memory; the system keeps more.
const CACHE_BYTES: usize = 256 << 20;
/// Entries that a scan reads at a time.
const PIECE: usize = 10_000;
/// The version of the tables.
const FORMAT: u32 = 2;

type Rest = &'static [u8; REST];
/// Positions whose value depends on nothing else, by key.
type Plain = ReadOnlyTable<&'static [u8; 16], Rest>;
/// The others, by key and precondition.
type Conditional = ReadOnlyTable<&'static [u8; 25], Rest>;

pub(crate) const ABOUT: TableDefinition<&str, u32> = TableDefinition::new("about");
/// Sources by game and number, as JSON.
const SOURCES: TableDefinition<(&str, u32), &str> = TableDefinition::new("sources");
/// Their numbers by game and hash of the text.
const NUMBERS: TableDefinition<(&str, &[u8; 16]), u32> = TableDefinition::new("numbers");

fn builder() -> redb::Builder {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// A store in a file.
pub struct Embedded {
    path: PathBuf,
    wait: Duration,
    reader: Arc<Mutex<Option<Reader>>>,
}

/// The file, open for reading.
struct Reader {
    /// Of the game that was last asked for.
    tables: Option<(GameName, Tables)>,
    transaction: ReadTransaction,
    _database: ReadOnlyDatabase,
}

fn lock(reader: &Mutex<Option<Reader>>) -> MutexGuard<'_, Option<Reader>> {
    reader.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Drop for Embedded {
    fn drop(&mut self) {
        let _ = guarded(|| *self.reader() = None);
    }
}

/// What could be read of a damaged file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Saved {
    /// Entries that are whole.
    pub entries: u64,
    /// Entries that do not fit their checksum.
    pub broken: u64,
    /// Places at which the file could not be read.
    pub gaps: u64,
}

/// The first step over what cannot be read; the next ones are twice as long. A page of a million entries spans 2^115.
const GAP_STEP: u128 = 1 << 100;

struct Tables {
    plain: Option<Plain>,
    /// `None` if it is empty, as that of most games is.
    conditional: Option<Conditional>,
}

impl Embedded {
    /// The store at a path, which is made by the first `put`. Somebody else who has it is waited for up to `wait`.
    pub fn new(path: &Path, wait: Duration) -> Embedded {
        Embedded { path: path.to_path_buf(), wait, reader: Arc::default() }
    }

    fn broken(&self, message: impl ToString) -> StoreError {
        StoreError::Broken { place: self.path.display().to_string(), message: message.to_string() }
    }

    /// A file that cannot be opened: of another kind, mostly.
    fn closed(&self, error: DatabaseError) -> StoreError {
        match &error {
            DatabaseError::Storage(StorageError::Io(io)) if io.kind() == ErrorKind::InvalidData => {
                self.broken("this is no database of proved positions")
            }
            _ => self.broken(error),
        }
    }

    /// The B-tree found what cannot be.
    fn damaged(&self, why: &str) -> StoreError {
        self.broken(format!(
            "the file is damaged ({why}): `sortie db check --save NEW` saves what can be read"
        ))
    }

    fn busy(&self) -> StoreError {
        StoreError::Busy(self.path.display().to_string())
    }

    /// Waits to be next. Whoever is next gets the file as soon as it is free, and nobody overtakes him.
    fn queue(&self, until: Instant) -> Result<File, StoreError> {
        let mut name = self.path.clone().into_os_string();
        name.push(".lock");
        let file = File::update(Path::new(&name));
        let file = file.map_err(|error| {
            let place = Path::new(&name).display().to_string();
            StoreError::Broken { place, message: error.to_string() }
        })?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(self.broken(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(TRY_EVERY),
                Err(TryLockError::WouldBlock) => return Err(self.busy()),
            }
        }
    }

    /// Opens the file for writing, alone.
    fn write<T>(&self, work: impl FnOnce(&mut Database) -> Result<T, StoreError>) -> Result<T, StoreError> {
        guarded(|| *self.reader() = None).map_err(|why| self.damaged(&why))?;
        guarded(|| self.write_unguarded(work)).unwrap_or_else(|why| Err(self.damaged(&why)))
    }

    fn write_unguarded<T>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let until = Instant::now() + self.wait;
        let queue = self.queue(until)?;
        loop {
            match door::create(&builder(), &self.path) {
                Ok(mut database) => {
                    drop(queue);
                    self.at(upgrade(&database))?;
                    return work(&mut database);
                }
                Err(DatabaseError::DatabaseAlreadyOpen) if Instant::now() < until => {
                    std::thread::sleep(TRY_EVERY);
                }
                Err(DatabaseError::DatabaseAlreadyOpen) => return Err(self.busy()),
                Err(error) => return Err(self.closed(error)),
            }
        }
    }

    fn reader(&self) -> MutexGuard<'_, Option<Reader>> {
        lock(&self.reader)
    }

    /// Reads with the file open; `None` if there is none.
    fn read<T>(
        &self,
        work: impl FnOnce(&mut Reader) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut reader = self.reader();
        let read = guarded(|| self.read_with(&mut reader, work));
        read.unwrap_or_else(|why| {
            let _ = guarded(|| *reader = None);
            Err(self.damaged(&why))
        })
    }

    fn read_with<T>(
        &self,
        reader: &mut Option<Reader>,
        work: impl FnOnce(&mut Reader) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if reader.is_none() {
            *reader = self.open()?;
            let held = self.reader.clone();
            // It is given back though nobody asks again.
            std::thread::spawn(move || {
                std::thread::sleep(HOLD);
                let _ = guarded(|| *lock(&held) = None);
            });
        }
        reader.as_mut().map(work).transpose()
    }

    fn open(&self) -> Result<Option<Reader>, StoreError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let until = Instant::now() + self.wait;
        let (mut mended, mut upgraded) = (false, false);
        let _queue = self.queue(until)?;
        loop {
            match builder().open_read_only(&self.path) {
                Ok(database) => {
                    let transaction = self.at(database.begin_read())?;
                    if self.format(&transaction)? == Some(OLD) && !upgraded {
                        upgraded = true;
                        drop((transaction, database));
                        match door::open(&builder(), &self.path) {
                            Ok(database) => self.at(upgrade(&database))?,
                            Err(DatabaseError::DatabaseAlreadyOpen) => {}
                            Err(error) => return Err(self.closed(error)),
                        }
                        continue;
                    }
                    return Ok(Some(Reader { tables: None, transaction, _database: database }));
                }
                Err(DatabaseError::DatabaseAlreadyOpen) if Instant::now() < until => {
                    std::thread::sleep(TRY_EVERY);
                }
                Err(DatabaseError::DatabaseAlreadyOpen) => return Err(self.busy()),
                // Somebody was killed while writing: opening it for writing mends it.
                Err(DatabaseError::RepairAborted) if !mended => {
                    mended = true;
                    match door::open(&builder(), &self.path) {
                        Ok(_) | Err(DatabaseError::DatabaseAlreadyOpen) => {}
                        Err(error) => return Err(self.closed(error)),
                    }
                }
                Err(error) => return Err(self.closed(error)),
            }
        }
    }

    /// The format of the file, if it has one that can be read.
    fn format(&self, transaction: &ReadTransaction) -> Result<Option<u32>, StoreError> {
        let about = match transaction.open_table(ABOUT) {
            Ok(about) => about,
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(self.broken(error)),
        };
        match about.get("format").map_err(|error| self.broken(error))?.map(|format| format.value()) {
            Some(other) if other != FORMAT && other != OLD => {
                Err(self.broken(format!("format {other} is of another version: expected {FORMAT}")))
            }
            known => Ok(known),
        }
    }

    fn put_in(
        &self,
        transaction: &WriteTransaction,
        game: &GameName,
        batches: &[Batch],
    ) -> Result<Added, StoreError> {
        let (name, names) = (game.to_string(), Names::of(game));
        self.at(self.at(transaction.open_table(ABOUT))?.insert("format", FORMAT))?;
        let mut sources = self.at(transaction.open_table(SOURCES))?;
        let mut numbers = self.at(transaction.open_table(NUMBERS))?;
        let mut plain = self.at(transaction.open_table(names.plain()))?;
        let mut conditional = self.at(transaction.open_table(names.conditional()))?;
        let mut added = Added::default();
        for batch in batches {
            let text = self.at(serde_json::to_string(&batch.source))?;
            let digest = digest(&text);
            let known = self.at(numbers.get((&*name, &digest)))?.map(|number| number.value());
            let source = match known {
                Some(number) => number,
                None => {
                    let number = self.at(last(&sources, &name))? + 1;
                    if number > SOURCES_MAX {
                        return Err(self.broken(format!(
                            "{game} has {SOURCES_MAX} sources, and there is no room for more"
                        )));
                    }
                    self.at(sources.insert((&*name, number), &*text))?;
                    self.at(numbers.insert((&*name, &digest), number))?;
                    number
                }
            };
            for fact in &batch.facts {
                let entry = entry_of(game, fact, batch, source)?;
                let (key, long) = (entry.key.to_be_bytes(), long_key(entry.key, entry.precondition));
                let free = entry.precondition == Precondition::NONE;
                let known = match free {
                    true => self.at(plain.get(&key))?.map(|rest| *rest.value()),
                    false => self.at(conditional.get(&long))?.map(|rest| *rest.value()),
                };
                match known {
                    None => added.new += 1,
                    Some(rest) => {
                        let known = self.entry(entry.key, entry.precondition, &rest)?;
                        if !entry.replaces(&known, game)? {
                            added.known += 1;
                            continue;
                        }
                        added.better += 1;
                    }
                }
                match free {
                    true => self.at(plain.insert(&key, &entry.rest())).map(drop)?,
                    false => self.at(conditional.insert(&long, &entry.rest())).map(drop)?,
                }
            }
        }
        Ok(added)
    }

    fn entry(&self, key: u128, precondition: Precondition, rest: &[u8; REST]) -> Result<Entry, StoreError> {
        let entry = Entry::of(key, precondition, rest);
        let why = || format!("the entry of {key:032x} does not fit its checksum");
        entry.ok_or_else(|| self.damaged(&why()))
    }

    /// Reads all that can be read of the entries of a game: over what cannot it steps, further and further.
    pub fn save(&self, game: &GameName, each: Each) -> Result<Saved, StoreError> {
        let mut saved = Saved::default();
        let (mut from, mut step) = (Some(0u128), GAP_STEP);
        while let Some(first) = from {
            let (mut last, mut whole, mut broken) = (None, Vec::new(), 0);
            let read = self.read(|reader| {
                let Some(plain) = &self.tables(reader, game)?.plain else { return Ok(0) };
                let mut rows = 0;
                for row in self.at(plain.range::<&[u8; 16]>(&first.to_be_bytes()..))?.take(PIECE) {
                    let (key, rest) = self.at(row)?;
                    let key = u128::from_be_bytes(*key.value());
                    rows += 1;
                    // A page that is not one may go backwards, for ever.
                    if last.is_some_and(|last| key <= last) || key < first {
                        return Err(self.broken("keys out of order"));
                    }
                    last = Some(key);
                    match Entry::of(key, Precondition::NONE, rest.value()) {
                        Some(entry) => whole.push(entry),
                        None => broken += 1,
                    }
                }
                Ok(rows)
            });
            saved.entries += whole.len() as u64;
            saved.broken += broken;
            whole.into_iter().try_for_each(&mut *each)?;
            let next = last.map_or(Some(first), |last| last.checked_add(1));
            from = match read {
                Ok(Some(rows)) if rows == PIECE => {
                    step = GAP_STEP;
                    next
                }
                Ok(_) => None,
                Err(StoreError::Busy(place)) => return Err(StoreError::Busy(place)),
                Err(_) => {
                    saved.gaps += 1;
                    if last.is_some() {
                        step = GAP_STEP;
                    }
                    let over = next.and_then(|next| next.checked_add(step));
                    step = step.saturating_mul(2);
                    over
                }
            };
        }
        self.save_conditional(game, each, &mut saved)?;
        Ok(saved)
    }

    /// The same for entries with preconditions, which are few: as far as the first place that cannot be read.
    fn save_conditional(&self, game: &GameName, each: Each, saved: &mut Saved) -> Result<(), StoreError> {
        let (mut whole, mut broken) = (Vec::new(), 0);
        let read = self.read(|reader| {
            let Some(conditional) = &self.tables(reader, game)?.conditional else { return Ok(()) };
            for row in self.at(conditional.range::<&[u8; 25]>(&[0; 25]..))? {
                let (long, rest) = self.at(row)?;
                let (key, precondition) = short_key(long.value());
                match Entry::of(key, precondition, rest.value()) {
                    Some(entry) => whole.push(entry),
                    None => broken += 1,
                }
                if whole.len() > SOURCES_MAX as usize {
                    return Err(self.broken("more entries than there can be"));
                }
            }
            Ok(())
        });
        saved.entries += whole.len() as u64;
        saved.broken += broken;
        saved.gaps += u64::from(read.is_err());
        whole.into_iter().try_for_each(each)
    }

    fn at<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Result<T, StoreError> {
        result.map_err(|error| self.broken(error))
    }

    /// The tables of a game.
    fn tables<'a>(&self, reader: &'a mut Reader, game: &GameName) -> Result<&'a Tables, StoreError> {
        if reader.tables.as_ref().is_none_or(|(of, _)| of != game) {
            let names = Names::of(game);
            let plain = self.there(reader.transaction.open_table(names.plain()))?;
            let conditional = self.there(reader.transaction.open_table(names.conditional()))?;
            let conditional = match conditional {
                Some(table) if self.at(table.is_empty())? => None,
                other => other,
            };
            reader.tables = Some((game.clone(), Tables { plain, conditional }));
        }
        Ok(&reader.tables.as_ref().expect("they were just opened").1)
    }

    fn there<T>(&self, table: Result<T, TableError>) -> Result<Option<T>, StoreError> {
        match table {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(self.broken(error)),
        }
    }

    /// The entries of a position whose value depends on something else.
    fn conditional(&self, table: &Conditional, key: u128, out: &mut Vec<Entry>) -> Result<(), StoreError> {
        let (first, last) = (Precondition::NONE, Precondition { kind: u8::MAX, hash: u64::MAX });
        for row in self.at(table.range::<&[u8; 25]>(&long_key(key, first)..=&long_key(key, last)))? {
            let (long, rest) = self.at(row)?;
            out.push(self.entry(key, short_key(long.value()).1, rest.value())?);
        }
        Ok(())
    }
}

impl Store for Embedded {
    fn put(&self, game: &GameName, batches: &[Batch]) -> Result<Added, StoreError> {
        self.write(|database| {
            let transaction = self.at(database.begin_write())?;
            let added = self.put_in(&transaction, game, batches)?;
            self.at(transaction.commit())?;
            Ok(added)
        })
    }

    fn get(&self, game: &GameName, idents: &[Ident]) -> Result<Vec<Vec<Entry>>, StoreError> {
        let found = self.read(|reader| {
            let tables = self.tables(reader, game)?;
            let find = |ident: &Ident| {
                let mut entries = Vec::new();
                if let Some(plain) = &tables.plain
                    && let Some(rest) = self.at(plain.get(&ident.key.to_be_bytes()))?
                {
                    entries.push(self.entry(ident.key, Precondition::NONE, rest.value())?);
                }
                if let Some(conditional) = &tables.conditional {
                    self.conditional(conditional, ident.key, &mut entries)?;
                }
                entries.retain(|entry| entry.check == ident.check);
                Ok(entries)
            };
            idents.iter().map(find).collect()
        })?;
        Ok(found.unwrap_or_else(|| vec![Vec::new(); idents.len()]))
    }

    fn scan(&self, game: &GameName, each: Each) -> Result<(), StoreError> {
        // In pieces, and with the file given back between them: whoever is called may ask the store in turn.
        let mut from = Some([0; 16]);
        while let Some(first) = from {
            let piece = self.read(|reader| {
                let mut entries = Vec::new();
                let Some(plain) = &self.tables(reader, game)?.plain else { return Ok(entries) };
                for row in self.at(plain.range::<&[u8; 16]>(&first..))?.take(PIECE) {
                    let (key, rest) = self.at(row)?;
                    let key = u128::from_be_bytes(*key.value());
                    entries.push(self.entry(key, Precondition::NONE, rest.value())?);
                }
                Ok(entries)
            })?;
            let piece = piece.unwrap_or_default();
            from = piece.get(PIECE - 1).and_then(|entry| entry.key.checked_add(1)).map(u128::to_be_bytes);
            piece.into_iter().try_for_each(&mut *each)?;
        }
        let mut from = Some([0; 25]);
        while let Some(first) = from {
            let piece = self.read(|reader| {
                let mut entries = Vec::new();
                let Some(conditional) = &self.tables(reader, game)?.conditional else { return Ok(entries) };
                for row in self.at(conditional.range::<&[u8; 25]>(&first..))?.take(PIECE) {
                    let (long, rest) = self.at(row)?;
                    let (key, precondition) = short_key(long.value());
                    entries.push(self.entry(key, precondition, rest.value())?);
                }
                Ok(entries)
            })?;
            let piece = piece.unwrap_or_default();
            from = piece.get(PIECE - 1).map(|entry| {
                let Precondition { kind, hash } = entry.precondition;
                let (hash, over) = hash.overflowing_add(1);
                long_key(entry.key, Precondition { kind: kind.saturating_add(over.into()), hash })
            });
            piece.into_iter().try_for_each(&mut *each)?;
        }
        Ok(())
    }

    fn games(&self) -> Result<Vec<(GameName, u64)>, StoreError> {
        let games = self.read(|reader| {
            let mut games: Vec<(GameName, u64)> = Vec::new();
            for handle in self.at(reader.transaction.list_tables())? {
                let Some(game) = handle.name().strip_prefix(PLAIN).and_then(GameName::parse) else {
                    continue;
                };
                let names = Names::of(&game);
                let plain = self.there(reader.transaction.open_table(names.plain()))?;
                let conditional = self.there(reader.transaction.open_table(names.conditional()))?;
                let mut count = plain.map_or(Ok(0), |table| self.at(table.len()))?;
                count += conditional.map_or(Ok(0), |table| self.at(table.len()))?;
                games.push((game, count));
            }
            Ok(games)
        })?;
        Ok(games.unwrap_or_default())
    }

    fn sources(&self, game: &GameName) -> Result<Vec<(u32, Source)>, StoreError> {
        let sources = self.read(|reader| {
            let Some(table) = self.there(reader.transaction.open_table(SOURCES))? else {
                return Ok(Vec::new());
            };
            let numbers = self.there(reader.transaction.open_table(NUMBERS))?;
            let name = game.to_string();
            let mut sources = Vec::new();
            for row in self.at(table.range((&*name, 0)..=(&*name, u32::MAX)))? {
                let (key, text) = self.at(row)?;
                let (number, text) = (key.value().1, text.value());
                // The other table knows it by a hash of its text: so each vouches for the other.
                let known = match &numbers {
                    Some(numbers) => {
                        self.at(numbers.get((&*name, &digest(text))))?.map(|known| known.value())
                    }
                    None => None,
                };
                if known != Some(number) {
                    return Err(self.damaged(&format!("source {number} of {name} does not fit its hash")));
                }
                sources.push((number, self.at(serde_json::from_str(text))?));
            }
            Ok(sources)
        })?;
        Ok(sources.unwrap_or_default())
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        match std::fs::metadata(&self.path) {
            Ok(about) => Ok(occupied(&about)),
            Err(_) if !self.path.exists() => Ok(0),
            Err(error) => Err(self.broken(error)),
        }
    }

    fn sound(&self) -> Result<(), StoreError> {
        if !self.path.exists() {
            return Ok(());
        }
        self.write(|database| {
            // The first answer may be that the list of free pages was written anew: after a crash, or after tidying.
            // Pages whose checksums are wrong are an error.
            if self.at(database.check_integrity())? || self.at(database.check_integrity())? {
                return Ok(());
            }
            Err(self.broken("is damaged"))
        })
    }

    fn tidy(&self) -> Result<(), StoreError> {
        if !self.path.exists() {
            return Ok(());
        }
        self.write(|database| self.at(database.compact()).map(drop))
    }
}

pub(crate) const PLAIN: &str = "positions of ";
pub(crate) const CONDITIONAL: &str = "positions with preconditions of ";

/// The names of the tables of a game.
struct Names(String, String);

impl Names {
    fn of(game: &GameName) -> Names {
        Names(format!("{PLAIN}{game}"), format!("{CONDITIONAL}{game}"))
    }

    fn plain(&self) -> TableDefinition<'_, &'static [u8; 16], Rest> {
        TableDefinition::new(&self.0)
    }

    fn conditional(&self) -> TableDefinition<'_, &'static [u8; 25], Rest> {
        TableDefinition::new(&self.1)
    }
}

/// Bytes on the disk. The file has room for as much again, which is not written and takes no space.
#[cfg(unix)]
fn occupied(about: &std::fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    (about.blocks() * 512).min(about.len())
}

#[cfg(not(unix))]
fn occupied(about: &std::fs::Metadata) -> u64 {
    about.len()
}

fn long_key(key: u128, precondition: Precondition) -> [u8; 25] {
    let mut bytes = [0; 25];
    bytes[..16].copy_from_slice(&key.to_be_bytes());
    bytes[16] = precondition.kind;
    bytes[17..].copy_from_slice(&precondition.hash.to_be_bytes());
    bytes
}

pub(crate) fn short_key(long: &[u8; 25]) -> (u128, Precondition) {
    let (mut key, mut hash) = ([0; 16], [0; 8]);
    key.copy_from_slice(&long[..16]);
    hash.copy_from_slice(&long[17..]);
    (u128::from_be_bytes(key), Precondition { kind: long[16], hash: u64::from_be_bytes(hash) })
}

/// The largest number of a source of a game; 0 if there is none.
fn last(
    sources: &impl ReadableTable<(&'static str, u32), &'static str>,
    game: &str,
) -> Result<u32, redb::StorageError> {
    let mut range = sources.range((game, 0)..=(game, u32::MAX))?;
    Ok(range.next_back().transpose()?.map_or(0, |(key, _)| key.value().1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_kind_is_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        std::fs::write(&path, "my notes").unwrap();
        let store = Embedded::new(&path, Duration::from_secs(1));
        let told = store.games().unwrap_err().to_string();
        assert!(told.contains("notes.db") && told.contains("no database"), "{told}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes");
    }
}
