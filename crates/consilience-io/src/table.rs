//! Label columns that narrow themselves while they are read.

use std::hash::Hash;

use consilience_core::{Ensemble, Error, Partition, Result};
use ndarray::Array2;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::allowance::{Allowance, bytes_of, no_room};
use crate::fault::{ensure_format, excerpt, malformed};
use crate::ids::Texts;
use crate::label::Label;
use crate::label_table::LabelTable;
use crate::roles::{ONLY_IDS, Wanted, order_of_columns, position};

/// One number of a file.
pub(crate) trait Cell: Copy + Send + Sync {
    /// The number as a raw label, `None` for unlabelled.
    fn label(self) -> std::result::Result<Option<u64>, String>;
    /// The number as a feature.
    fn float(self) -> f64;
}

macro_rules! integer_cells {
    ($($t:ty),*) => {$(impl Cell for $t {
        #[inline(always)]
        fn label(self) -> std::result::Result<Option<u64>, String> {
            Ok(u64::try_from(self).ok())
        }
        #[inline(always)]
        fn float(self) -> f64 {
            self as f64
        }
    })*};
}
integer_cells!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Cell for bool {
    fn label(self) -> std::result::Result<Option<u64>, String> {
        Ok(Some(u64::from(self)))
    }
    fn float(self) -> f64 {
        f64::from(u8::from(self))
    }
}

impl Cell for f64 {
    /// Labels often travel as floats, with NaN for unlabelled, because their table had gaps.
    fn label(self) -> std::result::Result<Option<u64>, String> {
        if self.is_nan() {
            return Ok(None);
        }
        if self.fract() != 0.0 || self.is_infinite() {
            return Err(format!("{self:?} is no label; expected a whole number"));
        }
        if self >= 18_446_744_073_709_551_616.0 {
            return Err(format!("label {self:e} is too large; expected less than 2^64"));
        }
        Ok((self >= 0.0).then_some(self as u64))
    }
    fn float(self) -> f64 {
        self
    }
}

impl Cell for f32 {
    fn label(self) -> std::result::Result<Option<u64>, String> {
        f64::from(self).label()
    }
    fn float(self) -> f64 {
        f64::from(self)
    }
}

/// Says where in a file something is wrong; rows and columns are counted from 0, as in the library.
pub(crate) fn at(row: usize, column: usize, what: impl std::fmt::Display) -> Error {
    malformed(format!("row {row}, column {column}: {what}"))
}

/// Keys below this are renumbered through a table, others through a map.
const TABLE: u64 = 1 << 16;
const UNSEEN: u32 = u32::MAX;

/// One column of labels, renumbered as it is read: one byte per object until there are 255
/// clusters, then two, then four. So a table of 64-bit labels never takes eight bytes per label.
pub(crate) struct LabelColumn {
    numbers: Numbers,
    table: Vec<u32>,
    map: FxHashMap<u64, u32>,
    /// The numbers of labels that are text.
    texts: FxHashMap<Box<str>, u32>,
    /// The raw label of each number; 0 where it is text.
    keys: Vec<u64>,
    clusters: u32,
    /// How many objects are unlabelled by a word such as `NA`.
    pub(crate) words: usize,
    allowance: Allowance,
}

enum Numbers {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl LabelColumn {
    fn new(allowance: &Allowance) -> Self {
        LabelColumn {
            numbers: Numbers::U8(Vec::new()),
            table: Vec::new(),
            map: FxHashMap::default(),
            texts: FxHashMap::default(),
            keys: Vec::new(),
            clusters: 0,
            words: 0,
            allowance: allowance.clone(),
        }
    }

    /// Adds the label of the next object.
    #[inline]
    pub(crate) fn push(&mut self, key: Option<u64>) -> Result<()> {
        let number = match key {
            None => UNSEEN,
            Some(key) if key < self.table.len() as u64 && self.table[key as usize] != UNSEEN => {
                self.table[key as usize]
            }
            Some(key) => self.number(key)?,
        };
        self.push_number(number)
    }

    #[inline]
    fn push_number(&mut self, number: u32) -> Result<()> {
        match &mut self.numbers {
            Numbers::U8(v) => self.allowance.push(v, number as u8),
            Numbers::U16(v) => self.allowance.push(v, number as u16),
            Numbers::U32(v) => self.allowance.push(v, number),
        }
    }

