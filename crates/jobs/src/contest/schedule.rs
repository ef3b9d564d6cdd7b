//! A match as a source of games: who meets whom, from which opening, with which colour, and when it is enough.
//!
//! Every opening is played twice, colours swapped. Games are numbered round by round, so that a match that is stopped
//! has about as many games of each pairing; the players' seeds hang on the numbers, so that the same games are played
//! in whatever order their answers come. A sequential test reads the pairs in the order of their numbers too: else the
//! pairs that end early, which are not like the others, would decide.

use super::sprt::{Decision, Sprt};
use super::stats::{Games, Pairs};
use serde::{Deserialize, Serialize};
use sortie_core::job::{InOrder, Ledger};
use sortie_core::mix;
use sortie_core::{JobId, JobSource};
use sortie_core::{Outcome, Side};

/// Who meets whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Everybody everybody else.
    RoundRobin,
    /// The first player everybody else.
    Gauntlet,
}

/// A match.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How many players; they are numbered from 0.
    pub players: usize,
    /// Who meets whom.
    pub format: Format,
    /// Pairs of games of each pairing, at most.
    pub rounds: u64,
    /// Ends the match when this test on the first pairing has come to a decision.
    pub sprt: Option<Sprt>,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// A game to be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    /// The number of the game in its match.
    pub number: u64,
    /// The number of the opening: the same for both games of a pair and for all pairs of a round.
    pub round: u64,
    /// Who moves first.
    pub first: usize,
    /// Who moves second.
    pub second: usize,
    /// The seeds of the first and the second player.
    pub seeds: [u64; 2],
}

impl Pairing {
    /// The player of a side.
    pub fn player(&self, side: Side) -> usize {
        match side {
            Side::First => self.first,
            Side::Second => self.second,
        }
    }
}

/// The results of one player against another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Single games, also those whose pair is not complete.
    pub games: Games,
    /// Complete pairs.
    pub pairs: Pairs,
}

impl Tally {
    /// As the other player sees it.
    pub fn mirrored(&self) -> Tally {
        Tally { games: self.games.mirrored(), pairs: self.pairs.mirrored() }
    }
}

/// A match under way.
pub struct Match {
    plan: Plan,
    /// Who meets whom in a round.
    pairings: Vec<(usize, usize)>,
    ledger: Ledger,
    /// `results[number]`: the score of the pairing's first named player.
    results: Vec<Option<f64>>,
    /// Pairs of the first pairing that wait for an earlier one before the test reads them.
    waiting: InOrder<f64>,
    tested: Pairs,
    decision: Decision,
    played: u64,
}

