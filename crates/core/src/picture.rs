//! Drawings as data: a domain lists shapes, `svg` writes them, and the command turns them into pixels.

use std::fmt::Write;

/// A colour as 0xRRGGBB.
pub type Colour = u32;

/// One shape. Coordinates are in the picture's own units, y downwards; strokes are centred on the outline.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the fields are what their names say
pub enum Shape {
    /// A filled rectangle with its top left corner at (x, y), corners rounded by `round`.
    Rect { x: f64, y: f64, w: f64, h: f64, round: f64, fill: Colour },
    /// A filled circle.
    Circle { x: f64, y: f64, r: f64, fill: Colour },
    /// A line through all points.
    Line { points: Vec<(f64, f64)>, width: f64, stroke: Colour },
    /// A filled polygon, `opacity` from 0 to 1.
    Area { points: Vec<(f64, f64)>, fill: Colour, opacity: f64 },
    /// A text centred on (x, y), `size` high.
    Text { x: f64, y: f64, size: f64, fill: Colour, text: String },
    /// A text that begins at x.
    Label { x: f64, y: f64, size: f64, fill: Colour, text: String },
}

/// A named place of a drawing, for whoever plays by pointing: words of moves are made of such names.
#[derive(Debug, Clone, PartialEq)]
pub struct Spot {
    /// The name of a cell, as words of moves spell it. Several spots may share one.
    pub name: String,
    /// Its middle.
    pub x: f64,
    /// Its middle.
    pub y: f64,
    /// How far from the middle it reaches.
    pub r: f64,
}

/// A drawing: a size, a background, and shapes from back to front.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width in units; one unit is one pixel at scale 1.
    pub width: f64,
    /// Height in units.
    pub height: f64,
    /// What the drawing shows, for the title of the SVG.
    pub title: String,
    /// Back to front.
    pub shapes: Vec<Shape>,
    /// Where a board can be pointed at; empty where it cannot. Not drawn.
    pub spots: Vec<Spot>,
}

/// The background of every picture.
pub const PAPER: Colour = 0xfffdf8;
/// Text and thin lines.
pub const INK: Colour = 0x2b2b33;
/// What matters less: grids, axes.
pub const FAINT: Colour = 0xd8d4cb;
/// Distinguishable colours, also for most colour-blind readers (after Okabe and Ito), in the order of use.
pub const PALETTE: [Colour; 8] =
    [0xd55e00, 0x0072b2, 0x009e73, 0xf0c430, 0xcc79a7, 0x56b4e9, 0x7f5539, 0x6c6f7d];

impl Picture {
    /// An empty drawing.
    pub fn new(width: f64, height: f64, title: impl Into<String>) -> Picture {
        Picture { width, height, title: title.into(), shapes: Vec::new(), spots: Vec::new() }
    }

    /// The drawing as a self-contained SVG file.
    pub fn svg(&self) -> String {
        let mut s = String::new();
        let (w, h) = (self.width, self.height);
        let _ = write!(
            s,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             font-family=\"system-ui, sans-serif\">\n<title>{}</title>\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#{PAPER:06x}\"/>\n",
            escape(&self.title)
        );
        for shape in &self.shapes {
            let _ = match shape {
                Shape::Rect { x, y, w, h, round, fill } => writeln!(
                    s,
                    "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" rx=\"{round:.2}\" \
                     fill=\"#{fill:06x}\"/>"
                ),
                Shape::Circle { x, y, r, fill } => {
                    writeln!(s, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{r:.2}\" fill=\"#{fill:06x}\"/>")
                }
                Shape::Line { points, width, stroke } => writeln!(
                    s,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"#{stroke:06x}\" stroke-width=\"{width:.2}\" \
                     stroke-linecap=\"round\" stroke-linejoin=\"round\"/>",
                    path(points)
                ),
                Shape::Area { points, fill, opacity } => writeln!(
                    s,
                    "<polygon points=\"{}\" fill=\"#{fill:06x}\" fill-opacity=\"{opacity:.2}\"/>",
                    path(points)
                ),
                Shape::Text { x, y, size, fill, text } | Shape::Label { x, y, size, fill, text } => writeln!(
                    s,
                    "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size:.2}\" fill=\"#{fill:06x}\" \
                     text-anchor=\"{}\" dominant-baseline=\"central\">{}</text>",
                    if matches!(shape, Shape::Label { .. }) { "start" } else { "middle" },
                    escape(text)
                ),
            };
        }
        s.push_str("</svg>\n");
        s
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
    points.join(" ")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn svg_holds_every_shape_and_escapes_text() {
        let mut p = Picture::new(10.0, 20.0, "a < b");
        p.shapes.push(Shape::Rect { x: 0.0, y: 1.0, w: 2.0, h: 3.0, round: 0.5, fill: 0xff0000 });
        p.shapes.push(Shape::Text { x: 1.0, y: 1.0, size: 4.0, fill: INK, text: "\"&".into() });
        p.shapes.push(Shape::Label { x: 1.0, y: 1.0, size: 4.0, fill: INK, text: "b".into() });
        let svg = p.svg();
        assert!(svg.contains("<title>a &lt; b</title>"));
        assert!(svg.contains("fill=\"#ff0000\""));
        assert!(svg.contains("text-anchor=\"middle\" dominant-baseline=\"central\">&quot;&amp;</text>"));
        assert!(svg.contains("text-anchor=\"start\" dominant-baseline=\"central\">b</text>"));
    }
}
