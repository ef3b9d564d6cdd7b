//! A file of one JSON object a line that only grows. A last line that a crash cut off does not count.
//!
//! Whoever reads leaves the file as it is: a match may be writing it. Only the holder of the folder's lock cuts off what
//! a crash left, in place, when it opens the file to go on with it. What was appended is on the disk a second later,
//! whether anything follows or not: a thread of the journal sees to that, so that nobody waits for the disk.

use crate::folder::Folder;
use crate::limits::{LINE_BYTES_MAX, LOG_BYTES_MAX};
use crate::text::{plain, plain_file, read_bytes};
use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use sortie_disk::{File, sync_folder};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// What was written is on the disk after so long, whatever happens to the machine. What happens to the process alone
/// does not matter.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The lines of a file, none if there is no file. What a crash left of a last line is passed over, and stays there.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    // Who opens a pipe waits for whoever writes it.
    if !path.is_file() {
        bail!("{}: expected a file", path.display());
    }
    let bytes =
        read_bytes(path, LOG_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let mut items = Vec::new();
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        match serde_json::from_slice(line) {
            Ok(item) => items.push(item),
            Err(_) if !line.ends_with(b"\n") && is_torn(line) => {}
            // What a disk did not get to write before the power went reads as zeros: nothing after it was promised.
            Err(_) if line.contains(&0) => break,
            Err(error) => bail!("{}:{number}: {error}", path.display()),
        }
    }
    Ok(items)
}

/// Whether this is the beginning of a JSON object, and not all of it: what a crash leaves of a line.
fn is_torn(line: &[u8]) -> bool {
    // Cut inside a character it is not UTF-8 any more; what comes before that must do.
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&line[..error.valid_up_to()]).expect("valid up to there")
        }
        Err(_) => return false,
    };
    // As values: `IgnoredAny` calls a number that ends with its point a wrong one, and not one that is cut off.
    text.starts_with('{') && serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof())
}

/// The end of such a file. Its errors name it.
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    /// The length of the whole lines.
    length: u64,
    timer: Arc<Timer>,
    every: Duration,
    thread: Option<JoinHandle<()>>,
}

/// What the journal and its thread have in common.
#[derive(Default)]
struct Timer {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    /// Something was written since the last sync began.
    dirty: bool,
    closed: bool,
    /// What the thread could not do; told at the next call.
    failed: Option<io::Error>,
}

impl Timer {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Syncs the file a moment after it became dirty, until the journal is closed.
    fn run(&self, file: &File, every: Duration) {
        let mut state = self.lock();
        loop {
            state = self
                .woken
                .wait_while(state, |state| !state.dirty && !state.closed)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            if state.closed {
                return;
            }
            let (waited, _) = self
                .woken
                .wait_timeout_while(state, every, |state| !state.closed)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            state = waited;
            if state.closed {
                return;
            }
            state.dirty = false;
            drop(state);
            let synced = file.sync_data();
            state = self.lock();
            if let Err(error) = synced {
                state.failed.get_or_insert(error);
            }
        }
    }
}

impl Journal {
    /// Opens a file of a folder whose lock is held, to go on with it: what a crash left of a last line is cut off.
    pub fn open(folder: &Folder, name: &str) -> io::Result<Journal> {
        Self::open_every(folder, name, SYNC_EVERY)
    }

    fn open_every(folder: &Folder, name: &str, every: Duration) -> io::Result<Journal> {
        let path = folder.path.join(name);
        let open = || {
            // A planted link would have us write where it leads.
            plain_file(&path)?;
            let made = !path.exists();
            let mut file = File::append(&path)?;
            let length = mend(&mut file)?;
            if made {
                file.sync_all()?;
                sync_folder(&folder.path);
            }
            Ok((Arc::new(file), length))
        };
        let (file, length) = open().map_err(|error| named(&path, &error))?;
        Ok(Journal { path, file, length, timer: Arc::default(), every, thread: None })
    }

    /// Appends a line. If that fails the file ends as it did before, as far as the disk lets it.
    pub fn append(&mut self, item: &impl Serialize) -> io::Result<()> {
        self.failed()?;
        let line = serde_json::to_string(item).map_err(io::Error::other)? + "\n";
        if let Err(error) = (&*self.file).write_all(line.as_bytes()) {
            // A part of the line must not become the beginning of the next.
            let _ = self.file.set_len(self.length);
            return Err(named(&self.path, &error));
        }
        self.length += line.len() as u64;
        self.remind()
    }

