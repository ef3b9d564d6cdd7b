//! An engine that speaks the protocol of Gomocup, the tournament for programs that play five in a row: `START`, `INFO`,
//! `BOARD`, `BEGIN`, `RESTART`. Points are written `x,y` from 0. Moves are left out by `YXBLOCK` and `YXBLOCKRESET`, an
//! extension of Yixin and Rapfi; others answer it with `UNKNOWN` and can play but not work for a job tree.

use super::child::Child;
use super::{Deadline, Look, Place, Program, SLICE, Seen, Speaker, seconds};
use sortie_core::Side;
use sortie_core::exact::Asked;
use sortie_core::play::Fault;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// An engine and what it knows of the board.
pub struct Gomocup {
    program: Program,
    child: Option<Child>,
    /// The size it was started with.
    size: Option<u32>,
    /// Points are blocked.
    blocked: bool,
    name: String,
}

impl Gomocup {
    /// Starts the program, so that one that is not there is refused at once.
    pub fn new(program: Program) -> Result<Gomocup, String> {
        let child = Some(Child::start(&program.command)?);
        Ok(Gomocup { program, child, size: None, blocked: false, name: String::new() })
    }

    /// Says a line, or several at once: only so many may wait to be read.
    fn say(&mut self, line: &str) -> Result<(), Fault> {
        self.child.as_mut().expect("started before").say(line)
    }

