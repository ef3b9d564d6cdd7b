//! A proof as it is checked: the lines of its sections packed into bytes, about a third of the text, so that what is
//! read need not fit into memory as text nor as a tree of strings. Read from a stream, line by line.

use super::proof::{Goal, Proof, ProofError, Section};
use std::collections::HashMap;
use std::io::BufRead;

/// The first line of a proof file.
pub(super) const HEADER: &str = "sortie proof 1";
/// More lines than any machine checks.
const LINES_MAX: usize = 1 << 28;
/// Words that are kept once; what comes after them stands in the lines themselves.
const WORDS_MAX: usize = 1 << 14;
/// Bytes of one line of text at most: an argument may be long, a file without line breaks is not read whole.
const LINE_MAX: u64 = 64 << 20;
/// The place of every line of so many is remembered.
const STEP: usize = 16;

/// A proof in packed form.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// `domain/name`.
    pub instance: String,
    /// Where the game begins, if not at its own start.
    pub start: Option<String>,
    /// The moves from there to the position that is proved.
    pub moves: Vec<String>,
    /// Further header lines, for people.
    pub fields: Vec<(String, String)>,
    /// The strategies: one for a win, two for a draw.
    pub sections: Vec<Packed>,
    words: Words,
}

/// A section in packed form.
#[derive(Debug, Clone)]
pub struct Packed {
    /// What it reaches.
    pub goal: Goal,
    /// For each line the number of its entries; for each entry the number of its word plus one, or 0 and the length and
    /// the bytes of the word; then how many lines back it leads, 0 if the game is over after it.
    code: Vec<u8>,
    /// Where line `16 * i` begins.
    places: Vec<u64>,
    lines: usize,
    /// Lines that something leads to, and those that more than one thing leads to.
    once: Bits,
    more: Bits,
}

/// An entry of a line.
pub(super) struct Step<'a> {
    pub word: &'a str,
    pub to: Option<usize>,
    /// Where the next entry begins.
    pub next: usize,
}

#[derive(Debug, Clone, Default)]
struct Words {
    list: Vec<Box<str>>,
    at: HashMap<Box<str>, usize>,
}

impl Script {
    /// Reads the text of a proof. Repeated keys of the header are refused: which of them counts is anybody's guess.
    pub fn read(reader: &mut dyn BufRead) -> Result<Script, ProofError> {
        let mut lines = Lines { reader, buffer: Vec::new(), number: 0 };
        let mut script = Script::default();
        if lines.next()? != Some(HEADER) {
            return Err(lines.wrong("expected 'sortie proof 1'"));
        }
        let (mut keys, mut named) = (Vec::new(), false);
        loop {
            let number = lines.number + 1;
            let wrong = |message: &str| ProofError { line: number, message: message.into() };
            let Some(line) = lines.next()?.filter(|line| !line.is_empty()) else { break };
            let (key, value) =
                line.split_once('=').ok_or_else(|| wrong("expected 'key = value' or an empty line"))?;
            let (key, value) = (key.trim().to_string(), value.trim().to_string());
            if keys.contains(&key) {
                return Err(wrong(&format!("'{key}' is there twice")));
            }
            match key.as_str() {
                "instance" => (script.instance, named) = (value, true),
                "position" => script.start = Some(value),
                "moves" => script.moves = value.split_whitespace().map(String::from).collect(),
                _ => script.fields.push((key.clone(), value)),
            }
            keys.push(key);
        }
        if !named {
            return Err(ProofError { line: 1, message: "expected a line 'instance = domain/name'".into() });
        }
        script.read_sections(&mut lines)?;
        Ok(script)
    }

