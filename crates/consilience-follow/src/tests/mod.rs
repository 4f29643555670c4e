//! Fast against naive, and every promise of the updater.

mod completion;
mod member_growth;
mod metric;
mod updater;

use consilience_core::{
    BaseClusterer, Error, Features, Fit, Observer, Partition, Report, Result, Seed,
};
use consilience_num::kmeans::{self, KMeansOptions};

/// k-means on features of double precision.
pub(crate) struct Means;

impl BaseClusterer for Means {
    fn name(&self) -> &'static str {
        "means"
    }

    fn fit(
        &self,
        x: Features<'_>,
        k: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let Features::F64(x) = x else {
            return Err(Error::invalid("double precision is wanted"));
        };
        let fit = kmeans::fit(x, None, &KMeansOptions::new(k).seed(seed), observer)?;
        Ok(Fit::new(Partition::from_labels(&fit.assignment)?, Report::default()))
    }
}
