use consilience_core::{
    Ensemble, Error, Fit, LabelInt, Observer, Partition, Report, Result, Status, with_labels,
};
use consilience_graph::{
    ClusterIncidence, IncidenceSpectrum, Microclusters, ensemble_driven_cluster_index,
};
use ndarray::{Array1, Array2, ArrayView2, s};
use rayon::prelude::*;

use super::ground::Products;

/// Steps of X'X that a spectrum may cost: beyond, the clusters are placed by a sample of the
/// objects.
const STEPS: usize = 2_000_000_000;
/// Fewest and most objects of that sample.
const SAMPLE: (usize, usize) = (4_096, 65_536);
/// Squared singular values below this are rounding: the ensemble has no such direction.
const RANK: f64 = 1e-10;
/// Objects that one task places.
pub(super) const CHUNK: usize = 4_096;
/// Of those asked for by number.
pub(super) const SOME: usize = 64;
/// Weights beyond these overflow or vanish when multiplied.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;
/// No place: the member has no weight, or the sample met no object of the cluster.
pub(super) const NOWHERE: u32 = u32::MAX;

/// How to make a [`ConsensusEmbedding`]: its width, the power of the singular values, weights of
/// members.
///
/// ```
/// use consilience_core::{Ensemble, Partition};
/// use consilience_simplex::Embedding;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1])?,
/// ])?;
/// let embedding = Embedding::new(30).fit(&ensemble, &())?.output;
/// // Two members of two clusters tell at most three kinds of objects apart.
/// assert_eq!(embedding.n_dimensions(), 3);
/// assert_eq!(embedding.place(&ensemble, 0)?, embedding.place(&ensemble, 1)?);
/// # Ok::<(), consilience_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    dimensions: usize,
    power: f64,
    weights: Vec<f64>,
    theta: Option<f64>,
}

impl Embedding {
    /// At most q dimensions (the first of a connected ensemble is constant), power 1, members of
    /// equal weight.
    pub fn new(dimensions: usize) -> Self {
        Embedding { dimensions, power: 1.0, weights: Vec::new(), theta: None }
    }

    /// p: the dimensions are `U sigma^p`. With 1, the default, objects lie at the mean of their
    /// clusters; 2 and more hold on to the coarse structure.
    pub fn power(mut self, power: f64) -> Self {
        self.power = power;
        self
    }

    /// One weight per member, 0 where it is left out; all 1 where none are given. A member of
    /// weight 2 counts as two equal members.
    pub fn member_weights(mut self, weights: &[f64]) -> Self {
        self.weights = weights.to_vec();
        self
    }

    /// Weighs clusters by their [`ensemble_driven_cluster_index`], as LWGP does; all alike where
    /// theta is not given. Objects then lie in the direction of the weighted mean of their
    /// clusters.
    pub fn theta(mut self, theta: f64) -> Self {
        self.theta = Some(theta);
        self
    }

    /// Refuses parameters out of range.
    pub(crate) fn check(&self) -> Result<()> {
        if self.dimensions == 0 {
            return Err(Error::invalid("an embedding of 0 dimensions; expected at least 1"));
        }
        if !(self.power > 0.0 && self.power <= 100.0) {
            return Err(Error::invalid(format!(
                "power {} of the singular values; expected above 0 and at most 100",
                self.power
            )));
        }
        if let Some((u, w)) =
            self.weights.iter().enumerate().find(|&(_, w)| *w != 0.0 && !WEIGHTS.contains(w))
        {
            return Err(Error::invalid(format!(
                "weight {w} of member {u}; expected 0, or 1e-100 to 1e100"
            )));
        }
        Ok(())
    }

