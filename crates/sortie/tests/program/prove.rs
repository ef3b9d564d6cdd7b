//! Proofs: found, written down, verified, damaged, interrupted, killed and resumed.

use crate::{Home, until};
use serde_json::Value;

#[test]
fn a_draw_has_two_strategies_and_both_are_verified() {
    let home = Home::new();
    let line = "prove tictactoe/3 --job-nodes 100 --workers 2 --proof draw.proof --quiet --json --out run";
    let result = home.json(line);
    assert_eq!((&result["value"], &result["ended"]), (&Value::from("a draw"), &Value::from("decided")));
    assert_eq!(result["proved"], serde_json::json!(["first draws at least", "second draws at least"]));
    let checked = home.json("verify draw.proof --json");
    assert_eq!(checked["records"][0]["proved"], result["proved"]);
    assert_eq!(checked["records"][0]["positions"], result["proof"]["positions"]);
    // The search has ended: going on with it says the same without another job.
    let again = home.json("resume run --quiet --json");
    assert_eq!(again["value"], result["value"]);
    assert_eq!(again["jobs"]["answered"], result["jobs"]["answered"]);
}

#[test]
fn every_selector_and_policy_agrees() {
    let home = Home::new();
    for select in ["pns", "uct", "abs", "pn-uct"] {
        for policy in ["flag", "virtual-win", "virtual-loss", "greedy", "ve", "ve-flag"] {
            let line = format!(
                "prove nim/13 --select {select} --policy {policy} --job-nodes 4 --workers 2 --quiet --json --out {select}-{policy}"
            );
            assert_eq!(home.json(&line)["value"], "first wins", "{line}");
        }
    }
    let result = home.json("prove nim/13 --moves 1 --ask win --job-playouts 50 --job-nodes 2 --quiet --json");
    assert_eq!(result["proved"], serde_json::json!(["first wins"]));
}

