//! A network as the policy of a run: `--policy net.safetensors`. The spec names the file and its hash, the run folder
//! keeps a copy, and a run goes on with nothing but the network it began with. A build without the feature `neural`
//! knows of policies only that it has none.

use crate::source::{Instance, plain};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use sortie_core::{Guide, Trust, mix};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The copy of the network in a run folder.
pub const POLICY: &str = "policy.safetensors";
/// No network is larger than this.
const BYTES_MAX: u64 = 64 << 20;

/// Which network, and how much is made of it.
#[derive(Debug, Clone, Default, Args)]
pub struct PolicyArgs {
    /// A network that weighs the moves of every playout: the policy of nmcs and sample, the bias of nrpa and its kin
    /// (needs a build with the feature neural)
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Divide what the network says by this before the softmax: below 1 its best moves gain [default: 1]
    #[arg(long, value_name = "TAU")]
    pub policy_temperature: Option<f64>,
    /// The share of the network in the policy, the rest being uniform: 0 to 1 [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub mix: Option<f64>,
    /// Ask the network once, about the initial position, and use that answer in all others
    #[arg(long)]
    pub one_pass: bool,
}

impl PolicyArgs {
    /// How much is made of the network.
    pub fn trust(&self) -> Result<Trust> {
        let trust = Trust {
            temperature: self.policy_temperature.unwrap_or(1.0),
            mix: self.mix.unwrap_or(1.0),
            once: self.one_pass,
        };
        check(trust).map(|()| trust)
    }
}

/// A policy as a spec holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySpec {
    /// The file, as it was named.
    pub file: String,
    /// The hash of its bytes.
    pub hash: String,
    /// How much is made of it.
    pub trust: Trust,
}

impl PolicySpec {
    /// The network in a file.
    #[cfg(feature = "neural")]
    pub fn of(path: &Path, trust: Trust) -> Result<PolicySpec> {
        let bytes = read(path).map_err(|message| anyhow!("{}: {message}", path.display()))?;
        Ok(PolicySpec { file: path.display().to_string(), hash: hash(&bytes), trust })
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

/// A policy that was read.
pub struct Policy {
    /// What the spec keeps of it.
    pub spec: PolicySpec,
    /// The file.
    pub bytes: Vec<u8>,
    /// What searches are handed.
    pub guide: Guide,
}

/// The policy that the arguments ask for.
pub fn open(args: &PolicyArgs, instance: &Instance) -> Result<Option<Policy>> {
    let Some(path) = &args.policy else {
        let given = [
            ("--policy-temperature", args.policy_temperature.is_some()),
            ("--mix", args.mix.is_some()),
            ("--one-pass", args.one_pass),
        ];
        return match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => bail!("{option} needs a network: --policy FILE"),
            None => Ok(None),
        };
    };
    let trust = args.trust()?;
    let bytes = read(path).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let guide = guide(&bytes, trust, instance).with_context(|| path.display().to_string())?;
    let spec = PolicySpec { file: path.display().to_string(), hash: hash(&bytes), trust };
    Ok(Some(Policy { spec, bytes, guide }))
}

/// The policy that a run began with: the copy in its folder or, if there is none, the file that the spec names.
pub fn reopen(spec: &PolicySpec, folder: &Path, instance: &Instance) -> Result<Guide> {
    check(spec.trust)?;
    let copy = folder.join(POLICY);
    let path = if copy.exists() { copy } else { PathBuf::from(&spec.file) };
    let bytes = read(&path).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let found = hash(&bytes);
    if found != spec.hash {
        bail!(
            "{}: not the network this run began with: expected hash {}, found {found}",
            path.display(),
            spec.hash
        );
    }
    guide(&bytes, spec.trust, instance).with_context(|| path.display().to_string())
}

fn check(trust: Trust) -> Result<()> {
    if !(0.01..=100.0).contains(&trust.temperature) {
        bail!("--policy-temperature {}: expected a number from 0.01 to 100", trust.temperature);
    }
    if !(0.0..=1.0).contains(&trust.mix) {
        bail!("--mix {}: expected a number from 0 to 1", trust.mix);
    }
    Ok(())
}

/// The bytes of a file. The error is one line without the path.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| plain(&error))?;
    if file.metadata().map_err(|error| plain(&error))?.is_dir() {
        return Err("it is a folder".into());
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| plain(&error))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("larger than {} MiB", BYTES_MAX >> 20));
    }
    Ok(bytes)
}

/// A hash of all bytes, for telling networks apart and not against forgery.
fn hash(bytes: &[u8]) -> String {
    let word = |chunk: &[u8]| chunk.iter().fold(0, |word, &byte| word << 8 | byte as u64);
    let hash = bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| mix(hash ^ word(chunk)));
    format!("{hash:016x}")
}

#[cfg(feature = "neural")]
fn guide(bytes: &[u8], trust: Trust, instance: &Instance) -> Result<Guide> {
    let net = sortie_neural::Net::from_bytes(bytes)?;
    let Some(layout) = instance.problem()?.layout() else {
        bail!("it is for {}, and {} cannot be shown to a network", net.spec().domain, instance.name);
    };
    let prior = sortie_neural::NetPrior::new(net, &layout).map_err(|message| anyhow!("{message}"))?;
    Ok(Guide { prior: std::sync::Arc::new(prior), trust })
}

#[cfg(not(feature = "neural"))]
fn guide(_: &[u8], _: Trust, _: &Instance) -> Result<Guide> {
    bail!("this sortie was built without networks: build it with `cargo build --release --features neural`")
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
    fn options_without_a_policy_are_refused() {
        let instance = Instance::open("morpion/5D").unwrap();
        let error = |args: PolicyArgs| open(&args, &instance).err().map(|error| format!("{error:#}"));
        assert_eq!(error(PolicyArgs::default()), None);
        let refused = error(PolicyArgs { mix: Some(0.5), ..PolicyArgs::default() }).unwrap();
        assert_eq!(refused, "--mix needs a network: --policy FILE");
        let policy = || Some(PathBuf::from("nowhere.safetensors"));
        let refused =
            error(PolicyArgs { policy: policy(), mix: Some(1.5), ..PolicyArgs::default() }).unwrap();
        assert_eq!(refused, "--mix 1.5: expected a number from 0 to 1");
        let refused = error(PolicyArgs { policy: policy(), ..PolicyArgs::default() }).unwrap();
        assert!(refused.starts_with("nowhere.safetensors: "), "{refused}");
    }
}
