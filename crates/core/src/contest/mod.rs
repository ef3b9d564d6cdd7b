//! Contests: matches and tunings as job sources, and the statistics that make claims of their results. Pure: who plays
//! the games, and how, is the business of whoever answers the jobs.

mod schedule;
mod sprt;
mod stats;

pub use schedule::{Format, Match, Pairing, Plan, Tally};
pub use sprt::{Decision, Model, Sprt};
pub use stats::{Estimate, Games, Interval, Pairs, elo_of, normal, quantile, score_of};
