//! For a search that lets several others take turns on one stream: see `search::auto`.

use super::{Control, Event, Limits, Run, StreamCheckpoint, Turn};

impl<'a> Run<'a> {
    /// What turns are measured in: seconds where the run's limits are, otherwise playouts, so that what the run finds does
    /// not depend on the machine.
    pub(crate) fn timed(&self) -> bool {
        self.control.limits.depends_on_clock()
    }

    /// What the stream has spent, in that measure.
    /// Seconds are those of the processor: on a busy machine a turn is not over before it has begun.
    pub(crate) fn spent(&self) -> f64 {
        if self.timed() { self.control.cpu_seconds() / self.streams } else { self.playouts as f64 }
    }

    /// Begins a turn of so much, for a search that was left in this state.
    pub(crate) fn begin_turn(&mut self, length: f64, state: Option<Vec<u8>>) {
        let playouts_max = self.playouts.saturating_add((length as u64).max(1));
        self.turn = Some(match self.timed() {
            true => Turn { seconds_max: self.spent() + length, playouts_max: u64::MAX, ..Turn::default() },
            false => Turn { seconds_max: f64::INFINITY, playouts_max, ..Turn::default() },
        });
        self.resumed = state.unwrap_or_default();
        self.turn_best = f64::NEG_INFINITY;
        // The pace was that of another search.
        (self.check_at, self.check_interval) = (self.playouts + 1, 1);
    }

    /// Ends it: where the search stood, if it can go on, and the best that it has offered.
    pub(crate) fn end_turn(&mut self) -> (Option<Vec<u8>>, f64) {
        let paused = self.turn.take().and_then(|turn| turn.state);
        let state = paused.map(|(state, rng)| {
            (self.ended, self.rng) = (None, rng);
            state
        });
        self.resumed.clear();
        let every = self.control.checkpoint_every.map(|every| every.as_secs_f64());
        self.checkpoint_due =
            every.is_some_and(|every| self.control.seconds() - self.checkpoint_seconds >= every);
        (state, self.turn_best)
    }

    /// Says what the stream is about to do.
    pub(crate) fn say(&self, text: String) {
        self.control.observer.on(Event::Course { stream: self.stream, text });
    }

    /// Runs `work` with a stream of its own that ends with this one, goes on from `from`, and counts here. For a problem
    /// whose moves are not those of this stream: nothing of it is announced, and its own best comes back with it.
    pub(crate) fn aside(
        &mut self,
        length: f64,
        mut from: StreamCheckpoint,
        work: impl FnOnce(&mut Run),
    ) -> StreamCheckpoint {
        let before = from.playouts;
        let left = self.seconds_max - self.control.seconds();
        let limits = Limits {
            playouts: Some(before.saturating_add(self.playouts_left())),
            seconds: Some(left).filter(|left| left.is_finite()),
            cpu_seconds: self.control.limits.cpu_seconds.map(|max| max - self.control.cpu_seconds()),
            ..Limits::default()
        };
        let mut control = Control::new(limits, self.control.stop, &|_| {});
        control.guide.clone_from(&self.control.guide);
        let state = std::mem::take(&mut from.search);
        let mut aside = Run::new(&control, 0, 0, 1).resume(from);
        aside.streams = self.streams;
        aside.begin_turn(length, Some(state));
        work(&mut aside);
        let (state, _) = aside.end_turn();
        let last = StreamCheckpoint { ended: None, ..aside.snapshot(state.unwrap_or_default()) };
        self.playouts += last.playouts - before;
        self.check_at = self.playouts + 1;
        if let Some(reason) = self.counted() {
            self.end(reason);
        }
        self.look();
        last
    }
}
