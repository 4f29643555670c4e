use consilience_core::{Features, Observer, Partition, Result, Stop, Watch, ensure, with_rows};
use consilience_num::Float;
use consilience_num::rows::{Rows, Scaled, squared};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows that are compared with rows at a time: both blocks stay in cache.
const BLOCK: usize = 128;

/// Split and diameter of every cluster of a partition, and their ratio RSD.
///
/// Says how clearly a partition separates the objects, and above 1 that nothing can be better:
/// every pair within a cluster is then nearer than every pair across, which holds for at most one
/// partition into that many clusters. Exact, so for up to some ten thousand objects; single
/// outliers decide it.
///
/// ```text
/// split(C) = min_(x in C, y not in C) |x - y|,   diameter(C) = max_(x, y in C) |x - y|
/// RSD = min_C split(C) / max_C diameter(C)
/// ```
///
/// Unlabelled objects are left out. An only cluster has an infinite split, single objects have the
/// diameter 0.
///
/// ```
/// use consilience::Partition;
/// use consilience::metric::Separation;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [2.0], [7.0], [8.0]];
/// let p = Partition::from_labels(&[0, 0, 1, 1])?;
/// let s = Separation::of(x.view(), &p)?;
/// assert_eq!((s.split(), s.diameter(), s.rsd()), (5.0, 2.0, 2.5));
/// assert!(s.certifies_optimum());
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n^2 d) time in parallel, O(n) memory beside the features.
///
/// # References
/// J. Yang et al., "A fast clustering algorithm for data with a few labeled instances", 2015,
/// Definitions 2 to 6, Theorems 7 and 9.
#[doc(alias = "RSD")]
#[derive(Clone, Debug, PartialEq)]
pub struct Separation {
    splits: Vec<f64>,
    diameters: Vec<f64>,
    features: usize,
}

impl Separation {
    /// Compares all pairs of labelled objects.
    ///
    /// # Errors
    /// As [`Features::check`];
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where features and
    /// partition differ in length.
    pub fn of<'a>(features: impl Into<Features<'a>>, partition: &Partition) -> Result<Self> {
        Self::of_observed(features, partition, &())
    }

    /// [`of`](Separation::of) with progress and cancellation.
    ///
    /// # Errors
    /// As [`of`](Separation::of);
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_observed<'a>(
        features: impl Into<Features<'a>>,
        partition: &Partition,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let features = features.into().dense()?;
        features.check()?;
        let n = features.n_objects();
        ensure!(
            partition.n_objects() == n,
            shape("features of {n} objects, labels of {}", partition.n_objects())
        );
        let scaled = Scaled::new(features);
        let mut watch = Watch::new(observer, "pairs", n.div_ceil(BLOCK));
        let labels: Vec<u32> = partition.iter().map(|l| l.map_or(u32::MAX, |l| l as u32)).collect();
        let extremes = with_rows!(scaled.features(), |x| extremes(
            &Rows::new(x),
            &labels,
            partition.n_clusters(),
            &mut watch
        ))?;
        let distances =
            |squares: Vec<f64>| squares.into_iter().map(|v| v.sqrt() / scaled.place.unit).collect();
        Ok(Separation {
            splits: distances(extremes.splits),
            diameters: distances(extremes.diameters),
            features: features.n_features(),
        })
    }

    /// Split of each cluster.
    pub fn splits(&self) -> &[f64] {
        &self.splits
    }

    /// Diameter of each cluster.
    pub fn diameters(&self) -> &[f64] {
        &self.diameters
    }

    /// The smallest split; infinite for less than two clusters.
    pub fn split(&self) -> f64 {
        self.splits.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The largest diameter.
    pub fn diameter(&self) -> f64 {
        self.diameters.iter().copied().fold(0.0, f64::max)
    }

    /// Split over diameter: infinite where only the diameter is 0, and 0 where the split is, be it
    /// that both are.
    pub fn rsd(&self) -> f64 {
        let (split, diameter) = (self.split(), self.diameter());
        if split == 0.0 { 0.0 } else { split / diameter }
    }

    /// Whether RSD > 1 beyond rounding. The partition is then the only one into that many clusters
    /// with the best RSD, split and diameter of all, and the one that `Fpc` and, if
    /// it respects the labels, `Nnc` return.
    pub fn certifies_optimum(&self) -> bool {
        self.rsd() > 1.0 + (self.features + 16) as f64 * f64::EPSILON
    }
}

/// Squared splits and diameters.
struct Extremes {
    splits: Vec<f64>,
    diameters: Vec<f64>,
}

impl Extremes {
    fn new(clusters: usize) -> Self {
        Extremes { splits: vec![f64::INFINITY; clusters], diameters: vec![0.0; clusters] }
    }

