use consilience_core::{Constraints, Link, Pair, Partition, Seed, SideInformation};

use super::folds::HeldOut;
use super::judgement::keeps;

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
        let held = HeldOut::new(&side, 5, Seed(1));
        assert!(!held.links().is_empty());
        for fold in 0..5 {
            let rest = side.without(|i| held.is_in(i, fold)).unwrap();
            for link in held.links() {
                if held.is_in(link.i, fold) || held.is_in(link.j, fold) {
                    let known = (rest.set_of(link.i), rest.set_of(link.j));
                    assert!(known.0.is_none() || known.1.is_none(), "{link:?} is known");
                }
            }
            assert!(rest.labelled_objects().len() * 2 > side.labelled_objects().len());
        }
        // Every link is left out at least once.
        let out = |l: &Pair| (0..5).any(|fold| held.is_in(l.i, fold) || held.is_in(l.j, fold));
        assert!(held.links().iter().all(out));
    }
}

#[test]
fn links_are_kept_or_not() {
    let labels = Partition::from_labels(&[0, 0, 1, -1]).unwrap();
    assert!(keeps(&labels, &Pair::must_link(0, 1)) && keeps(&labels, &Pair::cannot_link(1, 2)));
    assert!(!keeps(&labels, &Pair::must_link(0, 2)) && !keeps(&labels, &Pair::cannot_link(0, 1)));
    // Where nothing labels an object it is in no cluster with another.
    assert!(!keeps(&labels, &Pair::must_link(2, 3)) && keeps(&labels, &Pair::cannot_link(2, 3)));
}
