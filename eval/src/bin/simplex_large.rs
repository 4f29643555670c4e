//! Updates and read-outs of a large ensemble, with wall times and peak memory:
//! `cargo run --release --bin simplex_large -- 8100000 300 10` (objects, members, clusters)
//! and, for the weights of a few members only, a fourth number. `-- 1000000 50 10 50 metric` opens
//! the metric besides and times its read-outs and updates.

use std::time::Instant;

use rayon::prelude::*;

use consilience::core::LabelSlice;
use consilience::core::with_labels;
use consilience::follow::{Updater, UpdaterSetup};
use consilience::simplex::{
    AdditiveUpdate, AlignmentReference, ExactUpdate, InitialWeights, MultiplicativeUpdate,
    UpdateRule,
};
use consilience::{Ensemble, Pair, Partition, Result, Seed};

/// Peak resident memory of this process in MiB, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// A multiply-xorshift generator: cheap numbers, only for labels nobody looks at twice.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The class of an object.
fn class(i: usize, r: usize) -> usize {
    (mix(i as u64) % r as u64) as usize
}

/// Members that agree with the classes on some to most objects, each under its own numbering.
fn ensemble(n: usize, m: usize, r: usize) -> Result<Ensemble> {
    let classes: Vec<u8> = (0..n).map(|i| class(i, r) as u8).collect();
    let member = |u: usize| {
        let noise = (40 + 40 * u as u64 / m as u64) * 256 / 100;
        let own: Vec<u8> = (0..r).map(|c| ((c + u) % r) as u8).collect();
        Partition::from_fn(n, |i| {
            let h = mix((i as u64) << 20 ^ u as u64);
            let c = if h & 255 < noise { ((h >> 32) * r as u64) >> 32 } else { classes[i].into() };
            Some(own[c as usize].into())
        })
    };
    Ensemble::new((0..m).into_par_iter().map(member).collect::<Result<_>>()?)
}

/// Runs something some times and prints the median time.
fn timed<T>(what: &str, times: usize, mut run: impl FnMut() -> T) -> T {
    let mut taken = Vec::new();
    let mut last = run();
    for _ in 0..times {
        let start = Instant::now();
        last = run();
        taken.push(start.elapsed().as_secs_f64() * 1e3);
    }
    taken.sort_by(f64::total_cmp);
    println!("{what}: median {:.3} ms of {times} (least {:.3})", taken[taken.len() / 2], taken[0]);
    last
}

fn constraints(n: usize, r: usize, count: usize, seed: u64) -> Vec<Pair> {
    let mut s = Seed(seed).stream();
    let mut all = Vec::new();
    while all.len() < count {
        let (i, j) = (s.below(n), s.below(n));
        if i != j {
            let same = class(i, r) == class(j, r);
            all.push(if same { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) });
        }
    }
    all
}

fn updates(updater: &Updater, batch: &[Pair]) -> Result<()> {
    for (name, rule) in rules() {
        let mut fresh = updater.clone();
        fresh.set_rule(rule)?;
        // Every update on the state before: a clone is not part of its time.
        let mut taken = Vec::new();
        let mut report = None;
        for _ in 0..21 {
            let mut now = fresh.clone();
            let start = Instant::now();
            report = Some(now.update(batch)?);
            taken.push(start.elapsed().as_secs_f64() * 1e3);
        }
        taken.sort_by(f64::total_cmp);
        println!(
            "update of {} constraints, {name}: median {:.3} ms (least {:.3})",
            batch.len(),
            taken[10],
            taken[0]
        );
        if let Some(r) = report {
            println!(
                "  {} iterations, {}, gap {:?}, support {}, violated {} -> {}",
                r.iterations,
                r.status.name(),
                r.gap,
                r.support.len(),
                r.before.total(),
                r.after.total()
            );
        }
    }
    Ok(())
}

/// The same labels by a loop that does nothing else: what fetching them costs.
fn bare_gather(members: &[Partition], asked: &[usize], out: &mut [u8]) {
    let asked: Vec<u32> = asked.iter().map(|&i| i as u32).collect();
    members.par_chunks(16).zip(out.par_chunks_mut(16 * asked.len())).for_each(|(members, out)| {
        for (member, out) in members.iter().zip(out.chunks_mut(asked.len())) {
            if let LabelSlice::U8(labels) = member.labels() {
                for (o, &i) in out.iter_mut().zip(&asked) {
                    *o = labels[i as usize];
                }
            }
        }
    });
}

