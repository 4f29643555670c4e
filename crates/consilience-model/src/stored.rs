//! What the feature `serde` writes: plain fields, checked when they are read.

use consilience_core::stored::Table;
use consilience_core::{Ensemble, Error, FeatureMap, Partition, Result, ensure};
use consilience_generate::View;
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::ConsensusModel;
use crate::prototypes::Prototypes;

#[derive(Serialize, Deserialize)]
pub(crate) struct PrototypesFields {
    view: View,
    unit: f64,
    rows: Table,
    cluster: Vec<u32>,
    reach: Vec<f64>,
}

impl From<Prototypes> for PrototypesFields {
    fn from(place: Prototypes) -> Self {
        let Prototypes { view, unit, rows, cluster, reach } = place;
        PrototypesFields { view, unit, rows: Table::from(&rows), cluster, reach }
    }
}

impl TryFrom<PrototypesFields> for Prototypes {
    type Error = Error;

    fn try_from(fields: PrototypesFields) -> Result<Self> {
        let PrototypesFields { view, unit, rows, cluster, reach } = fields;
        let rows = Array2::try_from(rows)?;
        ensure!(
            rows.nrows() > 0 && rows.nrows() == cluster.len() && rows.ncols() == view.n_outputs(),
            shape("a table of {:?} for {} prototypes", rows.dim(), cluster.len())
        );
        ensure!(rows.iter().all(|v| v.is_finite()), invalid("a prototype that is not finite"));
        ensure!(unit > 0.0 && unit.is_finite(), invalid("unit {unit}; expected above 0"));
        if let Some(c) = cluster.iter().find(|&&c| c as usize >= reach.len()) {
            return Err(Error::out_of_range(format!(
                "prototype of cluster {c} of {}",
                reach.len()
            )));
        }
        ensure!(
            reach.iter().all(|&r| r > 0.0 && r.is_finite()),
            invalid("the reach of a cluster is not above 0")
        );
        Ok(Prototypes { view, unit, rows, cluster, reach })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ModelFields {
    ensemble: Ensemble,
    partition: Partition,
    places: Vec<Prototypes>,
    /// Missing in what the first version wrote.
    #[serde(default)]
    names: Vec<String>,
}

/// The first version in bytes, which do not say where a field is missing.
#[derive(Deserialize)]
pub(crate) struct FirstFields {
    ensemble: Ensemble,
    partition: Partition,
    places: Vec<Prototypes>,
}

impl TryFrom<FirstFields> for ConsensusModel {
    type Error = Error;

    fn try_from(fields: FirstFields) -> Result<Self> {
        let FirstFields { ensemble, partition, places } = fields;
        ModelFields { ensemble, partition, places, names: Vec::new() }.try_into()
    }
}

impl From<ConsensusModel> for ModelFields {
    fn from(model: ConsensusModel) -> Self {
        let ConsensusModel { ensemble, partition, places, names, .. } = model;
        ModelFields { ensemble, partition, places, names }
    }
}

impl TryFrom<ModelFields> for ConsensusModel {
    type Error = Error;

    fn try_from(fields: ModelFields) -> Result<Self> {
        let ModelFields { ensemble, partition, places, names } = fields;
        let (n, members) = (ensemble.n_objects(), ensemble.n_members());
        ensure!(
            partition.n_objects() == n,
            shape("a clustering of {} objects, members of {n}", partition.n_objects())
        );
        ensure!(places.len() == members, shape("{} of {members} members place", places.len()));
        let d = places.first().map_or(0, |place| place.view.n_features());
        for (m, (place, member)) in places.iter().zip(ensemble.members()).enumerate() {
            ensure!(
                place.view.n_features() == d && place.reach.len() == member.n_clusters(),
                shape("member {m} places by other features or clusters")
            );
        }
        let model = ConsensusModel::new(ensemble, partition, places)?;
        if names.is_empty() { Ok(model) } else { model.with_feature_names(names) }
    }
}
