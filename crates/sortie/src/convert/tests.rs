use super::*;
use crate::source::Instance;
use sortie_core::Rng;

/// Variant, name of a shipped record.
const RECORDS: [(&str, &str); 6] = [
    ("5D", "morpion-5D-82"),
    ("5T", "morpion-5T-178"),
    ("5T", "morpion-5T-170"),
    ("4D", "morpion-4D-35"),
    ("4T", "morpion-4T-62"),
    ("", "vrptw-R101-1650.80"),
];

fn shipped(name: &str) -> &'static str {
    sortie_domains::record(name).expect("a shipped record")
}

/// Writes a record and reads it again.
fn round(record: &Record, format: Format) -> Read {
    let instance = Instance::open(&record.instance).unwrap();
    let text = format.write(record, &instance.position(&record.moves).unwrap()).unwrap();
    assert_eq!(Format::of(&text), Some(format), "{text}");
    let read = format.read(&text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(read.lines.iter().all(|line| (1..=lines.len()).contains(line)));
    let name = read.instance.clone().unwrap();
    let read = format.translate(read, &name).unwrap();
    assert_eq!(read.lines.len(), read.moves.len());
    read
}

#[test]
fn records_come_back_as_they_were() {
    for (variant, name) in RECORDS {
        let record = Record::parse(shipped(name)).unwrap();
        let formats: &[Format] = match variant {
            "" => &[Format::Record, Format::Sol, Format::Sintef],
            "5T" | "5D" => &[Format::Record, Format::Pentasol, Format::Msr],
            _ => &[Format::Record, Format::Msr],
        };
        for format in formats {
            let read = round(&record, *format);
            assert_eq!(read.instance.as_deref(), Some(record.instance.as_str()));
            assert_eq!(read.moves, record.moves, "{format:?}");
            let kept = |key: &str| record.field(key).map(str::to_string);
            for key in ["search", "seed", "found", "version", "source", "playouts"] {
                let got = read.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
                assert_eq!(got, kept(key), "{key} in {format:?}");
            }
        }
    }
}

#[test]
fn games_come_back_as_they_were() {
    for name in [
        "loa/8",
        "hex/5:swap=on",
        "hex/11",
        "gomoku/9",
        "connect6/19",
        "connect6/7",
        "connect4/7x6",
        "breakthrough/8",
    ] {
        let instance = Instance::open_game(name).unwrap();
        for (seed, most) in [(1, 1000), (2, 7), (3, 0), (4, 1)] {
            let mut board = instance.game().unwrap().board(None).unwrap();
            let mut rng = Rng::new(seed, 0);
            while board.outcome().is_none() && board.words().len() < most {
                let legal = board.legal();
                // Swaps are rare, and are to be seen.
                let swap = legal.iter().position(|word| word == "swap");
                let word = legal[swap.unwrap_or_else(|| rng.below(legal.len()))].clone();
                board.play(&word).unwrap();
            }
            let field = |key: &str, value: &str| (key.to_string(), value.to_string());
            let record = Record {
                instance: name.into(),
                score: board.outcome().map_or(0.5, |outcome| outcome.value()),
                fields: vec![field("first", "a ] \\ [x]"), field("second", "b"), field("seeds", "1 2")],
                moves: board.words().to_vec(),
            };
            let read = round(&record, Format::Sgf);
            assert_eq!((read.instance.as_deref(), &read.moves), (Some(name), &record.moves));
            assert_eq!(read.fields, record.fields);
        }
    }
}

/// The first moves of a game of C. Rosin as the record pages have it (quoted on Rosetta Code's talk page of the task).
#[test]
fn pentasol_of_others_is_understood() {
    let text = "# Morpion Solitaire game\n(28,28)\n(27,25) - +2\n(32,32) / 0\n(30,28) - +2\n(28,35) | -2\n(30,33) / 0\n";
    let read = Format::of(text).unwrap().read(text).unwrap();
    assert_eq!(read.moves, ["2,0:H0", "7,7:DP2", "5,3:H0", "3,10:V4", "5,8:DP2"]);
    assert_eq!((read.instance, read.lines), (None, vec![3, 4, 5, 6, 7]));
    for variant in ["morpion/5T", "morpion/5D"] {
        Instance::open(variant).unwrap().position(&read.moves).unwrap();
    }
}

#[test]
fn msr_of_others_is_understood_in_both_forms() {
    let json = r#"{ "version": "0.1", "variant": "t5", "score": 1, "terminal": false, "unknown": [1],
        "moves": [{ "x": 3, "y": -1, "dir": "V", "pos": 0 }], "author": "somebody", "solver": { "seed": 7 } }"#;
    let read = Format::of(json).unwrap().read(json).unwrap();
    assert_eq!((read.instance.as_deref(), read.moves[0].as_str()), (Some("morpion/5T"), "3,-1:V0"));
    assert_eq!(read.fields, [("author".to_string(), "somebody".to_string()), ("seed".into(), "7".into())]);
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut packed = String::from("MS1:");
    for part in miniz_oxide::deflate::compress_to_vec(json.as_bytes(), 6).chunks(3) {
        let bits =
            part.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        for i in 0..=part.len() {
            packed.push(DIGITS[(bits >> (18 - 6 * i) & 63) as usize] as char);
        }
    }
    assert_eq!(Format::of(&packed).unwrap().read(&packed).unwrap().moves, read.moves);
    for bad in ["MS1:!", "MS1:abcd", "{", "{\"version\":\"2.0\",\"variant\":\"5T\",\"moves\":[]}"] {
        assert_eq!(Format::Msr.read(bad).unwrap_err().line, 1, "{bad}");
    }
}

