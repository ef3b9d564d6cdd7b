//! Which instructions the hot loops use, found out when a search begins. A build assumes nothing of the processor; its
//! hot loops are compiled twice, for any processor and for one with AVX2 and BMI2 (x86-64-v3, about every one since
//! 2015), where bit boards are two to four times as fast.
//!
//! Both are the same code and give the same answers to the last bit: fused multiplications, which round differently,
//! are left out. What runs inside `Processor::run` is compiled for the processor as far as it is inlined into it; a
//! domain whose kernel uses the instructions by name keeps a `Processor` of its own and asks `is_wide`.

/// What may be asked of the processor. Only `here` makes one that may be asked for more than every processor has, so
/// that to hold it is the proof that its instructions are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Processor {
    wide: bool,
}

impl Processor {
    /// Any processor of the architecture that the build is for.
    pub const PORTABLE: Processor = Processor { wide: false };

    /// The processor that this runs on.
    pub fn here() -> Processor {
        #[cfg(target_arch = "x86_64")]
        {
            // The list of `wide` below.
            let wide = std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("bmi2")
                && std::arch::is_x86_feature_detected!("lzcnt")
                && std::arch::is_x86_feature_detected!("popcnt");
            Processor { wide }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Processor::PORTABLE
    }

    /// Whether there are AVX2, BMI1, BMI2, LZCNT and POPCNT.
    #[inline(always)]
    pub fn is_wide(self) -> bool {
        cfg!(target_arch = "x86_64") && self.wide
    }

    /// The path through the hot loops, for people.
    pub fn name(self) -> &'static str {
        if self.is_wide() { "AVX2 and BMI2" } else { "portable" }
    }

    /// Does the work with all that the processor has. The closure should be `#[inline(always)]`, and what it calls
    /// inlined into it: a function that is called keeps to what every processor has. The closure is handed the
    /// processor as a constant, so that what asks `is_wide` there is decided when it is compiled.
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce(Processor) -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        if self.wide {
            // SAFETY: `here` has found every feature that `wide` enables.
            return unsafe { wide(work) };
        }
        work(Processor::PORTABLE)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn wide<R>(work: impl FnOnce(Processor) -> R) -> R {
    work(Processor { wide: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_on_every_path() {
        for processor in [Processor::PORTABLE, Processor::here()] {
            let bits = std::hint::black_box(0xf0f0u64);
            assert_eq!(
                processor.run(
                    #[inline(always)]
                    |_| bits.count_ones()
                ),
                8
            );
        }
        assert_eq!(Processor::PORTABLE.name(), "portable");
        assert!(!Processor::PORTABLE.is_wide());
    }
}
