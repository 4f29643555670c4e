use std::sync::Mutex;

use consilience_core::{
    Accepts, Clusters, Ensemble, Error, Fit, MemoryBudget, Microclusters, NodeConsensus, Observer,
    OnlyCancels, Partition, Report, Result, Seed, Status, Stream, check_restarts, ensure, room,
};
use consilience_graph::{
    ClusterIncidence, Components, IncidenceSpectrum, SpectralCount, check_entropy_scale,
    ensemble_driven_cluster_index, numbered, unit_rows,
};
use consilience_num::kmeans::{self, KMeansFit, KMeansOptions};
use consilience_num::reduce::try_map_each;
use ndarray::{Array2, ArrayView2, Axis, s};

/// Longer walks than this leave nothing but connected components.
const LONGEST: usize = 1000;
/// Wider embeddings than this, in multiples of k, are refused as a mistake.
const WIDEST: usize = 1000;
/// Up to so many rows, k-means leaves threads idle, so that its starts run side by side.
const FEW: usize = 8192;
/// So many starts at a time.
const ABREAST: usize = 16;

/// Entropy-weighted diffusion consensus: objects walk to their clusters and back, preferring
/// reliable clusters; those that reach the same objects after some steps belong together.
///
/// Linear in the ensemble, and on ensembles of k-means members the best single method we measured
/// on average (`docs/choosing.md`). Where the classes are of very unequal size
/// `Lwea` keeps the small ones better; `Recommended` compares the two, and a consensus
/// of both. Fewer than k clusters come out where the walk distinguishes fewer microclusters; the
/// report says so.
///
/// With B the incidence of microclusters and clusters, its columns weighted by `exp(-H_c / scale)`
/// ([`ensemble_driven_cluster_index`]), and `X = S^1/2 D_r^-1/2 B D_c^-1/2` as in
/// [`IncidenceSpectrum`], the rows of `S^-1/2 U sigma^t` for the first `q k` singular triplets are
/// scaled to norm 1 and clustered by k-means, each weighing its objects.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::walk::Diffusion;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = Diffusion::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, then as [`IncidenceSpectrum`] for q k pairs and O(n~ q k^2) per
/// iteration of k-means; no memory of order n^2.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n` or a criterion that is not about eigenvalues, an entropy scale that is not positive and
/// finite, a walk or width outside `1..=1000`, or no restarts;
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// Ours. The weights are those of Huang, Wang, Lai 2018 (LWGP), which is nearly this with q = 1 and
/// t = 1; powers of singular values as diffusion distances: Coifman, Lafon 2006, "Diffusion maps".
#[doc(alias = "diffusion maps")]
#[derive(Clone, Copy, Debug)]
pub struct Diffusion {
    clusters: Clusters,
    entropy_scale: f64,
    steps: usize,
    width: usize,
    restarts: usize,
    seed: Seed,
    budget: MemoryBudget,
}

/// Where the microclusters are: unit rows, the eigenvectors of the clusters that they follow from,
/// the components of the graph, and into how many clusters it is to be cut.
struct Places {
    rows: Array2<f64>,
    vectors: Array2<f64>,
    parts: Components,
    clusters: usize,
}

