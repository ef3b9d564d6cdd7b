//! A network as the policy of a run: what the spec keeps of it, and the copy in the folder.

use crate::limits::NETWORK_BYTES_MAX;
use crate::text::read_bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sortie_core::mix;
use sortie_core::prior::Trust;
use std::path::Path;

/// The copy of the network in a run folder.
pub const POLICY: &str = "policy.safetensors";

/// A policy as a spec holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "The network that weighs the moves; policy.safetensors is a copy of it")]
pub struct PolicySpec {
    /// The file, as it was named.
    pub file: String,
    /// The hash of its bytes.
    pub hash: String,
    /// How much is made of it.
    #[schemars(with = "TrustSchema")]
    pub trust: Trust,
}

/// `sortie_core::prior::Trust` as JSON; a test holds this to it.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "trust")]
struct TrustSchema {
    /// Divides what the network says before the softmax.
    temperature: f64,
    /// The share of the network in the policy, the rest being uniform.
    mix: f64,
    /// Asked once, about the initial position.
    once: bool,
}

impl PolicySpec {
    /// The network with these bytes in a file.
    pub fn of(path: &Path, bytes: &[u8], trust: Trust) -> PolicySpec {
        PolicySpec { file: path.display().to_string(), hash: hash(bytes), trust }
    }

    /// For people: `policy net.safetensors, temperature 0.5`.
    pub fn describe(&self) -> String {
        let Trust { temperature, mix, once } = self.trust;
        let mut text = format!("policy {}", self.file);
        if temperature != 1.0 {
            text += &format!(", policy temperature {temperature}");
        }
        if mix != 1.0 {
            text += &format!(", mix {mix}");
        }
        if once {
            text += ", one pass";
        }
        text
    }
}

/// The bytes of a network. The error is one line without the path.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    read_bytes(path, NETWORK_BYTES_MAX)
}

/// A hash of all bytes, for telling networks apart and not against forgery.
pub fn hash(bytes: &[u8]) -> String {
    let word = |chunk: &[u8]| chunk.iter().fold(0, |word, &byte| word << 8 | byte as u64);
    let hash = bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| mix(hash ^ word(chunk)));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_tell_files_apart() {
        let all = [&b""[..], b"a", b"\0", b"\0\0", b"12345678", b"123456780", b"012345678"].map(hash);
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one));
        }
        assert_eq!(hash(b"12345678"), all[4]);
    }

    #[test]
    fn the_schema_knows_all_of_the_trust() {
        let trust = Trust { temperature: 0.5, mix: 0.25, once: true };
        let ours: TrustSchema = serde_json::from_value(serde_json::to_value(trust).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(trust).unwrap(), serde_json::to_value(&ours).unwrap());
    }
}
