use consilience_core::{
    BaseClusterer, Features, Fit, Linkage, MemoryBudget, Observer, Partition, Report, Result, Seed,
    room,
};
use ndarray::Array2;

use crate::distinct::Distinct;
use crate::input::{finish, unit_table};
use crate::merges::{Merges, merges};

/// Agglomerative clustering: joins the two closest clusters until k are left.
///
/// For up to some 10,000 objects, by Ward's linkage some 20,000 and more; deterministic, so that
/// members differ by features, objects or k only. Single linkage follows chains, complete and Ward
/// like compact clusters. Not for large n.
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
/// O(n^2 d) time and 4 n^2 bytes for the distances of all pairs, refused beyond the memory budget;
/// 8 n d bytes for the means of clusters under Ward's linkage of up to 32 features, and of more
/// where the distances would be beyond the budget. It can be cancelled between any two merges, but
/// for centroid and median linkage, which are finished first.
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
        /// How much memory distances or means may take. Default 8 GiB.
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
        let mut report = Report::default();
        let x = unit_table(&features);
        let distinct = Distinct::new(x.clone()).len();
        let tree = Tree::new(x, self.linkage, self.budget, &mut report, observer)?;
        let labels = tree.cut(clusters.min(distinct))?;
        finish(&labels, clusters, report)
    }
}

/// All merges of some objects, which can be cut anywhere.
pub(crate) struct Tree {
    objects: usize,
    /// The lowest first, or, under centroid and median linkage, the first.
    merges: Merges,
}

impl Tree {
    pub(crate) fn new(
        x: Array2<f64>,
        linkage: Linkage,
        budget: MemoryBudget,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (objects, d) = x.dim();
        let means = linkage == Linkage::Ward
            && (d <= FEW_FEATURES || !budget.allows_table(objects, objects, 4));
        if means {
            budget.check_table("means", objects, d, 8)?;
        } else {
            // Half a square of 8 bytes.
            budget.check_square("distances", objects, 4)?;
        }
        Ok(Tree { objects, merges: merges(x, linkage, means, report, observer)? })
    }

    /// An object of the cluster of each object, where so many clusters are left. Between equal
    /// objects merges have height 0 and come first: as many clusters as there are distinct objects
    /// are those.
    pub(crate) fn cut(&self, clusters: usize) -> Result<Vec<u32>> {
        let mut parent: Vec<u32> = room::collected(0..self.objects as u32)?;
        for pair in self.merges.iter().take(self.objects.saturating_sub(clusters)) {
            let [a, b] = pair.map(|object| root(&mut parent, object));
            parent[a as usize] = b;
        }
        let mut labels = room::with_capacity(self.objects)?;
        labels.extend((0..self.objects as u32).map(|object| root(&mut parent, object)));
        Ok(labels)
    }
}

/// Features up to which Ward's linkage is faster by means: by distances each pair of objects reads
/// them once, by means about three times.
const FEW_FEATURES: usize = 32;

/// The object at the root of a tree; the way there is halved.
fn root(parent: &mut [u32], mut object: u32) -> u32 {
    while parent[object as usize] != object {
        parent[object as usize] = parent[parent[object as usize] as usize];
        object = parent[object as usize];
    }
    object
}
