use consilience_core::scores::{Normalizer, weighted_nmi};
use consilience_core::{
    Ensemble, Error, Grouping, Memberships, MemoryBudget, Microclusters, Partition, Result, ensure,
};
use consilience_num::reduce::map_each;

use crate::common::{count, mean};
use crate::members;
use crate::support::Support;

/// Up to this many members every two are compared; beyond, each with as many neighbours in member
/// order.
const ALL_PAIRS: usize = 64;
/// Nodes that a thread takes at a time.
const NODES: usize = 1024;
/// Neighbours on each side that a member is compared with where there are very many.
const NEIGHBOURS: usize = 16;
/// A cluster that no member confirms better than this has dissolved (Hennig 2007).
const DISSOLVED: f64 = 0.5;
/// Up to this confidence, one half but for rounding, another cluster is at least as close.
const HALF: f64 = 0.5 + 1e-9;
/// A consensus of members that agree more than this adds little.
const ALIKE: f64 = 0.95;
/// Members that agree less than this have hardly anything in common.
const UNLIKE: f64 = 0.1;

/// How far to trust a consensus, from the ensemble alone: no truth is needed.
///
/// For any partition of the same objects, whichever method made it. Read [`Diagnostics::sentences`]
/// first; the numbers behind them are the fields. None of them is a proof: where all members make
/// the same mistake, they agree with it.
///
/// Members that give memberships count by their most probable clusters. A member of weight 2 counts
/// as if it were there twice in every mean over members or pairs of objects; agreement with the
/// others, and with it the diversity, is about different members, so that copies of a member are
/// not among its others. A member of weight 0 counts nowhere, and of it the number of clusters is
/// told alone.
///
/// Confidence, density and nearest cluster rest on the share of the members' statements about some
/// pairs of objects that put the two together, a member making a statement about each pair that it
/// labels both objects of. Where no label is missing that is the mean co-association of the pairs;
/// else pairs that more members label count more.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::EvidenceAccumulation;
/// use consilience::trust::Diagnostics;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
///     Partition::from_labels(&[0, 1, 0, 1, 0, 1])?,
/// ])?;
/// let consensus = EvidenceAccumulation::new(2).consensus(&ensemble)?;
/// let trust = Diagnostics::of(&ensemble, &consensus)?;
/// assert_eq!(trust.dissenters, [3]);
/// assert!(trust.anmi > 0.5);
/// // The first object belongs to its cluster more clearly than the third, which one member puts
/// // elsewhere.
/// assert!(trust.confidence[0] > trust.confidence[2]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "silhouette")]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::DiagnosticsFields")
)]
#[non_exhaustive]
pub struct Diagnostics {
    /// Average normalized mutual information (square root normalizer) of the result with the
    /// members, each as often as it counts.
    pub anmi: f64,
    /// 1 - the average normalized mutual information among the members, each as often as it counts:
    /// 0 where all are alike. `None` for a single member.
    pub diversity: Option<f64>,
    /// Every member, in order.
    pub members: Vec<MemberDiagnostics>,
    /// Per object how clearly it belongs to its cluster, `own / (own + other)`: own is the share of
    /// statements that put it together with the other objects of its cluster (1 where there are
    /// none), other the largest such share with another cluster. 1 is certain, 0.5 undecided, below
    /// it another cluster is nearer; 0 where the object is unlabelled in the result or in all
    /// members.
    pub confidence: Vec<f64>,
    /// Per object the other cluster with the largest share of statements that put them together,
    /// where that is above 0: between its own and this one it hesitates.
    pub second: Vec<Option<usize>>,
    /// Every cluster of the result, in order.
    pub clusters: Vec<ClusterDiagnostics>,
    /// Members that agree with the others less than half as much as the median member does, among
    /// three or more. The median is that of the weights where members have some.
    pub dissenters: Vec<usize>,
    /// What a reader should know, in plain words, the most important first.
    pub sentences: Vec<String>,
}

