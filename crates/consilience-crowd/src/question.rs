//! Which answers would be most informative.

use consilience_core::Memberships;

use crate::crowd_rates::CrowdRates;

/// A pair to ask the crowd about next, from
/// [`CrowdResult::ask_pairs`](crate::CrowdResult::ask_pairs).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The object that is in doubt.
    pub i: usize,
    /// The object to compare it with.
    pub j: usize,
    /// Probability that the two belong together.
    pub together: f64,
    /// Information that one answer of the crowd is expected to give about that, in bits; 0 where
    /// the model is sure of the pair, and where the crowd answers alike in both cases.
    pub information: f64,
}

/// Clusters whose most certain object an object in doubt is compared with.
const RIVALS: usize = 3;

/// Answered or not, the objects of most entropy first; ties to less evidence, then to the lower
/// number.
pub(crate) fn objects(memberships: &Memberships, count: usize) -> Vec<usize> {
    let entropy = memberships.entropy();
    let evidence = memberships.evidence();
    let mut order: Vec<usize> = (0..entropy.len()).collect();
    order.sort_by(|&a, &b| {
        entropy[b].total_cmp(&entropy[a]).then(evidence[a].total_cmp(&evidence[b])).then(a.cmp(&b))
    });
    order.truncate(count);
    order
}

/// The pairs of most expected information, each object in doubt with the surest objects of its
/// likeliest clusters.
pub(crate) fn pairs(memberships: &Memberships, rates: CrowdRates, count: usize) -> Vec<Question> {
    let q = memberships.values();
    let (n, k) = q.dim();
    let surest: Vec<usize> = (0..k)
        .map(|c| (1..n).fold(0, |best, i| if q[[i, c]] > q[[best, c]] { i } else { best }))
        .collect();
    let mut questions = Vec::new();
    for object in objects(memberships, count.saturating_mul(2)) {
        let mut clusters: Vec<usize> = (0..k).collect();
        clusters.sort_by(|&a, &b| q[[object, b]].total_cmp(&q[[object, a]]).then(a.cmp(&b)));
        for &c in clusters.iter().take(RIVALS) {
            let with = surest[c];
            if with != object {
                let together = q.row(object).dot(&q.row(with)).clamp(0.0, 1.0);
                questions.push(Question {
                    i: object,
                    j: with,
                    together,
                    information: information(together, rates),
                });
            }
        }
    }
    questions
        .sort_by(|a, b| b.information.total_cmp(&a.information).then((a.i, a.j).cmp(&(b.i, b.j))));
    let mut seen = std::collections::HashSet::new();
    questions.retain(|x| seen.insert((x.i.min(x.j), x.i.max(x.j))));
    questions.truncate(count);
    questions
}

/// Mutual information of an answer and of being together.
fn information(together: f64, rates: CrowdRates) -> f64 {
    let (p, r) = (rates.same_together, rates.same_apart);
    let h = |x: f64| {
        let part = |x: f64| if x > 0.0 { -x * x.log2() } else { 0.0 };
        part(x) + part(1.0 - x)
    };
    (h(together * p + (1.0 - together) * r) - together * h(p) - (1.0 - together) * h(r)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn doubt_is_asked_about_first() {
        let q = Memberships::new(array![[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.9, 0.1]]).unwrap();
        assert_eq!(objects(&q, 2), vec![2, 3]);
        let asked = pairs(&q, CrowdRates { same_together: 0.9, same_apart: 0.1 }, 3);
        assert_eq!((asked[0].i, asked[0].j), (2, 0));
        assert_eq!((asked[1].i, asked[1].j), (2, 1));
        assert!(asked[0].information > asked[2].information);
        // 1 - h(0.9), the capacity of such a worker at even odds.
        assert!((asked[0].information - 0.5310044).abs() < 1e-6);
        let blind = CrowdRates { same_together: 0.3, same_apart: 0.3 };
        assert_eq!(information(0.5, blind), 0.0);
    }

    #[test]
    fn what_is_sure_has_nothing_to_tell() {
        let q = Memberships::new(array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).unwrap();
        let asked = pairs(&q, CrowdRates { same_together: 0.9, same_apart: 0.1 }, 3);
        assert_eq!(asked.len(), 3);
        assert!(asked.iter().all(|question| question.information == 0.0), "{asked:?}");
    }
}
