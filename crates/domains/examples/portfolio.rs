//! What a search does that nobody chose, beside every search that has a name, at equal CPU time: on instances and seeds
//! that were used to choose nothing. `cargo run --release -p sortie-domains --example portfolio -- 30 1` takes 30 CPU seconds
//! a search and seed 1; further words are parts of names, and only instances with one of them are run.
//!
//! A row is an instance: the default's score, the best of the others and whose it is, and whether the default is within
//! 1 % or one unit of it. The last four are problems of strangers, with nothing but moves, play and score.

use sortie_core::search::{Auto, BeamNrpa, BeamSearch, HdNrpa, Own};
use sortie_core::{
    AnyProblem, BestOf, Control, Domain, Limits, Nmcs, Nrpa, Opened, Problem, Rng, Sample, Search, measure,
};
use sortie_domains::open;
use std::sync::atomic::AtomicBool;

const INSTANCES: [&str; 26] = [
    "vrptw/R104",
    "vrptw/R108",
    "vrptw/R111",
    "vrptw/R203",
    "vrptw/R207",
    "vrptw/C103",
    "vrptw/C204",
    "vrptw/RC103",
    "vrptw/RC107",
    "vrptw/RC202",
    "vrptw/RC204",
    "vrptw/RC208",
    "samegame/15x15x5-9001",
    "samegame/15x15x5-9002",
    "samegame/15x15x5-9003",
    "samegame/15x15x5-9004",
    "samegame/15x15x5-9005",
    "samegame/15x15x5-9006",
    "samegame/15x15x5-9007",
    "samegame/15x15x5-9008",
    "morpion/5D",
    "morpion/5T",
    "snake/7",
    "snake/9-3",
    "coil/7",
    "coil/10-4",
];
const MORE: [&str; 4] = ["snake/8", "snake/8-3", "coil/8", "schur/5"];

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = |default: f64| words.next().and_then(|word| word.parse().ok()).unwrap_or(default);
    let (seconds, seed) = (number(5.0), number(1.0) as u64);
    let parts: Vec<String> = words.collect();
    let wanted = |name: &str| parts.is_empty() || parts.iter().any(|part| name.contains(part.as_str()));
    println!("{seconds} CPU seconds a search, one thread, seed {seed}\n");
    println!("{:24} {:>26}  {:>26}  {:10} within", "instance", "default", "best of the others", "by");
    let (mut rows, mut within) = (0, 0);
    let mut row = |name: &str, problem: &dyn AnyProblem| {
        if wanted(name) {
            rows += 1;
            within += u32::from(compare(name, problem, seconds, seed));
        }
    };
    for name in INSTANCES.iter().chain(&MORE) {
        match open(name, &|_| Err("no files".into())) {
            Ok(Opened::Problem(problem)) => row(name, &*problem),
            _ => println!("{name}: no such problem"),
        }
    }
    row("stranger/tour", &Tour::new(60));
    row("stranger/knapsack", &Knapsack::new(80));
    row("stranger/queens", &Queens { n: 40 });
    row("stranger/word", &Word { n: 64 });
    println!("\nwithin 1 % or one unit of the best of the others: {within} of {rows}");
}

/// The searches by name, as they are without parameters, and what the default was before it was several.
fn others() -> Vec<(&'static str, Search)> {
    let before = Nrpa { level: 5, repetitions: 8, improve: true, ..Nrpa::default() };
    vec![
        ("nrpa", Search::Nrpa(Nrpa::default())),
        ("nrpa 5", Search::Nrpa(before)),
        ("hd-nrpa", Search::HdNrpa(HdNrpa::default())),
        ("beam-nrpa", Search::BeamNrpa(BeamNrpa::default())),
        ("nmcs", Search::Nmcs(Nmcs::default())),
        ("beam", Search::Beam(BeamSearch::default())),
        ("own", Search::Own(Own::default())),
        ("sample", Search::Sample(Sample::default())),
    ]
}

