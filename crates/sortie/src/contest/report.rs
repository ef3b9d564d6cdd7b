//! What a match came to, for people and as JSON.

use crate::output;
use serde_json::{Value, json};
use sortie_jobs::contest::{Decision, Estimate, Interval, Match, Tally};
use std::fmt::Write;

/// A text of the whole: the sequential test, every pairing, the cross-table.
pub fn text(contest: &Match, names: &[String], faults: &[u64]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} of {} games", contest.played(), contest.games_max());
    for &(a, b) in contest.pairings() {
        let tally = contest.tally(a, b);
        let _ = writeln!(out, "\n{} against {}", names[a], names[b]);
        out += &pairing(&tally);
    }
    if let Some(sprt) = contest.plan().sprt {
        let (low, high) = sprt.bounds();
        let said = match contest.decision() {
            Decision::Open => "undecided",
            Decision::Accepted => "accepted",
            Decision::Rejected => "rejected",
        };
        let model = if sprt.model == sortie_jobs::contest::Model::Logistic { "Elo" } else { "nElo" };
        let _ = writeln!(
            out,
            "\nSPRT      {said}: {} {model} or more against {} or less; LLR {:.2} ({low:.2}, {high:.2}) after {} pairs",
            output::score(sprt.elo1),
            output::score(sprt.elo0),
            sprt.llr(contest.tested()),
            contest.tested().total(),
        );
    }
    if names.len() > 2 {
        let _ = write!(out, "\n{}", cross_table(contest, names));
    }
    for (name, &count) in names.iter().zip(faults).filter(|(_, count)| **count > 0) {
        let _ = writeln!(out, "\n{name} failed in {count} games, and lost them: the log says how");
    }
    out
}

fn pairing(tally: &Tally) -> String {
    let games = tally.games;
    let mut out = format!(
        "games     {}: {} won, {} drawn, {} lost\n",
        games.total(),
        games.wins,
        games.draws,
        games.losses
    );
    if tally.pairs.total() == 0 {
        return out;
    }
    let estimate = tally.pairs.estimate();
    let counts = tally.pairs.0.map(|count| count.to_string()).join(" ");
    let _ = writeln!(out, "pairs     {} with 0, 1/2, 1, 3/2 and 2 points: {counts}", tally.pairs.total());
    let _ = writeln!(out, "score     {} %", interval(&estimate.score, 100.0, 1));
    let _ = writeln!(out, "Elo       {}", interval(&estimate.elo, 1.0, 1));
    let nelo = estimate.nelo.map_or("-".to_string(), |nelo| interval(&nelo, 1.0, 1));
    let _ = writeln!(out, "nElo      {nelo}");
    let _ = writeln!(out, "LOS       {:.2} %", 100.0 * estimate.los);
    out
}

/// `61.3 (58.0 to 64.6)`.
pub fn interval(interval: &Interval, factor: f64, digits: usize) -> String {
    let show = |value: f64| match value {
        value if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_string(),
        value => format!("{:.digits$}", value * factor),
    };
    format!("{} ({} to {})", show(interval.value), show(interval.low), show(interval.high))
}

/// Everybody's result against everybody, the best first.
fn cross_table(contest: &Match, names: &[String]) -> String {
    let totals: Vec<Tally> = (0..names.len()).map(|player| total(contest, player)).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    let share = |player: &usize| totals[*player].games.estimate().score.value;
    order.sort_by(|a, b| share(b).total_cmp(&share(a)).then(a.cmp(b)));
    let width = names.iter().map(|name| name.chars().count().min(32)).max().unwrap_or(0);
    let mut out = format!("{:3}  {:width$}  {:>7}  {:>24}", "", "player", "games", "score in %");
    for rank in 1..=order.len() {
        let _ = write!(out, "  {rank:>6}");
    }
    out.push('\n');
    for (rank, &player) in (1..).zip(&order) {
        let games = totals[player].games;
        let score = match totals[player].pairs.total() {
            0 => "-".to_string(),
            _ => interval(&totals[player].pairs.estimate().score, 100.0, 1),
        };
        let name: String = names[player].chars().take(32).collect();
        let _ = write!(out, "{rank:>3}  {name:width$}  {:>7}  {score:>24}", games.total());
        for &other in &order {
            let tally = contest.tally(player, other);
            let cell = match tally.games.total() {
                0 => "-".to_string(),
                _ => format!("{:.1}", 100.0 * tally.games.estimate().score.value),
            };
            let _ = write!(out, "  {cell:>6}");
        }
        out.push('\n');
    }
    out
}

/// All results of one player.
fn total(contest: &Match, player: usize) -> Tally {
    let mut total = Tally::default();
    for other in (0..contest.plan().players).filter(|&other| other != player) {
        let tally = contest.tally(player, other);
        total.games += tally.games;
        total.pairs += tally.pairs;
    }
    total
}

/// The same as JSON.
pub fn to_json(contest: &Match, names: &[String], faults: &[u64]) -> Value {
    let players: Vec<Value> = (0..names.len())
        .map(|player| {
            let mut row = tally_json(&total(contest, player));
            row["player"] = json!(names[player]);
            row["faults"] = json!(faults[player]);
            row
        })
        .collect();
    let pairings: Vec<Value> = contest
        .pairings()
        .iter()
        .map(|&(a, b)| {
            let mut row = tally_json(&contest.tally(a, b));
            row["player"] = json!(names[a]);
            row["against"] = json!(names[b]);
            row
        })
        .collect();
    let sprt = contest.plan().sprt.map(|sprt| {
        let (low, high) = sprt.bounds();
        json!({
            "elo0": sprt.elo0, "elo1": sprt.elo1, "alpha": sprt.alpha, "beta": sprt.beta, "model": sprt.model,
            "llr": sprt.llr(contest.tested()), "low": low, "high": high,
            "pentanomial": contest.tested().0, "decision": contest.decision(),
        })
    });
    json!({
        "games": contest.played(), "games_max": contest.games_max(), "finished": sortie_core::JobSource::finished(contest),
        "players": players, "pairings": pairings, "sprt": sprt,
    })
}

fn tally_json(tally: &Tally) -> Value {
    let estimate = (tally.pairs.total() > 0).then(|| tally.pairs.estimate());
    let of =
        |f: &dyn Fn(&Estimate) -> Option<Interval>| estimate.as_ref().and_then(f).map(|i| interval_json(&i));
    json!({
        "games": tally.games.total(),
        "wins": tally.games.wins, "draws": tally.games.draws, "losses": tally.games.losses,
        "pentanomial": tally.pairs.0,
        "score": of(&|e| Some(e.score)), "elo": of(&|e| Some(e.elo)), "nelo": of(&|e| e.nelo),
        "los": estimate.as_ref().map(|e| e.los),
    })
}

/// Value and ends; what is infinite is null.
pub fn interval_json(interval: &Interval) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({ "value": finite(interval.value), "low": finite(interval.low), "high": finite(interval.high) })
}
