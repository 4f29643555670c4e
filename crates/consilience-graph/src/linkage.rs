use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use consilience_core::{Error, Linkage, Observer, Result, Stop, check_symmetric_observed, ensure};
use consilience_num::reduce::{each_chunk, ordered_chunks};
use ndarray::Array2;

use crate::Dendrogram;
use crate::chain::chain;
use crate::merging::{
    LANES, Left, Level, ROWS, Stored, Update, average, farther, find, nearer, smallest,
};

/// Builds the tree that repeatedly merges the two nearest clusters.
///
/// `dissimilarity` is a symmetric n x n matrix of finite numbers (its diagonal is not read); it is
/// taken by value and used as the working memory. `weights` are the leaves' sizes in objects: a
/// leaf of weight s acts as s coincident points, so that trees over microclusters and over objects
/// agree.
///
/// With centroid and median linkage a merge may be nearer than the one before it; its height is
/// then that of the one before, so that the merges keep their order.
///
/// Where several pairs are equally near, single, complete, centroid and median linkage take the
/// pair of the lowest numbers first, a cluster going by its first leaf. For the others the
/// nearest-neighbour chain prefers the cluster it came from, then the lowest number; such trees are
/// valid (every merge joins a nearest pair) and reproducible, but other programs may break the tie
/// otherwise.
///
/// ```
/// use consilience::Linkage;
/// use consilience::graph::linkage;
/// use consilience::ndarray::array;
///
/// let d = array![[0.0, 2.0, 6.0], [2.0, 0.0, 4.0], [6.0, 4.0, 0.0]];
/// let height = |method, w: &[f64]| -> consilience::Result<f64> {
///     Ok(linkage(d.clone(), w, method, &())?.merges()[1].height)
/// };
/// assert_eq!(height(Linkage::Single, &[1.0; 3])?, 4.0);
/// assert_eq!(height(Linkage::Complete, &[1.0; 3])?, 6.0);
/// assert_eq!(height(Linkage::Average, &[1.0; 3])?, 5.0);
/// assert_eq!(height(Linkage::Average, &[3.0, 1.0, 1.0])?, 5.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n^2) time (without a chain of nearest neighbours: as a rule), no memory of order n^2 beside
/// the matrix.
///
/// # Errors
/// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) for n = 0,
/// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for a matrix that is
/// not square or weights of another number,
/// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) with row and column,
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a weight that
/// is not positive (or beyond 1e100) and, with Ward's, centroid and median linkage, a negative
/// dissimilarity,
/// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
///
/// # References
/// Nearest-neighbour chain: Murtagh 1983; lists of nearest neighbours: Anderberg 1973; update
/// formulas: Lance, Williams 1967.
#[doc(alias = "agglomerative")]
#[doc(alias = "hierarchical")]
pub fn linkage(
    dissimilarity: Array2<f64>,
    weights: &[f64],
    method: Linkage,
    observer: &dyn Observer,
) -> Result<Dendrogram> {
    let n = dissimilarity.nrows();
    ensure!(n > 0, empty("a dendrogram needs at least one leaf"));
    check_symmetric_observed("dissimilarity", dissimilarity.view(), observer)?;
    ensure!(weights.len() == n, shape("{} weights for {n} leaves", weights.len()));
    if let Some((i, w)) = weights.iter().enumerate().find(|&(_, w)| !(1e-100..=1e100).contains(w)) {
        return Err(Error::invalid(format!(
            "weight {w} of leaf {i}; expected a positive number, from 1e-100 to 1e100"
        )));
    }
    if matches!(method, Linkage::Ward | Linkage::Centroid | Linkage::Median) {
        for (i, row) in dissimilarity.rows().into_iter().enumerate() {
            observer.check()?;
            if let Some((j, v)) = row.indexed_iter().find(|&(j, &v)| i != j && v < 0.0) {
                return Err(Error::invalid(format!(
                    "dissimilarity {v} at row {i}, column {j}; {method:?} linkage expects \
                     distances of at least 0"
                )));
            }
        }
    }
    linkage_of(dissimilarity, |v| v, weights, method, observer)
}

