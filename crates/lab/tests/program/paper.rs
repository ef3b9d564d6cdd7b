//! `lab paper`: a study is written run by run and goes on where it was.

use crate::Home;

const STUDY: &str = "paper samegame-table1 --rows 1,2 --time 200ms --threads 1 --quiet --out study";

#[test]
fn a_study_goes_on_where_it_was_and_loses_at_most_the_run_under_way() {
    let home = Home::new();
    assert_eq!(home.run(STUDY).code, 0);
    let whole = home.read("study/cells.jsonl");
    let first = whole.lines().next().expect("two runs").to_string() + "\n";
    assert_eq!(whole.lines().count(), 2);
    // As if it had been killed while the second run was written down.
    home.write("study/cells.jsonl", &whole[..first.len() + 40]);
    assert_eq!(home.run("resume study --quiet").code, 0);
    let again = home.read("study/cells.jsonl");
    assert!(again.starts_with(&first), "the first run was made again");
    assert_eq!(again.lines().count(), 2);
    let table = home.read("study/table.md");
    assert!(
        table.contains("2 of 2 runs done") && table.contains("| 1 | 3121 | 3179 | 3145 | 3185 |"),
        "{table}"
    );
    for record in ["study/records/1-sortie-s1.record", "study/records/2-sortie-s1.record"] {
        assert_eq!(home.run(&format!("verify {record}")).code, 0);
    }
}

#[test]
fn more_seeds_carry_a_study_further() {
    let home = Home::new();
    let study = |seeds: u32| {
        format!("paper nrpa-parallel-time --time 20ms --seeds {seeds} --threads 2 --quiet --out study")
    };
    assert_eq!(home.run(&study(1)).code, 0);
    let first = home.read("study/cells.jsonl");
    assert_eq!(home.run(&study(2)).code, 0);
    let both = home.read("study/cells.jsonl");
    assert!(both.starts_with(&first), "runs were made again");
    assert_eq!((first.lines().count(), both.lines().count()), (7, 14));
    assert!(home.read("study/study.toml").contains("seeds = 2"), "`sortie resume` would want one");
    let ran = home.run(&study(1));
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--seeds 2"), "{}", ran.stderr);
}

#[test]
fn the_forms_of_a_figure_are_drawn_beside_the_sequential_search() {
    let home = Home::new();
    let ran =
        home.json("paper nrpa-parallel-time --time 30ms --seeds 2 --threads 2 --quiet --out study --json");
    assert_eq!(ran["runs"].as_array().map(Vec::len), Some(14));
    let plot = home.read("study/plot.svg");
    assert_eq!(plot.matches(">sequential<").count(), 2, "it is in both charts");
    assert_eq!((plot.matches(">shared:3<").count(), plot.matches(">local:3<").count()), (1, 1));
}

#[test]
fn what_a_study_cannot_be_is_refused() {
    let home = Home::new();
    assert_eq!(home.run(STUDY).code, 0);
    for (line, told) in [
        (STUDY.replace("200ms", "100ms"), "another study"),
        (STUDY.replace("table1", "table9"), "samegame-table1"),
        (STUDY.replace("1,2", "21"), "21"),
        ("paper nrpa-parallel-time --rows 7 --out other".into(), "has board 1\n"),
    ] {
        let ran = home.run(&line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains(told) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
    home.write("study/cells.jsonl", "nonsense\n");
    let ran = home.run(STUDY);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cells.jsonl:1"), "{}", ran.stderr);
}
