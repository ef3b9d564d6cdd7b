//! The matches of a study as one source of games, round by round over all cells, so that a study that was stopped has
//! about as many games of each. A match ends early when its interval is narrow enough, read pair by pair in order.

use crate::contest::referee::Game;
use anyhow::{Result, bail};
use sortie_core::{JobId, JobSource, Outcome, Side, mix};
use sortie_jobs::contest::{Estimate, Games, Pairs};

/// Pairs before an interval is believed.
const PAIRS_MIN: u64 = 10;

/// A game to be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// The match.
    pub cell: usize,
    /// The number within it; an odd one has the colours swapped.
    pub number: u64,
    /// The seeds of the first and the second player.
    pub seeds: [u64; 2],
}

/// What a match has come to.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// Single games of complete pairs.
    pub games: Games,
    /// The pairs.
    pub pairs: Pairs,
    /// What they say.
    pub estimate: Estimate,
    /// Its interval is narrow enough.
    pub narrow: bool,
}

/// All matches.
pub struct Rounds {
    cells: Vec<Cell>,
    games: u64,
    width: Option<f64>,
    seed: u64,
}

struct Cell {
    /// The names of both.
    names: [String; 2],
    key: u64,
    /// By number: what the first named has scored; and whether somebody plays it.
    results: Vec<Option<f64>>,
    out: Vec<bool>,
    narrow: bool,
}

impl Rounds {
    /// Nothing is played.
    pub fn new(names: Vec<[String; 2]>, games: u64, width: Option<f64>, seed: u64) -> Rounds {
        let games = games.div_ceil(2) * 2;
        let cell = |names: [String; 2]| Cell {
            key: mix(key(&names[0]) ^ mix(key(&names[1]))),
            names,
            results: vec![None; games as usize],
            out: vec![false; games as usize],
            narrow: false,
        };
        Rounds { cells: names.into_iter().map(cell).collect(), games, width, seed }
    }

    /// Games in all, at most.
    pub fn games_max(&self) -> u64 {
        self.games * self.cells.len() as u64
    }

    /// Games played.
    pub fn played(&self) -> u64 {
        self.cells.iter().flat_map(|cell| &cell.results).flatten().count() as u64
    }

    fn job(&self, cell: usize, number: u64) -> Job {
        let seed = |side: u64| mix(mix(self.seed ^ self.cells[cell].key) ^ (2 * number + side));
        Job { cell, number, seeds: [seed(0), seed(1)] }
    }

    /// Takes a game of an earlier session. Games of other cells, and those beyond the last, are left alone.
    pub fn know(&mut self, game: &Game) -> Result<()> {
        let swapped = game.game % 2 == 1;
        let (a, b) = if swapped { (&game.second, &game.first) } else { (&game.first, &game.second) };
        let mut ours =
            (0..self.cells.len()).filter(|&at| self.cells[at].names == [a.as_str(), b.as_str()]).peekable();
        if ours.peek().is_none() || game.game >= self.games {
            return Ok(());
        }
        // Two cells may be the same match, if somebody asked for it twice.
        let Some(at) = ours.find(|&at| self.cells[at].results[game.game as usize].is_none()) else {
            bail!("game {} of {a} is there twice", game.game);
        };
        if self.job(at, game.game).seeds != game.seeds {
            bail!("game {} of {a} is not of this study: other seeds", game.game);
        }
        self.enter(at, game.game, game.result.outcome());
        Ok(())
    }

    fn enter(&mut self, cell: usize, number: u64, outcome: Outcome) {
        let side = if number.is_multiple_of(2) { Side::First } else { Side::Second };
        self.cells[cell].results[number as usize] = Some(outcome.value_for(side));
        self.cells[cell].narrow = self.standing(cell).narrow;
    }

