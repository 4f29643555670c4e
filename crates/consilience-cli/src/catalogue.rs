//! Consensus functions as the command line names them: those of the library's catalogue.

use consilience::catalogue::{self, Method, NamedResult, Settings};
use consilience::trust::ClusterNumber;
use consilience::{
    Clusters, ConsensusFunction, Ensemble, ErrorKind, Fit, Observer, Partition, Seed,
};

use crate::args::Count;
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
    let mut wrong = Vec::new();
    for param in params {
        let Some((name, value)) = param.split_once('=') else {
            return Err(Failure::Bad(format!(
                "--param {param}: expected name=value; {}",
                choices::takes(method.name(), &names(method))
            )));
        };
        settings = settings.parameter(name, value);
        // One after the other, so that a message names the parameter that it is about; what is
        // wrong without those that follow may be right with them.
        wrong.extend(method.build(&settings).err().map(|error| (param, error)));
    }
    let Err(error) = method.build(&settings) else { return Ok(settings) };
    match wrong.iter().find(|(_, first)| first.message() == error.message()) {
        Some((param, _)) => Err(Failure::from(error).within(format!("--param {param}"))),
        None => Err(error.into()),
    }
}

/// The names of a method's parameters.
fn names(method: &Method) -> Vec<&'static str> {
    method.parameters().iter().map(|parameter| parameter.name).collect()
}

/// A consensus function by name, and into how many clusters it is to combine.
#[derive(Clone)]
pub(crate) struct Request {
    method: &'static Method,
    clusters: Number,
    params: Vec<String>,
    seed: Seed,
}

/// How many clusters are to come out.
#[derive(Clone, Copy)]
enum Number {
    Fixed(usize),
    /// As many as the method itself finds.
    Own,
    /// As many as `ClusterNumber` recommends.
    Agreed,
}

impl Request {
    /// Refuses at once what can be.
    pub(crate) fn parse(
        method: &str,
        clusters: Option<Count>,
        params: &[String],
        seed: u64,
    ) -> Outcome<Self> {
        let method = find(method)?;
        let clusters = match clusters {
            Some(Count::Fixed(k)) => Number::Fixed(k),
            None if method.chooses_clusters() => Number::Own,
            Some(Count::Auto) | None => Number::Agreed,
        };
        let any = match clusters {
            Number::Fixed(k) => Clusters::Fixed(k),
            Number::Own | Number::Agreed => Clusters::Auto,
        };
        let seed = Seed(seed);
        method.build(&settings(method, any, params, seed)?)?;
        Ok(Request { method, clusters, params: params.to_vec(), seed })
    }

    /// The same by another method with its defaults.
    pub(crate) fn by(&self, method: &str) -> Option<Self> {
        Some(Request { method: find(method).ok()?, params: Vec::new(), ..self.clone() })
    }

    /// The same by another method, where the number of clusters is given.
    pub(crate) fn replaced_by(&self, method: &str) -> Option<Self> {
        if matches!(self.clusters, Number::Fixed(_)) { self.by(method) } else { None }
    }

    /// The same into so many clusters.
    pub(crate) fn of_clusters(&self, clusters: usize) -> Self {
        Request { clusters: Number::Fixed(clusters), ..self.clone() }
    }

    /// Whether a parameter is given.
    pub(crate) fn has(&self, name: &str) -> bool {
        let parameter = self.method.parameters().iter().find(|p| p.is_called(name));
        let given = self.params.iter().filter_map(|param| Some(param.split_once('=')?.0));
        parameter.is_some_and(|p| given.into_iter().any(|given| p.is_called(given)))
    }

    /// The same with one more parameter.
    pub(crate) fn with(&self, param: &str) -> Self {
        let mut request = self.clone();
        request.params.push(param.to_owned());
        request
    }

    /// The result, with soft memberships where the method gives them.
    pub(crate) fn run(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> consilience::Result<Fit<NamedResult>> {
        let mut notes = Vec::new();
        let clusters = match self.clusters {
            Number::Fixed(k) => Clusters::Fixed(k),
            Number::Own => Clusters::Auto,
            Number::Agreed => {
                let number = ClusterNumber::new().seed(self.seed).memory_budget(memory::budget());
                match number.fit(ensemble, observer) {
                    // As where a number is given: labels of nobody are no error.
                    Err(error) if error.kind() == ErrorKind::Empty => {
                        notes.push(format!("1 cluster: {}", error.message()));
                        Clusters::Fixed(1)
                    }
                    found => {
                        let found = found?;
                        notes = found.report.notes;
                        Clusters::Fixed(found.output.recommended)
                    }
                }
            }
        };
        let settings = self.params.iter().filter_map(|param| param.split_once('=')).fold(
            Settings::new(clusters).seed(self.seed).memory_budget(memory::budget()),
            |settings, (name, value)| settings.parameter(name, value),
        );
        let mut fit = self.method.build(&settings)?.fit(ensemble, observer)?;
        fit.report.notes.splice(0..0, notes);
        Ok(fit)
    }
}

impl ConsensusFunction for Request {
    type Output = Partition;

    fn name(&self) -> &str {
        self.method.name()
    }

    fn fit(
        &self,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> consilience::Result<Fit<Partition>> {
        let found = self.run(ensemble, observer)?;
        Ok(Fit::new(found.output.partition, found.report))
    }
}
