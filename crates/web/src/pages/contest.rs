//! A match or a tuning: the verdict, what it rests on, everybody against everybody, and the last games, each with a
//! slider and one click from an analysis.

use super::run::{commands, frame_json, head, refuse};
use super::{data, explain, link, page as whole, pictures, replay, trouble};
use crate::contest::{Log, find};
use crate::download;
use crate::folder::RESULT;
use crate::http::{Reply, encode};
use crate::instance::open_instance;
use crate::kind::{GAMES, Kind};
use crate::show;
use crate::summary::{State, Summary};
use crate::text::read_whole;
use crate::verdict::{self, Verdict, elo, share};
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};
use sortie_core::Opened;
use sortie_jobs::contest::{Games, Pairs};
use sortie_runs::game::{Ended, Game};

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
    let verdict = (run.kind == Kind::Match).then(|| verdict::of(run, &log)).flatten();
    let body = html! {
        (head(run))
        (trouble(&said))
        div #refresh data-every=[running.then_some("4")] {
            @if run.kind == Kind::Tune { (optimum(run)) }
            @if let Some(verdict) = &verdict { (shown(verdict, &log)) }
            @if run.kind == Kind::Match && log.games > 0 {
                section.card.wide {
                    div.cardhead { h2 { "Cross-table" } span.muted { (show::count(log.games as f64)) " games" } }
                    (cross_table(&log))
                    p.muted.small {
                        "Score in per cent and Elo, each with the interval that holds the truth in 95 of 100 cases, by pairs of \
                         games with colours swapped."
                    }
                }
            }
            section.card.wide {
                div.cardhead { h2 { "Last games" } @if run.kind == Kind::Tune { span.muted { (show::count(log.games as f64)) " games" } } }
                @if run.kind == Kind::Tune {
                    p.muted { "The tuned player is another one in every pair of games, so there is no table of who beat whom." }
                }
                div.scroll.tall { table {
                    thead { tr { th.number { "Game" } th { "First" } th { "Second" } th { "Result" } th.number { "Moves" } th { "Why" } } }
                    tbody { @for (game, n_moves) in log.latest.iter().rev() { (row(run, game, *n_moves)) } }
                } }
            }
        }
        section.card.wide { div.cardhead { h2 { "In the terminal" } } (commands(run)) }
    };
    whole(200, &run.name, "/", running.then_some("refresh.js"), &body)
}

/// The verdict and its figures.
fn shown(verdict: &Verdict, log: &Log) -> Markup {
    let (headline, class) = verdict.headline();
    let estimate = verdict.tally.pairs.estimate();
    let half =
        |interval: &sortie_jobs::contest::Interval, factor: f64| format!("± {:.1}", factor * interval.half());
    let finite = estimate.elo.value.is_finite();
    html! {
        div.verdict.(class) #verdict { p.headline { (headline) } p { (verdict.below()) } }
        dl.tiles {
            div { dt { "Score" } dd { (format!("{:.1} %", 100.0 * estimate.score.value)) } dd.sub { (half(&estimate.score, 100.0)) } }
            div { dt { "Elo" } dd { @if finite { (format!("{:+.1}", estimate.elo.value)) } @else { (elo(&estimate.elo).split(' ').next().unwrap_or("–")) } }
                dd.sub { @if finite && estimate.elo.half().is_finite() { (half(&estimate.elo, 1.0)) } @else { (elo(&estimate.elo)) } } }
            div { dt { abbr title="normalised Elo: Elo in deviations of a game, the same whatever the share of draws" { "nElo" } }
                dd { (estimate.nelo.map_or("–".into(), |nelo| format!("{:+.1}", nelo.value))) }
                dd.sub { (estimate.nelo.map_or("no variance".into(), |nelo| half(&nelo, 1.0))) } }
            div { dt { abbr title="likelihood of superiority" { "LOS" } } dd { (format!("{:.1} %", 100.0 * estimate.los)) } dd.sub { "for " (verdict.names[0]) } }
            @if let Some(test) = &verdict.test {
                @let (low, high) = test.sprt.bounds();
                div { dt { abbr title="log-likelihood ratio" { "LLR" } } dd { (format!("{:.2}", test.llr)) }
                    dd.sub { (format!("{low:.2} to {high:.2}, {} to {} {}", show::score(test.sprt.elo0), show::score(test.sprt.elo1), test.unit())) } }
            } @else {
                div { dt { "Pairs" } dd { (show::count(verdict.tally.pairs.total() as f64)) } dd.sub { "of games" } }
            }
        }
        div.columns.three {
            section.card {
                div.cardhead { h2 { "Pairs of games" } span.muted.small { "points of " (verdict.names[0]) } }
                (PreEscaped(pentanomial(&verdict.tally.pairs)))
            }
            @if let Some(chart) = verdict.chart(log) {
                section.card { div.cardhead { h2 { "Score in per cent" } span.muted.small { "with its 95 % interval" } } (PreEscaped(chart.markup())) }
            }
            @if let Some(chart) = verdict.test_chart(log) {
                section.card { div.cardhead { h2 { "Log-likelihood ratio" } span.muted.small { "of the sequential test" } } (PreEscaped(chart.markup())) }
            }
        }
    }
}

