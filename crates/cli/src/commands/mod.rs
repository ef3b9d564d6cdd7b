//! One file a command.

pub mod analyse;
pub mod bench;
pub mod bench_games;
pub mod bench_jobs;
pub mod bench_messages;
#[cfg(feature = "neural")]
pub mod bench_neural;
pub mod compare;
pub mod doctor;
pub mod engine;
pub mod learn;
pub mod list;
pub mod manual;
pub mod match_;
pub mod play;
pub mod prove;
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod resume;
pub mod schema;
pub mod serve;
pub mod show;
pub mod solve;
pub mod tune;
pub mod verify;
