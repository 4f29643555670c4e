//! Code of a user's own behind every trait that answers for another number of things than it was
//! asked about, or with numbers that are none: one error that names it, no panic, and nothing of a
//! wrong length handed on.

use std::fmt::Debug;

use consilience::catalogue::AnyConsensus;
use consilience::constrained::{PckMeans, UnderMetric};
use consilience::core::{Assign, FeatureMap, NodeConsensus, NodeMemberships};
use consilience::follow::MemberGrowth;
use consilience::generate::{Generator, KMeans};
use consilience::graph::{CoAssociation, Linked, Partitioned, SpectralCut};
use consilience::metric::LinearMap;
use consilience::model::{ConsensusClustering, LinkedClustering};
use consilience::ndarray::Array2;
use consilience::prelude::*;
use consilience::report::{Candidate, ClusteringReport};
use consilience::walk::{ProbabilityTrajectories, Walked};
use consilience::{
    Clustering, Clusters, Constraints, Dendrogram, Ensemble, Error, ErrorKind, Features, Fit,
    Linkage, Memberships, Microclusters, Observer, Partition, Report, Result, Seed,
    SideInformation, SimilarityGraph,
};

/// One too few, one too many.
const OFF: [isize; 2] = [-1, 1];

/// Answers for so many more than it was asked about.
#[derive(Clone, Copy, Debug, Default)]
struct Liar {
    off: isize,
    lie: Lie,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Lie {
    #[default]
    Length,
    Width,
    NaN,
    Evidence(f64),
    EvidenceLength,
    Nodes,
    Reversed,
    Renumbered,
}

impl Liar {
    fn of(lie: Lie) -> Self {
        Liar { off: 0, lie }
    }

    fn length(self, n: usize) -> usize {
        n.checked_add_signed(self.off).unwrap()
    }

    fn halves(self, n: usize) -> Result<Partition> {
        Partition::from_fn(self.length(n), |i| Some(i as u64 % 2))
    }
}

fn refused<T: Debug>(found: Result<T>, kind: ErrorKind, says: &str) {
    let error = found.unwrap_err();
    assert!(error.kind() == kind && error.message().contains(says), "{says}: {error}");
}

fn short_or_long<T: Debug>(says: &str, run: impl Fn(Liar) -> Result<T>) {
    for off in OFF {
        refused(run(Liar { off, ..Liar::default() }), ErrorKind::ShapeMismatch, says);
    }
}

fn table(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 3), |(i, j)| (i / (n / 2) * 8) as f64 + (i * (j + 3) % 7) as f64)
}

fn ensemble() -> Ensemble {
    let label = |(i, u): (usize, usize)| if u == 3 { i % 2 } else { i / (4 + u) };
    Ensemble::from_array(Array2::from_shape_fn((12, 4), label).view()).unwrap()
}

impl BaseClusterer for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn fit(&self, x: Features<'_>, _: usize, _: Seed, _: &dyn Observer) -> Result<Fit<Partition>> {
        Ok(Fit::new(self.halves(x.n_objects())?, Report::default()))
    }
}

#[test]
fn base_clusterers() {
    let x = table(40);
    let colours = Ensemble::new(vec![Liar::default().halves(40).unwrap()]).unwrap();
    short_or_long("liar returned", |liar| Generator::new(liar).members(3).generate(&x));
    short_or_long("liar returned", |liar| {
        Generator::new(liar).members(3).object_fraction(0.5).generate(&x)
    });
    short_or_long("liar returned", |liar| {
        Generator::new(liar).members(4).fit_mixed(Some((&x).into()), &colours, &())
    });
    short_or_long("liar returned", |liar| {
        ConsensusClustering::new(2).generator(Generator::new(liar).members(3)).cluster(&x)
    });
    let links = Constraints::new(40).unwrap();
    let growths: [fn(Liar) -> MemberGrowth; 2] =
        [MemberGrowth::new, |liar| MemberGrowth::new(liar).sample(20)];
    for growth in growths {
        short_or_long("liar returned", |liar| {
            growth(liar).members(2).clusters(2..=2).grow((&x).into(), 2, &links, &())
        });
    }
    assert!(Generator::new(Liar::default()).members(3).generate(&x).is_ok());
}

