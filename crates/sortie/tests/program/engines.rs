//! Games as a program: `play`, `analyse`, `engine`, and engines of others that end, hang, flood or talk nonsense.

use crate::{Home, Ran, finish, until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Runs the program with this on its input, to its end.
fn fed(home: &Home, words: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut command = home.command_of(words);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (mut stdin, input) = (child.stdin.take().expect("piped"), input.as_ref().to_vec());
    let writer = std::thread::spawn(move || {
        // Whoever has quit reads no more.
        let _ = stdin.write_all(&input);
    });
    let ran = finish(child);
    writer.join().expect("written");
    ran
}

/// `sortie engine` under way.
struct Session {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Session {
    fn start(home: &Home, line: &str) -> Session {
        let mut command = home.command(line);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let stdin = child.stdin.take().expect("piped");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Session { child, stdin, lines }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("it listens");
    }

    /// The next line that begins so; what comes before it is passed over.
    fn hear(&mut self, beginning: &str) -> String {
        loop {
            let line =
                self.lines.recv_timeout(crate::home::DEADLINE).unwrap_or_else(|_| panic!("no {beginning}"));
            if line.starts_with(beginning) {
                return line;
            }
        }
    }

    /// Nothing that begins so has been said so far.
    fn silent(&mut self, beginning: &str) {
        self.say("isready");
        loop {
            let line = self.lines.recv_timeout(crate::home::DEADLINE).expect("readyok");
            assert!(!line.starts_with(beginning), "{line}");
            if line == "readyok" {
                return;
            }
        }
    }

    fn end(mut self) -> i32 {
        drop(self.stdin);
        let mut code = None;
        until("the engine to end", || {
            code = self.child.try_wait().expect("a child").map(|status| status.code().unwrap_or(-1));
            code.is_some()
        });
        code.expect("ended")
    }
}

/// An engine in the language of the shell that says hello properly and then does as the script says.
#[cfg(unix)]
fn foreign(home: &Home, name: &str, script: &str) {
    let text = format!(
        "while read -r line; do\n case \"$line\" in\n  uci) echo 'id name test'; echo uciok;;\n  \
         isready) echo readyok;;\n  quit) exit 0;;\n  go*) {script};;\n esac\ndone\n"
    );
    home.write(name, text);
}

#[cfg(unix)]
#[test]
fn an_engine_that_fails_is_told_from_one_that_plays() {
    let home = Home::new();
    foreign(&home, "good", "echo info string hm; echo bestmove 2");
    foreign(&home, "crash", "echo out of memory >&2; exit 3");
    foreign(&home, "silent", "sleep 1000");
    foreign(&home, "nonsense", "echo bestmove e2e4");
    foreign(&home, "empty", "echo bestmove");
    foreign(&home, "flood", "yes 'info string hello'");
    foreign(&home, "line", "cat /dev/zero");
    home.write("mute", "sleep 1000\n");
    home.write("gone", "exit 0\n");
    for (name, expected) in [
        ("crash", "the engine ended: exit status: 3 (out of memory)"),
        ("silent", "no answer within"),
        ("nonsense", "'e2e4' is not a legal move"),
        ("empty", "'' is not a legal move"),
        ("flood", "more than 4194304 bytes of output"),
        ("line", "more than 4194304 bytes of output"),
        ("mute", "no answer within"),
        ("gone", "the engine ended"),
    ] {
        let start = Instant::now();
        // A short wait only for those that would use it up: the machine may be busy.
        let timeout = if expected.starts_with("no answer") { "1s" } else { "30s" };
        let spec = format!("uci[timeout={timeout}]:/bin/sh {name}");
        let ran = fed(&home, &["analyse", "nim/9", "--playouts", "10", "--json", "--player", &spec], "");
        assert_eq!(ran.code, 2, "{name}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{name}: {}", ran.stderr);
        assert!(start.elapsed() < Duration::from_secs(60), "{name} held us up");
    }
    let spec = "uci:/bin/sh good";
    let ran = fed(&home, &["analyse", "nim/9", "--playouts", "10", "--player", spec, "--json"], "");
    assert_eq!((ran.code, &ran.json()["best"]), (0, &Value::from("2")), "{}", ran.stderr);
    let ran = fed(&home, &["analyse", "nim/9", "--player", "uci:/nowhere/engine"], "");
    assert!(ran.code == 2 && ran.stderr.contains("cannot start '/nowhere/engine'"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn after_a_fault_the_engine_is_started_again() {
    let home = Home::new();
    // Fails once, and then plays.
    foreign(&home, "once", "if [ -e failed ]; then echo bestmove 1; else : > failed; exit 1; fi");
    let words = ["play", "nim/9", "--player", "uci:/bin/sh once", "--playouts", "10"];
    let ran = fed(&home, &words, "3\nswap\nquit\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("the engine ended"), "{}", ran.stdout);
    assert!(ran.stdout.contains("second plays 1"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("moves: 3 1\n"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn engines_that_speak_gtp_play() {
    let home = Home::new();
    home.write(
        "engine",
        "while read -r a b c; do\n echo \"$a $b $c\" >> heard\n case $a in\n  \
         protocol_version) printf '= 2\\n\\n';;\n  \
         list_commands) printf '= play\\ngenmove\\ntime_settings\\n\\n';;\n  \
         genmove) printf '= 1\\n\\n';;\n  quit) printf '=\\n\\n'; exit;;\n  *) printf '=\\n\\n';;\n esac\ndone\n",
    );
    let words = ["play", "nim/4", "--player", "gtp:/bin/sh engine", "--time", "1500ms"];
    let ran = fed(&home, &words, "1\n1\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("second wins after 4 moves"), "{}", ran.stdout);
    let heard: Vec<String> = home.read("heard").lines().map(|line| line.trim().to_string()).collect();
    let expected = [
        "protocol_version",
        "list_commands",
        "clear_board",
        "play b 1",
        "time_settings 0 2",
        "genmove w",
        "play b 1",
        "time_settings 0 2",
        "genmove w",
        "quit",
    ];
    let heard: Vec<&str> = heard
        .iter()
        .map(|line| line.strip_suffix(" 1").filter(|l| l.contains('_')).unwrap_or(line))
        .collect();
    assert_eq!(heard, expected);
    home.write("refuses", "while read -r a; do printf '? unknown command\\n\\n'; done\n");
    home.write("resigns", home.read("engine").replace("'= 1\\n", "'= resign\\n"));
    for (name, expected) in [("refuses", "unknown command"), ("resigns", "'resign' is not a legal move")] {
        let spec = format!("gtp[timeout=10s]:/bin/sh {name}");
        let ran = fed(&home, &["analyse", "nim/9", "--player", &spec, "--playouts", "10"], "");
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{name}: {}", ran.stderr);
    }
}

#[test]
fn we_play_against_ourselves_through_the_protocol() {
    let home = Home::new();
    // Twenty-one can be won by who begins: take one, then complete to four.
    let spec = format!("uci:\"{}\" engine nim/21", env!("CARGO_BIN_EXE_sortie"));
    let ran = fed(&home, &["play", "nim/21", "--side", "none", "--playouts", "20000", "--player", &spec], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("first plays 1:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("first wins"), "{}", ran.stdout);
    let options = spec.replace("uci:", "uci[threads=2,MultiPV=3,ShortMoves=true]:");
    let words =
        ["analyse", "nim/9", "--position", "7 second", "--playouts", "2000", "--json", "--player", &options];
    let answer = fed(&home, &words, "").json();
    assert_eq!((&answer["best"], answer["lines"].as_array().unwrap().len()), (&Value::from("3"), 3));
    assert!(answer["value"].as_f64().unwrap() > 0.6 && answer["lines"][0]["visits"].as_u64() > Some(0));
}

#[test]
fn a_session_of_the_protocol() {
    let home = Home::new();
    let mut session = Session::start(&home, "engine nim/21");
    session.say("uci");
    session.hear("id name Sortie");
    session.hear("option name threads type spin");
    session.hear("uciok");
    session.say("setoption name MultiPV value 2");
    session.say("position startpos moves 1 2");
    session.say("moves");
    assert_eq!(session.hear("moves"), "moves 1 2 3");
    session.say("go nodes 20000");
    let info = session.hear("info depth");
    assert!(info.contains(" multipv 1 ") && info.contains(" wdl ") && info.contains(" pv "), "{info}");
    session.hear("info depth");
    // 18 are left: two leave a multiple of four.
    assert!(session.hear("bestmove").starts_with("bestmove 2"));
    // Nothing is answered before it is asked for, however certain it is.
    for wait in ["go infinite", "go", "go ponder nodes 10"] {
        session.say(wait);
        session.silent("bestmove");
        session.say("go nodes 1");
        session.hear("error go while a search is under way");
        session.say("position startpos");
        session.hear("error position while");
        session.say("stop");
        assert!(session.hear("bestmove").starts_with("bestmove 2"), "{wait}");
    }
    for (only, best) in [("3", "3"), ("1 3", ""), ("2", "2")] {
        session.say(&format!("go nodes 2000 searchmoves {only}"));
        let answer = session.hear("bestmove");
        let word = answer.split(' ').nth(1).expect("a move");
        assert!(only.split(' ').any(|o| o == word) && word.starts_with(best), "{only}: {answer}");
    }
    session.say("go nodes 10 searchmoves 9");
    session.hear("error go searchmoves 9: expected legal moves");
    session.say("go ponder nodes 100");
    session.silent("bestmove");
    session.say("ponderhit");
    session.hear("bestmove 2");
    session.say("ponderhit");
    session.hear("error ponderhit");
    session.say("position fen 4 second moves 4");
    session.hear("error");
    session.say("position fen 2 second moves 2");
    session.say("go nodes 10");
    assert_eq!(session.hear("bestmove"), "bestmove (none)");
    session.say("go infinite");
    assert_eq!(session.end(), 0, "the end of the input ends a search too");
}

#[test]
fn nonsense_gives_an_error_and_changes_nothing() {
    let home = Home::new();
    let mut input = b"position startpos moves 1\n".to_vec();
    let nonsense: [&[u8]; 22] = [
        b"castle",
        b"\xff\xfe\x00",
        b"position",
        b"position here",
        b"position fen",
        b"position fen five second",
        b"position fen 99999999999999 first",
        b"position startpos moves 1 9",
        b"position startpos moves \xf0\x9f\x98\x80",
        b"go nodes",
        b"go nodes -x",
        b"go fast",
        b"go movetime 1e400",
        b"setoption",
        b"setoption name threads",
        b"setoption name threads value many",
        b"setoption name threads value 0",
        b"setoption name thraeds value 2",
        b"setoption name c value NaN",
        b"setoption name MultiPV value -1",
        b"ponderhit",
        &[b'x'; 2_000_000],
    ];
    for line in nonsense {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    input.extend(format!("position startpos moves {}\n", "1 ".repeat(20_001)).bytes());
    input.extend(b"stop\n\n \nmoves\nshow\nquit\nuci\n");
    let ran = fed(&home, &["engine", "nim/100000"], input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let errors = lines.iter().take_while(|line| line.starts_with("error ")).count();
    assert_eq!(errors, nonsense.len() + 1, "{}", ran.stdout);
    assert_eq!(lines[errors], "moves 1 2 3");
    assert!(lines.last().unwrap().ends_with("position 99999 second"), "{}", ran.stdout);
}

#[test]
fn a_game_is_played_saved_and_checked() {
    let home = Home::new();
    let words = ["play", "nim/5", "--playouts", "2000", "--save", "game.record"];
    let input = "help\nmoves\nboard\n9\nnothing\n\u{1f600}\n-1\nload nowhere\nsave\nsave half.record\n#1\nundo\n\
                 load half.record\nhint\n2\n1\nquit\n";
    let ran = fed(&home, &words, input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    for said in [
        "take back",
        "  1 1    2 2    3 3",
        "'nothing' is not a legal move",
        "nowhere: no such file",
        "save where?",
        "saved half.record",
        // Five is won by who leaves four.
        "it would play 1: a proved win for it",
        "second plays 3: a proved win for it",
        "second wins after 2 moves",
        "the game is over",
        "saved game.record",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    let record = sortie_core::Record::parse(&home.read("game.record")).expect("a record");
    assert_eq!((record.moves.join(" ").as_str(), record.score), ("2 3", 0.0));
    assert_eq!((record.field("first"), record.field("second")), (Some("a person"), Some("default")));
    assert_eq!(home.run("verify game.record half.record").code, 0);
    assert_eq!(home.run("replay game.record --plain").code, 0);
    assert_eq!(home.run("show game.record").code, 0);
    // A game that says it goes on must not be over, and one that does not say so must be.
    home.write("over.record", home.read("game.record").replace("second wins", "unfinished"));
    home.write("short.record", home.read("half.record").replace("unfinished", "a draw"));
    for name in ["over", "short"] {
        let ran = home.run(&format!("verify {name}.record"));
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_game_may_begin_anywhere_and_its_record_knows() {
    let home = Home::new();
    let words =
        ["play", "nim/21", "--position", "7 second", "--side", "none", "--playouts", "500", "--save", "game"];
    let ran = fed(&home, &words, "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // Seven is won by who takes three.
    assert!(ran.stdout.contains("second plays 3: a proved win for it"), "{}", ran.stdout);
    assert!(ran.stdout.contains("second wins"), "{}", ran.stdout);
    assert!(home.read("game").contains("position = 7 second"), "{}", home.read("game"));
    assert_eq!(home.run("verify game").code, 0);
    let shown = home.run("show game --after 0");
    assert!(shown.stdout.starts_with("7 left"), "{}", shown.stdout);
    home.write("bad", home.read("game").replace("7 second", "seven"));
    let ran = home.run("verify bad");
    assert!(ran.code == 2 && ran.stderr.contains("'seven' is not a position"), "{}", ran.stderr);
}

#[test]
fn a_position_is_analysed() {
    let home = Home::new();
    let answer = home.json("analyse nim --moves 1 --playouts 20000 --lines 2 --json");
    assert_eq!((&answer["instance"], &answer["to_move"]), (&Value::from("nim/21"), &Value::from("second")));
    assert_eq!(answer["lines"].as_array().unwrap().len(), 2);
    assert!(answer["value"].as_f64().unwrap() < 0.5, "second is lost: {answer}");
    let again = home.json("analyse nim --moves 1 --playouts 20000 --lines 2 --json");
    assert_eq!(answer["lines"], again["lines"], "the seed is 1 unless it is given");
    let ran = home.run("analyse nim/5 --playouts 1000");
    assert!(ran.stdout.contains("move") && ran.stdout.contains("best 1"), "{}", ran.stdout);
    let ended = home.json("analyse nim/3 --moves 3 --json");
    assert_eq!((&ended["outcome"], &ended["best"]), (&Value::from("first wins"), &Value::Null));
}

#[test]
fn misuse_is_refused_in_one_line() {
    let home = Home::new();
    for (line, expected) in [
        ("play samegame/1", "a game for two"),
        ("play chess", "domain/name"),
        ("analyse nim/9 --moves 4", "move 1 '4' is not legal"),
        ("analyse nim/9 --position nine", "'nine' is not a position"),
        ("analyse nim/9 --player defualt", "did you mean 'default'?"),
        ("engine nim/9 --player default:c=x", "c x: expected a number"),
        ("play nim/9 --side third", "third"),
        ("play nim/9 --time 5", "a number and a unit"),
        ("analyse nim/9 --lines 0", "1..=1000"),
    ] {
        let ran = home.run(line);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.lines().count()),
            (2, "", 1),
            "{line}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(expected), "{line}: {}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_games_and_analyses_with_what_there_is() {
    let home = Home::new();
    for line in ["play nim/1000 --side none --time 100s --save game", "analyse nim/1000 --time 100s --json"] {
        let mut command = home.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        // Before its handler is set the signal just ends it: wait until it works hard.
        let stat = format!("/proc/{}/stat", child.id());
        until("it to think", || {
            let text = std::fs::read_to_string(&stat).unwrap_or_default();
            let ticks =
                text.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(11)?.parse::<u64>().ok());
            !std::path::Path::new("/proc/self/stat").exists() || ticks.is_some_and(|ticks| ticks > 20)
        });
        let ran = crate::home::interrupt(child, "-INT");
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
    }
    assert_eq!(home.run("verify game").code, 0, "{}", home.read("game"));
}
