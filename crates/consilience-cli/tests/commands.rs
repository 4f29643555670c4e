//! Every command does its job, tells what JSON promises, and gives the same files at any number of
//! threads.

mod common;

use common::{Folder, is_number, prepared};
use consilience::catalogue::{Settings, by_name};

const METHODS: [&str; 33] = [
    "pta-al",
    "pta-cl",
    "pta-sl",
    "ptgp",
    "eac-al",
    "eac-cl",
    "eac-sl",
    "eac-ward",
    "weac-al",
    "gp-mgla",
    "cspa",
    "hgpa",
    "mcla",
    "hbgf",
    "mm",
    "qmi",
    "voting",
    "least-squares",
    "wct-al",
    "srs-al",
    "srw",
    "ecmc-al",
    "lwea",
    "ec-cms",
    "sdgca",
    "lwgp",
    "ecpcs-hc",
    "ecpcs-mc",
    "usenc",
    "diffusion",
    "pcc-kl",
    "pcc-l2",
    "auto",
];
/// Those that cannot choose the number of clusters: several criteria choose it for them.
const NEEDS_CLUSTERS: [&str; 6] = ["mm", "qmi", "voting", "least-squares", "usenc", "ecmc-al"];
const GENERATORS: [&str; 7] =
    ["kmeans", "minibatch", "kernel-kmeans", "rpcl", "spectral", "agglomerative", "uspec"];
const SCORES: [&str; 12] = [
    "nmi_max",
    "nmi_sqrt",
    "nmi_arithmetic",
    "ami",
    "ari",
    "rand",
    "accuracy",
    "purity",
    "v_measure",
    "vi",
    "pair_f",
    "fowlkes_mallows",
];

#[test]
fn consensus_finds_the_classes_by_every_method() {
    let folder = prepared();
    for method in METHODS {
        let reply = folder.json(&format!(
            "consensus pool.csv --method {method} --clusters 4 --truth truth.csv -o {method}.csv"
        ));
        assert_eq!(reply["method"], method);
        assert_eq!((reply["n"].as_u64(), reply["members"].as_u64()), (Some(120), Some(12)));
        assert_eq!(reply["clusters"], 4, "{method}");
        for key in ["microclusters", "iterations", "seed", "threads"] {
            assert!(is_number(&reply[key]), "{method}: {key}");
        }
        assert!(reply["status"].is_string() && reply["notes"].is_array());
        assert!(reply.get("objective").is_some() && reply.get("peak_rss_bytes").is_some());
        for key in ["read", "total"] {
            assert!(
                is_number(&reply["seconds"][key]),
                "{method}: seconds of {key} in {}",
                reply["seconds"]
            );
        }
        // Not every method has each of these stages; the names are always there.
        for key in ["microclusters", "similarity", "partition"] {
            assert!(
                reply["seconds"].get(key).is_some(),
                "{method}: seconds of {key} in {}",
                reply["seconds"]
            );
        }
        for score in SCORES {
            assert!(is_number(&reply["scores"][score]), "{method}: {score}");
        }
        // Single link may chain; everything else must see through a tenth of mistakes.
        if !method.ends_with("-sl") {
            assert!(reply["scores"]["ari"].as_f64() > Some(0.9), "{method}: {}", reply["scores"]);
        }
        let again = folder.json(&format!("score {method}.csv truth.csv"));
        assert_eq!(again["scores"], reply["scores"], "{method}");
    }
}

#[test]
fn consensus_chooses_the_number_of_clusters_itself() {
    let folder = prepared();
    for method in METHODS {
        let reply = folder.json(&format!("consensus pool.csv --method {method}"));
        assert!(reply["clusters"].as_u64() >= Some(1), "{method}");
        assert!(reply.get("scores").is_none());
        if NEEDS_CLUSTERS.contains(&method) {
            let agreed =
                folder.json(&format!("consensus pool.csv --method {method} --clusters auto"));
            assert_eq!(reply["clusters"], agreed["clusters"], "{method}");
        }
    }
}

