//! What may happen to any long command: it is asked to stop, its folder is of another version, the disk is full. Nothing
//! that was found is lost, and it goes on. `lab drill resume` and `ci/drills.sh` have the drills that take longer.

use crate::versions::other_versions_are_refused;
use crate::{Home, until};

#[test]
fn folders_of_other_versions_are_refused_and_left_alone() {
    let home = Home::new();
    home.json("solve leftmove/9 --level 1 --playouts 9 --seed 1 --quiet --json --out solve");
    let match_ =
        "match nim/9 --player random --player random --games 2 --limit 1playouts --quiet --out match";
    assert_eq!(home.run(match_).code, 0);
    let tune = "tune nim/9 --player plain --param c=0.1..2.0 --against random --games 2 --limit 1playouts --quiet --out tune";
    assert_eq!(home.run(tune).code, 0);
    assert_eq!(home.run("prove nim/4 --quiet --out prove").code, 0);
    other_versions_are_refused(
        &home,
        &["solve/spec.toml", "match/match.toml", "tune/tune.toml", "prove/prove.toml"],
    );
    // The same command with the same --out does not misread it either.
    home.write("match/match.toml", home.read("match/match.toml").replace("format = 1", "format = 2"));
    assert!(home.run(match_).stderr.contains("another version"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_no_search_and_loses_nothing() {
    let home = Home::new();
    let line = "solve samegame/1 --level 3 --iterations 24 --seed 7 --best-of 1 --checkpoint-every 50ms --json --out run";
    let child = home.spawn(line);
    until("a checkpoint", || home.path("run/checkpoint").exists() && home.path("run/best.record").exists());
    crate::long::fill(&child);
    let ran = crate::finish(child);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("warning: cannot write").count(), 1, "{}", ran.stderr);
    let whole = home.json(&line.replace("--out run", "--quiet --out whole"));
    assert_eq!(crate::moves(&ran.json()), crate::moves(&whole), "it searched on as if nothing had been");
    // What was on the disk before is there, whole, and once there is room again the run ends as it should.
    assert_eq!(home.run("verify run").code, 0);
    assert_eq!(crate::moves(&home.json("resume run --quiet --json")), crate::moves(&whole));
    assert_eq!(home.run("verify run").code, 0);
}
