//! Jobs for workers anywhere. A client works through a source of jobs (`sortie_core::JobSource`), an engine keeps jobs
//! and answers (NATS JetStream), workers take jobs with outgoing connections only and may come and go as they like.
//!
//! What needs no network stands apart: the messages (`wire`), the client's accounts (`desk`), how the engine is started
//! (`broker`). The feature `nats` adds both ends of the connection.

#![forbid(unsafe_code)]

pub mod broker;
#[cfg(feature = "nats")]
mod client;
#[cfg(feature = "nats")]
mod crew;
pub mod desk;
#[cfg(feature = "nats")]
mod link;
#[cfg(feature = "nats")]
mod session;
pub mod wire;
#[cfg(feature = "nats")]
mod worker;

#[cfg(feature = "nats")]
pub use client::{GridSource, Options, Watcher, drive};
#[cfg(feature = "nats")]
pub use link::{Address, GridError, connect, random, without_token};
#[cfg(feature = "nats")]
pub use worker::{Hand, Told, Volunteer, Workshop, work};