    /// The embedding of an ensemble; a note says where the clusters were placed by a sample of the
    /// objects.
    ///
    /// # Complexity
    /// O(n M) for the microclusters, O(n~ M^2) for the spectrum, over at most 65,536 objects.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for no
    /// dimensions, a power outside (0, 100], a theta that is not positive and finite or weights out
    /// of range, [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless
    /// there is one per member, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where all
    /// weights are 0, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn fit(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<ConsensusEmbedding>> {
        self.check()?;
        let m = ensemble.n_members();
        let weights = if self.weights.is_empty() { vec![1.0; m] } else { self.weights.clone() };
        if weights.len() != m {
            return Err(Error::shape(format!("{} weights for {m} members", weights.len())));
        }
        let used: Vec<usize> = (0..m).filter(|&u| weights[u] > 0.0).collect();
        let counted = ensemble.select(&used)?;
        let mut report = Report::default();
        let (n, limit) =
            (ensemble.n_objects(), (STEPS / (used.len() * used.len())).clamp(SAMPLE.0, SAMPLE.1));
        let all = Microclusters::observed(&counted, observer)?;
        report.microclusters = Some(all.n_nodes());
        let (nodes, at): (Microclusters, Vec<u32>) = if all.n_nodes() <= limit {
            let at = first_objects(&all);
            (all, at)
        } else {
            let objects: Vec<usize> = (0..limit).map(|t| t * n / limit).collect();
            report.notes.push(format!("clusters are placed by {limit} of {n} objects"));
            let sample = Microclusters::of(&counted.select_objects(&objects)?)?;
            let at =
                first_objects(&sample).into_iter().map(|t| objects[t as usize] as u32).collect();
            (sample, at)
        };
        let mut first = vec![0];
        for member in ensemble.members() {
            first.push(first[first.len() - 1] + member.n_clusters());
        }
        let mut embedding = ConsensusEmbedding {
            n,
            weights,
            places: Array2::zeros((0, 0)),
            row_of: vec![NOWHERE; first[m]],
            first,
            values: Vec::new(),
            nodes: at,
            sizes: nodes.sizes().iter().map(|&s| f64::from(s)).collect(),
        };
        if nodes.n_nodes() == 0 {
            return Ok(Fit::new(embedding, report));
        }
        let converged = embedding.place_clusters(self, ensemble, &nodes, &used, observer)?;
        if !converged {
            report.status = Status::MaxIterations;
            report.notes.push("the eigenvectors of the clusters are less exact than wanted".into());
        }
        Ok(Fit::new(embedding, report))
    }
}

/// The first object of every microcluster.
fn first_objects(nodes: &Microclusters) -> Vec<u32> {
    let mut first = vec![u32::MAX; nodes.n_nodes()];
    for (i, &node) in nodes.grouping().of_object().iter().enumerate() {
        if let Some(at @ &mut u32::MAX) = first.get_mut(node as usize) {
            *at = i as u32;
        }
    }
    first
}

/// A place for every cluster of an ensemble, and through them for every object: the mean of the
/// places of its clusters.
///
/// Objects that share many clusters lie near each other. Where a weight per member only says whom
/// to believe, a metric on these places ([`MetricRule`](crate::MetricRule)) says which distinctions
/// matter. With `X = S^1/2 D_r^-1/2 B D_c^-1/2` and its singular triplets as in
/// [`IncidenceSpectrum`], cluster c lies at
///
/// ```text
/// y_c = (n W)^1/2 (w_c |c|)^-1/2 v_c sigma^(p-1)
/// ```
///
/// (W the sum of the weights), so that the places of the objects are `D_r^-1/2 S^-1/2 U sigma^p` up
/// to a constant. Only the places of the clusters are kept: new objects are placed by their labels
/// alone, in the same way. An object that no member labels has no place.
///
/// [`Embedding`] has the example.
///
/// # Complexity
/// 8 q bytes per cluster and 12 per microcluster, at most 65,536 of them. A place costs O(M q).
///
/// # References
/// Ours; the incidence is that of Li, Wu, Chang 2012, "Segmentation Using Superpixels", Section
/// 3.2. Placing an object at the mean of its clusters divides by the root of its number of labels
/// where they divide by the degree's root alone: on complete ensembles the two are the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsensusEmbedding {
    n: usize,
    weights: Vec<f64>,
    /// First cluster of each member, and their number.
    first: Vec<usize>,
    /// Row in `places` of each cluster.
    row_of: Vec<u32>,
    places: Array2<f64>,
    values: Vec<f64>,
    /// One object of each microcluster, or of the sample, and the number of objects behind it.
    nodes: Vec<u32>,
    sizes: Vec<f64>,
}

