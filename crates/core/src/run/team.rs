//! For threads that run one stream together: see `search::team`.

use super::{Part, Run, Solution, StopReason};
use crate::rng::Rng;
use crate::search::CallMaker;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

impl<'a> Run<'a> {
    /// From here on this is one of several copies of the stream: the one that speaks.
    pub(crate) fn lead(&mut self) {
        let announced = &mut *self.crew.announced.lock().unwrap_or_else(PoisonError::into_inner);
        *announced = announced.max(self.best_score());
        self.crew.playouts.store(self.playouts, Ordering::Relaxed);
        self.part = Part::Replica { speaks: true };
    }

    /// The others are gone: this is the whole stream again.
    pub(crate) fn disband(&mut self) {
        self.part = Part::Whole;
        self.check_at = self.playouts + 1;
    }

    /// A copy of the stream for another thread.
    pub(crate) fn follow(&self) -> Run<'a> {
        self.copy(Part::Replica { speaks: false })
    }

    /// The `Run` of what this thread does by itself.
    pub(crate) fn hand(&self, minds_target: bool) -> Run<'a> {
        let speaks = self.part == Part::Replica { speaks: true };
        Run { playouts: 0, check_at: 1, ..self.copy(Part::Hand { speaks, minds_target }) }
    }

    /// Another of the same, from its beginning.
    pub(crate) fn twin(&self) -> Run<'a> {
        Run { playouts: 0, reported: 0, check_at: 1, ..self.copy(self.part) }
    }

    fn copy(&self, part: Part) -> Run<'a> {
        Run {
            rng: self.rng.clone(),
            control: self.control,
            part,
            crew: self.crew.clone(),
            best: self.best.as_ref().map(|best| Solution { score: best.score, moves: Vec::new() }),
            resumed: Vec::new(),
            turn: None,
            check_interval: 1,
            checkpoint_due: false,
            ..*self
        }
    }

    /// Playouts that the limit still allows.
    pub(crate) fn playouts_left(&self) -> u64 {
        self.playouts_max.saturating_sub(self.playouts)
    }

    /// Begins a piece of work of a hand: with these random numbers, at most so many playouts. False if there is no
    /// use in beginning.
    pub(crate) fn begin(&mut self, rng: Rng, playouts_max: u64) -> bool {
        self.ended = self.interrupted();
        self.rng = rng;
        self.playouts_max = self.playouts.saturating_add(playouts_max);
        self.check_at = self.check_at.min(self.playouts_max);
        self.ended.is_none() && playouts_max > 0
    }

    /// Why all hands must stop, if so.
    pub(crate) fn interrupted(&self) -> Option<StopReason> {
        self.crew.stop.get().copied()
    }

    /// Makes all hands stop.
    pub(crate) fn interrupt(&self, reason: StopReason) {
        self.crew.stop.get_or_init(|| reason);
    }

    /// A solution to begin with, if there is one.
    pub(crate) fn start(&self) -> Option<&'a [String]> {
        self.control.start.as_deref().filter(|_| !self.blank)
    }

    /// Whether the search that is about to run may know of it.
    pub(crate) fn begin_blank(&mut self, blank: bool) {
        self.blank = blank;
    }

    /// Who makes the calls of islands, if not the threads of this process.
    pub(crate) fn call_maker(&self) -> Option<&'a dyn CallMaker> {
        self.control.calls
    }

    /// Whether a score is what the run wants.
    pub(crate) fn reaches_target(&self, score: f64) -> bool {
        self.control.limits.target.is_some_and(|target| score >= target)
    }

    /// Looks at the clock and at what else ends the run from outside; for a stream that makes no playouts itself.
    pub(crate) fn look(&mut self) {
        let now = self.control.seconds();
        if let Some(reason) = self.outside(now) {
            self.end(reason);
        }
        self.tell(now);
    }

    /// A round is over: every copy of the stream is told the same.
    pub(crate) fn count_round(&mut self, playouts: u64, stop: Option<StopReason>) {
        self.playouts += playouts;
        if let Some(reason) = self.counted().or(stop) {
            self.end(reason);
        }
        if self.playouts >= self.check_at && self.part == (Part::Replica { speaks: true }) {
            let now = self.control.seconds();
            self.pace(now);
            self.tell(now);
        }
    }
}
