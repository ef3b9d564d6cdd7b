//! The thread that writes a run down while the searches go on: the best record first, then the event that announces
//! it, the checkpoint, the progress. A disk that fails is told of once and tried again; the search does not stop.

use crate::checkpoint::Checkpoint;
use crate::clock;
use crate::event::Event;
use crate::folder::{self, Events, Folder};
use crate::mailbox::{Found, Mailbox};
use crate::spec::{self, Spec};
use crate::text::plain;
use sortie_core::{Control, Record};
use std::io;
use std::time::Duration;

/// The mailbox is looked into so often; a solution is on disk and announced within about this time.
const TICK: Duration = Duration::from_millis(100);
/// A progress event, and a new attempt after a failure to write, so often.
const EVENT_SECONDS: f64 = 1.0;
/// Writing checkpoints may take this part of the time: large ones on a slow disk are written less often.
const CHECKPOINT_SHARE: f64 = 0.1;

/// How a run stands.
pub struct Status {
    /// Its best score: on disk, unless the disk fails.
    pub best: Option<f64>,
    /// Playouts of all sessions.
    pub playouts: u64,
    /// Playouts per second of this session.
    pub rate: f64,
    /// Wall time of all sessions.
    pub seconds: f64,
    /// Wall time to go, where it can be told.
    pub left: Option<f64>,
}

/// Who tells people of it; the terminal, where there is one.
pub trait Teller: Send {
    /// A better solution is on disk.
    fn improved(&mut self, best: f64, stream: u32, seconds: f64);
    /// Time passes.
    fn tick(&mut self, status: &Status);
    /// What a stream is about to do, and why.
    fn course(&mut self, _stream: u32, _text: &str) {}
    /// Something that must be said, and stays.
    fn line(&mut self, text: &str);
    /// The end.
    fn clear(&mut self);
}

/// The writer of a run.
pub struct Scribe<'a> {
    /// What `best.record` holds.
    pub saved: Option<Record>,
    /// Whether something could not be written and still is not.
    pub trouble: bool,
    teller: Box<dyn Teller + 'a>,
    folder: &'a Folder,
    spec: &'a Spec,
    control: &'a Control<'a>,
    mailbox: &'a Mailbox,
    events: Option<Events>,
    checkpoint: Checkpoint,
    checkpoint_dirty: bool,
    checkpoint_at: f64,
    /// Found and not yet on disk.
    unsaved: Option<Found>,
    retry_at: f64,
    event_at: f64,
    warned: bool,
    start_seconds: f64,
    start_cpu_seconds: f64,
    start_playouts: u64,
}

impl<'a> Scribe<'a> {
    /// A writer that goes on from `saved` and `checkpoint`.
    pub fn new(
        (folder, spec): (&'a Folder, &'a Spec),
        (control, mailbox): (&'a Control<'a>, &'a Mailbox),
        saved: Option<Record>,
        checkpoint: Checkpoint,
        teller: Box<dyn Teller + 'a>,
    ) -> Scribe<'a> {
        let seconds = control.seconds();
        Scribe {
            saved,
            trouble: false,
            teller,
            folder,
            spec,
            control,
            mailbox,
            events: None,
            checkpoint,
            checkpoint_dirty: false,
            checkpoint_at: seconds,
            unsaved: None,
            retry_at: seconds,
            event_at: seconds + EVENT_SECONDS,
            warned: false,
            start_seconds: seconds,
            start_cpu_seconds: control.cpu_seconds(),
            start_playouts: mailbox.playouts(),
        }
    }