impl ConsensusEmbedding {
    fn place_clusters(
        &mut self,
        options: &Embedding,
        ensemble: &Ensemble,
        nodes: &Microclusters,
        used: &[usize],
        observer: &dyn Observer,
    ) -> Result<bool> {
        let incidence = ClusterIncidence::of(nodes);
        let member = incidence.member_of_cluster();
        let own = match options.theta {
            Some(theta) => ensemble_driven_cluster_index(&incidence, theta, observer)?,
            None => vec![1.0; member.len()],
        };
        // Entropies of many members may leave nothing of a cluster's weight.
        let weights: Vec<f64> =
            member.iter().zip(&own).map(|(&u, w)| self.weights[used[u]] * w.max(1e-100)).collect();
        let spectrum = IncidenceSpectrum::of(&incidence, &weights, options.dimensions, observer)?;
        let q = spectrum.values.iter().take_while(|v| **v > RANK).count();
        self.values = spectrum.values[..q].to_vec();
        self.places = spectrum.vectors.slice(s![.., ..q]).as_standard_layout().into_owned();
        let total: f64 = incidence.sizes().iter().sum::<f64>()
            * used.iter().map(|&u| self.weights[u]).sum::<f64>();
        for (((mut row, &w), &size), &own) in
            self.places.rows_mut().into_iter().zip(&weights).zip(incidence.objects()).zip(&own)
        {
            // The weight of a member comes in where its place is taken into a mean.
            let scale = (total / (w * size)).sqrt() * own;
            row.iter_mut()
                .zip(&self.values)
                .for_each(|(y, v)| *y *= scale * v.powf(0.5 * (options.power - 1.0)));
        }
        // The clusters of the nodes are numbered by the nodes; those of a sample need not be all.
        for (t, &object) in self.nodes.iter().enumerate() {
            for (v, &u) in used.iter().enumerate() {
                let (Some(ours), Some(theirs)) =
                    (ensemble.members()[u].label(object as usize), nodes.rows()[v].label(t))
                else {
                    continue;
                };
                self.row_of[self.first[u] + ours] =
                    (incidence.clusters_of_member(v).start + theirs) as u32;
            }
        }
        Ok(spectrum.converged)
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.n
    }

    /// Dimensions, q: at most as many as were asked for, and as the ensemble has.
    pub fn n_dimensions(&self) -> usize {
        self.places.ncols()
    }

    /// Squared singular values of the dimensions, descending from 1.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The weight of each member.
    pub fn member_weights(&self) -> &[f64] {
        &self.weights
    }

    /// One object of each microcluster, or each object of the sample where there are too many of
    /// them.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Number of objects that each of [`nodes`](ConsensusEmbedding::nodes) stands for.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Refuses another ensemble than the one that was placed.
    pub(super) fn check(&self, ensemble: &Ensemble) -> Result<()> {
        let equal = ensemble.n_members() + 1 == self.first.len()
            && ensemble
                .members()
                .iter()
                .zip(self.first.windows(2))
                .all(|(p, w)| p.n_clusters() == w[1] - w[0]);
        if !equal {
            return Err(Error::shape(format!(
                "an ensemble of {} members and {} clusters; {} members and {} clusters were placed",
                ensemble.n_members(),
                ensemble.n_clusters(),
                self.first.len() - 1,
                self.row_of.len()
            )));
        }
        Ok(())
    }

    /// The same places for an ensemble whose first members are those placed, of weight 0 after
    /// them.
    pub(super) fn beside(&self, ensemble: &Ensemble, members: usize) -> Result<Self> {
        let mut wide = self.clone();
        wide.weights.truncate(members);
        wide.first.truncate(members + 1);
        wide.row_of.truncate(wide.first[wide.first.len() - 1]);
        for member in ensemble.members().iter().skip(members) {
            wide.weights.push(0.0);
            wide.first.push(wide.first[wide.first.len() - 1] + member.n_clusters());
        }
        wide.row_of.resize(wide.first[wide.first.len() - 1], NOWHERE);
        wide.check(ensemble)?;
        Ok(wide)
    }

    /// The place of an object, `None` where no member labels it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for
    /// another ensemble.
    pub fn place(&self, ensemble: &Ensemble, object: usize) -> Result<Option<Array1<f64>>> {
        self.check(ensemble)?;
        if object >= ensemble.n_objects() {
            return Err(Error::out_of_range(format!(
                "object {object} of {}",
                ensemble.n_objects()
            )));
        }
        let mut place = vec![0.0; self.n_dimensions()];
        let lies = self.gather(ensemble, self.places.view(), [object].into_iter(), &mut place)[0];
        Ok(lies.then(|| place.into()))
    }

