//! The order of members and objects where ties decide: small worlds and random tiny ones, graphs
//! in many components among them.

use crate::run::{Make, run};
use crate::worlds::{show, small_worlds, tiny_worlds};
use crate::{Profile, hold, sure};
use consilience_core::{ConsensusFunction, Ensemble, Partition, Seed};

/// The laws of [`consensus_function`](super::consensus_function) about the order of members and
/// objects where ties decide, alone: what a survey of many methods, each of which goes through the
/// whole suite elsewhere, needs.
///
/// Tried on small worlds of at most four objects, on random tiny ensembles, half of them in several
/// components, and for every number of clusters: reordered members give an equal partition;
/// reordered objects the reordered one, or one that a symmetry of the ensemble exchanges with it.
/// Ensembles of ten members that agree on nothing are answered.
///
/// ```
/// use consilience::conformance::{Profile, reordering};
/// use consilience::consensus::Hbgf;
///
/// // Alike microclusters get one place: fewer clusters may come out.
/// let profile = Profile { exact_clusters: false, small_worlds: (3, 2), ..Profile::default() };
/// reordering(&|clusters| Box::new(Hbgf::new(clusters)), &profile);
/// ```
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn reordering(
    make: &dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Partition>>,
    profile: &Profile,
) {
    noise("many members that agree on nothing", make, profile);
    members("permuting members of small worlds", make, profile);
    objects("permuting objects of small worlds", make, profile);
}

/// What is reordered: small worlds of at most four objects, and tiny worlds.
fn worlds(profile: &Profile) -> impl Iterator<Item = Ensemble> {
    let (objects, members) = profile.small_worlds;
    small_worlds(objects.min(4), members).chain(tiny_worlds())
}

/// Backwards, and one at random.
fn orders(n: usize, seed: u64) -> [Vec<usize>; 2] {
    let mut shuffled: Vec<usize> = (0..n).collect();
    Seed(seed).derive("order", n as u64).stream().shuffle(&mut shuffled);
    [(0..n).rev().collect(), shuffled]
}

pub(super) fn members(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.member_permutation {
        return;
    }
    for (w, ensemble) in worlds(profile).enumerate() {
        for order in orders(ensemble.n_members(), w as u64) {
            let moved = sure(law, ensemble.select(&order));
            if moved == ensemble {
                continue;
            }
            for k in 1..=ensemble.n_objects() {
                let plain = run(law, make, profile, k, &ensemble).output;
                let again = run(law, make, profile, k, &moved).output;
                hold(law, again == plain, || {
                    format!(
                        "{:?} became {:?} (order {order:?}) for k = {k} on {}",
                        plain.to_signed(),
                        again.to_signed(),
                        show(&ensemble)
                    )
                });
            }
        }
    }
}

pub(super) fn objects(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.object_ties {
        return;
    }
    for (w, ensemble) in worlds(profile).enumerate() {
        for order in orders(ensemble.n_objects(), w as u64) {
            let moved = sure(law, ensemble.select_objects(&order));
            for k in 1..=ensemble.n_objects() {
                let plain = run(law, make, profile, k, &ensemble).output;
                let again = run(law, make, profile, k, &moved).output;
                let expected = sure(law, plain.select(&order));
                hold(law, symmetric(law, &moved, &expected, &again), || {
                    format!(
                        "{:?} became {:?} (order {order:?}) for k = {k} on {}, and no symmetry of \
                         the ensemble exchanges the two",
                        expected.to_signed(),
                        again.to_signed(),
                        show(&moved)
                    )
                });
            }
        }
    }
}

/// Whether some reordering of the objects takes one partition to the other and leaves the ensemble
/// as it is, up to the order of its members.
fn symmetric(law: &str, ensemble: &Ensemble, a: &Partition, b: &Partition) -> bool {
    let sorted = |e: &Ensemble| {
        let mut members: Vec<_> = e.members().iter().map(Partition::to_signed).collect();
        members.sort_unstable();
        members
    };
    a == b || {
        let own = sorted(ensemble);
        any_order(a.n_objects(), &mut Vec::new(), &mut |order| {
            sure(law, a.select(order)) == *b
                && sorted(&sure(law, ensemble.select_objects(order))) == own
        })
    }
}

/// Whether the test holds for some order of so many objects.
fn any_order(n: usize, so_far: &mut Vec<usize>, test: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    if so_far.len() == n {
        return test(so_far);
    }
    for next in 0..n {
        if !so_far.contains(&next) {
            so_far.push(next);
            let found = any_order(n, so_far, test);
            so_far.pop();
            if found {
                return true;
            }
        }
    }
    false
}

/// Many clusters of many members that agree on nothing: sums of shares round in every way, and
/// all numbers of clusters are run.
pub(super) fn noise(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in crate::worlds::noise_worlds() {
        for k in 1..=ensemble.n_objects() {
            run(law, make, profile, k, &ensemble);
        }
    }
}
