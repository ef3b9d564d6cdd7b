//! The table that names the domains. Adding a domain is one file and one line here.

use sortie_core::{Catalogue, Entry, OpenError, Opened};
use std::sync::OnceLock;

/// Every domain, in the order of `sortie list`.
static DOMAINS: &[&Entry] = &[
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

static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();

/// Puts a program's own domains before ours, once, before anything is opened: `sortie::main` does. False if the
/// catalogue was in use already. What a program knows does not change while it runs, so this is the one thing that is
/// set for a whole process; whoever wants several builds `Catalogue`s by hand.
pub fn install(own: &[&'static Entry]) -> bool {
    CATALOGUE.set(Catalogue::new(own.iter().chain(DOMAINS).copied())).is_ok()
}

/// What this program knows: its own domains and ours.
pub fn catalogue() -> &'static Catalogue {
    CATALOGUE.get_or_init(|| Catalogue::new(DOMAINS.iter().copied()))
}

/// Opens an instance of any of them: see `Catalogue::open`.
pub fn open(instance: &str, read: &dyn Fn(&str) -> Result<String, String>) -> Result<Opened, OpenError> {
    catalogue().open(instance, read)
}
