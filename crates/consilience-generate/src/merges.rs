//! The merges of agglomeration, step by step, so that it can be stopped.

use consilience_core::{Linkage, Result, Watch, room};
use kodama::Method;

/// Distances of all pairs of objects, row by row of the upper triangle.
struct Condensed<'a> {
    values: &'a mut [f64],
    n: usize,
}

impl Condensed<'_> {
    #[inline(always)]
    fn place(&self, a: usize, b: usize) -> usize {
        let (a, b) = (a.min(b), a.max(b));
        (2 * self.n - a - 3) * a / 2 + b - 1
    }

    #[inline(always)]
    fn get(&self, a: usize, b: usize) -> f64 {
        self.values[self.place(a, b)]
    }
}

/// Two clusters, each told by one of its objects, in the order in which they are joined.
pub(crate) type Merges = Vec<[u32; 2]>;

/// All merges, the lowest first; those of centroid and median linkage as they are made. The
/// distances are overwritten.
///
/// What is equally near is decided as by kodama, to which the tests hold this.
pub(crate) fn merges(
    distances: &mut [f64],
    n: usize,
    linkage: Linkage,
    watch: &mut Watch<'_>,
) -> Result<Merges> {
    let found = match linkage {
        Linkage::Single => spanning(&Condensed { values: distances, n }, watch)?,
        Linkage::Complete => chained(distances, n, watch, |a, b, _, _| if a > b { a } else { b })?,
        Linkage::Average => {
            chained(distances, n, watch, |a, b, [na, nb, _], _| (na * a + nb * b) / (na + nb))?
        }
        Linkage::Ward => {
            distances.iter_mut().for_each(|d| *d *= *d);
            chained(distances, n, watch, |a, b, [na, nb, nx], merged| {
                ((nx + na) * a + (nx + nb) * b - nx * merged) / (na + nb + nx)
            })?
        }
        Linkage::Centroid => return generic(distances, n, Method::Centroid),
        Linkage::Median => return generic(distances, n, Method::Median),
    };
    sorted(found)
}

/// A merge and its height.
type Merge = (f64, [u32; 2]);

/// Those of equal height in the order in which they were made, as each needs those before.
fn sorted(mut found: Vec<Merge>) -> Result<Merges> {
    found.sort_by(|x, y| x.0.partial_cmp(&y.0).unwrap_or(std::cmp::Ordering::Equal));
    room::collected(found.into_iter().map(|(_, pair)| pair))
}

/// The chain of nearest neighbours (Muellner, Figure 3). `update` says how far the union of a and b
/// is from x: by the distances of a and of b to it, the three sizes, and the distance of a and b.
fn chained(
    distances: &mut [f64],
    n: usize,
    watch: &mut Watch<'_>,
    update: impl Fn(f64, f64, [f64; 3], f64) -> f64,
) -> Result<Vec<Merge>> {
    let d = Condensed { values: distances, n };
    let mut active: Vec<u32> = room::collected(0..n as u32)?;
    let mut sizes = room::filled(n, 1.0f64)?;
    let mut chain: Vec<usize> = Vec::new();
    let mut found = room::with_capacity(n)?;
    for done in 0..n - 1 {
        let (mut a, mut b, mut nearest);
        if chain.len() < 4 {
            a = active[0] as usize;
            chain = vec![a];
            (nearest, b) = first_neighbour(&d, &active);
        } else {
            chain.truncate(chain.len() - 2);
            b = chain[chain.len() - 1];
            chain.truncate(chain.len() - 1);
            a = chain[chain.len() - 1];
            nearest = d.get(a, b);
        }
        loop {
            // A search takes as long as a merge, and there are at most three for each.
            watch.step(done)?;
            chain.push(b);
            for &x in active.iter().filter(|&&x| x as usize != b) {
                let here = d.get(x as usize, b);
                if here < nearest {
                    (nearest, a) = (here, x as usize);
                }
            }
            b = a;
            a = chain[chain.len() - 1];
            if b == chain[chain.len() - 2] {
                break;
            }
        }
        let (a, b) = (a.min(b), a.max(b));
        let both = [sizes[a], sizes[b]];
        for &x in &active {
            let x = x as usize;
            if x != a && x != b {
                let (from, to) = (d.get(x, a), d.place(x, b));
                d.values[to] = update(from, d.values[to], [both[0], both[1], sizes[x]], nearest);
            }
        }
        sizes[b] += sizes[a];
        active.retain(|&x| x as usize != a);
        found.push((nearest, [a as u32, b as u32]));
    }
    Ok(found)
}

/// The nearest neighbour of the first cluster, and how far it is.
fn first_neighbour(d: &Condensed<'_>, active: &[u32]) -> (f64, usize) {
    let (first, mut best) = (active[0] as usize, (f64::INFINITY, active[1] as usize));
    for &other in &active[1..] {
        let here = d.get(first, other as usize);
        if here < best.0 {
            best = (here, other as usize);
        }
    }
    best
}

