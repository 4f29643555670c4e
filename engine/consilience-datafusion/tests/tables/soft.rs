//! Memberships of all rows are those that the library gives.

use std::path::Path;

use crate::common::{engine, names, random, read, read_numbers, write_ensemble};
use consilience::catalogue::{Settings, by_name};
use consilience::{Ensemble, ErrorKind, Memberships, Seed};
use consilience_datafusion::{DistinctRows, Engine, Labelled, Output, Table};

fn soft(ensemble: &Ensemble) -> Memberships {
    let method = by_name("pcc-kl").unwrap().build(&Settings::new(3).seed(Seed(5))).unwrap();
    method.fit(ensemble, &()).unwrap().output.memberships.unwrap()
}

fn written(
    engine: &Engine,
    table: &Table,
    rows: &DistinctRows,
    soft: &Memberships,
    place: &Path,
) -> consilience::Result<Labelled> {
    let mut output = Output::new(place, table)?;
    let told = engine.write_memberships(table, rows, soft, &mut output, &())?;
    assert!(!place.exists());
    output.commit()?;
    Ok(told)
}

#[test]
fn probabilities_of_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(3, 500, 6, 0.1);
    let expected = soft(&ensemble);
    for (files, partitions) in [(1, 1), (3, 4)] {
        let pool = folder.path().join(format!("pool{files}"));
        write_ensemble(&pool, &ensemble, files, 100);
        let table = Table::open(&pool).unwrap();
        let engine = engine(partitions);
        let rows = engine.distinct(&table, &()).unwrap();
        let found = soft(rows.ensemble());
        let place = folder.path().join(format!("soft{files}"));
        let told = written(&engine, &table, &rows, &found, &place).unwrap();
        assert_eq!(names(&place), names(&pool));
        let hard = expected.hard().unwrap();
        let sizes: Vec<u64> = hard.sizes().iter().map(|&size| size as u64).collect();
        assert_eq!((told.sizes, told.placed), (sizes, 0));
        for c in 0..3 {
            let ours = read_numbers(&place, &format!("p{c}"));
            // The bits of the values are those of the counted ensemble; the sums of the library
            // over all rows may be grouped in another way.
            for (i, (&p, q)) in ours.iter().zip(expected.values().column(c)).enumerate() {
                assert!((p - q).abs() < 1e-9, "object {i}, column {c}: {p} and {q}");
            }
        }
    }
}

/// Whoever no member labels gets the same probability everywhere.
#[test]
fn hard_clusterings_and_objects_without_labels() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(4, 60, 2, 0.6);
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 2, 10);
    let table = Table::open(&pool).unwrap();
    let rows = engine(2).distinct(&table, &()).unwrap();
    let method = by_name("eac-al").unwrap().build(&Settings::new(2)).unwrap();
    let found = Memberships::from(&method.consensus(rows.ensemble()).unwrap());
    let expected = Memberships::from(&method.consensus(&ensemble).unwrap());
    let told = written(&engine(2), &table, &rows, &found, &folder.path().join("soft")).unwrap();
    assert!(told.unlabelled > 0);
    for c in 0..2 {
        let ours = read_numbers(&folder.path().join("soft"), &format!("p{c}"));
        assert_eq!(ours, expected.values().column(c).to_vec());
    }
    let other = Memberships::from(&ensemble.members()[0]);
    let place = folder.path().join("other");
    let error = written(&engine(1), &table, &rows, &other, &place).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
    assert_eq!(names(folder.path()), ["pool", "soft"]);
}

/// Rows outside of a sample get votes, of which the label is the largest.
#[test]
fn votes_of_rows_outside_of_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let ensemble = random(5, 3000, 8, 0.1);
    let pool = folder.path().join("pool");
    write_ensemble(&pool, &ensemble, 3, 500);
    let table = Table::open(&pool).unwrap();
    let engine = engine(2);
    let rows = engine.sample(&table, 60, Seed(1), &()).unwrap();
    let found = soft(rows.ensemble());
    let place = folder.path().join("soft");
    let told = written(&engine, &table, &rows, &found, &place).unwrap();
    let mut output = Output::new(folder.path().join("labels"), &table).unwrap();
    let hard = found.hard().unwrap();
    let labelled = engine.write_labels(&table, &rows, &hard, &mut output, &()).unwrap();
    output.commit().unwrap();
    assert_eq!(told, labelled);
    assert!(told.placed > 0);
    let columns: Vec<Vec<f64>> = (0..3).map(|c| read_numbers(&place, &format!("p{c}"))).collect();
    for (i, label) in read(&folder.path().join("labels"), "label").into_iter().enumerate() {
        let row: Vec<f64> = columns.iter().map(|column| column[i]).collect();
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
        if let Ok(label) = usize::try_from(label) {
            assert!(row.iter().all(|p| *p <= row[label]), "object {i}: {label} of {row:?}");
        }
    }
}
