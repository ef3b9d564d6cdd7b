//! A worker who asks the database: before a job whether the position itself is known, after it for the position after the
//! answer, as in Shih et al. (2018); or before it for every position after a move, all in one batch. What the database
//! says is a claim like any other, with the trust of the entry.

use sortie_core::exact::{After, Answer, AnyWorker, Asked, Bounds, Claim, Job, Partial, Statuses, Value};
use sortie_core::{AnyBoard, AnyGame, Ident, PlayError, Side};
use sortie_store::{Entry, GameName, Store, StoreError, known};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The database as workers see it.
pub struct Book {
    /// The database.
    pub store: Box<dyn Store>,
    /// The game.
    pub game: GameName,
    /// Ask for every position after a move.
    pub successors: bool,
    /// Ask for the position of the job itself.
    pub itself: bool,
    /// What happened.
    pub tally: Tally,
    /// What went wrong first: the search goes on without the database.
    pub trouble: Mutex<Option<StoreError>>,
}

/// What the database was asked and said.
#[derive(Debug, Default)]
pub struct Tally {
    /// Positions asked for.
    pub asked: AtomicU64,
    /// Positions known to be won by the side that moved there, or by the side to move of the job.
    pub won: AtomicU64,
    /// Other positions that were known.
    pub lost: AtomicU64,
    /// Jobs that were not done because the database had the answer.
    pub spared: AtomicU64,
}

impl Book {
    /// Of a database, for one game.
    pub fn new(store: Box<dyn Store>, game: GameName, successors: bool) -> Book {
        Book { store, game, successors, itself: true, tally: Tally::default(), trouble: Mutex::default() }
    }

    /// What is known of positions. A database that fails knows nothing.
    pub fn look(&self, idents: &[Ident]) -> Vec<Option<Entry>> {
        self.tally.asked.fetch_add(idents.len() as u64, Relaxed);
        known(&*self.store, &self.game, idents).unwrap_or_else(|error| {
            self.trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
            vec![None; idents.len()]
        })
    }
}

/// Who asks the database, before a job and after it.
pub struct Reader {
    book: Arc<Book>,
    game: Box<dyn AnyGame>,
    statuses: Statuses,
}

/// What the database says before a job.
pub enum Before {
    /// The job need not be done.
    Answered(Answer),
    /// This is known of what comes after it.
    Open(Vec<After>),
}

impl Reader {
    /// Of a database, for jobs of a game.
    pub fn new(book: Arc<Book>, game: &dyn AnyGame, statuses: &Statuses) -> Reader {
        Reader { book, game: game.share(), statuses: statuses.clone() }
    }

    fn board(&self, job: &Job) -> Result<Box<dyn AnyBoard>, PlayError> {
        let mut board = self.game.board(job.start.as_deref())?;
        for word in &job.moves {
            board.play(word)?;
        }
        Ok(board)
    }

    /// Looks up the position of a job, and every position after a move if that is wanted.
    pub fn before(&self, job: &Job) -> Result<Before, PlayError> {
        let mut board = self.board(job)?;
        if let Some(answer) = self.itself(&*board, job) {
            return Ok(Before::Answered(answer));
        }
        if !self.book.successors {
            return Ok(Before::Open(Vec::new()));
        }
        let words = board.legal().into_iter().filter(|word| !job.exclude.contains(word));
        let found = self.known_after(&mut *board, words);
        // A move that gets all that is asked for answers the job.
        let side = board.to_move();
        let wanted =
            |(_, entry): &&(After, Entry)| entry.bounds.decides(job.ask) == Some(side == Side::First);
        let after = || found.iter().map(|(after, _)| after.clone()).collect();
        Ok(match found.iter().find(wanted) {
            Some((winner, entry)) => {
                // The position is worth at least what the move gets.
                let bounds = Bounds { low: entry.bounds.view(side).low, high: Value::Win }.view(side);
                let entry = Entry { bounds, ..*entry };
                Before::Answered(self.spared(Some(winner.word.clone()), &entry, after()))
            }
            None => Before::Open(after()),
        })
    }