/// How many pairs ended with 0, 1/2, 1, 3/2 and 2 points, as bars.
fn pentanomial(pairs: &Pairs) -> String {
    const WIDTH: f64 = 360.0;
    const HEIGHT: f64 = 200.0;
    let most = pairs.0.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut svg = format!(
        "<svg class=\"chart bars\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><title>Pairs with 0, 1/2, 1, 3/2 and 2 \
         points: {}</title>",
        pairs.0.map(|count| count.to_string()).join(", ")
    );
    for (i, (&count, name)) in pairs.0.iter().zip(["0", "½", "1", "1½", "2"]).enumerate() {
        let (step, bottom) = (WIDTH / 5.0, HEIGHT - 30.0);
        let (x, height) = (i as f64 * step, count as f64 / most * (bottom - 28.0));
        svg += &format!(
            "<rect class=\"bar p{i}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"3\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
            x + step * 0.14,
            bottom - height,
            step * 0.72,
            x + step / 2.0,
            bottom - height - 8.0,
            show::count(count as f64),
            x + step / 2.0,
            HEIGHT - 8.0
        );
    }
    svg + "</svg>"
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
    let result = read_whole(&run.path.join(RESULT)).ok();
    let result: Value = result.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let rows = result["optimum"].as_array().cloned().unwrap_or_default();
    let number = |value: &Value| value.as_f64().map_or("–".into(), |value| format!("{value:.4}"));
    html! {
        section.card.wide {
            div.cardhead {
                h2 { "Parameters" }
                @if let Some(score) = result["score"]["value"].as_f64() { span.muted { (format!("score there {:.1} %", 100.0 * score)) } }
            }
            @if let Some(verdict) = result["verdict"].as_str() { p { (super::sentence(verdict)) } }
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

/// A player whose tuned parameters are told with four digits: `c=1.3824546591852662` says no more than `c=1.382`.
fn short(player: &str) -> String {
    let told = |part: &str| match part
        .split_once('=')
        .and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)))
    {
        Some((name, value)) if part.len() > name.len() + 7 => {
            let digits = (3 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 9) as usize;
            format!("{name}={value:.digits$}")
        }
        _ => part.to_string(),
    };
    let words = player.split(' ').map(|word| word.split(',').map(told).collect::<Vec<_>>().join(","));
    words.collect::<Vec<_>>().join(" ")
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
            @let (first, second) = (short(&game.first), short(&game.second));
            td { @if game.result == Ended::First { b { (first) } } @else { (first) } }
            td { @if game.result == Ended::Second { b { (second) } } @else { (second) } }
            td { (result) }
            td.number { (n_moves) }
            td { (game.reason.name()) @if !game.detail.is_empty() { ": " (game.detail) } }
        }
    }
}

/// One game with a slider; `N.json@K` are its frames, `N.sgf` and the like the game to take home.
pub fn game(run: &Summary, number: &str) -> Reply {
    let (number, after) = match number.split_once(".json@") {
        Some((number, after)) => (number, after.parse::<usize>().ok()),
        None => (number, None),
    };
    let (number, form) = number.split_once('.').map_or((number, None), |(number, form)| (number, Some(form)));
    let found = number.parse().ok().and_then(|number| find(&run.path.join(GAMES), number).ok().flatten());
    let Some(game) = found else {
        return explain(404, &run.name, "there is no such game in this folder");
    };
    if let Some(form) = form {
        return download::of_match(&game, form);
    }
    if let Some(after) = after {
        let opened = match open_instance(&run.path, &game.instance) {
            Ok(Opened::Game(opened)) => opened,
            Ok(_) => return refuse("this is not a game for two"),
            Err(why) => return refuse(&why),
        };
        return match opened.position(&game.moves[..after.min(game.moves.len())]) {
            Ok(position) => {
                // A game has a result, which the board tells, and no score.
                let mut frame = frame_json(&position, &game.moves, after);
                frame["score"] = Value::Null;
                Reply::json(&frame)
            }
            Err(error) => refuse(&error.to_string()),
        };
    }
    // The whole game on the board where it can be analysed, at its end.
    let analysis = format!(
        "/play/{}#side=both&analyse=on&moves={}",
        encode(&game.instance),
        encode(&game.moves.join(" "))
    );
    let playable = crate::instance::open_game(&game.instance).is_ok();
    let body = html! {
        div.head {
            p.crumbs { a href="/" { "Runs" } " / " a href=(link(&run.name)) { (run.name) } }
            h1 { "Game " (game.game) }
            p.muted { b { (game.first) } " against " b { (game.second) } " at " (game.instance) ": "
                @match game.result.name() { "first" => "first wins", "second" => "second wins", _ => "a draw" }
                " (" (game.reason.name()) @if !game.detail.is_empty() { ", " (game.detail) } "), the first " (game.opening) " moves are the opening" }
            div.actions {
                @if playable { a.button #analyse href=(analysis) { "Analyse this game" } }
                span.downloads { "Download: " @for (form, what) in download::forms(&game.instance) {
                    a download href={ (link(&run.name)) "/game/" (game.game) "." (form) } { (what) } " "
                } }
            }
        }
        div.columns.table {
            section.card { (replay(game.moves.len(), game.moves.len(), &format!("{}/game/{}.json@", link(&run.name), game.game))) }
            section.card { div.cardhead { h2 { "Moves" } }
                ol.moves { @for pair in game.moves.chunks(2) { li { @for word in pair { span { (word) } " " } } } } }
        }
        (data("data", &json!({})))
    };
    whole(200, &format!("Game {}", game.game), "/", Some("replay.js"), &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_of_tuned_players_are_cut() {
        assert_eq!(short("default with c=1.3824546591852662,draws=2"), "default with c=1.382,draws=2");
        assert_eq!(short("uci:engine --x=0.000123456789"), "uci:engine --x=0.0001235");
        assert_eq!(short("default"), "default");
    }
}
