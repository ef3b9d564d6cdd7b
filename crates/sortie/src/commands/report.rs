//! `sortie report`: several runs as one file to read.

use crate::args::{Report, ReportFormat};
use crate::folder::write_whole;
use crate::{Verdict, clock, output};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// Runs the command.
pub fn run(args: &Report) -> Result<Verdict> {
    let format =
        args.format.or_else(|| args.out.as_deref().and_then(named)).unwrap_or(ReportFormat::Markdown);
    let report = sortie_web::gather(&args.folders, args.at);
    for (folder, why) in &report.left_out {
        output::say(&format!("sortie: left out {folder}: {why}"));
    }
    if report.groups.is_empty() && report.others.is_empty() {
        bail!("there is nothing to report: no run with a score, match, tuning or proof in the folders given");
    }
    let text = match format {
        ReportFormat::Html => report.html(&clock::now()),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Json => serde_json::to_string(&report.to_json())? + "\n",
        ReportFormat::Svg => match report.instances().as_slice() {
            [(_, groups)] => report.chart(groups).file() + "\n",
            instances => bail!("{} instances: expected one for an SVG; html takes several", instances.len()),
        },
    };
    match &args.out {
        None => output::print(&text)?,
        Some(path) => {
            write_whole(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
            output::say(&format!("{} runs in {}", runs(&report), path.display()));
        }
    }
    Ok(Verdict::Done)
}

fn runs(report: &sortie_web::Report) -> usize {
    report.others.len() + report.groups.iter().map(|group| group.members.len()).sum::<usize>()
}

/// What the name of a file says.
fn named(path: &Path) -> Option<ReportFormat> {
    match path.extension()?.to_str()? {
        "html" | "htm" => Some(ReportFormat::Html),
        "md" => Some(ReportFormat::Markdown),
        "svg" => Some(ReportFormat::Svg),
        "json" => Some(ReportFormat::Json),
        _ => None,
    }
}
