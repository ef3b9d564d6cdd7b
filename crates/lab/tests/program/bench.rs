//! Benches: what they measure is there, and what cannot be measured is refused.

use crate::Home;
use serde_json::Value;

#[test]
fn every_opening_of_hex_is_solved_and_its_proof_checks() {
    let home = Home::new();
    let solved = home.json("bench solved --only hex/4 --proofs --json");
    assert_eq!((&solved["open"], &solved["wrong"]), (&Value::from(0), &Value::from(0)), "{solved}");
    assert!(
        solved["rows"][0]["proof_positions"].as_u64().is_some_and(|positions| positions > 100),
        "{solved}"
    );
    let solved = home.json("bench solved --only hex/5 --json");
    assert_eq!((&solved["open"], &solved["wrong"]), (&Value::from(0), &Value::from(0)), "{solved}");
    let ran = home.run("bench solved --only chess");
    assert!(ran.code == 2 && ran.stderr.contains("hex/5"), "{}", ran.stderr);
}

#[test]
fn the_gain_of_many_workers_is_simulated() {
    let home = Home::new();
    let result =
        home.json("bench joblevel tictactoe/3 --workers 4 --job-nodes 20 --policy flag,ve-flag --json");
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row["value"], serde_json::json!({ "low": "draw", "high": "draw" }));
        assert!(row["workers"] == 1 || row["speedup"].as_f64().unwrap() > 1.0, "{row}");
    }
    assert_eq!(
        result,
        home.json("bench joblevel tictactoe/3 --workers 4 --job-nodes 20 --policy flag,ve-flag --json")
    );
}

#[test]
fn bench_tells_the_rate() {
    let home = Home::new();
    let line = "bench playouts samegame/1 --search nrpa --level 2 --iterations 20 --seconds 0.2 --json";
    let result = home.json(line);
    let [playouts, rate, cpu] =
        ["playouts", "playouts_per_cpu_second", "cpu_seconds"].map(|key| result[key].as_f64().unwrap());
    assert!(playouts > 0.0 && (rate - playouts / cpu).abs() < 1.0 + rate * 0.01, "{result}");
    if cfg!(target_os = "linux") {
        let memory = result["max_rss_mb"].as_f64().unwrap();
        assert!(memory > 0.5 && memory < 50.0, "{memory} MB");
    }
    let text = home.run("bench playouts leftmove/60 --search sample --seconds 0.1").stdout;
    assert!(text.contains("playouts per CPU second"), "{text}");
    assert_eq!(home.names(), Vec::<String>::new(), "no run folder");
}

#[test]
fn more_games_leave_less_to_be_found_and_clop_says_what_it_cannot_do() {
    let home = Home::new();
    let told = home.json("bench tuning --games 100,2000 --seeds 4 --method spsa-self --json");
    let lost = |row: usize| told["rows"][row]["elo_lost"].as_f64().expect("a number");
    assert!(lost(1) < lost(0) && lost(1) < 40.0, "{told}");
    let ran = home.run("bench tuning --parameters 6 --games 100 --seeds 1 --method clop");
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("at most 5 parameters"), "{}", ran.stderr);
}

#[cfg(feature = "neural")]
mod neural {
    use super::*;
    use crate::net::net;

    #[test]
    fn a_network_is_compared_with_the_search_without_it() {
        let home = Home::new();
        std::fs::write(home.path("net.safetensors"), net().to_bytes()).expect("a file");
        let ran = home.run(
            "bench policy morpion/5D --level 1 --iterations 5 --policy net.safetensors --one-pass --seeds 3 --cpu-time 20ms --quiet --json",
        );
        let told = ran.json();
        // A random network may well be worse; then the exit code says so too.
        assert_eq!(ran.code, i32::from(told["verdict"] == "significantly worse"), "{}", ran.stderr);
        let scores = |side: &str| -> Vec<f64> {
            let scores = told[side]["scores"].as_array().expect("scores");
            scores.iter().map(|score| score.as_f64().expect("a score")).collect()
        };
        let (plain, guided) = (scores("plain"), scores("guided"));
        assert_eq!((plain.len(), guided.len()), (3, 3));
        let difference = guided.iter().zip(&plain).map(|(a, b)| a - b).sum::<f64>() / 3.0;
        assert!((told["difference"].as_f64().expect("a difference") - difference).abs() < 0.01, "{told}");
        let ran = home.run("bench policy morpion/5D");
        assert!(ran.code == 2 && ran.stderr.contains("--policy FILE"), "{}", ran.stderr);
    }

    #[test]
    fn the_bench_agrees_with_itself() {
        let home = Home::new();
        for shape in [
            "--size 12 --filters 8",
            "--size 12 --filters 8 --net residual --rep r1",
            "--net mobile --size 9 --filters 4",
        ] {
            let told = home.json(&format!("bench neural {shape} --seconds 0.05 --json"));
            assert!(told["disagreement"].as_f64().expect("a number") < 1e-4, "{told}");
            assert_eq!(told["kernel"], true);
            assert!(told["microseconds_per_state"].as_f64().expect("a number") > 0.0);
        }
        assert!(home.run("bench neural --net big").stderr.contains("basic, residual or mobile"));
    }
}
