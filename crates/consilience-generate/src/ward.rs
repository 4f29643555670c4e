//! Ward's linkage by the means of clusters, without distances of all pairs.

use consilience_core::{Result, Watch, room};
use ndarray::Array2;
use rayon::prelude::*;

use crate::columns::{ABREAST, Squares, columns};

/// Coordinates from which a search is shared by all threads: below, waking them takes longer.
const SHARED: usize = 1 << 18;

/// Clusters by their means and sizes, in the order of the last object of each. The place of one
/// that was joined to another stays until there are many of them.
struct Clusters {
    columns: Vec<Vec<f64>>,
    /// One that is gone weighs NaN, so that nothing is near it.
    sizes: Vec<f64>,
    /// The last object of each.
    objects: Vec<u32>,
    left: usize,
}

/// The height of a merge, and an object of each of the two clusters.
pub(crate) type Merge = (f64, [u32; 2]);

/// How much the sum of squares within clusters grows by a merge, twice, and with whom.
type Near = (f64, usize);

impl Clusters {
    fn new(x: &Array2<f64>) -> Result<Self> {
        let n = x.nrows();
        Ok(Clusters {
            columns: columns(x.view())?,
            sizes: room::filled(n, 1.0)?,
            objects: room::collected(0..n as u32)?,
            left: n,
        })
    }

    fn mean(&self, cluster: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column[cluster]).collect()
    }

    /// The nearest cluster, the first of several.
    fn nearest(&self, cluster: usize) -> Near {
        let (mean, places) = (self.mean(cluster), self.sizes.len());
        let part = |part: usize| self.nearest_of_part(cluster, &mean, part * ABREAST);
        let parts = 0..places.div_ceil(ABREAST);
        if places * mean.len() < SHARED {
            parts.map(part).fold(NOBODY, nearer)
        } else {
            parts.into_par_iter().with_min_len(8).map(part).reduce(|| NOBODY, nearer)
        }
    }

    fn nearest_of_part(&self, cluster: usize, mean: &[f64], from: usize) -> Near {
        let (own, sizes) = (self.sizes[cluster], &self.sizes[from..]);
        let sizes = &sizes[..sizes.len().min(ABREAST)];
        let mut sums = [0.0; ABREAST];
        let sums = &mut sums[..sizes.len()];
        Squares { columns: &self.columns, point: mean, from, out: &mut *sums }.run();
        sums.iter_mut().zip(sizes).for_each(|(sum, size)| *sum *= 2.0 * own * size / (own + size));
        let mut best = NOBODY;
        for (other, &here) in (from..).zip(sums.iter()) {
            if here < best.0 && other != cluster {
                best = (here, other);
            }
        }
        best
    }

    /// Joins a to b, which is behind it.
    fn join(&mut self, a: usize, b: usize) {
        let (na, nb) = (self.sizes[a], self.sizes[b]);
        for column in &mut self.columns {
            column[b] = (na * column[a] + nb * column[b]) / (na + nb);
        }
        self.sizes[b] = na + nb;
        self.sizes[a] = f64::NAN;
        self.left -= 1;
    }

    /// Gives the places of those that are gone to the others, where an eighth is gone.
    fn close_ranks(&mut self, chain: &mut [usize]) {
        if self.left * 8 > self.sizes.len() * 7 {
            return;
        }
        let there: Vec<bool> = self.sizes.iter().map(|size| !size.is_nan()).collect();
        let before = there.iter().scan(0, |count, &t| {
            *count += usize::from(t);
            Some(*count - usize::from(t))
        });
        let new: Vec<usize> = before.collect();
        chain.iter_mut().for_each(|cluster| *cluster = new[*cluster]);
        self.columns.iter_mut().for_each(|column| keep(column, &there));
        keep(&mut self.sizes, &there);
        keep(&mut self.objects, &there);
    }
}

/// Farther than anybody.
const NOBODY: Near = (f64::INFINITY, usize::MAX);

/// Parts come in order, so that of equals the first is kept.
fn nearer(a: Near, b: Near) -> Near {
    if b.0 < a.0 { b } else { a }
}

fn keep<T>(all: &mut Vec<T>, there: &[bool]) {
    let mut there = there.iter();
    all.retain(|_| there.next() == Some(&true));
}

