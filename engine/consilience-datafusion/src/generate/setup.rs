use std::ops::RangeInclusive;
use std::str::FromStr;

use consilience::generate::{Generator, KMeans, MiniBatchKMeans, Scale, USpec};
use consilience::{Error, Result, Seed};

use super::SAMPLE;
use super::mini_batch::Batches;
use super::uspec::Graph;
use crate::engine::Engine;
use crate::table::Table;

/// Copies of the features that the members make at once.
const COPIES: u64 = 4;

/// The base clusterer that members are made by.
///
/// ```
/// use consilience_datafusion::MemberMethod;
///
/// let method: MemberMethod = "uspec".parse()?;
/// assert_eq!(method, MemberMethod::uspec());
/// let small = method.parameter("representatives", "200")?;
/// assert!(matches!(small, MemberMethod::USpec { representatives: 200, neighbours: 5, .. }));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MemberMethod {
    /// k-means, as [`KMeans`]. Beyond memory each member starts from k-means on a sample, and
    /// goes on with Lloyd's iterations over all objects.
    KMeans,
    /// Mini-batch k-means, as [`MiniBatchKMeans`]. Beyond memory the members are the same, but
    /// for clusters that no object chooses at the end, which stay empty, and starts that lack
    /// distinct objects, which are fewer then.
    MiniBatch {
        /// Objects per batch. Default 1024; at least 1.
        batch: usize,
        /// Number of batches. Default 100; at least 1.
        batches: usize,
    },
    /// U-SPEC, spectral clustering by way of representatives, as [`USpec`]. Beyond memory the
    /// members are the same, but where a table has no more distinct objects than clusters.
    USpec {
        /// Number of representatives, at most. Default 1000; at least 1.
        representatives: usize,
        /// Nearest representatives that describe an object. Default 5; at least 1.
        neighbours: usize,
        /// Weight of a link between every two representatives. Default 0.01; at least 0.
        regularization: f64,
        /// Runs of the k-means on the eigenvectors. Default 3; at least 1.
        restarts: usize,
    },
}

impl MemberMethod {
    /// 100 batches of 1024 objects.
    pub fn mini_batch() -> Self {
        MemberMethod::MiniBatch { batch: 1024, batches: 100 }
    }

    /// 1000 representatives, 5 of which describe an object, regularization 0.01, and 3 runs of the
    /// k-means.
    pub fn uspec() -> Self {
        MemberMethod::USpec {
            representatives: 1000,
            neighbours: 5,
            regularization: 0.01,
            restarts: 3,
        }
    }

    /// What it is called: `kmeans`, `minibatch` or `uspec`.
    pub fn name(self) -> &'static str {
        match self {
            MemberMethod::KMeans => "kmeans",
            MemberMethod::MiniBatch { .. } => "minibatch",
            MemberMethod::USpec { .. } => "uspec",
        }
    }

    /// The parameters that it takes.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            MemberMethod::KMeans => &[],
            MemberMethod::MiniBatch { .. } => &["batch", "batches"],
            MemberMethod::USpec { .. } => {
                &["representatives", "neighbours", "regularization", "restarts"]
            }
        }
    }

    /// Sets a parameter by its name, from text.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for another name,
    /// and for text that is no number.
    pub fn parameter(mut self, name: &str, value: &str) -> Result<Self> {
        let count = || {
            let wrong = |_| Error::invalid(format!("{name}={value}; expected a whole number"));
            value.parse::<usize>().map_err(wrong)
        };
        match (&mut self, name) {
            (MemberMethod::MiniBatch { batch, .. }, "batch") => *batch = count()?,
            (MemberMethod::MiniBatch { batches, .. }, "batches") => *batches = count()?,
            (MemberMethod::USpec { representatives, .. }, "representatives") => {
                *representatives = count()?;
            }
            (MemberMethod::USpec { neighbours, .. }, "neighbours") => *neighbours = count()?,
            (MemberMethod::USpec { restarts, .. }, "restarts") => *restarts = count()?,
            (MemberMethod::USpec { regularization, .. }, "regularization") => {
                let wrong = |_| Error::invalid(format!("{name}={value}; expected a number"));
                *regularization = value.parse().map_err(wrong)?;
            }
            _ => {
                let takes = match self.parameters() {
                    [] => "no parameters".to_owned(),
                    names => names.join(", "),
                };
                let method = self.name();
                return Err(Error::invalid(format!(
                    "unknown parameter {name:?}; {method} takes {takes}"
                )));
            }
        }
        Ok(self)
    }

    fn check(self) -> Result<()> {
        let counts = match self {
            MemberMethod::KMeans => vec![],
            MemberMethod::MiniBatch { batch, batches } => {
                vec![("batch", batch), ("batches", batches)]
            }
            MemberMethod::USpec { representatives, neighbours, restarts, regularization } => {
                if !(regularization >= 0.0 && regularization.is_finite()) {
                    return Err(Error::invalid(format!(
                        "regularization {regularization}; expected a finite number of at least 0"
                    )));
                }
                vec![
                    ("representatives", representatives),
                    ("neighbours", neighbours),
                    ("restarts", restarts),
                ]
            }
        };
        match counts.iter().find(|(_, count)| *count == 0) {
            Some((name, _)) => Err(Error::invalid(format!("{name} 0; expected at least 1"))),
            None => Ok(()),
        }
    }
}

impl FromStr for MemberMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "kmeans" => Ok(MemberMethod::KMeans),
            "minibatch" => Ok(Self::mini_batch()),
            "uspec" => Ok(Self::uspec()),
            _ => Err(Error::invalid(format!(
                "unknown method {name:?}; expected one of kmeans, minibatch, uspec"
            ))),
        }
    }
}

