use consilience_core::{
    Accepts, Ensemble, Error, Fit, LabelInt, Observer, Partition, Report, Result, Status, ensure,
    with_labels,
};
use consilience_graph::{
    ClusterIncidence, IncidenceSpectrum, Microclusters, ensemble_driven_cluster_index,
};
use consilience_num::reduce::each_chunk;
use ndarray::{Array1, Array2, ArrayView2, s};

use crate::embedding::Embedding;

/// Steps of X'X that a spectrum may cost. Beyond, the positions of the clusters are found on a
/// sample of the objects.
const STEPS: usize = 2_000_000_000;
/// Fewest and most objects of that sample.
const SAMPLE: (usize, usize) = (4_096, 65_536);
/// Squared singular values below this are rounding: the ensemble has no such direction.
const RANK: f64 = 1e-10;
/// Objects that one task embeds, of those asked for by number.
pub(crate) const OBJECTS_PER_TASK: usize = 64;
/// Bytes of each microcluster in a cluster, both ways round.
const ENTRY: usize = 12;
/// A cluster without a position: its member has no weight, or the sample has no object of it.
const NO_POSITION: u32 = u32::MAX;

/// Takes over how an embedding was found, and says nothing twice.
pub(crate) fn tell(report: &mut Report, mut found: Report) {
    found.notes.retain(|note| !report.notes.contains(note));
    report.adopt(found);
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

/// A position for every cluster of an ensemble, and through them for every object: the mean of the
/// positions of its clusters.
///
/// Objects that share many clusters lie near each other. A metric on these positions
/// ([`MetricRule`](crate::MetricRule)) can learn which distinctions between clusters matter, where
/// a weight per member only says which members count. With `X = S^1/2 D_r^-1/2 B D_c^-1/2` and its
/// singular triplets as in [`IncidenceSpectrum`], cluster c lies at
///
/// ```text
/// y_c = (n W)^1/2 (w_c |c|)^-1/2 v_c sigma^(p-1)
/// ```
///
/// (W the sum of the weights), so that the positions of the objects are `D_r^-1/2 S^-1/2 U sigma^p`
/// up to a constant. Only the positions of the clusters are kept: new objects get theirs from their
/// labels alone, in the same way. An object that no member labels has no position.
///
/// [`Embedding`] has the example.
///
/// # Complexity
/// 8 q bytes per cluster and 12 per microcluster, at most 65,536 of them. A position costs O(M q).
///
/// # References
/// Ours; the incidence is that of Li, Wu, Chang 2012, "Segmentation Using Superpixels", Section
/// 3.2. The mean of the clusters divides by the root of its number of labels
/// where they divide by the degree's root alone: on complete ensembles the two are the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsensusEmbedding {
    n: usize,
    weights: Vec<f64>,
    /// First cluster of each member, and their number.
    first: Vec<usize>,
    /// Row in `positions` of each cluster.
    row_of: Vec<u32>,
    positions: Array2<f64>,
    values: Vec<f64>,
    /// One object of each microcluster, or of the sample, and the number of objects behind it.
    nodes: Vec<u32>,
    sizes: Vec<f64>,
}

impl Embedding {
    /// The embedding of an ensemble; a note says where positions were found on a sample of the
    /// objects.
    ///
    /// # Complexity
    /// O(n M) for the microclusters, O(n~ M^2) for the spectrum, over at most 65,536 objects.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for no
    /// dimensions, a power outside (0, 100], a entropy scale that is not positive and finite or
    /// weights out of range,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one
    /// per member, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where all weights are
    /// 0, [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn fit(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<ConsensusEmbedding>> {
        self.check()?;
        ensemble.check_accepted("the embedding", Accepts::LABELS)?;
        let m = ensemble.n_members();
        let weights = if self.weights.is_empty() { vec![1.0; m] } else { self.weights.clone() };
        ensure!(weights.len() == m, shape("{} weights for {m} members", weights.len()));
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
            report.notes.push(format!("positions of clusters are found on {limit} of {n} objects"));
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
            positions: Array2::zeros((0, 0)),
            row_of: vec![NO_POSITION; first[m]],
            first,
            values: Vec::new(),
            nodes: at,
            sizes: nodes.grouping().weights(),
        };
        if nodes.n_nodes() == 0 {
            return Ok(Fit::new(embedding, report));
        }
        let converged = embedding.find_positions(self, ensemble, &nodes, &used, observer)?;
        if !converged {
            report.status = Status::MaxIterations;
            report.notes.push("the eigenvectors of the clusters are less exact than wanted".into());
        }
        Ok(Fit::new(embedding, report))
    }
}

