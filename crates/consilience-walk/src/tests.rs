//! Fast equals naive, the two dense solvers agree, and the sparse products keep their bound.

use consilience_conformance::CancelFrom;
use consilience_core::{
    ConsensusFunction, Ensemble, MemoryBudget, Microclusters, Partition, Seed, Similarity,
};
use consilience_graph::{ClusterIncidence, CoAssociation};
use proptest::prelude::*;

use crate::parameters::WalkParameters;
use crate::reference::Reference;
use crate::thin::{self, Effort, squared_norms};
use crate::{
    EliteNeighbours, ProbabilityTrajectories, Pta, Ptgp, PtsSolver, TrajectoryMeasure, Transition,
    Walked, dense,
};

/// Members that agree with planted blocks up to noise; `missing` leaves labels out.
fn planted(
    seed: u64,
    n: usize,
    members: usize,
    blocks: usize,
    noise: f64,
    missing: f64,
) -> Ensemble {
    let mut s = Seed(seed).stream();
    let members = (0..members)
        .map(|_| {
            let k = blocks + s.below(3);
            let labels: Vec<i64> = (0..n)
                .map(|i| {
                    if s.uniform() < missing {
                        -1
                    } else if s.uniform() < noise {
                        s.below(k) as i64
                    } else {
                        (i % blocks) as i64
                    }
                })
                .collect();
            Partition::from_labels(&labels).unwrap()
        })
        .collect();
    Ensemble::new(members).unwrap()
}

fn close(a: f64, b: f64, relative: f64, absolute: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs()) + absolute
}

