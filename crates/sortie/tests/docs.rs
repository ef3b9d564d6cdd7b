//! The documents, held to what the program does: the tutorial runs, links lead somewhere, and every domain and search
//! is described.

use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How long the tutorial's commands run here, whatever it says.
const SHORT_TIME: &str = "200ms";
const SHORT_SECONDS: &str = "0.2";

const README_LINES_MAX: usize = 150;
const RESULTS_LINES_MAX: usize = 150;

/// Words that the code and the pages use as if everybody knew them.
const WORDS: [&str; 71] = [
    "adapt",
    "beam",
    "budget",
    "campaign",
    "canopy",
    "catalogue",
    "certificate",
    "checkpoint",
    "claim",
    "code",
    "contract",
    "crew",
    "desk",
    "domain",
    "engine",
    "entry",
    "errand",
    "expert",
    "form",
    "frame",
    "front",
    "gang",
    "gauntlet",
    "grid",
    "guide",
    "hand",
    "home",
    "ident",
    "in flight",
    "instance",
    "island",
    "job",
    "journal",
    "lease",
    "ledger",
    "level",
    "mailbox",
    "measure",
    "member",
    "network",
    "outcome",
    "player",
    "playout",
    "policy",
    "port",
    "portfolio",
    "precondition",
    "prior",
    "probe",
    "proof number",
    "quorum",
    "rank",
    "record",
    "replica",
    "run folder",
    "scribe",
    "session",
    "side",
    "signature",
    "source",
    "specialist",
    "stream",
    "study",
    "subtree",
    "team",
    "thought",
    "ticket",
    "trace",
    "virtual time",
    "witness",
    "worker",
];

#[cfg(unix)]
#[test]
fn the_readme_and_then_the_tutorial_run() {
    let mut script = String::from("set -euo pipefail\n");
    let readme = read(&root().join("README.md"));
    // What is on the path by then is what the first lines build.
    let readme = readme.replace("cargo run --release -- ", "sortie ");
    let tutorial = read(&root().join("docs/tutorial.md"));
    for line in blocks(&readme, "sh").into_iter().chain(blocks(&tutorial, "sh")) {
        let mut words: Vec<&str> = line.split(' ').collect();
        for i in 1..words.len() {
            match words[i - 1] {
                "--time" => words[i] = SHORT_TIME,
                "--seconds" => words[i] = SHORT_SECONDS,
                _ => {}
            }
        }
        script += &words.join(" ");
        script.push('\n');
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    std::os::unix::fs::symlink(root().join("records"), home.path().join("records")).expect("a link");
    let program = Path::new(env!("CARGO_BIN_EXE_sortie")).parent().expect("in a folder");
    let path = std::env::var("PATH").expect("a path");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(home.path())
        .env("PATH", format!("{}:{path}", program.display()))
        .output()
        .expect("bash starts");
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (told(&output.stdout), told(&output.stderr));
    assert!(output.status.success(), "{script}\n{out}\n{err}");
    // The three refusals and the comparison that the text speaks of.
    for said in ["exit code 1", "exit code 2", "the same moves"] {
        assert!(out.contains(said), "no '{said}' in\n{out}\n{err}");
    }
    assert!(err.contains("move 4 '5,3:H1' is not legal"), "{err}");
    assert!(err.contains("this run has ended"), "{err}");
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for file in documents() {
        let text = read(&file);
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { file.with_file_name("").join(path) };
            assert!(target.exists(), "{}: {link} leads nowhere", file.display());
            assert!(
                anchor.is_empty() || anchors(&read(&target)).contains(anchor),
                "{}: {link} has no such heading",
                file.display()
            );
            count += 1;
        }
    }
    assert!(count > 30, "only {count} links found");
}

