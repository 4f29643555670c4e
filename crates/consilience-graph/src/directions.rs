use consilience_core::{Clusters, Error, Fit, Observer, Partition, Report, Result, Status, ties};
use consilience_num::kmeans::{self, KMeansFit, KMeansOptions};
use ndarray::Array2;

use crate::{ClusterIncidence, Components, most_clusters};

/// How many clusters a spectral cut makes, and how many eigenpairs it needs to know.
///
/// [`Clusters::Eigengap`], which is also what [`Clusters::Auto`] means, takes as many clusters as
/// there are eigenvalues before the widest gap, between 2 and the square root of the number of
/// nodes, or where members nearly agree what [`most_clusters`] says of them; the fewest of equals.
///
/// ```
/// use consilience::Clusters;
/// use consilience::graph::SpectralCount;
///
/// let count = SpectralCount::new(Clusters::Eigengap, 10)?;
/// assert_eq!(count.eigenpairs(), 5);
/// assert_eq!(count.clusters(&[1.0, 0.9, 0.8, 0.1, 0.1]), 3);
/// assert_eq!(SpectralCount::new(Clusters::Fixed(20), 10)?.eigenpairs(), 10);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SpectralCount {
    fixed: Option<usize>,
    nodes: usize,
    /// The most that a gap may suggest.
    most: usize,
}

impl SpectralCount {
    /// The clusters of so many nodes; a fixed number is at most that.
    ///
    /// # Errors
    /// As [`SpectralCount::check`].
    pub fn new(clusters: Clusters, nodes: usize) -> Result<Self> {
        Self::check(clusters)?;
        let most = (nodes as f64).sqrt().ceil() as usize;
        Ok(SpectralCount { fixed: clusters.fixed().map(|k| k.min(nodes)), nodes, most })
    }

    /// The same where the nodes are those of the members of an ensemble, or the clusters of these.
    ///
    /// ```
    /// use consilience::{Clusters, Ensemble, Microclusters, Partition};
    /// use consilience::graph::{ClusterIncidence, SpectralCount};
    ///
    /// let nine = Partition::from_fn(45, |i| Some(i as u64 % 9))?;
    /// let nodes = Microclusters::of(&Ensemble::new(vec![nine.clone(), nine])?)?;
    /// let incidence = ClusterIncidence::of(&nodes)?;
    /// let count = SpectralCount::new(Clusters::Auto, nodes.n_nodes())?;
    /// assert_eq!(count.clusters(&[1.0; 9]), 2);
    /// assert_eq!(count.of_members(&incidence).clusters(&[1.0; 9]), 9);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[must_use]
    pub fn of_members(self, incidence: &ClusterIncidence) -> Self {
        let members = 0..incidence.n_members();
        self.agreed(incidence.sizes(), members.map(|u| incidence.clusters_of_member(u).len()))
    }

    /// The same of a graph of nodes that stand for so many objects: its components are what all
    /// members agree on.
    pub(crate) fn of_components(self, parts: &Components, sizes: &[f64]) -> Self {
        self.agreed(sizes, [parts.n_components()])
    }

    /// The same where members have so many clusters.
    pub(crate) fn agreed(
        mut self,
        sizes: &[f64],
        clusters: impl IntoIterator<Item = usize>,
    ) -> Self {
        self.most = most_clusters(self.most, sizes.iter().map(|&size| size as u64), clusters);
        self
    }

    /// Refuses what chooses no number of clusters from eigenvalues.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for 0
    /// clusters or a criterion that is not about eigenvalues.
    pub fn check(clusters: Clusters) -> Result<()> {
        match clusters {
            Clusters::Fixed(0) => Err(Error::invalid("a cut into 0 clusters; expected at least 1")),
            Clusters::Fixed(_) | Clusters::Auto | Clusters::Eigengap => Ok(()),
            other => Err(other.refuse("a spectral cut", "a number or the eigengap")),
        }
    }

    /// Leading eigenpairs that are needed: as many as clusters, or enough to see the gap.
    pub fn eigenpairs(&self) -> usize {
        self.fixed.unwrap_or(self.most + 1)
    }

    /// Number of clusters, from the leading eigenvalues in descending order: all there are, or as
    /// many as [`SpectralCount::eigenpairs`].
    pub fn clusters(&self, values: &[f64]) -> usize {
        self.fixed.unwrap_or_else(|| eigengap(values, self.most).min(self.nodes))
    }
}

/// Number of eigenvalues before the widest gap, `2..=most` where there are two; the first of those
/// that are equal but for rounding. `values` are all there are (the next is then 0), or one more
/// than `most`.
fn eigengap(values: &[f64], most: usize) -> usize {
    let value = |k: usize| values.get(k).copied().unwrap_or(0.0);
    let gaps = (2..=values.len().min(most)).map(|k| value(k - 1) - value(k));
    (2 + ties::first_largest(gaps, value(0).abs())).min(values.len())
}

