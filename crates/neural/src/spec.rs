//! What a network is: the domain it is for, what it is shown, and its architecture. Everything but the weights.
//!
//! All of them are fully convolutional, after Doux, Negrevergne and Cazenave (2021): 3x3 layers of the same width and a
//! 1x1 head with a plane for each kind of move. Outside of the window every layer is zero.

use serde::{Deserialize, Serialize};
use sortie_core::planes::Layout;

/// The version of the file.
pub const FORMAT: u32 = 1;
/// A block of the mobile architecture is so many times wider inside.
pub const EXPANSION: usize = 2;

/// The largest network that is read: far beyond what a search could use.
const FILTERS_MAX: usize = 512;
const DEPTH_MAX: usize = 64;
const SIZE_MAX: usize = 64;
const PLANES_MAX: usize = 256;
const WEIGHTS_MAX: usize = 16 << 20;

/// A network without its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetSpec {
    /// The version of the file.
    pub format: u32,
    /// `Layout::domain` of what it plays: `morpion-5D`.
    pub domain: String,
    /// The name of the representation it is shown: `r2`.
    pub representation: String,
    /// Planes of that representation.
    pub inputs: usize,
    /// Planes of moves.
    pub outputs: usize,
    /// Columns and rows of the window.
    pub size: usize,
    /// How the layers are connected.
    pub architecture: Architecture,
    /// Channels between the layers.
    pub filters: usize,
    /// Layers before the heads, the first one included.
    pub depth: usize,
    /// Whether it also guesses the score.
    pub value: bool,
    /// Where it comes from, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// What its values mean as scores; of a network that was never taught any, they are scores as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
}

/// Scores as a value head learns them: how many deviations above the mean. A head learns these as well in a domain of
/// scores of about 70 as in one of several thousand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The mean of the scores it was taught first.
    pub mean: f64,
    /// Their standard deviation; above 0.
    pub deviation: f64,
}

impl Scale {
    /// The scale of these scores. Those that are all alike have a deviation of 1.
    pub fn of(scores: &[f64]) -> Scale {
        let n = scores.len().max(1) as f64;
        let mean = scores.iter().sum::<f64>() / n;
        let deviation = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
        Scale { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
    }

    /// What a score is to the head.
    pub fn value(self, score: f64) -> f32 {
        ((score - self.mean) / self.deviation) as f32
    }

    /// The score that a value stands for.
    pub fn score(self, value: f32) -> f64 {
        self.mean + self.deviation * value as f64
    }
}

/// How the layers are connected. The first is always a 3x3 convolution with a rectifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// x = relu(conv3x3(x)), layer after layer.
    Basic,
    /// x = relu(x + conv3x3(x)).
    Residual,
    /// x = x + project(relu(depthwise3x3(relu(expand(x))))): 1x1 layers to and from `EXPANSION` times the channels.
    Mobile,
}

impl Architecture {
    /// The name in the file and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::Basic => "basic",
            Architecture::Residual => "residual",
            Architecture::Mobile => "mobile",
        }
    }
}

/// A tensor of a network: its name in the file and its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Its name: `layers.0.weight`.
    pub name: String,
    /// Its shape, the channels that come out first.
    pub shape: Vec<usize>,
}

impl NetSpec {
    /// The paper's basic network, of three layers of 32 filters, for one way to show a domain; `None` where the domain
    /// has no such representation.
    pub fn for_layout(layout: &Layout, representation: &str, size: usize) -> Option<NetSpec> {
        let shown = &layout.representations[layout.representation(representation)?];
        Some(NetSpec {
            format: FORMAT,
            domain: layout.domain.clone(),
            representation: representation.into(),
            inputs: shown.planes.count,
            outputs: layout.outputs.count,
            size,
            architecture: Architecture::Basic,
            filters: 32,
            depth: 3,
            value: false,
            about: String::new(),
            scale: None,
        })
    }

