use consilience_core::{
    Clustering, Clusters, ConstrainedClusterer, Error, ErrorKind, Features, Fit, MemoryBudget,
    Observer, Pace, Report, Result, Seed, SideInformation, Status, Watch, at_least_one, room,
};
use ndarray::{Array2, ArrayView2, Zip};

use crate::colouring::{colour, improve};
use crate::frame::{
    Begun, Frame, NearestCentre, best_start, drop_empty, inertia, means_of, nearest, refill,
    take_means,
};
use crate::number::{FEWER, checked_number};
use crate::prices::check_room;

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
/// use consilience::{Constraints, ErrorKind, Link, Seed, SideInformation};
/// use consilience::constrained::CopKMeans;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.0], [9.0]];
/// let mut pairs = Constraints::new(4)?;
/// pairs.add(0, 1, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let found = CopKMeans::new(2).cluster(x.view().into(), &side)?;
/// assert_ne!(found.partition.label(0), found.partition.label(1));
///
/// pairs.add(1, 2, Link::Cannot)?;
/// pairs.add(0, 2, Link::Cannot)?;
/// let side = SideInformation::from_constraints(&pairs);
/// let error = CopKMeans::new(2).fit(x.view().into(), &side, &()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Contradiction);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Objects that must be together move as one. A first assignment is found by colouring the graph of
/// the sets that are apart, with backtracking; from then on sets move by swaps of two clusters
/// along chains of sets, which break nothing, so that the method cannot fail later and the
/// objective never rises. First centres are the means of labelled sets. Of more sets than clusters
/// those by weighted farthest-first are taken, and as these may all lie in one large class, a
/// second run starts from objects by k-means++: it is kept where its objective is more than 7 %
/// lower. New objects go to the nearest centre: no link is about them.
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
/// answer, and where features and costs exceed the memory budget.
///
/// # References
/// K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl, "Constrained k-means clustering with background
/// knowledge", 2001, Table 1. There objects are assigned one after the other, and it fails where
/// the order was unlucky.
#[doc(alias = "COP-KMeans")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopKMeans {
    clusters: Clusters,
    max_iterations: usize,
    search_limit: usize,
    budget: MemoryBudget,
    seed: Seed,
}

/// Passes of chain swaps between two updates of the centres.
const PASSES: usize = 20;

impl CopKMeans {
    /// Into so many clusters; [`Clusters::Auto`] for as many as the labels have classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        CopKMeans {
            clusters: clusters.into(),
            max_iterations: 100,
            search_limit: 1_000_000,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// Most iterations. Default 100; at least 1.
        pub fn max_iterations(mut self, iterations: usize) { self.max_iterations = iterations }

        /// Most steps of the search for a first assignment. Default 1,000,000; at least 1.
        pub fn search_limit(mut self, steps: usize) { self.search_limit = steps }

        /// How much memory the features, the means of labelled sets and their costs in all
        /// clusters may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// The fit in the frame from these centres.
    fn run(
        &self,
        x: ArrayView2<'_, f64>,
        clusters: usize,
        graph: &Sets<'_>,
        mut centres: Array2<f64>,
        observer: &dyn Observer,
    ) -> Result<Begun<Labelled>> {
        let mut report = Report::default();
        // Duplicates may be apart: cannot-links need the clusters that were asked for, not the
        // distinct rows.
        while centres.nrows() < clusters {
            let row = centres.row(0).to_owned();
            let _ = centres.push_row(row.view());
        }
        let mut price = graph.prices(&centres, observer)?;
        let mut of_set = report.stage("search", || {
            let mut pace = Pace::new(observer);
            colour(&graph.neighbours, clusters, |s, h| price[[s, h]], self.search_limit, &mut pace)
        })?;
        let mut watch = Watch::new(observer, self.name(), self.max_iterations);
        let mut labels: Vec<u32> = Vec::new();
        report.status = Status::MaxIterations;
        for iteration in 0..self.max_iterations {
            watch.step(iteration)?;
            report.iterations = iteration + 1;
            graph.improve(&price, &mut of_set, observer)?;
            let now = graph.place(x, &mut centres, &mut of_set, observer)?;
            let before = std::mem::replace(&mut labels, now);
            if labels == before {
                report.status = Status::Solved;
                break;
            }
            take_means(x, &labels, &mut centres, observer)?;
            price = graph.prices(&centres, observer)?;
        }
        drop_empty(&mut labels, &mut centres);
        let objective = inertia(x, &labels, centres.view(), observer)?;
        report.objective = Some(objective);
        Ok(Begun { objective, unit: objective, found: (labels, centres, report) })
    }
}

/// Labels, centres and what is said of the fit.
type Labelled = (Vec<u32>, Array2<f64>, Report);

