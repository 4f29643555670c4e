//! Shapes as SVG text, and labels that stay clear of each other.

use std::fmt::Write;

use crate::escape::escape;

/// Colour of text and lines.
pub(crate) const INK: &str = "#222222";
/// Colour of what recedes.
pub(crate) const FAINT: &str = "#8a8a8a";
/// Height of a drawn title.
const TITLE: f64 = 34.0;

/// Colours that most colour-blind readers can distinguish (Okabe, Ito 2008), for clusters. They
/// repeat; shapes and numbers carry the difference as well.
const CLUSTERS: [&str; 7] =
    ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f"];

/// The colour of a cluster.
pub(crate) fn colour(cluster: usize) -> &'static str {
    CLUSTERS[cluster % CLUSTERS.len()]
}

/// The colour at a share of the way from the first of some to the last.
pub(crate) fn blend(share: f64, stops: &[[f64; 3]]) -> String {
    let at = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let from = (at as usize).min(stops.len() - 2);
    let (low, high) = (stops[from], stops[from + 1]);
    let mix = |i: usize| (low[i] + (at - from as f64) * (high[i] - low[i])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// What a picture is called.
#[derive(Clone, Copy)]
pub(crate) enum Title<'a> {
    /// Written above the picture, and told to those who cannot see it.
    Drawn(&'a str),
    /// Only told: the page writes it as a heading.
    Told(&'a str),
}

impl<'a> Title<'a> {
    fn text(self) -> &'a str {
        match self {
            Title::Drawn(text) | Title::Told(text) => text,
        }
    }
}

/// Where a text stands beside its place.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text in a picture.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a> {
    pub(crate) text: &'a str,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) fill: &'a str,
    pub(crate) bold: bool,
    /// Upwards, as along a vertical axis.
    pub(crate) upwards: bool,
    /// With an outline in the colour of the paper.
    pub(crate) halo: bool,
}

impl<'a> Label<'a> {
    /// In the middle, of common size.
    pub(crate) fn new(text: &'a str) -> Self {
        Label {
            text,
            size: 13.0,
            anchor: Anchor::Middle,
            fill: INK,
            bold: false,
            upwards: false,
            halo: false,
        }
    }

    pub(crate) fn size(mut self, size: f64) -> Self {
        self.size = size;
        self
    }

    pub(crate) fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    pub(crate) fn fill(mut self, fill: &'a str) -> Self {
        self.fill = fill;
        self
    }

    pub(crate) fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub(crate) fn upwards(mut self) -> Self {
        self.upwards = true;
        self
    }

    pub(crate) fn halo(mut self) -> Self {
        self.halo = true;
        self
    }
}

/// About as wide as a text is: fonts differ, so a little more than most.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    0.62 * size * text.chars().count() as f64
}

/// A number as short as it may be for a picture: hundredths of a pixel.
pub(crate) fn short(x: f64) -> String {
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A picture that grows.
pub(crate) struct Canvas<'a> {
    title: Title<'a>,
    width: f64,
    height: f64,
    body: String,
}

impl<'a> Canvas<'a> {
    /// Of that size, without the title.
    pub(crate) fn new(width: f64, height: f64, title: Title<'a>) -> Self {
        Canvas { title, width, height, body: String::new() }
    }

