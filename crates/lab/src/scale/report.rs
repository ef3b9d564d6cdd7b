//! What a study has come to: a table, the same as data, and pictures. Whatever rests on the model says so in its title.

use super::ladder::{Ladder, Rung};
use super::plan::{Config, Contender, limit};
use super::rounds::Standing;
use super::{Mode, Of, Pairing, Rate, Study};
use crate::contest::Home;
use crate::output::{count, score};
use crate::raster;
use anyhow::Result;
use serde_json::{Value, json};
use sortie_jobs::contest::Interval;
use sortie_runs::chart::{Axis, Chart, Point, Series};
use std::fmt::Write as _;

/// What is reported.
pub struct Report<'a> {
    /// The study.
    pub study: &'a Study<'a>,
    /// Who everybody plays against.
    pub reference: &'a Contender,
    /// The playouts of a one-node search.
    pub one_node_playouts: u64,
    /// How fast everybody is.
    pub rates: &'a [Rate],
    /// Who plays whom.
    pub matches: &'a [Pairing],
    /// How that stands.
    pub standings: &'a [Standing],
}

/// The figures of one configuration, over all positions.
#[derive(Debug, Clone, Default)]
struct Figures {
    pps: f64,
    /// Nodes added a second, and different positions among them.
    nps: f64,
    distinct: f64,
    records: f64,
    bytes: f64,
    busiest: f64,
    busiest_core: Option<f64>,
    busy: Option<f64>,
    in_flight: f64,
    depth: f64,
    fill: f64,
    proved: usize,
}

/// Playouts per second, over all positions that were not proved before the time was up.
pub fn pps(rate: &Rate) -> f64 {
    figures(rate).pps
}

fn figures(rate: &Rate) -> Figures {
    let open = rate.searches.iter().filter(|search| !search.proved).count();
    // A search that ends with a proof stops early: what it did meanwhile says little about how fast it is.
    let all: Vec<_> = rate.searches.iter().filter(|search| open == 0 || !search.proved).collect();
    let sum = |f: &dyn Fn(&super::Search) -> f64| all.iter().map(|search| f(search)).sum::<f64>();
    let (n, seconds) = (all.len().max(1) as f64, sum(&|s| s.seconds).max(1e-12));
    let playouts = sum(&|s| s.playouts as f64).max(1.0);
    let modelled = all.iter().all(|search| search.busiest_core.is_some());
    Figures {
        pps: sum(&|s| s.playouts as f64) / seconds,
        nps: sum(&|s| s.added as f64) / seconds,
        distinct: sum(&|s| s.distinct) / seconds,
        records: sum(&|s| s.records * s.playouts as f64) / playouts,
        bytes: sum(&|s| s.bytes * s.playouts as f64) / playouts,
        busiest: sum(&|s| s.busiest) / n,
        busiest_core: modelled.then(|| sum(&|s| s.busiest_core.unwrap_or(0.0)) / n),
        busy: modelled.then(|| sum(&|s| s.busy_seconds.unwrap_or(0.0)) / seconds),
        in_flight: sum(&|s| s.in_flight as f64) / sum(&|s| s.begun as f64).max(1.0),
        depth: sum(&|s| f64::from(s.depth)) / n,
        fill: all.iter().map(|search| search.fill).fold(0.0, f64::max),
        proved: rate.searches.len() - open,
    }
}

