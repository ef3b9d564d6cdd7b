//! Searches spread over processes. Under `--engine mpi` process 0 of the job runs the command as ever; the others never
//! see it and do what they are asked to until it has ended. A build without the feature `mpi` says so.

use crate::args::{Command, EngineArg};
use crate::players::with_engine;
use anyhow::Result;
use sortie_core::{AnyGame, AnyPlayer};
use sortie_rank::{Plan, Relayed, Traffic};
use std::process::ExitCode;

/// What this process is.
pub enum Role {
    /// The one that runs the command.
    Front,
    /// Another one, and its work is done.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    Done(ExitCode),
}

/// Joins the others, where an engine was named, and names it in the players that name none.
pub fn join(engine: EngineArg, command: &mut Command) -> Result<Role> {
    if engine == EngineArg::Threads {
        return Ok(Role::Front);
    }
    let name = |player: &mut String| *player = with_engine(player, "mpi");
    match command {
        Command::Match(args) => args.players.iter_mut().for_each(name),
        Command::Tune(args) => std::iter::once(&mut args.player).chain(&mut args.against).for_each(name),
        Command::Play(args) => name(&mut args.player),
        Command::Analyse(args) => name(&mut args.player),
        Command::Engine(args) => name(&mut args.player),
        _ => {}
    }
    enter(engine)
}

/// Joins the others.
pub fn enter(engine: EngineArg) -> Result<Role> {
    if engine == EngineArg::Threads { Ok(Role::Front) } else { started::join() }
}

/// Ends the processes of the job with the command.
pub fn leave(code: ExitCode) -> ExitCode {
    started::leave(code)
}

/// Opens a player whose ranks are the processes of this job.
pub fn open(game: &dyn AnyGame, plan: &mut Plan, nodes_given: bool) -> Result<Box<dyn AnyPlayer>> {
    started::open(game, plan, nodes_given)
}

/// Passes tokens between the processes of this job; `None` where it is not one. How many they are, and what was seen.
pub fn relay(traffic: Traffic) -> Result<Option<(u32, Relayed)>> {
    started::relay(traffic)
}

#[cfg(not(feature = "mpi"))]
mod started {
    use super::{ExitCode, Plan, Relayed, Result, Role, Traffic};
    use anyhow::bail;
    use sortie_core::{AnyGame, AnyPlayer};

    const NO_MPI: &str =
        "this sortie was built without MPI: build it with `cargo build --release --features mpi`";

    pub fn join() -> Result<Role> {
        bail!("--engine mpi: {NO_MPI}")
    }

    pub fn leave(code: ExitCode) -> ExitCode {
        code
    }

    pub fn open(_: &dyn AnyGame, _: &mut Plan, _: bool) -> Result<Box<dyn AnyPlayer>> {
        bail!("engine mpi: {NO_MPI}")
    }

    pub fn relay(_: Traffic) -> Result<Option<(u32, Relayed)>> {
        Ok(None)
    }
}

