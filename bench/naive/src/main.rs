//! NRPA on SameGame as a competent programmer writes it in an afternoon: flat arrays, groups found by flooding after every
//! move, one open-addressed table of weights that is copied at every level, the codes of a playout kept so that adapting
//! need not play it again. No bit boards, nothing incremental, `exp` where a weight is used. It prints the playouts per
//! CPU second of level-2 searches with 100 iterations and alpha 1 on the first standard board, under the same selective
//! policy as `lab bench playouts samegame/1 --level 2`, and the mean of the scores. Usage: naive BOARD-FILE [runs]

const SIDE: usize = 15;
/// A rim of empty cells around the board: nobody asks whether a neighbour is on it.
const ROW: usize = SIDE + 2;
const CELLS: usize = ROW * ROW;
const EMPTY: u8 = 0;
const PLACES: usize = 1 << 14;
const ITERATIONS: usize = 100;

#[derive(Clone)]
struct Board {
    /// Column by column, bottom first; colours from 1.
    cells: [u8; CELLS],
    moves: usize,
    points: f64,
}

/// The groups of two or more of a board: their cells one after the other.
#[derive(Default)]
struct Groups {
    cells: Vec<u16>,
    /// Where in `cells` each ends, with its colour and its code.
    groups: Vec<(usize, u8, u64)>,
    /// How many groups and lone cells of the colour that is kept back there are.
    tabu_parts: usize,
}

#[derive(Clone)]
struct Policy {
    codes: Vec<u64>,
    weights: Vec<f64>,
}

/// A sequence: of each step the codes on offer, the one chosen first.
#[derive(Clone, Default)]
struct Sequence {
    codes: Vec<u64>,
    ends: Vec<usize>,
    score: f64,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Policy {
    fn place(&self, code: u64) -> usize {
        let mut place = code as usize % PLACES;
        while self.codes[place] != code && self.codes[place] != 0 {
            place = (place + 1) % PLACES;
        }
        place
    }

    fn weight(&self, code: u64) -> f64 {
        self.weights[self.place(code)]
    }

    fn add(&mut self, code: u64, delta: f64) {
        let place = self.place(code);
        self.codes[place] = code;
        self.weights[place] += delta;
    }
}

impl Board {
    fn find_groups(&self, zobrist: &[[u64; 10]], tabu: u8, found: &mut Groups) {
        found.cells.clear();
        found.groups.clear();
        found.tabu_parts = 0;
        let mut seen = [false; CELLS];
        for start in ROW..CELLS - ROW {
            let colour = self.cells[start];
            if colour == EMPTY || seen[start] {
                continue;
            }
            let first = found.cells.len();
            let (mut next, mut code) = (first, 0);
            seen[start] = true;
            found.cells.push(start as u16);
            while next < found.cells.len() {
                let cell = found.cells[next] as usize;
                next += 1;
                code ^= zobrist[cell][colour as usize];
                for other in [cell - 1, cell + 1, cell - ROW, cell + ROW] {
                    if self.cells[other] == colour && !seen[other] {
                        seen[other] = true;
                        found.cells.push(other as u16);
                    }
                }
            }
            found.tabu_parts += usize::from(colour == tabu);
            if next - first > 1 {
                found.groups.push((next, colour, code));
            } else {
                found.cells.pop();
            }
        }
    }

