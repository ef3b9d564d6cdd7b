//! What travels between ranks: records of a few bytes, many of them in one frame.
//!
//! ```text
//! frame   magic "SoR" and version (4 bytes), epoch (4), length of what follows (4), CRC-32 of it (4), records
//! record  length (2 bytes), kind (1), body
//! ```
//!
//! All numbers are little-endian. Whatever does not fit this to the last byte is refused whole; nothing in here trusts
//! its input. The page docs/wire.md has the records of every algorithm and changes with them.

use crate::RankId;
use crate::ground::{from_code, to_code};
use sortie_core::parts::{PathError, Played};

/// The version of frames and records.
pub(crate) const VERSION: u8 = 1;
const MAGIC: [u8; 3] = *b"SoR";
/// Bytes before the records.
pub(crate) const HEADER: usize = 16;
/// A frame that has come to this is sent.
const FRAME_SENT: usize = 16 << 10;
/// Records that share a frame.
const RECORDS_SENT: u32 = 64;
/// No frame is longer: what is written last may pass 16 KiB by one record.
pub const FRAME_MAX: usize = HEADER + FRAME_SENT + RECORD_MAX + 2;
/// The longest record.
pub(crate) const RECORD_MAX: usize = u16::MAX as usize;
/// Frames kept for their buffers.
const POOL: usize = 64;

/// Why a frame or a record is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// Not one of our frames.
    #[error("not a frame of this protocol")]
    Foreign,
    /// Another version.
    #[error("protocol version {0}: expected {VERSION}")]
    Version(u8),
    /// Longer than anything we send.
    #[error("a frame of {0} bytes: expected at most {FRAME_MAX}")]
    TooLong(u64),
    /// Shorter or longer than it says, or its checksum is wrong.
    #[error("a damaged frame")]
    Damaged,
    /// A record that ends early or late, or of no known kind.
    #[error("a record of kind {0} that makes no sense: {1}")]
    Record(u8, &'static str),
}

impl From<PathError> for Refused {
    fn from(_: PathError) -> Refused {
        Refused::Record(0, "a path with a move that is not legal")
    }
}

/// What came of a playout, as a byte: the value, and the outcome above it.
pub(crate) fn played_byte(played: Played) -> u8 {
    played.value as u8 | to_code(played.outcome) << 5
}

/// From the wire; `None` if it is nothing that could be.
pub(crate) fn played_of(byte: u8) -> Option<Played> {
    let value = u64::from(byte & 31);
    let outcome = from_code(byte >> 5).ok()?;
    (value <= 16).then_some(Played { value, outcome })
}

/// The epoch of a frame, and its records.
pub(crate) fn open_frame(frame: &[u8]) -> Result<(u32, Records<'_>), Refused> {
    if frame.len() > FRAME_MAX {
        return Err(Refused::TooLong(frame.len() as u64));
    }
    let Some((header, body)) = frame.split_at_checked(HEADER) else { return Err(Refused::Foreign) };
    if header[..3] != MAGIC {
        return Err(Refused::Foreign);
    }
    if header[3] != VERSION {
        return Err(Refused::Version(header[3]));
    }
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    if word(8) as usize > FRAME_MAX {
        return Err(Refused::TooLong(u64::from(word(8))));
    }
    if word(8) as usize != body.len() || word(12) != crc32fast::hash(body) {
        return Err(Refused::Damaged);
    }
    Ok((word(4), Records(body)))
}

/// The records of a frame, one after the other.
pub(crate) struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Result<Reader<'a>, Refused>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let take = |bytes: &'a [u8]| {
            let (length, rest) = bytes.split_first_chunk::<2>()?;
            rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
        };
        match take(self.0) {
            Some((record, rest)) if !record.is_empty() => {
                self.0 = rest;
                Some(Ok(Reader { kind: record[0], bytes: &record[1..] }))
            }
            _ => {
                self.0 = &[];
                Some(Err(Refused::Damaged))
            }
        }
    }
}

/// Reads a record from front to back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// What kind of record it is.
    pub kind: u8,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        let (first, rest) =
            self.bytes.split_first_chunk::<N>().ok_or(Refused::Record(self.kind, "it ends early"))?;
        self.bytes = rest;
        Ok(*first)
    }

    pub fn u8(&mut self) -> Result<u8, Refused> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16, Refused> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Refused> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Refused> {
        self.array().map(u64::from_le_bytes)
    }

    /// So many bytes.
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], Refused> {
        let (first, rest) =
            self.bytes.split_at_checked(length).ok_or(Refused::Record(self.kind, "it ends early"))?;
        self.bytes = rest;
        Ok(first)
    }

    /// A text with its length in front.
    pub fn text(&mut self) -> Result<&'a str, Refused> {
        let length = usize::from(self.u16()?);
        std::str::from_utf8(self.bytes(length)?).map_err(|_| self.wrong("not text"))
    }

    /// A path: its length in a byte, then the numbers of its moves. It replaces what is in `path`.
    pub fn path(&mut self, path: &mut Vec<u16>) -> Result<(), Refused> {
        let length = usize::from(self.u8()?);
        let bytes = self.bytes(2 * length)?;
        path.clear();
        path.extend(bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])));
        Ok(())
    }

    /// Everything has been read; more is a mistake.
    pub fn end(self) -> Result<(), Refused> {
        if self.bytes.is_empty() { Ok(()) } else { Err(self.wrong("it ends late")) }
    }

    /// The bytes that are left, for records that consist of many alike.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// All that has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// The error that says what is wrong with this record.
    pub fn wrong(&self, what: &'static str) -> Refused {
        Refused::Record(self.kind, what)
    }
}

