//! One file a command.

pub mod bench;
pub mod list;
pub mod replay;
pub mod reproduce;
pub mod resume;
pub mod show;
pub mod solve;
pub mod verify;