/// The chain of nearest neighbours (Muellner, Figure 3) over means. Where the one before in the
/// chain is as near as others it is taken, and else the first.
pub(crate) fn by_means(x: &Array2<f64>, watch: &mut Watch<'_>) -> Result<Vec<Merge>> {
    let n = x.nrows();
    let mut clusters = Clusters::new(x)?;
    let mut found = room::with_capacity(n)?;
    // Each with how near the next one in the chain is.
    let mut chain: Vec<usize> = Vec::new();
    let mut near: Vec<f64> = Vec::new();
    while clusters.left > 1 {
        // A search takes as long as a merge, and there are about three for each.
        watch.step(n - clusters.left)?;
        clusters.close_ranks(&mut chain);
        let Some(&last) = chain.last() else {
            let first = clusters.sizes.iter().position(|size| !size.is_nan());
            chain.extend(first);
            continue;
        };
        let (height, other) = clusters.nearest(last);
        match near.last() {
            Some(&before) if !(height < before) => {
                let partner = chain[chain.len() - 2];
                let (a, b) = (last.min(partner), last.max(partner));
                chain.truncate(chain.len() - 2);
                near.truncate(chain.len().saturating_sub(1));
                found.push((before, [clusters.objects[a], clusters.objects[b]]));
                clusters.join(a, b);
            }
            _ => {
                chain.push(other);
                near.push(height);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;
    use kodama::Method;

    fn table(seed: u64, n: usize, d: usize, ties: bool) -> Array2<f64> {
        let mut stream = Seed(seed).stream();
        Array2::from_shape_simple_fn((n, d), || {
            if ties { stream.below(4) as f64 } else { stream.uniform() }
        })
    }

    fn sorted(x: &Array2<f64>) -> Vec<Merge> {
        let mut found = by_means(x, &mut Watch::new(&(), "merges", x.nrows())).unwrap();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }

    /// Heights, and the clusters joined, against Lance and Williams's formula on all pairs.
    #[test]
    fn trees_are_those_of_kodama() {
        for seed in 0..40 {
            let n = 2 + Seed(seed).stream().below(120);
            let d = 1 + seed as usize % 6;
            let x = table(seed, n, d, false);
            let mut given = Vec::new();
            for i in 0..n {
                let far = |j| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt();
                given.extend((i + 1..n).map(far));
            }
            let theirs = kodama::linkage(&mut given, n, Method::Ward);
            let mut object: Vec<usize> = (0..n).collect();
            // Each object by the first one of its cluster.
            let (mut a, mut b): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
            for (ours, step) in sorted(&x).iter().zip(theirs.steps()) {
                let height = step.dissimilarity;
                assert!((ours.0.sqrt() - height).abs() < 1e-10 * height.max(1e-3), "seed {seed}");
                unite(&mut a, ours.1.map(|x| x as usize));
                unite(&mut b, [object[step.cluster1], object[step.cluster2]]);
                object.push(object[step.cluster1]);
                assert_eq!(a, b, "seed {seed}");
            }
        }
    }

    fn unite(cluster: &mut [usize], pair: [usize; 2]) {
        let [a, b] = pair.map(|object| cluster[object]);
        cluster.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
    }

    /// What a merge of two sets of objects adds to the sum of squares, twice.
    fn growth(x: &Array2<f64>, a: &[usize], b: &[usize]) -> f64 {
        let mean = |set: &[usize]| x.select(ndarray::Axis(0), set).mean_axis(ndarray::Axis(0));
        let (Some(ma), Some(mb)) = (mean(a), mean(b)) else { return f64::NAN };
        let (na, nb) = (a.len() as f64, b.len() as f64);
        2.0 * na * nb / (na + nb) * (&ma - &mb).mapv(|v| v * v).sum()
    }

    #[test]
    fn each_merge_is_the_lowest_where_many_tie() {
        for seed in 0..12 {
            let n = 3 + Seed(seed).stream().below(25);
            let x = table(seed, n, 2, true);
            let mut sets: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
            for (height, pair) in sorted(&x) {
                let at = pair.map(|o| sets.iter().position(|s| s.contains(&(o as usize))).unwrap());
                let [a, b] = [at[0].min(at[1]), at[0].max(at[1])];
                assert!((growth(&x, &sets[a], &sets[b]) - height).abs() < 1e-9, "seed {seed}");
                for i in 0..sets.len() {
                    for j in i + 1..sets.len() {
                        let other = growth(&x, &sets[i], &sets[j]);
                        assert!(height <= other + 1e-9, "seed {seed}: {height} {other}");
                    }
                }
                let joined = sets.remove(b);
                sets[a].extend(joined);
            }
            assert_eq!(sets.len(), 1);
        }
    }

    /// Beyond the size from which threads share a search, and twice what one part holds.
    #[test]
    fn the_same_bits_on_one_thread_and_on_many() {
        let x = table(7, 2 * ABREAST + 90, 300, false);
        assert!(x.len() > SHARED);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| by_means(&x, &mut Watch::new(&(), "merges", x.nrows())).unwrap())
        };
        assert_eq!(on(1), on(3));
    }
}
