//! Line charts as SVG: the best score over time, the score of a match over its games. A line is a median or a mean, and
//! has a band. Colours are classes, which the page gives meaning to; a file of its own carries them along, for light and
//! for dark. Within a page a chart is drawn twice, for a wide screen and for a phone, so that what is written can be
//! read on both; the style shows one of them.

use crate::aims::Packed;
use crate::show;
use std::fmt::Write;

/// Lines have this many colours, then they repeat.
pub const COLOURS: usize = 8;

/// What a chart of its own needs to be seen.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#5d5d68}.grid{stroke:#e4e0d8}.paper{fill:#fffdf8}.known{stroke:#8a8a94;stroke-dasharray:5 4}\
.line{fill:none;stroke-width:2;stroke-linejoin:round}.band{opacity:.16}\
.s0{stroke:#0072b2}.s1{stroke:#c2500a}.s2{stroke:#00805c}.s3{stroke:#a8578b}.s4{stroke:#8a6d00}.s5{stroke:#7f5539}.s6{stroke:#3d7ea6}.s7{stroke:#6c6f7d}\
.f0{fill:#0072b2}.f1{fill:#c2500a}.f2{fill:#00805c}.f3{fill:#a8578b}.f4{fill:#8a6d00}.f5{fill:#7f5539}.f6{fill:#3d7ea6}.f7{fill:#6c6f7d}\
@media(prefers-color-scheme:dark){text{fill:#a9a9b5}.grid{stroke:#34343d}.paper{fill:#1b1b20}}";

/// What lies to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Across {
    /// Seconds, a step of the axis for each tenfold.
    LogSeconds,
    /// A count.
    Count,
}

/// A chart.
pub struct Chart {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// What is to the right, in words.
    pub x_label: String,
    /// What is to the right.
    pub across: Across,
    /// Values hold until the next: best scores do.
    pub steps: bool,
    /// The lines.
    pub lines: Vec<Line>,
    /// Heights with a name: the best score known, the bounds of a test.
    pub levels: Vec<(f64, String)>,
    /// Heights are scores of two aims, which the marks tell apart.
    pub packed: Option<Packed>,
}

/// A line with its band.
pub struct Line {
    /// Where, and low, middle and high there.
    pub points: Vec<(f64, [f64; 3])>,
    /// Its colour.
    pub colour: usize,
}

/// The measures of a drawing.
struct Frame {
    width: f64,
    height: f64,
    left: f64,
    class: &'static str,
}

const WIDE: Frame = Frame { width: 860.0, height: 360.0, left: 70.0, class: "chart wide" };
const NARROW: Frame = Frame { width: 360.0, height: 270.0, left: 54.0, class: "chart narrow" };
const RIGHT: f64 = 18.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 46.0;

impl Chart {
    /// The chart within a page, for both kinds of screens.
    pub fn markup(&self) -> String {
        self.draw(&WIDE, false) + &self.draw(&NARROW, false)
    }

    /// The chart as a file of its own.
    pub fn file(&self) -> String {
        self.draw(&WIDE, true)
    }

    /// Nothing happens in it: no line rises or falls, and none has a band.
    pub fn is_flat(&self) -> bool {
        let flat = |line: &Line| line.points.iter().all(|(_, values)| *values == [line.points[0].1[1]; 3]);
        self.lines.iter().all(flat)
    }

    fn draw(&self, frame: &Frame, alone: bool) -> String {
        let Frame { width, height, left, class } = *frame;
        let (right, bottom) = (width - RIGHT, height - BOTTOM);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let places = points().map(|p| p.0).chain((self.across == Across::Count).then_some(0.0));
        let (x_low, x_high) = span(places.map(|x| self.place(x)), 0.0);
        let near = self.near_levels();
        let heights = points().flat_map(|p| [p.1[0], p.1[2]]).chain(near.iter().map(|level| level.0));
        let (y_low, y_high) = span(heights, 0.05);
        let heights = marks_of(y_low, y_high, (bottom - TOP) / 48.0, self.packed.as_ref());
        // Long numbers want more room on the left.
        let longest = heights.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let left = left.max(16.0 + 6.8 * longest as f64);
        let x = |value: f64| left + (self.place(value) - x_low) / (x_high - x_low) * (right - left);
        let y = |value: f64| bottom - (value - y_low) / (y_high - y_low) * (bottom - TOP);
        let mut s = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             class=\"{class}\"><title>{}</title>",
            escape(&self.title)
        );
        if alone {
            let _ = write!(
                s,
                "<style>{STYLE}</style><rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>"
            );
        }
        for (tick, label) in heights {
            let at = y(tick);
            let _ = write!(
                s,
                "<path class=\"grid\" d=\"M{left} {at:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                left - 8.0,
                at + 4.0
            );
        }
        for (at, label) in self.marks(x_low, x_high, (right - left) / 70.0) {
            let at = left + (at - x_low) / (x_high - x_low) * (right - left);
            let _ = write!(
                s,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 18.0
            );
        }
        let _ = write!(
            s,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (left + right) / 2.0,
            height - 8.0,
            escape(&self.x_label)
        );
        for (level, name) in &near {
            let at = y(*level);
            // Above its line, but for one that is at the very top.
            let text = if at < TOP + 16.0 { at + 15.0 } else { at - 5.0 };
            let _ = write!(
                s,
                "<path class=\"known\" d=\"M{left} {at:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{text:.1}\">{}</text>",
                left + 4.0,
                escape(name)
            );
        }
        for line in &self.lines {
            let colour = line.colour % COLOURS;
            let corners = |which: usize, back: bool| -> String {
                let mut corners: Vec<(f64, f64)> = Vec::new();
                for &(at, values) in &line.points {
                    if let Some(&(_, before)) = corners.last().filter(|_| self.steps) {
                        corners.push((x(at), before));
                    }
                    corners.push((x(at), y(values[which])));
                }
                if back {
                    corners.reverse();
                }
                corners.iter().map(|(a, b)| format!("{a:.1} {b:.1} ")).collect()
            };
            if line.points.iter().any(|(_, [low, _, high])| low < high) {
                let (there, back) = (corners(0, false), corners(2, true));
                let _ = write!(s, "<path class=\"band f{colour}\" d=\"M{there}L{back}Z\"/>");
            }
            if !line.points.is_empty() {
                let _ = write!(s, "<path class=\"line s{colour}\" d=\"M{}\"/>", corners(1, false));
            }
        }
        s + "</svg>"
    }

    /// Where a value lies along the axis.
    fn place(&self, value: f64) -> f64 {
        match self.across {
            Across::LogSeconds => value.max(1e-4).log10(),
            Across::Count => value,
        }
    }

    /// What is written along the axis, at its places.
    fn marks(&self, low: f64, high: f64, count: f64) -> Vec<(f64, String)> {
        match self.across {
            Across::Count => {
                ticks(low, high, count).into_iter().map(|tick| (tick, show::brief(tick))).collect()
            }
            Across::LogSeconds => {
                const CLOCK: [(f64, &str); 17] = [
                    (0.001, "1 ms"),
                    (0.01, "10 ms"),
                    (0.1, "0.1 s"),
                    (0.3, "0.3 s"),
                    (1.0, "1 s"),
                    (3.0, "3 s"),
                    (10.0, "10 s"),
                    (30.0, "30 s"),
                    (60.0, "1 min"),
                    (300.0, "5 min"),
                    (1200.0, "20 min"),
                    (3600.0, "1 h"),
                    (14_400.0, "4 h"),
                    (43_200.0, "12 h"),
                    (172_800.0, "2 d"),
                    (604_800.0, "7 d"),
                    (2_592_000.0, "30 d"),
                ];
                let inside: Vec<_> = CLOCK
                    .iter()
                    .map(|(seconds, name)| (seconds.log10(), (*name).to_string()))
                    .filter(|(at, _)| *at >= low - 1e-9 && *at <= high + 1e-9)
                    .collect();
                let step = (inside.len() as f64 / count).ceil().max(1.0) as usize;
                inside.into_iter().step_by(step).collect()
            }
        }
    }

    /// The levels, but for those so far off that the lines would be flat.
    fn near_levels(&self) -> Vec<(f64, String)> {
        let values = self.lines.iter().flat_map(|line| &line.points).flat_map(|p| [p.1[0], p.1[2]]);
        let (low, high) = span(values, 0.0);
        let room = 1.5 * (high - low);
        self.levels.iter().filter(|(level, _)| (low - room..=high + room).contains(level)).cloned().collect()
    }
}

fn span(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * room).max(if high > low { 0.0 } else { 1e-6 + high.abs() * 0.01 });
    (low - room, high + room)
}

/// Round numbers within the span, about so many of them.
fn ticks(low: f64, high: f64, count: f64) -> Vec<f64> {
    let rough = (high - low) / count.max(1.0);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last.min(first + 20)).map(|i| i as f64 * step).collect()
}

