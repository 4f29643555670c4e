//! Crowds: answers of people, or of models, about a few objects at a time.
//!
//! Each answer says whether two objects are alike, or which objects of a small task go together.
//! [`CrowdClustering`](crate::crowd::CrowdClustering) makes one clustering of all objects, rates
//! the workers, and says what to ask next.
//!
//! ```
//! use consilience::crowd::{Answers, CrowdClustering, PairAnswer};
//!
//! // Six workers compare neighbours in a ring of twelve; the last one answers at random.
//! let mut rows = Vec::new();
//! for worker in 0..6 {
//!     for i in 0..12 {
//!         for step in 1..4 {
//!             let j = (i + step) % 12;
//!             let same = if worker == 5 { (i * 5 + step) % 3 == 0 } else { (i < 6) == (j < 6) };
//!             rows.push(PairAnswer { worker, i, j, same });
//!         }
//!     }
//! }
//! let answers = Answers::from_pairs(12, &rows)?;
//! let result = CrowdClustering::new(2).fit(&answers, &())?.output;
//! assert_eq!(result.partition.to_signed(), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
//!
//! // Column j of the memberships is label j of the partition.
//! let first = result.partition.label(0).unwrap();
//! assert!(result.memberships.values()[[0, first]] > 0.5);
//!
//! // The last worker tells us least.
//! let information = |w: usize| result.workers[w].information();
//! assert!((0..5).all(|w| information(5) < information(w)));
//!
//! // The pairs whose answer would tell most.
//! for question in result.ask_pairs(3) {
//!     println!("are {} and {} alike?", question.i, question.j);
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Which method
//!
//! Leave it to [`CrowdMethod::Auto`](crate::crowd::CrowdMethod::Auto) unless you compare methods.
//! It takes a block model of the workers, and merges pairs greedily where clusters are many and
//! small, as in entity resolution. Robust matrix completion and Dawid and Skene's model are there
//! by name.
