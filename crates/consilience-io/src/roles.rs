//! What the columns of a table are: ids, values, categories, or nothing that is wanted.

use std::collections::{HashMap, HashSet};

use consilience_core::{Result, number_of};

use crate::fault::{ensure_format, excerpt, listed, malformed};

/// The error of a table of labels in which nothing is left beside the ids.
pub(crate) const ONLY_IDS: &str = "a column of ids and no other; expected one more at least";

/// What a reader is to make of the columns of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The column of ids, by name or number.
    pub(crate) id: Option<String>,
    /// Whether the column of ids may be missing.
    pub(crate) id_optional: bool,
    /// Whether no column of labels is one of ids by what it holds.
    pub(crate) by_name_alone: bool,
    /// The only columns that count; all where none is named.
    pub(crate) columns: Vec<String>,
    /// Columns of features that do not count.
    pub(crate) drop: Vec<String>,
    /// Columns of features that hold categories.
    pub(crate) categorical: Vec<String>,
    /// Columns that are known from other objects.
    pub(crate) known: Vec<String>,
    /// Whether features may be missing.
    pub(crate) missing: bool,
    /// Whether columns of text are expected to be separated by tabs.
    pub(crate) tabs: bool,
}

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Id,
    /// Ids, where it holds another text in every row or, beside labels, row numbers.
    Maybe,
    /// How a program called the rows: ids, where it tells them apart.
    Index,
    Value,
    /// Categories, beside columns of numbers.
    Category,
    Skip,
}

impl Role {
    /// Whether it is a column of ids, or may be one.
    pub(crate) fn is_id(self) -> bool {
        matches!(self, Role::Id | Role::Maybe | Role::Index)
    }
}

/// The note for a first column that was taken for ids by its contents.
pub(crate) fn unique_text(name: &str) -> String {
    format!(
        "column 0 ({}) holds another text in every row and was read as the ids of the objects",
        excerpt(name)
    )
}

/// The columns of a table without a header.
pub(crate) fn numbered_names(count: usize) -> Vec<String> {
    (0..count).map(|c| c.to_string()).collect()
}

/// The column of that number or, where there is none, of that name.
pub(crate) fn position(names: &[String], wanted: &str) -> Result<usize> {
    let wanted = wanted.trim();
    if let Some(number) = wanted.parse().ok().filter(|&number| number < names.len()) {
        return Ok(number);
    }
    let mut named = names.iter().enumerate().filter(|(_, name)| name.trim() == wanted);
    if let Some((first, _)) = named.next() {
        if let Some((second, _)) = named.next() {
            return Err(malformed(format!(
                "columns {first} and {second} are both called {:?}; expected the number of one",
                excerpt(wanted)
            )));
        }
        return Ok(first);
    }
    Err(malformed(format!(
        "no column {:?} among the {} {}; expected a name, or a number 0..={}",
        excerpt(wanted),
        number_of(names.len() as u64, "column"),
        listed(names),
        names.len().saturating_sub(1)
    )))
}

impl Wanted {
    /// The same where ids are an array of their own, as far as that is what is asked for.
    #[cfg(feature = "npy")]
    pub(crate) fn beside(&self, ids: bool) -> Self {
        let id = self.id.clone().filter(|id| !(ids && crate::npz::is_ids(id)));
        Wanted { id, ..self.clone() }
    }

    /// Whether a column of ids with that name was found by it.
    pub(crate) fn names(&self, id: &str) -> bool {
        self.id.as_ref().map_or(id.eq_ignore_ascii_case("id"), |wanted| wanted.trim() == id.trim())
    }

    /// What each column of a table of labels is; `names` are numbers where there is no header.
    pub(crate) fn roles(&self, names: &[String], notes: &mut Vec<String>) -> Result<Vec<Role>> {
        let mut roles = vec![Role::Value; names.len()];
        let named = |wanted: &String| wanted.trim().parse::<usize>().is_err();
        if !self.columns.is_empty() && self.columns.iter().all(named) {
            roles.fill(Role::Skip);
            if let Some(first) = roles.first_mut() {
                *first = Role::Maybe;
            }
            for column in &self.columns {
                roles[position(names, column)?] = Role::Value;
            }
        }
        if let Some(id) = self.id_column(names, notes)? {
            ensure_format!(names.len() > 1, "{ONLY_IDS}");
            roles.iter_mut().filter(|role| **role == Role::Maybe).for_each(|r| *r = Role::Skip);
            roles[id] = Role::Id;
        }
        Ok(roles)
    }

