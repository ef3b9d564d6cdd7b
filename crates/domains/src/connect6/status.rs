//! The thirteen statuses of a position that a job answers with, from a sure win of the first side (black) to a sure win
//! of the second (white), as in the job-level papers. Their names are ours; what proof numbers or UCT values a job tree
//! gives them is the tree's business.

use sortie_core::Side;

/// How a position stands, the best for the first side first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Black wins: proved.
    BlackWins,
    /// Black almost wins.
    Black4,
    /// A large advantage of black's.
    Black3,
    /// An advantage of black's.
    Black2,
    /// A slight advantage of black's.
    Black1,
    /// Even, and nobody threatens much.
    Stable,
    /// Even, but one side could attack.
    Unstable1,
    /// Even, but both sides could attack.
    Unstable2,
    /// A slight advantage of white's.
    White1,
    /// An advantage of white's.
    White2,
    /// A large advantage of white's.
    White3,
    /// White almost wins.
    White4,
    /// White wins: proved.
    WhiteWins,
}

impl Status {
    /// All of them, in order.
    pub const ALL: [Status; 13] = [
        Status::BlackWins,
        Status::Black4,
        Status::Black3,
        Status::Black2,
        Status::Black1,
        Status::Stable,
        Status::Unstable1,
        Status::Unstable2,
        Status::White1,
        Status::White2,
        Status::White3,
        Status::White4,
        Status::WhiteWins,
    ];

    /// The short name: `Bw`, `B4` to `B1`, `S`, `U1`, `U2`, `W1` to `W4`, `Ww`.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 13] =
            ["Bw", "B4", "B3", "B2", "B1", "S", "U1", "U2", "W1", "W2", "W3", "W4", "Ww"];
        NAMES[self as usize]
    }

    /// The status with that short name.
    pub fn parse(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }

    /// A proved win of a side.
    pub fn won_by(side: Side) -> Status {
        match side {
            Side::First => Status::BlackWins,
            Side::Second => Status::WhiteWins,
        }
    }

    /// What is not proved, from an evaluation for the first side in points; `attacks` sides could attack.
    pub(super) fn of(points: i32, attacks: usize) -> Status {
        let band = match points.abs() {
            0..20 => return [Status::Stable, Status::Unstable1, Status::Unstable2][attacks.min(2)],
            20..60 => 1,
            60..120 => 2,
            120..400 => 3,
            _ => 4,
        };
        let stable = Status::Stable as usize;
        Status::ALL[if points > 0 { stable - band } else { stable + 2 + band }]
    }

    /// The value for the first side, in `0..=1`.
    pub fn value(self) -> f64 {
        const VALUES: [f64; 13] = [1.0, 0.95, 0.85, 0.75, 0.65, 0.5, 0.5, 0.5, 0.35, 0.25, 0.15, 0.05, 0.0];
        VALUES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_ordered_named_and_symmetric() {
        for pair in Status::ALL.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].value() >= pair[1].value());
        }
        for status in Status::ALL {
            assert_eq!(Status::parse(status.name()), Some(status));
        }
        assert_eq!(Status::parse("B5"), None);
        for points in [0, 19, 20, 59, 60, 119, 120, 399, 400, 100_000] {
            let (one, other) = (Status::of(points, 0), Status::of(-points, 0));
            assert!((one.value() + other.value() - 1.0).abs() < 1e-9, "{points}: {one:?}, {other:?}");
        }
        assert_eq!(Status::of(3, 2), Status::Unstable2);
    }
}
