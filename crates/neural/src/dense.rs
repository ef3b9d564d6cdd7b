//! What a network computes, written down as plainly as possible: every layer in full, over the whole window. Slow; the
//! kernel and the training are held to it.

use crate::net::Net;
use crate::spec::{Architecture, EXPANSION};
use sortie_core::planes::Scene;
use std::collections::BTreeSet;

/// What a network says about a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The logits of the scene's moves. Those that the window does not show have the lowest of the others, or zero.
    pub logits: Vec<f32>,
    /// The value, if the network has that head: a linear function of every channel's mean over the cells of the last
    /// layer at which the moves that the window shows have their logits, each cell once. Without such a move it is the
    /// bias.
    pub value: Option<f32>,
}

/// The network's answer to a scene.
pub fn forward(net: &Net, scene: &Scene) -> Answer {
    let spec = net.spec();
    let (size, n) = (spec.size, spec.filters);
    let area = size * size;
    let weights = |name: String| (net.tensor(&format!("{name}.weight")), net.tensor(&format!("{name}.bias")));
    let mut planes = vec![0.0; spec.inputs * area];
    scene.planes(size, &mut planes);
    let mut x = conv3x3(&planes, size, n, weights("layers.0".into()));
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
    let shown: Vec<Option<usize>> = scene.outputs.iter().map(|&cell| scene.index(cell, size)).collect();
    let value = spec.value.then(|| {
        let (weight, bias) = weights("value".into());
        let cells: BTreeSet<usize> = shown.iter().flatten().map(|index| index % area).collect();
        let count = cells.len().max(1) as f32;
        let mean = |channel: &[f32]| cells.iter().map(|&cell| channel[cell]).sum::<f32>() / count;
        bias[0] + x.chunks_exact(area).zip(weight).map(|(channel, w)| w * mean(channel)).sum::<f32>()
    });
    let logits = conv1x1(&x, size, spec.outputs, weights("head".into()));
    let lowest = shown.iter().flatten().map(|&index| logits[index]).reduce(f32::min).unwrap_or(0.0);
    Answer { logits: shown.iter().map(|index| index.map_or(lowest, |index| logits[index])).collect(), value }
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
    use crate::spec::NetSpec;
    use crate::train::tests::tiny;
    use sortie_core::planes::Cell;
    use std::collections::BTreeMap;

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
    #[test]
    fn a_value_by_hand() {
        // One layer that hands on its two planes as they are, next to nothing else.
        let spec = NetSpec { value: true, filters: 2, depth: 1, ..tiny(Architecture::Basic) };
        let mut weights: BTreeMap<String, Vec<f32>> = spec
            .tensors()
            .into_iter()
            .map(|tensor| (tensor.name, vec![0.0; tensor.shape.iter().product()]))
            .collect();
        let first = weights.get_mut("layers.0.weight").unwrap();
        (first[4], first[27 + 4]) = (1.0, 1.0);
        weights.insert("value.weight".into(), vec![6.0, 12.0]);
        weights.insert("value.bias".into(), vec![0.5]);
        let net = Net::new(spec, weights).unwrap();
        let cell = |plane, x, y| Cell { plane, x, y };
        let mut scene = Scene {
            inputs: vec![cell(0, 1, 1), cell(1, 2, 3), cell(1, 5, 5)],
            // Two moves at one cell, which counts once; one at another, one at a third, and one that is not shown.
            outputs: vec![cell(0, 1, 1), cell(1, 1, 1), cell(0, 2, 3), cell(1, 4, 4), cell(0, 9, 9)],
            corner: (0, 0),
        };
        assert_eq!(forward(&net, &scene).value, Some(0.5 + 6.0 / 3.0 + 12.0 / 3.0));
        scene.outputs.drain(..4);
        assert_eq!(forward(&net, &scene).value, Some(0.5));
    }
}
