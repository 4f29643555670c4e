use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use consilience_core::{
    Clusters, ConsensusFunction, Dendrogram, Ensemble, Fit, Joined, Linkage, Observer, Partition,
    Report, Result, Watch, ensure,
};
use consilience_graph::{Lifespan, Network};

use super::candidates::{Candidate, Candidates};
use super::{Adjacency, Condensed, Edge, Kept};

/// Linkage along the edges of a network: the two clusters that most members keep together, over the
/// edges between them, are merged first.
///
/// For network clusterings, where the number of clusters is chosen or the tree is wanted. Average
/// linkage is the mean over the edges between two clusters, and says nothing of pairs that are not
/// linked; [`EvidenceAccumulation`](crate::EvidenceAccumulation) looks at all pairs, and at some
/// thousands of objects only. Clusters between which no edge is, or none on which a member agrees
/// (under complete linkage: not all), merge last, the smallest first.
///
/// ```
/// use consilience::{Clusters, ConsensusFunction, Ensemble, Linkage, Partition};
/// use consilience::consensus::NetworkLinkage;
/// use consilience::graph::Network;
///
/// let path = Network::new(6, (0..5).map(|i| (i, i + 1)))?;
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
/// ])?;
/// let method = NetworkLinkage::new(path, 2);
/// assert_eq!(method.consensus(&ensemble)?.to_signed(), [0, 0, 0, 1, 1, 1]);
/// // Objects 0 and 1, and 3 and 4, are always together: four nodes are merged.
/// let (of_object, tree) = method.dendrogram(&ensemble, &())?;
/// assert_eq!((of_object.n_clusters(), tree.merges().len()), (4, 3));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// As [`NetworkComponents`](super::NetworkComponents);
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for Ward's
/// linkage, for a number of clusters outside `1..=n` and for a criterion that no tree has.
///
/// # Complexity
/// O(edges x members) time for the co-association, in parallel; then O(e log e) for e edges between
/// objects that members do not all keep together, some 50 bytes each, sequential.
///
/// # References
/// Ours. On a complete network it is the linkage of evidence accumulation.
#[doc(alias = "sparse linkage")]
#[derive(Clone, Debug)]
pub struct NetworkLinkage {
    network: Network,
    linkage: Linkage,
    clusters: Clusters,
}

impl NetworkLinkage {
    /// Average linkage; [`Clusters::Auto`] is the longest lifetime in the tree.
    pub fn new(network: Network, clusters: impl Into<Clusters>) -> Self {
        NetworkLinkage { network, linkage: Linkage::Average, clusters: clusters.into() }
    }

    consilience_core::setters! {
        /// How the edges between two clusters count: by their mean, the best or the worst of them.
        /// Default [`Linkage::Average`]; single, average or complete.
        pub fn linkage(mut self, linkage: Linkage) { self.linkage = linkage }
    }

