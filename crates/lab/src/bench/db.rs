//! `lab bench db`: bytes a position, time to store and to look up, on random keys under a name of their own.

use crate::Verdict;
use crate::args::BenchDb;
use crate::commands::db::bench_name;
use crate::database::open;
use crate::output::{self, count, rounded};
use anyhow::Result;
use cpu_time::ProcessTime;
use serde_json::json;
use sortie_core::exact::{Bounds, Fact, Trust, Value};
use sortie_core::{Ident, Precondition, Rng, Side};
use sortie_store::{Batch, Source, Store};
use std::time::Instant;

/// Look-ups that are measured.
const LOOKS: u64 = 100_000;
/// Fewer where each takes a round trip.
const LOOKS_AFAR: u64 = 5000;
/// Keys of one batch.
const BATCH: usize = 500;
/// Positions of one proof: as many as the proofs of Connect6 have.
const PROOF: u64 = 200;

/// Runs the command.
pub fn run(args: &BenchDb) -> Result<Verdict> {
    let file = std::env::temp_dir().join(format!("sortie-bench-{}.db", std::process::id()));
    let place = args.db.clone().unwrap_or_else(|| file.display().to_string());
    let measured = measure(args, &place);
    if args.db.is_none() {
        let _ = std::fs::remove_file(&file);
        let _ = std::fs::remove_file(file.with_extension("db.lock"));
    }
    measured
}

fn measure(args: &BenchDb, place: &str) -> Result<Verdict> {
    let store = open(place)?;
    let afar = place.contains("://");
    let name = bench_name();
    let before = store.bytes()?;
    let (begun, cpu) = (Instant::now(), ProcessTime::now());
    for first in (0..args.positions).step_by(args.batch as usize) {
        let end = (first + args.batch).min(args.positions);
        let batches: Vec<Batch> = (first..end)
            .step_by(PROOF as usize)
            .map(|n| Batch {
                source: Source { run: format!("bench game {n}"), nodes: Some(500), ..Source::default() },
                trust: Trust::Checked,
                facts: (n..(n + PROOF).min(end)).map(fact).collect(),
            })
            .collect();
        store.put(&name, &batches)?;
    }
    let put = (begun.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let loose = store.bytes()?.saturating_sub(before) as f64 / args.positions as f64;
    store.tidy()?;
    let tight = store.bytes()?.saturating_sub(before) as f64 / args.positions as f64;
    let looks = if afar { LOOKS_AFAR } else { LOOKS };
    let hit = looked(&*store, looks, 1, |rng| rng.below(args.positions as usize) as u64)?;
    let miss = looked(&*store, looks, 1, |rng| args.positions + rng.below(1 << 40) as u64)?;
    let many = looked(&*store, LOOKS, BATCH, |rng| rng.below(args.positions as usize) as u64)?;
    let each = |(wall, cpu): (f64, f64), n: u64| (1e6 * wall / n as f64, 1e6 * cpu / n as f64);
    let rows = [
        ("store", each(put, args.positions)),
        ("look up, there", each(hit, looks)),
        ("look up, not there", each(miss, looks)),
        ("look up in batches", each(many, LOOKS)),
    ];
    let machine = machine();
    if args.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(what, (wall, cpu))| json!({ "what": what, "us": rounded(*wall), "cpu_us": rounded(*cpu) }))
            .collect();
        output::print_json(&json!({
            "database": place, "positions": args.positions, "bytes_per_position": rounded(tight),
            "bytes_before_tidying": rounded(loose), "rows": rows, "machine": machine,
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!(
        "{} positions in {place}\n{:<20} {tight:>8.1} bytes a position ({loose:.1} before tidying)\n",
        count(args.positions),
        "size",
    );
    for (what, (wall, cpu)) in rows {
        text += &format!("{what:<20} {wall:>8.2} us, {cpu:.2} us of CPU time\n");
    }
    output::print(&(text + &format!("on {machine}")))?;
    Ok(Verdict::Done)
}

/// Wall and CPU time of so many look-ups.
fn looked(
    store: &dyn Store,
    looks: u64,
    batch: usize,
    mut number: impl FnMut(&mut Rng) -> u64,
) -> Result<(f64, f64)> {
    let mut rng = Rng::new(7, 0);
    let idents: Vec<Ident> = (0..looks).map(|_| fact(number(&mut rng)).ident).collect();
    store.get(&bench_name(), &idents[..1])?;
    let (begun, cpu) = (Instant::now(), ProcessTime::now());
    for some in idents.chunks(batch) {
        store.get(&bench_name(), some)?;
    }
    Ok((begun.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64()))
}

/// Position number `n`.
fn fact(n: u64) -> Fact {
    let mut rng = Rng::new(n, 5);
    let key = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
    let ident = Ident {
        key,
        check: rng.bits() as u32,
        side: Side::First,
        image: 0,
        precondition: Precondition::NONE,
    };
    Fact { ident, bounds: Bounds::exactly(Value::Win), best: Some(rng.below(361) as u16) }
}

/// The processor, where the system tells.
fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH.into(), |(_, model)| model.trim().to_string());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!("{model}, {cores} cores, {}", std::env::consts::OS)
}
