use std::fmt;

use super::{Parameter, Settings};
use crate::core::check_answer;
use crate::{
    Clusters, ConsensusFunction, Ensemble, Fit, Hierarchy, Memberships, Observer, Partition, Result,
};

type Make<T> = fn(&Settings) -> Result<T>;

/// How a method is made, and, where it grows one, what grows its dendrogram.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) make: Make<AnyConsensus>,
    pub(super) tree: Option<Make<Box<dyn Hierarchy>>>,
}

/// A consensus function of the catalogue: its name, its paper, its parameters, and how it is made.
///
/// From [`methods`](super::methods) or [`by_name`](super::by_name).
///
/// ```
/// use consilience::catalogue::{self, Settings};
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1])?,
/// ])?;
/// let method = catalogue::by_name("eac-al")?;
/// println!("{}: {} ({})", method.name(), method.about(), method.paper());
/// let settings = Settings::new(2);
/// assert_eq!(method.build(&settings)?.consensus(&ensemble)?.n_clusters(), 2);
/// // It grows a tree, which can be had as well.
/// let (nodes, tree) = method.hierarchy(&settings)?.dendrogram(&ensemble, &())?;
/// assert_eq!(tree.n_leaves(), nodes.n_nodes());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Debug)]
pub struct Method {
    name: &'static str,
    about: &'static str,
    paper: &'static str,
    parameters: &'static [Parameter],
    chooses: bool,
    recipe: Recipe,
}

impl Method {
    /// One that chooses the number of clusters where it is asked to.
    pub(super) const fn new(
        name: &'static str,
        paper: &'static str,
        parameters: &'static [Parameter],
        recipe: Recipe,
    ) -> Self {
        Method { name, about: "", paper, parameters, chooses: true, recipe }
    }

    /// With one line about it.
    pub(super) const fn line(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// One without a criterion of its own for the number of clusters.
    pub(super) const fn needs_number(mut self) -> Self {
        self.chooses = false;
        self
    }

    /// What [`by_name`](super::by_name) finds it by.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One line about it.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Where it was published.
    pub fn paper(&self) -> &'static str {
        self.paper
    }

    /// What [`Settings::parameter`] takes.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }

    /// Whether it has a criterion of its own for the number of clusters
    /// ([`Clusters::Auto`](crate::Clusters::Auto)).
    pub fn chooses_clusters(&self) -> bool {
        self.chooses
    }

    /// Whether it grows a dendrogram: whether [`Method::hierarchy`] succeeds.
    pub fn has_tree(&self) -> bool {
        self.recipe.tree.is_some()
    }

    /// The consensus function.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for a parameter that the
    /// method does not have or a value that it cannot be; values out of range are refused when the
    /// method is run.
    pub fn build(&self, settings: &Settings) -> Result<AnyConsensus> {
        (self.recipe.make)(&settings.resolved(self.parameters(), || self.takes())?)
    }

    /// The method as what grows its dendrogram: the very tree that its consensus is cut from.
    ///
    /// # Errors
    /// As [`Method::build`]; [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter)
    /// with the names of those that do for a method that grows none.
    pub fn hierarchy(&self, settings: &Settings) -> Result<Box<dyn Hierarchy>> {
        let settings = settings.resolved(self.parameters(), || self.takes())?;
        let Some(tree) = self.recipe.tree else {
            let trees: Vec<&str> =
                super::methods().iter().filter(|m| m.has_tree()).map(Method::name).collect();
            return Err(crate::Error::invalid(format!(
                "{} grows no dendrogram; expected one of {}",
                self.name,
                trees.join(", ")
            )));
        };
        tree(&settings)
    }

    /// Which parameters it takes, as a sentence.
    pub(super) fn takes(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
        if names.is_empty() {
            format!("{} takes no parameters", self.name)
        } else {
            format!("{} takes {}", self.name, names.join(", "))
        }
    }
}

