//! What the weighted methods have in common.

use consilience_core::{
    Ensemble, Error, Fit, MemoryBudget, Observer, Partition, Report, Result, SimilarityGraph,
    Status,
};
use ndarray::Array2;
use rayon::prelude::*;

use crate::average::average_linkage;
use crate::{ClusterIncidence, Clusters, Dendrogram, Microclusters, TransferCut};

/// Weights on a grid so coarse that sums of `terms` of them are exact: whatever the order of the
/// members, equal sums have equal bits, and ties stay ties. The grid is at most 2^-52 `terms` of
/// the largest weight.
pub(crate) fn on_grid(weights: &mut [f64], terms: usize) {
    let largest = weights.iter().fold(0.0f64, |m, &w| m.max(w));
    if largest > 0.0 {
        let bits = largest.log2().ceil() + (terms.max(1) as f64).log2().ceil() - 52.0;
        let unit = 2f64.powi(bits.max(-1000.0) as i32);
        weights.iter_mut().for_each(|w| *w = (*w / unit).round() * unit);
    }
}

/// The weighted co-association of microclusters: of the members that label both, the weights of the
/// clusters that hold both over the weights of the members. Where no member with any weight labels
/// both it is 0.
pub(crate) fn co_association(
    microclusters: &Microclusters,
    incidence: &ClusterIncidence,
    mut cluster_weights: Vec<f64>,
    mut member_weights: Vec<f64>,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<SimilarityGraph> {
    let n = microclusters.n_nodes();
    budget.check_square("weighted co-association", n, 8)?;
    on_grid(&mut cluster_weights, incidence.n_members());
    on_grid(&mut member_weights, incidence.n_members());
    let silent: Vec<Vec<u32>> = microclusters
        .rows()
        .iter()
        .map(|p| p.iter().enumerate().filter(|(_, l)| l.is_none()).map(|(i, _)| i as u32).collect())
        .collect();
    let all: f64 = member_weights.iter().sum();
    let mut a = vec![0.0; n * n];
    a.par_chunks_mut(n.max(1)).enumerate().try_for_each_init(
        || vec![0.0; n],
        |both, (i, out)| {
            if i % 64 == 0 {
                observer.check()?;
            }
            both.fill(all);
            for ((member, silent), &v) in
                microclusters.rows().iter().zip(&silent).zip(&member_weights)
            {
                if member.label(i).is_none() {
                    both.iter_mut().for_each(|b| *b -= v);
                } else {
                    silent.iter().for_each(|&j| both[j as usize] -= v);
                }
            }
            for &c in incidence.clusters_of(i) {
                let w = cluster_weights[c as usize];
                for &j in incidence.rows_of(c as usize) {
                    out[j as usize] += w;
                }
            }
            for (o, &b) in out.iter_mut().zip(both.iter()) {
                *o = if b > 0.0 { *o / b } else { 0.0 };
            }
            Ok::<(), Error>(())
        },
    )?;
    observer.progress("similarity", n, n);
    let a = Array2::from_shape_vec((n, n), a).map_err(|e| Error::shape(e.to_string()))?;
    SimilarityGraph::new(microclusters.grouping().clone(), a)
}

/// Whether every member labels every microcluster.
pub(crate) fn is_complete(microclusters: &Microclusters) -> bool {
    microclusters.rows().iter().all(Partition::is_complete)
}

/// The tree of average linkage over the microclusters of a complete ensemble, under weights of its
/// clusters and members, at least one of them positive.
pub(crate) fn average_tree(
    microclusters: &Microclusters,
    report: &mut Report,
    observer: &dyn Observer,
    weights: impl FnOnce(&ClusterIncidence) -> Result<(Vec<f64>, Vec<f64>)>,
) -> Result<Dendrogram> {
    if microclusters.n_nodes() == 0 {
        return Err(Error::empty("a dendrogram needs at least one leaf"));
    }
    let (incidence, (mut clusters, mut members)) = report.stage("similarity", || {
        let incidence = ClusterIncidence::of(microclusters);
        let weights = weights(&incidence)?;
        Ok::<_, Error>((incidence, weights))
    })?;
    on_grid(&mut clusters, incidence.n_members());
    on_grid(&mut members, incidence.n_members());
    let total = members.iter().sum();
    report.stage("partition", || average_linkage(&incidence, &clusters, total, observer))
}

/// A consensus by way of microclusters: k is checked first, objects without any label stay so, and
/// the report tells the clusters that are missing. `work` gets at least one microcluster.
pub(crate) fn collapsed(
    ensemble: &Ensemble,
    asked: Option<usize>,
    observer: &dyn Observer,
    work: impl FnOnce(&Microclusters, &mut Report) -> Result<Vec<usize>>,
) -> Result<Fit<Partition>> {
    let mut report = Report::default();
    let microclusters =
        report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
    report.microclusters = Some(microclusters.n_nodes());
    let clusters = if microclusters.n_nodes() == 0 {
        observer.check()?;
        Vec::new()
    } else {
        work(&microclusters, &mut report)?
    };
    let partition = microclusters.grouping().expand(&clusters)?;
    if let Some(k) = asked {
        report.expect_clusters(
            k,
            partition.n_clusters(),
            "the ensemble distinguishes no more objects",
        );
    }
    Ok(Fit::new(partition, report))
}

/// A consensus by a transfer cut of the incidence under the weights of its clusters.
pub(crate) fn cut_incidence(
    ensemble: &Ensemble,
    clusters: Clusters,
    cut: TransferCut,
    observer: &dyn Observer,
    weights: impl FnOnce(&ClusterIncidence) -> Result<Vec<f64>>,
) -> Result<Fit<Partition>> {
    let asked = asked(ensemble, clusters)?;
    cut.check(ensemble.n_objects())?;
    collapsed(ensemble, asked, observer, |microclusters, report| {
        let (incidence, weights) = report.stage("similarity", || {
            let incidence = ClusterIncidence::of(microclusters);
            let weights = weights(&incidence)?;
            Ok::<_, Error>((incidence, weights))
        })?;
        let n = microclusters.n_nodes();
        let cut = cut.clusters(at_most(clusters, n));
        let fit = report
            .stage("partition", || cut.partition_incidence(&incidence, &weights, observer))?;
        Ok(adopt(report, fit))
    })
}

/// The number of clusters asked for, checked.
pub(crate) fn asked(ensemble: &Ensemble, clusters: Clusters) -> Result<Option<usize>> {
    match clusters {
        Clusters::Fixed(k) => {
            ensemble.check_clusters(k)?;
            Ok(Some(k))
        }
        Clusters::Eigengap => Ok(None),
    }
}

pub(crate) fn at_most(clusters: Clusters, n: usize) -> Clusters {
    match clusters {
        Clusters::Fixed(k) => Clusters::Fixed(k.min(n)),
        Clusters::Eigengap => Clusters::Eigengap,
    }
}

/// Takes over what a step says about itself.
pub(crate) fn adopt<T>(report: &mut Report, fit: Fit<T>) -> T {
    if fit.report.status != Status::Solved {
        report.status = fit.report.status;
    }
    report.iterations = fit.report.iterations;
    report.objective = fit.report.objective;
    report.notes.extend(fit.report.notes);
    fit.output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_on_the_grid_are_exact_in_any_order() {
        let mut w: Vec<f64> = (0..1000).map(|i| 0.1 + (f64::from(i) * 0.7).sin().abs()).collect();
        let before = w.clone();
        on_grid(&mut w, 1000);
        assert!(w.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-12));
        let forth: f64 = w.iter().sum();
        let back: f64 = w.iter().rev().sum();
        assert_eq!(forth.to_bits(), back.to_bits());
        assert_eq!(w.iter().fold(forth, |s, w| s - w), 0.0);
        let mut zeros = [0.0; 3];
        on_grid(&mut zeros, 3);
        assert_eq!(zeros, [0.0; 3]);
    }
}
