use std::time::{Duration, Instant};

use crate::{Result, checks};

/// How an iterative method ended. Not converging is no error: the result is feasible, and this says
/// how far to trust it.
///
/// Part of every [`Report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// Finished exactly, or to its stated tolerance.
    Solved,
    /// Stopped at the cap on iterations.
    MaxIterations,
}

impl Status {
    /// The name that the program prints.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::MaxIterations => "max-iterations",
        }
    }
}

/// What a method did on its way to a result.
///
/// Part of every [`Fit`]. Read the [`notes`](Report::notes) first; they are empty where there is
/// nothing to tell.
///
/// ```
/// use consilience::consensus::EvidenceAccumulation;
/// use consilience::prelude::*;
/// use consilience::{Ensemble, Partition, Status};
///
/// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1, 1])?])?;
/// let report = EvidenceAccumulation::new(3).fit(&ensemble, &())?.report;
/// assert_eq!(report.status, Status::Solved);
/// assert_eq!(report.microclusters, Some(2));
/// // The members do not distinguish three clusters.
/// assert_eq!(report.clusters_missing, Some(1));
/// assert!(report.notes[0].starts_with("2 clusters instead of the 3 asked for"));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// How many clusters fewer than asked for came out, where the objects do not allow more.
    pub clusters_missing: Option<usize>,
    /// Iterations of its main loop; 0 for direct methods.
    pub iterations: usize,
    /// Value of its objective, where it has one.
    pub objective: Option<f64>,
    /// Microclusters that it worked on, where it uses them.
    pub microclusters: Option<usize>,
    /// Bound on the relative error of an approximation, where one was made; the method says whether
    /// it is certain or statistical.
    pub error_bound: Option<f64>,
    /// Wall time of each stage, in order.
    pub stages: Vec<(&'static str, Duration)>,
    /// Plain sentences about what the user should know.
    pub notes: Vec<String>,
}

impl Default for Report {
    fn default() -> Self {
        Report {
            status: Status::Solved,
            clusters_missing: None,
            iterations: 0,
            objective: None,
            microclusters: None,
            error_bound: None,
            stages: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Report {
    /// Runs one stage and writes down its wall time.
    pub fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = work();
        self.stages.push((name, start.elapsed()));
        out
    }

    /// Runs one stage that has a report of its own, and takes over how it ended.
    ///
    /// # Errors
    /// Those of the stage.
    #[doc(hidden)]
    pub fn inner_stage<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Report) -> Result<T>,
    ) -> Result<T> {
        let mut inner = Report::default();
        let out = self.stage(name, || work(&mut inner))?;
        self.adopt(inner);
        Ok(out)
    }

    /// Writes down where fewer clusters came out than were asked for, and why.
    pub fn expect_clusters(&mut self, asked: usize, found: usize, why: &str) {
        if found < asked {
            self.clusters_missing = Some(asked - found);
            let found = checks::number_of(found as u64, "cluster");
            self.notes.push(format!("{found} instead of the {asked} asked for: {why}"));
        }
    }

    /// Takes over how an inner step ended: its status where it did not converge, its iterations,
    /// objective and error bound where it has them, its stages and notes.
    pub fn adopt(&mut self, inner: Report) {
        if inner.status != Status::Solved {
            self.status = inner.status;
        }
        if inner.iterations > 0 {
            self.iterations = inner.iterations;
        }
        self.clusters_missing = inner.clusters_missing.or(self.clusters_missing);
        self.objective = inner.objective.or(self.objective);
        self.error_bound = inner.error_bound.or(self.error_bound);
        self.stages.extend(inner.stages);
        self.notes.extend(inner.notes);
    }
}

/// A result together with the [`Report`] of how it came about.
///
/// ```
/// use consilience::prelude::*;
/// use consilience::walk::Pta;
/// use consilience::{Ensemble, Fit, Partition};
///
/// let ensemble = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1, 1])?])?;
/// let Fit { output, report } = Pta::new(2).fit(&ensemble, &())?;
/// assert_eq!(output.n_clusters(), 2);
/// for (stage, time) in &report.stages {
///     println!("{stage}: {time:?}");
/// }
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fit<T> {
    /// The result.
    pub output: T,
    /// How it came about.
    pub report: Report,
}

impl<T> Fit<T> {
    /// A result with its report.
    pub fn new(output: T, report: Report) -> Self {
        Fit { output, report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_written_down_in_order() {
        let mut report = Report::default();
        assert_eq!(report.stage("first", || 7), 7);
        report.stage("second", || std::thread::sleep(Duration::from_millis(2)));
        let names: Vec<_> = report.stages.iter().map(|s| s.0).collect();
        assert_eq!(names, ["first", "second"]);
        assert!(report.stages[1].1 >= Duration::from_millis(2));
    }

    #[test]
    fn missing_clusters_are_told_where_there_are_any() {
        let mut report = Report::default();
        report.expect_clusters(3, 3, "why");
        report.expect_clusters(3, 4, "why");
        assert_eq!(report, Report::default());
        report.expect_clusters(5, 3, "they are alike");
        assert_eq!(report.clusters_missing, Some(2));
        assert_eq!(report.notes, ["3 clusters instead of the 5 asked for: they are alike"]);
    }

    #[test]
    fn an_inner_step_adds_what_it_knows() {
        let full = Report {
            status: Status::MaxIterations,
            clusters_missing: Some(1),
            iterations: 4,
            objective: Some(2.0),
            microclusters: Some(9),
            error_bound: Some(0.5),
            stages: vec![("inner", Duration::ZERO)],
            notes: vec!["inner".to_owned()],
        };
        let outer = Report { microclusters: Some(3), ..Report::default() };
        let mut report = outer.clone();
        report.adopt(full.clone());
        assert_eq!(report, Report { microclusters: Some(3), ..full });
        // What it does not know stays as it was, and what is told is told beside the rest.
        report.adopt(Report { notes: vec!["more".to_owned()], ..Report::default() });
        assert_eq!(report.notes, ["inner", "more"]);
        assert_eq!((report.status, report.iterations), (Status::MaxIterations, 4));
        assert_eq!((report.objective, report.error_bound), (Some(2.0), Some(0.5)));
        assert_eq!(
            (Status::Solved.name(), Status::MaxIterations.name()),
            ("solved", "max-iterations")
        );
    }
}
