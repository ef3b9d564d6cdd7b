//! A `Picture` as a PNG: the same shapes that `Picture::svg` writes, anti-aliased.

use crate::font;
use anyhow::{Result, anyhow, bail};
use sortie_core::picture::{Colour, PAPER, Picture, RIM, Shape};
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// No picture is wider or higher than this.
const PIXELS_MAX: f64 = 16_384.0;

/// The picture with `scale` pixels a unit.
pub fn png(picture: &Picture, scale: f64) -> Result<Vec<u8>> {
    if !(scale > 0.0 && scale.is_finite()) {
        bail!("--scale {scale}: expected a number above 0");
    }
    let (width, height) = ((picture.width * scale).round(), (picture.height * scale).round());
    if !(width.max(height) <= PIXELS_MAX && width.min(height) >= 1.0) {
        bail!("--scale {scale}: {width} x {height} pixels; expected 1 to {PIXELS_MAX} each way");
    }
    let mut canvas = Canvas {
        pixels: Pixmap::new(width as u32, height as u32).ok_or_else(|| anyhow!("too large a picture"))?,
        transform: Transform::from_scale(scale as f32, scale as f32),
    };
    canvas.pixels.fill(colour(PAPER));
    for shape in &picture.shapes {
        canvas.draw(shape);
    }
    canvas.pixels.encode_png().map_err(|error| anyhow!("PNG: {error}"))
}

struct Canvas {
    pixels: Pixmap,
    transform: Transform,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect { x, y, w, h, round, fill } => {
                self.fill(rounded(*x, *y, *w, *h, *round), *fill);
            }
            Shape::Circle { x, y, r, fill } => {
                self.fill(PathBuilder::from_circle(*x as f32, *y as f32, *r as f32), *fill);
            }
            Shape::Stone { x, y, r, fill, rim } => {
                let circle = |r: f64| PathBuilder::from_circle(*x as f32, *y as f32, r as f32);
                self.fill(circle(r * (1.0 + RIM / 2.0)), *rim);
                self.fill(circle(r * (1.0 - RIM / 2.0)), *fill);
            }
            Shape::Line { points, width, stroke } => self.line(points, *width, *stroke),
            Shape::Area { points, fill, opacity } => self.area(points, *fill, *opacity),
            Shape::Text { x, y, size, fill, text } => self.text(text, (*x, *y), *size, *fill),
            Shape::Label { x, y, size, fill, text } => {
                self.text(text, (x + font::width(text, *size) / 2.0, *y), *size, *fill);
            }
        }
    }

    fn text(&mut self, text: &str, (x, y): (f64, f64), size: f64, fill: Colour) {
        for line in font::strokes(text, x, y, size) {
            let weight = if line.len() == 1 { font::DOT } else { font::WEIGHT };
            self.line(&line, size * weight, fill);
        }
    }

    fn fill(&mut self, path: Option<Path>, fill: Colour) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, &paint(fill), FillRule::Winding, self.transform, None);
        }
    }

    fn area(&mut self, points: &[(f64, f64)], fill: Colour, opacity: f64) {
        let mut path = PathBuilder::new();
        for (i, &(x, y)) in points.iter().enumerate() {
            if i == 0 { path.move_to(x as f32, y as f32) } else { path.line_to(x as f32, y as f32) }
        }
        path.close();
        let Some(path) = path.finish() else { return };
        let mut shade = colour(fill);
        shade.set_alpha(opacity.clamp(0.0, 1.0) as f32);
        let mut paint = paint(fill);
        paint.set_color(shade);
        self.pixels.fill_path(&path, &paint, FillRule::Winding, self.transform, None);
    }

    fn line(&mut self, points: &[(f64, f64)], width: f64, stroke: Colour) {
        let Some(&(x, y)) = points.first() else { return };
        if points.iter().all(|point| *point == points[0]) {
            // A stroke of no length has no direction: its round cap is a dot.
            return self.fill(PathBuilder::from_circle(x as f32, y as f32, width as f32 / 2.0), stroke);
        }
        let mut path = PathBuilder::new();
        path.move_to(x as f32, y as f32);
        for &(x, y) in &points[1..] {
            path.line_to(x as f32, y as f32);
        }
        let pen = Stroke {
            width: width as f32,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        if let Some(path) = path.finish() {
            self.pixels.stroke_path(&path, &paint(stroke), &pen, self.transform, None);
        }
    }
}

