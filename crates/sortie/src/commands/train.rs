//! `sortie train`: a network learns the moves of games. The folder holds what was asked for, a checkpoint, the network
//! as it is after every epoch, and how well it foresaw the moves, as data and as pictures.

use super::data::{Set, layout};
use crate::args::WorkArgs;
use crate::contest::{claim, processors, read_request, say_stopped};
use crate::folder::{Folder, write_whole};
use crate::journal;
use crate::output::{self, count};
use crate::progress::Progress;
use crate::source::Instance;
use crate::{Verdict, duration, session};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use sortie_neural::data::{HeldOut, HeldOutBy, Order, Showing, Split};
use sortie_neural::train::{Guesses, Marks, Settings, Snapshot, Trainer, engine};
use sortie_neural::{Architecture, Net, NetSpec, Scale};
use sortie_runs::chart::{Chart, Point, Series};
use sortie_runs::kind::{CURVE, TRAIN};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The network after the last epoch.
pub const NET: &str = "net.safetensors";
const CHECKPOINT: &str = "checkpoint";
const FORMAT: u32 = 1;
/// The first line of a checkpoint.
const MAGIC: &[u8] = b"sortie training 1\n";
/// A crash loses no more than this, in seconds.
const CHECKPOINT_EVERY: f64 = 10.0;

/// `sortie train`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie train data/5D --net residual --rep r2 --out nets/r2
  sortie train data/5D data/more --rep r1 --epochs 20 --lr 0.01 --decay 0.1 --decay-every 10
The games of all folders are taken together, each once; one in ten is held out for the test, always the same ones.
Stopped or killed, `sortie resume DIR` goes on from the last checkpoint, to the same network.")]
pub struct Train {
    /// Folders of `sortie data`
    #[arg(required = true, value_name = "DATA")]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub how: HowArgs,
    /// Begin with the weights of this network, and its architecture
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub work: WorkArgs,
    /// How often the state of the training is saved
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10s", hide = true)]
    pub checkpoint_every: f64,
}

/// How a session of a training works.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Threads.
    pub threads: u32,
    /// No progress.
    pub quiet: bool,
    /// A crash loses no more than this, in seconds.
    pub checkpoint_every: f64,
}

impl Pace {
    /// The usual one.
    pub fn new(threads: u32, quiet: bool) -> Pace {
        Pace { threads, quiet, checkpoint_every: CHECKPOINT_EVERY }
    }
}

/// Which network, and how it is trained.
#[derive(Debug, Clone, Args)]
pub struct HowArgs {
    /// The architecture: basic, residual or mobile
    #[arg(long, value_name = "NAME", default_value = "residual")]
    pub net: String,
    /// What the network is shown: r1 or r2 for Morpion [default: the last that the domain has]
    #[arg(long, value_name = "NAME")]
    pub rep: Option<String>,
    /// Columns and rows of the window that moves with the game
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(4..=64))]
    pub window: u32,
    /// Channels of every layer
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub filters: u32,
    /// Layers before the head
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub depth: u32,
    /// A value head: the network also learns to guess, from any position, the score that the game ended with
    #[arg(long)]
    pub value: bool,
    /// Times that all positions are seen
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub epochs: u32,
    /// Positions a step
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub batch: u32,
    /// The size of the first steps of Adam
    #[arg(long, value_name = "X", default_value_t = 0.003)]
    pub lr: f64,
    /// What the steps are multiplied by every so many epochs
    #[arg(long, value_name = "X", default_value_t = 0.3)]
    pub decay: f64,
    /// Epochs between two decays [default: a quarter of all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub decay_every: Option<u32>,
    /// Show every position as it was played, not under a random symmetry of the board
    #[arg(long)]
    pub no_augment: bool,
    /// The order in which the moves of a game are learnt: played, or newest, which always goes on with what became
    /// possible last
    #[arg(long, value_name = "NAME", default_value = "played")]
    pub order: String,
    /// Seed of the first weights and of the order of the positions
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Share of the games that is held out for the test
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub held_out: f64,
    /// Which of them together: game, each by itself, or search, all that one search has found
    #[arg(long, value_name = "NAME", default_value = "game")]
    pub held_out_by: String,
    /// Who computes: native, or the framework burn, in builds that have it: burn-cpu, burn-wgpu, burn-cuda
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub device: String,
}

