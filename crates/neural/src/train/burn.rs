//! The gradient by a framework, burn: the same rows as `native`, written as tensors, and differentiated by it. One code
//! for processors (ndarray), WGPU and CUDA; which of them is a feature of the build.
//!
//! Weights go there and gradients come back with every batch, 100 kB of them for the paper's network: Adam, checkpoints
//! and files stay ours and the same. On a processor `native` is several times as fast and the default; this is the road
//! to a GPU, and the tests hold one to the other.

use super::batch::Batch;
use super::engine::{Engine, EngineError, Said, softmax_gradient, value_gradient};
use super::params::{Params, padded};
use crate::spec::{Architecture, EXPANSION, NetSpec};
use burn_autodiff::Autodiff;
use burn_tensor::activation::relu;
use burn_tensor::backend::Backend;
use burn_tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Computes on a device of burn.
#[derive(Debug)]
pub struct Burn<B: Backend> {
    device: B::Device,
}

impl<B: Backend> Burn<B> {
    /// On the first device of its kind; an error if there is none.
    pub fn new() -> Result<Self, EngineError> {
        let device = B::Device::default();
        let two = guarded(|| {
            numbers(Tensor::<B, 1>::from_data(TensorData::new(vec![1f32], [1]), &device).mul_scalar(2.0))
        })?;
        if two != [2.0] {
            return Err(EngineError::Device(format!("{device:?}: twice one is {two:?}")));
        }
        Ok(Burn { device })
    }
}

impl<B: Backend> Engine for Burn<B> {
    /// A device is the quicker the more it is given at once.
    fn positions_max(&self) -> usize {
        usize::MAX
    }

    fn gradient(
        &self,
        spec: &NetSpec,
        params: &Params,
        batch: &Batch,
        share: f32,
        gradient: &mut Params,
    ) -> Result<Said, EngineError> {
        guarded(|| {
            let weights = Weights::<Autodiff<B>>::new(params, &self.device, true);
            let out = forward(spec, &weights, batch, &self.device);
            let said = out.said()?;
            // The slope of the loss by logits and values is known; what the framework adds is all that is below them.
            let mut slope = vec![0.0; said.logits.len()];
            softmax_gradient(batch, &said.logits, share, |at, value| slope[at] = value);
            let mut sum = (out.logits * vector(slope, &self.device)).sum();
            if let Some(values) = out.values {
                let slope = value_gradient(batch, &said.values, share);
                sum = sum + (values * vector(slope, &self.device)).sum();
            }
            let slopes = sum.backward();
            for (tensor, sums) in weights.tensors.iter().zip(&mut gradient.tensors) {
                // What the loss does not depend on has no gradient.
                let Some(more) = tensor.grad(&slopes) else { continue };
                sums.iter_mut().zip(numbers(more)?).for_each(|(sum, more)| *sum += more);
            }
            Ok(said)
        })
    }

    fn say(&self, spec: &NetSpec, params: &Params, batch: &Batch) -> Result<Said, EngineError> {
        guarded(|| {
            let weights = Weights::<B>::new(params, &self.device, false);
            forward(spec, &weights, batch, &self.device).said()
        })
    }
}

/// What the network says, on a device.
struct Out<B: Backend> {
    logits: Tensor<B, 1>,
    values: Option<Tensor<B, 1>>,
}

impl<B: Backend> Out<B> {
    fn said(&self) -> Result<Said, EngineError> {
        let values = self.values.clone().map(numbers).transpose()?;
        Ok(Said { logits: numbers(self.logits.clone())?, values: values.unwrap_or_default() })
    }
}

/// Drivers that are missing or fail make the framework panic.
fn guarded<T>(work: impl FnOnce() -> Result<T, EngineError>) -> Result<T, EngineError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason");
        Err(EngineError::Device(text.lines().next().unwrap_or_default().to_string()))
    })
}

/// The matrices of `Params`, on a device: a weight, its bias, and so on.
struct Weights<B: Backend> {
    tensors: Vec<Tensor<B, 2>>,
}

impl<B: Backend> Weights<B> {
    fn new(params: &Params, device: &B::Device, learn: bool) -> Self {
        let matrix = |(numbers, bias): (&Vec<f32>, &Vec<f32>)| {
            let columns = bias.len();
            [numbers, bias].map(|numbers| {
                let shape = [numbers.len() / columns, columns];
                let tensor = Tensor::from_data(TensorData::new(numbers.clone(), shape), device);
                if learn { tensor.require_grad() } else { tensor }
            })
        };
        let pairs = params.tensors.chunks_exact(2).map(|pair| (&pair[0], &pair[1]));
        Weights { tensors: pairs.flat_map(matrix).collect() }
    }
}

