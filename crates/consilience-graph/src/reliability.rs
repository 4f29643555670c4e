//! How far to trust each cluster and each member of an ensemble.

use consilience_core::{Observer, Result, ensure};

use crate::{ClusterIncidence, ClusterOverlaps};

/// Reliabilities below this would vanish when multiplied.
const LEAST: f64 = 1e-80;

/// How reliable each cluster of the ensemble is, by how far the other members split it: the
/// ensemble-driven cluster index
///
/// ```text
/// ECI_c = exp(-H_c / scale),
/// H_c   = mean over members u of the entropy (bits) of the labels of u inside c,
/// ```
///
/// 1 for a cluster that no member splits, towards 0 for one that all members scatter. Entropies are
/// over the objects that a member labels, and the mean is over members that label any; clusters are
/// numbered as in the incidence.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::{ClusterIncidence, ensemble_driven_cluster_index};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 2])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// let eci = ensemble_driven_cluster_index(&incidence, 0.4, &())?;
/// // The second member splits the cluster {2, 3} in halves: one bit, half a bit on average.
/// assert_eq!(eci[0], 1.0);
/// assert!((eci[1] - (-0.5f64 / 0.4).exp()).abs() < 1e-15);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~ M^2), memory in proportion to the pairs of clusters that share objects.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a scale that
/// is not positive and finite, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Huang, Wang, Lai 2018, "Locally Weighted Ensemble Clustering", Definitions 2 to 4 (the scale
/// is their theta). Missing
/// labels are ours; values below 1e-80 are raised to it, so that products of them do not vanish.
#[doc(alias = "ECI")]
pub fn ensemble_driven_cluster_index(
    incidence: &ClusterIncidence,
    scale: f64,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    check_entropy_scale(scale)?;
    let uncertainty = ClusterOverlaps::of(incidence, observer)?.uncertainty();
    Ok(uncertainty.into_iter().map(|h| (-h / scale).exp().max(LEAST)).collect())
}

/// Refuses a scale of entropies that is not positive and finite, as
/// [`ensemble_driven_cluster_index`] does.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter).
pub fn check_entropy_scale(scale: f64) -> Result<()> {
    ensure!(
        scale > 0.0 && scale.is_finite(),
        invalid("entropy scale {scale}; expected a positive number")
    );
    Ok(())
}

/// How far each member agrees with the others: the normalised crowd agreement index
///
/// ```text
/// CAI_u = mean over members v != u of NMI(u, v),   NCAI_u = CAI_u / max CAI,
/// ```
///
/// with mutual information divided by the larger entropy, over the objects that both label. Members
/// that share no object with any other have index 0; where no members agree all have 1.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::{ClusterIncidence, normalized_crowd_agreement};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 1, 0, 1])?, // independent of the others
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// assert_eq!(normalized_crowd_agreement(&incidence, &())?, vec![1.0, 1.0, 0.0]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~ M^2), memory in proportion to the pairs of clusters that share objects.
///
/// # Errors
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Huang, Lai, Wang 2015, "Combining multiple clusterings via crowd agreement estimation and
/// multi-granularity link analysis", Section 3.1. Missing labels are ours.
#[doc(alias = "NCAI")]
pub fn normalized_crowd_agreement(
    incidence: &ClusterIncidence,
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    Ok(ClusterOverlaps::of(incidence, observer)?.crowd_agreement())
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Ensemble, Microclusters, Partition};

    fn incidence(members: &[&[i64]], weights: Option<Vec<f64>>) -> ClusterIncidence {
        let members = members.iter().map(|l| Partition::from_labels(l).unwrap()).collect();
        let mut ensemble = Ensemble::new(members).unwrap();
        if let Some(weights) = weights {
            ensemble = ensemble.with_weights(weights).unwrap();
        }
        ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap()
    }

    #[test]
    fn scales_are_positive_numbers() {
        for (scale, good) in
            [(0.3, true), (1e-9, true), (0.0, false), (-1.0, false), (f64::INFINITY, false)]
        {
            assert_eq!(check_entropy_scale(scale).is_ok(), good, "{scale}");
        }
        assert!(check_entropy_scale(f64::NAN).is_err());
    }

    #[test]
    fn certain_clusters_weigh_one_and_split_ones_less() {
        // The second member keeps both clusters of the first whole, and is split by it in halves.
        let found = incidence(&[&[0, 0, 1, 1], &[0, 0, 0, 0]], None);
        let index = ensemble_driven_cluster_index(&found, 0.5, &()).unwrap();
        // The entropy of halves is 1 in one of two members: exp(-0.5 / 0.5).
        let expected = [1.0, 1.0, (-1.0f64).exp()];
        assert!(index.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-15), "{index:?}");
        assert!(ensemble_driven_cluster_index(&found, 0.0, &()).is_err());
        // Far below what can be multiplied.
        let least = ensemble_driven_cluster_index(&found, 1e-9, &()).unwrap();
        assert_eq!(least, [1.0, 1.0, LEAST]);
    }

    #[test]
    fn members_agree_with_the_others_as_often_as_these_count() {
        let (a, b): (&[i64], &[i64]) = (&[0, 0, 1, 1], &[0, 1, 0, 1]);
        // Nobody agrees with anybody: all count alike.
        assert_eq!(normalized_crowd_agreement(&incidence(&[a, b], None), &()).unwrap(), [1.0; 2]);
        // A member that counts twice has a copy of itself among the others.
        let found = incidence(&[a, b], Some(vec![2.0, 1.0]));
        assert_eq!(normalized_crowd_agreement(&found, &()).unwrap(), [1.0, 0.0]);
        let found = incidence(&[a, b, a], None);
        assert_eq!(normalized_crowd_agreement(&found, &()).unwrap(), [1.0, 0.0, 1.0]);
    }
}
