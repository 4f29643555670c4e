use std::sync::Arc;

use consilience_core::{
    Constraints, Ensemble, Error, Link, Observer, Pair, Partition, Result, Seed,
};
use consilience_num::kmeans::{self, KMeansOptions};
use consilience_num::reduce::map_each;
use ndarray::{Array2, ArrayView2, ArrayViewMut1, Axis};

use crate::consensus_embedding::{ConsensusEmbedding, OBJECTS_PER_TASK};
use crate::coordinates::{Coordinates, variance};
use crate::cross_validation::{CrossValidation, ReadOutMethod};
use crate::link_evidence::{HeldOutLink, ScoredLinks};
use crate::linked_objects::{LinkedObjects, Placed, linked};
use crate::products::{Products, best};

/// Microclusters that centres are found on for a fold, at most.
const FOLD_NODES: usize = 4_096;

/// A clustering by centres on the embedding: it labels all objects, or a few in O(M k) each.
///
/// [`ConsensusMetric::read_out`](crate::ConsensusMetric::read_out) makes it and has the example.
///
/// The centre h under a metric `M = L L'` takes an object at x where `x' L c_h - |c_h|^2 / 2` is
/// largest; x is the mean of the positions of its clusters, so that one number per cluster and
/// centre is enough.
#[derive(Clone, Debug)]
pub struct MetricReadOut {
    pub(crate) coordinates: Coordinates,
    products: Products,
    offset: Vec<f64>,
    /// Total variance of the objects under the metric.
    pub(crate) spread: f64,
    /// Linked objects, ascending, with their centre.
    assigned: Vec<(u32, u32)>,
    /// Links that were set aside.
    set_aside: Vec<Pair>,
    pub(crate) cross_validation: CrossValidation,
}

/// How k-means is run.
pub(crate) struct Cut<'a> {
    pub(crate) clusters: usize,
    pub(crate) restarts: usize,
    pub(crate) seed: Seed,
    /// Whether a sample of the microclusters is enough.
    pub(crate) quick: bool,
    pub(crate) observer: &'a dyn Observer,
}

impl Cut<'_> {
    /// The microclusters that centres are sought over, and their sizes.
    fn some(&self, embedding: &ConsensusEmbedding) -> (Vec<u32>, Vec<f64>) {
        let (nodes, sizes) = (embedding.nodes(), embedding.sizes());
        let n = nodes.len();
        if !self.quick || n <= FOLD_NODES {
            return (nodes.to_vec(), sizes.to_vec());
        }
        let at = |t: usize| t * n / FOLD_NODES;
        (
            (0..FOLD_NODES).map(|t| nodes[at(t)]).collect(),
            (0..FOLD_NODES).map(|t| sizes[at(t)]).collect(),
        )
    }

    fn centres(&self, rows: &Array2<f64>, sizes: &[f64], purpose: &str) -> Result<Array2<f64>> {
        if rows.is_empty() {
            // No member labels any object.
            return Ok(Array2::zeros((0, rows.ncols())));
        }
        let options = KMeansOptions::new(self.clusters)
            .restarts(self.restarts)
            .seed(self.seed.derive(purpose, 0));
        Ok(kmeans::fit(rows.view(), Some(sizes), &options, self.observer)?.centres)
    }
}

/// Scales a row to length 1; none stays none.
fn to_unit(mut row: ArrayViewMut1<'_, f64>) {
    let length = row.dot(&row).sqrt();
    if length > 0.0 {
        row /= length;
    }
}

/// The weighted mean of the rows of each of k labels, without those that no row has.
fn means(
    rows: &Array2<f64>,
    sizes: &[f64],
    labels: &[Option<usize>],
    clusters: usize,
) -> Array2<f64> {
    let mut sums = Array2::<f64>::zeros((clusters, rows.ncols()));
    let mut total = vec![0.0; clusters];
    for ((row, &size), label) in rows.rows().into_iter().zip(sizes).zip(labels) {
        if let Some(h) = *label {
            sums.row_mut(h).scaled_add(size, &row);
            total[h] += size;
        }
    }
    let used: Vec<usize> = (0..clusters).filter(|&h| total[h] > 0.0).collect();
    used.iter().for_each(|&h| sums.row_mut(h).mapv_inplace(|sum| sum / total[h]));
    sums.select(Axis(0), &used)
}

impl MetricReadOut {
    /// k-means on the directions of the positions, without a metric.
    pub(crate) fn of_directions(
        embedding: &Arc<ConsensusEmbedding>,
        ensemble: &Ensemble,
        cut: &Cut<'_>,
    ) -> Result<Self> {
        cut.observer.check()?;
        let (nodes, sizes) = cut.some(embedding);
        let positions = embedding.rows(ensemble, &nodes);
        let mut rows = positions.clone();
        rows.rows_mut().into_iter().for_each(to_unit);
        let mut centres = cut.centres(&rows, &sizes, "plain")?;
        centres.rows_mut().into_iter().for_each(to_unit);
        // All centres being as long as each other, the largest product with a position is that with
        // its direction.
        let offset = vec![0.0; centres.nrows()];
        let spread = variance(&positions, &sizes);
        let coordinates = Coordinates::new(Arc::clone(embedding));
        Ok(Self::at(
            &coordinates,
            Array2::eye(embedding.n_dimensions()).view(),
            &centres,
            offset,
            spread,
        ))
    }

