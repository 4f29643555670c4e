//! The protocol of Yang et al. (2015), Section 5: attributes to [1, 2], five labels per class, 20
//! runs, Rand index over all pairs.

use std::path::PathBuf;

use consilience::constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans, UnderMetric,
};
use consilience::core::ConstrainedClusterer;
use consilience::metric::{Itml, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull};
use consilience::ndarray::{Array1, Array2};
use consilience::{Partition, Result, Seed, SideInformation, scores};
use ndarray_npy::NpzReader;

#[path = "shared_data.rs"]
mod shared_data;

/// Draws of labelled objects.
pub(crate) const RUNS: u64 = 20;

/// One data set with the paper's values, mean and standard deviation over its 20 runs: FPC, NNC,
/// both with the diagonal metric; COP-KMeans, PCK-Means, FPC and NNC with the metric of Xing.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// Labels per class.
    pub(crate) labels: usize,
    pub(crate) paper: [(f64, f64); 8],
}

const fn set(name: &'static str, labels: usize, paper: [(f64, f64); 8]) -> Set {
    Set { name, labels, paper }
}

/// Table 2 of the paper, for the sets that are there.
#[rustfmt::skip]
pub(crate) const SETS: [Set; 11] = [
    set(
        "balance",
        5,
        [
            (0.534, 0.034), (0.594, 0.038), (0.510, 0.033), (0.588, 0.032),
            (0.602, 0.039), (0.594, 0.031), (0.434, 0.002), (0.608, 0.067),
        ],
    ),
    set(
        "credit",
        5,
        [
            (0.521, 0.013), (0.601, 0.066), (0.538, 0.050), (0.660, 0.077),
            (0.683, 0.046), (0.685, 0.065), (0.506, 0.006), (0.625, 0.075),
        ],
    ),
    set(
        "ecoli",
        2,
        [
            (0.596, 0.089), (0.871, 0.022), (0.716, 0.093), (0.793, 0.021),
            (0.816, 0.009), (0.818, 0.011), (0.298, 0.013), (0.813, 0.033),
        ],
    ),
    set(
        "hepatitis",
        5,
        [
            (0.599, 0.063), (0.579, 0.084), (0.640, 0.039), (0.572, 0.063),
            (0.566, 0.036), (0.564, 0.039), (0.668, 0.010), (0.588, 0.066),
        ],
    ),
    set(
        "ionosphere",
        5,
        [
            (0.519, 0.031), (0.552, 0.023), (0.549, 0.034), (0.553, 0.036),
            (0.571, 0.021), (0.581, 0.013), (0.522, 0.013), (0.543, 0.021),
        ],
    ),
    set(
        "mfeat_pix",
        5,
        [
            (0.377, 0.084), (0.867, 0.013), (0.795, 0.053), (0.906, 0.016),
            (0.906, 0.016), (0.909, 0.015), (0.730, 0.018), (0.880, 0.014),
        ],
    ),
    set(
        "promoters",
        5,
        [
            (0.502, 0.008), (0.537, 0.031), (0.511, 0.025), (0.572, 0.061),
            (0.588, 0.063), (0.579, 0.072), (0.497, 0.003), (0.574, 0.033),
        ],
    ),
    set(
        "segmentation",
        5,
        [
            (0.589, 0.103), (0.855, 0.015), (0.397, 0.162), (0.854, 0.049),
            (0.827, 0.038), (0.843, 0.021), (0.403, 0.099), (0.821, 0.016),
        ],
    ),
    set(
        "soybean_small",
        5,
        [
            (0.669, 0.044), (0.973, 0.022), (0.754, 0.049), (0.982, 0.011),
            (0.906, 0.080), (0.843, 0.087), (0.715, 0.056), (0.950, 0.014),
        ],
    ),
    set(
        "voting",
        5,
        [
            (0.540, 0.036), (0.612, 0.097), (0.573, 0.074), (0.769, 0.124),
            (0.773, 0.004), (0.712, 0.111), (0.526, 0.019), (0.731, 0.071),
        ],
    ),
    set(
        "yeast",
        5,
        [
            (0.291, 0.055), (0.681, 0.031), (0.461, 0.028), (0.679, 0.034),
            (0.723, 0.012), (0.726, 0.013), (0.233, 0.002), (0.644, 0.049),
        ],
    ),
];

/// A clusterer into so many clusters.
type Make = fn(usize, Seed) -> Box<dyn ConstrainedClusterer>;

/// A column of the table: a clusterer, perhaps under a learned metric.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    clusterer: Make,
    metric: Option<Box<dyn MetricLearner>>,
}

impl Method {
    fn plain(name: &'static str, clusterer: Make) -> Self {
        Method { name, clusterer, metric: None }
    }

    fn under(name: &'static str, metric: impl MetricLearner + 'static, clusterer: Make) -> Self {
        Method { name, clusterer, metric: Some(Box::new(metric)) }
    }

    pub(crate) fn run(&self, data: &Data, side: &SideInformation, seed: Seed) -> Result<Partition> {
        let x = data.x.view().into();
        let clusterer = (self.clusterer)(data.truth.n_clusters(), seed);
        let found = match &self.metric {
            Some(metric) => UnderMetric::new(metric, clusterer).cluster(x, side)?,
            None => clusterer.cluster(x, side)?,
        };
        Ok(found.partition)
    }
}

/// The metric of Xing et al. as the paper has it: diagonal, on the features as they are.
fn xing() -> Mmc {
    Mmc::new().diagonal(true).shrinkage(0.0).standardize(false)
}

