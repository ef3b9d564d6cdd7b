//! Players as text: our own search by the name of a preset, with parameters after a colon, or an engine of somebody
//! else's. This is what `--player` and the files of matches hold.

use crate::costs;
use crate::duration;
use crate::engine::{self, Gomocup, Gtp, GtpSpeaker, Program, Speaker, Spoken, Uci, UciSpeaker};
use crate::ranks;
use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sortie_core::exact::Statuses;
use sortie_core::parts::nearest;
use sortie_core::play::Fault;
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, PlayError, Rng, Thought, Uct};
use sortie_jobs::tree::{Hire, JobPlay, JobPlayer};
use sortie_rank::{Costs, Engine, Form, Gang, GangPlayer, Net, Plan};
use std::sync::atomic::AtomicBool;

/// No spec is longer than this.
const BYTES_MAX: usize = 64 << 10;

/// A player, as its text says.
#[derive(Debug, Clone, PartialEq)]
pub enum Player {
    /// Our own search.
    Own(Box<Uct>),
    /// Our own search, spread over ranks.
    Gang(Box<Spread>),
    /// Any legal move, all alike.
    Random,
    /// The game's own engine.
    Engine,
    /// A program that speaks UCI.
    Uci(Program),
    /// A program that speaks GTP; true: its columns leave out the i.
    Gtp(Program, bool),
    /// A program that speaks Gomocup's protocol.
    Gomocup(Program),
    /// A program that answers line by line.
    Lines(Program),
    /// For every turn a job tree, by workers of ours or with an engine of somebody else's, which this text names.
    JobLevel(Box<JobPlay>, Option<String>),
}

/// A search spread over ranks, and what runs them.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The ranks.
    pub gang: Gang,
    /// How they search.
    pub uct: Uct,
    /// What runs them.
    pub engine: EngineName,
    /// The number of machines was given, and not left to the cluster.
    pub nodes_given: bool,
    /// The modelled network.
    pub net: Net,
    /// The modelled costs; `None`: those built in for the game and the search.
    pub costs: Option<Costs>,
    /// How many times as long as that a playout takes: rules or machines that are slower than ours.
    pub slower: f64,
}

impl Spread {
    /// What it reckons with in virtual time.
    pub fn costs(&self, game: &dyn AnyGame) -> Costs {
        let built_in = || costs::built_in(&game.kind(), &self.uct).map(|profile| profile.costs);
        let mut costs = self.costs.clone().or_else(built_in).unwrap_or_default();
        costs.playout.iter_mut().for_each(|nanos| *nanos *= self.slower);
        costs
    }
}

/// What runs ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineName {
    /// Threads of this process.
    Threads,
    /// Virtual time.
    Virtual,
    /// The processes of an MPI job.
    Mpi,
}

/// Opens the player that a text names.
pub fn open(text: &str, game: &dyn AnyGame, seed: u64) -> Result<Box<dyn AnyPlayer>> {
    Player::parse(text)?.open(game, seed)
}

/// What can be written for a player, for the help.
pub fn help() -> String {
    let mut text = "Players:\n".to_string();
    let own = Uct::PRESETS.iter().chain(Form::ALL).map(|&(name, about)| (name, about));
    let others = [
        ("random", "any legal move, all alike"),
        ("engine", "the game's own engine: connect6 has one"),
        ("uci:PROGRAM ARGUMENTS", "an engine that speaks UCI"),
        ("gtp:PROGRAM ARGUMENTS", "an engine that speaks GTP"),
        ("gomocup:PROGRAM ARGUMENTS", "an engine that speaks the protocol of Gomocup"),
        ("text:PROGRAM ARGUMENTS", "a program that answers line by line"),
        ("job-level", "for every turn a tree of jobs"),
    ];
    for (name, about) in own.chain(others) {
        text += &format!("  {name:22}  {about}\n");
    }
    text += "\nA preset takes parameters: default:c=0.7,draws=1,threads=2. There are\n  ";
    let keys: Vec<String> = parameters(&Uct::default()).keys().cloned().collect();
    let (first, rest) = keys.split_at(keys.len() / 2);
    text += &format!("{},\n  {}.\n", first.join(", "), rest.join(", "));
    text += "`sortie list players` explains each.\n";
    text += "A search spread over ranks takes options before the search that is spread:\n";
    text +=
        "  tds[nodes=4,threads=2]:default:c=0.7, tds[nodes=64,threads=12,engine=virtual,latency=2us]:plain\n";
    text += "  In virtual time things cost what was measured; costs=FILE says where (`lab scale --calibrate`),\n  slower=100 makes playouts take so many times as long.\n";
    text += "A player by jobs takes options, and perhaps an engine that does the jobs:\n";
    text += "  job-level[jobs=200,select=uct,policy=ve-flag,nodes=1000,playouts=100,threads=1], job-level[jobs=50]:uci:ENGINE\n";
    text += "Engines take options, and the time they have beyond that of the move:\n";
    text += "  'uci[timeout=5s,Threads=2]:/opt/my engine/run --quiet' needs its blanks quoted: \"/opt/my engine/run\".\n";
    text += "  gtp[letters=skip-i]:PROGRAM names columns as on a Go board, without an i.";
    text
}

