//! Disks that are full at any byte, places of every kind, and what is left behind.

use std::fs;
use std::path::Path;

use consilience_core::{Ensemble, ErrorKind, Partition, Result};
use ndarray::Array2;

use super::*;

fn ensemble() -> Ensemble {
    let member = |step: i64| {
        let labels: Vec<i64> = (0..500).map(|i| (i * step) % 7 - i64::from(i % 11 == 0)).collect();
        Partition::from_labels(&labels).unwrap()
    };
    Ensemble::new(vec![member(1), member(3), member(5)]).unwrap()
}

/// The name of a file, and what writes its contents.
type Writer = (&'static str, Box<dyn Fn(&mut OutputFile) -> Result<()>>);

/// Writers of every format and of all kinds of contents.
fn writers() -> Vec<Writer> {
    let mut all: Vec<Writer> = vec![("state", Box::new(|file| file.write([7; 3000])))];
    for name in ["l.csv", "l.tsv", "l.npy", "l.npz", "l.npz:name", "l.parquet"] {
        let ensemble = ensemble();
        all.push((name, Box::new(move |file| file.write_labels(Labelled::All(&ensemble), &()))));
        let table = Array2::from_shape_fn((200, 3), |(i, j)| 1.0 / (1 + i + j) as f64);
        all.push((name, Box::new(move |file| file.write_numbers(table.view(), &()))));
    }
    all
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| name(e.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_at_any_byte_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, write) in writers() {
        let path = folder.path().join(name);
        let place = Location::parse(&path).map_or(path.clone(), |location| location.path);
        let open = || {
            if name == "state" { OutputFile::any(&path) } else { OutputFile::table(&path) }.unwrap()
        };
        let mut whole = open();
        write(&mut whole).unwrap();
        whole.commit().unwrap();
        let size = fs::metadata(&place).unwrap().len();
        fs::write(&place, "precious").unwrap();
        let before = names(folder.path());
        // At any of the first and of the last bytes, and at every third between them.
        let tried = |room: &u64| *room < 200 || room.is_multiple_of(3) || room + 100 > size;
        for room in (0..size).filter(tried) {
            let mut file = open();
            file.room = Some(room);
            let error = write(&mut file).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io, "{name}, {room} of {size} bytes: {error}");
            assert!(error.message().ends_with("no space left"), "{name}: {error}");
            drop(file);
            assert_eq!(fs::read(&place).unwrap(), b"precious");
        }
        assert_eq!(names(folder.path()), before);
        fs::remove_file(&place).unwrap();
    }
}

#[test]
fn files_left_behind_block_nobody_and_go_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let stale = |name: &str, hours: u64| {
        let path = folder.path().join(name);
        fs::write(&path, "").unwrap();
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600);
        File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    };
    stale(&format!(".out.csv.{}.tmp", std::process::id()), 0);
    stale(".out.csv.0123456789abcdef.tmp", 2);
    stale(".out.csv.0123456789abcdee.old", 2);
    stale(".out.csv.0123456789abcded.tmp", 0);
    stale(".other.csv.0123456789abcdec.tmp", 2);
    let mut file = OutputFile::any(&path).unwrap();
    file.write("new").unwrap();
    file.commit().unwrap();
    let left = names(folder.path());
    assert!(!left.contains(&".out.csv.0123456789abcdef.tmp".to_owned()), "{left:?}");
    assert!(!left.contains(&".out.csv.0123456789abcdee.old".to_owned()), "{left:?}");
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn one_place_is_written_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = OutputFile::any(folder.path().join("a.csv")).unwrap();
    let again = OutputFile::any(folder.path().join(".").join("a.csv"));
    assert!(again.is_err_and(|error| error.message().contains("written twice")));
    assert_eq!(names(folder.path()).len(), 1);
    drop(file);
    OutputFile::any(folder.path().join("a.csv")).unwrap().commit().unwrap();
}

