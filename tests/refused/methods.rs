//! Methods of each kind, over tables of pairs and over many objects.

use consilience::bregman::{Pairs, Pcc};
use consilience::catalogue::{Settings, by_name};
use consilience::completion::{ObservedPairs, RobustCompletion};
use consilience::consensus::Lwea;
use consilience::constrained::Nnc;
use consilience::core::{BaseClusterer, ConsensusFunction, ConstrainedClusterer};
use consilience::crowd::{Answers, CrowdClustering, CrowdMethod, PairAnswer};
use consilience::follow::Updater;
use consilience::generate::{Generator, KMeans, USpec};
use consilience::graph::PairCounts;
use consilience::metric::MetricLearner;
use consilience::ndarray::Array2;
use consilience::report::{Candidate, ClusteringReport};
use consilience::{
    Constraints, Ensemble, Link, MemoryBudget, Microclusters, Pair, Seed, SideInformation,
};

use crate::paths::{Job, bits, cloud, distinct, number, of_labels};

/// Nodes of square tables.
const TABLE: usize = 270;
/// Objects of what grows with them alone.
const LONG: usize = 8_000;
/// Columns or rows of sparse features, a number of each of which is a large request.
const WIDE: usize = 70_000;
const ROWS: usize = 35_000;

pub(crate) fn microclusters() -> Job {
    let ensemble = distinct(70_000, 5);
    Box::new(move || {
        let nodes = Microclusters::of(&ensemble)?;
        Ok(of_labels(nodes.rows()) ^ nodes.n_nodes() as u64)
    })
}

pub(crate) fn pair_counts() -> Job {
    let nodes = Microclusters::of(&distinct(600, 5)).unwrap();
    Box::new(move || {
        let counts = PairCounts::of(&nodes, MemoryBudget::default(), &())?;
        Ok(number(counts.get(1, 2)))
    })
}

/// A method of the catalogue over a table of pairs, some labels in a hundred missing.
pub(crate) fn square(name: &'static str, missing: usize) -> Job {
    method(name, distinct(TABLE, missing))
}

/// A method of the catalogue that keeps a byte for each pair.
pub(crate) fn bytes(name: &'static str) -> Job {
    method(name, distinct(600, 0))
}

/// A method of the catalogue over many objects.
pub(crate) fn long(name: &'static str) -> Job {
    method(name, distinct(LONG, 5))
}

fn method(name: &'static str, ensemble: Ensemble) -> Job {
    Box::new(move || {
        let method = by_name(name)?.build(&Settings::new(6).seed(Seed(1)))?;
        Ok(of_labels(&[method.fit(&ensemble, &())?.output.partition]))
    })
}

/// Sparse rows.
fn sparse_rows(n: usize, d: usize) -> consilience::sprs::CsMat<f64> {
    let mut dice = Seed(5).stream();
    let mut matrix = consilience::sprs::TriMat::new((n, d));
    for i in 0..n {
        (0..6).for_each(|j| matrix.add_triplet(i, (i % 4) * 6 + j, 1.0 + dice.uniform()));
        matrix.add_triplet(i, 100 + dice.below(d - 100), 0.1);
    }
    matrix.to_csr()
}

/// Members over many sparse rows.
pub(crate) fn many_rows(clusterer: impl BaseClusterer + 'static) -> Job {
    let generator = Generator::new(clusterer).members(2).clusters(3..=4);
    let (generator, x) = (generator.seed(Seed(1)), sparse_rows(ROWS, 200));
    Box::new(move || Ok(of_labels(generator.generate(&x)?.members())))
}

/// Members that see all columns of wide rows, or a share of them.
pub(crate) fn wide(clusterer: impl BaseClusterer + 'static, share: f64) -> Job {
    let generator = Generator::new(clusterer).members(2).clusters(3..=4).feature_fraction(share);
    let (generator, x) = (generator.seed(Seed(1)), sparse_rows(60, WIDE));
    Box::new(move || Ok(of_labels(generator.generate(&x)?.members())))
}

/// Wide rows by three known sets, which are united where fewer clusters are asked for.
pub(crate) fn wide_nnc(clusters: usize) -> Job {
    let x = sparse_rows(60, WIDE);
    let mut links = Constraints::new(x.rows()).unwrap();
    (0..3).for_each(|i| links.add(i, i + 4, Link::Must).unwrap());
    let side = SideInformation::from_constraints(&links);
    Box::new(move || Ok(of_labels(&[Nnc::new(clusters).cluster((&x).into(), &side)?.partition])))
}