#[test]
fn consensus_needs_an_ensemble_and_nothing_else() {
    let folder = prepared();
    let reply = folder.json("consensus pool.csv --truth truth.csv");
    assert_eq!((reply["method"].as_str(), reply["clusters"].as_u64()), (Some("auto"), Some(4)));
    assert!(reply["scores"]["ari"].as_f64() > Some(0.9), "{}", reply["scores"]);
    let named = folder.json("consensus pool.csv --method auto --truth truth.csv");
    assert_eq!(named["scores"], reply["scores"]);
}

#[test]
fn consensus_takes_columns_parameters_and_soft_outputs() {
    let folder = prepared();
    let reply =
        folder.json("consensus pool.csv --method ptgp --clusters 4 --columns 3,0,7 --seed 5");
    assert_eq!((reply["members"].as_u64(), reply["seed"].as_u64()), (Some(3), Some(5)));
    folder.ok("consensus pool.csv --method ptgp --clusters 4 --param elite_neighbours=3 --param \
         walk_length=2 --param restarts=2");
    let ran =
        folder.ok("consensus pool.csv --method eac-al --clusters 4 -o hard.npy --soft soft.npz");
    assert!(ran.stderr.starts_with("note: "), "{}", ran.stderr);
    assert_eq!(folder.json("score --soft soft.npz hard.npy")["scores"]["jensen_shannon"], 0.0);
    let quiet =
        folder.ok("consensus pool.csv --method eac-al --clusters 4 --soft soft.csv --quiet");
    assert_eq!(quiet.stderr, "");
    assert_eq!(folder.json("score --soft soft.csv soft.npz")["scores"]["jensen_shannon"], 0.0);
}

/// Whatever a method takes can be said, by its name or by the letter of its paper.
#[test]
fn consensus_passes_parameters_to_every_method() {
    let folder = prepared();
    for (method, params) in [
        ("pta-al", "K=3,T=2"),
        ("weac-al", "beta=1,linkage=complete"),
        ("wct-al", "decay=0.5,linkage=single"),
        ("srs-al", "linkage=ward"),
        ("ecmc-al", "c=2,d0=0.2,d1=0.8,linkage=complete"),
        ("gp-mgla", "alpha=0.3,beta=1"),
        ("lwea", "theta=0.2,linkage=complete"),
        ("cspa", "cut=spectral,restarts=2"),
        ("mcla", "cut_method=spectral"),
        ("diffusion", "theta=0.2,width=1"),
        ("mm", "tolerance=1e-4,max_iterations=20"),
        ("pcc-kl", "solver=line-search,pairs=0.5"),
        ("pcc-l2", "pairs=1,max_iterations=50"),
    ] {
        let given: String = params.split(',').map(|p| format!(" --param {p}")).collect();
        let reply =
            folder.json(&format!("consensus pool.csv --method {method} --clusters 4{given}"));
        assert!(reply["clusters"].as_u64() >= Some(1), "{method} {params}");
    }
    let fails = |how: &str, needles: &[&str]| {
        folder.fails(&format!("consensus pool.csv --clusters 4 --method {how}"), needles);
    };
    fails("lwea --param theta=x", &["--param theta=x:", "expected a number"]);
    fails("srw --param region=0", &["region: only with seeds=agreement"]);
    fails("cspa --param cut=hypergraph --param restarts=3", &["only with cut_method=spectral"]);
    fails("lwea --param theta=0", &["0"]);
    fails("lwea --param theta=1 --param entropy_scale=1", &["twice"]);
    fails("lwea --param linkage=double", &["linkage=double", "single, average, complete, ward"]);
    fails("pcc-kl --param pairs=2", &["2"]);
}

#[test]
fn a_cut_by_metis_is_there_where_it_is_built_in() {
    let folder = prepared();
    // The program takes what its library has; in the whole workspace another crate may ask for it.
    let asked = Settings::new(4).parameter("cut", "metis");
    for method in ["cspa", "hgpa", "mcla"] {
        let metis = format!(
            "consensus pool.csv --method {method} --clusters 4 --param cut=metis --truth truth.csv"
        );
        if by_name(method).unwrap().build(&asked).is_ok() {
            assert!(folder.json(&metis)["scores"]["ari"].as_f64() > Some(0.8), "{method}");
        } else {
            folder.fails(&metis, &["cut=metis", "spectral"]);
        }
    }
}

