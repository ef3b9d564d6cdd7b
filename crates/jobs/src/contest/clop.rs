//! CLOP: confident local optimisation of noisy results (R. Coulom, ACG 2011).
//!
//! A quadratic logistic regression is fitted to all samples; samples that it thinks worse than the mean, by more than
//! the uncertainty of the mean explains, lose weight; the regression is fitted again to what is left, and so on. The
//! product is a weight function, low where it is confident that the optimum is not: the next sample is drawn from it,
//! and the weighted mean of the samples is the optimum told. Points are in `[-1, 1]` here.

use super::linear::Matrix;
use crate::contest::Interval;
use sortie_core::Rng;

/// How many deviations of the mean make a sample half-way hopeless; Coulom's value.
const MARGIN: f64 = 3.0;
/// The variance of the prior of every coefficient; Coulom's value.
const PRIOR_VARIANCE: f64 = 100.0;
/// The weights have settled when they keep so much of their sum.
const SETTLED: f64 = 0.99;
/// Regressions at most.
const FITS_MAX: usize = 40;
/// Places of a line where the density of the next sample is computed.
const GRID: usize = 64;
/// Rounds of drawing one coordinate after the other.
const SWEEPS: usize = 3;
/// Repetitions from which the optimum's interval is taken.
const BOOTSTRAPS: usize = 40;

/// A sample: a point in `[-1, 1]` for each parameter, its mean score, and how many games that is the mean of.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Where.
    pub point: Vec<f64>,
    /// 0 to 1.
    pub score: f64,
    /// Games.
    pub games: f64,
}

/// What the samples say.
pub struct Belief {
    dimensions: usize,
    regressions: Vec<Regression>,
    /// The last regression: the local one.
    beta: Vec<f64>,
    information: Matrix,
    /// The sum of the samples' weights: how many of them count.
    pub weight: f64,
    /// The mean of the samples by their weights.
    pub centre: Vec<f64>,
}

/// One of the regressions whose weights are multiplied.
struct Regression {
    beta: Vec<f64>,
    mean: f64,
    deviation: f64,
}

impl Belief {
    /// Fits the samples.
    pub fn fit(dimensions: usize, samples: &[Scored]) -> Belief {
        let features: Vec<Vec<f64>> = samples.iter().map(|sample| features(&sample.point)).collect();
        let mut weights = vec![1.0; samples.len()];
        let mut regressions: Vec<Regression> = Vec::new();
        loop {
            let start = regressions.last().map(|last| last.beta.clone());
            let (beta, information) = regress(count(dimensions), samples, &features, &weights, start);
            let before: f64 = weights.iter().sum();
            let (mean, deviation) = mean(samples, &weights);
            let regression = Regression { beta, mean, deviation };
            for (weight, features) in weights.iter_mut().zip(&features) {
                *weight = weight.min(regression.weight(features));
            }
            regressions.push(regression);
            let after: f64 = weights.iter().sum();
            if after >= SETTLED * before || regressions.len() == FITS_MAX {
                let beta = regressions.last().expect("just pushed").beta.clone();
                let centre = centre(dimensions, samples, &weights);
                return Belief { dimensions, regressions, beta, information, weight: after, centre };
            }
        }
    }

    /// How promising a point is: 1 where the optimum may be, near 0 where it is not.
    pub fn promise(&self, point: &[f64]) -> f64 {
        let features = features(point);
        self.regressions.iter().map(|regression| regression.weight(&features)).fold(1.0, f64::min)
    }

