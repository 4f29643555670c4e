use super::{AnyConsensus, Method, Settings};
use crate::report::Candidate;
use crate::{ConsensusFunction, Ensemble, Fit, Memberships, Observer, Partition, Result};

impl Method {
    /// The method as one of a [`ClusteringReport`](crate::report::ClusteringReport), with its tree
    /// where it cuts one. The number of clusters comes from the report, all else from the settings.
    ///
    /// ```
    /// use consilience::catalogue::{self, Settings};
    /// use consilience::report::ClusteringReport;
    /// use consilience::{Clusters, Ensemble, Partition};
    ///
    /// let ensemble = Ensemble::new(vec![
    ///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
    ///     Partition::from_labels(&[0, 0, 1, 1, 2, 2])?,
    /// ])?;
    /// let settings = Settings::new(Clusters::Auto);
    /// let methods = ["pta-al", "mm", "lwea"]
    ///     .into_iter()
    ///     .map(|name| catalogue::by_name(name)?.candidate(&settings))
    ///     .collect::<Result<Vec<_>, _>>()?;
    /// let findings = ClusteringReport::new(&ensemble).clusters(2).methods(methods).run(&())?;
    /// assert_eq!(findings.answer.method, "pta-al");
    /// assert!(findings.tree.unwrap().is_answer);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Method::build`].
    pub fn candidate(&'static self, settings: &Settings) -> Result<Candidate<'static>> {
        self.build(settings)?;
        let own = settings.clone();
        let make = move |k| match self.build(&own.clone().clusters(k))? {
            AnyConsensus::Hard(function) => Ok(function),
            AnyConsensus::Soft(function) => Ok(Box::new(Likeliest(function)) as Box<_>),
        };
        let candidate = Candidate::new(self.name(), make).about(format!(
            "{}. {}.",
            self.about(),
            self.paper().trim_end_matches('.')
        ));
        if !self.has_tree() {
            return Ok(candidate);
        }
        let own = settings.clone();
        Ok(candidate.tree(move |k| self.hierarchy(&own.clone().clusters(k))))
    }
}

/// The likeliest clusters of a soft method.
struct Likeliest(Box<dyn ConsensusFunction<Output = Memberships>>);

impl ConsensusFunction for Likeliest {
    type Output = Partition;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn fit(&self, ensemble: &Ensemble, observer: &dyn Observer) -> Result<Fit<Partition>> {
        let Fit { output, report, .. } = self.0.fit(ensemble, observer)?;
        Ok(Fit::new(output.hard()?, report))
    }
}