#[cfg(feature = "mpi")]
mod started {
    use super::{ExitCode, Plan, Relayed, Result, Role, Traffic};
    use crate::output;
    use crate::source::Instance;
    use anyhow::{Context, anyhow, bail};
    use sortie_core::play::Fault;
    use sortie_core::{AnyGame, AnyPlayer, Budget, Origin, PlayError, Thought};
    use sortie_rank::mpi::World;
    use sortie_rank::{Engine, Gang, GangPlayer, RankId};
    use sortie_rank::{Errand, Serve};
    use std::io::Write;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, OnceLock};

    /// MPI is one in a process, by its nature.
    static WORLD: OnceLock<World> = OnceLock::new();

    pub fn join() -> Result<Role> {
        let world = World::start().map_err(|why| anyhow!("--engine mpi: {why}"))?;
        let world = WORLD.get_or_init(|| world);
        if world.me() == RankId(0) {
            return Ok(Role::Front);
        }
        // Ctrl-C ends the front in good order, and the front ends the others.
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
        }
        let open = |origin: &Origin| {
            let instance = Instance::open_copy(&origin.name, origin.text.clone());
            let game = instance.and_then(|instance| Ok(instance.game()?.share()));
            game.map_err(|error| format!("{error:#}"))
        };
        let done = world.work(&open, &|line| output::say(&format!("sortie: {line}")));
        let left = world.leave();
        Ok(Role::Done(ExitCode::from(u8::from(done.is_err() || !left))))
    }

    pub fn leave(code: ExitCode) -> ExitCode {
        let Some(world) = WORLD.get() else { return code };
        let _ = std::io::stdout().flush();
        if !world.leave() {
            output::say("sortie: some processes of this job are gone; the others are ended now");
            world.abort(if code == ExitCode::SUCCESS { 0 } else { 2 });
        }
        code
    }

    /// The gang that so many processes make.
    fn sized(gang: &Gang, nodes_given: bool, size: u32) -> Result<u32> {
        let (nodes, ranks) = (gang.nodes, gang.ranks);
        if nodes_given && gang.size() != size {
            bail!(
                "nodes={nodes},ranks={ranks} are {} ranks and this job has {size} processes: start {} of them, or leave out nodes",
                gang.size(),
                gang.size()
            );
        }
        if !size.is_multiple_of(ranks) {
            bail!("ranks={ranks}: this job has {size} processes, which is no multiple of it");
        }
        Ok(size / ranks)
    }

    pub fn open(game: &dyn AnyGame, plan: &mut Plan, nodes_given: bool) -> Result<Box<dyn AnyPlayer>> {
        let world = WORLD.get().context(
            "engine mpi: start the command as `mpirun -np 4 sortie ... --engine mpi`, see docs/cluster.md",
        )?;
        plan.gang.nodes = sized(&plan.gang, nodes_given, world.size())?;
        plan.gang.check()?;
        plan.uct.check()?;
        let origin =
            game.origin().context("engine mpi: this game has no name that others could open it by")?;
        let errand = Errand::Serve(Box::new(Serve::new(origin.clone(), plan)));
        let port = world.open(&errand).map_err(|why| anyhow!("engine mpi: {why}"))?;
        Ok(Box::new(Told(GangPlayer::new(game, plan, Engine::Remote(Box::new(port)))?)))
    }

    pub fn relay(traffic: Traffic) -> Result<Option<(u32, Relayed)>> {
        let Some(world) = WORLD.get() else { return Ok(None) };
        if world.size() < 2 {
            bail!("bench messages: one process has nobody to talk to: start more of them");
        }
        let seen = world
            .open(&Errand::Relay(traffic))
            .and_then(|mut port| sortie_rank::relay(&mut port, RankId(0), world.size(), traffic));
        Ok(Some((world.size(), seen.map_err(|why| anyhow!("bench messages: {why}"))?)))
    }

    /// A player whose troubles are told on stderr.
    struct Told(GangPlayer);

    impl AnyPlayer for Told {
        fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
            self.0.set(start, words)
        }

        fn think(
            &mut self,
            budget: &Budget,
            stop: &AtomicBool,
            tell: &mut dyn FnMut(&Thought),
        ) -> Result<Thought, Fault> {
            let thought = self.0.think(budget, stop, tell)?;
            let note = thought.gang.as_ref().and_then(|gang| gang.note.clone());
            for line in self.0.log().into_iter().chain(note) {
                output::say(&format!("sortie: {line}"));
            }
            Ok(thought)
        }

        fn reset(&mut self, seed: u64) {
            self.0.reset(seed);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_gang_is_as_large_as_the_job() {
            let gang = |nodes, ranks| Gang { nodes, ranks, ..Gang::default() };
            assert_eq!(sized(&gang(2, 1), false, 8).unwrap(), 8);
            assert_eq!(sized(&gang(2, 4), false, 8).unwrap(), 2);
            assert_eq!(sized(&gang(8, 1), true, 8).unwrap(), 8);
            let error = sized(&gang(4, 1), true, 8).unwrap_err().to_string();
            assert!(error.contains("4 ranks") && error.contains("8 processes"), "{error}");
            assert!(sized(&gang(1, 3), false, 8).unwrap_err().to_string().contains("no multiple"));
        }
    }
}
