//! Clusters on a circle, joined where their memberships overlap.

use std::f64::consts::{PI, TAU};

use ndarray::ArrayView2;

use super::canvas::{Anchor, Canvas, Covered, INK, Label, Title, colour, text_width};

/// Relations below this are not drawn.
const LEAST: f64 = 0.005;
/// Where along a line its number is tried, from one end to the other: the middle first, where the
/// lines of a few clusters do not cross.
const ALONG: [f64; 9] = [0.5, 0.4, 0.6, 0.33, 0.67, 0.27, 0.73, 0.45, 0.55];
const SIDE: f64 = 720.0;

/// The clusters by their `names` (numbers) and `masses` (objects in all), and `relations`, how much
/// of cluster i's membership lies in cluster j as well.
///
/// Numbers of objects stand outside the circle, numbers of overlaps on their lines where they are
/// clear of everything else; the width of a line tells the overlap too.
///
/// ```
/// use consilience::ndarray::array;
/// use consilience::report::pictures;
///
/// let overlaps = array![[1.0, 0.2], [0.2, 1.0]];
/// let svg = pictures::cluster_graph(&[0, 1], &[30.0, 12.0], overlaps.view(), "Overlaps");
/// assert!(svg.contains("30 objects"));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn cluster_graph(
    names: &[usize],
    masses: &[f64],
    relations: ArrayView2<'_, f64>,
    title: &str,
) -> String {
    let k = names.len().min(masses.len()).min(relations.nrows()).min(relations.ncols());
    let layout = Layout::of(&masses[..k], relations);
    let mut canvas = Canvas::new(layout.width, SIDE - 20.0, Title::Drawn(title));
    for &(i, j, weight) in &layout.lines {
        let width = (1.0 + 40.0 * weight).min(16.0);
        let style =
            format!("stroke=\"#9a9a9a\" stroke-opacity=\"0.6\" stroke-width=\"{width:.2}\"");
        canvas.line(layout.circles[i].0, layout.circles[j].0, &style);
    }
    for (i, &(place, radius)) in layout.circles.iter().enumerate() {
        let fill = colour(names[i]);
        let style = format!("fill=\"{fill}\" fill-opacity=\"0.85\" stroke=\"{INK}\"");
        canvas.circle(place, radius, &style);
        let name = names[i].to_string();
        let size = (radius * 0.9).clamp(9.0, 16.0);
        canvas.label(place, Label::new(&name).size(size).bold().halo());
    }
    for text in &layout.texts {
        let label = Label::new(&text.text).size(text.size).anchor(text.anchor);
        canvas.label(text.place, if text.on_line { label.halo() } else { label });
    }
    let told = format!("{k} clusters, {} overlaps between them", layout.lines.len());
    canvas.finish(&told)
}

/// A text with its place.
struct Text {
    text: String,
    place: (f64, f64),
    size: f64,
    anchor: Anchor,
    on_line: bool,
}

/// Where everything is.
struct Layout {
    /// Of the whole picture.
    width: f64,
    /// Centre and radius of each cluster.
    circles: Vec<((f64, f64), f64)>,
    lines: Vec<(usize, usize, f64)>,
    texts: Vec<Text>,
}

impl Layout {
    fn of(masses: &[f64], relations: ArrayView2<'_, f64>) -> Self {
        let k = masses.len();
        let tie = |i: usize, j: usize| f64::midpoint(relations[[i, j]], relations[[j, i]]);
        let ring = 230.0;
        // Neighbours on the ring never touch.
        let most = (0.8 * PI * ring / k.max(1) as f64).clamp(3.0, 46.0);
        let largest = masses.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let sizes: Vec<String> = masses.iter().map(|m| format!("{m:.0} objects")).collect();
        let widest = sizes.iter().map(|text| text_width(text, 12.0)).fold(0.0, f64::max);
        // Room for the widest text beside the largest circle, on both sides.
        let width = f64::max(SIDE, 2.0 * (ring + most + 14.0 + widest));
        let middle = (width / 2.0, SIDE / 2.0 - 10.0);
        let mut circles = vec![((0.0, 0.0), 0.0); k];
        let mut texts = Vec::new();
        for (position, &i) in around(masses, &tie).iter().enumerate() {
            let angle = TAU * position as f64 / k as f64 - TAU / 4.0;
            let (cos, sin) = (angle.cos(), angle.sin());
            let radius = (0.25 + 0.75 * (masses[i] / largest).max(0.0).sqrt()) * most;
            circles[i] = ((middle.0 + ring * cos, middle.1 + ring * sin), radius);
            let anchor = match cos {
                c if c > 0.3 => Anchor::Start,
                c if c < -0.3 => Anchor::End,
                _ => Anchor::Middle,
            };
            // Outside the ring, a line's height further where it stands above or below.
            let out = ring + radius + if anchor == Anchor::Middle { 14.0 } else { 8.0 };
            let place = (middle.0 + out * cos, middle.1 + out * sin);
            let text = sizes[i].clone();
            texts.push(Text { text, place, size: 12.0, anchor, on_line: false });
        }
        texts = clear(texts, &circles);
        let mut lines = Vec::new();
        for i in 0..k {
            for j in (i + 1)..k {
                let weight = tie(i, j);
                if weight >= LEAST {
                    lines.push((i, j, weight));
                }
            }
        }
        // The strongest find their places first.
        lines.sort_by(|a, b| b.2.total_cmp(&a.2));
        let mut layout = Layout { width, circles, lines, texts };
        layout.number_lines();
        layout
    }

