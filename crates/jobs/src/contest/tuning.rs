//! A tuning as a source of games: a method proposes parameters, pairs of games score them, the scores steer the method.
//!
//! Sample k is proposed from the scores of the first `k - lag` samples and no others, in their order. So up to `lag`
//! pairs are under way at once, and yet the same samples are drawn in whatever order the answers come: a tuning is the
//! same at any number of threads, and goes on from its log.

use super::clop::{self, Belief, Scored};
use super::spsa::{Gains, Walk};
use super::stats::Interval;
use serde::{Deserialize, Serialize};
use sortie_core::job::Ledger;
use sortie_core::{JobId, JobSource};
use sortie_core::{Outcome, Side};
use sortie_core::{Rng, mix};

/// A parameter to tune.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The lowest value to try.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Only whole numbers.
    pub whole: bool,
}

impl Parameter {
    /// The value at a place in `[-1, 1]`.
    fn value(&self, place: f64) -> f64 {
        let value = self.low + (place + 1.0) / 2.0 * (self.high - self.low);
        let value = if self.whole { value.round() } else { value };
        value.clamp(self.low, self.high)
    }

    /// The place of a value.
    fn place(&self, value: f64) -> f64 {
        (2.0 * (value - self.low) / (self.high - self.low) - 1.0).clamp(-1.0, 1.0)
    }
}

/// How parameters are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Local quadratic regression: up to five parameters, some thousand games.
    Clop,
    /// A walk along estimated slopes: many parameters, many games.
    Spsa(Gains),
}

/// A tuning.
#[derive(Debug, Clone, PartialEq)]
pub struct TuningPlan {
    /// What is tuned.
    pub parameters: Vec<Parameter>,
    /// How.
    pub method: Method,
    /// Pairs of games.
    pub samples: u64,
    /// Samples play an opponent who does not change. Without one, SPSA compares its two points with one another.
    pub opponent: bool,
    /// How many samples may be under way at once.
    pub lag: u64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl TuningPlan {
    /// Refuses what cannot be done.
    pub fn check(&self) -> Result<(), String> {
        if self.parameters.is_empty() {
            return Err("expected at least one parameter to tune".into());
        }
        for parameter in &self.parameters {
            let (name, low, high) = (&parameter.name, parameter.low, parameter.high);
            if !(low.is_finite() && high.is_finite() && low < high) {
                return Err(format!("{name}={low}..{high}: expected the lower end first"));
            }
            if self.parameters.iter().filter(|other| other.name == *name).count() > 1 {
                return Err(format!("{name} is given twice"));
            }
        }
        match self.method {
            Method::Clop if self.parameters.len() > 5 => {
                Err("clop takes at most 5 parameters; spsa takes more".into())
            }
            Method::Clop if !self.opponent => Err("clop needs somebody to play against".into()),
            Method::Spsa(Gains { c_end, r_end })
                if !(c_end > 0.0 && c_end <= 0.5 && r_end > 0.0 && r_end <= 100.0) =>
            {
                Err(format!("c-end {c_end}, r-end {r_end}: expected 0 to 0.5 and 0 to 100"))
            }
            _ => Ok(()),
        }
    }

    /// Samples of one step of SPSA.
    fn samples_per_step(&self) -> u64 {
        if self.opponent { 2 } else { 1 }
    }
}

/// A game to be played.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The number of the game.
    pub number: u64,
    /// The number of the opening.
    pub round: u64,
    /// The side of the player with `values`.
    pub side: Side,
    /// The value of each parameter.
    pub values: Vec<f64>,
    /// The other player's, where both are tuned.
    pub rival: Option<Vec<f64>>,
    /// The seeds of the first and the second player.
    pub seeds: [u64; 2],
}

/// A sample: two games.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The value of each parameter.
    pub values: Vec<f64>,
    /// The other player's, where both are tuned.
    pub rival: Option<Vec<f64>>,
    /// The scores of the two games, as far as they are played.
    scores: [Option<f64>; 2],
}

