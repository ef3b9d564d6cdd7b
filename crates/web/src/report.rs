//! Several runs as one: those that differ in their seed alone make a group, with the median and the middle of its
//! scores over time; groups of one instance are compared. The same data become a page, markdown, SVG and JSON.

use crate::aims::Aims;
use crate::chart::{Across, Chart, Line};
use crate::contest::Log;
use crate::curve::{Curve, POINTS_MAX};
use crate::folder::RESULT;
use crate::kind::{GAMES, Kind};
use crate::library;
use crate::show;
use crate::summary::{State, Summary};
use crate::text::read_whole;
use crate::verdict;
use serde_json::{Value, json};
use sortie_jobs::stats::{self, RankTest};
use std::path::{Path, PathBuf};

/// Places at which bands are drawn.
const GRID: usize = 240;
/// A difference with a smaller p is called real.
pub const SURE: f64 = 0.05;
/// Budgets that differ by more than this share are pointed at.
const UNLIKE: f64 = 0.1;

/// One run of a report.
#[derive(Debug, Clone)]
pub struct Member {
    /// What it was told and how it stands.
    pub summary: Summary,
    /// The best score over time.
    pub curve: Curve,
}

impl Member {
    /// The best score: at a time, or at the end.
    pub fn best(&self, at: Option<f64>) -> Option<f64> {
        match at {
            Some(seconds) => self.curve.best_at(seconds),
            None => self.summary.best,
        }
    }
}

/// Runs that differ in their seed alone.
#[derive(Debug, Clone)]
pub struct Group {
    /// `domain/name`.
    pub instance: String,
    /// The search and its parameters.
    pub search: String,
    /// What tells it from the other groups, for people.
    pub name: String,
    /// How scores of the instance are told, and the best known.
    pub aims: Aims,
    /// The runs.
    pub members: Vec<Member>,
}

impl Group {
    /// The best scores, at a time or at the end.
    pub fn scores(&self, at: Option<f64>) -> Vec<f64> {
        self.members.iter().filter_map(|member| member.best(at)).collect()
    }

    /// The longest of its runs.
    pub fn seconds(&self) -> f64 {
        let last = self.members.iter().filter_map(|member| member.curve.last());
        last.map(|point| point.seconds).fold(0.0, f64::max)
    }

    /// Over time: a tenth, half, nine tenths of the runs are at most there. Begins when all have found something.
    pub fn band(&self) -> Vec<(f64, [f64; 3])> {
        let first =
            |member: &Member| member.curve.points().find(|point| point.best.is_some()).map(|p| p.seconds);
        let (begin, end) = (self.members.iter().filter_map(first).fold(1e-3, f64::max), self.seconds());
        // Half of the places are as far apart as the others, half by a factor: a chart may be drawn either way.
        let evenly = (0..=GRID / 2).map(|i| begin + (end - begin).max(0.0) * i as f64 / (GRID / 2) as f64);
        let tenfold =
            (1..GRID / 2).map(|i| begin * (end / begin).max(1.0).powf(i as f64 / (GRID / 2) as f64));
        let mut places: Vec<f64> = evenly.chain(tenfold).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at_place = |place: f64| {
            let values: Option<Vec<f64>> =
                self.members.iter().map(|member| member.curve.best_at(place)).collect();
            let values = stats::sorted(values?);
            let at = |q| stats::quantile(&values, q);
            Some((place, [at(0.1)?, at(0.5)?, at(0.9)?]))
        };
        places.into_iter().filter_map(at_place).collect()
    }
}

/// A match, a tuning or a proof, in words.
#[derive(Debug, Clone)]
pub struct Other {
    /// What it was told and how it stands.
    pub summary: Summary,
    /// What it has come to.
    pub headline: String,
    /// What that rests on.
    pub below: String,
}

/// What is reported.
#[derive(Debug, Clone)]
pub struct Report {
    /// The groups, by instance and search.
    pub groups: Vec<Group>,
    /// Matches, tunings and proofs: what each has come to.
    pub others: Vec<Other>,
    /// Folders that could not be used, and why.
    pub left_out: Vec<(String, String)>,
    /// Scores are those at this time; none: at the end.
    pub at: Option<f64>,
}

