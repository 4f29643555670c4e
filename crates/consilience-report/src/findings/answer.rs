use consilience_core::scores::Scores;
use consilience_core::{
    MemoryBudget, Microclusters, Observer, Partition, Report, Result, Similarity,
};
use consilience_graph::{CoAssociation, vat_order};
use consilience_trust::Diagnostics;
use consilience_trust::common::{count, overlap};
use serde::Serialize;

use super::sample::Sample;
use super::{NumberFindings, name};
use crate::ClusteringReport;
use crate::pictures::heat_map::block_means;

/// Clusters beyond these are not listed one by one.
const MOST_CLUSTERS: usize = 1_000;
/// Cells of a contingency table beyond these are not listed.
const MOST_CELLS: usize = 4_000;
/// Members that agree less than this have hardly anything in common.
const UNLIKE: f64 = 0.1;
/// From this share of undecided objects on, single objects are not to be trusted.
const UNDECIDED: f64 = 0.1;

/// What was clustered. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InputFindings {
    /// Number of objects.
    pub objects: u64,
    /// Number of rows, which differs where rows stand for many objects.
    pub rows: usize,
    /// Number of base clusterings.
    pub members: usize,
    /// Clusters over all members.
    pub member_clusters: usize,
    /// Distinct rows of labels.
    pub microclusters: usize,
    /// Share of the labels that are missing.
    pub missing: f64,
    /// Objects that no member labels.
    pub unlabelled: u64,
    /// Number of features, where there are any.
    pub features: Option<usize>,
    /// [`Ensemble::fingerprint`](consilience_core::Ensemble::fingerprint), in hexadecimal digits.
    pub fingerprint: String,
    /// Objects that samples were drawn of, where not all are shown.
    pub sampled: Option<u64>,
    /// The seed.
    pub seed: u64,
    /// The command line, if it is known.
    pub command: Option<String>,
}

/// The clustering in short. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerFindings {
    /// The method.
    pub method: String,
    /// Number of clusters.
    pub clusters: usize,
    /// Objects that the result labels.
    pub labelled: u64,
    /// Mean confidence of those.
    pub confidence: f64,
    /// Those at least as close to another cluster as to their own.
    pub undecided: u64,
    /// Mean normalized mutual information of the result with the members.
    pub anmi: f64,
    /// One sentence on how far to trust it, by rules of thumb: members with hardly anything in
    /// common, a tenth of the objects undecided, or half of the clusters found by the members only
    /// in part.
    pub verdict: String,
    /// What a reader should know, the most important first.
    pub sentences: Vec<String>,
}

/// One cluster. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClusterFindings {
    /// Its number.
    pub cluster: usize,
    /// Its objects.
    pub objects: u64,
    /// Their share of all.
    pub share: f64,
    /// Their mean confidence.
    pub confidence: f64,
    /// Share of the members' statements about two of its objects that put them together: the mean
    /// co-association where no label is missing.
    pub density: f64,
    /// Mean over the members of the largest Jaccard index with one of their clusters.
    pub stability: Option<f64>,
    /// The cluster with the largest share of statements that put an object of each together.
    pub nearest: Option<usize>,
    /// That share.
    pub nearest_density: Option<f64>,
}

/// The co-association, cluster by cluster. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CoAssociationFindings {
    /// Objects behind it.
    pub objects: u64,
    /// Whether they are only some of all.
    pub sampled: bool,
    /// The clusters from top to bottom.
    pub order: Vec<usize>,
    /// Where each ends, as a share of the side.
    pub ends: Vec<f64>,
    /// Means over the cells of the picture in percent, row by row.
    pub percent: Vec<Vec<u8>>,
}

/// How the result agrees with the truth. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TruthFindings {
    /// Every score by name.
    pub scores: Vec<(&'static str, f64)>,
    /// The classes, in the order of their first objects.
    pub classes: Vec<ClassFindings>,
    /// Cluster, class and how many objects are in both; the first 4,000 cells above 0.
    pub cells: Vec<(usize, usize, u64)>,
}

/// One class of the truth. Part of [`Findings`](crate::Findings).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassFindings {
    /// Its name.
    pub name: String,
    /// Its objects that the result labels.
    pub objects: u64,
}

