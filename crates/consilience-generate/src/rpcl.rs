use consilience_core::{
    BaseClusterer, Error, Features, Fit, Observer, Partition, Report, Result, Seed, Watch,
};
use consilience_num::kmeans::{assign, spread_rows};
use ndarray::Axis;

use crate::input::{partition, unit_table};

/// Presentations per object, and in all.
const EPOCHS: usize = 50;
const PRESENTATIONS: usize = 100_000;

/// Rival penalised competitive learning: finds the number of clusters itself, up to the number
/// asked for.
///
/// For members that should not be told k, where an upper bound is known. Not where exactly k
/// clusters are needed, or where clusters overlap heavily: it then keeps more units than there are
/// clusters.
///
/// ```text
/// w = argmin_c g_c |x - c|^2,  r = second,  g_c = wins of c / all wins
/// c_w += a (x - c_w),   c_r -= b (x - c_r),   b << a
/// ```
///
/// A unit that no object is nearest to in the end is dropped.
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::Rpcl;
/// use ndarray::array;
///
/// let x = array![[0.0], [1.0], [0.5], [20.0], [21.0], [20.5]];
/// let found = Rpcl::new().fit(x.view().into(), 4, Seed(1), &())?.output;
/// assert!((2..=4).contains(&found.n_clusters()));
/// assert_ne!(found.label(0), found.label(3));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(min(50 n, 100,000) k d) time, sequential; one copy of the features.
///
/// # References
/// L. Xu, A. Krzyzak, E. Oja, "Rival penalized competitive learning for clustering analysis, RBF
/// net, and curve detection", 1993. Units start by k-means++, the rates fall linearly to 0, and a
/// rival beyond the reach of the data is pushed no further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rpcl {
    learning_rate: f64,
    penalty_rate: f64,
}

impl Default for Rpcl {
    fn default() -> Self {
        Rpcl { learning_rate: 0.05, penalty_rate: 0.002 }
    }
}

impl Rpcl {
    /// Learning rate 0.05, penalty rate 0.002.
    pub fn new() -> Self {
        Self::default()
    }

    /// First rate a at which the winner moves. Default 0.05; above 0, at most 1.
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.learning_rate = rate;
        self
    }

    /// First rate b at which the rival is pushed away. Default 0.002; at least 0, below a.
    pub fn penalty_rate(mut self, rate: f64) -> Self {
        self.penalty_rate = rate;
        self
    }
}

impl BaseClusterer for Rpcl {
    fn name(&self) -> &'static str {
        "rpcl"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        features.check_clusters(clusters)?;
        let (a, b) = (self.learning_rate, self.penalty_rate);
        if !(a > 0.0 && a <= 1.0) {
            return Err(Error::invalid(format!(
                "learning rate {a}; expected above 0 and at most 1"
            )));
        }
        if !(b >= 0.0 && b < a) {
            return Err(Error::invalid(format!(
                "penalty rate {b}; expected 0 or more, below the rate {a}"
            )));
        }
        let x = unit_table(&features);
        let (n, d) = x.dim();
        let starts = spread_rows(x.view(), None, clusters, seed, rayon::current_num_threads() > 1);
        let mut units = x.select(Axis(0), &starts);
        let k = starts.len();
        let mut wins = vec![1.0; k];
        // Entries are at most 1, so no two objects are farther apart than 2 sqrt(d).
        let reach = 16.0 * d as f64;
        let total = n.saturating_mul(EPOCHS).min(PRESENTATIONS);
        let mut stream = seed.derive("rpcl", 0).stream();
        let mut watch = Watch::new(observer, "competitive learning", total);
        for t in 0..total {
            if t % 1000 == 0 && !watch.go_on(t) {
                break;
            }
            let row = x.row(stream.below(n));
            let far = |c: usize| -> f64 {
                row.iter().zip(units.row(c)).map(|(x, c)| (x - c) * (x - c)).sum()
            };
            // (g_c |x - c|^2, |x - c|^2, c) of winner and rival; the common divisor of g is left
            // out.
            let mut winner = (f64::INFINITY, 0.0, 0);
            let mut rival = winner;
            for c in 0..k {
                let square = far(c);
                let score = wins[c] * square;
                if score < winner.0 {
                    rival = winner;
                    winner = (score, square, c);
                } else if score < rival.0 {
                    rival = (score, square, c);
                }
            }
            let fade = 1.0 - t as f64 / total as f64;
            wins[winner.2] += 1.0;
            units.row_mut(winner.2).zip_mut_with(&row, |c, x| *c += a * fade * (x - *c));
            if rival.0.is_finite() && rival.1 <= reach {
                units.row_mut(rival.2).zip_mut_with(&row, |c, x| *c -= b * fade * (x - *c));
            }
        }
        watch.finish()?;
        let labels = assign(x.view(), units.view(), rayon::current_num_threads() > 1);
        let mut report = Report::default();
        report.iterations = total;
        // Fewer clusters than asked for are what the method is for, fewer distinct rows are not.
        report.expect_clusters(clusters, k, "the features distinguish no more objects");
        Ok(Fit::new(partition(&labels)?, report))
    }
}
