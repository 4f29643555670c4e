//! Readers of what has ids, names, holes or several arrays.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use consilience::graph::Network;
use consilience::io::{Format, Input, Labelled, ObjectIds, read_batches_by_id};
use consilience::ndarray::{Array2, array};
use consilience::{Ensemble, Partition};

use super::driver::Target;
use super::readers::{FORMATS, attack, overwrite, written};

fn ids() -> ObjectIds {
    ObjectIds::new(["kit", "rex", "tom", "ann,\"b\"", "é", "7"]).unwrap()
}

/// An archive of `.npy` arrays, stored as they are.
fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), stored).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn npy(descr: &str, shape: &str, data: Vec<u8>) -> Vec<u8> {
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (head.len() + 11) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.into_bytes().into_iter().chain(data));
    bytes
}

fn whole(values: &[i64]) -> Vec<u8> {
    let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", values.len()), data)
}

fn numbers(rows: &[[f64; 2]]) -> Vec<u8> {
    let data = rows.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    npy("<f8", &format!("({}, 2)", rows.len()), data)
}

#[test]
fn edges_survive() {
    let table = array![[0.0, 1.0], [1.0, 2.0], [4.0, 2.0]];
    let nodes = 6;
    for (format, ending) in FORMATS {
        let mut valid = vec![written(ending, |file| file.write_numbers(table.view(), &()))];
        if ending == "csv" {
            valid.push(b"from,to\nkit,tom\ntom,\"ann,\"\"b\"\"\"\n7,rex\n".to_vec());
            valid.push(b"0,1\n1,5\n".to_vec());
        }
        let ids = ids();
        attack("edges", format, valid, |input| {
            let found = input.edges(nodes, Some(&ids), &())?.output;
            assert!(found.iter().all(|&(i, j)| i != j && i < nodes && j < nodes), "{found:?}");
            let network = Network::new(nodes, found.iter().copied())?;
            assert!(network.n_edges() <= found.len());
            Ok(())
        });
    }
}

#[test]
fn tables_of_labels_survive() {
    let p = Partition::from_labels(&[0, 1, 1, -1, 2, 0]).unwrap();
    let ensemble = Ensemble::new(vec![p.clone(), p]).unwrap();
    for (format, ending) in FORMATS {
        let mut valid = vec![written(ending, |file| {
            file.set_ids(ids());
            file.write_labels(Labelled::All(&ensemble), &())
        })];
        if ending == "csv" {
            valid.push(b"id,colour,size\nkit,red,1\nrex,,2\ntom,red,NA\n".to_vec());
        }
        attack("tables of labels", format, valid, |input| {
            let table = input.id_optional(true).label_table(&())?.output;
            let (n, columns) = (table.ensemble().n_objects(), table.ensemble().n_members());
            assert_eq!(table.column_names().len(), columns);
            for (c, member) in table.ensemble().members().iter().enumerate() {
                assert_eq!(table.cluster_names(c).len(), member.n_clusters());
            }
            if let Some(found) = table.ids() {
                assert_eq!(found.n_objects(), n);
                // No id comes twice: each is found in its own row.
                let rows = found.rows_in(found)?;
                assert!(rows.iter().enumerate().all(|(i, &row)| row == Some(i)), "{rows:?}");
            }
            Ok(())
        });
    }
}

#[test]
fn tables_of_data_survive() {
    let text = b"id,x,colour,y\nkit,1,red,-2.5\nrex,,blue,1e3\ntom,7,,NA\n".to_vec();
    let x = Array2::from_shape_fn((6, 3), |(i, j)| if i == j { f64::NAN } else { i as f64 });
    for (format, ending) in FORMATS {
        let mut valid = vec![written(ending, |file| {
            file.set_ids(ids());
            file.write_numbers(x.view(), &())
        })];
        if ending == "csv" {
            valid = vec![text.clone()];
        }
        let categorical = (ending == "csv").then_some("colour");
        attack("tables of data", format, valid, |input| {
            let input = input.id_optional(true).missing(true).categorical(categorical);
            let table = input.data_table(&())?.output;
            let n = table.n_objects();
            assert!(table.ids().is_none_or(|ids| ids.n_objects() == n));
            if let Some(numbers) = table.numbers() {
                assert_eq!(numbers.view().n_objects(), n);
                let named = numbers.view().n_features() == table.number_names().len();
                assert!(named || numbers.view().is_sparse());
            }
            let categories = table.categories();
            assert!(categories.is_none_or(|c| c.ensemble().n_objects() == n));
            Ok(())
        });
    }
}

