//! `sortie compare`: whether one set of runs is really better than another.

use crate::args::Compare;
use crate::{Verdict, output};
use anyhow::{Result, anyhow};

/// Runs the command.
pub fn run(args: &Compare) -> Result<Verdict> {
    let comparison = sortie_web::compare(&args.a, &args.b, args.at).map_err(|message| anyhow!(message))?;
    if args.json {
        output::print_json(&comparison.to_json())?;
    } else {
        let show = |median: Option<f64>| median.map_or("-".into(), output::score);
        for (name, runs, median) in [
            (&comparison.a, comparison.runs[0], comparison.medians[0]),
            (&comparison.b, comparison.runs[1], comparison.medians[1]),
        ] {
            output::print(&format!("{name}: {runs} runs, median {}", show(median)))?;
        }
        output::print(&format!("\n{}", comparison.sentence()))?;
    }
    Ok(if comparison.real() == Some(true) { Verdict::Done } else { Verdict::NotFound })
}
