//! The checkpoint of a run: all its streams in one file with a checksum. Streams are independent, so it does not
//! matter that they were caught at different moments.

use serde::{Deserialize, Serialize};
use sortie_core::run::StreamCheckpoint;

/// The first line of the file. The number is the version of the format.
const MAGIC: &[u8] = b"sortie checkpoint 1\n";

/// A run at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    /// `Spec::identity` of the run.
    pub identity: String,
    /// Wall time spent so far.
    pub seconds: f64,
    /// CPU time spent so far.
    pub cpu_seconds: f64,
    /// The streams that have begun, by number.
    pub streams: Vec<StreamCheckpoint>,
}

impl Checkpoint {
    /// Puts a newer checkpoint of a stream in its place.
    pub fn put(&mut self, stream: StreamCheckpoint) {
        match self.streams.binary_search_by_key(&stream.stream, |known| known.stream) {
            Ok(i) => self.streams[i] = stream,
            Err(i) => self.streams.insert(i, stream),
        }
    }

    /// As a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(self).expect("plain data always serialises");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// From a file; `None` if it is damaged or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Checkpoint> {
        let (sum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return None;
        }
        postcard::from_bytes(body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Rng;

    fn stream(stream: u32, playouts: u64) -> StreamCheckpoint {
        StreamCheckpoint {
            stream,
            rng: Rng::new(1, 2),
            playouts,
            improved_at: 0,
            best: None,
            ended: None,
            search: vec![1, 2, 3],
        }
    }

    #[test]
    fn a_checkpoint_is_whole_or_refused() {
        let mut checkpoint =
            Checkpoint { identity: "leftmove/60".into(), seconds: 2.0, cpu_seconds: 3.0, streams: vec![] };
        for (number, playouts) in [(3, 1), (0, 2), (3, 5)] {
            checkpoint.put(stream(number, playouts));
        }
        let playouts: Vec<u64> = checkpoint.streams.iter().map(|s| s.playouts).collect();
        assert_eq!(playouts, [2, 5]);
        let bytes = checkpoint.to_bytes();
        assert_eq!(Checkpoint::from_bytes(&bytes).unwrap().streams, checkpoint.streams);
        for end in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..end]).is_none());
        }
        for i in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[i] ^= 1;
            assert!(Checkpoint::from_bytes(&bad).is_none(), "byte {i}");
        }
    }
}
