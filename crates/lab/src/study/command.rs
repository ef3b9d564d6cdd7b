//! `lab paper`: a table or figure of a paper at a stated budget, ours beside theirs.

use crate::args::Paper;
use crate::study::{self, Request, papers};
use crate::{Verdict, clock, output};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &Paper) -> Result<Verdict> {
    let Some(name) = &args.study else {
        for (name, about) in study::all() {
            output::print(&format!("{name:26} {about}"))?;
        }
        return Ok(Verdict::Done);
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let rows: Vec<String> = args.rows.iter().flat_map(|range| expand(range)).collect();
    let threads = args.threads.unwrap_or(cores);
    let request = Request { cpu: args.cpu, ..Request::new(name, args.time, args.seeds, threads, rows) };
    #[cfg(feature = "neural")]
    let neural = study::morpion::has(name);
    #[cfg(not(feature = "neural"))]
    let neural = false;
    if !neural {
        papers::study(&request)?;
    }
    let path = match &args.out {
        Some(path) => path.clone(),
        None => PathBuf::from("runs").join(format!("{name}-{}", clock::stamp())),
    };
    if path.is_file() {
        bail!("{} is a file: give another --out", path.display());
    }
    #[cfg(feature = "neural")]
    if neural {
        study::morpion::run(&request, &path, args.report.quiet)?;
        return Ok(Verdict::Done);
    }
    study::run(&request, &path, args.report.json, args.report.quiet)?;
    Ok(Verdict::Done)
}

/// Goes on with the study in a folder.
pub fn resume(path: &Path, json: bool, quiet: bool) -> Result<Verdict> {
    study::run(&study::read_request(path)?, path, json, quiet)?;
    Ok(Verdict::Done)
}

/// `3..5` is 3, 4 and 5; anything else is the name of a row.
fn expand(range: &str) -> Vec<String> {
    let numbers =
        range.split_once("..").and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
    match numbers {
        Some((first, last)) if first <= last && last - first < 1000 => {
            (first..=last).map(|n| n.to_string()).collect()
        }
        _ => vec![range.to_string()],
    }
}
