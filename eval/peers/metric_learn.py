"""Metric learners beside metric-learn 0.7, on the same pairs.

    pip install metric-learn==0.7.0 "scikit-learn<1.6" "numpy<2"
    python eval/peers/metric_learn.py $CONSILIENCE_DATA/features /tmp/metrics
    cargo run --release --manifest-path eval/Cargo.toml --bin metric_learners -- /tmp/metrics

Writes for every set and draw the z-scored features, labels and pairs, and prints for every method: mean seconds, the
share of (must-link, cannot-link) couples that the metric ranks right (AUC of the distance) among the pairs given and among
ten times as many that were not, and the leave-one-out 1-NN accuracy of all objects. ITML and MMC learn from 100 pairs of
either kind, RCA and LMNN from five labels per class. `metric_learners` prints the same of ours, from the same files. One thread
(OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1) makes seconds comparable.
"""
import os
import sys
import time
import warnings

# This folder has a file of the package's name.
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]

import numpy as np
from metric_learn import ITML, LMNN, MMC, RCA
from sklearn.metrics import roc_auc_score

warnings.filterwarnings("ignore")
SETS = ["balance", "ecoli", "hepatitis", "ionosphere", "segmentation", "voting", "yeast", "mfeat_pix"]
DRAWS, PAIRS, MOST = 3, 100, 1000


def load(folder, name):
    d = np.load(f"{folder}/{name}.npz")
    x, y = d["x"].astype(float), d["y"].astype(np.int32)
    if name == "mfeat_pix":
        # Every fourth column: metric-learn takes minutes on all 240.
        x = x[:, ::4]
    x = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    keep = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
    x, y = x[keep], y[keep]
    s = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(s > 0, s, 1), y


def draw(y, seed):
    """PAIRS must-links and PAIRS cannot-links for learning, ten times as many for judging, and 5 labels a class."""
    rng = np.random.default_rng(seed)
    n, seen, out = len(y), set(), []
    for count in (PAIRS, 10 * PAIRS):
        for same in (True, False):
            some = []
            while len(some) < count:
                i, j = sorted(rng.integers(0, n, 2))
                if i != j and (y[i] == y[j]) == same and (i, j) not in seen:
                    seen.add((i, j))
                    some.append((i, j))
            out.append(np.array(some, dtype=np.int64))
    labels = np.full(n, -1, dtype=np.int64)
    for c in np.unique(y):
        labels[rng.permutation(np.flatnonzero(y == c))[:5]] = c
    return (*out, labels)


def judge(x, y, given, held, m):
    w, v = np.linalg.eigh(m)
    z = x @ (v * np.sqrt(np.maximum(w, 0)))
    far = lambda p: ((z[p[:, 0]] - z[p[:, 1]]) ** 2).sum(1)
    auc = [
        roc_auc_score(np.r_[np.zeros(len(must)), np.ones(len(cannot))], np.r_[far(must), far(cannot)])
        for must, cannot in (given, held)
    ]
    d = (z**2).sum(1)[:, None] + (z**2).sum(1) - 2 * z @ z.T
    np.fill_diagonal(d, np.inf)
    return *auc, (y[d.argmin(1)] == y).mean()


def main(folder, out, sets=""):
    os.makedirs(out, exist_ok=True)
    print("set,method,seconds,given,held,one_nn")
    for name in sets.split(",") if sets else SETS:
        x, y = load(folder, name)
        rows = {}
        for seed in range(DRAWS):
            must, cannot, held_must, held_cannot, labels = draw(y, seed)
            at = f"{out}/{name}-{seed}"
            np.save(f"{at}-x.npy", x)
            np.save(f"{at}-y.npy", y.astype(np.int64))
            for what, pairs in (("must", must), ("cannot", cannot), ("held-must", held_must), ("held-cannot", held_cannot)):
                np.save(f"{at}-{what}.npy", pairs)
            np.save(f"{at}-labels.npy", labels)
            pairs = np.r_[x[must], x[cannot]]
            sign = np.r_[np.ones(len(must), int), -np.ones(len(cannot), int)]
            some = labels >= 0
            chunks = np.full(len(y), -1)
            chunks[some] = np.unique(labels[some], return_inverse=True)[1]
            known = np.flatnonzero(some)
            i, j = known[np.triu_indices(len(known), 1)[0]], known[np.triu_indices(len(known), 1)[1]]
            alike = labels[i] == labels[j]
            of_labels = np.c_[i, j][alike], np.c_[i, j][~alike]
            methods = {
                "euclidean": lambda: np.eye(x.shape[1]),
                "itml": lambda: ITML().fit(pairs, sign).get_mahalanobis_matrix(),
                "mmc": lambda: MMC().fit(pairs, sign).get_mahalanobis_matrix(),
                "mmc-diagonal": lambda: MMC(diagonal=True).fit(pairs, sign).get_mahalanobis_matrix(),
                "rca": lambda: RCA().fit(x, chunks).get_mahalanobis_matrix(),
                "lmnn": lambda: LMNN(n_neighbors=3).fit(x[some], labels[some]).get_mahalanobis_matrix(),
            }
            for method, learn in methods.items():
                start = time.perf_counter()
                try:
                    m = learn()
                    seconds = time.perf_counter() - start
                    given = of_labels if method in ("rca", "lmnn") else (must, cannot)
                    judged = judge(x, y, given, (held_must, held_cannot), m)
                except Exception as error:
                    print(f"# {name} {seed} {method}: {type(error).__name__} {error}"[:160], file=sys.stderr)
                    continue
                rows.setdefault(method, []).append((seconds, *judged))
        for method, seen in rows.items():
            s, given, held, nn = np.mean(seen, axis=0)
            print(f"{name},{method},{s:.4f},{given:.3f},{held:.3f},{nn:.3f}" + ("" if len(seen) == DRAWS else f" ({len(seen)} of {DRAWS} draws)"), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
