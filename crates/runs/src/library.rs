//! The folders under the one that is served: which there are, and how a name from an address becomes a path that
//! cannot lie outside.

use crate::kind::Kind;
use std::path::{Path, PathBuf};

/// Folders below the served one, this deep.
const DEPTH_MAX: usize = 4;
/// No more entries are looked at.
const ENTRIES_MAX: usize = 50_000;
/// No more folders are listed.
const FOLDERS_MAX: usize = 5000;
/// The name of the served folder itself, when it is a run.
pub const ITSELF: &str = ".";

/// A folder that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its path from the served folder, with slashes; `.` for that folder itself.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub kind: Kind,
}

/// What is under a folder.
#[derive(Debug, Default)]
pub struct Library {
    /// The folders, by name.
    pub found: Vec<Found>,
    /// There are more than were looked at.
    pub cut: bool,
}

/// Looks for run folders. Links are not followed.
pub fn scan(root: &Path) -> Library {
    let mut library = Library::default();
    let mut entries = 0;
    let kind = Kind::of(root);
    if kind != Kind::Foreign {
        library.found.push(Found { name: ITSELF.into(), path: root.to_path_buf(), kind });
        return library;
    }
    visit(root, "", 0, &mut entries, &mut library);
    library.found.sort_by(|a, b| a.name.cmp(&b.name));
    library
}

/// Whether anything was found there.
fn visit(folder: &Path, name: &str, depth: usize, entries: &mut usize, library: &mut Library) -> bool {
    let Ok(inside) = folder.read_dir() else { return false };
    let mut any = false;
    for entry in inside.flatten() {
        *entries += 1;
        if *entries > ENTRIES_MAX || library.found.len() >= FOLDERS_MAX {
            library.cut = true;
            return any;
        }
        let Ok(file) = entry.file_name().into_string() else { continue };
        if file.starts_with('.') || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let (path, name) = (entry.path(), if name.is_empty() { file } else { format!("{name}/{file}") });
        let kind = Kind::of(&path);
        if kind != Kind::Foreign {
            library.found.push(Found { name, path, kind });
            any = true;
        } else if depth + 1 < DEPTH_MAX && visit(&path, &name, depth + 1, entries, library) {
            any = true;
        } else if depth == 0 {
            // A neighbour that is no run is named, so that nobody looks for it in vain.
            library.found.push(Found { name, path, kind });
        }
    }
    any
}

/// The folder that a name means, if it lies under `root`.
pub fn resolve(root: &Path, name: &str) -> Result<PathBuf, String> {
    if name == ITSELF {
        return Ok(root.to_path_buf());
    }
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    if name.len() > 4096 || !name.split('/').all(plain) {
        return Err("this is not the name of a folder here".into());
    }
    let path = root.join(name);
    let (Ok(real), Ok(home)) = (path.canonicalize(), root.canonicalize()) else {
        return Err("there is no such folder: it may have been moved or deleted".into());
    };
    if !real.starts_with(&home) {
        return Err("this name leads out of the folder that is served".into());
    }
    if !real.is_dir() {
        return Err("this is a file, not a folder".into());
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_at_any_depth_and_neighbours_named() {
        let home = tempfile::tempdir().unwrap();
        for (folder, file) in [("a/b/run", "spec.toml"), ("match", "match.toml"), ("photos/2026", "x.jpg")] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
            std::fs::write(home.path().join(folder).join(file), "").unwrap();
        }
        let names = |root: &Path| scan(root).found.into_iter().map(|f| (f.name, f.kind)).collect::<Vec<_>>();
        assert_eq!(
            names(home.path()),
            [
                ("a/b/run".to_string(), Kind::Solve),
                ("match".to_string(), Kind::Match),
                ("photos".to_string(), Kind::Foreign)
            ]
        );
        assert_eq!(names(&home.path().join("match")), [(".".to_string(), Kind::Match)]);
        assert!(names(&home.path().join("nowhere")).is_empty());
    }

    #[test]
    fn names_cannot_climb() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("runs");
        std::fs::create_dir_all(root.join("a b/c")).unwrap();
        std::fs::create_dir_all(home.path().join("secret")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        assert!(resolve(&root, "a b/c").is_ok());
        for bad in
            ["..", "../secret", "a b/../../secret", "/etc", "", "a b//c", "./a b", "file", "none", "a\0b"]
        {
            assert!(resolve(&root, bad).is_err(), "{bad:?}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.path().join("secret"), root.join("door")).unwrap();
            assert!(resolve(&root, "door").unwrap_err().contains("out of the folder"));
        }
    }
}
