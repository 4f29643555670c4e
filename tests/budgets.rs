//! What a budget has to be at least, and what is then held at one time: no more than that, but for
//! what goes with tables.

#[allow(dead_code)]
#[path = "refused/allocator.rs"]
mod allocator;

use std::sync::{Mutex, Once, PoisonError};

use allocator::{most_held, not_counted};
use consilience::consensus::{EcpcsHc, EcpcsMc, Sdgca, SimRank};
use consilience::constrained::{CopKMeans, MpckMeans, Nnc, PckMeans, Pmmc};
use consilience::core::{ConsensusFunction, ConstrainedClusterer};
use consilience::crowd::{
    Answers, BlockModel, CrowdClustering, CrowdMethod, PairAnswer, PositionModel,
};
use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::num::eigen::symmetric_eigen;
use consilience::{
    Constraints, Ensemble, ErrorKind, Link, MemoryBudget, Partition, Seed, SideInformation,
    Similarity,
};
use ndarray::Array2;

/// What is not asked for: stacks, lists of a few numbers, and the buffers of matrix products.
const BESIDE: usize = 3 << 20;

/// One test at a time: what is held is counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());
static WORKSPACE: Once = Once::new();

type Run<'a> = &'a dyn Fn(MemoryBudget) -> consilience::Result<()>;

/// Asks for the least budget: each refusal says what is needed. Refusals hold next to nothing, and
/// what runs holds no more than it asked for.
#[track_caller]
fn keeps(name: &str, objects: &Array2<f64>, run: Run<'_>) -> usize {
    // The workspace of a matrix product is as large as the processor's cache is, whatever is
    // multiplied, hardly touched, and kept from then on.
    let small = Array2::eye(128);
    let eigen = || assert!(symmetric_eigen(small.view()).is_some());
    WORKSPACE.call_once(|| not_counted(eigen));
    let table = objects.len() * 8;
    let mut budget = 1;
    for _ in 0..60 {
        let (outcome, held) = most_held(|| run(MemoryBudget::bytes(budget as u64)));
        let Err(error) = outcome else {
            println!("{name}: {budget} asked for, {held} held");
            assert!(held <= budget + budget / 8 + BESIDE, "{name}: {budget} asked, {held} held");
            return budget;
        };
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{name}: {error}");
        assert!(held <= budget + table + BESIDE, "{name}: {held} held for nothing: {error}");
        let words: Vec<&str> = error.message().split(' ').collect();
        let at = words.iter().position(|w| *w == "bytes").expect(name);
        // Some ask a second time, for what they need beside.
        let needed: usize = words[at - 1].parse().expect(name);
        budget = needed.max(budget + budget / 16);
    }
    panic!("{name}: still refused with {budget} bytes");
}

fn cloud(n: usize, d: usize) -> Array2<f64> {
    let mut draw = Seed(3).stream();
    Array2::from_shape_fn((n, d), |(i, j)| {
        draw.normal() + 3.0 * f64::from(u8::from(i % 3 == j % 3))
    })
}

fn labels(n: usize, classes: usize) -> SideInformation {
    let labels: Vec<u64> = (0..n).map(|i| (i % classes) as u64).collect();
    SideInformation::from_labels(&labels).unwrap()
}

fn links(n: usize, count: usize) -> SideInformation {
    let mut links = Constraints::new(n).unwrap();
    for i in 0..count {
        links.add(i, i + 3, Link::Must).unwrap();
        links.add(i, i + 1, Link::Cannot).unwrap();
    }
    SideInformation::from_constraints(&links)
}

#[test]
fn metric_learners_hold_what_they_ask_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (wide, long) = (cloud(60, 500), cloud(6_000, 40));
    let sides = [(&wide, labels(60, 3)), (&wide, links(60, 50)), (&long, labels(6_000, 3))];
    for (x, side) in &sides {
        let learn = |learner: &dyn MetricLearner| learner.learn(x.view().into(), side).map(|_| ());
        let name = |name: &str| format!("{name} on {:?}", x.dim());
        keeps(&name("rca"), x, &|b| learn(&Rca::new().memory_budget(b)));
        keeps(&name("dca"), x, &|b| learn(&Dca::new().memory_budget(b)));
        for diagonal in [false, true] {
            let mmc = Mmc::new().max_iterations(9).diagonal(diagonal);
            keeps(&name("mmc"), x, &|b| learn(&mmc.memory_budget(b)));
        }
        let itml = Itml::new().max_iterations(2);
        keeps(&name("itml"), x, &|b| learn(&itml.memory_budget(b)));
        if x.nrows() == 60 {
            let rsd = RsdFull::new().max_iterations(3);
            keeps(&name("rsd-full"), x, &|b| learn(&rsd.memory_budget(b)));
            keeps(&name("lmnn"), x, &|b| learn(&Lmnn::new().max_iterations(3).memory_budget(b)));
        }
        let rsd = RsdDiagonal::new().max_iterations(3);
        if x.nrows() == 60 {
            keeps(&name("rsd-diagonal"), x, &|b| learn(&rsd.memory_budget(b)));
        }
    }
    // Some 500,000 pairs.
    let (x, side) = (cloud(1_000, 6), labels(1_000, 4));
    let learn = |learner: &dyn MetricLearner| learner.learn(x.view().into(), &side).map(|_| ());
    let diagonal = RsdDiagonal::new().max_iterations(3);
    keeps("rsd-diagonal of many pairs", &x, &|b| learn(&diagonal.memory_budget(b)));
    let full = RsdFull::new().max_iterations(3);
    keeps("rsd-full of many pairs", &x, &|b| learn(&full.memory_budget(b)));
    keeps("lmnn", &x, &|b| learn(&Lmnn::new().max_iterations(2).memory_budget(b)));
}

