//! One run: its best score over time, live; the solution, drawn, with a slider over its moves; what it was told; how it
//! goes on.

use super::{data, explain, link, page as whole, pill, replay, trouble};
use crate::aims::Aims;
use crate::curve::History;
use crate::folder::{EVENTS, RECORD, RESULT};
use crate::http::{Reply, Request};
use crate::instance::open_instance;
use crate::kind::{Kind, SPEC};
use crate::library;
use crate::report;
use crate::show;
use crate::site::Site;
use crate::summary::{State, Summary};
use crate::text::read_whole;
use maud::{Markup, html};
use serde_json::{Value, json};
use sortie_core::Opened;
use sortie_core::picture::dark_rules;
use sortie_core::{Position, Record};
use std::path::Path;

/// Frames beyond this many are not drawn: a slider could not show them apart.
const FRAMES_MAX: usize = 100_000;
/// Runs of other seeds that a band is made of, and the size of all their events.
const KIN_MAX: usize = 60;
const KIN_BYTES_MAX: u64 = 64 << 20;
/// Files of a folder that may be looked at.
const FILES: [&str; 12] = [
    SPEC,
    RECORD,
    RESULT,
    "instance.txt",
    "match.toml",
    "tune.toml",
    "study.toml",
    "prove.toml",
    "scale.toml",
    "data.toml",
    "train.toml",
    "exit.toml",
];

