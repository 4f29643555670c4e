//! The names of the consensus functions, and how the library's values are made from them.

use std::str::FromStr;

use consilience::{ConsensusFunction, EvidenceAccumulation, Linkage, Partition, Pta, Ptgp, Seed};

use crate::failure::{Failure, Outcome};

/// A consensus function as the user chooses it.
pub(crate) struct Method {
    /// What `--method` takes.
    pub(crate) name: &'static str,
    /// One line about it.
    pub(crate) about: &'static str,
    /// Where it was published.
    pub(crate) paper: &'static str,
    /// What `--param` takes.
    pub(crate) params: &'static [&'static str],
    recipe: Recipe,
}

/// Which value of the library it is.
#[derive(Clone, Copy)]
enum Recipe {
    Pta(Linkage),
    Ptgp,
    Eac(Linkage),
}

const HUANG_2016: &str = "Huang, Lai & Wang, IEEE TKDE 28(5), 2016";
const FRED_2005: &str = "Fred & Jain, IEEE TPAMI 27(6), 2005";

const fn method(
    name: &'static str,
    about: &'static str,
    paper: &'static str,
    params: &'static [&'static str],
    recipe: Recipe,
) -> Method {
    Method { name, about, paper, params, recipe }
}

const WALK: &[&str] = &["elite_neighbours", "walk_length"];
const WALK_AND_STARTS: &[&str] = &["elite_neighbours", "walk_length", "restarts"];

/// Every method, in the order of `--list`.
pub(crate) static METHODS: &[Method] = &[
    method(
        "pta-al",
        "probability trajectories, average link",
        HUANG_2016,
        WALK,
        Recipe::Pta(Linkage::Average),
    ),
    method(
        "pta-cl",
        "probability trajectories, complete link",
        HUANG_2016,
        WALK,
        Recipe::Pta(Linkage::Complete),
    ),
    method("pta-sl", "probability trajectories, single link", HUANG_2016, WALK, Recipe::Pta(Linkage::Single)),
    method("ptgp", "probability trajectories, graph partitioning", HUANG_2016, WALK_AND_STARTS, Recipe::Ptgp),
    method("eac-al", "evidence accumulation, average link", FRED_2005, &[], Recipe::Eac(Linkage::Average)),
    method("eac-cl", "evidence accumulation, complete link", FRED_2005, &[], Recipe::Eac(Linkage::Complete)),
    method("eac-sl", "evidence accumulation, single link", FRED_2005, &[], Recipe::Eac(Linkage::Single)),
    method("eac-ward", "evidence accumulation, Ward's link", FRED_2005, &[], Recipe::Eac(Linkage::Ward)),
];

/// The names as a sentence holds them.
pub(crate) fn known() -> String {
    METHODS.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")
}

/// The method of that name.
pub(crate) fn find(name: &str) -> Outcome<&'static Method> {
    METHODS
        .iter()
        .find(|m| m.name == name)
        .ok_or_else(|| Failure::Bad(format!("--method {name}: unknown; expected one of {}", known())))
}

impl Method {
    /// The library's value; without a number of clusters it chooses one itself.
    pub(crate) fn build(
        &self,
        clusters: Option<usize>,
        params: &[String],
        seed: Seed,
    ) -> Outcome<Box<dyn ConsensusFunction<Output = Partition>>> {
        let params = Params::parse(self, params)?;
        Ok(match self.recipe {
            Recipe::Pta(linkage) => {
                let mut pta = clusters.map_or_else(Pta::by_lifetime, Pta::new).linkage(linkage);
                if let Some(neighbours) = params.get("elite_neighbours")? {
                    pta = pta.elite_neighbours(neighbours);
                }
                if let Some(length) = params.get("walk_length")? {
                    pta = pta.walk_length(length);
                }
                Box::new(pta)
            }
            Recipe::Ptgp => {
                let mut ptgp = clusters.map_or_else(Ptgp::by_eigengap, Ptgp::new).seed(seed);
                if let Some(neighbours) = params.get("elite_neighbours")? {
                    ptgp = ptgp.elite_neighbours(neighbours);
                }
                if let Some(length) = params.get("walk_length")? {
                    ptgp = ptgp.walk_length(length);
                }
                if let Some(restarts) = params.get("restarts")? {
                    ptgp = ptgp.restarts(restarts);
                }
                Box::new(ptgp)
            }
            Recipe::Eac(linkage) => Box::new(
                clusters
                    .map_or_else(EvidenceAccumulation::by_lifetime, EvidenceAccumulation::new)
                    .linkage(linkage),
            ),
        })
    }
}

/// The `--param name=value` of one call, all of them known to the method.
struct Params<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Params<'a> {
    fn parse(method: &Method, given: &'a [String]) -> Outcome<Self> {
        let takes = if method.params.is_empty() {
            format!("{} takes no parameters", method.name)
        } else {
            format!("{} takes {}", method.name, method.params.join(", "))
        };
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for param in given {
            let Some((name, value)) = param.split_once('=') else {
                return Err(Failure::Bad(format!("--param {param}: expected name=value; {takes}")));
            };
            if !method.params.contains(&name) {
                return Err(Failure::Bad(format!("--param {param}: unknown parameter {name:?}; {takes}")));
            }
            if pairs.iter().any(|&(other, _)| other == name) {
                return Err(Failure::Bad(format!("--param {param}: {name} is given twice")));
            }
            pairs.push((name, value));
        }
        Ok(Params(pairs))
    }

    fn get<T: FromStr>(&self, name: &str) -> Outcome<Option<T>> {
        let Some(&(_, value)) = self.0.iter().find(|&&(other, _)| other == name) else { return Ok(None) };
        match value.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(Failure::Bad(format!("--param {name}={value}: expected a whole number"))),
        }
    }
}
