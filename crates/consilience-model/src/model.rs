use consilience_core::{
    Dense, Ensemble, Error, FeatureMap, Features, MemoryBudget, Observer, Partition, Result,
    ensure, room, with_rows,
};
use consilience_num::reduce::each_chunk;
use consilience_trust::Diagnostics;
use ndarray::{Array2, ArrayView2};

use crate::prototypes::Prototypes;
use crate::votes::Votes;
use crate::{Placement, table};

/// New objects that are placed together: their features, and the prototypes, stay in the cache.
const CHUNK: usize = 1 << 11;

/// A consensus clustering that labels objects which it has not seen.
///
/// From [`ConsensusClustering`](crate::ConsensusClustering). Each member gives a new object to the
/// cluster of the nearest of its prototypes. The object then joins the consensus cluster whose
/// objects these clusters hold most of:
///
/// ```text
/// vote of j for x = mean over members m of |c_m(x) and j| / |c_m(x)|
/// ```
///
/// or, where some object at the fit was in exactly the same clusters, the cluster of that object.
/// Members that give memberships place objects by their most probable clusters.
///
/// ```
/// use consilience::model::ConsensusClustering;
/// use consilience::ndarray::Array2;
///
/// let x = Array2::from_shape_fn((90, 2), |(i, j)| (i / 30 * 8) as f64 + (i * (j + 3) % 7) as f64 * 0.1);
/// let model = ConsensusClustering::new(3).cluster(&x)?;
/// // What it has seen keeps its clusters.
/// let again = model.assign(&x)?;
/// assert!((0..90).all(|i| model.partition().label(i) == Some(again[i])));
/// assert!(model.diagnostics()?.anmi > 0.5);
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// With the feature `serde` it can be stored, and labels new objects after that to the bit as
/// before.
///
/// # Complexity
/// Placing: O(p d) time per object and member for its p prototypes; memory linear in the objects,
/// but for the votes that [`ConsensusModel::memberships`] gives.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::ModelFields", into = "crate::stored::ModelFields")
)]
pub struct ConsensusModel {
    pub(crate) ensemble: Ensemble,
    pub(crate) partition: Partition,
    pub(crate) places: Vec<Prototypes>,
    /// What the features are called; empty where nothing says it.
    pub(crate) names: Vec<String>,
    votes: Votes,
}

impl ConsensusModel {
    pub(crate) fn new(
        ensemble: Ensemble,
        partition: Partition,
        places: Vec<Prototypes>,
    ) -> Result<Self> {
        ensure!(
            partition.n_clusters() > 0,
            empty("a model without clusters: no object has a label")
        );
        let votes = Votes::new(&ensemble, &partition)?;
        Ok(ConsensusModel { ensemble, partition, places, names: Vec::new(), votes })
    }

    /// The consensus clustering of the objects at the fit.
    #[doc(alias = "labels_")]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// What the members said of them.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Number of features at the fit.
    pub fn n_features(&self) -> usize {
        self.places[0].view.n_features()
    }

