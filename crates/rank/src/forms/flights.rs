//! Simulations that are under way at a rank, by number.

use crate::Ticket;

/// A list with holes: numbers are given out again, the lowest free one last freed first.
pub(crate) struct Flights<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Flights { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Flights<T> {
    /// Gives one a number.
    pub fn add(&mut self, flight: T) -> Ticket {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(flight);
                Ticket(slot)
            }
            None => {
                self.slots.push(Some(flight));
                Ticket(self.slots.len() as u32 - 1)
            }
        }
    }

    /// The one with this number; numbers from elsewhere may be anything.
    pub fn get_mut(&mut self, ticket: Ticket) -> Option<&mut T> {
        self.slots.get_mut(ticket.0 as usize)?.as_mut()
    }

    /// The same of a number that is ours.
    pub fn at(&self, ticket: Ticket) -> &T {
        self.slots[ticket.0 as usize].as_ref().expect("a ticket that is out")
    }

    /// Takes one out.
    pub fn remove(&mut self, ticket: Ticket) -> Option<T> {
        let flight = self.slots.get_mut(ticket.0 as usize)?.take()?;
        self.free.push(ticket.0);
        Some(flight)
    }

    /// Takes out those that are like this.
    pub fn remove_if(&mut self, like: impl Fn(&T) -> bool) -> Vec<T> {
        let found = |slot: &u32| self.slots[*slot as usize].as_ref().is_some_and(&like);
        let tickets: Vec<u32> = (0..self.slots.len() as u32).filter(found).collect();
        tickets.into_iter().filter_map(|slot| self.remove(Ticket(slot))).collect()
    }

    /// Takes all out.
    pub fn drain(&mut self) -> Vec<T> {
        self.free.clear();
        self.slots.drain(..).flatten().collect()
    }
}
