//! A network for tests of programs.

use sortie_neural::{Architecture, FORMAT, Net, NetSpec};

/// A small random network for Morpion 5D.
pub fn net() -> Net {
    let spec = NetSpec {
        format: FORMAT,
        domain: "morpion-5D".into(),
        representation: "r2".into(),
        inputs: 17,
        outputs: 4,
        size: 20,
        architecture: Architecture::Basic,
        filters: 8,
        depth: 2,
        value: false,
        about: "random".into(),
        scale: None,
    };
    Net::random(spec, 5).expect("a sound spec")
}