/// [`linkage()`] over `dissimilarity` of each entry of a matrix that is known to be symmetric and
/// finite, with positive weights.
pub(crate) fn linkage_of(
    matrix: Array2<f64>,
    dissimilarity: impl Fn(f64) -> f64 + Sync,
    weights: &[f64],
    method: Linkage,
    observer: &dyn Observer,
) -> Result<Dendrogram> {
    let n = matrix.nrows();
    let mut d = if matrix.is_standard_layout() {
        matrix.into_raw_vec_and_offset().0
    } else {
        matrix.iter().copied().collect()
    };
    // Sums and squares near the ends of the number range would overflow or vanish; a power of two
    // costs no digit.
    let larger = |m: f64, v: f64| if v > m { v } else { m };
    let of_row = |i: usize, row: &mut [f64]| {
        row.iter_mut().for_each(|v| *v = dissimilarity(*v));
        row[i] = 0.0;
        let mut lanes = [0.0; LANES];
        let (body, tail) = row.as_chunks::<LANES>();
        for block in body {
            lanes.iter_mut().zip(block).for_each(|(m, v)| *m = larger(*m, v.abs()));
        }
        lanes.iter().chain(tail).fold(0.0, |m, v| larger(m, v.abs()))
    };
    let (largest, stop) = (Mutex::new(0.0), Stop::new(observer));
    each_chunk(&mut d, n * ROWS, &|c, rows| {
        if stop.asked() {
            return;
        }
        let all = (c * ROWS..).zip(rows.chunks_mut(n)).map(|(i, row)| of_row(i, row));
        let most = all.fold(0.0, larger);
        let mut largest = largest.lock().unwrap_or_else(PoisonError::into_inner);
        *largest = larger(*largest, most);
    });
    stop.check()?;
    let largest = largest.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unit = if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        1.0
    } else {
        2f64.powi((-largest.log2().ceil()).clamp(-1022.0, 1022.0) as i32)
    };
    if unit != 1.0 {
        d.iter_mut().for_each(|v| *v *= unit);
    }
    for i in 0..n {
        d[i * n + i] = f64::INFINITY;
    }
    let tree = Dendrogram::from_merges(n, merged(&mut d, weights, method, observer)?)?;
    let squared = matches!(method, Linkage::Ward | Linkage::Centroid | Linkage::Median);
    let tree = if squared { tree.map_heights(|h| h.max(0.0).sqrt()) } else { tree };
    Ok(if unit == 1.0 { tree } else { tree.map_heights(|h| h / unit) })
}

/// The merges; those of squared distances for the linkages that are made of squares.
fn merged(
    d: &mut [f64],
    weights: &[f64],
    method: Linkage,
    observer: &dyn Observer,
) -> Result<Vec<(usize, usize, f64)>> {
    let n = weights.len();
    Ok(match method {
        Linkage::Centroid | Linkage::Median => {
            for row in d.chunks_mut(n) {
                observer.check()?;
                row.iter_mut().for_each(|v| *v *= *v);
            }
            level(by_means(d, weights, method, observer)?)
        }
        Linkage::Single => in_order(d, weights, observer, nearer)?,
        Linkage::Complete => in_order(d, weights, observer, farther)?,
        Linkage::Average => chain(&mut Stored::new(d, n), weights, observer, average)?,
        Linkage::Ward => {
            // s and t coincident points at distance d: the sum of squares grows by 2 s t / (s + t)
            // d^2 / 2.
            for i in 0..n {
                observer.check()?;
                for j in 0..n {
                    let (s, t) = (weights[i], weights[j]);
                    let apart = d[i * n + j];
                    d[i * n + j] = apart * apart * (2.0 * s * t / (s + t));
                }
            }
            chain(&mut Stored::new(d, n), weights, observer, |a, b, ab, wa, wb, wx| {
                ((wa + wx) * a + (wb + wx) * b - wx * ab) / (wa + wb + wx)
            })?
        }
    })
}

/// Merges by the squared distance of means, or of middles.
fn by_means(
    d: &mut [f64],
    weights: &[f64],
    method: Linkage,
    observer: &dyn Observer,
) -> Result<Vec<(usize, usize, f64)>> {
    if method == Linkage::Median {
        return in_order(d, weights, observer, |a, b, ab, _, _, _| 0.5 * (a + b) - 0.25 * ab);
    }
    in_order(d, weights, observer, |a, b, ab, wa, wb, _| {
        let (ta, tb) = (wa / (wa + wb), wb / (wa + wb));
        ta * a + tb * b - ta * tb * ab
    })
}