#[test]
fn every_domain_and_search_is_described() {
    let output = Command::new(env!("CARGO_BIN_EXE_sortie")).args(["list", "--json"]).output();
    let list: Value = serde_json::from_slice(&output.expect("the program starts").stdout).expect("JSON");
    let names = |key: &str| -> Vec<String> {
        let rows = list[key].as_array().expect("a list").iter();
        rows.map(|row| row["name"].as_str().expect("a name").to_string()).collect()
    };
    let readme = read(&root().join("README.md"));
    let domains = read(&root().join("docs/domains.md"));
    for name in names("domains") {
        assert!(readme.contains(&format!("`{name}`")), "README.md does not name the domain {name}");
        assert!(domains.contains(&format!("`{name}`")), "docs/domains.md does not name the domain {name}");
    }
    let summary = read(&root().join("docs/SUMMARY.md"));
    for name in names("searches") {
        let page = format!("searches/{name}.md");
        assert!(root().join("docs").join(&page).exists(), "the search {name} has no page docs/{page}");
        assert!(summary.contains(&page), "docs/SUMMARY.md does not list {page}");
        assert!(readme.contains(&format!("`{name}`")), "README.md does not name the search {name}");
    }
    assert!(readme.lines().count() < README_LINES_MAX, "README.md is too long");
}

#[test]
fn the_results_are_one_page_with_the_command_of_every_figure() {
    let text = read(&root().join("docs/results.md"));
    assert!(text.lines().count() <= RESULTS_LINES_MAX, "docs/results.md is too long: the notebook has room");
    let mut figures = 0;
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.ends_with("| command |")) {
        let command = line.trim_end_matches(['|', ' ']).rsplit("| ").next().expect("a cell");
        let known = ["`sortie ", "`lab ", "`bench/", "`ci/", "`cargo ", "`mpirun ", "`python "];
        assert!(known.iter().any(|start| command.starts_with(start)), "no command: {line}");
        if let Some(script) = command.trim_matches('`').split(' ').next().filter(|word| word.contains('/')) {
            assert!(root().join(script).exists(), "{script} is not there: {line}");
        }
        figures += 1;
    }
    assert!(figures > 30, "only {figures} figures found");
}

/// The recipes are files that are built and tested; the text shows them as they are.
#[test]
fn the_recipes_are_printed_as_they_are_built() {
    let text = read(&root().join("CONTRIBUTING.md"));
    let mut count = 0;
    for part in text.split("<!-- recipe: ").skip(1) {
        let (path, rest) = part.split_once(" -->\n```rust\n").expect("a path, and a block of Rust below it");
        let (block, _) = rest.split_once("\n```\n").expect("an end of the block");
        assert_eq!(block, read(&root().join(path)).trim_end(), "CONTRIBUTING.md shows another {path}");
        count += 1;
    }
    assert_eq!(count, 2, "recipes");
}

#[test]
fn the_glossary_is_complete_and_in_order() {
    let text = read(&root().join("docs/glossary.md"));
    let names = text.lines().filter_map(|line| line.strip_prefix("**")?.split("**").next());
    let names: Vec<String> = names.map(|name| name.to_lowercase().replace('-', " ")).collect();
    for pair in names.windows(2) {
        assert!(pair[0] < pair[1], "'{}' stands before '{}'", pair[0], pair[1]);
    }
    for word in WORDS {
        assert!(names.iter().any(|name| name == word), "the glossary does not explain '{word}'");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages, at the root and in the book.
fn documents() -> Vec<PathBuf> {
    let folders =
        ["", "docs", "docs/searches", "docs/notebook", "docs/notes"].map(|folder| root().join(folder));
    let files = folders
        .iter()
        .filter(|folder| folder.exists())
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect()
}

/// The lines of all blocks of code in one language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let (mut inside, mut wanted, mut lines) = (false, false, Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("```") {
            inside = !inside;
            wanted = inside && name == language;
        } else if wanted {
            lines.push(line);
        }
    }
    lines
}

/// The targets of links within the repository.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

/// What a link into a page may name: its headings, as the renderers spell them, and named places.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let kept =
            line.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    });
    let places = text.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    headings.chain(places.map(String::from)).collect()
}
