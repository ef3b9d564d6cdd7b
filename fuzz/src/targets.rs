//! The targets: what Sortie reads of others, each as a function of bytes. What is read is also written and read again
//! where there is a writer: it must be the same.

use sortie_core::exact::{Certificate, Proof};
use sortie_core::{Opened, Record};
use sortie_grid::wire;
use sortie_runs::checkpoint::Checkpoint;

/// Something that reads what others wrote.
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// Words of its format.
    pub words: &'static [&'static str],
    /// Reads an input.
    pub run: fn(&[u8]),
}

/// All of them.
pub static TARGETS: &[Target] = &[
    Target {
        name: "record",
        words: &["sortie record 1\n", "instance = ", "score = ", "\n\n", "# "],
        run: record,
    },
    Target {
        name: "proof",
        words: &["sortie proof 1\n", "instance = nim/9\n", "goal ", "start = ", "moves = ", "argument"],
        run: proof,
    },
    Target { name: "certificate", words: &["nim/9", "tictactoe/3"], run: certificate },
    Target {
        name: "instance",
        words: &[
            "samegame/",
            "morpion/5D",
            "snake/",
            "coil/",
            "vrptw/",
            "hex/",
            "connect6/19",
            "pgame/8:depth=",
            "loa/",
            "gomoku/",
            "random-",
            ":symmetric=",
            "x",
            "nim/",
            "schur/",
        ],
        run: instance,
    },
    Target { name: "board", words: &["1 2 3\n", "0 0 0\n", "-"], run: board },
    Target {
        name: "routes",
        words: &["VEHICLE\n", "NUMBER     CAPACITY\n", "CUSTOMER\n", "CUST NO."],
        run: routes,
    },
    Target {
        name: "convert",
        words: &[
            "(;GM[11]",
            "SZ[8]",
            "B[aa]",
            "W[]",
            "Route #1: ",
            "Cost ",
            "MS1:",
            "{\"",
            "Instance name",
            "Solution",
        ],
        run: convert,
    },
    Target {
        name: "player",
        words: &[
            "default:",
            "tds[",
            "job-level[",
            "uci:",
            "engine=virtual",
            "nodes=",
            "c=0.7",
            "]",
            "threads=",
        ],
        run: player,
    },
    Target {
        name: "message",
        words: &[
            "\"protocol\":2",
            "\"session\":\"s\"",
            "\"jobs\":[",
            "\"ticket\":\"\"",
            "\"done\":",
            "\\u001b[2J",
            "\"worker\":\"w\"",
        ],
        run: message,
    },
    Target {
        name: "http",
        words: &[
            "GET ",
            "HEAD ",
            " HTTP/1.1\r\n",
            "Host: localhost\r\n",
            "\r\n\r\n",
            "%2e%2e%2f",
            "?token=",
            "&",
            "Cookie: sortie=",
        ],
        run: http,
    },
    Target { name: "checkpoint", words: &[], run: checkpoint },
    Target {
        name: "spec",
        words: &[
            "format = 1\n",
            "instance = \"samegame/1\"\n",
            "[search]\n",
            "name = \"nrpa\"\n",
            "level = ",
            "[limits]\n",
            "streams = ",
        ],
        run: spec,
    },
    Target {
        name: "events",
        words: &["{\"event\":\"progress\"", "\"seconds\":", "\"best\":", "\"finished\"", "null"],
        run: events,
    },
    Target {
        name: "lines",
        words: &["{\"line\":\"source\"", "{\"line\":\"position\"", "\"key\":\"", "\"trust\":\"checked\""],
        run: lines,
    },
    Target {
        name: "network",
        words: &["{\"", "\"dtype\":\"F32\"", "\"shape\":[", "\"data_offsets\":[0,", "__metadata__"],
        run: network,
    },
];

fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

fn record(input: &[u8]) {
    let Some(Ok(record)) = text(input).map(Record::parse) else { return };
    let again = Record::parse(&record.to_text()).expect("what was written is read");
    assert_eq!(again.moves, record.moves, "the moves are the same");
    assert!(again.score == record.score || record.score.is_nan(), "{} is not {}", again.score, record.score);
}

fn proof(input: &[u8]) {
    let Some(Ok(proof)) = text(input).map(Proof::parse) else { return };
    if let Some(game) = small_game(&proof.instance)
        && game.check(&proof).is_ok()
    {
        let again = Proof::parse(&proof.to_text()).expect("what was written is read");
        assert!(game.check(&again).is_ok(), "what was checked is checked again");
    }
}

