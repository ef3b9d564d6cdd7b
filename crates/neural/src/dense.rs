//! What a network computes, written down as plainly as possible: every layer in full, over the whole window. Slow; the
//! kernel and the training are held to it.

use crate::net::Net;
use crate::spec::{Architecture, EXPANSION};
use sortie_core::learn::Scene;

/// What a network says about a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The logits of all moves there could be: `(plane * size + row) * size + column` of the window.
    pub logits: Vec<f32>,
    /// The value, if the network has that head: of the mean of every channel over the window.
    pub value: Option<f32>,
}

impl Answer {
    /// The logits of a scene's moves. Those that the window does not show get the lowest of the others, or zero.
    pub fn moves(&self, scene: &Scene, size: usize) -> Vec<f32> {
        let all: Vec<Option<f32>> =
            scene.outputs.iter().map(|&cell| scene.index(cell, size).map(|i| self.logits[i])).collect();
        let lowest = all.iter().flatten().copied().reduce(f32::min).unwrap_or(0.0);
        all.into_iter().map(|logit| logit.unwrap_or(lowest)).collect()
    }
}

/// The network's answer to dense planes of `inputs * size * size` numbers, as `Scene::planes` makes them.
pub fn forward(net: &Net, planes: &[f32]) -> Answer {
    let spec = net.spec();
    let (size, n) = (spec.size, spec.filters);
    let weights = |name: String| (net.tensor(&format!("{name}.weight")), net.tensor(&format!("{name}.bias")));
    let mut x = conv3x3(planes, size, n, weights("layers.0".into()));
    relu(&mut x);
    for i in 1..spec.depth {
        match spec.architecture {
            Architecture::Basic => {
                x = conv3x3(&x, size, n, weights(format!("layers.{i}")));
                relu(&mut x);
            }
            Architecture::Residual => {
                let more = conv3x3(&x, size, n, weights(format!("layers.{i}")));
                add(&mut x, &more);
                relu(&mut x);
            }
            Architecture::Mobile => {
                let mut wide = conv1x1(&x, size, EXPANSION * n, weights(format!("layers.{i}.expand")));
                relu(&mut wide);
                let mut wide = depthwise3x3(&wide, size, weights(format!("layers.{i}.depthwise")));
                relu(&mut wide);
                let more = conv1x1(&wide, size, n, weights(format!("layers.{i}.project")));
                add(&mut x, &more);
            }
        }
    }
    let value = spec.value.then(|| {
        let (weight, bias) = weights("value".into());
        let mean = |channel: &[f32]| channel.iter().sum::<f32>() / channel.len() as f32;
        bias[0] + x.chunks_exact(size * size).zip(weight).map(|(channel, w)| w * mean(channel)).sum::<f32>()
    });
    Answer { logits: conv1x1(&x, size, spec.outputs, weights("head".into())), value }
}

/// `weight[out][in][row][column]` over `planes[in][row][column]`, with zeros around.
fn conv3x3(planes: &[f32], size: usize, outs: usize, (weight, bias): (&[f32], &[f32])) -> Vec<f32> {
    let area = size * size;
    let ins = planes.len() / area;
    let mut result = Vec::with_capacity(outs * area);
    for out in 0..outs {
        let mut sums = vec![bias[out]; area];
        for (i, plane) in planes.chunks_exact(area).enumerate() {
            add_taps(plane, size, &weight[(out * ins + i) * 9..][..9], &mut sums);
        }
        result.extend(sums);
    }
    result
}

/// `weight[channel][row][column]`, each channel by itself.
fn depthwise3x3(planes: &[f32], size: usize, (weight, bias): (&[f32], &[f32])) -> Vec<f32> {
    let area = size * size;
    let mut result = Vec::with_capacity(planes.len());
    for (channel, plane) in planes.chunks_exact(area).enumerate() {
        let mut sums = vec![bias[channel]; area];
        add_taps(plane, size, &weight[channel * 9..][..9], &mut sums);
        result.extend(sums);
    }
    result
}

/// Adds to every cell the nine around it, itself included, each times its weight. Outside of the window is nothing.
fn add_taps(plane: &[f32], size: usize, weight: &[f32], sums: &mut [f32]) {
    for (tap, weight) in weight.iter().enumerate() {
        let (down, right) = (tap / 3, tap % 3); // 1 is the cell itself
        for y in 1usize.saturating_sub(down)..size.min(size + 1 - down) {
            let from = &plane[(y + down - 1) * size..][..size];
            let to = &mut sums[y * size..][..size];
            for x in 1usize.saturating_sub(right)..size.min(size + 1 - right) {
                to[x] += weight * from[x + right - 1];
            }
        }
    }
}

/// `weight[out][in]` at every cell.
fn conv1x1(planes: &[f32], size: usize, outs: usize, (weight, bias): (&[f32], &[f32])) -> Vec<f32> {
    let area = size * size;
    let ins = planes.len() / area;
    let mut result = Vec::with_capacity(outs * area);
    for out in 0..outs {
        for at in 0..area {
            let sum: f32 = (0..ins).map(|i| weight[out * ins + i] * planes[i * area + at]).sum();
            result.push(bias[out] + sum);
        }
    }
    result
}

fn relu(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
}

fn add(values: &mut [f32], more: &[f32]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_convolution_by_hand() {
        // Two planes of 3x3 with a one each; the weights tell tap and plane apart.
        let mut planes = vec![0.0; 18];
        (planes[4], planes[9 + 8]) = (1.0, 1.0);
        let weight: Vec<f32> = (0..18).map(|i| i as f32 + 1.0).collect();
        let out = conv3x3(&planes, 3, 1, (&weight, &[100.0]));
        // The middle of the first plane is seen from the upper left cell through the lower right weight, and so on.
        let first = [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
        let second = [0.0, 0.0, 0.0, 0.0, 18.0, 17.0, 0.0, 15.0, 14.0];
        let expected: Vec<f32> = first.iter().zip(second).map(|(a, b)| 100.0 + a + b).collect();
        assert_eq!(out, expected);
        assert_eq!(depthwise3x3(&planes, 3, (&weight, &[0.0; 2]))[..9], first);
        assert_eq!(conv1x1(&planes, 3, 1, (&[2.0, 3.0], &[1.0]))[4..], [3.0, 1.0, 1.0, 1.0, 4.0]);
    }
}
