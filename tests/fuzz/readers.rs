//! Readers of tables.

use std::fs::OpenOptions;
use std::io::{Cursor, Write};
use std::path::Path;

use consilience::io::{Format, Input, OutputFile};
use consilience::ndarray::Array2;
use consilience::{Ensemble, Memberships, MemoryBudget, Partition, Result, Seed};

use super::driver::{Target, Verdict};

pub(crate) const FORMATS: [(Format, &str); 7] = [
    (Format::Arrow, "arrow"),
    (Format::Csv, "csv"),
    (Format::Csv, "csv.gz"),
    (Format::Csv, "csv.zst"),
    (Format::Npy, "npy"),
    (Format::Npz, "npz"),
    (Format::Parquet, "parquet"),
];

/// What no file of some hundred bytes is worth.
pub(crate) fn budget() -> MemoryBudget {
    MemoryBudget::bytes(64 << 20)
}

/// The bytes of a file that something is written to.
pub(crate) fn written(ending: &str, write: impl FnOnce(&mut OutputFile) -> Result<()>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("table.{ending}"));
    let mut file = OutputFile::table(&path).unwrap();
    write(&mut file).unwrap();
    file.commit().unwrap();
    std::fs::read(path).unwrap()
}

fn ensembles() -> Vec<Ensemble> {
    let mut stream = Seed(3).stream();
    let shapes = [(1, 1), (5, 2), (12, 3), (40, 6)];
    let ensemble = |(n, m)| {
        let x = Array2::from_shape_simple_fn((n, m), || stream.below(5) as i64 - 1);
        Ensemble::from_array(x.view()).unwrap()
    };
    shapes.map(ensemble).into()
}

fn numbers() -> Vec<Array2<f64>> {
    let mut stream = Seed(4).stream();
    [(1, 1), (4, 3), (30, 2)]
        .map(|shape| Array2::from_shape_simple_fn(shape, || stream.normal() * 1e3))
        .into()
}

fn input(bytes: &[u8], format: Format) -> Input<'_> {
    Input::in_memory(bytes, format).memory_budget(budget())
}

