//! What the feature `serde` writes comes back to the bit, in text and in bytes; what breaks an
//! invariant is refused with the library's own words, and no damage panics.

use std::fmt::Debug;

use consilience::bregman::{PairEvidence, Pcc, Solution};
use consilience::completion::{Basis, Mccc, Rdml};
use consilience::constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans, UnderMetric,
};
use consilience::core::Assign;
use consilience::crowd::{Answers, CrowdClustering, CrowdResult, GroupAnswer, WorkerRates};
use consilience::generate::{KMeans, KMeansClusters};
use consilience::metric::{Itml, LinearMap};
use consilience::prelude::*;
use consilience::scores::Scores;
use consilience::trust::{ClusterNumber, Diagnostics, NumberTable};
use consilience::{
    Clustering, Clusters, Constraints, Dendrogram, Ensemble, Features, Link, Linkage, Memberships,
    Microclusters, Pair, Partition, Result, Seed, SideInformation,
};
use ndarray::{Array2, array};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};

fn through_json<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn through_bytes<T: Serialize + DeserializeOwned>(value: &T) -> T {
    postcard::from_bytes(&postcard::to_stdvec(value).unwrap()).unwrap()
}

/// Both ways, to the bit: bytes tell 0 from -0.
fn comes_back<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T) {
    for back in [through_json(value), through_bytes(value)] {
        assert_eq!(&back, value);
        assert_eq!(postcard::to_stdvec(&back).unwrap(), postcard::to_stdvec(value).unwrap());
    }
}

/// The error text of JSON that must be refused.
fn refused<T: DeserializeOwned + Debug>(stored: Value) -> String {
    from_value::<T>(stored).unwrap_err().to_string()
}

/// Stored JSON with one field changed; `at` is a JSON pointer.
fn changed<T: Serialize>(value: &T, at: &str, to: Value) -> Value {
    let mut stored = to_value(value).unwrap();
    *stored.pointer_mut(at).unwrap_or_else(|| panic!("no {at}")) = to;
    stored
}

/// Every byte damaged in turn, and every beginning: an error or another value, never a panic.
fn survives<T: Serialize + DeserializeOwned>(value: &T, used: impl Fn(T)) {
    let bytes = postcard::to_stdvec(value).unwrap();
    used(postcard::from_bytes(&bytes).unwrap());
    let step = bytes.len().div_ceil(600);
    for at in (0..bytes.len()).step_by(step) {
        for damage in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= damage;
            if let Ok(value) = postcard::from_bytes::<T>(&damaged) {
                used(value);
            }
        }
        assert!(postcard::from_bytes::<T>(&bytes[..at]).is_err());
    }
}

fn noise(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    Array2::from_shape_fn((n, d), |_| stream.normal())
}

fn soft(n: usize, k: usize, seed: u64) -> Memberships {
    let mut values = noise(n, k, seed).mapv(|v| v * v + 1e-3);
    for mut row in values.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    let evidence = (0..n).map(|i| (i % 3) as f64).collect();
    Memberships::with_evidence(values, evidence).unwrap()
}

fn tree(n: usize, seed: u64) -> Dendrogram {
    let mut stream = Seed(seed).stream();
    let merges = (1..n).map(|i| (stream.below(i), i, stream.below(4) as f64 / 3.0)).collect();
    Dendrogram::from_merges(n, merges).unwrap()
}

/// Random pairs, together where their remainders by 3 are equal.
fn pairs(n: usize, count: usize, seed: u64) -> Constraints {
    let mut stream = Seed(seed).stream();
    let mut constraints = Constraints::new(n).unwrap();
    for _ in 0..count {
        let (i, j) = (stream.below(n), stream.below(n));
        let link = if i % 3 == j % 3 { Link::Must } else { Link::Cannot };
        constraints.add(i, j, link).unwrap();
    }
    constraints
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_written_comes_back(
        (n, labels) in (1usize..40).prop_flat_map(|n| {
            let member = prop::collection::vec(-1i64..6, n);
            (Just(n), prop::collection::vec(member, 1..5))
        }),
        k in 1usize..7,
        seed in any::<u64>(),
    ) {
        let members: Vec<_> = labels.iter().map(|l| Partition::from_labels(l).unwrap()).collect();
        comes_back(&members[0]);
        comes_back(&Ensemble::new(members).unwrap());
        comes_back(&soft(n, k, seed));
        comes_back(&tree(n, seed));
        comes_back(&LinearMap::from_matrix(noise(k, n, seed)).unwrap());
        let diagonal = noise(1, n, seed).into_raw_vec_and_offset().0;
        comes_back(&LinearMap::from_diagonal(&diagonal).unwrap());
        let said = pairs(n, 2 * n, seed);
        for back in [through_json(&said), through_bytes(&said)] {
            prop_assert_eq!(back.n_objects(), said.n_objects());
            prop_assert!(back.iter().eq(said.iter()));
        }
    }
}

