//! A network inside a search: it weighs the moves on offer before the search has learnt anything about them.
//!
//! A `Prior` gives logits for scenes (`learn`); what a search draws with are factors made of them, one a move: the bias
//! of GNRPA as its exponential, or the whole playout policy where there is no other. A search keeps an `Advice`, which
//! is one thread's reader and its buffers.

use crate::domain::Domain;
use crate::planes::{Cell, Layout, Scene};
use crate::policy::exp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Something that has an opinion on every position of a domain. Shared by all threads.
pub trait Prior: Send + Sync {
    /// The representation it reads, as an index into the layout of its domain.
    fn representation(&self) -> usize;
    /// The columns and rows of its window.
    fn size(&self) -> usize;
    /// A reader for one thread.
    fn reader(&self) -> Box<dyn Reader>;
}

/// One thread's way to ask a prior. The answer depends on nothing but the scene.
pub trait Reader: Send {
    /// The logits of the scene's moves, written over `logits`.
    fn read(&mut self, scene: &Scene, logits: &mut Vec<f32>);

    /// The score that a game may be expected to end with that has come to this scene, whose moves are all legal ones and
    /// at least one; `None` of a prior that does not guess.
    fn guess(&mut self, _scene: &Scene) -> Option<f64> {
        None
    }
}

/// How much a search makes of a prior.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// Divide the logits by this: below 1 the best move gains, above 1 all become alike.
    pub temperature: f64,
    /// The share of the prior in the policy; the rest is uniform.
    pub mix: f64,
    /// Ask once, about the initial position, and use that answer in all others (the one pass of Doux et al. 2021).
    pub once: bool,
}

impl Default for Trust {
    fn default() -> Self {
        Trust { temperature: 1.0, mix: 1.0, once: false }
    }
}

/// A prior and how it is used: what a run hands to its searches.
#[derive(Clone)]
pub struct Guide {
    /// Who is asked.
    pub prior: Arc<dyn Prior>,
    /// How much is made of the answer.
    pub trust: Trust,
}

/// Logits are kept within this of the highest: far beyond what changes a playout.
const LOGIT_RANGE: f64 = 300.0;

/// A guide at work in one search on one thread.
pub struct Advice {
    reader: Box<dyn Reader>,
    trust: Trust,
    representation: usize,
    size: usize,
    scene: Scene,
    logits: Vec<f32>,
    /// The answer about the initial position, if that is used for all.
    once: Option<Once>,
}

/// What is known of every move there could be.
struct Once {
    width: usize,
    height: usize,
    /// exp(logit / temperature) but for a factor common to all, by `(plane * height + y) * width + x` of the output cell.
    odds: Vec<f64>,
}

impl Once {
    fn of(&self, cell: Cell) -> f64 {
        self.odds[(cell.plane as usize * self.height + cell.y as usize) * self.width + cell.x as usize]
    }
}

impl Advice {
    /// The advice for a domain; `None` if no network can read it.
    pub fn new<D: Domain>(guide: &Guide, domain: &D) -> Option<Advice> {
        let learnable = domain.learnable()?;
        let (representation, size) = (guide.prior.representation(), guide.prior.size());
        let mut advice = Advice {
            reader: guide.prior.reader(),
            trust: guide.trust,
            representation,
            size,
            scene: Scene::default(),
            logits: Vec::new(),
            once: None,
        };
        if guide.trust.once {
            let layout = learnable.layout();
            let mut scene = Scene::default();
            learnable.scene(&domain.initial(), &[], representation, size, &mut scene);
            scene.outputs.extend(cells(&layout));
            let (mut logits, mut odds) = (Vec::new(), Vec::new());
            advice.reader.read(&scene, &mut logits);
            odds_of(&logits, guide.trust.temperature, &mut odds);
            advice.once = Some(Once { width: layout.width, height: layout.height, odds });
        }
        Some(advice)
    }

    /// The exponential of what this adds to the weight of every code below `codes_max`, where that is the same in all
    /// positions: a bias like that is a policy to begin with.
    pub(crate) fn weights<D: Domain>(&self, domain: &D, codes_max: usize) -> Option<Vec<f64>> {
        let once = self.once.as_ref().filter(|_| self.trust.mix == 1.0)?;
        let learnable = domain.learnable()?;
        let mut told = false;
        let weight = |code: usize| {
            let cell = learnable.output_of_code(code as u64);
            told |= cell.is_some();
            cell.map_or(1.0, |cell| once.of(cell))
        };
        let weights = (0..codes_max).map(weight).collect();
        told.then_some(weights)
    }

