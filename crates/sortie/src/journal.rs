//! A file of one JSON object a line that only grows. A last line that a crash cut off does not count.

use crate::folder::write_whole;
use crate::source::read_text;
use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// No such file is larger than this.
const BYTES_MAX: u64 = 2 << 30;
/// What was written is on the disk after so long, whatever happens to the machine. What happens to the process alone
/// does not matter.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The lines of a file, none if there is no file. What a crash left of a last line is removed.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = read_text(path, BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let mut items = Vec::new();
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        match serde_json::from_str(line) {
            Ok(item) => items.push(item),
            Err(_) if !line.ends_with('\n') => {
                // What is appended next must begin on a line of its own.
                write_whole(path, &text.as_bytes()[..text.len() - line.len()])?;
            }
            Err(error) => bail!("{}:{number}: {error}", path.display()),
        }
    }
    Ok(items)
}

/// The end of such a file.
pub struct Journal {
    file: File,
    synced: Instant,
}

impl Journal {
    /// Opens a file that `read` has mended.
    pub fn open(path: &Path) -> io::Result<Journal> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        // A whole last line without its line break is one that `read` took.
        if std::fs::read(path)?.last().is_some_and(|&byte| byte != b'\n') {
            file.write_all(b"\n")?;
        }
        Ok(Journal { file, synced: Instant::now() })
    }

    /// Appends a line.
    pub fn append(&mut self, item: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_string(item).map_err(io::Error::other)? + "\n";
        self.file.write_all(line.as_bytes())?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    /// Makes what was written last.
    pub fn sync(&mut self) -> io::Result<()> {
        self.synced = Instant::now();
        self.file.sync_data()
    }
}
