//! Matches over a grid: a job is a game, played where a core is free. The client replays every game by the rules before
//! it counts. Players that are programs stay with the client: nobody starts a program on a stranger's machine.

use super::Spec;
use super::hands::{Bounds, read, write};
use super::run::{Log, options};
use crate::commands::match_::{Hall, Request};
use crate::contest::Recorder;
use crate::contest::referee::{self, Game};
use crate::folder::Folder;
use crate::players::{EngineName, Player};
use crate::source::Instance;
use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sortie_core::{AnyGame, JobId, JobSource};
use sortie_grid::desk::NoClaims;
use sortie_grid::wire::{self, Kind};
use sortie_grid::{GridSource, Hand, Told, drive as drive_grid};
use sortie_jobs::contest::{Match, Pairing};
use std::sync::atomic::AtomicBool;

/// Characters of a player that are repeated.
const PLAYER_CHARS: usize = 80;

/// A pairing as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    number: u64,
    round: u64,
    first: usize,
    second: usize,
    seeds: [u64; 2],
}

impl Board {
    fn of(pairing: Pairing) -> Board {
        let Pairing { number, round, first, second, seeds } = pairing;
        Board { number, round, first, second, seeds }
    }
}

/// Refuses a match that no worker must play.
pub fn check(request: &Request) -> Result<()> {
    fits(request, Bounds { memory_max: u32::MAX, threads_max: u32::MAX })
}

/// Refuses a match that a worker must not, or cannot, play. Nothing that a player names is opened, and what all of them
/// want together is within what the worker gives.
pub fn fits(request: &Request, bounds: Bounds) -> Result<()> {
    let (mut memory, mut threads) = (0u64, 1);
    for text in &request.players {
        // Reading such a player reads the file: whoever hears of the error learns whether it is there.
        if text.contains("costs") {
            bail!("player '{}' names a file: a worker reads none", wire::plain(text, PLAYER_CHARS));
        }
        let player = Player::parse(text)?;
        if player.starts_a_program() {
            bail!(
                "player '{}' is a program: over a grid only our own players play",
                wire::plain(text, PLAYER_CHARS)
            );
        }
        let wants = wants(&player)?;
        memory = memory.saturating_add(wants.0);
        threads = threads.max(wants.1);
    }
    bounds.memory(memory).and_then(|()| bounds.threads(threads)).map_err(|why| anyhow!(why))?;
    // Only what came with the message is read.
    Instance::open_sent(&request.table.instance, None)?;
    Ok(())
}

/// MiB and threads that a player has.
fn wants(player: &Player) -> Result<(u64, u64)> {
    let all = player.parameters();
    let number = |key: &str| all.get(key).and_then(serde_json::Value::as_u64).unwrap_or(1).max(1);
    Ok(match player {
        // Ranks are threads, and each has a tree; in virtual time only the trees are real.
        Player::Gang(spread) => {
            let ranks = number("nodes").saturating_mul(number("threads"));
            let threads = match spread.engine {
                EngineName::Threads => ranks,
                EngineName::Virtual => 1,
                EngineName::Mpi => bail!("a player on a cluster: a worker has none"),
            };
            (ranks.saturating_mul(number("memory")), threads)
        }
        Player::JobLevel(..) => (number("threads").saturating_mul(number("memory")), number("threads")),
        _ => (number("memory"), number("threads")),
    })
}

/// Players that stay warm.
pub struct MatchHand(Hall);

impl MatchHand {
    /// Opens game and players.
    pub fn new(request: &Request, bounds: Bounds) -> Result<MatchHand> {
        fits(request, bounds)?;
        Ok(MatchHand(Hall::open(request)?))
    }
}

impl Hand for MatchHand {
    fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String> {
        let Board { number, round, first, second, seeds } = read(job)?;
        let players = self.0.players();
        if first >= players || second >= players {
            return Err(format!("players {first} and {second}: there are {players}"));
        }
        let pairing = Pairing { number, round, first, second, seeds };
        let game = self.0.play(&pairing, told.cancel).map_err(|error| format!("{error:#}"))?;
        game.map(|game| write(&game)).transpose()
    }
}

