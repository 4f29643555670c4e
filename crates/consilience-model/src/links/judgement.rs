//! What the candidates keep of links that they have not seen.

use std::collections::BTreeMap;

use consilience_core::{Link, Pair};

use super::folds::HeldOut;

/// The candidates of [`LinkedClustering`](crate::LinkedClustering), what each keeps of the links
/// that were left out, and which was taken.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkJudgement {
    /// The candidates, plain k-means first.
    pub candidates: Vec<JudgedCandidate>,
    /// Number of the one that was taken.
    pub chosen: usize,
    /// The links that were left out, part after part.
    pub links: Vec<Pair>,
    /// The fewest links that methods which use them are judged by, where there were fewer.
    pub too_few: Option<usize>,
    /// How many standard errors were taken off each gain.
    caution: f64,
}

/// One candidate of [`LinkedClustering`](crate::LinkedClustering), in its [`LinkJudgement`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JudgedCandidate {
    /// Its name, as in the table of [`LinkedClustering`](crate::LinkedClustering).
    pub name: String,
    /// Mean of the shares of must-links and of cannot-links, left out, that its clusters keep; of
    /// one kind where there is only one. `None` where it was not judged.
    pub score: Option<f64>,
    /// Standard error of the score, the fits being what they are; see
    /// [`LinkedClustering`](crate::LinkedClustering#standard-errors).
    pub error: f64,
    /// What it keeps more than plain k-means.
    pub gain: f64,
    /// Standard error of the gain, over the same links.
    pub gain_error: f64,
    /// For each of the links how far the fits that have not seen it keep it, from 0 to 1.
    pub kept: Vec<f64>,
    /// Why it was not judged.
    pub left_out: Option<String>,
}

impl LinkJudgement {
    pub(super) fn new<'a>(held: &HeldOut, names: impl Iterator<Item = &'a str>) -> Self {
        let candidate = |name: &str| JudgedCandidate {
            name: name.to_owned(),
            score: None,
            error: 0.0,
            gain: 0.0,
            gain_error: 0.0,
            kept: Vec::new(),
            left_out: None,
        };
        LinkJudgement {
            candidates: names.map(candidate).collect(),
            chosen: 0,
            links: held.links().to_vec(),
            too_few: None,
            caution: 0.0,
        }
    }

    /// With links by the numbers of all objects, where it was made on these.
    pub(super) fn of_rows(mut self, rows: &[usize]) -> Self {
        self.links.iter_mut().for_each(|link| (link.i, link.j) = (rows[link.i], rows[link.j]));
        self
    }

    /// The candidate that was taken.
    pub fn taken(&self) -> &JudgedCandidate {
        &self.candidates[self.chosen]
    }

    /// What was taken and how sure that is, in a sentence.
    pub fn sentence(&self) -> String {
        let (taken, links) = (self.taken(), self.links.len());
        let Some(score) = taken.score else {
            let least = self.too_few.unwrap_or_default();
            return format!(
                "{links} links are too few to choose a method by (at least {least}): {} is taken, \
                 which uses none",
                taken.name
            );
        };
        if let Some(least) = self.too_few {
            return format!(
                "{links} links are too few to choose a method by that uses them (at least \
                 {least}): {} is taken, which uses none and keeps {:.1} % of them",
                taken.name,
                100.0 * score
            );
        }
        let mut text = format!(
            "{} is taken: it keeps {score:.3} +- {:.3} of {links} links that it has not seen",
            taken.name, taken.error
        );
        if self.chosen > 0 {
            let (gain, error) = (taken.gain, taken.gain_error);
            text += &format!(", {gain:.3} +- {error:.3} more than {}", self.candidates[0].name);
        } else {
            text += &format!(
                "; no method that uses links gains more on it than {} standard errors of the gain",
                self.caution
            );
        }
        text
    }

    pub(super) fn too_few(&mut self, least: usize) {
        self.too_few = Some(least);
        let reason = format!("{} links; expected at least {least}", self.links.len());
        for candidate in &mut self.candidates {
            candidate.left_out = Some(reason.clone());
        }
    }

    pub(super) fn leave_out(&mut self, candidate: usize, reason: String) {
        self.candidates[candidate].left_out = Some(reason);
    }

    /// Plain k-means is the first.
    pub(super) fn judged(&mut self, candidate: usize, kept: Vec<f64>) {
        let plain = self.candidates[0].kept.clone();
        let (score, error) = balanced(&self.links, &kept, |_| 0.0);
        let judged = &mut self.candidates[candidate];
        (judged.score, judged.error) = (Some(score), error);
        judged.left_out = None;
        if candidate > 0 {
            (judged.gain, judged.gain_error) = balanced(&self.links, &kept, |l| plain[l]);
        }
        judged.kept = kept;
    }

    /// The largest gain over plain k-means less so many of its standard errors, if one is above 0.
    pub(super) fn decide(&mut self, caution: f64) {
        self.caution = caution;
        (self.chosen, _) =
            self.candidates.iter().enumerate().fold((0, 0.0), |best, (c, judged)| {
                let sure = judged.gain - caution * judged.gain_error;
                if c > 0 && judged.score.is_some() && sure > best.1 { (c, sure) } else { best }
            });
    }
}

/// Mean over the kinds of link of the mean of `values` less a baseline, and its standard error, in
/// which links that share an object are correlated; as if all were independent where that is more.
pub(super) fn balanced(
    links: &[Pair],
    values: &[f64],
    baseline: impl Fn(usize) -> f64,
) -> (f64, f64) {
    let (mut mean, mut alone, mut kinds) = (0.0, 0.0, 0.0);
    // Their squares sum to the variance of independent links.
    let mut residuals = vec![0.0; links.len()];
    for kind in [Link::Must, Link::Cannot] {
        let of_kind: Vec<usize> = (0..links.len()).filter(|&l| links[l].link == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let count = of_kind.len() as f64;
        let own = of_kind.iter().map(|&l| values[l] - baseline(l)).sum::<f64>() / count;
        mean += own;
        kinds += 1.0;
        if of_kind.len() == 1 {
            // It has no spread of its own: it counts as one that may fall either way.
            alone += 1.0;
            continue;
        }
        let scale = (count * (count - 1.0)).sqrt();
        of_kind.iter().for_each(|&l| residuals[l] = (values[l] - baseline(l) - own) / scale);
    }
    let independent: f64 = residuals.iter().map(|r| r * r).sum();
    let mut of_object = BTreeMap::new();
    for (link, residual) in links.iter().zip(&residuals) {
        for object in [link.i, link.j] {
            *of_object.entry(object).or_insert(0.0) += residual;
        }
    }
    // A link shares both its objects with itself, and one with any other.
    let dyadic = of_object.values().map(|sum: &f64| sum * sum).sum::<f64>() - independent;
    let variance = dyadic.max(independent) + alone;
    (mean / f64::max(kinds, 1.0), variance.sqrt() / f64::max(kinds, 1.0))
}
