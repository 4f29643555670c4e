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
    Parameter::new("restarts", default, "1 to 10000")
        .line("random starts, of which the best is kept")
}

const fn decay(default: &'static str) -> Parameter {
    Parameter::new("decay", default, "0 to 1").line("how much an indirect link counts")
}

const fn entropy(default: &'static str, alias: &'static [&'static str]) -> Parameter {
    Parameter::new("entropy_scale", default, "above 0")
        .line("how slowly the weight of a cluster falls with its entropy")
        .alias(alias)
}

const HALF_ROOT: &str = "half the root of the number of microclusters, at most 20";
const ELITE: Parameter = Parameter::new("elite_neighbours", HALF_ROOT, "at least 1")
    .line("elite neighbours of a microcluster")
    .alias(&["K"]);
const LENGTH: Parameter = Parameter::new("walk_length", HALF_ROOT, "1 to 1000")
    .line("steps of a random walk")
    .alias(&["T"]);
const LINKAGE: Parameter =
    Parameter::new("linkage", "average", LINKAGES).line("how clusters merge");
const LINKAGES: &str = "single, average, complete, ward, centroid, median";
const AGREEMENT: Parameter = Parameter::new("agreement_exponent", "2", "0 to 1000")
    .line("how much a member counts that agrees with the others")
    .alias(&["beta"]);
const ENTROPY: Parameter = entropy("0.4", &["theta"]);
const CUT_METHOD: Parameter = Parameter::new(
    "cut_method",
    "spectral",
    "spectral, hypergraph (not mcla), metis (feature metis)",
)
.line("what divides the graph")
.alias(&["cut"]);
const STEPS: Parameter =
    Parameter::new("steps", "20", "1 to 1000").line("steps of the walk between clusters");
const LARGEST: Parameter = Parameter::new("largest_component", "3000", "at least 1")
    .line("microclusters in a component of reliable pairs at most");
const PUBLISHED: Parameter = Parameter::new("published", "false", "true, false")
    .line("both by the text of the paper, without the cap of 20");
const MEASURE: Parameter = Parameter::new("measure", "cosine", "cosine, tanimoto")
    .line("how like each other two trajectories are");
const WALK_SOLVER: Parameter =
    Parameter::new("solver", "cheapest", "cheapest, products, eigenpairs")
        .line("how the sum over the walks is computed");

const ROUNDS: &[Parameter] = &[Parameter::new("max_iterations", "100", "at least 1")
    .line("rounds of matching and counting at most")];

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
        "10000, fewer where the matrix takes more than 4e10 multiply-adds",
        "any number",
    )
    .line("microclusters up to which the similarity is a matrix"),
];
const WEAC: &[Parameter] = &[AGREEMENT, LINKAGE];
const GP_MGLA: &[Parameter] = &[
    Parameter::new("object_link_weight", "0.5", "1e-6 to 1e6")
        .line("weight of a link from object to cluster beside one among clusters")
        .alias(&["alpha"]),
    AGREEMENT,
];
const CUT: &[Parameter] = &[
    Parameter::new("restarts", "10", "1 to 10000")
        .line("random starts, of which the best is kept; only with cut_method=spectral"),
    CUT_METHOD,
];
const STARTS_3: &[Parameter] = &[restarts("3")];
const STARTS_10: &[Parameter] = &[restarts("10")];
const MIXTURE: &[Parameter] = &[
    restarts("5"),
    Parameter::new("tolerance", "1e-8", "0 or more")
        .line("relative rise of the likelihood at which to stop"),
    Parameter::new("max_iterations", "300", "at least 1").line("steps of a start at most"),
    Parameter::new("random_starts", "false", "true, false")
        .line("starts at random, as published, not from k-means"),
];
const TRIPLES: &[Parameter] = &[decay("0.9"), LINKAGE];
const SIM_RANK: &[Parameter] = &[
    decay("0.8"),
    Parameter::new("iterations", "5", "1 to 1000").line("rounds of SimRank").alias(&["R"]),
    LINKAGE,
];
const WALKER: &[Parameter] = &[
    Parameter::new("link_preference", "10", "0 to 1000")
        .line("how much a walker prefers strong links")
        .alias(&["beta"]),
    Parameter::new("neighbours", "10", "at least 1")
        .line("strongest links of a microcluster that stay"),
    Parameter::new("region", "5", "at least 1")
        .line("fewest objects of a region; only with seeds=agreement"),
    Parameter::new("seeds", "supported", "supported, agreement").line(
        "cores of clusters: the best supported of each, or regions of full agreement as published",
    ),
];
const ECMC: &[Parameter] = &[
    Parameter::new("c", "1.3", "above 0")
        .line("weight of the errors, in units of the theory")
        .alias(&["error_weight"]),
    Parameter::new("d0", "by the ensemble", "0 to 1")
        .line("share of members below which two are apart")
        .alias(&["apart_below"]),
    Parameter::new("d1", "by the ensemble", "0 to 1")
        .line("share of members above which two are together")
        .alias(&["together_above"]),
    Parameter::new("entries", "false", "true, false")
        .line("linkage on the completed matrix itself, not on the cosines of its rows"),
    LINKAGE,
];
const LINKAGE_ONLY: &[Parameter] = &[LINKAGE];
const LWEA: &[Parameter] = &[ENTROPY, LINKAGE];
const EC_CMS: &[Parameter] = &[
    Parameter::new("confidence", "0.8", "above 0")
        .line("co-association from which on a pair is reliable")
        .alias(&["alpha"]),
    Parameter::new("largest_share", "1", "above 0, to 1")
        .line("objects in a component of reliable pairs at most, by a raised confidence"),
    Parameter::new("error_penalty", "1", "1e-6 to 1e6")
        .line("what it costs to change a pair that is not reliable")
        .alias(&["lambda"]),
    ENTROPY,
    Parameter::new("tolerance", "0.01", "0 or more").line("relative change at which to stop"),
    Parameter::new("max_iterations", "100", "1 to 10000").line("rounds at most"),
    LARGEST,
    LINKAGE,
];
const SDGCA: &[Parameter] = &[
    entropy("0.07", &["lambda"]),
    Parameter::new("confidence", "0.8", "above 0")
        .line("co-association from which on a pair is linked")
        .alias(&["eta"]),
    Parameter::new("must_link", "0.8", "above 0")
        .line("co-association from which on a pair must belong together")
        .alias(&["theta"]),
    STEPS,
    Parameter::new("tolerance", "0.001", "0 or more")
        .line("distance from the bounds at which to stop"),
    Parameter::new("max_iterations", "300", "1 to 10000").line("rounds at most"),
    LARGEST,
    LINKAGE,
];
const LWGP: &[Parameter] = &[ENTROPY, restarts("3")];
const STEPS_ONLY: &[Parameter] = &[STEPS, LINKAGE];
const STEPS_AND_STARTS: &[Parameter] = &[STEPS, restarts("10")];
const DIFFUSION: &[Parameter] = &[
    entropy("0.3", &["theta"]),
    Parameter::new("steps", "12", "1 to 1000").line("power of the singular values"),
    Parameter::new("width", "2", "1 to 1000").line("dimensions of the embedding per cluster"),
    restarts("10"),
];
const PCC: &[Parameter] = &[
    restarts("4"),
    Parameter::new("tolerance", "1e-4", "above 0").line("relative optimality gap"),
    Parameter::new("max_iterations", "1000", "at least 1").line("sweeps over all objects"),
    Parameter::new("pairs", "by the size", "above 0, at most 1")
        .line("share of all pairs that is fitted"),
    Parameter::new("solver", "newton", "newton, line-search").line("how the optimum is found"),
    Parameter::new("collapse", "true", "true, false")
        .line("whether objects with equal labels share their memberships"),
];
const AUTO: &[Parameter] = &[
    Parameter::new("dense_limit", "10000", "any number")
        .line("microclusters up to which a matrix is made where labels are missing"),
    Parameter::new("linkage_limit", "30000", "any number")
        .line("microclusters up to which average linkage is tried"),
];

