use std::io::{Cursor, Write};

use consilience_core::{ErrorKind, Features};
use sprs::CsMat;
use zip::write::SimpleFileOptions;

use crate::{FeatureTable, Format, Input};

fn read(text: &str, format: Format) -> FeatureTable {
    Input::in_memory(text.as_bytes(), format).features(&()).unwrap().output
}

fn matrix(table: &FeatureTable) -> &CsMat<f64> {
    match table {
        FeatureTable::Sparse64(x) => x,
        other => panic!("no sparse doubles: {other:?}"),
    }
}

fn error(content: &[u8], format: Format) -> (ErrorKind, String) {
    let error = Input::in_memory(content, format).features(&()).unwrap_err();
    (error.kind(), error.message().to_owned())
}

#[test]
fn matrix_market_says_what_it_holds() {
    let text = "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 3\n\
                3 1 -2.5\n1 4 7\n1 2 1e-3\n";
    let table = read(text, Format::MatrixMarket);
    let expected = CsMat::new((3, 4), vec![0, 2, 2, 3], vec![1, 3, 0], vec![1e-3, 7.0, -2.5]);
    assert_eq!(matrix(&table), &expected);
    let text = "%%MatrixMarket MATRIX Coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
    let table = read(text, Format::MatrixMarket);
    assert_eq!(matrix(&table).to_dense(), ndarray::array![[1.0, 1.0], [1.0, 0.0]]);
    let text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n";
    let table = read(text, Format::MatrixMarket);
    assert_eq!(matrix(&table).to_dense(), ndarray::array![[0.0, -3.0], [3.0, 0.0]]);
    let text = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n";
    let table = read(text, Format::MatrixMarket);
    assert_eq!(table.into_f64().unwrap(), ndarray::array![[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
}

#[test]
fn columns_that_are_only_counted_take_no_memory() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 4000000000 1\n1 7 1\n";
    let input = Input::in_memory(text.as_bytes(), Format::MatrixMarket);
    let table = input.data_table(&()).unwrap().output;
    assert_eq!(table.view().unwrap().n_features(), 4_000_000_000);
    assert!(table.number_names().is_empty());
}

#[test]
fn damaged_matrix_market_is_told_by_line() {
    let coordinate = "%%MatrixMarket matrix coordinate real general\n";
    let (_, empty) =
        error(b"%%MatrixMarket matrix array real general\n2 0\n", Format::MatrixMarket);
    assert_eq!(empty, "no column of features is left; expected one at least");
    for (text, says) in [
        ("1 2 3\n".to_owned(), "no Matrix Market"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n".into(), "field"),
        ("%%MatrixMarket matrix elemental real general\n".into(), "layout"),
        ("%%MatrixMarket matrix coordinate real hermitian\n".into(), "symmetry"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n".into(), "2 rows and 3"),
        (coordinate.into(), "sizes"),
        (format!("{coordinate}2 2\n"), "entries"),
        (format!("{coordinate}2 2 1\n3 1 1\n"), "line 3: row 3; expected 1 to 2"),
        (format!("{coordinate}2 2 1\n0 1 1\n"), "line 3: row 0"),
        (format!("{coordinate}2 2 1\n1 1 x\n"), "line 3: value"),
        (format!("{coordinate}2 2 1\n1 1 nan\n"), "line 3: value"),
        (format!("{coordinate}2 2 1\n1 1\n"), "line 3: value"),
        (format!("{coordinate}2 2 2\n1 1 1\n"), "truncated: 1 of 2"),
        (format!("{coordinate}2 2 1\n1 1 1\n2 2 1\n"), "line 4: more than the 1"),
        (format!("{coordinate}2 2 2\n1 1 1\n1 1 2\n"), "column 0 twice"),
        (format!("{coordinate}99999999999999 2 0\n"), "memory"),
    ] {
        let (kind, message) = error(text.as_bytes(), Format::MatrixMarket);
        assert!(message.contains(says), "{text}: {kind:?} {message}");
    }
}

#[test]
fn svmlight_holds_classes_and_entries() {
    let text = "# a comment\n+1 1:0.5 3:2 # one\n-1 qid:7 2:1\n\n+1\n";
    let table = read(text, Format::Svmlight);
    let expected = ndarray::array![[0.5, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]];
    assert_eq!(matrix(&table).to_dense(), expected);
    let classes = Input::in_memory(text.as_bytes(), Format::Svmlight).labels(&()).unwrap().output;
    assert_eq!(classes.to_signed(), [0, 1, 0]);
    // From 0 on where a column 0 is there, which is said.
    let read = Input::in_memory(b"a 0:1\nb 2:1\n", Format::Svmlight).features(&()).unwrap();
    assert_eq!(read.output.view().n_features(), 3);
    assert_eq!(read.report.notes, ["columns are counted from 0"]);
    for (text, says) in [
        ("1 2\n", "line 1: \"2\"; expected column:value"),
        ("1 x:2\n", "line 1: column"),
        ("1 2:x\n", "line 1: value"),
        ("1 2:inf\n", "line 1: value"),
        ("1 5:1 5:2\n", "column 4 twice"),
        ("1 99999999999:1\n", "2^32"),
        ("1\n2\n", "no entries"),
    ] {
        let (_, message) = error(text.as_bytes(), Format::Svmlight);
        assert!(message.contains(says), "{text}: {message}");
    }
}

/// An array as NumPy writes it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (head.len() + 11) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes.extend(data);
    bytes
}

fn whole(values: &[i32]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", values.len()), &data)
}

/// What `scipy.sparse.save_npz` writes.
fn scipy(layout: &str, shape: [i32; 2], starts: &[i32], indices: &[i32], data: &[f32]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let values: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
    for (name, bytes) in [
        ("indices", whole(indices)),
        ("indptr", whole(starts)),
        ("format", npy("|S3", "()", layout.as_bytes())),
        ("shape", whole(&shape)),
        ("data", npy("<f4", &format!("({},)", data.len()), &values)),
    ] {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn archives_of_scipy_by_rows_and_by_columns() {
    let expected = ndarray::array![[0.0f32, 5.0, 0.0], [6.0, 0.0, 7.0]];
    for (layout, starts, indices, data) in [
        ("csr", &[0, 1, 3][..], [1, 0, 2], [5.0, 6.0, 7.0]),
        ("csc", &[0, 1, 2, 3][..], [1, 0, 1], [6.0, 5.0, 7.0]),
    ] {
        let content = scipy(layout, [2, 3], starts, &indices, &data);
        let read = Input::in_memory(&content, Format::Npz).features(&()).unwrap().output;
        assert!(matches!(read.view(), Features::Sparse32(_)));
        let FeatureTable::Sparse32(found) = &read else { panic!("{layout}") };
        assert_eq!(found.to_dense(), expected, "{layout}");
        assert!(found.is_csr());
        let one = read.select(&[1]);
        assert_eq!((one.view().n_objects(), one.into_f64().is_err()), (1, true));
    }
}

#[test]
fn damaged_archives_are_refused() {
    let data = [5.0, 6.0, 7.0];
    for (content, says) in [
        (scipy("coo", [2, 3], &[0, 1, 3], &[1, 0, 2], &data), "layout \"coo\""),
        (scipy("csr", [2, 3], &[0, 3], &[1, 0, 2], &data), "2 pointers for 2 rows"),
        (scipy("csr", [2, 3], &[0, 3, 2], &[1, 0, 2], &data), "row pointers"),
        (scipy("csr", [2, 3], &[0, 4, 3], &[1, 0, 2], &data), "row pointers"),
        (scipy("csr", [2, 3], &[0, -1, 3], &[1, 0, 2], &data), "entry 1 is -1"),
        (scipy("csr", [2, 3], &[0, 1, 3], &[1, 2, 0], &data), "column 0 after 2"),
        (scipy("csr", [2, 3], &[0, 1, 3], &[1, 2, 2], &data), "column 2 twice"),
        (scipy("csr", [2, 3], &[0, 1, 3], &[1, 0, 3], &data), "column 3 of 3"),
        (scipy("csr", [2, 3], &[0, 1, 3], &[1, 0], &data), "2 column numbers for 3"),
        (scipy("csr", [2, 3], &[0, 1, 3], &[1, 0, 2], &[1.0, f32::NAN, 1.0]), "row 1"),
    ] {
        let (_, message) = error(&content, Format::Npz);
        assert!(message.contains(says), "{says}: {message}");
    }
    let content = scipy("csr", [2, 3], &[0, 1, 3], &[1, 0, 2], &data);
    for cut in 0..content.len() {
        assert!(Input::in_memory(&content[..cut], Format::Npz).features(&()).is_err());
    }
    let input = Input::in_memory(&content, Format::Npz);
    assert!(input.clone().drop(["1"]).features(&()).is_err());
    assert!(input.memberships(&()).is_err() && input.counts(&()).is_err());
}