    /// What each column of a table of features is.
    pub(crate) fn feature_roles(
        &self,
        names: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Role>> {
        let mut roles = vec![Role::Value; names.len()];
        for column in &self.drop {
            roles[position(names, column)?] = Role::Skip;
        }
        for column in &self.categorical {
            let at = position(names, column)?;
            ensure_format!(
                roles[at] != Role::Skip,
                "column {:?} is both categorical and dropped; expected one of the two",
                excerpt(column)
            );
            roles[at] = Role::Category;
        }
        let free = roles.first() == Some(&Role::Value);
        match self.id_column(names, notes)? {
            Some(id) if roles[id] == Role::Value => roles[id] = Role::Id,
            Some(id) if self.id.is_some() => {
                return Err(malformed(format!(
                    "column {:?} is that of the ids, and dropped or categorical; expected one of \
                     the two",
                    excerpt(&names[id])
                )));
            }
            // It is called id and is something else.
            Some(_) => drop(notes.pop()),
            None if free && names.len() > 1 => roles[0] = Role::Maybe,
            None => {}
        }
        ensure_format!(
            roles.iter().any(|role| matches!(role, Role::Value | Role::Category | Role::Maybe)),
            "no column of features is left; expected one at least"
        );
        Ok(roles)
    }

    /// The column of ids: the one that is asked for, or a first one that is called so.
    pub(crate) fn id_column(
        &self,
        names: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Option<usize>> {
        if let Some(id) = &self.id {
            match position(names, id) {
                Ok(found) => return Ok(Some(found)),
                Err(_) if self.id_optional => {}
                Err(error) => return Err(error),
            }
        }
        let first = names.first().map(|name| name.trim());
        let wanted = self.columns.iter().any(|column| Some(column.trim()) == first);
        if names.len() > 1 && !wanted && first.is_some_and(|n| n.eq_ignore_ascii_case("id")) {
            notes.push(format!("column 0 ({}) was read as the ids of the objects", names[0]));
            return Ok(Some(0));
        }
        Ok(None)
    }
}

/// The order of columns, where it is not their own, and what to say of it.
type Order = (Option<Vec<usize>>, &'static str);

/// The order that brings columns under the names that are wanted, where they come in another; and
/// what to say of it, or of columns that are called otherwise and stay in their order.
///
/// # Errors
/// [`ErrorKind::Format`](consilience_core::ErrorKind::Format) where some of the names are those
/// that are wanted and others are not: which column is which is not known then.
#[doc(hidden)]
pub fn order_of_columns(wanted: &[String], given: &[String]) -> Result<Option<Order>> {
    if wanted == given || wanted.len() != given.len() {
        return Ok(None);
    }
    if let Some(order) = places_of_names(wanted, given) {
        // Also where the names are numbers: those of a table without a header are in order.
        let note = "the columns are in another order; they are taken by name";
        return Ok(Some((Some(order), note)));
    }
    if are_numbered(wanted) || are_numbered(given) {
        return Ok(None);
    }
    let lower = |names: &[String]| names.iter().map(|n| any_case(n)).collect::<Vec<_>>();
    if let Some(order) = places_of_names(&lower(wanted), &lower(given)) {
        let note = "names of columns differ from those before by upper and lower case alone; they \
                    are taken by name";
        return Ok(Some((Some(order), note)));
    }
    let none_known = without(wanted, given, str::to_owned).len() == wanted.len();
    let form = if none_known { any_case } else { str::to_owned };
    let (missing, unknown) = (without(wanted, given, form), without(given, wanted, form));
    ensure_format!(
        missing.len() == wanted.len(),
        "{}; expected the columns {}, in any order, or names of which none is among them for \
         columns in this order",
        match (&missing[..], &unknown[..]) {
            ([], _) | (_, []) =>
                "columns in another order, of which some are called alike".to_owned(),
            (missing, unknown) =>
                format!("no column {}, and unknown {}", listed(missing), listed(unknown)),
        },
        listed(wanted)
    );
    let note = "the columns are called otherwise than those before; they are taken in their order";
    Ok(Some((None, note)))
}

/// A name as it is compared where upper and lower case are the same.
fn any_case(name: &str) -> String {
    name.to_lowercase()
}

/// The names that are not among others, compared in some form.
fn without<'n>(names: &'n [String], others: &[String], form: fn(&str) -> String) -> Vec<&'n str> {
    let others: HashSet<String> = others.iter().map(|name| form(name.trim())).collect();
    names.iter().map(|name| name.trim()).filter(|name| !others.contains(&form(name))).collect()
}

/// Whether columns have no names but their numbers.
pub(crate) fn are_numbered(names: &[String]) -> bool {
    names.iter().enumerate().all(|(at, name)| *name == at.to_string())
}

/// Where each of some names is among others, if these are the same names.
fn places_of_names(wanted: &[String], given: &[String]) -> Option<Vec<usize>> {
    let place: HashMap<&str, usize> =
        given.iter().enumerate().map(|(at, name)| (name.trim(), at)).collect();
    let found: Vec<usize> =
        wanted.iter().map(|name| place.get(name.trim()).copied()).collect::<Option<_>>()?;
    // No two alike on either side.
    let mut places = found.clone();
    places.sort_unstable();
    places.dedup();
    (wanted.len() == given.len() && places.len() == wanted.len()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By name, also where the names of a header are numbers.
    #[test]
    fn columns_in_another_order() {
        let found = |a: &[&str], b: &[&str]| order_of_columns(&names(a), &names(b));
        let order = |a: &[&str], b: &[&str]| found(a, b).unwrap();
        let places = |a: &[&str], b: &[&str]| order(a, b).and_then(|(order, _)| order);
        assert_eq!(order(&["0", "1", "2"], &["0", "1", "2"]), None);
        assert_eq!(places(&["0", "1", "2"], &["2", "0", "1"]), Some(vec![1, 2, 0]));
        assert_eq!(places(&["2", "0", "1"], &["0", "1", "2"]), Some(vec![2, 0, 1]));
        assert_eq!(places(&["a", "b"], &["b", "a"]), Some(vec![1, 0]));
        // One of them has no header.
        assert_eq!(order(&["a", "b"], &["0", "1"]), None);
        let (none, note) = order(&["a", "b"], &["c", "d"]).unwrap();
        assert!(none.is_none() && note.contains("called otherwise"), "{note}");
        // Some are known: by which place they are to be taken nobody knows.
        let said = |a: &[&str], b: &[&str]| found(a, b).unwrap_err().to_string();
        let some = said(&["a", "b", "c"], &["c", " a", "z"]);
        let expected = "no column b, and unknown z; expected the columns a, b, c, in any order";
        assert!(some.contains(expected), "{some}");
        assert!(said(&["a", "b", "c"], &["a", "b", "c2"]).contains("no column c, and unknown c2"));
        let (cased, note) = order(&["len", "wid"], &["Wid", " Len"]).unwrap();
        assert!(cased == Some(vec![1, 0]) && note.contains("by upper and lower case"), "{note}");
        assert!(said(&["len", "wid"], &["Wid", "LENGTH"]).contains("no column len, and unknown"));
        assert!(said(&["a", "b"], &["A", "A"]).contains("some are called alike"));
        let twice = said(&["a", "a", "b"], &["a", "b", "a"]);
        assert!(twice.contains("of which some are called alike"), "{twice}");
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_table_may_have_no_columns() {
        let wanted = Wanted { columns: vec!["a".into()], ..Wanted::default() };
        assert!(wanted.roles(&[], &mut Vec::new()).is_err());
        assert!(Wanted::default().roles(&[], &mut Vec::new()).unwrap().is_empty());
        let error = Wanted::default().feature_roles(&[], &mut Vec::new()).unwrap_err();
        assert_eq!(error.message(), "no column of features is left; expected one at least");
    }

    #[test]
    fn columns_by_name_and_by_number() {
        let columns = names(&["a", "2", "b", "b", "17"]);
        assert_eq!(position(&columns, "a").unwrap(), 0);
        assert_eq!(position(&columns, " 2").unwrap(), 2);
        assert_eq!(position(&columns, "17").unwrap(), 4);
        assert_eq!(position(&columns, "3").unwrap(), 3);
        let message = |wanted| position(&columns, wanted).unwrap_err().message().to_owned();
        assert!(message("b").contains("columns 2 and 3 are both called \"b\""));
        assert!(message("5").contains("no column \"5\" among the 5 columns a, 2, b, b, 17"));
        assert!(message("-1").contains("0..=4"));
    }

    #[test]
    fn ids_are_found_by_name_where_something_is_left() {
        let mut notes = Vec::new();
        let any = Wanted::default();
        let roles = any.roles(&names(&["ID", "m0"]), &mut notes).unwrap();
        assert_eq!((roles, notes.len()), (vec![Role::Id, Role::Value], 1));
        assert_eq!(any.roles(&names(&["id"]), &mut notes).unwrap(), [Role::Value]);
        assert_eq!(any.roles(&names(&["m0", "id"]), &mut notes).unwrap(), [Role::Value; 2]);
        let second = Wanted { id: Some("id".to_owned()), ..Wanted::default() };
        let roles = second.roles(&names(&["m0", "id"]), &mut notes).unwrap();
        assert_eq!(roles, [Role::Value, Role::Id]);
        assert!(second.roles(&names(&["m0"]), &mut notes).is_err());
        let maybe = Wanted { id_optional: true, ..second };
        assert_eq!(maybe.roles(&names(&["m0"]), &mut notes).unwrap(), [Role::Value]);
        let columns = Wanted { columns: names(&["id", "b"]), ..Wanted::default() };
        let roles = columns.roles(&names(&["id", "a", "b"]), &mut notes).unwrap();
        assert_eq!(roles, [Role::Value, Role::Skip, Role::Value]);
        assert_eq!(notes.len(), 1);
        let roles = columns.roles(&names(&["a", "id", "b"]), &mut notes).unwrap();
        assert_eq!(roles, [Role::Maybe, Role::Value, Role::Value]);
    }
}