#[test]
fn small_values_come_back() {
    comes_back(&Pair::cannot_link(3, 4));
    comes_back(&Seed(u64::MAX));
    for clusters in [Clusters::Auto, Clusters::Fixed(3), Clusters::Height(0.1)] {
        comes_back(&clusters);
    }
    comes_back(&Linkage::Ward);
    let a = Partition::from_labels(&[0, 0, 1, 1, 1]).unwrap();
    let b = Partition::from_labels(&[0, 1, 1, 1, 2]).unwrap();
    comes_back(&Scores::compare(&a, &b).unwrap());
    comes_back(&Memberships::from(&Partition::from_labels(&[0, 1, 2, -1]).unwrap()));
    comes_back(&Partition::from_labels(&[-1, -1]).unwrap());
    // The widths of stored labels.
    for k in [254u32, 255, 65_534, 65_535] {
        let labels: Vec<u32> = (0..70_000).map(|i| i % k).collect();
        comes_back(&Partition::from_labels(&labels).unwrap());
    }
}

#[test]
fn the_fields_are_plain_words() {
    let p = Partition::from_labels(&[5, -1, 7]).unwrap();
    assert_eq!(to_value(&p).unwrap(), json!({ "clusters": 2, "labels": [0, -1, 1] }));
    let map = LinearMap::from_matrix(array![[1.0, 2.0]]).unwrap();
    let table = json!({ "rows": 1, "columns": 2, "values": [1.0, 2.0] });
    assert_eq!(to_value(&map).unwrap(), json!({ "matrix": table }));
    let pair = json!({ "i": 0, "j": 1, "link": "Must" });
    assert_eq!(to_value(Pair::must_link(0, 1)).unwrap(), pair);
}

#[test]
fn broken_partitions_are_refused() {
    let p = Partition::from_labels(&[0, 1, 1]).unwrap();
    let with = |at, to| refused::<Partition>(changed(&p, at, to));
    assert_eq!(with("/labels/1", json!(2)), "label 2 of object 1; expected -1 or below 2");
    assert_eq!(with("/labels/1", json!(-2)), "label -2 of object 1; expected -1 or below 2");
    assert!(with("/labels/0", json!(1)).starts_with("label 1 of object 0 comes before label 0"));
    assert_eq!(with("/clusters", json!(3)), "3 clusters, of which 2 have objects");
    assert_eq!(
        with("/clusters", json!(u64::MAX)),
        format!("{} clusters, of which 2 have objects", u64::MAX)
    );
    assert_eq!(with("/labels", json!([])), "2 clusters, of which 0 have objects");
    let none = refused::<Partition>(json!({ "clusters": 0, "labels": [] }));
    assert_eq!(none, "a partition needs at least one object");
}

#[test]
fn broken_ensembles_are_refused() {
    let p = Partition::from_labels(&[0, 1, 1]).unwrap();
    let e = Ensemble::new(vec![p.clone(), p]).unwrap();
    let with = |at, to| refused::<Ensemble>(changed(&e, at, to));
    let short = json!({ "clusters": 1, "labels": [0] });
    assert_eq!(with("/members/1", short), "member 1 labels 1 objects, member 0 labels 3");
    assert!(with("/members/1/labels/0", json!(7)).starts_with("label 7 of object 0"));
    assert_eq!(with("/members", json!([])), "an ensemble needs at least one base clustering");
}