    /// Makes what was written last.
    pub fn sync(&mut self) -> io::Result<()> {
        self.timer.lock().dirty = false;
        self.file.sync_data().map_err(|error| named(&self.path, &error))?;
        self.failed()
    }

    /// What the thread could not write: it may be lost, so nothing that comes after it may look whole.
    fn failed(&self) -> io::Result<()> {
        self.timer.lock().failed.take().map_or(Ok(()), |error| Err(named(&self.path, &error)))
    }

    /// Lets the thread know that something was written.
    fn remind(&mut self) -> io::Result<()> {
        if self.thread.is_none() {
            let (timer, file, every) = (self.timer.clone(), self.file.clone(), self.every);
            let thread = std::thread::Builder::new().name("journal".into());
            self.thread = Some(thread.spawn(move || timer.run(&file, every))?);
        }
        let mut state = self.timer.lock();
        if !state.dirty {
            state.dirty = true;
            self.timer.woken.notify_all();
        }
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let dirty = {
            let mut state = self.timer.lock();
            state.closed = true;
            self.timer.woken.notify_all();
            state.dirty
        };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if dirty {
            let _ = self.file.sync_data();
        }
    }
}

/// An error that says which file it is about.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {}", path.display(), plain(error)))
}

/// Cuts off what a crash left after the last whole line, or ends that line; the length of the file then. A file whose
/// end is not what a crash leaves is not ours to change.
fn mend(file: &mut File) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let start = last_line(file, length)?;
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    (&*file).take(length - start).read_to_end(&mut line)?;
    if line.is_empty() {
        return lost(file, length);
    }
    let end = if serde_json::from_slice::<IgnoredAny>(&line).is_ok() {
        // A whole last line without its line break is one that `read` took.
        file.write_all(b"\n")?;
        length + 1
    } else if is_torn(&line) || line.contains(&0) {
        file.set_len(start)?;
        start
    } else {
        return Err(io::Error::other(
            "its last line is not one that a crash cut off: the file is left as it is",
        ));
    };
    file.sync_all()?;
    lost(file, end)
}

/// Cuts off everything from the first line on that has zeros where the disk did not get to write.
fn lost(file: &mut File, length: u64) -> io::Result<u64> {
    let (mut start, mut at) = (0, 0);
    let mut buffer = vec![0; 1 << 20];
    file.seek(SeekFrom::Start(0))?;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(length);
        }
        for &byte in &buffer[..read] {
            at += 1;
            match byte {
                b'\n' => start = at,
                0 => {
                    file.set_len(start)?;
                    file.sync_all()?;
                    return Ok(start);
                }
                _ => {}
            }
        }
    }
}

