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
pub use consilience_constrained::{
    Ccskl, CopKMeans, Fpc, MpckMeans, Nnc, PckMeans, Pmmc, SeededKMeans, UnderMetric,
};
pub use consilience_core::{
    Assign, BaseClusterer, Clustering, Clusters, ConsensusFunction, ConstrainedClusterer,
    Constraints, Dendrogram, Ensemble, Error, ErrorKind, FeatureMap, Features, Fit,
    GraphPartitioner, Grouping, Hierarchy, LabelInt, LabelSlice, Link, Linkage, Memberships,
    MemoryBudget, Merge, Microclusters, NodeConsensus, NodeMemberships, Observer, Pair, Partition,
    RawLabel, Report, Result, Seed, SideInformation, Similarity, SimilarityGraph, Status, Stream,
    Watch, at_least_one, check_symmetric, scores, with_labels,
};
pub use consilience_crowd::{
    AlternativeClustering, AnswerCounts, Answers, BlockModel, BlockModelResult, CrowdClustering,
    CrowdMethod, CrowdRates, CrowdResult, GroupAnswer, KeywordAnswer, PairAnswer, PairCount,
    PenaltyChoice, Question, WorkerRates,
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
