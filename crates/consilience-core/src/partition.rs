use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

#[cfg(any(doc, test))]
use crate::ErrorKind;
use crate::labels::Labels;
use crate::{Error, LabelInt, LabelSlice, RawLabel, Result, checks, ensure, room, with_labels};

/// A hard clustering of `n` objects; any of them may be unlabelled.
///
/// Labels are canonical: clusters are numbered `0..k` by the first object that carries them, and
/// none is empty. Two partitions that group the objects alike are therefore equal, whatever numbers
/// they came with, and gaps or huge values in the input leave no trace.
///
/// ```
/// use consilience::Partition;
///
/// let a = Partition::from_labels(&[7, 7, 1_000_000_007, -1])?;
/// let b = Partition::from_labels(&[Some(0u8), Some(0), Some(1), None])?;
/// assert_eq!(a, b);
/// assert_eq!(a.n_clusters(), 2);
/// assert_eq!(a.label(3), None);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// Stored in one byte per object below 255 clusters, two below 65,535, else four. Cloning copies no
/// label.
#[doc(alias = "clustering")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::PartitionFields", into = "crate::stored::PartitionFields")
)]
pub struct Partition {
    /// Shared with the clones until one of them takes objects in.
    labels: Arc<Labels>,
    clusters: usize,
    labelled: usize,
}

/// Keys below this are renumbered through a table, others through a hash map.
const TABLE: u64 = 1 << 20;
const UNSEEN: u32 = u32::MAX;
/// Keys that are read at a time.
const BLOCK: usize = 512;

/// The cluster of each key, numbered as they came.
enum Numbers {
    Table { of: Vec<u32>, clusters: u32 },
    Map(FxHashMap<u64, u32>),
}

