//! A match or a tuning: everybody against everybody with intervals, and the last games, each with a slider.

use super::run::{commands, frame_json, head, refuse};
use super::{data, explain, link, page as whole, pictures, replay, trouble};
use crate::contest::{Log, find};
use crate::http::Reply;
use crate::run::{GAMES, Kind, RESULT, State, Summary, open_instance, read_text};
use crate::show;
use maud::{Markup, html};
use serde_json::{Value, json};
use sortie_core::Opened;
use sortie_jobs::contest::{Games, Interval};
use sortie_runs::game::{Ended, Game};

/// A score in per cent with its interval.
fn share(interval: &Interval) -> String {
    format!("{:.1} ({:.1} to {:.1})", 100.0 * interval.value, 100.0 * interval.low, 100.0 * interval.high)
}

fn elo(interval: &Interval) -> String {
    let one = |value: f64| match value {
        value if value.is_infinite() => if value > 0.0 { "∞" } else { "−∞" }.to_string(),
        value => format!("{value:+.0}").replace('-', "−"),
    };
    format!("{} ({} to {})", one(interval.value), one(interval.low), one(interval.high))
}

fn points(games: &Games) -> String {
    format!("+{} ={} −{}", games.wins, games.draws, games.losses)
}

/// The page.
pub fn page(run: &Summary) -> Reply {
    let mut said = run.trouble.clone();
    let log = Log::read(&run.path.join(GAMES)).unwrap_or_default();
    if log.games == 0 {
        said.push("No game has ended yet: the first will show here.".into());
    }
    if log.skipped > 0 {
        said.push(format!("{} lines of {GAMES} are not games and were passed over.", log.skipped));
    }
    if log.faults > 0 {
        said.push(format!("{} games ended by a fault of a player: the list says which.", log.faults));
    }
    let running = run.state == State::Running;
    let body = html! {
        (head(run))
        (trouble(&said))
        @if run.kind == Kind::Tune { (optimum(run)) }
        section.card.wide #refresh data-every=[running.then_some("4")] {
            div.cardhead {
                h2 { @if run.kind == Kind::Tune { "Games" } @else { "Cross-table" } }
                span.muted { (show::count(log.games as f64)) " games" }
            }
            @if run.kind == Kind::Tune {
                p.muted { "The tuned player is another one in every pair of games, so there is no table of who beat whom." }
            } @else {
                @if log.games > 0 { (cross_table(&log)) }
                p.muted.small {
                    "Score in per cent and Elo, each with the interval that holds the truth in 95 of 100 cases, by pairs of \
                     games with colours swapped."
                }
            }
        }
        section.card.wide {
            div.cardhead { h2 { "Last games" } }
            div.scroll.tall { table {
                thead { tr { th.number { "Game" } th { "First" } th { "Second" } th { "Result" } th.number { "Moves" } th { "Why" } } }
                tbody { @for (game, n_moves) in log.latest.iter().rev() { (row(run, game, *n_moves)) } }
            } }
        }
        section.card.wide { div.cardhead { h2 { "In the terminal" } } (commands(run)) }
    };
    whole(200, &run.name, "/", running.then_some("refresh.js"), &body)
}

pub fn cross_table(log: &Log) -> Markup {
    let order = log.order();
    html! {
        div.scroll { table.cross {
            thead { tr {
                th {} th { "Player" } th.number { "Games" } th.number { "Score in %" } th.number { "Elo" }
                @for rank in 1..=order.len() { th.number { (rank) } }
            } }
            tbody { @for (rank, &player) in (1..).zip(&order) {
                @let total = log.total(player);
                @let estimate = (total.pairs.total() > 0).then(|| total.pairs.estimate());
                tr {
                    td.number { (rank) }
                    th scope="row" { (log.players[player]) }
                    td.number { (points(&total.games)) }
                    td.number { (estimate.map_or("–".into(), |e| share(&e.score))) }
                    td.number { (estimate.map_or("–".into(), |e| elo(&e.elo))) }
                    @for &other in &order { (cell(log, player, other)) }
                }
            } }
        } }
    }
}

