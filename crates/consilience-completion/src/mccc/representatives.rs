//! The graph of nearest neighbours through a few representatives, where objects are too many.

use consilience_core::{Observer, Result, Seed, room};
use consilience_num::kmeans::{KMeansOptions, fit};
use consilience_num::near::NearRows;
use consilience_num::sparse::Csr;
use consilience_num::svd::{Rows, SvdOptions, try_truncated_svd};
use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

/// Most representatives.
const REPRESENTATIVES: usize = 1000;
/// Rows that are drawn for each representative.
const DRAWN: usize = 10;
/// Iterations of the k-means that makes them.
const ROUNDS: usize = 5;
/// Representatives that describe an object.
const NEAR: usize = 5;
/// Rows of a task.
const CHUNK: usize = 1024;

/// Representatives, and how their shares become coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Representatives {
    /// p x d, and the seed of their groups: the table follows from them, and they are stored.
    #[cfg_attr(not(feature = "serde"), expect(dead_code))]
    pub(super) marks: Array2<f64>,
    #[cfg_attr(not(feature = "serde"), expect(dead_code))]
    pub(super) groups: Seed,
    table: NearRows<f64>,
    near: usize,
    /// Twice the square of the width of the kernel.
    pub(super) width: f64,
    /// p x k: shares to coordinates.
    pub(super) map: Array2<f64>,
}

impl Representatives {
    /// The `k` leading left singular vectors (N x k) of the objects' shares, columns over the roots
    /// of their sums; and whether they converged.
    pub(super) fn new(
        x: &Array2<f64>,
        k: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<(Self, Array2<f64>, bool)> {
        let n = x.nrows();
        let count = REPRESENTATIVES.min(n / DRAWN).max(2 * k).min(n);
        let drawn =
            seed.derive("representatives", 0).stream().sample(n, count.saturating_mul(DRAWN));
        let options = KMeansOptions::new(count)
            .max_iterations(ROUNDS)
            .seed(seed.derive("representatives", 1))
            .parallel(rayon::current_num_threads() > 1);
        let marks = fit(x.select(Axis(0), &drawn).view(), None, &options, observer)?.centres;
        let mut own = Representatives::observed(marks, seed.derive("groups", 0), observer)?;
        let links = own.links(x, observer)?;
        let mean = links.iter().map(|l| l.1.sqrt()).sum::<f64>() / links.len().max(1) as f64;
        if mean > 0.0 {
            own.width = 2.0 * mean * mean;
        }
        let shares = own.shares(&links);
        let mut mass = vec![0.0; shares.n_columns()];
        for i in 0..n {
            let (columns, values) = shares.row(i);
            columns.iter().zip(values).for_each(|(&c, v)| mass[c as usize] += v);
        }
        let over = |j: usize| if mass[j] > 0.0 { 1.0 / mass[j].sqrt() } else { 0.0 };
        let shares = shares.map(|_, j, v| v * over(j));
        let options = SvdOptions::new(k)
            .tolerance(1e-7)
            .max_iterations(60)
            .seed(seed.derive("eigenvectors", 0));
        let found = try_truncated_svd(&shares, &options, observer)?;
        own.map = found.map;
        for (j, mut row) in own.map.rows_mut().into_iter().enumerate() {
            row *= over(j);
        }
        Ok((own, found.left, found.converged))
    }

    /// Given representatives, without width and map.
    #[cfg(feature = "serde")]
    pub(super) fn of(marks: Array2<f64>, groups: Seed) -> Result<Self> {
        Self::observed(marks, groups, &())
    }

    fn observed(marks: Array2<f64>, groups: Seed, observer: &dyn Observer) -> Result<Self> {
        let count = (marks.nrows() as f64).sqrt() as usize;
        let table = NearRows::new(marks.view(), count, 10 * NEAR, groups, observer)?;
        let near = NEAR.min(table.most());
        let map = Array2::zeros((0, 0));
        Ok(Representatives { marks, groups, table, near, width: 1.0, map })
    }

    /// Coordinates of new rows.
    pub(super) fn extend(&self, new: &Array2<f64>) -> Result<Array2<f64>> {
        let shares = self.shares(&self.links(new, &())?);
        let width = self.map.ncols();
        let mut z = Array2::zeros((new.nrows(), width));
        if let (Some(map), Some(out)) = (self.map.as_standard_layout().as_slice(), z.as_slice_mut())
        {
            Rows::multiply(&shares, map, out, width);
        }
        Ok(z)
    }

    fn links(&self, x: &Array2<f64>, observer: &dyn Observer) -> Result<Vec<(u32, f64)>> {
        let (n, near) = (x.nrows(), self.near);
        let mut out = room::filled(n * near, (0, 0.0))?;
        let chunks = out.par_chunks_mut(CHUNK * near).enumerate();
        chunks.try_for_each_init(Vec::new, |found, (c, out)| {
            observer.check()?;
            let first = c * CHUNK;
            self.table.search(x.slice(s![first..first + out.len() / near, ..]), near, found);
            out.copy_from_slice(found);
            Result::Ok(())
        })?;
        Ok(out)
    }

    /// How every object is shared out among its representatives, adding up to 1.
    fn shares(&self, links: &[(u32, f64)]) -> Csr {
        Csr::from_rows(
            self.table.n_rows(),
            links.chunks(self.near.max(1)).map(|links| {
                let first = links.iter().map(|l| l.1).fold(f64::INFINITY, f64::min);
                let w: Vec<f64> =
                    links.iter().map(|l| ((first - l.1) / self.width).exp()).collect();
                let sum: f64 = w.iter().sum();
                let mut row: Vec<(u32, f64)> =
                    links.iter().zip(&w).map(|(l, w)| (l.0, w / sum)).collect();
                row.sort_unstable_by_key(|e| e.0);
                row
            }),
        )
    }
}
