//! `sortie convert`: records go out in the formats of others and come back; what is wrong is told by file and line.

use crate::Home;

fn records() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records")
}

#[test]
fn records_go_out_and_come_back() {
    let home = Home::new();
    for (record, format) in [
        ("morpion-5D-82", "pentasol"),
        ("morpion-5T-178", "msr"),
        ("vrptw-R101-1650.80", "sol"),
        ("vrptw-R101-1650.80", "sintef"),
    ] {
        let file = records().join(format!("{record}.record"));
        let out =
            home.command_of(&["convert", file.to_str().unwrap(), "--to", format, "--out", "theirs"]).output();
        assert!(out.expect("it starts").status.success(), "{record}");
        let ran = home.run("convert theirs --to record --out ours.record");
        assert_eq!(ran.code, 0, "{record}: {}", ran.stderr);
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(
            crate::record_moves(&home.path("ours.record")),
            sortie_core::Record::parse(&text).unwrap().moves
        );
        assert_eq!(home.run("verify ours.record").code, 0, "{record} {format}");
    }
    // A run and a game of a match, straight from their folders; the origin goes with them.
    home.json("solve morpion/5D --level 1 --seed 3 --playouts 50 --quiet --json --out run");
    let text = home.run("convert run --to pentasol").stdout;
    for says in [
        "# seed = 3",
        "# instance = morpion/5D",
        "# version = sortie",
        "# search = nrpa level 1",
        "(28,28)\n",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let line =
        "match connect6/7 --player random --player random --games 2 --limit 1playouts --quiet --out match";
    assert_eq!(home.run(line).code, 0);
    assert_eq!(home.run("convert match --game 1 --to sgf --out game.sgf").code, 0);
    assert!(home.read("game.sgf").contains("PB[random"), "{}", home.read("game.sgf"));
    assert_eq!(home.run("convert game.sgf --to record --out game.record").code, 0);
    assert_eq!(home.run("verify game.record").code, 0);
    assert!(home.run("convert match --to sgf").stderr.contains("--game 0"));
}

#[test]
fn what_is_wrong_is_told_by_file_and_line() {
    let home = Home::new();
    home.write("unknown.psol", "(28,28)\n(27,25) - +2\n");
    home.write("illegal.psol", "# instance = morpion/5T\n(28,28)\n(27,25) - +2\n(27,25) - +2\n");
    home.write("short.psol", "# instance = morpion/5T\n(28,28)\n(27,25) - +2\n");
    home.write("bad.sgf", "(;GM[11]SZ[5]\n;B[a1]\n;W[a1])\n");
    home.write("late.sol", "# instance = vrptw/R101\nRoute #1: 1 2 3\n");
    home.write("notes", "Dear diary\n");
    let own = "sortie record 1\ninstance = schur/3\nscore = 1\n\n1 2\n";
    home.write("schur.record", own);
    for (line, says) in [
        ("unknown.psol --to record", "--instance"),
        ("illegal.psol --to record", "illegal.psol:4: move 2"),
        ("short.psol --to msr", "short.psol:3: the moves stop after 1"),
        ("bad.sgf --to record", "bad.sgf:3: move 2 'a1'"),
        ("late.sol --to record", "late.sol:2: "),
        ("notes --to record", "notes:1: not a format"),
        ("absent --to record", "no such file"),
        ("schur.record --to sgf", "schur.record:5: "),
        ("unknown.psol --to record --instance hex/5", "unknown.psol:2: "),
    ] {
        let ran = home.run(&format!("convert {line}"));
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{line}: {}", ran.stderr);
        assert!(ran.stdout.is_empty());
    }
}