#[test]
fn names_as_long_as_there_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("é".repeat(125) + ".csv");
    let mut file = OutputFile::table(&path).unwrap();
    file.write_labels(Labelled::Numbers(&[0, 1]), &()).unwrap();
    file.commit().unwrap();
    assert!(path.exists());
    assert!(crate::FileLock::try_new(&path).unwrap().is_some());
}

#[test]
fn arrays_are_no_paths() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["../../e", "/e", "a\\b", "..", "a\nb", "c:d"] {
        let error = OutputFile::table(folder.path().join(format!("a.npz:{name}"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format, "{name}");
    }
    assert_eq!(names(folder.path()).len(), 0);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;

    fn put(path: &Path, text: &str) -> Result<()> {
        let mut file = OutputFile::any(path)?;
        file.write(text)?;
        file.commit()
    }

    #[test]
    fn links_stay_and_what_they_name_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/real"), "old").unwrap();
        for (link, target) in
            [("link", "deep/real"), ("chain", "link"), ("dangling", "deep/new"), ("loop", "loop")]
        {
            symlink(target, at(link)).unwrap();
        }
        put(&at("chain"), "through").unwrap();
        assert_eq!(fs::read(at("deep/real")).unwrap(), b"through");
        put(&at("dangling"), "made").unwrap();
        assert_eq!(fs::read(at("deep/new")).unwrap(), b"made");
        assert!(put(&at("loop"), "never").is_err());
        for link in ["link", "chain", "dangling", "loop"] {
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        }
        assert_eq!(names(&at("deep")), ["new", "real"]);
        // Two names of one file.
        let first = OutputFile::any(at("link")).unwrap();
        assert!(OutputFile::any(at("deep/real")).is_err());
        drop(first);
    }

    #[test]
    fn permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("private");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        for kept in [0o600, 0o640, 0o664, 0o200] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            let mut file = OutputFile::any(&path).unwrap();
            file.write("new").unwrap();
            let temporary = fs::metadata(&file.temporary).unwrap().permissions().mode();
            assert_eq!(temporary & 0o777 & !kept, 0, "nobody else reads it meanwhile");
            file.commit().unwrap();
            assert_eq!(mode(), kept);
            fs::remove_file(&path).unwrap();
        }
        fs::write(&path, "kept").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(put(&path, "new").is_err_and(|error| error.message().contains("read-only")));
        assert_eq!(fs::read(&path).unwrap(), b"kept");
    }

    #[test]
    fn pipes_and_devices_stay_and_get_the_contents() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || fs::read(pipe).unwrap()
            });
            put(&pipe, "through").unwrap();
            assert_eq!(reader.join().unwrap(), b"through");
            assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
            assert!(crate::FileLock::try_new(&pipe).is_err());
        }
        if Path::new("/dev/full").exists() {
            symlink("/dev/null", folder.path().join("null")).unwrap();
            put(&folder.path().join("null"), "nowhere").unwrap();
            symlink("/dev/full", folder.path().join("full")).unwrap();
            fs::write(folder.path().join("out"), "old").unwrap();
            let error = put(&folder.path().join("full"), "no").unwrap_err();
            assert!(error.message().ends_with("no space left"), "{error}");
            // Before any file is replaced.
            let files = ["out", "full"].map(|name| {
                let mut file = OutputFile::any(folder.path().join(name)).unwrap();
                file.write("new").unwrap();
                file
            });
            assert!(OutputFile::commit_all(files.into()).is_err());
            assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
            assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        }
    }

    #[test]
    fn a_lock_is_for_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        let lock_and_look = || {
            for _ in 0..50 {
                let lock = loop {
                    match crate::FileLock::try_new(&path).unwrap() {
                        Some(lock) => break lock,
                        None => std::thread::yield_now(),
                    }
                };
                let others = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                assert_eq!(others, 0);
                std::thread::yield_now();
                inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                drop(lock);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(lock_and_look);
            }
        });
        assert_eq!(names(folder.path()).len(), 0);
    }
}
