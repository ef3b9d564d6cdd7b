//! The list of runs: how each stands, its best, how far that is from the best known, how fast it is. Filter, order and
//! groups are in the address, so that a link shows the same to somebody else; long lists are shown in parts.

use super::{link, pill};
use crate::aims::Aims;
use crate::http::{Reply, Request, encode};
use crate::kind::Kind;
use crate::library;
use crate::show;
use crate::site::Site;
use crate::summary::{State, Summary};
use maud::{Markup, html};
use sortie_jobs::stats;

/// Rows of a page.
const ROWS_MAX: usize = 200;
/// Instances to choose from.
const INSTANCES_MAX: usize = 300;
const STATES: [&str; 4] = ["running", "finished", "stopped", "interrupted"];

/// Which runs are shown.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    text: String,
    state: String,
    instance: String,
    /// The search with all its parameters, as a group has it.
    search: String,
}

impl Filter {
    /// As the address says.
    pub fn of(request: &Request) -> Filter {
        let ask = |key: &str| request.ask(key).unwrap_or_default().trim().to_string();
        Filter {
            text: ask("q").to_lowercase(),
            state: ask("state"),
            instance: ask("instance"),
            search: ask("search"),
        }
    }

    /// Whether a run is shown.
    pub fn keeps(&self, run: &Summary) -> bool {
        let told = &run.told;
        let seed = told.seed.map(|seed| format!("seed {seed}")).unwrap_or_default();
        let text = format!(
            "{} {} {} {} {} {seed}",
            run.name,
            told.instance,
            told.search,
            told.players.join(" "),
            run.kind.name()
        );
        let is = |asked: &str, found: &str| asked.is_empty() || asked == found;
        is(&self.state, run.state.name())
            && is(&self.instance, &told.instance)
            && is(&self.search, &told.search)
            && self.text.split_whitespace().all(|word| text.to_lowercase().contains(word))
    }
}

/// What the rows are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Lately,
    Run,
    Instance,
    Seed,
    Best,
    Gap,
    Rate,
    Time,
}

/// Name in the address, heading, column, and whether the largest comes first.
const COLUMNS: [(&str, &str, Column, bool); 8] = [
    ("run", "Run", Column::Run, false),
    ("instance", "Instance", Column::Instance, false),
    ("seed", "Seed", Column::Seed, false),
    ("best", "Best", Column::Best, true),
    ("gap", "Gap", Column::Gap, false),
    ("rate", "Playouts/s", Column::Rate, true),
    ("time", "Time", Column::Time, true),
    ("updated", "Updated", Column::Lately, false),
];

/// All that the address of the list says.
struct View {
    filter: Filter,
    column: Column,
    /// The other way round than the column begins.
    turned: bool,
    grouped: bool,
    page: usize,
}

impl View {
    fn of(request: &Request) -> View {
        let asked = request.ask("sort").unwrap_or_default();
        let (name, turned) = asked.strip_prefix('-').map_or((asked, false), |name| (name, true));
        let column =
            COLUMNS.iter().find(|(known, ..)| *known == name).map_or(Column::Lately, |(.., c, _)| *c);
        let page = request.ask("page").and_then(|text| text.parse().ok()).unwrap_or(1);
        View {
            filter: Filter::of(request),
            column,
            turned,
            grouped: request.ask("group") == Some("yes"),
            page: usize::max(page, 1),
        }
    }

    fn sort(&self) -> String {
        let name =
            COLUMNS.iter().find(|(.., column, _)| *column == self.column).map_or("", |(name, ..)| name);
        if (self.column, self.turned) == (Column::Lately, false) {
            return String::new();
        }
        format!("{}{name}", if self.turned { "-" } else { "" })
    }

    /// The address of this view with something changed; empty parts are left out.
    fn address(&self, changed: &[(&str, &str)]) -> String {
        let (sort, page) = (self.sort(), self.page.to_string());
        let own = [
            ("q", self.filter.text.as_str()),
            ("state", &self.filter.state),
            ("instance", &self.filter.instance),
            ("search", &self.filter.search),
            ("sort", &sort),
            ("group", if self.grouped { "yes" } else { "" }),
            ("page", if self.page > 1 { &page } else { "" }),
        ];
        let now = |(key, value): (&'static str, &str)| {
            let changed = changed.iter().find(|(name, _)| *name == key);
            let value = changed.map_or(value, |(_, value)| value).to_string();
            (!value.is_empty()).then(|| format!("{key}={}", encode(&value)))
        };
        let parts: Vec<String> = own.into_iter().filter_map(now).collect();
        if parts.is_empty() { "/".into() } else { format!("/?{}", parts.join("&")) }
    }

