//! The generalised sequential probability ratio test on game pairs: is a change worth `elo1`, or only `elo0`?
//!
//! Wald 1945 for the test, X. Li, J. Liu and Z. Ying 2014 for the generalised likelihood ratio, M. Van den Bergh,
//! "Comments on normalized Elo" and "The generalized maximum likelihood ratio for the expectation value of a
//! distribution", for its use on pentanomial results. The likelihood of a hypothesis is that of the distribution over
//! pair scores which fits the results best among all that have the expectation (logistic Elo) or the expectation in
//! deviations (normalised Elo) that the hypothesis names.

use super::stats::{ELO_PER_DEVIATION, Games, Pairs, moments, score_of};
use serde::{Deserialize, Serialize};

/// A count of zero is taken for this much, so that no result is thought impossible for never having been seen. The
/// value is that of Fishtest: ours can be compared with its figures.
const UNSEEN: f64 = 1e-3;

/// What the two bounds are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Elo.
    Logistic,
    /// Normalised Elo: the same number of games whatever the share of draws.
    Normalised,
}

/// A test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sprt {
    /// The hypothesis to reject: no better than this.
    pub elo0: f64,
    /// The hypothesis to accept: this good.
    pub elo1: f64,
    /// The probability to accept what is worth `elo0`.
    pub alpha: f64,
    /// The probability to reject what is worth `elo1`.
    pub beta: f64,
    /// What the bounds are measured in.
    pub model: Model,
}

/// How a test stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Nothing can be said yet.
    Open,
    /// It is worth `elo1`.
    Accepted,
    /// It is only worth `elo0`.
    Rejected,
}

impl Sprt {
    /// Refuses a test that makes no sense.
    pub fn check(&self) -> Result<(), String> {
        let sound = |elo: f64| elo.is_finite() && elo.abs() <= 2000.0;
        if !(sound(self.elo0) && sound(self.elo1) && self.elo0 < self.elo1) {
            return Err(format!(
                "expected two bounds with the lower first, as in 0,10, not {},{}",
                self.elo0, self.elo1
            ));
        }
        for (name, rate) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(rate > 0.0 && rate < 0.5) {
                return Err(format!("{name} {rate}: expected an error rate above 0 and below 0.5"));
            }
        }
        Ok(())
    }

    /// The log-likelihood ratios at which the test ends: rejected at the first, accepted at the second (Wald).
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of `elo1` to `elo0`.
    pub fn llr(&self, pairs: &Pairs) -> f64 {
        self.ratio(&pairs.0.map(|count| count as f64), 2.0)
    }

    /// The same of single games, where there are no pairs.
    pub fn llr_games(&self, games: &Games) -> f64 {
        self.ratio(&[games.losses as f64, games.draws as f64, games.wins as f64], 1.0)
    }

    /// What the results say.
    pub fn decide(&self, pairs: &Pairs) -> Decision {
        let (low, high) = self.bounds();
        match self.llr(pairs) {
            llr if llr >= high => Decision::Accepted,
            llr if llr <= low => Decision::Rejected,
            _ => Decision::Open,
        }
    }

    /// `counts[i]` observations of `i / (counts.len() - 1)`, each the mean of `games` games.
    fn ratio(&self, counts: &[f64], games: f64) -> f64 {
        if counts.iter().sum::<f64>() == 0.0 {
            return 0.0;
        }
        let counts: Vec<f64> =
            counts.iter().map(|&count| if count == 0.0 { UNSEEN } else { count }).collect();
        let n: f64 = counts.iter().sum();
        let seen: Vec<f64> = counts.iter().map(|count| count / n).collect();
        let best = |elo: f64| match self.model {
            Model::Logistic => with_mean(&seen, score_of(elo)),
            Model::Normalised => with_ratio(&seen, elo / ELO_PER_DEVIATION * games.sqrt()),
        };
        let (p0, p1) = (best(self.elo0), best(self.elo1));
        counts.iter().zip(p0.iter().zip(&p1)).map(|(count, (p0, p1))| count * (p1 / p0).ln()).sum()
    }
}

/// The values that the entries of a distribution stand for: evenly from 0 to 1.
fn values(len: usize) -> impl Iterator<Item = f64> {
    (0..len).map(move |i| i as f64 / (len - 1) as f64)
}

/// The distribution with this mean under which what was seen is likeliest.
fn with_mean(seen: &[f64], mean: f64) -> Vec<f64> {
    let slopes: Vec<f64> = values(seen.len()).map(|value| value - mean).collect();
    tilt(seen, &slopes)
}

