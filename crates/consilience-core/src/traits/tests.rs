use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::{Array2, array};
use sprs::CsMat;

use super::*;
use crate::{
    Accepts, Clusters, Ensemble, ErrorKind, Fit, Memberships, MemoryBudget, Microclusters,
    Observer, Partition, Report, Result, Seed, Status,
};

/// Whole numbers, half of them 0.
fn table(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut s = Seed(seed).stream();
    Array2::from_shape_simple_fn((n, d), || (s.below(10) as f64 - 5.0).max(0.0))
}

#[test]
fn rows_and_columns_of_sparse_features_are_those_of_the_table() {
    let x = table(9, 7, 1);
    let matrix = CsMat::csr_from_dense(x.view(), 0.0);
    // A slice of a larger matrix starts somewhere inside of it.
    for (from, to) in [(0, 9), (3, 8)] {
        let part = x.slice(ndarray::s![from..to, ..]);
        let rows = SparseRows::from(matrix.slice_outer(from..to));
        assert!(rows.check().is_ok());
        assert_eq!((rows.n_rows(), rows.n_columns()), part.dim());
        assert_eq!(rows.n_entries(), part.iter().filter(|v| **v != 0.0).count());
        for i in 0..part.nrows() {
            let (columns, values) = rows.row(i);
            let mut row = vec![0.0; 7];
            columns.iter().zip(values).for_each(|(&j, &v)| row[j] = v);
            assert_eq!(row, part.row(i).to_vec());
        }
        let (chosen, kept) = ([2usize, 0, 2], [5usize, 1, 6]);
        for (some, columns) in [
            (None, None),
            (Some(&chosen[..]), None),
            (None, Some(&kept[..])),
            (Some(&chosen[..]), Some(&kept[..])),
        ] {
            let mut expected = part.to_owned();
            if let Some(some) = some {
                expected = expected.select(ndarray::Axis(0), some);
            }
            if let Some(columns) = columns {
                expected = expected.select(ndarray::Axis(1), columns);
            }
            assert_eq!(rows.select(some, columns).to_dense(), expected, "{some:?} {columns:?}");
        }
    }
}

#[test]
fn features_are_the_same_in_every_form() {
    let x = table(5, 3, 2);
    let narrow = x.mapv(|v| v as f32);
    let (wide_rows, narrow_rows) =
        (CsMat::csr_from_dense(x.view(), 0.0), CsMat::csr_from_dense(narrow.view(), 0.0));
    let all = [
        (Features::from(&x), false),
        (Features::from(&narrow), false),
        (Features::from(&wide_rows), true),
        (Features::from(&narrow_rows), true),
    ];
    for (features, sparse) in all {
        assert_eq!((features.n_objects(), features.n_features()), (5, 3));
        assert_eq!((features.is_sparse(), features.reborrow().is_sparse()), (sparse, sparse));
        assert!(features.check().is_ok());
        for (clusters, good) in [(0, false), (1, true), (5, true), (6, false)] {
            assert_eq!(features.check_clusters(clusters).is_ok(), good, "{clusters}");
        }
        match features.dense() {
            Ok(dense) => {
                assert_eq!((dense.n_objects(), dense.n_features()), (5, 3));
                assert_eq!(dense.to_f64().unwrap(), x);
                assert!(dense.check().is_ok() && dense.check_clusters(5).is_ok());
                assert!(dense.check_clusters(6).is_err());
            }
            Err(error) => {
                assert!(sparse && error.message().contains("(5 x 3)"), "{error}");
            }
        }
    }
}

#[test]
fn numbers_that_are_none_are_named() {
    let mut x = table(4, 3, 3);
    x[[2, 1]] = f64::INFINITY;
    let narrow = x.mapv(|v| v as f32);
    let rows = CsMat::csr_from_dense(x.view(), 0.0);
    for features in [Features::from(&x), Features::from(&narrow), Features::from(&rows)] {
        let error = features.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NonFinite);
        assert!(error.message().contains("inf at row 2, column 1"), "{error}");
    }
    for empty in [Array2::<f64>::zeros((0, 2)), Array2::zeros((2, 0))] {
        assert_eq!(Features::from(&empty).check().unwrap_err().kind(), ErrorKind::Empty);
        let rows: CsMat<f64> = CsMat::zero(empty.dim());
        assert_eq!(Features::from(&rows).check().unwrap_err().kind(), ErrorKind::Empty);
    }
    let by_columns = rows.to_csc();
    assert_eq!(
        Features::from(&by_columns).check().unwrap_err().kind(),
        ErrorKind::InvalidParameter
    );
}

