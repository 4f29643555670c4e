//! Every method with its line, its paper and its parameters.

use super::{Method, Parameter, recipes};

const HUANG_2016: &str = "Huang, Lai & Wang, IEEE TKDE 28(5), 2016";
const FRED_2005: &str = "Fred & Jain, IEEE TPAMI 27(6), 2005";
const FRED_OTHER_LINKAGE: &str =
    "linkage of the co-association, which is that of Fred & Jain, IEEE TPAMI 27(6), 2005";
const HUANG_2015: &str = "Huang, Lai & Wang, Neurocomputing 170, 2015";
const HUANG_2018: &str = "Huang, Wang & Lai, IEEE Trans. Cybernetics 48(5), 2018";
const HUANG_2021: &str = "Huang, Wang, Peng, Lai & Kwoh, IEEE Trans. SMC: Systems 51(1), 2021";
const HUANG_2020: &str = "Huang, Wang, Wu, Lai & Kwoh, IEEE TKDE 32(6), 2020";
const STREHL_2002: &str = "Strehl & Ghosh, JMLR 3, 2002";
const FERN_2004: &str = "Fern & Brodley, ICML 2004";
const IAM_ON_2011: &str = "Iam-On, Boongoen, Garrett & Price, IEEE TPAMI 33(12), 2011";
const IAM_ON_2008: &str = "Iam-On, Boongoen & Garrett, Discovery Science 2008";
const ABDALA_2010: &str = "Abdala, Wattuya & Jiang, ICPR 2010";
const YI_2012: &str = "Yi, Yang, Jin, Jain & Mahdavi, ICDM 2012";
const TOPCHY_2005: &str = "Topchy, Jain & Punch, IEEE TPAMI 27(12), 2005";
const TOPCHY_2003: &str = "Topchy, Jain & Punch, ICDM 2003";
const DUDOIT_2003: &str = "Dudoit & Fridlyand, Bioinformatics 19(9), 2003";
const DIMITRIADOU_2002: &str = "Dimitriadou, Weingessel & Hornik, IJPRAI 16(7), 2002";
const LOURENCO_2015: &str =
    "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo & Pelillo, Machine Learning 98, 2015";
const JIA_2023: &str = "Jia, Tao, Wang & Wang, IEEE TNNLS, 2023";
const ZHANG_2025: &str = "Zhang, Jia, Song & Wang, IEEE TKDE, 2025";
const OURS_DIFFUSION: &str = "no paper: consilience::walk::Diffusion describes it";
const OURS_AUTO: &str = "no paper: consilience::trust::Recommended describes it";

const fn restarts(default: &'static str) -> Parameter {
    Parameter::new("restarts", "random starts, of which the best is kept", default, "1 to 10000")
}

const ELITE: Parameter = Parameter::new(
    "elite_neighbours",
    "elite neighbours of a microcluster",
    "half the root of the number of microclusters, at most 20",
    "at least 1",
)
.alias(&["K"]);
const LENGTH: Parameter = Parameter::new(
    "walk_length",
    "steps of a random walk",
    "half the root of the number of microclusters, at most 20",
    "1 to 1000",
)
.alias(&["T"]);
const LINKAGE: Parameter = Parameter::new("linkage", "how clusters merge", "average", LINKAGES);
const LINKAGES: &str = "average, complete, single, ward, centroid, median";
const AGREEMENT: Parameter = Parameter::new(
    "agreement_exponent",
    "how much a member counts that agrees with the others",
    "2",
    "0 to 1000",
)
.alias(&["beta"]);
const ENTROPY: Parameter = Parameter::new(
    "entropy_scale",
    "how slowly the weight of a cluster falls with its entropy",
    "0.4",
    "above 0",
)
.alias(&["theta"]);
const CUT_METHOD: Parameter = Parameter::new(
    "cut_method",
    "what divides the graph",
    "spectral",
    "spectral, hypergraph (not mcla), metis (feature metis)",
)
.alias(&["cut"]);
const STEPS: Parameter =
    Parameter::new("steps", "steps of the walk between clusters", "20", "1 to 1000");

const LARGEST: Parameter = Parameter::new(
    "largest_component",
    "microclusters in a component of reliable pairs at most",
    "3000",
    "at least 1",
);

const PUBLISHED: Parameter = Parameter::new(
    "published",
    "both by the text of the paper, without the cap of 20",
    "false",
    "true, false",
);

const MEASURE: Parameter = Parameter::new(
    "measure",
    "how like each other two trajectories are",
    "cosine",
    "cosine, tanimoto",
);

const WALK_SOLVER: Parameter = Parameter::new(
    "solver",
    "how the sum over the walks is computed",
    "cheapest",
    "cheapest, products, eigenpairs",
);

