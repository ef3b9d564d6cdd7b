//! What every store must do. The embedded one is tested always, MariaDB (feature `mariadb`) where `SORTIE_MARIADB` names a
//! server: `ci/mariadb.sh` starts one. Kills are real: a child of this program writes until it is killed.

mod history;

use sortie_core::exact::{Bounds, Fact, Trust, Value};
use sortie_core::{Ident, Precondition, Rng, Side};
use sortie_store::{Batch, Embedded, GameName, Source, Store, StoreError, export, import, known};
use std::collections::HashSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing takes so long unless it hangs.
const WAIT: Duration = Duration::from_secs(300);

/// Somewhere to make stores.
enum Place {
    Folder(tempfile::TempDir),
    #[cfg(feature = "mariadb")]
    Server(String),
}

impl Place {
    /// All places there are.
    fn all() -> Vec<Place> {
        let folder = Place::Folder(tempfile::tempdir().expect("a folder"));
        #[cfg(feature = "mariadb")]
        if let Ok(url) = std::env::var("SORTIE_MARIADB") {
            return vec![folder, Place::Server(url)];
        }
        vec![folder]
    }

    /// What names a store of this place: for each name an own one.
    fn url(&self, name: &str) -> String {
        match self {
            Place::Folder(folder) => folder.path().join(name).display().to_string(),
            #[cfg(feature = "mariadb")]
            Place::Server(url) => url.replace("NAME", &format!("t{}_{name}", std::process::id())),
        }
    }
}

fn open(url: &str, wait: Duration) -> Box<dyn Store> {
    #[cfg(feature = "mariadb")]
    if url.starts_with("mysql://") {
        let (path, options) = url.split_once('?').unwrap_or((url, ""));
        let (server, name) = path.rsplit_once('/').expect("a database");
        make_database(&format!("{server}/mysql?{options}"), name);
        return Box::new(sortie_store::MariaDb::connect(url, wait).expect("a server"));
    }
    Box::new(Embedded::new(url.as_ref(), wait))
}

#[cfg(feature = "mariadb")]
fn make_database(url: &str, name: &str) {
    use mysql::prelude::Queryable;
    let mut connection = mysql::Conn::new(mysql::Opts::from_url(url).expect("a URL")).expect("a server");
    connection.query_drop(format!("CREATE DATABASE IF NOT EXISTS {name}")).expect("a database");
}

fn game() -> GameName {
    GameName { game: "tictactoe/3".into(), rules: 1 }
}

fn source(run: &str) -> Source {
    Source { run: run.into(), ..Source::default() }
}

/// Position number `n` and what is said of it.
fn fact(n: u64) -> Fact {
    let mut rng = Rng::new(n, 0);
    let key = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
    let value = [Value::Loss, Value::Draw, Value::Win][rng.below(3)];
    let ident = Ident {
        key,
        check: rng.bits() as u32,
        side: if n.is_multiple_of(2) { Side::First } else { Side::Second },
        image: 0,
        precondition: Precondition::NONE,
    };
    Fact { ident, bounds: Bounds::exactly(value), best: (!n.is_multiple_of(3)).then_some(n as u16) }
}

fn batch(run: &str, numbers: std::ops::Range<u64>) -> Batch {
    Batch { source: source(run), trust: Trust::Checked, facts: numbers.map(fact).collect() }
}

fn total(store: &dyn Store) -> u64 {
    store.games().unwrap().iter().map(|(_, count)| count).sum()
}

