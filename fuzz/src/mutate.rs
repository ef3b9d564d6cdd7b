//! New inputs from old ones: bytes, numbers, words, lines and pieces of two, several changes at a time.

use crate::INPUT_MAX;
use sortie_core::Rng;

/// Numbers at which something ends.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1e308",
    "-1e-320",
    "NaN",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999",
];
/// What is a beginning or an end nearly everywhere.
const MARKS: [&[u8]; 16] = [
    b"\n",
    b"\r\n",
    b"\0",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b";",
    b"=",
    b"\"",
    b"\\",
    b",",
    b"\xff\xfe",
    b"\xf0\x9f\x98\x80",
];
/// Changes to one input.
const CHANGES_MAX: usize = 6;

/// Who makes them.
pub struct Mutator {
    rng: Rng,
    words: &'static [&'static str],
}

impl Mutator {
    /// Words are those of the format.
    pub fn new(rng: Rng, words: &'static [&'static str]) -> Mutator {
        Mutator { rng, words }
    }

    /// An input from a corpus that is not empty.
    pub fn make(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        // The newest ones have been tried least.
        let recent = corpus.len().min(64);
        let at = if self.rng.below(3) == 0 {
            corpus.len() - 1 - self.rng.below(recent)
        } else {
            self.rng.below(corpus.len())
        };
        let mut input = corpus[at].clone();
        for _ in 0..1 + self.rng.below(CHANGES_MAX) {
            self.change(&mut input, corpus);
        }
        input.truncate(INPUT_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let (at, end) = self.piece(input.len());
        match self.rng.below(12) {
            0 if !input.is_empty() => {
                let bit = self.rng.below(8);
                input[at.min(end - 1)] ^= 1 << bit;
            }
            1 if !input.is_empty() => input[at] = self.rng.bits() as u8,
            2 => drop(input.drain(at..end)),
            3 => input.truncate(at),
            4 => {
                let mark = MARKS[self.rng_below(MARKS.len())];
                self.insert(input, at, mark);
            }
            5 if !self.words.is_empty() => {
                let word = self.words[self.rng_below(self.words.len())];
                self.insert(input, at, word.as_bytes());
            }
            6 => self.number(input, at),
            7 => {
                // The same piece many times: depth, length, repetition.
                let piece = input[at..end.min(at + 256)].to_vec();
                let times = 1 << self.rng.below(10);
                let many = piece.repeat(times.min(INPUT_MAX / piece.len().max(1)));
                self.insert(input, at, &many);
            }
            8 => {
                let other = &corpus[self.rng_below(corpus.len())];
                let (from, to) = self.piece(other.len());
                let piece = other[from..to].to_vec();
                input.splice(at..end, piece);
            }
            9 => {
                // Two lines change places, or one comes twice.
                let mut lines: Vec<Vec<u8>> =
                    input.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                if lines.len() > 1 {
                    let (a, b) = (self.rng_below(lines.len()), self.rng_below(lines.len()));
                    if self.rng.below(2) == 0 {
                        lines.swap(a, b)
                    } else {
                        lines.insert(a, lines[b].clone())
                    }
                    *input = lines.concat();
                }
            }
            10 => {
                let width = [1, 2, 4, 8][self.rng.below(4)];
                let number =
                    [0, 1, u64::MAX, u64::MAX / 2, 1 << 31, self.rng.bits()][self.rng.below(6)].to_le_bytes();
                let end = (at + width).min(input.len());
                input[at..end].copy_from_slice(&number[..end - at]);
            }
            _ => self.insert(input, at, &[self.words.len() as u8 ^ at as u8]),
        }
    }

    /// Another number in the place of one that stands there.
    fn number(&mut self, input: &mut Vec<u8>, at: usize) {
        let digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
        let Some(from) = input[at..].iter().position(digit).map(|n| at + n) else { return };
        let to = input[from..].iter().position(|byte| !digit(byte)).map_or(input.len(), |n| from + n);
        let number = NUMBERS[self.rng_below(NUMBERS.len())];
        input.splice(from..to, number.bytes());
    }

    fn insert(&mut self, input: &mut Vec<u8>, at: usize, piece: &[u8]) {
        input.splice(at..at, piece.iter().copied());
        input.truncate(INPUT_MAX);
    }

    /// A place, and an end not far from it.
    fn piece(&mut self, length: usize) -> (usize, usize) {
        if length == 0 {
            return (0, 0);
        }
        let at = self.rng.below(length);
        let most = [4, 16, 64, length][self.rng_below(4)].min(length);
        let far = 1 + self.rng.below(most);
        (at, (at + far).min(length))
    }

    fn rng_below(&mut self, n: usize) -> usize {
        self.rng.below(n)
    }
}
