//! `auto` for features with links: chosen by what is left out, and never worse for it.

use consilience::core::{Assign, ConstrainedClusterer};
use consilience::model::LinkedClustering;
use consilience::{
    Clustering, Constraints, ErrorKind, Features, Fit, Link, Observer, Partition, Report, Result,
    Seed, SideInformation,
};
use ndarray::Array2;

/// Two groups in the second feature; the first is wide and means nothing.
fn world(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, 2), |(i, j)| match j {
        0 => ((i * 37) % 101) as f64,
        _ => (i % 2) as f64 + (i * 13 % 11) as f64 * 0.02,
    })
}

/// Random pairs by a rule.
fn pairs(n: usize, count: usize, same: impl Fn(usize, usize) -> bool) -> SideInformation {
    let mut draw = Seed(5).stream();
    let mut pairs = Constraints::new(n).unwrap();
    while pairs.len() < count {
        let (i, j) = (draw.below(n), draw.below(n));
        if i != j {
            pairs.add(i, j, if same(i, j) { Link::Must } else { Link::Cannot }).unwrap();
        }
    }
    SideInformation::from_constraints(&pairs)
}

fn parity(n: usize, count: usize) -> SideInformation {
    pairs(n, count, |i, j| i % 2 == j % 2)
}

#[test]
fn links_that_say_nothing_leave_plain_k_means() {
    // Groups that no feature knows of.
    let (n, x) = (200, world(200));
    let group = |i: usize| Seed(7).derive("group", i as u64).stream().below(2);
    let side = pairs(n, 60, |i, j| group(i) == group(j));
    let mut plain = 0;
    for seed in 0..4 {
        let auto = LinkedClustering::new(2).seed(Seed(seed)).caution(4.0);
        let found = auto.fit_judged(&x, &side, &()).unwrap().output;
        plain += usize::from(found.judgement.taken().name.starts_with("kmeans"));
    }
    assert!(plain >= 3, "{plain}");
}

#[test]
fn too_few_links_are_said_to_be() {
    let x = world(80);
    let fit = LinkedClustering::new(2).fit_judged(&x, &parity(80, 6), &()).unwrap();
    assert_eq!(fit.output.judgement.too_few, Some(10));
    assert!(fit.output.judgement.taken().name.starts_with("kmeans"));
    assert!(fit.report.notes[0].contains("6 links are too few"), "{:?}", fit.report.notes);
    let none = SideInformation::none(80);
    let fit = LinkedClustering::new(2).fit_judged(&x, &none, &()).unwrap();
    assert_eq!(fit.output.judgement.taken().name, "kmeans");
    assert!(fit.report.notes[0].contains("0 links are too few"), "{:?}", fit.report.notes);
}

/// One label for each class: the unit of a column that means nothing drowns the others, and the
/// labels tell which scale keeps them apart.
#[test]
fn a_few_links_choose_the_scale() {
    let mut stream = Seed(5).stream();
    let x = Array2::from_shape_fn((150, 3), |(i, j)| match j {
        0 => 1000.0 * stream.normal(),
        _ => (i % 3) as f64 * if j == 1 { 5.0 } else { -5.0 } + 0.3 * stream.normal(),
    });
    let truth = Partition::from_fn(150, |i| Some(i as u64 % 3)).unwrap();
    // Alike in the column that means nothing, so that k-means on it joins them.
    let middle = |c: usize| {
        let own = (0..150).filter(|i| i % 3 == c);
        own.min_by(|&a, &b| x[[a, 0]].abs().total_cmp(&x[[b, 0]].abs())).unwrap()
    };
    let mut labels = vec![None; 150];
    (0..3).for_each(|c| labels[middle(c)] = Some(c));
    let side = SideInformation::from_labels(&labels).unwrap();
    let fit = LinkedClustering::new(3).fit_judged(&x, &side, &()).unwrap();
    let said = "3 links are too few to choose a method by that uses them (at least 10): \
        kmeans-standardized is taken, which uses none and keeps 100.0 % of them";
    assert_eq!(fit.report.notes[0], said);
    assert_eq!(fit.output.clustering.partition, truth);
    assert!(fit.output.judgement.candidates[2].score.is_none());
}

#[test]
fn every_candidate_serves_and_assigns() {
    let x = world(120);
    let side = parity(120, 60);
    let auto = LinkedClustering::new(2);
    let judgement = auto.fit_judged(&x, &side, &()).unwrap().output.judgement;
    for candidate in &judgement.candidates {
        assert!(candidate.score.is_some(), "{}: {:?}", candidate.name, candidate.left_out);
        let found = auto.fit_by(&candidate.name, &x, &side, &()).unwrap().output;
        assert_eq!(found.partition.n_objects(), 120);
        let again = found.assign(&x).unwrap();
        let same = (0..120).filter(|&i| found.partition.label(i) == Some(again[i])).count();
        // Linked objects may be in another cluster than a new object at their place.
        assert!(same > 80, "{}: {same}", candidate.name);
    }
    let taken = judgement.taken();
    let best = judgement.candidates.iter().filter_map(|c| c.score).fold(0.0, f64::max);
    assert!(taken.score.is_some_and(|score| score > best - 0.05) && best > 0.9, "{taken:?}");
}

