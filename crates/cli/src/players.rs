//! Players as text: our own search by the name of a preset, with parameters after a colon, or an engine of somebody
//! else's. This is what `--player` and the files of matches hold.

use crate::duration;
use crate::engine::{Gtp, Program, Uci};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, Fault, PRESETS, PlayError, Rng, Thought, Uct};
use sortie_domains::nearest;
use std::sync::atomic::AtomicBool;

/// No spec is longer than this.
const BYTES_MAX: usize = 64 << 10;

/// A player, as its text says.
#[derive(Debug, Clone, PartialEq)]
pub enum Player {
    /// Our own search.
    Own(Box<Uct>),
    /// Any legal move, all alike.
    Random,
    /// The game's own engine.
    Engine,
    /// A program that speaks UCI.
    Uci(Program),
    /// A program that speaks GTP; true: its columns leave out the i.
    Gtp(Program, bool),
}

/// Opens the player that a text names.
pub fn open(text: &str, game: &dyn AnyGame, seed: u64) -> Result<Box<dyn AnyPlayer>> {
    Player::parse(text)?.open(game, seed)
}

/// What can be written for a player, for the help.
pub fn help() -> String {
    let mut text = "Players:\n".to_string();
    let own = PRESETS.iter().map(|&(name, about)| (name, about));
    let others = [
        ("random", "any legal move, all alike"),
        ("engine", "the game's own engine: connect6 has one"),
        ("uci:PROGRAM ARGUMENTS", "an engine that speaks UCI"),
        ("gtp:PROGRAM ARGUMENTS", "an engine that speaks GTP"),
    ];
    for (name, about) in own.chain(others) {
        text += &format!("  {name:22}  {about}\n");
    }
    text += "\nA preset takes parameters: default:c=0.7,draws=1,threads=2. There are\n  ";
    let keys: Vec<String> = parameters(&Uct::default()).keys().cloned().collect();
    let (first, rest) = keys.split_at(keys.len() / 2);
    text += &format!("{},\n  {}.\n", first.join(", "), rest.join(", "));
    text += "Engines take options, and the time they have beyond that of the move:\n";
    text += "  'uci[timeout=5s,Threads=2]:/opt/my engine/run --quiet' needs its blanks quoted: \"/opt/my engine/run\".\n";
    text += "  gtp[letters=skip-i]:PROGRAM names columns as on a Go board, without an i.";
    text
}

impl Player {
    /// Reads a text.
    pub fn parse(text: &str) -> Result<Player> {
        if text.len() > BYTES_MAX {
            bail!("a player of {} bytes: expected at most {BYTES_MAX}", text.len());
        }
        Self::read(text.trim()).with_context(|| format!("player '{}'", cut(text)))
    }

    fn read(text: &str) -> Result<Player> {
        let end = text.find([':', '[']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        match name {
            "uci" => Ok(Player::Uci(program(rest)?)),
            "gtp" => {
                let (mut program, mut skips_i) = (program(rest)?, false);
                if let Some(at) = program.options.iter().position(|(key, _)| key == "letters") {
                    match program.options.remove(at).1.as_str() {
                        "skip-i" => skips_i = true,
                        "all" => {}
                        other => bail!("letters {}: expected all or skip-i", cut(other)),
                    }
                }
                Ok(Player::Gtp(program, skips_i))
            }
            "random" if rest.is_empty() => Ok(Player::Random),
            "random" => bail!("random has no parameters"),
            "engine" if rest.is_empty() => Ok(Player::Engine),
            "engine" => bail!("engine has no parameters"),
            _ => {
                let mut uct = Uct::preset(name).ok_or_else(|| unknown(name))?;
                let given = match rest.split_at_checked(1) {
                    None => "",
                    Some((":", given)) => given,
                    Some(_) => bail!("expected parameters after a colon, as in {name}:c=0.7,threads=2"),
                };
                for pair in given.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
                    let (key, value) = pair
                        .split_once('=')
                        .ok_or_else(|| anyhow!("'{}': expected name=value, as in c=0.7", cut(pair)))?;
                    uct = changed(&uct, key.trim(), value.trim())?;
                }
                uct.check()?;
                Ok(Player::Own(Box::new(uct)))
            }
        }
    }

    /// The same player with one parameter changed: of the search, or of the engine.
    pub fn with(&self, key: &str, value: &str) -> Result<Player> {
        let mut player = self.clone();
        match &mut player {
            Player::Own(uct) => {
                **uct = changed(uct, key, value)?;
                uct.check()?;
            }
            Player::Random => bail!("random has no parameters"),
            Player::Engine => bail!("engine has no parameters"),
            Player::Uci(program) | Player::Gtp(program, _) => {
                program.options.retain(|(k, _)| k != key);
                program.options.push((key.to_string(), value.to_string()));
            }
        }
        Ok(player)
    }

