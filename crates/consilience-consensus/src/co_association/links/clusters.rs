//! Similarity of clusters by what they are linked to, and of objects by their clusters.

use consilience_core::{
    Error, MemoryBudget, Microclusters, Observer, Result, SimilarityGraph, room,
};
use consilience_graph::{ClusterIncidence, ClusterOverlaps, each_row};
use consilience_num::sparse::Csr;
use ndarray::Array2;
use rayon::prelude::*;

/// The similarities of clusters, and how objects take them over.
pub(super) enum ClusterLinks {
    /// Between clusters of one member; an object pair has the mean over the members that label
    /// both.
    WithinMembers(Csr),
    /// Between any two clusters; an object pair has the mean over all pairs of its clusters.
    Sparse(Csr),
    /// As `Sparse`, nearly all similarities being above 0.
    Dense(Array2<f64>),
}

/// Jaccard links to the clusters of other members.
fn neighbours(incidence: &ClusterIncidence, observer: &dyn Observer) -> Result<Csr> {
    let jaccard = ClusterOverlaps::of(incidence, observer)?.jaccard()?;
    let others = (0..jaccard.n_rows())
        .map(|p| jaccard.entries(p).filter(|&(q, _)| q != p).map(|(q, w)| (q as u32, w)).collect());
    Csr::try_from_rows(jaccard.n_columns(), others)
}

/// Asks the memory for what two steps along the links reach, of at most `widest(p)` clusters each,
/// before it is added up.
fn check_two_steps(
    links: &Csr,
    budget: MemoryBudget,
    widest: impl Fn(usize) -> usize,
) -> Result<()> {
    let reached = |p: usize| {
        let steps = links.row(p).0.iter().map(|&k| links.row(k as usize).0.len());
        steps.fold(1, usize::saturating_add).min(widest(p))
    };
    let entries = (0..links.n_rows()).map(reached).fold(0, usize::saturating_add);
    budget.check_table("similarities of clusters", entries, 1, TWO_STEPS)
}

/// Bytes of a similarity in a row, and once more in the matrix.
const TWO_STEPS: usize = 28;
/// Rows of a product that are computed together.
const ROWS: usize = 64;

/// Rows of an edge-by-edge matrix that are added up sparsely: `fill` calls back with (column,
/// value).
fn sparse_rows<F>(edges: usize, observer: &dyn Observer, fill: F) -> Result<Vec<Vec<(u32, f64)>>>
where
    F: Fn(usize, &mut dyn FnMut(u32, f64)) + Sync,
{
    (0..edges)
        .into_par_iter()
        .map_init(
            || (vec![0.0; edges], Vec::new()),
            |(total, touched): &mut (Vec<f64>, Vec<u32>), e| {
                if e % 64 == 0 {
                    observer.check()?;
                }
                fill(e, &mut |f, w| {
                    if total[f as usize] == 0.0 {
                        touched.push(f);
                    }
                    total[f as usize] += w;
                });
                touched.sort_unstable();
                touched.dedup();
                let row =
                    touched.iter().map(|&f| (f, std::mem::take(&mut total[f as usize]))).collect();
                touched.clear();
                Ok(row)
            },
        )
        .collect()
}

/// `decay` times the rows over their largest entry off the diagonal; 1 on the diagonal.
fn normalised(mut rows: Vec<Vec<(u32, f64)>>, decay: f64) -> Result<Csr> {
    let mut largest = 0.0f64;
    for (e, row) in rows.iter_mut().enumerate() {
        row.retain(|&(f, _)| f as usize != e);
        largest = row.iter().fold(largest, |m, x| m.max(x.1));
    }
    for (e, row) in rows.iter_mut().enumerate() {
        for x in row.iter_mut() {
            x.1 *= decay / largest;
        }
        let at = row.partition_point(|x| (x.0 as usize) < e);
        row.insert(at, (e as u32, 1.0));
    }
    Csr::try_from_rows(rows.len(), rows)
}