impl Match {
    /// A match of which nothing is played.
    pub fn new(plan: Plan) -> Match {
        let others = |i: usize| (i + 1..plan.players).map(move |j| (i, j));
        let pairings: Vec<(usize, usize)> = match plan.format {
            Format::RoundRobin => (0..plan.players).flat_map(others).collect(),
            Format::Gauntlet => others(0).collect(),
        };
        Match {
            plan,
            pairings,
            ledger: Ledger::default(),
            results: Vec::new(),
            waiting: InOrder::new(),
            tested: Pairs::default(),
            decision: Decision::Open,
            played: 0,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Who meets whom in a round.
    pub fn pairings(&self) -> &[(usize, usize)] {
        &self.pairings
    }

    /// Games at most.
    pub fn games_max(&self) -> u64 {
        self.plan.rounds * self.pairings.len() as u64 * 2
    }

    /// Games played, also before.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// The game of a number, if the match has it.
    pub fn game(&self, number: u64) -> Option<Pairing> {
        if number >= self.games_max() {
            return None;
        }
        let (pair, swapped) = (number / 2, number % 2 == 1);
        let count = self.pairings.len() as u64;
        let (a, b) = self.pairings[(pair % count) as usize];
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        let seed = |side: u64| mix(mix(self.plan.seed ^ 0x5ca1_ab1e) ^ (2 * number + side));
        Some(Pairing { number, round: pair / count, first, second, seeds: [seed(0), seed(1)] })
    }

    /// Takes a game that was played in an earlier session. False if there is no such game or it came before.
    pub fn known(&mut self, number: u64, outcome: Outcome) -> bool {
        let is_new = self.game(number).is_some() && self.ledger.known(number);
        if is_new {
            self.enter(number, outcome);
        }
        is_new
    }

    /// The results of player `a` against player `b`; nothing if they do not meet.
    pub fn tally(&self, a: usize, b: usize) -> Tally {
        let mut tally = Tally::default();
        let Some(at) = self.pairings.iter().position(|&p| p == (a, b) || p == (b, a)) else { return tally };
        let step = self.pairings.len() * 2;
        for pair in self.results[(at * 2).min(self.results.len())..].chunks(step) {
            let scores = [pair.first(), pair.get(1)].map(|score| score.copied().flatten());
            for score in scores.into_iter().flatten() {
                tally.games.count(score);
            }
            if let [Some(one), Some(two)] = scores {
                tally.pairs.count(one + two);
            }
        }
        if self.pairings[at] == (a, b) { tally } else { tally.mirrored() }
    }

    /// The pairs that the sequential test has read: those of the first pairing, in order, up to the one that decided.
    pub fn tested(&self) -> &Pairs {
        &self.tested
    }

    /// How the sequential test stands.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    fn enter(&mut self, number: u64, outcome: Outcome) {
        let index = number as usize;
        if self.results.len() <= index {
            self.results.resize(index + 1, None);
        }
        let side = if number.is_multiple_of(2) { Side::First } else { Side::Second };
        self.results[index] = Some(outcome.value_for(side));
        self.played += 1;
        let (pair, count) = (number / 2, self.pairings.len() as u64);
        if let Some(sprt) = self.plan.sprt
            && pair.is_multiple_of(count)
            && let Some(Some(other)) = self.results.get(index ^ 1)
        {
            self.waiting.put(pair / count, other + outcome.value_for(side));
            while self.decision == Decision::Open
                && let Some(points) = self.waiting.take()
            {
                self.tested.count(points);
                self.decision = sprt.decide(&self.tested);
            }
        }
    }
}

impl JobSource for Match {
    type Job = Pairing;
    type Answer = Outcome;

    fn next(&mut self) -> Option<(JobId, Pairing)> {
        if self.finished() {
            return None;
        }
        let number = self.ledger.next(self.games_max())?;
        let game = self.game(number).expect("below the number of games");
        Some((JobId(number), game))
    }

    fn done(&mut self, id: JobId, outcome: Outcome) -> bool {
        let wanted = self.ledger.done(id.0);
        if wanted {
            self.enter(id.0, outcome);
        }
        wanted
    }

    fn lost(&mut self, id: JobId) {
        self.ledger.lost(id.0);
    }

