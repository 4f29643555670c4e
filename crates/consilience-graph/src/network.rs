//! Co-association on the edges of a network.

use std::sync::Arc;

use consilience_core::{
    Ensemble, Grouping, LabelInt, Microclusters, Observer, Partition, Result, Stop, Watch, ensure,
    room, with_labels,
};
use rayon::prelude::*;
use sprs::CsMat;

/// Nodes per parallel chunk. Edges are counted each for itself, so it has no influence on the
/// result.
const CHUNK: usize = 1 << 12;

/// Edges between two looks at the observer, where members give memberships or have weights.
const EDGES: usize = 1 << 16;
/// An undirected network on the objects: the pairs that a consensus of network clusterings looks
/// at.
///
/// Each edge counts once, however often and in whichever direction it is given.
///
/// ```
/// use consilience::graph::Network;
///
/// let network = Network::new(4, [(0, 1), (1, 0), (2, 1)])?;
/// assert_eq!((network.n_nodes(), network.n_edges()), (4, 2));
/// assert!(network.edges().eq([(0, 1), (1, 2)]));
/// assert!(Network::new(4, [(3, 3)]).unwrap_err().message().contains("loop"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// 4 bytes per edge and 8 per node; cheap to clone.
#[doc(alias = "edge list")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network(Arc<Rows>);

/// The edges of each node to higher ones, ascending.
#[derive(Debug, PartialEq, Eq)]
struct Rows {
    start: Vec<usize>,
    higher: Vec<u32>,
}

impl Network {
    /// A network of so many nodes from pairs of them.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without nodes,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) for 2^32 - 1 nodes or more,
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a node that does not
    /// exist, [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for
    /// an edge from a node to itself.
    ///
    /// # Complexity
    /// O(nodes + edges log(edges of a node)).
    pub fn new(nodes: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Result<Self> {
        ensure!(nodes > 0, empty("a network without nodes"));
        ensure!(
            nodes < u32::MAX as usize,
            too_large("a network of {nodes} nodes; expected fewer than {}", u32::MAX)
        );
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (e, (a, b)) in pairs.into_iter().enumerate() {
            ensure!(a.max(b) < nodes, out_of_range("edge {e}: node {} of {nodes}", a.max(b)));
            ensure!(a != b, invalid("edge {e}: a loop from node {a} to itself"));
            edges.push((a.min(b) as u32, a.max(b) as u32));
        }
        let mut start = vec![0; nodes + 1];
        for &(a, _) in &edges {
            start[a as usize + 1] += 1;
        }
        for i in 0..nodes {
            start[i + 1] += start[i];
        }
        let mut higher = vec![0; edges.len()];
        let mut next = start.clone();
        for (a, b) in edges {
            let at = &mut next[a as usize];
            higher[*at] = b;
            *at += 1;
        }
        Ok(Network(Arc::new(Rows::once(start, higher))))
    }

    /// The network of the entries of a square matrix that are not 0: an adjacency matrix, or one
    /// half of it. Its diagonal is left out.
    ///
    /// ```
    /// use consilience::graph::Network;
    /// use consilience::sprs::TriMat;
    ///
    /// let mut entries = TriMat::new((3, 3));
    /// entries.add_triplet(0, 1, 1.0);
    /// entries.add_triplet(1, 0, 1.0);
    /// entries.add_triplet(2, 2, 5.0);
    /// assert!(Network::from_sprs(&entries.to_csr())?.edges().eq([(0, 1)]));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Network::new`];
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a matrix that
    /// is not square.
    pub fn from_sprs(matrix: &CsMat<f64>) -> Result<Self> {
        let (rows, columns) = matrix.shape();
        ensure!(rows == columns, shape("a {rows} x {columns} adjacency; expected a square"));
        let entries = matrix.iter().filter(|&(&w, (i, j))| w != 0.0 && i != j);
        Self::new(rows, entries.map(|(_, pair)| pair))
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.0.start.len() - 1
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.0.higher.len()
    }

    /// The edges, the smaller node first, in ascending order.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n_nodes()).flat_map(|i| self.higher(i).iter().map(move |&j| (i, j as usize)))
    }

    fn higher(&self, i: usize) -> &[u32] {
        &self.0.higher[self.0.start[i]..self.0.start[i + 1]]
    }