impl Numbers {
    fn take_in(&mut self, keys: &[Option<u64>]) -> Result<()> {
        match self {
            Numbers::Table { of, clusters } => {
                for &key in keys.iter().flatten() {
                    let Some(slot) = of.get_mut(key as usize) else { return Err(unsteady()) };
                    if *slot == UNSEEN {
                        *slot = *clusters;
                        *clusters += 1;
                    }
                }
            }
            Numbers::Map(map) => {
                for &key in keys.iter().flatten() {
                    let next = map.len() as u32;
                    if map.len() == map.capacity() {
                        map.try_reserve(1).map_err(|_| too_many_clusters(next))?;
                    }
                    map.entry(key).or_insert(next);
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> usize {
        match self {
            Numbers::Table { clusters, .. } => *clusters as usize,
            Numbers::Map(map) => map.len(),
        }
    }

    /// The clusters of keys; [`UNSEEN`] of one that was not taken in.
    fn look_up(&self, keys: &[Option<u64>], out: &mut [Option<usize>]) {
        let pairs = keys.iter().zip(out);
        let number = |slot: Option<&u32>| slot.map_or(UNSEEN, |&number| number) as usize;
        match self {
            Numbers::Table { of, .. } => {
                pairs.for_each(|(key, to)| *to = key.map(|key| number(of.get(key as usize))));
            }
            Numbers::Map(map) => {
                pairs.for_each(|(key, to)| *to = key.map(|key| number(map.get(&key))));
            }
        }
    }
}

fn too_many_clusters(clusters: u32) -> Error {
    Error::too_large(format!("the numbers of {clusters} clusters and more do not fit in memory"))
}

/// A caller's function that is asked again gives other labels: clusters might be empty then.
fn unsteady() -> Error {
    Error::invalid("a label that changes when it is asked for again; expected the same every time")
}

fn ensure_steady(steady: bool) -> Result<()> {
    if steady { Ok(()) } else { Err(unsteady()) }
}

impl Partition {
    /// A partition from labels of any integer type; negative numbers and `None` are unlabelled.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects, [`ErrorKind::TooLarge`] from 2^32 - 1 objects on, and
    /// where the labels do not fit in memory.
    ///
    /// # Complexity
    /// O(n) time; the labels are the only memory in proportion to n.
    pub fn from_labels<L: RawLabel>(labels: &[L]) -> Result<Self> {
        Self::from_fn(labels.len(), |i| labels[i].key())
    }

    /// A partition of `n` objects whose raw label is `key(i)`, `None` for unlabelled. `key` is
    /// called up to three times per object.
    ///
    /// # Errors
    /// As [`Partition::from_labels`]; [`ErrorKind::InvalidParameter`] where it is seen that `key`
    /// gives an object another label than before.
    pub fn from_fn(n: usize, key: impl Fn(usize) -> Option<u64>) -> Result<Self> {
        Self::from_keys(n, &|first, keys| {
            for (i, to) in (first..).zip(keys) {
                *to = key(i);
            }
        })
    }

    /// A partition of `n` objects whose raw labels `write(first, out)` writes from an object on. In
    /// blocks, so that this is compiled once and costs a virtual call per block.
    fn from_keys(n: usize, write: &dyn Fn(usize, &mut [Option<u64>])) -> Result<Self> {
        ensure!(n > 0, empty("a partition needs at least one object"));
        checks::numbered(n)?;
        let blocks = |with: &mut dyn FnMut(&[Option<u64>]) -> Result<()>| {
            let mut keys = [None; BLOCK];
            (0..n).step_by(BLOCK).try_for_each(|first| {
                let keys = &mut keys[..BLOCK.min(n - first)];
                write(first, keys);
                with(keys)
            })
        };
        let mut largest = 0;
        let mut labelled = 0;
        blocks(&mut |keys| {
            for key in keys.iter().flatten() {
                largest = largest.max(*key);
                labelled += 1;
            }
            Ok(())
        })?;
        let mut numbers = if largest < TABLE {
            let slots = if labelled > 0 { largest as usize + 1 } else { 0 };
            Numbers::Table { of: room::filled(slots, UNSEEN)?, clusters: 0 }
        } else {
            Numbers::Map(FxHashMap::default())
        };
        blocks(&mut |keys| numbers.take_in(keys))?;
        let clusters = numbers.count();
        let mut labels = Labels::with_capacity(n, clusters)?;
        let mut canonical = [None; BLOCK];
        let (mut next, mut left) = (0, labelled);
        blocks(&mut |keys| {
            let canonical = &mut canonical[..keys.len()];
            numbers.look_up(keys, canonical);
            for &cluster in canonical.iter().flatten() {
                ensure_steady(cluster <= next && left > 0)?;
                next += usize::from(cluster == next);
                left -= 1;
            }
            labels.append(canonical);
            Ok(())
        })?;
        ensure_steady(next == clusters && left == 0)?;
        Ok(Partition { labels: Arc::new(labels), clusters, labelled })
    }

    /// A partition from labels of any type that compares equal: names of species, strings, pairs of
    /// numbers. `None` is unlabelled. The values come back in the order of the clusters, so that
    /// cluster `c` of the partition is what the user called `values[c]`.
    ///
    /// ```
    /// use consilience::Partition;
    ///
    /// let cells = [Some("red"), Some("blue"), None, Some("red")];
    /// let (colours, names) = Partition::from_values(cells)?;
    /// assert_eq!(colours.to_signed(), [0, 1, -1, 0]);
    /// assert_eq!(names, ["red", "blue"]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Partition::from_labels`].
    ///
    /// # Complexity
    /// O(n) expected time, four bytes per object and the distinct values while it runs.
    pub fn from_values<T: Eq + Hash + Clone>(
        values: impl IntoIterator<Item = Option<T>>,
    ) -> Result<(Self, Vec<T>)> {
        let mut numbers: HashMap<T, u32> = HashMap::new();
        let mut distinct = Vec::new();
        let mut raw: Vec<u32> = Vec::new();
        for value in values {
            let most = u32::MAX - 1;
            ensure!(
                raw.len() < most as usize,
                too_large("more than {most} objects are not supported")
            );
            let number = match value {
                None => UNSEEN,
                Some(value) => match numbers.entry(value) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(fresh) => {
                        let number = distinct.len() as u32;
                        distinct.push(fresh.key().clone());
                        *fresh.insert(number)
                    }
                },
            };
            raw.push(number);
        }
        let partition =
            Self::from_fn(raw.len(), |i| (raw[i] != UNSEEN).then_some(u64::from(raw[i])))?;
        Ok((partition, distinct))
    }

    /// All objects in one cluster.
    ///
    /// # Errors
    /// As [`Partition::from_labels`].
    pub fn single_cluster(n: usize) -> Result<Self> {
        Self::from_fn(n, |_| Some(0))
    }

    /// Number of objects, labelled or not.
    pub fn n_objects(&self) -> usize {
        self.labels().len()
    }

    /// Number of clusters; 0 where no object is labelled.
    #[doc(alias = "k")]
    pub fn n_clusters(&self) -> usize {
        self.clusters
    }

    /// Number of labelled objects.
    pub fn n_labelled(&self) -> usize {
        self.labelled
    }

    /// Whether every object is labelled.
    pub fn is_complete(&self) -> bool {
        self.labelled == self.n_objects()
    }

    /// Cluster of one object, `None` where it is unlabelled. Panics beyond the end, as a slice
    /// does.
    pub fn label(&self, object: usize) -> Option<usize> {
        self.labels().get(object)
    }

    /// The labels in their stored width.
    pub fn labels(&self) -> LabelSlice<'_> {
        self.labels.as_slice()
    }

    /// Labels in order, `None` where unlabelled.
    pub fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.labels().iter()
    }

    /// Labels as signed integers, -1 where unlabelled: the form that files use.
    pub fn to_signed(&self) -> Vec<i64> {
        self.iter().map(|l| l.map_or(-1, |l| l as i64)).collect()
    }

    /// Number of objects in each cluster.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0usize; self.clusters];
        with_labels!(self.labels(), |labels| {
            for &l in labels {
                if !l.is_missing() {
                    sizes[l.index()] += 1;
                }
            }
        });
        sizes
    }

