//! What comes out of completed similarities.

#[cfg(feature = "serde")]
use consilience_core::stored::{Kind, Parts, Restored};
use consilience_core::{
    Assign, Clustering, Dense, Error, FeatureMap, Features, Observer, Partition, Report, Result,
    Seed, Status,
};
use consilience_num::kmeans::{KMeansFit, KMeansOptions, assign, fit};
use ndarray::{Array2, ArrayView2};
#[cfg(feature = "serde")]
use std::sync::Arc;

use crate::basis::Basis;

/// A completed similarity of all objects, as rows whose inner products it is: from
/// [`Mccc`](crate::Mccc) and [`Rdml`](crate::Rdml).
///
/// ```
/// use consilience::SideInformation;
/// use consilience::completion::Rdml;
/// use consilience::ndarray::Array2;
///
/// // Sixty objects in two groups, twelve of them labelled.
/// let x = Array2::from_shape_fn((60, 2), |(i, j)| [i / 2, i % 2][j] as f64);
/// let labels: Vec<i64> = (0..60).map(|i| if i < 12 { i % 2 } else { -1 }).collect();
/// let side = SideInformation::from_labels(&labels)?;
/// let similarity = Rdml::new(2).fit_completed(x.view(), &side, &())?.output.similarity;
/// assert_eq!(similarity.embedding().nrows(), 60);
/// assert!(similarity.between(30, 32)? > similarity.between(30, 33)?);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletedSimilarity {
    /// N x rank.
    embedding: Array2<f64>,
    pub(crate) basis: Option<Basis>,
    pub(crate) eigenvectors: Option<usize>,
    pub(crate) loss_weight: Option<f64>,
}

/// Clusters of completed similarities, and the similarities: the long result of
/// [`Mccc`](crate::Mccc) and [`Rdml`](crate::Rdml).
///
/// ```
/// use consilience::{Constraints, Pair, SideInformation};
/// use consilience::completion::Mccc;
/// use consilience::ndarray::Array2;
///
/// // Sixty objects on a line in two groups, which the second column distinguishes.
/// let x = Array2::from_shape_fn((60, 2), |(i, j)| [i / 2, i % 2][j] as f64);
/// let mut constraints = Constraints::new(60)?;
/// for i in 0..40 {
///     constraints.extend(&[Pair::must_link(i, i + 2), Pair::cannot_link(i, i + 5)])?;
/// }
/// let side = SideInformation::from_constraints(&constraints);
/// let found = Mccc::new(2).fit_completed(x.view(), &side, &())?.output;
/// assert_eq!(found.clustering.partition.sizes(), [30, 30]);
/// assert!(found.similarity.loss_weight().is_some());
/// let new = consilience::ndarray::array![[7.3, 1.0], [7.3, 0.0]];
/// assert_eq!(found.clustering.assign(new.view())?, [1, 0]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletedClustering {
    /// The clusters, also of new objects: an object is in the cluster of the nearest centre in the
    /// completed similarity.
    pub clustering: Clustering,
    /// The similarities.
    pub similarity: CompletedSimilarity,
}

/// Clusters of completed similarities in coordinates of the caller's own, from
/// [`Mccc::fit_coordinates`](crate::Mccc::fit_coordinates). It cannot label new objects, since
/// their coordinates are unknown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletedPartition {
    /// The clusters.
    pub partition: Partition,
    /// The similarities.
    pub similarity: CompletedSimilarity,
}

impl CompletedSimilarity {
    pub(crate) fn new(embedding: Array2<f64>) -> Self {
        CompletedSimilarity { embedding, basis: None, eigenvectors: None, loss_weight: None }
    }

    /// Rows (N x rank) whose inner products are the completed similarities; k-means on them gave
    /// the clusters.
    pub fn embedding(&self) -> ArrayView2<'_, f64> {
        self.embedding.view()
    }

    /// Completed similarity of two objects of the fit: about 0 where they belong apart, more where
    /// together, and the nearer to 1 the larger C is (the nuclear norm shortens it).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist.
    pub fn between(&self, i: usize, j: usize) -> Result<f64> {
        let n = self.embedding.nrows();
        if let Some(o) = [i, j].into_iter().find(|&o| o >= n) {
            return Err(Error::out_of_range(format!("object {o} of {n}")));
        }
        Ok(self.embedding.row(i).dot(&self.embedding.row(j)))
    }

    /// Rank of the completed similarity, as far as it is positive.
    pub fn rank(&self) -> usize {
        self.embedding.ncols()
    }

    /// The basis that was used; `None` where there was no choice of one.
    pub fn basis(&self) -> Option<Basis> {
        self.basis
    }

    /// k, the columns used of the basis; `None` where there is no basis.
    pub fn eigenvectors(&self) -> Option<usize> {
        self.eigenvectors
    }

    /// The C of Eq. 5.8 that was used, for orthonormal columns; `None` where no problem was solved.
    pub fn loss_weight(&self) -> Option<f64> {
        self.loss_weight
    }
}

impl CompletedClustering {
    /// The clusters that k-means found in the embedding, which `map` makes of features.
    pub(crate) fn new(
        similarity: CompletedSimilarity,
        found: KMeansFit<f64>,
        map: impl FeatureMap + 'static,
    ) -> Result<Self> {
        let clusters = found.centres.nrows();
        let centres = NearestCentre { centres: found.centres };
        let clustering = Clustering::new(&found.assignment, clusters, centres)?.behind(map)?;
        Ok(CompletedClustering { clustering, similarity })
    }
}

#[derive(Debug)]
struct NearestCentre {
    centres: Array2<f64>,
}

impl Assign for NearestCentre {
    fn n_features(&self) -> usize {
        self.centres.ncols()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let features = features.dense()?;
        let parallel = rayon::current_num_threads() > 1;
        let found = match features {
            Dense::F64(rows) => assign(rows, self.centres.view(), parallel),
            Dense::F32(rows) => assign(rows.mapv(f64::from).view(), self.centres.view(), parallel),
        };
        Ok(found.into_iter().map(|c| c as usize).collect())
    }

    #[cfg(feature = "serde")]
    fn stored(&self) -> Option<Vec<Parts>> {
        Some(vec![Parts::new(CENTRES).table("centres", &self.centres)])
    }
}

#[cfg(feature = "serde")]
const CENTRES: &str = "nearest-centre-of-embedding";

#[cfg(feature = "serde")]
inventory::submit! {
    Kind { name: CENTRES, restore: restored }
}

#[cfg(feature = "serde")]
fn restored(parts: &mut Parts) -> Result<Restored> {
    let centres = parts.take_table("centres")?;
    Features::from(centres.view()).check()?;
    Ok(Restored::Assigner(Arc::new(NearestCentre { centres })))
}

/// k-means on the rows of an embedding, as a stage of a report.
pub(crate) fn cluster_rows(
    rows: ArrayView2<'_, f64>,
    clusters: usize,
    restarts: usize,
    seed: Seed,
    report: &mut Report,
    observer: &dyn Observer,
) -> Result<KMeansFit<f64>> {
    let options = KMeansOptions::new(clusters)
        .restarts(restarts)
        .seed(seed.derive("k-means", 0))
        .tolerance(1e-6)
        .parallel(rayon::current_num_threads() > 1);
    let found = report.stage("k-means", || fit(rows, None, &options, observer))?;
    if !found.converged {
        report.status = Status::MaxIterations;
    }
    Ok(found)
}
