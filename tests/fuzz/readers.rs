//! Readers of tables.

use consilience::io::{Format, Input, OutputFile};
use consilience::ndarray::Array2;
use consilience::{Ensemble, Memberships, MemoryBudget, Partition, Result, Seed};

use super::driver::{Target, inputs};

const FORMATS: [(Format, &str); 7] = [
    (Format::Arrow, "arrow"),
    (Format::Csv, "csv"),
    (Format::Csv, "csv.gz"),
    (Format::Csv, "csv.zst"),
    (Format::Npy, "npy"),
    (Format::Npz, "npz"),
    (Format::Parquet, "parquet"),
];

/// What no file of some hundred bytes is worth.
fn budget() -> MemoryBudget {
    MemoryBudget::bytes(64 << 20)
}

/// The bytes of a file that something is written to.
fn written(ending: &str, write: impl FnOnce(&mut OutputFile) -> Result<()>) -> Vec<u8> {
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

fn attack(
    name: &str,
    format: Format,
    valid: Vec<Vec<u8>>,
    read: impl Fn(Input<'_>) -> bool + Sync,
) {
    let name = format!("{name}, {format:?}");
    let read = |bytes: &[u8]| read(input(bytes, format));
    let usual = if format == Format::Csv { 40_000 } else { 20_000 };
    Target { name: &name, valid, read: Box::new(read) }.attack(inputs(usual));
}

#[test]
fn ensembles_survive() {
    for (format, ending) in FORMATS {
        let one = |e: &Ensemble| {
            written(ending, |file| file.write_labels(consilience::io::Labelled::All(e), &()))
        };
        let valid = ensembles().iter().map(one).collect();
        attack("ensembles", format, valid, |input| {
            let Ok(fit) = input.ensemble(&()) else {
                return false;
            };
            let (n, m) = (fit.output.n_objects(), fit.output.n_members());
            assert!(n > 0 && m > 0);
            for member in fit.output.members() {
                assert_eq!(member.n_objects(), n);
                assert!(member.iter().flatten().all(|label| label < member.n_clusters()));
            }
            true
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
            let Ok(fit) = input.labels(&()) else {
                return false;
            };
            let clusters = fit.output.n_clusters();
            assert_eq!(fit.output.sizes().len(), clusters);
            assert!(fit.output.iter().flatten().all(|label| label < clusters));
            true
        });
    }
}

#[test]
fn features_survive() {
    for (format, ending) in FORMATS {
        let one = |x: &Array2<f64>| written(ending, |file| file.write_numbers(x.view(), &()));
        let valid = numbers().iter().map(one).collect();
        attack("features", format, valid, |input| {
            let Ok(fit) = input.features(&()) else {
                return false;
            };
            fit.output.view().check().expect("what is read has been checked");
            true
        });
    }
}

#[test]
fn memberships_survive() {
    let soft = Memberships::from(&Partition::from_labels(&[0, 1, 1, 2]).unwrap());
    for (format, ending) in FORMATS {
        let bytes = written(ending, |file| file.write_numbers(soft.values(), &()));
        attack("memberships", format, vec![bytes], |input| {
            let Ok(fit) = input.memberships(&()) else {
                return false;
            };
            for row in fit.output.values().rows() {
                assert!((row.sum() - 1.0).abs() < 1e-6, "{row}");
            }
            true
        });
    }
}

#[test]
fn counts_survive() {
    attack("counts", Format::Csv, vec![b"3\n1\n12\n".to_vec(), b"n\n1\n".to_vec()], |input| {
        input.counts(&()).is_ok_and(|fit| {
            assert!(fit.output.iter().all(|&count| count > 0));
            true
        })
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
    attack("answers", Format::Csv, valid, |input| input.answers(&()).is_ok());
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
        std::fs::write(&path, bytes).unwrap();
        let batches = consilience::io::read_batches(&path);
        let whole = consilience::io::read_constraints(&path, 6);
        if let (Ok(batches), Ok(constraints)) = (&batches, &whole) {
            for pair in batches.iter().flat_map(|b| &b.pairs) {
                assert_eq!(constraints.relation(pair.i, pair.j), Some(pair.link));
            }
        }
        batches.is_ok()
    };
    let valid = valid.map(<[u8]>::to_vec).into();
    Target { name: "constraints", valid, read: Box::new(read) }.attack(inputs(8_000));
}
