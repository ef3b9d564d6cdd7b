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

/// What stands in backticks in a text.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The code map, section by section: the folder it is about, and its text.
fn sections() -> Vec<(String, String)> {
    let page = text("ARCHITECTURE.md");
    let map = page.split("## The code map").nth(1).expect("the section is there");
    let map = map.split("\n## ").next().unwrap_or_default();
    let section = |part: &str| {
        let folder = quoted(part).first().expect("a section is about a folder").to_string();
        (folder, part.split_once('\n').expect("there is more to it").1.to_string())
    };
    map.split("\n### ").skip(1).map(section).collect()
}

#[test]
fn the_code_map_names_files_that_are_there_and_leaves_none_out() {
    let sections = sections();
    let mapped: Vec<&str> =
        sections.iter().filter_map(|(folder, _)| folder.strip_prefix("crates/")).collect();
    for (name, ..) in rows() {
        assert!(mapped.contains(&name.as_str()), "{name} has no section");
    }
    for (folder, section) in &sections {
        let home = root().join(folder);
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let cell = quoted(row.split('|').nth(1).unwrap_or_default());
            for path in cell.into_iter().filter(|word| word.contains(['.', '/'])) {
                let there = ["src", ""].iter().any(|base| home.join(base).join(path).exists());
                assert!(there, "{folder}: {path} is not there");
            }
        }
        let named = quoted(section);
        for entry in fs::read_dir(home.join("src")).expect("sources") {
            let entry = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            let stem = entry.trim_end_matches(".rs");
            // The tests of a file belong to it; the tests of a crate need no row.
            if stem == "lib" || stem.ends_with("tests") || entry.ends_with(".txt") {
                continue;
            }
            let about = |path: &&&str| path.split('/').any(|part| part.trim_end_matches(".rs") == stem);
            assert!(named.iter().find(about).is_some(), "{folder}: nothing is said of {entry}");
        }
    }
}

/// An invariant, by its number, as one line.
fn invariant(number: usize) -> String {
    let page = text("ARCHITECTURE.md");
    let list = page.split("\n## Invariants\n").nth(1).expect("the section is there");
    let begin = format!("\n{number}. ");
    let rest = list.split(&begin).nth(1).unwrap_or_else(|| panic!("there is no invariant {number}"));
    let end = rest.find(&format!("\n{}. ", number + 1)).or(rest.find("\n\n")).unwrap_or(rest.len());
    rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The crates and the files that an invariant speaks of.
fn spoken_of(invariant: &str) -> (Vec<&str>, Vec<&str>) {
    quoted(invariant).into_iter().partition(|word| !word.ends_with(".rs"))
}

/// Every line of a crate that is neither a comment nor a test, with its file; oracles are for tests.
fn code(krate: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates").join(krate).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs")
                && !path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
                && !path.ends_with("oracle.rs")
            {
                let whole = fs::read_to_string(&path).expect("a file");
                let code = whole.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.extend(lines.map(|line| (path.clone(), line.to_string())));
            }
        }
    }
    assert!(found.len() > 200, "{krate} is read");
    found
}

#[test]
fn rules_and_searches_do_no_io() {
    let first = invariant(1);
    let (crates, _) = spoken_of(&first);
    assert_eq!(crates, ["core", "domains", "jobs"], "the first invariant names them");
    for krate in crates {
        for (path, line) in code(krate) {
            for word in ["std::fs", "std::net", "std::process::", "std::env::", "println!", "std::io::std"] {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn the_clock_is_read_where_the_invariants_say() {
    let first = invariant(1);
    let (crates, files) = spoken_of(&first);
    let mut read_in = BTreeSet::new();
    for krate in crates {
        for (path, line) in code(krate) {
            if [
                "Instant::now()",
                "SystemTime::now()",
                "UNIX_EPOCH",
                "ProcessTime::now()",
                "ThreadTime::now()",
            ]
            .iter()
            .any(|clock| line.contains(clock))
            {
                let file = files.iter().find(|file| path.ends_with(file));
                read_in.insert(*file.unwrap_or_else(|| panic!("{}: {line}", path.display())));
            }
        }
    }
    assert_eq!(read_in, files.into_iter().collect(), "a file of the first invariant reads no clock");
}

#[test]
fn a_search_names_no_domain_and_a_domain_no_search_but_where_it_suits() {
    let table = text("crates/domains/src/registry.rs");
    let modules = table.split("&crate::").skip(1).filter_map(|rest| rest.split("::").next());
    let names: BTreeSet<&str> = modules.filter(|name| *name != "toy").collect();
    assert!(names.len() > 10, "{names:?}");
    for (path, line) in code("core") {
        let words = || line.split(|c: char| !c.is_alphanumeric());
        let said = names.iter().find(|name| words().any(|word| word == **name));
        // An error shows what an instance looks like.
        assert!(said.is_none() || line.contains("#[error"), "{}: {line}", path.display());
    }
    let mut function = String::new();
    for (path, line) in code("domains") {
        if let Some((_, after)) = line.split_once("fn ") {
            function = after.split(['(', '<']).next().unwrap_or_default().to_string();
        }
        assert!(!line.contains("Search::") || function == "suits", "{}: {line}", path.display());
    }
}

#[test]
fn there_are_no_globals_but_those_of_the_invariants() {
    let third = invariant(3);
    let (_, files) = spoken_of(&third);
    let shared = ["OnceLock", "LazyLock", "Mutex", "RwLock", "Atomic", "Cell<", ": Once "];
    let mut found = BTreeSet::new();
    for (krate, ..) in rows() {
        for (path, line) in code(&krate) {
            let line = line.trim_start();
            let declares =
                ["static ", "pub static ", "pub(crate) static "].iter().any(|s| line.starts_with(s));
            let changes = line.contains("static mut") || shared.iter().any(|kind| line.contains(kind));
            if line.starts_with("thread_local!") || declares && changes {
                let file = files.iter().find(|file| path.ends_with(file));
                found.insert(*file.unwrap_or_else(|| panic!("{}: {line}", path.display())));
            }
            if let Some((_, after)) = line.split_once("env::var") {
                let name = after.split('"').nth(1).unwrap_or("what is not said there");
                assert!(quoted(&third).contains(&name), "{}: {line}", path.display());
            }
        }
    }
    assert_eq!(found, files.into_iter().collect(), "a file of the third invariant has no global");
}

/// What a function, a type or a table is told by one file is held in one head.
#[test]
fn files_end_at_900_lines() {
    for (krate, ..) in rows() {
        let mut folders = vec![root().join("crates").join(krate)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.ends_with("target") {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let lines = fs::read_to_string(&path).expect("a file").lines().count();
                    assert!(lines <= 900, "{} has {lines} lines", path.display());
                }
            }
        }
    }
}

/// Names on the front page of a crate: its public modules, and what its export block lists.
fn exported(page: &str) -> usize {
    let mut rest = page;
    let mut names =
        page.match_indices("\npub mod ").count() - page.match_indices("#[doc(hidden)]\npub mod ").count();
    names += page.match_indices("\npub fn ").count();
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
    assert!(front <= 40, "sortie has {front} names at its root");
    let core = exported(&text("crates/core/src/lib.rs"));
    assert!(core <= 60, "core has {core} names at its root");
}
