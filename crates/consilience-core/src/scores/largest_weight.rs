//! One-to-one matchings in a table of which only the entries above 0 are there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::replace;

use crate::{Result, room};

/// No partner.
const NONE: u32 = u32::MAX;
/// Not reached.
const FAR: u64 = u64::MAX;

/// A left node, a right node and the weight of what links them.
pub(super) type Link = (u32, u32, u64);

/// The largest total weight of a one-to-one matching of `left` and `right` nodes, given the links
/// between them, of weights above 0, each pair at most once. Nodes may stay alone. All weights
/// together must be below 2^62.
///
/// Left nodes come one after the other: each takes the right node that adds most, over a chain of
/// exchanges of partners, at whose end a right node was free or a left node stays alone. The chain
/// is the shortest path in the links that prices make longer (the Hungarian method), and it ends
/// where no longer one can be better. All numbers are whole, so the result is exact.
///
/// # Complexity
/// O(left links log right) time, where every chain goes through all links; mostly some passes over
/// the links. Memory in proportion to nodes and links.
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge) where the system refuses the memory.
///
/// # References
/// Tarjan (1983), Data structures and network algorithms, chapter 8.4 (minimum-cost augmentation,
/// with prices after Edmonds & Karp 1972).
pub(super) fn largest_weight(left: usize, right: usize, links: &[Link]) -> Result<u64> {
    let mut matching = Matching::new(left, right, links)?;
    for node in 0..left {
        matching.insert(node);
    }
    // The prices of all nodes add up to the weight of all pairs.
    Ok(matching.price.iter().chain(&matching.right_price).sum())
}

/// Where a chain of exchanges ends.
enum End {
    /// A left node that stays alone.
    Left(usize),
    /// A right node that was free.
    Right(u32),
}

