//! What a handful of numbers says: quantiles, the interval of a mean by Student's t, one for the median and for a difference by
//! the bootstrap (Efron 1979, percentiles), and whether two samples differ by the rank test of Mann and Whitney (1947), exact
//! where there are no ties and the samples are small, by the normal approximation with the correction for ties otherwise. What
//! pairs of games say is in `contest`.

use sortie_core::Rng;
use std::f64::consts::{PI, SQRT_2};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 4000;
/// Up to so many in both samples together the rank test is exact.
const EXACT_MAX: usize = 40;

/// A quantile by linear interpolation; `None` of nothing.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(low + (high - low) * at.fract())
}

/// In order, without what is not a number.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values.iter().copied()), 0.5)
}

/// The mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean, and half of its 95 % interval by Student's t; of one value nothing is known but itself, and the half is 0.
pub fn mean_and_half(values: &[f64]) -> (f64, f64) {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n.max(1) as f64;
    if n < 2 {
        return (mean, 0.0);
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    (mean, student(n - 1) * (variance / n as f64).sqrt())
}

/// The 97.5 % quantile of Student's t. From the tables up to 30 degrees of freedom, then nearly the normal one.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    TABLE.get(freedom.saturating_sub(1)).copied().unwrap_or(1.96 + 2.4 / freedom as f64)
}

/// The middle 95 % of a statistic over resamples of one sample; `None` of fewer than three values, of which it would
/// say nothing.
pub fn bootstrap(values: &[f64], statistic: fn(&[f64]) -> Option<f64>) -> Option<(f64, f64)> {
    if values.len() < 3 {
        return None;
    }
    let mut rng = Rng::new(1, 0);
    let draws = (0..RESAMPLES).filter_map(|_| statistic(&resample(values, &mut rng)));
    middle(draws)
}

/// The middle 95 % of the difference of a statistic, `b` less `a`.
pub fn bootstrap_difference(
    a: &[f64],
    b: &[f64],
    statistic: fn(&[f64]) -> Option<f64>,
) -> Option<(f64, f64)> {
    if a.len() < 3 || b.len() < 3 {
        return None;
    }
    let mut rng = Rng::new(1, 0);
    let draws = (0..RESAMPLES)
        .filter_map(|_| Some(statistic(&resample(b, &mut rng))? - statistic(&resample(a, &mut rng))?));
    middle(draws)
}

fn resample(values: &[f64], rng: &mut Rng) -> Vec<f64> {
    (0..values.len()).map(|_| values[rng.below(values.len())]).collect()
}

fn middle(draws: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let draws = sorted(draws);
    Some((quantile(&draws, 0.025)?, quantile(&draws, 0.975)?))
}

/// What the rank test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// The probability that a value of `b` is above one of `a`, ties counted half.
    pub superiority: f64,
    /// How likely a difference at least so large is if there is none, two-sided.
    pub p: f64,
    /// Whether `p` is exact.
    pub exact: bool,
}

