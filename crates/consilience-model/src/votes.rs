//! From the clusters that the members give an object to the consensus cluster.

use std::collections::HashMap;

use consilience_core::{Ensemble, Microclusters, Partition, Result};

/// Votes that differ by less are level.
const LEVEL: f64 = 1e-12;

/// What each cluster of each member says of the consensus, and the rows of labels seen at the fit.
#[derive(Clone, Debug)]
pub(crate) struct Votes {
    clusters: usize,
    members: Vec<Shares>,
    nodes: Microclusters,
    /// Consensus cluster of each node.
    label: Vec<u32>,
    /// By the hash of a node's labels. Of nodes of one hash the first is found, and compared.
    node: HashMap<u64, u32>,
}

/// For each cluster of a member the consensus clusters of its objects, with their shares.
#[derive(Clone, Debug)]
struct Shares {
    start: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

/// The vote on one object.
pub(crate) struct Vote {
    pub(crate) label: usize,
    pub(crate) tied: bool,
}

impl Votes {
    pub(crate) fn new(ensemble: &Ensemble, partition: &Partition) -> Result<Self> {
        let nodes = Microclusters::of(ensemble)?;
        let members =
            ensemble.members().iter().map(|member| Shares::of(member, partition)).collect();
        let mut label = vec![u32::MAX; nodes.n_nodes()];
        for (i, &node) in nodes.grouping().of_object().iter().enumerate() {
            // Methods give all objects of a node one label; of any other method, the first counts.
            if let (Some(slot), Some(c)) = (label.get_mut(node as usize), partition.label(i))
                && *slot == u32::MAX
            {
                *slot = c as u32;
            }
        }
        let mut row = vec![0; ensemble.n_members()];
        let mut node = HashMap::with_capacity(nodes.n_nodes());
        for v in 0..nodes.n_nodes() {
            let complete = nodes.rows().iter().zip(&mut row).all(|(member, slot)| {
                member.label(v).is_some_and(|c| {
                    *slot = c as u32;
                    true
                })
            });
            if complete && label[v] != u32::MAX {
                node.entry(hash(&row)).or_insert(v as u32);
            }
        }
        Ok(Votes { clusters: partition.n_clusters(), members, nodes, label, node })
    }

    /// Adds up the votes for each consensus cluster into `votes`; they sum to 1.
    pub(crate) fn count(&self, row: &[u32], votes: &mut [f64]) -> Vote {
        votes.fill(0.0);
        for (shares, &c) in self.members.iter().zip(row) {
            for &(j, share) in shares.of_cluster(c) {
                votes[j as usize] += share;
            }
        }
        let sum: f64 = votes.iter().sum();
        if sum > 0.0 {
            votes.iter_mut().for_each(|v| *v /= sum);
        }
        if let Some(label) = self.known(row) {
            return Vote { label, tied: false };
        }
        let mut label = 0;
        for (j, &v) in votes.iter().enumerate() {
            if v > votes[label] + LEVEL {
                label = j;
            }
        }
        let level = votes.iter().filter(|&&v| v > votes[label] - LEVEL).count();
        Vote { label, tied: level > 1 }
    }

    pub(crate) fn n_clusters(&self) -> usize {
        self.clusters
    }

    /// The consensus cluster of the objects that had just these labels.
    fn known(&self, row: &[u32]) -> Option<usize> {
        let &v = self.node.get(&hash(row))?;
        let same = |(m, &c): (&Partition, &u32)| m.label(v as usize) == Some(c as usize);
        let equal = self.nodes.rows().iter().zip(row).all(same);
        equal.then(|| self.label[v as usize] as usize)
    }
}

impl Shares {
    fn of(member: &Partition, partition: &Partition) -> Self {
        let mut counts: Vec<HashMap<u32, f64>> = vec![HashMap::new(); member.n_clusters()];
        for (a, b) in member.iter().zip(partition.iter()) {
            if let (Some(a), Some(b)) = (a, b) {
                *counts[a].entry(b as u32).or_insert(0.0) += 1.0;
            }
        }
        let mut shares = Shares { start: vec![0], entries: Vec::new() };
        for counts in counts {
            let mut counts: Vec<(u32, f64)> = counts.into_iter().collect();
            counts.sort_unstable_by_key(|e| e.0);
            let sum: f64 = counts.iter().map(|e| e.1).sum();
            shares.entries.extend(counts.into_iter().map(|(j, n)| (j, n / sum)));
            shares.start.push(shares.entries.len());
        }
        shares
    }

    fn of_cluster(&self, c: u32) -> &[(u32, f64)] {
        let c = c as usize;
        match (self.start.get(c), self.start.get(c + 1)) {
            (Some(&from), Some(&to)) => &self.entries[from..to],
            _ => &[],
        }
    }
}

/// Mixes the labels of a row; rows that meet are compared.
fn hash(row: &[u32]) -> u64 {
    row.iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &c| {
        (hash.rotate_left(23) ^ u64::from(c)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}
