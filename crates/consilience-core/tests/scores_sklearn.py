"""Writes scores_sklearn.csv: scores of generated pairs of clusterings by scikit-learn, SciPy and NumPy.

    python3 scores_sklearn.py > scores_sklearn.csv     (made with scikit-learn 1.9.1)

A row holds the recipe of a pair and its scores. The labels come from a 64-bit linear congruential
generator that scores_sklearn.rs repeats, so the file stays small:

    next(k): state = state * 6364136223846793005 + 1442695040888963407 mod 2^64; (state >> 33) mod k
    for each object i:
        a = next(ka), or min(next(ka), next(ka)) where skew; i where ka = 0 (every object apart)
        r = next(100); c = next(kb)   (c = i where kb = 0)
        b = c where r < noise, else a mod kb
        u = next(100); the object is unlabelled in a where u < missing, in b where u > 99 - missing
"""

import sys

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

MASK = (1 << 64) - 1


def labels(seed, n, ka, kb, noise, skew, missing):
    state = seed

    def next(k):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        return (state >> 33) % k

    a, b = [], []
    for i in range(n):
        x = i if ka == 0 else next(ka)
        if ka > 0 and skew:
            x = min(x, next(ka))
        r = next(100)
        c = i if kb == 0 else next(kb)
        y = c if r < noise or kb == 0 else x % kb
        u = next(100)
        a.append(-1 if u < missing else x)
        b.append(-1 if u > 99 - missing else y)
    return np.array(a), np.array(b)


def entropy(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def scores(result, truth):
    both = (result >= 0) & (truth >= 0)
    result, truth = result[both], truth[both]
    n = len(result)
    table = contingency_matrix(result, truth).astype(float)
    (tn, fp), (fn, tp) = [[int(v) for v in row] for row in pair_confusion_matrix(truth, result)]
    rows, columns = linear_sum_assignment(table, maximize=True)
    nmi = {
        m: metrics.normalized_mutual_info_score(truth, result, average_method=m)
        for m in ["max", "geometric", "arithmetic"]
    }
    joint = table / n
    h, c, v = metrics.homogeneity_completeness_v_measure(truth, result)
    one = lambda part, whole: part / whole if whole else 1.0
    return {
        "nmi_max": nmi["max"],
        "nmi_sqrt": nmi["geometric"],
        "nmi_arithmetic": nmi["arithmetic"],
        "ami": metrics.adjusted_mutual_info_score(truth, result),
        "ari": metrics.adjusted_rand_score(truth, result),
        "rand": metrics.rand_score(truth, result),
        "accuracy": table[rows, columns].sum() / n,
        "purity": table.max(axis=1).sum() / n,
        "homogeneity": h,
        "completeness": c,
        "v_measure": v,
        "vi": 2 * entropy(joint.ravel()) - entropy(joint.sum(axis=0)) - entropy(joint.sum(axis=1)),
        "mutual_information": metrics.mutual_info_score(truth, result),
        "pair_precision": one(tp, tp + fp),
        "pair_recall": one(tp, tp + fn),
        "pair_f": one(2 * tp, 2 * tp + fp + fn),
        "fowlkes_mallows": metrics.fowlkes_mallows_score(truth, result),
        "jaccard": one(tp, tp + fp + fn),
    }


def recipes():
    # n, ka, kb, noise, skew, missing: single clusters, single objects, one object, independence, equality.
    yield from [
        (2, 1, 1, 0, 0, 0), (2, 0, 0, 0, 0, 0), (2, 0, 1, 0, 0, 0), (2, 1, 0, 0, 0, 0), (1, 1, 1, 0, 0, 0),
        (5, 1, 3, 100, 0, 0), (5, 3, 1, 100, 0, 0), (9, 0, 3, 100, 0, 0), (9, 3, 0, 0, 0, 0),
        (100, 1, 1, 0, 0, 20), (100, 0, 7, 100, 0, 10), (50, 4, 4, 0, 0, 0), (50, 4, 2, 0, 0, 0),
        (1000, 1, 30, 100, 0, 0), (1000, 500, 500, 0, 0, 0), (1000, 900, 900, 100, 0, 0),
    ]
    rng = np.random.default_rng(20151110)
    for _ in range(44):
        n = int(np.exp(rng.uniform(np.log(3), np.log(3000))))
        ka, kb = (int(np.exp(rng.uniform(0, np.log(min(n, 120)) + 0.01))) for _ in range(2))
        noise = int(rng.choice([0, 5, 20, 50, 90, 100]))
        yield n, max(ka, 1), max(kb, 1), noise, int(rng.integers(2)), int(rng.choice([0, 0, 10, 30]))


header = ["seed", "n", "ka", "kb", "noise", "skew", "missing"]
for seed, recipe in enumerate(recipes()):
    a, b = labels(seed, *recipe)
    values = scores(a, b)
    if seed == 0:
        print(",".join(header + list(values)))
    # Values of about machine precision are zeros that did not cancel.
    numbers = [repr(float(v)) if abs(v) > 4e-15 else "0.0" for v in values.values()]
    print(",".join([str(seed), *map(str, recipe), *numbers]))
print(f"scikit-learn {__import__('sklearn').__version__}", file=sys.stderr)
