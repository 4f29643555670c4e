use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use consilience_core::{
    Error, LabelInt, MemoryBudget, Observer, Result, ensure, room, sizes_in_lowest_terms,
    with_labels,
};
use consilience_num::sparse::{Csr, multiply_listed, sum_listed};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use sprs::CsMat;

use crate::Microclusters;

/// Rows that are listed between two questions whether to stop.
const OFTEN: usize = 1 << 14;
/// Clusters whose overlaps with all others are found before they are packed.
const ROWS: usize = 128;

/// Which clusters of the ensemble each microcluster lies in: the bipartite graph B0 of
/// microclusters (rows) and the clusters of all members (columns), with an entry 1 where a cluster
/// holds a microcluster, or its membership where the member gives those.
///
/// This is what graph and spectral methods on the ensemble work with: as many entries per row as
/// there are members that label it, so nothing grows with the square of the objects. Clusters are
/// numbered member by member, within a member by their first object. A row represents
/// `sizes()[row]` objects.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::ClusterIncidence;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1])?,
///     Partition::from_labels(&[0, 0, 1, -1])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// assert_eq!((incidence.n_rows(), incidence.n_clusters()), (3, 4));
/// assert_eq!(incidence.clusters_of(0), [0, 2]);
/// assert_eq!(incidence.clusters_of(2), [1]);
/// assert_eq!(incidence.rows_of(0), [0, 1]);
/// assert_eq!(incidence.objects(), [3.0, 1.0, 2.0, 1.0]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~ M) time, 8 bytes per entry and 8 per row.
#[doc(alias = "bipartite graph")]
#[doc(alias = "hypergraph")]
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterIncidence {
    /// First cluster of each member, and the number of clusters.
    members: Vec<usize>,
    rows: Lists,
    clusters: Lists,
    sizes: Vec<f64>,
    objects: Vec<f64>,
    /// How often each member counts.
    weights: Vec<f64>,
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, PartialEq)]
struct Lists {
    offsets: Vec<usize>,
    entries: Vec<u32>,
    /// The membership of each entry; none where all are 1.
    shares: Vec<f64>,
}

/// Numbers of objects, divided by what divides the sizes of all microclusters.
pub(crate) struct LowestTerms<'a> {
    /// Of the microclusters.
    pub(crate) sizes: Cow<'a, [f64]>,
    /// Of the clusters.
    pub(crate) objects: Cow<'a, [f64]>,
    /// What they were divided by.
    pub(crate) unit: f64,
}

impl Lists {
    /// Room for lists of the given lengths, of memberships or of ones.
    fn with_lengths(lengths: impl ExactSizeIterator<Item = usize>, soft: bool) -> Result<Self> {
        let mut offsets = room::with_capacity(lengths.len() + 1)?;
        let mut total = 0;
        offsets.push(0);
        offsets.extend(lengths.map(|l| {
            total += l;
            total
        }));
        let shares = room::filled(if soft { total } else { 0 }, 1.0)?;
        Ok(Lists { offsets, entries: room::zeros(total)?, shares })
    }

    /// The entries of a list with their memberships.
    #[inline]
    fn with_shares(&self, at: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[at]..self.offsets[at + 1];
        range.map(|e| (self.entries[e] as usize, self.shares.get(e).copied().unwrap_or(1.0)))
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    fn get(&self, at: usize) -> &[u32] {
        &self.entries[self.offsets[at]..self.offsets[at + 1]]
    }
}

impl ClusterIncidence {
    /// The incidence of microclusters, or of single objects.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the system refuses the
    /// memory.
    pub fn of(microclusters: &Microclusters) -> Result<Self> {
        Self::of_observed(microclusters, &())
    }

