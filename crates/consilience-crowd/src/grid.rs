use crate::*;
use crate::block_model::{best_of, starts};
use crate::held_out::Folds;
use consilience_core::scores::{Normalizer, normalized_mutual_information};
use consilience_core::{MemoryBudget, Partition, Seed};
use ndarray::Array2;

#[derive(Clone, Copy, Debug)]
struct World { n: usize, k: usize, workers: usize, tasks: usize, size: usize, kind: u8, unequal: bool, spam: f64, wrong: f64 }

fn make(w: World, seed: u64) -> (Answers, Partition) {
    let mut s = Seed(seed).derive("grid", 0).stream();
    let weight = |c: usize| if w.unequal { 0.6_f64.powi(c as i32) } else { 1.0 };
    let total: f64 = (0..w.k).map(weight).sum();
    let mut truth = Vec::new();
    for c in 0..w.k {
        let until = (0..=c).map(weight).sum::<f64>() / total;
        truth.resize((until * w.n as f64).round() as usize, c);
    }
    let mut rows = Vec::new();
    for worker in 0..w.workers {
        let blind = s.uniform() < w.spam;
        let wrong = w.wrong * (0.3 + 1.4 * s.uniform());
        // 0 fine, 1 this class or not, 2 merges at random into groups, 3 half of the workers merge, 4 two criteria
        let map: Vec<usize> = match w.kind {
            1 => { let me = s.below(w.k); (0..w.k).map(|c| usize::from(c == me)).collect() }
            2 => { let groups = 2 + s.below((w.k - 1).min(2)); (0..w.k).map(|_| s.below(groups)).collect() }
            3 if s.uniform() < 0.5 => { let groups = 2 + s.below(w.k - 1); (0..w.k).map(|_| s.below(groups)).collect() }
            _ => (0..w.k).collect(),
        };
        let other = w.kind == 4 && s.uniform() < 0.3;
        let groups = map.iter().max().unwrap() + 1;
        for task in 0..w.tasks {
            for item in s.sample(w.n, w.size.min(w.n)) {
                let lost = blind || s.uniform() < wrong;
                let group = if lost { s.below(groups) } else if other { item * 7919 % 3 } else { map[truth[item]] };
                rows.push(GroupAnswer { worker, task, item, group });
            }
        }
    }
    (Answers::from_groupings(w.n, &rows).unwrap(), Partition::from_fn(w.n, |i| Some(truth[i] as u64)).unwrap())
}

fn read(name: &str) -> (Answers, Partition) {
    let text = std::fs::read_to_string(format!("/tmp/crowd_{name}.csv")).unwrap();
    let mut lines = text.lines();
    let y: Vec<i64> = lines.next().unwrap().split(' ').map(|x| x.parse().unwrap()).collect();
    let rows: Vec<GroupAnswer> = lines.map(|l| { let v: Vec<usize> = l.split(' ').map(|x| x.parse().unwrap()).collect(); GroupAnswer { worker: v[0], task: v[1], item: v[2], group: v[3] } }).collect();
    (Answers::from_groupings(y.len(), &rows).unwrap(), Partition::from_labels(&y).unwrap())
}

/// Expected log-likelihood with rates between clusters integrated out, tempered.
fn evidence(answers: &Answers, q: &Array2<f64>, sh: crate::expected_counts::Shrinkage, own: f64, temper: f64) -> f64 {
    use crate::expected_counts::ExpectedCounts;
    use crate::rates::Rates;
    let k = q.ncols();
    let mut with = sh; with.by_worker = true;
    let (counts, _) = ExpectedCounts::of(answers, q.view(), with);
    let mut plain = sh; plain.by_worker = false;
    let (pc, _) = ExpectedCounts::of(answers, q.view(), plain);
    let rates = Rates::of(&pc, plain);
    let Some(b) = counts.between.as_ref().and_then(|b| b.of_workers.as_ref()) else { return f64::NAN };
    let mut total = 0.0;
    for w in 0..answers.n_workers() {
        let rep = b.repeated[w].max(1.0).powf(temper);
        let bern = |y: f64, n: f64, p: f64| crate::likelihood::bernoulli(y, n, p);
        for c in 0..k {
            total += bern(counts.same[[w, c]], counts.within[[w, c]], rates.within[[w, c]]) / rep;
            for d in 0..c {
                let (y, n) = (b.same[(w * k + c) * k + d] / rep, b.all[(w * k + c) * k + d] / rep);
                let e = rates.across(w, c, d);
                total += if sh.by_worker {
                    let lg = |x: f64| lgamma(x);
                    lg(y + own * e) - lg(own * e) + lg(n - y + own * (1.0 - e)) - lg(own * (1.0 - e)) + lg(own) - lg(n + own)
                } else { bern(y, n, e) };
            }
        }
    }
    let share = q.sum_axis(ndarray::Axis(0)).mapv(|s| ((s + 1.0) / (q.nrows() + k) as f64).ln());
    for row in q.rows() { for (x, s) in row.iter().zip(&share) { if *x > 0.0 { total += x * (s - x.ln()); } } }
    total
}
fn lgamma(x: f64) -> f64 {
    if x < 12.0 { return lgamma(x + 1.0) - x.ln(); }
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x)
}

