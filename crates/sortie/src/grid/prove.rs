//! Proofs over a grid: the job tree and its journal stay with the client, positions go out, claims come back. What
//! volunteers claim is compared here, and gone through by our own solver where the run wants it.

#[cfg(feature = "grid")]
pub use live::*;

#[cfg(not(feature = "grid"))]
mod bare {
    use crate::commands::prove::{Recorder, Request};
    use crate::folder::Folder;
    use anyhow::Result;
    use sortie_core::AnyGame;
    use std::sync::atomic::AtomicBool;

    /// There is no grid in this build.
    pub fn drive(
        _: &super::super::Spec,
        _: &mut Recorder,
        _: (&dyn AnyGame, &Request),
        _: (&Folder, bool),
        _: Vec<String>,
        _: &AtomicBool,
    ) -> Result<serde_json::Value> {
        super::super::none()
    }
}
#[cfg(not(feature = "grid"))]
pub use bare::*;

#[cfg(feature = "grid")]
mod live {
    use crate::commands::prove::{Recorder, Request};
    use crate::folder::Folder;
    use crate::grid::Spec;
    use crate::grid::hands::{Bounds, read, write};
    use crate::grid::run::{Log, options};
    use crate::source::Instance;
    use anyhow::Result;
    use cpu_time::ThreadTime;
    use serde::{Deserialize, Serialize};
    use serde_json::value::RawValue;
    use sortie_core::exact::{Answer, AnyWorker, Asked, Job, Partial, Statuses, Trust};
    use sortie_core::{AnyGame, JobId};
    use sortie_grid::desk::Judge;
    use sortie_grid::wire::Kind;
    use sortie_grid::{GridSource, Hand, Options, Told, drive as drive_grid};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// Our own solver looks at so many times the positions of a job before it gives up on a claim: it has not the warm
    /// table of whoever claimed it.
    const RECHECK_TIMES: u64 = 4;
    /// No answer is said to have cost more, and no move is longer.
    const NODES_MAX: u64 = 1 << 40;
    const WORD_BYTES_MAX: usize = 256;

