"""Peers of the vote methods, for `cargo bench -p consilience-tests --bench vote`: scikit-learn's k-means on one-hot labels (QMI) and
stepmix's latent class analysis (the mixture model). One thread, the ensembles of the benchmark in kind: noisy copies
of ten clusters, 20 members. pip install scikit-learn stepmix"""
import os, time
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import OneHotEncoder


def ensemble(n, members=20, k=10, noise=0.2):
    rng = np.random.default_rng(1)
    truth = rng.permutation(np.arange(n) % k)
    noisy = rng.random((n, members)) < noise
    return np.where(noisy, rng.integers(0, k + 1, (n, members)), truth[:, None])


for n in (2_000, 20_000):
    labels = ensemble(n)
    start = time.perf_counter()
    x = OneHotEncoder(sparse_output=False).fit_transform(labels)
    KMeans(10, n_init=10, random_state=0).fit(x - x.mean(0))
    print(f"QMI, scikit-learn, {n}: {time.perf_counter() - start:.3f} s", flush=True)
    try:
        from stepmix.stepmix import StepMix
    except ImportError:
        continue
    start = time.perf_counter()
    StepMix(10, measurement="categorical", n_init=5, max_iter=300, random_state=0, progress_bar=0, verbose=0).fit(labels)
    print(f"mixture, stepmix, {n}: {time.perf_counter() - start:.3f} s", flush=True)
