//! Four formats, each in every form that other programs write it; what one command writes the
//! others read.

mod common;

use std::sync::Arc;

use common::{Folder, ensemble, npy, npy_i64, npz, prepared};
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// What the program makes of an ensemble's columns, read from any format: the consensus over each
/// column alone at its own number of clusters is that column.
fn columns(folder: &Folder, pool: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|c| {
            folder.ok(&format!(
                "consensus {pool} --method eac-al --columns {c} --clusters 3 -o column.csv --quiet"
            ));
            folder.text("column.csv")
        })
        .collect()
}

/// Six objects in three columns of three clusters, with a gap.
const TABLE: [[i64; 3]; 6] = [[0, 2, 1], [0, 2, 1], [1, 7, -1], [1, 7, 0], [2, 0, 0], [2, 0, 100]];

fn expected() -> Vec<String> {
    vec![
        "label\n0\n0\n1\n1\n2\n2\n".to_owned(),
        "label\n0\n0\n1\n1\n2\n2\n".to_owned(),
        "label\n0\n0\n-1\n1\n1\n2\n".to_owned(),
    ]
}

#[test]
fn every_integer_width_order_and_byte_order_of_npy() {
    let folder = Folder::new();
    type Encode = fn(i64) -> Vec<u8>;
    let kinds: [(&str, Encode); 8] = [
        ("|i1", |x| (x as i8).to_le_bytes().to_vec()),
        ("<i2", |x| (x as i16).to_le_bytes().to_vec()),
        (">i2", |x| (x as i16).to_be_bytes().to_vec()),
        ("<i4", |x| (x as i32).to_le_bytes().to_vec()),
        ("<i8", |x| x.to_le_bytes().to_vec()),
        (">i8", |x| x.to_be_bytes().to_vec()),
        ("<f4", |x| (if x < 0 { f32::NAN } else { x as f32 }).to_le_bytes().to_vec()),
        (">f8", |x| (x as f64).to_be_bytes().to_vec()),
    ];
    for (descr, encode) in kinds {
        let by_rows: Vec<u8> = TABLE.iter().flatten().flat_map(|&x| encode(x)).collect();
        let by_columns: Vec<u8> =
            (0..3).flat_map(|c| TABLE.iter().flat_map(move |row| encode(row[c]))).collect();
        folder.write("c.npy", npy(descr, false, "(6, 3)", &by_rows));
        folder.write("f.npy", npy(descr, true, "(6, 3)", &by_columns));
        assert_eq!(columns(&folder, "c.npy", 3), expected(), "{descr} by rows");
        assert_eq!(columns(&folder, "f.npy", 3), expected(), "{descr} by columns");
    }
    let unsigned: [(&str, Encode); 4] = [
        ("|u1", |x| (x as u8).to_le_bytes().to_vec()),
        ("<u2", |x| (x as u16).to_le_bytes().to_vec()),
        (">u4", |x| (x as u32).to_be_bytes().to_vec()),
        ("<u8", |x| (x as u64).to_le_bytes().to_vec()),
    ];
    for (descr, encode) in unsigned {
        // Without the third column, whose -1 no unsigned number holds.
        let bytes: Vec<u8> =
            TABLE.iter().flat_map(|row| [row[0], row[1]]).flat_map(encode).collect();
        folder.write("u.npy", npy(descr, false, "(6, 2)", &bytes));
        assert_eq!(columns(&folder, "u.npy", 2), expected()[..2], "{descr}");
    }
    // 1, 2, 1 and -1 in half precision, in both byte orders.
    let halves = [0x3c00u16, 0x4000, 0x3c00, 0xbc00];
    for (descr, bytes) in
        [("<f2", halves.map(u16::to_le_bytes)), (">f2", halves.map(u16::to_be_bytes))]
    {
        folder.write("h.npy", npy(descr, false, "(4,)", bytes.as_flattened()));
        folder.ok("consensus h.npy --method eac-al --clusters 2 -o h.csv");
        assert_eq!(folder.read("h.csv"), b"label\n0\n1\n0\n-1\n");
    }
    folder.write("b.npy", npy("|b1", false, "(4,)", &[1, 1, 0, 1]));
    folder.ok("consensus b.npy --method eac-al --clusters 2 -o b.csv");
    assert_eq!(folder.read("b.csv"), b"label\n0\n0\n1\n0\n");
}

