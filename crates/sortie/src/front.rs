//! The library's front: open an instance by name, or bring a problem of your own, and solve it.

use crate::source::Instance;
use sortie_core::search::{Outcomes, SpecError};
use sortie_core::{AnyProblem, BestOf, Control, Event, Limits, OpenError, ReplayError, Search, StopReason};
use std::sync::atomic::AtomicBool;

/// Why something could not be opened or solved. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The instance cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The search cannot run as it is specified.
    #[error(transparent)]
    Search(#[from] SpecError),
    /// It is a game for two, and this needs a problem for one.
    #[error("{0} is a game for two: this needs a problem for one")]
    Game(String),
    /// The budget ended before the first playout.
    #[error("the budget ended before the first playout: give it a larger one")]
    Nothing,
    /// The moves that were found do not replay: a bug in the rules of the domain.
    #[error("the search returned moves that do not replay, a bug in the domain: {0}")]
    Replay(#[from] ReplayError),
}

/// An instance by its name, as in `samegame/1`, `vrptw/R101` or `samegame/path/to/board.txt`.
pub struct Opened(Instance);

/// Opens `domain/name` or `domain/path/to/file`; `sortie list` shows what there is.
pub fn open(name: &str) -> Result<Opened, Error> {
    Ok(Opened(Instance::of(name)?))
}

impl Opened {
    /// Begins to describe a search of it. A game is refused when it runs.
    pub fn solve(&self, budget: Limits) -> Solve<'_> {
        let problem = self.0.problem().map_err(|_| self.0.name.clone());
        Solve::of(problem, budget)
    }

    /// Replays a solution by the rules alone and returns its score.
    pub fn verify(&self, moves: &[String]) -> Result<f64, Error> {
        Ok(self.0.verify(moves)?.score)
    }
}

/// Begins to describe a search of a problem of your own: anything that implements `Problem`.
pub fn solve(problem: &dyn AnyProblem, budget: Limits) -> Solve<'_> {
    Solve::of(Ok(problem), budget)
}

/// A search that is about to run.
pub struct Solve<'a> {
    problem: Result<&'a dyn AnyProblem, String>,
    budget: Limits,
    search: Option<Search>,
    seed: u64,
    threads: u32,
    streams: Option<u32>,
    watch: Option<&'a (dyn Fn(&Event) + Sync)>,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Solve<'a> {
    fn of(problem: Result<&'a dyn AnyProblem, String>, budget: Limits) -> Solve<'a> {
        let (search, watch, stop) = (None, None, None);
        Solve { problem, budget, search, seed: 1, threads: 1, streams: None, watch, stop }
    }

    /// This search, instead of what suits the problem best.
    pub fn search(mut self, search: Search) -> Self {
        self.search = Some(search);
        self
    }

    /// The seed of all random numbers (1). The same seed, search, streams and playouts give the same moves.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Threads (1), and as many independent searches unless `streams` says otherwise.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Independent searches, the best of which counts.
    pub fn streams(mut self, streams: u32) -> Self {
        self.streams = Some(streams.max(1));
        self
    }

    /// Told of everything while it runs, from any thread.
    pub fn watch(mut self, watch: &'a (dyn Fn(&Event) + Sync)) -> Self {
        self.watch = Some(watch);
        self
    }

    /// A flag that ends it, with the best so far, when somebody raises it.
    pub fn stop(mut self, stop: &'a AtomicBool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Runs to the end of the budget. What it returns has been replayed by the rules.
    pub fn run(self) -> Result<Solved, Error> {
        let problem = self.problem.map_err(Error::Game)?;
        let search = self.search.unwrap_or_else(|| problem.suits());
        search.check()?;
        let never = AtomicBool::new(false);
        let tell = |event: Event| {
            if let Some(watch) = self.watch {
                watch(&event);
            }
        };
        let control = Control::new(self.budget, self.stop.unwrap_or(&never), &tell);
        let streams = self.streams.unwrap_or(self.threads);
        let spec = BestOf { search, seed: self.seed, streams, threads: self.threads };
        let Outcomes { best, playouts, reason, .. } = problem.solve(&spec, &control, Vec::new());
        let best = best.ok_or(Error::Nothing)?;
        let end = problem.verify(&best.moves)?;
        Ok(Solved { score: end.score, moves: best.moves, facts: end.facts, text: end.text, playouts, reason })
    }
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Solved {
    /// The score; higher is better.
    pub score: f64,
    /// The moves, as a record has them.
    pub moves: Vec<String>,
    /// What else the domain says of the end: `("vehicles", 19.0)`.
    pub facts: Vec<(&'static str, f64)>,
    /// The end, as text for a terminal.
    pub text: String,
    /// Playouts made.
    pub playouts: u64,
    /// Why it ended.
    pub reason: StopReason,
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::toy::LeftMove;

    #[test]
    fn three_lines_solve_ours_and_yours() {
        let ours = open("schur/3").unwrap().solve(Limits::playouts(2_000)).seed(7).run().unwrap();
        assert_eq!(ours.score, 23.0);
        assert_eq!(open("schur/3").unwrap().verify(&ours.moves).unwrap(), 23.0);
        let yours = solve(&LeftMove { depth: 20 }, Limits::playouts(5_000).until(20.0)).run().unwrap();
        assert_eq!((yours.score, yours.reason), (20.0, StopReason::Target));
        assert!(yours.playouts < 5_000);
    }

    #[test]
    fn threads_do_not_change_the_answer_and_a_watcher_hears_of_it() {
        let heard = std::sync::Mutex::new(0.0);
        let watch = |event: &Event| {
            if let Event::Improved { score, .. } = event {
                let mut best = heard.lock().unwrap();
                *best = f64::max(*best, *score);
            }
        };
        let problem = LeftMove { depth: 60 };
        let run = |threads| {
            let search = solve(&problem, Limits::playouts(600)).streams(3).threads(threads).watch(&watch);
            search.run().unwrap().moves
        };
        let alone = run(1);
        assert_eq!(alone, run(3));
        assert_eq!(
            *heard.lock().unwrap(),
            solve(&problem, Limits::playouts(600)).streams(3).run().unwrap().score
        );
    }

    #[test]
    fn what_cannot_be_solved_says_why() {
        let error = |result: Result<Solved, Error>| result.unwrap_err().to_string();
        let game = open("nim/21").unwrap();
        assert!(error(game.solve(Limits::playouts(1)).run()).contains("a game for two"));
        assert!(open("samegam/1").err().unwrap().to_string().contains("did you mean 'samegame'"));
        let stop = AtomicBool::new(true);
        let problem = LeftMove { depth: 3 };
        // Whoever is stopped at once has played once.
        assert_eq!(solve(&problem, Limits::playouts(9)).stop(&stop).run().unwrap().reason, StopReason::Asked);
        let level = sortie_core::Nrpa { level: 0, ..Default::default() };
        let refused = solve(&problem, Limits::playouts(9)).search(Search::Nrpa(level)).run();
        assert!(error(refused).contains("1 to 8"));
    }
}
