//! Scores of an instance in the words of its domain, for pages: what a score is made of, how it stands to the best known,
//! where its marks are along an axis. A score of two aims (vehicles, then distance) is one number that nobody reads.

use crate::instance::open_instance;
use crate::show;
use serde_json::{Value, json};
use sortie_core::measure::{Measure, Standing, standing, told};
use sortie_core::{AnyProblem, Opened};
use std::path::Path;
use std::sync::Arc;

/// How scores of one instance are told. Without an instance they are plain numbers.
#[derive(Clone, Default)]
pub struct Aims {
    problem: Option<Arc<dyn AnyProblem>>,
    known: Option<f64>,
}

impl std::fmt::Debug for Aims {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Aims").field("known", &self.known).finish_non_exhaustive()
    }
}

impl From<Box<dyn AnyProblem>> for Aims {
    fn from(problem: Box<dyn AnyProblem>) -> Aims {
        let known = problem.best_known();
        Aims { problem: Some(Arc::from(problem)), known }
    }
}

/// A score of two aims: minus so many of the first, each worth `worth`, and minus the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packed {
    /// Of the first aim.
    pub what: &'static str,
    /// What one of them counts for.
    pub worth: f64,
    /// The last aim of the score that was asked about: marks of the first are as far off as this.
    pub beside: f64,
}

impl Aims {
    /// Of the instance of a run.
    pub fn of(folder: &Path, instance: &str) -> Aims {
        match open_instance(folder, instance) {
            Ok(Opened::Problem(problem)) => Aims::from(problem),
            _ => Aims::default(),
        }
    }

    /// The best score known, as searches count.
    pub fn known(&self) -> Option<f64> {
        self.known
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        match &self.problem {
            Some(problem) => problem.measures(score),
            None => vec![Measure::most("", score)],
        }
    }

    /// What a score is made of, for a table that says in its head what it shows: `2,871`, `19 vehicles, distance 1650.80`.
    pub fn told(&self, score: f64) -> String {
        match &self.measures(score)[..] {
            [one] if one.rounding < 1e-6 => show::score(one.value),
            [one] => Measure { what: "", ..*one }.text(),
            several => told(several),
        }
    }

    /// The same with what it counts: `2,871 points`.
    pub fn in_full(&self, score: f64) -> String {
        match &self.measures(score)[..] {
            [Measure { what: "" | "score", value, .. }] => show::score(*value),
            [one] if one.rounding < 1e-6 && one.value != 1.0 => {
                format!("{} {}", show::score(one.value), one.what)
            }
            measures => told(measures),
        }
    }

    /// The mean, aim by aim.
    pub fn mean(&self, scores: &[f64]) -> Option<String> {
        let all: Vec<Vec<Measure>> = scores.iter().map(|&score| self.measures(score)).collect();
        let first = all.first()?;
        let alike = |other: &Vec<Measure>| {
            other.len() == first.len() && other.iter().zip(first).all(|(a, b)| a.what == b.what)
        };
        if !all.iter().all(alike) {
            return None;
        }
        let mean = |i: usize| all.iter().map(|measures| measures[i].value).sum::<f64>() / all.len() as f64;
        let parts = first.iter().enumerate().map(|(i, measure)| {
            let mean = (100.0 * mean(i)).round() / 100.0;
            match (measure.what, measure.rounding < 1e-6) {
                _ if first.len() == 1 => show::score(mean),
                (what, true) => format!("{} {what}", show::score(mean)),
                (what, false) => format!("{what} {mean:.2}"),
            }
        });
        Some(parts.collect::<Vec<_>>().join(", "))
    }

    /// How a score stands to the best known, in few words: `0`, `record`, `1 vehicle`, `6.8 %`.
    pub fn gap(&self, best: f64) -> Option<String> {
        let known = self.known?;
        Some(match standing(&self.measures(best), &self.measures(known))? {
            Standing::Equal => "0".into(),
            Standing::Better => "record".into(),
            Standing::Worse { measure, behind, .. } if self.counts_first(known, &measure) => {
                Measure { value: behind, ..measure }.text()
            }
            Standing::Worse { gap, .. } if gap >= 1000.0 => "far".into(),
            Standing::Worse { gap, .. } => format!("{gap:.1} %"),
        })
    }

    /// The same as a sentence.
    pub fn stands(&self, best: f64) -> Option<String> {
        let known = self.in_full(self.known?);
        Some(match self.gap(best)?.as_str() {
            "0" => "equals the best known".into(),
            "record" => format!("better than the best known, {known}"),
            gap => format!("{gap} behind the best known, {known}"),
        })
    }

