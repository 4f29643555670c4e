//! An order of nodes and members that depends on neither the order of the objects nor that of the
//! members, and not on the units of counts and weights either.

use crate::lowest_terms::common_factor;
use crate::{
    LabelInt, Microclusters, Observer, Partition, Result, SparseMemberships, mix, room, with_labels,
};

/// Labels that are looked at before the nodes that are left alike are ordered by their first object
/// at once; bounds the time on ensembles of very many alike nodes.
const EFFORT: usize = 1 << 26;

/// The nodes in canonical order: colours of nodes, clusters and members are refined by what they
/// are linked to until nothing more is told apart (Weisfeiler and Leman); where nodes are left
/// alike, the first of one set of them is told apart, and so on.
pub(crate) fn node_order(nodes: &Microclusters, observer: &dyn Observer) -> Result<Vec<u32>> {
    let mut colours = Colours::new(nodes)?;
    loop {
        colours.refine(observer)?;
        if colours.looked_at > EFFORT {
            break;
        }
        observer.check()?;
        let Some(alike) = colours.first_alike()? else { break };
        colours.nodes[alike] = mix(colours.nodes[alike] ^ 1);
        colours.distinct += 1;
    }
    observer.check()?;
    let mut order: Vec<u32> = room::collected(0..nodes.n_nodes() as u32)?;
    order.sort_unstable_by_key(|&i| (colours.nodes[i as usize], i));
    Ok(order)
}

/// What a member says of the nodes.
enum Row<'a> {
    Hard(&'a Partition),
    Soft(&'a SparseMemberships),
}

impl Row<'_> {
    /// Calls `link(node, cluster, salt)` for each node and a cluster that it belongs to; the salt
    /// is 0 where it belongs to no other.
    #[inline(always)]
    fn each(&self, mut link: impl FnMut(usize, usize, u64)) {
        match self {
            Row::Hard(labels) => with_labels!(labels.labels(), |labels| {
                for (node, &l) in labels.iter().enumerate() {
                    if !l.is_missing() {
                        link(node, l.index(), 0);
                    }
                }
            }),
            Row::Soft(soft) => {
                for node in 0..soft.n_objects() {
                    let (clusters, values) = soft.row(node);
                    for (&c, v) in clusters.iter().zip(values) {
                        link(node, c as usize, mix(v.to_bits()));
                    }
                }
            }
        }
    }
}

/// Colours are hashes: sums of mixed colours do not depend on the order of what is added. Two that
/// collide are taken for alike, which costs a round and never the order.
struct Colours<'a> {
    rows: Vec<Row<'a>>,
    nodes: Vec<u64>,
    /// Of the clusters of each member.
    clusters: Vec<Vec<u64>>,
    /// How many nodes and clusters are told apart.
    distinct: usize,
    /// How many labels were looked at so far.
    looked_at: usize,
}

impl<'a> Colours<'a> {
    fn new(nodes: &'a Microclusters) -> Result<Self> {
        let row = |(u, labels): (usize, &'a Partition)| match nodes.soft(u) {
            Some(soft) => (Row::Soft(soft), soft.n_clusters()),
            None => (Row::Hard(labels), labels.n_clusters()),
        };
        // By the places of their weights among all: those of least weight have colour 0.
        let members = nodes.rows().len();
        let mut weights: Vec<f64> = (0..members).map(|u| nodes.weight(u)).collect();
        weights.sort_unstable_by(f64::total_cmp);
        weights.dedup();
        let place = |u: usize| weights.partition_point(|&w| w < nodes.weight(u)) as u64;
        let weight = |u: usize| mix(place(u)) ^ mix(0);
        let common = common_factor(nodes.sizes().iter().copied());
        let (rows, sizes): (Vec<_>, Vec<_>) = nodes.rows().iter().enumerate().map(row).unzip();
        let clusters = (0..).zip(sizes).map(|(u, k)| room::filled(k, weight(u)));
        Ok(Colours {
            rows,
            nodes: room::collected(nodes.sizes().iter().map(|&s| mix(s / common)))?,
            clusters: clusters.collect::<Result<_>>()?,
            distinct: 0,
            looked_at: 0,
        })
    }