const ROUNDS: &[Parameter] = &[Parameter::new(
    "max_iterations",
    "rounds of matching and counting at most",
    "100",
    "at least 1",
)];

const WALK: &[Parameter] = &[ELITE, LENGTH, PUBLISHED, MEASURE, WALK_SOLVER];
const PTGP: &[Parameter] = &[
    ELITE,
    LENGTH,
    PUBLISHED,
    MEASURE,
    WALK_SOLVER,
    restarts("3"),
    Parameter::new(
        "dense_limit",
        "microclusters up to which the similarity is a matrix",
        "10000, fewer where the matrix takes more than 4e10 multiply-adds",
        "any number",
    ),
];
const WEAC: &[Parameter] = &[AGREEMENT, LINKAGE];
const GP_MGLA: &[Parameter] = &[
    Parameter::new(
        "object_link_weight",
        "weight of a link from object to cluster beside one among clusters",
        "0.5",
        "1e-6 to 1e6",
    )
    .alias(&["alpha"]),
    AGREEMENT,
];
const CUT: &[Parameter] = &[
    Parameter::new(
        "restarts",
        "random starts, of which the best is kept; only with cut_method=spectral",
        "10",
        "1 to 10000",
    ),
    CUT_METHOD,
];
const STARTS_3: &[Parameter] = &[restarts("3")];
const STARTS_10: &[Parameter] = &[restarts("10")];
const MIXTURE: &[Parameter] = &[
    restarts("5"),
    Parameter::new(
        "tolerance",
        "relative rise of the likelihood at which to stop",
        "1e-8",
        "0 or more",
    ),
    Parameter::new("max_iterations", "steps of a start at most", "300", "at least 1"),
    Parameter::new(
        "random_starts",
        "starts at random, as published, not from k-means",
        "false",
        "true, false",
    ),
];
const fn decay(default: &'static str) -> Parameter {
    Parameter::new("decay", "how much an indirect link counts", default, "0 to 1")
}
const TRIPLES: &[Parameter] = &[decay("0.9"), LINKAGE];
const SIM_RANK: &[Parameter] = &[
    decay("0.8"),
    Parameter::new("iterations", "rounds of SimRank", "5", "1 to 1000").alias(&["R"]),
    LINKAGE,
];
const WALKER: &[Parameter] = &[
    Parameter::new("link_preference", "how much a walker prefers strong links", "10", "0 to 1000")
        .alias(&["beta"]),
    Parameter::new("neighbours", "strongest links of a microcluster that stay", "10", "at least 1"),
    Parameter::new(
        "region",
        "fewest objects of a region; only with seeds=agreement",
        "5",
        "at least 1",
    ),
    Parameter::new(
        "seeds",
        "cores of clusters: the best supported of each, or regions of full agreement as published",
        "supported",
        "supported, agreement",
    ),
];
const ECMC: &[Parameter] = &[
    Parameter::new("c", "weight of the errors, in units of the theory", "1.3", "above 0")
        .alias(&["error_weight"]),
    Parameter::new("d0", "share of members below which two are apart", "by the ensemble", "0 to 1")
        .alias(&["apart_below"]),
    Parameter::new(
        "d1",
        "share of members above which two are together",
        "by the ensemble",
        "0 to 1",
    )
    .alias(&["together_above"]),
    Parameter::new(
        "entries",
        "linkage on the completed matrix itself, not on the cosines of its rows",
        "false",
        "true, false",
    ),
    LINKAGE,
];
const LINKAGE_ONLY: &[Parameter] = &[LINKAGE];
const LWEA: &[Parameter] = &[ENTROPY, LINKAGE];
const EC_CMS: &[Parameter] = &[
    Parameter::new(
        "confidence",
        "co-association from which on a pair is reliable",
        "0.8",
        "above 0",
    )
    .alias(&["alpha"]),
    Parameter::new(
        "largest_share",
        "objects in a component of reliable pairs at most, by a raised confidence",
        "1",
        "above 0, to 1",
    ),
    Parameter::new(
        "error_penalty",
        "what it costs to change a pair that is not reliable",
        "1",
        "1e-6 to 1e6",
    )
    .alias(&["lambda"]),
    ENTROPY,
    Parameter::new("tolerance", "relative change at which to stop", "0.01", "0 or more"),
    Parameter::new("max_iterations", "rounds at most", "100", "1 to 10000"),
    LARGEST,
    LINKAGE,
];
const SDGCA: &[Parameter] = &[
    Parameter::new(
        "entropy_scale",
        "how slowly the weight of a cluster falls with its entropy",
        "0.07",
        "above 0",
    )
    .alias(&["lambda"]),
    Parameter::new("confidence", "co-association from which on a pair is linked", "0.8", "above 0")
        .alias(&["eta"]),
    Parameter::new(
        "must_link",
        "co-association from which on a pair must belong together",
        "0.8",
        "above 0",
    )
    .alias(&["theta"]),
    STEPS,
    Parameter::new("tolerance", "distance from the bounds at which to stop", "0.001", "0 or more"),
    Parameter::new("max_iterations", "rounds at most", "300", "1 to 10000"),
    LARGEST,
    LINKAGE,
];
const LWGP: &[Parameter] = &[ENTROPY, restarts("3")];
const STEPS_ONLY: &[Parameter] = &[STEPS, LINKAGE];
const STEPS_AND_STARTS: &[Parameter] = &[STEPS, restarts("10")];
const DIFFUSION: &[Parameter] = &[
    Parameter::new(
        "entropy_scale",
        "how slowly the weight of a cluster falls with its entropy",
        "0.3",
        "above 0",
    )
    .alias(&["theta"]),
    Parameter::new("steps", "power of the singular values", "12", "1 to 1000"),
    Parameter::new("width", "dimensions of the embedding per cluster", "2", "1 to 1000"),
    restarts("10"),
];
const PCC: &[Parameter] = &[
    restarts("4"),
    Parameter::new("tolerance", "relative optimality gap", "1e-4", "above 0"),
    Parameter::new("max_iterations", "sweeps over all objects", "1000", "at least 1"),
    Parameter::new(
        "pairs",
        "share of all pairs that is fitted",
        "by the size",
        "above 0, at most 1",
    ),
    Parameter::new("solver", "how the optimum is found", "newton", "newton, line-search"),
    Parameter::new(
        "collapse",
        "whether objects with equal labels share their memberships",
        "true",
        "true, false",
    ),
];
const AUTO: &[Parameter] = &[
    Parameter::new(
        "dense_limit",
        "microclusters up to which a matrix is made where labels are missing",
        "10000",
        "any number",
    ),
    Parameter::new(
        "linkage_limit",
        "microclusters up to which average linkage is tried",
        "30000",
        "any number",
    ),
];

