use consilience_core::{
    Clusters, Features, MemoryBudget, Observer, Result, Seed, at_least_one, ensure,
};
use consilience_num::rows::Scaled;

use super::Questioner;
use super::cells::Cells;
use super::evidence::Evidence;
use super::gaussians;
use super::joins::Joins;
use super::space::Space;
use super::tree::{Odds, Tree};
use crate::table;

/// Cells at least, and for each cluster.
const CELLS: (usize, usize) = (300, 4);
/// Groups that the metric is learned from at least; objects in each of them.
const GROUPS: (usize, usize) = (50, 10);

/// Settings of a [`Questioner`]: how many clusters, what answers cost and how many there may be.
///
/// ```
/// use consilience::model::QuestionerOptions;
/// use consilience::ndarray::Array2;
///
/// let x = Array2::from_shape_fn((60, 2), |(i, j)| {
///     (i / 30 * 8) as f64 + (i * (j + 3) % 7) as f64 * 0.1
/// });
/// let questioner = QuestionerOptions::new(2).budget(20).start(&x)?;
/// assert_eq!(questioner.partition()?.sizes(), [30, 30]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestionerOptions {
    pub(super) clusters: Clusters,
    pub(super) budget: usize,
    pub(super) price: f64,
    pub(super) group_size: usize,
    cells: Option<usize>,
    pub(super) seed: Seed,
    pub(super) memory: MemoryBudget,
}

impl QuestionerOptions {
    /// Into so many clusters.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        QuestionerOptions {
            clusters: clusters.into(),
            budget: 1_000,
            price: 0.0,
            group_size: 2,
            cells: None,
            seed: Seed(0),
            memory: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// Answers that may be asked for in all; one about s objects counts as s - 1. Default
        /// 1,000; any number, and with 0 nothing is asked.
        pub fn budget(mut self, answers: usize) { self.budget = answers }

        /// What an answer costs, in objects: nothing is asked that is not expected to put so many
        /// objects right. Default 0; 0 or more.
        pub fn price(mut self, objects: f64) { self.price = objects }

        /// Objects in a question at most: 2 for "same or different", more for "which of these
        /// belong together". More are taken in while they gain at least half as much for each
        /// answer as the first two alone, and the price. Default 2; 2 to 20.
        pub fn group_size(mut self, objects: usize) { self.group_size = objects }

        /// Small groups of objects that questions are about, at most. Default 300 or four for each
        /// cluster, whichever is more; at least as many as clusters.
        pub fn cells(mut self, cells: usize) { self.cells = Some(cells) }

        /// Seed of all starts. Default `Seed(0)`.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory may be taken, also by answers. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.memory = budget }
    }

    /// The clustering without answers, from which questions start.
    ///
    /// # Complexity
    /// O(n d^2) time up to d = 600, 20 iterations of k-means into the cells, and below 50 clusters
    /// mixtures of up to 3 k Gaussians on at most 2,000 of the objects; O(n d + m^2) memory for m
    /// cells.
    ///
    /// # Errors
    /// Features that are sparse, empty or not finite; no clusters, more than objects, or not a
    /// fixed number; a negative price, a group size outside 2 to 20, fewer cells than clusters;
    /// more memory than the budget.
    pub fn start<'a>(&self, features: impl Into<Features<'a>>) -> Result<Questioner> {
        self.start_observed(features, &())
    }

    /// As [`start`](QuestionerOptions::start); the observer may cancel.
    ///
    /// # Errors
    /// As [`start`](QuestionerOptions::start), and where the observer cancels.
    pub fn start_observed<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Questioner> {
        let features = table::of(features.into(), "a questioner", table::MAPPED)?;
        let clusters = self.check(features.into())?;
        let n = features.n_objects();
        let most = self.cells.unwrap_or(CELLS.0.max(CELLS.1 * clusters)).min(n);
        self.memory.check_table("features", n, features.n_features(), 24)?;
        // Products, distances, evidence, odds and their order, of all pairs.
        self.memory.check_square("cells", most, 64)?;
        self.memory.check_table("objects and cells", n, most, 8)?;
        let groups = clusters.max(GROUPS.0.min(n / GROUPS.1));
        self.memory.check_table("objects and groups", n, groups, 16)?;
        let x = Scaled::new(features).features().to_f64()?;
        let mut space = Space::new(x, self.seed, observer)?;
        space.learn_alone(groups, self.seed, observer)?;
        let room = self.memory.allows_table(n, clusters, gaussians::ENTRY);
        let round = room && gaussians::explain(space.components(), clusters, self.seed, observer)?;
        let cells = Cells::new(space.z.view(), clusters, most, self.seed, observer)?;
        let evidence = Evidence::new(Odds::LEVEL);
        let mut questioner = Questioner {
            options: *self,
            clusters,
            groups,
            space,
            cells,
            round,
            tree: Tree::default(),
            before: Vec::new(),
            joins: Joins::default(),
            between: Default::default(),
            evidence,
            spent: 0,
            learned_at: 0,
            revised_at: 0,
        };
        questioner.join();
        questioner.learn(observer)?;
        questioner.begin();
        Ok(questioner)
    }

    /// The number of clusters.
    fn check(&self, features: Features<'_>) -> Result<usize> {
        features.check()?;
        let clusters = self
            .clusters
            .fixed()
            .ok_or_else(|| self.clusters.refuse("a questioner", "a fixed number"))?;
        features.check_clusters(clusters)?;
        let price = self.price;
        ensure!(
            price >= 0.0 && price.is_finite(),
            invalid("price of {price} objects; expected 0 or more")
        );
        let size = self.group_size;
        ensure!((2..=20).contains(&size), invalid("group_size {size}; expected 2 to 20"));
        if let Some(cells) = self.cells {
            at_least_one("cells", cells)?;
            ensure!(cells >= clusters, invalid("{cells} cells for {clusters} clusters"));
        }
        Ok(clusters)
    }
}