    /// All tensors, in the order of computation. Weights of convolutions are [out, in, rows, columns] (depthwise ones
    /// have one channel in), those of the value head [1, in]; a normalisation is to be folded into them.
    pub fn tensors(&self) -> Vec<Tensor> {
        let mut all = Vec::new();
        let mut pair = |name: String, shape: Vec<usize>| {
            let out = shape[0];
            all.push(Tensor { name: format!("{name}.weight"), shape });
            all.push(Tensor { name: format!("{name}.bias"), shape: vec![out] });
        };
        let n = self.filters;
        pair("layers.0".into(), vec![n, self.inputs, 3, 3]);
        for i in 1..self.depth {
            match self.architecture {
                Architecture::Basic | Architecture::Residual => pair(format!("layers.{i}"), vec![n, n, 3, 3]),
                Architecture::Mobile => {
                    let wide = EXPANSION * n;
                    pair(format!("layers.{i}.expand"), vec![wide, n, 1, 1]);
                    pair(format!("layers.{i}.depthwise"), vec![wide, 1, 3, 3]);
                    pair(format!("layers.{i}.project"), vec![n, wide, 1, 1]);
                }
            }
        }
        pair("head".into(), vec![self.outputs, n, 1, 1]);
        if self.value {
            pair("value".into(), vec![1, n]);
        }
        all
    }

    /// Refuses numbers that no network of ours has: what was found, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("format {}: expected {FORMAT}", self.format));
        }
        let bounds = [
            ("inputs", self.inputs, PLANES_MAX),
            ("outputs", self.outputs, PLANES_MAX),
            ("size", self.size, SIZE_MAX),
            ("filters", self.filters, FILTERS_MAX),
            ("depth", self.depth, DEPTH_MAX),
        ];
        if let Some((name, given, max)) = bounds.iter().find(|(_, given, max)| !(1..=*max).contains(given)) {
            return Err(format!("{name} {given}: expected 1 to {max}"));
        }
        let weights: usize = self.tensors().iter().map(|tensor| tensor.shape.iter().product::<usize>()).sum();
        if weights > WEIGHTS_MAX {
            return Err(format!("{weights} weights: expected at most {WEIGHTS_MAX}"));
        }
        match self.scale {
            Some(_) if !self.value => Err("a scale of scores: expected none without a value head".into()),
            Some(Scale { mean, deviation })
                if !(mean.is_finite() && deviation.is_finite() && deviation > 0.0) =>
            {
                Err(format!(
                    "a scale of mean {mean} and deviation {deviation}: expected numbers, the second above 0"
                ))
            }
            _ => Ok(()),
        }
    }

    /// What its values mean as scores.
    pub fn scale(&self) -> Scale {
        self.scale.unwrap_or(Scale { mean: 0.0, deviation: 1.0 })
    }

    /// Refuses a domain that this network is not for; gives the index of its representation.
    pub fn fits(&self, layout: &Layout) -> Result<usize, String> {
        if self.domain != layout.domain {
            return Err(format!("it is for {}: expected {}", self.domain, layout.domain));
        }
        let Some(index) = layout.representation(&self.representation) else {
            let known: Vec<&str> = layout.representations.iter().map(|r| r.name).collect();
            return Err(format!("representation {}: expected {}", self.representation, known.join(" or ")));
        };
        let planes = layout.representations[index].planes.count;
        if (self.inputs, self.outputs) != (planes, layout.outputs.count) {
            let (given, expected) = ((self.inputs, self.outputs), (planes, layout.outputs.count));
            return Err(format!(
                "{} input and {} output planes: expected {} and {}",
                given.0, given.1, expected.0, expected.1
            ));
        }
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_survive_their_scale() {
        let scale = Scale::of(&[60.0, 64.0, 68.0, 64.0]);
        assert_eq!((scale.mean, scale.deviation), (64.0, 8f64.sqrt()));
        for score in [0.0, 64.0, 82.0] {
            assert!((scale.score(scale.value(score)) - score).abs() < 1e-4);
        }
        assert_eq!(Scale::of(&[70.0, 70.0]), Scale { mean: 70.0, deviation: 1.0 });
        assert_eq!(Scale::of(&[]), Scale { mean: 0.0, deviation: 1.0 });
    }
}
