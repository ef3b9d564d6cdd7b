//! Games, training and expert iteration: the same at any number of threads, gone on with after `kill -9`.

use crate::{Home, finish, until};

const GAMES: &str = "data morpion/5D --search nrpa --level 2 --iterations 8 --min-score 45 --games 12";

/// The games of a folder without what they cost.
fn games(home: &Home, folder: &str) -> Vec<serde_json::Value> {
    let line = |line: &str| {
        let mut game: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        game.as_object_mut().expect("an object").remove("cpu_seconds");
        game
    };
    home.read(&format!("{folder}/games.jsonl")).lines().map(line).collect()
}

#[test]
fn games_are_the_same_at_any_number_of_threads_and_after_a_kill() {
    let home = Home::new();
    let one = home.json(&format!("{GAMES} --threads 1 --out one --quiet --json"));
    assert_eq!(one["games"], 12);
    assert!(one["scores"].as_array().expect("scores").iter().all(|score| score.as_f64() >= Some(45.0)));
    assert!(home.read("one/diversity.svg").contains("<svg"));
    home.json(&format!("{GAMES} --threads 3 --out three --quiet --json"));
    assert_eq!(games(&home, "one"), games(&home, "three"));

    let mut child = home.spawn(&format!("{GAMES} --threads 2 --out killed"));
    until("a game", || std::fs::read(home.path("killed/games.jsonl")).is_ok_and(|bytes| !bytes.is_empty()));
    child.kill().expect("a running child");
    finish(child);
    // What a crash leaves of a last line does not count.
    let torn = home.read("killed/games.jsonl") + "{\"seed\":";
    home.write("killed/games.jsonl", torn);
    let ran = home.run("resume killed --quiet");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("12 games"), "{}", ran.stdout);
    assert_eq!(games(&home, "one"), games(&home, "killed"));
    // The seed of a game finds it again.
    let game = &games(&home, "one")[0];
    let again = home.json(&format!(
        "solve morpion/5D --level 2 --iterations 8 --best-of 1 --seed {} --json",
        game["seed"]
    ));
    assert_eq!(again["score"].as_f64(), game["score"].as_f64());
}

#[test]
fn other_games_of_a_search_stand_before_its_best() {
    let home = Home::new();
    let line = "data morpion/5D --search nrpa --level 2 --iterations 10 --min-score 45 --max-score 60 --on-the-way 4 \
                --games 14 --quiet --json";
    let whole = home.json(&format!("{line} --threads 2 --out whole"));
    assert_eq!(whole["games"], 14);
    let lines = games(&home, "whole");
    let kept: Vec<_> = lines.iter().filter(|game| game.get("moves").is_some()).collect();
    assert_eq!(kept.len(), 14);
    assert!(kept.iter().all(|game| (45.0..=60.0).contains(&game["score"].as_f64().expect("a score"))));
    let searches: std::collections::HashSet<_> = lines.iter().map(|game| game["seed"].as_u64()).collect();
    assert!(searches.len() < 8, "{} searches: hardly any game on the way", searches.len());
    for seed in searches {
        let of_one: Vec<_> = lines.iter().filter(|game| game["seed"].as_u64() == seed).collect();
        let (best, others) = of_one.split_last().expect("a game");
        assert!(best.get("on_the_way").is_none(), "{best}");
        assert!(others.len() <= 4 && others.iter().all(|other| other["on_the_way"] == true));
        assert!(others.iter().all(|other| other["score"].as_f64() <= best["score"].as_f64()));
    }
    // Killed between two lines of a search: the rest of them, and none twice.
    let at = lines.iter().position(|game| game.get("on_the_way").is_some()).expect("one on the way") + 1;
    let text = home.read("whole/games.jsonl");
    home.json(&format!("{line} --threads 1 --out killed"));
    home.write(
        "killed/games.jsonl",
        text.lines().take(at).map(|line| format!("{line}\n")).collect::<String>(),
    );
    assert_eq!(home.run("resume killed --quiet").code, 0);
    assert_eq!(games(&home, "killed"), lines);
    let trained = "train whole --filters 2 --depth 1 --epochs 1 --held-out 0.4";
    assert_eq!(home.run(&format!("{trained} --held-out-by search --out net --quiet")).code, 0);
    let ran = home.run(&format!("{trained} --held-out-by day"));
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--held-out-by day: expected game or search"), "{}", ran.stderr);
}