/// The same as a consensus function, hard or soft.
struct Function<T>(Liar, fn(usize) -> Result<T>);

impl<T> ConsensusFunction for Function<T> {
    type Output = T;

    fn name(&self) -> &str {
        "own-function"
    }

    fn fit(&self, ensemble: &Ensemble, _: &dyn Observer) -> Result<Fit<T>> {
        Ok(Fit::new((self.1)(self.0.length(ensemble.n_objects()))?, Report::default()))
    }
}

fn hard(liar: Liar) -> Box<dyn ConsensusFunction<Output = Partition>> {
    Box::new(Function(liar, |n| Partition::from_fn(n, |i| Some(i as u64 % 2))))
}

fn soft(liar: Liar) -> Box<dyn ConsensusFunction<Output = Memberships>> {
    Box::new(Function(liar, |n| Memberships::new(Array2::from_elem((n, 2), 0.5))))
}

#[test]
fn consensus_functions() {
    let (x, e) = (table(40), ensemble());
    short_or_long("own-function returned", |liar| {
        ConsensusClustering::boxed(hard(liar)).cluster(&x)
    });
    short_or_long("own-function returned", |liar| AnyConsensus::Hard(hard(liar)).fit(&e, &()));
    short_or_long("own-function returned", |liar| AnyConsensus::Soft(soft(liar)).fit(&e, &()));
    let candidate = |liar| Candidate::new("mine", move |_| Ok(hard(liar)));
    let run = |methods| ClusteringReport::new(&e).clusters(2).methods(methods).run(&());
    short_or_long("mine returned", |liar| run(vec![candidate(liar)]));
    for off in OFF {
        // Not the first: the page says why it is left out.
        let liar = Liar { off, ..Liar::default() };
        let found = run(vec![candidate(Liar::default()), candidate(liar)]).unwrap();
        let failure = found.methods.candidates[1].failure.as_deref().unwrap_or_default();
        assert!(failure.starts_with("mine returned"), "{failure}");
    }
}

/// The same as what is cut or looked up by node.
struct Nodes<T>(Liar, std::marker::PhantomData<fn() -> T>);

fn nodes<T>(liar: Liar) -> Nodes<T> {
    Nodes(liar, std::marker::PhantomData)
}

macro_rules! by_node {
    ($output:ty, $nodes:ty, $solve:expr) => {
        impl NodeConsensus for Nodes<$output> {
            type Output = $output;

            fn name(&self) -> &str {
                "own-nodes"
            }

            fn clusters(&self) -> Clusters {
                Clusters::Auto
            }

            fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
                let n = ensemble.n_objects() - usize::from(self.0.lie == Lie::Nodes);
                let some: Vec<usize> = (0..n).collect();
                Microclusters::observed(&ensemble.select_objects(&some)?, observer)
            }

            fn solve(
                &self,
                nodes: &Microclusters,
                _: &mut Report,
                _: &dyn Observer,
            ) -> Result<$nodes> {
                let solve: fn(Liar, usize) -> $nodes = $solve;
                Ok(solve(self.0, nodes.n_nodes()))
            }
        }
    };
}

by_node!(Partition, Vec<usize>, |liar, n| vec![0; liar.length(n)]);
by_node!(Memberships, NodeMemberships, |liar, n| {
    let value = if liar.lie == Lie::NaN { f64::NAN } else { 0.5 };
    let (rows, known) = match liar.lie {
        Lie::EvidenceLength => (n, liar.length(n)),
        _ => (liar.length(n), n),
    };
    let mut evidence = vec![1.0; known];
    if let Lie::Evidence(bad) = liar.lie {
        evidence[1] = bad;
    }
    let columns = if liar.lie == Lie::Width { 0 } else { 2 };
    NodeMemberships { values: Array2::from_elem((rows, columns), value), evidence: Some(evidence) }
});

