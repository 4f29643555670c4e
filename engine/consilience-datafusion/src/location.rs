//! Where files lie: in folders of this machine, or in object stores.

use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use consilience::{Error, Result};

use crate::fault::{system, within};
use crate::store::Object;
use crate::store::publication::{UNFINISHED, unfinished};

/// How files of tables end.
pub(crate) const ENDING: &str = ".parquet";

/// Where a file lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Path(PathBuf),
    Object(Object),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Path(path) => path.display().fmt(f),
            Location::Object(object) => object.fmt(f),
        }
    }
}

impl Location {
    /// What a path names: `s3://bucket/key` names an object.
    pub(crate) fn parse(path: &Path) -> Result<Self> {
        let object = path.to_str().map(Object::parse).transpose()?.flatten();
        Ok(match object {
            Some(object) => Location::Object(object),
            None => Location::Path(path.to_path_buf()),
        })
    }

    /// The last part of its name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Location::Path(path) => path.file_name().and_then(|name| name.to_str()),
            Location::Object(object) => Some(object.name()),
        }
        .unwrap_or_default()
    }

    /// The same for processes with other current folders.
    pub(crate) fn absolute(&self) -> Result<PathBuf> {
        match self {
            Location::Path(path) => {
                // Stores know no folder above.
                let above = path.components().any(|part| part == Component::ParentDir);
                let found = if above { fs::canonicalize(path) } else { std::path::absolute(path) };
                found.map_err(system).map_err(within(path.display()))
            }
            Location::Object(object) => Ok(object.to_string().into()),
        }
    }

    /// Whether both are the same, under whatever names.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Location::Path(a), Location::Path(b)) => {
                matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
            }
            _ => self == other,
        }
    }
}

/// The files that a path names, in the order of their names: one, those of a folder, or those that
/// match a pattern.
pub(crate) fn files(path: &Path) -> Result<Vec<Location>> {
    match Location::parse(path)? {
        Location::Path(path) => paths(&path).map(|all| all.into_iter().map(Location::Path)),
        Location::Object(object) => {
            let folder = path.to_str().is_some_and(|text| text.ends_with('/'));
            let place = within(object.to_string());
            let found = objects(object, folder).map_err(place);
            return found.map(|all| all.into_iter().map(Location::Object).collect());
        }
    }
    .map(Iterator::collect)
}

fn paths(path: &Path) -> Result<Vec<PathBuf>> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if path.is_dir() {
        return listed(path, |name| name.ends_with(ENDING));
    }
    if path.exists() || !is_pattern(name) {
        return Ok(vec![path.to_path_buf()]);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let found = listed(folder, |file| matches(name.as_bytes(), file.as_bytes()))?;
    if found.is_empty() {
        return Err(Error::empty(format!("{}: no file matches", path.display())));
    }
    Ok(found)
}

/// The files of a folder whose names are wanted.
fn listed(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let place = within(folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(system).map_err(&place)? {
        let path = entry.map_err(system).map_err(&place)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_public(name) && wanted(name) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn objects(object: Object, folder: bool) -> Result<Vec<Object>> {
    let pattern = !folder && is_pattern(object.name());
    if !folder && !pattern && !object.name().is_empty() && object.exists()? {
        return Ok(vec![object]);
    }
    let held = if pattern { object.folder().listed()? } else { object.listed()? };
    if held.iter().any(|found| found.name() == UNFINISHED) {
        return Err(unfinished());
    }
    if held.is_empty() {
        return Err(Error::new(consilience::ErrorKind::Io, "no such object"));
    }
    let wanted = |name: &str| match pattern {
        true => matches(object.name().as_bytes(), name.as_bytes()),
        false => name.ends_with(ENDING),
    };
    let chosen = |found: &Object| is_public(found.name()) && wanted(found.name());
    let found: Vec<Object> = held.into_iter().filter(chosen).collect();
    match found.is_empty() && pattern {
        true => Err(Error::empty("no object matches")),
        false => Ok(found),
    }
}

/// What is hidden is unfinished or private.
pub(crate) fn is_public(name: &str) -> bool {
    !name.starts_with(['.', '_'])
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}
/// Whether a name matches a pattern of `*` and `?`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // Where the last star stands, and how much of the name it has taken.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, name, expected) in [
            ("part-*.parquet", "part-0.parquet", true),
            ("part-*.parquet", "part-.parquet", true),
            ("part-?.parquet", "part-10.parquet", false),
            ("*a*b", "xaybzb", true),
            ("*a*b", "xayb.", false),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
