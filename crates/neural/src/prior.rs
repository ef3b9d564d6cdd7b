//! A network as the prior of a search: the kernel where it computes this architecture, else the dense forward pass, and
//! before either a cache. Playouts of a search that has begun to learn repeat each other for most of their length.

use crate::dense::forward;
use crate::kernel::{Board, Weights};
use crate::net::Net;
use crate::spec::Scale;
use sortie_core::mix;
use sortie_core::planes::{Cell, Layout, Scene};
use sortie_core::prior::{Prior, Reader};
use std::sync::Arc;

/// A network that plays a domain.
pub struct NetPrior {
    representation: usize,
    layout: Layout,
    size: usize,
    /// What its values mean, if it has any.
    scale: Option<Scale>,
    kernel: Kernel,
    cached: bool,
}

/// Kernels by how many times eight channels they compute.
#[derive(Clone)]
enum Kernel {
    Two(Arc<Weights<2>>),
    Four(Arc<Weights<4>>),
    Eight(Arc<Weights<8>>),
    Dense(Arc<Net>),
}

impl NetPrior {
    /// A network for a domain of this layout, or what does not fit.
    pub fn new(net: Net, layout: &Layout) -> Result<NetPrior, String> {
        let representation = net.spec().fits(layout)?;
        let (size, filters, scale) = (net.spec().size, net.spec().filters, scale(&net));
        let kernel = match filters {
            1..=16 => Weights::new(&net).map(|weights| Kernel::Two(Arc::new(weights))),
            17..=32 => Weights::new(&net).map(|weights| Kernel::Four(Arc::new(weights))),
            33..=64 => Weights::new(&net).map(|weights| Kernel::Eight(Arc::new(weights))),
            _ => None,
        };
        let kernel = kernel.unwrap_or_else(|| Kernel::Dense(Arc::new(net)));
        Ok(NetPrior { representation, layout: layout.clone(), size, scale, kernel, cached: true })
    }

    /// The same with every layer computed in full: what the kernel is measured against.
    pub fn dense(net: Net, layout: &Layout) -> Result<NetPrior, String> {
        let (representation, size, scale) = (net.spec().fits(layout)?, net.spec().size, scale(&net));
        let kernel = Kernel::Dense(Arc::new(net));
        Ok(NetPrior { representation, layout: layout.clone(), size, scale, kernel, cached: false })
    }

    /// Without the cache, to measure the kernel.
    pub fn uncached(mut self) -> NetPrior {
        self.cached = false;
        self
    }

    /// Whether the kernel computes this network.
    pub fn is_quick(&self) -> bool {
        !matches!(self.kernel, Kernel::Dense(_))
    }
}

fn scale(net: &Net) -> Option<Scale> {
    net.spec().value.then(|| net.spec().scale())
}

impl Prior for NetPrior {
    fn representation(&self) -> usize {
        self.representation
    }

    fn size(&self) -> usize {
        self.size
    }

    fn reader(&self) -> Box<dyn Reader> {
        fn quick<const B: usize>(weights: &Arc<Weights<B>>, prior: &NetPrior) -> Box<dyn Reader> {
            let board = Board::new(weights, &prior.layout);
            Box::new(Quick { board, weights: weights.clone(), scale: prior.scale })
        }
        let reader = match &self.kernel {
            Kernel::Two(weights) => quick(weights, self),
            Kernel::Four(weights) => quick(weights, self),
            Kernel::Eight(weights) => quick(weights, self),
            Kernel::Dense(net) => Box::new(Dense { net: net.clone() }),
        };
        if self.cached { Box::new(Cached::new(reader)) } else { reader }
    }
}

struct Quick<const B: usize> {
    weights: Arc<Weights<B>>,
    board: Board<B>,
    scale: Option<Scale>,
}

impl<const B: usize> Reader for Quick<B> {
    fn read(&mut self, scene: &Scene, logits: &mut Vec<f32>) {
        self.board.read(&self.weights, scene, logits);
    }