#[test]
#[ignore]
fn birds() {
    for name in ["birds5_drag_wp2","birds5_drag_wp3","birds5_drag_wp4","birds5_drag_wp5","birds5_radio2","birds5_radio3","birds5_radio4","bluebirds"] {
        let (answers, truth) = read(name);
        let k = truth.n_clusters();
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        let model = BlockModel::new(k);
        let st = starts(&model, &answers, &counts, &()).unwrap();
        let block = best_of(&model, &answers, &st.all, &()).unwrap();
        let own_model = model.rates_between_by_worker(true);
        let own = best_of(&own_model, &answers, &st.all, &()).unwrap();
        let latent = crate::latent_class::best(&model, &answers, &st.all, &()).unwrap();
        let nmi = |l: &[u32]| {
            let mut a = vec![None; truth.n_objects()];
            for (&o, &c) in answers.answered().iter().zip(l) { a[o as usize] = Some(c as u64); }
            let p = Partition::from_fn(truth.n_objects(), |i| a[i]).unwrap();
            normalized_mutual_information(&p, &truth, Normalizer::Arithmetic).unwrap()
        };
        let o = crate::rates::own();
        println!("{name}: spectral {:.3} block {:.3} by-worker {:.3} latent {:.3} evidence {:.1} {:.1} tempered {:.1} {:.1}", nmi(&st.labels[0]), nmi(&block.labels()), nmi(&own.labels()), nmi(&latent.labels()),
            evidence(&answers, &block.q, model.shrinkage(), o, 0.0), evidence(&answers, &own.q, own_model.shrinkage(), o, 0.0),
            evidence(&answers, &block.q, model.shrinkage(), o, 1.0), evidence(&answers, &own.q, own_model.shrinkage(), o, 1.0));
    }
}

#[test]
#[ignore]
fn quick() {
    let mut worlds = Vec::new();
    for kind in 0..5u8 { for k in [3, 5, 8] { for unequal in [false, true] { for spam in [0.0, 0.3] {
        for (workers, tasks, size) in [(100, 1, 75), (30, 1, 60), (100, 12, 8), (100, 30, 4), (100, 60, 2), (30, 8, 20)] {
            worlds.push(World { n: 300, k, workers, tasks, size, kind, unequal, spam, wrong: 0.15 });
    } } } } }
    let pick: usize = std::env::var("EVERY").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    let first: usize = std::env::var("FIRST").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    for (at, w) in worlds.iter().enumerate() {
        if at % pick != first { continue; }
        let (answers, truth) = make(*w, at as u64);
        let k = w.k;
        let counts = AnswerCounts::of(&answers, MemoryBudget::default()).unwrap();
        let model = BlockModel::new(k);
        let st = starts(&model, &answers, &counts, &()).unwrap();
        let own_model = model.rates_between_by_worker(true);
        let block = best_of(&model, &answers, &st.all, &()).unwrap();
        let own = best_of(&own_model, &answers, &st.all, &()).unwrap();
        let latent = crate::latent_class::best(&model, &answers, &st.all, &()).unwrap();
        let more: Vec<Array2<f64>> = st.all.iter().cloned().chain([latent.q.clone(), block.q.clone()]).collect();
        let joint = best_of(&own_model, &answers, &more, &()).unwrap();
        let nmi = |l: &[u32]| {
            let mut a = vec![None; truth.n_objects()];
            for (&o, &c) in answers.answered().iter().zip(l) { a[o as usize] = Some(c as u64); }
            let p = Partition::from_fn(truth.n_objects(), |i| a[i]).unwrap();
            normalized_mutual_information(&p, &truth, Normalizer::Arithmetic).unwrap()
        };
        let o = crate::rates::own();
        println!("{at}|{}|{k}|{}|{}|{}|{}|{}|{:.3} {:.3} {:.3} {:.3}|{:.1} {:.1} {:.1} {:.1}|{:.1} {:.1} {:.1} {:.1}", w.kind, w.unequal, w.spam, w.workers, w.tasks, w.size, nmi(&block.labels()), nmi(&own.labels()), nmi(&latent.labels()), nmi(&joint.labels()),
            evidence(&answers, &block.q, model.shrinkage(), o, 0.0), evidence(&answers, &own.q, own_model.shrinkage(), o, 0.0),
            evidence(&answers, &block.q, own_model.shrinkage(), o, 0.0), evidence(&answers, &joint.q, own_model.shrinkage(), o, 0.0),
            crate::latent_class::evidence_of(&answers, &block.labels(), k), crate::latent_class::evidence_of(&answers, &own.labels(), k), crate::latent_class::evidence_of(&answers, &latent.labels(), k), crate::latent_class::evidence_of(&answers, &joint.labels(), k));
    }
}

