//! The door to the disk: everything that a run folder, a journal, a checkpoint or a database writes goes through here
//! (`door`). It is the file system itself, unless a simulated disk (`Disk`) is mounted above the path.
//!
//! A simulated disk changes the real files as it is told to, so that whoever only reads needs no door. Beside that it keeps
//! what has been synced. When the power goes it leaves its folder as a real disk might: of what was not synced, each sector,
//! each length and each name is there or is not. What POSIX promises holds and nothing else: `sync_all` keeps the bytes of
//! a file, syncing a folder keeps its names, renaming is one step, and folders are changed in the order of the calls.
//!
//! It leaves out: reads that fail, and bits that flip after they were synced (the checksums of checkpoints and entries have
//! tests of their own).

#![forbid(unsafe_code)]

mod disk;
mod door;
mod mounts;
mod rng;

pub use disk::{Disk, Failure, Fault, Plan};
pub use door::{File, create_dir, create_dir_all, remove_dir, remove_file, rename, sync_folder};
pub use mounts::{Mounted, is_mounted, mount};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
