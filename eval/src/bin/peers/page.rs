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

/// One line in Markdown.
pub(crate) fn row(line: &Line, measured: &Measured) -> String {
    let what = format!("| {} | {} | {}", line.what, line.size, line.package);
    match measured {
        Err(reason) => format!("{what} | skipped: {reason} | | | | | |"),
        Ok((ours, theirs, rounds)) => {
            let scores = format!(
                "{} {} / {}",
                line.score,
                score(line, ours.score),
                score(line, theirs.score)
            );
            format!(
                "{what} | {} | {} | **{}** | {} / {} | {scores} | {rounds} |",
                seconds(ours.seconds),
                seconds(theirs.seconds),
                ratio(theirs.seconds / ours.seconds),
                megabytes(ours.bytes),
                megabytes(theirs.bytes),
            )
        }
    }
}

const HEAD: &str = "\
# Beside other packages

Written by one command, which installs the packages, makes the data and measures:

```console
cargo run --release --manifest-path eval/Cargo.toml --bin peers
```

Both sides work on the same arrays, each in a process of its own; their runs alternate, the first
of each is not counted where there are more, and times are medians. Packages that use one core are
compared with ours on one thread (`RAYON_NUM_THREADS=1`). *Times* is their seconds over ours:
above 1 we are ahead. Memory is how far the process rose in its first run above what it held with
the data loaded. Scores are ours / theirs: inertia (lower is better), the adjusted Rand index with
the planted or the known classes (ARI), and the share of unseen pairs of links that a metric ranks
right (AUC); both are better when higher. Data are generated from seeds, but for the sets that are
named. Where no package has a method, the peer is what numpy and scipy write down most directly
(`eval/peers/peers.py`).

";

/// The page of all lines.
pub(crate) fn page(results: &[(Line, Measured)], packages: &Packages) -> String {
    let mut page = HEAD.to_string();
    page +=
        "| what | size | package | ours | theirs | times | MB, ours / theirs | score | runs |\n";
    page += "|---|---|---|---|---|---|---|---|---|\n";
    for (line, measured) in results {
        page += &row(line, measured);
        page.push('\n');
    }
    let versions: Vec<String> =
        packages.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    page += &format!(
        "\nVersions: {}. {cores} cores, {}.\n\
         The lines of metric-learn, active-semi-supervised-clustering and ensembleclustering ran\n\
         beside numpy below 1.26, scipy below 1.10 and scikit-learn below 1.6, which they need.\n",
        versions.join(", "),
        std::env::consts::ARCH,
    );
    let behind: Vec<&str> = results
        .iter()
        .filter(|(_, m)| m.as_ref().is_ok_and(|(ours, theirs, _)| theirs.seconds < ours.seconds))
        .map(|(line, _)| line.what)
        .collect();
    if !behind.is_empty() {
        page += &format!("\nBehind in time: {}.\n", behind.join("; "));
    }
    page
}
