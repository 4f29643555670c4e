use consilience_core::scores::adjusted_rand;
use consilience_core::{
    Clusters, ConsensusFunction, Ensemble, ErrorKind, Fit, Observer, Partition, Report, Result,
    Seed, SideInformation,
};
use consilience_generate::{
    Agglomerative, GaussianMixture, Generator, KMeans, Linkage, Missing, Scale, Spectral,
};
use consilience_trust::{Diagnostics, Recommended};
use ndarray::{Array2, Axis, array};

use crate::votes::Votes;
use crate::{ConsensusClustering, ConsensusModel, LinkedClustering, QuestionerOptions};

/// Four overlapping clouds of normal numbers.
fn clouds(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    Array2::from_shape_fn((n, d), |(i, j)| stream.normal() + 4.0 * ((i % 4 + j) % 3) as f64)
}

/// A ring around another.
fn rings(n: usize, seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    let mut x = Array2::zeros((n, 2));
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        let radius = if i % 2 == 0 { 1.0 } else { 3.0 } + 0.1 * stream.normal();
        let turn = std::f64::consts::TAU * stream.uniform();
        row.assign(&array![radius * turn.cos(), radius * turn.sin()]);
    }
    x
}

/// Share of the objects of the fit that get their own cluster back.
fn given_back(model: &ConsensusModel, x: &Array2<f64>) -> f64 {
    let labels = model.assign(x).unwrap();
    let own = |&i: &usize| model.partition().label(i) == Some(labels[i]);
    (0..labels.len()).filter(own).count() as f64 / labels.len() as f64
}

/// Squared distances of a row that is so far out overflow; they did for all rows beside it.
#[test]
fn a_row_far_out_is_placed_apart_from_the_others() {
    let x = clouds(120, 3, 2);
    let plain = Generator::new(KMeans::new()).members(6).clusters(3..=6);
    let projected = Generator::new(KMeans::new()).members(6).clusters(3..=6).projection(2);
    for members in [plain, projected.scale(Scale::ZScore)] {
        let model = ConsensusClustering::new(4).generator(members).cluster(&x).unwrap();
        let alone = model.place(&x).unwrap();
        for far in [1e160, -1e200, 1e300, f64::MAX] {
            let mut beside = x.clone();
            beside.row_mut(17).fill(far);
            let placed = model.place(&beside).unwrap();
            assert!(placed.outside().contains(&17), "{far:e}");
            let others = |of: &[usize]| of.iter().copied().filter(|&i| i != 17).collect::<Vec<_>>();
            assert_eq!(others(&placed.outside()), others(&alone.outside()), "{far:e}");
            for i in (0..120).filter(|&i| i != 17) {
                let of = |placed: &crate::Placement| {
                    (placed.labels[i], placed.confidence[i], placed.distance[i])
                };
                assert_eq!(of(&placed), of(&alone), "{far:e}, object {i}");
            }
        }
    }
}

/// Ten groups of three objects: members of two clusters, as few objects had them, join what the
/// consensus is to keep apart.
#[test]
fn many_clusters_of_few_objects_are_found() {
    let mut stream = Seed(3).stream();
    let x = Array2::from_shape_fn((30, 2), |(i, j)| {
        30.0 * [i % 10 % 4, i % 10 / 4][j] as f64 + stream.normal()
    });
    let truth = Partition::from_fn(30, |i| Some(i as u64 % 10)).unwrap();
    for seed in 0..3 {
        let model = ConsensusClustering::new(10).seed(Seed(seed)).cluster(&x).unwrap();
        assert_eq!(model.partition(), &truth, "seed {seed}");
        // Also where the members are another generator's, and where a method of the caller's
        // combines them.
        let members = || Generator::new(KMeans::new()).members(30).seed(Seed(seed));
        let model = ConsensusClustering::new(10).generator(members()).cluster(&x).unwrap();
        assert_eq!(model.partition(), &truth, "seed {seed}");
        let members = members().consensus_clusters(10);
        let model = ConsensusClustering::by(Recommended::new(10)).generator(members);
        assert_eq!(model.cluster(&x).unwrap().partition(), &truth, "seed {seed}");
    }
}

