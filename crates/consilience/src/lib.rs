#![doc = include_str!("../../../README.md")]

pub use consilience_bregman::{
    Divergence, KullbackLeibler, Line, PairEvidence, Pairs, Pcc, Solution, Solver,
    SquaredEuclidean, Start, centroids, check_divergence, cluster_relations, surviving_clusters,
};
pub use consilience_completion::{
    AnswerCounts, Answers, Basis, Blocks, CompletedClustering, Completion, CompletionSolver,
    CrowdClustering, CrowdMethod, CrowdResult, EcmcAl, Grouped, Keyword, LossWeight, Mccc,
    ObservedPairs, PairAnswer, Penalty, PenaltyChoice, Question, Rdml, RobustCompletion,
    SampleSimilarity, SecondAnswer, WorkerBlocks, WorkerRates,
};
pub use consilience_constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans, UnderMetric,
};
pub use consilience_core::{
    Assign, BaseClusterer, Clustering, ConsensusFunction, ConstrainedClusterer, Constraints,
    Ensemble, Error, ErrorKind, FeatureMap, Features, Fit, GraphPartitioner, Grouping, LabelInt,
    LabelSlice, Link, Linkage, Memberships, MemoryBudget, Observer, Pair, Partition, RawLabel,
    Report, Result, Seed, SideInformation, Similarity, SimilarityGraph, Status, Stream, Watch,
    at_least_one, check_symmetric, scores, with_labels,
};
pub use consilience_generate::{
    Agglomerative, Generator, KMeans, KMeansClusters, KernelKMeans, MiniBatchKMeans, Rpcl, Scale,
    Spectral, USpec,
};
#[cfg(feature = "metis")]
pub use consilience_graph::MetisCut;
pub use consilience_graph::{
    Agglomeration, ApproximateSimRank, ClusterIncidence, Clusters, CoAssociation, ConnectedTriples,
    CountRow, Cspa, Cut, CutMethod, Dendrogram, Diffusion, EcpcsHc, EcpcsMc, EnhancedCoAssociation,
    EvidenceAccumulation, GpMgla, Hbgf, Hgpa, IncidenceSpectrum, LeafWeights, LinkBased,
    LinkSimilarity, LocallyWeighted, Lwea, Lwgp, Mcla, Merge, Microclusters, PairCounts,
    RandomWalker, SimRank, SoftRandomWalker, SparsePairCounts, SpectralCut, TransferCut, Usenc,
    Weac, WeightedCoAssociation, ensemble_driven_cluster_index, linkage,
    normalized_crowd_agreement, propagated_cluster_similarity, vat_order,
};
pub use consilience_metric::{
    Dca, Itml, LinearMap, Lmnn, MetricLearner, Mmc, Rca, RsdDiagonal, RsdFull, RsdMetric,
    Separation,
};
pub use consilience_simplex::{
    AdditiveUpdate, AlignmentReference, ConsensusEmbedding, ConsensusMetric, Embedding,
    ExactUpdate, GrownMembers, HullGrowth, InitialWeights, Judgement, LinkEvidence, MetricReadOut,
    MetricReport, MetricRule, MultiplicativeUpdate, PairLoss, PairQuestion, Questions, Reading,
    UncertainObject, UpdateReport, UpdateRule, Updater, UpdaterSetup, Violations, relabelled,
};
pub use consilience_trust::{
    ClusterDiagnostics, ClusterNumber, ConsensusCdf, Criterion, Diagnostics, MemberDiagnostics,
    NumberRow, NumberTable, Recommended,
};
pub use consilience_vote::{
    Ballots, LeastSquares, MixtureModel, Qmi, SoftMixtureModel, Voting, weighted_nmi,
};
pub use consilience_walk::{
    BipartiteGraph, EliteNeighbours, ProbabilityTrajectories, Pta, Ptgp, Road, Transition,
};

#[cfg(feature = "conformance")]
pub use consilience_conformance as conformance;
/// Numerical kernels without clustering words.
pub use consilience_num as num;
pub use ndarray;
