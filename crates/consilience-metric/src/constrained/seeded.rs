use consilience_core::{Error, Features, Fit, Observer, Report, Result, Seed, Status};
use consilience_num::kmeans::{KMeansOptions, from_centres};

use super::frame::{
    Frame, NearestCentre, drop_empty, first_centres, inertia, nearest, refill, take_means,
    tell_clusters,
};
use crate::input::{Watch, check_clusters, check_side};
use crate::{Clustering, ConstrainedClusterer, SideInformation};

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
/// use consilience_core::Seed;
/// use consilience_metric::{ConstrainedClusterer, SeededKMeans, SideInformation};
/// use ndarray::array;
///
/// let x = array![[0.0], [1.0], [4.4], [9.0], [10.0]];
/// let side = SideInformation::from_labels(&[0, -1, 0, -1, 1])?;
/// let held = SeededKMeans::constrained().fit(x.view().into(), 2, &side, Seed(0), &())?.output;
/// assert_eq!(held.partition.to_signed(), [0, 0, 0, 1, 1]);
/// assert_eq!(held.assign(array![[2.0], [8.0]].view().into())?, [0, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// With fewer sets than clusters the other centres are drawn as in k-means++; of more sets, seeded
/// k-means takes large ones that are far apart. New objects go to the nearest centre.
///
/// # Complexity
/// O(iterations n d k) time, O(n d) memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; `max_iterations` of 0; constrained k-means refuses with
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) sets that are not
/// all apart (it could not know which belong to one cluster), and more sets than clusters.
///
/// # References
/// S. Basu, A. Banerjee, R. Mooney, "Semi-supervised clustering by seeding", 2002, Fig. 1 and 2.
#[doc(alias = "constrained k-means")]
#[doc(alias = "semi-supervised k-means")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeededKMeans {
    hold: bool,
    max_iterations: usize,
}

impl Default for SeededKMeans {
    fn default() -> Self {
        SeededKMeans { hold: false, max_iterations: 100 }
    }
}

impl SeededKMeans {
    /// Seeded k-means, at most 100 iterations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Constrained k-means: labelled objects stay in their clusters.
    pub fn constrained() -> Self {
        SeededKMeans { hold: true, ..Self::default() }
    }

    /// Most iterations.
    pub fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }
}

/// Refuses a cap of 0.
pub(crate) fn check_iterations(max_iterations: usize) -> Result<()> {
    if max_iterations == 0 {
        return Err(Error::invalid("max_iterations is 0; expected at least 1"));
    }
    Ok(())
}

impl ConstrainedClusterer for SeededKMeans {
    fn name(&self) -> &'static str {
        if self.hold { "constrained-kmeans" } else { "seeded-kmeans" }
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        side: &SideInformation,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        check_clusters(&features, clusters)?;
        check_side(&features, side)?;
        check_iterations(self.max_iterations)?;
        let sets = side.labelled_sets().len();
        if self.hold && !side.are_classes() {
            return Err(Error::invalid(format!(
                "constrained k-means on {sets} sets that are not all apart; expected labels (for pairs: cop-kmeans)"
            )));
        }
        if self.hold && sets > clusters {
            return Err(Error::invalid(format!("{clusters} clusters for {sets} labelled classes")));
        }
        observer.check()?;
        let mut report = Report::default();
        let (frame, x) = Frame::new(&features);
        let mut centres = first_centres(x.view(), side, clusters, seed);
        let mut watch = Watch::new(observer, self.name(), self.max_iterations);
        let mut labels;
        if self.hold {
            labels = nearest(x.view(), centres.view());
            report.status = Status::MaxIterations;
            let held = side.labelled_objects();
            for iteration in 0..self.max_iterations {
                watch.step(iteration)?;
                report.iterations = iteration + 1;
                let before = if iteration == 0 { Vec::new() } else { std::mem::take(&mut labels) };
                labels = nearest(x.view(), centres.view());
                held.iter().for_each(|&(i, s)| labels[i] = s as u32);
                refill(x.view(), &mut labels, &mut centres, |i| side.set_of(i).is_none());
                if labels == before {
                    report.status = Status::Solved;
                    break;
                }
                take_means(x.view(), &labels, &mut centres);
            }
        } else {
            let options = KMeansOptions::new(centres.nrows())
                .max_iterations(self.max_iterations)
                .parallel(rayon::current_num_threads() > 1);
            let found = from_centres(x.view(), None, centres.view(), &options, observer)?;
            report.iterations = found.iterations;
            report.status = if found.converged { Status::Solved } else { Status::MaxIterations };
            labels = found.assignment;
            centres = found.centres;
        }
        drop_empty(&mut labels, &mut centres);
        report.objective = Some(frame.square_out(inertia(x.view(), &labels, centres.view())));
        tell_clusters(&mut report, clusters, centres.nrows());
        let k = centres.nrows();
        Ok(Fit::new(Clustering::new(&labels, k, NearestCentre { frame, centres })?, report))
    }
}
