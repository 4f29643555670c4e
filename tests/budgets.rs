//! What a budget has to be at least, and what is then held at one time: no more than that, but for
//! what goes with tables, and no small part of it.

#[allow(dead_code)]
#[path = "refused/allocator.rs"]
mod allocator;

use std::sync::{Mutex, Once, PoisonError};

use allocator::{most_held, not_counted};
use consilience::bregman::{Pairs, Pcc};
use consilience::consensus::{
    Cspa, EcpcsHc, EcpcsMc, EvidenceAccumulation as Eac, GpMgla, Hbgf, Lwea, Lwgp, Mcla, Sdgca,
    SimRank, USenc, Weac,
};
use consilience::constrained::{CopKMeans, MpckMeans, Nnc, PckMeans, Pmmc};
use consilience::core::{ConsensusFunction, ConstrainedClusterer};
use consilience::crowd::{
    Answers, BlockModel, CrowdClustering, CrowdMethod, GroupAnswer, PairAnswer, PositionModel,
};
use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::num::eigen::symmetric_eigen;
use consilience::trust::Recommended;
use consilience::walk::{Diffusion, Pta, Ptgp};
use consilience::{
    Clusters, Constraints, Ensemble, ErrorKind, Link, MemoryBudget, Partition, Seed,
    SideInformation, Similarity,
};
use ndarray::Array2;

/// What is not asked for: stacks, lists of a few numbers, and the buffers of matrix products.
const BESIDE: usize = 3 << 20;

/// How many times what is held may be asked for: of some tables nobody knows how full they will be.
const AT_MOST: usize = 3;

/// One test at a time: what is held is counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());
static WORKSPACE: Once = Once::new();

type Run<'a> = &'a dyn Fn(MemoryBudget) -> consilience::Result<()>;

/// Asks for the least budget: each refusal says what is needed. Refusals hold next to nothing, and
/// what runs holds no more than it asked for, and not far less.
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
            assert!(budget <= AT_MOST * held + BESIDE, "{name}: {budget} asked, {held} held");
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

/// Of five objects, whatever their features: once squares of the features were made, 8 MB and more
/// here.
#[test]
fn few_objects_of_many_features_need_no_squares_of_the_features() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (x, d) = (cloud(5, 700), 700);
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
    on_threads(2, run);
}

fn on_threads(threads: usize, run: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run);
}

/// A consensus function with this budget.
type Method = fn(MemoryBudget) -> Box<dyn ConsensusFunction<Output = Partition>>;

/// Some 1,200 microclusters of few clusters: what is held of pairs of these is the most.
#[test]
fn pairs_of_microclusters_hold_what_they_ask_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let none = Array2::zeros((0, 0));
    let table: [(&str, Method); 10] = [
        ("eac", |b| Box::new(Eac::new(4).memory_budget(b))),
        ("weac", |b| Box::new(Weac::new(4).memory_budget(b))),
        ("lwea", |b| Box::new(Lwea::new(4).memory_budget(b))),
        ("cspa", |b| Box::new(Cspa::new(4).memory_budget(b))),
        ("pta", |b| Box::new(Pta::new(4).memory_budget(b))),
        ("ptgp", |b| Box::new(Ptgp::new(4).memory_budget(b))),
        ("ecpcs-hc", |b| Box::new(EcpcsHc::new(4).memory_budget(b))),
        ("diffusion", |b| Box::new(Diffusion::new(4).memory_budget(b))),
        ("auto", |b| Box::new(Recommended::new(4).memory_budget(b))),
        ("auto auto", |b| Box::new(Recommended::new(Clusters::Auto).memory_budget(b))),
    ];
    on_two_threads(|| {
        for missing in [0.0, 0.1] {
            let mut draw = Seed(8).stream();
            let label = |_| if draw.uniform() < missing { -1 } else { draw.below(5) as i32 };
            let labels = Array2::from_shape_fn((1_200, 15), label);
            let ensemble = Ensemble::from_array(labels.view()).unwrap();
            for (name, method) in table {
                let name = format!("{name}, {missing} missing");
                keeps(&name, &none, &|b| method(b).fit(&ensemble, &()).map(|_| ()));
            }
            for pairs in [Pairs::All, Pairs::Sampled { share: 0.2 }] {
                let pcc = Pcc::new(6).pairs(pairs).max_iterations(2);
                let name = format!("pcc of {pairs:?}, {missing} missing");
                keeps(&name, &none, &|b| {
                    pcc.clone().memory_budget(b).fit(&ensemble, &()).map(|_| ())
                });
            }
        }
    });
}

