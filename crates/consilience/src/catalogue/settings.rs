use std::str::FromStr;

use super::Parameter;
use crate::core::{Named, named};
use crate::{Clusters, Error, MemoryBudget, Result, Seed};

/// What a [`Method`](super::Method) is built with.
///
/// Parameters are given as text, as they come from a command line or a file; a name that the method
/// does not have, or a value that is no number, is refused when the method is built.
///
/// ```
/// use consilience::catalogue::{self, Settings};
/// use consilience::{Clusters, Seed};
///
/// let settings = Settings::new(Clusters::Auto).seed(Seed(7)).parameter("walk_length", 5);
/// assert!(catalogue::by_name("pta-al")?.build(&settings).is_ok());
/// // Another method has no such parameter.
/// let error = catalogue::by_name("lwea")?.build(&settings).map(|_| ()).unwrap_err();
/// assert!(error.message().contains("walk_length"));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) clusters: Clusters,
    pub(super) seed: Seed,
    pub(super) budget: MemoryBudget,
    values: Vec<Value>,
}

/// The value of a parameter.
#[derive(Clone, Debug)]
struct Value {
    /// The name of the parameter, once it is resolved.
    name: String,
    /// The name or alias that was given.
    said: String,
    text: String,
}

impl Settings {
    /// Settings with the number of clusters, or the criterion that chooses it.
    pub fn new(clusters: impl Into<Clusters>) -> Self {
        Settings {
            clusters: clusters.into(),
            seed: Seed(0),
            budget: MemoryBudget::default(),
            values: Vec::new(),
        }
    }

    consilience_core::setters! {
        /// Seed of methods that draw. Default 0.
        pub fn seed(mut self, seed: Seed) { self.seed = seed }

        /// How much memory tables may take that grow with the square of the microclusters. Default
        /// 8 GiB.
        pub fn memory_budget(mut self, budget: MemoryBudget) { self.budget = budget }

        /// A parameter of the method, by its name in
        /// [`Method::parameters`](super::Method::parameters). Default: what stands there.
        pub fn parameter(mut self, name: impl Into<String>, value: impl ToString) {
            let said: String = name.into();
            self.values.push(Value { name: said.clone(), said, text: value.to_string() })
        }
    }

    /// The same with another number of clusters.
    #[cfg(feature = "report")]
    pub(super) fn clusters(self, clusters: Clusters) -> Self {
        Settings { clusters, ..self }
    }

    /// The same under the names that a method's parameters have, not their aliases; `takes` says
    /// which there are. Whoever writes a name in other letters hears which may be meant.
    pub(super) fn resolved(
        &self,
        parameters: &[Parameter],
        takes: impl Fn() -> String,
    ) -> Result<Settings> {
        let mut values: Vec<Value> = Vec::with_capacity(self.values.len());
        for value in &self.values {
            let found = parameters.iter().find(|p| p.is_called(&value.said));
            let Some(&Parameter { name, .. }) = found else {
                let (said, plain) =
                    (&value.said, |name: &str| name.to_lowercase().replace('-', "_"));
                let names = parameters.iter().flat_map(|p| p.aliases.iter().chain([&p.name]));
                let like = names.copied().find(|name| plain(name) == plain(said));
                let hint = like.map_or(String::new(), |like| format!("did you mean {like}? "));
                let takes = takes();
                return Err(Error::invalid(format!("unknown parameter {said:?}; {hint}{takes}")));
            };
            if values.iter().any(|other| other.name == name) {
                return Err(Error::invalid(format!("parameter {name} is given twice")));
            }
            values.push(Value { name: name.to_owned(), ..value.clone() });
        }
        Ok(Settings { values, ..self.clone() })
    }

    /// A whole number.
    pub(super) fn count(&self, name: &str) -> Result<Option<usize>> {
        self.get(name, "a whole number")
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        self.get(name, "a number")
    }

    /// A value by its name.
    pub(super) fn word<T: Named>(&self, name: &str) -> Result<Option<T>> {
        self.among(name, T::NAMES)
    }

    /// Yes or no.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>> {
        self.among(name, &[("true", true), ("false", false)])
    }

    /// One of some words.
    pub(super) fn among<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(Value { said, text, .. }) = self.value(name) else { return Ok(None) };
        named(said, text, words).map(Some)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.name == name)
    }

    fn get<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>> {
        let Some(Value { said, text, .. }) = self.value(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|_| Error::invalid(format!("{said} {text:?}; expected {expected}")))
    }
}
