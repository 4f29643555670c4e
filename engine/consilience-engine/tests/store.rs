//! Tables and outputs in an object store: the same results as in files, all of an output or
//! nothing of it, and what is said where something is wrong.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::store::{Store, Trouble};
use common::{Party, contents, json, names, program};
use serde_json::Value;
use tempfile::TempDir;

fn run(store: &Store, folder: &Path, arguments: &str) -> Output {
    let mut program = program();
    let program = store.known_to(&mut program).args(arguments.split_whitespace());
    program.current_dir(folder).output().unwrap()
}

fn told(store: &Store, folder: &Path, arguments: &str) -> Value {
    let output = run(store, folder, &format!("{arguments} --json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One line on standard error, exit code 2, nothing new in the folder, and in the store neither
/// objects nor parts of them.
fn refused(store: &Store, folder: &Path, arguments: &str, about: &str) {
    let before = (names(folder), store.below(""));
    let output = run(store, folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
    assert!(said.contains(about), "{arguments}: {said}");
    assert_eq!(store.open_uploads(), 0, "{arguments}");
    assert_eq!((names(folder), store.below("")), before, "{arguments}");
}

/// A store and a folder with the same ensemble, features, links and single file.
fn worlds() -> (Store, TempDir) {
    let (store, folder) = (Store::start(), tempfile::tempdir().unwrap());
    let at = folder.path();
    json(at, "make ensemble pool --files 3 --rows 2000 --columns 8 --distinct 120 --seed 4");
    json(at, "make features x --files 2 --rows 1500 --columns 4");
    fs::write(at.join("pairs.csv"), "i,j,link\n0,1,cannot\n0,5999,cannot\n3,4000,must\n").unwrap();
    for table in ["pool", "x"] {
        for (name, bytes) in contents(&at.join(table)) {
            store.put(&format!("in/{table}/{name}"), bytes);
        }
    }
    // What other programs leave beside tables.
    store.put("in/pool/_SUCCESS", Vec::new());
    store.put("in/pool/notes.txt", b"hello".to_vec());
    store.put("in/pool/deeper/part-00009.parquet", b"not read".to_vec());
    (store, folder)
}

#[test]
fn the_same_as_in_files() {
    let (store, folder) = worlds();
    let at = folder.path();
    let verbs = [
        ("consensus", "pool", "--method pta-al --clusters 4 --diagnose"),
        ("consensus", "pool/", "--method lwea --clusters 4 --sample 50"),
        ("consensus", "pool/part-*.parquet", "--clusters 3"),
        ("consensus", "pool/part-0000?.parquet", "--method hbgf --clusters 3 --id m1"),
        ("update", "pool", "--constraints pairs.csv --method lwea --clusters 4"),
        ("update", "pool", "--constraints pairs.csv --method lwea --clusters 4 --rule additive"),
        ("generate", "x", "--members 4 --clusters 3..8 --scale zscore"),
        ("generate", "x", "--members 4 --clusters 3..8 --sample 900 --passes 3"),
        ("generate", "x", "--members 2 --clusters 3..5 --sample 900 --method uspec"),
    ];
    for (number, (verb, table, more)) in verbs.iter().enumerate() {
        let (ours, theirs) = (format!("ours{number}"), format!("out/theirs{number}/"));
        let one = json(at, &format!("{verb} {table} {more} -o {ours}"));
        let line = format!("{verb} s3://pools/in/{table} {more} -o s3://pools/{theirs}");
        let other = told(&store, at, &line);
        assert_eq!((&one["n"], &one["sizes"]), (&other["n"], &other["sizes"]), "{line}");
        assert_eq!(contents(&at.join(ours)), store.below(&theirs), "{line}");
    }
    let one = json(at, "score ours0 ours1");
    let other = told(&store, at, "score s3://pools/out/theirs0 s3://pools/out/theirs1");
    assert_eq!(one["scores"], other["scores"]);
    // One file to one object, also where one is already; memberships; mixed places.
    json(at, "consensus pool/part-00001.parquet --clusters 3 -o one.parquet --soft soft.parquet");
    let table = "consensus s3://pools/in/pool/part-00001.parquet --clusters 3";
    let outputs = "-o s3://pools/one.parquet --soft s3://pools/soft.parquet";
    for _ in 0..2 {
        told(&store, at, &format!("{table} {outputs}"));
        for name in ["one.parquet", "soft.parquet"] {
            assert_eq!(store.below(name)[0].1, fs::read(at.join(name)).unwrap());
        }
    }
    told(&store, at, &format!("{table} -o mixed.parquet --truth s3://pools/one.parquet"));
    assert_eq!(fs::read(at.join("mixed.parquet")).unwrap(), store.below("one.parquet")[0].1);
    assert_eq!(store.open_uploads(), 0);
}

#[test]
fn files_appear_after_all_their_bytes_are_there() {
    let (store, folder) = worlds();
    store.requests();
    told(&store, folder.path(), "consensus s3://pools/in/pool --clusters 3 -o s3://pools/out");
    let all = store.requests();
    let places = |what: &str| -> Vec<usize> {
        (0..all.len()).filter(|&i| all[i].starts_with(what)).collect()
    };
    let parts = places("PUT out/part-");
    let appear: Vec<usize> =
        places("POST out/part-").into_iter().filter(|&i| all[i].contains("uploadId")).collect();
    let (mark, unmark) = (places("PUT out/_unfinished"), places("POST  {\"delete\""));
    assert_eq!((parts.len(), appear.len(), mark.len(), unmark.len()), (3, 3, 1, 1), "{all:?}");
    assert!(mark[0] < parts[0] && parts[2] < appear[0] && appear[2] < unmark[0], "{all:?}");
    let names: Vec<String> = store.below("out/").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]);
}

#[test]
fn names_and_places() {
    let (store, folder) = worlds();
    let at = folder.path();
    let refused = |line: &str, about: &str| refused(&store, at, line, about);
    refused("consensus s3://pools/none -o s3://pools/out", "s3://pools/none: no such object");
    refused("consensus s3://pools/in/pool/x*.parquet -o out", "no object matches");
    refused("consensus gs://pools/in -o out", "no store gs://; expected s3://bucket/key");
    refused("consensus s3:///in -o out", "no bucket");
    refused("consensus s3://pools/in//pool -o out", "s3://pools/in//pool: ");
    let file = store.below("in/pool/part-00000")[0].1.clone();
    store.put("short.parquet", file[..500].to_vec());
    refused("consensus s3://pools/short.parquet -o out", "short.parquet: not a readable Parquet");
    store.put("empty.parquet", Vec::new());
    refused("consensus s3://pools/empty.parquet -o out", "empty.parquet: not a readable Parquet");
    store.put("held/what", Vec::new());
    store.put("object", Vec::new());
    let table = "consensus s3://pools/in/pool --clusters 3";
    refused(&format!("{table} -o s3://pools/held"), "s3://pools/held: holds something");
    refused(&format!("{table} -o s3://pools/object"), "s3://pools/object: is an object");
    refused(&format!("{table} -o s3://pools/"), "expected another name");
    refused(&format!("{table} -o s3://pools/a.parquet"), "expected the name of a folder");
    refused(
        "consensus s3://pools/one.parquet --clusters 3 -o s3://pools/one.parquet",
        "s3://pools/one.parquet: no such object",
    );
    store.put("one.parquet", file.clone());
    refused(
        "consensus s3://pools/one.parquet --clusters 3 -o s3://pools/one.parquet",
        "is a file of the table",
    );
    // What a run has left that was ended before it had finished.
    store.put("left/part-00000.parquet", file);
    store.put("left/_unfinished", Vec::new());
    let about = "s3://pools/left: another program writes here, or was ended";
    refused("consensus s3://pools/left --clusters 3 -o out", about);
    refused(&format!("{table} -o s3://pools/left"), about);
}

#[test]
fn damaged_objects() {
    let (store, folder) = worlds();
    let at = folder.path();
    let sound = store.below("in/pool/part-00001")[0].1.clone();
    let links = "--constraints pairs.csv --rule additive --method lwea --clusters 4";
    for number in 0..40 {
        // Spread over pages, the places of pages, and the footer.
        let place = number * 7919 % sound.len();
        let mut damaged = sound.clone();
        damaged[place] ^= 1 << (number % 8);
        store.put("in/pool/part-00001.parquet", damaged);
        // Pages have no checksums: what yields another label is not seen, and does no harm.
        let output = run(&store, at, &format!("update s3://pools/in/pool {links} --quiet"));
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => assert_eq!(said, "", "{place}"),
            Some(2) => {
                assert!(said.starts_with("error: ") && said.contains("part-00001"), "{said}");
                assert_eq!(said.lines().count(), 1, "{said}");
            }
            other => panic!("{place}: {other:?}, {said}"),
        }
    }
}

#[test]
fn a_store_that_stumbles() {
    let (store, folder) = worlds();
    let at = folder.path();
    json(at, "consensus pool --method lwea --clusters 4 -o ours");
    let line = "consensus s3://pools/in/pool --method lwea --clusters 4 -o s3://pools/out";
    for trouble in [Trouble::Status(503), Trouble::Status(500), Trouble::Cut, Trouble::Silent] {
        // Every third request; but what begins or ends an upload is not answered by silence: begun
        // twice it would stay, and ended twice it is not there the second time.
        let mut count = 0;
        store.trouble(move |method, _| {
            count += 1;
            let any = matches!(trouble, Trouble::Status(_)) || method != "POST";
            (count % 3 == 0 && any).then_some(trouble)
        });
        told(&store, at, line);
        store.no_trouble();
        assert_eq!(store.below("out/"), contents(&at.join("ours")), "{trouble:?}");
        for (name, _) in store.below("out/") {
            store.remove(&format!("out/{name}"));
        }
        assert_eq!(store.open_uploads(), 0, "{trouble:?}");
    }
}

#[test]
fn a_store_that_fails() {
    let (store, folder) = worlds();
    let at = folder.path();
    let line = "consensus s3://pools/in/pool --method lwea --clusters 4 -o s3://pools/out";
    let cases: [(&str, &str, u16, &str); 7] = [
        ("GET", "in/pool/part-00001", 403, "part-00001.parquet: the object store denies"),
        ("GET", "in/pool/part-00002", 500, "part-00002.parquet: the object store cannot be"),
        ("PUT", "out/_unfinished", 412, "another program writes here"),
        ("PUT", "out/part-00001", 500, "part-00001.parquet: the object store cannot be asked"),
        ("POST", "out/part-00002.parquet {\"uploads\"", 403, "part-00002.parquet: the object"),
        ("POST", "out/part-00001.parquet {\"uploadId\"", 403, "part-00001.parquet: the object"),
        ("POST", "out/part-00000.parquet {\"uploadId\"", 500, "part-00000.parquet: the object"),
    ];
    for (method, target, status, about) in cases {
        store.trouble(move |asked, about| {
            (asked == method && about.starts_with(target)).then_some(Trouble::Status(status))
        });
        refused(&store, at, line, about);
        store.no_trouble();
    }
    // Changed between footer and columns.
    let mut seen = 0;
    store.trouble(move |method, target| {
        let about = method == "GET" && target.starts_with("in/pool/part-00002");
        seen += usize::from(about);
        (about && seen > 1).then_some(Trouble::Status(412))
    });
    refused(&store, at, line, "part-00002.parquet: changed while it was read");
    // Before the end of a query, which asks for no version.
    store.trouble(|method, target| {
        (method == "HEAD" && target.starts_with("in/pool/part-00001")).then_some(Trouble::Newer)
    });
    let quick = "consensus s3://pools/in/pool --method lwea --clusters 4";
    refused(&store, at, quick, "part-00001.parquet: changed while it was read");
    store.no_trouble();
    // Somebody else.
    let mut other = program();
    let other = store.known_to(&mut other).env("AWS_ACCESS_KEY_ID", "nobody");
    let output = other.args(line.split_whitespace()).current_dir(at).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("the object store denies permission"), "{said}");
}

