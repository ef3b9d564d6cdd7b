//! A network with its weights, and the safetensors file that holds it. The spec travels in the metadata of the file as
//! JSON under `sortie`; tensors are little-endian f32 with the names and shapes of `NetSpec::tensors`.

use crate::spec::{NetSpec, Scale, Tensor};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use sortie_core::Rng;
use std::collections::{BTreeMap, HashMap};

/// No file is larger than this.
pub const BYTES_MAX: u64 = 64 << 20;
/// The key of the spec in the metadata.
const KEY: &str = "sortie";

/// A network.
#[derive(Debug, Clone, PartialEq)]
pub struct Net {
    spec: NetSpec,
    weights: BTreeMap<String, Vec<f32>>,
}

/// Why a file is not a network that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// Larger than any network.
    #[error("{0} bytes: expected at most {BYTES_MAX}")]
    TooLarge(u64),
    /// Not a safetensors file, or only a part of one.
    #[error("not a whole safetensors file: {0}")]
    Torn(String),
    /// A safetensors file of somebody else's.
    #[error("not a network of sortie: expected the key '{KEY}' in the metadata, found {0}")]
    Foreign(String),
    /// The spec is not one.
    #[error("the spec in its metadata: {0}")]
    Spec(String),
    /// The tensors are not those of the spec.
    #[error("tensor {name}: expected {expected}, found {found}")]
    Tensor {
        /// Its name.
        name: String,
        /// What the architecture has there.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// The weights are not numbers.
    #[error("tensor {0} holds a number that is not finite")]
    NotFinite(String),
}

impl Net {
    /// A network of these weights: `NetSpec::tensors` and nothing else.
    pub fn new(spec: NetSpec, mut weights: BTreeMap<String, Vec<f32>>) -> Result<Net, NetError> {
        spec.check().map_err(NetError::Spec)?;
        let mut kept = BTreeMap::new();
        for Tensor { name, shape } in spec.tensors() {
            let fail = |found: String| {
                let expected = format!("{} numbers, {shape:?}", shape.iter().product::<usize>());
                NetError::Tensor { name: name.clone(), expected, found }
            };
            let values = weights.remove(&name).ok_or_else(|| fail("none".into()))?;
            if values.len() != shape.iter().product::<usize>() {
                return Err(fail(format!("{} numbers", values.len())));
            }
            if !values.iter().all(|value| value.is_finite()) {
                return Err(NetError::NotFinite(name));
            }
            kept.insert(name, values);
        }
        match weights.into_keys().next() {
            None => Ok(Net { spec, weights: kept }),
            Some(name) => Err(NetError::Tensor { name, expected: "none".into(), found: "one".into() }),
        }
    }

    /// Random weights of about the size that keeps activations alive through the layers (He et al. 2015), and small
    /// random biases.
    pub fn random(spec: NetSpec, seed: u64) -> Result<Net, NetError> {
        spec.check().map_err(NetError::Spec)?;
        let mut rng = Rng::new(seed, 0);
        let mut draw = |limit: f64| ((2.0 * rng.unit() - 1.0) * limit) as f32;
        let tensors = spec.tensors().into_iter().map(|Tensor { name, shape }| {
            let count: usize = shape.iter().product();
            let fan_in = if shape.len() > 1 { count / shape[0] } else { 36 };
            let limit = (6.0 / fan_in as f64).sqrt() * if shape.len() > 1 { 1.0 } else { 0.25 };
            (name, (0..count).map(|_| draw(limit)).collect())
        });
        let weights = tensors.collect();
        Net::new(spec, weights)
    }

    /// The same with a value head that can learn scores of this scale: one that guesses the mean, unless there is a
    /// head already. A scale that it has it keeps, or else its weights would mean something else.
    pub fn with_value(mut self, scale: Scale) -> Net {
        if !self.spec.value {
            self.spec.value = true;
            self.weights.insert("value.weight".into(), vec![0.0; self.spec.filters]);
            self.weights.insert("value.bias".into(), vec![0.0]);
        }
        self.spec.scale.get_or_insert(scale);
        self
    }

    /// What it is.
    pub fn spec(&self) -> &NetSpec {
        &self.spec
    }

    /// A tensor of `NetSpec::tensors`.
    pub fn tensor(&self, name: &str) -> &[f32] {
        self.weights.get(name).unwrap_or_else(|| panic!("a {} has no {name}", self.spec.architecture.name()))
    }