    /// The parameters with their values; none but for our own search.
    pub fn parameters(&self) -> Map<String, Value> {
        match self {
            Player::Own(uct) => parameters(uct),
            _ => Map::new(),
        }
    }

    /// Opens the player for a game.
    pub fn open(&self, game: &dyn AnyGame, seed: u64) -> Result<Box<dyn AnyPlayer>> {
        Ok(match self {
            Player::Own(uct) => game.player(uct, seed)?,
            Player::Random => Box::new(Random::new(game, seed)?),
            Player::Engine => game.engine(seed).ok_or_else(|| {
                anyhow!("player 'engine': this game has no engine of its own; try 'default'")
            })?,
            Player::Uci(program) => Box::new(Uci::new(program.clone(), game).map_err(|e| anyhow!(e))?),
            Player::Gtp(program, skips_i) => {
                Box::new(Gtp::new(program.clone(), *skips_i, game).map_err(|e| anyhow!(e))?)
            }
        })
    }
}

fn unknown(name: &str) -> anyhow::Error {
    let names =
        || PRESETS.iter().map(|(name, _)| *name).chain(["random", "engine", "uci:PROGRAM", "gtp:PROGRAM"]);
    match nearest(name, names()) {
        Some(near) => anyhow!("there is no such player: did you mean '{near}'?"),
        None => anyhow!("there is no such player: expected {}", names().collect::<Vec<_>>().join(", ")),
    }
}

fn parameters(uct: &Uct) -> Map<String, Value> {
    let Ok(Value::Object(map)) = serde_json::to_value(uct) else { unreachable!("a struct of plain data") };
    map
}

/// The search with one parameter replaced, its value read as what the parameter is.
fn changed(uct: &Uct, key: &str, value: &str) -> Result<Uct> {
    let mut map = parameters(uct);
    let Some(old) = map.get(key) else {
        return Err(match nearest(key, map.keys().map(String::as_str)) {
            Some(near) => anyhow!("there is no parameter '{}': did you mean '{near}'?", cut(key)),
            None => anyhow!(
                "there is no parameter '{}': expected {}",
                cut(key),
                map.keys().cloned().collect::<Vec<_>>().join(", ")
            ),
        });
    };
    let refuse = |expected: &str| anyhow!("{key} {}: expected {expected}", cut(value));
    let new = match old {
        Value::Bool(_) => Value::Bool(value.parse().map_err(|_| refuse("true or false"))?),
        Value::Number(n) if n.is_u64() => {
            Value::from(value.parse::<u32>().map_err(|_| refuse("a whole number"))?)
        }
        Value::Number(_) => {
            let number = value.parse::<f64>().ok().filter(|n| n.is_finite());
            Value::from(number.ok_or_else(|| refuse("a number"))?)
        }
        _ => Value::from(value),
    };
    map.insert(key.to_string(), new);
    serde_json::from_value(Value::Object(map))
        .map_err(|error| anyhow!("{key} {}: {}", cut(value), error.to_string().replace('`', "'")))
}

/// What follows `uci` or `gtp`: options in brackets, a colon, the program and its arguments.
fn program(text: &str) -> Result<Program> {
    let expected = "expected a program after a colon, as in uci:/usr/games/engine or uci[timeout=5s]:engine";
    let (given, rest) = match text.strip_prefix('[') {
        None => ("", text),
        Some(inside) => inside.split_once(']').ok_or_else(|| anyhow!("the bracket is never closed"))?,
    };
    let command = split(rest.strip_prefix(':').ok_or_else(|| anyhow!(expected))?)?;
    if command.is_empty() {
        bail!(expected);
    }
    let (mut timeout, mut options) = (None, Vec::new());
    for pair in given.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("timeout", value) => {
                timeout = Some(duration::parse(value).map_err(|e| anyhow!("timeout {}: {e}", cut(value)))?);
            }
            (key, value) => options.push((key.to_string(), value.to_string())),
        }
    }
    Ok(Program { command, timeout, options })
}

/// Splits a command line at blanks. Quotes of both kinds hold words together, and outside single quotes a backslash
/// takes the next character as it is.
fn split(text: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                let next = chars.next().ok_or_else(|| anyhow!("a backslash ends the line"))?;
                word.get_or_insert_default().push(next);
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        bail!("the quote {open} is never closed");
    }
    words.extend(word);
    Ok(words)
}

fn cut(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control()).take(80).collect();
    if kept.len() < text.len() { kept + "..." } else { kept }
}

/// Any legal move, all alike: what every player has to beat.
struct Random {
    game: Box<dyn AnyGame>,
    board: Box<dyn AnyBoard>,
    rng: Rng,
}

