//! Matrices as pictures: dark is much.

use std::collections::BTreeMap;
use std::fmt::Write;

use consilience_core::{Memberships, SimilarityGraph};
use ndarray::{Array2, ArrayView2};

use super::canvas::{Anchor, Canvas, INK, Label, Title, blend, short, text_width};

/// Most cells along one side: more than the eye distinguishes, and few enough for a file.
pub(crate) const MOST_CELLS: usize = 200;
/// Steps of the shading; cells of one step are one path.
const STEPS: f64 = 50.0;
/// Where the matrix is in the picture.
const LEFT: f64 = 16.0;
const SIDE: f64 = 560.0;

/// The similarities of the nodes of a graph in the given order, each node as wide as it has
/// objects.
///
/// ```
/// use consilience::graph::{CoAssociation, vat_order};
/// use consilience::ndarray::array;
/// use consilience::report::pictures;
/// use consilience::{Ensemble, Similarity};
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [0, 0], [1, 0], [1, 1]].view())?;
/// let graph = CoAssociation::default().similarity(&ensemble)?;
/// let svg = pictures::co_association(&graph, &vat_order(&graph, &())?, "Co-association");
/// assert!(svg.starts_with("<svg ") && svg.contains("4 objects"));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn co_association(graph: &SimilarityGraph, order: &[usize], title: &str) -> String {
    let sizes: Vec<f64> = order.iter().map(|&i| graph.grouping().sizes()[i] as f64).collect();
    let values = block_means(graph.weights(), order, &sizes);
    let objects: f64 = sizes.iter().sum();
    let below = format!("{objects} objects, in the order of their similarity");
    square(&values, &[], &below, Title::Drawn(title))
}

/// A square matrix of values from 0 to 1, with lines where clusters end (as shares of the side,
/// each with what stands beside the cluster that ends there).
pub(crate) fn square(
    values: &Array2<f64>,
    ends: &[(f64, String)],
    below: &str,
    title: Title<'_>,
) -> String {
    let margin = if ends.is_empty() { 0.0 } else { 34.0 };
    let left = LEFT + margin;
    let mut canvas = Canvas::new(left + SIDE + 66.0, SIDE + 50.0, title);
    paint(&mut canvas, values.view(), (left, 8.0), (SIDE, SIDE));
    let mut start = 0.0;
    let mut free = f64::NEG_INFINITY;
    for (end, name) in ends {
        let at = SIDE * end;
        if *end < 1.0 {
            let style = "stroke=\"#d55e00\" stroke-width=\"1.2\" stroke-dasharray=\"5 3\"";
            canvas.line((left, 8.0 + at), (left + SIDE, 8.0 + at), style);
            canvas.line((left + at, 8.0), (left + at, 8.0 + SIDE), style);
        }
        // A number beside each cluster that is high enough, clear of the one above.
        let middle = 8.0 + (start + at) / 2.0;
        if at - start >= 6.0 && middle - 7.0 >= free {
            canvas.label((left - 6.0, middle), Label::new(name).size(12.0).anchor(Anchor::End));
            free = middle + 7.0;
        }
        start = at;
    }
    scale(&mut canvas, left + SIDE + 16.0);
    canvas.label((left + SIDE / 2.0, SIDE + 30.0), Label::new(below));
    canvas.finish(&format!("a matrix of shades from 0 (pale) to 1 (dark), {below}"))
}

/// The memberships of the objects, likeliest cluster by likeliest cluster.
///
/// ```
/// use consilience::ndarray::array;
/// use consilience::Memberships;
/// use consilience::report::pictures;
///
/// let soft = Memberships::new(array![[0.9, 0.1], [0.4, 0.6]])?;
/// assert!(pictures::memberships(&soft, "Memberships").contains("2 objects"));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn memberships(soft: &Memberships, title: &str) -> String {
    let values = soft.values();
    let best = |i: usize| {
        let row = values.row(i);
        (1..row.len()).fold(0, |b, c| if row[c] > row[b] { c } else { b })
    };
    let mut order: Vec<(usize, usize)> = (0..soft.n_objects()).map(|i| (best(i), i)).collect();
    order.sort_by(|a, b| {
        let (x, y) = (values[[a.1, a.0]], values[[b.1, b.0]]);
        a.0.cmp(&b.0).then(y.total_cmp(&x)).then(a.1.cmp(&b.1))
    });
    let cells = shares(&vec![1.0; order.len()]);
    let k = soft.n_clusters();
    let table = Array2::from_shape_fn((cells.len(), k), |(r, c)| {
        cells[r].iter().map(|&(i, share)| share * values[[order[i].1, c]]).sum::<f64>()
    });
    let width = (k as f64 * 40.0).clamp(200.0, SIDE);
    let mut canvas =
        Canvas::new((LEFT + width + 66.0).max(360.0), SIDE + 66.0, Title::Drawn(title));
    paint(&mut canvas, table.view(), (LEFT, 8.0), (width, SIDE));
    let step = width / k as f64;
    for c in 0..k {
        let name = c.to_string();
        // Where numbers would touch, every second, fifth, ... is written.
        let every = (text_width(&(k - 1).to_string(), 12.0) * 1.3 / step).ceil().max(1.0) as usize;
        if c % every == 0 {
            let x = LEFT + step * (c as f64 + 0.5);
            canvas.label((x, SIDE + 18.0), Label::new(&name).size(12.0));
        }
    }
    scale(&mut canvas, LEFT + width + 16.0);
    let below = format!("{} objects by likeliest cluster; {k} clusters", soft.n_objects());
    let place = (LEFT, SIDE + 42.0);
    canvas.label(place, Label::new(&below).anchor(Anchor::Start));
    canvas.finish(&below)
}

