//! Who computes gradients. The loss is the paper's: the cross entropy between the move played and a softmax over the
//! logits of the legal moves, averaged over the positions of a batch.

use super::batch::Batch;
use super::params::Params;
use crate::spec::NetSpec;

/// Computes logits and gradients.
pub trait Engine: Sync {
    /// The most positions it is to be given at once: where threads share the work, few.
    fn positions_max(&self) -> usize {
        16
    }

    /// Adds the gradient of the loss to `gradient`, each position counting with weight `share`; returns the logits of
    /// `batch.moves`.
    fn gradient(
        &self,
        spec: &NetSpec,
        params: &Params,
        batch: &Batch,
        share: f32,
        gradient: &mut Params,
    ) -> Result<Vec<f32>, EngineError>;

    /// The logits of `batch.moves`.
    fn logits(&self, spec: &NetSpec, params: &Params, batch: &Batch) -> Result<Vec<f32>, EngineError>;
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
}

impl Marks {
    /// The marks of a batch, given the logits of its moves. A tie counts against the move played.
    pub fn of(batch: &Batch, logits: &[f32]) -> Marks {
        let mut marks = Marks::default();
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
