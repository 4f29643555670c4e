//! Labels in the narrowest integer that fits, with the largest value of the type reserved for
//! "unlabelled".

use crate::{Result, room};

/// The integers that labels are stored in.
///
/// What [`with_labels!`](crate::with_labels) hands on; its example shows it in use.
pub trait LabelInt:
    Copy + Eq + Ord + Send + Sync + std::fmt::Debug + 'static + sealed::Sealed
{
    /// The reserved value of an unlabelled object.
    const MISSING: Self;
    /// Whether the object is unlabelled.
    #[inline(always)]
    fn is_missing(self) -> bool {
        self == Self::MISSING
    }
    /// The label as an index; meaningless for [`LabelInt::MISSING`].
    fn index(self) -> usize;
    /// The narrow form of an index that is known to fit.
    fn from_index(index: usize) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! label_int {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl LabelInt for $t {
            const MISSING: Self = <$t>::MAX;
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn from_index(index: usize) -> Self {
                index as $t
            }
        }
    )*};
}
label_int!(u8, u16, u32);

/// A borrowed column of labels in its stored width: `0..k`, or the type's largest value where the
/// object is unlabelled.
///
/// For loops over millions of labels; [`with_labels!`](crate::with_labels) runs one expression for
/// all three widths.
///
/// ```
/// use consilience::Partition;
/// use consilience::core::LabelSlice;
///
/// let partition = Partition::from_labels(&[3, 3, -1, 8])?;
/// let LabelSlice::U8(labels) = partition.labels() else { unreachable!() };
/// assert_eq!(labels, [0, 0, u8::MAX, 1]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum LabelSlice<'a> {
    /// Fewer than 255 clusters.
    U8(&'a [u8]),
    /// Fewer than 65,535 clusters.
    U16(&'a [u16]),
    /// Everything else.
    U32(&'a [u32]),
}

/// Runs one expression with the slice of whatever width is stored.
///
/// ```
/// use consilience::Partition;
/// use consilience::core::{LabelInt, with_labels};
///
/// let p = Partition::from_labels(&[4, 4, 9]).unwrap();
/// let distinct = with_labels!(p.labels(), |l| l.iter().map(|x| x.index()).max());
/// assert_eq!(distinct, Some(1));
/// ```
#[macro_export]
macro_rules! with_labels {
    ($slice:expr, |$l:ident| $body:expr) => {
        match $slice {
            $crate::LabelSlice::U8($l) => $body,
            $crate::LabelSlice::U16($l) => $body,
            $crate::LabelSlice::U32($l) => $body,
        }
    };
}

impl<'a> LabelSlice<'a> {
    /// Number of objects.
    pub fn len(&self) -> usize {
        with_labels!(*self, |l| l.len())
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes per object.
    pub fn width(&self) -> usize {
        match self {
            LabelSlice::U8(_) => 1,
            LabelSlice::U16(_) => 2,
            LabelSlice::U32(_) => 4,
        }
    }

    /// Label of one object, `None` where it is unlabelled. Panics beyond the end, as a slice does.
    #[inline]
    pub fn get(&self, object: usize) -> Option<usize> {
        with_labels!(*self, |l| decode(l[object]))
    }

    /// All labels in order.
    pub fn iter(self) -> impl Iterator<Item = Option<usize>> + 'a {
        (0..self.len()).map(move |i| self.get(i))
    }
}

#[inline(always)]
fn decode<L: LabelInt>(label: L) -> Option<usize> {
    if label.is_missing() { None } else { Some(label.index()) }
}

/// Owned labels; see [`LabelSlice`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl Labels {
    pub(crate) fn as_slice(&self) -> LabelSlice<'_> {
        match self {
            Labels::U8(v) => LabelSlice::U8(v),
            Labels::U16(v) => LabelSlice::U16(v),
            Labels::U32(v) => LabelSlice::U32(v),
        }
    }

    /// Adds labels that fit the stored width.
    pub(crate) fn append(&mut self, labels: &[Option<usize>]) {
        fn push<L: LabelInt>(to: &mut Vec<L>, labels: &[Option<usize>]) {
            to.extend(labels.iter().map(|l| l.map_or(L::MISSING, L::from_index)));
        }
        match self {
            Labels::U8(v) => push(v, labels),
            Labels::U16(v) => push(v, labels),
            Labels::U32(v) => push(v, labels),
        }
    }

    /// None yet, with room for the labels of `n` objects in `clusters` clusters.
    pub(crate) fn with_capacity(n: usize, clusters: usize) -> Result<Self> {
        Ok(if clusters < u8::MAX as usize {
            Labels::U8(room::with_capacity(n)?)
        } else if clusters < u16::MAX as usize {
            Labels::U16(room::with_capacity(n)?)
        } else {
            Labels::U32(room::with_capacity(n)?)
        })
    }
}

