//! Objects as files name them: by their ids, or by the numbers of rows.

use consilience_core::Result;
use rustc_hash::FxHashMap;

use crate::fault::{excerpt, malformed};
use crate::ids::ObjectIds;
use crate::label::EXACT;

/// An object by its id, and by its number; `usize::MAX` for what it is not.
pub(crate) type Found = [usize; 2];

/// The number that a cell says, also as programs write it where some of its column are missing:
/// `7.0`.
pub(crate) fn whole(cell: &str) -> Option<usize> {
    cell.parse().ok().or_else(|| {
        let x: f64 = cell.parse().ok()?;
        (x.fract() == 0.0 && (0.0..EXACT).contains(&x)).then_some(x as usize)
    })
}

/// Finds the objects that the cells of a file name.
pub(crate) struct Lookup<'a> {
    ids: Option<FxHashMap<&'a str, usize>>,
    /// Whether some cell is an id.
    found: bool,
    /// The first cell that is no id, with its place, and how many there are.
    unknown: Option<String>,
    count: usize,
    /// Whether some cell is no number of an object.
    no_number: bool,
    /// Whether some cell is the id of one object and the number of another.
    ambiguous: bool,
}

impl<'a> Lookup<'a> {
    /// Without ids cells are numbers.
    pub(crate) fn of(ids: Option<&'a ObjectIds>) -> Result<Self> {
        let ids = ids.map(ObjectIds::index).transpose()?;
        Ok(Lookup {
            ids,
            found: false,
            unknown: None,
            count: 0,
            no_number: false,
            ambiguous: false,
        })
    }

    /// Whether a cell is an id.
    pub(crate) fn knows(&self, cell: &str) -> bool {
        self.ids.as_ref().is_some_and(|ids| ids.contains_key(cell))
    }

    /// What a cell names; `place` says where it is.
    pub(crate) fn find(&mut self, cell: &str, place: impl Fn() -> String) -> Result<Found> {
        let wrong =
            |expected: &str| format!("{}: {:?}; expected {expected}", place(), excerpt(cell));
        let number = whole(cell);
        let Some(ids) = &self.ids else {
            let number = number.ok_or_else(|| malformed(wrong("the number of an object")))?;
            return Ok([usize::MAX, number]);
        };
        let id = ids.get(cell).copied();
        self.found |= id.is_some();
        self.ambiguous |= id.is_some() && id != number;
        self.no_number |= number.is_none_or(|number| number >= ids.len());
        if id.is_none() {
            self.count += 1;
            self.unknown.get_or_insert_with(|| wrong("the id of an object"));
        }
        Ok([id.unwrap_or(usize::MAX), number.unwrap_or(usize::MAX)])
    }

    /// Which of the two the cells are: 0 for ids, 1 for numbers. A file that holds none of the ids,
    /// but numbers of rows, is taken at its word.
    pub(crate) fn kind(&self, notes: &mut Vec<String>) -> Result<usize> {
        match (&self.ids, &self.unknown) {
            (None, _) => Ok(1),
            (Some(_), None) => {
                if self.ambiguous && !self.no_number {
                    notes.push("its objects were read as ids, not as row numbers from 0".into());
                }
                Ok(0)
            }
            (Some(_), Some(_)) if !self.found && !self.no_number => {
                notes.push("its objects are none of the ids and were read as row numbers".into());
                Ok(1)
            }
            (Some(_), Some(unknown)) if self.count > 1 => {
                Err(malformed(format!("{unknown}; {} such cells", self.count)))
            }
            (Some(_), Some(unknown)) => Err(malformed(unknown.clone())),
        }
    }
}