#[test]
fn broken_memberships_are_refused() {
    let m = Memberships::new(array![[0.75, 0.25], [0.5, 0.5]]).unwrap();
    let with = |at, to| refused::<Memberships>(changed(&m, at, to));
    let told = with("/values/values/1", json!(0.5));
    assert!(told.starts_with("memberships of row 0 sum to 1.25; expected 1"), "{told}");
    assert!(with("/values/values/1", json!(-0.25)).starts_with("membership -0.25 at row 0"));
    assert_eq!(with("/values/rows", json!(3)), "4 values for a 3 x 2 table");
    assert_eq!(
        with("/values/rows", json!(1u64 << 63)),
        "4 values for a 9223372036854775808 x 2 table"
    );
    assert_eq!(with("/evidence", json!([1.0])), "evidence for 1 objects, memberships for 2");
    assert!(with("/evidence/0", json!(-1.0)).starts_with("evidence -1 of object 0"));
    // JSON has no NaN, bytes have.
    let mut bytes = postcard::to_stdvec(&m).unwrap();
    let at = bytes.windows(8).position(|w| w == 0.75f64.to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(postcard::from_bytes::<Memberships>(&bytes).is_err());
}

#[test]
fn broken_trees_are_refused() {
    let t = Dendrogram::from_merges(3, vec![(0, 1, 0.1), (1, 2, 0.8)]).unwrap();
    let with = |at, to| refused::<Dendrogram>(changed(&t, at, to));
    let order = with("/merges/1/height", json!(0.05));
    assert_eq!(order, "merge 1 at height 0.05 after one at 0.1; merges go from low to high");
    assert_eq!(with("/leaves", json!(4)), "2 merges of 4 leaves");
    assert_eq!(with("/leaves", json!(u64::MAX)), format!("2 merges of {} leaves", u64::MAX));
    assert_eq!(with("/leaves", json!(0)), "a dendrogram without leaves");
    assert_eq!(with("/merges/0/nodes", json!([0, 9])), "node 9 in merge 0");
    let again = with("/merges/1/nodes", json!([1, 2]));
    assert!(again.starts_with("merge 1 of nodes 1 and 2; expected two, ascending"), "{again}");
    assert!(with("/merges/1/nodes", json!([3, 2])).starts_with("merge 1 of nodes 3 and 2"));
    assert!(with("/merges/1/nodes", json!([2, 2])).starts_with("merge 1 of nodes 2 and 2"));
    assert_eq!(with("/merges/1/leaves", json!(2)), "merge 1 of 1 and 2 leaves makes 2");
}

#[test]
fn broken_constraints_are_refused() {
    let mut c = Constraints::new(4).unwrap();
    c.extend(&[Pair::must_link(0, 1), Pair::cannot_link(1, 2)]).unwrap();
    let with = |at, to| refused::<Constraints>(changed(&c, at, to));
    assert_eq!(with("/objects", json!(2)), "object 2 of 2");
    assert_eq!(with("/objects", json!(0)), "constraints over no objects");
    assert!(with("/objects", json!(1u64 << 40)).starts_with("constraints over 1099511627776"));
    let chain = with("/pairs/1", json!({ "i": 0, "j": 1, "link": "Cannot" }));
    assert_eq!(chain, "cannot-link 0, 1, but must-links say 0 = 1");
}

#[test]
fn broken_maps_are_refused() {
    let map = LinearMap::from_matrix(array![[1.0, 2.0], [3.0, 4.0]]).unwrap();
    let with = |at, to| refused::<LinearMap>(changed(&map, at, to));
    assert_eq!(with("/matrix/rows", json!(3)), "4 values for a 3 x 2 table");
    let none = json!({ "rows": 0, "columns": 2, "values": [] });
    assert!(with("/matrix", none).contains("0 objects and 2 columns"));
    let diagonal = LinearMap::from_diagonal(&[0.75]).unwrap();
    assert_eq!(refused::<LinearMap>(json!({ "diagonal": [] })), "a metric on no features");
    let mut bytes = postcard::to_stdvec(&diagonal).unwrap();
    let end = bytes.len() - 8;
    bytes[end..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    assert!(postcard::from_bytes::<LinearMap>(&bytes).is_err());
}

/// Three groups of 20 objects, 4 labels each.
fn world() -> (Array2<f64>, SideInformation) {
    let mut x = noise(60, 3, 1);
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[i % 3] += 8.0;
    }
    let labels: Vec<i64> = (0..60).map(|i| if i < 12 { i % 3 } else { -1 }).collect();
    (x, SideInformation::from_labels(&labels).unwrap())
}

/// The same of so many objects, of which 30 are labelled.
fn many(n: usize) -> (Array2<f64>, SideInformation) {
    let mut x = noise(n, 3, 1);
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[i % 3] += 8.0;
    }
    let labels: Vec<i64> = (0..n as i64).map(|i| if i < 30 { i % 3 } else { -1 }).collect();
    (x, SideInformation::from_labels(&labels).unwrap())
}