fn rounded(x: f64, y: f64, w: f64, h: f64, round: f64) -> Option<Path> {
    let rect = Rect::from_xywh(x as f32, y as f32, w as f32, h as f32)?;
    let r = round.min(w / 2.0).min(h / 2.0) as f32;
    if r <= 0.0 {
        return Some(PathBuilder::from_rect(rect));
    }
    let (left, top, right, bottom) = (rect.left(), rect.top(), rect.right(), rect.bottom());
    let mut path = PathBuilder::new();
    path.move_to(left + r, top);
    for (corner, end) in [
        ((right, top), (right, top + r)),
        ((right, bottom), (right - r, bottom)),
        ((left, bottom), (left, bottom - r)),
        ((left, top), (left + r, top)),
    ] {
        // Along the edge up to the corner, then round it.
        let along = if corner.0 == end.0 {
            (if corner.0 == right { right - r } else { left + r }, corner.1)
        } else {
            (corner.0, if corner.1 == bottom { bottom - r } else { top + r })
        };
        path.line_to(along.0, along.1);
        path.quad_to(corner.0, corner.1, end.0, end.1);
    }
    path.close();
    path.finish()
}

fn paint(fill: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour(fill));
    paint.anti_alias = true;
    paint
}

fn colour(rgb: Colour) -> tiny_skia::Color {
    let [_, red, green, blue] = rgb.to_be_bytes();
    tiny_skia::Color::from_rgba8(red, green, blue, 255)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(png: &[u8], x: u32, y: u32) -> u32 {
        let pixels = Pixmap::decode_png(png).unwrap();
        let p = pixels.pixel(x, y).unwrap();
        u32::from_be_bytes([0, p.red(), p.green(), p.blue()])
    }

    #[test]
    fn shapes_fall_where_they_should() {
        let mut picture = Picture::new(40.0, 20.0, "test");
        picture.shapes.push(Shape::Rect { x: 2.0, y: 2.0, w: 8.0, h: 8.0, round: 2.0, fill: 0xff0000 });
        picture.shapes.push(Shape::Circle { x: 20.0, y: 10.0, r: 4.0, fill: 0x00ff00 });
        picture.shapes.push(Shape::Line {
            points: vec![(30.0, 2.0), (30.0, 18.0)],
            width: 4.0,
            stroke: 0x0000ff,
        });
        picture.shapes.push(Shape::Line { points: vec![(37.0, 10.0)], width: 4.0, stroke: 0x0000ff });
        let png = png(&picture, 2.0).unwrap();
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 80);
        assert_eq!(u32::from_be_bytes(png[20..24].try_into().unwrap()), 40);
        assert_eq!(pixel(&png, 12, 12), 0xff0000);
        assert_eq!(pixel(&png, 4, 4), PAPER, "the corner is round");
        assert_eq!(pixel(&png, 40, 20), 0x00ff00);
        assert_eq!(pixel(&png, 60, 20), 0x0000ff);
        assert_eq!(pixel(&png, 74, 20), 0x0000ff, "a single point is a dot");
        assert_eq!(pixel(&png, 1, 38), PAPER);
    }

    #[test]
    fn sizes_are_bounded() {
        let picture = Picture::new(100.0, 100.0, "test");
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-3, 1e9] {
            assert!(png(&picture, scale).is_err(), "{scale}");
        }
    }
}
