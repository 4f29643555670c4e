"""PCK-Means, MPCK-Means and COP-KMeans beside active-semi-supervised-clustering 0.0.1, on the same pairs.

    pip install active-semi-supervised-clustering "numpy<2"
    python eval/peers/constrained_kmeans.py $CONSILIENCE_DATA/features /tmp/constrained
    cargo run --release --manifest-path eval/Cargo.toml --bin metric_learners -- --clusterers /tmp/constrained

Features to [1, 2], five labels per class closed into pairs (two for ecoli), as in the protocol of `few_labels`. Prints seconds
(one run) and the Rand index; `metric_learners` prints the same of ours, from the same files. The package's MPCK-Means compares
all pairs of objects in Python: sets above 400 objects are cut to 400 for it.
"""
import os
import sys
import time
import warnings

# This folder has a file of the package's name.
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]

import numpy as np
from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans, MPCKMeans, PCKMeans

warnings.filterwarnings("ignore")
SETS = ["balance", "ecoli", "hepatitis", "ionosphere", "soybean_small", "voting", "segmentation"]
MOST = 400


def load(folder, name):
    d = np.load(f"{folder}/{name}.npz")
    x, y = d["x"].astype(float), d["y"].astype(np.int64)
    x = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    keep = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
    x, y = x[keep], y[keep]
    low, high = x.min(axis=0), x.max(axis=0)
    return 1 + (x - low) / np.where(high > low, high - low, 1), y


def rand_index(a, b):
    same = (a[:, None] == a) == (b[:, None] == b)
    n = len(a)
    return (same.sum() - n) / (n * (n - 1))


def main(folder, out):
    os.makedirs(out, exist_ok=True)
    print("set,method,seconds,rand")
    for name in SETS:
        x, y = load(folder, name)
        rng = np.random.default_rng(1)
        labels = np.full(len(y), -1, dtype=np.int64)
        for c in np.unique(y):
            labels[rng.permutation(np.flatnonzero(y == c))[: 2 if name == "ecoli" else 5]] = c
        for what, array in (("x", x), ("y", y), ("labels", labels)):
            np.save(f"{out}/{name}-{what}.npy", array)
        known = np.flatnonzero(labels >= 0)
        must = [(i, j) for i in known for j in known if i < j and labels[i] == labels[j]]
        cannot = [(i, j) for i in known for j in known if i < j and labels[i] != labels[j]]
        k = len(np.unique(y))
        for method in (PCKMeans, MPCKMeans, COPKMeans):
            np.random.seed(0)
            start = time.perf_counter()
            try:
                found = method(n_clusters=k).fit(x, ml=must, cl=cannot).labels_
                print(f"{name},{method.__name__},{time.perf_counter() - start:.4f},{rand_index(np.asarray(found), y):.3f}", flush=True)
            except BaseException as error:
                print(f"{name},{method.__name__},{time.perf_counter() - start:.4f},failed: {type(error).__name__}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