#[test]
#[ignore]
fn grid() {
    let mut worlds = Vec::new();
    for kind in 0..5u8 {
        for k in [3, 5, 8] {
            for unequal in [false, true] {
                for spam in [0.0, 0.3] {
                    for (workers, tasks, size) in [(100, 1, 75), (30, 1, 60), (100, 12, 8), (100, 30, 4), (100, 60, 2), (30, 8, 20)] {
                        worlds.push(World { n: 300, k, workers, tasks, size, kind, unequal, spam, wrong: 0.15 });
                    }
                }
            }
        }
    }
    let pick: usize = std::env::var("EVERY").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    let names = ["spectral", "residual", "unit", "dawid-skene", "block", "by-worker", "latent", "log-odds"];
    let folds = 3;
    println!("world,{}", names.join(","));
    for (at, w) in worlds.iter().enumerate() {
        if at % pick != 0 { continue; }
        let (answers, truth) = make(*w, at as u64);
        let k = w.k;
        let labels = |answers: &Answers| -> (Vec<Vec<u32>>, Vec<Array2<f64>>) {
            let counts = AnswerCounts::of(answers, MemoryBudget::default()).unwrap();
            let model = BlockModel::new(k);
            let st = starts(&model, answers, &counts, &()).unwrap();
            let block = best_of(&model, answers, &st.all, &()).unwrap();
            let own = best_of(&model.rates_between_by_worker(true), answers, &st.all, &()).unwrap();
            let latent = crate::latent_class::best(&model, answers, &st.all, &()).unwrap();
            let odds = crate::crowd_clustering::log_odds_of(answers, &block, k);
            let mut l: Vec<Vec<u32>> = st.labels.to_vec();
            l.extend([block.labels(), own.labels(), latent.labels(), odds]);
            let mut q: Vec<Array2<f64>> = st.labels.iter().map(|l| crate::memberships::hard(l, k)).collect();
            q.extend([block.q, own.q, latent.q, crate::memberships::hard(&l[7], k)]);
            (l, q)
        };
        let (l, _) = labels(&answers);
        let nmi = |l: &[u32]| {
            let all: Vec<Option<u64>> = { let mut a = vec![None; w.n]; for (&o, &c) in answers.answered().iter().zip(l) { a[o as usize] = Some(c as u64); } a };
            let p = Partition::from_fn(w.n, |i| all[i]).unwrap();
            normalized_mutual_information(&p, &truth, Normalizer::Arithmetic).unwrap()
        };
        let nm: Vec<String> = l.iter().map(|l| format!("{:.3}", nmi(l))).collect();
        let split = Folds::of(&answers, k, folds, Seed(0));
        let mut score = [[0.0; 8]; 4];
        for f in 0..folds {
            let seen = split.seen(f);
            let (ls, qs) = labels(&seen);
            for m in 0..8 {
                let hard = crate::memberships::hard(&ls[m], k);
                let sh = BlockModel::new(k).shrinkage();
                let own = BlockModel::new(k).rates_between_by_worker(true).shrinkage();
                score[0][m] += split.score(f, &seen, hard.view(), sh).0;
                score[1][m] += split.score(f, &seen, qs[m].view(), sh).0;
                score[2][m] += split.score(f, &seen, hard.view(), own).0;
                score[3][m] += split.score(f, &seen, qs[m].view(), own).0;
            }
        }
        let sc: Vec<String> = score.iter().map(|s| s.map(|x| format!("{x:.1}")).join(" ")).collect();
        println!("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", at, w.kind, k, w.unequal, w.spam, w.workers, w.tasks, w.size, nm.join(" "), sc.join("|"));
    }
}