/// Gathers the runs in some folders and below them.
pub fn gather(folders: &[PathBuf], at: Option<f64>) -> Report {
    let mut summaries = Vec::new();
    let mut left_out = Vec::new();
    let mut others = Vec::new();
    for folder in folders {
        if !folder.is_dir() {
            left_out.push((folder.display().to_string(), "there is no such folder".to_string()));
            continue;
        }
        for found in library::scan(folder).found {
            let name = match found.name.as_str() {
                library::ITSELF => folder.display().to_string(),
                name => format!("{}/{name}", folder.display()),
            };
            match found.kind {
                Kind::Solve => summaries.push(Summary::read(&name, &found.path)),
                Kind::Foreign => {}
                Kind::Match | Kind::Tune | Kind::Prove => match other(Summary::read(&name, &found.path)) {
                    Ok(other) => others.push(other),
                    Err(why) => left_out.push((name, why.into())),
                },
                kind => left_out.push((name, format!("a {} has no score over time", kind.name()))),
            }
        }
        if Kind::of(folder) == Kind::Foreign
            && library::scan(folder).found.iter().all(|f| f.kind == Kind::Foreign)
        {
            left_out.push((folder.display().to_string(), "there are no runs in it".to_string()));
        }
    }
    Report { others, ..of(summaries, left_out, at) }
}

/// What a match, a tuning or a proof has come to; the error says why there is nothing to tell.
fn other(summary: Summary) -> Result<Other, &'static str> {
    let result: Value = read_whole(&summary.path.join(RESULT))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let (headline, below) = match summary.kind {
        Kind::Match => {
            let log = Log::read(&summary.path.join(GAMES)).unwrap_or_default();
            let verdict = verdict::of(&summary, &log).ok_or("no pair of games has ended yet")?;
            (verdict.headline().0, verdict.below())
        }
        Kind::Tune => tuned(&result).ok_or("nothing is believed of its parameters yet")?,
        _ => proved(&result).ok_or("it has not told a result yet")?,
    };
    Ok(Other { summary, headline, below })
}

fn tuned(result: &Value) -> Option<(String, String)> {
    let number = |value: &Value| {
        value.as_f64().map_or("?".to_string(), |value| show::score((value * 1e4).round() / 1e4))
    };
    let one = |row: &Value| {
        let name = row["name"].as_str().unwrap_or("?");
        format!("{name} {} ({} to {})", number(&row["value"]), number(&row["low"]), number(&row["high"]))
    };
    let rows = result["optimum"].as_array().filter(|rows| !rows.is_empty())?;
    let score = result["score"]["value"].as_f64();
    let below = score.map_or(String::new(), |score| format!("The score there is {:.1} %.", 100.0 * score));
    Some((format!("Believed best: {}", rows.iter().map(one).collect::<Vec<_>>().join(", ")), below))
}

fn proved(result: &Value) -> Option<(String, String)> {
    let parts: Vec<&str> = result["proved"].as_array()?.iter().filter_map(Value::as_str).collect();
    let headline = match (result["value"].as_str(), &parts[..], result["best"].as_str()) {
        (Some("draw"), ..) => "Proved: a draw".to_string(),
        (_, [], Some(best)) => format!("Not decided; {best} is expected"),
        (_, [], None) => "Not decided".into(),
        (_, parts, _) => format!("Proved: {}", parts.join(", ")),
    };
    let jobs = &result["jobs"];
    let count = |key: &str| show::count(jobs[key].as_f64().unwrap_or_default());
    Some((headline, format!("{} answers, which looked at {} positions.", count("answered"), count("nodes"))))
}

/// Groups runs.
pub fn of(summaries: Vec<Summary>, mut left_out: Vec<(String, String)>, at: Option<f64>) -> Report {
    let mut groups: Vec<Group> = Vec::new();
    for summary in summaries {
        let trouble = summary.trouble.first().cloned();
        let curve = match summary.history() {
            Ok(history) if history.curve.last().is_some() => history.curve,
            _ if summary.best.is_some() => Curve::new(POINTS_MAX),
            _ => {
                let why = trouble.unwrap_or_else(|| "it has no score yet".into());
                left_out.push((summary.name, why));
                continue;
            }
        };
        let (instance, search) = summary.group();
        let at = groups.iter().position(|group| group.instance == instance && group.search == search);
        let at = at.unwrap_or_else(|| {
            let aims = Aims::of(&summary.path, &instance);
            groups.push(Group { instance, search, name: String::new(), aims, members: Vec::new() });
            groups.len() - 1
        });
        groups[at].members.push(Member { summary, curve });
    }
    groups.sort_by(|a, b| (&a.instance, &a.search).cmp(&(&b.instance, &b.search)));
    for group in &mut groups {
        group.members.sort_by_key(|member| (member.summary.told.seed, member.summary.name.clone()));
        group.name = group.search.clone();
    }
    Report { groups, others: Vec::new(), left_out, at }
}

