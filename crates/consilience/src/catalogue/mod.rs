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

use crate::core::expected_one_of;
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
        let expected = expected_one_of(name, methods().iter().map(Method::name));
        Error::invalid(format!("consensus function {name:?}: unknown; {expected}"))
    })
}
