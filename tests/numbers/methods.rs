//! Every method that clusters features, by name.

use consilience::completion::{Basis, Mccc, Rdml};
use consilience::constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans, UnderMetric,
};
use consilience::generate::{
    Agglomerative, FuzzyCMeans, GaussianMixture, KMeans, KernelKMeans, MiniBatchKMeans, Rpcl,
    Spectral, USpec,
};
use consilience::metric::Rca;
use consilience::model::ConsensusClustering;
use consilience::ndarray::Array2;
use consilience::prelude::*;
use consilience::{Linkage, Partition, Result, Seed, SideInformation, Status};

const SEED: Seed = Seed(3);

/// Labels objects by their features; also says how many clusters the report misses, where there is
/// a report.
type Run = Box<dyn Fn(&Array2<f64>, &SideInformation) -> Result<(Partition, usize)> + Send + Sync>;

/// A method with a number of clusters.
pub(super) struct Method {
    pub(super) name: &'static str,
    run: Run,
}

impl Method {
    pub(super) fn run(&self, x: &Array2<f64>, side: &SideInformation) -> Result<Partition> {
        Ok((self.run)(x, side)?.0)
    }

    pub(super) fn run_and_miss(
        &self,
        x: &Array2<f64>,
        side: &SideInformation,
    ) -> Result<(Partition, usize)> {
        (self.run)(x, side)
    }
}

fn base(k: usize, name: &'static str, clusterer: impl BaseClusterer + 'static) -> Method {
    let run = move |x: &Array2<f64>, _: &SideInformation| {
        let fit = clusterer.fit(x.view().into(), k, SEED, &())?;
        Ok((fit.output, fit.report.clusters_missing.unwrap_or(0)))
    };
    Method { name, run: Box::new(run) }
}

/// Those that put an object of which nothing is known where a new one like it goes.
const ALIKE: [&str; 6] =
    ["seeded k-means", "constrained k-means", "COP-KMeans", "PCK-Means", "FPC", "NNC"];

/// What it labels at the fit can be labelled afterwards, and those that are alike to the last
/// object are held to it.
fn constrained(name: &'static str, clusterer: impl ConstrainedClusterer + 'static) -> Method {
    let run = move |x: &Array2<f64>, side: &SideInformation| {
        let fit = clusterer.fit(x.view().into(), side, &())?;
        let again = fit.output.assign(x)?;
        assert!(again.len() == x.nrows(), "{name}: labels of {} objects", again.len());
        if ALIKE.contains(&name) && fit.report.status == Status::Solved {
            let free = (0..x.nrows()).filter(|&i| side.set_of(i).is_none());
            let other = free.filter(|&i| fit.output.partition.label(i) != Some(again[i])).count();
            assert!(other == 0, "{name}: {other} objects would go elsewhere");
        }
        Ok((fit.output.partition, fit.report.clusters_missing.unwrap_or(0)))
    };
    Method { name, run: Box::new(run) }
}

pub(super) fn generators(k: usize) -> Vec<Method> {
    vec![
        base(k, "kmeans", KMeans::new().restarts(4)),
        base(k, "mini-batch k-means", MiniBatchKMeans::new()),
        base(k, "fuzzy c-means", FuzzyCMeans::new()),
        base(k, "Gaussian mixture", GaussianMixture::new()),
        base(k, "kernel k-means", KernelKMeans::new()),
        base(k, "spectral", Spectral::new()),
        base(k, "U-SPEC", USpec::new()),
        base(k, "RPCL", Rpcl::new()),
        base(k, "single linkage", Agglomerative::new(Linkage::Single)),
        base(k, "complete linkage", Agglomerative::new(Linkage::Complete)),
        base(k, "average linkage", Agglomerative::new(Linkage::Average)),
        base(k, "Ward's linkage", Agglomerative::new(Linkage::Ward)),
    ]
}

/// Those that scale each feature by themselves.
pub(super) fn standardizing(k: usize) -> Vec<Method> {
    let under = UnderMetric::new(Rca::new(), PckMeans::new(k).seed(SEED));
    vec![
        constrained("PCK-Means under RCA", under),
        constrained("MCCC", Mccc::new(k).seed(SEED)),
        constrained("RDML", Rdml::new(k).seed(SEED)),
    ]
}

/// Those that divide each feature by its own deviation, and depend on its unit nowhere else.
pub(super) fn standardizing_all(k: usize) -> Vec<Method> {
    let mccc = |basis| Mccc::new(k).seed(SEED).basis(basis);
    vec![
        constrained("MCCC, singular", mccc(Basis::Singular)),
        constrained("MCCC, standardized neighbours", mccc(Basis::StandardizedNeighbours)),
        constrained("RDML", Rdml::new(k).seed(SEED)),
    ]
}

fn constrained_clusterers(k: usize) -> Vec<Method> {
    let full = MpckMeans::new(k).seed(SEED).full(true).per_cluster(true);
    vec![
        constrained("seeded k-means", SeededKMeans::new(k).seed(SEED)),
        constrained("constrained k-means", SeededKMeans::constrained(k).seed(SEED)),
        constrained("COP-KMeans", CopKMeans::new(k).seed(SEED)),
        constrained("PCK-Means", PckMeans::new(k).seed(SEED)),
        constrained("MPCK-Means", MpckMeans::new(k).seed(SEED)),
        constrained("MPCK-Means, full metrics", full),
        constrained("FPC", Fpc::new(k).seed(SEED)),
        constrained("NNC", Nnc::new(k).seed(SEED)),
        constrained("CCSKL", Ccskl::new(k).seed(SEED)),
        constrained("PMMC", Pmmc::new(k).seed(SEED)),
        Method {
            name: "consensus model",
            run: Box::new(move |x, _| {
                let fit = ConsensusClustering::new(k).seed(SEED).fit(x, &())?;
                let placed = fit.output.place(x)?;
                let missing = fit.report.clusters_missing.unwrap_or(0);
                Ok((Partition::from_labels(&placed.labels)?, missing))
            }),
        },
    ]
}

pub(super) fn all(k: usize) -> Vec<Method> {
    generators(k).into_iter().chain(constrained_clusterers(k)).chain(standardizing(k)).collect()
}
