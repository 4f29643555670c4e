"""Times Python peers of the graph methods on one ensemble, and writes it where the bench can read it.

    pip install numpy scipy scikit-learn
    pip install --no-deps ensembleclustering pymetis kahypar     # its pins are older than this Python
    python eval/peers/ensembles.py 11000 10 50 10 ensemble.npy   # objects, members, most clusters, k, file
    CONSILIENCE_ENSEMBLE=$PWD/ensemble.npy CONSILIENCE_CLUSTERS=10 cargo bench -p consilience-tests --bench graph -- given

Peers: average linkage of scipy on the co-association matrix (EAC) and on the same with entropy or agreement
weights, written with matrix products; HBGF of ensembleclustering (METIS; on a newer scipy, METIS
on the same graph). A peer that is not there is skipped.
"""

import sys
import time

import numpy as np


def members(n, count, most, rng):
    """As the bench makes them: each object at the nearest of k objects in a random half of ten dimensions."""
    centres = 4 * rng.normal(size=(10, 10))
    x = centres[np.arange(n) % 10] + 1.5 * rng.normal(size=(n, 10))
    columns = []
    for _ in range(count):
        k = rng.integers(2, most + 1)
        dims = rng.permutation(10)[:5]
        seeds = x[rng.integers(0, n, k)][:, dims]
        d = ((x[:, None, dims] - seeds[None]) ** 2).sum(2)
        columns.append(np.unique(d.argmin(1), return_inverse=True)[1])
    return np.array(columns).T.astype(np.int64)


def one_hot(labels):
    return np.concatenate([np.eye(c.max() + 1)[c] for c in labels.T], axis=1)


def average_link(s, k):
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    d = np.maximum(1 - s, 0)
    np.fill_diagonal(d, 0)
    return fcluster(linkage(squareform(d, checks=False), "average"), k, "maxclust")


def eac(labels, k):
    b = one_hot(labels).astype(np.float32)
    return average_link(b @ b.T / labels.shape[1], k)


def lwea(labels, k):
    b = one_hot(labels)
    p = (b.T @ b) / b.sum(0)[:, None]
    h = -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0).sum(1)
    w = np.exp(-h / (0.4 * labels.shape[1]))
    return average_link((b * w) @ b.T / labels.shape[1], k)


def weac(labels, k):
    from sklearn.metrics import normalized_mutual_info_score as nmi

    m = labels.shape[1]
    cai = np.array([np.mean([nmi(labels[:, u], labels[:, v], average_method="max") for v in range(m) if v != u])
                    for u in range(m)])
    w = (cai / cai.max()) ** 2
    b = one_hot(labels)
    per = np.repeat(w, [c.max() + 1 for c in labels.T])
    return average_link((b * per) @ b.T / w.sum(), k)


def lwgp(labels, k):
    from sklearn.cluster import KMeans

    b = one_hot(labels)
    p = (b.T @ b) / b.sum(0)[:, None]
    h = -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0).sum(1)
    b = b * np.exp(-h / (0.4 * labels.shape[1]))
    x = b / np.sqrt(b.sum(1, keepdims=True)) / np.sqrt(b.sum(0))
    v = np.linalg.eigh(x.T @ x)[1][:, -k:]
    f = x @ v
    return KMeans(k, n_init=3).fit_predict(f / np.linalg.norm(f, axis=1, keepdims=True))


def hbgf(labels, k):
    import pymetis
    from scipy.sparse import bmat, csr_matrix

    try:
        from ensembleclustering.ClusterEnsembles import hbgf as theirs

        return theirs(labels.T, k)
    except (AttributeError, ImportError):
        # The package needs scipy < 1.13. Its cut is METIS on this graph, built here faster than it does.
        a = csr_matrix(one_hot(labels))
        w = csr_matrix(bmat([[None, a.T], [a, None]]))
        return np.array(pymetis.part_graph(nparts=k, xadj=w.indptr, adjncy=w.indices)[1][a.shape[1]:])


def main():
    n, count, most, k = map(int, sys.argv[1:5])
    labels = members(n, count, most, np.random.default_rng(1))
    np.save(sys.argv[5], labels)
    nodes = len(np.unique(labels, axis=0))
    print(f"{n} objects, {count} members, {sum(c.max() + 1 for c in labels.T)} clusters, {nodes} microclusters")
    wanted = sys.argv[6:] or ["hbgf", "lwgp", "eac", "weac", "lwea"]
    for name in wanted:
        start = time.perf_counter()
        try:
            globals()[name](labels, k)
        except Exception as e:
            print(f"{name}: skipped, {type(e).__name__}: {e}")
            continue
        print(f"{name}: {time.perf_counter() - start:.3f} s", flush=True)


main()
