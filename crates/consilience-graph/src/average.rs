//! Average linkage of microclusters straight from the clusters that hold them, without the matrix.

use std::cmp::Ordering;

use consilience_core::{Observer, Result, sizes_in_lowest_terms};

use crate::{ClusterIncidence, Dendrogram};

/// The lists that are left are not read once what they could add, times this, is below the best: at
/// 1 many nodes would have to be computed in full, and at 3 too many lists be read.
const ENOUGH: f64 = 1.5;

/// The sums on the way are rounded otherwise than the full ones.
const SLACK: f64 = 1e-9;
/// Searches between two questions whether to stop: each may read the lists of all clusters.
const OFTEN: usize = 16;

/// What objects are counted in: four bytes keep the lists short; rows that stand for many objects
/// need more, and so do memberships.
trait Count: Copy + Into<f64> + std::ops::Add<Output = Self> {
    fn of(size: f64) -> Self;
}

impl Count for u32 {
    fn of(size: f64) -> Self {
        size as u32
    }
}

impl Count for f64 {
    fn of(size: f64) -> Self {
        size
    }
}

/// What a node shares with a cluster of the ensemble.
#[derive(Clone, Copy)]
struct Share<C> {
    cluster: u32,
    /// Objects of the node in the cluster.
    objects: C,
    /// Where the node is on the cluster's list.
    at: u32,
}

/// A node on the list of a cluster.
#[derive(Clone, Copy)]
struct Entry<C> {
    node: u32,
    objects: C,
}

/// The sum of similarities to one node while it grows, and how much an object of it counts.
#[derive(Clone, Copy)]
struct Sum {
    so_far: f64,
    per_object: f64,
}

/// A member, while a node searches its nearest.
#[derive(Clone, Default)]
struct MemberSearch {
    /// Entries on the lists of its clusters that hold the node.
    entries: usize,
    /// The most that it can add to a similarity, and what all those that are read later can.
    most: f64,
    later: f64,
    clusters: Vec<u32>,
}

/// Nodes of the tree that are not merged yet, each going by its first leaf.
struct Nodes<'a, C> {
    weights: &'a [f64],
    member: &'a [u32],
    shares: Vec<Vec<Share<C>>>,
    objects: Vec<f64>,
    lists: Vec<Vec<Entry<C>>>,
    alive: Vec<bool>,
    sums: Vec<Sum>,
    touched: Vec<u32>,
    /// Objects of the node that searches in each cluster.
    mine: Vec<f64>,
    /// For each member, what it can add for the node that searches.
    searches: Vec<MemberSearch>,
    /// The members, those of fewest entries first.
    order: Vec<usize>,
}

/// The tree of average linkage over microclusters of a complete ensemble, where the similarity of
/// two of them is the weight of the clusters that hold both, over `total`. Heights are 1 -
/// similarity.
///
/// With h_A(c) the objects of node A in cluster c, the mean similarity of two nodes is sum_c w_c
/// h_A(c) h_B(c) / (|A| |B| total), so a node is known by its row of h, which adds up in a merge.
/// Nodes that share nothing join at height 1, in the order of their first leaves.
///
/// The nearest neighbour comes from the lists of the clusters, shortest first, until no member that
/// is left could make a node the nearest that is on none of the lists read; what is left over is
/// computed in full, so no pruning shows in the tree.
///
/// Time is in proportion to the entries read, O(n~ M) memory.
pub(crate) fn average_linkage(
    incidence: &ClusterIncidence,
    weights: &[f64],
    total: f64,
    observer: &dyn Observer,
) -> Result<Dendrogram> {
    // Means do not depend on how objects are counted.
    let (sizes, _) = sizes_in_lowest_terms(incidence.sizes())?;
    let few = sizes.iter().sum::<f64>() <= f64::from(u32::MAX);
    if few && !incidence.is_soft() {
        tree::<u32>((incidence, &sizes), weights, total, observer)
    } else {
        tree::<f64>((incidence, &sizes), weights, total, observer)
    }
}

