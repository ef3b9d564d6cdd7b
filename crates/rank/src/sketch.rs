//! How many different keys were seen, in a kilobyte (HyperLogLog, Flajolet et al. 2007): the nodes of many ranks counted
//! once each. Its standard error is 3 %.

const BITS: u32 = 10;
const REGISTERS: usize = 1 << BITS;

/// A set of keys that only knows its size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sketch(Vec<u8>);

impl Default for Sketch {
    fn default() -> Self {
        Sketch(vec![0; REGISTERS])
    }
}

impl Sketch {
    /// Adds a key. Keys must look random.
    pub fn add(&mut self, key: u64) {
        let key = sortie_core::mix(key);
        let register = &mut self.0[(key >> (64 - BITS)) as usize];
        *register = (*register).max((key << BITS | 1 << (BITS - 1)).leading_zeros() as u8 + 1);
    }

    /// Adds all keys of another.
    pub fn merge(&mut self, other: &Sketch) {
        self.0.iter_mut().zip(&other.0).for_each(|(ours, theirs)| *ours = (*ours).max(*theirs));
    }

    /// About how many there are.
    pub fn count(&self) -> f64 {
        let m = REGISTERS as f64;
        let empty = self.0.iter().filter(|&&r| r == 0).count();
        let estimate =
            0.7213 / (1.0 + 1.079 / m) * m * m / self.0.iter().map(|&r| 0.5f64.powi(r.into())).sum::<f64>();
        // Few keys: the empty registers tell more.
        if estimate <= 2.5 * m && empty > 0 { m * (m / empty as f64).ln() } else { estimate }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Sketch> {
        (bytes.len() == REGISTERS && bytes.iter().all(|&r| r <= 64)).then(|| Sketch(bytes.to_vec()))
    }
}

impl Sketch {
    /// The bytes of a sketch on the wire.
    pub(super) const BYTES: usize = REGISTERS;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_close_and_nothing_counts_twice() {
        for n in [0u64, 10, 1000, 100_000] {
            let (mut a, mut b) = (Sketch::default(), Sketch::default());
            (0..n).for_each(|key| a.add(key));
            (n / 2..n).for_each(|key| b.add(key));
            a.merge(&b);
            assert!((a.count() - n as f64).abs() <= 0.1 * n as f64, "{n}: {}", a.count());
            assert_eq!(Sketch::from_bytes(a.bytes()), Some(a));
        }
    }
}
