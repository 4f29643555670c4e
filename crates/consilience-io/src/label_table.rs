use consilience_core::{Ensemble, Fit, Partition, Report, Result, number_of};

use crate::fault::{ensure_format, malformed};
use crate::ids::{ObjectIds, few};
use crate::roles::position;
use crate::table::ColumnValues;

/// Label columns as a file has them: clusterings, and what the columns, the clusters and the
/// objects are called.
///
/// ```
/// use consilience::io::{Format, Input};
///
/// let text = "id,species,site\np1,cat,3\np2,dog,3\np3,cat,\n";
/// let table = Input::in_memory(text.as_bytes(), Format::Csv).label_table(&())?.output;
/// assert_eq!(table.column_names(), ["species", "site"]);
/// assert_eq!(table.ensemble().members()[0].to_signed(), [0, 1, 0]);
/// assert_eq!(table.cluster_names(0), ["cat", "dog"]);
/// assert_eq!(table.ids().unwrap().get(2), "p3");
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LabelTable {
    ensemble: Ensemble,
    names: Vec<String>,
    values: Vec<ColumnValues>,
    ids: Option<ObjectIds>,
}

impl LabelTable {
    pub(crate) fn new(
        ensemble: Ensemble,
        names: Vec<String>,
        values: Vec<ColumnValues>,
        ids: Option<ObjectIds>,
    ) -> Self {
        LabelTable { ensemble, names, values, ids }
    }

    /// The same objects under these ids. Default those of the file.
    #[doc(hidden)]
    pub fn with_ids(mut self, ids: Option<ObjectIds>) -> Self {
        self.ids = ids;
        self
    }

    /// The columns as base clusterings.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// The columns as base clusterings, without their names.
    pub fn into_ensemble(self) -> Ensemble {
        self.ensemble
    }

    /// What the objects are called, where the file says it.
    pub fn ids(&self) -> Option<&ObjectIds> {
        self.ids.as_ref()
    }

    /// What the columns are called; their numbers where the file has no header.
    pub fn column_names(&self) -> &[String] {
        &self.names
    }

    /// What the clusters of a column are called in the file, in the order of their numbers: names,
    /// or numbers as text. Panics beyond the last column, as a slice does.
    pub fn cluster_names(&self, column: usize) -> Vec<String> {
        let values = &self.values[column];
        (0..values.len()).map(|cluster| values.name(cluster)).collect()
    }

    /// Whether a column holds names rather than numbers. Panics beyond the last column, as a slice
    /// does.
    pub fn has_names(&self, column: usize) -> bool {
        self.values[column].has_text()
    }

    /// The only column as a clustering.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for several columns.
    pub fn partition(&self) -> Result<Partition> {
        match self.ensemble.members() {
            [only] => Ok(only.clone()),
            members => Err(malformed(format!(
                "a table of {} rows and {} columns; expected one column of labels",
                self.ensemble.n_objects(),
                members.len()
            ))),
        }
    }

    /// The only column, with the names of its clusters.
    pub(crate) fn into_only(mut self) -> Result<(Partition, ColumnValues)> {
        let only = self.partition()?;
        Ok((only, self.values.pop().unwrap_or_default()))
    }

    /// The chosen columns, each by its name or its number, in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for a column that is not there.
    pub fn select(&self, columns: &[impl AsRef<str>]) -> Result<Self> {
        let chosen: Vec<usize> = columns
            .iter()
            .map(|column| position(&self.names, column.as_ref()))
            .collect::<Result<_>>()?;
        Ok(LabelTable {
            ensemble: self.ensemble.select(&chosen)?,
            names: chosen.iter().map(|&c| self.names[c].clone()).collect(),
            values: chosen.iter().map(|&c| self.values[c].clone()).collect(),
            ids: self.ids.clone(),
        })
    }

    /// One column for other objects, by their ids: the label of each, and none for objects that the
    /// table does not have. Clusters keep their names, which come back with the labels. Objects
    /// that are missing on either side are counted in the notes.
    ///
    /// ```
    /// use consilience::io::{Format, Input, ObjectIds};
    ///
    /// let text = "id,species\np1,cat\np2,dog\n";
    /// let table = Input::in_memory(text.as_bytes(), Format::Csv).label_table(&())?.output;
    /// let ours = ObjectIds::new(["p7", "p2", "p1"])?;
    /// let (labels, names) = table.joined(&ours)?.output;
    /// assert_eq!((labels.to_signed(), names), (vec![-1, 0, 1], vec!["dog".into(), "cat".into()]));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) for a table of several columns or
    /// without ids, and where no id is in both.
    pub fn joined(&self, objects: &ObjectIds) -> Result<Fit<(Partition, Vec<String>)>> {
        let own =
            self.ids.as_ref().ok_or_else(|| malformed("no ids; expected a column of them"))?;
        let all = self.partition()?;
        let rows = objects.rows_in(own)?;
        let missing = objects.missing(&rows);
        let mut report = Report::default();
        ensure_format!(
            missing.len() < objects.n_objects(),
            "none of its ids is that of an object: {}; expected such as {}",
            few(own.iter(), own.n_objects()),
            few(objects.iter(), objects.n_objects())
        );
        let others = own.n_objects() - (objects.n_objects() - missing.len());
        match others {
            0 => {}
            1 => report.notes.push("1 row of another object was left out".to_owned()),
            more => report.notes.push(format!("{more} rows of other objects were left out")),
        }
        if !missing.is_empty() {
            let shown = few(missing.iter().copied(), missing.len());
            let count = number_of(missing.len() as u64, "object");
            report.notes.push(format!("no row for {count}, taken as unlabelled: {shown}"));
        }
        let label = |i: usize| rows[i].and_then(|row| all.label(row));
        let n = objects.n_objects();
        let partition = Partition::from_fn(n, |i| label(i).map(|l| l as u64))?;
        let mut names = vec![String::new(); partition.n_clusters()];
        for i in 0..n {
            if let (Some(new), Some(old)) = (partition.label(i), label(i))
                && names[new].is_empty()
            {
                names[new] = self.values[0].name(old);
            }
        }
        Ok(Fit::new((partition, names), report))
    }
}
