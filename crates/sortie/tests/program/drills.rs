//! What may happen to any long command: it is asked to stop, its folder is of another version, the disk is full. Nothing
//! that was found is lost, and it goes on. `sortie bench resume` and `ci/drills.sh` have the drills that take longer.

use crate::{Home, until};

/// A command that takes seconds, and the log it writes.
const LONG: [(&str, &str); 5] = [
    (
        "match nim/21 --player default --player plain --limit 2000playouts --games 60 --concurrency 1",
        "games.jsonl",
    ),
    (
        "tune nim/21 --player plain --param c=0.1..2.0 --against random --games 60 --limit 2000playouts --concurrency 1",
        "games.jsonl",
    ),
    ("prove breakthrough/4x4 --job-nodes 8 --jobs 4000 --workers 1", "jobs.jsonl"),
    (
        "scale nim/21 --virtual --forms tds --nodes 1,2 --threads 3 --time 3ms --player plain --positions 3 --games 60",
        "games.jsonl",
    ),
    ("reproduce samegame-table1 --rows 1..4 --time 300ms --threads 1", "cells.jsonl"),
];

fn lines(home: &Home, file: &str) -> usize {
    std::fs::read_to_string(home.path(file)).map_or(0, |text| text.lines().count())
}

#[cfg(unix)]
#[test]
fn sigterm_is_the_first_ctrl_c_and_resume_goes_on() {
    for (command, log) in LONG {
        let home = Home::new();
        let child = home.spawn(&format!("{command} --out run"));
        until("the first line of its log", || lines(&home, &format!("run/{log}")) > 0);
        let ran = crate::interrupt::interrupt(child, "-TERM");
        assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
        let before = home.read(&format!("run/{log}"));
        assert!(
            ran.stderr.contains("stopped") && ran.stderr.contains("resume run"),
            "{command}: {}",
            ran.stderr
        );
        assert!(before.ends_with('\n'), "{command}: whole lines");
        let ran = home.run("resume run --quiet");
        assert!([0, 1].contains(&ran.code), "{command}: {} {}", ran.code, ran.stderr);
        let after = home.read(&format!("run/{log}"));
        assert!(after.starts_with(&before) && after.len() > before.len(), "{command}: it went on");
        let again = home.run("resume run --quiet");
        assert_eq!(
            (again.code, home.read(&format!("run/{log}"))),
            (ran.code, after),
            "{command}: all was done"
        );
    }
}

#[test]
fn folders_of_other_versions_are_refused_and_left_alone() {
    let home = Home::new();
    home.json("solve leftmove/9 --level 1 --playouts 9 --seed 1 --quiet --json --out solve");
    let match_ =
        "match nim/9 --player random --player random --games 2 --limit 1playouts --quiet --out match";
    assert_eq!(home.run(match_).code, 0);
    let tune = "tune nim/9 --player plain --param c=0.1..2.0 --against random --games 2 --limit 1playouts --quiet --out tune";
    assert_eq!(home.run(tune).code, 0);
    assert_eq!(home.run("prove nim/4 --quiet --out prove").code, 0);
    let scale = "scale nim/9 --virtual --forms tds --nodes 1 --threads 3 --time 100us --player plain --positions 3 --games 2 --quiet --out scale";
    assert_eq!(home.run(scale).code, 0);
    let study = "reproduce samegame-table1 --rows 1 --time 20ms --threads 1 --quiet --out study";
    assert_eq!(home.run(study).code, 0);
    for (folder, file) in [
        ("solve", "spec.toml"),
        ("match", "match.toml"),
        ("tune", "tune.toml"),
        ("prove", "prove.toml"),
        ("scale", "scale.toml"),
        ("scale", "command.toml"),
        ("study", "study.toml"),
    ] {
        let file = format!("{folder}/{file}");
        let text = home.read(&file);
        // A later version may have keys that mean something else, an earlier one may lack some: neither is guessed at.
        for other in [
            text.replace("format = 1", "format = 2\nsomething = \"new\""),
            text.replace("format = 1", "format = 0"),
        ] {
            assert_ne!(text, other, "{file}");
            home.write(&file, &other);
            let ran = home.run(&format!("resume {folder} --quiet"));
            assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{file}: {}", ran.stderr);
            assert!(ran.stderr.contains("another version") && ran.stderr.contains(&file), "{}", ran.stderr);
            assert_eq!(home.read(&file), other, "{file} is left as it is");
        }
        home.write(&file, &text);
        let ran = home.run(&format!("resume {folder} --quiet"));
        assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
    }
    // The same command with the same --out does not misread it either.
    home.write("match/match.toml", home.read("match/match.toml").replace("format = 1", "format = 2"));
    assert!(home.run(match_).stderr.contains("another version"));
    // What began before commands were written down says how it goes on.
    std::fs::remove_file(home.path("scale/command.toml")).unwrap();
    assert!(home.run("resume scale").stderr.contains("sortie scale"));
}

/// A limit on the size of files stands for a full disk: from some moment on nothing can be written any more.
#[cfg(target_os = "linux")]
fn fill(child: &std::process::Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    prlimit(Pid::from_raw(child.id() as i32), Resource::Fsize, limit).expect("a limit on our own child");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_no_search_and_loses_nothing() {
    let home = Home::new();
    let line = "solve samegame/1 --level 3 --iterations 24 --seed 7 --best-of 1 --checkpoint-every 50ms --json --out run";
    let child = home.spawn(line);
    until("a checkpoint", || home.path("run/checkpoint").exists() && home.path("run/best.record").exists());
    fill(&child);
    let ran = crate::finish(child);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("warning: cannot write").count(), 1, "{}", ran.stderr);
    let whole = home.json(&line.replace("--out run", "--quiet --out whole"));
    assert_eq!(crate::moves(&ran.json()), crate::moves(&whole), "it searched on as if nothing had been");
    // What was on the disk before is there, whole, and once there is room again the run ends as it should.
    assert_eq!(home.run("verify run").code, 0);
    assert_eq!(crate::moves(&home.json("resume run --quiet --json")), crate::moves(&whole));
    assert_eq!(home.run("verify run").code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_a_log_with_what_was_found() {
    for (command, log) in LONG {
        let home = Home::new();
        let child = home.spawn(&format!("{command} --quiet --json --out run"));
        until("the first line of its log", || lines(&home, &format!("run/{log}")) > 0);
        let before = home.read(&format!("run/{log}"));
        fill(&child);
        let ran = crate::finish(child);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot write"), "{command}: {}", ran.stderr);
        assert!(!ran.stdout.is_empty(), "{command}: what was found is printed");
        if !command.starts_with("reproduce") {
            let found: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one object");
            assert!(found["instance"].is_string(), "{command}: {found}");
        }
        assert!(home.read(&format!("run/{log}")).starts_with(&before), "{command}: nothing is lost");
        let ran = home.run("resume run --quiet");
        assert!([0, 1].contains(&ran.code), "{command}: {}", ran.stderr);
    }
}
