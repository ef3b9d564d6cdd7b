//! The formats of the run folder as JSON schema (draft 2020-12), derived from the types that write it.

use crate::event::Event;
use crate::game::Game;
use crate::result::{ReasonSchema, RunResult};
use crate::spec::{LimitsSchema, Spec};
use crate::worker::WorkerLine;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The parts, one for each file and what they share, under `$defs`: what is written, and so what a reader finds.
pub fn schema() -> Value {
    let mut parts = Map::new();
    let mut all = SchemaSettings::draft2020_12().for_serialize().into_generator();
    part::<Spec>("spec", &mut all, &mut parts);
    part::<LimitsSchema>("limits", &mut all, &mut parts);
    part::<Event>("events", &mut all, &mut parts);
    part::<ReasonSchema>("reason", &mut all, &mut parts);
    part::<RunResult>("result", &mut all, &mut parts);
    part::<WorkerLine>("workers", &mut all, &mut parts);
    part::<Game>("games", &mut all, &mut parts);
    // What several of them share has a part of its own.
    for (name, shared) in all.take_definitions(true) {
        parts.entry(name).or_insert(shared);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The run folder of Sortie, format 1",
        "description": "One part for each file. A reader refuses a format it does not know, and takes keys it does not know as they come.",
        "$defs": parts,
    })
}

fn part<T: JsonSchema>(name: &str, all: &mut SchemaGenerator, parts: &mut Map<String, Value>) {
    parts.insert(name.to_string(), T::json_schema(all).to_value());
}