/// What a rank has done, for those who keep its time and its accounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Nodes that a simulation went down through or came back up through.
    pub steps: u64,
    /// Moves replayed to get to a position that came as a path.
    pub replayed: u64,
    /// Nodes added.
    pub added: u64,
    /// Records written, and their bytes with those of the frames.
    pub records_out: u64,
    pub frames_out: u64,
    pub bytes_out: u64,
    /// Records read.
    pub records_in: u64,
    /// Statistics of moves taken over from others.
    pub merged: u64,
}

impl Work {
    /// What was done since it was `before`.
    pub fn since(&self, before: &Work) -> Work {
        Work {
            steps: self.steps - before.steps,
            replayed: self.replayed - before.replayed,
            added: self.added - before.added,
            records_out: self.records_out - before.records_out,
            frames_out: self.frames_out - before.frames_out,
            bytes_out: self.bytes_out - before.bytes_out,
            records_in: self.records_in - before.records_in,
            merged: self.merged - before.merged,
        }
    }

    /// Adds what else was done.
    pub fn add(&mut self, more: &Work) {
        self.steps += more.steps;
        self.replayed += more.replayed;
        self.added += more.added;
        self.records_out += more.records_out;
        self.frames_out += more.frames_out;
        self.bytes_out += more.bytes_out;
        self.records_in += more.records_in;
        self.merged += more.merged;
    }
}

/// Where a rank leaves what it has to say: one open frame for each destination, sent when it is large enough or when
/// there is nothing else to do. Batching is here, above every engine: an unbatched message costs several microseconds
/// on TCP, one of sixty-four a fraction of one.
pub(crate) struct Outbox {
    epoch: u32,
    open: Vec<Open>,
    /// Destinations whose frame is not empty.
    begun: Vec<u32>,
    /// Frames on their way out, oldest first.
    ready: std::collections::VecDeque<(RankId, Vec<u8>)>,
    pool: Vec<Vec<u8>>,
    /// What was done so far.
    pub work: Work,
}

#[derive(Default)]
struct Open {
    bytes: Vec<u8>,
    records: u32,
}

impl Outbox {
    /// For ranks `0..size`.
    pub fn new(size: u32) -> Outbox {
        Outbox {
            epoch: 0,
            open: (0..size).map(|_| Open::default()).collect(),
            begun: Vec::new(),
            ready: Default::default(),
            pool: Vec::new(),
            work: Work::default(),
        }
    }

    /// A new search begins: what was not sent of the last one is not sent at all.
    pub fn begin(&mut self, epoch: u32) {
        self.flush();
        self.epoch = epoch;
    }

    /// Begins a record; it is complete when the writer is dropped.
    pub fn record(&mut self, to: RankId, kind: u8) -> Writer<'_> {
        if self.open[to.0 as usize].records == 0 {
            let mut bytes = self.pool.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(&MAGIC);
            bytes.push(VERSION);
            bytes.extend_from_slice(&self.epoch.to_le_bytes());
            bytes.extend_from_slice(&[0; 8]);
            self.open[to.0 as usize].bytes = bytes;
            self.begun.push(to.0);
        }
        let bytes = &mut self.open[to.0 as usize].bytes;
        let start = bytes.len();
        bytes.extend_from_slice(&[0, 0, kind]);
        Writer { outbox: self, to, start }
    }

    fn close(&mut self, to: u32) {
        let open = &mut self.open[to as usize];
        open.records = 0;
        let mut frame = std::mem::take(&mut open.bytes);
        let length = (frame.len() - HEADER) as u32;
        let sum = crc32fast::hash(&frame[HEADER..]);
        frame[8..12].copy_from_slice(&length.to_le_bytes());
        frame[12..16].copy_from_slice(&sum.to_le_bytes());
        self.work.frames_out += 1;
        self.work.bytes_out += frame.len() as u64;
        self.ready.push_back((RankId(to), frame));
    }

    /// Closes all open frames.
    pub fn flush(&mut self) {
        for to in std::mem::take(&mut self.begun) {
            if self.open[to as usize].records > 0 {
                self.close(to);
            }
        }
    }

    /// The next frame to send.
    pub fn pop(&mut self) -> Option<(RankId, Vec<u8>)> {
        self.ready.pop_front()
    }

    /// A frame that could not be sent goes out first the next time.
    pub fn put_back(&mut self, to: RankId, frame: Vec<u8>) {
        self.ready.push_front((to, frame));
    }

    /// Frames that wait to be sent.
    pub fn backlog(&self) -> usize {
        self.ready.len()
    }

    /// Gives the buffer of a frame back.
    pub fn reuse(&mut self, frame: Vec<u8>) {
        if self.pool.len() < POOL {
            self.pool.push(frame);
        }
    }
}

