"""CSPA, HGPA, MCLA and the link-based similarities of other tools on the first draw of reference pools.

    python eval/peers/cuts.py $CONSILIENCE_DATA/pools MF IS VS Semeion

Needs numpy, scipy and scikit-learn; `pip install ensembleclustering --no-deps` and `pip install pymetis kahypar` for the three
classics (those that cannot be imported are left out). No Python package has WCT or SRS: they are timed as numpy
writes them down most directly, whole matrices at a time, with scipy's average linkage. Each prints the median of
three runs of the call alone, and the NMI (maximum normaliser) it ended with. Ours on the same draws:

    cargo bench -p consilience-tests --bench cuts
    cargo test -p consilience-tests --release --test cuts -- --nocapture
"""

import json
import pathlib
import statistics
import sys
import time

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import mutual_info_score


def nmi(a, b):
    def entropy(x):
        p = np.unique(x, return_counts=True)[1] / len(x)
        return -(p * np.log(p)).sum()

    return mutual_info_score(a, b) / max(entropy(a), entropy(b))


def incidence(labels):
    """Objects x clusters, and the member of each cluster."""
    blocks = [labels[:, [m]] == np.unique(labels[:, m]) for m in range(labels.shape[1])]
    return np.hstack(blocks).astype(float), np.repeat(range(len(blocks)), [b.shape[1] for b in blocks])


def average_link(similarity, k):
    distance = 1 - similarity
    np.fill_diagonal(distance, 0)
    return fcluster(linkage(squareform(distance, checks=False), "average"), k, "maxclust")


def wct_al(labels, k, decay=0.9):
    h, member = incidence(labels)
    both = h.T @ h
    jaccard = both / (h.sum(0)[:, None] + h.sum(0) - both)
    np.fill_diagonal(jaccard, 0)
    triples = np.array([np.minimum(row, jaccard).sum(1) for row in jaccard])
    triples *= member[:, None] == member
    np.fill_diagonal(triples, 0)
    links = decay * triples / triples.max()
    np.fill_diagonal(links, 1)
    return average_link(h @ links @ h.T / labels.shape[1], k)


def srs_al(labels, k, decay=0.8, rounds=5):
    h, _ = incidence(labels)
    m, sizes = labels.shape[1], h.sum(0)
    objects, clusters = np.eye(len(h)), np.eye(h.shape[1])
    for _ in range(rounds):
        following = decay * (h @ clusters @ h.T) / m**2
        clusters = decay * (h.T @ objects @ h) / np.outer(sizes, sizes)
        np.fill_diagonal(following, 1)
        np.fill_diagonal(clusters, 1)
        objects = following
    return average_link(objects, k)


methods = {"wct-al (numpy)": wct_al, "srs-al (numpy)": srs_al}
try:
    from ensembleclustering.ClusterEnsembles import cluster_ensembles

    for name in ("cspa", "hgpa", "mcla"):
        methods[f"{name} (ensembleclustering)"] = lambda labels, k, name=name: cluster_ensembles(
            labels.T.astype(float), nclass=k, solver=name, random_state=0
        )
except ImportError as missing:
    print("ensembleclustering left out:", missing)

folder = pathlib.Path(sys.argv[1])
for pool in sys.argv[2:]:
    data = np.load(folder / f"{pool}.npz")
    golden = json.loads((folder / f"golden_{pool}.json").read_text())
    labels, k = data["labels"][:, golden["draws"][0]["columns"]], golden["true_k"]
    for name, method in methods.items():
        seconds = []
        for _ in range(3):
            begin = time.perf_counter()
            try:
                found = method(labels, k)
            except Exception as failure:
                print(f"{pool} {name}: {failure!r}")
                break
            seconds.append(time.perf_counter() - begin)
        else:
            score = nmi(found, data["truth"])
            print(f"{pool} {name}: {statistics.median(seconds):.4f} s, NMI {score:.4f}", flush=True)
