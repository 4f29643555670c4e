//! Every consensus function by name, with its paper and its parameters.
//!
//! The names are those of the program. [`methods`] lists them, [`by_name`] finds one, and
//! [`Method::build`] makes it from [`Settings`]: the number of clusters, the seed, and parameters
//! as text.
//!
//! ```
//! use consilience::catalogue::{self, Settings};
//! use consilience::ndarray::array;
//! use consilience::{Ensemble, Seed};
//!
//! let ensemble =
//!     Ensemble::from_array(array![[0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 1, 0]].view())?;
//! let method = catalogue::by_name("lwgp")?;
//! assert!(method.parameters().iter().any(|p| p.name == "restarts"));
//! let settings = Settings::new(2).seed(Seed(1)).parameter("restarts", "5");
//! let found = method.build(&settings)?.fit(&ensemble, &())?.output;
//! assert_eq!(found.partition.n_clusters(), 2);
//!
//! // A name that does not exist is refused with those that do.
//! let error = catalogue::by_name("magic").unwrap_err();
//! assert!(error.message().contains("pta-al"));
//! # Ok::<(), consilience::Error>(())
//! ```

#[cfg(feature = "report")]
mod candidate;
mod method;
mod parameters;
mod recipes;
mod settings;
mod table;
#[cfg(test)]
mod tests;

pub use method::{AnyConsensus, Method, NamedResult};
pub use parameters::Parameter;
pub use settings::Settings;

use crate::{Error, Result};

/// Every method, in the order of the program's `--list`.
///
/// ```
/// use consilience::catalogue;
///
/// // The methods that find the number of clusters themselves.
/// let own = catalogue::methods().iter().filter(|m| m.chooses_clusters());
/// assert!(own.map(|m| m.name()).any(|name| name == "auto"));
/// ```
pub fn methods() -> &'static [Method] {
    table::METHODS
}

/// The method of that name.
///
/// ```
/// use consilience::catalogue;
///
/// let method = catalogue::by_name("pta-al")?;
/// assert!(method.has_tree() && method.paper().contains("2016"));
/// let unknown = catalogue::by_name("pta").unwrap_err();
/// assert!(unknown.message().contains("did you mean pta-al or pta-cl"));
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) with all names for one that
/// does not exist, those like it first.
#[doc(alias = "find")]
pub fn by_name(name: &str) -> Result<&'static Method> {
    methods().iter().find(|m| m.name() == name).ok_or_else(|| {
        let (like, others): (Vec<&str>, Vec<&str>) =
            methods().iter().map(Method::name).partition(|known| is_like(known, name));
        let hint = match like.as_slice() {
            [] => String::new(),
            like => format!("did you mean {}? ", like.join(" or ")),
        };
        let expected: Vec<&str> = like.into_iter().chain(others).collect();
        Error::invalid(format!(
            "consensus function {name:?}: unknown; {hint}expected one of {}",
            expected.join(", ")
        ))
    })
}

/// Whether somebody who wrote `asked` may have meant `known`: the name of a family without its
/// linkage, or at most two slips of the fingers in a name of at least four letters.
fn is_like(known: &str, asked: &str) -> bool {
    let asked = asked.trim().to_lowercase().replace(['_', ' '], "-");
    if asked.is_empty() {
        return false;
    }
    let family = known.split('-').next() == asked.split('-').next();
    family || (asked.len() >= 4 && slips(known.as_bytes(), asked.as_bytes()) <= 2)
}

/// Letters to insert, remove or replace between two names (Levenshtein's distance).
fn slips(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
