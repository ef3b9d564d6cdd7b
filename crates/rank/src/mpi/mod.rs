//! Ranks as processes of an MPI job. Process 0 is the front: it runs the command and opens gangs. The others wait for
//! errands and do them, each on a thread, until they are told to leave.
//!
//! ```text
//! front                                     everybody else
//! open: game, gang, search, seed ─────────► opens the game
//!                          ◄─────────────── opened, or why not
//! ═══ frames of the ranks, tagged with the number of the gang, between all ═══
//! close ──────────────────────────────────► that rank ends
//! quit ───────────────────────────────────► leaves
//! ```
//!
//! A gang is all processes. Several gangs may be open at a time, as in a match of two; each has its own tag and, on
//! every process, its own rank.

mod lines;
mod port;

pub use port::MpiPort;

use crate::errand::{Errand, Pieces, Word, from_frame, open_frames, to_frame};
use crate::{RankId, conform, relay, serve};
use lines::Lines;
use port::{CONTROL, Desk};
use sortie_core::{AnyGame, Origin};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a process may take to open a game.
const OPENED_WITHIN: Duration = Duration::from_secs(60);
/// How long the front waits at the end for the others.
const LEAVE_WITHIN: Duration = Duration::from_secs(5);
/// How often a process that has nothing else to do looks for errands.
const LOOK: Duration = Duration::from_millis(2);

/// The processes of this job.
pub struct World {
    desk: Desk,
    me: RankId,
    size: u32,
    ids: AtomicU32,
    /// One gang is opened at a time: answers are then for it.
    opening: Mutex<()>,
}

/// How another process opens the game that an errand names.
pub type Open<'a> = &'a (dyn Fn(&Origin) -> Result<Box<dyn AnyGame>, String> + Sync);

impl World {
    /// Joins the job that this process was started in; alone where it was not started in one. Once in a process.
    pub fn start() -> Result<World, String> {
        let lines = Lines::start()?;
        let (me, size) = (lines.me, lines.size);
        Ok(World { desk: Desk::new(lines), me, size, ids: AtomicU32::new(0), opening: Mutex::new(()) })
    }

    /// This process.
    pub fn me(&self) -> RankId {
        self.me
    }

    /// All processes.
    pub fn size(&self) -> u32 {
        self.size
    }

    fn others(&self) -> impl Iterator<Item = RankId> + use<> {
        let me = self.me;
        (0..self.size).map(RankId).filter(move |&rank| rank != me)
    }

    /// Gives all others an errand, and returns the port to them when all have understood it. They do it until the port
    /// is dropped. For the front alone.
    pub fn open(&self, errand: &Errand) -> Result<MpiPort, String> {
        let _one = self.opening.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let id = self.ids.fetch_add(1, Relaxed) + 1;
        let mut port = self.desk.open(id);
        let frames = open_frames(id, errand)?;
        for to in self.others() {
            frames.iter().try_for_each(|frame| self.desk.say(to, frame.clone()))?;
        }
        port.farewell = Some(to_frame(id, &Word::Close));
        let begun = Instant::now();
        let mut waits: Vec<RankId> = self.others().collect();
        while let Some(first) = waits.first() {
            let came = self.desk.lock().poll(CONTROL);
            let Some((from, frame)) = came else {
                if begun.elapsed() > OPENED_WITHIN {
                    return Err(format!(
                        "rank {} has not answered for {} s",
                        first.0,
                        OPENED_WITHIN.as_secs()
                    ));
                }
                std::thread::sleep(LOOK.min(begun.elapsed() / 4));
                continue;
            };
            match from_frame(&frame) {
                Ok((its, Word::Opened(text))) if its == id && text.is_empty() => {
                    waits.retain(|rank| *rank != from)
                }
                Ok((its, Word::Opened(text))) if its == id => return Err(format!("rank {}: {text}", from.0)),
                // An answer that came too late for an errand that was given up.
                _ => {}
            }
        }
        Ok(port)
    }

