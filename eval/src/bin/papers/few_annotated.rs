//! `SemiCrowd` on standardized features with few annotated objects, beside k-means on the features
//! alone.

use consilience::completion::Rdml;
use consilience::crowd::{PenaltyChoice, SemiCrowd};
use consilience::{Result, Seed, SideInformation};
use consilience_eval::sets::Set;
use rayon::prelude::*;

use crate::Asked;
use crate::cells::{head, mean, ours, row, shown};
use crate::linked::nmi;
use crate::semi_crowd::{annotated, unit};

/// Chosen on the first two, which had a part in it; confirmed on the others.
const SETS: [&str; 8] =
    ["usps", "segmentation", "mfeat_pix", "letters", "ecoli", "yeast", "balance", "ionosphere"];
/// Draws; fewer than those of the figure, since there are 44 lines.
const SEEDS: u64 = 3;
const ROWS: usize = 1_000;
const ANNOTATED: [usize; 3] = [30, 100, 200];
const WRONG: [f64; 2] = [0.15, 0.35];

/// NMI of k-means, of the completion as it was weighed before, and of ours without and with what is
/// left out; and whether the learned similarity was taken.
fn scores(set: &Set, n: usize, wrong: f64, seed: Seed) -> Result<[f64; 5]> {
    let (x, truth) = (unit(&set.x), set.truth());
    let k = truth.n_clusters();
    let (_, answers) = annotated(&truth, n, wrong, seed)?;
    let nothing = SideInformation::none(x.nrows());
    let plain = Rdml::new(k).seed(seed).fit_completed(x.view(), &nothing, &())?.output;
    let semi = SemiCrowd::new(k).compare_scales(false).seed(seed);
    let alone = semi.clone().cross_validated(false);
    let before = alone.clone().penalty(PenaltyChoice::Factor(1.3)).fit(x.view(), &answers, &());
    let alone = alone.fit(x.view(), &answers, &())?.output;
    let own = semi.fit(x.view(), &answers, &())?.output;
    let of = |found: &consilience::completion::CompletedClustering| {
        nmi(&found.clustering.partition, &truth)
    };
    Ok([
        of(&plain)?,
        // Nothing may be left of the completion: all objects are then in one cluster.
        before.map_or(Ok(0.0), |found| of(&found.output.completed))?,
        of(&alone.completed)?,
        of(&own.completed)?,
        f64::from(u8::from(own.left_out.is_none_or(|evidence| evidence.learned))),
    ])
}

/// The table, and how it was made.
pub(crate) fn table(asked: Asked<'_>) -> Result<String> {
    let seeds = asked.seeds.unwrap_or(SEEDS);
    let titles = ["set", "n", "mistakes", "k-means", "c = 1.3", "c = 3", "default", "learned"];
    let mut text = format!(
        "Below: {seeds} draws of 1,000 rows at most, up to half of them annotated, the crowd as \
         above; *k-means*\non standardised features, *c = 1.3* and *c = 3* without the \
         comparison, *learned* how often the\nlearned clusters were taken.\n\n"
    );
    text += &head(&titles);
    for name in SETS {
        let Some(all) = Set::read(name) else { continue };
        for n in ANNOTATED {
            // At most half of the objects.
            if 2 * n > all.x.nrows().min(ROWS) {
                continue;
            }
            for wrong in WRONG {
                let runs = (0..seeds)
                    .into_par_iter()
                    .map(|seed| {
                        let set = all.clone();
                        let set = set.sample(&mut Seed(seed).derive("rows", 0).stream(), ROWS);
                        scores(&set, n, wrong, Seed(seed))
                    })
                    .collect::<Result<Vec<_>>>()?;
                let of = |c: usize| mean(&runs.iter().map(|r| r[c]).collect::<Vec<_>>());
                let cells = (0..4).map(|c| ours(of(c)));
                let taken = runs.iter().map(|r| r[4]).sum::<f64>();
                let first = [name.to_string(), n.to_string(), format!("{wrong}")];
                let last = [format!("{taken} of {seeds}")];
                text += &shown(row(first.into_iter().chain(cells).chain(last)));
            }
        }
    }
    Ok(text)
}

/// What the table says.
pub(crate) const FOUND: &str = "\
By default ours is below k-means by more than .005 on 4 of these 44 lines, by .04 at most (yeast, 30
objects), and .09 above it on the mean of all lines as of those of the six other sets. Without the
comparison it is below on 17 lines, by up to .21; with c = 1.3 on 31, by .14 on the mean of all. The
comparison costs something where a crowd is small or often wrong: on seven lines it takes k-means in
some or all draws and ends .03 to .10 lower (segmentation with 100 objects and mistakes of 35 %:
.602 beside .674).

";
