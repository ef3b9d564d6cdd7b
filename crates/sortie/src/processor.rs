//! Whether this processor can run this build. The hot loops are built for x86-64-v3 (`.cargo/config.toml`); an older
//! processor would die of an illegal instruction without a word.

/// What the processor lacks, or `None`.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub fn lacks() -> Option<&'static str> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // Not `is_x86_feature_detected!`: that is constant in a build that already assumes the feature.
    if __cpuid(0).eax < 7 {
        return Some("AVX2");
    }
    let extended = __cpuid_count(7, 0).ebx;
    match (extended >> 5 & 1, extended >> 8 & 1) {
        (0, _) => Some("AVX2"),
        (_, 0) => Some("BMI2"),
        _ => None,
    }
}

/// What the processor lacks: nothing, this build assumes nothing.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
pub fn lacks() -> Option<&'static str> {
    None
}
