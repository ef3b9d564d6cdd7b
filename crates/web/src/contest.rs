//! The games of a match or a tuning, as a page needs them: everybody's results against everybody, and the last games.
//! The log is read line by line; what is kept is a count for each pairing and one number for each pair under way.

use crate::lines::{Reached, read_lines};
use sortie_jobs::contest::{Games, Pairs};
use sortie_runs::game::{Game, Reason};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;

/// Games that are listed.
const LATEST: usize = 60;
/// Pairs of which one game is still to come; more are under way at no time.
const PENDING_MAX: usize = 100_000;
/// Places of a match at which its standing is kept.
const COURSE_MAX: usize = 600;
/// Players beyond this many are no match of ours.
const PLAYERS_MAX: usize = 200;

/// The results of one player against another.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    /// Games.
    pub games: Games,
    /// Pairs of games with colours swapped.
    pub pairs: Pairs,
}

/// What a log says.
#[derive(Debug, Default)]
pub struct Log {
    /// Players in the order in which they came.
    pub players: Vec<String>,
    /// By the numbers of two players, as the first of them sees it.
    tallies: HashMap<(usize, usize), Tally>,
    /// The score of the player with the lower number in pairs of which one game is missing, by the two players and the
    /// number of the pair: where several matches are in one log, each has numbers of its own.
    pending: HashMap<(usize, usize, u64), f64>,
    /// The last games, oldest first, without their moves but for the number of them.
    pub latest: VecDeque<(Game, usize)>,
    /// How the first two players stood after so many games, as the first of them sees it: thinned to what a chart shows.
    pub course: Vec<(u64, Pairs)>,
    stride: u64,
    /// Games in all.
    pub games: u64,
    /// Games that ended by a fault.
    pub faults: u64,
    /// Lines that are not games.
    pub skipped: u64,
    /// How far it was read.
    pub reached: Option<Reached>,
}

impl Log {
    /// Reads a log.
    pub fn read(path: &Path) -> io::Result<Log> {
        let mut log = Log::default();
        let reached =
            read_lines(path, 0, u64::MAX, &mut |_, line| match serde_json::from_slice::<Game>(line) {
                Ok(game) => log.take(game),
                Err(_) => log.skipped += u64::from(!line.is_empty()),
            })?;
        log.reached = Some(reached);
        Ok(log)
    }

    fn take(&mut self, mut game: Game) {
        let score = game.result.score();
        let (Some(a), Some(b)) = (self.number(&game.first), self.number(&game.second)) else {
            self.skipped += 1;
            return;
        };
        self.games += 1;
        self.faults += u64::from(game.reason == Reason::Fault);
        // As the player with the lower number sees it.
        let (low, high, score) = if a <= b { (a, b, score) } else { (b, a, 1.0 - score) };
        let tally = self.tallies.entry((low, high)).or_default();
        tally.games.count(score);
        let pair = (low, high, game.game / 2);
        match self.pending.remove(&pair) {
            Some(other) => {
                tally.pairs.count(score + other);
                if (low, high) == (0, 1) {
                    let (games, pairs) = (tally.games.total(), tally.pairs);
                    self.keep(games, pairs);
                }
            }
            None if self.pending.len() < PENDING_MAX => {
                self.pending.insert(pair, score);
            }
            None => {}
        }
        let n_moves = std::mem::take(&mut game.moves).len();
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back((game, n_moves));
    }

    /// Every so many pairs are kept; where they become too many, every other of them.
    fn keep(&mut self, games: u64, pairs: Pairs) {
        self.stride = self.stride.max(1);
        if pairs.total().is_multiple_of(self.stride) {
            self.course.push((games, pairs));
        }
        if self.course.len() > COURSE_MAX {
            self.stride *= 2;
            let stride = self.stride;
            self.course.retain(|(_, pairs)| pairs.total().is_multiple_of(stride));
        }
    }

    fn number(&mut self, name: &str) -> Option<usize> {
        if let Some(at) = self.players.iter().position(|player| player == name) {
            return Some(at);
        }
        if self.players.len() == PLAYERS_MAX {
            return None;
        }
        self.players.push(name.to_string());
        Some(self.players.len() - 1)
    }

    /// The results of player `a` against player `b`.
    pub fn tally(&self, a: usize, b: usize) -> Tally {
        if a <= b {
            return self.tallies.get(&(a, b)).copied().unwrap_or_default();
        }
        let other = self.tallies.get(&(b, a)).copied().unwrap_or_default();
        Tally { games: other.games.mirrored(), pairs: other.pairs.mirrored() }
    }

    /// All results of a player.
    pub fn total(&self, player: usize) -> Tally {
        let mut total = Tally::default();
        for other in (0..self.players.len()).filter(|&other| other != player) {
            let tally = self.tally(player, other);
            total.games += tally.games;
            total.pairs += tally.pairs;
        }
        total
    }

    /// The players, the best first.
    pub fn order(&self) -> Vec<usize> {
        let share = |player: usize| {
            let games = self.total(player).games;
            (games.wins as f64 + games.draws as f64 / 2.0) / (games.total() as f64).max(1.0)
        };
        let mut order: Vec<usize> = (0..self.players.len()).collect();
        order.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
        order
    }
}

/// One game of a log, by its number.
pub fn find(path: &Path, number: u64) -> io::Result<Option<Game>> {
    let mut found = None;
    let wanted = format!("\"game\":{number},");
    read_lines(path, 0, u64::MAX, &mut |_, line| {
        // Most lines are told by a glance; only the one that may be it is read.
        let glance = &line[..line.len().min(64)];
        if found.is_none() && glance.windows(wanted.len()).any(|part| part == wanted.as_bytes()) {
            found = serde_json::from_slice::<Game>(line).ok().filter(|game| game.game == number);
        }
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted_by_pairs() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("games.jsonl");
        let line = |game: u64, first: &str, second: &str, result: &str| {
            format!(
                "{{\"game\":{game},\"instance\":\"nim/21\",\"first\":\"{first}\",\"second\":\"{second}\",\"seeds\":[1,2],\
                 \"opening\":0,\"moves\":[\"1\"],\"result\":\"{result}\",\"reason\":\"rules\",\"seconds\":0.1,\
                 \"thought_seconds\":[0.1,0.0]}}\n"
            )
        };
        let text = [
            line(0, "a", "b", "first"),
            line(1, "b", "a", "second"),
            line(3, "b", "a", "draw"),
            "torn\n".into(),
            line(2, "a", "b", "second"),
            // Another match in the same log, with numbers of its own.
            line(0, "a", "c", "first"),
            line(1, "c", "a", "first"),
        ];
        std::fs::write(&path, text.concat()).unwrap();
        let log = Log::read(&path).unwrap();
        assert_eq!((log.games, log.skipped, log.players.len()), (6, 1, 3));
        assert_eq!(log.tally(0, 2).pairs.0, [0, 0, 1, 0, 0]);
        let tally = log.tally(0, 1);
        assert_eq!((tally.games.wins, tally.games.draws, tally.games.losses), (2, 1, 1));
        assert_eq!(tally.pairs.0, [0, 1, 0, 0, 1]);
        assert_eq!(log.tally(1, 0).pairs.0, [1, 0, 0, 1, 0]);
        assert_eq!(log.order(), [0, 2, 1]);
        assert_eq!(find(&path, 3).unwrap().unwrap().result, sortie_runs::game::Ended::Draw);
        assert_eq!(log.course, [(2, Pairs([0, 0, 0, 0, 1])), (4, Pairs([0, 1, 0, 0, 1]))]);
        assert!(find(&path, 9).unwrap().is_none());
    }
}