/// Scales every row to norm 1; rows of zeros stay.
///
/// ```
/// use consilience::ndarray::array;
///
/// let mut rows = array![[3.0, 4.0], [0.0, 0.0]];
/// consilience::graph::unit_rows(&mut rows);
/// assert_eq!(rows, array![[0.6, 0.8], [0.0, 0.0]]);
/// ```
pub fn unit_rows(rows: &mut Array2<f64>) {
    for mut row in rows.rows_mut() {
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
}

/// The last step of a spectral cut: k-means on the directions of the rows of an embedding. A row
/// counts `weights` times. Clusters are numbered by their first row, and the report has the inertia
/// and whether k-means settled.
///
/// ```
/// use consilience::graph::cluster_directions;
/// use consilience::num::kmeans::KMeansOptions;
/// use consilience::ndarray::array;
///
/// let rows = array![[0.0, 2.0], [3.0, 0.1], [0.0, 0.5], [1.0, 0.0]];
/// let found = cluster_directions(rows, None, &KMeansOptions::new(2), &())?;
/// assert_eq!(found.output, [0, 1, 0, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
pub fn cluster_directions(
    mut rows: Array2<f64>,
    weights: Option<&[f64]>,
    options: &KMeansOptions,
    observer: &dyn Observer,
) -> Result<Fit<Vec<usize>>> {
    unit_rows(&mut rows);
    numbered(kmeans::fit(rows.view(), weights, options, observer)?)
}

/// The clusters that k-means found, numbered by the first row, with a report: what
/// [`cluster_directions`] ends with.
///
/// # Errors
/// None for a fit of at least one row.
pub fn numbered(fit: KMeansFit<f64>) -> Result<Fit<Vec<usize>>> {
    let mut report = Report::default();
    report.status = if fit.converged { Status::Solved } else { Status::MaxIterations };
    report.iterations = fit.iterations;
    report.objective = Some(fit.inertia);
    let clusters = Partition::from_labels(&fit.assignment)?;
    Ok(Fit::new(clusters.iter().flatten().collect(), report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_was_not_computed_is_no_gap() {
        assert_eq!(eigengap(&[1.0, 0.9, 0.9], 2), 2);
        assert_eq!(eigengap(&[1.0, 0.9, 0.9], 3), 3);
        assert_eq!(eigengap(&[1.0, 0.5, 0.4, 0.1], 3), 3);
        assert_eq!(eigengap(&[1.0], 2), 1);
        // Of equal gaps the fewest clusters.
        assert_eq!(eigengap(&[1.0, 0.75, 0.5, 0.25, 0.0], 5), 2);
        // Equal but for rounding: by their bits the second would be the widest.
        assert_eq!(eigengap(&[1.0, 0.7, 0.4, 0.1], 4), 2);
        assert_eq!(eigengap(&[0.0, 0.0], 2), 2);
        assert_eq!(eigengap(&[], 2), 0);
    }

    #[test]
    fn criteria_of_trees_are_refused() {
        for clusters in [Clusters::Lifetime, Clusters::Height(0.5), Clusters::Survival] {
            assert!(SpectralCount::new(clusters, 4).is_err(), "{clusters}");
        }
        assert_eq!(SpectralCount::new(Clusters::Auto, 1).unwrap().clusters(&[1.0, 0.5]), 1);
    }

    #[test]
    fn as_many_eigenpairs_as_the_number_of_clusters_needs() {
        let of = |clusters: Clusters, nodes| SpectralCount::new(clusters, nodes).unwrap();
        assert_eq!(of(Clusters::Fixed(3), 10).eigenpairs(), 3);
        assert_eq!(of(Clusters::Fixed(12), 10).eigenpairs(), 10);
        assert_eq!(of(Clusters::Fixed(12), 10).clusters(&[]), 10);
        // The widest gap is looked for up to the root of the number of nodes, rounded up.
        assert_eq!(of(Clusters::Eigengap, 9).eigenpairs(), 4);
        assert_eq!(of(Clusters::Eigengap, 10).eigenpairs(), 5);
        let values = [1.0, 0.9, 0.8, 0.1, 0.05];
        assert_eq!(of(Clusters::Eigengap, 10).clusters(&values), 3);
        assert_eq!(of(Clusters::Eigengap, 4).clusters(&values), 2);
        assert!(SpectralCount::check(Clusters::Fixed(0)).is_err());
    }

    #[test]
    fn rows_on_the_unit_sphere() {
        let mut rows = ndarray::array![[3.0, -4.0], [0.0, 0.0], [0.0, 0.5]];
        unit_rows(&mut rows);
        assert_eq!(rows, ndarray::array![[0.6, -0.8], [0.0, 0.0], [0.0, 1.0]]);
        // Two directions at any length; the report tells how far the rows lie from their centres.
        let rows = ndarray::array![[1.0, 0.0], [0.0, 2.0], [7.0, 0.0], [0.0, 0.1]];
        let fit = cluster_directions(rows, None, &KMeansOptions::new(2), &()).unwrap();
        assert_eq!(fit.output, [0, 1, 0, 1]);
        assert_eq!((fit.report.status, fit.report.objective), (Status::Solved, Some(0.0)));
        assert!(fit.report.iterations > 0);
    }
}