pub(crate) fn attack(
    name: &str,
    format: Format,
    valid: Vec<Vec<u8>>,
    read: impl Fn(Input<'_>) -> Verdict + Sync,
) {
    let name = format!("{name}, {format:?}");
    let read = |bytes: &[u8]| read(input(bytes, format));
    let usual = if format == Format::Csv { 20_000 } else { 10_000 };
    Target::new(&name, valid, read).attack(usual);
}

#[test]
fn ensembles_survive() {
    for (format, ending) in FORMATS {
        let one = |e: &Ensemble| {
            written(ending, |file| file.write_labels(consilience::io::Labelled::All(e), &()))
        };
        let valid = ensembles().iter().map(one).collect();
        attack("ensembles", format, valid, |input| {
            let fit = input.ensemble(&())?;
            let (n, m) = (fit.output.n_objects(), fit.output.n_members());
            assert!(n > 0 && m > 0);
            for member in fit.output.members() {
                assert_eq!(member.n_objects(), n);
                assert!(member.iter().flatten().all(|label| label < member.n_clusters()));
            }
            Ok(())
        });
    }
}

#[test]
fn labels_survive() {
    let p = Partition::from_labels(&[0, 1, 1, -1, 2, 0]).unwrap();
    for (format, ending) in FORMATS {
        let bytes =
            written(ending, |file| file.write_labels(consilience::io::Labelled::One(&p), &()));
        attack("labels", format, vec![bytes], |input| {
            let fit = input.labels(&())?;
            let clusters = fit.output.n_clusters();
            assert_eq!(fit.output.sizes().len(), clusters);
            assert!(fit.output.iter().flatten().all(|label| label < clusters));
            Ok(())
        });
    }
}

#[test]
fn features_survive() {
    for (format, ending) in FORMATS {
        let one = |x: &Array2<f64>| written(ending, |file| file.write_numbers(x.view(), &()));
        let valid = numbers().iter().map(one).collect();
        attack("features", format, valid, |input| {
            let fit = input.features(&())?;
            fit.output.view().check().expect("what is read has been checked");
            Ok(())
        });
    }
}

/// What `scipy.sparse.save_npz` writes: [[0, 5, 0], [6, 0, 7]].
fn scipy() -> Vec<u8> {
    let array = |descr: &str, shape: &str, data: Vec<u8>| {
        let mut head =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        while (head.len() + 11) % 64 != 0 {
            head.push(' ');
        }
        head.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((head.len() as u16).to_le_bytes());
        bytes.extend(head.into_bytes().into_iter().chain(data));
        bytes
    };
    let whole = |values: &[i32]| {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        array("<i4", &format!("({},)", values.len()), data)
    };
    let values = [5.0f64, 6.0, 7.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("indices.npy", whole(&[1, 0, 2])),
        ("indptr.npy", whole(&[0, 1, 3])),
        ("format.npy", array("|S3", "()", b"csr".to_vec())),
        ("shape.npy", whole(&[2, 3])),
        ("data.npy", array("<f8", "(3,)", values)),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn sparse_features_survive() {
    let market: [&[u8]; 3] = [
        b"%%MatrixMarket matrix coordinate real general\n% words\n3 4 3\n3 1 -2.5\n1 4 7\n1 2 1\n",
        b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 2\n",
        b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
    ];
    let lines: [&[u8]; 2] = [b"+1 1:0.5 3:2 # one\n-1 qid:7 2:1\n", b"a 0:1\nb 5:1 9:1e3\n"];
    for (format, valid) in [
        (Format::MatrixMarket, market.map(<[u8]>::to_vec).to_vec()),
        (Format::Svmlight, lines.map(<[u8]>::to_vec).to_vec()),
        (Format::Npz, vec![scipy()]),
    ] {
        attack("sparse features", format, valid, |input| {
            let _ = input.labels(&());
            let fit = input.features(&())?;
            fit.output.view().check().expect("what is read has been checked");
            Ok(())
        });
    }
}

#[test]
fn memberships_survive() {
    let soft = Memberships::from(&Partition::from_labels(&[0, 1, 1, 2]).unwrap());
    for (format, ending) in FORMATS {
        let bytes = written(ending, |file| file.write_numbers(soft.values(), &()));
        attack("memberships", format, vec![bytes], |input| {
            let fit = input.memberships(&())?;
            for row in fit.output.values().rows() {
                assert!((row.sum() - 1.0).abs() < 1e-6, "{row}");
            }
            Ok(())
        });
    }
}

#[test]
fn counts_survive() {
    attack("counts", Format::Csv, vec![b"3\n1\n12\n".to_vec(), b"n\n1\n".to_vec()], |input| {
        let fit = input.counts(&())?;
        assert!(fit.output.iter().all(|&count| count > 0));
        Ok(())
    });
}

#[test]
fn answers_survive() {
    let valid: [&[u8]; 3] = [
        b"worker,i,j,same\n0,0,1,yes\n0,1,2,no\n1,0,2,0\n",
        b"worker,task,item,group\n0,0,0,0\n0,0,1,1\n1,0,0,3\n",
        b"worker,task,item,keyword\n0,0,0,a\n0,0,1,b\n1,1,1,a\n",
    ];
    let valid = valid.map(<[u8]>::to_vec).into();
    // Workers and tasks may be any numbers, such as hashes: there is no law but the answer itself.
    attack("answers", Format::Csv, valid, |input| input.answers(&()).map(drop));
}

/// Puts these bytes in place of those of a file that may be there. Some file systems write a file
/// to the disk that was made empty before, which takes a hundred times as long as to read it.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(false).open(path).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

#[test]
fn constraints_survive() {
    let valid: [&[u8]; 3] = [
        b"i,j,link\n0,1,must\n1,2,cannot\n",
        b"0,1,must\n3,4,must\n1,3,cannot\n",
        b"i,j,link,batch\n0,1,must,monday\n1,2,cannot,tuesday\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    let read = |bytes: &[u8]| {
        // Readers of constraints take a path.
        let thread = rayon::current_thread_index().map_or_else(|| "main".into(), |i| i.to_string());
        let path = folder.path().join(format!("{thread}.csv"));
        overwrite(&path, bytes);
        let batches = consilience::io::read_batches(&path);
        let whole = consilience::io::read_constraints(&path, 6);
        if let (Ok(batches), Ok(constraints)) = (&batches, &whole) {
            for pair in batches.iter().flat_map(|b| &b.pairs) {
                assert_eq!(constraints.relation(pair.i, pair.j), Some(pair.link));
            }
        }
        batches.map(drop)
    };
    let valid = valid.map(<[u8]>::to_vec).into();
    Target::new("constraints", valid, read).attack(8_000);
}
