//! Vehicle routing with time windows: Solomon's problem, built as one tour that returns to the depot again and again
//! (Cazenave and Edelkamp, "High-Diversity Monte-Carlo Tree Search", 2016).
//!
//! A move goes to a customer, or home: then the next vehicle leaves, empty and at the opening of the depot. Every
//! playout serves everybody, so the fleet is part of the score and never a dead end. `Rules` says what is legal,
//! `select.rs` what a policy search is offered of it, `local.rs` and `ruin.rs` improve finished tours; `own.rs`, with
//! `eject.rs` and `cross.rs`, is a search for nothing but routes. `table.rs` holds Solomon's instances, `solomon.rs` reads
//! files, `draw.rs` shows routes. Left out: vehicles of different kinds, several depots, pick-ups.

mod cross;
mod draw;
mod eject;
mod local;
mod own;
mod ruin;
mod select;
mod set;
mod solomon;
mod table;
mod tables;

use select::Select;
use set::Set;
use solomon::{Fault, Solomon};
use sortie_core::expert::Specialist;
use sortie_core::measure::Measure;
use sortie_core::picture::Picture;
use sortie_core::search::Own;
use sortie_core::{Choices, Domain, Problem, Rng, Search};
use sortie_core::{Entry, OpenError, Opened, Request};
use std::hash::{Hash, Hasher};
use table::Best;

/// Opens `vrptw/R101`, `vrptw/path/to/file`.
pub static ENTRY: Entry = Entry {
    name: "vrptw",
    about: "vehicle routing with time windows (Solomon): fewest vehicles, then shortest distance",
    names: "R101-R112, R201-R211, C101-C109, C201-C208, RC101-RC108, RC201-RC208, or a file: Solomon's, VRPLIB, CSV, JSON",
    options: &[
        (
            "objective",
            "vehicles (first those, then the distance), distance (alone), or dimacs (distance in truncated tenths); by default \
             vehicles, or distance in files without time windows",
        ),
        (
            "fleet",
            "vehicles to make do with: each customer served by a further one costs as much as a vehicle",
        ),
    ],
    examples: &["vrptw/R101", "vrptw/R103:fleet=13", "vrptw/RC101:objective=dimacs"],
    open,
};

/// To be this late is to be in time: decimals in a file do not add up exactly.
const ROUNDING: f64 = 1e-9;

/// What is to be made small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// The number of vehicles, and among equals the distance.
    Vehicles,
    /// The distance alone, every arc truncated to one decimal, as the DIMACS challenge counts.
    Dimacs,
    /// The distance alone.
    Distance,
}

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let given = options.choice("objective", &["default", "vehicles", "dimacs", "distance"])?;
    let given = [None, Some(Objective::Vehicles), Some(Objective::Dimacs), Some(Objective::Distance)][given];
    let fleet = options.number("fleet", 0, solomon::CUSTOMERS_MAX as u64)? as u32;
    options.finish(ENTRY.options)?;

    let (file, best) = match table::find(request.name) {
        Some((file, best)) => (Ok(file), Some(best)),
        None => (tables::parse(&request.read_file(ENTRY.name, ENTRY.names)?), None),
    };
    let opened = file.and_then(|file| {
        let usual = if file.timed { Objective::Vehicles } else { Objective::Distance };
        let objective = given.unwrap_or(usual);
        if objective == Objective::Dimacs && file.matrix.is_some() {
            let message =
                "objective=dimacs truncates lengths in the plane: this file has a matrix of its own".into();
            return Err(Fault { line: 1, message });
        }
        open_file(&file, objective, fleet, best)
    });
    opened.map_err(|fault| OpenError::Parse {
        path: request.name.to_string(),
        line: fault.line,
        message: fault.message,
    })
}

/// The instance in a file, in the smallest size that holds its places.
fn open_file(file: &Solomon, objective: Objective, fleet: u32, best: Option<Best>) -> Result<Opened, Fault> {
    Ok(Opened::Problem(match file.places.len() {
        0..=128 => Box::new(Vrptw::<2>::new(file, objective, fleet, best)?),
        129..=256 => Box::new(Vrptw::<4>::new(file, objective, fleet, best)?),
        _ => Box::new(Vrptw::<16>::new(file, objective, fleet, best)?),
    }))
}

