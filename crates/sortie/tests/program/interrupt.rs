//! Killed, interrupted, damaged: a run goes on where it was and ends where it would have.

use crate::home::interrupt;
use crate::{Home, moves, record_moves, until};
use serde_json::Value;
use sortie_core::run::StreamCheckpoint;
use sortie_core::{Record, Rng};
use std::process::Child;
use std::time::Instant;

/// A search of level 3 that takes a second or two, and saves its state often.
const SOLVE: &str = "solve samegame/1 --level 3 --iterations 22 --seed 7 --best-of 3 --threads 2 \
                     --checkpoint-every 50ms --quiet --json --out";
const RESUME: &str = "--checkpoint-every 50ms --quiet --json";

/// Playouts of all streams by the last checkpoint of a run (its format is in docs/formats.md).
fn saved_playouts(home: &Home, folder: &str) -> u64 {
    let Ok(bytes) = std::fs::read(home.path(folder).join("checkpoint")) else { return 0 };
    let body = &bytes[b"sortie checkpoint 1\n".len() + 4..];
    let (_, _, _, streams): (String, f64, f64, Vec<StreamCheckpoint>) =
        postcard::from_bytes(body).expect("whole");
    streams.iter().map(|stream| stream.playouts).sum()
}

/// Kills a run some milliseconds after so many playouts were saved. False if it came to its end before.
fn kill_at(home: &Home, folder: &str, mut child: Child, playouts: u64, milliseconds: f64) -> bool {
    let mut reached = None;
    let mut ended = false;
    until("the moment to kill", || {
        ended = child.try_wait().expect("a child").is_some();
        if reached.is_none() && saved_playouts(home, folder) >= playouts {
            reached = Some(Instant::now());
        }
        ended || reached.is_some_and(|at| at.elapsed().as_secs_f64() * 1000.0 >= milliseconds)
    });
    child.kill().expect("SIGKILL");
    child.wait().expect("a child");
    !ended
}

/// The best score that the events of a run announce.
fn announced(home: &Home, folder: &str) -> Option<f64> {
    let text = std::fs::read_to_string(home.path(folder).join("events.jsonl")).ok()?;
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .filter(|event| event["event"] == "improved")
        .filter_map(|event| event["score"].as_f64())
        .reduce(f64::max)
}

/// After a crash the announced best is on disk, and it is right.
fn check_announced(home: &Home, folder: &str) {
    let Some(announced) = announced(home, folder) else { return };
    let record = Record::parse(&home.read(&format!("{folder}/best.record"))).expect("a whole record");
    assert!(record.score >= announced, "{announced} was announced and {} is there", record.score);
    assert_eq!(home.run(&format!("verify {folder}")).code, 0);
}

#[test]
fn killed_at_ten_random_moments_it_ends_with_the_same_moves() {
    let home = Home::new();
    let whole = home.json(&format!("{SOLVE} whole"));
    let total = whole["playouts"].as_f64().unwrap();
    let mut rng = Rng::new(1, 0);
    let mut interrupted = 0;
    for trial in 0..10 {
        let folder = format!("run{trial}");
        let mut kill = |line: String, part: f64| {
            let child = home.spawn(&line);
            until("the spec", || home.path(&folder).join("spec.toml").exists());
            let killed = kill_at(&home, &folder, child, (part * total) as u64, 60.0 * rng.unit());
            check_announced(&home, &folder);
            u32::from(killed)
        };
        // One in each tenth of the run; every third is killed once more while it goes on.
        interrupted += kill(format!("{SOLVE} {folder}"), trial as f64 / 10.0);
        if trial % 3 == 0 {
            kill(format!("resume {folder} {RESUME}"), (trial as f64 + 2.0) / 12.0);
        }
        let result = home.json(&format!("resume {folder} {RESUME}"));
        assert_eq!(moves(&result), moves(&whole), "trial {trial}");
        assert_eq!((&result["score"], &result["playouts"]), (&whole["score"], &whole["playouts"]));
        assert_eq!(record_moves(&home.path(&folder).join("best.record")), moves(&whole));
        assert_eq!(home.run(&format!("verify {folder}")).code, 0);
    }
    assert!(interrupted >= 5, "only {interrupted} of the kills came before the end");
}

