use std::collections::HashMap;

use consilience_core::{
    Clustering, Clusters, ConstrainedClusterer, Features, Fit, Link, MemoryBudget, Observer, Pair,
    Report, Result, Seed, SideInformation, Watch, ensure,
};
use consilience_num::place::Place;

use crate::merge::{Merged, merge_sets};
use crate::number::{FEWER, checked_number};
use crate::points::Table;
use crate::sets::{Sets, with_table};

/// Nearest-neighbour clustering from a few labels (NNC): an unlabelled object joins the labelled
/// set whose farthest member is nearest.
///
/// The fastest way from a few labels per class to a clustering, and a robust one: one pass over the
/// features, no iteration, nothing to tune. Where some partition that respects the labels has RSD >
/// 1 (see [`Separation`](consilience_metric::Separation)), this finds it. Under a learned metric
/// ([`RsdDiagonal`](consilience_metric::RsdDiagonal)) it is usually better. Not for hundreds of
/// labels per class, where a classifier does more with them.
///
/// ```text
/// x joins set  argmin_r max_(y in S_r) |x - y|
/// ```
///
/// Pairs are closed into sets first. Where fewer sets are known than clusters are asked for, the
/// further clusters start at the objects farthest from all sets, so that without any labels this is
/// [`Fpc`](crate::Fpc). Where pairs leave more sets than clusters, sets that may be together are
/// united, by complete linkage. Where that ends at sets of which no two may be together, a search
/// looks for a way to break no cannot-link, as in [`CopKMeans`](crate::CopKMeans), and uniting
/// starts anew from the last step that left one, within the clusters of that way. Where there is
/// none, or none is found, cannot-links are broken, and the report says how many; for links that
/// must hold, [`CopKMeans`](crate::CopKMeans) returns an error instead. Labels of more classes than
/// clusters are refused, and so are links that keep more sets than clusters all apart.
///
/// ```
/// use consilience::{Seed, SideInformation};
/// use consilience::constrained::Nnc;
/// use consilience::core::ConstrainedClusterer;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.2], [3.0], [9.0]];
/// let side = SideInformation::from_labels(&[0, -1, -1, 1, 1])?;
/// let found = Nnc::new(2).cluster(x.view().into(), &side)?;
/// // 2.2 is next to 3, but far from the other object of that class.
/// assert_eq!(found.partition.to_signed(), [0, 0, 0, 1, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n l d) time for l labelled objects, plus O(n d) for each cluster without labels; 12 n bytes
/// beside the features. Uniting m sets takes O(m^2) memory; a search for a way to break no link is
/// exponential at worst and ends after 1,000,000 steps of O(m + k log k) each; O(log m) more of at
/// most 100,000 steps follow.
///
/// # Errors
/// As [`ConstrainedClusterer::fit`];
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for labels of
/// more classes, or links that keep more sets all apart, than clusters;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where too many sets have to be
/// united.
///
/// # References
/// J. Yang et al., "A fast clustering algorithm for data with a few labeled instances", 2015,
/// Algorithm 2, Theorems 9 and 10. The paper has all sets or none; pairs, missing and surplus sets
/// are ours. Ties go to the set of the first object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nnc {
    clusters: Clusters,
    budget: MemoryBudget,
    seed: Seed,
}

impl Nnc {
    /// Into so many clusters; [`Clusters::Auto`] for as many as the labels have classes.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Nnc { clusters: clusters.into(), budget: MemoryBudget::default(), seed: Seed(0) }
    }

    consilience_core::setters! {
        /// How much memory the labelled objects may take, and uniting sets, which matters only for
        /// thousands of them. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }
    }
}

