//! Policy networks inside the searches.
//!
//! Read `spec` (what a network is), `net` (its weights and their file) and `dense` (what it computes, written down as
//! plainly as possible), then `kernel` (the same, as quick as a playout needs it) and `prior` (what a search is handed).
//! Weights are plain numbers by name: no framework is needed to play with a network.

#![forbid(unsafe_code)]

pub mod data;
mod dense;
mod kernel;
mod net;
mod prior;
mod spec;
pub mod train;

pub use dense::{Answer, forward};
pub use net::{BYTES_MAX, Net, NetError};
pub use prior::NetPrior;
pub use spec::{Architecture, EXPANSION, FORMAT, NetSpec, Scale, Tensor};
