/// Evidence accumulation clustering (EAC): linkage on the co-association.
///
/// The plain classic: no parameters but the linkage, and exact on microclusters, which count with
/// their sizes. Use it as the yardstick; where local links mislead, `Pta` of the same ensemble does
/// better. Average linkage of a complete ensemble needs no matrix; the other linkages and missing
/// labels do, and from some 30,000 microclusters on it no longer fits.
///
/// ```
/// use consilience_core::{ConsensusFunction, Ensemble, Partition};
/// use consilience_graph::{EvidenceAccumulation, Linkage};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = EvidenceAccumulation::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// // The number of clusters can be left to the lifetime criterion.
/// let found = EvidenceAccumulation::by_lifetime().linkage(Linkage::Average).consensus(&ensemble)?;
/// assert_eq!(found, consensus);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters. Average linkage of a complete ensemble: O(n~ M) memory; each of
/// some 3 n~ searches for a nearest neighbour reads the microclusters that share the smaller
/// clusters of one, O(n~ M) at worst. Otherwise O(n~^2 M) byte operations and O(n~^2) for the tree;
/// 8 n~^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory
/// budget.
///
/// # References
/// Fred, Jain 2005, "Combining Multiple Clusterings Using Evidence Accumulation".
#[doc(alias = "EAC")]
#[derive(Clone, Copy, Debug)]
pub struct EvidenceAccumulation {
    cut: Cut,
    linkage: Linkage,
    similarity: CoAssociation,
    collapse: bool,
}

impl EvidenceAccumulation {
    /// EAC with average linkage into k clusters.
    pub fn new(clusters: usize) -> Self {
        EvidenceAccumulation {
            cut: Cut::Clusters(clusters),
            linkage: Linkage::Average,
            similarity: CoAssociation::default(),
            collapse: true,
        }
    }

    /// EAC with average linkage; the lifetime criterion chooses the number of clusters.
    pub fn by_lifetime() -> Self {
        EvidenceAccumulation { cut: Cut::LongestLifetime, ..Self::new(1) }
    }

    /// The linkage; average unless said otherwise.
    pub fn linkage(mut self, linkage: Linkage) -> Self {
        self.linkage = linkage;
        self
    }

    /// How large the co-association matrix may become.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.similarity = self.similarity.memory_budget(budget);
        self
    }

    /// Whether to work on microclusters, as is the default, or on every object. The answer is the
    /// same but for ties.
    pub fn collapse(mut self, collapse: bool) -> Self {
        self.collapse = collapse;
        self
    }

    fn microclusters(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        if self.collapse {
            Microclusters::observed(ensemble, observer)
        } else {
            Microclusters::each_object(ensemble)
        }
    }

    /// The whole tree, with the microclusters that are its leaves.
    ///
    /// # Errors
    /// As [`EvidenceAccumulation`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where
    /// no object is labelled.
    pub fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        let microclusters = self.microclusters(ensemble, observer)?;
        let tree = self.tree(&microclusters, &mut Report::default(), observer)?;
        Ok((microclusters, tree))
    }

    fn tree(
        &self,
        microclusters: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        if self.linkage == Linkage::Average && is_complete(microclusters) {
            return average_tree(microclusters, report, observer, |incidence| {
                Ok((vec![1.0; incidence.n_clusters()], vec![1.0; incidence.n_members()]))
            });
        }
        let graph =
            report.stage("similarity", || self.similarity.between(microclusters, observer))?;
        let cutter = Agglomeration::new(self.linkage, self.cut);
        report.stage("partition", || cutter.dendrogram(graph, observer))
    }
}

impl ConsensusFunction for EvidenceAccumulation {
    type Output = Partition;

    fn name(&self) -> &str {
        "eac"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let asked = match self.cut {
            Cut::Clusters(k) => {
                ensemble.check_clusters(k)?;
                Some(k)
            }
            _ => None,
        };
        let mut report = Report::default();
        let microclusters =
            report.stage("microclusters", || self.microclusters(ensemble, observer))?;
        report.microclusters = Some(microclusters.n_nodes());
        let clusters = if microclusters.n_nodes() == 0 {
            observer.check()?;
            Vec::new()
        } else {
            let tree = self.tree(&microclusters, &mut report, observer)?;
            match asked {
                None => tree.cut(tree.longest_lifetime(1.0))?,
                // On single objects the tree could be cut between equal ones.
                Some(k) if !self.collapse => {
                    tree.cut(k.min(Microclusters::observed(ensemble, observer)?.n_nodes()))?
                }
                Some(k) => tree.cut(k)?,
            }
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
}
