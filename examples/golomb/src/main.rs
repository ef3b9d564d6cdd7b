//! A domain of your own, and the whole command over it: Golomb rulers. Marks at whole numbers from 0 on, no two pairs of them
//! equally far apart; the shorter the better.

use sortie::picture::{INK, Picture, Shape, WOOD};
use sortie::{Domain, Entry, OpenError, Opened, Problem, Request};
use std::process::ExitCode;

fn main() -> ExitCode {
    sortie::main(&[&ENTRY])
}

/// What the command knows of the domain.
static ENTRY: Entry = Entry {
    name: "golomb",
    about: "Golomb rulers: marks without two equal distances; how short?",
    names: "the number of marks, 2 to 12",
    options: &[],
    examples: &["golomb/8"],
    open,
};

const MARKS_MAX: usize = 12;
/// No ruler is longer: distances are the bits of a u128.
const LENGTH_MAX: u8 = 127;

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(ENTRY.options)?;
    match request.name.parse() {
        Ok(marks @ 2..=MARKS_MAX) => Ok(Opened::Problem(Box::new(Golomb { marks }))),
        _ => Err(OpenError::OutOfRange {
            domain: ENTRY.name,
            name: request.name.to_string(),
            message: format!("expected {}", ENTRY.names),
        }),
    }
}

/// The instance.
struct Golomb {
    marks: usize,
}

/// The position: flat data, because every playout starts with a copy of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// `marks[..n]` are placed, in ascending order.
    marks: [u8; MARKS_MAX],
    n: usize,
    /// Bit d: two marks are d apart.
    distances: u128,
}

impl Domain for Golomb {
    type State = State;
    type Move = u8; // where the next mark goes

    fn initial(&self) -> State {
        State { marks: [0; MARKS_MAX], n: 1, distances: 0 }
    }

    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        let placed = &state.marks[..state.n];
        let fits = |next: &u8| placed.iter().all(|mark| state.distances >> (next - mark) & 1 == 0);
        if state.n < self.marks {
            out.extend((placed[state.n - 1] + 1..=LENGTH_MAX).filter(fits));
        }
    }

    fn play(&self, state: &mut State, next: u8) {
        for mark in &state.marks[..state.n] {
            state.distances |= 1 << (next - mark);
        }
        state.marks[state.n] = next;
        state.n += 1;
    }

    fn show(&self, state: &State) -> String {
        format!("marks at {:?}", &state.marks[..state.n])
    }

    fn show_move(&self, _: &State, next: u8) -> String {
        next.to_string()
    }

    // Optional: what `sortie show` and the pages draw.
    fn draw(&self, state: &State) -> Option<Picture> {
        let marks = &state.marks[..state.n];
        let place = |mark: u8| 20.0 + 8.0 * f64::from(mark);
        let end = place(marks[marks.len() - 1]);
        let mut picture = Picture::new(end + 20.0, 60.0, format!("a ruler with {} marks", marks.len()));
        picture.shapes.push(Shape::Rect { x: 20.0, y: 10.0, w: end - 20.0, h: 22.0, round: 2.0, fill: WOOD });
        for &mark in marks {
            let x = place(mark);
            picture.shapes.push(Shape::Line { points: vec![(x, 10.0), (x, 32.0)], width: 2.0, stroke: INK });
            picture.shapes.push(Shape::Text { x, y: 44.0, size: 9.0, fill: INK, text: mark.to_string() });
        }
        Some(picture)
    }
}

impl Problem for Golomb {
    // Higher is better, always: a length is negated, and a missing mark is worse than any length.
    fn score(&self, state: &State) -> f64 {
        let missing = (self.marks - state.n) as f64;
        -(state.marks[state.n - 1] as f64) - missing * LENGTH_MAX as f64
    }

    // What a policy learns: which gaps are good, wherever they stand.
    fn code(&self, state: &State, next: u8) -> u64 {
        (next - state.marks[state.n - 1]) as u64
    }

    fn codes_max(&self) -> Option<usize> {
        Some(LENGTH_MAX as usize + 1)
    }

    // Proven: sequence A003022 of the OEIS.
    fn best_known(&self) -> Option<f64> {
        [-1., -3., -6., -11., -17., -25., -34., -44., -55., -72., -85.].get(self.marks - 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie::{conformance, replay_whole};

    #[test]
    fn conforms() {
        for marks in [2, 5, 12] {
            conformance::problem(&Golomb { marks }, 5, 1);
        }
    }

    #[test]
    fn a_known_ruler_has_its_length() {
        let golomb = Golomb { marks: 5 };
        let end = replay_whole(&golomb, &["1", "4", "9", "11"].map(String::from)).expect("a ruler");
        assert_eq!(golomb.score(&end), -11.0);
    }
}
