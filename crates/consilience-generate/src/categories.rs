//! Columns of categories as features whose squared distances are those of categories.

use consilience_core::{Ensemble, Error, Features, MemoryBudget, Partition, Result, ensure, room};
use ndarray::{Array2, ArrayView2, Axis, s};

/// How far apart two categories of a column are; a category is at no distance from itself.
///
/// Every one is the squared distance of two points, one for each category, so that any method on
/// features can work with it: [`embed`](CategoricalDistance::embed) gives the points.
///
/// ```text
/// Hamming     1
/// Goodall     1 - (p^2 + q^2) / 2         p and q the shares of the two categories
/// ChiSquare   (1 / p + 1 / q) / 2 / (number of categories of the column)
/// ```
///
/// ```
/// use consilience::generate::CategoricalDistance;
/// use consilience::{Ensemble, Partition};
///
/// let colours = Partition::from_values(["red", "red", "red", "blue"].map(Some))?.0;
/// let columns = Ensemble::new(vec![colours])?;
/// let square = |distance: CategoricalDistance| -> consilience::Result<f64> {
///     let x = distance.embed(None, &columns)?;
///     Ok((&x.row(0) - &x.row(3)).mapv(|v| v * v).sum())
/// };
/// assert!((square(CategoricalDistance::Hamming)? - 1.0).abs() < 1e-12);
/// let goodall = square(CategoricalDistance::Goodall)?;
/// assert!((goodall - (1.0 - (0.5625 + 0.0625) / 2.0)).abs() < 1e-12);
/// assert!((square(CategoricalDistance::ChiSquare)? - (4.0 / 3.0 + 4.0) / 4.0).abs() < 1e-12);
/// assert_eq!("goodall".parse::<CategoricalDistance>()?, CategoricalDistance::Goodall);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # References
/// Hamming is simple matching, the distance of k-modes (Huang 1998). D. W. Goodall, "A new
/// similarity index based on probability", Biometrics 22, 1966, in the form Goodall3 of S. Boriah,
/// V. Chandola, V. Kumar, "Similarity measures for categorical data", SDM 2008. Chi-square: M.
/// Greenacre, "Correspondence analysis in practice".
#[doc(alias = "one-hot")]
#[doc(alias = "simple matching")]
#[doc(alias = "Gower")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CategoricalDistance {
    /// Whether two objects differ: the default, and the choice where nothing says that some
    /// categories mean more than others.
    #[default]
    #[doc(alias = "overlap")]
    Hamming,
    /// Differences between frequent categories count less, so that columns in which nearly all
    /// objects agree do not drown in noise those that distinguish.
    Goodall,
    /// Differences count more the rarer the categories: for columns whose rare categories mark a
    /// cluster. One category of a single object can then outweigh a whole column.
    #[doc(alias = "multiple correspondence analysis")]
    ChiSquare,
}

impl CategoricalDistance {
    /// Every distance, in the order of the program's help.
    pub const ALL: [CategoricalDistance; 3] = [Self::Hamming, Self::Goodall, Self::ChiSquare];

