use consilience_core::{
    Clusters, Ensemble, Error, Fit, MemoryBudget, Microclusters, NodeConsensus, Observer,
    Partition, Report, Result, Status, ensure, room,
};
use consilience_graph::{
    ClusterIncidence, ClusterOverlaps, Components, SpectralCount, each_row, eigen_columns,
    leading_eigenpairs_within, numbered, unit_rows,
};
use consilience_num::kmeans::{self, KMeansOptions};
use consilience_num::sparse::Csr;
use ndarray::{Array2, ArrayView2, Axis};

use crate::co_association::{EXPONENT, check_exponent, product};

/// The published default of alpha, the weight of links from objects.
const OBJECT_LINKS: f64 = 0.5;
/// Weights beyond these leave only one kind of link.
const OBJECT_LINK_WEIGHTS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;
/// A member of no agreement keeps so much weight: an object that it alone labels has links still.
const LEAST: f64 = 1e-100;
/// k-means settles long before.
const MAX_ITERATIONS: usize = 1000;

/// Graph partitioning with multi-granularity link analysis (GP-MGLA): a transfer cut of a graph
/// with links from objects to clusters, weighted by crowd agreement, and among clusters, by common
/// neighbours.
///
/// Deterministic: k-means starts at the first object and the farthest from the ones before. Good
/// where some members are bad. The links among clusters are a dense matrix: with many thousands of
/// clusters in the ensemble use [`Lwgp`](crate::Lwgp).
///
/// With `w_u = NCAI_u^beta` and the Jaccard coefficients J of clusters (J = 1 of a cluster with
/// itself), the source-aware connected triple similarity of two clusters counts common neighbours t
/// by their source,
///
/// ```text
/// SACT_ij = sum over clusters t of w_u(t) min(J_it, J_jt) / max of all,   SACT_ii = 1,
/// ```
///
/// and the graph `[alpha B0 diag(w); SACT]` of objects and clusters (rows) to clusters (columns) is
/// cut.
///
/// ```
/// use consilience::{ConsensusFunction, Ensemble, Partition};
/// use consilience::consensus::GpMgla;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let consensus = GpMgla::new(3).consensus(&ensemble)?;
/// assert_eq!(consensus.to_signed(), vec![0, 0, 0, 1, 1, 2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n M) for the microclusters, O(n~ M^2 + C^3) for the graph with C clusters in the ensemble,
/// O(n~ k^2) per iteration of k-means; 40 C^2 bytes.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for k outside
/// `1..=n`, alpha outside 1e-6..=1e6 or an exponent outside 0..=1000,
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the links among clusters
/// exceed the memory budget.
///
/// # References
/// Huang, Lai, Wang 2015, "Combining multiple clusterings via crowd agreement estimation and
/// multi-granularity link analysis", Sections 3.3 and 3.4. Microclusters weigh as many objects as
/// they hold, which changes nothing; missing labels are ours.
#[doc(alias = "GP-MGLA")]
#[derive(Clone, Copy, Debug)]
pub struct GpMgla {
    clusters: Clusters,
    object_links: f64,
    exponent: f64,
    budget: MemoryBudget,
}

impl GpMgla {
    /// GP-MGLA; [`Clusters::Auto`] is the widest gap between eigenvalues.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        GpMgla {
            clusters: clusters.into(),
            object_links: OBJECT_LINKS,
            exponent: EXPONENT,
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// How much a link from object to cluster counts beside one among clusters. Default 0.5;
        /// 1e-6 to 1e6.
        #[doc(alias = "alpha")]
        pub fn object_link_weight(mut self, weight: f64) { self.object_links = weight }

        /// How much crowd agreement counts: the power that it is raised to. Default 2; 0 to 1000,
        /// where 0 gives equal weights.
        #[doc(alias = "beta")]
        pub fn agreement_exponent(mut self, exponent: f64) { self.exponent = exponent }

