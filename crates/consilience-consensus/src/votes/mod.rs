//! Labels brought into agreement, then a vote.
