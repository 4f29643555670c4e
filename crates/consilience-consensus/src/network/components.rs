use consilience_core::{
    ConsensusFunction, Ensemble, Fit, Observer, Partition, Report, Result, ensure,
};
use consilience_graph::Network;

use super::ROUNDED;
use super::{joined, labelled};

/// Connected components of the edges on which enough members agree.
///
/// The fastest consensus of network clusterings, and the one that says most plainly what its
/// clusters are. The number of clusters follows from the threshold; for a number of your choice
/// take [`NetworkLinkage`](super::NetworkLinkage). One edge with enough agreement joins two
/// clusters, however large: where that chains, raise the threshold or take
/// [`NetworkPropagation`](super::NetworkPropagation).
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::NetworkComponents;
/// use consilience::graph::Network;
///
/// // A path of six nodes, clustered three times.
/// let path = Network::new(6, (0..5).map(|i| (i, i + 1)))?;
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
/// ])?;
/// let found = NetworkComponents::new(path.clone()).consensus(&ensemble)?;
/// assert_eq!(found.to_signed(), [0, 0, 0, 1, 1, 1]);
/// let strict = NetworkComponents::new(path).threshold(1.0).consensus(&ensemble)?;
/// assert_eq!(strict.to_signed(), [0, 0, 1, 2, 2, 3]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where the ensemble is
/// of another number of objects than the network has nodes,
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a threshold
/// that is no share.
///
/// # Complexity
/// O(edges x members) time, in parallel.
///
/// # References
/// The consensus matrix on edges and its threshold: A. Lancichinetti, S. Fortunato, "Consensus
/// clustering in complex networks", Scientific Reports 2 (2012), 336; restricted to edges: A.
/// Tandon et al., "Fast consensus clustering in complex networks", Physical Review E 99 (2019).
/// Both cluster the thresholded network again; here its components are the result.
#[derive(Clone, Debug)]
pub struct NetworkComponents {
    network: Network,
    threshold: f64,
}

impl NetworkComponents {
    /// Components of the edges on which at least half of the members agree.
    pub fn new(network: Network) -> Self {
        NetworkComponents { network, threshold: 0.5 }
    }

    consilience_core::setters! {
        /// The least co-association of an edge that joins its ends. Default 0.5; above 0, at
        /// most 1.
        pub fn threshold(mut self, share: f64) { self.threshold = share }
    }
}

impl ConsensusFunction for NetworkComponents {
    type Output = Partition;

    fn name(&self) -> &str {
        "network-components"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let least = self.threshold;
        ensure!(
            least > 0.0 && least <= 1.0,
            invalid("threshold {least}; expected above 0 and at most 1")
        );
        let mut report = Report::default();
        let shares =
            report.stage("similarity", || self.network.co_association(ensemble, observer))?;
        let partition = report.stage("partition", || {
            let enough = |share| share >= least * ROUNDED;
            let mut joined = joined(&self.network, &shares, observer, enough)?;
            let labelled = labelled(ensemble);
            let (of_object, _) = joined.numbers(|i| labelled[i]);
            Partition::from_fn(of_object.len(), |i| labelled[i].then(|| of_object[i].into()))
        })?;
        Ok(Fit::new(partition, report))
    }
}
