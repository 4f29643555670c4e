//! Crowds: answers of people, or of models, about a few objects at a time.
//!
//! Each answer says whether two objects are alike, or which objects of a small task belong
//! together. [`CrowdClustering`](crate::crowd::CrowdClustering) makes one clustering of all
//! objects, rates the workers, and says what to ask next.
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
//! // Informedness is 1 for a worker who is always right, 0 for answers that tell nothing.
//! let informedness = |w: usize| result.workers[w].informedness();
//! assert!((0..5).all(|w| informedness(5) < informedness(w)));
//!
//! // The pairs whose answer would tell most.
//! for question in result.ask_pairs(&answers, 3)? {
//!     println!("are {} and {} alike?", question.i, question.j);
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Asked, answered, added
//!
//! Ask about pairs in doubt, add what comes back, and cluster again. Begin with a few answers on
//! every object, about random pairs: the questions are no better than the clustering that they come
//! from.
//!
//! ```
//! # use consilience::crowd::{Answers, CrowdClustering, PairAnswer};
//! # fn ask(worker: usize, i: usize, j: usize) -> bool { worker < 4 && (i < 6) == (j < 6) }
//! # let mut rows = Vec::new();
//! # for (worker, i) in (0..4).flat_map(|w| (0..12).map(move |i| (w, i))) {
//! #     let j = (i + 1 + worker) % 12;
//! #     rows.push(PairAnswer { worker, i, j, same: ask(worker, i, j) });
//! # }
//! let mut answers = Answers::from_pairs(12, &rows)?;
//! for round in 0..3 {
//!     let result = CrowdClustering::new(2).fit(&answers, &())?.output;
//!     let mut came = Vec::new();
//!     for q in result.ask_pairs(&answers, 5)? {
//!         came.push(PairAnswer { worker: round, i: q.i, j: q.j, same: ask(round, q.i, q.j) });
//!     }
//!     answers.extend(&Answers::from_pairs(12, &came)?)?;
//! }
//! let result = CrowdClustering::new(2).fit(&answers, &())?.output;
//! assert_eq!(result.partition.sizes(), [6, 6]);
//! // Workers are listed in the order of their numbers.
//! for (number, rates) in answers.workers().iter().zip(&result.workers) {
//!     println!("worker {number}: informedness {:.2}", rates.informedness());
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Answers may be of several kinds: those of [`Answers::from_groupings`] and
//! [`Answers::from_pairs`] can be added to each other.
//!
//! [`Answers::from_groupings`]: crate::crowd::Answers::from_groupings
//! [`Answers::from_pairs`]: crate::crowd::Answers::from_pairs
//!
//! # Answers in files
//!
//! `io` reads a table of answers, its columns known by their names, and `files` makes [`Answers`]
//! of any of its forms. Workers, objects and groups may have names:
//!
#![cfg_attr(feature = "io", doc = "```")]
#![cfg_attr(not(feature = "io"), doc = "```ignore")]
//! use consilience::crowd::CrowdClustering;
//! use consilience::files;
//! use consilience::io::{Format, Input};
//!
//! # let mut text = "worker,i,j,same\n".to_owned();
//! # for (worker, i) in ["ann", "bob", "eve"].iter().flat_map(|w| (0..8).map(move |i| (w, i))) {
//! #     let j = (i + 1) % 8;
//! #     text += &format!("{worker},photo {i},photo {j},{}\n", (i < 4) == (j < 4));
//! # }
//! // worker,i,j,same
//! // ann,photo 0,photo 1,true
//! // ...
//! // From a path: `io::read_answers("answers.csv")?`.
//! let table = Input::in_memory(text.as_bytes(), Format::Csv).answers(&())?.output;
//! let answers = files::answers(&table, table.n_objects())?;
//! let result = CrowdClustering::new(2).fit(&answers, &())?.output;
//! assert_eq!(result.partition.sizes(), [4, 4]);
//! for worker in &result.workers {
//!     println!("{}: informedness {:.2}", table.worker(worker.worker), worker.informedness());
//! }
//! for question in result.ask_pairs(&answers, 3)? {
//!     println!("are {} and {} alike?", table.object(question.i), table.object(question.j));
//! }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`Answers`]: crate::crowd::Answers
//!
//! # Answers about some objects
//!
//! Where the crowd saw a sample only, and all objects have features,
//! [`SemiCrowd`](crate::crowd::SemiCrowd) learns from the sample which features matter, and
//! clusters all of them. In the program: `consilience complete features.csv --answers answers.csv`.
//!
//! # Answers that cost
//!
//! Where objects have features and every answer is paid for, use
//! [`Questioner`](crate::model::Questioner): it clusters by the features, proposes the pairs or
//! small groups whose answers tell most, and stops where an answer costs more than it brings. Set a
//! budget (the most answers) and a price (how many objects an answer must be expected to correct to
//! be worth asking):
//!
//! ```
//! use consilience::model::{Answer, QuestionerOptions};
//! use consilience::ndarray::Array2;
//!
//! // Four groups of texts; readers find that the first and the second are about one thing.
//! let x = Array2::from_shape_fn((80, 2), |(i, j)| {
//!     let group = i / 20;
//!     (if j == 0 { group % 2 } else { group / 2 }) as f64 * 7.0 + (i * (j + 3) % 7) as f64 * 0.1
//! });
//! let topic = |i: usize| (i / 20).max(1);
//! let mut questioner = QuestionerOptions::new(3).budget(60).price(0.01).start(&x)?;
//! while !questioner.is_done() {
//!     let ask = |q: consilience::model::Question| {
//!         let (i, j) = (q.objects[0], q.objects[1]);
//!         Answer::pair(0, i, j, topic(i) == topic(j))
//!     };
//!     let answers: Vec<Answer> = questioner.propose(4).into_iter().map(ask).collect();
//!     questioner.answer(&answers)?;
//! }
//! println!("{} answers, stopped: {:?}", questioner.spent(), questioner.stop());
//! assert_eq!(questioner.partition()?.sizes(), [40, 20, 20]);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! A language model that is asked five times is one worker with five answers; the more it repeats
//! itself, the less they count. In the program, from any language: `consilience ask features.npy
//! --clusters 3 --answers answers.csv --json`, called again whenever there are new answers.
//!
//! # Which method
//!
//! Leave it to [`CrowdMethod::Auto`](crate::crowd::CrowdMethod::Auto) unless you compare methods.
//! It fits a block model of the workers in two forms. In the second each worker confuses clusters
//! in their own way, as people do who know one kind each and sort the rest together; it is taken
//! where the evidence for it is higher by 3 nats. Where objects were compared less often than there
//! are clusters, as in entity resolution, or answers agree and leave more clusters than were asked
//! for, pairs are merged greedily in place of either. Robust
//! matrix completion, latent classes, Dawid and Skene's model and Bayesian crowdclustering are
//! available by name.
//!
//! # How many clusters
//!
//! Give [`Clusters::Auto`](crate::Clusters::Auto) where you do not know:
//!
//! ```
//! use consilience::Clusters;
//! use consilience::crowd::{Answers, CrowdClustering, GroupAnswer};
//!
//! // Fifteen workers sort 20 of 40 objects each into four kinds; one has other kinds.
//! let mut rows = Vec::new();
//! for worker in 0..15 {
//!     for item in (0..40).filter(|i| (i / 4 + worker) % 2 == 0) {
//!         let group = if worker == 0 { item / 10 } else { item % 4 };
//!         rows.push(GroupAnswer { worker, task: 0, item, group });
//!     }
//! }
//! let answers = Answers::from_groupings(40, &rows)?;
//! let result = CrowdClustering::new(Clusters::Auto).fit(&answers, &())?.output;
//! assert!(result.partition.n_clusters() > 1);
//! println!("{:?}, {:?}", result.cluster_count, result.completed_rank);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! The number is the most probable one by the posterior of Bayesian crowdclustering
//! ([`PositionModel`](crate::crowd::PositionModel)). The result also has the rank of the completed
//! similarity, and the report says where the two disagree. Where no answer contradicts another and
//! every two sets that were called the same were called apart, these are the clusters, and neither
//! is found.
