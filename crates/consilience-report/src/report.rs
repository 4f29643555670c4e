use std::fmt;
use std::ops::RangeInclusive;

use consilience_consensus::Lwea;
use consilience_core::{
    Clusters, ConsensusFunction, Dendrogram, Ensemble, Features, Fit, Hierarchy, MemoryBudget,
    Microclusters, Observer, Partition, Result, Seed, check_answer, ensure,
};
use consilience_trust::Recommended;

use crate::Findings;

type Function = Box<dyn ConsensusFunction<Output = Partition>>;
type Make<'a, T> = Box<dyn Fn(Clusters) -> Result<T> + Send + Sync + 'a>;

/// A consensus function by name, and how it is made for a number of clusters.
///
/// The catalogue makes them of its methods (`Method::candidate`); your own methods come in the same
/// way.
///
/// ```
/// use consilience::consensus::{EvidenceAccumulation, Lwea};
/// use consilience::report::{Candidate, ClusteringReport};
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
/// ])?;
/// let lwea = Candidate::new("lwea", |k| Ok(Box::new(Lwea::new(k))))
///     .tree(|k| Ok(Box::new(Lwea::new(k))));
/// let eac = Candidate::new("eac", |k| Ok(Box::new(EvidenceAccumulation::new(k))));
/// let report = ClusteringReport::new(&ensemble).clusters(2).methods(vec![lwea, eac]);
/// let findings = report.run(&())?;
/// // The first is the answer, the others are compared with it.
/// assert_eq!(findings.answer.method, "lwea");
/// assert_eq!(findings.methods.candidates.len(), 2);
/// # Ok::<(), consilience::Error>(())
/// ```
pub struct Candidate<'a> {
    pub(crate) name: String,
    pub(crate) about: String,
    make: Make<'a, Function>,
    pub(crate) tree: Option<Make<'a, Box<dyn Hierarchy>>>,
}

impl<'a> Candidate<'a> {
    /// A method: its name, and what makes it for a number of clusters, which is always fixed.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn(Clusters) -> Result<Function> + Send + Sync + 'a,
    ) -> Self {
        Candidate { name: name.into(), about: String::new(), make: Box::new(make), tree: None }
    }

    consilience_core::setters! {
        /// What grows the very tree that the method cuts. Default none: the method cuts no tree.
        pub fn tree(
            mut self,
            make: impl Fn(Clusters) -> Result<Box<dyn Hierarchy>> + Send + Sync + 'a
        ) {
            self.tree = Some(Box::new(make))
        }

        /// A sentence on the method, its paper and its parameters. Default none.
        pub fn about(mut self, about: impl Into<String>) { self.about = about.into() }
    }

    /// Makes the method and runs it, and refuses labels of other objects.
    pub(crate) fn fit(
        &self,
        clusters: Clusters,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let found = (self.make)(clusters)?.fit(ensemble, observer)?;
        check_answer(&self.name, "labels", found.output.n_objects(), ensemble.n_objects())?;
        Ok(found)
    }

    /// The tree, with the microclusters that are its leaves; `None` where the method cuts none.
    pub(crate) fn grown(
        &self,
        clusters: Clusters,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Option<(Microclusters, Dendrogram)>> {
        let Some(make) = &self.tree else { return Ok(None) };
        let (leaves, tree) = make(clusters)?.dendrogram(ensemble, observer)?;
        let (objects, n) = (leaves.grouping().n_objects(), ensemble.n_objects());
        check_answer(&self.name, "objects behind leaves of a tree", objects, n)?;
        tree.check_answer(&self.name, leaves.n_nodes())?;
        Ok(Some((leaves, tree)))
    }
}

impl fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("name", &self.name)
            .field("about", &self.about)
            .field("tree", &self.tree.is_some())
            .finish_non_exhaustive()
    }
}

/// What a page about a consensus is made of: the ensemble, and what else is known of its objects.
///
/// ```
/// use consilience::report::ClusteringReport;
/// use consilience::ndarray::array;
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1, 2])?,
/// ])?;
/// let features = array![[1.0, 7.0], [1.2, 5.0], [0.9, 6.0], [4.0, 7.0], [4.1, 5.0], [4.3, 6.0]];
/// let truth = Partition::from_labels(&[0, 0, 0, 1, 1, 1])?;
/// let findings = ClusteringReport::new(&ensemble)
///     .cluster_range(2..=4)
///     .features(&features)
///     .feature_names(["length", "weight"])
///     .truth(&truth)
///     .run(&())?;
/// let effects = &findings.features.unwrap().effects[0];
/// assert_eq!(effects[0].name, "length");
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Debug)]
pub struct ClusteringReport<'a> {
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) candidates: Vec<Candidate<'a>>,
    pub(crate) fixed: Option<usize>,
    pub(crate) range: Option<RangeInclusive<usize>>,
    pub(crate) features: Option<Features<'a>>,
    pub(crate) feature_names: Vec<String>,
    pub(crate) truth: Option<&'a Partition>,
    pub(crate) class_names: Vec<String>,
    pub(crate) object_names: Vec<String>,
    pub(crate) member_names: Vec<String>,
    pub(crate) title: String,
    pub(crate) command: Option<String>,
    pub(crate) seed: Seed,
    pub(crate) budget: MemoryBudget,
}

/// Names from anything that is text.
fn texts<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

