//! Policy networks inside the searches.
//!
//! Read `spec` (what a network is), `net` (its weights and their file) and `dense` (what it computes, written down as
//! plainly as possible). Weights are plain numbers by name: no framework is needed to play with a network.

pub mod data;
mod dense;
mod net;
mod spec;
pub mod train;

pub use dense::{Answer, forward};
pub use net::{BYTES_MAX, Net, NetError};
pub use spec::{Architecture, EXPANSION, FORMAT, NetSpec, Tensor};
