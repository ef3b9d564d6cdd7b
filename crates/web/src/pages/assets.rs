//! The style and the scripts, built into the binary: no network, no build step.

use super::explain;
use crate::http::{Reply, Request};
use sortie_core::picture::dark_rules;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The style, also for reports that stand alone: ours, and what the drawings need in the dark.
pub fn style() -> String {
    include_str!("../../assets/style.css").to_string() + &dark_rules()
}

/// Name, media type, content.
const FILES: [(&str, &str, &str); 10] = [
    ("page.js", "text/javascript; charset=utf-8", include_str!("../../assets/page.js")),
    ("chart.js", "text/javascript; charset=utf-8", include_str!("../../assets/chart.js")),
    ("aims.js", "text/javascript; charset=utf-8", include_str!("../../assets/aims.js")),
    ("live.js", "text/javascript; charset=utf-8", include_str!("../../assets/live.js")),
    ("run.js", "text/javascript; charset=utf-8", include_str!("../../assets/run.js")),
    ("runs.js", "text/javascript; charset=utf-8", include_str!("../../assets/runs.js")),
    ("replay.js", "text/javascript; charset=utf-8", include_str!("../../assets/replay.js")),
    ("refresh.js", "text/javascript; charset=utf-8", include_str!("../../assets/refresh.js")),
    ("tree.js", "text/javascript; charset=utf-8", include_str!("../../assets/tree.js")),
    ("play.js", "text/javascript; charset=utf-8", include_str!("../../assets/play.js")),
];
const ICON: &str = include_str!("../../assets/icon.svg");

/// A file.
pub fn file(request: &Request, name: &str) -> Reply {
    let style = style();
    let more = [("icon.svg", "image/svg+xml", ICON), ("style.css", "text/css; charset=utf-8", &style)];
    let Some((_, kind, text)) = FILES.iter().chain(&more).find(|(file, ..)| *file == name) else {
        return explain(404, name, "there is no such file");
    };
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let tag = format!("\"{:016x}\"", hash.finish());
    let reply = if request.header("if-none-match") == Some(tag.as_str()) {
        Reply::whole(304, kind, Vec::new())
    } else {
        Reply::whole(200, kind, text.as_bytes().to_vec())
    };
    // A browser asks each time whether its copy is still right: a new version shows at once.
    reply.with("ETag", tag).with("Cache-Control", "no-cache")
}