    /// How often the ends of each edge are together, as a share of the members that label both, in
    /// the order of [`edges`](Network::edges); 0 where no member does. Members may give memberships
    /// and have weights.
    ///
    /// ```
    /// use consilience::{Ensemble, Partition};
    /// use consilience::graph::Network;
    ///
    /// let ensemble = Ensemble::new(vec![
    ///     Partition::from_labels(&[0, 0, 1, 1])?,
    ///     Partition::from_labels(&[0, 0, 0, -1])?,
    /// ])?;
    /// let network = Network::new(4, [(0, 1), (1, 2), (2, 3)])?;
    /// assert_eq!(network.co_association(&ensemble, &())?, [1.0, 0.5, 1.0]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where the ensemble
    /// is of another number of objects,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) for 65,536 members or more,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    ///
    /// # Complexity
    /// O(edges x members) time, in parallel; 64 bytes per node and 10 to 12 per edge.
    pub fn co_association(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Vec<f64>> {
        let (n, members) = (self.n_nodes(), ensemble.n_members());
        ensure!(
            ensemble.n_objects() == n,
            shape("a network of {n} nodes, members of {} objects", ensemble.n_objects())
        );
        if ensemble.is_soft() || ensemble.weights().is_some() {
            return self.agreements(ensemble, observer);
        }
        ensure!(members <= 65535, too_large("{members} members; expected at most 65535"));
        let narrow = ensemble.members().iter().all(|m| m.n_clusters() < usize::from(u16::MAX));
        match narrow {
            true => self.shares::<u16, 32>(ensemble, observer),
            false => self.shares::<u32, 16>(ensemble, observer),
        }
    }

    /// The co-association where members give memberships or have weights.
    fn agreements(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Vec<f64>> {
        // Weights are summed in the order of the members.
        let nodes = Microclusters::observed(ensemble, observer)?.sorted_members();
        let of = nodes.grouping().of_object();
        let share = |(i, j): (usize, usize)| match (of[i], of[j]) {
            (Grouping::NONE, _) | (_, Grouping::NONE) => 0.0,
            (a, b) => match nodes.agreement(a as usize, b as usize) {
                (_, 0.0) => 0.0,
                (together, both) => (together / both).min(1.0),
            },
        };
        let edges: Vec<(usize, usize)> = self.edges().collect();
        let mut watch = Watch::new(observer, "co-association of edges", edges.len());
        let mut shares = room::with_capacity(edges.len())?;
        for block in edges.chunks(EDGES) {
            watch.step(shares.len())?;
            shares.par_extend(block.par_iter().map(|&edge| share(edge)));
        }
        Ok(shares)
    }

    /// The co-association from labels that lie side by side in lanes, members in groups of as many
    /// as fill a line of the cache.
    fn shares<L: LabelInt, const LANES: usize>(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        let complete = ensemble.is_complete();
        let members = ensemble.n_members();
        let mut together = vec![0u16; self.n_edges()];
        let mut both = vec![0u16; if complete { 0 } else { self.n_edges() }];
        let mut watch = Watch::new(observer, "co-association of edges", members);
        let stop = Stop::new(observer);
        let mut lanes = vec![[L::MISSING; LANES]; self.n_nodes()];
        for (g, group) in ensemble.members().chunks(LANES).enumerate() {
            watch.step(g * LANES)?;
            fill(&mut lanes, group, &stop);
            self.count(&mut together, &stop, |i, j| {
                // Lanes beyond the group are no labels.
                let same = |(x, y): (&L, &L)| u16::from(x == y) & u16::from(*x != L::MISSING);
                lanes[i].iter().zip(&lanes[j]).map(same).sum()
            });
            if !complete {
                self.count(&mut both, &stop, |i, j| {
                    let two = |(x, y): (&L, &L)| {
                        u16::from(*x != L::MISSING) & u16::from(*y != L::MISSING)
                    };
                    lanes[i].iter().zip(&lanes[j]).map(two).sum()
                });
            }
            stop.check()?;
        }
        watch.finish()?;
        let of_all = members as f64;
        Ok(match complete {
            true => together.par_iter().map(|&t| f64::from(t) / of_all).collect(),
            false => together
                .par_iter()
                .zip(&both)
                .map(|(&t, &b)| f64::from(t) / f64::from(b.max(1)))
                .collect(),
        })
    }

    /// Adds what `look` sees on each edge, until somebody asks to stop.
    fn count(
        &self,
        counts: &mut [u16],
        stop: &Stop<'_>,
        look: impl Fn(usize, usize) -> u16 + Sync,
    ) {
        let mut parts = Vec::new();
        let mut rest = counts;
        for from in (0..self.n_nodes()).step_by(CHUNK) {
            let to = (from + CHUNK).min(self.n_nodes());
            let (part, tail) = rest.split_at_mut(self.0.start[to] - self.0.start[from]);
            parts.push((from..to, part));
            rest = tail;
        }
        parts.into_par_iter().for_each(|(nodes, mut counts)| {
            if stop.asked() {
                return;
            }
            for i in nodes {
                let (own, tail) = counts.split_at_mut(self.higher(i).len());
                for (&j, count) in self.higher(i).iter().zip(own) {
                    *count += look(i, j as usize);
                }
                counts = tail;
            }
        });
    }
}

/// Puts the labels of some members side by side, until somebody asks to stop.
fn fill<L: LabelInt, const LANES: usize>(
    lanes: &mut [[L; LANES]],
    group: &[Partition],
    stop: &Stop<'_>,
) {
    lanes.par_chunks_mut(CHUNK).enumerate().for_each(|(c, lanes)| {
        if stop.asked() {
            return;
        }
        lanes.fill([L::MISSING; LANES]);
        for (m, member) in group.iter().enumerate() {
            with_labels!(member.labels(), |labels| {
                for (lanes, &label) in lanes.iter_mut().zip(&labels[c * CHUNK..]) {
                    if !label.is_missing() {
                        lanes[m] = L::from_index(label.index());
                    }
                }
            });
        }
    });
}

impl Rows {
    /// Each row ascending, every entry once.
    fn once(mut start: Vec<usize>, mut higher: Vec<u32>) -> Self {
        let mut rest = higher.as_mut_slice();
        let mut rows = Vec::with_capacity(start.len() - 1);
        for i in 1..start.len() {
            let (row, tail) = rest.split_at_mut(start[i] - start[i - 1]);
            rows.push(row);
            rest = tail;
        }
        rows.into_par_iter().with_min_len(CHUNK).for_each(|row| row.sort_unstable());
        let (mut kept, mut from) = (0, 0);
        for i in 1..start.len() {
            let first = kept;
            for at in from..start[i] {
                if kept == first || higher[kept - 1] != higher[at] {
                    higher[kept] = higher[at];
                    kept += 1;
                }
            }
            from = start[i];
            start[i] = kept;
        }
        higher.truncate(kept);
        higher.shrink_to_fit();
        Rows { start, higher }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;
    use consilience_core::{ErrorKind, Partition, Seed};

    /// Weights that have no exact sum.
    #[test]
    fn the_order_of_weighted_members_leaves_no_trace() {
        let labels = [[0, 1], [0, 1], [0, 0]].map(|l| Partition::from_labels(&l).unwrap());
        let network = Network::new(2, [(0, 1)]).unwrap();
        let share = |order: [usize; 3]| {
            let members = order.map(|u| labels[u].clone()).to_vec();
            let weights = order.map(|u| [0.1, 0.2, 0.3][u]).to_vec();
            let ensemble = Ensemble::new(members).unwrap().with_weights(weights).unwrap();
            network.co_association(&ensemble, &()).unwrap()[0].to_bits()
        };
        assert_eq!(share([0, 1, 2]), share([2, 1, 0]));
        assert_eq!(share([0, 1, 2]), share([1, 2, 0]));
    }

    /// Random edges and members with gaps, against the definition.
    #[test]
    fn shares_are_those_of_the_definition() {
        for (n, members) in [(9, 3), (40, 16), (61, 37)] {
            let mut stream = Seed(n as u64).stream();
            let mut member = || {
                let labels: Vec<i64> = (0..n).map(|_| stream.below(5) as i64 - 1).collect();
                Partition::from_labels(&labels).unwrap()
            };
            let ensemble = Ensemble::new((0..members).map(|_| member()).collect()).unwrap();
            let pairs: Vec<(usize, usize)> = (0..4 * n)
                .map(|_| (stream.below(n), stream.below(n)))
                .filter(|(i, j)| i != j)
                .collect();
            let network = Network::new(n, pairs.iter().copied()).unwrap();
            assert!(network.edges().zip(network.edges().skip(1)).all(|(a, b)| a < b));
            assert!(pairs.iter().all(|&(i, j)| network.edges().any(|e| e == (i.min(j), i.max(j)))));
            let shares = network.co_association(&ensemble, &()).unwrap();
            for ((i, j), share) in network.edges().zip(shares) {
                let pairs = || ensemble.members().iter().map(|m| (m.label(i), m.label(j)));
                let both = pairs().filter(|(a, b)| a.is_some() && b.is_some()).count();
                let together = pairs().filter(|(a, b)| a.is_some() && a == b).count();
                assert_eq!(share, together as f64 / both.max(1) as f64, "{i}, {j}");
            }
        }
    }

    /// Members with weights, one of which gives memberships, against the definition.
    #[test]
    fn shares_count_weights_and_memberships() {
        let mut stream = Seed(7).stream();
        let n = 14;
        let first = |i: usize| (i % 5) as f64 / 4.0;
        let values = ndarray::Array2::from_shape_fn((n, 2), |(i, c)| [first(i), 1.0 - first(i)][c]);
        let soft = consilience_core::SparseMemberships::from_array(values.view()).unwrap();
        let hard: Vec<Partition> = (0..3)
            .map(|_| (0..n).map(|_| stream.below(4) as i64 - 1).collect::<Vec<_>>())
            .map(|labels| Partition::from_labels(&labels).unwrap())
            .collect();
        let network = Network::new(n, (0..n).flat_map(|i| (0..i).map(move |j| (i, j)))).unwrap();
        for (weights, with_soft) in
            [([1.0, 0.5, 2.0, 0.0], false), ([1.0; 4], true), ([2.0, 1.0, 0.25, 3.0], true)]
        {
            let mut members: Vec<consilience_core::Member> =
                hard.iter().cloned().map(Into::into).collect();
            members.extend(with_soft.then(|| soft.clone().into()));
            let ensemble = Ensemble::mixed(members).unwrap();
            let ensemble = ensemble.with_weights(weights[..3 + usize::from(with_soft)].to_vec());
            let shares = network.co_association(&ensemble.unwrap(), &()).unwrap();
            for ((i, j), share) in network.edges().zip(shares) {
                let (mut together, mut both) = (0.0, 0.0);
                for (p, w) in hard.iter().zip(weights) {
                    if let (Some(a), Some(b)) = (p.label(i), p.label(j)) {
                        both += w;
                        together += w * f64::from(u8::from(a == b));
                    }
                }
                if with_soft {
                    both += weights[3];
                    together += weights[3] * values.row(i).dot(&values.row(j));
                }
                let expected = if both > 0.0 { together / both } else { 0.0 };
                assert!((share - expected).abs() < 1e-14, "{i}, {j}: {share} {expected}");
            }
        }
    }

    #[test]
    fn bad_edges_are_told() {
        let kind = |nodes, pair| Network::new(nodes, [pair]).unwrap_err().kind();
        assert_eq!(kind(0, (0, 0)), ErrorKind::Empty);
        assert_eq!(kind(3, (0, 3)), ErrorKind::OutOfRange);
        assert_eq!(kind(3, (1, 1)), ErrorKind::InvalidParameter);
        assert_eq!(kind(u32::MAX as usize, (0, 1)), ErrorKind::TooLarge);
        let network = Network::new(3, []).unwrap();
        assert_eq!(network.n_edges(), 0);
        let ensemble = Ensemble::new(vec![Partition::single_cluster(4).unwrap()]).unwrap();
        let error = network.co_association(&ensemble, &()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
    }

    #[test]
    fn stored_zeros_and_the_diagonal_are_no_edges() {
        let mut entries = sprs::TriMat::new((4, 4));
        for (i, j, w) in [(0, 1, 2.0), (1, 0, 2.0), (1, 3, 0.0), (2, 2, 1.0), (3, 2, -1.0)] {
            entries.add_triplet(i, j, w);
        }
        let network = Network::from_sprs(&entries.to_csr()).unwrap();
        assert!(network.edges().eq([(0, 1), (2, 3)]));
        let wide = sprs::CsMat::zero((2, 3));
        assert_eq!(Network::from_sprs(&wide).unwrap_err().kind(), ErrorKind::ShapeMismatch);
    }

    #[test]
    fn as_many_members_as_can_be_counted() {
        let member = Partition::from_labels(&[0, 0, 1]).unwrap();
        let network = Network::new(3, [(0, 1), (1, 2)]).unwrap();
        let shares = |members: usize| {
            let ensemble = Ensemble::new(vec![member.clone(); members]).unwrap();
            network.co_association(&ensemble, &())
        };
        assert_eq!(shares(65_535).unwrap(), [1.0, 0.0]);
        assert_eq!(shares(65_536).unwrap_err().kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn cancellation_is_asked_for_in_every_chunk_of_nodes() {
        let n = 5 * CHUNK;
        let network = Network::new(n, (1..n).map(|i| (i - 1, i))).unwrap();
        let ensemble =
            Ensemble::new(vec![Partition::from_fn(n, |i| Some(i as u64 % 9)).unwrap(); 3]).unwrap();
        let asked = CancelFrom::new(usize::MAX);
        network.co_association(&ensemble, &asked).unwrap();
        assert!(asked.asked() >= 10, "{}", asked.asked());
    }
}