impl Diffusion {
    /// Diffusion consensus. Where the number of clusters is not given, the widest gap between the
    /// singular values of the incidence, without weights, chooses it.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Diffusion {
            clusters: clusters.into(),
            entropy_scale: 0.3,
            steps: 12,
            width: 2,
            restarts: 10,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// How fast the weight of a cluster falls with its entropy: slower where this is larger.
        /// Default 0.3; above 0 (0.2 to 0.4 are good).
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = scale }

        /// t, the power of the singular values. Default 12; 1 to 1000 (8 to 16 are good).
        #[doc(alias = "t")]
        pub fn steps(mut self, steps: usize) { self.steps = steps }

        /// q: the embedding has q k dimensions. Default 2; 1 to 1000.
        pub fn width(mut self, width: usize) { self.width = width }

        /// k-means starts on the embedding, of which the one of least inertia is kept. Default 10;
        /// 1 to 10,000.
        pub fn restarts(mut self, restarts: usize) { self.restarts = restarts }

        /// Seed of the k-means starts. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the matrices of all clusters of the members, the vectors of these and
        /// those of the microclusters may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Refuses parameters out of range.
    fn check_parameters(&self) -> Result<()> {
        for (what, value, most) in
            [("steps", self.steps, LONGEST), ("times k dimensions", self.width, WIDEST)]
        {
            ensure!((1..=most).contains(&value), invalid("{value} {what}; expected 1..={most}"));
        }
        check_restarts(self.restarts)?;
        SpectralCount::check(self.clusters)?;
        check_entropy_scale(self.entropy_scale)
    }

    /// The places of the microclusters: unit rows, q k columns at most. Objects of one microcluster
    /// share their place.
    ///
    /// # Errors
    /// As [`Diffusion`]; [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object
    /// is labelled.
    pub fn embedding(&self, nodes: &Microclusters) -> Result<Array2<f64>> {
        self.embedding_observed(nodes, &())
    }

    /// As [`Diffusion::embedding`], with cancellation.
    ///
    /// # Errors
    /// As [`Diffusion::embedding`];
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn embedding_observed(
        &self,
        nodes: &Microclusters,
        observer: &dyn Observer,
    ) -> Result<Array2<f64>> {
        self.check_parameters()?;
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        Ok(self.places(&incidence, &mut Report::default(), observer)?.rows)
    }

    /// The clusters of the places, of each component by itself.
    fn cut(
        &self,
        places: Places,
        sizes: &[f64],
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let Places { rows, vectors, parts, clusters } = places;
        let found = match parts.joined(clusters) {
            Some(joined) => joined,
            None => parts.cut(clusters, vectors.view(), rows, sizes, |rows, sizes, k| {
                self.best_of(rows.view(), sizes, k, observer)
            })?,
        };
        report.adopt(found.report);
        Ok(found.output)
    }

    /// The best of several k-means clusterings.
    fn best_of(
        &self,
        rows: ArrayView2<'_, f64>,
        sizes: &[f64],
        k: usize,
        observer: &dyn Observer,
    ) -> Result<Fit<Vec<usize>>> {
        let options = KMeansOptions::new(k);
        let columns = room::collected(rows.t().iter().copied())?;
        let done = Mutex::new(0);
        let start = |restart: usize| {
            let mut stream = self.seed.derive("diffusion", restart as u64).stream();
            let centres = rows.select(Axis(0), &spread(&columns, sizes, k, &mut stream, observer)?);
            let inner = OnlyCancels(observer);
            let fit = kmeans::from_centres(rows, Some(sizes), centres.view(), &options, &inner)?;
            if let Ok(mut done) = done.lock() {
                *done += 1;
                observer.progress("k-means", *done, self.restarts);
            }
            Ok(fit)
        };
        let together = if rows.nrows() <= FEW { ABREAST } else { 1 };
        let mut best: Option<KMeansFit<f64>> = None;
        for first in (0..self.restarts).step_by(together) {
            let last = self.restarts.min(first + together);
            for fit in try_map_each(last - first, &|at| start(first + at))? {
                if best.as_ref().is_none_or(|b| fit.inertia < b.inertia) {
                    best = Some(fit);
                }
            }
        }
        numbered(best.ok_or_else(|| Error::invalid("0 restarts; expected at least 1"))?)
    }

    /// The number of clusters of so many microclusters.
    fn n_clusters(&self, incidence: &ClusterIncidence, observer: &dyn Observer) -> Result<usize> {
        let count = SpectralCount::new(self.clusters, incidence.n_rows())?.of_members(incidence);
        if self.clusters.fixed().is_some() {
            return Ok(count.clusters(&[]));
        }
        // Without weights: a member's cluster of one or two objects is never split, so that its
        // weight is large and it would count as a cluster of its own.
        let even = incidence.cluster_weights();
        let pairs = count.eigenpairs();
        let plain = IncidenceSpectrum::within(incidence, &even, pairs, self.budget, observer)?;
        Ok(count.clusters(&plain.values))
    }

    fn places(
        &self,
        incidence: &ClusterIncidence,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Places> {
        let clusters = self.n_clusters(incidence, observer)?;
        let dimensions = clusters.saturating_mul(self.width);
        incidence.check_overlaps(self.budget)?;
        // Once whole and, where there are several, twice component by component.
        let parts = Components::of_incidence(incidence, observer)?;
        let wide = dimensions.min(incidence.n_clusters());
        let bytes = if parts.n_components() > 1 { 24 } else { 16 };
        self.budget.check_table("places of microclusters", incidence.n_rows(), wide, bytes)?;
        let weights = ensemble_driven_cluster_index(incidence, self.entropy_scale, observer)?;
        let weights = incidence.weighed(weights)?;
        let spectrum =
            IncidenceSpectrum::within(incidence, &weights, dimensions, self.budget, observer)?;
        let mut rows = spectrum.rows_in_lowest_terms(incidence, dimensions)?;
        observer.check()?;
        // The rows have sigma as a factor already, and the values are sigma^2.
        for (j, value) in spectrum.values.iter().take(rows.ncols()).enumerate() {
            let scale = value.max(0.0).powf(0.5 * (self.steps as f64 - 1.0));
            rows.slice_mut(s![.., j]).mapv_inplace(|v| v * scale);
        }
        unit_rows(&mut rows);
        if !spectrum.converged {
            report.status = Status::MaxIterations;
            report.notes.push("the eigenvectors of the clusters are less exact than wanted".into());
        }
        Ok(Places { rows, vectors: spectrum.vectors, parts, clusters })
    }
}

