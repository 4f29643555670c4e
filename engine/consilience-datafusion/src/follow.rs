use std::collections::{BTreeMap, BTreeSet};

use consilience::follow::{CrossValidation, MapLearner, MetricRule, Updater, UpdaterSetup};
use consilience::simplex::{AlignmentReference, UpdateReport, UpdateRule};
use consilience::{
    Constraints, Ensemble, Error, MemoryBudget, Observer, Pair, Partition, Result, Seed,
};

use crate::codes::{MISSING, UNSEEN};
use crate::distinct::{DistinctRows, Numbering};
use crate::engine::Engine;
use crate::table::Table;

/// Objects that the bounds of a metric are taken from, at most.
const BOUNDING: u64 = 1_000;

/// How a clustering follows links.
///
/// ```
/// use consilience::simplex::UpdateRule;
/// use consilience::Seed;
/// use consilience_datafusion::FollowRule;
///
/// assert_eq!(FollowRule::named("exact", 5, Seed(0))?, UpdateRule::default().into());
/// assert!(FollowRule::named("magic", 5, Seed(0)).is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FollowRule {
    /// By a metric on the embedding of the ensemble, where cross-validation on the links supports
    /// it, else the plain consensus; the weights of the members follow by their default rule.
    Metric(MetricRule),
    /// By the weights of the members.
    Weights(UpdateRule),
}

impl FollowRule {
    /// The rule of that name with its defaults, as the program `consilience update` names them:
    /// `metric`, `completion` (a metric by matrix completion), `exact`, `additive` or
    /// `multiplicative`. Metrics are read out into so many clusters.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for another name.
    pub fn named(name: &str, clusters: usize, seed: Seed) -> Result<Self> {
        use consilience::simplex::{AdditiveUpdate, ExactUpdate, MultiplicativeUpdate};
        Ok(match name {
            "metric" => FollowRule::Metric(MetricRule::new(clusters).seed(seed)),
            "completion" => {
                let metric = MetricRule::new(clusters).seed(seed);
                FollowRule::Metric(metric.learner(MapLearner::Completion))
            }
            "exact" => FollowRule::Weights(ExactUpdate::default().into()),
            "additive" => FollowRule::Weights(AdditiveUpdate::default().into()),
            "multiplicative" => FollowRule::Weights(MultiplicativeUpdate::default().into()),
            _ => {
                return Err(Error::invalid(format!(
                    "unknown rule {name:?}; expected one of metric, completion, exact, additive, \
                     multiplicative"
                )));
            }
        })
    }
}

impl From<MetricRule> for FollowRule {
    fn from(rule: MetricRule) -> Self {
        FollowRule::Metric(rule)
    }
}

impl From<UpdateRule> for FollowRule {
    fn from(rule: UpdateRule) -> Self {
        FollowRule::Weights(rule)
    }
}

/// The label of each object of a link, in ascending order.
type Linked = Vec<(u64, Option<usize>)>;

/// What became of the members' weights, and the clustering by them or by the metric.
///
/// From [`Engine::follow`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Followed {
    /// The label of each distinct row.
    pub labels: Partition,
    /// The label of each object of a link, in ascending order of the objects. The metric may put
    /// it elsewhere than others of its row, and in a cluster behind those of the rows.
    pub linked: Vec<(u64, Option<usize>)>,
    /// The distinct row of each object of a link, in ascending order of the objects.
    pub rows: Vec<(u64, u64)>,
    /// The weight of each member; they sum to 1.
    pub weights: Vec<f64>,
    /// What each batch did.
    pub batches: Vec<UpdateReport>,
    /// Why the metric was used, or was not; none under rules of weights.
    pub cross_validation: Option<CrossValidation>,
}

