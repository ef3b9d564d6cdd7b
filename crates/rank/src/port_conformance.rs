//! What every `Port` must satisfy, whatever carries its frames: nothing lost, nothing twice, the frames of each pair in
//! order, all lengths up to the limit and none beyond it, and a sender who is told to wait when a receiver does not
//! take anything, and loses nothing by that.
//!
//! All ranks call `conform` at the same time, each with its own port. It takes under a second, more where a receiver
//! has to sit still for longer before anybody is told to wait.

use crate::pump::{Port, SendError};
use crate::wire::FRAME_MAX;
use crate::{Nanos, RankId};
use sortie_core::{Rng, mix};
use std::time::{Duration, Instant};

/// Frames of the first part from each rank to each other.
const EXCHANGED: u32 = 400;
/// Frames of a round under pressure from each rank to rank 0: more than any queue has room for.
const PRESSED: u32 = 1500;
/// Bytes of each: more than what MPI sends before the receiver asks for it.
const PRESSED_BYTES: usize = 17 << 10;
/// The longest that rank 0 sits still.
const STILL_MAX: Duration = Duration::from_secs(3);
/// Nothing came for so long: something was lost.
const SILENCE_MAX: Duration = Duration::from_secs(30);

const DATA: u8 = 0;
const ROUND: u8 = 1;
const PRESSURE: u8 = 2;
const END: u8 = 3;
const OVER: u8 = 4;
/// Kind, sequence number, an extra word.
const HEAD: usize = 9;

/// What was seen of a port that conforms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conformed {
    /// Frames that this rank received.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How often this rank was told to wait.
    pub full: u64,
    /// How long rank 0 sat still before somebody was; only rank 0 knows.
    pub still: Nanos,
}

/// Checks a port; `Err` says what is wrong with it.
pub fn conform(port: &mut dyn Port, me: RankId, size: u32) -> Result<Conformed, String> {
    let mut check = Check {
        port,
        me,
        size,
        sent: vec![0; size as usize],
        came: vec![0; size as usize],
        heard: Vec::new(),
        seen: Conformed::default(),
    };
    check.too_long()?;
    check.exchange()?;
    if me == RankId(0) {
        check.sit_still()?
    } else {
        check.press()?
    }
    match check.port.left() {
        Some(gone) => Err(format!("rank {} is said to be gone", gone.0)),
        None => Ok(check.seen),
    }
}

struct Check<'a> {
    port: &'a mut dyn Port,
    me: RankId,
    size: u32,
    /// By rank: frames sent to it and received from it.
    sent: Vec<u32>,
    came: Vec<u32>,
    /// Frames that are not mere data: kind, sender, word.
    heard: Vec<(u8, RankId, u32)>,
    seen: Conformed,
}

