//! `sortie schema`: the formats of the run folder as JSON schema (draft 2020-12), derived from the types that write it.
//! Tests hold real folders against it.

use crate::args::Schema;
use crate::{Verdict, output};
use anyhow::{Result, anyhow};
use sortie_runs::schema::schema;

/// Runs the command.
pub fn run(args: &Schema) -> Result<Verdict> {
    let whole = schema();
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
