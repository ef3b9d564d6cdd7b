//! Fills a database: the game's own engine plays itself from random openings, every position of every game is proved if
//! it can be, and every position that comes up in a proof is stored. A game is stored whole, under its number, so the
//! next call goes on with the next game.

use super::args::Fill;
use super::{name, open};
use crate::output::{self, count, rounded};
use crate::progress::Progress;
use crate::session::stop_on_signals;
use crate::source::Instance;
use crate::{Verdict, duration};
use anyhow::{Context, Result, bail};
use cpu_time::ProcessTime;
use serde_json::json;
use sortie_core::exact::Trust;
use sortie_core::{AnyGame, AnyPlayer, Budget, Ident, Rng};
use sortie_store::{Added, Batch, GameName, Source, Store};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// What is proved waits until it is this much, so that a write is worth its while.
const WAITING_MAX: usize = 20_000;
/// And no longer than this: whoever ends the process loses no more.
const WAITING_SECONDS: f64 = 10.0;
/// Moves at random before the engine plays.
const OPENING_MOVES: usize = 5;
/// A game is given up after so many moves.
const MOVES_MAX: usize = 200;

/// Runs the command.
pub fn run(args: &Fill) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let (game, name) = (instance.game()?, name(&instance)?);
    let Some(engine) = game.engine(args.seed) else {
        bail!("{}: there is no engine with proofs of its own; connect6 has one", instance.name);
    };
    let store = open(&args.db)?;
    let label = format!("fill seed {}", args.seed);
    let next = next_game(&*store, &name, &label)?;
    let stop = stop_on_signals()?;
    let before = positions(&*store, &name)?;
    let mut filler = Filler {
        game,
        engine,
        args,
        label,
        waiting: Vec::new(),
        facts: 0,
        turns: Vec::new(),
        new_turns: 0,
        proofs: 0,
        added: Added::default(),
        puts: 0.0,
    };
    let (begun, cpu) = (Instant::now(), ProcessTime::now());
    let mut progress = Progress::new(args.report.quiet, 0.0);
    let (mut games, mut flushed) = (0, 0.0);
    loop {
        let seconds = begun.elapsed().as_secs_f64();
        let stored = before + filler.added.new;
        let over = stop.load(Relaxed)
            || args.time.is_some_and(|time| seconds >= time)
            || args.cpu_time.is_some_and(|time| cpu.elapsed().as_secs_f64() >= time)
            || args.positions.is_some_and(|most| stored >= most);
        if over || filler.facts >= WAITING_MAX || seconds - flushed >= WAITING_SECONDS {
            filler.flush(&*store, &name)?;
            flushed = begun.elapsed().as_secs_f64();
        }
        if over {
            break;
        }
        progress.show(seconds, || {
            format!(
                "{:>9}  {} games  {} proofs  {} positions",
                duration::show(seconds),
                count(games),
                count(filler.proofs),
                count(stored),
            )
        });
        filler.play(next + games, &stop)?;
        games += 1;
    }
    progress.clear();
    let cpu_seconds = cpu.elapsed().as_secs_f64();
    store.tidy().context("the space that is not needed cannot be given back")?;
    let (all, bytes) = (positions(&*store, &name)?, store.bytes()?);
    let (new, turns) = (filler.added.new, filler.new_turns);
    let seconds = begun.elapsed().as_secs_f64();
    if args.report.json {
        output::print_json(&json!({
            "database": args.db, "game": name.game, "games": games, "proofs": filler.proofs,
            "new": new, "new_turns": turns, "positions": all, "bytes": bytes,
            "bytes_per_position": rounded(bytes as f64 / all.max(1) as f64),
            "cpu_seconds": rounded(cpu_seconds), "seconds": rounded(seconds), "store_seconds": rounded(filler.puts),
        }))?;
        return Ok(Verdict::Done);
    }
    output::print(&format!(
        "games      {} ({} proofs, all checked)\nnew        {} positions, {} of them at the beginning of a turn\n\
         database   {} positions, {} bytes, {:.1} a position\ntime       {} of CPU time, {} of it for storing",
        count(games),
        count(filler.proofs),
        count(new),
        count(turns),
        count(all),
        count(bytes),
        bytes as f64 / all.max(1) as f64,
        duration::show(cpu_seconds),
        duration::show(filler.puts),
    ))?;
    Ok(Verdict::Done)
}