    /// What each of these moves is worth to a playout, written over `factors`: positive, and 1 on average.
    pub fn weigh<D: Domain>(
        &mut self,
        domain: &D,
        state: &D::State,
        moves: &[D::Move],
        factors: &mut Vec<f64>,
    ) {
        let learnable = domain.learnable().expect("it was learnable when the search began");
        match &self.once {
            Some(once) => {
                learnable.outputs(state, moves, &mut self.scene.outputs);
                factors.clear();
                factors.extend(self.scene.outputs.iter().map(|&cell| once.of(cell)));
            }
            None => {
                learnable.scene(state, moves, self.representation, self.size, &mut self.scene);
                self.reader.read(&self.scene, &mut self.logits);
                odds_of(&self.logits, self.trust.temperature, factors);
            }
        }
        // The softmax mixed with the uniform policy, times the number of moves.
        let scale = self.trust.mix * moves.len() as f64 / factors.iter().sum::<f64>();
        factors.iter_mut().for_each(|factor| *factor = *factor * scale + (1.0 - self.trust.mix));
    }
}

/// All cells of the output planes, in the order of `Once::odds`.
fn cells(layout: &Layout) -> impl Iterator<Item = Cell> + use<> {
    let (width, height) = (layout.width, layout.height);
    (0..layout.outputs.count * width * height).map(move |i| Cell {
        plane: (i / (width * height)) as u8,
        x: (i % width) as u8,
        y: (i / width % height) as u8,
    })
}

/// exp(logit / temperature), the highest being 1.
fn odds_of(logits: &[f32], temperature: f64, odds: &mut Vec<f64>) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max) as f64;
    let odd = |&logit: &f32| exp(((logit as f64 - highest) / temperature).max(-LOGIT_RANGE));
    odds.clear();
    odds.extend(logits.iter().map(odd));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::toy::LeftMove;

    /// Prefers left by so much in the logarithm, and more with every move played.
    pub(crate) struct Leftist(pub f32);

    struct LeftReader(f32);

    impl Prior for Leftist {
        fn representation(&self) -> usize {
            0
        }
        fn size(&self) -> usize {
            60
        }
        fn reader(&self) -> Box<dyn Reader> {
            Box::new(LeftReader(self.0))
        }
    }

    impl Reader for LeftReader {
        fn read(&mut self, scene: &Scene, logits: &mut Vec<f32>) {
            let played = scene.inputs.first().map_or(0.0, |cell| cell.x as f32);
            logits.clear();
            logits
                .extend(scene.outputs.iter().map(|cell| (1.0 - cell.plane as f32) * self.0 * (1.0 + played)));
        }
    }

    pub(crate) fn leftist(logit: f32, trust: Trust) -> Guide {
        Guide { prior: Arc::new(Leftist(logit)), trust }
    }

    fn factors(guide: &Guide, state: (u32, u32)) -> Vec<f64> {
        let domain = LeftMove { depth: 30 };
        let mut factors = Vec::new();
        let mut advice = Advice::new(guide, &domain).expect("learnable");
        advice.weigh(&domain, &state, &[true, false], &mut factors);
        factors
    }

    #[test]
    fn factors_are_the_softmax_at_a_temperature_mixed_with_uniform() {
        let odds = |factors: &[f64]| factors[0] / factors[1];
        let plain = factors(&leftist(1.0, Trust::default()), (0, 0));
        assert!((odds(&plain) - 1f64.exp()).abs() < 1e-9 && (plain[0] + plain[1] - 2.0).abs() < 1e-12);
        let cool = factors(&leftist(1.0, Trust { temperature: 0.5, ..Trust::default() }), (0, 0));
        assert!((odds(&cool) - 2f64.exp()).abs() < 1e-9);
        let mixed = factors(&leftist(1000.0, Trust { mix: 0.75, ..Trust::default() }), (0, 0));
        assert!((mixed[0] - 1.75).abs() < 1e-9 && (mixed[1] - 0.25).abs() < 1e-9);
        assert!(factors(&leftist(1000.0, Trust::default()), (0, 0))[1] > 0.0);
    }

    #[test]
    fn one_pass_is_a_policy_to_begin_with_where_codes_tell_the_moves() {
        let left = LeftMove { depth: 30 };
        let follow = |trust| {
            let mut scratch = crate::playout::Scratch::new(&left);
            let policy = scratch.follow(&left, Some(&leftist(1.0, trust)));
            [0, 7].map(|depth| policy.log_weight(2 * depth + 1) - policy.log_weight(2 * depth))
        };
        let once = Trust { once: true, temperature: 0.5, ..Trust::default() };
        assert!(follow(once).iter().all(|difference| (difference - 2.0).abs() < 1e-9));
        // A mixture depends on how many moves there are, and without `once` on the position.
        assert_eq!(follow(Trust { mix: 0.5, ..once }), [0.0; 2]);
        assert_eq!(follow(Trust::default()), [0.0; 2]);
    }

    #[test]
    fn one_pass_is_each_step_on_the_first_move_and_stays_with_it() {
        let (step, once) =
            (leftist(1.0, Trust::default()), leftist(1.0, Trust { once: true, ..Trust::default() }));
        assert_eq!(factors(&step, (0, 0)), factors(&once, (0, 0)));
        assert_ne!(factors(&step, (9, 4)), factors(&once, (9, 4)));
        assert_eq!(factors(&once, (9, 4)), factors(&once, (0, 0)));
    }
}