/// What a training was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The version of the folder's format.
    pub format: u32,
    /// Folders of games.
    pub data: Vec<PathBuf>,
    /// The weights to begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// Games held out, of a thousand.
    pub held_out_thousandths: u64,
    /// Which of them together.
    #[serde(default)]
    pub held_out_by: HeldOutBy,
    /// The order of the moves.
    #[serde(default)]
    pub order: Order,
    /// Who computes.
    pub device: String,
    /// The network.
    pub net: NetSpec,
    /// How it is trained.
    pub settings: Settings,
}

impl Default for HowArgs {
    /// What the command line has if nothing is said.
    fn default() -> Self {
        HowArgs {
            net: "residual".into(),
            rep: None,
            window: 20,
            filters: 32,
            depth: 3,
            value: false,
            epochs: 12,
            batch: 64,
            lr: 0.003,
            decay: 0.3,
            decay_every: None,
            no_augment: false,
            order: "played".into(),
            seed: 1,
            held_out: 0.1,
            held_out_by: "game".into(),
            device: "native".into(),
        }
    }
}

impl HowArgs {
    /// The network and the settings that these ask for, on a domain.
    pub fn build(&self, instance: &Instance) -> Result<(NetSpec, Settings)> {
        let layout = layout(instance)?;
        let names: Vec<&str> = layout.representations.iter().map(|r| r.name).collect();
        let rep = self.rep.as_deref().or(names.last().copied()).unwrap_or_default();
        let spec = NetSpec::for_layout(&layout, rep, self.window as usize);
        let spec = spec
            .ok_or_else(|| anyhow!("there is no representation '{rep}': expected {}", names.join(" or ")))?;
        let known = [Architecture::Basic, Architecture::Residual, Architecture::Mobile];
        let architecture = known.into_iter().find(|known| known.name() == self.net);
        let architecture = architecture.ok_or_else(|| {
            anyhow!("there is no network '{}': expected basic, residual or mobile", self.net)
        })?;
        for (name, value, max) in [("lr", self.lr, 1.0), ("decay", self.decay, 1.0)] {
            if !(value > 0.0 && value <= max) {
                bail!("--{name} {value}: expected a number above 0 and up to {max}");
            }
        }
        let (filters, depth) = (self.filters as usize, self.depth as usize);
        let spec = NetSpec { architecture, filters, depth, value: self.value, ..spec };
        spec.check().map_err(|message| anyhow!(message))?;
        let settings = Settings {
            epochs: self.epochs,
            batch: self.batch,
            lr: self.lr,
            decay: self.decay,
            decay_every: self.decay_every.unwrap_or_else(|| self.epochs.div_ceil(4)),
            augment: !self.no_augment,
            seed: self.seed,
        };
        Ok((spec, settings))
    }

    /// The request to train on these folders.
    pub fn request(&self, instance: &Instance, data: Vec<PathBuf>, from: Option<PathBuf>) -> Result<Request> {
        if !(0.0..0.9).contains(&self.held_out) {
            bail!("--held-out {}: expected a share from 0 to 0.9", self.held_out);
        }
        let (mut net, settings) = self.build(instance)?;
        if let Some(from) = &from {
            net = read_net(from)?.spec().clone();
            net.value |= self.value;
        }
        engine(&self.device)?;
        let order = Order::named(&self.order)
            .ok_or_else(|| anyhow!("there is no order '{}': expected played or newest", self.order))?;
        let held_out_by = HeldOutBy::named(&self.held_out_by)
            .ok_or_else(|| anyhow!("--held-out-by {}: expected game or search", self.held_out_by))?;
        Ok(Request {
            format: FORMAT,
            data,
            from,
            held_out_thousandths: (self.held_out * 1000.0).round() as u64,
            held_out_by,
            order,
            device: self.device.clone(),
            net,
            settings,
        })
    }
}

/// How an epoch went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: u32,
    /// Of the positions learnt from, as they came.
    pub train: Marks,
    /// Of the held-out games, afterwards.
    pub test: Marks,
    /// How far off a value head was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_error: Option<ScoreError>,
    /// The size of its steps.
    pub lr: f64,
    /// Wall time of it.
    pub seconds: f64,
}

