//! The recipe of CONTRIBUTING.md as a program: the command over a domain that Sortie does not know.

use std::path::Path;
use std::process::{Command, Output};

#[test]
fn the_command_knows_the_domain() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let listed = run(home.path(), &["list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("golomb"), "{listed:?}");
    let words = [
        "solve",
        "golomb/6",
        "--level",
        "2",
        "--iterations",
        "20",
        "--seed",
        "1",
        "--best-of",
        "1",
        "--out",
        "run",
    ];
    let solved = run(home.path(), &words);
    assert!(solved.status.success(), "{solved:?}");
    let verified = run(home.path(), &["verify", "run"]);
    assert!(verified.status.success(), "{verified:?}");
    let ours = run(home.path(), &["solve", "schur/3", "--level", "1", "--iterations", "20", "--out", "ours"]);
    assert!(ours.status.success(), "{ours:?}");
    let refused = run(home.path(), &["solve", "golomb/99", "--out", "none"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

fn run(home: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_golomb"))
        .args(words)
        .current_dir(home)
        .output()
        .expect("the program starts")
}
