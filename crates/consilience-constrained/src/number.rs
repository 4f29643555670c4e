//! How many clusters.

use consilience_core::{Clusters, Error, Features, Report, Result, SideInformation};

/// Why fewer clusters come out than were asked for.
pub(crate) const FEWER: &str = "no more objects are distinct, or free to move";

/// Says so where fewer clusters came out than were asked for: because it began with fewer, or
/// because the objective left some without an object, for which `why` is said.
pub(crate) fn expect_clusters(
    report: &mut Report,
    asked: usize,
    begun: usize,
    found: usize,
    why: &str,
) {
    match (begun < asked, found < begun) {
        (_, false) => report.expect_clusters(asked, found, FEWER),
        (false, true) => report.expect_clusters(asked, found, why),
        (true, true) => report.expect_clusters(asked, found, &format!("{FEWER}; {why}")),
    }
}

/// Checks features and side information, and says how many clusters are asked for:
/// `Clusters::Auto` asks for as many as the labels have classes.
pub(crate) fn checked_number(
    method: &str,
    clusters: Clusters,
    features: Features<'_>,
    side: &SideInformation,
) -> Result<usize> {
    features.check()?;
    let k = match clusters {
        Clusters::Fixed(k) => k,
        Clusters::Auto if side.are_classes() && !side.is_empty() => side.labelled_sets().len(),
        Clusters::Auto => {
            return Err(Error::invalid(format!(
                "{method} without labels does not know how many clusters there are; expected a \
                 number"
            )));
        }
        other => return Err(other.refuse(method, "a number, or the classes of the labels")),
    };
    features.check_clusters(k)?;
    side.check_features(features)?;
    Ok(k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Constraints, ErrorKind, Link};
    use ndarray::Array2;

    #[test]
    fn labels_say_how_many_and_pairs_do_not() {
        let x = Array2::<f64>::zeros((4, 1));
        let x = Features::from(x.view());
        let labels = SideInformation::from_labels(&[0, 1, 2, -1]).unwrap();
        assert_eq!(checked_number("nnc", Clusters::Auto, x, &labels).unwrap(), 3);
        assert_eq!(checked_number("nnc", 2.into(), x, &labels).unwrap(), 2);
        let mut pairs = Constraints::new(4).unwrap();
        pairs.add(0, 1, Link::Cannot).unwrap();
        pairs.add(2, 3, Link::Cannot).unwrap();
        let pairs = SideInformation::from_constraints(&pairs);
        for (clusters, side) in [
            (Clusters::Auto, &pairs),
            (Clusters::Auto, &SideInformation::none(4)),
            (Clusters::Lifetime, &labels),
            (Clusters::Fixed(5), &labels),
        ] {
            let error = checked_number("nnc", clusters, x, side).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
        }
    }
}
