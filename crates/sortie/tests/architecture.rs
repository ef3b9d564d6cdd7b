//! ARCHITECTURE.md, held to what the crates are: which way they depend, who does I/O, who reads the clock.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows of the table: crate, what it names, what it names in tests too.
fn rows() -> Vec<(String, BTreeSet<String>, BTreeSet<String>)> {
    let page = text("ARCHITECTURE.md");
    let section = page.split("## Which way it depends").nth(1).expect("the section is there");
    let table = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let names =
        |cell: &str| cell.split(',').map(|name| name.trim().to_string()).filter(|n| !n.is_empty()).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        (cells[1].to_string(), names(cells[2]), names(cells[3]))
    };
    table.take_while(|line| line.starts_with('|')).map(row).collect()
}

/// The crates of ours that a section of a manifest names.
fn named(manifest: &str, section: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    let inside = lines.take_while(|line| !line.starts_with('['));
    let ours = inside.filter(|line| line.starts_with("sortie"));
    let names = ours.map(|line| line.chars().take_while(|&c| c.is_ascii_lowercase() || c == '-').collect());
    names.map(|name: String| name.trim_start_matches("sortie-").to_string()).collect()
}

#[test]
fn crates_depend_as_the_table_says() {
    let rows = rows();
    let listed: BTreeSet<&str> = rows.iter().map(|(name, ..)| name.as_str()).collect();
    let folders = fs::read_dir(root().join("crates")).expect("crates");
    let found: Vec<String> =
        folders.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(
        listed,
        found.iter().map(String::as_str).collect(),
        "a crate without a row, or a row without a crate"
    );
    for (i, (name, allowed, in_tests)) in rows.iter().enumerate() {
        let manifest = text(&format!("crates/{name}/Cargo.toml"));
        assert_eq!(&named(&manifest, "[dependencies]"), allowed, "{name} and its row");
        let others: BTreeSet<String> = &named(&manifest, "[dev-dependencies]") - allowed;
        assert!(others.is_subset(in_tests), "{name} names {others:?} in tests");
        let above: BTreeSet<&str> = rows[i..].iter().map(|(name, ..)| name.as_str()).collect();
        assert!(
            allowed.iter().all(|other| !above.contains(other.as_str())),
            "{name} depends on what stands below it"
        );
    }
}

/// Every line of a crate that is no test, with its file; oracles are for tests.
fn lines(krate: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates").join(krate).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs")
                && !path.ends_with("tests.rs")
                && !path.ends_with("oracle.rs")
            {
                let whole = fs::read_to_string(&path).expect("a file");
                let code = whole.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                found.extend(code.lines().map(|line| (path.clone(), line.to_string())));
            }
        }
    }
    assert!(found.len() > 500, "{krate} is read");
    found
}

#[test]
fn rules_and_searches_do_no_io() {
    for krate in ["core", "domains", "jobs"] {
        for (path, line) in lines(krate) {
            for word in ["std::fs", "std::net", "std::process::", "std::env::", "println!"] {
                let comment = line.trim_start().starts_with("//");
                assert!(comment || !line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn the_clock_is_read_where_the_invariants_say() {
    for krate in ["core", "domains", "jobs"] {
        for (path, line) in lines(krate) {
            let reads = line.contains("Instant::now()") || line.contains("SystemTime::now()");
            let may = ["run.rs", "play.rs", "player.rs"].iter().any(|file| path.ends_with(file));
            assert!(may || !reads, "{}: {line}", path.display());
        }
    }
}

/// Names at the root of a crate, as its export block lists them.
fn exported(page: &str) -> usize {
    let mut rest = page;
    let mut names = 0;
    while let Some((_, after)) = rest.split_once("\npub use ") {
        let (item, after) = after.split_once(';').expect("an item ends");
        names += item
            .split_once('{')
            .map_or(1, |(_, list)| list.split(',').filter(|n| n.trim().len() > 1).count());
        rest = after;
    }
    names
}

/// What a page of documentation can show. It may only shrink.
#[test]
fn public_names_are_few() {
    let front = exported(&text("crates/sortie/src/lib.rs"));
    assert!(front <= 50, "sortie has {front} names at its root");
    let core = exported(&text("crates/core/src/lib.rs"));
    assert!(core <= 110, "core has {core} names at its root");
}
