//! Files of format 1, whose entries had no checksums, become files of format 2 when they are opened: in one transaction, so
//! that whoever is killed in the middle leaves the old file whole. What had changed before nobody can tell any more.

use crate::embedded::{ABOUT, CONDITIONAL, PLAIN};
use crate::entry::{REST, checksum};
use redb::{Database, Error, Key, ReadableDatabase, ReadableTable, TableDefinition, TableError, TableHandle};
use sortie_core::Precondition;

/// The format that is left behind, and the one that takes its place.
pub(crate) const OLD: u32 = 1;
const NEW: u32 = 2;
/// Bytes of an entry beside its key in format 1: all but the checksum.
const OLD_REST: usize = REST - 2;
/// What the tables of format 1 are called while they are copied.
const ASIDE: &str = "format 1 of ";

/// Gives every entry its checksum, if the file is of format 1.
pub(crate) fn upgrade(database: &Database) -> Result<(), Error> {
    if !is_old(database)? {
        return Ok(());
    }
    let transaction = database.begin_write()?;
    let names: Vec<String> = transaction.list_tables()?.map(|table| table.name().to_string()).collect();
    for name in names {
        if name.starts_with(PLAIN) {
            copy::<&[u8; 16]>(&transaction, &name, |key| (u128::from_be_bytes(**key), Precondition::NONE))?;
        } else if name.starts_with(CONDITIONAL) {
            copy::<&[u8; 25]>(&transaction, &name, |key| crate::embedded::short_key(key))?;
        }
    }
    transaction.open_table(ABOUT)?.insert("format", NEW)?;
    transaction.commit()?;
    Ok(())
}

fn is_old(database: &Database) -> Result<bool, Error> {
    match database.begin_read()?.open_table(ABOUT) {
        Ok(about) => Ok(about.get("format")?.is_some_and(|format| format.value() == OLD)),
        Err(TableError::TableDoesNotExist(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn copy<K: Key + 'static>(
    transaction: &redb::WriteTransaction,
    name: &str,
    key_of: impl Fn(&K::SelfType<'_>) -> (u128, Precondition),
) -> Result<(), Error> {
    let aside = format!("{ASIDE}{name}");
    let old: TableDefinition<K, &[u8; OLD_REST]> = TableDefinition::new(&aside);
    transaction.rename_table(TableDefinition::<K, &[u8; OLD_REST]>::new(name), old)?;
    {
        let from = transaction.open_table(old)?;
        let mut to = transaction.open_table(TableDefinition::<K, &[u8; REST]>::new(name))?;
        for row in from.iter()? {
            let (key, rest) = row?;
            let mut bytes = [0; REST];
            bytes[..OLD_REST].copy_from_slice(rest.value());
            let (number, precondition) = key_of(&key.value());
            let sum = checksum(number, precondition, &bytes);
            bytes[OLD_REST..].copy_from_slice(&sum.to_be_bytes());
            to.insert(key.value(), &bytes)?;
        }
    }
    transaction.delete_table(old)?;
    Ok(())
}