/// An instance of up to 64 W - 1 customers. Places are numbered by their rank in the file's numbers; 0 is the depot.
/// Tables by two places `i` and `j` have their entry at `i * n + j`. Times and distances are in the file's units, or
/// in whole tenths of them (`scale` 10) when distances are truncated, so that sums of tenths are exact.
pub struct Vrptw<const W: usize> {
    name: String,
    objective: Objective,
    fleet: u32,
    capacity: u32,
    best_known: Option<f64>,
    /// One vehicle in the score: a power of ten no distance reaches.
    vehicle_cost: f64,
    scale: f64,
    n: usize,
    numbers: Vec<u32>,
    places: Vec<(f64, f64)>,
    demand: Vec<u32>,
    /// Service begins no earlier than this; at the depot, the start of the day.
    ready: Vec<f64>,
    /// Service begins no later than this, or the vehicle would be home too late.
    due: Vec<f64>,
    service: Vec<f64>,
    /// From `i` to `j`, in length and in time alike.
    distance: Vec<f64>,
    /// The same with rows and columns exchanged; empty where both ways are equally long.
    mirrored: Vec<f64>,
    /// The last moment to leave `i` for `j`.
    leave_by: Vec<f64>,
    everybody: Set<W>,
    select: Select<W>,
}

/// A tour so far. All else follows from `tour`, which is what states are compared by.
#[derive(Debug)]
pub struct State<const W: usize> {
    /// Where the vehicle is, and when it can leave.
    at: u16,
    time: f64,
    load: u32,
    /// Driven by all vehicles.
    distance: f64,
    vehicles: u32,
    /// Customers served by vehicles beyond the fleet.
    late: u32,
    left: Set<W>,
    tour: Vec<u16>,
}

impl<const W: usize> Clone for State<W> {
    fn clone(&self) -> Self {
        State { tour: self.tour.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut tour = std::mem::take(&mut self.tour);
        tour.clone_from(&source.tour);
        *self = State { tour, ..*source };
    }
}

impl<const W: usize> PartialEq for State<W> {
    fn eq(&self, other: &Self) -> bool {
        self.tour == other.tour
    }
}

impl<const W: usize> Eq for State<W> {}

impl<const W: usize> Hash for State<W> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.tour.hash(hasher);
    }
}