/// What the parameters of our own search mean, in their order.
const MEANINGS: [(&str, &str); 22] = [
    (
        "rule",
        "how a move is chosen within the tree: uct (mean plus c sqrt(ln N / n)) or puct (the share knowledge gives it)",
    ),
    ("c", "the weight of exploration: more tries more moves, less goes deeper"),
    ("fpu", "the value of a move never tried, for the side to move; above 1 all are tried before any twice"),
    ("knowledge", "what is known of a move before it is tried: none, categories or evaluation"),
    ("bias", "the weight of that knowledge, fading with the visits; 0: none"),
    ("unprune-first", "moves considered at a node's first visit, the best known first; 0: all, always"),
    ("unprune-rate", "one more is considered each time the visits grow by this factor"),
    ("draws", "playouts play the most appealing of so many moves drawn at random; 1: uniform"),
    ("weighted", "playouts draw moves by the weights of their categories instead"),
    ("cut", "moves after which a playout is cut off and its position evaluated; 0: to the end of the game"),
    ("steepness", "how steeply an evaluation becomes a chance to win where a playout is cut off"),
    ("decisive", "a winning move is played at once, in the tree and where a playout begins"),
    ("solver", "wins, losses and draws that are certain are proved back through the tree"),
    ("expand", "visits of a move before the position it leads to gets a node"),
    ("transpositions", "positions reached by several paths have one node"),
    ("pool-means", "a move is judged by all visits of the position it leads to"),
    (
        "final-move",
        "the move that is played: max (mean), robust (visits), max-robust or secure (lower bound)",
    ),
    ("reuse", "the tree is kept between the moves of a game"),
    ("threads", "threads that search one tree"),
    ("in-flight", "simulations in flight at once on each thread"),
    ("counting", "how those in flight are counted: ignore, virtual-loss, unobserved or mixed"),
    ("memory", "the bound on the memory of the tree, in MiB"),
];

/// The parameters of our own search with what they are by default and what they mean.
pub fn meanings() -> impl Iterator<Item = Value> {
    let defaults = parameters(&Uct::default());
    MEANINGS.iter().map(move |(key, about)| {
        let default = defaults.get(*key).cloned().unwrap_or_default();
        serde_json::json!({ "name": key, "about": about, "default": default })
    })
}

