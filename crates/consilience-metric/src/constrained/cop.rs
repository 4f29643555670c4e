use consilience_core::{Features, Fit, Observer, Report, Result, Seed, Status};
use ndarray::{Array2, Axis, Zip};

use super::colouring::{colour, improve};
use super::frame::{
    Frame, NearestCentre, drop_empty, first_centres, inertia, nearest, refill, take_means,
    tell_clusters,
};
use super::seeded::check_iterations;
use crate::input::{Watch, check_clusters, check_side};
use crate::scatter::mean_row;
use crate::{Clustering, ConstrainedClusterer, SideInformation};
use consilience_core::Error;

/// COP-KMeans: k-means that breaks no link.
///
/// For pairs or labels that are certainly right. Where some may be wrong,
/// [`PckMeans`](crate::PckMeans) puts a price on each instead.
///
/// ```text
/// minimise sum_i |x_i - mu_a(i)|^2    subject to  a(i) = a(j) (must),  a(i) != a(j) (cannot)
/// ```
///
/// ```
/// use consilience_core::{Constraints, ErrorKind, Link, Seed};
/// use consilience_metric::{ConstrainedClusterer, CopKMeans, SideInformation};
/// use ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.0], [9.0]];
/// let mut pairs = Constraints::new(4)?;
/// pairs.add(0, 1, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let found = CopKMeans::new().fit(x.view().into(), 2, &side, Seed(0), &())?.output;
/// assert_ne!(found.partition.label(0), found.partition.label(1));
///
/// pairs.add(1, 2, Link::Cannot)?;
/// pairs.add(0, 2, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let error = CopKMeans::new().fit(x.view().into(), 2, &side, Seed(0), &()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Contradiction);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// Objects that must be together move as one. A first assignment is found by colouring the graph of
/// the sets that are apart, with backtracking; from then on sets move by swaps of two clusters
/// along chains of sets, which break nothing, so that the method cannot fail later and the
/// objective never rises. New objects go to the nearest centre: no link speaks of them.
///
/// # Complexity
/// O(iterations (n d k + s k (log k + a))) time for s sets with a others apart each, O(n d + s k)
/// memory, after the first assignment, whose search is exponential at worst and stops at
/// [`search_limit`](CopKMeans::search_limit). Sets with fewer than k others apart need no search.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`];
/// [`ErrorKind::Contradiction`](consilience_core::ErrorKind::Contradiction) where it is proven that
/// k clusters are too few for the cannot-links,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the search ends without an
/// answer.
///
/// # References
/// K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl, "Constrained k-means clustering with background
/// knowledge", 2001, Table 1. There objects are assigned one after the other, and it fails where
/// the order was unlucky.
#[doc(alias = "COP-KMeans")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopKMeans {
    max_iterations: usize,
    search_limit: usize,
}

impl Default for CopKMeans {
    fn default() -> Self {
        CopKMeans { max_iterations: 100, search_limit: 1_000_000 }
    }
}

/// Passes of chain swaps between two updates of the centres.
const PASSES: usize = 20;

impl CopKMeans {
    /// At most 100 iterations, a search of at most a million steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Most iterations.
    pub fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Most steps of the search for a first assignment.
    pub fn search_limit(mut self, steps: usize) -> Self {
        self.search_limit = steps;
        self
    }
}

impl ConstrainedClusterer for CopKMeans {
    fn name(&self) -> &'static str {
        "cop-kmeans"
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
        if self.search_limit == 0 {
            return Err(Error::invalid("search_limit is 0; expected at least 1"));
        }
        let sets = side.labelled_sets();
        if side.are_classes() && sets.len() > clusters {
            return Err(Error::new(
                consilience_core::ErrorKind::Contradiction,
                format!("{} sets that are all apart do not fit {clusters} clusters", sets.len()),
            ));
        }
        observer.check()?;
        let mut report = Report::default();
        let (frame, x) = Frame::new(&features);
        let mut centres = first_centres(x.view(), side, clusters, seed);
        // Duplicates may be apart: cannot-links need the clusters that were asked for, not the
        // distinct rows.
        while centres.nrows() < clusters {
            let row = centres.row(0).to_owned();
            let _ = centres.push_row(row.view());
        }
        let k = clusters;
        let mut neighbours = vec![Vec::new(); sets.len()];
        for (a, b) in side.sets_apart() {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        let means: Vec<_> = sets.iter().map(|s| mean_row(x.view(), s)).collect();
        let prices = |centres: &Array2<f64>| {
            Array2::from_shape_fn((sets.len(), k), |(s, h)| {
                let apart = Zip::from(&means[s])
                    .and(centres.row(h))
                    .fold(0.0, |d, a, b| d + (a - b) * (a - b));
                apart * sets[s].len() as f64
            })
        };
        let mut price = prices(&centres);
        let mut of_set = report
            .stage("search", || colour(&neighbours, k, |s, h| price[[s, h]], self.search_limit))?;
        let mut watch = Watch::new(observer, self.name(), self.max_iterations);
        let mut labels: Vec<u32> = Vec::new();
        report.status = Status::MaxIterations;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            for _ in 0..PASSES {
                if !improve(&neighbours, k, |s, h| price[[s, h]], &mut of_set) {
                    break;
                }
            }
            let before = std::mem::replace(&mut labels, nearest(x.view(), centres.view()));
            for &(i, s) in side.labelled_objects() {
                labels[i] = of_set[s] as u32;
            }
            refill(x.view(), &mut labels, &mut centres, |i| match side.set_of(i) {
                None => true,
                Some(s) => sets[s].len() == 1,
            });
            for &(i, s) in side.labelled_objects() {
                of_set[s] = labels[i] as usize;
            }
            if labels == before {
                report.status = Status::Solved;
                break;
            }
            take_means(x.view(), &labels, &mut centres);
            price = prices(&centres);
        }
        drop_empty(&mut labels, &mut centres);
        report.objective = Some(frame.square_out(inertia(x.view(), &labels, centres.view())));
        tell_clusters(&mut report, clusters, centres.len_of(Axis(0)));
        let k = centres.nrows();
        Ok(Fit::new(Clustering::new(&labels, k, NearestCentre { frame, centres })?, report))
    }
}
