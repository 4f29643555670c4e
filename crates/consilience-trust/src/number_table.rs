//! The numbers of clusters that were tried, and what the criteria make of them.

use consilience_core::ties::{EQUAL, first_largest};

use crate::ConsensusCdf;

/// An area that grows by less than this share has stopped growing.
const GROWTH: f64 = 0.1;
/// Taken as the usual number of classes; with the variance below two sets of three have 4 to 12.
const USUAL: f64 = 7.0;
/// Variance of the logarithm of the number of classes.
const USUAL_VARIANCE: f64 = 0.25;
/// How many times the largest number that a criterion chooses is still possible.
const POSSIBLE: f64 = 1.5;
/// The warning of a criterion that tells no number from another.
const SAME: &str = "it is the same for all numbers tried";

/// What each number of clusters looks like, and what the criteria make of it.
///
/// From [`ClusterNumber::choose`](crate::ClusterNumber::choose).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::NumberTableFields")
)]
#[non_exhaustive]
pub struct NumberTable {
    /// One row per number of clusters, ascending.
    pub rows: Vec<NumberRow>,
    /// The criteria: eigengap, PAC, lifetime, delta area and directions, or those of them that
    /// there are in a grouped table.
    pub criteria: Vec<Criterion>,
    /// The number of clusters recommended.
    pub recommended: usize,
    /// From how many clusters to how many are possible: from the least number that a criterion
    /// chooses to half as many again as the largest (as the criteria say too few more often than
    /// too many), to the number of the median member where that is larger, and to no more than
    /// there are distinct objects. Criteria that are the same for all numbers tried choose none;
    /// where members are all alike, and their number is recommended, both ends are that number; in
    /// a grouped table they are what the criteria choose, and where a single number was tried both
    /// are that.
    ///
    /// It held the number of classes of 88 % of 231 ensembles of many kinds, and of 78 % of 300
    /// drawn ones: up to 6 clusters nearly always, more in 70 % (`docs/choosing.md`). Where it does
    /// not, there are nearly always more classes than its upper end.
    pub range: (usize, usize),
    /// Plain sentences: what was recommended and why, every warning, and what was tried.
    pub notes: Vec<String>,
}

/// One number of clusters.
///
/// Part of a [`NumberTable`], from [`ClusterNumber::choose`](crate::ClusterNumber::choose).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::stored::NumberRowFields")
)]
#[non_exhaustive]
pub struct NumberRow {
    /// k.
    pub clusters: usize,
    /// Members behind the CDF: resamples, or base clusterings with k clusters.
    pub members: usize,
    /// The consensus CDF at k, for plotting.
    pub cdf: ConsensusCdf,
    /// Area under it.
    pub area: f64,
    /// The area itself in the first row; from then on by what share it grew from the row before.
    pub delta_area: f64,
    /// Proportion of ambiguous pairs.
    pub pac: f64,
    /// How alike the resamples are, or the base clusterings with k clusters: the mean adjusted Rand
    /// index of each with the next, and of the last with the first. No criterion is made of it,
    /// since it is high where k is too small. `None` where no two can be compared.
    pub stability: Option<f64>,
    /// Range of heights over which k clusters persist; `None` in a grouped table.
    pub lifetime: Option<f64>,
    /// Gap behind the k-th eigenvalue; `None` in a grouped table.
    pub eigengap: Option<f64>,
}

/// What one criterion says.
///
/// Part of a [`NumberTable`], from [`ClusterNumber::choose`](crate::ClusterNumber::choose).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Criterion {
    /// `eigengap`, `pac`, `lifetime`, `delta-area` or `directions`.
    pub name: &'static str,
    /// The number of clusters that it chooses, the least of equally good ones, whose values differ
    /// by no more than 1e-9; the least that was tried where the criterion is the same for all, as
    /// its warning then says.
    pub clusters: usize,
    /// Why not to trust it here; `None` where nothing is against it.
    pub warning: Option<String>,
}

/// What the members are like as a whole.
pub(crate) struct Members {
    /// The directions that they share.
    pub(crate) directions: f64,
    /// Clusters of the median member.
    pub(crate) median: usize,
    /// Distinct objects.
    pub(crate) distinct: usize,
}

