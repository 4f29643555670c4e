//! Clusterings from a few answers: crowds, completed pair matrices, side information.
//!
//! People compare a few objects at a time, differ, and err; [`CrowdClustering`] turns what they
//! said into clusters of everything, and says whom to trust and what to ask next:
//!
//! ```
//! use consilience_completion::{Answers, CrowdClustering, Grouped};
//!
//! // Four workers sort six photographs; the last one pays no attention.
//! let said = [[0, 0, 0, 1, 1, 1], [5, 5, 5, 2, 2, 2], [0, 0, 0, 1, 1, 2], [0, 1, 0, 1, 0, 1]];
//! let mut rows = Vec::new();
//! for (worker, groups) in said.iter().enumerate() {
//!     for (item, &group) in groups.iter().enumerate() {
//!         rows.push(Grouped { worker, task: 0, item, group });
//!     }
//! }
//! let answers = Answers::from_groupings(7, &rows)?;
//! let result = CrowdClustering::new(2).fit(&answers, &())?.output;
//! // Nobody was shown the seventh.
//! assert_eq!(result.partition.to_signed(), vec![0, 0, 0, 1, 1, 1, -1]);
//! assert!(result.workers[3].information() < result.workers[0].information());
//! # Ok::<(), consilience_core::Error>(())
//! ```
//!
//! The lower road: [`WorkerBlocks`] is the block model behind the front door, [`AnswerCounts`] are
//! the pair counts, [`ObservedPairs`] those the crowd agrees on, and [`RobustCompletion`] completes
//! them to a low rank matrix. [`EcmcAl`] does the same for the base clusterings of an ensemble.
//! With features and a few known pairs, [`Mccc`] and [`Rdml`] complete the similarity of
//! everything.

mod ask;
mod blocks;
mod crowd;
mod dawid_skene;
mod ecmc;
mod held_out;
mod mccc;
mod pairs;
mod rdml;
mod rmc;
mod second;
mod spectral;
mod workers;

pub use ask::Question;
pub use blocks::{Blocks, WorkerBlocks};
pub use crowd::{
    AnswerCounts, Answers, CrowdClustering, CrowdMethod, CrowdResult, Grouped, Keyword, PairAnswer,
    PenaltyChoice,
};
pub use ecmc::EcmcAl;
pub use mccc::{Basis, CompletedClustering, CompletionSolver, LossWeight, Mccc};
pub use rdml::{Rdml, SampleSimilarity};
pub use rmc::{Completion, ObservedPairs, Penalty, RobustCompletion};
pub use second::SecondAnswer;
pub use workers::WorkerRates;
