//! `/metrics`: the runs and this server in the text format of Prometheus (version 0.0.4).

use crate::http::Reply;
use crate::kind::Kind;
use crate::library;
use crate::site::Site;
use crate::summary::{State, Summary};
use std::fmt::Write;
use std::sync::atomic::Ordering;

/// The page.
pub fn page(site: &Site) -> Reply {
    let found = library::scan(&site.root).found;
    let ours = found.iter().filter(|found| found.kind != Kind::Foreign);
    let runs: Vec<Summary> = ours.map(|found| Summary::read(&found.name, &found.path)).collect();
    let text = write(&runs, site);
    Reply::whole(200, "text/plain; version=0.0.4; charset=utf-8", text.into_bytes())
}

/// Name, kind, meaning, and the value of a run.
type Gauge = (&'static str, &'static str, &'static str, fn(&Summary) -> Option<f64>);

const GAUGES: [Gauge; 6] = [
    ("sortie_run_best_score", "gauge", "Best score of a run so far.", |run| run.best),
    ("sortie_run_playouts_total", "counter", "Playouts of a run.", |run| run.playouts),
    ("sortie_run_playouts_per_second", "gauge", "Playouts a second of a run that goes on.", |run| {
        run.rate.filter(|_| run.state == State::Running)
    }),
    ("sortie_run_seconds_total", "counter", "Wall time of a run.", |run| run.seconds),
    ("sortie_run_silent_seconds", "gauge", "Since a run wrote its last event or game.", |run| run.age),
    ("sortie_match_games_total", "counter", "Games of a match or tuning.", |run| run.games.map(|n| n as f64)),
];

fn write(runs: &[Summary], site: &Site) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# HELP sortie_runs Runs by state.\n# TYPE sortie_runs gauge");
    for state in [State::Running, State::Finished, State::Stopped, State::Interrupted] {
        let count = runs.iter().filter(|run| run.state == state).count();
        let _ = writeln!(out, "sortie_runs{{state=\"{}\"}} {count}", state.name());
    }
    for (name, kind, help, value) in GAUGES {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for run in runs {
            if let Some(value) = value(run).filter(|value| value.is_finite()) {
                let (run, instance, search) =
                    (label(&run.name), label(&run.told.instance), label(&run.told.search_name));
                let _ = writeln!(
                    out,
                    "{name}{{run=\"{run}\",instance=\"{instance}\",search=\"{search}\"}} {value}"
                );
            }
        }
    }
    let own = [
        ("sortie_web_requests_total", "counter", "Requests answered.", site.requests.load(Ordering::Relaxed)),
        ("sortie_web_streams", "gauge", "Live pages.", site.load.streams.load(Ordering::Relaxed) as u64),
        (
            "sortie_web_connections",
            "gauge",
            "Connections.",
            site.load.connections.load(Ordering::Relaxed) as u64,
        ),
        (
            "sortie_web_streams_dropped_total",
            "counter",
            "Live pages dropped because they stalled.",
            site.stalled.load(Ordering::Relaxed),
        ),
        (
            "sortie_web_thinking",
            "gauge",
            "Moves of games thought about.",
            site.thinking.load(Ordering::Relaxed) as u64,
        ),
        ("sortie_web_uptime_seconds", "gauge", "Since the server began.", site.begun.elapsed().as_secs()),
    ];
    for (name, kind, help, value) in own {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    }
    out
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
