"""k-means on sparse rows, k = 20, ten Lloyd iterations from the same start: writes the data and times scikit-learn.

    python eval/peers/sparse.py /tmp/sparse newsgroups
    cargo run --release --manifest-path eval/Cargo.toml --bin sparse -- /tmp/sparse

Needs numpy, scipy and scikit-learn. The sizes are newsgroups (18,800 x 61,000, some 2.4 million
entries) and rcv1 (800,000 x 47,000, some 60 million). Texts have one of twenty topics each: a word
is one of all words with Zipf's frequencies, or, two times in five, of the topic's own order of
words with the same frequencies. Counts become tf-idf, rows have length 1. Prints the median of five
runs and the inertia.
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.cluster import KMeans

SIZES = {"newsgroups": (18_800, 61_000, 120), "rcv1": (800_000, 47_000, 71)}
folder, size = pathlib.Path(sys.argv[1]), sys.argv[2]
folder.mkdir(parents=True, exist_ok=True)
n, d, words = SIZES[size]
rng = np.random.default_rng(0)
cumulated = np.cumsum(1.0 / (np.arange(d) + 10.0))
cumulated /= cumulated[-1]
orders = [rng.permutation(d) for _ in range(20)]

parts = []
for first in range(0, n, 20_000):
    rows = min(20_000, n - first)
    length = np.maximum(rng.lognormal(np.log(words), 0.5, rows).astype(int), 5)
    row = np.repeat(np.arange(rows), length)
    word = np.searchsorted(cumulated, rng.random(len(row)))
    own = rng.random(len(row)) < 0.4
    topic = rng.integers(0, 20, rows)[row]
    table = np.stack(orders)
    word[own] = table[topic[own], word[own]]
    part = sp.csr_matrix((np.ones(len(row)), (row, word)), shape=(rows, d))
    part.sum_duplicates()
    parts.append(part)
x = sp.vstack(parts).tocsr()
df = np.bincount(x.indices, minlength=d)
x.data = (1 + np.log(x.data)) * np.log(n / np.maximum(df, 1))[x.indices]
norm = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
x = sp.diags_array(1 / norm).dot(x).tocsr()
x.sort_indices()
print(f"{n} x {d}, {x.nnz} entries, {x.data.nbytes + x.indices.nbytes + x.indptr.nbytes} bytes")
start = x[rng.choice(n, 20, replace=False)].toarray()
sp.save_npz(folder / "x.npz", x, compressed=False)
np.save(folder / "start.npy", start)
if "--data-only" in sys.argv:
    sys.exit()

seconds = []
for _ in range(5):
    model = KMeans(20, init=start, n_init=1, max_iter=10, tol=0, algorithm="lloyd")
    begin = time.perf_counter()
    model.fit(x)
    seconds.append(time.perf_counter() - begin)
print(
    f"scikit-learn {sklearn.__version__}: {np.median(seconds):.3f} s, {model.n_iter_} iterations, "
    f"inertia {model.inertia_:.6f}"
)