    /// k-means on coordinates times `map`, from spread starts and from the clusters of `plain`: of
    /// the two ends the one that agrees better with `links`, ties to the former. Spread starts
    /// compared by their inertia alone would give a centre to a handful of odd objects wherever
    /// these are farther from the others than two clusters from each other.
    pub(crate) fn of(
        coordinates: &Coordinates,
        ensemble: &Ensemble,
        map: ArrayView2<'_, f64>,
        (plain, links): (&MetricReadOut, &[Pair]),
        cut: &Cut<'_>,
    ) -> Result<Self> {
        cut.observer.check()?;
        let (nodes, sizes) = cut.some(&coordinates.embedding);
        let rows = coordinates.rows(ensemble, &nodes).dot(&map);
        let spread = variance(&rows, &sizes);
        let read = |centres: &Array2<f64>| {
            let offset = centres.rows().into_iter().map(|c| -0.5 * c.dot(&c)).collect();
            Self::at(coordinates, map, centres, offset, spread)
        };
        let spread_out = read(&cut.centres(&rows, &sizes, "metric")?);
        if links.is_empty() || rows.is_empty() {
            return Ok(spread_out);
        }
        let nodes: Vec<usize> = nodes.iter().map(|&i| i as usize).collect();
        let starts = means(&rows, &sizes, &plain.labels_of(ensemble, &nodes), plain.n_clusters());
        if starts.nrows() == 0 || starts.nrows() < spread_out.n_clusters() {
            return Ok(spread_out);
        }
        let options = KMeansOptions::new(starts.nrows());
        let starts = starts.view();
        let near = kmeans::from_centres(rows.view(), Some(&sizes), starts, &options, cut.observer)?;
        let near = read(&near.centres);
        let better = near.phi(ensemble, links) > spread_out.phi(ensemble, links);
        Ok(if better { near } else { spread_out })
    }

    fn at(
        coordinates: &Coordinates,
        map: ArrayView2<'_, f64>,
        centres: &Array2<f64>,
        offset: Vec<f64>,
        spread: f64,
    ) -> Self {
        MetricReadOut {
            products: coordinates.products(map, centres),
            coordinates: coordinates.clone(),
            offset,
            spread,
            assigned: Vec::new(),
            set_aside: Vec::new(),
            cross_validation: CrossValidation::default(),
        }
    }

    /// The products of some objects with every centre, without the offsets, in rows; `None` for
    /// objects that no member labels.
    fn scores(&self, ensemble: &Ensemble, objects: &[usize]) -> Vec<Option<Vec<f64>>> {
        self.products.scores(&self.coordinates.embedding, ensemble, objects, self.offset.len())
    }

    /// The objects that links are about, with what each centre costs them.
    fn linked_objects(&self, ensemble: &Ensemble, links: &[Pair]) -> LinkedObjects {
        let objects = linked(links);
        let cost = |score: Vec<f64>| -> Vec<f64> {
            score.iter().zip(&self.offset).map(|(s, o)| -2.0 * (s + o)).collect()
        };
        let costs = self.scores(ensemble, &objects).into_iter().map(|score| score.map(cost));
        let costs = objects.into_iter().zip(costs).collect();
        LinkedObjects::new(self.offset.len(), costs, self.spread)
    }

    /// Gives every set of must-linked objects one centre, the best for all of them together.
    pub(crate) fn hold(&mut self, ensemble: &Ensemble, constraints: &Constraints) {
        let links: Vec<Pair> = constraints.iter().collect();
        if !self.offset.is_empty() {
            self.place(ensemble, self.linked_objects(ensemble, &links).held(constraints));
        }
    }

    /// Sets links aside where those that are held out are more often kept then; `constraints` are
    /// those of the links that do not contradict others before them.
    pub(crate) fn weigh(
        &mut self,
        ensemble: &Ensemble,
        constraints: &Constraints,
        links: &[Pair],
        (folds, observer): (usize, &dyn Observer),
    ) -> Result<()> {
        if self.offset.is_empty() || links.is_empty() {
            return Ok(());
        }
        let objects = self.linked_objects(ensemble, links);
        let placed = objects.better_weighed(constraints, links, folds, observer)?;
        if let Some(placed) = placed {
            self.place(ensemble, placed);
            let broken = self.seen(ensemble, links).into_iter();
            let broken = broken.filter(|s| s.same != (s.kind == Link::Must));
            self.set_aside = broken.map(|s| links[s.link]).collect();
        }
        Ok(())
    }

