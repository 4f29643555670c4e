//! What several experiments share: how feature sets and crowds are read, and generated worlds.

pub mod crowd_worlds;
pub mod crowds;
pub mod sets;
pub mod worlds;
