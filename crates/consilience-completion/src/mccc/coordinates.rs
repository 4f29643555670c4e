//! The coordinates Z that the similarity is completed in.

use consilience_core::{Dense, Observer, Result, Seed};
use consilience_num::svd::{Rows, SvdOptions, try_truncated_svd};
use ndarray::{Array2, Axis, concatenate};

use super::neighbours::Graph;
use super::representatives::Representatives;
use crate::basis::Basis;
use crate::frame::Frame;

/// Up to so many objects neighbours are found among all; beyond, among representatives.
const EXACT: usize = 20_000;

/// Numbers for each object that a graph of neighbours keeps, that its links take while they are
/// found, and that a thread takes which looks for neighbours.
const OF_GRAPH: usize = 8;
const OF_LINKS: usize = 160;
const OF_THREAD: usize = 65;

/// Most columns of a basis that are of use.
pub(super) fn most_columns(basis: Basis) -> usize {
    match basis {
        Basis::Singular | Basis::RawSingular => 100,
        _ => 50,
    }
}

/// Numbers that eigenvectors take for each row of their matrix while they are found: a basis, two
/// blocks and what comes of them.
fn of_eigenvectors(n: usize, k: usize) -> usize {
    let block = k.saturating_add(4);
    let basis = block.saturating_mul(6).max(128);
    // All of a small matrix.
    basis.saturating_add(block.saturating_mul(5)).min(n.saturating_mul(4))
}

/// Numbers of 8 bytes for each of `n` objects of `d` features that `k` coordinates in a basis take
/// for good, and more while they are found.
pub(super) fn numbers(basis: Basis, (n, d): (usize, usize), k: usize) -> (usize, usize) {
    let vectors = of_eigenvectors(n, k);
    match basis {
        Basis::Singular | Basis::RawSingular => {
            // The features with and without the constant column; of the smaller side's matrix, what
            // sums over rows and eigenvectors take, and left vectors before they are straight.
            let side = (vectors.max(n.min(d)).saturating_mul(n.min(d))).div_ceil(n.max(1));
            (k, d.saturating_mul(2).saturating_add(side).saturating_add(k.saturating_mul(2) + 8))
        }
        // The graph keeps the features and coordinates of its own. Neighbours and links of both
        // ends, and the distances that each thread looks at.
        _ if n <= EXACT => {
            let kept = k.saturating_mul(2).saturating_add(d).saturating_add(OF_GRAPH);
            (kept, vectors.saturating_add(OF_LINKS + OF_THREAD * rayon::current_num_threads()))
        }
        _ => (k, d.saturating_add(k.saturating_mul(3)).saturating_add(OF_LINKS)),
    }
}

/// N orthonormal columns.
#[derive(Clone, Debug)]
pub(super) struct Coordinates {
    /// Where they come from; `None` for the caller's own, of which all columns are used.
    pub basis: Option<Basis>,
    pub z: Array2<f64>,
    pub converged: bool,
}

/// From new features to coordinates.
#[derive(Clone, Debug)]
pub(super) enum Extension {
    Linear { frame: Frame, constant: Option<f64>, map: Array2<f64> },
    Graph { frame: Frame, graph: Box<Graph> },
    Representatives { frame: Frame, own: Box<Representatives> },
}

impl Coordinates {
    pub(super) fn new(
        basis: Basis,
        features: &Dense<'_>,
        k: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<(Self, Extension)> {
        let (frame, x) = match basis {
            Basis::Neighbours => Frame::for_distances(features),
            Basis::RawSingular => Frame::raw(features),
            _ => Frame::standardized(features),
        };
        observer.check()?;
        if matches!(basis, Basis::Singular | Basis::RawSingular) {
            return Self::singular(basis, frame, x, (k, seed), observer);
        }
        let k = k.min(x.nrows());
        if x.nrows() <= EXACT {
            let (graph, converged) = Graph::new(x, k, seed, observer)?;
            let z = graph.coordinates().to_owned();
            let extension = Extension::Graph { frame, graph: Box::new(graph) };
            return Ok((Coordinates { basis: Some(basis), z, converged }, extension));
        }
        let (own, z, converged) = Representatives::new(&x, k, seed, observer)?;
        let extension = Extension::Representatives { frame, own: Box::new(own) };
        Ok((Coordinates { basis: Some(basis), z, converged }, extension))
    }

    /// Those of standardized features get a constant column of the weight of all others together,
    /// since the sum of all memberships is constant.
    fn singular(
        basis: Basis,
        frame: Frame,
        x: Array2<f64>,
        (k, seed): (usize, Seed),
        observer: &dyn Observer,
    ) -> Result<(Self, Extension)> {
        let constant = (basis == Basis::Singular).then(|| (x.ncols() as f64).sqrt());
        let rows = with_constant(x, constant);
        let options = SvdOptions::new(k).seed(seed.derive("singular", 0));
        let mut found = try_truncated_svd(&rows, &options, observer)?;
        if found.values.is_empty() {
            // Nothing but zeros, or the decomposition failed: a constant column, which no feature
            // but the constant one has a part in.
            let (n, d) = rows.dim();
            found.left = Array2::from_elem((n, 1), 1.0 / (n as f64).sqrt());
            found.map = Array2::zeros((d, 1));
            if let Some(constant) = constant {
                found.map[[d - 1, 0]] = 1.0 / (constant * (n as f64).sqrt());
            }
        }
        let extension = Extension::Linear { frame, constant, map: found.map };
        let (z, converged) = (found.left, found.converged);
        Ok((Coordinates { basis: Some(basis), z, converged }, extension))
    }
}

impl Extension {
    pub(super) fn n_features(&self) -> usize {
        match self {
            Extension::Linear { frame, .. }
            | Extension::Graph { frame, .. }
            | Extension::Representatives { frame, .. } => frame.n_features(),
        }
    }

    /// Coordinates of new objects.
    pub(super) fn extend(&self, features: &Dense<'_>) -> Result<Array2<f64>> {
        Ok(match self {
            Extension::Linear { frame, constant, map } => {
                let rows = with_constant(frame.apply(features), *constant);
                let mut z = Array2::zeros((rows.nrows(), map.ncols()));
                if let (Some(map), Some(out)) =
                    (map.as_standard_layout().as_slice(), z.as_slice_mut())
                {
                    Rows::multiply(&rows, map, out, out.len() / rows.nrows().max(1));
                }
                z
            }
            Extension::Graph { frame, graph } => graph.extend(&frame.apply(features))?,
            Extension::Representatives { frame, own } => own.extend(&frame.apply(features))?,
        })
    }
}

fn with_constant(x: Array2<f64>, constant: Option<f64>) -> Array2<f64> {
    let Some(constant) = constant else { return x.as_standard_layout().into_owned() };
    let ones = Array2::from_elem((x.nrows(), 1), constant);
    // The same number of rows by construction.
    concatenate(Axis(1), &[x.view(), ones.view()]).unwrap_or(x).as_standard_layout().into_owned()
}
