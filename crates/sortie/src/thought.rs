//! What a player thinks, for people: as one line after a move, and as a table of the moves considered. Values are shown
//! for the side to move, in per cent.

use crate::duration;
use crate::output::count;
use sortie_core::play::{GangReport, Line};
use sortie_core::{Outcome, Side, Thought};
use std::fmt::Write;

/// No more of an expected line is shown.
const LINE_MOVES: usize = 8;

/// The value of a line for a side: what is proved, or per cent.
fn value(line_value: f64, proved: Option<Outcome>, side: Side) -> String {
    match proved {
        Some(outcome) => proof(outcome, side).into(),
        None => format!("{:.1} %", 100.0 * side.view(line_value)),
    }
}

fn proof(outcome: Outcome, side: Side) -> &'static str {
    match outcome {
        Outcome::Draw => "draw",
        Outcome::Win(winner) if winner == side => "win",
        Outcome::Win(_) => "loss",
    }
}

/// `57.3 % for it, 12,034 simulations in 2.00 s; it expects c3 d4 e5`.
pub fn sentence(thought: &Thought, side: Side) -> String {
    let mut text = match thought.proved {
        Some(outcome) => format!("a proved {} for it", proof(outcome, side)),
        None if thought.lines.is_empty() => "no opinion".into(),
        None => format!("{} for it", value(thought.value, None, side)),
    };
    if thought.playouts > 0 {
        let _ =
            write!(text, ", {} simulations in {}", count(thought.playouts), duration::show(thought.seconds));
    }
    let expected = thought.lines.iter().find(|line| line.moves.first() == thought.best.as_ref());
    if let Some(line) = expected.filter(|line| line.moves.len() > 1) {
        let _ = write!(text, "; it expects {}", expected_moves(line));
    }
    text
}

/// How the search stands: simulations, speed, nodes, depth, memory.
pub fn status(thought: &Thought) -> String {
    let rate = thought.playouts as f64 / thought.seconds.max(1e-6);
    let mut text = format!(
        "{}  {} simulations  {}/s  {} nodes  depth {}  memory {:.0} %",
        duration::show(thought.seconds),
        count(thought.playouts),
        count(rate as u64),
        count(thought.nodes),
        depth(thought),
        100.0 * thought.fill,
    );
    if thought.recycled > 0 {
        let _ = write!(text, " (recycled {} times)", count(thought.recycled));
    }
    text
}

/// The depth of the tree; while a search is under way nobody counts it, and the longest line shown is the least it is.
pub fn depth(thought: &Thought) -> u32 {
    let shown = thought.lines.iter().map(|line| line.moves.len()).max().unwrap_or(0);
    thought.depth.max(shown as u32)
}

/// How the ranks of a spread search were busy, in a line.
pub fn gang(gang: &GangReport) -> String {
    let mut text = format!(
        "{} ranks{}  busiest {:.2} of the mean  {:.1} records, {:.0} bytes a simulation  {:.0} bytes a record  {} distinct of {} nodes added",
        gang.ranks,
        if gang.modelled { ", modelled" } else { "" },
        gang.busiest,
        gang.records,
        gang.bytes,
        gang.bytes_a_record,
        count(gang.distinct.round() as u64),
        count(gang.added),
    );
    if gang.lost > 0 {
        let _ = write!(text, "  {} simulations lost", count(gang.lost));
    }
    if gang.refused > 0 {
        let _ = write!(text, "  {} records refused", count(gang.refused));
    }
    if let Some(note) = &gang.note {
        let _ = write!(text, "\n{note}");
    }
    text
}

/// The best moves, a row each: the move, its visits, its value, what is expected to follow.
pub fn table(thought: &Thought, side: Side, rows_max: usize) -> String {
    let rows: Vec<[String; 4]> = thought.lines.iter().take(rows_max).map(|line| row(line, side)).collect();
    let head = ["move", "visits", "value", "then"].map(String::from);
    let width =
        |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    let mut text = String::new();
    for [mv, visits, value, then] in [&head].into_iter().chain(&rows) {
        let line = format!("{mv:first$}  {visits:>second$}  {value:>third$}  {then}");
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// What is expected after the move itself; a line that is cut says so.
fn expected_moves(line: &Line) -> String {
    let then: Vec<&str> = line.moves.iter().skip(1).take(LINE_MOVES).map(String::as_str).collect();
    let cut = if line.moves.len() > 1 + LINE_MOVES { " ..." } else { "" };
    then.join(" ") + cut
}

fn row(line: &Line, side: Side) -> [String; 4] {
    [
        line.moves.first().cloned().unwrap_or_default(),
        count(line.visits),
        value(line.value, line.proved, side),
        expected_moves(line),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought() -> Thought {
        let line = |moves: &str, visits, value, proved| Line {
            moves: moves.split(' ').map(String::from).collect(),
            visits,
            value,
            proved,
        };
        Thought {
            best: Some("b1-b3".into()),
            value: 0.427,
            lines: vec![
                line("b1-b3 c1xc4 d2-d3", 12034, 0.427, None),
                line("c1-c2", 7, 1.0, Some(Outcome::Win(Side::First))),
            ],
            playouts: 12041,
            nodes: 900,
            depth: 6,
            seconds: 2.0,
            fill: 0.25,
            ..Thought::default()
        }
    }

    #[test]
    fn values_are_those_of_the_side_to_move() {
        let said = sentence(&thought(), Side::Second);
        assert_eq!(said, "57.3 % for it, 12,041 simulations in 2.00 s; it expects c1xc4 d2-d3");
        let proved = Thought { proved: Some(Outcome::Win(Side::First)), ..Thought::default() };
        assert_eq!(sentence(&proved, Side::Second), "a proved loss for it");
        assert_eq!(sentence(&Thought::default(), Side::First), "no opinion");
    }

    #[test]
    fn a_gang_is_told_of_in_a_line_and_what_went_wrong_in_another() {
        let busy = GangReport {
            ranks: 4,
            busiest: 1.25,
            records: 2.06,
            bytes: 81.4,
            bytes_a_record: 39.5,
            added: 1200,
            distinct: 1100.2,
            ..GangReport::default()
        };
        let expected = "4 ranks  busiest 1.25 of the mean  2.1 records, 81 bytes a simulation  40 bytes a record  1,100 distinct of 1,200 nodes added";
        assert_eq!(gang(&busy), expected);
        let ill = GangReport { lost: 3, note: Some("rank 2 is gone".into()), modelled: true, ..busy };
        assert!(
            gang(&ill).starts_with("4 ranks, modelled")
                && gang(&ill).ends_with("3 simulations lost\nrank 2 is gone")
        );
    }

    #[test]
    fn the_table_stands_in_columns() {
        let expected = "\
move   visits   value  then
b1-b3  12,034  57.3 %  c1xc4 d2-d3
c1-c2       7    loss
";
        assert_eq!(table(&thought(), Side::Second, 5), expected);
        assert_eq!(table(&thought(), Side::Second, 1).lines().count(), 2);
        assert_eq!(
            status(&thought()),
            "2.00 s  12,041 simulations  6,020/s  900 nodes  depth 6  memory 25 %"
        );
    }
}
