"""The Python side of `peers` (eval/src/bin/peers), which starts it:

    peers.py make DATA FOLDER      writes one of the data sets, from a seed
    peers.py run TASK FOLDER       loads what a task needs, then runs it once for every line that it reads

A run answers with one line: seconds, bytes (how far memory rose above what was there before), score.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time

# No package may be taken for a file beside this one.
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]

import numpy as np

# --------------------------------------------------------------------------------------------------
# Data


def blobs(rng, n, d, k, spread):
    centres = rng.uniform(-1, 1, (k, d))
    y = rng.integers(0, k, n)
    return centres[y] + rng.normal(0, spread, (n, d)), y


def rows(rng):
    x, y = blobs(rng, 100_000, 32, 20, 1.2)
    return {"x": x, "y": y, "start": x[:20].copy()}


def batches(rng):
    x, y = blobs(rng, 102_400, 32, 20, 0.5)
    return {"x": x, "y": y}


def texts(rng):
    """Each text has one of twenty topics: a word is one of all words with Zipf's frequencies, or,
    two times in five, of the topic's own order of words. Counts become tf-idf, rows have length 1."""
    import scipy.sparse as sp

    n, d = 18_800, 61_000
    cumulated = np.cumsum(1.0 / (np.arange(d) + 10.0))
    cumulated /= cumulated[-1]
    orders = np.stack([rng.permutation(d) for _ in range(20)])
    length = np.maximum(rng.lognormal(np.log(120), 0.5, n).astype(int), 5)
    row = np.repeat(np.arange(n), length)
    word = np.searchsorted(cumulated, rng.random(len(row)))
    own = rng.random(len(row)) < 0.4
    topic = rng.integers(0, 20, n)
    word[own] = orders[topic[row][own], word[own]]
    x = sp.csr_matrix((np.ones(len(row)), (row, word)), shape=(n, d))
    x.sum_duplicates()
    df = np.bincount(x.indices, minlength=d)
    x.data = (1 + np.log(x.data)) * np.log(n / np.maximum(df, 1))[x.indices]
    x = sp.csr_matrix(x.multiply(1 / np.sqrt(np.asarray(x.multiply(x).sum(1)))))
    x.sort_indices()
    return {"texts": x, "y": topic, "start": x[rng.choice(n, 20, replace=False)].toarray()}


def groups(rng):
    x, y = blobs(rng, 2_000, 10, 10, 0.35)
    return {"x": x, "y": y}


def points(rng):
    x, y = blobs(rng, 4_000, 16, 10, 0.4)
    return {"x": x, "y": y}


def labels(rng):
    a = rng.integers(0, 50, 1_000_000)
    return {"a": a, "b": np.where(rng.random(len(a)) < 0.3, rng.integers(0, 60, len(a)), a)}


def votes(rng):
    """Twenty noisy copies of ten clusters."""
    y = rng.permutation(np.arange(2_000) % 10)
    noisy = rng.random((2_000, 20)) < 0.2
    return {"labels": np.where(noisy, rng.integers(0, 11, noisy.shape), y[:, None]), "y": y}


def members(rng):
    """Each object at the nearest of 2 to 50 objects in a random half of ten dimensions."""
    n, y = 5_000, np.arange(5_000) % 10
    x = 4 * rng.normal(size=(10, 10))[y] + 1.5 * rng.normal(size=(n, 10))
    columns = []
    for _ in range(10):
        dims = rng.permutation(10)[:5]
        seeds = x[rng.integers(0, n, rng.integers(2, 51))][:, dims]
        near = ((x[:, None, dims] - seeds[None]) ** 2).sum(2).argmin(1)
        columns.append(np.unique(near, return_inverse=True)[1])
    return {"labels": np.array(columns).T.astype(np.int64), "y": y}


def linked(rng, x, y, per_class=5):
    """z-scored features, 100 links of either kind, ten times as many to judge by, and some labels."""
    s = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(s > 0, s, 1)
    out, seen = {"x": x, "y": y}, set()
    for names, count in ((("must", "cannot"), 100), (("held_must", "held_cannot"), 1000)):
        for name in names:
            some = []
            while len(some) < count:
                i, j = sorted(rng.integers(0, len(y), 2))
                if i != j and (y[i] == y[j]) == name.endswith("must") and (i, j) not in seen:
                    seen.add((i, j))
                    some.append((i, j))
            out[name] = np.array(some, dtype=np.int64)
    out["labels"] = np.full(len(y), -1, dtype=np.int64)
    for c in np.unique(y):
        out["labels"][rng.permutation(np.flatnonzero(y == c))[:per_class]] = c
    return out


