//! A member of a gang: what all algorithms have in common around their `Rank`.
//!
//! ```text
//! front                         everybody
//! position ───────────────────► sets it, forgets stale frames
//!          ◄─────────────────── ready
//! go (quota) ─────────────────► begins; records of the algorithm travel between all
//! halt, when time is up ──────► begins no more
//!          ◄─────────────────── idle: nothing of its own is under way, and nothing more is begun
//! count, when all are idle ───► (forced: gives up what is under way)
//!          ◄─────────────────── tally
//! ```
//!
//! A frame names its search (epoch); frames of earlier ones are dropped. Nobody sends a record of the algorithm before
//! all are ready, so none comes too early. Whoever is silent for longer than `patience` is taken for gone.

use crate::ground::{from_code, to_code};
use crate::sketch::Sketch;
use crate::wire::{Outbox, Reader, Refused, Work, open_frame};
use crate::{Account, Form, Nanos, Next, Played, Rank, RankId, RootMove, Tally, Ticket};
use sortie_core::PlayError;
use std::sync::Arc;

const POSITION: u8 = 1;
const READY: u8 = 2;
const GO: u8 = 3;
const HALT: u8 = 4;
const IDLE: u8 = 5;
const COUNT: u8 = 6;
const TALLY: u8 = 7;
const PROVED: u8 = 8;
const RESET: u8 = 9;
const BUSY: u8 = 10;
/// Kinds below this are ours, the rest the algorithm's.
const OURS: u8 = 16;
/// How often a rank that gets on says so, in nanoseconds: well within the patience of the front.
const BEAT: Nanos = 250_000_000;
/// Refusals that are kept for the log.
const LOG_MAX: usize = 100;

/// A search that the front is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    /// The start; `None`: the game's own.
    pub start: Option<String>,
    /// The moves from it.
    pub words: Vec<String>,
    /// Simulations in all.
    pub playouts: Option<u64>,
    /// Time.
    pub nanos: Option<Nanos>,
}

/// A position as text: a start (`None`: the game's own) and the moves from it.
pub(crate) type Root = (Option<String>, Vec<String>);

/// A playout to do. It is worth nothing any more once the search has been given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) ticket: Ticket,
    round: u32,
}

/// The end of a search, as the front knows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    /// What all ranks together say.
    pub tally: Tally,
    /// What went wrong.
    pub note: Option<String>,
    /// How long it took.
    pub nanos: Nanos,
    /// The playouts of each rank, for how evenly they were busy.
    pub playouts: Vec<u64>,
    /// What each rank that has a tree says about the moves of the root.
    pub ballots: Vec<Vec<RootMove>>,
    /// The mean share of simulations in flight among those begun, seen from the front when the search was halted.
    pub in_flight: u64,
}

/// One rank of a gang, whatever it does.
pub(crate) struct Member {
    me: RankId,
    size: u32,
    form: Form,
    rank: Box<dyn Rank>,
    epoch: u32,
    searching: bool,
    /// The search is over: whatever comes of it now is too late.
    counted: bool,
    /// It has told the front that it is idle, and that the root is proved.
    told_idle: bool,
    told_proof: bool,
    /// When it last looked whether it should say that it gets on, and what had come home by then.
    beat: (Nanos, u64),
    round: u32,
    gone: Vec<RankId>,
    /// The position that is searched: a start and the moves from it.
    position: Arc<Root>,
    /// What had been done when the search began.
    before: Work,
    refused: u64,
    log: Vec<String>,
    front: Front,
}

/// What the front keeps of a search; unused elsewhere.
#[derive(Default)]
struct Front {
    stage: Stage,
    order: Order,
    begun: Nanos,
    halted: bool,
    /// When that was, and how long the end of a search has taken lately: it is halted so much earlier.
    halted_at: Nanos,
    wind_down: Nanos,
    /// By rank: an answer to the last question of this stage is still to come.
    waits: Vec<bool>,
    last_news: Nanos,
    patience: Nanos,
    answer: Answer,
}

