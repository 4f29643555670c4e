/// Where the coordinates Z come from in which [`Mccc`](crate::Mccc) completes the similarity.
///
/// The method can only find clusters whose membership vectors lie near the span of Z. Singular
/// vectors of the features hold clusters that a linear function of the features distinguishes;
/// eigenvectors of the graph of nearest neighbours hold connected clusters, whatever their shape.
///
/// ```
/// use consilience::completion::Basis;
///
/// assert_eq!(Basis::default(), Basis::HeldOut);
/// assert_eq!(Basis::Neighbours.name(), "neighbours");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Basis {
    /// The one of the next three whose clusters break fewer of the constraints that were held
    /// out. With fewer than 6 links of either kind, [`Basis::Neighbours`], which a note says.
    #[default]
    HeldOut,
    /// Left singular vectors of the standardized features (each less its mean, over its standard
    /// deviation) and a constant one.
    Singular,
    /// Leading eigenvectors of the normalized graph that joins every object to its 10 nearest ones,
    /// the features taken as they are: for pixels, counts, and whatever has one unit. Beyond 20,000
    /// objects the graph is approximated by up to 1,000 representatives.
    Neighbours,
    /// The same for standardized features, of which each counts as much as the others.
    StandardizedNeighbours,
    /// Left singular vectors of the features as they are, as in the thesis.
    RawSingular,
}

impl Basis {
    /// The name that the program prints.
    pub fn name(self) -> &'static str {
        match self {
            Basis::HeldOut => "held-out",
            Basis::Singular => "singular",
            Basis::Neighbours => "neighbours",
            Basis::StandardizedNeighbours => "standardized-neighbours",
            Basis::RawSingular => "raw-singular",
        }
    }
}
