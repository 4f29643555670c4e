use consilience_core::{
    Clustering, Clusters, ConstrainedClusterer, Features, Fit, Observer, OnlyCancels, Report,
    Result, Seed, SideInformation, Status, Watch, at_least_one, check_restarts, ensure,
};
use consilience_num::kmeans::{KMeansOptions, from_centres};
use ndarray::{Array2, ArrayView2};

use crate::frame::{
    Begun, Frame, NearestCentre, best_start, drop_empty, inertia, nearest, refill, sets_to_start,
    take_means,
};
use crate::number::{FEWER, checked_number};

/// k-means that starts from labelled sets: seeded k-means, or constrained k-means, which also holds
/// the labelled objects in the clusters of their labels.
///
/// For labels, as the first method to try: [`new`](SeededKMeans::new) where some labels may be
/// wrong, since objects may leave the cluster that they started;
/// [`constrained`](SeededKMeans::constrained) where all are right. For pairs,
/// [`CopKMeans`](crate::CopKMeans) and [`PckMeans`](crate::PckMeans) use cannot-links too.
///
/// ```text
/// mu_h = mean of labelled set h;  then k-means:  minimise sum_i |x_i - mu_a(i)|^2
/// constrained: a(i) = h for the objects i of labelled set h
/// ```
///
/// ```
/// use consilience::{Seed, SideInformation};
/// use consilience::constrained::SeededKMeans;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [4.4], [9.0], [10.0]];
/// let side = SideInformation::from_labels(&[0, -1, 0, -1, 1])?;
/// let held = SeededKMeans::constrained(2).cluster(x.view().into(), &side)?;
/// assert_eq!(held.partition.to_signed(), [0, 0, 0, 1, 1]);
/// assert_eq!(held.assign(array![[2.0], [8.0]].view())?, [0, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// With fewer sets than clusters the other centres are drawn as in k-means++, ten times
/// ([`restarts`](SeededKMeans::restarts)), and the lowest objective is kept; of more sets, seeded
/// k-means takes large ones that are far apart. As these may all lie in one large class, it then
/// runs a second time, from objects by k-means++, and keeps that where the objective is more than
/// 7 % lower. New objects go to the nearest centre.
///
/// # Complexity
/// O(restarts x iterations n d k) time, O(n d) memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; `max_iterations` or `restarts` of 0; constrained k-means
/// refuses with [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter)
/// sets that are not all apart (it could not know which belong to one cluster), and more sets than
/// clusters.
///
/// # References
/// S. Basu, A. Banerjee, R. Mooney, "Semi-supervised clustering by seeding", 2002, Fig. 1 and 2.
#[doc(alias = "constrained k-means")]
#[doc(alias = "semi-supervised k-means")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeededKMeans {
    clusters: Clusters,
    hold: bool,
    restarts: usize,
    max_iterations: usize,
    seed: Seed,
}

impl SeededKMeans {
    /// Seeded k-means into so many clusters; [`Clusters::Auto`] for as many as the labels have
    /// classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        SeededKMeans {
            clusters: clusters.into(),
            hold: false,
            restarts: 10,
            max_iterations: 100,
            seed: Seed(0),
        }
    }

    /// Constrained k-means: labelled objects stay in their clusters.
    pub fn constrained(clusters: impl Into<Clusters>) -> Self {
        SeededKMeans { hold: true, ..Self::new(clusters) }
    }

    consilience_core::setters! {
        /// Starts where centres are drawn, of which the one with the lowest objective is kept.
        /// Default 10; 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Most iterations. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// k-means that holds the labelled objects.
    fn held(
        &self,
        x: ArrayView2<'_, f64>,
        side: &SideInformation,
        centres: &mut Array2<f64>,
        report: &mut Report,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<u32>> {
        let (mut labels, observer) = (Vec::new(), watch.observer());
        report.status = Status::MaxIterations;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            let before = std::mem::replace(&mut labels, nearest(x, centres.view(), observer)?);
            side.labelled_objects().iter().for_each(|&(i, s)| labels[i] = s as u32);
            refill(x, &mut labels, centres, |i| side.set_of(i).is_none(), observer)?;
            if labels == before {
                report.status = Status::Solved;
                break;
            }
            take_means(x, &labels, centres, observer)?;
        }
        Ok(labels)
    }

    /// k-means from the first centres.
    fn free(
        &self,
        x: ArrayView2<'_, f64>,
        centres: &mut Array2<f64>,
        report: &mut Report,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<u32>> {
        let options = KMeansOptions::new(centres.nrows())
            .max_iterations(self.max_iterations)
            .parallel(rayon::current_num_threads() > 1);
        let found = from_centres(x, None, centres.view(), &options, watch.observer())?;
        report.iterations = found.iterations;
        report.status = if found.converged { Status::Solved } else { Status::MaxIterations };
        *centres = found.centres;
        Ok(found.assignment)
    }
}

impl ConstrainedClusterer for SeededKMeans {
    fn name(&self) -> &'static str {
        if self.hold { "constrained-kmeans" } else { "seeded-kmeans" }
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = features.dense()?;
        let clusters = checked_number(self.name(), self.clusters, features.into(), side)?;
        at_least_one("max_iterations", self.max_iterations)?;
        check_restarts(self.restarts)?;
        let sets = side.labelled_sets().len();
        if self.hold {
            ensure!(
                side.are_classes(),
                invalid(
                    "constrained k-means on {sets} sets that are not all apart; expected labels \
                     (for pairs: cop-kmeans)"
                )
            );
            ensure!(sets <= clusters, invalid("{clusters} clusters for {sets} labelled classes"));
        }
        observer.check()?;
        let (frame, x) = Frame::new(&features, observer)?;
        let run = |mut centres: Array2<f64>, observer: &dyn Observer| {
            let (mut report, x) = (Report::default(), x.view());
            let mut watch = Watch::new(observer, self.name(), self.max_iterations);
            let mut labels = if self.hold {
                self.held(x, side, &mut centres, &mut report, &mut watch)?
            } else {
                self.free(x, &mut centres, &mut report, &mut watch)?
            };
            drop_empty(&mut labels, &mut centres);
            let objective = inertia(x, &labels, centres.view(), observer)?;
            report.objective = Some(frame.square_out(objective));
            Ok(Begun { objective, unit: objective, found: (labels, centres, report) })
        };
        let mut found = best_start(x.view(), side, clusters, self.seed, observer, &run)?;
        if sets_to_start(side) < clusters {
            let quiet = OnlyCancels(observer);
            for restart in 1..self.restarts {
                let seed = self.seed.derive("restart", restart as u64);
                let other = best_start(x.view(), side, clusters, seed, &quiet, &run)?;
                if other.2.objective < found.2.objective {
                    found = other;
                }
            }
        }
        let (labels, centres, mut report) = found;
        report.expect_clusters(clusters, centres.nrows(), FEWER);
        let k = centres.nrows();
        Ok(Fit::new(Clustering::new(&labels, k, NearestCentre { frame, centres })?, report))
    }
}