    fn number_lines(&mut self) {
        let mut covered = covered(&self.texts, &self.circles);
        for &(i, j, weight) in &self.lines {
            let (from, to) = (self.circles[i].0, self.circles[j].0);
            let text = format!("{weight:.2}");
            let free = ALONG.into_iter().find_map(|t| {
                let place = (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
                let own = Covered::by_text(place, &text, 12.0, Anchor::Middle);
                covered.iter().all(|c| !c.meets(&own)).then_some((place, own))
            });
            if let Some((place, own)) = free {
                covered.push(own);
                let anchor = Anchor::Middle;
                self.texts.push(Text { text, place, size: 12.0, anchor, on_line: true });
            }
        }
    }
}

/// What texts and circles cover.
fn covered(texts: &[Text], circles: &[((f64, f64), f64)]) -> Vec<Covered> {
    let of_texts = texts.iter().map(|t| Covered::by_text(t.place, &t.text, t.size, t.anchor));
    of_texts.chain(circles.iter().map(|&(place, r)| Covered::by_circle(place, r))).collect()
}

/// Those texts that are clear of the circles and of the texts before them.
fn clear(texts: Vec<Text>, circles: &[((f64, f64), f64)]) -> Vec<Text> {
    let mut covered = covered(&[], circles);
    let mut kept = Vec::new();
    for text in texts {
        let own = Covered::by_text(text.place, &text.text, text.size, text.anchor);
        if covered.iter().all(|c| !c.meets(&own)) {
            covered.push(own);
            kept.push(text);
        }
    }
    kept
}

/// The order around the ring: the largest cluster, then always the one that overlaps the last most.
fn around(masses: &[f64], tie: &dyn Fn(usize, usize) -> f64) -> Vec<usize> {
    let k = masses.len();
    let mut order: Vec<usize> = Vec::with_capacity(k);
    while order.len() < k {
        let nearness = |i: usize| order.last().map_or(masses[i], |&last| tie(last, i));
        let rest = (0..k).filter(|i| !order.contains(i));
        let Some(next) = rest.reduce(|a, b| if nearness(b) > nearness(a) { b } else { a }) else {
            break;
        };
        order.push(next);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;
    use ndarray::Array2;

    /// No text over a circle or another text, however many clusters and overlaps there are.
    #[test]
    fn nothing_collides() {
        for k in [1, 2, 3, 5, 8, 13, 30, 80] {
            let mut s = Seed(k as u64).stream();
            let masses: Vec<f64> = (0..k).map(|_| 1.0 + 1e6 * s.uniform().powi(4)).collect();
            let relations = Array2::from_shape_fn((k, k), |_| s.uniform() * 0.4);
            let layout = Layout::of(&masses, relations.view());
            let all = covered(&layout.texts, &layout.circles);
            for (a, one) in all.iter().enumerate() {
                assert!(one.left >= 0.0 && one.right <= layout.width, "{k}: {one:?}");
                for (b, other) in all.iter().enumerate().skip(a + 1) {
                    // Round neighbours may share the corner of a square that neither covers.
                    let both_round = a.min(b) >= layout.texts.len();
                    assert!(both_round || !one.meets(other), "{k} clusters: {one:?} {other:?}");
                }
            }
            let far = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
            for (i, a) in layout.circles.iter().enumerate() {
                for b in &layout.circles[i + 1..] {
                    assert!(far(a.0, b.0) > a.1 + b.1 - 1e-9);
                }
            }
            let outside = layout.texts.iter().filter(|t| !t.on_line).count();
            assert!(k > 13 || outside == k, "{k} clusters, {outside} sizes");
        }
    }
}