impl Sample {
    /// The mean score, 0 to 1, when both games are played.
    pub fn score(&self) -> Option<f64> {
        Some((self.scores[0]? + self.scores[1]?) / 2.0)
    }
}

/// A tuning under way.
pub struct Tuning {
    plan: TuningPlan,
    ledger: Ledger,
    /// `samples[k]`: those proposed so far, and those that a log knows.
    samples: Vec<Option<Sample>>,
    /// The first samples of which both games are played.
    complete: u64,
    played: u64,
    walk: Walk,
    /// The last belief of CLOP, and how many samples it has seen.
    belief: Option<(u64, Belief)>,
}

impl Tuning {
    /// A tuning of which nothing is played. SPSA begins at `start`.
    pub fn new(plan: TuningPlan, start: &[f64]) -> Tuning {
        let gains = if let Method::Spsa(gains) = plan.method { gains } else { Gains::default() };
        let place = |(i, p): (usize, &Parameter)| start.get(i).map_or(0.0, |&value| p.place(value));
        let start = plan.parameters.iter().enumerate().map(place).collect();
        let walk = Walk::new(gains, plan.samples / plan.samples_per_step(), mix(plan.seed ^ 0x5b5a), start);
        Tuning {
            plan,
            ledger: Ledger::default(),
            samples: Vec::new(),
            complete: 0,
            played: 0,
            walk,
            belief: None,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &TuningPlan {
        &self.plan
    }

    /// Games at most.
    pub fn games_max(&self) -> u64 {
        self.plan.samples * 2
    }

    /// Games played, also before.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// The samples proposed so far.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().flatten()
    }

    /// Takes a game that was played in an earlier session, with the parameters it was played with. False if there is no
    /// such game, it came before, or the parameters are not those of its twin.
    pub fn known(&mut self, number: u64, values: &[f64], rival: Option<&[f64]>, outcome: Outcome) -> bool {
        let fits = |values: &[f64]| values.len() == self.plan.parameters.len();
        let paired = self.plan.opponent != rival.is_some();
        if number >= self.games_max() || !fits(values) || !rival.is_none_or(fits) || !paired {
            return false;
        }
        let sample =
            Sample { values: values.to_vec(), rival: rival.map(<[f64]>::to_vec), scores: [None, None] };
        let index = (number / 2) as usize;
        if self.samples.len() <= index {
            self.samples.resize(index + 1, None);
        }
        let kept = self.samples[index].get_or_insert(sample);
        if kept.values != values || kept.rival.as_deref() != rival || !self.ledger.known(number) {
            return false;
        }
        self.enter(number, outcome);
        true
    }

    /// The optimum of each parameter with its interval, in values.
    pub fn optima(&self) -> Vec<Interval> {
        let places = match self.plan.method {
            Method::Clop => {
                let mut rng = Rng::new(self.plan.seed, u64::MAX);
                clop::optima(self.plan.parameters.len(), &self.all_scored(), &mut rng)
            }
            Method::Spsa(_) => self.walk.optima(),
        };
        let to_value = |(parameter, place): (&Parameter, &Interval)| {
            let at = |place: f64| parameter.low + (place + 1.0) / 2.0 * (parameter.high - parameter.low);
            Interval { value: at(place.value), low: at(place.low), high: at(place.high) }
        };
        self.plan.parameters.iter().zip(&places).map(to_value).collect()
    }

    /// Roughly where the optimum is, cheap enough for a live line.
    pub fn centre(&self) -> Vec<f64> {
        let zero = vec![0.0; self.plan.parameters.len()];
        let places = match (&self.plan.method, &self.belief) {
            (Method::Clop, Some((_, belief))) => &belief.centre[..],
            (Method::Clop, None) => &zero,
            (Method::Spsa(_), _) => self.walk.at(self.walk.made()),
        };
        self.plan.parameters.iter().zip(places).map(|(parameter, &place)| parameter.value(place)).collect()
    }

    /// What is believed along parameter `i`, the others at their optima: its values, with the expected score (CLOP);
    /// or the steps made, with the value they came to (SPSA).
    pub fn curve(&self, i: usize) -> Vec<(f64, Interval)> {
        let parameter = &self.plan.parameters[i];
        match self.plan.method {
            Method::Clop => {
                let belief = self.belief_now();
                let mut point = belief.centre.clone();
                let mut at = |k: u32| {
                    point[i] = k as f64 / 25.0 - 1.0;
                    let value = parameter.low + (point[i] + 1.0) / 2.0 * (parameter.high - parameter.low);
                    (value, belief.score(&point))
                };
                (0..=50).map(&mut at).collect()
            }
            Method::Spsa(_) => {
                let made = self.walk.made();
                let at = |k: u64| {
                    let place = self.walk.at(k)[i];
                    let value = parameter.low + (place + 1.0) / 2.0 * (parameter.high - parameter.low);
                    (k as f64, Interval { value, low: value, high: value })
                };
                (0..=200.min(made)).map(|k| at(k * made / 200.min(made).max(1))).collect()
            }
        }
    }

    /// The expected score at the optimum, where the method has an opinion.
    pub fn score_at_optimum(&self) -> Option<Interval> {
        let belief = (self.plan.method == Method::Clop).then(|| self.belief_now())?;
        Some(belief.score(&belief.centre))
    }

    /// What CLOP makes of all complete samples.
    fn belief_now(&self) -> Belief {
        Belief::fit(self.plan.parameters.len(), &self.all_scored())
    }

    fn all_scored(&self) -> Vec<Scored> {
        self.samples().filter_map(|sample| self.scored(sample)).collect()
    }

    fn scored(&self, sample: &Sample) -> Option<Scored> {
        let places = self.plan.parameters.iter().zip(&sample.values);
        let point = places.map(|(parameter, &value)| parameter.place(value)).collect();
        Some(Scored { point, score: sample.score()?, games: 2.0 })
    }

    /// The parameters of sample `k`, from the scores of the first `k - lag`.
    fn propose(&mut self, k: u64) -> Sample {
        let known = k.saturating_sub(self.plan.lag);
        let values = |places: &[f64]| {
            self.plan.parameters.iter().zip(places).map(|(p, &place)| p.value(place)).collect::<Vec<f64>>()
        };
        let (values, rival) = match self.plan.method {
            Method::Clop => {
                // A fit reads every sample: when there are many, not after every one of them.
                let seen = known - known % (known / 50).max(1);
                if self.belief.as_ref().is_none_or(|(of, _)| *of != seen) {
                    let first = self.samples.iter().take(seen as usize).flatten();
                    let scored: Vec<Scored> = first.filter_map(|sample| self.scored(sample)).collect();
                    self.belief = Some((seen, Belief::fit(self.plan.parameters.len(), &scored)));
                }
                let (_, belief) = self.belief.as_ref().expect("just made");
                (values(&belief.draw(&mut Rng::new(self.plan.seed, k))), None)
            }
            Method::Spsa(_) => {
                let per_step = self.plan.samples_per_step();
                let (step, second) = (k / per_step, k % per_step == 1);
                let known = (step * per_step).saturating_sub(self.plan.lag) / per_step;
                let [plus, minus] = self.walk.rivals(step, known).map(|places| values(&places));
                match (self.plan.opponent, second) {
                    (false, _) => (plus, Some(minus)),
                    (true, false) => (plus, None),
                    (true, true) => (minus, None),
                }
            }
        };
        Sample { values, rival, scores: [None, None] }
    }

    fn enter(&mut self, number: u64, outcome: Outcome) {
        let sample = self.samples[(number / 2) as usize].as_mut().expect("proposed before it is played");
        sample.scores[(number % 2) as usize] = Some(outcome.value_for(side(number)));
        self.played += 1;
        let score = |samples: &[Option<Sample>], k: u64| samples.get(k as usize)?.as_ref()?.score();
        while score(&self.samples, self.complete).is_some() {
            self.complete += 1;
        }
        if let Method::Spsa(_) = self.plan.method {
            let per_step = self.plan.samples_per_step();
            while (self.walk.made() + 1) * per_step <= self.complete {
                let first = self.walk.made() * per_step;
                let plus = score(&self.samples, first).expect("complete");
                let gain = match self.plan.opponent {
                    false => 2.0 * plus - 1.0,
                    true => plus - score(&self.samples, first + 1).expect("complete"),
                };
                self.walk.step(gain);
            }
        }
    }
}

/// The side of the tuned player: first in the first game of a pair.
fn side(number: u64) -> Side {
    if number.is_multiple_of(2) { Side::First } else { Side::Second }
}

impl JobSource for Tuning {
    type Job = Trial;
    type Answer = Outcome;

