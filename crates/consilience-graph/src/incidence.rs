use std::ops::Range;

use consilience_core::{Error, LabelInt, Observer, Result, ensure, with_labels};
use consilience_num::sparse::{Csr, sum_listed};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use sprs::CsMat;

use crate::Microclusters;

/// Which clusters of the ensemble each microcluster lies in: the bipartite graph B0 of
/// microclusters (rows) and the clusters of all members (columns), with an entry 1 where a cluster
/// holds a microcluster.
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
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?);
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
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lists {
    offsets: Vec<usize>,
    entries: Vec<u32>,
}

impl Lists {
    /// Room for lists of the given lengths.
    fn with_lengths(lengths: impl Iterator<Item = usize>) -> Self {
        let mut offsets = vec![0];
        let mut total = 0;
        offsets.extend(lengths.map(|l| {
            total += l;
            total
        }));
        Lists { offsets, entries: vec![0; total] }
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
    pub fn of(microclusters: &Microclusters) -> Self {
        let n = microclusters.n_nodes();
        let mut members = vec![0];
        let mut labelled = vec![0u32; n];
        for member in microclusters.rows() {
            members.push(members[members.len() - 1] + member.n_clusters());
            if member.is_complete() {
                labelled.iter_mut().for_each(|l| *l += 1);
            } else {
                labelled
                    .iter_mut()
                    .zip(member.iter())
                    .for_each(|(l, label)| *l += u32::from(label.is_some()));
            }
        }
        let mut rows = Lists::with_lengths(labelled.iter().map(|&l| l as usize));
        let mut next = rows.offsets.clone();
        for (member, &first) in microclusters.rows().iter().zip(&members) {
            with_labels!(member.labels(), |labels| {
                for (next, &l) in next.iter_mut().zip(labels) {
                    if !l.is_missing() {
                        rows.entries[*next] = (first + l.index()) as u32;
                        *next += 1;
                    }
                }
            });
        }
        let total = members[members.len() - 1];
        let mut count = vec![0usize; total];
        rows.entries.iter().for_each(|&c| count[c as usize] += 1);
        let mut clusters = Lists::with_lengths(count.into_iter());
        let mut next = clusters.offsets.clone();
        let sizes = microclusters.grouping().weights();
        let mut objects = vec![0.0; total];
        for (i, &size) in sizes.iter().enumerate() {
            for &c in rows.get(i) {
                clusters.entries[next[c as usize]] = i as u32;
                next[c as usize] += 1;
                objects[c as usize] += size;
            }
        }
        ClusterIncidence { members, rows, clusters, sizes, objects }
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

    /// The clusters that hold a microcluster, ascending, at most one of each member.
    pub fn clusters_of(&self, row: usize) -> &[u32] {
        self.rows.get(row)
    }

    /// The microclusters in a cluster, ascending.
    pub fn rows_of(&self, cluster: usize) -> &[u32] {
        self.clusters.get(cluster)
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

    /// Objects in each cluster.
    pub fn objects(&self) -> &[f64] {
        &self.objects
    }

    /// B0 as a matrix of the crate `sprs`, compressed by rows: microclusters in rows, clusters in
    /// columns, entries 1.
    ///
    /// ```
    /// use consilience::{Ensemble, Microclusters, Partition};
    /// use consilience::graph::ClusterIncidence;
    ///
    /// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1])?])?;
    /// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?);
    /// let matrix: sprs::CsMat<f64> = incidence.to_sprs();
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
        CsMat::new(shape, self.rows.offsets.clone(), columns, vec![1.0; self.n_entries()])
    }

    /// B0 x: for each microcluster the sum of the rows of `x` that belong to its clusters.
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

    /// B0' x: for each cluster the sum of the rows of `x` that belong to its microclusters.
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
        let rows: Vec<Vec<(u32, f64)>> = (0..c)
            .into_par_iter()
            .map_init(
                || (vec![0.0; c], vec![false; c], Vec::new()),
                |(sum, seen, at), cluster| {
                    if cluster % 64 == 0 {
                        observer.check()?;
                    }
                    let rows = self
                        .rows_of(cluster)
                        .iter()
                        .map(|&i| (self.clusters_of(i as usize), weights[i as usize]));
                    let steps: usize = rows.clone().map(|(clusters, _)| clusters.len()).sum();
                    if shown && steps > c {
                        // Most clusters overlap: their sums tell which.
                        for (clusters, w) in rows {
                            clusters.iter().for_each(|&d| sum[d as usize] += w);
                        }
                        let all = (0..).zip(sum).map(|(d, sum)| (d, std::mem::take(sum)));
                        return Ok(all.filter(|&(_, sum)| sum > 0.0).collect());
                    }
                    for (clusters, w) in rows {
                        for &d in clusters {
                            if !seen[d as usize] {
                                seen[d as usize] = true;
                                at.push(d);
                            }
                            sum[d as usize] += w;
                        }
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
        Ok(Csr::from_rows(c, rows))
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
    let mut y = vec![0.0; n * width];
    if let Some(x) = x.as_slice() {
        sum_listed(&lists.offsets, &lists.entries, x, &mut y, width);
    }
    Array2::from_shape_vec((n, width), y).map_err(|e| Error::shape(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Ensemble, Partition, Seed};

    fn random(seed: u64, n: usize, members: usize, k: usize, missing: f64) -> Ensemble {
        let mut s = Seed(seed).stream();
        let members = (0..members)
            .map(|_| {
                let labels: Vec<i64> = (0..n)
                    .map(|_| if s.uniform() < missing { -1 } else { s.below(k) as i64 })
                    .collect();
                Partition::from_labels(&labels).unwrap()
            })
            .collect();
        Ensemble::new(members).unwrap()
    }

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
    fn everything_equals_the_dense_matrix() {
        for (seed, members, k, missing) in
            [(0, 3, 2, 0.0), (1, 5, 4, 0.4), (2, 7, 300, 0.1), (3, 1, 1, 0.0), (4, 2, 3, 1.0)]
        {
            let m = Microclusters::of(&random(seed, 400, members, k, missing)).unwrap();
            let incidence = ClusterIncidence::of(&m);
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
            for i in 0..c {
                let mut row = vec![0.0; c];
                overlaps
                    .row(i)
                    .0
                    .iter()
                    .zip(overlaps.row(i).1)
                    .for_each(|(&j, &v)| row[j as usize] = v);
                assert_eq!(row, expected.row(i).to_vec());
                assert_eq!(incidence.objects()[i], expected[[i, i]]);
            }
            let owner = incidence.member_of_cluster();
            assert!((0..c).all(|j| incidence.clusters_of_member(owner[j]).contains(&j)));
        }
    }

    #[test]
    fn shapes_are_checked() {
        let incidence = ClusterIncidence::of(&Microclusters::of(&random(0, 9, 2, 2, 0.0)).unwrap());
        let (n, c) = (incidence.n_rows(), incidence.n_clusters());
        assert!(incidence.times(Array2::zeros((c + 1, 1)).view()).is_err());
        assert!(incidence.transposed_times(Array2::zeros((n + 1, 1)).view()).is_err());
        assert!(incidence.overlaps(&vec![1.0; n + 1], &()).is_err());
        assert_eq!(incidence.times(Array2::zeros((c, 0)).view()).unwrap().dim(), (n, 0));
    }
}
