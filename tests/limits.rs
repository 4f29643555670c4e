//! What a method may take: no memory beyond its budget, no count that would never end, and no
//! message that is all digits.

use std::sync::atomic::{AtomicUsize, Ordering};

use consilience::catalogue::{self, Settings};
use consilience::constrained::Ccskl;
use consilience::core::BaseClusterer;
use consilience::generate::{
    Agglomerative, FuzzyCMeans, GaussianMixture, Generator, KMeans, KernelKMeans, MiniBatchKMeans,
    Rpcl, Spectral, SphericalKMeans, USpec,
};
use consilience::metric::{Dca, Itml, LinearMap, Lmnn, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::model::ConsensusClustering;
use consilience::prelude::*;
use consilience::report::ClusteringReport;
use consilience::scores::jensen_shannon_within;
use consilience::trust::Diagnostics;
use consilience::{
    Ensemble, Error, ErrorKind, Memberships, MemoryBudget, Observer, Partition, Seed,
    SideInformation,
};
use ndarray::Array2;

/// 120 objects under six members of 20 clusters, hardly two rows alike; some labels missing where
/// asked for.
fn scattered(missing: bool) -> Ensemble {
    let mut draw = Seed(5).stream();
    let mut label = || match draw.below(20) {
        0 if missing => -1,
        label => label as i64,
    };
    let mut member = || Partition::from_labels(&(0..120).map(|_| label()).collect::<Vec<_>>());
    Ensemble::new((0..6).map(|_| member().unwrap()).collect()).unwrap()
}

fn features(n: usize, d: usize) -> Array2<f64> {
    let mut draw = Seed(6).stream();
    Array2::from_shape_fn((n, d), |_| draw.normal())
}

fn tiny() -> MemoryBudget {
    MemoryBudget::bytes(100)
}

#[track_caller]
fn too_large(name: &str, error: Error) {
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{name}: {error}");
    assert!(error.message().contains("memory budget is 100 bytes"), "{name}: {error}");
}

/// With missing labels every method needs a table: of pairs of microclusters, of pairs of clusters,
/// or of microclusters and clusters.
#[test]
fn every_method_asks_its_budget() {
    let ensemble = scattered(true);
    for method in catalogue::methods() {
        let settings = Settings::new(3).memory_budget(tiny());
        let outcome = method.build(&settings).unwrap().fit(&ensemble, &());
        too_large(method.name(), outcome.err().unwrap_or_else(|| panic!("{}", method.name())));
    }
}

/// Average linkage of complete ensembles has no matrix of microclusters: linear, whatever the
/// budget, but for the overlaps of clusters where these weigh.
#[test]
fn complete_ensembles_need_a_table_but_for_average_linkage() {
    let ensemble = scattered(false);
    let mut linear = Vec::new();
    for method in catalogue::methods() {
        let settings = Settings::new(3).memory_budget(tiny());
        match method.build(&settings).unwrap().fit(&ensemble, &()) {
            Ok(_) => linear.push(method.name()),
            Err(e) => too_large(method.name(), e),
        }
    }
    assert_eq!(linear, ["eac-al"]);
    // Of 120 clusters, at most.
    let some = MemoryBudget::bytes(28 * 120 * 120);
    for name in ["weac-al", "lwea"] {
        let settings = Settings::new(3).memory_budget(some);
        let method = catalogue::methods().iter().find(|method| method.name() == name).unwrap();
        assert!(method.build(&settings).unwrap().fit(&ensemble, &()).is_ok(), "{name}");
    }
}

#[test]
fn what_judges_a_clustering_asks_its_budget() {
    let ensemble = scattered(true);
    let run = |budget| {
        let report = ClusteringReport::new(&ensemble).clusters(3).memory_budget(budget);
        report.run(&()).map(|_| ())
    };
    too_large("report", run(tiny()).unwrap_err());
    assert!(run(MemoryBudget::default()).is_ok());
    let found = Partition::from_fn(120, |i| Some(i as u64 % 3)).unwrap();
    too_large("diagnostics", Diagnostics::within(&ensemble, &found, tiny()).unwrap_err());
    let x = features(60, 2);
    let model = ConsensusClustering::new(2).memory_budget(tiny()).cluster(&x).unwrap_err();
    too_large("model", model);
    let model = ConsensusClustering::new(2).cluster(&x).unwrap();
    too_large("model", model.diagnostics_within(tiny()).unwrap_err());
    too_large("votes", model.memberships_within(&x, tiny()).unwrap_err());
    assert!(model.memberships_within(&x, MemoryBudget::bytes(60 * 2 * 8)).is_ok());
    let soft = Memberships::from(&found);
    let apart = |budget| jensen_shannon_within(&soft, &soft, budget);
    assert_eq!(apart(MemoryBudget::bytes(3 * 3 * 8)).unwrap(), 0.0);
    let many = Memberships::from(&Partition::from_fn(120, |i| Some(i as u64)).unwrap());
    too_large("divergence", jensen_shannon_within(&soft, &many, tiny()).unwrap_err());
}

fn generated(clusterer: impl BaseClusterer + 'static) -> Option<Error> {
    let generator = Generator::new(clusterer).members(2).clusters(2..=3).memory_budget(tiny());
    generator.generate(&features(200, 3)).err()
}

#[test]
fn base_clusterers_with_tables_ask_their_budget() {
    for (name, error) in [
        ("kernel k-means", generated(KernelKMeans::new())),
        ("spectral", generated(Spectral::new())),
        ("agglomerative", generated(Agglomerative::default())),
        ("u-spec", generated(USpec::new())),
        ("gaussian mixture", generated(GaussianMixture::new())),
        ("fuzzy c-means", generated(FuzzyCMeans::new())),
    ] {
        too_large(name, error.unwrap_or_else(|| panic!("{name}")));
    }
    // These keep centres and labels, nothing else.
    let linear =
        [generated(KMeans::new()), generated(MiniBatchKMeans::new()), generated(Rpcl::new())];
    assert_eq!(linear, [None, None, None]);
    assert_eq!(generated(SphericalKMeans::new()), None);
}

#[test]
fn metric_learners_ask_their_budget() {
    let x = features(40, 30);
    let labels: Vec<i64> = (0..40).map(|i| if i < 12 { i % 3 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let learners: [Box<dyn MetricLearner>; 7] = [
        Box::new(Rca::new().memory_budget(tiny())),
        Box::new(Dca::new().memory_budget(tiny())),
        Box::new(Mmc::new().memory_budget(tiny())),
        Box::new(Itml::new().memory_budget(tiny())),
        Box::new(Lmnn::new().memory_budget(tiny())),
        Box::new(RsdDiagonal::new().memory_budget(tiny())),
        Box::new(RsdFull::new().memory_budget(tiny())),
    ];
    for learner in &learners {
        too_large(learner.name(), learner.learn(x.view().into(), &side).unwrap_err());
    }
}

/// More starts than anybody lives to see the end of.
const ENDLESS: usize = 1_000_000_000_000;

#[track_caller]
fn endless(name: &str, outcome: consilience::Result<()>) {
    let error = outcome.expect_err(name);
    assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{name}: {error}");
    assert!(error.message().contains("1000000000000"), "{name}: {error}");
}

#[test]
fn counts_of_repetitions_have_an_upper_bound() {
    let ensemble = scattered(false);
    for method in catalogue::methods() {
        if method.parameters().iter().any(|p| p.name == "restarts") {
            let settings = Settings::new(3).parameter("restarts", ENDLESS);
            let outcome = method.build(&settings).and_then(|m| m.consensus(&ensemble));
            endless(method.name(), outcome.map(|_| ()));
        }
    }
    let x = features(40, 3);
    let bases: [Box<dyn BaseClusterer>; 7] = [
        Box::new(KMeans::new().restarts(ENDLESS)),
        Box::new(KernelKMeans::new().restarts(ENDLESS)),
        Box::new(SphericalKMeans::new().restarts(ENDLESS)),
        Box::new(Spectral::new().restarts(ENDLESS)),
        Box::new(USpec::new().restarts(ENDLESS)),
        Box::new(MiniBatchKMeans::new().batches(ENDLESS)),
        Box::new(Rpcl::new().presentations(ENDLESS)),
    ];
    for base in &bases {
        endless(base.name(), base.fit(x.view().into(), 3, Seed(0), &()).map(|_| ()));
    }
    let labels: Vec<i64> = (0..40).map(|i| if i < 12 { i % 3 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let constrained: [Box<dyn ConstrainedClusterer>; 3] = [
        Box::new(Ccskl::new(3).restarts(ENDLESS)),
        Box::new(consilience::completion::Mccc::new(3).restarts(ENDLESS)),
        Box::new(consilience::completion::Rdml::new(3).restarts(ENDLESS)),
    ];
    for method in &constrained {
        endless(method.name(), method.cluster(x.view().into(), &side).map(|_| ()));
    }
}

/// No word of a message has more characters than a number needs.
#[track_caller]
fn short(error: Error) {
    let long = error.message().split(' ').find(|word| word.len() > 60);
    assert_eq!(long, None, "{error}");
}

#[test]
fn messages_hold_numbers_in_their_short_form() {
    let ensemble = scattered(false);
    let mut refused = 0;
    for method in catalogue::methods() {
        for parameter in method.parameters() {
            for value in ["-1e308", "1e308", "-5e-324"] {
                let settings = Settings::new(3).parameter(parameter.name, value);
                let outcome = method.build(&settings).and_then(|m| m.consensus(&ensemble));
                refused += usize::from(outcome.is_err());
                outcome.err().into_iter().for_each(short);
            }
        }
    }
    assert!(refused > 100, "{refused}");
    short(LinearMap::from_weights(&[-1e308]).unwrap_err());
    short(
        KernelKMeans::new()
            .width(-1e308)
            .fit(features(9, 2).view().into(), 2, Seed(0), &())
            .unwrap_err(),
    );
    let row = ndarray::array![[1e308, -1e308]];
    short(consilience::Memberships::new(row).unwrap_err());
}

/// Counts how often it is asked whether to stop, in all and until the microclusters were told.
#[derive(Default)]
struct AfterNodes {
    asked: AtomicUsize,
    nodes: AtomicUsize,
}

impl Observer for AfterNodes {
    fn progress(&self, stage: &str, _: usize, _: usize) {
        if stage == "microclusters" {
            self.nodes.store(self.asked.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// With millions of objects every pass over the labels of the members takes its time: each method
/// asks at each member, when it has found the microclusters and again when it reads them.
#[test]
fn every_method_asks_whether_to_stop_at_each_member() {
    let ensemble = scattered(false);
    for method in catalogue::methods() {
        let heard = AfterNodes::default();
        method.build(&Settings::new(3)).unwrap().fit(&ensemble, &heard).unwrap();
        let after = heard.asked.into_inner() - heard.nodes.into_inner();
        assert!(after >= 2 * ensemble.n_members(), "{}: {after}", method.name());
    }
}
