//! What `cluster`, `complete` and `ask` share: features, labels of the objects and of new ones.

use std::path::Path;

use consilience::generate::Scale;
use consilience::io::{Labelled, ObjectIds};
use consilience::scores::Scores;
use consilience::{Features, Partition, Seed};

use crate::args::{Common, Labelling, Reading};
use crate::categories::Coding;
use crate::failure::Outcome;
use crate::files::{self, Labels, Reduction, Table};
use crate::names;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::tables::generate::missing;
use crate::terminal::Terminal;

impl Labelling {
    /// The files to write.
    pub(super) fn outputs(&self, common: &Common) -> Outcome<Outputs> {
        ensure!(
            self.predict.is_some() == self.predicted.is_some(),
            "--predict FEATURES and --predicted LABELS go together; expected both"
        );
        Outputs::new(common).table("-o", "labels", self.output.as_deref())?.table(
            "--predicted",
            "new labels",
            self.predicted.as_deref(),
        )
    }

    /// Reads the new objects, and the true labels of the old ones.
    pub(super) fn read(&self, table: &Table, terminal: &Terminal) -> Outcome<Beside> {
        let Reading { drop, .. } = &self.reading;
        let coding = self.reading.coding(Scale::None)?;
        let features = |path| match (&coding, &table.categories) {
            (Some(coding), Some(known)) => {
                coding.features_like(known, path, drop, terminal)?.like(table)
            }
            _ => files::features_like(path, drop, table, terminal),
        };
        let new = self.predict.as_deref().map(features).transpose()?;
        let objects = &table.objects();
        let truth = files::truth(self.truth.as_deref(), objects, terminal)?;
        Ok(Beside { new, truth, ids: objects.ids.clone(), known: None })
    }
}

impl Reading {
    /// Reads the features, which `takes_sparse` says whether they may be sparse.
    pub(super) fn features(
        &self,
        path: &Path,
        takes_sparse: bool,
        seed: u64,
        terminal: &Terminal,
    ) -> Outcome<Table> {
        self.scaled_features(path, (takes_sparse, Scale::None), seed, terminal)
    }

    /// The same, where beside columns of categories the numbers are scaled first: a scale for each
    /// column after these would undo what they count.
    pub(super) fn scaled_features(
        &self,
        path: &Path,
        (takes_sparse, scale): (bool, Scale),
        seed: u64,
        terminal: &Terminal,
    ) -> Outcome<Table> {
        let missing = missing(&self.missing, false)?;
        let table = match self.coding(scale)? {
            Some(coding) => coding.features(path, &self.drop, missing, terminal)?,
            None => files::features(path, &self.drop, missing, terminal)?,
        };
        let reduction = Reduction { dimensions: self.svd, takes_sparse, seed: Seed(seed) };
        table.reduced(&reduction, terminal)
    }

    /// How columns of categories become features, where there are any.
    fn coding(&self, scale: Scale) -> Outcome<Option<Coding<'_>>> {
        let distance = self.categorical_distance.parse()?;
        let columns = &self.categorical;
        Ok((!columns.is_empty()).then_some(Coding { columns, distance, scale }))
    }
}

/// What comes with the objects.
pub(super) struct Beside {
    new: Option<Table>,
    truth: Option<Labels>,
    ids: Option<ObjectIds>,
    /// Labels that were known beforehand, whose names or numbers the clusters get.
    known: Option<Labels>,
}

impl Beside {
    /// The same with labels that were known beforehand.
    pub(super) fn knowing(self, known: Option<Labels>) -> Self {
        Beside { known, ..self }
    }

    /// Writes the labels, and those of the new objects as `assign` gives them; adds the scores and
    /// prints the summary.
    pub(super) fn finish(
        self,
        mut outputs: Outputs,
        partition: &Partition,
        assign: impl FnOnce(Features<'_>) -> consilience::Result<Vec<usize>>,
        mut summary: Summary,
        common: &Common,
        terminal: &Terminal,
    ) -> Outcome<()> {
        let known = self.known.as_ref();
        let names = known.map(|known| names::of_clusters(partition, known)).transpose()?.flatten();
        let numbers = known.map(|known| names::numbers_of(partition, known)).transpose()?.flatten();
        let numbered = |label: Option<usize>| Some(numbers.as_ref()?[label?]);
        let own: Option<Vec<usize>> = partition.iter().map(numbered).collect();
        let found = match (&names, &own) {
            (Some(names), _) => Labelled::Named(partition, names),
            (None, Some(own)) => Labelled::Numbers(own),
            (None, None) => Labelled::One(partition),
        };
        outputs.ids_of("-o", self.ids.as_ref(), terminal);
        outputs.labels("-o", found, terminal)?;
        if let Some(new) = &self.new {
            // In the numbers of the clustering, which a partition of the new objects would lose.
            let mut labels = assign(new.view())?;
            if let (Some(numbers), true) = (&numbers, own.is_some()) {
                labels.iter_mut().for_each(|label| *label = numbers[*label]);
            }
            outputs.ids_of("--predicted", new.ids.as_ref(), terminal);
            if let Some(names) = &names {
                let called = labels.iter().map(|&cluster| Some(&names[cluster]));
                let (labels, names) = Partition::from_values(called)?;
                let names: Vec<String> = names.into_iter().cloned().collect();
                outputs.labels("--predicted", Labelled::Named(&labels, &names), terminal)?;
            } else {
                outputs.labels("--predicted", Labelled::Numbers(&labels), terminal)?;
            }
        }
        if let Some(names) = names {
            summary.data("cluster_names", names);
        }
        if let Some(truth) = &self.truth {
            summary.scores(&Scores::compare(partition, &truth.partition)?.entries());
        }
        outputs.conclude(summary, common, terminal)
    }
}
