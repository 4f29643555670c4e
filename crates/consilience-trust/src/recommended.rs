use consilience_core::scores::Normalizer;
use consilience_core::scores::weighted_nmi;
use consilience_core::{
    ConsensusFunction, Ensemble, Fit, MemoryBudget, Observer, Partition, Report, Result, Seed,
    Status,
};
use consilience_graph::{Agglomeration, Cut, Diffusion, Linkage, LocallyWeighted, Microclusters};

use crate::ClusterNumber;
use crate::support::Support;

/// How much denser the clusters of LWEA must be for it to be chosen.
const MARGIN: f64 = 0.02;
/// Up to this many microclusters the dense similarity of LWEA is worth its time.
const DENSE: usize = 10_000;

/// The method that the ensemble itself speaks for: [`Diffusion`], or
/// [`Lwea`](consilience_graph::Lwea) where small clusters would be lost.
///
/// Take it where nothing is known about the data. Both candidates are computed, and the choice is
/// made by the *mean density* of their clusters: how often two objects of a cluster are together in
/// the members, on average over the clusters, each counting alike however small it is. Graph cuts
/// make clusters of similar size, and where the classes are not, they fill them up with objects
/// that do not belong together; average linkage then has clearly denser clusters. Where it is not
/// denser by 0.02 diffusion is better on average. What was chosen, by which numbers, stands in the
/// notes of the report. The measurements are in `docs/choosing.md`.
///
/// Without a number of clusters ([`Recommended::choose_clusters`]) it is taken from
/// [`ClusterNumber`].
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_trust::Recommended;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let fit = Recommended::new(3).fit(&ensemble, &())?;
/// assert_eq!(fit.output.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// assert!(fit.report.notes[0].starts_with("chosen: diffusion"));
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// That of [`Diffusion`], and up to 10,000 microclusters that of [`Lwea`](consilience_graph::Lwea);
/// beyond, diffusion is taken and the report says so.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`.
///
/// # References
/// Ours; the candidates are those of Huang, Wang, Lai 2018 and of [`Diffusion`].
#[doc(alias = "auto")]
#[derive(Clone, Copy, Debug)]
pub struct Recommended {
    clusters: Option<usize>,
    dense_limit: usize,
    budget: MemoryBudget,
    seed: Seed,
}

impl Recommended {
    /// The recommended consensus into k clusters.
    pub fn new(clusters: usize) -> Self {
        Recommended { clusters: Some(clusters), ..Self::choose_clusters() }
    }

