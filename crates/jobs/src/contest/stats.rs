//! What the results of game pairs say: score, Elo, normalised Elo, likelihood of superiority, with intervals.
//!
//! The unit is the pair: two games from one opening with colours swapped. Its games are not independent (a lopsided
//! opening gives one win each), so variances come from the five possible pair scores (pentanomial), not from the three
//! results of a game. Formulas: Elo 1978 for the logistic curve; M. Van den Bergh, "Normalized Elo" (2020): the score
//! above 1/2 in units of the deviation of one game, on Elo's scale.

use crate::stats::{normal, normal_quantile};
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_10;
use std::ops::AddAssign;

/// Elo points in one unit of normalised score: the slope 800 / ln 10 of the logistic curve at 1/2.
pub const ELO_PER_DEVIATION: f64 = 800.0 / LN_10;

/// How sure intervals are: 95 %.
const SURE: f64 = 0.95;

/// Results of single games as one player sees them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Games {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl Games {
    /// Counts a game worth 1, 1/2 or 0.
    pub fn count(&mut self, score: f64) {
        match score {
            s if s > 0.75 => self.wins += 1,
            s if s < 0.25 => self.losses += 1,
            _ => self.draws += 1,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The same games as the other player sees them.
    pub fn mirrored(&self) -> Games {
        Games { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    /// What they say if each game stands for itself.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&[self.losses as f64, self.draws as f64, self.wins as f64], 1.0)
    }
}

impl AddAssign for Games {
    fn add_assign(&mut self, other: Games) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }
}

/// Results of pairs as one player sees them: `0[i]` pairs scored i half points of four.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs(pub [u64; 5]);

impl Pairs {
    /// Counts a pair worth 0 to 2 points.
    pub fn count(&mut self, points: f64) {
        self.0[(points * 2.0).round().clamp(0.0, 4.0) as usize] += 1;
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The same pairs as the other player sees them.
    pub fn mirrored(&self) -> Pairs {
        let mut counts = self.0;
        counts.reverse();
        Pairs(counts)
    }

    /// What they say.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.0.map(|count| count as f64), 2.0)
    }
}

impl AddAssign for Pairs {
    fn add_assign(&mut self, other: Pairs) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

/// A value with the interval that holds the truth in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Half its width: what stands behind +-.
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval { value: f(self.value), low: f(self.low), high: f(self.high) }
    }
}

/// What results say about a player.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The expected score, 0 to 1.
    pub score: Interval,
    /// The difference in Elo; infinite where all was won or lost.
    pub elo: Interval,
    /// The difference in normalised Elo; `None` without any variance.
    pub nelo: Option<Interval>,
    /// The likelihood of superiority: the probability that the true score is above 1/2.
    pub los: f64,
}

impl Estimate {
    /// `counts[i]` observations of the value `i / (counts.len() - 1)`, each the mean of `games` games.
    fn of(counts: &[f64], games: f64) -> Estimate {
        let n: f64 = counts.iter().sum();
        let Moments { mean, variance } = moments(counts);
        let z = normal_quantile((1.0 + SURE) / 2.0);
        let (half, los) = if n == 0.0 {
            (0.5, 0.5)
        } else if variance > 0.0 {
            let error = (variance / n).sqrt();
            (z * error, normal((mean - 0.5) / error))
        } else {
            // All observations are equal. Another one comes with a probability of at most 1 - 0.025^(1/n) (Clopper and
            // Pearson 1934); and under a uniform prior the better side is known as after n + 1 tosses.
            let other = 1.0 - ((1.0 - SURE) / 2.0).powf(1.0 / n);
            let known = 0.5f64.powf(n + 1.0);
            let los = if mean > 0.5 { 1.0 - known } else { known };
            (other * mean.max(1.0 - mean), if mean == 0.5 { 0.5 } else { los })
        };
        let score = Interval { value: mean, low: (mean - half).max(0.0), high: (mean + half).min(1.0) };
        let deviation = (games * variance).sqrt();
        let nelo = (deviation > 0.0).then(|| {
            let value = (mean - 0.5) / deviation * ELO_PER_DEVIATION;
            let half = z / (n * games).sqrt() * ELO_PER_DEVIATION;
            Interval { value, low: value - half, high: value + half }
        });
        Estimate { score, elo: score.map(elo_of), nelo, los }
    }
}

/// Mean and variance of a distribution.
pub(crate) struct Moments {
    pub mean: f64,
    pub variance: f64,
}