fn positions(store: &dyn Store, name: &GameName) -> Result<u64> {
    Ok(store.games()?.into_iter().find(|(game, _)| game == name).map_or(0, |(_, count)| count))
}

/// The number of the first game that is not stored yet.
fn next_game(store: &dyn Store, name: &GameName, label: &str) -> Result<u64> {
    let number =
        |source: &Source| source.run.strip_prefix(label)?.strip_prefix(" game ")?.parse::<u64>().ok();
    let sources = store.sources(name)?;
    Ok(sources.iter().filter_map(|(_, source)| number(source)).max().map_or(0, |last| last + 1))
}

struct Filler<'a> {
    game: &'a dyn AnyGame,
    engine: Box<dyn AnyPlayer>,
    args: &'a Fill,
    label: String,
    /// What is proved and not stored.
    waiting: Vec<Batch>,
    facts: usize,
    /// The positions in it in which a turn begins.
    turns: Vec<Ident>,
    new_turns: u64,
    proofs: u64,
    added: Added,
    /// CPU time of storing.
    puts: f64,
}

impl Filler<'_> {
    /// One game, and what is proved on the way.
    fn play(&mut self, number: u64, stop: &AtomicBool) -> Result<()> {
        let mut rng = Rng::new(self.args.seed, number);
        let mut board = self.game.board(None)?;
        let budget = Budget { nodes: Some(self.args.engine_nodes), ..Budget::default() };
        self.engine.reset(self.args.seed);
        let (mut before, mut facts) = (None, Vec::new());
        while board.outcome().is_none() && board.words().len() < MOVES_MAX && !stop.load(Relaxed) {
            let played = board.words().len();
            // In the middle of a turn nothing is new: what follows is in the proof of its beginning.
            if played >= OPENING_MOVES && before.replace(board.to_move()) != Some(board.to_move()) {
                let settled = self.game.settle(None, board.words(), self.args.nodes)?;
                self.proofs += u64::from(!settled.facts.is_empty());
                self.turns.extend(settled.facts[..settled.turns].iter().map(|fact| fact.ident));
                facts.extend(settled.facts);
            }
            let word = if (1..OPENING_MOVES).contains(&played) {
                // Near what is there: moves that a glance finds something in.
                let (moves, _) = board.categories();
                let near: Vec<String> = moves.into_iter().filter(|m| m.1 > 0).map(|m| m.0).collect();
                let all = if near.is_empty() { board.legal() } else { near };
                all[rng.below(all.len())].clone()
            } else {
                self.engine.set(None, board.words())?;
                let thought = self.engine.think(&budget, stop, &mut |_| {}).context("the engine failed")?;
                match thought.best {
                    Some(word) => word,
                    None => break,
                }
            };
            board.play(&word)?;
        }
        // A game that was broken off is played again next time.
        if !facts.is_empty() && !stop.load(Relaxed) {
            let source = Source {
                run: format!("{} game {number}", self.label),
                moves: board.words().to_vec(),
                nodes: Some(self.args.nodes),
                from: Some(OPENING_MOVES),
                ..Source::default()
            };
            self.facts += facts.len();
            self.waiting.push(Batch { source, trust: Trust::Checked, facts });
        }
        Ok(())
    }

    fn flush(&mut self, store: &dyn Store, name: &GameName) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let begun = ProcessTime::now();
        let known = store.get(name, &self.turns)?;
        let new = self.turns.iter().zip(known).filter(|(_, entries)| entries.is_empty());
        self.new_turns += new.map(|(ident, _)| ident.key).collect::<HashSet<u128>>().len() as u64;
        self.turns.clear();
        self.added += store.put(name, &self.waiting)?;
        self.waiting.clear();
        self.facts = 0;
        self.puts += begun.elapsed().as_secs_f64();
        Ok(())
    }
}
