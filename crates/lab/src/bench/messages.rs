//! `lab bench messages`: what a record between ranks costs, on threads or on the processes of a job.

use crate::args::BenchMessages;
use crate::output::{self, count, rounded};
use crate::{Verdict, ranks};
use anyhow::{Result, anyhow};
use serde_json::json;
use sortie_rank::{Traffic, relay_on_threads};

/// Runs the command.
pub fn run(args: &BenchMessages) -> Result<Verdict> {
    let traffic = Traffic { hops: args.hops, tokens: args.tokens, path: args.path };
    let (engine, ranks, seen) = match ranks::relay(traffic)? {
        Some((size, seen)) => ("mpi", size, seen),
        None => {
            ("threads", args.ranks, relay_on_threads(args.ranks, traffic).map_err(|why| anyhow!("{why}"))?)
        }
    };
    let micros = 1e6 * seen.cpu_seconds_all / seen.records_all.max(1) as f64;
    let records_a_frame = seen.records as f64 / seen.frames.max(1) as f64;
    let bytes_a_record = seen.bytes as f64 / seen.records.max(1) as f64;
    let rate = seen.records_all as f64 / seen.seconds.max(1e-9);
    if args.json {
        return output::print_json(&json!({
            "engine": engine,
            "ranks": ranks,
            "records": seen.records_all,
            "cpu_micros_a_record": rounded(micros),
            "records_per_second": rate.round(),
            "records_a_frame": rounded(records_a_frame),
            "bytes_a_record": rounded(bytes_a_record),
            "cpu_seconds": rounded(seen.cpu_seconds_all),
            "seconds": rounded(seen.seconds),
        }))
        .map(|()| Verdict::Done);
    }
    output::print(&format!(
        "{ranks} ranks on {engine}\nrecords  {} in {:.2} s of CPU time\ncost     {micros:.3} us of CPU time a record\nrate     {} a second\nbatches  {records_a_frame:.1} records a frame, {bytes_a_record:.1} bytes a record\n",
        count(seen.records_all),
        seen.cpu_seconds_all,
        count(rate as u64),
    ))?;
    Ok(Verdict::Done)
}
