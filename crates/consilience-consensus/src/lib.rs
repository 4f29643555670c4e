//! Consensus functions: from an ensemble to one clustering.

mod votes;