#[test]
fn fewer_clusters_than_asked_for_are_reported() {
    let folder = Folder::new();
    folder.write("pool.csv", "0,0\n0,0\n1,1\n1,1\n");
    let reply = folder.json("consensus pool.csv --method eac-al --clusters 3 -o labels.csv");
    // How the method ended is one thing, what came out another.
    assert_eq!((reply["clusters"].as_u64(), reply["status"].as_str()), (Some(2), Some("solved")));
    assert_eq!(reply["clusters_missing"], 1);
    let complete = folder.json("consensus pool.csv --method eac-al --clusters 2");
    assert!(complete.get("clusters_missing").is_none());
    assert_eq!(reply["notes"].as_array().map(Vec::len), Some(1));
    let ran = folder.ok("consensus pool.csv --method eac-al --clusters 3");
    assert!(ran.stderr.starts_with("note: ") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    assert_eq!(folder.text("labels.csv"), "label\n0\n0\n1\n1\n");
}

#[test]
fn generate_makes_an_ensemble_by_every_method() {
    let folder = prepared();
    for method in GENERATORS {
        let reply = folder.json(&format!(
            "generate x.csv --method {method} --members 5 --clusters 4..6 -o {method}.npz \
            --truth truth.csv --scale zscore"
        ));
        assert_eq!(reply["method"], method);
        assert_eq!((reply["n"].as_u64(), reply["members"].as_u64()), (Some(120), Some(5)));
        assert_eq!(reply["clusters"].as_array().map(Vec::len), Some(5));
        assert!(is_number(&reply["seconds"]["read"]) && is_number(&reply["seconds"]["total"]));
        for score in SCORES {
            assert!(is_number(&reply["scores"][score]), "{method}: {score}");
        }
        folder.ok(&format!("consensus {method}.npz --method eac-al --clusters 4"));
    }
}

#[test]
fn generate_takes_the_parameters_of_its_method() {
    let folder = prepared();
    let pool = |name: &str, how: &str| {
        folder.ok(&format!("generate x.csv --members 4 --clusters 4..6 -o {name} {how}"));
        folder.read(name)
    };
    for (method, param) in [
        ("kmeans", "max_iterations=1"),
        ("minibatch", "batches=1"),
        ("kernel-kmeans", "width=0.01"),
        ("rpcl", "learning_rate=0.9"),
        ("rpcl", "presentations=1"),
        ("spectral", "neighbours=1"),
        ("agglomerative", "linkage=single"),
        ("uspec", "neighbours=1"),
    ] {
        let how = format!("--method {method}");
        let plain = pool("plain.npy", &how);
        assert_ne!(plain, pool("tuned.npy", &format!("{how} --param {param}")), "{method} {param}");
    }
    assert_ne!(pool("plain.npy", ""), pool("projected.npy", "--projection 1"));
    folder.fails("generate x.csv -o o.npy --param width=2", &["width", "kmeans takes restarts"]);
    folder.fails(
        "generate x.csv -o o.npy --method agglomerative --param linkage=double",
        &["linkage=double", "single, average, complete, ward"],
    );
    folder.fails("generate x.csv -o o.npy --param restarts=0", &["0"]);
}

#[test]
fn generate_draws_from_a_range_that_follows_the_objects() {
    let folder = prepared();
    // The root of 120.
    let reply = folder.json("generate x.csv -o pool.npy");
    assert_eq!(reply["range"], serde_json::json!([2, 10]));
    let clusters = reply["clusters"].as_array().unwrap();
    assert!(clusters.iter().all(|k| (2..=10).contains(&k.as_u64().unwrap())), "{clusters:?}");
    let text = folder.ok("generate x.csv -o pool.npy").stdout;
    assert!(text.lines().any(|line| line.contains("2 to 10 clusters")), "{text}");
    let reply = folder.json("generate x.csv -o pool.npy --clusters 7..9");
    assert_eq!(reply["range"], serde_json::json!([7, 9]));
}

#[test]
fn generate_and_consensus_do_the_main_job() {
    let folder = prepared();
    folder.ok("generate x.csv -o pool.npy --clusters 4..8 --object-fraction 0.7 --scale minmax");
    let reply = folder.json("consensus pool.npy --method ptgp --clusters 4 --truth truth.csv");
    assert_eq!(reply["scores"]["ari"], 1.0);
}

#[test]
fn threads_leave_no_trace_in_the_files() {
    let folder = prepared();
    for (ending, method) in
        [("npy", "ptgp"), ("npz", "pta-al"), ("csv", "eac-ward"), ("parquet", "ptgp")]
    {
        let mut files = Vec::new();
        for threads in [1, 2, 3, 8] {
            folder.ok(&format!(
                "generate x.csv -o pool.{ending} --members 9 --clusters 2..9 --threads {threads}"
            ));
            let reply = folder.json(&format!(
                "consensus pool.{ending} --method {method} --clusters 3 -o labels.{ending} \
                --threads {threads}"
            ));
            assert_eq!(reply["threads"], threads);
            files.push((
                folder.read(&format!("pool.{ending}")),
                folder.read(&format!("labels.{ending}")),
            ));
        }
        assert!(files.windows(2).all(|w| w[0] == w[1]), "{ending}");
    }
}

#[test]
fn the_seed_matters_and_is_all_that_matters() {
    let folder = prepared();
    let pool = |name: &str, seed: u64| {
        folder.ok(&format!("generate x.csv -o {name} --clusters 5..9 --seed {seed}"));
        folder.read(name)
    };
    assert_eq!(pool("a.npy", 1), pool("b.npy", 1));
    assert_ne!(pool("a.npy", 1), pool("b.npy", 2));
}

#[test]
fn score_knows_equal_and_swapped_labels() {
    let folder = Folder::new();
    folder.write("a.csv", "5\n5\n9\n9\n-1\n");
    folder.write("b.csv", "label\n1\n1\n0\n0\n0\n");
    let reply = folder.json("score a.csv a.csv");
    assert_eq!(
        (reply["scores"]["ari"].as_f64(), reply["scores"]["vi"].as_f64()),
        (Some(1.0), Some(0.0))
    );
    let ran = folder.ok("score a.csv b.csv");
    assert!(ran.stdout.lines().any(|line| line.starts_with("nmi_max ")), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("note: 4 of 5 objects are compared"), "{}", ran.stderr);
}

#[test]
fn demo_shows_that_consensus_helps() {
    let folder = Folder::new();
    let reply = folder.json("demo");
    assert_eq!((reply["n"].as_u64(), reply["members"].as_u64()), (Some(1797), Some(30)));
    let nmi = |name: &str| {
        let results = reply["results"].as_array().unwrap();
        let line = results.iter().find(|line| line["name"] == name).unwrap();
        line["scores"]["nmi_max"].as_f64().unwrap()
    };
    assert!(nmi("pta-al") > nmi("members, mean") + 0.05, "{reply}");
    assert!(nmi("ptgp") > nmi("members, mean") + 0.05, "{reply}");
    // What is taken without --method is among them.
    assert!(nmi("auto") > nmi("members, mean") + 0.05, "{reply}");
    let ran = folder.ok("demo --seed 3");
    assert!(ran.stdout.contains("pta-al") && ran.stdout.contains("consilience consensus pool.npz"));
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("\nauto "), "{}", ran.stdout);
    assert!(folder.names().is_empty());
    folder.fails("demo --id name", &["--id", "no ids"]);
}

