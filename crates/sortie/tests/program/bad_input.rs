//! Bad input: one line on stderr that says what to do, exit 2, nothing on stdout, nothing left behind.

use crate::Home;

/// Runs a command that must be refused; `expected` is part of what it says.
fn refused(home: &Home, words: &[&str], expected: &str) {
    let before = home.names();
    let ran = crate::Ran::from(home.command_of(words).output().expect("the program starts"));
    assert_eq!(ran.code, 2, "{words:?}: {}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{words:?} says one line: {}", ran.stderr);
    assert!(ran.stderr.contains(expected), "{words:?} says '{}', expected '{expected}'", ran.stderr.trim());
    assert_eq!(ran.stdout, "", "{words:?}");
    assert_eq!(home.names(), before, "{words:?} left something behind");
}

fn refused_line(home: &Home, line: &str, expected: &str) {
    refused(home, &line.split(' ').collect::<Vec<_>>(), expected);
}

#[test]
fn instances_that_are_not_there() {
    let home = Home::new();
    home.write("cut.txt", "0123\n012\n");
    home.write("colours.txt", "0123\n0193\n");
    home.write("empty.txt", "");
    home.write("binary", [0xff, 0xfe, 0x00, 0x80]);
    std::fs::create_dir(home.path("folder")).unwrap();
    std::fs::File::create(home.path("huge")).unwrap().set_len(17 << 20).unwrap();
    let huge = home.path("absent/board.txt").display().to_string();
    for (instance, expected) in [
        ("samegam/1", "did you mean 'samegame'?"),
        ("chess/1", "sortie list"),
        ("", "domain/name"),
        ("samegame/21", "1 to 20"),
        ("samegame/", "expected"),
        ("samegame/nowhere.txt", "no such file"),
        (&format!("samegame/{huge}"), "no such file"),
        ("samegame/folder", "folder"),
        ("samegame/binary", "not a text file"),
        ("samegame/huge", "larger than 16 MiB"),
        ("samegame/cut.txt", "cut.txt:2:"),
        ("samegame/colours.txt", "colours.txt:2: column 3: '9' is not a colour"),
        ("samegame/empty.txt", "rows of digits"),
        ("samegame/1:score=points", "papers, penalty"),
        ("samegame/1:scoer=papers", "unknown option"),
        ("leftmove/0", "1 to 100000"),
    ] {
        refused(&home, &["solve", instance], expected);
        refused(&home, &["show", instance], expected);
    }
    refused_line(&home, "solve nim/21", "a game");
    refused_line(&home, "solve samegame/1 --level 9", "1 to 8");
    // What moved says where it is.
    refused_line(&home, "bench playouts samegame/1", "lab bench");
    refused_line(&home, "reproduce", "lab paper");
}

#[test]
fn a_solomon_file_with_a_fault_is_refused_with_its_line() {
    let home = Home::new();
    let whole = include_str!("../../../domains/instances/solomon/C101.txt");
    let row = whole.lines().position(|line| line.split_whitespace().next() == Some("3")).expect("customer 3");
    let changed = |change: &dyn Fn(&str) -> String| {
        let lines = whole.lines().enumerate();
        lines.map(|(i, line)| if i == row { change(line) } else { line.into() } + "\n").collect::<String>()
    };
    let line = format!("bad.txt:{}:", row + 1);
    let missing = changed(&|line| line.trim_end().rsplit_once(' ').expect("columns").0.into());
    for bad in [missing, changed(&|line| line.replace("42", "x")), changed(&|_| "3 42".into())] {
        home.write("bad.txt", bad);
        refused_line(&home, "solve vrptw/bad.txt", &line);
    }
    home.write("bad.txt", &whole[..whole.find("CUSTOMER").expect("a table")]);
    refused_line(&home, "solve vrptw/bad.txt", "bad.txt:");
}