/// A matching of largest weight of the left nodes so far, and what proves it: prices, of which
/// those of two linked nodes are never less than the weight of the link, those of a pair are its
/// weight, and that of a node that is alone is 0.
struct Matching {
    /// Links of left node i: `links[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    links: Vec<(u32, u64)>,
    price: Vec<u64>,
    right_price: Vec<u64>,
    partner: Vec<u32>,
    right_partner: Vec<u32>,
    /// How far each right node is, and from which left node it is reached.
    distance: Vec<u64>,
    from: Vec<u32>,
    /// Right nodes with a distance.
    reached: Vec<u32>,
    /// Those whose distance is known to be the least.
    settled: Vec<u32>,
    /// Reached and not settled: as far as the last settled one, and farther.
    here: Vec<u32>,
    ahead: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Matching {
    fn new(left: usize, right: usize, links: &[Link]) -> Result<Self> {
        let mut starts = room::zeros::<usize>(left + 1)?;
        links.iter().for_each(|&(i, ..)| starts[i as usize + 1] += 1);
        for i in 0..left {
            starts[i + 1] += starts[i];
        }
        let mut next = room::copied(&starts)?;
        let mut sorted = room::filled(links.len(), (0, 0))?;
        for &(i, j, weight) in links {
            sorted[next[i as usize]] = (j, weight);
            next[i as usize] += 1;
        }
        Ok(Matching {
            starts,
            links: sorted,
            price: room::zeros(left)?,
            right_price: room::zeros(right)?,
            partner: room::filled(left, NONE)?,
            right_partner: room::filled(right, NONE)?,
            distance: room::filled(right, FAR)?,
            from: room::filled(right, NONE)?,
            reached: Vec::new(),
            settled: Vec::new(),
            here: Vec::new(),
            ahead: BinaryHeap::new(),
        })
    }

    /// Takes a left node into the matching.
    fn insert(&mut self, node: usize) {
        let links = &self.links[self.starts[node]..self.starts[node + 1]];
        let gain = |&(j, weight): &(u32, u64)| weight.saturating_sub(self.right_price[j as usize]);
        self.price[node] = links.iter().map(gain).max().unwrap_or(0);
        let (length, end) = self.shortest_chain(node);
        self.price[node] -= length;
        for &j in &self.settled {
            let j = j as usize;
            let nearer = length - self.distance[j];
            self.right_price[j] += nearer;
            self.price[self.right_partner[j] as usize] -= nearer;
        }
        let mut next = match end {
            End::Left(i) => replace(&mut self.partner[i], NONE),
            End::Right(j) => j,
        };
        while next != NONE {
            let i = self.from[next as usize];
            self.right_partner[next as usize] = i;
            next = replace(&mut self.partner[i as usize], next);
        }
        for j in self.reached.drain(..) {
            self.distance[j as usize] = FAR;
        }
    }

    /// The shortest chain of exchanges from a left node without a partner.
    fn shortest_chain(&mut self, node: usize) -> (u64, End) {
        self.settled.clear();
        self.here.clear();
        self.ahead.clear();
        let (mut best, mut end) = (FAR, End::Left(node));
        let (mut node, mut far) = (node, 0);
        loop {
            if far + self.price[node] < best {
                (best, end) = (far + self.price[node], End::Left(node));
            }
            for at in self.starts[node]..self.starts[node + 1] {
                let (link, weight) = self.links[at];
                let j = link as usize;
                let to = far + (self.price[node] + self.right_price[j] - weight);
                if to >= best.min(self.distance[j]) {
                    continue;
                }
                if self.distance[j] == FAR {
                    self.reached.push(link);
                }
                (self.distance[j], self.from[j]) = (to, node as u32);
                if self.right_partner[j] == NONE {
                    (best, end) = (to, End::Right(link));
                } else if to == far {
                    self.here.push(link);
                } else {
                    self.ahead.push(Reverse((to, link)));
                }
            }
            let Some(j) = self.nearest(&mut far, best) else { return (best, end) };
            self.settled.push(j);
            node = self.right_partner[j as usize] as usize;
        }
    }

    /// The nearest right node that is reached and not settled, if it is nearer than `best`; `far`
    /// becomes its distance.
    fn nearest(&mut self, far: &mut u64, best: u64) -> Option<u32> {
        if *far >= best {
            return None;
        }
        if let Some(j) = self.here.pop() {
            return Some(j);
        }
        while let Some(Reverse((to, j))) = self.ahead.pop() {
            if to >= best {
                break;
            }
            // Others have been reached on a shorter way since.
            if to == self.distance[j as usize] {
                *far = to;
                return Some(j);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::assignment::max_assignment;
    use ndarray::Array2;

    #[test]
    fn as_heavy_as_the_assignment_in_the_whole_table() {
        let mut s = Seed(8).stream();
        for round in 0..600 {
            let (left, right) = (1 + s.below(25), 1 + s.below(25));
            // From hardly any links to all of them, from equal weights to hardly any equal.
            let (kept, most) = ([1, 3, 8][round % 3], [1, 2, 7, 1 << 40][round / 3 % 4]);
            let weight = |_| if s.below(8) < kept { 1 + s.below(most) as u64 } else { 0 };
            let table = Array2::from_shape_fn((left, right), weight);
            let entries = table.indexed_iter().filter(|(_, w)| **w > 0);
            let links: Vec<Link> = entries.map(|((i, j), &w)| (i as u32, j as u32, w)).collect();
            let assigned = max_assignment(table.mapv(|w| w as f64).view());
            let pairs = assigned.iter().enumerate().filter_map(|(i, j)| Some(table[[i, (*j)?]]));
            let expected: u64 = pairs.sum();
            assert_eq!(largest_weight(left, right, &links).unwrap(), expected, "round {round}");
            let turned: Vec<Link> = links.iter().map(|&(i, j, w)| (j, i, w)).collect();
            assert_eq!(largest_weight(right, left, &turned).unwrap(), expected, "round {round}");
        }
    }

    #[test]
    fn a_light_node_gives_way_and_chains_go_through_all_nodes() {
        // Both want the one node there is.
        assert_eq!(largest_weight(2, 1, &[(0, 0, 3), (1, 0, 5)]).unwrap(), 5);
        // The last left node displaces all before it, one after the other.
        let n = 2000;
        let mut links: Vec<Link> = (0..n).flat_map(|i| [(i, i, 5), (i, i + 1, 5)]).collect();
        links.push((n, 0, 7));
        assert_eq!(largest_weight(n as usize + 1, n as usize + 1, &links).unwrap(), 5 * 2000 + 7);
        assert_eq!(largest_weight(0, 0, &[]).unwrap(), 0);
    }
}
