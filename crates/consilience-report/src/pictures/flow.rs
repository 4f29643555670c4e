//! How clusters split and merge as their number grows.

use super::canvas::{Anchor, Canvas, INK, Label, Title, colour, short};

/// Height of all objects together, and room between clusters.
const DEPTH: f64 = 340.0;
const GAP: f64 = 5.0;

/// One clustering among several of the same objects.
pub(crate) struct Layer {
    /// What stands above it.
    pub(crate) name: String,
    /// Share of the objects in each cluster.
    pub(crate) shares: Vec<f64>,
    /// From the layer before: its cluster, ours, and the share of objects in both.
    pub(crate) links: Vec<(usize, usize, f64)>,
}

/// Clusters as bars, layer by layer, joined as wide as they share objects.
pub(crate) fn flow(layers: &[Layer], title: Title<'_>) -> String {
    let most = layers.iter().map(|l| l.shares.len()).max().unwrap_or(0);
    let step = (620.0 / layers.len().max(2).saturating_sub(1) as f64).min(200.0);
    let height = DEPTH + GAP * most.saturating_sub(1) as f64;
    let width = 70.0 + step * layers.len().saturating_sub(1) as f64 + 60.0;
    let mut canvas = Canvas::new(width, height + 44.0, title);
    let mut before: Vec<f64> = Vec::new();
    let mut told = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        let x = 50.0 + step * at as f64;
        let tops = tops(layer, &before, height);
        if at > 0 {
            links(&mut canvas, layer, (x - step + 14.0, x), (&before, &tops));
        }
        for (c, (&top, &share)) in tops.iter().zip(&layer.shares).enumerate() {
            let style = format!("fill=\"{}\" stroke=\"{INK}\" stroke-width=\"0.8\"", colour(c));
            canvas.rect((x, top), (14.0, (share * DEPTH).max(0.8)), &style);
        }
        numbers(&mut canvas, layer, &tops, x);
        canvas.label((x + 7.0, 14.0), Label::new(&layer.name).bold());
        told.push(format!("{} with {} clusters", layer.name, layer.shares.len()));
        before = tops;
    }
    canvas.finish(&told.join(", "))
}

/// The top of each cluster: in the order of where their objects come from.
fn tops(layer: &Layer, before: &[f64], height: f64) -> Vec<f64> {
    let k = layer.shares.len();
    let mut from = vec![(0.0, 0.0); k];
    for &(source, own, share) in &layer.links {
        from[own].0 += share * before[source];
        from[own].1 += share;
    }
    let origin = |c: usize| if from[c].1 > 0.0 { from[c].0 / from[c].1 } else { f64::MAX };
    let mut order: Vec<usize> = (0..k).collect();
    if !before.is_empty() {
        order.sort_by(|&a, &b| origin(a).total_cmp(&origin(b)).then(a.cmp(&b)));
    }
    let free = height - layer.shares.iter().sum::<f64>() * DEPTH;
    let gap = if k > 1 { (free / (k - 1) as f64).min(3.0 * GAP) } else { 0.0 };
    let mut y = 34.0;
    let mut tops = vec![0.0; k];
    for c in order {
        tops[c] = y;
        y += layer.shares[c] * DEPTH + gap;
    }
    tops
}

/// Bands between two layers, those from one cluster below each other in the order of where they
/// go.
fn links(
    canvas: &mut Canvas<'_>,
    layer: &Layer,
    (left, right): (f64, f64),
    (before, tops): (&[f64], &[f64]),
) {
    let mut sorted = layer.links.clone();
    sorted.sort_by(|a, b| {
        let place = |l: &(usize, usize, f64)| (before[l.0], tops[l.1]);
        let (a, b) = (place(a), place(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let (mut out, mut into) = (before.to_vec(), tops.to_vec());
    for (source, own, share) in sorted {
        let high = share * DEPTH;
        let (a, b) = (out[source], into[own]);
        out[source] += high;
        into[own] += high;
        // What is thinner than a hair is not seen, but counted.
        if high < 0.15 {
            continue;
        }
        let middle = short(f64::midpoint(left, right));
        let [l, r] = [left, right].map(short);
        let [a, b, c, d] = [a, b, b + high, a + high].map(short);
        canvas.raw(&format!(
            "<path d=\"M{l} {a}C{middle} {a} {middle} {b} {r} {b}V{c}C{middle} {c} {middle} {d} \
             {l} {d}z\" fill=\"{}\" fill-opacity=\"0.38\"/>",
            colour(source)
        ));
    }
}

/// The number of each cluster beside its bar, where it is clear of the number above.
fn numbers(canvas: &mut Canvas<'_>, layer: &Layer, tops: &[f64], x: f64) {
    let mut order: Vec<usize> = (0..tops.len()).collect();
    order.sort_by(|&a, &b| tops[a].total_cmp(&tops[b]));
    let mut free = f64::NEG_INFINITY;
    for c in order {
        let middle = tops[c] + layer.shares[c] * DEPTH / 2.0;
        if middle - 6.0 >= free {
            let name = c.to_string();
            let label = Label::new(&name).size(11.0).anchor(Anchor::Start).halo();
            canvas.label((x + 18.0, middle), label);
            free = middle + 6.5;
        }
    }
}