pub(crate) fn sampled_pcc() -> Job {
    let ensemble = distinct(600, 5);
    Box::new(move || {
        let pairs = Pairs::Sampled { share: 0.2 };
        let pcc = Pcc::new(6).pairs(pairs).seed(Seed(1)).restarts(1).max_iterations(3);
        Ok(bits(pcc.fit(&ensemble, &())?.output.values()))
    })
}

/// Pairs of all objects, some known and some of those wrong.
fn known() -> Vec<(usize, usize, f64)> {
    let mut dice = Seed(5).stream();
    let mut known: Vec<_> = (0..TABLE).map(|i| (i, i, 1.0)).collect();
    for (i, j) in (0..TABLE).flat_map(|i| (0..i).map(move |j| (i, j))) {
        if dice.below(3) == 0 {
            let same = (i % 5 == j % 5) != (dice.below(20) == 0);
            known.push((i, j, f64::from(u8::from(same))));
        }
    }
    known
}

pub(crate) fn completion() -> Job {
    let known = known();
    Box::new(move || {
        let completed = RobustCompletion::new()
            .max_iterations(5)
            .complete(&ObservedPairs::new(TABLE, &known)?)?;
        Ok(bits(&[completed.entry(1, 2), completed.total()]))
    })
}

pub(crate) fn crowd(method: CrowdMethod) -> Job {
    let rows: Vec<PairAnswer> = (known().into_iter().filter(|(i, j, _)| i != j).enumerate())
        .map(|(t, (i, j, same))| PairAnswer { worker: t % 7, i, j, same: same > 0.5 })
        .collect();
    Box::new(move || {
        let answers = Answers::from_pairs(TABLE, &rows)?;
        let crowd = CrowdClustering::new(5).method(method).seed(Seed(1));
        Ok(of_labels(&[crowd.fit(&answers, &())?.output.partition]))
    })
}

pub(crate) fn updater_start() -> Job {
    let ensemble = distinct(3 * LONG, 5);
    Box::new(move || Ok(of_labels(&[Updater::new(ensemble.clone(), 6)?.partition()?])))
}

pub(crate) fn updater_batch() -> Job {
    let updater = Updater::new(distinct(3 * LONG, 5), 6).unwrap();
    Box::new(move || {
        let mut updater = updater.clone();
        let same = (0..60).map(|i| Pair::must_link(i, i + 6));
        let apart = (0..60).map(|i| Pair::cannot_link(i, i + 1));
        updater.update(&same.chain(apart).collect::<Vec<_>>())?;
        Ok(of_labels(&[updater.partition()?]))
    })
}

pub(crate) fn u_spec() -> Job {
    let x = cloud(LONG + LONG / 2);
    Box::new(move || {
        let method = USpec::new().representatives(100);
        Ok(of_labels(&[method.fit(x.view().into(), 3, Seed(1), &())?.output]))
    })
}

pub(crate) fn k_means() -> Job {
    let x = cloud(5 * LONG);
    Box::new(move || {
        let generator = Generator::new(KMeans::new()).members(3).clusters(3..=5).seed(Seed(1));
        Ok(of_labels(generator.generate(&x)?.members()))
    })
}

/// Objects of which some are known to belong together or apart.
fn few_links(objects: usize, links: usize) -> SideInformation {
    let mut pairs = Constraints::new(objects).unwrap();
    for i in 0..links {
        pairs.add(i, i + 3, Link::Must).unwrap();
        pairs.add(i, i + 1, Link::Cannot).unwrap();
    }
    SideInformation::from_constraints(&pairs)
}

/// A method on features, with a few links.
pub(crate) fn constrained(objects: usize, clusterer: impl ConstrainedClusterer + 'static) -> Job {
    let (x, side) = (cloud(objects), few_links(objects, 60));
    Box::new(move || Ok(of_labels(&[clusterer.cluster(x.view().into(), &side)?.partition])))
}

/// A metric of features as many as make its matrix a large table.
pub(crate) fn learned(learner: impl MetricLearner + 'static) -> Job {
    let mut dice = Seed(6).stream();
    let x = Array2::from_shape_fn((TABLE, TABLE), |(i, j)| {
        f64::from(u8::from(i % 3 == j % 3)) + dice.normal()
    });
    let side = few_links(TABLE, 60);
    Box::new(move || Ok(bits(learner.learn(x.view().into(), &side)?.apply(&x)?.iter())))
}

pub(crate) fn report() -> Job {
    let ensemble = distinct(TABLE, 5);
    Box::new(move || {
        let lwea = Candidate::new("lwea", |k| Ok(Box::new(Lwea::new(k))));
        let report = ClusteringReport::new(&ensemble).clusters(6).methods(vec![lwea]);
        Ok(number(report.seed(Seed(1)).run(&())?.html()))
    })
}