    fn guess(&mut self, scene: &Scene) -> Option<f64> {
        Some(self.scale?.score(self.board.value(&self.weights, scene)?))
    }
}

struct Dense {
    net: Arc<Net>,
}

impl Reader for Dense {
    fn read(&mut self, scene: &Scene, logits: &mut Vec<f32>) {
        *logits = forward(&self.net, scene).logits;
    }

    fn guess(&mut self, scene: &Scene) -> Option<f64> {
        forward(&self.net, scene).value.map(|value| self.net.spec().scale().score(value))
    }
}

/// Positions that the cache has room for: four megabytes.
const SLOTS: usize = 1 << 14;
/// A position with more moves is not kept.
const MOVES_MAX: usize = 64;

/// The answers to the latest scenes, each in the one place that its key has.
struct Cached {
    reader: Box<dyn Reader>,
    keys: Vec<u64>,
    logits: Vec<[f32; MOVES_MAX]>,
}

impl Cached {
    fn new(reader: Box<dyn Reader>) -> Cached {
        Cached { reader, keys: vec![0; SLOTS], logits: vec![[0.0; MOVES_MAX]; SLOTS] }
    }
}

impl Reader for Cached {
    fn read(&mut self, scene: &Scene, logits: &mut Vec<f32>) {
        let n = scene.outputs.len();
        if n > MOVES_MAX {
            return self.reader.read(scene, logits);
        }
        let key = key(scene);
        let slot = key as usize % SLOTS;
        if self.keys[slot] == key {
            logits.clear();
            logits.extend_from_slice(&self.logits[slot][..n]);
            return;
        }
        self.reader.read(scene, logits);
        self.keys[slot] = key;
        self.logits[slot][..n].copy_from_slice(logits);
    }

    /// Not kept: positions are hardly ever guessed at twice.
    fn guess(&mut self, scene: &Scene) -> Option<f64> {
        self.reader.guess(scene)
    }
}