    /// As [`ClusterIncidence::of`], and can be cancelled.
    ///
    /// # Errors
    /// As [`ClusterIncidence::of`];
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of_observed(microclusters: &Microclusters, observer: &dyn Observer) -> Result<Self> {
        let (n, soft) = (microclusters.n_nodes(), microclusters.is_soft());
        let mut members = vec![0];
        let mut labelled = room::zeros::<u32>(n)?;
        for (u, member) in microclusters.rows().iter().enumerate() {
            observer.check()?;
            let memberships = microclusters.soft(u);
            let clusters = memberships.map_or(member.n_clusters(), |m| m.n_clusters());
            members.push(members[members.len() - 1] + clusters);
            if let Some(memberships) = memberships {
                let counts = labelled.iter_mut().enumerate();
                counts.for_each(|(i, l)| *l += memberships.row(i).0.len() as u32);
            } else if member.is_complete() {
                labelled.iter_mut().for_each(|l| *l += 1);
            } else {
                labelled
                    .iter_mut()
                    .zip(member.iter())
                    .for_each(|(l, label)| *l += u32::from(label.is_some()));
            }
        }
        let mut rows = Lists::with_lengths(labelled.iter().map(|&l| l as usize), soft)?;
        let mut next = room::copied(&rows.offsets)?;
        for (u, (member, &first)) in microclusters.rows().iter().zip(&members).enumerate() {
            observer.check()?;
            if let Some(memberships) = microclusters.soft(u) {
                for (i, next) in next.iter_mut().take(n).enumerate() {
                    let (clusters, shares) = memberships.row(i);
                    for (&c, &share) in clusters.iter().zip(shares) {
                        rows.entries[*next] = first as u32 + c;
                        rows.shares[*next] = share;
                        *next += 1;
                    }
                }
                continue;
            }
            with_labels!(member.labels(), |labels| {
                for (next, &l) in next.iter_mut().zip(labels) {
                    if !l.is_missing() {
                        rows.entries[*next] = (first + l.index()) as u32;
                        *next += 1;
                    }
                }
            });
        }
        let weights = (0..microclusters.rows().len()).map(|u| microclusters.weight(u)).collect();
        let sizes = microclusters.grouping().sizes();
        let sizes = room::collected(sizes.iter().map(|&size| size as f64))?;
        Self::transposed(members, rows, sizes, weights, observer)
    }

    /// The incidence of these rows, the lists of the clusters included.
    fn transposed(
        members: Vec<usize>,
        rows: Lists,
        sizes: Vec<f64>,
        weights: Vec<f64>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let total = members[members.len() - 1];
        let mut count = room::zeros::<usize>(total)?;
        rows.entries.iter().for_each(|&c| count[c as usize] += 1);
        let mut clusters = Lists::with_lengths(count.into_iter(), !rows.shares.is_empty())?;
        let mut next = room::copied(&clusters.offsets)?;
        let mut objects = room::zeros(total)?;
        for (i, &size) in sizes.iter().enumerate() {
            if i.is_multiple_of(OFTEN) {
                observer.check()?;
            }
            for (c, share) in rows.with_shares(i) {
                clusters.entries[next[c]] = i as u32;
                if let Some(place) = clusters.shares.get_mut(next[c]) {
                    *place = share;
                }
                next[c] += 1;
                objects[c] += size * share;
            }
        }
        Ok(ClusterIncidence { members, rows, clusters, sizes, objects, weights })
    }

    /// Number of microclusters.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Number of clusters over all members.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Number of base clusterings; 0 where there is no microcluster.
    pub fn n_members(&self) -> usize {
        self.members.len() - 1
    }

    /// Number of entries: pairs of a microcluster and a cluster that holds it.
    pub fn n_entries(&self) -> usize {
        self.rows.entries.len()
    }

    /// Whether some entries are memberships, and not 1.
    pub fn is_soft(&self) -> bool {
        !self.rows.shares.is_empty()
    }

    /// The clusters that hold a microcluster, ascending, at most one of each member that has
    /// labels.
    pub fn clusters_of(&self, row: usize) -> &[u32] {
        self.rows.get(row)
    }

    /// The microclusters in a cluster, ascending.
    pub fn rows_of(&self, cluster: usize) -> &[u32] {
        self.clusters.get(cluster)
    }