fn compare(name: &str, problem: &dyn AnyProblem, seconds: f64, seed: u64) -> bool {
    let default = best(problem, problem.suits(), seconds, seed);
    let others = others().into_iter().map(|(name, search)| (best(problem, search, seconds, seed), name));
    let (score, by) = others.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are some");
    let within = is_within(problem, default, score);
    let told = |score| measure::told(&problem.measures(score));
    println!(
        "{name:24} {:>26}  {:>26}  {by:10} {}",
        told(default),
        told(score),
        if within { "yes" } else { "NO" }
    );
    within
}

/// Aim by aim: what comes before must be equal, the first that differs within 1 % or one unit. A vehicle more is no unit.
fn is_within(problem: &dyn AnyProblem, default: f64, other: f64) -> bool {
    let (ours, theirs) = (problem.measures(default), problem.measures(other));
    for (i, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        let behind = a.behind(b);
        if behind < 0.0 {
            return true;
        }
        let last = i + 1 == ours.len();
        if behind > 0.0 {
            let units = a.value.fract() == 0.0 && b.value.fract() == 0.0;
            return last && (units && behind <= 1.0 || a.gap(b) <= 1.0);
        }
    }
    true
}

fn best(problem: &dyn AnyProblem, search: Search, seconds: f64, seed: u64) -> f64 {
    let stop = AtomicBool::new(false);
    let limits = Limits { cpu_seconds: Some(seconds), ..Limits::default() };
    let says = std::env::var_os("SORTIE_SAYS").is_some() && matches!(search, Search::Auto(Auto { .. }));
    let tell = |event| match event {
        sortie_core::Event::Course { text, .. } if says => eprintln!("  {text}"),
        _ => {}
    };
    let control = Control::new(limits, &stop, &tell);
    let found = problem.solve(&BestOf { search, seed, streams: 1, threads: 1 }, &control, Vec::new());
    found.best.map_or(f64::NEG_INFINITY, |best| best.score)
}

/// Places in the plane that one who travels sees once each; the score is the length of the way there and back, negated.
struct Tour {
    places: Vec<(f64, f64)>,
}

impl Tour {
    fn new(n: usize) -> Tour {
        let mut rng = Rng::new(4242, 0);
        Tour { places: (0..n).map(|_| (100.0 * rng.unit(), 100.0 * rng.unit())).collect() }
    }

    fn apart(&self, a: usize, b: usize) -> f64 {
        let ((ax, ay), (bx, by)) = (self.places[a], self.places[b]);
        (ax - bx).hypot(ay - by)
    }
}

impl Domain for Tour {
    type State = Vec<u8>;
    type Move = u8;
    fn initial(&self) -> Vec<u8> {
        vec![0]
    }
    fn moves(&self, state: &Vec<u8>, out: &mut Vec<u8>) {
        out.extend((0..self.places.len() as u8).filter(|place| !state.contains(place)));
    }
    fn play(&self, state: &mut Vec<u8>, mv: u8) {
        state.push(mv);
    }
    fn show(&self, state: &Vec<u8>) -> String {
        format!("{state:?}")
    }
    fn show_move(&self, _: &Vec<u8>, mv: u8) -> String {
        mv.to_string()
    }
}

impl Problem for Tour {
    fn score(&self, state: &Vec<u8>) -> f64 {
        let next = state.iter().cycle().skip(1);
        -state.iter().zip(next).map(|(&a, &b)| self.apart(a.into(), b.into())).sum::<f64>()
    }
    fn code(&self, state: &Vec<u8>, mv: u8) -> u64 {
        u64::from(state[state.len() - 1]) << 8 | u64::from(mv)
    }
}

/// Things to take or to leave, one after the other, that must not be too heavy together.
struct Knapsack {
    things: Vec<(u32, u32)>,
    most: u32,
}

impl Knapsack {
    fn new(n: usize) -> Knapsack {
        let mut rng = Rng::new(77, 0);
        let thing = |rng: &mut Rng| {
            let weight = 20 + rng.below(80) as u32;
            (weight, weight + 10 + rng.below(12) as u32)
        };
        let things: Vec<(u32, u32)> = (0..n).map(|_| thing(&mut rng)).collect();
        Knapsack { most: things.iter().map(|thing| thing.0).sum::<u32>() / 3, things }
    }
}

