//! What the feature `serde` writes.

use consilience_core::stored::Table;
use consilience_core::{Error, Features, Partition, Result, ensure};
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
        let (rows, clusters) = (centres.nrows(), partition.n_clusters());
        ensure!(rows == clusters, shape("{rows} centres of {clusters} clusters"));
        ensure!(inertia >= 0.0, invalid("an inertia of {inertia}; expected at least 0"));
        Ok(KMeansClusters { partition, centres, inertia })
    }
}
