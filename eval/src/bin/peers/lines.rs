//! What is compared with whom.

/// Where the other side is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Python with the newest packages.
    New,
    /// Python with the last versions that older packages stand.
    Old,
    /// The program in `eval/peers/linfa`.
    Linfa,
    /// A program that is used where it is installed already.
    Installed(&'static str),
}

/// One line of the table.
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) size: &'static str,
    /// The folder of the data, and what `peers.py make` calls it.
    pub(crate) data: String,
    /// The task of [`ours`](crate::ours).
    pub(crate) ours: &'static str,
    /// The task of the other side.
    pub(crate) theirs: &'static str,
    pub(crate) package: &'static str,
    pub(crate) side: Side,
    /// Whether the other side uses all cores; if not, neither does ours.
    pub(crate) parallel: bool,
    pub(crate) score: &'static str,
}

/// What, size, data, our task, theirs, package, all cores, score.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    bool,
    &'static str,
);

const FEATURES: [Row; 9] = [
    (
        "k-means, f64",
        "100,000 x 32, k = 20, 10 iterations",
        "rows",
        "kmeans-f64",
        "kmeans-f64",
        "scikit-learn",
        true,
        "inertia",
    ),
    (
        "k-means, f32",
        "100,000 x 32, k = 20, 10 iterations",
        "rows",
        "kmeans-f32",
        "kmeans-f32",
        "scikit-learn",
        true,
        "inertia",
    ),
    (
        "k-means, sparse",
        "18,800 x 61,000, 1.9 million entries, k = 20, 10 iterations",
        "texts",
        "kmeans-sparse",
        "kmeans-sparse",
        "scikit-learn",
        true,
        "inertia",
    ),
    (
        "mini-batch k-means",
        "102,400 x 32, k = 20, 100 batches of 1,024",
        "batches",
        "mini-batch",
        "mini-batch",
        "scikit-learn",
        true,
        "inertia",
    ),
    (
        "spectral clustering",
        "2,000 x 10, k = 10",
        "groups",
        "spectral",
        "spectral",
        "scikit-learn",
        true,
        "ARI",
    ),
    (
        "average linkage of features",
        "4,000 x 16, k = 10",
        "points",
        "tree-average",
        "tree-average-scipy",
        "scipy",
        false,
        "ARI",
    ),
    (
        "average linkage of features",
        "4,000 x 16, k = 10",
        "points",
        "tree-average",
        "tree-average-fastcluster",
        "fastcluster",
        false,
        "ARI",
    ),
    (
        "Ward's linkage of features",
        "4,000 x 16, k = 10",
        "points",
        "tree-ward",
        "tree-ward-scipy",
        "scipy",
        false,
        "ARI",
    ),
    (
        "Ward's linkage of features",
        "4,000 x 16, k = 10",
        "points",
        "tree-ward",
        "tree-ward-fastcluster",
        "fastcluster",
        false,
        "ARI",
    ),
];

const MEMBERS: &str = "5,000 objects, 10 members of 2 to 50 clusters, k = 10";
const VOTES: &str = "2,000 objects, 20 members of 11 clusters, k = 10";

const ENSEMBLES: [Row; 7] = [
    (
        "ARI and NMI of two clusterings",
        "1,000,000 objects, 50 clusters",
        "labels",
        "scores",
        "scores",
        "scikit-learn",
        false,
        "sum",
    ),
    ("EAC, average linkage", MEMBERS, "members", "eac", "eac", "scipy", true, "ARI"),
    ("WEAC, average linkage", MEMBERS, "members", "weac", "weac", "scipy", true, "ARI"),
    ("LWEA", MEMBERS, "members", "lwea", "lwea", "scipy", true, "ARI"),
    ("LWGP", MEMBERS, "members", "lwgp", "lwgp", "scikit-learn", true, "ARI"),
    ("QMI", VOTES, "votes", "qmi", "qmi", "scikit-learn", true, "ARI"),
    ("mixture of multinomials", VOTES, "votes", "mixture", "mixture", "stepmix", true, "ARI"),
];

/// Peers that need older packages, on votes.
const OLDER: [Row; 4] = [
    ("CSPA", VOTES, "votes", "cspa", "cspa", "ensembleclustering", false, "ARI"),
    ("HGPA", VOTES, "votes", "hgpa", "hgpa", "ensembleclustering", false, "ARI"),
    ("MCLA", VOTES, "votes", "mcla", "mcla", "ensembleclustering", false, "ARI"),
    ("HBGF", VOTES, "votes", "hbgf", "hbgf", "ensembleclustering", false, "ARI"),
];

const LEARNERS: [(&str, &str, &str); 8] = [
    ("ITML", "itml", "metric-learn"),
    ("MMC", "mmc", "metric-learn"),
    ("MMC, diagonal", "mmc-diagonal", "metric-learn"),
    ("RCA", "rca", "metric-learn"),
    ("LMNN", "lmnn", "metric-learn"),
    ("PCK-Means", "pck-means", "active-semi-supervised-clustering"),
    ("MPCK-Means", "mpck-means", "active-semi-supervised-clustering"),
    ("COP-KMeans", "cop-kmeans", "active-semi-supervised-clustering"),
];

/// Sets of the data folder that the learners are run on, beside the generated one.
const SETS: [(&str, &str); 2] =
    [("ionosphere", "ionosphere, 351 x 34"), ("balance", "balance, 400 x 4")];

fn line(row: Row, side: Side) -> Line {
    let (what, size, data, ours, theirs, package, parallel, score) = row;
    Line { what, size, data: data.to_string(), ours, theirs, package, side, parallel, score }
}

fn learners(data: &str, size: &'static str) -> impl Iterator<Item = Line> {
    LEARNERS.into_iter().map(move |(what, task, package)| {
        let score = if package == "metric-learn" { "AUC" } else { "ARI" };
        Line {
            data: data.to_string(),
            ..line((what, size, "", task, task, package, false, score), Side::Old)
        }
    })
}

/// Every line; those of sets that are not there are left out.
pub(crate) fn all() -> Vec<Line> {
    let mut all: Vec<Line> = FEATURES.into_iter().map(|r| line(r, Side::New)).collect();
    let linfa = (
        "k-means, f64",
        "100,000 x 32, k = 20, 10 iterations",
        "rows",
        "kmeans-f64",
        "kmeans-linfa",
        "linfa-clustering",
        true,
        "inertia",
    );
    all.insert(1, line(linfa, Side::Linfa));
    all.extend(ENSEMBLES.into_iter().map(|r| line(r, Side::New)));
    all.extend(OLDER.into_iter().map(|r| line(r, Side::Old)));
    all.extend(learners("links", "generated, 400 x 20"));
    let folder = std::env::var("CONSILIENCE_DATA").unwrap_or_else(|_| "../shared/data".to_string());
    for (name, size) in SETS {
        if std::path::Path::new(&folder).join(format!("features/{name}.npz")).exists() {
            all.extend(learners(&format!("features-{name}"), size));
        }
    }
    let crowd = (
        "Dawid and Skene on pairs, then clusters",
        "300 objects, 25,000 answers of 30 workers",
        "answers",
        "dawid-skene",
        "dawid-skene",
        "crowd-kit",
        true,
        "ARI",
    );
    all.push(line(crowd, Side::New));
    let r = ("consensus by clue", VOTES, "votes", "least-squares", "clue", "R: clue", false, "ARI");
    all.push(line(r, Side::Installed("Rscript")));
    let octave =
        ("PTA, written as in the paper", VOTES, "votes", "pta", "pta", "Octave", false, "ARI");
    all.push(line(octave, Side::Installed("octave")));
    all
}
