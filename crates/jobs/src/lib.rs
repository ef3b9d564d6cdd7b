//! Coarse-grained search: work in jobs of milliseconds to minutes, done by whoever is there.
//!
//! `tree` grows a game tree by jobs (job-level proof-number search, UCT and alpha-beta); `contest` plays matches and
//! tunes parameters; `stats` makes claims of results. Everything here is a `JobSource` of
//! `sortie_core`: it gives jobs and takes answers, and knows no thread, no network and no file.

#![forbid(unsafe_code)]

pub mod contest;
pub mod stats;
pub mod tree;
