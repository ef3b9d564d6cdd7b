//! `lab scale`: a study that goes on and grows, says what is modelled, and costs that can be measured and used.

use crate::Home;

const STUDY: &str = "scale nim/21 --virtual --forms tds --threads 3 --time 300us --player plain --positions 3 --quiet --json --out run";

#[test]
fn a_study_goes_on_grows_and_says_that_it_is_modelled() {
    let home = Home::new();
    let first = home.json(&format!("{STUDY} --nodes 1,2 --games 4"));
    assert_eq!(first["clock"], "modelled");
    let rows = first["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(row["rate"]["pps"].as_f64() > Some(1000.0), "{row}");
        assert_eq!(
            row["match"]["games"].as_object().unwrap().values().filter_map(|n| n.as_u64()).sum::<u64>(),
            4
        );
        assert!(row["match"]["score"]["low"].as_f64() <= row["match"]["score"]["value"].as_f64());
    }
    assert_eq!(rows[0]["rate"]["messages"], 0.0);
    assert!(rows[1]["rate"]["messages"].as_f64() > Some(0.0));
    for name in
        ["modelled-nodes.md", "modelled-nodes-pps.svg", "modelled-nodes-nps.svg", "modelled-nodes-wins.svg"]
    {
        assert!(home.read(&format!("run/{name}")).contains("modelled"), "{name}");
    }
    assert_eq!(home.run("verify run").code, 0);
    // The same command finds everything done; one that asks for more adds to it.
    let (games, rates) = (home.read("run/games.jsonl"), home.read("run/rates.jsonl"));
    assert_eq!(home.json(&format!("{STUDY} --nodes 1,2 --games 4"))["rows"], first["rows"]);
    assert_eq!((&games, &rates), (&home.read("run/games.jsonl"), &home.read("run/rates.jsonl")));
    let more = home.json(&format!("{STUDY} --nodes 1,2,3 --games 6"));
    assert_eq!(more["rows"][1]["rate"], first["rows"][1]["rate"]);
    assert!(home.read("run/games.jsonl").starts_with(&games));
    assert_eq!(home.read("run/games.jsonl").lines().count(), 18);
    // Half of a last line, as a crash leaves it, is played again and ends the same.
    let whole = home.read("run/games.jsonl");
    home.write("run/games.jsonl", &whole[..whole.len() - 40]);
    assert_eq!(home.json(&format!("{STUDY} --nodes 1,2,3 --games 6"))["rows"], more["rows"]);
    let ran = home.run(&format!("{STUDY} --nodes 1 --seed 2"));
    assert!(ran.code == 2 && ran.stderr.contains("another"), "{}", ran.stderr);
    // The last command that was given is the one that goes on.
    let resumed = home.json("resume run --quiet --json");
    assert_eq!(resumed["rows"], more["rows"]);
}

#[test]
fn the_other_studies_have_their_tables() {
    let home = Home::new();
    let par = home.json(&format!("{STUDY} --par-study --nodes 2 --pars 1,4 --games 2"));
    assert_eq!((&par["rows"][0]["par"], &par["rows"][1]["par"]), (&1.into(), &4.into()));
    let effect = home.json(&format!("{STUDY} --parallel-effect --nodes 1,2 --playouts 60 --games 2"));
    assert_eq!(effect["reference"], "plain @ 60playouts");
    let speedup = home.json(&format!("{STUDY} --strength-speedup --nodes 1,4 --rungs 2 --games 4"));
    assert_eq!(
        (speedup["rungs"].as_array().map(Vec::len), &speedup["rows"][1]["match"]["rung"]),
        (Some(3), &1.into())
    );
    let x = &speedup["rows"][1]["match"]["speedup"];
    assert!(x["low"].as_f64() <= x["value"].as_f64() && x["value"].as_f64() <= x["high"].as_f64(), "{x}");
    assert!(
        home.read("run/modelled-speedup.md").contains("as strong as")
            || home.read("run/modelled-speedup.md").contains("As strong as")
    );
    // What is measured is kept apart.
    let real = home.json(&STUDY.replace("--virtual", "--real --nodes 1 --games 2"));
    assert_eq!(real["clock"], "measured");
    assert!(!home.read("run/measured-nodes.md").contains("modelled"));
}

#[test]
fn costs_are_measured_and_used() {
    let home = Home::new();
    let profile = home
        .json("scale nim/21 --calibrate --player plain --playouts 200 --positions 2 --json --out costs.toml");
    assert!(profile["costs"]["playout"].as_array().expect("quantiles").len() > 10, "{profile}");
    let text = home.read("costs.toml");
    assert!(text.contains("game = \"nim\"") && text.contains("step = "), "{text}");
    let line = format!("{STUDY} --nodes 1 --games 0 --costs costs.toml");
    let fast = home.json(&line)["rows"][0]["rate"]["pps"].as_f64();
    // Everything a hundred times as expensive.
    let slow = text.lines().map(|line| match line.split_once(" = ") {
        Some((key @ ("step" | "replay" | "add" | "task"), value)) => {
            format!("{key} = {}\n", value.parse::<f64>().expect("a number") * 100.0 + 1000.0)
        }
        _ => format!("{line}\n"),
    });
    home.write("costs.toml", slow.collect::<String>());
    assert!(home.json(&line)["rows"][0]["rate"]["pps"].as_f64() < fast);
    home.write("costs.toml", "step = \"much\"");
    let ran = home.run(&line);
    assert!(ran.code == 2 && ran.stderr.contains("costs.toml:1"), "{}", ran.stderr);
    for (wrong, expected) in [
        ("scale nim/21", "--virtual"),
        ("scale samegame/1 --virtual", "a game for two"),
        ("scale nim/21 --virtual --forms tsd", "expected tds"),
        ("scale nim/21 --virtual --width 2", "--width"),
        ("scale nim/21 --virtual --parallel-effect", "--playouts"),
        ("scale nim/21 --virtual --nodes 0", "0"),
        ("scale nim/21 --virtual --options latency=fast", "latency"),
    ] {
        let ran = home.run(wrong);
        assert!(
            ran.code == 2 && ran.stderr.contains(expected) && ran.stderr.lines().count() == 1,
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn schedules_of_ranks_pass_and_repeat() {
    let home = Home::new();
    let line = "drill schedules --ranks --forms canopy,tds --schedules 3 --seed 7 --json";
    let ran = home.json(line);
    let rows = ran["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), &ran["failure"]), (2, &serde_json::Value::Null), "{ran}");
    for (row, again) in rows.iter().zip(home.json(line)["rows"].as_array().expect("rows")) {
        assert_eq!(row["passed"], 3);
        assert!(row["simulations"].as_u64() > Some(3 * 60), "{row}");
        assert_eq!((&row["simulations"], &row["nodes"]), (&again["simulations"], &again["nodes"]));
    }
    let ran = home.run("drill schedules --ranks --forms canpoy");
    assert!(ran.code == 2 && ran.stderr.contains("expected tds, canopy"), "{}", ran.stderr);
    assert_eq!(home.run("drill schedules --ranks --pairs uct").code, 2);
    assert_eq!(home.run("drill schedules --forms canopy").code, 2);
}
