//! The simulated disk: what was asked of it, what is safe by now, and what is left when the power goes.

use crate::rng::Rng;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a disk writes whole or not at all.
const SECTOR: u64 = 512;
/// Calls that are remembered, for whoever asks how it came to this.
const CALLS_KEPT: usize = 200;

/// What happens to a disk. A call is one that changes or syncs something; they are counted from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Decides what is left when the power goes.
    pub seed: u64,
    /// The power goes in the middle of this call.
    pub power_until: Option<u64>,
    /// What fails before that.
    pub faults: Vec<Fault>,
}

impl Plan {
    /// A disk that does what it is told.
    pub fn new(seed: u64) -> Plan {
        Plan { seed, ..Plan::default() }
    }
}

/// What fails, from which call on and for how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// How.
    pub failure: Failure,
    /// The first call that fails.
    pub from: u64,
    /// How many do.
    pub calls: u64,
}

/// How a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It is full: what needs room fails, a write after a part of its bytes.
    Full,
    /// It fails in whatever it is asked (EIO). What it was to sync may never be kept, whatever it says later.
    Broken,
}

/// Whoever is told that the power went as planned: whether the folder could be left as the disk leaves it, and the last
/// calls in words. Nothing else happens meanwhile, and the process may end there.
type AtTheEnd = Box<dyn Fn(&io::Result<()>, &VecDeque<String>) + Send + Sync>;

/// A simulated disk over a folder.
pub struct Disk {
    root: PathBuf,
    plan: Plan,
    at_the_end: Option<AtTheEnd>,
    state: Mutex<State>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "a simulated disk over {}", self.root.display())
    }
}

struct State {
    rng: Rng,
    calls: u64,
    /// The power is gone.
    down: bool,
    files: Vec<Node>,
    folders: BTreeMap<PathBuf, Folder>,
    /// The last calls, in words.
    told: VecDeque<String>,
}

/// A file, whatever it is called.
#[derive(Default)]
struct Node {
    /// What is safe.
    kept: Vec<u8>,
    /// What is not, in the order of the calls.
    pending: Vec<Change>,
}

enum Change {
    Bytes(u64, Vec<u8>),
    Length(u64),
}

/// The names in a folder.
#[derive(Default)]
struct Folder {
    kept: BTreeMap<OsString, Entry>,
    now: BTreeMap<OsString, Entry>,
    /// What leads from one to the other.
    pending: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    File(usize),
    Folder,
}

enum Step {
    Put(OsString, Entry),
    Drop(OsString),
    Move(OsString, OsString),
}

/// A call that changes names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Call<'a> {
    Rename(&'a Path, &'a Path),
    Remove(&'a Path),
    Folder(&'a Path),
}

/// What a call is about to do, as far as failures care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Room,
    Nothing,
    /// What it would keep is not kept if the power goes in the middle.
    Sync,
}

/// What stands in the way of a call.
enum Hindrance {
    Error(io::Error),
    /// The disk is full, but for some of the bytes.
    Full,
}

/// Everything that is there when the power is back: folders and the bytes of files.
type Image = BTreeMap<PathBuf, Option<Vec<u8>>>;

impl Disk {
    /// A disk that holds what is in a folder now, all of it safe.
    pub fn new(root: &Path, plan: Plan) -> io::Result<Disk> {
        let root = std::path::absolute(root)?;
        let (mut files, mut folders) = (Vec::new(), BTreeMap::new());
        read_folder(&root, &mut files, &mut folders)?;
        let rng = Rng(plan.seed);
        let state = State { rng, calls: 0, down: false, files, folders, told: VecDeque::new() };
        Ok(Disk { root, plan, at_the_end: None, state: Mutex::new(state) })
    }

