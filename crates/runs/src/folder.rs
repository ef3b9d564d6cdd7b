//! The run folder: what a run is told, what it found, and how it can go on. `docs/formats.md` describes every file.
//!
//! Whole files are replaced (written beside, fsync, rename, fsync of the folder), so that a reader or a crash never
//! meets half of one; events are appended. One process at a time holds the lock.

use crate::checkpoint::Checkpoint;
use crate::event::Event;
pub use crate::kind::SPEC;
use crate::limits::{STREAMS_MAX, TEXT_BYTES_MAX, THREADS_MAX};
use crate::spec::Spec;
use crate::text::{line_of, plain, plain_file, read_inside, read_text};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use sortie_core::Record;
use sortie_disk::{self as disk, File, sync_folder};
use std::fs::{self, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What happened, one JSON object a line.
pub const EVENTS: &str = "events.jsonl";
/// The best solution so far.
pub const RECORD: &str = "best.record";
/// Where the searches stood.
pub const CHECKPOINT: &str = "checkpoint";
/// How it ended.
pub const RESULT: &str = "result.json";
/// The instance file as it was when the run started; only if the instance is a file.
pub const INSTANCE: &str = "instance.txt";
/// Held by the process that works in the folder.
pub const LOCK: &str = "lock";

/// No checkpoint is larger.
const CHECKPOINT_BYTES_MAX: u64 = 1 << 30;

/// The version of the folder's format.
pub const FORMAT: u32 = 1;
/// Runs of one name; enough for any script.
const NUMBER_MAX: u32 = 1000;

/// A run folder that this process holds the lock of.
pub struct Folder {
    /// Where it is, as it was named.
    pub path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder `path`, or takes it if it is empty, and writes the spec there, and the text of the instance
    /// file if there is one. Leaves nothing behind if that fails.
    pub fn create(path: &Path, spec: &Spec, instance: Option<&str>) -> Result<Folder> {
        refuse_used(path)?;
        let made = make_folders(path)?;
        Self::fill(path, spec, instance, &made)
    }

    /// The same with a new folder under `runs/`, named after the run.
    pub fn create_fresh(spec: &Spec, instance: Option<&str>) -> Result<Folder> {
        let name = fresh_name(spec);
        for n in 1..=NUMBER_MAX {
            let path = Path::new("runs").join(if n == 1 { name.clone() } else { format!("{name}-{n}") });
            let made = make_folders(&path)?;
            // Another run of the same second may have made it just now: only a folder of our own making will do.
            if made.last() == Some(&path) {
                return Self::fill(&path, spec, instance, &made);
            }
        }
        bail!("runs/{name} and {NUMBER_MAX} more of that name are taken: give another --out")
    }

    fn fill(path: &Path, spec: &Spec, instance: Option<&str>, made: &[PathBuf]) -> Result<Folder> {
        let undo = || {
            for folder in made.iter().rev() {
                let _ = disk::remove_dir(folder);
            }
        };
        let folder = lock(path).inspect_err(|_| undo())?;
        let fill = || -> io::Result<()> {
            if let Some(text) = instance {
                folder.write(INSTANCE, text.as_bytes())?;
            }
            folder.write_spec(spec)
        };
        // Once more, now that nobody else can be at it.
        refuse_used(path)?;
        if let Err(error) = fill() {
            for name in [INSTANCE, SPEC, LOCK] {
                let _ = disk::remove_file(&path.join(name));
            }
            undo();
            return Err(unwritable(path, &error));
        }
        for folder in made.iter().map(PathBuf::as_path).chain([path]) {
            sync_folder(folder.parent().unwrap_or(Path::new("")));
        }
        Ok(folder)
    }

    /// Opens the folder of an earlier run.
    pub fn open(path: &Path) -> Result<Folder> {
        if !path.join(SPEC).is_file() {
            bail!("{}: not a run folder (it has no {SPEC}); `sortie solve` makes one", path.display());
        }
        lock(path)
    }

    /// Replaces a file, crash-safe.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        write_whole(&self.path.join(name), bytes)
    }

    /// Removes a file if it is there.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match disk::remove_file(&self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => {
                sync_folder(&self.path);
                Ok(())
            }
        }
    }

    /// Writes the spec.
    pub fn write_spec(&self, spec: &Spec) -> io::Result<()> {
        let text = toml::to_string(spec).map_err(io::Error::other)?;
        self.write(SPEC, format!("# Everything needed to repeat this run.\n{text}").as_bytes())
    }

    /// Reads the spec.
    pub fn read_spec(&self) -> Result<Spec> {
        let path = self.path.join(SPEC);
        plain_file(&path).with_context(|| path.display().to_string())?;
        let text =
            read_text(&path, TEXT_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
        refuse_other_format(&path, &text, FORMAT)?;
        let spec: Spec = toml::from_str(&text)
            .map_err(|error| anyhow!("{}:{}: {}", path.display(), line_of(&text, &error), error.message()))?;
        if !(1..=STREAMS_MAX).contains(&spec.streams) || !(1..=THREADS_MAX).contains(&spec.threads) {
            bail!(
                "{}: expected streams from 1 to {STREAMS_MAX} and threads from 1 to {THREADS_MAX}",
                path.display()
            );
        }
        spec.search.check().with_context(|| path.display().to_string())?;
        Ok(spec)
    }

    /// Writes the checkpoint.
    pub fn write_checkpoint(&self, checkpoint: &Checkpoint) -> io::Result<()> {
        self.write(CHECKPOINT, &checkpoint.to_bytes())
    }

    /// Reads the checkpoint; `Ok(None)` if there is none, an error if it is torn or of another run.
    pub fn read_checkpoint(&self, spec: &Spec) -> Result<Option<Checkpoint>> {
        let path = self.path.join(CHECKPOINT);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = read_inside(&path, CHECKPOINT_BYTES_MAX);
        let bytes = bytes.map_err(|message| anyhow!("{}: {message}", path.display()))?;
        let checkpoint = Checkpoint::from_bytes(&bytes)
            .ok_or_else(|| anyhow!("{}: damaged or of another version", path.display()))?;
        if checkpoint.identity != spec.identity() {
            bail!("{}: belongs to another spec than {SPEC}", path.display());
        }
        Ok(Some(checkpoint))
    }

    /// Reads the result, if the run has come to one.
    pub fn read_result(&self) -> Option<Value> {
        let text = read_text(&self.path.join(RESULT), TEXT_BYTES_MAX).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Reads the best record, if there is one.
    pub fn read_record(&self) -> Result<Option<Record>> {
        let path = self.path.join(RECORD);
        if !path.exists() {
            return Ok(None);
        }
        plain_file(&path).with_context(|| path.display().to_string())?;
        let text =
            read_text(&path, TEXT_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
        Record::parse(&text).map(Some).map_err(|e| anyhow!("{}:{}: {}", path.display(), e.line, e.message))
    }

    /// Opens the events for appending.
    pub fn events(&self) -> io::Result<Events> {
        let path = self.path.join(EVENTS);
        plain_file(&path)?;
        let mut file = File::append(&path)?;
        let mut last = [b'\n'];
        if file.metadata()?.len() > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        Ok(Events { file, torn: last != [b'\n'] })
    }
}

/// The events of a run, for appending.
pub struct Events {
    file: File,
    /// The last line was not finished (a crash, a full disk): the next begins on a line of its own.
    torn: bool,
}

impl Events {
    /// Appends one event.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let event = serde_json::to_string(event).map_err(io::Error::other)?;
        let line = format!("{}{event}\n", if self.torn { "\n" } else { "" });
        self.torn = true;
        self.file.write_all(line.as_bytes())?;
        self.torn = false;
        Ok(())
    }
}

/// Replaces a file: a reader or a crash meets the old one or the new one, whole.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::other("not the name of a file"))?;
    let beside = path.with_file_name(temporary(&name.to_string_lossy()));
    let write = || {
        // What an earlier crash left; or a planted link, through which we would write.
        let _ = disk::remove_file(&beside);
        let mut file = File::create_new(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        disk::rename(&beside, path)
    };
    write().inspect_err(|_| {
        let _ = disk::remove_file(&beside);
    })?;
    sync_folder(path.parent().unwrap_or(Path::new(".")));
    Ok(())
}

/// Refuses the file of a folder that says another format than the one that is read here: what its keys mean is not
/// known. One that cannot be read at all is left to the reader, which names the line.
pub fn refuse_other_format(path: &Path, text: &str, format: u32) -> Result<()> {
    let table: Option<toml::Table> = toml::from_str(text).ok();
    let said = table.as_ref().and_then(|table| table.get("format"));
    match said.map(toml::Value::as_integer) {
        Some(Some(said)) if said != i64::from(format) => bail!(
            "{}: format {said} is of another version of Sortie ({}): expected {format}; the folder is left as it is",
            path.display(),
            if said > i64::from(format) { "a later one" } else { "an earlier one" }
        ),
        _ => Ok(()),
    }
}

/// The copy of the instance file in a run folder, if the folder's spec is about that instance.
pub fn instance_copy(folder: &Path, instance: &str) -> Option<String> {
    let spec = read_text(&folder.join(SPEC), TEXT_BYTES_MAX).ok()?;
    let spec: Spec = toml::from_str(&spec).ok()?;
    if spec.instance != instance {
        return None;
    }
    read_text(&folder.join(INSTANCE), TEXT_BYTES_MAX).ok()
}

/// A readable name: `samegame-1-nrpa-20261115-213000-s7`.
fn fresh_name(spec: &Spec) -> String {
    let (domain, name) = spec.instance.split_once('/').unwrap_or(("run", &spec.instance));
    let name = name.rsplit('/').next().unwrap_or(name);
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(40).collect();
    format!("{domain}-{name}-{}-{}-s{}", spec.search.name(), crate::clock::stamp(), spec.seed)
}

fn refuse_used(path: &Path) -> Result<()> {
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            bail!("cannot use {} as a run folder ({}): give another --out", path.display(), plain(&error))
        }
    };
    if path.join(SPEC).exists() {
        let path = path.display();
        bail!("{path} already holds a run: `sortie resume {path}` goes on with it, or give another --out");
    }
    if entries.any(|entry| entry.is_ok_and(|entry| !is_left(&entry.path(), &[SPEC, INSTANCE]))) {
        bail!("{} is not empty: give another --out", path.display());
    }
    Ok(())
}