impl Report {
    /// The instances, each with its groups.
    pub fn instances(&self) -> Vec<(&str, Vec<&Group>)> {
        let chunks = self.groups.chunk_by(|a, b| a.instance == b.instance);
        chunks.map(|groups| (groups[0].instance.as_str(), groups.iter().collect())).collect()
    }

    /// The chart of some groups of one instance.
    pub fn chart(&self, groups: &[&Group]) -> Chart {
        let line = |(colour, group): (usize, &&Group)| Line { points: group.band(), colour };
        let aims = groups.first().map(|group| group.aims.clone()).unwrap_or_default();
        let best = groups.iter().flat_map(|group| group.scores(None)).max_by(f64::total_cmp);
        Chart {
            title: format!("Best score over time on {}", groups.first().map_or("", |group| &group.instance)),
            x_label: "time (logarithmic)".into(),
            across: Across::LogSeconds,
            steps: true,
            lines: groups.iter().enumerate().map(line).collect(),
            levels: aims
                .known()
                .map(|known| (known, format!("best known {}", aims.told(known))))
                .into_iter()
                .collect(),
            packed: best.and_then(|best| aims.packed(best)),
        }
    }

    /// The rows of the table of some groups.
    pub fn rows(&self, groups: &[&Group]) -> Vec<Row> {
        groups.iter().map(|group| Row::of(group, self.at)).collect()
    }

    /// As data.
    pub fn to_json(&self) -> Value {
        let member = |member: &Member| {
            let run = &member.summary;
            json!({
                "folder": run.name, "seed": run.told.seed, "score": member.best(self.at), "playouts": run.playouts,
                "seconds": run.seconds, "state": run.state.name(),
            })
        };
        let group = |group: &Group| {
            let row = Row::of(group, self.at);
            json!({
                "instance": group.instance, "search": group.search, "best_known": group.aims.known(), "runs": row.runs,
                "median": row.median, "median_low": row.interval.map(|i| i.0), "median_high": row.interval.map(|i| i.1),
                "mean": row.mean, "best": row.best, "worst": row.worst, "gap": row.gap,
                "members": group.members.iter().map(member).collect::<Vec<_>>(),
            })
        };
        let left = |(folder, why): &(String, String)| json!({ "folder": folder, "why": why });
        json!({
            "at_seconds": self.at,
            "groups": self.groups.iter().map(group).collect::<Vec<_>>(),
            "others": self.others.iter().map(|other| json!({
                "folder": other.summary.name, "kind": other.summary.kind.name(), "instance": other.summary.told.instance,
                "headline": other.headline, "below": other.below,
            })).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(left).collect::<Vec<_>>(),
        })
    }

    /// As markdown: a table an instance, and what the differences are worth.
    pub fn markdown(&self) -> String {
        let mut out = String::from("# Runs\n");
        for (instance, groups) in self.instances() {
            out += &format!("\n## {}\n\n", cell(instance));
            if let Some(known) = groups[0].aims.known() {
                out += &format!("Best known: {}.\n\n", groups[0].aims.in_full(known));
            }
            out += "| search | runs | median | 95 % | mean | best | gap |\n|---|--:|--:|---|--:|--:|--:|\n";
            for (group, row) in groups.iter().zip(self.rows(&groups)) {
                let cells = row.cells(group, self.at).join(" | ");
                out += &format!("| {} | {cells} |\n", cell(&group.name));
            }
            for said in self.differences(&groups) {
                out += &format!("\n- {}", cell(&said));
            }
            out += "\n";
        }
        if !self.others.is_empty() {
            out += "\n## Matches, tunings and proofs\n\n";
        }
        for Other { summary, headline, below } in &self.others {
            let (name, kind, instance) =
                (cell(&summary.name), summary.kind.name(), cell(&summary.told.instance));
            out += &format!("- {name} ({kind}, {instance}): {}. {}\n", cell(headline), cell(below));
        }
        for (folder, why) in &self.left_out {
            out += &format!("\nLeft out: {} ({}).\n", cell(folder), cell(why));
        }
        out
    }