    /// The clusters that hold a microcluster, with its membership in each: 1 for labels.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, SparseMemberships};
    /// use consilience::graph::ClusterIncidence;
    /// use consilience::ndarray::array;
    ///
    /// let soft = SparseMemberships::from_array(array![[0.75, 0.25], [0.0, 1.0]].view())?;
    /// let nodes = Microclusters::of(&Ensemble::mixed([soft.into()])?)?;
    /// let incidence = ClusterIncidence::of(&nodes)?;
    /// assert_eq!(incidence.shares_of(0).collect::<Vec<_>>(), [(0, 0.75), (1, 0.25)]);
    /// assert_eq!(incidence.shares_in(1).collect::<Vec<_>>(), [(0, 0.25), (1, 1.0)]);
    /// assert_eq!(incidence.objects(), [0.75, 1.25]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[inline]
    pub fn shares_of(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows.with_shares(row)
    }

    /// The microclusters in a cluster, with their memberships in it.
    #[inline]
    pub fn shares_in(&self, cluster: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.clusters.with_shares(cluster)
    }

    /// How often each member counts.
    pub fn member_weights(&self) -> &[f64] {
        &self.weights
    }

    /// One number for each cluster, multiplied by how often its member counts.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one
    /// number per cluster.
    pub fn weighed(&self, mut clusters: Vec<f64>) -> Result<Vec<f64>> {
        ensure!(
            clusters.len() == self.n_clusters(),
            shape("{} weights for {} clusters", clusters.len(), self.n_clusters())
        );
        for (u, weight) in self.weights.iter().enumerate() {
            clusters[self.clusters_of_member(u)].iter_mut().for_each(|w| *w *= weight);
        }
        Ok(clusters)
    }

    /// How often the member of each cluster counts.
    pub fn cluster_weights(&self) -> Vec<f64> {
        self.member_of_cluster().into_iter().map(|u| self.weights[u]).collect()
    }

    /// Refuses overlaps of all clusters that may not fit the budget: for methods that compare
    /// clusters with each other.
    ///
    /// ```
    /// use consilience::graph::ClusterIncidence;
    /// use consilience::{Ensemble, ErrorKind, MemoryBudget, Microclusters, Partition};
    ///
    /// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1, 2])?])?;
    /// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
    /// let refused = incidence.check_overlaps(MemoryBudget::bytes(50)).unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::TooLarge);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge).
    pub fn check_overlaps(&self, budget: MemoryBudget) -> Result<()> {
        let (c, pairs) = (self.n_clusters(), self.most_overlaps());
        // 12 bytes each, and some rows while they are found, in room that doubles.
        let found = pairs.min(ROWS.saturating_mul(c)).saturating_mul(32);
        let counted = c.saturating_mul(self.n_members()).saturating_mul(8);
        let tables = [(pairs, 12), (found.max(counted), 1)];
        budget.check_tables("overlaps of clusters", &tables, 1)
    }

    /// Clusters share an object where one of them has it in both: at most all pairs.
    fn most_overlaps(&self) -> usize {
        let own = (0..self.n_rows()).map(|i| self.clusters_of(i).len());
        let shared = own.fold(0usize, |sum, m| sum.saturating_add(m.saturating_mul(m)));
        shared.min(self.n_clusters().saturating_pow(2))
    }

    /// The clusters of one member.
    pub fn clusters_of_member(&self, member: usize) -> Range<usize> {
        self.members[member]..self.members[member + 1]
    }

    /// The member that a cluster belongs to.
    pub fn member_of(&self, cluster: usize) -> usize {
        self.members.partition_point(|&first| first <= cluster) - 1
    }

    /// The member that each cluster belongs to.
    pub fn member_of_cluster(&self) -> Vec<usize> {
        (0..self.n_members())
            .flat_map(|u| std::iter::repeat_n(u, self.clusters_of_member(u).len()))
            .collect()
    }

    /// Objects in each microcluster.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Objects in each cluster, each as far as it belongs to it.
    pub fn objects(&self) -> &[f64] {
        &self.objects
    }

