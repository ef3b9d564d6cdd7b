//! A line of `events.jsonl`. `Event` is what is written; `Glance` is what a reader takes of any line, whatever version
//! wrote it: keys that are missing are `None`, and other keys do not matter.

use crate::spec::LimitsSchema;
use crate::text::write;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sortie_core::{Limits, Search, StopReason};
use std::borrow::Cow;

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[schemars(title = "One line of events.jsonl")]
pub enum Event {
    /// The run begins.
    Started {
        /// UTC.
        time: String,
        /// `domain/name`.
        instance: String,
        /// What each stream runs.
        #[schemars(schema_with = "crate::spec::search_schema")]
        search: Search,
        /// The seed of all random numbers.
        seed: u64,
        /// Independent searches.
        streams: u32,
        /// Threads that work through them.
        threads: u32,
        /// When the run ends.
        #[serde(default)]
        #[schemars(with = "LimitsSchema")]
        limits: Limits,
        /// The version of the program.
        version: String,
    },
    /// A better solution, which is on the disk by now.
    Improved {
        /// Wall time of the run.
        #[serde(serialize_with = "write::seconds")]
        seconds: f64,
        /// The stream that found it.
        stream: u32,
        /// Its score.
        #[serde(serialize_with = "write::score")]
        score: f64,
        /// Playouts of that stream.
        playouts: u64,
    },
    /// What a search that chooses is about to do, and why.
    Course {
        /// Wall time of the run.
        #[serde(serialize_with = "write::seconds")]
        seconds: f64,
        /// The stream.
        stream: u32,
        /// One line.
        text: String,
    },
    /// How it stands, about once a second.
    Progress {
        /// Wall time of the run.
        #[serde(serialize_with = "write::seconds")]
        seconds: f64,
        /// CPU time of the run.
        #[serde(serialize_with = "write::seconds")]
        cpu_seconds: f64,
        /// Playouts of all streams.
        playouts: u64,
        /// The best score so far.
        #[serde(serialize_with = "write::best")]
        best: Option<f64>,
        /// What a tenth, half and nine tenths of the streams have found at most.
        #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "write::scores")]
        #[schemars(with = "[f64; 3]")]
        band: Option<[f64; 3]>,
        /// The mean entropy of the policies.
        #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "write::entropy")]
        #[schemars(with = "f64", range(min = 0.0))]
        entropy: Option<f64>,
    },
    /// The run goes on.
    Resumed {
        /// UTC.
        time: String,
        /// Wall time of the run.
        #[serde(serialize_with = "write::seconds")]
        seconds: f64,
        /// Playouts of all streams.
        playouts: u64,
        /// The best score so far.
        #[serde(serialize_with = "write::best")]
        best: Option<f64>,
        /// Threads that work from now on.
        threads: u32,
    },
    /// The run has ended, or was asked to stop.
    Finished {
        /// UTC.
        time: String,
        /// Wall time of the run.
        #[serde(serialize_with = "write::seconds")]
        seconds: f64,
        /// CPU time of the run.
        #[serde(serialize_with = "write::seconds")]
        cpu_seconds: f64,
        /// Playouts of all streams.
        playouts: u64,
        /// The best score.
        #[serde(serialize_with = "write::score")]
        score: f64,
        /// Why.
        #[schemars(with = "crate::result::ReasonSchema")]
        reason: StopReason,
    },
}

/// What a reader takes of an event.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Glance<'a> {
    /// `started`, `improved`, `course`, `progress`, `resumed`, `finished`.
    #[serde(borrow)]
    pub event: Cow<'a, str>,
    /// Wall time of the run.
    pub seconds: Option<f64>,
    /// CPU time of the run.
    pub cpu_seconds: Option<f64>,
    /// Playouts of all streams; of one stream in `improved`.
    pub playouts: Option<f64>,
    /// The best score so far.
    pub best: Option<f64>,
    /// The score that was found.
    pub score: Option<f64>,
    /// The stream that found it.
    pub stream: Option<u64>,
    /// Tenth, half and nine tenths of the streams have at least this as their own best.
    pub band: Option<[f64; 3]>,
    /// The mean entropy of the policies.
    pub entropy: Option<f64>,
    /// Why the run ended.
    #[serde(borrow)]
    pub reason: Option<Cow<'a, str>>,
    /// UTC.
    #[serde(borrow)]
    pub time: Option<Cow<'a, str>>,
}