fn tree<C: Count>(
    (incidence, sizes): (&ClusterIncidence, &[f64]),
    weights: &[f64],
    total: f64,
    observer: &dyn Observer,
) -> Result<Dendrogram> {
    let n = incidence.n_rows();
    let (order, member) = (canonical(incidence, weights), incidence.member_of_cluster());
    let sorted: Vec<f64> = order.iter().map(|&c| weights[c as usize]).collect();
    let member: Vec<u32> = order.iter().map(|&c| member[c as usize] as u32).collect();
    let mut nodes = Nodes::<C>::of((incidence, sizes), &order, &sorted, &member, observer)?;
    let mut merges = Vec::with_capacity(n - 1);
    let (mut height, mut last_near) = (vec![f64::NEG_INFINITY; n], vec![None; n]);
    let (mut chain, mut on_chain) = (Vec::<u32>::new(), vec![false; n]);
    let (mut first_alive, mut steps) = (0, 0usize);
    // Nodes that share nothing with any other that is left.
    let mut alone: Vec<usize> = Vec::new();
    while merges.len() + alone.len() < n {
        if steps.is_multiple_of(OFTEN) {
            observer.check()?;
        }
        if (merges.len() + alone.len()).is_multiple_of(256) {
            observer.progress("partition", merges.len(), n - 1);
        }
        steps += 1;
        let Some(&top) = chain.last() else {
            while !nodes.alive[first_alive] {
                first_alive += 1;
            }
            chain.push(first_alive as u32);
            on_chain[first_alive] = true;
            continue;
        };
        let previous = chain.len().checked_sub(2).map(|p| chain[p]);
        let Some((near, similarity)) = nodes.nearest(top, previous, last_near[top as usize]) else {
            unwind(&mut chain, &mut on_chain, top);
            nodes.alive[top as usize] = false;
            alone.push(top as usize);
            continue;
        };
        last_near[top as usize] = Some(near);
        // Sums of weights are rounded, so a nearest node could be one further down the chain; all
        // between are equally near up to that rounding.
        if on_chain[near as usize] {
            unwind(&mut chain, &mut on_chain, near);
            let (keep, gone) = (top.min(near) as usize, top.max(near) as usize);
            height[keep] = (-similarity / total).max(height[keep]).max(height[gone]);
            merges.push((keep, gone, height[keep]));
            nodes.merge(keep, gone);
        } else {
            chain.push(near);
            on_chain[near as usize] = true;
        }
    }
    if let [first, others @ ..] = &alone[..] {
        merges.extend(others.iter().map(|&other| (*first, other, 0.0)));
    }
    observer.progress("partition", n - 1, n - 1);
    Ok(Dendrogram::from_merges(n, merges)?.map_heights(|h| 1.0 + h))
}

/// Takes the nodes from the end of a chain up to one of them.
fn unwind(chain: &mut Vec<u32>, on_chain: &mut [bool], to: u32) {
    while let Some(node) = chain.pop() {
        on_chain[node as usize] = false;
        if node == to {
            break;
        }
    }
}

/// The clusters in an order that the order of the members leaves no trace in, so that sums over
/// them have the same bits: by weight, then by the microclusters that they hold.
pub(crate) fn canonical(incidence: &ClusterIncidence, weights: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..incidence.n_clusters() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        let size = |c: usize| incidence.rows_of(c).len();
        weights[a]
            .total_cmp(&weights[b])
            .then_with(|| size(a).cmp(&size(b)))
            .then_with(|| incidence.rows_of(a).cmp(incidence.rows_of(b)))
            .then_with(|| {
                let bits = |c| incidence.shares_in(c).map(|(_, p)| p.to_bits());
                if incidence.is_soft() { bits(a).cmp(bits(b)) } else { Ordering::Equal }
            })
    });
    order
}

