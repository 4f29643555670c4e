use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Partition, Report, Result, Seed, Stream, Watch, ensure,
};
use consilience_num::kmeans::{spread_rows, try_assign};
use ndarray::{Array2, ArrayView1, Axis};

use crate::distinct::Distinct;
use crate::input::{FEWER, partition, unit_table};

/// More would take hours and move nothing: the rates have fallen to 0 long before.
const MOST_PRESENTATIONS: usize = 1_000_000_000;

/// Presentations per object by default, ...
const EPOCHS: usize = 50;
/// ... and in all.
const PRESENTATIONS: usize = 100_000;
/// Numbers of units that are looked at between two questions whether to stop, at most.
const WORK: usize = 1 << 24;

/// Rival penalised competitive learning: as many clusters as were asked for or fewer, as units that
/// win nothing are driven away.
///
/// For members of which k is an upper bound, and not a far one. Not where exactly k clusters are
/// needed, nor to find out how many there are: what is left depends on the penalty rate (below).
///
/// ```text
/// w = argmin_c g_c |x - c|^2,  r = second,  g_c = wins of c / all wins
/// c_w += a (x - c_w),   c_r -= b (x - c_r),   b << a
/// ```
///
/// A unit that no object is nearest to in the end is dropped.
///
/// How many are left goes by [`penalty_rate`](Rpcl::penalty_rate), by how many were asked for and
/// by how far the clusters are apart. Of four normal clusters of 100 objects, at the corners of a
/// square whose sides are so many deviations long, in 15 draws by default presentations:
///
/// | asked for | sides | .002 (default) | .005 | .01 | .02 | .04 |
/// |---|---|---|---|---|---|---|
/// | 6 | 20 | 4 | 4 | 4 | 4 | 4 |
/// | 6 | 5 | 6 | 4 | 4 | 3 or 4 | 1 to 4 |
/// | 8 | 20 | 4 to 8 | 4 to 8 | 4 | 4 | 4 |
/// | 8 | 5 | 8 | 4 to 8 | 4 | 4 | 1 to 4 |
/// | 16 | 20 | 16 | 11 to 16 | 4 to 16 | 4 | 4 |
/// | 16 | 5 | 16 | 16 | 15 or 16 | 4 | 2 to 4 |
///
/// So the default suits clusters that are far apart and an upper bound of 1.5 times as many, .01
/// one of twice as many and .02 one of four times as many; a higher rate drives away centres of
/// clusters as well. Five times the [`presentations`](Rpcl::presentations) leave fewer units too,
/// but do less than twice the rate. Try some rates, and see where the number stays the same.
///
/// ```
/// use consilience::Seed;
/// use consilience::core::BaseClusterer;
/// use consilience::generate::Rpcl;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [0.5], [20.0], [21.0], [20.5]];
/// let found = Rpcl::new().fit(x.view().into(), 4, Seed(1), &())?.output;
/// assert!((2..=4).contains(&found.n_clusters()));
/// assert_ne!(found.label(0), found.label(3));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(p k d) time for p presentations, sequential; one copy of the features.
///
/// # Errors
/// As [`BaseClusterer::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a setting
/// outside its range.
///
/// # References
/// L. Xu, A. Krzyzak, E. Oja, "Rival penalized competitive learning for clustering analysis, RBF
/// net, and curve detection", 1993. Units start by k-means++ (at random with
/// [`Rpcl::random_start`]), the rates fall linearly to 0, and a rival beyond the reach of the data
/// is pushed no further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rpcl {
    learning_rate: f64,
    penalty_rate: f64,
    presentations: Option<usize>,
    random_start: bool,
}

impl Default for Rpcl {
    fn default() -> Self {
        Rpcl { learning_rate: 0.05, penalty_rate: 0.002, presentations: None, random_start: false }
    }
}

impl Rpcl {
    /// Learning rate 0.05, penalty rate 0.002.
    pub fn new() -> Self {
        Self::default()
    }

    consilience_core::setters! {
        /// First rate a at which the winner moves. Default 0.05; above 0, at most 1.
        pub fn learning_rate(mut self, rate: f64) { self.learning_rate = rate }

        /// First rate b at which the rival is pushed away: the higher, the fewer clusters are left,
        /// in the end fewer than there are. Default 0.002; at least 0, below a.
        pub fn penalty_rate(mut self, rate: f64) { self.penalty_rate = rate }

        /// How many objects are presented, drawn at random with repetition. Default 50 per object,
        /// at most 100,000 in all; 1 to 1e9. Time grows in proportion.
        #[doc(alias = "epochs")]
        #[doc(alias = "max_iterations")]
        pub fn presentations(mut self, count: usize) { self.presentations = Some(count) }

        /// Whether the units start at objects drawn at random, as published, and not by k-means++.
        /// Default false.
        pub fn random_start(mut self, random: bool) { self.random_start = random }
    }

