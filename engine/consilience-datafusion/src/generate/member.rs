//! One member: what it sees, and how it labels.

use consilience::ndarray::{Array2, ArrayView2, Axis, CowArray, Ix2};
use consilience::num::Float;
use consilience::num::kmeans::assign;
use consilience::{Error, Result, Seed, Stream};

use serde::{Deserialize, Serialize};

use super::MemberSetup;
use super::uspec::Cut;
use crate::remote::wire::matrix;

/// Draws of an object before a stretch is taken for one that holds none to be seen.
const TRIES: usize = 100;

/// What a member sees of a table.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct View {
    /// The features that it sees; all without.
    columns: Option<Vec<usize>>,
    /// The objects that it sees: those whose number is at most that, by a stream of its own.
    objects: Option<(u64, u64)>,
    fraction: f64,
}

impl View {
    fn drawn(setup: &MemberSetup, seed: Seed, d: usize) -> Self {
        let width = share(d, setup.feature_fraction);
        let fraction = setup.object_fraction;
        let below = (fraction * u64::MAX as f64) as u64;
        View {
            columns: (width < d).then(|| seed.derive("features", 0).stream().sample(d, width)),
            objects: (fraction < 1.0).then_some((seed.0, below)),
            fraction,
        }
    }

    /// Whether it sees an object.
    pub(super) fn sees(&self, object: u64) -> bool {
        self.objects.is_none_or(|(seed, below)| Seed(seed).derive("object", object).0 <= below)
    }

    /// Rows as it sees them.
    pub(super) fn rows<'r, F: Float>(&self, rows: &'r Array2<F>) -> CowArray<'r, F, Ix2> {
        match &self.columns {
            Some(columns) => rows.select(Axis(1), columns).into(),
            None => rows.into(),
        }
    }

    /// Of what there is for each feature, that of those that it sees.
    pub(super) fn features<T: Copy>(&self, of: &[T]) -> Vec<T> {
        match &self.columns {
            Some(columns) => columns.iter().map(|&j| of[j]).collect(),
            None => of.to_vec(),
        }
    }

    /// Labels of so many rows, `None` for the objects that it does not see, and for all where
    /// there are no labels.
    pub(super) fn masked(&self, labels: &[u32], rows: usize, first: u64) -> Vec<Option<u32>> {
        let objects = (0..rows).zip(first..);
        objects.map(|(at, object)| labels.get(at).copied().filter(|_| self.sees(object))).collect()
    }

    /// How many of n objects it sees.
    pub(super) fn objects(&self, n: u64) -> usize {
        share(n as usize, self.fraction)
    }

    /// About so many different ones of the n objects, ascending, all of which it sees.
    pub(super) fn sample(&self, stream: &mut Stream, n: u64, count: usize) -> Vec<u64> {
        let asked = (count as f64 / self.fraction).ceil() as usize;
        let drawn = stream.sample(n as usize, asked).into_iter().map(|i| i as u64);
        drawn.filter(|&i| self.sees(i)).collect()
    }

    /// One of some objects, which it sees; `None` where there hardly is any.
    pub(super) fn draw(&self, stream: &mut Stream, low: u64, high: u64) -> Option<u64> {
        let mut draws = (0..TRIES).map(|_| low + stream.below((high - low) as usize) as u64);
        draws.find(|&i| self.sees(i))
    }
}

/// How many of `all` a fraction is: at least 1.
pub(super) fn share(all: usize, fraction: f64) -> usize {
    ((all as f64 * fraction).ceil() as usize).clamp(1, all)
}

/// A member before it is made.
pub(super) struct Plan {
    pub(super) view: View,
    /// Clusters that it is asked for.
    pub(super) clusters: usize,
    /// All its randomness, and that of its clusterer.
    pub(super) seed: Seed,
    pub(super) fit: Seed,
}

/// All members of a table of n objects and d features, drawn as the library draws them. Each is
/// made from so many objects.
pub(super) fn plans(setup: &MemberSetup, n: u64, d: usize, part: usize) -> Result<Vec<Plan>> {
    let range = setup.generator().cluster_range(n as usize)?;
    if *range.start() > part {
        let (low, high) = (range.start(), range.end());
        return Err(Error::invalid(format!(
            "{low} to {high} clusters of the {part} sampled objects that a member sees"
        )));
    }
    let plan = |u| {
        let seed = setup.seed.derive("member", u as u64);
        let spread = range.end() - range.start() + 1;
        let k = range.start() + seed.derive("clusters", 0).stream().below(spread);
        let view = View::drawn(setup, seed, d);
        Plan { view, clusters: k.min(part), seed, fit: seed.derive("clusterer", 0) }
    };
    Ok((0..setup.members).map(plan).collect())
}

/// One member: what it sees, and where clusters are.
#[derive(Deserialize, Serialize)]
#[serde(bound = "F: Float")]
pub(super) struct Member<F> {
    pub(super) view: View,
    pub(super) model: Model<F>,
}

/// What an object is labelled by.
#[derive(Deserialize, Serialize)]
#[serde(bound = "F: Float")]
pub(super) enum Model<F> {
    /// The nearest of some centres.
    Centres(#[serde(with = "matrix")] Array2<F>),
    /// The nearest of some centres among the eigenvectors of representatives; stays in this
    /// process.
    #[serde(skip)]
    Cut(Box<Cut<F>>),
}

impl<F: Float> Member<F> {
    /// The cluster of each row, `None` for the objects that it does not see.
    pub(super) fn labels(&self, rows: &Array2<F>, first: u64) -> Vec<Option<u32>> {
        let seen = self.view.rows(rows);
        let seen: ArrayView2<'_, F> = seen.view();
        let labels = match &self.model {
            Model::Centres(centres) => assign(seen, centres.view(), false),
            Model::Cut(cut) => cut.labels(seen),
        };
        self.view.masked(&labels, rows.nrows(), first)
    }
}