#[test]
fn help_offers_what_a_command_has_use_for() {
    let folder = Folder::new();
    let offers = |command: &str, option: &str| {
        folder.ok(&format!("{command} --help")).stdout.contains(&format!("{option} <"))
    };
    assert!(offers("consensus", "--id") && offers("consensus", "--seed"));
    assert!(!offers("demo", "--id") && offers("demo", "--seed"));
    for command in ["score", "predict"] {
        assert!(!offers(command, "--seed") && offers(command, "--id"), "{command}");
    }
    folder.write("a.csv", "0\n0\n1\n");
    // It is taken all the same, as by every command.
    assert_eq!(folder.json("score a.csv a.csv --seed 3")["seed"], 3);
    let help = folder.ok("score --help").stdout;
    let reply = folder.json("score a.csv a.csv");
    for name in reply["scores"].as_object().unwrap().keys() {
        assert!(help.contains(name.as_str()), "{name}: {help}");
    }
}

#[test]
fn help_list_and_version_say_what_there_is() {
    let folder = Folder::new();
    for command in ["demo", "generate", "consensus", "cluster", "score", "plot"] {
        let help = folder.ok(&format!("{command} --help")).stdout;
        assert!(help.contains(&format!("Example: consilience {command}")), "{help}");
    }
    assert!(folder.ok("--help").stdout.contains("Example: consilience demo"));
    assert!(folder.ok("--version").stdout.starts_with("consilience "));
    let list = folder.ok("consensus --list").stdout;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, METHODS);
    let sourced = |line: &str| line.contains("20") || line.contains("consilience::");
    assert!(list.lines().all(sourced), "every line names a paper or what describes it: {list}");
    let reply = folder.json("consensus --list");
    let methods = reply["methods"].as_array().unwrap();
    assert_eq!(methods.len(), METHODS.len());
    for method in methods {
        let names = method["params"].as_array().unwrap();
        let parameters = method["parameters"].as_array().unwrap();
        assert_eq!(names.len(), parameters.len(), "{}", method["name"]);
        for parameter in parameters {
            assert!(names.contains(&parameter["name"]), "{parameter}");
            assert!(parameter["default"].is_string() && parameter["range"].is_string());
        }
    }
}

