use consilience_core::{Error, ErrorKind, Result, ensure, room};

use super::thresholds::Thresholds;

/// Entries of a symmetric matrix that are known: what [`RobustCompletion`](crate::RobustCompletion)
/// completes.
///
/// ```
/// use consilience::completion::ObservedPairs;
///
/// let observed = ObservedPairs::new(3, &[(0, 0, 1.0), (0, 1, 1.0), (2, 1, 0.0)])?;
/// assert_eq!((observed.n_objects(), observed.n_entries()), (3, 5));
/// # Ok::<(), consilience::Error>(())
/// ```
#[doc(alias = "partially observed matrix")]
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedPairs {
    pub(crate) offsets: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
    /// Objects that each row represents; `None` for one each.
    pub(crate) sizes: Option<Vec<f64>>,
}

impl ObservedPairs {
    /// Known entries (i, j, value), each pair once and in any order; the mirrored entry is meant as
    /// well.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects or entries, [`ErrorKind::OutOfRange`],
    /// [`ErrorKind::NonFinite`] and, for a pair that is given twice,
    /// [`ErrorKind::InvalidParameter`], with the place.
    pub fn new(objects: usize, entries: &[(usize, usize, f64)]) -> Result<Self> {
        ensure!(
            objects > 0 && !entries.is_empty(),
            empty("{} known entries of {objects} objects", entries.len())
        );
        check_objects(objects)?;
        let mut both = room::with_capacity(2 * entries.len())?;
        for (at, &(i, j, value)) in entries.iter().enumerate() {
            check_entry(at, (i, j, value), objects)?;
            both.push((i as u32, j as u32, value));
            if i != j {
                both.push((j as u32, i as u32, value));
            }
        }
        Self::collect(objects, both)
    }

    /// The pairs whose share is beyond a threshold, from (i, j, share), each pair once and in any
    /// order. An object that occurs is the same as itself. Others are unknown; there may be none at
    /// all.
    ///
    /// ```
    /// use consilience::completion::{ObservedPairs, Thresholds};
    ///
    /// let shares = [(0, 1, 1.0), (0, 2, 0.5), (1, 2, 0.0)];
    /// let known = ObservedPairs::from_shares(4, shares, Thresholds::new(0.1, 0.9)?)?;
    /// assert_eq!(known.row(1).collect::<Vec<_>>(), [(0, 1.0), (1, 1.0), (2, 0.0)]);
    /// assert_eq!(known.row(3).count(), 0);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] without objects, [`ErrorKind::OutOfRange`], [`ErrorKind::NonFinite`]
    /// and, for a pair that is given twice or an object with itself,
    /// [`ErrorKind::InvalidParameter`], with the place.
    pub fn from_shares(
        objects: usize,
        shares: impl IntoIterator<Item = (usize, usize, f64)>,
        thresholds: Thresholds,
    ) -> Result<Self> {
        ensure!(objects > 0, empty("known entries of 0 objects"));
        check_objects(objects)?;
        let mut both = Vec::new();
        let mut occurs = vec![false; objects];
        for (at, (i, j, share)) in shares.into_iter().enumerate() {
            check_entry(at, (i, j, share), objects)?;
            for o in [i, j] {
                if !occurs[o] {
                    occurs[o] = true;
                    both.push((o as u32, o as u32, 1.0));
                }
            }
            if let Some(value) = thresholds.value(share) {
                both.push((i as u32, j as u32, value));
                both.push((j as u32, i as u32, value));
            }
        }
        Self::collect(objects, both)
    }