#[test]
fn constrained_clusterers_hold_what_they_ask_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let many = cloud(3_000, 20);
    let classes = labels(3_000, 600);
    let run = |method: &dyn ConstrainedClusterer, x: &Array2<f64>, side: &SideInformation| {
        method.cluster(x.view().into(), side).map(|_| ())
    };
    let cop = CopKMeans::new(600).max_iterations(2);
    keeps("cop-kmeans", &many, &|b| run(&cop.memory_budget(b), &many, &classes));
    let pck = PckMeans::new(600).max_iterations(1);
    keeps("pck-means", &many, &|b| run(&pck.memory_budget(b), &many, &classes));
    let nnc = Nnc::new(600);
    keeps("nnc", &many, &|b| run(&nnc.memory_budget(b), &many, &classes));
    let (few, some) = (links(900, 600), cloud(900, 150));
    keeps("nnc of links", &some, &|b| run(&Nnc::new(9).memory_budget(b), &some, &few));
    for (each, full) in [(false, false), (true, false), (false, true), (true, true)] {
        let mpck = MpckMeans::new(4).per_cluster(each).full(full).max_iterations(2);
        keeps("mpck-means", &some, &|b| run(&mpck.memory_budget(b), &some, &few));
    }
    let pmmc = Pmmc::new(4).max_iterations(2);
    keeps("pmmc", &some, &|b| run(&pmmc.memory_budget(b), &some, &few));
}

/// A clusterer with this budget.
type Made = fn(MemoryBudget) -> Box<dyn ConstrainedClusterer>;

/// Of five objects, whatever their features: once squares of the features were made, 128 MB and
/// more here.
#[test]
fn few_objects_of_many_features_need_no_squares_of_the_features() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (x, d) = (cloud(5, 4_000), 4_000);
    let mut pairs = Constraints::new(5).unwrap();
    pairs.add(0, 3, Link::Must).unwrap();
    pairs.add(1, 3, Link::Cannot).unwrap();
    let side = SideInformation::from_constraints(&pairs);
    let methods: [(&str, Made); 2] = [
        ("mpck-means", |b| Box::new(MpckMeans::new(2).memory_budget(b))),
        ("pmmc", |b| Box::new(Pmmc::new(2).memory_budget(b))),
    ];
    for (name, method) in methods {
        let run = |b| method(b).cluster(x.view().into(), &side).map(|_| ());
        assert!(keeps(name, &x, &run) < d * d, "{name}");
    }
}

/// Two threads: each holds what a product or a start takes beside the tables.
fn on_two_threads(run: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap().install(run);
}

/// 600 clusters of few microclusters, almost all of them with objects in common.
#[test]
fn walks_between_clusters_hold_what_they_ask_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut draw = Seed(6).stream();
    let labels = Array2::from_shape_fn((300, 60), |_| draw.below(10) as u32);
    let (ensemble, none) = (Ensemble::from_array(labels.view()).unwrap(), Array2::zeros((0, 0)));
    let run =
        |method: &dyn ConsensusFunction<Output = Partition>| method.fit(&ensemble, &()).map(|_| ());
    on_two_threads(|| {
        keeps("ecpcs-hc", &none, &|b| run(&EcpcsHc::new(4).memory_budget(b)));
        keeps("ecpcs-mc", &none, &|b| run(&EcpcsMc::new(4).memory_budget(b)));
        keeps("sdgca", &none, &|b| run(&Sdgca::new(4).memory_budget(b)));
        keeps("sim-rank", &none, &|b| {
            SimRank::new().memory_budget(b).similarity(&ensemble).map(|_| ())
        });
    });
}

/// Every pair of 300 objects is answered once: pair counts and the matrices made of the answers are
/// what takes memory.
#[test]
fn crowds_hold_what_they_ask_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut draw = Seed(7).stream();
    let said = |(i, j): (usize, usize)| {
        let right = draw.uniform() < 0.8;
        PairAnswer { worker: (i + j) % 30, i, j, same: (i % 2 == j % 2) == right }
    };
    let pairs = (0..300).flat_map(|j| (0..j).map(move |i| (i, j)));
    let rows: Vec<PairAnswer> = pairs.map(said).collect();
    let (answers, none) = (Answers::from_pairs(300, &rows).unwrap(), Array2::zeros((0, 0)));
    let blocks = BlockModel::new(2).restarts(4).max_iterations(5);
    let crowd = CrowdClustering::new(2)
        .block_model(blocks)
        .position_model(PositionModel::new(2).restarts(3).max_iterations(2));
    on_two_threads(|| {
        for method in [
            CrowdMethod::Block,
            CrowdMethod::BlockByWorker,
            CrowdMethod::LatentClass,
            CrowdMethod::Bayesian,
            CrowdMethod::LogOdds,
        ] {
            let run = |b| crowd.method(method).memory_budget(b).fit(&answers, &()).map(|_| ());
            keeps(&format!("{method:?}"), &none, &run);
        }
    });
}
