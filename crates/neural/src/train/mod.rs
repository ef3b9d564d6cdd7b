//! Learning to play the moves of given games (Doux, Negrevergne and Cazenave 2021, section 3).
//!
//! Read `batch` (what a position costs), `engine` (the loss), `native` (the gradient, without a framework), `burn` (the
//! same with one, for GPUs; a feature of the build) and here
//! the loop: shuffled positions, each under a random symmetry of
//! the board, Adam (Kingma and Ba 2015) with a step that decays.
//!
//! With the native engine everything is the same at any number of threads, and after any number of interruptions: a
//! batch is cut into shards of a fixed size whose gradients are added up in order.

mod batch;
#[cfg(feature = "burn")]
mod burn;
mod engine;
mod native;
mod params;

pub use batch::{Batch, Builder};
#[cfg(feature = "burn")]
pub use burn::Burn;
pub use engine::{Engine, EngineError, Guesses, Marks, Said, VALUE_WEIGHT, engine};
pub use native::Native;
pub use params::Params;

use crate::data::Example;
use crate::net::{Net, NetError};
use crate::spec::NetSpec;
use serde::{Deserialize, Serialize};
use sortie_core::Rng;
use sortie_core::planes::{Layout, Lesson, Scene};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A test gives an engine no more positions at once than this.
const TEST_MAX: usize = 256;
/// Adam's memory of the slope and of its square, and what keeps it from dividing by zero.
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// How to train.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Times that all positions are seen.
    pub epochs: u32,
    /// Positions a step.
    pub batch: u32,
    /// The size of a step, at first.
    pub lr: f64,
    /// The step is multiplied by this ...
    pub decay: f64,
    /// ... every so many epochs.
    pub decay_every: u32,
    /// Whether each position is shown under a random symmetry of the board.
    pub augment: bool,
    /// The seed of the first weights, the order of the positions and their symmetries.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { epochs: 12, batch: 64, lr: 0.003, decay: 0.3, decay_every: 3, augment: true, seed: 1 }
    }
}

/// A network that is being trained: all that is needed to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trainer {
    spec: NetSpec,
    settings: Settings,
    params: Params,
    /// Adam's means of the slopes and of their squares.
    first: Params,
    second: Params,
    /// Steps made, in all.
    steps: u64,
    /// Epochs finished.
    epoch: u32,
    /// Positions of this epoch that have been seen, and how well they were foreseen.
    position: usize,
    marks: Marks,
}

/// A trainer as plain data: networks as files, everything else as numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The weights.
    pub net: Vec<u8>,
    /// Adam's means of the slopes, in the same form.
    pub first: Vec<u8>,
    /// Adam's means of their squares.
    pub second: Vec<u8>,
    /// Steps made, in all.
    pub steps: u64,
    /// Epochs finished.
    pub epoch: u32,
    /// Positions of this epoch that have been seen.
    pub position: u64,
    /// How well they were foreseen.
    pub marks: Marks,
}

impl Trainer {
    /// Begins with these weights.
    pub fn new(net: &Net, settings: Settings) -> Trainer {
        let params = Params::of(net);
        let zeros = params.zeros();
        Trainer {
            spec: net.spec().clone(),
            settings,
            first: zeros.clone(),
            second: zeros,
            params,
            steps: 0,
            epoch: 0,
            position: 0,
            marks: Marks::default(),
        }
    }

    /// Everything, as plain data.
    pub fn snapshot(&self) -> Result<Snapshot, NetError> {
        let bytes = |params: &Params| params.net(&self.spec).map(|net| net.to_bytes());
        Ok(Snapshot {
            net: bytes(&self.params)?,
            first: bytes(&self.first)?,
            second: bytes(&self.second)?,
            steps: self.steps,
            epoch: self.epoch,
            position: self.position as u64,
            marks: self.marks,
        })
    }

    /// The trainer that a snapshot was taken of.
    pub fn resume(snapshot: &Snapshot, settings: Settings) -> Result<Trainer, NetError> {
        let net = Net::from_bytes(&snapshot.net)?;
        let params = |bytes: &[u8]| Net::from_bytes(bytes).map(|net| Params::of(&net));
        Ok(Trainer {
            spec: net.spec().clone(),
            settings,
            params: Params::of(&net),
            first: params(&snapshot.first)?,
            second: params(&snapshot.second)?,
            steps: snapshot.steps,
            epoch: snapshot.epoch,
            position: snapshot.position as usize,
            marks: snapshot.marks,
        })
    }