    /// The same with what its features are called, in the order of the fit: it is stored with the
    /// model, for whoever brings new objects in columns that have names. Default none. Placing
    /// takes features in the order of the fit all the same.
    ///
    /// ```
    /// use consilience::model::ConsensusClustering;
    /// use consilience::ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((40, 2), |(i, _)| (i / 20 * 10) as f64 + (i % 20) as f64 * 0.1);
    /// let model = ConsensusClustering::new(2).cluster(&x)?;
    /// let model = model.with_feature_names(["length", "width"])?;
    /// assert_eq!(model.feature_names().unwrap()[1], "width");
    /// assert!(model.with_feature_names(["length"]).is_err());
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) for another number
    /// of names than features.
    #[doc(alias = "feature_names_in_")]
    pub fn with_feature_names(
        mut self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let (found, d) = (names.len(), self.n_features());
        ensure!(found == d, shape("{found} names of {d} features"));
        self.names = names;
        Ok(self)
    }

    /// What the features are called, where
    /// [`with_feature_names`](ConsensusModel::with_feature_names) said it.
    pub fn feature_names(&self) -> Option<&[String]> {
        (!self.names.is_empty()).then_some(&self.names[..])
    }

    /// How far to trust the clustering. Members that give memberships count by their most probable
    /// clusters, members with weights as often as these say.
    ///
    /// # Errors
    /// Those of [`Diagnostics::of`].
    pub fn diagnostics(&self) -> Result<Diagnostics> {
        self.diagnostics_within(MemoryBudget::default())
    }

    /// As [`ConsensusModel::diagnostics`], for a given memory budget.
    ///
    /// # Errors
    /// Those of [`Diagnostics::within`].
    pub fn diagnostics_within(&self, budget: MemoryBudget) -> Result<Diagnostics> {
        Diagnostics::within(&self.ensemble, &self.partition, budget)
    }

    /// The cluster of every new object, in the numbering of
    /// [`partition`](ConsensusModel::partition).
    ///
    /// # Errors
    /// As [`ConsensusModel::place_observed`].
    #[doc(alias = "predict")]
    pub fn assign<'a>(&self, features: impl Into<Features<'a>>) -> Result<Vec<usize>> {
        Ok(self.place(features)?.labels)
    }

    /// The clusters of new objects, how sure they are, and which objects lie outside of everything
    /// seen.
    ///
    /// New objects must have all features, also where the generator filled or left out those that
    /// were missing at the fit: the model does not hold what they were filled from.
    ///
    /// # Errors
    /// As [`ConsensusModel::place_observed`].
    pub fn place<'a>(&self, features: impl Into<Features<'a>>) -> Result<Placement> {
        self.place_observed(features, &())
    }

    /// As [`ConsensusModel::place`], with progress and cancellation; stage `placing`.
    ///
    /// # Errors
    /// As [`Features::check`]; [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind) for
    /// another number of features than at the fit;
    /// [`ErrorKind::Cancelled`](consilience_core::ErrorKind::Cancelled).
    pub fn place_observed<'a>(
        &self,
        features: impl Into<Features<'a>>,
        observer: &dyn Observer,
    ) -> Result<Placement> {
        let mut placed = Placement::default();
        self.chunks(features.into(), None, observer, |chunk, from| {
            placed.tied.extend(chunk.tied.iter().map(|i| i + from));
            placed.labels.extend(chunk.labels);
            placed.confidence.extend(chunk.confidence);
            placed.distance.extend(chunk.distance);
        })?;
        Ok(placed)
    }

    /// The votes for each cluster: new objects in rows, clusters of
    /// [`partition`](ConsensusModel::partition) in columns; each row sums to 1.
    ///
    /// # Errors
    /// As [`ConsensusModel::place_observed`]; those of [`ConsensusModel::memberships_within`] for
    /// the default budget.
    #[doc(alias = "predict_proba")]
    pub fn memberships<'a>(&self, features: impl Into<Features<'a>>) -> Result<Array2<f64>> {
        self.memberships_within(features, MemoryBudget::default())
    }

    /// As [`ConsensusModel::memberships`], for a given memory budget: 8 bytes for each new object
    /// and cluster.
    ///
    /// ```
    /// use consilience::model::ConsensusClustering;
    /// use consilience::ndarray::Array2;
    /// use consilience::{ErrorKind, MemoryBudget};
    ///
    /// let x = Array2::from_shape_fn((40, 1), |(i, _)| (i / 20 * 10) as f64 + i as f64 / 9.0);
    /// let model = ConsensusClustering::new(2).cluster(&x)?;
    /// let votes = |bytes| model.memberships_within(&x, MemoryBudget::bytes(bytes));
    /// assert_eq!(votes(8 * 40 * 2)?.dim(), (40, 2));
    /// assert_eq!(votes(8 * 40 * 2 - 1).unwrap_err().kind(), ErrorKind::TooLarge);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ConsensusModel::place_observed`];
    /// [`ErrorKind::TooLarge`](consilience_core::ErrorKind::TooLarge) beyond the budget.
    pub fn memberships_within<'a>(
        &self,
        features: impl Into<Features<'a>>,
        budget: MemoryBudget,
    ) -> Result<Array2<f64>> {
        let features = features.into();
        let (n, k) = (features.n_objects(), self.votes.n_clusters());
        budget.check_table("votes of new objects", n, k, 8)?;
        let mut votes = room::zeros::<f64>(n.saturating_mul(k))?;
        self.chunks(features, Some(&mut votes[..]), &(), |_, _| ())?;
        Array2::from_shape_vec((n, k), votes).map_err(|e| Error::shape(e.to_string()))
    }

    /// Places the objects in chunks, in parallel, and takes the chunks in order. Where there is a
    /// table for them, object after object, the votes are written there.
    fn chunks(
        &self,
        features: Features<'_>,
        mut votes: Option<&mut [f64]>,
        observer: &dyn Observer,
        mut take: impl FnMut(Placement, usize),
    ) -> Result<()> {
        let features = table::of(features, "a consensus model", table::MAPPED)?;
        features.check()?;
        let (d, at_fit) = (features.n_features(), self.n_features());
        ensure!(d == at_fit, shape("{d} features, {at_fit} at the fit"));
        let (n, k) = (features.n_objects(), self.votes.n_clusters());
        let window = CHUNK * 8 * rayon::current_num_threads();
        let mut from = 0;
        while from < n {
            observer.check()?;
            observer.progress("placing", from, n);
            let to = (from + window).min(n);
            let mut tables = votes
                .as_deref_mut()
                .map(|votes| votes[from * k..to * k].chunks_mut(CHUNK.saturating_mul(k)));
            let mut table = || tables.as_mut().and_then(Iterator::next);
            let mut pieces: Vec<(_, Option<&mut [f64]>, Result<_>)> = (from..to)
                .step_by(CHUNK)
                .map(|start| (start, table(), Ok(Placement::default())))
                .collect();
            each_chunk(&mut pieces, 1, &|_, piece| {
                for (start, votes, placed) in piece {
                    let rows = ndarray::s![*start..(*start + CHUNK).min(to), ..];
                    let x = with_rows!(features, |x| Dense::from(x.slice(rows)).to_f64());
                    *placed = x.map(|x| self.chunk(x.view(), votes.as_deref_mut()));
                }
            });
            for (start, _, placed) in pieces {
                take(placed?, start);
            }
            from = to;
        }
        observer.progress("placing", n, n);
        Ok(())
    }

    /// Places a few objects. Their votes are kept where there is a table for them, else only those
    /// of one object at a time: with very many clusters they would take more than all else.
    fn chunk(&self, x: ArrayView2<'_, f64>, votes: Option<&mut [f64]>) -> Placement {
        let (n, members, k) = (x.nrows(), self.places.len(), self.votes.n_clusters());
        let mut clusters = vec![0; n * members];
        let mut far = vec![0.0; n * members];
        for (m, place) in self.places.iter().enumerate() {
            place.place(x, &mut clusters[m * n..][..n], &mut far[m * n..][..n]);
        }
        let mut placed = Placement::default();
        let (mut row, mut distances) = (vec![0; members], vec![0.0; members]);
        let mut table = votes.map(|votes| votes.chunks_exact_mut(k));
        let mut own = vec![0.0; k];
        for i in 0..n {
            for m in 0..members {
                row[m] = clusters[m * n + i];
                distances[m] = far[m * n + i];
            }
            let votes = match table.as_mut().and_then(Iterator::next) {
                Some(votes) => votes,
                None => &mut own[..],
            };
            let vote = self.votes.count(&row, votes);
            placed.labels.push(vote.label);
            placed.confidence.push(votes[vote.label]);
            placed.distance.push(median(&mut distances));
            if vote.tied {
                placed.tied.push(i);
            }
        }
        placed
    }
}

/// The lower median.
fn median(values: &mut [f64]) -> f64 {
    let middle = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
