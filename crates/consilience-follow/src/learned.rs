//! What takes coordinates to the space that k-means sees.

use consilience_completion::{CompletedMap, LossWeight, Mccc};
use consilience_core::{
    Constraints, Ensemble, Link, MemoryBudget, Observer, Pair, Result, SideInformation,
};
use consilience_num::logdet::LogDet;
use ndarray::Array2;

use crate::coordinates::Coordinates;
use crate::disputed::agrees;
use crate::map_learner::MapLearner;
use crate::metric_rule::MetricRule;
use crate::space_metric::SpaceMetric;

/// Relative duality gap of completion: the clusters do not change any more.
const TOLERANCE: f64 = 3e-3;
/// Iterations of completion at most.
const ITERATIONS: usize = 200;

/// What was learned from links: under which map, or metric, objects are near each other.
pub(crate) enum Learned<'a> {
    Metric(&'a LogDet),
    Completed(Array2<f64>),
}

impl Learned<'_> {
    /// q x r: coordinates times this are what k-means sees.
    pub(crate) fn map(&self) -> Result<Array2<f64>> {
        match self {
            Learned::Metric(metric) => metric.root(),
            Learned::Completed(map) => Ok(map.clone()),
        }
    }

    /// Squared length of a difference of coordinates.
    pub(crate) fn square(&self, difference: &[f64]) -> f64 {
        match self {
            Learned::Metric(metric) => metric.square(difference),
            Learned::Completed(map) => {
                let mapped = ndarray::ArrayView1::from(difference).dot(map);
                mapped.dot(&mapped)
            }
        }
    }
}

/// Completion in some coordinates, from links that may be left out fold by fold.
pub(crate) struct Completion<'a> {
    rule: &'a MetricRule,
    budget: MemoryBudget,
    /// Those of which both objects have coordinates, by their number among all links.
    links: Vec<(usize, Pair)>,
    /// Linked objects, ascending, and their coordinates.
    objects: Vec<u32>,
    rows: Array2<f64>,
    observer: &'a dyn Observer,
}

impl<'a> Completion<'a> {
    pub(crate) fn new(
        (rule, budget): (&'a MetricRule, MemoryBudget),
        coordinates: &Coordinates,
        ensemble: &Ensemble,
        links: &[Pair],
        observer: &'a dyn Observer,
    ) -> Self {
        let placed = |i: usize| ensemble.members().iter().any(|m| m.label(i).is_some());
        let known = |l: &(usize, Pair)| placed(l.1.i) && placed(l.1.j);
        let links: Vec<(usize, Pair)> = links.iter().copied().enumerate().filter(known).collect();
        let mut objects: Vec<u32> =
            links.iter().flat_map(|(_, l)| [l.i as u32, l.j as u32]).collect();
        objects.sort_unstable();
        objects.dedup();
        let rows = coordinates.rows(ensemble, &objects);
        Completion { rule, budget, links, objects, rows, observer }
    }

    /// The map that all links give, with the weight that held-out ones choose; the identity where
    /// they are too few to say anything.
    pub(crate) fn of_all(&self) -> Result<CompletedMap> {
        self.fit(None, LossWeight::HeldOut)
    }

    /// The map that the links outside a fold give, each of them weighing the more for those that
    /// are missing.
    pub(crate) fn without(&self, fold: usize, all: &CompletedMap) -> Result<CompletedMap> {
        let of_fold = |l: &&(usize, Pair)| self.rule.fold(l.0) == fold;
        let left = self.links.len() - self.links.iter().filter(of_fold).count();
        let Some(weight) = all.loss_weight.filter(|_| left > 0) else { return Ok(all.clone()) };
        let weight = weight * self.links.len() as f64 / left as f64;
        self.fit(Some(fold), LossWeight::Fixed(weight))
    }

    fn fit(&self, without: Option<usize>, weight: LossWeight) -> Result<CompletedMap> {
        let (m, k) = (self.objects.len(), self.rule.n_clusters());
        let mut links = Constraints::new(m.max(1))?;
        let mut kinds = [0; 2];
        let place = |i: usize| self.objects.partition_point(|&o| (o as usize) < i);
        for (number, pair) in &self.links {
            if without != Some(self.rule.fold(*number)) {
                let agreed =
                    agrees(&mut links, Pair::new(place(pair.i), place(pair.j), pair.link))?;
                kinds[usize::from(pair.link == Link::Must)] += usize::from(agreed);
            }
        }
        if kinds.contains(&0) || m < k {
            let map = Array2::eye(self.rows.ncols());
            return Ok(CompletedMap::unlearned(map));
        }
        let found = Mccc::new(k)
            .seed(self.rule.seed)
            .memory_budget(self.budget)
            .loss_weight(weight)
            .tolerance(TOLERANCE)
            .max_iterations(ITERATIONS)
            .complete_map(
                self.rows.view(),
                &SideInformation::from_constraints(&links),
                self.observer,
            )?;
        Ok(found.output)
    }
}

impl SpaceMetric {
    /// What completion learns from all links; `None` where the rule learns a metric.
    pub(crate) fn completed(
        &self,
        with: (&MetricRule, MemoryBudget),
        ensemble: &Ensemble,
        links: &[Pair],
        observer: &dyn Observer,
    ) -> Result<Option<CompletedMap>> {
        match with.0.learner {
            MapLearner::LogDet => Ok(None),
            MapLearner::Completion => {
                let own = Completion::new(with, &self.coordinates, ensemble, links, observer);
                own.of_all().map(Some)
            }
        }
    }
}
