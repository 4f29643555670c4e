use consilience_core::{
    Error, ErrorKind, Features, Fit, MemoryBudget, Observer, Report, Result, Seed,
};
use consilience_num::Float;

use crate::input::{Watch, check_clusters, check_side, with_rows};
use crate::merge::merge_sets;
use crate::rows::{PointSets, Rows, Scaled, bring_nearer, farthest};
use crate::{Assign, Clustering, ConstrainedClusterer, SideInformation};

/// Nearest-neighbour clustering from a few labels (NNC): an unlabelled object joins the labelled
/// set whose farthest member is nearest.
///
/// The fastest way from a few labels per class to a clustering, and a robust one: one pass over the
/// features, no iteration, nothing to tune. Where some partition that respects the labels has RSD >
/// 1 (see [`Separation`](crate::Separation)), this finds it. Under a learned metric
/// ([`RsdDiagonal`](crate::RsdDiagonal)) it is usually better. Not for hundreds of labels per
/// class, where a classifier does more with them.
///
/// ```text
/// x joins set  argmin_r max_(y in S_r) |x - y|
/// ```
///
/// Pairs are closed into sets first. Where fewer sets are known than clusters are asked for, the
/// further clusters start at the objects farthest from all sets, so that without any labels this is
/// [`Fpc`](crate::Fpc). Where pairs leave more sets than clusters, sets that may be together are
/// united, by complete linkage; labels of more classes than clusters are refused.
///
/// ```
/// use consilience_core::Seed;
/// use consilience_metric::{ConstrainedClusterer, Nnc, SideInformation};
/// use ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.2], [3.0], [9.0]];
/// let side = SideInformation::from_labels(&[0, -1, -1, 1, 1])?;
/// let found = Nnc::new().fit(x.view().into(), 2, &side, Seed(0), &())?.output;
/// // 2.2 is next to 3, but far from the other object of that class.
/// assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1]);
/// # Ok::<(), consilience_core::Error>(())
/// ```
///
/// # Complexity
/// O(n l d) time for l labelled objects, plus O(n d) for each cluster without labels; 12 n bytes
/// beside the features. Uniting m sets takes O(m^2) memory.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`]; [`ErrorKind::InvalidParameter`] for labels of more classes
/// than clusters; [`ErrorKind::TooLarge`] where too many sets have to be united.
///
/// # References
/// J. Yang et al., "A fast clustering algorithm for data with a few labeled instances", 2015,
/// Algorithm 2, Theorems 9 and 10. The paper has all sets or none; pairs, missing and surplus sets
/// are ours. Ties go to the set of the first object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nnc {
    budget: MemoryBudget,
}

impl Nnc {
    /// With the default memory budget, which matters only where thousands of sets have to be
    /// united.
    pub fn new() -> Self {
        Self::default()
    }

    /// How much memory uniting sets may take.
    pub fn memory_budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }
}

impl ConstrainedClusterer for Nnc {
    fn name(&self) -> &'static str {
        "nnc"
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        side: &SideInformation,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        check_clusters(&features, clusters)?;
        check_side(&features, side)?;
        let known = side.labelled_sets().len();
        if known > clusters && side.are_classes() {
            return Err(Error::invalid(format!(
                "labels of {known} classes, {clusters} clusters asked for"
            )));
        }
        let scaled = Scaled::new(features);
        let mut watch = Watch::new(observer, "labelled sets", clusters);
        watch.step(0)?;
        with_rows!(scaled.features(), |x| {
            let mut report = Report::default();
            let rows = Rows::new(x);
            let united;
            let mut known_sets = side.labelled_sets();
            if known > clusters {
                let merged = merge_sets(&rows, side, clusters, self.budget, &mut watch)?;
                report.notes.push(format!(
                    "{known} sets of objects that belong together were united to {clusters}"
                ));
                if merged.violated > 0 {
                    report.notes.push(format!(
                        "{} cannot-links are not respected: no way was found to unite the sets without that",
                        merged.violated
                    ));
                }
                united = merged.sets;
                known_sets = &united;
            }
            let mut sets = Sets::new(rows, scaled.scale);
            sets.start(known_sets);
            let first = seed.derive("fpc", 0).stream().below(features.n_objects());
            sets.grow(clusters, Some(first), &mut watch)?;
            report.expect_clusters(
                clusters,
                sets.len(),
                "the features distinguish no more objects",
            );
            report.objective = Some(sets.radius());
            Ok(Fit::new(sets.finish()?, report))
        })
    }
}

