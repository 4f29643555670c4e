//! Methods chosen by name, and their parameters: `--param name=value`.

use std::str::FromStr;

use consilience::core::{Named, expected_one_of};

use crate::failure::{Failure, Outcome};
use crate::terminal::Terminal;

/// One of the values that an option names: what it is called and what it is, the parameters that
/// it takes, and how it is made. `A` is what else the user asks, for instance the number of
/// clusters.
pub(crate) struct Choice<T, A = ()> {
    /// What the option takes.
    pub(crate) name: &'static str,
    /// What it is, in one line, and where it was published.
    pub(crate) source: [&'static str; 2],
    /// What `--param` takes.
    pub(crate) params: &'static [Param],
    /// Makes the value.
    pub(crate) make: fn(&A, &Params<'_>) -> Outcome<T>,
}

/// What a parameter is, in one line; what it is where nothing is said, in words where there is a
/// blank in it; which values it takes.
pub(crate) type Meaning = [&'static str; 3];

/// A parameter of a choice.
#[derive(Clone, Copy)]
pub(crate) struct Param {
    /// Its name, then its aliases.
    pub(crate) names: &'static [&'static str],
    /// What `--list` tells about it.
    pub(crate) meaning: Meaning,
}

/// The choice of that name.
pub(crate) fn find<'t, T, A>(
    option: &str,
    name: &str,
    table: &'t [Choice<T, A>],
) -> Outcome<&'t Choice<T, A>> {
    let known = || table.iter().map(|choice| choice.name);
    table.iter().find(|choice| choice.name == name).ok_or_else(|| unknown(option, name, known()))
}

/// What an option names, where it has neither parameters nor anything to make.
pub(crate) fn one_of<T: Copy>(option: &str, name: &str, values: &[(&str, T)]) -> Outcome<T> {
    let found = values.iter().find(|(value, _)| *value == name).map(|&(_, value)| value);
    found.ok_or_else(|| unknown(option, name, values.iter().map(|&(value, _)| value)))
}

/// The error of a name that an option does not know.
pub(crate) fn unknown<'k>(
    option: &str,
    name: &str,
    known: impl Iterator<Item = &'k str>,
) -> Failure {
    Failure::Bad(format!("{option} {name}: unknown; {}", expected_one_of(name, known)))
}

impl<T, A> Choice<T, A> {
    /// The value, with the parameters that were given.
    pub(crate) fn build(&self, ask: &A, given: &[String]) -> Outcome<T> {
        (self.make)(ask, &Params::parse(self.name, self.params, given)?)
    }

    /// Whether it takes a parameter of that name.
    pub(crate) fn has(&self, param: &str) -> bool {
        named(self.params, param).is_some()
    }

    /// The parameters that it takes, as a sentence.
    pub(crate) fn takes(&self) -> String {
        takes(self.name, &first_names(self.params))
    }
}

/// A row of a table of choices: what it is and where it was published, how the value starts, and
/// each parameter with its aliases, its setter and its meaning.
macro_rules! choice {
    (
        $name:literal, $source:expr, $wrap:expr, $start:expr
        $(, $param:ident $(| $alias:ident)*: $kind:expr => $setter:expr; $meaning:expr)* $(,)?
    ) => {
        $crate::choices::Choice {
            name: $name,
            source: $source,
            params: &[$($crate::choices::Param {
                names: &[stringify!($param) $(, stringify!($alias))*],
                meaning: $meaning,
            }),*],
            make: |ask, params| {
                let _ = params;
                let value = ($start)(ask);
                $(
                    let value = match $kind(params, stringify!($param))? {
                        Some(given) => ($setter)(value, given),
                        None => value,
                    };
                )*
                Ok(($wrap)(value))
            },
        }
    };
}
pub(crate) use choice;

/// Says `wrong` things of parameters as they were given where that is behind a prefix, as
/// `generator.NAME`, and which of their names are parameters of the method `of` itself.
pub(crate) fn behind<T, U, A>(
    prefix: &str,
    given: &[String],
    of: &Choice<U, A>,
    wrong: Outcome<T>,
) -> Outcome<T> {
    wrong.map_err(|failure| {
        let Failure::Bad(said) = failure else { return failure };
        for param in given.iter().filter_map(|param| param.strip_prefix(prefix)) {
            let Some(why) = said.strip_prefix(&format!("--param {param}: ")) else { continue };
            let own = why.starts_with(UNKNOWN) && of.has(param.split('=').next().unwrap_or(param));
            let hint = match own {
                true => format!("; {} takes --param {param}", of.name),
                false => String::new(),
            };
            return Failure::Bad(format!("--param {prefix}{param}: {why}{hint}"));
        }
        Failure::Bad(said)
    })
}

