#![doc = include_str!("../../../README.md")]

pub use consilience_core::{
    BaseClusterer, ConsensusFunction, Constraints, Ensemble, Error, ErrorKind, Features, Fit,
    GraphPartitioner, Grouping, LabelInt, LabelSlice, Link, Linkage, Memberships, MemoryBudget, Observer,
    Partition, RawLabel, Report, Result, Seed, Similarity, SimilarityGraph, Status, Stream, check_symmetric,
    scores, with_labels,
};
pub use consilience_generate::{
    Agglomerative, Generator, KMeans, KMeansClusters, KernelKMeans, MiniBatchKMeans, Rpcl, Scale, Spectral,
};
pub use consilience_graph::{
    Agglomeration, Clusters, CoAssociation, CountRow, Cut, Dendrogram, EvidenceAccumulation, LeafWeights,
    Merge, Microclusters, PairCounts, SparsePairCounts, TransferCut, linkage,
};
pub use consilience_walk::{
    BipartiteGraph, EliteNeighbours, ProbabilityTrajectories, Pta, Ptgp, Road, Transition,
};

#[cfg(feature = "conformance")]
pub use consilience_core::conformance;
/// Numerical kernels without clustering words.
pub use consilience_num as num;
pub use ndarray;