/// Read-outs under a metric, and updates while it is open.
fn metric(updater: &mut Updater, n: usize, r: usize) -> Result<()> {
    let timed = |what: &str, start: Instant| {
        println!("{what}: {:.1} ms, peak {} MiB", start.elapsed().as_secs_f64() * 1e3, peak());
    };
    let start = Instant::now();
    updater.open_metric(&())?;
    timed("metric opened", start);
    updater.set_rule(AdditiveUpdate::default())?;
    for (size, seed) in [(100, 51), (100, 52), (100, 53), (500, 61), (500, 62), (500, 63)] {
        let batch = constraints(n, r, size, seed);
        let known = updater.constraints().len();
        let start = Instant::now();
        updater.update(&batch)?;
        timed(&format!("update of {size} constraints after {known} under an open metric"), start);
    }
    let start = Instant::now();
    let read = updater.read_out(&())?.output;
    timed("read-out", start);
    let start = Instant::now();
    let p = read.partition(updater.ensemble(), &())?;
    timed(&format!("its labels of all objects ({} clusters)", p.n_clusters()), start);
    let mut s = Seed(7).stream();
    let asked: Vec<usize> = (0..1000).map(|_| s.below(n)).collect();
    let start = Instant::now();
    read.labels(updater.ensemble(), &asked)?;
    timed("its labels of 1,000 objects", start);
    Ok(())
}

fn main() -> Result<()> {
    let with_metric = std::env::args().any(|a| a == "metric");
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse::<usize>().ok());
    let n = arguments.next().unwrap_or(100_000);
    let m = arguments.next().unwrap_or(50);
    let r = arguments.next().unwrap_or(10).clamp(1, 200);
    let support = arguments.next().unwrap_or(m).clamp(1, m);
    let start = Instant::now();
    let e = ensemble(n, m, r)?;
    println!(
        "made in {:.1} s; labels {} MiB, peak {} MiB",
        start.elapsed().as_secs_f64(),
        e.label_bytes() >> 20,
        peak()
    );
    let members = e.members();
    timed("a plain sum of the labels in use", 5, || {
        use consilience::num::reduce::ordered_chunks;
        let one = |u: usize| {
            with_labels!(members[u].labels(), |l| l.iter().map(|&x| x as u64).sum::<u64>())
        };
        ordered_chunks(support, 1, |u| u.map(one).sum(), 0u64, |a, b: u64| a + b)
    });
    let weights: Vec<f64> =
        (0..m).map(|u| if u < support { 1.0 + (u % 7) as f64 / 7.0 } else { 0.0 }).collect();
    let start = Instant::now();
    let setup = UpdaterSetup::new(r)
        .reference(AlignmentReference::Medoid)
        .start(InitialWeights::Given(weights));
    let updater = setup.updater(e)?;
    println!("opened in {:.2} s, peak {} MiB", start.elapsed().as_secs_f64(), peak());
    let p = timed("hard labels of all objects", 5, || updater.by_weights().partition());
    println!("  {} clusters, peak {} MiB", p?.n_clusters(), peak());
    let mut s = Seed(1).stream();
    // Others every time: nobody asks twice for the same.
    let mut asked: Vec<usize> = Vec::new();
    let mut fetched = vec![0; 1000 * m];
    timed("1,000 objects fetched by a bare loop", 21, || {
        asked = (0..1000).map(|_| s.below(n)).collect();
        bare_gather(&updater.ensemble().members()[..support], &asked, &mut fetched);
    });
    let _ = timed("hard labels of 1,000 other objects", 21, || {
        asked = (0..1000).map(|_| s.below(n)).collect();
        updater.by_weights().labels_of(&asked)
    });
    let asked: Vec<usize> = (0..1000).map(|_| s.below(n)).collect();
    let _ = timed("hard labels of 1,000 objects", 21, || updater.by_weights().labels_of(&asked));
    let _ =
        timed("memberships of 1,000 objects", 21, || updater.by_weights().memberships_of(&asked));
    let _ = timed("next 20 questions", 5, || updater.next_questions(20, Seed(0)));
    let bytes = timed("snapshot to bytes", 3, || updater.to_bytes());
    println!("  {} bytes", bytes.len());
    let mut updater = updater;
    if with_metric {
        metric(&mut updater, n, r)?;
    } else if updater.ensemble().label_bytes() < 1 << 28 {
        updates(&updater, &constraints(n, r, 500, 3))?;
    } else {
        let mut now = updater;
        for (at, (name, rule)) in rules().into_iter().enumerate() {
            now.set_rule(rule)?;
            for seed in 0..9 {
                let batch = constraints(n, r, 500, 3 + 9 * at as u64 + seed);
                let start = Instant::now();
                let report = now.update(&batch)?;
                let taken = start.elapsed().as_secs_f64() * 1e3;
                println!(
                    "update {name}: {taken:.3} ms, {} iterations, gap {:?}",
                    report.iterations, report.gap
                );
            }
        }
    }
    println!("peak {} MiB", peak());
    Ok(())
}

fn rules() -> [(&'static str, UpdateRule); 3] {
    [
        ("additive", AdditiveUpdate::default().into()),
        ("multiplicative", MultiplicativeUpdate::default().into()),
        ("exact", ExactUpdate::default().into()),
    ]
}