    /// Features of tables with columns of categories: the numbers as they are, if there are any,
    /// and then one feature for each category of each column.
    ///
    /// Each member of `categories` is a column. A category that is missing is at half of the
    /// distance from each. Beside numbers the categories get one common factor: the mean squared
    /// distance of two objects then is the same in a column of categories as in one of numbers, on
    /// the mean over the columns of either kind. Scale the numbers first where their units differ.
    ///
    /// ```
    /// use consilience::generate::CategoricalDistance;
    /// use consilience::ndarray::array;
    /// use consilience::{Ensemble, Partition};
    ///
    /// let x = array![[0.0], [10.0], [0.0], [10.0]];
    /// let colours = Partition::from_values([Some("red"), Some("red"), Some("blue"), None])?.0;
    /// let columns = Ensemble::new(vec![colours])?;
    /// let all = CategoricalDistance::Hamming.embed(Some((&x).into()), &columns)?;
    /// assert_eq!((all.dim(), all[[3, 0]]), ((4, 3), 10.0));
    /// // What is missing has a part in no category.
    /// assert_eq!((all[[3, 1]], all[[3, 2]]), (0.0, 0.0));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where numbers and
    /// categories are of other objects; as [`Features::check`];
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) for features beyond 8 GiB,
    /// or what [`CategoryEmbedding::memory_budget`] allows.
    ///
    /// # Complexity
    /// O(n c) time and memory for c categories in all, and the numbers twice.
    pub fn embed(
        self,
        numbers: Option<Features<'_>>,
        categories: &Ensemble,
    ) -> Result<Array2<f64>> {
        self.embedding(categories).embed(numbers, categories)
    }

    /// The same points for other objects, whose categories have the same numbers: fitted to
    /// `categories`.
    pub fn embedding(self, categories: &Ensemble) -> CategoryEmbedding {
        let factors = categories.members().iter().map(|column| self.factors(column)).collect();
        CategoryEmbedding { factors, share: None, budget: MemoryBudget::default() }
    }

    /// The coordinate of each category on its own axis.
    fn factors(self, column: &Partition) -> Vec<f64> {
        let sizes = column.sizes();
        let known: f64 = sizes.iter().map(|&size| size as f64).sum();
        let square = |size: usize| {
            let p = size as f64 / known;
            match self {
                CategoricalDistance::Hamming => 0.5,
                CategoricalDistance::Goodall => (1.0 - p * p) / 2.0,
                CategoricalDistance::ChiSquare => 0.5 / p / sizes.len() as f64,
            }
        };
        sizes.iter().map(|&size| square(size).sqrt()).collect()
    }
}

consilience_core::names! {
    name "distance of categories" CategoricalDistance:
    "hamming" => Hamming,
    "goodall" => Goodall,
    "chi-square" => ChiSquare,
}

/// Points for the categories of some columns, from [`CategoricalDistance::embedding`].
///
/// ```
/// use consilience::generate::CategoricalDistance;
/// use consilience::{Ensemble, Partition};
///
/// let (colours, names) = Partition::from_values(["red", "blue", "red"].map(Some))?;
/// let columns = Ensemble::new(vec![colours])?;
/// let mut embedding = CategoricalDistance::Hamming.embedding(&columns);
/// let x = embedding.embed(None, &columns)?;
/// // A new object, by the numbers of its categories; one not seen before is as good as missing.
/// let new = embedding.embed_new(None, &[vec![names.iter().position(|name| *name == "blue")]])?;
/// assert_eq!(new.row(0), x.row(1));
/// let unknown = embedding.embed_new(None, &[vec![None]])?;
/// assert_eq!(unknown.sum(), 0.0);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryEmbedding {
    /// For each column the coordinate of each category.
    factors: Vec<Vec<f64>>,
    /// What categories are multiplied by beside numbers, once it is known.
    share: Option<f64>,
    budget: MemoryBudget,
}