impl<'a, C: Count> Nodes<'a, C> {
    fn of(
        (incidence, sizes): (&ClusterIncidence, &[f64]),
        order: &[u32],
        weights: &'a [f64],
        member: &'a [u32],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let n = incidence.n_rows();
        let mut shares: Vec<Vec<Share<C>>> =
            (0..n).map(|i| Vec::with_capacity(incidence.clusters_of(i).len())).collect();
        let mut lists = Vec::with_capacity(order.len());
        for (cluster, &c) in order.iter().enumerate() {
            observer.check()?;
            let mut list = Vec::with_capacity(incidence.rows_of(c as usize).len());
            for (at, (i, share)) in incidence.shares_in(c as usize).enumerate() {
                let objects = C::of(sizes[i] * share);
                list.push(Entry { node: i as u32, objects });
                shares[i].push(Share { cluster: cluster as u32, objects, at: at as u32 });
            }
            lists.push(list);
        }
        Ok(Nodes {
            weights,
            member,
            shares,
            objects: sizes.to_vec(),
            lists,
            alive: vec![true; n],
            sums: sizes.iter().map(|s| Sum { so_far: 0.0, per_object: 1.0 / s }).collect(),
            touched: Vec::new(),
            mine: vec![0.0; order.len()],
            searches: vec![MemberSearch::default(); incidence.n_members()],
            order: (0..incidence.n_members()).collect(),
        })
    }

    /// The node nearest to `top` and their summed weight per pair of objects. Of equals `previous`,
    /// then the lowest; `None` where it shares no cluster with any.
    fn nearest(
        &mut self,
        top: u32,
        previous: Option<u32>,
        hint: Option<u32>,
    ) -> Option<(u32, f64)> {
        let asking = std::mem::take(&mut self.shares[top as usize]);
        let own = 1.0 / self.objects[top as usize];
        self.open(&asking, own);
        let mut best = previous.map(|p| (p, self.similarity(top, p)));
        let mut reached = best.map_or(0.0, |b| b.1);
        if let Some(h) = hint.filter(|&h| self.alive[h as usize] && Some(h) != previous && h != top)
        {
            reached = f64::max(reached, self.similarity(top, h));
        }
        let (left, mut reached) = self.add_up(top, own, reached);
        let mut touched = std::mem::take(&mut self.touched);
        for &x in &touched {
            let so_far = std::mem::replace(&mut self.sums[x as usize].so_far, 0.0);
            if (so_far + left) * (1.0 + SLACK) < reached || x == top {
                continue;
            }
            let similarity = self.similarity(top, x);
            reached = f64::max(reached, similarity);
            let nearer = match best {
                Some((b, s)) => similarity > s || (similarity == s && x < b && Some(b) != previous),
                None => similarity > 0.0,
            };
            if nearer {
                best = Some((x, similarity));
            }
        }
        touched.clear();
        self.touched = touched;
        asking.iter().for_each(|s| self.mine[s.cluster as usize] = 0.0);
        for search in &mut self.searches {
            search.clusters.clear();
            (search.entries, search.most, search.later) = (0, 0.0, 0.0);
        }
        self.shares[top as usize] = asking;
        best
    }

    /// Who asks: its shares, and what each member's clusters may add at most.
    fn open(&mut self, asking: &[Share<C>], own: f64) {
        for s in asking {
            let c = s.cluster as usize;
            self.mine[c] = s.objects.into();
            let search = &mut self.searches[self.member[c] as usize];
            search.entries += self.lists[c].len();
            search.most = f64::max(search.most, self.weights[c] * self.mine[c] * own);
            search.clusters.push(s.cluster);
        }
    }