fn methods() -> Vec<Box<dyn ConstrainedClusterer>> {
    vec![
        Box::new(SeededKMeans::new(3)),
        Box::new(CopKMeans::new(3)),
        Box::new(PckMeans::new(3)),
        Box::new(MpckMeans::new(3)),
        Box::new(MpckMeans::new(3).per_cluster(true).full(true)),
        Box::new(Pmmc::new(3)),
        Box::new(Fpc::new(3)),
        Box::new(Nnc::new(3)),
        Box::new(Ccskl::new(3)),
        Box::new(UnderMetric::new(Itml::new(), SeededKMeans::new(3))),
        Box::new(Rdml::new(3)),
        Box::new(Mccc::new(3)),
        Box::new(Mccc::new(3).basis(Basis::Singular)),
        Box::new(Mccc::new(3).basis(Basis::RawSingular)),
        Box::new(Mccc::new(3).basis(Basis::StandardizedNeighbours)),
    ]
}

#[test]
fn clusterings_label_new_objects_as_before() {
    let ((x, side), new) = (world(), noise(50, 3, 2) * 6.0);
    for method in methods() {
        let found = method.cluster(x.view().into(), &side).unwrap();
        let expected = found.assign(new.view()).unwrap();
        for back in [through_json(&found), through_bytes(&found)] {
            assert_eq!(back.partition, found.partition, "{}", method.name());
            assert_eq!(back.assign(new.view()).unwrap(), expected, "{}", method.name());
            assert_eq!(to_value(&back).unwrap(), to_value(&found).unwrap(), "{}", method.name());
        }
    }
}

/// What is learned leaves a constant feature out, and what is far out is taken off.
#[test]
fn clusterings_beside_a_constant_feature_come_back() {
    let beside = |x: Array2<f64>| {
        Array2::from_shape_fn((x.nrows(), 4), |(i, j)| if j < 3 { x[[i, j]] * 1e-200 } else { 1.0 })
    };
    let ((x, side), new) = (world(), noise(50, 3, 2) * 6.0);
    let (x, new) = (beside(x), beside(new));
    for method in &methods()[3..8] {
        let found = method.cluster(x.view().into(), &side).unwrap();
        let expected = found.assign(new.view()).unwrap();
        let back = through_json(&found);
        assert_eq!(back.assign(new.view()).unwrap(), expected, "{}", method.name());
        assert_eq!(to_value(&back).unwrap(), to_value(&found).unwrap(), "{}", method.name());
        survives(&found, |back: Clustering| drop(back.assign(new.view())));
    }
    let found = Pmmc::new(3).cluster(x.view().into(), &side).unwrap();
    let numbers = |values: [f64; 3]| json!({ "rows": 1, "columns": 3, "values": values });
    for wrong in [[0.0, 1.0, 4.0], [0.0, 1.0, 1.0], [0.0, 0.5, 2.0]] {
        let with = changed(&found, "/steps/0/tables/features", numbers(wrong));
        let message = refused::<Clustering>(with);
        assert_eq!(message, "`features` are not whole numbers below 4 that ascend");
    }
}

#[test]
fn damaged_clusterings_never_panic() {
    let ((x, side), new) = (world(), noise(3, 3, 2));
    for method in methods() {
        let found = method.cluster(x.view().into(), &side).unwrap();
        survives(&found, |back: Clustering| drop(back.assign(new.view())));
    }
}

