//! What `cluster` and `complete` share: labels of the objects, and of new ones.

use consilience::io::{FeatureTable, Labelled};
use consilience::scores::Scores;
use consilience::{Features, Partition};

use crate::args::{Common, Labelling};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::outputs::Outputs;
use crate::summary::Summary;
use crate::terminal::Terminal;

impl Labelling {
    /// The files to write.
    pub(super) fn outputs(&self) -> Outcome<Outputs> {
        if self.predict.is_some() != self.predicted.is_some() {
            return Err(Failure::bad(
                "--predict FEATURES and --predicted LABELS go together; expected both",
            ));
        }
        Outputs::new().table("-o", "labels", self.output.as_deref())?.table(
            "--predicted",
            "new labels",
            self.predicted.as_deref(),
        )
    }

    /// Reads the new objects, and the true labels of so many old ones.
    pub(super) fn read(&self, objects: usize, terminal: &Terminal) -> Outcome<Beside> {
        let new =
            self.predict.as_deref().map(|path| files::features(path, terminal)).transpose()?;
        Ok(Beside { new, truth: files::truth(self.truth.as_deref(), objects, terminal)? })
    }
}

/// What comes with the objects.
pub(super) struct Beside {
    new: Option<FeatureTable>,
    truth: Option<Partition>,
}

impl Beside {
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
        outputs.labels("-o", Labelled::One(partition), terminal)?;
        if let Some(new) = &self.new {
            // In the numbers of the clustering, which a partition of the new objects would lose.
            let labels = assign(new.view())?;
            outputs.labels("--predicted", Labelled::Numbers(&labels), terminal)?;
        }
        if let Some(truth) = &self.truth {
            summary.scores(&Scores::compare(partition, truth)?.entries());
        }
        outputs.conclude(summary, common, terminal)
    }
}
