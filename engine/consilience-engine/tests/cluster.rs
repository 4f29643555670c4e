//! A scheduler and executors in processes of their own: the same results as one process, and what
//! becomes of them when parties are lost.

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Party, contents, json, refused, run};

#[test]
fn the_same_as_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 5 --rows 3000 --columns 8 --distinct 120 --seed 4");
    json(at, "make features x --files 3 --rows 2000 --columns 4");
    fs::write(at.join("pairs.csv"), "i,j,link\n0,1,cannot\n0,14999,cannot\n").unwrap();
    let (_scheduler, address) = Party::scheduler("127.0.0.1:0", "");
    let _executors = [Party::executor(&address, ""), Party::executor(&address, "")];
    let other = format!("--scheduler {address}");
    let verbs = [
        "consensus pool --method pta-al --clusters 4",
        "consensus pool --method lwea --clusters 4 --sample 50",
        "update pool --constraints pairs.csv --method lwea --clusters 4",
        "update pool --constraints pairs.csv --method lwea --clusters 4 --rule metric",
        "generate x --members 5 --clusters 3..8 --sample 900 --passes 3 --scale zscore",
        "generate x --members 5 --clusters 3..8 --sample 900 --method minibatch",
        "generate x --members 3 --clusters 3..8 --sample 900 --method uspec",
    ];
    for (number, verb) in verbs.iter().enumerate() {
        let (ours, theirs) = (format!("ours{number}"), format!("theirs{number}"));
        let one = json(at, &format!("{verb} -o {ours}"));
        let many = json(at, &format!("{verb} -o {theirs} {other}"));
        assert_eq!((&one["n"], &one["sizes"]), (&many["n"], &many["sizes"]), "{verb}");
        assert_eq!(contents(&at.join(ours)), contents(&at.join(theirs)), "{verb}");
    }
    let one = json(at, "score ours0 theirs1");
    let many = json(at, &format!("score ours0 theirs1 {other}"));
    assert_eq!(one["scores"], many["scores"]);
    // What is wrong with the data is said as in one process, and at once.
    fs::write(at.join("pool/part-00001.parquet"), "PAR1 no PAR1").unwrap();
    let started = Instant::now();
    refused(at, &format!("consensus pool -o other {other}"), "part-00001.parquet: not a readable");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn who_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 2 --rows 200 --columns 4 --distinct 20");
    // No scheduler.
    let line = "consensus pool --clusters 3 --scheduler 127.0.0.1:9 --patience 1 -o labels";
    refused(at, line, "the cluster gave up grouping: no scheduler answers at 127.0.0.1:9");
    // No executors.
    let (_scheduler, address) = Party::scheduler("127.0.0.1:0", "");
    let line = "consensus pool --clusters 3 --patience 1 --tries 2 -o labels";
    let line = format!("{line} --scheduler {address}");
    refused(at, &line, "no answer from any machine for 1 s");
    // One that comes late.
    let late = std::thread::spawn({
        let address = address.clone();
        move || {
            std::thread::sleep(Duration::from_secs(2));
            Party::executor(&address, "")
        }
    });
    let line = format!("consensus pool --clusters 3 -o labels --scheduler {address}");
    assert_eq!(json(at, &line)["n"], 400);
    drop(late.join().unwrap());
}

/// Beyond loopback all parties show certificates; whoever has none gets no answer.
#[test]
fn certificates() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    json(at, "make ensemble pool --files 2 --rows 200 --columns 4 --distinct 20");
    let open = run(at, "scheduler --listen 0.0.0.0:0");
    assert!(String::from_utf8_lossy(&open.stderr).contains("expected a loopback address"));
    refused(at, "consensus pool --scheduler 10.1.2.3:50050 -o labels", "expected a loopback");

    for (name, authority) in [("own", "own"), ("foreign", "foreign")] {
        certificates_at(&at.join(name), authority);
    }
    let own = at.join("own");
    let own = format!("--certificates {}", own.display());
    let (_scheduler, address) = Party::scheduler("127.0.0.1:0", &own);
    let _executor = Party::executor(&address, &own);
    let line = format!("consensus pool --clusters 3 --scheduler {address}");
    assert_eq!(json(at, &format!("{line} {own} -o labels"))["n"], 400);
    let line = format!("{line} --patience 1 --tries 2 -o other");
    refused(at, &line, "the cluster gave up grouping");
    let foreign = format!("--certificates {}", at.join("foreign").display());
    refused(at, &format!("{line} {foreign}"), "the cluster gave up grouping");
    fs::remove_file(at.join("own/key.pem")).unwrap();
    refused(at, &format!("{line} {own}"), "key.pem");
}

/// An authority, and a certificate of it for a party that may be a scheduler.
fn certificates_at(folder: &Path, authority: &str) {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    fs::create_dir(folder).unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, authority);
    let key = KeyPair::generate().unwrap();
    let ca = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["scheduler".to_owned()]).unwrap();
    let signed = params.signed_by(&own, &issuer).unwrap();
    fs::write(folder.join("ca.pem"), ca.pem()).unwrap();
    fs::write(folder.join("cert.pem"), signed.pem()).unwrap();
    fs::write(folder.join("key.pem"), own.serialize_pem()).unwrap();
}
