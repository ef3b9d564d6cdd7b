//! What was read of folders before: a run that has come to its end is not read again until one of its files changes, so
//! that a list of a thousand runs costs a few looks at each.

use crate::folder::{EVENTS, RESULT};
use crate::library::Found;
use crate::summary::{State, Summary};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// No more runs are remembered.
const KEPT_MAX: usize = 20_000;
/// Folders that one thread reads at least.
const SHARE: usize = 64;
/// Threads that read at a time.
const THREADS_MAX: usize = 4;

/// When the files of a run were written, and how long they are.
type Stamp = [Option<(SystemTime, u64)>; 4];

/// Runs that were read before.
#[derive(Default)]
pub struct Shelf {
    kept: Mutex<HashMap<PathBuf, (Stamp, Summary)>>,
}

impl Shelf {
    /// All of some runs, in their order.
    pub fn read_all(&self, found: &[&Found]) -> Vec<Summary> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = found.len().div_ceil(SHARE).clamp(1, processors.min(THREADS_MAX));
        let share = found.len().div_ceil(threads).max(1);
        let read = |part: &[&Found]| -> Vec<Summary> {
            part.iter().map(|found| self.read(&found.name, &found.path)).collect()
        };
        std::thread::scope(|scope| {
            let others: Vec<_> =
                found.chunks(share).skip(1).map(|part| scope.spawn(move || read(part))).collect();
            let mut all = found.chunks(share).next().map(read).unwrap_or_default();
            for other in others {
                all.extend(other.join().expect("reading a folder never panics"));
            }
            all
        })
    }

    /// One run, as `Summary::read` reads it.
    pub fn read(&self, name: &str, path: &Path) -> Summary {
        let kept = lock(&self.kept).get(path).cloned();
        if let Some((stamp, mut summary)) = kept
            && summary.name == name
            && stamp == stamp_of(path, &summary)
        {
            summary.look_at_age();
            return summary;
        }
        let summary = Summary::read(name, path);
        let mut kept = lock(&self.kept);
        if matches!(summary.state, State::Finished | State::Stopped) && kept.len() < KEPT_MAX {
            kept.insert(path.to_path_buf(), (stamp_of(path, &summary), summary.clone()));
        } else {
            kept.remove(path);
        }
        summary
    }
}

fn stamp_of(path: &Path, summary: &Summary) -> Stamp {
    [summary.kind.request(), RESULT, EVENTS, summary.kind.log()].map(|file| {
        let meta = fs::metadata(path.join(file)).ok()?;
        Some((meta.modified().ok()?, meta.len()))
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn a_run_is_read_again_when_it_has_changed() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
        write("spec.toml", "format = 1\ninstance = \"samegame/1\"\nseed = 1\n[search]\nname = \"nrpa\"\n");
        write("events.jsonl", "");
        write("result.json", "{\"score\":9,\"reason\":\"time\",\"playouts\":5}");
        let shelf = Shelf::default();
        let found = Found { name: "x".into(), path: home.path().to_path_buf(), kind: Kind::Solve };
        let best = || shelf.read_all(&[&found, &found])[1].best;
        assert_eq!(best(), Some(9.0));
        assert_eq!(lock(&shelf.kept).len(), 1);
        assert_eq!(best(), Some(9.0));
        write("result.json", "{\"score\":12,\"reason\":\"time\",\"playouts\":5}");
        assert_eq!(best(), Some(12.0));
        fs::remove_file(home.path().join("result.json")).unwrap();
        assert_eq!(best(), None, "and one that goes on again is read each time");
        assert!(lock(&shelf.kept).is_empty());
    }
}