impl<const W: usize> Vrptw<W> {
    /// The tables of a file. `fleet` 0 is the file's own. Refuses customers that not even a vehicle of their own serves.
    fn new(file: &Solomon, objective: Objective, fleet: u32, best: Option<Best>) -> Result<Vrptw<W>, Fault> {
        let n = file.places.len();
        assert!(n <= 64 * W, "the size was chosen by the number of places");
        let scale = if objective == Objective::Dimacs { 10.0 } else { 1.0 };
        let times =
            |f: fn(&solomon::Place) -> f64| file.places.iter().map(|p| f(p) * scale).collect::<Vec<_>>();
        let mut due = times(|p| p.due);
        due.iter_mut().for_each(|due| *due += ROUNDING);
        let mut distance = vec![0.0; n * n];
        for (i, a) in file.places.iter().enumerate() {
            for (j, b) in file.places.iter().enumerate() {
                let squared = (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
                distance[i * n + j] = match objective {
                    _ if file.matrix.is_some() => {
                        file.matrix.as_ref().map_or(0.0, |matrix| matrix[i * n + j])
                    }
                    Objective::Vehicles | Objective::Distance => squared.sqrt(),
                    // The root of the hundredfold square: truncation must not see the rounding of a product.
                    Objective::Dimacs => (100.0 * squared).sqrt().floor(),
                };
            }
        }
        let skew = (0..n).any(|i| (0..i).any(|j| distance[i * n + j] != distance[j * n + i]));
        let mirrored = match skew {
            true => (0..n * n).map(|at| distance[at % n * n + at / n]).collect(),
            false => Vec::new(),
        };
        let (ready, service) = (times(|p| p.ready), times(|p| p.service));
        check_alone(file, &ready, &due, &service, &distance, scale)?;
        for j in 1..n {
            due[j] = due[j].min(due[0] - service[j] - distance[j * n]);
        }
        let mut leave_by = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                leave_by[i * n + j] = due[j] - distance[i * n + j];
            }
        }
        // `check_alone` has found everybody reachable from the depot; the rounding of a difference must not undo it.
        for last in &mut leave_by[..n] {
            *last = last.max(ready[0]);
        }
        // By the triangle inequality no set of routes is longer than one out and back to each customer; a matrix need not
        // know of it, and then twice the longest arc a customer is enough.
        let longest: f64 = match &file.matrix {
            None => distance[..n].iter().map(|d| 2.0 * d / scale).sum(),
            Some(matrix) => 2.0 * n as f64 * matrix.iter().fold(0.0, |a, &b| f64::max(a, b)),
        };
        let mut vehicle_cost = 10.0;
        while vehicle_cost <= longest {
            vehicle_cost *= 10.0;
        }
        let mut everybody = Set::EMPTY;
        for j in 1..n {
            everybody.insert(j);
        }
        let fleet = if fleet == 0 { file.fleet } else { fleet };
        let mut vrptw = Vrptw {
            name: file.name.clone(),
            objective,
            fleet,
            capacity: file.capacity,
            best_known: best.and_then(|best| match objective {
                Objective::Vehicles => (best.vehicles <= fleet)
                    .then_some(-(f64::from(best.vehicles) * vehicle_cost + best.distance)),
                Objective::Dimacs => (fleet >= file.fleet).then_some(-best.tenths),
                Objective::Distance => None,
            }),
            vehicle_cost,
            scale,
            n,
            numbers: file.places.iter().map(|p| p.number).collect(),
            places: file.places.iter().map(|p| (p.x, p.y)).collect(),
            demand: file.places.iter().map(|p| p.demand).collect(),
            ready,
            due,
            service,
            distance,
            mirrored,
            leave_by,
            everybody,
            select: Select::default(),
        };
        vrptw.select = Select::new(&vrptw);
        Ok(vrptw)
    }

    /// How far it is from every place to `j`.
    #[inline]
    fn towards(&self, j: usize) -> &[f64] {
        let table = if self.mirrored.is_empty() { &self.distance } else { &self.mirrored };
        &table[j * self.n..][..self.n]
    }

    /// Whether the vehicle can serve `j` next and be home in time.
    #[inline]
    fn reaches(&self, state: &State<W>, j: usize) -> bool {
        state.time <= self.leave_by[state.at as usize * self.n + j]
            && state.load + self.demand[j] <= self.capacity
    }

    /// When the vehicle leaves `j` if it goes there next.
    #[inline]
    fn leaves(&self, state: &State<W>, j: usize) -> f64 {
        let arrives = state.time + self.distance[state.at as usize * self.n + j];
        arrives.max(self.ready[j]) + self.service[j]
    }

    /// The distance driven, in the file's units.
    fn driven(&self, state: &State<W>) -> f64 {
        state.distance / self.scale
    }
}

/// Refuses a customer whom a vehicle of its own cannot serve.
fn check_alone(
    file: &Solomon,
    ready: &[f64],
    due: &[f64],
    service: &[f64],
    distance: &[f64],
    scale: f64,
) -> Result<(), Fault> {
    for (j, place) in file.places.iter().enumerate().skip(1) {
        let (number, line) = (place.number, place.line);
        let fault = |message| Err(Fault { line, message });
        if place.demand > file.capacity {
            return fault(format!(
                "customer {number} asks for {}: expected at most {}, what a vehicle carries",
                place.demand, file.capacity
            ));
        }
        let arrives = ready[0] + distance[j];
        if arrives > due[j] {
            return fault(format!(
                "customer {number} is due at {}: expected {:.2} or later, when a vehicle from the depot can be there",
                place.due,
                arrives / scale
            ));
        }
        let home = arrives.max(ready[j]) + service[j] + distance[j * file.places.len()];
        if home > due[0] {
            return fault(format!(
                "a vehicle that serves customer {number} is home at {:.2} at the earliest: expected {} or earlier, \
                 when the depot closes",
                home / scale,
                file.places[0].due
            ));
        }
    }
    Ok(())
}

impl<const W: usize> Domain for Vrptw<W> {
    type State = State<W>;
    type Move = u16; // a place; 0 goes home

    fn initial(&self) -> State<W> {
        State {
            at: 0,
            time: self.ready[0],
            load: 0,
            distance: 0.0,
            vehicles: 0,
            late: 0,
            left: self.everybody,
            tour: Vec::new(),
        }
    }

