//! Gauntlets: named opponents with words of their own, which play, crash, hang and play too many stones.

use crate::Home;

/// Connect6 in words of its own: the free points in order, or the other way round, two a turn.
const ENGINE: &str = r#"
stones=0 board=" " lines="A B C D E F G H I"
[ "$1" = last ] && lines="I H G F E D C B A"
while read -r word rest; do
    case $word in
    new) stones=0 board=" " ;;
    black | white)
        while [ -n "$rest" ]; do
            point=${rest%"${rest#??}"} rest=${rest#??}
            board="$board$point " stones=$((stones + 1))
        done ;;
    next)
        [ "$1" = crash ] && [ $stones -gt 5 ] && { echo "no more" >&2; exit 3; }
        [ "$1" = hang ] && sleep 1000
        left=2 answer=
        [ $stones = 0 ] && left=1
        [ "$1" = three ] && left=3
        for a in $lines; do
            for b in $lines; do
                case $board in *" $a$b "*) continue ;; esac
                [ $left = 0 ] || { answer=$answer$a$b left=$((left - 1)); }
            done
        done
        echo "thinking"
        echo "move $answer" ;;
    esac
done
"#;

const WORDS: &str = r#"
name = "stand-in"
new = ["new"]
first = "black {points}"
second = "white {points}"
ask = ["next"]
answer = "move {points}"
points = "letters"
capitals = true
stones = 2
"#;

fn sheet(names: &[&str]) -> String {
    let mut text =
        "game = 'connect6/9'\nplayer = 'random'\ngames = 2\nlimit = '5playouts'\nplies = 5\n".to_string();
    for name in names {
        let patience = if *name == "hang" { "100ms" } else { "60s" };
        text += &format!(
            "[[opponent]]\nname = '{name}'\nversion = '0.1'\nplayer = 'text[timeout={patience},words=words.toml]:/bin/sh engine {name}'\n"
        );
    }
    text
}

#[test]
fn a_table_tells_who_plays_and_who_fails_and_goes_on() {
    let home = Home::new();
    home.write("engine", ENGINE);
    home.write("words.toml", WORDS);
    home.write("some.toml", sheet(&["first", "crash"]));
    let some = home.json("gauntlet some.toml --out out --quiet --json");
    assert_eq!(some["rows"].as_array().map(Vec::len), Some(2));
    let played = home.read("out/first/games.jsonl");
    home.write("all.toml", sheet(&["first", "last", "crash", "hang", "three"]));
    let ran = home.run("gauntlet all.toml --out out --json");
    assert_eq!(home.read("out/first/games.jsonl"), played, "games that were played are not played again");
    let result = ran.json();
    for row in result["rows"].as_array().expect("rows") {
        let (name, faults) = (row["opponent"].as_str().expect("a name"), row["faults_opponent"].as_u64());
        assert_eq!((row["games"].as_u64(), row["faults"].as_u64()), (Some(2), Some(0)), "{row}");
        match name {
            // Asked in a legal position that goes on, an engine always moves: whole games, two stones a turn.
            "first" | "last" => assert_eq!(faults, Some(0), "{row}"),
            _ => assert_eq!((faults, row["wins"].as_u64()), (Some(2), Some(2)), "{row}"),
        }
        let checked = home.run(&format!("verify out/{name}"));
        assert_eq!(checked.code, 0, "{}", checked.stderr);
    }
    let table = home.read("out/table.md");
    assert_eq!(table.lines().filter(|line| line.contains("| 0.1 | 5playouts | 2 | ")).count(), 5, "{table}");
    let games = home.read("out/three/games.jsonl");
    assert!(games.contains("illegal move") && games.lines().count() == 2, "{games}");
    assert!(home.read("out/crash/games.jsonl").contains("no more"));
    assert!(home.read("out/hang/games.jsonl").contains("hang"));
}

#[test]
fn a_sheet_or_table_that_makes_no_sense_is_refused() {
    let home = Home::new();
    home.write("engine", ENGINE);
    home.write("words.toml", "new = []\n");
    home.write("all.toml", sheet(&["first"]));
    for (line, says) in
        [("gauntlet nowhere.toml", "nowhere.toml"), ("gauntlet all.toml --out out --quiet", "missing field")]
    {
        let ran = home.run(line);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}
