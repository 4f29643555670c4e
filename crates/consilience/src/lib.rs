#![doc = include_str!("../../../README.md")]

pub use consilience_bregman::{
    Divergence, KullbackLeibler, Line, PairEvidence, Pairs, Pcc, Solution, Solver,
    SquaredEuclidean, Start, centroids, check_divergence, cluster_relations, surviving_clusters,
};
pub use consilience_completion::{
    Basis, CompletedClustering, CompletedCoAssociation, CompletedPartition, CompletedSimilarity,
    Completion, CompletionSolver, EcmcAl, LossWeight, Mccc, ObservedPairs, Penalty, Rdml,
    RobustCompletion, SampleSimilarity, Thresholds,
};
pub use consilience_consensus::{
    ApproximateSimRank, Ballots, ConnectedTriples, Cspa, EcpcsHc, EcpcsMc, EnhancedCoAssociation,
    EvidenceAccumulation, GpMgla, Hbgf, Hgpa, LeastSquares, LinkBased, LinkSimilarity,
    LocallyWeighted, Lwea, Lwgp, Mcla, MixtureModel, Qmi, SimRank, SoftMixtureModel, USenc, Voting,
    Weac, WeightedCoAssociation, propagated_cluster_similarity,
};
pub use consilience_core::{
    BaseClusterer, Clusters, ConsensusFunction, Constraints, Dendrogram, Ensemble, Error,
    ErrorKind, Features, Fit, GraphPartitioner, Grouping, Hierarchy, LabelInt, LabelSlice, Link,
    Linkage, Memberships, MemoryBudget, Merge, Microclusters, NodeConsensus, NodeMemberships,
    Observer, Pair, Partition, RawLabel, Report, Result, Seed, Similarity, SimilarityGraph, Status,
    Stream, check_symmetric, scores, with_labels,
};
pub use consilience_crowd::{
    AlternativeClustering, AnswerCounts, Answers, BlockModel, BlockModelResult, CrowdClustering,
    CrowdMethod, CrowdRates, CrowdResult, GroupAnswer, KeywordAnswer, PairAnswer, PairCount,
    PenaltyChoice, Question, WorkerRates,
};
pub use consilience_follow::{
    ConsensusEmbedding, ConsensusMetric, CrossValidation, Embedding, GrownMembers, LinkEvidence,
    MemberGrowth, MetricReadOut, MetricReport, MetricRule, ReadOutMethod, Updater, UpdaterSetup,
};
pub use consilience_generate::{
    Agglomerative, Generator, KMeans, KMeansClusters, KernelKMeans, MiniBatchKMeans, Rpcl, Scale,
    Spectral, USpec,
};
#[cfg(feature = "metis")]
pub use consilience_graph::MetisCut;
pub use consilience_graph::{
    Agglomeration, ClusterIncidence, CoAssociation, CountRow, CutMethod, IncidenceSpectrum,
    LeafWeights, Lifespan, Linked, PairCounts, Partitioned, SparsePairCounts, SpectralCut,
    TransferCut, ensemble_driven_cluster_index, linkage, normalized_crowd_agreement, vat_order,
};
pub use consilience_metric::{
    Assign, Ccskl, Clustering, ConstrainedClusterer, CopKMeans, Dca, Fpc, Itml, LinearMap, Lmnn,
    MetricLearner, Mmc, MpckMeans, Nnc, PckMeans, Pmmc, Rca, RsdDiagonal, RsdFull, RsdMetric,
    SeededKMeans, Separation, SideInformation, cluster_under,
};
pub use consilience_simplex::{
    AdditiveUpdate, AlignmentReference, ExactUpdate, InitialWeights, MultiplicativeUpdate,
    PairLoss, PairQuestion, Questions, UncertainObject, UpdateReport, UpdateRule, Violations,
    WeightUpdater, WeightUpdaterSetup, relabelled,
};
pub use consilience_trust::{
    ClusterDiagnostics, ClusterNumber, ConsensusCdf, Criterion, Diagnostics, MemberDiagnostics,
    NumberRow, NumberTable, Recommended,
};

pub use consilience_core::scores::weighted_nmi;
pub use consilience_walk::{
    BipartiteGraph, Diffusion, EliteNeighbours, ProbabilityTrajectories, Pta, Ptgp, PtsSolver,
    RandomWalker, SoftRandomWalker, Transition,
};

#[cfg(feature = "conformance")]
pub use consilience_conformance as conformance;
/// Numerical kernels without clustering words.
pub use consilience_num as num;
pub use ndarray;
