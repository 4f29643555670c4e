//! Plain sentences about what was found.

use consilience_core::{Partition, Report};

use crate::answers::Answers;
use crate::block_model::FEWER_CLUSTERS;
use crate::cluster_count::ClusterCount;
use crate::completed_rank::CompletedRank;
use crate::crowd_result::CrowdResult;
use crate::unanimous::{self, Unanimous};

/// Probability from which on a number of clusters is said to be sure.
const SURE: f64 = 0.95;

/// A sentence about the number of clusters.
pub(crate) fn number(count: &ClusterCount, rank: Option<&CompletedRank>, k: usize) -> String {
    let probability = count.probability(k);
    let sure = if probability >= SURE { "" } else { ", which is not sure" };
    let clusters = if k == 1 { "cluster" } else { "clusters" };
    let own =
        format!("{k} {clusters} by the answers' posterior (probability {probability:.2}){sure}");
    match rank {
        Some(rank) if rank.rank == k => format!("{own}; the completed similarity has as many"),
        Some(rank) => format!(
            "{own}; they disagree with the completed similarity, whose rank is {}",
            rank.rank
        ),
        None => own,
    }
}

/// That so many workers were left out for the number of clusters.
pub(crate) fn left_out(random: usize, left: usize) -> String {
    let (random, seem) = match random {
        1 => ("1 worker".to_owned(), "seems"),
        more => (format!("{more} workers"), "seem"),
    };
    format!(
        "{random} {seem} to answer at random, and the number of clusters is by the answers of the \
         other {left}"
    )
}

/// The notes about the result. `asked` is how many clusters were asked for, and `k` that or the
/// number of the posterior.
pub(crate) fn describe(
    report: &mut Report,
    result: &CrowdResult,
    answers: &Answers,
    (asked, k): (Option<usize>, usize),
    unanimous: Option<&Unanimous>,
) {
    let (found, labelled) = (result.partition.n_clusters(), result.partition.n_labelled());
    clusters(report, (found, labelled), (asked, k), unanimous);
    let rate = result.crowd_rates.same_together;
    if unanimous.is_none() && found == 1 && asked != Some(1) && rate < 0.5 {
        report.notes.push(format!(
            "one cluster is left, and two of its objects are called the same in {:.0} % of the \
             answers: objects that are all apart explain these as well",
            100.0 * rate
        ));
    }
    let guessed = if found == 1 && asked == Some(1) { 0 } else { unconnected(answers, result) };
    let clusters = match guessed {
        0 => None,
        1 => Some("1 cluster holds".to_owned()),
        more => Some(format!("{more} clusters hold")),
    };
    if let Some(clusters) = clusters {
        report.notes.push(format!("{clusters} objects that no chain of comparisons connects"));
    }
    people(report, result);
}

/// How many clusters came out, and why not more.
fn clusters(
    report: &mut Report,
    (found, labelled): (usize, usize),
    (asked, k): (Option<usize>, usize),
    unanimous: Option<&Unanimous>,
) {
    let why = match unanimous {
        _ if found == 0 => "no two objects were compared",
        _ if found == labelled => "no more objects were compared",
        Some(Unanimous { labels: Some(_), why, .. }) => *why,
        _ => FEWER_CLUSTERS,
    };
    match asked {
        Some(asked) => report.expect_clusters(asked, found, why),
        None if found == 0 => report.notes.push(why.to_owned()),
        None if found < k && unanimous.is_none() => {
            report.notes.push(format!("{found} of these {k} clusters hold objects"));
        }
        None => {}
    }
    if let Some(unanimous) = unanimous {
        report.notes.push(unanimous.note.clone());
    }
}

/// How many clusters hold objects that no chain of comparisons connects: in what is not connected
/// the same cluster is known by nothing.
fn unconnected(answers: &Answers, result: &CrowdResult) -> usize {
    let (sets, count) = unanimous::components(answers);
    if count < 2 {
        return 0;
    }
    let partition: &Partition = &result.partition;
    let mut first = vec![None; partition.n_clusters()];
    let mut several = vec![false; partition.n_clusters()];
    for (&object, set) in answers.answered().iter().zip(sets) {
        let Some(label) = partition.label(object as usize) else { continue };
        several[label] |= *first[label].get_or_insert(set) != set;
    }
    several.iter().filter(|&&several| several).count()
}

/// Objects that nobody compared, and workers.
fn people(report: &mut Report, result: &CrowdResult) {
    let mut note = |note: String| report.notes.push(note);
    match result.partition.n_objects() - result.partition.n_labelled() {
        0 => {}
        1 => note("1 object was compared by nobody and is unlabelled".to_owned()),
        more => note(format!("{more} objects were compared by nobody and are unlabelled")),
    }
    // Who they are the result says; the numbers mean nothing where workers have names.
    match result.spammers().count() {
        0 => {}
        1 => note("1 worker seems to answer at random".to_owned()),
        more => note(format!("{more} workers seem to answer at random")),
    }
    if let Some(alternative) = &result.alternative {
        note(format!(
            "{} workers group by another criterion ({:.1} standard errors better explained)",
            alternative.workers.len(),
            alternative.significance
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Answers, CrowdClustering, GroupAnswer, PairAnswer};
    use consilience_core::Clusters;

    #[test]
    fn where_nothing_was_compared_no_number_is_told() {
        let row = |worker| GroupAnswer { worker, task: 0, item: worker, group: 0 };
        let answers = Answers::from_groupings(3, &[0, 1, 2].map(row)).unwrap();
        let nobody = "3 objects were compared by nobody and are unlabelled";
        let nothing = "no two objects were compared";
        let few = "0 clusters instead of the 2 asked for: no two objects were compared";
        for (clusters, first) in [(Clusters::Auto, nothing), (Clusters::Fixed(2), few)] {
            let report = CrowdClustering::new(clusters).fit(&answers, &()).unwrap().report;
            assert_eq!(report.clusters_missing, clusters.fixed());
            assert_eq!(report.notes, [first, nobody]);
        }
    }

    #[test]
    fn fewer_objects_than_clusters_are_told() {
        let apart = |i, j| PairAnswer { worker: 0, i, j, same: false };
        let answers = Answers::from_pairs(4, &[apart(0, 1), apart(1, 2), apart(0, 2)]).unwrap();
        let report = CrowdClustering::new(4).fit(&answers, &()).unwrap().report;
        assert_eq!(report.clusters_missing, Some(1));
        let expected = [
            "3 clusters instead of the 4 asked for: no more objects were compared",
            "no two objects were called the same: every object is a cluster of its own",
            "1 object was compared by nobody and is unlabelled",
        ];
        assert_eq!(report.notes, expected);
    }
}