/// A table of values from 0 to 1 whose rows and columns have names; values stand in the cells where
/// there is room.
pub(crate) fn named(
    values: &[Vec<Option<f64>>],
    rows: &[String],
    columns: &[String],
    title: Title<'_>,
) -> String {
    let (r, c) = (rows.len().max(1), columns.len().max(1));
    let side = (520.0 / r.max(c) as f64).clamp(7.0, 46.0);
    let longest = |names: &[String]| {
        names.iter().map(|n| text_width(n, 12.0)).fold(0.0, f64::max).clamp(20.0, 150.0)
    };
    let (left, top) = (longest(rows) + 14.0, longest(columns) + 14.0);
    let every = (14.0 / side).ceil() as usize;
    let (width, height) = (side * c as f64, side * r as f64);
    let mut canvas = Canvas::new(left + width + 66.0, top + height.max(170.0) + 10.0, title);
    for (i, row) in values.iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            let place = (left + side * j as f64, top + side * i as f64);
            let Some(value) = *value else {
                canvas.rect(place, (side, side), "fill=\"#ffffff\" stroke=\"#dddddd\"");
                continue;
            };
            let fill = format!("fill=\"{}\" shape-rendering=\"crispEdges\"", shade(value));
            canvas.rect(place, (side, side), &fill);
            if side >= 30.0 {
                let text = format!("{value:.2}");
                let ink = if value > 0.5 { "#ffffff" } else { INK };
                let middle = (place.0 + side / 2.0, place.1 + side / 2.0);
                canvas.label(middle, Label::new(&text).size(12.0).fill(ink));
            }
        }
    }
    for (i, name) in rows.iter().enumerate().filter(|(i, _)| i % every == 0) {
        let name = fitting(name, 150.0);
        let place = (left - 8.0, top + side * (i as f64 + 0.5));
        canvas.label(place, Label::new(&name).size(12.0).anchor(Anchor::End));
    }
    for (j, name) in columns.iter().enumerate().filter(|(j, _)| j % every == 0) {
        let name = fitting(name, 150.0);
        let place = (left + side * (j as f64 + 0.5), top - 8.0);
        canvas.label(place, Label::new(&name).size(12.0).anchor(Anchor::Start).upwards());
    }
    frame(&mut canvas, (left, top), (width, height));
    scale_at(&mut canvas, left + width + 14.0, top, height.clamp(100.0, 195.0));
    canvas.finish("a table of shades from 0 (pale) to 1 (dark)")
}

/// A text that is cut where it would be too wide.
pub(crate) fn fitting(text: &str, width: f64) -> String {
    let most = (width / text_width("x", 12.0)) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{start}\u{2026}")
}

/// The mean of a matrix over the cells of a picture, its rows and columns in an order and as wide
/// as their sizes say.
pub(crate) fn block_means(
    weights: ArrayView2<'_, f64>,
    order: &[usize],
    sizes: &[f64],
) -> Array2<f64> {
    let cells = shares(sizes);
    Array2::from_shape_fn((cells.len(), cells.len()), |(r, c)| {
        let mut sum = 0.0;
        for &(i, share) in &cells[r] {
            for &(j, other) in &cells[c] {
                sum += share * other * weights[[order[i], order[j]]];
            }
        }
        sum
    })
}