#[test]
fn node_consensus() {
    let e = ensemble();
    short_or_long("own-nodes: clusters for", |liar| nodes::<Partition>(liar).consensus(&e));
    short_or_long("own-nodes: memberships of", |liar| nodes::<Memberships>(liar).consensus(&e));
    short_or_long("own-nodes: evidence of", |liar| {
        nodes::<Memberships>(Liar { lie: Lie::EvidenceLength, ..liar }).consensus(&e)
    });
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let found = nodes::<Memberships>(Liar::of(Lie::Evidence(bad))).consensus(&e);
        refused(found, ErrorKind::InvalidParameter, &format!("evidence {bad} of node 1"));
    }
    let none = nodes::<Memberships>(Liar::of(Lie::NaN)).consensus(&e);
    refused(none, ErrorKind::NonFinite, "own-nodes: memberships: NaN at row 0");
    let none = nodes::<Memberships>(Liar::of(Lie::Width)).consensus(&e);
    refused(none, ErrorKind::Empty, "in 0 clusters");
    let (shape, others) = (ErrorKind::ShapeMismatch, Liar::of(Lie::Nodes));
    refused(nodes::<Partition>(others).consensus(&e), shape, "own-nodes returned 11 objects");
    refused(nodes::<Memberships>(others).consensus(&e), shape, "own-nodes returned 11 objects");
    assert!(nodes::<Memberships>(Liar::default()).consensus(&e).is_ok());
}

/// Other nodes than those that are given: fewer, more, or of other objects.
fn other_nodes(liar: Liar, given: &Microclusters) -> Result<Microclusters> {
    let rows = given.to_ensemble()?;
    let n = rows.n_objects();
    let some: Vec<usize> = match liar {
        Liar { lie: Lie::Renumbered, .. } => {
            let reversed: Vec<usize> = (0..given.grouping().n_objects()).rev().collect();
            return Microclusters::of(&ensemble().select_objects(&reversed)?);
        }
        Liar { off: 0, .. } => return Ok(given.clone()),
        _ => (0..liar.length(n)).map(|i| i % n).collect(),
    };
    Microclusters::each_object(&rows.select_objects(&some)?)
}

impl Similarity for Liar {
    fn name(&self) -> &str {
        "own-similarity"
    }

    fn between(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        CoAssociation::default().between(&other_nodes(*self, nodes)?, report, observer)
    }
}

/// The same with the tree in place of the matrix.
struct Tree(Liar);

impl Tree {
    fn grown(&self, nodes: &Microclusters) -> Result<Dendrogram> {
        let n = self.0.length(nodes.n_nodes());
        let merges = (1..n).map(|i| (i - 1, i, i as f64)).collect();
        Ok(Dendrogram::from_merges(n, merges)?.map_heights(|h| match self.0.lie {
            Lie::NaN => f64::NAN,
            Lie::Reversed => -h,
            _ => h,
        }))
    }
}

impl Similarity for Tree {
    fn name(&self) -> &str {
        "own-similarity"
    }

    fn between(
        &self,
        _: &Microclusters,
        _: &mut Report,
        _: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        Err(Error::empty("no matrix"))
    }

    fn linkage_tree(
        &self,
        _: Linkage,
        nodes: &Microclusters,
        _: &mut Report,
        _: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        self.grown(nodes).map(Some)
    }
}

impl Hierarchy for Tree {
    fn tree(&self, nodes: &Microclusters, _: &mut Report, _: &dyn Observer) -> Result<Dendrogram> {
        self.grown(nodes)
    }
}