    /// A point drawn with the promise as its density, by Gibbs sampling: one coordinate after the other, each from the
    /// density along its line.
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        // A start where the density is not negligible, or the lines would say nothing.
        let mut point = self.optimum(&self.beta);
        for _ in 0..SWEEPS {
            for i in 0..self.dimensions {
                let places: Vec<f64> =
                    (0..GRID).map(|k| 2.0 * (k as f64 + rng.unit()) / GRID as f64 - 1.0).collect();
                let promises: Vec<f64> = places
                    .iter()
                    .map(|&place| {
                        point[i] = place;
                        self.promise(&point)
                    })
                    .collect();
                let mut left = rng.unit() * promises.iter().sum::<f64>();
                let chosen = promises.iter().position(|promise| {
                    left -= promise;
                    left < 0.0
                });
                point[i] = places[chosen.unwrap_or(GRID - 1)];
            }
        }
        point
    }

    /// The expected score at a point, with its interval.
    pub fn score(&self, point: &[f64]) -> Interval {
        let features = features(point);
        let value = dot(&self.beta, &features);
        let spread = self.information.cholesky().solve_lower(&features);
        let half = 1.96 * dot(&spread, &spread).sqrt();
        Interval { value: logistic(value), low: logistic(value - half), high: logistic(value + half) }
    }

    /// Where a quadratic function is highest within the cube: up along one coordinate after the other.
    fn optimum(&self, beta: &[f64]) -> Vec<f64> {
        let climb = |start: f64| {
            let mut point = vec![start; self.dimensions];
            for _ in 0..20 {
                let before = point.clone();
                for i in 0..self.dimensions {
                    let mut at = |place: f64| {
                        point[i] = place;
                        dot(beta, &features(&point))
                    };
                    let (low, middle, high) = (at(-1.0), at(0.0), at(1.0));
                    let (slope, bend) = ((high - low) / 2.0, (high + low) / 2.0 - middle);
                    let top = if bend < 0.0 { (-slope / (2.0 * bend)).clamp(-1.0, 1.0) } else { 0.0 };
                    let places = [(at(top), top), (low, -1.0), (high, 1.0)];
                    point[i] = places.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("three").1;
                }
                if point.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-9) {
                    break;
                }
            }
            (dot(beta, &features(&point)), point)
        };
        let starts = if self.dimensions == 1 { &[0.0][..] } else { &[0.0, -1.0, 1.0][..] };
        let best = starts.iter().map(|&start| climb(start)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.expect("at least one start").1
    }
}

impl Regression {
    fn weight(&self, features: &[f64]) -> f64 {
        ((dot(&self.beta, features) - self.mean) / (MARGIN * self.deviation)).exp().min(1.0)
    }
}

/// 1, every coordinate, every product of two.
fn features(point: &[f64]) -> Vec<f64> {
    let mut features = Vec::with_capacity(count(point.len()));
    features.push(1.0);
    features.extend_from_slice(point);
    for (i, a) in point.iter().enumerate() {
        features.extend(point[..=i].iter().map(|b| a * b));
    }
    features
}

/// How many features there are.
fn count(dimensions: usize) -> usize {
    1 + dimensions + dimensions * (dimensions + 1) / 2
}

/// The coefficients of greatest posterior probability, and the information about them (Newton's method).
fn regress(
    count: usize,
    samples: &[Scored],
    features: &[Vec<f64>],
    weights: &[f64],
    start: Option<Vec<f64>>,
) -> (Vec<f64>, Matrix) {
    let mut beta = start.unwrap_or_else(|| vec![0.0; count]);
    let mut last = f64::NEG_INFINITY;
    for _ in 0..50 {
        let mut gradient: Vec<f64> = beta.iter().map(|b| -b / PRIOR_VARIANCE).collect();
        let mut information = Matrix::diagonal(count, 1.0 / PRIOR_VARIANCE);
        let mut likelihood = -dot(&beta, &beta) / (2.0 * PRIOR_VARIANCE);
        for ((sample, features), weight) in samples.iter().zip(features).zip(weights) {
            let value = dot(&beta, features);
            let p = logistic(value);
            let games = weight * sample.games;
            // ln p = value - ln(1 + e^value), without overflow.
            likelihood += games * (sample.score * value - value.max(0.0) - (-value.abs()).exp().ln_1p());
            for (g, f) in gradient.iter_mut().zip(features) {
                *g += games * (sample.score - p) * f;
            }
            information.add_outer(features, games * p * (1.0 - p));
        }
        let factor = information.cholesky();
        let mut step = factor.solve(&gradient);
        // Far from the top a whole step may overshoot.
        let length = dot(&step, &step).sqrt();
        if length > 4.0 {
            step.iter_mut().for_each(|s| *s *= 4.0 / length);
        }
        if length < 1e-9 || (likelihood - last).abs() < 1e-10 * likelihood.abs().max(1.0) {
            return (beta, information);
        }
        last = likelihood;
        beta.iter_mut().zip(&step).for_each(|(b, s)| *b += s);
    }
    let mut information = Matrix::diagonal(count, 1.0 / PRIOR_VARIANCE);
    for ((sample, features), weight) in samples.iter().zip(features).zip(weights) {
        let p = logistic(dot(&beta, features));
        information.add_outer(features, weight * sample.games * p * (1.0 - p));
    }
    (beta, information)
}

