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
    for (line, code) in [
        ("verify match", 0),
        ("verify match/games.jsonl", 0),
        ("convert match --game 0 --to record", 0),
        ("learn nim/9 --from match --out table", 2),
    ] {
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
