use crate::{Features, Fit, Member, MemoryBudget, Observer, Partition, Result, Seed};

/// Features to one base clustering.
///
/// The number of clusters and the seed are arguments and not settings: every member of an ensemble
/// is drawn with its own.
///
/// One of your own goes into a generator like ours:
///
/// ```
/// use consilience::generate::Generator;
/// use consilience::ndarray::array;
/// use consilience::prelude::*;
/// use consilience::{Features, Fit, Observer, Partition, Report, Result, Seed};
///
/// /// Cuts the range of the first feature into equal parts.
/// struct Histogram;
///
/// impl BaseClusterer for Histogram {
///     fn name(&self) -> &'static str {
///         "histogram"
///     }
///
///     fn fit(
///         &self,
///         features: Features<'_>,
///         clusters: usize,
///         _: Seed,
///         observer: &dyn Observer,
///     ) -> Result<Fit<Partition>> {
///         features.check_clusters(clusters)?;
///         observer.check()?;
///         let x = features.dense()?.to_f64()?;
///         let column = x.column(0);
///         let low = column.iter().copied().fold(f64::INFINITY, f64::min);
///         let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
///         let width = (high - low).max(f64::MIN_POSITIVE) / clusters as f64;
///         let part = |v: f64| (((v - low) / width) as u64).min(clusters as u64 - 1);
///         let cut = Partition::from_fn(x.nrows(), |i| Some(part(column[i])))?;
///         let mut report = Report::default();
///         report.expect_clusters(clusters, cut.n_clusters(), "some parts are empty");
///         Ok(Fit::new(cut, report))
///     }
/// }
///
/// let x = array![[0.0], [0.1], [0.2], [9.0], [9.5]];
/// assert_eq!(Histogram.cluster(Features::from(&x), 2, Seed(0))?.sizes(), [3, 2]);
/// let ensemble = Generator::new(Histogram).members(4).clusters(2..=3).generate(&x)?;
/// assert_eq!(ensemble.n_members(), 4);
/// # Ok::<(), consilience::Error>(())
/// ```
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

    /// As [`fit`](BaseClusterer::fit), as a member of an ensemble: with memberships where the
    /// method has some. The default gives the labels.
    ///
    /// # Errors
    /// As [`fit`](BaseClusterer::fit).
    fn member(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Member>> {
        let found = self.fit(features, clusters, seed, observer)?;
        Ok(Fit::new(Member::Hard(found.output), found.report))
    }

    /// Limits the memory of a method whose memory may grow beyond that of its features. The default
    /// does nothing.
    fn set_memory_budget(&mut self, _budget: MemoryBudget) {}

    /// Whether the method needs little memory beside its features, so that even a few members may
    /// be made side by side. The default is no: they are made one after another.
    fn takes_little_memory(&self) -> bool {
        false
    }

    /// The clustering alone.
    ///
    /// # Errors
    /// As [`BaseClusterer::fit`].
    #[doc(alias = "fit_predict")]
    fn cluster(&self, features: Features<'_>, clusters: usize, seed: Seed) -> Result<Partition> {
        Ok(self.fit(features, clusters, seed, &())?.output)
    }
}

impl<T: BaseClusterer + ?Sized> BaseClusterer for Box<T> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn fit(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        (**self).fit(features, clusters, seed, observer)
    }

    fn member(
        &self,
        features: Features<'_>,
        clusters: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Member>> {
        (**self).member(features, clusters, seed, observer)
    }

    fn set_memory_budget(&mut self, budget: MemoryBudget) {
        (**self).set_memory_budget(budget)
    }

    fn takes_little_memory(&self) -> bool {
        (**self).takes_little_memory()
    }
}