/// Whether a crash may have left this while these files were written, which is the first that happens under the lock: a
/// folder with nothing else holds no run yet.
pub(crate) fn is_left(path: &Path, first: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let written = || first.iter().any(|file| name == *file || name == temporary(file));
    name == LOCK || path.with_file_name(LOCK).is_file() && written()
}

/// Makes a folder and those above it; returns those that were not there before, outermost first.
fn make_folders(path: &Path) -> Result<Vec<PathBuf>> {
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let missing: Vec<&Path> = missing.collect();
    let mut made: Vec<PathBuf> = Vec::new();
    for folder in missing.into_iter().rev() {
        match disk::create_dir(folder) {
            Ok(()) => made.push(folder.to_path_buf()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => {
                for folder in made.iter().rev() {
                    let _ = disk::remove_dir(folder);
                }
                bail!("cannot make the folder {} ({}): give another --out", path.display(), plain(&error));
            }
        }
    }
    Ok(made)
}

/// Takes the lock of a folder that is there, whatever it holds.
pub fn lock(path: &Path) -> Result<Folder> {
    let file = plain_file(&path.join(LOCK)).and_then(|()| File::update(&path.join(LOCK)));
    let file = file.map_err(|error| unwritable(path, &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => bail!("{}: another process is working on this run", path.display()),
        // Some network file systems have no locks: then it is up to the user.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Folder { path: path.to_path_buf(), _lock: file }),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("cannot write to the folder {} ({}): make room or use another", path.display(), plain(error))
}

fn temporary(name: &str) -> String {
    format!(".{name}.tmp")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::{Limits, Nrpa, Search};

    fn spec() -> Spec {
        Spec {
            format: FORMAT,
            sortie: "0.1.0".into(),
            instance: "leftmove/60".into(),
            seed: 7,
            streams: 2,
            threads: 1,
            search: Search::Nrpa(Nrpa::default()),
            policy: None,
            limits: Limits { seconds: Some(1.5), target: Some(-3.0), ..Limits::default() },
        }
    }

    #[test]
    fn spec_round_trips_and_errors_name_the_line() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::create(&home.path().join("a/b"), &spec(), None).unwrap();
        assert_eq!(folder.read_spec().unwrap(), spec());
        let text = fs::read_to_string(folder.path.join(SPEC)).unwrap();
        for (from, to, expected) in [
            ("seed = 7", "seed = \"x\"", "spec.toml:5"),
            ("level = 3", "level = 0", "1 to 8"),
            ("format = 1", "format = 2", "another version"),
            ("streams = 2", "streams = 0", "from 1 to"),
            ("alpha", "alpah", "alpah"),
        ] {
            assert!(text.contains(from), "{text}");
            fs::write(folder.path.join(SPEC), text.replace(from, to)).unwrap();
            let error = format!("{:#}", folder.read_spec().unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_torn_event_does_not_spoil_the_next() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::create(home.path(), &spec(), None).unwrap();
        fs::write(folder.path.join(EVENTS), "{\"event\":\"started\"}\n{\"event\":\"impro").unwrap();
        let event = Event::Improved { seconds: 1.0, stream: 0, score: 3.0, playouts: 9 };
        folder.events().unwrap().append(&event).unwrap();
        let text = fs::read_to_string(folder.path.join(EVENTS)).unwrap();
        assert_eq!(text.lines().last(), Some(&*serde_json::to_string(&event).unwrap()));
    }

    #[test]
    fn one_process_at_a_time_and_used_folders_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run");
        let folder = Folder::create(&path, &spec(), Some("board")).unwrap();
        assert!(Folder::open(&path).err().unwrap().to_string().contains("another process"));
        drop(folder);
        assert!(Folder::open(&path).is_ok());
        assert!(Folder::create(&path, &spec(), None).err().unwrap().to_string().contains("resume"));
        assert_eq!(instance_copy(&path, "leftmove/60").as_deref(), Some("board"));
        assert_eq!(instance_copy(&path, "leftmove/61"), None);
        fs::write(home.path().join("file"), "").unwrap();
        assert!(Folder::create(&home.path().join("file/run"), &spec(), None).is_err());
        assert!(Folder::create(home.path(), &spec(), None).err().unwrap().to_string().contains("not empty"));
    }
}
