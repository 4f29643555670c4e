//! Reading as commands need it: notes go to the terminal, shapes are checked, files are named.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use consilience::core::Dense;
use consilience::crowd::Answers;
use consilience::generate::Missing;
use consilience::graph::Network;
use consilience::io::{
    self, AnswerForm, AnswerTable, Batch, DataTable, FeatureTable, Format, Input, LabelTable,
    Location, ObjectIds,
};
use consilience::metric::{LinearMap, TruncatedSvd};
use consilience::{
    Constraints, Ensemble, Error, ErrorKind, Features, Memberships, Partition, Seed,
};
use ndarray::{Array2, Axis};

use crate::categories::Categories;
use crate::failure::{Failure, Outcome};
pub(crate) use crate::joins::Objects;
use crate::joins::{by_id, ids_of_all};
use crate::memory;
use crate::terminal::Terminal;

/// The column of ids that the user named.
static ID: OnceLock<String> = OnceLock::new();

/// Says which column of every table names its objects.
pub(crate) fn name_ids(column: Option<&str>) {
    if let Some(column) = column {
        ID.get_or_init(|| column.to_owned());
    }
}

/// What names standard input or output.
pub(crate) const STANDARD: &str = "-";

/// Whether a path is standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// The files that will be written, by the options that name them.
static WRITTEN: Mutex<Vec<(&str, PathBuf)>> = Mutex::new(Vec::new());

/// Says that a file will be written: it is not to be read from then on.
pub(crate) fn will_write(option: &'static str, path: &Path) {
    if let Ok(place) = place_of(path).canonicalize() {
        WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).push((option, place));
    }
}

/// The file, without the name of an array in it.
fn place_of(path: &Path) -> PathBuf {
    Location::parse(path).map_or_else(|_| path.to_path_buf(), |location| location.path)
}

