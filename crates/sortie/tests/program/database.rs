//! The database of proved positions: filled by searches, asked, exported, merged, checked, and lied to.

use crate::Home;
use serde_json::Value;

const PROVE: &str = "prove breakthrough/4x4 --job-nodes 100 --workers 2 --quiet --json";

#[test]
fn a_search_fills_it_and_the_next_one_uses_it() {
    let home = Home::new();
    let cold = home.json(&format!("{PROVE} --db proved.db --out first"));
    assert_eq!(cold["value"], "first wins");
    let stored = cold["database"]["stored"].as_u64().unwrap();
    assert!(stored > 100 && cold["proof"]["positions"].as_u64().unwrap() >= stored, "{cold}");
    // The position itself is there: one job, which is not even done.
    let warm = home.json(&format!("{PROVE} --db proved.db --proof win.proof --out second"));
    assert_eq!((&warm["value"], &warm["jobs"]["answered"]), (&cold["value"], &Value::from(1)));
    assert_eq!(
        (&warm["database"]["spared"], &warm["database"]["stored"]),
        (&Value::from(1), &Value::from(0))
    );
    // The proof carries what it cites: nobody needs the database to verify it.
    std::fs::remove_file(home.path("proved.db")).unwrap();
    assert_eq!(home.json("verify win.proof --json")["records"][0]["ok"], true);
    // The file of the proof is enough to fill another one.
    let put = home.json("db put other.db win.proof --json");
    assert!(put["new"].as_u64().unwrap() > 100, "{put}");
    let found = home.json("db get other.db breakthrough/4x4 --json");
    assert_eq!(
        (&found["entry"]["value"], &found["entry"]["trust"]),
        (&Value::from("win"), &Value::from("checked"))
    );
    // The best move, and its mirror image where the board is mirrored.
    let best = found["entry"]["best"].as_str().unwrap().to_string();
    let after = home.json(&format!("db get other.db breakthrough/4x4 --moves {best} --json"));
    assert_eq!(after["entry"]["value"], "win");
    let mirrored: String = best
        .chars()
        .map(|c| if c.is_ascii_lowercase() && c != 'x' { (b'a' + b'd' - c as u8) as char } else { c })
        .collect();
    let image = home.json(&format!("db get other.db breakthrough/4x4 --moves {mirrored} --json"));
    assert_eq!(image["entry"], after["entry"]);
}

#[test]
fn every_successor_can_be_looked_up() {
    let home = Home::new();
    home.json(
        "prove tictactoe/3 --moves b2 --job-nodes 30 --workers 1 --quiet --json --db proved.db --out one",
    );
    // The start is not there, but all that follows its best move is.
    let line = "prove tictactoe/3 --job-nodes 30 --workers 1 --quiet --json";
    let cold = home.json(&format!("{line} --out cold"));
    let warm = home.json(&format!("{line} --db proved.db --db-successors --proof draw.proof --out warm"));
    assert_eq!((&cold["value"], &warm["value"]), (&Value::from("a draw"), &Value::from("a draw")));
    assert!(warm["database"]["lost"].as_u64().unwrap() > 0, "{warm}");
    assert_eq!(home.json("verify draw.proof --json")["records"][0]["ok"], true);
    assert_eq!(home.json("db check proved.db --all --json")["ok"], true);
}

#[test]
fn it_goes_out_and_in_and_together() {
    let home = Home::new();
    home.json("prove tictactoe/3 --job-nodes 100 --quiet --json --db a.db --out one");
    home.json("prove nim/13 --job-nodes 100 --quiet --json --db b.db --out two");
    let count =
        |home: &Home, db: &str| home.json(&format!("db stats {db} --json"))["positions"].as_u64().unwrap();
    let (a, b) = (count(&home, "a.db"), count(&home, "b.db"));
    assert!(a > 20 && b > 5);
    home.json("db merge all.db a.db b.db --json");
    assert_eq!(count(&home, "all.db"), a + b);
    home.json("db export all.db --out all.jsonl --json");
    let import = home.json("db import again.db all.jsonl --json");
    assert_eq!(import["new"], a + b);
    let lines = |home: &Home| home.read("all.jsonl").lines().count();
    let before = lines(&home);
    home.json("db export again.db --out all.jsonl --json");
    assert_eq!(lines(&home), before);
    assert_eq!(home.json("db check again.db --all --json")["checked"], a + b);
    let sample = home.json("db check again.db --sample 7 --json");
    assert_eq!((&sample["ok"], &sample["checked"]), (&Value::from(true), &Value::from(7)));
}

