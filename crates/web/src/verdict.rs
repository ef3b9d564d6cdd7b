//! What a match has shown, in a sentence and in figures: of two players who is stronger, of several who leads. Reports and
//! the page of a match say the same.

use crate::chart::{Across, Chart, Line};
use crate::contest::{Log, Tally};
use crate::show;
use crate::summary::Summary;
use crate::text::read_whole;
use serde::Deserialize;
use sortie_jobs::contest::{Decision, Interval, Model, Pairs, Sprt};

/// A likelihood of superiority beyond this, or below what it leaves, is called a difference: two-sided 95 %.
const SURE: f64 = 0.975;

/// What a match was asked for, as far as it matters here.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    #[serde(default)]
    sprt: Option<Sprt>,
}

/// A sequential test under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// What is tested.
    pub sprt: Sprt,
    /// The log-likelihood ratio.
    pub llr: f64,
    /// What it says.
    pub decision: Decision,
}

impl Test {
    /// What the bounds are measured in.
    pub fn unit(&self) -> &'static str {
        if self.sprt.model == Model::Logistic { "Elo" } else { "nElo" }
    }
}

/// Two players of a match, as the first of them sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The two who are compared.
    pub names: [String; 2],
    /// Their games against each other.
    pub tally: Tally,
    /// The test, if the match is one.
    pub test: Option<Test>,
    /// There are more players than these.
    pub leaders: bool,
}

/// What a match shows; `None` before its first pair of games.
pub fn of(run: &Summary, log: &Log) -> Option<Verdict> {
    let asked: Asked = read_whole(&run.path.join(run.kind.request()))
        .ok()
        .and_then(|text| toml::from_str(&text).ok())
        .unwrap_or_default();
    let (a, b) = match log.order()[..] {
        // As the match was asked for: the log has them by who moved first in the game that ended first.
        [_, _] if run.told.players.first() == log.players.get(1) => (1, 0),
        [_, _] => (0, 1),
        [first, second, ..] => (first, second),
        _ => return None,
    };
    let tally = log.tally(a, b);
    if tally.pairs.total() == 0 {
        return None;
    }
    let leaders = log.players.len() > 2;
    let test = asked.sprt.filter(|sprt| !leaders && sprt.check().is_ok());
    let test =
        test.map(|sprt| Test { sprt, llr: sprt.llr(&tally.pairs), decision: sprt.decide(&tally.pairs) });
    Some(Verdict { names: [log.players[a].clone(), log.players[b].clone()], tally, test, leaders })
}

impl Verdict {
    /// The verdict in one line, and whether it is good for the first, bad, or open.
    pub fn headline(&self) -> (String, &'static str) {
        let [a, b] = &self.names;
        let los = self.tally.pairs.estimate().los;
        if let Some(test) = &self.test {
            let (low, high) = (show::score(test.sprt.elo0), show::score(test.sprt.elo1));
            let unit = test.unit();
            return match test.decision {
                Decision::Accepted => {
                    (format!("Accepted: {a} is {high} {unit} stronger than {b}, or more"), "good")
                }
                Decision::Rejected => {
                    (format!("Rejected: {a} is no more than {low} {unit} stronger than {b}"), "bad")
                }
                Decision::Open => (
                    format!("Not decided yet: is {a} stronger than {b} by {high} {unit}, or by {low}?"),
                    "open",
                ),
            };
        }
        let leads = if self.leaders { "leads, and is stronger than" } else { "is stronger than" };
        match los {
            los if los >= SURE => (format!("{a} {leads} {b}"), "good"),
            los if los <= 1.0 - SURE => (format!("{b} {leads} {a}"), "bad"),
            _ if self.leaders => (format!("{a} leads; {b} may be as strong"), "open"),
            _ => (format!("No difference between {a} and {b} is shown yet"), "open"),
        }
    }

    /// What it rests on.
    pub fn below(&self) -> String {
        let games = self.tally.games;
        let estimate = self.tally.pairs.estimate();
        format!(
            "{} games: {} won, {} drawn, {} lost by {}; {} Elo.",
            show::count(games.total() as f64),
            show::count(games.wins as f64),
            show::count(games.draws as f64),
            show::count(games.losses as f64),
            self.names[0],
            elo(&estimate.elo)
        )
    }

