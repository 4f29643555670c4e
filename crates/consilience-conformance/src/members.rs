//! Members that give memberships, and members that count more or less than others: a method reads
//! them or refuses them.

use consilience_core::{Ensemble, Error, ErrorKind, Fit, Member, Partition, SparseMemberships};
use ndarray::Array2;

use crate::counts::Counted;
use crate::run::Make;
use crate::watch::no_panic;
use crate::worlds::{plant, show};
use crate::{Profile, hold, sure};

/// Sizes of the planted clusters.
const SIZES: [usize; 4] = [25, 17, 11, 8];

/// The result, `None` where the method refuses the ensemble as one that it has no meaning for.
fn read(law: &str, make: Make<'_>, ensemble: &Ensemble) -> Option<Fit<Partition>> {
    match no_panic(law, &show(ensemble), || make(4).fit(ensemble, &())) {
        Ok(fit) => Some(fit),
        Err(e) => {
            let refused = |e: &Error| e.kind() == ErrorKind::InvalidParameter;
            hold(law, refused(&e), || format!("{:?} ({e}) on {}", e.kind(), show(ensemble)));
            None
        }
    }
}

/// A member of weight 0 counts as if it were left out.
pub(super) fn weights(law: &str, make: Make<'_>, _: &Profile) {
    for (seed, missing) in [(11, 0.0), (12, 0.15)] {
        let own = plant(seed, &SIZES, 8, 0.1, missing).ensemble;
        let mut sizes = SIZES;
        sizes.reverse();
        let other = plant(seed + 10, &sizes, 12, 0.0, missing).ensemble;
        let members = own.members().iter().chain(other.members()).cloned().collect();
        let weights: Vec<f64> = (0..20).map(|u| if u < 8 { 1.0 } else { 0.0 }).collect();
        let both = sure(law, Ensemble::new(members).and_then(|e| e.with_weights(weights)));
        if let Some(found) = read(law, make, &both) {
            let rest = sure(law, make(4).fit(&own, &()));
            hold(law, found.output == rest.output, || {
                format!("members of weight 0 are heard on {}", show(&own))
            });
        }
    }
}

/// Every second member with a part of each object, in sixteenths, in the next cluster.
fn softened(law: &str, ensemble: &Ensemble) -> Ensemble {
    let member = |(u, labels): (usize, &Partition)| {
        let (n, k) = (labels.n_objects(), labels.n_clusters());
        if u % 2 == 0 {
            return Member::from(labels.clone());
        }
        let mut values = Array2::zeros((n, k));
        for (i, label) in labels.iter().enumerate() {
            let Some(label) = label else { continue };
            let away = ((i * 7 + u) % 6) as f64 / 16.0;
            values[[i, label]] += 1.0 - away;
            values[[i, (label + 1) % k]] += away;
        }
        sure(law, SparseMemberships::from_array(values.view())).into()
    };
    sure(law, Ensemble::mixed(ensemble.members().iter().enumerate().map(member)))
}

/// Objects of equal memberships are alike, and neither counts nor the order of members matter.
pub(super) fn memberships(law: &str, make: Make<'_>, profile: &Profile) {
    for (seed, missing) in [(13, 0.0), (14, 0.15)] {
        let world = plant(seed, &SIZES, 10, 0.08, missing);
        let soft = softened(law, &world.ensemble);
        let Some(plain) = read(law, make, &soft) else { continue };
        if profile.member_permutation {
            let order: Vec<usize> = (0..soft.n_members()).rev().collect();
            let moved = sure(law, make(4).fit(&sure(law, soft.select(&order)), &()));
            hold(law, moved.output == plain.output, || {
                format!("another partition with the members reversed on {}", show(&soft))
            });
        }
        if profile.counts {
            let worlds = Counted::of(law, &soft, seed);
            let rows = sure(law, make(4).fit(&worlds.counted, &())).output;
            let objects = sure(law, make(4).fit(&worlds.repeated, &())).output;
            hold(law, sure(law, rows.select(&worlds.row_of)) == objects, || {
                format!("another partition with the rows repeated on {}", show(&soft))
            });
        }
    }
}