#[test]
fn archives_by_name_and_without() {
    let folder = Folder::new();
    let rows: Vec<Vec<i64>> = TABLE.iter().map(|row| row.to_vec()).collect();
    let other = npy_i64(&[vec![1], vec![2]]);
    folder.write("one.npz", npz(&[("anything", npy_i64(&rows))]));
    folder.write("two.npz", npz(&[("labels", npy_i64(&rows)), ("other", other)]));
    assert_eq!(columns(&folder, "one.npz", 3), expected());
    assert_eq!(columns(&folder, "one.npz:anything", 3), expected());
    assert_eq!(columns(&folder, "two.npz:labels", 3), expected());
    folder.ok("consensus one.npz --method eac-al --clusters 3 -o out.npz:mine");
    folder.ok("score out.npz:mine out.npz");
}

#[test]
fn text_with_and_without_header_quotes_and_gaps() {
    let folder = Folder::new();
    let plain: String = TABLE.iter().map(|r| format!("{},{},{}\n", r[0], r[1], r[2])).collect();
    let gaps = plain.replace("-1", "");
    for (name, text) in [
        ("plain", plain.clone()),
        ("header", format!("a,b,c\n{plain}")),
        ("half a header", format!("a,2,3\n{plain}")),
        ("gaps", gaps.clone()),
        ("quotes", plain.replace('7', "\"7\"").replace("-1", "\"\"")),
        ("windows", format!("\u{feff}\"a\",\"b, b\",c\r\n{}", gaps.replace('\n', "\r\n"))),
        ("floats", plain.replace('7', "7.0").replace("-1", "nan")),
        ("no last line end", plain.trim_end().to_owned()),
        ("spaces", plain.replace(',', " , ")),
    ] {
        folder.write("pool.csv", text);
        assert_eq!(columns(&folder, "pool.csv", 3), expected(), "{name}");
    }
}