    /// Adds the label of the next object, which may be text.
    #[inline]
    pub(crate) fn push_label(&mut self, label: Label<'_>) -> Result<()> {
        match label {
            Label::None => self.push(None),
            Label::Number(key) => self.push(Some(key)),
            Label::Text(text) => {
                let number = match self.texts.get(text) {
                    Some(&number) => number,
                    None => self.text_number(text)?,
                };
                self.push_number(number)
            }
            Label::Word => {
                self.words += 1;
                self.push(None)
            }
        }
    }

    /// The number of a text that is new.
    #[cold]
    fn text_number(&mut self, text: &str) -> Result<u32> {
        let fresh = self.clusters;
        make_room(&mut self.texts, &self.allowance)?;
        // The text, and what the allocator keeps beside it.
        self.allowance.take(text.len() as u64 + 16)?;
        self.texts.insert(text.into(), fresh);
        self.add_cluster(0)?;
        Ok(fresh)
    }

    /// One cluster more.
    fn add_cluster(&mut self, key: u64) -> Result<()> {
        // Saturates where the library refuses the number of objects anyway.
        self.clusters = self.clusters.saturating_add(1);
        self.allowance.push(&mut self.keys, key)?;
        self.widen()
    }

    /// The number of a key that the table does not know.
    #[cold]
    fn number(&mut self, key: u64) -> Result<u32> {
        let fresh = self.clusters;
        let number = if key < TABLE {
            let missing = (key as usize + 1).saturating_sub(self.table.len());
            if self.table.capacity() <= key as usize {
                self.allowance.grow(&mut self.table, missing)?;
            }
            self.table.resize(self.table.len() + missing, UNSEEN);
            self.table[key as usize] = fresh;
            fresh
        } else {
            make_room(&mut self.map, &self.allowance)?;
            *self.map.entry(key).or_insert(fresh)
        };
        if number == fresh {
            self.add_cluster(key)?;
        }
        Ok(number)
    }