    /// Adds up what the members give, the shortest lists first, until those that are left cannot
    /// raise anybody to the top: the most that those could give, and the largest sum so far.
    fn add_up(&mut self, top: u32, own: f64, mut reached: f64) -> (f64, f64) {
        self.order.sort_unstable_by_key(|&u| self.searches[u].entries);
        // Summed from the end: what a subtraction would leave of the last ones is rounding, and
        // more than a similarity may be.
        let mut left = 0.0;
        for &u in self.order.iter().rev() {
            self.searches[u].later = left;
            left += self.searches[u].most;
        }
        for &u in &self.order {
            if left * ENOUGH < reached {
                break;
            }
            for &c in &self.searches[u].clusters {
                let factor = self.weights[c as usize] * self.mine[c as usize] * own;
                if factor == 0.0 {
                    continue;
                }
                for e in &self.lists[c as usize] {
                    let sum = &mut self.sums[e.node as usize];
                    if sum.so_far == 0.0 {
                        self.touched.push(e.node);
                    }
                    let objects: f64 = e.objects.into();
                    sum.so_far += factor * objects * sum.per_object;
                    if sum.so_far > reached && e.node != top {
                        reached = sum.so_far;
                    }
                }
            }
            left = self.searches[u].later;
        }
        (left, reached)
    }

    /// The summed weight per pair of objects of the asking node, whose shares lie in `mine`, and
    /// another: the same bits whichever of the two asks.
    fn similarity(&self, top: u32, x: u32) -> f64 {
        let shared = self.shares[x as usize].iter().fold(0.0, |sum, s| {
            let c = s.cluster as usize;
            let objects: f64 = s.objects.into();
            sum + self.weights[c] * (self.mine[c] * objects)
        });
        shared / (self.objects[top as usize] * self.objects[x as usize])
    }

