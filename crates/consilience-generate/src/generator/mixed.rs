//! Tables of numbers and categories.

use consilience_core::{
    Accepts, Ensemble, Features, Fit, Member, Observer, Partition, Report, Result, ensure,
};

use super::{Ask, Generator};

impl Generator {
    /// An ensemble of a table with columns of numbers and columns of categories. A column of
    /// categories is a clustering, so it is a member, and so is every cross of two of them: the
    /// base clusterer works on the numbers alone, and no distance between categories is invented.
    ///
    /// Of the [`members`](Generator::members) each kind of column has its share by the number of
    /// columns, and each at least a quarter, so that neither drowns the other. The categories'
    /// share are all single columns, in random order, and then crosses of two columns at random.
    /// A missing category is no label. Where there are categories alone, rows may stand for several
    /// objects, as in an ensemble. Fractions of features and objects, projections and scales
    /// are for the numbers alone.
    ///
    /// ```
    /// use consilience::Partition;
    /// use consilience::Ensemble;
    /// use consilience::generate::{Generator, KMeans};
    /// use consilience::ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((20, 3), |(i, j)| (i / 10 * 8) as f64 + (i * j % 3) as f64);
    /// let colour = (0..20).map(|i| Some(if i < 10 { "red" } else { "blue" }));
    /// let colours = Ensemble::new(vec![Partition::from_values(colour)?.0])?;
    /// let generator = Generator::new(KMeans::new()).members(8);
    /// let ensemble = generator.fit_mixed(Some(x.view().into()), &colours, &())?.output;
    /// assert_eq!(ensemble.n_members(), 8);
    /// // Two of them are the column of colours.
    /// assert_eq!(ensemble.members()[7], colours.members()[0]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::fit`];
    /// [`ErrorKind::ShapeMismatch`](consilience_core::ErrorKind::ShapeMismatch) where numbers and
    /// categories are of other objects,
    /// [`ErrorKind::InvalidParameter`](consilience_core::ErrorKind::InvalidParameter) where
    /// categories give memberships or have weights, or where there are numbers and rows stand for
    /// several objects.
    pub fn fit_mixed(
        &self,
        numbers: Option<Features<'_>>,
        categories: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Fit<Ensemble>> {
        self.check_members()?;
        categories.check_accepted("a mixed table", Accepts::LABELS)?;
        if numbers.is_some() {
            categories.check_uncounted("a table with numbers", "repeat rows instead")?;
        }
        let columns = categories.n_members();
        let share = match &numbers {
            None => self.members,
            Some(x) => {
                let (n, found) = (x.n_objects(), categories.n_objects());
                ensure!(n == found, shape("{found} rows of categories and {n} of numbers"));
                ensure!(
                    self.members >= 2,
                    invalid("{} members; expected 2 at least of a mixed table", self.members)
                );
                share(self.members, columns, x.n_features())
            }
        };
        observer.check()?;
        let mut report = Report::default();
        let mut members: Vec<Member> = Vec::new();
        if let Some(x) = numbers {
            let of_numbers = Ask {
                members: self.members - share,
                name: "members of numbers",
                into: self.consensus_clusters,
            };
            let fit = self.fit_members(x, of_numbers, observer)?;
            report = fit.report;
            let found = fit.output;
            members.extend(found.members().iter().enumerate().map(|(u, labels)| {
                found.soft(u).map_or_else(|| labels.clone().into(), |soft| soft.clone().into())
            }));
        }
        let of_categories = self.category_members(categories, share, observer)?;
        members.extend(of_categories.into_iter().map(Member::from));
        report.notes.push(format!(
            "{share} of {} members are categories, single or crossed by two",
            members.len()
        ));
        let mut ensemble = Ensemble::mixed(members)?;
        if let Some(counts) = categories.counts() {
            ensemble = ensemble.with_counts(counts.to_vec())?;
        }
        let mut fit = Fit::new(ensemble, report);
        self.tell_unlabelled(numbers, &mut fit)?;
        Ok(fit)
    }

    /// So many members: rounds of all single columns and all crosses, each in random order.
    fn category_members(
        &self,
        categories: &Ensemble,
        share: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<Partition>> {
        let columns = categories.members();
        let mut members = Vec::with_capacity(share);
        let mut round = 0;
        while members.len() < share {
            observer.check()?;
            let mut stream = self.seed.derive("categories", round).stream();
            let count = columns.len();
            let mut singles: Vec<usize> = (0..count).collect();
            stream.shuffle(&mut singles);
            members.extend(singles.into_iter().map(|single| columns[single].clone()));
            let wanted = share.saturating_sub(members.len()).min(count * (count - 1) / 2);
            for pair in stream.sample(count * (count - 1) / 2, wanted) {
                observer.check()?;
                let (a, b) = unranked(pair);
                members.push(crossed(&columns[a], &columns[b])?);
            }
            round += 1;
        }
        members.truncate(share);
        Ok(members)
    }
}

/// How many of the members are for the categories.
fn share(members: usize, categories: usize, numbers: usize) -> usize {
    let even = members as f64 * categories as f64 / (categories + numbers) as f64;
    let least = (members as f64 / 4.0).ceil() as usize;
    (even.round() as usize).clamp(least, members - least)
}

/// The pair of a number: 0 is (0, 1), then (0, 2), (1, 2), (0, 3), ...
fn unranked(pair: usize) -> (usize, usize) {
    let mut b = 1;
    let mut before = 0;
    while before + b <= pair {
        before += b;
        b += 1;
    }
    (pair - before, b)
}

/// Objects that are together in both, unlabelled where they are in one of them.
fn crossed(a: &Partition, b: &Partition) -> Result<Partition> {
    let width = b.n_clusters() as u64;
    let cell = |i| Some(a.label(i)? as u64 * width + b.label(i)? as u64);
    Partition::from_fn(a.n_objects(), cell)
}

#[cfg(test)]
mod tests {
    use consilience_conformance::CancelFrom;
    use consilience_core::ErrorKind;
    use ndarray::Array2;

    use super::*;
    use crate::GaussianMixture;

    #[test]
    fn shares_and_pairs() {
        assert_eq!((share(20, 1, 9), share(20, 5, 5), share(20, 9, 1)), (5, 10, 15));
        assert_eq!((share(2, 9, 1), share(3, 1, 9)), (1, 1));
        let pairs: Vec<_> = (0..6).map(unranked).collect();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]);
    }

