//! What the feature `serde` writes.

use consilience_core::stored::Table;
use consilience_core::{Error, Features, Partition, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::KMeansClusters;

#[derive(Serialize, Deserialize)]
pub(crate) struct KMeansClustersFields {
    partition: Partition,
    centres: Table,
    inertia: f64,
}

impl From<KMeansClusters> for KMeansClustersFields {
    fn from(found: KMeansClusters) -> Self {
        let KMeansClusters { partition, centres, inertia } = found;
        KMeansClustersFields { partition, centres: Table::from(&centres), inertia }
    }
}

impl TryFrom<KMeansClustersFields> for KMeansClusters {
    type Error = Error;

    fn try_from(fields: KMeansClustersFields) -> Result<Self> {
        let KMeansClustersFields { partition, centres, inertia } = fields;
        let centres = Array2::try_from(centres)?;
        Features::from(centres.view()).check()?;
        if centres.nrows() != partition.n_clusters() {
            return Err(Error::shape(format!(
                "{} centres of {} clusters",
                centres.nrows(),
                partition.n_clusters()
            )));
        }
        if !(inertia >= 0.0) {
            return Err(Error::invalid(format!("an inertia of {inertia}; expected at least 0")));
        }
        Ok(KMeansClusters { partition, centres, inertia })
    }
}
