//! Contests: matches and tunings as job sources, and the statistics that make claims of their results. Pure: who plays
//! the games, and how, is the business of whoever answers the jobs.

mod clop;
mod linear;
mod schedule;
mod sprt;
mod spsa;
mod stats;
mod tuning;

pub use clop::{Belief, Scored, optima};
pub use schedule::{Format, Match, Pairing, Plan, Tally};
pub use sprt::{Decision, Model, Sprt};
pub use spsa::{Gains, Walk};
pub use stats::{Estimate, Games, Interval, Pairs, elo_of, score_of};
pub use tuning::{Method, Parameter, Sample, Trial, Tuning, TuningPlan};
