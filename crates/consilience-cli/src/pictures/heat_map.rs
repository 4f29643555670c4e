//! Matrices as pictures: dark is much.

use consilience::{Memberships, SimilarityGraph};
use ndarray::Array2;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Area, Drawn, FONT, INK, picture, shade};
use crate::failure::Outcome;

/// Most cells along one side: more than the eye distinguishes, and few enough for a file.
const MOST_CELLS: usize = 240;
/// Steps of the shading; neighbouring cells of one step are drawn as one.
const STEPS: f64 = 64.0;

/// The similarities of the nodes in the given order, each node as wide as it has objects.
pub(crate) fn co_association(
    graph: &SimilarityGraph,
    order: &[usize],
    title: &str,
) -> Outcome<String> {
    let sizes: Vec<f64> = order.iter().map(|&i| graph.grouping().sizes()[i] as f64).collect();
    let cells = shares(&sizes);
    let weights = graph.weights();
    let values = Array2::from_shape_fn((cells.len(), cells.len()), |(r, c)| {
        let mut sum = 0.0;
        for &(i, share) in &cells[r] {
            for &(j, other) in &cells[c] {
                sum += share * other * weights[[order[i], order[j]]];
            }
        }
        sum
    });
    let objects: f64 = sizes.iter().sum();
    picture((760, 700), title, |area| {
        paint(area, &values, (560, 560))?;
        let place = Pos::new(HPos::Center, VPos::Top);
        let style = TextStyle::from((FONT, 14).into_font()).color(&INK).pos(place);
        area.draw(&Text::new(
            format!("{objects} objects, in the order of their similarity"),
            (350, 620),
            style,
        ))
    })
}

/// The memberships of the objects, likeliest cluster by likeliest cluster.
pub(crate) fn memberships(soft: &Memberships, title: &str) -> Outcome<String> {
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
    let table = Array2::from_shape_fn((cells.len(), soft.n_clusters()), |(r, c)| {
        cells[r].iter().map(|&(i, share)| share * values[[order[i].1, c]]).sum::<f64>()
    });
    let width = (soft.n_clusters() as i32 * 40).clamp(200, 560);
    picture((width as u32 + 200, 700), title, |area| {
        paint(area, &table, (width, 560))?;
        let place = Pos::new(HPos::Center, VPos::Top);
        let style = TextStyle::from((FONT, 14).into_font()).color(&INK).pos(place);
        let text = format!(
            "{} objects by likeliest cluster; {} clusters",
            soft.n_objects(),
            soft.n_clusters()
        );
        area.draw(&Text::new(text, (70 + width / 2, 620), style))
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

/// The matrix, and beside it what the shades mean.
fn paint(area: &Area<'_>, values: &Array2<f64>, (width, height): (i32, i32)) -> Drawn {
    let (rows, columns) = values.dim();
    let (left, top) = (70, 40);
    let x = |c: usize| left + (c as i64 * i64::from(width) / columns as i64) as i32;
    let y = |r: usize| top + (r as i64 * i64::from(height) / rows as i64) as i32;
    let step = |value: f64| (value.clamp(0.0, 1.0) * STEPS).round();
    for r in 0..rows {
        let mut c = 0;
        while c < columns {
            let level = step(values[[r, c]]);
            let end = (c..columns).find(|&e| step(values[[r, e]]) != level).unwrap_or(columns);
            if level > 0.0 {
                let colour = shade(level / STEPS);
                area.draw(&Rectangle::new([(x(c), y(r)), (x(end), y(r + 1))], colour.filled()))?;
            }
            c = end;
        }
    }
    area.draw(&Rectangle::new([(left, top), (left + width, top + height)], INK.stroke_width(1)))?;
    let bar = left + width + 30;
    for level in 0..=20 {
        let bottom = top + 200 - level * 10;
        let colour = shade(f64::from(level) / 20.0);
        area.draw(&Rectangle::new([(bar, bottom - 10), (bar + 18, bottom)], colour.filled()))?;
    }
    let place = Pos::new(HPos::Left, VPos::Center);
    let style = TextStyle::from((FONT, 13).into_font()).color(&INK).pos(place);
    for (text, at) in [("1", top), ("0", top + 195)] {
        area.draw(&Text::new(text, (bar + 24, at), style.clone()))?;
    }
    Ok(())
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
