use consilience_core::{Dense, Features, Result, ensure};

/// What takes the place of sparse features.
pub(crate) const MAPPED: &str =
    "expected the rows that the map of `metric::TruncatedSvd` makes of them";

/// The features as a table. Sparse ones are refused, with what `who` takes in place of them.
pub(crate) fn of<'a>(features: Features<'a>, who: &str, instead: &str) -> Result<Dense<'a>> {
    let (n, d) = (features.n_objects(), features.n_features());
    ensure!(
        !features.is_sparse(),
        invalid("sparse features ({n} x {d}) for {who}, which needs a table; {instead}")
    );
    features.dense()
}