/// How messages about unknown parameters begin, those of the library as well.
const UNKNOWN: &str = "unknown parameter";

/// The parameters of one call, all of them known to the method: the name, the name or alias that
/// was given, and the value.
pub(crate) struct Params<'a>(Vec<(&'static str, &'a str, &'a str)>);

impl<'a> Params<'a> {
    /// Takes the pairs apart; `known` are the parameters that the method takes.
    pub(crate) fn parse(method: &str, known: &[Param], given: &'a [String]) -> Outcome<Self> {
        let takes = takes(method, &first_names(known));
        let mut all: Vec<(&'static str, &str, &str)> = Vec::new();
        for param in given {
            let (said, value) = param.split_once('=').ok_or_else(|| {
                Failure::Bad(format!("--param {param}: expected name=value; {takes}"))
            })?;
            let name = named(known, said).ok_or_else(|| {
                Failure::Bad(format!("--param {param}: {UNKNOWN} {said:?}; {takes}"))
            })?;
            let again = all.iter().any(|&(other, ..)| other == name);
            ensure!(!again, "--param {param}: {name} is given twice");
            all.push((name, said, value));
        }
        Ok(Params(all))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|&&(other, ..)| other == name).map(|&(.., value)| value)
    }

    /// That a value is not what it should be, by the name that was given.
    fn refuse(&self, name: &str, value: &str, expected: &str) -> Failure {
        self.wrong(name, value, &format!("expected {expected}"))
    }

    fn wrong(&self, name: &str, value: &str, why: &str) -> Failure {
        let said = self.0.iter().find(|&&(other, ..)| other == name).map_or(name, |&(_, s, _)| s);
        Failure::Bad(format!("--param {said}={value}: {why}"))
    }

    fn get<T: FromStr>(&self, name: &str, expected: &str) -> Outcome<Option<T>> {
        let Some(value) = self.text(name) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| self.refuse(name, value, expected))
    }

    /// One of some names.
    pub(crate) fn one_of<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Outcome<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match values.iter().find(|(value, _)| *value == text) {
            Some(&(_, value)) => Ok(Some(value)),
            None => {
                let expected = expected_one_of(text, values.iter().map(|&(value, _)| value));
                Err(self.wrong(name, text, &expected))
            }
        }
    }
}

/// The parameters that a method takes, as a sentence.
pub(crate) fn takes(method: &str, params: &[&str]) -> String {
    match params {
        [] => format!("{method} takes no parameters"),
        names => format!("{method} takes {}", names.join(", ")),
    }
}

/// Adds `standardize=false` to the parameters of what standardizes features that a truncated SVD
/// has reduced, unless they say otherwise. These have one unit, and most hold little but noise:
/// standardized it would count as much as the rest.
pub(crate) fn of_reduced<T, A>(
    choice: &Choice<T, A>,
    params: &mut Vec<String>,
    terminal: &Terminal,
) {
    if choice.has(STANDARDIZE) && !names(params, STANDARDIZE) {
        params.push(format!("{STANDARDIZE}=false"));
        terminal.note(format!(
            "{}: {STANDARDIZE}=false, since the features are those of a truncated SVD; \
             --param {STANDARDIZE}=true gives each of its dimensions the same weight",
            choice.name
        ));
    }
}

pub(crate) const STANDARDIZE: &str = "standardize";

/// Whether some `NAME=VALUE` gives that parameter.
pub(crate) fn names(params: &[String], name: &str) -> bool {
    params.iter().any(|param| param.split('=').next() == Some(name))
}

/// The name of the parameter that is called by that name or alias.
fn named(params: &[Param], said: &str) -> Option<&'static str> {
    params.iter().find(|p| p.names.contains(&said)).and_then(|p| p.names.first().copied())
}

