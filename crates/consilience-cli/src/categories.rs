//! Columns of categories as features: `--categorical` and `--categorical-distance`.

use std::collections::HashMap;
use std::path::Path;

use consilience::generate::{CategoricalDistance, CategoryEmbedding, Missing, Scale};
use consilience::io::{DataTable, FeatureTable, LabelTable};
use consilience::{Features, Result};
use ndarray::Array2;

use crate::failure::{Failure, Outcome};
use crate::files::{self, Table};
use crate::memory;
use crate::terminal::Terminal;

/// Which columns hold categories, and how far apart these are.
pub(crate) struct Coding<'a> {
    pub(crate) columns: &'a [String],
    pub(crate) distance: CategoricalDistance,
    /// What the numbers are brought to before the categories come beside them.
    pub(crate) scale: Scale,
}

/// How the categories of a table became features.
pub(crate) struct Categories {
    embedding: CategoryEmbedding,
    /// How the numbers were scaled, and what they were, where they were.
    scaled: Option<(Scale, Array2<f64>)>,
    /// What the columns of numbers and of categories are called.
    columns: [Vec<String>; 2],
    /// For each column the number of each category.
    numbers: Vec<HashMap<String, usize>>,
}

impl Coding<'_> {
    /// The features of a table with categories.
    pub(crate) fn features(
        &self,
        path: &Path,
        drop: &[String],
        missing: Missing,
        terminal: &Terminal,
    ) -> Outcome<Table> {
        let holes = missing != Missing::Refuse;
        let table = files::data_table(path, self.columns, drop, holes, terminal)?;
        if holes {
            files::check_columns(&table).map_err(|failure| failure.within(path.display()))?;
        }
        let filled = filled(&table, missing, terminal)
            .map_err(|e| Failure::from(e).within(path.display()))?;
        let (filled, scaled) = match filled {
            Some(x) if self.scale != Scale::None => {
                (Some(self.scale.scaled(&x)?), Some((self.scale, x)))
            }
            filled => (filled, None),
        };
        let Some(labels) = table.categories() else { return Err(none(path)) };
        let mut embedding =
            self.distance.embedding(labels.ensemble()).memory_budget(memory::budget());
        let x = embedding.embed(filled.as_ref().map(Into::into), labels.ensemble())?;
        let mut names = table.number_names().to_vec();
        let mut numbers = Vec::new();
        for (c, column) in labels.column_names().iter().enumerate() {
            let categories = labels.cluster_names(c);
            names.extend(categories.iter().map(|category| format!("{column}={category}")));
            numbers.push(categories.into_iter().enumerate().map(|(k, v)| (v, k)).collect());
        }
        let columns = [table.number_names().to_vec(), labels.column_names().to_vec()];
        let categories = Some(Categories { embedding, scaled, columns, numbers });
        Ok(Table::coded(FeatureTable::F64(x), names, table.ids().cloned(), categories))
    }

    /// The features of new objects, whose categories are those of `like`; others are as good as
    /// missing.
    pub(crate) fn features_like(
        &self,
        like: &Categories,
        path: &Path,
        drop: &[String],
        terminal: &Terminal,
    ) -> Outcome<Table> {
        let [numbers, categories] = &like.columns;
        let table = files::new_data_table(path, self.columns, drop, numbers, terminal)?;
        let Some(labels) = table.categories() else { return Err(none(path)) };
        let order =
            |theirs: &[String], ours: &[String]| files::order_of(theirs, ours, path, terminal);
        let turned = order(categories, labels.column_names())?;
        // By number: a name may be one, too.
        let select = |order: Vec<usize>| {
            labels.select(&order.iter().map(usize::to_string).collect::<Vec<_>>())
        };
        let turned = turned.map(select).transpose()?;
        let (rows, unknown) = like.rows(turned.as_ref().unwrap_or(labels));
        let turned = match table.numbers() {
            Some(x) => order(numbers, table.number_names())?.map(|to| files::in_order(x, &to)),
            None => None,
        };
        let x = turned.as_ref().or(table.numbers()).map(FeatureTable::view);
        if unknown > 0 {
            terminal.note(format!(
                "{}: {unknown} categories that no object had at the fit count as missing",
                path.display()
            ));
        }
        let embedded = match (&like.scaled, x) {
            (Some((scale, at_fit)), Some(x)) => scale
                .scaled_as(x, at_fit)
                .and_then(|x| like.embedding.embed_new(Some((&x).into()), &rows)),
            _ => like.embedding.embed_new(x, &rows),
        };
        let x = embedded.map_err(|e| Failure::from(e).within(path.display()))?;
        let names = (0..x.ncols()).map(|c| c.to_string()).collect();
        Ok(Table::coded(FeatureTable::F64(x), names, table.ids().cloned(), None))
    }
}

impl Categories {
    /// The categories of each object by their numbers at the fit, and how many are unknown.
    fn rows(&self, labels: &LabelTable) -> (Vec<Vec<Option<usize>>>, usize) {
        let members = labels.ensemble().members();
        let known: Vec<Vec<Option<usize>>> = (0..members.len())
            .map(|c| {
                let number = |name: &String| self.numbers.get(c)?.get(name).copied();
                labels.cluster_names(c).iter().map(number).collect()
            })
            .collect();
        let mut unknown = 0;
        let rows = (0..labels.ensemble().n_objects())
            .map(|i| {
                let of = |(member, known): (&consilience::Partition, &Vec<Option<usize>>)| {
                    let found = known[member.label(i)?];
                    unknown += usize::from(found.is_none());
                    found
                };
                members.iter().zip(&known).map(of).collect()
            })
            .collect();
        (rows, unknown)
    }
}

/// The numbers of a table, with what is missing filled in.
pub(crate) fn filled(
    table: &DataTable,
    missing: Missing,
    terminal: &Terminal,
) -> Result<Option<Array2<f64>>> {
    let numbers: Option<Features<'_>> = table.numbers().map(FeatureTable::view);
    match (numbers, missing) {
        (None, _) => Ok(None),
        (Some(x), Missing::Refuse) => {
            x.check()?;
            Ok(Some(x.dense()?.to_f64()?))
        }
        (Some(x), missing) => missing.filled_observed(x, terminal).map(Some),
    }
}

fn none(path: &Path) -> Failure {
    Failure::Bad(format!("{}: no column of categories", path.display()))
}