#[test]
fn routes_of_others_are_understood() {
    let cvrplib = "Route #1: 3 1\nRoute #2: 2\nCost 17\n";
    let sintef = "Instance name : R101\nAuthors : A. B.\nDate : 2001\nReference : a paper\nSolution\nRoute  1 : 0 3 1 0\nRoute  2 : 2\n";
    for text in [cvrplib, sintef] {
        let read = Format::of(text).unwrap().read(text).unwrap();
        assert_eq!(read.moves, ["3", "1", "0", "2", "0"]);
    }
    assert_eq!(Format::Sol.read(sintef).unwrap().fields[0], ("author".to_string(), "A. B.".to_string()));
}

#[test]
fn sgf_of_others_is_understood() {
    let text = "(;FF[4]GM[9]SZ[8]PB[x]\n ;B[B1-B3!]C[good \\] move]\n(;W[a2:c2++](;B[resign])(;B[c1-c3]))(;W[a3-c3]))";
    let read = Format::Sgf.translate(Format::Sgf.read(text).unwrap(), "loa/8").unwrap();
    assert_eq!(
        (read.instance.as_deref(), read.moves),
        (Some("loa/8"), vec!["b1-b3".to_string(), "a2xc2".into()])
    );
    let text = "(;GM[1]SZ[19];B[jj];W[ij][kk];B[aabb])";
    let read = Format::Sgf.translate(Format::Sgf.read(text).unwrap(), "connect6/19").unwrap();
    assert_eq!(read.moves, ["j10", "i10", "k9", "a19", "b18"]);
}

#[test]
fn what_is_wrong_is_told_by_its_line() {
    for (format, text, line, says) in [
        (Format::Pentasol, "(28,28)\n(27,25) - +2\n(27,25) x 0\n", 3, "one of - | / \\"),
        (Format::Pentasol, "(28,28)\n(27,25) - +3\n", 2, "-2 to +2"),
        (Format::Pentasol, "(28,28)\n(27,y) - 0\n", 2, "'y' is not a row"),
        (Format::Pentasol, "(99999999,28)\n", 1, "far beyond"),
        (Format::Pentasol, "(27,25) - +2\n", 1, "reference point"),
        (Format::Pentasol, "# only\n", 1, "reference point"),
        (Format::Sol, "Route #1: 3 x\n", 1, "'x' is not the number"),
        (Format::Sol, "Cost 3\n1 2 3\n", 2, "without a route"),
        (Format::Sol, "Cost 3\n", 1, "no route"),
        (Format::Msr, "{\"variant\":\"6T\",\"moves\":[]}", 1, "6T"),
        (Format::Msr, "{\"variant\":\"5T\",\n\"moves\":7}", 2, "invalid type"),
        (Format::Sgf, "(;B[a1]\n;W[", 2, "no end"),
        (Format::Sgf, "(;B[a1]\n;W", 2, "has no value"),
        (Format::Sgf, "(;B[a1]\n;W[b2]\n", 3, "closing parenthesis"),
        (Format::Sgf, "(;B[a1]\n%", 2, "no place"),
        (Format::Sgf, "(;B[bb]\nAB[aa];W[cc])", 2, "set up after a move"),
    ] {
        let error = format.read(text).unwrap_err();
        assert!(error.line == line && error.message.contains(says), "{text:?}: {error:?}");
    }
    let read = Format::Sgf.read("(;GM[4]SZ[9]\n;B[aa];W[zz])").unwrap();
    assert_eq!(Format::Sgf.translate(read, "gomoku/9").unwrap_err().line, 2);
    let record = Record::parse(shipped(RECORDS[3].1)).unwrap();
    let end = Instance::open(&record.instance).unwrap().position(&record.moves).unwrap();
    assert!(Format::Pentasol.write(&record, &end).unwrap_err().to_string().contains("lines of five"));
    assert!(Format::Sgf.write(&record, &end).unwrap_err().to_string().contains("--to pentasol, msr"));
}

#[test]
fn no_text_makes_it_panic() {
    let mut rng = Rng::new(5, 0);
    let whole: Vec<String> = RECORDS.iter().map(|(_, name)| shipped(name).to_string()).collect();
    let parts = [
        "(;",
        ")",
        "B[",
        "AB[",
        "PL[",
        "aa]",
        "aa:cc]",
        "Route #1:",
        " 3",
        "(28,28)\n",
        "- +2",
        "{",
        "MS1:",
        "\\",
        "é",
        "\n",
        "x",
    ];
    for _ in 0..3000 {
        let mut text: String = (0..rng.below(12)).map(|_| parts[rng.below(parts.len())]).collect();
        if rng.below(20) == 0 {
            let cut = &whole[rng.below(whole.len())];
            text += cut.get(..rng.below(cut.len())).unwrap_or_default();
        }
        let _ = Format::of(&text);
        for format in [Format::Record, Format::Pentasol, Format::Msr, Format::Sol, Format::Sgf] {
            if let Ok(read) = format.read(&text) {
                let _ = format.translate(read, "connect6/19");
            }
        }
    }
}