    fn finished(&self) -> bool {
        self.decision != Decision::Open || self.played == self.games_max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::{Model, score_of};
    use sortie_core::Rng;
    use sortie_core::job::run_jobs;
    use std::sync::atomic::AtomicBool;

    fn plan(players: usize, format: Format, rounds: u64) -> Plan {
        Plan { players, format, rounds, sprt: None, seed: 1 }
    }

    /// A game between players 40 Elo apart from one another, the lower number the stronger.
    fn play(game: &Pairing) -> Outcome {
        let mut rng = Rng::new(game.seeds[0], game.seeds[1]);
        let elo = 40.0 * (game.second as f64 - game.first as f64);
        match rng.unit() {
            u if u < 0.2 => Outcome::Draw,
            _ if rng.unit() < score_of(elo) => Outcome::Win(Side::First),
            _ => Outcome::Win(Side::Second),
        }
    }

    fn run(plan: Plan, threads: usize) -> Match {
        let mut contest = Match::new(plan);
        run_jobs(&mut contest, threads, &AtomicBool::new(false), |_, game| Some(play(game)));
        contest
    }

    #[test]
    fn everybody_meets_everybody_with_both_colours_from_the_same_opening() {
        let mut contest = Match::new(plan(4, Format::RoundRobin, 3));
        assert_eq!((contest.pairings().len(), contest.games_max()), (6, 36));
        let mut games = Vec::new();
        while let Some((id, game)) = contest.next() {
            assert_eq!(id.0, game.number);
            games.push(game);
        }
        assert_eq!(games.len(), 36);
        for pair in games.chunks(2) {
            assert_eq!((pair[0].first, pair[0].second), (pair[1].second, pair[1].first));
            assert_eq!(pair[0].round, pair[1].round);
            assert_ne!(pair[0].seeds, pair[1].seeds);
        }
        for (a, b) in [(0, 1), (2, 3), (1, 3)] {
            let met = games.iter().filter(|g| (g.first, g.second) == (a, b)).count();
            assert_eq!(met, 3, "{a} against {b}");
        }
        let gauntlet = Match::new(plan(4, Format::Gauntlet, 3));
        assert_eq!(gauntlet.pairings(), [(0, 1), (0, 2), (0, 3)]);
    }

    #[test]
    fn results_are_told_from_both_sides() {
        let contest = run(plan(3, Format::RoundRobin, 200), 2);
        assert!(contest.finished());
        let tally = contest.tally(0, 2);
        assert_eq!((tally.games.total(), tally.pairs.total()), (400, 200));
        assert_eq!(contest.tally(2, 0), tally.mirrored());
        // 80 Elo are 61.3 % of what is not drawn: 59.0 % in all, give or take 2.2.
        let score = tally.pairs.estimate().score;
        assert!((score.value - 0.59).abs() < 0.066, "{score:?}");
        assert_eq!(contest.tally(1, 1), Tally::default());
    }

    #[test]
    fn the_same_games_at_any_number_of_threads_and_from_any_point() {
        let sprt = Sprt { elo0: 0.0, elo1: 60.0, alpha: 0.05, beta: 0.05, model: Model::Normalised };
        let plan = Plan { sprt: Some(sprt), ..plan(2, Format::RoundRobin, 5000) };
        let alone = run(plan.clone(), 1);
        assert_ne!(alone.decision(), Decision::Open);
        let many = run(plan.clone(), 4);
        assert_eq!((many.decision(), many.tested()), (alone.decision(), alone.tested()));
        // Some of the games are known, in any order, and more than once.
        let mut resumed = Match::new(plan);
        for number in [7, 3, 0, 2, 3, 30, 1_000_000] {
            let outcome = alone.game(number).map_or(Outcome::Draw, |game| play(&game));
            resumed.known(number, outcome);
        }
        assert_eq!(resumed.played(), 5);
        run_jobs(&mut resumed, 2, &AtomicBool::new(false), |_, game| {
            assert!(![0, 2, 3, 7, 30].contains(&game.number));
            Some(play(game))
        });
        assert_eq!((resumed.decision(), resumed.tested()), (alone.decision(), alone.tested()));
    }

    #[test]
    fn the_test_reads_pairs_in_order_whatever_ends_first() {
        let sprt = Sprt { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05, model: Model::Logistic };
        let mut contest = Match::new(Plan { sprt: Some(sprt), ..plan(2, Format::RoundRobin, 1000) });
        let jobs: Vec<_> = (0..200).filter_map(|_| contest.next()).collect();
        // All but the very first game are won by player 0; until that one is in, nothing is read.
        for &(id, game) in &jobs[1..] {
            contest.done(id, Outcome::Win(if game.first == 0 { Side::First } else { Side::Second }));
        }
        assert_eq!((contest.decision(), contest.tested().total()), (Decision::Open, 0));
        assert!(contest.done(jobs[0].0, Outcome::Draw));
        assert_eq!(contest.decision(), Decision::Accepted);
        assert!(contest.tested().total() < 100 && contest.finished() && contest.next().is_none());
        assert!(!contest.done(jobs[0].0, Outcome::Draw), "twice");
    }
}
