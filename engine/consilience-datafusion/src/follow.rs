use std::collections::{BTreeMap, BTreeSet};

use consilience::simplex::{AlignmentReference, UpdateReport, UpdateRule, WeightUpdaterSetup};
use consilience::{Constraints, Ensemble, Error, MemoryBudget, Observer, Pair, Partition, Result};

use crate::codes::{MISSING, UNSEEN};
use crate::distinct::{DistinctRows, Numbering};
use crate::engine::Engine;
use crate::table::Table;

/// What became of the members' weights, and the label of each distinct row by them.
///
/// From [`Engine::follow`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Followed {
    /// The label of each distinct row, for [`Engine::write_labels`].
    pub labels: Partition,
    /// The weight of each member; they sum to 1.
    pub weights: Vec<f64>,
    /// What each batch did.
    pub batches: Vec<UpdateReport>,
}

impl Engine {
    /// Lets the weights of the members follow must-links and cannot-links between objects, batch by
    /// batch, as a [`WeightUpdater`](consilience::simplex::WeightUpdater) over all objects would.
    ///
    /// `reference` is a clustering of the distinct rows that members are aligned to, a consensus
    /// for instance. Objects are numbered through all files; only those of the links are read
    /// again, and the weights move in memory.
    ///
    /// ```no_run
    /// use consilience::Pair;
    /// use consilience::catalogue::{Settings, by_name};
    /// use consilience_datafusion::{Engine, Table};
    ///
    /// let engine = Engine::builder().build()?;
    /// let table = Table::open("pool/")?;
    /// let rows = engine.distinct(&table, &())?;
    /// let start = by_name("lwea")?.build(&Settings::new(10))?.consensus(rows.ensemble())?;
    /// let links = vec![Pair::must_link(17, 40_000_000), Pair::cannot_link(17, 3)];
    /// let followed = engine.follow(&table, &rows, &start, Default::default(), &[links], &())?;
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
        rule: UpdateRule,
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
        let taken = Taken::apart(rows.ensemble(), &row_of)?;
        let reference = reference.select(&taken.rows)?;
        let budget = MemoryBudget::bytes(self.memory().saturating_sub(rows.bytes()));
        let mut updater = WeightUpdaterSetup::new(reference.n_clusters())
            .reference(AlignmentReference::Given(reference))
            .rule(rule)
            .memory_budget(budget)
            .updater_observed(taken.ensemble, observer)?;
        let mut reports = Vec::with_capacity(batches.len());
        for batch in batches {
            let number = |object: usize| taken.objects[&(object as u64)];
            let pairs: Vec<Pair> =
                batch.iter().map(|p| Pair::new(number(p.i), number(p.j), p.link)).collect();
            reports.push(updater.update_observed(&pairs, observer)?);
        }
        let found = updater.partition()?;
        let mut labels = vec![None; rows.ensemble().n_objects()];
        for (entry, &row) in taken.rows.iter().enumerate() {
            labels[row] = found.label(entry);
        }
        let labels = Partition::from_labels(&labels)?;
        Ok(Followed { labels, weights: updater.weights(), batches: reports })
    }
}

/// Refuses objects that do not exist and links that contradict each other, in the numbers of the
/// user.
fn check_links(table: &Table, batches: &[Vec<Pair>]) -> Result<()> {
    let mut known = Constraints::new(table.n_rows() as usize)?;
    batches.iter().flatten().try_for_each(|pair| known.add(pair.i, pair.j, pair.link))
}

/// The distinct rows, with the objects that links are about standing for themselves.
struct Taken {
    ensemble: Ensemble,
    /// The distinct row of each entry of the ensemble.
    rows: Vec<usize>,
    /// The entry of each object.
    objects: BTreeMap<u64, usize>,
}

impl Taken {
    fn apart(ensemble: &Ensemble, row_of: &[(u64, usize)]) -> Result<Self> {
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
        Ok(Taken { ensemble: ensemble.with_counts(counts)?, rows, objects })
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