    /// How the two stood after so many games, as the first of them sees it.
    fn course<'a>(&self, log: &'a Log) -> impl Iterator<Item = (u64, Pairs)> + use<'a> {
        let turned = log.players.first() != Some(&self.names[0]);
        log.course.iter().map(move |(games, pairs)| (*games, if turned { pairs.mirrored() } else { *pairs }))
    }

    /// The score over the games, with its interval; `None` where there is too little to draw.
    pub fn chart(&self, log: &Log) -> Option<Chart> {
        if log.course.len() < 3 || self.leaders {
            return None;
        }
        let point = |(games, pairs): (u64, Pairs)| {
            let Interval { value, low, high } = pairs.estimate().score;
            (games as f64, [low, value, high].map(|share| 100.0 * share))
        };
        Some(Chart {
            title: format!("Score of {} in per cent over the games", self.names[0]),
            x_label: "games".into(),
            across: Across::Count,
            steps: false,
            lines: vec![Line { points: self.course(log).map(point).collect(), colour: 0 }],
            levels: vec![(50.0, "as strong".into())],
            packed: None,
        })
    }

    /// The log-likelihood ratio over the games, between its bounds.
    pub fn test_chart(&self, log: &Log) -> Option<Chart> {
        let test = self.test.as_ref().filter(|_| log.course.len() >= 3)?;
        let (low, high) = test.sprt.bounds();
        let point = |(games, pairs): (u64, Pairs)| (games as f64, [test.sprt.llr(&pairs); 3]);
        // The bounds belong into the picture however far the ratio is from them.
        let ends = |level: f64| Line { points: vec![(0.0, [level; 3])], colour: 7 };
        let course = Line { points: self.course(log).map(point).collect(), colour: 3 };
        Some(Chart {
            title: "Log-likelihood ratio over the games".into(),
            x_label: "games".into(),
            across: Across::Count,
            steps: false,
            lines: vec![ends(low), ends(high), course],
            levels: vec![(high, format!("accept {high:.2}")), (low, format!("reject {low:.2}"))],
            packed: None,
        })
    }
}

/// `+38 (+6 to +71)`.
pub fn elo(interval: &Interval) -> String {
    let one = |value: f64| match value {
        value if value.is_infinite() => if value > 0.0 { "∞" } else { "−∞" }.to_string(),
        value => format!("{value:+.0}").replace('-', "−"),
    };
    format!("{} ({} to {})", one(interval.value), one(interval.low), one(interval.high))
}

/// A score in per cent with its interval.
pub fn share(interval: &Interval) -> String {
    format!("{:.1} ({:.1} to {:.1})", 100.0 * interval.value, 100.0 * interval.low, 100.0 * interval.high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(asked: &str, results: &[&str]) -> (tempfile::TempDir, Summary, Log) {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("match.toml"), asked).unwrap();
        let line = |(i, winner): (usize, &&str)| {
            let (first, second) = if i % 2 == 0 { ("a", "b") } else { ("b", "a") };
            let result = match *winner {
                "=" => "draw",
                winner if winner == first => "first",
                _ => "second",
            };
            format!(
                "{{\"game\":{i},\"instance\":\"nim/21\",\"first\":\"{first}\",\"second\":\"{second}\",\"seeds\":[1,2],\"opening\":0,\"seconds\":0.1,\"thought_seconds\":[0,0],\"moves\":[\"1\"],\"result\":\"{result}\",\"reason\":\"rules\"}}\n"
            )
        };
        let text: String = results.iter().enumerate().map(line).collect();
        std::fs::write(home.path().join("games.jsonl"), text).unwrap();
        let run = Summary::read("m", home.path());
        let log = Log::read(&home.path().join("games.jsonl")).unwrap();
        (home, run, log)
    }

    #[test]
    fn a_match_comes_to_a_verdict() {
        let (_home, run, log) = played("format = 1\n", &["a", "b", "=", "="]);
        let even = of(&run, &log).unwrap();
        assert!(even.headline().0.starts_with("No difference") && even.chart(&log).is_none());
        let (_home, run, log) = played("format = 1\n", &["a"; 24]);
        let won = of(&run, &log).unwrap();
        assert_eq!(won.headline(), ("a is stronger than b".to_string(), "good"));
        assert!(won.below().starts_with("24 games: 24 won"), "{}", won.below());
        assert!(won.chart(&log).unwrap().markup().contains("as strong"));
        let (_home, run, log) = played("format = 1\n", &["b"; 24]);
        assert_eq!(of(&run, &log).unwrap().headline(), ("b is stronger than a".to_string(), "bad"));
        assert!(of(&run, &Log::default()).is_none());
        // The one who was asked for first is the one whose score it is, whoever moved first in the log.
        let (_home, run, log) = played("format = 1\nplayers = [\"b\", \"a\"]\n", &["b"; 24]);
        let won = of(&run, &log).unwrap();
        assert_eq!(won.headline(), ("b is stronger than a".to_string(), "good"));
        assert!(won.below().starts_with("24 games: 24 won"), "{}", won.below());
        assert!(won.course(&log).all(|(_, pairs)| pairs.0[..4] == [0; 4]), "the curve is that of b as well");
    }

    #[test]
    fn a_test_says_what_it_has_decided() {
        const SPRT: &str = "format = 1\n[sprt]\nelo0 = 0.0\nelo1 = 10.0\nalpha = 0.05\nbeta = 0.05\nmodel = \"normalised\"\n";
        let results: Vec<&str> = (0..4000).map(|i| if i % 4 == 3 { "b" } else { "a" }).collect();
        let (_home, run, log) = played(SPRT, &results);
        let verdict = of(&run, &log).unwrap();
        assert_eq!(verdict.test.unwrap().decision, Decision::Accepted);
        assert!(
            verdict.headline().0.starts_with("Accepted: a is 10 nElo stronger"),
            "{}",
            verdict.headline().0
        );
        assert!(
            log.course.len() <= 600 && verdict.test_chart(&log).unwrap().markup().contains("accept 2.94")
        );
        let (_home, run, log) = played(SPRT, &["a", "b", "a", "="]);
        assert!(of(&run, &log).unwrap().headline().0.starts_with("Not decided yet"));
    }
}
