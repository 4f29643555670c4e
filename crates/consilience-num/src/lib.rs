//! Numerical kernels without clustering words: symmetric eigenpairs, k-means on rows, sparse
//! products, ordered parallel reductions, projection onto the simplex, the assignment problem.
