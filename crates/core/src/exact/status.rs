//! The thirteen ordered statuses by which a job says what it thinks of a position, and the numbers that each stands
//! for: data, not code. The defaults are those of the Connect6 work (Wu et al. 2013; docs/prove.md has the table).

use serde::{Deserialize, Serialize};

/// What a worker thinks of a position, seen by the first side (Black): an index into `Statuses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The first side wins.
    Bw,
    /// It has all but won.
    B4,
    /// It is far ahead.
    B3,
    /// It is ahead.
    B2,
    /// It is a little ahead.
    B1,
    /// Even and quiet.
    Stable,
    /// Even and not quiet.
    Unstable1,
    /// Even and wild.
    Unstable2,
    /// The second side is a little ahead.
    W1,
    /// It is ahead.
    W2,
    /// It is far ahead.
    W3,
    /// It has all but won.
    W4,
    /// The second side wins.
    Ww,
}

impl Status {
    /// All of them, the best for the first side first.
    pub const ALL: [Status; 13] = [
        Status::Bw,
        Status::B4,
        Status::B3,
        Status::B2,
        Status::B1,
        Status::Stable,
        Status::Unstable1,
        Status::Unstable2,
        Status::W1,
        Status::W2,
        Status::W3,
        Status::W4,
        Status::Ww,
    ];
}

/// What each status stands for, seen by the first side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Statuses {
    /// `proof[s]` is the proof number of status `s`: the work to show that the first side gets what is asked.
    pub proof: [u32; 13],
    /// `disproof[s]` is its disproof number.
    pub disproof: [u32; 13],
    /// `value[s]` is its value for JL-UCT and JL-ABS, in `0..=1`.
    pub value: [f64; 13],
}

impl Default for Statuses {
    fn default() -> Self {
        // A mere opinion is never certain, so Bw and Ww, when nothing is proved, count as B4 and W4.
        Statuses {
            proof: [1, 1, 2, 3, 4, 6, 5, 4, 8, 10, 12, 18, 18],
            disproof: [18, 18, 12, 10, 8, 6, 5, 4, 4, 3, 2, 1, 1],
            value: [1.0, 0.95, 0.85, 0.75, 0.65, 0.5, 0.5, 0.5, 0.35, 0.25, 0.15, 0.05, 0.0],
        }
    }
}

impl Statuses {
    /// What is wrong with a table from outside.
    pub fn check(&self) -> Result<(), String> {
        if self.proof.iter().chain(&self.disproof).any(|n| !(1..=1_000_000).contains(n)) {
            return Err("proof and disproof: expected thirteen numbers from 1 to 1000000 each".into());
        }
        if self.value.iter().any(|v| !(0.0..=1.0).contains(v)) || self.value.windows(2).any(|w| w[0] < w[1]) {
            return Err("value: expected thirteen numbers from 1 down to 0".into());
        }
        Ok(())
    }

    /// The status whose value is nearest, the quiet one of equals.
    pub fn nearest(&self, value: f64) -> Status {
        let far = |s: &Status| (self.value[*s as usize] - value).abs();
        let best = Status::ALL.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        *best.expect("there are thirteen")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_table_is_sound_and_mirrored() {
        let table = Statuses::default();
        assert_eq!(table.check(), Ok(()));
        for s in [0, 1, 2, 3, 4, 5] {
            let mirror = if s == 5 { 5 } else { 12 - s };
            assert_eq!(table.proof[s], table.disproof[mirror]);
            assert!((table.value[s] + table.value[mirror] - 1.0).abs() < 1e-12);
        }
        assert_eq!(
            [0.5, 0.97, 0.1, 0.0].map(|v| table.nearest(v)),
            [Status::Stable, Status::B4, Status::W3, Status::Ww]
        );
        assert!(Statuses { proof: [0; 13], ..table.clone() }.check().is_err());
        assert!(
            Statuses { value: [0.5, 0.6, 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.], ..table }
                .check()
                .is_err()
        );
    }
}
