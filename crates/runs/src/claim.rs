//! A folder of a run that is asked for by one file, `match.toml` or the like: made, or opened if it holds the same
//! request. A request is what a run is repeated from, so a key it does not know is an error for whoever resumes.

use crate::clock;
use crate::folder::{self, Folder, refuse_other_format, write_whole};
use crate::kind::Kind;
use crate::limits::TEXT_BYTES_MAX;
use crate::text::{line_of, plain_file, read_text};
use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The version of the format of a request.
pub const FORMAT: u32 = 1;

/// Makes a folder and writes the request into it, or opens it if it holds the same one; `what` it would else hold.
pub fn claim<R>(path: &Path, file: &str, request: &R, what: &str) -> Result<Folder>
where
    R: Serialize + DeserializeOwned + PartialEq,
{
    let asked = path.join(file);
    if !asked.exists() {
        let others = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| !folder::is_left(&entry.path(), &[file]))
        };
        let used = path.is_file() || path.read_dir().is_ok_and(|mut entries| entries.any(others));
        if used {
            bail!("{} is not an empty folder: give another --out", path.display());
        }
        sortie_disk::create_dir_all(path)
            .with_context(|| format!("cannot make the folder {}: give another --out", path.display()))?;
    }
    let folder = folder::lock(path)?;
    if asked.exists() {
        if read_request::<R>(path, file)? != *request {
            bail!(
                "{0} holds another {what}: `{1} resume {0}` goes on with it, or give another --out",
                path.display(),
                Kind::of(path).program()
            );
        }
    } else {
        let text = format!("# Everything needed to repeat this {what}.\n{}", toml::to_string(request)?);
        write_whole(&asked, text.as_bytes()).with_context(|| format!("cannot write {}", asked.display()))?;
    }
    Ok(folder)
}

/// Asks a folder for more than before: `change` says whether what was asked for has changed.
pub fn ask_more<R>(path: &Path, file: &str, change: impl FnOnce(&mut R) -> Result<bool>) -> Result<()>
where
    R: Serialize + DeserializeOwned,
{
    let mut request: R = read_request(path, file)?;
    if !change(&mut request)? {
        return Ok(());
    }
    let _locked = folder::lock(path)?;
    let asked = path.join(file);
    let text = format!("# Everything needed to repeat this.\n{}", toml::to_string(&request)?);
    write_whole(&asked, text.as_bytes()).with_context(|| format!("cannot write {}", asked.display()))
}

/// Reads what a folder was asked for. One of another format is refused before anything is made of its words.
pub fn read_request<R: DeserializeOwned>(path: &Path, file: &str) -> Result<R> {
    let path = path.join(file);
    plain_file(&path).with_context(|| path.display().to_string())?;
    let text =
        read_text(&path, TEXT_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    refuse_other_format(&path, &text, FORMAT)?;
    toml::from_str(&text)
        .map_err(|error| anyhow!("{}:{}: {}", path.display(), line_of(&text, &error), error.message()))
}

/// A new folder under `runs/`.
pub fn fresh_path(kind: &str, instance: &str) -> PathBuf {
    let name: String = instance.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = format!("{kind}-{}-{}", name.chars().take(40).collect::<String>(), clock::stamp());
    let path = Path::new("runs").join(&name);
    let numbered = (2..1000).map(|n| Path::new("runs").join(format!("{name}-{n}")));
    std::iter::once(path.clone()).chain(numbered).find(|path| !path.exists()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use sortie_disk::{Disk, Plan, mount};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Request {
        format: u32,
        games: u32,
    }

    /// Whenever the power goes while a folder is made: it holds the request, or can be made by the same command.
    #[test]
    fn a_folder_whose_making_was_cut_short_can_be_made_again() {
        let request = Request { format: FORMAT, games: 4 };
        for call in 1.. {
            let home = tempfile::tempdir().unwrap();
            let path = home.path().join("runs/of/today");
            let plan = Plan { seed: call, power_until: Some(call), faults: Vec::new() };
            let disk = mount(Disk::new(home.path(), plan).unwrap());
            let made = claim(&path, "match.toml", &request, "match").is_ok();
            let whole = disk.calls() < call;
            drop(disk);
            drop(
                claim(&path, "match.toml", &request, "match")
                    .unwrap_or_else(|e| panic!("call {call}: {e:#}")),
            );
            assert_eq!(read_request::<Request>(&path, "match.toml").unwrap(), request);
            if whole {
                assert!(made && call > 8, "{call}");
                return;
            }
        }
    }

    #[test]
    fn a_folder_is_of_one_request() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b");
        let request = |games| Request { format: FORMAT, games };
        drop(claim(&path, "match.toml", &request(4), "match").unwrap());
        drop(claim(&path, "match.toml", &request(4), "match").unwrap());
        let refused = |result: Result<Folder>| result.err().expect("refused").to_string();
        assert!(refused(claim(&path, "match.toml", &request(5), "match")).contains("holds another match"));
        assert!(refused(claim(&path, "tune.toml", &request(4), "tuning")).contains("not an empty folder"));
        assert_eq!(read_request::<Request>(&path, "match.toml").unwrap(), request(4));
        for (text, says) in [
            ("format = 1\ngames = x", "match.toml:2"),
            ("format = 2\nwhatever = 1", "another version"),
            ("format = 1\ngames = 4\ncolour = 1", "colour"),
        ] {
            std::fs::write(path.join("match.toml"), text).unwrap();
            let error = format!("{:#}", read_request::<Request>(&path, "match.toml").unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }
}
