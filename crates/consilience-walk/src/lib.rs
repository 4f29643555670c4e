//! Random walks on the graph of microclusters.
//!
//! Keep only the strongest links of each microcluster ([`EliteNeighbours`]), start random walks on
//! them ([`Transition`]), call two microclusters similar where their walks visit the same places
//! ([`ProbabilityTrajectories`]), and cut that similarity by linkage ([`Pta`]) or as a bipartite
//! graph ([`Ptgp`]):
//!
//! ```
//! use consilience::{ConsensusFunction, Ensemble, Partition};
//! use consilience::walk::{Pta, Ptgp};
//!
//! // Sixty objects in three groups; every member errs elsewhere.
//! let member = |u: usize| {
//!     let label = |i: usize| if (7 * i + 5 * u) % 9 == 0 { (i + u) % 3 } else { i / 20 };
//!     Partition::from_labels(&(0..60).map(label).collect::<Vec<_>>())
//! };
//! let ensemble = Ensemble::new((0..8).map(member).collect::<Result<_, _>>()?)?;
//! let expected = Partition::from_labels(&(0..60).map(|i| i / 20).collect::<Vec<_>>())?;
//! assert_eq!(Pta::new(3).consensus(&ensemble)?, expected);
//! assert_eq!(Ptgp::new(3).consensus(&ensemble)?, expected);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! These follow Huang, Lai, Wang, "Robust Ensemble Clustering Using Probability Trajectories", IEEE
//! TKDE 28(5), 2016; each item names its equation and where we differ.
//!
//! [`Diffusion`] walks between microclusters and the clusters that hold them, for ensembles of any
//! size; [`RandomWalker`] walks to the cores of clusters that are found first, and gives
//! memberships too.

mod bipartite;
mod dense;
mod diffusion;
mod elite;
mod parameters;
mod pta;
mod ptgp;
mod pts;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
mod thin;
mod transition;
mod walked;
mod walker;

pub use bipartite::BipartiteGraph;
pub use diffusion::Diffusion;
pub use elite::EliteNeighbours;
pub use pta::Pta;
pub use ptgp::Ptgp;
pub use pts::{ProbabilityTrajectories, PtsSolver, TrajectoryMeasure};
pub use transition::Transition;
pub use walked::Walked;
pub use walker::{RandomWalker, SeedRule, SoftRandomWalker};
