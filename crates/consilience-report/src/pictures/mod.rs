//! Pictures of ensembles and clusterings as SVG, each a text that is a whole file.
//!
//! The page and the program's `plot` draw with these. The numbers come from the other modules; here
//! they only become shapes. Colours are told apart by most colour-blind readers, and are never the
//! only difference; labels stay clear of each other; each picture has a text alternative.
//!
//! ```
//! use consilience::graph::{CoAssociation, vat_order};
//! use consilience::ndarray::array;
//! use consilience::report::pictures;
//! use consilience::trust::ConsensusCdf;
//! use consilience::{Dendrogram, Ensemble, Memberships, Similarity};
//!
//! let ensemble = Ensemble::from_array(array![[0, 0], [0, 0], [1, 0], [1, 1]].view())?;
//! let graph = CoAssociation::default().similarity(&ensemble)?;
//! let svg = pictures::co_association(&graph, &vat_order(&graph, &())?, "Co-association");
//! assert!(svg.starts_with("<svg ") && svg.contains("4 objects"));
//!
//! let (x, y) = ConsensusCdf::of(&ensemble)?.staircase();
//! let points = x.into_iter().zip(y).collect();
//! let axes = ("co-association", "share of pairs");
//! let svg = pictures::curves(&[("members".into(), points)], axes, "Consensus CDF");
//! assert!(svg.contains("share of pairs"));
//!
//! let tree = Dendrogram::from_merges(3, vec![(0, 1, 0.1), (1, 2, 0.8)])?;
//! assert!(pictures::dendrogram(&tree, &[5, 1, 2], "A tree").contains("3 of 3 leaves"));
//!
//! let soft = Memberships::new(array![[0.9, 0.1], [0.4, 0.6]])?;
//! assert!(pictures::memberships(&soft, "Memberships").contains("2 objects"));
//! let overlaps = array![[1.0, 0.2], [0.2, 1.0]];
//! let svg = pictures::cluster_graph(&[0, 1], &[30.0, 12.0], overlaps.view(), "Overlaps");
//! assert!(svg.contains("30 objects"));
//! # Ok::<(), consilience::Error>(())
//! ```

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