/// A consensus function by name, hard or soft.
///
/// From [`Method::build`]; [`fit`](AnyConsensus::fit) runs it, and a [`NamedResult`] comes out.
#[non_exhaustive]
pub enum AnyConsensus {
    /// One cluster per object comes out.
    Hard(Box<dyn ConsensusFunction<Output = Partition>>),
    /// Probabilities come out.
    Soft(Box<dyn ConsensusFunction<Output = Memberships>>),
}

impl fmt::Debug for AnyConsensus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self {
            AnyConsensus::Hard(function) => ("Hard", function.name()),
            AnyConsensus::Soft(function) => ("Soft", function.name()),
        };
        f.debug_tuple(kind).field(&name).finish()
    }
}

impl AnyConsensus {
    pub(super) fn hard(function: impl ConsensusFunction<Output = Partition> + 'static) -> Self {
        AnyConsensus::Hard(Box::new(function))
    }

    pub(super) fn soft(function: impl ConsensusFunction<Output = Memberships> + 'static) -> Self {
        AnyConsensus::Soft(Box::new(function))
    }

    /// A soft method that takes the number of clusters for an upper bound.
    pub(super) fn counted(
        function: impl ConsensusFunction<Output = Memberships> + 'static,
        clusters: Clusters,
    ) -> Self {
        AnyConsensus::soft(Counted { function, clusters })
    }

    /// Runs it; soft methods also give the partition into likeliest clusters.
    ///
    /// # Errors
    /// As the method says; [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) where what
    /// comes out is about another number of objects.
    pub fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<NamedResult>> {
        let n = ensemble.n_objects();
        Ok(match self {
            AnyConsensus::Hard(function) => {
                let fit = function.fit(ensemble, observer)?;
                check_answer(function.name(), "labels", fit.output.n_objects(), n)?;
                Fit::new(NamedResult { partition: fit.output, memberships: None }, fit.report)
            }
            AnyConsensus::Soft(function) => {
                let fit = function.fit(ensemble, observer)?;
                let rows = fit.output.n_objects();
                check_answer(function.name(), "rows of memberships", rows, n)?;
                let partition = fit.output.hard()?;
                Fit::new(NamedResult { partition, memberships: Some(fit.output) }, fit.report)
            }
        })
    }

    /// The partition alone.
    ///
    /// # Errors
    /// As the method says.
    pub fn consensus(&self, ensemble: &Ensemble) -> Result<Partition> {
        Ok(self.fit(ensemble, &())?.output.partition)
    }
}

/// A soft method whose clusters are counted: it tells where fewer are the likeliest ones of an
/// object than were asked for. Where it chooses their number, nobody asked.
struct Counted<F> {
    function: F,
    clusters: Clusters,
}

impl<F: ConsensusFunction<Output = Memberships>> ConsensusFunction for Counted<F> {
    type Output = Memberships;

    fn name(&self) -> &str {
        self.function.name()
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Memberships>> {
        let Fit { output, mut report } = self.function.fit(ensemble, observer)?;
        if let Some(asked) = self.clusters.fixed() {
            let found = output.hard()?.n_clusters();
            // Columns that no object is in are among the missing clusters already.
            if found < asked.saturating_sub(report.clusters_missing.unwrap_or(0)) {
                report.expect_clusters(asked, found, "no object is most likely in the others");
            }
        }
        Ok(Fit::new(output, report))
    }
}

/// What a consensus function by name found.
///
/// ```
/// use consilience::catalogue::{self, Settings};
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1])?,
/// ])?;
/// let settings = Settings::new(2);
/// let soft = catalogue::by_name("pcc-kl")?.build(&settings)?.fit(&ensemble, &())?.output;
/// assert_eq!(soft.memberships.map(|m| m.hard()).transpose()?, Some(soft.partition));
/// let hard = catalogue::by_name("lwea")?.build(&settings)?.fit(&ensemble, &())?.output;
/// assert_eq!(hard.memberships, None);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamedResult {
    /// Each object's cluster, or the likeliest one.
    pub partition: Partition,
    /// The probabilities, of soft methods; column j is label j of the partition.
    pub memberships: Option<Memberships>,
}