#[test]
fn a_lie_is_found_and_proves_nothing() {
    let home = Home::new();
    home.json(&format!("{PROVE} --db proved.db --out run"));
    home.json("db export proved.db --out all.jsonl --json");
    // Every won position is said to be lost, and the other way round.
    let text = home.read("all.jsonl");
    let lies: Vec<String> = text
        .lines()
        .map(|line| {
            line.replace("\"win\"", "\"x\"").replace("\"loss\"", "\"win\"").replace("\"x\"", "\"loss\"")
        })
        .collect();
    home.write("lies.jsonl", lies.join("\n"));
    home.json("db import lies.db lies.jsonl --json");
    let ran = home.run("db check lies.db --sample 5 --json");
    assert_eq!((ran.code, ran.json()["wrong"].as_array().unwrap().len()), (1, 5));
    assert!(ran.stderr.contains("solution.proof: says win"), "{}", ran.stderr);
    // They cannot be put together with the truth either.
    let ran = home.run("db merge proved.db lies.db");
    assert!(ran.code == 2 && ran.stderr.contains("one is false"), "{}", ran.stderr);
    // A search that believes them comes to no proof.
    let ran = home.run(&format!("{PROVE} --db lies.db --proof false.proof --out fooled"));
    assert_eq!((ran.code, home.path("false.proof").exists()), (2, false), "{}", ran.stdout);
    // Without its proof an entry cannot be checked.
    std::fs::remove_file(home.path("run/solution.proof")).unwrap();
    let ran = home.run("db check proved.db");
    assert!(ran.code == 1 && ran.stderr.contains("solution.proof"), "{}", ran.stderr);
}

#[test]
fn connect6_stores_what_its_own_checker_has_been_through() {
    let home = Home::new();
    let fill = "db fill proved.db connect6/19 --positions 300 --nodes 300 --engine-nodes 30 --quiet --json";
    let first = home.json(fill);
    assert!(
        first["positions"].as_u64().unwrap() >= 300 && first["new_turns"].as_u64().unwrap() >= 100,
        "{first}"
    );
    // It has enough: going on does nothing.
    assert_eq!(home.json(fill)["games"], 0);
    let checked = home.json("db check proved.db --sample 40 --json");
    assert_eq!((&checked["ok"], &checked["checked"]), (&Value::from(true), &Value::from(40)));
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let home = Home::new();
    home.write("no.db", "this is no database\n");
    home.write("no.jsonl", "{\"line\":\"position\"}\n");
    for (line, said) in [
        ("db stats none.db", "none.db"),
        ("db stats no.db", "no.db"),
        ("db get no.db tictactoe/3", "no.db"),
        ("db import new.db no.jsonl", "no.jsonl:1"),
        ("db import new.db none.jsonl", "none.jsonl"),
        ("db put new.db no.jsonl", "no.jsonl:1"),
        ("db fill new.db hex/5 --time 1s", "engine"),
        ("db stats postgres://here/there", "mysql://"),
        ("prove nim/5 --db none/new.db", "none"),
        ("prove nim/5 --db-successors", "--db"),
    ] {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    #[cfg(not(feature = "mariadb"))]
    assert!(home.run("db stats mysql://root@localhost/sortie").stderr.contains("--features mariadb"));
    home.json("prove nim/13 --quiet --json --db proved.db --out run");
    assert_eq!(home.run("db get proved.db tictactoe/3").code, 1);
}
