use consilience_core::{
    BaseClusterer, Features, Fit, Linkage, MemoryBudget, Observer, Partition, Report, Result, Seed,
    Stop, Watch, room,
};
use ndarray::Array2;
use rayon::prelude::*;

use crate::distinct::Distinct;
use crate::input::{finish, unit_table};
use crate::merges::merges;

/// Agglomerative clustering: joins the two closest clusters until k are left.
///
/// For up to some 10,000 objects; deterministic, so that members differ by features, objects or k
/// only. Single linkage follows chains, complete and Ward like compact clusters. Not for large n.
///
/// ```
/// use consilience::{Linkage, Seed};
/// use consilience::core::BaseClusterer;
/// use consilience::generate::Agglomerative;
/// use consilience::ndarray::array;
///
/// let x = array![[0.0], [1.0], [2.0], [9.0]];
/// let found = Agglomerative::new(Linkage::Single).fit(x.view().into(), 2, Seed(0), &())?.output;
/// assert_eq!(found.to_signed(), vec![0, 0, 0, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// O(n^2 d) time and 4 n^2 bytes, refused beyond the memory budget. It can be cancelled between
/// any two merges, but for centroid and median linkage, which are finished first.
///
/// # Errors
/// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget.
///
/// # References
/// D. Muellner, "Modern hierarchical, agglomerative clustering algorithms", 2011. Where objects are
/// equal, merges at height 0 are never undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agglomerative {
    linkage: Linkage,
    budget: MemoryBudget,
}

impl Default for Agglomerative {
    /// Average linkage.
    fn default() -> Self {
        Agglomerative::new(Linkage::Average)
    }
}

impl Agglomerative {
    /// Agglomeration with the given linkage and the default memory budget.
    pub fn new(linkage: Linkage) -> Self {
        Agglomerative { linkage, budget: MemoryBudget::default() }
    }

    consilience_core::setters! {
        /// How much memory the distances may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }
}

impl BaseClusterer for Agglomerative {
    fn name(&self) -> &'static str {
        match self.linkage {
            Linkage::Single => "single-linkage",
            Linkage::Complete => "complete-linkage",
            Linkage::Average => "average-linkage",
            Linkage::Ward => "ward-linkage",
            Linkage::Centroid => "centroid-linkage",
            Linkage::Median => "median-linkage",
        }
    }

    fn set_memory_budget(&mut self, budget: MemoryBudget) {
        self.budget = budget;
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        _seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let features = features.dense()?;
        features.check_clusters(clusters)?;
        observer.check()?;
        let n = features.n_objects();
        // Half a square of 8 bytes.
        self.budget.check_square("distances", n, 4)?;
        let mut report = Report::default();
        let x = unit_table(&features);
        let distinct = Distinct::new(x.clone()).len();
        let mut distances = report.stage("distances", || condensed(&x, observer))?;
        drop(x);
        let mut watch = Watch::new(observer, "agglomeration", n);
        let merges = report
            .stage("agglomeration", || merges(&mut distances, n, self.linkage, &mut watch))?;
        watch.step(n)?;
        // The first merges are the lowest, or those made first; between equal objects they have
        // height 0 and come first.
        let keep = n - clusters.min(distinct);
        let mut parent: Vec<u32> = room::collected(0..n as u32)?;
        for pair in merges.iter().take(keep) {
            let [a, b] = pair.map(|object| root(&mut parent, object));
            parent[a as usize] = b;
        }
        let mut labels = room::with_capacity(n)?;
        labels.extend((0..n as u32).map(|object| root(&mut parent, object)));
        finish(&labels, clusters, report)
    }
}

/// The object at the root of a tree; the way there is halved.
fn root(parent: &mut [u32], mut object: u32) -> u32 {
    while parent[object as usize] != object {
        parent[object as usize] = parent[parent[object as usize] as usize];
        object = parent[object as usize];
    }
    object
}

/// Others whose distances from an object are summed up side by side: their sums stay in the cache,
/// and each adds its columns in the order in which a loop over them would.
const ABREAST: usize = 512;

/// Distances of all pairs, row by row of the upper triangle.
fn condensed(x: &Array2<f64>, observer: &dyn Observer) -> Result<Vec<f64>> {
    let n = x.nrows();
    let mut out = room::zeros(n * (n - 1) / 2)?;
    let mut rows = room::with_capacity(n)?;
    let mut rest = out.as_mut_slice();
    for i in 0..n {
        let (row, tail) = rest.split_at_mut(n - 1 - i);
        rows.push(row);
        rest = tail;
    }
    let stop = Stop::new(observer);
    // Column by column, so that the objects beside each other are read together.
    let columns: Vec<Vec<f64>> = x.columns().into_iter().map(|c| c.to_vec()).collect();
    rows.into_par_iter().enumerate().for_each(|(i, row)| {
        if stop.asked() {
            return;
        }
        for (at, part) in row.chunks_mut(ABREAST).enumerate() {
            let from = i + 1 + at * ABREAST;
            // Memory that is read before it is written is given by the system twice.
            part.fill(0.0);
            for column in &columns {
                let own = column[i];
                for (sum, other) in part.iter_mut().zip(&column[from..]) {
                    *sum += (own - other) * (own - other);
                }
            }
            part.iter_mut().for_each(|sum| *sum = sum.sqrt());
        }
    });
    stop.check()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// To the bit, whatever the number of objects beside the width of a part.
    #[test]
    fn distances_equal_the_definition() {
        for (n, d) in [(1, 2), (2, 0), (5, 3), (ABREAST + 1, 1), (ABREAST + 70, 5)] {
            let mut stream = Seed(n as u64).stream();
            let x = Array2::from_shape_simple_fn((n, d), || stream.normal());
            let found = condensed(&x, &()).unwrap();
            let mut at = found.iter();
            for i in 0..n {
                for j in i + 1..n {
                    let squares = (0..d).map(|c| (x[[i, c]] - x[[j, c]]).powi(2));
                    let expected = squares.fold(0.0, |sum: f64, s| sum + s).sqrt();
                    assert_eq!(at.next().map(|v| v.to_bits()), Some(expected.to_bits()));
                }
            }
            assert!(at.next().is_none());
        }
    }
}