/// How far the guesses of the score were off: the root of the mean square over positions, in points. Beside each what
/// it would have been had the guess always been the mean score of these positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreError {
    /// Of the positions learnt from, as they came.
    pub train: f64,
    /// By guessing the mean.
    pub train_mean: f64,
    /// Of the held-out games, afterwards.
    pub test: f64,
    /// By guessing the mean.
    pub test_mean: f64,
}

impl ScoreError {
    fn of(scale: Scale, train: &Marks, test: &Marks) -> Option<ScoreError> {
        let (train, train_mean) = points(scale, train.guesses?);
        // No game may be held out.
        let (test, test_mean) = points(scale, test.guesses.unwrap_or_default());
        Some(ScoreError { train, train_mean, test, test_mean })
    }
}

/// The error of guesses and that of guessing their mean, in points.
fn points(scale: Scale, guesses: Guesses) -> (f64, f64) {
    let (error, mean) = guesses.errors();
    (scale.deviation * error, scale.deviation * mean)
}

/// Runs the command.
pub fn run(args: &Train) -> Result<Verdict> {
    let (first, _) = Set::read(&args.data[0])?;
    let request =
        args.how.request(&Instance::open(&first.instance)?, args.data.clone(), args.from.clone())?;
    let path = args.work.folder("train", &first.instance);
    let threads = args.work.threads.unwrap_or_else(processors);
    let pace = Pace { checkpoint_every: args.checkpoint_every, ..Pace::new(threads, args.work.report.quiet) };
    begin(&path, &request, pace, args.work.report.json)
}

/// Goes on with the training in a folder.
pub fn resume(path: &Path, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    let pace = Pace::new(threads.unwrap_or_else(processors), quiet);
    begin(path, &read_request(path, TRAIN)?, pace, json)
}

fn begin(path: &Path, request: &Request, pace: Pace, json: bool) -> Result<Verdict> {
    let stop = session::stop_on_signals()?;
    let Some(epochs) = train(path, request, pace, &stop)? else {
        say_stopped(path);
        return Ok(Verdict::Done);
    };
    let last = epochs.last().ok_or_else(|| anyhow!("{}: no epoch was trained", path.display()))?;
    if json {
        output::print_json(&serde_json::json!({
            "folder": output::path(path), "net": output::path(&path.join(NET)), "epochs": epochs,
        }))?;
    } else {
        output::print(&line(last))?;
        output::print(&format!("in {}: {NET}, {CURVE}, loss.svg, accuracy.svg", path.display()))?;
    }
    Ok(Verdict::Done)
}

