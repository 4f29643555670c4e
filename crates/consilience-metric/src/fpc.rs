use consilience_core::{
    BaseClusterer, Error, Features, Fit, Observer, Partition, Report, Result, Seed,
};

use crate::input::{Watch, check_clusters, check_side, with_rows};
use crate::nnc::Sets;
use crate::rows::{Rows, Scaled};
use crate::{Clustering, ConstrainedClusterer, SideInformation};

/// Farthest-point clustering (FPC): each further centre is the object farthest from all centres so
/// far.
///
/// For compact clusters that are clearly apart, at any number of objects: k passes over the
/// features. Where some partition has every pair within a cluster nearer than every pair across
/// (RSD > 1, see [`Separation`](crate::Separation)), this finds it, and it is the best for the
/// ratio, for the split and for the diameter at once; the diameter is never more than twice the
/// best. Not for data with outliers, which become clusters, nor for overlapping clusters.
///
/// ```text
/// r_1 random,   r_(t+1) = argmax_x min_(s <= t) |x - r_s|,   x joins its nearest centre
/// ```
///
/// It uses no labels; as a [`ConstrainedClusterer`] it says so in its report. [`Nnc`](crate::Nnc)
/// is its form with labels.
///
/// ```
/// use consilience_core::Seed;
/// use consilience_metric::{Fpc, Separation};
/// use ndarray::array;
///
/// let x = array![[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0], [0.0, 9.0]];
/// let found = Fpc::new().fit_clustering(x.view().into(), 3, Seed(1), &())?.output;
/// assert_eq!(found.partition.to_signed(), [0, 0, 1, 1, 2]);
/// assert_eq!(found.assign(array![[1.0, 8.0]].view().into())?, [2]);
/// assert!(Separation::of(x.view().into(), &found.partition, &())?.certifies_optimum());
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n k d) time, 12 n bytes beside the features.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fpc {
    first: Option<usize>,
}

impl Fpc {
    /// With a random first centre.
    pub fn new() -> Self {
        Self::default()
    }

    /// The object that is the first centre.
    pub fn first(mut self, object: usize) -> Self {
        self.first = Some(object);
        self
    }

    /// The clustering, which can label new objects: each goes to its nearest centre.
    ///
    /// # Errors
    /// As [`BaseClusterer::fit`].
    pub fn fit_clustering(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        check_clusters(&features, clusters)?;
        let n = features.n_objects();
        if let Some(first) = self.first.filter(|&f| f >= n) {
            return Err(Error::out_of_range(format!("first object {first} of {n}")));
        }
        let first = self.first.unwrap_or_else(|| seed.derive("fpc", 0).stream().below(n));
        let scaled = Scaled::new(features);
        let mut watch = Watch::new(observer, "farthest points", clusters);
        with_rows!(scaled.features(), |x| {
            let mut sets = Sets::new(Rows::new(x), scaled.scale);
            sets.grow(clusters, Some(first), &mut watch)?;
            let mut report = Report::default();
            let radius = sets.radius();
            report.expect_clusters(
                clusters,
                sets.len(),
                "the features distinguish no more objects",
            );
            report.objective = Some(radius);
            Ok(Fit::new(sets.finish()?, report))
        })
    }
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
        let found = self.fit_clustering(features, clusters, seed, observer)?;
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
        clusters: usize,
        side: &SideInformation,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        check_side(&features, side)?;
        let mut found = self.fit_clustering(features, clusters, seed, observer)?;
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
    use consilience_core::{ErrorKind, Status};
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
                Fpc::new().first(first).fit_clustering(x.view().into(), k, Seed(0), &()).unwrap();
            let expected = Partition::from_labels(&reference(&x, k, first)).unwrap();
            assert_eq!(found.output.partition, expected, "seed {seed}");
            let fewer = expected.n_clusters() < k;
            assert_eq!(found.report.clusters_missing.is_some(), fewer);
            // What it was fitted on is predicted alike, also in single precision.
            let narrow = x.mapv(|v| v as f32);
            let labels = found.output.assign(narrow.view().into()).unwrap();
            assert_eq!(
                Partition::from_labels(&labels.iter().map(|&l| l as u64).collect::<Vec<_>>())
                    .unwrap(),
                expected
            );
        }
    }

    #[test]
    fn obeys_the_laws_of_base_clusterers() {
        base_clusterer(&Fpc::new(), &Profile::default());
    }

    #[test]
    fn extreme_entries_are_scaled() {
        for scale in [1e-300, 1e300] {
            let x = array![[0.0], [1.0], [7.0], [8.0]] * scale;
            let found = Fpc::new().fit_clustering(x.view().into(), 2, Seed(3), &()).unwrap().output;
            assert_eq!(found.partition.to_signed(), [0, 0, 1, 1]);
            assert_eq!(found.assign((array![[6.0]] * scale).view().into()).unwrap(), [1]);
        }
        let x = array![[0.0f32], [1e38], [-1e38]];
        let found = Fpc::new().first(0).fit_clustering(x.view().into(), 3, Seed(0), &()).unwrap();
        assert_eq!(found.output.partition.n_clusters(), 3);
    }

    #[test]
    fn a_first_object_that_does_not_exist_is_refused() {
        let x = array![[0.0], [1.0]];
        let error =
            Fpc::new().first(2).fit_clustering(x.view().into(), 1, Seed(0), &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
    }
}
