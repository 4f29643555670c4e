//! Disks that cannot be read from some byte on, and what every reader says of them.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// The bytes of a file of which those from some byte on cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    pub(crate) content: Arc<Vec<u8>>,
    /// The first byte that cannot be read; the end of the file is one, too.
    pub(crate) bad: usize,
    at: usize,
}

impl Faulty {
    pub(crate) fn new(content: Vec<u8>, bad: usize) -> Self {
        Faulty { content: Arc::new(content), bad, at: 0 }
    }
}

impl Read for Faulty {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = self.content.len().min(self.bad);
        if self.at >= end && self.at >= self.bad && !buffer.is_empty() {
            // Input/output error.
            return Err(io::Error::from_raw_os_error(5));
        }
        let count = buffer.len().min(end.saturating_sub(self.at));
        buffer[..count].copy_from_slice(&self.content[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl Seek for Faulty {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (0, at as i64),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.content.len(), by),
        };
        let at = (from as u64).checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        self.at = at as usize;
        Ok(at)
    }
}

#[cfg(feature = "parquet")]
impl parquet::file::reader::Length for Faulty {
    fn len(&self) -> u64 {
        self.content.len() as u64
    }
}

#[cfg(feature = "parquet")]
impl parquet::file::reader::ChunkReader for Faulty {
    type T = Faulty;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Faulty> {
        Ok(Faulty { at: start as usize, ..self.clone() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        let mut buffer = vec![0; length];
        self.get_read(start)?.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use consilience_core::{Ensemble, ErrorKind, Partition, Result};
    use ndarray::Array2;

    use super::*;
    use crate::{Format, Input, Labelled, ObjectIds, OutputFile};

    const ROWS: usize = 40;

    fn ensemble() -> Ensemble {
        let label = |i: usize, step: usize| (i * step % 7) as i64 - i64::from(i.is_multiple_of(11));
        let member =
            |step| Partition::from_labels(&(0..ROWS).map(|i| label(i, step)).collect::<Vec<_>>());
        Ensemble::new([1, 3, 5].map(|step| member(step).unwrap()).into()).unwrap()
    }

    fn formats() -> [(&'static str, Format); 7] {
        [
            ("t.csv", Format::Csv),
            ("t.csv.gz", Format::Csv),
            ("t.csv.zst", Format::Csv),
            ("t.npy", Format::Npy),
            ("t.npz", Format::Npz),
            ("t.parquet", Format::Parquet),
            ("t.arrow", Format::Arrow),
        ]
    }

    /// What a writer makes of a name.
    fn written(name: &str, write: impl Fn(&mut OutputFile) -> Result<()>) -> Vec<u8> {
        let path = tempfile::tempdir().unwrap().path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OutputFile::table(&path).unwrap();
        if !name.ends_with("npy") {
            file.set_ids(ObjectIds::new((0..ROWS).map(|i| format!("object {i}"))).unwrap());
        }
        write(&mut file).unwrap();
        file.commit().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        bytes
    }

    /// Reads with every byte as the first bad one: an error, unless nothing from there on is asked
    /// for; never another table, nor an end that comes too soon.
    fn attack<T: PartialEq + Debug>(
        name: &str,
        format: Format,
        bytes: &[u8],
        read: impl Fn(&Input<'_>) -> Result<T>,
    ) {
        let whole = read(&Input::in_memory(bytes, format)).unwrap();
        let mut refused = 0;
        for bad in 0..=bytes.len() {
            match read(&Input::faulty(Faulty::new(bytes.to_vec(), bad), format)) {
                Ok(found) => assert_eq!(found, whole, "{name}, {bad} of {} bytes", bytes.len()),
                Err(error) => {
                    let told = error.kind() == ErrorKind::Io
                        && error.message().contains("Input/output error")
                        && !error.message().contains("damaged");
                    assert!(told, "{name}, {bad} of {} bytes: {error:?}", bytes.len());
                    refused += 1;
                }
            }
        }
        assert!(2 * refused > bytes.len(), "{name}: {refused} refused of {}", bytes.len());
    }

    #[test]
    fn labels() {
        for (name, format) in formats() {
            let bytes = written(name, |file| file.write_labels(Labelled::All(&ensemble()), &()));
            attack(name, format, &bytes, |input| Ok(input.ensemble(&())?.output));
        }
    }

    #[test]
    fn numbers() {
        let table = Array2::from_shape_fn((ROWS, 3), |(i, j)| 1.0 / (1 + i + j) as f64);
        for (name, format) in formats() {
            let bytes = written(name, |file| file.write_numbers(table.view(), &()));
            attack(name, format, &bytes, |input| Ok(input.features(&())?.output.into_f64()));
        }
    }

    #[test]
    fn answers_and_edges() {
        let answers = "worker,i,j,same\nann,0,1,no\nbob,1,2,yes\n";
        attack("answers", Format::Csv, answers.as_bytes(), |input| {
            Ok(input.answers(&())?.output.rows().to_vec())
        });
        let edges = "from,to\n0,2\n2,1\n";
        attack("edges", Format::Csv, edges.as_bytes(), |input| {
            Ok(input.edges(3, None, &())?.output)
        });
    }
}
