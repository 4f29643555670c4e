use consilience_core::{Error, MemoryBudget, Microclusters, Observer, Report, Result, ensure};
use consilience_graph::{Components, CountRow, each_row};
use consilience_num::cholesky::solve_positive_definite;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};
use rayon::prelude::*;

/// The default of the largest component, in microclusters.
pub(super) const LARGEST: usize = 3000;
/// Components are joined to groups of at most so many nodes, which are then treated together.
const TOGETHER: usize = 32;
/// Rows of a product in one task.
const ROWS: usize = 64;

/// The graph of high confidence: microclusters whose objects share a cluster in at least so large a
/// part of the members, linked by that part. It falls into components, and everything that is done
/// with its Laplacian falls into pairs of components.
pub(super) struct Confidence {
    /// Components of two and more nodes; small ones are joined to groups.
    pub(super) groups: Vec<Group>,
    /// Nodes without links.
    pub(super) singles: Vec<usize>,
    /// Objects of the largest component.
    pub(super) largest: f64,
}

/// Some components of the graph.
pub(super) struct Group {
    pub(super) nodes: Vec<usize>,
    pub(super) sizes: Vec<f64>,
    /// Weights of the links, 0 where there is none and on the diagonal.
    pub(super) links: Array2<f64>,
}

impl Confidence {
    /// The graph of the pairs whose co-association reaches the threshold. A component beyond
    /// `largest` nodes is refused before its matrices are made.
    pub(super) fn of(
        nodes: &Microclusters,
        threshold: f64,
        largest: usize,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let sizes = nodes.grouping().weights();
        let links = links(nodes, threshold, observer)?;
        let ends = (0..).zip(&links).flat_map(|(i, js)| js.iter().map(move |&j| (i, j as usize)));
        let parts = Components::of_links(ends, &sizes);
        drop(links);
        let mut members = vec![Vec::new(); parts.n_components()];
        parts.of_node().iter().enumerate().for_each(|(i, &c)| members[c].push(i));
        let found = members.iter().map(Vec::len).max().unwrap_or(0);
        ensure!(
            found <= largest,
            too_large(
                "{found} of {} microclusters are linked by a co-association of at least \
                 {threshold}; at most {largest} are taken together: raise confidence or \
                 largest_component",
                sizes.len()
            )
        );
        budget.check_table("matrices of the largest component", 12 * found, found, 8)?;
        let objects = |m: &Vec<usize>| m.iter().map(|&i| sizes[i]).sum::<f64>();
        let most = members.iter().map(objects).fold(0.0, f64::max);
        let (linked, alone): (Vec<_>, Vec<_>) = members.into_iter().partition(|m| m.len() > 1);
        let groups = joined(linked)
            .into_iter()
            .map(|members| Group::of(nodes, &sizes, members, threshold, observer))
            .collect::<Result<_>>()?;
        Ok(Confidence { groups, singles: alone.concat(), largest: most })
    }

    /// Tells where one component holds most objects.
    pub(super) fn note(&self, nodes: &Microclusters, report: &mut Report) {
        // Objects that nobody labels are in no node.
        let labelled: f64 = nodes.grouping().weights().iter().sum();
        let share = 100.0 * self.largest / labelled;
        if share > 50.0 {
            report.notes.push(format!(
                "{} % of the labelled objects are in one component of reliable pairs: classes may \
                 be merged; a higher confidence or LWEA may do better",
                share.floor()
            ));
        }
    }
}

/// Refuses settings of the graph and of the rounds over it that are out of range.
pub(super) fn check_limits(
    confidence: f64,
    rounds: usize,
    tolerance: f64,
    largest: usize,
) -> Result<()> {
    ensure!(
        confidence > 0.0 && confidence.is_finite(),
        invalid("confidence {confidence}; expected a positive number")
    );
    ensure!((1..=10_000).contains(&rounds), invalid("{rounds} iterations; expected 1 to 10000"));
    ensure!(
        tolerance >= 0.0 && tolerance.is_finite(),
        invalid("tolerance {tolerance}; expected a number from 0 on")
    );
    ensure!(largest > 0, invalid("largest component 0; expected at least 1"));
    Ok(())
}

/// Nodes of a single object are wholly like themselves.
pub(super) fn own_objects(nodes: &Microclusters, similarity: &mut Array2<f64>) {
    let own = similarity.diag_mut().into_iter().zip(nodes.sizes());
    own.filter(|(_, size)| **size == 1).for_each(|(own, _)| *own = 1.0);
}