    fn moves(&self, state: &State<W>, out: &mut Vec<u16>) {
        state.left.each(|j| {
            if self.reaches(state, j) {
                out.push(j as u16);
            }
        });
        if state.at != 0 {
            out.push(0);
        }
    }

    fn play(&self, state: &mut State<W>, mv: u16) {
        let j = mv as usize;
        if j == 0 {
            state.time = self.ready[0];
            state.load = 0;
        } else {
            state.vehicles += u32::from(state.at == 0);
            state.late += u32::from(state.vehicles > self.fleet);
            state.time = self.leaves(state, j);
            state.load += self.demand[j];
            state.left.remove(j);
        }
        state.distance += self.distance[state.at as usize * self.n + j];
        state.at = mv;
        state.tour.push(mv);
    }

    fn show(&self, state: &State<W>) -> String {
        draw::text(self, state)
    }

    fn show_move(&self, _: &State<W>, mv: u16) -> String {
        self.numbers[mv as usize].to_string()
    }

    fn parse_move(&self, state: &State<W>, word: &str) -> Option<u16> {
        let number: u32 = word.parse().ok()?;
        let j = self.numbers.binary_search(&number).ok()?;
        let legal = if j == 0 { state.at != 0 } else { state.left.has(j) && self.reaches(state, j) };
        (legal && number.to_string() == word).then_some(j as u16)
    }

    fn draw(&self, state: &State<W>) -> Option<Picture> {
        Some(draw::picture(self, state))
    }
}

impl<const W: usize> Problem for Vrptw<W> {
    /// -(vehicles * vehicle_cost + distance), or -distance alone; a customer beyond the fleet costs a vehicle more.
    fn score(&self, state: &State<W>) -> f64 {
        let vehicles = if self.objective == Objective::Vehicles { state.vehicles } else { 0 };
        -(f64::from(vehicles + state.late) * self.vehicle_cost + self.driven(state))
    }

    /// The arc: from where to where.
    fn code(&self, state: &State<W>, mv: u16) -> u64 {
        u64::from(state.at) * self.n as u64 + u64::from(mv)
    }

    fn codes_max(&self) -> Option<usize> {
        Some(self.n * self.n)
    }

    fn bias(&self, state: &State<W>, mv: u16) -> f64 {
        self.select.bias(self, state, mv as usize)
    }

    fn choices(&self, state: &State<W>, out: &mut Choices<u16>) {
        self.select.choices(self, state, out);
    }

    fn improve(&self, end: &State<W>, _: &[u16], rng: &mut Rng) -> Option<Vec<u16>> {
        local::improve(self, end, rng)
    }

    fn specialist(&self, saved: Option<&[u8]>) -> Option<Box<dyn Specialist<u16> + '_>> {
        Some(Box::new(own::Own::new(self, saved)))
    }

    fn facts(&self, state: &State<W>) -> Vec<(&'static str, f64)> {
        let mut facts = vec![("vehicles", f64::from(state.vehicles)), ("distance", self.driven(state))];
        if state.late > 0 {
            facts.push(("customers_beyond_fleet", f64::from(state.late)));
        }
        facts
    }

    /// Vehicles, each customer beyond the fleet counted as one, and the distance, known to others with two decimals; or the
    /// distance alone, in tenths.
    fn measures(&self, score: f64) -> Vec<Measure> {
        let cost = -score;
        match self.objective {
            Objective::Dimacs if cost < self.vehicle_cost => vec![Measure::shortest("distance", cost, 0.05)],
            Objective::Distance if cost < self.vehicle_cost => {
                vec![Measure::shortest("distance", cost, 0.01)]
            }
            _ => {
                let vehicles = (cost / self.vehicle_cost).floor();
                let distance = cost - vehicles * self.vehicle_cost;
                let what =
                    if self.objective == Objective::Vehicles { "vehicles" } else { "customers_beyond_fleet" };
                vec![Measure::fewest(what, vehicles), Measure::shortest("distance", distance, 0.01)]
            }
        }
    }

    fn best_known(&self) -> Option<f64> {
        self.best_known
    }

    // Its own search finds the fewest vehicles of R110, R112 and RC106 in seconds, where NRPA with local search was one over
    // after a minute.
    fn suits(&self) -> Search {
        Search::Own(Own {})
    }
}

#[cfg(test)]
mod tests;
