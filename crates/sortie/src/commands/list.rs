//! `sortie list`: the domains and the searches.

use crate::Verdict;
use crate::args::List;
use crate::output;
use crate::searches::{PARAMETERS, SEARCHES, option, parameters};
use anyhow::Result;
use serde_json::{Value, json};
use sortie_core::Entry;
use sortie_domains::catalogue;
use sortie_rank::Form;
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &List) -> Result<Verdict> {
    if args.json {
        output::print_json(&json())?
    } else {
        output::print(&text())?
    }
    Ok(Verdict::Done)
}

fn text() -> String {
    let mut out = String::from("DOMAINS (an instance is domain/name or domain/name:option=value,...)\n");
    for entry in catalogue().entries() {
        let _ = writeln!(out, "\n{:10} {}", entry.name, entry.about);
        let _ = writeln!(out, "{:10} names: {}", "", entry.names);
        for (key, meaning) in entry.options {
            let _ = writeln!(out, "{:10} option {key}: {meaning}", "");
        }
        let _ = writeln!(out, "{:10} try: {}", "", examples(entry).join("  "));
    }
    out.push_str("\nSEARCHES (sortie solve INSTANCE --search NAME)\n");
    for (name, about) in SEARCHES {
        let _ = writeln!(out, "\n{name:10} {about}");
        for (key, default) in parameters(name) {
            let meaning = meaning(&key);
            let _ = writeln!(out, "{:10} {}: {meaning} [{default}]", "", option(&key));
        }
    }
    out.push_str("\nFORMS (a search of a game spread over ranks: --player 'NAME[nodes=4]:default')\n\n");
    for (name, about) in Form::ALL {
        let _ = writeln!(out, "{name:10} {about}");
    }
    out
}

fn json() -> Value {
    let domains = catalogue().entries().map(|entry| {
        let options = entry.options.iter().map(|(key, meaning)| json!({ "name": key, "about": meaning }));
        json!({
            "name": entry.name,
            "about": entry.about,
            "names": entry.names,
            "options": options.collect::<Vec<_>>(),
            "examples": examples(entry),
        })
    });
    let searches = SEARCHES.iter().map(|(name, about)| {
        let parameters = parameters(name).into_iter().map(|(key, default)| {
            let about = meaning(&key);
            json!({ "name": key, "about": about, "default": default })
        });
        json!({ "name": name, "about": about, "parameters": parameters.collect::<Vec<_>>() })
    });
    let forms = Form::ALL.iter().map(|(name, about)| json!({ "name": name, "about": about }));
    json!({
        "domains": domains.collect::<Vec<_>>(),
        "searches": searches.collect::<Vec<_>>(),
        "forms": forms.collect::<Vec<_>>(),
    })
}

/// The examples of a domain as they are typed.
fn examples(entry: &Entry) -> Vec<String> {
    let whole = |example: &&str| match example.strip_prefix(entry.name) {
        Some(rest) if rest.starts_with('/') => example.to_string(),
        _ => format!("{}/{example}", entry.name),
    };
    entry.examples.iter().map(whole).collect()
}

fn meaning(parameter: &str) -> &'static str {
    PARAMETERS.iter().find(|(key, _)| *key == parameter).map_or("", |(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Instance;

    #[test]
    fn every_example_opens() {
        for entry in catalogue().entries() {
            assert!(!entry.examples.is_empty(), "{} has no example", entry.name);
            for example in examples(entry) {
                Instance::open(&example).unwrap_or_else(|error| panic!("{example}: {error:#}"));
            }
        }
    }
}
