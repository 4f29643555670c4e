use consilience_consensus::Lwea;
use consilience_core::scores::{Normalizer, weighted_nmi};
use consilience_core::{
    Clusters, Ensemble, Error, Grouping, MemoryBudget, Microclusters, NodeConsensus, Observer,
    Partition, Report, Result, Seed,
};
use consilience_walk::Diffusion;

use crate::ClusterNumber;
use crate::support::Support;

/// How much denser the clusters of LWEA must be for it to be chosen.
const MARGIN: f64 = 0.02;
/// Default of the most microclusters for a dense similarity.
const DENSE: usize = 10_000;

/// The method that fits the ensemble: [`Diffusion`], or [`Lwea`] where small clusters would be
/// lost.
///
/// Take it where nothing is known about the data. Both candidates are computed, and the choice is
/// made by the *mean density* of their clusters: how often two objects of a cluster are together in
/// the members, on average over the clusters, each counting alike however small it is. Graph cuts
/// make clusters of similar size, and where the classes are not, they fill them up with objects
/// that do not belong together; average linkage then has clearly denser clusters. Where it is not
/// denser by 0.02 diffusion is better on average. The notes of the report say what was chosen and
/// by which numbers. The measurements are in `docs/choosing.md`.
///
/// Where the number of clusters is not given ([`Clusters::Auto`]) it is that of [`ClusterNumber`].
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::trust::Recommended;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let fit = Recommended::new(3).fit(&ensemble, &())?;
/// assert_eq!(fit.output.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// assert!(fit.report.notes[0].starts_with("chosen: diffusion"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// That of [`Diffusion`] and of [`Lwea`], which needs no matrix for complete ensembles. Where
/// labels are missing, beyond 10,000 microclusters or the memory budget, diffusion is taken and the
/// report says so.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, or a criterion other than [`Clusters::Auto`].
///
/// # References
/// Ours; the candidates are those of Huang, Wang, Lai 2018 and of [`Diffusion`].
#[doc(alias = "auto")]
#[derive(Clone, Copy, Debug)]
pub struct Recommended {
    clusters: Clusters,
    dense_limit: usize,
    budget: MemoryBudget,
    seed: Seed,
}

impl Recommended {
    /// The recommended consensus; [`ClusterNumber`] chooses the number of clusters too where it is
    /// [`Clusters::Auto`].
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Recommended {
            clusters: clusters.into(),
            dense_limit: DENSE,
            budget: MemoryBudget::default(),
            seed: Seed(0),
        }
    }

    consilience_core::setters! {
        /// Seed of everything random. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// Up to how many microclusters a dense similarity is tried, which only an ensemble with
        /// missing labels needs. Default 10,000; any number.
        pub fn dense_limit(mut self, nodes: usize) { self.dense_limit = nodes }

        /// How much memory a dense similarity may take; where it does not fit, it is not tried.
        /// Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Whether average linkage is affordable: it needs a matrix only where labels are missing.
    fn tries_linkage(&self, nodes: &Microclusters) -> bool {
        let n = nodes.n_nodes();
        nodes.is_complete()
            || (n <= self.dense_limit && self.budget.check_square("similarity", n, 8).is_ok())
    }

    /// Cluster of each node by the method chosen.
    fn choose(
        &self,
        nodes: &Microclusters,
        k: usize,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let n = nodes.n_nodes();
        let mut inner = Report::default();
        let diffusion = report.stage("diffusion", || {
            let diffusion = Diffusion::new(k.min(n)).seed(self.seed);
            let canonical = nodes.clone().canonical()?;
            let found = diffusion.solve(&canonical, &mut inner, observer)?;
            Ok::<_, Error>(of_nodes(nodes, &canonical, &found))
        })?;
        report.status = inner.status;
        report.iterations = inner.iterations;
        if !self.tries_linkage(nodes) {
            report.notes.push(format!(
                "chosen: diffusion, since a dense similarity of {n} microclusters was not tried"
            ));
            return Ok(diffusion);
        }
        let linked = report.stage("lwea", || {
            let lwea = Lwea::new(k).memory_budget(self.budget);
            lwea.solve(nodes, &mut Report::default(), observer)
        })?;
        denser(nodes, diffusion, linked, report)
    }
}