#[test]
fn what_is_stored_is_found_and_nothing_else() {
    for place in Place::all() {
        let store = open(&place.url("found"), WAIT);
        assert!(
            store.games().unwrap().is_empty() && store.get(&game(), &[fact(1).ident]).unwrap()[0].is_empty()
        );
        let added = store.put(&game(), &[batch("one", 0..2500), batch("two", 2000..3000)]).unwrap();
        assert_eq!((added.new, added.better, added.known), (3000, 0, 500));
        let idents: Vec<Ident> = (0..4000).map(|n| fact(n).ident).collect();
        let found = store.get(&game(), &idents).unwrap();
        let sources = store.sources(&game()).unwrap();
        for (n, entries) in found.iter().enumerate() {
            if n >= 3000 {
                assert!(entries.is_empty());
                continue;
            }
            let (fact, entry) = (fact(n as u64), entries[0]);
            assert_eq!(
                (entry.key, entry.check, entry.side),
                (fact.ident.key, fact.ident.check, fact.ident.side)
            );
            assert_eq!((entry.bounds, entry.best, entry.trust), (fact.bounds, fact.best, Trust::Checked));
            let from = &sources.iter().find(|(number, _)| *number == entry.source).unwrap().1;
            assert_eq!(from.run, if n < 2500 { "one" } else { "two" });
        }
        // Another game, and other rules of the same, are other positions.
        for other in [GameName { rules: 2, ..game() }, GameName { game: "tictactoe/4".into(), rules: 1 }] {
            assert!(store.get(&other, &idents).unwrap().iter().all(Vec::is_empty));
        }
        let mut keys = Vec::new();
        let scan = &mut |entry: sortie_store::Entry| {
            keys.push(entry.key);
            Ok(())
        };
        store.scan(&game(), scan).unwrap();
        assert!(keys.len() == 3000 && keys.is_sorted());
        store.tidy().unwrap();
        store.sound().unwrap();
        assert_eq!(total(&*store), 3000);
        assert!(store.bytes().unwrap() > 3000 * 26);
    }
}

#[test]
fn what_cannot_be_is_refused_whole() {
    for place in Place::all() {
        let store = open(&place.url("refused"), WAIT);
        store.put(&game(), &[batch("one", 0..10)]).unwrap();
        let with = |change: fn(&mut Fact)| {
            let mut batch = batch("two", 5..20);
            change(&mut batch.facts[2]);
            [batch]
        };
        let other = |fact: &mut Fact| {
            let value = if fact.bounds.low == Value::Win { Value::Loss } else { Value::Win };
            fact.bounds = Bounds::exactly(value);
        };
        let refused = store.put(&game(), &with(other));
        assert!(matches!(refused, Err(StoreError::Contradiction { .. })), "{refused:?}");
        let refused = store.put(&game(), &with(|fact| fact.ident.check ^= 1));
        assert!(matches!(refused, Err(StoreError::Collision { .. })), "{refused:?}");
        let refused = store.put(&game(), &with(|fact| fact.bounds = Bounds::OPEN));
        assert!(matches!(refused, Err(StoreError::NotProved(_))), "{refused:?}");
        let word = Batch { trust: Trust::Word, ..batch("three", 30..31) };
        assert!(matches!(store.put(&game(), &[word]), Err(StoreError::NotProved(_))));
        assert_eq!((total(&*store), store.sources(&game()).unwrap().len()), (10, 1));
        // A key that another position has is a miss, not a hit.
        let mut ident = fact(3).ident;
        ident.check ^= 1;
        assert!(store.get(&game(), &[ident]).unwrap()[0].is_empty());
    }
}

#[test]
fn a_value_is_found_under_its_precondition_only() {
    for place in Place::all() {
        let store = open(&place.url("conditions"), WAIT);
        let under = |history: u64, value: Value| {
            let mut fact = fact(1);
            fact.ident.precondition = Precondition { kind: Precondition::HISTORY, hash: history };
            fact.bounds = Bounds::exactly(value);
            fact
        };
        let facts = vec![under(1, Value::Win), under(u64::MAX, Value::Loss), fact(2)];
        store.put(&game(), &[Batch { source: source("one"), trust: Trust::Solver, facts }]).unwrap();
        assert_eq!(store.get(&game(), &[fact(1).ident]).unwrap()[0].len(), 2);
        let value =
            |ident: Ident| known(&*store, &game(), &[ident]).unwrap()[0].map(|entry| entry.bounds.low);
        assert_eq!(value(under(1, Value::Win).ident), Some(Value::Win));
        assert_eq!(value(under(u64::MAX, Value::Win).ident), Some(Value::Loss));
        assert_eq!(value(under(2, Value::Win).ident), None);
        assert_eq!(value(fact(1).ident), None);
        // What depends on nothing holds after every history.
        let anywhere = Ident { precondition: under(9, Value::Win).ident.precondition, ..fact(2).ident };
        assert_eq!(value(anywhere), Some(fact(2).bounds.low));
        assert_eq!(total(&*store), 3);
    }
}