impl<'a> ClusteringReport<'a> {
    /// Of an ensemble, by the recommended method and with the recommended number of clusters.
    pub fn new(ensemble: &'a Ensemble) -> Self {
        ClusteringReport {
            ensemble,
            candidates: Vec::new(),
            fixed: None,
            range: None,
            features: None,
            feature_names: Vec::new(),
            truth: None,
            class_names: Vec::new(),
            object_names: Vec::new(),
            member_names: Vec::new(),
            title: "Consensus clustering".to_owned(),
            command: None,
            seed: Seed(0),
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// So many clusters. Default as many as [`ClusterNumber`](consilience_trust::ClusterNumber)
        /// recommends; at least 1.
        pub fn clusters(mut self, clusters: usize) { self.fixed = Some(clusters) }

        /// The numbers of clusters that are tried, of which one is chosen unless
        /// [`clusters`](Self::clusters) gives it. Default 2 to the square root of the number of
        /// microclusters or to what three quarters of the members do not exceed, to one more than a
        /// member has where members nearly agree, and to 30 at most, as
        /// [`ClusterNumber`](consilience_trust::ClusterNumber::up_to) says; a range from above 2
        /// begins at no more than there are distinct objects.
        pub fn cluster_range(mut self, range: RangeInclusive<usize>) { self.range = Some(range) }

        /// The methods: the first gives the answer, the others are compared with it. Default
        /// [`Recommended`], with [`Lwea`] beside it.
        pub fn methods(mut self, methods: Vec<Candidate<'a>>) { self.candidates = methods }

        /// Features of the objects, for a projection and for what distinguishes the clusters.
        /// Default none.
        pub fn features(mut self, features: impl Into<Features<'a>>) {
            self.features = Some(features.into())
        }

        /// What the columns of the features are called. Default their numbers.
        pub fn feature_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) {
            self.feature_names = texts(names)
        }

        /// True labels, for the scores. Default none.
        pub fn truth(mut self, truth: &'a Partition) { self.truth = Some(truth) }

        /// What the classes of the truth are called, in the order of their first objects. Default
        /// their numbers.
        pub fn class_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) {
            self.class_names = texts(names)
        }

        /// What the objects are called. Default their numbers.
        pub fn object_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) {
            self.object_names = texts(names)
        }

        /// What the members are called. Default their numbers.
        pub fn member_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) {
            self.member_names = texts(names)
        }

        /// The title of the page. Default "Consensus clustering".
        pub fn title(mut self, title: impl Into<String>) { self.title = title.into() }

        /// The command that the page can be made with again. Default none.
        pub fn command(mut self, command: impl Into<String>) {
            self.command = Some(command.into())
        }

        /// Seed of the samples and of the default method. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory the default methods, the criteria, the diagnostics and the picture of
        /// the co-association may take; methods that are given keep their own. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Runs the consensus and everything that judges it.
    ///
    /// The numbers are the same at any number of threads, and hold no time. Members that give
    /// memberships are compared by their most probable clusters, as
    /// [`Diagnostics`](consilience_trust::Diagnostics) says; methods and co-association take what
    /// they give.
    ///
    /// # Complexity
    /// That of the first method, then O(n M min(M, 32)) for its diagnostics, and what samples of
    /// 1,000 to 2,000 objects take: a few seconds for the number of clusters and the other methods.
    ///
    /// # Errors
    /// Those of the first method;
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is labelled,
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where features,
    /// truth or names are of another number of objects, columns, classes or members, or the first
    /// method returns labels of another number of objects,
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for features,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for an empty
    /// range of numbers of clusters, or one that begins above 2 and the number of distinct objects,
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the memory budget,
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled). A method other than the
    /// first that fails is left out, as is a tree, and the page says why.
    pub fn run(&self, observer: &dyn Observer) -> Result<Findings> {
        self.check()?;
        let own;
        let candidates = if self.candidates.is_empty() {
            own = self.usual();
            &own
        } else {
            &self.candidates
        };
        Findings::of(self, candidates, observer)
    }

    /// The methods where none are given.
    fn usual(&self) -> Vec<Candidate<'static>> {
        let (seed, budget) = (self.seed, self.budget);
        let auto =
            move |k| Ok(Box::new(Recommended::new(k).seed(seed).memory_budget(budget)) as Function);
        let lwea = move |k| Lwea::new(k).memory_budget(budget);
        let lwea = Candidate::new("lwea", move |k| Ok(Box::new(lwea(k))))
            .tree(move |k| Ok(Box::new(lwea(k))));
        vec![Candidate::new("auto", auto), lwea]
    }

    fn check(&self) -> Result<()> {
        let n = self.ensemble.n_objects();
        if let Some(features) = self.features {
            let rows = features.n_objects();
            ensure!(rows == n, shape("features of {rows} objects, an ensemble of {n}"));
            features.dense()?.check()?;
            let (d, names) = (features.n_features(), self.feature_names.len());
            ensure!(names == 0 || names == d, shape("{names} names of {d} features"));
        }
        if let Some(truth) = self.truth {
            let rows = truth.n_objects();
            ensure!(rows == n, shape("true labels of {rows} objects, an ensemble of {n}"));
            let (k, names) = (truth.n_clusters(), self.class_names.len());
            ensure!(names == 0 || names == k, shape("{names} names of {k} classes"));
        }
        let (m, names) = (self.ensemble.n_members(), self.member_names.len());
        ensure!(names == 0 || names == m, shape("{names} names of {m} members"));
        let names = self.object_names.len();
        ensure!(names == 0 || names == n, shape("{names} names of {n} objects"));
        if let Some(range) = &self.range {
            let (least, most) = (range.start(), range.end());
            ensure!(
                *least >= 2 && least <= most,
                invalid("numbers of clusters {least}..={most}; expected at least 2, ascending")
            );
        }
        Ok(())
    }
}
