//! Ensembles with memberships in `.npz` archives: an array for each member.

use consilience_core::{Ensemble, Error, ErrorKind, Member, Observer, Result, SparseMemberships};
use ndarray::Array2;

use crate::fault::within;
use crate::ids::ObjectIds;
use crate::label_table::LabelTable;
use crate::labelled::Labelled;
use crate::npy;
use crate::npz::{Archive, is_ids};
use crate::sink::Sink;
use crate::table::ColumnValues;

/// What the arrays are called, before their numbers.
const NAME: &str = "member_";

fn number(name: &str) -> Option<usize> {
    name.strip_prefix(NAME)?.parse().ok()
}

/// The names of the members in order, if all arrays but the ids of the objects are members.
pub(crate) fn members(names: &[String]) -> Option<Vec<String>> {
    let mut names: Vec<String> = names.iter().filter(|name| !is_ids(name)).cloned().collect();
    if names.is_empty() || names.iter().any(|name| number(name).is_none()) {
        return None;
    }
    names.sort_by_key(|name| number(name));
    Some(names)
}

/// The members of some arrays: several columns of numbers are memberships, all else is labels.
pub(crate) fn read(
    names: Vec<String>,
    floats: impl Fn(&str) -> Result<Array2<f64>>,
    labels: impl Fn(&str) -> Result<LabelTable>,
) -> Result<LabelTable> {
    let member = |name: &String| {
        let one = || match floats(name) {
            Ok(table) if table.ncols() > 1 => {
                check_finite(&table)?;
                let soft = SparseMemberships::from_array(table.view())?;
                let numbers = ColumnValues::numbered(soft.n_clusters());
                Ok((Member::Soft(soft), numbers))
            }
            _ => labels(name)?.into_only().map(|(labels, values)| (labels.into(), values)),
        };
        one().map_err(within(format!("array {name:?}")))
    };
    let members = names.iter().map(member).collect::<Result<Vec<_>>>()?;
    let (members, values): (Vec<Member>, Vec<ColumnValues>) = members.into_iter().unzip();
    Ok(LabelTable::new(Ensemble::mixed(members)?, names, values, None))
}

/// Refuses what is no number: NaN may be meant for an object that a member does not know.
fn check_finite(table: &Array2<f64>) -> Result<()> {
    let bad = table.indexed_iter().find(|(_, value)| !value.is_finite());
    bad.map_or(Ok(()), |((row, column), value)| {
        Err(Error::new(
            ErrorKind::NonFinite,
            format!(
                "memberships: {value} at row {row}, column {column}; every entry must be finite, \
                 and an object that the member does not know has a row of zeros"
            ),
        ))
    })
}

/// Writes an array for each member, and the ids of the objects as another.
pub(crate) fn write(
    out: Sink,
    ensemble: &Ensemble,
    ids: Option<&ObjectIds>,
    observer: &dyn Observer,
) -> Result<()> {
    let mut archive = Archive::new(out);
    if let Some(ids) = ids {
        archive.add("id", true, |out| npy::write_ids(out, ids, observer))?;
    }
    for (u, labels) in ensemble.members().iter().enumerate() {
        archive.add(&format!("{NAME}{u}"), true, |out| match ensemble.soft(u) {
            Some(soft) => npy::write_floats(out, soft.to_array().view()),
            None => npy::write_labels(out, &Labelled::One(labels), observer),
        })?;
    }
    archive.finish()
}
