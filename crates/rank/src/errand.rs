//! What the front asks another process to do, as text, and the frames that carry it.
//!
//! ```text
//! frame   magic "SoC" and version (4 bytes), kind (1), number of the errand (4), body
//! ```
//!
//! An errand is longer than a frame when it brings the text of an instance; it then comes in pieces, in order.

use crate::{FRAME_MAX, Gang, Plan, Traffic};
use serde::{Deserialize, Serialize};
use sortie_core::{Origin, Uct};

const MAGIC: [u8; 4] = *b"SoC\x01";
const HEAD: usize = 9;
/// The text of an instance has at most 16 MiB, and escaping doubles it at worst where it is text at all.
const BYTES_MAX: usize = 64 << 20;

/// An errand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errand {
    /// Be a rank of a search.
    Serve(Box<Serve>),
    /// Pass tokens on, to measure what that costs.
    Relay(Traffic),
    /// Check the port.
    Conform,
}

/// The search of which to be a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Serve {
    /// The version of the program that asks: others may search differently.
    pub version: String,
    /// The game.
    pub origin: Origin,
    /// The ranks.
    pub gang: Gang,
    /// How they search.
    pub uct: Uct,
    /// The seed.
    pub seed: u64,
}

impl Serve {
    /// The errand of a plan.
    pub fn new(origin: Origin, plan: &Plan) -> Serve {
        let Plan { gang, uct, seed } = plan.clone();
        Serve { version: env!("CARGO_PKG_VERSION").into(), origin, gang, uct, seed }
    }

    /// The plan of an errand that came from elsewhere, for so many processes.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn plan(&self, size: u32) -> Result<Plan, String> {
        if self.version != env!("CARGO_PKG_VERSION") {
            return Err(format!(
                "the front is sortie {}, and this is {}: expected the same",
                self.version,
                env!("CARGO_PKG_VERSION")
            ));
        }
        self.gang.check().and(self.uct.check()).map_err(|error| error.to_string())?;
        if self.gang.size() != size {
            return Err(format!("a gang of {} ranks: expected {size}", self.gang.size()));
        }
        Ok(Plan { gang: self.gang.clone(), uct: self.uct.clone(), seed: self.seed })
    }
}

/// What is said beside searches.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) enum Word {
    /// A piece of an errand; it is the last.
    Open(Vec<u8>, bool),
    /// The errand is understood (an empty text), or why not.
    Opened(String),
    /// The errand is over.
    Close,
    /// Everything is over.
    Quit,
}

/// The frames that carry an errand.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) fn open_frames(id: u32, errand: &Errand) -> Result<Vec<Vec<u8>>, String> {
    let text = serde_json::to_vec(errand).map_err(|error| error.to_string())?;
    if text.len() > BYTES_MAX {
        return Err(format!("an errand of {} bytes: expected at most {BYTES_MAX}", text.len()));
    }
    let pieces: Vec<&[u8]> = text.chunks(FRAME_MAX - HEAD).collect();
    let last = pieces.len() - 1;
    let frame = |(i, piece): (usize, &&[u8])| to_frame(id, &Word::Open(piece.to_vec(), i == last));
    Ok(pieces.iter().enumerate().map(frame).collect())
}

/// A word as a frame.
pub(crate) fn to_frame(id: u32, word: &Word) -> Vec<u8> {
    let (kind, body): (u8, &[u8]) = match word {
        Word::Open(piece, false) => (1, piece),
        Word::Open(piece, true) => (2, piece),
        Word::Opened(text) => (3, &text.as_bytes()[..text.len().min(4096)]),
        Word::Close => (4, &[]),
        Word::Quit => (5, &[]),
    };
    let mut frame = MAGIC.to_vec();
    frame.push(kind);
    frame.extend_from_slice(&id.to_le_bytes());
    frame.extend_from_slice(body);
    frame
}

