//! Rows that stand for many objects: the result is the one on the rows repeated.

use crate::{hold, sure};
use consilience_core::{Ensemble, Seed};

/// An ensemble with counts, its rows repeated as often, and the row of each repeated object.
pub(super) struct Counted {
    pub(super) counted: Ensemble,
    pub(super) repeated: Ensemble,
    pub(super) row_of: Vec<usize>,
}

impl Counted {
    /// Counts of 1 to 5 for the rows of an ensemble. The copies lie where they do not come before
    /// the first of their row, so that rows and objects are numbered alike.
    pub(super) fn of(law: &str, ensemble: &Ensemble, seed: u64) -> Self {
        let n = ensemble.n_objects();
        let mut random = Seed(seed).derive("counts", 0).stream();
        let counts: Vec<u64> = (0..n).map(|_| 1 + random.below(5) as u64).collect();
        let mut row_of: Vec<usize> = (0..n).collect();
        let mut copies: Vec<usize> =
            (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize - 1)).collect();
        random.shuffle(&mut copies);
        row_of.extend(copies);
        let repeated = sure(law, ensemble.select_objects(&row_of));
        let counted = sure(law, ensemble.clone().with_counts(counts));
        Counted { counted, repeated, row_of }
    }

    /// The same rows, each for so many that the objects fill 2^50.
    pub(super) fn huge(&self, law: &str) -> Ensemble {
        let times = (1 << 50) / self.counted.total_count();
        let counts = self.counted.counts().unwrap_or_default();
        let counts: Vec<u64> = counts.iter().map(|count| count * times).collect();
        sure(law, self.counted.clone().with_counts(counts))
    }
}

/// Objectives count objects, and are sums in another order.
pub(super) fn same_objective(law: &str, counted: Option<f64>, repeated: Option<f64>) {
    let close = match (counted, repeated) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-300),
        (a, b) => a == b,
    };
    hold(law, close, || format!("objective {counted:?} with counts, {repeated:?} repeated"));
}