/// The criteria's choices among the rows, of which there is at least one; without members for a
/// grouped table.
pub(crate) fn conclude(rows: Vec<NumberRow>, members: Option<&Members>) -> NumberTable {
    let criteria = criteria(&rows, members.map(|members| members.directions));
    let (recommended, why) = recommended(&criteria, &rows);
    let said = criteria.iter().filter(|c| chooses(c)).map(|c| c.clusters);
    let chosen = said.fold((recommended, recommended), |(a, b), k| (a.min(k), b.max(k)));
    let members = members.filter(|_| rows.len() > 1);
    let range = members.map_or(chosen, |members| possible(chosen, members));
    let mut notes = vec![format!("{recommended} clusters: {why}")];
    for c in &criteria {
        let (name, k) = (c.name, c.clusters);
        match &c.warning {
            Some(warning) if !chooses(c) => notes.push(format!("{name} chooses none: {warning}")),
            Some(warning) => {
                notes.push(format!("{name} would choose {k} and is not to be trusted: {warning}"));
            }
            None if k != recommended => notes.push(format!("{name} would choose {k}")),
            None => {}
        }
    }
    if rows.len() > 1 && rows.last().is_some_and(|r| r.clusters == recommended) {
        notes.push(format!("{recommended} is the largest number that was tried"));
    }
    if range.0 < range.1 {
        let ((least, largest), (from, to)) = (chosen, range);
        let choose = if least < largest {
            format!("the criteria choose {least} to {largest}")
        } else {
            format!("the criteria choose {least}")
        };
        notes.push(if chosen == range {
            format!("unsure: {choose} clusters")
        } else {
            format!("unsure: {from} to {to} clusters are possible; {choose}")
        });
    }
    NumberTable { rows, criteria, recommended, range, notes }
}

/// How many clusters may be there where the criteria choose from the first number to the second.
fn possible((least, largest): (usize, usize), members: &Members) -> (usize, usize) {
    let most = (POSSIBLE * largest as f64).ceil() as usize;
    (least, most.max(members.median).min(members.distinct).max(largest))
}

/// Whether a criterion tells numbers apart at all.
fn chooses(criterion: &Criterion) -> bool {
    criterion.warning.as_deref() != Some(SAME)
}

/// What each criterion chooses.
fn criteria(rows: &[NumberRow], shared: Option<f64>) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    let column =
        |of: fn(&NumberRow) -> Option<f64>| -> Option<Vec<f64>> { rows.iter().map(of).collect() };
    let at = |best: usize| rows[best].clusters;
    if let Some(gaps) = column(|r| r.eigengap) {
        criteria.push(criterion("eigengap", at(largest(&gaps)), &gaps));
    }
    if let Some(pac) = column(|r| Some(-r.pac)) {
        criteria.push(criterion("pac", at(largest(&pac)), &pac));
    }
    if let Some(lives) = column(|r| r.lifetime) {
        criteria.push(criterion("lifetime", at(largest(&lives)), &lives));
    }
    let growing = rows.iter().rposition(|r| r.delta_area >= GROWTH - EQUAL).unwrap_or(0);
    let endless = growing + 1 == rows.len() && rows.len() > 1;
    criteria.push(Criterion {
        name: "delta-area",
        clusters: at(growing),
        warning: endless.then(|| "the area still grows at the largest number tried".into()),
    });
    if let Some(shared) = shared {
        criteria.push(directions(shared, (at(0), at(rows.len() - 1))));
    }
    criteria
}

/// The number of directions that the members share, among the numbers that were tried.
fn directions(shared: f64, (least, largest): (usize, usize)) -> Criterion {
    // Halfway between two numbers the smaller one.
    let nearest = (shared - 0.5 - EQUAL).ceil() as usize;
    let warning = if nearest > largest {
        Some(format!("the members share more than {largest} directions, and no more were tried"))
    } else if nearest < least {
        Some(format!("the members share fewer than {least} directions, and no fewer were tried"))
    } else {
        None
    };
    Criterion { name: "directions", clusters: nearest.clamp(least, largest), warning }
}