    /// Adds what is known of the positions after a job to its answer: `found` by `before`, or else that after its move.
    pub fn after(&self, job: &Job, answer: &mut Answer, found: Vec<After>) -> Result<(), PlayError> {
        answer.after.extend(found);
        if let (false, Some(best)) = (self.book.successors, &answer.best) {
            let known = self.known_after(&mut *self.board(job)?, std::iter::once(best.clone()));
            answer.after.extend(known.into_iter().map(|(after, _)| after));
        }
        Ok(())
    }

    /// An answer that rests on the database alone.
    fn spared(&self, best: Option<String>, entry: &Entry, after: Vec<After>) -> Answer {
        self.book.tally.spared.fetch_add(1, Relaxed);
        let value = (entry.bounds.low.number() + entry.bounds.high.number()) / 2.0;
        let claim = Some(Claim { bounds: entry.bounds, trust: entry.trust });
        let status = self.statuses.nearest(value);
        Answer { best, status, value: Some(value), claim, after, nodes: 0, seconds: 0.0 }
    }

    /// What is known of the position itself, if it answers the job.
    fn itself(&self, board: &dyn AnyBoard, job: &Job) -> Option<Answer> {
        if !self.book.itself || !job.exclude.is_empty() {
            return None;
        }
        let ident = board.ident()?;
        let entry = self.book.look(&[ident])[0].filter(|entry| entry.bounds.decides(job.ask).is_some())?;
        let seen = entry.bounds.view(board.to_move());
        let best = entry.best.and_then(|number| board.of_image(number, ident.image));
        // Without a move only a loss is an answer.
        if best.is_none() && seen.high > Value::Loss {
            return None;
        }
        self.count(seen);
        Some(self.spared(best.filter(|_| seen.high > Value::Loss), &entry, Vec::new()))
    }

    fn count(&self, seen: Bounds) {
        let tally = &self.book.tally;
        if seen.low == Value::Win { &tally.won } else { &tally.lost }.fetch_add(1, Relaxed);
    }

    /// What is known after each of some moves.
    fn known_after(
        &self,
        board: &mut dyn AnyBoard,
        words: impl Iterator<Item = String>,
    ) -> Vec<(After, Entry)> {
        let (mut asked, mut idents) = (Vec::new(), Vec::new());
        for word in words {
            if board.play(&word).is_ok() {
                if board.outcome().is_none()
                    && let Some(ident) = board.ident()
                {
                    asked.push(word);
                    idents.push(ident);
                }
                board.undo();
            }
        }
        if idents.is_empty() {
            return Vec::new();
        }
        let side = board.to_move();
        let found = self.book.look(&idents).into_iter().zip(asked);
        found
            .filter_map(|(entry, word)| {
                let entry = entry?;
                self.count(entry.bounds.view(side));
                let claim = Claim { bounds: entry.bounds, trust: entry.trust };
                Some((After { word, claim }, entry))
            })
            .collect()
    }
}

/// A worker with a database at hand.
pub struct Consulting {
    inner: Box<dyn AnyWorker>,
    reader: Reader,
}

impl Consulting {
    /// Asks the database beside what `inner` does.
    pub fn new(
        inner: Box<dyn AnyWorker>,
        book: Arc<Book>,
        game: &dyn AnyGame,
        statuses: &Statuses,
    ) -> Consulting {
        Consulting { inner, reader: Reader::new(book, game, statuses) }
    }
}

impl AnyWorker for Consulting {
    fn answer(
        &mut self,
        job: &Job,
        asked: Asked,
        tell: &mut dyn FnMut(Partial),
    ) -> Result<Option<Answer>, PlayError> {
        let found = match self.reader.before(job)? {
            Before::Answered(answer) => return Ok(Some(answer)),
            Before::Open(found) => found,
        };
        let Some(mut answer) = self.inner.answer(job, asked, tell)? else { return Ok(None) };
        self.reader.after(job, &mut answer, found)?;
        Ok(Some(answer))
    }
}
