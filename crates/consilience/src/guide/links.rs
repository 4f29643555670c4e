//! Must-links and cannot-links: at once, or one batch after the other.
//!
//! # Features and a few pairs
//!
//! The best method depends on the number of pairs and on how informative the features are.
//! [`LinkedClustering`](crate::model::LinkedClustering) cross-validates several on the pairs, plain
//! k-means among them, and tells the standard error of each score:
//!
//! ```
//! use consilience::model::LinkedClustering;
//! use consilience::ndarray::{Array2, array};
//! use consilience::{Constraints, Pair, SideInformation};
//!
//! // Two groups in the second feature; the first is ten times as wide.
//! let x = Array2::from_shape_fn((80, 2), |(i, j)| {
//!     let noise = ((i * 37 + j * 11) % 17) as f64 / 17.0;
//!     if j == 0 { 10.0 * noise } else { (i / 40) as f64 + 0.3 * noise }
//! });
//! let mut pairs = Constraints::new(80)?;
//! for i in 0..24 {
//!     pairs.extend(&[Pair::must_link(i, i + 9), Pair::cannot_link(i, i + 40)])?;
//! }
//! let side = SideInformation::from_constraints(&pairs);
//! let found = LinkedClustering::new(2).fit_judged(&x, &side, &())?.output;
//! println!("{}", found.judgement.sentence());
//! for candidate in &found.judgement.candidates {
//!     println!("{}: {:?} +- {:.2}", candidate.name, candidate.score, candidate.error);
//! }
//! assert_eq!(found.clustering.partition.sizes(), [40, 40]);
//! assert_eq!(found.clustering.assign(&array![[3.0, 0.2]])?, [0]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Or choose the method yourself: learn a metric from the pairs, cluster under it, and label new
//! objects:
//!
//! ```
//! use consilience::constrained::{Nnc, UnderMetric};
//! use consilience::metric::Rca;
//! use consilience::ndarray::{Array2, array};
//! use consilience::prelude::*;
//! use consilience::{Constraints, Pair, SideInformation};
//!
//! // Two classes differ in the first feature; the second is noise of ten times the width.
//! let x = Array2::from_shape_fn((40, 2), |(i, j)| {
//!     let noise = ((i * 37 + j * 11) % 17) as f64 / 17.0;
//!     if j == 0 { (i / 20) as f64 + 0.3 * noise } else { 10.0 * noise }
//! });
//! let mut pairs = Constraints::new(40)?;
//! for i in [0, 3, 7, 11] {
//!     pairs.extend(&[Pair::must_link(i, i + 5), Pair::must_link(i + 20, i + 25)])?;
//!     pairs.extend(&[Pair::cannot_link(i, i + 20)])?;
//! }
//! let side = SideInformation::from_constraints(&pairs);
//! let found = UnderMetric::new(Rca::new(), Nnc::new(2)).cluster(x.view().into(), &side)?;
//! assert_eq!(found.partition.n_clusters(), 2);
//! let new = array![[0.1, 9.0], [1.2, 0.5]];
//! assert_eq!(found.assign(new.view())?, [0, 1]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! The metric alone is a linear map of the features. Apply it to old and new objects alike, and
//! give the result to any clusterer or generator:
//!
//! ```
//! use consilience::metric::Rca;
//! use consilience::ndarray::array;
//! use consilience::prelude::*;
//! use consilience::{Constraints, Features, Pair, SideInformation};
//!
//! let x = array![[0.0, 9.0], [0.2, -7.0], [0.1, 3.0], [5.0, 8.0], [5.3, -9.0], [5.1, 1.0]];
//! let mut pairs = Constraints::new(6)?;
//! pairs.extend(&[Pair::must_link(0, 1), Pair::must_link(1, 2), Pair::must_link(3, 4)])?;
//! let side = SideInformation::from_constraints(&pairs);
//! let map = Rca::new().learn(Features::from(&x), &side)?;
//! let mapped = map.apply(&x)?;
//! assert_eq!(mapped.nrows(), 6);
//! // A new object is nearer to the first class, as its first feature says.
//! let new = array![1.0, 8.0];
//! assert!(map.distance(new.view(), x.row(1))? < map.distance(new.view(), x.row(3))?);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! A pair that contradicts the others, directly or through a chain, is an error that names the
//! chain. Where some answers are wrong, an updater can keep both (below).
//!
//! # An ensemble and pairs that keep coming
//!
//! [`Updater`](crate::follow::Updater) holds an ensemble and follows batches of pairs. It learns
//! one weight per member and a metric on the ensemble's embedding; the default read-out uses the
//! metric. On two idle cores 500 pairs move the weights in .1 to 3 ms, for 10,000 objects as for a
//! million, and in 3 to 8 ms for 8 million, by machine: their labels no longer fit the table that
//! is kept of them. The metric takes longer: .3 to 5 s once to open, then 5 to 130 ms for a batch
//! of hundreds of pairs, and a read-out of all labels .3 to .6 s (`docs/updater-speed.md`,
//! `docs/updater.md`).
//! An updater can be stored and resumed, asks for the pairs whose answer would change the weights
//! of its members most, and takes in new objects and new members.
//!
//! ```
//! use consilience::follow::Updater;
//! use consilience::ndarray::array;
//! use consilience::{Ensemble, Pair, Seed};
//!
//! let ensemble = Ensemble::from_array(array![
//!     [0, 0, 0],
//!     [0, 0, 1],
//!     [1, 1, 0],
//!     [1, 1, 1],
//! ].view())?;
//! let mut updater = Updater::new(ensemble, 2)?;
//! let question = updater.next_questions(1, Seed(0))?.pairs[0];
//! let report = updater.update(&[Pair::must_link(question.i, question.j)])?;
//! assert_eq!(report.new_constraints, 1);
//! let labels = updater.read_out(&())?.output;
//!
//! // Stored and resumed elsewhere, over the same ensemble: bytes for a file, which the ensemble is
//! // not part of.
//! let bytes = updater.to_bytes();
//! let resumed = Updater::from_bytes(&bytes, updater.ensemble().clone())?;
//! assert_eq!(resumed.constraints().len(), 1);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! The default read-out learns a metric. With thousands of links
//! [`MapLearner::Completion`](crate::follow::MapLearner) may be better. Links that members,
//! features and the other links contradict are set aside and told; with
//! [`LinkTrust::Hold`](crate::follow::LinkTrust) must-links hold in any case.
//!
//! Links from people are wrong now and then, and sooner or later one contradicts others.
//! [`update_disputed`](crate::follow::Updater::update_disputed) (`consilience update
//! --contradictions keep`) takes all of them for answers, whichever came first. With every fifth
//! of 300 or 600 links wrong the clustering is then better than without links, or at most .02 worse
//! by the adjusted Rand index (means of six drawn worlds, `docs/updater.md`). Of 50 or 100 links
//! where members know the classes, wrong ones cost up to .09: there is too little to judge them by.
//!
//! ```
//! use consilience::follow::Updater;
//! use consilience::ndarray::Array2;
//! use consilience::{Ensemble, Pair};
//!
//! // Objects 0 to 49 are of one kind. The third answer is wrong, the last contradicts it.
//! let labels = Array2::from_shape_fn((100, 3), |(i, _)| i / 50);
//! let mut updater = Updater::new(Ensemble::from_array(labels.view())?, 2)?;
//! let answers = [(1, 2), (60, 70), (2, 60)].map(|(i, j)| Pair::must_link(i, j));
//! updater.update(&answers)?;
//! let (_, disputed) = updater.update_disputed(&[Pair::cannot_link(1, 70)], &())?;
//! assert_eq!(disputed, [Pair::cannot_link(1, 70)]);
//! # Ok::<(), consilience::Error>(())
//! ```
