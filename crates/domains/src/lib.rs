//! The problems and games of Sortie, one file each, and the table that names them.
//! A domain knows nothing of searches and does no I/O.

mod instance;
mod morpion;
mod registry;
mod samegame;
mod schur;
mod snake;
mod toy;
mod vrptw;

pub use instance::{Entry, OpenError, Opened, Options, Request};
pub use registry::{DOMAINS, nearest, open};