/// Every method, in the order of the program's list.
pub(super) const METHODS: &[Method] = &[
    Method {
        name: "pta-al",
        about: "probability trajectories, average link",
        paper: HUANG_2016,
        parameters: WALK,
        chooses: true,
        recipe: recipes::PTA_AL,
    },
    Method {
        name: "pta-cl",
        about: "probability trajectories, complete link",
        paper: HUANG_2016,
        parameters: WALK,
        chooses: true,
        recipe: recipes::PTA_CL,
    },
    Method {
        name: "pta-sl",
        about: "probability trajectories, single link",
        paper: HUANG_2016,
        parameters: WALK,
        chooses: true,
        recipe: recipes::PTA_SL,
    },
    Method {
        name: "ptgp",
        about: "probability trajectories, graph partitioning",
        paper: HUANG_2016,
        parameters: PTGP,
        chooses: true,
        recipe: recipes::PTGP,
    },
    Method {
        name: "eac-al",
        about: "evidence accumulation, average link",
        paper: FRED_2005,
        parameters: LINKAGE_ONLY,
        chooses: true,
        recipe: recipes::EAC_AL,
    },
    Method {
        name: "eac-cl",
        about: "evidence accumulation, complete link",
        paper: FRED_OTHER_LINKAGE,
        parameters: &[],
        chooses: true,
        recipe: recipes::EAC_CL,
    },
    Method {
        name: "eac-sl",
        about: "evidence accumulation, single link",
        paper: FRED_2005,
        parameters: &[],
        chooses: true,
        recipe: recipes::EAC_SL,
    },
    Method {
        name: "eac-ward",
        about: "evidence accumulation, Ward's link",
        paper: FRED_OTHER_LINKAGE,
        parameters: &[],
        chooses: true,
        recipe: recipes::EAC_WARD,
    },
    Method {
        name: "weac-al",
        about: "co-association weighted by how far members agree with the crowd, average link",
        paper: HUANG_2015,
        parameters: WEAC,
        chooses: true,
        recipe: recipes::WEAC,
    },
    Method {
        name: "gp-mgla",
        about: "members, clusters and objects in one graph, weighted by crowd agreement",
        paper: HUANG_2015,
        parameters: GP_MGLA,
        chooses: true,
        recipe: recipes::GP_MGLA,
    },
    Method {
        name: "cspa",
        about: "cut of the co-association graph",
        paper: STREHL_2002,
        parameters: CUT,
        chooses: true,
        recipe: recipes::CSPA,
    },
    Method {
        name: "hgpa",
        about: "cut of the hypergraph of clusters",
        paper: STREHL_2002,
        parameters: CUT,
        chooses: true,
        recipe: recipes::HGPA,
    },
    Method {
        name: "mcla",
        about: "clusters of clusters, to which objects belong by share",
        paper: STREHL_2002,
        parameters: CUT,
        chooses: true,
        recipe: recipes::MCLA,
    },
    Method {
        name: "hbgf",
        about: "cut of the bipartite graph of objects and clusters",
        paper: FERN_2004,
        parameters: STARTS_10,
        chooses: true,
        recipe: recipes::HBGF,
    },
    Method {
        name: "mm",
        about: "mixture of multinomials over the labels, by EM; soft",
        paper: TOPCHY_2005,
        parameters: MIXTURE,
        chooses: false,
        recipe: recipes::MIXTURE,
    },
    Method {
        name: "qmi",
        about: "quadratic mutual information: k-means on centred indicators",
        paper: TOPCHY_2003,
        parameters: STARTS_10,
        chooses: false,
        recipe: recipes::QMI,
    },
    Method {
        name: "voting",
        about: "votes after aligning the members",
        paper: DUDOIT_2003,
        parameters: ROUNDS,
        chooses: false,
        recipe: recipes::VOTING,
    },
    Method {
        name: "least-squares",
        about: "soft clustering nearest to the aligned members in squares",
        paper: DIMITRIADOU_2002,
        parameters: ROUNDS,
        chooses: false,
        recipe: recipes::LEAST_SQUARES,
    },
    Method {
        name: "wct-al",
        about: "clusters linked by weighted connected triples, average link",
        paper: IAM_ON_2011,
        parameters: TRIPLES,
        chooses: true,
        recipe: recipes::WCT,
    },
    Method {
        name: "srs-al",
        about: "objects and clusters similar by SimRank, average link",
        paper: IAM_ON_2008,
        parameters: SIM_RANK,
        chooses: true,
        recipe: recipes::SRS,
    },
    Method {
        name: "srw",
        about: "seeded random walks on the co-association graph",
        paper: ABDALA_2010,
        parameters: WALKER,
        chooses: true,
        recipe: recipes::WALKER,
    },
    Method {
        name: "ecmc-al",
        about: "agreed pairs completed to a low rank matrix, average link",
        paper: YI_2012,
        parameters: ECMC,
        chooses: true,
        recipe: recipes::ECMC,
    },
    Method {
        name: "lwea",
        about: "co-association weighted by the certainty of clusters, average link",
        paper: HUANG_2018,
        parameters: LWEA,
        chooses: true,
        recipe: recipes::LWEA,
    },
    Method {
        name: "ec-cms",
        about: "co-association made smooth along reliable pairs, average link",
        paper: JIA_2023,
        parameters: EC_CMS,
        chooses: true,
        recipe: recipes::EC_CMS,
    },
    Method {
        name: "sdgca",
        about: "co-association guided by must-links and cannot-links, average link",
        paper: ZHANG_2025,
        parameters: SDGCA,
        chooses: true,
        recipe: recipes::SDGCA,
    },
    Method {
        name: "lwgp",
        about: "cut of the bipartite graph weighted by the certainty of clusters",
        paper: HUANG_2018,
        parameters: LWGP,
        chooses: true,
        recipe: recipes::LWGP,
    },
    Method {
        name: "ecpcs-hc",
        about: "cluster-wise similarities propagated by walks, average link",
        paper: HUANG_2021,
        parameters: STEPS_ONLY,
        chooses: true,
        recipe: recipes::ECPCS_HC,
    },
    Method {
        name: "ecpcs-mc",
        about: "cluster-wise similarities propagated by walks, clusters of clusters",
        paper: HUANG_2021,
        parameters: STEPS_AND_STARTS,
        chooses: true,
        recipe: recipes::ECPCS_MC,
    },
    Method {
        name: "usenc",
        about: "the consensus of U-SENC: a transfer cut for millions of objects",
        paper: HUANG_2020,
        parameters: STARTS_3,
        chooses: false,
        recipe: recipes::USENC,
    },
    Method {
        name: "diffusion",
        about: "entropy-weighted diffusion embedding",
        paper: OURS_DIFFUSION,
        parameters: DIFFUSION,
        chooses: true,
        recipe: recipes::DIFFUSION,
    },
    Method {
        name: "pcc-kl",
        about: "probabilistic consensus under the Kullback-Leibler divergence; soft",
        paper: LOURENCO_2015,
        parameters: PCC,
        chooses: true,
        recipe: recipes::PCC_KL,
    },
    Method {
        name: "pcc-l2",
        about: "probabilistic consensus under squared errors; soft",
        paper: LOURENCO_2015,
        parameters: PCC,
        chooses: true,
        recipe: recipes::PCC_L2,
    },
    Method {
        name: "auto",
        about: "diffusion, LWEA or their joint result, by agreement with members and halves",
        paper: OURS_AUTO,
        parameters: AUTO,
        chooses: true,
        recipe: recipes::AUTO,
    },
];
