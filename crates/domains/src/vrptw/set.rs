//! A set of places as bits, its size fixed when the program is compiled, so that the loops over its words are unrolled.

/// Places 0 to 64 W - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set<const W: usize>([u64; W]);

impl<const W: usize> Set<W> {
    /// No place.
    pub const EMPTY: Set<W> = Set([0; W]);

    #[inline]
    pub fn has(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 != 0
    }

    #[inline]
    pub fn insert(&mut self, place: usize) {
        self.insert_if(place, true);
    }

    /// Inserts without a branch.
    #[inline]
    pub fn insert_if(&mut self, place: usize, condition: bool) {
        self.0[place / 64] |= u64::from(condition) << (place % 64);
    }

    #[inline]
    pub fn remove(&mut self, place: usize) {
        self.0[place / 64] &= !(1 << (place % 64));
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    #[inline]
    pub fn and(&self, other: &Set<W>) -> Set<W> {
        Set(std::array::from_fn(|w| self.0[w] & other.0[w]))
    }

    #[inline]
    pub fn without(&self, other: &Set<W>) -> Set<W> {
        Set(std::array::from_fn(|w| self.0[w] & !other.0[w]))
    }

    #[inline]
    pub fn meets(&self, other: &Set<W>) -> bool {
        !self.and(other).is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Calls `f` with every place, in increasing order.
    #[inline]
    pub fn each(&self, mut f: impl FnMut(usize)) {
        for (w, &word) in self.0.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                f(64 * w + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }

    /// Whether `f` holds for some place.
    #[inline]
    pub fn any(&self, mut f: impl FnMut(usize) -> bool) -> bool {
        for (w, &word) in self.0.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                if f(64 * w + word.trailing_zeros() as usize) {
                    return true;
                }
                word &= word - 1;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_what_was_put_in() {
        let mut set = Set::<2>::EMPTY;
        for place in [0, 63, 64, 127, 5] {
            set.insert(place);
        }
        set.insert_if(6, false);
        set.remove(5);
        let mut places = Vec::new();
        set.each(|place| places.push(place));
        assert_eq!(places, [0, 63, 64, 127]);
        assert!(set.has(64) && !set.has(5) && set.len() == 4 && !set.is_empty());
        assert!(set.any(|place| place == 127) && !set.any(|place| place == 126));
        let mut other = Set::EMPTY;
        other.insert(63);
        assert!(set.meets(&other) && !set.without(&other).meets(&other));
    }
}
