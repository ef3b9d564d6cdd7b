//! SPSA: simultaneous perturbation stochastic approximation (J. C. Spall 1992; gains after Spall 1998).
//!
//! Every step moves all parameters at once: the current point is disturbed by plus or minus `c_k` in every coordinate,
//! the two points are compared, and the point moves towards the better one. Gains: `a_k = a / (A + k + 1)^0.602`,
//! `c_k = c / (k + 1)^0.101`, A a tenth of the steps. As Fishtest does it, they are told by what they come to in the
//! last step. Points are in `[-1, 1]`; a disturbance that would leave the cube is cut at its face.

use super::Interval;
use serde::{Deserialize, Serialize};
use sortie_core::Rng;

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;
/// The share of all steps by which the first steps are held back.
const STABILITY: f64 = 0.1;
/// Stretches of the second half whose means tell how much the estimate wanders.
const STRETCHES: usize = 10;

/// The last step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gains {
    /// How far a parameter is disturbed, as a share of its range.
    pub c_end: f64,
    /// How far it then moves for a pair won 2 - 0, in units of that disturbance.
    pub r_end: f64,
}

impl Default for Gains {
    fn default() -> Self {
        Gains { c_end: 0.1, r_end: 0.05 }
    }
}

/// A walk under way.
pub struct Walk {
    gains: Gains,
    steps: u64,
    seed: u64,
    /// `path[k]` is the point after k steps.
    path: Vec<Vec<f64>>,
}

impl Walk {
    /// From the middle of the cube, or from `start`.
    pub fn new(gains: Gains, steps: u64, seed: u64, start: Vec<f64>) -> Walk {
        Walk { gains, steps: steps.max(1), seed, path: vec![start] }
    }

    /// Steps made.
    pub fn made(&self) -> u64 {
        self.path.len() as u64 - 1
    }

    /// The point after so many steps.
    pub fn at(&self, steps: u64) -> &[f64] {
        &self.path[(steps as usize).min(self.path.len() - 1)]
    }

    /// The two points to compare in step `k`, around the point after `known` steps.
    pub fn rivals(&self, k: u64, known: u64) -> [Vec<f64>; 2] {
        let c = self.disturbance(k);
        let around = |sign: f64| {
            let at = self.at(known).iter().zip(self.flips(k));
            at.map(|(x, flip)| (x + sign * flip * c).clamp(-1.0, 1.0)).collect()
        };
        [around(1.0), around(-1.0)]
    }

    /// Makes the next step: `gain` is by how much the first rival of that step beat the second, from -1 to 1.
    pub fn step(&mut self, gain: f64) {
        let k = self.made();
        let hold = STABILITY * self.steps as f64;
        // r_k = a_k / c_k^2, so that it comes to r_end in the last step.
        let a_share = ((hold + self.steps as f64) / (hold + k as f64 + 1.0)).powf(ALPHA);
        let c_share = (self.steps as f64 / (k as f64 + 1.0)).powf(GAMMA);
        let move_by = self.gains.r_end * a_share / (c_share * c_share) * self.disturbance(k) * gain;
        let next = self.at(k).iter().zip(self.flips(k));
        self.path.push(next.map(|(x, flip)| (x + move_by * flip).clamp(-1.0, 1.0)).collect());
    }

    /// Where the walk ended up: the mean of its second half. The interval is that of the mean, from the means of
    /// stretches of it: it tells how much the walk still wanders, not whether it arrived.
    pub fn optima(&self) -> Vec<Interval> {
        let half = &self.path[self.path.len() / 2..];
        let mean = |points: &[Vec<f64>], i: usize| {
            points.iter().map(|point| point[i]).sum::<f64>() / points.len().max(1) as f64
        };
        let dimensions = self.path[0].len();
        (0..dimensions)
            .map(|i| {
                let value = mean(half, i);
                if half.len() < 2 * STRETCHES {
                    return Interval { value, low: -1.0, high: 1.0 };
                }
                let means: Vec<f64> =
                    half.chunks_exact(half.len() / STRETCHES).map(|stretch| mean(stretch, i)).collect();
                let centre = means.iter().sum::<f64>() / means.len() as f64;
                let variance =
                    means.iter().map(|m| (m - centre) * (m - centre)).sum::<f64>() / (means.len() - 1) as f64;
                // Student's t with nine degrees of freedom.
                let half = 2.262 * (variance / means.len() as f64).sqrt();
                Interval { value, low: (value - half).max(-1.0), high: (value + half).min(1.0) }
            })
            .collect()
    }

    /// c_k, in `[-1, 1]`: a range is 2 wide.
    fn disturbance(&self, k: u64) -> f64 {
        2.0 * self.gains.c_end * (self.steps as f64 / (k as f64 + 1.0)).powf(GAMMA)
    }

    /// Plus or minus one for each parameter, the same whenever asked.
    fn flips(&self, k: u64) -> Vec<f64> {
        let mut rng = Rng::new(self.seed, k);
        self.path[0].iter().map(|_| if rng.bits() & 1 == 0 { 1.0 } else { -1.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_come_to_what_was_asked_for() {
        let gains = Gains { c_end: 0.05, r_end: 0.02 };
        let mut walk = Walk::new(gains, 1000, 1, vec![0.0]);
        assert!((walk.disturbance(999) - 0.1).abs() < 1e-12);
        // By hand: (1000 / 1)^0.101 = 2.0091.
        assert!((walk.disturbance(0) - 0.200_91).abs() < 1e-4, "{}", walk.disturbance(0));
        for _ in 0..999 {
            walk.step(0.0);
        }
        walk.step(1.0);
        assert!((walk.at(1000)[0].abs() - 0.02 * 0.1).abs() < 1e-9, "{:?}", walk.at(1000));
        // The first step: r_0 = 0.02 * (1100 / 101)^0.602 / 2.0091^2, c_0 = 0.20091.
        let mut walk = Walk::new(gains, 1000, 1, vec![0.0]);
        walk.step(1.0);
        let first = 0.02 * (1100f64 / 101.0).powf(0.602) / 2.0091f64.powi(2) * 0.200_91;
        assert!((walk.at(1)[0].abs() - first).abs() < 1e-5, "{:?}", walk.at(1));
    }

    #[test]
    fn without_noise_it_walks_to_the_top_and_stays_in_the_cube() {
        let mut walk = Walk::new(Gains { c_end: 0.05, r_end: 0.2 }, 2000, 7, vec![0.0, 0.0]);
        let height = |p: &[f64]| -(p[0] - 0.4).powi(2) - 2.0 * (p[1] + 0.6).powi(2);
        for k in 0..2000 {
            let [plus, minus] = walk.rivals(k, k);
            walk.step((height(&plus) - height(&minus)).clamp(-1.0, 1.0));
        }
        let optima = walk.optima();
        assert!((optima[0].value - 0.4).abs() < 0.03, "{optima:?}");
        assert!((optima[1].value + 0.6).abs() < 0.03, "{optima:?}");
        let mut walk = Walk::new(Gains { c_end: 0.2, r_end: 5.0 }, 100, 7, vec![0.0]);
        for k in 0..100 {
            let [plus, minus] = walk.rivals(k, k);
            walk.step(if plus[0] > minus[0] { 1.0 } else { -1.0 });
        }
        assert_eq!(walk.at(100), [1.0]);
    }
}
