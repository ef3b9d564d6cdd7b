//! The weights of a network as training keeps them: matrices with as many columns as there are channels out, padded
//! with zeros to whole vectors, which stay zero.

use crate::net::{Net, NetError};
use crate::spec::{NetSpec, Tensor};
use std::collections::BTreeMap;

/// Rows of matrices have a multiple of this length.
pub const LANES: usize = 32;

/// A length rounded up to whole vectors.
pub fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}

/// The weights, in the order of `NetSpec::tensors`: a weight, its bias, and so on.
///
/// A weight [out, in, rows, columns] is kept as `[tap * in + i][out]`, with padded channels; a bias as `[out]`; a
/// depthwise weight [channel, 1, rows, columns] as `[tap][channel]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// The numbers of each tensor.
    pub tensors: Vec<Vec<f32>>,
}

/// How a tensor of the file lies in its matrix.
#[derive(Debug, Clone, Copy)]
struct Place {
    outs: usize,
    ins: usize,
    taps: usize,
    depthwise: bool,
}

impl Place {
    fn of(tensor: &Tensor) -> Place {
        let dimension = |i: usize| tensor.shape.get(i).copied().unwrap_or(1);
        Place {
            outs: dimension(0),
            ins: dimension(1),
            taps: dimension(2) * dimension(3),
            depthwise: tensor.name.contains("depthwise.weight"),
        }
    }

    fn len(self, name: &str) -> usize {
        let flat = self.depthwise || name.ends_with(".bias");
        padded(self.outs) * self.taps * if flat { 1 } else { padded(self.ins) }
    }

    /// Where the number `index` of the file is.
    fn index(self, index: usize) -> usize {
        let (tap, i, out) = (index % self.taps, index / self.taps % self.ins, index / self.taps / self.ins);
        if self.depthwise || self.ins == 1 && self.taps == 1 {
            tap * padded(self.outs) + out
        } else {
            (tap * padded(self.ins) + i) * padded(self.outs) + out
        }
    }
}

impl Params {
    /// The weights of a network.
    pub fn of(net: &Net) -> Params {
        let tensors = net.spec().tensors().into_iter().map(|tensor| {
            let place = Place::of(&tensor);
            let mut numbers = vec![0.0; place.len(&tensor.name)];
            for (i, &value) in net.tensor(&tensor.name).iter().enumerate() {
                numbers[place.index(i)] = value;
            }
            numbers
        });
        Params { tensors: tensors.collect() }
    }

    /// The network of these weights.
    pub fn net(&self, spec: &NetSpec) -> Result<Net, NetError> {
        let all = spec.tensors().into_iter().zip(&self.tensors).map(|(tensor, numbers)| {
            let place = Place::of(&tensor);
            let count: usize = tensor.shape.iter().product();
            (tensor.name, (0..count).map(|i| numbers[place.index(i)]).collect())
        });
        Net::new(spec.clone(), all.collect::<BTreeMap<String, Vec<f32>>>())
    }

    /// As many zeros.
    pub fn zeros(&self) -> Params {
        Params { tensors: self.tensors.iter().map(|numbers| vec![0.0; numbers.len()]).collect() }
    }

    /// Adds others, number by number.
    pub fn add(&mut self, other: &Params) {
        for (numbers, more) in self.tensors.iter_mut().zip(&other.tensors) {
            for (number, more) in numbers.iter_mut().zip(more) {
                *number += more;
            }
        }
    }
}
