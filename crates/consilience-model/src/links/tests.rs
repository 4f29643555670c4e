use consilience_core::{
    Constraints, ErrorKind, Link, MemoryBudget, Pair, Partition, Seed, SideInformation,
};
use ndarray::Array2;

use super::LinkedClustering;
use super::folds::keeps;
use super::folds::{HeldOut, Trial};

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
    // Of labels nothing is left out where nearly all are known.
    let all: Vec<i64> = (0..30).map(|i| i % 2).collect();
    let labels = SideInformation::from_labels(&all).unwrap();
    assert_eq!(HeldOut::new(&labels, 30, 4, Seed(1)).trials(), [Trial::Nothing]);
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
