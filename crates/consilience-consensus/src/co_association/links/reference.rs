//! The three similarities object by object and round by round, as the papers write them.

use consilience_core::Ensemble;

/// A cluster of the ensemble: its member and its objects.
struct Cluster {
    member: usize,
    objects: Vec<usize>,
}

fn clusters(ensemble: &Ensemble) -> Vec<Cluster> {
    let mut out = Vec::new();
    for (member, p) in ensemble.members().iter().enumerate() {
        for l in 0..p.n_clusters() {
            let objects = (0..p.n_objects()).filter(|&i| p.label(i) == Some(l)).collect();
            out.push(Cluster { member, objects });
        }
    }
    out
}

type Matrix = Vec<Vec<f64>>;

fn matrix(n: usize, f: impl Fn(usize, usize) -> f64) -> Matrix {
    (0..n).map(|i| (0..n).map(|j| f(i, j)).collect()).collect()
}

fn weights(ensemble: &Ensemble, clusters: &[Cluster]) -> Matrix {
    matrix(clusters.len(), |p, q| {
        let (a, b) = (&clusters[p], &clusters[q]);
        if a.member == b.member {
            return 0.0;
        }
        let labelled = |i: usize, by: usize| ensemble.members()[by].label(i).is_some();
        let both = a.objects.iter().filter(|i| b.objects.contains(i)).count() as f64;
        let of_a = a.objects.iter().filter(|&&i| labelled(i, b.member)).count() as f64;
        let of_b = b.objects.iter().filter(|&&i| labelled(i, a.member)).count() as f64;
        if of_a + of_b > 0.0 { both / (of_a + of_b - both) } else { 0.0 }
    })
}

/// Numbers of the clusters that hold an object.
fn holding(clusters: &[Cluster], i: usize) -> Vec<usize> {
    (0..clusters.len()).filter(|&p| clusters[p].objects.contains(&i)).collect()
}

fn largest(m: &Matrix) -> f64 {
    m.iter().flatten().fold(0.0f64, |a, &b| a.max(b))
}

pub(super) fn connected_triples(ensemble: &Ensemble, decay: f64) -> Matrix {
    let clusters = clusters(ensemble);
    let w = weights(ensemble, &clusters);
    let wct = matrix(clusters.len(), |p, q| {
        if p == q || clusters[p].member != clusters[q].member {
            return 0.0;
        }
        (0..clusters.len()).map(|k| w[p][k].min(w[q][k])).sum()
    });
    let largest = largest(&wct);
    matrix(ensemble.n_objects(), |i, j| {
        let (mut sum, mut count) = (0.0, 0.0);
        for &p in &holding(&clusters, i) {
            for &q in &holding(&clusters, j) {
                if clusters[p].member == clusters[q].member {
                    count += 1.0;
                    sum += if p == q {
                        1.0
                    } else if largest > 0.0 {
                        decay * wct[p][q] / largest
                    } else {
                        0.0
                    };
                }
            }
        }
        if i == j {
            1.0
        } else if count > 0.0 {
            sum / count
        } else {
            0.0
        }
    })
}

pub(super) fn approximate_sim_rank(ensemble: &Ensemble, decay: f64) -> Matrix {
    let clusters = clusters(ensemble);
    let w = weights(ensemble, &clusters);
    let count = |p: usize| w[p].iter().filter(|&&x| x > 0.0).count() as f64;
    let sim = matrix(clusters.len(), |p, q| {
        let sum: f64 = (0..clusters.len()).map(|k| w[p][k] * w[q][k]).sum();
        if p == q || sum == 0.0 { 0.0 } else { sum / (count(p) * count(q)) }
    });
    let largest = largest(&sim);
    matrix(ensemble.n_objects(), |i, j| {
        let (a, b) = (holding(&clusters, i), holding(&clusters, j));
        let mut sum = 0.0;
        for &p in &a {
            for &q in &b {
                sum += if p == q {
                    1.0
                } else if largest > 0.0 {
                    decay * sim[p][q] / largest
                } else {
                    0.0
                };
            }
        }
        if i == j {
            1.0
        } else if a.is_empty() || b.is_empty() {
            0.0
        } else {
            sum / (a.len() * b.len()) as f64
        }
    })
}

pub(super) fn sim_rank(ensemble: &Ensemble, decay: f64, iterations: usize) -> Matrix {
    let clusters = clusters(ensemble);
    let n = ensemble.n_objects();
    let held: Vec<Vec<usize>> = (0..n).map(|i| holding(&clusters, i)).collect();
    let identity = |n: usize| matrix(n, |i, j| f64::from(u8::from(i == j)));
    let (mut objects, mut between) = (identity(n), identity(clusters.len()));
    let mean = |a: &[usize], b: &[usize], of: &Matrix| {
        let sum: f64 = a.iter().map(|&p| b.iter().map(|&q| of[p][q]).sum::<f64>()).sum();
        if a.is_empty() || b.is_empty() { 0.0 } else { decay * sum / (a.len() * b.len()) as f64 }
    };
    for _ in 0..iterations {
        let next = matrix(n, |i, j| if i == j { 1.0 } else { mean(&held[i], &held[j], &between) });
        between = matrix(clusters.len(), |p, q| {
            if p == q { 1.0 } else { mean(&clusters[p].objects, &clusters[q].objects, &objects) }
        });
        objects = next;
    }
    objects
}