    /// What is to be said about each pair of groups.
    pub fn differences(&self, groups: &[&Group]) -> Vec<String> {
        let mut said = Vec::new();
        for (i, a) in groups.iter().enumerate() {
            for b in &groups[i + 1..] {
                said.push(Comparison::of(a, b, self.at).sentence());
            }
        }
        said
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ").replace('<', "&lt;")
}

/// A group in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Runs with a score.
    pub runs: usize,
    /// The median of their best.
    pub median: Option<f64>,
    /// 95 % of the bootstrap of it.
    pub interval: Option<(f64, f64)>,
    /// The mean.
    pub mean: Option<f64>,
    /// The best of all.
    pub best: Option<f64>,
    /// The worst.
    pub worst: Option<f64>,
    /// How far the median is below the best known, as a share of that.
    pub gap: Option<f64>,
}

impl Row {
    /// Of a group.
    pub fn of(group: &Group, at: Option<f64>) -> Row {
        let scores = stats::sorted(group.scores(at));
        let median = stats::median(&scores);
        let several = scores.first().is_some_and(|&score| group.aims.several(score));
        let reached = if several { scores.get(scores.len().saturating_sub(1) / 2).copied() } else { median };
        Row {
            runs: scores.len(),
            median,
            interval: stats::bootstrap(&scores, stats::median),
            mean: stats::mean(&scores),
            best: scores.last().copied(),
            worst: scores.first().copied(),
            gap: reached.and_then(|median| group.aims.share(median)),
        }
    }

    /// Runs, median, interval, mean, best, gap; for people.
    pub fn cells(&self, group: &Group, at: Option<f64>) -> [String; 6] {
        let (aims, scores) = (&group.aims, stats::sorted(group.scores(at)));
        if self.best.is_some_and(|best| aims.several(best)) {
            // Between two scores of several aims there is none: those that were reached are told.
            let reached = |value: f64| scores.iter().rev().copied().find(|&score| score <= value + 1e-9);
            let told =
                |value: Option<f64>| value.and_then(reached).map_or("-".into(), |value| aims.told(value));
            let interval = match self.interval {
                Some((low, high)) => format!("{} to {}", told(Some(low)), told(Some(high))),
                None => "-".into(),
            };
            let gap = self.median.and_then(reached).and_then(|median| aims.gap(median));
            let (mean, gap) = (aims.mean(&scores).unwrap_or("-".into()), gap.unwrap_or("-".into()));
            return [self.runs.to_string(), told(self.median), interval, mean, told(self.best), gap];
        }
        let number =
            |value: Option<f64>| value.map_or("-".into(), |value| aims.told((value * 100.0).round() / 100.0));
        let interval = match self.interval {
            Some((low, high)) => format!("{} to {}", number(Some(low)), number(Some(high))),
            None => "-".into(),
        };
        let gap = self.gap.map_or("-".into(), |gap| format!("{:.1} %", 100.0 * gap));
        [self.runs.to_string(), number(self.median), interval, number(self.mean), number(self.best), gap]
    }
}

/// Two groups side by side.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What the first is.
    pub a: String,
    /// What the second is.
    pub b: String,
    /// How many runs each has.
    pub runs: [usize; 2],
    /// Their medians.
    pub medians: [Option<f64>; 2],
    /// The median of the second less that of the first, 95 % of the bootstrap.
    pub difference: Option<(f64, f64)>,
    /// The rank test.
    pub test: Option<RankTest>,
    /// Scores have several aims.
    pub several: bool,
    /// What to keep in mind.
    pub notes: Vec<String>,
}

/// Compares the runs under two folders. An error if there is nothing to compare.
pub fn compare(a: &Path, b: &Path, at: Option<f64>) -> Result<Comparison, String> {
    let one = |path: &Path| -> Result<Group, String> {
        let mut report = gather(&[path.to_path_buf()], at);
        match report.groups.len() {
            1 => Ok(report.groups.remove(0)),
            0 => {
                let why = report.left_out.first().map_or("there are no runs in it", |(_, why)| why.as_str());
                Err(format!("{}: {why}", path.display()))
            }
            _ => {
                let kinds: Vec<String> = report
                    .groups
                    .iter()
                    .map(|group| format!("{} by {}", group.instance, group.search))
                    .collect();
                Err(format!(
                    "{}: expected runs that differ in their seed alone, found {}",
                    path.display(),
                    kinds.join("; ")
                ))
            }
        }
    };
    let (first, second) = (one(a)?, one(b)?);
    if first.instance != second.instance {
        return Err(format!(
            "{} is about {} and {} about {}: scores of different instances say nothing about each other",
            a.display(),
            first.instance,
            b.display(),
            second.instance
        ));
    }
    let mut comparison = Comparison::of(&first, &second, at);
    (comparison.a, comparison.b) = (a.display().to_string(), b.display().to_string());
    Ok(comparison)
}

