//! Other packages: two virtual environments of Python, and linfa's program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;
use crate::lines::Side;

/// The newest of each.
const NEW: &[&str] = &["numpy", "scipy", "scikit-learn", "fastcluster", "stepmix", "crowd-kit"];
/// These stand no newer numpy, scipy and scikit-learn.
const OLD: &[&str] = &[
    "numpy<1.26",
    "scipy<1.10",
    "scikit-learn<1.6",
    "metric-learn==0.7.0",
    "active-semi-supervised-clustering",
    "typing_extensions",
];
/// Its own pins are older than it needs.
const WITHOUT_PINS: &[&str] = &["ensembleclustering", "pymetis", "kahypar"];

/// What is installed, and where.
pub(crate) struct Packages {
    folder: PathBuf,
    linfa: Option<PathBuf>,
    pub(crate) versions: BTreeMap<String, String>,
}

/// The script of the Python side.
pub(crate) fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/peers.py")
}

fn quiet(command: &mut Command) -> Result<(), Failure> {
    let done = command.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    if done.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&done.stderr).trim().to_string();
    Err(text.lines().last().unwrap_or("failed without a word").to_string().into())
}

/// A virtual environment with these packages; what fails is said, and the others go on.
fn environment(folder: &Path, packages: &[&str], more: &[&str]) -> Result<(), Failure> {
    let python = folder.join("bin/python");
    if !python.exists() {
        quiet(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    }
    let install = |extra: &[&str]| {
        quiet(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(extra))
    };
    if install(packages).is_err() {
        for package in packages {
            install(&[package]).unwrap_or_else(|e| eprintln!("{package}: {e}"));
        }
    }
    for package in more {
        install(&["--no-deps", package]).unwrap_or_else(|e| eprintln!("{package}: {e}"));
    }
    Ok(())
}

/// The program in `peers/linfa`, built.
fn linfa(folder: &Path) -> Result<PathBuf, Failure> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/linfa/Cargo.toml");
    let target = folder.join("linfa");
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--manifest-path"]).arg(manifest);
    quiet(build.arg("--target-dir").arg(&target))?;
    Ok(target.join("release/linfa-peer"))
}

impl Packages {
    /// Installs what is missing of the sides that are needed; the first environment also makes the
    /// data.
    pub(crate) fn install(folder: &Path, needed: impl Fn(Side) -> bool) -> Self {
        let environments = [("new", NEW, &[][..]), ("old", OLD, WITHOUT_PINS)];
        for (name, packages, more) in environments {
            if name == "old" && !needed(Side::Old) {
                continue;
            }
            environment(&folder.join(name), packages, more)
                .unwrap_or_else(|e| eprintln!("no virtual environment: {e}"));
        }
        let linfa = needed(Side::Linfa)
            .then(|| linfa(folder).inspect_err(|e| eprintln!("linfa: {e}")).ok())
            .flatten();
        let mut all = Packages { folder: folder.to_path_buf(), linfa, versions: BTreeMap::new() };
        for (side, names) in [(Side::Old, OLD), (Side::Old, WITHOUT_PINS), (Side::New, NEW)] {
            all.versions.extend(all.versions_of(side, names).unwrap_or_default());
        }
        if all.linfa.is_some() {
            all.versions.insert("linfa-clustering".to_string(), "0.8".to_string());
        }
        all
    }

    fn versions_of(&self, side: Side, names: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
        let bare = names.iter().map(|n| n.split(['<', '=']).next().unwrap_or(n));
        let out =
            Command::new(self.python(side)).arg(script()).arg("versions").args(bare).output()?;
        Ok(serde_json::from_slice(&out.stdout)?)
    }

    pub(crate) fn python(&self, side: Side) -> PathBuf {
        let name = if side == Side::Old { "old" } else { "new" };
        self.folder.join(name).join("bin/python")
    }

    /// What runs a task of the other side on the data in a folder.
    pub(crate) fn command(&self, side: Side, task: &str, data: &Path) -> Result<Command, Failure> {
        let mut command = match side {
            Side::New | Side::Old => {
                let mut command = Command::new(self.python(side));
                command.arg(script()).arg("run").arg(task);
                command
            }
            Side::Linfa => Command::new(self.linfa.as_ref().ok_or("linfa was not built")?),
            Side::Installed(program) => {
                if quiet(Command::new(program).arg("--version")).is_err() {
                    return Err(format!("no {program}").into());
                }
                let ending = if program == "octave" { "m" } else { "R" };
                let file = script().with_file_name(format!("{task}.{ending}"));
                let mut command = Command::new(program);
                command.arg(file);
                command
            }
        };
        command.arg(data);
        Ok(command)
    }
}
