//! Curves: consensus CDFs in the unit square, and numbers over k.

use super::canvas::{
    Anchor, Canvas, FAINT, INK, Label, Title, blend, colour, text_width, tick_text, ticks,
};

/// Most curves that are distinguished by colour and dashes; more are shaded from first to last.
const DISTINCT: usize = 4;
/// Where the axes are.
const LEFT: f64 = 60.0;
const TOP: f64 = 12.0;

/// Named curves of points in the unit square, with what the axes mean.
///
/// ```
/// use consilience::ndarray::array;
/// use consilience::Ensemble;
/// use consilience::report::pictures;
/// use consilience::trust::ConsensusCdf;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 0], [1, 0], [1, 1]].view())?;
/// let (x, y) = ConsensusCdf::of(&ensemble)?.staircase();
/// let points = x.into_iter().zip(y).collect();
/// let axes = ("co-association", "share of pairs");
/// let svg = pictures::curves(&[("members".into(), points)], axes, "Consensus CDF");
/// assert!(svg.contains("share of pairs"));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn curves(named: &[(String, Vec<(f64, f64)>)], axes: (&str, &str), title: &str) -> String {
    draw(named, axes, None, Title::Drawn(title))
}

/// The same, one of them emphasised.
pub(crate) fn draw(
    named: &[(String, Vec<(f64, f64)>)],
    axes: (&str, &str),
    chosen: Option<usize>,
    title: Title<'_>,
) -> String {
    let (width, height) = (480.0, 400.0);
    let names = named.iter().map(|(name, _)| text_width(name, 12.0)).fold(0.0, f64::max);
    let legend = if named.len() > 1 { 44.0 + names } else { 0.0 };
    let mut canvas = Canvas::new(LEFT + width + 16.0 + legend, TOP + height + 50.0, title);
    let at = |x: f64, y: f64| (LEFT + width * x, TOP + height * (1.0 - y));
    let marks = ticks(0.0, 1.0, 5);
    for &tick in &marks {
        let text = tick_text(tick, &marks);
        canvas.line(at(0.0, tick), at(1.0, tick), "stroke=\"#e2e2e2\"");
        canvas.line(at(tick, 0.0), at(tick, 1.0), "stroke=\"#e2e2e2\"");
        let (x, y) = at(0.0, tick);
        canvas.label((x - 8.0, y), Label::new(&text).size(12.0).anchor(Anchor::End));
        let (x, y) = at(tick, 0.0);
        canvas.label((x, y + 14.0), Label::new(&text).size(12.0));
    }
    canvas.rect((LEFT, TOP), (width, height), &format!("fill=\"none\" stroke=\"{FAINT}\""));
    // A legend of very many names tells every second, third, ...
    let every = (named.len() as f64 * 16.0 / height).ceil().max(1.0) as usize;
    let mut told = 0;
    for (i, (name, points)) in named.iter().enumerate() {
        let bold = chosen == Some(i);
        let style = style(i, named.len(), bold);
        let points: Vec<(f64, f64)> = points.iter().map(|&(x, y)| at(x, y)).collect();
        canvas.polyline(&points, &style);
        if named.len() > 1 && (i % every == 0 || bold) {
            let (x, y) = (LEFT + width + 16.0, TOP + 10.0 + 16.0 * told as f64);
            told += 1;
            canvas.line((x, y), (x + 22.0, y), &style);
            let label = Label::new(name).size(12.0).anchor(Anchor::Start);
            canvas.label((x + 28.0, y), if bold { label.bold() } else { label });
        }
    }
    canvas.label((LEFT + width / 2.0, TOP + height + 36.0), Label::new(axes.0));
    canvas.label((16.0, TOP + height / 2.0), Label::new(axes.1).upwards());
    canvas.finish(&format!("{} over {}; {} curves", axes.1, axes.0, named.len()))
}

/// How a curve is drawn.
fn style(at: usize, all: usize, bold: bool) -> String {
    let width = if bold { 3.2 } else { 1.6 };
    if all <= DISTINCT {
        let dashes = ["", "7 3", "2 3", "9 3 2 3"][at % 4];
        return format!(
            "stroke=\"{}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"",
            colour(at)
        );
    }
    let share = at as f64 / (all - 1) as f64;
    format!("stroke=\"{}\" stroke-width=\"{width}\"", ramp(share))
}

/// From purple through green to amber, in even steps of lightness, dark enough on white.
fn ramp(share: f64) -> String {
    let stops = [[68.0, 1.0, 84.0], [59.0, 82.0, 139.0], [33.0, 145.0, 140.0], [199.0, 140.0, 8.0]];
    blend(share, &stops)
}

/// Numbers over k: a small picture among others of its kind. The band is the range of k that is
/// recommended, the ring the k that was taken.
pub(crate) fn over_k(
    points: &[(usize, Option<f64>)],
    range: (usize, usize),
    chosen: usize,
    title: Title<'_>,
) -> String {
    let (width, height, left, top) = (250.0, 150.0, 50.0, 10.0);
    let mut canvas = Canvas::new(left + width + 12.0, top + height + 38.0, title);
    let known: Vec<(usize, f64)> =
        points.iter().filter_map(|&(k, v)| Some((k, v.filter(|v| v.is_finite())?))).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return canvas.finish("nothing to show");
    };
    let (first, last) = (first.0 as f64, last.0 as f64);
    let low = known.iter().map(|p| p.1).fold(0.0, f64::min);
    let high = known.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max).max(low + 1e-9);
    let high = high + 0.06 * (high - low);
    let x = |k: f64| left + width * (k - first + 0.5) / (last - first + 1.0);
    let y = |v: f64| top + height * (high - v) / (high - low);
    let range = (range.0 as f64, range.1 as f64);
    // A number may be known without having been tried.
    if range.0 <= last && range.1 >= first {
        let (from, to) = (x(range.0.max(first) - 0.5), x(range.1.min(last) + 0.5));
        canvas.rect((from, top), (to - from, height), "fill=\"#fdf0d5\"");
    }
    let marks = ticks(low, high, 4);
    for &tick in &marks {
        let text = tick_text(tick, &marks);
        canvas.line((left, y(tick)), (left + width, y(tick)), "stroke=\"#e2e2e2\"");
        let label = Label::new(&text).size(12.0).anchor(Anchor::End);
        canvas.label((left - 6.0, y(tick)), label);
    }
    for tick in ticks(first, last, 7).into_iter().filter(|t| t.fract() == 0.0) {
        let text = format!("{tick:.0}");
        canvas.label((x(tick), top + height + 12.0), Label::new(&text).size(12.0));
    }
    canvas.rect((left, top), (width, height), &format!("fill=\"none\" stroke=\"{FAINT}\""));
    let line: Vec<(f64, f64)> = known.iter().map(|&(k, v)| (x(k as f64), y(v))).collect();
    canvas.polyline(&line, "stroke=\"#0072b2\" stroke-width=\"1.8\"");
    for (&(k, _), &place) in known.iter().zip(&line) {
        canvas.circle(place, 2.4, "fill=\"#0072b2\"");
        if k == chosen {
            let ring = format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"2\"");
            canvas.circle(place, 6.0, &ring);
        }
    }
    canvas.label((left + width / 2.0, top + height + 28.0), Label::new("clusters").size(12.0));
    let told: Vec<String> = known.iter().map(|(k, v)| format!("{k}: {v:.3}")).collect();
    canvas.finish(&told.join(", "))
}