    /// The sizes of the microclusters and the objects in the clusters, both divided by what divides
    /// all sizes.
    pub(crate) fn in_lowest_terms(&self) -> Result<LowestTerms<'_>> {
        let (sizes, unit) = sizes_in_lowest_terms(&self.sizes)?;
        if unit == 1.0 {
            return Ok(LowestTerms { sizes, objects: Cow::Borrowed(self.objects()), unit });
        }
        // In the order in which they were added up before.
        let of = |c: usize| self.shares_in(c).fold(0.0, |sum, (i, share)| sum + sizes[i] * share);
        let objects = room::collected((0..self.n_clusters()).map(of))?;
        Ok(LowestTerms { sizes, objects: Cow::Owned(objects), unit })
    }

    /// B0 as a matrix of the crate `sprs`, compressed by rows: microclusters in rows, clusters in
    /// columns, entries 1 or memberships.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    /// use consilience::graph::ClusterIncidence;
    ///
    /// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1])?])?;
    /// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
    /// let matrix: consilience::sprs::CsMat<f64> = incidence.to_sprs();
    /// assert_eq!((matrix.shape(), matrix.nnz()), ((2, 2), 2));
    /// assert_eq!((matrix.get(0, 0), matrix.get(0, 1)), (Some(&1.0), None));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// O(entries) time, 16 bytes per entry.
    pub fn to_sprs(&self) -> CsMat<f64> {
        let columns = self.rows.entries.iter().map(|&c| c as usize).collect();
        let shape = (self.n_rows(), self.n_clusters());
        let shares = (0..self.n_rows()).flat_map(|i| self.shares_of(i).map(|(_, p)| p)).collect();
        CsMat::new(shape, self.rows.offsets.clone(), columns, shares)
    }

    /// B0 x: for each microcluster the sum of the rows of `x` that belong to its clusters, by its
    /// memberships.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless `x` has one
    /// row per cluster.
    ///
    /// # Complexity
    /// O(entries columns), in parallel over rows and with the same bits at any number of threads.
    pub fn times(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        product("cluster", &self.rows, self.n_clusters(), x)
    }

    /// B0' x: for each cluster the sum of the rows of `x` that belong to its microclusters, by
    /// their memberships.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless `x` has one
    /// row per microcluster.
    ///
    /// # Complexity
    /// As [`ClusterIncidence::times`].
    pub fn transposed_times(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        product("microcluster", &self.clusters, self.n_rows(), x)
    }

    /// B0' diag(w) B0: for each two clusters that share a microcluster, the summed weight of those
    /// they share. Weights that are the [`sizes`](Self::sizes) give the numbers of common objects.
    /// The matrix is symmetric to the last bit.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) unless there is one
    /// weight per microcluster, [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    ///
    /// # Complexity
    /// O(n~ M^2) additions in parallel, memory in proportion to the pairs of clusters that share
    /// objects.
    pub fn overlaps(&self, weights: &[f64], observer: &dyn Observer) -> Result<Csr> {
        ensure!(
            weights.len() == self.n_rows(),
            shape("{} weights for {} microclusters", weights.len(), self.n_rows())
        );
        let c = self.n_clusters();
        let shown = weights.iter().all(|&w| w > 0.0);
        // The bound may be far off: where the system has no room for it there may be for what is.
        let mut out = Csr::with_room(c, self.most_overlaps()).or_else(|_| Csr::with_room(c, 0))?;
        let spare = Mutex::default();
        for first in (0..c).step_by(ROWS) {
            let rows: Vec<Vec<(u32, f64)>> = (first..c.min(first + ROWS))
                .into_par_iter()
                .map_init(
                    || Lent::of(&spare, c),
                    |lent, cluster| {
                        let Sums { sum, seen, at } = &mut lent.sums;
                        if cluster % 64 == 0 {
                            observer.check()?;
                        }
                        let rows = || self.shares_in(cluster).map(|(i, p)| (i, p, weights[i]));
                        let steps: usize = rows().map(|(i, ..)| self.clusters_of(i).len()).sum();
                        if shown && steps > c {
                            // Most clusters overlap: their sums tell which.
                            self.add_overlaps(cluster, weights, sum);
                            let all = (0..).zip(sum).map(|(d, sum)| (d, std::mem::take(sum)));
                            return Ok(all.filter(|&(_, sum)| sum > 0.0).collect());
                        }
                        for (i, p, w) in rows() {
                            self.add(i, p, w, |d, x| {
                                if !seen[d] {
                                    seen[d] = true;
                                    at.push(d as u32);
                                }
                                sum[d] += x;
                            });
                        }
                        at.sort_unstable();
                        Ok(at
                            .drain(..)
                            .map(|d| {
                                seen[d as usize] = false;
                                (d, std::mem::take(&mut sum[d as usize]))
                            })
                            .collect())
                    },
                )
                .collect::<Result<_>>()?;
            rows.into_iter().try_for_each(|row| out.push_row(row))?;
        }
        out.shrink_to_fit();
        Ok(out)
    }

