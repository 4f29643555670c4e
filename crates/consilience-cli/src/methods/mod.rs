//! The catalogue of consensus functions: [`list`] them, [`find`] one by name, [`Method::build`] it
//! with a number of clusters, parameters and a seed, or take the [`Tree`] that it cuts.

mod recipes;
mod table;

use consilience::graph::{Agglomeration, LeafWeights};
use consilience::{
    ConsensusFunction, Cut, Dendrogram, Ensemble, Linkage, Memberships, Observer, Partition,
    Report, Seed, Similarity,
};

use crate::choices::Params;
use crate::failure::{Failure, Outcome};
use table::METHODS;

/// A consensus function as the user chooses it.
pub(crate) struct Method {
    /// What `--method` takes.
    pub(crate) name: &'static str,
    /// One line about it.
    pub(crate) about: &'static str,
    /// Where it was published.
    pub(crate) paper: &'static str,
    /// What `--param` takes.
    pub(crate) params: &'static [&'static str],
    make: fn(&Ask<'_>) -> Outcome<Function>,
    tree: Option<fn(&Ask<'_>) -> Outcome<Tree>>,
}

/// Methods that cannot choose the number of clusters.
const NEED_CLUSTERS: [&str; 6] = ["mm", "qmi", "voting", "least-squares", "usenc", "ecmc-al"];

/// What the user asks of a method.
struct Ask<'a> {
    method: &'static str,
    clusters: Option<usize>,
    seed: Seed,
    params: Params<'a>,
}

impl Ask<'_> {
    /// The number of clusters, for methods that cannot choose it.
    fn required(&self) -> Outcome<usize> {
        self.clusters.ok_or_else(|| {
            Failure::Bad(format!(
                "{} needs --clusters K, or --clusters auto: it cannot choose their number itself",
                self.method
            ))
        })
    }
}

/// A consensus function of the library, ready to run.
pub(crate) enum Function {
    /// One cluster per object comes out.
    Hard(Box<dyn ConsensusFunction<Output = Partition>>),
    /// Probabilities come out.
    Soft(Box<dyn ConsensusFunction<Output = Memberships>>),
}

impl Function {
    fn hard(function: impl ConsensusFunction<Output = Partition> + 'static) -> Outcome<Self> {
        Ok(Function::Hard(Box::new(function)))
    }

    fn soft(function: impl ConsensusFunction<Output = Memberships> + 'static) -> Outcome<Self> {
        Ok(Function::Soft(Box::new(function)))
    }

    /// Runs it.
    pub(crate) fn run(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Outcome<Combined> {
        Ok(match self {
            Function::Hard(function) => {
                let fit = function.fit(ensemble, observer)?;
                Combined { partition: fit.output, memberships: None, report: fit.report }
            }
            Function::Soft(function) => {
                let fit = function.fit(ensemble, observer)?;
                Combined {
                    partition: fit.output.hard()?,
                    memberships: Some(fit.output),
                    report: fit.report,
                }
            }
        })
    }
}

/// What a consensus function found.
pub(crate) struct Combined {
    /// Each object's cluster, or the likeliest one.
    pub(crate) partition: Partition,
    /// The probabilities, of soft methods.
    pub(crate) memberships: Option<Memberships>,
    /// How it came about.
    pub(crate) report: Report,
}

/// The tree that a method cuts.
pub(crate) struct Tree {
    similarity: Box<dyn Similarity>,
    linkage: Linkage,
    weights: LeafWeights,
}

/// A tree over microclusters.
pub(crate) struct Grown {
    /// The tree.
    pub(crate) dendrogram: Dendrogram,
    /// The objects of each leaf.
    pub(crate) sizes: Vec<u32>,
}

impl Tree {
    /// Grows it; none where no object is labelled.
    pub(crate) fn grow(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Outcome<Option<Grown>> {
        let graph = self.similarity.fit(ensemble, observer)?.output;
        let sizes = graph.grouping().sizes().to_vec();
        if sizes.is_empty() {
            return Ok(None);
        }
        let agglomeration = Agglomeration::new(self.linkage, Cut::LongestLifetime);
        let dendrogram = agglomeration.weights(self.weights).dendrogram(graph, observer)?;
        Ok(Some(Grown { dendrogram, sizes }))
    }
}

/// Every method, in the order of `--list`.
pub(crate) fn list() -> &'static [Method] {
    METHODS
}

/// The names as a sentence holds them.
fn known() -> String {
    METHODS.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")
}

/// The method of that name.
pub(crate) fn find(name: &str) -> Outcome<&'static Method> {
    METHODS.iter().find(|m| m.name == name).ok_or_else(|| {
        Failure::Bad(format!("--method {name}: unknown; expected one of {}", known()))
    })
}

impl Method {
    /// Whether it can choose the number of clusters itself.
    pub(crate) fn chooses_clusters(&self) -> bool {
        !NEED_CLUSTERS.contains(&self.name)
    }

    /// The library's value; without a number of clusters the method chooses one itself.
    pub(crate) fn build(
        &self,
        clusters: Option<usize>,
        params: &[String],
        seed: Seed,
    ) -> Outcome<Function> {
        (self.make)(&self.ask(clusters, params, seed)?)
    }

    /// The tree that this method cuts.
    pub(crate) fn tree(&self, params: &[String], seed: Seed) -> Outcome<Tree> {
        let Some(tree) = self.tree else {
            let grown = METHODS.iter().filter(|m| m.tree.is_some()).map(|m| m.name);
            return Err(Failure::Bad(format!(
                "--method {}: it grows no dendrogram; expected one of {}",
                self.name,
                grown.collect::<Vec<_>>().join(", ")
            )));
        };
        tree(&self.ask(None, params, seed)?)
    }

    fn ask<'a>(
        &self,
        clusters: Option<usize>,
        params: &'a [String],
        seed: Seed,
    ) -> Outcome<Ask<'a>> {
        let params = Params::parse(self.name, self.params, params)?;
        Ok(Ask { method: self.name, clusters, seed, params })
    }
}
