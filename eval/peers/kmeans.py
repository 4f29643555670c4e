"""k-means, 100,000 x 32, k = 20, ten Lloyd iterations from the same start: writes the data and times scikit-learn.

    python eval/peers/kmeans.py /tmp/kmeans
    cargo run --release --manifest-path eval/Cargo.toml --bin kmeans -- /tmp/kmeans
    cargo run --release --manifest-path eval/peers/linfa/Cargo.toml -- /tmp/kmeans

Needs numpy and scikit-learn. Each prints the median of nine runs and the inertia it ended with.
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np
import sklearn
from sklearn.cluster import KMeans

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)
centres = rng.uniform(-1, 1, (20, 32))
x = centres[rng.integers(0, 20, 100_000)] + rng.normal(0, 1.2, (100_000, 32))
start = x[:20].copy()
np.save(folder / "x.npy", x)
np.save(folder / "start.npy", start)

for dtype in (np.float64, np.float32):
    data, first = x.astype(dtype), start.astype(dtype)
    seconds = []
    for _ in range(9):
        model = KMeans(20, init=first, n_init=1, max_iter=10, tol=0, algorithm="lloyd")
        begin = time.perf_counter()
        model.fit(data)
        seconds.append(time.perf_counter() - begin)
    print(
        f"scikit-learn {sklearn.__version__} {dtype.__name__}: {np.median(seconds):.4f} s, "
        f"{model.n_iter_} iterations, inertia {model.inertia_:.6f}"
    )
