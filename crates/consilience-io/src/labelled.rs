use consilience_core::{Ensemble, Partition};

/// Clusterings on their way into a file.
///
/// ```
/// use consilience::Partition;
/// use consilience::io::{Labelled, OutputFile};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.csv");
/// let partition = Partition::from_labels(&[5, 5, 9])?;
/// let mut file = OutputFile::table(&path)?;
/// file.write_labels(Labelled::One(&partition), &())?;
/// file.commit()?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "label\n0\n0\n1\n");
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Labelled<'a> {
    /// One clustering.
    One(&'a Partition),
    /// One clustering whose clusters have names, which are written in place of their numbers; an
    /// unlabelled object gets an empty cell. There is a name for every cluster.
    Named(&'a Partition, &'a [String]),
    /// An ensemble.
    All(&'a Ensemble),
    /// Cluster numbers of another clustering, which must not be renumbered: those of new objects,
    /// for instance.
    Numbers(&'a [usize]),
}

impl Labelled<'_> {
    pub(crate) fn columns(&self) -> usize {
        if let Labelled::All(ensemble) = self { ensemble.n_members() } else { 1 }
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Labelled::One(partition) | Labelled::Named(partition, _) => partition.n_objects(),
            Labelled::All(ensemble) => ensemble.n_objects(),
            Labelled::Numbers(numbers) => numbers.len(),
        }
    }

    /// The label as files hold it: -1 for none.
    #[inline]
    pub(crate) fn signed(&self, row: usize, column: usize) -> i64 {
        let label = match self {
            Labelled::One(partition) | Labelled::Named(partition, _) => partition.label(row),
            Labelled::All(ensemble) => ensemble.members()[column].label(row),
            Labelled::Numbers(numbers) => Some(numbers[row]),
        };
        label.map_or(-1, |l| l as i64)
    }

    /// The name of the object's cluster, where clusters have names; empty for unlabelled.
    pub(crate) fn name(&self, row: usize) -> Option<&str> {
        match self {
            Labelled::Named(partition, names) => {
                Some(partition.label(row).map_or("", |cluster| names[cluster].as_str()))
            }
            _ => None,
        }
    }

    /// One column of labels rather than an ensemble that happens to have one member.
    pub(crate) fn single(&self) -> bool {
        !matches!(self, Labelled::All(_))
    }

    pub(crate) fn column_names(&self) -> Vec<String> {
        if self.single() { vec!["label".to_owned()] } else { column_names("m", self.columns()) }
    }

    /// Bytes of the narrowest signed integer that holds every label and -1.
    pub(crate) fn width(&self) -> usize {
        let labels = match self {
            Labelled::One(partition) | Labelled::Named(partition, _) => partition.n_clusters(),
            Labelled::All(ensemble) => {
                ensemble.members().iter().map(Partition::n_clusters).max().unwrap_or(0)
            }
            Labelled::Numbers(numbers) => numbers.iter().max().map_or(0, |&most| most + 1),
        };
        match labels {
            0..=0x80 => 1,
            0x81..=0x8000 => 2,
            0x8001..=0x8000_0000 => 4,
            _ => 8,
        }
    }
}

/// `m0`, `m1`, ...
pub(crate) fn column_names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|c| format!("{prefix}{c}")).collect()
}
