//! A folder of its own for each test, the built program run in it, and files to feed it.
// Every test file compiles this module anew and uses only a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The methods of `consilience crowd`.
pub(crate) const CROWD_METHODS: [&str; 11] = [
    "auto",
    "block",
    "block-by-worker",
    "latent-class",
    "bayesian",
    "rmc",
    "log-odds",
    "spectral",
    "dawid-skene",
    "pairs",
    "planted-partition",
];

/// What a run of the program left.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A folder for the files of one test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The names in the folder, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_consilience"));
        command.args(args.split_whitespace()).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &str) -> Ran {
        let output = self.command(args).output().unwrap();
        Ran {
            code: output.status.code().expect("ended by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a line of shell, for limits and for streams that are full; `PROGRAM` is the program.
    pub(crate) fn shell(&self, line: &str) -> Output {
        let line = line.replace("PROGRAM", env!("CARGO_BIN_EXE_consilience"));
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(self.0.path()).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Runs what must succeed.
    pub(crate) fn ok(&self, args: &str) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "consilience {args}: {}", ran.stderr);
        ran
    }

    /// Runs what must succeed with `--json` and print one object and nothing else.
    pub(crate) fn json(&self, args: &str) -> Value {
        let ran = self.ok(&format!("{args} --json"));
        let value: Value = serde_json::from_str(&ran.stdout).expect("one JSON value");
        assert!(value.is_object());
        value
    }

    /// Runs what must fail: exit code 2, nothing on standard output, one line on standard error
    /// with each of the needles, and no file more or less than before.
    pub(crate) fn fails(&self, args: &str, needles: &[&str]) {
        let before = self.names();
        let ran = self.run(args);
        let reply = format!("consilience {args}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 2, "{reply}");
        assert_eq!(ran.stdout, "", "{reply}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.ends_with('\n'), "{reply}");
        assert_eq!(ran.stderr.lines().count(), 1, "{reply}");
        for needle in needles {
            assert!(ran.stderr.contains(needle), "{needle:?} is not in: {reply}");
        }
        assert_eq!(self.names(), before, "{reply}");
    }
}

/// The one line on standard error of what ended with the exit code of an error.
pub(crate) fn told(output: &Output, line: &str) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}: {text}");
    assert!(text.starts_with("error: ") && text.lines().count() == 1, "{line}: {text}");
    text
}

/// A `.npy` file of given type and shape around raw bytes.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// A `.npz` file of named `.npy` files, stored as `numpy.savez` does.
pub(crate) fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), stored).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// `.npy` bytes of a table of int64.
pub(crate) fn npy_i64(rows: &[Vec<i64>]) -> Vec<u8> {
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    npy("<i8", false, &format!("({}, {})", rows.len(), rows[0].len()), &bytes)
}

/// Comma-separated text of a table, with a header.
pub(crate) fn csv(rows: &[Vec<i64>]) -> String {
    let header: Vec<String> = (0..rows[0].len()).map(|c| format!("m{c}")).collect();
    let mut text = header.join(",");
    for row in rows {
        text.push('\n');
        text.push_str(&row.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
    }
    text + "\n"
}

/// A small deterministic generator: tests must not depend on the library's streams.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed * 2 + 1)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

pub(crate) const OBJECTS: usize = 120;
pub(crate) const CLASSES: usize = 4;

/// The class of each object in [`ensemble`].
pub(crate) fn truth() -> Vec<i64> {
    (0..OBJECTS).map(|i| (i % CLASSES) as i64).collect()
}

/// Twelve base clusterings that each mistake every tenth object and leave every twentieth out.
pub(crate) fn ensemble() -> Vec<Vec<i64>> {
    let mut dice = Dice::new(1);
    let truth = truth();
    (0..OBJECTS)
        .map(|i| {
            (0..12)
                .map(|_| match dice.below(20) {
                    0 => -1,
                    1 | 2 => dice.below(CLASSES as u64) as i64,
                    _ => truth[i],
                })
                .collect()
        })
        .collect()
}

/// Points around four corners of a square, in two columns of CSV.
pub(crate) fn points() -> String {
    let mut dice = Dice::new(2);
    let mut text = String::from("x,y\n");
    for class in truth() {
        let mut near = |corner: i64| corner as f64 * 10.0 + dice.below(1000) as f64 / 500.0;
        let (x, y) = (near(class % 2), near(class / 2));
        text.push_str(&format!("{x},{y}\n"));
    }
    text
}

/// A folder with the ensemble (`pool.csv`), the points (`x.csv`) and the truth (`truth.csv`).
pub(crate) fn prepared() -> Folder {
    let folder = Folder::new();
    folder.write("pool.csv", csv(&ensemble()));
    folder.write("x.csv", points());
    folder.write("truth.csv", csv(&truth().into_iter().map(|l| vec![l]).collect::<Vec<_>>()));
    folder
}

pub(crate) fn is_number(value: &Value) -> bool {
    value.as_f64().is_some_and(f64::is_finite)
}

pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
