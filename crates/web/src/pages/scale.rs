//! A study of how spread searches scale: the tables and pictures that `lab scale` has written so far, how fast
//! everybody was, and who has played whom.

use super::contest::cross_table;
use super::markdown::markdown;
use super::run::{commands, files, head};
use super::{page as whole, pictures, trouble};
use crate::contest::Log;
use crate::http::Reply;
use crate::kind::{GAMES, RATES};
use crate::lines::read_lines;
use crate::show;
use crate::summary::{State, Summary};
use crate::text::read_whole;
use maud::{Markup, html};
use serde::Deserialize;
use std::path::Path;

/// No more configurations are listed.
const RATES_MAX: usize = 1000;
/// No more tables are shown.
const TABLES_MAX: usize = 12;

#[derive(Deserialize)]
struct Rate {
    name: String,
    searches: Vec<Search>,
}

#[derive(Deserialize)]
struct Search {
    playouts: f64,
    seconds: f64,
}

impl Rate {
    fn playouts_per_second(&self) -> f64 {
        let sum = |of: fn(&Search) -> f64| self.searches.iter().map(of).sum::<f64>();
        sum(|search| search.playouts) / sum(|search| search.seconds).max(1e-12)
    }
}

/// The page.
pub fn page(run: &Summary) -> Reply {
    let mut said = run.trouble.clone();
    let (rates, skipped) = read_rates(&run.path.join(RATES));
    let log = Log::read(&run.path.join(GAMES)).unwrap_or_default();
    if rates.is_empty() {
        said.push("No configuration has been measured yet: the first will show here.".into());
    }
    if skipped + log.skipped > 0 {
        said.push(format!(
            "{} lines of {RATES} and {GAMES} are not what they should be and were passed over.",
            skipped + log.skipped
        ));
    }
    let running = run.state == State::Running;
    let body = html! {
        (head(run))
        (trouble(&said))
        (tables(run))
        section.card.wide #refresh data-every=[running.then_some("4")] {
            div.cardhead { h2 { "Speed" } span.muted { (rates.len()) " configurations" } }
            div.scroll.tall { table {
                thead { tr { th { "Search" } th.number { "Playouts/s" } th.number { "Positions" } } }
                tbody { @for rate in &rates {
                    tr { th scope="row" { (rate.name) } td.number { (show::count(rate.playouts_per_second())) } td.number { (rate.searches.len()) } }
                } }
            } }
            p.muted.small { "Where the names say virtual, the clock was modelled." }
        }
        @if log.games > 0 {
            section.card.wide {
                div.cardhead { h2 { "Games" } span.muted { (show::count(log.games as f64)) } }
                (cross_table(&log))
            }
        }
        section.card.wide { div.cardhead { h2 { "Files" } } p { (files(run)) } (commands(run)) }
    };
    whole(200, &run.name, "/", running.then_some("refresh.js"), &body)
}

/// The tables by the names of their files, each with its pictures.
fn tables(run: &Summary) -> Markup {
    let inside = run.path.read_dir().into_iter().flatten().flatten();
    let names = inside.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort();
    names.truncate(TABLES_MAX);
    html! {
        @for name in &names {
            @let stem = name.trim_end_matches(".md");
            section.card.wide {
                div.cardhead { h2 { (stem) } }
                @if let Ok(text) = read_whole(&run.path.join(name)) { (markdown(&text)) }
                (pictures(run, &format!("{stem}-")))
            }
        }
    }
}

fn read_rates(path: &Path) -> (Vec<Rate>, u64) {
    let (mut rates, mut skipped) = (Vec::new(), 0);
    let read = read_lines(path, 0, u64::MAX, &mut |_, line| match serde_json::from_slice::<Rate>(line) {
        Ok(rate) if rates.len() < RATES_MAX => rates.push(rate),
        Ok(_) => {}
        Err(_) => skipped += u64::from(!line.is_empty()),
    });
    // A study that has measured nothing yet has no such file.
    read.map_or((Vec::new(), 0), |_| (rates, skipped))
}