/// WCT: `sum_k min(w_pk, w_qk)` for p and q of one member, over the largest of them, times the
/// decay.
pub(super) fn connected_triples(
    incidence: &ClusterIncidence,
    decay: f64,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<ClusterLinks> {
    incidence.check_overlaps(budget)?;
    let w = neighbours(incidence, observer)?;
    let member = incidence.member_of_cluster();
    check_two_steps(&w, budget, |p| incidence.clusters_of_member(member[p]).len())?;
    let rows = sparse_rows(incidence.n_clusters(), observer, |p, add| {
        let own = incidence.clusters_of_member(member[p]);
        for (k, wpk) in w.entries(p) {
            let (others, weights) = w.row(k);
            let from = others.partition_point(|&q| (q as usize) < own.start);
            for (&q, &wqk) in others[from..].iter().zip(&weights[from..]) {
                if q as usize >= own.end {
                    break;
                }
                add(q, wpk.min(wqk));
            }
        }
    })?;
    Ok(ClusterLinks::WithinMembers(normalised(rows, decay)?))
}

/// ASRS: `sum_k w_pk w_qk / (n_p n_q)` with n the numbers of linked clusters, over the largest,
/// times the decay.
pub(super) fn approximate_sim_rank(
    incidence: &ClusterIncidence,
    decay: f64,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<ClusterLinks> {
    incidence.check_overlaps(budget)?;
    let w = neighbours(incidence, observer)?;
    check_two_steps(&w, budget, |_| incidence.n_clusters())?;
    let count = |p: usize| w.row(p).0.len() as f64;
    let rows = sparse_rows(incidence.n_clusters(), observer, |p, add| {
        for (k, wpk) in w.entries(p) {
            for (q, wqk) in w.entries(k) {
                add(q as u32, wpk * wqk / (count(p) * count(q)));
            }
        }
    })?;
    Ok(ClusterLinks::Sparse(normalised(rows, decay)?))
}

/// SimRank of the clusters after `iterations - 1` rounds, times the decay: what the round that ends
/// with objects takes.
///
/// Object similarities are never stored. With O the overlaps weighted by 1 / (labels of an object),
/// the sum of `S(x, y)` over x in cluster i and y in cluster j is `decay (O C O)_ij`, corrected
/// where x = y.
pub(super) fn sim_rank(
    incidence: &ClusterIncidence,
    decay: f64,
    iterations: usize,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<ClusterLinks> {
    let edges = incidence.n_clusters();
    // Overlaps while they are found, beside others and two similarities; then three and a product.
    budget.check_square("similarity of clusters", edges, 56)?;
    let (sizes, labels) = (incidence.sizes(), labels(incidence));
    let shares: Vec<f64> = sizes.iter().zip(&labels).map(|(s, m)| s / m).collect();
    let overlap = incidence.overlaps(&shares, observer)?;
    // Clusters of the round before last: objects follow them, and clusters follow objects.
    let mut before = room::table::<f64>(edges, edges)?;
    let mut now = room::table::<f64>(edges, edges)?;
    now.diag_mut().fill(1.0);
    for round in 1..iterations {
        observer.check()?;
        observer.progress("similarity of clusters", round - 1, iterations);
        // 1 - S(x, x) by the formula, which identity sets to 1.
        let missing: Vec<f64> = (0..incidence.n_rows())
            .map(|i| {
                let own = incidence.clusters_of(i);
                let sum: f64 = own
                    .iter()
                    .map(|&p| own.iter().map(|&q| before[[p as usize, q as usize]]).sum::<f64>())
                    .sum();
                sizes[i] * (1.0 - decay * sum / (labels[i] * labels[i]))
            })
            .collect();
        let own = incidence.overlaps(&missing, observer)?;
        observer.check()?;
        let mut next = sandwich(&overlap, &before, observer)?;
        next.mapv_inplace(|x| decay * x);
        for e in 0..edges {
            own.entries(e).for_each(|(f, w)| next[[e, f]] += w);
        }
        for e in 0..edges {
            for f in 0..e {
                let x = decay * next[[e, f]] / (incidence.objects()[e] * incidence.objects()[f]);
                next[[e, f]] = x;
                next[[f, e]] = x;
            }
            next[[e, e]] = 1.0;
        }
        before = std::mem::replace(&mut now, next);
    }
    now.mapv_inplace(|x| decay * x);
    Ok(ClusterLinks::Dense(now))
}

/// `O C O` for symmetric O and C.
fn sandwich(overlap: &Csr, c: &Array2<f64>, observer: &dyn Observer) -> Result<Array2<f64>> {
    let n = c.nrows();
    let product = |x: &Array2<f64>| {
        let mut y = room::table::<f64>(n, n)?;
        if let (Some(x), Some(y)) = (x.as_slice(), y.as_slice_mut()) {
            each_row(y, ROWS * n, &(), observer, |_, chunk, y| {
                overlap.multiply_rows(chunk * ROWS, x, y, n);
            })?;
        }
        Ok::<_, Error>(y)
    };
    let once = product(c)?;
    let turned = room::copied_table(once.t())?;
    drop(once);
    product(&turned)
}

impl ClusterLinks {
    /// Adds row p to a dense row.
    fn scatter(&self, p: usize, row: &mut [f64]) {
        match self {
            ClusterLinks::WithinMembers(links) | ClusterLinks::Sparse(links) => {
                links.entries(p).for_each(|(q, v)| row[q] += v);
            }
            ClusterLinks::Dense(links) => {
                for (x, v) in row.iter_mut().zip(links.row(p)) {
                    *x += v;
                }
            }
        }
    }

    /// The similarity of microclusters.
    pub(super) fn between(
        &self,
        microclusters: &Microclusters,
        incidence: &ClusterIncidence,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<SimilarityGraph> {
        let n = incidence.n_rows();
        budget.check_square("similarity of objects by their clusters", n, 8)?;
        let (labels, member) = (labels(incidence), incidence.member_of_cluster());
        let complete = labels.iter().all(|&m| m == incidence.n_members() as f64);
        let within = matches!(self, ClusterLinks::WithinMembers(_));
        let mut s = room::zeros(n * n)?;
        let scratch = (vec![0.0; incidence.n_clusters()], vec![0.0; incidence.n_members()]);
        each_row(&mut s, n, &scratch, observer, |(row, labelling), i, out| {
            row.fill(0.0);
            labelling.fill(0.0);
            for &p in incidence.clusters_of(i) {
                self.scatter(p as usize, row);
                labelling[member[p as usize]] = 1.0;
            }
            for (j, o) in out.iter_mut().enumerate().skip(i + 1) {
                let own = incidence.clusters_of(j);
                let sum: f64 = own.iter().map(|&q| row[q as usize]).sum();
                let pairs: f64 = match (within, complete) {
                    (false, _) => labels[i] * labels[j],
                    (true, true) => labels[i],
                    (true, false) => own.iter().map(|&q| labelling[member[q as usize]]).sum(),
                };
                *o = if pairs > 0.0 { sum / pairs } else { 0.0 };
            }
            out[i] = 1.0;
        })?;
        for i in 0..n {
            observer.check()?;
            for j in 0..i {
                s[i * n + j] = s[j * n + i];
            }
        }
        observer.progress("similarity", n, n);
        let s = Array2::from_shape_vec((n, n), s).map_err(|e| Error::shape(e.to_string()))?;
        SimilarityGraph::new_observed(microclusters.grouping().clone(), s, observer)
    }
}

/// Members that label each microcluster.
fn labels(incidence: &ClusterIncidence) -> Vec<f64> {
    (0..incidence.n_rows()).map(|i| incidence.clusters_of(i).len() as f64).collect()
}
