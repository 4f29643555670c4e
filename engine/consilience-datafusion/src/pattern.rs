//! Which files a path names.

use std::fs;
use std::path::{Path, PathBuf};

use consilience::{Error, Result};

use crate::fault::{system, within};

/// The files of a path, in the order of their names.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if path.is_dir() {
        return listed(path, |name| name.ends_with(".parquet"));
    }
    if path.exists() || !name.contains(['*', '?']) {
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

/// The files of a folder whose names are wanted; hidden ones are unfinished or private.
fn listed(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let place = within(folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(system).map_err(&place)? {
        let path = entry.map_err(system).map_err(&place)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with(['.', '_']) && wanted(name) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
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
