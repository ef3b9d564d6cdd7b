//! `sortie list`: the domains and the searches.

use crate::Verdict;
use crate::args::List;
use crate::output;
use crate::players;
use crate::searches::{PARAMETERS, SEARCHES, option, parameters};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use sortie_core::Entry;
use sortie_core::parts::nearest;
use sortie_domains::catalogue;
use sortie_rank::Form;
use std::fmt::Write;

/// What can be asked for besides a domain.
const PARTS: [&str; 4] = ["domains", "searches", "forms", "players"];

/// Runs the command.
pub fn run(args: &List) -> Result<Verdict> {
    let what = args.what.as_deref();
    if let Some(what) = what.filter(|what| !PARTS.contains(what) && catalogue().entry(what).is_none()) {
        let names = || catalogue().entries().map(|entry| entry.name).chain(PARTS);
        match nearest(what, names()) {
            Some(near) => bail!("there is no '{what}' to list: did you mean '{near}'?"),
            None => bail!("there is no '{what}' to list: expected a domain, {}", PARTS.join(", ")),
        }
    }
    if args.json {
        output::print_json(&json(what))?
    } else {
        output::print(&text(what))?
    }
    Ok(Verdict::Done)
}

fn text(what: Option<&str>) -> String {
    let all = |part: &str| what.is_none_or(|what| what == part);
    let mut out = String::new();
    if all("domains") {
        out.push_str("DOMAINS (an instance is domain/name or domain/name:option=value,...)\n");
    }
    for entry in catalogue().entries().filter(|entry| all("domains") || what == Some(entry.name)) {
        let _ = writeln!(out, "\n{:10} {}", entry.name, entry.about);
        let _ = writeln!(out, "{:10} names: {}", "", entry.names);
        for (key, meaning) in entry.options {
            let _ = writeln!(out, "{:10} option {key}: {meaning}", "");
        }
        let _ = writeln!(out, "{:10} try: {}", "", examples(entry).join("  "));
    }
    if all("searches") {
        out.push_str("\nSEARCHES (sortie solve INSTANCE --search NAME)\n");
        for (name, about) in SEARCHES {
            let _ = writeln!(out, "\n{name:10} {about}");
            for (key, default) in parameters(name) {
                let meaning = meaning(&key);
                let _ = writeln!(out, "{:10} {}: {meaning} [{default}]", "", option(&key));
            }
        }
    }
    if all("forms") {
        out.push_str("\nFORMS (a search of a game spread over ranks: --player 'NAME[nodes=4]:default')\n\n");
        for (name, about) in Form::ALL {
            let _ = writeln!(out, "{name:10} {about}");
        }
    }
    match what {
        Some("players") => out.push_str(&players::explained()),
        None => out.push_str("\nPLAYERS of games: `sortie list players`\n"),
        _ => {}
    }
    out.trim_start_matches('\n').to_string()
}

fn json(what: Option<&str>) -> Value {
    let one = what.filter(|what| !PARTS.contains(what));
    let named = |entry: &&Entry| one.is_none_or(|one| entry.name == one);
    let domains = catalogue().entries().filter(named).map(|entry| {
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
        "players": players::meanings().collect::<Vec<_>>(),
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