impl Domain for Knapsack {
    type State = (usize, u32, u32); // things looked at, weight, worth
    type Move = bool;
    fn initial(&self) -> Self::State {
        (0, 0, 0)
    }
    fn moves(&self, state: &Self::State, out: &mut Vec<bool>) {
        let Some(thing) = self.things.get(state.0) else { return };
        out.push(false);
        if state.1 + thing.0 <= self.most {
            out.push(true);
        }
    }
    fn play(&self, state: &mut Self::State, take: bool) {
        if take {
            state.1 += self.things[state.0].0;
            state.2 += self.things[state.0].1;
        }
        state.0 += 1;
    }
    fn show(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
    fn show_move(&self, _: &Self::State, take: bool) -> String {
        if take { "take".into() } else { "leave".into() }
    }
}

impl Problem for Knapsack {
    fn score(&self, state: &Self::State) -> f64 {
        state.2.into()
    }
    fn code(&self, state: &Self::State, take: bool) -> u64 {
        2 * state.0 as u64 + u64::from(take)
    }
}

/// Queens on a board, column by column, none of which attacks another, for as long as there is a place.
struct Queens {
    n: u8,
}

impl Domain for Queens {
    type State = Vec<u8>;
    type Move = u8;
    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }
    fn moves(&self, state: &Vec<u8>, out: &mut Vec<u8>) {
        if state.len() == usize::from(self.n) {
            return;
        }
        let free = |row: &u8| {
            let attacked = |(column, &queen): (usize, &u8)| {
                queen == *row || usize::from(queen.abs_diff(*row)) == state.len() - column
            };
            !state.iter().enumerate().any(attacked)
        };
        out.extend((0..self.n).filter(free));
    }
    fn play(&self, state: &mut Vec<u8>, mv: u8) {
        state.push(mv);
    }
    fn show(&self, state: &Vec<u8>) -> String {
        format!("{state:?}")
    }
    fn show_move(&self, _: &Vec<u8>, mv: u8) -> String {
        mv.to_string()
    }
}

impl Problem for Queens {
    fn score(&self, state: &Vec<u8>) -> f64 {
        state.len() as f64
    }
    fn code(&self, state: &Vec<u8>, mv: u8) -> u64 {
        (state.len() as u64) << 8 | u64::from(mv)
    }
}

/// Signs of +1 and -1 in a row; the score is low autocorrelation (Bernasconi's model): n^2 / 2E, the merit factor.
struct Word {
    n: u32,
}

impl Domain for Word {
    type State = (u32, u64);
    type Move = bool;
    fn initial(&self) -> (u32, u64) {
        (0, 0)
    }
    fn moves(&self, state: &(u32, u64), out: &mut Vec<bool>) {
        if state.0 < self.n {
            out.extend([false, true]);
        }
    }
    fn play(&self, state: &mut (u32, u64), one: bool) {
        state.1 = state.1 << 1 | u64::from(one);
        state.0 += 1;
    }
    fn show(&self, state: &(u32, u64)) -> String {
        format!("{:b}", state.1)
    }
    fn show_move(&self, _: &(u32, u64), one: bool) -> String {
        u8::from(one).to_string()
    }
}

impl Problem for Word {
    fn score(&self, state: &(u32, u64)) -> f64 {
        let lag = |k: u32| {
            let both = self.n - k;
            let mask = if both == 64 { u64::MAX } else { (1 << both) - 1 };
            let differ = ((state.1 ^ (state.1 >> k)) & mask).count_ones();
            f64::from(both) - 2.0 * f64::from(differ)
        };
        let energy: f64 = (1..self.n).map(|k| lag(k) * lag(k)).sum();
        f64::from(self.n * self.n) / (2.0 * energy)
    }
    fn code(&self, state: &(u32, u64), one: bool) -> u64 {
        u64::from(state.0) << 4 | (state.1 & 7) << 1 | u64::from(one)
    }
}