    fn heading(&self, name: &str) -> Markup {
        let Some((key, text, column, falls)) = COLUMNS.iter().find(|(known, ..)| *known == name) else {
            return html! { th { (name) } };
        };
        let here = self.column == *column;
        let sort = if here && !self.turned { format!("-{key}") } else { (*key).to_string() };
        let order = here.then_some(if *falls == self.turned { "ascending" } else { "descending" });
        let class = if matches!(column, Column::Run | Column::Instance) { "" } else { "number" };
        html! {
            th.(class) aria-sort=[order] { a href=(self.address(&[("sort", &sort), ("page", "")])) { (text) } }
        }
    }

    fn order(&self, runs: &mut [(Summary, Aims)]) {
        let by = |a: &(Summary, Aims), b: &(Summary, Aims)| {
            // What has no such number comes last, however the others are ordered.
            let number = |of: fn(&(Summary, Aims)) -> Option<f64>, falls: bool| {
                let (x, y) = (of(a), of(b));
                match (x, y) {
                    (Some(x), Some(y)) if falls != self.turned => y.total_cmp(&x),
                    (Some(x), Some(y)) => x.total_cmp(&y),
                    _ => y.is_some().cmp(&x.is_some()),
                }
            };
            let text = |x: &str, y: &str| {
                if self.turned { natural(y).cmp(&natural(x)) } else { natural(x).cmp(&natural(y)) }
            };
            let told = |run: &(Summary, Aims)| (run.0.told.instance.clone(), run.0.told.search.clone());
            match self.column {
                Column::Run => text(&a.0.name, &b.0.name),
                Column::Instance => {
                    let ((ai, a_search), (bi, b_search)) = (told(a), told(b));
                    text(&ai, &bi).then(a_search.cmp(&b_search)).then(a.0.told.seed.cmp(&b.0.told.seed))
                }
                Column::Seed => number(|run| run.0.told.seed.map(|seed| seed as f64), false),
                Column::Best => number(|run| run.0.best, true),
                Column::Gap => number(|run| run.1.behind(run.0.best?), false),
                Column::Rate => number(|run| run.0.rate, true),
                Column::Time => number(|run| run.0.seconds, true),
                Column::Lately => {
                    // What goes on first, then what was last at work.
                    let rank = |run: &Summary| run.state != State::Running;
                    let lately = rank(&a.0).cmp(&rank(&b.0));
                    let age = |run: &Summary| run.age.unwrap_or(f64::MAX);
                    let order = lately.then(age(&a.0).total_cmp(&age(&b.0)));
                    if self.turned { order.reverse() } else { order }
                }
            }
        };
        runs.sort_by(|a, b| by(a, b).then_with(|| a.0.name.cmp(&b.0.name)));
    }
}

/// Texts in the order in which people count: `s9` before `s10`.
fn natural(text: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    let mut in_digits = false;
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            let last = parts.last_mut().expect("never empty");
            last.1 = last.1.saturating_mul(10).saturating_add(digit.into());
            in_digits = true;
        } else {
            if std::mem::take(&mut in_digits) {
                parts.push((String::new(), 0));
            }
            parts.last_mut().expect("never empty").0.push(c);
        }
    }
    parts
}