/// What the same nodes in another order got.
fn of_nodes(nodes: &Microclusters, other: &Microclusters, found: &[usize]) -> Vec<usize> {
    let mut out = vec![0; nodes.n_nodes()];
    let pairs = nodes.grouping().of_object().iter().zip(other.grouping().of_object());
    for (&node, &other) in pairs.filter(|(node, _)| **node != Grouping::NONE) {
        out[node as usize] = found[other as usize];
    }
    out
}

/// The candidate to take, by the mean densities of their clusters.
fn denser(
    nodes: &Microclusters,
    diffusion: Vec<usize>,
    linked: Vec<usize>,
    report: &mut Report,
) -> Result<Vec<usize>> {
    let weights = nodes.grouping().weights();
    let density = |clusters: &[usize]| {
        let some: Vec<Option<usize>> = clusters.iter().map(|&c| Some(c)).collect();
        let k = clusters.iter().max().map_or(0, |c| c + 1);
        Support::of(nodes.rows(), &weights, &some, k).mean_density()
    };
    let (d, l) = (density(&diffusion), density(&linked));
    let linked_is_denser = l > d + MARGIN;
    let (name, why) = if linked_is_denser {
        ("lwea", "its clusters are clearly denser: classes of unequal size, or outliers")
    } else {
        ("diffusion", "average linkage finds no clearly denser clusters")
    };
    report.notes.push(format!(
        "chosen: {name}, since {why} (mean density of lwea {l:.3}, of diffusion {d:.3}, margin \
         {MARGIN})"
    ));
    let (a, b) = (Partition::from_labels(&diffusion)?, Partition::from_labels(&linked)?);
    let nmi = weighted_nmi(&a, &b, &weights, Normalizer::Sqrt).unwrap_or(0.0);
    report
        .notes
        .push(format!("the two candidates share a normalized mutual information of {nmi:.3}"));
    Ok(if linked_is_denser { linked } else { diffusion })
}

impl NodeConsensus for Recommended {
    type Output = Partition;

    fn name(&self) -> &str {
        "auto"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        match self.clusters {
            Clusters::Auto | Clusters::Fixed(_) => Ok(()),
            other => Err(other.refuse("the recommended consensus", "a number or none")),
        }
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Ok(Microclusters::observed(ensemble, observer)?.sorted_members())
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        if let Some(k) = self.clusters.fixed() {
            return self.choose(nodes, k, report, observer);
        }
        let table = report.stage("number of clusters", || {
            ClusterNumber::new().seed(self.seed).of_nodes(nodes, observer)
        })?;
        let clusters = self.choose(nodes, table.recommended, report, observer)?;
        report.notes.extend(table.notes);
        Ok(clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::ConsensusFunction;

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
    fn beyond_the_dense_limit_diffusion_is_taken_where_labels_are_missing() {
        let world = |missing| planted(Seed(1), &[20, 15, 10], 8, 0.2, missing).unwrap().ensemble;
        let (complete, incomplete) = (world(0.0), world(0.1));
        for method in [
            Recommended::new(3).dense_limit(0),
            Recommended::new(3).memory_budget(MemoryBudget::bytes(100)),
        ] {
            let fit = method.fit(&incomplete, &()).unwrap();
            assert_eq!(fit.output, Diffusion::new(3).consensus(&incomplete).unwrap());
            assert!(fit.report.notes[0].contains("not tried"));
            let notes = method.fit(&complete, &()).unwrap().report.notes;
            assert!(notes[0].contains("mean density of lwea"), "{notes:?}");
        }
    }

    #[test]
    fn the_number_of_clusters_is_that_of_the_criteria() {
        let e = planted(Seed(2), &[30, 20, 10], 12, 0.1, 0.1).unwrap().ensemble;
        let table = ClusterNumber::new().choose(&e).unwrap();
        let fit = Recommended::new(Clusters::Auto).fit(&e, &()).unwrap();
        assert_eq!(fit.output.n_clusters(), table.recommended);
        assert!(fit.report.notes.ends_with(&table.notes));
        assert!(Recommended::new(Clusters::Lifetime).fit(&e, &()).is_err());
    }
}
