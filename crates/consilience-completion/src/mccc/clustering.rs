//! What comes out: a clustering that can label new objects.

use consilience_core::{Error, Features, Observer, Partition, Result};
use consilience_num::kmeans::{KMeansFit, KMeansOptions, assign, fit};
use ndarray::{Array2, ArrayView2, s};

use super::basis::{Basis, Extension};
use super::pairs::product;
use crate::rdml::Projection;

/// A clustering from completed similarities, which can also label new objects: from
/// [`Mccc`](crate::Mccc) and [`Rdml`](crate::Rdml).
///
/// ```
/// use consilience_completion::Mccc;
/// use consilience_core::{Constraints, Link};
/// use ndarray::Array2;
///
/// // Sixty objects on a line in two groups; what tells the groups apart is the second column.
/// let x = Array2::from_shape_fn((60, 2), |(i, j)| if j == 0 { (i / 2) as f64 } else { (i % 2) as f64 });
/// let mut constraints = Constraints::new(60)?;
/// for i in 0..40 {
///     constraints.add(i, i + 2, Link::Must)?;
///     constraints.add(i, i + 5, Link::Cannot)?;
/// }
/// let found = Mccc::new(2).fit(x.view().into(), &constraints, &())?.output;
/// assert_eq!(found.partition.sizes(), [30, 30]);
/// let new = ndarray::array![[7.3, 1.0], [7.3, 0.0]];
/// assert_eq!(found.assign(new.view().into())?, [1, 0]); // in the numbering of `partition`
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompletedClustering {
    /// The clusters of the objects at the fit.
    pub partition: Partition,
    /// N x rank.
    rows: Array2<f64>,
    centres: Array2<f64>,
    /// Number in the partition of each centre.
    number: Vec<usize>,
    map: Map,
    pub(crate) basis: Option<Basis>,
    pub(crate) eigenvectors: usize,
    pub(crate) loss_weight: f64,
}

/// From features to the rows that were clustered.
#[derive(Clone, Debug)]
pub(crate) enum Map {
    /// Coordinates, then k x rank.
    Coordinates(Box<Extension>, Array2<f64>),
    Projection(Projection),
    /// The caller's own coordinates: there is no way from features.
    None,
}

impl CompletedClustering {
    /// Clusters `rows` (N x rank) by k-means; also says how that went.
    pub(crate) fn new(
        rows: Array2<f64>,
        options: &KMeansOptions,
        map: Map,
        observer: &dyn Observer,
    ) -> Result<(Self, KMeansFit<f64>)> {
        let mut found = fit(rows.view(), None, options, observer)?;
        let labels = std::mem::take(&mut found.assignment);
        let partition = Partition::from_fn(labels.len(), |i| Some(u64::from(labels[i])))?;
        let mut number = vec![0; found.centres.nrows()];
        for (i, &l) in labels.iter().enumerate() {
            number[l as usize] = partition.label(i).unwrap_or(0);
        }
        let centres = std::mem::replace(&mut found.centres, Array2::zeros((0, 0)));
        let own = CompletedClustering {
            partition,
            rows,
            centres,
            number,
            map,
            basis: None,
            eigenvectors: 0,
            loss_weight: f64::NAN,
        };
        Ok((own, found))
    }

    /// Rows (N x rank) whose inner products are the completed similarities; k-means on them gave
    /// the clusters.
    pub fn embedding(&self) -> ArrayView2<'_, f64> {
        self.rows.view()
    }

    /// Completed similarity of two objects of the fit: about 0 where they belong apart, more where
    /// together, and the nearer to 1 the larger C is (the nuclear norm shortens it).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist.
    pub fn similarity(&self, i: usize, j: usize) -> Result<f64> {
        for o in [i, j] {
            if o >= self.rows.nrows() {
                return Err(Error::out_of_range(format!("object {o} of {}", self.rows.nrows())));
            }
        }
        Ok(self.rows.row(i).dot(&self.rows.row(j)))
    }

    /// Rank of the completed similarity, as far as it is positive.
    pub fn rank(&self) -> usize {
        self.rows.ncols()
    }

    /// The basis that was used; `None` where there was no choice of one.
    pub fn basis(&self) -> Option<Basis> {
        self.basis
    }

    /// k, the columns used of the basis; 0 where there is none.
    pub fn eigenvectors(&self) -> usize {
        self.eigenvectors
    }

    /// The C of Eq. 5.8 that was used, for orthonormal columns; NaN where there is none.
    pub fn loss_weight(&self) -> f64 {
        self.loss_weight
    }

    /// The cluster of every new object, in the numbering of
    /// [`partition`](CompletedClustering::partition): the nearest centre in the completed
    /// similarity.
    ///
    /// # Errors
    /// As [`Features::check`],
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of features than at the fit, and
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) where the fit
    /// had coordinates instead of features.
    ///
    /// # Complexity
    /// O(d k) per object for singular vectors and projections, O(N d) for neighbours.
    pub fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        features.check()?;
        let width = match &self.map {
            Map::Coordinates(extension, _) => extension.n_features(),
            Map::Projection(projection) => projection.n_features(),
            Map::None => {
                return Err(Error::invalid(
                    "the fit had coordinates, no features: new objects have none",
                ));
            }
        };
        if features.n_features() != width {
            return Err(Error::shape(format!(
                "{} features, {width} at the fit",
                features.n_features()
            )));
        }
        let rows = match &self.map {
            Map::Coordinates(extension, root) => {
                let z = extension.extend(&features)?;
                product(z.slice(s![.., ..root.nrows()]), root.view())
            }
            Map::Projection(projection) => projection.apply(&features),
            Map::None => Array2::zeros((0, 0)),
        };
        let found = assign(rows.view(), self.centres.view(), rayon::current_num_threads() > 1);
        Ok(found.into_iter().map(|c| self.number[c as usize]).collect())
    }

    /// The clusters of new objects as a partition of them alone.
    ///
    /// # Errors
    /// As [`CompletedClustering::assign`].
    pub fn predict(&self, features: Features<'_>) -> Result<Partition> {
        let labels = self.assign(features)?;
        Partition::from_fn(labels.len(), |i| Some(labels[i] as u64))
    }
}
