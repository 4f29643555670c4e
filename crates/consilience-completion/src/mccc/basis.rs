//! The coordinates Z that the similarity is completed in.

use consilience_core::{Features, Observer, Result, Seed};
use consilience_num::svd::{Rows, SvdOptions, truncated_svd};
use ndarray::{Array2, Axis, concatenate};

use super::frame::Frame;
use super::neighbours::Graph;
use super::representatives::Representatives;

/// Up to so many objects neighbours are found among all; beyond, by way of representatives.
const EXACT: usize = 20_000;

/// Where the coordinates Z come from in which [`Mccc`](super::Mccc) completes the similarity.
///
/// The method can only find clusters whose membership vectors lie near the span of Z. Singular
/// vectors of the features hold clusters that a linear function of the features tells apart;
/// eigenvectors of the graph of nearest neighbours hold clusters that hang together, whatever their
/// shape.
///
/// ```
/// use consilience_completion::Basis;
///
/// assert_eq!(Basis::default(), Basis::HeldOut);
/// assert_eq!(Basis::Neighbours.name(), "neighbours");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Basis {
    /// The one of the three others whose clusters break fewer of the constraints that were held
    /// out. With too few constraints for that, [`Basis::Neighbours`].
    #[default]
    HeldOut,
    /// Left singular vectors of the standardised features (each less its mean, over its standard
    /// deviation) and a constant one.
    Singular,
    /// Leading eigenvectors of the normalised graph that joins every object to its 10 nearest ones,
    /// the features taken as they are: for pixels, counts, and whatever has one unit. Beyond 20,000
    /// objects the graph goes by way of up to 1,000 representatives.
    Neighbours,
    /// The same for standardised features, of which each counts as much as the others.
    StandardisedNeighbours,
}

impl Basis {
    /// The name that the program prints.
    pub fn name(self) -> &'static str {
        match self {
            Basis::HeldOut => "held-out",
            Basis::Singular => "singular",
            Basis::Neighbours => "neighbours",
            Basis::StandardisedNeighbours => "standardised-neighbours",
        }
    }

    /// Most columns that are of use.
    pub(super) fn most(self) -> usize {
        if self == Basis::Singular { 100 } else { 50 }
    }
}

/// N orthonormal columns, and how new objects get theirs.
#[derive(Clone, Debug)]
pub(super) struct Coordinates {
    pub basis: Basis,
    pub z: Array2<f64>,
    pub extension: Extension,
    pub converged: bool,
}

/// From new features to coordinates.
#[derive(Clone, Debug)]
pub(crate) enum Extension {
    Linear {
        frame: Frame,
        constant: f64,
        map: Array2<f64>,
    },
    Graph {
        frame: Frame,
        graph: Box<Graph>,
    },
    Representatives {
        frame: Frame,
        own: Box<Representatives>,
    },
    /// Coordinates of the caller's own.
    None,
}

impl Coordinates {
    pub(super) fn new(
        basis: Basis,
        features: &Features<'_>,
        k: usize,
        seed: Seed,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (frame, x) = match basis {
            Basis::Neighbours => Frame::raw(features),
            _ => Frame::standardised(features),
        };
        observer.check()?;
        if basis == Basis::Singular {
            return Ok(Self::singular(frame, x, k, seed));
        }
        let k = k.min(x.nrows());
        if x.nrows() <= EXACT {
            let (graph, converged) = Graph::new(x, k, seed, observer)?;
            let z = graph.coordinates().to_owned();
            let extension = Extension::Graph { frame, graph: Box::new(graph) };
            return Ok(Coordinates { basis, z, extension, converged });
        }
        let (own, z, converged) = Representatives::new(&x, k, seed, observer)?;
        Ok(Coordinates {
            basis,
            z,
            extension: Extension::Representatives { frame, own: Box::new(own) },
            converged,
        })
    }

    /// With a constant column of the weight of all others together, since the sum of all
    /// memberships is constant.
    fn singular(frame: Frame, x: Array2<f64>, k: usize, seed: Seed) -> Self {
        let constant = (x.ncols() as f64).sqrt();
        let rows = with_constant(x, constant);
        let options = SvdOptions::new(k).seed(seed.derive("singular", 0));
        let mut found = truncated_svd(&rows, &options);
        if found.values.is_empty() {
            // The decomposition failed: the constant column alone.
            let (n, d) = rows.dim();
            found.left = Array2::from_elem((n, 1), 1.0 / (n as f64).sqrt());
            found.map = Array2::zeros((d, 1));
            found.map[[d - 1, 0]] = 1.0 / (constant * (n as f64).sqrt());
        }
        let extension = Extension::Linear { frame, constant, map: found.map };
        Coordinates { basis: Basis::Singular, z: found.left, extension, converged: found.converged }
    }
}

impl Extension {
    pub(super) fn n_features(&self) -> usize {
        match self {
            Extension::Linear { frame, .. }
            | Extension::Graph { frame, .. }
            | Extension::Representatives { frame, .. } => frame.n_features(),
            Extension::None => 0,
        }
    }

    /// Coordinates of new objects.
    pub(super) fn extend(&self, features: &Features<'_>) -> Result<Array2<f64>> {
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
            Extension::Representatives { frame, own } => own.extend(&frame.apply(features)),
            Extension::None => Array2::zeros((features.n_objects(), 0)),
        })
    }
}

fn with_constant(x: Array2<f64>, constant: f64) -> Array2<f64> {
    let ones = Array2::from_elem((x.nrows(), 1), constant);
    // The same number of rows by construction.
    concatenate(Axis(1), &[x.view(), ones.view()]).unwrap_or(x).as_standard_layout().into_owned()
}
