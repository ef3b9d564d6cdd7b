//! The events of a run, the newest first, a screenful at a time.

use super::{explain, link, page as whole};
use crate::aims::Aims;
use crate::folder::EVENTS;
use crate::http::{Reply, Request};
use crate::lines::read_back;
use crate::show;
use maud::{Markup, html};
use serde_json::{Map, Value};
use std::path::Path;

/// Events on a page.
const LINES: usize = 100;
/// Bytes they may have.
const BYTES: u64 = 256 << 10;

/// The page.
pub fn page(request: &Request, name: &str, folder: &Path, aims: &Aims) -> Reply {
    let before = request.ask("before").and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let lines = match read_back(&folder.join(EVENTS), before, BYTES, LINES) {
        Ok(lines) => lines,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return explain(404, name, "there is no events.jsonl in this folder: only searches write one");
        }
        Err(error) => return explain(500, name, &error.to_string()),
    };
    let oldest = lines.first().map_or(0, |(at, _)| *at);
    let body = html! {
        div.head {
            p.crumbs { a href="/" { "Runs" } " / " a href=(link(name)) { (name) } }
            h1 { "Events" }
        }
        div.scroll { table.events {
            thead { tr { th { "Time" } th { "Event" } th { "What it says" } } }
            tbody { @for (_, line) in lines.iter().rev() { (row(line, aims)) } }
        } }
        nav.pager aria-label="Pages of events" {
            @if before != u64::MAX { a href={ (link(name)) "/events" } { "Newest" } }
            @if oldest > 0 { a rel="next" href={ (link(name)) "/events?before=" (oldest) } { "Older" } }
            @else { span.muted { "That is where it began." } }
        }
    };
    whole(200, &format!("Events of {name}"), "/", None, &body)
}

fn row(line: &str, aims: &Aims) -> Markup {
    let Ok(Value::Object(event)) = serde_json::from_str::<Value>(line) else {
        let cut: String = line.chars().take(200).collect();
        return html! { tr.torn { td {} td { "not an event" } td { code { (cut) } } } };
    };
    let kind = event.get("event").and_then(Value::as_str).unwrap_or("?").to_string();
    let when = match (event.get("seconds").and_then(Value::as_f64), event.get("time").and_then(Value::as_str))
    {
        (Some(seconds), _) => show::time(seconds),
        (None, Some(time)) => time.replace('T', " ").replace('Z', ""),
        _ => String::new(),
    };
    html! { tr { td.when { (when) } td { span.kind.(class(&kind)) { (kind) } } td { (said(&event, aims)) } } }
}

/// A class is a word of ours, never one from a file.
fn class(kind: &str) -> &'static str {
    match kind {
        "improved" => "improved",
        "started" | "resumed" => "began",
        "finished" => "ended",
        _ => "plain",
    }
}

/// Numbers of an event that are scores.
const SCORES: [&str; 4] = ["score", "best", "target", "band"];

fn said(event: &Map<String, Value>, aims: &Aims) -> String {
    let part = |(key, value): (&String, &Value)| match value {
        Value::Number(number) if SCORES.contains(&key.as_str()) => {
            Some(format!("{key} {}", aims.told(number.as_f64()?)))
        }
        Value::Number(number) => Some(format!("{} {}", key.replace('_', " "), show::score(number.as_f64()?))),
        Value::String(text) => Some(format!("{} {text}", key.replace('_', " "))),
        Value::Array(scores) if SCORES.contains(&key.as_str()) => {
            let told: Vec<String> =
                scores.iter().filter_map(Value::as_f64).map(|score| aims.told(score)).collect();
            Some(format!("{key} {}", told.join(" / ")))
        }
        Value::Null => None,
        Value::Object(parts) => {
            let told: Vec<String> = parts
                .iter()
                .map(|(key, value)| match value {
                    Value::String(text) => format!("{key} {text}"),
                    other => format!("{key} {other}"),
                })
                .collect();
            Some(format!("{} ({})", key.replace('_', " "), told.join(", ")))
        }
        other => Some(format!("{} {other}", key.replace('_', " "))),
    };
    let rest = event.iter().filter(|(key, _)| !["event", "seconds", "time"].contains(&key.as_str()));
    rest.filter_map(part).collect::<Vec<_>>().join(", ")
}