    /// Calls this when the power has gone as planned. It hears whether the folder is as the disk leaves it, and the last calls
    /// in words; nothing else happens meanwhile, and the process may end there.
    pub fn at_the_end(
        mut self,
        then: impl Fn(&io::Result<()>, &VecDeque<String>) + Send + Sync + 'static,
    ) -> Disk {
        self.at_the_end = Some(Box::new(then));
        self
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// The last calls, in words.
    pub fn told(&self) -> VecDeque<String> {
        self.lock().told.clone()
    }

    /// The power goes: the folder is left as a disk might leave it, and all further calls fail. An error names what was
    /// written past the door.
    pub fn cut_power(&self) -> io::Result<()> {
        self.cut(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cut(&self, state: &mut State) -> io::Result<()> {
        if state.down {
            return Ok(());
        }
        state.down = true;
        let image = state.image(&self.root);
        leave(&self.root, &image, &state.folders)
    }

    /// The power goes as planned: what the call that is in the middle of it comes to.
    fn end(&self, state: &mut State) -> io::Error {
        let left = self.cut(state);
        if let Some(then) = &self.at_the_end {
            then(&left, &state.told);
        }
        left.err().unwrap_or_else(gone)
    }

    /// Begins a call: what hinders it, if anything does.
    fn begin(&self, state: &mut State, needs: Needs, told: String) -> Result<(), Hindrance> {
        if state.down {
            return Err(Hindrance::Error(gone()));
        }
        state.calls += 1;
        let call = state.calls;
        if state.told.len() == CALLS_KEPT {
            state.told.pop_front();
        }
        state.told.push_back(format!("{call} {told}"));
        if needs == Needs::Sync && self.plan.power_until == Some(call) {
            return Err(Hindrance::Error(self.end(state)));
        }
        let fault =
            self.plan.faults.iter().find(|fault| (fault.from..fault.from + fault.calls).contains(&call));
        match fault.map(|fault| fault.failure) {
            Some(Failure::Broken) => Err(Hindrance::Error(io::Error::other("input/output error"))),
            Some(Failure::Full) if needs == Needs::Room => Err(Hindrance::Full),
            _ => Ok(()),
        }
    }

    /// Ends a call that was done: the power may have gone in the middle of it.
    fn done<T>(&self, state: &mut State, done: T) -> io::Result<T> {
        if self.plan.power_until == Some(state.calls) {
            return Err(self.end(state));
        }
        Ok(done)
    }

    /// Does something while nobody else is at the disk.
    pub(crate) fn undisturbed<T>(&self, work: impl FnOnce() -> T) -> T {
        let _state = self.lock();
        work()
    }

    /// Opens a file, which may make it; its number is what the disk knows it by.
    pub(crate) fn open(
        &self,
        path: &Path,
        open: impl FnOnce() -> io::Result<fs::File>,
    ) -> io::Result<(fs::File, usize)> {
        let (folder, name) = place(path)?;
        let mut state = self.lock();
        if let Some(&Entry::File(node)) = state.folders.get(&folder).and_then(|f| f.now.get(&name)) {
            return match state.down {
                true => Err(gone()),
                false => Ok((open()?, node)),
            };
        }
        match self.begin(&mut state, Needs::Room, format!("create {}", path.display())) {
            Err(Hindrance::Error(error)) => return Err(error),
            Err(Hindrance::Full) => return Err(ErrorKind::StorageFull.into()),
            Ok(()) => {}
        }
        let real = open()?;
        let node = state.files.len();
        state.files.push(Node::default());
        state.step(&folder, Step::Put(name, Entry::File(node)));
        self.done(&mut state, (real, node))
    }

    /// Writes bytes to a place; how many, which are fewer where the disk fills up.
    pub(crate) fn write(
        &self,
        path: &Path,
        node: usize,
        offset: u64,
        bytes: &[u8],
        write: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        let mut state = self.lock();
        let told = format!("write {} bytes at {offset} of {}", bytes.len(), path.display());
        let some = match self.begin(&mut state, Needs::Room, told) {
            Err(Hindrance::Error(error)) => return Err(error),
            Err(Hindrance::Full) => state.rng.below(bytes.len().max(1) as u64) as usize,
            Ok(()) => bytes.len(),
        };
        write(&bytes[..some])?;
        if some > 0 {
            state.files[node].pending.push(Change::Bytes(offset, bytes[..some].to_vec()));
        }
        if some < bytes.len() {
            return Err(ErrorKind::StorageFull.into());
        }
        self.done(&mut state, some)
    }

    pub(crate) fn resize(
        &self,
        path: &Path,
        node: usize,
        length: u64,
        resize: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.lock();
        match self.begin(&mut state, Needs::Nothing, format!("{} has {length} bytes", path.display())) {
            Err(Hindrance::Error(error)) => return Err(error),
            Err(Hindrance::Full) | Ok(()) => {}
        }
        resize()?;
        state.files[node].pending.push(Change::Length(length));
        self.done(&mut state, ())
    }

    pub(crate) fn sync(&self, path: &Path, node: usize) -> io::Result<()> {
        let mut state = self.lock();
        let begun = self.begin(&mut state, Needs::Sync, format!("sync {}", path.display()));
        let State { rng, files, down, .. } = &mut *state;
        if let Err(Hindrance::Error(error)) = begun {
            if !*down {
                // The system takes for written what it could not write: syncing again does not help.
                files[node].pending.retain(|_| rng.eighths(4));
            }
            return Err(error);
        }
        let Node { kept, pending } = &mut files[node];
        pending.drain(..).for_each(|change| change.make(kept));
        Ok(())
    }

    pub(crate) fn sync_folder(&self, path: &Path) {
        let Ok(path) = whole(path) else { return };
        let mut state = self.lock();
        if self.begin(&mut state, Needs::Sync, format!("sync the folder {}", path.display())).is_err() {
            return;
        }
        if let Some(folder) = state.folders.get_mut(&path) {
            folder.pending.clear();
            folder.kept = folder.now.clone();
        }
    }

    /// Changes names.
    pub(crate) fn names(&self, call: Call, change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut state = self.lock();
        let needs = if matches!(call, Call::Folder(_)) { Needs::Room } else { Needs::Nothing };
        match self.begin(&mut state, needs, format!("{call:?}")) {
            Err(Hindrance::Error(error)) => return Err(error),
            Err(Hindrance::Full) => return Err(ErrorKind::StorageFull.into()),
            Ok(()) => {}
        }
        change()?;
        match call {
            Call::Rename(from, to) => {
                let ((folder, from), (there, to)) = (place(from)?, place(to)?);
                if folder != there {
                    return Err(io::Error::other("a simulated disk renames within a folder"));
                }
                state.step(&folder, Step::Move(from, to));
            }
            Call::Remove(path) => {
                let (folder, name) = place(path)?;
                state.step(&folder, Step::Drop(name));
            }
            Call::Folder(path) => {
                let (folder, name) = place(path)?;
                state.step(&folder, Step::Put(name, Entry::Folder));
                state.folders.insert(whole(path)?, Folder::default());
            }
        }
        self.done(&mut state, ())
    }
}

impl State {
    fn step(&mut self, folder: &Path, step: Step) {
        let folder = self.folders.entry(folder.to_path_buf()).or_default();
        step.make(&mut folder.now);
        folder.pending.push(step);
    }

    /// What is there when the power is back.
    fn image(&mut self, root: &Path) -> Image {
        // Nothing but what is safe, everything, or any part of it.
        let mood = match self.rng.below(4) {
            0 => 0,
            1 => 8,
            _ => 1 + self.rng.below(7),
        };
        let State { rng, files, folders, .. } = self;
        let (mut image, mut left) = (Image::new(), vec![root.to_path_buf()]);
        while let Some(path) = left.pop() {
            let mut names = BTreeMap::new();
            if let Some(folder) = folders.get(&path) {
                names = folder.kept.clone();
                let steps = match mood {
                    0 => 0,
                    8 => folder.pending.len(),
                    _ => rng.below(folder.pending.len() as u64 + 1) as usize,
                };
                folder.pending[..steps].iter().for_each(|step| step.make(&mut names));
            }
            for (name, entry) in names {
                let inside = path.join(name);
                match entry {
                    Entry::File(node) => {
                        image.insert(inside, Some(files[node].left(mood, rng)));
                    }
                    Entry::Folder => left.push(inside),
                }
            }
            image.insert(path, None);
        }
        image
    }
}

impl Node {
    /// What is left of it.
    fn left(&self, mood: u64, rng: &mut Rng) -> Vec<u8> {
        let mut bytes = self.kept.clone();
        for change in &self.pending {
            match change {
                Change::Length(length) => {
                    if rng.eighths(mood) {
                        bytes.resize(*length as usize, 0);
                    }
                }
                Change::Bytes(offset, all) => {
                    let mut at = 0;
                    while at < all.len() {
                        let place = offset + at as u64;
                        let sector = ((SECTOR - place % SECTOR) as usize).min(all.len() - at);
                        // The last one may end anywhere: a file's length is a number like any other.
                        let torn = mood < 8 && rng.eighths(1);
                        let some = if torn { rng.below(sector as u64 + 1) as usize } else { sector };
                        if rng.eighths(mood) {
                            put(&mut bytes, place, &all[at..at + some]);
                        }
                        at += sector;
                    }
                }
            }
        }
        bytes
    }
}

impl Change {
    fn make(self, bytes: &mut Vec<u8>) {
        match self {
            Change::Length(length) => bytes.resize(length as usize, 0),
            Change::Bytes(offset, some) => put(bytes, offset, &some),
        }
    }
}

/// Bytes at a place; what is between it and the end is zeros.
fn put(bytes: &mut Vec<u8>, offset: u64, some: &[u8]) {
    let (begin, end) = (offset as usize, offset as usize + some.len());
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[begin..end].copy_from_slice(some);
}

impl Step {
    fn make(&self, names: &mut BTreeMap<OsString, Entry>) {
        match self {
            Step::Put(name, entry) => {
                names.insert(name.clone(), *entry);
            }
            Step::Drop(name) => {
                names.remove(name);
            }
            Step::Move(from, to) => {
                if let Some(entry) = names.remove(from) {
                    names.insert(to.clone(), entry);
                }
            }
        }
    }
}

/// Makes the folder what the disk left. What lies there and was never made through the door is an error: nobody knows
/// whether it would be there.
fn leave(root: &Path, image: &Image, folders: &BTreeMap<PathBuf, Folder>) -> io::Result<()> {
    let mut past = Vec::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(path) = left.pop() {
        let known = folders.get(&path);
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            let inside = entry.path();
            if !known.is_some_and(|folder| folder.now.contains_key(&entry.file_name())) {
                past.push(inside.display().to_string());
            }
            let is_folder = entry.file_type()?.is_dir();
            match image.get(&inside) {
                Some(None) if is_folder => left.push(inside),
                Some(Some(_)) if !is_folder => {}
                _ if is_folder => fs::remove_dir_all(&inside)?,
                _ => fs::remove_file(&inside)?,
            }
        }
    }
    for (path, bytes) in image {
        match bytes {
            None => fs::create_dir_all(path)?,
            Some(bytes) => fs::write(path, bytes)?,
        }
    }
    match past.is_empty() {
        true => Ok(()),
        false => Err(io::Error::other(format!("made past the door: {}", past.join(", ")))),
    }
}

fn read_folder(
    path: &Path,
    files: &mut Vec<Node>,
    folders: &mut BTreeMap<PathBuf, Folder>,
) -> io::Result<()> {
    let mut names = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let known = if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), files, folders)?;
            Entry::Folder
        } else {
            files.push(Node { kept: fs::read(entry.path())?, pending: Vec::new() });
            Entry::File(files.len() - 1)
        };
        names.insert(entry.file_name(), known);
    }
    folders.insert(path.to_path_buf(), Folder { now: names.clone(), kept: names, pending: Vec::new() });
    Ok(())
}