#[test]
fn a_training_killed_ends_in_the_same_network() {
    let home = Home::new();
    home.json(&format!("{GAMES} --out games --quiet --json"));
    let train =
        "train games --filters 4 --depth 2 --epochs 3 --batch 16 --held-out 0.3 --checkpoint-every 1ms";
    let whole = home.json(&format!("{train} --threads 1 --out whole --quiet --json"));
    let epochs = whole["epochs"].as_array().expect("epochs");
    assert_eq!(epochs.len(), 3);
    let loss = |epoch: usize| epochs[epoch]["train"]["loss"].as_f64().expect("a loss");
    assert!(loss(2) < loss(0), "{epochs:?}");

    let mut child = home.spawn(&format!("{train} --threads 2 --out killed"));
    until("a checkpoint", || home.path("killed/checkpoint").exists());
    child.kill().expect("a running child");
    finish(child);
    let resumed = home.json("resume killed --quiet --json");
    assert_eq!(resumed["epochs"].as_array().expect("epochs").len(), 3);
    let net = |folder: &str| std::fs::read(home.path(folder).join("net.safetensors")).expect("a network");
    assert!(net("whole") == net("killed"), "the same weights");
    assert!(home.read("killed/accuracy.svg").contains("<svg"));
    // It plays.
    home.json("solve morpion/5D --search sample --playouts 2 --policy whole/net.safetensors --seed 1 --json");
}

