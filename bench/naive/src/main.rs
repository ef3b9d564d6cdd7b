//! NRPA on SameGame, written the plain way: all groups found again by flooding after every move, a hash map of
//! weights that is copied at every level, `exp` in the playout, moves generated again when adapting. It prints the
//! playouts per CPU second of level-2 searches with 100 iterations on the first standard board, under the same
//! selective policy as `lab bench playouts samegame/1 --level 2`. Usage: naive BOARD-FILE [runs]

use std::collections::HashMap;

const SIDE: usize = 15;
const EMPTY: u8 = 9;

#[derive(Clone)]
struct Board {
    cells: [u8; SIDE * SIDE], // column by column, bottom first
    moves: usize,
    points: f64,
}

type Move = Vec<usize>;
type Policy = HashMap<u64, f64>;

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

impl Board {
    fn groups(&self) -> Vec<Move> {
        let mut seen = [false; SIDE * SIDE];
        let mut groups = Vec::new();
        for start in 0..SIDE * SIDE {
            if seen[start] || self.cells[start] == EMPTY {
                continue;
            }
            let mut group = vec![start];
            seen[start] = true;
            let mut i = 0;
            while i < group.len() {
                let cell = group[i];
                let (column, row) = (cell / SIDE, cell % SIDE);
                let mut look = |other: usize| {
                    if !seen[other] && self.cells[other] == self.cells[start] {
                        seen[other] = true;
                        group.push(other);
                    }
                };
                if column > 0 {
                    look(cell - SIDE);
                }
                if column + 1 < SIDE {
                    look(cell + SIDE);
                }
                if row > 0 {
                    look(cell - 1);
                }
                if row + 1 < SIDE {
                    look(cell + 1);
                }
                i += 1;
            }
            groups.push(group);
        }
        groups
    }

    fn choices(&self, tabu: u8) -> Vec<Move> {
        let groups = self.groups();
        let single = groups.iter().filter(|group| self.cells[group[0]] == tabu).count() == 1;
        let legal: Vec<Move> = groups.into_iter().filter(|group| group.len() > 1).collect();
        let allowed = |group: &&Move| {
            single || self.cells[group[0]] != tabu || (group.len() == 2 && self.moves > 10)
        };
        let offered: Vec<Move> = legal.iter().filter(allowed).cloned().collect();
        if offered.is_empty() { legal } else { offered }
    }

    fn play(&mut self, group: &Move) {
        for &cell in group {
            self.cells[cell] = EMPTY;
        }
        let mut columns: Vec<Vec<u8>> = self
            .cells
            .chunks(SIDE)
            .map(|column| column.iter().copied().filter(|&cell| cell != EMPTY).collect::<Vec<u8>>())
            .filter(|column| !column.is_empty())
            .collect();
        columns.resize(SIDE, Vec::new());
        for (column, cells) in columns.iter().enumerate() {
            for row in 0..SIDE {
                self.cells[column * SIDE + row] = cells.get(row).copied().unwrap_or(EMPTY);
            }
        }
        self.moves += 1;
        self.points += ((group.len() - 2) * (group.len() - 2)) as f64;
        if self.cells[0] == EMPTY {
            self.points += 1000.0;
        }
    }
}

struct Search {
    start: Board,
    tabu: u8,
    zobrist: Vec<u64>,
    random: Random,
    playouts: u64,
}

impl Search {
    fn code(&self, board: &Board, group: &Move) -> u64 {
        group.iter().fold(0, |code, &cell| code ^ self.zobrist[cell * 8 + board.cells[cell] as usize])
    }

    fn playout(&mut self, policy: &Policy) -> (f64, Vec<Move>) {
        let mut board = self.start.clone();
        let mut sequence = Vec::new();
        loop {
            let choices = board.choices(self.tabu);
            if choices.is_empty() {
                self.playouts += 1;
                return (board.points, sequence);
            }
            let weight = |group: &Move| policy.get(&self.code(&board, group)).copied().unwrap_or(0.0).exp();
            let weights: Vec<f64> = choices.iter().map(weight).collect();
            let mut left = self.random.unit() * weights.iter().sum::<f64>();
            let mut chosen = choices.len() - 1;
            for (i, weight) in weights.iter().enumerate() {
                left -= weight;
                if left < 0.0 {
                    chosen = i;
                    break;
                }
            }
            board.play(&choices[chosen]);
            sequence.push(choices[chosen].clone());
        }
    }

    fn adapt(&self, policy: &mut Policy, sequence: &[Move]) {
        let old = policy.clone();
        let mut board = self.start.clone();
        for mv in sequence {
            let codes: Vec<u64> = board.choices(self.tabu).iter().map(|group| self.code(&board, group)).collect();
            let weight = |code: &u64| old.get(code).copied().unwrap_or(0.0).exp();
            let z: f64 = codes.iter().map(weight).sum();
            *policy.entry(self.code(&board, mv)).or_default() += 1.0;
            for code in &codes {
                *policy.entry(*code).or_default() -= weight(code) / z;
            }
            board.play(mv);
        }
    }

    fn nrpa(&mut self, level: u32, policy: &Policy) -> (f64, Vec<Move>) {
        if level == 0 {
            return self.playout(policy);
        }
        let mut policy = policy.clone();
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for _ in 0..100 {
            let result = self.nrpa(level - 1, &policy);
            if result.0 >= best.0 {
                best = result;
            }
            self.adapt(&mut policy, &best.1);
        }
        best
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
    let mut start = Board { cells: [EMPTY; SIDE * SIDE], moves: 0, points: 0.0 };
    let mut counts = [0; 10];
    for (row, line) in rows.iter().rev().enumerate() {
        for (column, digit) in line.bytes().enumerate() {
            start.cells[column * SIDE + row] = digit - b'0';
            counts[(digit - b'0') as usize] += 1;
        }
    }
    let tabu = (0..10).rev().max_by_key(|&colour| counts[colour]).expect("ten colours") as u8;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let zobrist = (0..SIDE * SIDE * 8).map(|_| random.next()).collect();
    let mut search = Search { start, tabu, zobrist, random, playouts: 0 };
    let begin = cpu_seconds();
    let scores: Vec<f64> = (0..runs).map(|_| search.nrpa(2, &Policy::new()).0).collect();
    let seconds = cpu_seconds() - begin;
    println!(
        "{:.0} playouts per CPU second, mean score {:.0} of {runs} runs",
        search.playouts as f64 / seconds,
        scores.iter().sum::<f64>() / runs as f64
    );
}

/// CPU time of this process, from the kernel's own count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|n| n.parse::<f64>().ok()).expect("nanoseconds first") / 1e9
}
