use consilience_core::{ErrorKind, Seed};
use ndarray::{Array2, ArrayView1, ArrayView2, array};

use super::NearRows;
use crate::Float;
use crate::testing::{Counting, noise};

/// Entries on a coarse grid, so that duplicates and ties abound and squares are exact in both
/// precisions.
fn grid(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut next = noise(seed);
    Array2::from_shape_simple_fn((rows, columns), || (next() * 5.0).floor())
}

/// All rows with their squared distances, nearest first, straight from the definition.
fn exact<F: Float>(table: ArrayView2<'_, F>, query: ArrayView1<'_, F>) -> Vec<(u32, F)> {
    let mut all: Vec<(u32, F)> = (0..table.nrows())
        .map(|i| {
            let row = table.row(i);
            (
                i as u32,
                query.iter().zip(row).fold(F::default(), |sum, (&a, &b)| a.add_square(b, sum)),
            )
        })
        .collect();
    all.sort_by(|a, b| a.1.to_f64().total_cmp(&b.1.to_f64()).then(a.0.cmp(&b.0)));
    all
}

/// The row numbers that a search finds.
fn numbers<F: Float>(near: &NearRows<F>, queries: &Array2<F>, count: usize) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    near.search(queries.view(), count, &mut found);
    found.chunks(count.min(near.most())).map(|row| row.iter().map(|f| f.0).collect()).collect()
}

fn holds<F: Float>(table: &Array2<F>, queries: &Array2<F>, count: usize) {
    let near = NearRows::new(table.view(), 1, table.nrows() - 1, Seed(3), &()).unwrap();
    let mut found = Vec::new();
    near.search(queries.view(), count, &mut found);
    let kept = count.min(table.nrows());
    assert_eq!(found.len(), kept * queries.nrows());
    for (i, found) in found.chunks(kept).enumerate() {
        assert_eq!(found, &exact(table.view(), queries.row(i))[..kept], "query {i}");
    }
}

#[test]
fn one_group_and_all_candidates_are_exact() {
    for seed in 0..120 {
        let (rows, columns) = (1 + seed as usize * 7 % 40, 1 + seed as usize % 21);
        let (table, queries) = (grid(rows, columns, seed), grid(30, columns, seed + 999));
        for count in [1, 3, 5, 64] {
            holds(&table, &queries, count);
            holds(&table.mapv(|v| v as f32), &queries.mapv(|v| v as f32), count);
        }
    }
    let wide = (grid(50, 70, 1), grid(20, 70, 2));
    holds(&wide.0, &wide.1, 5);
}

#[test]
fn groups_lose_few_neighbours() {
    let mut next = noise(4);
    let table = Array2::from_shape_simple_fn((400, 2), &mut next);
    let queries = Array2::from_shape_simple_fn((2000, 2), &mut next);
    let near = numbers(&NearRows::new(table.view(), 20, 50, Seed(1), &()).unwrap(), &queries, 5);
    let mut shared = 0;
    for (i, near) in near.iter().enumerate() {
        let all = exact(table.view(), queries.row(i));
        shared += near.iter().filter(|j| all[..5].iter().any(|a| a.0 == **j)).count();
    }
    assert!(shared > 9_900, "{shared} of 10000");
}

#[test]
fn odd_shapes() {
    let one = NearRows::new(array![[2.0f32, 1.0]].view(), 9, 9, Seed(0), &()).unwrap();
    assert_eq!(numbers(&one, &array![[0.0, 0.0], [5.0, 5.0]], 3), [[0], [0]]);
    let mut found = vec![(1, 1.0)];
    one.search(array![[1.0f32]].view(), 1, &mut found);
    assert!(found.is_empty());
    let none = NearRows::new(Array2::<f64>::zeros((0, 2)).view(), 1, 1, Seed(0), &());
    assert_eq!(none.unwrap_err().kind(), ErrorKind::Empty);
}

#[test]
fn cancellation_is_asked_for_at_every_row() {
    let (table, asked) = (grid(300, 3, 1), Counting::default());
    NearRows::new(table.view(), 10, 20, Seed(3), &asked).unwrap();
    assert!(asked.count() > 300, "{}", asked.count());
}
