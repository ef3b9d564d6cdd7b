//! What a position is worth under perfect play, and how much of that is known.

use crate::domain::{Outcome, Side};
use serde::{Deserialize, Serialize};

/// What a position is worth under perfect play. Seen by the first side unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// Lost.
    Loss,
    /// A draw.
    Draw,
    /// Won.
    Win,
}

impl Value {
    /// The value of an end.
    pub fn of(outcome: Outcome) -> Value {
        match outcome {
            Outcome::Win(Side::First) => Value::Win,
            Outcome::Win(Side::Second) => Value::Loss,
            Outcome::Draw => Value::Draw,
        }
    }

    /// The outcome that has this value.
    pub fn outcome(self) -> Outcome {
        match self {
            Value::Win => Outcome::Win(Side::First),
            Value::Loss => Outcome::Win(Side::Second),
            Value::Draw => Outcome::Draw,
        }
    }

    /// The first side's value as `side` sees it, or the other way round.
    pub fn view(self, side: Side) -> Value {
        match (side, self) {
            (Side::First, value) => value,
            (Side::Second, Value::Loss) => Value::Win,
            (Side::Second, Value::Draw) => Value::Draw,
            (Side::Second, Value::Win) => Value::Loss,
        }
    }

    /// In `0..=1`.
    pub fn number(self) -> f64 {
        self.outcome().value()
    }
}

/// A value is within these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bounds {
    /// At least this.
    pub low: Value,
    /// At most this.
    pub high: Value,
}

impl Bounds {
    /// Nothing is known.
    pub const OPEN: Bounds = Bounds { low: Value::Loss, high: Value::Win };

    /// All is known.
    pub fn exactly(value: Value) -> Bounds {
        Bounds { low: value, high: value }
    }

    /// The value, where all is known.
    pub fn value(self) -> Option<Value> {
        (self.low == self.high).then_some(self.low)
    }

    /// Whether the value is at least `ask`: yes, no, or not known yet.
    pub fn decides(self, ask: Value) -> Option<bool> {
        if self.low >= ask {
            Some(true)
        } else if self.high < ask {
            Some(false)
        } else {
            None
        }
    }

    /// What both say. `None` if they contradict each other.
    pub fn meet(self, other: Bounds) -> Option<Bounds> {
        let both = Bounds { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// The same as `side` sees it, or the other way round.
    pub fn view(self, side: Side) -> Bounds {
        match side {
            Side::First => self,
            Side::Second => Bounds { low: self.high.view(side), high: self.low.view(side) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Value::{Draw, Loss, Win};

    #[test]
    fn bounds_decide_meet_and_turn_round() {
        let not_lost = Bounds { low: Draw, high: Win };
        assert_eq!((not_lost.decides(Draw), not_lost.decides(Win)), (Some(true), None));
        assert_eq!(not_lost.view(Side::Second), Bounds { low: Loss, high: Draw });
        assert_eq!(not_lost.view(Side::Second).view(Side::Second), not_lost);
        assert_eq!(not_lost.meet(Bounds { low: Loss, high: Draw }), Some(Bounds::exactly(Draw)));
        assert_eq!(not_lost.meet(Bounds::exactly(Loss)), None);
        for value in [Loss, Draw, Win] {
            assert_eq!(Value::of(value.outcome()), value);
        }
    }
}
