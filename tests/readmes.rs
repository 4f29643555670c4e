//! The examples in the READMEs of the crates, as documentation tests. The facade tests its own.

macro_rules! readmes {
    ($($name:ident: $file:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($file)]
            mod $name {}
        )*
    };
}

readmes! {
    bregman: "../crates/consilience-bregman/README.md",
    completion: "../crates/consilience-completion/README.md",
    conformance: "../crates/consilience-conformance/README.md",
    consensus: "../crates/consilience-consensus/README.md",
    constrained: "../crates/consilience-constrained/README.md",
    core: "../crates/consilience-core/README.md",
    crowd: "../crates/consilience-crowd/README.md",
    follow: "../crates/consilience-follow/README.md",
    generate: "../crates/consilience-generate/README.md",
    graph: "../crates/consilience-graph/README.md",
    metric: "../crates/consilience-metric/README.md",
    model: "../crates/consilience-model/README.md",
    num: "../crates/consilience-num/README.md",
    report: "../crates/consilience-report/README.md",
    simplex: "../crates/consilience-simplex/README.md",
    trust: "../crates/consilience-trust/README.md",
    walk: "../crates/consilience-walk/README.md",
}
