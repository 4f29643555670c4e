//! What supports a result without labels: the members, and results on halves of them.

use std::sync::Mutex;

use consilience_consensus::Lwea;
use consilience_core::{
    ConsensusFunction, Ensemble, MemoryBudget, Microclusters, Observer, OnlyCancels, Partition,
    Result, Seed,
};
use consilience_num::reduce::try_map_few;
use consilience_walk::Diffusion;

use crate::common::{self, adjusted_rand};
use crate::sample::sampled;

/// Random splits of the members into halves.
const SPLITS: u64 = 3;
/// So many objects are looked at where there are more microclusters.
const OBJECTS: usize = 2_000;

/// What results are compared with, over a sample of the microclusters.
pub(super) struct Witnesses {
    /// Number of microclusters.
    nodes: usize,
    /// Those in the sample.
    chosen: Vec<usize>,
    /// Their members, with the counts of the sample.
    members: Ensemble,
    /// Results of each method on each half of the members.
    halves: [Vec<Partition>; 2],
}

/// How well a result agrees with them: mean adjusted Rand indices.
#[derive(Clone, Copy)]
pub(super) struct Agreement {
    /// With the members.
    members: f64,
    /// With the results of each method on halves of the members; one member has no halves.
    pub(super) halves: Option<[f64; 2]>,
}

impl Agreement {
    /// By what results are compared: members and halves count alike, and so do the two methods.
    pub(super) fn mean(&self) -> f64 {
        let halves = self.halves.map(|[diffusion, lwea]| (diffusion + lwea) / 2.0);
        halves.map_or(self.members, |halves| (self.members + halves) / 2.0)
    }
}

impl Witnesses {
    /// Both methods on random halves of the members, k clusters each. The nodes are canonical, so
    /// that the halves do not depend on the order of the members.
    pub(super) fn of(
        nodes: &Microclusters,
        k: usize,
        (seed, budget): (Seed, MemoryBudget),
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut stream = seed.derive("evidence objects", 0).stream();
        let (chosen, members) = sampled(nodes, OBJECTS, &mut stream)?;
        let (m, k) = (members.n_members(), k.min(chosen.len()));
        let lwea = Lwea::new(k).memory_budget(budget);
        let diffusion = Diffusion::new(k).seed(seed).memory_budget(budget);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for split in 0..if m < 2 { 0 } else { SPLITS } {
            let mut order: Vec<usize> = (0..m).collect();
            seed.derive("evidence halves", split).stream().shuffle(&mut order);
            let other = order.split_off(m / 2);
            parts.extend([order, other]);
        }
        // Side by side: on so few objects a method by itself leaves threads idle.
        let stage = "halves of the members";
        observer.progress(stage, 0, parts.len());
        let inner = OnlyCancels(observer);
        let done = Mutex::new(0);
        let of_half = |at: usize| -> Result<(Partition, Partition)> {
            let half = members.select(&parts[at])?;
            let found = (diffusion.fit(&half, &inner)?.output, lwea.fit(&half, &inner)?.output);
            if let Ok(mut done) = done.lock() {
                *done += 1;
                observer.progress(stage, *done, parts.len());
            }
            Ok(found)
        };
        // Overlaps of half of the clusters, and a matrix where labels are missing.
        let (n, c) = (if nodes.is_complete() { 0 } else { chosen.len() }, members.n_clusters());
        let fits = |&halves: &usize| budget.allows_table(halves, 8 * n * n + 4 * c * c, 1);
        let abreast = (1..=parts.len()).rev().find(fits).unwrap_or(1);
        let halves = try_map_few(parts.len(), abreast, &of_half)?;
        let (by_diffusion, by_lwea) = halves.into_iter().unzip();
        let halves = [by_diffusion, by_lwea];
        Ok(Witnesses { nodes: nodes.n_nodes(), chosen, members, halves })
    }

    /// How many objects are looked at, where not all.
    pub(super) fn drawn(&self) -> Option<usize> {
        (self.chosen.len() < self.nodes).then_some(OBJECTS)
    }

    /// The results on the first two halves, by both methods; none where they are about a sample
    /// only.
    pub(super) fn first_split(&self) -> impl Iterator<Item = &Partition> {
        let some = if self.chosen.len() == self.nodes { 2 } else { 0 };
        self.halves.iter().flat_map(move |own| own.iter().take(some))
    }

    /// The nodes of the sample as a result has them.
    fn own(&self, clusters: &[usize]) -> Result<Partition> {
        let own: Vec<usize> = self.chosen.iter().map(|&node| clusters[node]).collect();
        Partition::from_labels(&own)
    }

    /// How well a result of the nodes agrees.
    pub(super) fn agreement(&self, clusters: &[usize]) -> Result<Agreement> {
        let own = self.own(clusters)?;
        let mean = |others: &[Partition], weights: Option<&[f64]>| -> Result<f64> {
            let with = |other| adjusted_rand(&own, other, self.members.counts());
            let found = others.iter().map(with).collect::<Result<Vec<_>>>()?;
            Ok(common::mean(&found, weights).unwrap_or(0.0))
        };
        let [diffusion, lwea] = &self.halves;
        let halves = match diffusion.is_empty() {
            true => None,
            false => Some([mean(diffusion, None)?, mean(lwea, None)?]),
        };
        Ok(Agreement { members: mean(self.members.members(), self.members.weights())?, halves })
    }

    /// How well two results of the nodes agree with each other.
    pub(super) fn adjusted_rand(&self, a: &[usize], b: &[usize]) -> Result<f64> {
        let counts = self.members.counts();
        Ok(adjusted_rand(&self.own(a)?, &self.own(b)?, counts)?.unwrap_or(0.0))
    }
}
