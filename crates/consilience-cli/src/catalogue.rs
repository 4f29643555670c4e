//! Consensus functions as the command line names them: those of the library's catalogue.

use consilience::catalogue::{self, Method, Settings};
use consilience::{Clusters, Seed};

use crate::choices;
use crate::failure::{Failure, Outcome};
use crate::memory;

/// The consensus function of that name.
pub(crate) fn find(name: &str) -> Outcome<&'static Method> {
    catalogue::by_name(name)
        .map_err(|error| Failure::from(error).within(format!("--method {name}")))
}

/// Settings with what `--param` gives; what the method does not take is refused with its name.
pub(crate) fn settings(
    method: &Method,
    clusters: Clusters,
    params: &[String],
    seed: Seed,
) -> Outcome<Settings> {
    let mut settings = Settings::new(clusters).seed(seed).memory_budget(memory::budget());
    for param in params {
        let Some((name, value)) = param.split_once('=') else {
            return Err(Failure::Bad(format!(
                "--param {param}: expected name=value; {}",
                choices::takes(method.name(), &names(method))
            )));
        };
        settings = settings.parameter(name, value);
        // One after the other, so that a message names the parameter that it is about.
        method
            .build(&settings)
            .map_err(|error| Failure::from(error).within(format!("--param {param}")))?;
    }
    Ok(settings)
}

/// The names of a method's parameters.
pub(crate) fn names(method: &Method) -> Vec<&'static str> {
    method.parameters().iter().map(|parameter| parameter.name).collect()
}