/// The same merges, none lower than the one before.
fn level(mut merges: Vec<(usize, usize, f64)>) -> Vec<(usize, usize, f64)> {
    let mut last = f64::NEG_INFINITY;
    for merge in &mut merges {
        last = last.max(merge.2);
        merge.2 = last;
    }
    merges
}

/// Merges the nearest pair of all, of equals the first in the order of (lower, higher) number, with
/// a list of everybody's nearest neighbour of higher number.
///
/// `d` is square, and far on the diagonal.
pub(crate) fn in_order<T: Level>(
    d: &mut [T],
    weights: &[f64],
    observer: &dyn Observer,
    update: impl Update<T>,
) -> Result<Vec<(usize, usize, T)>> {
    let n = weights.len();
    let mut leaves = Stored::new(d, n);
    let mut left = Left::new(&mut leaves, weights, update)?;
    (0..n).try_for_each(|i| left.read(i))?;
    let mut merges = Vec::with_capacity(n - 1);
    let (mut near, mut neighbour) = nearest(n, |i| next(left.row(i), i), observer)?;
    let mut stale = Vec::new();
    while merges.len() + 1 < n {
        // A merge may make many clusters look for their nearest anew.
        observer.check()?;
        if merges.len() % 256 == 0 {
            observer.progress("partition", merges.len(), n - 1);
        }
        // While two clusters are left, the lower of a nearest pair has a finite distance on the
        // list.
        let height = smallest(&near);
        let keep = near.iter().position(|&v| v == height).unwrap_or(0);
        let gone = neighbour[keep];
        merges.push((left.cluster[keep], left.cluster[gone], height));
        left.merge(keep, gone)?;
        (near[gone], neighbour[gone]) = (T::FAR, 0);
        let by = |i: &usize| *i == keep || neighbour[*i] == keep || neighbour[*i] == gone;
        stale.clear();
        stale.extend((0..gone).filter(by).filter(|&i| left.is_alive(i)));
        // Those that are gone are far from the union, so that nothing changes there.
        let union = left.row(keep).iter().zip(near[..keep].iter_mut().zip(&mut neighbour));
        for (&v, (near, neighbour)) in union {
            if v < *near || (v == *near && keep < *neighbour) {
                (*near, *neighbour) = (v, keep);
            }
        }
        for &i in &stale {
            left.read(i)?;
            (near[i], neighbour[i]) = next(left.row(i), i);
        }
        if let Some(places) = left.close_ranks(observer)? {
            let kept = |i: &usize| places[*i] != usize::MAX;
            near = (0..places.len()).filter(kept).map(|i| near[i]).collect();
            neighbour = (0..places.len()).filter(kept).map(|i| places[neighbour[i]]).collect();
        }
    }
    observer.progress("partition", n - 1, n - 1);
    Ok(merges)
}

/// What `of` finds for each of so many clusters.
fn nearest<T: Level>(
    n: usize,
    of: impl Fn(usize) -> (T, usize) + Sync,
    observer: &dyn Observer,
) -> Result<(Vec<T>, Vec<usize>)> {
    let stop = Stop::new(observer);
    let some = |rows: Range<usize>| {
        rows.map(|i| if stop.asked() { (T::FAR, i) } else { of(i) }).collect::<Vec<_>>()
    };
    let found = ordered_chunks(n, ROWS, some, Vec::with_capacity(n), |mut all, part| {
        all.extend(part);
        all
    });
    stop.check()?;
    Ok(found.into_iter().unzip())
}

