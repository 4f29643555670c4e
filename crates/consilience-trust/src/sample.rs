//! Microclusters of a sample of the objects, where there are many.

use consilience_core::{Ensemble, Grouping, Microclusters, Result, Seed, Stream, ensure};

/// Some objects in place of all: distinct rows of an ensemble, each with how many objects of the
/// sample it stands for.
///
/// What is costly per object, a picture or a matrix, is made of a sample: objects are drawn
/// uniformly without replacement, and those with equal rows are one row with a count. Where there
/// are no more distinct rows than objects asked for, nothing is drawn and the rows stand for all.
///
/// ```
/// use consilience::{Ensemble, Microclusters, Seed};
/// use consilience::ndarray::array;
/// use consilience::trust::RowSample;
///
/// let ensemble = Ensemble::from_array(array![[0, 0], [1, 0], [1, 1], [0, 0]].view())?;
/// let sample = RowSample::of(&Microclusters::of(&ensemble)?, 1_000, Seed(0))?;
/// assert_eq!(sample.objects, [0, 1, 2]); // the first object of each row
/// assert_eq!(sample.rows.counts(), Some(&[2, 1, 1][..]));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RowSample {
    /// The first object of each row.
    pub objects: Vec<usize>,
    /// The rows, with their counts in the sample.
    pub rows: Ensemble,
    /// Whether objects were drawn: otherwise the rows stand for all labelled objects.
    pub drawn: bool,
}

impl RowSample {
    /// A sample of that many of the labelled objects, where there are more microclusters.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`](consilience_core::ErrorKind::Empty) where no object is labelled,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) for a sample
    /// of none.
    pub fn of(nodes: &Microclusters, objects: usize, seed: Seed) -> Result<Self> {
        ensure!(objects > 0, invalid("a sample of 0 objects; expected at least 1"));
        ensure!(nodes.n_nodes() > 0, empty("no object is labelled by any member"));
        let mut stream = seed.derive("sample of rows", 0).stream();
        let (chosen, rows) = sampled(nodes, objects, &mut stream)?;
        let mut first = vec![usize::MAX; nodes.n_nodes()];
        for (i, &node) in nodes.grouping().of_object().iter().enumerate() {
            if node != Grouping::NONE && first[node as usize] == usize::MAX {
                first[node as usize] = i;
            }
        }
        let objects_of = chosen.iter().map(|&node| first[node]).collect();
        Ok(RowSample { objects: objects_of, rows, drawn: nodes.n_nodes() > objects })
    }
}

/// Some of the microclusters in ascending order, and their rows with how many objects of the sample
/// are in each; all of them where there are no more than `objects`.
pub(crate) fn sampled(
    nodes: &Microclusters,
    objects: usize,
    stream: &mut Stream,
) -> Result<(Vec<usize>, Ensemble)> {
    let rows = nodes.to_ensemble()?;
    let (n, sizes) = (nodes.n_nodes(), nodes.sizes());
    if n <= objects {
        return Ok(((0..n).collect(), rows.with_counts(sizes)?));
    }
    let total: u64 = sizes.iter().sum();
    let (mut chosen, mut counts): (Vec<usize>, Vec<u64>) = (Vec::new(), Vec::new());
    let (mut node, mut end) = (0, sizes[0]);
    for object in stream.sample(total as usize, objects) {
        while end <= object as u64 {
            node += 1;
            end += sizes[node];
        }
        match (chosen.last(), counts.last_mut()) {
            (Some(&last), Some(count)) if last == node => *count += 1,
            _ => {
                chosen.push(node);
                counts.push(1);
            }
        }
    }
    let sample = rows.select_objects(&chosen)?.with_counts(counts)?;
    Ok((chosen, sample))
}
