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
use ndarray::{ArrayView1, ArrayView2};

/// Memberships that differ by less are equal but for rounding.
const ROUNDING: f64 = 1e-12;

/// How many of some must-links and cannot-links a clustering violates.
fn violated(pairs: impl Iterator<Item = Pair>, partition: &Partition) -> (usize, usize) {
    let together = |i, j| partition.label(i).is_some() && partition.label(i) == partition.label(j);
    pairs.fold((0, 0), |(must, cannot), Pair { i, j, link }| match link {
        Link::Must => (must + usize::from(!together(i, j)), cannot),
        Link::Cannot => (must, cannot + usize::from(together(i, j))),
    })
}

/// How many rows have another label than the cluster that is most probable by their memberships.
fn labelled_otherwise(
    labels: impl Iterator<Item = Option<usize>>,
    soft: ArrayView2<'_, f64>,
) -> usize {
    let otherwise = |(label, row): (Option<usize>, ArrayView1<'_, f64>)| {
        let own = |label| row.get(label).copied().unwrap_or_default() + ROUNDING;
        label.is_some_and(|label| row.iter().any(|&other| other > own(label)))
    };
    labels.zip(soft.rows()).filter(|&pair| otherwise(pair)).count()
}