#[test]
fn parameters_out_of_range() {
    let home = Home::new();
    for (options, expected) in [
        ("--level 0", "1 to 8"),
        ("--level 99", "1 to 8"),
        ("--level -1", "level"),
        ("--level two", "level"),
        ("--iterations 0", "at least 1"),
        ("--alpha 0", "above 0"),
        ("--alpha nan", "alpha"),
        ("--alpha -1", "above 0"),
        ("--time 0", "above 0"),
        ("--time 0s", "above 0"),
        ("--time 20", "20s"),
        ("--time -5s", "time"),
        ("--time soon", "20s"),
        ("--cpu-time 0s", "above 0"),
        ("--playouts 0", "playouts"),
        ("--patience 0", "patience"),
        ("--threads 0", "threads"),
        ("--best-of 0", "best-of"),
        ("--target nan", "target"),
        ("--target high", "target"),
        ("--seed -1", "seed"),
        ("--seed 99999999999999999999", "seed"),
        ("--selective perhaps", "selective"),
        ("--search nrpx", "auto, nrpa, hd-nrpa, beam-nrpa, nmcs, beam, own, sample"),
        ("--search sample --level 2", "no --level"),
        ("--search sample --iterations 2", "no --iterations"),
        ("--search nmcs --iterations 10", "no --iterations"),
        ("--search nmcs --alpha 1", "no --alpha"),
        ("--search nmcs --bias", "no --bias"),
        ("--search beam --width 0", "1 to 1000000"),
        ("--search beam --noise nan", "noise"),
        ("--search beam --level 2", "no --level"),
        ("--search nrpa --width 10", "no --width"),
        ("--levle 3", "--level"),
    ] {
        refused_line(&home, &format!("solve samegame/1 {options}"), expected);
    }
    refused_line(&home, "solve", "INSTANCE");
    refused_line(&home, "sovle samegame/1", "solve");
}

#[test]
fn folders_that_cannot_be_written() {
    let home = Home::new();
    home.write("file", "text");
    refused_line(&home, "solve leftmove/5 --level 1 --out file", "file");
    refused_line(&home, "solve leftmove/5 --level 1 --out file/run", "file/run");
    refused_line(&home, "solve leftmove/5 --level 1 --out .", "not empty");
    if cfg!(target_os = "linux") {
        // Even the superuser, whom permissions do not stop, cannot write there.
        refused_line(&home, "solve leftmove/5 --level 1 --out /proc/run", "/proc/run");
    }
    // Without --out the folder goes to runs/, which may be in the way too.
    home.write("runs", "not a folder");
    refused_line(&home, "solve leftmove/5 --level 1", "runs");
}

#[test]
fn a_folder_in_use_is_not_overwritten() {
    let home = Home::new();
    home.json("solve leftmove/5 --level 1 --seed 1 --json --out run");
    let before = home.read("run/best.record");
    refused_line(&home, "solve leftmove/5 --level 1 --out run", "sortie resume run");
    assert_eq!(home.read("run/best.record"), before);
}

#[test]
fn what_is_no_record_and_no_run() {
    let home = Home::new();
    home.write("notes", "not a record\n");
    home.write("newer.record", "sortie record 2\n");
    home.write("lost.record", "sortie record 1\ninstance = samegame/lost.txt\nscore = 1\n\na1\n");
    std::fs::create_dir(home.path("empty")).unwrap();
    std::fs::create_dir(home.path("odd")).unwrap();
    home.write("odd/spec.toml", "format = 1\nsortie = \"0.1.0\"\nseed = yes\n");
    for command in ["verify", "replay"] {
        refused_line(&home, &format!("{command} absent"), "no such file");
        refused_line(&home, &format!("{command} notes"), "notes:1: not a record");
        refused_line(&home, &format!("{command} newer.record"), "another version");
        refused_line(&home, &format!("{command} lost.record"), "lost.txt");
        refused_line(&home, &format!("{command} empty"), "not a run folder");
        refused_line(&home, &format!("{command} odd"), "no best.record yet");
    }
    refused_line(&home, "resume absent", "not a run folder");
    refused_line(&home, "resume empty", "not a run folder");
    refused_line(&home, "resume odd", "spec.toml:3");
    refused_line(&home, "verify lost.record --instance nowhere", "domain/name");
    refused_line(&home, "show leftmove/5 --png a.png", "no picture");
    refused_line(&home, "show samegame/1 --png absent/a.png", "absent/a.png");
    refused_line(&home, "show samegame/1 --png a.png --scale 0", "--scale");
    refused_line(&home, "show samegame/1 --after 3", "--moves");
    refused_line(&home, "show leftmove/5 --moves up", "move 1 'up'");
}