/// Objects enough for one pass over them.
#[test]
fn a_pass_over_many_objects_holds_what_it_asks_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut draw = Seed(9).stream();
    let labels = Array2::from_shape_fn((140_000, 20), |_| draw.below(40) as u32);
    let (ensemble, none) = (Ensemble::from_array(labels.view()).unwrap(), Array2::zeros((0, 0)));
    on_two_threads(|| {
        keeps("usenc", &none, &|b| {
            USenc::new(8).restarts(1).memory_budget(b).fit(&ensemble, &()).map(|_| ())
        });
        keeps("usenc of many", &none, &|b| {
            USenc::new(60).restarts(1).memory_budget(b).fit(&ensemble, &()).map(|_| ())
        });
    });
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
        let table: [(&str, Method); 11] = [
            ("diffusion", |b| Box::new(Diffusion::new(4).memory_budget(b))),
            ("diffusion auto", |b| Box::new(Diffusion::new(Clusters::Auto).memory_budget(b))),
            ("diffusion of many", |b| Box::new(Diffusion::new(60).memory_budget(b))),
            ("lwgp", |b| Box::new(Lwgp::new(4).memory_budget(b))),
            ("hbgf", |b| Box::new(Hbgf::new(4).memory_budget(b))),
            ("gp-mgla", |b| Box::new(GpMgla::new(4).memory_budget(b))),
            ("gp-mgla of many", |b| Box::new(GpMgla::new(150).memory_budget(b))),
            ("ecpcs-mc of many", |b| Box::new(EcpcsMc::new(150).memory_budget(b))),
            ("mcla", |b| Box::new(Mcla::new(4).memory_budget(b))),
            ("lwea", |b| Box::new(Lwea::new(4).memory_budget(b))),
            ("auto", |b| Box::new(Recommended::new(4).memory_budget(b))),
        ];
        for (name, method) in table {
            keeps(name, &none, &|b| run(&*method(b)));
        }
        keeps("sim-rank", &none, &|b| {
            SimRank::new().memory_budget(b).similarity(&ensemble).map(|_| ())
        });
    });
}

/// Every pair of so many objects is answered once.
fn judged(objects: usize) -> Answers {
    let mut draw = Seed(7).stream();
    let said = |(i, j): (usize, usize)| {
        let right = draw.uniform() < 0.8;
        PairAnswer { worker: (i + j) % 30, i, j, same: (i % 2 == j % 2) == right }
    };
    let pairs = (0..objects).flat_map(|j| (0..j).map(move |i| (i, j)));
    let rows: Vec<PairAnswer> = pairs.map(said).collect();
    Answers::from_pairs(objects, &rows).unwrap()
}

/// Pair counts and the matrices made of the answers are what takes memory.
#[test]
fn crowds_hold_what_they_ask_for() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (answers, none) = (judged(240), Array2::zeros((0, 0)));
    let crowd = |clusters: Clusters| {
        CrowdClustering::new(clusters)
            .block_model(BlockModel::new(2).restarts(4).max_iterations(5))
            .position_model(PositionModel::new(clusters).restarts(3).max_iterations(2))
    };
    let keeps_to = |clusters: Clusters, method| {
        let crowd = crowd(clusters).method(method);
        let run = |b| crowd.memory_budget(b).fit(&answers, &()).map(|_| ());
        keeps(&format!("{method:?} into {clusters:?}"), &none, &run)
    };
    let known = [
        CrowdMethod::Auto,
        CrowdMethod::Block,
        CrowdMethod::BlockByWorker,
        CrowdMethod::LatentClass,
        CrowdMethod::Bayesian,
        CrowdMethod::LogOdds,
        CrowdMethod::Rmc,
        CrowdMethod::Spectral,
        CrowdMethod::DawidSkene,
        CrowdMethod::Pairs,
        CrowdMethod::PlantedPartition,
    ];
    on_two_threads(|| {
        for method in known {
            keeps_to(2.into(), method);
        }
        for method in [CrowdMethod::Auto, CrowdMethod::Bayesian, CrowdMethod::Pairs] {
            keeps_to(Clusters::Auto, method);
        }
    });
}

/// Many workers, each with rates between twelve clusters: what a start holds is the most.
#[test]
fn whether_a_crowd_is_refused_does_not_depend_on_the_threads() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut draw = Seed(12).stream();
    let mut rows = Vec::new();
    for worker in 0..600 {
        for (task, item) in draw.sample(120, 40).into_iter().enumerate() {
            // Some err: answers that agree would need no model.
            let group = (item + usize::from(draw.below(20) == 0)) % 12;
            rows.push(GroupAnswer { worker, task: task % 4, item, group });
        }
    }
    let answers = Answers::from_groupings(120, &rows).unwrap();
    let none = Array2::zeros((0, 0));
    let asked = |threads, method| {
        let model = BlockModel::new(12).restarts(6).max_iterations(2);
        let crowd = CrowdClustering::new(12).method(method).alternative(false).block_model(model);
        let crowd = crowd.position_model(PositionModel::new(12).restarts(6).max_iterations(1));
        let run = |b| crowd.memory_budget(b).fit(&answers, &()).map(|_| ());
        let mut asked = 0;
        on_threads(threads, || asked = keeps(&format!("{method:?}, {threads}"), &none, &run));
        asked
    };
    for method in [CrowdMethod::BlockByWorker, CrowdMethod::Bayesian, CrowdMethod::Auto] {
        assert_eq!(asked(1, method), asked(6, method), "{method:?}");
    }
}
