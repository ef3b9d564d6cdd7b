//! `result.json`: how a run ended, which is also what `--json` prints.

use crate::folder::RECORD;
use crate::spec::{LimitsSchema, Spec};
use crate::text::write;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use sortie_core::measure::{Measure, standing};
use sortie_core::{Limits, Position, Solution, StopReason};
use std::path::Path;

/// How a run ended. Facts of the domain stand beside these keys and never replace them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "result.json; the facts of the domain stand beside these keys")]
pub struct RunResult {
    /// The word before the slash.
    pub domain: String,
    /// `domain/name`.
    pub instance: String,
    /// The name of the search.
    pub search: String,
    /// Its parameters.
    pub parameters: Map<String, Value>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Independent searches.
    pub streams: u32,
    /// Threads that worked through them.
    pub threads: u32,
    /// What the run was to end by.
    #[schemars(with = "LimitsSchema")]
    pub limits: Limits,
    /// The best score.
    #[serde(serialize_with = "write::score")]
    pub score: f64,
    /// The best score known of the instance.
    #[serde(serialize_with = "write::best")]
    pub best_known: Option<f64>,
    /// The aims of the score one by one, each with the best known.
    pub objectives: Vec<Objective>,
    /// The moves of the best solution.
    pub moves: Vec<String>,
    /// Playouts of all streams and sessions.
    pub playouts: u64,
    /// The same by wall time.
    #[serde(serialize_with = "write::score")]
    pub playouts_per_second: f64,
    /// Wall time of all sessions.
    #[serde(serialize_with = "write::seconds")]
    pub seconds: f64,
    /// CPU time of all sessions.
    #[serde(serialize_with = "write::seconds")]
    pub cpu_seconds: f64,
    /// Why the run ended.
    #[schemars(with = "ReasonSchema")]
    pub reason: StopReason,
    /// Where it is kept.
    pub folder: String,
    /// The best solution as a record.
    pub record: String,
    /// The version of the program.
    pub version: String,
}

/// An aim of a score: see `sortie_core::measure::Measure`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Objective {
    /// What it counts or measures; `score` where it is nothing but that.
    pub what: String,
    /// How much of it.
    #[serde(serialize_with = "write::score")]
    pub value: f64,
    /// The best known, where the aims are the same.
    #[serde(serialize_with = "write::best")]
    pub best_known: Option<f64>,
    /// How far behind that in per cent, negative where better, 0 where equal within rounding.
    #[serde(serialize_with = "write::best")]
    pub gap_percent: Option<f64>,
}

/// The aims of a score beside those of the best known.
pub fn objectives(found: &[Measure], known: Option<&[Measure]>) -> Vec<Objective> {
    let known = known.filter(|known| standing(found, known).is_some());
    let row = |(i, measure): (usize, &Measure)| {
        let known = known.map(|known| &known[i]);
        Objective {
            what: if measure.what.is_empty() { "score" } else { measure.what }.to_string(),
            value: measure.value,
            best_known: known.map(|known| known.value),
            gap_percent: known.map(|known| (measure.gap(known) * 1e4).round() / 1e4),
        }
    };
    found.iter().enumerate().map(row).collect()
}

impl RunResult {
    /// The result of a run in a folder, of which this much is known already.
    pub fn new(spec: &Spec, folder: &Path, best: &Solution, best_known: Option<f64>) -> RunResult {
        let mut parameters = match serde_json::to_value(&spec.search) {
            Ok(Value::Object(map)) => map,
            _ => unreachable!("a search is a map"),
        };
        parameters.shift_remove("name");
        RunResult {
            domain: spec.instance.split('/').next().unwrap_or_default().to_string(),
            instance: spec.instance.clone(),
            search: spec.search.name().to_string(),
            parameters,
            seed: spec.seed,
            streams: spec.streams,
            threads: spec.threads,
            limits: spec.limits.clone(),
            score: best.score,
            best_known,
            objectives: Vec::new(),
            moves: best.moves.clone(),
            playouts: 0,
            playouts_per_second: 0.0,
            seconds: 0.0,
            cpu_seconds: 0.0,
            reason: StopReason::Done,
            folder: folder.to_string_lossy().into_owned(),
            record: folder.join(RECORD).to_string_lossy().into_owned(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }

    /// The same with its score aim by aim.
    pub fn told(self, objectives: Vec<Objective>) -> RunResult {
        RunResult { objectives, ..self }
    }

    /// The same with what it took and why it ended.
    pub fn ended(self, playouts: u64, seconds: f64, cpu_seconds: f64, reason: StopReason) -> RunResult {
        let playouts_per_second = (playouts as f64 / seconds.max(1e-9)).round();
        RunResult { playouts, playouts_per_second, seconds, cpu_seconds, reason, ..self }
    }

    /// As JSON, with what the domain says of the end beside it.
    pub fn to_json(&self, end: &Position) -> Map<String, Value> {
        let Ok(Value::Object(mut map)) = serde_json::to_value(self) else {
            unreachable!("a result is a map")
        };
        for &(key, value) in &end.facts {
            map.entry(key).or_insert(crate::text::number(value));
        }
        map
    }
}

/// `sortie_core::StopReason` as JSON; a test holds this to it.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(title = "Why a run ended", rename = "reason")]
#[allow(dead_code)] // it is there for its names
pub(crate) enum ReasonSchema {
    /// The search came to its end.
    Done,
    /// The playout limit.
    Playouts,
    /// The wall-time limit.
    Time,
    /// The CPU-time limit.
    CpuTime,
    /// The target score was reached.
    Target,
    /// Too many playouts without an improvement.
    Patience,
    /// Somebody asked.
    Asked,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_every_reason() {
        use {ReasonSchema as Ours, StopReason as Theirs};
        let word = |reason: Theirs| {
            let ours = match reason {
                Theirs::Done => Ours::Done,
                Theirs::Playouts => Ours::Playouts,
                Theirs::Time => Ours::Time,
                Theirs::CpuTime => Ours::CpuTime,
                Theirs::Target => Ours::Target,
                Theirs::Patience => Ours::Patience,
                Theirs::Asked => Ours::Asked,
            };
            assert_eq!(serde_json::to_value(reason).unwrap(), serde_json::to_value(ours).unwrap());
        };
        let all = ["done", "playouts", "time", "cpu-time", "target", "patience", "asked"];
        for name in all {
            word(serde_json::from_value(name.into()).unwrap());
        }
    }
}