/// The number that is recommended, and why.
fn recommended(criteria: &[Criterion], rows: &[NumberRow]) -> (usize, String) {
    if let [only] = rows {
        return (only.clusters, "no other number was tried".to_string());
    }
    let by = |name: &str| criteria.iter().find(|c| c.name == name);
    let (Some(gap), Some(pac), Some(life), Some(shared)) =
        (by("eigengap"), by("pac"), by("lifetime"), by("directions"))
    else {
        let trusted = criteria.iter().find(|c| c.warning.is_none());
        let why = trusted.map_or("every criterion is untrustworthy here", |c| c.name);
        return (trusted.or(criteria.first()).map_or(1, |c| c.clusters), why.to_string());
    };
    if [gap, pac, life].iter().all(|c| c.clusters == gap.clusters && c.warning.is_none()) {
        let agrees = |c: &&Criterion| c.clusters == gap.clusters && c.warning.is_none();
        let agreeing: Vec<&str> = criteria.iter().filter(agrees).map(|c| c.name).collect();
        return (gap.clusters, format!("{} agree", agreeing.join(", ")));
    }
    // What members disagree on blurs the directions, which are then too few.
    let pairs = [(gap, life), (gap, pac), (pac, life)];
    let agree = |(a, b): &(&Criterion, &Criterion)| {
        let sure = [a, b].iter().all(|c| chooses(c) && (c.name != pac.name || c.warning.is_none()));
        sure && a.clusters == b.clusters && a.clusters > shared.clusters
    };
    if let Some((a, b)) = pairs.into_iter().find(agree) {
        return (a.clusters, format!("{} and {} agree", a.name, b.name));
    }
    // Directions always choose.
    let say: Vec<&Criterion> = [gap, life, shared].into_iter().filter(|c| chooses(c)).collect();
    let said: Vec<f64> = say.iter().map(|c| (c.clusters as f64).ln()).collect();
    let count = said.len() as f64;
    let mean = said.iter().sum::<f64>() / count;
    let variance = said.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / count;
    let drawn = (mean * USUAL_VARIANCE + USUAL.ln() * variance) / (USUAL_VARIANCE + variance);
    let tried = (rows[0].clusters, rows[rows.len() - 1].clusters);
    ((drawn.exp().round() as usize).clamp(tried.0, tried.1), reason(&say))
}

/// What the criteria say of which the mean is taken.
fn reason(say: &[&Criterion]) -> String {
    let names = listed(say.iter().map(|c| c.name.to_owned()).collect());
    let numbers = listed(say.iter().map(|c| c.clusters.to_string()).collect());
    match say {
        [only] => format!("only {} choose a number", only.name),
        [first, ..] if say.iter().all(|c| c.clusters == first.clusters) => {
            format!("{names} agree")
        }
        _ => format!(
            "{names} say {numbers}; their geometric mean, drawn towards {USUAL} the more they \
             differ"
        ),
    }
}

/// Words as a sentence has them: `a, b and c`.
fn listed(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} and {last}", words.join(", ")),
        None => String::new(),
    }
}

/// The first largest entry of a criterion, all of which are from -1 to 1.
fn largest(values: &[f64]) -> usize {
    first_largest(values.iter().copied(), 1.0)
}