    /// Keeps the centres of linked objects that some member labels.
    fn place(&mut self, ensemble: &Ensemble, placed: Placed) {
        let labelled = |i: usize| ensemble.members().iter().any(|m| m.label(i).is_some());
        let placed = placed.into_iter().filter(|&(i, _)| labelled(i));
        self.assigned = placed.map(|(i, h)| (i as u32, h as u32)).collect();
    }

    /// The links that were set aside because members, features and the other links contradict them,
    /// in the order that they came; none where links hold
    /// ([`LinkTrust`](crate::LinkTrust)).
    pub fn links_set_aside(&self) -> &[Pair] {
        &self.set_aside
    }

    /// Number of centres: k, or fewer where the ensemble distinguishes fewer objects.
    pub fn n_clusters(&self) -> usize {
        self.offset.len()
    }

    /// Which clustering this is: the plain consensus, or one under a learned metric.
    #[doc(alias = "reading")]
    pub fn method(&self) -> ReadOutMethod {
        self.cross_validation.chosen
    }

    /// The cross-validation that it was chosen by.
    #[doc(alias = "judgement")]
    pub fn cross_validation(&self) -> &CrossValidation {
        &self.cross_validation
    }

    /// All objects; those that no member labels are unlabelled.
    ///
    /// # Complexity
    /// O(n M k), in parallel, with the same bits at any number of threads.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another
    /// ensemble, which it is with other objects too where features lie beside the positions;
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn partition(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Partition> {
        self.coordinates.check(ensemble)?;
        if self.offset.is_empty() {
            return Partition::from_fn(ensemble.n_objects(), |_| None);
        }
        let embedding = &self.coordinates.embedding;
        let mut labels = self.products.best_centres(embedding, ensemble, &self.offset, observer)?;
        for &(i, h) in &self.assigned {
            if let Some(label) = labels.get_mut(i as usize) {
                *label = Some(h);
            }
        }
        Partition::from_fn(labels.len(), |i| labels[i].map(u64::from))
    }

    /// The centres of a few objects, `None` where no member labels them: equal numbers are equal
    /// clusters of this read-out. The numbers of [`partition`](MetricReadOut::partition) are by
    /// first object, these by centre.
    ///
    /// # Complexity
    /// O(M k) per object.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) as
    /// [`partition`](MetricReadOut::partition).
    pub fn labels(&self, ensemble: &Ensemble, objects: &[usize]) -> Result<Vec<Option<usize>>> {
        self.coordinates.check(ensemble)?;
        if let Some(i) = objects.iter().find(|&&i| i >= ensemble.n_objects()) {
            return Err(Error::out_of_range(format!("object {i} of {}", ensemble.n_objects())));
        }
        Ok(self.labels_of(ensemble, objects))
    }

    /// The centres of objects that exist, in parallel.
    fn labels_of(&self, ensemble: &Ensemble, objects: &[usize]) -> Vec<Option<usize>> {
        let chunks: Vec<&[usize]> = objects.chunks(OBJECTS_PER_TASK).collect();
        map_each(chunks.len(), &|c| self.labels_known(ensemble, chunks[c])).concat()
    }

    /// Links of which both objects have a centre, with whether it is the same.
    fn seen(&self, ensemble: &Ensemble, links: &[Pair]) -> Vec<HeldOutLink> {
        let ends: Vec<usize> = links.iter().flat_map(|l| [l.i, l.j]).collect();
        let labels = self.labels_of(ensemble, &ends);
        let one = |(link, ends): (usize, &[Option<usize>])| {
            let same = ends[0]? == ends[1]?;
            Some(HeldOutLink { link, same, square: 0.0, kind: links[link].link })
        };
        labels.chunks_exact(2).enumerate().filter_map(one).collect()
    }

    /// Correlation of "same centre" and "must-link".
    fn phi(&self, ensemble: &Ensemble, links: &[Pair]) -> f64 {
        ScoredLinks::of(&self.seen(ensemble, links), links.len()).evidence.phi
    }

    /// Links that do not hold.
    pub(crate) fn broken(&self, ensemble: &Ensemble, links: &[Pair]) -> usize {
        let seen = self.seen(ensemble, links);
        seen.iter().filter(|s| s.same != (s.kind == Link::Must)).count()
    }

    /// The centres of objects that exist.
    fn labels_known(&self, ensemble: &Ensemble, objects: &[usize]) -> Vec<Option<usize>> {
        let scores = self.scores(ensemble, objects);
        let label = |(&object, score): (&usize, Option<Vec<f64>>)| {
            if let Ok(at) = self.assigned.binary_search_by_key(&(object as u32), |p| p.0) {
                return Some(self.assigned[at].1 as usize);
            }
            score
                .filter(|score| !score.is_empty())
                .map(|score| best(&score, 1.0, &self.offset) as usize)
        };
        objects.iter().zip(scores).map(label).collect()
    }

    /// The centre of an object that exists.
    pub(crate) fn label(&self, ensemble: &Ensemble, object: usize) -> Option<usize> {
        self.labels_known(ensemble, &[object])[0]
    }
}