/// The word in a frame that came from elsewhere, and the number of its errand.
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) fn from_frame(frame: &[u8]) -> Result<(u32, Word), String> {
    let Some((head, body)) = frame.split_at_checked(HEAD).filter(|_| frame.len() <= FRAME_MAX) else {
        return Err(format!("a frame of {} bytes: expected {HEAD} to {FRAME_MAX}", frame.len()));
    };
    if head[..3] != MAGIC[..3] {
        return Err("not a frame of this protocol".into());
    }
    if head[3] != MAGIC[3] {
        return Err(format!("protocol version {}: expected {}", head[3], MAGIC[3]));
    }
    let id = u32::from_le_bytes(head[5..9].try_into().expect("four bytes"));
    let word = match head[4] {
        1 => Word::Open(body.to_vec(), false),
        2 => Word::Open(body.to_vec(), true),
        3 => Word::Opened(String::from_utf8_lossy(body).into_owned()),
        4 if body.is_empty() => Word::Close,
        5 if body.is_empty() => Word::Quit,
        kind => return Err(format!("a word of kind {kind} that makes no sense")),
    };
    Ok((id, word))
}

/// Puts the pieces of errands together.
#[derive(Default)]
#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
pub(crate) struct Pieces(Vec<u8>);

#[cfg_attr(not(feature = "mpi"), allow(dead_code))]
impl Pieces {
    /// Takes the next piece; the errand, when it was the last.
    pub fn add(&mut self, piece: &[u8], last: bool) -> Option<Result<Errand, String>> {
        if self.0.len() + piece.len() > BYTES_MAX {
            self.0.clear();
            return Some(Err(format!("an errand of more than {BYTES_MAX} bytes")));
        }
        self.0.extend_from_slice(piece);
        if !last {
            return None;
        }
        let text = std::mem::take(&mut self.0);
        Some(serde_json::from_slice(&text).map_err(|error| format!("no errand: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errand(text: Option<String>) -> Errand {
        let plan = Plan { gang: Gang::default(), uct: Uct::default(), seed: u64::MAX };
        Errand::Serve(Box::new(Serve::new(Origin { name: "loa/8".into(), text }, &plan)))
    }

    #[test]
    fn an_errand_comes_out_as_it_went_in_however_long_it_is() {
        for errand in [errand(None), errand(Some("a line\n".repeat(100_000))), Errand::Conform] {
            let frames = open_frames(7, &errand).unwrap();
            let mut pieces = Pieces::default();
            let mut came = None;
            for frame in &frames {
                assert!(frame.len() <= FRAME_MAX && came.is_none());
                let (7, Word::Open(piece, last)) = from_frame(frame).unwrap() else { panic!() };
                came = pieces.add(&piece, last);
            }
            assert_eq!(came, Some(Ok(errand)));
        }
    }

    #[test]
    fn words_come_out_as_they_went_in_and_nonsense_is_refused() {
        for word in [Word::Opened("no such game".into()), Word::Close, Word::Quit] {
            assert_eq!(from_frame(&to_frame(9, &word)), Ok((9, word)));
        }
        assert!(from_frame(b"").unwrap_err().contains("0 bytes"));
        assert!(from_frame(&vec![0; FRAME_MAX + 1]).unwrap_err().contains("expected 9 to"));
        assert!(from_frame(&[0xff; 40]).unwrap_err().contains("not a frame"));
        assert!(from_frame(b"SoC\x00\x04\0\0\0\0").unwrap_err().contains("version 0"));
        assert!(from_frame(b"SoC\x01\x09\0\0\0\0").unwrap_err().contains("kind 9"));
        assert!(Pieces::default().add(b"{\"dance\":1}", true).unwrap().unwrap_err().contains("no errand"));
        let mut pieces = Pieces::default();
        assert!((0..65).find_map(|_| pieces.add(&[b' '; 1 << 20], false)).unwrap().is_err());
    }

    #[test]
    fn other_versions_and_sizes_are_refused() {
        let Errand::Serve(serve) = errand(None) else { panic!() };
        assert_eq!(serve.plan(2).unwrap().seed, u64::MAX);
        assert!(serve.plan(3).unwrap_err().contains("expected 3"));
        let old = Serve { version: "0.0.1".into(), ..*serve };
        assert!(old.plan(2).unwrap_err().contains("sortie 0.0.1"));
    }
}