impl NodeConsensus for Diffusion {
    type Output = Partition;

    fn name(&self) -> &str {
        "diffusion"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn accepts(&self) -> Accepts {
        Accepts::ALL
    }

    fn check(&self, _: &Ensemble) -> Result<()> {
        self.check_parameters()
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Microclusters::observed(ensemble, observer)?.canonical_observed(observer)
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        self.check_parameters()?;
        report.inner_stage("partition", |inner| {
            let incidence = ClusterIncidence::of_observed(nodes, observer)?;
            let places = self.places(&incidence, inner, observer)?;
            self.cut(places, incidence.sizes(), inner, observer)
        })
    }
}

/// Rows to start k-means from, given column after column: each the best of some drawn by squared
/// distance to those before, where the best leaves least inertia (greedy k-means++). Long walks
/// gather the rows in few tight places, and plain k-means++ too often starts twice in one and never
/// in another. Fewer than k where all rows are taken.
fn spread(
    columns: &[f64],
    weights: &[f64],
    k: usize,
    stream: &mut Stream,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    // Column by column, so that the rows are summed side by side.
    let squares = |to: usize| -> Vec<f64> {
        let mut sums = vec![0.0; weights.len()];
        for column in columns.chunks_exact(weights.len()) {
            let centre = column[to];
            for (sum, x) in sums.iter_mut().zip(column) {
                *sum += (x - centre) * (x - centre);
            }
        }
        sums
    };
    let Some(first) = stream.weighted(weights) else { return Ok(Vec::new()) };
    let mut chosen = vec![first];
    let mut nearest = squares(first);
    let tries = 2 + (k as f64).ln() as usize;
    while chosen.len() < k {
        let mass: Vec<f64> = nearest.iter().zip(weights).map(|(d, w)| d * w).collect();
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for _ in 0..tries {
            observer.check()?;
            let Some(drawn) = stream.weighted(&mass) else { return Ok(chosen) };
            let mut left = squares(drawn);
            left.iter_mut().zip(&nearest).for_each(|(d, n)| *d = n.min(*d));
            let inertia = left.iter().zip(weights).map(|(d, w)| d * w).sum();
            if best.as_ref().is_none_or(|b| inertia < b.0) {
                best = Some((inertia, drawn, left));
            }
        }
        if let Some((_, drawn, left)) = best {
            chosen.push(drawn);
            nearest = left;
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::planted;
    use consilience_core::ConsensusFunction;
    use consilience_num::eigen::symmetric_eigen;

    /// Inner products of the places of two objects, straight from the definition on the dense
    /// objects x clusters matrix: `X X'` to the power t, since `U sigma^2t U' = (X X')^t`,
    /// normalized. All dimensions.
    fn reference(ensemble: &Ensemble, theta: f64, t: usize) -> Array2<f64> {
        let n = ensemble.n_objects();
        let mut columns: Vec<Vec<usize>> = Vec::new();
        for m in ensemble.members() {
            for c in 0..m.n_clusters() {
                columns.push((0..n).filter(|&i| m.label(i) == Some(c)).collect());
            }
        }
        let entropy = |objects: &[usize]| {
            let (mut sum, mut labelling) = (0.0, 0.0);
            for m in ensemble.members() {
                let labels: Vec<usize> = objects.iter().filter_map(|&i| m.label(i)).collect();
                if !labels.is_empty() {
                    labelling += 1.0;
                }
                for c in 0..m.n_clusters() {
                    let p = labels.iter().filter(|&&l| l == c).count() as f64
                        / labels.len().max(1) as f64;
                    if p > 0.0 {
                        sum -= p * p.log2();
                    }
                }
            }
            sum / labelling
        };
        let mut x = Array2::zeros((n, columns.len()));
        for (j, objects) in columns.iter().enumerate() {
            let w = (-entropy(objects) / theta).exp();
            objects.iter().for_each(|&i| x[[i, j]] = w);
        }
        let rows: Vec<f64> = x.rows().into_iter().map(|r| r.sum()).collect();
        let sums: Vec<f64> = x.columns().into_iter().map(|c| c.sum()).collect();
        for ((i, j), v) in x.indexed_iter_mut() {
            *v /= (rows[i] * sums[j]).sqrt();
        }
        let eigen = symmetric_eigen(x.dot(&x.t()).view()).unwrap();
        let mut powered = eigen.vectors.clone();
        for (mut column, &value) in powered.columns_mut().into_iter().zip(&eigen.values) {
            column *= value.max(0.0).powi(t as i32);
        }
        let g = powered.dot(&eigen.vectors.t());
        Array2::from_shape_fn((n, n), |(i, j)| g[[i, j]] / (g[[i, i]] * g[[j, j]]).sqrt())
    }

    #[test]
    fn places_are_those_of_single_objects_by_the_definition() {
        for (seed, missing, theta, t) in [(1, 0.0, 0.4, 3), (2, 0.2, 0.2, 8), (3, 0.4, 0.3, 1)] {
            let world = planted(Seed(seed), &[12, 8, 5], 5, 0.2, missing).unwrap();
            // Objects twice: sizes matter.
            let twice: Vec<usize> = (0..50).map(|i| i / 2).collect();
            let e = world.ensemble.select_objects(&twice).unwrap();
            let m = Microclusters::of(&e).unwrap();
            let method = Diffusion::new(3).entropy_scale(theta).steps(t).width(100);
            let places = method.embedding(&m).unwrap();
            let inner = places.dot(&places.t());
            let expected = reference(&e, theta, t);
            for i in 0..50 {
                for j in 0..50 {
                    let node = |o: usize| m.grouping().of_object()[o] as usize;
                    let (ours, theirs) = (inner[[node(i), node(j)]], expected[[i, j]]);
                    assert!((ours - theirs).abs() < 1e-7, "seed {seed}: {ours} {theirs}");
                }
            }
        }
    }

    #[test]
    fn the_gap_finds_planted_clusters() {
        let world = planted(Seed(4), &[40, 30, 20], 12, 0.1, 0.0).unwrap();
        assert_eq!(
            Diffusion::new(Clusters::Eigengap).consensus(&world.ensemble).unwrap(),
            world.truth
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let e = planted(Seed(0), &[3, 3], 2, 0.0, 0.0).unwrap().ensemble;
        let d = Diffusion::new(2);
        assert_eq!(NodeConsensus::name(&d), "diffusion");
        for bad in [
            d.entropy_scale(0.0),
            d.entropy_scale(f64::NAN),
            d.steps(0),
            d.steps(1001),
            d.width(0),
            d.restarts(0),
        ] {
            let e = bad.fit(&e, &()).unwrap_err();
            assert_eq!(e.kind(), consilience_core::ErrorKind::InvalidParameter);
        }
    }
}
