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