    /// Refines until no round tells more nodes or clusters apart.
    fn refine(&mut self, observer: &dyn Observer) -> Result<()> {
        let all = self.nodes.len() + self.clusters.iter().map(Vec::len).sum::<usize>();
        loop {
            self.round(observer)?;
            observer.check()?;
            self.looked_at += 2 * self.rows.len() * self.nodes.len();
            let count = self.count()?;
            let before = std::mem::replace(&mut self.distinct, count);
            if self.distinct == before || self.distinct == all {
                return Ok(());
            }
        }
    }

    /// Clusters by their nodes, members by their clusters, nodes by their clusters.
    fn round(&mut self, observer: &dyn Observer) -> Result<()> {
        for (member, clusters) in self.rows.iter().zip(&mut self.clusters) {
            observer.check()?;
            let mut sums = room::copied(clusters)?;
            member.each(|node, c, salt| {
                sums[c] = sums[c].wrapping_add(mix(self.nodes[node] ^ salt));
            });
            let whole = sums.iter().fold(0u64, |sum, &c| sum.wrapping_add(mix(c)));
            sums.iter_mut().for_each(|c| *c = mix(*c ^ mix(whole)));
            *clusters = sums;
        }
        let mut sums = room::copied(&self.nodes)?;
        for (member, clusters) in self.rows.iter().zip(&self.clusters) {
            observer.check()?;
            member.each(|node, c, salt| {
                let link = if salt == 0 { clusters[c] } else { mix(clusters[c] ^ salt) };
                sums[node] = sums[node].wrapping_add(link);
            });
        }
        sums.iter_mut().for_each(|sum| *sum = mix(*sum));
        self.nodes = sums;
        Ok(())
    }

    /// Number of distinct colours of nodes and of clusters.
    fn count(&self) -> Result<usize> {
        let mut clusters = room::with_capacity(self.clusters.iter().map(Vec::len).sum())?;
        self.clusters.iter().for_each(|colours| clusters.extend_from_slice(colours));
        Ok(count_distinct(clusters) + count_distinct(room::copied(&self.nodes)?))
    }

    /// The first node of the least colour that several have.
    fn first_alike(&self) -> Result<Option<usize>> {
        let mut sorted = room::copied(&self.nodes)?;
        sorted.sort_unstable();
        let least = sorted.windows(2).find(|w| w[0] == w[1]).map(|w| w[0]);
        Ok(least.and_then(|least| self.nodes.iter().position(|&c| c == least)))
    }
}

