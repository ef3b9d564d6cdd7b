//! The pages: HTML written by the server, complete without scripts where nothing moves. Values are escaped by the
//! templates; the only markup taken as it is are drawings of our own making.
//!
//! A page is a file here, a line in `site::Site::page`, and, if it is to be found from everywhere, one in `NAV`.

pub mod assets;
pub mod compare;
pub mod contest;
pub mod events;
pub mod learn;
mod markdown;
pub mod play;
pub mod prove;
pub mod report;
pub mod run;
pub mod runs;
pub mod scale;
pub mod study;
pub mod workers;

use crate::http::{Reply, encode};
use crate::summary::{State, Summary};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

/// What stands at the top of every page.
const NAV: [(&str, &str); 3] = [("/", "Runs"), ("/compare", "Compare"), ("/play", "Play")];

/// Pictures of a folder that are shown.
const PICTURES_MAX: usize = 48;

/// A whole page. `here` is the part of the site it belongs to, `script` the one it runs.
pub fn page(status: u16, title: &str, here: &str, script: Option<&str>, body: &Markup) -> Reply {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Sortie" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/style.css";
                script type="module" src="/assets/page.js" {}
                @if let Some(script) = script {
                    script type="module" src={ "/assets/" (script) } {}
                }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href="/" { (mark()) span { "Sortie" } }
                    nav aria-label="Pages" {
                        @for (address, name) in NAV {
                            a href=(address) aria-current=[(address == here).then_some("page")] { (name) }
                        }
                    }
                    span #link .link role="status" hidden {}
                }
                main #main { (body) }
            }
        }
    };
    Reply::html(status, page.into_string())
}

/// The sign of Sortie: a path that finds its way up.
fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 24 24" aria-hidden="true" {
            path d="M3 19h5v-6h5V8h4V4h4" {}
            circle cx="21" cy="4" r="2" {}
        }
    }
}

/// A page that says what is wrong.
pub fn explain(status: u16, name: &str, why: &str) -> Reply {
    let title = match status {
        404 => "Nothing to show here",
        401 | 403 | 421 => "Not for you, as it is",
        503 => "Too busy",
        500 => "Something went wrong",
        _ => "That did not work",
    };
    let body = html! {
        div.explain {
            h1 { (title) }
            @if !name.is_empty() { p.name { (name) } }
            p { (sentence(why)) }
            p { a href="/" { "All runs" } }
        }
    };
    page(status, title, "", None, &body)
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// The address of a run's page.
pub fn link(name: &str) -> String {
    format!("/run/{}", encode(name))
}

/// How a run stands, as a small sign.
pub fn pill(state: State) -> Markup {
    html! { span.pill.(state.name()) data-state=(state.name()) { (state.name()) } }
}

/// Data for a script: JSON in which nothing ends the element.
pub fn data(id: &str, value: &Value) -> Markup {
    let text = value.to_string().replace('<', "\\u003c");
    html! { script id=(id) type="application/json" { (PreEscaped(text)) } }
}

/// Sentences about what is wrong with a folder.
pub fn trouble(sentences: &[String]) -> Markup {
    html! {
        @for sentence in sentences {
            p.trouble role="note" { (sentence) }
        }
    }
}

/// The pictures of a folder whose names begin so. They are shown as pictures, in which nothing can run.
pub fn pictures(run: &Summary, begin: &str) -> Markup {
    let inside = run.path.read_dir().into_iter().flatten().flatten();
    let names = inside.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| name.starts_with(begin) && run::is_picture(name)).take(PICTURES_MAX).collect();
    names.sort();
    html! {
        @if !names.is_empty() {
            div.pictures { @for name in &names {
                @let address = format!("{}/file/{}", link(&run.name), encode(name));
                a href=(address) { img src=(address) alt=(name.trim_end_matches(".svg")) loading="lazy"; }
            } }
        }
    }
}

/// A board or a route with a slider over its moves, which a script moves.
pub fn replay(frames: usize, begin: usize, address: &str) -> Markup {
    html! {
        div #replay .replay data-frames=(frames) data-address=(address) {
            div.board #board aria-live="polite" { p.muted { "Drawing …" } }
            div.controls {
                button type="button" #back aria-label="One move back" { "‹" }
                button type="button" #run aria-label="Play the moves" { "▶" }
                button type="button" #forth aria-label="One move forth" { "›" }
                input #slider type="range" min="0" max=(frames) value=(begin) aria-label="Move";
                output #where for="slider" { (begin) " of " (frames) }
            }
            p.facts #facts aria-live="polite" {}
        }
    }
}
