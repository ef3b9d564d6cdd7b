//! What an input has reached. The compiler's counters (`-C instrument-coverage`, stable) lie one after the other between two
//! symbols of its runtime; cleared before an input and read after it they say which places were passed, and about how
//! often.

#[cfg(fuzz_coverage)]
unsafe extern "C" {
    fn __llvm_profile_begin_counters() -> *mut u64;
    fn __llvm_profile_end_counters() -> *mut u64;
}

/// The counters of this program; none without coverage.
#[cfg(fuzz_coverage)]
fn counters() -> &'static mut [u64] {
    // SAFETY: both are linked in with `-C instrument-coverage` and bound one array of aligned u64 in this program's data,
    // which lives as long as it does. Other threads may add to a counter meanwhile; a count that gets lost costs an input.
    unsafe {
        let (begin, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
        std::slice::from_raw_parts_mut(begin, end.offset_from(begin).max(0) as usize)
    }
}

#[cfg(not(fuzz_coverage))]
fn counters() -> &'static mut [u64] {
    &mut []
}

/// What all inputs so far have reached.
pub struct Coverage {
    /// For each counter the sizes of its counts that came up, a bit each.
    seen: Vec<u8>,
    reached: usize,
}

impl Coverage {
    /// Nothing yet.
    pub fn new() -> Coverage {
        Coverage { seen: vec![0; counters().len()], reached: 0 }
    }

    /// Before an input.
    pub fn clear(&mut self) {
        counters().fill(0);
    }

    /// After it: whether it passed a place that none has passed, or as often as none has.
    pub fn news(&mut self) -> bool {
        let mut news = false;
        for (count, seen) in counters().iter().zip(&mut self.seen) {
            let size = match *count {
                0 => continue,
                1 => 1,
                2 | 3 => 2,
                4..16 => 4,
                16..128 => 8,
                _ => 16,
            };
            self.reached += usize::from(*seen == 0);
            news |= *seen & size == 0;
            *seen |= size;
        }
        news
    }

    /// Places that were passed.
    pub fn reached(&self) -> usize {
        self.reached
    }
}
