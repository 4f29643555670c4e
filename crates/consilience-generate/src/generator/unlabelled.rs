//! Which objects no member labels, and why.

use consilience_core::{Ensemble, Features, Fit, Result, with_rows};
use consilience_num::Float;
use ndarray::ArrayView2;

use super::{Generator, Missing};

/// How many objects have no value, some values, all values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    none: usize,
    some: usize,
    all: usize,
}

impl Generator {
    /// Says how many objects no member labels, and what would reach them. There are no features
    /// where all members are categories.
    pub(super) fn tell_unlabelled(
        &self,
        features: Option<Features<'_>>,
        fit: &mut Fit<Ensemble>,
    ) -> Result<()> {
        let n = fit.output.n_objects();
        let members = fit.output.members();
        if members.iter().any(|m| m.n_labelled() == n) {
            return Ok(());
        }
        let nowhere: Vec<usize> =
            (0..n).filter(|&i| members.iter().all(|m| m.label(i).is_none())).collect();
        if nowhere.is_empty() {
            return Ok(());
        }
        let why = match features {
            None => "no category of theirs is known".to_owned(),
            Some(x) if self.missing == Missing::Member => {
                self.reasons(with_rows!(x.dense()?, |x| known(x, &nowhere)))
            }
            Some(_) => self.reasons(Known { all: nowhere.len(), ..Known::default() }),
        };
        let count = nowhere.len();
        fit.report.notes.push(format!("{count} of {n} objects are labelled by no member: {why}"));
        Ok(())
    }

    fn reasons(&self, known: Known) -> String {
        let mut reasons = Vec::new();
        if known.all > 0 {
            reasons.push(match self.object_fraction < 1.0 {
                true => format!(
                    "none drew {}, which more members or a larger object fraction would reach",
                    known.all
                ),
                false => format!("the base clusterer left {} out", known.all),
            });
        }
        if known.some > 0 {
            let reach = match self.feature_fraction < 1.0 {
                true => "smaller feature fractions or more members reach more of them",
                false => "members that see all features cannot have them, a feature fraction can",
            };
            let drawn = if self.object_fraction < 1.0 { ", or were drawn by none" } else { "" };
            reasons.push(format!(
                "{} lack a feature that each member sees which drew them{drawn}; {reach}",
                known.some
            ));
        }
        if known.none > 0 {
            reasons.push(format!("{} have no value at all", known.none));
        }
        reasons.join("; ")
    }
}

fn known<F: Float>(x: ArrayView2<'_, F>, rows: &[usize]) -> Known {
    let mut known = Known::default();
    for &i in rows {
        let holes = x.row(i).iter().filter(|v| v.to_f64().is_nan()).count();
        match holes {
            0 => known.all += 1,
            all if all == x.ncols() => known.none += 1,
            _ => known.some += 1,
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::KMeans;

    const HOLE: f64 = f64::NAN;

    #[test]
    fn objects_without_a_label_are_told_with_their_reasons() {
        let mut x =
            Array2::from_shape_fn((40, 4), |(i, j)| (i % 2 * 9) as f64 + (i * j % 5) as f64);
        (0..3).for_each(|i| x[[i, i]] = HOLE);
        x.row_mut(7).fill(HOLE);
        let base = || Generator::new(KMeans::new()).members(3).clusters(2..=2);
        let note = |generator: Generator, x: &Array2<f64>| {
            let notes = generator.fit(x, &()).unwrap().report.notes;
            notes.into_iter().find(|n| n.contains("labelled by no member")).unwrap_or_default()
        };
        let told = note(base().missing(Missing::Member), &x);
        assert!(told.starts_with("4 of 40 objects"), "{told}");
        assert!(told.contains("3 lack a feature") && !told.contains("more members"), "{told}");
        assert!(told.contains("1 have no value at all") && !told.contains("drew 3"), "{told}");
        let part = base().missing(Missing::Member).feature_fraction(0.5).members(200);
        let told = note(part, &x);
        assert!(told.starts_with("1 of 40 objects") && !told.contains("lack"), "{told}");
        // Drawn by none: also without holes.
        let whole = Missing::Mean.filled(&x).unwrap();
        let few = base().object_fraction(0.1);
        let told = note(few, &whole);
        assert!(told.contains("none drew") && !told.contains("lack"), "{told}");
        assert_eq!(note(base(), &whole), "");
    }
}
