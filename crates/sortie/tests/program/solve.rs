//! `sortie solve` and what it leaves behind.

use crate::{Home, finish, moves, record_moves, until};
use serde_json::Value;

#[test]
fn a_run_ends_with_the_board_the_score_and_a_record_that_verifies() {
    let home = Home::new();
    let ran = home.run("solve samegame/1 --time 500ms --seed 7");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let board = ran.stdout.contains("abcdefghijklmno") || ran.stdout.contains("the board is cleared");
    assert!(board, "the board: {}", ran.stdout);
    assert!(ran.stdout.contains("best known 3413 points"), "{}", ran.stdout);
    assert!(ran.stderr.contains("solving samegame/1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("best "), "improvements are told: {}", ran.stderr);
    assert_eq!(home.names(), ["runs"]);
    let folder = ran.stdout.lines().find_map(|line| line.strip_prefix("folder")).expect("the folder").trim();
    assert!(folder.starts_with("runs/samegame-1-nrpa-") && folder.ends_with("-s7"), "{folder}");
    let verified = home.run(&format!("verify {folder}"));
    assert_eq!((verified.code, verified.stdout.starts_with("OK  samegame/1  score ")), (0, true));
    assert!(home.read(&format!("{folder}/spec.toml")).contains("seconds = 0.5"));
}

#[test]
fn json_is_one_object_with_everything() {
    let home = Home::new();
    let ran = home.run(
        "solve samegame/3 --search nrpa --level 2 --iterations 20 --alpha 1 --seed 7 --threads 1 --best-of 2 \
         --json --quiet --out run",
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "quiet");
    let result = ran.json();
    for (key, expected) in [
        ("domain", "samegame"),
        ("instance", "samegame/3"),
        ("search", "nrpa"),
        ("reason", "done"),
        ("folder", "run"),
        ("record", "run/best.record"),
        ("version", env!("CARGO_PKG_VERSION")),
    ] {
        assert_eq!(result[key], expected, "{key}");
    }
    for (key, expected) in
        [("seed", 7), ("streams", 2), ("threads", 1), ("playouts", 2 * 20 * 20), ("best_known", 4019)]
    {
        assert_eq!(result[key], expected, "{key}");
    }
    for key in ["score", "seconds", "cpu_seconds", "cells_left"] {
        assert!(result[key].is_number(), "{key}: {}", result[key]);
    }
    assert_eq!(result["parameters"]["iterations"], 20);
    assert_eq!(moves(&result), record_moves(&home.path("run/best.record")));
    let saved: Value = serde_json::from_str(&home.read("run/result.json")).unwrap();
    assert_eq!(saved, result);
}

#[test]
fn a_beam_grows_is_the_same_at_any_number_of_threads_and_verifies() {
    let home = Home::new();
    let line = "solve coil/13-6:symmetric=1 --search beam --width 600 --noise 60 --seed 1 --best-of 2 --playouts 150000 \
                --quiet --json --out";
    let result = home.json(&format!("{line} one --threads 1"));
    // 38 is what the first beams of 128 have.
    assert!(result["score"].as_f64().is_some_and(|score| score >= 42.0), "{}", result["score"]);
    assert_eq!(moves(&result), moves(&home.json(&format!("{line} two --threads 2"))));
    assert_eq!(home.run("verify one").code, 0);
    // One whole search by its width alone, without a limit.
    let whole =
        home.json("solve snake/7 --search beam --width 200 --seed 1 --best-of 1 --quiet --json --out snake");
    assert_eq!(whole["reason"], "done");
    assert!(whole["score"].as_f64().is_some_and(|score| score >= 45.0), "{}", whole["score"]);
}

#[test]
fn routes_tell_their_vehicles_and_distance() {
    let home = Home::new();
    let result = home.json("solve vrptw/R101 --playouts 200 --seed 1 --best-of 1 --quiet --json --out run");
    for key in ["vehicles", "distance"] {
        assert!(result[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {}", result[key]);
    }
    assert_eq!(home.run("verify run").code, 0);
}

#[test]
fn events_tell_the_story_in_order() {
    let home = Home::new();
    let result =
        home.json("solve samegame/1 --level 2 --iterations 30 --seed 2 --best-of 1 --json --out run");
    let events = home.read("run/events.jsonl");
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["event"], "started");
    assert_eq!(events.last().unwrap()["event"], "finished");
    assert_eq!(events.last().unwrap()["score"], result["score"]);
    let improved: Vec<f64> =
        events.iter().filter(|e| e["event"] == "improved").map(|e| e["score"].as_f64().unwrap()).collect();
    assert!(improved.is_sorted() && improved.last() == result["score"].as_f64().as_ref(), "{improved:?}");
}

#[test]
fn the_same_seed_gives_the_same_moves_at_any_number_of_threads() {
    let home = Home::new();
    for search in
        ["--level 2 --iterations 40", "--playouts 4001", "--search nmcs --level 1", "--patience 300"]
    {
        let line = |threads: u32| {
            format!("solve samegame/1 --seed 5 --best-of 4 --threads {threads} {search} --json --quiet")
        };
        let [one, two, again] = [1, 2, 2].map(|threads| home.json(&line(threads)));
        for other in [&two, &again] {
            assert_eq!(moves(&one), moves(other), "{search}");
            assert_eq!((&one["score"], &one["playouts"]), (&other["score"], &other["playouts"]), "{search}");
        }
        let another = home.json(&line(2).replace("seed 5", "seed 6"));
        assert_ne!(moves(&one), moves(&another), "{search}: seeds differ");
    }
}

#[test]
fn limits_end_a_run_and_are_named() {
    let home = Home::new();
    for (options, reason) in [
        ("--playouts 1000", "playouts"),
        ("--time 200ms", "time"),
        ("--cpu-time 100ms", "cpu-time"),
        ("--target 5", "target"),
        ("--patience 500", "patience"),
        ("--level 1", "done"),
    ] {
        let result = home.json(&format!("solve leftmove/8 {options} --quiet --json"));
        assert_eq!(result["reason"], reason, "{options}");
    }
    let counted = home.json("solve leftmove/8 --playouts 1001 --best-of 4 --quiet --json");
    assert_eq!(counted["playouts"], 1001);
    let missed = home.run("solve leftmove/8 --target 9 --playouts 1000 --quiet --json");
    assert_eq!(
        (missed.code, &missed.json()["reason"]),
        (1, &Value::from("playouts")),
        "a target not reached"
    );
}

#[test]
fn a_seed_that_was_drawn_is_told_and_repeats_the_run() {
    let home = Home::new();
    let first = home.json("solve samegame/1 --playouts 300 --best-of 1 --quiet --json");
    let again = home.json(&format!(
        "solve samegame/1 --playouts 300 --best-of 1 --seed {} --quiet --json",
        first["seed"]
    ));
    assert_eq!(moves(&first), moves(&again));
    assert_ne!(first["folder"], again["folder"], "each run has a folder of its own");
}

#[test]
fn an_instance_file_is_kept_with_the_run() {
    let home = Home::new();
    home.write("board.txt", "0011\n2011\n2200\n");
    let line = "solve samegame/board.txt --playouts 200 --seed 1 --best-of 1 --quiet --json --out run";
    let result = home.json(line);
    std::fs::remove_file(home.path("board.txt")).unwrap();
    assert_eq!(home.run("verify run run/best.record").code, 0);
    assert_eq!(home.run("show run").code, 0);
    let more = home.json("resume run --time 100ms --quiet --json");
    assert!(more["score"].as_f64() >= result["score"].as_f64());
    // An absolute path is an instance too.
    home.write("board.txt", "0011\n2011\n2200\n");
    let whole = format!("samegame/{}", home.path("board.txt").display());
    let again = home.json(&format!("solve {whole} --playouts 200 --seed 1 --best-of 1 --quiet --json"));
    assert_eq!(moves(&result), moves(&again));
}

#[test]
fn a_folder_that_vanishes_does_not_end_the_search() {
    let home = Home::new();
    let child = home.spawn("solve samegame/1 --time 1500ms --seed 1 --checkpoint-every 100ms --out run");
    until("the first record", || home.path("run/best.record").exists());
    std::fs::rename(home.path("run"), home.path("gone")).unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("warning").count(), 1, "warned once: {}", ran.stderr);
    // The record that could not be written is printed instead.
    let record = ran.stdout.split_once("sortie record 1").expect("a record").1;
    home.write("printed.record", format!("sortie record 1{record}"));
    assert_eq!(home.run("verify printed.record").code, 0);
    assert!(!home.path("run").exists(), "what was moved away is not made again");
}

#[test]
fn improved_routes_verify_and_come_again_from_their_seed() {
    let home = Home::new();
    let solve = |folder: &str, threads: u32| {
        home.json(&format!(
            "solve vrptw/R103 --level 2 --bias --improve --playouts 800 --seed 3 --best-of 2 --threads {threads} \
             --quiet --json --out {folder}"
        ))
    };
    let (first, again) = (solve("first", 1), solve("again", 2));
    assert_eq!((&first["moves"], &first["score"]), (&again["moves"], &again["score"]));
    assert_eq!(home.run("verify first again").code, 0);
    assert!(home.read("first/spec.toml").contains("improve = true"));
    let plain =
        home.json("solve vrptw/R103 --level 2 --bias --playouts 800 --seed 3 --quiet --json --out plain");
    assert!(plain["score"].as_f64() < first["score"].as_f64());
    assert!(home.run("solve vrptw/R103 --search nmcs --improve").stderr.contains("no --improve"));
}