/// What is written along the side. Of two aims the first, as long as it changes, each mark as far down as the best score
/// lies below its own; otherwise the second alone.
fn marks_of(low: f64, high: f64, count: f64, packed: Option<&Packed>) -> Vec<(f64, String)> {
    let Some(Packed { what, worth, beside }) = packed else { return labels(&ticks(low, high, count)) };
    let many = |score: f64| (-score - beside) / worth;
    let (fewest, most) = (many(high).ceil(), many(low).floor());
    if most > fewest {
        let step = ((most - fewest) / count).ceil().max(1.0);
        let counts = (0..=20).map(|i| fewest + f64::from(i) * step).take_while(|&n| n <= most);
        return counts.map(|n| (-(n * worth + beside), format!("{} {what}", show::score(n)))).collect();
    }
    let second = |score: f64| show::score(-score - (-score / worth).floor() * worth);
    ticks(low, high, count).into_iter().map(|tick| (tick, second(tick))).collect()
}

/// Ticks with what is written beside them: in short as long as that tells them apart.
fn labels(ticks: &[f64]) -> Vec<(f64, String)> {
    let large = ticks.iter().any(|tick| tick.abs() >= 1e5);
    let short: Vec<String> = ticks.iter().map(|tick| show::brief(*tick)).collect();
    let apart = short.windows(2).all(|two| two[0] != two[1]);
    let write = |tick: f64| if large && apart { show::brief(tick) } else { show::score(tick) };
    ticks.iter().map(|&tick| (tick, write(tick))).collect()
}