#[test]
fn broken_clusterings_are_refused() {
    let (x, side) = world();
    let found = UnderMetric::new(Itml::new(), SeededKMeans::new(3))
        .cluster(x.view().into(), &side)
        .unwrap();
    let with = |at, to| refused::<Clustering>(changed(&found, at, to));
    let out = with("/numbers/0", json!(3));
    assert_eq!(out, "number 3 of cluster 0; expected each below 3 once");
    assert_eq!(with("/numbers", json!([0])), "numbers of 1 clusters for a partition of 3");
    assert_eq!(with("/steps", json!([])), "a clustering without an assigner");
    let unknown = with("/steps/1/kind", json!("oracle"));
    assert_eq!(unknown, "stored parts of an unknown kind, `oracle`");
    let map = to_value(&found).unwrap()["steps"][0].clone();
    assert!(with("/steps/1", map.clone()).contains("ends in a map"));
    assert!(with("/steps", json!(vec![map; 200])).starts_with("199 maps before an assigner"));
    let lacking = with("/steps/1/tables", json!({}));
    assert_eq!(lacking, "stored parts of `nearest-centre` without `unit`");
    let wide = json!({ "rows": 1, "columns": 4, "values": [0.0, 0.0, 0.0, 0.0] });
    let shape = with("/steps/1/tables/centres", wide);
    assert_eq!(shape, "`centres` of 4 columns; expected 3");
}

#[test]
fn unknown_assigners_are_not_written() {
    #[derive(Debug)]
    struct First;
    impl Assign for First {
        fn n_features(&self) -> usize {
            1
        }
        fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
            Ok(vec![0; features.n_objects()])
        }
    }
    let found = Clustering::new(&[0, 0], 1, First).unwrap();
    let error = serde_json::to_string(&found).unwrap_err().to_string();
    assert!(error.contains("cannot be stored"), "{error}");
}

/// More objects than MCCC finds the neighbours of among all.
#[test]
fn completion_through_representatives_comes_back() {
    let (x, side) = many(32_000);
    let found = Mccc::new(3).basis(Basis::Neighbours).cluster(x.view().into(), &side).unwrap();
    let new = noise(50, 3, 2) * 6.0;
    let expected = found.assign(new.view()).unwrap();
    for back in [through_json(&found), through_bytes(&found)] {
        assert_eq!(back.partition, found.partition);
        assert_eq!(back.assign(new.view()).unwrap(), expected);
    }
    let with = |at, to| refused::<Clustering>(changed(&found, at, to));
    let seed = json!({ "rows": 1, "columns": 2, "values": [0.5, 1.0] });
    let half = with("/steps/0/tables/seed of groups", seed);
    assert_eq!(half, "half a seed is 0.5; expected a whole number of 32 bits");
    let map = json!({ "rows": 1, "columns": 1, "values": [1.0] });
    assert!(with("/steps/0/tables/map", map).starts_with("`map` of 1 rows; expected "));
}

#[test]
fn side_information_comes_back() {
    let labels = Partition::from_labels(&[0, 0, -1, 1, -1, 1, 2]).unwrap();
    let mut said = Constraints::new(7).unwrap();
    said.extend(&[Pair::cannot_link(5, 2), Pair::must_link(2, 4), Pair::must_link(4, 6)]).unwrap();
    let both = SideInformation::from_labels_and_constraints(&labels, &said).unwrap();
    for side in [
        SideInformation::none(7),
        SideInformation::from_partition(&labels),
        SideInformation::from_constraints(&said),
        both.select(&[2, 3, 4, 6]).unwrap(),
        SideInformation::from_constraints(&pairs(30, 40, 3)),
        both,
    ] {
        for back in [through_json(&side), through_bytes(&side)] {
            assert_eq!(back.n_objects(), side.n_objects());
            assert_eq!(back.labelled_sets(), side.labelled_sets());
            assert_eq!(back.labelled_objects(), side.labelled_objects());
            assert!(back.sets_apart().eq(side.sets_apart()));
            assert!(back.cannot_links().eq(side.cannot_links()));
            assert_eq!(back.stated(), side.stated());
        }
        survives(&side, |side: SideInformation| {
            let _ = side.must_links().count();
        });
    }
}

