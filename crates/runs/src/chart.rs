//! A line chart as a picture: one line a series, the names at the ends of the lines where the eye is. Intervals are
//! shades of the same colour. Where many shades would hide each other they are whiskers: at every point if there are
//! few, else one for the end of each line, side by side.

use crate::text;
use sortie_core::picture::{Colour, FAINT, INK, PALETTE, Picture, Shape};

/// A chart.
#[derive(Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What is to the right.
    pub x_label: String,
    /// What is up.
    pub y_label: String,
    /// What the numbers to the right are.
    pub x: Axis,
    /// What the numbers upwards are.
    pub y: Axis,
    /// Nothing lies below the first or above the second: intervals end there.
    pub y_bounds: Option<(f64, f64)>,
    /// The lines.
    pub series: Vec<Series>,
    /// What was seen: where, how high, and the radius of its dot.
    pub dots: Vec<(f64, f64, f64)>,
}

/// What the numbers along an axis are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Axis {
    /// The values.
    #[default]
    Plain,
    /// Their binary logarithms; the values are written beside them.
    Log2,
}

impl Axis {
    fn ticks(self, low: f64, high: f64) -> Vec<f64> {
        let all = ticks(low, high);
        match self {
            Axis::Plain => all,
            // Whole powers of two only.
            Axis::Log2 if all.iter().all(|tick| tick.fract() == 0.0) => all,
            Axis::Log2 => (low.ceil() as i64..=high.floor() as i64).map(|i| i as f64).collect(),
        }
    }

    /// The span up to whole powers of two, so that there is something to write beside it.
    fn whole(self, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Axis::Plain => (low, high),
            Axis::Log2 => (low.floor(), high.ceil().max(low.floor() + 1.0)),
        }
    }

    fn label(self, tick: f64) -> String {
        match self {
            Axis::Plain => text::score(tick),
            Axis::Log2 => match 2f64.powf(tick) {
                value if value >= 1e6 => format!("{:.1}M", value / 1e6),
                value if value >= 1e4 => format!("{:.0}k", value / 1e3),
                value => text::score(value),
            },
        }
    }
}

/// A line with an interval.
pub struct Series {
    /// Its name.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
}

/// One place of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval.
    pub half: f64,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 64.0;
const TEXT: f64 = 15.0;
/// More shades than this hide each other.
const SHADES_MAX: usize = 4;
/// More whiskers than this along a line hide it.
const WHISKERS_MAX: usize = 16;
/// Between the whiskers at the ends of lines.
const WHISKER_STEP: f64 = 8.0;

impl Chart {
    /// The chart as a picture.
    pub fn draw(&self) -> Picture {
        stack(std::slice::from_ref(self), &self.title)
    }

    fn shaded(&self) -> bool {
        self.series.len() <= SHADES_MAX
    }

    /// An end of the interval at a point: `sign` 1 is the upper one, -1 the lower.
    fn reach(&self, p: &Point, sign: f64) -> f64 {
        let (least, most) = self.y_bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        (p.mean + sign * p.half).clamp(least, most)
    }

    /// All that has to find room upwards.
    fn heights(&self) -> impl Iterator<Item = f64> {
        let edges = self.series.iter().flat_map(|series| {
            let first = if self.shaded() { 0 } else { whiskers_from(series) };
            let bare = series.points[..first].iter().map(|p| p.mean);
            bare.chain(series.points[first..].iter().flat_map(|p| [self.reach(p, -1.0), self.reach(p, 1.0)]))
        });
        edges.chain(self.dots.iter().map(|dot| dot.1))
    }

