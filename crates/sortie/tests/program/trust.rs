//! Who may write, who is believed, and what has a bound: each test is named after what once went wrong.

use crate::Home;

/// A short match in the folder `match`.
fn played() -> Home {
    let home = Home::new();
    let line = "match nim/9 --player random --player random --games 4 --limit 1playouts --quiet --out match";
    assert_eq!(home.run(line).code, 0);
    home
}

#[test]
fn readers_leave_the_log_of_a_running_match_alone() {
    let home = played();
    // The writer is in the middle of a line: what every reader of a running match may meet.
    let text = home.read("match/games.jsonl") + "{\"game\":4,\"instance\":\"nim";
    home.write("match/games.jsonl", &text);
    for (line, code) in
        [("verify match", 0), ("verify match/games.jsonl", 0), ("convert match --game 0 --to record", 0)]
    {
        assert_eq!(home.run(line).code, code, "{line}");
        assert_eq!(home.read("match/games.jsonl"), text, "{line} changed the log");
    }
    assert!(home.run("verify match").stdout.contains("OK  4 games"));
    // Whoever goes on with it takes the lock and mends it.
    assert_eq!(home.run("resume match --quiet").code, 0);
    assert_eq!(home.read("match/games.jsonl").lines().count(), 4);
}

#[test]
fn verify_does_not_empty_the_notes_of_somebody() {
    let home = Home::new();
    for text in ["my notes", "{\"my\": \"notes\"}\n", "[1,\n"] {
        home.write("notes.jsonl", text);
        let ran = home.run("verify notes.jsonl");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{text}");
        assert!(ran.stderr.contains("notes.jsonl:1"), "{}", ran.stderr);
        assert_eq!(home.read("notes.jsonl"), text);
    }
}

/// Defect 2: a claim that a volunteer had brought was reported and stored as proved. The journal of a search remembers who
/// brought what, so whoever goes on with it, with a grid or without, proves it again.
#[test]
fn a_claim_of_a_volunteer_is_proved_again_before_it_is_reported_or_stored() {
    let home = Home::new();
    let ran = home.run("prove nim/20 --jobs 1 --job-nodes 2 --db proved.db --quiet --out run");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    // The second side wins; the liar has the first side win at the root, by its first move.
    let job = "{\"moves\":[],\"ask\":\"win\",\"effort\":{\"nodes\":200,\"playouts\":0},\"kind\":\"leaf\",\"priority\":1}";
    let claim = "{\"bounds\":{\"low\":\"win\",\"high\":\"win\"},\"trust\":\"checked\"}";
    let answer = format!(
        "{{\"best\":\"1\",\"status\":\"bw\",\"value\":1.0,\"claim\":{claim},\"nodes\":1,\"seconds\":0.001}}"
    );
    let line = |by: &str| format!("{{\"job\":{job},\"answer\":{answer}{by}}}\n");
    let spec = home.read("run/prove.toml").replace("jobs_max = 1\n", "jobs_max = 100000\n");
    home.write("run/prove.toml", &spec);
    home.write("run/jobs.jsonl", line(",\"by\":\"evil\""));
    let ran = home.run("resume run --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("evil lied"), "{}", ran.stderr);
    let result: serde_json::Value = serde_json::from_str(&home.read("run/result.json")).expect("a result");
    assert_eq!(result["value"], "second wins");
    assert!(home.read("run/audit.jsonl").contains("\"refuted\""));
    assert_eq!(home.run("db check proved.db --all").code, 0);
    assert!(home.run("verify run/solution.proof").stdout.contains("OK"));
}

/// Defect 4: an empty log beside a forged record was all that `verify` looked at.
#[test]
fn an_empty_log_does_not_hide_a_forged_record() {
    let home = Home::new();
    assert_eq!(home.run("solve samegame/10x10x4-1 --level 1 --playouts 30 --quiet --out run").code, 0);
    assert_eq!(home.run("verify run").code, 0);
    let record = home.read("run/best.record");
    let score = record.lines().find(|line| line.starts_with("score")).expect("a score").to_string();
    home.write("run/best.record", record.replace(&score, "score = 99999"));
    home.write("run/games.jsonl", "");
    let ran = home.run("verify run");
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains("claims 99999"), "{}", ran.stderr);
}

/// Defect 8: going on with a stranger's folder started any program that it named.
#[test]
fn the_programs_of_a_folder_are_started_only_if_that_is_said() {
    let home = played();
    let spec = home.read("match/match.toml");
    let marker = home.path("started");
    let program = format!("text:/bin/sh -c 'echo > {}'", marker.display());
    home.write("match/match.toml", spec.replacen("\"random\"", &format!("{program:?}"), 1));
    home.write("match/games.jsonl", "");
    let ran = home.run("resume match --quiet");
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("--programs") && !marker.exists(), "{}", ran.stderr);
}

