//! Certificates: made, checked, damaged, forged and gone on with.

use crate::Home;
use serde_json::json;

/// The file with another text or other answers, and a checksum that fits.
fn forged(whole: &[u8], change: impl Fn(&mut String, &mut Vec<u8>)) -> Vec<u8> {
    let at = whole.windows(2).position(|two| two == b"\n\n").expect("an empty line");
    let mut text = String::from_utf8(whole[..at].to_vec()).expect("text");
    let mut body = whole[at + 2..whole.len() - 8].to_vec();
    change(&mut text, &mut body);
    let mut file = [text.as_bytes(), b"\n\n", &body].concat();
    let sum = file
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    file.extend_from_slice(&sum.to_be_bytes());
    file
}

#[test]
fn a_claim_becomes_a_certificate_that_verify_reads() {
    let home = Home::new();
    let line = "prove hex/4 --moves a1 --certificate a1.cert --quiet --json";
    let made = home.json(&format!("{line} --out run"));
    let made = &made["certificates"][0];
    let mut command = home.command("prove hex/4 --moves a1 --certificate b.cert --quiet --json");
    let ran = command.args(["--claim", "second wins"]).output().expect("the program starts");
    let again: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!((&again["proved"], &made["proved"]), (&json!(["second wins"]), &json!(["second wins"])));
    assert_eq!(again["moves"], json!(["a1"]));
    let checked = home.json("verify a1.cert --json");
    let row = &checked["records"][0];
    assert_eq!((&row["ok"], &row["instance"]), (&json!(true), &json!("hex/4")));
    for key in ["proved", "moves", "positions", "answers", "checksum", "bytes"] {
        assert_eq!(row[key], made[key], "{key}");
    }
    let told = home.run("verify a1.cert").stdout;
    assert!(told.starts_with("OK  hex/4 after a1  second wins, "), "{told}");
    assert!(!home.path("a1.cert.answers").exists());
}

#[test]
fn a_draw_is_two_certificates() {
    let home = Home::new();
    home.json("prove tictactoe/3 --certificate draw.cert --quiet --json --out run");
    let checked = home.json("verify draw.first.cert draw.second.cert --json");
    assert_eq!(checked["records"][0]["proved"], json!(["first draws at least"]));
    assert_eq!(checked["records"][1]["proved"], json!(["second draws at least"]));
}

#[test]
fn damage_and_forgery_are_refused_with_the_place() {
    let home = Home::new();
    home.json("prove tictactoe/3 --certificate draw.cert --quiet --json --out run");
    let whole = std::fs::read(home.path("draw.second.cert")).expect("a certificate");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    type Change = fn(&mut String, &mut Vec<u8>);
    let changes: [(&str, Change, &str); 8] = [
        ("an answer that is not there", |_, body| body.truncate(body.len() / 2), "there is no answer here"),
        ("the other side", |text, _| *text = text.replace("second draws", "first draws"), "layer "),
        ("more than is so", |text, _| *text = text.replace("draws at least", "wins"), "layer "),
        ("too few bits", |text, _| *text = text.replace("bits = 4", "bits = 1"), "layer "),
        ("more answers", |_, body| body.extend(b"more"), "bytes are left over"),
        ("no such rule", |text, _| *text = text.replace("cate 1", "cate 2"), "format 2 has no rule"),
        (
            "no such format",
            |text, _| *text = text.replace("cate 1", "cate 3"),
            "expected 'sortie certificate 1'",
        ),
        ("other counts", |text, _| *text = text.replace("answers = ", "answers = 1"), "counts otherwise"),
    ];
    let mut files = vec![("a flipped bit", flipped, "the checksum differs")];
    files.extend(changes.map(|(what, change, says)| (what, forged(&whole, change), says)));
    assert_eq!(forged(&whole, |_, _| {}), whole);
    for (what, file, says) in files {
        assert_ne!(file, whole, "{what}");
        home.write("bad.cert", file);
        let ran = home.run("verify bad.cert");
        assert!(ran.code == 1 && ran.stderr.contains(says), "{what}: {}", ran.stderr);
    }
}

#[test]
fn forgeries_of_hex_are_refused_with_the_place() {
    let home = Home::new();
    let mut command = home.command("prove hex/5 --moves e2 --certificate e2.cert --quiet");
    let ran = command.args(["--claim", "first wins"]).output().expect("the program starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let whole = std::fs::read(home.path("e2.cert")).expect("a certificate");
    assert!(whole.starts_with(b"sortie certificate 2\n") && whole.len() < 1000);
    type Change = fn(&mut String, &mut Vec<u8>);
    let changes: [(&str, Change, &str); 5] = [
        ("an answer that is not there", |_, body| body.truncate(body.len() / 2), "layer "),
        ("the other side", |text, _| *text = text.replace("first wins", "second wins"), "layer "),
        ("another opening", |text, _| *text = text.replace("moves = e2", "moves = a1"), "layer "),
        ("without the rule", |text, _| *text = text.replace("cate 2", "cate 1"), "layer "),
        ("other counts", |text, _| *text = text.replace("positions = ", "positions = 1"), "counts otherwise"),
    ];
    for (what, change, says) in changes {
        home.write("bad.cert", forged(&whole, change));
        let ran = home.run("verify bad.cert");
        assert!(ran.code == 1 && ran.stderr.contains(says), "{what}: {}", ran.stderr);
    }
    // All bits of the file, one after the other.
    for bit in (0..8 * whole.len()).step_by(7) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(sortie_core::exact::Certificate::parse(&flipped).is_err(), "{bit}");
    }
}

#[test]
fn false_claims_and_other_peoples_answers_are_refused() {
    let home = Home::new();
    let claim = |claim: &str| {
        let mut command = home.command("prove nim/21 --certificate nim.cert --quiet");
        let ran = command.args(["--claim", claim]).output().expect("the program starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).to_string())
    };
    let (code, said) = claim("second wins");
    assert!(code == Some(2) && said.contains("no certificate of 'second wins'"), "{said}");
    assert!(!home.path("nim.cert").exists());
    // What was found for one claim is not taken for another.
    let (code, said) = claim("first wins");
    assert!(
        code == Some(2) && said.contains("nim.cert.answers:1: answers for 'nim/21 second wins'"),
        "{said}"
    );
    std::fs::remove_file(home.path("nim.cert.answers")).expect("it was there");
    assert_eq!(claim("first wins").0, Some(0));
    let (code, said) = claim("first loses");
    assert!(code == Some(2) && said.contains("expected 'first' or 'second'"), "{said}");
}
