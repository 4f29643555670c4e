//! Where a solver starts.

use consilience_core::{Grouping, Memberships, Partition, Result, Seed, ensure, room};
use ndarray::Array2;

/// How far a given start is moved towards the uniform one: certain memberships would make
/// impossible pairs infinitely bad, and a solver could not leave them.
const SOFTENED: f64 = 0.05;
/// Range of the perturbation of uniform memberships, relative to them.
const PERTURBED: f64 = 0.1;

/// Where [`Pcc`](crate::Pcc) starts.
///
/// The problem has many local optima. Uniform memberships are a stationary point, so a start has to
/// break the symmetry; a given start, for instance the labels of a cheap consensus, is moved a
/// twentieth towards uniform.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// Uniform memberships with a seeded perturbation: the default.
    #[default]
    Perturbed,
    /// A partition of the objects with at most as many clusters as asked for; unlabelled objects
    /// are uniform.
    Partition(Partition),
    /// Memberships of the objects in at most as many clusters as asked for.
    Memberships(Memberships),
}

impl Start {
    /// Memberships of the nodes to begin with.
    pub(crate) fn of_nodes(
        &self,
        grouping: Option<&Grouping>,
        nodes: usize,
        clusters: usize,
        seed: Seed,
    ) -> Result<Array2<f64>> {
        let mut y = match self {
            Start::Perturbed => perturbed(nodes, clusters, seed),
            Start::Partition(p) => averaged(&Memberships::from(p), grouping, nodes, clusters)?,
            Start::Memberships(m) => averaged(m, grouping, nodes, clusters)?,
        };
        if *self != Start::Perturbed {
            y.mapv_inplace(|v| (1.0 - SOFTENED) * v + SOFTENED / clusters as f64);
        }
        for mut row in y.rows_mut() {
            let sum = row.sum();
            row /= sum;
        }
        Ok(y)
    }
}

fn perturbed(nodes: usize, clusters: usize, seed: Seed) -> Array2<f64> {
    let mut random = seed.stream();
    Array2::from_shape_simple_fn((nodes, clusters), || 1.0 + PERTURBED * (random.uniform() - 0.5))
}

/// Mean memberships of the objects of each node.
fn averaged(
    start: &Memberships,
    grouping: Option<&Grouping>,
    nodes: usize,
    clusters: usize,
) -> Result<Array2<f64>> {
    let objects = grouping.map_or(nodes, Grouping::n_objects);
    ensure!(
        start.n_objects() == objects,
        shape("a start of {} objects for {objects}", start.n_objects())
    );
    ensure!(
        start.n_clusters() <= clusters,
        invalid(
            "a start in {} clusters; expected at most the {clusters} asked for",
            start.n_clusters()
        )
    );
    let mut y = room::table(nodes, clusters)?;
    for i in 0..objects {
        let node = grouping.map_or(i, |g| g.of_object()[i] as usize);
        if node == Grouping::NONE as usize {
            continue;
        }
        if start.evidence()[i] == 0.0 {
            y.row_mut(node).mapv_inplace(|v| v + 1.0 / clusters as f64);
            continue;
        }
        for (c, &v) in start.row(i).iter().enumerate() {
            y[[node, c]] += v;
        }
    }
    Ok(y)
}
