//! Runs a member in real time: on a port to the others, alone or with hands that play out for it.

use crate::member::{Member, Root, Task};
use crate::wire::Outbox;
use crate::{Nanos, Played, RankId, Walk};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The way to the other ranks. Frames of one sender come in the order in which they were sent, none twice; one that
/// cannot be delivered is a rank that has left.
pub trait Port: Send {
    /// Sends a frame or gives it back; never blocks.
    fn try_send(&mut self, to: RankId, frame: Vec<u8>) -> Result<(), SendError>;
    /// A frame that has come.
    fn poll(&mut self) -> Option<(RankId, Vec<u8>)>;
    /// Waits until a frame comes, but not for long.
    fn park(&mut self, at_most: Duration);
    /// A rank that is gone, each once.
    fn left(&mut self) -> Option<RankId>;
}

/// Why a frame was not sent.
#[derive(Debug)]
pub enum SendError {
    /// There is no room now: the frame, to try again.
    Full(Vec<u8>),
    /// The rank is gone.
    Gone,
    /// It is longer than `FRAME_MAX`.
    TooLong,
}

/// Frames that wait to be sent before nothing new is begun.
pub(crate) const BACKLOG_MAX: usize = 64;
/// How long a record may wait for others to share its frame while there is work to do.
pub(crate) const LINGER: Nanos = 20_000;
/// Frames taken in before anything else is done.
pub(crate) const FRAMES_AT_ONCE: usize = 32;
/// Simulations that end without a playout before the others are heard.
const TRIES_AT_ONCE: usize = 32;
/// How long a rank that searches looks for something to do before it sleeps.
const SPIN: Nanos = 100_000;
const PARK_MAX: Duration = Duration::from_millis(20);
/// Playouts that a hand has waiting.
const AT_HAND: usize = 2;

/// Runs a member until `over` says so, which is asked after every round.
pub(crate) fn pump(
    member: &mut Member,
    port: &mut dyn Port,
    out: &mut Outbox,
    hands: &mut Hands,
    begun: Instant,
    over: &mut dyn FnMut(&mut Member, Nanos, &mut Outbox) -> bool,
) {
    let mut flushed = 0;
    // When there was last something to do.
    let mut idle = 0;
    loop {
        let now = begun.elapsed().as_nanos() as Nanos;
        let mut busy = false;
        for _ in 0..FRAMES_AT_ONCE {
            let Some((from, frame)) = port.poll() else { break };
            member.frame(from, &frame, now, out);
            out.reuse(frame);
            busy = true;
        }
        while let Some(gone) = port.left() {
            member.left(gone, now, out);
        }
        hands.follow(member);
        while let Some((task, value)) = hands.take() {
            member.played(task, value, now, out);
            busy = true;
        }
        if out.backlog() < BACKLOG_MAX {
            if hands.is_empty() {
                let next = member.next(now, out);
                busy |= next != Err(false);
                if let Ok(task) = next {
                    let value = member.play(task);
                    member.played(task, value, now, out);
                }
            } else {
                let mut tries = 0;
                while hands.free() && tries < TRIES_AT_ONCE {
                    let next = member.next(now, out);
                    busy |= next != Err(false);
                    match next {
                        Ok(task) => hands.give(task, member.path(task)),
                        Err(true) => tries += 1,
                        Err(false) => break,
                    }
                }
            }
        }
        let mut wake = now;
        if !busy || now - flushed >= LINGER {
            wake = member.tick(now, out);
            out.flush();
            flushed = now;
        }
        send(member, port, out, now);
        if over(member, now, out) {
            out.flush();
            send(member, port, out, now);
            return;
        }
        idle = if busy { now } else { idle };
        if !busy && member.searching() && now - idle < SPIN {
            // What it waits for is microseconds away, and to be woken takes longer than that.
            std::thread::yield_now();
        } else if !busy && out.backlog() == 0 {
            let until = Duration::from_nanos(wake.saturating_sub(now)).min(PARK_MAX);
            // Hands do not wake anybody.
            port.park(if hands.busy() { until.min(Duration::from_micros(20)) } else { until });
        }
    }
}

