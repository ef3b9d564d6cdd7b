//! `spec.toml`: everything needed to repeat a search for a solution.

use crate::network::PolicySpec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sortie_core::{BestOf, Limits, Search};

/// Everything needed to repeat a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "spec.toml, as JSON: everything needed to repeat a run")]
pub struct Spec {
    /// The version of the folder's format.
    #[schemars(extend("const" = crate::folder::FORMAT))]
    pub format: u32,
    /// The version of the program that began the run.
    pub sortie: String,
    /// `domain/name`.
    pub instance: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Independent searches.
    #[schemars(range(min = 1, max = crate::limits::STREAMS_MAX))]
    pub streams: u32,
    /// Threads that work through them.
    #[schemars(range(min = 1, max = crate::limits::THREADS_MAX))]
    pub threads: u32,
    /// What each stream runs.
    #[schemars(schema_with = "search_schema")]
    pub search: Search,
    /// The network that weighs the moves, if there is one; `policy.safetensors` is a copy of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PolicySpec")]
    pub policy: Option<PolicySpec>,
    /// When the run ends.
    #[serde(default)]
    #[schemars(with = "LimitsSchema")]
    pub limits: Limits,
}

impl Spec {
    /// The part that a search is handed.
    pub fn best_of(&self) -> BestOf {
        BestOf { search: self.search.clone(), seed: self.seed, streams: self.streams, threads: self.threads }
    }

    /// What a checkpoint must agree with to belong to this spec: not the threads, not the limits.
    pub fn identity(&self) -> String {
        let search = serde_json::to_string(&self.search).expect("a search is plain data");
        let policy = self.policy.as_ref().map(|policy| {
            let trust = serde_json::to_string(&policy.trust).expect("plain data");
            format!(" policy {} {trust}", policy.hash)
        });
        let policy = policy.unwrap_or_default();
        format!("{} {search}{policy} seed {} streams {}", self.instance, self.seed, self.streams)
    }
}

/// `sortie_core::Limits` as JSON; the core knows nothing of schemas, and a test holds this to it.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "When a run ends; what is missing or null is no limit", rename = "limits")]
pub(crate) struct LimitsSchema {
    /// Playouts of the whole run, divided evenly among the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    playouts: Option<u64>,
    /// Wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// CPU time of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_seconds: Option<f64>,
    /// A score that is good enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    /// Playouts of one stream without an improvement.
    #[serde(skip_serializing_if = "Option::is_none")]
    patience: Option<u64>,
}

/// A search is known by its name; which parameters it has is up to the search.
pub(crate) fn search_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "required": ["name"],
        "properties": { "name": { "enum": Search::NAMES } }
    })
}

/// One line: `nrpa level 3, iterations 100, alpha 1`; switches that are off are left out, and so are some parameters while
/// they have their defaults.
pub fn describe(search: &Search) -> String {
    use serde_json::{Map, Value, json};
    let map = |search: &Search| match serde_json::to_value(search) {
        Ok(Value::Object(mut map)) => {
            map.shift_remove("name");
            map
        }
        _ => Map::new(),
    };
    let plain: Search =
        serde_json::from_value(json!({ "name": search.name() })).expect("every parameter has a default");
    let defaults = map(&plain);
    let said = map(search)
        .into_iter()
        .filter(|(key, value)| !UNSAID.contains(&key.as_str()) || defaults.get(key) != Some(value))
        .map(|(key, value)| (key.replace('_', " "), value));
    let shown = said.filter_map(|(key, value)| match value {
        Value::String(text) => Some(format!("{key} {text}")),
        Value::Bool(false) => None,
        Value::Bool(true) => Some(key),
        Value::Number(n) => Some(format!("{key} {}", crate::text::score(n.as_f64()?))),
        Value::Array(values) => {
            let words: Vec<String> = values.iter().map(Value::to_string).collect();
            Some(format!("{key} {}", words.join(",")))
        }
        other => Some(format!("{key} {other}")),
    });
    let shown: Vec<String> = shown.collect();
    format!("{} {}", search.name(), shown.join(", ")).trim_end().to_string()
}

/// The playouts of one whole search, where the parameters tell.
pub fn playouts(search: &Search) -> Option<f64> {
    match search {
        Search::Nrpa(nrpa) if nrpa.repetitions == 0 => {
            Some((nrpa.iterations as f64).powi(nrpa.level as i32) * nrpa.stabilise as f64)
        }
        Search::HdNrpa(hd) => Some((1..=hd.level as usize).map(|l| hd.iterations.at(l) as f64).product()),
        Search::BeamNrpa(beam) => Some(beam.playouts()),
        _ => None,
    }
}

/// Parameters that a line about a search leaves out while they have their defaults.
const UNSAID: [&str; 6] = ["temperature", "stabilise", "noise", "repetitions", "parallel", "workers"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_schema_knows_every_limit() {
        let all = Limits {
            playouts: Some(1),
            seconds: Some(1.0),
            cpu_seconds: Some(1.0),
            target: Some(1.0),
            patience: Some(1),
        };
        let ours: LimitsSchema = serde_json::from_value(serde_json::to_value(&all).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(&all).unwrap(), serde_json::to_value(&ours).unwrap());
    }

    #[test]
    fn every_search_has_its_name() {
        for name in Search::NAMES {
            let search: Search = serde_json::from_value(json!({ "name": name })).unwrap();
            assert_eq!((search.name(), describe(&search).starts_with(name)), (*name, true));
        }
        let unknown = serde_json::from_value::<Search>(json!({ "name": "guess" })).unwrap_err().to_string();
        // `auto` is one of those that are named, and none that a user would choose among.
        let said = unknown.matches('`').count() / 2 - 1;
        assert_eq!(said, Search::NAMES.len() + 1, "{unknown}");
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let search: Search =
            serde_json::from_value(value(r#"{"name":"nrpa","level":4,"temperature":0.5}"#)).unwrap();
        let said = describe(&search);
        assert!(
            said.starts_with("nrpa level 4, iterations 100") && said.contains("temperature 0.5"),
            "{said}"
        );
    }
}