/// Every method, in the order of the program's list.
pub(super) const METHODS: &[Method] = &[
    Method::new("pta-al", HUANG_2016, WALK, recipes::PTA_AL)
        .line("probability trajectories, average link"),
    Method::new("pta-cl", HUANG_2016, WALK, recipes::PTA_CL)
        .line("probability trajectories, complete link"),
    Method::new("pta-sl", HUANG_2016, WALK, recipes::PTA_SL)
        .line("probability trajectories, single link"),
    Method::new("ptgp", HUANG_2016, PTGP, recipes::PTGP)
        .line("probability trajectories, graph partitioning"),
    Method::new("eac-al", FRED_2005, LINKAGE_ONLY, recipes::EAC_AL)
        .line("evidence accumulation, average link"),
    Method::new("eac-cl", FRED_OTHER_LINKAGE, &[], recipes::EAC_CL)
        .line("evidence accumulation, complete link"),
    Method::new("eac-sl", FRED_2005, &[], recipes::EAC_SL)
        .line("evidence accumulation, single link"),
    Method::new("eac-ward", FRED_OTHER_LINKAGE, &[], recipes::EAC_WARD)
        .line("evidence accumulation, Ward's link"),
    Method::new("weac-al", HUANG_2015, WEAC, recipes::WEAC)
        .line("co-association weighted by how far members agree with the crowd, average link"),
    Method::new("gp-mgla", HUANG_2015, GP_MGLA, recipes::GP_MGLA)
        .line("members, clusters and objects in one graph, weighted by crowd agreement"),
    Method::new("cspa", STREHL_2002, CUT, recipes::CSPA).line("cut of the co-association graph"),
    Method::new("hgpa", STREHL_2002, CUT, recipes::HGPA).line("cut of the hypergraph of clusters"),
    Method::new("mcla", STREHL_2002, CUT, recipes::MCLA)
        .line("clusters of clusters, to which objects belong by share"),
    Method::new("hbgf", FERN_2004, STARTS_10, recipes::HBGF)
        .line("cut of the bipartite graph of objects and clusters"),
    Method::new("mm", TOPCHY_2005, MIXTURE, recipes::MIXTURE)
        .line("mixture of multinomials over the labels, by EM; soft")
        .needs_number(),
    Method::new("qmi", TOPCHY_2003, STARTS_10, recipes::QMI)
        .line("quadratic mutual information: k-means on centred indicators")
        .needs_number(),
    Method::new("voting", DUDOIT_2003, ROUNDS, recipes::VOTING)
        .line("votes after aligning the members")
        .needs_number(),
    Method::new("least-squares", DIMITRIADOU_2002, ROUNDS, recipes::LEAST_SQUARES)
        .line("soft clustering nearest to the aligned members in squares")
        .needs_number(),
    Method::new("wct-al", IAM_ON_2011, TRIPLES, recipes::WCT)
        .line("clusters linked by weighted connected triples, average link"),
    Method::new("srs-al", IAM_ON_2008, SIM_RANK, recipes::SRS)
        .line("objects and clusters similar by SimRank, average link"),
    Method::new("srw", ABDALA_2010, WALKER, recipes::WALKER)
        .line("seeded random walks on the co-association graph"),
    Method::new("ecmc-al", YI_2012, ECMC, recipes::ECMC)
        .line("agreed pairs completed to a low rank matrix, average link"),
    Method::new("lwea", HUANG_2018, LWEA, recipes::LWEA)
        .line("co-association weighted by the certainty of clusters, average link"),
    Method::new("ec-cms", JIA_2023, EC_CMS, recipes::EC_CMS)
        .line("co-association made smooth along reliable pairs, average link"),
    Method::new("sdgca", ZHANG_2025, SDGCA, recipes::SDGCA)
        .line("co-association guided by must-links and cannot-links, average link"),
    Method::new("lwgp", HUANG_2018, LWGP, recipes::LWGP)
        .line("cut of the bipartite graph weighted by the certainty of clusters"),
    Method::new("ecpcs-hc", HUANG_2021, STEPS_ONLY, recipes::ECPCS_HC)
        .line("cluster-wise similarities propagated by walks, average link"),
    Method::new("ecpcs-mc", HUANG_2021, STEPS_AND_STARTS, recipes::ECPCS_MC)
        .line("cluster-wise similarities propagated by walks, clusters of clusters"),
    Method::new("usenc", HUANG_2020, STARTS_3, recipes::USENC)
        .line("the consensus of U-SENC: a transfer cut for millions of objects")
        .needs_number(),
    Method::new("diffusion", OURS_DIFFUSION, DIFFUSION, recipes::DIFFUSION)
        .line("entropy-weighted diffusion embedding"),
    Method::new("pcc-kl", LOURENCO_2015, PCC, recipes::PCC_KL)
        .line("probabilistic consensus under the Kullback-Leibler divergence; soft"),
    Method::new("pcc-l2", LOURENCO_2015, PCC, recipes::PCC_L2)
        .line("probabilistic consensus under squared errors; soft"),
    Method::new("auto", OURS_AUTO, AUTO, recipes::AUTO)
        .line("diffusion, LWEA, their joint result or EAC, by agreement with members and halves"),
];
