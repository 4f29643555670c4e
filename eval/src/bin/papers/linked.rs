//! The methods that the papers compare on features with links.

use consilience::constrained::{Ccskl, MpckMeans, PckMeans, Pmmc};
use consilience::core::ConstrainedClusterer;
use consilience::generate::KMeans;
use consilience::metric::{Dca, Itml, Lmnn, MetricLearner, Mmc, Rca};
use consilience::ndarray::ArrayView2;
use consilience::scores::{Normalizer, normalized_mutual_information};
use consilience::{Constraints, Link, Partition, Result, Seed, SideInformation};

/// Sweeps of ITML over the links: beyond these the clusterings hardly change.
const SWEEPS: usize = 30;
/// Iterations of constrained k-means.
const ITERATIONS: usize = 20;

/// Features, number of classes, and what is known of the pairs.
pub(crate) struct Task<'a> {
    pub(crate) x: ArrayView2<'a, f64>,
    pub(crate) k: usize,
    pub(crate) side: SideInformation,
    pub(crate) seed: Seed,
}

impl Task<'_> {
    /// The clustering by one of the compared methods.
    pub(crate) fn by(&self, method: &str) -> Result<Partition> {
        let (k, seed) = (self.k, self.seed);
        let learner: Box<dyn MetricLearner> = match method {
            "PGDM" => Box::new(Mmc::new()),
            "RCA" => Box::new(Rca::new()),
            "DCA" => Box::new(Dca::new()),
            "ITML" => Box::new(Itml::new().max_iterations(SWEEPS)),
            "LMNN" => Box::new(Lmnn::new().max_iterations(100)),
            "PCK" => return self.cluster(&PckMeans::new(k).seed(seed).max_iterations(ITERATIONS)),
            "MPCK" => {
                return self.cluster(&MpckMeans::new(k).seed(seed).max_iterations(ITERATIONS));
            }
            "CCSKL" => return self.cluster(&Ccskl::new(k).seed(seed)),
            _ => return self.cluster(&Pmmc::new(k).seed(seed)),
        };
        let mapped = learner.fit(self.x.into(), &self.side, &())?.output.apply(self.x)?;
        let found = KMeans::new().restarts(5).fit_centres(mapped.view(), k, seed, &())?;
        Ok(found.output.partition)
    }

    /// k-means on the features as they are.
    pub(crate) fn base(&self) -> Result<Partition> {
        let found = KMeans::new().restarts(5).fit_centres(self.x, self.k, self.seed, &())?;
        Ok(found.output.partition)
    }

    fn cluster(&self, method: &dyn ConstrainedClusterer) -> Result<Partition> {
        Ok(method.cluster(self.x.into(), &self.side)?.partition)
    }
}

/// Adds what the classes say about so many random pairs.
pub(crate) fn add_links(
    links: &mut Constraints,
    truth: &Partition,
    count: usize,
    seed: Seed,
) -> Result<()> {
    let n = truth.n_objects();
    let mut stream = seed.stream();
    for _ in 0..count {
        let i = stream.below(n);
        let j = (i + 1 + stream.below(n - 1)) % n;
        let link = if truth.label(i) == truth.label(j) { Link::Must } else { Link::Cannot };
        links.add(i, j, link)?;
    }
    Ok(())
}

/// NMI by the arithmetic mean of the entropies.
pub(crate) fn nmi(found: &Partition, truth: &Partition) -> Result<f64> {
    normalized_mutual_information(found, truth, Normalizer::Arithmetic)
}
