//! Laws of consensus functions.

use crate::counts::{Counted, same_objective};
use crate::order::{self, Moved};
use crate::run::{Make, run};
use crate::watch::{cancellation, progress, threads};
use crate::worlds::{clear_worlds, plant, show, small_worlds, unequal_worlds};
use crate::{Profile, hold, labels, members, sure};
use consilience_core::{ConsensusFunction, Ensemble, Partition, scores};

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, Make<'_>, &Profile));

/// The laws in the order they are tried, simple ones first.
pub(super) const LAWS: [Law; 24] = [
    ("one object", labels::one_object),
    ("k outside 1..=n is refused with both numbers", labels::clusters_out_of_range),
    ("all objects equal", labels::all_equal),
    ("k above the number of distinct objects", labels::too_many_clusters),
    ("objects unlabelled in some members", labels::partly_unlabelled),
    ("objects unlabelled everywhere stay unlabelled", labels::silent_objects),
    ("members that say nothing", labels::silent_members),
    ("disconnected graphs and isolated objects", labels::disconnected),
    ("single-cluster and all-singleton members", labels::trivial_members),
    ("label gaps and huge labels", labels::gaps),
    ("permuting members", |law, make, profile| order::clear(law, make, profile, Moved::Members)),
    ("permuting objects", |law, make, profile| order::clear(law, make, profile, Moved::Objects)),
    ("a unanimous ensemble", unanimous),
    ("doubling every object", duplication),
    ("rows that stand for many objects", counted),
    ("weights of members", members::weights),
    ("members that give memberships", members::memberships),
    ("planted structure is found", planted_found),
    ("same bits at any number of threads", same_bits),
    ("cancellation", cancelled),
    ("progress", progressing),
    ("small worlds", all_small_worlds),
    ("many members that agree on nothing", order::noise),
    ("permuting members and objects of small worlds", order::ties),
];

/// Puts a consensus function through every law that its profile does not switch off.
///
/// `make` builds the method for a number of clusters; seeded methods fix their seed in it.
///
/// Tried are: every row about labels in our table of bad input; permuting and doubling; unanimous
/// and planted ensembles; equal bits on 1, 2, 3 and 8 threads; cancellation and progress; all
/// [`small_worlds`](super::small_worlds) for every number of clusters; and permuted members and
/// objects of small worlds, where ties decide and graphs fall apart. Other names of the same labels
/// make an equal ensemble, so that no method can tell.
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn consensus_function(
    make: &dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Partition>>,
    profile: &Profile,
) {
    for (name, law) in LAWS {
        law(name, make, profile);
    }
}

fn unanimous(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.unanimous {
        return;
    }
    type Label = fn(usize) -> Option<u64>;
    let groupings: [(usize, Label); 5] = [
        (30, |i| Some((i * i % 7) as u64)),
        (24, |i| Some(i as u64 / 6)),
        (10, |_| Some(0)),
        (6, |i| Some(i as u64)),
        (20, |i| (i % 5 != 4).then_some((i % 5) as u64)),
    ];
    for (n, label) in groupings {
        let agreed = sure(law, Partition::from_fn(n, label));
        for members in [1, 2, 5] {
            let ensemble = sure(law, Ensemble::new(vec![agreed.clone(); members]));
            let out = run(law, make, profile, agreed.n_clusters(), &ensemble).output;
            hold(law, out == agreed, || {
                format!(
                    "{members} members say {:?}, out came {:?}",
                    agreed.to_signed(),
                    out.to_signed()
                )
            });
        }
    }
}

fn duplication(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.duplication {
        return;
    }
    for world in clear_worlds() {
        let n = world.ensemble.n_objects();
        let plain = run(law, make, profile, 4, &world.ensemble);
        let doubled: Vec<usize> = (0..2 * n).map(|i| i / 2).collect();
        let again = run(law, make, profile, 4, &sure(law, world.ensemble.select_objects(&doubled)));
        hold(law, again.output == sure(law, plain.output.select(&doubled)), || {
            format!("another partition on {}, doubled", show(&world.ensemble))
        });
    }
}

fn counted(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.counts {
        return;
    }
    // Clear structure, and few objects of two members, are found without the counts too.
    let few = small_worlds(3, 2).step_by(7).chain(unequal_worlds());
    let few = few.map(|ensemble| (3, ensemble));
    let clear = clear_worlds().into_iter().map(|world| (4, world.ensemble));
    for (seed, (k, ensemble)) in clear.chain(few).enumerate() {
        let worlds = Counted::of(law, &ensemble, seed as u64);
        for k in 1..=k {
            let rows = run(law, make, profile, k, &worlds.counted);
            let objects = run(law, make, profile, k, &worlds.repeated);
            hold(law, objects.output == sure(law, rows.output.select(&worlds.row_of)), || {
                format!(
                    "k = {k}, counts {:?} give {:?}, the rows repeated {:?} on {}",
                    worlds.counted.counts(),
                    rows.output.to_signed(),
                    objects.output.to_signed(),
                    show(&ensemble)
                )
            });
            same_objective(law, rows.report.objective, objects.report.objective);
            run(law, make, profile, k, &worlds.huge(law));
        }
    }
}

fn planted_found(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.planted {
        return;
    }
    for world in clear_worlds() {
        let out = run(law, make, profile, 4, &world.ensemble).output;
        let ari = sure(law, scores::adjusted_rand(&out, &world.truth));
        hold(law, ari >= 0.9, || {
            format!("adjusted Rand index {ari:.3} on {}", show(&world.ensemble))
        });
    }
}

/// Sizes of five clusters that add up to `n`, none empty for `n >= 15`.
fn sizes_of(n: usize) -> [usize; 5] {
    let [a, b, c, d] = [n / 3, n / 4, n / 6, n / 8];
    [a, b, c, d, n - a - b - c - d]
}

fn same_bits(law: &str, make: Make<'_>, profile: &Profile) {
    let sizes = sizes_of(profile.thread_objects.max(15));
    for (noise, missing) in [(0.2, 0.0), (0.2, 0.2)] {
        let world = plant(4, &sizes, 10, noise, missing);
        let ensemble = &world.ensemble;
        let method = make(5);
        threads(law, &show(ensemble), &|observer| method.fit(ensemble, observer));
    }
}

fn cancelled(law: &str, make: Make<'_>, _: &Profile) {
    for world in clear_worlds() {
        let method = make(4);
        cancellation(law, &show(&world.ensemble), &|observer| {
            method.fit(&world.ensemble, observer)
        });
    }
}

fn progressing(law: &str, make: Make<'_>, _: &Profile) {
    for world in clear_worlds() {
        let method = make(4);
        progress(law, &show(&world.ensemble), &|observer| method.fit(&world.ensemble, observer));
    }
}

fn all_small_worlds(law: &str, make: Make<'_>, profile: &Profile) {
    let (objects, members) = profile.small_worlds;
    for ensemble in small_worlds(objects, members).in_one_order() {
        for k in 1..=objects {
            run(law, make, profile, k, &ensemble);
        }
    }
}