        /// How large the links among clusters may become. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// The normalised small matrix D_y^-1/2 W_y D_y^-1/2 and what takes its eigenvectors to the
    /// rows: alpha w D_y^-1/2.
    fn small(
        &self,
        incidence: &ClusterIncidence,
        observer: &dyn Observer,
    ) -> Result<(Array2<f64>, Vec<f64>)> {
        let overlaps = ClusterOverlaps::of(incidence, observer)?;
        let members: Vec<f64> = overlaps
            .crowd_agreement()
            .into_iter()
            .map(|c| c.powf(self.exponent).max(LEAST))
            .collect();
        let w: Vec<f64> = incidence.member_of_cluster().into_iter().map(|u| members[u]).collect();
        let links = connected_triples(&overlaps.jaccard()?, &w, observer)?;
        drop(overlaps);
        // The objects' part of W_y: alpha^2 diag(w) B0' S D_x^-1 B0 diag(w), with D_x = alpha B0 w.
        let shares: Vec<f64> = (0..incidence.n_rows())
            .map(|i| {
                let degree: f64 = incidence.clusters_of(i).iter().map(|&c| w[c as usize]).sum();
                incidence.sizes()[i] * self.object_links / degree
            })
            .collect();
        let objects = incidence.overlaps(&shares, observer)?;
        observer.check()?;
        // The clusters' part: SACT D^-1 SACT.
        let mut half = links;
        for mut row in half.rows_mut() {
            let degree = row.sum();
            row /= degree.sqrt();
        }
        let mut small = symmetric_square(&half, observer)?;
        for c in 0..w.len() {
            objects.entries(c).for_each(|(d, v)| small[[c, d]] += v * w[c] * w[d]);
        }
        observer.check()?;
        let scale = small.sum_axis(Axis(1)).mapv(|d| d.sqrt().recip());
        small *= &scale;
        small *= &scale.view().insert_axis(Axis(1));
        let projection = w.iter().zip(&scale).map(|(w, s)| w * s).collect();
        Ok((small, projection))
    }

    fn cut(&self, nodes: &Microclusters, observer: &dyn Observer) -> Result<Fit<Vec<usize>>> {
        let incidence = ClusterIncidence::of_observed(nodes, observer)?;
        let count = SpectralCount::new(self.clusters, incidence.n_rows())?.of_members(&incidence);
        let (clusters, pairs) = (incidence.n_clusters(), count.eigenpairs());
        // The links and their products, then the eigenvectors of these.
        let columns = eigen_columns(clusters, pairs).max(clusters.saturating_mul(5));
        self.budget.check_table("links among clusters", clusters, columns, 8)?;
        let (small, projection) = self.small(&incidence, observer)?;
        let found = leading_eigenpairs_within(&small, pairs, self.budget, observer)?;
        observer.check()?;
        let k = count.clusters(&found.values);
        let parts = Components::of_incidence(&incidence, observer)?;
        if let Some(joined) = parts.joined(k) {
            return Ok(joined);
        }
        let vectors = found.vectors.slice(ndarray::s![.., ..k.min(found.values.len())]);
        let mut projected = vectors.to_owned();
        for (mut row, p) in projected.rows_mut().into_iter().zip(&projection) {
            row *= *p;
        }
        let mut rows = incidence.times(projected.view())?;
        unit_rows(&mut rows);
        let mut fit = parts.cut(k, vectors, rows, incidence.sizes(), |rows, sizes, k| {
            let centres = rows.select(Axis(0), &farthest_first(rows.view(), k, observer)?);
            let options = KMeansOptions::new(centres.nrows()).max_iterations(MAX_ITERATIONS);
            let (rows, sizes) = (rows.view(), Some(sizes));
            numbered(kmeans::from_centres(rows, sizes, centres.view(), &options, observer)?)
        })?;
        if !found.converged {
            fit.report.status = Status::MaxIterations;
        }
        Ok(fit)
    }
}

/// Source-aware connected triples of clusters with the given weights: the similarity of two
/// clusters by their common neighbours, over the largest of all; 1 on the diagonal.
fn connected_triples(
    jaccard: &Csr,
    weights: &[f64],
    observer: &dyn Observer,
) -> Result<Array2<f64>> {
    let c = weights.len();
    let mut s = room::zeros(c * c)?;
    each_row(&mut s, c, &(), observer, |_, i, out| {
        for (t, own) in jaccard.entries(i) {
            jaccard.entries(t).for_each(|(j, their)| out[j] += weights[t] * own.min(their));
        }
    })?;
    let largest = s.iter().fold(0.0f64, |m, &v| m.max(v));
    s.iter_mut().for_each(|v| *v /= largest);
    let mut s = Array2::from_shape_vec((c, c), s).map_err(|e| Error::shape(e.to_string()))?;
    s.diag_mut().fill(1.0);
    Ok(s)
}

/// A'A, symmetric to the last bit.
fn symmetric_square(a: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let mut square = room::table(a.ncols(), a.ncols())?;
    product(square.view_mut(), a.t(), a.view(), observer)?;
    for i in 0..square.nrows() {
        for j in 0..i {
            square[[i, j]] = square[[j, i]];
        }
    }
    Ok(square)
}

