//! Streams of events (server-sent events): what is new in a run, and in the list of runs. The id of an event is the
//! place in `events.jsonl` up to which it tells; a reader that comes back names it and misses nothing. News are
//! gathered for a moment before they are sent, so a page is updated a few times a second however fast a run is.

use crate::aims::Aims;
use crate::curve::History;
use crate::folder::EVENTS;
use crate::http::{Reply, Request, Sink};
use crate::kind::Kind;
use crate::library::Found;
use crate::pages;
use crate::shelf::Shelf;
use crate::site::Site;
use crate::summary::{State, Summary};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// News are gathered for so long.
const GATHER: Duration = Duration::from_millis(250);
/// How often it is looked whether a run has ended, and somebody is told that we are still here.
const STATE_EVERY: Duration = Duration::from_secs(1);
const BEAT_EVERY: Duration = Duration::from_secs(10);
/// Points in one event at most: whoever was away for long gets the gap thinned.
const POINTS_MAX: usize = 400;
/// Read at a time.
const BYTES_MAX: u64 = 4 << 20;
/// Runs that wrote something so lately may have changed since the page was written.
const RECENT_SECONDS: f64 = 120.0;
/// The list of runs is looked at so often, and never for more than a tenth of the time.
const LIST_EVERY: Duration = Duration::from_secs(2);

/// What is new in a run.
pub fn run(request: &Request, folder: &Path) -> Reply {
    let place = request.header("last-event-id").or(request.ask("from")).and_then(|text| text.parse().ok());
    let folder = folder.to_path_buf();
    Reply::stream(move |sink| follow(&folder, place.unwrap_or(0), sink, None))
}

/// Follows a run; `rounds` ends it in tests.
fn follow(folder: &Path, mut place: u64, sink: &mut Sink, mut rounds: Option<u32>) -> io::Result<()> {
    let path = folder.join(EVENTS);
    let (mut told_state, mut told_record) = (None, None);
    let mut looked = None::<Instant>;
    let mut beat = Instant::now();
    loop {
        let mut news = Map::new();
        let mut history = History::new(place, POINTS_MAX);
        match history.go_on(&path, BYTES_MAX) {
            Ok(()) => {}
            // Another file than the one we have read: the page must begin anew.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return sink.send("reset", None, "{}");
            }
            // Not yet there, or not any more: the state will tell.
            Err(_) => {}
        }
        if history.events > 0 {
            let points: Vec<Value> = history.curve.points().map(|point| point.to_json()).collect();
            let found = |i: &crate::curve::Improvement| json!([i.seconds, i.score, i.stream]);
            news.insert("points".into(), json!(points));
            news.insert("improvements".into(), history.improvements.iter().map(found).collect());
            news.insert("improved".into(), json!(history.improved));
            news.insert("events".into(), json!(history.events));
        }
        let moved = history.reached.offset != place;
        place = history.reached.offset;
        if moved || looked.is_none_or(|looked| looked.elapsed() >= STATE_EVERY) {
            looked = Some(Instant::now());
            let summary = Summary::glance("", folder);
            let state = (summary.state, summary.reason.clone());
            if told_state.as_ref() != Some(&state) {
                let (name, text) = (state.0.name(), crate::show::state(&summary));
                news.insert("state".into(), json!({ "name": name, "text": text }));
                told_state = Some(state);
            }
            // The record is replaced whole: its time and size tell versions apart.
            let record = std::fs::metadata(folder.join(crate::folder::RECORD)).ok();
            let record = record.and_then(|meta| Some((meta.modified().ok()?, meta.len())));
            if told_record.is_some_and(|told| told != record) {
                news.insert("record".into(), json!(true));
            }
            told_record = Some(record);
        }
        if !news.is_empty() {
            sink.send("news", Some(&place.to_string()), &Value::Object(news).to_string())?;
            beat = Instant::now();
        } else if beat.elapsed() >= BEAT_EVERY {
            sink.beat()?;
            beat = Instant::now();
        }
        // A gap that was too long for one event is caught up with at once.
        if history.reached.rest() < BYTES_MAX / 2 {
            std::thread::sleep(GATHER);
        }
        if let Some(left) = &mut rounds {
            *left -= 1;
            if *left == 0 {
                return Ok(());
            }
        }
    }
}

