use std::io::Cursor;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array, RecordBatch,
    StringArray, StringViewArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use consilience_core::MemoryBudget;

use crate::allowance::Allowance;
use crate::{Format, Input};

fn file(columns: Vec<(&str, ArrayRef)>, compression: Option<CompressionType>) -> Vec<u8> {
    of_batch(RecordBatch::try_from_iter(columns).unwrap(), compression)
}

/// As pandas writes a table: its index comes last, and is told beside the columns.
fn of_pandas(columns: Vec<(&str, ArrayRef)>, pandas: &str) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let told = std::collections::HashMap::from([("pandas".to_owned(), pandas.to_owned())]);
    let schema = batch.schema().as_ref().clone().with_metadata(told);
    of_batch(batch.with_schema(Arc::new(schema)).unwrap(), None)
}

fn of_batch(batch: RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut out = Vec::new();
    let schema = batch.schema();
    let mut writer = FileWriter::try_new_with_options(&mut out, &schema, options).unwrap();
    let middle = batch.num_rows() / 2;
    writer.write(&batch.slice(0, middle)).unwrap();
    writer.write(&batch.slice(middle, batch.num_rows() - middle)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    out
}

fn colours() -> ArrayRef {
    let colours = ["red", "blue", "red", "blue", "red", "red"];
    Arc::new(colours.into_iter().collect::<DictionaryArray<Int8Type>>())
}

fn labels(compression: Option<CompressionType>) -> Vec<u8> {
    let some = Int8Array::from(vec![Some(3), None, Some(-1), Some(3), Some(0), Some(0)]);
    let ids = StringViewArray::from(vec!["p1", "p2", "p3", "p4", "p5", "p6"]);
    let flags = BooleanArray::from(vec![true, true, false, false, true, true]);
    file(
        vec![
            ("name", Arc::new(ids)),
            ("m0", Arc::new(some)),
            ("colour", colours()),
            ("big", Arc::new(UInt64Array::from(vec![1 << 40, 7, 7, 7, 7, 1 << 40]))),
            ("flag", Arc::new(flags)),
        ],
        compression,
    )
}

const COMPRESSIONS: [Option<CompressionType>; 3] =
    [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];

#[test]
fn labels_of_all_types() {
    for compression in COMPRESSIONS {
        let bytes = labels(compression);
        let read = Input::in_memory(&bytes, Format::Arrow).label_table(&()).unwrap();
        let table = read.output;
        let members: Vec<Vec<i64>> =
            table.ensemble().members().iter().map(|m| m.to_signed()).collect();
        assert_eq!(members[0], [0, -1, -1, 0, 1, 1]);
        assert_eq!(members[1], [0, 1, 0, 1, 0, 0]);
        assert_eq!(members[2], [0, 1, 1, 1, 1, 0]);
        assert_eq!(members[3], [0, 0, 1, 1, 0, 0]);
        assert_eq!(table.cluster_names(1), ["red", "blue"]);
        assert_eq!(table.ids().unwrap().get(5), "p6");
        assert!(read.report.notes[0].contains("read as the ids"));
    }
}

#[test]
fn features_with_categories_and_holes() {
    let x = Float64Array::from(vec![Some(1.0), None, Some(2.0), Some(0.5), Some(0.0), Some(1.0)]);
    let columns: Vec<(&str, ArrayRef)> = vec![("x", Arc::new(x)), ("colour", colours())];
    let bytes = file(columns, None);
    let input = Input::in_memory(&bytes, Format::Arrow);
    let error = input.features(&()).unwrap_err();
    assert!(error.message().contains("\"colour\""), "{error}");
    let input = input.categorical(["colour"]);
    let error = input.data_table(&()).unwrap_err();
    assert!(error.message().contains("1 in column \"x\" (the first in row 1)"), "{error}");
    let table = input.missing(true).data_table(&()).unwrap().output;
    assert!(table.numbers().unwrap().clone().into_f64().unwrap()[[1, 0]].is_nan());
    assert_eq!(table.categories().unwrap().cluster_names(0), ["red", "blue"]);
    let single: ArrayRef = Arc::new(Float32Array::from(vec![1.5, 2.5]));
    let bytes = file(vec![("x", single)], None);
    let table = Input::in_memory(&bytes, Format::Arrow).features(&()).unwrap().output;
    assert!(matches!(table, crate::FeatureTable::F32(_)));
}

#[test]
fn row_numbers_are_ids() {
    let counted: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..6));
    let x: ArrayRef = Arc::new(Float32Array::from(vec![1.5, 2.5, 1.0, 0.5, 9.5, 1.0]));
    let columns = vec![("index", counted), ("x", x), ("colour", colours())];
    let bytes = file(columns.clone(), None);
    let input = Input::in_memory(&bytes, Format::Arrow);
    let table = input.categorical(["colour"]).data_table(&()).unwrap().output;
    assert_eq!((table.number_names(), table.ids().unwrap().get(5)), (&["x".to_owned()][..], "5"));
    // Also where only categories are left.
    let bytes = file(vec![columns[0].clone(), columns[2].clone()], None);
    let input = Input::in_memory(&bytes, Format::Arrow);
    let table = input.categorical(["colour"]).data_table(&()).unwrap().output;
    assert!(table.numbers().is_none() && table.ids().is_some());
    // Behind a column that is dropped it is a feature, as in text.
    let bytes = file(vec![columns[2].clone(), columns[0].clone(), columns[1].clone()], None);
    let input = Input::in_memory(&bytes, Format::Arrow).drop(["colour"]);
    let table = input.data_table(&()).unwrap().output;
    assert_eq!((table.number_names().len(), table.ids()), (2, None));
    // Beside labels that are asked for by name.
    let m: ArrayRef = Arc::new(UInt64Array::from_iter_values([1, 2, 1, 1, 2, 1]));
    for (first, ids) in [(&columns[0], 6), (&columns[1], 0)] {
        let bytes = file(vec![first.clone(), ("m", m.clone()), ("n", m.clone())], None);
        let input = Input::in_memory(&bytes, Format::Arrow).columns(["m"]);
        let table = input.label_table(&()).unwrap().output;
        assert_eq!(table.column_names(), ["m"]);
        assert_eq!(table.ids().map_or(0, crate::ObjectIds::n_objects), ids);
    }
}