    /// Draws the chart so far `down`, with this span upwards.
    fn draw_at(&self, down: f64, (y_low, y_high): (f64, f64), shapes: &mut Vec<Shape>) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (x_low, x_high) =
            span(points().map(|p| p.x).chain([0.0]).chain(self.dots.iter().map(|dot| dot.0)));
        let x = |value: f64| LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
        let bottom = down + HEIGHT - BOTTOM;
        let y = |value: f64| bottom - (value - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
        let text =
            |x: f64, y: f64, size: f64, fill: Colour, text: String| Shape::Text { x, y, size, fill, text };
        shapes.push(text(WIDTH / 2.0, down + TOP / 2.0, 19.0, INK, self.title.clone()));
        for tick in self.y.ticks(y_low, y_high) {
            let points = vec![(LEFT, y(tick)), (WIDTH - RIGHT, y(tick))];
            shapes.push(Shape::Line { points, width: 1.0, stroke: FAINT });
            shapes.push(text(LEFT - 36.0, y(tick), TEXT, INK, self.y.label(tick)));
        }
        for tick in self.x.ticks(x_low, x_high) {
            shapes.push(text(x(tick), bottom + 18.0, TEXT, INK, self.x.label(tick)));
        }
        shapes.push(text(
            (LEFT + WIDTH - RIGHT) / 2.0,
            down + HEIGHT - 18.0,
            TEXT,
            INK,
            self.x_label.clone(),
        ));
        shapes.push(text(LEFT, down + TOP - 12.0, TEXT, INK, self.y_label.clone()));
        for &(a, b, r) in &self.dots {
            shapes.push(Shape::Circle { x: x(a), y: y(b), r, fill: PALETTE[7] });
        }
        for (i, (series, &colour)) in self.series.iter().zip(PALETTE.iter().cycle()).enumerate() {
            if self.shaded() {
                let edge = |sign: f64| series.points.iter().map(move |p| (p.x, self.reach(p, sign)));
                let band = edge(1.0).chain(edge(-1.0).collect::<Vec<_>>().into_iter().rev());
                let points = band.map(|(a, b)| (x(a), y(b))).collect();
                shapes.push(Shape::Area { points, fill: colour, opacity: 0.15 });
            } else {
                let first = whiskers_from(series);
                for p in &series.points[first..] {
                    let at = if first == 0 { x(p.x) } else { WIDTH - RIGHT + (i + 1) as f64 * WHISKER_STEP };
                    let points = vec![(at, y(self.reach(p, -1.0))), (at, y(self.reach(p, 1.0)))];
                    shapes.push(Shape::Line { points, width: 1.5, stroke: colour });
                    shapes.push(Shape::Circle { x: at, y: y(p.mean), r: 3.0, fill: colour });
                }
            }
            let points = series.points.iter().map(|p| (x(p.x), y(p.mean))).collect();
            shapes.push(Shape::Line { points, width: 2.5, stroke: colour });
        }
        // Names beside the last points and their whiskers, pushed apart where lines end close together.
        let beside =
            WIDTH - RIGHT + if self.shaded() { 0.0 } else { self.series.len() as f64 * WHISKER_STEP };
        let mut names: Vec<(f64, usize)> = Vec::new();
        for (i, series) in self.series.iter().enumerate() {
            if let Some(last) = series.points.last() {
                names.push((y(last.mean), i));
            }
        }
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut above = down + TOP - TEXT;
        for (place, i) in names {
            let place = place.max(above + TEXT * 1.3);
            above = place;
            let (colour, name) = (PALETTE[i % PALETTE.len()], self.series[i].name.clone());
            shapes.push(Shape::Label { x: beside + 12.0, y: place, size: TEXT, fill: colour, text: name });
        }
    }
}

/// Charts one below the other, all with the same span upwards, so that heights can be compared.
pub fn stack(charts: &[Chart], title: &str) -> Picture {
    let mut picture = Picture::new(WIDTH, HEIGHT * charts.len() as f64, title);
    let (low, high) = span(charts.iter().flat_map(Chart::heights));
    for (i, chart) in charts.iter().enumerate() {
        chart.draw_at(i as f64 * HEIGHT, chart.y.whole((low, high)), &mut picture.shapes);
    }
    picture
}

/// The first point of a series that has a whisker.
fn whiskers_from(series: &Series) -> usize {
    if series.points.len() <= WHISKERS_MAX { 0 } else { series.points.len() - 1 }
}

/// The span of the values with a little room above and below.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.04).max(1e-9 + 1e-9 * high.abs());
    (if low == 0.0 { low } else { low - room }, high + room)
}

/// Round numbers within the span, about six of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 60.0), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        assert_eq!(ticks(1432.0, 2231.0), [1600.0, 1800.0, 2000.0, 2200.0]);
    }

    #[test]
    fn logarithms_are_written_as_what_they_are_of() {
        assert_eq!(Axis::Log2.ticks(0.0, 7.2), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(Axis::Log2.ticks(0.0, 2.1), [0.0, 1.0, 2.0]);
        let labels = [-1.0, 7.0, 14.0, 21.0].map(|tick| Axis::Log2.label(tick));
        assert_eq!(labels, ["0.5", "128", "16k", "2.1M"]);
    }

    #[test]
    fn a_chart_draws_every_series_and_survives_none() {
        let line = |name: &str| Series {
            name: name.into(),
            points: vec![Point { x: 0.0, mean: 1.0, half: 0.5 }, Point { x: 9.0, mean: 3.0, half: 0.1 }],
        };
        let chart = |series| Chart {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            series,
            dots: vec![(1.0, 2.0, 3.0)],
            ..Chart::default()
        };
        let svg = chart(vec![line("one"), line("two")]).draw().svg();
        assert_eq!((svg.matches("<polygon").count(), svg.matches("<circle").count()), (2, 1));
        assert!(svg.contains(">one<") && svg.contains(">two<"));
        assert!(!svg.contains("NaN"));
        assert!(!chart(vec![]).draw().svg().contains("NaN"));
        let many = chart(["a", "b", "c", "d", "e"].map(line).into()).draw().svg();
        let (shades, dots) = (many.matches("<polygon").count(), many.matches("<circle").count());
        assert_eq!((shades, dots), (0, 1 + 5 * 2), "a whisker for each of two points");
    }

    #[test]
    fn stacked_charts_have_the_same_heights() {
        let chart = |mean| Chart {
            series: vec![Series { name: "one".into(), points: vec![Point { x: 1.0, mean, half: 0.0 }] }],
            dots: vec![(1.0, 5.0, 3.0)],
            ..Chart::default()
        };
        let picture = stack(&[chart(0.0), chart(40.0)], "t");
        assert_eq!(picture.height, 2.0 * HEIGHT);
        let dots = picture.shapes.iter().filter_map(|shape| match shape {
            Shape::Circle { y, .. } => Some(*y),
            _ => None,
        });
        let dots: Vec<f64> = dots.collect();
        assert_eq!(dots[1] - dots[0], HEIGHT, "5 is as high in both");
    }
}