impl Engine {
    /// Lets a clustering follow must-links and cannot-links between objects, batch by batch, as an
    /// [`Updater`] over all objects would.
    ///
    /// `reference` is a clustering of the distinct rows that members are aligned to, a consensus
    /// for instance. Objects are numbered through all files; only those of the links, and for a
    /// metric 1,000 evenly spaced ones, are read again, and weights and metric move in memory.
    /// [`Engine::write_followed`] writes the labels.
    ///
    /// Weights, metric and labels are those of the library. Beyond 65,536 distinct rows (fewer with
    /// more than 170 members) the metric is learned on a sample, another than the library's.
    ///
    /// ```no_run
    /// use consilience::Pair;
    /// use consilience::catalogue::{Settings, by_name};
    /// use consilience::follow::MetricRule;
    /// use consilience_datafusion::{Engine, Table};
    ///
    /// let engine = Engine::builder().build()?;
    /// let table = Table::open("pool/")?;
    /// let rows = engine.distinct(&table, &())?;
    /// let start = by_name("lwea")?.build(&Settings::new(10))?.consensus(rows.ensemble())?;
    /// let links = vec![Pair::must_link(17, 40_000_000), Pair::cannot_link(17, 3)];
    /// let followed = engine.follow(&table, &rows, &start, MetricRule::new(10), &[links], &())?;
    /// println!("{:?}", followed.weights);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Complexity
    /// Reading p objects takes one look into each row group that holds one; a batch costs what it
    /// costs the library, nothing in n.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](consilience::ErrorKind::OutOfRange) for an object that does not
    /// exist, [`ErrorKind::Contradiction`](consilience::ErrorKind::Contradiction) with the chain,
    /// [`ErrorKind::InvalidParameter`](consilience::ErrorKind::InvalidParameter) for a sample,
    /// [`ErrorKind::Corrupt`](consilience::ErrorKind::Corrupt) where the table has changed.
    pub fn follow(
        &self,
        table: &Table,
        rows: &DistinctRows,
        reference: &Partition,
        rule: impl Into<FollowRule>,
        batches: &[Vec<Pair>],
        observer: &dyn Observer,
    ) -> Result<Followed> {
        if rows.is_sample() {
            return Err(Error::invalid("links over a sample of the rows; expected all of them"));
        }
        check_links(table, batches)?;
        let linked: BTreeSet<u64> =
            batches.iter().flatten().flat_map(|pair| [pair.i as u64, pair.j as u64]).collect();
        let row_of = rows.of_objects(table, &linked.iter().copied().collect::<Vec<_>>())?;
        let (ensemble, taken) = Taken::apart(rows.ensemble(), &row_of)?;
        let reference = reference.select(&taken.rows)?;
        let budget = MemoryBudget::bytes(self.memory().saturating_sub(rows.bytes()));
        let setup = UpdaterSetup::new(reference.n_clusters())
            .reference(AlignmentReference::Given(reference))
            .memory_budget(budget);
        let (setup, metric) = match rule.into() {
            FollowRule::Weights(rule) => (setup.rule(rule), false),
            FollowRule::Metric(rule) => (setup.metric_rule(rule), true),
        };
        let mut updater = setup.updater_observed(ensemble, observer)?;
        if metric {
            let bounding = taken.first_entries(&rows.of_objects(table, &evenly(table))?);
            updater.open_metric_bounded(Some(&bounding), observer)?;
        }
        let mut reports = Vec::with_capacity(batches.len());
        for batch in batches {
            let number = |object: usize| taken.objects[&(object as u64)];
            reports.push(updater.update_renumbered(batch, number, observer)?);
        }
        let (found, cross_validation) = read(&mut updater, metric, observer)?;
        let (labels, linked) = taken.labels(&found, rows.ensemble().n_objects())?;
        let weights = updater.by_weights().weights();
        let rows = row_of.into_iter().map(|(object, row)| (object, row as u64)).collect();
        Ok(Followed { labels, linked, rows, weights, batches: reports, cross_validation })
    }
}

/// The objects that the library takes the bounds of its metric from.
fn evenly(table: &Table) -> Vec<u64> {
    let n = table.n_rows();
    let count = n.min(BOUNDING);
    (0..count).map(|s| (u128::from(s) * u128::from(n) / u128::from(count)) as u64).collect()
}

/// The clustering of an updater, and what supports it under the metric.
fn read(
    updater: &mut Updater,
    metric: bool,
    observer: &dyn Observer,
) -> Result<(Partition, Option<CrossValidation>)> {
    if !metric {
        return Ok((updater.by_weights().partition()?, None));
    }
    let read = updater.read_out(observer)?.output;
    let found = read.partition(updater.ensemble(), observer)?;
    Ok((found, Some(*read.cross_validation())))
}

