//! Small groups of objects that lie close together: what questions are about.

use consilience_core::{Observer, Result, Seed};
use consilience_num::kmeans::{self, KMeansOptions};
use consilience_num::rows::squared;
use ndarray::{Array2, ArrayView2, Axis};

/// Iterations of k-means at first, and when the cells are made again.
const ITERATIONS: (usize, usize) = (20, 4);

/// Means of equal rows are no farther apart than this share of their lengths, and for each row that
/// was summed up.
const ROUNDING: (f64, f64) = (1e-12, 1e-16);

/// The cells: every object is in one, none is empty.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    /// The cell of each object.
    pub(super) of: Vec<u32>,
    /// m x r.
    pub(super) centres: Array2<f64>,
    /// The objects of each cell, the central ones first.
    pub(super) members: Vec<Vec<usize>>,
}

impl Cells {
    /// At most so many cells by k-means, and no fewer than `least`, also of equal objects: answers
    /// may distinguish them.
    pub(super) fn new(
        z: ArrayView2<'_, f64>,
        least: usize,
        most: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let options = KMeansOptions::new(most).max_iterations(ITERATIONS.0).seed(seed);
        let found = kmeans::fit(z, None, &options, observer)?;
        let (mut of, count) = (found.assignment, found.centres.nrows());
        if count < least {
            let count = spread(&mut of, count, most);
            return Ok(Self::made(z, of, count));
        }
        Ok(Self::made(z, of, count))
    }

    /// The cells again where the objects lie now, from where they were; the same cells where there
    /// would be fewer than `least`.
    pub(super) fn again(
        &self,
        z: ArrayView2<'_, f64>,
        least: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let start = centres(z, &self.of, self.len());
        let options = KMeansOptions::new(self.len()).max_iterations(ITERATIONS.1).seed(seed);
        let found = kmeans::from_centres(z, None, start.view(), &options, observer)?;
        let mut used: Vec<u32> = found.assignment.clone();
        used.sort_unstable();
        used.dedup();
        if used.len() < least.max(found.centres.nrows()) {
            let mut same = self.clone();
            same.move_to(z);
            return Ok(same);
        }
        Ok(Self::made(z, found.assignment, found.centres.nrows()))
    }

    fn made(z: ArrayView2<'_, f64>, of: Vec<u32>, count: usize) -> Self {
        let mut cells = Cells { of, centres: Array2::zeros((0, 0)), members: Vec::new() };
        cells.settle(z, count);
        cells
    }

    /// Centres and members of the cells that objects have been given.
    fn settle(&mut self, z: ArrayView2<'_, f64>, count: usize) {
        self.centres = centres(z, &self.of, count);
        let mut far: Vec<(f64, usize)> = (0..self.of.len())
            .map(|i| (distance(z, i, &self.centres, self.of[i] as usize), i))
            .collect();
        far.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.members = vec![Vec::new(); count];
        for (_, i) in far {
            self.members[self.of[i] as usize].push(i);
        }
    }

    /// The same cells where the objects lie now.
    pub(super) fn move_to(&mut self, z: ArrayView2<'_, f64>) {
        self.settle(z, self.len());
    }

    /// Divides the cell of two objects: each member goes with the nearer of the two.
    pub(super) fn divide(&mut self, z: ArrayView2<'_, f64>, i: usize, j: usize) {
        let new = self.len() as u32;
        let nearer = |o: usize, to: usize| squared(&row(z, o), &row(z, to));
        for o in self.members[self.of[i] as usize].clone() {
            if o == j || (o != i && nearer(o, j) < nearer(o, i)) {
                self.of[o] = new;
            }
        }
        self.settle(z, new as usize + 1);
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether each cell lies where another lies, but for rounding.
    pub(super) fn in_one_place(&self) -> Vec<bool> {
        let rows: Vec<Vec<f64>> = self.centres.rows().into_iter().map(|x| x.to_vec()).collect();
        let lengths: Vec<f64> = self.centres.rows().into_iter().map(|x| x.dot(&x)).collect();
        let mut shared = vec![false; self.len()];
        for a in 0..self.len() {
            for b in 0..a {
                let apart = squared(&rows[a], &rows[b]);
                let rounding = ROUNDING.0.max(ROUNDING.1 * self.size(a).max(self.size(b)));
                if apart <= rounding * rounding * (lengths[a] + lengths[b]) {
                    (shared[a], shared[b]) = (true, true);
                }
            }
        }
        shared
    }

    /// Objects of the cell.
    pub(super) fn size(&self, cell: usize) -> f64 {
        self.members[cell].len() as f64
    }
}

/// Divides cells of equal objects into some of equal size, `most` in all; how many there are then.
fn spread(of: &mut [u32], count: usize, most: usize) -> usize {
    let mut members = vec![Vec::new(); count];
    of.iter().enumerate().for_each(|(i, &c)| members[c as usize].push(i));
    members.retain(|m| !m.is_empty());
    let (others, left) = (of.len() - members.len(), most.saturating_sub(members.len()));
    let (mut next, mut before) = (0, 0);
    for objects in members {
        // Shares of all objects so far, so that nothing is lost to rounding.
        let so_far = before + objects.len() - 1;
        let parts = 1 + so_far * left / others.max(1) - before * left / others.max(1);
        before = so_far;
        for (place, &i) in objects.iter().enumerate() {
            of[i] = (next + place * parts / objects.len()) as u32;
        }
        next += parts;
    }
    next
}

fn row(z: ArrayView2<'_, f64>, i: usize) -> Vec<f64> {
    z.row(i).to_vec()
}

fn distance(z: ArrayView2<'_, f64>, i: usize, centres: &Array2<f64>, cell: usize) -> f64 {
    let difference = &z.row(i) - &centres.row(cell);
    difference.dot(&difference)
}

fn centres(z: ArrayView2<'_, f64>, of: &[u32], count: usize) -> Array2<f64> {
    let mut sum = Array2::<f64>::zeros((count, z.ncols()));
    let mut sizes = vec![0.0f64; count];
    for (row, &c) in z.axis_iter(Axis(0)).zip(of) {
        let mut to = sum.row_mut(c as usize);
        to += &row;
        sizes[c as usize] += 1.0;
    }
    for (mut row, size) in sum.rows_mut().into_iter().zip(sizes) {
        row /= size.max(1.0);
    }
    sum
}
