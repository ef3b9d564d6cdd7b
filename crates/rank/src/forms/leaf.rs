//! Leaf parallelisation: ranks that play out for those who keep trees (Cazenave and Jouandeau 2008, as Christoph 2020
//! describes it: multiple leaves, multiple playouts).
//!
//! A rank with a tree sends the positions it wants played out as paths, several at once to everybody, and each time values
//! come back it goes down the tree again for whoever has sent them. This is the part of `Root` that deals with that, on
//! both sides; who keeps a tree is here, too.

use crate::forms::root::{Flight, Root};
use crate::wire::played_of;
use crate::{Form, Gang, Outbox, RankId, Reader, Refused, Ticket};

pub(super) const LEAF: u8 = 18;
pub(super) const VALUES: u8 = 19;

/// For whom the rank in this place of all that are there works: for itself, if it keeps a tree.
pub(super) fn boss(gang: &Gang, place: usize, ranks: usize) -> usize {
    match gang.form {
        Form::Leaf => place % (gang.traversers as usize).min(ranks),
        Form::RootLeaf => place - place % gang.group as usize,
        _ => place,
    }
}

/// The ranks that play out for this one.
#[derive(Default)]
pub(super) struct Bench {
    /// Each with the playouts it has been asked for and has not answered yet.
    workers: Vec<(RankId, u64)>,
    /// So many each at most, or one leaf more.
    load_max: u64,
}

impl Bench {
    pub fn new(workers: Vec<RankId>, load_max: u64) -> Bench {
        Bench { workers: workers.into_iter().map(|rank| (rank, 0)).collect(), load_max }
    }

    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// Whoever has least to do, unless everybody has enough.
    pub fn free(&self) -> Option<RankId> {
        let least = self.workers.iter().min_by_key(|(_, load)| load)?;
        (least.1 < self.load_max).then_some(least.0)
    }

    fn add(&mut self, rank: RankId, playouts: u64) {
        self.workers.iter_mut().filter(|(r, _)| *r == rank).for_each(|(_, load)| *load += playouts);
    }

    fn answered(&mut self, rank: RankId, playouts: u64) {
        self.workers.iter_mut().filter(|(r, _)| *r == rank).for_each(|(_, load)| *load -= playouts);
    }

    pub fn remove(&mut self, rank: RankId) {
        self.workers.retain(|(r, _)| *r != rank);
    }

    pub fn forget(&mut self) {
        self.workers.iter_mut().for_each(|(_, load)| *load = 0);
    }
}

impl Root {
    /// Sends a leaf to a rank that plays it out.
    pub(super) fn send_leaf(&mut self, mut flight: Flight, to: RankId, out: &mut Outbox) {
        flight.away = Some(to);
        let (waits, path) = (flight.waits, flight.path.clone());
        self.bench.add(to, waits.into());
        let ticket = self.flights.add(flight);
        out.record(to, LEAF).u32(ticket.0).u8(waits as u8).path(&path);
    }

    /// Somebody wants a position played out.
    pub(super) fn take_leaf(
        &mut self,
        from: RankId,
        record: Reader,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        let mut record = record;
        let (ticket, waits) = (record.u32()?, u32::from(record.u8()?));
        let mut flight = Flight { from: Some((from, ticket)), waits, ..Flight::default() };
        record.path(&mut flight.path)?;
        record.end()?;
        if from != self.boss || !(1..=self.gang.leaf_playouts).contains(&waits) {
            return Err(record.wrong("not from this rank, or not so many"));
        }
        if self.ground.walk.follow(&flight.path)?.is_some() {
            return Err(record.wrong("the game is over there"));
        }
        out.work.replayed += flight.path.len() as u64;
        self.wait_for_playouts(flight);
        Ok(())
    }

    /// Sends the values of a leaf home.
    pub(super) fn send_values(&mut self, flight: &Flight, out: &mut Outbox) {
        let Some((to, ticket)) = flight.from else { return };
        out.record(to, VALUES).u32(ticket).u8(flight.values.len() as u8).bytes(&flight.values);
    }

    /// The values of a leaf have come home.
    pub(super) fn take_values(
        &mut self,
        from: RankId,
        record: Reader,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        let mut record = record;
        let (ticket, count) = (Ticket(record.u32()?), record.u8()?);
        let values = record.bytes(count.into())?;
        record.end()?;
        let waits = |flight: &mut Flight| flight.away == Some(from) && flight.waits == u32::from(count);
        if !self.flights.get_mut(ticket).is_some_and(waits)
            || values.iter().any(|&byte| played_of(byte).is_none())
        {
            return Err(record.wrong("nobody waits for it"));
        }
        let flight = self.flights.remove(ticket).expect("it was there");
        self.bench.answered(from, count.into());
        for played in values.iter().filter_map(|&byte| played_of(byte)) {
            self.bring_home(&flight.trail, played, out);
        }
        self.refill(out);
        Ok(())
    }
}