    /// The first line that `take` makes something of. What the engine refuses on the way is a fault.
    fn wait<T>(
        &mut self,
        deadline: Deadline,
        stop: &dyn Fn() -> bool,
        mut take: impl FnMut(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let deadline = Deadline { start: Instant::now(), ..deadline };
        let child = self.child.as_mut().expect("started before");
        loop {
            if stop() {
                return Ok(None);
            }
            if deadline.is_over() {
                return Err(Fault::Hung(deadline.seconds()));
            }
            let Some(line) = child.hear(SLICE)? else { continue };
            let word = line.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
            if word == "ERROR" || word == "UNKNOWN" {
                let line: String = line.chars().filter(|c| !c.is_control()).take(80).collect();
                return Err(Fault::Crashed(format!("it says '{line}'")));
            }
            if let Some(taken) = take(line.trim()) {
                return Ok(Some(taken));
            }
        }
    }

    fn wait_ok(&mut self) -> Result<(), Fault> {
        let grace = self.program.grace();
        self.wait(grace, &|| false, |line| line.eq_ignore_ascii_case("OK").then_some(())).map(|_| ())
    }

    /// A board of this size, empty at first.
    fn ready(&mut self, size: u32) -> Result<(), Fault> {
        if self.child.is_none() {
            self.child = Some(Child::start(&self.program.command).map_err(Fault::Crashed)?);
            (self.size, self.blocked) = (None, false);
        }
        self.child.as_mut().expect("just started").begin();
        if self.size != Some(size) {
            self.say(&format!("START {size}"))?;
            self.wait_ok()?;
            self.size = Some(size);
            self.say("INFO timeout_match 0")?;
            for (name, value) in self.program.options.clone() {
                self.say(&format!("INFO {name} {value}"))?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        let place = look.place;
        let size =
            place.size.ok_or_else(|| refuse("its moves are points of a board, and this game's are not"))?;
        if place.start.is_some() {
            return Err(refuse("it knows no positions but by the moves that lead there"));
        }
        self.ready(size)?;
        let budget = look.budget();
        if let Some(seconds) = seconds(&budget) {
            self.say(&format!("INFO timeout_turn {}", ((seconds * 1000.0) as u64).max(1)))?;
        }
        if let Some(nodes) = look.nodes {
            self.say(&format!("INFO max_node {nodes}"))?;
        }
        if place.moves.is_empty() {
            self.say("RESTART")?;
            self.wait_ok()?;
        }
        if self.blocked {
            self.say("YXBLOCKRESET")?;
            self.blocked = false;
        }
        if !look.exclude.is_empty() {
            let points = look.exclude.iter().map(|word| write(word)).collect::<Result<Vec<_>, _>>()?;
            self.say(&format!("YXBLOCK\n{}\nDONE", points.join("\n")))?;
            self.blocked = true;
        }
        if place.moves.is_empty() {
            self.say("BEGIN")?;
        } else {
            let stone = |(side, word): &(Side, String)| {
                Ok(format!("{},{}", write(word)?, if *side == place.to_move { 1 } else { 2 }))
            };
            let stones = place.moves.iter().map(stone).collect::<Result<Vec<_>, Fault>>()?;
            self.say(&format!("BOARD\n{}\nDONE", stones.join("\n")))?;
        }
        let (mut value, mut sure) = (None, false);
        let stop = || asked.stop.load(Ordering::Relaxed);
        let deadline = self.program.deadline(&budget);
        let best = self.wait(deadline, &stop, |line| {
            if let Some((found, certain)) = evaluation(line) {
                (value, sure) = (Some(found), certain);
            }
            read(line)
        })?;
        match best {
            // Whatever it still says belongs to nothing any more.
            None => {
                self.child = None;
                Ok(None)
            }
            Some(_) if asked.over() => Ok(None),
            Some(best) => Ok(Some(Seen { best, value, sure, nodes: 0 })),
        }
    }
}

fn refuse(why: &str) -> Fault {
    Fault::Crashed(format!("it cannot be asked: {why}"))
}

/// `c4` as `2,3`.
fn write(word: &str) -> Result<String, Fault> {
    let nonsense = || Fault::Nonsense(word.chars().take(40).collect());
    let (letter, number) = word.split_at_checked(1).ok_or_else(nonsense)?;
    let column = letter.chars().next().filter(char::is_ascii_lowercase).ok_or_else(nonsense)?;
    let row: u32 = number.parse().ok().filter(|n| *n > 0).ok_or_else(nonsense)?;
    Ok(format!("{},{}", column as u32 - 'a' as u32, row - 1))
}

/// `2,3` as `c4`; `None` for everything else, such as messages.
fn read(line: &str) -> Option<String> {
    let (x, y) = line.split_once(',')?;
    let (x, y): (u8, u32) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
    (x < 26 && y < 1000).then(|| format!("{}{}", (b'a' + x) as char, y + 1))
}

/// What a message says of the position, for the side to move: `... Eval 35 ...` in points, `Eval +M9` for a win in nine
/// moves. As a chance it is on the scale of Elo, with 200 points for ten to one; the scale of Rapfi.
fn evaluation(line: &str) -> Option<(f64, bool)> {
    let rest = line.strip_prefix("MESSAGE ")?;
    let mut tokens = rest.split_whitespace().skip_while(|t| !t.eq_ignore_ascii_case("eval") && *t != "ev");
    let token = tokens.nth(1)?;
    if let Some(mate) = token.strip_prefix('+').unwrap_or(token).strip_prefix('M') {
        return mate.parse::<u32>().ok().map(|_| (1.0, true));
    }
    if let Some(mate) = token.strip_prefix("-M") {
        return mate.parse::<u32>().ok().map(|_| (0.0, true));
    }
    let points: f64 = token.parse().ok().filter(|n: &f64| n.is_finite())?;
    Some((1.0 / (1.0 + 10f64.powf(-points / 200.0)), false))
}

impl Speaker for Gomocup {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn protocol(&self) -> &'static str {
        "gomocup"
    }

    fn way(&self) -> String {
        "YXBLOCK".into()
    }

    fn legal(&mut self, _: &Place) -> Result<Option<Vec<String>>, Fault> {
        Ok(None)
    }

    fn look(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        self.ask(look, asked).inspect_err(|_| self.child = None)
    }
}

impl Drop for Gomocup {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child
            && child.say("END").is_ok()
        {
            child.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_written_and_read() {
        assert_eq!(write("c4").unwrap(), "2,3");
        assert_eq!(read("2,3").unwrap(), "c4");
        for bad in ["pass", "", "é1", "a0", "4c"] {
            assert!(write(bad).is_err(), "{bad}");
        }
        for bad in ["OK", "MESSAGE 1,2", "1;2", "-1,2", "99,1", ",", "1,2,3"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn messages_tell_what_it_thinks() {
        assert_eq!(evaluation("MESSAGE Depth 12-25 | Eval +M9 | Time 3ms"), Some((1.0, true)));
        assert_eq!(evaluation("MESSAGE Depth 12-25 | Eval -M10 | Time 3ms"), Some((0.0, true)));
        assert_eq!(evaluation("MESSAGE depth 3 ev 0 n 12"), Some((0.5, false)));
        let (value, sure) = evaluation("MESSAGE Eval 200").unwrap();
        assert!((value - 10.0 / 11.0).abs() < 1e-12 && !sure);
        for line in ["MESSAGE Eval", "MESSAGE Eval much", "DEBUG Eval 5", "MESSAGE Eval MM", ""] {
            assert_eq!(evaluation(line), None, "{line}");
        }
    }
}
