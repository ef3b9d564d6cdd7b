//! The plainest protocol: one line in, one line out (docs/engines.md). For whoever writes a worker in an afternoon.
//!
//! In come fields between tabs, `name=value`: `start` (where the game began, if not at its own start), `moves`, `exclude`,
//! `legal` (words between blanks), `nodes` and `ms` where they are limited. Out goes the move, and after it, if the
//! program likes, its chances between 0 and 1 for the side to move, and `win` or `loss` if it is sure.

use super::child::Child;
use super::dialect::{Dialect, Words};
use super::{Look, Place, Program, SLICE, Seen, Speaker, seconds};
use sortie_core::exact::Asked;
use sortie_core::play::Fault;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A program that answers line by line: in the words of `words=FILE`, or in those of the plain protocol.
pub fn speaker(mut program: Program) -> Result<Box<dyn Speaker>, String> {
    match program.options.iter().position(|(key, _)| key == "words") {
        Some(at) => {
            let file = program.options.remove(at).1;
            Ok(Box::new(Dialect::new(program, Words::read(Path::new(&file))?)?))
        }
        None => Ok(Box::new(Lines::new(program)?)),
    }
}

/// A program that speaks the plain protocol.
struct Lines {
    program: Program,
    child: Option<Child>,
}

impl Lines {
    /// Starts the program, so that one that is not there is refused at once.
    fn new(program: Program) -> Result<Lines, String> {
        let child = Some(Child::start(&program.command)?);
        Ok(Lines { program, child })
    }

    fn ask(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        if self.child.is_none() {
            self.child = Some(Child::start(&self.program.command).map_err(Fault::Crashed)?);
        }
        let child = self.child.as_mut().expect("just started");
        child.begin();
        // What it has said unasked would be taken for the answer.
        if let Some(line) = child.hear(Duration::ZERO)? {
            return Err(Fault::Nonsense(line.chars().filter(|c| !c.is_control()).take(40).collect()));
        }
        child.say(&question(look))?;
        let deadline = self.program.deadline(&look.budget());
        loop {
            if asked.stop.load(Ordering::Relaxed) {
                // Its answer would be taken for one to the next question.
                self.child = None;
                return Ok(None);
            }
            if deadline.is_over() {
                return Err(Fault::Hung(deadline.seconds()));
            }
            let Some(line) = child.hear(SLICE)? else { continue };
            return Ok(if asked.over() { None } else { Some(answer(&line)) });
        }
    }
}

fn question(look: &Look) -> String {
    let place = look.place;
    let join =
        |words: &mut dyn Iterator<Item = &String>| words.map(String::as_str).collect::<Vec<_>>().join(" ");
    let mut fields = Vec::new();
    if let Some(start) = &place.start {
        fields.push(format!("start={start}"));
    }
    fields.push(format!("moves={}", join(&mut place.words())));
    fields.push(format!("exclude={}", join(&mut look.exclude.iter())));
    fields.push(format!("legal={}", join(&mut place.legal.iter())));
    if let Some(nodes) = look.nodes {
        fields.push(format!("nodes={nodes}"));
    }
    if let Some(seconds) = seconds(&look.budget()) {
        fields.push(format!("ms={}", ((seconds * 1000.0) as u64).max(1)));
    }
    fields.join("\t").replace(['\n', '\r'], " ")
}

fn answer(line: &str) -> Seen {
    let mut tokens = line.split_whitespace();
    let best = tokens.next().unwrap_or("").to_string();
    let mut seen = Seen { best, ..Seen::default() };
    for token in tokens {
        match token {
            "win" => (seen.value, seen.sure) = (Some(1.0), true),
            "loss" => (seen.value, seen.sure) = (Some(0.0), true),
            _ if seen.value.is_none() => {
                seen.value = token.parse().ok().filter(|n: &f64| (0.0..=1.0).contains(n));
            }
            _ => {}
        }
    }
    seen
}

impl Speaker for Lines {
    fn name(&self) -> String {
        String::new()
    }

    fn protocol(&self) -> &'static str {
        "text"
    }

    fn way(&self) -> String {
        "exclude=".into()
    }

    fn legal(&mut self, _: &Place) -> Result<Option<Vec<String>>, Fault> {
        Ok(None)
    }

    fn look(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        self.ask(look, asked).inspect_err(|_| self.child = None)
    }

    fn cpu_seconds(&self) -> Option<f64> {
        self.child.as_ref()?.cpu_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Boxed;
    use sortie_core::toy::Nim;

    #[test]
    fn questions_and_answers_are_one_line_each() {
        let place = Place::of(&Boxed::new(Nim { heap: 9 }), None, &["2".to_string()]).unwrap();
        let exclude = ["1".to_string()];
        let look = Look { place: &place, exclude: &exclude, nodes: Some(50), seconds: Some(0.25) };
        assert_eq!(question(&look), "moves=2\texclude=1\tlegal=1 2 3\tnodes=50\tms=250");
        let seen = |best: &str, value, sure| Seen { best: best.into(), value, sure, nodes: 0 };
        assert_eq!(answer("e4"), seen("e4", None, false));
        assert_eq!(answer("e4 0.75"), seen("e4", Some(0.75), false));
        assert_eq!(answer("e4 0.99 win"), seen("e4", Some(1.0), true));
        assert_eq!(answer("e4 loss"), seen("e4", Some(0.0), true));
        assert_eq!(answer("e4 7 NaN maybe"), seen("e4", None, false));
        assert_eq!(answer(""), seen("", None, false));
    }
}