/// An integer that a user's labels may come in: negative numbers and `None` mean unlabelled.
///
/// What [`Partition::from_labels`](crate::Partition::from_labels) and
/// [`Ensemble::from_array`](crate::Ensemble::from_array) take:
///
/// ```
/// use consilience::Partition;
///
/// let same = Partition::from_labels(&[0u8, 1, 1])?;
/// assert_eq!(Partition::from_labels(&[-7i64, 1, 1])?.to_signed(), [-1, 0, 0]);
/// assert_eq!(Partition::from_labels(&[Some(400usize), Some(7), Some(7)])?, same);
/// # Ok::<(), consilience::Error>(())
/// ```
pub trait RawLabel: Copy {
    /// The label as a key, `None` where the object is unlabelled.
    fn key(self) -> Option<u64>;
}

macro_rules! raw_label_unsigned {
    ($($t:ty),*) => {$(impl RawLabel for $t {
        #[inline(always)]
        fn key(self) -> Option<u64> {
            Some(self as u64)
        }
    })*};
}
macro_rules! raw_label_signed {
    ($($t:ty),*) => {$(impl RawLabel for $t {
        #[inline(always)]
        fn key(self) -> Option<u64> {
            (self >= 0).then_some(self as u64)
        }
    })*};
}
raw_label_unsigned!(u8, u16, u32, u64, usize);
raw_label_signed!(i8, i16, i32, i64, isize);

impl<T: RawLabel> RawLabel for Option<T> {
    #[inline(always)]
    fn key(self) -> Option<u64> {
        self.and_then(RawLabel::key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Partition;

    /// The largest value of a type is reserved: the width grows one cluster before it would be met.
    #[test]
    fn labels_take_the_narrowest_integer_that_leaves_a_value_free() {
        for (clusters, width) in [(1, 1), (254, 1), (255, 2), (65_534, 2), (65_535, 4)] {
            let mut raw: Vec<i64> = (0..clusters).collect();
            raw.insert(1, -1);
            let partition = Partition::from_labels(&raw).unwrap();
            let labels = partition.labels();
            assert_eq!((labels.width(), labels.len()), (width, raw.len()), "{clusters}");
            assert!(!labels.is_empty());
            let expected = raw.iter().map(|&l| usize::try_from(l).ok());
            assert!(labels.iter().eq(expected.clone()), "{clusters}");
            assert!(expected.enumerate().all(|(i, l)| labels.get(i) == l), "{clusters}");
        }
        assert!(LabelSlice::U8(&[]).is_empty());
    }

    #[test]
    fn raw_labels_of_every_type() {
        assert_eq!((7u8.key(), 0i8.key(), (-1i64).key()), (Some(7), Some(0), None));
        assert_eq!((u64::MAX.key(), i16::MIN.key()), (Some(u64::MAX), None));
        assert_eq!(
            (Some(3u32).key(), None::<u32>.key(), Some(-3isize).key()),
            (Some(3), None, None)
        );
    }

    #[test]
    fn more_labels_are_appended_in_the_width_that_is_there() {
        for clusters in [3, 300, 70_000] {
            let mut labels = Labels::with_capacity(1, clusters).unwrap();
            labels.append(&[Some(0)]);
            labels.append(&[None, Some(2)]);
            let all: Vec<_> = labels.as_slice().iter().collect();
            assert_eq!(all, [Some(0), None, Some(2)], "{clusters}");
        }
    }
}
