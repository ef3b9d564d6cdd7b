//! `sortie completions` and `sortie man`: written from the definitions of the commands, so they cannot fall behind.

use crate::args::{Cli, Completions, Man};
use crate::folder::write_whole;
use crate::{Verdict, output};
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::path::Path;

/// Prints completions for a shell.
pub fn completions(args: &Completions) -> Result<Verdict> {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sortie", &mut out);
    output::print(&String::from_utf8_lossy(&out))?;
    Ok(Verdict::Done)
}

/// Prints the manual page, or writes all of them.
pub fn man(args: &Man) -> Result<Verdict> {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        output::print(&String::from_utf8_lossy(&page(&command)?))?;
        return Ok(Verdict::Done);
    };
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let written = write_pages(&command, dir)?;
    output::say(&format!("{written} pages in {}", dir.display()));
    Ok(Verdict::Done)
}

fn write_pages(command: &clap::Command, dir: &Path) -> Result<usize> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = dir.join(format!("{name}.1"));
    write_whole(&path, &page(command)?).with_context(|| format!("cannot write {}", path.display()))?;
    let mut written = 1;
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
    {
        written += write_pages(inner, dir)?;
    }
    Ok(written)
}

fn page(command: &clap::Command) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut out)?;
    Ok(out)
}
