//! Engines of others in jobs: those that obey, and those that ignore exclusion, crash, hang, flood or lie. All are
//! written in the language of the shell.

use crate::{Home, Ran};
use serde_json::{Value, json};

/// The first move of `legal` that is not in `exclude`, for the line protocol; what else happens is the script's.
fn lines(home: &Home, name: &str, before: &str, answer: &str) {
    let text = format!(
        "IFS='\t'\nwhile read -r a b c d; do\n exclude=\" ${{b#exclude=}} \"; best=\n IFS=' '\n \
         for word in ${{c#legal=}}; do case $exclude in *\" $word \"*) ;; *) best=${{best:-$word}};; esac; done\n \
         {before}\n {answer}\n IFS='\t'\ndone\n"
    );
    home.write(name, text);
}

fn words(home: &Home, words: &[&str]) -> Ran {
    Ran::from(home.command_of(words).output().expect("the program starts"))
}

/// Proves that twelve are lost for who begins, with jobs too small for the solver to do it alone.
fn prove(home: &Home, engine: &str, more: &[&str]) -> Ran {
    let line =
        ["prove", "nim/12", "--job-nodes", "2", "--workers", "2", "--json", "--quiet", "--player", engine];
    words(home, &[&line[..], more].concat())
}

#[test]
fn an_engine_that_obeys_does_jobs() {
    let home = Home::new();
    lines(&home, "good", ":", "echo \"$best 0.6\"");
    let ran = words(&home, &["probe", "text:/bin/sh good", "nim/21", "--jobs", "5", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let found = ran.json();
    assert_eq!((&found["accepted"], &found["faults"]), (&json!(true), &json!(0)));
    assert_eq!(found["jobs"].as_array().map(Vec::len), Some(5));
    assert_eq!(found["jobs"][0]["status"], "b1");
    let questions = found["probe"]["questions"].as_array().expect("questions");
    assert!(
        questions.iter().any(|q| q["exclude"] == json!(["1", "2"]) && q["answer"] == "3"),
        "{questions:?}"
    );
    let ran = prove(&home, "text:/bin/sh good", &[]);
    assert_eq!((ran.code, &ran.json()["value"]), (0, &Value::from("second wins")), "{}", ran.stderr);
    // Our own engine, too, and it can be resumed.
    let own = format!("uci:\"{}\" engine tictactoe/3", env!("CARGO_BIN_EXE_sortie"));
    let line = ["prove", "tictactoe/3", "--job-nodes", "20", "--job-playouts", "20", "--json", "--quiet"];
    let ran = words(&home, &[&line[..], &["--player", &own, "--out", "own"]].concat());
    assert_eq!((ran.code, &ran.json()["value"]), (0, &Value::from("a draw")), "{}", ran.stderr);
    let ran = home.run("resume own --json --quiet");
    assert!(ran.code == 2 && ran.stderr.contains("--programs"), "{}", ran.stderr);
    assert_eq!(home.json("resume own --programs --json --quiet")["value"], "a draw");
}

#[cfg(unix)]
#[test]
fn an_engine_that_ignores_exclusion_is_refused_with_the_evidence() {
    let home = Home::new();
    home.write("deaf", "while read -r line; do echo 2; done\n");
    let ran = words(&home, &["probe", "text:/bin/sh deaf", "nim/21"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("REFUSED   it plays excluded moves: at the start without 2 it plays 2"));
    let found = words(&home, &["probe", "text:/bin/sh deaf", "nim/21", "--json"]).json();
    let expected = json!({"why": "ignored", "moves": [], "exclude": ["2"], "answer": "2", "value": null});
    assert_eq!((&found["probe"]["refusal"], &found["accepted"]), (&expected, &json!(false)));
    let ran = prove(&home, "text:/bin/sh deaf", &[]);
    assert!(ran.code == 2 && ran.stderr.contains("without 2 it plays 2"), "{}", ran.stderr);
    // UCI: it hears searchmoves and does not care.
    home.write(
        "uci",
        "while read -r a b; do case $a in uci) echo uciok;; isready) echo readyok;; go) echo bestmove 1;; esac; done\n",
    );
    let ran = words(&home, &["probe", "uci:/bin/sh uci", "nim/21", "--nodes", "10"]);
    assert!(ran.code == 1 && ran.stdout.contains("without 1 it plays 1"), "{}{}", ran.stdout, ran.stderr);
    // GTP and Gomocup: there is no such command.
    home.write(
        "gtp",
        "while read -r a b; do case $a in genmove) printf '= 1\\n\\n';; *) printf '=\\n\\n';; esac; done\n",
    );
    let ran = words(&home, &["probe", "gtp:/bin/sh gtp", "nim/21"]);
    assert!(ran.code == 1 && ran.stdout.contains("knows no command that leaves moves out"), "{}", ran.stdout);
    home.write(
        "gomocup",
        "while read -r a b; do case $a in START*|RESTART) echo OK;; BEGIN|DONE) echo 7,7;; \
         YXBLOCK) echo UNKNOWN command;; esac; done\n",
    );
    let ran = words(&home, &["probe", "gomocup:/bin/sh gomocup", "gomoku"]);
    assert!(ran.code == 1 && ran.stdout.contains("without h8: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("it says 'UNKNOWN command'"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn gomocup_engines_are_told_what_is_blocked() {
    let home = Home::new();
    // The first point that is neither taken nor blocked.
    home.write(
        "engine",
        "taken=; blocked=; mode=\n\
         play() { x=0; y=0\n \
         while :; do case \" $taken $blocked \" in *\" $x,$y \"*) ;; *) break;; esac\n \
         x=$((x+1)); if [ $x = 15 ]; then x=0; y=$((y+1)); fi; done\n \
         echo \"MESSAGE depth 3 ev 0\"; echo \"$x,$y\"; }\n\
         while read -r line; do case $line in\n \
         START*|RESTART) taken=; echo OK;;\n YXBLOCKRESET) blocked=;;\n YXBLOCK) mode=block;;\n \
         BOARD) taken=; mode=board;;\n BEGIN) play;;\n END) exit;;\n \
         DONE) if [ \"$mode\" = board ]; then play; fi; mode=;;\n \
         *,*,*) taken=\"$taken ${line%,*}\";;\n *,*) blocked=\"$blocked $line\";;\n esac; done\n",
    );
    let ran = words(&home, &["probe", "gomocup:/bin/sh engine", "gomoku/15", "--jobs", "12", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let found = ran.json();
    let jobs = found["jobs"].as_array().expect("jobs");
    assert!(jobs.iter().any(|job| job["exclude"] == json!(["a1"]) && job["best"] == "b1"), "{jobs:?}");
    assert!(jobs.iter().any(|job| job["moves"] == json!(["a1"]) && job["best"] == "b1"), "{jobs:?}");
    assert_eq!(jobs[0]["status"], "stable");
    // It plays games, too.
    let line =
        ["play", "gomoku/15", "--side", "none", "--player", "gomocup:/bin/sh engine", "--playouts", "10"];
    let ran = words(&home, &line);
    assert!(ran.code == 0 && ran.stdout.contains("first wins"), "{}{}", ran.stdout, ran.stderr);
}

#[cfg(unix)]
#[test]
fn an_engine_that_crashes_is_started_again_and_one_that_only_crashes_is_given_up() {
    let home = Home::new();
    // Every third question ends it; the probe asks fewer of one process.
    lines(
        &home,
        "frail",
        "n=$((n+1)); if [ -e mad ] && [ $((n%3)) = 0 ]; then exit 3; fi",
        "echo $best; : > mad",
    );
    let ran = prove(&home, "text:/bin/sh frail", &[]);
    // The probe itself meets a crash: that is a refusal.
    assert!(ran.code == 2 && ran.stderr.contains("exit status: 3"), "{}", ran.stderr);
    lines(&home, "late", "n=$((n+1)); if [ $((n%17)) = 0 ]; then exit 3; fi", "echo $best");
    let ran = prove(&home, "text:/bin/sh late", &[]);
    assert_eq!((ran.code, &ran.json()["value"]), (0, &Value::from("second wins")), "{}", ran.stderr);
    // Well behaved while it is probed (nine questions), and never again.
    lines(
        &home,
        "gone",
        "n=$((n+1)); if [ -e gone.flag ]; then exit 4; fi; [ $n = 9 ] && : > gone.flag",
        "echo $best",
    );
    let ran = prove(&home, "text:/bin/sh gone", &[]);
    assert!(ran.code == 2 && ran.stderr.contains("failed 5 times in a row"), "{}", ran.stderr);
    assert!(ran.stderr.contains("exit status: 4"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn engines_that_hang_flood_or_talk_nonsense_are_refused() {
    let home = Home::new();
    lines(&home, "hang", "sleep 1000", "echo $best");
    lines(&home, "twice", ":", "echo $best; echo $best");
    home.write(
        "flood",
        "while read -r a b; do case $a in uci) echo uciok;; isready) echo readyok;; go) cat /dev/zero;; esac; done\n",
    );
    lines(&home, "crash", "echo oops >&2; exit 3", "echo $best");
    lines(&home, "nonsense", ":", "echo e2e4");
    for (name, expected) in [
        ("hang", "no answer within 1 s"),
        ("flood", "more than 4194304 bytes of output"),
        ("crash", "exit status: 3 (oops)"),
        ("nonsense", "its answer is no legal move"),
        // A second line is either there before the next question, or taken for its answer.
        ("twice", "REFUSED"),
    ] {
        let timeout = if name == "hang" { "1s" } else { "60s" };
        let protocol = if name == "flood" { "uci" } else { "text" };
        let spec = format!("{protocol}[timeout={timeout},time=10ms]:/bin/sh {name}");
        let ran = words(&home, &["probe", &spec, "nim/21"]);
        let seconds = expected.replace("1 s", "2 s");
        let told = ran.stdout.contains(expected) || ran.stdout.contains(&seconds);
        assert!(ran.code == 1 && told, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn what_a_liar_is_sure_of_proves_nothing_unless_its_word_is_taken() {
    let home = Home::new();
    lines(&home, "liar", ":", "echo \"$best 1.0 win\"");
    let ran = prove(&home, "text:/bin/sh liar", &[]);
    let result = ran.json();
    assert_eq!((ran.code, &result["value"]), (0, &Value::from("second wins")), "{}", ran.stderr);
    assert!(result["jobs"]["doubted"].as_u64() > Some(0), "{}", result["jobs"]);
    let ran = prove(&home, "text:/bin/sh liar", &["--trust", "word"]);
    assert_ne!(ran.json()["value"], "second wins", "who believes a liar is deceived");
    let ran = prove(&home, "text:/bin/sh liar", &["--trust", "nobody"]);
    assert!(ran.code == 2 && ran.stderr.contains("expected one of word, solver, checked"), "{}", ran.stderr);
}

#[test]
fn a_tree_of_jobs_plays_games() {
    let home = Home::new();
    let spec = "job-level[jobs=300,nodes=20,playouts=0]";
    let ran = words(&home, &["play", "nim/21", "--side", "none", "--player", spec]);
    assert!(ran.code == 0 && ran.stdout.contains("first wins"), "{}{}", ran.stdout, ran.stderr);
    let ran = words(
        &home,
        &["analyse", "connect6/9", "--player", "job-level[nodes=50]", "--playouts", "2000", "--json"],
    );
    assert_eq!((ran.code, &ran.json()["best"]), (0, &Value::from("e5")), "{}", ran.stderr);
    lines(&home, "good", ":", "echo \"$best 0.6\"");
    let spec = "job-level[jobs=40,nodes=2]:text:/bin/sh good";
    let ran = words(&home, &["analyse", "nim/7", "--player", spec, "--json"]);
    assert_eq!((ran.code, &ran.json()["best"]), (0, &Value::from("3")), "{}", ran.stderr);
}
