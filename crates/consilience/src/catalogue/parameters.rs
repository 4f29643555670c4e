/// A parameter of a [`Method`](super::Method).
///
/// ```
/// use consilience::catalogue;
///
/// let walk = catalogue::by_name("pta-al")?.parameters().iter().find(|p| p.name == "walk_length");
/// for parameter in walk {
///     println!("{}: {}; default {}", parameter.name, parameter.about, parameter.default);
/// }
/// assert!(walk.is_some_and(|p| p.is_called("T")));
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// What [`Settings::parameter`](super::Settings::parameter) takes.
    pub name: &'static str,
    /// Other names for the same: the letter in the paper.
    pub aliases: &'static [&'static str],
    /// One line about it.
    pub about: &'static str,
    /// What it is where nothing is said; a number, a word, or a rule in words.
    pub default: &'static str,
    /// Which values it takes.
    pub range: &'static str,
}

impl Parameter {
    pub(super) const fn new(
        name: &'static str,
        default: &'static str,
        range: &'static str,
    ) -> Self {
        Parameter { name, aliases: &[], about: "", default, range }
    }

    /// With one line about it.
    pub(super) const fn line(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    pub(super) const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Whether this is its name or one of its aliases.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}
