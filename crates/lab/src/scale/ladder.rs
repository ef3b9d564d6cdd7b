//! Strength as a number of playouts: Elo over the binary logarithm of the serial searcher's playouts, and the way back.
//!
//! Each rung is a match of the serial searcher against itself with twice the playouts. What a doubling is worth is taken
//! to fall (or rise) evenly from rung to rung: a line through the rungs, each weighed by its error, level unless the games
//! say otherwise; its integral is the curve. Intervals come from drawing the results of all matches anew, a thousand times.

use sortie_core::Rng;
use sortie_jobs::contest::{Interval, Pairs, elo_of};
use sortie_jobs::stats::normal_quantile;

/// No doubling is taken to be worth less: the curve must rise to be turned round.
const ELO_MIN: f64 = 5.0;
/// How much the worth of a doubling is believed to change from one to the next before anything is seen: a deviation.
const SLOPE_DEVIATION: f64 = 20.0;
/// Draws for an interval.
const DRAWS: usize = 1000;
/// Steps of the integral for each doubling.
const STEPS: usize = 16;
/// Doublings beyond which nobody looks.
const DOUBLINGS_MAX: f64 = 16.0;

/// A match of the serial searcher with 2^(low + 1) times the playouts against itself with 2^low times.
#[derive(Debug, Clone, Copy)]
pub struct Rung {
    /// Doublings of a one-node search, of the weaker.
    pub low: i32,
    /// How the stronger fared.
    pub pairs: Pairs,
}

/// The serial searcher's strength.
pub struct Ladder {
    rungs: Vec<Rung>,
}

/// What a doubling is worth: `at_zero + slope * doublings`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Elo of a doubling around one node's playouts.
    pub at_zero: f64,
    /// How that changes from doubling to doubling.
    pub slope: f64,
}

impl Curve {
    fn gain(&self, doublings: f64) -> f64 {
        (self.at_zero + self.slope * doublings).max(ELO_MIN)
    }

    /// The Elo of so many doublings above none.
    pub fn elo(&self, doublings: f64) -> f64 {
        let steps = (doublings.abs() * STEPS as f64).ceil().max(1.0);
        let step = doublings / steps;
        (0..steps as usize).map(|i| self.gain((i as f64 + 0.5) * step) * step).sum()
    }

    /// The doublings that are worth so much.
    pub fn doublings(&self, elo: f64) -> f64 {
        let (mut low, mut high) = (-DOUBLINGS_MAX, DOUBLINGS_MAX);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            *(if self.elo(middle) < elo { &mut low } else { &mut high }) = middle;
        }
        0.5 * (low + high)
    }
}

/// A score as Elo, with what was not seen taken for half a game: nobody is infinitely strong.
fn elo(pairs: &Pairs, deviations: f64) -> f64 {
    let estimate = pairs.estimate().score;
    let half = 0.25 / pairs.total().max(1) as f64;
    let error = estimate.half() / normal_quantile(0.975);
    elo_of((estimate.value + deviations * error).clamp(half, 1.0 - half))
}

impl Ladder {
    /// From the matches that have games.
    pub fn new(rungs: Vec<Rung>) -> Ladder {
        Ladder { rungs: rungs.into_iter().filter(|rung| rung.pairs.total() > 0).collect() }
    }

    /// Whether there is anything to go by.
    pub fn is_empty(&self) -> bool {
        self.rungs.is_empty()
    }

    /// The highest doubling that was played.
    pub fn top(&self) -> f64 {
        self.rungs.iter().map(|rung| f64::from(rung.low) + 1.0).fold(0.0, f64::max)
    }

    /// The curve, with each match off by so many deviations.
    fn fit(&self, off: &mut dyn FnMut() -> f64) -> Curve {
        let (mut w, mut wx, mut wy, mut wxy) = (0.0, 0.0, 0.0, 0.0);
        // Few games say next to nothing about a slope: it stays near none until they do.
        let mut wxx = 1.0 / (SLOPE_DEVIATION * SLOPE_DEVIATION);
        for rung in &self.rungs {
            let x = f64::from(rung.low) + 0.5;
            let y = elo(&rung.pairs, off());
            let error = (elo(&rung.pairs, 1.0) - elo(&rung.pairs, -1.0)).max(2.0) / 2.0;
            let weight = 1.0 / (error * error);
            (w, wx, wxx) = (w + weight, wx + weight * x, wxx + weight * x * x);
            (wy, wxy) = (wy + weight * y, wxy + weight * x * y);
        }
        let determinant = w * wxx - wx * wx;
        if determinant <= 0.0 {
            return Curve { at_zero: 0.0, slope: 0.0 };
        }
        let slope = (w * wxy - wx * wy) / determinant;
        Curve { at_zero: (wy - slope * wx) / w, slope }
    }