/// Writes a record.
pub(crate) struct Writer<'a> {
    outbox: &'a mut Outbox,
    to: RankId,
    start: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.outbox.open[self.to.0 as usize].bytes.extend_from_slice(bytes);
        self
    }

    pub fn u8(&mut self, n: u8) -> &mut Self {
        self.put(&[n])
    }

    pub fn u16(&mut self, n: u16) -> &mut Self {
        self.put(&n.to_le_bytes())
    }

    pub fn u32(&mut self, n: u32) -> &mut Self {
        self.put(&n.to_le_bytes())
    }

    pub fn u64(&mut self, n: u64) -> &mut Self {
        self.put(&n.to_le_bytes())
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.put(bytes)
    }

    /// A text with its length in front; what is over 64 KiB is cut.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let bytes = &text.as_bytes()[..text.len().min(usize::from(u16::MAX))];
        self.u16(bytes.len() as u16).put(bytes)
    }

    /// A path of at most 255 moves.
    pub fn path(&mut self, path: &[u16]) -> &mut Self {
        debug_assert!(path.len() < 256);
        self.u8(path.len() as u8);
        for id in path {
            self.put(&id.to_le_bytes());
        }
        self
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let open = &mut self.outbox.open[self.to.0 as usize];
        let length = open.bytes.len() - self.start - 2;
        assert!(length <= RECORD_MAX, "a record of {length} bytes");
        open.bytes[self.start..self.start + 2].copy_from_slice(&(length as u16).to_le_bytes());
        open.records += 1;
        self.outbox.work.records_out += 1;
        if open.records >= RECORDS_SENT || open.bytes.len() >= FRAME_SENT {
            let to = self.to.0;
            self.outbox.close(to);
            self.outbox.begun.retain(|&rank| rank != to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Rng;

    fn frames(outbox: &mut Outbox) -> Vec<(RankId, Vec<u8>)> {
        outbox.flush();
        std::iter::from_fn(|| outbox.pop()).collect()
    }

    #[test]
    fn records_come_out_as_they_went_in_and_share_frames() {
        let mut outbox = Outbox::new(3);
        outbox.begin(7);
        for i in 0..100u32 {
            outbox.record(RankId(1 + i % 2), 20).u32(i).path(&[1, 2, i as u16]).text("a b");
        }
        let sent = frames(&mut outbox);
        assert_eq!(sent.len(), 2, "fifty records share a frame");
        let mut path = Vec::new();
        for (to, frame) in sent {
            let (epoch, records) = open_frame(&frame).unwrap();
            assert_eq!(epoch, 7);
            for (n, record) in records.enumerate() {
                let mut record = record.unwrap();
                let i = record.u32().unwrap();
                record.path(&mut path).unwrap();
                assert_eq!((record.kind, i), (20, 2 * n as u32 + to.0 - 1));
                assert_eq!((path.as_slice(), record.text()), (&[1, 2, i as u16][..], Ok("a b")));
                record.end().unwrap();
            }
        }
        assert_eq!(outbox.work.records_out, 100);
    }

    #[test]
    fn garbage_old_versions_and_giants_are_refused() {
        let mut outbox = Outbox::new(1);
        outbox.record(RankId(0), 9).u64(1);
        let (_, good) = frames(&mut outbox).remove(0);
        assert!(open_frame(&good).is_ok());
        assert_eq!(open_frame(b"").err(), Some(Refused::Foreign));
        assert_eq!(open_frame(&[0xff; 40]).err(), Some(Refused::Foreign));
        let changed = |at: usize, byte: u8| {
            let mut frame = good.clone();
            frame[at] = byte;
            frame
        };
        assert_eq!(open_frame(&changed(3, 0)).err(), Some(Refused::Version(0)));
        assert_eq!(open_frame(&changed(20, 1)).err(), Some(Refused::Damaged));
        assert_eq!(open_frame(&good[..good.len() - 1]).err(), Some(Refused::Damaged));
        // It says that two GiB follow.
        assert_eq!(open_frame(&changed(11, 0x80)).err(), Some(Refused::TooLong(0x8000_0000 + 11)));
        assert!(matches!(open_frame(&vec![0; 1 << 20]).err(), Some(Refused::TooLong(_))));
        // Whatever is inside: records end, readers do not read past them.
        let mut rng = Rng::new(1, 0);
        for _ in 0..10_000 {
            let body: Vec<u8> = (0..rng.below(64)).map(|_| rng.below(9) as u8).collect();
            let mut frame = good[..8].to_vec();
            frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
            frame.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
            frame.extend_from_slice(&body);
            let (_, records) = open_frame(&frame).unwrap();
            for mut record in records.flatten() {
                let mut path = Vec::new();
                let _ = (record.path(&mut path), record.text(), record.u64(), record.u8());
            }
        }
    }
}
