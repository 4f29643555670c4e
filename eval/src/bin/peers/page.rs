//! The table, and the page around it.

use crate::lines::Line;
use crate::packages::Packages;
use crate::rounds::Measured;

fn seconds(s: f64) -> String {
    match s {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.3} s", s).replace("0.", "."),
        s => format!("{s:.2} s"),
    }
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e6)
}

/// Two or three digits that count.
fn ratio(r: f64) -> String {
    if r < 10.0 { format!("{r:.2}") } else { format!("{r:.0}") }
}

fn score(line: &Line, value: f64) -> String {
    if line.score == "inertia" { format!("{value:.6e}") } else { format!("{value:.4}") }
}

/// Ours less theirs; of an inertia in percent of theirs.
fn difference(line: &Line, ours: f64, theirs: f64) -> String {
    if line.score == "inertia" {
        format!("{:+.2} %", 100.0 * (ours - theirs) / theirs)
    } else {
        format!("{:+.4}", ours - theirs)
    }
}

/// One line in Markdown.
pub(crate) fn row(line: &Line, measured: &Measured) -> String {
    let what = format!("| {} | {} | {}", line.what, line.size, line.package);
    match measured {
        Err(reason) => format!("{what} | skipped: {reason} | | | | | | | |"),
        Ok((ours, theirs, rounds)) => {
            let scores = format!(
                "{} {} / {}",
                line.score,
                score(line, ours.score),
                score(line, theirs.score)
            );
            let (memory, less) = if theirs.bytes.is_finite() {
                let both = format!("{} / {}", megabytes(ours.bytes), megabytes(theirs.bytes));
                (both, ratio(theirs.bytes / ours.bytes))
            } else {
                (format!("{} / not told", megabytes(ours.bytes)), String::new())
            };
            format!(
                "{what} | {} | {} | **{}** | {memory} | {less} | {scores} | {} | {rounds} |",
                seconds(ours.seconds),
                seconds(theirs.seconds),
                ratio(theirs.seconds / ours.seconds),
                difference(line, ours.score, theirs.score),
            )
        }
    }
}

const HEAD: &str = "\
# Beside other packages

How fast, how small in memory and how good are our methods beside the packages that people use
today? For readers who think of changing: one command installs the packages, makes the data,
measures, and writes this page:

```console
cargo run --release --manifest-path eval/Cargo.toml --bin peers
```

Both sides work on the same arrays, each in a process of its own; their runs alternate, the first
of each is not counted where there are more, and times are medians. Packages that use one core are
compared with ours on one thread (`RAYON_NUM_THREADS=1`). *Times* is their seconds over ours:
above 1 we are ahead. Memory is how far the process rose in its first run above what it held with
the data loaded; *times less* is theirs over ours. Scores are ours / theirs: inertia (lower is
better), the adjusted Rand index with the planted or the known classes (ARI), and the share of
unseen pairs of links that a metric ranks right (AUC); both are better when higher. *Difference* is
ours less theirs, of an inertia in percent. Below the table a line is called behind in score where
its difference is below -0.001, of an inertia above +0.1 %, and in time where *times* is below 1.
NMI is by the arithmetic mean of the entropies. `peers FOLDER TASK ...` measures single lines and
puts them in the place of the old ones. diceR (R) is missing: it could not be installed. Data are
generated from seeds, but for the sets that have a name (ionosphere, balance). Where no package
has a method, the peer is what numpy and scipy write down most directly (`eval/peers/peers.py`). The
sparse matrix is another than that of `docs/sparse.md`.

";

const TITLES: &str = "| what | size | package | ours | theirs | times | MB, ours / theirs | \
                      times less | score | difference | runs |\n";

/// Why lines are behind that are no work.
const CAUSES: &str = "
Diagonal MMC on the generated set: metric-learn's ends at 71 % of the maximum of the published
objective (Xing et al. 2003, Equation 3) whatever its tolerance, ours at 99.9 %. The maximum
puts 95 % of the weight on one of 20 features and ranks unseen pairs worse than equal weights do
(AUC .79 against .86).

Spectral clustering varies more than its line in the table shows: six calls of this command had
1.49 to 2.21 times, the median 2.08. Both sides cut the graph of the ten nearest neighbours (ours is
`Spectral::nearest`); by all similarities, as before, we were level (0.83 to 1.99, the median 0.97),
and on the other processor below it is by all similarities still.

EAC's co-association of ten members has eleven values, so that most merges are between equals, and
scipy takes others first than we do; where similarities are no longer equal (WEAC, LWEA) the scores
are.

## On another processor

The same lines on an Intel Xeon of 16 cores with AVX-512 and AMX, 2026-11-26, where the packages
were at hand (scikit-learn and scipy beside numpy 2.5): on two of its cores (`taskset -c 0,1 peers
FOLDER TASK ...`), and what uses all cores on all of them. Scores are those of the table above.

