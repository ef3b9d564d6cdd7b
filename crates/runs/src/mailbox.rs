//! What the streams of a run leave for the thread that writes it down. A stream never waits for the disk: only the
//! newest of each kind is kept, so the box cannot grow however slow the disk is.

use sortie_core::run::{Observer, StreamCheckpoint};
use sortie_core::{Event, Solution};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A solution better than all before.
#[derive(Debug, Clone)]
pub struct Found {
    /// The stream that found it.
    pub stream: u32,
    /// Playouts of that stream by then.
    pub playouts: u64,
    /// Seconds of the run by then.
    pub seconds: f64,
    /// The solution.
    pub solution: Solution,
}

/// What has come in since the last time.
#[derive(Debug, Default)]
pub struct Mail {
    /// The best solution, if it is new.
    pub found: Option<Found>,
    /// The newest checkpoint of each stream that sent one.
    pub checkpoints: BTreeMap<u32, StreamCheckpoint>,
    /// What each stream said last about what it is about to do.
    pub courses: BTreeMap<u32, String>,
    /// Nothing more will come.
    pub closed: bool,
}

/// The box.
pub struct Mailbox {
    inside: Mutex<Inside>,
    closed: Condvar,
}

struct Inside {
    mail: Mail,
    best_score: f64,
    /// Playouts by stream.
    playouts: Vec<u64>,
    /// The best score by stream; minus infinity before the first.
    scores: Vec<f64>,
    /// The entropy of the policy by stream, where it was told.
    entropies: Vec<Option<f64>>,
}

impl Mailbox {
    /// For `streams` streams, of which only what is better than `best_score` is news.
    pub fn new(streams: u32, best_score: f64) -> Mailbox {
        let streams = streams as usize;
        let (playouts, scores) = (vec![0; streams], vec![f64::NEG_INFINITY; streams]);
        let entropies = vec![None; streams];
        let inside = Inside { mail: Mail::default(), best_score, playouts, scores, entropies };
        Mailbox { inside: Mutex::new(inside), closed: Condvar::new() }
    }

    /// Counts playouts of an earlier session.
    pub fn begin_at(&self, checkpoints: &[StreamCheckpoint]) {
        let mut inside = self.lock();
        for checkpoint in checkpoints {
            inside.count(checkpoint.stream, checkpoint.playouts);
            if let Some(best) = &checkpoint.best {
                inside.score(checkpoint.stream, best.score);
            }
        }
    }

    /// What a tenth, half and nine tenths of the streams have found at most; `None` until all of several have something.
    pub fn band(&self) -> Option<[f64; 3]> {
        let mut scores = self.lock().scores.clone();
        scores.sort_by(f64::total_cmp);
        let last = scores.len() - 1;
        let told = last > 0 && scores[0].is_finite();
        told.then(|| [0.1, 0.5, 0.9].map(|share| scores[(share * last as f64).round() as usize]))
    }

    /// The mean entropy of the policies of the streams that have told it.
    pub fn entropy(&self) -> Option<f64> {
        let told: Vec<f64> = self.lock().entropies.iter().flatten().copied().collect();
        (!told.is_empty()).then(|| told.iter().sum::<f64>() / told.len() as f64)
    }

    /// Waits so long, or until the box is closed, and empties it.
    pub fn take(&self, wait: Duration) -> Mail {
        let inside = self.lock();
        let waited = self.closed.wait_timeout_while(inside, wait, |inside| !inside.mail.closed);
        let (mut inside, _) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        let next = Mail { closed: inside.mail.closed, ..Mail::default() };
        std::mem::replace(&mut inside.mail, next)
    }

    /// Playouts of all streams.
    pub fn playouts(&self) -> u64 {
        self.lock().playouts.iter().sum()
    }

    /// Says that nothing more will come.
    pub fn close(&self) {
        self.lock().mail.closed = true;
        self.closed.notify_all();
    }

    /// A panic elsewhere leaves nothing half-done in here.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Observer for Mailbox {
    fn on(&self, event: Event) {
        let mut inside = self.lock();
        match event {
            Event::Improved { stream, score, moves, playouts, seconds } => {
                inside.count(stream, playouts);
                inside.score(stream, score);
                if score > inside.best_score {
                    inside.best_score = score;
                    let solution = Solution { score, moves };
                    inside.mail.found = Some(Found { stream, playouts, seconds, solution });
                }
            }
            Event::Progress { stream, playouts } => inside.count(stream, playouts),
            Event::Policy { stream, entropy } => {
                if let Some(known) = inside.entropies.get_mut(stream as usize) {
                    *known = Some(entropy);
                }
            }
            Event::Course { stream, text } => {
                inside.mail.courses.insert(stream, text);
            }
            Event::Checkpoint(checkpoint) => {
                inside.count(checkpoint.stream, checkpoint.playouts);
                inside.mail.checkpoints.insert(checkpoint.stream, checkpoint);
            }
        }
    }
}

impl Inside {
    fn count(&mut self, stream: u32, playouts: u64) {
        if let Some(count) = self.playouts.get_mut(stream as usize) {
            *count = playouts;
        }
    }

    fn score(&mut self, stream: u32, score: f64) {
        if let Some(best) = self.scores.get_mut(stream as usize) {
            *best = best.max(score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn improved(stream: u32, score: f64) -> Event {
        Event::Improved { stream, score, moves: vec![], playouts: 10 * score as u64, seconds: 0.0 }
    }

    #[test]
    fn only_the_newest_is_kept() {
        let mailbox = Mailbox::new(2, 3.0);
        mailbox.on(improved(0, 3.0));
        assert!(mailbox.take(Duration::ZERO).found.is_none(), "not better than before");
        mailbox.on(improved(0, 4.0));
        mailbox.on(improved(1, 6.0));
        mailbox.on(improved(0, 5.0));
        let mail = mailbox.take(Duration::ZERO);
        assert_eq!(mail.found.map(|found| (found.stream, found.solution.score)), Some((1, 6.0)));
        assert!(!mail.closed);
        assert_eq!(mailbox.band(), Some([5.0, 6.0, 6.0]));
        assert_eq!(mailbox.playouts(), 50 + 60);
        assert_eq!(mailbox.entropy(), None);
        for (stream, entropy) in [(0, 2.0), (1, 1.0), (0, 0.5), (9, 9.0)] {
            mailbox.on(Event::Policy { stream, entropy });
        }
        assert_eq!(mailbox.entropy(), Some(0.75));
        mailbox.close();
        for _ in 0..2 {
            assert!(mailbox.take(Duration::from_secs(3600)).closed, "closing ends every wait");
        }
    }
}
