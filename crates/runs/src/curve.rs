//! The best score over time: read from the events of a run with bounded memory, thinned to what a screen can show.

use crate::event::Glance;
use crate::lines::{Reached, read_lines};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// More points than this no chart shows.
pub const POINTS_MAX: usize = 1500;
/// The improvements that are listed one by one.
const LATEST: usize = 40;

/// One place of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Wall time of the run.
    pub seconds: f64,
    /// Playouts of all streams by then, where it was told.
    pub playouts: Option<f64>,
    /// The best score by then.
    pub best: Option<f64>,
    /// What a tenth, half and nine tenths of the streams have at most, where there are several.
    pub band: Option<[f64; 3]>,
    /// The mean entropy of the policies, where it was told.
    pub entropy: Option<f64>,
}

impl Point {
    /// For a chart: seconds, playouts, best, the band, the entropy; what is missing at the end is left out.
    pub fn to_json(self) -> Value {
        let [low, middle, high] = self.band.map_or([None; 3], |band| band.map(Some));
        match (self.band, self.entropy) {
            (_, Some(entropy)) => {
                json!([self.seconds, self.playouts, self.best, low, middle, high, entropy])
            }
            (Some(_), None) => json!([self.seconds, self.playouts, self.best, low, middle, high]),
            (None, None) => json!([self.seconds, self.playouts, self.best]),
        }
    }
}

/// A curve of at most so many points: when they are too many every other one goes, and from then on every other one
/// is not taken. The last is always there.
#[derive(Debug, Clone)]
pub struct Curve {
    points: Vec<Point>,
    last: Option<Point>,
    stride: usize,
    since: usize,
    max: usize,
}

impl Curve {
    /// An empty curve.
    pub fn new(max: usize) -> Curve {
        Curve { points: Vec::new(), last: None, stride: 1, since: 0, max: max.max(2) }
    }

    /// Adds a point; one that lies before the last is of a session that was lost, and is left out.
    pub fn push(&mut self, point: Point) {
        if self.last.is_some_and(|last| point.seconds < last.seconds) {
            return;
        }
        self.last = Some(point);
        self.since += 1;
        if self.since >= self.stride {
            self.since = 0;
            self.points.push(point);
        }
        if self.points.len() > self.max {
            let mut i = 0;
            self.points.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// From left to right.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        let shown = self.points.last().copied();
        self.points.iter().chain(self.last.as_ref().filter(move |last| Some(**last) != shown))
    }

    /// The last point.
    pub fn last(&self) -> Option<&Point> {
        self.last.as_ref()
    }

    /// The best score by a time.
    pub fn best_at(&self, seconds: f64) -> Option<f64> {
        let by_then = self.points().take_while(|point| point.seconds <= seconds);
        by_then.filter_map(|point| point.best).last()
    }
}

/// An improvement, as it was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Improvement {
    /// When.
    pub seconds: f64,
    /// The score.
    pub score: f64,
    /// Who found it.
    pub stream: Option<u64>,
}

/// All that the events of a run tell, in bounded memory.
#[derive(Debug, Clone)]
pub struct History {
    /// The best score over time.
    pub curve: Curve,
    /// The latest improvements, the oldest first.
    pub improvements: VecDeque<Improvement>,
    /// Improvements in all.
    pub improved: u64,
    /// Events in all.
    pub events: u64,
    /// Lines that are not events.
    pub skipped: u64,
    /// When the run began, in UTC.
    pub started: Option<String>,
    /// Why it ended, if the last event says that it did.
    pub ended: Option<String>,
    /// How far the events are read.
    pub reached: Reached,
    playouts: Option<f64>,
    best: Option<f64>,
    band: Option<[f64; 3]>,
}

impl History {
    /// Nothing yet.
    pub fn new(offset: u64, points_max: usize) -> History {
        History {
            curve: Curve::new(points_max),
            improvements: VecDeque::new(),
            improved: 0,
            events: 0,
            skipped: 0,
            started: None,
            ended: None,
            reached: Reached { offset, size: offset },
            playouts: None,
            best: None,
            band: None,
        }
    }