| what | package | two cores, ours / theirs | times | sixteen, ours / theirs | times |
|---|---|---|---|---|---|
| k-means, f64 | scikit-learn | .036 s / .072 s | **2.03** | .009 s / .038 s | **4.17** |
| k-means, f32 | scikit-learn | .029 s / .051 s | **1.74** | .007 s / .025 s | **3.52** |
| k-means, sparse | scikit-learn | .186 s / .393 s | **2.11** | .124 s / .234 s | **1.89** |
| mini-batch k-means | scikit-learn | .062 s / .130 s | **2.08** | .043 s / .205 s | **4.79** |
| spectral clustering | scikit-learn | .087 s / .094 s | **1.09** | .038 s / .207 s | **5.41** |
| average linkage of features | scipy | .117 s / .323 s | **2.75** |  | |
| average linkage of features | fastcluster | .121 s / .162 s | **1.34** |  | |
| Ward's linkage of features | scipy | .121 s / .324 s | **2.67** |  | |
| Ward's linkage of features | fastcluster | .115 s / .168 s | **1.47** |  | |
| ARI and NMI of two clusterings | scikit-learn | .016 s / .344 s | **22** |  | |
| EAC, average linkage | scipy | .056 s / .604 s | **11** |  | |
| WEAC, average linkage | scipy | .054 s / .885 s | **16** |  | |
| LWEA | scipy | .026 s / .725 s | **28** |  | |
| LWGP | scikit-learn | .011 s / .056 s | **5.03** |  | |
| QMI | scikit-learn | .033 s / .104 s | **3.11** |  | |
| mixture of multinomials | stepmix | .090 s / .196 s | **2.17** |  | |
| Dawid and Skene on pairs, then clusters | crowd-kit | .038 s / .512 s | **13** |  | |
";

/// The page of all lines.
pub(crate) fn page(results: &[(Line, Measured)], packages: &Packages) -> String {
    let rows: Vec<String> = results.iter().map(|(line, measured)| row(line, measured)).collect();
    let versions: Vec<String> =
        packages.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let versions = format!(
        "\nVersions: {}. {cores} cores, {}.\n\
         The lines of metric-learn, active-semi-supervised-clustering and ensembleclustering ran\n\
         beside numpy below 1.26, scipy below 1.10 and scikit-learn below 1.6, which they need.\n",
        versions.join(", "),
        std::env::consts::ARCH,
    );
    with_rows(&rows, &versions)
}

/// The page with new rows in the place of those of the same line.
pub(crate) fn merged(page: &str, new: &[String]) -> String {
    let key = |row: &str| row.split('|').take(4).collect::<Vec<_>>().join("|");
    let from = page.find("\nVersions: ").unwrap_or(page.len());
    let mut rows: Vec<String> =
        page[..from].lines().filter(|l| l.starts_with("| ")).skip(1).map(String::from).collect();
    for line in new {
        match rows.iter_mut().find(|old| key(old) == key(line)) {
            Some(old) => old.clone_from(line),
            None => rows.push(line.clone()),
        }
    }
    let end = page.find("\nBehind in ").or_else(|| page.find(CAUSES));
    let to = end.unwrap_or(page.len()).max(from);
    with_rows(&rows, &page[from..to])
}

fn with_rows(rows: &[String], versions: &str) -> String {
    let rows_text = rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    let mut page = format!("{HEAD}{TITLES}|{}\n{rows_text}{versions}", "---|".repeat(11));
    let cells = |row: &String| -> Vec<String> {
        row.split('|').map(|cell| cell.trim().to_string()).collect()
    };
    let all: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let told = |row: &Vec<String>, which: usize| format!("{} ({}, {})", row[1], row[3], row[which]);
    let slow =
        |row: &&Vec<String>| row[6].trim_matches('*').parse::<f64>().is_ok_and(|times| times < 1.0);
    let worse = |row: &&Vec<String>| match row[10].strip_suffix(" %") {
        Some(percent) => percent.parse::<f64>().is_ok_and(|p| p > 0.1),
        None => row[10].parse::<f64>().is_ok_and(|d| d < -0.001),
    };
    let slow: Vec<String> = all.iter().filter(slow).map(|row| told(row, 6)).collect();
    let worse: Vec<String> = all.iter().filter(worse).map(|row| told(row, 10)).collect();
    for (what, lines) in [("time", slow), ("score", worse)] {
        if !lines.is_empty() {
            page += &format!("\nBehind in {what}: {}.\n", lines.join("; "));
        }
    }
    page + CAUSES
}

#[test]
fn lines_are_merged() {
    let row = |times: &str, difference: &str| {
        format!("| k-means | 9 x 2 | peer | 1 s | 2 s | **{times}** | | | | {difference} | 5 |")
    };
    let page = with_rows(&[row("2.00", "+0.1000")], "\nVersions: none.\n");
    assert!(page.contains("**2.00**") && !page.contains("Behind"));
    assert_eq!(merged(&page, &[row("2.00", "+0.1000")]), page);
    let page = merged(&page, &[row("0.50", "-0.1000")]);
    assert!(!page.contains("**2.00**") && page.contains("\nVersions: none.\n"));
    assert!(page.contains("Behind in time: k-means (peer, **0.50**)."));
    assert!(page.contains("Behind in score: k-means (peer, -0.1000)."));
    assert_eq!(merged(&page, &[row("0.50", "-0.1000")]), page);
}
