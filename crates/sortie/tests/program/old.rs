//! Folders that earlier programs left (`tests/old`, one of each kind, written before the run folder was a crate of its own):
//! they are shown, verified and gone on with.

use crate::Home;
use std::fs;
use std::path::Path;

/// A copy of what was kept.
fn unpack(home: &Home, name: &str) {
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old").join(name), &home.path(name));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("what was kept") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).expect("a file");
        }
    }
}

#[test]
fn a_search_goes_on_from_its_checkpoint() {
    let home = Home::new();
    unpack(&home, "stopped");
    let before: serde_json::Value = serde_json::from_str(&home.read("stopped/result.json")).expect("JSON");
    let events = home.read("stopped/events.jsonl");
    let ran = home.run("resume stopped --time 100ms --quiet --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("checkpoint"), "it was used: {}", ran.stderr);
    let after = ran.json();
    assert!(after["score"].as_f64() >= before["score"].as_f64(), "{after}");
    assert!(home.read("stopped/events.jsonl").starts_with(&events), "what was told stays");
    assert_eq!(home.run("verify stopped").code, 0);
}

#[test]
fn whatever_has_ended_says_so_again_and_changes_nothing() {
    for (name, log, more) in [
        ("solve", "events.jsonl", ""),
        ("match", "games.jsonl", ""),
        ("tune", "games.jsonl", ""),
        ("prove", "jobs.jsonl", ""),
        ("campaign", "tries.jsonl", " --time 1ms"),
        #[cfg(feature = "neural")]
        ("data", "games.jsonl", ""),
    ] {
        let home = Home::new();
        unpack(&home, name);
        let log = format!("{name}/{log}");
        let before = home.read(&log);
        let ran = home.run(&format!("resume {name} --quiet{more}"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        assert!(home.read(&log).starts_with(&before), "{name}: {} was lost", log);
        if more.is_empty() {
            assert_eq!(home.read(&log), before, "{name}");
        }
        if ["solve", "match", "tune"].contains(&name) {
            assert_eq!(home.run(&format!("verify {name}")).code, 0, "{name}");
        }
    }
}

#[test]
fn folders_of_the_laboratory_are_named() {
    let home = Home::new();
    home.write("study.toml", "format = 1\n");
    let ran = home.run("resume .");
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("lab resume ."), "{}", ran.stderr);
}
