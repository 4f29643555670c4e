//! The order of members and objects: on clear structure, and where ties decide, in small worlds and
//! random tiny ones, graphs in many components among them.

use crate::run::{Make, run};
use crate::worlds::{clear_worlds, show, tied_worlds};
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
    ties("permuting members and objects of small worlds", make, profile);
}

/// What is put into another order.
#[derive(Clone, Copy)]
pub(super) enum Moved {
    Members,
    Objects,
}

impl Moved {
    /// An ensemble in a new order.
    fn ensemble(self, law: &str, of: &Ensemble, order: &[usize]) -> Ensemble {
        match self {
            Moved::Members => sure(law, of.select(order)),
            Moved::Objects => sure(law, of.select_objects(order)),
        }
    }

    /// A partition, as it should follow.
    fn partition(self, law: &str, of: &Partition, order: &[usize]) -> Partition {
        match self {
            Moved::Members => of.clone(),
            Moved::Objects => sure(law, of.select(order)),
        }
    }

    /// How many there are, and what they are called.
    fn of(self, ensemble: &Ensemble) -> (usize, &'static str) {
        match self {
            Moved::Members => (ensemble.n_members(), "members"),
            Moved::Objects => (ensemble.n_objects(), "objects"),
        }
    }
}

/// On clear structure, where nothing is decided by ties.
pub(super) fn clear(law: &str, make: Make<'_>, profile: &Profile, moved: Moved) {
    let promised = match moved {
        Moved::Members => profile.member_permutation,
        Moved::Objects => profile.object_permutation,
    };
    if !promised {
        return;
    }
    for (w, world) in clear_worlds().into_iter().enumerate() {
        let plain = run(law, make, profile, 4, &world.ensemble).output;
        let (count, name) = moved.of(&world.ensemble);
        let mut order: Vec<usize> = (0..count).collect();
        for round in 0..3 {
            if round == 0 {
                order.reverse();
            } else {
                Seed(w as u64).derive(name, round).stream().shuffle(&mut order);
            }
            let ensemble = moved.ensemble(law, &world.ensemble, &order);
            let again = run(law, make, profile, 4, &ensemble).output;
            hold(law, again == moved.partition(law, &plain, &order), || {
                format!("another partition (order {order:?}) on {}", show(&world.ensemble))
            });
        }
    }
}

/// Backwards, and one at random.
fn orders(n: usize, seed: u64) -> [Vec<usize>; 2] {
    let mut shuffled: Vec<usize> = (0..n).collect();
    Seed(seed).derive("order", n as u64).stream().shuffle(&mut shuffled);
    [(0..n).rev().collect(), shuffled]
}

/// A small world in another order.
struct Reordered {
    moved: Moved,
    order: Vec<usize>,
    ensemble: Ensemble,
}

/// A world in all orders in which something is promised.
fn reordered(law: &str, world: &Ensemble, profile: &Profile, seed: u64) -> Vec<Reordered> {
    let members = (Moved::Members, profile.member_permutation);
    let objects = (Moved::Objects, profile.object_ties);
    let mut all = Vec::new();
    for (moved, _) in [members, objects].into_iter().filter(|(_, promised)| *promised) {
        for order in orders(moved.of(world).0, seed) {
            let ensemble = moved.ensemble(law, world, &order);
            if !matches!(moved, Moved::Members) || ensemble != *world {
                all.push(Reordered { moved, order, ensemble });
            }
        }
    }
    all
}

/// On small worlds, for every number of clusters: members in another order give the same partition,
/// objects the reordered one or one that a symmetry exchanges with it.
pub(super) fn ties(law: &str, make: Make<'_>, profile: &Profile) {
    for (w, world) in tied_worlds(profile).enumerate() {
        let reordered = reordered(law, &world, profile, w as u64);
        let numbers = if reordered.is_empty() { 0 } else { world.n_objects() };
        for k in 1..=numbers {
            let plain = run(law, make, profile, k, &world).output;
            for Reordered { moved, order, ensemble } in &reordered {
                let again = run(law, make, profile, k, ensemble).output;
                let expected = moved.partition(law, &plain, order);
                let (holds, rest) = match moved {
                    Moved::Members => (again == expected, ""),
                    Moved::Objects => (
                        symmetric(law, ensemble, &expected, &again),
                        ", and no symmetry of the ensemble exchanges the two",
                    ),
                };
                hold(law, holds, || {
                    format!(
                        "{:?} became {:?} (order {order:?}) for k = {k} on {}{rest}",
                        expected.to_signed(),
                        again.to_signed(),
                        show(ensemble)
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