/// Puts node i into cluster `i % k`, or all into the first, and counts how often it was asked.
struct Dealt {
    clusters: Clusters,
    together: bool,
    accepts: Accepts,
    bound: bool,
    asked: AtomicUsize,
}

impl Dealt {
    fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        let (together, bound, asked) = (false, false, AtomicUsize::new(0));
        Dealt { clusters, together, accepts: Accepts::LABELS, bound, asked }
    }

    fn deal(&self, nodes: &Microclusters) -> Vec<usize> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let k = self.clusters.fixed().unwrap_or(2);
        (0..nodes.n_nodes()).map(|i| if self.together { 0 } else { i % k }).collect()
    }
}

impl NodeConsensus for Dealt {
    type Output = Partition;

    fn name(&self) -> &str {
        "dealt"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn is_upper_bound(&self) -> bool {
        self.bound
    }

    fn accepts(&self) -> Accepts {
        self.accepts
    }

    fn solve(&self, nodes: &Microclusters, _: &mut Report, _: &dyn Observer) -> Result<Vec<usize>> {
        Ok(self.deal(nodes))
    }
}

/// The same with memberships that halve each node between its cluster and the next.
struct Halved(Dealt, Option<Vec<f64>>);

impl NodeConsensus for Halved {
    type Output = Memberships;

    fn name(&self) -> &str {
        "halved"
    }

