use consilience_core::{Error, MemoryBudget, Result, ensure};

/// Weights beyond these overflow or vanish when multiplied.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// How to make a [`ConsensusEmbedding`](crate::ConsensusEmbedding): its width, the power of the
/// singular values, weights of members.
///
/// ```
/// use consilience::{Ensemble, Partition};
/// use consilience::follow::Embedding;
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 1, 1])?,
///     Partition::from_labels(&[0, 0, 0, 1])?,
/// ])?;
/// let embedding = Embedding::new(30).fit(&ensemble, &())?.output;
/// // Two members of two clusters distinguish three kinds of objects here.
/// assert_eq!(embedding.n_dimensions(), 3);
/// assert_eq!(embedding.position(&ensemble, 0)?, embedding.position(&ensemble, 1)?);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    pub(crate) dimensions: usize,
    pub(crate) power: f64,
    pub(crate) weights: Vec<f64>,
    pub(crate) entropy_scale: Option<f64>,
    pub(crate) budget: MemoryBudget,
}

impl Embedding {
    /// At most q dimensions (the first of a connected ensemble is constant), power 1, members of
    /// equal weight.
    pub fn new(dimensions: usize) -> Self {
        Embedding {
            dimensions,
            power: 1.0,
            weights: Vec::new(),
            entropy_scale: None,
            budget: MemoryBudget::default(),
        }
    }

    consilience_core::setters! {
        /// The power p of the singular values: the dimensions are `U sigma^p`. Default 1, with
        /// which objects lie at the mean of their clusters; above 0, at most 100. With 2 and more
        /// the coarse structure dominates.
        pub fn power(mut self, power: f64) { self.power = power }

        /// One weight per member. Default 1 each; 0 leaves a member out, others from 1e-100 to
        /// 1e100. A member of weight 2 counts as two equal members.
        #[doc(alias = "member_weights")]
        pub fn weights(mut self, weights: &[f64]) { self.weights = weights.to_vec() }

        /// Weights clusters by their
        /// [`ensemble_driven_cluster_index`](consilience_graph::ensemble_driven_cluster_index) with
        /// this scale, as LWGP does: a cluster whose objects the other members spread over many
        /// clusters counts less, the more so the smaller the scale. Default none, which gives all
        /// clusters the same weight; above 0. Objects then lie in the direction of the weighted
        /// mean of their clusters.
        #[doc(alias = "theta")]
        pub fn entropy_scale(mut self, scale: f64) { self.entropy_scale = Some(scale) }

        /// How much memory the clusters' overlaps and eigenvectors may take. Default 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }
    }

    /// Refuses parameters out of range.
    pub(crate) fn check(&self) -> Result<()> {
        ensure!(self.dimensions > 0, invalid("an embedding of 0 dimensions; expected at least 1"));
        ensure!(
            self.power > 0.0 && self.power <= 100.0,
            invalid(
                "power {} of the singular values; expected above 0 and at most 100",
                self.power
            )
        );
        if let Some((u, w)) =
            self.weights.iter().enumerate().find(|&(_, w)| *w != 0.0 && !WEIGHTS.contains(w))
        {
            return Err(Error::invalid(format!(
                "weight {w} of member {u}; expected 0, or 1e-100 to 1e100"
            )));
        }
        Ok(())
    }
}