pub(super) fn input(
    report: &ClusteringReport<'_>,
    nodes: &Microclusters,
    sample: &Sample,
) -> InputFindings {
    let ensemble = report.ensemble;
    let labelled: u64 = nodes.sizes().iter().sum();
    let m = ensemble.n_members();
    let labels = |member: &Partition| count(ensemble, |i| member.label(i).is_some());
    let known: f64 = ensemble.members().iter().map(|member| labels(member) as f64).sum();
    InputFindings {
        objects: ensemble.total_count(),
        rows: ensemble.n_objects(),
        members: m,
        member_clusters: ensemble.n_clusters(),
        microclusters: nodes.n_nodes(),
        missing: 1.0 - known / (ensemble.total_count() as f64 * m as f64),
        unlabelled: ensemble.total_count() - labelled,
        features: report.features.map(|x| x.n_features()),
        fingerprint: format!("{:016x}", ensemble.fingerprint()),
        sampled: sample.drawn.then_some(sample.objects),
        seed: report.seed.0,
        command: report.command.clone(),
    }
}

pub(super) fn answer(
    report: &ClusteringReport<'_>,
    method: &str,
    partition: &Partition,
    trust: &Diagnostics,
    number: &NumberFindings,
) -> AnswerFindings {
    let ensemble = report.ensemble;
    let labelled = count(ensemble, |i| partition.label(i).is_some());
    let undecided = trust.undecided(partition, ensemble);
    let objects: f64 = trust.clusters.iter().map(|c| c.objects as f64).sum();
    let sum: f64 = trust.clusters.iter().map(|c| c.confidence * c.objects as f64).sum();
    let confidence = if objects > 0.0 { sum / objects } else { 0.0 };
    let all = if labelled == ensemble.total_count() { "objects" } else { "labelled objects" };
    AnswerFindings {
        method: method.to_owned(),
        clusters: partition.n_clusters(),
        labelled,
        confidence,
        undecided,
        anmi: trust.anmi,
        verdict: verdict(trust, (undecided, labelled, all), number),
        sentences: trust.sentences.clone(),
    }
}

/// How far to trust the answer, in one sentence: how many objects are undecided, of how many, and
/// what these are called.
fn verdict(
    trust: &Diagnostics,
    (undecided, labelled, all): (u64, u64, &str),
    number: &NumberFindings,
) -> String {
    let k = trust.clusters.len();
    let dissolved = trust.dissolved();
    let (least, most) = number.range;
    let unsure = if number.fixed {
        String::new()
    } else if let [only] = &number.rows[..] {
        format!(" No number of clusters but {} was tried.", only.clusters)
    } else if least == most {
        String::new()
    } else {
        format!(" The number of clusters is less sure: {least} to {most} are possible.")
    };
    let Some(alike) = trust.diversity.map(|d| 1.0 - d) else {
        return "There is a single base clustering: this is that clustering again, and nothing \
                confirms it."
            .to_owned();
    };
    if k <= 1 {
        return "All objects are in one cluster: there is no division to trust.".to_owned();
    }
    if alike < UNLIKE {
        return format!(
            "Do not trust this: the base clusterings have hardly anything in common (agreement \
             {alike:.2} of 1 among themselves)."
        );
    }
    let closest = percent(labelled - undecided, labelled);
    if undecided as f64 > UNDECIDED * labelled as f64 {
        format!(
            "Trust the outline, not every object: {} % of the {all} are at least as close to \
             another cluster as to their own.{unsure}",
            percent(undecided, labelled)
        )
    } else if 2 * dissolved > k {
        format!(
            "Trust it in part: the base clusterings find {dissolved} of the {k} clusters only in \
             part, although {closest} % of the {all} are closest to their own cluster.{unsure}"
        )
    } else {
        format!(
            "The base clusterings agree on this answer: {closest} % of the {all} are closest to \
             their own cluster, and {} of {k} clusters are found by most members. Clusterings of \
             one kind may cut a single cloud alike: that they agree does not show that there are \
             clusters.{unsure}",
            k - dissolved
        )
    }
}