    fn play(&mut self, group: &[u16]) {
        for &cell in group {
            self.cells[cell as usize] = EMPTY;
        }
        let mut to = 1;
        for column in 1..=SIDE {
            let mut kept = [EMPTY; ROW];
            let mut height = 1;
            for row in 1..=SIDE {
                let cell = self.cells[column * ROW + row];
                kept[height] = cell;
                height += usize::from(cell != EMPTY);
            }
            kept[height.min(SIDE + 1)] = EMPTY;
            if height > 1 {
                self.cells[to * ROW..(to + 1) * ROW].copy_from_slice(&kept);
                to += 1;
            }
        }
        self.cells[to * ROW..(SIDE + 1) * ROW].fill(EMPTY);
        self.moves += 1;
        self.points += ((group.len() - 2) * (group.len() - 2)) as f64;
        if self.cells[ROW + 1] == EMPTY {
            self.points += 1000.0;
        }
    }
}

struct Search {
    start: Board,
    tabu: u8,
    zobrist: Vec<[u64; 10]>,
    random: Random,
    groups: Groups,
    choices: Vec<usize>,
    weights: Vec<f64>,
    playouts: u64,
}

impl Search {
    fn playout(&mut self, policy: &Policy, sequence: &mut Sequence) {
        let mut board = self.start.clone();
        sequence.codes.clear();
        sequence.ends.clear();
        loop {
            board.find_groups(&self.zobrist, self.tabu, &mut self.groups);
            let groups = &self.groups.groups;
            let begin = |i: usize| if i == 0 { 0 } else { groups[i - 1].0 };
            self.choices.clear();
            self.choices.extend((0..groups.len()).filter(|&i| {
                let pair = groups[i].0 - begin(i) == 2 && board.moves > 10;
                self.groups.tabu_parts == 1 || groups[i].1 != self.tabu || pair
            }));
            if self.choices.is_empty() {
                self.choices.extend(0..groups.len());
            }
            if self.choices.is_empty() {
                sequence.score = board.points;
                self.playouts += 1;
                return;
            }
            self.weights.clear();
            self.weights.extend(self.choices.iter().map(|&i| policy.weight(groups[i].2).exp()));
            let mut left = self.random.unit() * self.weights.iter().sum::<f64>();
            let mut chosen = self.choices.len() - 1;
            for (i, weight) in self.weights.iter().enumerate() {
                left -= weight;
                if left < 0.0 {
                    chosen = i;
                    break;
                }
            }
            self.choices.swap(0, chosen);
            sequence.codes.extend(self.choices.iter().map(|&i| groups[i].2));
            sequence.ends.push(sequence.codes.len());
            let i = self.choices[0];
            board.play(&self.groups.cells[begin(i)..groups[i].0]);
        }
    }

    fn adapt(&mut self, policy: &mut Policy, old: &mut Policy, sequence: &Sequence) {
        old.clone_from(policy);
        let mut start = 0;
        for &end in &sequence.ends {
            let codes = &sequence.codes[start..end];
            start = end;
            self.weights.clear();
            self.weights.extend(codes.iter().map(|&code| old.weight(code).exp()));
            let z: f64 = self.weights.iter().sum();
            policy.add(codes[0], 1.0);
            for (&code, weight) in codes.iter().zip(&self.weights) {
                policy.add(code, -weight / z);
            }
        }
    }

    fn nrpa(&mut self, level: u32, policy: &Policy, best: &mut Sequence) {
        if level == 0 {
            return self.playout(policy, best);
        }
        let (mut policy, mut old) = (policy.clone(), policy.clone());
        best.score = f64::NEG_INFINITY;
        let mut below = Sequence::default();
        for _ in 0..ITERATIONS {
            self.nrpa(level - 1, &policy, &mut below);
            if below.score >= best.score {
                std::mem::swap(&mut below, best);
            }
            self.adapt(&mut policy, &mut old, best);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), runs) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: naive BOARD-FILE [runs]");
        std::process::exit(2);
    };
    let runs: u64 = runs.and_then(|n| n.parse().ok()).unwrap_or(2);
    let text = std::fs::read_to_string(&path).expect("a readable board file");
    let rows: Vec<&str> =
        text.lines().filter(|line| line.len() == SIDE && line.bytes().all(|b| b.is_ascii_digit())).take(SIDE).collect();
    let mut start = Board { cells: [EMPTY; CELLS], moves: 0, points: 0.0 };
    let mut counts = [0; 10];
    for (row, line) in rows.iter().rev().enumerate() {
        for (column, digit) in line.bytes().enumerate() {
            let colour = digit - b'0' + 1;
            start.cells[(column + 1) * ROW + row + 1] = colour;
            counts[colour as usize % 10] += 1;
        }
    }
    let tabu = (0..10).rev().max_by_key(|&colour| counts[colour]).expect("ten colours") as u8;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let zobrist = (0..CELLS).map(|_| std::array::from_fn(|_| random.next())).collect();
    let mut search = Search {
        start,
        tabu,
        zobrist,
        random,
        groups: Groups::default(),
        choices: Vec::new(),
        weights: Vec::new(),
        playouts: 0,
    };
    let none = Policy { codes: vec![0; PLACES], weights: vec![0.0; PLACES] };
    let (mut best, mut sum) = (Sequence::default(), 0.0);
    let begun = cpu_seconds();
    for _ in 0..runs {
        search.nrpa(2, &none, &mut best);
        sum += best.score;
    }
    let rate = search.playouts as f64 / (cpu_seconds() - begun);
    println!("{rate:.0} playouts per CPU second, mean score {:.0}", sum / runs as f64);
}

/// CPU time of this process, from the kernel's own count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).expect("nanoseconds first") / 1e9
}
