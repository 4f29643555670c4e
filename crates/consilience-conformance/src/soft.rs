//! Laws of soft consensus functions.

use crate::counts::{Counted, same_objective};
use crate::watch::{refuse, succeed, threads};
use crate::worlds::{
    distinct_rows, heard, members, planted_ensembles, row, show, small_worlds, thread_ensembles,
    trivial_ensembles,
};
use crate::{Hard, Profile, consensus_function, hold, numbering, sure};
use consilience_core::{
    ConsensusFunction, Ensemble, ErrorKind, Fit, Memberships, Observer, Partition, Result,
};

/// A soft consensus function behind a pointer.
type Soft = Box<dyn ConsensusFunction<Output = Memberships>>;

/// Makes the method for a number of clusters.
pub(super) type Make<'a> = &'a dyn Fn(usize) -> Soft;

/// One law: its name, and what panics where it is broken.
pub(super) type Law = (&'static str, fn(&str, Make<'_>, &Profile));

/// The laws in the order they are tried, before those of hard consensus functions.
pub(super) const LAWS: [Law; 7] = [
    ("k outside 1..=n is refused before anything else", clusters_first),
    ("rows are distributions", distributions),
    ("alike objects have equal rows", alike),
    ("rows that stand for many objects", counted),
    ("memberships have the same bits at any number of threads", same_bits),
    ("certain where all members agree", unanimous),
    ("rows of small worlds are distributions", all_small_worlds),
];

/// Puts a soft consensus function through every law that its profile does not switch off: those of
/// memberships, and, each object in its largest cluster, all of [`consensus_function`].
///
/// Tried of the memberships are: rows that sum to 1 within 1e-9, at most k columns, evidence 0 and
/// the uniform row exactly for objects that no member labels; label j of the hard partition the
/// largest column j; equal rows for objects with equal labels; equal bits on 1, 2, 3 and 8 threads;
/// certainty (0.99) on unanimous ensembles; reports without NaN, and with
/// [`Report::clusters_missing`](consilience_core::Report::clusters_missing) above the number of
/// distinct objects; all [`small_worlds`](super::small_worlds).
///
/// # Panics
/// Where a law is broken, with its name and the input.
pub fn soft_consensus_function(
    make: &dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Memberships>>,
    profile: &Profile,
) {
    for (name, law) in LAWS {
        law(name, make, profile);
    }
    consensus_function(&|k| Box::new(Hard(Pointed(make(k)))), profile);
}

/// A pointer to a method is a method.
struct Pointed(Soft);

impl ConsensusFunction for Pointed {
    type Output = Memberships;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        self.0.fit(ensemble, observer)
    }
}

/// Runs the method, which must succeed, and checks what every result must obey.
fn run(
    law: &str,
    make: Make<'_>,
    profile: &Profile,
    k: usize,
    ensemble: &Ensemble,
) -> Fit<Memberships> {
    let input = || format!("k = {k}, {}", show(ensemble));
    let fit = succeed(law, &input(), || make(k).fit(ensemble, &()));
    let (y, n) = (&fit.output, ensemble.n_objects());
    hold(law, y.n_objects() == n, || {
        format!("{} rows for {n} objects on {}", y.n_objects(), input())
    });
    hold(law, !profile.checks_clusters || y.n_clusters() <= k, || {
        format!("{} columns on {}", y.n_clusters(), input())
    });
    let uniform = 1.0 / y.n_clusters() as f64;
    for (i, row) in y.values().rows().into_iter().enumerate() {
        let sum = row.sum();
        hold(law, (sum - 1.0).abs() < 1e-9 && row.iter().all(|v| (0.0..=1.0).contains(v)), || {
            format!("row {i} is {row}, sum {sum}, on {}", input())
        });
        let evidence = y.evidence()[i];
        hold(law, (evidence > 0.0) == heard(ensemble, i), || {
            let word = if heard(ensemble, i) { "labelled" } else { "silent" };
            format!("evidence {evidence} of the {word} object {i} on {}", input())
        });
        hold(law, evidence > 0.0 || row.iter().all(|v| (v - uniform).abs() < 1e-12), || {
            format!("row {i} without evidence is {row}, not uniform, on {}", input())
        });
    }
    numbering::columns(law, &sure(law, y.hard()), y, &|| format!(" on {}", input()));
    let report = &fit.report;
    hold(law, !report.objective.is_some_and(f64::is_nan), || {
        format!("objective NaN on {}", input())
    });
    hold(law, report.microclusters.is_none_or(|m| m <= n), || {
        format!("{:?} microclusters of {n} objects on {}", report.microclusters, input())
    });
    let told = k <= distinct_rows(ensemble) || report.clusters_missing.is_some();
    hold(law, told || !profile.checks_clusters, || {
        format!(
            "more clusters than distinct objects, but clusters missing {:?} on {}",
            report.clusters_missing,
            input()
        )
    });
    fit
}

