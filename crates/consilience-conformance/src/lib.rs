//! One test suite for implementations of consilience's traits, those of the library and yours.
//!
//! Call [`consensus_function`], [`soft_consensus_function`], [`node_consensus`], [`hierarchy`],
//! [`similarity`], [`graph_partitioner`] or [`base_clusterer`] in a `#[test]`: they panic, naming
//! the law and the input, where a law is broken. What a method does not promise is switched off in
//! its [`Profile`]; everything is on by default.
//!
//! ```
//! use consilience::{
//!     Accepts, ConsensusFunction, Ensemble, Fit, Observer, Partition, Report, Result,
//! };
//! use consilience::conformance::{Profile, consensus_function};
//!
//! /// Puts everything labelled into one cluster.
//! struct Lump(usize);
//! impl ConsensusFunction for Lump {
//!     type Output = Partition;
//!
//!     fn name(&self) -> &str {
//!         "lump"
//!     }
//!     fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
//!         ensemble.check_clusters(self.0)?;
//!         // Memberships and weights of members mean nothing to it.
//!         ensemble.check_accepted(self.name(), Accepts::LABELS)?;
//!         observer.check()?;
//!         let labelled = |i| ensemble.members().iter().any(|m| m.label(i).is_some());
//!         let lump = Partition::from_fn(ensemble.n_objects(), |i| labelled(i).then_some(0))?;
//!         let mut report = Report::default();
//!         report.expect_clusters(self.0, lump.n_clusters(), "the ensemble distinguishes no more objects");
//!         Ok(Fit::new(lump, report))
//!     }
//! }
//!
//! // It obeys every law but these.
//! let profile = Profile {
//!     unanimous: false,
//!     planted: false,
//!     exact_clusters: false,
//!     small_worlds: (4, 2),
//!     ..Profile::default()
//! };
//! consensus_function(&|clusters| Box::new(Lump(clusters)), &profile);
//! ```
//!
//! A result that speaks of its clusters more than once goes through [`same_columns`] and
//! [`same_rows`]: label j, column j and centre j are one cluster.
//!
//! [`small_worlds`] lists every tiny ensemble there is, for comparing a method with a naive
//! reference, and [`planted`] makes ensembles with known structure. A method with soft results can
//! also go through as [`Hard`].

mod base;
mod consensus;
mod counts;
mod hierarchy;
mod labels;
mod members;
mod nodes;
mod numbering;
mod order;
mod partitioner;
mod run;
mod similar;
mod soft;
mod watch;
mod worlds;

#[cfg(test)]
mod tests;

pub use base::base_clusterer;
pub use consensus::consensus_function;
pub use hierarchy::hierarchy;
pub use nodes::node_consensus;
pub use numbering::{same_columns, same_rows};
pub use order::reordering;
pub use partitioner::{PartitionerProfile, graph_partitioner};
pub use similar::similarity;
pub use soft::soft_consensus_function;
pub use watch::CancelFrom;
pub use worlds::{Planted, SmallWorlds, partly_known, planted, small_worlds};

use consilience_core::{
    ConsensusFunction, Ensemble, Fit, Memberships, Observer, Partition, Result,
};

/// What a method promises; switch off what does not hold for it, and say why where you do.
///
/// ```
/// use consilience::conformance::Profile;
///
/// // A seeded method whose borderline objects may flip when its input is reordered.
/// let profile = Profile { member_permutation: false, object_permutation: false, ..Profile::default() };
/// assert!(profile.unanimous);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Reordering the members leaves the partition as it is.
    pub member_permutation: bool,
    /// Reordering the objects reorders the partition, where no ties have to be broken.
    pub object_permutation: bool,
    /// Reordering the objects reorders the partition where ties have to be broken too, or gives
    /// another that some symmetry of the ensemble exchanges with it. Off where the first object
    /// decides between equals.
    pub object_ties: bool,
    /// An ensemble of equal members gives that member back.
    pub unanimous: bool,
    /// Doubling every object doubles every object of the partition: identical objects collapse
    /// exactly.
    pub duplication: bool,
    /// A row that stands for many objects counts as all of them.
    pub counts: bool,
    /// Clear structure under noise is found (adjusted Rand index of at least 0.9).
    pub planted: bool,
    /// Exactly as many clusters come out as asked for, or as there are distinct labelled objects
    /// where those are fewer. Otherwise at most as many.
    pub exact_clusters: bool,
    /// The number of clusters is asked for: refused outside `1..=n`, and answered by
    /// [`Report::clusters_missing`](consilience_core::Report::clusters_missing) above the number of
    /// distinct labelled objects.
    pub checks_clusters: bool,
    /// Every object is labelled (base clusterers only; off where noise stays unlabelled).
    pub complete: bool,
    /// Objects in the input that is run at several numbers of threads; more than one chunk of
    /// whatever the method splits.
    pub thread_objects: usize,
    /// Objects and members of the small worlds that the method is run on.
    pub small_worlds: (usize, usize),
}

impl Default for Profile {
    /// Everything on, 600 objects for threads, and all 20,706 sets of 2 members over 5
    /// objects.
    fn default() -> Self {
        Profile {
            member_permutation: true,
            object_permutation: true,
            object_ties: true,
            unanimous: true,
            duplication: true,
            counts: true,
            planted: true,
            exact_clusters: true,
            checks_clusters: true,
            complete: true,
            thread_objects: 600,
            small_worlds: (5, 2),
        }
    }
}

/// A soft consensus function as a hard one, each object in the cluster of its largest membership:
/// what lets it through [`consensus_function`].
#[derive(Clone, Debug)]
pub struct Hard<F>(pub F);

impl<F: ConsensusFunction<Output = Memberships>> ConsensusFunction for Hard<F> {
    type Output = Partition;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let soft = self.0.fit(ensemble, observer)?;
        Ok(Fit::new(soft.output.hard()?, soft.report))
    }
}

/// Panics: the law and what broke it.
#[track_caller]
fn broken(law: &str, detail: impl std::fmt::Display) -> ! {
    panic!("law broken: {law}: {detail}")
}

/// The suite's own manipulations of its own input cannot fail.
fn sure<T>(law: &str, result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(e) => broken(law, format!("in the suite's own input: {e}")),
    }
}

/// Panics unless the law holds; `detail` is only made where it does not.
#[track_caller]
fn hold(law: &str, holds: bool, detail: impl FnOnce() -> String) {
    if !holds {
        broken(law, detail());
    }
}
