//! One file per subcommand: what is asked is taken apart, the work is done, and one summary is
//! printed.

pub(crate) mod ask;
pub(crate) mod cluster;
mod cluster_consensus;
pub(crate) mod complete;
pub(crate) mod consensus;
pub(crate) mod crowd;
pub(crate) mod demo;
pub(crate) mod generate;
mod labelling;
pub(crate) mod manual;
pub(crate) mod plot;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod score;
pub(crate) mod update;

use consilience::{Link, Pair, Partition};

/// How many of some must-links and cannot-links a clustering violates.
fn violated(pairs: impl Iterator<Item = Pair>, partition: &Partition) -> (usize, usize) {
    let together = |i, j| partition.label(i).is_some() && partition.label(i) == partition.label(j);
    pairs.fold((0, 0), |(must, cannot), Pair { i, j, link }| match link {
        Link::Must => (must + usize::from(!together(i, j)), cannot),
        Link::Cannot => (must, cannot + usize::from(together(i, j))),
    })
}
