use consilience_core::{
    Accepts, Dendrogram, Error, Linkage, MemoryBudget, Microclusters, Observer, Report, Result,
    Similarity, SimilarityGraph, ensure, room, room::Zero,
};

use crate::linkage::in_order;
use crate::merging::{Level, farther, nearer};
use crate::{
    ClusterIncidence, CountRow, EvidenceWeights, SimilarityRows, average_of_rows, each_row,
};

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
            let incidence = ClusterIncidence::of_observed(nodes, observer)?;
            let weights = EvidenceWeights::equal(&incidence);
            return weights.co_association(nodes, &incidence, self.budget, observer);
        }
        let scratch = CountRow::new(nodes)?;
        let mut a = room::zeros::<f64>(n * n)?;
        each_row(&mut a, n, &scratch, observer, |row, i, out| {
            row.fill(nodes, i);
            out.iter_mut().enumerate().for_each(|(j, o)| *o = row.ratio(j));
        })?;
        observer.progress("similarity", n, n);
        SimilarityGraph::of_symmetric(nodes.grouping().clone(), a)
    }

    /// That of the matrix; to the bit, but for average linkage of complete members.
    fn linkage_tree(
        &self,
        linkage: Linkage,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        ensure!(nodes.n_nodes() > 0, empty("a dendrogram needs at least one leaf"));
        let nodes = &*nodes.in_lowest_terms();
        match linkage {
            Linkage::Average => self.average(nodes, report, observer),
            Linkage::Complete | Linkage::Single if nodes.is_plain() => match Ratios::of(nodes) {
                Some(ratios) if ratios.values.len() <= usize::from(u8::MAX) => {
                    self.levels::<u8>(&ratios, linkage, nodes, report, observer).map(Some)
                }
                Some(ratios) => {
                    self.levels::<u16>(&ratios, linkage, nodes, report, observer).map(Some)
                }
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

impl CoAssociation {
    /// The tree of average linkage: from the clusters, or from a row of similarities at a time.
    fn average(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Option<Dendrogram>> {
        let equal = |incidence: &ClusterIncidence| Ok(EvidenceWeights::equal(incidence));
        let tree = EvidenceWeights::average_tree(nodes, self.budget, report, observer, equal)?;
        if tree.is_some() || !nodes.is_plain() {
            return Ok(tree);
        }
        self.budget.check_square("co-association", nodes.n_nodes(), 8)?;
        let mut rows = report.stage("similarity", || Rows::new(nodes))?;
        let weights = nodes.grouping().weights();
        let tree = || average_of_rows(&mut rows, &weights, observer);
        report.stage("partition", tree).map(Some)
    }

    /// The tree of complete or single linkage: these compare similarities and make none, so that
    /// the places of the few ratios in their order are enough.
    fn levels<T: Place>(
        &self,
        ratios: &Ratios,
        linkage: Linkage,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        let n = nodes.n_nodes();
        self.budget.check_square("places of co-associations", n, size_of::<T>())?;
        let mut d = report.stage("similarity", || {
            let d = ratios.matrix::<T>(nodes, observer)?;
            observer.progress("similarity", n, n);
            Ok::<_, Error>(d)
        })?;
        let tree = || {
            // What leaves weigh is of no account.
            let weights = vec![1.0; n];
            let merges = match linkage {
                Linkage::Single => in_order(&mut d, &weights, observer, nearer)?,
                _ => in_order(&mut d, &weights, observer, farther)?,
            };
            let height = |(a, b, at): (usize, usize, T)| (a, b, -ratios.values[at.into()]);
            let merges = merges.into_iter().map(height).collect();
            Ok(Dendrogram::from_merges(n, merges)?.map_heights(|h| 1.0 + h))
        };
        report.stage("partition", tree)
    }
}

/// The ratios c / N that there can be.
struct Ratios {
    /// The largest first.
    values: Vec<f64>,
    /// The place of c / N among them, at (members + 1) N + c.
    places: Vec<u16>,
    members: usize,
}

impl Ratios {
    /// Members of which some label is missing, at most: the ratios of more have no place in two
    /// bytes, and are looked up in a table of the square.
    const MOST: usize = 400;

    fn of(nodes: &Microclusters) -> Option<Self> {
        let (members, complete) = (nodes.n_members(), nodes.is_complete());
        if !complete && members > Self::MOST || members >= usize::from(u16::MAX) {
            return None;
        }
        let both = if complete { members..members + 1 } else { 0..members + 1 };
        let ratio = |c: usize, both: usize| if both == 0 { 0.0 } else { c as f64 / both as f64 };
        let pairs = || both.clone().flat_map(|both| (0..=both).map(move |c| (both, c)));
        let mut values: Vec<f64> = pairs().map(|(both, c)| ratio(c, both)).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values.dedup();
        let side = members + 1;
        let mut places = vec![0; if complete { side } else { side * side }];
        for (both, c) in pairs() {
            let value = ratio(c, both);
            let place = values.partition_point(|&v| v > value) as u16;
            places[if complete { c } else { both * side + c }] = place;
        }
        (values.len() <= usize::from(u16::MAX)).then_some(Ratios { values, places, members })
    }

    /// The places of all pairs; far on the diagonal.
    fn matrix<T: Place>(&self, nodes: &Microclusters, observer: &dyn Observer) -> Result<Vec<T>> {
        let n = nodes.n_nodes();
        let scratch = CountRow::new(nodes)?;
        let (complete, side) = (nodes.is_complete(), self.members + 1);
        let mut d = room::zeros::<T>(n * n)?;
        each_row(&mut d, n, &scratch, observer, |row, i, out| {
            row.fill(nodes, i);
            let counts = row.together().iter().zip(row.both());
            for (o, (&c, &both)) in out.iter_mut().zip(counts) {
                let base = if complete { 0 } else { usize::from(both) * side };
                *o = T::at(self.places[base + usize::from(c)]);
            }
            out[i] = T::FAR;
        })?;
        Ok(d)
    }
}

/// A place in an order.
trait Place: Level + Zero + Into<usize> {
    fn at(place: u16) -> Self;
}

impl Place for u8 {
    fn at(place: u16) -> u8 {
        place as u8
    }
}

impl Place for u16 {
    fn at(place: u16) -> u16 {
        place
    }
}

/// Rows of the co-association of members with labels, one at a time.
struct Rows<'a> {
    nodes: &'a Microclusters,
    row: CountRow,
    /// The microclusters that are asked about.
    asked: Vec<usize>,
}

impl<'a> Rows<'a> {
    fn new(nodes: &'a Microclusters) -> Result<Self> {
        let asked = room::collected(0..nodes.n_nodes())?;
        Ok(Rows { nodes, row: CountRow::new(nodes)?, asked })
    }
}

impl SimilarityRows for Rows<'_> {
    fn keep(&mut self, leaves: &[usize]) -> Result<()> {
        leaves.clone_into(&mut self.asked);
        Ok(())
    }

    fn fill(&mut self, leaf: usize, out: &mut [f64]) {
        self.row.fill(self.nodes, leaf);
        out.iter_mut().zip(&self.asked).for_each(|(o, &j)| *o = -self.row.ratio(j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agglomeration, LeafWeights, Linked};
    use consilience_core::{Ensemble, ErrorKind, Hierarchy, Partition, Seed};

    /// Members of few clusters, so that many similarities are equal.
    fn nodes(seed: u64, objects: usize, members: usize, missing: bool) -> Microclusters {
        let mut s = Seed(seed).stream();
        let members = (0..members).map(|_| {
            let labels: Vec<i64> =
                (0..objects).map(|_| s.below(5) as i64 - i64::from(missing)).collect();
            Partition::from_labels(&labels).unwrap()
        });
        Microclusters::of(&Ensemble::new(members.collect()).unwrap()).unwrap()
    }

    #[test]
    fn trees_without_the_matrix_are_its_trees_to_the_bit() {
        let similarity = CoAssociation::default();
        // The members of the last two have more ratios than a byte, and share many clusters.
        let sizes = [(1, 2), (2, 3), (60, 3), (400, 6), (90, 300), (1200, 26)];
        for (seed, (objects, members)) in (0..).zip(sizes) {
            for missing in [false, true] {
                let nodes = nodes(seed, objects, members, missing);
                let tree = |linkage| {
                    let graph = similarity.between(&nodes, &mut Report::default(), &()).unwrap();
                    Agglomeration::new(linkage, 1).dendrogram(graph, &()).unwrap()
                };
                for linkage in [Linkage::Complete, Linkage::Single, Linkage::Average] {
                    // Complete ensembles have another way, unless members share many clusters.
                    if linkage == Linkage::Average && !missing && objects < 1200 {
                        continue;
                    }
                    let linked = Linked::new(similarity, 1).linkage(linkage);
                    let found = linked.tree(&nodes, &mut Report::default(), &()).unwrap();
                    assert_eq!(found, tree(linkage), "{linkage:?} {objects} {missing}");
                    let mut report = Report::default();
                    let own = similarity.linkage_tree(linkage, &nodes, &mut report, &());
                    assert_eq!(own.unwrap(), Some(found), "{linkage:?} {objects} {missing}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_places() {
        let nodes = nodes(1, 30, 401, true);
        let tree = |linkage, nodes: &Microclusters, bytes| {
            let similarity = CoAssociation::default().memory_budget(MemoryBudget::bytes(bytes));
            similarity.linkage_tree(linkage, nodes, &mut Report::default(), &())
        };
        assert_eq!(tree(Linkage::Single, &nodes, 1 << 20).unwrap(), None);
        let nodes = super::tests::nodes(1, 100, 6, false);
        assert_eq!(tree(Linkage::Ward, &nodes, 1 << 20).unwrap(), None);
        // A byte for each pair, where the matrix takes eight.
        let pairs = nodes.n_nodes().pow(2) as u64;
        assert!(tree(Linkage::Complete, &nodes, pairs).unwrap().is_some());
        let e = tree(Linkage::Complete, &nodes, pairs - 1).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::TooLarge);
        // So do all that are made of the similarity, whatever their leaves weigh.
        let small = CoAssociation::default().memory_budget(MemoryBudget::bytes(pairs));
        for weights in [LeafWeights::Objects, LeafWeights::Nodes] {
            let linked = Linked::new(small, 2).linkage(Linkage::Complete).leaf_weights(weights);
            assert!(linked.tree(&nodes, &mut Report::default(), &()).is_ok());
        }
    }
}