#[test]
fn broken_side_information_is_refused() {
    let mut said = Constraints::new(4).unwrap();
    said.extend(&[Pair::must_link(0, 1), Pair::cannot_link(1, 2)]).unwrap();
    let stated = SideInformation::from_constraints(&said);
    let with = |at, to| refused::<SideInformation>(changed(&stated, at, to));
    assert_eq!(with("/objects", json!(2)), "object 2 of 2");
    let both = with("/sets", json!([[0]]));
    assert_eq!(both, "labelled sets beside stated pairs; expected one of them");
    let labels = SideInformation::from_labels(&[0, 0, -1, 1]).unwrap();
    let with = |at, to| refused::<SideInformation>(changed(&labels, at, to));
    assert_eq!(with("/objects", json!(3)), "object 3 of 3");
    assert_eq!(with("/sets/0", json!([])), "a labelled set without objects");
    assert_eq!(with("/sets/1", json!([1])), "object 1 is in two labelled sets");
    let order = "labelled sets whose objects do not ascend";
    assert_eq!(with("/sets/0", json!([1, 0])), order);
    assert_eq!(with("/sets", json!([[3], [0, 1]])), order);
    assert_eq!(with("/apart", json!([[0, 2]])), "sets 0 and 2 of 2, apart");
    assert_eq!(with("/apart", json!([[1, 1]])), "sets 1 and 1 of 2, apart");
    let twice = with("/apart", json!([[0, 1], [0, 1]]));
    assert_eq!(twice, "pairs of labelled sets that do not ascend");
}

#[test]
fn crowds_come_back() {
    let mut stream = Seed(3).stream();
    let rows: Vec<GroupAnswer> = (0..200)
        .map(|r| (r / 20, r % 20))
        .map(|(worker, item)| {
            let group = if stream.below(10) == 0 { 2 } else { item % 2 };
            GroupAnswer { worker, task: 0, item, group }
        })
        .collect();
    let answers = Answers::from_groupings(20, &rows).unwrap();
    let result = CrowdClustering::new(2).fit(&answers, &()).unwrap().output;
    for back in [through_json(&result), through_bytes(&result)] {
        assert_eq!(postcard::to_stdvec(&back).unwrap(), postcard::to_stdvec(&result).unwrap());
    }
    result.workers.iter().for_each(comes_back);
    let with = |at, to| refused::<CrowdResult>(changed(&result, at, to));
    let short = json!({ "clusters": 1, "labels": [0] });
    assert_eq!(with("/partition", short), "a partition of 1 objects, memberships of 20");
    let rate = refused::<WorkerRates>(changed(&result.workers[0], "/same_apart", json!(1.5)));
    assert_eq!(rate, "same_apart is 1.5; expected a probability");
    survives(&result, |back: CrowdResult| drop(back.ask_pairs(&answers, 3)));
}

#[test]
fn k_means_comes_back() {
    let (x, _) = world();
    let found = KMeans::new().fit_centres(x.view(), 3, Seed(0), &()).unwrap().output;
    comes_back(&found);
    let with = |at, to| refused::<KMeansClusters>(changed(&found, at, to));
    let table = json!({ "rows": 1, "columns": 3, "values": [0.0, 0.0, 0.0] });
    assert_eq!(with("/centres", table), "1 centres of 3 clusters");
    assert!(with("/inertia", json!(-1.0)).starts_with("an inertia of -1"));
}

#[test]
fn damaged_bytes_never_panic() {
    let p = Partition::from_labels(&[0, 1, 1, -1, 2]).unwrap();
    survives(&p, |p: Partition| drop(p.sizes()));
    survives(&Ensemble::new(vec![p.clone(), p]).unwrap(), |e: Ensemble| {
        let _ = e.is_complete();
    });
    survives(&soft(9, 4, 1), |m: Memberships| drop(m.hard()));
    survives(&tree(20, 1), |t: Dendrogram| drop(t.cut(3)));
    survives(&pairs(20, 15, 1), |c: Constraints| {
        let _ = c.relation(0, 1);
    });
    let map = LinearMap::from_matrix(noise(2, 3, 1)).unwrap();
    survives(&map, |map: LinearMap| drop(map.apply(array![[0.0, 1.0, 2.0]].view())));
}