/// The rank test of two samples, neither of which is empty.
pub fn rank_test(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (n, m) = (a.len(), b.len());
    let mut above = 0.0;
    for x in a {
        for y in b {
            above += if y > x {
                1.0
            } else if y == x {
                0.5
            } else {
                0.0
            };
        }
    }
    let all = sorted(a.iter().chain(b).copied());
    let ties: Vec<usize> = all.chunk_by(|x, y| x == y).map(<[f64]>::len).collect();
    let tied = ties.iter().any(|&count| count > 1);
    let pairs = (n * m) as f64;
    let exact = !tied && n + m <= EXACT_MAX;
    let p = if exact {
        let far = f64::max(above, pairs - above) as usize;
        let ways = ways(n, m);
        let total: f64 = ways.iter().sum();
        (2.0 * ways[far..].iter().sum::<f64>() / total).min(1.0)
    } else {
        let count = (n + m) as f64;
        let correction: f64 =
            ties.iter().map(|&t| (t * t * t - t) as f64).sum::<f64>() / (count * (count - 1.0));
        let variance = pairs / 12.0 * (count + 1.0 - correction);
        if variance <= 0.0 {
            1.0
        } else {
            // Half a step towards the middle, because counts are whole.
            let z = ((above - pairs / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
            2.0 * (1.0 - normal(z))
        }
    };
    Some(RankTest { superiority: above / pairs, p, exact })
}

/// `ways[u]`: in how many orders of n and m values exactly u pairs have the second above the first.
fn ways(n: usize, m: usize) -> Vec<f64> {
    // counts[j][u] for i values of the first and j of the second kind; the largest of all is of either kind.
    let mut counts: Vec<Vec<f64>> = (0..=m).map(|_| vec![1.0]).collect();
    for i in 1..=n {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let mut row = vec![0.0; i * j + 1];
            for (u, count) in counts[j].iter().enumerate() {
                row[u] += count;
            }
            for (u, count) in next[j - 1].iter().enumerate() {
                row[u + i] += count;
            }
            next.push(row);
        }
        counts = next;
    }
    counts.pop().unwrap_or_default()
}

/// The standard normal distribution function, to about 14 digits.
pub fn normal(x: f64) -> f64 {
    if x.is_nan() {
        return 0.5;
    }
    let half = 0.5 * erfc(x.abs() / SQRT_2);
    if x < 0.0 { half } else { 1.0 - half }
}

/// The x that a standard normal variable stays below with probability p.
pub fn normal_quantile(p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let (mut low, mut high) = (-40.0, 40.0);
    while high - low > 1e-14 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break;
        }
        *(if normal(middle) < p { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

/// The complementary error function for x >= 0: its series below 2, its continued fraction above (Abramowitz and Stegun
/// 7.1.6 and 7.1.14).
fn erfc(x: f64) -> f64 {
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        let mut k = 0.0;
        while term > 1e-17 * sum {
            k += 1.0;
            term *= 2.0 * x * x / (2.0 * k + 1.0);
            sum += term;
        }
        1.0 - 2.0 / PI.sqrt() * (-x * x).exp() * sum
    } else {
        let fraction = (1..=60).rev().fold(x, |below, k| x + k as f64 / 2.0 / below);
        (-x * x).exp() / PI.sqrt() / fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn the_normal_distribution_agrees_with_its_tables() {
        // Abramowitz and Stegun, tables 26.1 and 26.5.
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (1.96, 0.975_002_104_851_780),
            (3.0, 0.998_650_101_968_370),
            (5.0, 0.999_999_713_348_428),
        ] {
            near(normal(x), p, 1e-14);
            near(normal(-x), 1.0 - p, 1e-14);
        }
        near(normal(-10.0) / 7.619_853_024_160_6e-24, 1.0, 1e-10);
        for (p, x) in [(0.975, 1.959_963_984_540_054), (0.95, 1.644_853_626_951_473), (0.5, 0.0)] {
            near(normal_quantile(p), x, 1e-12);
            near(normal_quantile(1.0 - p), -x, 1e-12);
        }
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn intervals_are_students() {
        // The deviation is sqrt(2.5), divided by sqrt(5), times t(4) = 2.776.
        let (mean, half) = mean_and_half(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(mean, 3.0);
        near(half, 2.776 * (2.5f64 / 5.0).sqrt(), 1e-12);
        assert_eq!(mean_and_half(&[7.0]), (7.0, 0.0));
        near(student(60), 2.0, 0.001);
        // Student's own example: the sleep that ten patients gained by one drug over another, 1.58 +- 0.88.
        let (mean, half) = mean_and_half(&[1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]);
        near(mean, 1.58, 1e-9);
        near(half, 0.88, 0.005);
    }

    #[test]
    fn quantiles_interpolate() {
        let values = sorted([4.0, 1.0, f64::NAN, 3.0, 2.0]);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!([0.0, 0.5, 1.0].map(|q| quantile(&values, q)), [Some(1.0), Some(2.5), Some(4.0)]);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_exact_test_counts_orders() {
        // Three against three, all apart: 2 of the 20 orders are as extreme.
        let test = rank_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert!(test.exact && (test.p - 0.1).abs() < 1e-12 && test.superiority == 1.0, "{test:?}");
        // A table of the distribution for 2 and 2: 1, 1, 2, 1, 1 orders.
        assert_eq!(ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(ways(5, 7).iter().sum::<f64>(), 792.0);
        assert_eq!(rank_test(&[1.0], &[2.0]).unwrap().p, 1.0);
    }

    #[test]
    fn the_approximation_agrees_with_the_exact_test() {
        let a: Vec<f64> = (0..15).map(f64::from).collect();
        let b: Vec<f64> = (0..15).map(|i| f64::from(i) + 4.5).collect();
        let exact = rank_test(&a, &b).unwrap();
        // One tie more switches to the approximation and changes little.
        let mut tied = b.clone();
        tied[14] = tied[13];
        let near = rank_test(&a, &tied).unwrap();
        assert!(exact.exact && !near.exact && (exact.p - near.p).abs() < 0.01, "{exact:?} {near:?}");
        assert_eq!(rank_test(&[1.0; 5], &[1.0; 5]).unwrap().p, 1.0, "nothing differs");
    }

    #[test]
    fn intervals_hold_what_they_should() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let (low, high) = bootstrap(&values, median).unwrap();
        assert!(low < 9.5 && 9.5 < high && low > 3.0 && high < 16.0, "{low} {high}");
        let shifted: Vec<f64> = values.iter().map(|value| value + 100.0).collect();
        let (low, high) = bootstrap_difference(&values, &shifted, mean).unwrap();
        assert!(low > 90.0 && high < 110.0, "{low} {high}");
        assert_eq!(bootstrap(&[1.0, 2.0], median), None);
    }
}