impl Random {
    fn new(game: &dyn AnyGame, seed: u64) -> Result<Random> {
        Ok(Random { game: game.share(), board: game.board(None)?, rng: Rng::new(seed, 0) })
    }
}

impl AnyPlayer for Random {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let mut board = self.game.board(start)?;
        for word in words {
            board.play(word)?;
        }
        self.board = board;
        Ok(())
    }

    fn think(&mut self, _: &Budget, _: &AtomicBool, _: &mut dyn FnMut(&Thought)) -> Result<Thought, Fault> {
        let legal = self.board.legal();
        let value = self.board.outcome().map_or(0.5, |outcome| outcome.value());
        let best = (!legal.is_empty()).then(|| legal[self.rng.below(legal.len())].clone());
        Ok(Thought { best, value, proved: self.board.outcome(), ..Thought::default() })
    }

    fn reset(&mut self, seed: u64) {
        self.rng = Rng::new(seed, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_take_parameters() {
        assert_eq!(Player::parse("default").unwrap(), Player::Own(Box::default()));
        let expected = Uct {
            c: 0.7,
            draws: 1,
            threads: 2,
            solver: false,
            rule: sortie_core::Rule::Puct,
            ..Uct::plain()
        };
        let text = " plain:c=0.7, draws=1,threads=2,solver=false,rule=puct";
        assert_eq!(Player::parse(text).unwrap(), Player::Own(Box::new(expected)));
        for (name, _) in PRESETS {
            assert_eq!(Player::parse(name).unwrap(), Player::Own(Box::new(Uct::preset(name).unwrap())));
            assert!(help().contains(name));
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (text, expected) in [
            ("defualt", "did you mean 'default'?"),
            ("stockfish", "expected default"),
            ("", "expected default"),
            ("default:thread=2", "did you mean 'threads'?"),
            ("default:zzzzzzzz=2", "expected rule"),
            ("default:c=much", "c much: expected a number"),
            ("default:c=NaN", "expected a number"),
            ("default:c=-1", "expected 0 to 1000"),
            ("default:threads=1.5", "a whole number"),
            ("default:threads=99999999999", "a whole number"),
            ("default:solver=yes", "true or false"),
            ("default:rule=best", "expected 'uct' or 'puct'"),
            ("default:c", "name=value"),
            ("default[c=1]", "after a colon"),
            ("random:c=1", "no parameters"),
            ("engine:c=1", "no parameters"),
            ("uci", "a program after a colon"),
            ("uci:", "a program after a colon"),
            ("uci[a=b", "never closed"),
            ("uci:\"engine", "never closed"),
            ("uci:engine\\", "backslash"),
            ("uci[timeout=5]:engine", "timeout 5: expected a number and a unit"),
            ("gtp[letters=few]:engine", "expected all or skip-i"),
        ] {
            let error = format!("{:#}", Player::parse(text).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(Player::parse(&"x".repeat(1 << 20)).is_err());
    }

    #[test]
    fn engines_take_options_and_quoted_words() {
        let Player::Uci(program) =
            Player::parse("uci[timeout=500ms,Hash=64]:\"/opt/my engine\" -x 'a \"b\"' c\\ d \"\"").unwrap()
        else {
            panic!("uci")
        };
        assert_eq!(program.command, ["/opt/my engine", "-x", "a \"b\"", "c d", ""]);
        assert_eq!(program.timeout, Some(0.5));
        assert_eq!(program.options, [("Hash".to_string(), "64".to_string())]);
        assert!(
            matches!(Player::parse("gtp[letters=skip-i]:x").unwrap(), Player::Gtp(p, true) if p.options.is_empty())
        );
    }

    #[test]
    fn only_some_games_have_an_engine_of_their_own() {
        let nim = sortie_core::Boxed::new(sortie_core::toy::Nim { heap: 40 });
        let error = open("engine", &nim, 1).err().expect("none").to_string();
        assert!(error.contains("no engine of its own"), "{error}");
        assert!(open("engine", &sortie_core::Boxed::new(sortie_domains::Connect6::new(19)), 1).is_ok());
    }

    #[test]
    fn random_plays_legal_moves_and_repeats_itself() {
        let game = sortie_core::Boxed::new(sortie_core::toy::Nim { heap: 40 });
        let mut player = open("random", &game, 1).unwrap();
        let mut play = || {
            let mut board = game.board(None).unwrap();
            player.reset(7);
            while board.outcome().is_none() {
                player.set(None, board.words()).unwrap();
                let stop = AtomicBool::new(false);
                let thought = player.think(&Budget::playouts(1), &stop, &mut |_| {}).unwrap();
                board.play(&thought.best.unwrap()).unwrap();
            }
            board.words().to_vec()
        };
        assert_eq!(play(), play());
    }
}
