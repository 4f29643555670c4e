use std::fmt;

use consilience_core::{
    Clusters, ConsensusFunction, Ensemble, ErrorKind, Features, Fit, MemoryBudget, NodeConsensus,
    Observer, Partition, Report, Result, Seed, check_answer,
};
use consilience_generate::{Generator, KMeans};
use consilience_trust::Recommended;

use crate::prototypes::Prototypes;
use crate::{ConsensusModel, table};

/// Features to a consensus clustering that labels new objects: generator, consensus function and
/// what places objects, in one call.
///
/// The first choice for features without labels where one run of k-means would depend on its start.
/// With a few labels or pairs see [`LinkedClustering`](crate::LinkedClustering). By default 20
/// k-means members with random numbers of clusters, combined by [`Recommended`]. Where many
/// clusters K are asked for, members have K to 2 K ([`Generator::consensus_clusters`]).
///
/// Where the number of clusters is not given ([`Clusters::Auto`]), the features are asked first: it
/// is theirs where they fall into compact clusters far from each other, as
/// [`SilhouetteNumber`](consilience_generate::SilhouetteNumber) finds it, and else what the
/// members' criteria say. Where the consensus then has a mean silhouette lower by 0.1 or more than
/// the clusters that told the number, as where members divide a large cluster rather than part
/// small ones, these are the result, and join the members. The report has notes of it.
///
/// ```
/// use consilience::generate::{Generator, KMeans, Scale};
/// use consilience::model::ConsensusClustering;
/// use consilience::ndarray::Array2;
/// use consilience::walk::Pta;
/// use consilience::Observer;
///
/// let at = |(i, j): (usize, usize)| (i / 20 * 9) as f32 + (i * (j + 2) % 5) as f32 * 0.2;
/// let x = Array2::from_shape_fn((60, 3), at);
/// let members = Generator::new(KMeans::new()).members(10).clusters(3..=6).scale(Scale::ZScore);
/// let found = ConsensusClustering::by(Pta::new(3)).generator(members).fit(&x, &())?;
/// assert_eq!(found.output.partition().sizes(), [20, 20, 20]);
/// assert!(found.report.stages.iter().any(|(stage, _)| *stage == "members"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Complexity
/// That of generator and consensus function, and O(n p d) per member for its p prototypes: as many
/// as it has clusters where objects are nearest to the mean of their own, as k-means has it.
#[doc(alias = "fit_predict")]
#[doc(alias = "ClusterEnsemble")]
pub struct ConsensusClustering {
    generator: Generator,
    method: Method,
    /// Into how many clusters, where that is known.
    clusters: Option<usize>,
}

/// A consensus function that is chosen at run time.
type Function = Box<dyn ConsensusFunction<Output = Partition>>;

/// The consensus function.
enum Method {
    /// Chosen by the evidence.
    Recommended(Recommended),
    /// The user's.
    Given(Function),
    /// The user's, once it is known whether the features say how many clusters they are.
    Built(Box<dyn Fn(Clusters) -> Result<Function>>),
}

impl Method {
    /// Whether it is to be told how many clusters the features are.
    fn asks(&self) -> bool {
        match self {
            Method::Recommended(method) => NodeConsensus::clusters(method) == Clusters::Auto,
            Method::Given(_) => false,
            Method::Built(_) => true,
        }
    }

    fn fit(
        &self,
        clusters: Clusters,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let run = |method: &dyn ConsensusFunction<Output = Partition>| {
            let fit = method.fit(ensemble, observer)?;
            check_answer(method.name(), "labels", fit.output.n_objects(), ensemble.n_objects())?;
            Ok(fit)
        };
        match self {
            Method::Recommended(method) if clusters != Clusters::Auto => {
                run(&method.of_clusters(clusters))
            }
            Method::Recommended(method) => run(method),
            Method::Given(method) => run(method.as_ref()),
            Method::Built(build) => run(build(clusters)?.as_ref()),
        }
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Recommended(method) => method.fmt(f),
            Method::Given(method) => f.write_str(method.name()),
            Method::Built(_) => f.write_str("built for the number of clusters"),
        }
    }
}

impl fmt::Debug for ConsensusClustering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsensusClustering")
            .field("generator", &self.generator)
            .field("method", &self.method)
            .finish()
    }
}