    /// All events of a file.
    pub fn read(path: &Path) -> io::Result<History> {
        let mut history = History::new(0, POINTS_MAX);
        history.go_on(path, u64::MAX)?;
        Ok(history)
    }

    /// Reads on.
    pub fn go_on(&mut self, path: &Path, bytes_max: u64) -> io::Result<()> {
        let offset = self.reached.offset;
        self.reached = read_lines(path, offset, bytes_max, &mut |_, line| match Glance::parse(line) {
            Some(event) => self.take(&event),
            None => self.skipped += u64::from(!line.is_empty()),
        })?;
        Ok(())
    }

    fn take(&mut self, event: &Glance) {
        self.events += 1;
        self.ended = None;
        match &*event.event {
            "started" => self.started = event.time.as_deref().map(str::to_string),
            "improved" => {
                self.improved += 1;
                if let (Some(seconds), Some(score)) = (event.seconds, event.score) {
                    if self.improvements.len() == LATEST {
                        self.improvements.pop_front();
                    }
                    self.improvements.push_back(Improvement { seconds, score, stream: event.stream });
                }
            }
            "finished" => self.ended = Some(event.reason.as_deref().unwrap_or("done").to_string()),
            _ => {}
        }
        if &*event.event != "improved" && event.playouts.is_some() {
            self.playouts = event.playouts;
        }
        self.band = event.band.or(self.band);
        // A torn or repeated session never makes the best worse.
        if let Some(best) = event.best_by_then() {
            self.best = Some(self.best.map_or(best, |old| old.max(best)));
        }
        if let Some(seconds) = event.seconds.filter(|seconds| seconds.is_finite() && self.best.is_some()) {
            // An improvement tells the playouts of one stream only.
            let playouts = self.playouts.filter(|_| event.event != "improved");
            let (best, band, entropy) = (self.best, self.band, event.entropy);
            self.curve.push(Point { seconds, playouts, best, band, entropy });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(seconds: f64) -> Point {
        Point {
            seconds,
            playouts: Some(seconds * 10.0),
            best: Some(seconds.floor()),
            band: None,
            entropy: None,
        }
    }

    #[test]
    fn a_curve_stays_small_and_keeps_its_ends() {
        let mut curve = Curve::new(100);
        for i in 0..100_000 {
            curve.push(point(f64::from(i)));
        }
        curve.push(point(50.0));
        let points: Vec<&Point> = curve.points().collect();
        assert!(points.len() <= 101 && points.len() >= 50, "{}", points.len());
        assert_eq!((points[0].seconds, points[points.len() - 1].seconds), (0.0, 99_999.0));
        assert!(points.is_sorted_by(|a, b| a.seconds < b.seconds));
        assert_eq!(curve.best_at(1e9), Some(99_999.0));
        assert_eq!(curve.best_at(-1.0), None);
    }

    #[test]
    fn a_history_tells_what_the_events_say() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("events.jsonl");
        let text = r#"{"event":"started","time":"2026-11-15T21:30:00Z"}
{"event":"improved","seconds":0.5,"stream":1,"score":10,"playouts":7}
torn
{"event":"progress","seconds":1.0,"playouts":100,"best":10,"band":[4,7,9.5],"entropy":0.5}
{"event":"improved","seconds":0.7,"stream":0,"score":12,"playouts":70}
{"event":"finished","seconds":2.0,"playouts":200,"score":12,"reason":"time"}
"#;
        std::fs::write(&path, text).unwrap();
        let history = History::read(&path).unwrap();
        assert_eq!((history.events, history.improved, history.skipped), (5, 2, 1));
        assert_eq!(history.ended.as_deref(), Some("time"));
        let points: Vec<Value> = history.curve.points().map(|point| point.to_json()).collect();
        let expected = json!([
            [0.5, null, 10.0],
            [1.0, 100.0, 10.0, 4.0, 7.0, 9.5, 0.5],
            [2.0, 200.0, 12.0, 4.0, 7.0, 9.5]
        ]);
        assert_eq!(json!(points), expected);
    }
}