    /// The places of some objects in rows; 0 where there is none.
    pub(super) fn rows(&self, ensemble: &Ensemble, objects: &[u32]) -> Array2<f64> {
        let q = self.n_dimensions();
        let mut rows = vec![0.0; objects.len() * q];
        if q > 0 {
            rows.par_chunks_mut(SOME * q).zip(objects.par_chunks(SOME)).for_each(
                |(rows, objects)| {
                    self.gather(
                        ensemble,
                        self.places.view(),
                        objects.iter().map(|&i| i as usize),
                        rows,
                    );
                },
            );
        }
        Array2::from_shape_vec((objects.len(), q), rows).unwrap_or_default()
    }

    /// For each of some objects the weighted mean, over its clusters, of their rows of `table`, 0
    /// where there are none, and whether there are any.
    pub(super) fn gather(
        &self,
        ensemble: &Ensemble,
        table: ArrayView2<'_, f64>,
        objects: impl ExactSizeIterator<Item = usize> + Clone,
        out: &mut [f64],
    ) -> Vec<bool> {
        let mut total = vec![0.0; objects.len()];
        out.fill(0.0);
        self.add_up(ensemble, table, objects, out, &mut total);
        for (row, &total) in out.chunks_exact_mut(table.ncols().max(1)).zip(&total) {
            if total > 0.0 {
                row.iter_mut().for_each(|o| *o /= total);
            }
        }
        total.into_iter().map(|total| total > 0.0).collect()
    }

    /// Adds up the rows of `table` of the objects' clusters times the weights of their members, and
    /// these weights.
    fn add_up(
        &self,
        ensemble: &Ensemble,
        table: ArrayView2<'_, f64>,
        objects: impl Iterator<Item = usize> + Clone,
        sums: &mut [f64],
        total: &mut [f64],
    ) {
        for ((member, &w), &first) in ensemble.members().iter().zip(&self.weights).zip(&self.first)
        {
            if w > 0.0 {
                let rows = &self.row_of[first..first + member.n_clusters()];
                add_rows(member, objects.clone(), rows, w, table, sums, total);
            }
        }
    }

    /// The place of every cluster times `map`.
    pub(super) fn mapped(&self, map: ArrayView2<'_, f64>) -> Array2<f64> {
        self.places.dot(&map)
    }

    /// For every object the centre of largest product plus `offset`; ties to the lowest, `None`
    /// where no member labels it.
    pub(super) fn best_column(
        &self,
        ensemble: &Ensemble,
        products: &Products,
        offset: &[f64],
        observer: &dyn Observer,
    ) -> Result<Vec<Option<u32>>> {
        let (n, k) = (ensemble.n_objects(), offset.len());
        let mut labels = vec![None; n];
        labels.par_chunks_mut(CHUNK).enumerate().for_each(|(c, out)| {
            if observer.cancelled() {
                return;
            }
            let start = c * CHUNK;
            let mut score = vec![0.0; out.len() * k];
            let mut total = vec![0.0; out.len()];
            let objects = start..start + out.len();
            self.add_up(ensemble, products.table.view(), objects, &mut score, &mut total);
            let mut own = vec![0.0; k];
            for (t, (label, score)) in out.iter_mut().zip(score.chunks_exact(k)).enumerate() {
                own.copy_from_slice(offset);
                products.add_features(start + t, &mut own);
                *label = (total[t] > 0.0).then(|| best(score, total[t], &own));
            }
        });
        observer.check()?;
        Ok(labels)
    }
}

/// Adds a member's rows of the table to the sums of some objects.
fn add_rows(
    member: &Partition,
    objects: impl Iterator<Item = usize>,
    rows: &[u32],
    weight: f64,
    table: ArrayView2<'_, f64>,
    sums: &mut [f64],
    total: &mut [f64],
) {
    let q = table.ncols();
    let Some(flat) = table.to_slice() else { return };
    with_labels!(member.labels(), |labels| {
        for ((object, sums), total) in objects.zip(sums.chunks_exact_mut(q.max(1))).zip(total) {
            let l = labels[object];
            if l.is_missing() || rows[l.index()] == NOWHERE {
                continue;
            }
            let at = rows[l.index()] as usize * q;
            *total += weight;
            sums.iter_mut().zip(&flat[at..at + q]).for_each(|(s, t)| *s += weight * t);
        }
    });
}

/// The column of largest `score / total + offset`, ties to the lowest.
pub(super) fn best(score: &[f64], total: f64, offset: &[f64]) -> u32 {
    let mut best = (0, f64::NEG_INFINITY);
    for (h, (s, o)) in score.iter().zip(offset).enumerate() {
        let value = s / total + o;
        if value > best.1 {
            best = (h as u32, value);
        }
    }
    best.0
}