    /// How many weights it has.
    pub fn parameters(&self) -> usize {
        self.weights.values().map(Vec::len).sum()
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors = self.spec.tensors();
        let bytes: Vec<Vec<u8>> = tensors
            .iter()
            .map(|tensor| self.tensor(&tensor.name).iter().flat_map(|value| value.to_le_bytes()).collect())
            .collect();
        let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
            let view =
                TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).expect("as long as its shape says");
            (tensor.name.clone(), view)
        });
        let spec = serde_json::to_string(&self.spec).expect("a spec is plain data");
        safetensors::serialize(views, Some(HashMap::from([(KEY.to_string(), spec)]))).expect("plain data")
    }

    /// The network in a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Net, NetError> {
        if bytes.len() as u64 > BYTES_MAX {
            return Err(NetError::TooLarge(bytes.len() as u64));
        }
        let torn = |error: safetensors::SafeTensorError| NetError::Torn(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(torn)?;
        let file = SafeTensors::deserialize(bytes).map_err(torn)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let Some(spec) = metadata.get(KEY) else {
            let mut keys: Vec<String> = metadata.into_keys().take(4).collect();
            keys.sort();
            return Err(NetError::Foreign(if keys.is_empty() { "none".into() } else { keys.join(", ") }));
        };
        let spec: NetSpec = serde_json::from_str(spec).map_err(|error| NetError::Spec(error.to_string()))?;
        spec.check().map_err(NetError::Spec)?;
        let mut weights = BTreeMap::new();
        for Tensor { name, shape } in spec.tensors() {
            let view = file.tensor(&name).ok();
            let found = || view.as_ref().map_or("none".into(), |view| kind(view.dtype(), view.shape()));
            match &view {
                Some(view) if view.shape() == shape && view.dtype() == Dtype::F32 => {
                    let numbers = view.data().chunks_exact(4);
                    let numbers = numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                    weights.insert(name, numbers.collect());
                }
                _ => {
                    let expected = kind(Dtype::F32, &shape);
                    return Err(NetError::Tensor { found: found(), name, expected });
                }
            }
        }
        if let Some(name) = file.names().into_iter().filter(|name| !weights.contains_key(*name)).min() {
            let found = file.tensor(name).map_or("one".into(), |view| kind(view.dtype(), view.shape()));
            return Err(NetError::Tensor { name: name.to_string(), expected: "none".into(), found });
        }
        Net::new(spec, weights)
    }
}