    fn next(&mut self) -> Option<(JobId, Trial)> {
        let samples = self.plan.samples.min(self.complete + self.plan.lag + 1);
        let number = self.ledger.next(samples * 2)?;
        let k = number / 2;
        if self.samples.len() <= k as usize {
            self.samples.resize(k as usize + 1, None);
        }
        if self.samples[k as usize].is_none() {
            self.samples[k as usize] = Some(self.propose(k));
        }
        let sample = self.samples[k as usize].as_ref().expect("just proposed");
        // The two points of a step meet the opponent from the same opening.
        let spsa = matches!(self.plan.method, Method::Spsa(_));
        let round = if spsa { k / self.plan.samples_per_step() } else { k };
        let seed = |side: u64| mix(mix(self.plan.seed ^ 0x7c1e_5eed) ^ (2 * number + side));
        let trial = Trial {
            number,
            round,
            side: side(number),
            values: sample.values.clone(),
            rival: sample.rival.clone(),
            seeds: [seed(0), seed(1)],
        };
        Some((JobId(number), trial))
    }

    fn done(&mut self, id: JobId, outcome: Outcome) -> bool {
        let wanted = self.ledger.done(id.0);
        if wanted {
            self.enter(id.0, outcome);
        }
        wanted
    }

    fn lost(&mut self, id: JobId) {
        self.ledger.lost(id.0);
    }

