//! What reproduces and what does not: a line per table or figure, from what was measured.

use crate::cells::{head, row};
use crate::{Asked, Failure};

pub(crate) const HEADING: &str = "What reproduces and what does not";

/// Paper, table, outcome, cause, command.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "Lourenço et al. 2015 (PCC)",
        "simulation: J on four Gaussians",
        "yes: .0003 beside .0012",
        "",
        "tests, `--test pcc`",
    ),
    (
        "",
        "ensembles (1), k-means of many clusters",
        "in kind: PCC is below EAC, as the paper says of such ensembles",
        "other sets: the pools",
        "`pcc_pools`",
    ),
    (
        "",
        "ensembles (2), block-like members",
        "partly: ahead of EAC on the mean, not of every rival",
        "half of the members on credit and segmentation are one cluster and outliers; no member by \
         centroid linkage here",
        "`pcc_uci -- 2`",
    ),
    (
        "",
        "times at 120,000 objects",
        "yes: 0.86 and 1.15 s beside 13.8 and 16.7 s",
        "another machine",
        "`pcc_large -- kdd`",
    ),
    ("", "share of sampled pairs; K varied on KDD; centroids' picture", "not run", "", ""),
    (
        "Yi 2014, Chapter 3",
        "crowds of Scenes, Tattoo, ImageNet, PASCAL",
        "cannot be run",
        "the crowds are not public; bird crowds in their place",
        "`crowd_sets`",
    ),
    (
        "",
        "the rule for C (the most balanced)",
        "no",
        "1'A1 falls with C on every crowd, so the smallest C always wins",
        "`crowd_sets`",
    ),
    (
        "Yi 2014, Chapter 4",
        "RDML beside five metric learners on completed crowds",
        "cannot be run",
        "the crowds are not public",
        "",
    ),
    (
        "Yi 2014, Chapter 5",
        "Table 5.3: MCCC on mushrooms, segmentation, USPS",
        "yes, by our basis: every figure reached or passed",
        "by the thesis's singular vectors USPS stays at .78 to .84, not .90 to .94; six sets are \
         not at hand",
        "`mccc_uci -- 3`",
    ),
    (
        "",
        "constraints for perfect recovery grow with ln N",
        "in kind, with far fewer: 3 to 8 without noise, slope 4.7 with it",
        "the thesis prints no numbers; the solver here is exact",
        "`mccc_recovery`",
    ),
    (
        "Yi et al. 2015; Yi 2014, Chapter 6",
        "updates tier by tier, Table 6.1, Fig. 1 (NMI against m)",
        "not as printed",
        "other sets, k-means members instead of kernel k-means; with the papers' rules alone NMI \
         hardly moves here",
        "`updater_protocol -- --recipe tenths --seeds 0..3`",
    ),
    ("Yang et al. 2015", "Table 2, NNC", "yes: within .02 on all 11 sets", "", "`few_labels`"),
    (
        "",
        "Table 2, NNC under the diagonal metric",
        "yes: within .04, but voting (+.05)",
        "what is done with missing values is not printed",
        "`few_labels`",
    ),
    (
        "",
        "Table 2, FPC",
        "no: higher by .2 and more on ecoli, segmentation, soybean_small, mfeat_pix",
        "unknown; the algorithm is deterministic but for the first object",
        "`few_labels`",
    ),
];

/// The list, in Markdown.
pub(crate) fn section(_: Asked) -> Result<String, Failure> {
    let mut text = head(&["paper", "table or figure", "reproduces", "cause", "command"]);
    for (paper, table, outcome, cause, command) in ROWS {
        text += &row([paper, table, outcome, cause, command]);
    }
    Ok(text)
}
