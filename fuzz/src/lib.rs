//! Inputs of strangers, tried by the million: every text, file and message that Sortie reads has a target here. An input
//! must be answered without a panic, within a second, and in bounded memory.
//!
//! It runs on stable. Built with `-C instrument-coverage --cfg fuzz_coverage` (`fuzz/night.sh` does) the harness reads
//! the compiler's own counters after every input and keeps those that reached something new; without, it mutates the
//! corpus alone. `corpus/` holds what to begin with, `regressions/` what once went wrong.

mod coverage;
mod memory;
mod mutate;
pub mod targets;

pub use targets::{TARGETS, Target};

use mutate::Mutator;
use sortie_core::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// An answer takes no longer.
pub const TIME_MAX: Duration = Duration::from_secs(1);
/// Whoever has not answered by then never does.
const HANG: Duration = Duration::from_secs(30);
/// An answer takes no more memory than this and so many times its input.
pub const BYTES_MAX: usize = 64 << 20;
const BYTES_TIMES: usize = 256;
/// No input is longer.
pub const INPUT_MAX: usize = 1 << 16;

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Wrong {
    /// It was none.
    Panic(String),
    /// It took so many seconds.
    Slow(f64),
    /// It took so many bytes.
    Large(usize),
}

/// Tries one input. Time is looked at only where `timed`: tests share their machine.
pub fn attempt(target: &Target, input: &[u8], timed: bool) -> Result<(), Wrong> {
    let begun = Instant::now();
    memory::reset();
    let done = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let (bytes, seconds) = (memory::peak(), begun.elapsed());
    if let Err(panic) = done {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        return Err(Wrong::Panic(said.unwrap_or_default()));
    }
    if bytes > BYTES_MAX + BYTES_TIMES * input.len() {
        return Err(Wrong::Large(bytes));
    }
    if timed && seconds > TIME_MAX {
        return Err(Wrong::Slow(seconds.as_secs_f64()));
    }
    Ok(())
}

/// The inputs of a folder, by name; none if it is not there.
pub fn inputs(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target);
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut found: Vec<(String, Vec<u8>)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some((path.file_name()?.to_string_lossy().into_owned(), std::fs::read(&path).ok()?))
        })
        .collect();
    found.sort();
    found
}

/// How a target did.
#[derive(Debug, Default)]
pub struct Tried {
    /// Inputs.
    pub inputs: u64,
    /// Inputs that are worth to be mutated further.
    pub corpus: usize,
    /// Counters that were reached; 0 without coverage.
    pub reached: usize,
    /// What went wrong, with what.
    pub wrong: Vec<(Wrong, Vec<u8>)>,
}

/// Findings of one target, after which it is enough.
const WRONG_MAX: usize = 5;
/// Inputs that are kept for a target in one session.
const CORPUS_MAX: usize = 20_000;

/// Tries inputs made from the corpus until `until` says that it is enough. The same seed and corpus make the same inputs
/// where there is no coverage to choose by.
pub fn run(target: &Target, seed: u64, timed: bool, until: &mut dyn FnMut(u64) -> bool) -> Tried {
    let mut corpus: Vec<Vec<u8>> =
        inputs("corpus", target.name).into_iter().map(|(_, input)| input).collect();
    corpus.extend(inputs("regressions", target.name).into_iter().map(|(_, input)| input));
    corpus.push(Vec::new());
    let mut mutator = Mutator::new(Rng::new(seed, 0), target.words);
    let mut coverage = coverage::Coverage::new();
    let mut tried = Tried::default();
    let watch = Watch::new(target.name);
    let mut fresh: Vec<Vec<u8>> = corpus.clone();
    while !until(tried.inputs) && tried.wrong.len() < WRONG_MAX {
        let input = fresh.pop().unwrap_or_else(|| mutator.make(&corpus));
        watch.begin(&input);
        coverage.clear();
        let outcome = attempt(target, &input, timed);
        watch.end();
        tried.inputs += 1;
        match outcome {
            Ok(()) if coverage.news() && corpus.len() < CORPUS_MAX => corpus.push(input),
            Ok(()) => {}
            Err(wrong) => tried.wrong.push((wrong, input)),
        }
    }
    (tried.corpus, tried.reached) = (corpus.len(), coverage.reached());
    tried
}

/// Writes an input that went wrong where the next session finds it.
pub fn keep(target: &str, input: &[u8]) -> std::io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{:08x}", crc32fast::hash(input)));
    std::fs::write(&path, input)?;
    Ok(path)
}

/// Ends the process with the input in hand when an answer never comes: nothing else can.
struct Watch {
    begun: Instant,
    /// When the input at hand began, in milliseconds; 0: none is at hand.
    since: Arc<AtomicU64>,
    input: Arc<Mutex<Vec<u8>>>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn new(target: &'static str) -> Watch {
        let watch = Watch {
            begun: Instant::now(),
            since: Arc::default(),
            input: Arc::default(),
            over: Arc::default(),
        };
        let (begun, since, input, over) =
            (watch.begun, watch.since.clone(), watch.input.clone(), watch.over.clone());
        std::thread::spawn(move || {
            while !over.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(250));
                let at = since.load(Relaxed);
                if at > 0 && begun.elapsed() > Duration::from_millis(at) + HANG {
                    let input = input.lock().map(|input| input.clone()).unwrap_or_default();
                    let kept = keep(target, &input).map(|path| path.display().to_string());
                    eprintln!(
                        "{target}: no answer for {HANG:?}: {}",
                        kept.unwrap_or_else(|error| error.to_string())
                    );
                    std::process::abort();
                }
            }
        });
        watch
    }

    fn begin(&self, input: &[u8]) {
        if let Ok(mut kept) = self.input.lock() {
            kept.clear();
            kept.extend_from_slice(input);
        }
        self.since.store(self.begun.elapsed().as_millis() as u64 + 1, Relaxed);
    }

    fn end(&self) {
        self.since.store(0, Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
    }
}

/// A seed that nobody has had yet, or that of `SORTIE_SEED`.
pub fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    let given = std::env::var("SORTIE_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| RandomState::new().hash_one(0) >> 16)
}
