//! Files as text, and numbers as the folder writes them. Every size is bounded and every error is one line.

use crate::limits::TEXT_BYTES_MAX;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a text file. The error is one line without the path.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String, String> {
    let bytes = read_bytes(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| "not a text file (not UTF-8)".into())
}

/// A text file of a folder: one of ours, of bounded size, and no device or pipe that somebody has put there.
pub fn read_whole(path: &Path) -> Result<String, String> {
    plain_file(path).map_err(|error| plain(&error))?;
    read_text(path, TEXT_BYTES_MAX)
}

/// The same for any file.
pub fn read_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| plain(&error))?;
    let meta = file.metadata().map_err(|error| plain(&error))?;
    if meta.is_dir() {
        return Err("it is a folder".into());
    }
    read_open(file, bytes_max)
}

/// The same for a file of a run folder, which may be a stranger's.
pub fn read_inside(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    plain_file(path).map_err(|error| plain(&error))?;
    read_bytes(path, bytes_max)
}

/// Refuses what is no plain file of its own: a link may lead anywhere, and a pipe may never say anything. What is not
/// there is fine.
pub fn plain_file(path: &Path) -> io::Result<()> {
    let kind = match path.symlink_metadata() {
        Ok(meta) => meta.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    match (kind.is_file(), kind.is_symlink()) {
        (true, _) => Ok(()),
        (_, true) => Err(io::Error::other("it is a link: expected a plain file in a run folder")),
        _ => Err(io::Error::other("expected a plain file in a run folder")),
    }
}

fn read_open(file: File, bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| plain(&error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("larger than {} MiB", bytes_max >> 20));
    }
    Ok(bytes)
}

/// The message of an I/O error without the number of the operating system.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// The line of a text file that an error of TOML is about.
pub fn line_of(text: &str, error: &toml::de::Error) -> usize {
    error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count())
}

/// A score: whole numbers whole, others to at most four decimals.
pub fn score(score: f64) -> String {
    if score == score.trunc() && score.abs() < 1e15 {
        return format!("{}", score as i64);
    }
    let text = format!("{score:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A score as JSON: whole numbers without a decimal point.
pub fn number(score: f64) -> Value {
    if score == score.trunc() && score.abs() < 1e15 { json!(score as i64) } else { json!(score) }
}

/// A number of seconds that is not longer than it is exact.
pub fn rounded(seconds: f64) -> Value {
    json!((seconds * 1e6).round() / 1e6)
}

/// How serde writes numbers into a folder: `#[serde(serialize_with = "...")]`.
pub(crate) mod write {
    use serde::{Serialize, Serializer};

    /// A score.
    pub(crate) fn score<S: Serializer>(score: &f64, to: S) -> Result<S::Ok, S::Error> {
        super::number(*score).serialize(to)
    }

    /// A score that may be missing: null.
    pub(crate) fn best<S: Serializer>(best: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        best.map(super::number).serialize(to)
    }

    /// Scores side by side.
    pub(crate) fn scores<S: Serializer>(scores: &Option<[f64; 3]>, to: S) -> Result<S::Ok, S::Error> {
        scores.map(|scores| scores.map(super::number)).serialize(to)
    }

    /// Seconds.
    pub(crate) fn seconds<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
        super::rounded(*seconds).serialize(to)
    }

    /// An entropy, to four decimals.
    pub(crate) fn entropy<S: Serializer>(entropy: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        entropy.map(|entropy| (entropy * 1e4).round() / 1e4).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_as_short_as_they_are_exact() {
        assert_eq!([3145.0, -1650.25, 0.1 + 0.2, -0.0].map(score), ["3145", "-1650.25", "0.3", "0"]);
        assert_eq!([number(3.0), number(0.5), rounded(0.12345678)], [json!(3), json!(0.5), json!(0.123457)]);
    }
}
