use consilience_core::{
    BaseClusterer, Clustering, Clusters, ConstrainedClusterer, Error, Features, Fit, Observer,
    Partition, Report, Result, Seed, SideInformation, Watch,
};

use crate::number::{FEWER, checked_number};
use crate::points::Table;
use crate::sets::{Sets, with_table};

/// Farthest-point clustering (FPC): each further centre is the object farthest from all centres so
/// far.
///
/// For compact clusters that are clearly apart, at any number of objects: k passes over the
/// features. Where some partition has every pair within a cluster nearer than every pair across
/// (RSD > 1, see [`Separation`](consilience_metric::Separation)), this finds it, and it is the best
/// for the ratio, for the split and for the diameter at once; the diameter is never more than twice
/// the best. Not for data with outliers, which become clusters, nor for overlapping clusters.
///
/// ```text
/// r_1 random,   r_(t+1) = argmax_x min_(s <= t) |x - r_s|,   x joins its nearest centre
/// ```
///
/// It uses no labels; as a [`ConstrainedClusterer`] it says so in its report. [`Nnc`](crate::Nnc)
/// is its form with labels.
///
/// ```
/// use consilience::Seed;
/// use consilience::constrained::Fpc;
/// use consilience::metric::Separation;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0], [0.0, 9.0]];
/// let found = Fpc::new(3).seed(Seed(1)).fit_clustering(x.view(), &())?.output;
/// assert_eq!(found.partition.to_signed(), [0, 0, 1, 1, 2]);
/// assert_eq!(found.assign(array![[1.0, 8.0]].view())?, [2]);
/// assert!(Separation::of(x.view(), &found.partition)?.certifies_optimum());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n k d) time, 12 n bytes beside the features; of sparse features a copy where a feature is, in
/// all objects, beyond 1024 times what the widest one spreads over. The report's objective is the
/// largest distance of an object to its centre.
///
/// # Errors
/// As [`BaseClusterer::fit`]; [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange)
/// for a first object that does not exist.
///
/// # References
/// T. Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985; J. Yang et al.,
/// "A fast clustering algorithm for data with a few labeled instances", 2015, Algorithm 1, Theorems
/// 7 and 8. Ties go to the first object and to the earlier centre.
#[doc(alias = "Gonzalez")]
#[doc(alias = "farthest-first traversal")]
#[doc(alias = "k-center")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fpc {
    clusters: Clusters,
    first: Option<usize>,
    seed: Seed,
}

impl Fpc {
    /// Into so many clusters, from a random first centre; [`Clusters::Auto`] for as many as the
    /// labels have classes. As a [`BaseClusterer`] it takes the number and the seed that it is
    /// given there.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Fpc { clusters: clusters.into(), first: None, seed: Seed(0) }
    }

    consilience_core::setters! {
        /// The object that is the first centre. Default: one drawn at random;
        /// below the number of objects.
        pub fn first(mut self, object: usize) { self.first = Some(object) }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }

    /// The clustering without side information.
    ///
    /// # Errors
    /// As [`BaseClusterer::fit`].
    pub fn fit_clustering<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let features = features.into();
        let none = SideInformation::none(features.n_objects());
        ConstrainedClusterer::fit(self, features, &none, observer)
    }

    fn clustering(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let n = features.n_objects();
        if let Some(first) = self.first.filter(|&f| f >= n) {
            return Err(Error::out_of_range(format!("first object {first} of {n}")));
        }
        let first = self.first.unwrap_or_else(|| seed.derive("fpc", 0).stream().below(n));
        let watch = Watch::new(observer, "farthest points", clusters);
        with_table!(features, |rows, place| grown(Sets::new(rows, place)?, clusters, first, watch))
    }
}

fn grown<R: Table>(
    mut sets: Sets<R>,
    clusters: usize,
    first: usize,
    mut watch: Watch<'_>,
) -> Result<Fit<Clustering>> {
    sets.grow(clusters, Some(first), &mut watch)?;
    let mut report = Report::default();
    let radius = sets.radius();
    report.expect_clusters(clusters, sets.len(), FEWER);
    report.objective = Some(radius);
    Ok(Fit::new(sets.finish()?, report))
}

