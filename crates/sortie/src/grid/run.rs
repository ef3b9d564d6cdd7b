//! The commands `worker` and `broker`, and what every run with `--grid` tells.

use super::args::{Broker as BrokerArgs, Worker as Args};
use super::hands::{Bounds, Shop};
use super::{Keys, Spec};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::players::Player;
use crate::{Verdict, clock, contest, output, session};
use anyhow::{Context, Result, anyhow, bail};
use sortie_grid::broker::{self, Broker};
use sortie_grid::desk::Trust;
use sortie_grid::wire::{self, Kind, Presence};
use sortie_grid::{Address, Options, Volunteer, Watcher};
use sortie_runs::kind::WORKERS;
use sortie_runs::worker::{Doing, JobName, SAID_EVERY, WorkerLine};
use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Priority of a worker that runs only when nobody else wants the processor, as `nice` counts.
#[cfg(unix)]
const NICE: i32 = 19;

/// No line of what others say is longer.
const LINE_CHARS_MAX: usize = 600;
/// Lines that a session writes of its workers.
const LINES_MAX: usize = 50_000;

/// Runs `sortie worker`.
pub fn worker(args: &Args) -> Result<Verdict> {
    let (token, Keys { credential, certificate }) = Keys::of(&args.keys)?;
    let address = Address::parse(&args.grid, token.as_deref())?;
    let address = Address { credential: credential.clone(), certificate, ..address };
    let credential = credential.map(|(name, _)| name);
    let name = match &args.name {
        Some(name) if wire::is_name(name) => name.clone(),
        Some(name) => bail!("--name {name}: expected up to 48 letters, digits, - or _"),
        None => own_name(),
    };
    for engine in &args.player {
        Player::parse(engine)?.speaker()?;
    }
    if args.nice {
        lower()?;
    }
    let stop = session::stop_on_signals()?;
    let cores = args.cores.unwrap_or_else(contest::processors) as usize;
    let version = env!("CARGO_PKG_VERSION").into();
    let volunteer = Volunteer { address, name, credential, cores, version };
    let bounds = Bounds { memory_max: args.memory, threads_max: cores as u32 };
    let shop = Shop { engines: args.player.clone(), bounds };
    let quiet = args.quiet;
    sortie_grid::work(&volunteer, Arc::new(shop), &stop, &mut |text| {
        if !quiet {
            output::say(&format!("{} {}", clock::now(), wire::plain(text, LINE_CHARS_MAX)));
        }
    })?;
    Ok(Verdict::Done)
}

/// The machine, and something that tells two workers on it apart.
fn own_name() -> String {
    let host = std::fs::read_to_string("/etc/hostname").ok();
    let host = host.as_deref().map(str::trim).filter(|host| !host.is_empty()).unwrap_or("worker");
    let host: String = host.chars().take(30).collect();
    wire::to_name(&format!("{host}-{:06x}", sortie_grid::random() & 0xff_ffff))
}

#[cfg(unix)]
fn lower() -> Result<()> {
    rustix::process::nice(NICE).map(drop).map_err(|error| anyhow!("--nice: {error}"))
}

#[cfg(not(unix))]
fn lower() -> Result<()> {
    bail!("--nice: this system has no such thing; start it with a low priority instead")
}

/// Runs `sortie broker`: this process becomes the server, so that it ends with it.
pub fn broker(args: &BrokerArgs) -> Result<Verdict> {
    let token = match &args.token_file {
        Some(path) => Some(super::secret(path)?),
        None => args.token.clone(),
    };
    let mut broker = Broker {
        listen: args.listen,
        store: args.store.clone(),
        token,
        members: Vec::new(),
        tls: None,
        bytes_max: args.disk << 30,
    };
    let names = |names: &[String]| {
        names.iter().find(|name| !wire::is_name(name) || *name == wire::names::ANYBODY).cloned()
    };
    if let Some(name) = names(&args.member).or_else(|| names(&args.client)) {
        bail!("--member {name}: expected up to 48 letters, digits, - or _");
    }
    let mut folder = None;
    if !args.member.is_empty() || !args.client.is_empty() {
        let credentials = args.store.join("credentials");
        let clients = if args.client.is_empty() { vec!["client".to_string()] } else { args.client.clone() };
        let all = clients.iter().map(|name| (name, true)).chain(args.member.iter().map(|name| (name, false)));
        broker.members =
            all.map(|(name, client)| member(&credentials, name, client)).collect::<Result<_>>()?;
        folder = Some(credentials);
    }
    broker.check()?;
    let server = broker::find()?;
    if args.tls {
        let mut hosts = vec![args.listen.ip().to_string(), "localhost".into(), "127.0.0.1".into()];
        hosts.extend(args.host.iter().cloned());
        let sound = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
        if let Some(host) = args.host.iter().find(|host| host.is_empty() || !host.chars().all(sound)) {
            bail!("--host {host}: expected a name or an address");
        }
        broker.tls = Some(broker::certificate(&args.store, &hosts)?);
    }
    let mut command = broker.prepare(&server)?;
    let scheme = if args.tls { "tls" } else { "nats" };
    let mut how = format!("sortie worker --grid {scheme}://{}", args.listen);
    match (&folder, &broker.token) {
        (Some(folder), _) => how += &format!(" --credential {}", folder.join("NAME.credential").display()),
        (None, Some(_)) => how += " --token-file FILE",
        (None, None) => {}
    }
    if let Some((certificate, _)) = &broker.tls {
        how += &format!(" --ca {}", certificate.display());
    }
    output::say(&format!("the grid is at {scheme}://{}; `{how}` joins it", args.listen));
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut command);
        Err(anyhow!("{}: {error}", server.display()))
    }
    #[cfg(not(unix))]
    {
        let ended = command.status().with_context(|| server.display().to_string())?;
        if ended.success() { Ok(Verdict::Done) } else { bail!("{} ended with {ended}", server.display()) }
    }
}