/// An index without a name is no feature and no clustering: it tells the rows apart or nothing.
#[test]
fn the_index_of_pandas_is_the_ids() {
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.5, 2.5, 1.0, 0.5, 9.5, 1.0]));
    let m: ArrayRef = Arc::new(UInt64Array::from_iter_values([1, 2, 1, 1, 2, 1]));
    let shuffled: ArrayRef = Arc::new(UInt64Array::from_iter_values([4, 1, 0, 7, 3, 2]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["p", "q", "r", "s", "t", "u"]));
    let twice: ArrayRef = Arc::new(UInt64Array::from_iter_values([0, 1, 2, 0, 1, 2]));
    let halves: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5]));
    let kinds: ArrayRef = Arc::new(StringArray::from(vec!["p", "p", "r", "s", "t", "u"]));
    const NAMELESS: &str = "__index_level_0__";
    let told = |name: &str| format!("{{\"index_columns\": [\"{name}\"], \"columns\": []}}");
    for (index, name, first) in [
        (&shuffled, NAMELESS, Some("4")),
        (&names, NAMELESS, Some("p")),
        (&twice, NAMELESS, None),
        (&kinds, NAMELESS, None),
        (&halves, NAMELESS, Some("0")),
        (&names, "sample", Some("p")),
    ] {
        let bytes = of_pandas(vec![("x", x.clone()), (name, index.clone())], &told(name));
        let read = Input::in_memory(&bytes, Format::Arrow).data_table(&()).unwrap();
        assert_eq!(read.output.number_names(), ["x"]);
        assert_eq!(read.output.ids().map(|ids| ids.get(0)), first, "{name}");
        let noted = if first.is_some() { "read as the ids" } else { "it has the same twice" };
        assert!(read.report.notes[0].contains(noted), "{:?}", read.report.notes);
        let columns = vec![("m", m.clone()), ("n", m.clone()), (name, index.clone())];
        let bytes = of_pandas(columns, &told(name));
        let read = Input::in_memory(&bytes, Format::Arrow).label_table(&()).unwrap();
        assert_eq!(read.output.column_names(), ["m", "n"]);
        assert_eq!(read.output.ids().map(|ids| ids.get(0)), first, "{name}");
        assert!(read.report.notes[0].contains(noted), "{:?}", read.report.notes);
    }
    // Other ids are asked for, or stand in front.
    let columns = |first: &'static str| {
        vec![(first, names.clone()), ("m", m.clone()), ("n", m.clone()), (NAMELESS, twice.clone())]
    };
    for (first, id) in [("who", Some("who")), ("id", None), ("who", None)] {
        let bytes = of_pandas(columns(first), &told(NAMELESS));
        let mut input = Input::in_memory(&bytes, Format::Arrow);
        if let Some(id) = id {
            input = input.id(id);
        }
        let table = input.label_table(&()).unwrap().output;
        assert_eq!((table.column_names().len(), table.ids().unwrap().get(0)), (2, "p"));
    }
    // Times are plain numbers in a Parquet file.
    let kind = r#""field_name": "x", "numpy_type": "timedelta64[ns]""#;
    let pandas = format!(r#"{{"index_columns": [], "columns": [{{{kind}}}]}}"#);
    let bytes = of_pandas(vec![("x", x), ("m", m)], &pandas);
    let error = Input::in_memory(&bytes, Format::Arrow).features(&()).unwrap_err();
    assert!(error.message().contains("column \"x\" holds Duration values"), "{error}");
}