/// A share in percent, which is 0 only of none and 100 only of all.
fn percent(part: u64, all: u64) -> String {
    let exact = 100.0 * part as f64 / all.max(1) as f64;
    let rounded = format!("{exact:.0}");
    let misleads = (part > 0 && rounded == "0") || (part < all && rounded == "100");
    if !misleads {
        return rounded;
    }
    match format!("{exact:.1}").as_str() {
        "0.0" => "less than 0.1".to_owned(),
        "100.0" => "more than 99.9".to_owned(),
        finer => finer.to_owned(),
    }
}

pub(super) fn clusters(trust: &Diagnostics, total: u64) -> Vec<ClusterFindings> {
    let rows = trust.clusters.iter().enumerate().take(MOST_CLUSTERS);
    rows.map(|(cluster, c)| ClusterFindings {
        cluster,
        objects: c.objects,
        share: c.objects as f64 / total.max(1) as f64,
        confidence: c.confidence,
        density: c.density,
        stability: c.stability,
        nearest: c.nearest.map(|n| n.0),
        nearest_density: c.nearest.map(|n| n.1),
    })
    .collect()
}

/// Clusters that look alike side by side, and within each what belongs together.
pub(super) fn co_association(
    sample: &Sample,
    budget: MemoryBudget,
    observer: &dyn Observer,
) -> Result<CoAssociationFindings> {
    let nodes = Microclusters::each_object(&sample.rows)?;
    let similarity = CoAssociation::default().memory_budget(budget);
    let graph = similarity.between(&nodes, &mut Report::default(), observer)?;
    let order = vat_order(&graph, observer)?;
    let mut place = vec![usize::MAX; sample.clusters.iter().max().map_or(0, |c| c + 1)];
    let mut clusters = Vec::new();
    for &row in &order {
        let cluster = sample.clusters[row];
        if place[cluster] == usize::MAX {
            place[cluster] = clusters.len();
            clusters.push(cluster);
        }
    }
    let mut by_cluster = order;
    by_cluster.sort_by_key(|&row| place[sample.clusters[row]]);
    let weights = sample.weights();
    let sizes: Vec<f64> = by_cluster.iter().map(|&row| weights[row]).collect();
    let mut ends = vec![0.0; clusters.len()];
    for (&row, size) in by_cluster.iter().zip(&sizes) {
        ends[place[sample.clusters[row]]] += size / sample.objects as f64;
    }
    let mut end = 0.0;
    for share in &mut ends {
        end += *share;
        *share = end;
    }
    let means = block_means(graph.weights(), &by_cluster, &sizes);
    let percent = |row: ndarray::ArrayView1<'_, f64>| {
        row.iter().map(|v| (100.0 * v).round().clamp(0.0, 100.0) as u8).collect()
    };
    Ok(CoAssociationFindings {
        objects: sample.objects,
        sampled: sample.drawn,
        order: clusters,
        ends,
        percent: means.rows().into_iter().map(percent).collect(),
    })
}

/// The scores; `None` where no object is labelled in both.
pub(super) fn truth(
    report: &ClusteringReport<'_>,
    partition: &Partition,
    truth: &Partition,
) -> Result<Option<TruthFindings>> {
    let table = overlap(partition, truth, report.ensemble.counts())?;
    let Some(table) = table else { return Ok(None) };
    let classes = table.column_sums().iter().enumerate();
    Ok(Some(TruthFindings {
        scores: Scores::of(&table)?.entries().into(),
        classes: classes
            .map(|(c, &objects)| ClassFindings { name: name(&report.class_names, c), objects })
            .collect(),
        cells: table.cells().take(MOST_CELLS).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn all_is_said_of_all_only() {
        for (part, all, said) in [
            (0, 5, "0"),
            (5, 5, "100"),
            (1, 7, "14"),
            (8_957, 9_000, "99.5"),
            (1, 300, "0.3"),
            (999_999, 1_000_000, "more than 99.9"),
            (1, 1_000_000, "less than 0.1"),
            (0, 0, "0"),
        ] {
            assert_eq!(percent(part, all), said);
        }
    }
}