/// Refuses objects that do not exist and links that contradict each other, in the numbers of the
/// user.
fn check_links(table: &Table, batches: &[Vec<Pair>]) -> Result<()> {
    let mut known = Constraints::new(table.n_rows() as usize)?;
    batches.iter().flatten().try_for_each(|pair| known.add(pair.i, pair.j, pair.link))
}

/// The distinct rows, with the objects that links are about standing for themselves.
struct Taken {
    /// The distinct row of each entry of the ensemble.
    rows: Vec<usize>,
    /// The entry of each object.
    objects: BTreeMap<u64, usize>,
}

impl Taken {
    fn apart(ensemble: &Ensemble, row_of: &[(u64, usize)]) -> Result<(Ensemble, Self)> {
        let mut inside: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for &(object, row) in row_of {
            inside.entry(row).or_default().push(object);
        }
        let (mut rows, mut counts, mut objects) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (row, &count) in ensemble.counts().unwrap_or_default().iter().enumerate() {
            let own = inside.get(&row).map_or(&[][..], Vec::as_slice);
            let rest = count.saturating_sub(own.len() as u64);
            if rest > 0 {
                rows.push(row);
                counts.push(rest);
            }
            for &object in own {
                objects.insert(object, rows.len());
                rows.push(row);
                counts.push(1);
            }
        }
        let ensemble = Ensemble::new(ensemble.members().to_vec())?.select_objects(&rows)?;
        Ok((ensemble.with_counts(counts)?, Taken { rows, objects }))
    }

    /// For each of some objects, with their rows, an entry with the same labels.
    fn first_entries(&self, row_of: &[(u64, usize)]) -> Vec<usize> {
        let mut first = BTreeMap::new();
        for (entry, &row) in self.rows.iter().enumerate() {
            first.entry(row).or_insert(entry);
        }
        row_of.iter().filter_map(|(_, row)| first.get(row).copied()).collect()
    }

    /// The labels of so many rows, and those of the linked objects in the same numbers. Where all
    /// objects of a row are linked, its own label is that of one of them.
    fn labels(&self, found: &Partition, rows: usize) -> Result<(Partition, Linked)> {
        let mut labels = vec![None; rows];
        // What is left of a row comes before the objects that were taken from it.
        for (entry, &row) in self.rows.iter().enumerate().rev() {
            labels[row] = found.label(entry);
        }
        let labels = Partition::from_labels(&labels)?;
        let mut ours = vec![None; found.n_clusters()];
        for (entry, &row) in self.rows.iter().enumerate() {
            let first = entry == 0 || self.rows[entry - 1] != row;
            if let (true, Some(theirs)) = (first, found.label(entry)) {
                ours[theirs] = labels.label(row);
            }
        }
        let behind = labels.n_clusters()..;
        ours.iter_mut().filter(|our| our.is_none()).zip(behind).for_each(|(our, c)| *our = Some(c));
        let label = |entry: usize| found.label(entry).and_then(|theirs| ours[theirs]);
        let linked = self.objects.iter().map(|(&object, &entry)| (object, label(entry)));
        Ok((labels, linked.collect()))
    }
}

impl DistinctRows {
    /// The distinct row of each of some objects, which are given in ascending order.
    fn of_objects(&self, table: &Table, objects: &[u64]) -> Result<Vec<(u64, usize)>> {
        let mut found = Vec::with_capacity(objects.len());
        table.read_some(objects, |columns, objects| {
            let Numbering { codes, layout, rows: known_rows } = &*self.numbering;
            let words = layout.words();
            let mut packed = vec![0; objects.len() * words];
            let mut known = true;
            for (c, column) in columns.iter().enumerate() {
                let mut rows = packed.chunks_exact_mut(words);
                codes[c].find(column, |number| {
                    known &= number != UNSEEN;
                    if let Some(row) = rows.next() {
                        layout.put(c, if number == UNSEEN { MISSING } else { number }, row);
                    }
                })?;
            }
            for (&object, row) in objects.iter().zip(packed.chunks_exact(words)) {
                match known_rows.find(row).filter(|_| known) {
                    Some(row) => found.push((object, row as usize)),
                    None => return Err(crate::labels::changed()),
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}
