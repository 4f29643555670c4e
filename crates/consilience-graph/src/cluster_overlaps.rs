use consilience_core::{Observer, Result, room};
use consilience_num::sparse::Csr;

use crate::ClusterIncidence;

/// How many objects each two clusters of an ensemble share: what cluster entropies, agreement among
/// members and Jaccard coefficients are made of.
///
/// Where members give memberships, numbers of objects are expected ones: sums of products of
/// memberships. Members count as often as their weights say.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Partition};
/// use consilience::graph::{ClusterIncidence, ClusterOverlaps};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1])?,
/// ])?;
/// let incidence = ClusterIncidence::of(&Microclusters::of(&ensemble)?)?;
/// let overlaps = ClusterOverlaps::of(&incidence, &())?;
/// // The first cluster shares two objects with the third, of three in either.
/// let jaccard = overlaps.jaccard()?;
/// assert_eq!(jaccard.row(0), (&[0, 2][..], &[1.0, 2.0 / 3.0][..]));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n~ M^2), memory in proportion to the pairs of clusters that share objects.
#[derive(Debug)]
pub struct ClusterOverlaps {
    /// Common objects of two clusters.
    counts: Csr,
    member: Vec<usize>,
    members: usize,
    /// Objects of a cluster that a member labels: `cluster * members + member`.
    labelled: Vec<f64>,
    /// Sums of squared memberships in a cluster over the objects that a member labels; none where
    /// memberships are 0 and 1.
    squares: Vec<f64>,
    weights: Vec<f64>,
}

impl ClusterOverlaps {
    /// The overlaps of all clusters.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn of(incidence: &ClusterIncidence, observer: &dyn Observer) -> Result<Self> {
        let counts = incidence.overlaps(incidence.sizes(), observer)?;
        let (member, members) = (incidence.member_of_cluster(), incidence.n_members());
        let mut labelled = room::zeros(member.len() * members)?;
        for c in 0..member.len() {
            counts.entries(c).for_each(|(d, x)| labelled[c * members + member[d]] += x);
        }
        let squares = squares(incidence, &member)?;
        let weights = incidence.member_weights().to_vec();
        Ok(ClusterOverlaps { counts, member, members, labelled, squares, weights })
    }

    /// Mean over the members that label some object of a cluster of the entropy (bits) of their
    /// labels in it.
    pub fn uncertainty(&self) -> Vec<f64> {
        (0..self.member.len())
            .map(|c| {
                let labelled = &self.labelled[c * self.members..(c + 1) * self.members];
                let mut entropy = vec![0.0; self.members];
                for (d, x) in self.counts.entries(c) {
                    let u = self.member[d];
                    entropy[u] += x / labelled[u] * (labelled[u] / x).log2();
                }
                let weights = labelled.iter().zip(&self.weights);
                let counted = weights.filter(|(h, _)| **h > 0.0).map(|(_, w)| *w);
                let counted = sorted_sum(counted.collect());
                entropy.iter_mut().zip(&self.weights).for_each(|(h, w)| *h *= w);
                sorted_sum(entropy) / counted
            })
            .collect()
    }

    /// Normalised mutual information of each two members (by the larger entropy, over the objects
    /// that both label), `None` where there are no such objects; row by row.
    pub fn mutual_information(&self) -> Vec<Option<f64>> {
        let m = self.members;
        let square = || vec![0.0; m * m];
        // Of members u and v: common objects, and of u's clusters among them the entropy and their
        // number.
        let (mut both, mut entropy, mut parts, mut mutual) =
            (square(), square(), square(), square());
        for (c, &u) in self.member.iter().enumerate() {
            for v in 0..m {
                both[u * m + v] += self.labelled[c * m + v];
            }
        }
        for (c, &u) in self.member.iter().enumerate() {
            for v in 0..m {
                let (x, n) = (self.labelled[c * m + v], both[u * m + v]);
                if x > 0.0 {
                    entropy[u * m + v] += x / n * (n / x).ln();
                    parts[u * m + v] += 1.0;
                }
            }
            for (d, x) in self.counts.entries(c) {
                let v = self.member[d];
                let (n, a, b) =
                    (both[u * m + v], self.labelled[c * m + v], self.labelled[d * m + u]);
                mutual[u * m + v] += x / n * (n * x / (a * b)).ln();
            }
        }
        (0..m * m)
            .map(|at| {
                let mirrored = at % m * m + at / m;
                if both[at] == 0.0 {
                    None
                } else if parts[at] == 1.0 && parts[mirrored] == 1.0 {
                    Some(1.0)
                } else {
                    Some((mutual[at] / entropy[at].max(entropy[mirrored])).clamp(0.0, 1.0))
                }
            })
            .collect()
    }

    /// How far each member agrees with the others; see
    /// [`normalized_crowd_agreement`](crate::normalized_crowd_agreement).
    pub fn crowd_agreement(&self) -> Vec<f64> {
        let (nmi, members) = (self.mutual_information(), self.members);
        // A member that counts twice has a copy of itself among the others.
        let others = |u: usize, v: usize| self.weights[v] - if u == v { 1.0 } else { 0.0 };
        let agreement: Vec<f64> = (0..members)
            .map(|u| {
                let others = (0..members).map(|v| (nmi[u * members + v], others(u, v)));
                let others: Vec<(f64, f64)> =
                    others.filter(|o| o.1 > 0.0).filter_map(|(x, w)| Some((x?, w))).collect();
                let count = sorted_sum(others.iter().map(|o| o.1).collect());
                let sum = sorted_sum(others.into_iter().map(|(x, w)| x * w).collect());
                if count == 0.0 { 0.0 } else { sum / count }
            })
            .collect();
        let best = agreement.iter().fold(0.0f64, |m, &c| m.max(c));
        if best > 0.0 {
            agreement.into_iter().map(|c| c / best).collect()
        } else {
            vec![1.0; members]
        }
    }

    /// Jaccard coefficient of each two clusters that share objects, among the objects that both
    /// their members label; 1 on the diagonal. Of memberships it is the extended coefficient,
    /// `x'y / (x'x + y'y - x'y)`.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) where the system refuses the
    /// memory.
    pub fn jaccard(&self) -> Result<Csr> {
        Ok(self.counts.copied()?.map(|c, d, x| {
            let (u, v) = (self.member[c], self.member[d]);
            let own = if self.squares.is_empty() { &self.labelled } else { &self.squares };
            x / (own[c * self.members + v] + own[d * self.members + u] - x)
        }))
    }
}

