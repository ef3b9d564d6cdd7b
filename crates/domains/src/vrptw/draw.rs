//! Routes as text and as a map.

use super::{State, Vrptw};
use sortie_core::picture::{Colour, FAINT, INK, PALETTE, PAPER, Picture, Shape};

/// The vehicles so far, one a line: load, distance, customers.
pub fn text<const W: usize>(vrptw: &Vrptw<W>, state: &State<W>) -> String {
    let mut lines = vec![format!(
        "{}: {} vehicle{}, distance {:.2}{}",
        vrptw.name,
        state.vehicles,
        if state.vehicles == 1 { "" } else { "s" },
        vrptw.driven(state),
        match state.left.len() {
            0 => String::new(),
            left => format!(", {left} customers to serve"),
        }
    )];
    for (r, route) in routes(state).iter().enumerate() {
        let load: u32 = route.iter().map(|&j| vrptw.demand[j as usize]).sum();
        let mut stops = vec![0];
        stops.extend_from_slice(route);
        // The last route is still open unless the vehicle is home.
        if (r + 1) < state.vehicles as usize || state.at == 0 {
            stops.push(0);
        }
        let legs = stops.windows(2).map(|leg| vrptw.distance[leg[0] as usize * vrptw.n + leg[1] as usize]);
        let distance = legs.sum::<f64>() / vrptw.scale;
        let words: Vec<String> = stops.iter().map(|&j| vrptw.numbers[j as usize].to_string()).collect();
        lines.push(format!(
            "{:>3}  load {load}/{}  distance {distance:.2}  {}",
            r + 1,
            vrptw.capacity,
            words.join(" ")
        ));
    }
    lines.join("\n")
}

/// The customers of each vehicle, in the order of the tour.
fn routes<const W: usize>(state: &State<W>) -> Vec<&[u16]> {
    state.tour.split(|&j| j == 0).filter(|route| !route.is_empty()).collect()
}

const SIDE: f64 = 900.0;
const MARGIN: f64 = 36.0;
const DOT: f64 = 9.0;

/// A map: every vehicle its colour, the depot a square, customers not yet served pale.
pub fn picture<const W: usize>(vrptw: &Vrptw<W>, state: &State<W>) -> Picture {
    let bounds = |f: fn(&(f64, f64)) -> f64| {
        let values = || vrptw.places.iter().map(f);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (bottom, top)) = (bounds(|p| p.0), bounds(|p| p.1));
    let extent = (right - left).max(top - bottom).max(f64::MIN_POSITIVE);
    let pixels = (SIDE - 2.0 * MARGIN) / extent;
    // North is up.
    let at = |j: usize| {
        let (x, y) = vrptw.places[j];
        (MARGIN + (x - left) * pixels, MARGIN + (top - y) * pixels)
    };
    let (width, height) = (2.0 * MARGIN + (right - left) * pixels, 2.0 * MARGIN + (top - bottom) * pixels);
    let title = format!("{}: {} vehicles, distance {:.2}", vrptw.name, state.vehicles, vrptw.driven(state));
    let mut picture = Picture::new(width, height, title);

    let mut fills = vec![FAINT; vrptw.n];
    let routes = routes(state);
    for (r, route) in routes.iter().enumerate() {
        let colour = colour(r);
        let mut points = vec![at(0)];
        points.extend(route.iter().map(|&j| at(j as usize)));
        if r + 1 < routes.len() || state.at == 0 {
            points.push(at(0));
        }
        picture.shapes.push(Shape::Line { points, width: 2.0, stroke: colour });
        for &j in *route {
            fills[j as usize] = colour;
        }
    }
    // Dots shrink when there are many places; the number is left out where it could not be read.
    let dot = (DOT * (100.0 / vrptw.n as f64).sqrt()).min(DOT);
    for (j, &fill) in fills.iter().enumerate().skip(1) {
        let (x, y) = at(j);
        picture.shapes.push(Shape::Circle { x, y, r: dot + 1.2, fill: PAPER });
        picture.shapes.push(Shape::Circle { x, y, r: dot, fill });
        if dot > 0.6 * DOT {
            let ink = if luminance(fill) > 0.55 { INK } else { PAPER };
            let text = vrptw.numbers[j].to_string();
            let size = if text.len() > 2 { 0.9 * dot } else { 1.15 * dot };
            picture.shapes.push(Shape::Text { x, y, size, fill: ink, text });
        }
    }
    let (x, y) = at(0);
    let half = 1.2 * dot;
    let square = |half: f64, fill| Shape::Rect {
        x: x - half,
        y: y - half,
        w: 2.0 * half,
        h: 2.0 * half,
        round: 2.0,
        fill,
    };
    picture.shapes.push(square(half + 1.5, PAPER));
    picture.shapes.push(square(half, INK));
    picture
}

/// The colour of a route: the palette, then darker and paler versions of it.
fn colour(route: usize) -> Colour {
    let colour = PALETTE[route % PALETTE.len()];
    match route / PALETTE.len() % 3 {
        0 => colour,
        1 => mix(colour, INK, 0.4),
        _ => mix(colour, PAPER, 0.4),
    }
}

fn mix(a: Colour, b: Colour, share: f64) -> Colour {
    let channel = |shift: u32| {
        let (a, b) = (f64::from(a >> shift & 0xff), f64::from(b >> shift & 0xff));
        ((a + (b - a) * share).round() as u32) << shift
    };
    channel(16) | channel(8) | channel(0)
}

fn luminance(colour: Colour) -> f64 {
    let channel = |shift: u32| f64::from(colour >> shift & 0xff) / 255.0;
    0.3 * channel(16) + 0.59 * channel(8) + 0.11 * channel(0)
}
