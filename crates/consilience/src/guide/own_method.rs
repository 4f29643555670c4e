//! A method of your own: one line makes it a consensus function, one test checks it against the
//! laws.
//!
//! # A similarity
//!
//! Define how similar two microclusters are, and every linkage and graph cut works with it.
//!
//! ```
//! use consilience::graph::{Linked, Partitioned, SpectralCut};
//! use consilience::ndarray::Array2;
//! use consilience::prelude::*;
//! use consilience::{
//!     Ensemble, Microclusters, Observer, Partition, Report, Result, SimilarityGraph,
//! };
//!
//! /// The share of members that put two microclusters together, squared.
//! struct Squared;
//!
//! impl Similarity for Squared {
//!     fn name(&self) -> &str {
//!         "squared"
//!     }
//!
//!     fn between(
//!         &self,
//!         nodes: &Microclusters,
//!         _: &mut Report,
//!         _: &dyn Observer,
//!     ) -> Result<SimilarityGraph> {
//!         let (n, members) = (nodes.n_nodes(), nodes.n_members() as f64);
//!         let weights = Array2::from_shape_fn((n, n), |(i, j)| {
//!             let together = nodes
//!                 .rows()
//!                 .iter()
//!                 .filter(|m| m.label(i).is_some() && m.label(i) == m.label(j))
//!                 .count();
//!             (together as f64 / members).powi(2)
//!         });
//!         SimilarityGraph::new(nodes.grouping().clone(), weights)
//!     }
//! }
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
//!     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 0, 0, 1, 1])?,
//! ])?;
//! // The one line: a consensus function with a dendrogram.
//! let mine = Linked::new(Squared, 2);
//! assert_eq!(mine.consensus(&ensemble)?.to_signed(), [0, 0, 0, 0, 1, 1]);
//! let (leaves, tree) = mine.dendrogram(&ensemble, &())?;
//! assert_eq!(leaves.n_nodes(), tree.n_leaves());
//! // Or a cut of the graph.
//! let cut = Partitioned::new(Squared, SpectralCut::new(2));
//! assert_eq!(cut.consensus(&ensemble)?.n_clusters(), 2);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # A consensus function
//!
//! [`NodeConsensus`](crate::core::NodeConsensus) is the part that you write: a name, the number of
//! clusters, and the labels of the microclusters. The library handles objects without any label,
//! the report and the check of k. [`ConsensusFunction`](crate::ConsensusFunction) itself is there
//! for methods that need the objects.
//!
//! ```
//! use consilience::core::NodeConsensus;
//! use consilience::prelude::*;
//! use consilience::{Clusters, Ensemble, Microclusters, Observer, Partition, Report, Result};
//!
//! /// The member that has as many clusters as asked for, or the first.
//! struct Pick(usize);
//!
//! impl NodeConsensus for Pick {
//!     type Output = Partition;
//!
//!     fn name(&self) -> &str {
//!         "pick"
//!     }
//!
//!     fn clusters(&self) -> Clusters {
//!         self.0.into()
//!     }
//!
//!     fn solve(
//!         &self,
//!         nodes: &Microclusters,
//!         _: &mut Report,
//!         _: &dyn Observer,
//!     ) -> Result<Vec<usize>> {
//!         let member = nodes.rows().iter().find(|m| m.n_clusters() == self.0);
//!         let member = member.unwrap_or(&nodes.rows()[0]);
//!         Ok(member.iter().map(|label| label.unwrap_or(0)).collect())
//!     }
//! }
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 1, 1])?,
//! ])?;
//! assert_eq!(Pick(2).consensus(&ensemble)?.to_signed(), [0, 0, 1, 1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Test it against the laws
//!
//! The feature `conformance` has one suite for every trait. It tries tiny ensembles of every kind,
//! bad input, permutations, threads and cancellation, and panics with the law and the input where
//! one is broken. In your `Cargo.toml`:
//!
//! ```toml
//! [dev-dependencies]
//! consilience = { version = "0.1", features = ["conformance"] }
//! ```
//!
#![cfg_attr(feature = "conformance", doc = "```")]
#![cfg_attr(not(feature = "conformance"), doc = "```ignore")]
//! use consilience::conformance::{Profile, consensus_function};
//! use consilience::consensus::EvidenceAccumulation;
//!
//! // In a `#[test]`. What a method does not promise is switched off in the profile: of pairs that
//! // are equally near, this one merges that of the first objects.
//! let profile = Profile { object_ties: false, small_worlds: (4, 2), ..Profile::default() };
//! consensus_function(&|k| Box::new(EvidenceAccumulation::new(k)), &profile);
//! ```
//!
//! `node_consensus` tries what you wrote on given microclusters, `hierarchy` a tree and its cuts,
//! `soft_consensus_function` memberships, `similarity` a similarity, `graph_partitioner` a cut and
//! `base_clusterer` a base clusterer. Reordered members must give an equal partition, ties and
//! graphs in many components included. For reordered objects a method that breaks ties switches
//! `object_ties` off, or takes its nodes from
//! [`Microclusters::canonical`](crate::Microclusters::canonical). Where a law is broken, either the
//! method has a mistake, or the law is one that it does not promise and is switched off.
//!
//! # A base clusterer
//!
//! The documentation of [`BaseClusterer`](crate::core::BaseClusterer) writes one and uses it in a
//! generator.
//!
//! # What is checked
//!
//! Where the library calls your code, it counts what comes back. Labels, rows, evidence, nodes or
//! leaves for another number of things than your code was asked about are a
//! [`ShapeMismatch`](crate::ErrorKind::ShapeMismatch) that names your method, for instance
//! `histogram returned 99 labels; expected 100`. A NaN, negative evidence, and a tree whose heights
//! do not ascend are refused as well.
//!
//! # Your own similarity graph
//!
//! A sparse matrix of `sprs` is a similarity graph too; see
//! [`similarity_from_sprs`](crate::graph::similarity_from_sprs).