#[derive(Default, Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Done,
    Preparing,
    Running,
    Counting,
}

impl Member {
    pub(crate) fn new(form: Form, me: RankId, size: u32, patience: Nanos, rank: Box<dyn Rank>) -> Member {
        Member {
            me,
            size,
            form,
            rank,
            epoch: 0,
            searching: false,
            counted: false,
            told_idle: true,
            told_proof: false,
            beat: (0, 0),
            round: 0,
            gone: Vec::new(),
            position: Arc::default(),
            before: Work::default(),
            refused: 0,
            log: Vec::new(),
            front: Front { patience, ..Front::default() },
        }
    }

    fn alive(&self) -> Vec<RankId> {
        (0..self.size).map(RankId).filter(|rank| !self.gone.contains(rank)).collect()
    }

    fn others(&self) -> impl Iterator<Item = RankId> + use<> {
        let me = self.me;
        self.alive().into_iter().filter(move |&rank| rank != me)
    }

    /// Begins a search; for the front alone.
    pub fn order(&mut self, order: Order, now: Nanos, out: &mut Outbox) -> Result<(), PlayError> {
        let alive = self.alive();
        self.rank.set(order.start.as_deref(), &order.words, &alive)?;
        self.position = Arc::new((order.start.clone(), order.words.clone()));
        self.enter(self.epoch + 1, out);
        for to in self.others() {
            let mut record = out.record(to, POSITION);
            record.u16(alive.len() as u16);
            alive.iter().for_each(|rank| {
                record.u16(rank.0 as u16);
            });
            record.u8(order.start.is_some().into()).text(order.start.as_deref().unwrap_or(""));
            record.u16(order.words.len() as u16);
            order.words.iter().for_each(|word| {
                record.text(word);
            });
        }
        self.front = Front {
            stage: Stage::Preparing,
            order,
            begun: now,
            last_news: now,
            patience: self.front.patience,
            wind_down: self.front.wind_down,
            waits: self.expected(),
            ..Front::default()
        };
        self.advance(now, out);
        Ok(())
    }

    /// By rank, whether an answer is to be expected.
    fn expected(&self) -> Vec<bool> {
        (0..self.size).map(|rank| rank != self.me.0 && !self.gone.contains(&RankId(rank))).collect()
    }

    /// A new search: whatever was under way is over.
    fn enter(&mut self, epoch: u32, out: &mut Outbox) {
        self.epoch = epoch;
        self.round += 1;
        self.beat.1 = 0;
        (self.searching, self.counted, self.told_idle, self.told_proof) = (false, false, false, false);
        out.begin(epoch);
        (self.before, self.refused) = (out.work, 0);
    }

    /// Takes a frame. What is wrong with it is kept for the log.
    pub fn frame(&mut self, from: RankId, frame: &[u8], now: Nanos, out: &mut Outbox) {
        if let Err(error) = self.open(from, frame, now, out) {
            self.refuse(from, &error);
        }
        self.settle(now, out);
    }

    fn refuse(&mut self, from: RankId, error: &Refused) {
        self.refused += 1;
        if self.log.len() < LOG_MAX {
            self.log.push(format!("rank {}: from rank {}: {error}", self.me.0, from.0));
        }
    }

    fn open(&mut self, from: RankId, frame: &[u8], now: Nanos, out: &mut Outbox) -> Result<(), Refused> {
        let (epoch, records) = open_frame(frame)?;
        if from.0 >= self.size || from == self.me {
            return Err(Refused::Foreign);
        }
        for record in records {
            let record = record?;
            out.work.records_in += 1;
            if epoch < self.epoch {
                continue;
            }
            if epoch > self.epoch && (record.kind != POSITION || from != RankId(0)) {
                return Err(record.wrong("of a search that has not begun"));
            }
            // Whoever was not told to halt goes on telling others what it sees: that is no answer to wait for.
            let running = self.front.stage == Stage::Running && !self.front.halted;
            if record.kind < OURS || running {
                self.front.last_news = now;
            }
            let taken = if record.kind < OURS {
                self.control(from, record, epoch, now, out)
            } else if self.counted {
                // It is too late for this.
                continue;
            } else {
                self.rank.receive(from, record, now, out)
            };
            // A record that makes no sense does not spoil those beside it.
            if let Err(error) = taken {
                self.refuse(from, &error);
            }
        }
        Ok(())
    }

