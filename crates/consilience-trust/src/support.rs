//! How the members' clusters lie in the clusters of a result: the one table behind every diagnosis.

use consilience_core::{MemoryBudget, Partition, Result};

/// Objects that each cluster of the ensemble shares with each cluster of a result.
pub(crate) struct Support {
    /// Clusters of the result.
    pub(crate) k: usize,
    /// First cluster of each member, and the number of all at the end.
    first: Vec<usize>,
    /// How often each member counts.
    weights: Vec<f64>,
    /// Objects by cluster of the ensemble (k entries each) and cluster of the result.
    shared: Vec<f64>,
    /// Objects that each member labels (k entries each), by cluster of the result.
    labelled: Vec<f64>,
}

impl Support {
    /// `members`, each with how often it counts, and `result` over nodes of these sizes.
    pub(crate) fn of(
        (members, weights): (&[Partition], &[f64]),
        sizes: &[f64],
        result: &[Option<usize>],
        k: usize,
        budget: MemoryBudget,
    ) -> Result<Self> {
        let mut first = vec![0];
        for m in members {
            first.push(first[first.len() - 1] + m.n_clusters());
        }
        let rows = first[members.len()] + members.len();
        budget.check_table("clusters of members beside those of the result", rows, k, 8)?;
        let mut shared = vec![0.0; first[members.len()] * k];
        let mut labelled = vec![0.0; members.len() * k];
        for (u, member) in members.iter().enumerate() {
            for ((label, &cluster), &size) in member.iter().zip(result).zip(sizes) {
                if let (Some(l), Some(c)) = (label, cluster) {
                    shared[(first[u] + l) * k + c] += size;
                    labelled[u * k + c] += size;
                }
            }
        }
        Ok(Support { k, first, weights: weights.to_vec(), shared, labelled })
    }

    /// Shares of a member's cluster.
    pub(crate) fn of_label(&self, member: usize, label: usize) -> &[f64] {
        let at = (self.first[member] + label) * self.k;
        &self.shared[at..at + self.k]
    }

    /// Share of all statements of the members about an object of one cluster and one of another,
    /// both drawn with replacement, that put them together. A member makes a statement about each
    /// pair of which it labels both, as often as it counts; without missing labels the share is the
    /// mean co-association. 0 without any statement.
    pub(crate) fn between(&self, a: usize, b: usize) -> f64 {
        let (mut together, mut pairs) = (0.0, 0.0);
        for (u, &weight) in self.weights.iter().enumerate() {
            let own = self.first[u] * self.k..self.first[u + 1] * self.k;
            for row in self.shared[own].chunks_exact(self.k) {
                together += weight * (row[a] * row[b]);
            }
            let labelled = &self.labelled[u * self.k..(u + 1) * self.k];
            pairs += weight * (labelled[a] * labelled[b]);
        }
        if pairs > 0.0 { together / pairs } else { 0.0 }
    }

    /// That share inside a cluster.
    pub(crate) fn density(&self, cluster: usize) -> f64 {
        self.between(cluster, cluster)
    }

    /// How many of the members label an object with these labels, each as often as it counts.
    pub(crate) fn labelling(&self, labels: &[Option<usize>]) -> f64 {
        let known = labels.iter().zip(&self.weights).filter(|(label, _)| label.is_some());
        known.map(|(_, weight)| weight).sum()
    }

    /// For an object with these labels: pairs that are together, and pairs that are labelled, with
    /// the objects of each cluster, each as often as the member counts.
    pub(crate) fn pairs_of(&self, labels: &[Option<usize>]) -> (Vec<f64>, Vec<f64>) {
        let (mut together, mut pairs) = (vec![0.0; self.k], vec![0.0; self.k]);
        for (u, label) in labels.iter().enumerate() {
            if let Some(l) = *label {
                let weight = self.weights[u];
                together.iter_mut().zip(self.of_label(u, l)).for_each(|(t, s)| *t += weight * s);
                let labelled = &self.labelled[u * self.k..(u + 1) * self.k];
                pairs.iter_mut().zip(labelled).for_each(|(p, s)| *p += weight * s);
            }
        }
        (together, pairs)
    }

    /// The mean over members of the largest Jaccard index between the cluster and one of theirs,
    /// over the objects that both label; members that label none of it are left out, the others
    /// count as often as their weights say.
    pub(crate) fn stability(&self, cluster: usize) -> Option<f64> {
        let (mut sum, mut members) = (0.0, 0.0);
        for (u, &weight) in self.weights.iter().enumerate() {
            let all = self.labelled[u * self.k + cluster];
            if all == 0.0 {
                continue;
            }
            let best = (0..self.first[u + 1] - self.first[u])
                .map(|l| {
                    let row = self.of_label(u, l);
                    row[cluster] / (all + row.iter().sum::<f64>() - row[cluster])
                })
                .fold(0.0, f64::max);
            sum += weight * best;
            members += weight;
        }
        (members > 0.0).then(|| sum / members)
    }
}