    fn check(&self) -> Result<()> {
        let (a, b) = (self.learning_rate, self.penalty_rate);
        ensure!(a > 0.0 && a <= 1.0, invalid("learning rate {a}; expected above 0 and at most 1"));
        ensure!(
            b >= 0.0 && b < a,
            invalid("penalty rate {b}; expected 0 or more, below the rate {a}")
        );
        if let Some(presentations) = self.presentations {
            ensure!(
                (1..=MOST_PRESENTATIONS).contains(&presentations),
                invalid("{presentations} presentations; expected 1..={MOST_PRESENTATIONS}")
            );
        }
        Ok(())
    }

    /// Presents objects at random: the nearest unit moves towards each, its rival away.
    fn compete(
        &self,
        x: &Array2<f64>,
        units: &mut Array2<f64>,
        total: usize,
        mut stream: Stream,
        watch: &mut Watch<'_>,
    ) {
        let (n, d) = x.dim();
        let mut wins = vec![1.0; units.nrows()];
        // Columns spread over at most 2, so no two objects are farther apart than 2 sqrt(d).
        let reach = 16.0 * d as f64;
        let often = (WORK / units.len().max(1)).clamp(1, 1000);
        for t in 0..total {
            if t % often == 0 && !watch.go_on(t) {
                break;
            }
            let row = x.row(stream.below(n));
            let (winner, rival) = nearest_two(row, units, &wins);
            let fade = 1.0 - t as f64 / total as f64;
            let (a, b) = (self.learning_rate * fade, self.penalty_rate * fade);
            wins[winner.unit] += 1.0;
            units.row_mut(winner.unit).zip_mut_with(&row, |c, x| *c += a * (x - *c));
            if rival.score.is_finite() && rival.square <= reach {
                units.row_mut(rival.unit).zip_mut_with(&row, |c, x| *c -= b * (x - *c));
            }
        }
    }
}

/// A unit, its squared distance from the object, and that times its wins.
#[derive(Clone, Copy)]
struct Candidate {
    score: f64,
    square: f64,
    unit: usize,
}

/// Winner and rival; the common divisor of g is left out.
fn nearest_two(
    row: ArrayView1<'_, f64>,
    units: &Array2<f64>,
    wins: &[f64],
) -> (Candidate, Candidate) {
    let mut winner = Candidate { score: f64::INFINITY, square: 0.0, unit: 0 };
    let mut rival = winner;
    for (unit, wins) in wins.iter().enumerate() {
        let square: f64 = row.iter().zip(units.row(unit)).map(|(x, c)| (x - c) * (x - c)).sum();
        let candidate = Candidate { score: wins * square, square, unit };
        if candidate.score < winner.score {
            rival = winner;
            winner = candidate;
        } else if candidate.score < rival.score {
            rival = candidate;
        }
    }
    (winner, rival)
}

impl BaseClusterer for Rpcl {
    fn name(&self) -> &'static str {
        "rpcl"
    }

    fn takes_little_memory(&self) -> bool {
        true
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let features = features.dense()?;
        features.check_clusters(clusters)?;
        self.check()?;
        let x = unit_table(&features);
        let (n, parallel) = (x.nrows(), rayon::current_num_threads() > 1);
        let starts = if self.random_start {
            seed.derive("rpcl", 1).stream().sample(n, clusters)
        } else {
            spread_rows(x.view(), None, clusters, seed, parallel, observer)?
        };
        let mut units = x.select(Axis(0), &starts);
        let usual = n.saturating_mul(EPOCHS).min(PRESENTATIONS);
        let total = self.presentations.unwrap_or(usual);
        let stream = seed.derive("rpcl", 0).stream();
        let mut watch = Watch::new(observer, "competitive learning", total);
        self.compete(&x, &mut units, total, stream, &mut watch);
        watch.finish()?;
        let labels = try_assign(x.view(), units.view(), parallel, observer)?;
        let mut report = Report::default();
        report.iterations = total;
        if self.presentations.is_none() && total < n.saturating_mul(EPOCHS) {
            report.notes.push(format!(
                "{total} presentations of {n} objects, less than {EPOCHS} for each; presentations \
                 sets their number"
            ));
        }
        // Fewer clusters than asked for are what the method is for, fewer distinct rows are not.
        let possible =
            if self.random_start { clusters.min(Distinct::new(x).len()) } else { starts.len() };
        report.expect_clusters(clusters, possible, FEWER);
        Ok(Fit::new(partition(&labels)?, report))
    }
}
