//! Pictures of ensembles and clusterings as SVG, each a text that is a whole file.
//!
//! The page and the program's `plot` draw with these. The numbers come from the other modules; here
//! they only become shapes. Colours are told apart by most colour-blind readers, and are never the
//! only difference; labels stay clear of each other; each picture has a text alternative.

pub(crate) mod canvas;
pub(crate) mod cluster_graph;
pub(crate) mod curves;
pub(crate) mod dendrogram;
pub(crate) mod flow;
pub(crate) mod heat_map;
pub(crate) mod histogram;
pub(crate) mod scatter;

pub use cluster_graph::cluster_graph;
pub use curves::curves;
pub use dendrogram::dendrogram;
pub use heat_map::{co_association, memberships};