/// The columns; a further method is a further line. The first eight stand beside the paper's.
pub(crate) fn methods() -> Vec<Method> {
    vec![
        Method::plain("FPC", |k, s| Box::new(Fpc::new(k).seed(s))),
        Method::plain("NNC", |k, s| Box::new(Nnc::new(k).seed(s))),
        Method::under("FPC diagonal", RsdDiagonal::new(), |k, s| Box::new(Fpc::new(k).seed(s))),
        Method::under("NNC diagonal", RsdDiagonal::new(), |k, s| Box::new(Nnc::new(k).seed(s))),
        Method::under("COP Xing", xing(), |k, s| Box::new(CopKMeans::new(k).seed(s))),
        Method::under("PCK Xing", xing(), |k, s| Box::new(PckMeans::new(k).seed(s))),
        Method::under("FPC Xing", xing(), |k, s| Box::new(Fpc::new(k).seed(s))),
        Method::under("NNC Xing", xing(), |k, s| Box::new(Nnc::new(k).seed(s))),
        Method::under("NNC full", RsdFull::new(), |k, s| Box::new(Nnc::new(k).seed(s))),
        Method::plain("seeded", |k, s| Box::new(SeededKMeans::new(k).seed(s))),
        Method::plain("constrained", |k, s| Box::new(SeededKMeans::constrained(k).seed(s))),
        Method::plain("COP-KMeans", |k, s| Box::new(CopKMeans::new(k).seed(s))),
        Method::plain("PCK-Means", |k, s| Box::new(PckMeans::new(k).seed(s))),
        Method::plain("MPCK-Means", |k, s| Box::new(MpckMeans::new(k).seed(s))),
        Method::plain("CCSKL", |k, s| Box::new(Ccskl::new(k).seed(s))),
        Method::plain("PMMC", |k, s| Box::new(Pmmc::new(k).seed(s))),
        Method::under("PCK MMC diag", Mmc::new().diagonal(true), |k, s| {
            Box::new(PckMeans::new(k).seed(s))
        }),
        Method::under("PCK RCA", Rca::new(), |k, s| Box::new(PckMeans::new(k).seed(s))),
        Method::under("PCK ITML", Itml::new(), |k, s| Box::new(PckMeans::new(k).seed(s))),
    ]
}

/// A data set as the protocol wants it.
pub(crate) struct Data {
    pub(crate) x: Array2<f64>,
    pub(crate) truth: Partition,
}

/// Where the sets are, if they are anywhere.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = shared_data::folder("features");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no feature sets in {}", folder.display());
    None
}

impl Data {
    /// Reads a set and prepares it; `None` where its file is missing.
    pub(crate) fn read(name: &str) -> Option<Self> {
        let file = std::fs::File::open(folder()?.join(format!("{name}.npz"))).ok()?;
        let mut npz = NpzReader::new(file).ok()?;
        let x: Array2<f64> = match npz.by_name::<ndarray::OwnedRepr<f32>, ndarray::Ix2>("x") {
            Ok(x) => x.mapv(f64::from),
            Err(_) => {
                npz.by_name::<ndarray::OwnedRepr<u8>, ndarray::Ix2>("x").ok()?.mapv(f64::from)
            }
        };
        let y: Array1<i32> = npz.by_name("y").ok()?;
        Some(Data { x: prepare(x), truth: Partition::from_labels(&y.to_vec()).ok()? })
    }

    /// Labels of `per_class` random objects of each class.
    pub(crate) fn draw(&self, per_class: usize, seed: Seed) -> Result<SideInformation> {
        let mut labels = vec![-1; self.truth.n_objects()];
        for class in 0..self.truth.n_clusters() {
            let objects: Vec<usize> =
                (0..labels.len()).filter(|&i| self.truth.label(i) == Some(class)).collect();
            for chosen in
                seed.derive("class", class as u64).stream().sample(objects.len(), per_class)
            {
                labels[objects[chosen]] = class as i64;
            }
        }
        SideInformation::from_labels(&labels)
    }

    /// Mean and standard deviation of the Rand index over the runs.
    pub(crate) fn score(&self, method: &Method, per_class: usize) -> Result<(f64, f64)> {
        let mut values = Vec::new();
        for run in 0..RUNS {
            let side = self.draw(per_class, Seed(run))?;
            let found = method.run(self, &side, Seed(run))?;
            values.push(scores::rand(&found, &self.truth)?);
        }
        let mean = values.iter().sum::<f64>() / RUNS as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64;
        Ok((mean, variance.sqrt()))
    }
}

/// More values than this make an attribute of whole numbers a numeric one.
const MOST_VALUES: f64 = 12.0;

/// Every attribute to [1, 2], a constant one to 1. A missing value counts as one more value of a
/// nominal attribute, before the others, and becomes the mean of the known values of a numeric one.
/// The paper does not say; this is the reading of "a nominal attribute with I different values"
/// under which its values come out.
fn prepare(mut x: Array2<f64>) -> Array2<f64> {
    for mut column in x.columns_mut() {
        let known: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
        let nominal = known.iter().all(|&v| v.fract() == 0.0 && (1.0..=MOST_VALUES).contains(&v));
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let missing = if nominal { 0.0 } else { mean };
        column.mapv_inplace(|v| if v.is_nan() { missing } else { v });
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let width = if high > low { high - low } else { 1.0 };
        column.mapv_inplace(|v| 1.0 + (v - low) / width);
    }
    x
}