    fn merge(&mut self, keep: usize, gone: usize) {
        let a = std::mem::take(&mut self.shares[keep]);
        let b = std::mem::take(&mut self.shares[gone]);
        let mut out = Vec::with_capacity(a.len().max(b.len()));
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            if j == b.len() || (i < a.len() && a[i].cluster < b[j].cluster) {
                out.push(a[i]);
                i += 1;
            } else if i == a.len() || b[j].cluster < a[i].cluster {
                self.lists[b[j].cluster as usize][b[j].at as usize].node = keep as u32;
                out.push(b[j]);
                j += 1;
            } else {
                out.push(Share { objects: a[i].objects + b[j].objects, ..a[i] });
                i += 1;
                j += 1;
            }
        }
        self.shares[keep] = out;
        // Now the lists: one entry less where both were.
        for s in b {
            let cluster = s.cluster as usize;
            let Ok(own) = self.shares[keep].binary_search_by_key(&s.cluster, |s| s.cluster) else {
                continue;
            };
            let Share { at, objects, .. } = self.shares[keep][own];
            if at == s.at {
                continue;
            }
            let list = &mut self.lists[cluster];
            list[at as usize].objects = objects;
            list.swap_remove(s.at as usize);
            if let Some(moved) = list.get(s.at as usize) {
                let of = &mut self.shares[moved.node as usize];
                if let Ok(place) = of.binary_search_by_key(&s.cluster, |s| s.cluster) {
                    of[place].at = s.at;
                }
            }
        }
        self.objects[keep] += self.objects[gone];
        self.sums[keep].per_object = 1.0 / self.objects[keep];
        self.alive[gone] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Agglomeration, EvidenceWeights, Linkage, Microclusters};
    use consilience_core::{Ensemble, ErrorKind, MemoryBudget, Partition, Seed, SimilarityGraph};
    use ndarray::Array2;
    use proptest::prelude::*;

    /// Members that put each object of a noisy line at the nearest of a few of them; every third
    /// object twice.
    fn ensemble(seed: u64, objects: usize, members: usize, most: usize) -> Ensemble {
        let mut s = Seed(seed).stream();
        let at: Vec<f64> = (0..objects).map(|_| s.normal() + 4.0 * s.below(3) as f64).collect();
        let members = (0..members).map(|_| {
            let centres: Vec<f64> = (0..1 + s.below(most)).map(|_| at[s.below(objects)]).collect();
            let noisy: Vec<f64> = at.iter().map(|x| x + 0.5 * s.normal()).collect();
            let labels: Vec<u32> = noisy
                .iter()
                .map(|x| {
                    let far = |&c: &u32| (x - centres[c as usize]).abs();
                    (0..centres.len() as u32).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
                })
                .collect();
            Partition::from_fn(objects, |i| Some(u64::from(labels[i - usize::from(i % 3 == 2)])))
                .unwrap()
        });
        Ensemble::new(members.collect()).unwrap()
    }

    fn weights(seed: u64, incidence: &ClusterIncidence) -> Vec<f64> {
        let mut s = Seed(seed).stream();
        (0..incidence.n_clusters())
            .map(|_| if s.below(8) == 0 { 0.0 } else { s.uniform() })
            .collect()
    }

    fn matrix(m: &Microclusters, incidence: &ClusterIncidence, weights: &[f64]) -> Array2<f64> {
        let (clusters, members) = (weights.to_vec(), vec![1.0; incidence.n_members()]);
        let weights = EvidenceWeights { clusters, members };
        let budget = MemoryBudget::default();
        weights.co_association(m, incidence, budget, &()).unwrap().into_parts().1
    }

    /// Each merge, in the order of heights, joins a nearest pair of those that are left, as the
    /// definition has it.
    fn assert_certified(tree: &Dendrogram, similarity: &Array2<f64>, sizes: &[f64]) {
        let n = sizes.len();
        let mut sets: Vec<Option<Vec<usize>>> = (0..n).map(|i| Some(vec![i])).collect();
        let mean = |a: &[usize], b: &[usize]| {
            let pairs = || a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j)));
            let sum: f64 = pairs().map(|(i, j)| sizes[i] * sizes[j] * similarity[(i, j)]).sum();
            sum / pairs().map(|(i, j)| sizes[i] * sizes[j]).sum::<f64>()
        };
        for m in tree.merges() {
            let live: Vec<&Vec<usize>> = sets.iter().flatten().collect();
            let nearest = (0..live.len())
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .map(|(a, b)| 1.0 - mean(live[a], live[b]))
                .fold(f64::INFINITY, f64::min);
            let a = sets[m.nodes[0]].take().unwrap();
            let b = sets[m.nodes[1]].take().unwrap();
            assert!((1.0 - mean(&a, &b) - m.height).abs() < 1e-9);
            assert!(m.height <= nearest + 1e-9, "{} but {nearest}", m.height);
            sets.push(Some([a, b].concat()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_tree_of_the_matrix(
            seed in 0u64..10_000, objects in 1usize..120, members in 1usize..20, most in 1usize..12,
        ) {
            let m = Microclusters::of(&ensemble(seed, objects, members, most)).unwrap();
            let incidence = ClusterIncidence::of(&m).unwrap();
            let weights = weights(seed, &incidence);
            let similarity = matrix(&m, &incidence, &weights);
            let ours = average_linkage(&incidence, &weights, members as f64, &()).unwrap();
            let graph = SimilarityGraph::new(m.grouping().clone(), similarity).unwrap();
            let dense = Agglomeration::new(Linkage::Average, 1).dendrogram(graph, &()).unwrap();
            let merges = || ours.merges().iter().zip(dense.merges());
            if merges().any(|(a, b)| (a.height - b.height).abs() > 1e-9) {
                // Ties that rounding decides: both trees are right.
                let similarity = matrix(&m, &incidence, &weights);
                assert_certified(&ours, &similarity, incidence.sizes());
                assert_certified(&dense, &similarity, incidence.sizes());
            }
        }

        #[test]
        fn counts_beyond_four_bytes_give_the_same_tree(
            seed in 0u64..10_000, objects in 2usize..60,
        ) {
            let m = Microclusters::of(&ensemble(seed, objects, 6, 5)).unwrap();
            let incidence = ClusterIncidence::of(&m).unwrap();
            let weights = weights(seed, &incidence);
            let [few, many] = [tree::<u32>, tree::<f64>]
                .map(|tree| tree((&incidence, incidence.sizes()), &weights, 6.0, &()).unwrap());
            prop_assert_eq!(few, many);
        }

        #[test]
        fn every_merge_joins_a_nearest_pair(
            seed in 0u64..10_000, objects in 1usize..40, members in 1usize..9, most in 1usize..6,
        ) {
            let m = Microclusters::of(&ensemble(seed, objects, members, most)).unwrap();
            let incidence = ClusterIncidence::of(&m).unwrap();
            let sizes = incidence.sizes();
            for weights in [vec![1.0; incidence.n_clusters()], weights(seed, &incidence)] {
                let tree = average_linkage(&incidence, &weights, members as f64, &()).unwrap();
                assert_certified(&tree, &matrix(&m, &incidence, &weights), sizes);
            }
        }

        #[test]
        fn the_order_of_the_members_leaves_no_trace(seed in 0u64..10_000, objects in 2usize..60) {
            let e = ensemble(seed, objects, 6, 5);
            let turned = e.select(&[3, 1, 5, 0, 4, 2]).unwrap();
            let tree = |e: &Ensemble| {
                let incidence = ClusterIncidence::of(&Microclusters::of(e).unwrap()).unwrap();
                // Weights that follow the clusters.
                let weight = |o: &f64| 1.0 / (1.0 + o.sqrt());
                let weights: Vec<f64> = incidence.objects().iter().map(weight).collect();
                average_linkage(&incidence, &weights, 6.0, &()).unwrap()
            };
            prop_assert_eq!(tree(&e), tree(&turned));
        }
    }

    /// Similarities far below the rounding of what the members may add at most.
    #[test]
    fn faint_similarities_are_seen() {
        let labels = |l: &[i64]| Partition::from_labels(l).unwrap();
        let (often, once) = (labels(&[0, 1, 1, 2, 2]), labels(&[0, 1, 2, 3, 2]));
        let mut s = Seed(1).stream();
        for round in 0..400 {
            let heavy = |s: &mut consilience_core::Stream| 100_000 + s.below(200) as u64;
            let counts = [heavy(&mut s), heavy(&mut s), 1, heavy(&mut s), 1];
            let e =
                Ensemble::new(vec![often.clone(); 4].into_iter().chain([once.clone()]).collect());
            let m = Microclusters::of(&e.unwrap().with_counts(counts.to_vec()).unwrap()).unwrap();
            let incidence = ClusterIncidence::of(&m).unwrap();
            let weights = vec![1.0; incidence.n_clusters()];
            let tree = average_linkage(&incidence, &weights, 5.0, &()).unwrap();
            assert_eq!(tree.cut(2).unwrap(), [0, 1, 1, 1, 1], "{round}: {counts:?}");
        }
    }

    /// The nearest node by its definition: all similarities, none left out.
    fn nearest_of_all(
        nodes: &mut Nodes<'_, u32>,
        top: u32,
        previous: Option<u32>,
    ) -> Option<(u32, f64)> {
        let asking = std::mem::take(&mut nodes.shares[top as usize]);
        asking.iter().for_each(|s| nodes.mine[s.cluster as usize] = f64::from(s.objects));
        let others = (0..nodes.alive.len() as u32).filter(|&x| nodes.alive[x as usize] && x != top);
        let all: Vec<(u32, f64)> = others.map(|x| (x, nodes.similarity(top, x))).collect();
        asking.iter().for_each(|s| nodes.mine[s.cluster as usize] = 0.0);
        nodes.shares[top as usize] = asking;
        let most = all.iter().map(|a| a.1).fold(0.0, f64::max);
        let best: Vec<_> = all.into_iter().filter(|a| a.1 == most && most > 0.0).collect();
        best.iter().copied().find(|b| Some(b.0) == previous).or(best.first().copied())
    }

    /// What the lists say after merges: each node that is left, once, with its objects.
    fn assert_lists(nodes: &Nodes<'_, u32>) {
        for (c, list) in nodes.lists.iter().enumerate() {
            let mut found: Vec<(u32, u32)> = list.iter().map(|e| (e.node, e.objects)).collect();
            found.sort_unstable();
            let share = |x: usize| nodes.shares[x].iter().find(|s| s.cluster as usize == c);
            let all = (0..nodes.alive.len()).filter(|&x| nodes.alive[x]);
            let expected: Vec<(u32, u32)> =
                all.filter_map(|x| Some((x as u32, share(x)?.objects))).collect();
            assert_eq!(found, expected, "cluster {c}");
        }
    }

    /// However much is left out, the nearest node is that of the definition to the bit, before and
    /// after merges, whatever was near before.
    #[test]
    fn no_pruning_shows() {
        let (mut searched, mut pruned) = (0, 0);
        for seed in 0..12 {
            let m = Microclusters::of(&ensemble(seed, 150, 40, 12)).unwrap();
            let incidence = ClusterIncidence::of(&m).unwrap();
            let drawn = weights(seed, &incidence);
            for weights in [vec![1.0; incidence.n_clusters()], drawn] {
                let order = canonical(&incidence, &weights);
                let member = incidence.member_of_cluster();
                let sorted: Vec<f64> = order.iter().map(|&c| weights[c as usize]).collect();
                let member: Vec<u32> = order.iter().map(|&c| member[c as usize] as u32).collect();
                let graph = (&incidence, incidence.sizes());
                let mut nodes = Nodes::<u32>::of(graph, &order, &sorted, &member, &()).unwrap();
                let n = incidence.n_rows();
                let mut s = Seed(seed).derive("merges", 0).stream();
                for _ in 0..n - 2 {
                    let alive: Vec<u32> =
                        (0..n as u32).filter(|&x| nodes.alive[x as usize]).collect();
                    let drawn: Vec<u32> = (0..3).map(|_| alive[s.below(alive.len())]).collect();
                    let (top, before, hint) = (drawn[0], drawn[1], drawn[2]);
                    let previous = (before != top).then_some(before);
                    let expected = nearest_of_all(&mut nodes, top, previous);
                    let found = nodes.nearest(top, previous, Some(hint));
                    match expected {
                        Some(expected) => assert_eq!(found, Some(expected)),
                        None => assert!(found.is_none_or(|(_, similarity)| similarity == 0.0)),
                    }
                    let (near, reached) = found.unwrap_or((top, 0.0));
                    // As many lists as are read, for who asks without knowing anybody near.
                    let asking = nodes.shares[top as usize].clone();
                    let own = 1.0 / nodes.objects[top as usize];
                    nodes.open(&asking, own);
                    let left = nodes.add_up(top, own, reached).0;
                    (searched, pruned) = (searched + 1, pruned + usize::from(left > 0.01));
                    for x in std::mem::take(&mut nodes.touched) {
                        nodes.sums[x as usize].so_far = 0.0;
                    }
                    asking.iter().for_each(|s| nodes.mine[s.cluster as usize] = 0.0);
                    nodes.searches.fill(MemberSearch::default());
                    if near != top {
                        let (a, b) = (top.min(near), top.max(near));
                        nodes.merge(a as usize, b as usize);
                    }
                }
                assert_lists(&nodes);
            }
        }
        assert!(2 * pruned > searched, "{pruned} of {searched}");
    }

    #[test]
    fn what_shares_nothing_joins_last_and_a_cancelled_tree_says_so() {
        let e = Ensemble::new(vec![
            Partition::from_labels(&[0, 0, 1, 1, 2]).unwrap(),
            Partition::from_labels(&[0, 1, 2, 2, 3]).unwrap(),
        ])
        .unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
        let tree =
            average_linkage(&incidence, &vec![1.0; incidence.n_clusters()], 2.0, &()).unwrap();
        let heights: Vec<f64> = tree.merges().iter().map(|m| m.height).collect();
        assert_eq!(heights, [0.5, 1.0, 1.0]);
        let cancelled = average_linkage(&incidence, &[1.0; 7], 2.0, &Cancelled).unwrap_err();
        assert_eq!(cancelled.kind(), ErrorKind::Cancelled);
    }

    struct Cancelled;

    impl Observer for Cancelled {
        fn cancelled(&self) -> bool {
            true
        }
    }
}