/// A hash of a scene: of its inputs in any order, of its moves in theirs. Never zero.
fn key(scene: &Scene) -> u64 {
    let code = |cell: &Cell| (cell.plane as u64) << 16 | (cell.y as u64) << 8 | cell.x as u64;
    let inputs = scene.inputs.iter().map(|cell| mix(code(cell))).fold(0, u64::wrapping_add);
    let outputs = scene.outputs.iter().fold(scene.outputs.len() as u64, |hash, cell| {
        (hash ^ code(cell)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    let corner = (scene.corner.0 as u32 as u64) << 32 | scene.corner.1 as u32 as u64;
    mix(inputs ^ mix(outputs ^ mix(corner))).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Architecture, NetSpec};
    use sortie_core::Opened;
    use sortie_core::prior::{Guide, Trust};
    use sortie_core::{AnyProblem, BestOf, Control, Limits, Nmcs, Nrpa, Sample, Search};
    use std::sync::atomic::AtomicBool;

    fn open(name: &str) -> Box<dyn AnyProblem> {
        match sortie_domains::open(name, &|_| Err("no files".into())) {
            Ok(Opened::Problem(problem)) => problem,
            _ => panic!("{name} is a problem"),
        }
    }

    fn net(layout: &Layout, representation: &str, size: usize, change: impl Fn(&mut NetSpec)) -> Net {
        let mut spec = NetSpec::for_layout(layout, representation, size).expect("there is such a one");
        change(&mut spec);
        Net::random(spec, 3).expect("a sound spec")
    }

    fn solve(problem: &dyn AnyProblem, search: Search, guide: Option<Guide>, playouts: u64) -> Vec<String> {
        let stop = AtomicBool::new(false);
        let limits = Limits { playouts: Some(playouts), ..Limits::default() };
        let mut control = Control::new(limits, &stop, &|_| {});
        control.guide = guide;
        let spec = BestOf { search, seed: 4, streams: 1, threads: 1 };
        problem.solve(&spec, &control, Vec::new()).best.expect("played").moves
    }

    fn guide(prior: NetPrior, trust: Trust) -> Option<Guide> {
        Some(Guide { prior: Arc::new(prior), trust })
    }

    /// All scenes of a few random games, one after the other.
    fn scenes(problem: &dyn AnyProblem, representation: usize, size: usize, games: usize) -> Vec<Scene> {
        let mut scenes = Vec::new();
        for game in 0..games {
            let moves = solve(problem, Search::Sample(Sample::default()), None, 1 + game as u64);
            let lessons = problem.lessons(&moves, representation, size).expect("a legal game");
            scenes.extend(lessons.into_iter().map(|lesson| lesson.scene));
        }
        scenes
    }

    /// The quick reader goes through the games as a playout does; every answer is held to the dense forward pass.
    fn agrees(problem: &dyn AnyProblem, net: Net, scenes: &[Scene]) {
        let layout = problem.layout().expect("learnable");
        let size = net.spec().size;
        let dense = NetPrior::dense(net.clone(), &layout).expect("it fits").reader();
        let quick = NetPrior::new(net.clone(), &layout).expect("it fits").uncached();
        assert!(quick.is_quick());
        let (mut dense, mut quick) = (dense, quick.reader());
        let (mut expected, mut got) = (Vec::new(), Vec::new());
        for (i, scene) in scenes.iter().enumerate() {
            quick.read(scene, &mut got);
            // The slow one looks at every eleventh.
            if i % 11 == 0 {
                dense.read(scene, &mut expected);
                assert_eq!(got.len(), scene.outputs.len());
                for (a, b) in got.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-4, "{:?} size {size} scene {i}: {a} and {b}", net.spec());
                }
                let (a, b) = (quick.guess(scene).expect("a value"), dense.guess(scene).expect("a value"));
                assert!((a - b).abs() < 1e-4, "{:?} size {size} scene {i}: value {a} and {b}", net.spec());
            }
        }
    }

    #[test]
    fn the_kernel_agrees_with_the_dense_forward_pass() {
        let problem = open("morpion/5D");
        let layout = problem.layout().expect("learnable");
        // A window that never moves, one that follows the game, and one that cannot show all of it.
        for (name, size) in [("r1", 30), ("r2", 18), ("r2", 11)] {
            let index = layout.representation(name).expect("there");
            let scenes = scenes(&*problem, index, size, 2);
            let small = size < 20;
            for architecture in [Architecture::Basic, Architecture::Residual, Architecture::Mobile] {
                let filters = if small { 20 } else { 32 };
                let net = net(&layout, name, size, |spec| {
                    (spec.architecture, spec.filters, spec.value) = (architecture, filters, true)
                });
                agrees(&*problem, net, &scenes);
            }
        }
    }

    #[test]
    fn it_agrees_for_other_widths_depths_and_domains() {
        for (name, size) in [("morpion/5T", 16), ("samegame/8x6x3-1", 9)] {
            let problem = open(name);
            let layout = problem.layout().expect("learnable");
            let scenes = scenes(&*problem, 0, size, 2);
            for (architecture, filters, depth) in [
                (Architecture::Basic, 5, 1),
                (Architecture::Residual, 10, 4),
                (Architecture::Basic, 40, 2),
                (Architecture::Mobile, 12, 4),
            ] {
                let net = net(&layout, "r1", size, |spec| {
                    (spec.architecture, spec.filters, spec.depth) = (architecture, filters, depth);
                    spec.value = true;
                });
                agrees(&*problem, net, &scenes);
            }
        }
    }

    #[test]
    fn a_position_has_the_same_logits_however_it_is_come_to() {
        let problem = open("morpion/5D");
        let layout = problem.layout().expect("learnable");
        let prior = NetPrior::new(net(&layout, "r2", 22, |_| ()), &layout).expect("it fits").uncached();
        let scenes = scenes(&*problem, 1, 22, 3);
        let (mut along, mut back, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = prior.reader();
        let answers: Vec<Vec<f32>> = scenes
            .iter()
            .map(|scene| {
                reader.read(scene, &mut along);
                along.clone()
            })
            .collect();
        for (scene, answer) in scenes.iter().zip(&answers).rev() {
            reader.read(scene, &mut back);
            assert_eq!(&back, answer);
        }
        prior.reader().read(&scenes[30], &mut fresh);
        assert_eq!(fresh, answers[30]);
    }

    #[test]
    fn a_guess_is_a_score_and_does_not_depend_on_what_was_asked_before() {
        let problem = open("morpion/5D");
        let layout = problem.layout().expect("learnable");
        let scenes = scenes(&*problem, 1, 22, 2);
        let plain = NetPrior::new(net(&layout, "r2", 22, |_| ()), &layout).expect("it fits");
        assert_eq!(plain.reader().guess(&scenes[0]), None);
        let prior = |scale| {
            let net = net(&layout, "r2", 22, |spec| (spec.value, spec.scale) = (true, scale));
            NetPrior::new(net, &layout).expect("it fits")
        };
        let scale = Scale { mean: 60.0, deviation: 5.0 };
        let (prior, bare) = (prior(Some(scale)), prior(None));
        // Of random games, so with a window that moves: a reader that walks, one that also reads, and fresh ones.
        let (mut walks, mut reads, mut logits) = (prior.reader(), prior.reader(), Vec::new());
        for scene in scenes.iter().step_by(7) {
            let guess = prior.reader().guess(scene);
            reads.read(scene, &mut logits);
            assert_eq!(walks.guess(scene), guess);
            assert_eq!(reads.guess(scene), guess);
            let value = bare.reader().guess(scene).expect("a value") as f32;
            assert_eq!(guess, Some(scale.score(value)));
        }
    }

    #[test]
    fn the_cache_changes_nothing() {
        let problem = open("morpion/5D");
        let layout = problem.layout().expect("learnable");
        let prior =
            || NetPrior::new(net(&layout, "r2", 22, |spec| spec.filters = 8), &layout).expect("it fits");
        let nrpa = || Search::Nrpa(Nrpa { level: 2, iterations: 10, ..Nrpa::default() });
        let with = solve(&*problem, nrpa(), guide(prior(), Trust::default()), 60);
        let without = solve(&*problem, nrpa(), guide(prior().uncached(), Trust::default()), 60);
        assert_eq!(with, without);
        assert_ne!(with, solve(&*problem, nrpa(), None, 60));
    }

    #[test]
    fn one_pass_agrees_with_each_step_on_the_first_move() {
        let problem = open("morpion/5T");
        let layout = problem.layout().expect("learnable");
        let prior = || NetPrior::new(net(&layout, "r1", 20, |_| ()), &layout).expect("it fits");
        for search in [Search::Sample(Sample::default()), Search::Nmcs(Nmcs { level: 1, ..Nmcs::default() })]
        {
            let first = |once| {
                let guide = guide(prior(), Trust { once, ..Trust::default() });
                solve(&*problem, search.clone(), guide, 1)
            };
            let (once, steps) = (first(true), first(false));
            assert_eq!(once[0], steps[0]);
            assert_ne!(once, steps);
        }
    }

    #[test]
    fn networks_of_other_domains_are_refused() {
        let (morpion, samegame) =
            (open("morpion/5D").layout().unwrap(), open("samegame/1").layout().unwrap());
        let error = |layout: &Layout, change: &dyn Fn(&mut NetSpec)| {
            NetPrior::new(net(&morpion, "r1", 20, change), layout).err().expect("refused")
        };
        assert_eq!(error(&samegame, &|_| ()), "it is for morpion-5D: expected samegame");
        assert_eq!(
            error(&morpion, &|spec| spec.representation = "r3".into()),
            "representation r3: expected r1 or r2"
        );
        let planes = error(&morpion, &|spec| spec.inputs = 7);
        assert_eq!(planes, "7 input and 4 output planes: expected 9 and 4");
    }
}
