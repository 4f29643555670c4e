//! References: the papers that the documentation names, by topic.
//!
//! The section "References" of a method names its paper by authors and year; here it stands with
//! title and place. The [`catalogue`](crate::catalogue) has the paper of each consensus function.
//! To cite a method, cite its paper. *Ours* stands where there is none, as for
//! [`Recommended`](crate::trust::Recommended) and [`Diffusion`](crate::walk::Diffusion).
//!
//! # Combining clusterings
//!
//! - D. D. Abdala, P. Wattuya, X. Jiang 2010: "Ensemble clustering via random walker consensus
//!   strategy", ICPR.
//! - S. Agarwal, K. Branson, S. Belongie 2006: "Higher order learning with graphs", ICML.
//! - A. Ben-Hur, A. Elisseeff, I. Guyon 2002: "A stability based method for discovering structure
//!   in clustered data", Pacific Symposium on Biocomputing 7.
//! - R. R. Coifman, S. Lafon 2006: "Diffusion maps", Applied and Computational Harmonic Analysis
//!   21(1), doi:10.1016/j.acha.2006.04.006.
//! - E. Dimitriadou, A. Weingessel, K. Hornik 2002: "A combination scheme for fuzzy clustering",
//!   International Journal of Pattern Recognition and Artificial Intelligence 16(7).
//! - S. Dudoit, J. Fridlyand 2003: "Bagging to improve the accuracy of a clustering procedure",
//!   Bioinformatics 19(9), doi:10.1093/bioinformatics/btg038.
//! - X. Z. Fern, C. E. Brodley 2003: "Random projection for high dimensional data clustering: a
//!   cluster ensemble approach", ICML.
//! - X. Z. Fern, C. E. Brodley 2004: "Solving cluster ensemble problems by bipartite graph
//!   partitioning", ICML, doi:10.1145/1015330.1015414.
//! - B. Fischer, J. M. Buhmann 2003: "Bagging for path-based clustering", IEEE TPAMI 25(11).
//! - A. L. N. Fred, A. K. Jain 2005: "Combining multiple clusterings using evidence accumulation",
//!   IEEE TPAMI 27(6), doi:10.1109/TPAMI.2005.113.
//! - L. Grady 2006: "Random walks for image segmentation", IEEE TPAMI 28(11),
//!   doi:10.1109/TPAMI.2006.233.
//! - K. Hornik 2005: "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12),
//!   doi:10.18637/jss.v014.i12.
//! - D. Huang, J.-H. Lai, C.-D. Wang 2015: "Combining multiple clusterings via crowd agreement
//!   estimation and multi-granularity link analysis", Neurocomputing 170 (WEAC, GP-MGLA).
//! - D. Huang, J.-H. Lai, C.-D. Wang 2016: "Robust ensemble clustering using probability
//!   trajectories", IEEE TKDE 28(5), doi:10.1109/TKDE.2015.2503753 (PTA, PTGP).
//! - D. Huang, C.-D. Wang, J.-H. Lai 2018: "Locally weighted ensemble clustering", IEEE
//!   Transactions on Cybernetics 48(5), doi:10.1109/TCYB.2017.2702343 (LWEA, LWGP).
//! - D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh 2020: "Ultra-scalable spectral
//!   clustering and ensemble clustering", IEEE TKDE 32(6), doi:10.1109/TKDE.2019.2903410 (U-SPEC,
//!   U-SENC).
//! - D. Huang, C.-D. Wang, H. Peng, J.-H. Lai, C.-K. Kwoh 2021: "Enhanced ensemble clustering via
//!   fast propagation of cluster-wise similarities", IEEE Transactions on Systems, Man, and
//!   Cybernetics: Systems 51(1), doi:10.1109/TSMC.2018.2876202 (ECPCS).
//! - N. Iam-On, T. Boongoen, S. Garrett 2008: "Refining pairwise similarity matrix for cluster
//!   ensemble problem with cluster relations", Discovery Science (CTS, SRS).
//! - N. Iam-On, S. Garrett 2010: "LinkCluE: a MATLAB package for link-based cluster ensembles",
//!   Journal of Statistical Software 36(9), doi:10.18637/jss.v036.i09 (ASRS).
//! - N. Iam-On, T. Boongoen, S. Garrett, C. Price 2011: "A link-based approach to the cluster
//!   ensemble problem", IEEE TPAMI 33(12), doi:10.1109/TPAMI.2011.84 (WCT).
//! - G. Jeh, J. Widom 2002: "SimRank: a measure of structural-context similarity", KDD.
//! - Y. Jia, S. Tao, R. Wang, Y. Wang 2023: "Ensemble clustering via co-association matrix
//!   self-enhancement", IEEE TNNLS (EC-CMS).
//! - A. Lancichinetti, S. Fortunato 2012: "Consensus clustering in complex networks", Scientific
//!   Reports 2, 336, doi:10.1038/srep00336.
//! - Z. Li, X.-M. Wu, S.-F. Chang 2012: "Segmentation using superpixels: a bipartite graph
//!   partitioning approach", CVPR.
//! - A. Lourenço, S. Rota Bulò, N. Rebagliati, A. Fred, M. Figueiredo, M. Pelillo 2015:
//!   "Probabilistic consensus clustering using evidence accumulation", Machine Learning 98,
//!   331-357, doi:10.1007/s10994-013-5339-6 (PCC).
//! - U. von Luxburg 2010: "Clustering stability: an overview", Foundations and Trends in Machine
//!   Learning 2(3), doi:10.1561/2200000008.
//! - U. N. Raghavan, R. Albert, S. Kumara 2007: "Near linear time algorithm to detect community
//!   structures in large-scale networks", Physical Review E 76, doi:10.1103/PhysRevE.76.036106.
//! - A. Strehl, J. Ghosh 2002: "Cluster ensembles - a knowledge reuse framework for combining
//!   multiple partitions", JMLR 3, 583-617 (CSPA, HGPA, MCLA).
//! - A. Tandon and others 2019: "Fast consensus clustering in complex networks", Physical Review E
//!   99.
//! - A. Topchy, A. K. Jain, W. Punch 2003: "Combining multiple weak clusterings", ICDM (QMI).
//! - A. Topchy, A. K. Jain, W. Punch 2004: "A mixture model for clustering ensembles", SDM.
//! - A. Topchy, A. K. Jain, W. Punch 2005: "Clustering ensembles: models of consensus and weak
//!   partitions", IEEE TPAMI 27(12).
//! - J. Yi, T. Yang, R. Jin, A. K. Jain, M. Mahdavi 2012: "Robust ensemble clustering by matrix
//!   completion", ICDM (ECMC).
//! - X. Zhang, Y. Jia, M. Song, R. Wang 2025: "Similarity and dissimilarity guided co-association
//!   matrix construction for ensemble clustering", IEEE TKDE 37(11) (SDGCA).
//!
//! # Graphs, cuts and trees
//!
//! - M. R. Anderberg 1973: "Cluster analysis for applications", Academic Press.
//! - J. C. Bezdek, R. J. Hathaway 2002: "VAT: a tool for visual assessment of (cluster) tendency",
//!   IJCNN.
//! - C. M. Fiduccia, R. M. Mattheyses 1982: "A linear-time heuristic for improving network
//!   partitions", Design Automation Conference.
//! - G. Karypis, V. Kumar 1998: "A fast and high quality multilevel scheme for partitioning
//!   irregular graphs", SIAM Journal on Scientific Computing 20(1), doi:10.1137/S1064827595287997
//!   (METIS).
//! - G. Karypis, R. Aggarwal, V. Kumar, S. Shekhar 1999: "Multilevel hypergraph partitioning:
//!   applications in VLSI domain", IEEE Transactions on VLSI Systems 7(1).
//! - G. N. Lance, W. T. Williams 1967: "A general theory of classificatory sorting strategies: 1.
//!   Hierarchical systems", Computer Journal 9(4), doi:10.1093/comjnl/9.4.373.
//! - B. D. McKay 1981: "Practical graph isomorphism", Congressus Numerantium 30 (nauty).
//! - F. Murtagh 1983: "A survey of recent advances in hierarchical clustering algorithms", Computer
//!   Journal 26(4).
//! - A. Ng, M. Jordan, Y. Weiss 2001, printed 2002: "On spectral clustering: analysis and an
//!   algorithm", NIPS 14.
//! - J. Shi, J. Malik 2000: "Normalized cuts and image segmentation", IEEE TPAMI 22(8),
//!   doi:10.1109/34.868688.
//! - B. Weisfeiler, A. Leman 1968: "The reduction of a graph to canonical form and the algebra
//!   which appears therein", Nauchno-Technicheskaya Informatsia.
//!
//! # Scores, numbers of clusters, stability
//!
//! - T. M. Cover, J. A. Thomas 2006: "Elements of information theory", Wiley.
//! - D. F. Crouse 2016: "On implementing 2D rectangular assignment algorithms", IEEE Transactions
//!   on Aerospace and Electronic Systems 52.
//! - J. Edmonds, R. M. Karp 1972: "Theoretical improvements in algorithmic efficiency for network
//!   flow problems", Journal of the ACM 19(2).
//! - E. B. Fowlkes, C. L. Mallows 1983: "A method for comparing two hierarchical clusterings", JASA
//!   78, 553-569, doi:10.1080/01621459.1983.10478008.
//! - C. Hennig 2007: "Cluster-wise assessment of cluster stability", Computational Statistics and
//!   Data Analysis 52(1), doi:10.1016/j.csda.2006.11.025.
//! - L. Hubert, P. Arabie 1985: "Comparing partitions", Journal of Classification 2, 193-218,
//!   doi:10.1007/BF01908075.
//! - J. Lin 1991: "Divergence measures based on the Shannon entropy", IEEE Transactions on
//!   Information Theory 37, 145-151, doi:10.1109/18.61115.
//! - U. von Luxburg 2007: "A tutorial on spectral clustering", Statistics and Computing 17(4),
//!   doi:10.1007/s11222-007-9033-z.
//! - C. D. Manning, P. Raghavan, H. Schütze 2008: "Introduction to information retrieval",
//!   Cambridge University Press.
//! - M. Meilă, D. Heckerman 2001: "An experimental comparison of model-based clustering methods",
//!   Machine Learning 42, 9-29.
//! - M. Meilă 2007: "Comparing clusterings - an information based distance", Journal of
//!   Multivariate Analysis 98, 873-895, doi:10.1016/j.jmva.2006.11.013.
//! - S. Monti, P. Tamayo, J. Mesirov, T. Golub 2003: "Consensus clustering: a resampling-based
//!   method for class discovery and visualization of gene expression microarray data", Machine
//!   Learning 52, doi:10.1023/A:1023949509487.
//! - W. M. Rand 1971: "Objective criteria for the evaluation of clustering methods", JASA 66,
//!   846-850, doi:10.1080/01621459.1971.10482356.
//! - A. Rosenberg, J. Hirschberg 2007: "V-measure: a conditional entropy-based external cluster
//!   evaluation measure", EMNLP-CoNLL, 410-420.
//! - Y. Senbabaoglu, G. Michailidis, J. Z. Li 2014: "Critical limitations of consensus clustering
//!   in class discovery", Scientific Reports 4, 6207, doi:10.1038/srep06207.
//! - R. E. Tarjan 1983: "Data structures and network algorithms", SIAM.
//! - N. X. Vinh, J. Epps, J. Bailey 2010: "Information theoretic measures for clusterings
//!   comparison: variants, properties, normalization and correction for chance", JMLR 11,
//!   2837-2854.
//!
//! # Crowds, and matrices from few entries
//!
//! - D. M. Blei, M. I. Jordan 2006: "Variational inference for Dirichlet process mixtures",
//!   Bayesian Analysis 1(1).
//! - A. Chambolle, T. Pock 2011: "A first-order primal-dual algorithm for convex problems with
//!   applications to imaging", Journal of Mathematical Imaging and Vision 40(1),
//!   doi:10.1007/s10851-010-0251-1.
//! - A. P. Dawid, A. M. Skene 1979: "Maximum likelihood estimation of observer error-rates using
//!   the EM algorithm", Journal of the Royal Statistical Society C 28(1), doi:10.2307/2346806.
//! - R. Gomes, P. Welinder, A. Krause, P. Perona 2011: "Crowdclustering", NIPS 24.
//! - T. S. Jaakkola, M. I. Jordan 2000: "Bayesian parameter estimation via variational methods",
//!   Statistics and Computing 10.
//! - M. Keuper and others 2015: "Efficient decomposition of image and mesh graphs by lifted
//!   multicuts", ICCV.
//! - L. Kish 1965: "Survey sampling", Wiley.
//! - Z. Lin, M. Chen, Y. Ma 2010: "The augmented Lagrange multiplier method for exact recovery of
//!   corrupted low-rank matrices", arXiv:1009.5055.
//! - J. Yi, R. Jin, A. K. Jain, S. Jain, T. Yang 2012: "Semi-crowdsourced clustering: generalizing
//!   crowd labeling by robust distance metric learning", NIPS 25.
//! - J. Yi, L. Zhang, R. Jin, Q. Qian, A. K. Jain 2013: "Semi-supervised clustering by input
//!   pattern assisted pairwise similarity matrix completion", ICML.
//! - J. Yi 2014: "Data clustering with pairwise constraints", PhD thesis, Michigan State
//!   University. Chapter 3: crowds (RMC); 4: RDML; 5: MCCC; 6: constrained clustering by convex
//!   searching (CCCS).
//!
//! # Links that keep coming
//!
//! - Y. Nesterov 1983: "A method of solving a convex programming problem with convergence rate
//!   O(1/k^2)", Soviet Mathematics Doklady 27.
//! - B. O'Donoghue, E. Candès 2015: "Adaptive restart for accelerated gradient schemes",
//!   Foundations of Computational Mathematics 15.
//! - J. Yi, L. Zhang, T. Yang, W. Liu, J. Wang 2015: "An efficient semi-supervised clustering
//!   algorithm with sequential constraints", KDD (SCSC).
//!
//! # Metrics and constrained clusterers
//!
//! - A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall 2005: "Learning a Mahalanobis metric from
//!   equivalence constraints", JMLR 6 (RCA).
//! - S. Basu, A. Banerjee, R. Mooney 2002: "Semi-supervised clustering by seeding", ICML.
//! - S. Basu, A. Banerjee, R. Mooney 2004: "Active semi-supervision for pairwise constrained
//!   clustering", SDM (PCK-Means).
//! - S. J. Benson, Y. Ye, X. Zhang 2000: "Solving large-scale sparse semidefinite programs for
//!   combinatorial optimization", SIAM Journal on Optimization 10(2).
//! - M. Bilenko, S. Basu, R. Mooney 2004: "Integrating constraints and metric learning in
//!   semi-supervised clustering", ICML, doi:10.1145/1015330.1015360 (MPCK-Means).
//! - J. V. Davis, B. Kulis, P. Jain, S. Sra, I. S. Dhillon 2007: "Information-theoretic metric
//!   learning", ICML, doi:10.1145/1273496.1273523 (ITML).
//! - S. Deerwester, S. T. Dumais, G. W. Furnas, T. K. Landauer, R. Harshman 1990: "Indexing by
//!   latent semantic analysis", Journal of the American Society for Information Science 41(6).
//! - T. Gonzalez 1985: "Clustering to minimize the maximum intercluster distance", Theoretical
//!   Computer Science 38, doi:10.1016/0304-3975(85)90224-5.
//! - S. Hoi, W. Liu, M. Lyu, W.-Y. Ma 2006: "Learning distance metrics with contextual constraints
//!   for image retrieval", CVPR (DCA).
//! - O. Ledoit, M. Wolf 2004: "A well-conditioned estimator for large-dimensional covariance
//!   matrices", Journal of Multivariate Analysis 88(2), doi:10.1016/S0047-259X(03)00096-4.
//! - Z. Li, J. Liu 2009: "Constrained clustering by spectral kernel learning", ICCV (CCSKL).
//! - K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl 2001: "Constrained k-means clustering with
//!   background knowledge", ICML (COP-KMeans).
//! - K. Weinberger, L. Saul 2009: "Distance metric learning for large margin nearest neighbor
//!   classification", JMLR 10 (LMNN).
//! - E. Xing, A. Ng, M. Jordan, S. Russell 2003: "Distance metric learning, with application to
//!   clustering with side-information", NIPS 15 (MMC).
//! - J. Yang, Y. Xiao, J. Wang, Q. Ma, Y. Shen 2015: "A fast clustering algorithm for data with a
//!   few labeled instances", Computational Intelligence and Neuroscience, article 196098,
//!   doi:10.1155/2015/196098 (FPC, NNC, RSD).
//! - H. Zeng, Y. Cheung 2012: "Semi-supervised maximum margin clustering with pairwise
//!   constraints", IEEE TKDE 24(5) (PMMC).
//!
//! # Clusterings of features
//!
//! - D. Arthur, S. Vassilvitskii 2007: "k-means++: the advantages of careful seeding", SODA.
//! - J. C. Bezdek 1981: "Pattern recognition with fuzzy objective function algorithms", Plenum
//!   Press.
//! - S. Boriah, V. Chandola, V. Kumar 2008: "Similarity measures for categorical data: a
//!   comparative evaluation", SDM.
//! - X. Chen, D. Cai 2011: "Large scale spectral clustering with landmark-based representation",
//!   AAAI.
//! - R. Chitta, R. Jin, T. C. Havens, A. K. Jain 2011: "Approximate kernel k-means: solution to
//!   large scale kernel clustering", KDD.
//! - A. P. Dempster, N. M. Laird, D. B. Rubin 1977: "Maximum likelihood from incomplete data via
//!   the EM algorithm", Journal of the Royal Statistical Society B 39(1).
//! - I. S. Dhillon, D. S. Modha 2001: "Concept decompositions for large sparse text data using
//!   clustering", Machine Learning 42, doi:10.1023/A:1007612920971.
//! - D. W. Goodall 1966: "A new similarity index based on probability", Biometrics 22.
//! - M. Greenacre: "Correspondence analysis in practice", Chapman and Hall.
//! - Z. Huang 1998: "Extensions to the k-means algorithm for clustering large data sets with
//!   categorical values", Data Mining and Knowledge Discovery 2.
//! - S. Lloyd 1982: "Least squares quantization in PCM", IEEE Transactions on Information Theory
//!   28(2), doi:10.1109/TIT.1982.1056489.
//! - D. Müllner 2011: "Modern hierarchical, agglomerative clustering algorithms", arXiv:1109.2378.
//! - D. Sculley 2010: "Web-scale k-means clustering", WWW, doi:10.1145/1772690.1772862.
//! - L. Xu, A. Krzyzak, E. Oja 1993: "Rival penalized competitive learning for clustering analysis,
//!   RBF net, and curve detection", IEEE Transactions on Neural Networks 4(4) (RPCL).
//! - L. Zelnik-Manor, P. Perona 2004: "Self-tuning spectral clustering", NIPS 17.
//!
//! # Numerical kernels
//!
//! - A. A. Amini, A. Chen, P. J. Bickel, E. Levina 2013: "Pseudo-likelihood methods for community
//!   detection in large sparse networks", Annals of Statistics 41(4).
//! - Y. Bengio and others 2004: "Out-of-sample extensions for LLE, Isomap, MDS, Eigenmaps, and
//!   spectral clustering", NIPS 16.
//! - G. H. Golub, R. Underwood 1977: "The block Lanczos method for computing eigenvalues",
//!   Mathematical Software III.
//! - N. Halko, P.-G. Martinsson, J. A. Tropp 2011: "Finding structure with randomness:
//!   probabilistic algorithms for constructing approximate matrix decompositions", SIAM Review
//!   53(2), doi:10.1137/090771806.
//! - M. Held, P. Wolfe, H. P. Crowder 1974: "Validation of subgradient optimization", Mathematical
//!   Programming 6, doi:10.1007/BF01580223.
//! - A. Stathopoulos, K. Wu 2002: "A block orthogonalization procedure with constant
//!   synchronization requirements", SIAM Journal on Scientific Computing 23.
//! - K. Wu, H. Simon 2000: "Thick-restart Lanczos method for large symmetric eigenvalue problems",
//!   SIAM Journal on Matrix Analysis and Applications 22.