/// Defect 8: a planted link was written through, one that led elsewhere was read, and pipes hung whoever looked.
#[cfg(unix)]
#[test]
fn links_and_pipes_in_a_folder_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let home = played();
    // Nothing in it, so that nothing but the link is wrong.
    home.write("mine.txt", "");
    std::fs::remove_file(home.path("match/games.jsonl")).expect("removed");
    symlink(home.path("mine.txt"), home.path("match/games.jsonl")).expect("a link");
    let ran = home.run("resume match --quiet");
    assert!(ran.code == 2 && ran.stderr.contains("it is a link"), "{}", ran.stderr);
    assert_eq!(home.read("mine.txt"), "");
    // What would be replaced whole is written beside first: not through what stands there.
    let line = "solve samegame/10x10x4-1 --level 1 --playouts 30 --quiet --out run";
    assert_eq!(home.run(line).code, 0);
    symlink(home.path("mine.txt"), home.path("run/.result.json.tmp")).expect("a link");
    assert_eq!(home.run("resume run --time 1ms --quiet").code, 0);
    assert_eq!(home.read("mine.txt"), "");
    std::fs::remove_file(home.path("match/games.jsonl")).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(home.path("match/games.jsonl")).status();
    if made.is_ok_and(|made| made.success()) {
        assert_eq!(home.run("resume match --quiet").code, 2);
        assert_eq!(home.run("verify match").code, 2);
    }
}

/// Defect 10: a checkpoint was believed: 6,176 was printed for moves that are worth 1,544.
#[test]
fn a_checkpoint_is_worth_what_its_moves_are() {
    let home = Home::new();
    let line = "solve samegame/10x10x4-1 --level 1 --playouts 30 --quiet --out run";
    assert_eq!(home.run(line).code, 0);
    let true_score = home.json("resume run --json --quiet")["score"].as_f64().expect("a score");
    let mut checkpoint = sortie_runs::checkpoint::Checkpoint::from_bytes(
        &std::fs::read(home.path("run/checkpoint")).expect("a checkpoint"),
    )
    .expect("whole");
    checkpoint.streams[0].best.as_mut().expect("a best").score *= 4.0;
    home.write("run/checkpoint", checkpoint.to_bytes());
    std::fs::remove_file(home.path("run/result.json")).expect("removed");
    std::fs::remove_file(home.path("run/best.record")).expect("removed");
    let ran = home.run("resume run --json --quiet");
    assert!(ran.code == 0 && ran.stderr.contains("of moves that are worth"), "{}", ran.stderr);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(result["score"].as_f64().expect("a score") <= true_score, "{result}");
}

/// A folder of a search that kept no proof is no run folder without a record: it says what is missing.
#[test]
fn a_proof_search_without_a_proof_says_so() {
    let home = Home::new();
    home.json("prove nim/5 --out run --quiet --json");
    let ran = home.run("verify run");
    assert!(ran.code == 2 && ran.stderr.contains("--proof FILE"), "{}", ran.stderr);
}

/// Whatever is damaged in a folder is named, nothing is changed there, and what can be read makes another one that goes on.
#[test]
fn what_can_be_read_of_a_damaged_folder_is_saved_beside_it() {
    let home = Home::new();
    let solve = "solve samegame/1 --search nrpa --level 2 --iterations 8 --best-of 2 --threads 1 --quiet --json --out run";
    let whole = home.run(solve);
    assert_eq!(home.run("doctor --folder run").code, 0);
    let score = whole.json()["score"].clone();
    let record = home.read("run/best.record");
    home.write("run/best.record", &record[..record.len() / 2]);
    home.write("run/result.json", "{\"score\":");
    let ran = home.run("doctor --folder run --save saved --json");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let files = ran.json()["files"].as_array().expect("files").clone();
    let damaged = files.iter().filter(|file| file["state"] == "DAMAGED").map(|file| file["file"].clone());
    assert_eq!(damaged.collect::<Vec<_>>(), ["best.record", "result.json"]);
    assert_eq!(home.read("run/result.json"), "{\"score\":", "it was changed");
    assert_eq!(home.run("verify saved").code, 0);
    assert_eq!(home.run("resume saved --quiet --json").json()["score"], score);
    let again = home.run("doctor --folder run --save saved");
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("saved is there already"), "{}", again.stderr);

    let home = played();
    let text = home.read("match/games.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    home.write(
        "match/games.jsonl",
        format!("{}\n{}\n{}\n{}\n", lines[0], &lines[1][9..], lines[2], lines[3]),
    );
    let ran = home.run("doctor --folder match --save saved");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("3 lines are whole; 1 are not, the first of them line 2"), "{}", ran.stdout);
    assert_eq!(home.run("resume saved --quiet").code, 0);
    assert!(home.run("verify saved").stdout.contains("OK  4 games"));
    for (line, says) in
        [("doctor --folder nowhere", "nowhere"), ("doctor --folder match/games.jsonl", "a file")]
    {
        let ran = home.run(line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}