/// What a tuning believes of its parameters, as of the end of its last session.
fn optimum(run: &Summary) -> Markup {
    let result = read_text(&run.path.join(RESULT)).ok();
    let result: Value = result.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let rows = result["optimum"].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_f64().map_or("–".into(), |value| format!("{value:.4}"));
    html! {
        section.card.wide {
            div.cardhead {
                h2 { "Parameters" }
                @if let Some(score) = result["score"]["value"].as_f64() { span.muted { (format!("score there {:.1} %", 100.0 * score)) } }
            }
            @if rows.is_empty() { p.muted { "What is believed of the parameters is written when a session ends." } }
            @else {
                div.scroll { table {
                    thead { tr { th { "Parameter" } th.number { "Best" } th.number { "Interval" } th.number { "Range" } } }
                    tbody { @for row in &rows { tr {
                        th scope="row" { (row["name"].as_str().unwrap_or("?")) }
                        td.number { b { (number(&row["value"])) } }
                        td.number { (number(&row["low"])) " to " (number(&row["high"])) }
                        td.number { (number(&row["range"][0])) " to " (number(&row["range"][1])) }
                    } } }
                } }
            }
            (pictures(run, ""))
        }
    }
}

fn cell(log: &Log, player: usize, other: usize) -> Markup {
    let games = log.tally(player, other).games;
    if player == other {
        return html! { td.self aria-label="itself" {} };
    }
    if games.total() == 0 {
        return html! { td.number { "–" } };
    }
    let score = games.estimate().score.value;
    let class = if score > 0.55 {
        "won"
    } else if score < 0.45 {
        "lost"
    } else {
        "even"
    };
    html! { td.number.(class) title=(points(&games)) { (format!("{:.0}", 100.0 * score)) } }
}

fn row(run: &Summary, game: &Game, n_moves: usize) -> Markup {
    let result = match game.result.name() {
        "first" => "first wins",
        "second" => "second wins",
        _ => "draw",
    };
    html! {
        tr {
            td.number { a href={ (link(&run.name)) "/game/" (game.game) } { (game.game) } }
            td { @if game.result == Ended::First { b { (game.first) } } @else { (game.first) } }
            td { @if game.result == Ended::Second { b { (game.second) } } @else { (game.second) } }
            td { (result) }
            td.number { (n_moves) }
            td { (game.reason.name()) @if !game.detail.is_empty() { ": " (game.detail) } }
        }
    }
}

/// One game with a slider; `N.json?after=K` are its frames.
pub fn game(run: &Summary, number: &str) -> Reply {
    let (number, after) = match number.split_once(".json@") {
        Some((number, after)) => (number, after.parse::<usize>().ok()),
        None => (number, None),
    };
    let found = number.parse().ok().and_then(|number| find(&run.path.join(GAMES), number).ok().flatten());
    let Some(game) = found else {
        return explain(404, &run.name, "there is no such game in this folder");
    };
    if let Some(after) = after {
        let opened = match open_instance(&run.path, &game.instance) {
            Ok(Opened::Game(opened)) => opened,
            Ok(_) => return refuse("this is not a game for two"),
            Err(why) => return refuse(&why),
        };
        return match opened.position(&game.moves[..after.min(game.moves.len())]) {
            Ok(position) => Reply::json(&frame_json(&position, &game.moves, after)),
            Err(error) => refuse(&error.to_string()),
        };
    }
    let body = html! {
        div.head {
            p.crumbs { a href="/" { "Runs" } " / " a href=(link(&run.name)) { (run.name) } }
            h1 { "Game " (game.game) }
            p.muted { b { (game.first) } " against " b { (game.second) } " at " (game.instance) ": "
                @match game.result.name() { "first" => "first wins", "second" => "second wins", _ => "a draw" }
                " (" (game.reason.name()) @if !game.detail.is_empty() { ", " (game.detail) } "), the first " (game.opening) " moves are the opening" }
        }
        section.card { (replay(game.moves.len(), game.moves.len(), &format!("{}/game/{}.json@", link(&run.name), game.game))) }
        section.card { div.cardhead { h2 { "Moves" } }
            ol.moves { @for pair in game.moves.chunks(2) { li { @for word in pair { span { (word) } " " } } } } }
        (data("data", &json!({})))
    };
    whole(200, &format!("Game {}", game.game), "/", Some("replay.js"), &body)
}
