//! A gang on the threads of this process: a bounded queue for every rank.

use crate::RankId;
use crate::member::Member;
use crate::pump::{Hands, Port, SendError, pump};
use crate::wire::{FRAME_MAX, Outbox};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Frames that a rank has waiting.
const QUEUE: usize = 1024;

/// A port of a rank among threads.
pub(crate) struct ThreadPort {
    me: RankId,
    to: Vec<SyncSender<(RankId, Vec<u8>)>>,
    from: Receiver<(RankId, Vec<u8>)>,
    /// A frame that came while we were parked.
    came: Option<(RankId, Vec<u8>)>,
}

/// The ports of so many ranks.
pub(crate) fn ports(size: u32) -> Vec<ThreadPort> {
    let (to, from): (Vec<_>, Vec<_>) = (0..size).map(|_| sync_channel(QUEUE)).unzip();
    let port = |(i, from)| ThreadPort { me: RankId(i as u32), to: to.clone(), from, came: None };
    from.into_iter().enumerate().map(port).collect()
}

impl Port for ThreadPort {
    fn try_send(&mut self, to: RankId, frame: Vec<u8>) -> Result<(), SendError> {
        if frame.len() > FRAME_MAX {
            return Err(SendError::TooLong);
        }
        match self.to[to.0 as usize].try_send((self.me, frame)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full((_, frame))) => Err(SendError::Full(frame)),
            Err(TrySendError::Disconnected(_)) => Err(SendError::Gone),
        }
    }

    fn poll(&mut self) -> Option<(RankId, Vec<u8>)> {
        self.came.take().or_else(|| self.from.try_recv().ok())
    }

    fn park(&mut self, at_most: Duration) {
        if self.came.is_none() {
            self.came = self.from.recv_timeout(at_most).ok();
        }
    }

    fn left(&mut self) -> Option<RankId> {
        None
    }
}

/// All ranks but the front, each on its thread. They end when this is dropped.
pub(crate) struct Crew {
    quit: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    /// `members[i]` is rank i + 1.
    pub fn start(members: Vec<(Member, Hands)>, ports: Vec<ThreadPort>) -> Crew {
        let quit = Arc::new(AtomicBool::new(false));
        let size = members.len() as u32 + 1;
        let start = |((mut member, mut hands), mut port): ((Member, Hands), ThreadPort)| {
            let quit = quit.clone();
            std::thread::spawn(move || {
                let mut out = Outbox::new(size);
                pump(&mut member, &mut port, &mut out, &mut hands, Instant::now(), &mut |_, _, _| {
                    quit.load(Relaxed)
                });
            })
        };
        let threads = members.into_iter().zip(ports).map(start).collect();
        Crew { quit, threads }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.quit.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
