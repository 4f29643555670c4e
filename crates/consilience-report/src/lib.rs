//! One page about a consensus: what was found, how far to trust it, and pictures of it.
//!
//! [`ClusteringReport`] runs the consensus and everything that judges it and gives [`Findings`]:
//! the numbers, and from them one self-contained page of HTML.
//!
//! ```
//! use consilience::report::ClusteringReport;
//! use consilience::{Ensemble, Partition};
//!
//! let ensemble = Ensemble::new(vec![
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 1, 1, 1, 2, 2])?,
//!     Partition::from_labels(&[0, 0, 0, 1, 1, 2, -1])?,
//! ])?;
//! let findings = ClusteringReport::new(&ensemble).title("Seven objects").run(&())?;
//! println!("{}", findings.answer.verdict);
//! assert_eq!(findings.partition.n_clusters(), findings.answer.clusters);
//!
//! // The page needs no other file and no network; the numbers are inside it as JSON, too.
//! let page = findings.html();
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Seven objects"));
//! let numbers = findings.json();
//! assert!(numbers.contains("\"verdict\""));
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! [`pictures`] draws the same shapes one by one.
//!
//! # What is computed on a sample
//!
//! The consensus, its diagnostics, the tables of clusters and of objects, the effect sizes of
//! features and the scores are of all objects. The choice of the number of clusters, the comparison
//! with other methods, the agreement between members, and pictures are made from a sample of the
//! objects where there are more than 2,000 microclusters, and the projection of the features from
//! 2,000 objects where there are more than 2,000 rows; all say so.

mod escape;
mod findings;
mod page;
pub mod pictures;
mod report;
#[cfg(test)]
mod tests;

pub use findings::{
    AnswerFindings, CandidateFindings, ClassFindings, ClusterFindings, CoAssociationFindings,
    CoverageFindings, CriterionFindings, FeatureEffect, FeatureFindings, Findings, FlowFindings,
    InputFindings, MemberFindings, MembersFindings, MethodsFindings, NumberFindings,
    NumberRowFindings, ObjectFindings, ObjectsFindings, ProjectedObject, TreeFindings,
    TruthFindings,
};
pub use report::{Candidate, ClusteringReport};