impl Comparison {
    /// Of two groups.
    pub fn of(a: &Group, b: &Group, at: Option<f64>) -> Comparison {
        let (x, y) = (a.scores(at), b.scores(at));
        let mut notes = Vec::new();
        let seeds = |group: &Group| group.members.iter().map(|m| m.summary.told.seed).collect::<Vec<_>>();
        for group in [a, b] {
            let mut seeds = seeds(group);
            seeds.sort_unstable();
            seeds.dedup();
            if seeds.len() < group.members.len() {
                notes.push("some runs have the same seed and are not independent".to_string());
            }
        }
        if [a, b].iter().any(|group| group.members.iter().any(|m| m.summary.state == State::Running)) {
            notes.push("some runs still go on".into());
        }
        if at.is_none() {
            let spent = |group: &Group| {
                stats::median(&group.members.iter().filter_map(|m| m.summary.seconds).collect::<Vec<_>>())
            };
            if let (Some(s), Some(t)) = (spent(a), spent(b))
                && (s - t).abs() > UNLIKE * s.max(t)
            {
                notes.push(format!(
                    "they ran for different times ({} and {}): --at compares at one",
                    show::time(s),
                    show::time(t)
                ));
            }
        }
        Comparison {
            a: a.name.clone(),
            b: b.name.clone(),
            runs: [x.len(), y.len()],
            medians: [stats::median(&x), stats::median(&y)],
            difference: stats::bootstrap_difference(&x, &y, stats::median),
            test: stats::rank_test(&x, &y),
            several: x.first().is_some_and(|&score| a.aims.several(score)),
            notes,
        }
    }

    /// Whether the difference is real; `None` if so few runs could not show it.
    pub fn real(&self) -> Option<bool> {
        let p = self.test?.p;
        // The smallest p that so many runs can give: two of all orders.
        let [n, m] = self.runs;
        let orders: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
        if p < SURE {
            Some(true)
        } else if 2.0 / orders > SURE {
            None
        } else {
            Some(false)
        }
    }

    /// All of it in one sentence.
    pub fn sentence(&self) -> String {
        let Some(test) = self.test else {
            return format!("{} against {}: no scores to compare", self.b, self.a);
        };
        let [n, m] = self.runs;
        let (a, b) = (&self.a, &self.b);
        let verdict = match self.real() {
            Some(true) if test.superiority > 0.5 => format!("{b} is better than {a}"),
            Some(true) => format!("{b} is worse than {a}"),
            Some(false) => format!("{b} and {a}: the difference may be chance"),
            None => format!("{b} and {a}: too few runs to tell (four of each are the least that can)"),
        };
        let kind = if test.exact { "exact" } else { "normal approximation" };
        let p = match test.p {
            p if p < 0.001 => "p < 0.001".to_string(),
            p => format!("p = {p:.3}"),
        };
        let mut text = format!(
            "{verdict}. {m} runs against {n}, probability of superiority {:.0} %, {p} (rank test of Mann and Whitney, \
             two-sided, {kind})",
            100.0 * test.superiority
        );
        if self.several {
            // A difference of packed aims would be no number of anything.
        } else if let Some((low, high)) = self.difference {
            text += &format!(
                "; difference of the medians {} to {} (95 %, bootstrap)",
                show::score((low * 100.0).round() / 100.0),
                show::score((high * 100.0).round() / 100.0)
            );
        }
        if !self.notes.is_empty() {
            text += &format!(". Note: {}", self.notes.join("; "));
        }
        text
    }

    /// As data.
    pub fn to_json(&self) -> Value {
        json!({
            "a": self.a, "b": self.b, "runs": self.runs, "medians": self.medians,
            "difference_low": self.difference.map(|d| d.0), "difference_high": self.difference.map(|d| d.1),
            "superiority": self.test.map(|test| test.superiority), "p": self.test.map(|test| test.p),
            "exact": self.test.map(|test| test.exact), "test": "mann-whitney", "real": self.real(), "notes": self.notes,
        })
    }
}

#[cfg(test)]
mod tests;