    /// The tree, and the objects in its leaves: those that all members keep together along edges
    /// are one.
    ///
    /// # Errors
    /// As [`NetworkLinkage`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no
    /// member labels any object.
    pub fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Partition, Dendrogram)> {
        let mut report = Report::default();
        let graph = self.graph(ensemble, &mut report, observer)?;
        let leaves: Vec<usize> = (0..graph.n_nodes()).collect();
        Ok((graph.expand(&leaves)?, self.tree(&graph, &mut report, observer)?))
    }

    fn graph(
        &self,
        ensemble: &Ensemble,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Condensed> {
        let linkage = self.linkage;
        ensure!(
            matches!(linkage, Linkage::Single | Linkage::Average | Linkage::Complete),
            invalid(
                "{linkage:?} linkage of a network; expected single, average or complete linkage"
            )
        );
        Lifespan::check(self.clusters)?;
        if let Some(k) = self.clusters.fixed() {
            ensemble.check_clusters(k)?;
        }
        // Only the best of the edges between two clusters counts for single linkage.
        let kept = if self.linkage == Linkage::Single { Kept::Agreed } else { Kept::All };
        Condensed::new(&self.network, ensemble, kept, report, observer)
    }

    fn tree(
        &self,
        graph: &Condensed,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram> {
        let start = std::time::Instant::now();
        let mut forest = Forest::new(graph);
        match self.linkage {
            Linkage::Single => forest.by_the_best(graph, observer)?,
            linkage => forest.by_all(graph, linkage == Linkage::Average, observer)?,
        }
        forest.join_the_rest(graph, report);
        let tree = Dendrogram::from_merges(graph.n_nodes(), forest.merges);
        report.stages.push(("tree", start.elapsed()));
        tree
    }
}

impl ConsensusFunction for NetworkLinkage {
    type Output = Partition;

    fn name(&self) -> &str {
        "network-linkage"
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let mut report = Report::default();
        let graph = self.graph(ensemble, &mut report, observer)?;
        let clusters = if graph.n_nodes() == 0 {
            Vec::new()
        } else {
            let tree = self.tree(&graph, &mut report, observer)?;
            tree.cut(Lifespan::Whole.clusters(self.clusters, &tree)?)?
        };
        let partition = graph.expand(&clusters)?;
        if let Some(k) = self.clusters.fixed() {
            let why = "the members distinguish no more parts of the network";
            report.expect_clusters(k, partition.n_clusters(), why);
        }
        Ok(Fit::new(partition, report))
    }
}

/// Clusters of nodes, and how they came about.
struct Forest {
    joined: Joined,
    merges: Vec<(usize, usize, f64)>,
}

impl Forest {
    fn new(graph: &Condensed) -> Self {
        let merges = Vec::with_capacity(graph.n_nodes().saturating_sub(1));
        Forest { joined: Joined::new(graph.n_nodes()), merges }
    }

    /// Single linkage: every edge in turn, the best first.
    fn by_the_best(&mut self, graph: &Condensed, observer: &dyn Observer) -> Result<()> {
        let mut edges: Vec<(f64, [u32; 2])> =
            graph.edges.iter().map(|e| (e.most, e.ends)).collect();
        edges.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        let mut watch = Watch::new(observer, "linkage", edges.len());
        for (e, (share, [a, b])) in edges.into_iter().enumerate() {
            if e.is_multiple_of(1 << 16) {
                watch.step(e)?;
            }
            if self.joined.join(a as usize, b as usize) {
                self.merges.push((a as usize, b as usize, 1.0 - share));
            }
        }
        watch.finish()
    }

    /// Average or complete linkage: what links two clusters changes with every merge.
    fn by_all(&mut self, graph: &Condensed, average: bool, observer: &dyn Observer) -> Result<()> {
        let mut links = Links::new(graph, average);
        let mut watch = Watch::new(observer, "linkage", graph.n_nodes());
        let mut steps = 0u64;
        while let Some((ends, share)) = links.pop() {
            if steps.is_multiple_of(1 << 14) {
                watch.step(self.merges.len())?;
            }
            steps += 1;
            if let Some(share) = share {
                self.joined.join(ends[0], ends[1]);
                // A mean may be rounded above those that it is of; no merge lies below an earlier
                // one.
                let last = self.merges.last().map_or(0.0, |merge| merge.2);
                self.merges.push((ends[0], ends[1], (1.0 - share).max(last)));
                links.merge(ends);
            }
        }
        watch.finish()
    }

    /// Clusters that nothing links: the smallest join first, so that any number of clusters keeps
    /// the largest apart.
    fn join_the_rest(&mut self, graph: &Condensed, report: &mut Report) {
        let mut sizes = vec![0u64; graph.n_nodes()];
        for (node, &size) in graph.sizes.iter().enumerate() {
            sizes[self.joined.find(node)] += size;
        }
        let mut roots: Vec<usize> = (0..sizes.len()).filter(|&i| sizes[i] > 0).collect();
        // Largest first, of equals the first.
        roots.sort_by(|&a, &b| sizes[b].cmp(&sizes[a]).then(a.cmp(&b)));
        if roots.len() > 1 {
            report.notes.push(format!(
                "{} parts of the network that no agreement links; the smallest are joined first",
                roots.len()
            ));
        }
        for pair in roots.windows(2).rev() {
            self.merges.push((pair[0], pair[1], 1.0));
        }
    }
}

/// What links two clusters: under average linkage the sum over their edges and the number of
/// these, under complete linkage the least and 1.
#[derive(Clone, Copy)]
struct Link {
    sum: f64,
    count: u32,
}

impl Link {
    fn of(edge: &Edge, average: bool) -> Self {
        match average {
            true => Link { sum: edge.sum, count: edge.count },
            false => Link { sum: edge.least, count: 1 },
        }
    }

    fn and(self, other: Self, average: bool) -> Self {
        match average {
            true => Link { sum: self.sum + other.sum, count: self.count + other.count },
            false => Link { sum: self.sum.min(other.sum), count: 1 },
        }
    }

    fn share(self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

type Map = HashMap<u32, Link, BuildHasherDefault<Mixer>>;

/// The links between the clusters of a growing forest.
struct Links<'a> {
    average: bool,
    edges: &'a [Edge],
    /// The edges of each node, by number.
    of_node: Adjacency<u32>,
    /// For each cluster of two nodes or more, under its standing node, the linked clusters. Those
    /// of a single node are the edges of the node.
    of_cluster: Vec<Option<Map>>,
    /// The node under which the cluster of each node stands.
    standing: Joined,
    candidates: Candidates,
}

impl<'a> Links<'a> {
    fn new(graph: &'a Condensed, average: bool) -> Self {
        let (n, edges) = (graph.n_nodes(), &graph.edges[..]);
        let of_node = Adjacency::of(n, edges, |e, _| Some(e as u32));
        let candidate = |e: &Edge| Candidate { share: Link::of(e, average).share(), ends: e.ends };
        // Clusters without any agreement are no candidates: they are joined last, by their sizes.
        let candidates = edges.iter().map(candidate).filter(|c| c.share > 0.0);
        let candidates = Candidates::new(candidates.collect());
        let standing = Joined::new(n);
        let mut of_cluster = Vec::new();
        of_cluster.resize_with(n, || None);
        Links { average, edges, of_node, of_cluster, standing, candidates }
    }

    /// The next two clusters to merge, and their share.
    fn pop(&mut self) -> Option<([usize; 2], Option<f64>)> {
        let next = self.candidates.pop()?;
        let [a, b] = next.ends.map(|end| self.standing.find(end as usize));
        // Only what links the two clusters now counts; what they were is told again later.
        let now = match (&self.of_cluster[a], &self.of_cluster[b]) {
            (Some(links), _) => links.get(&(b as u32)).map(|link| link.share()),
            (None, Some(links)) => links.get(&(a as u32)).map(|link| link.share()),
            (None, None) => Some(next.share),
        };
        Some(([a, b], now.filter(|&now| a != b && now == next.share)))
    }

    /// Number of links of a cluster, or edges of a node.
    fn n_links(&self, cluster: usize) -> usize {
        let row = || self.of_node.row(cluster).len();
        self.of_cluster[cluster].as_ref().map_or_else(row, Map::len)
    }

    /// The links of a cluster, which has them no longer.
    fn take(&mut self, cluster: usize) -> Vec<(u32, Link)> {
        if let Some(links) = self.of_cluster[cluster].take() {
            return links.into_iter().collect();
        }
        let mut found = Vec::with_capacity(self.of_node.row(cluster).len());
        for &(end, e) in self.of_node.row(cluster) {
            let other = self.standing.find(end as usize);
            // A larger cluster knows the sum over its nodes, and is found once for each of them.
            let link = match &mut self.of_cluster[other] {
                Some(links) => links.remove(&(cluster as u32)),
                None => Some(Link::of(&self.edges[e as usize], self.average)),
            };
            found.extend(link.map(|link| (other as u32, link)));
        }
        found
    }

    /// The cluster with fewer links joins the other.
    fn merge(&mut self, [a, b]: [usize; 2]) {
        let (kept, gone) = if self.n_links(a) >= self.n_links(b) { (a, b) } else { (b, a) };
        let mut links = match self.of_cluster[kept].take() {
            Some(links) => links,
            None => {
                let own = self.take(kept);
                for &(other, link) in &own {
                    if let Some(others) = &mut self.of_cluster[other as usize] {
                        others.insert(kept as u32, link);
                    }
                }
                own.into_iter().collect()
            }
        };
        for (other, link) in self.take(gone) {
            if other as usize == kept {
                continue;
            }
            let mut others = self.of_cluster[other as usize].as_mut();
            if let Some(others) = &mut others {
                others.remove(&(gone as u32));
            }
            let link = match links.get(&other) {
                Some(&old) => {
                    let both = old.and(link, self.average);
                    let ends = [other.min(kept as u32), other.max(kept as u32)];
                    if both.share() > 0.0 {
                        self.candidates.push(Candidate { share: both.share(), ends });
                    }
                    both
                }
                // Nothing changes but the name of the cluster.
                None => link,
            };
            links.insert(other, link);
            if let Some(others) = others {
                others.insert(kept as u32, link);
            }
        }
        links.remove(&(gone as u32));
        self.of_cluster[kept] = Some(links);
        self.standing.join_under(gone, kept);
    }
}

/// Mixes the number of a node; the same on every run.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }
}
