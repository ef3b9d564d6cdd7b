//! Grids: the commands `worker` and `broker`, and what other commands do with `--grid`. The protocol and both ends of
//! the connection are in `sortie_grid`; here is what our games and problems put into it. A build without the feature
//! `grid` says so.

// A build without grids reads the arguments and refuses.
#[cfg_attr(not(feature = "grid"), allow(dead_code))]
pub mod args;
pub mod audit;
#[cfg(feature = "grid")]
pub mod hands;
#[cfg(feature = "grid")]
pub mod island;
#[cfg(feature = "grid")]
pub mod match_;
pub mod prove;
#[cfg(feature = "grid")]
pub mod run;
#[cfg(feature = "grid")]
pub mod solve;

use crate::Verdict;
use anyhow::{Result, anyhow, bail};
use args::{GridArgs, KeyArgs, ResumeGridArgs};
use serde::{Deserialize, Serialize};
use sortie_core::search::Parallel;
use sortie_core::{Limits, Nrpa, Search};
pub use sortie_runs::kind::GRID;
use std::path::{Path, PathBuf};

/// A grid and how it is used.
#[cfg_attr(not(feature = "grid"), allow(dead_code))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Where it is.
    pub url: String,
    /// Claims count when so many different workers make them.
    pub quorum: u32,
    /// The share of claims that our own solver goes through.
    pub recheck: f64,
    /// A job whose worker is silent for so long goes to another one.
    pub lease_seconds: f64,
    /// A job that takes longer has failed.
    pub job_seconds_max: f64,
    /// What opens it; no folder keeps it.
    #[serde(skip)]
    pub token: Option<String>,
    /// The same with a credential of one's own, and the certificate of the server.
    #[serde(skip)]
    pub keys: Keys,
    /// Jobs at a time, if that was said.
    #[serde(skip)]
    pub window: Option<u32>,
}

/// What opens a grid, besides a token.
#[cfg_attr(not(feature = "grid"), allow(dead_code))]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Keys {
    /// Name and password.
    pub credential: Option<(String, String)>,
    /// The file with the certificate.
    pub certificate: Option<PathBuf>,
}

/// No file with a secret is larger.
const SECRET_BYTES_MAX: u64 = 4096;

impl Keys {
    /// From what was typed, with the token.
    fn of(args: &KeyArgs) -> Result<(Option<String>, Keys)> {
        let token = match &args.token_file {
            Some(path) => Some(secret(path)?),
            None => args.token.clone(),
        };
        let credential = match &args.credential {
            None => None,
            Some(path) => {
                let text = secret(path)?;
                let pair = text.split_once('\n').map(|(name, password)| (name.trim(), password.trim()));
                let sound =
                    |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
                match pair.filter(|(name, password)| !name.is_empty() && !password.is_empty() && sound(name))
                {
                    Some((name, password)) => Some((name.to_string(), password.to_string())),
                    None => bail!("{}: expected a name and a password, a line each", path.display()),
                }
            }
        };
        if let Some(path) = args.ca.as_ref().filter(|path| !path.is_file()) {
            bail!("{}: expected the file of a certificate", path.display());
        }
        Ok((token, Keys { credential, certificate: args.ca.clone() }))
    }
}

/// A secret from a file.
fn secret(path: &Path) -> Result<String> {
    let text = crate::source::read_text(path, SECRET_BYTES_MAX)
        .map_err(|message| anyhow!("{}: {message}", path.display()))?;
    Ok(text.trim().to_string())
}

impl Spec {
    /// From what was typed; `None`: no grid.
    pub fn of(args: &GridArgs, window: Option<u32>) -> Result<Option<Spec>> {
        let Some(url) = &args.grid else { return Ok(None) };
        if !(0.0..=1.0).contains(&args.recheck) {
            bail!("--recheck {}: expected a share from 0 to 1", args.recheck);
        }
        if !(1.0..=86_400.0).contains(&args.lease) {
            bail!("--lease {}s: expected a time from 1s to 24h", args.lease);
        }
        if !(1.0..=1e7).contains(&args.job_time) {
            bail!("--job-time {}s: expected at least 1s", args.job_time);
        }
        let (token, keys) = Keys::of(&args.keys)?;
        let (url, token) = address(url, token.as_deref())?;
        Ok(Some(Spec {
            keys,
            url,
            quorum: args.quorum,
            recheck: args.recheck,
            lease_seconds: args.lease,
            job_seconds_max: args.job_time,
            token,
            window,
        }))
    }

    /// How a run in a folder goes on.
    pub fn resumed(path: &Path, args: &ResumeGridArgs, window: Option<u32>) -> Result<Option<Spec>> {
        let kept: Option<Spec> = match path.join(GRID).exists() {
            true => Some(crate::contest::read_request(path, GRID)?),
            false => None,
        };
        let default = Spec {
            url: String::new(),
            quorum: 1,
            recheck: 0.0,
            lease_seconds: 10.0,
            job_seconds_max: 600.0,
            token: None,
            keys: Keys::default(),
            window: None,
        };
        let (url, kept) = match (&args.grid, kept) {
            (Some(url), _) if url == "none" => return Ok(None),
            (None, None) => return Ok(None),
            (Some(url), kept) => (url.clone(), kept.unwrap_or(default)),
            (None, Some(kept)) => (kept.url.clone(), kept),
        };
        let (token, keys) = Keys::of(&args.keys)?;
        let (url, token) = address(&url, token.as_deref())?;
        Ok(Some(Spec { url, token, keys, window, ..kept }))
    }

