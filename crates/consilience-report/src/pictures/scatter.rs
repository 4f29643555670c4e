//! Objects in the plane.

use std::fmt::Write;

use super::canvas::{Anchor, Canvas, Covered, FAINT, Label, Title, colour, short, text_width};

/// One object, or a row that stands for several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) cluster: Option<usize>,
}

const SIDE: (f64, f64) = (600.0, 440.0);
/// Marks in turn: every seven clusters the colours repeat, every five the marks.
const MARKS: [&str; 5] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "M-2.7-2.7h5.4v5.4h-5.4z",
    "M0-3.6L3.4 2.4h-6.8z",
    "M0-3.9L3.2 0L0 3.9L-3.2 0z",
    "M-1-3.4h2v2.4h2.4v2h-2.4v2.4h-2v-2.4h-2.4v-2h2.4z",
];

/// The points, each cluster with a colour, a mark and its number.
pub(crate) fn scatter(points: &[Point], axes: (&str, &str), title: Title<'_>) -> String {
    let (left, top) = (34.0, 10.0);
    let mut canvas = Canvas::new(left + SIDE.0 + 12.0, top + SIDE.1 + 34.0, title);
    let range = |of: fn(&Point) -> f64| {
        let low = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        if high > low { (low, high) } else { (low - 1.0, low + 1.0) }
    };
    let (x, y) = (range(|p| p.x), range(|p| p.y));
    let place = |p: &Point| {
        let across = 0.03 + 0.94 * (p.x - x.0) / (x.1 - x.0);
        let up = 0.03 + 0.94 * (p.y - y.0) / (y.1 - y.0);
        (left + SIDE.0 * across, top + SIDE.1 * (1.0 - up))
    };
    canvas.rect((left, top), SIDE, &format!("fill=\"none\" stroke=\"{FAINT}\""));
    let k = points.iter().filter_map(|p| p.cluster).max().map_or(0, |c| c + 1);
    let mut centres = Vec::new();
    for cluster in (0..k).map(Some).chain([None]) {
        let own: Vec<(f64, f64)> =
            points.iter().filter(|p| p.cluster == cluster).map(place).collect();
        if own.is_empty() {
            continue;
        }
        let fill = cluster.map_or("#bbbbbb", colour);
        canvas.raw(&format!("<g fill=\"{fill}\" fill-opacity=\"0.75\">"));
        let mut path = String::new();
        for &(px, py) in &own {
            let mark = MARKS[cluster.unwrap_or(0) % MARKS.len()];
            let _ = write!(path, "{}", moved(mark, px, py));
        }
        canvas.raw(&format!("<path d=\"{path}\"/></g>"));
        if let Some(cluster) = cluster {
            let n = own.len() as f64;
            let sum = own.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
            centres.push((cluster, (sum.0 / n, sum.1 / n)));
        }
    }
    numbers(&mut canvas, &centres);
    canvas.label((left + SIDE.0 / 2.0, top + SIDE.1 + 18.0), Label::new(axes.0));
    canvas.label((14.0, top + SIDE.1 / 2.0), Label::new(axes.1).upwards());
    canvas.finish(&format!("{} points in {k} clusters", points.len()))
}

/// The number of each cluster at its centre, or as near as it is clear of the others.
fn numbers(canvas: &mut Canvas<'_>, centres: &[(usize, (f64, f64))]) {
    let mut covered: Vec<Covered> = Vec::new();
    for &(cluster, centre) in centres {
        let name = cluster.to_string();
        let size = 15.0;
        let free = (0..90).find_map(|turn| {
            // A spiral around the centre.
            let (r, angle) = (1.6 * f64::from(turn), 0.7 * f64::from(turn));
            let place = (centre.0 + r * angle.cos(), centre.1 + r * angle.sin());
            let own = Covered::by_text(place, &name, size, Anchor::Middle);
            covered.iter().all(|c| !c.meets(&own)).then_some((place, own))
        });
        if let Some((place, own)) = free {
            covered.push(own);
            let back = "fill=\"#ffffff\" fill-opacity=\"0.8\" rx=\"4\"";
            let width = text_width(&name, size) + 4.0;
            canvas.rect((place.0 - width / 2.0, place.1 - 10.0), (width, 20.0), back);
            canvas.label(place, Label::new(&name).size(size).bold());
        }
    }
}

/// A mark at a place: its first move is from there.
fn moved(mark: &str, x: f64, y: f64) -> String {
    // Marks are relative but for their first point, and those lines that are absolute.
    let mut out = String::new();
    let mut rest = mark;
    while let Some(at) = rest.find(['M', 'L']) {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let (a, after) = number(rest);
        let (b, after) = number(after);
        let _ = write!(out, "{} {}", short(x + a), short(y + b));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The number that a text starts with, and what follows.
fn number(text: &str) -> (f64, &str) {
    let text = text.trim_start();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let sign = text.len() - digits.len();
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    (text[..sign + end].parse().unwrap_or(0.0), &text[sign + end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_moved_whole() {
        assert_eq!(moved(MARKS[1], 10.0, 20.0), "M7.3 17.3h5.4v5.4h-5.4z");
        assert_eq!(moved(MARKS[2], 10.0, 20.0), "M10 16.4L13.4 22.4h-6.8z");
        assert_eq!(moved(MARKS[3], 0.5, 0.0), "M0.5 -3.9L3.7 0L0.5 3.9L-2.7 0z");
    }
}
