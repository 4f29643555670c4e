//! `--param name=value`.

use std::str::FromStr;

use crate::failure::{Failure, Outcome};

/// The parameters of one call, all of them known to the method.
pub(crate) struct Params<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Params<'a> {
    /// Takes the pairs apart; `known` are the names that the method takes.
    pub(crate) fn parse(method: &str, known: &[&str], given: &'a [String]) -> Outcome<Self> {
        let takes = if known.is_empty() {
            format!("{method} takes no parameters")
        } else {
            format!("{method} takes {}", known.join(", "))
        };
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for param in given {
            let Some((name, value)) = param.split_once('=') else {
                return Err(Failure::Bad(format!("--param {param}: expected name=value; {takes}")));
            };
            if !known.contains(&name) {
                return Err(Failure::Bad(format!(
                    "--param {param}: unknown parameter {name:?}; {takes}"
                )));
            }
            if pairs.iter().any(|&(other, _)| other == name) {
                return Err(Failure::Bad(format!("--param {param}: {name} is given twice")));
            }
            pairs.push((name, value));
        }
        Ok(Params(pairs))
    }

    /// A whole number.
    pub(crate) fn count(&self, name: &str) -> Outcome<Option<usize>> {
        self.get(name, "a whole number")
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Outcome<Option<f64>> {
        self.get(name, "a number")
    }

    fn get<T: FromStr>(&self, name: &str, expected: &str) -> Outcome<Option<T>> {
        let Some(&(_, value)) = self.0.iter().find(|&&(other, _)| other == name) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(Failure::Bad(format!("--param {name}={value}: expected {expected}"))),
        }
    }
}