    fn clusters(&self) -> Clusters {
        self.0.clusters
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        _: &mut Report,
        _: &dyn Observer,
    ) -> Result<NodeMemberships> {
        let dealt = self.0.deal(nodes);
        let k = self.0.clusters.fixed().unwrap_or(2);
        let values = Array2::from_shape_fn((dealt.len(), k), |(i, c)| {
            if c == dealt[i] { 0.75 } else { 0.25 / (k - 1) as f64 }
        });
        Ok(NodeMemberships { values, evidence: self.1.clone() })
    }
}

fn ensemble() -> Ensemble {
    let rows = array![[0, 0], [0, 0], [1, 0], [-1, -1], [-1, 1]];
    Ensemble::from_array(rows.view()).unwrap()
}

#[test]
fn objects_get_what_their_nodes_got() {
    let found = Dealt::new(2).fit(&ensemble(), &()).unwrap();
    assert_eq!(found.output.to_signed(), [0, 0, 1, -1, 0]);
    assert_eq!((found.report.microclusters, found.report.clusters_missing), (Some(3), None));
    assert_eq!(found.report.stages[0].0, "microclusters");
    // Five clusters of three nodes: two are missing, and said to be.
    let more = Dealt::new(5).fit(&ensemble(), &()).unwrap().report;
    assert_eq!((more.clusters_missing, more.status), (Some(2), Status::Solved));
    assert!(more.notes[0].ends_with("the ensemble distinguishes no more objects"), "{more:?}");
    // A method that may find fewer by itself is held to what the nodes allow.
    let most = Dealt { bound: true, ..Dealt::new(3) }.fit(&ensemble(), &()).unwrap();
    assert_eq!(most.report.clusters_missing, None);
    for k in [0, 6] {
        let method = Dealt::new(k);
        assert_eq!(method.fit(&ensemble(), &()).unwrap_err().kind(), ErrorKind::InvalidParameter);
        assert_eq!(method.asked.load(Ordering::Relaxed), 0);
    }
    assert_eq!(Dealt::new(2).consensus(&ensemble()).unwrap(), found.output);
}

#[test]
fn clusters_that_a_method_leaves_empty_are_not_laid_to_the_ensemble() {
    // More clusters than there are nodes and fewer: neither is why there is only one.
    for k in [2, 3, 5] {
        let together = || Dealt { together: true, ..Dealt::new(k) };
        let hard = together().fit(&ensemble(), &()).unwrap().report;
        let soft = Halved(together(), None).fit(&ensemble(), &()).unwrap().report;
        assert_eq!((hard.clusters_missing, soft.clusters_missing), (Some(k - 1), Some(k - 1)));
        let told = |why: &str| [format!("1 cluster instead of the {k} asked for: {why}")];
        assert_eq!(hard.notes, told("the method left the others empty"));
        assert_eq!(soft.notes, told("no object is most likely in the others"));
    }
}

#[test]
fn what_a_method_does_not_accept_never_reaches_it() {
    let weighted = ensemble().with_weights(vec![1.0, 2.0]).unwrap();
    let method = Dealt::new(2);
    let error = method.fit(&weighted, &()).unwrap_err();
    assert!(error.message().contains("dealt"), "{error}");
    assert_eq!(method.asked.load(Ordering::Relaxed), 0);
    // Weights of 0 and 1 leave members out, for everybody.
    let chosen = ensemble().with_weights(vec![1.0, 0.0]).unwrap();
    let rest = method.consensus(&ensemble().select(&[0]).unwrap()).unwrap();
    assert_eq!(method.consensus(&chosen).unwrap(), rest);
    let method = Dealt { accepts: Accepts::ALL, ..Dealt::new(2) };
    assert!(method.fit(&weighted, &()).is_ok());
}

#[test]
fn an_ensemble_that_says_nothing_is_not_solved() {
    let silent = Ensemble::from_array(array![[-1], [-1]].view()).unwrap();
    let method = Dealt::new(2);
    assert_eq!(method.consensus(&silent).unwrap().to_signed(), [-1, -1]);
    let soft = Halved(Dealt::new(2), None).consensus(&silent).unwrap();
    assert_eq!(
        (soft.values(), soft.evidence()),
        (array![[0.5, 0.5], [0.5, 0.5]].view(), &[0.0; 2][..])
    );
    let soft = Halved(Dealt::new(Clusters::Auto), None).consensus(&silent).unwrap();
    assert_eq!(soft.values(), array![[1.0], [1.0]].view());
    assert_eq!(method.asked.load(Ordering::Relaxed), 0);
}

#[test]
fn memberships_of_objects_are_those_of_their_nodes() {
    let soft = Halved(Dealt::new(2), None).fit(&ensemble(), &()).unwrap();
    let (a, b, even) = ([0.75, 0.25], [0.25, 0.75], [0.5, 0.5]);
    let expected = Array2::from(vec![a, a, b, even, a]);
    assert_eq!(soft.output.values(), expected.view());
    // The evidence is the number of members that label an object, unless the method knows better.
    assert_eq!(soft.output.evidence(), [2.0, 2.0, 2.0, 0.0, 1.0]);
    let own = Halved(Dealt::new(2), Some(vec![3.0, 0.0, 0.5])).consensus(&ensemble()).unwrap();
    assert_eq!(own.evidence(), [3.0, 3.0, 0.0, 0.0, 0.5]);
    assert_eq!(own.values(), Array2::from(vec![a, a, even, even, a]).view());
    let nodes = Microclusters::of(&ensemble()).unwrap();
    let short = NodeMemberships::from(Array2::from_elem((2, 2), 0.5));
    let error = Memberships::expand(&nodes, Some(short), Some(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
}

#[test]
fn boxes_are_consensus_functions_and_base_clusterers() {
    fn name_of<F: ConsensusFunction<Output = Partition>>(function: F) -> String {
        function.name().to_owned()
    }
    let boxed: Box<dyn ConsensusFunction<Output = Partition>> = Box::new(Dealt::new(2));
    let expected = ConsensusFunction::fit(&Dealt::new(2), &ensemble(), &()).unwrap().output;
    assert_eq!(ConsensusFunction::fit(&boxed, &ensemble(), &()).unwrap().output, expected);
    assert_eq!(name_of(boxed), ConsensusFunction::name(&Dealt::new(2)));

    /// As many clusters as it has bytes.
    struct Bytes(u64);

    impl BaseClusterer for Bytes {
        fn name(&self) -> &'static str {
            "bytes"
        }

        fn fit(
            &self,
            features: Features<'_>,
            _: usize,
            _: Seed,
            _: &dyn Observer,
        ) -> Result<Fit<Partition>> {
            let labels = Partition::from_fn(features.n_objects(), |i| Some(i as u64 % self.0))?;
            Ok(Fit::new(labels, Report::default()))
        }

        fn set_memory_budget(&mut self, budget: MemoryBudget) {
            self.0 = budget.n_bytes();
        }

        fn takes_little_memory(&self) -> bool {
            true
        }
    }

    fn limited<B: BaseClusterer>(mut clusterer: B) -> usize {
        clusterer.set_memory_budget(MemoryBudget::bytes(3));
        assert!(clusterer.takes_little_memory() && clusterer.name() == "bytes");
        let x = table(9, 2, 1);
        let member = clusterer.member((&x).into(), 5, Seed(0), &()).unwrap().output;
        assert_eq!(member, clusterer.cluster((&x).into(), 5, Seed(0)).unwrap().into());
        clusterer.cluster((&x).into(), 5, Seed(0)).unwrap().n_clusters()
    }
    let boxed: Box<dyn BaseClusterer> = Box::new(Bytes(7));
    assert_eq!(limited(boxed), 3);
}
