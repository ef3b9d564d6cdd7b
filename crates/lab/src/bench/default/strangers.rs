//! Problems of strangers, with nothing but moves, play, score and a code: what the default makes of what it has never seen.

use sortie_core::{Domain, Problem, Rng};

/// Places in the plane that one who travels sees once each; the score is the length of the way there and back, negated.
pub struct Tour {
    places: Vec<(f64, f64)>,
}

impl Tour {
    pub fn new(n: usize) -> Tour {
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
pub struct Knapsack {
    things: Vec<(u32, u32)>,
    most: u32,
}

impl Knapsack {
    pub fn new(n: usize) -> Knapsack {
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
pub struct Queens {
    pub n: u8,
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
pub struct Word {
    pub n: u32,
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
