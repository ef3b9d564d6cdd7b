//! Who computes gradients. The loss is the paper's: the cross entropy between the move played and a softmax over the
//! logits of the legal moves, averaged over the positions of a batch. A network with a value head also guesses how the
//! game ends, and half of `VALUE_WEIGHT` times the square of its error is added.

use super::batch::Batch;
use super::params::Params;
use crate::spec::NetSpec;

/// What an error of one deviation in the value counts against the cross entropy, which is about 1 to 2. The moves are
/// what a network is for, so the value takes a smaller part in shaping the layers that both share.
pub const VALUE_WEIGHT: f32 = 0.5;

/// What a network says about a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Said {
    /// The logits of `batch.moves`.
    pub logits: Vec<f32>,
    /// The value of every position; nothing from a network without that head.
    pub values: Vec<f32>,
}

/// Computes logits, values and gradients.
pub trait Engine: Sync {
    /// The most positions it is to be given at once: where threads share the work, few.
    fn positions_max(&self) -> usize {
        16
    }

    /// Adds the gradient of the loss to `gradient`, each position counting with weight `share`; returns what the network
    /// said.
    fn gradient(
        &self,
        spec: &NetSpec,
        params: &Params,
        batch: &Batch,
        share: f32,
        gradient: &mut Params,
    ) -> Result<Said, EngineError>;

    /// What the network says.
    fn say(&self, spec: &NetSpec, params: &Params, batch: &Batch) -> Result<Said, EngineError>;
}

/// Why an engine cannot compute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// There is no such device.
    #[error("there is no device '{0}': expected native, burn-cpu, burn-wgpu or burn-cuda")]
    Unknown(String),
    /// There is, in another build.
    #[error(
        "this sortie was built without {device}: build it with `cargo build --release --features {feature}`"
    )]
    Missing {
        /// Its name.
        device: &'static str,
        /// The feature of the build that has it.
        feature: &'static str,
    },
    /// The framework or its device says so.
    #[error("the device failed: {0}")]
    Device(String),
}

/// The engine of a name.
pub fn engine(name: &str) -> Result<Box<dyn Engine>, EngineError> {
    match name {
        "native" => Ok(Box::new(super::Native)),
        #[cfg(feature = "burn")]
        "burn-cpu" => Ok(Box::new(super::Burn::<burn_ndarray::NdArray>::new()?)),
        #[cfg(not(feature = "burn"))]
        "burn-cpu" => Err(EngineError::Missing { device: "burn-cpu", feature: "burn" }),
        #[cfg(feature = "burn-wgpu")]
        "burn-wgpu" => Ok(Box::new(super::Burn::<burn_wgpu::Wgpu>::new()?)),
        #[cfg(not(feature = "burn-wgpu"))]
        "burn-wgpu" => Err(EngineError::Missing { device: "burn-wgpu", feature: "burn-wgpu" }),
        #[cfg(feature = "burn-cuda")]
        "burn-cuda" => Ok(Box::new(super::Burn::<burn_cuda::Cuda>::new()?)),
        #[cfg(not(feature = "burn-cuda"))]
        "burn-cuda" => Err(EngineError::Missing { device: "burn-cuda", feature: "burn-cuda" }),
        other => Err(EngineError::Unknown(other.into())),
    }
}

/// How well the moves played were foreseen.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Marks {
    /// Positions.
    pub positions: u64,
    /// The sum of their losses.
    pub loss: f64,
    /// How often the move played had the highest logit, and one of the three highest.
    pub top1: u64,
    /// See `top1`.
    pub top3: u64,
    /// How well the scores were guessed, by a network with a value head. Not part of the marks as data: whoever writes
    /// them down writes this beside them, so that marks without it are what they always were.
    #[serde(skip)]
    pub guesses: Option<Guesses>,
}

/// How well scores were guessed, as sums over positions, in deviations of the network's scale.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Guesses {
    /// Positions.
    pub positions: u64,
    /// Of the squares of the errors.
    pub squares: f64,
    /// Of what should have been guessed.
    pub targets: f64,
    /// Of the squares of that.
    pub target_squares: f64,
}

impl Guesses {
    /// The root of the mean square of the errors, and what it would be if the guess were always the mean of what should
    /// have been guessed.
    pub fn errors(&self) -> (f64, f64) {
        let n = self.positions.max(1) as f64;
        let mean = self.targets / n;
        ((self.squares / n).sqrt(), (self.target_squares / n - mean * mean).max(0.0).sqrt())
    }

    fn of(targets: &[f32], values: &[f32]) -> Guesses {
        let mut guesses = Guesses::default();
        for (&target, &value) in targets.iter().zip(values) {
            let (target, error) = (target as f64, (value - target) as f64);
            guesses.positions += 1;
            guesses.squares += error * error;
            guesses.targets += target;
            guesses.target_squares += target * target;
        }
        guesses
    }

    fn add(&mut self, other: Guesses) {
        self.positions += other.positions;
        self.squares += other.squares;
        self.targets += other.targets;
        self.target_squares += other.target_squares;
    }
}

impl Marks {
    /// The marks of a batch, given what was said about it. A tie counts against the move played.
    pub fn of(batch: &Batch, said: &Said) -> Marks {
        let logits = &said.logits;
        let guesses = (!said.values.is_empty()).then(|| Guesses::of(&batch.targets, &said.values));
        let mut marks = Marks { guesses, ..Marks::default() };
        for (moves, played) in batch.positions() {
            let logit = logits[played];
            let highest = logits[moves.clone()].iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = logits[moves.clone()].iter().map(|&l| ((l - highest) as f64).exp()).sum();
            let above = moves.filter(|&at| at != played && logits[at] >= logit).count();
            marks.positions += 1;
            marks.loss += sum.ln() - (logit - highest) as f64;
            marks.top1 += u64::from(above < 1);
            marks.top3 += u64::from(above < 3);
        }
        marks
    }

    /// Both together.
    pub fn add(&mut self, other: Marks) {
        self.positions += other.positions;
        self.loss += other.loss;
        self.top1 += other.top1;
        self.top3 += other.top3;
        if let Some(more) = other.guesses {
            self.guesses.get_or_insert_default().add(more);
        }
    }

    /// Mean loss, top-1 and top-3 accuracy.
    pub fn means(&self) -> (f64, f64, f64) {
        let n = self.positions.max(1) as f64;
        (self.loss / n, self.top1 as f64 / n, self.top3 as f64 / n)
    }
}

/// The slope of the loss by the logit of every move, given to `at` with the index of the move.
pub(super) fn softmax_gradient(batch: &Batch, logits: &[f32], share: f32, mut at: impl FnMut(usize, f32)) {
    for (moves, played) in batch.positions() {
        let highest = logits[moves.clone()].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = logits[moves.clone()].iter().map(|&l| (l - highest).exp()).sum();
        for i in moves {
            let chance = (logits[i] - highest).exp() / sum;
            at(i, share * (chance - if i == played { 1.0 } else { 0.0 }));
        }
    }
}

/// The slope of the loss by the value of every position; nothing without a value head.
pub(super) fn value_gradient(batch: &Batch, values: &[f32], share: f32) -> Vec<f32> {
    values.iter().zip(&batch.targets).map(|(value, target)| share * VALUE_WEIGHT * (value - target)).collect()
}
