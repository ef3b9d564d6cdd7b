//! A report as one HTML file that needs nothing else, and the part of it that the page for comparing shows as well.

use super::assets::style;
use super::contest::cross_table;
use crate::chart::COLOURS;
use crate::contest::Log;
use crate::kind::{GAMES, Kind};
use crate::report::{Group, Other, Report};
use crate::show;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What the table of an instance says of a search.
const COLUMNS: [&str; 6] = ["Runs", "Median", "95 %", "Mean", "Best", "Gap"];

/// One instance: chart, table, differences.
pub fn section(report: &Report, instance: &str, groups: &[&Group]) -> Markup {
    let rows = report.rows(groups);
    let chart = report.chart(groups);
    let aims = groups.first().map(|group| group.aims.clone()).unwrap_or_default();
    html! {
        section.card.wide {
            div.cardhead { h2 { (instance) } @if let Some(known) = aims.known() { span.muted { "best known " (aims.in_full(known)) } } }
            @if chart.is_flat() { p.muted { "No chart: nothing was improved after the first score." } }
            @else { (PreEscaped(chart.markup())) }
            div.scroll { table.numbers.stacked {
                thead { tr {
                    th { "Search" }
                    @for name in COLUMNS { th.number { (name) } }
                } }
                tbody { @for (i, (group, row)) in groups.iter().zip(&rows).enumerate() {
                    tr { th scope="row" { span.key.(format!("s{}", i % COLOURS)) { (group.name) } }
                        @for (name, cell) in COLUMNS.iter().zip(row.cells(group, report.at)) { td.number data-label=(name) { (cell) } } }
                } }
            } }
            @let said = report.differences(groups);
            @if !said.is_empty() { ul.said { @for sentence in &said { li { (sentence) "." } } } }
        }
    }
}

impl Report {
    /// One HTML file: style and charts inside, no scripts.
    pub fn html(&self, when: &str) -> String {
        let runs: usize = self.groups.iter().map(|group| group.members.len()).sum();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { "Runs of Sortie" }
                    style { (PreEscaped(style())) }
                }
                body { main {
                    div.head {
                        h1 { "Report" }
                        p.muted { (runs) " runs, written " (when) ". Scores are higher-is-better"
                            @if let Some(at) = self.at { ", taken after " (show::time(at)) } "." }
                    }
                    @for (instance, groups) in self.instances() {
                        (section(self, instance, &groups))
                        (members(self, &groups))
                    }
                    @for told in &self.others { (other(told)) }
                    section.card.wide { h2 { "How to read this" } (explained()) }
                    @for (name, why) in &self.left_out { p.trouble { "Left out: " b { (name) } ": " (why) } }
                } }
            }
        }
        .into_string()
    }
}

/// A match, a tuning or a proof.
fn other(told: &Other) -> Markup {
    let run = &told.summary;
    let log = (run.kind == Kind::Match).then(|| Log::read(&run.path.join(GAMES)).unwrap_or_default());
    let chart = log.as_ref().and_then(|log| crate::verdict::of(run, log)?.chart(log));
    html! {
        section.card.wide {
            div.cardhead { h2 { (run.name) } span.muted { (run.kind.name()) ", " (run.told.instance) } }
            p.headline { (told.headline) }
            p { (told.below) }
            @if let Some(chart) = chart { (PreEscaped(chart.markup())) }
            @if let Some(log) = &log { (cross_table(log)) }
        }
    }
}

fn members(report: &Report, groups: &[&Group]) -> Markup {
    html! {
        details.others { summary { "Every run" } div.scroll { table.numbers {
            thead { tr {
                th { "Folder" } th { "Search" }
                @for name in ["Seed", "Score", "Playouts", "Time"] { th.number { (name) } }
                th { "State" }
            } }
            tbody { @for group in groups { @for member in &group.members {
                @let run = &member.summary;
                tr { td { (run.name) } td { (group.name) } td.number { (run.told.seed.map(|s| s.to_string()).unwrap_or_default()) }
                    td.number { (member.best(report.at).map(|best| group.aims.told(best)).unwrap_or_default()) }
                    td.number { (run.playouts.map(show::count).unwrap_or_default()) }
                    td.number { (run.seconds.map(show::time).unwrap_or_default()) } td { (run.state.name()) } }
            } } }
        } } }
    }
}

fn explained() -> Markup {
    html! {
        p {
            "Runs of one search that differ in their random seed alone are one group. Its line is the median of their \
             best scores at each time, its band holds the middle 80 %. A run that has ended keeps its last score. The \
             interval of a median is the middle 95 % of 4,000 resamples (bootstrap; from three runs on). Gap is how far \
             the median is below the best score known."
        }
        p {
            "Two groups are compared by the rank test of Mann and Whitney, two-sided. A difference is called real when p \
             is below 0.05. The probability of superiority is how often a run of the one would beat a run of the other, \
             ties counted half."
        }
    }
}