/// The minimum spanning tree, for single linkage (Muellner, Figure 4).
fn spanning(d: &Condensed<'_>, watch: &mut Watch<'_>) -> Result<Vec<Merge>> {
    let mut active: Vec<u32> = room::collected(1..d.n as u32)?;
    let mut nearest = room::filled(d.n, f64::INFINITY)?;
    let mut found = room::with_capacity(d.n)?;
    let mut last = 0;
    while let Some(&first) = active.first() {
        watch.step(found.len())?;
        let mut best = (nearest[first as usize], first);
        for &x in &active {
            let slot = &mut nearest[x as usize];
            let here = d.get(x as usize, last);
            if here < *slot {
                *slot = here;
            }
            if *slot < best.0 {
                best = (*slot, x);
            }
        }
        active.retain(|&x| x != best.1);
        found.push((best.0, [best.1, last as u32]));
        last = best.1 as usize;
    }
    Ok(found)
}

/// Linkages whose heights may fall: by kodama, which nothing stops.
fn generic(distances: &mut [f64], n: usize, method: Method) -> Result<Merges> {
    let tree = kodama::linkage(distances, n, method);
    // An object of each cluster that was made.
    let mut objects: Vec<u32> = room::collected(0..n as u32)?;
    let mut found = room::with_capacity(n)?;
    for step in tree.steps() {
        let pair = [objects[step.cluster1], objects[step.cluster2]];
        room::push(&mut objects, pair[0])?;
        found.push(pair);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{ErrorKind, Observer, Seed};

    /// The partition after so many merges, each object by the first one of its cluster.
    fn cut(n: usize, merges: impl Iterator<Item = [usize; 2]>) -> Vec<usize> {
        let mut cluster: Vec<usize> = (0..n).collect();
        for [a, b] in merges {
            let (from, to) = (cluster[a].max(cluster[b]), cluster[a].min(cluster[b]));
            cluster.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
        }
        cluster
    }

    #[test]
    fn every_cut_is_that_of_kodama() {
        let all = [
            (Linkage::Single, Method::Single),
            (Linkage::Complete, Method::Complete),
            (Linkage::Average, Method::Average),
            (Linkage::Ward, Method::Ward),
            (Linkage::Centroid, Method::Centroid),
            (Linkage::Median, Method::Median),
        ];
        for seed in 0..60 {
            let mut stream = Seed(seed).stream();
            let n = 1 + stream.below(40);
            // Whole numbers on a line tie all the time.
            let ties = seed % 2 == 0;
            let x: Vec<f64> = (0..n)
                .map(|_| if ties { stream.below(12) as f64 } else { stream.uniform() })
                .collect();
            let mut given = Vec::new();
            (0..n).for_each(|i| given.extend((i + 1..n).map(|j| (x[i] - x[j]).abs())));
            for (linkage, method) in all {
                let mut watch = Watch::new(&(), "merges", n);
                let ours = merges(&mut given.clone(), n, linkage, &mut watch).unwrap();
                let theirs = kodama::linkage(&mut given.clone(), n, method);
                assert_eq!(ours.len(), n - 1);
                // An object of each of kodama's clusters.
                let mut object: Vec<usize> = (0..n).collect();
                let mut expected = Vec::new();
                for step in theirs.steps() {
                    expected.push([object[step.cluster1], object[step.cluster2]]);
                    object.push(object[step.cluster1]);
                }
                for keep in 0..n {
                    let ours = ours.iter().map(|pair| pair.map(|x| x as usize));
                    assert_eq!(
                        cut(n, ours.take(keep)),
                        cut(n, expected.iter().copied().take(keep)),
                        "{linkage:?}, seed {seed}, {keep} merges"
                    );
                }
            }
        }
    }

    #[test]
    fn merges_are_stopped_between_any_two() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        struct After(AtomicUsize);
        impl Observer for After {
            fn cancelled(&self) -> bool {
                self.0.fetch_add(1, Ordering::Relaxed) >= 7
            }
        }
        let n = 50;
        let given: Vec<f64> = (0..n * (n - 1) / 2).map(|i| (i * 37 % 101) as f64).collect();
        for linkage in [Linkage::Single, Linkage::Complete, Linkage::Average, Linkage::Ward] {
            let after = After(AtomicUsize::new(0));
            let mut watch = Watch::new(&after, "merges", n);
            let error = merges(&mut given.clone(), n, linkage, &mut watch).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{linkage:?}");
            // It did not go on to the end.
            assert_eq!(after.0.load(Ordering::Relaxed), 8, "{linkage:?}");
        }
    }
}