fn certificate(input: &[u8]) {
    let Ok(certificate) = Certificate::parse(input) else { return };
    for name in ["nim/9", "tictactoe/3"] {
        let game = small_game(name).expect("a game");
        let _ = game.check_certificate(&certificate);
    }
}

/// A game in which no position has many moves: what is checked must be the input, and not the game.
fn small_game(name: &str) -> Option<Box<dyn sortie_core::AnyGame>> {
    if !["nim/9", "nim/20", "tictactoe/3", "hex/3", "connect4/4x4"].contains(&name) {
        return None;
    }
    match sortie_domains::open(name, &|_| Err("no files".into())) {
        Ok(Opened::Game(game)) => Some(game),
        _ => None,
    }
}

fn instance(input: &[u8]) {
    if let Some(name) = text(input) {
        let _ = sortie_domains::open(name, &|_| Err("no files".into()));
    }
}

fn board(input: &[u8]) {
    opened_with("samegame/board.txt", input);
}

fn routes(input: &[u8]) {
    opened_with("vrptw/routes.txt", input);
}

fn opened_with(name: &str, input: &[u8]) {
    let Some(text) = text(input) else { return };
    let _ = sortie_domains::open(name, &|_| Ok(text.to_string()));
}

fn convert(input: &[u8]) {
    if let Some(text) = text(input) {
        sortie::doors::convert(text);
    }
}

fn player(input: &[u8]) {
    // Costs are read from a file that the text names.
    if let Some(text) = text(input).filter(|text| !text.contains("costs")) {
        sortie::doors::player(text);
    }
}

fn message(input: &[u8]) {
    fn shows_nothing_else<T: std::fmt::Display>(wrong: Result<(), T>) {
        if let Err(error) = wrong {
            assert!(!error.to_string().contains('\x1b'), "an escape code reaches a terminal");
        }
    }
    shows_nothing_else(wire::decode::<wire::Task>(input).map(|task| {
        assert!(task.jobs.len() <= wire::TASK_JOBS_MAX);
    }));
    shows_nothing_else(wire::decode::<wire::Report>(input).map(|report| {
        assert!(wire::is_name(&report.worker) && report.done.len() <= wire::TASK_JOBS_MAX);
        assert!(report.done.iter().all(|done| done.seconds.is_finite() && !done.failure.contains('\x1b')));
    }));
    shows_nothing_else(wire::decode::<wire::Run>(input).map(|run| {
        assert!(run.lease_seconds.is_finite() && !run.title.contains(char::is_control));
    }));
    shows_nothing_else(wire::decode::<wire::Note>(input).map(drop));
    shows_nothing_else(wire::decode::<wire::Presence>(input).map(|presence| {
        assert!(presence.cores <= wire::CORES_MAX && !presence.version.contains(char::is_control));
        assert!(wire::encode(&presence).is_ok());
    }));
}

fn http(input: &[u8]) {
    sortie_web::doors::request(input);
}

fn checkpoint(input: &[u8]) {
    let _ = Checkpoint::from_bytes(input);
    // With a checksum that fits: what a liar would write.
    let mut bytes = b"sortie checkpoint 1\n".to_vec();
    bytes.extend(crc32fast::hash(input).to_le_bytes());
    bytes.extend(input);
    if let Some(checkpoint) = Checkpoint::from_bytes(&bytes) {
        let again = Checkpoint::from_bytes(&checkpoint.to_bytes()).expect("what was written is read");
        assert_eq!(again.streams.len(), checkpoint.streams.len());
    }
}

fn spec(input: &[u8]) {
    let Some(Ok(spec)) = text(input).map(toml::from_str::<sortie_runs::spec::Spec>) else { return };
    let _ = spec.search.check();
    let _ = spec.identity();
}

fn events(input: &[u8]) {
    for line in input.split(|byte| *byte == b'\n') {
        let _ = serde_json::from_slice::<sortie_runs::event::Event>(line);
        let _ = serde_json::from_slice::<sortie_runs::job::JobLine>(line);
        let _ = serde_json::from_slice::<sortie_runs::worker::WorkerLine>(line);
    }
}

fn lines(input: &[u8]) {
    for line in input.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<sortie_store::Line>(line) else { continue };
        let text = serde_json::to_string(&line).expect("plain data");
        assert_eq!(
            serde_json::from_str::<sortie_store::Line>(&text).expect("what was written is read"),
            line
        );
    }
}

fn network(input: &[u8]) {
    if let Ok(net) = sortie_neural::Net::from_bytes(input) {
        assert!(sortie_neural::Net::from_bytes(&net.to_bytes()).is_ok(), "what was written is read");
    }
}
