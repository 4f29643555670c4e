//! Methods that read memberships and find a clustering quickly.
// `tests/` and `eval/` both compile this file.

pub(crate) const METHODS: [&str; 14] = [
    "eac-al",
    "weac-al",
    "lwea",
    "ecpcs-hc",
    "ecpcs-mc",
    "cspa",
    "mcla",
    "hbgf",
    "lwgp",
    "pta-al",
    "ptgp",
    "diffusion",
    "voting",
    "least-squares",
];