#[test]
fn types_that_are_neither_numbers_nor_text_are_named() {
    let dates: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![1, 2]));
    let bytes = file(vec![("born", dates)], None);
    let error = Input::in_memory(&bytes, Format::Arrow).ensemble(&()).unwrap_err();
    assert!(error.message().contains("column \"born\" holds Date32 values"), "{error}");
    let error =
        Input::in_memory(b"FEA1 and more than that", Format::Arrow).labels(&()).unwrap_err();
    assert!(error.message().contains("first version of Feather"), "{error}");
}

/// Files that lost their ends, and files with one wrong byte, are errors or other tables, never a
/// panic that gets out and never the end of the process.
#[test]
fn damaged_files_are_errors() {
    for compression in COMPRESSIONS {
        let whole = labels(compression);
        for end in 0..whole.len() {
            let read = Input::in_memory(&whole[..end], Format::Arrow).ensemble(&());
            assert!(read.is_err(), "{end} of {} bytes", whole.len());
        }
        for at in 0..whole.len() {
            for bit in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= bit;
                let input = Input::in_memory(&bytes, Format::Arrow);
                let _ = input.memory_budget(MemoryBudget::bytes(1 << 24)).ensemble(&());
            }
        }
    }
}

#[test]
fn what_a_file_claims_is_asked_of_the_budget() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a".repeat(1 << 16); 8]));
    let bytes = file(vec![("t", texts)], Some(CompressionType::ZSTD));
    assert!(bytes.len() < 1 << 14);
    let length = bytes.len() as u64;
    let open = |budget| {
        let allowance = Allowance::new(MemoryBudget::bytes(budget));
        super::Source::open(Box::new(Cursor::new(&bytes[..])), length, allowance).map(drop)
    };
    assert!(open(1 << 21).is_ok());
    assert_eq!(open(1 << 16).unwrap_err().kind(), consilience_core::ErrorKind::TooLarge);
}