fn page_body(site: &Site, view: &View) -> (Markup, bool) {
    let filter = &view.filter;
    let library = library::scan(&site.root);
    let (ours, others): (Vec<_>, Vec<_>) =
        library.found.iter().partition(|found| found.kind != Kind::Foreign);
    let runs = site.shelf.read_all(&ours);
    let all = runs.len();
    let running = runs.iter().filter(|run| run.state == State::Running).count();
    let mut instances: Vec<String> =
        runs.iter().map(|run| run.told.instance.clone()).filter(|name| !name.is_empty()).collect();
    instances.sort_by_key(|name| natural(name));
    instances.dedup();
    let mut runs: Vec<(Summary, Aims)> = runs
        .into_iter()
        .filter(|run| filter.keeps(run))
        .map(|run| {
            let aims = site.aims(&run.path, &run.told.instance);
            (run, aims)
        })
        .collect();
    view.order(&mut runs);
    let proofs = runs.iter().filter(|(run, _)| run.kind == Kind::Prove).map(|(run, _)| run.path.clone());
    site.forest.warm(proofs);
    let first = (view.page - 1) * ROWS_MAX;
    let shown = runs.iter().skip(first).take(ROWS_MAX);
    let live = format!(
        "q={}&state={}&instance={}&search={}",
        encode(&filter.text),
        encode(&filter.state),
        encode(&filter.instance),
        encode(&filter.search)
    );
    let body = html! {
        div.head {
            h1 { "Runs" }
            p.muted {
                (show::count(all as f64)) " in " code { (site.root.display().to_string()) } @if running > 0 { ", " (running) " running" }
                @if runs.len() < all { ", " (show::count(runs.len() as f64)) " shown" }
            }
        }
        @if all == 0 {
            div.empty {
                p { "There are no runs here yet. One begins with" }
                pre { "sortie solve samegame/1 --out " (site.root.display().to_string()) "/first" }
                p { "and appears on this page by itself. Or " a href="/play" { "play a game" } " against the engine." }
            }
        }
        div.toolbar hidden[all == 0] {
            form.filter #filter method="get" action="/" role="search" {
                input type="search" name="q" value=(filter.text) placeholder="Filter by name, search, seed" aria-label="Filter";
                select name="instance" aria-label="Instance" {
                    option value="" { "Any instance" }
                    @for name in instances.iter().take(INSTANCES_MAX) { option value=(name) selected[*name == filter.instance] { (name) } }
                    @if !filter.instance.is_empty() && !instances.contains(&filter.instance) { option value=(filter.instance) selected { (filter.instance) } }
                }
                select name="state" aria-label="State" {
                    option value="" { "Any state" }
                    @for state in STATES { option value=(state) selected[filter.state == state] { (state) } }
                }
                label.toggle { input type="checkbox" name="group" value="yes" checked[view.grouped]; span { "Group by search" } }
                @if !view.sort().is_empty() { input type="hidden" name="sort" value=(view.sort()); }
                button { "Filter" }
            }
            button.primary #compare form="chosen" hidden[runs.len() < 2] { "Compare" }
        }
        @if !filter.search.is_empty() {
            p.chips { a.chip href=(view.address(&[("search", ""), ("page", "")])) title="Show all searches" { (filter.search) " ✕" } }
        }
        form #chosen method="get" action="/compare" {
            @if view.grouped {
                (groups(view, &runs))
            } @else {
                table.runs #runs data-filter=(live) data-first=(view.page == 1 && view.sort().is_empty()) hidden[all == 0] {
                    caption.hidden { "Runs" }
                    thead { tr {
                        th { span.hidden { "Compare" } }
                        @for (name, ..) in COLUMNS { (view.heading(name)) }
                    } }
                    tbody { @for (run, aims) in shown { (row(run, aims)) } }
                }
                (pages(view, runs.len()))
            }
            @if runs.is_empty() && all > 0 { p.muted { "None of the " (all) " runs is like that. " a href="/" { "Show all" } } }
        }
        @if library.cut { p.trouble { "There is more below this folder than is looked at: serve one further down." } }
        @if !others.is_empty() {
            details.others {
                summary { @if others.len() == 1 { "1 other folder holds no run" } @else { (others.len()) " other folders hold no run" } }
                ul { @for found in &others { li { a href=(link(&found.name)) { (found.name) } } } }
            }
        }
    };
    (body, running > 0)
}

fn pages(view: &View, rows: usize) -> Markup {
    let last = rows.div_ceil(ROWS_MAX).max(1);
    let to =
        |page: usize| view.address(&[("page", &if page > 1 { page.to_string() } else { String::new() })]);
    html! {
        @if last > 1 {
            nav.pager aria-label="Pages of runs" {
                @if view.page > 1 { a rel="prev" href=(to(view.page - 1)) { "‹ Back" } }
                span.muted { "Page " (view.page) " of " (last) ", " (show::count(rows as f64)) " runs" }
                @if view.page < last { a rel="next" href=(to(view.page + 1)) { "Next ›" } }
            }
        }
    }
}

