use consilience_conformance::{planted, small_worlds};
use consilience_core::{
    Clusters, ConsensusFunction, Ensemble, ErrorKind, MemoryBudget, Partition, Seed, Similarity,
};

use super::{ApproximateSimRank, ConnectedTriples, LinkBased, SimRank, reference};
use crate::reference::compare;

/// Every two objects of different microclusters.
fn equal(of: &dyn Similarity, expected: &[Vec<f64>], ensemble: &Ensemble) {
    compare(&of.similarity(ensemble).unwrap(), true, 1e-12, |i, j| expected[i][j]);
}

#[test]
fn similarities_equal_the_papers() {
    let noisy = [(1, 0.0), (2, 0.3), (3, 0.7)].map(|(seed, missing)| {
        planted(Seed(seed), &[12, 9, 5], 4, 0.25, missing).unwrap().ensemble
    });
    for ensemble in small_worlds(4, 2).chain(noisy) {
        let triples = reference::connected_triples(&ensemble, 0.9);
        equal(&ConnectedTriples::new(), &triples, &ensemble);
        equal(
            &ConnectedTriples::new().decay(0.3),
            &reference::connected_triples(&ensemble, 0.3),
            &ensemble,
        );
        equal(
            &ApproximateSimRank::new(),
            &reference::approximate_sim_rank(&ensemble, 0.8),
            &ensemble,
        );
        for rounds in [1, 2, 5] {
            let expected = reference::sim_rank(&ensemble, 0.8, rounds);
            equal(&SimRank::new().iterations(rounds), &expected, &ensemble);
        }
    }
}

#[test]
fn parameters_are_checked() {
    let e = Ensemble::new(vec![Partition::from_labels(&[0, 1, 1]).unwrap()]).unwrap();
    for decay in [-0.1, 1.1, f64::NAN] {
        for method in [LinkBased::wct(2), LinkBased::srs(2), LinkBased::asrs(2)] {
            let error = method.decay(decay).consensus(&e).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        }
    }
    for rounds in [0, 1001] {
        let error = SimRank::new().iterations(rounds).similarity(&e).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    }
    for method in [LinkBased::wct(2), LinkBased::srs(2), LinkBased::asrs(2)] {
        let error = method.memory_budget(MemoryBudget::bytes(8)).consensus(&e).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
}

/// By connected triples objects of two clusters are far from unlike, so that the tree ends low: up
/// to 1 one cluster lives longest.
#[test]
fn lifetimes_by_connected_triples_find_what_was_planted() {
    for sizes in [vec![40, 30, 20], vec![20; 5], vec![50, 50], vec![15; 8]] {
        for noise in [0.05, 0.1, 0.2] {
            let world = planted(Seed(4), &sizes, 20, noise, 0.0).unwrap();
            let found = LinkBased::wct(Clusters::Auto).consensus(&world.ensemble).unwrap();
            assert_eq!(found.n_clusters(), sizes.len(), "{sizes:?}, noise {noise}");
        }
    }
}
