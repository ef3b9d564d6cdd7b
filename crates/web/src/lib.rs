//! Pages over run folders: the dashboard that `sortie serve` shows, and the reports and comparisons that are made of
//! the same parts. It reads folders and can change nothing.
//!
//! `http` is the protocol, `site` decides who may see what and which page it is, `live` follows a folder, `pages` write
//! HTML; what folders hold is read by `sortie_runs`. A new kind of folder is a line in `sortie_runs::kind` and a file in `pages`.

#![forbid(unsafe_code)]

mod aims;
mod chart;
mod contest;
mod download;
mod http;
mod instance;
mod live;
mod metrics;
mod pages;
mod play;
mod report;
mod site;
mod tree;
mod verdict;

// Reading run folders is a crate of its own; the pages know its modules by their names.
use sortie_runs::{crew, curve, folder, kind, library, lines, shelf, show, summary, text};

#[doc(hidden)]
pub mod doors {
    //! Where requests of strangers come in, for the fuzz targets: no promise.

    /// The head of a request.
    pub fn request(head: &[u8]) {
        if let Ok(request) = crate::http::parse(head) {
            assert!(request.path.iter().all(|part| !part.is_empty()));
        }
    }
}

pub use report::{Comparison, Report, compare, gather};
pub use site::{Options, ServeError, Server};