/// Sets of points that the rows join, and the growth by farthest points.
pub(crate) struct Sets<'a, F> {
    rows: Rows<'a, F>,
    points: PointSets,
    scale: f64,
    /// Squared distance to the farthest member of the nearest set.
    closest: Vec<f64>,
    labels: Vec<u32>,
}

impl<'a, F: Float> Sets<'a, F> {
    pub(crate) fn new(rows: Rows<'a, F>, scale: f64) -> Self {
        let n = rows.n();
        let points = PointSets::new(rows.d());
        Sets { rows, points, scale, closest: vec![f64::INFINITY; n], labels: vec![0; n] }
    }

    /// Begins with labelled sets; their objects stay with them whatever is nearer.
    pub(crate) fn start(&mut self, sets: &[Vec<usize>]) {
        if sets.is_empty() {
            return;
        }
        for set in sets {
            self.points.push(set.iter().map(|&i| self.rows.row(i)));
        }
        self.points.nearest(&self.rows, &mut self.closest, &mut self.labels);
        for (s, set) in sets.iter().enumerate() {
            for &i in set {
                self.closest[i] = 0.0;
                self.labels[i] = s as u32;
            }
        }
    }

    /// Adds the farthest object as a set of its own until there are `clusters`, or until no object
    /// is away from all sets. `first` starts where there is no set yet.
    pub(crate) fn grow(
        &mut self,
        clusters: usize,
        first: Option<usize>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let mut next = if self.len() == 0 { first } else { self.away(farthest(&self.closest)) };
        watch.step(self.len())?;
        while self.len() < clusters {
            let Some(object) = next else { break };
            let centre = self.rows.row(object);
            let cluster = self.len() as u32;
            let far =
                bring_nearer(&self.rows, &centre, cluster, &mut self.closest, &mut self.labels);
            self.points.push([centre]);
            next = self.away(far);
            watch.step(self.len())?;
        }
        Ok(())
    }

