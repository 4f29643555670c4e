//! The columns of arrays and matrices that are wanted.

use consilience_core::{Result, ensure};
use ndarray::Axis;

use crate::allowance::Allowance;
use crate::data_table::DataTable;
use crate::defects::Defects;
use crate::features::FeatureTable;
use crate::front::Front;
use crate::ids::ObjectIds;
use crate::label::{EXACT, number_category};
use crate::roles::{Role, Wanted, numbered_names};
use crate::table::{LabelColumns, at};

/// [`EXACT`] of single precision.
const EXACT_SINGLE: f64 = 16_777_216.0;

/// Ids out of a column of floats, below what those hold exactly.
fn numbered_ids(
    rows: usize,
    column: usize,
    most: f64,
    value: impl Fn(usize) -> f64,
) -> Result<ObjectIds> {
    let id = |row| {
        let id = value(row);
        let what = || format!("{id} as an id; expected fewer digits, or text");
        if id.abs() < most { Ok(id.to_string()) } else { Err(at(row, column, what())) }
    };
    ObjectIds::new((0..rows).map(id).collect::<Result<Vec<_>>>()?)
}

/// A sparse matrix, of which all columns are features.
fn sparse(table: FeatureTable, ids: Option<ObjectIds>, wanted: &Wanted) -> Result<DataTable> {
    ensure!(
        wanted.drop.is_empty() && wanted.categorical.is_empty(),
        invalid("columns of a sparse matrix have no roles; expected none dropped or categorical")
    );
    table.view().check()?;
    Ok(DataTable {
        rows: table.view().n_objects(),
        // A short file may tell of more columns than memory has room for their names.
        names: Vec::new(),
        numbers: Some(table),
        categories: None,
        ids,
        front: Front::default(),
    })
}

/// The columns of an array that are wanted: it has numbers alone, and no names.
pub(crate) fn table(
    table: FeatureTable,
    ids: Option<ObjectIds>,
    wanted: &Wanted,
) -> Result<DataTable> {
    if table.view().is_sparse() {
        return sparse(table, ids, wanted);
    }
    let (rows, columns) = (table.view().n_objects(), table.view().n_features());
    let names = numbered_names(columns);
    let mut roles = wanted.feature_roles(&names, &mut Vec::new())?;
    roles.iter_mut().filter(|role| **role == Role::Maybe).for_each(|role| *role = Role::Value);
    let of = |role: Role| -> Vec<usize> { (0..columns).filter(|&c| roles[c] == role).collect() };
    let mut defects = Defects::new(columns);
    let value = |row: usize, column: usize| match &table {
        FeatureTable::F32(x) => f64::from(x[[row, column]]),
        FeatureTable::F64(x) => x[[row, column]],
        // Sparse tables do not come here.
        FeatureTable::Sparse32(_) | FeatureTable::Sparse64(_) => 0.0,
    };
    let mut labels = LabelColumns::new(
        of(Role::Category).iter().map(|&c| names[c].clone()).collect(),
        &Allowance::unlimited(),
    )?;
    let mut text = String::new();
    for (labels, c) in labels.columns.iter_mut().zip(of(Role::Category)) {
        for row in 0..rows {
            let label = number_category(value(row, c), &mut text);
            labels.push_label(label.map_err(|what| at(row, c, what))?)?;
        }
    }
    let texts = match of(Role::Id)[..] {
        [only] => {
            let most = if matches!(table, FeatureTable::F32(_)) { EXACT_SINGLE } else { EXACT };
            Some(numbered_ids(rows, only, most, |row| value(row, only))?)
        }
        _ => ids,
    };
    let numbers = of(Role::Value);
    for &c in &numbers {
        for row in (0..rows).filter(|&row| value(row, c).is_nan()) {
            defects.missing(c, || format!("row {row}"));
        }
    }
    defects.check(wanted.missing, |c| format!("column {c}"))?;
    let kept = match &table {
        _ if numbers.len() == columns => table,
        FeatureTable::F32(x) => FeatureTable::F32(x.select(Axis(1), &numbers)),
        FeatureTable::F64(x) => FeatureTable::F64(x.select(Axis(1), &numbers)),
        FeatureTable::Sparse32(_) | FeatureTable::Sparse64(_) => table,
    };
    let names = numbers.iter().map(|&c| names[c].clone()).collect();
    let front = Front::of(of(Role::Id).first().copied(), &numbers);
    Ok(DataTable::new(rows, kept, names, labels, texts)?.placed(front))
}
