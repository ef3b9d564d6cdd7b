//! The table that names the domains. Adding a domain is one file and one line here.

use crate::instance::{Entry, OpenError, Opened, Request, split_options};

/// Every domain, in the order of `sortie list`.
pub static DOMAINS: &[&Entry] = &[
    &crate::samegame::ENTRY,
    &crate::morpion::ENTRY,
    &crate::snake::SNAKE,
    &crate::snake::COIL,
    &crate::vrptw::ENTRY,
    &crate::schur::ENTRY,
    &crate::loa::ENTRY,
    &crate::connect4::ENTRY,
    &crate::breakthrough::ENTRY,
    &crate::hex::ENTRY,
    &crate::gomoku::ENTRY,
    &crate::connect6::ENTRY,
    &crate::tictactoe::ENTRY,
    &crate::pgame::ENTRY,
    &crate::toy::LEFTMOVE,
    &crate::toy::NIM,
];

/// Opens `domain/name[:options]`. `read` reads a whole text file and is only called for names that are not built in.
pub fn open(instance: &str, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Opened, OpenError> {
    let (domain, rest) = instance.split_once('/').ok_or_else(|| OpenError::NoSlash(instance.to_string()))?;
    let entry =
        DOMAINS.iter().find(|entry| entry.name == domain).ok_or_else(|| OpenError::UnknownDomain {
            name: domain.to_string(),
            nearest: nearest(domain, DOMAINS.iter().map(|e| e.name)),
        })?;
    let (name, options) = split_options(rest);
    (entry.open)(&Request { name, options, read })
}

/// The name closest to what was typed, if it is close enough to be a slip.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let best = names.map(|name| (edits(typed, name), name)).min()?;
    (best.0 <= 1 + best.1.len() / 3).then_some(best.1)
}

/// The number of insertions, deletions and replacements between two words (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