#[test]
fn without_a_checkpoint_it_starts_again_and_keeps_its_best() {
    let home = Home::new();
    let whole = home.json(&format!("{SOLVE} whole"));
    let half = whole["playouts"].as_u64().unwrap() / 2;
    for damage in ["gone", "cut", "changed"] {
        let folder = format!("run-{damage}");
        let child = home.spawn(&format!("{SOLVE} {folder}"));
        assert!(kill_at(&home, &folder, child, half, 0.0), "killed before its end");
        let path = home.path(&folder).join("checkpoint");
        let mut bytes = std::fs::read(&path).unwrap();
        match damage {
            "gone" => std::fs::remove_file(&path).unwrap(),
            "cut" => std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
            _ => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x55;
                std::fs::write(&path, bytes).unwrap();
            }
        }
        let ran = home.run(&format!("resume {folder} {RESUME}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("from the beginning"), damage != "gone", "{}", ran.stderr);
        assert_eq!(moves(&ran.json()), moves(&whole));
    }
}

#[test]
fn a_best_from_before_is_never_lost() {
    let home = Home::new();
    home.json("solve samegame/1 --playouts 20000 --best-of 1 --seed 1 --quiet --json --out good");
    home.json("solve samegame/1 --playouts 10 --best-of 1 --seed 2 --quiet --json --out run");
    // As if the run had announced this and then lost its checkpoint.
    std::fs::copy(home.path("good/best.record"), home.path("run/best.record")).unwrap();
    std::fs::remove_file(home.path("run/checkpoint")).unwrap();
    std::fs::remove_file(home.path("run/result.json")).unwrap();
    let result = home.json("resume run --quiet --json");
    assert_eq!(moves(&result), record_moves(&home.path("good/best.record")));
    assert_eq!(record_moves(&home.path("run/best.record")), moves(&result));
}

#[test]
fn a_false_record_does_not_stand_in_the_way() {
    let home = Home::new();
    let whole = home.json("solve samegame/1 --playouts 2000 --best-of 1 --seed 1 --quiet --json --out run");
    let record = home.read("run/best.record");
    let score = format!("score = {}", whole["score"]);
    for false_record in [record.replace(&score, "score = 99999"), record + "a1", "nonsense".into()] {
        home.write("run/best.record", &false_record);
        std::fs::remove_file(home.path("run/result.json")).unwrap();
        let result = home.json("resume run --quiet --json");
        assert_eq!((moves(&result), &result["score"]), (moves(&whole), &whole["score"]));
        assert_eq!(home.run("verify run").code, 0);
    }
}

#[test]
fn a_run_that_has_ended_says_so_and_can_be_given_more_time() {
    let home = Home::new();
    let first = home.json("solve samegame/1 --playouts 3000 --seed 1 --quiet --json --out run");
    let ran = home.run("resume run --json");
    assert_eq!((ran.code, ran.json()), (0, first.clone()));
    assert!(ran.stderr.contains("has ended"), "{}", ran.stderr);
    let ran = home.run("resume run");
    assert!(ran.code == 0 && ran.stdout.contains("abcdefghijklmno"), "the board: {}", ran.stdout);
    let more = home.json("resume run --time 300ms --quiet --json");
    assert_eq!(more["reason"], "time");
    assert!(more["playouts"].as_u64() > first["playouts"].as_u64());
    assert!(more["score"].as_f64() >= first["score"].as_f64());
    // What the first session took after its last checkpoint depends on the machine, so no more can be said.
    assert!(more["seconds"].as_f64().unwrap() >= 0.3);
    let events = home.read("run/events.jsonl");
    assert_eq!(events.matches("\"event\":\"resumed\"").count(), 1);
    assert_eq!(events.matches("\"event\":\"finished\"").count(), 2);
}

#[test]
fn a_spec_that_was_changed_is_told_apart_from_its_checkpoint() {
    let home = Home::new();
    home.json("solve samegame/1 --playouts 3000 --seed 1 --quiet --json --out run");
    std::fs::remove_file(home.path("run/result.json")).unwrap();
    home.write("run/spec.toml", home.read("run/spec.toml").replace("seed = 1", "seed = 2"));
    let ran = home.run("resume run --quiet --json");
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("another spec"), "{}", ran.stderr);
}

#[test]
fn two_processes_do_not_work_on_one_run() {
    let home = Home::new();
    let mut child = home.spawn("solve samegame/1 --time 100s --quiet --out run");
    until("the first record", || home.path("run/best.record").exists());
    let ran = home.run("resume run");
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1));
    assert!(ran.stderr.contains("another process"), "{}", ran.stderr);
    assert_eq!(home.run("verify run").code, 0, "reading is always allowed");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_with_its_best_and_it_can_go_on() {
    for signal in ["-INT", "-TERM"] {
        let home = Home::new();
        let whole = home.json(&format!("{SOLVE} whole"));
        let child = home.spawn(&SOLVE.replace("--quiet --json --out", "--out run"));
        until("a checkpoint", || home.path("run/checkpoint").exists());
        let ran = interrupt(child, signal);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("interrupted") && ran.stdout.contains("resume run"), "{}", ran.stdout);
        let saved: Value = serde_json::from_str(&home.read("run/result.json")).unwrap();
        assert_eq!(saved["reason"], "asked");
        assert_eq!(home.run("verify run").code, 0);
        let result = home.json(&format!("resume run {RESUME}"));
        assert_eq!((moves(&result), &result["reason"]), (moves(&whole), &Value::from("done")));
    }
}