/// On a large board a certificate carries the engine's arguments; whoever changes one is found out.
#[test]
fn a_proof_on_a_large_board_carries_arguments_that_are_verified() {
    let home = Home::new();
    let positions = include_str!("../../../domains/instances/connect6/positions.txt");
    let line = positions.lines().find(|line| line.starts_with("attack")).expect("such a position");
    let position = line.splitn(3, ' ').nth(2).expect("a position");
    let mut command = home.command("prove connect6 --proof win.proof --quiet --json --out run --jobs 20");
    let ran = command.args(["--position", position]).output().expect("the program starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(home.json("verify win.proof --json")["records"][0]["ok"], true);
    let text = home.read("win.proof");
    let at = text.find("!win:").expect("an argument");
    // Without its last steps an argument does not hold.
    home.write("win.proof", &text[..at + text[at..].find([',', ';']).expect("steps")]);
    let ran = home.run("verify win.proof");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_proof_that_was_changed_is_refused() {
    let home = Home::new();
    home.json(
        "prove breakthrough/4x4 --job-nodes 300 --workers 1 --proof win.proof --quiet --json --out run",
    );
    let ran = home.run("verify win.proof");
    assert!(ran.code == 0 && ran.stdout.starts_with("OK  breakthrough/4x4  first wins"), "{}", ran.stdout);
    let text = home.read("win.proof");
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len() - 1];
    let replies = lines.iter().rposition(|line| line.contains(' ') && line.contains('=')).expect("replies");
    let without = |i: usize, line: &str| {
        let mut lines = lines.clone();
        lines[i] = line;
        lines.join("\n")
    };
    let fewer = lines[replies].rsplit_once(' ').expect("several").0;
    let elsewhere = format!("{}=0", last.split('=').next().unwrap());
    for (what, changed, code) in [
        ("another side", text.replace("goal first wins", "goal second wins"), 1),
        ("another move", without(lines.len() - 1, "z9-z8=0"), 1),
        ("a reply left out", without(replies, fewer), 1),
        ("another way on", without(lines.len() - 1, &elsewhere), 1),
        ("the last line cut off", text.replace(last, ""), 1),
        ("another instance", text.replace("breakthrough/4x4", "breakthrough/5x5"), 1),
        ("no such line", without(lines.len() - 1, &last.replace('=', "=9")), 2),
        ("another version", text.replace("sortie proof 1", "sortie proof 2"), 2),
        ("no goal", text.replace("goal first wins\n", ""), 2),
    ] {
        home.write("false.proof", &changed);
        let ran = home.run("verify false.proof");
        assert_eq!((ran.code, ran.stderr.lines().count()), (code, 1), "{what}: {}", ran.stderr);
        assert!(ran.stderr.contains("false.proof"), "{what}: {}", ran.stderr);
    }
}

/// A search of some thousand jobs.
const LONG: &str = "prove breakthrough/4x4 --moves a1a2 --job-nodes 8 --workers 2 --proof big.proof";

/// Answers on the disk.
fn answers(home: &Home) -> usize {
    std::fs::read_to_string(home.path("run/jobs.jsonl")).map_or(0, |text| text.lines().count())
}

#[test]
fn killed_in_the_middle_it_goes_on() {
    let home = Home::new();
    let mut child = home.spawn(&format!("{LONG} --quiet --out run"));
    until("some answers", || answers(&home) >= 100);
    child.kill().expect("SIGKILL");
    child.wait().expect("a child");
    assert!(!home.path("big.proof").exists(), "killed before its end");
    // What a crash may leave of a last line.
    let kept = answers(&home);
    let torn = home.read("run/jobs.jsonl") + "{\"job\":{\"mov";
    home.write("run/jobs.jsonl", torn);
    let result = home.json("resume run --quiet --json");
    assert_eq!(result["value"], "first wins");
    assert!(result["jobs"]["answered"].as_u64().unwrap() as usize >= kept - 1);
    assert_eq!(home.json("verify big.proof --json")["records"][0]["ok"], true);
    // An answer about a position that this search never had is of another search.
    let first = home.read("run/jobs.jsonl").lines().next().unwrap().replace("[\"a1-a2\"", "[\"d1-d2\"");
    home.write("run/jobs.jsonl", first + "\n");
    let ran = home.run("resume run");
    assert!(ran.code == 2 && ran.stderr.contains("jobs.jsonl:1"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_and_it_can_go_on() {
    let home = Home::new();
    let child = home.spawn(&format!("{LONG} --out run"));
    until("some answers", || answers(&home) >= 50);
    let ran = crate::home::interrupt(child, "-INT");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("resume run"), "{}", ran.stderr);
    assert_eq!(home.json("resume run --threads 1 --quiet --json")["value"], "first wins");
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let home = Home::new();
    home.write("half.toml", "proof = [1, 2, 3]\n");
    for (line, said) in [
        ("prove samegame/1", "a problem for one"),
        ("prove tictactoe/3 --select best", "pns, uct, abs, pn-uct"),
        ("prove tictactoe/3 --policy none", "ve-flag"),
        ("prove tictactoe/3 --ask all", "value, win, draw"),
        ("prove tictactoe/3 --moves z9", "z9"),
        ("prove tictactoe/3 --position nonsense", "not a position"),
        ("prove nim/3 --moves 3", "over"),
        ("prove tictactoe/3 --statuses half.toml", "half.toml:1"),
        ("prove tictactoe/3 --statuses none.toml", "none.toml"),
        ("prove tictactoe/3 --c -1", "--c"),
    ] {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    assert_eq!(home.names(), ["half.toml"], "nothing is left behind");
    let ran = home.run("prove breakthrough/5x5 --jobs 3 --job-nodes 10 --quiet --json --out run");
    assert_eq!((ran.code, &ran.json()["ended"]), (1, &Value::from("jobs")));
    let ran = home.run("prove hex/4 --quiet --out run");
    assert!(ran.code == 2 && ran.stderr.contains("another search"), "{}", ran.stderr);
}