    /// The network as it is now.
    pub fn net(&self) -> Result<Net, NetError> {
        self.params.net(&self.spec)
    }

    /// What it is that is being trained.
    pub fn spec(&self) -> &NetSpec {
        &self.spec
    }

    /// Epochs finished.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether all epochs are finished.
    pub fn finished(&self) -> bool {
        self.epoch >= self.settings.epochs
    }

    /// The size of the steps of this epoch.
    pub fn lr(&self) -> f64 {
        let times = self.epoch / self.settings.decay_every.max(1);
        self.settings.lr * self.settings.decay.powi(times as i32)
    }

    /// Goes on with this epoch until it ends, and gives its marks: how well moves were foreseen just before they were
    /// learnt. `tell` hears of every step (positions seen, positions in all, marks so far); if it says no, the epoch
    /// stops there and `None` comes back.
    pub fn train(
        &mut self,
        engine: &dyn Engine,
        layout: &Layout,
        lessons: &[Example],
        threads: usize,
        mut tell: impl FnMut(&Trainer, usize, usize, Marks) -> bool,
    ) -> Result<Option<Marks>, EngineError> {
        let order = self.order(lessons.len(), layout.symmetries());
        while self.position < order.len() {
            let end = (self.position + self.settings.batch.max(1) as usize).min(order.len());
            let (gradient, marks) = gradient(
                engine,
                &self.spec,
                &self.params,
                layout,
                lessons,
                &order[self.position..end],
                threads,
            )?;
            self.step(&gradient);
            self.marks.add(marks);
            self.position = end;
            if !tell(self, self.position, order.len(), self.marks) && self.position < order.len() {
                return Ok(None);
            }
        }
        self.epoch += 1;
        self.position = 0;
        Ok(Some(std::mem::take(&mut self.marks)))
    }

    /// How well moves are foreseen.
    pub fn test(
        &self,
        engine: &dyn Engine,
        layout: &Layout,
        lessons: &[Example],
        threads: usize,
    ) -> Result<Marks, EngineError> {
        let order: Vec<(u32, u8)> = (0..lessons.len() as u32).map(|i| (i, 0)).collect();
        let mut marks = Marks::default();
        let most = engine.positions_max().min(TEST_MAX);
        for (_, more) in shards(layout, &self.spec, lessons, &order, (most, threads), |batch| {
            Ok(((), Marks::of(batch, &engine.say(&self.spec, &self.params, batch)?)))
        })? {
            marks.add(more);
        }
        Ok(marks)
    }

    /// The positions of this epoch in their order, each with its symmetry.
    fn order(&self, positions: usize, symmetries: usize) -> Vec<(u32, u8)> {
        // Stream 0 drew the first weights.
        let mut rng = Rng::new(self.settings.seed, 1 + self.epoch as u64);
        let mut order: Vec<(u32, u8)> = (0..positions as u32).map(|i| (i, 0)).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
        if self.settings.augment {
            order.iter_mut().for_each(|(_, symmetry)| *symmetry = rng.below(symmetries) as u8);
        }
        order
    }

    /// One step of Adam.
    fn step(&mut self, gradient: &Params) {
        self.steps += 1;
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let (scale1, scale2) = (1.0 - BETA1.powi(steps), 1.0 - BETA2.powi(steps));
        let (lr, epsilon) = ((self.lr() * scale2.sqrt() / scale1) as f32, (EPSILON * scale2.sqrt()) as f32);
        let means = self.first.tensors.iter_mut().zip(&mut self.second.tensors);
        for ((params, slopes), (first, second)) in
            self.params.tensors.iter_mut().zip(&gradient.tensors).zip(means)
        {
            for (((p, &g), m), v) in params.iter_mut().zip(slopes).zip(first).zip(second) {
                *m += (1.0 - BETA1) as f32 * (g - *m);
                *v += (1.0 - BETA2) as f32 * (g * g - *v);
                *p -= lr * *m / (v.sqrt() + epsilon);
            }
        }
    }
}