impl ConstrainedClusterer for Nnc {
    fn name(&self) -> &'static str {
        "nnc"
    }

    fn fit(
        &self,
        features: Features<'_>,
        side: &SideInformation,
        observer: &dyn Observer,
    ) -> Result<Fit<Clustering>> {
        let clusters = checked_number(self.name(), self.clusters, features, side)?;
        let known = side.labelled_sets().len();
        let what = match side.stated() {
            Some(_) => format!("links that keep {known} sets all apart"),
            None => format!("labels of {known} classes"),
        };
        ensure!(
            known <= clusters || !side.are_classes(),
            invalid("{what}; at most {clusters} asked for")
        );
        let mut watch = Watch::new(observer, "labelled sets", clusters);
        watch.step(0)?;
        with_table!(features, |rows, place| self.run(rows, place, clusters, side, watch))
    }
}

impl Nnc {
    fn run<R: Table>(
        &self,
        rows: R,
        place: Place,
        clusters: usize,
        side: &SideInformation,
        mut watch: Watch<'_>,
    ) -> Result<Fit<Clustering>> {
        let known = side.labelled_sets().len();
        let mut report = Report::default();
        let united;
        let mut known_sets = side.labelled_sets();
        if known > clusters {
            let merged = merge_sets(&rows, side, clusters, self.budget, &mut watch)?;
            let single = match known_sets.iter().filter(|set| set.len() == 1).count() {
                0 => String::new(),
                single => format!(", {single} of them of one object,"),
            };
            report.notes.push(format!(
                "{known} sets of objects that belong together{single} were united to {clusters}"
            ));
            let broken = broken(side, &merged);
            if broken > 0 {
                let are = if broken == 1 { "cannot-link is" } else { "cannot-links are" };
                let why = if merged.impossible {
                    "too few clusters to satisfy all"
                } else {
                    "the search found no way to unite the sets without that"
                };
                report.notes.push(format!("{broken} {are} not respected: {why}"));
            }
            united = merged.sets;
            known_sets = &united;
        }
        let first = self.seed.derive("fpc", 0).stream().below(rows.n());
        let labelled = side.labelled_objects().len() + clusters.saturating_sub(known_sets.len());
        let tables = [(labelled, rows.d()), (rows.n(), 2)];
        self.budget.check_tables("labelled objects as points", &tables, 8)?;
        let mut sets = Sets::new(rows, place)?;
        sets.start(known_sets, watch.observer())?;
        sets.grow(clusters, Some(first), &mut watch)?;
        report.expect_clusters(clusters, sets.len(), FEWER);
        report.objective = Some(sets.radius());
        Ok(Fit::new(sets.finish()?, report))
    }
}

