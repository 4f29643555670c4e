use consilience_core::{
    Accepts, Dendrogram, Error, MemoryBudget, Microclusters, Observer, Report, Result, Similarity,
    SimilarityGraph, room,
};
use rayon::prelude::*;

use crate::{ClusterIncidence, CountRow, EvidenceWeights};

/// The co-association of microclusters: `a_ij = c_ij / N_ij`, 0 where no member labels both.
///
/// A member of memberships p adds `p_i . p_j` to c, the probability that it puts the two together,
/// also between the objects of one microcluster; a member of weight w adds to c and N w times as
/// much.
///
/// ```
/// use consilience::{Ensemble, Partition, Similarity};
/// use consilience::graph::CoAssociation;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1])?,
///     Partition::from_labels(&[0, 1, 1])?,
/// ])?;
/// let graph = CoAssociation::default().similarity(&ensemble)?;
/// assert_eq!(graph.weights()[[0, 1]], 0.5);
/// assert_eq!(graph.weights()[[0, 2]], 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~^2 M) byte operations in parallel, 8 n~^2 bytes.
///
/// # References
/// Fred, Jain 2005; on microclusters: Huang, Lai, Wang 2016, Definition 3. Over members that label
/// both where labels are missing.
#[doc(alias = "consensus matrix")]
#[doc(alias = "affinity matrix")]
#[doc(alias = "consensus_matrix")]
#[doc(alias = "CA matrix")]
#[derive(Clone, Copy, Debug, Default)]
pub struct CoAssociation {
    budget: MemoryBudget,
}

impl CoAssociation {
    consilience_core::setters! {
        /// How large the matrix may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl Similarity for CoAssociation {
    fn name(&self) -> &str {
        "eac"
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn between(
        &self,
        nodes: &Microclusters,
        _report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let n = nodes.n_nodes();
        self.budget.check_square("co-association", n, 8)?;
        let nodes = &*nodes.in_lowest_terms();
        if !nodes.is_plain() {
            let incidence = ClusterIncidence::of(nodes)?;
            let weights = EvidenceWeights::equal(&incidence);
            return weights.co_association(nodes, &incidence, self.budget, observer);
        }
        let scratch = CountRow::new(nodes)?;
        let mut a = room::zeros(n * n)?;
        a.par_chunks_mut(n.max(1)).enumerate().try_for_each_init(
            || scratch.clone(),
            |row, (i, out)| {
                if i % 64 == 0 {
                    observer.check()?;
                }
                row.fill(nodes, i);
                for (j, o) in out.iter_mut().enumerate() {
                    *o = row.ratio(j);
                }
                Ok::<(), Error>(())
            },
        )?;
        observer.progress("similarity", n, n);
        SimilarityGraph::of_symmetric(nodes.grouping().clone(), a)
    }

    fn average_tree(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        let nodes = &*nodes.in_lowest_terms();
        EvidenceWeights::average_tree(nodes, self.budget, report, observer, |incidence| {
            Ok(EvidenceWeights::equal(incidence))
        })
    }
}