impl Check<'_> {
    fn others(&self) -> impl Iterator<Item = RankId> + use<> {
        let me = self.me;
        (0..self.size).map(RankId).filter(move |&rank| rank != me)
    }

    fn too_long(&mut self) -> Result<(), String> {
        let Some(to) = self.others().next() else { return Ok(()) };
        match self.port.try_send(to, vec![0; FRAME_MAX + 1]) {
            Err(SendError::TooLong) => Ok(()),
            other => Err(format!("a frame of {} bytes: {other:?}", FRAME_MAX + 1)),
        }
    }

    /// Everybody sends to everybody and receives from everybody.
    fn exchange(&mut self) -> Result<(), String> {
        const LENGTHS: [usize; 8] = [HEAD, 64, 255, 4096, 4097, 16 << 10, 64 << 10, FRAME_MAX];
        let mut rng = Rng::new(7, self.me.0.into());
        for _ in 0..EXCHANGED {
            for to in self.others() {
                // Long ones are rare, as they are in a search.
                let short = rng.below(8) != 0;
                let longest = LENGTHS[rng.below(if short { 4 } else { LENGTHS.len() })];
                let length = if rng.below(2) == 0 { longest } else { HEAD + rng.below(longest - HEAD + 1) };
                self.send(to, DATA, 0, length)?;
            }
        }
        let mut quiet = Instant::now();
        while self.others().any(|from| self.came[from.0 as usize] < EXCHANGED) {
            self.hear(&mut quiet)?;
        }
        Ok(())
    }

    /// Rank 0: takes nothing for a while, then everything, until somebody was told to wait.
    fn sit_still(&mut self) -> Result<(), String> {
        let mut still = Duration::from_millis(50);
        let mut pressed = self.size == 1;
        while !pressed {
            if still > STILL_MAX {
                return Err("nobody was ever told to wait".into());
            }
            self.others().try_for_each(|to| self.send(to, ROUND, 0, HEAD))?;
            std::thread::sleep(still);
            let mut quiet = Instant::now();
            while self.heard.iter().filter(|(kind, ..)| *kind == END).count() + 1 < self.size as usize {
                self.hear(&mut quiet)?;
            }
            pressed = self.heard.drain(..).any(|(kind, _, full)| kind == END && full > 0);
            self.seen.still = still.as_nanos() as Nanos;
            still *= 2;
        }
        self.others().try_for_each(|to| self.send(to, OVER, 0, HEAD))?;
        // They say goodbye, so that the last frame is known to have left before a port is closed.
        let mut quiet = Instant::now();
        while self.heard.iter().filter(|(kind, ..)| *kind == OVER).count() + 1 < self.size as usize {
            self.hear(&mut quiet)?;
        }
        Ok(())
    }

    /// The others: send more than there is room for, as often as they are asked to.
    fn press(&mut self) -> Result<(), String> {
        let mut quiet = Instant::now();
        loop {
            self.hear(&mut quiet)?;
            for (kind, from, _) in std::mem::take(&mut self.heard) {
                let before = self.seen.full;
                match kind {
                    ROUND => {
                        for _ in 0..PRESSED {
                            self.send(from, PRESSURE, 0, PRESSED_BYTES)?;
                        }
                        self.send(from, END, (self.seen.full - before).min(1) as u32, HEAD)?;
                    }
                    OVER => return self.send(from, OVER, 0, HEAD),
                    _ => return Err(format!("a frame of kind {kind} from rank {}", from.0)),
                }
            }
        }
    }

    /// Sends one, and takes what comes while there is no room.
    fn send(&mut self, to: RankId, kind: u8, word: u32, length: usize) -> Result<(), String> {
        let number = self.sent[to.0 as usize];
        let mut frame = vec![kind];
        frame.extend_from_slice(&number.to_le_bytes());
        frame.extend_from_slice(&word.to_le_bytes());
        frame.resize(length, pattern(self.me, to, number));
        let mut quiet = Instant::now();
        loop {
            match self.port.try_send(to, frame) {
                Ok(()) => break,
                Err(SendError::Full(back)) => {
                    self.seen.full += 1;
                    frame = back;
                    self.hear(&mut quiet)?;
                }
                Err(other) => return Err(format!("to rank {}: {other:?}", to.0)),
            }
        }
        self.sent[to.0 as usize] += 1;
        Ok(())
    }

    /// Takes what has come.
    fn hear(&mut self, quiet: &mut Instant) -> Result<(), String> {
        let mut any = false;
        while let Some((from, frame)) = self.port.poll() {
            any = true;
            let expected = *self.came.get(from.0 as usize).ok_or(format!("from rank {}", from.0))?;
            let word = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().expect("four bytes"));
            if frame.len() < HEAD || word(1) != expected {
                let what = if frame.len() < HEAD { "short".into() } else { word(1).to_string() };
                return Err(format!("from rank {}: frame {what} where {expected} was due", from.0));
            }
            let byte = pattern(from, self.me, expected);
            if frame[0] == PRESSURE && frame.len() != PRESSED_BYTES
                || frame[HEAD..].iter().any(|b| *b != byte)
            {
                return Err(format!("from rank {}: frame {expected} was changed on its way", from.0));
            }
            self.came[from.0 as usize] += 1;
            self.seen.frames += 1;
            self.seen.bytes += frame.len() as u64;
            if ![DATA, PRESSURE].contains(&frame[0]) {
                self.heard.push((frame[0], from, word(5)));
            }
        }
        if any {
            *quiet = Instant::now();
        } else if quiet.elapsed() > SILENCE_MAX {
            return Err(format!("nothing came for {} s: a frame was lost", SILENCE_MAX.as_secs()));
        } else {
            self.port.park(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// The byte that fills a frame.
fn pattern(from: RankId, to: RankId, number: u32) -> u8 {
    mix(u64::from(from.0) << 48 ^ u64::from(to.0) << 32 ^ u64::from(number)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::ports;
    use std::collections::VecDeque;

    fn run(ports: Vec<Box<dyn Port>>) -> Vec<Result<Conformed, String>> {
        let size = ports.len() as u32;
        std::thread::scope(|scope| {
            let ranks: Vec<_> = ports
                .into_iter()
                .zip(0..)
                .map(|(mut port, me)| scope.spawn(move || conform(&mut *port, RankId(me), size)))
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn ports_among_threads_conform() {
        for size in [1, 2, 4] {
            let seen = run(ports(size).into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect());
            let full: u64 = seen.iter().map(|seen| seen.as_ref().unwrap().full).sum();
            assert_eq!(full > 0, size > 1, "{seen:?}");
        }
    }

    /// A port that loses, doubles or changes a frame.
    struct Bad<P>(P, char, u32, VecDeque<(RankId, Vec<u8>)>);

    impl<P: Port> Port for Bad<P> {
        fn try_send(&mut self, to: RankId, frame: Vec<u8>) -> Result<(), SendError> {
            self.0.try_send(to, frame)
        }

        fn poll(&mut self) -> Option<(RankId, Vec<u8>)> {
            if let Some(late) = self.3.pop_front() {
                return Some(late);
            }
            let frame = self.0.poll()?;
            self.2 += 1;
            match self.1 {
                'l' if self.2 == 50 => self.0.poll(),
                'd' if self.2 == 50 => {
                    self.3.push_back(frame.clone());
                    Some(frame)
                }
                'c' if self.2 == 50 => {
                    let (from, mut bytes) = frame;
                    bytes.push(bytes.last().map_or(0, |byte| byte ^ 1));
                    Some((from, bytes))
                }
                _ => Some(frame),
            }
        }

        fn park(&mut self, at_most: Duration) {
            self.0.park(at_most);
        }

        fn left(&mut self) -> Option<RankId> {
            None
        }
    }

    #[test]
    fn ports_that_lose_double_or_change_frames_do_not() {
        for (fault, expected) in [('l', "was due"), ('d', "was due"), ('c', "changed")] {
            let mut two = ports(2).into_iter();
            let (a, b) = (two.next().unwrap(), two.next().unwrap());
            // Nobody waits for this one: it may take long to find that its partner has given up.
            std::thread::spawn(move || conform(&mut { b }, RankId(1), 2));
            let seen = conform(&mut Bad(a, fault, 0, VecDeque::new()), RankId(0), 2);
            let error = seen.unwrap_err();
            assert!(error.contains(expected), "{fault}: {error}");
        }
    }
}
