//! Best score over time as SVG: a median line and its band for each group of runs. Colours are classes, which the page
//! gives meaning to; a file of its own carries them along, for light and for dark.

use crate::show;
use std::fmt::Write;

/// Lines have this many colours, then they repeat.
pub const COLOURS: usize = 8;
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 48.0;

/// What a chart of its own needs to be seen.
const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#5d5d68}.grid{stroke:#e4e0d8}.paper{fill:#fffdf8}.known{stroke:#8a8a94;stroke-dasharray:5 4}\
.line{fill:none;stroke-width:2;stroke-linejoin:round}.band{opacity:.16}\
.s0{stroke:#0072b2}.s1{stroke:#c2500a}.s2{stroke:#00805c}.s3{stroke:#a8578b}.s4{stroke:#8a6d00}.s5{stroke:#7f5539}.s6{stroke:#3d7ea6}.s7{stroke:#6c6f7d}\
.f0{fill:#0072b2}.f1{fill:#c2500a}.f2{fill:#00805c}.f3{fill:#a8578b}.f4{fill:#8a6d00}.f5{fill:#7f5539}.f6{fill:#3d7ea6}.f7{fill:#6c6f7d}\
@media(prefers-color-scheme:dark){text{fill:#a9a9b5}.grid{stroke:#34343d}.paper{fill:#1b1b20}}";

/// A chart.
pub struct Chart {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// What is to the right.
    pub x_label: String,
    /// The lines.
    pub lines: Vec<Line>,
    /// The best known score.
    pub known: Option<f64>,
}

/// A line with its band.
pub struct Line {
    /// Which runs.
    pub name: String,
    /// Where, and low, middle and high there.
    pub points: Vec<(f64, [f64; 3])>,
}

impl Chart {
    /// The chart, with its colours if it is a file of its own.
    pub fn svg(&self, alone: bool) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let (x_low, x_high) = span(points().map(|p| p.0).chain([0.0]), 0.0);
        let (y_low, y_high) = span(points().flat_map(|p| [p.1[0], p.1[2]]).chain(self.near_known()), 0.05);
        let x = |value: f64| LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - (value - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
        let mut s = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" class=\"chart\"><title>{}</title>",
            escape(&self.title)
        );
        if alone {
            let _ = write!(
                s,
                "<style>{STYLE}</style><rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"
            );
        }
        for tick in ticks(y_low, y_high) {
            let at = y(tick);
            let _ = write!(
                s,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                at + 4.0,
                show::score(tick)
            );
        }
        for tick in ticks(x_low, x_high) {
            let _ = write!(
                s,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x(tick),
                HEIGHT - BOTTOM + 18.0,
                show::score(tick)
            );
        }
        let _ = write!(
            s,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escape(&self.x_label)
        );
        if let Some(known) = self.near_known() {
            let at = y(known);
            let _ = write!(
                s,
                "<path class=\"known\" d=\"M{LEFT} {at:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">best known {}</text>",
                WIDTH - RIGHT,
                WIDTH - RIGHT,
                at - 5.0,
                show::score(known)
            );
        }
        for (i, line) in self.lines.iter().enumerate() {
            let colour = i % COLOURS;
            // Best scores are steps: they hold until the next is found.
            let steps = |which: usize, back: bool| -> String {
                let mut corners: Vec<(f64, f64)> = Vec::new();
                for &(at, values) in &line.points {
                    if let Some(&(_, before)) = corners.last() {
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
                let _ = write!(
                    s,
                    "<path class=\"band f{colour}\" d=\"M{}L{}Z\"/>",
                    steps(0, false),
                    steps(2, true)
                );
            }
            if !line.points.is_empty() {
                let _ = write!(s, "<path class=\"line s{colour}\" d=\"M{}\"/>", steps(1, false));
            }
        }
        s + "</svg>"
    }

    /// The best known score, unless it is so far off that the lines would be flat.
    fn near_known(&self) -> Option<f64> {
        let values = self.lines.iter().flat_map(|line| &line.points).flat_map(|p| [p.1[0], p.1[2]]);
        let (low, high) = span(values, 0.0);
        self.known.filter(|known| *known <= high + 1.5 * (high - low) && *known >= low - 1.5 * (high - low))
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

/// Round numbers within the span, about six of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last.min(first + 20)).map(|i| i as f64 * step).collect()
}

/// A text within markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_draws_bands_and_survives_nothing() {
        let line = Line { name: "a".into(), points: vec![(0.0, [1.0, 2.0, 3.0]), (5.0, [2.0, 2.5, 3.0])] };
        let chart =
            |lines| Chart { title: "a < b".into(), x_label: "seconds".into(), lines, known: Some(4.0) };
        let svg = chart(vec![line]).svg(true);
        assert!(
            svg.contains("class=\"band f0\"") && svg.contains("best known 4") && svg.contains("a &lt; b")
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(!chart(vec![]).svg(false).contains("NaN"));
        let flat = Line { name: "b".into(), points: vec![(0.0, [7.0; 3])] };
        assert!(!chart(vec![flat]).svg(false).contains("NaN"));
    }
}
