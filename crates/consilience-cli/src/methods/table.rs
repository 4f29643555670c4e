//! Every method with its line of `--list`, its parameters and its paper.

use consilience::Linkage;
use consilience::bregman::{KullbackLeibler, SquaredEuclidean};
use consilience::consensus::LinkBased;

use super::Method;
use super::recipes::*;

const HUANG_2016: &str = "Huang, Lai & Wang, IEEE TKDE 28(5), 2016";
const FRED_2005: &str = "Fred & Jain, IEEE TPAMI 27(6), 2005";
const HUANG_2015: &str = "Huang, Lai & Wang, Neurocomputing 170, 2015";
const HUANG_2018: &str = "Huang, Wang & Lai, IEEE Trans. Cybernetics 48(5), 2018";
const HUANG_2021: &str = "Huang, Wang, Peng, Lai & Kwoh, IEEE Trans. SMC: Systems 51(1), 2021";
const HUANG_2020: &str = "Huang, Wang, Wu, Lai & Kwoh, IEEE TKDE 32(6), 2020";
const STREHL_2002: &str = "Strehl & Ghosh, JMLR 3, 2002";
const FERN_2004: &str = "Fern & Brodley, ICML 2004";
const IAM_ON_2011: &str = "Iam-On, Boongoen, Garrett & Price, IEEE TPAMI 33(12), 2011";
const ABDALA_2010: &str = "Abdala, Wattuya & Jiang, ICPR 2010";
const YI_2012: &str = "Yi, Yang, Jin, Jain & Mahdavi, ICDM 2012";
const TOPCHY_2005: &str = "Topchy, Jain & Punch, IEEE TPAMI 27(12), 2005";
const TOPCHY_2003: &str = "Topchy, Jain & Punch, ICDM 2003";
const DUDOIT_2003: &str = "Dudoit & Fridlyand, Bioinformatics 19(9), 2003";
const DIMITRIADOU_2002: &str = "Dimitriadou, Weingessel & Hornik, IJPRAI 16(7), 2002";
const LOURENCO_2015: &str =
    "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo & Pelillo, Machine Learning 98, 2015";
const OURS: &str = "described in docs/choosing.md";

const STARTS: &[&str] = &["restarts"];
const WALK: &[&str] = &["elite_neighbours", "walk_length"];
const WALK_AND_STARTS: &[&str] = &["elite_neighbours", "walk_length", "restarts"];
const CUT: &[&str] = &["restarts"];
const PCC: &[&str] = &["restarts", "tolerance", "max_iterations"];