#[test]
fn a_store_goes_through_text_into_another() {
    for place in Place::all() {
        let (one, two) = (open(&place.url("from"), WAIT), open(&place.url("to"), WAIT));
        one.put(&game(), &[batch("one", 0..500), batch("two", 400..900)]).unwrap();
        one.put(&GameName { game: "hex/4".into(), rules: 3 }, &[batch("three", 0..10)]).unwrap();
        two.put(&game(), &[batch("zero", 800..1000)]).unwrap();
        let mut lines = Vec::new();
        let count = export(&*one, &mut |line| {
            lines.push(serde_json::to_string(line).expect("JSON"));
            Ok(())
        });
        assert_eq!(count.unwrap(), 910);
        let mut texts = lines.into_iter();
        let mut next =
            || Ok::<_, StoreError>(texts.next().map(|text| serde_json::from_str(&text).expect("a line")));
        let wrong = |message: &str| StoreError::NotProved(message.into());
        let added = import(&*two, &mut next, &wrong).unwrap();
        assert_eq!((added.new, added.known), (810, 100));
        let runs: HashSet<String> = two.sources(&game()).unwrap().into_iter().map(|(_, s)| s.run).collect();
        assert!(total(&*two) == 1010 && runs.len() == 3, "{runs:?}");
    }
}

/// Not a test of its own: what the tests below start as another process, to kill it.
#[test]
fn writes_until_it_is_killed() {
    let (Ok(url), Ok(first)) = (std::env::var("SORTIE_SUITE_STORE"), std::env::var("SORTIE_SUITE_FIRST"))
    else {
        return;
    };
    let (store, first) = (open(&url, WAIT), first.parse::<u64>().expect("a number"));
    for n in 0.. {
        // Half of the batch is known: every batch is 40 positions, and 40 more.
        let begin = first + 40 * n;
        let run = format!("writer {first}");
        store.put(&game(), &[batch(&run, begin..begin + 80)]).expect("the store takes it");
        println!("stored {}", begin + 80);
    }
}

fn writer(url: &str, first: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"]);
    command.env("SORTIE_SUITE_STORE", url).env("SORTIE_SUITE_FIRST", first.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child")
}

/// Reads a child's output until it has stored so many; returns the last number it told.
fn told(child: &mut Child, least: u64) -> u64 {
    use std::io::{BufRead, BufReader};
    let lines = BufReader::new(child.stdout.as_mut().expect("a pipe")).lines();
    let numbers = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("stored ")?.parse().ok());
    let mut last = 0;
    for number in numbers {
        last = number;
        if number >= least {
            break;
        }
    }
    last
}

#[test]
fn a_writer_killed_in_the_middle_loses_nothing_it_was_told_is_there() {
    for place in Place::all() {
        let url = place.url("killed");
        for round in 0..3u64 {
            let first = round * 1_000_000;
            let mut child = writer(&url, first);
            let last = told(&mut child, first + 400 + 120 * round);
            child.kill().expect("SIGKILL");
            child.wait().expect("a child");
            assert!(last > first, "it wrote nothing");
            let store = open(&url, WAIT);
            let idents: Vec<Ident> = (first..last).map(|n| fact(n).ident).collect();
            assert!(store.get(&game(), &idents).unwrap().iter().all(|entries| entries.len() == 1));
            // A batch is there whole or not at all.
            let mut count = 0;
            let after: Vec<Ident> = (last..last + 400).map(|n| fact(n).ident).collect();
            for (i, entries) in store.get(&game(), &after).unwrap().iter().enumerate() {
                if !entries.is_empty() {
                    assert_eq!(i, count, "a hole");
                    count += 1;
                }
            }
            assert!(count.is_multiple_of(40), "{count} positions of an unfinished batch");
            store.sound().unwrap();
        }
    }
}