impl ConsensusClustering {
    /// Into so many clusters, by the recommended method.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        let clusters = clusters.into();
        let made = Self::with(Method::Recommended(Recommended::new(clusters)));
        let clusters = clusters.fixed();
        ConsensusClustering { clusters, ..made }.generator(Generator::new(KMeans::new()))
    }

    /// By a consensus function of the caller's choice, which says how many clusters. Where these
    /// are many, say it to the generator as well: [`Generator::consensus_clusters`].
    pub fn by(method: impl ConsensusFunction<Output = Partition> + 'static) -> Self {
        Self::boxed(Box::new(method))
    }

    /// As [`ConsensusClustering::by`], for a method chosen at run time.
    pub fn boxed(method: Box<dyn ConsensusFunction<Output = Partition>>) -> Self {
        Self::with(Method::Given(method))
    }

    /// By a consensus function that is built once it is known whether the features say how many
    /// clusters they are ([`SilhouetteNumber`](consilience_generate::SilhouetteNumber)): for
    /// [`Clusters::Fixed`] where they do, and for [`Clusters::Auto`] elsewhere.
    ///
    /// ```
    /// use consilience::consensus::Lwea;
    /// use consilience::model::ConsensusClustering;
    /// use consilience::ndarray::Array2;
    ///
    /// let mut stream = consilience::Seed(1).stream();
    /// let at = |(i, _): (usize, usize)| (i / 20 * 9) as f64 + stream.normal();
    /// let x = Array2::from_shape_fn((100, 3), at);
    /// let found = ConsensusClustering::built(|clusters| Ok(Box::new(Lwea::new(clusters))));
    /// assert_eq!(found.cluster(&x)?.partition().sizes(), [20; 5]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn built<F>(build: F) -> Self
    where
        F: Fn(Clusters) -> Result<Box<dyn ConsensusFunction<Output = Partition>>> + 'static,
    {
        Self::with(Method::Built(Box::new(build)))
    }

    fn with(method: Method) -> Self {
        ConsensusClustering { generator: Generator::new(KMeans::new()), method, clusters: None }
    }

    consilience_core::setters! {
        /// What makes the members. Default: 20 members of k-means on all features as they are,
        /// with 2 to sqrt(n) clusters (50 at most), or of K to 2 K where the recommended
        /// method is to find K and that range ends below 2 K.
        pub fn generator(mut self, generator: Generator) {
            self.generator = match self.clusters {
                Some(clusters) => generator.consensus_clusters(clusters),
                None => generator,
            }
        }

        /// Seed of the generator, and of the recommended method; a method given to
        /// [`ConsensusClustering::by`] keeps its own. Default: the generator's, and `Seed(0)`.
        pub fn seed(mut self, seed: Seed) {
            self.generator = self.generator.seed(seed);
            if let Method::Recommended(method) = self.method {
                self.method = Method::Recommended(method.seed(seed));
            }
        }

        /// How much memory generator and recommended method may take each; a method given to
        /// [`ConsensusClustering::by`] keeps its own. Default 8 GiB, or the generator's.
        pub fn memory_budget(mut self, budget: MemoryBudget) {
            self.generator = self.generator.memory_budget(budget);
            if let Method::Recommended(method) = self.method {
                self.method = Method::Recommended(method.memory_budget(budget));
            }
        }
    }

    /// The fitted model alone.
    ///
    /// # Errors
    /// As [`ConsensusClustering::fit`].
    #[doc(alias = "fit_predict")]
    pub fn cluster<'a>(&self, features: impl Into<Features<'a>>) -> Result<ConsensusModel> {
        Ok(self.fit(features, &())?.output)
    }

    /// The fitted model, with a report that has the stages of generator and consensus function.
    ///
    /// # Errors
    /// Those of [`Generator::fit`] and of the consensus function;
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for sparse
    /// features, since prototypes are means: fit to the rows that the map of a `TruncatedSvd` makes
    /// of them, or give the ensemble of a [`Generator`], which takes sparse features as they are,
    /// to a consensus function;
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where that labels no object,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where it returns
    /// another number of labels than there are objects.
    pub fn fit<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Fit<ConsensusModel>> {
        let features = features.into();
        // Prototypes are means of what the members saw.
        let instead = format!(
            "{}, or the ensemble that a `Generator` makes of them as they are, given to a \
             consensus function",
            table::MAPPED
        );
        table::of(features, "a consensus clustering", &instead)?;
        match self.generator.filled(features, observer)? {
            Some(filled) => self.fit_to((&filled).into(), observer),
            None => self.fit_to(features, observer),
        }
    }

    /// How many clusters the features are, where the method asks and they say it.
    fn number(
        &self,
        features: Features<'_>,
        observer: &dyn Observer,
    ) -> Result<(Clusters, Report)> {
        let mut report = Report::default();
        if !self.method.asks() {
            return Ok((Clusters::Auto, report));
        }
        let number = self.generator.silhouettes();
        match report.stage("silhouettes", || number.fit(features, observer)) {
            // The members can be asked all the same.
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                let why = error.message();
                report.notes.push(format!("the features were not asked how many clusters: {why}"));
                Ok((Clusters::Auto, report))
            }
            found => {
                let found = found?;
                report.notes = found.report.notes;
                Ok((found.output.clusters.map_or(Clusters::Auto, Clusters::Fixed), report))
            }
        }
    }

    fn fit_to(
        &self,
        features: Features<'_>,
        observer: &dyn Observer,
    ) -> Result<Fit<ConsensusModel>> {
        let (clusters, asked) = self.number(features, observer)?;
        let made = self.generator.fit_into(features, clusters.fixed(), observer)?;
        let mut ensemble = made.output;
        let mut views = self.generator.views(features)?;
        let found = self.method.fit(clusters, &ensemble, observer)?;
        let mut partition = found.output;
        let mut report = joined(asked, joined(made.report, found.report));
        if let Some(clusters) = clusters.fixed()
            && let Some(clearer) = report.stage("silhouettes", || {
                self.generator.silhouettes().clearer(features, clusters, &partition, observer)
            })?
        {
            report.notes.push(CLEARER.to_owned());
            ensemble.push(clearer.clone())?;
            views.push(self.generator.whole_view(features));
            partition = clearer;
        }
        let places = report.stage("prototypes", || {
            Prototypes::of_members(views, features.dense()?.to_f64()?.view(), &ensemble, observer)
        })?;
        Ok(Fit::new(ConsensusModel::new(ensemble, partition, places)?, report))
    }
}

/// What is said where the clusters are those of the features and not of the members.
const CLEARER: &str = "the members' consensus has other clusters of a far lower silhouette: taken \
                       are those that say how many there are, which are one more member";

/// A report, with the stages and notes of what came before it before its own.
fn joined(made: Report, mut found: Report) -> Report {
    found.stages.splice(0..0, made.stages);
    found.notes.splice(0..0, made.notes);
    found
}