/// Up to k different rows: the first, then always the one farthest from those taken (the first of
/// equals).
fn farthest_first(
    rows: ArrayView2<'_, f64>,
    k: usize,
    observer: &dyn Observer,
) -> Result<Vec<usize>> {
    let mut taken = vec![0];
    let mut nearest = vec![f64::INFINITY; rows.nrows()];
    while taken.len() < k {
        observer.check()?;
        let centre = rows.row(taken[taken.len() - 1]);
        let mut best = (0, 0.0);
        for (i, (row, near)) in rows.rows().into_iter().zip(nearest.iter_mut()).enumerate() {
            let d: f64 = row.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum();
            *near = near.min(d);
            if *near > best.1 {
                best = (i, *near);
            }
        }
        if best.1 == 0.0 {
            break;
        }
        taken.push(best.0);
    }
    Ok(taken)
}

impl NodeConsensus for GpMgla {
    type Output = Partition;

    fn name(&self) -> &str {
        "gp-mgla"
    }

    fn clusters(&self) -> Clusters {
        self.clusters
    }

    fn check(&self, _ensemble: &Ensemble) -> Result<()> {
        SpectralCount::check(self.clusters)?;
        check_exponent(self.exponent)?;
        ensure!(
            OBJECT_LINK_WEIGHTS.contains(&self.object_links),
            invalid("weight {} of links from objects; expected 1e-6 to 1e6", self.object_links)
        );
        Ok(())
    }

    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        // The nodes stay in the order of their first objects: the published program starts there.
        Ok(Microclusters::observed(ensemble, observer)?.sorted_members())
    }

    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Vec<usize>> {
        let found = report.stage("partition", || self.cut(nodes, observer))?;
        report.adopt(found.report);
        Ok(found.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_conformance::CancelFrom;
    use consilience_core::{ConsensusFunction, Seed};

    #[test]
    fn triples_equal_the_sum_over_all_clusters() {
        let mut s = Seed(3).stream();
        let members: Vec<Partition> = (0..5)
            .map(|_| {
                Partition::from_labels(&(0..60).map(|_| s.below(6) as i64).collect::<Vec<_>>())
                    .unwrap()
            })
            .collect();
        let e = Ensemble::new(members).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
        let jaccard = ClusterOverlaps::of(&incidence, &()).unwrap().jaccard().unwrap();
        let c = incidence.n_clusters();
        let w: Vec<f64> = (0..c).map(|i| 0.1 + (i % 7) as f64).collect();
        let dense = jaccard.to_dense().unwrap();
        let sum = Array2::from_shape_fn((c, c), |(i, j)| {
            (0..c).map(|t| w[t] * f64::min(dense[[i, t]], dense[[j, t]])).sum::<f64>()
        });
        let largest = sum.iter().fold(0.0f64, |m, &v| m.max(v));
        let found = connected_triples(&jaccard, &w, &()).unwrap();
        for ((i, j), &v) in found.indexed_iter() {
            let expected = if i == j { 1.0 } else { sum[[i, j]] / largest };
            assert!((v - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn starts_are_far_apart_and_different() {
        let rows = ndarray::array![[0.0], [0.0], [5.0], [-9.0], [5.0]];
        assert_eq!(farthest_first(rows.view(), 3, &()).unwrap(), vec![0, 3, 2]);
        assert_eq!(farthest_first(rows.view(), 5, &()).unwrap(), vec![0, 3, 2]);
    }

    #[test]
    fn parameters_are_checked() {
        let e = Ensemble::new(vec![Partition::from_labels(&[0, 1]).unwrap()]).unwrap();
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(GpMgla::new(1).object_link_weight(bad).consensus(&e).is_err(), "{bad}");
        }
        for bad in [-1.0, f64::NAN, 1e9] {
            assert!(GpMgla::new(1).agreement_exponent(bad).consensus(&e).is_err(), "{bad}");
        }
        assert!(GpMgla::new(1).memory_budget(MemoryBudget::bytes(10)).consensus(&e).is_err());
    }

    /// Rows are computed some at a time, so that somebody may ask to stop between them.
    #[test]
    fn the_square_is_that_of_one_product_to_the_bit() {
        let mut stream = Seed(5).stream();
        // More terms than are summed in one block.
        let a = Array2::from_shape_simple_fn((300, 300), || stream.uniform());
        let asked = CancelFrom::new(usize::MAX);
        let square = symmetric_square(&a, &asked).unwrap();
        assert!(asked.asked() > 1);
        let mut whole = Array2::zeros((300, 300));
        ndarray::linalg::general_mat_mul(1.0, &a.t(), &a, 0.0, &mut whole);
        for i in 0..300 {
            for j in 0..=i {
                assert_eq!((square[[i, j]], square[[j, i]]), (whole[[j, i]], whole[[j, i]]));
            }
        }
    }
}
