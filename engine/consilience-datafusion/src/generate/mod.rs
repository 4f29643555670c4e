//! Base clusterings of features that do not fit in memory.

mod features;
mod lloyd;
mod write;

use std::ops::RangeInclusive;

use consilience::generate::{Generator, KMeans, Scale};
use consilience::ndarray::ArrayView2;
use consilience::num::Float;
use consilience::{Ensemble, Error, ErrorKind, Features, Observer, Result, Seed};

use crate::engine::Engine;
use crate::output::Output;
use crate::table::Table;
use features::Sampled;
use lloyd::Member;

pub(crate) use features::Sampling;
pub(crate) use lloyd::Pass;
pub(crate) use write::MemberLabels;

/// Objects that starts are made from where not all fit in memory.
const SAMPLE: usize = 1 << 18;
/// Copies of the features that the members make at once.
const COPIES: u64 = 4;

/// How k-means members are made from features: as by the library's
/// [`Generator`] where the features fit in memory, and the same labels then.
///
/// Beyond that each member starts from k-means on a sample of the objects, goes on with Lloyd's
/// iterations over all objects, and labels them in a last pass. Which features a member sees, and
/// how many clusters it makes, is drawn as the library draws it.
///
/// ```
/// use consilience_datafusion::KMeansMembers;
///
/// let members = KMeansMembers::new().members(20).clusters(10..=30).sample(100_000).passes(5);
/// # let _ = members;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansMembers {
    members: usize,
    clusters: Option<RangeInclusive<usize>>,
    feature_fraction: f64,
    object_fraction: f64,
    sample: Option<usize>,
    passes: usize,
    tolerance: f64,
    seed: Seed,
}

/// What was generated.
///
/// From [`Engine::generate`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Generation {
    /// Clusters that each member was asked for.
    pub clusters: Vec<usize>,
    /// Objects that the members were started from.
    pub sample: u64,
    /// Passes over all objects that moved centres.
    pub passes: usize,
    /// Whether the centres came to rest before the passes ended.
    pub converged: bool,
}

impl Default for KMeansMembers {
    fn default() -> Self {
        KMeansMembers {
            members: 20,
            clusters: None,
            feature_fraction: 1.0,
            object_fraction: 1.0,
            sample: None,
            passes: 10,
            tolerance: 1e-4,
            seed: Seed(0),
        }
    }
}

impl KMeansMembers {
    /// 20 members on all features and objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of members. Default 20; 1 to 1,000,000.
    pub fn members(mut self, members: usize) -> Self {
        self.members = members;
        self
    }

    /// Range that each member's number of clusters is drawn from. Default
    /// `2..=min(sqrt(n) / 2, 50)`.
    pub fn clusters(mut self, clusters: RangeInclusive<usize>) -> Self {
        self.clusters = Some(clusters);
        self
    }

    /// Fraction of the features that each member sees. Default 1; above 0, at most 1.
    pub fn feature_fraction(mut self, fraction: f64) -> Self {
        self.feature_fraction = fraction;
        self
    }

    /// Fraction of the objects that each member labels. Default 1; above 0, at most 1. Beyond
    /// memory each object is drawn by itself, so that the number is not exact.
    pub fn object_fraction(mut self, fraction: f64) -> Self {
        self.object_fraction = fraction;
        self
    }

    /// Objects that members are started from. Default all, where they fit in memory, and 262,144
    /// otherwise; at least 1.
    pub fn sample(mut self, objects: usize) -> Self {
        self.sample = Some(objects);
        self
    }

    /// Most passes over all objects in which centres move. Default 10; with 0 the centres of the
    /// sample stay.
    pub fn passes(mut self, passes: usize) -> Self {
        self.passes = passes;
        self
    }

