//! Clustering ensembles in tables larger than memory: Parquet files, grouped by DataFusion in this
//! process, combined by the methods of `consilience`.
//!
//! A hundred million objects under twenty clusterings have a few thousand distinct rows. One pass
//! finds them with their counts, any method of the catalogue combines them as it would combine all
//! objects, and a second pass writes the label of every object:
//!
//! ```
//! use consilience::catalogue::{Settings, by_name};
//! use consilience_datafusion::{Engine, Output, Table, made};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let pool = folder.path().join("pool");
//! // Two files of 500 objects under 5 clusterings, with 12 distinct rows.
//! made::ensemble(&pool, &made::Shape { files: 2, rows: 500, members: 5, distinct: 12, seed: 0 })?;
//!
//! let engine = Engine::builder().memory(256 << 20).build()?;
//! let table = Table::open(&pool)?;
//! let rows = engine.distinct(&table, &())?;
//! assert_eq!((rows.total(), rows.n_distinct()), (1000, 12));
//! let labels = by_name("eac-al")?.build(&Settings::new(3))?.consensus(rows.ensemble())?;
//!
//! let mut output = Output::new(folder.path().join("labels"), &table)?;
//! let written = engine.write_labels(&table, &rows, &labels, &mut output, &())?;
//! output.commit()?;
//! assert_eq!(written.sizes.iter().sum::<u64>(), 1000);
//! assert_eq!(Table::open(folder.path().join("labels"))?.n_files(), 2);
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! Labels are those that the library gives on all rows, at any number of files and partitions.
//!
//! | to do | with |
//! |---|---|
//! | open files, a folder or a pattern | [`Table::open`] |
//! | reach an object store | [`Bucket`] |
//! | combine an ensemble | [`Engine::distinct`], [`DistinctRows::ensemble`], [`Engine::write_labels`] |
//! | write probabilities instead of labels | [`Engine::write_memberships`] |
//! | the same where there are too many distinct rows | [`Engine::sample`] |
//! | compare two columns of labels | [`Engine::contingency`] |
//! | let a clustering follow links | [`Engine::follow`], [`Engine::write_followed`], [`UpdateState`] |
//! | make an ensemble from features | [`Engine::generate`] |
//!
//! Nothing of DataFusion or Arrow is in the public interface.

mod codes;
mod distinct;
mod engine;
mod fault;
mod follow;
mod followed;
mod gather;
mod generate;
mod groups;
mod labels;
mod location;
pub mod made;
mod numbers;
mod output;
mod packed;
pub mod remote;
mod scan;
mod score;
mod soft;
mod state;
mod store;
mod table;
mod work;

pub use distinct::DistinctRows;
pub use engine::{Engine, EngineBuilder};
pub use follow::{FollowRule, Followed};
pub use generate::{Generation, MemberMethod, MemberSetup};
pub use labels::Labelled;
pub use output::{Output, remove_unfinished};
pub use state::UpdateState;
pub use store::Bucket;
pub use table::Table;