    /// Keeps the largest value of the width free for "unlabelled".
    fn widen(&mut self) -> Result<()> {
        fn wider<A: Copy + PartialEq, B: Copy>(
            old: &[A],
            missing: A,
            none: B,
            cast: impl Fn(A) -> B,
            allowance: &Allowance,
        ) -> Result<Vec<B>> {
            // Room for the label that made the column wider, too.
            let mut new = allowance.room(old.len() + 1)?;
            new.extend(old.iter().map(|&x| if x == missing { none } else { cast(x) }));
            allowance.give_back(bytes_of::<A>(old.len()));
            Ok(new)
        }
        let allowance = &self.allowance;
        match &self.numbers {
            Numbers::U8(v) if self.clusters > u32::from(u8::MAX) => {
                self.numbers = Numbers::U16(wider(v, u8::MAX, u16::MAX, u16::from, allowance)?);
            }
            Numbers::U16(v) if self.clusters > u32::from(u16::MAX) => {
                self.numbers = Numbers::U32(wider(v, u16::MAX, u32::MAX, u32::from, allowance)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether some label is text.
    pub(crate) fn has_text(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Whether a cell holds text that the column has already.
    pub(crate) fn knows_text(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }

    /// Whether every object has a label of its own, and each of them is text.
    pub(crate) fn is_ids(&self) -> bool {
        self.texts.len() == self.len() && self.len() > 0
    }

    /// The label of each object, where each has a number of its own and none is missing.
    pub(crate) fn numbers_apart(&self) -> Option<&[u64]> {
        // Clusters are numbered as they appear.
        (self.texts.is_empty() && self.keys.len() == self.len()).then_some(&self.keys)
    }

    /// What the label of each object is called, in the order of the objects; empty for unlabelled.
    pub(crate) fn into_texts(mut self) -> Result<Texts> {
        let (keys, texts) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.texts));
        let values = ColumnValues::new(keys, texts, &self.allowance)?;
        let mut texts = Texts::default();
        for row in 0..self.len() {
            let name = self.get(row).map(|number| values.name(number)).unwrap_or_default();
            texts.push(&name, &self.allowance)?;
        }
        Ok(texts)
    }

    /// Puts an object in front of all others.
    pub(crate) fn push_front(&mut self, label: Label<'_>) -> Result<()> {
        let mut all = LabelColumn::new(&self.allowance);
        all.push_label(label)?;
        let texts = std::mem::take(&mut self.texts);
        let keys = std::mem::take(&mut self.keys);
        let values = ColumnValues::new(keys, texts, &self.allowance)?;
        for row in 0..self.len() {
            all.push_label(match self.get(row) {
                None => Label::None,
                Some(number) => match values.text(number) {
                    Some(text) => Label::Text(text),
                    None => Label::Number(values.keys[number]),
                },
            })?;
        }
        all.words += self.words;
        *self = all;
        Ok(())
    }

    fn len(&self) -> usize {
        match &self.numbers {
            Numbers::U8(v) => v.len(),
            Numbers::U16(v) => v.len(),
            Numbers::U32(v) => v.len(),
        }
    }

    /// The number of an object's label, `None` for unlabelled.
    fn get(&self, row: usize) -> Option<usize> {
        match &self.numbers {
            Numbers::U8(v) => (v[row] != u8::MAX).then_some(usize::from(v[row])),
            Numbers::U16(v) => (v[row] != u16::MAX).then_some(usize::from(v[row])),
            Numbers::U32(v) => (v[row] != u32::MAX).then_some(v[row] as usize),
        }
    }

    /// The number that each label of another column has in this one, or why it has none.
    fn numbers_of(
        &self,
        other: &LabelColumn,
        member: usize,
    ) -> Result<Vec<std::result::Result<i64, String>>> {
        let missing =
            |label: String| format!("label {label}; expected one that member {member} has already");
        let mut numbers = other.allowance.room(other.keys.len())?;
        for &key in &other.keys {
            let known = self.known(key).map(i64::from);
            numbers.push(known.ok_or_else(|| missing(key.to_string())));
        }
        for (text, &number) in &other.texts {
            let known = self.texts.get(text).copied().map(i64::from);
            numbers[number as usize] = known.ok_or_else(|| missing(format!("{:?}", excerpt(text))));
        }
        Ok(numbers)
    }

    /// The number of a raw label, if the column has it.
    fn known(&self, key: u64) -> Option<u32> {
        let of_table = self.table.get(key as usize).copied().filter(|&number| number != UNSEEN);
        if key < TABLE { of_table } else { self.map.get(&key).copied() }
    }

    /// The column as a clustering, and what its clusters are called.
    fn into_clustering(self) -> Result<(Partition, ColumnValues)> {
        let partition = self.partition()?;
        Ok((partition, ColumnValues::new(self.keys, self.texts, &self.allowance)?))
    }

    fn partition(&self) -> Result<Partition> {
        Partition::from_fn(self.len(), |i| self.get(i).map(|number| number as u64))
    }
}

/// Makes room for one entry more.
fn make_room<K: Eq + Hash, V>(map: &mut FxHashMap<K, V>, allowance: &Allowance) -> Result<()> {
    let entries = map.capacity();
    if map.len() == entries {
        // A map doubles, and has eight slots for seven entries.
        allowance.take(bytes_of::<(K, V)>(entries.max(4)).saturating_mul(2))?;
        map.try_reserve(1).map_err(|_| no_room::<(K, V)>(entries + 1))?;
    }
    Ok(())
}

/// What the labels of a column were in its file, by cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnValues {
    keys: Vec<u64>,
    /// One for each cluster where some label is text, and none otherwise.
    texts: Vec<Option<Box<str>>>,
}

impl ColumnValues {
    fn new(keys: Vec<u64>, texts: FxHashMap<Box<str>, u32>, allowance: &Allowance) -> Result<Self> {
        let mut by_number = Vec::new();
        if !texts.is_empty() {
            by_number = allowance.room(keys.len())?;
            by_number.resize(keys.len(), None);
            for (text, number) in texts {
                by_number[number as usize] = Some(text);
            }
        }
        Ok(ColumnValues { keys, texts: by_number })
    }

    /// The numbers of so many clusters.
    pub(crate) fn numbered(clusters: usize) -> Self {
        ColumnValues { keys: (0..clusters as u64).collect(), texts: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn has_text(&self) -> bool {
        !self.texts.is_empty()
    }

    /// The name of a cluster, where it is text.
    pub(crate) fn text(&self, cluster: usize) -> Option<&str> {
        self.texts.get(cluster)?.as_deref()
    }

    /// The name of a cluster, or its number in the file.
    pub(crate) fn name(&self, cluster: usize) -> String {
        match self.text(cluster) {
            Some(text) => text.to_owned(),
            None => self.keys[cluster].to_string(),
        }
    }
}

/// The label columns of a file.
pub(crate) struct LabelColumns {
    pub(crate) columns: Vec<LabelColumn>,
    /// What they are called.
    pub(crate) names: Vec<String>,
    /// What the objects are called.
    pub(crate) ids: Option<Texts>,
}

impl LabelColumns {
    /// That many empty columns.
    pub(crate) fn new(names: Vec<String>, allowance: &Allowance) -> Result<Self> {
        let mut columns = allowance.room(names.len())?;
        columns.extend(names.iter().map(|_| LabelColumn::new(allowance)));
        Ok(LabelColumns { columns, names, ids: None })
    }

    /// Takes the column of ids that is asked for out of columns that have numbers and no names.
    pub(crate) fn take_ids(&mut self, wanted: &Wanted) -> Result<()> {
        let Some(id) = &wanted.id else { return Ok(()) };
        let at = match position(&self.names, id) {
            Ok(at) => at,
            Err(_) if wanted.id_optional => return Ok(()),
            Err(error) => return Err(error),
        };
        ensure_format!(self.columns.len() > 1, "{ONLY_IDS}");
        self.names.remove(at);
        self.ids = Some(self.columns.remove(at).into_texts()?);
        Ok(())
    }

    /// How many objects there are.
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, LabelColumn::len)
    }

    /// The columns as base clusterings.
    pub(crate) fn into_table(self) -> Result<LabelTable> {
        let ids = self.ids.map(Texts::into_ids).transpose()?;
        let clusterings: Vec<(Partition, ColumnValues)> = self
            .columns
            .into_par_iter()
            .map(LabelColumn::into_clustering)
            .collect::<Result<_>>()?;
        let (members, values) = clusterings.into_iter().unzip();
        Ok(LabelTable::new(Ensemble::new(members)?, self.names, values, ids))
    }

    /// Brings the columns into the order in which others have these names, and says so; where they
    /// are called otherwise it says that, and refuses them where only some are.
    pub(crate) fn put_in_order(&mut self, names: &[String]) -> Result<Option<String>> {
        let Some((order, note)) = order_of_columns(names, &self.names)? else { return Ok(None) };
        if let Some(order) = order {
            let mut columns: Vec<Option<LabelColumn>> =
                std::mem::take(&mut self.columns).into_iter().map(Some).collect();
            self.columns = order.into_iter().filter_map(|at| columns[at].take()).collect();
            self.names = names.to_vec();
        }
        Ok(Some(note.to_owned()))
    }

    /// The labels of other objects in the numbers of these columns, -1 for unlabelled.
    pub(crate) fn translate(&self, other: &LabelColumns) -> Result<Array2<i64>> {
        let (members, columns) = (self.columns.len(), other.columns.len());
        ensure_format!(
            members == columns,
            "{columns} columns; expected {members}, one per member of the ensemble"
        );
        let rows = other.rows();
        let first = other.columns.first();
        let allowance = first.map_or_else(Allowance::unlimited, |c| c.allowance.clone());
        let mut values: Vec<i64> = allowance.room(rows.saturating_mul(columns))?;
        values.resize(rows * columns, -1);
        let mut out = Array2::from_shape_vec((rows, columns), values)
            .map_err(|error| malformed(error.to_string()))?;
        for (c, (own, other)) in self.columns.iter().zip(&other.columns).enumerate() {
            let known = own.numbers_of(other, c)?;
            for row in 0..rows {
                if let Some(number) = other.get(row) {
                    let unknown = |what: &String| at(row, c, what);
                    out[[row, c]] = known[number].as_ref().copied().map_err(unknown)?;
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(keys: impl Iterator<Item = Option<u64>>) -> LabelColumn {
        let mut column = LabelColumn::new(&Allowance::unlimited());
        keys.for_each(|key| column.push(key).unwrap());
        column
    }

    #[test]
    fn columns_widen_and_keep_their_gaps() {
        for (k, stride) in
            [(3u64, 1), (254, 1), (255, 1), (256, 7), (65_535, 1), (65_536, 1), (70_000, 1 << 30)]
        {
            let key = |i: u64| (i % 5 != 4).then_some((i % k) * stride);
            let n = 2 * k + 10;
            let narrow = column((0..n).map(key)).partition().unwrap();
            let plain = Partition::from_fn(n as usize, |i| key(i as u64)).unwrap();
            assert_eq!(narrow, plain, "{k} clusters");
        }
    }

    #[test]
    fn floats_are_labels_only_where_they_are_whole() {
        assert_eq!(3.0f64.label(), Ok(Some(3)));
        assert_eq!((-1.0f32).label(), Ok(None));
        assert_eq!(f32::NAN.label(), Ok(None));
        assert_eq!((2f64.powi(40)).label(), Ok(Some(1 << 40)));
        assert!(0.5f64.label().is_err());
        assert!(f64::INFINITY.label().is_err());
        assert!(1e30f64.label().is_err());
        assert_eq!((-1i64).label(), Ok(None));
        assert_eq!(u64::MAX.label(), Ok(Some(u64::MAX)));
    }
}