    /// The same grouping of the chosen objects, in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for an object that does not exist, [`ErrorKind::Empty`] for none.
    pub fn select(&self, objects: &[usize]) -> Result<Self> {
        let n = self.n_objects();
        checks::exist(objects, n)?;
        Self::from_fn(objects.len(), |i| self.label(objects[i]).map(|l| l as u64))
    }

    /// Adds objects at the end, each in a cluster that exists or, with `None`, unlabelled.
    ///
    /// ```
    /// use consilience::Partition;
    ///
    /// let mut p = Partition::from_labels(&[3, 3, 8])?;
    /// p.append(&[Some(1), None])?;
    /// assert_eq!(p.to_signed(), vec![0, 0, 1, 1, -1]);
    /// assert!(p.append(&[Some(2)]).is_err());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] for a cluster that does not exist, [`ErrorKind::TooLarge`] from
    /// 2^32 - 1 objects on; nothing has changed then.
    ///
    /// # Complexity
    /// Amortised O(objects added).
    pub fn append(&mut self, clusters: &[Option<usize>]) -> Result<()> {
        if let Some((i, c)) = clusters
            .iter()
            .enumerate()
            .find_map(|(i, c)| Some((i, c.filter(|&c| c >= self.clusters)?)))
        {
            return Err(Error::out_of_range(format!(
                "cluster {c} of {} for new object {i}",
                self.clusters
            )));
        }
        let n = self.n_objects().saturating_add(clusters.len());
        checks::numbered(n)?;
        Arc::make_mut(&mut self.labels).append(clusters);
        self.labelled += clusters.iter().flatten().count();
        Ok(())
    }

