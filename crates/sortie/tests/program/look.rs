//! `list`, `show`, `replay` and `bench`.

use crate::{Home, record_moves};
use serde_json::Value;
use std::process::Stdio;

#[test]
fn the_list_names_domains_and_searches() {
    let home = Home::new();
    let text = home.run("list").stdout;
    for word in ["samegame", "leftmove/60", "nim", "nrpa", "nmcs", "sample", "--level", "option score"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    let list = home.json("list --json");
    let searches = list["searches"].as_array().expect("a list");
    let nrpa = searches.iter().find(|search| search["name"] == "nrpa").expect("it is there");
    assert_eq!(
        (&nrpa["parameters"][0]["name"], &nrpa["parameters"][0]["default"]),
        (&"level".into(), &3.into())
    );
    assert!(list["domains"].as_array().unwrap().iter().any(|domain| domain["name"] == "samegame"));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let home = Home::new();
    for _ in 0..3 {
        let mut child = home.command("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
    }
}

#[test]
fn help_is_there() {
    let home = Home::new();
    assert!(home.run("--help").stdout.contains("sortie solve samegame/1"));
    assert!(home.run("solve --help").stdout.contains("sortie solve morpion/5D"));
    assert!(home.run("solve --help-all").stdout.contains("Examples:"));
    assert!(home.run("--version").stdout.contains(env!("CARGO_PKG_VERSION")));
    let all = home.run("--version --verbose");
    assert!(all.code == 0 && all.stdout.contains("\nhot loops  "), "{}", all.stdout);
    let bare = crate::Ran::from(home.command_of(&[]).output().unwrap());
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""));
}

#[test]
fn positions_are_shown_as_text_and_pictures() {
    let home = Home::new();
    home.json("solve samegame/1 --playouts 100 --seed 1 --best-of 1 --quiet --json --out run");
    let ran = home.run("show samegame/1 --svg a.svg --png a.png --scale 1.5");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("311410404411023") && ran.stdout.contains("44 legal moves"),
        "{}",
        ran.stdout
    );
    let svg = home.read("a.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    let width: f64 = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let png = std::fs::read(home.path("a.png")).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), (1.5 * width).round() as u32);

    let first = &record_moves(&home.path("run/best.record"))[0];
    let by_record = home.run("show run --after 1").stdout;
    let by_moves = home.run(&format!("show samegame/1 --moves {first}")).stdout;
    assert_eq!(by_record, by_moves);
    assert!(home.run("show run/best.record").stdout.contains("the end"));
    assert_eq!(home.run("show run --after 1000").code, 2);
    assert_eq!(home.run("show run --moves a1").code, 2);
    let shown = home.json("show run --after 1 --json");
    assert_eq!(
        (&shown["moves"][0], &shown["instance"]),
        (&Value::from(first.as_str()), &Value::from("samegame/1"))
    );
    assert!(
        shown["legal"].as_array().is_some_and(|legal| !legal.is_empty()) && shown["cells_left"].is_number()
    );
    assert!(home.run("show nim/21").stdout.contains("3 legal moves"));
}

#[test]
fn a_replay_without_a_terminal_prints_every_position() {
    let home = Home::new();
    home.json("solve samegame/1 --playouts 100 --seed 1 --best-of 1 --quiet --json --out run");
    let moves = record_moves(&home.path("run/best.record"));
    for options in ["", " --plain", " --step", " --speed 1000/s"] {
        let ran = home.run(&format!("replay run{options}"));
        assert_eq!(ran.code, 0);
        let heads: Vec<&str> =
            ran.stdout.lines().filter(|line| line.starts_with("samegame/1 move ")).collect();
        assert_eq!(heads.len(), moves.len() + 1);
        assert!(heads[1].contains(&moves[0]) && heads[0].contains("move 0 of"), "{heads:?}");
        assert!(!ran.stdout.contains('\x1b'), "no control characters");
    }
    assert_eq!(home.run("replay run --speed 0").code, 2);
}
