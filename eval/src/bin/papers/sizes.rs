//! Huang, Lai, Wang 2016, Figs. 8 and 10: beside single members, and over the ensemble's size.

use consilience::Ensemble;
use rayon::prelude::*;

use crate::cells::{head, mean, ours, row, shown};
use crate::figures::{METHODS, Method, POOLS};
use crate::reference::{Pool, pools};
use crate::trajectories::{drawn, means, scores};
use crate::{Asked, Failure};

pub(crate) const BESIDE_MEMBERS: &str = "Fig. 8: beside the members";
pub(crate) const OVER_SIZE: &str = "Figs. 4 and 10: over the number M of members";

/// Draws, as in the paper's Fig. 10.
const DRAWS: u64 = 20;
const MEMBERS: usize = 10;
const SIZES: [usize; 5] = [10, 20, 30, 40, 50];
/// Pools of Fig. 10: those of 1,000 microclusters have thousands with fifty members.
const SMALL: [&str; 2] = ["MF", "IS"];
/// Methods of Fig. 10 that need no dense matrix of the objects or a completion.
const COMPARED: [&str; 6] = ["PTA-AL", "PTGP", "GP-MGLA", "EAC-AL", "WCT-AL", "WEAC-AL"];

fn method(name: &str) -> Result<&'static Method, Failure> {
    let found = METHODS.iter().find(|m| m.name == name);
    found.ok_or_else(|| format!("{name}: no row of Table IX").into())
}

/// Scores of a method over draws, at the best and at the true number of clusters.
fn over(pool: &Pool, name: &str, drawn: &[Ensemble]) -> Result<[String; 2], Failure> {
    let method = method(name)?;
    let found: consilience::Result<Vec<[f64; 2]>> =
        drawn.par_iter().map(|e| scores(method, pool, e)).collect();
    Ok(means(&found?).map(ours))
}

/// Fig. 8.
pub(crate) fn beside_members(asked: Asked<'_>) -> Result<String, Failure> {
    let draws = asked.seeds.unwrap_or(DRAWS) as usize;
    let mut text = format!(
        "{draws} draws of {MEMBERS} members (the paper: 100). *Members* is the mean NMI of the\n\
         members at their own numbers of clusters, *best member* the mean of the best of each\n\
         draw. The paper shows a plot, without numbers and without saying at which number of\n\
         clusters: PTA and PTGP are above the members on all ten sets, clearly so on LS and PD.\n\n"
    );
    let titles = ["pool", "members", "best member", "PTA-AL, best k", "true k", "PTGP, best k"];
    text += &head(&[&titles[..], &["true k"]].concat());
    for pool in pools(&POOLS) {
        let drawn = drawn(&pool, draws, MEMBERS);
        let of = |e: &Ensemble| e.members().iter().map(|m| pool.nmi(m)).collect::<Vec<f64>>();
        let members: Vec<Vec<f64>> = drawn.iter().map(of).collect();
        let average: Vec<f64> = members.iter().map(|m| mean(m).0).collect();
        let best: Vec<f64> =
            members.iter().map(|m| m.iter().copied().fold(0.0, f64::max)).collect();
        let mut cells = vec![pool.name.clone(), ours(mean(&average)), ours(mean(&best))];
        for name in ["PTA-AL", "PTGP"] {
            cells.extend(over(&pool, name, &drawn)?);
        }
        text += &shown(row(cells));
    }
    Ok(text + "\n")
}

/// Figs. 4 and 10.
pub(crate) fn over_size(asked: Asked<'_>) -> Result<String, Failure> {
    let draws = asked.seeds.unwrap_or(DRAWS) as usize;
    let mut text = format!(
        "NMI at the best number of clusters, {draws} draws (the paper: 20), two of its ten sets, \
         six of its\ntwelve methods: the others take long for ensembles of fifty. The paper shows \
         plots: PTA and PTGP are\nbest or nearly best at every M, and more so beyond 20 \
         members.\n\n"
    );
    let titles = ["pool".to_string(), "method".to_string()];
    text += &head(&titles.into_iter().chain(SIZES.map(|m| format!("M = {m}"))).collect::<Vec<_>>());
    for pool in pools(&SMALL) {
        let sizes = SIZES.map(|m| drawn(&pool, draws, m));
        for name in COMPARED {
            let mut cells = vec![pool.name.clone(), name.to_string()];
            for drawn in &sizes {
                let [best, _] = over(&pool, name, drawn)?;
                cells.push(best);
            }
            text += &shown(row(cells));
        }
    }
    Ok(text + "\n")
}
