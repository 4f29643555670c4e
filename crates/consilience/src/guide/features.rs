//! Features to clusters: make an ensemble, combine it.
//!
//! k-means alone cannot separate two rings. A consensus of many clusterings into small clusters
//! can:
//!
//! ```
//! use consilience::generate::{Generator, KMeans};
//! use consilience::consensus::EvidenceAccumulation;
//! use consilience::ndarray::Array2;
//! use consilience::prelude::*;
//! use consilience::{Linkage, Partition, Seed, scores};
//!
//! let mut random = Seed(5).stream();
//! let x = Array2::from_shape_fn((300, 2), |(i, j)| {
//!     let radius = if i < 150 { 1.0 } else { 4.0 } + 0.1 * random.normal();
//!     let angle = std::f64::consts::TAU * (i % 150) as f64 / 150.0;
//!     radius * if j == 0 { angle.cos() } else { angle.sin() }
//! });
//! let truth = Partition::from_fn(300, |i| Some((i / 150) as u64))?;
//!
//! let ensemble = Generator::new(KMeans::new())
//!     .members(50)
//!     .clusters(15..=25)
//!     .object_fraction(0.8)
//!     .seed(Seed(1))
//!     .generate(&x)?;
//! let found = EvidenceAccumulation::new(2).linkage(Linkage::Single).consensus(&ensemble)?;
//! assert_eq!(scores::adjusted_rand(&found, &truth)?, 1.0);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Diversity
//!
//! Members that are all alike add nothing. [`Generator`](crate::generate::Generator) varies the
//! number of clusters, the features and the objects that a member sees, random projections, and the
//! start. Ten to fifty members are usual, each with more clusters than you expect classes.
//!
//! # Clusterers
//!
//! [`KMeans`](crate::generate::KMeans), [`MiniBatchKMeans`](crate::generate::MiniBatchKMeans),
//! [`SphericalKMeans`](crate::generate::SphericalKMeans) (by directions, for texts),
//! [`KernelKMeans`](crate::generate::KernelKMeans), [`Rpcl`](crate::generate::Rpcl) (may keep
//! fewer clusters than asked for), [`Agglomerative`](crate::generate::Agglomerative),
//! [`Spectral`](crate::generate::Spectral) and [`USpec`](crate::generate::USpec), which is spectral
//! clustering for millions of objects. [`GaussianMixture`](crate::generate::GaussianMixture) and
//! [`FuzzyCMeans`](crate::generate::FuzzyCMeans) give memberships. Your own implements
//! [`BaseClusterer`](crate::core::BaseClusterer).
//!
//! # In one call, and new objects later
//!
//! [`ConsensusClustering`](crate::model::ConsensusClustering) makes the ensemble, combines it by a
//! method of your choice, or by the recommended one, and keeps how each member places objects. New
//! objects get a label and a confidence; objects unlike anything in the training data are flagged.
//! Members have 2 to the root of n clusters, which is too few to keep many clusters of few
//! objects apart: `ConsensusClustering::new(K)` makes them of K to 2 K clusters then, and a
//! generator that is given beside a method of your choice does with
//! [`consensus_clusters`](crate::generate::Generator::consensus_clusters). Without a number
//! ([`Clusters::Auto`](crate::Clusters::Auto)) it takes that of the features' silhouettes where
//! these are clear ([`SilhouetteNumber`](crate::generate::SilhouetteNumber)), and else that of the
//! members' criteria. In the first case a note tells where it takes the features' clusters as
//! well, since those of the members have a far lower silhouette.
//!
//! ```
//! use consilience::generate::{Generator, KMeans};
//! use consilience::model::ConsensusClustering;
//! use consilience::ndarray::{Array2, array};
//! use consilience::walk::Pta;
//!
//! let x = Array2::from_shape_fn((90, 2), |(i, j)| (i / 30 * 8) as f64 + (i * (j + 3) % 7) as f64 * 0.1);
//! let members = Generator::new(KMeans::new()).members(30).clusters(3..=9);
//! let model = ConsensusClustering::by(Pta::new(3)).generator(members).cluster(&x)?;
//! assert_eq!(model.partition().sizes(), [30, 30, 30]);
//!
//! let placed = model.place(&array![[8.1, 8.3], [60.0, -60.0]])?;
//! assert_eq!((placed.labels[0], placed.outside()), (1, vec![1]));
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! The program: `consilience cluster x.csv --method consensus --clusters 3 --model model.bin`, then
//! `consilience predict model.bin new.csv -o labels.csv`.
//!
//! # Labels of a few objects
//!
//! With a few labels or pairs, cluster the features directly, under a metric that is learned from
//! them; the result labels new objects too. See [`links`](super::links).
