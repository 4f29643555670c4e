//! Centres laid out for the kernel.

use crate::Float;

/// Most centres per register tile: with two vectors of rows, twelve accumulators.
pub(super) const TILE: usize = 6;

/// First centre and width of each tile: as few tiles as will do, of widths as even as can be.
pub(super) fn tiles(k: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = k.div_ceil(TILE).max(1);
    (0..count).map(move |t| (t * k / count, (t + 1) * k / count - t * k / count))
}

/// Centres in the moved frame, exact and in the layout and precision of the kernel.
pub(super) struct Centres<F> {
    pub k: usize,
    pub d: usize,
    /// k x d.
    pub exact: Vec<f64>,
    /// Tile by tile, and in each tile column by column, the negated entries.
    pub tiles: Vec<F>,
    /// Half the squared norms.
    pub half: Vec<F>,
    /// Largest norm.
    pub norm: f64,
}

impl<F: Float> Centres<F> {
    pub(super) fn new(exact: Vec<f64>, k: usize, d: usize) -> Self {
        let mut centres = Centres {
            k,
            d,
            tiles: vec![F::default(); exact.len()],
            half: vec![F::default(); k],
            exact,
            norm: 0.0,
        };
        centres.refresh();
        centres
    }

    pub(super) fn row(&self, c: usize) -> &[f64] {
        &self.exact[c * self.d..][..self.d]
    }

    /// Brings the kernel's layout up to date with the exact centres.
    pub(super) fn refresh(&mut self) {
        let d = self.d;
        let mut norm = 0.0f64;
        for (first, width) in tiles(self.k) {
            let tile = &mut self.tiles[first * d..(first + width) * d];
            for c in 0..width {
                let row = &self.exact[(first + c) * d..][..d];
                let mut square = 0.0;
                for (j, &x) in row.iter().enumerate() {
                    tile[j * width + c] = F::from_f64(-x);
                    square += x * x;
                }
                self.half[first + c] = F::from_f64(0.5 * square);
                norm = norm.max(square);
            }
        }
        self.norm = norm.sqrt();
    }
}