#[test]
fn similarities_and_partitioners() {
    let e = ensemble();
    let walked = |liar| Walked::new(liar, ProbabilityTrajectories::default());
    let says = "own-similarity returned";
    short_or_long(says, |liar| liar.similarity(&e));
    short_or_long(says, |liar| Linked::new(liar, 2).consensus(&e));
    short_or_long(says, |liar| Linked::new(liar, 2).dendrogram(&e, &()));
    short_or_long(says, |liar| Linked::new(walked(liar), 2).consensus(&e));
    short_or_long(says, |liar| Partitioned::new(liar, SpectralCut::new(2)).consensus(&e));
    let (others, invalid) = (Liar::of(Lie::Renumbered), ErrorKind::InvalidParameter);
    refused(Linked::new(others, 2).consensus(&e), invalid, says);
    refused(others.similarity(&e), invalid, says);
    assert!(Linked::new(Liar::default(), 2).consensus(&e).is_ok());
    short_or_long("the partitioner of eac-cut returned", |liar| {
        Partitioned::new(CoAssociation::default(), liar).consensus(&e)
    });
}

impl GraphPartitioner for Liar {
    fn fit(&self, graph: SimilarityGraph, _: &dyn Observer) -> Result<Fit<Partition>> {
        Ok(Fit::new(self.halves(graph.grouping().n_objects())?, Report::default()))
    }
}

#[test]
fn trees() {
    let e = ensemble();
    let linked = |liar| Linked::new(Tree(liar), 2);
    short_or_long("own-similarity returned", |liar| linked(liar).consensus(&e));
    short_or_long("own-similarity returned", |liar| linked(liar).dendrogram(&e, &()));
    short_or_long("own-similarity returned", |liar| {
        linked(liar).linkage(Linkage::Ward).consensus(&e)
    });
    short_or_long("leaves of a tree", |liar| Tree(liar).dendrogram(&e, &()));
    for (lie, kind) in
        [(Lie::NaN, ErrorKind::NonFinite), (Lie::Reversed, ErrorKind::InvalidParameter)]
    {
        let liar = Liar::of(lie);
        refused(linked(liar).consensus(&e), kind, "own-similarity");
        refused(linked(liar).dendrogram(&e, &()), kind, "own-similarity");
        refused(Tree(liar).dendrogram(&e, &()), kind, "the tree of the hierarchy");
    }
    assert!(linked(Liar::default()).consensus(&e).is_ok());
    for off in OFF {
        let liar = Liar { off, ..Liar::default() };
        let mine = Candidate::new("mine", |_| Ok(hard(Liar::default())))
            .tree(move |_| Ok(Box::new(Unchecked(liar))));
        let found = ClusteringReport::new(&e).clusters(2).methods(vec![mine]).run(&()).unwrap();
        let notes = &found.methods.candidates[0].notes;
        assert!(found.tree.is_none(), "{off}");
        assert!(notes[0].starts_with("its tree is left out: mine returned"), "{notes:?}");
    }
}

/// A tree of one's own with microclusters of one's own.
struct Unchecked(Liar);

impl Hierarchy for Unchecked {
    fn tree(&self, nodes: &Microclusters, _: &mut Report, _: &dyn Observer) -> Result<Dendrogram> {
        Tree(self.0).grown(nodes)
    }

    fn dendrogram(
        &self,
        ensemble: &Ensemble,
        _: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        let nodes = Microclusters::of(ensemble)?;
        let tree = Tree(self.0).grown(&nodes)?;
        Ok((nodes, tree))
    }
}

impl Assign for Liar {
    fn n_features(&self) -> usize {
        3
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        Ok(vec![0; self.length(features.n_objects())])
    }
}

impl FeatureMap for Liar {
    fn n_features(&self) -> usize {
        3
    }

    fn n_outputs(&self) -> usize {
        3
    }

    fn apply(&self, features: Features<'_>) -> Result<Array2<f64>> {
        let width = if self.lie == Lie::Width { self.length(3) } else { 3 };
        let rows = if self.lie == Lie::Width { 0 } else { self.off };
        let value = if self.lie == Lie::NaN { f64::NAN } else { 1.0 };
        let rows = features.n_objects().checked_add_signed(rows).unwrap();
        Ok(Array2::from_elem((rows, width), value))
    }
}