/// The labelled sets as nodes of a graph whose edges are the cannot-links.
struct Sets<'a> {
    side: &'a SideInformation,
    neighbours: Vec<Vec<usize>>,
    means: Array2<f64>,
}

impl<'a> Sets<'a> {
    fn new(
        x: ArrayView2<'_, f64>,
        side: &'a SideInformation,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut pace = Pace::new(observer);
        let sets = side.labelled_sets();
        let mut neighbours = vec![Vec::new(); sets.len()];
        for (a, b) in side.sets_apart() {
            pace.work(1)?;
            room::push(&mut neighbours[a], b)?;
            room::push(&mut neighbours[b], a)?;
        }
        let means = means_of(x, sets.iter(), &mut pace)?;
        Ok(Sets { side, neighbours, means })
    }

    /// What each set costs in each cluster.
    fn prices(&self, centres: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
        let sets = self.side.labelled_sets();
        let (mut pace, d) = (Pace::new(observer), centres.ncols());
        let mut prices = room::table(sets.len(), centres.nrows())?;
        for ((s, h), price) in prices.indexed_iter_mut() {
            pace.work(d)?;
            let apart = Zip::from(self.means.row(s))
                .and(centres.row(h))
                .fold(0.0, |d, a, b| d + (a - b) * (a - b));
            *price = apart * sets[s].len() as f64;
        }
        Ok(prices)
    }

    /// Swaps along chains while that pays.
    fn improve(
        &self,
        price: &Array2<f64>,
        of_set: &mut [usize],
        observer: &dyn Observer,
    ) -> Result<()> {
        let mut pace = Pace::new(observer);
        for _ in 0..PASSES {
            let price_of = |s, h| price[[s, h]];
            if !improve(&self.neighbours, price.ncols(), price_of, of_set, &mut pace)? {
                break;
            }
        }
        Ok(())
    }

    /// Every object at its nearest centre, or with its set; empty clusters get an object that may
    /// move.
    fn place(
        &self,
        x: ArrayView2<'_, f64>,
        centres: &mut Array2<f64>,
        of_set: &mut [usize],
        observer: &dyn Observer,
    ) -> Result<Vec<u32>> {
        let sets = self.side.labelled_sets();
        let mut labels = nearest(x, centres.view(), observer)?;
        for &(i, s) in self.side.labelled_objects() {
            labels[i] = of_set[s] as u32;
        }
        let free = |i| self.side.set_of(i).is_none_or(|s| sets[s].len() == 1);
        refill(x, &mut labels, centres, free, observer)?;
        for &(i, s) in self.side.labelled_objects() {
            of_set[s] = labels[i] as usize;
        }
        Ok(labels)
    }
}

/// Pairs of sets that are apart; refuses classes that are more than the clusters.
fn sets_apart(side: &SideInformation, clusters: usize) -> Result<usize> {
    if !side.are_classes() {
        return Ok(side.sets_apart().count());
    }
    let sets = side.labelled_sets().len();
    if sets > clusters {
        return Err(Error::new(
            ErrorKind::Contradiction,
            format!("{sets} sets that are all apart do not fit {clusters} clusters"),
        ));
    }
    Ok(sets.saturating_mul(sets.saturating_sub(1)) / 2)
}

impl ConstrainedClusterer for CopKMeans {
    fn name(&self) -> &'static str {
        "cop-kmeans"
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
        at_least_one("search_limit", self.search_limit)?;
        observer.check()?;
        let apart = sets_apart(side, clusters)?;
        // Beside the costs the next ones, and in the search what is taken and what is left.
        check_room(self.budget, &features, side, clusters, 3, apart)?;
        let (frame, x) = Frame::new(&features, observer)?;
        let graph = Sets::new(x.view(), side, observer)?;
        let mut searched = false;
        let run = |centres: Array2<f64>, observer: &dyn Observer| {
            let found = self.run(x.view(), clusters, &graph, centres, observer);
            match found {
                // The first start stands where only the second finds no first assignment.
                Err(e) if searched && e.kind() == ErrorKind::TooLarge => {
                    let found = (Vec::new(), Array2::zeros((0, 0)), Report::default());
                    Ok(Begun { objective: f64::INFINITY, unit: 0.0, found })
                }
                found => {
                    searched = true;
                    found
                }
            }
        };
        let (labels, centres, mut report) =
            best_start(x.view(), side, clusters, self.seed, observer, run)?;
        report.objective = report.objective.map(|o| frame.square_out(o));
        report.expect_clusters(clusters, centres.nrows(), FEWER);
        let k = centres.nrows();
        Ok(Fit::new(Clustering::new(&labels, k, NearestCentre { frame, centres })?, report))
    }
}
