//! A search for a proof: what is proved so far, and the tree as a table that is opened row by row. The page is complete
//! without scripts: every move is a link to the same page with that position at the top.

use super::run::{commands, frame_json, head, refuse};
use super::{explain, link, page as whole, sentence, trouble};
use crate::http::{Reply, Request};
use crate::kind::JOBS;
use crate::show;
use crate::site::Site;
use crate::summary::{State, Summary};
use crate::tree::{Numbers, ROOT, Row, Tree};
use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};
use sortie_core::Side;
use sortie_core::exact::{Bounds, Status, Value};
use std::path::Path;

/// Moves of a node that are sent at a time.
const ROWS_MAX: usize = 200;
/// Nodes that a page may ask for at once.
const ASKED_MAX: usize = 2000;
/// Deeper rows are not moved further to the right.
const STEPS_MAX: u32 = 24;

/// The page.
pub fn page(site: &Site, request: &Request, run: &Summary) -> Reply {
    let mut said = run.trouble.clone();
    let at = request.ask("at").and_then(|text| text.parse().ok()).unwrap_or(ROOT);
    let running = run.state == State::Running;
    let tree = site.forest.with(&run.path, |tree| {
        let at = if tree.has(at) { at } else { ROOT };
        said.extend(wrong(tree));
        html! {
            (verdict(tree))
            (tiles(run, tree))
            div.columns.tree {
                section.card aria-labelledby="tree-title" { (card(run, tree, at, running)) }
                div.stack {
                    section.card aria-labelledby="position-title" {
                        div.cardhead { h2 #position-title { "Position" } span.muted.small #line {} }
                        div.board #board aria-live="polite" { p.muted { "The position of the row that is chosen is drawn here." } }
                    }
                    section.card aria-labelledby="told-title" { div.cardhead { h2 #told-title { "The search" } } (told(run)) }
                    section.card { div.cardhead { h2 { "In the terminal" } } (commands(run)) }
                }
            }
        }
    });
    let body = html! {
        (head(run))
        (trouble(&said))
        @match &tree {
            Ok(tree) => (tree),
            Err(why) => {
                p.trouble role="note" { "The tree cannot be shown: " (sentence(why)) }
                section.card { div.cardhead { h2 { "In the terminal" } } (commands(run)) }
            }
        }
    };
    whole(200, &run.name, "/", tree.is_ok().then_some("tree.js"), &body)
}

fn wrong(tree: &Tree) -> Vec<String> {
    let mut said = Vec::new();
    if tree.len() == 1 {
        said.push("No job has been answered yet: the first will show here.".into());
    }
    if tree.skipped > 0 {
        said.push(format!(
            "{} lines of {JOBS} are no answers of this search and were passed over.",
            tree.skipped
        ));
    }
    if tree.cut {
        said.push(format!(
            "Only the first {} positions of the tree are shown.",
            show::count(tree.len() as f64)
        ));
    }
    if tree.contradiction {
        said.push("Two answers that were trusted contradict each other: neither is worth anything.".into());
    }
    said
}

/// What is known so far, in words: the headline, and a sentence or two below it.
fn known(tree: &Tree) -> (String, String, &'static str) {
    let root = tree.row(ROOT);
    let (rows, total) = tree.rows(ROOT, 0, ROWS_MAX);
    let (text, class) = proved(root.bounds);
    let mover = name(root.mover);
    let best = rows.first();
    if let Some(value) = root.bounds.value() {
        let headline = match value {
            Value::Win => "Proved: the first side wins",
            Value::Draw => "Proved: a draw",
            Value::Loss => "Proved: the second side wins",
        };
        let lost = root.bounds.view(root.mover).high == Value::Loss;
        let by = best.filter(|_| !lost).map(|best| format!(", by {}", best.word)).unwrap_or_default();
        return (headline.into(), format!("{} is to move{by}.", capital(mover)), class);
    }
    let Some(best) = best else {
        return ("Nothing is known yet".into(), format!("{} is to move.", capital(mover)), class);
    };
    let refuted = rows.iter().filter(|row| row.bounds.view(root.mover).high == Value::Loss).count();
    let headline = match class {
        "open" => format!(
            "Not decided yet; {} is expected, {:.0} % for {mover}",
            best.word,
            100.0 * root.mover.view(best.value)
        ),
        _ => format!("Proved so far: {text}"),
    };
    let moves = if total == 1 {
        "One move was looked at".to_string()
    } else {
        format!("{total} moves were looked at")
    };
    let lose = match refuted {
        0 => String::new(),
        1 => ", one of them loses".into(),
        n => format!(", {n} of them lose"),
    };
    let numbers = format!(
        "proof number {}, disproof number {}",
        Numbers::written(root.numbers.proof),
        Numbers::written(root.numbers.disproof)
    );
    (headline, format!("{moves}{lose}; {numbers}."), class)
}

fn verdict(tree: &Tree) -> Markup {
    let (headline, below, class) = known(tree);
    html! {
        div.verdict.(class) #verdict { p.headline #headline { (headline) } p #below { (below) } }
    }
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

fn tiles(run: &Summary, tree: &Tree) -> Markup {
    let root = tree.row(ROOT);
    html! {
        dl.tiles {
            div { dt { "Proof and disproof" } dd #numbers { (Numbers::written(root.numbers.proof)) " / " (Numbers::written(root.numbers.disproof)) } dd.sub { (name(root.mover)) " to move" } }
            div { dt { "Answers" } dd #answers { (show::count(tree.answers as f64)) } dd.sub { (run.told.search) } }
            div { dt { "Tree" } dd #size { (show::count(tree.len() as f64)) } dd.sub { "positions" } }
            div { dt { "Looked at" } dd { (show::brief(tree.work as f64)) } dd.sub { "positions, by the jobs" } }
            div { dt { "CPU time" } dd { (show::time(tree.seconds)) } dd.sub { "of the jobs" } }
        }
    }
}

fn card(run: &Summary, tree: &Tree, at: u32, running: bool) -> Markup {
    let here = link(&run.name);
    let base = tree.row(at).depth;
    html! {
        div.cardhead { h2 #tree-title { "Tree" } span.muted.small { "arrow keys open and close" } }
        @if at != ROOT {
            p.crumbs {
                a href=(here) { "Root" }
                @for (id, word) in tree.path(at) { " " a href={ (here) "?at=" (id) } { (word) } }
            }
        }
        div.scroll {
            table.tree #tree role="treegrid" aria-labelledby="tree-title" data-address=(here) data-at=(at) data-base=(base)
                data-every=[running.then_some("4")] {
                thead { tr role="row" {
                    th { "Move" } th { "Proved" } th { "Status" } th.number { "Value" } th.number { abbr title="proof number" { "PN" } }
                    th.number { abbr title="disproof number" { "DN" } } th.number { "Positions" } th.number { "Looked at" } th { "Why" }
                } }
                tbody {
                    (row(run, &tree.row(at), base, true))
                    (children(run, tree, at, 0, base))
                }
            }
        }
        details.keys { summary { "What the columns say" }
            dl.told {
                dt { "Proved" } dd { "holds whatever anybody plays: it follows from the answers of exact solvers and the rules" }
                dt { "Status" } dd { "what the worker thought of the position: from bw (the first side wins) over stable to ww (the second wins)" }
                dt { "Value" } dd { "the mean of what the answers about the move and all below it thought, for the side that makes the move, in per cent: as `sortie prove` prints it" }
                dt { "PN, DN" } dd { "the work that it seems to take to prove what is asked, and to disprove it, in answers" }
                dt { "Positions" } dd { "of the tree from here on" }
                dt { "Looked at" } dd { "positions that the jobs about this one looked at" }
                dt { "Why" } dd { "the job that found the move (on a leaf, or for a sibling of moves that were there), and what the proof rests on" }
            }
        }
    }
}

/// The rows of some moves of a node, and one that asks for more where there are more.
fn children(run: &Summary, tree: &Tree, at: u32, from: usize, base: u32) -> Markup {
    let (rows, total) = tree.rows(at, from, ROWS_MAX);
    let shown = from + rows.len();
    let level = tree.row(at).depth + 1 - base;
    html! {
        @for r in &rows { (row(run, r, base, false)) }
        @if shown < total {
            tr.more role="row" data-more=(at) data-from=(shown) aria-level=(level + 1) tabindex="-1" {
                td colspan="9" { @for _ in 0..level.min(STEPS_MAX) { i.step {} } button type="button" tabindex="-1" { (total - shown) " more" } }
            }
        }
    }
}

fn row(run: &Summary, r: &Row, base: u32, open: bool) -> Markup {
    let level = r.depth - base;
    let (text, class) = proved(r.bounds);
    html! {
        tr role="row" data-node=(r.id) aria-level=(level + 1) tabindex=(if level == 0 { "0" } else { "-1" })
            aria-expanded=[(r.children > 0).then_some(if open { "true" } else { "false" })] {
            th scope="row" role="rowheader" {
                @for _ in 0..level.min(STEPS_MAX) { i.step {} }
                @if r.children > 0 { span.twist aria-hidden="true" {} } @else { span.twist.none aria-hidden="true" {} }
                @if r.word.is_empty() { b { "root" } }
                @else { a tabindex="-1" href={ (link(&run.name)) "?at=" (r.id) } { (r.word) } }
            }
            td.proved.(class) { (text) }
            td { @if r.depth > 0 { span title=(meaning(r.status)) { (word(r.status)) } } }
            td.number { @if r.depth > 0 { (format!("{:.1} %", 100.0 * r.chooser.view(r.value))) } }
            td.number { (Numbers::written(r.numbers.proof)) }
            td.number { (Numbers::written(r.numbers.disproof)) }
            td.number { (show::count(r.size.into())) }
            td.number { @if r.work > 0 { (show::brief(r.work as f64)) } }
            td.why { (r.why) }
        }
    }
}

/// More rows: the children of every `node` in the address, from `from` on.
pub fn rows(site: &Site, request: &Request, name: &str, folder: &Path) -> Reply {
    let run = Summary::glance(name, folder);
    let number = |key: &str| request.ask(key).and_then(|text| text.parse::<u32>().ok());
    let (base, from) = (number("base").unwrap_or(0), number("from").unwrap_or(0) as usize);
    let asked = request.ask_all("node").filter_map(|text| text.parse::<u32>().ok()).take(ASKED_MAX);
    let answer = site.forest.with(folder, |tree| {
        let mut nodes = Map::new();
        for id in asked.filter(|&id| tree.has(id)) {
            // A row further up than the page's first is none of its rows.
            let base = base.min(tree.row(id).depth);
            nodes.insert(id.to_string(), children(&run, tree, id, from, base).into_string().into());
        }
        let top = number("at").filter(|&id| tree.has(id)).unwrap_or(ROOT);
        let top_row = row(&run, &tree.row(top), base.min(tree.row(top).depth), true).into_string();
        let (headline, below, _) = known(tree);
        let Numbers { proof, disproof } = tree.row(ROOT).numbers;
        json!({
            "nodes": Json::Object(nodes), "top": top_row, "headline": headline, "below": below,
            "numbers": format!("{} / {}", Numbers::written(proof), Numbers::written(disproof)), "answers": show::count(tree.answers as f64), "size": show::count(tree.len() as f64),
            "running": run.state == State::Running,
        })
    });
    match answer {
        Ok(answer) => Reply::json(&answer),
        Err(why) => refuse(&why),
    }
}

/// The position of a node, drawn.
pub fn position(site: &Site, request: &Request, folder: &Path) -> Reply {
    let Some(id) = request.ask("node").and_then(|text| text.parse().ok()) else {
        return explain(400, "", "which node? expected node=NUMBER");
    };
    let answer = site.forest.with(folder, |tree| {
        let position = if tree.has(id) { tree.position(id) } else { None }?;
        let words: Vec<String> = tree.path(id).into_iter().map(|(_, word)| word).collect();
        let mut frame = frame_json(&position, &words, words.len());
        frame["line"] = json!(words.join(" "));
        Some(frame)
    });
    match answer {
        Ok(Some(frame)) => Reply::json(&frame),
        Ok(None) => refuse("there is no such position in the tree"),
        Err(why) => refuse(&why),
    }
}

fn told(run: &Summary) -> Markup {
    let told = &run.told;
    html! {
        dl.told {
            dt { "Game" } dd { (told.instance) }
            @if !told.search.is_empty() { dt { "Search" } dd { (told.search) } }
            @if let Some(seed) = told.seed { dt { "Seed" } dd { (seed) } }
            dt { "Files" } dd { (super::run::files(run)) }
        }
    }
}

fn name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// What is proved, and a class for it.
fn proved(bounds: Bounds) -> (&'static str, &'static str) {
    match (bounds.low, bounds.high) {
        (Value::Win, _) => ("first wins", "first"),
        (_, Value::Loss) => ("second wins", "second"),
        (Value::Draw, Value::Draw) => ("a draw", "drawn"),
        (Value::Draw, _) => ("first does not lose", "first"),
        (_, Value::Draw) => ("second does not lose", "second"),
        _ => ("–", "open"),
    }
}

fn word(status: Status) -> &'static str {
    const WORDS: [&str; 13] =
        ["bw", "b4", "b3", "b2", "b1", "stable", "unstable 1", "unstable 2", "w1", "w2", "w3", "w4", "ww"];
    WORDS[status as usize]
}

fn meaning(status: Status) -> &'static str {
    const MEANINGS: [&str; 13] = [
        "the first side wins",
        "the first side has all but won",
        "the first side is far ahead",
        "the first side is ahead",
        "the first side is a little ahead",
        "even and quiet",
        "even and not quiet",
        "even and wild",
        "the second side is a little ahead",
        "the second side is ahead",
        "the second side is far ahead",
        "the second side has all but won",
        "the second side wins",
    ];
    MEANINGS[status as usize]
}
