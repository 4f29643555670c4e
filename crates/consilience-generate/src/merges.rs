//! The merges of agglomeration, step by step, so that it can be stopped.

use consilience_core::{Linkage, Observer, Report, Result, Watch, room};
use kodama::Method;
use ndarray::Array2;

use crate::chain::{Lower, chained};
use crate::columns::{Triangle, distances};
use crate::pages::Table;
use crate::ward::{Merge, by_means};

/// Distances that are squared between two questions whether to stop.
const SOME: usize = 1 << 22;

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
        let triangle = triangle(linkage);
        let all = report.stage("distances", || distances(&x, triangle, observer))?;
        drop(x);
        report.stage("agglomeration", || of_distances(all, n, linkage, &mut watch))?
    };
    watch.step(n)?;
    Ok(found)
}

/// How a linkage takes its distances.
fn triangle(linkage: Linkage) -> Triangle {
    match linkage {
        Linkage::Centroid | Linkage::Median => Triangle::Upper,
        _ => Triangle::Lower,
    }
}

/// Merges from the distances of all pairs, in the order that [`triangle`] says.
fn of_distances(
    mut distances: Table,
    n: usize,
    linkage: Linkage,
    watch: &mut Watch<'_>,
) -> Result<Merges> {
    if linkage == Linkage::Ward {
        for some in distances.chunks_mut(SOME) {
            watch.observer().check()?;
            some.iter_mut().for_each(|d| *d *= *d);
        }
    }
    let lower = |distances| Lower::new(distances, n);
    sorted(match linkage {
        Linkage::Single => spanning(&lower(distances), watch)?,
        Linkage::Complete => {
            chained(lower(distances), watch, |a, b, _, _| if a > b { a } else { b })?
        }
        Linkage::Average => {
            chained(lower(distances), watch, |a, b, [na, nb, _], _| (na * a + nb * b) / (na + nb))?
        }
        Linkage::Ward => chained(lower(distances), watch, |a, b, [na, nb, nx], merged| {
            ((nx + na) * a + (nx + nb) * b - nx * merged) / (na + nb + nx)
        })?,
        Linkage::Centroid => return generic(&mut distances, n, Method::Centroid),
        Linkage::Median => return generic(&mut distances, n, Method::Median),
    })
}

/// Those of equal height in the order in which they were made, as each needs those before.
fn sorted(mut found: Vec<Merge>) -> Result<Merges> {
    found.sort_by(|x, y| x.0.partial_cmp(&y.0).unwrap_or(std::cmp::Ordering::Equal));
    room::collected(found.into_iter().map(|(_, pair)| pair))
}

/// The minimum spanning tree, for single linkage (Muellner, Figure 4).
fn spanning(d: &Lower, watch: &mut Watch<'_>) -> Result<Vec<Merge>> {
    let mut active: Vec<u32> = room::collected(1..d.n() as u32)?;
    let mut nearest = room::filled(d.n(), f64::INFINITY)?;
    let mut found = room::with_capacity(d.n())?;
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
    use consilience_conformance::CancelFrom;
    use consilience_core::{ErrorKind, Seed};

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
            let far = |i: usize, j: usize| (x[i] - x[j]).abs();
            let mut upper = Vec::new();
            (0..n).for_each(|i| upper.extend((i + 1..n).map(|j| far(i, j))));
            let mut lower = Vec::new();
            (0..n).for_each(|i| lower.extend((0..i).map(|j| far(i, j))));
            for (linkage, method) in all {
                let mut watch = Watch::new(&(), "merges", n);
                let given = match triangle(linkage) {
                    Triangle::Lower => Table::Plain(lower.clone()),
                    Triangle::Upper => Table::Plain(upper.clone()),
                };
                let ours = of_distances(given, n, linkage, &mut watch).unwrap();
                let theirs = kodama::linkage(&mut upper.clone(), n, method);
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
        let x = Array2::from_shape_fn((50, 1), |(i, _)| (i * 37 % 101) as f64);
        for linkage in [Linkage::Single, Linkage::Complete, Linkage::Average, Linkage::Ward] {
            let after = CancelFrom::new(7);
            let mut watch = Watch::new(&after, "merges", 50);
            let given = distances(&x, Triangle::Lower, &()).unwrap();
            let error = of_distances(given, 50, linkage, &mut watch).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{linkage:?}");
            // It did not go on to the end.
            assert_eq!(after.asked(), 8, "{linkage:?}");
        }
        let after = CancelFrom::new(7);
        let error = by_means(&x, &mut Watch::new(&after, "merges", 50)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(after.asked(), 8);
    }
}
