//! Games between players, for matches and tunings: a folder that keeps what was asked for and every game that was
//! played, and a run that works through a source of games. `sortie_jobs::contest` decides which games and what they say.

pub mod args;
pub mod budget;
pub mod opening;
pub mod referee;
pub mod report;
pub mod table;

use crate::folder::Folder;
use crate::journal::{self, Journal};
use crate::output;
use crate::progress::Progress;
use crate::source::Instance;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sortie_core::{JobId, JobSource, Outcome};
use sortie_runs::game::Game;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub use sortie_runs::claim::{FORMAT, ask_more, claim, fresh_path, read_request};
pub use sortie_runs::kind::{GAMES, MATCH, TUNE};

/// A contest in its folder.
pub struct Home {
    /// The folder, locked.
    pub folder: Folder,
    /// The games that were played before.
    pub before: Vec<Game>,
}

impl Home {
    /// Makes the folder, or opens it if it holds the same request.
    pub fn open<R>(path: &Path, file: &str, request: &R) -> Result<Home>
    where
        R: Serialize + DeserializeOwned + PartialEq,
    {
        let folder = claim(path, file, request, "contest")?;
        let before = journal::read(&path.join(GAMES))?;
        Ok(Home { folder, before })
    }

    /// Opens a log of the folder, to go on with it.
    pub fn journal(&self, name: &str) -> Result<Journal> {
        Ok(Journal::open(&self.folder, name)?)
    }

    /// Where the games are.
    pub fn games(&self) -> PathBuf {
        self.folder.path.join(GAMES)
    }

    /// Replaces a file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let written = self.folder.write(name, bytes);
        written.with_context(|| format!("cannot write {}", self.folder.path.join(name).display()))
    }
}

/// How a run stands, for the live line.
type Tell<'a, S> = &'a (dyn Fn(&S) -> String + Sync);

/// Plays the games of a source on so many threads and writes each down when it has ended.
pub fn run<S>(
    home: &Home,
    source: &mut S,
    concurrency: u32,
    quiet: bool,
    stop: &AtomicBool,
    tell: Tell<S>,
    play: impl Fn(&S::Job) -> Result<Option<Game>> + Sync,
) -> Result<()>
where
    S: JobSource<Answer = Outcome> + Send,
{
    record(home, source, quiet, tell, |recorder| {
        sortie_core::job::run_jobs(recorder, concurrency as usize, stop, |_, job| play(job).transpose());
        Ok(())
    })
}

/// Lets `work` play the games of a source, and writes each down when it has ended.
pub fn record<S, T>(
    home: &Home,
    source: &mut S,
    quiet: bool,
    tell: Tell<S>,
    work: impl FnOnce(&mut Recorder<S>) -> Result<T>,
) -> Result<T>
where
    S: JobSource<Answer = Outcome>,
{
    let journal = home.journal(GAMES)?;
    let mut recorder = Recorder {
        source,
        journal,
        progress: Progress::new(quiet, 0.0),
        begun: Instant::now(),
        tell,
        trouble: None,
    };
    let worked = work(&mut recorder);
    recorder.progress.clear();
    let synced = recorder.journal.sync();
    if let Some(trouble) = recorder.trouble {
        return Err(trouble);
    }
    synced?;
    worked
}

/// A source whose answers are whole games, written down before anybody hears of them.
pub struct Recorder<'a, S> {
    source: &'a mut S,
    journal: Journal,
    progress: Progress,
    begun: Instant,
    tell: Tell<'a, S>,
    /// What ended the run early.
    trouble: Option<anyhow::Error>,
}

#[cfg(feature = "grid")]
impl<S> Recorder<'_, S> {
    /// The source itself.
    pub fn source(&self) -> &S {
        self.source
    }
}

impl<S: JobSource<Answer = Outcome>> JobSource for Recorder<'_, S> {
    type Job = S::Job;
    type Answer = Result<Game>;

    fn next(&mut self) -> Option<(JobId, S::Job)> {
        self.source.next()
    }

    fn done(&mut self, id: JobId, game: Result<Game>) -> bool {
        let written = game.and_then(|game| {
            self.journal.append(&game)?;
            Ok(self.source.done(id, game.result.outcome()))
        });
        match written {
            Ok(wanted) => {
                self.progress.show(self.begun.elapsed().as_secs_f64(), || (self.tell)(self.source));
                wanted
            }
            Err(trouble) => {
                self.trouble.get_or_insert(trouble);
                false
            }
        }
    }

    fn lost(&mut self, id: JobId) {
        self.source.lost(id);
    }

    fn finished(&self) -> bool {
        self.trouble.is_some() || self.source.finished()
    }
}

/// The games in a log, each replayed by the rules; the errors of those that are wrong, with their lines.
pub fn verify(path: &Path) -> Result<(usize, Vec<String>)> {
    let path = if path.is_dir() { path.join(GAMES) } else { path.to_path_buf() };
    if !path.is_file() {
        bail!("{}: no such file", path.display());
    }
    let games: Vec<Game> = journal::read(&path)?;
    let mut wrong = Vec::new();
    let mut opened: Option<Instance> = None;
    for (game, number) in games.iter().zip(1..) {
        let instance = match opened.take() {
            Some(instance) if instance.name == game.instance => instance,
            _ => {
                Instance::open_game(&game.instance).with_context(|| format!("{}:{number}", path.display()))?
            }
        };
        if let Err(error) = referee::verify(game, instance.game()?) {
            wrong.push(format!("{}:{number}: game {}: {error}", path.display(), game.game));
        }
        opened = Some(instance);
    }
    Ok((games.len(), wrong))
}

/// The number of processors.
pub fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Says where a stopped contest is and how it goes on.
pub fn say_stopped(path: &Path) {
    let programs = crate::commands::resume::programs(path);
    let allow = if programs.is_empty() { "" } else { " --programs" };
    output::say(&format!("stopped; {}{allow} goes on", output::command("resume", path)));
}