/// The sums of squared memberships of each cluster over the objects that each member labels.
fn squares(incidence: &ClusterIncidence, member: &[usize]) -> Result<Vec<f64>> {
    if !incidence.is_soft() {
        return Ok(Vec::new());
    }
    let members = incidence.n_members();
    let mut squares = room::zeros(member.len() * members)?;
    for (i, &size) in incidence.sizes().iter().enumerate() {
        let mut labelling: Vec<usize> = incidence.shares_of(i).map(|(c, _)| member[c]).collect();
        labelling.dedup();
        for (c, p) in incidence.shares_of(i) {
            labelling.iter().for_each(|&v| squares[c * members + v] += size * (p * p));
        }
    }
    Ok(squares)
}

/// A sum whose bits do not depend on the order of its terms.
fn sorted_sum(mut terms: Vec<f64>) -> f64 {
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Microclusters;
    use consilience_core::scores::{Normalizer, normalized_mutual_information};
    use consilience_core::{Ensemble, Member, Partition, Seed, SparseMemberships};
    use ndarray::Array2;

    #[test]
    fn equal_to_the_definitions_on_objects() {
        let mut s = Seed(5).stream();
        for missing in [0.0, 0.3] {
            let members: Vec<Partition> = (0..6)
                .map(|u| {
                    let k = 1 + u % 4;
                    let labels: Vec<i64> = (0..80)
                        .map(|_| if s.uniform() < missing { -1 } else { s.below(k) as i64 })
                        .collect();
                    Partition::from_labels(&labels).unwrap()
                })
                .collect();
            let e = Ensemble::new(members.clone()).unwrap();
            let overlaps = ClusterOverlaps::of(
                &ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap(),
                &(),
            )
            .unwrap();
            let nmi = overlaps.mutual_information();
            for u in 0..6 {
                for v in 0..6 {
                    let expected =
                        normalized_mutual_information(&members[u], &members[v], Normalizer::Max)
                            .unwrap();
                    assert!((nmi[u * 6 + v].unwrap() - expected).abs() < 1e-12, "{u} {v}");
                }
            }
            let clusters: Vec<(usize, Vec<usize>)> = (0..6)
                .flat_map(|u| (0..members[u].n_clusters()).map(move |c| (u, c)))
                .map(|(u, c)| (u, (0..80).filter(|&i| members[u].label(i) == Some(c)).collect()))
                .collect();
            let (uncertainty, jaccard) = (overlaps.uncertainty(), overlaps.jaccard().unwrap());
            let jaccard = jaccard.to_dense().unwrap();
            for (a, (u, inside)) in clusters.iter().enumerate() {
                let mut sum = 0.0;
                for v in &members {
                    let labels: Vec<usize> = inside.iter().filter_map(|&i| v.label(i)).collect();
                    for l in 0..v.n_clusters() {
                        let p =
                            labels.iter().filter(|&&x| x == l).count() as f64 / labels.len() as f64;
                        if p > 0.0 {
                            sum -= p * p.log2();
                        }
                    }
                }
                assert!((uncertainty[a] - sum / 6.0).abs() < 1e-12);
                for (b, (v, other)) in clusters.iter().enumerate() {
                    let seen = |i: &&usize| {
                        members[*u].label(**i).is_some() && members[*v].label(**i).is_some()
                    };
                    let common = inside.iter().filter(|i| other.contains(i)).count();
                    let union = inside.iter().filter(seen).count()
                        + other.iter().filter(seen).count()
                        - common;
                    let found = jaccard[[a, b]];
                    let expected = if union == 0 { 0.0 } else { common as f64 / union as f64 };
                    assert!((found - expected).abs() < 1e-12, "{a} {b}");
                }
            }
        }
    }

    /// Clusters of which another member sees no object at all.
    #[test]
    fn members_that_share_few_objects_or_none() {
        let member = |labels: &[i64]| Partition::from_labels(labels).unwrap();
        let members =
            vec![member(&[0, 0, 1, 1, 2]), member(&[0, 1, -1, -1, -1]), member(&[-1, -1, 0, 0, 1])];
        let e = Ensemble::new(members.clone()).unwrap();
        let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
        let overlaps = ClusterOverlaps::of(&incidence, &()).unwrap();
        let nmi = overlaps.mutual_information();
        for (u, first) in members.iter().enumerate() {
            for (v, second) in members.iter().enumerate() {
                let expected = normalized_mutual_information(first, second, Normalizer::Max).ok();
                let found = nmi[u * 3 + v];
                assert_eq!(found.is_some(), expected.is_some(), "{u} {v}");
                let apart = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
                assert!(apart.abs() < 1e-12, "{u} {v}: {found:?} {expected:?}");
            }
        }
    }

    /// Members of labels and of memberships, some without either for some objects, weighed.
    fn mixed(seed: u64, n: usize) -> Ensemble {
        let mut s = Seed(seed).stream();
        let members = (0..5).map(|u| {
            let k = 2 + u % 3;
            if u % 2 == 0 {
                let labels: Vec<i64> = (0..n).map(|_| s.below(k + 1) as i64 - 1).collect();
                return Partition::from_labels(&labels).unwrap().into();
            }
            let mut soft = Array2::from_shape_simple_fn((n, k), || s.below(4) as f64);
            for mut row in soft.rows_mut() {
                let sum = row.sum();
                row.mapv_inplace(|v| if sum > 0.0 { v / sum } else { 0.0 });
            }
            SparseMemberships::from_array(soft.view()).unwrap().into()
        });
        let ensemble = Ensemble::mixed(members.collect::<Vec<Member>>()).unwrap();
        ensemble.with_weights(vec![1.0, 2.0, 0.5, 1.0, 3.0]).unwrap()
    }

    /// What an object has in each cluster of each member.
    fn shares(e: &Ensemble, i: usize) -> Vec<Vec<f64>> {
        let of = |(u, member): (usize, &Partition)| match e.soft(u) {
            Some(soft) => {
                let (clusters, values) = soft.row(i);
                let mut row = vec![0.0; soft.n_clusters()];
                clusters.iter().zip(values).for_each(|(&c, v)| row[c as usize] = *v);
                row
            }
            None => {
                let one = |c| f64::from(u8::from(member.label(i) == Some(c)));
                (0..member.n_clusters()).map(one).collect()
            }
        };
        e.members().iter().enumerate().map(of).collect()
    }

    #[test]
    fn memberships_and_weights_are_those_of_the_definitions() {
        for seed in 0..8 {
            // Each object twice: sizes of microclusters count.
            let n = 30;
            let twice: Vec<usize> = (0..2 * n).map(|i| i / 2).collect();
            let e = mixed(seed, n).select_objects(&twice).unwrap();
            let weights = e.weights().unwrap().to_vec();
            let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
            let overlaps = ClusterOverlaps::of(&incidence, &()).unwrap();
            let (uncertainty, jaccard) = (overlaps.uncertainty(), overlaps.jaccard().unwrap());
            let jaccard = jaccard.to_dense().unwrap();
            let rows: Vec<Vec<Vec<f64>>> = (0..2 * n).map(|i| shares(&e, i)).collect();
            let clusters: Vec<(usize, usize)> =
                (0..5).flat_map(|u| (0..rows[0][u].len()).map(move |c| (u, c))).collect();
            let labelled = |row: &[Vec<f64>], u: usize| row[u].iter().sum::<f64>() > 0.5;
            for (a, &(u, c)) in clusters.iter().enumerate() {
                let (mut sum, mut counted) = (0.0, 0.0);
                for v in 0..5 {
                    let both = rows.iter().filter(|row| labelled(row, v));
                    let inside: f64 = both.clone().map(|row| row[u][c]).sum();
                    if inside == 0.0 {
                        continue;
                    }
                    counted += weights[v];
                    for d in 0..rows[0][v].len() {
                        let p = both.clone().map(|r| r[u][c] * r[v][d]).sum::<f64>() / inside;
                        sum -= if p > 0.0 { weights[v] * p * p.log2() } else { 0.0 };
                    }
                }
                assert!((uncertainty[a] - sum / counted).abs() < 1e-12, "cluster {a}");
                for (b, &(v, d)) in clusters.iter().enumerate() {
                    let both = || rows.iter().filter(|r| labelled(r, u) && labelled(r, v));
                    let common: f64 = both().map(|r| r[u][c] * r[v][d]).sum();
                    let squares: f64 = both().map(|r| r[u][c] * r[u][c] + r[v][d] * r[v][d]).sum();
                    let expected = if common > 0.0 { common / (squares - common) } else { 0.0 };
                    let found = jaccard[[a, b]];
                    assert!((found - expected).abs() < 1e-12, "{a} {b}: {found} {expected}");
                }
            }
        }
    }

    /// Agreement with the others, each as often as it counts, in units of the best.
    #[test]
    fn the_crowd_counts_by_its_weights() {
        let e = mixed(3, 40);
        let weights = e.weights().unwrap().to_vec();
        let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
        let overlaps = ClusterOverlaps::of(&incidence, &()).unwrap();
        let nmi = overlaps.mutual_information();
        let agreement: Vec<f64> = (0..5)
            .map(|u| {
                // Copies of itself, and half a member less than one is nobody.
                let others = |v: usize| if v == u { weights[v] - 1.0 } else { weights[v] };
                let counted = (0..5).filter(|&v| others(v) > 0.0);
                let all: f64 = counted.clone().map(others).sum();
                counted.map(|v| others(v) * nmi[u * 5 + v].unwrap()).sum::<f64>() / all
            })
            .collect();
        let best = agreement.iter().copied().fold(0.0, f64::max);
        for (found, expected) in overlaps.crowd_agreement().iter().zip(agreement) {
            assert!((found - expected / best).abs() < 1e-12, "{found} {}", expected / best);
        }
    }
}
