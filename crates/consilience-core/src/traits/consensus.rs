use ndarray::Array2;

use crate::{
    Accepts, Clusters, Dendrogram, Ensemble, Error, Fit, Grouping, Memberships, Microclusters,
    Observer, Partition, Report, Result, check_answer, checks, ensure, room,
};

/// Why there are fewer clusters than asked for where there are no more nodes.
const FEWER_NODES: &str = "the ensemble distinguishes no more objects";

/// An ensemble to one clustering: hard ([`Partition`]) or soft ([`Memberships`]).
///
/// A method that works on microclusters implements [`NodeConsensus`] instead and gets this trait
/// with it.
pub trait ConsensusFunction: Send + Sync {
    /// What comes out.
    type Output;

    /// A short name, for instance `pta-al`.
    fn name(&self) -> &str;

    /// The consensus, with a report of how it came about; progress goes to the observer, which may
    /// also cancel.
    ///
    /// # Errors
    /// As the method says; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) where the observer
    /// asked for it.
    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Self::Output>>;

    /// The consensus alone.
    ///
    /// # Errors
    /// As [`ConsensusFunction::fit`].
    #[doc(alias = "fit_predict")]
    fn consensus(&self, ensemble: &Ensemble) -> Result<Self::Output> {
        Ok(self.fit(ensemble, &())?.output)
    }
}

/// One of any kind. A box of a known type is none: it could be a [`NodeConsensus`] as well.
impl<O> ConsensusFunction for Box<dyn ConsensusFunction<Output = O> + '_> {
    type Output = O;

    fn name(&self) -> &str {
        (**self).name()
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<O>> {
        (**self).fit(ensemble, observer)
    }
}

/// A consensus function over microclusters: the part that each method writes itself.
///
/// Objects that no member distinguishes are one node. The blanket implementation of
/// [`ConsensusFunction`] does the rest in one place: it checks the number of clusters, finds the
/// microclusters, leaves objects without any label unlabelled, gives every object what its node
/// got, and fills the report.
///
/// ```
/// use consilience::{
///     Clusters, ConsensusFunction, Ensemble, Microclusters, Observer, Partition, Report, Result,
/// };
/// use consilience::core::NodeConsensus;
///
/// /// Each object as the first member that labels it has it.
/// struct FirstMember;
///
/// impl NodeConsensus for FirstMember {
///     type Output = Partition;
///
///     fn name(&self) -> &str {
///         "first-member"
///     }
///
///     fn clusters(&self) -> Clusters {
///         Clusters::Auto
///     }
///
///     fn solve(
///         &self,
///         nodes: &Microclusters,
///         _: &mut Report,
///         _: &dyn Observer,
///     ) -> Result<Vec<usize>> {
///         let first = |i: usize| nodes.rows().iter().find_map(|m| m.label(i));
///         Ok((0..nodes.n_nodes()).map(|i| first(i).unwrap_or(0)).collect())
///     }
/// }
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, -1])?,
///     Partition::from_labels(&[0, 1, 1, 1, -1])?,
/// ])?;
/// assert_eq!(FirstMember.consensus(&ensemble)?.to_signed(), [0, 0, 1, 1, -1]);
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait NodeConsensus: Send + Sync {
    /// What comes out for the objects: [`Partition`] or [`Memberships`].
    type Output: NodeOutput;

    /// A short name, for instance `lwea`.
    fn name(&self) -> &str;

    /// How many clusters are asked for.
    fn clusters(&self) -> Clusters;

    /// Whether the number of clusters is an upper bound only: then fewer are reported as missing
    /// only where there are fewer nodes. Default false.
    fn is_upper_bound(&self) -> bool {
        false
    }

    /// Whether [`solve`](Self::solve) reads memberships and weights of the members where nodes have
    /// them; ensembles with others are refused, but for weights of 0 and 1 alone, which leave
    /// members out. Default [`Accepts::LABELS`].
    fn accepts(&self) -> Accepts {
        Accepts::LABELS
    }

    /// Refuses bad parameters, before any work. The number of clusters is checked already.
    ///
    /// # Errors
    /// As the method says.
    fn check(&self, ensemble: &Ensemble) -> Result<()> {
        let _ = ensemble;
        Ok(())
    }

    /// The nodes to work on; [`Microclusters`] unless a method wants others.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    fn nodes(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Microclusters> {
        Microclusters::observed(ensemble, observer)
    }

    /// What the nodes get. There is at least one. Times of stages, status, iterations, objective
    /// and notes are written to the report.
    ///
    /// # Errors
    /// As the method says.
    fn solve(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<<Self::Output as NodeOutput>::Nodes>;
}

impl<T: NodeConsensus> ConsensusFunction for T {
    type Output = T::Output;

    fn name(&self) -> &str {
        NodeConsensus::name(self)
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<T::Output>> {
        let asked = self.clusters().fixed();
        if let Some(k) = asked {
            ensemble.check_clusters(k)?;
        }
        let ensemble = &*ensemble.accepted_by(NodeConsensus::name(self), self.accepts())?;
        self.check(ensemble)?;
        let mut report = Report::default();
        let nodes = report.stage("microclusters", || self.nodes(ensemble, observer))?;
        let (name, behind) = (NodeConsensus::name(self), nodes.grouping().n_objects());
        check_answer(name, "objects behind its nodes", behind, ensemble.n_objects())?;
        report.microclusters = Some(nodes.n_nodes());
        let found = if nodes.n_nodes() == 0 {
            observer.check()?;
            None
        } else {
            Some(self.solve(&nodes, &mut report, observer)?)
        };
        let output = T::Output::expand(&nodes, found, asked)
            .map_err(|e| Error::new(e.kind(), format!("{name}: {}", e.message())))?;
        if let Some(k) = asked {
            let nodes = nodes.n_nodes();
            let found = if self.is_upper_bound() { nodes } else { output.n_found()? };
            let fewer = if found < nodes { T::Output::FEWER } else { FEWER_NODES };
            report.expect_clusters(k, found, fewer);
        }
        Ok(Fit::new(output, report))
    }
}

/// A clustering of the objects that follows from one of the nodes: [`Partition`] or
/// [`Memberships`].
///
/// The output of a [`NodeConsensus`].
pub trait NodeOutput: Sized {
    /// What [`NodeConsensus::solve`] finds.
    type Nodes;

