//! The run folder: what a run is told, what it found, and how it can go on. `docs/formats.md` describes every file.
//!
//! Whoever writes a folder (the command), whoever looks at one (the pages, reports) and the JSON schema share these
//! definitions: the kinds of folders (`kind`), the lines of its logs (`event`, `game`, `job`, `worker`), its spec and its
//! result (`spec`, `result`), and every limit (`limits`).
//!
//! Who only looks begins with `library` (which folders there are), `summary` (one at a glance, whatever its kind and
//! whoever is at work in it), `curve` (the best score over time) and `lines` (any log from any place on, in bounded memory).
//!
//! Two rules hold all of it together. Only the process that holds the lock writes; readers leave every file as it is. And
//! whole files are replaced while logs only grow, so that nobody ever meets half of anything.

#![forbid(unsafe_code)]

pub mod chart;
pub mod checkpoint;
pub mod claim;
pub mod clock;
pub mod crew;
pub mod curve;
pub mod duration;
pub mod event;
pub mod folder;
pub mod game;
pub mod job;
pub mod journal;
pub mod kind;
pub mod library;
pub mod limits;
pub mod lines;
pub mod mailbox;
pub mod network;
pub mod result;
pub mod schema;
pub mod scribe;
pub mod shelf;
pub mod show;
pub mod spec;
pub mod summary;
pub mod text;
pub mod told;
pub mod worker;