/// The names without their aliases.
fn first_names(params: &[Param]) -> Vec<&'static str> {
    params.iter().filter_map(|p| p.names.first().copied()).collect()
}

/// A whole number.
pub(crate) fn count(params: &Params<'_>, name: &str) -> Outcome<Option<usize>> {
    params.get(name, "a whole number")
}

/// A number.
pub(crate) fn number(params: &Params<'_>, name: &str) -> Outcome<Option<f64>> {
    params.get(name, "a number")
}

/// Any text.
pub(crate) fn text(params: &Params<'_>, name: &str) -> Outcome<Option<String>> {
    Ok(params.text(name).map(str::to_owned))
}

/// Two numbers, `LOW..HIGH`.
pub(crate) fn span(params: &Params<'_>, name: &str) -> Outcome<Option<(f64, f64)>> {
    let Some(text) = params.text(name) else { return Ok(None) };
    let ends = text
        .split_once("..")
        .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    let expected = "two numbers, for instance 0.05..0.95";
    ends.map(Some).ok_or_else(|| params.refuse(name, text, expected))
}

/// One of some names.
pub(crate) fn among<T: Copy>(
    values: &'static [(&'static str, T)],
) -> impl Fn(&Params<'_>, &str) -> Outcome<Option<T>> {
    move |params, name| params.one_of(name, values)
}

/// A value of a type whose values have names.
pub(crate) fn by_name<T: Named>(params: &Params<'_>, name: &str) -> Outcome<Option<T>> {
    params.one_of(name, T::NAMES)
}

/// `true` or `false`.
pub(crate) fn flag(params: &Params<'_>, name: &str) -> Outcome<Option<bool>> {
    params.get(name, "true or false")
}

#[cfg(test)]
mod tests {
    use super::*;
    use consilience::generate::Scale;

    #[test]
    fn a_name_that_is_like_another_is_suggested() {
        let Err(Failure::Bad(said)) = one_of("--scale", "zscores", Scale::NAMES) else {
            panic!("taken");
        };
        let expected = "did you mean zscore? expected one of zscore, none, minmax";
        assert_eq!(said, format!("--scale zscores: unknown; {expected}"));
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Loop {
        rounds: usize,
        exact: bool,
    }

    impl Loop {
        fn rounds(mut self, rounds: usize) -> Self {
            self.rounds = rounds;
            self
        }

        fn exact(mut self, exact: bool) -> Self {
            self.exact = exact;
            self
        }
    }

    const TABLE: [Choice<Loop, usize>; 1] = [choice!(
        "loop",
        ["goes round", "no paper"],
        |value| value,
        |&start| Loop { rounds: start, exact: false },
        rounds | turns: count => Loop::rounds; ["rounds at most", "7", "at least 1"],
        exact: flag => Loop::exact; ["no rounding", "false", "true, false"],
    )];

    fn build(given: &[&str]) -> Outcome<Loop> {
        let given: Vec<String> = given.iter().map(|&text| text.to_owned()).collect();
        find("--method", "loop", &TABLE)?.build(&7, &given)
    }

    #[test]
    fn what_is_given_is_set_and_the_rest_stays() {
        assert_eq!(build(&[]).unwrap(), Loop { rounds: 7, exact: false });
        assert_eq!(build(&["exact=true"]).unwrap(), Loop { rounds: 7, exact: true });
        assert_eq!(build(&["rounds=3", "exact=true"]).unwrap(), Loop { rounds: 3, exact: true });
        assert_eq!(build(&["turns=3"]).unwrap(), Loop { rounds: 3, exact: false });
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_is_taken() {
        let message = |given: &[&str]| match build(given) {
            Err(Failure::Bad(message)) => message,
            other => panic!("{other:?}"),
        };
        assert!(message(&["depth=1"]).contains("loop takes rounds, exact"));
        assert!(message(&["rounds=few"]).contains("rounds=few: expected a whole number"));
        // By the name that was given.
        assert!(message(&["turns=few"]).contains("turns=few: expected a whole number"));
        assert!(message(&["exact=1"]).contains("expected true or false"));
        assert!(message(&["rounds=1", "rounds=2"]).contains("given twice"));
        assert!(message(&["rounds=1", "turns=2"]).contains("given twice"));
        assert!(message(&["rounds"]).contains("name=value"));
    }
}