/// A criterion that takes the largest value: where that is the last, or the values only fall, it
/// merely names an end of the range, and where they are equal it names nothing.
fn criterion(name: &'static str, clusters: usize, values: &[f64]) -> Criterion {
    let rises = values.windows(2).all(|w| w[1] >= w[0] - EQUAL);
    let falls = values.windows(2).all(|w| w[1] <= w[0] + EQUAL);
    let best_at_the_end = largest(values) + 1 == values.len();
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let warning = if values.len() >= 2 && high - low <= EQUAL {
        Some(SAME)
    } else if values.len() < 3 {
        None
    } else if rises && best_at_the_end {
        Some("it improves up to the largest number tried")
    } else if falls {
        Some("it worsens from the smallest number tried")
    } else if best_at_the_end {
        Some("it is best at the largest number tried")
    } else {
        None
    };
    Criterion { name, clusters, warning: warning.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClusterNumber;
    use consilience_conformance::planted;
    use consilience_core::{Ensemble, Partition, Seed};

    #[test]
    fn the_largest_number_tried_is_never_recommended_without_a_word() {
        let best_at_the_end = criterion("eigengap", 5, &[0.3, 0.1, 0.2, 0.4]);
        assert!(best_at_the_end.warning.unwrap().contains("largest number tried"));
        assert_eq!(criterion("eigengap", 4, &[0.3, 0.1, 0.4, 0.2]).warning, None);
        // Eight classes, of which no more than six clusters are tried.
        for seed in 0..4 {
            let world = planted(Seed(seed), &[20; 8], 12, 0.1, 0.0).unwrap();
            let table = ClusterNumber::new().up_to(6).choose(&world.ensemble).unwrap();
            let (low, high) = table.range;
            assert!((low..=high).contains(&table.recommended));
            let said = table.notes.join("; ");
            assert!(table.recommended < 6 || said.contains("not to be trusted"), "{said}");
            assert_eq!(low < high, said.contains("unsure"), "{said}");
        }
    }

    /// Rows of numbers that were tried.
    fn tried(numbers: std::ops::RangeInclusive<usize>) -> Vec<NumberRow> {
        let row = |clusters| NumberRow {
            clusters,
            members: 2,
            cdf: ConsensusCdf::of(&planted(Seed(0), &[3, 3], 2, 0.0, 0.0).unwrap().ensemble)
                .unwrap(),
            area: 0.0,
            delta_area: 0.0,
            pac: 0.0,
            stability: None,
            lifetime: None,
            eigengap: None,
        };
        numbers.map(row).collect()
    }

    /// Criteria that say so, over rows from 2 on.
    fn said(gap: usize, pac: usize, life: usize, shared: usize) -> (usize, String) {
        said_of([gap, pac, life, shared], None)
    }

    /// The same with a warning of PAC.
    fn said_of([gap, pac, life, shared]: [usize; 4], warning: Option<&str>) -> (usize, String) {
        let of = |name, clusters| Criterion { name, clusters, warning: None };
        let criteria = [("eigengap", gap), ("pac", pac), ("lifetime", life), ("delta-area", 4)];
        let mut criteria = criteria.map(|(name, k)| of(name, k)).to_vec();
        criteria[1].warning = warning.map(str::to_owned);
        criteria.push(of("directions", shared));
        recommended(&criteria, &tried(2..=20))
    }

    #[test]
    fn agreement_decides_and_disagreement_is_drawn_to_what_is_usual() {
        let (k, why) = said(16, 16, 16, 9);
        assert_eq!((k, why.as_str()), (16, "eigengap, pac, lifetime agree"));
        // Three that agree without PAC: their number, whatever is usual.
        assert_eq!(said(12, 20, 12, 12).0, 12);
        // 2, 2, 16: logarithms of mean ln 4 and variance 2 (ln 2)^2; (ln 4 / .961 + 4 ln 7) /
        // (1 / .961 + 4) = 1.831, so 6.
        assert_eq!(said(2, 5, 2, 16).0, 6);
        // Noise takes directions, and leaves the gap and the tree.
        let (k, why) = said(15, 19, 15, 5);
        assert_eq!((k, why.as_str()), (15, "eigengap and lifetime agree"));
        // One of both may be PAC, where it has no warning.
        assert_eq!(said(20, 20, 2, 9), (20, "eigengap and pac agree".to_owned()));
        assert_eq!(said(4, 15, 15, 9), (15, "pac and lifetime agree".to_owned()));
        assert!(said_of([4, 20, 20, 9], Some("it is best at the largest number tried")).0 < 20);
        // With more directions than they say it is the mean: ln 3 twice and ln 6, the variance
        // .107 beside 1/4: (1.330 / .107 + 4 ln 7) / (1 / .107 + 4) = 1.515.
        assert_eq!(said(3, 20, 3, 6).0, 5);
        assert!(said(2, 5, 2, 16).1.contains("say 2, 2 and 16"));
    }

    #[test]
    fn a_monotone_criterion_is_not_trusted() {
        assert!(criterion("x", 2, &[0.3, 0.2, 0.2, 0.1]).warning.unwrap().contains("smallest"));
        assert!(criterion("x", 2, &[0.1, 0.2, 0.2, 0.3]).warning.unwrap().contains("largest"));
        assert!(criterion("x", 2, &[0.1, 0.1, 0.1]).warning.unwrap().contains("same"));
        assert_eq!(criterion("x", 2, &[0.1, 0.3, 0.2]).warning, None);
        assert_eq!(criterion("x", 2, &[0.1, 0.3]).warning, None);
        // Noise has no number of clusters: what is said of it comes with a warning, or with
        // disagreement.
        let mut s = Seed(1).stream();
        let members = (0..10)
            .map(|_| {
                Partition::from_labels(&(0..60).map(|_| s.below(4)).collect::<Vec<_>>()).unwrap()
            })
            .collect();
        let table = ClusterNumber::new().choose(&Ensemble::new(members).unwrap()).unwrap();
        assert!(table.notes.len() > 1, "{:?}", table.notes);
    }

    #[test]
    fn ties_are_told_as_what_they_are() {
        let warning = |values: &[f64]| criterion("x", 2, values).warning.unwrap_or_default();
        // Best before the end: equal values behind it improve nothing.
        assert_eq!(warning(&[-0.647, -0.353, -0.353]), "");
        assert_eq!(warning(&[0.1, 0.3, 0.3, 0.2]), "");
        assert_eq!(warning(&[0.2, 0.2]), SAME);
        assert_eq!(warning(&[0.2, 0.2 + 1e-16, 0.2]), SAME);
        assert_eq!(warning(&[0.2]), "");
        // Equal but for rounding.
        assert_eq!(largest(&[0.1, 0.3, 0.3 + 1e-16]), 1);
        assert!(warning(&[0.3, 0.2, 0.2 + 1e-16]).contains("smallest"));
        assert!(warning(&[0.2 + 1e-16, 0.2, 0.3]).contains("largest number tried"));
        // What tells no number from another counts nowhere.
        let of = |name, clusters, same: bool| Criterion {
            name,
            clusters,
            warning: same.then(|| SAME.to_owned()),
        };
        let mut criteria = vec![
            of("eigengap", 9, false),
            of("pac", 2, true),
            of("lifetime", 2, true),
            of("delta-area", 5, false),
            of("directions", 9, false),
        ];
        let (k, why) = recommended(&criteria, &tried(2..=20));
        assert_eq!((k, why.as_str()), (9, "eigengap and directions agree"));
        criteria[0] = of("eigengap", 2, true);
        criteria[4].clusters = 20;
        let (k, why) = recommended(&criteria, &tried(2..=20));
        assert_eq!((k, why.as_str()), (20, "only directions choose a number"));
    }

    /// Both gaps, behind two clusters and behind three, are 1 / (2 sqrt 3).
    #[test]
    fn rounding_chooses_no_number() {
        let members = [[0, 1, 2, 1], [0, 1, 0, 0]];
        let members = members.map(|labels| Partition::from_labels(&labels).unwrap());
        let ensemble = Ensemble::new(members.to_vec()).unwrap();
        let table = ClusterNumber::new().choose(&ensemble).unwrap();
        let gap = |k: usize| table.rows[k - 2].eigengap.unwrap();
        assert!((gap(2) - 0.5 / 3f64.sqrt()).abs() < 1e-9);
        assert!((gap(3) - 0.5 / 3f64.sqrt()).abs() < 1e-9);
        let chosen = table.criteria.iter().find(|c| c.name == "eigengap").unwrap();
        assert_eq!((chosen.clusters, table.recommended), (2, 3), "{:?}", table.notes);
    }

    #[test]
    fn directions_beyond_what_was_tried_are_told_without_a_number() {
        let of = |shared| directions(shared, (3, 5));
        assert_eq!((of(4.4).clusters, of(4.4).warning), (4, None));
        assert_eq!((of(5.4).clusters, of(5.4).warning), (5, None));
        assert_eq!((of(3.5).clusters, of(3.5 + 1e-15).clusters, of(3.6).clusters), (3, 3, 4));
        assert_eq!(of(5.6).clusters, 5);
        assert!(of(5.6).warning.unwrap().starts_with("the members share more than 5 directions"));
        assert_eq!(of(1.2).clusters, 3);
        assert!(of(1.2).warning.unwrap().starts_with("the members share fewer than 3 directions"));
    }
}