/// Sends what is ready, as far as there is room.
fn send(member: &mut Member, port: &mut dyn Port, out: &mut Outbox, now: Nanos) {
    let mut full = Vec::new();
    while let Some((to, frame)) = out.pop() {
        // Frames for one destination stay in order; a full one does not hold up the others.
        if full.iter().any(|(rank, _)| *rank == to) {
            full.push((to, frame));
            continue;
        }
        match port.try_send(to, frame) {
            Ok(()) => {}
            Err(SendError::Full(frame)) => full.push((to, frame)),
            Err(SendError::Gone) => member.left(to, now, out),
            Err(SendError::TooLong) => unreachable!("the outbox closes a frame before it is too long"),
        }
    }
    for (to, frame) in full.into_iter().rev() {
        out.put_back(to, frame);
    }
}

/// Threads that play out for a rank.
#[derive(Default)]
pub(crate) struct Hands {
    hands: Vec<Hand>,
    results: Option<Receiver<(usize, Task, Played)>>,
    epoch: u32,
    out: usize,
}

struct Hand {
    tasks: SyncSender<Errand>,
    waiting: usize,
    thread: Option<JoinHandle<()>>,
}

enum Errand {
    Root(Arc<Root>),
    Play(Task, Vec<u16>),
}

impl Hands {
    /// A thread for every walker; without any the rank plays out itself.
    pub fn new(walkers: Vec<Box<dyn Walk>>) -> Hands {
        if walkers.is_empty() {
            return Hands::default();
        }
        let (done, results) = sync_channel(walkers.len() * (AT_HAND + 1));
        let start = |(number, mut walk): (usize, Box<dyn Walk>)| {
            let (tasks, errands) = sync_channel::<Errand>(AT_HAND + 1);
            let done = done.clone();
            let work = move || {
                while let Ok(errand) = errands.recv() {
                    match errand {
                        // The rank has set the same position without complaint.
                        Errand::Root(root) => drop(walk.set(root.0.as_deref(), &root.1)),
                        Errand::Play(task, path) => {
                            // A draw, should the path be none: it was legal where it came from.
                            let draw = Played { value: 8, outcome: None };
                            let value = walk.follow(&path).map_or(draw, |_| walk.play_out());
                            if done.send((number, task, value)).is_err() {
                                return;
                            }
                        }
                    }
                }
            };
            Hand { tasks, waiting: 0, thread: Some(std::thread::spawn(work)) }
        };
        let hands = walkers.into_iter().enumerate().map(start).collect();
        Hands { hands, results: Some(results), epoch: 0, out: 0 }
    }

    fn is_empty(&self) -> bool {
        self.hands.is_empty()
    }

    fn busy(&self) -> bool {
        self.out > 0
    }

    fn free(&self) -> bool {
        self.hands.iter().any(|hand| hand.waiting < AT_HAND)
    }

    /// Tells everybody when there is a new position.
    fn follow(&mut self, member: &Member) {
        if self.hands.is_empty() {
            return;
        }
        let (epoch, root) = member.position();
        if epoch != self.epoch {
            self.epoch = epoch;
            for hand in &self.hands {
                // A hand that is gone has panicked; its last task is lost and the search says so.
                let _ = hand.tasks.send(Errand::Root(root.clone()));
            }
        }
    }

    fn give(&mut self, task: Task, path: &[u16]) {
        let hand = self.hands.iter_mut().min_by_key(|hand| hand.waiting).expect("there are hands");
        hand.waiting += 1;
        self.out += 1;
        let _ = hand.tasks.send(Errand::Play(task, path.to_vec()));
    }

    fn take(&mut self) -> Option<(Task, Played)> {
        match self.results.as_ref()?.try_recv() {
            Ok((number, task, value)) => {
                self.hands[number].waiting -= 1;
                self.out -= 1;
                Some((task, value))
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        // Those who wait to hand in a result are let go first.
        self.results = None;
        for mut hand in self.hands.drain(..) {
            drop(hand.tasks);
            if let Some(thread) = hand.thread.take() {
                let _ = thread.join();
            }
        }
    }
}
