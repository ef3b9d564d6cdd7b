//! Engines that run the ranks of a search on real machines. Each is a feature, because each needs something installed;
//! without features there is only what they share.
//!
//! | feature | engine |
//! |---|---|
//! | `mpi` | processes of an MPI job: Open MPI or MPICH |

mod errand;
#[cfg(feature = "mpi")]
pub mod mpi;

pub use errand::{Errand, Serve};