    fn read_sections(&mut self, lines: &mut Lines) -> Result<(), ProofError> {
        loop {
            let number = lines.number + 1;
            let wrong = |message: &str| ProofError { line: number, message: message.into() };
            let Some(line) = lines.next()? else { break };
            if line.is_empty() {
                continue;
            }
            if let Some(goal) = line.strip_prefix("goal ") {
                let goal = Goal::parse(goal).ok_or_else(|| {
                    wrong("expected 'goal', 'first' or 'second', and 'wins' or 'draws at least'")
                })?;
                self.sections.push(Packed::new(goal));
                continue;
            }
            let section = self.sections.last_mut().ok_or_else(|| wrong("expected a line 'goal ...'"))?;
            if section.lines >= LINES_MAX {
                return Err(wrong("too many lines"));
            }
            section.begin(line.split_whitespace().count());
            for word in line.split_whitespace() {
                let (word, to) = match word.rsplit_once('=') {
                    None => (word, None),
                    Some((word, to)) => {
                        let to = to.parse().ok().filter(|to: &usize| *to < section.lines);
                        let to = to.ok_or_else(|| wrong(&format!("'{word}': expected an earlier line")))?;
                        (word, Some(to))
                    }
                };
                section.enter(&mut self.words, word, to);
            }
            section.lines += 1;
        }
        if self.sections.is_empty() {
            return Err(lines.wrong("expected a line 'goal ...'"));
        }
        Ok(())
    }

    /// Packs a proof.
    pub(crate) fn of(proof: &Proof) -> Script {
        let Proof { instance, start, moves, fields, sections } = proof.clone();
        let mut script =
            Script { instance, start, moves, fields, sections: Vec::new(), words: Words::default() };
        for Section { goal, lines } in sections {
            let mut section = Packed::new(goal);
            for line in lines {
                section.begin(line.len());
                for (word, to) in line {
                    section.enter(&mut script.words, &word, to);
                }
                section.lines += 1;
            }
            script.sections.push(section);
        }
        script
    }

    /// Unpacks it.
    pub fn proof(self) -> Proof {
        let lines = |section: &Packed| {
            let mut lines = Vec::with_capacity(section.lines);
            let mut at = 0;
            for line in 0..section.lines {
                let (count, mut next) = number(&section.code, at);
                let mut entries = Vec::with_capacity(count);
                for _ in 0..count {
                    let step = self.step(section, line, next);
                    entries.push((step.word.to_string(), step.to));
                    next = step.next;
                }
                at = next;
                lines.push(entries);
            }
            lines
        };
        let section = |section: &Packed| Section { goal: section.goal, lines: lines(section) };
        let sections = self.sections.iter().map(section).collect();
        let Script { instance, start, moves, fields, .. } = self;
        Proof { instance, start, moves, fields, sections }
    }

    /// Positions in all sections.
    pub fn positions(&self) -> usize {
        self.sections.iter().map(|section| section.lines).sum()
    }

    /// The entry that begins there.
    pub(super) fn step<'a>(&'a self, section: &'a Packed, line: usize, at: usize) -> Step<'a> {
        let (word, mut at) = number(&section.code, at);
        let word = match word {
            0 => {
                let (length, begin) = number(&section.code, at);
                at = begin + length;
                std::str::from_utf8(&section.code[begin..at]).expect("packed from text")
            }
            word => &*self.words.list[word - 1],
        };
        let (back, next) = number(&section.code, at);
        Step { word, to: (back != 0).then(|| line - back), next }
    }
}

impl Packed {
    fn new(goal: Goal) -> Packed {
        let bits = Bits::default;
        Packed { goal, code: Vec::new(), places: Vec::new(), lines: 0, once: bits(), more: bits() }
    }

    /// How many lines there are.
    pub fn lines(&self) -> usize {
        self.lines
    }

    fn begin(&mut self, entries: usize) {
        if self.lines.is_multiple_of(STEP) {
            self.places.push(self.code.len() as u64);
        }
        put(&mut self.code, entries);
    }

