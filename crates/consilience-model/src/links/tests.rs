use consilience_core::{
    Constraints, ErrorKind, Link, MemoryBudget, Pair, Partition, Seed, SideInformation,
};
use ndarray::Array2;

use super::LinkedClustering;
use super::folds::{HeldOut, Trial, keeps};
use super::judgement::balanced;

fn parity(n: usize, count: usize) -> SideInformation {
    let mut draw = Seed(5).stream();
    let mut pairs = Constraints::new(n).unwrap();
    while pairs.len() < count {
        let (i, j) = (draw.below(n), draw.below(n));
        if i != j {
            pairs.add(i, j, if i % 2 == j % 2 { Link::Must } else { Link::Cannot }).unwrap();
        }
    }
    SideInformation::from_constraints(&pairs)
}

#[test]
fn nothing_that_is_left_out_follows_from_what_is_not() {
    let labels: Vec<i64> = (0..60).map(|i| if i < 40 { i % 3 } else { -1 }).collect();
    let sides = [
        parity(60, 20),
        // So many that must-links unite whole classes.
        parity(60, 300),
        SideInformation::from_labels(&labels).unwrap(),
    ];
    for side in sides {
        let held = HeldOut::new(&side, 60, 5, Seed(1));
        assert!(!held.links().is_empty());
        for fold in 0..5 {
            let rest = side.without(|i| held.is_in(i, fold)).unwrap();
            for link in held.links() {
                if held.is_in(link.i, fold) || held.is_in(link.j, fold) {
                    let known = (rest.set_of(link.i), rest.set_of(link.j));
                    assert!(known.0.is_none() || known.1.is_none(), "{link:?} is known");
                }
            }
            assert!(rest.labelled_objects().len() * 4 > side.labelled_objects().len());
        }
        // Every link is left out at least once.
        let out = |l: &Pair| (0..5).any(|fold| held.is_in(l.i, fold) || held.is_in(l.j, fold));
        assert!(held.links().iter().all(out));
    }
}

#[test]
fn links_are_kept_or_not() {
    let labels = Partition::from_labels(&[0, 0, 1, -1]).unwrap();
    let kept = |pair: Pair| keeps(&labels, &pair);
    assert_eq!((kept(Pair::must_link(0, 1)), kept(Pair::cannot_link(1, 2))), (1.0, 1.0));
    assert_eq!((kept(Pair::must_link(0, 2)), kept(Pair::cannot_link(0, 1))), (0.0, 0.0));
    // Where nothing labels an object it is in no cluster with another.
    assert_eq!((kept(Pair::must_link(2, 3)), kept(Pair::cannot_link(2, 3))), (0.0, 1.0));
}

#[test]
fn what_counts_depends_on_how_many_objects_are_linked() {
    let side = parity(60, 40);
    let kinds = |objects: usize| {
        let trials = HeldOut::new(&side, objects, 4, Seed(1)).trials();
        let objects = trials.iter().filter(|t| matches!(t, Trial::Objects(_))).count();
        (objects, trials.len() - objects)
    };
    let linked = side.labelled_objects().len();
    assert_eq!((kinds(linked), kinds(2 * linked), kinds(10 * linked)), ((0, 4), (4, 4), (4, 0)));
    // A link that is left out by itself is not known, though it may follow from others.
    let held = HeldOut::new(&side, 60, 4, Seed(1));
    let rest = held.side_of(&side, Trial::Links(0)).unwrap();
    let stated = |side: &SideInformation| side.stated().unwrap().len();
    assert!((28..=30).contains(&stated(&rest)));
    assert_eq!(stated(&side), 40);
}

#[test]
fn labels_are_judged_by_what_is_left_out_however_many_there_are() {
    for known in [10usize, 60, 100, 120] {
        let labels: Vec<i64> =
            (0..120).map(|i| if i < known { (i % 3) as i64 } else { -1 }).collect();
        let side = SideInformation::from_labels(&labels).unwrap();
        let held = HeldOut::new(&side, 120, 4, Seed(1));
        let trials = held.trials();
        assert_eq!(trials, [0, 1, 2, 3].map(Trial::Objects), "{known}");
        // Fits that hold what they know, and put every other object into cluster 0.
        let found: Vec<Partition> = trials
            .iter()
            .map(|&trial| {
                let rest = held.side_of(&side, trial).unwrap();
                let label = |i: usize| Some(rest.set_of(i).map_or(0, |_| labels[i] as u64));
                Partition::from_fn(120, label).unwrap()
            })
            .collect();
        // Holding what is known is of no use for what is judged.
        for (l, link) in held.links().iter().enumerate() {
            let of_one_part = (0..4).any(|p| held.is_in(link.i, p) && held.is_in(link.j, p));
            if link.link == Link::Must && labels[link.i] != 0 && !of_one_part {
                assert_eq!(held.mean_kept(l, &trials, &found), 0.0, "{known}: {link:?}");
            }
        }
    }
}