/// All that `sortie list players` says.
pub fn explained() -> String {
    let mut text = help() + "\n\nThe parameters of a preset, with the values of default:\n";
    let defaults = parameters(&Uct::default());
    for (key, about) in MEANINGS {
        let default = defaults.get(key).map(Value::to_string).unwrap_or_default();
        text += &format!("  {key:15} {:10} {about}\n", default.trim_matches('"'));
    }
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
            "gomocup" => Ok(Player::Gomocup(program(rest)?)),
            "text" => Ok(Player::Lines(program(rest)?)),
            "job-level" => job_level(rest),
            "random" if rest.is_empty() => Ok(Player::Random),
            "random" => bail!("random has no parameters"),
            "engine" if rest.is_empty() => Ok(Player::Engine),
            "engine" => bail!("engine has no parameters"),
            _ => match Form::named(name) {
                Some(form) => Ok(Player::Gang(Box::new(spread(form, rest)?))),
                None => Ok(Player::Own(Box::new(own(name, rest)?))),
            },
        }
    }

    /// The same player with one parameter changed: of the search, or of the engine.
    pub fn with(&self, key: &str, value: &str) -> Result<Player> {
        let mut player = self.clone();
        match &mut player {
            Player::Own(uct) => {
                **uct = changed(&**uct, key, value)?;
                uct.check()?;
            }
            Player::Gang(spread) => match parameters(&spread.uct).contains_key(key) {
                true => {
                    spread.uct = changed(&spread.uct, key, value)?;
                    spread.uct.check()?;
                }
                false => option(spread, key, value)?,
            },
            Player::Random => bail!("random has no parameters"),
            Player::Engine => bail!("engine has no parameters"),
            Player::JobLevel(spec, _) => {
                **spec = changed(&**spec, key, value)?;
                spec.check().map_err(|message| anyhow!(message))?;
            }
            Player::Uci(program)
            | Player::Gtp(program, _)
            | Player::Gomocup(program)
            | Player::Lines(program) => {
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
            Player::JobLevel(spec, _) => parameters(spec),
            Player::Gang(spread) => {
                let mut all = parameters(&spread.gang);
                all.extend(parameters(&spread.net));
                all.extend(parameters(&spread.uct));
                all
            }
            _ => Map::new(),
        }
    }

    /// Opens the player for a game.
    pub fn open(&self, game: &dyn AnyGame, seed: u64) -> Result<Box<dyn AnyPlayer>> {
        Ok(match self {
            Player::Own(uct) => game.player(uct, seed)?,
            Player::Gang(spread) => {
                let mut plan = Plan { gang: spread.gang.clone(), uct: spread.uct.clone(), seed };
                let engine = match spread.engine {
                    EngineName::Threads => Engine::Threads,
                    EngineName::Virtual => Engine::Virtual(spread.net.clone(), spread.costs(game)),
                    EngineName::Mpi => return ranks::open(game, &mut plan, spread.nodes_given),
                };
                Box::new(GangPlayer::new(game, &plan, engine)?)
            }
            Player::Random => Box::new(Random::new(game, seed)?),
            Player::Engine => game.engine(seed).ok_or_else(|| {
                anyhow!("player 'engine': this game has no engine of its own; try 'default'")
            })?,
            Player::Uci(program) => Box::new(Uci::new(program.clone(), game).map_err(|e| anyhow!(e))?),
            Player::Gtp(program, skips_i) => {
                Box::new(Gtp::new(program.clone(), *skips_i, game).map_err(|e| anyhow!(e))?)
            }
            Player::Gomocup(_) | Player::Lines(_) => Box::new(Spoken::new(self.speaker()?.0, game)),
            Player::JobLevel(spec, engine) => {
                if let Some(text) = engine {
                    engine::register(game, text, None, &[])?;
                }
                let (shared, engine, memory) = (game.share(), engine.clone(), (spec.memory as usize) << 20);
                let hire: Hire = Box::new(move || {
                    let hired = engine::hire(&*shared, engine.as_deref(), memory, &Statuses::default(), seed);
                    hired.map_err(|error| format!("{error:#}"))
                });
                Box::new(JobPlayer::new(game, (**spec).clone(), hire).map_err(|e| anyhow!(e))?)
            }
        })
    }

    /// Whether somebody else's program plays, or works for it.
    #[cfg_attr(not(feature = "grid"), allow(dead_code))]
    pub fn starts_a_program(&self) -> bool {
        match self {
            Player::Own(_) | Player::Gang(_) | Player::Random | Player::Engine => false,
            Player::Uci(_) | Player::Gtp(..) | Player::Gomocup(_) | Player::Lines(_) => true,
            Player::JobLevel(_, engine) => engine.is_some(),
        }
    }

    /// The same engine as somebody who is asked about positions, and its time for one. Only engines of others can be.
    pub fn speaker(&self) -> Result<(Box<dyn Speaker>, Option<f64>)> {
        let (speaker, program): (Result<Box<dyn Speaker>, String>, _) = match self {
            Player::Uci(program) => (UciSpeaker::new(program.clone()).map(|s| Box::new(s) as _), program),
            Player::Gtp(program, skips_i) => {
                (GtpSpeaker::new(program.clone(), *skips_i).map(|s| Box::new(s) as _), program)
            }
            Player::Gomocup(program) => (Gomocup::new(program.clone()).map(|s| Box::new(s) as _), program),
            Player::Lines(program) => (engine::lines(program.clone()), program),
            _ => bail!("expected an engine: uci:PROGRAM, gtp:PROGRAM, gomocup:PROGRAM or text:PROGRAM"),
        };
        Ok((speaker.map_err(|message| anyhow!(message))?, program.time))
    }
}