    /// Adds to one number for each cluster the summed weight that it shares with this one.
    pub(crate) fn add_overlaps(&self, cluster: usize, weights: &[f64], sums: &mut [f64]) {
        for (i, p) in self.shares_in(cluster) {
            self.add(i, p, weights[i], |d, x| sums[d] += x);
        }
    }

    /// What microcluster i of weight w, with membership p in one cluster, adds to the overlap of
    /// that cluster with each other.
    #[inline(always)]
    fn add(&self, i: usize, p: f64, w: f64, mut add: impl FnMut(usize, f64)) {
        if self.is_soft() {
            // The product of memberships first: it is the same from either cluster.
            self.shares_of(i).for_each(|(d, q)| add(d, w * (p * q)));
        } else {
            self.clusters_of(i).iter().for_each(|&d| add(d as usize, w));
        }
    }
}

/// Overlaps of one cluster with all others: nothing but zeros between two clusters.
#[derive(Default)]
struct Sums {
    sum: Vec<f64>,
    seen: Vec<bool>,
    at: Vec<u32>,
}

/// Tables that go back to where they came from: of many clusters they take longer to make than
/// some rows do.
struct Lent<'a> {
    sums: Sums,
    spare: &'a Mutex<Vec<Sums>>,
}

impl<'a> Lent<'a> {
    fn of(spare: &'a Mutex<Vec<Sums>>, clusters: usize) -> Self {
        let found = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let new = || Sums { sum: vec![0.0; clusters], seen: vec![false; clusters], at: Vec::new() };
        Lent { sums: found.unwrap_or_else(new), spare }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let sums = std::mem::take(&mut self.sums);
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(sums);
    }
}