/// Every method, in the order of `--list`.
pub(super) static METHODS: &[Method] = &[
    Method {
        name: "pta-al",
        about: "probability trajectories, average link",
        paper: HUANG_2016,
        params: WALK,
        make: |ask| pta(ask, Linkage::Average),
        tree: Some(|ask| trajectories(ask, Linkage::Average)),
    },
    Method {
        name: "pta-cl",
        about: "probability trajectories, complete link",
        paper: HUANG_2016,
        params: WALK,
        make: |ask| pta(ask, Linkage::Complete),
        tree: Some(|ask| trajectories(ask, Linkage::Complete)),
    },
    Method {
        name: "pta-sl",
        about: "probability trajectories, single link",
        paper: HUANG_2016,
        params: WALK,
        make: |ask| pta(ask, Linkage::Single),
        tree: Some(|ask| trajectories(ask, Linkage::Single)),
    },
    Method {
        name: "ptgp",
        about: "probability trajectories, graph partitioning",
        paper: HUANG_2016,
        params: WALK_AND_STARTS,
        make: ptgp,
        tree: None,
    },
    Method {
        name: "eac-al",
        about: "evidence accumulation, average link",
        paper: FRED_2005,
        params: &[],
        make: |ask| eac(ask, Linkage::Average),
        tree: Some(|_| co_association(Linkage::Average)),
    },
    Method {
        name: "eac-cl",
        about: "evidence accumulation, complete link",
        paper: FRED_2005,
        params: &[],
        make: |ask| eac(ask, Linkage::Complete),
        tree: Some(|_| co_association(Linkage::Complete)),
    },
    Method {
        name: "eac-sl",
        about: "evidence accumulation, single link",
        paper: FRED_2005,
        params: &[],
        make: |ask| eac(ask, Linkage::Single),
        tree: Some(|_| co_association(Linkage::Single)),
    },
    Method {
        name: "eac-ward",
        about: "evidence accumulation, Ward's link",
        paper: FRED_2005,
        params: &[],
        make: |ask| eac(ask, Linkage::Ward),
        tree: Some(|_| co_association(Linkage::Ward)),
    },
    Method {
        name: "weac-al",
        about: "co-association weighted by how far members agree with the crowd, average link",
        paper: HUANG_2015,
        params: &["beta"],
        make: weac,
        tree: Some(crowd),
    },
    Method {
        name: "gp-mgla",
        about: "members, clusters and objects in one graph, weighted by crowd agreement",
        paper: HUANG_2015,
        params: &["alpha", "beta"],
        make: gp_mgla,
        tree: None,
    },
    Method {
        name: "cspa",
        about: "cut of the co-association graph",
        paper: STREHL_2002,
        params: CUT,
        make: cspa,
        tree: None,
    },
    Method {
        name: "hgpa",
        about: "cut of the hypergraph of clusters",
        paper: STREHL_2002,
        params: CUT,
        make: hgpa,
        tree: None,
    },
    Method {
        name: "mcla",
        about: "clusters of clusters, to which objects belong by share",
        paper: STREHL_2002,
        params: CUT,
        make: mcla,
        tree: None,
    },
    Method {
        name: "hbgf",
        about: "cut of the bipartite graph of objects and clusters",
        paper: FERN_2004,
        params: STARTS,
        make: hbgf,
        tree: None,
    },
    Method {
        name: "mm",
        about: "mixture of multinomials over the labels, by EM; soft",
        paper: TOPCHY_2005,
        params: STARTS,
        make: mm,
        tree: None,
    },
    Method {
        name: "qmi",
        about: "quadratic mutual information: k-means on centred indicators",
        paper: TOPCHY_2003,
        params: STARTS,
        make: qmi,
        tree: None,
    },
    Method {
        name: "voting",
        about: "votes after aligning the members",
        paper: DUDOIT_2003,
        params: &[],
        make: voting,
        tree: None,
    },
    Method {
        name: "least-squares",
        about: "soft clustering nearest to the aligned members in squares",
        paper: DIMITRIADOU_2002,
        params: &[],
        make: least_squares,
        tree: None,
    },
    Method {
        name: "wct-al",
        about: "clusters linked by weighted connected triples, average link",
        paper: IAM_ON_2011,
        params: &["decay"],
        make: |ask| links(ask, LinkBased::wct),
        tree: Some(triples),
    },
    Method {
        name: "srs-al",
        about: "objects and clusters similar by SimRank, average link",
        paper: IAM_ON_2011,
        params: &["decay"],
        make: |ask| links(ask, LinkBased::srs),
        tree: Some(simrank),
    },
    Method {
        name: "srw",
        about: "seeded random walks on the co-association graph",
        paper: ABDALA_2010,
        params: &["beta", "neighbours"],
        make: srw,
        tree: None,
    },
    Method {
        name: "ecmc-al",
        about: "agreed pairs completed to a low rank matrix, average link",
        paper: YI_2012,
        params: &["c", "d0", "d1"],
        make: ecmc,
        tree: None,
    },
    Method {
        name: "lwea",
        about: "co-association weighted by the certainty of clusters, average link",
        paper: HUANG_2018,
        params: &["theta"],
        make: lwea,
        tree: Some(locally_weighted),
    },
    Method {
        name: "lwgp",
        about: "cut of the bipartite graph weighted by the certainty of clusters",
        paper: HUANG_2018,
        params: &["theta", "restarts"],
        make: lwgp,
        tree: None,
    },
    Method {
        name: "ecpcs-hc",
        about: "cluster-wise similarities propagated by walks, average link",
        paper: HUANG_2021,
        params: &["steps"],
        make: ecpcs_hc,
        tree: None,
    },
    Method {
        name: "ecpcs-mc",
        about: "cluster-wise similarities propagated by walks, clusters of clusters",
        paper: HUANG_2021,
        params: &["steps", "restarts"],
        make: ecpcs_mc,
        tree: None,
    },
    Method {
        name: "usenc",
        about: "the consensus of U-SENC: a transfer cut for millions of objects",
        paper: HUANG_2020,
        params: STARTS,
        make: usenc,
        tree: None,
    },
    Method {
        name: "diffusion",
        about: "entropy-weighted diffusion embedding",
        paper: OURS,
        params: &["theta", "steps", "restarts"],
        make: diffusion,
        tree: None,
    },
    Method {
        name: "pcc-kl",
        about: "probabilistic consensus under the Kullback-Leibler divergence; soft",
        paper: LOURENCO_2015,
        params: PCC,
        make: |ask| pcc(ask, KullbackLeibler),
        tree: None,
    },
    Method {
        name: "pcc-l2",
        about: "probabilistic consensus under squared errors; soft",
        paper: LOURENCO_2015,
        params: PCC,
        make: |ask| pcc(ask, SquaredEuclidean),
        tree: None,
    },
    Method {
        name: "auto",
        about: "the method that the evidence in the ensemble supports",
        paper: OURS,
        params: &[],
        make: auto,
        tree: None,
    },
];