/// A text within markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: Vec<Line>) -> Chart {
        let levels = vec![(4.0, "best known 4".to_string()), (1e6, "far off".to_string())];
        let (title, x_label) = ("a < b".into(), "seconds".into());
        Chart { title, x_label, across: Across::LogSeconds, steps: true, lines, levels, packed: None }
    }

    #[test]
    fn a_chart_draws_bands_and_survives_nothing() {
        let line = Line { points: vec![(0.002, [1.0, 2.0, 3.0]), (5.0, [2.0, 2.5, 3.0])], colour: 0 };
        let file = chart(vec![line]).file();
        for says in ["class=\"band f0\"", "best known 4", "a &lt; b", "10 ms", "1 s"] {
            assert!(file.contains(says), "{says}: {file}");
        }
        assert!(!file.contains("NaN") && !file.contains("inf") && !file.contains("far off"));
        assert!(!chart(vec![]).markup().contains("NaN"));
        let flat = Line { points: vec![(0.0, [7.0; 3])], colour: 9 };
        let flat = chart(vec![flat]);
        assert!(!flat.markup().contains("NaN") && flat.is_flat());
        assert_eq!(flat.markup().matches("<svg").count(), 2, "wide and narrow");
    }

    #[test]
    fn a_phone_gets_fewer_labels() {
        let line = Line { points: vec![(0.001, [1.0; 3]), (86_400.0, [2.0; 3])], colour: 0 };
        let chart = chart(vec![line]);
        let count = |frame| chart.draw(frame, false).matches("text-anchor=\"middle\"").count() - 1;
        assert!(count(&NARROW) <= 5 && count(&WIDE) > count(&NARROW) && count(&NARROW) >= 3);
    }

    #[test]
    fn large_scores_are_told_apart() {
        let labels = labels(&ticks(-191_700.0, -191_600.0, 4.0));
        assert!(labels.windows(2).all(|two| two[0].1 != two[1].1), "{labels:?}");
        assert_eq!(labels_of(0.0, 400_000.0), ["0", "200 k", "400 k"]);
    }

    #[test]
    fn two_aims_are_marked_by_the_first_that_changes() {
        let packed = Packed { what: "vehicles", worth: 10_000.0, beside: 1700.0 };
        let told = |low, high| -> Vec<String> {
            marks_of(low, high, 4.0, Some(&packed)).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(told(-211_953.0, -191_650.0), ["19 vehicles", "20 vehicles", "21 vehicles"]);
        assert_eq!(told(-191_800.0, -191_650.0), ["1800", "1750", "1700", "1650"]);
    }

    fn labels_of(low: f64, high: f64) -> Vec<String> {
        labels(&ticks(low, high, 2.0)).into_iter().map(|(_, label)| label).collect()
    }
}