    /// By what a list is ordered: the first aim that is not reached, in per cent; what it counts before what it measures.
    pub fn behind(&self, best: f64) -> Option<f64> {
        let known = self.known?;
        Some(match standing(&self.measures(best), &self.measures(known))? {
            Standing::Equal => 0.0,
            Standing::Better => -1.0,
            Standing::Worse { measure, gap, .. } if self.counts_first(known, &measure) => 1e6 + gap,
            Standing::Worse { gap, .. } => gap,
        })
    }

    /// The first aim that is not reached, as a share of what is known of it.
    pub fn share(&self, best: f64) -> Option<f64> {
        let known = self.known?;
        Some(match standing(&self.measures(best), &self.measures(known))? {
            Standing::Worse { gap, .. } => gap / 100.0,
            Standing::Equal => 0.0,
            Standing::Better => show::gap_share(best, known).min(0.0),
        })
    }

    /// Whether this is the aim that is counted before another is measured.
    fn counts_first(&self, known: f64, measure: &Measure) -> bool {
        self.measures(known).len() > 1 && measure.rounding < 1e-6
    }

    /// Whether scores have several aims.
    pub fn several(&self, score: f64) -> bool {
        self.measures(score).len() > 1
    }

    /// How two aims are packed into a score, and how far beside a mark of the first this one lies.
    pub fn packed(&self, score: f64) -> Option<Packed> {
        let measures = self.measures(score);
        let [first, second] = &measures[..] else { return None };
        let worth = (-score - second.value) / first.value;
        let packs = first.least && second.least && worth.is_finite() && worth > second.value;
        packs.then_some(Packed { what: first.what, worth: worth.round(), beside: second.value })
    }

    /// For a script that draws as the run goes on.
    pub fn to_json(&self, score: Option<f64>) -> Value {
        let Some(score) = score.or(self.known) else { return Value::Null };
        let measures = self.measures(score);
        if measures.len() == 1 && !measures[0].least && matches!(measures[0].what, "" | "score") {
            return Value::Null;
        }
        let measure = |measure: &Measure| {
            let decimals =
                if measure.rounding < 1e-6 { None } else { Some(-measure.rounding.log10().floor()) };
            json!({ "what": measure.what, "least": measure.least, "decimals": decimals, "rounding": measure.rounding })
        };
        json!({
            "measures": measures.iter().map(measure).collect::<Vec<_>>(),
            "worth": self.packed(score).map(|packed| packed.worth),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aims(instance: &str) -> Aims {
        Aims::of(Path::new("/nowhere"), instance)
    }

    #[test]
    fn routes_are_vehicles_and_a_distance() {
        let r101 = aims("vrptw/R101");
        assert_eq!(r101.told(-191_650.797_3), "19 vehicles, distance 1650.80");
        assert_eq!(r101.gap(-191_650.797_3).as_deref(), Some("0"));
        assert_eq!(r101.gap(-191_762.42).as_deref(), Some("6.8 %"));
        assert_eq!(r101.gap(-201_650.0).as_deref(), Some("1 vehicle"));
        assert_eq!(
            r101.stands(-201_650.0).unwrap(),
            "1 vehicle behind the best known, 19 vehicles, distance 1650.80"
        );
        assert!(r101.behind(-201_650.0) > r101.behind(-199_999.0));
        assert_eq!(r101.mean(&[-191_650.0, -201_700.0]).unwrap(), "19.5 vehicles, distance 1675.00");
        let packed = r101.packed(-191_762.42).unwrap();
        assert_eq!((packed.what, packed.worth, packed.beside.round()), ("vehicles", 10_000.0, 1762.0));
    }

    #[test]
    fn points_are_a_number() {
        let board = aims("samegame/1");
        assert_eq!((board.told(2979.0), board.in_full(2979.0)), ("2979".into(), "2979 points".into()));
        assert_eq!(board.gap(3413.0).as_deref(), Some("0"));
        assert_eq!(board.gap(2979.0).as_deref(), Some("12.7 %"));
        assert_eq!((board.packed(5.0), board.mean(&[1.0, 2.0])), (None, Some("1.5".into())));
        assert_eq!((Aims::default().told(-12_345.5), Aims::default().gap(1.0)), ("-12,345.5".into(), None));
    }
}
