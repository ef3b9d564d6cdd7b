//! Several runs side by side: bands over seeds, a table with intervals, and which differences are real.

use super::report::section;
use super::{link, page as whole};
use crate::http::{Reply, Request};
use crate::kind::Kind;
use crate::library;
use crate::report;
use crate::site::Site;
use crate::summary::Summary;
use maud::html;

/// No more runs are read for one page.
const RUNS_MAX: usize = 400;

/// The page: the runs in the address, or all.
pub fn page(site: &Site, request: &Request) -> Reply {
    let chosen: Vec<&str> = request.ask_all("run").filter(|name| !name.is_empty()).collect();
    let at =
        request.ask("at").and_then(|text| text.parse::<f64>().ok()).filter(|at| at.is_finite() && *at > 0.0);
    let mut left_out = Vec::new();
    let mut summaries = Vec::new();
    // A group is named by its instance and its search.
    let groups: Vec<&str> = request.ask_all("group").filter(|group| !group.is_empty()).collect();
    if chosen.is_empty() {
        let found = library::scan(&site.root).found;
        let solved: Vec<_> = found.iter().filter(|found| found.kind == Kind::Solve).collect();
        let asked = |run: &Summary| {
            groups.is_empty()
                || groups.contains(&format!("{} by {}", run.told.instance, run.told.search).as_str())
        };
        summaries.extend(site.shelf.read_all(&solved).into_iter().filter(asked).take(RUNS_MAX));
    }
    for name in chosen.iter().take(RUNS_MAX) {
        match library::resolve(&site.root, name) {
            Ok(path) => summaries.push(Summary::read(name, &path)),
            Err(why) => left_out.push((name.to_string(), why)),
        }
    }
    let cut = chosen.len().max(summaries.len()) >= RUNS_MAX;
    let report = report::of(summaries, left_out, at);
    let body = html! {
        div.head {
            h1 { "Compare" }
            p.muted {
                "Runs that differ in their seed alone are one group: its line is the median, its band holds the middle \
                 80 %. "
                a href="/" { "Choose runs" }
            }
        }
        form.filter method="get" action="/compare" {
            @for name in &chosen { input type="hidden" name="run" value=(name); }
            @for group in &groups { input type="hidden" name="group" value=(group); }
            label { "Scores at " input type="number" name="at" min="0" step="any" value=[at] placeholder="the end" aria-label="Seconds"; " s" }
            button { "Show" }
        }
        @if cut { p.trouble { "Only the first " (RUNS_MAX) " runs are compared." } }
        @if report.groups.is_empty() { p.empty { "There is nothing to compare: no run here has a score yet." } }
        @for (instance, groups) in report.instances() {
            (section(&report, instance, &groups))
            details.others { summary { "The runs" } ul {
                @for member in groups.iter().flat_map(|group| &group.members) {
                    li { a href=(link(&member.summary.name)) { (member.summary.name) } }
                }
            } }
        }
        @if !report.left_out.is_empty() {
            details.others { summary { (report.left_out.len()) " left out" } ul {
                @for (name, why) in &report.left_out { li { b { (name) } ": " (why) } }
            } }
        }
    };
    whole(200, "Compare", "/compare", None, &body)
}