def links(rng):
    y = rng.integers(0, 3, 400)
    x = np.eye(3)[y] @ rng.normal(0, 1.2, (3, 20)) + rng.normal(0, 1, (400, 20))
    return linked(rng, x, y, per_class=12)


def features(rng, name):
    """A set of the data folder, at most 400 objects."""
    folder = os.environ.get("CONSILIENCE_DATA", "../shared/data")
    d = np.load(f"{folder}/features/{name}.npz")
    x, y = d["x"].astype(float), d["y"].astype(np.int64)
    x = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    keep = np.sort(rng.permutation(len(y))[:400])
    return linked(rng, x[keep], y[keep])


def answers(rng):
    """5,000 pairs of 300 objects, each judged by five of thirty workers of different care."""
    n, k, y = 300, 6, np.arange(300) % 6
    care = rng.uniform(0.65, 0.95, 30)
    pairs = rng.permutation(n * (n - 1) // 2)[:5_000]
    i, j = (index[pairs] for index in np.triu_indices(n, 1))
    worker = np.stack([rng.permutation(30)[:5] for _ in pairs])
    same = (y[i] == y[j])[:, None]
    said = np.where(rng.random(worker.shape) < care[worker], same, ~same)
    table = np.stack([worker, *(np.repeat(a[:, None], 5, 1) for a in (i, j)), said], 2)
    return {"answers": table.reshape(-1, 4).astype(np.int64), "y": y}


def make(data, folder):
    os.makedirs(folder, exist_ok=True)
    name, _, which = data.partition("-")
    rng = np.random.default_rng(1)
    made = globals()[name](rng, which) if which else globals()[name](rng)
    for what, array in made.items():
        if what == "texts":
            import scipy.sparse as sp

            sp.save_npz(f"{folder}/x.npz", array, compressed=False)
        else:
            np.save(f"{folder}/{what}.npy", array)
        if data == "votes":  # for R and Octave
            np.savetxt(f"{folder}/{what}.csv", array, fmt="%d", delimiter=",")


# --------------------------------------------------------------------------------------------------
# Tasks: what is timed is called without arguments, and gives what computes the score


def load(folder, *names):
    return [np.load(f"{folder}/{name}.npy") for name in names]


def ari(truth):
    from sklearn.metrics import adjusted_rand_score

    return lambda found: adjusted_rand_score(truth, np.asarray(found))


def inertia_of(x):
    def score(found):
        return sum(((x[found == c] - x[found == c].mean(0)) ** 2).sum() for c in np.unique(found))

    return score


def kmeans(folder, dtype=np.float64, sparse=False):
    from sklearn.cluster import KMeans

    if sparse:
        import scipy.sparse as sp

        x = sp.load_npz(f"{folder}/x.npz")
    else:
        x = np.load(f"{folder}/x.npy").astype(dtype)
    start = np.load(f"{folder}/start.npy").astype(dtype)
    model = KMeans(20, init=start, n_init=1, max_iter=10, tol=0, algorithm="lloyd")
    return lambda: model.fit(x), lambda found: found.inertia_


def mini_batch(folder):
    from sklearn.cluster import MiniBatchKMeans

    (x,) = load(folder, "x")
    model = MiniBatchKMeans(20, batch_size=1024, max_iter=1, n_init=1, max_no_improvement=None, random_state=0)
    return lambda: model.fit_predict(x), inertia_of(x)


def spectral(folder):
    from sklearn.cluster import SpectralClustering

    x, y = load(folder, "x", "y")
    model = SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
    return lambda: model.fit_predict(x), ari(y)


def scores(folder):
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    a, b = load(folder, "a", "b")
    return lambda: (adjusted_rand_score(a, b), normalized_mutual_info_score(a, b)), lambda found: sum(found)


def tree(method, package):
    def task(folder):
        from scipy.cluster.hierarchy import fcluster

        x, y = load(folder, "x", "y")
        if package == "scipy":
            from scipy.cluster.hierarchy import linkage
        else:
            from fastcluster import linkage
        return lambda: fcluster(linkage(x, method), 10, "maxclust"), ari(y)

    return task


def one_hot(labels):
    return np.concatenate([np.eye(c.max() + 1)[c] for c in labels.T], axis=1)


def cut_tree(similarity, k):
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    d = np.maximum(1 - similarity, 0)
    np.fill_diagonal(d, 0)
    return fcluster(linkage(squareform(d, checks=False), "average"), k, "maxclust")


def eac(labels):
    b = one_hot(labels).astype(np.float32)
    return cut_tree(b @ b.T / labels.shape[1], 10)


def index_weighted(labels):
    b = one_hot(labels)
    p = (b.T @ b) / b.sum(0)[:, None]
    h = -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0).sum(1)
    return b, np.exp(-h / (0.4 * labels.shape[1]))


