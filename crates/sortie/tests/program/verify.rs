//! `sortie verify`: right records pass, wrong ones are refused with what is wrong.

use crate::{Home, record_moves};
use serde_json::Value;

fn solved() -> Home {
    let home = Home::new();
    home.json("solve samegame/1 --playouts 500 --seed 1 --best-of 1 --quiet --json --out run");
    home
}

#[test]
fn a_tampered_move_is_named() {
    let home = solved();
    let moves = record_moves(&home.path("run/best.record"));
    let text = home.read("run/best.record");
    let (head, tail) = text.split_once("\n\n").unwrap();
    for (number, word) in [(1, "q99"), (5, "zz"), (moves.len(), "a15")] {
        let mut words: Vec<&str> = tail.split_whitespace().collect();
        words[number - 1] = word;
        home.write("bad.record", format!("{head}\n\n{}\n", words.join(" ")));
        let ran = home.run("verify bad.record");
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("move {number} '{word}'")), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
        // Replaying shows what can be shown and fails too.
        let ran = home.run("replay bad.record");
        assert_eq!((ran.code, ran.stdout.matches("\nsamegame/1 move").count()), (1, number - 1));
    }
}

#[test]
fn a_wrong_score_is_told_with_the_right_one() {
    let home = solved();
    let text = home.read("run/best.record");
    let score = text.lines().find_map(|line| line.strip_prefix("score = ")).unwrap().to_string();
    home.write("bad.record", text.replace(&format!("score = {score}"), "score = 99999"));
    let ran = home.run("verify bad.record");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("99999") && ran.stderr.contains(&score), "{}", ran.stderr);
}

#[test]
fn an_unfinished_record_is_refused() {
    let home = solved();
    let text = home.read("run/best.record");
    let (head, tail) = text.split_once("\n\n").unwrap();
    let words: Vec<&str> = tail.split_whitespace().collect();
    home.write("short.record", format!("{head}\n\n{}\n", words[..words.len() - 1].join(" ")));
    let ran = home.run("verify short.record");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("more are legal"), "{}", ran.stderr);
    home.write("long.record", format!("{text} a1"));
    assert_eq!(home.run("verify long.record").code, 1);
}

#[test]
fn several_at_once_and_as_json() {
    let home = solved();
    home.write("bad.record", home.read("run/best.record").replace("samegame/1", "samegame/2"));
    home.write("notes", "nothing");
    let ran = home.run("verify run run/best.record");
    assert_eq!((ran.code, ran.stdout.matches("OK").count()), (0, 2));
    let ran = home.run("verify run bad.record --json");
    assert_eq!(ran.code, 1);
    let result = ran.json();
    assert_eq!((&result["ok"], result["records"].as_array().unwrap().len()), (&Value::from(false), 2));
    assert_eq!(
        (&result["records"][0]["ok"], &result["records"][1]["ok"]),
        (&Value::from(true), &Value::from(false))
    );
    assert!(result["records"][0]["score"].is_number());
    let ran = home.run("verify notes run bad.record");
    assert_eq!((ran.code, ran.stdout.matches("OK").count()), (2, 1), "the others are checked all the same");
    assert_eq!(home.run("verify bad.record --instance samegame/1").code, 0);
}

#[test]
fn a_game_can_be_verified_too() {
    let home = Home::new();
    home.write("won.record", "sortie record 1\ninstance = nim/5\nscore = 1\n\n1 1 3\n");
    home.write("lost.record", "sortie record 1\ninstance = nim/5\nscore = 1\n\n2 3\n");
    assert_eq!(home.run("verify won.record").code, 0);
    assert_eq!(home.run("verify lost.record").code, 1);
}

#[test]
fn every_record_that_is_shipped_is_right() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records");
    let entries = std::fs::read_dir(folder).expect("the shipped records");
    let mut words = vec!["verify".to_string()];
    let paths = entries.map(|entry| entry.unwrap().path().display().to_string());
    words.extend(paths.filter(|path| path.ends_with(".record")));
    assert!(words.len() > 15, "{words:?}");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = Home::new().command_of(&words).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