fn write_parquet(folder: &Folder, name: &str, compression: Compression) {
    let field = |name: &str, physical, repetition, converted| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        Arc::new(builder.with_converted_type(converted).build().unwrap())
    };
    let fields = vec![
        field("a", Physical::INT64, Repetition::REQUIRED, ConvertedType::UINT_64),
        field("b", Physical::DOUBLE, Repetition::OPTIONAL, ConvertedType::NONE),
        field("c", Physical::INT64, Repetition::OPTIONAL, ConvertedType::NONE),
        field("__index_level_0__", Physical::INT64, Repetition::OPTIONAL, ConvertedType::NONE),
    ];
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let file = std::fs::File::create(folder.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for rows in TABLE.chunks(4) {
        let mut group = writer.next_row_group().unwrap();
        for c in 0..4 {
            let mut column = group.next_column().unwrap().unwrap();
            let cells: Vec<i64> = rows.iter().map(|row| row[c % 3]).collect();
            let levels: Vec<i16> = cells.iter().map(|&x| i16::from(x >= 0)).collect();
            let present: Vec<i64> = cells.into_iter().filter(|&x| x >= 0).collect();
            match c {
                0 => column.typed::<Int64Type>().write_batch(&present, None, None).unwrap(),
                1 => {
                    let floats: Vec<f64> = present.iter().map(|&x| x as f64).collect();
                    column.typed::<DoubleType>().write_batch(&floats, Some(&levels), None).unwrap()
                }
                _ => {
                    column.typed::<Int64Type>().write_batch(&present, Some(&levels), None).unwrap()
                }
            };
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn parquet_with_nulls_row_groups_and_every_codec() {
    let folder = Folder::new();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ] {
        write_parquet(&folder, "pool.parquet", compression);
        assert_eq!(columns(&folder, "pool.parquet", 3), expected(), "{compression:?}");
    }
}

#[test]
fn what_one_command_writes_the_others_read() {
    let folder = prepared();
    let rows = ensemble();
    folder.write("pool.npy", npy_i64(&rows));
    let mut seen = Vec::new();
    for ending in ["npy", "npz", "csv", "parquet"] {
        folder.ok(&format!(
            "generate x.csv -o made.{ending} --members 7 --object-fraction 0.5 --clusters 2..9"
        ));
        folder.ok(&format!(
            "consensus made.{ending} --method eac-al --clusters 4 -o l.{ending} --soft \
            s.{ending} --quiet"
        ));
        let hard = folder.json(&format!("score l.{ending} l.npy"));
        assert_eq!(hard["scores"]["ari"], 1.0, "{ending}");
        let soft = folder.json(&format!("score --soft s.{ending} s.npy"));
        assert_eq!(soft["scores"]["jensen_shannon"], 0.0, "{ending}");
        folder.ok(&format!(
            "consensus made.{ending} --method ptgp --clusters 4 --truth l.{ending} -o again.csv"
        ));
        seen.push(folder.read("again.csv"));
        // Labels and memberships are features to whoever wants them.
        folder.ok(&format!("generate s.{ending} -o third.npy --members 2 --clusters 2..3"));
    }
    assert!(seen.windows(2).all(|w| w[0] == w[1]));
    let hidden: Vec<String> =
        folder.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn features_of_every_type_give_the_same_clusters() {
    let folder = prepared();
    let text = common::points();
    let values: Vec<f64> = text
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').map(|v| v.parse::<f64>().unwrap()))
        .collect();
    let n = values.len() / 2;
    let doubles: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let singles: Vec<u8> = values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
    let bytes: Vec<u8> = values.iter().map(|&v| v as u8).collect();
    let by_columns: Vec<u8> = (0..2)
        .flat_map(|c| values.iter().skip(c).step_by(2))
        .flat_map(|v| v.to_be_bytes())
        .collect();
    let shape = format!("({n}, 2)");
    folder.write("f8.npy", npy("<f8", false, &shape, &doubles));
    folder.write("f4.npy", npy("<f4", false, &shape, &singles));
    folder.write("u1.npy", npy("|u1", false, &shape, &bytes));
    folder.write("fortran.npy", npy(">f8", true, &shape, &by_columns));
    let mut pools = Vec::new();
    for name in ["x.csv", "f8.npy", "fortran.npy"] {
        folder.ok(&format!("generate {name} -o pool.npy --members 3 --clusters 4"));
        pools.push(folder.read("pool.npy"));
    }
    assert!(pools.windows(2).all(|w| w[0] == w[1]));
    for name in ["f4.npy", "u1.npy"] {
        folder.ok(&format!("generate {name} -o pool.npy --members 3 --clusters 4"));
        let reply =
            folder.json("consensus pool.npy --method eac-al --clusters 4 --truth truth.csv");
        assert_eq!(reply["scores"]["ari"], 1.0, "{name}");
    }
}

#[test]
fn many_clusters_take_the_width_they_need() {
    let folder = Folder::new();
    for (clusters, descr) in [(3, "|i1"), (128, "|i1"), (129, "<i2"), (40_000, "<i4")] {
        let rows: Vec<Vec<i64>> = (0..clusters).map(|i| vec![i << 20]).chain([vec![-1]]).collect();
        folder.write("labels.npy", npy_i64(&rows));
        folder
            .write("truth.npy", npy_i64(&(0..=clusters).map(|i| vec![i % 2]).collect::<Vec<_>>()));
        let reply = folder.json("score labels.npy truth.npy");
        assert_eq!(reply["clusters"], clusters);
        if clusters < 1000 {
            folder.ok(&format!(
                "consensus labels.npy --method eac-sl --clusters {clusters} -o out.npy"
            ));
            let written = folder.read("out.npy");
            assert!(String::from_utf8_lossy(&written[..80]).contains(descr), "{clusters}");
            assert_eq!(folder.json("score out.npy labels.npy")["scores"]["ari"], 1.0);
        }
    }
}