/// Where the last line begins: after the last line break.
fn last_line(file: &mut File, length: u64) -> io::Result<u64> {
    let mut buffer = Vec::new();
    let mut end = length;
    while end > 0 {
        let begin = end.saturating_sub(1 << 16);
        buffer.clear();
        file.seek(SeekFrom::Start(begin))?;
        (&*file).take(end - begin).read_to_end(&mut buffer)?;
        if let Some(i) = buffer.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + i as u64 + 1);
        }
        if length - begin > LINE_BYTES_MAX {
            return Err(io::Error::other("its last line is too long to be one of ours"));
        }
        end = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder;
    use serde_json::{Value, json};
    use sortie_disk::{Disk, Failure, Fault, Plan, mount};
    use std::fs;

    fn lines(path: &Path) -> Vec<Value> {
        read(path).unwrap()
    }

    #[test]
    fn a_full_disk_names_the_file_and_leaves_whole_lines() {
        let home = tempfile::tempdir().unwrap();
        let full = |from| Fault { failure: Failure::Full, from, calls: 1 };
        // The lock, its folder and the journal's own beginning are the first calls.
        for seed in 0..20 {
            let path = home.path().join(seed.to_string());
            fs::create_dir(&path).unwrap();
            let disk =
                mount(Disk::new(&path, Plan { seed, power_until: None, faults: vec![full(6)] }).unwrap());
            let folder = folder::lock(&path).unwrap();
            let mut journal = Journal::open(&folder, "games.jsonl").unwrap();
            let told: Vec<_> = (0..4).map(|n| journal.append(&json!({ "game": n }))).collect();
            let failed: Vec<_> = told.iter().filter_map(|told| told.as_ref().err()).collect();
            assert_eq!(failed.len(), 1, "{:?}", disk.told());
            assert!(failed[0].to_string().contains("games.jsonl"), "{}", failed[0]);
            drop(journal);
            assert_eq!(lines(&path.join("games.jsonl")).len(), 3);
        }
    }

    #[test]
    fn a_line_may_be_cut_anywhere() {
        let line =
            r#"{"game":12,"seconds":-0.25e-3,"moves":["a\u00e9\ud83d\ude00","d"],"won":true,"who":null}"#;
        for end in 1..line.len() {
            assert!(is_torn(&line.as_bytes()[..end]), "{}", &line[..end]);
        }
        assert!(!is_torn(line.as_bytes()) && !is_torn(b"my notes") && !is_torn(br#"{"game":1.x"#));
    }

    #[test]
    fn readers_never_rewrite_the_journal() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder::lock(home.path()).unwrap();
        let path = home.path().join("games.jsonl");
        let mut journal = Journal::open(&folder, "games.jsonl").unwrap();
        journal.append(&json!({"game": 0})).unwrap();
        // The writer is in the middle of a line.
        let whole = fs::read(&path).unwrap();
        for torn in ["{", "{\"game\":1", "{\"game\":1,\"first\":\"K\u{00f6}", "{\"a\":{\"b\":[1"] {
            for end in 1..=torn.len() {
                let text = [&whole, &torn.as_bytes()[..end]].concat();
                fs::write(&path, &text).unwrap();
                assert_eq!(lines(&path), [json!({"game": 0})], "{torn}");
                assert_eq!(fs::read(&path).unwrap(), text, "a reader changed the file");
            }
        }
        // It goes on where it was, in the same file.
        fs::write(&path, &whole).unwrap();
        journal.append(&json!({"game": 1})).unwrap();
        assert_eq!(lines(&path), [json!({"game": 0}), json!({"game": 1})]);
    }

    #[test]
    fn the_holder_of_the_lock_mends_what_a_crash_left() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder::lock(home.path()).unwrap();
        let path = home.path().join("log");
        let whole = "{\"a\":1}\n{\"a\":\"\u{00f6}\"}\n";
        let long = format!("{{\"a\":\"{}", "x".repeat(200_000));
        for (left, kept) in [
            ("", whole.to_string()),
            ("{\"a\":", whole.to_string()),
            ("{\"a\":3}", format!("{whole}{{\"a\":3}}\n")),
            (&long, whole.to_string()),
            // Blocks that never reached the disk.
            ("\0\0\0\0", whole.to_string()),
            ("{\"a\"\0\0\0\0\0}\n{\"a\":5}\n", whole.to_string()),
            ("\0\0\0\0\n{\"a\":5}", whole.to_string()),
        ] {
            fs::write(&path, format!("{whole}{left}")).unwrap();
            let before = lines(&path);
            let mut journal = Journal::open(&folder, "log").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), kept, "{left:?}");
            assert_eq!(before, lines(&path), "readers saw the same: {left:?}");
            journal.append(&json!({"a": 9})).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), kept + "{\"a\":9}\n");
        }
        let torn = [whole.as_bytes(), b"{\"a\":\"\xc3"].concat();
        fs::write(&path, torn).unwrap();
        drop(Journal::open(&folder, "log").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }

    #[test]
    fn a_file_of_somebody_else_is_refused_and_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder::lock(home.path()).unwrap();
        let path = home.path().join("notes.jsonl");
        for text in ["my notes", "my notes\n", "{\"a\":1}\nmy notes", "[1, 2", "{a", "nu"] {
            fs::write(&path, text).unwrap();
            assert!(read::<Value>(&path).is_err(), "{text}");
            if !text.ends_with('\n') {
                assert!(Journal::open(&folder, "notes.jsonl").is_err(), "{text}");
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_line_is_on_the_disk_by_a_timer() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder::lock(home.path()).unwrap();
        let mut journal = Journal::open_every(&folder, "log", Duration::ZERO).unwrap();
        journal.append(&json!({"a": 1})).unwrap();
        // Nothing else is written; the thread gets there all the same.
        let begun = std::time::Instant::now();
        while journal.timer.lock().dirty {
            assert!(begun.elapsed() < Duration::from_secs(60), "the timer never came");
            std::thread::yield_now();
        }
        let mut journal = Journal::open(&folder, "log").unwrap();
        journal.append(&json!({"a": 2})).unwrap();
        assert!(journal.timer.lock().dirty);
        journal.sync().unwrap();
        assert!(!journal.timer.lock().dirty);
    }
}