impl ConstrainedClusterer for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn fit(
        &self,
        features: Features<'_>,
        _: &SideInformation,
        _: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let labels: Vec<u32> =
            (0..self.length(features.n_objects())).map(|i| i as u32 % 2).collect();
        Ok(Fit::new(Clustering::new(&labels, 2, Liar::default())?, Report::default()))
    }
}

impl MetricLearner for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn fit(
        &self,
        features: Features<'_>,
        _: &SideInformation,
        _: &dyn Observer,
    ) -> Result<Fit<LinearMap>> {
        let map = LinearMap::identity(self.length(features.n_features()))?;
        Ok(Fit::new(map, Report::default()))
    }
}

#[test]
fn clusterings_of_new_objects() {
    let x = table(6);
    let found = |assigner: Liar| Clustering::new(&[0, 1, 1, 0, 0, 1], 2, assigner).unwrap();
    short_or_long("the assigner returned", |liar| found(liar).assign(&x));
    short_or_long("the assigner returned", |liar| found(liar).predict(&x));
    let behind = |map: Liar| found(Liar::default()).behind(map).unwrap();
    short_or_long("the map returned", |liar| behind(liar).assign(&x));
    short_or_long("columns", |liar| behind(Liar { lie: Lie::Width, ..liar }).assign(&x));
    refused(behind(Liar::of(Lie::NaN)).assign(&x), ErrorKind::NonFinite, "NaN at row 0");
    // The assigner behind a map is asked about as many rows as the map was.
    short_or_long("the assigner returned", |liar| found(liar).behind(Liar::default())?.assign(&x));
    assert_eq!(behind(Liar::default()).assign(&x).unwrap(), [0; 6]);
    let many = Clustering::new(&[0, 1], usize::MAX, Liar::default());
    refused(many, ErrorKind::TooLarge, "");
}

#[test]
fn clusterers_and_metrics_under_links() {
    let x = table(40);
    let labels: Vec<i64> = (0..40).map(|i| if i % 3 == 0 { i / 20 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let linked = |liar| LinkedClustering::new(2).only(&[]).candidate(liar);
    short_or_long("liar returned", |liar| linked(liar).fit_by("liar", &x, &side, &()));
    for off in OFF {
        let liar = Liar { off, ..Liar::default() };
        let found = linked(liar).fit_judged(&x, &side, &()).unwrap().output;
        let reason = found.judgement.candidates[1].left_out.as_deref().unwrap_or_default();
        assert!(reason.starts_with("liar returned"), "{reason}");
    }
    short_or_long("liar returned", |liar| {
        UnderMetric::new(Liar::default(), liar).cluster((&x).into(), &side)
    });
    short_or_long("liar returned", |liar| {
        UnderMetric::new(liar, PckMeans::new(2)).cluster((&x).into(), &side)
    });
    let links = Constraints::new(40).unwrap();
    short_or_long("liar returned", |liar| {
        MemberGrowth::new(KMeans::new()).learner(liar).grow((&x).into(), 2, &links, &())
    });
}

#[test]
fn what_holds_code_of_ones_own_can_be_debugged() {
    let e = ensemble();
    let mine = || Candidate::new("mine", |_| Ok(hard(Liar::default())));
    let report = ClusteringReport::new(&e).methods(vec![mine()]);
    let growth = MemberGrowth::new(Liar::default());
    let linked = LinkedClustering::new(2).candidate(Liar::default());
    for (shown, names) in [
        (format!("{:?}", mine()), "mine"),
        (format!("{report:?}"), "mine"),
        (format!("{growth:?}"), "liar"),
        (format!("{linked:?}"), "liar"),
        (format!("{:?}", AnyConsensus::Hard(hard(Liar::default()))), "own-function"),
        (format!("{:?}", AnyConsensus::Soft(soft(Liar::default()))), "own-function"),
    ] {
        assert!(shown.contains(names), "{shown}");
    }
}
