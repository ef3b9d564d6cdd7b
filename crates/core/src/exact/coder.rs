//! An adaptive binary range coder for numbers of moves: each bit of a number is coded with odds that belong to the bits
//! before it and to a context, and move a sixteenth of the way towards what came. G. Martin, "Range encoding" (1979).

/// Contexts.
const CONTEXTS: usize = 64;
/// Odds are of so many.
const WHOLE: u32 = 1 << 12;

/// Writes.
pub(super) struct Encoder {
    odds: Vec<u16>,
    bits: u32,
    low: u64,
    range: u32,
    out: Vec<u8>,
}

impl Encoder {
    pub fn new(bits: u32) -> Encoder {
        Encoder { odds: start(bits), bits, low: 0, range: u32::MAX, out: Vec::new() }
    }

    pub fn put(&mut self, context: u8, number: u16) {
        let mut node = 1;
        for shift in (0..self.bits).rev() {
            let bit = number >> shift & 1;
            let odds = &mut self.odds[(usize::from(context) << self.bits) + node];
            let bound = (self.range >> 12) * u32::from(*odds);
            if bit == 0 {
                self.range = bound;
                *odds += (WHOLE as u16 - *odds) >> 4;
            } else {
                self.low += u64::from(bound);
                self.range -= bound;
                *odds -= *odds >> 4;
            }
            node = node << 1 | usize::from(bit);
            if self.low > u64::from(u32::MAX) {
                self.low &= u64::from(u32::MAX);
                // A carry: somebody before it is not all ones, or the number would be larger than what was begun with.
                for byte in self.out.iter_mut().rev() {
                    *byte = byte.wrapping_add(1);
                    if *byte != 0 {
                        break;
                    }
                }
            }
            while self.range < 1 << 24 {
                self.shift();
            }
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        (0..4).for_each(|_| self.shift());
        self.out
    }

    fn shift(&mut self) {
        self.out.push((self.low >> 24) as u8);
        self.low = self.low << 8 & u64::from(u32::MAX);
        self.range <<= 8;
    }
}

/// Reads.
pub(super) struct Decoder<'a> {
    odds: Vec<u16>,
    bits: u32,
    bytes: &'a [u8],
    at: usize,
    range: u32,
    code: u32,
}

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8], bits: u32) -> Decoder<'a> {
        let mut decoder = Decoder { odds: start(bits), bits, bytes, at: 0, range: u32::MAX, code: 0 };
        (0..4).for_each(|_| decoder.shift());
        decoder.range = u32::MAX;
        decoder
    }

    /// The next number; `None` once more was read than there is.
    pub fn get(&mut self, context: u8) -> Option<u16> {
        let mut node = 1;
        for _ in 0..self.bits {
            let odds = &mut self.odds[(usize::from(context) << self.bits) + node];
            let bound = (self.range >> 12) * u32::from(*odds);
            if self.code < bound {
                self.range = bound;
                *odds += (WHOLE as u16 - *odds) >> 4;
                node <<= 1;
            } else {
                self.code -= bound;
                self.range -= bound;
                *odds -= *odds >> 4;
                node = node << 1 | 1;
            }
            while self.range < 1 << 24 {
                self.shift();
            }
        }
        (self.at <= self.bytes.len()).then(|| (node - (1 << self.bits)) as u16)
    }

    /// Whether every byte was read, and none more.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn shift(&mut self) {
        self.code = self.code << 8 | u32::from(self.bytes.get(self.at).copied().unwrap_or(0));
        self.at += 1;
        self.range <<= 8;
    }
}

fn start(bits: u32) -> Vec<u16> {
    vec![WHOLE as u16 / 2; CONTEXTS << bits]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_is_written_is_read() {
        let mut rng = Rng::new(7, 0);
        let numbers: Vec<(u8, u16)> =
            (0..20_000).map(|_| (rng.below(64) as u8, (rng.below(3) * rng.below(40)) as u16)).collect();
        let mut encoder = Encoder::new(7);
        numbers.iter().for_each(|&(context, number)| encoder.put(context, number));
        let bytes = encoder.finish();
        let mut decoder = Decoder::new(&bytes, 7);
        for &(context, number) in &numbers {
            assert_eq!(decoder.get(context), Some(number));
        }
        assert!(decoder.is_done());
    }
}
