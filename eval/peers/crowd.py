"""The completion's optimum by an independent road: ADMM with full eigendecompositions, run long.

python eval/peers/crowd.py FOLDER [SET ...]      needs numpy; FOLDER holds crowd_SET.npz

Prints the objective |A|_* + C |E|_1 at C = 2 / sqrt(n p), d0 = 0, d1 = 0.9, and a dual bound.
Compare with `cargo test -p consilience-tests --test crowd real_answers -- --nocapture`.
"""
import sys

import numpy as np


def reliable(path):
    z = np.load(path)
    n = len(z["y"])
    c = np.zeros((n, n))
    both = np.zeros((n, n))
    order = np.lexsort((z["item"], z["task"], z["worker"]))
    key = np.stack([z["worker"], z["task"]], 1)[order]
    cuts = np.flatnonzero(np.any(key[1:] != key[:-1], axis=1)) + 1
    for rows in np.split(order, cuts):
        items, groups = z["item"][rows], z["group"][rows]
        both[np.ix_(items, items)] += 1
        c[np.ix_(items, items)] += groups[:, None] == groups[None, :]
    np.fill_diagonal(both, both.diagonal() * (both.sum(1) > both.diagonal()))
    a = c / np.maximum(both, 1)
    known = (both > 0) & ((a >= 0.9) | (a <= 0))
    return (a >= 0.9) * known, known


def admm(data, known, penalty, steps, mu):
    n = len(data)
    e, y = np.zeros((n, n)), np.zeros((n, n))
    best, bound = np.inf, 0.0
    for step in range(steps):
        values, u = np.linalg.eigh(data - e + y / mu)
        s = np.sign(values) * np.maximum(np.abs(values) - 1 / mu, 0)
        a = (u * s) @ u.T
        rest = data - a + y / mu
        e = np.where(known, np.sign(rest) * np.maximum(np.abs(rest) - penalty / mu, 0), rest)
        y = np.where(known, y + mu * (data - a - e), 0)
        if step % 50 == 49:
            best = min(best, np.abs(s).sum() + penalty * np.abs((data - a) * known).sum())
            norm = max(1, np.abs(np.linalg.eigvalsh(y)).max())
            bound = max(bound, (data * y).sum() / norm)
    return best, bound


if __name__ == "__main__":
    folder, sets = sys.argv[1], sys.argv[2:] or ["birds5_drag_wp2", "birds5_radio3", "bluebirds"]
    for name in sets:
        data, known = reliable(f"{folder}/crowd_{name}.npz")
        penalty = 2 / np.sqrt(known.sum() / len(data))
        scale = np.abs(np.linalg.eigvalsh(data.astype(float))).max()
        best, bound = admm(data.astype(float), known, penalty, 1000, 1.4 / scale)
        print(f"{name}: objective {best:.5f}, dual bound {bound:.5f}, C {penalty:.6f}", flush=True)