#[test]
fn what_an_object_held_before_stays_where_another_cannot_appear() {
    let (store, folder) = worlds();
    store.put("one.parquet", b"precious".to_vec());
    for status in [400, 403, 404, 500] {
        store.trouble(move |method, target| {
            let ends = method == "POST" && target.starts_with("one.parquet {\"uploadId\"");
            ends.then_some(Trouble::Status(status))
        });
        let table = "consensus s3://pools/in/pool/part-00001.parquet --clusters 3";
        refused(&store, folder.path(), &format!("{table} -o s3://pools/one.parquet"), "one.parq");
    }
}

#[test]
fn secrets_in_answers_are_not_shown() {
    let (store, folder) = worlds();
    store.trouble(|method, _| (method == "GET").then_some(Trouble::Status(400)));
    let output = run(&store, folder.path(), "consensus s3://pools/in/pool --clusters 3");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("Told") && !said.contains("secret"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_half_published_folder_stays_marked() {
    let (store, folder) = worlds();
    store.trouble(|method, target| {
        let last = method == "POST" && target.starts_with("out/part-00002.parquet {\"uploadId\"");
        // What has appeared cannot be removed any more.
        let removal = method == "POST" && target.starts_with(" {\"delete\"");
        (last || removal).then_some(Trouble::Status(403))
    });
    let line = "consensus s3://pools/in/pool --clusters 3 -o s3://pools/out";
    assert_eq!(run(&store, folder.path(), line).status.code(), Some(2));
    store.no_trouble();
    assert!(store.below("out/").iter().any(|(name, _)| name == "_unfinished"));
    let about = "s3://pools/out: another program writes here, or was ended";
    refused(&store, folder.path(), "consensus s3://pools/out --clusters 3", about);
}

#[test]
fn any_names_of_files() {
    let (store, folder) = worlds();
    let at = folder.path();
    fs::create_dir(at.join("odd")).unwrap();
    // As bytes in another order than with percent signs.
    let names = ["z.parquet", "\u{e4}~1% #[x].parquet", "00%3A00.parquet"];
    for (number, name) in names.iter().enumerate() {
        let from = at.join(format!("pool/part-0000{number}.parquet"));
        fs::copy(from, at.join("odd").join(name)).unwrap();
        store.put(&format!("in/odd/{name}"), fs::read(at.join("odd").join(name)).unwrap());
    }
    json(at, "consensus odd --method lwea --clusters 4 -o ours");
    // Some programs make an empty folder like this.
    store.put("out/", Vec::new());
    let line = "consensus s3://pools/in/odd --method lwea --clusters 4 -o s3://pools/out";
    told(&store, at, line);
    store.remove("out/");
    assert_eq!(store.below("out/"), contents(&at.join("ours")));
    let scores = told(&store, at, "score s3://pools/out ours");
    assert_eq!(scores["scores"]["ari"], 1.0, "{scores}");
}

#[test]
fn a_user_who_stops_while_bytes_are_sent() {
    let (store, folder) = worlds();
    let (tell, told) = std::sync::mpsc::channel();
    store.trouble(move |method, target| {
        if method == "PUT" && target.starts_with("out/part-") {
            let _ = tell.send(());
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        None
    });
    let mut own = program();
    let own = store.known_to(&mut own).current_dir(folder.path());
    let line = "consensus s3://pools/in/pool --clusters 3 -o s3://pools/out";
    let child = own.args(line.split_whitespace()).stderr(std::process::Stdio::piped());
    let child = child.spawn().unwrap();
    told.recv().unwrap();
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!((store.below("out/"), store.open_uploads()), (Vec::new(), 0));
}

#[test]
fn nobody_answers() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program();
    let program = program.env("AWS_ENDPOINT", "http://127.0.0.1:9").env("AWS_ALLOW_HTTP", "true");
    let program = program.env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b");
    let started = std::time::Instant::now();
    let output = program.args(["score", "s3://b/k", "t"]).current_dir(&folder).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: s3://b/k: the object store cannot be asked"), "{said}");
    assert!(started.elapsed().as_secs() < 40);
}

#[test]
fn other_machines() {
    let (store, folder) = worlds();
    let at = folder.path();
    fs::create_dir(at.join("shared")).unwrap();
    let (_scheduler, address) = Party::scheduler("127.0.0.1:0", "");
    let _executors = [Party::executor_at(&store, &address), Party::executor_at(&store, &address)];
    let other = format!("--scheduler {address} --shared shared");
    for (number, (verb, table, more)) in [
        ("consensus", "pool", "--method pta-al --clusters 4"),
        ("update", "pool", "--constraints pairs.csv --method lwea --clusters 4"),
        ("generate", "x", "--members 3 --clusters 3..8 --sample 900"),
    ]
    .into_iter()
    .enumerate()
    {
        let (ours, theirs) = (format!("ours{number}"), format!("out{number}/"));
        json(at, &format!("{verb} {table} {more} -o {ours}"));
        let places = format!("s3://pools/in/{table} -o s3://pools/{theirs}");
        told(&store, at, &format!("{verb} {more} {other} {places}"));
        assert_eq!(contents(&at.join(ours)), store.below(&theirs), "{verb}");
    }
    assert_eq!(names(&at.join("shared")), [""; 0]);
}