    fn control(
        &mut self,
        from: RankId,
        record: Reader,
        epoch: u32,
        now: Nanos,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        let mut record = record;
        let orders = [POSITION, GO, HALT, COUNT, RESET].contains(&record.kind);
        if orders == (self.me == RankId(0)) || (orders && from != RankId(0)) {
            return Err(record.wrong("not from this rank to this one"));
        }
        match record.kind {
            POSITION => {
                let ranks = record.u16()?;
                let alive = (0..ranks)
                    .map(|_| record.u16().map(|r| RankId(r.into())))
                    .collect::<Result<Vec<_>, _>>()?;
                let known =
                    alive.windows(2).all(|w| w[0] < w[1]) && alive.last().is_some_and(|r| r.0 < self.size);
                let given = record.u8()? == 1;
                let start = given.then_some(record.text()?).filter(|_| given);
                let count = record.u16()?;
                let words =
                    (0..count).map(|_| record.text().map(String::from)).collect::<Result<Vec<_>, _>>()?;
                record.end()?;
                if !known || !alive.contains(&self.me) {
                    return Err(record.wrong("ranks that are not"));
                }
                self.rank.set(start, &words, &alive).map_err(|_| record.wrong("no such position"))?;
                self.position = Arc::new((start.map(String::from), words));
                self.gone = (0..self.size).map(RankId).filter(|r| !alive.contains(r)).collect();
                self.enter(epoch, out);
                out.record(from, READY);
            }
            GO => {
                let quota = record.u64()?;
                record.end()?;
                self.rank.begin(quota, now);
                self.searching = true;
            }
            HALT => {
                record.end()?;
                self.rank.halt(out);
            }
            COUNT => {
                let forced = record.u8()? == 1;
                record.end()?;
                self.end(forced);
                let tally = self.tally(out);
                write_tally(out, from, &tally);
            }
            RESET => {
                let seed = record.u64()?;
                record.end()?;
                self.rank.reset(seed);
            }
            READY | IDLE => {
                record.end()?;
                let expected = if record.kind == READY { Stage::Preparing } else { Stage::Running };
                if self.front.stage == expected {
                    self.front.waits[from.0 as usize] = false;
                }
                self.advance(now, out);
            }
            // That it came is all there is to it.
            BUSY => record.end()?,
            TALLY => {
                let tally = read_tally(record)?;
                if self.front.stage == Stage::Counting && self.front.waits[from.0 as usize] {
                    self.front.waits[from.0 as usize] = false;
                    self.front.answer.playouts[from.0 as usize] = tally.playouts;
                    self.front.answer.tally.add(&tally);
                    self.front.answer.ballots.push(tally.moves);
                }
                self.advance(now, out);
            }
            PROVED => self.stop(now, out),
            _ => return Err(record.wrong("no such kind")),
        }
        Ok(())
    }

    /// No more is begun here, and nothing is waited for.
    fn end(&mut self, forced: bool) {
        if forced {
            self.rank.give_up();
            self.round += 1;
        }
        (self.searching, self.counted) = (false, true);
    }

    fn tally(&self, out: &Outbox) -> Tally {
        let mut tally = Tally::default();
        self.rank.tally(&mut tally);
        tally.account = self.rank.account();
        tally.work = out.work.since(&self.before);
        tally.refused = self.refused;
        tally
    }