/// The page.
pub fn page(site: &Site, run: &Summary) -> Reply {
    let history = run.history().unwrap_or_else(|_| History::new(0, 2));
    let aims = site.aims(&run.path, &run.told.instance);
    let record = run.record();
    let mut said = run.trouble.clone();
    if history.skipped > 0 {
        said.push(format!(
            "{} lines of {EVENTS} are not events and were passed over: a crash may leave such lines.",
            history.skipped
        ));
    }
    if history.reached.rest() > 0 && run.state != State::Running {
        said.push(format!("The last line of {EVENTS} is unfinished: the run was cut off while it wrote."));
    }
    let (record, drawn) = match record {
        Err(why) => (None, Some(why)),
        Ok(None) => (None, Some("There is no best.record yet: nothing was found so far.".into())),
        Ok(Some(record)) => match frame_of(&run.path, &record, record.moves.len()) {
            Ok(_) => (Some(record), None),
            Err(why) => (Some(record), Some(why)),
        },
    };
    let kin = kin(site, run);
    let improvements: Vec<Value> =
        history.improvements.iter().map(|i| json!([i.seconds, i.score, i.stream])).collect();
    let facts = json!({
        "points": history.curve.points().map(|point| point.to_json()).collect::<Vec<_>>(),
        "improvements": improvements,
        "improved": history.improved,
        "events": history.events,
        "known": aims.known(),
        "aims": aims.to_json(run.best),
        "kin": kin.as_ref().map(|kin| &kin.0),
        "kin_count": kin.as_ref().map(|kin| kin.1),
        "kin_address": format!("{}/kin", link(&run.name)),
        "offset": history.reached.offset,
        "live": format!("{}/live", link(&run.name)),
        "running": run.state == State::Running,
    });
    let body = html! {
        (head(run))
        (trouble(&said))
        (tiles(run, &history, &aims))
        div.columns {
            section.card.wide aria-labelledby="curve-title" {
                div.cardhead {
                    h2 #curve-title { "Best score" }
                    fieldset.switch { legend.hidden { "Horizontal axis" }
                        label { input type="radio" name="axis" value="time" checked; span { "Time" } }
                        label { input type="radio" name="axis" value="log"; span { "Log time" } }
                        label { input type="radio" name="axis" value="playouts"; span { "Playouts" } }
                    }
                }
                div #curve .plot tabindex="0" role="img" aria-label="Best score over time; arrow keys move along it" {}
                p.legend #legend {
                    span.key.s0 { "best" }
                    @if run.told.streams > 1 { " " span.key.band0 #streams-key { "streams: 10 to 90 %, median" } }
                    " " span.key.band1 #kin-key hidden[kin.is_none()] { "the " span #kin-count { (kin.as_ref().map_or(0, |kin| kin.1)) } " runs of other seeds: 10 to 90 %, median" }
                    @if aims.known().is_some() { " " span.key.known { "best known" } }
                }
                details {
                    summary { "As a table" }
                    div.scroll { table #points {
                        thead { tr { th.number { "time" } th.number { "playouts" } th.number { "best" } } }
                        tbody {}
                    } }
                }
            }
            div.stack {
            section.card aria-labelledby="solution-title" {
                div.cardhead {
                    h2 #solution-title { "Solution" }
                    @if record.is_some() { a href={ (link(&run.name)) "/file/" (RECORD) } { "record" } }
                }
                @match (&record, &drawn) {
                    (Some(record), None) => {
                        @let frames = record.moves.len().min(FRAMES_MAX);
                        (replay(frames, frames, &format!("{}/frame", link(&run.name))))
                    }
                    (_, Some(why)) => p.muted #nosolution { (super::sentence(why)) },
                    _ => {}
                }
            }
            section.card aria-labelledby="told-title" {
                div.cardhead { h2 #told-title { "The run" } }
                (told(run, &history))
            }
            }
            div.stack {
            section.card aria-labelledby="speed-title" {
                div.cardhead { h2 #speed-title { "Playouts per second" } }
                div #speed .plot.small tabindex="0" role="img" aria-label="Playouts per second over time" {}
            }
            section.card #entropy-card aria-labelledby="entropy-title" hidden {
                div.cardhead { h2 #entropy-title { "Policy entropy" } span.muted.small { "0: always the same sequence" } }
                div #entropy .plot.small tabindex="0" role="img" aria-label="Mean entropy of the policy over time" {}
            }
            section.card aria-labelledby="found-title" {
                div.cardhead { h2 #found-title { "Improvements" } a href={ (link(&run.name)) "/events" } { "all events" } }
                div.scroll.tall { table #found { thead { tr { th.number { "time" } th.number { "score" } th.number { "stream" } } } tbody {} } }
            }
            section.card aria-labelledby="on-title" {
                div.cardhead { h2 #on-title { "In the terminal" } }
                (commands(run))
            }
            }
        }
        (data("data", &facts))
    };
    whole(200, &title(run), "/", Some("run.js"), &body)
}

/// The name of a run, for people.
pub fn title(run: &Summary) -> String {
    match run.name.as_str() {
        library::ITSELF => {
            run.path.file_name().map_or("this folder".into(), |n| n.to_string_lossy().into_owned())
        }
        name => name.to_string(),
    }
}

/// The name of a run and how it stands.
pub fn head(run: &Summary) -> Markup {
    html! {
        div.head {
            p.crumbs { a href="/" { "Runs" } }
            h1 { (title(run)) " " span #state { (pill(run.state)) } }
            p.muted {
                @if !run.told.instance.is_empty() { b { (run.told.instance) } }
                @if !run.told.search.is_empty() { " by " (run.told.search) }
                @if !run.told.instance.is_empty() { ". " }
                span #state-text { (show::state(run)) }
            }
            p.tabs {
                a href={ (link(&run.name)) "/workers" } { "Workers" }
                @if run.path.join(EVENTS).is_file() { a href={ (link(&run.name)) "/events" } { "Events" } }
            }
        }
    }
}

fn tiles(run: &Summary, history: &History, aims: &Aims) -> Markup {
    let last = history.improvements.back();
    html! {
        dl.tiles {
            div { dt { "Best" } dd #best .several[run.best.is_some_and(|best| aims.several(best))] { (run.best.map_or("–".into(), |best| aims.in_full(best))) }
                dd.sub #gap { (run.best.and_then(|best| aims.stands(best)).unwrap_or_default()) } }
            div { dt { "Playouts" } dd #playouts { (run.playouts.map_or("–".into(), show::brief)) } dd.sub { "of all streams" } }
            div { dt { "Playouts/s" } dd #rate { (run.rate.map_or("–".into(), show::brief)) } dd.sub { (threads(run.told.threads)) } }
            div { dt { "Time" } dd #time { (run.seconds.map_or("–".into(), show::time)) } dd.sub { @if !run.told.limits.is_empty() { "limit " (run.told.limits) } } }
            div { dt { "Improvements" } dd #improved { (history.improved) }
                dd.sub #last { @if let Some(last) = last { "last at " (show::time(last.seconds)) } } }
        }
    }
}

fn told(run: &Summary, history: &History) -> Markup {
    let told = &run.told;
    let rows = [
        ("Instance", told.instance.clone()),
        ("Search", told.search.clone()),
        ("Seed", told.seed.map(|seed| seed.to_string()).unwrap_or_default()),
        ("Streams", format!("{} on {}", told.streams, threads(told.threads))),
        ("Limits", if told.limits.is_empty() { "none: whole searches".into() } else { told.limits.clone() }),
        ("Began", history.started.clone().unwrap_or_default().replace('T', " ").replace('Z', " UTC")),
        ("Version", told.version.clone()),
    ];
    html! {
        dl.told {
            @for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) { dt { (name) } dd { (value) } }
            dt { "Files" } dd { (files(run)) }
        }
    }
}

/// The files of a folder that can be looked at.
pub fn files(run: &Summary) -> Markup {
    html! {
        @for file in FILES.iter().filter(|file| run.path.join(file).is_file()) {
            a href={ (link(&run.name)) "/file/" (file) } { (file) } " "
        }
    }
}

fn threads(n: i64) -> String {
    if n == 1 { "one thread".into() } else { format!("{n} threads") }
}

/// What to type to go on, check and look.
pub fn commands(run: &Summary) -> Markup {
    let folder = run.path.display().to_string();
    let safe = |c: char| c.is_alphanumeric() || "/\\._-+:,=@%".contains(c);
    let folder =
        if folder.chars().all(safe) { folder } else { format!("'{}'", folder.replace('\'', "'\\''")) };
    let lines: &[&str] = match run.kind {
        Kind::Solve if run.state == State::Finished => &["verify", "replay", "resume --time 1m"],
        Kind::Solve if run.state == State::Running => &["verify", "replay"],
        Kind::Solve => &["resume", "verify", "replay"],
        Kind::Match | Kind::Tune | Kind::Scale => &["resume", "verify"],
        Kind::Prove | Kind::Study | Kind::Data | Kind::Train | Kind::Exit | Kind::Campaign => &["resume"],
        _ => &["verify"],
    };
    html! {
        ul.commands {
            @for line in lines {
                @let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
                li { code { (if *line == "resume" { run.kind.program() } else { "sortie" }) " " (verb) " " (folder) @if !rest.is_empty() { " " (rest) } }
                    button.copy type="button" hidden { "Copy" } }
            }
        }
    }
}

/// The same band as it is by now, for the script.
pub fn kin_now(site: &Site, run: &Summary) -> Reply {
    let kin = kin(site, run);
    Reply::json(&json!({ "kin": kin.as_ref().map(|kin| &kin.0), "kin_count": kin.as_ref().map(|kin| kin.1) }))
}

/// The median and the middle of the runs that differ in their seed alone, and how many there are.
fn kin(site: &Site, run: &Summary) -> Option<(Vec<Value>, usize)> {
    if run.kind != Kind::Solve || run.told.instance.is_empty() {
        return None;
    }
    let mut bytes = 0;
    let mut kin = Vec::new();
    let found = library::scan(&site.root).found;
    let others: Vec<_> =
        found.iter().filter(|found| found.kind == Kind::Solve && found.name != run.name).collect();
    for other in site.shelf.read_all(&others) {
        if kin.len() == KIN_MAX {
            break;
        }
        if other.group() == run.group() && other.told.seed != run.told.seed && other.best.is_some() {
            bytes += std::fs::metadata(other.path.join(EVENTS)).map_or(0, |meta| meta.len());
            if bytes > KIN_BYTES_MAX {
                break;
            }
            kin.push(other);
        }
    }
    let n = kin.len();
    if n < 2 {
        return None;
    }
    let group = report::of(kin, Vec::new(), None).groups.pop()?;
    Some((
        group.band().into_iter().map(|(at, [low, middle, high])| json!([at, low, middle, high])).collect(),
        n,
    ))
}

/// The position after some moves of the best record.
pub fn frame(request: &Request, folder: &Path) -> Reply {
    let run = Summary::read("", folder);
    let record = match run.record() {
        Ok(Some(record)) => record,
        Ok(None) => return refuse("there is no record yet"),
        Err(why) => return refuse(&why),
    };
    let after = request.ask("after").and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    match frame_of(folder, &record, after.min(record.moves.len())) {
        Ok((position, told)) => {
            let mut frame = frame_json(&position, &record.moves, after);
            frame["score"] = json!(told);
            // What the score is made of is told once.
            if let Some(facts) = frame["facts"].as_array_mut() {
                facts.retain(|fact| fact[0].as_str().is_none_or(|name| !told.contains(name)));
            }
            Reply::json(&frame)
        }
        Err(why) => refuse(&why),
    }
}

/// A position for the slider.
pub fn frame_json(position: &Position, moves: &[String], after: usize) -> Value {
    let after = after.min(moves.len());
    json!({
        "after": after, "of": moves.len().min(FRAMES_MAX),
        "move": after.checked_sub(1).map(|last| &moves[last]),
        "svg": position.picture.as_ref().map(|picture| picture.markup()),
        "text": position.text,
        "score": show::score(position.score),
        "facts": position.facts.iter().map(|(key, value)| json!([key, show::score(*value)])).collect::<Vec<_>>(),
        "legal": position.legal.len(),
    })
}

/// An answer to a script that something is wrong.
pub fn refuse(why: &str) -> Reply {
    Reply { status: 404, ..Reply::json(&json!({ "error": super::sentence(why) })) }
}

/// A position of a solution, and its score in the words of the domain.
fn frame_of(folder: &Path, record: &Record, after: usize) -> Result<(Position, String), String> {
    let words = &record.moves[..after.min(record.moves.len()).min(FRAMES_MAX)];
    let cannot = |why: String| format!("the solution cannot be drawn: {why}");
    match open_instance(folder, &record.instance).map_err(cannot)? {
        Opened::Problem(problem) => {
            let position = problem.position(words).map_err(|error| cannot(error.to_string()))?;
            let told = Aims::from(problem).told(position.score);
            Ok((position, told))
        }
        Opened::Game(game) => {
            let position = game.position(words).map_err(|error| cannot(error.to_string()))?;
            let told = show::score(position.score);
            Ok((position, told))
        }
    }
}

/// A file of the folder, as text.
pub fn file(folder: &Path, name: &str) -> Reply {
    if is_picture(name) {
        return picture(folder, name);
    }
    if !FILES.contains(&name) {
        return explain(404, name, "this file is not shown");
    }
    match read_whole(&folder.join(name)) {
        Ok(text) => Reply::whole(200, "text/plain; charset=utf-8", text.into_bytes()),
        Err(why) => explain(404, name, &why),
    }
}

/// Whether a file of this name is one of our pictures: a plain name, so that it lies in the folder itself.
pub fn is_picture(name: &str) -> bool {
    let plain = |stem: &str| !stem.is_empty() && stem.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    name.strip_suffix(".svg").is_some_and(plain)
}

fn picture(folder: &Path, name: &str) -> Reply {
    let path = folder.join(name);
    // A link could lead anywhere.
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return explain(404, name, "there is no such picture");
    }
    match read_whole(&path) {
        Ok(mut text) => {
            // Pictures of an earlier version do not follow the screen by themselves.
            if let Some(at) = text.find("</title>").filter(|_| !text.contains("<style")) {
                text.insert_str(at + "</title>".len(), &format!("<style>{}</style>", dark_rules()));
            }
            Reply::whole(200, "image/svg+xml", text.into_bytes())
                .with("X-Content-Type-Options", "nosniff")
                .with("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        }
        Err(why) => explain(404, name, &why),
    }
}
