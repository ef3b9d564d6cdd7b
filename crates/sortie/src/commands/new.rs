//! `sortie new`: a crate with a problem or a game of one's own, that builds, passes its tests and is the whole command.

use crate::source::plain;
use crate::{Verdict, output};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

const PROBLEM: &str = include_str!("../../templates/problem.rs");
const GAME: &str = include_str!("../../templates/game.rs");
/// A crate's name has to fit on a line.
const NAME_MAX: usize = 40;

/// `sortie new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie new my-problem && cd my-problem && cargo run --release -- solve my-problem/20
  sortie new my-game --game && cd my-game && cargo run --release -- play my-game/21

The crate is a program with all of sortie's commands over its domain and ours; `cargo test` holds it to the contract.")]
pub struct New {
    /// The name of the crate, its folder and its domain: small letters, digits and -
    pub name: String,
    /// A game for two instead of a problem for one
    #[arg(long)]
    pub game: bool,
    /// Build against the sources of sortie in this folder, instead of the published crate
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &New) -> Result<Verdict> {
    let name = &args.name;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase())
        || name.len() > NAME_MAX
        || name.ends_with('-')
        || !name.chars().all(fits)
        || name == "sortie"
    {
        bail!(
            "'{name}' cannot be a crate: expected small letters, digits and -, a letter first, as in my-problem"
        );
    }
    if sortie_domains::catalogue().entry(name).is_some() {
        bail!("{name} is a domain already: choose another name");
    }
    let folder = Path::new(name);
    if folder.exists() {
        bail!("{name}: there is something of that name already; nothing was changed");
    }
    let manifest = manifest(name, args.path.as_deref())?;
    let source = if args.game { GAME } else { PROBLEM }.replace("@name@", name);
    // Made beside and moved into place: half a crate would be in the way of the next try.
    let beside = PathBuf::from(format!(".{name}.new"));
    let wrong = |error: std::io::Error| anyhow!("{}: {}", beside.display(), plain(&error));
    let _ = fs::remove_dir_all(&beside);
    fs::create_dir_all(beside.join("src")).map_err(wrong)?;
    fs::write(beside.join("Cargo.toml"), manifest).map_err(wrong)?;
    fs::write(beside.join(".gitignore"), "/target\n/runs\n").map_err(wrong)?;
    fs::write(beside.join("src/main.rs"), source).map_err(wrong)?;
    fs::rename(&beside, folder).map_err(wrong)?;
    let (verb, instance) = if args.game { ("play", "21") } else { ("solve", "20") };
    output::print(&format!(
        "{name}: a crate with the domain {name}; next:\n  cd {name}\n  cargo test\n  cargo run --release -- {verb} {name}/{instance}\n\
         Its rules are in src/main.rs: change them to yours."
    ))?;
    Ok(Verdict::Done)
}

fn manifest(name: &str, path: Option<&Path>) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let sortie = match path {
        None => format!("\"{}\"", version.rsplit_once('.').map_or(version, |(minor, _)| minor)),
        Some(path) => {
            let manifest = path.join("crates/sortie/Cargo.toml");
            let krate = manifest.is_file().then(|| path.join("crates/sortie").canonicalize());
            let Some(Ok(krate)) = krate else {
                bail!(
                    "{}: expected the sources of sortie, and there is no {}",
                    path.display(),
                    manifest.display()
                );
            };
            format!("{{ path = {} }}", toml::Value::String(krate.display().to_string()))
        }
    };
    Ok(format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nsortie = {sortie}\n\n\
         # Searches are slow without optimisation, and what they are of is compiled here.\n\
         [profile.dev]\nopt-level = 2\n\n[profile.release]\nlto = \"thin\"\n\n[workspace]\n"
    ))
}