#[test]
fn labels_are_left_out_object_by_object() {
    let x = world(100);
    let labels: Vec<i64> = (0..100).map(|i| if i < 24 { i % 2 } else { -1 }).collect();
    let side = SideInformation::from_labels(&labels).unwrap();
    let found = LinkedClustering::new(2).fit_judged(&x, &side, &()).unwrap().output;
    assert_eq!(found.judgement.links.len(), 24 * 23 / 2);
    let found = found.clustering.partition;
    assert!((0..100).filter(|&i| found.label(i) == found.label(i % 2)).count() > 95);
}

#[test]
fn samples_judge_and_all_objects_are_labelled() {
    let x = world(400);
    let side = parity(400, 50);
    let found = LinkedClustering::new(2).sample(150).fit_judged(&x, &side, &()).unwrap().output;
    assert_eq!(found.clustering.partition.n_objects(), 400);
    for link in &found.judgement.links {
        assert_eq!(link.i % 2 == link.j % 2, link.link == Link::Must);
    }
    let found = &found.clustering.partition;
    assert!((0..400).filter(|&i| found.label(i) == found.label(i % 2)).count() > 380);
}

/// Knows the classes.
struct Oracle;

impl ConstrainedClusterer for Oracle {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn fit(
        &self,
        features: Features<'_>,
        _: &SideInformation,
        _: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let labels: Vec<u32> = (0..features.n_objects()).map(|i| (i % 2) as u32).collect();
        Ok(Fit::new(Clustering::new(&labels, 2, Nowhere)?, Report::default()))
    }
}

#[derive(Debug)]
struct Nowhere;

impl Assign for Nowhere {
    fn n_features(&self) -> usize {
        2
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        Ok(vec![0; features.n_objects()])
    }
}

#[test]
fn the_callers_own_is_judged_with_the_others_and_costly_ones_are_not() {
    let x = Array2::from_shape_fn((90, 2), |(i, j)| ((i * 31 + j * 17) % 29) as f64);
    // Whichever is said first.
    for auto in [
        LinkedClustering::new(2).only(&["pck-means"]).candidate(Oracle),
        LinkedClustering::new(2).candidate(Oracle).only(&["pck-means"]),
    ] {
        let judgement = auto.fit_judged(&x, &parity(90, 40), &()).unwrap().output.judgement;
        let names: Vec<&str> = judgement.candidates.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["kmeans", "pck-means", "oracle"]);
        let taken = judgement.taken();
        assert!(taken.name == "oracle" && taken.score.is_some_and(|s| s > 0.999), "{taken:?}");
    }
    let cheap = LinkedClustering::new(2).cost_limit(1.0);
    let judgement = cheap.fit_judged(&x, &parity(90, 40), &()).unwrap().output.judgement;
    assert_eq!(judgement.taken().name, "kmeans");
    assert!(judgement.candidates[1..].iter().all(|c| c.score.is_none() && c.left_out.is_some()));
}

#[test]
fn bad_input_is_refused() {
    let x = world(40);
    let side = parity(40, 20);
    let kind = |auto: LinkedClustering| auto.fit_judged(&x, &side, &()).unwrap_err().kind();
    for auto in [
        LinkedClustering::new(0),
        LinkedClustering::new(41),
        LinkedClustering::new(2).folds(1),
        LinkedClustering::new(2).folds(1001),
        LinkedClustering::new(2).least_links(0),
        LinkedClustering::new(2).sample(0),
        LinkedClustering::new(2).caution(f64::NAN),
        LinkedClustering::new(2).cost_limit(0.0),
        LinkedClustering::new(2).only(&["magic"]),
    ] {
        assert_eq!(kind(auto), ErrorKind::InvalidParameter);
    }
    let auto = LinkedClustering::new(2);
    let error = auto.fit_judged(&x, &parity(30, 20), &()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
    let mut holes = x.clone();
    holes[[3, 1]] = f64::NAN;
    assert_eq!(auto.fit_judged(&holes, &side, &()).unwrap_err().kind(), ErrorKind::NonFinite);
    assert!(auto.fit_by("magic", &x, &side, &()).unwrap_err().message().contains("mccc"));
    struct Stop;
    impl Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    assert_eq!(auto.fit_judged(&x, &side, &Stop).unwrap_err().kind(), ErrorKind::Cancelled);
}

#[test]
fn extreme_tables_have_answers() {
    let side = parity(30, 20);
    for x in [
        Array2::zeros((30, 2)),
        Array2::from_shape_fn((30, 1), |(i, _)| i as f64 * 1e300),
        Array2::from_shape_fn((30, 3), |(i, j)| (i * j) as f64 * 1e-300),
        // More features than ITML sees.
        Array2::from_shape_fn((30, 80), |(i, j)| ((i * 7 + j * j) % 13) as f64),
    ] {
        let found = LinkedClustering::new(3).cluster((&x).into(), &side).unwrap();
        assert!(found.partition.iter().all(|label| label.is_some()));
    }
    // One kind of link, and one object.
    let x = world(30);
    let only = pairs(30, 15, |_, _| true);
    assert!(LinkedClustering::new(2).cluster((&x).into(), &only).is_ok());
    let one = SideInformation::none(1);
    let found = LinkedClustering::new(1).cluster((&world(1)).into(), &one).unwrap();
    assert_eq!(found.partition.n_clusters(), 1);
}

#[test]
fn same_bits_at_any_number_of_threads() {
    let x = world(150);
    let side = parity(150, 60);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| LinkedClustering::new(3).fit_judged(&x, &side, &()).unwrap().output)
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.judgement, three.judgement);
    assert_eq!(one.clustering.partition, three.clustering.partition);
}
