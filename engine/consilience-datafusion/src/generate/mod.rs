//! Base clusterings of features that do not fit in memory.

mod features;
mod lloyd;
mod member;
mod mini_batch;
mod scale;
mod setup;
mod uspec;
mod write;

use consilience::generate::Scale;
use consilience::ndarray::ArrayView2;
use consilience::num::Float;
use consilience::{Error, ErrorKind, Features, Observer, Result};

use crate::engine::Engine;
use crate::output::Output;
use crate::table::Table;
pub(crate) use features::Fetch;
use features::Source;
pub(crate) use lloyd::Pass;
pub use setup::{MemberMethod, MemberSetup};
pub(crate) use write::MemberLabels;

/// Objects that starts are made from where not all fit in memory.
const SAMPLE: usize = 1 << 18;

/// What was generated.
///
/// From [`Engine::generate`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Generation {
    /// Clusters of each member.
    pub clusters: Vec<usize>,
    /// Objects that the members were made from, beside those that moved the centres of k-means.
    pub sample: u64,
    /// Passes over all objects that moved centres.
    pub passes: usize,
    /// Whether centres came to rest before the iterations ended.
    pub converged: bool,
}

impl Engine {
    /// Writes an ensemble of features: one column of labels for each member, -1 for unlabelled,
    /// after the column of ids where the table has one. Clusters are numbered by their first
    /// objects.
    ///
    /// ```
    /// use consilience_datafusion::{Engine, MemberMethod, MemberSetup, Output, Table, made};
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let features = folder.path().join("features");
    /// let shape = made::Shape { files: 2, rows: 500, members: 3, distinct: 0, seed: 0 };
    /// made::features(&features, &shape)?;
    ///
    /// let engine = Engine::builder().memory(256 << 20).build()?;
    /// let table = Table::open(&features)?;
    /// let mut output = Output::new(folder.path().join("pool"), &table)?;
    /// // The same labels as without the sample.
    /// let setup = MemberSetup::new().method(MemberMethod::mini_batch()).members(4).sample(100);
    /// let made = engine.generate(&table, &setup, &mut output, &())?;
    /// output.commit()?;
    /// assert_eq!(made.clusters.len(), 4);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// For n objects of d features, M members of k clusters and p representatives, in passes over
    /// the table: one to read, for k-means at most [`MemberSetup::passes`] to move centres and one
    /// to label, each O(n d k M); for mini-batches one to label; for U-SPEC three, each
    /// O(n d sqrt(p) M), and O(p^2) memory per member. Members whose draws do not fit in memory
    /// together take turns, with a pass to read (and for U-SPEC two more) each. A scale is one or
    /// two readings of each column.
    ///
    /// # Errors
    /// [`ErrorKind::NonFinite`] naming file, row and column, [`ErrorKind::InvalidParameter`] for
    /// settings out of range, [`ErrorKind::TooLarge`] for a sample beyond the memory,
    /// [`ErrorKind::Format`] and [`ErrorKind::Io`] naming the file.
    pub fn generate(
        &self,
        table: &Table,
        setup: &MemberSetup,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Generation> {
        setup.check()?;
        features::check(table)?;
        let objects = setup.objects(self, table)?;
        if features::single(table) {
            self.made::<f32>(table, setup, objects, output, observer)
        } else {
            self.made::<f64>(table, setup, objects, output, observer)
        }
    }

    fn made<F: Float>(
        &self,
        table: &Table,
        setup: &MemberSetup,
        objects: usize,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Generation>
    where
        for<'a> Features<'a>: From<ArrayView2<'a, F>>,
    {
        let mut done = Generation::default();
        if objects as u64 == table.n_rows() {
            // The library scales what it is given.
            let source = Source::new(self, table, Scale::None, observer)?;
            let all = source.fetch::<F>(None)?;
            let fit = setup.generator().fit(all.rows.view(), observer)?;
            done.sample = objects as u64;
            done.converged = fit.report.status == consilience::Status::Solved;
            drop(all);
            done.clusters = write::ensemble(&source, fit.output, output)?;
            return Ok(done);
        }
        let source = Source::new(self, table, setup.scale, observer)?;
        let members = match (setup.batches(), setup.graph()) {
            (Some(batches), _) => mini_batch::members::<F>(&source, setup, batches, &mut done)?,
            (_, Some(graph)) => uspec::members::<F>(&source, setup, graph, &mut done)?,
            _ => lloyd::members::<F>(&source, setup, objects, &mut done)?,
        };
        done.clusters = write::members(&source, members, output)?;
        Ok(done)
    }
}

/// Members of so many bytes each that are made at once.
fn most_at_once(engine: &Engine, bytes: u64, what: &str) -> Result<usize> {
    let room = engine.memory() / 4;
    if bytes > room {
        return Err(Error::too_large(format!(
            "{what} takes some {bytes} bytes; expected at most {room}, a quarter of the memory"
        )));
    }
    Ok((room / bytes.max(1)) as usize)
}

/// Different objects in ascending order.
fn union(objects: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut all: Vec<u64> = objects.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A column that holds no numbers.
fn no_numbers(what: String) -> Error {
    Error::new(ErrorKind::Format, what)
}