#[test]
fn a_long_run_is_announced() {
    let folder = Folder::new();
    let mut dice = common::Dice::new(7);
    let rows: Vec<Vec<i64>> =
        (0..12_000).map(|_| (0..10).map(|_| dice.below(20) as i64).collect()).collect();
    folder.write("large.csv", common::csv(&rows));
    let line = "consensus large.csv --method pta-al --clusters 20";
    let mut child = folder.command(line).spawn().unwrap();
    let mut said = String::new();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut stderr, &mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.starts_with("note: about ") && said.contains("different rows"), "{said}");
    assert!(said.contains("; --method usenc takes about "), "{said}");
}

#[cfg(unix)]
mod signals {
    use super::common::{Folder, exists, prepared};
    use std::fs::OpenOptions;
    use std::io::{Read, Write};
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    fn interrupt(child: &Child) {
        assert!(
            Command::new("kill")
                .args(["-INT", &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Starts a run that waits for its input at a pipe, with its temporary file already there.
    fn waiting(folder: &Folder) -> (Child, std::fs::File) {
        assert!(Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
        let child = folder
            .command("consensus pipe.csv --method eac-al --clusters 2 -o out.csv")
            .spawn()
            .unwrap();
        // Opening the pipe returns as soon as the program has opened its end.
        let pipe = OpenOptions::new().write(true).open(folder.path("pipe.csv")).unwrap();
        assert_eq!(folder.names().len(), 2, "{:?}", folder.names());
        (child, pipe)
    }

    #[test]
    fn the_first_interrupt_stops_and_leaves_nothing() {
        let folder = Folder::new();
        let (mut child, mut pipe) = waiting(&folder);
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(200));
        pipe.write_all(b"0,0\n1,1\n").unwrap();
        drop(pipe);
        let mut reply = String::new();
        child.stderr.take().unwrap().read_to_string(&mut reply).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(
            (reply.lines().count(), reply.starts_with("error: cancelled")),
            (1, true),
            "{reply}"
        );
        assert_eq!(folder.names(), ["pipe.csv"]);
    }

    #[test]
    fn one_interrupt_ends_what_does_not_listen() {
        let folder = Folder::new();
        let (mut child, pipe) = waiting(&folder);
        interrupt(&child);
        // Nobody writes to the pipe: the read never returns.
        let mut reply = String::new();
        child.stderr.take().unwrap().read_to_string(&mut reply).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(reply, "error: cancelled; nothing was written\n");
        drop(pipe);
        assert_eq!(folder.names(), ["pipe.csv"]);
    }

    #[test]
    fn the_second_interrupt_ends_at_once_and_leaves_nothing() {
        let folder = Folder::new();
        let (mut child, pipe) = waiting(&folder);
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(200));
        interrupt(&child);
        let start = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(start.elapsed() < Duration::from_secs(5));
        drop(pipe);
        assert_eq!(folder.names(), ["pipe.csv"]);
    }

    #[test]
    fn a_closed_pipe_is_no_panic() {
        let folder = prepared();
        let mut child = folder
            .command("consensus pool.csv --method eac-al --clusters 4 -o out.csv")
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut reply = String::new();
        child.stderr.take().unwrap().read_to_string(&mut reply).unwrap();
        assert_eq!((child.wait().unwrap().code(), &reply[..]), (Some(0), ""));
        assert!(exists(&folder.path("out.csv")));
    }
}

#[test]
fn rows_may_stand_for_many() {
    let folder = Folder::new();
    folder.write("rows.csv", "0,0,1\n0,0,0\n1,0,0\n1,1,1\n1,1,0\n");
    folder.write("counts.csv", "3\n1\n2\n1\n4\n");
    folder.write("truth.csv", "0\n0\n1\n1\n1\n");
    let repeat = |text: &str| -> String {
        let lines = text.lines().zip([3, 1, 2, 1, 4]);
        lines.map(|(line, times)| format!("{line}\n").repeat(times)).collect()
    };
    let text = |name: &str| {
        let text = folder.text(name);
        text.strip_prefix("label\n").unwrap_or(&text).to_owned()
    };
    folder.write("all.csv", repeat(&text("rows.csv")));
    folder.write("all-truth.csv", repeat(&text("truth.csv")));
    for method in ["auto", "pta-al", "lwea", "mcla", "qmi"] {
        let few = folder.json(&format!(
            "consensus rows.csv --counts counts.csv --method {method} --clusters 2 -o few.csv \
             --truth truth.csv --diagnose"
        ));
        let many = folder.json(&format!(
            "consensus all.csv --method {method} --clusters 2 -o many.csv --truth all-truth.csv \
             --diagnose"
        ));
        assert_eq!(repeat(&text("few.csv")), text("many.csv"), "{method}");
        assert_eq!((&few["n"], &few["rows"]), (&many["n"], &serde_json::json!(5)), "{method}");
        assert_eq!(few["scores"], many["scores"], "{method}");
        let (few, many) = (
            folder.json("score few.csv truth.csv --counts counts.csv"),
            folder.json("score many.csv all-truth.csv"),
        );
        assert_eq!((&few["n"], &few["scores"]), (&many["n"], &many["scores"]), "{method}");
    }
    // Rows 0, 2 and 3 begin at objects 0, 4 and 6.
    folder.write("pairs.csv", "0,2,cannot\n2,3,must\n");
    folder.write("all-pairs.csv", "0,4,cannot\n4,6,must\n");
    let update = |args: &str| folder.json(&format!("update {args} --clusters 2 --rule exact"));
    let (few, many) = (
        update("rows.csv --counts counts.csv --constraints pairs.csv -o few.csv --truth truth.csv"),
        update("all.csv --constraints all-pairs.csv -o many.csv --truth all-truth.csv"),
    );
    assert_eq!(repeat(&text("few.csv")), text("many.csv"));
    assert_eq!((&few["n"], &few["scores"]), (&many["n"], &many["scores"]));
    for what in ["co-association", "dendrogram", "cdf"] {
        folder.ok(&format!("plot {what} rows.csv --counts counts.csv -o few.svg"));
        folder.ok(&format!("plot {what} all.csv -o many.svg"));
        assert_eq!(folder.read("few.svg"), folder.read("many.svg"), "{what}");
    }
    let new = "update rows.csv --counts counts.csv --new-objects rows.csv --clusters 2";
    folder.fails(&format!("{new} --constraints pairs.csv"), &["--counts", "--new-objects"]);
    folder.fails("plot memberships few.csv --counts counts.csv -o no.svg", &["--counts"]);
    for (bad, needles) in [
        ("3\n1\n2\n0\n4\n", ["row 3", "count 0"]),
        ("3\n1\n2\n1.5\n4\n", ["row 3", "count 1.5"]),
        ("3\n1\n2\n", ["3 counts", "5 objects"]),
        ("3,1\n1,1\n2,1\n1,1\n4,1\n", ["2 columns", "expected 1"]),
        ("1\n9e15\n1\n1\n9e15\n", ["2^53", "object 4"]),
    ] {
        folder.write("bad.csv", bad);
        folder.fails("consensus rows.csv --counts bad.csv -o never.csv", &needles);
    }
    assert!(!folder.path("never.csv").exists());
}