impl CategoryEmbedding {
    consilience_core::setters! {
        /// How much memory the features may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Number of features that categories become.
    pub fn n_features(&self) -> usize {
        self.factors.iter().map(Vec::len).sum()
    }

    /// As [`CategoricalDistance::embed`], and keeps the factor that categories get beside these
    /// numbers, for new objects.
    ///
    /// # Errors
    /// As [`CategoricalDistance::embed`].
    pub fn embed(
        &mut self,
        numbers: Option<Features<'_>>,
        categories: &Ensemble,
    ) -> Result<Array2<f64>> {
        let columns = categories.members();
        let of = (categories.n_objects(), columns.len());
        let (mut x, d) = self.points(numbers, of, |i, j| columns[j].label(i))?;
        self.share = (d > 0).then(|| {
            let (numbers, points) = x.view().split_at(Axis(1), d);
            let (own, other) = (spread(points) / columns.len() as f64, spread(numbers));
            let share = (other / d as f64 / own).sqrt();
            if share.is_finite() && share > 0.0 { share } else { 1.0 }
        });
        self.weigh(&mut x, d);
        Ok(x)
    }

    /// Features of new objects: their numbers, and for each object the numbers of its categories;
    /// `None` for one that is missing or unknown.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of columns, or rows of numbers;
    /// [`ErrorKind::OutOfRange`](consilience_core::ErrorKind::OutOfRange) for a category that does
    /// not exist; [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge).
    pub fn embed_new(
        &self,
        numbers: Option<Features<'_>>,
        categories: &[Vec<Option<usize>>],
    ) -> Result<Array2<f64>> {
        let (n, columns) = (categories.len(), self.factors.len());
        if let Some(row) = categories.iter().find(|row| row.len() != columns) {
            return Err(Error::shape(format!("{} categories; expected {columns}", row.len())));
        }
        let (mut x, d) = self.points(numbers, (n, columns), |i, j| categories[i][j])?;
        self.weigh(&mut x, d);
        Ok(x)
    }

    /// The numbers, and beside them the points of the categories; and how many numbers there are.
    fn points(
        &self,
        numbers: Option<Features<'_>>,
        (n, columns): (usize, usize),
        category: impl Fn(usize, usize) -> Option<usize>,
    ) -> Result<(Array2<f64>, usize)> {
        let expected = self.factors.len();
        ensure!(columns == expected, shape("{columns} columns of categories; expected {expected}"));
        let d = numbers.map_or(0, |x| x.n_features());
        // The numbers are copied on the way.
        let entry = if d > 0 { 16 } else { 8 };
        let width = d.saturating_add(self.n_features());
        self.budget.check_table("features of categories", n, width, entry)?;
        let numbers = dense(numbers, n)?;
        let mut x = room::table(n, width)?;
        if let Some(numbers) = numbers {
            x.slice_mut(s![.., ..d]).assign(&numbers);
        }
        let mut first = d;
        for (j, factors) in self.factors.iter().enumerate() {
            let mut block = x.slice_mut(s![.., first..first + factors.len()]);
            for (i, mut row) in block.axis_iter_mut(Axis(0)).enumerate() {
                let Some(c) = category(i, j) else { continue };
                let Some(&factor) = factors.get(c) else {
                    return Err(Error::out_of_range(format!(
                        "category {c} of object {i} in column {j}; there are {}",
                        factors.len()
                    )));
                };
                row[c] = factor;
            }
            first += factors.len();
        }
        Ok((x, d))
    }

    /// Multiplies what stands behind the numbers by the factor that it has beside these.
    fn weigh(&self, x: &mut Array2<f64>, numbers: usize) {
        if let Some(share) = self.share {
            x.slice_mut(s![.., numbers..]).mapv_inplace(|v| v * share);
        }
    }
}

/// Numbers of so many objects.
fn dense(numbers: Option<Features<'_>>, n: usize) -> Result<Option<Array2<f64>>> {
    let Some(numbers) = numbers else { return Ok(None) };
    numbers.check()?;
    let found = numbers.n_objects();
    ensure!(found == n, shape("{n} rows of categories and {found} of numbers"));
    Ok(Some(numbers.dense()?.to_f64()?))
}

/// Sum of the variances of the columns.
fn spread(x: ArrayView2<'_, f64>) -> f64 {
    x.columns().into_iter().map(|column| column.var(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::ErrorKind;

    fn columns() -> Ensemble {
        let a = Partition::from_labels(&[0, 0, 1, 2, 0, -1]).unwrap();
        let b = Partition::from_labels(&[0, 1, 1, 1, 1, 1]).unwrap();
        Ensemble::new(vec![a, b]).unwrap()
    }

    fn square(x: &Array2<f64>, i: usize, j: usize) -> f64 {
        (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum()
    }

    #[test]
    fn squared_distances_are_those_of_the_definition() {
        let share = |j: usize, c: usize| [[0.6, 0.2, 0.2], [1.0 / 6.0, 5.0 / 6.0, 0.0]][j][c];
        let labels = [[0, 0], [0, 1], [1, 1], [2, 1], [0, 1]];
        for distance in CategoricalDistance::ALL {
            let x = distance.embed(None, &columns()).unwrap();
            for a in 0..5 {
                for b in 0..5 {
                    let of_column = |j: usize| {
                        let (c, d) = (labels[a][j], labels[b][j]);
                        let (p, q) = (share(j, c), share(j, d));
                        match distance {
                            _ if c == d => 0.0,
                            CategoricalDistance::Hamming => 1.0,
                            CategoricalDistance::Goodall => 1.0 - (p * p + q * q) / 2.0,
                            CategoricalDistance::ChiSquare => {
                                (1.0 / p + 1.0 / q) / 2.0 / [3.0, 2.0][j]
                            }
                        }
                    };
                    let expected = of_column(0) + of_column(1);
                    assert!((square(&x, a, b) - expected).abs() < 1e-12, "{distance} {a} {b}");
                }
            }
        }
        // Missing: half of the distance to each category.
        let x = CategoricalDistance::Hamming.embed(None, &columns()).unwrap();
        assert!((square(&x, 5, 2) - 0.5).abs() < 1e-12 && (square(&x, 5, 3) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn categories_count_as_much_as_numbers() {
        let numbers = Array2::from_shape_fn((6, 3), |(i, j)| ((i * 7 + j * 3) % 5) as f64 * 100.0);
        let mut embedding = CategoricalDistance::Goodall.embedding(&columns());
        let x = embedding.embed(Some((&numbers).into()), &columns()).unwrap();
        assert_eq!(x.slice(s![.., ..3]), numbers);
        let of = |from, to| spread(x.slice(s![.., from..to]));
        assert!((of(0, 3) / 3.0 / (of(3, 8) / 2.0) - 1.0).abs() < 1e-9);
        let again = embedding
            .embed_new(Some(numbers.slice(s![..1, ..]).into()), &[vec![Some(0), Some(0)]])
            .unwrap();
        assert_eq!(again.row(0), x.row(0));
        // Constant numbers say nothing about the share.
        let flat = Array2::<f64>::zeros((6, 2));
        assert!(embedding.embed(Some((&flat).into()), &columns()).is_ok());
    }

    #[test]
    fn the_memory_budget_is_asked() {
        let embed = |bytes: u64, numbers: Option<&Array2<f64>>| {
            let mut embedding = CategoricalDistance::Hamming.embedding(&columns());
            embedding = embedding.memory_budget(MemoryBudget::bytes(bytes));
            let new = embedding.embed_new(numbers.map(Into::into), &vec![vec![None; 2]; 6]);
            let found = embedding.embed(numbers.map(Into::into), &columns());
            assert_eq!(new.is_ok(), found.is_ok());
            found.map_err(|e| e.kind()).map(drop)
        };
        let numbers = Array2::<f64>::zeros((6, 3));
        assert_eq!((embed(240, None), embed(768, Some(&numbers))), (Ok(()), Ok(())));
        assert_eq!(embed(239, None), Err(ErrorKind::TooLarge));
        assert_eq!(embed(767, Some(&numbers)), Err(ErrorKind::TooLarge));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut embedding = CategoricalDistance::Hamming.embedding(&columns());
        let few = Array2::<f64>::zeros((5, 1));
        let error = embedding.embed(Some((&few).into()), &columns()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
        let error = embedding.embed_new(None, &[vec![Some(0)]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShapeMismatch);
        let error = embedding.embed_new(None, &[vec![Some(3), None]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
        assert!("gower".parse::<CategoricalDistance>().unwrap_err().message().contains("hamming"));
    }
}
