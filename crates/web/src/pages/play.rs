//! Play against the engine: the games there are, and a board with what the search thinks.

use super::{data, explain, page as whole};
use crate::download;
use crate::http::{Reply, encode};
use crate::instance::open_game;
use crate::play::players;
use crate::site::Site;
use maud::{PreEscaped, html};
use serde_json::json;
use sortie_core::picture::Picture;
use sortie_core::{AnyGame, Rng};
use sortie_domains::catalogue;

/// Who the person at the browser is.
const SIDES: [(&str, &str); 4] =
    [("first", "first"), ("second", "second"), ("both", "both sides"), ("none", "watch")];
/// Thinking times to choose from.
const SECONDS: [&str; 5] = ["0.3", "1", "3", "10", "30"];
/// Moves before a small picture is taken.
const THUMB_MOVES: usize = 14;

/// The games.
pub fn index(site: &Site) -> Reply {
    let games: Vec<_> = catalogue()
        .entries()
        .filter_map(|entry| {
            let name = *entry.examples.first()?;
            let game = open_game(name).ok()?;
            Some((entry, name, middle_of(&*game)?))
        })
        .collect();
    let body = html! {
        div.head {
            h1 { "Play" }
            p.muted {
                "Against our own search, which shows what it thinks. The game is in the address of the page: a reload or \
                 a link keeps it."
            }
        }
        @if site.thinkers == 0 { p.trouble { "This server was started without games: --games 0." } }
        ul.games { @for (entry, name, (picture, text)) in &games {
            li.card { a href={ "/play/" (encode(name)) } {
                div.thumb aria-hidden="true" { @if let Some(picture) = picture { (PreEscaped(picture.markup())) } @else { pre { (text) } } }
                h2 { (entry.name) } p.muted { (entry.about.trim_start_matches("game: ").trim_start_matches("toy game: ")) }
            }
            @if entry.examples.len() > 1 { p.small { @for other in &entry.examples[1..] { a href={ "/play/" (encode(other)) } { (other) } " " } } } }
        } }
    };
    whole(200, "Play", "/play", None, &body)
}

/// A position some moves into a game, for a small picture.
fn middle_of(game: &dyn AnyGame) -> Option<(Option<Picture>, String)> {
    let (mut board, mut rng) = (game.board(None).ok()?, Rng::new(4, 0));
    for _ in 0..THUMB_MOVES {
        let legal = board.legal();
        if legal.is_empty() {
            break;
        }
        board.play(&legal[rng.below(legal.len())]).ok()?;
        if board.outcome().is_some() {
            board.undo();
            break;
        }
    }
    Some((board.draw(), board.show()))
}

/// A game.
pub fn page(site: &Site, name: &str) -> Reply {
    let game = match open_game(name) {
        Ok(game) => game,
        Err(why) => return explain(404, name, &why),
    };
    let button = |id: &str, sign: &str, what: &str| {
        html! { button type="button" id=(id) aria-label=(what) title=(what) { (sign) } }
    };
    let body = html! {
        div.head {
            p.crumbs { a href="/play" { "Play" } }
            h1 { (name) }
            p.muted #standing role="status" aria-live="polite" { "Setting up the board …" }
        }
        @if site.thinkers == 0 { p.trouble { "This server was started without games: --games 0. You can still move both sides." } }
        div.columns.table {
            section.card aria-label="Board" {
                div.balance {
                    span #first-name { "first" } div #value .value aria-hidden="true" { span {} } span #second-name { "second" }
                }
                div #board .board.playing {}
                div.controls {
                    (button("begin", "«", "To the beginning")) (button("back", "‹", "One move back"))
                    input #slider type="range" min="0" max="0" value="0" aria-label="Move";
                    (button("forth", "›", "One move forth")) (button("end", "»", "To the end"))
                    output #where for="slider" { "0 of 0" }
                }
                form #typed .typed {
                    label.hidden for="word" { "A move as a word" }
                    input #word list="legal" autocomplete="off" spellcheck="false" placeholder="or type a move";
                    datalist #legal {}
                    button { "Play it" }
                    button type="button" #undo { "Take back" }
                    button type="button" #new { "New game" }
                }
                div #buttons .buttons {}
            }
            div.stack {
                section.card aria-labelledby="thinks" {
                    div.cardhead {
                        h2 #thinks { "What the search thinks" }
                        label.toggle { input type="checkbox" #analyse disabled[site.thinkers == 0]; span { "Analyse" } }
                    }
                    form.settings #settings {
                        label { span { "You play" } select #side {
                            @for (value, text) in SIDES { option value=(value) { (text) } }
                        } }
                        label { span { "Engine" } select #player {
                            @for (preset, about) in players(&*game) { option value=(preset) title=(about) { (preset) } }
                        } }
                        label { span { "Per move" } select #seconds {
                            @for value in SECONDS { option value=(value) selected[value == "1"] { (value) " s" } }
                        } }
                    }
                    p #opinion .muted aria-live="polite" { "It has not thought yet." }
                    div.scroll { table #lines {
                        thead { tr {
                            th { "Move" } th.number { "Visits" } th { span.hidden { "Share" } } th.number { "Value" }
                            th { "Then" }
                        } }
                        tbody {}
                    } }
                    div.actions { button type="button" #hint { "What would it play?" } }
                }
                section.card aria-labelledby="game-title" {
                    div.cardhead {
                        h2 #game-title { "The game" }
                        span.downloads #downloads { @for (form, what) in download::forms(name) { a download data-form=(form) href="#" { (what) } } }
                    }
                    div #graph .plot.small hidden {}
                    p.muted.small #review-said {}
                    ol #moves .gameline aria-label="Moves" {}
                    div.actions { button type="button" #review { "Review the game" } }
                }
            }
        }
        (data("data", &json!({ "game": name, "thinks": site.thinkers > 0 })))
    };
    whole(200, &format!("Play {name}"), "/play", Some("play.js"), &body)
}
