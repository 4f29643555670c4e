//! How weights follow constraints.

mod additive;
pub(crate) mod block;
mod by_kind;
mod exact;
pub(crate) mod gram;
mod loss;
pub(crate) mod mirrored;
mod multiplicative;
mod outcome;
pub(crate) mod pairs;
pub(crate) mod solve;
mod update_rule;
mod violations;

pub use additive::AdditiveUpdate;
pub use exact::ExactUpdate;
pub use loss::PairLoss;
pub use multiplicative::MultiplicativeUpdate;
pub use update_rule::UpdateRule;
pub(crate) use violations::Evaluation;
pub use violations::Violations;
