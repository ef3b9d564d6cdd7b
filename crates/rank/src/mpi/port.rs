//! Gangs share the lines of a process: each has a tag of its own, and frames that somebody else finds wait for it.

use super::lines::Lines;
use crate::{Port, RankId, SendError};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The tag of what is said beside searches.
pub(crate) const CONTROL: u32 = 0;
/// Frames that wait for one gang before no more are taken off the lines.
const INBOX_MAX: usize = 4096;
/// Frames for others that one look may find.
const OTHERS_AT_ONCE: usize = 32;
/// A rank that waits looks again and again for so long, and then sleeps for so long at a time. It does not yield: on a
/// machine with other work that costs many time slices, while whoever sleeps is woken on time.
const AWAKE: Duration = Duration::from_micros(50);
const NAP: Duration = Duration::from_micros(50);
/// How long a frame may take that must go out before something else is done.
const SENT_WITHIN: Duration = Duration::from_secs(2);

type Frames = VecDeque<(RankId, Vec<u8>)>;

/// The lines of this process and who is behind them.
pub(crate) struct Switch {
    pub lines: Lines,
    inboxes: Vec<(u32, Frames)>,
    /// The newest gang that was opened here: what comes for an older one that has no inbox is late.
    newest: u32,
}

/// The switch, as everybody holds it.
#[derive(Clone)]
pub(crate) struct Desk(Arc<Mutex<Switch>>);

impl Desk {
    pub fn new(lines: Lines) -> Desk {
        let inboxes = vec![(CONTROL, Frames::new())];
        Desk(Arc::new(Mutex::new(Switch { lines, inboxes, newest: 0 })))
    }

    pub fn lock(&self) -> MutexGuard<'_, Switch> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A port of a new gang.
    pub fn open(&self, id: u32) -> MpiPort {
        let mut switch = self.lock();
        switch.newest = switch.newest.max(id);
        switch.inbox(id);
        MpiPort { desk: self.clone(), id, told: 0, farewell: None }
    }

    /// Sends a frame of control, waiting a while for room.
    pub fn say(&self, to: RankId, mut frame: Vec<u8>) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            match self.lock().lines.try_send(to, CONTROL, frame) {
                Ok(()) => return Ok(()),
                Err(SendError::Full(back)) if begun.elapsed() < SENT_WITHIN => frame = back,
                Err(error) => return Err(format!("rank {} does not listen: {error:?}", to.0)),
            }
            self.lock().take_in();
            std::thread::sleep(NAP);
        }
    }
}

impl Switch {
    fn inbox(&mut self, id: u32) -> &mut Frames {
        let at = self.inboxes.iter().position(|(tag, _)| *tag == id).unwrap_or_else(|| {
            self.inboxes.push((id, Frames::new()));
            self.inboxes.len() - 1
        });
        &mut self.inboxes[at].1
    }

    /// The next frame for a gang.
    pub fn poll(&mut self, id: u32) -> Option<(RankId, Vec<u8>)> {
        if let Some(frame) = self.inbox(id).pop_front() {
            return Some(frame);
        }
        for _ in 0..OTHERS_AT_ONCE {
            if self.inboxes.iter().any(|(_, frames)| frames.len() >= INBOX_MAX) {
                return None;
            }
            let (from, tag, frame) = self.lines.poll()?;
            if tag == id {
                return Some((from, frame));
            }
            self.keep(from, tag, frame);
        }
        None
    }

    /// Keeps a frame for whoever it is for. A gang may be about to be opened; one that was closed gets nothing.
    fn keep(&mut self, from: RankId, tag: u32, frame: Vec<u8>) {
        if tag > self.newest || self.inboxes.iter().any(|(id, _)| *id == tag) {
            self.inbox(tag).push_back((from, frame));
        }
    }

    /// Takes what has come off the lines, so that others can send.
    fn take_in(&mut self) {
        if let Some((from, frame)) = self.poll(CONTROL) {
            self.inbox(CONTROL).push_front((from, frame));
        }
    }
}

/// A port of a rank among the processes of an MPI job.
pub struct MpiPort {
    desk: Desk,
    id: u32,
    /// How many of those who are gone this port has told of.
    told: usize,
    /// What the others are told when this port is dropped.
    pub(crate) farewell: Option<Vec<u8>>,
}

impl MpiPort {
    /// Sends a frame of any length, as somebody might who does not know the protocol: for tests of the receiver.
    pub fn send_unchecked(&mut self, to: RankId, frame: Vec<u8>) -> Result<(), SendError> {
        self.desk.lock().lines.send_any(to, self.id, frame)
    }
}

impl Port for MpiPort {
    fn try_send(&mut self, to: RankId, frame: Vec<u8>) -> Result<(), SendError> {
        self.desk.lock().lines.try_send(to, self.id, frame)
    }

    fn poll(&mut self) -> Option<(RankId, Vec<u8>)> {
        self.desk.lock().poll(self.id)
    }

    fn park(&mut self, at_most: Duration) {
        let begun = Instant::now();
        loop {
            {
                let mut switch = self.desk.lock();
                if let Some(frame) = switch.poll(self.id) {
                    return switch.inbox(self.id).push_front(frame);
                }
            }
            let waited = begun.elapsed();
            if waited >= at_most {
                return;
            }
            if waited < AWAKE {
                std::hint::spin_loop();
            } else {
                std::thread::sleep(NAP.min(at_most - waited));
            }
        }
    }

    fn left(&mut self) -> Option<RankId> {
        let gone = self.desk.lock().lines.gone.get(self.told).copied()?;
        self.told += 1;
        Some(gone)
    }
}

impl Drop for MpiPort {
    fn drop(&mut self) {
        if let Some(frame) = self.farewell.take() {
            let (me, size) = {
                let switch = self.desk.lock();
                (switch.lines.me, switch.lines.size)
            };
            for to in (0..size).map(RankId).filter(|&to| to != me) {
                // One that does not listen is gone, and needs no farewell.
                let _ = self.desk.say(to, frame.clone());
            }
        }
        self.desk.lock().inboxes.retain(|(id, _)| *id != self.id);
    }
}
