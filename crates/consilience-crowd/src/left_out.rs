//! Whether what annotated objects teach holds for annotated objects that were left out.

use consilience_completion::{
    CompletedClustering, Completion, ObservedPairs, Rdml, SampleSimilarity,
};
use consilience_core::{Features, Observer, Result, Seed};
use ndarray::{ArrayView2, Axis};

/// Folds of annotated objects, each left out once.
const FOLDS: usize = 5;
/// Starts of k-means for a fold.
const FOLD_RESTARTS: usize = 2;
/// The learned clusters have to keep more by so many standard errors of the difference.
const CAUTION: f64 = 1.0;

/// How well the learned similarity and plain k-means agree with answers about annotated objects
/// that were left out, and which of the two was taken: part of
/// [`SemiCrowdResult`](crate::SemiCrowdResult), from [`SemiCrowd::fit`](crate::SemiCrowd::fit).
///
/// Both measures are of an object and those with which the crowd agrees to put it together or
/// apart, and are averaged over the annotated objects that have some of either kind. *Kept* is the
/// mean of the share of the first that share its cluster, and of the share of the second that do
/// not. The *area* under the curve is how probable it is that one of the first is nearer to it than
/// one of the second. Chance is 0.5 for both.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Whether the clusters are those of the learned similarity: they keep more than those of plain
    /// k-means, by more than a standard error of the difference, and the area is larger.
    pub learned: bool,
    /// What clusters keep that are learned without the object.
    pub kept: f64,
    /// What clusters of plain k-means keep.
    pub kept_plain: f64,
    /// Standard error of the difference of the two.
    pub error: f64,
    /// The area under the similarity that is learned without the object.
    pub area: f64,
    /// The area under the features as plain k-means takes them.
    pub area_plain: f64,
}

/// What is kept, and the area, of one object: learned, and plain.
type Measured = [[f64; 2]; 2];

impl LeftOut {
    fn of(measured: &[Measured]) -> Option<Self> {
        if measured.is_empty() {
            return None;
        }
        let n = measured.len() as f64;
        let mean = |of: &dyn Fn(&Measured) -> f64| measured.iter().map(of).sum::<f64>() / n;
        let (kept, kept_plain) = (mean(&|m| m[0][0]), mean(&|m| m[1][0]));
        let (area, area_plain) = (mean(&|m| m[0][1]), mean(&|m| m[1][1]));
        let gain = kept - kept_plain;
        let error = (mean(&|m| (m[0][0] - m[1][0] - gain).powi(2)) / n).sqrt();
        let learned = gain > CAUTION * error && area > area_plain;
        Some(LeftOut { learned, kept, kept_plain, error, area, area_plain })
    }

    pub(crate) fn note(&self) -> String {
        let taken = if self.learned { "the learned similarity" } else { "plain k-means" };
        format!(
            "clusters by {taken}: of answers about objects left out the learned clusters keep \
             {:.3}, those of plain k-means {:.3}, standard error of the difference {:.3}; areas \
             under the curve {:.3} and {:.3}",
            self.kept, self.kept_plain, self.error, self.area, self.area_plain
        )
    }
}

/// The annotated objects, what the crowd agrees on, and the fold of each object.
pub(crate) struct LeftOutObjects<'a> {
    sample: &'a [usize],
    agreed: &'a ObservedPairs,
    fold: Vec<usize>,
}

impl<'a> LeftOutObjects<'a> {
    /// `sample` are the annotated objects, in the order of the rows of `agreed`.
    pub(crate) fn new(sample: &'a [usize], agreed: &'a ObservedPairs, seed: Seed) -> Self {
        let mut fold: Vec<usize> = (0..sample.len()).map(|at| at % FOLDS).collect();
        seed.derive("left-out objects", 0).stream().shuffle(&mut fold);
        LeftOutObjects { sample, agreed, fold }
    }

    /// Compares clusters that are learned without a fold with those of plain k-means. The
    /// completion has seen all answers; the regression has not seen the objects of the fold.
    pub(crate) fn compare(
        &self,
        features: Features<'_>,
        metric: &Rdml,
        completion: &Completion,
        plain: &CompletedClustering,
        observer: &dyn Observer,
    ) -> Result<Option<LeftOut>> {
        let n = self.fold.len();
        if n < 2 {
            return Ok(None);
        }
        let metric = metric.clone().restarts(FOLD_RESTARTS);
        let mut measured = Vec::new();
        for fold in 0..FOLDS.min(n) {
            let rest: Vec<usize> = (0..n).filter(|&i| self.fold[i] != fold).collect();
            let vectors = completion.vectors.select(Axis(0), &rest);
            let given = SampleSimilarity::Eigenpairs(vectors.view(), &completion.values);
            let rest: Vec<usize> = rest.into_iter().map(|i| self.sample[i]).collect();
            let learned = metric.fit_sample(features, &rest, given, observer)?.output;
            let of_fold = (0..n).filter(|&i| self.fold[i] == fold);
            measured.extend(
                of_fold.filter_map(|i| Some([self.measure(i, &learned)?, self.measure(i, plain)?])),
            );
        }
        Ok(LeftOut::of(&measured))
    }

