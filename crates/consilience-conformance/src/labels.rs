//! The rows about labels in the table of bad input, for consensus functions.

use crate::run::{Make, run};
use crate::watch::refuse;
use crate::worlds::{distinct_rows, members, show};
use crate::{Profile, hold};
use consilience_core::{Ensemble, ErrorKind};

/// Every number of clusters that is allowed.
fn run_all(law: &str, make: Make<'_>, profile: &Profile, ensemble: &Ensemble) {
    for k in 1..=ensemble.n_objects() {
        run(law, make, profile, k, ensemble);
    }
}

pub(super) fn one_object(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in [members(&[&[0]]), members(&[&[3], &[-1], &[0]]), members(&[&[-1]])] {
        run(law, make, profile, 1, &ensemble);
    }
}

pub(super) fn clusters_out_of_range(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.checks_clusters {
        return;
    }
    for ensemble in [
        members(&[&[0, 0, 1, 1, 2, 2, 2], &[0, 1, 1, 1, 2, 2, 0]]),
        members(&[&[0]]),
        members(&[&[-1, -1, -1]]),
    ] {
        let n = ensemble.n_objects();
        for k in [0, n + 1, 1000 * n, usize::MAX] {
            refuse(
                law,
                &format!("k = {k}, {}", show(&ensemble)),
                ErrorKind::InvalidParameter,
                &[k, n],
                || make(k).fit(&ensemble, &()),
            );
        }
    }
}

pub(super) fn all_equal(law: &str, make: Make<'_>, profile: &Profile) {
    run_all(law, make, profile, &members(&[&[0; 6]]));
    run_all(law, make, profile, &members(&[&[0; 6], &[4; 6], &[-1; 6]]));
}

pub(super) fn too_many_clusters(law: &str, make: Make<'_>, profile: &Profile) {
    let three = members(&[&[0, 0, 1, 1, 1, 0, 1], &[0, 0, 0, 0, 1, 0, 1]]);
    hold(law, distinct_rows(&three) == 3, || "in the suite's own input".into());
    run_all(law, make, profile, &three);
}

pub(super) fn partly_unlabelled(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in [
        members(&[&[0, 0, -1, 1, 1, -1], &[-1, 0, 0, 1, -1, 1], &[0, -1, 0, -1, 1, 1]]),
        // The same labels apart from which are missing: rows that differ only there.
        members(&[&[0, 0, 0, 1, 1], &[0, -1, 0, 1, -1]]),
        // Objects 0 and 3 never meet.
        members(&[&[0, 0, 1, -1], &[-1, 0, 1, 1]]),
    ] {
        run_all(law, make, profile, &ensemble);
    }
}

pub(super) fn silent_objects(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in [
        members(&[&[-1, 0, 0, 1, 1, -1], &[-1, 0, 0, 1, 1, -1]]),
        members(&[&[0, -1, 1], &[0, -1, 0]]),
        members(&[&[-1, -1, -1, 2]]),
    ] {
        run_all(law, make, profile, &ensemble);
    }
}

pub(super) fn silent_members(law: &str, make: Make<'_>, profile: &Profile) {
    run_all(law, make, profile, &members(&[&[-1; 5], &[0, 0, 1, 1, 1], &[0, 1, 1, 2, 2]]));
    run_all(law, make, profile, &members(&[&[0, 0, 1, 1, 1], &[-1; 5]]));
    // Nobody says anything: Ok, and everything unlabelled.
    run_all(law, make, profile, &members(&[&[-1; 4]]));
    run_all(law, make, profile, &members(&[&[-1; 4], &[-1; 4], &[-1; 4]]));
}

pub(super) fn disconnected(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in [
        // Members that speak of different objects, and object 6 alone in its cluster.
        members(&[&[0, 0, 1, -1, -1, -1, 2], &[-1, -1, -1, 0, 0, 1, -1]]),
        // Three components of several microclusters each.
        members(&[&[0, 0, 0, 1, 1, 1, 2, 2], &[0, 1, 1, 2, 2, 3, 4, 5]]),
        // Every object is isolated.
        members(&[&[0, 1, 2, 3, 4], &[4, 3, 2, 1, 0]]),
    ] {
        run_all(law, make, profile, &ensemble);
    }
}

pub(super) fn trivial_members(law: &str, make: Make<'_>, profile: &Profile) {
    let (single, apart): (&[i64], &[i64]) = (&[0; 6], &[0, 1, 2, 3, 4, 5]);
    let some: &[i64] = &[0, 0, 0, 1, 1, 2];
    for rows in [vec![apart], vec![single, apart], vec![single, some], vec![some, apart, single]] {
        run_all(law, make, profile, &members(&rows));
    }
}

pub(super) fn gaps(law: &str, make: Make<'_>, profile: &Profile) {
    let compact =
        members(&[&[0, 0, 1, 1, 2, 2, 2], &[0, 0, 0, 1, 1, 2, 2], &[0, 1, 1, 1, 2, 2, 2]]);
    let wild = members(&[
        &[7, 7, 0, 0, i64::MAX, i64::MAX, i64::MAX],
        &[1 << 33, 1 << 33, 1 << 33, 5, 5, 9, 9],
        &[250, 255, 255, 255, 65_535, 65_535, 65_535],
    ]);
    for k in 1..=compact.n_objects() {
        let (a, b) = (run(law, make, profile, k, &compact), run(law, make, profile, k, &wild));
        hold(law, a.output == b.output, || {
            format!("another partition for k = {k} on {}", show(&wild))
        });
    }
}