    fn enter(&mut self, words: &mut Words, word: &str, to: Option<usize>) {
        match words.number(word) {
            Some(number) => put(&mut self.code, number + 1),
            None => {
                put(&mut self.code, 0);
                put(&mut self.code, word.len());
                self.code.extend_from_slice(word.as_bytes());
            }
        }
        // A line that leads to itself or beyond comes from no text: the checker says what is wrong with it.
        put(&mut self.code, to.map_or(0, |to| self.lines.saturating_sub(to)));
        if let Some(to) = to {
            match self.once.get(to) {
                true => self.more.set(to),
                false => self.once.set(to),
            }
        }
    }

    /// How many entries a line has, and where the first begins.
    pub(super) fn line(&self, script: &Script, line: usize) -> (usize, usize) {
        let mut at = self.places[line / STEP] as usize;
        for before in line / STEP * STEP..line {
            let (count, mut next) = number(&self.code, at);
            for _ in 0..count {
                next = script.step(self, before, next).next;
            }
            at = next;
        }
        number(&self.code, at)
    }

    /// The first line but the last that nothing leads to.
    pub(super) fn lonely(&self) -> Option<usize> {
        (0..self.lines.saturating_sub(1)).find(|&line| !self.once.get(line))
    }

    /// Lines that more than one entry leads to: they are met again.
    pub(super) fn shared(&self) -> Ranked<'_> {
        let mut sum = 0;
        let before = |word: &u64| {
            let here = sum;
            sum += word.count_ones();
            here
        };
        let before: Vec<u32> = self.more.0.iter().map(before).collect();
        Ranked { bits: &self.more, before, count: sum as usize }
    }
}

/// A set of lines with the number of each within the set.
pub(super) struct Ranked<'a> {
    bits: &'a Bits,
    before: Vec<u32>,
    pub count: usize,
}

impl Ranked<'_> {
    pub fn rank(&self, line: usize) -> Option<usize> {
        let below = (1u64 << (line % 64)) - 1;
        let before = || self.before[line / 64] + (self.bits.0[line / 64] & below).count_ones();
        self.bits.get(line).then(|| before() as usize)
    }
}

#[derive(Debug, Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn set(&mut self, at: usize) {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }
}

impl Words {
    fn number(&mut self, word: &str) -> Option<usize> {
        if let Some(&number) = self.at.get(word) {
            return Some(number);
        }
        // Arguments are all different, and long.
        if self.list.len() >= WORDS_MAX || word.len() > 16 {
            return None;
        }
        self.list.push(word.into());
        self.at.insert(word.into(), self.list.len() - 1);
        Some(self.list.len() - 1)
    }
}

/// Seven bits a byte, the lowest first.
fn put(code: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        code.push(number as u8 | 128);
        number >>= 7;
    }
    code.push(number as u8);
}

fn number(code: &[u8], mut at: usize) -> (usize, usize) {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = code[at];
        number |= usize::from(byte & 127) << shift;
        (at, shift) = (at + 1, shift + 7);
        if byte < 128 {
            return (number, at);
        }
    }
}

/// The lines of a stream, one at a time.
struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    number: usize,
}

impl Lines<'_> {
    /// The next line without what is around it; `None` at the end.
    fn next(&mut self) -> Result<Option<&str>, ProofError> {
        self.buffer.clear();
        self.number += 1;
        let read = std::io::Read::take(&mut *self.reader, LINE_MAX).read_until(b'\n', &mut self.buffer);
        match read {
            Err(error) => return Err(self.wrong(&format!("cannot be read: {error}").to_lowercase())),
            Ok(0) => return Ok(None),
            Ok(_) => {}
        }
        if self.buffer.len() as u64 == LINE_MAX && !self.buffer.ends_with(b"\n") {
            return Err(self.wrong("too long a line"));
        }
        let number = self.number;
        let text = std::str::from_utf8(&self.buffer);
        let text = text.map_err(|_| ProofError { line: number, message: "not text (not UTF-8)".into() })?;
        Ok(Some(text.trim()))
    }

    fn wrong(&self, message: &str) -> ProofError {
        ProofError { line: self.number.max(1), message: message.into() }
    }
}