#[test]
fn sparse_features_are_refused_with_what_to_do_instead() {
    let x = clouds(40, 3, 1);
    let model = ConsensusClustering::new(2).cluster(&x).unwrap();
    let sparse = consilience::sprs::CsMat::csr_from_dense(x.view(), 0.0);
    let side = SideInformation::from_labels(&[0, 1]).unwrap();
    let refused = [
        ConsensusClustering::new(2).cluster(&sparse).map(drop),
        model.assign(&sparse).map(drop),
        LinkedClustering::new(2).fit_judged(&sparse, &side, &()).map(drop),
        QuestionerOptions::new(2).start(&sparse).map(drop),
    ];
    for (at, refused) in refused.into_iter().enumerate() {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        let said = error.message();
        assert!(said.contains("TruncatedSvd") && !said.contains("k-means"), "{said}");
        assert_eq!(said.contains("`Generator`"), at == 0, "{said}");
    }
}

#[test]
fn objects_of_the_fit_keep_their_clusters() {
    let agglomerative = || Agglomerative::new(Linkage::Average);
    for seed in 0..3 {
        let x = clouds(600, 5, seed);
        let rings = rings(500, seed);
        let members = |g: Generator| g.members(10).seed(Seed(seed));
        let worlds: [(&str, &Array2<f64>, Generator); 6] = [
            ("k-means", &x, members(Generator::new(KMeans::new()))),
            ("scaled", &x, members(Generator::new(KMeans::new())).scale(Scale::ZScore)),
            ("features", &x, members(Generator::new(KMeans::new())).feature_fraction(0.5)),
            ("projected", &x, members(Generator::new(KMeans::new())).projection(3)),
            ("spectral", &rings, members(Generator::new(Spectral::new())).clusters(2..=8)),
            ("linkage", &x, members(Generator::new(agglomerative())).feature_fraction(0.6)),
        ];
        for (name, x, generator) in worlds {
            let method = ConsensusClustering::new(4).generator(generator).seed(Seed(seed));
            let share = given_back(&method.cluster(x).unwrap(), x);
            assert!(share >= 0.99, "{name}, seed {seed}: {share}");
        }
    }
}

#[test]
fn new_objects_go_where_the_whole_would_put_them() {
    for seed in 0..3 {
        let x = clouds(1200, 5, 10 + seed);
        let (seen, new) = x.view().split_at(Axis(0), 800);
        let model = ConsensusClustering::new(3).seed(Seed(seed)).cluster(seen).unwrap();
        let whole = ConsensusClustering::new(3).seed(Seed(seed)).cluster(&x).unwrap();
        let objects: Vec<usize> = (800..1200).collect();
        let expected = whole.partition().select(&objects).unwrap();
        let placed = model.place(new).unwrap();
        let labels: Vec<u64> = placed.labels.iter().map(|&l| l as u64).collect();
        let got = Partition::from_labels(&labels).unwrap();
        let agreement = adjusted_rand(&expected, &got).unwrap();
        assert!(agreement > 0.85, "seed {seed}: {agreement}");
        assert!(placed.outside().len() < 20, "{}", placed.outside().len());
    }
}

/// A consensus function that labels no object.
struct Nobody;

impl ConsensusFunction for Nobody {
    type Output = Partition;

    fn name(&self) -> &str {
        "nobody"
    }

    fn fit(&self, ensemble: &Ensemble, _: &dyn Observer) -> Result<Fit<Partition>> {
        let labels = Partition::from_fn(ensemble.n_objects(), |_| None)?;
        Ok(Fit::new(labels, Report::default()))
    }
}

