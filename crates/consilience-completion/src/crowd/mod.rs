//! Crowds: their answers, and clusterings from them.

mod answers;
mod clustering;
mod completed;
mod counts;
#[cfg(test)]
mod tests;

pub use answers::{Answers, Grouped, Keyword, PairAnswer};
pub use clustering::{CrowdClustering, CrowdMethod, CrowdResult};
pub use completed::PenaltyChoice;
pub use counts::AnswerCounts;
