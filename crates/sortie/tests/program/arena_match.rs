//! `sortie match` and `sortie tune`: the same games at any concurrency, faults that cost a game, logs that replay and
//! go on.

use crate::{Home, finish, until};
use serde_json::Value;

const MATCH: &str = "match nim/21 --player default --player plain --limit 60playouts --quiet --json";

/// The games of a log in the order of their numbers, without what the clock says.
fn games(home: &Home, folder: &str) -> Vec<Value> {
    let text = home.read(&format!("{folder}/games.jsonl"));
    let mut games: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    games.sort_by_key(|game| game["game"].as_u64());
    for game in &mut games {
        let game = game.as_object_mut().expect("an object");
        game.remove("seconds");
        game.remove("thought_seconds");
    }
    games
}

#[test]
fn the_same_games_at_any_concurrency_and_they_replay() {
    let home = Home::new();
    let one = home.json(&format!("{MATCH} --games 20 --concurrency 1 --out one"));
    let three = home.json(&format!("{MATCH} --games 20 --concurrency 3 --out three"));
    assert_eq!(games(&home, "one"), games(&home, "three"));
    assert_eq!(one["pairings"], three["pairings"]);
    assert_eq!((&one["games"], &one["finished"]), (&20.into(), &true.into()));
    let pairs = games(&home, "one");
    for pair in pairs.chunks(2) {
        assert_eq!((&pair[0]["first"], &pair[0]["second"]), (&pair[1]["second"], &pair[1]["first"]));
        let opening = |game: &Value| game["moves"].as_array().expect("moves")[..4].to_vec();
        assert_eq!(opening(&pair[0]), opening(&pair[1]));
    }
    let told: u64 =
        one["pairings"][0]["pentanomial"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(told, 10);
    assert_eq!(home.run("verify one").code, 0);
    assert_eq!(home.run("verify three/games.jsonl").code, 0);
    // A game that claims another winner is found out.
    let text = home.read("one/games.jsonl");
    let (from, to) = ("\"result\":\"first\"", "\"result\":\"second\"");
    assert!(text.contains(from));
    home.write("one/games.jsonl", text.replacen(from, to, 1));
    let ran = home.run("verify one");
    assert!(ran.code == 1 && ran.stderr.contains("games.jsonl:"), "{}", ran.stderr);
}

#[test]
fn a_match_that_was_killed_goes_on_and_ends_the_same() {
    let home = Home::new();
    home.json(&format!("{MATCH} --games 60 --out whole"));
    let mut child = home.spawn(&format!("{MATCH} --games 60 --out run"));
    until("some games", || {
        std::fs::read_to_string(home.path("run/games.jsonl")).is_ok_and(|text| text.lines().count() >= 5)
    });
    child.kill().expect("SIGKILL");
    finish(child);
    // And as if it had been killed while it wrote.
    let text = home.read("run/games.jsonl");
    home.write("run/games.jsonl", &text[..text.len() - 30]);
    let first = text.lines().next().expect("a game").to_string();
    home.json("resume run --quiet --json");
    assert_eq!(games(&home, "run"), games(&home, "whole"));
    assert!(home.read("run/games.jsonl").starts_with(&first), "what was played is not played again");
    // The same command finds nothing left to do; another one is refused.
    assert_eq!(home.json(&format!("{MATCH} --games 60 --out run"))["games"], 60);
    let ran = home.run(&format!("{MATCH} --games 40 --out run"));
    assert!(ran.code == 2 && ran.stderr.contains("another contest"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn whoever_crashes_or_plays_nonsense_loses_and_the_match_goes_on() {
    let home = Home::new();
    home.write("nonsense.sh", "while read line; do case $line in uci) echo uciok;; isready) echo readyok;; go*) echo bestmove 99;; esac; done");
    home.write("crash.sh", "while read line; do case $line in uci) echo uciok;; isready) echo readyok;; go*) exit 3;; esac; done");
    let line =
        ["match", "nim/21", "--games", "4", "--limit", "20playouts", "--quiet", "--json", "--out", "run"];
    let players = ["--player", "plain", "--player", "uci:sh nonsense.sh", "--player", "uci:sh crash.sh"];
    let output =
        home.command_of(&[&line[..], &players[..], &["--gauntlet"]].concat()).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&result["games"], &result["players"][0]["wins"]), (&8.into(), &8.into()), "{result}");
    assert_eq!((&result["players"][1]["faults"], &result["players"][2]["faults"]), (&4.into(), &4.into()));
    let log = home.read("run/games.jsonl");
    assert!(log.contains("illegal move: ") && log.contains("crash: "), "{log}");
    assert_eq!(home.run("verify run").code, 0);
}

#[test]
fn a_sequential_test_stops_by_itself() {
    let home = Home::new();
    let line = "match nim/21 --player default --player random --limit 50playouts --games 4000 --sprt 0,200 --quiet --json --out run";
    let result = home.json(line);
    assert_eq!(result["sprt"]["decision"], "accepted");
    assert!(result["games"].as_u64() < Some(400) && result["finished"] == true, "{result}");
}

#[test]
fn a_tuning_goes_on_and_draws_what_it_believes() {
    let home = Home::new();
    let line = "tune nim/21 --player plain --param c=0.1..2.0 --against random --games 60 --limit 20playouts --quiet --json --out";
    let whole = home.json(&format!("{line} whole --concurrency 1"));
    let optimum = &whole["optimum"][0];
    assert!(optimum["low"].as_f64() <= optimum["value"].as_f64() && optimum["name"] == "c", "{whole}");
    assert!(home.read("whole/c.svg").contains("<circle"));
    std::fs::create_dir(home.path("run")).unwrap();
    std::fs::copy(home.path("whole/tune.toml"), home.path("run/tune.toml")).unwrap();
    let log = home.read("whole/games.jsonl");
    let half: Vec<&str> = log.lines().take(31).collect();
    home.write("run/games.jsonl", half.join("\n") + "\n");
    let again = home.json("resume run --quiet --json");
    assert_eq!(again["optimum"], whole["optimum"]);
    assert_eq!(games(&home, "run"), games(&home, "whole"));
    assert_eq!(home.run("verify run").code, 0);
    let spsa = home.json(&format!("{} spsa --method spsa", line.replace("--against random ", "")));
    assert_eq!((&spsa["games"], &spsa["finished"]), (&60.into(), &true.into()));
}

#[test]
fn nonsense_is_refused_in_one_line() {
    let home = Home::new();
    home.write("openings.txt", "# two\n1 2\n\n9 9\n");
    for (line, told) in [
        ("match nim/21 --player default", "two or more"),
        ("match samegame/1 --player default --player plain", "game for two"),
        ("match nim/21 --player default --player nobody", "no such player"),
        ("match nim/21 --player default --player plain --limit 5", "1000playouts"),
        ("match nim/21 --player default --player plain --sprt 5,1", "lower first"),
        ("match nim/21 --player default --player plain --openings openings.txt", "openings.txt:4"),
        ("tune nim/21 --param c=2..1 --against plain", "lower end first"),
        ("tune nim/21 --param nothing=1..2 --against plain", "no parameter"),
        ("tune nim/21 --param c=1..2", "somebody to play against"),
    ] {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{line}: {}", ran.stderr);
    }
    assert_eq!(home.names(), ["openings.txt"], "nothing is left behind");
}