    #[test]
    fn memberships_stay_and_numbers_of_members_are_checked() {
        let x = Array2::from_shape_fn((30, 2), |(i, j)| (i / 10 * 5 + i * j % 4) as f64);
        let colours = Partition::from_fn(30, |i| Some((i % 2) as u64)).unwrap();
        let colours = Ensemble::new(vec![colours]).unwrap();
        let soft = |members| Generator::new(GaussianMixture::new()).members(members);
        let found = soft(6).fit_mixed(Some(x.view().into()), &colours, &()).unwrap().output;
        let memberships = (0..6).filter(|&u| found.soft(u).is_some()).count();
        assert_eq!((memberships, found.n_members()), (4, 6));
        for members in [0, 1_000_001] {
            for numbers in [None, Some(x.view().into())] {
                let refused = soft(members).fit_mixed(numbers, &colours, &()).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::InvalidParameter);
            }
        }
    }

    #[test]
    fn categories_alone_can_be_stopped() {
        let colours = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1]).unwrap()]).unwrap();
        let generator = Generator::new(GaussianMixture::new()).members(2);
        let error = generator.fit_mixed(None, &colours, &CancelFrom::new(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    }

    #[test]
    fn notes_count_the_members_that_they_are_about() {
        // Three different rows, of which eight clusters are wanted.
        let x = Array2::from_shape_fn((30, 1), |(i, _)| (i % 3) as f64);
        let colours = Partition::from_fn(30, |i| (i > 0).then_some((i % 2) as u64)).unwrap();
        let colours = Ensemble::new(vec![colours]).unwrap();
        let generator = Generator::new(crate::KMeans::new()).members(20).clusters(8..=8);
        let report = generator.fit_mixed(Some(x.view().into()), &colours, &()).unwrap().report;
        let told = &report.notes[0];
        assert!(told.starts_with("10 of 10 members of numbers have 5 clusters fewer"), "{told}");
        assert_eq!(report.clusters_missing, Some(5));
        // The first object has no colour, and nothing else is known.
        let report = generator.fit_mixed(None, &colours, &()).unwrap().report;
        let told = report.notes.iter().find(|n| n.contains("1 of 30 objects")).unwrap();
        assert!(told.contains("no category of theirs is known"), "{told}");
    }

    #[test]
    fn counts_stay_or_are_refused() {
        let colours = Ensemble::new(vec![Partition::from_labels(&[0, 0, 1]).unwrap()]).unwrap();
        let counted = colours.clone().with_counts(vec![10, 1, 1]).unwrap();
        let generator = Generator::new(GaussianMixture::new()).members(2);
        let found = generator.fit_mixed(None, &counted, &()).unwrap().output;
        assert_eq!(found.counts(), counted.counts());
        let x = Array2::from_shape_fn((3, 2), |(i, j)| (i * 2 + j) as f64);
        let refused = generator.fit_mixed(Some(x.view().into()), &counted, &()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidParameter);
        let weighted = Ensemble::new(vec![colours.members()[0].clone(); 2]).unwrap();
        let weighted = weighted.with_weights(vec![1.0, 0.5]).unwrap();
        assert!(generator.fit_mixed(None, &weighted, &()).is_err());
    }

    #[test]
    fn crosses_group_what_both_group() {
        let a = Partition::from_labels(&[0, 0, 1, 1, -1]).unwrap();
        let b = Partition::from_labels(&[0, 1, 1, 1, 0]).unwrap();
        assert_eq!(crossed(&a, &b).unwrap().to_signed(), [0, 1, 2, 2, -1]);
    }
}
