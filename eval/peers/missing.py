"""Missing values: what they cost, by what is done about them. Prints a table in Markdown.

Values are knocked out at random. Each way makes 30 k-means members (k drawn from k..2k, half the features each),
which EAC with average linkage combines into as many clusters as there are classes; the figure is the adjusted Rand
index. scikit-learn's imputers fill the same tables, and the same generator and consensus follow.

usage: missing.py PROGRAM DATA FOLDER [SHARE OF THE FEATURES, 0.5]
"""
import json, subprocess, sys, os, warnings
import numpy as np
from sklearn.impute import SimpleImputer, KNNImputer
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")
PROGRAM, DATA, FOLDER = sys.argv[1:4]
SETS = ["ecoli", "ionosphere", "segmentation", "yeast", "mfeat_pix"]
SEEDS = range(3)

def run(*args):
    out = subprocess.run([PROGRAM, *args, "--quiet", "--json", "--threads", "1"], capture_output=True, text=True)
    return json.loads(out.stdout) if out.returncode == 0 else None

def score(x, y, way, seed):
    k = len(set(y.tolist()))
    path = lambda name: os.path.join(FOLDER, name)
    np.save(path("x.npy"), x)
    np.save(path("y.npy"), y)
    made = run("generate", path("x.npy"), "-o", path("p.npy"), "--missing", way, "--members", "30",
               "--clusters", f"{k}..{2 * k}", "--feature-fraction", FRACTION, "--seed", str(seed), "--scale", "zscore")
    if made is None:
        return float("nan")
    # Unlabelled objects count as a cluster of their own: leaving objects out is no way to score.
    out = run("consensus", path("p.npy"), "--method", "eac-al", "--clusters", str(k), "-o", path("l.npy"))
    if out is None:
        return float("nan")
    np.save(path("l2.npy"), np.where(np.load(path("l.npy")) < 0, 1000, np.load(path("l.npy"))))
    return run("score", path("l2.npy"), path("y.npy"))["scores"]["ari"]

PEERS = {
    "sk mean": lambda: SimpleImputer(),
    "sk knn": lambda: KNNImputer(),
    "sk iterative": lambda: IterativeImputer(max_iter=5, n_nearest_features=10, random_state=0),
}
FRACTION = sys.argv[4] if len(sys.argv) > 4 else "0.5"
print("| set | missing | whole | mean | median | nearest | member | " + " | ".join(PEERS) + " |")
print("|" + "---|" * (7 + len(PEERS)))
total = {}
for name in SETS:
    z = np.load(os.path.join(DATA, name + ".npz"))
    x, y = z["x"].astype(np.float64), z["y"]
    if len(x) > 1500:
        keep = np.random.default_rng(0).permutation(len(x))[:1500]
        x, y = x[keep], y[keep]
    for share in (0.1, 0.3):
        rows = []
        for seed in SEEDS:
            rng = np.random.default_rng(100 + seed)
            holed = x.copy()
            holed[rng.random(x.shape) < share] = np.nan
            row = [score(x, y, "error", seed)]
            row += [score(holed, y, way, seed) for way in ("mean", "median", "nearest", "member")]
            scaled = StandardScaler().fit(holed)
            for peer in PEERS.values():
                filled = scaled.inverse_transform(peer().fit_transform(scaled.transform(holed)))
                row.append(score(filled, y, "error", seed))
            rows.append(row)
        mean = np.mean(rows, axis=0)
        total.setdefault(share, []).append(mean)
        print(f"| {name} | {share:.0%} | " + " | ".join(f"{v:.3f}" for v in mean) + " |", flush=True)
for share, rows in total.items():
    print(f"| mean | {share:.0%} | " + " | ".join(f"{v:.3f}" for v in np.mean(rows, axis=0)) + " |")