/// `ci/mariadb.sh` runs it alone: the other tests need the server.
#[cfg(feature = "mariadb")]
#[test]
#[ignore = "kills the server"]
fn the_server_killed_in_the_middle_loses_nothing_either() {
    let var = |name: &str| std::env::var(name).expect("ci/mariadb.sh sets it");
    let url = Place::Server(var("SORTIE_MARIADB")).url("crash");
    for round in 0..2u64 {
        let first = round * 1_000_000;
        let mut child = writer(&url, first);
        let least = told(&mut child, first + 400);
        let crash = var("SORTIE_MARIADB_CRASH");
        let status = Command::new("bash").args(["-c", &crash]).current_dir(var("SORTIE_ROOT")).status();
        assert!(status.expect("bash").success());
        // The writer ends when its server is gone.
        let last = told(&mut child, u64::MAX).max(least);
        child.wait().expect("a child");
        let store = open(&url, WAIT);
        let idents: Vec<Ident> = (first..last).map(|n| fact(n).ident).collect();
        assert!(store.get(&game(), &idents).unwrap().iter().all(|entries| entries.len() == 1));
        let added = store.put(&game(), &[batch("after", first..last + 40)]).unwrap();
        assert!(added.new == 40 || added.new == 0, "{added:?}: half a batch");
        store.sound().unwrap();
    }
}

#[test]
fn two_writers_and_a_reader_share_a_store() {
    for place in Place::all() {
        let url = place.url("shared");
        let store = open(&url, WAIT);
        let mut children = [writer(&url, 0), writer(&url, 1_000_000)];
        let begun = Instant::now();
        let mut seen = 0;
        while total(&*store) < 400 && begun.elapsed() < Duration::from_secs(60) {
            let now = total(&*store);
            assert!(now >= seen, "what was there is gone");
            seen = now;
        }
        let lasts = [told(&mut children[0], 400), told(&mut children[1], 1_000_400)];
        for child in &mut children {
            child.kill().expect("SIGKILL");
            child.wait().expect("a child");
        }
        for (first, last) in [0, 1_000_000].into_iter().zip(lasts) {
            assert!(last >= first + 400, "writer {first} came to {last}");
            let idents: Vec<Ident> = (first..last).map(|n| fact(n).ident).collect();
            assert!(store.get(&game(), &idents).unwrap().iter().all(|entries| entries.len() == 1));
        }
        store.sound().unwrap();
    }
}

/// Defect 10: a damaged file ended in panics of the B-tree, and flipped bits changed an export in silence. A file is damaged
/// in ways that are new each time; whatever is asked, the answer is the truth or an error, and what can be saved is.
/// `tests/old.db` was written by a program whose entries had no checksums: `sortie prove tictactoe/3 --db old.db`.
#[test]
fn a_file_of_format_1_opens_and_has_checksums_from_then_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("old.db");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/old.db"), &path).expect("a copy");
    let store = Embedded::new(&path, Duration::from_secs(10));
    assert_eq!(store.games().unwrap(), vec![(game(), 174)]);
    let mut exact = 0;
    store
        .scan(&game(), &mut |entry| {
            exact += usize::from(entry.bounds == Bounds::exactly(Value::Draw));
            Ok(())
        })
        .unwrap();
    assert_eq!((exact, store.sources(&game()).unwrap().len()), (13, 1));
    assert_eq!(store.put(&game(), &[batch("more", 0..10)]).unwrap().new, 10);
    store.sound().unwrap();
    // Written to before it was ever read.
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/old.db"), &path).expect("a copy");
    let store = Embedded::new(&path, Duration::from_secs(10));
    assert_eq!(store.put(&game(), &[batch("more", 0..10)]).unwrap().new, 10);
    assert_eq!(total(&store), 184);
}

