//! What is done to files, as `std::fs` names it. Each call goes to the file system, and past the simulated disk if there is one.

use crate::disk::{Call, Disk};
use crate::mounts::above;
use std::fs::{self, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open file.
#[derive(Debug)]
pub struct File {
    real: fs::File,
    watched: Option<Watched>,
}

/// What a simulated disk knows an open file by.
#[derive(Debug)]
struct Watched {
    disk: Arc<Disk>,
    path: PathBuf,
    node: usize,
    appends: bool,
}

impl File {
    /// Makes a file that must not be there.
    pub fn create_new(path: &Path) -> io::Result<File> {
        Self::open(path, OpenOptions::new().write(true).create_new(true), false)
    }

    /// Opens a file for reading and writing at its end, and makes it if it is not there.
    pub fn append(path: &Path) -> io::Result<File> {
        Self::open(path, OpenOptions::new().create(true).append(true).read(true), true)
    }

    /// Opens a file for reading and writing anywhere as it is, and makes it if it is not there.
    pub fn update(path: &Path) -> io::Result<File> {
        Self::open(path, OpenOptions::new().create(true).truncate(false).read(true).write(true), false)
    }

    fn open(path: &Path, how: &OpenOptions, appends: bool) -> io::Result<File> {
        let Some(disk) = above(path) else { return Ok(File { real: how.open(path)?, watched: None }) };
        let (real, node) = disk.open(path, || how.open(path))?;
        let watched = Watched { path: path.to_path_buf(), node, appends, disk };
        Ok(File { real, watched: Some(watched) })
    }

    /// What the system knows of it.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.real.metadata()
    }

    /// Takes the lock of the file, if nobody has it.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.real.try_lock()
    }

    /// Gives the lock back.
    pub fn unlock(&self) -> io::Result<()> {
        self.real.unlock()
    }

    /// Cuts it off, or makes it longer by zeros.
    pub fn set_len(&self, length: u64) -> io::Result<()> {
        match &self.watched {
            None => self.real.set_len(length),
            Some(w) => w.disk.resize(&w.path, w.node, length, || self.real.set_len(length)),
        }
    }

    /// Keeps what it holds, whatever happens to the machine.
    pub fn sync_all(&self) -> io::Result<()> {
        match &self.watched {
            None => self.real.sync_all(),
            Some(w) => w.disk.sync(&w.path, w.node),
        }
    }

    /// The same without the times of the file.
    pub fn sync_data(&self) -> io::Result<()> {
        match &self.watched {
            None => self.real.sync_data(),
            Some(w) => w.disk.sync(&w.path, w.node),
        }
    }

    /// Reads so many bytes from a place.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut read = || {
            (&self.real).seek(SeekFrom::Start(offset))?;
            (&self.real).read_exact(out)
        };
        match &self.watched {
            None => read(),
            // Nobody may move the place meanwhile.
            Some(w) => w.disk.undisturbed(read),
        }
    }

    /// Writes all of it to a place.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let write = |bytes: &[u8]| {
            (&self.real).seek(SeekFrom::Start(offset))?;
            (&self.real).write_all(bytes)
        };
        match &self.watched {
            None => write(bytes),
            Some(w) => w.disk.write(&w.path, w.node, offset, bytes, write).map(drop),
        }
    }
}

impl Write for &File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(w) = &self.watched else { return (&self.real).write(bytes) };
        let offset = match w.appends {
            true => self.real.metadata()?.len(),
            false => (&self.real).stream_position()?,
        };
        w.disk.write(&w.path, w.node, offset, bytes, |bytes| (&self.real).write_all(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for File {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.real.read(out)
    }
}

impl Read for &File {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (&self.real).read(out)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.real.seek(to)
    }
}

/// Gives a file another name, in one step.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match above(from) {
        None => fs::rename(from, to),
        Some(disk) => disk.names(Call::Rename(from, to), || fs::rename(from, to)),
    }
}

/// Removes a file.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match above(path) {
        None => fs::remove_file(path),
        // What is not there costs the disk nothing.
        Some(_) if path.symlink_metadata().is_err() => fs::remove_file(path),
        Some(disk) => disk.names(Call::Remove(path), || fs::remove_file(path)),
    }
}

/// Makes a folder.
pub fn create_dir(path: &Path) -> io::Result<()> {
    match above(path) {
        None => fs::create_dir(path),
        Some(disk) => disk.names(Call::Folder(path), || fs::create_dir(path)),
    }
}

/// Makes a folder and those above it, where they are not there, and keeps them whatever happens to the machine.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let above = path.parent().unwrap_or(Path::new(""));
    create_dir_all(above)?;
    match create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => Err(error),
        _ => {
            sync_folder(above);
            Ok(())
        }
    }
}

/// Removes a folder in which nothing is left.
pub fn remove_dir(path: &Path) -> io::Result<()> {
    match above(path) {
        None => fs::remove_dir(path),
        Some(disk) => disk.names(Call::Remove(path), || fs::remove_dir(path)),
    }
}

/// Keeps the names in a folder, whatever happens to the machine. Where folders cannot be opened (Windows) there is nothing
/// to do, and one that cannot be synced is as safe as the system makes it.
pub fn sync_folder(path: &Path) {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if let Some(disk) = above(path) {
        disk.sync_folder(path);
    } else if let Ok(folder) = fs::File::open(path) {
        let _ = folder.sync_all();
    }
}
