//! Values that are chosen by name, in the program, the catalogue and files of settings.

use crate::{Error, Result};

/// A type whose values have names; [`names!`](macro@crate::names) writes it.
#[doc(hidden)]
pub trait Named: Copy + 'static {
    /// The names, in the order of the program's help.
    const NAMES: &'static [(&'static str, Self)];
}

/// Writes `FromStr` for an enum from the names of its values; with `name`, that method and
/// `Display` too, which takes a name for every value.
///
/// ```text
/// names! { name "linkage" Linkage: "single" => Single, "average" => Average }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    (name $what:literal $type:ident:
        $($(#[$attribute:meta])* $name:literal => $value:ident),+ $(,)?) => {
        impl $type {
            /// The name that the program takes, which `FromStr` reads.
            pub fn name(self) -> &'static str {
                match self { $($(#[$attribute])* $type::$value => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        $crate::names! { $what $type: $($(#[$attribute])* $name => $value),+ }
    };
    ($what:literal $type:ident:
        $($(#[$attribute:meta])* $name:literal => $value:ident),+ $(,)?) => {
        impl $crate::Named for $type {
            const NAMES: &'static [(&'static str, Self)] =
                &[$($(#[$attribute])* ($name, $type::$value)),+];
        }

        /// The names are those of the program; the error lists them, and suggests what is like.
        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<Self> {
                $crate::named($what, name, <Self as $crate::Named>::NAMES)
            }
        }
    };
}

/// The value of that name, or an error that says what there is.
///
/// # Errors
/// [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter).
#[doc(hidden)]
pub fn named<T: Copy>(what: &str, asked: &str, names: &[(&str, T)]) -> Result<T> {
    let found = names.iter().find(|(name, _)| *name == asked).map(|&(_, value)| value);
    found.ok_or_else(|| {
        let expected = expected_one_of(asked, names.iter().map(|&(name, _)| name));
        Error::invalid(format!("{what} {asked:?}; {expected}"))
    })
}

/// `did you mean b? expected one of b, a, c` for what is like b.
#[doc(hidden)]
pub fn expected_one_of<'k>(asked: &str, known: impl Iterator<Item = &'k str>) -> String {
    let (like, others): (Vec<&str>, Vec<&str>) = known.partition(|known| is_like(known, asked));
    let hint = match like.as_slice() {
        [] => String::new(),
        like => format!("did you mean {}? ", like.join(" or ")),
    };
    let expected: Vec<&str> = like.into_iter().chain(others).collect();
    format!("{hint}expected one of {}", expected.join(", "))
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

#[cfg(test)]
mod tests {
    use crate::scores::Normalizer;
    use crate::{Clusters, ErrorKind, Linkage, Named};

    #[test]
    fn every_name_is_read_back() {
        for &(name, linkage) in Linkage::NAMES {
            assert_eq!((linkage.name(), name.parse()), (name, Ok(linkage)));
            assert_eq!(linkage.to_string(), name);
        }
        assert_eq!("arithmetic".parse(), Ok(Normalizer::Arithmetic));
    }

    #[test]
    fn an_unknown_name_is_told_what_there_is() {
        let error = "Wards".parse::<Linkage>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        let expected = "linkage \"Wards\"; did you mean ward? expected one of ward, single, \
                        average, complete, centroid, median";
        assert_eq!(error.message(), expected);
        let error = "".parse::<Linkage>().unwrap_err();
        assert!(error.message().starts_with("linkage \"\"; expected one of single,"), "{error}");
    }

    #[test]
    fn numbers_of_clusters_are_read() {
        for (text, clusters) in [
            ("7", Clusters::Fixed(7)),
            ("auto", Clusters::Auto),
            ("lifetime", Clusters::Lifetime),
            ("height=0.25", Clusters::Height(0.25)),
            ("eigengap", Clusters::Eigengap),
            ("survival", Clusters::Survival),
        ] {
            assert_eq!(text.parse(), Ok(clusters));
        }
        for bad in ["-1", "", "height=nan", "height", "2.5"] {
            assert!(bad.parse::<Clusters>().unwrap_err().message().contains("a whole number"));
        }
        let error = "lifetme".parse::<Clusters>().unwrap_err();
        assert!(error.message().contains("did you mean lifetime?"), "{error}");
    }
}