fn count_distinct(mut colours: Vec<u64>) -> usize {
    colours.sort_unstable();
    colours.dedup();
    colours.len()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::{Ensemble, Microclusters, Observer, Partition, Seed};

    fn ensemble(rows: &[Vec<i64>]) -> Ensemble {
        Ensemble::new(rows.iter().map(|r| Partition::from_labels(r).unwrap()).collect()).unwrap()
    }

    fn canonical(e: &Ensemble) -> Microclusters {
        Microclusters::of(e).unwrap().canonical().unwrap()
    }

    /// Members in any order give the same nodes; objects in any order the same table of labels.
    #[test]
    fn orders_change_nothing() {
        for seed in 0..300 {
            let mut s = Seed(seed).stream();
            let (n, members, k) = (3 + s.below(9), 1 + s.below(4), 1 + s.below(4));
            let rows: Vec<Vec<i64>> =
                (0..members).map(|_| (0..n).map(|_| s.below(k + 1) as i64 - 1).collect()).collect();
            let e = ensemble(&rows);
            let plain = canonical(&e);
            let mut order: Vec<usize> = (0..members).collect();
            s.shuffle(&mut order);
            assert_eq!(canonical(&e.select(&order).unwrap()), plain, "{rows:?}");
            let mut order: Vec<usize> = (0..n).collect();
            s.shuffle(&mut order);
            let moved = canonical(&e.select_objects(&order).unwrap());
            assert_eq!((moved.rows(), moved.sizes()), (plain.rows(), plain.sizes()), "{rows:?}");
        }
    }

    /// Two rings that exchange with each other: telling one node apart must decide all others.
    #[test]
    fn symmetric_nodes_are_told_apart_together() {
        let e = ensemble(&[vec![0, 0, 1, 1, 2, 2, 3, 3], vec![0, 1, 0, 1, 2, 3, 2, 3]]);
        let plain = canonical(&e);
        for seed in 0..50 {
            let mut order: Vec<usize> = (0..8).collect();
            Seed(seed).stream().shuffle(&mut order);
            let moved = canonical(&e.select_objects(&order).unwrap());
            assert_eq!(moved.rows(), plain.rows(), "{order:?}");
        }
    }

    /// Neither what all weights nor what all counts have in common shows in the order; the weights
    /// themselves are the same bits.
    #[test]
    fn units_change_nothing() {
        for seed in 0..100 {
            let mut s = Seed(seed).derive("units", 0).stream();
            let (n, members) = (3 + s.below(9), 1 + s.below(4));
            let rows: Vec<Vec<i64>> =
                (0..members).map(|_| (0..n).map(|_| s.below(3) as i64).collect()).collect();
            let plain = ensemble(&rows);
            let weights: Vec<f64> = (0..members).map(|_| (1 + s.below(30)) as f64 / 10.0).collect();
            let counts: Vec<u64> = (0..n).map(|_| 1 + s.below(4) as u64).collect();
            let weighed = |by: f64| {
                let weights: Vec<f64> = weights.iter().map(|w| w * by).collect();
                canonical(&plain.clone().with_weights(weights).unwrap())
            };
            let counted = |by: u64| {
                let counts: Vec<u64> = counts.iter().map(|c| c * by).collect();
                canonical(&plain.clone().with_counts(counts).unwrap())
            };
            for by in [2.0, 3.0, 0.7, 1.0 / 3.0] {
                let equal = plain.clone().with_weights(vec![by; members]).unwrap();
                assert_eq!(canonical(&equal), canonical(&plain), "{rows:?} {by}");
                assert_eq!(weighed(by), weighed(1.0), "{rows:?} {weights:?} {by}");
            }
            for by in [2, 3, 1_000] {
                let (own, times) = (counted(1), counted(by));
                assert_eq!(times.rows(), own.rows(), "{rows:?} {counts:?} {by}");
                let sizes: Vec<u64> = own.sizes().iter().map(|size| size * by).collect();
                assert_eq!(times.sizes(), sizes, "{rows:?} {counts:?} {by}");
            }
        }
    }

    #[test]
    fn nothing_and_one_node() {
        assert_eq!(canonical(&ensemble(&[vec![-1, -1]])).n_nodes(), 0);
        assert_eq!(canonical(&ensemble(&[vec![5, 5, -1]])).sizes(), [2]);
    }

    #[test]
    fn very_many_alike_nodes_end() {
        let apart: Vec<i64> = (0..3000).collect();
        let e = ensemble(&vec![apart; 40]);
        assert_eq!(canonical(&e).n_nodes(), 3000);
    }

    /// Each member is looked at twice in a round, and once more when its labels are reordered.
    #[test]
    fn cancellation_is_asked_for_at_every_member() {
        let member = |u: i64| (0..30).map(|i| (i * (u + 3)) % 7).collect::<Vec<i64>>();
        let nodes = Microclusters::of(&ensemble(&(0..10).map(member).collect::<Vec<_>>())).unwrap();
        let asked = Counting::default();
        let found = nodes.clone().canonical_observed(&asked).unwrap();
        assert_eq!(found, nodes.canonical().unwrap());
        assert!(asked.0.load(Ordering::Relaxed) > 30);
    }

    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Observer for Counting {
        fn cancelled(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            false
        }
    }
}