    /// What clusters keep of the answers about an object, and the area under the curve.
    fn measure(&self, i: usize, found: &CompletedClustering) -> Option<[f64; 2]> {
        let space = found.similarity.embedding();
        let label = |i: usize| found.clustering.partition.label(self.sample[i]);
        let area = self.area(i, space)?;
        let share = |value: f64| {
            let others = self.agreed.row(i).filter(|&(j, v)| j != i && v == value);
            let (all, same) = others.fold((0.0, 0.0), |(all, same), (j, _)| {
                (all + 1.0, same + f64::from(u8::from(label(i) == label(j))))
            });
            same / all
        };
        Some([0.5 * (share(1.0) + 1.0 - share(0.0)), area])
    }

    /// The area under the curve of an object by Euclidean distances of the rows of all objects;
    /// `None` without answers of both kinds.
    fn area(&self, i: usize, space: ArrayView2<'_, f64>) -> Option<f64> {
        let row = |i: usize| space.row(self.sample[i]);
        let from = row(i);
        let distance = |j| from.iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
        let others = self.agreed.row(i).filter(|&(j, _)| j != i);
        let (same, different): (Vec<_>, Vec<_>) = others.partition(|&(_, value)| value > 0.5);
        let distances = |of: Vec<(usize, f64)>| -> Vec<f64> {
            let mut all: Vec<f64> = of.into_iter().map(|(j, _)| distance(j)).collect();
            all.sort_unstable_by(f64::total_cmp);
            all
        };
        let (same, different) = (distances(same), distances(different));
        let pairs = (same.len() * different.len()) as f64;
        let right = same.iter().map(|s| {
            let (nearer, up_to) =
                (different.partition_point(|d| d < s), different.partition_point(|d| d <= s));
            (different.len() - up_to) as f64 + 0.5 * (up_to - nearer) as f64
        });
        (pairs > 0.0).then(|| right.sum::<f64>() / pairs)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    /// The share of pairs of a same and a different object of which the same one is nearer.
    #[test]
    fn an_area_counts_pairs_and_ties_as_half() {
        for seed in 0..50 {
            let mut s = Seed(seed).stream();
            let n = 2 + s.below(9);
            // Few distinct coordinates, so that many distances are equal.
            let rows = Array2::from_shape_fn((n, 2), |_| s.below(3) as f64);
            let mut entries = Vec::new();
            for i in 0..n {
                for j in 0..=i {
                    if s.below(3) > 0 {
                        entries.push((i, j, s.below(2) as f64));
                    }
                }
            }
            let agreed = ObservedPairs::new(n, &entries).unwrap();
            let sample: Vec<usize> = (0..n).collect();
            let objects = LeftOutObjects::new(&sample, &agreed, Seed(0));
            for i in 0..n {
                let value = |j: usize| {
                    let known = |e: &&(usize, usize, f64)| (e.0, e.1) == (i.max(j), i.min(j));
                    entries.iter().find(known).filter(|_| j != i).map(|e| e.2)
                };
                let square = |j: usize| (&rows.row(i) - &rows.row(j)).mapv(|v| v * v).sum();
                let (mut right, mut pairs) = (0.0, 0);
                for a in (0..n).filter(|&a| value(a) == Some(1.0)) {
                    for b in (0..n).filter(|&b| value(b) == Some(0.0)) {
                        let (near, far): (f64, f64) = (square(a), square(b));
                        right += if near < far { 1.0 } else { 0.0 };
                        right += if near == far { 0.5 } else { 0.0 };
                        pairs += 1;
                    }
                }
                let expected = (pairs > 0).then(|| right / f64::from(pairs));
                assert_eq!(objects.area(i, rows.view()), expected, "seed {seed}, object {i}");
            }
        }
    }

    #[test]
    fn learned_clusters_are_taken_beyond_one_standard_error_where_the_area_is_larger_too() {
        assert!(LeftOut::of(&[]).is_none());
        let of = |kept: [[f64; 2]; 2], area: [f64; 2]| {
            LeftOut::of(&kept.map(|[a, b]| [[a, area[0]], [b, area[1]]])).unwrap()
        };
        // Gains of 0.1 and 0.3: mean 0.2, standard error 0.1 / sqrt(2).
        let found = of([[0.8, 0.7], [0.9, 0.6]], [0.7, 0.6]);
        assert!((found.error - 0.1 / 2f64.sqrt()).abs() < 1e-12 && found.learned);
        assert!((found.kept - 0.85).abs() < 1e-12 && (found.kept_plain - 0.65).abs() < 1e-12);
        assert!(found.note().starts_with("clusters by the learned similarity"));
        assert!(!of([[0.8, 0.7], [0.9, 0.6]], [0.6, 0.7]).learned);
        // Gains of 0.3 and -0.2: mean 0.05, standard error 0.25 / sqrt(2).
        let found = of([[0.8, 0.5], [0.6, 0.8]], [0.7, 0.6]);
        assert!(!found.learned && found.note().starts_with("clusters by plain k-means"));
        // Equal ones teach nothing.
        assert!(!of([[0.7, 0.7], [0.7, 0.7]], [0.7, 0.6]).learned);
    }
}
