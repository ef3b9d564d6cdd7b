//! Which simulated disks are mounted, and where. In a program that mounts none a path is asked about with one load.

use crate::disk::Disk;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

/// Whether any was ever mounted.
static ANY: AtomicBool = AtomicBool::new(false);
static MOUNTS: RwLock<Vec<Arc<Disk>>> = RwLock::new(Vec::new());

/// Mounts a disk over its folder, for all threads of this process, until the answer is dropped.
pub fn mount(disk: Disk) -> Mounted {
    let disk = Arc::new(disk);
    MOUNTS.write().unwrap_or_else(PoisonError::into_inner).push(disk.clone());
    ANY.store(true, Relaxed);
    Mounted(disk)
}

/// Whether a simulated disk is mounted above a path.
pub fn is_mounted(path: &Path) -> bool {
    above(path).is_some()
}

/// The disk above a path.
pub(crate) fn above(path: &Path) -> Option<Arc<Disk>> {
    if !ANY.load(Relaxed) {
        return None;
    }
    let path = std::path::absolute(path).ok()?;
    let mounts = MOUNTS.read().unwrap_or_else(PoisonError::into_inner);
    mounts.iter().find(|disk| path.starts_with(disk.root())).cloned()
}

/// A mounted disk.
pub struct Mounted(Arc<Disk>);

impl Deref for Mounted {
    type Target = Disk;

    fn deref(&self) -> &Disk {
        &self.0
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let mut mounts = MOUNTS.write().unwrap_or_else(PoisonError::into_inner);
        mounts.retain(|disk| !Arc::ptr_eq(disk, &self.0));
    }
}
