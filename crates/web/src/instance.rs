//! Instances that pages open: those of run folders, by the copy that lies there, and games by their names alone.

use sortie_core::{AnyGame, Opened};
use sortie_runs::folder::INSTANCE;
use sortie_runs::text::read_whole;
use std::path::Path;

/// Opens the instance of a run. Only the copy that lies in the folder is read: a spec from a stranger must not make
/// the server read other files.
pub fn open_instance(folder: &Path, instance: &str) -> Result<Opened, String> {
    let copy = folder.join(INSTANCE);
    let read = |_: &str| {
        read_whole(&copy)
            .map_err(|_| format!("only {INSTANCE} in the run folder is read, and it is not there"))
    };
    sortie_domains::open(instance, &read).map_err(|error| error.to_string())
}

/// Opens a game by its name alone; no file is read.
pub fn open_game(instance: &str) -> Result<Box<dyn AnyGame>, String> {
    // A game that burns time at every move, for studies, would burn it here for whoever asks.
    if instance.contains("cost") {
        return Err("games with a cost are not played here".into());
    }
    let refuse = |_: &str| Err("files are not read here".to_string());
    match sortie_domains::open(instance, &refuse).map_err(|error| error.to_string())? {
        Opened::Game(game) => Ok(game),
        Opened::Problem(_) => Err(format!("{instance} is a problem for one, not a game for two")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_a_folder_reads_no_other_file() {
        let home = tempfile::tempdir().unwrap();
        assert!(open_instance(home.path(), "samegame//etc/passwd").is_err());
    }
}
