//! What goes with networks: games to learn from, a training, an expert iteration. The curve as a table, a line a point,
//! and the pictures that the command has drawn so far.

use super::run::{commands, files, head};
use super::{page as whole, pictures, trouble};
use crate::http::Reply;
use crate::kind::Kind;
use crate::lines::read_lines;
use crate::summary::{State, Summary};
use maud::{Markup, html};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// One point a line, in trainings and expert iterations.
const CURVE: &str = "curve.jsonl";
/// One game a line, in sets of games.
const GAMES: &str = "games.jsonl";
/// No more points are listed; the last ones are.
const POINTS_MAX: usize = 500;
/// Of a set of games the last ones: in so many bytes of the file.
const GAMES_BYTES: u64 = 256 << 10;

/// The page.
pub fn page(run: &Summary) -> Reply {
    let games = run.kind == Kind::Data;
    let (points, skipped) = if games { last_games(run) } else { curve(run) };
    let mut said = run.trouble.clone();
    if skipped > 0 {
        let file = if games { GAMES } else { CURVE };
        said.push(format!("{skipped} lines of {file} are not what they should be and were passed over."));
    }
    let running = run.state == State::Running;
    let body = html! {
        (head(run))
        (trouble(&said))
        section.card.wide #refresh data-every=[running.then_some("4")] {
            div.cardhead {
                h2 { @if games { "The latest games" } @else { "So far" } }
                span.muted { (points.len()) @if games { " games" } @else { " points" } }
            }
            (pictures(run, ""))
            @if !points.is_empty() {
                (table(&points))
            } @else if games {
                p.muted { "There is no game yet." }
            } @else {
                p.muted { "There is no curve yet: a training writes a point an epoch, an expert iteration one a round." }
            }
        }
        section.card.wide { div.cardhead { h2 { "Files" } } p { (files(run)) } (commands(run)) }
    };
    whole(200, &run.name, "/", None, &body)
}

type Point = Map<String, Value>;

fn curve(run: &Summary) -> (VecDeque<Point>, u64) {
    let (mut points, skipped) = lines(run, CURVE, 0);
    points.iter_mut().for_each(|point| *point = flat(std::mem::take(point)));
    (points, skipped)
}

/// The games that were written last, and in place of their moves whether they are part of the set.
fn last_games(run: &Summary) -> (VecDeque<Point>, u64) {
    let size = run.path.join(GAMES).metadata().map_or(0, |file| file.len());
    let from = size.saturating_sub(GAMES_BYTES);
    let (mut games, mut skipped) = lines(run, GAMES, from);
    // Of the first line the beginning is missing.
    skipped -= u64::from(from > 0).min(skipped);
    for game in &mut games {
        let kept = game.remove("moves").is_some();
        game.remove("search");
        game.insert("kept".into(), if kept { "yes" } else { "no" }.into());
    }
    (games, skipped)
}

/// The last lines of a file, from this byte on, and how many were no objects.
fn lines(run: &Summary, file: &str, from: u64) -> (VecDeque<Point>, u64) {
    let (mut points, mut skipped) = (VecDeque::new(), 0);
    let read = read_lines(
        &run.path.join(file),
        from,
        u64::MAX,
        &mut |_, line| match serde_json::from_slice::<Point>(line) {
            Ok(point) => {
                if points.len() == POINTS_MAX {
                    points.pop_front();
                }
                points.push_back(point);
            }
            Err(_) => skipped += u64::from(!line.is_empty()),
        },
    );
    read.map_or((VecDeque::new(), 0), |_| (points, skipped))
}

/// What is inside a part becomes a column of its own: `train loss`.
fn flat(point: Point) -> Point {
    let mut flat = Map::new();
    for (name, value) in point {
        match value {
            Value::Object(parts) => {
                flat.extend(parts.into_iter().map(|(part, value)| (format!("{name} {part}"), value)));
            }
            value => {
                flat.insert(name, value);
            }
        }
    }
    flat
}

/// The names of the last point are the columns.
fn table(points: &VecDeque<Point>) -> Markup {
    let columns: Vec<&String> = points.back().into_iter().flat_map(Map::keys).collect();
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
    use std::fs;

    #[test]
    fn a_training_shows_its_curve_and_passes_over_what_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("train.toml", "format = 1\n");
        write(
            "curve.jsonl",
            "{\"epoch\":1,\"test\":{\"loss\":2.25,\"top1\":0.5},\"top\":[0.5,0.75]}\nnonsense\n{\"epoch\":2,\"los",
        );
        let run = Summary::glance("<b>t</b>", folder.path());
        assert_eq!(run.kind, Kind::Train);
        let (points, skipped) = curve(&run);
        assert_eq!((points.len(), skipped), (1, 1));
        let text = table(&points).into_string();
        for part in ["epoch", "test loss", "2.25", "test top1", "0.5 / 0.75"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn of_many_games_the_last_are_shown_without_their_moves() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("data.toml"), "format = 1\n").unwrap();
        let moves = "7,9:H4 ".repeat(90);
        let game = |seed: u64| match seed % 3 {
            0 => format!("{{\"seed\":{seed},\"search\":\"nrpa\",\"score\":71.0}}\n"),
            _ => format!("{{\"seed\":{seed},\"search\":\"nrpa\",\"score\":74.0,\"moves\":\"{moves}\"}}\n"),
        };
        fs::write(folder.path().join("games.jsonl"), (0..2000).map(game).collect::<String>()).unwrap();
        let run = Summary::glance("games", folder.path());
        assert_eq!(run.kind, Kind::Data);
        let (games, skipped) = last_games(&run);
        assert_eq!((games.len(), skipped), (POINTS_MAX, 0));
        assert_eq!((&games[499]["seed"], &games[499]["kept"]), (&1999.into(), &"yes".into()));
        assert_eq!((&games[498]["kept"], games[498].contains_key("search")), (&"no".into(), false));
    }
}