/// The logits of `batch.moves`, and the values.
fn forward<B: Backend>(spec: &NetSpec, weights: &Weights<B>, batch: &Batch, device: &B::Device) -> Out<B> {
    let width = padded(spec.filters);
    let mut pairs = weights.tensors.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
    let mut next = || pairs.next().expect("as many as the spec has");

    let (weight, bias) = next();
    let [rows, inputs] = [|one: &(u32, u32)| one.0, |one: &(u32, u32)| one.1]
        .map(|of| indices(batch.ones.iter().map(of), device));
    let sums = Tensor::zeros([batch.rows[0], width], device);
    let sums = sums.select_assign(0, rows, weight.select(0, inputs), IndexingUpdateOp::Add);
    let mut x: Tensor<B, 2> = relu(sums + bias);

    for i in 1..spec.depth {
        let taps = &batch.taps[i];
        let centres = || indices(taps.iter().skip(4).step_by(9).map(|tap| tap - 1), device);
        x = match spec.architecture {
            Architecture::Basic => {
                let (weight, bias) = next();
                relu(around(x, taps, device).matmul(weight) + bias)
            }
            Architecture::Residual => {
                let (weight, bias) = next();
                let same = x.clone().select(0, centres());
                relu(around(x, taps, device).matmul(weight) + bias + same)
            }
            Architecture::Mobile => {
                let inside = padded(EXPANSION * spec.filters);
                let same = x.clone().select(0, centres());
                let (weight, bias) = next();
                let wide = relu(x.matmul(weight) + bias);
                let (weight, bias) = next();
                let products: Tensor<B, 3> = around(wide, taps, device).reshape([-1, 9, inside as i32])
                    * weight.reshape([1, 9, inside as i32]);
                let deep = relu(products.sum_dim(1).reshape([-1, inside as i32]) + bias);
                let (weight, bias) = next();
                deep.matmul(weight) + bias + same
            }
        };
    }
    let (weight, bias) = next();
    let logits: Tensor<B, 1> = (x.clone().matmul(weight) + bias).flatten(0, 1);
    let logits = logits.select(0, indices(batch.moves.iter().copied(), device));
    let values = spec.value.then(|| {
        let (weight, bias) = next();
        let owners = batch.top_rows().zip(0u32..).flat_map(|(rows, position)| rows.map(move |_| position));
        let sums = Tensor::zeros([batch.len(), width], device);
        let sums = sums.select_assign(0, indices(owners, device), x, IndexingUpdateOp::Add);
        let shares = batch.top_rows().map(|rows| 1.0 / rows.len() as f32).collect();
        let means: Tensor<B, 2> = sums * vector::<B>(shares, device).reshape([-1, 1]);
        // All but the first column is padding.
        (means.matmul(weight) + bias).narrow(1, 0, 1).flatten(0, 1)
    });
    Out { logits, values }
}

/// Beside each other the nine rows that lie around each cell; outside of the window they are zero.
fn around<B: Backend>(x: Tensor<B, 2>, taps: &[u32], device: &B::Device) -> Tensor<B, 2> {
    let width = x.dims()[1];
    // `OUTSIDE` is 0 and all others are one more than their row: a row of zeros in front, and every tap is an index.
    let rows = Tensor::cat(vec![Tensor::zeros([1, width], device), x], 0);
    rows.select(0, indices(taps.iter().copied(), device)).reshape([taps.len() / 9, 9 * width])
}

fn indices<B: Backend>(numbers: impl Iterator<Item = u32>, device: &B::Device) -> Tensor<B, 1, Int> {
    let numbers: Vec<i32> = numbers.map(|number| number as i32).collect();
    let count = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [count]), device)
}

fn vector<B: Backend>(numbers: Vec<f32>, device: &B::Device) -> Tensor<B, 1> {
    let count = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [count]), device)
}

fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Result<Vec<f32>, EngineError> {
    let numbers = tensor.into_data().convert::<f32>().into_vec();
    numbers.map_err(|error| EngineError::Device(format!("{error:?}")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{
        ALL, batch_of, engine_agrees_with_the_dense_network, gradient_is_the_slope, morpion, small, valued,
    };
    use super::super::{Native, engine};
    use super::*;
    use crate::net::Net;
    use burn_ndarray::NdArray;
    use sortie_core::Rng;

    fn burn() -> Burn<NdArray> {
        Burn::new().expect("a processor")
    }

    #[test]
    fn burn_agrees_with_the_dense_network() {
        engine_agrees_with_the_dense_network(&burn());
    }

    #[test]
    fn the_gradient_of_burn_is_the_slope() {
        gradient_is_the_slope(&burn());
    }

    /// The same loss and the same gradient, number by number, on random batches of positions.
    #[test]
    fn burn_and_native_are_the_same() {
        let (problem, mut rng) = (morpion(), Rng::new(6, 0));
        for architecture in ALL {
            let spec = valued(small(&*problem, architecture));
            let params = Params::of(&Net::random(spec.clone(), 8).expect("a network"));
            for _ in 0..3 {
                let positions: Vec<usize> = (0..8).map(|_| rng.below(82)).collect();
                let batch = batch_of(&*problem, &spec, &positions);
                let both: [&dyn Engine; 2] = [&Native, &burn()];
                let [(native, said), (burn, other)] = both.map(|engine| {
                    let mut gradient = params.zeros();
                    let said =
                        engine.gradient(&spec, &params, &batch, 0.125, &mut gradient).expect("a gradient");
                    (gradient, said)
                });
                let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
                assert_eq!((said.logits.len(), said.values.len()), (other.logits.len(), other.values.len()));
                assert!(near(&said.logits, &other.logits), "{architecture:?}: logits");
                assert!(near(&said.values, &other.values), "{architecture:?}: values");
                for (tensor, (a, b)) in native.tensors.iter().zip(&burn.tensors).enumerate() {
                    assert!(a.len() == b.len() && near(a, b), "{architecture:?}: tensor {tensor}");
                    assert!(
                        a.iter().any(|&slope| slope != 0.0),
                        "{architecture:?}: tensor {tensor} is learnt"
                    );
                }
            }
        }
    }

    #[test]
    fn a_device_that_fails_is_an_error() {
        let failed = guarded::<()>(|| panic!("no adapter\nand more"));
        assert_eq!(failed, Err(EngineError::Device("no adapter".into())));
        assert!(engine("burn-cpu").is_ok());
        assert!(matches!(engine("abacus"), Err(EngineError::Unknown(_))));
    }
}