#[test]
fn members_of_either_kind_survive() {
    let soft = numbers(&[[0.5, 0.5], [1.0, 0.0], [0.25, 0.75]]);
    let valid = npz(&[("member_0", whole(&[0, 1, 1])), ("member_1", soft)]);
    attack("members", Format::Npz, vec![valid], |input| {
        let ensemble = input.ensemble(&())?.output;
        let n = ensemble.n_objects();
        for (u, member) in ensemble.members().iter().enumerate() {
            assert_eq!(member.n_objects(), n);
            let Some(soft) = ensemble.soft(u) else { continue };
            for i in 0..n {
                let sum: f64 = soft.row(i).1.iter().sum();
                assert!(soft.row(i).0.is_empty() || (sum - 1.0).abs() < 1e-6, "{sum}");
            }
        }
        Ok(())
    });
}

#[test]
fn answers_in_archives_survive() {
    let arrays = |names: [&'static str; 4]| {
        let values = [[0, 0, 1], [0, 1, 0], [1, 2, 2], [1, 0, 0]];
        let arrays: Vec<_> = names.into_iter().zip(values.map(|v| whole(&v))).collect();
        npz(&arrays)
    };
    let valid =
        vec![arrays(["worker", "i", "j", "same"]), arrays(["worker", "task", "item", "group"])];
    attack("answers", Format::Npz, valid, |input| {
        let table = input.answers(&())?.output;
        assert!(table.ids().is_none_or(|ids| ids.n_objects() == table.n_objects()));
        Ok(())
    });
}

#[test]
fn answers_by_id_survive() {
    let valid: [&[u8]; 2] = [
        b"worker,i,j,same\nann,rex,tom,no\nbob,tom,kit,yes\n",
        b"worker,task,item,keyword\nann,0,kit,red\nann,0,7,blue\nbob,1,rex,red\n",
    ];
    let ids = ids();
    attack("answers by id", Format::Csv, valid.map(<[u8]>::to_vec).into(), |input: Input<'_>| {
        let table = input.answers_by_id(&ids, &())?.output;
        assert_eq!(table.ids(), Some(&ids));
        assert!(table.n_objects() <= ids.n_objects());
        Ok(())
    });
}

#[test]
fn batches_by_id_survive() {
    let valid: [&[u8]; 2] = [
        b"i,j,link\nkit,rex,must\nrex,7,cannot\n",
        b"i,j,link,batch\nkit,tom,must,monday\nrex,tom,cannot,tuesday\nkit,rex,cannot,monday\n",
    ];
    let (ids, folder) = (ids(), tempfile::tempdir().unwrap());
    let path = |name: &str| -> PathBuf {
        let thread = rayon::current_thread_index().map_or_else(|| "main".into(), |i| i.to_string());
        folder.path().join(format!("{name}{thread}.csv"))
    };
    let read = |bytes: &[u8]| {
        // Readers of constraints take a path.
        let path = path("batches");
        overwrite(&path, bytes);
        let batches = read_batches_by_id(&path, &ids)?.output;
        for pair in batches.iter().flat_map(|batch| &batch.pairs) {
            assert!(pair.i < ids.n_objects() && pair.j < ids.n_objects(), "{pair:?}");
        }
        Ok(())
    };
    Target::new("batches by id", valid.map(<[u8]>::to_vec).into(), read).attack(8_000);
}