    /// A member's centres rest where their summed squared movement is at most this times the mean
    /// variance of its features in the sample. Default 1e-4; at least 0.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Default `Seed(0)`.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    fn generator(&self) -> Generator {
        let generator = Generator::new(KMeans::new().tolerance(self.tolerance))
            .members(self.members)
            .feature_fraction(self.feature_fraction)
            .object_fraction(self.object_fraction)
            .scale(Scale::None)
            .seed(self.seed);
        match &self.clusters {
            Some(range) => generator.clusters(range.clone()),
            None => generator,
        }
    }

    /// How many objects are read into memory: all of them, or a sample.
    fn objects(&self, engine: &Engine, table: &Table) -> Result<usize> {
        let row = 8 * table.positions().len() as u64 * COPIES;
        let fit = engine.memory() / 2 / row.max(1);
        let n = table.n_rows();
        let asked = match self.sample {
            Some(0) => return Err(Error::invalid("a sample of 0 objects; expected at least 1")),
            Some(sample) => (sample as u64).min(n),
            None if n <= fit => n,
            None => n.min(SAMPLE as u64),
        };
        if asked > fit {
            let what = format!("{asked} objects of {row} bytes with their copies");
            return Err(Error::too_large(format!("{what} beyond the memory; expected {fit}")));
        }
        Ok(asked as usize)
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("feature", self.feature_fraction), ("object", self.object_fraction)]
        {
            if !(value > 0.0 && value <= 1.0) {
                let what = format!("{name} fraction {value}; expected above 0 and at most 1");
                return Err(Error::invalid(what));
            }
        }
        if !(1..=1_000_000).contains(&self.members) {
            return Err(Error::invalid(format!("{} members; expected 1..=1000000", self.members)));
        }
        if !(self.tolerance >= 0.0) {
            let what = format!("tolerance {}; expected at least 0", self.tolerance);
            return Err(Error::invalid(what));
        }
        Ok(())
    }
}

impl Engine {
    /// Writes an ensemble of k-means members of features: one column of labels for each member, -1
    /// for unlabelled, after the column of ids where the table has one.
    ///
    /// # Complexity
    /// One pass to read, at most [`KMeansMembers::passes`] to move centres and one to label, each
    /// O(n d k M) for n objects of d features and M members.
    ///
    /// # Errors
    /// [`ErrorKind::NonFinite`] naming file, row and column, [`ErrorKind::InvalidParameter`] for
    /// settings out of range, [`ErrorKind::TooLarge`] for a sample beyond the memory,
    /// [`ErrorKind::Format`] and [`ErrorKind::Io`] naming the file.
    pub fn generate(
        &self,
        table: &Table,
        settings: &KMeansMembers,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Generation> {
        settings.check()?;
        features::check(table)?;
        let objects = settings.objects(self, table)?;
        if features::single(table) {
            self.made::<f32>(table, settings, objects, output, observer)
        } else {
            self.made::<f64>(table, settings, objects, output, observer)
        }
    }

    fn made<F: Float>(
        &self,
        table: &Table,
        settings: &KMeansMembers,
        objects: usize,
        output: &mut Output,
        observer: &dyn Observer,
    ) -> Result<Generation>
    where
        for<'a> Features<'a>: From<ArrayView2<'a, F>>,
    {
        let sample = Sampled::<F>::read(self, table, objects, settings.seed, observer)?;
        let mut done = Generation { sample: objects as u64, ..Generation::default() };
        if objects as u64 == table.n_rows() {
            let fit = settings.generator().fit(sample.rows.view(), observer)?;
            done.clusters = fit.output.members().iter().map(|m| m.n_clusters()).collect();
            done.converged = fit.report.status == consilience::Status::Solved;
            drop(sample);
            write::ensemble(self, table, &fit.output, output, observer)?;
            return Ok(done);
        }
        let mut members = lloyd::start(settings, table.n_rows(), &sample, observer)?;
        drop(sample);
        done.clusters = members.iter().map(Member::clusters).collect();
        while done.passes < settings.passes && members.iter().any(|m| !m.rests) {
            done.passes += 1;
            lloyd::pass(self, table, &mut members, done.passes, observer)?;
        }
        done.converged = members.iter().all(|member| member.rests);
        write::members(self, table, members, output, observer)?;
        Ok(done)
    }
}

/// The label of an object as it is written.
fn written(ensemble: &Ensemble, member: usize, object: usize) -> i32 {
    ensemble.members()[member].label(object).map_or(-1, |label| label as i32)
}

/// A column that holds no numbers.
fn no_numbers(what: String) -> Error {
    Error::new(ErrorKind::Format, what)
}
