//! The database of proved positions in the command: where it is (`open`), workers who ask it (`worker`), what a search
//! leaves in it (`keep`), whether it is true (`check`), and how it is filled (`fill`).

pub mod args;
pub mod check;
pub mod fill;
pub mod keep;
pub mod worker;

use crate::source::Instance;
use anyhow::{Result, bail};
use sortie_store::{Embedded, GameName, Store};
use std::path::Path;
use std::time::Duration;

/// How long somebody else who has the database is waited for.
pub const WAIT: Duration = Duration::from_secs(60);

/// The database that a word on the command line means: a file, or `mysql://...`.
pub fn open(place: &str) -> Result<Box<dyn Store>> {
    match place.split_once("://") {
        None => {
            let path = Path::new(place);
            if path.is_dir() {
                bail!("{place} is a folder: expected a file, new or of a database");
            }
            if let Some(folder) =
                path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
            {
                bail!("{place}: the folder {} is not there", folder.display());
            }
            Ok(Box::new(Embedded::new(path, WAIT)))
        }
        Some(("mysql", _)) => server(place),
        Some((scheme, _)) => bail!("{scheme}://: expected a file or mysql://user@host/database"),
    }
}

#[cfg(feature = "mariadb")]
fn server(url: &str) -> Result<Box<dyn Store>> {
    Ok(Box::new(sortie_store::MariaDb::connect(url, WAIT)?))
}

#[cfg(not(feature = "mariadb"))]
fn server(_: &str) -> Result<Box<dyn Store>> {
    bail!("mysql://: this build knows files only; build it with --features mariadb")
}

/// An existing database: reading one that is not there is a slip.
pub fn open_existing(place: &str) -> Result<Box<dyn Store>> {
    if !place.contains("://") && !Path::new(place).exists() {
        bail!("{place}: there is no such database");
    }
    open(place)
}

/// A game as a database knows it.
pub fn name(instance: &Instance) -> Result<GameName> {
    if instance.text.is_some() {
        bail!("{} is a file: a database keeps games that have a name", instance.name);
    }
    Ok(GameName { game: instance.name.clone(), rules: instance.game()?.rules_version() })
}
