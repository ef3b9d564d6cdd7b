//! How an instance is named and opened: `domain/name`, with options as `domain/name:key=value,key=value`.
//!
//! A domain is one `Entry`; a `Catalogue` is all that a program knows. Domains do no I/O: whoever opens an instance
//! brings the function that reads a file.

use crate::any::{AnyGame, AnyProblem, Boxed};
use crate::domain::{Game, Problem};
use std::collections::BTreeMap;

/// The domains that a program knows, in the order of `sortie list`.
#[derive(Clone, Default)]
pub struct Catalogue(Vec<&'static Entry>);

impl Catalogue {
    /// All of these. Of two with one name the first counts.
    pub fn new(entries: impl IntoIterator<Item = &'static Entry>) -> Catalogue {
        let mut kept: Vec<&'static Entry> = Vec::new();
        for entry in entries {
            if kept.iter().all(|other| other.name != entry.name) {
                kept.push(entry);
            }
        }
        Catalogue(kept)
    }

    /// The entries, each name once.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> + '_ {
        self.0.iter().copied()
    }

    /// The entry of a domain.
    pub fn entry(&self, domain: &str) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.name == domain)
    }

    /// Opens `domain/name[:options]`. `read` reads a whole text file and is only called for names that are not built in.
    pub fn open(
        &self,
        instance: &str,
        read: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Opened, OpenError> {
        let (domain, rest) =
            instance.split_once('/').ok_or_else(|| OpenError::NoSlash(instance.to_string()))?;
        let entry = self.entry(domain).ok_or_else(|| OpenError::UnknownDomain {
            name: domain.to_string(),
            nearest: nearest(domain, self.entries().map(|entry| entry.name)),
        })?;
        let (name, options) = split_options(rest);
        (entry.open)(&Request { name, options, read })
    }
}

/// One row of the table of domains.
pub struct Entry {
    /// The word before the slash.
    pub name: &'static str,
    /// One line for `sortie list`.
    pub about: &'static str,
    /// What may stand after the slash, for `sortie list` and for errors.
    pub names: &'static str,
    /// The options after the colon, each with its values and meaning.
    pub options: &'static [(&'static str, &'static str)],
    /// A few instances to start with.
    pub examples: &'static [&'static str],
    /// Opens an instance.
    pub open: fn(&Request) -> Result<Opened, OpenError>,
}

/// An opened instance: a problem or a game, its type erased.
pub enum Opened {
    /// A single-player problem.
    Problem(Box<dyn AnyProblem>),
    /// A two-player game.
    Game(Box<dyn AnyGame>),
}

impl Opened {
    /// A problem for one.
    pub fn problem(problem: impl Problem) -> Opened {
        Opened::Problem(Box::new(problem))
    }

    /// A game for two.
    pub fn game(game: impl Game) -> Opened {
        Opened::Game(Box::new(Boxed::new(game)))
    }
}

/// What is to be opened.
pub struct Request<'a> {
    /// What stands after the slash: a built-in name or the path of a file.
    pub name: &'a str,
    /// The options after the colon.
    pub options: Options,
    /// Reads a whole text file; the error is one line without the path.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
}

impl Request<'_> {
    /// The name as a whole number between these bounds, and no option but those that were taken out before.
    pub fn number(&self, entry: &Entry, bounds: std::ops::RangeInclusive<u64>) -> Result<u64, OpenError> {
        self.options.clone().finish(entry.options)?;
        self.name.parse().ok().filter(|number| bounds.contains(number)).ok_or_else(|| OpenError::OutOfRange {
            domain: entry.name,
            name: self.name.to_string(),
            message: format!("expected {}", entry.names),
        })
    }

    /// The text of the file that `name` is the path of.
    pub fn read_file(&self, domain: &'static str, names: &'static str) -> Result<String, OpenError> {
        (self.read)(self.name).map_err(|message| OpenError::NoInstance {
            domain,
            name: self.name.to_string(),
            names,
            message,
        })
    }
}

