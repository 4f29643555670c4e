//! What several experiments share: how the feature sets are read, and generated worlds.

pub mod sets;
pub mod worlds;