/// Of the values `i / (weights.len() - 1)` with these weights; mean 1/2 if there are none.
pub(crate) fn moments(weights: &[f64]) -> Moments {
    let n: f64 = weights.iter().sum();
    if n == 0.0 {
        return Moments { mean: 0.5, variance: 0.0 };
    }
    let last = (weights.len() - 1) as f64;
    let each = || weights.iter().enumerate().map(|(i, &w)| (i as f64 / last, w / n));
    let mean = each().map(|(value, p)| value * p).sum();
    let variance = each().map(|(value, p)| p * (value - mean) * (value - mean)).sum();
    // Equal observations have none; rounding may say otherwise.
    let variance = if weights.iter().filter(|&&w| w > 0.0).count() == 1 { 0.0 } else { variance };
    Moments { mean, variance }
}

/// The expected score of a player so many Elo stronger.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The difference in Elo that an expected score means.
pub fn elo_of(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn elo_and_score_are_inverse() {
        near(score_of(0.0), 0.5, 1e-15);
        near(score_of(400.0), 10.0 / 11.0, 1e-15);
        near(elo_of(0.75), 190.848_501_887_865, 1e-9);
        for elo in [-700.0, -3.5, 0.0, 12.0, 350.0] {
            near(elo_of(score_of(elo)), elo, 1e-9);
        }
    }

    #[test]
    fn pairs_agree_with_what_fastchess_printed() {
        // Three reports of fastchess in KSaiAkshit/eschec, docs/dev_log.md (August 2025), 200 games each: Ptnml, Elo,
        // nElo, LOS.
        for (pairs, elo, elo_half, nelo, los) in [
            ([1, 11, 47, 25, 16], 77.71, 33.03, 117.50, 1.0000),
            ([1, 24, 42, 25, 8], 26.11, 31.23, 40.51, 0.9504),
            ([2, 23, 32, 35, 8], 41.89, 33.28, 61.39, 0.9938),
        ] {
            let estimate = Pairs(pairs).estimate();
            near(estimate.elo.value, elo, 0.005);
            near(estimate.elo.half(), elo_half, 0.005);
            let measured = estimate.nelo.expect("variance");
            near(measured.value, nelo, 0.005);
            near(measured.half(), 48.15, 0.005);
            near(estimate.los, los, 0.00005);
        }
    }

    #[test]
    fn games_agree_with_what_cutechess_printed() {
        // archishou/MidnightChessEngine, changelog.md, a report of cutechess-cli: 449 - 276 - 275, +60.7 +- 18.5. It
        // takes LOS from wins and losses alone, which is the same to all printed digits.
        let estimate = Games { wins: 449, draws: 275, losses: 276 }.estimate();
        near(estimate.elo.value, 60.7, 0.05);
        near(estimate.elo.half(), 18.5, 0.1);
        near(estimate.los, 1.0, 0.0005);
        // And one that is not all but certain: 372 - 322 - 306, +17.4 +- 17.9, LOS 97.1 %.
        let estimate = Games { wins: 372, draws: 306, losses: 322 }.estimate();
        near(estimate.elo.value, 17.4, 0.05);
        near(estimate.elo.half(), 17.9, 0.1);
        near(estimate.los, 0.971, 0.0005);
    }

    #[test]
    fn intervals_stay_honest_where_nothing_varies() {
        let none = Pairs::default().estimate();
        assert_eq!((none.score.low, none.score.high, none.los), (0.0, 1.0, 0.5));
        let won = Pairs([0, 0, 0, 0, 10]).estimate();
        assert_eq!((won.score.value, won.score.high), (1.0, 1.0));
        near(won.score.low, 0.025f64.powf(0.1), 1e-12);
        assert!(won.elo.value.is_infinite() && won.elo.low.is_finite() && won.nelo.is_none());
        near(won.los, 1.0 - 0.5f64.powi(11), 1e-12);
        let even = Pairs([0, 0, 7, 0, 0]).estimate();
        assert_eq!((even.score.value, even.los), (0.5, 0.5));
        assert!(even.score.low < 0.4 && even.score.high > 0.6);
        let lost = Pairs([10, 0, 0, 0, 0]).estimate();
        near(lost.los, 1.0 - won.los, 1e-12);
    }

    #[test]
    fn the_other_side_sees_the_opposite() {
        let pairs = Pairs([3, 10, 40, 22, 9]);
        let (ours, theirs) = (pairs.estimate(), pairs.mirrored().estimate());
        near(ours.score.value + theirs.score.value, 1.0, 1e-12);
        near(ours.elo.value, -theirs.elo.value, 1e-9);
        near(ours.los, 1.0 - theirs.los, 1e-12);
        let mut games = Games { wins: 1, draws: 0, losses: 0 };
        games.count(0.0);
        games.count(0.5);
        games += games.mirrored();
        assert_eq!((games.wins, games.draws, games.losses, games.total()), (2, 2, 2, 6));
    }
}