    /// The curve that the matches say.
    pub fn curve(&self) -> Curve {
        self.fit(&mut || 0.0)
    }

    /// How many times a one-node search's playouts the serial searcher needs to be as strong as somebody who fared so
    /// against it with 2^`rung` times.
    pub fn speedup(&self, rung: i32, pairs: &Pairs) -> Interval {
        let times = |curve: Curve, elo: f64| 2f64.powf(curve.doublings(curve.elo(rung.into()) + elo));
        let mut rng = Rng::new(0x5bee_d0b5, u64::from(rung.unsigned_abs()));
        let mut off = || normal_quantile(rng.unit().clamp(1e-6, 1.0 - 1e-6));
        let mut draws: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let curve = self.fit(&mut off);
                times(curve, elo(pairs, off()))
            })
            .collect();
        draws.sort_by(f64::total_cmp);
        let at = |share: f64| draws[((DRAWS - 1) as f64 * share).round() as usize];
        Interval { value: times(self.curve(), elo(pairs, 0.0)), low: at(0.025), high: at(0.975) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs that score about so much.
    fn scored(score: f64, pairs: u64) -> Pairs {
        let won = (score * pairs as f64).round() as u64;
        Pairs([pairs - won, 0, 0, 0, won])
    }

    #[test]
    fn a_straight_ladder_is_turned_round() {
        // Every doubling is worth a score of 0.64: 100 Elo.
        let ladder = Ladder::new((-1..5).map(|low| Rung { low, pairs: scored(0.64, 1000) }).collect());
        let curve = ladder.curve();
        assert!((curve.at_zero - 100.0).abs() < 1.0 && curve.slope.abs() < 1e-9, "{curve:?}");
        assert!((curve.doublings(curve.elo(2.7)) - 2.7).abs() < 1e-6);
        // As strong as four times the playouts: even against them, and two doublings above one node.
        let even = ladder.speedup(2, &scored(0.5, 1000));
        assert!((even.value - 4.0).abs() < 1e-6 && even.low < 4.0 && even.high > 4.0, "{even:?}");
        let above = ladder.speedup(0, &scored(0.76, 1000));
        assert!((above.value - 4.0).abs() < 0.2, "{above:?}");
        assert_eq!(ladder.top(), 5.0);
    }

    #[test]
    fn worth_that_falls_makes_a_bent_curve() {
        let score = |elo: f64| sortie_jobs::contest::score_of(elo);
        let rungs = (0..6)
            .map(|low| Rung { low, pairs: scored(score(150.0 - 20.0 * (f64::from(low) + 0.5)), 100_000) });
        let ladder = Ladder::new(rungs.collect());
        let curve = ladder.curve();
        assert!((curve.at_zero - 150.0).abs() < 1.0 && (curve.slope + 20.0).abs() < 0.5, "{curve:?}");
        assert!((curve.elo(2.0) - 260.0).abs() < 2.0);
        assert!((curve.elo(-1.0) + 160.0).abs() < 2.0);
        // It never falls, however far one looks.
        assert!(curve.elo(16.0) > curve.elo(12.0));
    }

    #[test]
    fn what_was_all_won_or_never_played_stays_finite() {
        let ladder = Ladder::new(vec![
            Rung { low: 0, pairs: scored(1.0, 10) },
            Rung { low: 1, pairs: Pairs::default() },
        ]);
        let speedup = ladder.speedup(0, &scored(1.0, 10));
        assert!(speedup.value.is_finite() && speedup.low <= speedup.value && speedup.value <= speedup.high);
        assert!(Ladder::new(Vec::new()).is_empty());
    }
}