/// Trains until all epochs are done. `None` if somebody asked to stop before.
pub fn train(path: &Path, request: &Request, pace: Pace, stop: &AtomicBool) -> Result<Option<Vec<Epoch>>> {
    if request.format != FORMAT {
        bail!("{}: format {}: expected {FORMAT}", path.join(TRAIN).display(), request.format);
    }
    let engine = engine(&request.device)?;
    let mut games = Vec::new();
    let mut instance = None;
    for folder in &request.data {
        let (data, more) = Set::read(folder)?;
        if *instance.get_or_insert_with(|| data.instance.clone()) != data.instance {
            bail!(
                "{}: games of {}: expected {}",
                folder.display(),
                data.instance,
                instance.unwrap_or_default()
            );
        }
        games.extend(more);
    }
    let instance = Instance::open(&instance.ok_or_else(|| anyhow!("no games to learn from"))?)?;
    let layout = layout(&instance)?;
    let representation = request.net.fits(&layout).map_err(|message| anyhow!("the network: {message}"))?;
    let showing = Showing { representation, size: request.net.size, order: request.order };
    let held_out = HeldOut { thousandths: request.held_out_thousandths, by: request.held_out_by };
    let split = Split::new(instance.problem()?, &layout, showing, games.iter(), held_out)?;
    if split.train.is_empty() {
        bail!("no games to learn from: expected some that are not held out");
    }
    let folder = claim(path, TRAIN, request, "training")?;
    let identity = format!("{} {} {:?}", split.train.len(), split.test.len(), split.games);
    let mut trainer = match read_checkpoint(&folder, &identity)? {
        Some(snapshot) => Trainer::resume(&snapshot, request.settings.clone())?,
        None => {
            let net = first_net(request, Scale::of(&split.train_scores))?;
            Trainer::new(&net, request.settings.clone())
        }
    };
    let mut epochs: Vec<Epoch> = journal::read(&path.join(CURVE))?;
    // An epoch is in the curve before it is in the checkpoint.
    epochs.truncate(trainer.epoch() as usize);
    let mut progress = Progress::new(pace.quiet, 0.0);
    if !pace.quiet && !trainer.finished() {
        progress.line(&format!(
            "{} games, {} positions to learn from; {} games, {} positions to test with",
            count(split.games.0 as u64),
            count(split.train.len() as u64),
            count(split.games.1 as u64),
            count(split.test.len() as u64),
        ));
    }
    let (begun, threads) = (Instant::now(), pace.threads.max(1) as usize);
    let mut saved = Instant::now();
    while !trainer.finished() {
        let (lr, epoch_begun) = (trainer.lr(), Instant::now());
        let mut trouble = None;
        let marks = trainer.train(&*engine, &layout, &split.train, threads, |trainer, done, all, marks| {
            progress.show(begun.elapsed().as_secs_f64(), || {
                let (loss, top1, top3) = marks.means();
                let rate = done as f64 / epoch_begun.elapsed().as_secs_f64().max(1e-9);
                let score = marks.guesses.map_or(String::new(), |guesses| {
                    let (error, mean) = points(trainer.spec().scale(), guesses);
                    format!("  score off by {error:.2} (mean {mean:.2})")
                });
                format!(
                    "epoch {}/{}  {:3.0} %  loss {loss:.3}  top-1 {:.1} %  top-3 {:.1} %{score}  {rate:.0} positions/s",
                    trainer.epoch() + 1,
                    request.settings.epochs,
                    100.0 * done as f64 / all as f64,
                    100.0 * top1,
                    100.0 * top3,
                )
            });
            if saved.elapsed().as_secs_f64() >= pace.checkpoint_every {
                saved = Instant::now();
                trouble = write_checkpoint(&folder, trainer, &identity).err();
            }
            trouble.is_none() && !stop.load(Ordering::Relaxed)
        })?;
        if let Some(trouble) = trouble {
            return Err(trouble);
        }
        let Some(marks) = marks else {
            progress.clear();
            write_checkpoint(&folder, &trainer, &identity)?;
            return Ok(None);
        };
        let test = trainer.test(&*engine, &layout, &split.test, threads)?;
        let seconds = epoch_begun.elapsed().as_secs_f64();
        let score_error = ScoreError::of(trainer.spec().scale(), &marks, &test);
        let epoch = Epoch { epoch: trainer.epoch(), train: marks, test, score_error, lr, seconds };
        if !pace.quiet {
            progress.line(&line(&epoch));
        }
        epochs.push(epoch);
        publish(&folder, &trainer, &epochs)?;
        write_checkpoint(&folder, &trainer, &identity)?;
    }
    progress.clear();
    Ok(Some(epochs))
}

/// The network to begin with. If it is to learn scores, they are of this scale, unless it has learnt others before.
fn first_net(request: &Request, scale: Scale) -> Result<Net> {
    let expected = &request.net;
    let mut net = match &request.from {
        Some(from) => read_net(from)?,
        None => Net::random(expected.clone(), request.settings.seed)?,
    };
    if expected.value {
        net = net.with_value(scale);
    }
    match &request.from {
        Some(from) if NetSpec { scale: expected.scale, ..net.spec().clone() } != *expected => {
            bail!("{}: the network has changed since this training began", from.display())
        }
        _ => Ok(net),
    }
}

/// Reads a network.
pub fn read_net(path: &Path) -> Result<Net> {
    let size = std::fs::metadata(path).map(|meta| meta.len());
    let bytes = match size {
        Ok(size) if size > sortie_neural::BYTES_MAX => bail!("{}: larger than any network", path.display()),
        _ => std::fs::read(path).map_err(|e| anyhow!("{}: {}", path.display(), crate::source::plain(&e)))?,
    };
    Net::from_bytes(&bytes).with_context(|| path.display().to_string())
}