    /// Smallest and largest do not depend on the grouping.
    fn join(mut self, other: Self) -> Self {
        for (a, b) in self.splits.iter_mut().zip(other.splits) {
            *a = a.min(b);
        }
        for (a, b) in self.diameters.iter_mut().zip(other.diameters) {
            *a = a.max(b);
        }
        self
    }
}

fn extremes<F: Float>(
    rows: &Rows<'_, F>,
    labels: &[u32],
    clusters: usize,
    watch: &mut Watch<'_>,
) -> Result<Extremes> {
    let n = rows.n();
    let blocks = n.div_ceil(BLOCK);
    let range = |b: usize| b * BLOCK..n.min((b + 1) * BLOCK);
    let arch = Arch::new();
    let mut total = Extremes::new(clusters);
    let stop = Stop::new(watch.observer());
    for b in 0..blocks {
        watch.step(b)?;
        let mine = range(b);
        let part = rows.block(mine.start, mine.len(), |a| {
            (b..blocks)
                .into_par_iter()
                .map(|o| {
                    let theirs = range(o);
                    let mut found = Extremes::new(clusters);
                    if stop.asked() {
                        return found;
                    }
                    rows.block(theirs.start, theirs.len(), |other| {
                        arch.dispatch(PairBlock {
                            rows: [a, other],
                            labels: [&labels[mine.clone()], &labels[theirs.clone()]],
                            d: rows.d(),
                            same: o == b,
                            found: &mut found,
                        });
                    });
                    found
                })
                .reduce_with(Extremes::join)
        });
        stop.check()?;
        if let Some(part) = part {
            total = total.join(part);
        }
    }
    watch.step(blocks)?;
    Ok(total)
}

struct PairBlock<'a, F> {
    rows: [&'a [F]; 2],
    labels: [&'a [u32]; 2],
    d: usize,
    /// Whether both blocks are one, of which each pair counts once.
    same: bool,
    found: &'a mut Extremes,
}

impl<F: Float> WithSimd for PairBlock<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let PairBlock { rows: [a, b], labels: [la, lb], d, same, found } = self;
        for (i, (x, &l)) in a.chunks_exact(d).zip(la).enumerate() {
            if l == u32::MAX {
                continue;
            }
            let skip = if same { i + 1 } else { 0 };
            let (mut split, mut diameter) = (f64::INFINITY, 0.0f64);
            for (y, &m) in b.chunks_exact(d).zip(lb).skip(skip) {
                if m == u32::MAX {
                    continue;
                }
                let now = squared(x, y);
                if l == m {
                    diameter = if now > diameter { now } else { diameter };
                } else {
                    split = if now < split { now } else { split };
                    let other = &mut found.splits[m as usize];
                    *other = if now < *other { now } else { *other };
                }
            }
            let own = &mut found.splits[l as usize];
            *own = own.min(split);
            let own = &mut found.diameters[l as usize];
            *own = own.max(diameter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::Seed;
    use ndarray::{Array2, array};

    #[test]
    fn equals_the_definition() {
        for seed in 0..60 {
            let mut s = Seed(seed).stream();
            let (n, d) = (1 + s.below(if seed < 50 { 20 } else { 400 }), 1 + s.below(9));
            let x = Array2::from_shape_simple_fn((n, d), || s.below(50) as f64);
            let labels: Vec<i64> = (0..n).map(|_| s.below(5) as i64 - 1).collect();
            let p = Partition::from_labels(&labels).unwrap();
            let found = Separation::of(x.view(), &p).unwrap();
            let mut splits = vec![f64::INFINITY; p.n_clusters()];
            let mut diameters = vec![0.0f64; p.n_clusters()];
            for i in 0..n {
                for j in 0..n {
                    let (Some(a), Some(b)) = (p.label(i), p.label(j)) else { continue };
                    let distance = (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt();
                    if a == b {
                        diameters[a] = diameters[a].max(distance);
                    } else {
                        splits[a] = splits[a].min(distance);
                    }
                }
            }
            assert_eq!(found.splits(), splits, "seed {seed}");
            assert_eq!(found.diameters(), diameters, "seed {seed}");
        }
    }

    #[test]
    fn degenerate_partitions() {
        let x = array![[1.0], [1.0], [2.0]];
        let rsd = |labels: &[i64]| {
            Separation::of(x.view(), &Partition::from_labels(labels).unwrap()).unwrap().rsd()
        };
        assert_eq!(rsd(&[0, 0, 0]), f64::INFINITY);
        assert_eq!(rsd(&[0, 0, 1]), f64::INFINITY);
        assert_eq!(rsd(&[0, 1, 2]), 0.0);
        assert_eq!(rsd(&[-1, -1, -1]), f64::INFINITY);
        assert_eq!(rsd(&[0, 1, -1]), 0.0);
    }
}
