//! The file of the B-tree: the system's own way, or through the door where a simulated disk is mounted.
//!
//! A file that grows has its new length on the disk before anything is written that builds on it. The B-tree does not ask for
//! that: it tells the length in its header, and if the power goes between the two a header may stay that tells of more than
//! there is, which it refuses to open.

use redb::backends::FileBackend;
use redb::{Builder, Database, DatabaseError, StorageBackend};
use sortie_disk::{File, is_mounted, remove_file, rename, sync_folder};
use std::fs::{OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Opens a file for writing. One that is not there is made beside its place and moved there when it is whole: a crash in
/// between would leave a file that is no database.
pub(crate) fn create(builder: &Builder, path: &Path) -> Result<Database, DatabaseError> {
    if !path.exists() {
        let mut beside = path.to_path_buf().into_os_string();
        beside.push(".new");
        let beside = Path::new(&beside);
        match remove_file(beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        drop(open(builder, beside)?);
        File::update(beside)?.sync_all()?;
        rename(beside, path)?;
        sync_folder(path.parent().unwrap_or(Path::new("")));
    }
    open(builder, path)
}

/// Opens a file for writing that is there, and if it is not makes it in its place.
pub(crate) fn open(builder: &Builder, path: &Path) -> Result<Database, DatabaseError> {
    if !is_mounted(path) {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        return builder.create_with_backend(Grown(FileBackend::new(file)?));
    }
    let file = File::update(path)?;
    match file.try_lock() {
        Ok(()) => builder.create_with_backend(Grown(Door(file))),
        Err(TryLockError::WouldBlock) => Err(DatabaseError::DatabaseAlreadyOpen),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// A file whose length is on the disk as soon as it is longer.
#[derive(Debug)]
struct Grown<B>(B);

impl<B: StorageBackend> StorageBackend for Grown<B> {
    fn set_len(&self, length: u64) -> io::Result<()> {
        let longer = length > self.0.len()?;
        self.0.set_len(length)?;
        if longer { self.0.sync_data() } else { Ok(()) }
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write(offset, bytes)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

/// A file behind the door.
#[derive(Debug)]
struct Door(File);

impl StorageBackend for Door {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, bytes)
    }

    fn close(&self) -> io::Result<()> {
        self.0.unlock()
    }
}