/// The log-odds of the weighted mean score, and its deviation.
fn mean(samples: &[Scored], weights: &[f64]) -> (f64, f64) {
    // One draw more: without it the log-odds of a clean score would be infinite.
    let (mut games, mut points) = (1.0, 0.5);
    for (sample, weight) in samples.iter().zip(weights) {
        games += weight * sample.games;
        points += weight * sample.games * sample.score;
    }
    let p: f64 = points / games;
    ((p / (1.0 - p)).ln(), 1.0 / (games * p * (1.0 - p)).sqrt())
}

/// The mean of the samples by their weights; the middle without any.
fn centre(dimensions: usize, samples: &[Scored], weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut centre = vec![0.0; dimensions];
    for (sample, weight) in samples.iter().zip(weights) {
        for (centre, place) in centre.iter_mut().zip(&sample.point) {
            *centre += place * weight / total;
        }
    }
    centre
}

/// The optimum of each parameter, with the interval that a bootstrap gives it (Efron 1979): the samples are drawn anew
/// from themselves, again and again, and the whole method is repeated on them. The places of the samples themselves
/// follow earlier beliefs, an error that redrawing does not see: by simulation the plain interval of 95 % holds the truth
/// in 75 of 100 cases, and one twice as wide in 95.
pub fn optima(dimensions: usize, samples: &[Scored], rng: &mut Rng) -> Vec<Interval> {
    let centre = Belief::fit(dimensions, samples).centre;
    if samples.len() < 2 * count(dimensions) {
        return centre.iter().map(|&value| Interval { value, low: -1.0, high: 1.0 }).collect();
    }
    let mut squares = vec![0.0; dimensions];
    for _ in 0..BOOTSTRAPS {
        let drawn: Vec<Scored> = samples.iter().map(|_| samples[rng.below(samples.len())].clone()).collect();
        let again = Belief::fit(dimensions, &drawn).centre;
        for (square, (a, b)) in squares.iter_mut().zip(again.iter().zip(&centre)) {
            *square += (a - b) * (a - b) / BOOTSTRAPS as f64;
        }
    }
    let interval = |(&value, square): (&f64, f64)| {
        let half = 2.0 * 1.96 * square.sqrt();
        Interval { value, low: (value - half).max(-1.0), high: (value + half).min(1.0) }
    };
    centre.iter().zip(squares).map(interval).collect()
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quadratic_without_noise_is_recovered() {
        let truth = |x: f64, y: f64| 0.4 - 2.0 * (x - 0.3).powi(2) - 1.5 * (y + 0.2).powi(2) + 0.5 * x * y;
        let mut samples = Vec::new();
        for i in 0..21 {
            for j in 0..21 {
                let (x, y) = (i as f64 / 10.0 - 1.0, j as f64 / 10.0 - 1.0);
                samples.push(Scored { point: vec![x, y], score: logistic(truth(x, y)), games: 1000.0 });
            }
        }
        let features: Vec<Vec<f64>> = samples.iter().map(|s| features(&s.point)).collect();
        let (beta, _) = regress(6, &samples, &features, &vec![1.0; samples.len()], None);
        for (got, expected) in beta.iter().zip([0.16, 1.2, -0.6, -2.0, 0.5, -1.5]) {
            assert!((got - expected).abs() < 1e-3, "{beta:?}");
        }
        // The gradient is zero where -4 (x - 0.3) + 0.5 y = 0 and -3 (y + 0.2) + 0.5 x = 0.
        let belief = Belief::fit(2, &samples);
        let optimum = belief.optimum(&beta);
        assert!(
            (optimum[0] - 0.280_851).abs() < 1e-3 && (optimum[1] + 0.153_191).abs() < 1e-3,
            "{optimum:?}"
        );
        assert!(belief.promise(&[0.28, -0.15]) == 1.0 && belief.promise(&[-1.0, 1.0]) < 1e-3);
        assert!((belief.score(&[0.28, -0.15]).value - logistic(truth(0.28, -0.15))).abs() < 0.01);
    }

    #[test]
    fn without_samples_everything_is_promising() {
        let belief = Belief::fit(3, &[]);
        assert_eq!(belief.promise(&[0.3, -1.0, 1.0]), 1.0);
        let mut rng = Rng::new(1, 0);
        let point = belief.draw(&mut rng);
        assert!(point.len() == 3 && point.iter().all(|x| (-1.0..=1.0).contains(x)));
        let nothing = Interval { value: 0.0, low: -1.0, high: 1.0 };
        assert_eq!(optima(3, &[], &mut rng), vec![nothing; 3]);
    }
}