/// A path from the root of the system on, without `.` and `..`.
fn whole(path: &Path) -> io::Result<PathBuf> {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    Ok(whole)
}

/// The folder of a file, and its name there.
fn place(path: &Path) -> io::Result<(PathBuf, OsString)> {
    let path = whole(path)?;
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok((folder.to_path_buf(), name.to_os_string())),
        _ => Err(io::Error::other("not the name of a file")),
    }
}

fn gone() -> io::Error {
    io::Error::other("the simulated machine has no power")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{File, create_dir, mount, rename};
    use std::io::Write;

    /// What is left of a file after the power went, over many seeds.
    fn outcomes(write: impl Fn(&Path) -> io::Result<()>) -> Vec<Option<Vec<u8>>> {
        let outcome = |seed| {
            let home = tempfile::tempdir().unwrap();
            let disk = mount(Disk::new(home.path(), Plan::new(seed)).unwrap());
            write(home.path()).unwrap();
            disk.cut_power().unwrap();
            fs::read(home.path().join("file")).ok()
        };
        (0..100).map(outcome).collect()
    }

    #[test]
    fn what_was_synced_is_there_and_nothing_else_is_certain() {
        let safe = outcomes(|home| {
            let mut file = File::create_new(&home.join("file"))?;
            file.write_all(b"safe")?;
            file.sync_all()?;
            crate::sync_folder(home);
            file.write_all(&[b'x'; 2000])
        });
        let all = || safe.iter().map(|bytes| bytes.as_ref().expect("its name was synced"));
        assert!(all().all(|bytes| bytes.starts_with(b"safe")), "what was synced was lost");
        for (what, there) in [
            ("nothing more", all().any(|bytes| bytes == b"safe")),
            ("everything", all().any(|bytes| bytes.len() == 2004 && !bytes.contains(&0))),
            ("zeros before what was kept", all().any(|bytes| bytes.contains(&0))),
            (
                "a torn sector",
                all().any(|bytes| bytes.len() > 4 && bytes.len() != 2004 && bytes.len() % 512 != 0),
            ),
        ] {
            assert!(there, "no seed leaves {what}");
        }
        let unnamed = outcomes(|home| {
            let mut file = File::create_new(&home.join("file"))?;
            file.write_all(b"safe")?;
            file.sync_all()
        });
        assert!(unnamed.iter().any(Option::is_none), "its name was never synced");
        assert!(unnamed.iter().flatten().all(|bytes| bytes == b"safe"));
    }

    #[test]
    fn a_rename_is_one_step() {
        let renamed = outcomes(|home| {
            fs::write(home.join("past the door"), "")?;
            fs::remove_file(home.join("past the door"))?;
            for text in ["old", "new"] {
                let mut file = File::create_new(&home.join("beside"))?;
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                rename(&home.join("beside"), &home.join("file"))?;
                if text == "old" {
                    crate::sync_folder(home);
                }
            }
            Ok(())
        });
        for text in ["old", "new"] {
            assert!(renamed.iter().any(|left| left.as_deref() == Some(text.as_bytes())), "{text}");
        }
        assert!(renamed.iter().all(|left| [Some(&b"old"[..]), Some(b"new")].contains(&left.as_deref())));
    }

    #[test]
    fn a_plan_names_the_calls_that_fail() {
        let home = tempfile::tempdir().unwrap();
        let fault = |failure, from| Fault { failure, from, calls: 1 };
        let faults = vec![fault(Failure::Full, 3), fault(Failure::Broken, 4)];
        let plan = Plan { seed: 1, power_until: Some(7), faults };
        let disk = mount(Disk::new(home.path(), plan).unwrap());
        create_dir(&home.path().join("inside")).unwrap();
        let mut file = File::create_new(&home.path().join("inside/file")).unwrap();
        assert_eq!(file.write_all(&[1; 5000]).unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(file.sync_all().is_err());
        file.write_all(b"more").unwrap();
        file.sync_all().unwrap();
        let told = file.write_all(b"more").unwrap_err().to_string();
        assert!(told.contains("no power"), "{told}");
        assert!(file.sync_all().is_err() && create_dir(&home.path().join("other")).is_err());
        assert_eq!(disk.calls(), 7);
        assert!(disk.told()[6].starts_with("7 write 4 bytes"), "{:?}", disk.told());
    }

    #[test]
    fn what_is_made_past_the_door_is_told() {
        let home = tempfile::tempdir().unwrap();
        let disk = mount(Disk::new(home.path(), Plan::new(1)).unwrap());
        fs::write(home.path().join("secret"), "").unwrap();
        assert!(disk.cut_power().unwrap_err().to_string().contains("secret"));
    }
}