/// Bad k is told even where there is nothing to be done.
fn clusters_first(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.checks_clusters {
        return;
    }
    for ensemble in [members(&[&[-1, -1]]), members(&[&[0, 1, 0], &[0, 0, 1]])] {
        let n = ensemble.n_objects();
        for k in [0, n + 1, usize::MAX] {
            let input = format!("k = {k}, {}", show(&ensemble));
            refuse(law, &input, ErrorKind::InvalidParameter, &[k, n], || {
                make(k).fit(&ensemble, &())
            });
        }
    }
}

fn distributions(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in trivial_ensembles() {
        for k in 1..=ensemble.n_objects() {
            run(law, make, profile, k, &ensemble);
        }
    }
    for ensemble in planted_ensembles(11) {
        for k in [1, 2, 3, 6, 42] {
            run(law, make, profile, k, &ensemble);
        }
    }
}

fn alike(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in planted_ensembles(11) {
        let n = ensemble.n_objects();
        let doubled: Vec<usize> = (0..2 * n).map(|i| i % n).collect();
        let ensemble = sure(law, ensemble.select_objects(&doubled));
        let y = run(law, make, profile, 4, &ensemble).output;
        for i in 0..2 * n {
            for j in 0..i {
                let (a, b) = (y.row(i).to_owned(), y.values().row(j).to_owned());
                hold(law, a == b || row(&ensemble, i) != row(&ensemble, j), || {
                    format!("rows {a} of {i} and {b} of {j} on {}", show(&ensemble))
                });
            }
        }
    }
}

fn counted(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.counts {
        return;
    }
    for (seed, ensemble) in planted_ensembles(11).into_iter().enumerate() {
        let worlds = Counted::of(law, &ensemble, seed as u64);
        let rows = run(law, make, profile, 3, &worlds.counted);
        let objects = run(law, make, profile, 3, &worlds.repeated);
        let (of_rows, of_objects) = (rows.output.values(), objects.output.values());
        for (object, &row) in worlds.row_of.iter().enumerate() {
            let (a, b) = (of_rows.row(row), of_objects.row(object));
            hold(law, a == b, || format!("row {row}: {a} with counts, {b} repeated"));
        }
        same_objective(law, rows.report.objective, objects.report.objective);
        run(law, make, profile, 3, &worlds.huge(law));
    }
}

fn same_bits(law: &str, make: Make<'_>, profile: &Profile) {
    for ensemble in thread_ensembles(12, profile) {
        let method = make(5);
        threads(law, &show(&ensemble), &|observer| method.fit(&ensemble, observer));
    }
}

fn unanimous(law: &str, make: Make<'_>, profile: &Profile) {
    if !profile.unanimous {
        return;
    }
    for clusters in [1, 2, 4] {
        let agreed =
            sure(law, Partition::from_fn(24, |i| Some(((i + i * i / 7) % clusters) as u64)));
        let ensemble = sure(law, Ensemble::new(vec![agreed.clone(); 3]));
        let y = run(law, make, profile, clusters, &ensemble).output;
        for (i, row) in y.values().rows().into_iter().enumerate() {
            hold(law, row.iter().any(|&v| v >= 0.99), || {
                format!("row {i} is {row}, though all members say {:?}", agreed.to_signed())
            });
        }
        let hard = sure(law, y.hard());
        hold(law, hard == agreed, || {
            format!("members say {:?}, out came {:?}", agreed.to_signed(), hard.to_signed())
        });
    }
}

fn all_small_worlds(law: &str, make: Make<'_>, profile: &Profile) {
    let (objects, count) = profile.small_worlds;
    // The hard laws run all of them again.
    for ensemble in small_worlds(objects.min(4), count).in_one_order() {
        for k in 1..=ensemble.n_objects() {
            run(law, make, profile, k, &ensemble);
        }
    }
}