/// Thirty objects in three groups under eight members, some labels wrong or missing.
fn members() -> Ensemble {
    let mut draw = Seed(3).stream();
    let mut label = |i: usize| match draw.below(10) {
        0 => -1,
        1 => draw.below(4) as i64,
        _ => i as i64 / 10,
    };
    let mut member = || Partition::from_labels(&(0..30).map(&mut label).collect::<Vec<_>>());
    Ensemble::new((0..8).map(|_| member().unwrap()).collect()).unwrap()
}

#[test]
fn diagnostics_come_back() {
    let found = Partition::from_fn(30, |i| (i > 0).then_some(i as u64 / 10)).unwrap();
    let trust = Diagnostics::of(&members(), &found).unwrap();
    comes_back(&trust);
    let alone = Ensemble::new(vec![found.clone()]).unwrap();
    comes_back(&Diagnostics::of(&alone, &found).unwrap());
    let with = |at, to| refused::<Diagnostics>(changed(&trust, at, to));
    assert_eq!(with("/anmi", json!(1.5)), "anmi is 1.5; expected 0 to 1");
    assert_eq!(with("/confidence/2", json!(-0.5)), "confidence is -0.5; expected 0 to 1");
    assert_eq!(with("/second", json!([])), "0 second clusters, confidence of 30 objects");
    assert_eq!(with("/second/1", json!(3)), "cluster 3 of 3");
    assert_eq!(with("/clusters/0/nearest", json!([7, 0.5])), "cluster 7 of 3");
    assert_eq!(with("/dissenters", json!([8])), "member 8 of 8");
    assert!(with("/members/0/agreement", json!(2.0)).starts_with("agreement is 2"));
    survives(&trust, |trust: Diagnostics| drop(trust.sentences));
}

#[test]
fn tables_of_numbers_come_back() {
    let table = ClusterNumber::new().choose(&members()).unwrap();
    comes_back(&table);
    let with = |at, to| refused::<NumberTable>(changed(&table, at, to));
    assert_eq!(with("/recommended", json!(0)), "0 clusters recommended; expected at least 1");
    assert_eq!(with("/range", json!([4, 3])), "a range from 4 to 3");
    assert!(with("/criteria/0/name", json!("taste")).starts_with("criterion \"taste\"; expected"));
    let order = with("/rows/0/clusters", json!(99));
    assert_eq!(order, "rows whose numbers of clusters do not ascend");
    assert_eq!(with("/rows/0/pac", json!(7.0)), "pac is 7; expected 0 to 1");
    let steps = "steps of a CDF that do not ascend from 0 to 1";
    assert_eq!(with("/rows/0/cdf/values/0", json!(3.0)), steps);
    let half = json!({ "values": [0.5], "cumulative": [0.5] });
    assert_eq!(with("/rows/0/cdf", half), "a CDF that ends at 0.5; expected 1");
    let short = json!({ "values": [], "cumulative": [1.0] });
    assert_eq!(with("/rows/0/cdf", short), "1 values of a CDF at 0 steps");
    survives(&table, |table: NumberTable| drop(table.notes));
}

#[test]
fn solutions_of_pcc_come_back() {
    let nodes = Microclusters::of(&members()).unwrap();
    let evidence = PairEvidence::all(&nodes, Default::default()).unwrap();
    let found = Pcc::new(3).solution(&evidence).unwrap();
    comes_back(&found);
    let with = |at, to| refused::<Solution>(changed(&found, at, to));
    assert_eq!(with("/gap", json!(-0.5)), "an optimality gap of -0.5; expected at least 0");
    assert!(with("/memberships/values/values/0", json!(9.0)).contains("membership"));
    // One cluster cannot explain a pair that is apart: infinite, which JSON cannot say.
    let one = Pcc::new(1).solution(&evidence).unwrap();
    assert_eq!(one.objective, f64::INFINITY);
    comes_back(&one);
    survives(&found, |found: Solution| drop(found.memberships.hard()));
}