/// One member beside the result and the other members.
///
/// Part of [`Diagnostics`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::MemberDiagnosticsFields")
)]
#[non_exhaustive]
pub struct MemberDiagnostics {
    /// Its number of clusters.
    pub clusters: usize,
    /// Normalized mutual information with the result; `None` where no object is labelled in both,
    /// or the member has weight 0.
    pub agreement: Option<f64>,
    /// The average with the other members, each as often as it counts; `None` where there are none
    /// to compare with, or the member has weight 0.
    pub agreement_with_others: Option<f64>,
}

/// One cluster of the result.
///
/// Part of [`Diagnostics`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::ClusterDiagnosticsFields")
)]
#[non_exhaustive]
pub struct ClusterDiagnostics {
    /// Its number of objects.
    pub objects: u64,
    /// Share of the statements about two of its objects, drawn with replacement, that put them
    /// together.
    pub density: f64,
    /// The other cluster with the largest share of statements that put an object of each together,
    /// and that number; `None` where there is no other.
    pub nearest: Option<(usize, f64)>,
    /// Mean over the members of the largest Jaccard index with one of their clusters: above 0.75
    /// stable, below 0.5 dissolved, by Hennig's rule of thumb. Members with far more clusters than
    /// the result lower it. `None` where no member labels any of its objects.
    pub stability: Option<f64>,
    /// Mean confidence of its objects.
    pub confidence: f64,
}

impl Diagnostics {
    /// The diagnostics of a partition.
    ///
    /// # Complexity
    /// O(n M) for the microclusters, then O(n~ M k) for the objects and clusters, O(C k^2) between
    /// clusters (C in the ensemble), and O(n~ M min(M, 32)) among the members: with more than 64 of
    /// them each is compared with the 16 before and after it only. Memory 8 k (C + M) bytes.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a partition of
    /// another number of objects, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no
    /// object is labelled both in it and in some member,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the clusters of the
    /// members beside those of the result do not fit the default memory budget.
    ///
    /// # References
    /// ANMI: Strehl, Ghosh 2002, Equation 4. Diversity: Fern, Brodley 2003. Stability of clusters:
    /// Hennig 2007, "Cluster-wise assessment of cluster stability", on the members instead of
    /// resamples. The confidence is ours, after the silhouette on the co-association.
    pub fn of(ensemble: &Ensemble, partition: &Partition) -> Result<Self> {
        Self::within(ensemble, partition, MemoryBudget::default())
    }

