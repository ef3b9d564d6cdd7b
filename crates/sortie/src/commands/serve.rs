//! `sortie serve`: the dashboard. It answers on threads of its own until Ctrl-C.

use crate::args::Serve;
use crate::source::{plain, read_text};
use crate::{Verdict, output, session};
use anyhow::{Result, anyhow, bail};
use sortie_web::{Options, Server};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

const TOKEN_BYTES_MAX: u64 = 4096;
/// How often it is looked whether Ctrl-C was pressed.
const SLICE: Duration = Duration::from_millis(100);

/// Runs the command.
pub fn run(args: &Serve) -> Result<Verdict> {
    // The folder of all runs may not be there yet: the page then says how to begin.
    if args.folder == Path::new("runs") && !args.folder.exists() {
        std::fs::create_dir(&args.folder)
            .map_err(|error| anyhow!("cannot make the folder runs: {}", plain(&error)))?;
    }
    let bind = match args.bind.contains(':') && !args.bind.starts_with('[') {
        true => format!("[{}]:{}", args.bind, args.port),
        false => format!("{}:{}", args.bind, args.port),
    };
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let server = Server::bind(Options {
        folder: args.folder.clone(),
        bind,
        token: token.clone(),
        hosts: args.host.clone(),
        thinkers: args.games as usize,
    })?;
    let address = server.address().ok_or_else(|| anyhow!("the system does not tell where it listens"))?;
    let stop = session::stop_on_signals()?;
    let query = token.map(|_| "/?token=... (what the file says)").unwrap_or_default();
    output::print(&format!("http://{address}{query}"))?;
    output::say(&format!("showing {}; Ctrl-C ends", args.folder.display()));
    std::thread::spawn(move || server.run());
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(SLICE);
    }
    Ok(Verdict::Done)
}

fn read_token(path: &Path) -> Result<String> {
    let text =
        read_text(path, TOKEN_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    match text.lines().next().map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_string()),
        None => bail!("{}: expected a token on the first line", path.display()),
    }
}
