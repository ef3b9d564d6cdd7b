//! `sortie schema`: the formats of the run folder as JSON schema (draft 2020-12). The file is written by hand, and tests
//! hold real folders against it.

use crate::args::Schema;
use crate::{Verdict, output};
use anyhow::{Result, anyhow};
use serde_json::Value;

/// All parts, under `$defs`.
pub const TEXT: &str = include_str!("../../schema/run-folder-1.json");

/// Runs the command.
pub fn run(args: &Schema) -> Result<Verdict> {
    let whole: Value = serde_json::from_str(TEXT)?;
    let shown = match &args.part {
        None => whole,
        Some(part) => {
            let parts = whole["$defs"].as_object().ok_or_else(|| anyhow!("the schema has no parts"))?;
            let names = || parts.keys().map(String::as_str);
            let found = parts.get(part).ok_or_else(|| {
                anyhow!(
                    "there is no part '{part}': expected one of {}",
                    names().collect::<Vec<_>>().join(", ")
                )
            })?;
            let mut found = found.clone();
            found["$schema"] = whole["$schema"].clone();
            found
        }
    };
    output::print(&serde_json::to_string_pretty(&shown)?)?;
    Ok(Verdict::Done)
}