    /// The recommended consensus; [`ClusterNumber`] chooses the number of clusters too.
    pub fn choose_clusters() -> Self {
        Recommended {
            clusters: None,
            dense_limit: DENSE,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    /// Seed of everything random.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// From how many microclusters on only methods without a dense similarity are tried.
    pub fn dense_limit(mut self, nodes: usize) -> Self {
        self.dense_limit = nodes;
        self
    }

    /// How much memory a dense similarity may take; where it does not fit, it is not tried.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Cluster of each node by the method chosen.
    fn choose(
        &self,
        microclusters: &Microclusters,
        k: usize,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let n = microclusters.n_nodes();
        let fit = report.stage("diffusion", || {
            Diffusion::new(k.min(n)).seed(self.seed).cut(microclusters, observer)
        })?;
        if fit.report.status != Status::Solved {
            report.status = fit.report.status;
        }
        report.iterations = fit.report.iterations;
        let diffusion = fit.output;
        if n > self.dense_limit || self.budget.check_square("similarity", n, 8).is_err() {
            report.notes.push(format!(
                "chosen: diffusion, since a dense similarity of {n} microclusters was not tried"
            ));
            return Ok(diffusion);
        }
        let linked = report.stage("lwea", || {
            let graph = LocallyWeighted::default()
                .memory_budget(self.budget)
                .between(microclusters, observer)?;
            Agglomeration::new(Linkage::Average, Cut::Clusters(k))
                .dendrogram(graph, observer)?
                .cut(k)
        })?;
        let weights: Vec<f64> = microclusters.sizes().iter().map(|&s| f64::from(s)).collect();
        let density = |clusters: &[usize]| {
            let some: Vec<Option<usize>> = clusters.iter().map(|&c| Some(c)).collect();
            let k = clusters.iter().max().map_or(0, |c| c + 1);
            Support::of(microclusters.rows(), &weights, &some, k).mean_density()
        };
        let (d, l) = (density(&diffusion), density(&linked));
        let linked_is_denser = l > d + MARGIN;
        let nmi = weighted_nmi(
            &Partition::from_labels(&diffusion)?,
            &Partition::from_labels(&linked)?,
            &weights,
            Normalizer::Sqrt,
        );
        let (name, why) = if linked_is_denser {
            ("lwea", "its clusters are clearly denser: classes of unequal size, or outliers")
        } else {
            ("diffusion", "average linkage finds no clearly denser clusters")
        };
        report.notes.push(format!(
            "chosen: {name}, since {why} (mean density of lwea {l:.3}, of diffusion {d:.3}, margin {MARGIN})"
        ));
        report.notes.push(format!(
            "the two candidates share a normalised mutual information of {:.3}",
            nmi.unwrap_or(0.0)
        ));
        Ok(if linked_is_denser { linked } else { diffusion })
    }
}

impl ConsensusFunction for Recommended {
    type Output = Partition;

    fn name(&self) -> &str {
        "auto"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        if let Some(k) = self.clusters {
            ensemble.check_clusters(k)?;
        }
        let mut report = Report::default();
        let microclusters =
            report.stage("microclusters", || Microclusters::observed(ensemble, observer))?;
        report.microclusters = Some(microclusters.n_nodes());
        let mut notes = Vec::new();
        let clusters = if microclusters.n_nodes() == 0 {
            observer.check()?;
            Vec::new()
        } else {
            let k = match self.clusters {
                Some(k) => k,
                None => {
                    let number = report.stage("number of clusters", || {
                        ClusterNumber::new().seed(self.seed).choose(ensemble, observer)
                    })?;
                    notes = number.notes;
                    number.recommended
                }
            };
            self.choose(&microclusters, k, &mut report, observer)?
        };
        report.notes.append(&mut notes);
        let partition = microclusters.grouping().expand(&clusters)?;
        if let Some(k) = self.clusters {
            report.expect_clusters(
                k,
                partition.n_clusters(),
                "the ensemble distinguishes no more objects",
            );
        }
        Ok(Fit::new(partition, report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_graph::Lwea;

    /// One large class of three dense lumps and two tiny ones, under members that cut the large one
    /// at random and always keep the tiny ones together.
    fn unbalanced(seed: u64) -> (Ensemble, Partition) {
        let mut s = Seed(seed).stream();
        let n = 400;
        let truth: Vec<usize> =
            (0..n).map(|i| if i < 380 { 0 } else { 1 + (i - 380) / 10 }).collect();
        let members = (0..10)
            .map(|_| {
                let pieces = 2 + s.below(6);
                let width = 1 + 380 / pieces;
                let shift = s.below(width);
                let labels: Vec<usize> = (0..n)
                    .map(|i| if i < 380 { (i + shift) / width } else { 100 + truth[i] })
                    .collect();
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        (Ensemble::new(members).unwrap(), Partition::from_labels(&truth).unwrap())
    }

    #[test]
    fn the_choice_is_one_of_the_candidates_and_by_the_densities() {
        let mut chosen = Vec::new();
        for seed in 0..6 {
            let worlds = [
                planted(Seed(seed), &[40, 35, 30], 10, 0.15, 0.1).unwrap().ensemble,
                unbalanced(seed).0,
            ];
            for e in worlds {
                let fit = Recommended::new(3).fit(&e, &()).unwrap();
                let (d, l) =
                    (Diffusion::new(3).consensus(&e).unwrap(), Lwea::new(3).consensus(&e).unwrap());
                let note = &fit.report.notes[0];
                let (expected, name) =
                    if note.starts_with("chosen: lwea") { (l, "lwea") } else { (d, "diffusion") };
                assert_eq!(fit.output, expected, "{note}");
                assert!(note.starts_with(&format!("chosen: {name}")));
                chosen.push(name);
            }
        }
        assert!(chosen.contains(&"diffusion"));
    }

    #[test]
    fn beyond_the_dense_limit_diffusion_is_taken() {
        let e = planted(Seed(1), &[20, 15, 10], 8, 0.2, 0.0).unwrap().ensemble;
        for method in [
            Recommended::new(3).dense_limit(0),
            Recommended::new(3).memory_budget(MemoryBudget::bytes(100)),
        ] {
            let fit = method.fit(&e, &()).unwrap();
            assert_eq!(fit.output, Diffusion::new(3).consensus(&e).unwrap());
            assert!(fit.report.notes[0].contains("not tried"));
        }
    }
}