/// The options of a request. A domain takes what it knows; what is left over is an error.
#[derive(Debug, Clone, Default)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// Takes an option out: one of `values`, the first of them if it is not given. Returns the index of the value.
    pub fn choice(&mut self, key: &'static str, values: &[&str]) -> Result<usize, OpenError> {
        let Some(given) = self.0.remove(key) else { return Ok(0) };
        values.iter().position(|v| *v == given).ok_or_else(|| OpenError::OptionValue {
            key,
            given,
            expected: format!("one of {}", values.join(", ")),
        })
    }

    /// Takes a whole number out, or the default.
    pub fn number(&mut self, key: &'static str, default: u64, max: u64) -> Result<u64, OpenError> {
        let Some(given) = self.0.remove(key) else { return Ok(default) };
        match given.parse() {
            Ok(n) if n <= max => Ok(n),
            _ => Err(OpenError::OptionValue { key, given, expected: format!("a whole number up to {max}") }),
        }
    }

    /// Refuses what nobody took.
    pub fn finish(self, known: &[(&str, &str)]) -> Result<(), OpenError> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(key) => {
                let known = known.iter().map(|(k, _)| *k).collect::<Vec<_>>().join(", ");
                Err(OpenError::UnknownOption {
                    key,
                    known: if known.is_empty() { "none".into() } else { known },
                })
            }
        }
    }
}

/// Why an instance could not be opened. Every message is one line and says what was expected.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The text has no slash.
    #[error("'{0}' is not an instance: expected domain/name, as in samegame/1 (`sortie list` shows all)")]
    NoSlash(String),
    /// No such domain.
    #[error("there is no domain '{name}'{} (`sortie list` shows all)", did_you_mean(.nearest))]
    UnknownDomain {
        /// What was typed.
        name: String,
        /// The closest name there is.
        nearest: Option<&'static str>,
    },
    /// Neither a built-in name nor a readable file.
    #[error("{domain} has no instance '{name}' and it is not a readable file ({message}): expected {names}")]
    NoInstance {
        /// The domain.
        domain: &'static str,
        /// What was typed after the slash.
        name: String,
        /// What may stand there.
        names: &'static str,
        /// Why the file could not be read.
        message: String,
    },
    /// The name is understood and out of bounds.
    #[error("{domain}/{name}: {message}")]
    OutOfRange {
        /// The domain.
        domain: &'static str,
        /// What was typed after the slash.
        name: String,
        /// What is allowed.
        message: String,
    },
    /// A file that does not parse.
    #[error("{path}:{line}: {message}")]
    Parse {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what was expected.
        message: String,
    },
    /// An option that the domain does not have.
    #[error("unknown option '{key}': this domain has {known}")]
    UnknownOption {
        /// What was typed.
        key: String,
        /// What there is.
        known: String,
    },
    /// An option with a value it cannot have.
    #[error("option {key}={given}: expected {expected}")]
    OptionValue {
        /// The option.
        key: &'static str,
        /// What was typed.
        given: String,
        /// What is allowed.
        expected: String,
    },
}

fn did_you_mean(nearest: &Option<&'static str>) -> String {
    nearest.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default()
}

/// Splits `name:key=value,key=value`. A colon that no option list follows belongs to the name (a path may have one).
fn split_options(name: &str) -> (&str, Options) {
    let Some((head, tail)) = name.rsplit_once(':') else { return (name, Options::default()) };
    let pairs: Option<BTreeMap<String, String>> = tail
        .split(',')
        .map(|pair| pair.split_once('=').map(|(k, v)| (k.to_string(), v.to_string())))
        .collect();
    match pairs {
        Some(pairs) if !tail.is_empty() => (head, Options(pairs)),
        _ => (name, Options::default()),
    }
}

/// The name closest to what was typed, if it is close enough to be a slip.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let best = names.map(|name| (strsim::levenshtein(typed, name), name)).min()?;
    (best.0 <= 1 + best.1.len() / 3).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_split_off_and_checked() {
        let (name, mut options) = split_options("1:score=penalty,selective=off");
        assert_eq!(name, "1");
        assert_eq!(options.choice("score", &["papers", "penalty"]).unwrap(), 1);
        assert!(options.clone().finish(&[("score", "")]).is_err());
        assert!(options.choice("selective", &["on", "yes"]).is_err());
        assert_eq!(split_options("C:\\boards\\a.txt").0, "C:\\boards\\a.txt");
    }
}
