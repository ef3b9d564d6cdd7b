//! A parameter that every level of a nested search may have its own value of.

use super::SpecError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One number a level, from level 1 (the one just above the playouts) up; the last is that of all levels above it, too.
/// A lone number is that of all levels, and is written without brackets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerLevel {
    /// The same for all levels.
    Same(u32),
    /// `[l - 1]` is that of level `l`.
    Each(Vec<u32>),
}

impl PerLevel {
    /// The value of a level, from 1. `check` has seen to it that there is one.
    pub fn at(&self, level: usize) -> u32 {
        match self {
            PerLevel::Same(value) => *value,
            PerLevel::Each(values) => values[level.min(values.len()) - 1],
        }
    }

    /// Refuses values below 1 or above `max`, and more values than there are levels.
    pub(super) fn check(
        &self,
        parameter: &'static str,
        level: u32,
        max: u32,
        expected: &'static str,
    ) -> Result<(), SpecError> {
        let error = |expected| Err(SpecError { parameter, given: self.to_string(), expected });
        let values = match self {
            PerLevel::Same(value) => std::slice::from_ref(value),
            PerLevel::Each(values) => values,
        };
        // Two always fit: "level 1, and those above", of which there may be none.
        if values.is_empty() || values.len() > level.max(2) as usize {
            return error("one number, or at most one for each level from level 1 up");
        }
        if values.iter().all(|value| (1..=max).contains(value)) { Ok(()) } else { error(expected) }
    }
}

impl fmt::Display for PerLevel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            PerLevel::Same(value) => write!(f, "{value}"),
            PerLevel::Each(values) => {
                let words: Vec<String> = values.iter().map(u32::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

impl FromStr for PerLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<PerLevel, String> {
        let number = |word: &str| {
            let word = word.trim();
            let expected = "expected a number such as 100, or one a level from level 1 up such as 1,10,10";
            word.parse::<u32>().map_err(|_| format!("'{word}' is not a whole number: {expected}"))
        };
        if !text.contains(',') {
            return number(text).map(PerLevel::Same);
        }
        text.split(',').map(number).collect::<Result<_, _>>().map(PerLevel::Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_stands_for_all_levels_above() {
        let parse = |text: &str| text.parse::<PerLevel>().unwrap();
        let at = |text: &str| -> Vec<u32> { (1..=4).map(|level| parse(text).at(level)).collect() };
        assert_eq!(at("7"), [7, 7, 7, 7]);
        assert_eq!(at("1, 10"), [1, 10, 10, 10]);
        assert_eq!(at("1,2,3,4"), [1, 2, 3, 4]);
        assert_eq!(parse("1,10").to_string(), "1,10");
        for bad in ["", "a", "1,", "1,-2", "1.5", "99999999999"] {
            assert!(bad.parse::<PerLevel>().unwrap_err().contains("whole number"), "{bad}");
        }
    }

    #[test]
    fn what_fits_no_level_is_refused() {
        let check = |text: &str, level| text.parse::<PerLevel>().unwrap().check("beam", level, 50, "1 to 50");
        assert!(check("1,10", 1).is_ok() && check("1,10,10", 3).is_ok() && check("50", 8).is_ok());
        assert_eq!(check("1,2,3", 2).unwrap_err().given, "1,2,3");
        assert_eq!(check("1,51", 2).unwrap_err().expected, "1 to 50");
        assert!(check("0", 2).is_err());
        assert!(PerLevel::Each(vec![]).check("beam", 2, 50, "1 to 50").is_err());
    }
}
