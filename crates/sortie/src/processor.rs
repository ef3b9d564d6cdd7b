//! What this build makes of the processor: which path the hot loops take. They choose when a search begins
//! (`sortie_core::Processor`); no build needs more than every processor of its architecture has.

use sortie_core::Processor;

/// The path of the hot loops here, for people.
pub fn path() -> String {
    let processor = Processor::here();
    let built = if cfg!(target_feature = "avx2") { ", as this build takes for granted" } else { "" };
    format!("{} on {}{built}", processor.name(), std::env::consts::ARCH)
}

/// Whether the hot loops run as fast as they can: everywhere but on an x86-64 without AVX2 or BMI2.
pub fn is_fast() -> bool {
    Processor::here().is_wide() || !cfg!(target_arch = "x86_64")
}

/// What `--version --verbose` says.
pub fn version() -> String {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!(
        "sortie {}\nbuild      {profile}, {}-{}\nhot loops  {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        path()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_named() {
        assert!(path().contains(Processor::here().name()), "{}", path());
        assert!(version().contains(&path()) && version().contains(env!("CARGO_PKG_VERSION")));
    }
}