    /// Writes until the mailbox is closed.
    pub fn run(mut self) -> Scribe<'a> {
        loop {
            let mail = self.mailbox.take(TICK);
            let now = self.control.seconds();
            if mail.found.is_some() {
                self.unsaved = mail.found;
            }
            for (stream, text) in mail.courses {
                self.teller.course(stream, &text);
                self.event(Event::Course { seconds: now, stream, text });
            }
            for checkpoint in mail.checkpoints.into_values() {
                self.checkpoint.put(checkpoint);
                self.checkpoint_dirty = true;
            }
            // What a checkpoint knows has been announced: the record comes first.
            self.save_best(now, mail.closed);
            self.save_checkpoint(now, mail.closed);
            if now >= self.event_at {
                self.event_at = now + EVENT_SECONDS;
                self.event(Event::Progress {
                    seconds: now,
                    cpu_seconds: self.control.cpu_seconds(),
                    playouts: self.mailbox.playouts(),
                    best: self.saved.as_ref().map(|record| record.score),
                    band: self.mailbox.band(),
                    entropy: self.mailbox.entropy(),
                });
            }
            if mail.closed {
                self.teller.clear();
                return self;
            }
            let status = self.status(now);
            self.teller.tick(&status);
        }
    }

    /// Appends an event.
    pub fn event(&mut self, event: Event) {
        let mut append = || -> io::Result<()> {
            if self.events.is_none() {
                self.events = Some(self.folder.events()?);
            }
            self.events.as_mut().expect("just opened").append(&event)
        };
        let result = append();
        self.check(folder::EVENTS, result);
    }

    /// Makes this the best record. False if it could not be written.
    pub fn write_record(&mut self, record: Record) -> bool {
        let result = self.folder.write(folder::RECORD, record.to_text().as_bytes());
        let written = self.check(folder::RECORD, result);
        if written {
            self.saved = Some(record);
        }
        self.trouble = !written;
        written
    }

    /// Warns of the first failure of the run.
    pub fn check(&mut self, name: &str, result: io::Result<()>) -> bool {
        if let Err(error) = &result
            && !self.warned
        {
            self.warned = true;
            let path = self.folder.path.join(name);
            let why = plain(error);
            self.teller.line(&format!(
                "sortie: warning: cannot write {} ({why}); the search goes on and keeps its best in memory",
                path.display()
            ));
        }
        result.is_ok()
    }

    fn save_best(&mut self, now: f64, last: bool) {
        if self.unsaved.is_none() || (now < self.retry_at && !last) {
            return;
        }
        let found = self.unsaved.take().expect("looked at");
        if !self.write_record(record(self.spec, &found)) {
            self.unsaved = Some(found);
            self.retry_at = now + EVENT_SECONDS;
            return;
        }
        self.event(Event::Improved {
            seconds: found.seconds,
            stream: found.stream,
            score: found.solution.score,
            playouts: found.playouts,
        });
        self.teller.improved(found.solution.score, found.stream, found.seconds);
    }

    fn save_checkpoint(&mut self, now: f64, last: bool) {
        if !self.checkpoint_dirty || (now < self.checkpoint_at && !last) {
            return;
        }
        self.checkpoint.seconds = now;
        self.checkpoint.cpu_seconds = self.control.cpu_seconds();
        let result = self.folder.write_checkpoint(&self.checkpoint);
        let spent = self.control.seconds() - now;
        let wait = if self.check(folder::CHECKPOINT, result) {
            self.checkpoint_dirty = false;
            spent / CHECKPOINT_SHARE
        } else {
            EVENT_SECONDS
        };
        self.checkpoint_at = now + wait;
    }

    fn status(&self, now: f64) -> Status {
        let playouts = self.mailbox.playouts();
        let spent = (now - self.start_seconds).max(1e-3);
        let rate = (playouts - self.start_playouts.min(playouts)) as f64 / spent;
        let limits = &self.spec.limits;
        let whole = || Some(spec::playouts(&self.spec.search)? * self.spec.streams as f64);
        let playouts_max =
            limits.playouts.map(|max| max as f64).or_else(|| if limits.is_empty() { whole() } else { None });
        let cpu = self.control.cpu_seconds();
        let cpu_rate = (cpu - self.start_cpu_seconds).max(1e-3) / spent;
        let left = [
            limits.seconds.map(|max| max - now),
            limits.cpu_seconds.map(|max| (max - cpu) / cpu_rate),
            playouts_max.filter(|_| rate > 0.0).map(|max| (max - playouts as f64) / rate),
        ];
        let left = left.into_iter().flatten().reduce(f64::min);
        let unsaved = self.unsaved.as_ref().map(|found| found.solution.score);
        Status {
            best: unsaved.or(self.saved.as_ref().map(|record| record.score)),
            playouts,
            rate,
            seconds: now,
            left: left.map(|left| left.max(0.0)),
        }
    }
}

/// A solution as a record with its origin.
pub fn record(spec: &Spec, found: &Found) -> Record {
    let field = |key: &str, value: String| (key.to_string(), value);
    let policy = spec.policy.as_ref().map(|policy| format!("{} ({})", policy.describe(), policy.hash));
    let mut search = spec::describe(&spec.search);
    if let Some(policy) = policy {
        search += &format!(", {policy}");
    }
    Record {
        instance: spec.instance.clone(),
        score: found.solution.score,
        fields: vec![
            field("search", search),
            field("seed", spec.seed.to_string()),
            field("stream", format!("{} of {}", found.stream, spec.streams)),
            field("playouts", found.playouts.to_string()),
            field("found", clock::now()),
            field("version", format!("sortie {}", env!("CARGO_PKG_VERSION"))),
        ],
        moves: found.solution.moves.clone(),
    }
}