/// A kind of tensor for people: `F32 [32, 17, 3, 3]`.
fn kind(dtype: Dtype, shape: &[usize]) -> String {
    format!("{dtype:?} {shape:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Architecture, FORMAT};

    fn spec(architecture: Architecture) -> NetSpec {
        NetSpec {
            format: FORMAT,
            domain: "morpion-5D".into(),
            representation: "r1".into(),
            inputs: 9,
            outputs: 4,
            size: 12,
            architecture,
            filters: 8,
            depth: 3,
            value: true,
            about: "random".into(),
            scale: Some(Scale { mean: 61.5, deviation: 4.25 }),
        }
    }

    fn all() -> [Architecture; 3] {
        [Architecture::Basic, Architecture::Residual, Architecture::Mobile]
    }

    #[test]
    fn files_round_trip() {
        for architecture in all() {
            let net = Net::random(spec(architecture), 1).unwrap();
            let bytes = net.to_bytes();
            assert_eq!(Net::from_bytes(&bytes).unwrap(), net);
            assert_eq!(bytes, Net::from_bytes(&bytes).unwrap().to_bytes());
        }
        let basic = Net::random(spec(Architecture::Basic), 1).unwrap();
        assert_eq!(basic.parameters(), 9 * 9 * 8 + 8 + 2 * (9 * 8 * 8 + 8) + 4 * 8 + 4 + 8 + 1);
        assert_ne!(basic, Net::random(spec(Architecture::Basic), 2).unwrap());
    }

    #[test]
    fn truncated_files_are_refused() {
        let bytes = Net::random(spec(Architecture::Basic), 1).unwrap().to_bytes();
        for end in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
            let error = Net::from_bytes(&bytes[..end]).unwrap_err();
            assert!(matches!(error, NetError::Torn(_)), "{end}: {error}");
        }
        assert!(matches!(Net::from_bytes(b"no net at all"), Err(NetError::Torn(_))));
    }

    /// A file whose spec says one thing and whose tensors are another.
    fn with_spec(net: &Net, change: impl Fn(&mut NetSpec)) -> Result<Net, NetError> {
        let mut other = net.clone();
        change(&mut other.spec);
        let (bytes, spec) = (net.to_bytes(), serde_json::to_string(&net.spec).unwrap());
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let text = String::from_utf8(bytes[8..8 + header].to_vec()).unwrap();
        let quoted = |spec: &str| serde_json::to_string(spec).unwrap();
        let changed = text.replace(&quoted(&spec), &quoted(&serde_json::to_string(&other.spec).unwrap()));
        assert_ne!(text, changed);
        let changed = format!("{changed:<width$}", width = changed.len().next_multiple_of(8));
        let mut file = (changed.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(changed.as_bytes());
        file.extend_from_slice(&bytes[8 + header..]);
        Net::from_bytes(&file)
    }

    #[test]
    fn other_architectures_and_sizes_are_refused_with_what_was_expected_and_found() {
        let net = Net::random(spec(Architecture::Basic), 1).unwrap();
        let message = |change: &dyn Fn(&mut NetSpec)| with_spec(&net, change).unwrap_err().to_string();
        let text = message(&|spec| spec.architecture = Architecture::Mobile);
        assert_eq!(text, "tensor layers.1.expand.weight: expected F32 [16, 8, 1, 1], found none");
        let text = message(&|spec| spec.filters = 16);
        assert_eq!(text, "tensor layers.0.weight: expected F32 [16, 9, 3, 3], found F32 [8, 9, 3, 3]");
        let text = message(&|spec| spec.depth = 4);
        assert_eq!(text, "tensor layers.3.weight: expected F32 [8, 8, 3, 3], found none");
        let text = message(&|spec| (spec.value, spec.scale) = (false, None));
        assert_eq!(text, "tensor value.bias: expected none, found F32 [1]");
        assert!(message(&|spec| spec.filters = 1 << 40).contains("filters 1099511627776: expected 1 to 512"));
        let text = message(&|spec| (spec.filters, spec.depth) = (512, 64));
        assert!(text.contains("weights: expected at most"), "{text}");
        assert!(message(&|spec| spec.depth = 0).contains("depth 0"));
        assert!(message(&|spec| spec.format = 2).contains("format 2: expected 1"));
        assert!(message(&|spec| spec.value = false).contains("expected none without a value head"));
        for deviation in [0.0, -1.0] {
            let text = message(&|spec| spec.scale = Some(Scale { mean: 60.0, deviation }));
            assert!(text.contains("expected numbers, the second above 0"), "{text}");
        }
        assert!(with_spec(&net, |spec| spec.about = "changed".into()).is_ok());
    }

    #[test]
    fn a_network_without_a_value_head_can_be_given_one() {
        let (first, other) = (Scale { mean: 60.0, deviation: 4.0 }, Scale { mean: 70.0, deviation: 2.0 });
        let plain = NetSpec { value: false, scale: None, ..spec(Architecture::Mobile) };
        let net = Net::random(plain.clone(), 1).unwrap();
        let grown = net.clone().with_value(first);
        assert_eq!(Net::from_bytes(&grown.to_bytes()).unwrap(), grown);
        assert_eq!(grown.tensor("head.weight"), net.tensor("head.weight"));
        assert!(grown.tensor("value.weight").iter().all(|&weight| weight == 0.0));
        assert_eq!(grown.spec(), &NetSpec { value: true, scale: Some(first), ..plain });
        assert_eq!(grown.clone().with_value(other), grown);
    }

    #[test]
    fn strangers_and_broken_numbers_are_refused() {
        let file = safetensors::serialize(Vec::<(String, TensorView)>::new(), None).unwrap();
        assert!(Net::from_bytes(&file).unwrap_err().to_string().contains("found none"));
        let net = Net::random(spec(Architecture::Basic), 1).unwrap();
        let mut weights = net.weights.clone();
        weights.get_mut("head.bias").unwrap()[2] = f32::NAN;
        assert_eq!(Net::new(net.spec, weights), Err(NetError::NotFinite("head.bias".into())));
    }
}