/// A credential from the store, which is made if it is not there: whoever has the file may join under the name.
fn member(folder: &Path, name: &str, client: bool) -> Result<broker::Member> {
    let path = folder.join(format!("{name}.credential"));
    if !path.exists() {
        sortie_disk::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let password = format!("{:016x}{:016x}", sortie_grid::random(), sortie_grid::random());
        broker::write_private(&path, &format!("{name}\n{password}\n"))
            .with_context(|| path.display().to_string())?;
    }
    let text = super::secret(&path)?;
    let sound = |password: &&str| password.chars().all(|c| c.is_ascii_alphanumeric());
    match text.split_once('\n').map(|(_, password)| password.trim()).filter(sound) {
        Some(password) => Ok(broker::Member { name: name.into(), password: password.into(), client }),
        None => bail!("{}: expected a name and a password, a line each", path.display()),
    }
}

/// What a run asks of its grid.
pub fn options(spec: &Spec, kind: Kind, title: &str, work: &impl serde::Serialize) -> Result<Options> {
    Ok(Options {
        address: Address {
            url: spec.url.clone(),
            token: spec.token.clone(),
            credential: spec.keys.credential.clone(),
            certificate: spec.keys.certificate.clone(),
        },
        trust: Trust { quorum: spec.quorum, recheck: spec.recheck },
        lease_seconds: spec.lease_seconds,
        job_seconds_max: spec.job_seconds_max,
        refused: Vec::new(),
        window: spec.window.map(|window| window as usize),
        kind,
        title: title.to_string(),
        spec: wire::body(work)?,
    })
}

/// What it does, why not, and what it is at: news of a worker if it differs from what was said last.
type Said = (Doing, Option<String>, Option<JobName>);

fn said(presence: &Presence, there: bool) -> Said {
    if !there || presence.leaving {
        let why = if there { "it leaves when its jobs are done" } else { "it has left, or is not heard of" };
        (Doing::Gone, Some(why.into()), None)
    } else if presence.doing.is_empty() {
        (Doing::Idle, presence.idle.clone(), None)
    } else {
        (Doing::Working, None, Some(JobName::Words(presence.doing.join(", "))))
    }
}

/// Writes down who is there, and tells what happens.
pub struct Log {
    journal: Journal,
    quiet: bool,
    /// What was last written of a worker, and when.
    known: HashMap<String, (Said, Instant)>,
    /// Lines written: workers change as often as they like.
    lines: usize,
    trouble: Option<anyhow::Error>,
}

impl Log {
    /// The log of the run in a folder.
    pub fn open(folder: &Folder, quiet: bool) -> Result<Log> {
        let journal = Journal::open(folder, WORKERS)?;
        Ok(Log { journal, quiet, known: HashMap::new(), lines: 0, trouble: None })
    }

    /// The end; what could not be written.
    pub fn close(mut self) -> Result<()> {
        let synced = self.journal.sync();
        match self.trouble {
            Some(trouble) => Err(trouble),
            None => synced.context(WORKERS),
        }
    }
}

impl Watcher for Log {
    fn line(&mut self, text: &str) {
        if !self.quiet {
            // On a terminal it stands where the live line was.
            let clear = if std::io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
            output::say(&format!("{clear}grid: {}", wire::plain(text, LINE_CHARS_MAX)));
        }
    }

    fn worker(&mut self, presence: &Presence, there: bool) {
        let gist = said(presence, there);
        let fresh = |at: &Instant| gist.0 == Doing::Gone || at.elapsed() < Duration::from_secs(SAID_EVERY);
        if self.known.get(&presence.worker).is_some_and(|(said, at)| *said == gist && fresh(at)) {
            return;
        }
        self.lines += 1;
        if self.lines > LINES_MAX {
            if self.lines == LINES_MAX + 1 {
                self.line(&format!("{LINES_MAX} changes of workers: {WORKERS} is not written any further"));
            }
            return;
        }
        let (state, reason, job) = gist.clone();
        let line = WorkerLine {
            time: clock::now(),
            worker: presence.worker.clone(),
            cores: presence.cores.into(),
            state,
            reason,
            job,
            done: presence.answered,
            cpu_seconds: 0.0,
        };
        if let Err(error) = self.journal.append(&line) {
            self.trouble.get_or_insert(error.into());
        }
        self.known.insert(presence.worker.clone(), (gist, Instant::now()));
    }
}