/// Sums of the listed rows of `x`.
fn product(
    what: &str,
    lists: &Lists,
    expected: usize,
    x: ArrayView2<'_, f64>,
) -> Result<Array2<f64>> {
    ensure!(
        x.nrows() == expected,
        shape("{} rows, expected one per {what}: {expected}", x.nrows())
    );
    let x = x.as_standard_layout();
    let (n, width) = (lists.len(), x.ncols());
    let mut y = room::zeros(n * width)?;
    if let Some(x) = x.as_slice() {
        if lists.shares.is_empty() {
            sum_listed(&lists.offsets, &lists.entries, x, &mut y, width);
        } else {
            multiply_listed(&lists.offsets, &lists.entries, &lists.shares, x, &mut y, width);
        }
    }
    Array2::from_shape_vec((n, width), y).map_err(|e| Error::shape(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::tests::random;
    use consilience_core::{Ensemble, Partition};

    /// B0 as a dense matrix, straight from the labels.
    fn dense(m: &Microclusters) -> Array2<f64> {
        let total: usize = m.rows().iter().map(Partition::n_clusters).sum();
        let mut b = Array2::zeros((m.n_nodes(), total));
        let mut first = 0;
        for member in m.rows() {
            for (i, l) in member.iter().enumerate() {
                if let Some(l) = l {
                    b[[i, first + l]] = 1.0;
                }
            }
            first += member.n_clusters();
        }
        b
    }

    #[test]
    fn clusters_of_memberships_have_their_sums() {
        // Quarters; the last four objects are like the first.
        let first = |i: usize| (i % 8 % 5) as f64 / 4.0;
        let values = Array2::from_shape_fn((12, 2), |(i, c)| [first(i), 1.0 - first(i)][c]);
        let soft = consilience_core::SparseMemberships::from_array(values.view()).unwrap();
        let m = Microclusters::of(&Ensemble::mixed([soft.into()]).unwrap()).unwrap();
        let incidence = ClusterIncidence::of(&m).unwrap();
        assert!(incidence.is_soft() && incidence.n_rows() < 12);
        let mut sums = incidence.objects().to_vec();
        sums.sort_by(f64::total_cmp);
        let mut expected = values.sum_axis(ndarray::Axis(0)).to_vec();
        expected.sort_by(f64::total_cmp);
        assert_eq!(sums, expected);
    }

    #[test]
    fn everything_equals_the_dense_matrix() {
        for (seed, members, k, missing) in
            [(0, 3, 2, 0.0), (1, 5, 4, 0.4), (2, 7, 300, 0.1), (3, 1, 1, 0.0), (4, 2, 3, 1.0)]
        {
            let m = Microclusters::of(&random(seed, 400, members, k, missing)).unwrap();
            let incidence = ClusterIncidence::of(&m).unwrap();
            let b = dense(&m);
            let (n, c) = b.dim();
            assert_eq!((incidence.n_rows(), incidence.n_clusters()), (n, c));
            assert_eq!(incidence.n_entries() as f64, b.sum());
            let x = Array2::from_shape_fn((c, 3), |(i, j)| (i * 7 + j) as f64);
            assert_eq!(incidence.times(x.view()).unwrap(), b.dot(&x));
            let y = Array2::from_shape_fn((n, 2), |(i, j)| (i * 5 + j) as f64);
            assert_eq!(incidence.transposed_times(y.view()).unwrap(), b.t().dot(&y));
            let weighted = Array2::from_shape_fn((n, c), |(i, j)| b[[i, j]] * incidence.sizes()[i]);
            let overlaps = incidence.overlaps(incidence.sizes(), &()).unwrap();
            let expected = b.t().dot(&weighted);
            assert_eq!(overlaps.to_dense().unwrap(), expected);
            assert_eq!(incidence.objects(), expected.diag().to_vec());
            let owner = incidence.member_of_cluster();
            assert!((0..c).all(|j| incidence.clusters_of_member(owner[j]).contains(&j)));
        }
    }

    #[test]
    fn shapes_are_checked() {
        let incidence =
            ClusterIncidence::of(&Microclusters::of(&random(0, 9, 2, 2, 0.0)).unwrap()).unwrap();
        let (n, c) = (incidence.n_rows(), incidence.n_clusters());
        assert!(incidence.times(Array2::zeros((c + 1, 1)).view()).is_err());
        assert!(incidence.transposed_times(Array2::zeros((n + 1, 1)).view()).is_err());
        assert!(incidence.overlaps(&vec![1.0; n + 1], &()).is_err());
        assert_eq!(incidence.times(Array2::zeros((c, 0)).view()).unwrap().dim(), (n, 0));
    }

    #[test]
    fn numbers_of_clusters_count_as_often_as_their_members() {
        let member = |labels: &[i64]| Partition::from_labels(labels).unwrap();
        let members = vec![member(&[0, 0, 1]), member(&[0, 1, 2]), member(&[0, 1, 1])];
        let ensemble = Ensemble::new(members).unwrap().with_weights(vec![1.0, 0.5, 3.0]).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble).unwrap()).unwrap();
        assert_eq!(incidence.member_of_cluster(), [0, 0, 1, 1, 1, 2, 2]);
        assert_eq!(incidence.cluster_weights(), [1.0, 1.0, 0.5, 0.5, 0.5, 3.0, 3.0]);
        let own = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(incidence.weighed(own).unwrap(), [1.0, 2.0, 1.5, 2.0, 2.5, 18.0, 21.0]);
        assert!(incidence.weighed(vec![1.0; 6]).is_err());
        for cluster in 0..7 {
            let member = incidence.member_of(cluster);
            assert!(incidence.clusters_of_member(member).contains(&cluster), "{cluster}");
        }
    }
}
