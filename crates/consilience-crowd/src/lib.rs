//! Clusterings from the answers of a crowd.
//!
//! People or models compare a few objects at a time, differ, and err; [`CrowdClustering`] turns
//! what they said into clusters of all objects, and says whom to trust and what to ask next:
//!
//! ```
//! use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
//!
//! // Four workers sort six photographs; the last one pays no attention.
//! let said = [[0, 0, 0, 1, 1, 1], [5, 5, 5, 2, 2, 2], [0, 0, 0, 1, 1, 2], [0, 1, 0, 1, 0, 1]];
//! let mut rows = Vec::new();
//! for (worker, groups) in said.iter().enumerate() {
//!     for (item, &group) in groups.iter().enumerate() {
//!         rows.push(GroupAnswer { worker, task: 0, item, group });
//!     }
//! }
//! let answers = Answers::from_groupings(7, &rows)?;
//! let result = CrowdClustering::new(2).fit(&answers, &())?.output;
//! // Nobody was shown the seventh.
//! assert_eq!(result.partition.to_signed(), vec![0, 0, 0, 1, 1, 1, -1]);
//! assert!(result.workers[3].informedness() < result.workers[0].informedness());
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`SemiCrowd`] extends the answers about some objects to all others by their features.
//!
//! # Building blocks
//! [`BlockModel`] is the model that the default method fits, [`PositionModel`] one that also has a
//! posterior of the number of clusters, [`AnswerCounts`] are the answers pair by pair, and
//! [`AnswerCounts::reliable_pairs`] are the pairs that the crowd agrees on, which
//! [`RobustCompletion`](consilience_completion::RobustCompletion) completes to a low-rank matrix.

mod alternative;
mod answer_counts;
mod answers;
mod best;
mod between;
mod block_model;
mod cluster_count;
mod completed;
mod completed_rank;
mod copies;
mod crowd_clustering;
mod crowd_method;
mod crowd_rates;
mod crowd_result;
mod dawid_skene;
mod doubt;
mod evidence;
mod expected_counts;
mod held_out;
mod latent_class;
mod left_out;
mod likelihood;
mod memberships;
mod merging;
mod misplaced;
mod places;
mod planted_partition;
mod positions;
mod question;
mod random_workers;
mod rates;
mod said;
mod semi_crowd;
mod spectral;
#[cfg(feature = "serde")]
mod stored;
#[cfg(test)]
mod tests;
mod told;
mod unanimous;
mod worker_rates;

pub use alternative::AlternativeClustering;
pub use answer_counts::{AnswerCounts, PairCount};
pub use answers::{Answers, GroupAnswer, KeywordAnswer, PairAnswer};
pub use block_model::{BlockModel, BlockModelResult};
pub use cluster_count::ClusterCount;
pub use completed::PenaltyChoice;
pub use completed_rank::CompletedRank;
pub use crowd_clustering::CrowdClustering;
pub use crowd_method::CrowdMethod;
pub use crowd_rates::CrowdRates;
pub use crowd_result::CrowdResult;
pub use left_out::LeftOut;
pub use positions::{PositionModel, PositionModelResult};
pub use question::Question;
pub use semi_crowd::{SemiCrowd, SemiCrowdResult};
pub use worker_rates::WorkerRates;