#[test]
fn a_sample_of_objects_is_told() {
    let x = Array2::from_shape_fn((60, 2), |(i, j)| (i % 2 * 10) as f64 + (i * j % 7) as f64 * 0.1);
    let side = parity(60, 12);
    let notes = |sample: usize| {
        let method = LinkedClustering::new(2).only(&["pck-means"]).sample(sample);
        method.fit_judged(&x, &side, &()).unwrap().report.notes
    };
    let told = notes(40);
    assert!(told.iter().any(|n| n.contains("judged on 40 of 60 objects")), "{told:?}");
    assert!(!notes(60).iter().any(|n| n.contains("judged on")));
}

#[test]
fn a_candidate_by_name_keeps_to_the_memory_budget_for_its_copy() {
    let x = Array2::from_shape_fn((200, 4), |(i, j)| (i % 2 * 10 + i * j % 3) as f64);
    let method = LinkedClustering::new(2).memory_budget(MemoryBudget::bytes(200 * 4 * 32 - 1));
    let refused = method.fit_by("pck-means", &x, &parity(200, 10), &()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
}

#[test]
fn very_many_features_are_standardized() {
    // Their squares would be beyond the memory budget.
    let x = Array2::from_shape_fn((6, 17_000), |(i, j)| (i % 2 * 10 + i * j % 3) as f64);
    let side = SideInformation::none(6);
    let method = LinkedClustering::new(2);
    let found = method.fit_by("kmeans-standardized", &x, &side, &()).unwrap().output;
    assert_eq!(found.partition, Partition::from_labels(&[0, 1, 0, 1, 0, 1]).unwrap());
}

#[test]
fn candidates_keep_to_the_memory_budget() {
    let x = Array2::from_shape_fn((20, 50), |(i, j)| (i % 2 * 10 + i * j % 3) as f64);
    let side = parity(20, 10);
    let fit = |bytes: u64| {
        let method = LinkedClustering::new(2).memory_budget(MemoryBudget::bytes(bytes));
        method.fit_by("itml", &x, &side, &())
    };
    assert!(fit(1 << 20).is_ok());
    assert_eq!(fit(10_000).unwrap_err().kind(), ErrorKind::TooLarge);
    // More for the objects than for their single feature.
    let x = Array2::from_shape_fn((200, 1), |(i, _)| (i % 2 * 10 + i % 3) as f64);
    let fit = |bytes: u64| {
        let method = LinkedClustering::new(2).memory_budget(MemoryBudget::bytes(bytes));
        method.fit_by("pck-means", &x, &parity(200, 10), &())
    };
    assert!(fit(1 << 20).is_ok());
    assert_eq!(fit(7_000).unwrap_err().kind(), ErrorKind::TooLarge);
}

#[test]
fn trials_know_all_links_but_those_of_their_part() {
    // More of either kind than are judged by.
    let side = parity(3_000, 14_000);
    let stated = side.stated().unwrap();
    let held = HeldOut::new(&side, 3_000, 4, Seed(2));
    assert_eq!(held.links().len(), 10_000);
    for part in 0..4 {
        let rest = held.side_of(&side, Trial::Links(part)).unwrap();
        assert_eq!(rest.stated().unwrap().len(), stated.len() - 2_500);
    }
}

#[test]
fn the_sample_behind_the_components_is_told() {
    let x = Array2::from_shape_fn((10_001, 2), |(i, j)| {
        (i % 2 * 9) as f64 + (i * (31 + 17 * j) % 101) as f64 * 0.02
    });
    let side = parity(10_001, 12);
    let found = LinkedClustering::new(2).fit_by("updater", &x, &side, &()).unwrap();
    let notes = found.report.notes;
    assert!(notes.iter().any(|n| n.contains("10000 of 10001 objects")), "{notes:?}");
}

#[test]
fn the_order_that_links_are_given_in_means_nothing() {
    let mut draw = Seed(8).stream();
    let x = Array2::from_shape_fn((60, 3), |(i, j)| {
        draw.normal() * [3.0, 1.0, 1.0][j] + if j == 1 { (i % 2 * 2) as f64 } else { 0.0 }
    });
    let given = parity(60, 50);
    let mut links = given.stated().unwrap().to_vec();
    let method = LinkedClustering::new(2).seed(Seed(3));
    let first = method.fit_judged(&x, &given, &()).unwrap().output;
    for round in 0..3 {
        draw.shuffle(&mut links);
        let mut pairs = Constraints::new(60).unwrap();
        for (l, link) in links.iter().enumerate() {
            let (i, j) = if l % 2 == round % 2 { (link.i, link.j) } else { (link.j, link.i) };
            pairs.add(i, j, link.link).unwrap();
        }
        let side = SideInformation::from_constraints(&pairs);
        let found = method.fit_judged(&x, &side, &()).unwrap().output;
        assert_eq!(found.judgement, first.judgement);
        assert_eq!(found.clustering.partition, first.clustering.partition);
        for name in ["mpck-means", "itml", "mccc", "updater"] {
            let labels = |side| method.fit_by(name, &x, side, &()).unwrap().output.partition;
            assert_eq!(labels(&side), labels(&given), "{name}");
        }
    }
}

/// Mean and standard error of what is kept of links, all independent.
fn independent(links: &[Pair], kept: &[f64]) -> (f64, f64) {
    let (mut mean, mut variance) = (0.0, 0.0);
    for kind in [Link::Must, Link::Cannot] {
        let own: Vec<f64> =
            links.iter().zip(kept).filter(|l| l.0.link == kind).map(|l| *l.1).collect();
        let count = own.len() as f64;
        let of_kind = own.iter().sum::<f64>() / count;
        mean += 0.5 * of_kind;
        let squares: f64 = own.iter().map(|v| (v - of_kind) * (v - of_kind)).sum();
        variance += 0.25 * squares / (count - 1.0) / count;
    }
    (mean, variance.sqrt())
}

/// Links among few objects, drawn again and again, of clusters that are wrong for some objects.
#[test]
fn errors_hold_for_many_links_among_few_objects() {
    let mut draw = Seed(6).stream();
    let classes: Vec<usize> = (0..2_000).map(|_| draw.below(3)).collect();
    let found: Vec<usize> =
        classes.iter().map(|&c| if draw.uniform() < 0.3 { draw.below(3) } else { c }).collect();
    let labels = Partition::from_labels(&found).unwrap();
    let (mut scores, mut errors, mut naive) = (Vec::new(), 0.0, 0.0);
    for _ in 0..300 {
        let objects = draw.sample(2_000, 30);
        let mut all: Vec<(usize, usize)> =
            (0..30).flat_map(|u| (0..u).map(move |v| (u, v))).collect();
        draw.shuffle(&mut all);
        let link = |&(u, v): &(usize, usize)| {
            let (i, j) = (objects[u], objects[v]);
            let kind = if classes[i] == classes[j] { Link::Must } else { Link::Cannot };
            Pair::new(i, j, kind)
        };
        let links: Vec<Pair> = all[..150].iter().map(link).collect();
        let kept: Vec<f64> = links.iter().map(|link| keeps(&labels, link)).collect();
        let (score, error) = balanced(&links, &kept, |_| 0.0);
        let alone = independent(&links, &kept);
        assert!((score - alone.0).abs() < 1e-12 && error > alone.1 - 1e-12);
        // A gain over itself.
        assert_eq!(balanced(&links, &kept, |l| kept[l]), (0.0, 0.0));
        scores.push(score);
        errors += error * error / 300.0;
        naive += alone.1 * alone.1 / 300.0;
    }
    let mean = scores.iter().sum::<f64>() / 300.0;
    let spread = scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / 299.0;
    let (robust, naive) = ((spread / errors).sqrt(), (spread / naive).sqrt());
    println!("spread over the error: {robust:.2}, were links independent {naive:.2}");
    assert!((0.85..1.25).contains(&robust) && naive > 1.8, "{robust} {naive}");
}

#[test]
fn errors_by_the_definition() {
    let mut draw = Seed(2).stream();
    for round in 0..20 {
        let side = parity(if round < 10 { 12 } else { 400 }, 30);
        let links = side.stated().unwrap();
        let kept: Vec<f64> = links.iter().map(|_| draw.uniform()).collect();
        let alone = independent(links, &kept);
        let count = |kind| links.iter().filter(|l| l.link == kind).count() as f64;
        let residual = |l: usize| {
            let own = |m: &usize| links[*m].link == links[l].link;
            let c = count(links[l].link);
            let mean = (0..30).filter(own).map(|m| kept[m]).sum::<f64>() / c;
            (kept[l] - mean) / (2.0 * (c * (c - 1.0)).sqrt())
        };
        let mut variance = 0.0;
        for l in 0..30 {
            for m in 0..30 {
                let shared = [links[m].i, links[m].j];
                if shared.contains(&links[l].i) || shared.contains(&links[l].j) {
                    variance += residual(l) * residual(m);
                }
            }
        }
        let error = balanced(links, &kept, |_| 0.0).1;
        assert!((error - f64::max(variance, 0.0).sqrt().max(alone.1)).abs() < 1e-12);
    }
    // No two share an object: as if all were independent.
    let apart: Vec<Pair> = (0..20)
        .map(|l| Pair::new(2 * l, 2 * l + 1, if l % 3 == 0 { Link::Must } else { Link::Cannot }))
        .collect();
    let kept: Vec<f64> = apart.iter().map(|_| draw.uniform()).collect();
    assert!((balanced(&apart, &kept, |_| 0.0).1 - independent(&apart, &kept).1).abs() < 1e-12);
    // One link tells nothing of its spread.
    assert_eq!(balanced(&apart[..1], &[1.0], |_| 0.0), (1.0, 1.0));
}