impl BaseClusterer for Fpc {
    fn name(&self) -> &'static str {
        "fpc"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        features.check_clusters(clusters)?;
        let found = self.clustering(features, clusters, seed, observer)?;
        Ok(Fit::new(found.output.partition, found.report))
    }
}

impl ConstrainedClusterer for Fpc {
    fn name(&self) -> &'static str {
        "fpc"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let k = checked_number("fpc", self.clusters, features, side)?;
        let mut found = self.clustering(features, k, self.seed, observer)?;
        if !side.is_empty() {
            found.report.notes.push("FPC uses no labels and no pairs; NNC does".into());
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::{Profile, base_clusterer};
    use consilience_core::ErrorKind;
    use ndarray::{Array2, array};

    /// Straight from Algorithm 1: every distance computed anew.
    fn reference(x: &Array2<f64>, k: usize, first: usize) -> Vec<i64> {
        let distance = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum();
        let mut centres = vec![first];
        let to_centres = |i: usize, centres: &[usize]| {
            centres.iter().map(|&c| distance(i, c)).fold(f64::INFINITY, f64::min)
        };
        while centres.len() < k {
            let mut next = (0, 0.0);
            for i in 0..x.nrows() {
                let d = to_centres(i, &centres);
                if d > next.1 {
                    next = (i, d);
                }
            }
            if next.1 == 0.0 {
                break;
            }
            centres.push(next.0);
        }
        (0..x.nrows())
            .map(|i| {
                let best = to_centres(i, &centres);
                centres.iter().position(|&c| distance(i, c) == best).unwrap() as i64
            })
            .collect()
    }

    #[test]
    fn equals_the_reference_on_ties_and_duplicates() {
        for seed in 0..300 {
            let mut s = Seed(seed).stream();
            let (n, d) = (1 + s.below(30), 1 + s.below(11));
            // Few values: ties and duplicates abound, and distances are exact.
            let x = Array2::from_shape_simple_fn((n, d), || s.below(4) as f64);
            let (k, first) = (1 + s.below(n), s.below(n));
            let found =
                Fpc::new(k).first(first).seed(Seed(0)).fit_clustering(x.view(), &()).unwrap();
            let expected = Partition::from_labels(&reference(&x, k, first)).unwrap();
            assert_eq!(found.output.partition, expected, "seed {seed}");
            let fewer = expected.n_clusters() < k;
            assert_eq!(found.report.clusters_missing.is_some(), fewer);
            // What it was fitted on is predicted alike, also in single precision.
            let narrow = x.mapv(|v| v as f32);
            let labels = found.output.assign(narrow.view()).unwrap();
            let labels: Vec<u64> = labels.iter().map(|&l| l as u64).collect();
            assert_eq!(Partition::from_labels(&labels).unwrap(), expected);
        }
    }

    #[test]
    fn obeys_the_laws_of_base_clusterers() {
        base_clusterer(&Fpc::new(1), &Profile::default());
    }

    #[test]
    fn extreme_entries_are_scaled() {
        for scale in [1e-300, 1e300] {
            let x = array![[0.0], [1.0], [7.0], [8.0]] * scale;
            let found = Fpc::new(2).seed(Seed(3)).fit_clustering(x.view(), &()).unwrap().output;
            assert_eq!(found.partition.to_signed(), [0, 0, 1, 1]);
            assert_eq!(found.assign((array![[6.0]] * scale).view()).unwrap(), [1]);
        }
        let x = array![[0.0f32], [1e38], [-1e38]];
        let found = Fpc::new(3).first(0).seed(Seed(0)).fit_clustering(x.view(), &()).unwrap();
        assert_eq!(found.output.partition.n_clusters(), 3);
    }

    #[test]
    fn a_first_object_that_does_not_exist_is_refused() {
        let x = array![[0.0], [1.0]];
        let error = Fpc::new(1).first(2).seed(Seed(0)).fit_clustering(x.view(), &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
    }
}
