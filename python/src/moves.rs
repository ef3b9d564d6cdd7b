//! Moves as small numbers: every move that was ever listed once as a Python object, with its word and its code.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};
use std::collections::HashMap;

/// Whole numbers below this find their number without being hashed.
const SMALL: usize = 4096;
const UNSEEN: u32 = u32::MAX;

/// The table of moves.
pub struct Moves {
    class: String,
    /// The class's own words, if it has them.
    word: Option<Py<PyAny>>,
    numbers: Py<PyDict>,
    /// `small[n]` is the number of the move that is the whole number n.
    small: Vec<u32>,
    objects: Vec<Py<PyAny>>,
    words: Vec<String>,
    codes: Vec<u64>,
    by_word: HashMap<String, u32>,
    /// No more moves than this.
    most: usize,
}

impl Moves {
    pub fn new(py: Python, class: &str, word: Option<Py<PyAny>>, most: usize) -> Moves {
        Moves {
            class: class.to_string(),
            word,
            numbers: PyDict::new(py).unbind(),
            small: Vec::new(),
            objects: Vec::new(),
            words: Vec::new(),
            codes: Vec::new(),
            by_word: HashMap::new(),
            most,
        }
    }

    /// The number of a move.
    pub fn intern(&mut self, mv: &Bound<PyAny>) -> PyResult<u32> {
        let small = match mv.cast_exact::<PyInt>() {
            Ok(int) => int.extract::<usize>().ok().filter(|&n| n < SMALL),
            Err(_) => None,
        };
        if let Some(n) = small {
            if let Some(&number) = self.small.get(n)
                && number != UNSEEN
            {
                return Ok(number);
            }
            let number = self.look_up(mv)?;
            if self.small.len() <= n {
                self.small.resize(n + 1, UNSEEN);
            }
            self.small[n] = number;
            return Ok(number);
        }
        self.look_up(mv)
    }

    fn look_up(&mut self, mv: &Bound<PyAny>) -> PyResult<u32> {
        let py = mv.py();
        let found = self.numbers.bind(py).get_item(mv);
        let found = found.map_err(|_| {
            let shown = mv.repr().map_or_else(|_| "a move".into(), |text| text.to_string());
            let class = &self.class;
            PyTypeError::new_err(format!("the move {shown} of {class}.moves cannot be hashed: use a tuple"))
        })?;
        if let Some(number) = found {
            return number.extract();
        }
        let word = match &self.word {
            Some(word) => word.call1(py, (mv,))?.extract::<String>(py)?,
            None => word_of(mv)?,
        };
        if word.is_empty() || word.chars().any(char::is_whitespace) {
            return Err(PyValueError::new_err(format!("the word '{word}' of a move: expected one word")));
        }
        if self.by_word.contains_key(&word) {
            let message = format!("two moves are written '{word}': a method word(move) can tell them apart");
            return Err(PyValueError::new_err(message));
        }
        if self.objects.len() >= self.most {
            let message =
                format!("more than {} different moves: a tree has no room for their numbers", self.most);
            return Err(PyValueError::new_err(message));
        }
        let number = self.objects.len() as u32;
        self.numbers.bind(py).set_item(mv, number)?;
        self.objects.push(mv.clone().unbind());
        self.codes.push(mv.extract::<i64>().map_or_else(|_| stable_hash(&word), |n| n as u64));
        self.by_word.insert(word.clone(), number);
        self.words.push(word);
        Ok(number)
    }

    /// The move with a number.
    pub fn object(&self, py: Python, mv: u32) -> Py<PyAny> {
        self.objects.get(mv as usize).map_or_else(|| py.None(), |object| object.clone_ref(py))
    }

    /// The move with a word.
    pub fn by_word(&self, word: &str) -> Option<u32> {
        self.by_word.get(word).copied()
    }

    /// Its word.
    pub fn word(&self, mv: u32) -> &str {
        self.words.get(mv as usize).map_or("?", |word| word)
    }

    /// Its code, for classes without codes of their own.
    pub fn code(&self, mv: u32) -> u64 {
        self.codes[mv as usize]
    }
}

/// A move as one word that is the same in every process.
fn word_of(mv: &Bound<PyAny>) -> PyResult<String> {
    if let Ok(text) = mv.cast::<PyString>() {
        let text = text.to_str()?;
        return Ok(if text.is_empty() { "%".into() } else { escape(text) });
    }
    if let Ok(n) = mv.extract::<i64>() {
        return Ok(n.to_string());
    }
    let text = mv.repr()?.to_str()?.to_string();
    if text.contains(" at 0x") {
        let message =
            "its repr is another in every process; give it a __repr__ or the class a method word(move)";
        return Err(PyTypeError::new_err(format!("the move {text}: {message}")));
    }
    Ok(escape(&text.replace(", ", ",")))
}

fn escape(text: &str) -> String {
    let mut word = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c == '%' || c.is_control() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                word.push_str(&format!("%{byte:02X}"));
            }
        } else {
            word.push(c);
        }
    }
    word
}

/// FNV-1a, the same on every machine and in every process.
pub fn stable_hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
