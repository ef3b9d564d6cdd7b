//! A study: the table and the plot that `lab paper` has written so far.

use super::markdown::markdown;
use super::run::{commands, head};
use super::{page as whole, pictures, trouble};
use crate::http::Reply;
use crate::summary::Summary;
use crate::text::read_whole;
use maud::html;

/// The page.
pub fn page(run: &Summary) -> Reply {
    let table = read_whole(&run.path.join("table.md"));
    let body = html! {
        (head(run))
        (trouble(&run.trouble))
        section.card {
            @match &table {
                Ok(table) => (markdown(table)),
                Err(_) => p.muted { "There is no table.md yet: it is written when the first runs of the study have ended." },
            }
            (pictures(run, "plot"))
        }
        section.card { div.cardhead { h2 { "In the terminal" } } (commands(run)) }
    };
    whole(200, &run.name, "/", None, &body)
}
