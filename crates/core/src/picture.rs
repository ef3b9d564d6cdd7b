//! Drawings as data: a domain lists shapes, `svg` writes them, and the command turns them into pixels.
//!
//! A drawing is made for light paper. The few colours that stand for paper, ink and faint lines have a counterpart each
//! for a dark screen (`TONES`); all others look right on both.

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
    /// A stone or piece on a board: a filled circle with a rim. Where two drawings of a game differ in their stones a
    /// move was made: see `Picture::mark`.
    Stone { x: f64, y: f64, r: f64, fill: Colour, rim: Colour },
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
    /// What the two sides of a game are called on this board, and the colour of their stones.
    pub sides: [(&'static str, Colour); 2],
}

/// The background of every picture.
pub const PAPER: Colour = 0xfffdf8;
/// Text and thin lines.
pub const INK: Colour = 0x2b2b33;
/// What matters less: grids, axes.
pub const FAINT: Colour = 0xd8d4cb;
/// How wide the rim of a stone is, in radii.
pub const RIM: f64 = 0.08;
/// Distinguishable colours, also for most colour-blind readers (after Okabe and Ito), in the order of use.
pub const PALETTE: [Colour; 8] =
    [0xd55e00, 0x0072b2, 0x009e73, 0xf0c430, 0xcc79a7, 0x56b4e9, 0x7f5539, 0x6c6f7d];

/// An empty cell of a board, or the light square of one.
pub const CELL: Colour = 0xf4f1ea;
/// The other squares of a board with two kinds.
pub const SHADED: Colour = 0xe3dccb;
/// A wooden board.
pub const WOOD: Colour = 0xe3bf85;
/// The stones of most games.
pub const BLACK: Colour = 0x232329;
/// The stones of most games.
pub const WHITE: Colour = 0xf8f7f3;

/// Colours that a dark screen replaces, each with its counterpart there.
pub const TONES: [(Colour, Colour); 6] = [
    (PAPER, 0x1b1b20),
    (INK, 0xe4e4ea),
    (FAINT, 0x3d3d47),
    (CELL, 0x87826f),
    (SHADED, 0x6b6757),
    (WOOD, 0xb18c58),
];

/// The rules of a style sheet that replace the tones in the dark, for drawings within a page.
pub fn dark_rules() -> String {
    let one = |(light, dark): &(Colour, Colour)| {
        format!("[fill=\"#{light:06x}\"]{{fill:#{dark:06x}}}[stroke=\"#{light:06x}\"]{{stroke:#{dark:06x}}}")
    };
    format!("@media(prefers-color-scheme:dark){{{}}}", TONES.iter().map(one).collect::<String>())
}

/// The rim of a stone of this colour: darker, or lighter where it is dark itself.
pub fn rim(fill: Colour) -> Colour {
    if is_dark(fill) { 0x6d6d78 } else { 0x55555f }
}

fn is_dark(colour: Colour) -> bool {
    let [_, red, green, blue] = colour.to_be_bytes().map(u32::from);
    // The weights by which an eye sees them, in thousands.
    299 * red + 587 * green + 114 * blue < 140_000
}

impl Picture {
    /// An empty drawing.
    pub fn new(width: f64, height: f64, title: impl Into<String>) -> Picture {
        let sides = [("first", PALETTE[0]), ("second", PALETTE[1])];
        Picture { width, height, title: title.into(), shapes: Vec::new(), spots: Vec::new(), sides }
    }

    /// Marks what has changed since `before`: a dot on every stone that came, a ring where one went from.
    pub fn mark(&mut self, before: &Picture) {
        let stones = |picture: &Picture| -> Vec<Shape> {
            picture.shapes.iter().filter(|shape| matches!(shape, Shape::Stone { .. })).cloned().collect()
        };
        let (old, new) = (stones(before), stones(self));
        for stone in &new {
            let &Shape::Stone { x, y, r, fill, .. } = stone else { continue };
            if !old.contains(stone) {
                let fill = if is_dark(fill) { WHITE } else { BLACK };
                self.shapes.push(Shape::Circle { x, y, r: r * 0.34, fill });
            }
        }
        for stone in &old {
            let &Shape::Stone { x, y, r, .. } = stone else { continue };
            let taken =
                |other: &Shape| matches!(other, Shape::Stone { x: a, y: b, .. } if (*a, *b) == (x, y));
            if !new.iter().any(taken) {
                let corner = |i: u32| {
                    let angle = f64::from(i) * std::f64::consts::TAU / 24.0;
                    (x + r * 0.5 * angle.cos(), y + r * 0.5 * angle.sin())
                };
                let points = (0..=24).map(corner).collect();
                self.shapes.push(Shape::Line { points, width: r * 0.14, stroke: PALETTE[7] });
            }
        }
    }

    /// The drawing as a self-contained SVG file, which follows the screen it is shown on, light or dark.
    pub fn svg(&self) -> String {
        self.write(&format!("<style>{}</style>\n", dark_rules()))
    }

    /// The drawing as a part of a page, whose style sheet has the `dark_rules`.
    pub fn markup(&self) -> String {
        self.write("")
    }

    fn write(&self, style: &str) -> String {
        let mut s = String::new();
        let (w, h) = (self.width, self.height);
        let _ = write!(
            s,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
             font-family=\"system-ui, sans-serif\">\n<title>{}</title>\n{style}\
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
                Shape::Stone { x, y, r, fill, rim } => writeln!(
                    s,
                    "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{r:.2}\" fill=\"#{fill:06x}\" \
                     stroke=\"#{rim:06x}\" stroke-width=\"{:.2}\"/>",
                    r * RIM
                ),
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
    fn the_last_move_is_what_has_changed() {
        let stone = |x: f64, fill| Shape::Stone { x, y: 5.0, r: 4.0, fill, rim: rim(fill) };
        let with = |stones: &[Shape]| {
            let mut picture = Picture::new(50.0, 10.0, "");
            picture.shapes.extend_from_slice(stones);
            picture
        };
        let before = with(&[stone(5.0, BLACK), stone(15.0, WHITE)]);
        let mut after = with(&[stone(25.0, BLACK), stone(15.0, WHITE)]);
        after.mark(&before);
        assert_eq!(after.shapes[2], Shape::Circle { x: 25.0, y: 5.0, r: 4.0 * 0.34, fill: WHITE });
        assert!(matches!(&after.shapes[3], Shape::Line { points, .. } if points[0] == (7.0, 5.0)));
        assert_eq!(after.shapes.len(), 4);
        let mut taken = with(&[stone(15.0, BLACK)]);
        taken.mark(&before);
        assert_eq!(taken.shapes.len(), 3, "a stone that was taken leaves no ring below the one that took it");
    }

    #[test]
    fn a_file_follows_the_screen_and_a_part_of_a_page_its_style() {
        let picture = Picture::new(10.0, 20.0, "t");
        assert!(
            picture
                .svg()
                .contains("<style>@media(prefers-color-scheme:dark){[fill=\"#fffdf8\"]{fill:#1b1b20}")
        );
        assert!(!picture.markup().contains("<style"));
    }

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