def lwea(labels):
    b, w = index_weighted(labels)
    return cut_tree((b * w) @ b.T / labels.shape[1], 10)


def weac(labels):
    from sklearn.metrics import normalized_mutual_info_score as nmi

    m = labels.T
    mean = lambda u: np.mean([nmi(m[u], v, average_method="max") for i, v in enumerate(m) if i != u])
    agreement = np.array([mean(u) for u in range(len(m))])
    w = (agreement / agreement.max()) ** 2
    b = one_hot(labels)
    return cut_tree((b * np.repeat(w, [c.max() + 1 for c in m])) @ b.T / w.sum(), 10)


def lwgp(labels):
    from sklearn.cluster import KMeans

    b, w = index_weighted(labels)
    b = b * w
    x = b / np.sqrt(b.sum(1, keepdims=True)) / np.sqrt(b.sum(0))
    f = x @ np.linalg.eigh(x.T @ x)[1][:, -10:]
    return KMeans(10, n_init=3, random_state=0).fit_predict(f / np.linalg.norm(f, axis=1, keepdims=True))


def qmi(labels):
    from sklearn.cluster import KMeans

    x = one_hot(labels)
    return KMeans(10, n_init=10, random_state=0).fit_predict(x - x.mean(0))


def mixture(labels):
    from stepmix.stepmix import StepMix

    model = StepMix(10, measurement="categorical", n_init=5, max_iter=300, random_state=0, progress_bar=0, verbose=0)
    return model.fit(labels).predict(labels)


def ensemble_clustering(solver):
    def method(labels):
        from ensembleclustering.ClusterEnsembles import cluster_ensembles

        return cluster_ensembles(labels.T.astype(float), nclass=10, solver=solver, random_state=0)

    return method


def consensus(method, *packages):
    def task(folder):
        for package in packages:  # before anything is measured
            importlib.import_module(package)
        found, y = load(folder, "labels", "y")
        return lambda: method(found), ari(y)

    return task


def metric(name):
    """The score is the share of unseen (must-link, cannot-link) couples that the metric ranks right."""

    def task(folder):
        import metric_learn
        from sklearn.metrics import roc_auc_score

        x, y, must, cannot, held_must, held_cannot, some = load(
            folder, "x", "y", "must", "cannot", "held_must", "held_cannot", "labels"
        )
        pairs = np.r_[x[must], x[cannot]]
        sign = np.r_[np.ones(len(must), int), -np.ones(len(cannot), int)]
        known = some >= 0
        learn = {
            "itml": lambda: metric_learn.ITML().fit(pairs, sign),
            "mmc": lambda: metric_learn.MMC().fit(pairs, sign),
            "mmc-diagonal": lambda: metric_learn.MMC(diagonal=True).fit(pairs, sign),
            "rca": lambda: metric_learn.RCA().fit(x, np.where(known, some, -1)),
            "lmnn": lambda: metric_learn.LMNN(n_neighbors=3).fit(x[known], some[known]),
        }[name]

        def score(found):
            z = x @ np.linalg.cholesky(found.get_mahalanobis_matrix() + 1e-12 * np.eye(x.shape[1]))
            far = lambda p: ((z[p[:, 0]] - z[p[:, 1]]) ** 2).sum(1)
            truth = np.r_[np.zeros(len(held_must)), np.ones(len(held_cannot))]
            return roc_auc_score(truth, np.r_[far(held_must), far(held_cannot)])

        return learn, score

    return task


