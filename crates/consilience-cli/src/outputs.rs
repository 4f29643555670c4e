//! The files that a command writes: opened before the work, put in their places together.

use std::path::{Path, PathBuf};

use consilience::io::{Format, Labelled, ObjectIds, OutputFile};
use ndarray::ArrayView2;

use crate::args::Common;
use crate::failure::{Failure, Outcome};
use crate::files::{self, is_standard};
use crate::summary::Summary;
use crate::terminal::{self, Terminal};

/// The files that a command was asked to write.
pub(crate) struct Outputs {
    files: Vec<Output>,
    /// Whether standard output is taken by a summary in JSON.
    json: bool,
}

struct Output {
    /// The option that names the file.
    option: &'static str,
    /// What the summary calls it.
    what: &'static str,
    path: PathBuf,
    file: OutputFile,
}

impl Outputs {
    /// None yet.
    pub(crate) fn new(common: &Common) -> Self {
        Outputs { files: Vec::new(), json: common.json }
    }

    /// A table, if it is asked for.
    pub(crate) fn table(
        self,
        option: &'static str,
        what: &'static str,
        path: Option<&Path>,
    ) -> Outcome<Self> {
        self.open(option, what, path, OutputFile::table)
    }

    /// A file of any contents, if it is asked for.
    pub(crate) fn any(
        self,
        option: &'static str,
        what: &'static str,
        path: Option<&Path>,
    ) -> Outcome<Self> {
        self.open(option, what, path, OutputFile::any)
    }

    fn open<'p>(
        mut self,
        option: &'static str,
        what: &'static str,
        path: Option<&'p Path>,
        open: impl FnOnce(&'p Path) -> consilience::Result<OutputFile>,
    ) -> Outcome<Self> {
        let Some(path) = path else { return Ok(self) };
        if let Some(other) = self.files.iter().find(|other| other.path == path) {
            let other = other.option;
            return Err(Failure::Bad(format!(
                "{other} and {option} name the same file; expected two"
            )));
        }
        let file = if is_standard(path) {
            ensure!(
                !self.json,
                "{option} -: standard output is for --json; expected one of the two"
            );
            // Bytes have no format.
            OutputFile::standard_output(Format::Csv)?
        } else {
            open(path)?
        };
        // A state is read and written.
        if option != "--state" && !is_standard(path) {
            files::will_write(option, path);
        }
        self.files.push(Output { option, what, path: path.to_path_buf(), file });
        Ok(self)
    }

    /// The file of that option, if it was asked for.
    fn of(&mut self, option: &str) -> Option<&mut OutputFile> {
        self.files.iter_mut().find(|output| output.option == option).map(|output| &mut output.file)
    }

    /// Whether that option was given.
    pub(crate) fn wants(&self, option: &str) -> bool {
        self.files.iter().any(|output| output.option == option)
    }

    /// What the objects of all tables are called.
    pub(crate) fn ids(&mut self, ids: Option<&ObjectIds>, terminal: &Terminal) {
        let options: Vec<&'static str> = self.files.iter().map(|output| output.option).collect();
        options.into_iter().for_each(|option| self.ids_of(option, ids, terminal));
    }

    /// What the objects of one table are called.
    pub(crate) fn ids_of(&mut self, option: &str, ids: Option<&ObjectIds>, terminal: &Terminal) {
        for output in self.files.iter_mut().filter(|output| output.option == option) {
            if ids.is_some() && output.path.extension().is_some_and(|ending| ending == "npy") {
                let path = output.path.display();
                terminal.note(format!("{path}: an .npy file has no place for ids"));
            }
            output.file.set_ids(ids.cloned());
        }
    }

    /// Writes clusterings, if they are asked for.
    pub(crate) fn labels(
        &mut self,
        option: &str,
        labels: Labelled<'_>,
        terminal: &Terminal,
    ) -> Outcome<()> {
        if let Some(file) = self.of(option) {
            file.write_labels(labels, terminal)?;
        }
        Ok(())
    }

    /// Writes a table of numbers, if it is asked for.
    pub(crate) fn numbers(
        &mut self,
        option: &str,
        table: ArrayView2<'_, f64>,
        terminal: &Terminal,
    ) -> Outcome<()> {
        if let Some(file) = self.of(option) {
            file.write_numbers(table, terminal)?;
        }
        Ok(())
    }

    /// Writes bytes, if they are asked for.
    pub(crate) fn bytes(&mut self, option: &str, bytes: impl AsRef<[u8]>) -> Outcome<()> {
        if let Some(file) = self.of(option) {
            file.write(bytes)?;
        }
        Ok(())
    }

    /// Prints the summary and puts all files in their places, or none of them. This comes last: all
    /// that may fail before it has left every file as it was.
    pub(crate) fn conclude(
        self,
        mut summary: Summary,
        common: &Common,
        terminal: &Terminal,
    ) -> Outcome<()> {
        if self.files.iter().any(|output| is_standard(&output.path)) {
            summary.aside();
        }
        let (mut streams, mut files) = (Vec::new(), Vec::new());
        for output in self.files {
            summary.file(output.what, &output.path);
            let group = if is_standard(&output.path) { &mut streams } else { &mut files };
            group.push(output.file);
        }
        for file in &mut files {
            file.finish()?;
        }
        terminal::conclude()?;
        // What cannot be taken back comes when nothing else can fail.
        for stream in &mut streams {
            stream.finish()?;
        }
        files.extend(streams);
        match summary.print(common, terminal) {
            // Whoever read our standard output has gone, but wanted the files.
            printed @ (Ok(()) | Err(Failure::ClosedPipe)) => {
                terminal::place();
                OutputFile::commit_all(files)?;
                printed
            }
            failed => failed,
        }
    }
}