/// How members are made from features: as by the library's [`Generator`], and the same labels where
/// the features fit in memory.
///
/// Beyond that [`MemberMethod`] says what each does. Which features a member sees, how many
/// clusters it makes and what it draws is drawn as the library draws it, and the scale is the
/// library's, to the bit.
///
/// ```
/// use consilience::generate::Scale;
/// use consilience_datafusion::{MemberMethod, MemberSetup};
///
/// let members = MemberSetup::new().members(20).clusters(10..=30).sample(100_000).passes(5);
/// let spectral = MemberSetup::new().method(MemberMethod::uspec()).scale(Scale::ZScore);
/// # let _ = (members, spectral);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MemberSetup {
    pub(super) method: MemberMethod,
    pub(super) members: usize,
    clusters: Option<RangeInclusive<usize>>,
    pub(super) feature_fraction: f64,
    pub(super) object_fraction: f64,
    pub(super) scale: Scale,
    sample: Option<usize>,
    pub(super) passes: usize,
    pub(super) tolerance: f64,
    pub(super) seed: Seed,
}

impl Default for MemberSetup {
    fn default() -> Self {
        MemberSetup {
            method: MemberMethod::KMeans,
            members: 20,
            clusters: None,
            feature_fraction: 1.0,
            object_fraction: 1.0,
            scale: Scale::None,
            sample: None,
            passes: 10,
            tolerance: 1e-4,
            seed: Seed(0),
        }
    }
}

impl MemberSetup {
    /// 20 k-means members on all features and objects, unscaled.
    pub fn new() -> Self {
        Self::default()
    }

    /// The base clusterer. Default [`MemberMethod::KMeans`].
    pub fn method(mut self, method: MemberMethod) -> Self {
        self.method = method;
        self
    }

    /// Number of members. Default 20; 1 to 1,000,000.
    pub fn members(mut self, members: usize) -> Self {
        self.members = members;
        self
    }

    /// Range that each member's number of clusters is drawn from. Default
    /// `2..=min(sqrt(n), 50)`.
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
    /// memory each object is drawn by itself, so that the number is not exact, and members are
    /// not those of the library.
    pub fn object_fraction(mut self, fraction: f64) -> Self {
        self.object_fraction = fraction;
        self
    }

    /// How features are brought to a common scale. Default [`Scale::None`].
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Objects that k-means members are started from. Default all, where they fit in memory, and
    /// 262,144 otherwise; at least 1. Other methods draw what they need, and for them any number
    /// below that of the objects says that these shall not be held in memory.
    pub fn sample(mut self, objects: usize) -> Self {
        self.sample = Some(objects);
        self
    }

    /// Most passes over all objects in which centres of k-means move. Default 10; with 0 the
    /// centres of the sample stay.
    pub fn passes(mut self, passes: usize) -> Self {
        self.passes = passes;
        self
    }

    /// Centres of k-means rest where their summed squared movement is at most this times the mean
    /// variance of the member's features in the sample. Default 1e-4; at least 0.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Default `Seed(0)`.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// The library's generator with these settings.
    pub(super) fn generator(&self) -> Generator {
        let generator = match self.method {
            MemberMethod::KMeans => Generator::new(KMeans::new().tolerance(self.tolerance)),
            MemberMethod::MiniBatch { batch, batches } => {
                Generator::new(MiniBatchKMeans::new().batch(batch).batches(batches))
            }
            MemberMethod::USpec { representatives, neighbours, regularization, restarts } => {
                let method = USpec::new().representatives(representatives).neighbours(neighbours);
                Generator::new(method.regularization(regularization).restarts(restarts))
            }
        };
        let generator = generator
            .members(self.members)
            .feature_fraction(self.feature_fraction)
            .object_fraction(self.object_fraction)
            .scale(self.scale)
            .seed(self.seed);
        match &self.clusters {
            Some(range) => generator.clusters(range.clone()),
            None => generator,
        }
    }

    /// How many objects are read into memory: all of them, or a sample.
    pub(super) fn objects(&self, engine: &Engine, table: &Table) -> Result<usize> {
        let links = match self.method {
            MemberMethod::USpec { neighbours, .. } => {
                (6 * neighbours as u64 + 4).saturating_mul(engine.partitions() as u64)
            }
            _ => 0,
        };
        // The features, and what each member says, twice.
        let row = (8 * table.positions().len() as u64 * COPIES)
            .saturating_add(links)
            .saturating_add(5 * self.members as u64);
        let fit = engine.memory() / 2 / row.max(1);
        let n = table.n_rows();
        let asked = match self.sample {
            Some(0) => return Err(Error::invalid("a sample of 0 objects; expected at least 1")),
            Some(sample) => (sample as u64).min(n),
            None if n <= fit => n,
            None => (SAMPLE as u64).min(n - 1).max(1),
        };
        if asked > fit && (asked == n || self.method == MemberMethod::KMeans) {
            let what = format!("{asked} objects of {row} bytes with their copies");
            return Err(Error::too_large(format!("{what} beyond the memory; expected {fit}")));
        }
        Ok(asked as usize)
    }

    /// How mini-batches are drawn, where they are.
    pub(super) fn batches(&self) -> Option<Batches> {
        match self.method {
            MemberMethod::MiniBatch { batch, batches } => Some(Batches { batch, batches }),
            _ => None,
        }
    }

    /// How representatives are chosen, where there are any.
    pub(super) fn graph(&self) -> Option<Graph> {
        match self.method {
            MemberMethod::USpec { representatives, neighbours, regularization, restarts } => {
                Some(Graph { representatives, neighbours, regularization, restarts })
            }
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        self.method.check()?;
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
