use ndarray::Array2;
use serde::{Deserialize, Serialize, Serializer};

use super::Table;
use crate::{
    Constraints, Dendrogram, Ensemble, Error, Member, Memberships, Merge, Pair, Partition, Result,
    SideInformation, SparseMemberships, ensure,
};

/// A [`Partition`]: -1 where an object is unlabelled.
#[derive(Serialize, Deserialize)]
pub(crate) struct PartitionFields {
    clusters: usize,
    labels: Vec<i64>,
}

impl From<Partition> for PartitionFields {
    fn from(partition: Partition) -> Self {
        PartitionFields { clusters: partition.n_clusters(), labels: partition.to_signed() }
    }
}

impl TryFrom<PartitionFields> for Partition {
    type Error = Error;

    fn try_from(fields: PartitionFields) -> Result<Self> {
        let PartitionFields { clusters, labels } = fields;
        let mut next = 0;
        for (object, &label) in labels.iter().enumerate() {
            if label < -1 || usize::try_from(label).is_ok_and(|label| label >= clusters) {
                return Err(Error::out_of_range(format!(
                    "label {label} of object {object}; expected -1 or below {clusters}"
                )));
            }
            if label > next {
                return Err(Error::invalid(format!(
                    "label {label} of object {object} comes before label {next}; clusters are \
                     numbered by their first object"
                )));
            }
            next += i64::from(label == next);
        }
        ensure!(
            usize::try_from(next) == Ok(clusters),
            shape("{clusters} clusters, of which {next} have objects")
        );
        Partition::from_labels(&labels)
    }
}

/// An [`Ensemble`].
#[derive(Serialize, Deserialize)]
pub(crate) struct EnsembleFields {
    members: Vec<Partition>,
    counts: Option<Vec<u64>>,
    /// For each member its memberships; the labels of such a member are made from them.
    #[serde(default)]
    soft: Vec<Option<Memberships>>,
    #[serde(default)]
    weights: Option<Vec<f64>>,
}

impl Serialize for Ensemble {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let fields = EnsembleFields {
            members: self.members().to_vec(),
            counts: self.counts().map(<[u64]>::to_vec),
            soft: self.soft_tables().map_err(<S::Error as serde::ser::Error>::custom)?,
            weights: self.weights().map(<[f64]>::to_vec),
        };
        fields.serialize(serializer)
    }
}

impl TryFrom<EnsembleFields> for Ensemble {
    type Error = Error;

    fn try_from(fields: EnsembleFields) -> Result<Self> {
        let mut soft = fields.soft.into_iter();
        let members = fields.members.into_iter().map(|labels| match soft.next().flatten() {
            Some(soft) => Ok(Member::Soft(SparseMemberships::of(&soft)?)),
            None => Ok(Member::Hard(labels)),
        });
        let mut ensemble = Ensemble::mixed(members.collect::<Result<Vec<_>>>()?)?;
        if let Some(counts) = fields.counts {
            ensemble = ensemble.with_counts(counts)?;
        }
        match fields.weights {
            Some(weights) => ensemble.with_weights(weights),
            None => Ok(ensemble),
        }
    }
}

/// [`Memberships`].
#[derive(Serialize, Deserialize)]
pub(crate) struct MembershipsFields {
    values: Table,
    evidence: Vec<f64>,
}

impl From<Memberships> for MembershipsFields {
    fn from(memberships: Memberships) -> Self {
        let (values, evidence) = memberships.into_fields();
        MembershipsFields { values: Table::from(&values), evidence }
    }
}

impl TryFrom<MembershipsFields> for Memberships {
    type Error = Error;

    fn try_from(fields: MembershipsFields) -> Result<Self> {
        Memberships::from_fields(Array2::try_from(fields.values)?, fields.evidence)
    }
}

/// A [`Dendrogram`].
#[derive(Serialize, Deserialize)]
pub(crate) struct DendrogramFields {
    leaves: usize,
    merges: Vec<Merge>,
}

impl From<Dendrogram> for DendrogramFields {
    fn from(tree: Dendrogram) -> Self {
        DendrogramFields { leaves: tree.n_leaves(), merges: tree.merges().to_vec() }
    }
}

impl TryFrom<DendrogramFields> for Dendrogram {
    type Error = Error;

    fn try_from(fields: DendrogramFields) -> Result<Self> {
        Dendrogram::from_fields(fields.leaves, fields.merges)
    }
}

/// [`Constraints`], in the order they came.
#[derive(Serialize, Deserialize)]
pub(crate) struct ConstraintsFields {
    objects: usize,
    pairs: Vec<Pair>,
}

impl From<Constraints> for ConstraintsFields {
    fn from(constraints: Constraints) -> Self {
        ConstraintsFields { objects: constraints.n_objects(), pairs: constraints.iter().collect() }
    }
}

impl TryFrom<ConstraintsFields> for Constraints {
    type Error = Error;

    fn try_from(fields: ConstraintsFields) -> Result<Self> {
        let mut constraints = Constraints::new(fields.objects)?;
        constraints.extend(&fields.pairs)?;
        Ok(constraints)
    }
}

/// [`SideInformation`]: the pairs as they were stated, or the labelled sets and which of them are
/// apart.
#[derive(Serialize, Deserialize)]
pub(crate) struct SideInformationFields {
    objects: usize,
    stated: Option<Vec<Pair>>,
    sets: Vec<Vec<usize>>,
    /// None where all sets are apart.
    apart: Option<Vec<(usize, usize)>>,
}

impl From<SideInformation> for SideInformationFields {
    fn from(side: SideInformation) -> Self {
        let objects = side.n_objects();
        if let Some(stated) = side.stated() {
            let stated = Some(stated.to_vec());
            return SideInformationFields { objects, stated, sets: Vec::new(), apart: None };
        }
        let apart = (!side.are_classes()).then(|| side.sets_apart().collect());
        let sets = side.labelled_sets().to_vec();
        SideInformationFields { objects, stated: None, sets, apart }
    }
}

impl TryFrom<SideInformationFields> for SideInformation {
    type Error = Error;

    fn try_from(fields: SideInformationFields) -> Result<Self> {
        let SideInformationFields { objects, stated, sets, apart } = fields;
        let Some(stated) = stated else {
            return SideInformation::from_sets(objects, sets, apart);
        };
        ensure!(
            sets.is_empty() && apart.is_none(),
            invalid("labelled sets beside stated pairs; expected one of them")
        );
        let mut constraints = Constraints::new(objects)?;
        constraints.extend(&stated)?;
        Ok(SideInformation::from_constraints(&constraints))
    }
}