/// Of each node, those before it that it is linked to.
fn links(nodes: &Microclusters, threshold: f64, observer: &dyn Observer) -> Result<Vec<Vec<u32>>> {
    let scratch = CountRow::new(nodes)?;
    (0..nodes.n_nodes())
        .into_par_iter()
        .map_init(
            || scratch.clone(),
            |counts, i| {
                if i % 64 == 0 {
                    observer.check()?;
                }
                counts.fill(nodes, i);
                Ok((0..i as u32).filter(|&j| counts.ratio(j as usize) >= threshold).collect())
            },
        )
        .collect()
}

/// Small components in groups, in their order; large ones by themselves.
fn joined(components: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for component in components {
        match groups.last_mut() {
            Some(last) if last.len() + component.len() <= TOGETHER => last.extend(component),
            _ => groups.push(component),
        }
    }
    groups
}

impl Group {
    fn of(
        all: &Microclusters,
        sizes: &[f64],
        nodes: Vec<usize>,
        threshold: f64,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let b = nodes.len();
        let mut links = vec![0.0; b * b];
        each_row(&mut links, b, &CountRow::new(all)?, observer, |counts, i, out| {
            counts.fill(all, nodes[i]);
            for (j, out) in out.iter_mut().enumerate().filter(|&(j, _)| j != i) {
                let together = counts.ratio(nodes[j]);
                *out = if together >= threshold { together } else { 0.0 };
            }
        })?;
        let links =
            Array2::from_shape_vec((b, b), links).map_err(|e| Error::shape(e.to_string()))?;
        let sizes = nodes.iter().map(|&i| sizes[i]).collect();
        Ok(Group { nodes, sizes, links })
    }

    /// Nodes without links, taken together.
    pub(super) fn unlinked(nodes: &[usize], sizes: &[f64]) -> Self {
        let b = nodes.len();
        Group {
            nodes: nodes.to_vec(),
            sizes: nodes.iter().map(|&i| sizes[i]).collect(),
            links: Array2::zeros((b, b)),
        }
    }

    /// Of an object of each node, the weights of its links to objects of other nodes.
    pub(super) fn degrees(&self) -> Vec<f64> {
        let degree = |row: ndarray::ArrayView1<'_, f64>| {
            row.iter().zip(&self.sizes).map(|(h, s)| h * s).sum::<f64>()
        };
        self.links.rows().into_iter().map(degree).collect()
    }

    /// `scale D^1/2 (Phi + shift I) D^-1/2` with D = diag(s), which is symmetric, where
    /// Phi = diag(H s) - H diag(s) is the Laplacian of the objects on what is constant within the
    /// nodes.
    pub(super) fn symmetric(&self, scale: f64, shift: f64) -> Array2<f64> {
        let (b, degrees) = (self.nodes.len(), self.degrees());
        let root: Vec<f64> = self.sizes.iter().map(|s| s.sqrt()).collect();
        Array2::from_shape_fn((b, b), |(i, j)| {
            let own = if i == j { degrees[i] + shift } else { 0.0 };
            scale * (own - root[i] * self.links[[i, j]] * root[j])
        })
    }

    /// The inverse of `scale (Phi + shift I)`.
    pub(super) fn inverse(&self, scale: f64, shift: f64) -> Result<Array2<f64>> {
        let b = self.nodes.len();
        let root: Vec<f64> = self.sizes.iter().map(|s| s.sqrt()).collect();
        let matrix = self.symmetric(scale, shift);
        let inverse = solve_positive_definite(matrix.view(), Array2::eye(b));
        ensure!(
            inverse.is_some(),
            invalid("the Laplacian of {b} microclusters is not positive definite")
        );
        let mut inverse = inverse.unwrap_or_default();
        for ((i, j), x) in inverse.indexed_iter_mut() {
            *x *= root[j] / root[i];
        }
        Ok(inverse)
    }
}

/// out = a b in tasks of a fixed number of rows.
pub(crate) fn product(
    mut out: ArrayViewMut2<'_, f64>,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    observer: &dyn Observer,
) -> Result<()> {
    if a.nrows() <= ROWS {
        general_mat_mul(1.0, &a, &b, 0.0, &mut out);
        return Ok(());
    }
    let tasks: Vec<_> = out.axis_chunks_iter_mut(ndarray::Axis(0), ROWS).enumerate().collect();
    tasks.into_par_iter().try_for_each(|(chunk, mut out)| {
        observer.check()?;
        let rows = a.slice(s![chunk * ROWS..a.nrows().min((chunk + 1) * ROWS), ..]);
        general_mat_mul(1.0, &rows, &b, 0.0, &mut out);
        Ok::<(), Error>(())
    })
}

/// Similarities between 0 and 1 on a grid so coarse that what is equal but for the order of its
/// sums becomes equal: ties then do not depend on the order of the objects.
pub(super) fn on_grid(similarity: &mut Array2<f64>) {
    let unit = 2f64.powi(-32);
    similarity.mapv_inplace(|c| (c.clamp(0.0, 1.0) / unit).round() * unit);
}
