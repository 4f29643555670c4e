//! Fast against naive, and every promise of the updater.

mod completion;
mod disputed;
mod member_growth;
mod metric;
mod updater;

use std::sync::atomic::{AtomicUsize, Ordering};

use consilience_core::{
    BaseClusterer, Ensemble, Error, Features, Fit, Observer, Partition, Report, Result, Seed,
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

/// Cancels when it is asked for the so-manieth time, and from then on.
struct StopAt(usize, AtomicUsize);

impl StopAt {
    fn question(at: usize) -> Self {
        StopAt(at, AtomicUsize::new(0))
    }
}

impl Observer for StopAt {
    fn cancelled(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) >= self.0
    }
}

fn on_pool<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

/// The same members with other numbers for their clusters.
fn renamed(ensemble: &Ensemble) -> Ensemble {
    let other = |p: &Partition| {
        let label = |i| p.label(i).map(|l| 1000 - 7 * l as u64);
        Partition::from_fn(p.n_objects(), label).unwrap()
    };
    Ensemble::new(ensemble.members().iter().map(other).collect()).unwrap()
}

/// The row of each object, where rows with counts are repeated one behind the other.
fn rows_of(counts: &[u64]) -> Vec<usize> {
    (0..counts.len()).flat_map(|i| std::iter::repeat_n(i, counts[i] as usize)).collect()
}
