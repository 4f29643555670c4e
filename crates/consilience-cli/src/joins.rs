//! How the rows of two tables are found to be the same objects.

use std::path::Path;

use consilience::io::ObjectIds;

use crate::failure::{Failure, Outcome};
use crate::terminal::Terminal;

/// The objects of a command: how many, and what they are called where a file says it.
#[derive(Clone)]
pub(crate) struct Objects {
    pub(crate) n: usize,
    pub(crate) ids: Option<ObjectIds>,
}

/// The ids of both tables, by which their rows are joined; none where rows are taken in their
/// order, which a note says unless neither has ids.
///
/// Ids that somebody has given say what a row is, in both tables alike. Row numbers say it too, but
/// a program may have begun them elsewhere: where they do not fit the other table they say no more
/// than the order of the rows. In a table without ids it is the order that counts them.
pub(crate) fn by_id(
    path: &Path,
    objects: &Objects,
    theirs: Option<&ObjectIds>,
    rows: usize,
    terminal: &Terminal,
) -> Outcome<Option<(ObjectIds, ObjectIds)>> {
    let place = path.display();
    match (&objects.ids, theirs) {
        (Some(ours), Some(theirs)) if in_one_order(ours, theirs)? => {
            terminal.note(format!("{place} numbers its rows in another way: joined row by row"));
        }
        (Some(ours), Some(theirs)) => return Ok(Some((ours.clone(), theirs.clone()))),
        (None, None) => {}
        (Some(ours), None) => {
            if let Some(theirs) = counted_like(ours, rows)? {
                terminal
                    .note(format!("{place} has no ids: joined by the row numbers of the other"));
                return Ok(Some((ours.clone(), theirs)));
            }
            terminal.note(format!("{place} has no ids: joined row by row"));
        }
        (None, Some(theirs)) => {
            if let Some(ours) = counted_like(theirs, objects.n)? {
                terminal.note(format!(
                    "{place} has row numbers and the objects have no ids: joined by these numbers"
                ));
                return Ok(Some((ours, theirs.clone())));
            }
            terminal.note(format!("{place} has ids and the objects have none: joined row by row"));
        }
    }
    Ok(None)
}

/// Whether two tables name the same rows, in their order, in ways that say nothing of one another:
/// by row numbers from 0 and from 1, or by row numbers and by names.
fn in_one_order(ours: &ObjectIds, theirs: &ObjectIds) -> Outcome<bool> {
    let n = ours.n_objects();
    let given = !ours.are_row_numbers() && !theirs.are_row_numbers();
    if given || n != theirs.n_objects() || ours.rows_in(theirs)?.iter().all(Option::is_some) {
        return Ok(false);
    }
    Ok(match (counted_from(ours), counted_from(theirs)) {
        (Some(ours), Some(theirs)) => ours != theirs,
        (Some(_), None) => are_names(theirs),
        (None, Some(_)) => are_names(ours),
        (None, None) => false,
    })
}

/// Where the numbers of rows begin that are in their order.
fn counted_from(ids: &ObjectIds) -> Option<usize> {
    ids.row_numbers_from().filter(|_| ids.are_row_numbers())
}

/// Whether ids were given, and none is a whole number.
fn are_names(ids: &ObjectIds) -> bool {
    let whole = |id: &str| id.trim().parse().is_ok_and(|number: f64| number.fract() == 0.0);
    !ids.are_row_numbers() && !ids.iter().any(whole)
}

/// What the rows of a table without ids are called beside row numbers of as many rows, where these
/// are not in their order.
fn counted_like(ids: &ObjectIds, rows: usize) -> Outcome<Option<ObjectIds>> {
    if !ids.are_row_numbers() || ids.n_objects() != rows || counted_from(ids).is_some() {
        return Ok(None);
    }
    // No two are alike: all of them are there where none lies outside.
    let all_in = |from: usize| {
        let number = |id: &str| id.parse().is_ok_and(|id: usize| (from..from + rows).contains(&id));
        ids.iter().all(number)
    };
    match [0, 1].into_iter().find(|&from| all_in(from)) {
        Some(from) => Ok(Some(ObjectIds::row_numbers(from..from + rows)?)),
        None => Ok(None),
    }
}

/// What the objects of a table and so many further ones of another are called. Rows without ids,
/// and row numbers that begin anew, are numbered on where the others' are in their order; beside
/// given ids row numbers are no names.
pub(crate) fn ids_of_all(
    ours: Option<ObjectIds>,
    more: Option<ObjectIds>,
    rows: usize,
    (path, new): (&Path, &Path),
    terminal: &Terminal,
) -> Outcome<Option<ObjectIds>> {
    let from = ours.as_ref().and_then(ObjectIds::row_numbers_from);
    let anew = more.as_ref().and_then(counted_from).is_some();
    let (first, other) = (path.display(), new.display());
    Err(Failure::Bad(match (ours, more, from) {
        (None, None, _) => return Ok(None),
        (None, Some(_), _) if anew => return Ok(None),
        (Some(ids), more, Some(from)) if anew || more.is_none() => {
            let next = from + ids.n_objects();
            terminal.note(format!("{other}: its rows are numbered from {next} on"));
            return Ok(Some(ids.and_then(&ObjectIds::row_numbers(next..next + rows)?)?));
        }
        (Some(ids), Some(more), _) if !anew || ids.are_row_numbers() => {
            return Ok(Some(
                ids.and_then(&more)
                    .map_err(|error| Failure::Bad(format!("{other}: {}", error.message())))?,
            ));
        }
        (Some(_), Some(_), _) => {
            format!("{other} has row numbers and {first} has ids; expected ids in both")
        }
        (Some(_), None, _) => format!("{other} has no ids and {first} has; expected both"),
        (None, Some(_), _) => format!("{first} has no ids and {other} has; expected both"),
    }))
}