/// Cuts items of the given sizes, laid end to end, into equal cells: which items each cell holds,
/// and what share of the cell each takes. As many cells as items of size 1 would be, up to the most
/// that are drawn.
fn shares(sizes: &[f64]) -> Vec<Vec<(usize, f64)>> {
    let total: f64 = sizes.iter().sum();
    let cells = (total.round() as usize).clamp(1, MOST_CELLS);
    let width = total / cells as f64;
    let mut out = vec![Vec::new(); cells];
    let mut start = 0.0;
    for (item, &size) in sizes.iter().enumerate() {
        let end = start + size;
        let first = (start / width) as usize;
        for cell in first..cells {
            let (left, right) = (cell as f64 * width, (cell + 1) as f64 * width);
            let overlap = (end.min(right) - start.max(left)) / width;
            // Rounding may leave a sliver that is nothing.
            if overlap > 1e-9 {
                out[cell].push((item, overlap));
            }
            if right >= end {
                break;
            }
        }
        start = end;
    }
    out
}

/// The matrix: a path for each shade, in cells of 1 x 1.
fn paint(
    canvas: &mut Canvas<'_>,
    values: ArrayView2<'_, f64>,
    place: (f64, f64),
    size: (f64, f64),
) {
    let (rows, columns) = values.dim();
    let step = |value: f64| (value.clamp(0.0, 1.0) * STEPS).round() as u32;
    let mut paths: BTreeMap<u32, String> = BTreeMap::new();
    for r in 0..rows {
        let mut c = 0;
        while c < columns {
            let level = step(values[[r, c]]);
            let end = (c..columns).find(|&e| step(values[[r, e]]) != level).unwrap_or(columns);
            if level > 0 {
                let path = paths.entry(level).or_default();
                let wide = end - c;
                let _ = write!(path, "M{c} {r}h{wide}v1h-{wide}z");
            }
            c = end;
        }
    }
    canvas.rect(place, size, &format!("fill=\"{}\"", shade(0.0)));
    let (x, y) = (short(place.0), short(place.1));
    let (across, down) = (size.0 / columns.max(1) as f64, size.1 / rows.max(1) as f64);
    canvas.raw(&format!(
        "<g transform=\"translate({x} {y}) scale({across:.6} {down:.6})\" \
         shape-rendering=\"crispEdges\">"
    ));
    for (level, path) in paths {
        let fill = shade(f64::from(level) / STEPS);
        canvas.raw(&format!("<path fill=\"{fill}\" d=\"{path}\"/>"));
    }
    canvas.raw("</g>");
    frame(canvas, place, size);
}

fn frame(canvas: &mut Canvas<'_>, place: (f64, f64), size: (f64, f64)) {
    canvas.rect(place, size, &format!("fill=\"none\" stroke=\"{INK}\""));
}

/// What the shades mean.
fn scale(canvas: &mut Canvas<'_>, left: f64) {
    scale_at(canvas, left, 8.0, 195.0);
}

fn scale_at(canvas: &mut Canvas<'_>, left: f64, top: f64, height: f64) {
    let steps = 26;
    let step = height / f64::from(steps);
    for i in 0..steps {
        let value = 1.0 - f64::from(i) / f64::from(steps - 1);
        let fill = format!("fill=\"{}\" shape-rendering=\"crispEdges\"", shade(value));
        canvas.rect((left, top + step * f64::from(i)), (16.0, step + 0.5), &fill);
    }
    frame(canvas, (left, top), (16.0, height));
    for (text, share) in [("1", 0.0), ("0.5", 0.5), ("0", 1.0)] {
        let place = (left + 22.0, top + 6.0 + (height - 12.0) * share);
        canvas.label(place, Label::new(text).size(12.0).anchor(Anchor::Start));
    }
}

/// From pale for 0 to dark for 1, in even steps of lightness.
pub(crate) fn shade(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value };
    blend(value, &[[247.0, 251.0, 255.0], [107.0, 174.0, 214.0], [8.0, 48.0, 107.0]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_share_out_every_item() {
        for sizes in [vec![1.0; 5], vec![3.0, 500.0, 1.0, 96.0], vec![1e7, 1.0], vec![1.0; 1000]] {
            let cells = shares(&sizes);
            let total: f64 = sizes.iter().sum();
            for cell in &cells {
                assert!((cell.iter().map(|&(_, s)| s).sum::<f64>() - 1.0).abs() < 1e-6, "{cell:?}");
            }
            let width = total / cells.len() as f64;
            for (item, &size) in sizes.iter().enumerate() {
                let drawn: f64 =
                    cells.iter().flatten().filter(|c| c.0 == item).map(|c| c.1 * width).sum();
                assert!((drawn - size).abs() < 1e-6 * total, "{item}: {drawn} of {size}");
            }
        }
    }
}
