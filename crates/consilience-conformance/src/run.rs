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
    let (found, most) = (out.n_clusters(), k.min(distinct_rows(ensemble)));
    if profile.exact_clusters {
        hold(law, found == most, || format!("{found} clusters, expected {most} on {}", input()));
    } else if profile.checks_clusters {
        hold(law, found <= most, || {
            format!("{found} clusters, expected at most {most} on {}", input())
        });
    }
    let told = most == k || fit.report.clusters_missing.is_some();
    hold(law, told || !profile.checks_clusters, || {
        format!(
            "{found} clusters, but clusters missing {:?} on {}",
            fit.report.clusters_missing,
            input()
        )
    });
    hold(law, out.sizes().iter().all(|&s| s > 0), || format!("an empty cluster on {}", input()));
    fit
}
