//! A network as the policy of a run: `--policy net.safetensors`. The spec names the file and its hash, the run folder
//! keeps a copy, and a run goes on with nothing but the network it began with. A build without the feature `neural`
//! knows of policies only that it has none.

use crate::source::Instance;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use sortie_core::prior::{Guide, Trust};
use sortie_runs::network::hash;
pub use sortie_runs::network::{POLICY, PolicySpec, read};
use std::path::{Path, PathBuf};

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

/// A policy that was read.
pub struct Policy {
    /// What the spec keeps of it.
    pub spec: PolicySpec,
    /// The file.
    pub bytes: Vec<u8>,
    /// What searches are handed.
    pub guide: Guide,
}

/// What a spec keeps of the network in a file.
#[cfg(feature = "neural")]
pub fn spec_of(path: &Path, trust: Trust) -> Result<PolicySpec> {
    let bytes = read(path).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    Ok(PolicySpec::of(path, &bytes, trust))
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
    let spec = PolicySpec::of(path, &bytes, trust);
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