/// Runs that differ in their seed alone, as one row.
fn groups(view: &View, runs: &[(Summary, Aims)]) -> Markup {
    let mut order: Vec<(String, String)> = Vec::new();
    let mut members: std::collections::HashMap<(String, String), Vec<usize>> =
        std::collections::HashMap::new();
    for (i, (run, _)) in runs.iter().enumerate().filter(|(_, (run, _))| run.kind == Kind::Solve) {
        let group = run.group();
        let group_members = members.entry(group.clone()).or_default();
        if group_members.is_empty() {
            order.push(group);
        }
        group_members.push(i);
    }
    order.sort_by(|a, b| natural(&a.0).cmp(&natural(&b.0)).then(a.1.cmp(&b.1)));
    let rest = runs.iter().filter(|(run, _)| run.kind != Kind::Solve).count();
    html! {
        table.runs.groups #groups {
            caption.hidden { "Searches" }
            thead { tr {
                th { span.hidden { "Compare" } }
                th { "Instance" } th { "Search" }
                @for name in ["Seeds", "Median", "Best", "Gap", "Playouts/s"] { th.number { (name) } }
            } }
            tbody { @for group in &order {
                @let members = &members[group];
                @let of = |what: fn(&Summary) -> Option<f64>| stats::sorted(members.iter().filter_map(|&i| what(&runs[i].0)));
                @let scores = of(|run| run.best);
                // One that was reached: between two there may be none.
                @let median = scores.get(scores.len().saturating_sub(1) / 2).copied();
                @let aims = &runs[members[0]].1;
                @let at_work = members.iter().filter(|&&i| runs[i].0.state == State::Running).count();
                @let address = view.address(&[("instance", &group.0), ("search", &group.1), ("group", ""), ("page", "")]);
                tr {
                    td { input type="checkbox" name="group" value={ (group.0) " by " (group.1) } aria-label={ "Compare " (group.1) " on " (group.0) }; }
                    th scope="row" { a href=(address) { (group.0) } @if at_work > 0 { " " (pill(State::Running)) } }
                    td data-label="Search" { (group.1) }
                    td.number data-label="Seeds" { (members.len()) }
                    td.number data-label="Median" { b { (median.map(|median| aims.told(median)).unwrap_or_default()) } }
                    td.number data-label="Best" { (scores.last().map(|&best| aims.told(best)).unwrap_or_default()) }
                    td.number data-label="Gap" { (median.and_then(|best| aims.gap(best)).unwrap_or_default()) }
                    td.number data-label="Playouts/s" { (stats::quantile(&of(|run| run.rate), 0.5).map(show::brief).unwrap_or_default()) }
                }
            } }
        }
        @if rest > 0 { p.muted.small { (rest) " folders that are no searches are not in this table. " a href=(view.address(&[("group", "")])) { "Show every run" } } }
    }
}

/// The page as an answer.
pub fn page(site: &Site, request: &Request) -> Reply {
    let view = View::of(request);
    let (body, _) = page_body(site, &view);
    super::page(200, "Runs", "/", Some("runs.js"), &body)
}

/// A row of the table. Also what the live list sends.
pub fn row(run: &Summary, aims: &Aims) -> Markup {
    let told = &run.told;
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
            td.number data-label="Seed" { @if run.kind == Kind::Solve { (told.seed.map(|seed| seed.to_string()).unwrap_or_default()) } }
            td.number data-label="Best" { @let best = best(run, aims); @if !best.is_empty() { b.several[best.contains(", ")] { (best) } } }
            td.number data-label="Gap" { (run.best.and_then(|best| aims.gap(best)).unwrap_or_default()) }
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
        Kind::Prove => format!("proof, {}", told.search),
        _ => told.search.clone(),
    }
}

fn best(run: &Summary, aims: &Aims) -> String {
    match (run.best, run.games.zip(Some("games")).or(run.jobs.zip(Some("jobs")))) {
        (Some(best), _) => aims.told(best),
        (None, Some((1, what))) => format!("1 {}", what.trim_end_matches('s')),
        (None, Some((count, what))) => format!("{} {what}", show::count(count as f64)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::parse;

    fn view(address: &str) -> View {
        View::of(&parse(format!("GET {address} HTTP/1.1\r\n\r\n").as_bytes()).unwrap())
    }

    #[test]
    fn a_view_is_its_address() {
        let all = view(
            "/?q=Nrpa&state=running&instance=samegame%2F1&search=nrpa+level+3&sort=-best&group=yes&page=3",
        );
        assert_eq!(
            all.address(&[]),
            "/?q=nrpa&state=running&instance=samegame%2F1&search=nrpa%20level%203&sort=-best&group=yes&page=3"
        );
        assert_eq!(view("/").address(&[]), "/");
        assert_eq!(view("/?sort=nonsense&page=x").address(&[("sort", "gap")]), "/?sort=gap");
        assert!(
            view("/?sort=best").heading("best").into_string().contains("sort=-best"),
            "a second click turns it"
        );
    }

    #[test]
    fn rows_are_ordered_as_people_count() {
        let run = |name: &str, best: Option<f64>| {
            let mut summary = Summary::glance(name, std::path::Path::new("/nowhere"));
            summary.best = best;
            (summary, Aims::of(std::path::Path::new("/nowhere"), "samegame/1"))
        };
        let mut runs = vec![run("s10", Some(5.0)), run("s9", None), run("s1", Some(99.0))];
        let names = |runs: &[(Summary, Aims)]| runs.iter().map(|run| run.0.name.clone()).collect::<Vec<_>>();
        view("/?sort=run").order(&mut runs);
        assert_eq!(names(&runs), ["s1", "s9", "s10"]);
        view("/?sort=best").order(&mut runs);
        assert_eq!(names(&runs), ["s1", "s10", "s9"], "what has no score comes last");
        view("/?sort=-best").order(&mut runs);
        assert_eq!(names(&runs), ["s10", "s1", "s9"]);
        view("/?sort=gap").order(&mut runs);
        assert_eq!(names(&runs), ["s1", "s10", "s9"]);
    }
}
