//! One run of a consensus function, and what every result must obey.

use crate::watch::succeed;
use crate::worlds::{distinct_rows, heard, show};
use crate::{Profile, hold};
use consilience_core::{ConsensusFunction, Ensemble, Fit, Partition};

/// Makes the method for a number of clusters.
pub(super) type Make<'a> = &'a dyn Fn(usize) -> Box<dyn ConsensusFunction<Output = Partition>>;

/// Runs the method, which must succeed, and checks what every result must obey.
pub(super) fn run(
    law: &str,
    make: Make<'_>,
    profile: &Profile,
    k: usize,
    ensemble: &Ensemble,
) -> Fit<Partition> {
    let input = || format!("k = {k}, {}", show(ensemble));
    let before = ensemble.clone();
    let fit = succeed(law, &input(), || make(k).fit(ensemble, &()));
    hold(law, *ensemble == before, || format!("the input changed: {}", input()));
    let out = &fit.output;
    let n = ensemble.n_objects();
    hold(law, out.n_objects() == n, || {
        format!("{} objects out of {n} on {}", out.n_objects(), input())
    });
    for i in 0..n {
        let (is, should) = (out.label(i).is_some(), heard(ensemble, i));
        hold(law, is == should, || {
            let word = |labelled| if labelled { "labelled" } else { "unlabelled" };
            format!("object {i} is {}, expected {} on {}", word(is), word(should), input())
        });
    }
    check_clusters(law, profile, &fit, (k, distinct_rows(ensemble)), &input);
    fit
}

/// As many clusters as the profile promises where there are so many different objects, none of them
/// empty, and what is missing told.
pub(super) fn check_clusters(
    law: &str,
    profile: &Profile,
    fit: &Fit<Partition>,
    (k, distinct): (usize, usize),
    input: &dyn Fn() -> String,
) {
    let (found, most) = (fit.output.n_clusters(), k.min(distinct));
    if profile.exact_clusters {
        hold(law, found == most, || format!("{found} clusters, expected {most} on {}", input()));
    } else if profile.checks_clusters {
        hold(law, found <= most, || {
            format!("{found} clusters, expected at most {most} on {}", input())
        });
    }
    let missing = fit.report.clusters_missing;
    hold(law, most == k || missing.is_some() || !profile.checks_clusters, || {
        format!("{found} clusters, but clusters missing {missing:?} on {}", input())
    });
    let sizes = fit.output.sizes();
    hold(law, sizes.iter().all(|&s| s > 0), || format!("an empty cluster on {}", input()));
}