/// Refuses to read what would be replaced.
fn check_apart(path: &Path) -> Outcome<()> {
    let written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = if written.is_empty() { None } else { place_of(path).canonicalize().ok() };
    match written.iter().find(|(_, output)| Some(output) == place.as_ref()) {
        Some((option, _)) => Err(Failure::Bad(format!(
            "{}: it is read, and {option} would replace it; expected another name",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Standard input, once it was read as a table.
static STANDARD_INPUT: OnceLock<Input<'static>> = OnceLock::new();
/// Whether it was handed out as it comes.
static STREAMED: AtomicBool = AtomicBool::new(false);

/// Standard input is asked for where it has been read already.
pub(crate) fn read_twice() -> Failure {
    Failure::bad("-: standard input is one file and was read already; expected another file here")
}

/// The table at a path; standard input is read once, and is then the same for all who name it.
fn table_at(path: &Path) -> Outcome<Input<'static>> {
    if !is_standard(path) {
        check_apart(path)?;
        return Ok(Input::file(path)?.memory_budget(memory::budget()));
    }
    if let Some(input) = STANDARD_INPUT.get() {
        return Ok(input.clone());
    }
    if STREAMED.load(Ordering::Relaxed) {
        return Err(read_twice());
    }
    let input = Input::standard_input(memory::budget())?;
    Ok(STANDARD_INPUT.get_or_init(|| input).clone())
}

/// The place of text that is read as it comes.
pub(crate) fn stream_at(path: &Path) -> Outcome<&Path> {
    if is_standard(path) {
        if STANDARD_INPUT.get().is_some() || STREAMED.swap(true, Ordering::Relaxed) {
            return Err(read_twice());
        }
        return Ok(Path::new("/dev/stdin"));
    }
    check_apart(path)?;
    Ok(path)
}

/// The table that a command is about: a column of ids that is named has to be there.
fn input(path: &Path) -> Outcome<Input<'static>> {
    let input = table_at(path)?;
    Ok(match ID.get() {
        Some(id) => input.id(id),
        None => input,
    })
}

/// A table beside it, which may have another column of ids or none: a number is one of the other.
fn input_beside(path: &Path) -> Outcome<Input<'static>> {
    let input = table_at(path)?;
    Ok(match ID.get().filter(|id| id.trim().parse::<usize>().is_err()) {
        Some(id) => input.id(id).id_optional(true),
        None => input,
    })
}

/// Features of objects.
pub(crate) struct Table {
    table: FeatureTable,
    /// What its columns are called, or their numbers.
    pub(crate) names: Vec<String>,
    /// The same before it was reduced.
    columns: Vec<String>,
    pub(crate) ids: Option<ObjectIds>,
    /// The map that reduced them to a few dimensions.
    map: Option<LinearMap>,
    /// How columns of categories became features.
    pub(crate) categories: Option<Categories>,
}

impl Table {
    /// Features that nothing has reduced.
    pub(crate) fn coded(
        table: FeatureTable,
        names: Vec<String>,
        ids: Option<ObjectIds>,
        categories: Option<Categories>,
    ) -> Self {
        let columns = names.clone();
        Table { table, names, columns, ids, map: None, categories }
    }

    /// The same with its columns in the order in which others have them, by name; where all are
    /// called otherwise, as they are, which a note says.
    pub(crate) fn in_the_order_of(
        mut self,
        others: &[String],
        path: &Path,
        terminal: &Terminal,
    ) -> Outcome<Self> {
        if let Some(order) = order_of(others, &self.columns, path, terminal)? {
            self.table = in_order(&self.table, &order);
            (self.names, self.columns) = (others.to_vec(), others.to_vec());
        }
        Ok(self)
    }

    fn of(table: DataTable) -> Outcome<Self> {
        let (names, ids) = (table.number_names().to_vec(), table.ids().cloned());
        Ok(Table::coded(table.into_features()?, names, ids, None))
    }

    /// The same where missing values are filled in as asked.
    fn filled(table: DataTable, missing: Missing, terminal: &Terminal) -> Outcome<Self> {
        if missing == Missing::Refuse {
            return Table::of(table);
        }
        check_columns(&table)?;
        let filled = missing.filled_observed(table.view()?, terminal)?;
        let (names, ids) = (table.number_names().to_vec(), table.ids().cloned());
        Ok(Table::coded(FeatureTable::F64(filled), names, ids, None))
    }

    /// The same in a few dimensions, where these are asked for or where a table is needed and the
    /// features are sparse.
    pub(crate) fn reduced(self, reduction: &Reduction, terminal: &Terminal) -> Outcome<Self> {
        Ok(match reduction.table(self.view(), terminal)? {
            Some(Reduced { table, map }) => self.under(map, table),
            None => self,
        })
    }

    /// Whether they were.
    pub(crate) fn is_reduced(&self) -> bool {
        self.map.is_some()
    }

    /// The same under the map that reduced others.
    pub(crate) fn like(self, other: &Table) -> Outcome<Self> {
        let Some(map) = &other.map else { return Ok(self) };
        let table = map.apply(self.view())?;
        Ok(self.under(map.clone(), table))
    }

    /// The same, of which a map has made a table of few dimensions.
    fn under(self, map: LinearMap, table: Array2<f64>) -> Self {
        let names = (0..map.n_outputs()).map(|c| c.to_string()).collect();
        Table { table: FeatureTable::F64(table), names, map: Some(map), ..self }
    }

    /// The form that methods take.
    pub(crate) fn view(&self) -> Features<'_> {
        self.table.view()
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects { n: self.view().n_objects(), ids: self.ids.clone() }
    }
}

/// How features are brought to a few dimensions.
pub(crate) struct Reduction {
    /// `--svd`.
    pub(crate) dimensions: Option<usize>,
    /// Whether what follows takes sparse features as they are.
    pub(crate) takes_sparse: bool,
    pub(crate) seed: Seed,
}

impl Reduction {
    /// Dimensions of sparse features where a table is needed.
    const USUAL: usize = 100;

    /// To how many dimensions, if to any.
    fn to(&self, features: Features<'_>) -> Option<usize> {
        let needed = features.is_sparse() && !self.takes_sparse;
        self.dimensions.or(needed.then_some(Self::USUAL))
    }

    /// Whether that is asked for or needed.
    pub(crate) fn reduces(&self, features: Features<'_>) -> bool {
        self.to(features).is_some()
    }

    /// The features in few dimensions, where that is asked for or needed.
    pub(crate) fn table(
        &self,
        features: Features<'_>,
        terminal: &Terminal,
    ) -> Outcome<Option<Reduced>> {
        let Some(dimensions) = self.to(features) else { return Ok(None) };
        let (n, d) = (features.n_objects(), features.n_features());
        memory::budget().check_table("features in few dimensions", n.max(d), dimensions, 32)?;
        let fit = TruncatedSvd::new(dimensions).seed(self.seed).fit(features, terminal)?;
        terminal.note_all(&fit.report);
        let map = fit.output;
        let table = map.apply(features)?;
        let (asked, dimensions) = (dimensions, map.n_outputs());
        let others = if dimensions < asked.min(n).min(d) {
            "; the others are below 1e-6 of the first, which is what is common to all objects \
             where features are not centred"
        } else {
            ""
        };
        terminal.note(format!(
            "features ({n} x {d}) reduced to {dimensions} dimensions by a truncated SVD \
             (--svd){others}"
        ));
        Ok(Some(Reduced { table, map }))
    }
}

/// Features in few dimensions, and the map that leads there.
pub(crate) struct Reduced {
    pub(crate) table: Array2<f64>,
    map: LinearMap,
}

/// Features as people have them: categories beside numbers, and values missing where `missing` says
/// that they may be.
pub(crate) fn data_table(
    path: &Path,
    categorical: &[String],
    drop: &[String],
    missing: bool,
    terminal: &Terminal,
) -> Outcome<DataTable> {
    let input = input(path)?.categorical(categorical).drop(drop).missing(missing);
    read_data_table(path, &input, terminal)
}

fn read_data_table(path: &Path, input: &Input<'_>, terminal: &Terminal) -> Outcome<DataTable> {
    Ok(terminal.read(path, input.data_table(terminal).map_err(|e| in_own_words(&e))?))
}

/// Refuses columns without any value: there is nothing to fill them with.
pub(crate) fn check_columns(table: &DataTable) -> Outcome<()> {
    let Some(numbers) = table.numbers().map(FeatureTable::view) else { return Ok(()) };
    let empty = match numbers.dense() {
        Ok(Dense::F32(x)) => x.columns().into_iter().position(|c| c.iter().all(|v| v.is_nan())),
        Ok(Dense::F64(x)) => x.columns().into_iter().position(|c| c.iter().all(|v| v.is_nan())),
        // Zeros of sparse features are values.
        Err(_) => None,
    };
    let Some(column) = empty else { return Ok(()) };
    let name = table.number_names().get(column).cloned().unwrap_or_else(|| column.to_string());
    Err(Failure::Bad(format!(
        "column {name:?} is missing for every object; expected --drop {name}"
    )))
}

/// Features, n rows and d columns of finite numbers, without the dropped columns; missing values
/// are filled in as asked.
pub(crate) fn features(
    path: &Path,
    drop: &[String],
    missing: Missing,
    terminal: &Terminal,
) -> Outcome<Table> {
    let table = data_table(path, &[], drop, missing != Missing::Refuse, terminal)?;
    Table::filled(table, missing, terminal).map_err(|failure| failure.within(path.display()))
}

/// Features of new objects, in the columns and under the map of others.
pub(crate) fn features_like(
    path: &Path,
    drop: &[String],
    other: &Table,
    terminal: &Terminal,
) -> Outcome<Table> {
    let table = new_features(path, drop, &other.columns, terminal)?;
    table.in_the_order_of(&other.columns, path, terminal)?.like(other)
}

/// Features of new objects, all of them there; `known` are the columns of the others.
pub(crate) fn new_features(
    path: &Path,
    drop: &[String],
    known: &[String],
    terminal: &Terminal,
) -> Outcome<Table> {
    let table = new_data_table(path, &[], drop, known, terminal)?;
    Table::of(table).map_err(|failure| failure.within(path.display()))
}

/// Features of new objects as people have them.
pub(crate) fn new_data_table(
    path: &Path,
    categorical: &[String],
    drop: &[String],
    known: &[String],
    terminal: &Terminal,
) -> Outcome<DataTable> {
    let input = input(path)?.categorical(categorical).drop(drop).known_columns(known);
    read_data_table(path, &input, terminal).map_err(|failure| match failure {
        // There is nothing to fill them from.
        Failure::Bad(said) => Failure::Bad(
            said.replace(&format!(", or {FILLED}"), ": holes of new objects are not filled"),
        ),
        other => other,
    })
}

/// Where the columns of `theirs` are among `ours`, if they are there in another order, which a note
/// says; so it does where all are called otherwise, and are taken in their order.
pub(crate) fn order_of(
    theirs: &[String],
    ours: &[String],
    path: &Path,
    terminal: &Terminal,
) -> Outcome<Option<Vec<usize>>> {
    let found = io::order_of_columns(theirs, ours).map_err(|e| within(path, &e))?;
    let Some((order, note)) = found else { return Ok(None) };
    terminal.note(format!("{}: {note}", path.display()));
    Ok(order)
}

/// The columns in that order. Sparse features have no names, and stay.
pub(crate) fn in_order(table: &FeatureTable, order: &[usize]) -> FeatureTable {
    match table {
        FeatureTable::F32(x) => FeatureTable::F32(x.select(Axis(1), order)),
        FeatureTable::F64(x) => FeatureTable::F64(x.select(Axis(1), order)),
        other => other.clone(),
    }
}

/// How the holes of features are filled.
const FILLED: &str = "--missing mean, median, nearest or member of generate";

/// What the library says of columns that are no numbers, by the options of the program.
fn in_own_words(error: &Error) -> Failure {
    if error.kind() == ErrorKind::Cancelled {
        return Failure::Cancelled;
    }
    let said = error.to_string();
    let said = said.replace(
        "columns that are given as id, categorical or dropped",
        "columns that are given as --id, --categorical or --drop",
    );
    Failure::Bad(said.replace("a way to fill the holes", FILLED))
}

/// Features of objects that are known already, in their order; otherwise as [`features`].
pub(crate) fn features_of(
    path: &Path,
    drop: &[String],
    missing: Missing,
    objects: &Objects,
    terminal: &Terminal,
) -> Outcome<Table> {
    let input = input_beside(path)?.drop(drop).missing(missing != Missing::Refuse);
    let table = read_data_table(path, &input, terminal)?;
    let filled = Table::filled(table, missing, terminal);
    let filled = filled.map_err(|failure| failure.within(path.display()));
    let Table { table, names, ids, .. } = filled?;
    let rows = table.view().n_objects();
    let table = match by_id(path, objects, ids.as_ref(), rows, terminal)? {
        Some((ours, theirs)) => {
            let rows = ours.every_row_in(&theirs).map_err(|e| within(path, &e))?;
            table.select(&rows)
        }
        None => {
            let (place, n) = (path.display(), objects.n);
            ensure!(rows == n, "{place}: {rows} rows; expected {n}, one per object");
            table
        }
    };
    Ok(Table::coded(table, names, objects.ids.clone(), None))
}

fn within(path: &Path, error: &Error) -> Failure {
    Failure::Bad(format!("{}: {}", path.display(), error.message()))
}

/// An ensemble, n rows and M columns of labels, of which some may be chosen.
pub(crate) fn members(path: &Path, columns: &[String], terminal: &Terminal) -> Outcome<Members> {
    let read = input(path)?.columns(columns).label_table(terminal).map_err(|e| {
        match (e.kind(), columns.is_empty()) {
            (ErrorKind::Cancelled, _) => Failure::Cancelled,
            (_, true) => Failure::Bad(e.to_string()),
            (_, false) => Failure::Bad(format!("--columns {}: {e}", columns.join(","))),
        }
    })?;
    Ok(Members::of(terminal.read(path, read)))
}

/// An ensemble, and what its objects are called.
pub(crate) struct Members {
    pub(crate) ensemble: Ensemble,
    /// What its columns are called, or their numbers.
    pub(crate) names: Vec<String>,
    pub(crate) ids: Option<ObjectIds>,
}

impl Members {
    fn of(table: LabelTable) -> Self {
        let (names, ids) = (table.column_names().to_vec(), table.ids().cloned());
        Members { ensemble: table.into_ensemble(), names, ids }
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects { n: self.ensemble.n_objects(), ids: self.ids.clone() }
    }
}

/// The ensemble, where a file says how many objects each row stands for.
pub(crate) fn counted(
    ensemble: Ensemble,
    objects: &Objects,
    counts: Option<&Path>,
    terminal: &Terminal,
) -> Outcome<Ensemble> {
    let Some(path) = counts else { return Ok(ensemble) };
    let input = input_beside(path)?;
    let mut counts = input.counts(terminal)?.output;
    let table = terminal.read(path, input.data_table(terminal)?);
    let joined = by_id(path, objects, table.ids(), counts.len(), terminal)?;
    if let Some((ours, theirs)) = joined {
        let rows = ours.every_row_in(&theirs).map_err(|e| within(path, &e))?;
        counts = rows.into_iter().map(|row| counts[row]).collect();
    }
    ensemble
        .with_counts(counts)
        .map_err(|e| Failure::Bad(format!("--counts {}: {}", path.display(), e.message())))
}

/// An ensemble, and the labels that its members give to further objects.
pub(crate) fn ensemble_and_new(
    path: &Path,
    new: &Path,
    terminal: &Terminal,
) -> Outcome<(Members, Array2<i64>)> {
    // New objects come in the columns of the others.
    let read = input(path)?.table_and_new(&input(new)?.id_optional(true), terminal)?;
    let (table, rows, more) = terminal.noted(read);
    let mut members = Members::of(table);
    members.ids = ids_of_all(members.ids, more, rows.nrows(), (path, new), terminal)?;
    Ok((members, rows))
}

/// One column of labels, and what the classes are called.
pub(crate) struct Labels {
    pub(crate) partition: Partition,
    pub(crate) names: Vec<String>,
    /// Whether some name is text.
    pub(crate) text: bool,
    pub(crate) ids: Option<ObjectIds>,
}

impl Labels {
    fn of(table: &LabelTable, path: &Path) -> Outcome<Self> {
        Ok(Labels {
            partition: table.partition().map_err(|e| within(path, &e))?,
            names: table.cluster_names(0),
            text: table.has_names(0),
            ids: table.ids().cloned(),
        })
    }

    pub(crate) fn objects(&self) -> Objects {
        Objects { n: self.partition.n_objects(), ids: self.ids.clone() }
    }
}

/// One column of labels: those that a command is about.
pub(crate) fn labels(path: &Path, terminal: &Terminal) -> Outcome<Labels> {
    Labels::of(&terminal.read(path, input(path)?.label_table(terminal)?), path)
}

/// Says that a file is read before it is replaced, as earlier labels are.
pub(crate) fn may_replace(path: &Path) {
    let place = place_of(path).canonicalize().ok();
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    written.retain(|(_, output)| Some(output) != place.as_ref());
}

/// One column of labels beside a table.
pub(crate) fn labels_beside(path: &Path, terminal: &Terminal) -> Outcome<Labels> {
    Labels::of(&terminal.read(path, input_beside(path)?.label_table(terminal)?), path)
}

/// Labels of objects that are known already: joined by id where both have ids, and else row by row.
/// `what` says what the rows are.
pub(crate) fn labels_of(
    path: &Path,
    objects: &Objects,
    what: &str,
    terminal: &Terminal,
) -> Outcome<Labels> {
    let table = terminal.read(path, input_beside(path)?.label_table(terminal)?);
    let mut labels = Labels::of(&table, path)?;
    let rows = labels.partition.n_objects();
    if let Some((ours, theirs)) = by_id(path, objects, table.ids(), rows, terminal)? {
        let joined = table.with_ids(Some(theirs)).joined(&ours).map_err(|e| within(path, &e))?;
        for note in &joined.report.notes {
            terminal.note(format!("{}: {note}", path.display()));
        }
        (labels.partition, labels.names) = joined.output;
        labels.ids = objects.ids.clone();
    }
    check_rows(path, labels.partition.n_objects(), what, objects)?;
    Ok(labels)
}

/// Refuses other numbers of rows than there are objects.
pub(crate) fn check_rows(path: &Path, rows: usize, what: &str, objects: &Objects) -> Outcome<()> {
    let (place, n) = (path.display(), objects.n);
    let header = if rows == n + 1 {
        "; a header that is a number counts as a row, one of text does not"
    } else {
        ""
    };
    ensure!(rows == n, "{place}: {rows} rows of {what}, expected {n}, one per object{header}");
    Ok(())
}

/// Soft memberships, n rows and k columns of probabilities; one column of whole numbers or text
/// counts as certain.
pub(crate) fn memberships(path: &Path, terminal: &Terminal) -> Outcome<(Memberships, Objects)> {
    read_memberships(&input(path)?, path, terminal)
}

fn read_memberships(
    input: &Input<'_>,
    path: &Path,
    terminal: &Terminal,
) -> Outcome<(Memberships, Objects)> {
    let (memberships, ids) = terminal.read(path, input.memberships_and_ids(terminal)?);
    let n = memberships.n_objects();
    Ok((memberships, Objects { n, ids }))
}

/// Memberships of objects that are known already: joined by id where both have ids, and else row by
/// row. Nothing is known of objects that the file does not have.
pub(crate) fn memberships_of(
    path: &Path,
    objects: &Objects,
    terminal: &Terminal,
) -> Outcome<Memberships> {
    let (found, theirs) = read_memberships(&input_beside(path)?, path, terminal)?;
    let rows = found.n_objects();
    let Some((ours, theirs)) = by_id(path, objects, theirs.ids.as_ref(), rows, terminal)? else {
        check_rows(path, rows, "memberships", objects)?;
        return Ok(found);
    };
    let rows = ours.rows_in(&theirs)?;
    let missing = rows.iter().filter(|row| row.is_none()).count();
    ensure!(missing < objects.n, "{}: none of its ids is that of an object", path.display());
    let others = found.n_objects() + missing - objects.n;
    for (count, one, more) in [
        (missing, "object has no memberships there", "objects have no memberships there"),
        (others, "row of another object was left out", "rows of other objects were left out"),
    ] {
        if count > 0 {
            let what = if count == 1 { one } else { more };
            terminal.note(format!("{}: {count} {what}", path.display()));
        }
    }
    let share = 1.0 / found.n_clusters() as f64;
    let values = Array2::from_shape_fn((objects.n, found.n_clusters()), |(i, c)| {
        rows[i].map_or(share, |row| found.values()[[row, c]])
    });
    let evidence = rows.iter().map(|row| row.map_or(0.0, |row| found.evidence()[row])).collect();
    Ok(Memberships::with_evidence(values, evidence)?)
}

/// The true labels, if asked for, of the objects.
pub(crate) fn truth(
    path: Option<&Path>,
    objects: &Objects,
    terminal: &Terminal,
) -> Outcome<Option<Labels>> {
    let Some(path) = path else { return Ok(None) };
    let truth = labels_of(path, objects, "true labels", terminal)?;
    let labelled = truth.partition.n_labelled();
    ensure!(labelled > 0, "{}: no object has a true label", path.display());
    Ok(Some(truth))
}

/// Known pairs of the objects.
pub(crate) fn constraints(
    path: &Path,
    objects: &Objects,
    terminal: &Terminal,
) -> Outcome<Constraints> {
    let path = stream_at(path)?;
    Ok(match &objects.ids {
        Some(ids) => terminal.read(path, io::read_constraints_by_id(path, ids)?),
        None => io::read_constraints(path, objects.n)?,
    })
}

/// Known pairs of the objects, batch by batch.
pub(crate) fn batches(path: &Path, objects: &Objects, terminal: &Terminal) -> Outcome<Vec<Batch>> {
    let path = stream_at(path)?;
    Ok(match &objects.ids {
        Some(ids) => terminal.read(path, io::read_batches_by_id(path, ids)?),
        None => io::read_batches(path)?,
    })
}

/// A network whose nodes are the objects.
pub(crate) fn network(path: &Path, objects: &Objects, terminal: &Terminal) -> Outcome<Network> {
    let edges = table_at(path)?.edges(objects.n, objects.ids.as_ref(), terminal)?;
    Ok(Network::new(objects.n, terminal.read(path, edges))?)
}

/// The answers of a crowd, row by row.
pub(crate) fn answer_table(
    path: &Path,
    ids: Option<&ObjectIds>,
    terminal: &Terminal,
) -> Outcome<AnswerTable> {
    let input = table_at(path)?;
    let read = match ids {
        Some(ids) => input.answers_by_id(ids, terminal)?,
        None => input.answers(terminal)?,
    };
    Ok(terminal.read(path, read))
}

/// Refuses answers that name their objects by text where the objects have no such names.
pub(crate) fn check_named(table: &AnswerTable, path: &Path, objects: &Objects) -> Outcome<()> {
    ensure!(
        table.ids().is_none() || objects.ids.is_some(),
        "{}: names its objects by text; expected features with such ids, see --id",
        path.display()
    );
    Ok(())
}

/// The answers of a file, about so many objects; with keywords two are the same that share `shared`
/// of them.
pub(crate) fn answers(table: &AnswerTable, objects: usize, shared: usize) -> Outcome<Answers> {
    let keywords = table.form() == AnswerForm::Keywords;
    ensure!(keywords || shared == 1, "--param shared={shared}: only with answers by keyword");
    Ok(consilience::files::answers_within(table, objects, shared, memory::budget())?)
}

/// The digits that ship with the program: features and truth.
pub(crate) fn shipped_digits(terminal: &Terminal) -> Outcome<(FeatureTable, Partition)> {
    const DIGITS: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/digits.npz"));
    let digits = Input::in_memory(DIGITS, Format::Npz);
    let features = digits.clone().array("x").features(terminal)?;
    let truth = digits.array("y").labels(terminal)?;
    Ok((features.output, truth.output))
}