/// Cannot-links within united sets: of those that were stated, where links were, else of all.
fn broken(side: &SideInformation, merged: &Merged) -> usize {
    let Some(stated) = side.stated() else { return merged.violated };
    let sets = merged.sets.iter().enumerate();
    let set_of: HashMap<usize, usize> =
        sets.flat_map(|(s, set)| set.iter().map(move |&i| (i, s))).collect();
    let within = |pair: &&Pair| set_of.get(&pair.i) == set_of.get(&pair.j);
    stated.iter().filter(|pair| pair.link == Link::Cannot).filter(within).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Constraints, Partition};
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
            let found = Nnc::new(k).fit(x.view().into(), &side, &()).unwrap();
            let expected = Partition::from_labels(&reference(&x, side.labelled_sets())).unwrap();
            assert_eq!(found.output.partition, expected, "seed {seed}");
            let narrow = x.mapv(|v| v as f32);
            let again = Nnc::new(k).fit(narrow.view().into(), &side, &()).unwrap();
            assert_eq!(again.output.partition, expected);
            // Labelled objects keep their label; the others are predicted as they were clustered.
            let predicted = found.output.assign(x.view()).unwrap();
            for i in 0..n {
                assert!(side.set_of(i).is_some() || Some(predicted[i]) == expected.label(i));
            }
        }
    }

    #[test]
    fn missing_classes_start_at_the_farthest_object() {
        let x = array![[0.0], [1.0], [10.0], [11.0], [5.0]];
        let side = SideInformation::from_labels(&[0, 0, -1, -1, -1]).unwrap();
        let found = Nnc::new(3).fit(x.view().into(), &side, &()).unwrap().output;
        assert_eq!(found.partition.to_signed(), [0, 0, 1, 1, 2]);
        let none = SideInformation::none(5);
        for seed in 0..5 {
            let nnc = Nnc::new(3).seed(Seed(seed)).fit(x.view().into(), &none, &()).unwrap().output;
            let fpc = crate::Fpc::new(3).seed(Seed(seed)).cluster(x.view().into(), &none).unwrap();
            assert_eq!(nnc.partition, fpc.partition);
        }
    }

    #[test]
    fn surplus_classes_are_refused_and_surplus_sets_united() {
        let x = array![[0.0], [1.0], [10.0], [11.0], [5.0]];
        let side = SideInformation::from_labels(&[0, 1, 2, -1, -1]).unwrap();
        let error = Nnc::new(2).fit(x.view().into(), &side, &()).unwrap_err();
        assert_eq!(error.message(), "labels of 3 classes; at most 2 asked for");
        let mut pairs = Constraints::new(5).unwrap();
        pairs.add(0, 2, Link::Cannot).unwrap();
        pairs.add(1, 3, Link::Cannot).unwrap();
        let side = SideInformation::from_constraints(&pairs);
        let found = Nnc::new(2).fit(x.view().into(), &side, &()).unwrap();
        assert_eq!(found.output.partition.to_signed(), [0, 0, 1, 1, 0]);
        let notes = found.report.notes;
        let told = notes.iter().any(|n| n.starts_with("4 sets") && n.contains("4 of them"));
        assert!(told, "{notes:?}");
    }

    #[test]
    fn links_that_can_be_satisfied_are_not_broken() {
        let x = array![[0.0], [10.0], [20.0], [1.0]];
        let mut pairs = Constraints::new(4).unwrap();
        for i in 0..3 {
            pairs.add(i, i + 1, Link::Cannot).unwrap();
        }
        let side = SideInformation::from_constraints(&pairs);
        let found = Nnc::new(2).fit(x.view().into(), &side, &()).unwrap();
        assert_eq!(found.output.partition.to_signed(), [0, 1, 0, 1]);
        assert_eq!(found.report.notes.len(), 1, "{:?}", found.report.notes);
        let one = Nnc::new(1).fit(x.view().into(), &side, &()).unwrap().report;
        assert!(one.notes[1].ends_with("too few clusters to satisfy all"), "{:?}", one.notes);
    }

    #[test]
    fn links_that_keep_all_sets_apart_are_called_links() {
        let x = array![[0.0], [1.0], [10.0]];
        let mut pairs = Constraints::new(3).unwrap();
        pairs.add(0, 2, Link::Cannot).unwrap();
        let side = SideInformation::from_constraints(&pairs);
        let error = Nnc::new(1).fit(x.view().into(), &side, &()).unwrap_err();
        assert_eq!(error.message(), "links that keep 2 sets all apart; at most 1 asked for");
    }

    #[test]
    fn links_that_are_not_respected_are_counted_as_they_were_stated() {
        let x = array![[0.0], [0.1], [0.2], [1.0], [1.1], [9.0], [9.1]];
        let mut pairs = Constraints::new(7).unwrap();
        for (i, j) in [(0, 1), (1, 2), (3, 4), (5, 6)] {
            pairs.add(i, j, Link::Must).unwrap();
        }
        pairs.add(0, 3, Link::Cannot).unwrap();
        let side = SideInformation::from_constraints(&pairs);
        let report = Nnc::new(1).fit(x.view().into(), &side, &()).unwrap().report;
        // Six pairs follow from the one that was stated.
        assert!(report.notes[0].contains("3 sets"), "{report:?}");
        assert!(report.notes[1].starts_with("1 cannot-link is not respected"), "{report:?}");
    }
}
