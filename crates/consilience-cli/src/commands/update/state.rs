//! The file of a state: what the library stores, and a digest of what its objects are called.

use std::path::Path;

use consilience::io::{ObjectIds, read_bytes};
use consilience::simplex::stored::{Envelope, Reader, Writer, hash};

use crate::failure::{Failure, Outcome};
use crate::memory;
use crate::terminal::Terminal;

/// Around the state of objects with ids. A state of others is stored as it is.
const WITH_IDS: Envelope = Envelope { magic: *b"CNSLIDST", version: 1 };

/// The bytes of a file.
pub(super) fn sealed(state: Vec<u8>, ids: Option<&ObjectIds>) -> Vec<u8> {
    let Some(ids) = ids else { return state };
    let mut body = Writer::default();
    body.u64(ids.n_objects() as u64);
    body.u64(digest(ids, ids.n_objects()));
    body.bytes(&state);
    WITH_IDS.seal(&body.into_bytes())
}

/// The stored state, if there is one yet: of the first objects, where some are new.
pub(super) fn read(
    path: &Path,
    ids: Option<&ObjectIds>,
    terminal: &Terminal,
) -> Outcome<Option<Vec<u8>>> {
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    let bytes = read_bytes(path, memory::budget())?;
    if !bytes.starts_with(&WITH_IDS.magic) {
        return Ok(Some(bytes));
    }
    let within = |error| Failure::from(error).within(path.display());
    let mut body = Reader::new(WITH_IDS.open(&bytes).map_err(within)?);
    let (n, stored) = (body.size().map_err(within)?, body.u64().map_err(within)?);
    match ids {
        Some(ids) => ensure!(
            n <= ids.n_objects() && digest(ids, n) == stored,
            "{}: the state is of objects with other ids, or with these in another order; expected \
             the table that it was made from",
            path.display()
        ),
        None => terminal.note(format!(
            "{}: its objects have ids and those of the ensemble have none: taken to be the same, \
             row by row",
            path.display()
        )),
    }
    let left = body.left();
    Ok(Some(body.bytes(left).map_err(within)?.to_vec()))
}

/// Of the first n ids, in their order.
fn digest(ids: &ObjectIds, n: usize) -> u64 {
    ids.iter().take(n).fold(0, |before, id| {
        let mut with = Writer::default();
        with.u64(before);
        with.bytes(id.as_bytes());
        hash(&with.into_bytes())
    })
}
