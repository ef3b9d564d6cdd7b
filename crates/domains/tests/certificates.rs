//! The certificates of Hex that are kept in `proofs/hex`: what `proofs/hex.c` accepts holds here too.

use sortie_core::Opened;
use sortie_core::exact::Certificate;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn every_opening_of_hex_on_5x5_and_6x6_is_proved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proofs/hex");
    let mut won: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder of certificates") {
        let path = entry.expect("a file").path();
        let certificate = Certificate::parse(&std::fs::read(&path).expect("a file")).expect("a certificate");
        let none = |_: &str| Err("no files".to_string());
        let Ok(Opened::Game(game)) = sortie_domains::open(&certificate.instance, &none) else {
            panic!("{}: no game", certificate.instance);
        };
        let checked = game.check_certificate(&certificate);
        assert!(checked.is_ok(), "{}: {}", path.display(), checked.expect_err("it does not hold"));
        won.entry(certificate.instance).or_default()[certificate.goal.side as usize] += 1;
    }
    // Of two openings that are half a turn of each other one is there.
    assert_eq!(won["hex/5"], [7, 6]);
    assert_eq!(won["hex/6"], [12, 6]);
}
