//! What can go in: tables with names, missing values and categories.
//!
//! Examples on this page read files, with the feature `io`; the program `consilience` takes the
//! same tables.
//!
//! # Labels
//!
//! Whole numbers or text, in every form of file below. Negative numbers, empty cells,
//! null, NaN, `NA`, `N/A` and `?` are unlabelled. In memory labels are of any type that compares
//! equal:
//!
//! ```
//! use consilience::Partition;
//!
//! let cells = [Some("cat"), Some("dog"), None, Some("cat")];
//! let (species, names) = Partition::from_values(cells)?;
//! assert_eq!(species.to_signed(), [0, 1, -1, 0]);
//! // Cluster 1 is what the user called a dog.
//! assert_eq!(names[1], "dog");
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Ids
//!
//! A first column that is called `id`, or that holds another text in every row, most of them no
//! numbers, names the objects. So does one of row numbers under no name or one such as `Unnamed:
//! 0`, `index` and `X`, and the index that pandas keeps in Parquet and Feather files: programs
//! write these without being asked, and a note says so. Ids go to every output of the program, and
//! truth, constraints, answers and other tables are joined by them. Row numbers that do not fit
//! those of another table with as many rows, as those of pandas, from 0, and of R, from 1, say the
//! order of its rows, which a note says too.
//!
//! ```
//! # #[cfg(feature = "io")] {
//! use consilience::io::{Format, Input};
//!
//! let pool = "id,a,b\np1,red,0\np2,red,0\np3,blue,1\n";
//! let pool = Input::in_memory(pool.as_bytes(), Format::Csv).label_table(&())?.output;
//! let truth = "id,class\np3,dog\np1,cat\n";
//! let truth = Input::in_memory(truth.as_bytes(), Format::Csv).label_table(&())?.output;
//!
//! let joined = truth.joined(pool.ids().expect("a column of ids"))?;
//! let (classes, names) = joined.output;
//! // Nothing is known of p2, and a note says so.
//! assert_eq!(classes.to_signed(), [0, -1, 1]);
//! assert_eq!((names[0].as_str(), joined.report.notes.len()), ("cat", 1));
//! # }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Features
//!
//! Columns of numbers. Other columns are an error that names all of them, unless they are given as
//! ids or categories, or left out. A column of categories is a clustering, so it becomes a member
//! of the ensemble:
//!
//! ```
//! # #[cfg(feature = "io")] {
//! use consilience::generate::{Generator, KMeans, Missing};
//! use consilience::io::{FeatureTable, Format, Input};
//!
//! let mut text = String::from("name;height;weight;eyes\n");
//! for i in 0..30 {
//!     let (height, eyes) = if i < 15 { (1.2, "blue") } else { (1.9, "brown") };
//!     let weight = if i % 7 == 0 { String::new() } else { (40 * (1 + i / 15)).to_string() };
//!     text.push_str(&format!("person {i};{};{weight};{eyes}\n", height + 0.001 * i as f64));
//! }
//! let input = Input::in_memory(text.as_bytes(), Format::Csv);
//! let table = input.categorical(["eyes"]).missing(true).data_table(&())?.output;
//! assert_eq!(table.ids().expect("unique text").get(29), "person 29");
//!
//! let generator = Generator::new(KMeans::new())
//!     .members(12)
//!     .clusters(2..=4)
//!     .feature_fraction(0.5)
//!     .missing(Missing::Member);
//! let numbers = table.numbers().map(FeatureTable::view);
//! let categories = table.categories().expect("one column").ensemble();
//! let ensemble = generator.fit_mixed(numbers, categories, &())?.output;
//! assert_eq!(ensemble.n_members(), 12);
//! # }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Missing values
//!
//! Missing values are an error, with a count per column, unless you choose a
//! [`Missing`](crate::generate::Missing) strategy. Imputation is simple, but every member then
//! relies on the same imputed values. [`Missing::Member`](crate::generate::Missing::Member) imputes
//! nothing: a member leaves out the objects that lack a feature that it sees, so each member should
//! see a part of the features alone. `docs/tables.md` of the repository has measurements.
//!
//! # Sparse features
//!
//! Texts, ratings, baskets: rows of a sparse matrix of `sprs` are [`Features`](crate::Features) as
//! arrays are, and are never made dense. k-means, mini-batch, spherical and kernel k-means, U-SPEC,
//! FPC and NNC take them, and so does a generator of these, with fractions and projections. Other
//! methods need a table and refuse sparse rows; [`TruncatedSvd`](crate::metric::TruncatedSvd) makes
//! a table. Files are Matrix Market (`.mtx`), svmlight (`.svmlight`, `.libsvm`, `.svm`) and the
//! archives of scipy's `save_npz`.
//!
//! ```
//! # #[cfg(feature = "io")] {
//! use consilience::generate::{Generator, SphericalKMeans};
//! use consilience::io::{Format, Input};
//! use consilience::metric::TruncatedSvd;
//! use consilience::{ConsensusFunction, consensus::Lwea};
//!
//! // A class, and the words of a text with their counts.
//! let mut text = String::new();
//! for i in 0..20 {
//!     let word = i % 2 * 5 + 1;
//!     text += &format!("{} {}:2 {}:1\n", i % 2, word, word + 1 + i % 3);
//! }
//! let input = Input::in_memory(text.as_bytes(), Format::Svmlight);
//! let (words, classes) = (input.features(&())?.output, input.labels(&())?.output);
//! let ensemble = Generator::new(SphericalKMeans::new()).clusters(2..=4).generate(words.view())?;
//! let found = Lwea::new(2).consensus(&ensemble)?;
//! assert_eq!(found, classes);
//! // Two columns in place of nine, for methods that need a table.
//! let map = TruncatedSvd::new(2).learn(words.view())?;
//! assert_eq!(map.apply(words.view())?.dim(), (20, 2));
//! # }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! In the program `generate words.mtx --method spherical-kmeans` keeps them sparse; where a method
//! needs a table, `--svd 50` says how many columns it gets (100 without it).
//!
//! The columns of an SVD have one unit, and the last of many hold little but noise: what learns a
//! metric on them should take them as they are, as [`Itml`](crate::metric::Itml) with
//! `standardize(false)`, which is what the program does.
//!
//! # More than labels
//!
//! Rows may stand for many objects, members may be weighted or give memberships: see
//! [`choosing`](super::choosing).
//!
//! # Networks
//!
//! Clusterings of the nodes of a network are combined along its edges alone, which is what fits in
//! memory for millions of nodes. Edges are two columns of node numbers, or of ids:
//!
//! ```
//! # #[cfg(feature = "io")] {
//! use consilience::consensus::NetworkPropagation;
//! use consilience::graph::Network;
//! use consilience::io::{Format, Input};
//! use consilience::{ConsensusFunction, Ensemble, ndarray::array};
//!
//! let pool = array![[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [1, 1, 1]];
//! let ensemble = Ensemble::from_array(pool.view())?;
//! let text = "from,to\n0,1\n1,2\n0,2\n2,3\n3,4\n4,5\n3,5\n";
//! let edges = Input::in_memory(text.as_bytes(), Format::Csv).edges(6, None, &())?.output;
//! let found = NetworkPropagation::new(Network::new(6, edges)?).consensus(&ensemble)?;
//! assert_eq!(found.to_signed(), [0, 0, 0, 1, 1, 1]);
//! # }
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # Files
//!
//! `.csv`, and `.tsv`, whose columns are separated by tabs; `.npy` and `.npz`; `.parquet`; `.arrow`
//! and `.feather`; sparse features are also read from `.mtx`, `.svmlight`, `.libsvm` and `.svm`.
//! Text may be compressed: `.csv.gz`, `.csv.zst` and so on. In the program `-` is standard input,
//! in any of these forms, or standard output, which is CSV.
//!
//! # Text files
//!
//! UTF-8, with or without a byte order mark. The first row tells what separates columns: a comma
//! where there is one, else a semicolon, else a tab; in `.tsv` a tab first. A table of one
//! column may have blank lines, which are unlabelled objects, but for those at the end of the file:
//! write -1 or `""` there. Features may be `True` and `False`, which are 1 and 0. The first row is
//!
//! | first row | is | told |
//! |---|---|---|
//! | holds text that its columns do not have again | a header | |
//! | holds text, all of which its columns have again | an object | yes |
//! | counts on from 0, 1 or a year (`0,1,2`), three columns or more over three rows or more: most of its numbers do not come again in their columns, or there are five columns and rows | a header | yes |
//! | the same of two columns, above two fractions, neither number again | a header | yes |
//! | counts on, else, of three columns or more, or of two above fractions | an object | yes |
//! | other numbers | an object | |