    /// What a worker needs to know besides the jobs.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ProveSpec {
        /// `domain/name`.
        pub instance: String,
        /// The text of the instance's file, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// What a worker remembers, in MiB.
        pub memory: u32,
        /// What the statuses stand for.
        pub statuses: Statuses,
        /// The seed of our player.
        pub seed: u64,
        /// The engine that does the jobs where the exact solver has no result, as a player is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub player: Option<String>,
        /// The position that all is about: where it begins, and the moves to it. Engines are tried there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub position: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub moves: Vec<String>,
    }

    impl ProveSpec {
        /// The game, if this program has it.
        pub fn open(&self) -> Result<Instance, String> {
            self.statuses.check().map_err(|message| message.to_string())?;
            let instance = Instance::open_sent(&self.instance, self.text.as_deref());
            let instance = instance.map_err(|error| format!("{error:#}"))?;
            instance.game().map_err(|error| error.to_string())?;
            Ok(instance)
        }

        /// The engine that it wants, if it is one of `offered`: nobody else's word starts a program here.
        fn engine(&self, offered: &[String]) -> Result<Option<&str>, String> {
            match &self.player {
                Some(player) if !offered.contains(player) => {
                    let player: String = player.chars().filter(|c| !c.is_control()).take(80).collect();
                    Err(format!("it wants the engine '{player}': `sortie worker --player` offers one"))
                }
                player => Ok(player.as_deref()),
            }
        }

        /// Whether this worker has all it takes. An engine has to show that it leaves out what it is told to.
        pub fn can(&self, offered: &[String], bounds: Bounds) -> Result<(), String> {
            bounds.memory(u64::from(self.memory))?;
            let instance = self.open()?;
            let game = instance.game().map_err(|error| error.to_string())?;
            if let Some(engine) = self.engine(offered)? {
                let tried = crate::engine::register(game, engine, self.position.as_deref(), &self.moves);
                let probe = tried.map_err(|error| format!("{error:#}"))?;
                crate::output::say(&probe.to_string());
            }
            Ok(())
        }
    }

    /// A solver that stays warm, and an engine beside it.
    pub struct ProveHand(Box<dyn AnyWorker>);

    impl ProveHand {
        /// Opens the game.
        pub fn new(spec: ProveSpec, offered: &[String]) -> Result<ProveHand, String> {
            let instance = spec.open()?;
            let game = instance.game().map_err(|error| error.to_string())?;
            let (engine, memory_max) = (spec.engine(offered)?, (spec.memory as usize) << 20);
            let worker = crate::engine::hire(game, engine, memory_max, &spec.statuses, spec.seed);
            Ok(ProveHand(worker.map_err(|error| format!("{error:#}"))?))
        }
    }

    impl Hand for ProveHand {
        fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String> {
            let job: Job = read(job)?;
            let asked = Asked { stop: told.cancel, cancel: told.cancel };
            let begun = ThreadTime::now();
            let answer = self.0.answer(&job, asked, &mut |partial| {
                if let Ok(body) = write(&partial) {
                    (told.tell)(body);
                }
            });
            let seconds = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e6;
            match answer.map_err(|error| error.to_string())? {
                Some(answer) => write(&Answer { seconds, ..answer }).map(Some),
                None if told.cancel.load(Relaxed) => Ok(None),
                None => Err("the engine failed".into()),
            }
        }
    }

    impl GridSource for Recorder<'_> {
        type Wire = Answer;

        fn accept(&mut self, id: JobId, answer: Answer, by: &str) -> bool {
            Recorder::accept(self, id, answer, by)
        }

        fn told(&mut self, id: JobId, body: &RawValue) {
            if let Ok(partial) = read::<Partial>(body) {
                self.partial(id, partial);
            }
        }

        fn called_off(&mut self) -> Vec<JobId> {
            std::mem::take(&mut self.called_off)
        }
    }

    /// Compares claims. Two are the same only if they also name the same move: a claim is about that move too.
    struct Court<'a> {
        own: Mutex<Box<dyn AnyWorker>>,
        stop: &'a AtomicBool,
    }

    impl Judge<Job, Answer> for Court<'_> {
        // What our checker has been through, and what is in a database, is nobody else's to say.
        fn heard(&self, mut answer: Answer) -> Answer {
            answer.after.clear();
            if let Some(claim) = &mut answer.claim {
                claim.trust = claim.trust.min(Trust::Solver);
            }
            // Sums of these are kept, and the words stand in the journal.
            answer.nodes = answer.nodes.clamp(1, NODES_MAX);
            answer.seconds = if answer.seconds.is_finite() { answer.seconds.clamp(0.0, 1e9) } else { 0.0 };
            answer.best = answer.best.filter(|word| word.len() <= WORD_BYTES_MAX);
            answer
        }

        fn claims(&self, answer: &Answer) -> bool {
            answer.claim.is_some() || !answer.after.is_empty()
        }

        fn agree(&self, a: &Answer, b: &Answer) -> bool {
            a.claim == b.claim && a.after == b.after && a.best == b.best
        }

        fn contradict(&self, a: &Answer, b: &Answer) -> bool {
            match (a.claim, b.claim) {
                (Some(a), Some(b)) => a.bounds.meet(b.bounds).is_none(),
                _ => false,
            }
        }

        fn opinion(&self, answer: Answer) -> Option<Answer> {
            // Without its claim an answer without a move says nothing.
            answer.best.is_some().then(|| answer.distrusted())
        }

        fn recheck(&self, job: &Job) -> Option<Answer> {
            let mut job = job.clone();
            job.effort.nodes = job.effort.nodes.saturating_mul(RECHECK_TIMES);
            let mut own = self.own.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let asked = Asked { stop: self.stop, cancel: self.stop };
            let begun = ThreadTime::now();
            let answer = own.answer(&job, asked, &mut |_| {}).ok().flatten()?;
            Some(Answer { seconds: begun.elapsed().as_secs_f64(), ..answer })
        }
    }

    /// Works through the tree with the workers of a grid. What the grid did comes back, for the result.
    pub fn drive(
        spec: &Spec,
        recorder: &mut Recorder,
        (game, request): (&dyn AnyGame, &Request),
        (folder, quiet): (&Folder, bool),
        refused: Vec<String>,
        stop: &AtomicBool,
    ) -> Result<serde_json::Value> {
        spec.keep(&folder.path)?;
        let work = ProveSpec {
            instance: request.instance.clone(),
            text: game.origin().and_then(|origin| origin.text.clone()),
            memory: request.memory,
            statuses: request.plan.statuses.clone(),
            seed: request.seed,
            player: request.player.clone(),
            position: request.position.clone(),
            moves: if request.player.is_some() { request.moves.clone() } else { Vec::new() },
        };
        let own = game.worker((request.memory as usize) << 20, &request.plan.statuses, request.seed);
        let court = Court { own: Mutex::new(own), stop };
        let options = Options { refused, ..options(spec, Kind::Prove, &request.instance, &work)? };
        let mut log = Log::open(folder, quiet)?;
        let worked = drive_grid(recorder, &options, &court, stop, &mut log);
        let closed = log.close();
        let tally = worked?;
        closed?;
        Ok(serde_json::to_value(tally)?)
    }
}
