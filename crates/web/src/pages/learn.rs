//! What goes with networks: games to learn from, a training, an expert iteration. The curve as a table, a line a point,
//! and the pictures that the command has drawn so far.

use super::run::{commands, files, head};
use super::{page as whole, pictures, trouble};
use crate::events::read_lines;
use crate::http::Reply;
use crate::run::{State, Summary};
use maud::{Markup, html};
use serde_json::{Map, Value};

/// One point a line, in trainings and expert iterations.
const CURVE: &str = "curve.jsonl";
/// No more points are listed; the last ones are.
const POINTS_MAX: usize = 500;

/// The page.
pub fn page(run: &Summary) -> Reply {
    let (points, skipped) = curve(run);
    let mut said = run.trouble.clone();
    if skipped > 0 {
        said.push(format!("{skipped} lines of {CURVE} are not what they should be and were passed over."));
    }
    let running = run.state == State::Running;
    let body = html! {
        (head(run))
        (trouble(&said))
        section.card.wide #refresh data-every=[running.then_some("4")] {
            div.cardhead { h2 { "So far" } span.muted { (points.len()) " points" } }
            (pictures(run, ""))
            @if points.is_empty() {
                p.muted { "There is no curve yet: a training writes a point an epoch, an expert iteration one a round." }
            } @else {
                (table(&points))
            }
        }
        section.card.wide { div.cardhead { h2 { "Files" } } p { (files(run)) } (commands(run)) }
    };
    whole(200, &run.name, "/", None, &body)
}

fn curve(run: &Summary) -> (Vec<Map<String, Value>>, u64) {
    let (mut points, mut skipped) = (Vec::new(), 0);
    let read = read_lines(&run.path.join(CURVE), 0, u64::MAX, &mut |_, line| match serde_json::from_slice::<
        Map<String, Value>,
    >(line)
    {
        Ok(point) => {
            if points.len() == POINTS_MAX {
                points.remove(0);
            }
            points.push(point);
        }
        Err(_) => skipped += u64::from(!line.is_empty()),
    });
    // Games to learn from have no curve.
    read.map_or((Vec::new(), 0), |_| (points, skipped))
}

/// The names of the first point are the columns.
fn table(points: &[Map<String, Value>]) -> Markup {
    let columns: Vec<&String> = points.first().into_iter().flat_map(Map::keys).collect();
    html! {
        div.scroll.tall { table {
            thead { tr { @for name in &columns { th.number { (name.replace('_', " ")) } } } }
            tbody { @for point in points.iter().rev() {
                tr { @for name in &columns { td.number { (point.get(*name).map(value).unwrap_or_default()) } } }
            } }
        } }
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(self::value).collect::<Vec<_>>().join(" / "),
        Value::Number(number) if number.is_f64() => {
            let rounded = format!("{:.4}", number.as_f64().unwrap_or_default());
            rounded.trim_end_matches('0').trim_end_matches('.').to_string()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Kind;
    use std::fs;

    #[test]
    fn a_training_shows_its_curve_and_passes_over_what_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("train.toml", "format = 1\n");
        write("curve.jsonl", "{\"epoch\":1,\"loss\":2.25,\"top\":[0.5,0.75]}\nnonsense\n{\"epoch\":2,\"los");
        let run = Summary::glance("<b>t</b>", folder.path());
        assert_eq!(run.kind, Kind::Train);
        let (points, skipped) = curve(&run);
        assert_eq!((points.len(), skipped), (1, 1));
        let text = table(&points).into_string();
        assert!(text.contains("2.25") && text.contains("0.5 / 0.75") && text.contains("epoch"), "{text}");
    }
}
