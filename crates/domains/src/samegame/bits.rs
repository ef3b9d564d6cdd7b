//! Sets of cells as bits: a lane of `LANE` bits per column, bit 0 the bottom row, the top bit always clear so that no
//! shift by one carries into the next column.
//!
//! What takes a `Processor` uses its instructions, and is inlined into whoever has found out which they are.
//! `Bits<16, 4>` is one 256-bit register and holds every board up to 16 columns by 15 rows; `Bits<64, 64>` the rest.

use sortie_core::Processor;

/// A set of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits<const LANE: usize, const W: usize>(pub [u64; W]);

impl<const LANE: usize, const W: usize> Bits<LANE, W> {
    pub const EMPTY: Self = Bits([0; W]);
    const PER_WORD: usize = 64 / LANE;
    pub const LANE_MASK: u64 = if LANE == 64 { u64::MAX } else { (1 << LANE) - 1 };

    /// The most columns and rows a board may have.
    pub const COLUMNS_MAX: usize = W * Self::PER_WORD;
    pub const ROWS_MAX: usize = LANE - 1;

    #[inline(always)]
    pub fn insert(&mut self, cell: usize) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    #[inline(always)]
    pub fn contains(&self, cell: usize) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }

    /// Calls `f(word, shift, rows)` for every column that has cells: its rows are the bits of the word from `shift` on.
    #[inline(always)]
    pub fn for_each_lane(&self, mut f: impl FnMut(usize, usize, u64)) {
        for (word, &bits) in self.0.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let shift = bits.trailing_zeros() as usize / LANE * LANE;
                f(word, shift, bits >> shift & Self::LANE_MASK);
                bits &= !(Self::LANE_MASK << shift);
            }
        }
    }

    /// The set and everything above it, column by column.
    #[inline(always)]
    pub fn and_above(&self, processor: Processor) -> Self {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && LANE == 16 && W == 4 {
            // SAFETY: here and below, a wide processor has AVX2.
            return Self::store(unsafe { register::and_above(self.load()) });
        }
        let mut all = Self::EMPTY;
        let rows = Self::LANE_MASK >> 1;
        self.for_each_lane(
            #[inline(always)]
            |word, shift, lane| {
                all.0[word] |= (rows & !(lane & lane.wrapping_neg()).wrapping_sub(1)) << shift
            },
        );
        all
    }

    /// Takes cells out of all sets, and lets those above them fall.
    #[inline(always)]
    pub fn fall(sets: &mut [Self], gone: &Self, processor: Processor) {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && LANE == 16 && W == 4 {
            // SAFETY: as above; a set is four words, the size of a register.
            return unsafe { register::fall(sets.as_mut_ptr().cast(), sets.len(), gone.load()) };
        }
        gone.for_each_lane(
            #[inline(always)]
            |word, shift, gone| {
                let mask = Self::LANE_MASK << shift;
                for set in &mut *sets {
                    let bits = &mut set.0[word];
                    *bits = *bits & !mask | pack((*bits & mask) >> shift, !gone, processor) << shift;
                }
            },
        );
    }

    /// The columns, as bits, that have cells in `before` and none in this set.
    #[inline(always)]
    pub fn lanes_gone(&self, before: &Self, processor: Processor) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && LANE == 16 && W == 4 {
            // SAFETY: as above.
            return unsafe { register::lanes_gone(self.load(), before.load()) };
        }
        let mut gone = 0;
        before.for_each_lane(
            #[inline(always)]
            |word, shift, _| {
                let left = self.0[word] >> shift & Self::LANE_MASK;
                gone |= u64::from(left == 0) << ((word * 64 + shift) / LANE);
            },
        );
        gone
    }

    /// Takes a column out; the columns to its right move left.
    pub fn close_lane(&mut self, column: usize) {
        let (word, shift) = (column / Self::PER_WORD, column % Self::PER_WORD * LANE);
        let below = (1u64 << shift) - 1;
        for i in word..W {
            let below = if i == word { below } else { 0 };
            let next = if i + 1 < W { self.0[i + 1] } else { 0 };
            let moved = if LANE == 64 { next } else { self.0[i] >> LANE | next << (64 - LANE) };
            self.0[i] = self.0[i] & below | moved & !below;
        }
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// The first cell of a set that is not empty, column by column.
    #[inline(always)]
    pub fn first(&self, processor: Processor) -> usize {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && W == 4 {
            // SAFETY: as above.
            let word = unsafe { register::first_word(self.load()) };
            return word * 64 + self.0[word].trailing_zeros() as usize;
        }
        let word = self.0.iter().position(|&w| w != 0).expect("there are cells");
        word * 64 + self.0[word].trailing_zeros() as usize
    }

    #[inline(always)]
    pub fn is_empty(&self, processor: Processor) -> bool {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && W == 4 {
            // SAFETY: as above.
            return unsafe { register::is_empty(self.load()) };
        }
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline(always)]
    pub fn and(&self, other: &Self) -> Self {
        Bits(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    #[inline(always)]
    pub fn or(&self, other: &Self) -> Self {
        Bits(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    #[inline(always)]
    pub fn without(&self, other: &Self) -> Self {
        Bits(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// The cells next to the set in the four directions (some of them may lie in the clear top row).
    #[inline(always)]
    pub fn neighbours(&self, processor: Processor) -> Self {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && LANE == 16 && W == 4 {
            // SAFETY: as above.
            return Self::store(unsafe { register::neighbours(self.load()) });
        }
        let x = &self.0;
        Bits(std::array::from_fn(|i| {
            let left = if i > 0 { x[i - 1] } else { 0 };
            let right = if i + 1 < W { x[i + 1] } else { 0 };
            let across = if LANE == 64 {
                left | right
            } else {
                x[i] << LANE | left >> (64 - LANE) | x[i] >> LANE | right << (64 - LANE)
            };
            x[i] << 1 | x[i] >> 1 | across
        }))
    }

    /// The connected part of `within` that contains `cell`.
    #[inline(always)]
    pub fn flood(cell: usize, within: &Self, processor: Processor) -> Self {
        #[cfg(target_arch = "x86_64")]
        if processor.is_wide() && LANE == 16 && W == 4 {
            // SAFETY: as above.
            return Self::store(unsafe { register::flood(register::single(cell), within.load()) });
        }
        let mut part = Self::EMPTY;
        part.insert(cell);
        loop {
            let grown = part.neighbours(processor).or(&part).and(within);
            if grown == part {
                return part;
            }
            part = grown;
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn load(&self) -> std::arch::x86_64::__m256i {
        assert!(W == 4);
        // SAFETY: four words are the 32 bytes that are read, and who has a use for a register is on a wide processor.
        // SAFETY: the caller has seen to AVX2.
        unsafe { std::arch::x86_64::_mm256_loadu_si256(self.0.as_ptr().cast()) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn store(register: std::arch::x86_64::__m256i) -> Self {
        assert!(W == 4);
        let mut words = [0; W];
        // SAFETY: four words are the 32 bytes that are written, and a register is there.
        // SAFETY: the caller has seen to AVX2.
        unsafe { std::arch::x86_64::_mm256_storeu_si256(words.as_mut_ptr().cast(), register) };
        Bits(words)
    }

    /// A hash of the set. Wide multiplications mix all bits of two words at a time.
    #[inline(always)]
    pub fn hash(&self, seed: u64) -> u64 {
        const KEYS: [u64; 4] =
            [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];
        let mut hash = seed;
        for (i, pair) in self.0.chunks(2).enumerate() {
            let (a, b) = (pair[0], pair.get(1).copied().unwrap_or(0));
            let wide = (a ^ KEYS[2 * (i & 1)] ^ seed) as u128 * (b ^ KEYS[2 * (i & 1) + 1]) as u128;
            hash = hash.rotate_left(23) ^ (wide as u64) ^ (wide >> 64) as u64;
        }
        hash
    }
}

/// `Bits<16, 4>` in one AVX2 register. Left to itself the compiler goes back and forth between vector and scalar code,
/// at four times the cost. Unsafe, all of it, where the processor has no AVX2; no memory is touched.
#[cfg(target_arch = "x86_64")]
mod register {
    use std::arch::x86_64::*;

    #[inline(always)]
    pub unsafe fn neighbours(x: __m256i) -> __m256i {
        // SAFETY: here and below, the caller has seen to AVX2.
        unsafe {
            let vertical = _mm256_or_si256(_mm256_slli_epi64::<1>(x), _mm256_srli_epi64::<1>(x));
            // The halves [0, low] and [high, 0]: what `alignr` takes the lane beyond each half's end from.
            let below = _mm256_permute2x128_si256::<0x08>(x, x);
            let above = _mm256_permute2x128_si256::<0x81>(x, x);
            let right = _mm256_alignr_epi8::<14>(x, below);
            let left = _mm256_alignr_epi8::<2>(above, x);
            _mm256_or_si256(vertical, _mm256_or_si256(right, left))
        }
    }

    /// The first word with a cell; four in an empty set.
    #[inline(always)]
    pub unsafe fn first_word(x: __m256i) -> usize {
        // SAFETY: the caller has seen to AVX2.
        unsafe {
            let empty = _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
            (_mm256_movemask_pd(_mm256_castsi256_pd(empty)) as u32 ^ 0b1_1111).trailing_zeros() as usize
        }
    }

    #[inline(always)]
    pub unsafe fn is_empty(x: __m256i) -> bool {
        // SAFETY: the caller has seen to AVX2.
        unsafe { _mm256_testz_si256(x, x) != 0 }
    }

    /// One cell. Writing a word and reading the register back would stall until the write is done.
    #[inline(always)]
    pub unsafe fn single(cell: usize) -> __m256i {
        // SAFETY: the caller has seen to AVX2.
        unsafe {
            let word = _mm256_set1_epi64x((cell / 64) as i64);
            let here = _mm256_cmpeq_epi64(word, _mm256_setr_epi64x(0, 1, 2, 3));
            _mm256_and_si256(here, _mm256_set1_epi64x((1u64 << (cell % 64)) as i64))
        }
    }

    #[inline(always)]
    pub unsafe fn and_above(x: __m256i) -> __m256i {
        // SAFETY: the caller has seen to AVX2.
        unsafe {
            let zero = _mm256_setzero_si256();
            // In every column x & -x is the lowest cell, one less the cells below it; an empty column gives all.
            let lowest = _mm256_and_si256(x, _mm256_sub_epi16(zero, x));
            let below = _mm256_add_epi16(lowest, _mm256_set1_epi16(-1));
            _mm256_andnot_si256(below, _mm256_set1_epi16(0x7fff))
        }
    }

    /// One row a column at a time, the lowest first: above it all moves down.
    #[inline(always)]
    pub unsafe fn fall(sets: *mut __m256i, n: usize, mut gone: __m256i) {
        // SAFETY: the caller has seen to AVX2, and to `n` sets.
        unsafe {
            loop {
                let lowest = _mm256_and_si256(gone, _mm256_sub_epi16(_mm256_setzero_si256(), gone));
                // All rows of a column that loses nothing.
                let below = _mm256_add_epi16(lowest, _mm256_set1_epi16(-1));
                for i in 0..n {
                    let x = _mm256_loadu_si256(sets.add(i));
                    let moved = _mm256_andnot_si256(below, _mm256_srli_epi16::<1>(x));
                    _mm256_storeu_si256(sets.add(i), _mm256_or_si256(_mm256_and_si256(below, x), moved));
                }
                gone = _mm256_srli_epi16::<1>(_mm256_andnot_si256(lowest, gone));
                if _mm256_testz_si256(gone, gone) != 0 {
                    return;
                }
            }
        }
    }

    #[inline(always)]
    pub unsafe fn lanes_gone(x: __m256i, before: __m256i) -> u64 {
        // SAFETY: the caller has seen to AVX2, and with it to BMI2.
        unsafe {
            let zero = _mm256_setzero_si256();
            let (now, then) = (_mm256_cmpeq_epi16(x, zero), _mm256_cmpeq_epi16(before, zero));
            let gone = _mm256_movemask_epi8(_mm256_andnot_si256(then, now)) as u32;
            _pext_u64(u64::from(gone), 0x5555_5555)
        }
    }

    #[inline(always)]
    unsafe fn grow(part: __m256i, within: __m256i) -> __m256i {
        // SAFETY: the caller has seen to AVX2.
        unsafe { _mm256_and_si256(_mm256_or_si256(part, neighbours(part)), within) }
    }

    #[inline(always)]
    pub unsafe fn flood(seed: __m256i, within: __m256i) -> __m256i {
        // SAFETY: the caller has seen to AVX2.
        unsafe {
            // Most groups are complete after three steps: a test after each would cost more than the steps.
            let mut part = grow(grow(grow(seed, within), within), within);
            loop {
                let grown = grow(part, within);
                let new = _mm256_andnot_si256(part, grown);
                if _mm256_testz_si256(new, new) != 0 {
                    return part;
                }
                part = grown;
            }
        }
    }
}

/// The lowest bits of `bits`, one for each bit of `to`, put where those are: what `pack` undoes.
#[inline(always)]
pub fn spread(bits: u64, to: u64, processor: Processor) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if processor.is_wide() {
        // SAFETY: a wide processor has BMI2.
        return unsafe { std::arch::x86_64::_pdep_u64(bits, to) };
    }
    let (mut bits, mut to, mut all) = (bits, to, 0);
    while to != 0 {
        all |= (to & to.wrapping_neg()) * (bits & 1);
        (bits, to) = (bits >> 1, to & (to - 1));
    }
    all
}

/// The bits of `lane` that `keep` selects, packed to the bottom.
#[inline(always)]
pub fn pack(lane: u64, keep: u64, processor: Processor) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if processor.is_wide() {
        // SAFETY: a wide processor has BMI2.
        return unsafe { std::arch::x86_64::_pext_u64(lane, keep) };
    }
    let (mut lane, mut gone) = (lane, !keep);
    // Close the gaps from the top: those below do not move yet.
    while gone != 0 {
        let top = 63 - gone.leading_zeros();
        let below = (1u64 << top) - 1;
        lane = lane & below | lane >> 1 & !below;
        gone &= below;
    }
    lane
}