def constrained(name):
    def task(folder):
        from active_semi_clustering.semi_supervised import pairwise_constraints

        x, y, some = load(folder, "x", "y", "labels")
        known = np.flatnonzero(some >= 0)
        pairs = [(i, j) for i in known for j in known if i < j]
        must = [(i, j) for i, j in pairs if some[i] == some[j]]
        cannot = [(i, j) for i, j in pairs if some[i] != some[j]]
        method = getattr(pairwise_constraints, name)

        def run():
            np.random.seed(0)
            return method(n_clusters=len(np.unique(y))).fit(x, ml=must, cl=cannot).labels_

        return run, ari(y)

    return task


def dawid_skene(folder):
    """Pairs as items, then eigenvectors of the posteriors and k-means, as ours has it."""
    import pandas
    from crowdkit.aggregation import DawidSkene
    from sklearn.cluster import KMeans

    found, y = load(folder, "answers", "y")
    n = len(y)

    def run():
        task = found[:, 1] * n + found[:, 2]
        table = pandas.DataFrame({"task": task, "worker": found[:, 0], "label": found[:, 3]})
        posterior = DawidSkene(n_iter=100).fit_predict_proba(table)
        s = np.full((n, n), posterior[1].mean())
        i, j = posterior.index.to_numpy() // n, posterior.index.to_numpy() % n
        s[i, j] = s[j, i] = posterior[1].to_numpy()
        values, vectors = np.linalg.eigh(s)
        return KMeans(6, n_init=10, random_state=0).fit_predict(vectors[:, -6:] * values[-6:])

    return run, ari(y)


TASKS = {
    "kmeans-f64": kmeans,
    "kmeans-f32": lambda folder: kmeans(folder, np.float32),
    "kmeans-sparse": lambda folder: kmeans(folder, sparse=True),
    "mini-batch": mini_batch,
    "spectral": spectral,
    "scores": scores,
    "tree-average-scipy": tree("average", "scipy"),
    "tree-average-fastcluster": tree("average", "fastcluster"),
    "tree-ward-scipy": tree("ward", "scipy"),
    "tree-ward-fastcluster": tree("ward", "fastcluster"),
    "eac": consensus(eac, "scipy.cluster.hierarchy"),
    "weac": consensus(weac, "scipy.cluster.hierarchy", "sklearn.metrics"),
    "lwea": consensus(lwea, "scipy.cluster.hierarchy"),
    "lwgp": consensus(lwgp, "sklearn.cluster"),
    "qmi": consensus(qmi, "sklearn.cluster"),
    "mixture": consensus(mixture, "stepmix.stepmix"),
    **{
        name: consensus(ensemble_clustering(name), "ensembleclustering.ClusterEnsembles")
        for name in ("cspa", "hgpa", "mcla", "hbgf")
    },
    **{name: metric(name) for name in ("itml", "mmc", "mmc-diagonal", "rca", "lmnn")},
    "pck-means": constrained("PCKMeans"),
    "mpck-means": constrained("MPCKMeans"),
    "cop-kmeans": constrained("COPKMeans"),
    "dawid-skene": dawid_skene,
}

# --------------------------------------------------------------------------------------------------
# Measuring


def memory(field):
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith(field)), 0)


def forget_peak():
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        pass


def run(task, folder):
    import warnings

    warnings.filterwarnings("ignore")
    work, score = TASKS[task](folder)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print is no answer
    print(json.dumps({"ready": True}), file=answer, flush=True)
    for _ in sys.stdin:
        forget_peak()
        before = memory("VmRSS")
        begin = time.perf_counter()
        found = work()
        seconds = time.perf_counter() - begin
        rose = max(memory("VmHWM") - before, 0)
        print(json.dumps({"seconds": seconds, "bytes": rose, "score": float(score(found))}), file=answer, flush=True)


def versions(packages):
    installed = {}
    for package in packages:
        try:
            installed[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    print(json.dumps(installed))


if __name__ == "__main__":
    {"make": make, "run": run, "versions": lambda *packages: versions(packages)}[sys.argv[1]](*sys.argv[2:])