    /// Does errands until the front says that it is over. For all others. `log` hears what is refused; the first
    /// failure of an errand is the result.
    pub fn work(&self, open: Open, log: &(dyn Fn(String) + Sync)) -> Result<(), String> {
        let failure = Mutex::new(Ok(()));
        let stops: Mutex<HashMap<u32, Arc<AtomicBool>>> = Mutex::default();
        let refuse =
            |from: RankId, why: &str| log(format!("rank {}: from rank {}: {why}", self.me.0, from.0));
        let mut pieces = Pieces::default();
        std::thread::scope(|scope| {
            loop {
                let came = self.desk.lock().poll(CONTROL);
                let Some((from, frame)) = came else {
                    std::thread::sleep(LOOK);
                    continue;
                };
                let (id, word) = match from_frame(&frame) {
                    Ok(word) if from == RankId(0) => word,
                    Ok(_) => {
                        refuse(from, "only rank 0 gives errands");
                        continue;
                    }
                    Err(why) => {
                        refuse(from, &why);
                        continue;
                    }
                };
                let mut stops = stops.lock().expect("nobody panics with it");
                match word {
                    Word::Open(piece, last) => {
                        let errand = match pieces.add(&piece, last) {
                            None => continue,
                            Some(Ok(errand)) => errand,
                            Some(Err(why)) => {
                                refuse(from, &why);
                                self.answer(id, why);
                                continue;
                            }
                        };
                        let stop = Arc::new(AtomicBool::new(false));
                        stops.insert(id, stop.clone());
                        let failure = &failure;
                        scope.spawn(move || {
                            if let Err(why) = self.errand(id, &errand, open, &stop, log) {
                                let why = format!("rank {}: {why}", self.me.0);
                                log(why.clone());
                                let mut failure = failure.lock().expect("nobody panics with it");
                                *failure = std::mem::replace(&mut *failure, Ok(())).and(Err(why));
                            }
                        });
                    }
                    Word::Close => {
                        if let Some(stop) = stops.remove(&id) {
                            stop.store(true, Relaxed);
                        }
                    }
                    Word::Quit => {
                        stops.values().for_each(|stop| stop.store(true, Relaxed));
                        return;
                    }
                    Word::Opened(_) => refuse(from, "an answer to nothing"),
                }
            }
        });
        failure.into_inner().expect("nobody panics with it")
    }

    fn answer(&self, id: u32, text: String) {
        // The front that does not listen any more has gone, and its job with it.
        let _ = self.desk.say(RankId(0), to_frame(id, &Word::Opened(text)));
    }

    fn errand(
        &self,
        id: u32,
        errand: &Errand,
        open: Open,
        stop: &AtomicBool,
        log: &(dyn Fn(String) + Sync),
    ) -> Result<(), String> {
        let mut port = self.desk.open(id);
        match errand {
            Errand::Serve(errand) => {
                let opened = errand.plan(self.size).and_then(|plan| Ok((plan, open(&errand.origin)?)));
                match opened {
                    Ok((plan, game)) => {
                        self.answer(id, String::new());
                        serve(&*game, &plan, self.me, &mut port, stop, &mut |line| log(line));
                    }
                    // The front says it to its user; here nothing has failed.
                    Err(why) => self.answer(id, why),
                }
                Ok(())
            }
            Errand::Relay(traffic) => {
                self.answer(id, String::new());
                relay(&mut port, self.me, self.size, *traffic).map(drop)
            }
            Errand::Conform => {
                self.answer(id, String::new());
                conform(&mut port, self.me, self.size).map(drop)
            }
        }
    }

    /// Leaves the job, after everything was written. False: others did not, and the job must be aborted.
    pub fn leave(&self) -> bool {
        let front = self.me == RankId(0);
        if front {
            for to in self.others() {
                // One that is gone is found below.
                let _ = self.desk.say(to, to_frame(0, &Word::Quit));
            }
        }
        // Whoever was told to leave waits longer than the front that told it.
        self.desk.lock().lines.close(if front { LEAVE_WITHIN } else { 4 * LEAVE_WITHIN })
    }

    /// Ends all processes of the job at once.
    pub fn abort(&self, code: i32) {
        self.desk.lock().lines.abort(code);
    }
}
