//! Scores in the domain's own words. A search compares numbers, and a problem with two aims (vehicles, then distance)
//! packs both into one; people want them apart, each with its own gap, and numbers that differ by less than they are
//! published with taken for the same.

/// One aim of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// What it counts or measures: `vehicles`, `distance`; empty for a score that is nothing but a score.
    pub what: &'static str,
    /// How much of it.
    pub value: f64,
    /// Less is better.
    pub least: bool,
    /// What is closer than this counts as equal: what is lost where such numbers are published. Below 1 it is measured,
    /// not counted, and shown with as many decimals.
    pub rounding: f64,
}

impl Measure {
    /// So many things, the more the better.
    pub fn most(what: &'static str, value: f64) -> Measure {
        Measure { what, value, least: false, rounding: 1e-9 }
    }

    /// So many things, the fewer the better.
    pub fn fewest(what: &'static str, value: f64) -> Measure {
        Measure { least: true, ..Measure::most(what, value) }
    }

    /// A length, the shorter the better, published with so much lost.
    pub fn shortest(what: &'static str, value: f64, rounding: f64) -> Measure {
        Measure { what, value, least: true, rounding }
    }

    /// How much worse than another one, in the direction of the aim; negative: better. Equal within rounding is 0.
    pub fn behind(&self, other: &Measure) -> f64 {
        let behind = if self.least { self.value - other.value } else { other.value - self.value };
        if behind.abs() <= self.rounding { 0.0 } else { behind }
    }

    /// The same in per cent of the other one.
    pub fn gap(&self, other: &Measure) -> f64 {
        100.0 * self.behind(other) / other.value.abs().max(1e-9)
    }

    /// `19 vehicles`, `distance 1650.80`, `2871`.
    pub fn text(&self) -> String {
        let counted = self.rounding < 1e-6;
        let number = match counted {
            true => plain(self.value),
            false => format!("{:.*}", (-self.rounding.log10()).ceil().max(0.0) as usize, self.value),
        };
        match (self.what, counted) {
            ("", _) => number,
            (what, true) if self.value == 1.0 => format!("1 {}", what.strip_suffix('s').unwrap_or(what)),
            (what, true) => format!("{number} {what}"),
            (what, false) => format!("{what} {number}"),
        }
    }
}

/// A score whose number says it all.
pub fn plain(score: f64) -> String {
    if score == score.trunc() && score.abs() < 1e15 {
        return format!("{}", score as i64);
    }
    let text = format!("{score:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// All of them in a row.
pub fn told(measures: &[Measure]) -> String {
    measures.iter().map(Measure::text).collect::<Vec<_>>().join(", ")
}

/// How a score stands to another one.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// Better, by more than rounding.
    Better,
    /// Equal within rounding.
    Equal,
    /// Worse: by how much of what, the first aim that is not reached, and what that is in per cent.
    Worse {
        /// The aim.
        measure: Measure,
        /// How much is missing, or too much.
        behind: f64,
        /// The same in per cent.
        gap: f64,
    },
}

/// Compares aim by aim: the first that differs decides. Scores with other aims (a tour that serves not everybody) are
/// compared by nobody.
pub fn standing(found: &[Measure], known: &[Measure]) -> Option<Standing> {
    let alike = found.len() == known.len() && found.iter().zip(known).all(|(a, b)| a.what == b.what);
    alike.then(|| {
        for (found, known) in found.iter().zip(known) {
            let behind = found.behind(known);
            if behind < 0.0 {
                return Standing::Better;
            }
            if behind > 0.0 {
                return Standing::Worse { measure: *found, behind, gap: found.gap(known) };
            }
        }
        Standing::Equal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(vehicles: f64, distance: f64) -> [Measure; 2] {
        [Measure::fewest("vehicles", vehicles), Measure::shortest("distance", distance, 0.01)]
    }

    #[test]
    fn every_aim_has_its_own_words() {
        assert_eq!(told(&routes(19.0, 1650.7993)), "19 vehicles, distance 1650.80");
        assert_eq!(told(&routes(1.0, 7.0)), "1 vehicle, distance 7.00");
        assert_eq!(told(&[Measure::most("", 2.5)]), "2.5");
        assert_eq!(told(&[Measure::most("points", 2871.0)]), "2871 points");
    }

    #[test]
    fn the_first_aim_that_differs_decides() {
        let known = routes(19.0, 1650.7993);
        assert_eq!(standing(&routes(19.0, 1650.7992), &known), Some(Standing::Equal));
        assert_eq!(standing(&routes(19.0, 1650.70), &known), Some(Standing::Better));
        assert_eq!(standing(&routes(18.0, 1900.0), &known), Some(Standing::Better));
        let Some(Standing::Worse { measure, gap, .. }) = standing(&routes(19.0, 1762.42), &known) else {
            panic!("it is longer");
        };
        assert_eq!((measure.what, (10.0 * gap).round()), ("distance", 68.0));
        let worse = standing(&routes(20.0, 1000.0), &known);
        assert!(matches!(worse, Some(Standing::Worse { behind, .. }) if behind == 1.0));
        assert_eq!(standing(&known[..1], &known), None);
    }
}
