use std::time::{Duration, Instant};

/// How an iterative method ended. Not converging is no error: the result is feasible, and this says
/// how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// Finished exactly, or to its stated tolerance.
    Solved,
    /// Stopped at the cap on iterations.
    MaxIterations,
    /// Fewer clusters than asked for, since there are fewer distinct objects.
    FewerClusters,
}

impl Status {
    /// The name that the program prints.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::MaxIterations => "max-iterations",
            Status::FewerClusters => "fewer-clusters",
        }
    }
}

/// What a method did on its way to a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Iterations of its main loop; 0 for direct methods.
    pub iterations: usize,
    /// Value of its objective, where it has one.
    pub objective: Option<f64>,
    /// Microclusters that it worked on, where it uses them.
    pub microclusters: Option<usize>,
    /// Bound on the relative error of an approximate road, where one was taken; the method says
    /// whether it is certain or statistical.
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

    /// Says so where fewer clusters came out than were asked for.
    pub fn expect_clusters(&mut self, asked: usize, found: usize) {
        if found < asked {
            self.status = Status::FewerClusters;
            self.notes.push(format!(
                "{found} clusters instead of the {asked} asked for: the ensemble tells no more objects apart"
            ));
        }
    }
}

/// A result together with the [`Report`] of how it came about.
#[derive(Clone, Debug, PartialEq)]
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
