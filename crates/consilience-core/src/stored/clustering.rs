use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Parts, Restored};
use crate::{Assign, Clustering, Error, ErrorKind, Partition, Result, ensure};

/// Maps before an assigner, at most: each one is a call inside the other.
const MOST_MAPS: usize = 100;

/// A [`Clustering`].
#[derive(Serialize, Deserialize)]
struct ClusteringFields {
    partition: Partition,
    /// For each cluster of the assigner its number in the partition.
    numbers: Vec<usize>,
    /// The maps in the order in which features go through them, and the assigner.
    steps: Vec<Parts>,
}

impl Serialize for Clustering {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let steps = self.assigner.stored().filter(|steps| steps.len() <= MOST_MAPS + 1);
        let Some(steps) = steps else {
            return Err(serde::ser::Error::custom(
                "a clustering whose assigner, or a map before it, cannot be stored",
            ));
        };
        let (partition, numbers) = (self.partition.clone(), self.number.clone());
        ClusteringFields { partition, numbers, steps }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Clustering {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let fields = ClusteringFields::deserialize(deserializer)?;
        restored(fields).map_err(serde::de::Error::custom)
    }
}

fn restored(fields: ClusteringFields) -> Result<Clustering> {
    let ClusteringFields { partition, numbers, mut steps } = fields;
    check_numbers(&numbers, partition.n_clusters())?;
    let maps = steps.len().saturating_sub(1);
    ensure!(maps <= MOST_MAPS, too_large("{maps} maps before an assigner; at most {MOST_MAPS}"));
    let wrong = |what: &str| Error::new(ErrorKind::Corrupt, format!("a clustering {what}"));
    let assigner: Arc<dyn Assign> = match steps.pop().map(Parts::restore).transpose()? {
        Some(Restored::Assigner(assigner)) => assigner,
        Some(Restored::Map(_)) => return Err(wrong("that ends in a map, not in an assigner")),
        None => return Err(wrong("without an assigner")),
    };
    let mut clustering = Clustering { partition, number: numbers, assigner };
    for step in steps.into_iter().rev() {
        let Restored::Map(map) = step.restore()? else {
            return Err(wrong("with an assigner before the last step"));
        };
        clustering = clustering.behind_shared(map)?;
    }
    Ok(clustering)
}

/// The numbers are those of the partition's clusters and the next ones, each once.
fn check_numbers(numbers: &[usize], clusters: usize) -> Result<()> {
    if numbers.len() < clusters {
        return Err(Error::shape(format!(
            "numbers of {} clusters for a partition of {clusters}",
            numbers.len()
        )));
    }
    let mut seen = vec![false; numbers.len()];
    for (cluster, &number) in numbers.iter().enumerate() {
        let first = seen.get_mut(number).is_some_and(|seen| !std::mem::replace(seen, true));
        if !first {
            return Err(Error::out_of_range(format!(
                "number {number} of cluster {cluster}; expected each below {} once",
                numbers.len()
            )));
        }
    }
    Ok(())
}