impl Glance<'_> {
    /// Reads a line.
    pub fn parse(line: &[u8]) -> Option<Glance<'_>> {
        serde_json::from_slice(line).ok()
    }

    /// The best score by then, if the event tells.
    pub fn best_by_then(&self) -> Option<f64> {
        match &*self.event {
            "improved" | "finished" => self.score,
            _ => self.best,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Nrpa;

    /// One of each, with everything in it.
    fn all() -> [Event; 6] {
        let time = || "2026-11-18T20:00:00Z".to_string();
        [
            Event::Started {
                time: time(),
                instance: "schur/3".into(),
                search: Search::Nrpa(Nrpa::default()),
                seed: 7,
                streams: 2,
                threads: 1,
                limits: Limits::seconds(1.5),
                version: "0.1.0".into(),
            },
            Event::Improved { seconds: 0.1234567, stream: 1, score: 23.0, playouts: 5 },
            Event::Course { seconds: 0.5, stream: 0, text: "beam leads".into() },
            Event::Progress {
                seconds: 1.0,
                cpu_seconds: 0.9,
                playouts: 10,
                best: Some(22.5),
                band: Some([1.0, 2.5, 3.0]),
                entropy: Some(0.123456),
            },
            Event::Resumed { time: time(), seconds: 2.0, playouts: 11, best: None, threads: 4 },
            Event::Finished {
                time: time(),
                seconds: 3.0,
                cpu_seconds: 2.0,
                playouts: 12,
                score: 23.0,
                reason: StopReason::CpuTime,
            },
        ]
    }

    #[test]
    fn lines_are_what_they_always_were() {
        let lines = all().map(|event| serde_json::to_string(&event).unwrap());
        assert!(lines[0].starts_with("{\"event\":\"started\",\"time\":\"2026-11-18T20:00:00Z\",\"instance\":\"schur/3\",\"search\":{\"name\":\"nrpa\","));
        assert!(lines[0].ends_with(
            "\"seed\":7,\"streams\":2,\"threads\":1,\"limits\":{\"seconds\":1.5},\"version\":\"0.1.0\"}"
        ));
        assert_eq!(
            lines[1..],
            [
                "{\"event\":\"improved\",\"seconds\":0.123457,\"stream\":1,\"score\":23,\"playouts\":5}",
                "{\"event\":\"course\",\"seconds\":0.5,\"stream\":0,\"text\":\"beam leads\"}",
                "{\"event\":\"progress\",\"seconds\":1.0,\"cpu_seconds\":0.9,\"playouts\":10,\"best\":22.5,\"band\":[1,2.5,3],\"entropy\":0.1235}",
                "{\"event\":\"resumed\",\"time\":\"2026-11-18T20:00:00Z\",\"seconds\":2.0,\"playouts\":11,\"best\":null,\"threads\":4}",
                "{\"event\":\"finished\",\"time\":\"2026-11-18T20:00:00Z\",\"seconds\":3.0,\"cpu_seconds\":2.0,\"playouts\":12,\"score\":23,\"reason\":\"cpu-time\"}",
            ]
        );
    }

    #[test]
    fn readers_and_writers_mean_the_same_keys() {
        for event in all() {
            let line = serde_json::to_string(&event).unwrap();
            let back: Event = serde_json::from_str(&line).unwrap();
            assert_eq!(serde_json::to_string(&back).unwrap(), line);
            let seen = Glance::parse(line.as_bytes()).unwrap();
            match event {
                Event::Started { time, .. } => assert_eq!(seen.time.as_deref(), Some(&*time)),
                Event::Improved { stream, score, .. } => {
                    assert_eq!((seen.stream, seen.best_by_then()), (Some(stream.into()), Some(score)));
                }
                Event::Course { stream, .. } => assert_eq!(seen.stream, Some(stream.into())),
                Event::Progress { best, band, cpu_seconds, .. } => {
                    assert_eq!(
                        (seen.best_by_then(), seen.band, seen.cpu_seconds),
                        (best, band, Some(cpu_seconds))
                    );
                    assert_eq!(seen.entropy, Some(0.1235));
                }
                Event::Resumed { playouts, .. } => {
                    assert_eq!((seen.playouts, seen.best_by_then()), (Some(playouts as f64), None));
                }
                Event::Finished { score, seconds, .. } => {
                    assert_eq!((seen.best_by_then(), seen.seconds), (Some(score), Some(seconds)));
                    assert_eq!(seen.reason.as_deref(), Some("cpu-time"));
                }
            }
        }
        assert!(Glance::parse(b"{\"event\":\"of a later version\",\"colour\":1}").is_some());
        assert!(Glance::parse(b"{\"colour\":1}").is_none());
    }
}