#[test]
fn a_consensus_that_labels_nobody_makes_no_model() {
    let error = ConsensusClustering::by(Nobody).cluster(&clouds(40, 2, 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Empty);
    assert!(error.message().contains("no object has a label"), "{error}");
}

#[test]
fn what_lies_far_away_is_outside() {
    let x = clouds(300, 2, 1);
    let model = ConsensusClustering::new(4).cluster(&x).unwrap();
    let placed = model.place(&array![[1e6, 0.0], [-40.0, -40.0], [0.0, 4.0]]).unwrap();
    assert_eq!(placed.outside(), [0, 1]);
    assert!(placed.distance[0] > 1e4);
    // Whole magnitudes beyond what was seen, where squares overflow.
    let placed = model.place(&array![[1e300, -1e300]]).unwrap();
    assert_eq!(placed.outside(), [0]);
    assert!(placed.labels[0] < 4);
    // All objects at one place: everything else is outside, that place is not.
    let same = ConsensusClustering::by(Recommended::new(1))
        .generator(Generator::new(KMeans::new()).members(3).clusters(1..=1))
        .cluster(&Array2::<f64>::ones((5, 2)))
        .unwrap();
    assert_eq!(same.place(&array![[1.0, 1.0], [1.0, 1.1]]).unwrap().outside(), [1]);
}

#[test]
fn votes_sum_to_one_and_their_largest_is_the_label() {
    let x = clouds(300, 3, 2);
    let model = ConsensusClustering::new(4).cluster(&x).unwrap();
    let new = clouds(200, 3, 3);
    let (votes, placed) = (model.memberships(&new).unwrap(), model.place(&new).unwrap());
    assert_eq!(votes.dim(), (200, 4));
    let mut largest = 0;
    for (i, row) in votes.rows().into_iter().enumerate() {
        assert!((row.sum() - 1.0).abs() < 1e-12);
        assert_eq!(row[placed.labels[i]], placed.confidence[i]);
        largest += usize::from(row.iter().all(|&v| v <= placed.confidence[i] + 1e-12));
    }
    // But for objects in exactly the clusters of one that was seen.
    assert!(largest > 180, "{largest}");
}

/// What mixtures say is diagnosed by the most probable clusters.
#[test]
fn members_that_give_memberships_are_diagnosed() {
    let x = clouds(200, 3, 11);
    let generator = Generator::new(GaussianMixture::new()).members(6);
    let model = ConsensusClustering::new(3).generator(generator).cluster(&x).unwrap();
    let (members, found) = (model.ensemble(), model.partition());
    assert!(members.is_soft());
    let hard = Diagnostics::of(&members.hardened(), found).unwrap();
    assert_eq!(model.diagnostics().unwrap(), hard);
}

#[test]
fn level_votes_are_told() {
    let halves = Partition::from_labels(&[0, 0, 1, 1]).unwrap();
    let ensemble = Ensemble::new(vec![halves.clone(), halves.clone()]).unwrap();
    let votes = Votes::new(&ensemble, &halves).unwrap();
    let mut shares = [0.0; 2];
    // Clusters of two sides that never met: half a vote for each.
    let vote = votes.count(&[1, 0], &mut shares);
    assert_eq!((vote.label, vote.tied, shares), (0, true, [0.5, 0.5]));
    let vote = votes.count(&[1, 1], &mut shares);
    assert_eq!((vote.label, vote.tied, shares), (1, false, [0.0, 1.0]));
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (x, new) = (clouds(500, 4, 4), clouds(5000, 4, 5));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let model = ConsensusClustering::new(4).cluster(&x).unwrap();
            (model.place(&new).unwrap(), model.memberships(&new).unwrap())
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
    // Nor do an object's neighbours in the table matter.
    let model = ConsensusClustering::new(4).cluster(&x).unwrap();
    let alone = model.place(new.slice(ndarray::s![3000..3001, ..])).unwrap();
    assert_eq!(alone.labels[0], one.0.labels[3000]);
    assert_eq!(alone.distance[0], one.0.distance[3000]);
}

#[test]
fn single_precision_is_taken() {
    let x = clouds(300, 3, 6);
    let single = x.mapv(|v| v as f32);
    let model = ConsensusClustering::new(4).cluster(&single).unwrap();
    let labels = model.assign(&single).unwrap();
    let own = (0..300).filter(|&i| model.partition().label(i) == Some(labels[i])).count();
    assert!(own >= 297, "{own}");
}

/// 25 groups of 16 objects, which members of 2 to 20 clusters join.
fn grid(seed: u64) -> Array2<f64> {
    let mut stream = Seed(seed).stream();
    Array2::from_shape_fn((400, 2), |(i, j)| {
        let at = if j == 0 { i / 16 / 5 } else { i / 16 % 5 };
        8.0 * at as f64 + stream.normal()
    })
}

#[test]
fn features_in_compact_clusters_say_how_many() {
    let truth = Partition::from_fn(400, |i| Some(i as u64 / 16)).unwrap();
    for seed in 0..2 {
        let x = grid(seed);
        let notes = |report: &Report| report.notes.join("; ");
        let alone = ConsensusClustering::new(Clusters::Auto).fit(&x, &()).unwrap();
        let given = ConsensusClustering::new(25).cluster(&x).unwrap();
        assert_eq!(alone.output.partition(), given.partition());
        assert!(adjusted_rand(&truth, given.partition()).unwrap() > 0.9);
        assert!(notes(&alone.report).contains("25 clusters by the features"));
        let own = ConsensusClustering::built(|clusters| Ok(Box::new(Recommended::new(clusters))));
        assert!(format!("{own:?}").contains("built for the number of clusters"));
        assert_eq!(own.cluster(&x).unwrap().partition().n_clusters(), 25);
        // Holes cost the objects that have them.
        let mut holes = x.clone();
        (0..400).step_by(9).for_each(|i| holes[[i, i % 2]] = f64::NAN);
        let members = Generator::new(KMeans::new()).missing(Missing::Member);
        let partly = ConsensusClustering::new(Clusters::Auto).generator(members);
        let partly = partly.fit(&holes, &()).unwrap();
        assert!(notes(&partly.report).contains("25 clusters by the features"));
        assert_eq!(partly.output.partition().n_clusters(), 25);
    }
    let found = ConsensusClustering::new(Clusters::Auto).fit(&rings(300, 3), &()).unwrap().report;
    let said = |text: &str| found.notes.iter().any(|note| note.contains(text));
    assert!(said("the features alone do not say"), "{:?}", found.notes);
    assert!(said("numbers of clusters from 2 to"), "{:?}", found.notes);
}

/// k-means cuts the large class rather than part the small ones; the features know better.
#[test]
fn clusters_of_a_far_higher_silhouette_are_taken() {
    let mut replaced = 0;
    for seed in 0..8 {
        let mut stream = Seed(seed).stream();
        let class = |i: usize| if i < 600 { 0 } else { 1 + (i - 600) / 25 };
        let x = Array2::from_shape_fn((675, 2), |(i, j)| {
            10.0 * [class(i) / 2, class(i) % 2][j] as f64 + stream.normal()
        });
        let truth = Partition::from_fn(675, |i| Some(class(i) as u64)).unwrap();
        let fit = ConsensusClustering::new(Clusters::Auto).seed(Seed(seed)).fit(&x, &()).unwrap();
        let (model, notes) = (fit.output, fit.report.notes);
        assert!(adjusted_rand(model.partition(), &truth).unwrap() > 0.95, "{seed}: {notes:?}");
        let told = notes.iter().any(|note| note.contains("far lower silhouette"));
        assert_eq!(model.ensemble().n_members(), 20 + usize::from(told));
        replaced += usize::from(told);
        // New objects of a small class go to it, by the members' votes.
        let placed = Partition::from_labels(&model.assign(&x).unwrap()).unwrap();
        assert!(adjusted_rand(&placed, &truth).unwrap() > 0.95, "{seed}");
    }
    assert!(replaced > 0);
}

#[test]
fn bad_input_is_told() {
    let x = clouds(60, 3, 7);
    let kind = |r: consilience_core::Result<ConsensusModel>| r.unwrap_err().kind();
    let empty = Array2::<f64>::zeros((0, 3));
    assert_eq!(kind(ConsensusClustering::new(2).cluster(&empty)), ErrorKind::Empty);
    assert_eq!(kind(ConsensusClustering::new(61).cluster(&x)), ErrorKind::InvalidParameter);
    let model = ConsensusClustering::new(Clusters::Auto).cluster(&x).unwrap();
    assert_eq!(model.n_features(), 3);
    assert_eq!(model.place(&clouds(5, 2, 1)).unwrap_err().kind(), ErrorKind::ShapeMismatch);
    assert_eq!(model.place(&empty).unwrap_err().kind(), ErrorKind::Empty);
    let nan = array![[0.0, f64::NAN, 0.0]];
    assert_eq!(model.assign(&nan).unwrap_err().kind(), ErrorKind::NonFinite);
    assert_eq!(model.memberships(&nan).unwrap_err().kind(), ErrorKind::NonFinite);
}

#[test]
fn members_that_see_parts_of_the_objects_place_all() {
    let x = clouds(600, 4, 8);
    let generator = Generator::new(KMeans::new()).members(20).object_fraction(0.6);
    let model = ConsensusClustering::new(4).generator(generator).cluster(&x).unwrap();
    let share = given_back(&model, &x);
    println!("given back: {share}");
    assert!(share >= 0.95, "{share}");
}

#[cfg(feature = "serde")]
#[test]
fn a_stored_model_places_to_the_bit_as_before() {
    let (x, new) = (clouds(200, 4, 9), clouds(100, 4, 10));
    let generator =
        Generator::new(KMeans::new()).members(6).scale(Scale::MinMax).feature_fraction(0.5);
    let model = ConsensusClustering::new(3).generator(generator).cluster(&x).unwrap();
    let text = serde_json::to_string(&model).unwrap();
    let back: ConsensusModel = serde_json::from_str(&text).unwrap();
    assert!(back.feature_names().is_none());
    assert_eq!(back.place(&new).unwrap(), model.place(&new).unwrap());
    assert_eq!(back.partition(), model.partition());
    // What does not fit together is refused.
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (pointer, wrong) in [
        ("/places/0/unit", serde_json::json!(0.0)),
        ("/places/0/cluster/0", serde_json::json!(99)),
        ("/places/0/reach/0", serde_json::json!(-1.0)),
        ("/places/1/view/features", serde_json::json!(7)),
        ("/places/1/view/columns/0", serde_json::json!(4)),
        ("/places/1/view/maps/0/factor", serde_json::json!(null)),
        ("/places", serde_json::json!([])),
        ("/partition/clusters", serde_json::json!(2)),
    ] {
        let mut damaged = value.clone();
        *damaged.pointer_mut(pointer).unwrap() = wrong;
        let read = serde_json::from_value::<ConsensusModel>(damaged);
        assert!(read.is_err(), "{pointer}");
    }
}

/// Names of features are stored, and models of the first version, which had none, are read.
#[cfg(feature = "serde")]
#[test]
fn names_of_features_are_stored() {
    let x = Array2::from_shape_fn((40, 2), |(i, j)| (i / 20 * 9) as f64 + (i * (j + 2) % 5) as f64);
    let model = ConsensusClustering::new(2).cluster(&x).unwrap();
    let bytes = model.to_bytes().unwrap();
    let fields = &bytes[24..bytes.len() - 1];
    let mut first = b"consilience model 1\n".to_vec();
    first.extend(crc32fast::hash(fields).to_le_bytes());
    first.extend(fields);
    let read = ConsensusModel::from_bytes(&first).unwrap();
    assert_eq!(read.assign(&x).unwrap(), model.assign(&x).unwrap());
    assert!(read.feature_names().is_none());
    first.push(0);
    assert!(ConsensusModel::from_bytes(&first).is_err());
    let named = model.with_feature_names(["a", "b"]).unwrap();
    let back = ConsensusModel::from_bytes(&named.to_bytes().unwrap()).unwrap();
    assert_eq!(back.feature_names().unwrap(), ["a", "b"]);
}