    /// Why there are fewer clusters than asked for, although there are nodes enough.
    const FEWER: &'static str = "the method left the others empty";

    /// The clustering of the objects; `None` where there is no node, since no object is labelled.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch) where `found` is not about as
    /// many nodes; as [`Memberships::with_evidence`] for rows that are no probabilities and for
    /// evidence that is no amount.
    fn expand(
        nodes: &Microclusters,
        found: Option<Self::Nodes>,
        asked: Option<usize>,
    ) -> Result<Self>;

    /// Number of clusters that hold an object, or may.
    ///
    /// # Errors
    /// As [`Memberships::hard`].
    fn n_found(&self) -> Result<usize>;
}

impl NodeOutput for Partition {
    /// A cluster for each node, in any numbering.
    type Nodes = Vec<usize>;

    fn expand(
        nodes: &Microclusters,
        found: Option<Vec<usize>>,
        _asked: Option<usize>,
    ) -> Result<Self> {
        nodes.grouping().expand(&found.unwrap_or_default())
    }

    fn n_found(&self) -> Result<usize> {
        Ok(self.n_clusters())
    }
}

/// Probabilities of nodes: what a soft [`NodeConsensus`] finds.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeMemberships {
    /// A row for each node, a column for each cluster.
    pub values: Array2<f64>,
    /// How much evidence each node has; as many as members label it where `None`.
    pub evidence: Option<Vec<f64>>,
}

impl From<Array2<f64>> for NodeMemberships {
    fn from(values: Array2<f64>) -> Self {
        NodeMemberships { values, evidence: None }
    }
}

impl NodeOutput for Memberships {
    type Nodes = NodeMemberships;

    const FEWER: &'static str = "no object is most likely in the others";

    fn expand(
        nodes: &Microclusters,
        found: Option<NodeMemberships>,
        asked: Option<usize>,
    ) -> Result<Self> {
        let n = nodes.grouping().n_objects();
        let Some(NodeMemberships { values: of_node, evidence }) = found else {
            let k = asked.unwrap_or(1);
            let values = room::table_of(n, k, |_| 1.0 / k as f64)?;
            return Memberships::with_evidence(values, room::zeros(n)?);
        };
        let (rows, of) = (of_node.nrows(), nodes.n_nodes());
        ensure!(rows == of, shape("memberships of {rows} nodes, there are {of}"));
        if let Some(evidence) = &evidence {
            let found = evidence.len();
            ensure!(found == of, shape("evidence of {found} nodes, there are {of}"));
            checks::evidence(evidence, "node")?;
        }
        let known = evidence.unwrap_or_else(|| nodes.evidence());
        let k = of_node.ncols();
        let mut values = room::table_of(n, k, |_| 1.0 / k as f64)?;
        let mut evidence = room::zeros(n)?;
        for (i, &node) in nodes.grouping().of_object().iter().enumerate() {
            if node != Grouping::NONE && known[node as usize] > 0.0 {
                values.row_mut(i).assign(&of_node.row(node as usize));
                evidence[i] = known[node as usize];
            }
        }
        Memberships::with_evidence(values, evidence)
    }

    fn n_found(&self) -> Result<usize> {
        Ok(self.hard()?.n_clusters())
    }
}

/// A method that grows a tree over the microclusters: the tree that its consensus is cut from.
///
/// Every method with a linkage is one:
///
/// ```
/// use consilience::consensus::Lwea;
/// use consilience::prelude::*;
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1, 2])?,
///     Partition::from_labels(&[0, 0, 0, 1, 1])?,
/// ])?;
/// let (nodes, tree) = Lwea::new(2).dendrogram(&ensemble, &())?;
/// // The first two objects are one microcluster, so that four leaves are merged three times.
/// assert_eq!((nodes.n_nodes(), tree.merges().len()), (4, 3));
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait Hierarchy: Send + Sync {
    /// The tree over given nodes, of which there is at least one; heights are dissimilarities.
    ///
    /// # Errors
    /// As the method says; [`ErrorKind::Empty`](crate::ErrorKind::Empty) without nodes.
    fn tree(
        &self,
        nodes: &Microclusters,
        report: &mut Report,
        observer: &dyn Observer,
    ) -> Result<Dendrogram>;

    /// The tree of an ensemble, with the microclusters that are its leaves. Unless a method says
    /// otherwise, members have labels and count once.
    ///
    /// # Errors
    /// As [`Hierarchy::tree`].
    fn dendrogram(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<(Microclusters, Dendrogram)> {
        let ensemble = ensemble.accepted_by("this tree", Accepts::LABELS)?;
        let nodes = Microclusters::observed(&ensemble, observer)?;
        let tree = self.tree(&nodes, &mut Report::default(), observer)?;
        tree.check_answer("the hierarchy", nodes.n_nodes())?;
        Ok((nodes, tree))
    }
}