impl Report<'_> {
    fn word(&self) -> &'static str {
        if self.study.args.modelled { "modelled" } else { "measured" }
    }

    fn name(&self) -> &'static str {
        match self.study.mode {
            Mode::Nodes => "nodes",
            Mode::Par => "par",
            Mode::Effect => "effect",
            Mode::Speedup => "speedup",
        }
    }

    fn title(&self) -> String {
        let what = match self.study.mode {
            Mode::Nodes => "scaling",
            Mode::Par => "simulations in flight",
            Mode::Effect => "parallel effect at fixed playouts",
            Mode::Speedup => "strength-speedup",
        };
        format!("{}: {what} ({})", self.study.instance.name, self.word())
    }

    fn figures(&self, who: &Contender) -> Option<Figures> {
        self.rates.iter().find(|rate| rate.name == who.name).map(figures)
    }

    /// The match of a configuration, with the rung it plays against.
    fn standing(&self, config: usize) -> Option<(i32, &Standing)> {
        self.matches.iter().zip(self.standings).find_map(|(pairing, standing)| match pairing.of {
            Of::Config(i, rung) if i == config && standing.pairs.total() > 0 => Some((rung, standing)),
            _ => None,
        })
    }

    fn ladder(&self) -> Ladder {
        let rung = |(pairing, standing): (&Pairing, &Standing)| match pairing.of {
            Of::Rung(low) => Some(Rung { low, pairs: standing.pairs }),
            Of::Config(..) => None,
        };
        Ladder::new(self.matches.iter().zip(self.standings).filter_map(rung).collect())
    }

    /// Writes table, data and pictures; returns the text and the data, and whether all could be written.
    pub fn write(&self, home: &Home) -> Result<(String, Value, Result<()>)> {
        let prefix = format!("{}-{}", self.word(), self.name());
        let mut text = self.markdown();
        let (mut names, mut written) = (Vec::new(), Ok(()));
        for (name, chart) in self.charts() {
            let name = format!("{prefix}-{name}");
            let picture = chart.draw();
            written = written.and(home.write(&format!("{name}.svg"), picture.svg().as_bytes()));
            written = written.and(home.write(&format!("{name}.png"), &raster::png(&picture, 1.0)?));
            names.push(name);
        }
        text.push('\n');
        for name in &names {
            let _ = writeln!(text, "![{name}]({name}.svg)");
        }
        let json = self.json();
        written = written.and(home.write(&format!("{prefix}.md"), text.as_bytes()));
        let data = serde_json::to_string_pretty(&json)? + "\n";
        written = written.and(home.write(&format!("{prefix}.json"), data.as_bytes()));
        Ok((text, json, written))
    }

    fn markdown(&self) -> String {
        let args = self.study.args;
        let mut text = format!("# {}\n\n", self.title());
        let clock = match args.modelled {
            true => "Modelled: ranks, playouts and games are real, the clock is not.",
            false => "Measured on this machine; only an idle one says anything.",
        };
        let budget = match (self.study.mode, args.playouts) {
            (Mode::Effect, Some(playouts)) => format!("{} playouts a move", count(playouts)),
            _ => format!("{} ms a move", score(args.time * 1e3)),
        };
        let _ = writeln!(
            text,
            "{clock} Search `{}`, {} threads a node, {budget}, {} positions, seed {}.",
            args.player, args.threads, args.positions, args.seed
        );
        if !self.matches.is_empty() {
            let _ = writeln!(
                text,
                "Games are against `{}` unless the table says otherwise.",
                self.reference.name
            );
        }
        if self.study.mode == Mode::Speedup {
            self.rungs(&mut text);
        }
        text.push('\n');
        self.rows(&mut text);
        text
    }

    /// The serial searcher against itself.
    fn rungs(&self, text: &mut String) {
        let one = self.one_node_playouts;
        let _ = writeln!(
            text,
            "One node makes {} playouts a move ({}); the serial searcher gets multiples of them.\n\n\
             ## What a doubling is worth to the serial searcher\n\n\
             | playouts | against | games | score | 95 % | Elo |\n|---|---|---|---|---|---|",
            count(one),
            if self.study.args.playouts.is_some() { "as told" } else { self.word() }
        );
        for (pairing, standing) in self.matches.iter().zip(self.standings) {
            let Of::Rung(_) = pairing.of else { continue };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {:.0} |",
                limit(&pairing.a.budget),
                limit(&pairing.b.budget),
                standing.games.total(),
                percent(standing.estimate.score.value),
                within(&standing.estimate.score),
                standing.estimate.elo.value
            );
        }
        let ladder = self.ladder();
        if !ladder.is_empty() {
            let curve = ladder.curve();
            let _ = writeln!(
                text,
                "\nFitted: a doubling is worth {:.0} Elo at one node's playouts, {:+.0} for each doubling more.\n\n\
                 ## As strong as a one-node search of x times the playouts ({})",
                curve.at_zero,
                curve.slope,
                self.word()
            );
        }
    }

    fn rows(&self, text: &mut String) {
        let (mode, with_games) = (self.study.mode, !self.matches.is_empty());
        let ladder = self.ladder();
        let mut head = vec!["form", "nodes"];
        if mode == Mode::Par {
            head.push("par");
        }
        head.extend(["PPS", "x 1 node", "NPS", "distinct", "messages", "bytes", "busiest rank"]);
        if self.study.args.modelled {
            head.extend(["tree core", "cores busy"]);
        }
        head.extend(["in flight", "depth", "fill"]);
        if with_games {
            head.extend(["games", "win rate", "95 %"]);
        }
        if mode == Mode::Speedup {
            head.extend(["against", "x", "95 %"]);
        }
        let _ = writeln!(text, "| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()));
        let base = self.figures(&self.study.one_node).map_or(f64::NAN, |figures| figures.pps);
        for (i, config) in self.study.configs.iter().enumerate() {
            let mut row = vec![config.form.clone(), config.nodes.to_string()];
            row.extend(config.par.map(|par| par.to_string()));
            row.extend(self.rate_cells(config, base));
            let standing = self.standing(i);
            if with_games {
                row.extend(match standing {
                    Some((_, s)) => [
                        format!("{}{}", s.games.total(), if s.narrow { " (narrow)" } else { "" }),
                        percent(s.estimate.score.value),
                        within(&s.estimate.score),
                    ],
                    None => ["-"; 3].map(String::from),
                });
            }
            if mode == Mode::Speedup {
                row.extend(match standing {
                    Some((rung, s)) if !ladder.is_empty() => {
                        let x = ladder.speedup(rung, &s.pairs);
                        let beyond = if x.value.log2() > ladder.top() { " (beyond the ladder)" } else { "" };
                        [
                            format!("{}x", 1u64 << rung.max(0)),
                            format!("{:.2}{beyond}", x.value),
                            format!("{:.2} to {:.2}", x.low, x.high),
                        ]
                    }
                    _ => ["-"; 3].map(String::from),
                });
            }
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text.push_str(&self.notes());
    }

    fn rate_cells(&self, config: &Config, base: f64) -> Vec<String> {
        let modelled = self.study.args.modelled;
        let Some(f) = self.figures(&config.who) else {
            return vec!["-".to_string(); if modelled { 12 } else { 10 }];
        };
        let mut cells = vec![
            count(f.pps as u64),
            format!("{:.2}", f.pps / base),
            count(f.nps as u64),
            count(f.distinct as u64),
            format!("{:.2}", f.records),
            format!("{:.0}", f.bytes),
            format!("{:.2}", f.busiest),
        ];
        if modelled {
            let cores = f64::from(config.nodes * self.study.args.threads);
            cells.push(f.busiest_core.map_or("-".into(), percent));
            cells.push(f.busy.map_or("-".into(), |busy| percent(busy / cores)));
        }
        cells.extend([percent(f.in_flight), format!("{:.1}", f.depth), percent(f.fill)]);
        cells
    }

    fn notes(&self) -> String {
        let one = format!(
            "\n\"x 1 node\" is against `{}`; NPS are nodes added a second, \"distinct\" different positions among them; \
             messages and bytes are for each playout; \"in flight\" is the share of simulations begun that were under way \
             when time was up.",
            self.study.one_node.text
        );
        let proved: usize =
            self.study.configs.iter().filter_map(|c| self.figures(&c.who)).map(|f| f.proved).sum();
        let left_out = match proved {
            0 => String::new(),
            n => format!(" {n} searches ended early with a proof and do not count in the rates."),
        };
        format!("{one}{left_out}\n")
    }

    fn json(&self) -> Value {
        let study = self.study;
        let ladder = self.ladder();
        let rows: Vec<Value> = study
            .configs
            .iter()
            .enumerate()
            .map(|(i, config)| {
                let rate = self.figures(&config.who).map(|f| {
                    json!({
                        "pps": f.pps, "nps": f.nps, "distinct_per_second": f.distinct, "messages": f.records,
                        "bytes": f.bytes, "busiest_rank": f.busiest, "busiest_tree_core": f.busiest_core,
                        "busy_cores": f.busy, "in_flight_share": f.in_flight, "depth": f.depth, "fill": f.fill,
                        "proved": f.proved,
                    })
                });
                let standing = self.standing(i).map(|(rung, s)| {
                    let speedup = (study.mode == Mode::Speedup && !ladder.is_empty())
                        .then(|| ladder.speedup(rung, &s.pairs));
                    json!({ "rung": rung, "games": s.games, "pentanomial": s.pairs.0, "score": s.estimate.score,
                        "narrow": s.narrow, "speedup": speedup })
                });
                json!({ "form": config.form, "nodes": config.nodes, "par": config.par, "player": config.who.name,
                    "rate": rate, "match": standing })
            })
            .collect();
        let rungs: Vec<Value> = self
            .matches
            .iter()
            .zip(self.standings)
            .filter_map(|(pairing, s)| match pairing.of {
                Of::Rung(low) => {
                    Some(json!({ "low": low, "stronger": pairing.a.name, "weaker": pairing.b.name,
                    "games": s.games, "pentanomial": s.pairs.0, "score": s.estimate.score }))
                }
                Of::Config(..) => None,
            })
            .collect();
        json!({
            "title": self.title(), "clock": self.word(), "instance": study.instance.name,
            "reference": self.reference.name, "one_node": study.one_node.name,
            "one_node_playouts": self.one_node_playouts, "threads": study.args.threads,
            "seed": study.args.seed, "rows": rows, "rungs": rungs, "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// Pictures by name.
    fn charts(&self) -> Vec<(&'static str, Chart)> {
        let log = |value: f64| value.max(1e-9).log2();
        let rate = |f: &dyn Fn(&Figures) -> f64, i: usize| {
            let figures = self.figures(&self.study.configs[i].who)?;
            Some((log(f(&figures)), 0.0))
        };
        let mut charts = vec![
            ("pps", self.chart(["playouts per second", "PPS"], Axis::Log2, &|i| rate(&|f| f.pps, i))),
            (
                "nps",
                self.chart(["different nodes per second", "NPS"], Axis::Log2, &|i| rate(&|f| f.distinct, i)),
            ),
        ];
        if !self.matches.is_empty() {
            let wins = |i: usize| {
                let score = self.standing(i)?.1.estimate.score;
                Some((100.0 * score.value, 100.0 * score.half()))
            };
            charts.push(("wins", self.chart(["win rate against the reference", "%"], Axis::Plain, &wins)));
        }
        let ladder = self.ladder();
        if self.study.mode == Mode::Speedup && !ladder.is_empty() {
            let times = |i: usize| {
                let (rung, standing) = self.standing(i)?;
                let x = ladder.speedup(rung, &standing.pairs);
                Some((log(x.value), (log(x.high) - log(x.low)) / 2.0))
            };
            charts.push(("x", self.chart(["as strong as x times one node", "x"], Axis::Log2, &times)));
        }
        charts
    }

    fn chart(&self, [what, unit]: [&str; 2], y: Axis, value: &dyn Fn(usize) -> Option<(f64, f64)>) -> Chart {
        let by_par = self.study.mode == Mode::Par;
        let mut series: Vec<Series> = Vec::new();
        for (i, config) in self.study.configs.iter().enumerate() {
            let Some((mean, half)) = value(i) else { continue };
            let name =
                if by_par { format!("{}, {}", config.form, config.nodes) } else { config.form.clone() };
            let x = f64::from(if by_par { config.par.unwrap_or(1) } else { config.nodes }).log2();
            let point = Point { x, mean, half };
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name, points: vec![point] }),
            }
        }
        for series in &mut series {
            series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let x_label = if by_par { "simulations in flight for each thread" } else { "nodes" };
        Chart {
            title: format!("{}: {what} ({})", self.study.instance.name, self.word()),
            x_label: x_label.into(),
            y_label: unit.into(),
            x: Axis::Log2,
            y,
            y_bounds: (y == Axis::Plain).then_some((0.0, 100.0)),
            dots: series.iter().flat_map(|s| &s.points).map(|p| (p.x, p.mean, 3.0)).collect(),
            series,
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn within(interval: &Interval) -> String {
    format!("{:.1} to {:.1}", 100.0 * interval.low, 100.0 * interval.high)
}
