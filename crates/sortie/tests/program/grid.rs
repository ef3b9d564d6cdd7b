//! Grids, as far as they can be tested without an engine; with one it is ci/grid.sh.

use crate::Home;

#[cfg(not(feature = "grid"))]
#[test]
fn a_build_without_grids_says_so() {
    let home = Home::new();
    let lines = [
        "worker --grid nats://127.0.0.1:1",
        "broker",
        "prove nim/5 --grid nats://127.0.0.1:1 --out run",
        "match tictactoe/3 --player plain --player random --grid nats://127.0.0.1:1 --out run",
        "solve samegame/1 --grid nats://127.0.0.1:1 --out run",
    ];
    for line in lines {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("--features grid"), "{line}: {}", ran.stderr);
        assert!(!home.path("run").exists(), "{line}");
    }
}

#[cfg(feature = "grid")]
#[test]
fn what_cannot_be_a_grid_is_refused_before_a_folder_is_made() {
    let home = Home::new();
    for (line, said) in [
        ("prove nim/5 --grid http://host --out run", "expected nats://HOST:PORT"),
        ("prove nim/5 --grid nats://host:1 --recheck 2 --out run", "a share from 0 to 1"),
        ("prove nim/5 --grid nats://host:1 --lease 10ms --out run", "from 1s"),
        ("solve samegame/1 --grid nats://host:1 --best-of 3 --out run", "--jobs"),
        ("worker --grid nats://host:1 --name a.b", "letters, digits"),
        ("worker --grid nats://host:1 --player default", "expected an engine"),
        ("prove nim/5 --grid nats://host:1 --player default --out run", "expected an engine"),
        ("match gomoku/9 --player plain --player text:cat --grid nats://host:1 --out run", "is a program"),
        ("match gomoku/9 --player plain --player gomocup:cat --grid nats://host:1 --out run", "is a program"),
        (
            "match gomoku/9 --player plain --player job-level:uci:cat --grid nats://host:1 --out run",
            "is a program",
        ),
        ("broker --listen 0.0.0.0:4222", "--token"),
        ("broker --token x", "8 to 128"),
    ] {
        let ran = home.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
        assert!(!home.path("run").exists(), "{line}");
    }
}