/// The gradient of some positions, the mean over them.
fn gradient(
    engine: &dyn Engine,
    spec: &NetSpec,
    params: &Params,
    layout: &Layout,
    lessons: &[Example],
    order: &[(u32, u8)],
    threads: usize,
) -> Result<(Params, Marks), EngineError> {
    let share = 1.0 / order.len() as f32;
    let parts = shards(layout, spec, lessons, order, (engine.positions_max(), threads), |batch| {
        let mut gradient = params.zeros();
        let said = engine.gradient(spec, params, batch, share, &mut gradient)?;
        Ok((gradient, Marks::of(batch, &said)))
    })?;
    let mut parts = parts.into_iter();
    let (mut sum, mut marks) = parts.next().expect("at least one position");
    for (gradient, more) in parts {
        sum.add(&gradient);
        marks.add(more);
    }
    Ok((sum, marks))
}

/// Cuts positions into shards of so many and works on each, on several threads; the answers in the order of the shards.
fn shards<T: Send>(
    layout: &Layout,
    spec: &NetSpec,
    lessons: &[Example],
    order: &[(u32, u8)],
    (positions_max, threads): (usize, usize),
    work: impl Fn(&Batch) -> Result<T, EngineError> + Sync,
) -> Result<Vec<T>, EngineError> {
    let representation = spec.fits(layout).expect("checked by whoever made the network");
    let scale = spec.scale();
    let pieces: Vec<&[(u32, u8)]> = order.chunks(positions_max.max(1)).collect();
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::with_capacity(pieces.len()));
    let worker = || {
        let (mut builder, mut scene) = (Builder::new(spec), Scene::default());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(number) else { return };
            let mut batch = builder.begin();
            for &(lesson, symmetry) in *piece {
                let Example { lesson: Lesson { scene: upright, played }, score } = &lessons[lesson as usize];
                scene.clone_from(upright);
                if symmetry != 0 {
                    scene.turn(layout, representation, spec.size, symmetry as usize);
                }
                builder.add(&mut batch, &scene, *played, scale.value(*score));
            }
            let answer = work(&batch);
            answers.lock().expect("no panic while held").push((number, answer));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(pieces.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut answers = answers.into_inner().expect("no panic while held");
    answers.sort_by_key(|&(number, _)| number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::dense::forward;
    use crate::spec::{Architecture, FORMAT, Scale};
    use sortie_core::AnyProblem;
    use sortie_core::Opened;
    use sortie_domains::open;

    pub const ALL: [Architecture; 3] = [Architecture::Basic, Architecture::Residual, Architecture::Mobile];

    /// A network of two planes in and out, on a window of 6 x 6.
    pub fn tiny(architecture: Architecture) -> NetSpec {
        NetSpec {
            format: FORMAT,
            domain: "tiny".into(),
            representation: "r1".into(),
            inputs: 2,
            outputs: 2,
            size: 6,
            architecture,
            filters: 3,
            depth: 3,
            value: false,
            about: String::new(),
            scale: None,
        }
    }

    pub fn morpion() -> Box<dyn AnyProblem> {
        match open("morpion/5D", &|_| Err("no files".into())) {
            Ok(Opened::Problem(problem)) => problem,
            _ => panic!("morpion is a problem"),
        }
    }

    /// The record game, which is all there is to learn here.
    fn lessons(problem: &dyn AnyProblem, spec: &NetSpec) -> Vec<Example> {
        let record = sortie_domains::record("morpion-5D-82").expect("a shipped record");
        let words: Vec<String> =
            record.split_once("\n\n").expect("a blank line").1.split_whitespace().map(String::from).collect();
        let layout = problem.layout().expect("learnable");
        let representation = layout.representation(&spec.representation).expect("a representation");
        let lessons = problem.lessons(&words, representation, spec.size).expect("a legal game");
        // Scores that differ, so that there is something to guess: the value of a position is how far the game has come.
        let scored = |(i, lesson)| Example { lesson, score: i as f64 };
        lessons.into_iter().enumerate().map(scored).collect()
    }

    pub fn small(problem: &dyn AnyProblem, architecture: Architecture) -> NetSpec {
        let layout = problem.layout().expect("learnable");
        let spec = NetSpec::for_layout(&layout, "r2", 20).expect("r2");
        NetSpec { architecture, filters: 8, ..spec }
    }

    /// The same with a value head.
    pub fn valued(spec: NetSpec) -> NetSpec {
        NetSpec { value: true, scale: Some(Scale { mean: 40.0, deviation: 20.0 }), ..spec }
    }

    /// Some positions as one batch.
    pub fn batch_of(problem: &dyn AnyProblem, spec: &NetSpec, positions: &[usize]) -> Batch {
        let lessons = lessons(problem, spec);
        let mut builder = Builder::new(spec);
        let mut batch = builder.begin();
        for &i in positions {
            let Example { lesson, score } = &lessons[i];
            assert!(builder.add(&mut batch, &lesson.scene, lesson.played, spec.scale().value(*score)));
        }
        batch
    }

    /// What every engine must satisfy.
    pub fn engine_agrees_with_the_dense_network(engine: &dyn Engine) {
        let problem = morpion();
        for architecture in ALL {
            let spec = valued(small(&*problem, architecture));
            let net = Net::random(spec.clone(), 3).expect("a network");
            let positions = [0, 7, 40, 81];
            let batch = batch_of(&*problem, &spec, &positions);
            let said = engine.say(&spec, &Params::of(&net), &batch).expect("logits and values");
            let lessons = lessons(&*problem, &spec);
            let answers = positions.map(|i| forward(&net, &lessons[i].lesson.scene));
            let near = |got: &[f32], expected: Vec<f32>| {
                assert_eq!(got.len(), expected.len());
                for (got, expected) in got.iter().zip(&expected) {
                    assert!((got - expected).abs() < 1e-4, "{architecture:?}: {got}, expected {expected}");
                }
            };
            near(&said.values, answers.iter().filter_map(|answer| answer.value).collect());
            near(&said.logits, answers.into_iter().flat_map(|answer| answer.logits).collect());
        }
    }

    /// The gradient against differences of the loss, for some weights of every tensor.
    pub fn gradient_is_the_slope(engine: &dyn Engine) {
        let problem = morpion();
        let plain = ALL.map(|architecture| NetSpec { filters: 4, ..small(&*problem, architecture) });
        let specs = plain.clone().into_iter().chain(plain.map(valued));
        for (spec, seed) in specs.flat_map(|spec| [5, 6, 7].map(|seed| (spec.clone(), seed))) {
            let architecture = spec.architecture;
            let net = Net::random(spec.clone(), seed).expect("a network");
            let (params, batch) = (Params::of(&net), batch_of(&*problem, &spec, &[3, 30, 60]));
            let share = 1.0 / batch.len() as f32;
            let mut gradient = params.zeros();
            engine.gradient(&spec, &params, &batch, share, &mut gradient).expect("a gradient");
            let loss = |params: &Params| {
                let marks = Marks::of(&batch, &engine.say(&spec, params, &batch).expect("logits"));
                let guesses = marks.guesses.map_or(0.0, |guesses| guesses.errors().0.powi(2));
                marks.means().0 + 0.5 * VALUE_WEIGHT as f64 * guesses
            };
            for (tensor, name) in spec.tensors().iter().map(|tensor| &tensor.name).enumerate() {
                // The steepest weight is the one that a difference tells most about.
                let slopes = &gradient.tensors[tensor];
                let at = (0..slopes.len()).max_by(|&a, &b| slopes[a].abs().total_cmp(&slopes[b].abs()));
                let at = at.expect("weights");
                let shifted = |by: f32| {
                    let mut params = params.clone();
                    params.tensors[tensor][at] += by;
                    loss(&params)
                };
                // Where a rectifier turns on or off within a step, the difference on that side tells something else, and
                // the one on the other side is right.
                let (step, slope) = (5e-4, slopes[at] as f64);
                let (here, width) = (loss(&params), step as f64);
                let measured = [(shifted(step) - here) / width, (here - shifted(-step)) / width];
                assert!(slope != 0.0, "{architecture:?} {name}: no slope at all");
                let near = |measured: &f64| (slope - measured).abs() < 0.02 * slope.abs() + 2e-4;
                assert!(
                    measured.iter().any(near),
                    "{architecture:?} {name}, seed {seed}: {slope}, measured {measured:?}"
                );
            }
        }
    }

    #[test]
    fn the_native_engine_agrees_with_the_dense_network() {
        engine_agrees_with_the_dense_network(&Native);
    }

    #[test]
    fn the_native_gradient_is_the_slope() {
        gradient_is_the_slope(&Native);
    }

    #[test]
    fn weights_survive_their_matrices() {
        for architecture in ALL {
            for spec in [tiny(architecture), valued(tiny(architecture))] {
                let net = Net::random(spec, 1).expect("a network");
                assert_eq!(Params::of(&net).net(net.spec()).expect("a network"), net);
            }
        }
    }

    fn settings() -> Settings {
        Settings { epochs: 12, batch: 24, lr: 0.01, decay: 0.5, decay_every: 6, augment: false, seed: 2 }
    }

    #[test]
    fn a_game_is_learnt_by_heart_at_any_number_of_threads() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        for architecture in ALL {
            let spec = small(&*problem, architecture);
            let (net, lessons) =
                (Net::random(spec.clone(), 2).expect("a network"), lessons(&*problem, &spec));
            let run = |threads| {
                let mut trainer = Trainer::new(&net, settings());
                let before = trainer.test(&Native, &layout, &lessons, threads).expect("marks").means();
                while !trainer.finished() {
                    trainer.train(&Native, &layout, &lessons, threads, |_, _, _, _| true).expect("an epoch");
                }
                let after = trainer.test(&Native, &layout, &lessons, threads).expect("marks").means();
                assert!(after.0 < 0.6 * before.0, "{architecture:?}: loss {} from {}", after.0, before.0);
                assert!(
                    after.1 > 0.6 && after.1 > before.1 && after.2 >= after.1,
                    "{architecture:?}: {after:?}"
                );
                trainer.net().expect("a network")
            };
            assert_eq!(run(1), run(3), "{architecture:?}");
        }
    }

    #[test]
    fn scores_are_learnt_beside_the_moves() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let spec = valued(small(&*problem, Architecture::Residual));
        let (net, lessons) = (Net::random(spec.clone(), 2).expect("a network"), lessons(&*problem, &spec));
        let run = |threads| {
            let mut trainer = Trainer::new(&net, settings());
            while !trainer.finished() {
                let marks = trainer.train(&Native, &layout, &lessons, threads, |_, _, _, _| true);
                let marks = marks.expect("an epoch").expect("all of it");
                assert_eq!(marks.guesses.expect("guesses").positions, 82);
            }
            let marks = trainer.test(&Native, &layout, &lessons, threads).expect("marks");
            let (error, blind) = marks.guesses.expect("guesses").errors();
            // The scores are 0 to 81, in deviations of 20.
            assert!((blind - 23.67 / 20.0).abs() < 1e-3, "{blind}");
            assert!(error < 0.4 * blind, "{error} of {blind}");
            assert!(marks.means().1 > 0.6, "the moves are foreseen as well: {marks:?}");
            trainer.net().expect("a network")
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn a_stopped_training_ends_as_if_it_had_not_been() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let spec = valued(small(&*problem, Architecture::Residual));
        let (net, lessons) = (Net::random(spec.clone(), 2).expect("a network"), lessons(&*problem, &spec));
        let settings = Settings { epochs: 2, augment: true, ..settings() };
        let mut whole = Trainer::new(&net, settings.clone());
        while !whole.finished() {
            whole.train(&Native, &layout, &lessons, 1, |_, _, _, _| true).expect("an epoch");
        }
        let mut stopped = Trainer::new(&net, settings.clone());
        let mut stops = 0;
        while !stopped.finished() {
            stopped.train(&Native, &layout, &lessons, 2, |_, _, _, _| false).expect("a step");
            stops += 1;
            let snapshot = stopped.snapshot().expect("plain numbers");
            stopped = Trainer::resume(&snapshot, settings.clone()).expect("as it was");
        }
        assert!(stops > 4, "{stops} stops");
        assert_eq!(stopped, whole);
    }
}
