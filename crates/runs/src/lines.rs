//! `events.jsonl` and other files of one JSON object a line, read from any place on, whole lines only, with bounded
//! memory however long the file is. What is not JSON is skipped and counted, as `docs/formats.md` says.

use crate::limits::LINE_BYTES_MAX;
use crate::text::plain_file;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How far reading came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Where the next line begins.
    pub offset: u64,
    /// The size of the file by then.
    pub size: u64,
}

impl Reached {
    /// Bytes after the last whole line.
    pub fn rest(&self) -> u64 {
        self.size.saturating_sub(self.offset)
    }
}

/// Hands whole lines from `offset` on to `take`, about `bytes_max` bytes of them. A file that is shorter than `offset`
/// has been replaced: an error of the kind `InvalidInput`.
pub fn read_lines(
    path: &Path,
    offset: u64,
    bytes_max: u64,
    take: &mut dyn FnMut(u64, &[u8]),
) -> io::Result<Reached> {
    plain_file(path)?;
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    if offset > size {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut reader = BufReader::with_capacity(1 << 16, file.take(size - offset));
    let (mut at, mut line) = (offset, Vec::new());
    while at - offset < bytes_max {
        line.clear();
        let mut n = (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? as u64;
        if line.last() != Some(&b'\n') {
            if n < LINE_BYTES_MAX {
                break;
            }
            line.clear();
            n += skip_line(&mut reader)?;
        }
        at += n;
        take(at, line.trim_ascii());
    }
    Ok(Reached { offset: at, size })
}

/// Passes over the rest of a line without keeping it.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let (n, end) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(n);
        skipped += n as u64;
        if end {
            return Ok(skipped);
        }
    }
}

/// The last lines that end at or before `before`, oldest first, each with the place where it begins; about `bytes_max`
/// bytes of them, and at most `lines_max`.
pub fn read_back(
    path: &Path,
    before: u64,
    bytes_max: u64,
    lines_max: usize,
) -> io::Result<Vec<(u64, String)>> {
    plain_file(path)?;
    let mut file = File::open(path)?;
    let end = file.metadata()?.len().min(before);
    let start = end.saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(end - start).read_to_end(&mut bytes)?;
    let mut lines = Vec::new();
    let mut at = start;
    for (i, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let begin = at;
        at += line.len() as u64;
        // The first may have begun before, the last may still be under way.
        if (i == 0 && start > 0) || line.last() != Some(&b'\n') {
            continue;
        }
        let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        if !text.is_empty() {
            lines.push((begin, text));
        }
    }
    lines.drain(..lines.len().saturating_sub(lines_max));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Glance;

    #[test]
    fn reading_goes_on_where_it_stopped() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("events.jsonl");
        std::fs::write(&path, "{\"event\":\"a\"}\n\nnot json\n{\"event\":\"b\"}\n{\"event\":\"c").unwrap();
        let read = |offset, max| {
            let mut seen = Vec::new();
            let reached = read_lines(&path, offset, max, &mut |_, line| {
                seen.push(Glance::parse(line).map(|event| event.event.into_owned()));
            });
            (seen, reached.unwrap())
        };
        let (seen, reached) = read(0, u64::MAX);
        assert_eq!(seen, [Some("a".into()), None, None, Some("b".into())]);
        assert_eq!(reached.rest(), 11);
        let (first, there) = read(0, 1);
        assert_eq!((first.len(), there.offset), (1, 14));
        assert_eq!(read(there.offset, u64::MAX).1.offset, reached.offset);
        std::fs::write(&path, "").unwrap();
        assert!(read_lines(&path, 5, 100, &mut |_, _| {}).is_err(), "the file was replaced");
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("events.jsonl");
        let mut bytes = vec![b'x'; LINE_BYTES_MAX as usize + 70_000];
        bytes.extend_from_slice(b"\n{\"event\":\"a\"}\n");
        std::fs::write(&path, &bytes).unwrap();
        let mut lengths = Vec::new();
        let reached = read_lines(&path, 0, u64::MAX, &mut |_, line| lengths.push(line.len())).unwrap();
        assert_eq!((lengths, reached.rest()), (vec![0, 13], 0));
    }

    #[test]
    fn the_last_lines_are_read_backwards() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("events.jsonl");
        std::fs::write(&path, "one\ntwo\nthree\nfour").unwrap();
        let back = |before, bytes| {
            let lines = read_back(&path, before, bytes, 2).unwrap();
            lines.into_iter().map(|(at, line)| format!("{at}{line}")).collect::<Vec<_>>()
        };
        assert_eq!(back(u64::MAX, 100), ["4two", "8three"]);
        assert_eq!(back(8, 100), ["0one", "4two"]);
        assert_eq!(back(u64::MAX, 12), ["8three"]);
    }
}