    fn finished(&self) -> bool {
        self.played == self.games_max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::job::run_jobs;
    use std::sync::atomic::AtomicBool;

    fn plan(method: Method, opponent: bool, samples: u64, seed: u64) -> TuningPlan {
        let parameter = |name: &str, low, high| Parameter { name: name.into(), low, high, whole: false };
        let parameters = vec![parameter("c", 0.0, 2.0), parameter("bias", -5.0, 15.0)];
        TuningPlan { parameters, method, samples, opponent, lag: 8, seed }
    }

    /// The strength of a player, in log-odds: best at c = 0.6 and bias = 8.
    fn strength(values: &[f64]) -> f64 {
        -2.0 * (values[0] - 0.6).powi(2) - 0.02 * (values[1] - 8.0).powi(2)
    }

    fn play(trial: &Trial) -> Outcome {
        let rival = trial.rival.as_deref().map_or(-0.3, strength);
        let odds = strength(&trial.values) - rival;
        let mut rng = Rng::new(trial.seeds[0], trial.seeds[1]);
        match rng.unit() < 1.0 / (1.0 + (-odds).exp()) {
            true => Outcome::Win(trial.side),
            false => Outcome::Win(trial.side.other()),
        }
    }

    fn run(plan: TuningPlan, threads: usize) -> Tuning {
        let mut tuning = Tuning::new(plan, &[]);
        run_jobs(&mut tuning, threads, &AtomicBool::new(false), |_, trial| Some(play(trial)));
        assert!(tuning.finished());
        tuning
    }

    #[test]
    fn clop_finds_the_top_of_a_noisy_hill_and_its_intervals_hold_it() {
        let (mut inside, mut lost) = (0, 0.0);
        for seed in 0..5 {
            let tuning = run(plan(Method::Clop, true, 250, seed), 1);
            let optima = tuning.optima();
            inside += [0.6, 8.0].iter().zip(&optima).filter(|(at, o)| (o.low..=o.high).contains(at)).count();
            lost += -strength(&[optima[0].value, optima[1].value]) / 5.0;
        }
        assert!(inside >= 8, "{inside} of 10");
        // What is lost in strength by the errors left, in Elo: log-odds times 174. The middle of the ranges, where one
        // would begin, loses 87. Over 40 seeds the mean is 8.4 after 150 samples and 3.2 after 600.
        assert!(lost * 174.0 < 10.0, "{} Elo", lost * 174.0);
    }

    #[test]
    fn clop_samples_close_in_on_the_top() {
        let tuning = run(plan(Method::Clop, true, 300, 1), 1);
        let samples: Vec<&Sample> = tuning.samples().collect();
        let far = |samples: &[&Sample]| {
            samples.iter().map(|s| -strength(&s.values)).sum::<f64>() / samples.len() as f64
        };
        assert!(far(&samples[200..]) < 0.5 * far(&samples[..60]));
        let curve = tuning.curve(0);
        assert_eq!((curve[0].0, curve[50].0), (0.0, 2.0));
        assert!(curve.iter().all(|(_, at)| at.low <= at.value && at.value <= at.high));
        // The truth at the top: odds of e^0.3.
        let score = tuning.score_at_optimum().expect("clop has an opinion");
        assert!(score.low < 0.5744 && 0.5744 < score.high, "{score:?}");
    }

    #[test]
    fn spsa_walks_up_the_hill_alone_and_against_an_opponent() {
        for opponent in [false, true] {
            let mut lost = 0.0;
            for seed in 0..4 {
                let tuning = run(plan(Method::Spsa(Gains::default()), opponent, 3000, seed), 1);
                let optima = tuning.optima();
                lost += -strength(&[optima[0].value, optima[1].value]) / 4.0;
                assert_eq!(tuning.curve(1)[0].1.value, 5.0, "it begins in the middle");
            }
            assert!(lost * 174.0 < 20.0, "{} Elo", lost * 174.0);
        }
    }

    #[test]
    fn the_same_samples_at_any_number_of_threads_and_from_a_log() {
        for method in [Method::Clop, Method::Spsa(Gains::default())] {
            let plan = plan(method, true, 60, 5);
            let alone = run(plan.clone(), 1);
            let many = run(plan.clone(), 4);
            assert!(alone.samples().eq(many.samples()));
            let mut resumed = Tuning::new(plan, &[]);
            for (k, sample) in alone.samples().enumerate().filter(|(k, _)| k % 7 != 3 && *k < 40) {
                for number in [2 * k, 2 * k + 1] {
                    let win = sample.scores[number % 2] == Some(1.0);
                    let tuned = side(number as u64);
                    let outcome = Outcome::Win(if win { tuned } else { tuned.other() });
                    assert!(resumed.known(number as u64, &sample.values, None, outcome));
                    assert!(!resumed.known(number as u64, &sample.values, None, outcome), "twice");
                }
            }
            run_jobs(&mut resumed, 2, &AtomicBool::new(false), |_, trial| Some(play(trial)));
            assert!(resumed.samples().eq(alone.samples()));
            assert_eq!(resumed.optima(), alone.optima());
        }
    }

    #[test]
    fn whole_parameters_stay_whole_and_nonsense_is_refused() {
        let mut plan = plan(Method::Clop, true, 40, 1);
        plan.parameters[1] = Parameter { name: "draws".into(), low: 1.0, high: 6.0, whole: true };
        let tuning = run(plan.clone(), 1);
        assert!(tuning.samples().all(|sample| sample.values[1].fract() == 0.0));
        assert!(plan.check().is_ok());
        let parameter = plan.parameters[0].clone();
        for bad in [
            TuningPlan { parameters: Vec::new(), ..plan.clone() },
            TuningPlan { parameters: vec![parameter.clone(); 2], ..plan.clone() },
            TuningPlan { parameters: vec![Parameter { low: 9.0, ..parameter }], ..plan.clone() },
            TuningPlan { opponent: false, ..plan.clone() },
            TuningPlan { method: Method::Spsa(Gains { c_end: 0.0, r_end: 1.0 }), ..plan.clone() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }
}