    /// Bytes that the labels take.
    pub fn label_bytes(&self) -> usize {
        self.n_objects() * self.labels().width()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_number_of_clusters() {
        let of = |k: u32| {
            let labels: Vec<u32> = (0..70_000).map(|i| i % k).collect();
            Partition::from_labels(&labels).unwrap()
        };
        for (k, width) in [(254, 1), (255, 2), (65_534, 2), (65_535, 4)] {
            let p = of(k);
            assert_eq!(p.n_clusters(), k as usize);
            assert_eq!(p.labels().width(), width, "{k} clusters");
            assert_eq!(p.label(k as usize - 1), Some(k as usize - 1));
            assert!(p.is_complete());
        }
    }

    #[test]
    fn gaps_huge_values_and_order_leave_no_trace() {
        let plain = Partition::from_labels(&[0i64, 1, 1, 2, -1, 0]).unwrap();
        let wild = Partition::from_labels(&[1i64 << 40, 3, 3, i64::MAX, -7, 1 << 40]).unwrap();
        assert_eq!(plain, wild);
        assert_eq!(plain.sizes(), vec![2, 2, 1]);
        assert_eq!(plain.n_labelled(), 5);
        assert_eq!(plain.to_signed(), vec![0, 1, 1, 2, -1, 0]);
    }

    #[test]
    fn unlabelled_everywhere_is_a_partition_without_clusters() {
        let p = Partition::from_labels(&[-1i8, -1]).unwrap();
        assert_eq!((p.n_objects(), p.n_clusters(), p.n_labelled()), (2, 0, 0));
    }

    #[test]
    fn values_of_any_type_group_as_numbers_do() {
        let values = [Some("b"), None, Some("a"), Some("b"), Some("")];
        let (p, names) = Partition::from_values(values.map(|v| v.map(String::from))).unwrap();
        assert_eq!(p, Partition::from_labels(&[5, -1, 2, 5, 9]).unwrap());
        assert_eq!(names, ["b", "a", ""]);
        let (p, names) = Partition::from_values([None::<(u8, char)>, None]).unwrap();
        assert_eq!((p.n_clusters(), names.len()), (0, 0));
        let none: [Option<u8>; 0] = [];
        assert_eq!(Partition::from_values(none).unwrap_err().kind(), ErrorKind::Empty);
    }

    #[test]
    fn labels_that_change_are_refused() {
        use std::cell::Cell;
        // What the three looks at 700 objects see.
        let seen = |looks: [fn(usize) -> Option<u64>; 3]| {
            let asked = Cell::new(0);
            Partition::from_fn(700, |i| {
                let look = asked.replace(asked.get() + 1) / 700;
                looks[look](i)
            })
        };
        const HUGE: u64 = 1 << 40;
        let steady: fn(usize) -> Option<u64> = |i| Some(i as u64 % 3);
        assert_eq!(seen([steady; 3]).unwrap().n_clusters(), 3);
        let others: [fn(usize) -> Option<u64>; 5] = [
            |i| Some(i as u64 % 4),
            |i| Some(i as u64 % 3 + HUGE),
            |i| Some(2 - i as u64 % 3),
            |i| (i < 600).then_some(i as u64 % 3),
            |_| Some(0),
        ];
        for other in others {
            let error = seen([steady, steady, other]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            // Whatever was seen in between, what comes out is a partition.
            for looks in [[steady, other, steady], [other, steady, steady], [other, steady, other]]
            {
                if let Ok(found) = seen(looks) {
                    assert!(found.sizes().iter().all(|&size| size > 0));
                    assert_eq!(found.sizes().iter().sum::<usize>(), found.n_labelled());
                }
            }
        }
    }

    #[test]
    fn select_checks_and_renumbers() {
        let p = Partition::from_labels(&[5, 6, 7, 6]).unwrap();
        let s = p.select(&[3, 2, 1]).unwrap();
        assert_eq!(s, Partition::from_labels(&[0, 1, 0]).unwrap());
        let e = p.select(&[4]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::OutOfRange);
        assert!(e.message().contains('4'));
    }
}