    /// As [`Diagnostics::of`], for a given memory budget.
    ///
    /// ```
    /// use consilience::{Ensemble, ErrorKind, MemoryBudget, Partition};
    /// use consilience::trust::Diagnostics;
    ///
    /// let alone = Partition::from_labels(&[0, 1, 2, 3])?;
    /// let ensemble = Ensemble::new(vec![alone.clone(), alone.clone()])?;
    /// let refused = Diagnostics::within(&ensemble, &alone, MemoryBudget::bytes(100));
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::TooLarge);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Diagnostics::of`].
    pub fn within(
        ensemble: &Ensemble,
        partition: &Partition,
        budget: MemoryBudget,
    ) -> Result<Self> {
        let (found, n) = (partition.n_objects(), ensemble.n_objects());
        ensure!(found == n, shape("a result of {found} objects, an ensemble of {n}"));
        // The result as one more member: a node then lies in one of its clusters.
        let mut with_result = ensemble.hardened();
        with_result.push(partition.clone())?;
        let nodes = Microclusters::of(&with_result)?;
        let Some((result, members)) = nodes.rows().split_last() else {
            return Err(Error::empty("no object is labelled in the result or in a member"));
        };
        let heard = Heard::of(ensemble);
        let sizes = nodes.grouping().weights();
        let labels: Vec<Option<usize>> = result.iter().collect();
        let k = result.n_clusters();
        let support = Support::of((members, &heard.weights), &sizes, &labels, k, budget)?;

        let nmi = |a: &Partition, b: &Partition| weighted_nmi(a, b, &sizes, Normalizer::Sqrt);
        let with_others = agreement_with_others(members, &heard.weights, &nmi);
        let agreement: Vec<Option<f64>> = members.iter().map(|m| nmi(result, m)).collect();
        let anmi = heard.mean(&agreement).ok_or_else(|| {
            Error::empty("no object is labelled both in the result and in a member")
        })?;
        let of_node = node_confidence(nodes.rows(), &support);
        let of_object = nodes.grouping().of_object();
        let of = |g: u32| (g != Grouping::NONE).then(|| of_node[g as usize]);
        let confidence = of_object.iter().map(|&g| of(g).map_or(0.0, |o| o.0)).collect();
        let second = of_object.iter().map(|&g| of(g).and_then(|o| o.1)).collect();
        let of_node: Vec<f64> = of_node.into_iter().map(|o| o.0).collect();
        let mut diagnostics = Diagnostics {
            anmi,
            diversity: heard.mean(&with_others).map(|m| 1.0 - m),
            dissenters: heard.dissenters(&with_others),
            clusters: clusters(&support, &labels, &sizes, &of_node),
            members: heard.members(ensemble, &agreement, &with_others),
            confidence,
            second,
            sentences: Vec::new(),
        };
        diagnostics.sentences =
            diagnostics.write_sentences(heard.places.len(), partition, ensemble);
        Ok(diagnostics)
    }

    /// The diagnostics of soft memberships: those of the hard partition, with a sentence on how
    /// soft it is.
    ///
    /// # Errors
    /// As [`Diagnostics::of`].
    pub fn of_memberships(ensemble: &Ensemble, memberships: &Memberships) -> Result<Self> {
        let mut diagnostics = Self::of(ensemble, &memberships.hard()?)?;
        let known = |i: usize| memberships.evidence()[i] > 0.0;
        let labelled = count(ensemble, known);
        let values = memberships.values();
        let clear = count(ensemble, |i| known(i) && values.row(i).iter().any(|&value| value > 0.5));
        diagnostics.sentences.push(format!(
            "{clear} of {labelled} objects have a cluster with a membership above one half."
        ));
        Ok(diagnostics)
    }

    fn write_sentences(
        &self,
        heard: usize,
        partition: &Partition,
        ensemble: &Ensemble,
    ) -> Vec<String> {
        let mut out = Vec::new();
        self.on_members(heard, &mut out);
        self.on_clusters(&mut out);
        self.on_objects(partition, ensemble, &mut out);
        out
    }

    /// On the members, of which so many count.
    fn on_members(&self, heard: usize, out: &mut Vec<String>) {
        let others = self.members.iter().enumerate();
        let best = others.filter_map(|(u, m)| Some((u, m.agreement_with_others?))).fold(
            None,
            |best: Option<(usize, f64)>, (u, c)| match best {
                Some((_, b)) if b >= c => best,
                _ => Some((u, c)),
            },
        );
        let anmi = self.anmi;
        out.push(match best {
            Some((u, c)) if anmi <= c => format!(
                "The consensus agrees with the members ({anmi:.3} on average) no better than \
                 member {u} does with the others ({c:.3}), as may be where members have more \
                 clusters than it."
            ),
            Some((_, c)) => format!(
                "The consensus agrees with the members ({anmi:.3} on average) better than any \
                 member agrees with the others ({c:.3} at most)."
            ),
            None if heard == 1 => "There is a single member: nothing to compare it with.".into(),
            None => "No two members label the same objects: nothing to compare them by.".into(),
        });
        match self.diversity.map(|d| 1.0 - d) {
            Some(alike) if alike > ALIKE => out.push(format!(
                "The members hardly differ ({alike:.3} among themselves): a consensus can add \
                 little."
            )),
            Some(alike) if alike < UNLIKE => out.push(format!(
                "The members have hardly anything in common ({alike:.3} among themselves): do not \
                 trust their consensus."
            )),
            _ => {}
        }
        if !self.dissenters.is_empty() {
            let listed: Vec<String> =
                self.dissenters.iter().take(10).map(usize::to_string).collect();
            let more = if self.dissenters.len() > 10 { ", ..." } else { "" };
            out.push(format!(
                "{} of {heard} members agree with the others less than half as much as is usual: \
                 {}{more}.",
                self.dissenters.len(),
                listed.join(", ")
            ));
        }
    }

    fn on_clusters(&self, out: &mut Vec<String>) {
        for (c, cluster) in self.clusters.iter().enumerate() {
            // A cluster is blurred where its objects are about as often together with those of
            // another.
            if let Some((other, near)) = cluster.nearest.filter(|n| n.1 >= 0.8 * cluster.density) {
                out.push(format!(
                    "Clusters {c} and {other} are hardly apart: where members label both, they \
                     put two objects of cluster {c} together in {:.0} % of all cases, one of each \
                     in {:.0} %.",
                    100.0 * cluster.density,
                    100.0 * near
                ));
            }
        }
        let dissolved = self.dissolved();
        if dissolved > 0 {
            out.push(format!(
                "{dissolved} of {} clusters are found by the members only in part (mean Jaccard \
                 index below {DISSOLVED}); members with many more clusters than the result do that \
                 by themselves.",
                self.clusters.len()
            ));
        }
    }

    /// How many clusters no member confirms well.
    #[doc(hidden)]
    pub fn dissolved(&self) -> usize {
        self.clusters.iter().filter(|c| c.stability.is_some_and(|s| s < DISSOLVED)).count()
    }

    /// How many objects are at least as close to another cluster as to their own.
    #[doc(hidden)]
    pub fn undecided(&self, partition: &Partition, ensemble: &Ensemble) -> u64 {
        // With one cluster there is no other to be close to.
        let several = self.clusters.len() > 1;
        let close = |i: usize| partition.label(i).is_some() && self.confidence[i] <= HALF;
        count(ensemble, |i| several && close(i))
    }

    fn on_objects(&self, partition: &Partition, ensemble: &Ensemble, out: &mut Vec<String>) {
        let labelled = count(ensemble, |i| partition.label(i).is_some());
        let (undecided, n) = (self.undecided(partition, ensemble), ensemble.total_count());
        if undecided > 0 {
            out.push(format!(
                "{undecided} of {labelled} objects are at least as close to another cluster as to \
                 their own."
            ));
        }
        if labelled < n {
            out.push(format!("{} of {n} objects are unlabelled in the result.", n - labelled));
        }
    }
}

/// The members that count.
struct Heard {
    /// Where each stands among all members.
    places: Vec<usize>,
    /// How often it counts, more than 0.
    weights: Vec<f64>,
}

impl Heard {
    fn of(ensemble: &Ensemble) -> Self {
        let weights = members::weights(ensemble);
        let places: Vec<usize> = (0..weights.len()).filter(|&u| weights[u] > 0.0).collect();
        let weights = places.iter().map(|&u| weights[u]).collect();
        Heard { places, weights }
    }

    /// The mean of a number of each, where there is one.
    fn mean(&self, values: &[Option<f64>]) -> Option<f64> {
        mean(values, Some(&self.weights))
    }

    /// Every member of the ensemble; of those that do not count there is the number of clusters.
    fn members(
        &self,
        ensemble: &Ensemble,
        agreement: &[Option<f64>],
        with_others: &[Option<f64>],
    ) -> Vec<MemberDiagnostics> {
        let silent = |m: &Partition| MemberDiagnostics {
            clusters: m.n_clusters(),
            agreement: None,
            agreement_with_others: None,
        };
        let mut all: Vec<MemberDiagnostics> = ensemble.members().iter().map(silent).collect();
        for (at, &u) in self.places.iter().enumerate() {
            all[u].agreement = agreement[at];
            all[u].agreement_with_others = with_others[at];
        }
        all
    }

    /// Those that agree with the others less than half as much as the median member does.
    fn dissenters(&self, with_others: &[Option<f64>]) -> Vec<usize> {
        let known = with_others.iter().zip(&self.weights);
        let mut sorted: Vec<(f64, f64)> = known.filter_map(|(c, &w)| Some(((*c)?, w))).collect();
        if sorted.len() < 3 {
            return Vec::new();
        }
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut seen = 0.0;
        let mut upto = Vec::with_capacity(sorted.len());
        for (_, weight) in &sorted {
            seen += *weight;
            upto.push(seen);
        }
        // The lower median, where half of the weight is reached, and the upper, where it is passed.
        let half = 0.5 * seen;
        let at = |place: usize| sorted[place.min(sorted.len() - 1)].0;
        let lower = at(upto.partition_point(|&w| w < half));
        let upper = at(upto.partition_point(|&w| w <= half));
        let median = 0.5 * (lower + upper);
        let dissents = |at: &usize| with_others[*at].is_some_and(|c| c < 0.5 * median);
        (0..with_others.len()).filter(dissents).map(|at| self.places[at]).collect()
    }
}

/// Mean NMI of each member with the others, each as often as it counts, or with those next to it
/// where there are very many.
fn agreement_with_others(
    members: &[Partition],
    weights: &[f64],
    nmi: &(dyn Fn(&Partition, &Partition) -> Option<f64> + Sync),
) -> Vec<Option<f64>> {
    let m = members.len();
    let pairs: Vec<(usize, usize)> = if m <= ALL_PAIRS {
        (0..m).flat_map(|u| (u + 1..m).map(move |v| (u, v))).collect()
    } else {
        (0..m).flat_map(|u| (1..=NEIGHBOURS).map(move |step| (u, (u + step) % m))).collect()
    };
    // Each number by itself, and the sums in the order of the pairs: the same at any number of
    // threads.
    let shared = map_each(pairs.len(), &|at| {
        let (u, v) = pairs[at];
        nmi(&members[u], &members[v])
    });
    let mut sums = vec![(0.0, 0.0); m];
    for ((u, v), shared) in pairs.into_iter().zip(shared) {
        for (own, other) in [(u, v), (v, u)] {
            if let Some(shared) = shared {
                sums[own].0 += weights[other] * shared;
                sums[own].1 += weights[other];
            }
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0.0).then(|| sum / count)).collect()
}

/// Confidence of the objects of each node, and the cluster that comes second. `rows` are the
/// members and, last, the result.
fn node_confidence(rows: &[Partition], support: &Support) -> Vec<(f64, Option<usize>)> {
    let Some((result, members)) = rows.split_last() else { return Vec::new() };
    let of_node = |labels: &mut [Option<usize>], i: usize| {
        labels.iter_mut().zip(members).for_each(|(l, m)| *l = m.label(i));
        let labelling = support.labelling(labels);
        let Some(own) = result.label(i).filter(|_| labelling > 0.0) else {
            return (0.0, None);
        };
        let (together, pairs) = support.pairs_of(labels);
        // Without the object itself, which is together with itself in every member that labels it.
        let others = pairs[own] - labelling;
        // Differences of sums of weights may be off by rounding.
        let mine =
            if others > 0.0 { ((together[own] - labelling) / others).clamp(0.0, 1.0) } else { 1.0 };
        let others = (0..support.k).filter(|&c| c != own && pairs[c] > 0.0);
        let (second, other) = others.map(|c| (c, together[c] / pairs[c])).fold(
            (None, 0.0),
            |best: (Option<usize>, f64), (c, share)| {
                if share > best.1 { (Some(c), share) } else { best }
            },
        );
        let confidence = if mine + other > 0.0 { mine / (mine + other) } else { 0.5 };
        (confidence, second)
    };
    let n = result.n_objects();
    let some = |c: usize| {
        let mut labels = vec![None; members.len()];
        let nodes = c * NODES..n.min((c + 1) * NODES);
        nodes.map(|i| of_node(&mut labels, i)).collect::<Vec<_>>()
    };
    map_each(n.div_ceil(NODES), &some).concat()
}

fn clusters(
    support: &Support,
    labels: &[Option<usize>],
    weights: &[f64],
    confidence: &[f64],
) -> Vec<ClusterDiagnostics> {
    let (mut sum, mut size) = (vec![0.0; support.k], vec![0.0; support.k]);
    // Nodes are numbered by their first object, so that clusters have the same numbers over both.
    for ((label, &weight), &confidence) in labels.iter().zip(weights).zip(confidence) {
        if let Some(c) = *label {
            sum[c] += weight * confidence;
            size[c] += weight;
        }
    }
    (0..support.k)
        .map(|c| {
            let nearest = (0..support.k)
                .filter(|&d| d != c)
                .map(|d| (d, support.between(c, d)))
                .fold(None, |best: Option<(usize, f64)>, next| match best {
                    Some(b) if b.1 >= next.1 => Some(b),
                    _ => Some(next),
                });
            ClusterDiagnostics {
                objects: size[c] as u64,
                density: support.density(c),
                nearest,
                stability: support.stability(c),
                confidence: sum[c] / size[c],
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::Seed;
    use consilience_core::scores::{average_nmi, normalized_mutual_information};

    /// Share of the statements about one object and a set of others that put them together, pair by
    /// pair.
    fn association(e: &Ensemble, i: usize, others: &[usize]) -> Option<f64> {
        let (mut c, mut n) = (0.0, 0.0);
        for &j in others {
            for m in e.members() {
                if let (Some(a), Some(b)) = (m.label(i), m.label(j)) {
                    n += 1.0;
                    c += f64::from(u8::from(a == b));
                }
            }
        }
        (n > 0.0).then_some(c / n)
    }

    #[test]
    fn members_that_cannot_be_compared_are_told_as_what_they_are() {
        let labels = |labels: &[i64]| Partition::from_labels(labels).unwrap();
        let said = |members: Vec<Partition>| {
            let e = Ensemble::new(members).unwrap();
            Diagnostics::of(&e, &labels(&[0, 0, 1, 1])).unwrap().sentences.join(" ")
        };
        assert!(said(vec![labels(&[0, 0, 1, 1])]).contains("a single member"));
        let apart = vec![labels(&[0, 0, -1, -1]), labels(&[-1, -1, 0, 0])];
        assert!(said(apart).contains("No two members label the same objects"));
    }

    #[test]
    fn every_number_equals_its_definition_pair_by_pair() {
        for seed in 0..10 {
            let missing = if seed % 2 == 0 { 0.0 } else { 0.3 };
            let world = planted(Seed(seed), &[14, 9, 5, 1], 6, 0.3, missing).unwrap();
            let e = &world.ensemble;
            let n = e.n_objects();
            // A result with an unlabelled object, which cuts through microclusters.
            let mut labels = world.truth.to_signed();
            labels[3] = -1;
            let result = Partition::from_labels(&labels).unwrap();
            let d = Diagnostics::of(e, &result).unwrap();
            assert!((d.anmi - average_nmi(&result, e, Normalizer::Sqrt).unwrap()).abs() < 1e-12);
            let within = |c: usize| -> Vec<usize> {
                (0..n).filter(|&i| result.label(i) == Some(c)).collect()
            };
            for i in 0..n {
                let Some(own) = result.label(i) else {
                    assert_eq!(d.confidence[i], 0.0);
                    continue;
                };
                let others: Vec<usize> = within(own).into_iter().filter(|&j| j != i).collect();
                let mine = association(e, i, &others).unwrap_or(1.0);
                let other = (0..result.n_clusters())
                    .filter(|&c| c != own)
                    .filter_map(|c| association(e, i, &within(c)))
                    .fold(0.0, f64::max);
                assert!((d.confidence[i] - mine / (mine + other)).abs() < 1e-12, "{i}");
                let with = |c: usize| association(e, i, &within(c)).unwrap_or(0.0);
                let second = d.second[i].map_or(0.0, |c| if c == own { -1.0 } else { with(c) });
                assert!((second - other).abs() < 1e-12, "{i}: {second} {other}");
            }
            for (c, cluster) in d.clusters.iter().enumerate() {
                let objects = within(c);
                assert_eq!(cluster.objects, objects.len() as u64);
                let mean_of = |others: &[usize]| {
                    let (mut t, mut p) = (0.0, 0.0);
                    for &i in &objects {
                        for m in e.members() {
                            let both = others
                                .iter()
                                .filter(|&&j| m.label(i).is_some() && m.label(j).is_some());
                            p += both.clone().count() as f64;
                            t += both.filter(|&&j| m.label(i) == m.label(j)).count() as f64;
                        }
                    }
                    t / p
                };
                assert!((cluster.density - mean_of(&objects)).abs() < 1e-12);
                let (near, value) = cluster.nearest.unwrap();
                assert!((value - mean_of(&within(near))).abs() < 1e-12);
                assert!((0..4).filter(|&o| o != c).all(|o| mean_of(&within(o)) <= value + 1e-12));
                let jaccard: f64 = e
                    .members()
                    .iter()
                    .filter_map(|m| {
                        let mine: Vec<usize> =
                            objects.iter().copied().filter(|&i| m.label(i).is_some()).collect();
                        let best = (0..m.n_clusters()).map(|l| {
                            let theirs = (0..n)
                                .filter(|&i| m.label(i) == Some(l) && result.label(i).is_some())
                                .count();
                            let both = mine.iter().filter(|&&i| m.label(i) == Some(l)).count();
                            both as f64 / (theirs + mine.len() - both) as f64
                        });
                        (!mine.is_empty()).then(|| best.fold(0.0, f64::max))
                    })
                    .fold((0.0, 0.0), |(s, c), v| (s + v, c + 1.0))
                    .into_mean();
                assert!((cluster.stability.unwrap() - jaccard).abs() < 1e-12);
            }
            for (u, m) in d.members.iter().enumerate() {
                let with = |v: usize| {
                    normalized_mutual_information(
                        &e.members()[u],
                        &e.members()[v],
                        Normalizer::Sqrt,
                    )
                    .unwrap()
                };
                let expected = (0..6).filter(|&v| v != u).map(with).sum::<f64>() / 5.0;
                assert!((m.agreement_with_others.unwrap() - expected).abs() < 1e-12);
            }
        }
    }

    trait IntoMean {
        fn into_mean(self) -> f64;
    }

    impl IntoMean for (f64, f64) {
        fn into_mean(self) -> f64 {
            self.0 / self.1
        }
    }

    #[test]
    fn a_dissenter_and_a_bad_consensus_are_named() {
        let mut world = planted(Seed(1), &[30, 30, 30], 6, 0.1, 0.0).unwrap();
        let mut s = Seed(2).stream();
        let noise: Vec<usize> = (0..90).map(|_| s.below(3)).collect();
        let noise = Partition::from_labels(&noise).unwrap();
        let mut members = world.ensemble.members().to_vec();
        members.insert(2, noise.clone());
        world.ensemble = Ensemble::new(members).unwrap();
        let good = Diagnostics::of(&world.ensemble, &world.truth).unwrap();
        assert_eq!(good.dissenters, [2]);
        assert!(good.sentences[0].contains("better than any member"), "{:?}", good.sentences);
        let other: Vec<usize> = (0..90).map(|_| s.below(3)).collect();
        let bad =
            Diagnostics::of(&world.ensemble, &Partition::from_labels(&other).unwrap()).unwrap();
        assert!(bad.sentences[0].contains("no better than member"), "{:?}", bad.sentences);
        assert!(bad.sentences.iter().any(|s| s.contains("hardly apart")), "{:?}", bad.sentences);
        assert!(bad.anmi < good.anmi);
    }

    #[test]
    fn many_members_are_compared_with_their_neighbours() {
        let world = planted(Seed(5), &[20, 20], 100, 0.1, 0.0).unwrap();
        let d = Diagnostics::of(&world.ensemble, &world.truth).unwrap();
        assert!(d.members.iter().all(|m| m.agreement_with_others.is_some()));
        assert!(d.dissenters.is_empty());
    }

    #[test]
    fn degenerate_input() {
        let e = Ensemble::new(vec![Partition::from_labels(&[0, 0, -1]).unwrap()]).unwrap();
        let d = Diagnostics::of(&e, &Partition::single_cluster(3).unwrap()).unwrap();
        assert_eq!((d.diversity, d.anmi), (None, 1.0));
        assert_eq!(d.confidence, [1.0, 1.0, 0.0]);
        let nothing = Partition::from_labels(&[-1, -1, -1]).unwrap();
        assert!(Diagnostics::of(&e, &nothing).is_err());
        assert!(Diagnostics::of(&e, &Partition::from_labels(&[0]).unwrap()).is_err());
        let unlabelled = Ensemble::new(vec![nothing.clone()]).unwrap();
        assert!(Diagnostics::of(&unlabelled, &Partition::single_cluster(3).unwrap()).is_err());
        assert!(Diagnostics::of(&unlabelled, &nothing).is_err());
        let soft = Diagnostics::of_memberships(&e, &Memberships::from(&e.members()[0])).unwrap();
        assert!(
            soft.sentences.last().unwrap().starts_with("2 of 2 objects"),
            "{:?}",
            soft.sentences
        );
    }
}
