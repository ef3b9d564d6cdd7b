//! Many runs at once, runs that begin with a solution, lists of one thing, positions as lines of JSON, games reviewed.

use crate::{Home, Ran};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// Runs a command with this on its stdin.
fn with_input(home: &Home, line: &str, input: &str) -> Ran {
    let mut command = home.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    Ran::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn many_runs_have_a_table_and_go_on() {
    let home = Home::new();
    let line = "solve schur/3 leftmove/9 --seeds 2 --playouts 3000 --threads 1 --out many --quiet --json";
    let first = home.json(line);
    let runs = first["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 4);
    assert_eq!(
        (&runs[3]["instance"], &runs[3]["seed"], &runs[3]["score"]),
        (&json!("leftmove/9"), &json!(2), &json!(9))
    );
    let table = home.read("many/table.md");
    assert!(table.contains("| schur/3 | 2 | 23 numbers |"), "{table}");
    assert_eq!(home.read("many/table.csv").lines().count(), 5);
    // One run is gone, the others are not made again.
    std::fs::remove_dir_all(home.path("many/schur-3/seed-2")).expect("a folder");
    let kept = home.read("many/leftmove-9/seed-1/result.json");
    assert_eq!(home.json(line)["runs"].as_array().map(Vec::len), Some(4));
    assert_eq!(home.read("many/leftmove-9/seed-1/result.json"), kept);
    assert_eq!(home.run("verify many/schur-3/seed-2").code, 0);
    let refused = home.run("solve schur/3 loa --seeds 2 --out other");
    assert_eq!((refused.code, home.path("other").exists()), (2, false), "{}", refused.stderr);
}

#[test]
fn a_run_begins_with_a_solution_and_never_falls_behind_it() {
    let home = Home::new();
    assert_eq!(home.run("solve schur/3 --playouts 20000 --target 23 --seed 1 --out good --quiet").code, 0);
    let ran =
        home.json("solve schur/3 --from good --playouts 1 --threads 1 --seed 1 --out more --quiet --json");
    assert_eq!(ran["score"], 23);
    assert_eq!(home.read("more/best.record").lines().last(), home.read("good/best.record").lines().last());
    let other = home.run("solve schur/4 --from good --playouts 5 --out other");
    assert_eq!((other.code, home.path("other").exists()), (2, false), "{}", other.stderr);
    assert!(other.stderr.contains("not a solution of schur/4"), "{}", other.stderr);
}

#[cfg(unix)]
#[test]
fn a_command_is_run_with_what_is_better() {
    let home = Home::new();
    let words = [
        "solve",
        "schur/3",
        "--playouts",
        "3000",
        "--threads",
        "1",
        "--seed",
        "1",
        "--out",
        "run",
        "--quiet",
    ];
    let hook = ["--on-improve", "cp $SORTIE_RECORD newest; echo $SORTIE_SCORE >> scores"];
    let output = home.command_of(&[&words[..], &hook[..]].concat()).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.read("newest"), home.read("run/best.record"));
    assert_eq!(home.read("scores").lines().last(), Some("23"));
}

#[test]
fn lists_are_of_one_thing_and_players_are_explained() {
    let home = Home::new();
    let domain = home.run("list samegame").stdout;
    assert!(domain.starts_with("samegame") && !domain.contains("morpion"), "{domain}");
    let players = home.run("list players").stdout;
    for said in ["unprune-rate", "the weight of exploration", "gtp:PROGRAM"] {
        assert!(players.contains(said), "{players}");
    }
    let refused = home.run("list samegam");
    assert_eq!(
        (refused.code, refused.stderr.contains("did you mean 'samegame'")),
        (2, true),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_domain_alone_is_its_first_example_and_a_board_comes_from_stdin() {
    let home = Home::new();
    let ran = home.run("solve schur --playouts 50 --seed 1 --out run");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("schur alone: taking schur/"), "{}", ran.stderr);
    let board =
        with_input(&home, "solve samegame/- --playouts 50 --seed 1 --out board --quiet --json", "01\n01\n");
    assert_eq!((board.code, board.json()["cells_left"].clone()), (0, json!(0)), "{}", board.stderr);
    assert_eq!(home.run("verify board").code, 0);
    let typo = home.run("show board/best.recrd");
    assert!(typo.code == 2 && typo.stderr.contains("did you mean board/best.record?"), "{}", typo.stderr);
    let seed = home.run("solve schur/3 --seed -1");
    assert!(seed.stderr.contains("expected a whole number that is not negative"), "{}", seed.stderr);
}

#[test]
fn routes_come_as_tables_with_distances_of_their_own() {
    let home = Home::new();
    let square = "{\"depot\": {}, \"customers\": [{}, {}], \"matrix\": [[0, 1, 2], [1, 0, 3], [2, 3, 0]]}";
    home.write("square.json", square);
    let ran =
        home.json("solve vrptw/square.json --playouts 20 --threads 1 --seed 1 --out run --quiet --json");
    assert_eq!((&ran["score"], &ran["objectives"][0]["what"]), (&json!(-6), &json!("distance")));
    home.write("bad.csv", "x,y,demand\n0,0,0\n3,four,1\n");
    let bad = home.run("solve vrptw/bad.csv");
    assert!(bad.code == 2 && bad.stderr.contains("bad.csv:3: column 2: y is 'four'"), "{}", bad.stderr);
}

#[test]
fn a_match_and_a_proof_go_on_to_more() {
    let home = Home::new();
    let line =
        "match nim/21 --player default --player plain --limit 30playouts --quiet --json --out duel --games";
    assert_eq!(home.json(&format!("{line} 4"))["games"], 4);
    let first = home.read("duel/games.jsonl");
    assert!(first.lines().all(|game| game.contains("\"evaluations\":[")), "{first}");
    assert_eq!(home.json("resume duel --games 8 --quiet --json")["games"], 8);
    assert!(home.read("duel/games.jsonl").starts_with(&first));
    assert_eq!(home.json(&format!("{line} 10"))["games"], 10);
    let fewer = home.run("resume duel --games 6");
    assert_eq!((fewer.code, fewer.stderr.contains("has 10 already")), (2, true), "{}", fewer.stderr);
    let prove = home.run("prove hex/3 --jobs 1 --job-nodes 5 --workers 1 --out proof --quiet");
    assert_eq!(prove.code, 1, "{}", prove.stderr);
    assert_eq!(home.run("resume proof --jobs 5000 --quiet").code, 0);
    assert_eq!(home.run("resume proof --games 9").code, 2);
}

#[test]
fn positions_are_answered_line_by_line() {
    let home = Home::new();
    let queries = [
        json!({ "id": "a", "moves": ["2", "3"], "turns": [0, 2], "playouts": 200 }),
        json!({ "id": "b", "moves": ["9"] }),
        json!({ "action": "version" }),
        json!({ "id": "c", "action": "cancel", "cancel": "nobody" }),
    ];
    let mut input: String = queries.iter().map(|query| format!("{query}\n")).collect();
    input += "{\"id\": 5\n";
    let ran = with_input(&home, "analyse nim/21 --jsonl --workers 2", &input);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |id: &str| lines.iter().filter(|line| line["id"] == id).collect::<Vec<_>>();
    let mut turns: Vec<u64> = of("a").iter().map(|answer| answer["turn"].as_u64().expect("a turn")).collect();
    turns.sort();
    assert_eq!(turns, [0, 2]);
    assert!(of("a").iter().all(|answer| answer["playouts"] == 200 && answer["lines"][0]["line"].is_array()));
    assert!(of("b")[0]["error"].as_str().expect("an error").contains("move 1"), "{:?}", of("b"));
    assert_eq!(of("c")[0]["positions"], 0);
    assert!(lines.iter().any(|line| line["line"] == 5 && line["column"].is_number()), "{}", ran.stdout);
    assert!(lines.iter().any(|line| line["version"] == env!("CARGO_PKG_VERSION")));
    // The same query has the same answer, whoever looks at it and whatever else there is to do.
    let again = with_input(&home, "analyse nim/21 --jsonl --workers 1", &format!("{}\n", queries[0]));
    let first: Value = serde_json::from_str(again.stdout.lines().next().expect("an answer")).expect("JSON");
    let same = of("a").into_iter().find(|answer| answer["turn"] == first["turn"]).expect("it was asked");
    assert_eq!((&same["lines"], &same["value"]), (&first["lines"], &first["value"]));
}

#[test]
fn a_game_is_reviewed_with_and_without_a_search() {
    let home = Home::new();
    let duel = "match nim/9 --player default --player random --limit 30playouts --games 2 --quiet --out duel";
    assert_eq!(home.run(duel).code, 0);
    let logged = home.run("review duel --logged");
    assert_eq!(logged.code, 0, "{}", logged.stderr);
    assert!(logged.stdout.contains("50 %") && logged.stdout.contains("lost a move"), "{}", logged.stdout);
    let searched = home.json("review duel --number 1 --playouts 300 --json");
    let moves = searched["moves"].as_array().expect("a list");
    assert!(
        !moves.is_empty() && moves.iter().all(|step| step["lost"].as_f64().is_some_and(|lost| lost >= 0.0))
    );
    assert_eq!(home.run("review duel --number 99").code, 2);
}