    fn away(&self, far: Option<(usize, f64)>) -> Option<usize> {
        far.filter(|f| f.1 > 0.0).map(|f| f.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Largest distance of an unlabelled object to the farthest member of its set.
    pub(crate) fn radius(&self) -> f64 {
        farthest(&self.closest).map_or(0.0, |f| f.1).sqrt() / self.scale
    }

    pub(crate) fn finish(self) -> Result<Clustering> {
        let clusters = self.points.len();
        Clustering::new(
            &self.labels,
            clusters,
            FarthestMember { points: self.points, scale: self.scale },
        )
    }
}

/// New objects join the set whose farthest member is nearest.
#[derive(Debug)]
struct FarthestMember {
    points: PointSets,
    scale: f64,
}

impl Assign for FarthestMember {
    fn n_features(&self) -> usize {
        self.points.d()
    }

    fn assign(&self, features: Features<'_>) -> Result<Vec<usize>> {
        let n = features.n_objects();
        if n >= u32::MAX as usize {
            return Err(Error::new(ErrorKind::TooLarge, format!("{n} objects")));
        }
        let scaled = Scaled::like(features, self.scale);
        let (mut closest, mut labels) = (vec![0.0; n], vec![0; n]);
        with_rows!(scaled.features(), |x| {
            self.points.nearest(&Rows::new(x), &mut closest, &mut labels);
        });
        Ok(labels.into_iter().map(|l| l as usize).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Constraints, Link, Partition};
    use ndarray::{Array2, array};

    fn distance(x: &Array2<f64>, i: usize, j: usize) -> f64 {
        (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum()
    }

    /// Straight from Algorithm 2.
    fn reference(x: &Array2<f64>, sets: &[Vec<usize>]) -> Vec<i64> {
        (0..x.nrows())
            .map(|i| {
                if let Some(own) = sets.iter().position(|s| s.contains(&i)) {
                    return own as i64;
                }
                let far = |s: &Vec<usize>| s.iter().map(|&j| distance(x, i, j)).fold(0.0, f64::max);
                let best = sets.iter().map(far).fold(f64::INFINITY, f64::min);
                sets.iter().position(|s| far(s) == best).unwrap() as i64
            })
            .collect()
    }

    #[test]
    fn equals_the_reference_on_ties_and_duplicates() {
        for seed in 0..300 {
            let mut s = Seed(seed).stream();
            let (n, d) = (2 + s.below(30), 1 + s.below(10));
            let x = Array2::from_shape_simple_fn((n, d), || s.below(4) as f64);
            let labels: Vec<i64> = (0..n).map(|_| s.below(8) as i64 - 4).collect();
            let side = SideInformation::from_labels(&labels).unwrap();
            let k = side.labelled_sets().len();
            if k == 0 {
                continue;
            }
            let found = Nnc::new().fit(x.view().into(), k, &side, Seed(0), &()).unwrap();
            let expected = Partition::from_labels(&reference(&x, side.labelled_sets())).unwrap();
            assert_eq!(found.output.partition, expected, "seed {seed}");
            let narrow = x.mapv(|v| v as f32);
            let again = Nnc::new().fit(narrow.view().into(), k, &side, Seed(0), &()).unwrap();
            assert_eq!(again.output.partition, expected);
            // Labelled objects keep their label; the others are predicted as they were clustered.
            let predicted = found.output.assign(x.view().into()).unwrap();
            for i in 0..n {
                assert!(side.set_of(i).is_some() || Some(predicted[i]) == expected.label(i));
            }
        }
    }

    #[test]
    fn missing_classes_start_at_the_farthest_object() {
        let x = array![[0.0], [1.0], [10.0], [11.0], [5.0]];
        let side = SideInformation::from_labels(&[0, 0, -1, -1, -1]).unwrap();
        let found = Nnc::new().fit(x.view().into(), 3, &side, Seed(0), &()).unwrap().output;
        assert_eq!(found.partition.to_signed(), [0, 0, 1, 1, 2]);
        let none = SideInformation::none(5);
        for seed in 0..5 {
            let nnc = Nnc::new().fit(x.view().into(), 3, &none, Seed(seed), &()).unwrap().output;
            let fpc = crate::Fpc::new()
                .fit_clustering(x.view().into(), 3, Seed(seed), &())
                .unwrap()
                .output;
            assert_eq!(nnc.partition, fpc.partition);
        }
    }

    #[test]
    fn surplus_classes_are_refused_and_surplus_sets_united() {
        let x = array![[0.0], [1.0], [10.0], [11.0], [5.0]];
        let side = SideInformation::from_labels(&[0, 1, 2, -1, -1]).unwrap();
        let error = Nnc::new().fit(x.view().into(), 2, &side, Seed(0), &()).unwrap_err();
        assert_eq!(error.message(), "labels of 3 classes, 2 clusters asked for");
        let mut pairs = Constraints::new(5).unwrap();
        pairs.add(0, 2, Link::Cannot).unwrap();
        pairs.add(1, 3, Link::Cannot).unwrap();
        let side = SideInformation::from_constraints(&pairs);
        let found = Nnc::new().fit(x.view().into(), 2, &side, Seed(0), &()).unwrap();
        assert_eq!(found.output.partition.to_signed(), [0, 0, 1, 1, 0]);
        assert!(
            found.report.notes.iter().any(|n| n.starts_with("4 sets")),
            "{:?}",
            found.report.notes
        );
    }

    #[test]
    fn bad_input_is_refused() {
        let x = array![[0.0], [1.0]];
        let kind = |x: &Array2<f64>, k, n| {
            Nnc::new()
                .fit(x.view().into(), k, &SideInformation::none(n), Seed(0), &())
                .unwrap_err()
                .kind()
        };
        assert_eq!(kind(&x, 0, 2), ErrorKind::InvalidParameter);
        assert_eq!(kind(&x, 3, 2), ErrorKind::InvalidParameter);
        assert_eq!(kind(&x, 1, 3), ErrorKind::ShapeMismatch);
        assert_eq!(kind(&array![[f64::NAN]], 1, 1), ErrorKind::NonFinite);
        assert_eq!(kind(&Array2::zeros((0, 2)), 1, 0), ErrorKind::Empty);
        let found = Nnc::new()
            .fit(x.view().into(), 1, &SideInformation::none(2), Seed(0), &())
            .unwrap()
            .output;
        assert_eq!(
            found.assign(array![[0.0, 1.0]].view().into()).unwrap_err().kind(),
            ErrorKind::ShapeMismatch
        );
        assert_eq!(
            found.assign(array![[f64::INFINITY]].view().into()).unwrap_err().kind(),
            ErrorKind::NonFinite
        );
    }
}
