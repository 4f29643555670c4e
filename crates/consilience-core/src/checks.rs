use crate::Result;

/// Returns an [`Error`](crate::Error), by the name of its constructor, unless a condition holds.
///
/// ```text
/// ensure!(k <= n, invalid("{k} clusters of {n} objects"));
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $kind:ident($($message:tt)+)) => {
        if !$condition {
            return Err($crate::Error::$kind(format!($($message)+)));
        }
    };
}

/// Refuses a count of 0, by the name of the setting.
///
/// ```
/// use consilience::core::at_least_one;
///
/// assert!(at_least_one("neighbours", 1).is_ok());
/// let error = at_least_one("neighbours", 0).unwrap_err();
/// assert_eq!(error.message(), "neighbours is 0; expected at least 1");
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter).
pub fn at_least_one(name: &str, value: usize) -> Result<()> {
    ensure!(value > 0, invalid("{name} is 0; expected at least 1"));
    Ok(())
}

/// Refuses an answer of code behind a trait, which may be anybody's, that is about another number
/// of things than was asked: `who` names the code, `things` what is counted.
///
/// # Errors
/// [`ErrorKind::ShapeMismatch`](crate::ErrorKind::ShapeMismatch).
#[doc(hidden)]
pub fn check_answer(who: &str, things: &str, found: usize, expected: usize) -> Result<()> {
    ensure!(found == expected, shape("{who} returned {found} {things}; expected {expected}"));
    Ok(())
}

/// Refuses evidence that is no amount, by what it is of.
pub(crate) fn evidence(evidence: &[f64], of: &str) -> Result<()> {
    for (i, &e) in evidence.iter().enumerate() {
        ensure!(
            (0.0..f64::INFINITY).contains(&e),
            invalid("evidence {e} of {of} {i}; expected a finite number >= 0")
        );
    }
    Ok(())
}

/// So many things, in words: the plural but for one.
#[doc(hidden)]
pub fn number_of(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// Refuses a number of clusters that so many objects cannot fall into, with both numbers.
pub(crate) fn clusters(clusters: usize, objects: u64) -> Result<()> {
    let clusters = clusters as u64;
    ensure!(
        (1..=objects).contains(&clusters),
        invalid(
            "{} of {}; expected 1..={objects}",
            number_of(clusters, "cluster"),
            number_of(objects, "object")
        )
    );
    Ok(())
}

/// Refuses more objects than 32 bits can number.
pub(crate) fn numbered(objects: usize) -> Result<()> {
    let most = u32::MAX - 1;
    ensure!(objects <= most as usize, too_large("{objects} objects; at most {most} are supported"));
    Ok(())
}

/// Refuses an object that is none of `n`.
pub(crate) fn exist(objects: &[usize], n: usize) -> Result<()> {
    for object in objects {
        ensure!(*object < n, out_of_range("object {object} of {n}"));
    }
    Ok(())
}

/// The most starts, runs or restarts of which a method keeps the best.
const MOST_RESTARTS: usize = 10_000;

/// Refuses a number of starts outside `1..=10000`: more would run for ever and find nothing better.
///
/// ```
/// use consilience::core::check_restarts;
///
/// assert!(check_restarts(10).is_ok() && check_restarts(0).is_err());
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter).
pub fn check_restarts(restarts: usize) -> Result<()> {
    ensure!(
        (1..=MOST_RESTARTS).contains(&restarts),
        invalid("{restarts} restarts; expected 1..={MOST_RESTARTS}")
    );
    Ok(())
}

/// Objects that all counts together may stand for: whole numbers up to here are exact in `f64`.
pub(crate) const MOST_OBJECTS: u64 = 1 << 53;

/// Refuses counts that are not one per object, a count of 0, and more than 2^53 objects in all.
pub(crate) fn counts(counts: &[u64], objects: usize) -> Result<()> {
    ensure!(counts.len() == objects, shape("{} counts for {objects} objects", counts.len()));
    let mut total = 0u64;
    for (i, &count) in counts.iter().enumerate() {
        ensure!(count > 0, out_of_range("the count of object {i} is 0; expected at least 1"));
        total = total.saturating_add(count);
        ensure!(
            total <= MOST_OBJECTS,
            out_of_range("counts up to object {i} stand for more than 2^53 objects")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let words = [0, 1, 2].map(|count| number_of(count, "object"));
        assert_eq!(words, ["0 objects", "1 object", "2 objects"]);
    }

    #[test]
    fn answers_of_another_length_are_refused_with_name_and_numbers() {
        assert!(check_answer("own", "labels", 3, 3).is_ok());
        for found in [2, 4] {
            let error = check_answer("own", "labels", found, 3).unwrap_err();
            assert_eq!(error.message(), format!("own returned {found} labels; expected 3"));
        }
        assert!(evidence(&[0.0, 2.5], "node").is_ok());
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            let error = evidence(&[1.0, bad], "node").unwrap_err();
            assert!(error.message().starts_with(&format!("evidence {bad} of node 1")), "{error}");
        }
    }

    #[test]
    fn restarts_have_a_range() {
        for (restarts, good) in [(0, false), (1, true), (MOST_RESTARTS, true), (10_001, false)] {
            assert_eq!(check_restarts(restarts).is_ok(), good, "{restarts}");
        }
    }
}