    /// A playout to do now. `Err(true)`: there may be one if it is asked again; `Err(false)`: not until something comes.
    pub fn next(&mut self, now: Nanos, out: &mut Outbox) -> Result<Task, bool> {
        if !self.searching {
            return Err(false);
        }
        let next = self.rank.next(now, out);
        self.settle(now, out);
        match next {
            Next::Play(ticket) => Ok(Task { ticket, round: self.round }),
            Next::Again => Err(true),
            Next::Nothing => Err(false),
        }
    }

    /// Does it here, at once.
    pub fn play(&mut self, task: Task) -> Played {
        self.rank.play(task.ticket)
    }

    /// The moves to where it begins, for somebody else to do it.
    pub fn path(&self, task: Task) -> &[u16] {
        self.rank.path(task.ticket)
    }

    /// Takes what came of it.
    pub fn played(&mut self, task: Task, played: Played, now: Nanos, out: &mut Outbox) {
        if task.round == self.round {
            // As long as the front itself gets on, nothing is amiss: on its own it hears from nobody.
            if self.front.stage == Stage::Running && !self.front.halted {
                self.front.last_news = now;
            }
            self.rank.played(task.ticket, played, now, out);
            self.settle(now, out);
        }
    }

    /// Lets time pass; returns when it must be called again.
    pub fn tick(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        let mut next = if self.searching { self.rank.tick(now, out) } else { Nanos::MAX };
        self.settle(now, out);
        if self.me != RankId(0) && self.searching && !self.told_idle {
            next = next.min(self.beat(now, out));
        }
        if self.front.stage != Stage::Done {
            if let (Stage::Running, Some(nanos)) = (self.front.stage, self.front.order.nanos) {
                // What is under way should come home within the time, too; what has not when it is up, stays away.
                let over = self.front.begun.saturating_add(nanos);
                let halt = over - self.front.wind_down.min(nanos / 8);
                match self.front.halted {
                    false if now >= halt => self.stop(now, out),
                    false => next = next.min(halt),
                    true if now >= over => self.count(true, now, out),
                    true => next = next.min(over),
                }
            }
            let lost_patience = self.front.last_news.saturating_add(self.front.patience);
            if now >= lost_patience {
                self.lose_patience(now, out);
            }
            next = next.min(self.front.last_news.saturating_add(self.front.patience));
        }
        next
    }

    /// Says now and then that something came home: not every algorithm has more to say before its search is over. Returns
    /// when to look again.
    fn beat(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        let (last, before) = self.beat;
        if now >= last.saturating_add(BEAT) {
            let home = self.rank.account().home;
            if home > before {
                out.record(RankId(0), BUSY);
            }
            self.beat = (now, home);
        }
        self.beat.0.saturating_add(BEAT)
    }

    /// Says that the root is proved, and that nothing is under way, once each.
    fn settle(&mut self, now: Nanos, out: &mut Outbox) {
        if !self.searching {
            return;
        }
        if !self.told_proof && self.rank.proved().is_some() {
            self.told_proof = true;
            if self.me == RankId(0) {
                self.stop(now, out);
            } else {
                out.record(RankId(0), PROVED);
            }
        }
        let account = self.rank.account();
        if !self.told_idle && !account.may_begin() && account.in_flight() == 0 {
            self.told_idle = true;
            if self.me == RankId(0) {
                self.advance(now, out);
            } else {
                out.record(RankId(0), IDLE);
            }
        }
    }

    /// Time is up, or somebody says so; for the front alone.
    pub fn stop(&mut self, now: Nanos, out: &mut Outbox) {
        match self.front.stage {
            Stage::Running if !self.front.halted => {
                self.front.halted = true;
                self.front.halted_at = now;
                self.front.last_news = now;
                self.front.answer.in_flight = self.rank.account().in_flight();
                for to in self.others() {
                    out.record(to, HALT);
                }
                self.rank.halt(out);
                self.settle(now, out);
            }
            // It is going to end as soon as it has begun.
            Stage::Preparing => self.front.order.nanos = Some(0),
            _ => {}
        }
    }