    /// From entries with their mirrored ones.
    fn collect(objects: usize, mut both: Vec<(u32, u32, f64)>) -> Result<Self> {
        both.sort_unstable_by_key(|e| (e.0, e.1));
        if let Some(twice) = both.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            return Err(Error::invalid(format!(
                "pair ({}, {}) is given twice",
                twice[0].0, twice[0].1
            )));
        }
        let mut out = ObservedPairs {
            offsets: vec![0],
            columns: room::with_capacity(both.len())?,
            values: room::with_capacity(both.len())?,
            sizes: None,
        };
        for (i, j, value) in both {
            while out.offsets.len() <= i as usize {
                out.offsets.push(out.columns.len());
            }
            out.columns.push(j);
            out.values.push(value);
        }
        out.offsets.resize(objects + 1, out.columns.len());
        Ok(out)
    }

    /// Rows as a closure pushes them, sorted here.
    pub(crate) fn from_rows(
        objects: usize,
        mut fill: impl FnMut(usize, &mut Vec<(u32, f64)>),
    ) -> Self {
        let mut out = ObservedPairs {
            offsets: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            sizes: None,
        };
        let mut row = Vec::new();
        for i in 0..objects {
            row.clear();
            fill(i, &mut row);
            row.sort_unstable_by_key(|e| e.0);
            out.columns.extend(row.iter().map(|e| e.0));
            out.values.extend(row.iter().map(|e| e.1));
            out.offsets.push(out.columns.len());
        }
        out
    }

    /// Number of objects.
    pub fn n_objects(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of known entries, the mirrored ones and the diagonal included.
    pub fn n_entries(&self) -> usize {
        self.columns.len()
    }

    /// Known entries as a share of all, `p`.
    pub fn density(&self) -> f64 {
        match &self.sizes {
            None => {
                let n = self.n_objects() as f64;
                if n > 0.0 { self.n_entries() as f64 / (n * n) } else { 0.0 }
            }
            Some(sizes) => {
                let n: f64 = sizes.iter().sum();
                let known =
                    |(i, s): (usize, &f64)| s * self.row(i).map(|(j, _)| sizes[j]).sum::<f64>();
                if n > 0.0 {
                    sizes.iter().enumerate().map(known).sum::<f64>() / (n * n)
                } else {
                    0.0
                }
            }
        }
    }

    /// The known entries of one row as (column, value), columns ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[i]..self.offsets[i + 1];
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(&j, &v)| (j as usize, v))
    }

    /// The objects that something is known of, ascending; `None` where that is all of them, or
    /// none.
    pub(crate) fn known_objects(&self) -> Result<Option<Vec<u32>>> {
        let known = |i: &usize| self.offsets[*i] < self.offsets[*i + 1];
        let count = (0..self.n_objects()).filter(known).count();
        if count == 0 || count == self.n_objects() {
            return Ok(None);
        }
        room::collected((0..self.n_objects()).filter(known).map(|i| i as u32)).map(Some)
    }

    /// The entries of these objects alone, which are those that something is known of.
    pub(crate) fn of_objects(&self, objects: &[u32]) -> Result<Self> {
        let mut place = room::zeros::<u32>(self.n_objects())?;
        objects.iter().zip(0..).for_each(|(&i, at)| place[i as usize] = at);
        let ends = objects.iter().map(|&i| self.offsets[i as usize + 1]);
        let sizes = self.sizes.as_ref();
        Ok(ObservedPairs {
            // Rows without entries end where those before them do.
            offsets: room::collected(std::iter::once(0).chain(ends))?,
            columns: room::collected(self.columns.iter().map(|&j| place[j as usize]))?,
            values: room::copied(&self.values)?,
            sizes: sizes.map(|sizes| objects.iter().map(|&i| sizes[i as usize]).collect()),
        })
    }

    /// Number of objects that the rows represent.
    pub(crate) fn weight(&self) -> f64 {
        self.sizes.as_ref().map_or(self.n_objects() as f64, |s| s.iter().sum())
    }
}

fn check_objects(objects: usize) -> Result<()> {
    if objects >= u32::MAX as usize {
        let what = format!("{objects} objects; at most {}", u32::MAX - 1);
        return Err(Error::new(ErrorKind::TooLarge, what));
    }
    Ok(())
}

fn check_entry(at: usize, (i, j, value): (usize, usize, f64), objects: usize) -> Result<()> {
    ensure!(i.max(j) < objects, out_of_range("entry {at}: pair ({i}, {j}) of {objects} objects"));
    if !value.is_finite() {
        return Err(Error::non_finite("known entries", i, j, value));
    }
    Ok(())
}