/// The same text with the engine named, if it is a search spread over ranks that names none.
pub fn with_engine(text: &str, engine: &str) -> String {
    let text = text.trim();
    let end = text.find([':', '[']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if Form::named(name).is_none() {
        return text.into();
    }
    let (given, rest) =
        rest.strip_prefix('[').and_then(|inside| inside.split_once(']')).unwrap_or(("", rest));
    if pairs(given).flatten().any(|(key, _)| key == "engine") {
        return text.into();
    }
    let given = if given.trim().is_empty() { String::new() } else { format!("{given},") };
    format!("{name}[{given}engine={engine}]{rest}")
}

fn unknown(name: &str) -> anyhow::Error {
    let own = || Uct::PRESETS.iter().chain(Form::ALL).map(|(name, _)| *name);
    let others =
        ["random", "engine", "uci:PROGRAM", "gtp:PROGRAM", "gomocup:PROGRAM", "text:PROGRAM", "job-level"];
    let names = || own().chain(others);
    match nearest(name, names()) {
        Some(near) => anyhow!("there is no such player: did you mean '{near}'?"),
        None => anyhow!("there is no such player: expected {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// Our own search by the name of a preset, and what follows it.
fn own(name: &str, rest: &str) -> Result<Uct> {
    let mut uct = Uct::preset(name).ok_or_else(|| unknown(name))?;
    let given = match rest.split_at_checked(1) {
        None => "",
        Some((":", given)) => given,
        Some(_) => bail!("expected parameters after a colon, as in {name}:c=0.7,threads=2"),
    };
    for pair in pairs(given) {
        let (key, value) = pair?;
        uct = changed(&uct, key, value)?;
    }
    uct.check()?;
    Ok(uct)
}

/// What follows `job-level`: options in brackets, and perhaps a colon and an engine.
fn job_level(rest: &str) -> Result<Player> {
    let (given, rest) = match rest.strip_prefix('[') {
        None => ("", rest),
        Some(inside) => inside.split_once(']').ok_or_else(|| anyhow!("the bracket is never closed"))?,
    };
    let mut spec = JobPlay::default();
    for pair in pairs(given) {
        let (key, value) = pair?;
        spec = changed(&spec, key, value)?;
        spec.check().map_err(|message| anyhow!(message))?;
    }
    let engine = match rest.split_at_checked(1) {
        None => None,
        Some((":", engine)) => {
            let foreign = ["uci", "gtp", "gomocup", "text"];
            if !foreign.contains(&engine.split([':', '[']).next().unwrap_or("")) {
                bail!("expected an engine after the colon, as in job-level[jobs=50]:uci:PROGRAM");
            }
            Player::read(engine)?;
            Some(engine.to_string())
        }
        Some(_) => bail!("expected options in brackets, as in job-level[jobs=50]"),
    };
    Ok(Player::JobLevel(Box::new(spec), engine))
}

/// What follows the name of a form: options in brackets, a colon and our own search.
fn spread(form: Form, rest: &str) -> Result<Spread> {
    let (given, rest) = match rest.strip_prefix('[') {
        None => ("", rest),
        Some(inside) => inside.split_once(']').ok_or_else(|| anyhow!("the bracket is never closed"))?,
    };
    let search = match rest.split_at_checked(1) {
        None => "default",
        Some((":", search)) => search,
        Some(_) => bail!("expected a search after a colon, as in {0}[nodes=4]:default:c=0.7", form.name()),
    };
    let end = search.find(':').unwrap_or(search.len());
    let uct = own(&search[..end], &search[end..])?;
    let mut spread = Spread {
        gang: Gang { form, ..Gang::default() },
        uct,
        engine: EngineName::Threads,
        nodes_given: false,
        net: Net::default(),
        costs: None,
        slower: 1.0,
    };
    for pair in pairs(given) {
        let (key, value) = pair?;
        option(&mut spread, key, value)?;
    }
    Ok(spread)
}

/// Changes an option of a gang: a number of its own, of its network, or what runs it.
fn option(spread: &mut Spread, key: &str, value: &str) -> Result<()> {
    let nanos = || {
        let seconds = duration::parse(value).map_err(|e| anyhow!("{key} {}: {e}", cut(value)))?;
        anyhow::Ok(seconds * 1e9)
    };
    match key {
        "engine" => {
            spread.engine = match value {
                "threads" => EngineName::Threads,
                "virtual" => EngineName::Virtual,
                "mpi" => EngineName::Mpi,
                _ => bail!("engine {}: expected threads, virtual or mpi", cut(value)),
            }
        }
        "latency" => spread.net.latency = nanos()?,
        "playout" => spread.costs.get_or_insert_default().playout = vec![nanos()?],
        "costs" => spread.costs = Some(costs::named(value)?),
        "slower" => {
            let times = value.parse().ok().filter(|times| (0.001..=1e6).contains(times));
            spread.slower = times
                .ok_or_else(|| anyhow!("slower {}: expected a number from 0.001 to 1000000", cut(value)))?;
        }
        _ if parameters(&spread.net).contains_key(key) => spread.net = changed(&spread.net, key, value)?,
        _ => {
            let form = spread.gang.form;
            if parameters(&spread.gang).contains_key(key) && !form.takes(key) {
                let taken: Vec<&str> = form.options().collect();
                bail!("{} has no {key}: it has {}", form.name(), taken.join(", "));
            }
            spread.gang = changed(&spread.gang, key, value)?;
            spread.gang.check()?;
            spread.nodes_given |= key == "nodes";
        }
    }
    Ok(())
}

/// The pairs of a list `a=1,b=2`.
fn pairs(text: &str) -> impl Iterator<Item = Result<(&str, &str)>> {
    text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).map(|pair| {
        pair.split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
            .ok_or_else(|| anyhow!("'{}': expected name=value, as in c=0.7", cut(pair)))
    })
}

fn parameters(of: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(map)) = serde_json::to_value(of) else { unreachable!("a struct of plain data") };
    map
}

/// The same with one parameter replaced, its value read as what the parameter is.
fn changed<T: Serialize + DeserializeOwned>(of: &T, key: &str, value: &str) -> Result<T> {
    let mut map = parameters(of);
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
    let (mut timeout, mut time, mut options) = (None, None, Vec::new());
    for pair in given.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("timeout", value) => {
                timeout = Some(duration::parse(value).map_err(|e| anyhow!("timeout {}: {e}", cut(value)))?);
            }
            ("time", value) => {
                time = Some(duration::parse(value).map_err(|e| anyhow!("time {}: {e}", cut(value)))?);
            }
            (key, value) => options.push((key.to_string(), value.to_string())),
        }
    }
    Ok(Program { command, timeout, time, options })
}