/// The match, as a grid sees it.
struct Games<'a, 'b> {
    recorder: &'a mut Recorder<'b, Match>,
    hall: &'a Hall,
    rules: &'a dyn AnyGame,
}

impl JobSource for Games<'_, '_> {
    type Job = Board;
    type Answer = Game;

    fn next(&mut self) -> Option<(JobId, Board)> {
        self.recorder.next().map(|(id, pairing)| (id, Board::of(pairing)))
    }

    fn done(&mut self, id: JobId, game: Game) -> bool {
        // What is not a game of this match by the rules was not played.
        if self.hall.knows(id.0, &game, self.recorder.source()) && referee::verify(&game, self.rules).is_ok()
        {
            return self.recorder.done(id, Ok(game));
        }
        self.lost(id);
        false
    }

    fn lost(&mut self, id: JobId) {
        self.recorder.lost(id);
    }

    fn finished(&self) -> bool {
        self.recorder.finished()
    }
}

impl GridSource for Games<'_, '_> {
    type Wire = Game;

    fn accept(&mut self, id: JobId, game: Game, _: &str) -> bool {
        self.done(id, game)
    }
}

/// Plays the games of a match on a grid.
pub fn drive(
    spec: &Spec,
    recorder: &mut Recorder<Match>,
    (request, hall): (&Request, &Hall),
    (folder, quiet): (&Folder, bool),
    stop: &AtomicBool,
) -> Result<serde_json::Value> {
    spec.keep(&folder.path)?;
    let options = options(spec, Kind::MatchGame, &request.table.instance, request)?;
    let mut log = Log::open(folder, quiet)?;
    let mut games = Games { recorder, hall, rules: hall.game()? };
    let worked = drive_grid(&mut games, &options, &NoClaims, stop, &mut log);
    let closed = log.close();
    let tally = worked?;
    closed?;
    Ok(serde_json::to_value(tally)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Defect 6: `memory=16384`, `threads=1024` and `costs=/any/path` of a stranger were obeyed.
    #[test]
    fn what_a_strangers_players_want_is_bounded_and_no_file_of_theirs_is_looked_at() {
        let bounds = Bounds { memory_max: 1024, threads_max: 2 };
        let said = |players: &[&str]| {
            let request = serde_json::json!({
                "format": 1, "players": players, "rounds": 1, "meet": "round-robin",
                "table": {"instance": "hex/3", "limits": ["10playouts"], "plies": 0, "draw_after": 1000, "seed": 1},
            });
            fits(&serde_json::from_value(request).expect("a match"), bounds)
                .map_err(|error| format!("{error:#}"))
        };
        assert_eq!(said(&["default", "random"]), Ok(()));
        assert_eq!(said(&["default:threads=2", "tds[nodes=4,engine=virtual]:default:memory=16"]), Ok(()));
        for (player, why) in [
            ("default:memory=16384", "this worker gives 1024"),
            ("default:threads=1024", "this worker has 2"),
            ("tds[nodes=8]:default:memory=1", "this worker has 2"),
            ("tds[nodes=1024,engine=virtual]:default:memory=16", "this worker gives 1024"),
            ("job-level[threads=64]", "this worker"),
            ("uci:/bin/sh", "is a program"),
        ] {
            let told = said(&[player, "random"]).unwrap_err();
            assert!(told.contains(why), "{player}: {told}");
        }
        // Whether the file is there cannot be told from what is said.
        let told =
            |path: &str| said(&[&format!("tds[engine=virtual,costs={path}]:default"), "random"]).unwrap_err();
        assert_eq!(
            told("/etc/hostname").replace("/etc/hostname", "F"),
            told("/no/such").replace("/no/such", "F")
        );
    }
}