    /// What a match says: of its complete pairs in order, up to the first that made it narrow enough.
    pub fn standing(&self, cell: usize) -> Standing {
        let (mut games, mut pairs, mut narrow) = (Games::default(), Pairs::default(), false);
        for pair in self.cells[cell].results.chunks(2) {
            let [Some(one), Some(two)] = pair else { break };
            games.count(*one);
            games.count(*two);
            pairs.count(one + two);
            let estimate = pairs.estimate();
            let width = estimate.score.high - estimate.score.low;
            if pairs.total() >= PAIRS_MIN && self.width.is_some_and(|enough| width <= enough) {
                narrow = true;
                break;
            }
        }
        Standing { games, pairs, estimate: pairs.estimate(), narrow }
    }
}

/// A number for a name, the same everywhere.
fn key(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| mix(hash ^ u64::from(byte)))
}

impl JobSource for Rounds {
    type Job = Job;
    type Answer = Outcome;

    fn next(&mut self) -> Option<(JobId, Job)> {
        let open = |(at, cell): (usize, &Cell)| {
            let free = |number: &usize| cell.results[*number].is_none() && !cell.out[*number];
            let first = (0..cell.results.len()).find(free).filter(|_| !cell.narrow)?;
            Some((first, at))
        };
        let (number, at) =
            self.cells.iter().enumerate().filter_map(open).min_by_key(|&(n, at)| (n / 2, at, n))?;
        self.cells[at].out[number] = true;
        Some((JobId(at as u64 * self.games + number as u64), self.job(at, number as u64)))
    }

    fn done(&mut self, id: JobId, outcome: Outcome) -> bool {
        let (at, number) = ((id.0 / self.games) as usize, id.0 % self.games);
        let wanted = std::mem::take(&mut self.cells[at].out[number as usize]);
        if wanted {
            self.enter(at, number, outcome);
        }
        wanted
    }

    fn lost(&mut self, id: JobId) {
        self.cells[(id.0 / self.games) as usize].out[(id.0 % self.games) as usize] = false;
    }

    fn finished(&self) -> bool {
        self.cells.iter().all(|cell| cell.narrow || cell.results.iter().all(Option::is_some))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(width: Option<f64>) -> Rounds {
        let names = ["a", "b"].map(|name| [name.to_string(), "reference".to_string()]);
        Rounds::new(names.to_vec(), 39, width, 7)
    }

    #[test]
    fn games_come_round_by_round_in_pairs() {
        let mut rounds = rounds(None);
        assert_eq!(rounds.games_max(), 80);
        let order: Vec<(usize, u64)> =
            std::iter::from_fn(|| rounds.next()).map(|(_, job)| (job.cell, job.number)).collect();
        assert_eq!(order[..6], [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3)]);
        assert_eq!(order.len(), 80);
        rounds.lost(JobId(1));
        let (id, job) = rounds.next().unwrap();
        assert_eq!((id, job.cell, job.number), (JobId(1), 0, 1));
        assert!(rounds.done(id, Outcome::Win(Side::Second)) && !rounds.done(id, Outcome::Draw));
        assert_eq!(rounds.played(), 1);
        // The pair is not complete.
        assert_eq!(rounds.standing(0).pairs.total(), 0);
        assert!(rounds.done(JobId(0), Outcome::Draw));
        assert_eq!(rounds.standing(0).pairs.0, [0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_match_ends_when_it_is_narrow_whatever_comes_later() {
        let mut rounds = rounds(Some(0.6));
        let jobs: Vec<(JobId, Job)> = std::iter::from_fn(|| rounds.next()).collect();
        for (id, job) in jobs.iter().rev().filter(|(_, job)| job.cell == 0) {
            let outcome = if job.number < 20 { Outcome::Draw } else { Outcome::Win(Side::First) };
            rounds.done(*id, outcome);
        }
        let standing = rounds.standing(0);
        assert!(standing.narrow && !rounds.finished());
        assert_eq!((standing.pairs.total(), standing.estimate.score.value), (10, 0.5));
    }

    #[test]
    fn seeds_hang_on_names_not_on_places() {
        let one = Rounds::new(vec![["b".into(), "reference".into()]], 10, None, 7);
        assert_eq!(one.job(0, 3).seeds, rounds(None).job(1, 3).seeds);
        assert_ne!(one.job(0, 3).seeds, one.job(0, 2).seeds);
    }
}
