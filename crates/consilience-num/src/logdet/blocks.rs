use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::{Moved, Projection};
use crate::reduce::each_chunk;

/// Links that are projected together.
pub(super) const LINKS: usize = 128;
/// From so many dimensions on: M no longer stays in the nearest cache.
pub(super) const DIMENSIONS: usize = 128;
/// Rows of a product that one task computes.
const ROWS: usize = 128;

/// Projections of a block of links, one after the other, that touch M only before and after.
///
/// With W = M V for the differences V of the block, all that a projection needs are products
/// `G = V' M V`, and an update `M += f (M v)(M v)'` by link i changes them by `f g g'`, g the i-th
/// column of G. What M v has become by then is a combination of the columns of W, `W x`, so that
/// after the block `M += W T W'` with `T = sum f x x'`.
pub(super) struct Blocks {
    q: usize,
    /// The differences, b x q.
    v: Vec<f64>,
    /// M V, q x b.
    w: Vec<f64>,
}

impl Blocks {
    pub(super) fn new(q: usize) -> Self {
        Blocks { q, v: Vec::new(), w: Vec::new() }
    }

    pub(super) fn project(
        &mut self,
        m: &mut [f64],
        links: &mut [Projection],
        slack: f64,
        moved: &mut Moved,
    ) {
        let (b, q) = (links.len(), self.q);
        self.v.clear();
        links.iter().for_each(|link| self.v.extend_from_slice(&link.v));
        let v = MatRef::from_row_major_slice(&self.v, b, q);
        self.w.resize(q * b, 0.0);
        each_chunk(&mut self.w, ROWS * b, &|c, w| {
            let rows = w.len() / b;
            let m = MatRef::from_row_major_slice(&m[c * ROWS * q..][..rows * q], rows, q);
            let w = MatMut::from_row_major_slice_mut(w, rows, b);
            matmul(w, Accum::Replace, m, v.transpose(), 1.0, Par::Seq);
        });
        let w = MatRef::from_row_major_slice(&self.w, q, b);
        let mut g = vec![0.0; b * b];
        let out = MatMut::from_row_major_slice_mut(&mut g, b, b);
        matmul(out, Accum::Replace, v, w, 1.0, Par::Seq);
        let Some(t) = in_turn(links, &mut g, slack, moved) else { return };
        let t = MatRef::from_row_major_slice(&t, b, b);
        each_chunk(m, ROWS * q, &|c, m| {
            let rows = m.len() / q;
            let own = w.subrows(c * ROWS, rows);
            let mut changed = vec![0.0; rows * b];
            let product = MatMut::from_row_major_slice_mut(&mut changed, rows, b);
            matmul(product, Accum::Replace, own, t, 1.0, Par::Seq);
            let changed = MatRef::from_row_major_slice(&changed, rows, b);
            let m = MatMut::from_row_major_slice_mut(m, rows, q);
            matmul(m, Accum::Add, changed, w.transpose(), 1.0, Par::Seq);
        });
    }
}

/// The projections of a block, by their products G: T, or nothing where none moved.
fn in_turn(
    links: &mut [Projection],
    g: &mut [f64],
    slack: f64,
    moved: &mut Moved,
) -> Option<Vec<f64>> {
    let b = links.len();
    // Row j: what M v_j is by now, as a combination of the columns of W.
    let mut x = vec![0.0; b * b];
    (0..b).for_each(|j| x[j * b + j] = 1.0);
    let mut t = vec![0.0; b * b];
    let (mut column, mut own, mut any) = (vec![0.0; b], vec![0.0; b], false);
    for (i, link) in links.iter_mut().enumerate() {
        let factor = link.project(g[i * b + i], slack, moved);
        if factor == 0.0 {
            continue;
        }
        any = true;
        (0..b).for_each(|j| column[j] = g[j * b + i]);
        own.copy_from_slice(&x[i * b..][..b]);
        for j in 0..b {
            add(&mut g[j * b..][..b], factor * column[j], &column);
            add(&mut t[j * b..][..b], factor * own[j], &own);
            if j > i {
                add(&mut x[j * b..][..b], factor * column[j], &own);
            }
        }
    }
    any.then_some(t)
}

fn add(row: &mut [f64], by: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(to, v)| *to += by * v);
}