/// The words of a command line, split as a shell splits them.
fn split(text: &str) -> Result<Vec<String>> {
    shell_words::split(text).map_err(|_| anyhow!("a quote is never closed"))
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
            rule: sortie_core::uct::Rule::Puct,
            ..Uct::plain()
        };
        let text = " plain:c=0.7, draws=1,threads=2,solver=false,rule=puct";
        assert_eq!(Player::parse(text).unwrap(), Player::Own(Box::new(expected)));
        for (name, _) in Uct::PRESETS {
            assert_eq!(Player::parse(name).unwrap(), Player::Own(Box::new(Uct::preset(name).unwrap())));
            assert!(help().contains(name));
        }
    }

    #[test]
    fn an_engine_is_named_where_none_was() {
        for (text, expected) in [
            ("tds", "tds[engine=mpi]"),
            (" tds:default:c=0.7", "tds[engine=mpi]:default:c=0.7"),
            ("tds[ranks=2]:plain", "tds[ranks=2,engine=mpi]:plain"),
            ("tds[]", "tds[engine=mpi]"),
            ("tds[nodes=4,engine=virtual]", "tds[nodes=4,engine=virtual]"),
            ("default:threads=2", "default:threads=2"),
            ("uci:tds", "uci:tds"),
        ] {
            assert_eq!(with_engine(text, "mpi"), expected);
            assert!(Player::parse(expected).is_ok());
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
            ("uci[timeout=5]:engine", "timeout 5: expected a number and a unit"),
            ("gtp[letters=few]:engine", "expected all or skip-i"),
            ("gomocup", "a program after a colon"),
            ("text[time=1]:engine", "time 1: expected a number and a unit"),
            ("job-level[jobs=many]", "jobs many: expected a whole number"),
            ("job-level[job=3]", "did you mean 'jobs'?"),
            ("job-level[select=best]", "select best"),
            ("job-level[nodes=0]", "expected at least 1"),
            ("job-level:default", "expected an engine after the colon"),
            ("job-level:uci:", "a program after a colon"),
            ("job-levels", "did you mean 'job-level'?"),
            ("job-level[jobs=1]x", "options in brackets"),
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
    fn jobs_are_done_by_us_or_by_an_engine() {
        let text = "job-level[jobs=50,select=pns,policy=virtual-win,c=0.7]:uci[time=1s]:engine -x";
        let Player::JobLevel(spec, engine) = Player::parse(text).unwrap() else { panic!("job-level") };
        assert_eq!((spec.jobs, spec.c, engine.as_deref()), (50, 0.7, Some("uci[time=1s]:engine -x")));
        assert_eq!(spec.select, sortie_jobs::tree::Select::Pns);
        assert_eq!(Player::parse("job-level").unwrap(), Player::JobLevel(Box::default(), None));
        let game = sortie_core::Boxed::new(sortie_core::toy::Nim { heap: 11 });
        let mut player = open("job-level[nodes=3,jobs=100]", &game, 1).unwrap();
        let thought = player.think(&Budget::default(), &AtomicBool::new(false), &mut |_| {}).unwrap();
        assert_eq!(thought.best.as_deref(), Some("3"));
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
