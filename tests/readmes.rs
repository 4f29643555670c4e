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
    core: "../crates/consilience-core/README.md",
    generate: "../crates/consilience-generate/README.md",
    graph: "../crates/consilience-graph/README.md",
    metric: "../crates/consilience-metric/README.md",
    num: "../crates/consilience-num/README.md",
    simplex: "../crates/consilience-simplex/README.md",
    trust: "../crates/consilience-trust/README.md",
    vote: "../crates/consilience-vote/README.md",
    walk: "../crates/consilience-walk/README.md",
}
