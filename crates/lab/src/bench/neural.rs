//! `lab bench neural`: what a network costs inside a playout, against the same network computed in full. Times are
//! CPU time of one thread, so that a busy machine does not change them much.

use super::check_seconds;
use crate::Verdict;
use crate::output::{self, number};
use crate::policy;
use crate::source::Instance;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use cpu_time::ThreadTime;
use serde_json::json;
use sortie_core::planes::{Layout, Scene};
use sortie_core::prior::{Guide, Prior, Reader, Trust};
use sortie_core::{AnyProblem, BestOf, Control, Limits, Sample, Search};
use sortie_neural::{Architecture, Net, NetPrior, NetSpec};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// `lab bench neural`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab bench neural                                  a random network for Morpion 5D, as in the paper
  lab bench neural samegame/1 --size 15 --net residual --filters 64 --depth 5
  lab bench neural morpion/5T --policy net.safetensors --json")]
#[command(allow_negative_numbers = true)]
pub struct BenchNeural {
    /// What to run on: domain/name
    #[arg(default_value = "morpion/5D")]
    pub instance: String,
    /// The network; none: a random one of the shape that follows
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How positions are shown [default: the richest there is]
    #[arg(long, value_name = "NAME")]
    pub rep: Option<String>,
    /// Columns and rows of the window
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub size: usize,
    /// The architecture: basic, residual or mobile
    #[arg(long, value_name = "NAME", default_value = "basic")]
    pub net: String,
    /// Channels between the layers
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub filters: usize,
    /// Layers before the head
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub depth: usize,
    /// Seconds to measure each of the three
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub seconds: f64,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Games whose positions are read again and again.
const GAMES: u64 = 20;

/// Runs the command.
pub fn run(args: &BenchNeural) -> Result<Verdict> {
    check_seconds(args.seconds)?;
    let instance = Instance::open(&args.instance)?;
    let problem = instance.problem()?;
    let layout = problem.layout().ok_or_else(|| anyhow!("{} cannot be shown to a network", instance.name))?;
    let net = net(args, &layout)?;
    let spec = net.spec().clone();
    let prior = |net: &Net| NetPrior::new(net.clone(), &layout).map_err(|message| anyhow!("{message}"));
    let quick = prior(&net)?.uncached();
    let dense = NetPrior::dense(net.clone(), &layout).map_err(|message| anyhow!("{message}"))?;
    let scenes = scenes(problem, prior(&net)?, args.seed)?;
    let states = scenes.len();
    if states == 0 {
        bail!("{}: its games have no moves", instance.name);
    }
    let moves = scenes.iter().map(|scene| scene.outputs.len()).sum::<usize>() as f64 / states as f64;

    let kernel = read_again(&mut *quick.reader(), &scenes, args.seconds);
    let in_full = read_again(&mut *dense.reader(), &scenes, args.seconds);
    let playouts = in_playouts(problem, prior(&net)?.uncached(), args);
    let disagreement = disagreement(&mut *quick.reader(), &mut *dense.reader(), &scenes);
    let micro = |seconds: f64| number((seconds * 1e8).round() / 100.0);
    if args.json {
        output::print_json(&json!({
            "instance": instance.name,
            "net": spec,
            "kernel": quick.is_quick(),
            "moves_per_state": number((moves * 100.0).round() / 100.0),
            "microseconds_per_state": micro(kernel),
            "microseconds_per_state_in_playouts": micro(playouts),
            "microseconds_per_state_dense": micro(in_full),
            "disagreement": disagreement,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
        return Ok(Verdict::Done);
    }
    let how = if quick.is_quick() { "" } else { " (this architecture has no kernel)" };
    output::print(&format!(
        "{}  {} {}, {} filters, depth {}, size {}\n\
         states    {states} of {GAMES} games, {moves:.1} moves each\n\
         kernel    {:.1} us a state{how}\n\
         playouts  {:.1} us a state, with rules, features and drawing\n\
         dense     {:.1} us a state: {:.0} times the kernel\n\
         agreement {disagreement:.1e} at most between any two logits\n",
        instance.name,
        spec.representation,
        spec.architecture.name(),
        spec.filters,
        spec.depth,
        spec.size,
        1e6 * kernel,
        1e6 * playouts,
        1e6 * in_full,
        in_full / kernel,
    ))?;
    Ok(Verdict::Done)
}

/// The network of the file, or a random one.
fn net(args: &BenchNeural, layout: &Layout) -> Result<Net> {
    if let Some(path) = &args.policy {
        let bytes = policy::read(path).map_err(|message| anyhow!("{}: {message}", path.display()))?;
        return Net::from_bytes(&bytes).with_context(|| path.display().to_string());
    }
    let names: Vec<&str> = layout.representations.iter().map(|representation| representation.name).collect();
    let name = args.rep.as_deref().unwrap_or(names[names.len() - 1]);
    let mut spec = NetSpec::for_layout(layout, name, args.size)
        .ok_or_else(|| anyhow!("--rep {name}: expected {}", names.join(" or ")))?;
    spec.architecture = match args.net.as_str() {
        "basic" => Architecture::Basic,
        "residual" => Architecture::Residual,
        "mobile" => Architecture::Mobile,
        other => bail!("--net {other}: expected basic, residual or mobile"),
    };
    (spec.filters, spec.depth) = (args.filters, args.depth);
    Ok(Net::random(spec, args.seed)?)
}

/// The positions of games that the network plays by itself.
fn scenes(problem: &dyn AnyProblem, prior: NetPrior, seed: u64) -> Result<Vec<Scene>> {
    let (representation, size) = (prior.representation(), prior.size());
    let guide = Guide { prior: Arc::new(prior), trust: Trust::default() };
    let mut scenes = Vec::new();
    for game in 0..GAMES {
        let limits = Limits { playouts: Some(1), ..Limits::default() };
        let stop = AtomicBool::new(false);
        let mut control = Control::new(limits, &stop, &|_| {});
        control.guide = Some(guide.clone());
        let spec =
            BestOf { search: Search::Sample(Sample::default()), seed: seed + game, streams: 1, threads: 1 };
        let best = problem.solve(&spec, &control, Vec::new()).best.context("no playout")?;
        let lessons = problem.lessons(&best.moves, representation, size)?;
        scenes.extend(lessons.into_iter().map(|lesson| lesson.scene));
    }
    Ok(scenes)
}

/// CPU seconds a scene, the least of several passes over as many scenes as the time allows.
fn read_again(reader: &mut dyn Reader, scenes: &[Scene], seconds: f64) -> f64 {
    let (started, mut least, mut logits) = (ThreadTime::now(), f64::INFINITY, Vec::new());
    while started.elapsed().as_secs_f64() < seconds {
        let (begun, mut read) = (ThreadTime::now(), 0);
        for scene in scenes {
            reader.read(scene, &mut logits);
            read += 1;
            // One pass of a slow network may take longer than all the time there is.
            if read % 16 == 0 && started.elapsed().as_secs_f64() > 2.0 * seconds {
                break;
            }
        }
        least = least.min(begun.elapsed().as_secs_f64() / read as f64);
    }
    least
}

/// The largest difference between the logits of two readers, on a few of the scenes.
fn disagreement(one: &mut dyn Reader, other: &mut dyn Reader, scenes: &[Scene]) -> f64 {
    let (mut a, mut b, mut largest) = (Vec::new(), Vec::new(), 0f32);
    for (i, scene) in scenes.iter().enumerate() {
        one.read(scene, &mut a);
        if i % (1 + scenes.len() / 50) == 0 {
            other.read(scene, &mut b);
            largest = a.iter().zip(&b).fold(largest, |most, (a, b)| most.max((a - b).abs()));
        }
    }
    largest as f64
}

/// CPU seconds a state of whole playouts, all that is not the network included.
fn in_playouts(problem: &dyn AnyProblem, prior: NetPrior, args: &BenchNeural) -> f64 {
    let asked = Arc::new(AtomicU64::new(0));
    let counting = Counting { prior, asked: asked.clone() };
    let limits = Limits { seconds: Some(args.seconds), ..Limits::default() };
    let stop = AtomicBool::new(false);
    let mut control = Control::new(limits, &stop, &|_| {});
    control.guide = Some(Guide { prior: Arc::new(counting), trust: Trust::default() });
    let spec = BestOf { search: Search::Sample(Sample::default()), seed: args.seed, streams: 1, threads: 1 };
    let started = ThreadTime::now();
    problem.solve(&spec, &control, Vec::new());
    started.elapsed().as_secs_f64() / asked.load(Ordering::Relaxed).max(1) as f64
}

/// A prior that counts what it is asked.
struct Counting {
    prior: NetPrior,
    asked: Arc<AtomicU64>,
}

struct CountingReader {
    reader: Box<dyn Reader>,
    asked: Arc<AtomicU64>,
}

impl Prior for Counting {
    fn representation(&self) -> usize {
        self.prior.representation()
    }

    fn size(&self) -> usize {
        self.prior.size()
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(CountingReader { reader: self.prior.reader(), asked: self.asked.clone() })
    }
}

impl Reader for CountingReader {
    fn read(&mut self, scene: &Scene, logits: &mut Vec<f32>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.reader.read(scene, logits);
    }
}