#[test]
fn a_damaged_file_gives_an_answer_and_never_a_false_one() {
    use std::hash::{BuildHasher, RandomState};
    let given = std::env::var("SORTIE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(|| RandomState::new().hash_one(0) >> 16);
    println!("SORTIE_SEED={seed} repeats this");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sound.db");
    let game = GameName { game: "nim/3".into(), rules: 1 };
    let mut rng = Rng::new(seed, 0);
    let facts: Vec<Fact> = (0..600)
        .map(|n| {
            let key = u128::from(rng.bits()) << 64 | u128::from(n as u64);
            let ident =
                Ident { key, check: n, side: Side::First, image: 0, precondition: Precondition::NONE };
            Fact { ident, bounds: Bounds::exactly(Value::Win), best: Some(n as u16) }
        })
        .collect();
    let source = Source { run: "a run".into(), ..Source::default() };
    let batch = Batch { source, trust: Trust::Solver, facts };
    Embedded::new(&path, WAIT).put(&game, &[batch]).expect("stored");
    let told = |store: &Embedded| {
        let mut lines = Vec::new();
        let all = store.sound().and_then(|()| {
            export(store, &mut |line| {
                lines.push(line.clone());
                Ok(())
            })
        });
        all.map(|_| lines)
    };
    let truth = told(&Embedded::new(&path, WAIT)).expect("lines");
    let sound = std::fs::read(&path).expect("a file");
    let used = sound.iter().rposition(|byte| *byte != 0).expect("a byte") + 1;
    let (mut errors, mut saved, mut same) = (0, 0, 0);
    for n in 0..15 {
        let mut bytes = sound.clone();
        match rng.below(4) {
            0 => bytes.truncate(rng.below(used)),
            1 => {
                let at = rng.below(used);
                let end = (at + 1 + rng.below(4096)).min(used);
                bytes[at..end].fill(0);
            }
            _ => (0..1 + rng.below(8)).for_each(|_| bytes[rng.below(used)] ^= 1 << rng.below(8)),
        }
        let path = folder.path().join(format!("{n}.db"));
        std::fs::write(&path, &bytes).expect("written");
        // Readers that look before anybody has checked: the truth or an error too.
        let store = Embedded::new(&path, WAIT);
        let idents: Vec<Ident> = (0..8).map(|_| truth_ident(&truth, rng.below(600))).collect();
        if let Ok(found) = store.get(&game, &idents) {
            for (entries, ident) in found.iter().zip(&idents) {
                assert!(entries.iter().all(|e| e.best == Some(ident.check as u16)), "{n}: {entries:?}");
            }
        }
        let kept = store.save(&game, &mut |entry| {
            assert_eq!(entry.best, Some(entry.check as u16), "{n}");
            Ok(())
        });
        saved += u64::from(kept.is_ok_and(|kept| kept.entries > 0));
        match told(&store) {
            Ok(lines) if lines == truth => same += 1,
            // The file went back to what it was before the last write, and says so by being empty.
            Ok(lines) => assert!(lines.is_empty(), "{n}: {} lines of {}", lines.len(), truth.len()),
            Err(StoreError::Broken { .. }) => errors += 1,
            Err(other) => panic!("{n}: {other}"),
        }
        drop(store);
        let _ = std::fs::remove_file(&path);
    }
    println!("{same} as before, {errors} errors, of {saved} something could be read");
    assert!(errors > 0 && saved > 0);
}

fn truth_ident(lines: &[sortie_store::Line], number: usize) -> Ident {
    let position = |line: &sortie_store::Line| match line {
        sortie_store::Line::Position { key, check, .. } => Some((key.clone(), check.clone())),
        _ => None,
    };
    let positions: Vec<(String, String)> = lines.iter().filter_map(position).collect();
    let (key, check) = &positions[number];
    let (key, check) =
        (u128::from_str_radix(key, 16).expect("a key"), u32::from_str_radix(check, 16).expect("a check"));
    Ident { key, check, side: Side::First, image: 0, precondition: Precondition::NONE }
}
