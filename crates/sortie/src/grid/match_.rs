//! Matches over a grid: a job is a game, played where a core is free. The client replays every game by the rules before
//! it counts. Players that are programs stay with the client: nobody starts a program on a stranger's machine.

use super::Spec;
use super::hands::{read, write};
use super::run::{Log, options};
use crate::commands::match_::{Hall, Request};
use crate::contest::Recorder;
use crate::contest::referee::{self, Game};
use crate::folder::Folder;
use crate::players::Player;
use crate::source::Instance;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sortie_core::{AnyGame, JobId, JobSource};
use sortie_grid::desk::NoClaims;
use sortie_grid::wire::Kind;
use sortie_grid::{GridSource, Hand, Told, drive as drive_grid};
use sortie_jobs::contest::{Match, Pairing};
use std::sync::atomic::AtomicBool;

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

/// Refuses a match that a worker must not, or cannot, play.
pub fn check(request: &Request) -> Result<()> {
    for text in &request.players {
        if Player::parse(text)?.starts_a_program() {
            bail!("player '{text}' is a program: over a grid only our own players play");
        }
    }
    // Only what came with the message is read.
    Instance::open_sent(&request.table.instance, None)?;
    Ok(())
}

/// Players that stay warm.
pub struct MatchHand(Hall);

impl MatchHand {
    /// Opens game and players.
    pub fn new(request: &Request) -> Result<MatchHand> {
        check(request)?;
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

    fn accept(&mut self, id: JobId, game: Game) -> bool {
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
