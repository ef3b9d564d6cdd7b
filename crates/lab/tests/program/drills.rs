//! Drills, and what the laboratory refuses.

use crate::Home;
use crate::versions::other_versions_are_refused;

#[test]
fn folders_of_other_versions_are_refused_and_left_alone() {
    let home = Home::new();
    let scale = "scale nim/9 --virtual --forms tds --nodes 1 --threads 3 --time 100us --player plain --positions 3 --games 2 --quiet --out scale";
    assert_eq!(home.run(scale).code, 0);
    let study = "paper samegame-table1 --rows 1 --time 20ms --threads 1 --quiet --out study";
    assert_eq!(home.run(study).code, 0);
    other_versions_are_refused(&home, &["scale/scale.toml", "scale/command.toml", "study/study.toml"]);
    // What began before commands were written down says how it goes on.
    std::fs::remove_file(home.path("scale/command.toml")).unwrap();
    assert!(home.run("resume scale").stderr.contains("lab scale"));
}

#[test]
fn whatever_is_no_command_of_its_own_is_one_of_sortie() {
    let home = Home::new();
    let solved = home.json("solve leftmove/9 --level 1 --playouts 9 --seed 1 --quiet --json --out run");
    assert_eq!(solved["instance"], "leftmove/9");
    assert_eq!(home.run("resume run --time 10ms --quiet").code, 0);
    assert_eq!(home.run("verify run").code, 0);
    let ran = home.run("sovle leftmove/9");
    assert!(ran.code == 2 && ran.stderr.contains("sovle"), "{}", ran.stderr);
    assert!(home.run("--help").stdout.contains("drill"));
}

#[test]
fn bad_input_is_refused_in_a_line() {
    let home = Home::new();
    for (line, says) in [
        ("bench playouts samegame/1 --seconds 0", "above 0"),
        ("bench playouts samegame/1 --level 9", "1 to 8"),
        ("bench playouts samegame/21", "1 to 20"),
        ("bench playouts samegame/nowhere.txt", "no such file"),
        ("drill schedules --pairs uct/nothing", "--pairs nothing"),
    ] {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
}

#[test]
fn schedules_are_drawn_and_hold() {
    let home = Home::new();
    let drawn = home.json("drill schedules --schedules 3 --pairs uct/flag,abs --json");
    assert_eq!(drawn["rows"].as_array().map(Vec::len), Some(7), "{drawn}");
}

/// Folders that `sortie scale` and `sortie reproduce` left are gone on with (`tests/old`).
#[test]
fn studies_of_earlier_programs_are_gone_on_with() {
    let home = Home::new();
    let old = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old");
    for (name, log) in [("scale", "games.jsonl"), ("study", "cells.jsonl")] {
        std::fs::create_dir_all(home.path(&format!("{name}/records"))).expect("a folder");
        for entry in std::fs::read_dir(old.join(name)).expect("what was kept") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let file = path.file_name().expect("a name").to_string_lossy().into_owned();
                std::fs::copy(&path, home.path(&format!("{name}/{file}"))).expect("a file");
            }
        }
        let log = format!("{name}/{log}");
        let before = home.read(&log);
        let ran = home.run(&format!("resume {name} --quiet"));
        assert_eq!((ran.code, home.read(&log)), (0, before), "{name}: {}", ran.stderr);
    }
}