/// The nearest cluster of higher number, and how far it is; itself and far where there is none.
fn next<T: Level>(row: &[T], i: usize) -> (T, usize) {
    let higher = &row[i + 1..];
    let least = smallest(higher);
    (least, find(higher, least).map_or(i, |at| i + 1 + at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;
    use consilience_core::{ErrorKind, Seed};
    use ndarray::array;
    use proptest::prelude::*;

    const METHODS: [Linkage; 4] =
        [Linkage::Single, Linkage::Average, Linkage::Complete, Linkage::Ward];

    #[test]
    fn the_ends_of_the_number_range() {
        let plain = array![[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]];
        for method in METHODS {
            let tree = linkage(plain.clone(), &[1.0; 3], method, &()).unwrap();
            // In two steps: a power is the inverse of one that may be infinite.
            for unit in [2f64.powi(1022), 2f64.powi(-1000) * 2f64.powi(-30)] {
                let far = linkage(&plain * unit, &[1.0; 3], method, &()).unwrap();
                for (a, b) in tree.merges().iter().zip(far.merges()) {
                    assert_eq!((a.nodes, a.leaves), (b.nodes, b.leaves), "{method:?} {unit:e}");
                    assert!((b.height / unit / a.height - 1.0).abs() < 1e-9, "{method:?} {unit:e}");
                }
            }
            let e = linkage(plain.clone(), &[f64::MAX, 1.0, 1.0], method, &()).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::InvalidParameter);
        }
        let e = linkage(-plain, &[1.0; 3], Linkage::Ward, &()).unwrap_err();
        assert!(e.message().contains("-0.5 at row 0, column 1"), "{e}");
    }

    /// Distances between random points; with `grid` they are small integers, so ties abound.
    fn points(seed: u64, n: usize, grid: bool) -> Array2<f64> {
        let mut s = Seed(seed).stream();
        let at: Vec<[f64; 2]> = (0..n)
            .map(|_| {
                let mut c = || if grid { s.below(4) as f64 } else { s.uniform() };
                [c(), c()]
            })
            .collect();
        Array2::from_shape_fn((n, n), |(i, j)| (at[i][0] - at[j][0]).hypot(at[i][1] - at[j][1]))
    }

    /// Dissimilarity of two sets of leaves straight from the definition.
    fn between(d: &Array2<f64>, w: &[f64], a: &[usize], b: &[usize], method: Linkage) -> f64 {
        let pairs = || a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j)));
        let wa: f64 = a.iter().map(|&i| w[i]).sum();
        let wb: f64 = b.iter().map(|&i| w[i]).sum();
        match method {
            Linkage::Single => pairs().map(|p| d[p]).fold(f64::INFINITY, f64::min),
            Linkage::Complete => pairs().map(|p| d[p]).fold(0.0, f64::max),
            Linkage::Average => {
                pairs().map(|(i, j)| w[i] * w[j] * d[(i, j)]).sum::<f64>() / (wa * wb)
            }
            Linkage::Median => unreachable!("not a function of the two sets alone"),
            Linkage::Centroid => {
                let mean = |s: &[usize], t: &[usize], total: f64| {
                    let pairs = s.iter().flat_map(|&i| t.iter().map(move |&j| (i, j)));
                    pairs.map(|(i, j)| w[i] * w[j] * d[(i, j)] * d[(i, j)]).sum::<f64>() / total
                };
                let square =
                    mean(a, b, wa * wb) - mean(a, a, 2.0 * wa * wa) - mean(b, b, 2.0 * wb * wb);
                square.max(0.0).sqrt()
            }
            Linkage::Ward => {
                // Sum of squares about the mean = mean squared distance over pairs / 2.
                let scatter = |s: &[usize], total: f64| {
                    s.iter()
                        .flat_map(|&i| s.iter().map(move |&j| (i, j)))
                        .map(|(i, j)| w[i] * w[j] * d[(i, j)] * d[(i, j)])
                        .sum::<f64>()
                        / (2.0 * total)
                };
                let both = [a, b].concat();
                (2.0 * (scatter(&both, wa + wb) - scatter(a, wa) - scatter(b, wb))).max(0.0).sqrt()
            }
        }
    }

    /// What comes of joining the nearest two sets of leaves, the first of equally near ones, again
    /// and again: their dissimilarity, and the number of each leaf's set then.
    fn by_definition(d: &Array2<f64>, w: &[f64], method: Linkage) -> Vec<(f64, Vec<usize>)> {
        let mut live: Vec<Vec<usize>> = (0..w.len()).map(|i| vec![i]).collect();
        let mut out = Vec::new();
        while live.len() > 1 {
            let pairs = (0..live.len()).flat_map(|a| (a + 1..live.len()).map(move |b| (a, b)));
            let far = pairs.map(|(a, b)| (between(d, w, &live[a], &live[b], method), a, b));
            let (height, kept, gone) = far.reduce(|x, y| if y.0 < x.0 { y } else { x }).unwrap();
            let gone = live.remove(gone);
            live[kept].extend(gone);
            let mut set = vec![0; w.len()];
            live.iter().enumerate().for_each(|(c, l)| l.iter().for_each(|&i| set[i] = c));
            out.push((height, set));
        }
        out
    }

    #[test]
    fn ties_go_to_the_lowest_numbers() {
        for method in [Linkage::Single, Linkage::Complete] {
            // All equally far: the first joins the second, then the third, and so on.
            let tree = linkage(Array2::ones((6, 6)), &[1.0; 6], method, &()).unwrap();
            assert_eq!(tree.cut(3).unwrap(), vec![0, 0, 0, 0, 1, 2], "{method:?}");
            for seed in 0..50 {
                let d = points(seed, 12, true);
                let tree = linkage(d.clone(), &[1.0; 12], method, &()).unwrap();
                for (t, (_, sets)) in by_definition(&d, &[1.0; 12], method).iter().enumerate() {
                    assert_eq!(tree.cut(11 - t).unwrap(), *sets, "{method:?} {seed}");
                }
            }
        }
    }

    #[test]
    fn centroids_are_those_of_the_definition() {
        let mut inverted = 0;
        for seed in 0..60 {
            let (n, mut s) = (14, Seed(seed).derive("weights", 0).stream());
            let d = points(seed, n, false);
            let w: Vec<f64> = (0..n).map(|_| 1.0 + s.below(4) as f64).collect();
            let tree = linkage(d.clone(), &w, Linkage::Centroid, &()).unwrap();
            let mut last = 0.0f64;
            let steps = by_definition(&d, &w, Linkage::Centroid);
            for (t, (m, (height, sets))) in tree.merges().iter().zip(steps).enumerate() {
                inverted += usize::from(height < last - 1e-9);
                last = last.max(height);
                assert!((m.height - last).abs() < 1e-7, "{seed}: {} {last}", m.height);
                assert_eq!(tree.cut(n - 1 - t).unwrap(), sets, "{seed}");
            }
        }
        assert!(inverted > 10, "{inverted} merges nearer than the one before");
    }

    /// Leaves of weight one against kodama, whose heights may go down.
    fn certify_by_kodama(d: &Array2<f64>, ours: Linkage, theirs: kodama::Method) {
        let n = d.nrows();
        let mut condensed: Vec<f64> =
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|p| d[p]).collect();
        let expected = kodama::linkage(&mut condensed, n, theirs);
        let tree = linkage(d.clone(), &vec![1.0; n], ours, &()).unwrap();
        let mut last = 0.0f64;
        for (m, step) in tree.merges().iter().zip(expected.steps()) {
            last = last.max(step.dissimilarity);
            assert!((m.height - last).abs() < 1e-9, "{ours:?} {n}");
            assert_eq!(m.nodes, [step.cluster1, step.cluster2], "{ours:?} {n}");
            assert_eq!(m.leaves, step.size);
        }
    }

    #[test]
    fn centroid_and_median_are_those_of_kodama() {
        for seed in 0..40 {
            let d = points(seed, 2 + seed as usize, false);
            certify_by_kodama(&d, Linkage::Centroid, kodama::Method::Centroid);
            certify_by_kodama(&d, Linkage::Median, kodama::Method::Median);
        }
        let e = linkage(-points(1, 3, false), &[1.0; 3], Linkage::Median, &()).unwrap_err();
        assert!(e.message().contains("Median linkage expects"), "{e}");
    }

    /// Every merge, in the order of the tree, joins two clusters that no other pair beats.
    fn certify(d: &Array2<f64>, w: &[f64], tree: &Dendrogram, method: Linkage) {
        let n = d.nrows();
        let mut live: Vec<(usize, Vec<usize>)> = (0..n).map(|i| (i, vec![i])).collect();
        for (t, m) in tree.merges().iter().enumerate() {
            let mut best = f64::INFINITY;
            for a in 0..live.len() {
                for b in 0..a {
                    best = best.min(between(d, w, &live[a].1, &live[b].1, method));
                }
            }
            let take = |live: &mut Vec<(usize, Vec<usize>)>, node| {
                let at = live.iter().position(|(id, _)| *id == node).unwrap();
                live.swap_remove(at).1
            };
            let a = take(&mut live, m.nodes[0]);
            let b = take(&mut live, m.nodes[1]);
            let own = between(d, w, &a, &b, method);
            assert!((own - m.height).abs() < 1e-9, "{method:?}: {own} {}", m.height);
            assert!(own <= best + 1e-9, "{method:?} merge {t}: {own} > {best}");
            live.push((n + t, [a, b].concat()));
        }
    }

    proptest! {
        #[test]
        fn every_merge_is_a_nearest_pair(
            seed in 0u64..1000, n in 1usize..14, grid: bool, weighted: bool,
        ) {
            let d = points(seed, n, grid);
            let mut s = Seed(seed).derive("weights", 0).stream();
            let mut weight = || if weighted { 1.0 + s.below(5) as f64 } else { 1.0 };
            let w: Vec<f64> = (0..n).map(|_| weight()).collect();
            for method in METHODS {
                let tree = linkage(d.clone(), &w, method, &()).unwrap();
                certify(&d, &w, &tree, method);
            }
        }

        #[test]
        fn equal_to_kodama_at_weight_one(seed in 0u64..1000, n in 2usize..80) {
            let d = points(seed, n, false);
            for (ours, theirs) in METHODS.into_iter().zip([
                kodama::Method::Single, kodama::Method::Average, kodama::Method::Complete,
                kodama::Method::Ward,
            ]) {
                certify_by_kodama(&d, ours, theirs);
            }
        }

        #[test]
        fn a_weighted_leaf_is_so_many_coincident_points(seed in 0u64..500, n in 2usize..8) {
            let d = points(seed, n, false);
            let copies: Vec<usize> = (0..n).map(|i| 1 + (seed as usize + i) % 3).collect();
            let owner: Vec<usize> =
                (0..n).flat_map(|i| std::iter::repeat_n(i, copies[i])).collect();
            let side = owner.len();
            let expanded = Array2::from_shape_fn((side, side), |(i, j)| d[(owner[i], owner[j])]);
            let w: Vec<f64> = copies.iter().map(|&c| c as f64).collect();
            for method in METHODS.into_iter().chain([Linkage::Centroid, Linkage::Median]) {
                let small = linkage(d.clone(), &w, method, &()).unwrap();
                let ones = vec![1.0; owner.len()];
                let large = linkage(expanded.clone(), &ones, method, &()).unwrap();
                for k in 1..=n {
                    let by_leaf = small.cut(k).unwrap();
                    let expected: Vec<usize> = owner.iter().map(|&i| by_leaf[i]).collect();
                    prop_assert_eq!(large.cut(k).unwrap(), expected, "{:?} k={}", method, k);
                }
            }
        }
    }

    #[test]
    fn bad_input() {
        let e = linkage(Array2::zeros((0, 0)), &[], Linkage::Average, &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Empty);
        let nan = array![[0.0, f64::NAN], [f64::NAN, 0.0]];
        let e = linkage(nan, &[1.0; 2], Linkage::Average, &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::NonFinite);
        assert!(e.message().contains("row 0, column 1"));
        let e = linkage(Array2::zeros((2, 2)), &[1.0], Linkage::Average, &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::ShapeMismatch);
        let e =
            linkage(Array2::zeros((2, 2)), &[1.0, f64::NAN], Linkage::Average, &()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidParameter);
    }

    /// One pass over a large matrix takes seconds: somebody may ask to stop at each row.
    #[test]
    fn cancellation_is_asked_for_at_every_row() {
        let n = 150;
        let d = points(1, n, false);
        for method in [Linkage::Ward, Linkage::Centroid, Linkage::Median] {
            let asked = CancelFrom::new(usize::MAX);
            linkage(d.clone(), &vec![1.0; n], method, &asked).unwrap();
            assert!(asked.asked() > 2 * n, "{method:?}: {}", asked.asked());
        }
        for method in [Linkage::Single, Linkage::Complete] {
            let asked = CancelFrom::new(usize::MAX);
            linkage(d.clone(), &vec![1.0; n], method, &asked).unwrap();
            assert!(asked.asked() > n, "{method:?}: {}", asked.asked());
        }
    }
}