impl ConsensusEmbedding {
    fn find_positions(
        &mut self,
        options: &Embedding,
        ensemble: &Ensemble,
        nodes: &Microclusters,
        used: &[usize],
        observer: &dyn Observer,
    ) -> Result<bool> {
        let budget = options.budget;
        let entries = nodes.n_nodes().saturating_mul(used.len());
        budget.check_table("clusters of the microclusters", entries, 1, ENTRY)?;
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let member = incidence.member_of_cluster();
        let own = match options.entropy_scale {
            Some(scale) => {
                incidence.check_overlaps(budget)?;
                ensemble_driven_cluster_index(&incidence, scale, observer)?
            }
            None => vec![1.0; member.len()],
        };
        // Entropies of many members may leave nothing of a cluster's weight.
        let weights: Vec<f64> = member
            .iter()
            .zip(&own)
            .map(|(&u, w)| (self.weights[used[u]] * w).max(1e-100))
            .collect();
        let count = options.dimensions;
        let spectrum = IncidenceSpectrum::within(&incidence, &weights, count, budget, observer)?;
        let q = spectrum.values.iter().take_while(|v| **v > RANK).count();
        self.values = spectrum.values[..q].to_vec();
        self.positions = spectrum.vectors.slice(s![.., ..q]).as_standard_layout().into_owned();
        let total: f64 = incidence.sizes().iter().sum::<f64>()
            * used.iter().map(|&u| self.weights[u]).sum::<f64>();
        for (((mut row, &w), &size), &own) in
            self.positions.rows_mut().into_iter().zip(&weights).zip(incidence.objects()).zip(&own)
        {
            // The weight of a member comes in where means are taken.
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
        self.positions.ncols()
    }

    /// Squared singular values of the dimensions, descending from 1.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The weight of each member.
    pub fn weights(&self) -> &[f64] {
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

    /// Refuses another ensemble than the one that was embedded.
    pub(crate) fn check(&self, ensemble: &Ensemble) -> Result<()> {
        let equal = ensemble.n_members() + 1 == self.first.len()
            && ensemble
                .members()
                .iter()
                .zip(self.first.windows(2))
                .all(|(p, w)| p.n_clusters() == w[1] - w[0]);
        if !equal {
            return Err(Error::shape(format!(
                "an ensemble of {} members and {} clusters; {} members and {} clusters were \
                 embedded",
                ensemble.n_members(),
                ensemble.n_clusters(),
                self.first.len() - 1,
                self.row_of.len()
            )));
        }
        Ok(())
    }

    /// The same positions for an ensemble with members behind those embedded, which get weight 0.
    pub(crate) fn with_members(&self, ensemble: &Ensemble, members: usize) -> Result<Self> {
        let mut wide = self.clone();
        wide.weights.truncate(members);
        wide.first.truncate(members + 1);
        wide.row_of.truncate(wide.first[wide.first.len() - 1]);
        for member in ensemble.members().iter().skip(members) {
            wide.weights.push(0.0);
            wide.first.push(wide.first[wide.first.len() - 1] + member.n_clusters());
        }
        wide.row_of.resize(wide.first[wide.first.len() - 1], NO_POSITION);
        wide.check(ensemble)?;
        Ok(wide)
    }

    /// The position of an object, `None` where no member labels it.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for an object that does
    /// not exist, [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for
    /// another ensemble.
    #[doc(alias = "place")]
    pub fn position(&self, ensemble: &Ensemble, object: usize) -> Result<Option<Array1<f64>>> {
        self.check(ensemble)?;
        ensure!(
            object < ensemble.n_objects(),
            out_of_range("object {object} of {}", ensemble.n_objects())
        );
        let mut position = vec![0.0; self.n_dimensions()];
        let known =
            self.gather(ensemble, self.positions.view(), [object].into_iter(), &mut position)[0];
        Ok(known.then(|| position.into()))
    }

    /// The positions of some objects in rows; 0 where there is none.
    pub(crate) fn rows(&self, ensemble: &Ensemble, objects: &[u32]) -> Array2<f64> {
        let q = self.n_dimensions();
        let mut rows = vec![0.0; objects.len() * q];
        each_chunk(&mut rows, OBJECTS_PER_TASK * q.max(1), &|c, rows| {
            let some = objects[c * OBJECTS_PER_TASK..].iter().take(OBJECTS_PER_TASK);
            self.gather(ensemble, self.positions.view(), some.map(|&i| i as usize), rows);
        });
        Array2::from_shape_vec((objects.len(), q), rows).unwrap_or_default()
    }

    /// For each of some objects the weighted mean, over its clusters, of their rows of `table`, 0
    /// where there are none, and whether there are any.
    pub(crate) fn gather(
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
    pub(crate) fn add_up(
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

    /// The position of every cluster times `map`.
    pub(crate) fn mapped(&self, map: ArrayView2<'_, f64>) -> Array2<f64> {
        self.positions.dot(&map)
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
            if l.is_missing() || rows[l.index()] == NO_POSITION {
                continue;
            }
            let at = rows[l.index()] as usize * q;
            *total += weight;
            sums.iter_mut().zip(&flat[at..at + q]).for_each(|(s, t)| *s += weight * t);
        }
    });
}