#[test]
fn a_value_head_learns_what_games_end_with() {
    let home = Home::new();
    home.json(&format!("{GAMES} --out games --quiet --json"));
    let train =
        "train games --filters 4 --depth 2 --epochs 3 --batch 16 --held-out 0.3 --checkpoint-every 1ms";
    let whole = home.json(&format!("{train} --value --threads 1 --out whole --quiet --json"));
    let error = |told: &serde_json::Value, epoch: usize, key: &str| -> f64 {
        told["epochs"][epoch]["score_error"][key].as_f64().expect("an error")
    };
    assert!(error(&whole, 2, "train") < error(&whole, 0, "train"), "{whole}");
    for key in ["train", "train_mean", "test", "test_mean"] {
        assert!((0.01..100.0).contains(&error(&whole, 2, key)), "{key}: {whole}");
    }
    assert_eq!(home.read("whole/curve.jsonl").matches("score_error").count(), 3);
    let ran = home.run("resume whole");
    assert!(ran.code == 0 && ran.stdout.contains("score off by"), "{}{}", ran.stdout, ran.stderr);

    let mut child = home.spawn(&format!("{train} --value --threads 2 --out killed"));
    until("a checkpoint", || home.path("killed/checkpoint").exists());
    child.kill().expect("a running child");
    finish(child);
    let resumed = home.json("resume killed --quiet --json");
    for key in ["train", "test"] {
        assert_eq!(error(&resumed, 2, key), error(&whole, 2, key));
    }
    let net = |folder: &str| std::fs::read(home.path(folder).join("net.safetensors")).expect("a network");
    assert!(net("whole") == net("killed"), "the same weights");
    home.json("solve morpion/5D --search sample --playouts 2 --policy whole/net.safetensors --seed 1 --json");

    // Without one nothing is said about it; a network can be given one later, and keeps it.
    let plain = home.json(&format!("{train} --out plain --quiet --json"));
    assert!(plain["epochs"][2].get("score_error").is_none(), "{plain}");
    let line = "train games --epochs 1 --held-out 0.3 --quiet --json";
    error(&home.json(&format!("{line} --from plain/net.safetensors --value --out grown")), 0, "test");
    error(&home.json(&format!("{line} --from grown/net.safetensors --out further")), 0, "test");
    let exit =
        "exit morpion/5D --search nrpa --level 1 --iterations 4 --games 3 --memory 6 --samples 2 --rounds 2";
    home.json(&format!("{exit} --filters 2 --depth 1 --epochs 1 --value --out exit --quiet --json"));
    let curve = home.read("exit/round-0002/net/curve.jsonl");
    assert!(curve.contains("score_error"), "{curve}");

    // A file whose spec has a head and whose tensors have not.
    let mut bytes = net("plain");
    let (old, new) = (br#"\"value\":false"#, br#"\"value\":true "#);
    let at = bytes.windows(old.len()).position(|part| part == old).expect("a spec");
    bytes[at..at + new.len()].copy_from_slice(new);
    home.write("torn.safetensors", bytes);
    let ran = home.run("solve morpion/5D --search sample --playouts 2 --policy torn.safetensors");
    let expected = "tensor value.weight: expected F32 [1, 4], found none";
    assert!(ran.code == 2 && ran.stderr.contains(expected), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_learnt_is_refused() {
    let home = Home::new();
    let refused = |line: &str, expected: &str| {
        let ran = home.run(line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains(expected), "{line}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    };
    refused("data schur/4 --games 1", "expected morpion or samegame");
    refused("data loa --games 1", "");
    refused("exit morpion/5D --search sample --mix 1.5", "--mix 1.5: expected a number from 0 to 1");
    refused("train nowhere", "nowhere");
    home.json("data morpion/5D --search sample --playouts 1 --games 6 --out games --quiet --json");
    refused("train games --rep r9", "expected r1 or r2");
    refused("train games --net huge", "expected basic, residual or mobile");
    refused("train games --lr 0", "--lr 0");
    refused("train games --device abacus", "there is no device 'abacus'");
    #[cfg(not(feature = "burn"))]
    refused("train games --device burn-cpu", "--features burn");
    refused("data morpion/5T --games 6 --out games", "holds another set of games");
    home.write("net.safetensors", "no network");
    refused("train games --from net.safetensors", "net.safetensors: not a whole safetensors file");
}

#[test]
fn a_network_and_a_search_teach_each_other() {
    let home = Home::new();
    let exit = "exit morpion/5D --search nrpa --level 1 --iterations 6 --games 6 --first-games 9 --memory 8 --samples 4 --filters 4 \
                --depth 2 --epochs 1 --quiet --json";
    let whole = home.json(&format!("{exit} --rounds 3 --out whole"));
    let rounds = whole["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 3);
    assert!(rounds.windows(2).all(|pair| pair[0]["best"].as_f64() <= pair[1]["best"].as_f64()));
    assert_eq!(home.run("verify whole/best.record").code, 0);
    assert!(home.read("whole/curve.svg").contains("<svg"));

    let mut child = home.spawn(&format!("{exit} --rounds 3 --out killed"));
    until("a network", || home.path("killed/round-0001/net/net.safetensors").exists());
    child.kill().expect("a running child");
    finish(child);
    let killed = home.json("resume killed --quiet --json");
    for (round, other) in rounds.iter().zip(killed["rounds"].as_array().expect("rounds")) {
        assert_eq!(round["network"], other["network"]);
        assert_eq!(round["expert"], other["expert"]);
    }
    let net = |folder: &str| std::fs::read(home.path(folder).join("best.safetensors")).expect("a network");
    assert!(net("whole") == net("killed"), "the same network");
}

#[test]
fn expert_iteration_has_no_more_time_when_it_is_asked_again() {
    let home = Home::new();
    let exit = "exit morpion/5D --search nrpa --level 1 --iterations 6 --games 6 --memory 8 --samples 4 --filters 4 \
                --depth 2 --epochs 1 --quiet --json --time 3s --out timed";
    let first = home.json(exit);
    let spent = home.read("timed/spent");
    assert!(spent.trim().parse::<f64>().expect("seconds") >= 3.0, "{spent}");
    assert_eq!(home.json(exit)["rounds"], first["rounds"]);
    // Whatever stands there is no reason to stop.
    home.write("timed/spent", "nonsense");
    assert_eq!(home.run(exit).code, 0);
}