    /// Refuses what only proofs have: claims.
    pub fn without_claims(&self) -> Result<()> {
        if self.quorum != 1 || self.recheck != 0.0 {
            bail!(
                "--quorum and --recheck are about the claims of `sortie prove`: here every answer is replayed by the rules"
            );
        }
        Ok(())
    }

    /// Refuses limits that make no sense for searches elsewhere.
    pub fn fits(&self, limits: &Limits) -> Result<()> {
        self.without_claims()?;
        // The process of a worker does other jobs too: its CPU time says nothing about this one.
        if limits.cpu_seconds.is_some() {
            bail!("--cpu-time: over a grid give --time or --playouts, which are for each search");
        }
        if let Some(seconds) = limits.seconds.filter(|seconds| *seconds >= self.job_seconds_max) {
            bail!("--time {seconds}s: a job may take {}s, give a longer --job-time", self.job_seconds_max);
        }
        Ok(())
    }

    /// Writes it into the folder of a run.
    #[cfg(feature = "grid")]
    fn keep(&self, path: &Path) -> Result<()> {
        let text =
            format!("# Who did the jobs of this run. The token is not kept.\n{}", toml::to_string(self)?);
        crate::folder::write_whole(&path.join(GRID), text.as_bytes())
            .map_err(|error| anyhow!("cannot write {}: {error}", path.join(GRID).display()))
    }
}

/// Says that there is no grid in this build.
#[cfg(not(feature = "grid"))]
pub fn none<T>() -> Result<T> {
    bail!("this build has no grid: build it with `cargo build --release --features grid`")
}

#[cfg(feature = "grid")]
fn address(url: &str, token: Option<&str>) -> Result<(String, Option<String>)> {
    let address = sortie_grid::Address::parse(url, token)?;
    Ok((address.url, address.token))
}

#[cfg(not(feature = "grid"))]
fn address(_: &str, _: Option<&str>) -> Result<(String, Option<String>)> {
    none()
}

/// `sortie worker`.
pub fn worker(args: &args::Worker) -> Result<Verdict> {
    #[cfg(feature = "grid")]
    return run::worker(args);
    #[cfg(not(feature = "grid"))]
    return none::<Verdict>().map_err(|error| anyhow!("worker at {}: {error}", args.grid));
}

/// `sortie broker`.
pub fn broker(args: &args::Broker) -> Result<Verdict> {
    #[cfg(feature = "grid")]
    return run::broker(args);
    #[cfg(not(feature = "grid"))]
    return none::<Verdict>().map_err(|error| anyhow!("broker at {}: {error}", args.listen));
}

/// Whether the jobs of a search are calls of its islands; those of all others are whole searches.
pub fn is_islands(search: &Search) -> bool {
    matches!(search, Search::Nrpa(Nrpa { parallel: Parallel::Islands(_), .. }))
}

/// What a grid did, for people.
pub fn tally_text(tally: &serde_json::Value) -> String {
    let number = |key: &str| tally[key].as_u64().unwrap_or(0);
    let mut text = format!(
        "grid      {} jobs sent, {} delivered again, {} sent again, {} late, {} failed\n",
        number("issued"),
        number("redelivered"),
        number("reissued"),
        number("late"),
        number("failed"),
    );
    let claims = ["confirmed", "rechecked", "refuted", "doubted", "refused", "unasked"];
    if claims.iter().any(|key| number(key) > 0) {
        let parts: Vec<String> = claims.iter().map(|key| format!("{} {key}", number(key))).collect();
        text += &format!("claims    {}\n", parts.join(", "));
    }
    let audit = |key: &str| tally["audit"][key].as_u64().unwrap_or(0);
    let parts = ["confirmed", "replaced", "refuted", "open"].map(|key| (audit(key), key));
    if parts.iter().any(|(n, _)| *n > 0) {
        let parts = parts.map(|(n, key)| format!("{n} {key}"));
        text += &format!("audit     {}, by our own solver\n", parts.join(", "));
    }
    text
}

#[cfg(not(feature = "grid"))]
pub mod solve {
    //! There is no grid in this build.

    use crate::Verdict;
    use crate::folder::Folder;
    use crate::source::Instance;
    use sortie_runs::spec::Spec;

    /// Says so.
    pub fn run(
        _: &super::Spec,
        _: &Spec,
        _: &Instance,
        _: &Folder,
        _: (bool, bool),
    ) -> anyhow::Result<Verdict> {
        super::none()
    }
}

#[cfg(not(feature = "grid"))]
pub mod island {
    //! There is no grid in this build.

    use crate::folder::Folder;
    use crate::source::Instance;
    use anyhow::Result;
    use sortie_core::search::{CallMaker, CallSource};
    use sortie_runs::spec::Spec;
    use std::convert::Infallible;
    use std::sync::atomic::AtomicBool;

    /// Nobody.
    pub struct Maker(Infallible);

    impl Maker {
        /// Says so.
        pub fn new(
            _: &super::Spec,
            _: &Spec,
            _: &Instance,
            _: (&Folder, bool),
            _: &AtomicBool,
        ) -> Result<Maker> {
            super::none()
        }

        /// There is none that could end.
        pub fn end(self) -> Result<Option<serde_json::Value>> {
            match self.0 {}
        }
    }

    impl CallMaker for Maker {
        fn make(&self, _: &mut dyn CallSource) {
            match self.0 {}
        }
    }
}