    /// Goes on to the next stage when all answers are there.
    fn advance(&mut self, now: Nanos, out: &mut Outbox) {
        if self.front.waits.contains(&true) {
            return;
        }
        match self.front.stage {
            Stage::Preparing => {
                self.front.stage = Stage::Running;
                self.front.waits = self.expected();
                let alive = self.alive();
                let all = self.front.order.playouts.unwrap_or(u64::MAX);
                let all_begin = self.form.all_begin();
                let begins = |rank| rank == self.me || all_begin && self.rank.begins(rank);
                let beginners: Vec<RankId> = alive.iter().copied().filter(|&rank| begins(rank)).collect();
                let ranks = beginners.len() as u64;
                for &rank in &alive {
                    // Whoever is among the first ranks begins one more where it does not come out even.
                    let place = beginners.iter().position(|&beginner| beginner == rank);
                    let quota = match (place, self.front.order.playouts) {
                        (None, _) => 0,
                        (_, None) => u64::MAX,
                        (Some(i), _) => all / ranks + u64::from((i as u64) < all % ranks),
                    };
                    if rank == self.me {
                        self.rank.begin(quota, now);
                        self.searching = true;
                    } else {
                        out.record(rank, GO).u64(quota);
                    }
                }
                self.settle(now, out);
            }
            Stage::Running if self.told_idle => self.count(false, now, out),
            Stage::Counting => {
                self.front.stage = Stage::Done;
                self.front.answer.nanos = now - self.front.begun;
                if self.front.halted {
                    let took = now - self.front.halted_at;
                    self.front.wind_down = took.max(self.front.wind_down - self.front.wind_down / 4);
                }
            }
            _ => {}
        }
    }

    fn count(&mut self, forced: bool, now: Nanos, out: &mut Outbox) {
        self.end(forced);
        self.front.stage = Stage::Counting;
        self.front.last_news = now;
        self.front.waits = self.expected();
        self.front.answer.playouts = vec![0; self.size as usize];
        for to in self.others() {
            out.record(to, COUNT).u8(forced.into());
        }
        let tally = self.tally(out);
        self.front.answer.playouts[self.me.0 as usize] = tally.playouts;
        self.front.answer.ballots = vec![tally.moves.clone()];
        self.front.answer.tally = tally;
        self.advance(now, out);
    }

    /// Another rank is gone: its process died, or it is silent.
    pub fn left(&mut self, gone: RankId, now: Nanos, out: &mut Outbox) {
        if self.gone.contains(&gone) || gone == self.me {
            return;
        }
        self.gone.push(gone);
        let goes_on = self.rank.left(gone);
        if self.me != RankId(0) || self.front.stage == Stage::Done {
            return;
        }
        self.front.waits[gone.0 as usize] = false;
        if goes_on {
            self.note(format!("rank {} is gone; the others went on", gone.0));
            self.advance(now, out);
        } else {
            self.note(format!("rank {} is gone; the search ended early", gone.0));
            match self.front.stage {
                Stage::Running => self.count(true, now, out),
                _ => self.advance(now, out),
            }
        }
    }

    fn note(&mut self, note: String) {
        match &mut self.front.answer.note {
            Some(notes) => *notes += &format!("; {note}"),
            none => *none = Some(note),
        }
    }

    /// Nothing was heard for too long.
    fn lose_patience(&mut self, now: Nanos, out: &mut Outbox) {
        self.front.last_news = now;
        let silent: Vec<RankId> =
            (0..self.size).map(RankId).filter(|rank| self.front.waits[rank.0 as usize]).collect();
        match self.front.stage {
            // With a limit by the clock nobody need say anything before it is over.
            Stage::Running if !self.front.halted && self.front.order.nanos.is_some() => {}
            Stage::Running => {
                let lost = self.rank.account().in_flight();
                self.note(format!("{lost} simulations of the front did not come home"));
                self.count(true, now, out);
            }
            _ => silent.into_iter().for_each(|rank| self.left(rank, now, out)),
        }
    }

