//! The toys of `sortie_core` under names: for trying out the command and for its tests.

use sortie_core::Boxed;
use sortie_core::toy::{LeftMove, Nim};
use sortie_core::{Entry, OpenError, Opened, Request};

/// LeftMove: the row of the table of domains.
pub static LEFTMOVE: Entry = Entry {
    name: "leftmove",
    about: "toy: so many times left or right; the score is the number of lefts",
    names: "the number of moves, 1 to 100000",
    options: &[],
    examples: &["leftmove/60"],
    open: open_leftmove,
};

/// Nim: the row of the table of domains.
pub static NIM: Entry = Entry {
    name: "nim",
    about: "toy game: take one to three from a heap; who takes the last wins",
    names: "the size of the heap, 1 to 1000000",
    options: &[],
    examples: &["nim/21"],
    open: open_nim,
};

fn open_leftmove(request: &Request) -> Result<Opened, OpenError> {
    let depth = number(request, &LEFTMOVE, 100_000)?;
    Ok(Opened::Problem(Box::new(LeftMove { depth })))
}

fn open_nim(request: &Request) -> Result<Opened, OpenError> {
    let heap = number(request, &NIM, 1_000_000)?;
    Ok(Opened::Game(Box::new(Boxed::new(Nim { heap }))))
}

fn number(request: &Request, entry: &Entry, max: u32) -> Result<u32, OpenError> {
    request.options.clone().finish(entry.options)?;
    match request.name.parse() {
        Ok(n) if (1..=max).contains(&n) => Ok(n),
        _ => Err(OpenError::OutOfRange {
            domain: entry.name,
            name: request.name.to_string(),
            message: format!("expected {}", entry.names),
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::open;
    use sortie_core::Opened;

    #[test]
    fn toys_open_within_their_bounds() {
        let read = |_: &str| Err("no files".to_string());
        assert!(matches!(open("leftmove/60", &read), Ok(Opened::Problem(p)) if p.best_known() == Some(60.0)));
        assert!(matches!(open("nim/21", &read), Ok(Opened::Game(_))));
        for bad in ["leftmove/0", "leftmove/100001", "leftmove/-1", "leftmove/", "nim/x", "nim/21:heaps=2"] {
            let error = open(bad, &read).err().expect("refused").to_string();
            assert!(error.contains("expected") || error.contains("unknown option"), "{error}");
        }
    }
}
