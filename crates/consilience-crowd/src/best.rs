//! The best of many fits, without the memory of the others.

use std::sync::{Mutex, PoisonError};

use consilience_core::Result;
use consilience_num::reduce::try_map_few;

/// The `most` fits of highest bound of so many starts, descending, of equals the first start:
/// whatever is ready when, and no others are kept; so many are on their way at the same time.
pub(crate) fn best_fits<T: Send>(
    starts: usize,
    (most, abreast): (usize, usize),
    bound: fn(&T) -> f64,
    fit: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let kept: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::new());
    try_map_few(starts, abreast, &|start| -> Result<()> {
        let new = fit(start)?;
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = |(other, fit): &(usize, T)| {
            bound(&new).total_cmp(&bound(fit)).then(other.cmp(&start)).is_lt()
        };
        let place = kept.partition_point(ahead);
        if place < most {
            kept.truncate(most - 1);
            kept.insert(place, (start, new));
        }
        Ok(())
    })?;
    let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(kept.into_iter().map(|(_, fit)| fit).collect())
}

/// What becomes of each, so many being on their way at the same time.
pub(crate) fn each_of<T: Send, U: Send>(
    values: Vec<T>,
    abreast: usize,
    f: impl Fn(T) -> Result<U> + Sync,
) -> Result<Vec<U>> {
    let values: Vec<_> = values.into_iter().map(|value| Mutex::new(Some(value))).collect();
    let found = try_map_few(values.len(), abreast, &|at| {
        let value = values[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        value.map(&f).transpose()
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// So many starts at the same time, as the threads can make use of and as fit; one at least.
pub(crate) fn abreast(most: usize, fits: impl Fn(&usize) -> bool) -> usize {
    (1..=most.min(rayon::current_num_threads())).rev().find(fits).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience_core::{Error, Seed};

    #[test]
    fn the_first_of_the_highest_are_kept_whatever_is_ready_when() {
        let mut stream = Seed(1).stream();
        for most in [1, 3, 40] {
            let mut fits: Vec<(f64, usize)> =
                (0..30).map(|at| ((stream.below(5) as f64).sqrt(), at)).collect();
            fits[7].0 = f64::NAN;
            let all = fits.clone();
            fits.sort_by(|a, b| b.0.total_cmp(&a.0));
            fits.truncate(most);
            let found =
                best_fits(30, (most, 3), |fit: &(f64, usize)| fit.0, |at| Ok(all[at])).unwrap();
            let numbers = |fits: &[(f64, usize)]| fits.iter().map(|f| f.1).collect::<Vec<_>>();
            assert_eq!(numbers(&found), numbers(&fits));
        }
        let failed = |at| if at == 5 { Err(Error::cancelled()) } else { Ok(1.0) };
        assert!(best_fits(9, (2, 3), |x: &f64| *x, failed).is_err());
    }
}
