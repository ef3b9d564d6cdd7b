//! Networks as policies: `--policy` of a run, refused, copied, resumed.

use crate::Home;

#[cfg(not(feature = "neural"))]
#[test]
fn a_build_without_networks_says_so() {
    let home = Home::new();
    home.write("net.safetensors", "anything");
    let ran = home.run("solve morpion/5D --playouts 1 --policy net.safetensors");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--features neural"), "{}", ran.stderr);
    assert_eq!(home.names(), ["net.safetensors"]);
    for command in ["data morpion/5D", "train games --epochs 3", "exit morpion/5D"] {
        let ran = home.run(command);
        assert_eq!(ran.code, 2, "{command}");
        assert!(ran.stderr.contains("--features neural"), "{command}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{command}: {}", ran.stderr);
    }
    let ran = home.run("trian games");
    assert!(ran.code == 2 && !ran.stderr.contains("neural"), "{}", ran.stderr);
}

#[cfg(feature = "neural")]
mod neural {
    use super::*;
    use crate::net::net;
    use crate::{finish, moves, until};

    #[test]
    fn every_search_takes_a_policy() {
        let home = Home::new();
        home.write("net.safetensors", net().to_bytes());
        for search in [
            "sample",
            "nmcs --level 1 --stabilise 2 --early-stop",
            "nrpa --level 2",
            "hd-nrpa",
            "beam-nrpa",
            "beam --stabilise 2",
        ] {
            let solve = format!("solve morpion/5D --search {search} --playouts 60 --seed 1 --json");
            let plain = home.json(&solve);
            let line = format!("{solve} --policy net.safetensors --mix 0.9 --policy-temperature 0.7");
            assert_ne!(moves(&plain), moves(&home.json(&line)), "{search}");
            assert_eq!(moves(&home.json(&line)), moves(&home.json(&line)), "{search}: the same seed");
            home.json(&format!("{line} --one-pass"));
        }
    }

    #[test]
    fn a_run_with_a_policy_is_resumed_with_the_same_network_only() {
        let home = Home::new();
        home.write("net.safetensors", net().to_bytes());
        let solve = "solve morpion/5D --level 3 --iterations 8 --seed 3 --best-of 2 --threads 2 --quiet --json \
                     --checkpoint-every 20ms --policy net.safetensors --out";
        let whole = home.json(&format!("{solve} whole"));
        let mut child = home.spawn(&format!("{solve} run"));
        until("a checkpoint", || {
            home.path("run/checkpoint").exists() || child.try_wait().expect("a child").is_some()
        });
        child.kill().expect("SIGKILL");
        finish(child);
        // The file may change meanwhile: the folder has its copy.
        home.write("net.safetensors", "retrained");
        let result = home.json("resume run --quiet --json");
        assert_eq!(moves(&result), moves(&whole));
        assert_eq!(result["playouts"], whole["playouts"]);

        let mut other = net().to_bytes();
        let last = other.len() - 1;
        other[last] ^= 1;
        home.write("run/policy.safetensors", other);
        let ran = home.run("resume run --time 1s");
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("expected hash") && ran.stderr.contains("found"), "{}", ran.stderr);
        assert!(home.read("run/best.record").contains("policy net.safetensors ("));
    }

    #[test]
    fn files_that_do_not_fit_are_refused_before_anything_is_written() {
        let home = Home::new();
        let bytes = net().to_bytes();
        home.write("net.safetensors", &bytes);
        home.write("cut.safetensors", &bytes[..bytes.len() / 2]);
        home.write("text.safetensors", "no network");
        let before = home.names();
        for (instance, policy, said) in [
            ("morpion/5D", "cut", "cut.safetensors: not a whole safetensors file"),
            ("morpion/5D", "text", "text.safetensors: not a whole safetensors file"),
            ("morpion/5D", "none", "none.safetensors: no such file"),
            ("morpion/5T", "net", "it is for morpion-5D: expected morpion-5T"),
            ("samegame/1", "net", "it is for morpion-5D: expected samegame"),
            ("schur/3", "net", "schur/3 cannot be shown to a network"),
        ] {
            let ran = home.run(&format!("solve {instance} --playouts 5 --policy {policy}.safetensors"));
            assert_eq!(ran.code, 2, "{instance} {policy}");
            assert!(ran.stderr.contains(said), "{instance} {policy}: {}", ran.stderr);
        }
        assert_eq!(home.names(), before);
    }
}
