//! Who works for a run and why somebody is idle.

use super::{explain, link, page as whole, trouble};
use crate::crew::{self, Threads, Worker};
use crate::http::Reply;
use crate::kind::Kind;
use crate::kind::WORKERS;
use crate::show;
use crate::summary::{State, Summary};
use maud::{Markup, html};

/// The page.
pub fn page(run: &Summary) -> Reply {
    if run.kind == Kind::Foreign {
        return explain(404, &run.name, &run.trouble.join(" "));
    }
    let mut said = Vec::new();
    let crew = crew::read(run).unwrap_or_else(|error| {
        said.push(format!("{WORKERS} cannot be read: {error}."));
        None
    });
    if let Some(skipped) = crew.as_ref().map(|crew| crew.skipped).filter(|skipped| *skipped > 0) {
        said.push(format!("{skipped} lines of {WORKERS} are not about workers and were passed over."));
    }
    let running = run.state == State::Running;
    let body = html! {
        div.head {
            p.crumbs { a href="/" { "Runs" } " / " a href=(link(&run.name)) { (super::run::title(run)) } }
            h1 { "Workers" }
            p.muted { (show::state(run)) }
        }
        (trouble(&said))
        section.card.wide #refresh data-every=[running.then_some("4")] {
            @match &crew {
                Some(crew) => (table(&crew.workers)),
                None => (threads(&crew::threads(run))),
            }
        }
    };
    whole(200, &format!("Workers of {}", run.name), "/", running.then_some("refresh.js"), &body)
}

fn table(all: &[Worker]) -> Markup {
    let count = |state: &str| all.iter().filter(|worker| worker.state == state).count();
    let cores: u64 = all.iter().filter(|worker| worker.state == "working").map(|worker| worker.cores).sum();
    html! {
        div.cardhead {
            h2 { (all.len()) " workers" }
            span.muted { (count("working")) " working on " (cores) " cores, " (count("idle")) " idle, " (count("silent")) " silent, " (count("gone")) " gone" }
        }
        div.scroll { table {
            thead { tr {
                th { "Worker" } th { "State" } th { "Why, or at which job" } th.number { "Cores" } th.number { "Jobs done" }
                th.number { "CPU time" } th.number { "Working" } th.number { "Heard" }
            } }
            tbody { @for worker in all { tr {
                th scope="row" { (worker.name) }
                td { span.pill.(class(worker.state)) { (worker.state) } }
                td { @if worker.reason.is_empty() { (worker.job) } @else { (worker.reason) } }
                td.number { (worker.cores) }
                td.number { (show::count(worker.done as f64)) }
                td.number { (show::time(worker.cpu_seconds)) }
                td.number { @if let Some(busy) = worker.busy { (format!("{:.0} %", 100.0 * busy)) } }
                td.number { (show::ago(worker.heard)) }
            } } }
        } }
        p.muted.small { "Working: the share of the time since it came in which it was at a job." }
    }
}

fn threads(threads: &Threads) -> Markup {
    html! {
        div.cardhead { h2 { "Threads" } }
        dl.told {
            @if let Some(n) = threads.threads { dt { "Threads" } dd { (n) } }
            @if let Some(busy) = threads.busy { dt { "Busy lately" } dd { (format!("{busy:.2} processors")) } }
        }
        @for sentence in &threads.said { p { (sentence) } }
        @if threads.said.is_empty() { p { "Nobody is idle." } }
        p.muted.small { "Workers on other machines are listed here when a run has some: they are told in " code { (WORKERS) } "." }
    }
}

/// The colours of the states of runs.
fn class(state: &str) -> &'static str {
    match state {
        "working" => "running",
        "silent" => "interrupted",
        _ => "idle",
    }
}