/// The distribution under which what was seen is likeliest, among those whose mean lies `ratio` of their own deviations
/// above 1/2. The constraint is `mean - 1/2 - ratio * deviation = 0`; linearised around the last distribution it is one
/// `tilt` can solve, and a few rounds reach the fixed point.
fn with_ratio(seen: &[f64], ratio: f64) -> Vec<f64> {
    let mut p = vec![1.0 / seen.len() as f64; seen.len()];
    for _ in 0..30 {
        let at = moments(&p);
        let deviation = at.variance.sqrt();
        // The derivative of the constraint by each probability, less its expectation where the constraint holds.
        let slopes: Vec<f64> = values(seen.len())
            .map(|value| {
                let away = (value - at.mean) / deviation;
                value - 0.5 - 0.5 * ratio * deviation * (1.0 + away * away)
            })
            .collect();
        let next = tilt(seen, &slopes);
        let moved = p.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        p = next;
        if moved < 1e-11 {
            break;
        }
    }
    p
}

/// `seen[i] / (1 + x * slopes[i])` with the x for which the slopes have expectation zero: what Lagrange's multipliers
/// leave of a likelihood under one linear constraint. The expectation falls in x between its poles: Newton's method
/// finds the zero, and bisection helps where it would leave the bracket.
fn tilt(seen: &[f64], slopes: &[f64]) -> Vec<f64> {
    let (least, most) = slopes.iter().fold((0.0f64, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
    if least >= 0.0 || most <= 0.0 {
        // No distribution over these values satisfies the constraint: nothing to tilt.
        return seen.to_vec();
    }
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    let mut x = 0.0;
    for _ in 0..200 {
        let (mut value, mut slope) = (0.0, 0.0);
        for (p, s) in seen.iter().zip(slopes) {
            let part = s / (1.0 + x * s);
            value += p * part;
            slope -= p * part * part;
        }
        *(if value > 0.0 { &mut low } else { &mut high }) = x;
        let newton = x - value / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let moved = (next - x).abs();
        x = next;
        if moved <= 1e-14 * x.abs().max(1e-3) {
            break;
        }
    }
    seen.iter().zip(slopes).map(|(p, s)| p / (1.0 + x * s)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Rng;

    fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
    }

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn ratios_agree_with_fishtest_and_fastchess() {
        use Model::{Logistic, Normalised};
        for (pairs, elo0, elo1, model, llr, within) in [
            // official-stockfish/fishtest, issue 1737: the output of SPRT_elo.
            ([93, 18711, 58877, 18739, 100], -1.75, 0.25, Normalised, 2.942_097_472_070_851_3, 1e-9),
            // Disservin/fastchess, pull request 783: printed by the program, which then used an approximation.
            ([379, 10170, 21828, 10640, 343], 0.0, 2.0, Normalised, 2.94598, 1e-3),
            // Disservin/fastchess, app/tests/sprt_test.cpp.
            ([365, 16618, 36229, 16974, 390], 0.0, 2.0, Normalised, 2.25, 0.005),
            ([127, 4883, 10712, 5150, 104], -1.75, 0.25, Normalised, 3.01, 0.005),
            ([223, 9863, 21279, 10037, 246], 0.5, 2.5, Logistic, -3.07, 0.005),
            ([871, 26175, 55983, 26678, 821], 0.0, 2.0, Logistic, -4.98, 0.005),
            // KSaiAkshit/eschec, docs/dev_log.md: reports of fastchess on 200 games.
            ([1, 11, 47, 25, 16], 0.0, 10.0, Normalised, 1.71, 0.005),
            ([2, 23, 32, 35, 8], 0.0, 10.0, Normalised, 0.92, 0.005),
        ] {
            near(test(elo0, elo1, model).llr(&Pairs(pairs)), llr, within);
        }
        for (wins, losses, draws, elo0, elo1, model, llr) in [
            // Disservin/fastchess, app/tests/sprt_test.cpp.
            (36433, 36027, 68692, 0.0, 2.0, Normalised, 0.92),
            (10871, 10650, 20431, -1.75, 0.25, Normalised, 2.30),
            (21404, 21184, 40708, 0.5, 2.5, Logistic, -1.57),
            (57433, 57030, 106593, 0.0, 2.0, Logistic, -2.59),
        ] {
            let games = Games { wins, draws, losses };
            near(test(elo0, elo1, model).llr_games(&games), llr, 0.01);
        }
    }

    #[test]
    fn pairs_that_are_all_won_give_what_a_coin_would() {
        // By hand: nothing but 2 - 0 was seen, so the likeliest distributions have no other value but 0. With p at 1,
        // (p - 1/2) / sqrt(p (1 - p)) = t has the solution p = 1/2 + t / (2 sqrt(1 + t^2)).
        let sprt = test(0.0, 5.0, Model::Normalised);
        let t = 5.0 / ELO_PER_DEVIATION * 2f64.sqrt();
        near(sprt.llr(&Pairs([0, 0, 0, 0, 104])), 104.0 * (t / (1.0 + t * t).sqrt()).ln_1p(), 2e-3);
    }

    #[test]
    fn bounds_are_walds() {
        let (low, high) = test(0.0, 10.0, Model::Logistic).bounds();
        near(low, -2.944_438_979_166_440_3, 1e-12);
        near(high, 2.944_438_979_166_440_3, 1e-12);
        let lopsided = Sprt { alpha: 0.01, beta: 0.1, ..test(0.0, 10.0, Model::Logistic) };
        near(lopsided.bounds().0, (0.1f64 / 0.99).ln(), 1e-12);
        near(lopsided.bounds().1, 90f64.ln(), 1e-12);
    }

    #[test]
    fn constrained_distributions_satisfy_their_constraints() {
        let seen = [0.1, 0.2, 0.4, 0.2, 0.1];
        let p = with_mean(&seen, 0.6);
        near(p.iter().sum(), 1.0, 1e-12);
        near(moments(&p).mean, 0.6, 1e-12);
        let p = with_ratio(&seen, 0.3);
        near(p.iter().sum(), 1.0, 1e-9);
        let at = moments(&p);
        near((at.mean - 0.5) / at.variance.sqrt(), 0.3, 1e-9);
        // Two values only: the constraint leaves no choice.
        near(with_mean(&[0.5, 0.5], 0.7)[1], 0.7, 1e-12);
    }

    #[test]
    fn the_ratio_changes_sign_with_the_side_and_nothing_says_nothing() {
        for model in [Model::Logistic, Model::Normalised] {
            let pairs = Pairs([3, 20, 50, 31, 9]);
            let sprt = test(-5.0, 5.0, model);
            near(sprt.llr(&pairs), -sprt.llr(&pairs.mirrored()), 1e-9);
            assert_eq!(sprt.llr(&Pairs::default()), 0.0);
            assert_eq!(sprt.decide(&Pairs::default()), Decision::Open);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let sound = test(0.0, 10.0, Model::Normalised);
        assert!(sound.check().is_ok());
        for bad in [
            Sprt { elo1: 0.0, ..sound },
            Sprt { elo0: f64::NAN, ..sound },
            Sprt { elo1: 1e9, ..sound },
            Sprt { alpha: 0.0, ..sound },
            Sprt { beta: 0.5, ..sound },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    /// One pair of games between players of a true strength. Openings favour a side: the games of a pair are
    /// anticorrelated, as in practice.
    fn pair(elo: f64, rng: &mut Rng) -> f64 {
        let lean = 120.0 * (rng.unit() - 0.5);
        let mut game = |elo: f64| {
            let (score, draws) = (score_of(elo), 0.3);
            let win = score - draws / 2.0;
            match rng.unit() {
                u if u < win => 1.0,
                u if u < win + draws => 0.5,
                _ => 0.0,
            }
        };
        game(elo + lean) + game(elo - lean)
    }

    /// How many of `matches` simulated tests accept a change of a true strength, and the mean number of pairs.
    fn accepted(sprt: &Sprt, elo: f64, matches: u64) -> (u64, f64) {
        let (mut accepted, mut played) = (0, 0);
        for seed in 0..matches {
            let mut rng = Rng::new(seed, 0);
            let mut pairs = Pairs::default();
            let decision = loop {
                pairs.count(pair(elo, &mut rng));
                played += 1;
                match sprt.decide(&pairs) {
                    Decision::Open => {}
                    decision => break decision,
                }
            };
            accepted += u64::from(decision == Decision::Accepted);
        }
        (accepted, played as f64 / matches as f64)
    }

    #[test]
    fn a_gain_of_50_elo_is_accepted_and_none_rejected_within_the_error_rates() {
        const MATCHES: u64 = 500;
        // 5 % of 500 is 25, and twice the deviation of that count 10. Over 4,000 matches a model, the rates are 4.3 to
        // 5.3 % (logistic), 4.3 and 1.4 % (normalised: 50 Elo with draws are more than 50 of its own).
        const ERRORS_MAX: u64 = 35;
        for model in [Model::Logistic, Model::Normalised] {
            let sprt = test(0.0, 50.0, model);
            let (false_alarms, _) = accepted(&sprt, 0.0, MATCHES);
            let (found, pairs) = accepted(&sprt, 50.0, MATCHES);
            assert!(false_alarms <= ERRORS_MAX, "{model:?}: {false_alarms} false alarms of {MATCHES}");
            assert!(MATCHES - found <= ERRORS_MAX, "{model:?}: {} misses of {MATCHES}", MATCHES - found);
            assert!(pairs < 200.0, "{model:?}: {pairs} pairs");
        }
        // The usual question, put to a change that is far better than asked for.
        assert_eq!(accepted(&test(0.0, 10.0, Model::Logistic), 50.0, 50).0, 50);
    }
}
