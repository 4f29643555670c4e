//! The protocol of Yang et al. (2015), Section 5: attributes to [1, 2], five labels per class, 20
//! runs, Rand index over all pairs.

use std::path::PathBuf;

use consilience::ndarray::{Array1, Array2};
use consilience::{
    Ccskl, ConstrainedClusterer, CopKMeans, Fpc, Itml, MetricLearner, Mmc, MpckMeans, Nnc,
    Partition, PckMeans, Pmmc, Rca, Result, RsdDiagonal, RsdFull, Seed, SeededKMeans,
    SideInformation, cluster_under, scores,
};
use ndarray_npy::NpzReader;

#[path = "shared_data.rs"]
mod shared_data;

/// Draws of labelled objects.
pub(crate) const RUNS: u64 = 20;

/// One data set with the paper's values: FPC, NNC, FPC with the diagonal metric, NNC with it.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// Labels per class.
    pub(crate) labels: usize,
    pub(crate) paper: [f64; 4],
}

const fn set(name: &'static str, labels: usize, paper: [f64; 4]) -> Set {
    Set { name, labels, paper }
}

/// Table 2 of the paper, for the sets that are there.
pub(crate) const SETS: [Set; 11] = [
    set("balance", 5, [0.534, 0.594, 0.510, 0.588]),
    set("credit", 5, [0.521, 0.601, 0.538, 0.660]),
    set("ecoli", 2, [0.596, 0.871, 0.716, 0.793]),
    set("hepatitis", 5, [0.599, 0.579, 0.640, 0.572]),
    set("ionosphere", 5, [0.519, 0.552, 0.549, 0.553]),
    set("mfeat_pix", 5, [0.377, 0.867, 0.795, 0.906]),
    set("promoters", 5, [0.502, 0.537, 0.511, 0.572]),
    set("segmentation", 5, [0.589, 0.855, 0.397, 0.854]),
    set("soybean_small", 5, [0.669, 0.973, 0.754, 0.982]),
    set("voting", 5, [0.540, 0.612, 0.573, 0.769]),
    set("yeast", 5, [0.291, 0.681, 0.461, 0.679]),
];

/// A column of the table: a clusterer, perhaps under a learned metric.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    clusterer: Box<dyn ConstrainedClusterer>,
    metric: Option<Box<dyn MetricLearner>>,
}

impl Method {
    fn plain(name: &'static str, clusterer: impl ConstrainedClusterer + 'static) -> Self {
        Method { name, clusterer: Box::new(clusterer), metric: None }
    }

    fn under(
        name: &'static str,
        metric: impl MetricLearner + 'static,
        clusterer: impl ConstrainedClusterer + 'static,
    ) -> Self {
        Method { name, clusterer: Box::new(clusterer), metric: Some(Box::new(metric)) }
    }

    pub(crate) fn run(&self, data: &Data, side: &SideInformation, seed: Seed) -> Result<Partition> {
        let (x, k) = (data.x.view().into(), data.truth.n_clusters());
        let found = match &self.metric {
            Some(metric) => cluster_under(&**metric, &*self.clusterer, x, k, side, seed, &())?,
            None => self.clusterer.fit(x, k, side, seed, &())?,
        };
        Ok(found.output.partition)
    }
}

/// The columns; a further method is a further line. The first four stand beside the paper's.
pub(crate) fn methods() -> Vec<Method> {
    vec![
        Method::plain("FPC", Fpc::new()),
        Method::plain("NNC", Nnc::new()),
        Method::under("FPC diagonal", RsdDiagonal::new(), Fpc::new()),
        Method::under("NNC diagonal", RsdDiagonal::new(), Nnc::new()),
        Method::under("NNC full", RsdFull::new(), Nnc::new()),
        Method::plain("seeded", SeededKMeans::new()),
        Method::plain("constrained", SeededKMeans::constrained()),
        Method::plain("COP-KMeans", CopKMeans::new()),
        Method::plain("PCK-Means", PckMeans::new()),
        Method::plain("MPCK-Means", MpckMeans::new()),
        Method::plain("CCSKL", Ccskl::new()),
        Method::plain("PMMC", Pmmc::new()),
        Method::under("PCK MMC diag", Mmc::new().diagonal(true), PckMeans::new()),
        Method::under("PCK RCA", Rca::new(), PckMeans::new()),
        Method::under("PCK ITML", Itml::new(), PckMeans::new()),
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