/// Network, curve and pictures after an epoch.
fn publish(folder: &Folder, trainer: &Trainer, epochs: &[Epoch]) -> Result<()> {
    let write = |name: &str, bytes: &[u8]| {
        folder
            .write(name, bytes)
            .with_context(|| format!("cannot write {}", folder.path.join(name).display()))
    };
    write(NET, &trainer.net()?.to_bytes())?;
    let mut text = String::new();
    for epoch in epochs {
        text += &(serde_json::to_string(epoch)? + "\n");
    }
    write(CURVE, text.as_bytes())?;
    let series = |name: &str, of: &dyn Fn(&Epoch) -> f64| Series {
        name: name.into(),
        points: epochs.iter().map(|e| Point { x: e.epoch as f64, mean: of(e), half: 0.0 }).collect(),
    };
    let chart = |title: &str, y_label: &str, series| Chart {
        title: title.into(),
        x_label: "epochs".into(),
        y_label: y_label.into(),
        series,
        ..Chart::default()
    };
    let loss = chart(
        "Loss",
        "cross entropy",
        vec![series("training", &|e| e.train.means().0), series("held out", &|e| e.test.means().0)],
    );
    let accuracy = chart(
        "Accuracy on held-out games",
        "moves foreseen, %",
        vec![series("top 1", &|e| 100.0 * e.test.means().1), series("top 3", &|e| 100.0 * e.test.means().2)],
    );
    write("loss.svg", loss.draw().svg().as_bytes())?;
    write("accuracy.svg", accuracy.draw().svg().as_bytes())
}

fn line(epoch: &Epoch) -> String {
    let ((loss, _, _), (test, top1, top3)) = (epoch.train.means(), epoch.test.means());
    let score = epoch.score_error.map_or(String::new(), |error| {
        format!(
            ", score off by {:.2} (mean {:.2}), held out {:.2} (mean {:.2})",
            error.train, error.train_mean, error.test, error.test_mean
        )
    });
    format!(
        "epoch {:3}: loss {loss:.3}, held out {test:.3}, top-1 {:.1} %, top-3 {:.1} %{score}, {:.0} positions/s",
        epoch.epoch,
        100.0 * top1,
        100.0 * top3,
        epoch.train.positions as f64 / epoch.seconds.max(1e-9),
    )
}

/// A checkpoint with what it belongs to. Behind it come the `Guesses` of the epoch under way, if there are any.
#[derive(Serialize, Deserialize)]
struct Saved {
    identity: String,
    snapshot: Snapshot,
}

fn write_checkpoint(folder: &Folder, trainer: &Trainer, identity: &str) -> Result<()> {
    let saved = Saved { identity: identity.to_string(), snapshot: trainer.snapshot()? };
    let mut body = postcard::to_stdvec(&saved).context("plain data always serialises")?;
    if let Some(guesses) = saved.snapshot.marks.guesses {
        body.extend(postcard::to_stdvec(&guesses).context("plain data always serialises")?);
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
    let path = folder.path.join(CHECKPOINT);
    write_whole(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn read_checkpoint(folder: &Folder, identity: &str) -> Result<Option<Snapshot>> {
    let path = folder.path.join(CHECKPOINT);
    if !path.exists() {
        return Ok(None);
    }
    let bytes =
        std::fs::read(&path).map_err(|e| anyhow!("{}: {}", path.display(), crate::source::plain(&e)))?;
    let body = bytes.strip_prefix(MAGIC).and_then(|rest| rest.split_first_chunk::<4>());
    let whole = body.filter(|(sum, body)| crc32fast::hash(body) == u32::from_le_bytes(**sum));
    let saved = whole.and_then(|(_, body)| {
        let (mut saved, rest) = postcard::take_from_bytes::<Saved>(body).ok()?;
        if !rest.is_empty() {
            saved.snapshot.marks.guesses = Some(postcard::from_bytes(rest).ok()?);
        }
        Some(saved)
    });
    let saved = saved.ok_or_else(|| anyhow!("{}: damaged or of another version", path.display()))?;
    if saved.identity != identity {
        let (found, path) = (saved.identity, path.display());
        bail!(
            "{path}: the games have changed since: expected {found} (positions and games), found {identity}"
        );
    }
    Ok(Some(saved.snapshot))
}
