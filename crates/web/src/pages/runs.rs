//! The list of runs: how each stands, its best, how far that is from the best known, how fast it is. The filter is in
//! the address.

use super::{link, pill};
use crate::http::{Reply, Request};
use crate::library;
use crate::run::{Kind, State, Summary};
use crate::show;
use crate::site::Site;
use maud::{Markup, html};

/// Which runs are shown.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    text: String,
    state: String,
}

impl Filter {
    /// As the address says.
    pub fn of(request: &Request) -> Filter {
        let ask = |key: &str| request.ask(key).unwrap_or_default().trim().to_lowercase();
        Filter { text: ask("q"), state: ask("state") }
    }

    /// Whether a run is shown.
    pub fn keeps(&self, run: &Summary) -> bool {
        let told = &run.told;
        let text = format!("{} {} {} {}", run.name, told.instance, told.search, told.players.join(" "));
        (self.state.is_empty() || self.state == run.state.name())
            && self.text.split_whitespace().all(|word| text.to_lowercase().contains(word))
    }
}

fn page_body(site: &Site, request: &Request) -> Markup {
    let filter = Filter::of(request);
    let library = library::scan(&site.root);
    let (ours, others): (Vec<_>, Vec<_>) =
        library.found.iter().partition(|found| found.kind != Kind::Foreign);
    let mut runs: Vec<Summary> = ours.iter().map(|found| Summary::read(&found.name, &found.path)).collect();
    let all = runs.len();
    let running = runs.iter().filter(|run| run.state == State::Running).count();
    runs.retain(|run| filter.keeps(run));
    // What goes on first, then what was last at work.
    runs.sort_by(|a, b| {
        let age = |run: &Summary| run.age.unwrap_or(f64::MAX);
        let rank = |run: &Summary| run.state != State::Running;
        rank(a).cmp(&rank(b)).then(age(a).total_cmp(&age(b))).then(a.name.cmp(&b.name))
    });
    site.forest.warm(runs.iter().filter(|run| run.kind == Kind::Prove).map(|run| run.path.clone()));
    html! {
        div.head {
            h1 { "Runs" }
            p.muted { (all) " in " code { (site.root.display().to_string()) } @if running > 0 { ", " (running) " running" } }
        }
        @if all == 0 {
            div.empty {
                p { "There are no runs here yet. One begins with" }
                pre { "sortie solve samegame/1 --out " (site.root.display().to_string()) "/first" }
                p { "and appears on this page by itself. Or " a href="/play" { "play a game" } " against the engine." }
            }
        }
        form.filter method="get" action="/" role="search" hidden[all == 0] {
            input type="search" name="q" value=(filter.text) placeholder="Filter by name, instance, search" aria-label="Filter";
            select name="state" aria-label="State" {
                option value="" { "Any state" }
                @for state in ["running", "finished", "stopped", "interrupted"] {
                    option value=(state) selected[filter.state == state] { (state) }
                }
            }
            button { "Filter" }
        }
        form method="get" action="/compare" {
            table.runs #runs data-filter=(format!("q={}&state={}", crate::http::encode(&filter.text), filter.state)) hidden[all == 0] {
                caption.hidden { "Runs" }
                thead { tr {
                    th { span.hidden { "Compare" } }
                    th { "Run" } th { "Instance" } th.number { "Best" } th.number { "Gap" }
                    th.number { "Playouts/s" } th.number { "Time" } th.number { "Updated" }
                } }
                tbody {
                    @for run in &runs {
                        (row(run, site.best_known(&run.path, &run.told.instance)))
                    }
                }
            }
            @if runs.is_empty() && all > 0 { p.muted { "None of the " (all) " runs is like that. " a href="/" { "Show all" } } }
            div.actions hidden[runs.len() < 2] { button { "Compare" } span.muted { "the chosen runs, or all" } }
        }
        @if library.cut { p.trouble { "There is more below this folder than is looked at: serve one further down." } }
        @if !others.is_empty() {
            details.others {
                summary { @if others.len() == 1 { "1 other folder holds no run" } @else { (others.len()) " other folders hold no run" } }
                ul { @for found in &others { li { a href=(link(&found.name)) { (found.name) } } } }
            }
        }
    }
}

/// The page as an answer.
pub fn page(site: &Site, request: &Request) -> Reply {
    super::page(200, "Runs", "/", Some("runs.js"), &page_body(site, request))
}

/// A row of the table. Also what the live list sends.
pub fn row(run: &Summary, known: Option<f64>) -> Markup {
    let told = &run.told;
    let gap = run.best.zip(known).map(|(best, known)| {
        if best > known { "record".to_string() } else { show::gap_percent(best, known) }
    });
    let shown = super::run::title(run);
    html! {
        tr data-run=(run.name) {
            td {
                @if run.kind == Kind::Solve {
                    input type="checkbox" name="run" value=(run.name) aria-label={ "Compare " (shown) };
                }
            }
            th scope="row" { a href=(link(&run.name)) { (shown) } " " (pill(run.state)) }
            td data-label="Instance" {
                span.instance { @if told.instance.is_empty() { (run.kind.name()) } @else { (told.instance) } }
                span.search {
                    @if told.instance.is_empty() { (run.trouble.first().map_or("", String::as_str)) }
                    @else { (about(run)) }
                }
            }
            td.number data-label="Best" { @let best = best(run); @if !best.is_empty() { b { (best) } } }
            td.number data-label="Gap" { (gap.unwrap_or_default()) }
            td.number data-label="Playouts/s" { (run.rate.map(show::brief).unwrap_or_default()) }
            td.number data-label="Time" { (run.seconds.map(show::time).unwrap_or_default()) }
            td.number data-label="Updated" { (run.age.map(show::ago).unwrap_or_default()) }
        }
    }
}

fn about(run: &Summary) -> String {
    let told = &run.told;
    match run.kind {
        Kind::Match => format!("match of {} players", told.players.len()),
        Kind::Tune => "tuning".into(),
        Kind::Study => "study".into(),
        Kind::Scale | Kind::Data | Kind::Train | Kind::Exit | Kind::Campaign => run.kind.name().into(),
        _ => match told.seed {
            Some(seed) => format!("{}, seed {seed}", told.search),
            None => told.search.clone(),
        },
    }
}

fn best(run: &Summary) -> String {
    match (run.best, run.games.zip(Some("games")).or(run.jobs.zip(Some("jobs")))) {
        (Some(best), _) => show::score(best),
        (None, Some((count, what))) => format!("{} {what}", show::count(count as f64)),
        _ => String::new(),
    }
}
