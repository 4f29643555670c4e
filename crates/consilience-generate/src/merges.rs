//! The merges of agglomeration, step by step, so that it can be stopped.

use consilience_core::{Linkage, Observer, Report, Result, Watch, room};
use kodama::Method;
use ndarray::Array2;

use crate::columns::condensed;
use crate::ward::{Merge, by_means};

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

    /// Distances of an object to those behind it.
    fn behind(&self, a: usize) -> &[f64] {
        match a + 1 < self.n {
            true => &self.values[self.place(a, a + 1)..][..self.n - 1 - a],
            false => &[],
        }
    }
}

/// Two clusters, each told by one of its objects, in the order in which they are joined.
pub(crate) type Merges = Vec<[u32; 2]>;

/// All merges, the lowest first; those of centroid and median linkage as they are made. With
/// `means`, which is for Ward's linkage alone, by means of clusters, else by distances.
///
/// What is equally near is decided as by kodama, to which the tests hold this, but by means, which
/// round otherwise.
pub(crate) fn merges(
    x: Array2<f64>,
    linkage: Linkage,
    means: bool,
    report: &mut Report,
    observer: &dyn Observer,
) -> Result<Merges> {
    let n = x.nrows();
    let mut watch = Watch::new(observer, "agglomeration", n);
    let found = if means {
        report.stage("agglomeration", || sorted(by_means(&x, &mut watch)?))?
    } else {
        let distances = report.stage("distances", || condensed(&x, observer))?;
        drop(x);
        report.stage("agglomeration", || of_distances(distances, n, linkage, &mut watch))?
    };
    watch.step(n)?;
    Ok(found)
}

/// Merges from the distances of all pairs.
fn of_distances(
    mut distances: Vec<f64>,
    n: usize,
    linkage: Linkage,
    watch: &mut Watch<'_>,
) -> Result<Merges> {
    let d = Condensed { values: &mut distances, n };
    let found = match linkage {
        Linkage::Single => spanning(&d, watch)?,
        Linkage::Complete => chained(d, watch, |a, b, _, _| if a > b { a } else { b })?,
        Linkage::Average => {
            chained(d, watch, |a, b, [na, nb, _], _| (na * a + nb * b) / (na + nb))?
        }
        Linkage::Ward => {
            d.values.iter_mut().for_each(|d| *d *= *d);
            chained(d, watch, |a, b, [na, nb, nx], merged| {
                ((nx + na) * a + (nx + nb) * b - nx * merged) / (na + nb + nx)
            })?
        }
        Linkage::Centroid => return generic(&mut distances, n, Method::Centroid),
        Linkage::Median => return generic(&mut distances, n, Method::Median),
    };
    sorted(found)
}

/// Those of equal height in the order in which they were made, as each needs those before.
fn sorted(mut found: Vec<Merge>) -> Result<Merges> {
    found.sort_by(|x, y| x.0.partial_cmp(&y.0).unwrap_or(std::cmp::Ordering::Equal));
    room::collected(found.into_iter().map(|(_, pair)| pair))
}

/// The chain of nearest neighbours (Muellner, Figure 3). `update` says how far the union of a and b
/// is from x: by the distances of a and of b to it, the three sizes, and the distance of a and b.
fn chained(
    mut d: Condensed<'_>,
    watch: &mut Watch<'_>,
    update: impl Fn(f64, f64, [f64; 3], f64) -> f64,
) -> Result<Vec<Merge>> {
    let n = d.n;
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
            (nearest, a) = neighbour(&d, &active, b, (nearest, a));
            b = a;
            a = chain[chain.len() - 1];
            if b == chain[chain.len() - 2] {
                break;
            }
        }
        let (a, b) = (a.min(b), a.max(b));
        let both = [sizes[a], sizes[b]];
        join(&mut d, &active, [a, b], |x, from_a, from_b| {
            update(from_a, from_b, [both[0], both[1], sizes[x]], nearest)
        });
        sizes[b] += sizes[a];
        active.remove(place_of(&active, a));
        found.push((nearest, [a as u32, b as u32]));
    }
    Ok(found)
}

/// Where an object stands among those that are left, or would stand.
fn place_of(active: &[u32], object: usize) -> usize {
    active.partition_point(|&x| (x as usize) < object)
}

/// The first of those nearer to b than what is known, else what is known. Those before b stand in a
/// column, those behind it in a row.
fn neighbour(
    d: &Condensed<'_>,
    active: &[u32],
    b: usize,
    mut nearest: (f64, usize),
) -> (f64, usize) {
    let (before, rest) = active.split_at(place_of(active, b));
    for x in before.iter().map(|&x| x as usize) {
        let here = d.get(x, b);
        if here < nearest.0 {
            nearest = (here, x);
        }
    }
    let row = d.behind(b);
    for x in rest[1..].iter().map(|&x| x as usize) {
        let here = row[x - b - 1];
        if here < nearest.0 {
            nearest = (here, x);
        }
    }
    nearest
}

/// Puts how far the union of a and b is from the others in the place of b, which is behind a.
fn join(
    d: &mut Condensed<'_>,
    active: &[u32],
    [a, b]: [usize; 2],
    update: impl Fn(usize, f64, f64) -> f64,
) {
    let (before, rest) = active.split_at(place_of(active, a));
    let (between, behind) = rest.split_at(place_of(rest, b));
    for x in before.iter().map(|&x| x as usize) {
        let (from, to) = (d.place(x, a), d.place(x, b));
        d.values[to] = update(x, d.values[from], d.values[to]);
    }
    let of_a = d.place(a, a + 1);
    for x in between[1..].iter().map(|&x| x as usize) {
        let to = d.place(x, b);
        d.values[to] = update(x, d.values[of_a + x - a - 1], d.values[to]);
    }
    for x in behind[1..].iter().map(|&x| x as usize) {
        let (from, to) = (of_a + x - a - 1, d.place(b, x));
        d.values[to] = update(x, d.values[from], d.values[to]);
    }
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
                let ours = of_distances(given.clone(), n, linkage, &mut watch).unwrap();
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
        let x = Array2::from_shape_fn((50, 1), |(i, _)| (i * 37 % 101) as f64);
        for linkage in [Linkage::Single, Linkage::Complete, Linkage::Average, Linkage::Ward] {
            let after = After(AtomicUsize::new(0));
            let mut watch = Watch::new(&after, "merges", 50);
            let given = condensed(&x, &()).unwrap();
            let error = of_distances(given, 50, linkage, &mut watch).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{linkage:?}");
            // It did not go on to the end.
            assert_eq!(after.0.load(Ordering::Relaxed), 8, "{linkage:?}");
        }
        let after = After(AtomicUsize::new(0));
        let error = by_means(&x, &mut Watch::new(&after, "merges", 50)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(after.0.load(Ordering::Relaxed), 8);
    }
}
