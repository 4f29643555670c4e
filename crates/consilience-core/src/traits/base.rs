use crate::{Features, Fit, MemoryBudget, Observer, Partition, Result, Seed};

/// Features to one base clustering.
///
/// The number of clusters and the seed are arguments and not settings: every member of an ensemble
/// is drawn with its own.
pub trait BaseClusterer: Send + Sync {
    /// The name that the program uses, for instance `kmeans`.
    fn name(&self) -> &'static str;

    /// Clusters the rows into at most `clusters` clusters. Fewer come out where fewer rows are
    /// distinct (the report says so), or where the method finds their number itself.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](crate::ErrorKind::Empty) and
    /// [`ErrorKind::NonFinite`](crate::ErrorKind::NonFinite) for bad features,
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for `clusters` outside
    /// `1..=n`, [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>>;

    /// Limits the memory of a method whose memory may grow beyond that of its features. The default
    /// does nothing.
    fn set_memory_budget(&mut self, _budget: MemoryBudget) {}

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`BaseClusterer::fit`].
    fn cluster(&self, features: Features<'_>, clusters: usize, seed: Seed) -> Result<Partition> {
        Ok(self.fit(features, clusters, seed, &())?.output)
    }
}
