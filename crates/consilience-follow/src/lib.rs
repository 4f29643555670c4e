//! Consensus clusterings that follow must-links and cannot-links as they come.
//!
//! An [`Updater`] holds an ensemble. A batch of links moves the weights of its members in
//! milliseconds, and the metric of the default rule, once it is open, in milliseconds to some
//! tenths of a second, by the number of links; neither grows with the number of objects. Objects
//! get their labels when somebody reads them out, which takes some tenths of a second for a
//! million:
//!
//! ```
//! use consilience::{Ensemble, Pair};
//! use consilience::follow::Updater;
//! use consilience::ndarray::array;
//!
//! let ensemble = Ensemble::from_array(array![
//!     [0, 0, 0],
//!     [0, 0, 1],
//!     [1, 1, 0],
//!     [1, 1, 1],
//! ].view())?;
//! let mut updater = Updater::new(ensemble, 2)?;
//! let question = updater.next_questions(1, Default::default())?.pairs[0];
//! let report = updater.update(&[Pair::must_link(question.i, question.j)])?;
//! assert_eq!(report.new_constraints, 1);
//! let clustering = updater.partition()?;
//!
//! // Stored and resumed elsewhere, over the same ensemble.
//! let bytes = updater.to_bytes();
//! let mut resumed = Updater::from_bytes(&bytes, updater.ensemble().clone())?;
//! assert_eq!(resumed.partition()?, clustering);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`Updater::partition`] and [`Updater::read_out`] are the default way to a clustering: they learn
//! a metric on the ensemble's own embedding ([`MetricRule`]) and check by cross-validation on the
//! links whether it is better than the plain consensus; [`MapLearner`] completes a similarity in
//! place of the metric. Links that contradict members, features and the other links are set aside
//! there, or hold all the same ([`LinkTrust`]). [`Updater::by_weights`] has the clustering
//! by weights of the members alone. Where objects have features, [`MemberGrowth`] makes new members
//! that agree with the links.
//!
//! Limits: centres are found on at most 65,536 microclusters, k-means on memberships
//! ([`partition_by_kmeans`](consilience_simplex::WeightUpdater::partition_by_kmeans)) on at most
//! 200,000 objects, and new members are made from at most 10,000 objects unless
//! [`MemberGrowth::sample`] sets another number; all objects are labelled by what was found.
//!
//! Building blocks: [`UpdaterSetup`] chooses reference, start, rules and memory budgets;
//! [`ConsensusMetric`] is the metric without an updater; [`Embedding`] gives objects positions.

mod consensus_embedding;
mod consensus_metric;
mod coordinates;
mod cross_validate;
mod cross_validation;
mod disputed;
mod embedding;
mod grown_metrics;
mod learned;
mod link_evidence;
mod link_trust;
mod linked_objects;
mod map_learner;
mod member_growth;
mod members;
mod metric_read_out;
mod metric_rule;
mod metric_state;
mod products;
mod read_out;
#[cfg(test)]
mod reference;
mod snapshot;
mod space_metric;
#[cfg(test)]
mod tests;
mod updater;

pub use consensus_embedding::ConsensusEmbedding;
pub use consensus_metric::{ConsensusMetric, MetricReport};
pub use consilience_simplex::{
    AdditiveUpdate, AlignmentReference, ExactUpdate, InitialWeights, MultiplicativeUpdate,
    PairLoss, PairQuestion, Questions, UncertainObject, UpdateReport, UpdateRule, Violations,
    WeightUpdater, WeightUpdaterSetup, relabelled,
};
pub use cross_validation::{CrossValidation, ReadOutMethod};
pub use embedding::Embedding;
pub use link_evidence::LinkEvidence;
pub use link_trust::LinkTrust;
pub use map_learner::MapLearner;
pub use member_growth::{GrownMembers, MemberGrowth};
pub use metric_read_out::MetricReadOut;
pub use metric_rule::MetricRule;
pub use updater::{Updater, UpdaterSetup};
