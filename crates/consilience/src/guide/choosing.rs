//! Choosing a method: from several clusterings to one.
//!
//! # The ensemble
//!
//! Labels may be any whole numbers, with gaps; a negative one means unlabelled. A clustering need
//! not label every object.
//!
//! ```
//! use consilience::Ensemble;
//! use consilience::ndarray::array;
//!
//! // Six objects (rows), three clusterings (columns).
//! let ensemble = Ensemble::from_array(array![
//!     [0, 5, 1],
//!     [0, 5, 1],
//!     [0, 7, -1],
//!     [1, 7, 2],
//!     [1, 9, 2],
//!     [1, 9, 2],
//! ].view())?;
//! assert_eq!((ensemble.n_objects(), ensemble.n_members()), (6, 3));
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! A row may stand for many identical objects. The result is the same as on the rows repeated, so a
//! table of any length is as good as its distinct rows and their counts:
//!
//! ```
//! use consilience::Ensemble;
//! use consilience::ndarray::array;
//! use consilience::consensus::Lwea;
//! use consilience::prelude::*;
//!
//! // SELECT a, b, c, count(*) ... GROUP BY a, b, c
//! let rows = Ensemble::from_array(array![[0, 5, 1], [0, 7, 1], [1, 7, 2]].view())?
//!     .with_counts(vec![3_000_000_000, 1, 2_000_000_000])?;
//! assert_eq!(Lwea::new(2).consensus(&rows)?.to_signed(), [0, 0, 1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # If you do not know which method
//!
//! [`Recommended`](crate::trust::Recommended) runs a graph cut (diffusion) and average linkage
//! (LWEA) on the ensemble and on halves of its members. It takes one of the two results, a
//! consensus of them, or evidence accumulation, whichever agrees best with the members and with the
//! results on halves; its report says which one and by how much. On average over 77 groups of
//! ensembles it is ahead of each of the seven methods beside it by the adjusted Rand index, and
//! level with the best by NMI
//! (`docs/choosing.md`); on one ensemble another method may be better. With
//! [`Clusters::Auto`](crate::Clusters::Auto) it chooses the number of clusters too.
//!
//! ```
//! # use consilience::ndarray::array;
//! # let ensemble = consilience::Ensemble::from_array(array![
//! #     [0, 5, 1], [0, 5, 1], [0, 7, -1], [1, 7, 2], [1, 9, 2], [1, 9, 2],
//! # ].view())?;
//! use consilience::prelude::*;
//! use consilience::trust::Recommended;
//!
//! let fit = Recommended::new(2).fit(&ensemble, &())?;
//! assert_eq!(fit.output.to_signed(), [0, 0, 0, 1, 1, 1]);
//! for note in &fit.report.notes {
//!     println!("{note}");
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # A method that you name
//!
//! | you have | take |
//! |---|---|
//! | many members that split the classes finely | [`Diffusion`](crate::walk::Diffusion), [`Lwea`](crate::consensus::Lwea), [`Lwgp`](crate::consensus::Lwgp) |
//! | classes of very unequal size | [`Lwea`](crate::consensus::Lwea), [`EvidenceAccumulation`](crate::consensus::EvidenceAccumulation): average linkage does not balance |
//! | the same, and pairs that nearly all members agree on | [`EcCms`](crate::consensus::EcCms); not where these pairs link most objects with one another, which the report says |
//! | clusterings, and you need cluster probabilities | [`Pcc`](crate::bregman::Pcc), [`MixtureModel::new(k).soft()`](crate::consensus::MixtureModel::soft), [`LeastSquares`](crate::consensus::LeastSquares), [`RandomWalker::new(k).soft()`](crate::walk::RandomWalker::soft) |
//! | millions of distinct label rows | [`USenc`](crate::consensus::USenc), [`Hbgf`](crate::consensus::Hbgf), [`Lwgp`](crate::consensus::Lwgp), [`Diffusion`](crate::walk::Diffusion), [`Qmi`](crate::consensus::Qmi): linear in the ensemble |
//! | clusterings of the nodes of a network, too large for all pairs | [`NetworkPropagation`](crate::consensus::NetworkPropagation), [`NetworkComponents`](crate::consensus::NetworkComponents), [`NetworkLinkage`](crate::consensus::NetworkLinkage): edges alone |
//! | a paper to compare with | the [`catalogue`](crate::catalogue) names the paper of each method |
//!
//! Methods can also be built by name, with parameters as text, as in the program:
//!
//! ```
//! # use consilience::ndarray::array;
//! # let ensemble = consilience::Ensemble::from_array(array![
//! #     [0, 5, 1], [0, 5, 1], [0, 7, -1], [1, 7, 2], [1, 9, 2], [1, 9, 2],
//! # ].view())?;
//! use consilience::catalogue::{self, Settings};
//! use consilience::Seed;
//!
//! let settings = Settings::new(2).seed(Seed(7)).parameter("walk_length", "5");
//! let method = catalogue::by_name("pta-al")?.build(&settings)?;
//! let found = method.fit(&ensemble, &())?.output;
//! assert_eq!(found.partition.n_clusters(), 2);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Soft results
//!
//! A soft method gives [`Memberships`](crate::Memberships): a row per object, a column per cluster.
//! Column j is label j of the hard clustering that is made of them:
//!
//! ```
//! # use consilience::ndarray::array;
//! # let ensemble = consilience::Ensemble::from_array(array![
//! #     [0, 5, 1], [0, 5, 1], [0, 7, -1], [1, 7, 2], [1, 9, 2], [1, 9, 2],
//! # ].view())?;
//! use consilience::bregman::Pcc;
//! use consilience::prelude::*;
//!
//! let soft = Pcc::new(2).consensus(&ensemble)?;
//! let hard = soft.hard()?;
//! for (row, label) in soft.values().rows().into_iter().zip(hard.iter()) {
//!     // Every object of this ensemble is labelled by some member.
//!     let j = label.expect("a labelled object");
//!     assert!(row.iter().all(|&p| p <= row[j]));
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! A probability near 1 is no promise. The mixture takes members as independent, and an error that
//! they share counts as evidence as often as it is made: on Gaussian classes of 180, 15 and 15
//! objects under k-means members it gave all 210 objects .99 or more, and 94 of them were right.
//!
//! The labels of two results are not the same clusters: each numbers its own by the first object.
//! [`scores`](crate::scores) compare clusterings whatever their labels are.
//!
//! # Members that give memberships, members that count more
//!
//! A member may give each object a probability for each cluster, as mixture models, fuzzy c-means,
//! topic models and neural networks do. Two objects then agree under it by the inner product of
//! their rows. An object that it knows nothing about has a row of zeros. An ensemble may hold
//! labels and memberships side by side, and weights of the members:
//!
//! ```
//! use consilience::consensus::{Hgpa, Lwea};
//! use consilience::ndarray::array;
//! use consilience::prelude::*;
//! use consilience::{Ensemble, Partition, SparseMemberships};
//!
//! let soft = array![[0.9, 0.1], [0.7, 0.3], [0.0, 0.0], [0.2, 0.8], [0.1, 0.9]];
//! let ensemble = Ensemble::mixed([
//!     Partition::from_labels(&[0, 0, 0, 1, 1])?.into(),
//!     SparseMemberships::from_array(soft.view())?.into(),
//! ])?
//! .with_weights(vec![1.0, 2.5])?;
//! assert_eq!(Lwea::new(2).consensus(&ensemble)?.to_signed(), [0, 0, 0, 1, 1]);
//!
//! // A method that has no meaning for memberships says so.
//! let method = Hgpa::new(2);
//! assert!(method.consensus(&ensemble).is_err());
//! assert!(method.consensus(&ensemble.hardened()).is_ok()); // the most probable clusters
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Memberships are accepted by co-association (EAC, WEAC, LWEA), ECPCS, walks (PTA, PTGP,
//! diffusion), cuts (CSPA, MCLA, HBGF, LWGP), votes (voting, QMI, least squares), PCC, networks and
//! the recommended method. The same methods accept weights, except ECPCS and MCLA; HGPA accepts
//! weights but not memberships. Weights of 0 and 1 alone leave members out, which every method
//! accepts. [`NodeConsensus::accepts`](crate::core::NodeConsensus::accepts) tells which.
//! `docs/soft-members.md` has measurements of where memberships pay.
//!
//! # How many clusters
//!
//! Most methods take a criterion in place of a number: [`Clusters::Auto`](crate::Clusters::Auto) is
//! the one that suits the method. Those that need a number (mixtures, QMI, voting, least squares
//! and U-SENC) refuse a criterion with an error.
//!
//! ```
//! # use consilience::ndarray::array;
//! # let ensemble = consilience::Ensemble::from_array(array![
//! #     [0, 5, 1], [0, 5, 1], [0, 7, -1], [1, 7, 2], [1, 9, 2], [1, 9, 2],
//! # ].view())?;
//! use consilience::Clusters;
//! use consilience::prelude::*;
//! use consilience::walk::Pta;
//!
//! let found = Pta::new(Clusters::Lifetime).consensus(&ensemble)?;
//! assert!(found.n_clusters() <= 6);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`ClusterNumber`](crate::trust::ClusterNumber) computes five criteria for every k from 2 to the
//! square root of the number of microclusters or what three quarters of the members do not exceed
//! (further where the members nearly agree), and to 30 at most;
//! [`at_least`](crate::trust::ClusterNumber::at_least) and
//! [`up_to`](crate::trust::ClusterNumber::up_to) set other limits. If eigengap,
//! PAC and lifetime name one number and none has a warning, it is recommended, and so is what two
//! of them agree on where it is more than the directions. Both are rare on real data. Otherwise the
//! recommendation is the geometric mean of eigengap, lifetime and directions, drawn towards 7 the
//! more they differ, and so may lie outside of them. On data with known classes the median relative
//! error is 40 % (`docs/choosing.md`): a number that you know from elsewhere is better.
//!
//! Who has the features can ask them: where they fall into compact clusters far from each other,
//! [`SilhouetteNumber`](crate::generate::SilhouetteNumber) counts these, also where members of few
//! clusters have joined them, and elsewhere it names no number.
//! [`ConsensusClustering`](crate::model::ConsensusClustering) of no given number asks the features
//! first.
//!
//! # How far to trust it
//!
//! [`Diagnostics`](crate::trust::Diagnostics) compares any result with the ensemble, without true
//! labels: which objects are uncertain, which clusters hold together, which members disagree.
//! Members that give memberships are compared by their most probable clusters, and members with
//! weights count as often as these say. The report below does the same.
//!
//! ```
//! # use consilience::ndarray::array;
//! # let ensemble = consilience::Ensemble::from_array(array![
//! #     [0, 5, 1], [0, 5, 1], [0, 7, -1], [1, 7, 2], [1, 9, 2], [1, 9, 2],
//! # ].view())?;
//! use consilience::prelude::*;
//! use consilience::trust::{Diagnostics, Recommended};
//!
//! let found = Recommended::new(2).consensus(&ensemble)?;
//! let seen = Diagnostics::of(&ensemble, &found)?;
//! // Object 2 is the least certain: one member puts it with the other cluster.
//! let least = (0..6).min_by(|&a, &b| seen.confidence[a].total_cmp(&seen.confidence[b]));
//! assert_eq!(least, Some(2));
//! for sentence in &seen.sentences {
//!     println!("{sentence}");
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # The report
//!
//! One page of HTML: what was clustered, the result and how far to trust it, the criteria for the
//! number of clusters, how clusters split and merge, how methods and members agree, every cluster,
//! and the objects that lie between two. With features it adds a projection and what distinguishes
//! the clusters, with true labels the scores. It needs the feature `report`; the program writes the
//! same page by `consilience report pool.npz -o report.html`.
//!
#![cfg_attr(feature = "report", doc = "```no_run")]
#![cfg_attr(not(feature = "report"), doc = "```ignore")]
//! # use consilience::ndarray::array;
//! # let ensemble = consilience::Ensemble::from_array(array![
//! #     [0, 5, 1], [0, 5, 1], [0, 7, -1], [1, 7, 2], [1, 9, 2], [1, 9, 2],
//! # ].view())?;
//! use consilience::report::ClusteringReport;
//!
//! let findings = ClusteringReport::new(&ensemble).cluster_range(2..=4).run(&())?;
//! println!("{} clusters. {}", findings.answer.clusters, findings.answer.verdict);
//! std::fs::write("report.html", findings.html())?; // opens in any browser, without a network
//! std::fs::write("report.json", findings.json())?; // the same as numbers
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Pictures and comparisons are made of a random sample of the objects where there are more than
//! 2,000 distinct rows of labels, and their captions say so; tables of clusters and of objects are
//! of all. The same ensemble, seed and version give the same bytes.
