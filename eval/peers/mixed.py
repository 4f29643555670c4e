"""Categorical and mixed tables: ensembles of categories and k-means members beside k-modes and k-prototypes.

usage: mixed.py PROGRAM DATA FOLDER
"""
import json, subprocess, sys, os, warnings
import numpy as np
from kmodes.kmodes import KModes
from kmodes.kprototypes import KPrototypes
from sklearn.metrics import adjusted_rand_score

warnings.filterwarnings("ignore")
PROGRAM, DATA, FOLDER = sys.argv[1:4]
# Columns of numbers; the others are nominal. From the ARFF headers of the UCI sets.
NUMBERS = {"mushrooms": [], "voting": [], "soybean_small": [], "credit": [1, 2, 7, 10, 13, 14],
           "hepatitis": [0, 13, 14, 15, 16, 17]}

def run(*args):
    out = subprocess.run([PROGRAM, *args, "--quiet", "--json", "--threads", "1"], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    return json.loads(out.stdout)

print("| set | n | numbers | categories | eac-al | ptgp | auto | k-modes or k-prototypes |\n|---|---|---|---|---|---|---|---|")
for name, numbers in NUMBERS.items():
    z = np.load(os.path.join(DATA, name + ".npz"))
    x, y = z["x"].astype(np.float64), z["y"]
    if len(x) > 1500:
        keep = np.random.default_rng(0).permutation(len(x))[:1500]
        x, y = x[keep], y[keep]
    n, d = x.shape
    k = len(set(y.tolist()))
    table = os.path.join(FOLDER, "t.csv")
    with open(table, "w") as out:
        out.write(",".join(f"c{c}" for c in range(d)) + "\n")
        for row in x:
            out.write(",".join("" if np.isnan(v) else (repr(float(v)) if c in numbers else f"v{int(v)}")
                               for c, v in enumerate(row)) + "\n")
    np.save(os.path.join(FOLDER, "y.npy"), y)
    path = lambda f: os.path.join(FOLDER, f)
    nominal = [c for c in range(d) if c not in numbers]
    found = {m: [] for m in ("eac-al", "ptgp", "auto")}
    peers = []
    for seed in range(3):
        run("generate", table, "-o", path("p.npz"), "--categorical", ",".join(map(str, nominal)), "--members", "60",
            "--clusters", f"{k}..{max(2 * k, k + 6)}", "--missing", "nearest", "--scale", "zscore", "--seed", str(seed))
        for m in found:
            out = run("consensus", path("p.npz"), "--method", m, "--clusters", str(k), "--truth", path("y.npy"), "--seed", str(seed))
            found[m].append(out["scores"]["ari"])
        filled = x.copy()
        for c in range(d):
            col = filled[:, c]
            col[np.isnan(col)] = np.nanmedian(col) if c in numbers else -1
        if numbers:
            scaled = filled.copy()
            scaled[:, numbers] = (scaled[:, numbers] - scaled[:, numbers].mean(0)) / scaled[:, numbers].std(0)
            labels = KPrototypes(k, n_init=3, random_state=seed).fit_predict(scaled, categorical=nominal)
        else:
            labels = KModes(k, n_init=3, random_state=seed).fit_predict(filled)
        peers.append(adjusted_rand_score(y, labels))
    cells = [f"{np.mean(v):.3f}" for v in found.values()] + [f"{np.mean(peers):.3f}"]
    print(f"| {name} | {n} | {len(numbers)} | {len(nominal)} | " + " | ".join(cells) + " |", flush=True)
