use consilience_core::{Error, Features, Result};

use crate::features::FeatureTable;
use crate::front::Front;
use crate::ids::ObjectIds;
use crate::label_table::LabelTable;
use crate::table::LabelColumns;

/// A table of features as people have it: columns of numbers, in which values may be missing,
/// columns of categories, and what the objects are called.
///
/// ```
/// use consilience::io::{Format, Input};
///
/// let text = "id,height,colour,weight\np1,1.7,red,70\np2,,blue,75\n";
/// let input = Input::in_memory(text.as_bytes(), Format::Csv);
/// let table = input.categorical(["colour"]).missing(true).data_table(&())?.output;
/// assert_eq!(table.number_names(), ["height", "weight"]);
/// let numbers = table.numbers().unwrap().clone().into_f64()?;
/// assert!(numbers[[1, 0]].is_nan() && numbers[[1, 1]] == 75.0);
/// // A column of categories is a clustering.
/// let categories = table.categories().unwrap();
/// assert_eq!(categories.cluster_names(0), ["red", "blue"]);
/// assert_eq!(table.ids().unwrap().get(0), "p1");
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DataTable {
    pub(crate) rows: usize,
    pub(crate) numbers: Option<FeatureTable>,
    pub(crate) names: Vec<String>,
    pub(crate) categories: Option<LabelTable>,
    pub(crate) ids: Option<ObjectIds>,
    /// Where the columns of numbers lie in the file.
    pub(crate) front: Front,
}

impl DataTable {
    /// A dense table; there may be no columns of numbers, or none of categories.
    pub(crate) fn new(
        rows: usize,
        numbers: FeatureTable,
        names: Vec<String>,
        labels: LabelColumns,
        ids: Option<ObjectIds>,
    ) -> Result<Self> {
        let numbers = (!names.is_empty()).then_some(numbers);
        let categories = (!labels.names.is_empty()).then(|| labels.into_table()).transpose()?;
        Ok(DataTable { rows, numbers, names, categories, ids, front: Front::default() })
    }

    /// The same with the places that its columns of numbers have in the file.
    pub(crate) fn placed(self, front: Front) -> Self {
        DataTable { front, ..self }
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.rows
    }

    /// The columns of numbers, if there are any; a missing value is NaN.
    pub fn numbers(&self) -> Option<&FeatureTable> {
        self.numbers.as_ref()
    }

    /// What the columns of numbers are called; their numbers in a file without a header. Empty for
    /// a sparse matrix, whose columns are known by their numbers alone.
    pub fn number_names(&self) -> &[String] {
        &self.names
    }

    /// The columns of categories, if there are any.
    pub fn categories(&self) -> Option<&LabelTable> {
        self.categories.as_ref()
    }

    /// What the objects are called, where the file says it.
    pub fn ids(&self) -> Option<&ObjectIds> {
        self.ids.as_ref()
    }

    /// The columns of numbers, where they are all that there is.
    ///
    /// # Errors
    /// [`ErrorKind::NonFinite`](consilience_core::ErrorKind::NonFinite) for missing values and
    /// infinities, [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without numbers.
    pub fn into_features(self) -> Result<FeatureTable> {
        let table = self.numbers.ok_or_else(no_numbers)?;
        table.view().check()?;
        Ok(table)
    }

    /// The columns of numbers in the form that the methods take.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) without numbers.
    pub fn view(&self) -> Result<Features<'_>> {
        self.numbers.as_ref().map(FeatureTable::view).ok_or_else(no_numbers)
    }
}

fn no_numbers() -> Error {
    Error::empty("no column of numbers; expected one at least")
}
