//! What a message costs: tokens that hop from rank to rank as searches do, and nothing else.
//!
//! Every rank begins some tokens. A token carries a path like that of a search and hops to random ranks until it has
//! done its share; then it goes home. Records are written, batched, sent, checked and read as in a search, so CPU time
//! over hops is the price of one record from send to receive, idle polling included.

use crate::RankId;
use crate::pump::{FRAMES_AT_ONCE, Port, SendError};
use crate::threads::ports;
use crate::wire::{Outbox, Refused, open_frame};
use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};
use sortie_core::Rng;
use std::time::{Duration, Instant};

const TOKEN: u8 = 16;
const OVER: u8 = 17;
/// How long a rank waits for the last of the others.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// How much is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Hops of all tokens of a rank.
    pub hops: u64,
    /// Tokens under way at a time, of each rank.
    pub tokens: u32,
    /// Moves of the path that a token carries.
    pub path: u8,
}

/// What one rank saw of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Relayed {
    /// Records received.
    pub records: u64,
    /// Frames sent.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// CPU time of the thread.
    pub cpu_seconds: f64,
    /// Time.
    pub seconds: f64,
    /// CPU time of all ranks; the front alone knows.
    pub cpu_seconds_all: f64,
    /// Records of all ranks; the front alone knows.
    pub records_all: u64,
}

/// Takes part as one rank of at least two; all must be told the same.
pub fn relay(port: &mut dyn Port, me: RankId, size: u32, traffic: Traffic) -> Result<Relayed, String> {
    let (cpu, begun) = (ThreadTime::now(), Instant::now());
    let mut seen = Relayed::default();
    let mut rng = Rng::new(1, me.0.into());
    let mut out = Outbox::new(size);
    let mut path = vec![7; traffic.path.into()];
    let tokens = traffic.tokens.max(1);
    for token in 0..tokens {
        let hops = traffic.hops / u64::from(tokens);
        hop(&mut out, &mut rng, me, size, (me.0, token, hops.max(1) as u32), &path);
    }
    let (mut home, mut over) = (0, 0);
    let (mut told, mut quiet) = (false, Instant::now());
    while home < tokens || over + 1 < size {
        let mut busy = false;
        for _ in 0..FRAMES_AT_ONCE {
            let Some((from, frame)) = port.poll() else { break };
            busy = true;
            let mut read = || -> Result<(), Refused> {
                for record in open_frame(&frame)?.1 {
                    let mut record = record?;
                    seen.records += 1;
                    if record.kind == OVER {
                        over += 1;
                        seen.records_all += record.u64()?;
                        seen.cpu_seconds_all += record.u64()? as f64 * 1e-9;
                        continue;
                    }
                    let (origin, token, left) = (record.u32()?, record.u32()?, record.u32()?);
                    record.path(&mut path)?;
                    record.end()?;
                    if left == 0 && origin == me.0 {
                        home += 1;
                    } else {
                        hop(&mut out, &mut rng, me, size, (origin, token, left), &path);
                    }
                }
                Ok(())
            };
            read().map_err(|error| format!("from rank {}: {error}", from.0))?;
            out.reuse(frame);
        }
        if home == tokens && !told {
            told = true;
            // What this rank does after its last token came home is little.
            for to in (0..size).map(RankId).filter(|&to| to != me) {
                out.record(to, OVER).u64(seen.records).u64(cpu.elapsed().as_nanos() as u64);
            }
        }
        if !busy {
            out.flush();
        }
        busy |= send(port, &mut out)?;
        if busy {
            quiet = Instant::now();
        } else if quiet.elapsed() > SILENCE_MAX {
            return Err(format!("nothing came for {} s", SILENCE_MAX.as_secs()));
        } else {
            port.park(Duration::from_millis(1));
        }
    }
    out.flush();
    while out.backlog() > 0 {
        send(port, &mut out)?;
    }
    (seen.frames, seen.bytes) = (out.work.frames_out, out.work.bytes_out);
    (seen.cpu_seconds, seen.seconds) = (cpu.elapsed().as_secs_f64(), begun.elapsed().as_secs_f64());
    seen.records_all += seen.records;
    seen.cpu_seconds_all += seen.cpu_seconds;
    Ok(seen)
}

/// The same on so many threads of this process; what rank 0 saw.
pub fn relay_on_threads(size: u32, traffic: Traffic) -> Result<Relayed, String> {
    std::thread::scope(|scope| {
        let start = |(mut port, me)| scope.spawn(move || relay(&mut port, RankId(me), size, traffic));
        let ranks: Vec<_> = ports(size).into_iter().zip(0..).map(start).collect();
        let mut seen =
            ranks.into_iter().map(|rank| rank.join().expect("a rank does not panic")).collect::<Vec<_>>();
        seen.swap_remove(0)
    })
}

/// Sends a token on, home at the end.
fn hop(
    out: &mut Outbox,
    rng: &mut Rng,
    me: RankId,
    size: u32,
    (origin, token, left): (u32, u32, u32),
    path: &[u16],
) {
    let mut next = rng.below(size as usize - 1) as u32;
    next += u32::from(next >= me.0);
    let left = left.saturating_sub(1);
    // Its last hop takes it home; at home already it makes one more.
    let (to, left) = if left > 0 || origin == me.0 { (next, left) } else { (origin, 0) };
    out.record(RankId(to), TOKEN).u32(origin).u32(token).u32(left).path(path);
}

/// Sends what there is room for; whether anything was sent.
fn send(port: &mut dyn Port, out: &mut Outbox) -> Result<bool, String> {
    let mut sent = false;
    while let Some((to, frame)) = out.pop() {
        match port.try_send(to, frame) {
            Ok(()) => sent = true,
            Err(SendError::Full(frame)) => {
                out.put_back(to, frame);
                break;
            }
            Err(other) => return Err(format!("to rank {}: {other:?}", to.0)),
        }
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_comes_home_and_every_record_is_counted() {
        for size in [2, 3] {
            let traffic = Traffic { hops: 2000, tokens: 20, path: 10 };
            let seen = relay_on_threads(size, traffic).unwrap();
            // All hops, a few more to get home, and what is said at the end.
            let hops = u64::from(size) * traffic.hops;
            let expected = hops..hops + u64::from(size) * 3 * u64::from(traffic.tokens + size);
            assert!(expected.contains(&seen.records_all), "{seen:?}");
            assert!(seen.bytes > seen.frames && seen.cpu_seconds_all >= seen.cpu_seconds, "{seen:?}");
        }
    }
}