    /// The answer, once the search is over; for the front alone.
    pub fn answer(&mut self) -> Option<Answer> {
        (self.front.stage == Stage::Done).then(|| std::mem::take(&mut self.front.answer))
    }

    /// What this rank alone knows of the root now.
    pub fn glance(&self) -> Tally {
        let mut tally = Tally::default();
        self.rank.tally(&mut tally);
        tally.account = self.rank.account();
        tally
    }

    /// Everybody forgets everything; for the front alone.
    pub fn reset(&mut self, seed: u64, out: &mut Outbox) {
        for to in self.others() {
            out.record(to, RESET).u64(seed);
        }
        self.rank.reset(seed);
    }

    /// The search that is under way or was last, and its position.
    pub(crate) fn position(&self) -> (u32, Arc<Root>) {
        (self.epoch, self.position.clone())
    }

    /// Whether a search is under way.
    pub(crate) fn searching(&self) -> bool {
        self.searching
    }

    /// Whether a rank is gone.
    pub(crate) fn is_gone(&self, rank: RankId) -> bool {
        self.gone.contains(&rank)
    }

    /// What was refused since it was last asked, a line each.
    pub fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}

fn write_tally(out: &mut Outbox, to: RankId, tally: &Tally) {
    let mut record = out.record(to, TALLY);
    record.u8(to_code(tally.proved));
    let Account { quota, begun, home, lost, .. } = tally.account;
    let w = &tally.work;
    let numbers = [
        quota,
        begun,
        home,
        lost,
        tally.playouts,
        tally.added,
        tally.nodes,
        tally.depth.into(),
        tally.fill.to_bits(),
        tally.refused,
        w.steps,
        w.replayed,
        w.added,
        w.records_out,
        w.frames_out,
        w.bytes_out,
        w.records_in,
        w.merged,
    ];
    numbers.iter().for_each(|&n| {
        record.u64(n);
    });
    record.bytes(tally.distinct.bytes());
    record.u16(tally.moves.len() as u16);
    for mv in &tally.moves {
        record.u16(mv.id).u64(mv.visits).u64(mv.sum.to_bits()).u8(to_code(mv.proof));
    }
}

fn read_tally(record: Reader) -> Result<Tally, Refused> {
    let mut record = record;
    let wrong = record.wrong("not a tally");
    let outcome = |code| from_code(code).map_err(|()| wrong.clone());
    let proved = outcome(record.u8()?)?;
    let mut n = || record.u64();
    let account = Account { quota: n()?, begun: n()?, home: n()?, lost: n()?, halted: true };
    let mut tally = Tally { proved, account, playouts: n()?, added: n()?, nodes: n()?, ..Tally::default() };
    tally.depth = n()? as u32;
    tally.fill = f64::from_bits(n()?);
    tally.refused = n()?;
    tally.work = Work {
        steps: n()?,
        replayed: n()?,
        added: n()?,
        records_out: n()?,
        frames_out: n()?,
        bytes_out: n()?,
        records_in: n()?,
        merged: n()?,
    };
    tally.distinct = Sketch::from_bytes(record.bytes(Sketch::BYTES)?).ok_or(wrong.clone())?;
    for _ in 0..record.u16()? {
        let (id, visits, sum) = (record.u16()?, record.u64()?, f64::from_bits(record.u64()?));
        tally.moves.push(RootMove { id, visits, sum, proof: outcome(record.u8()?)? });
    }
    record.end()?;
    // Numbers that add up: nobody's sums may overflow ours.
    let sane = [account.begun, account.home, account.lost, tally.playouts, tally.added, tally.nodes]
        .iter()
        .chain(tally.moves.iter().map(|mv| &mv.visits))
        .all(|&n| n < 1 << 48);
    let real = tally.fill.is_finite() && tally.moves.iter().all(|mv| mv.sum.is_finite());
    if sane && real { Ok(tally) } else { Err(wrong) }
}