    /// Markup as it is.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
        self.body.push('\n');
    }

    /// A filled rectangle.
    pub(crate) fn rect(&mut self, (x, y): (f64, f64), (w, h): (f64, f64), style: &str) {
        let (x, y, w, h) = (short(x), short(y), short(w), short(h));
        let _ =
            writeln!(self.body, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {style}/>");
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let [a, b, c, d] = [from.0, from.1, to.0, to.1].map(short);
        let _ = writeln!(self.body, "<path d=\"M{a} {b}L{c} {d}\" {style}/>");
    }

    /// A line through points.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], style: &str) {
        let mut path = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if at == 0 { 'M' } else { 'L' }, short(*x), short(*y));
        }
        let _ = writeln!(self.body, "<path d=\"{path}\" fill=\"none\" {style}/>");
    }

    /// A circle.
    pub(crate) fn circle(&mut self, (x, y): (f64, f64), radius: f64, style: &str) {
        let (x, y, r) = (short(x), short(y), short(radius));
        let _ = writeln!(self.body, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" {style}/>");
    }

    /// A text whose middle line is at y.
    pub(crate) fn label(&mut self, (x, y): (f64, f64), label: Label<'_>) {
        let anchor = match label.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let bold = if label.bold { " font-weight=\"600\"" } else { "" };
        let halo = if label.halo {
            " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" \
             paint-order=\"stroke\""
        } else {
            ""
        };
        // Fonts stand on a line; a third of their size above it is the middle of small letters.
        let drop = 0.35 * label.size;
        let place = if label.upwards {
            let (x, y) = (short(x + drop), short(y));
            format!("transform=\"translate({x} {y}) rotate(-90)\"")
        } else {
            format!("x=\"{}\" y=\"{}\"", short(x), short(y + drop))
        };
        let _ = writeln!(
            self.body,
            "<text {place} font-size=\"{}\" fill=\"{}\"{anchor}{bold}{halo}>{}</text>",
            short(label.size),
            label.fill,
            escape(label.text)
        );
    }

    /// The picture; `told` goes on where its title ends, for those who cannot see it.
    pub(crate) fn finish(self, told: &str) -> String {
        let title = self.title.text();
        let drawn = matches!(self.title, Title::Drawn(_)) && !title.is_empty();
        let (width, height) =
            (short(self.width), short(self.height + if drawn { TITLE } else { 0.0 }));
        let spoken = match (title, told) {
            ("", told) => told.to_owned(),
            (title, "") => title.to_owned(),
            (title, told) => format!("{title}: {told}"),
        };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
            escape(&spoken)
        );
        if drawn {
            let middle = short(self.width / 2.0);
            let _ = writeln!(
                out,
                "<text x=\"{middle}\" y=\"24\" font-size=\"17\" fill=\"{INK}\" font-weight=\"600\" \
                 text-anchor=\"middle\">{}</text>",
                escape(title)
            );
            let _ = writeln!(out, "<g transform=\"translate(0 {TITLE})\">\n{}</g>", self.body);
        } else {
            out.push_str(&self.body);
        }
        out.push_str("</svg>\n");
        out
    }
}

/// A rectangle that something covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
    /// Centre and radius of a circle, which leaves the corners free.
    circle: Option<((f64, f64), f64)>,
}

impl Covered {
    /// By a text around a place.
    pub(crate) fn by_text((x, y): (f64, f64), text: &str, size: f64, anchor: Anchor) -> Self {
        let width = text_width(text, size);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let (top, bottom) = (y - 0.6 * size, y + 0.6 * size);
        Covered { left, top, right: left + width, bottom, circle: None }
    }

    /// By a circle.
    pub(crate) fn by_circle((x, y): (f64, f64), r: f64) -> Self {
        let circle = Some(((x, y), r));
        Covered { left: x - r, top: y - r, right: x + r, bottom: y + r, circle }
    }

    /// Whether two overlap; of two circles, whether their squares do.
    pub(crate) fn meets(&self, other: &Covered) -> bool {
        let squares = self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom;
        squares
            && match (self.circle, other.circle) {
                (Some(circle), None) => other.reaches(circle),
                (None, Some(circle)) => self.reaches(circle),
                _ => true,
            }
    }

    /// Whether the nearest point of the rectangle lies within a circle.
    fn reaches(&self, ((x, y), r): ((f64, f64), f64)) -> bool {
        let near = (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom));
        (near.0 - x).hypot(near.1 - y) < r
    }
}

/// Round numbers between two ends, about so many.
pub(crate) fn ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0) || !span.is_finite() {
        return vec![low];
    }
    let raw = span / about.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999);
    let step = step.unwrap_or(raw);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|t| t as f64 * step).collect()
}

/// A tick as text, with as many digits as the step between ticks needs.
pub(crate) fn tick_text(value: f64, ticks: &[f64]) -> String {
    let step = match ticks {
        [a, b, ..] => (b - a).abs(),
        _ => value.abs().max(1.0),
    };
    let digits = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let found = ticks(0.0, 1.0, 4);
        assert_eq!(found.len(), 3);
        assert_eq!(tick_text(found[1], &found), "0.5");
        assert_eq!(ticks(2.0, 2.0, 4), [2.0]);
        assert_eq!(ticks(0.013, 0.049, 4), [0.02, 0.03, 0.04]);
        for (low, high) in [(0.0, 7e9), (-3.0, 5.5), (1e-12, 2e-12)] {
            let found = ticks(low, high, 5);
            assert!(found.len() >= 2 && found.len() <= 7, "{low} {high}: {found:?}");
            assert!(found.iter().all(|t| *t >= low - 1e-9 * high && *t <= high * (1.0 + 1e-9)));
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 0.5, 1.0 / 3.0, -0.001].map(short), ["1", "0.5", "0.33", "0"]);
    }
}