/// What is new in the list of runs: rows that changed, and the order if a run came or went.
pub fn list(site: &Site, request: &Request) -> Reply {
    let root: PathBuf = site.root.clone();
    let shelf = site.shelf.clone();
    let known: HashMap<String, Aims> = HashMap::new();
    let filter = pages::runs::Filter::of(request);
    Reply::stream(move |sink| follow_list(&root, &shelf, &filter, known, sink))
}

fn follow_list(
    root: &Path,
    shelf: &Shelf,
    filter: &pages::runs::Filter,
    mut known: HashMap<String, Aims>,
    sink: &mut Sink,
) -> io::Result<()> {
    let mut told: HashMap<String, String> = HashMap::new();
    let mut beat = Instant::now();
    loop {
        let begun = Instant::now();
        let mut rows = HashMap::new();
        let mut recent = HashSet::new();
        let found = crate::library::scan(root).found;
        let ours: Vec<&Found> = found.iter().filter(|found| found.kind != Kind::Foreign).collect();
        for (found, summary) in ours.iter().zip(shelf.read_all(&ours)) {
            if !filter.keeps(&summary) {
                continue;
            }
            let aims = known
                .entry(summary.told.instance.clone())
                .or_insert_with(|| Aims::of(&found.path, &summary.told.instance));
            if summary.state == State::Running || summary.age.is_some_and(|age| age < RECENT_SECONDS) {
                recent.insert(found.name.clone());
            }
            rows.insert(found.name.clone(), pages::runs::row(&summary, aims).into_string());
        }
        let first = told.is_empty();
        let changed: Map<String, Value> = rows
            .iter()
            // The page has just been written: of what is older it has the rows already.
            .filter(|(name, row)| if first { recent.contains(*name) } else { told.get(*name) != Some(row) })
            .map(|(name, row)| (name.clone(), json!(row)))
            .collect();
        let gone: Vec<&String> = told.keys().filter(|name| !rows.contains_key(*name)).collect();
        if first || !changed.is_empty() || !gone.is_empty() {
            let mut news = json!({ "changed": changed, "gone": gone });
            if first {
                news["names"] = rows.keys().cloned().collect();
            }
            sink.send("rows", None, &news.to_string())?;
            beat = Instant::now();
        } else if beat.elapsed() >= BEAT_EVERY {
            sink.beat()?;
            beat = Instant::now();
        }
        told = rows;
        std::thread::sleep(LIST_EVERY.max(10 * begun.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(folder: &Path, place: u64) -> String {
        let mut out = Vec::new();
        follow(folder, place, &mut Sink::new(&mut out), Some(1)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_reader_that_comes_back_gets_what_it_missed() {
        let home = tempfile::tempdir().unwrap();
        let line =
            |i: u32| format!("{{\"event\":\"progress\",\"seconds\":{i},\"playouts\":{i},\"best\":{i}}}\n");
        let events: String = (0..10).map(line).collect();
        std::fs::write(home.path().join(EVENTS), &events).unwrap();
        let all = streamed(home.path(), 0);
        assert!(all.contains(&format!("id: {}\n", events.len())), "{all}");
        assert!(all.contains("\"events\":10") && all.contains("[9.0,9.0,9.0]"), "{all}");
        let half: usize = (0..5).map(|i| line(i).len()).sum();
        let rest = streamed(home.path(), half as u64);
        assert!(rest.contains("\"events\":5") && !rest.contains("[4.0,"), "{rest}");
        assert!(!streamed(home.path(), events.len() as u64).contains("points"));
        assert!(streamed(home.path(), 1 << 40).starts_with("event: reset"));
    }
}