/// Members of so many clusters that these are walked along, and with coarse ones of which all are
/// compared as bits; several blocks of them.
#[test]
fn elite_links_of_fine_and_coarse_members_equal_the_paper() {
    let n = 600;
    let mut s = Seed(5).stream();
    let mut member = |k: usize| {
        Partition::from_labels(&(0..n).map(|_| s.below(k) as i64).collect::<Vec<_>>()).unwrap()
    };
    let fine = vec![member(500), member(500), member(500)];
    let coarse = fine.iter().cloned().chain((0..17).map(|u| member(2 + u))).collect();
    for (members, k) in [(fine, 2), (coarse, 7)] {
        let e = Ensemble::new(members).unwrap();
        let reference = Reference::new(&e, k, 1);
        let elite = EliteNeighbours::of(&Microclusters::of(&e).unwrap(), k).unwrap();
        assert_eq!(elite.weights().n_rows(), reference.groups.len());
        for (i, row) in reference.elite.rows().into_iter().enumerate() {
            let links = row.iter().enumerate().filter(|(_, w)| **w > 0.0);
            let (columns, weights): (Vec<u32>, Vec<f64>) =
                links.map(|(j, &w)| (j as u32, w)).unzip();
            assert_eq!(elite.weights().row(i), (&columns[..], &weights[..]), "{i}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_stage_equals_the_paper(
        seed in 0u64..10_000, n in 1usize..60, members in 1usize..7, blocks in 1usize..5,
        noise in 0.0f64..1.0, missing in prop::sample::select(vec![0.0, 0.3, 0.9]),
        k in 1usize..6, t in 1usize..7,
    ) {
        let e = planted(seed, n, members, blocks, noise, missing);
        let reference = Reference::new(&e, k, t);
        let m = Microclusters::of(&e).unwrap();
        let nodes = m.n_nodes();
        prop_assert_eq!(nodes, reference.groups.len());
        let elite = EliteNeighbours::of(&m, k).unwrap();
        let walk = Transition::new(&elite, &m);
        prop_assert_eq!(&elite.weights().to_dense().unwrap(), &reference.elite);
        let p = walk.probabilities().to_dense().unwrap();
        prop_assert!(p.iter().zip(&reference.p).all(|(&p, &q)| close(p, q, 1e-14, 0.0)));
        let pts = ProbabilityTrajectories::default().elite_neighbours(k).walk_length(t);
        for (solver, relative, absolute) in
            [(PtsSolver::Products, 1e-12, 0.0), (PtsSolver::Eigenpairs, 1e-9, 1e-9)]
        {
            let pts = pts.solver(solver);
            let graph = pts.similarity(&e).unwrap();
            for i in 0..nodes {
                for j in 0..nodes {
                    let (fast, naive) = (graph.weights()[[i, j]], reference.pts[[i, j]]);
                    let same = close(fast, naive, relative, absolute);
                    prop_assert!(same, "{:?} {} {}: {} {}", solver, i, j, fast, naive);
                }
            }
        }
        // Over the co-association as any similarity, and by another measure.
        let walked = Walked::new(CoAssociation::default(), pts).similarity(&e).unwrap();
        let tanimoto = pts.measure(TrajectoryMeasure::Tanimoto).similarity(&e).unwrap();
        for i in 0..nodes {
            for j in 0..nodes {
                let naive = reference.pts[[i, j]];
                prop_assert!(close(walked.weights()[[i, j]], naive, 1e-9, 1e-9));
                let (u, v) = (reference.trajectories.row(i), reference.trajectories.row(j));
                let (uv, uu, vv) = (u.dot(&v), u.dot(&u), v.dot(&v));
                let naive = if uu > 0.0 && vv > 0.0 {
                    uv / (uu + vv - uv)
                } else {
                    f64::from(u8::from(i == j))
                };
                prop_assert!(close(tanimoto.weights()[[i, j]], naive, 1e-9, 1e-9));
            }
        }
        // The squared norms of the trajectories, walked out exactly.
        let by_themselves = Effort { exact: u64::MAX, ..Effort::default() };
        let in_panels = Effort { exact: 0, whole: u64::MAX, ..Effort::default() };
        for (effort, relative) in [(by_themselves, 1e-12), (in_panels, 1e-5)] {
            let norms = squared_norms(&walk, t, effort, Seed(0), &()).unwrap();
            prop_assert_eq!(norms.error_bound, 0.0);
            for i in 0..nodes {
                let row = reference.trajectories.row(i);
                prop_assert!(close(norms.squares[i], row.dot(&row), relative, 0.0));
            }
        }
    }
}

/// `(uu, vv) > 0` and the measure there; 0 elsewhere, 1 on the diagonal. For either solver.
#[test]
fn measures_count_lengths_and_spare_isolated_microclusters() {
    // The last object is in a cluster of its own throughout.
    let members = [[0, 0, 0, 1, 1, 1, 2], [0, 1, 1, 0, 0, 0, 2], [0, 0, 1, 1, 1, 0, 2]];
    let members = members.iter().map(|l| Partition::from_labels(l).unwrap()).collect();
    let e = Ensemble::new(members).unwrap();
    let reference = Reference::new(&e, 2, 3);
    let n = reference.groups.len();
    let (tanimoto, constant) =
        (TrajectoryMeasure::Tanimoto, TrajectoryMeasure::Custom(|_, _, _| 0.5));
    for solver in [PtsSolver::Products, PtsSolver::Eigenpairs] {
        let pts = ProbabilityTrajectories::default().elite_neighbours(2).walk_length(3);
        let by = |measure| pts.solver(solver).measure(measure).similarity(&e).unwrap();
        let (tanimoto, constant) = (by(tanimoto), by(constant));
        let mut isolated = 0;
        for i in 0..n {
            for j in 0..n {
                let (u, v) = (reference.trajectories.row(i), reference.trajectories.row(j));
                let (uv, uu, vv) = (u.dot(&v), u.dot(&u), v.dot(&v));
                let both = uu > 0.0 && vv > 0.0;
                let alone = f64::from(u8::from(i == j));
                isolated += usize::from(!both);
                let naive = if both { uv / (uu + vv - uv) } else { alone };
                assert!(close(tanimoto.weights()[[i, j]], naive, 1e-9, 1e-9), "{solver:?} {i} {j}");
                assert_eq!(constant.weights()[[i, j]], if both { 0.5 } else { alone });
            }
        }
        assert_eq!(isolated, 2 * n - 1);
    }
}

#[test]
fn the_papers_parameters_have_no_cap() {
    let published = WalkParameters { uncapped: true, ..WalkParameters::default() };
    // USPS and Forest Covertype of the paper.
    for (nodes, expected) in [(2975, 27), (1837, 21), (1763, 20), (3, 1), (4_000_000, 1000)] {
        assert_eq!(published.resolve(nodes), (expected, expected), "{nodes}");
        let capped = expected.min(20);
        assert_eq!(WalkParameters::default().resolve(nodes), (capped, capped), "{nodes}");
    }
    // They reach the method: 1,800 microclusters, 21 neighbours and steps.
    let e = planted(6, 2500, 7, 6, 0.6, 0.0);
    let m = Microclusters::of(&e).unwrap();
    assert!(m.n_nodes() >= 42 * 42, "{}", m.n_nodes());
    let set = (m.n_nodes() as f64).sqrt() as usize / 2;
    // By products with samples, since a dense matrix of so many takes long.
    let thin = Ptgp::new(6).dense_limit(0);
    let set = thin.elite_neighbours(set).walk_length(set).bipartite(&m).unwrap();
    assert_eq!(set, thin.published().bipartite(&m).unwrap());
    assert_ne!(set, thin.bipartite(&m).unwrap());
    // A measure that is no number where it should be one is told with its place.
    let bad = Ptgp::new(6).measure(TrajectoryMeasure::Custom(|_, _, _| f64::NAN));
    assert!(bad.consensus(&planted(1, 40, 5, 3, 0.3, 0.0)).is_err());
}

#[test]
fn long_walks_stay_within_the_bound_they_report() {
    let e = planted(5, 1200, 8, 12, 0.35, 0.0);
    let m = Microclusters::of(&e).unwrap();
    let elite = EliteNeighbours::of(&m, 20).unwrap();
    let walk = Transition::new(&elite, &m);
    let exact = dense::by_products(&walk.probabilities(), 20, &()).unwrap();
    let n = m.n_nodes();
    assert!(n > 500);
    for rank in [1, 32] {
        let effort = Effort { exact: 0, rank, ..Effort::default() };
        let norms = squared_norms(&walk, 20, effort, Seed(3), &()).unwrap();
        assert!(norms.error_bound > 0.0);
        let worst = (0..n)
            .filter(|&i| exact[i * n + i] > 0.0)
            .map(|i| (norms.squares[i] / exact[i * n + i] - 1.0).abs())
            .fold(0.0, f64::max);
        assert!(worst <= norms.error_bound, "rank {rank}: {worst} > {}", norms.error_bound);
        if rank == 32 {
            assert!(norms.error_bound < 0.2, "{}", norms.error_bound);
        }
    }
}

/// Walks that end early are continued by the eigenpairs; every microcluster's similarity to every
/// cluster is that of the whole walks.
#[test]
fn walks_that_end_early_lead_to_the_same_similarities() {
    let e = planted(5, 500, 8, 12, 0.35, 0.0);
    let m = Microclusters::of(&e).unwrap();
    let walk = Transition::new(&EliteNeighbours::of(&m, 20).unwrap(), &m);
    for length in [20, 60] {
        let effort = Effort { exact: 0, ..Effort::default() };
        let norms = squared_norms(&walk, length, effort, Seed(3), &()).unwrap();
        assert!(norms.beyond.is_some_and(|b| b.after < 15));
        let ptgp = Ptgp::new(12).elite_neighbours(20).walk_length(length);
        let dense = ptgp.bipartite(&m).unwrap();
        let incidence = ClusterIncidence::of(&m).unwrap();
        let thin = |effort| {
            let elite = EliteNeighbours::of(&m, 20).unwrap();
            thin::bipartite(&m, &incidence, elite, length, effort, Seed(3), &()).unwrap()
        };
        // In single precision where nothing is sampled.
        let whole = thin(Effort { whole: u64::MAX, ..effort });
        assert_eq!(whole.error_bound, Some(0.0));
        assert!(dense.weights.iter().zip(&whole.weights).all(|(d, w)| close(*d, *w, 1e-4, 1e-6)));
        let thin = thin(effort);
        let bound = thin.error_bound.unwrap();
        assert!(bound < 0.1, "{bound}");
        for (dense, thin) in dense.weights.rows().into_iter().zip(thin.weights.rows()) {
            let most = dense.iter().fold(0.0, |most, &d| f64::max(most, d));
            for (d, t) in dense.iter().zip(thin) {
                assert!((d - t).abs() <= bound * most, "{length}: {d} {t}, bound {bound}");
            }
        }
    }
}

#[test]
fn sparse_products_lead_to_the_same_partition() {
    for (seed, missing) in [(1, 0.0), (2, 0.2)] {
        let e = planted(seed, 700, 8, 5, 0.3, missing);
        let dense = Ptgp::new(5).consensus(&e).unwrap();
        let thin = Ptgp::new(5).dense_limit(0).fit(&e, &()).unwrap();
        assert_eq!(thin.output, dense);
        assert!(thin.report.error_bound.is_some());
    }
}

#[test]
fn sparse_products_have_the_weights_of_the_dense_ones() {
    // More clusters than one panel holds; and two objects that nobody is linked to.
    let many = planted(4, 300, 20, 5, 0.4, 0.1);
    let lonely = |u: usize| {
        let label = |i: usize| if i < 2 { 10 + i } else { (i + i / (3 + u)) % 4 };
        Partition::from_labels(&(0..40).map(label).collect::<Vec<_>>()).unwrap()
    };
    let lonely = Ensemble::new((0..5).map(lonely).collect()).unwrap();
    for (e, isolated) in [(many, 0), (lonely, 2)] {
        let m = Microclusters::of(&e).unwrap();
        let k = 6;
        let walk = Transition::new(&EliteNeighbours::of(&m, k).unwrap(), &m);
        assert_eq!(walk.degree().iter().filter(|&&d| d == 0.0).count(), isolated);
        let method = Ptgp::new(4).elite_neighbours(k).walk_length(5);
        let dense = method.bipartite(&m).unwrap().weights;
        let thin = method.dense_limit(0).bipartite(&m).unwrap().weights;
        assert_eq!(dense.dim(), thin.dim());
        for (d, t) in dense.iter().zip(&thin) {
            // Panels are in single precision.
            assert!(close(*d, *t, 1e-4, 1e-6), "{d} {t}");
        }
    }
}

/// Few microclusters with very many links: walking takes long, though the matrix is small.
#[test]
fn without_being_asked_no_matrix_is_made_that_takes_long() {
    let e = planted(9, 1300, 6, 8, 0.8, 0.0);
    let m = Microclusters::of(&e).unwrap();
    let (n, nnz) = (m.n_nodes(), EliteNeighbours::of(&m, 350).unwrap().weights().nnz());
    let ptgp = Ptgp::new(8).elite_neighbours(350).walk_length(60);
    assert!(n > 900 && 120 * n * nnz > 40_000_000_000, "{n} {nnz}");
    assert!(ptgp.bipartite(&m).unwrap().error_bound.is_some());
    // Of few steps the matrix.
    assert_eq!(ptgp.walk_length(2).bipartite(&m).unwrap().error_bound, None);
}

#[test]
fn links_beyond_the_budget_are_refused_while_they_are_counted() {
    let e = planted(3, 400, 2, 5, 0.5, 0.0);
    let m = Microclusters::of(&e).unwrap();
    let links = EliteNeighbours::of(&m, 5).unwrap().weights().nnz() as u64;
    let within = |bytes| EliteNeighbours::within(&m, 5, MemoryBudget::bytes(bytes), &());
    assert!(within(64 * links).is_ok());
    let error = within(64 * links - 1).unwrap_err();
    assert_eq!(error.kind(), consilience_core::ErrorKind::TooLarge);
    // Those of any similarity as well.
    let graph = CoAssociation::default().similarity(&e).unwrap();
    let links = EliteNeighbours::of_similarity(&graph, 5).unwrap().weights().nnz() as u64;
    let within =
        |bytes| EliteNeighbours::of_similarity_within(&graph, 5, MemoryBudget::bytes(bytes), &());
    assert!(within(64 * links).is_ok());
    let error = within(64 * links - 1).unwrap_err();
    assert_eq!(error.kind(), consilience_core::ErrorKind::TooLarge);
}

/// Whoever does what the error says gets a result.
#[test]
fn a_matrix_that_is_refused_is_not_needed() {
    let e = planted(9, 1300, 6, 8, 0.8, 0.0);
    let budget = MemoryBudget::bytes(12_000_000);
    let pta = Pta::new(8).elite_neighbours(5).walk_length(3).memory_budget(budget);
    let ptgp = Ptgp::new(8).elite_neighbours(5).walk_length(3).memory_budget(budget);
    for error in [pta.consensus(&e).unwrap_err(), ptgp.consensus(&e).unwrap_err()] {
        assert!(error.message().contains("dense_limit 0 needs none"), "{error}");
    }
    assert!(ptgp.dense_limit(0).consensus(&e).is_ok());
}

#[test]
fn walks_out_of_range_are_refused() {
    let e = planted(0, 10, 3, 2, 0.1, 0.0);
    for pts in [
        ProbabilityTrajectories::default().elite_neighbours(0),
        ProbabilityTrajectories::default().walk_length(0),
        ProbabilityTrajectories::default().walk_length(1001),
    ] {
        let error = pts.similarity(&e).unwrap_err();
        assert_eq!(error.kind(), consilience_core::ErrorKind::InvalidParameter);
    }
    // The longest that are promised.
    assert!(ProbabilityTrajectories::default().walk_length(1000).similarity(&e).is_ok());
}

/// Two walks apart: 0-1 and 2-3 are elite neighbours of nobody else. With only K = 1, the graph
/// falls into pieces, and which pieces belong together only the weaker links say.
#[test]
fn pieces_join_by_the_votes_of_the_members() {
    let e = Ensemble::new(
        [
            [0, 0, 1, 1, 2, 2, 3, 3],
            [0, 0, 1, 1, 2, 2, 3, 3],
            [0, 0, 1, 1, 0, 0, 1, 1],
            [0, 1, 2, 3, 4, 5, 6, 7],
        ]
        .iter()
        .map(|l| Partition::from_labels(l).unwrap())
        .collect(),
    )
    .unwrap();
    let found = Pta::new(2).elite_neighbours(1).consensus(&e).unwrap();
    assert_eq!(found.to_signed(), vec![0, 0, 1, 1, 0, 0, 1, 1]);
}

/// Whatever the links are, PTGP makes one of two tables: it asks for them before it looks at pairs
/// of microclusters.
#[test]
fn ptgp_asks_its_budget_before_any_work() {
    let e = planted(3, 600, 8, 6, 0.5, 0.0);
    let nodes = Microclusters::of(&e).unwrap();
    assert!(nodes.n_nodes() > 550);
    let asked = CancelFrom::new(usize::MAX);
    let ptgp = Ptgp::new(6).memory_budget(MemoryBudget::bytes(1_200_000));
    let error = ptgp.bipartite_observed(&nodes, &asked).unwrap_err();
    assert_eq!(error.kind(), consilience_core::ErrorKind::TooLarge);
    assert_eq!(asked.asked(), 0, "{error}");
}
