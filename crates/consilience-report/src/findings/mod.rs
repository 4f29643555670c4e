//! The numbers of the page.

mod answer;
mod features;
mod members;
mod methods;
mod number;
mod objects;
mod sample;

pub use answer::ClassFindings;
pub use answer::{
    AnswerFindings, ClusterFindings, CoAssociationFindings, InputFindings, TruthFindings,
};
pub(crate) use features::POINTS as PROJECTED;
pub use features::{FeatureEffect, FeatureFindings, ProjectedObject};
pub use members::{CoverageFindings, MemberFindings, MembersFindings};
pub use methods::{CandidateFindings, MethodsFindings, TreeFindings};
pub use number::{CriterionFindings, FlowFindings, NumberFindings, NumberRowFindings};
pub use objects::{ObjectFindings, ObjectsFindings};

use consilience_core::{Clusters, Fit, Microclusters, Observer, Partition, Result, ensure};
use consilience_trust::{ClusterNumber, Diagnostics, NumberTable};
use serde::Serialize;

use crate::{Candidate, ClusteringReport};
use sample::Sample;

/// Everything that the page shows, as numbers.
///
/// From [`ClusteringReport::run`]. [`Findings::html`] is the page, [`Findings::json`] the numbers
/// as text, the same that stand inside the page.
///
/// ```
/// use consilience::report::ClusteringReport;
/// use consilience::{Ensemble, Partition};
///
/// let ensemble = Ensemble::new(vec![
///     Partition::from_labels(&[0, 0, 0, 1, 1, 1])?,
///     Partition::from_labels(&[0, 0, 1, 1, 1, 1])?,
/// ])?;
/// let findings = ClusteringReport::new(&ensemble).clusters(2).run(&())?;
/// // The third object hesitates: one member puts it elsewhere.
/// let least = &findings.objects.least_certain[0];
/// assert_eq!((least.object, least.second), (2, Some(1 - least.cluster)));
/// for cluster in &findings.clusters {
///     println!("{} objects, confidence {:.2}", cluster.objects, cluster.confidence);
/// }
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Findings {
    /// The title of the page.
    pub title: String,
    /// The version of consilience.
    pub version: &'static str,
    /// What was clustered.
    pub input: InputFindings,
    /// The clustering in short, and how far to trust it.
    pub answer: AnswerFindings,
    /// How many clusters.
    pub number: NumberFindings,
    /// The methods beside each other.
    pub methods: MethodsFindings,
    /// The tree that was cut, or that of the first method that cuts one; `None` where none does.
    pub tree: Option<TreeFindings>,
    /// The members beside each other and beside the result.
    pub members: MembersFindings,
    /// Every cluster, in order; the first 1,000 where there are more.
    pub clusters: Vec<ClusterFindings>,
    /// How clearly objects belong to their clusters.
    pub objects: ObjectsFindings,
    /// What the features say; `None` without features.
    pub features: Option<FeatureFindings>,
    /// How the result agrees with the truth; `None` without truth.
    pub truth: Option<TruthFindings>,
    /// The picture of the co-association.
    pub co_association: CoAssociationFindings,
    /// The clustering itself.
    #[serde(skip)]
    pub partition: Partition,
}

impl Findings {
    /// The numbers as JSON, one object. It holds everything but [`partition`](Self::partition).
    pub fn json(&self) -> String {
        // Only maps with keys that are no text fail, and there are none.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The page: one file of HTML that needs no other and no network.
    pub fn html(&self) -> String {
        crate::page::html(self)
    }

    pub(crate) fn of(
        report: &ClusteringReport<'_>,
        candidates: &[Candidate<'_>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let ensemble = report.ensemble;
        let step = |done: usize| {
            observer.progress("report", done, 10);
            observer.check()
        };
        step(0)?;
        let nodes = Microclusters::observed(ensemble, observer)?;
        ensure!(nodes.n_nodes() > 0, empty("no object is labelled by any member"));
        let table = number_table(report, observer)?;
        step(1)?;
        let clusters = Clusters::Fixed(report.fixed.unwrap_or(table.recommended));
        let found = candidates[0].fit(clusters, ensemble, observer)?;
        let Fit { output: partition, report: fit, .. } = found;
        step(2)?;
        let trust = Diagnostics::within(ensemble, &partition, report.budget)?;
        step(3)?;
        let sample = Sample::of(ensemble, &partition, report.seed)?;
        step(4)?;
        let co_association = answer::co_association(&sample, report.budget, observer)?;
        step(5)?;
        let mut methods =
            methods::compare(candidates, &sample, (clusters, &partition, &fit), observer)?;
        step(6)?;
        let among = (candidates, &mut methods.candidates[..]);
        let tree = methods::tree(report, among, &nodes, &sample, clusters, observer)?;
        step(7)?;
        let number =
            number::findings(report.fixed, table, &candidates[0], (&sample, clusters), observer)?;
        step(8)?;
        let members = members::findings(report, &partition, &trust, &sample)?;
        let features = report
            .features
            .and_then(|x| x.dense().ok())
            .map(|x| features::findings(report, x, &partition));
        step(9)?;
        let truth = report.truth.map(|t| answer::truth(report, &partition, t)).transpose()?;
        let findings = Findings {
            title: report.title.clone(),
            version: env!("CARGO_PKG_VERSION"),
            input: answer::input(report, &nodes, &sample),
            answer: answer::answer(report, &candidates[0].name, &partition, &trust, &number),
            clusters: answer::clusters(&trust, ensemble.total_count()),
            objects: objects::findings(report, &partition, &trust),
            number,
            methods,
            tree,
            members,
            features,
            truth: truth.flatten(),
            co_association,
            partition,
        };
        step(10)?;
        Ok(findings)
    }
}

/// The numbers of clusters beside each other.
fn number_table(report: &ClusteringReport<'_>, observer: &dyn Observer) -> Result<NumberTable> {
    let mut number = ClusterNumber::new().seed(report.seed).memory_budget(report.budget);
    if let Some(range) = &report.range {
        number = number.at_least(*range.start()).up_to(*range.end());
    }
    Ok(number.fit(report.ensemble, observer)?.output)
}

/// The name that was given, or the number.
fn name(names: &[String], number: usize) -> String {
    names.get(number).cloned().unwrap_or_else(|| number.to_string())
}
