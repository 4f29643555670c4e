/// Where new objects belong, and how sure that is: what [`ConsensusModel::place`] gives.
///
/// ```
/// use consilience::model::ConsensusClustering;
/// use consilience::ndarray::{Array2, array};
///
/// let x = Array2::from_shape_fn((40, 1), |(i, _)| (i / 20 * 10) as f64 + (i % 20) as f64 * 0.1);
/// let placed = ConsensusClustering::new(2).cluster(&x)?.place(&array![[0.5], [10.5], [-70.0]])?;
/// assert_eq!(placed.labels, [0, 1, 0]);
/// // The last is far beyond all objects of the cluster that is nearest to it.
/// assert!(placed.distance[0] < 1.0 && placed.distance[2] > 10.0);
/// assert_eq!((placed.outside(), placed.tied.len()), (vec![2], 0));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// [`ConsensusModel::place`]: crate::ConsensusModel::place
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Placement {
    /// The cluster of each object, in the numbering of the model's partition.
    pub labels: Vec<usize>,
    /// How sure each label is: the share of this cluster among the objects that the members put
    /// together with the object, averaged over members; 0 to 1.
    pub confidence: Vec<f64>,
    /// How far out each object lies: its distance to the nearest prototype as a multiple of the
    /// largest that an object of that cluster had at the fit, the median over the members. Above 1
    /// it lies outside of everything seen.
    #[doc(alias = "outlier")]
    #[doc(alias = "novelty")]
    pub distance: Vec<f64>,
    /// Objects between two clusters that are equally good; they got the one with the lower number.
    pub tied: Vec<usize>,
}

impl Placement {
    /// The objects that lie outside of everything seen: those of
    /// [`distance`](Placement::distance) above 1.
    pub fn outside(&self) -> Vec<usize> {
        (0..self.distance.len()).filter(|&i| self.distance[i] > 1.0).collect()
    }
}
