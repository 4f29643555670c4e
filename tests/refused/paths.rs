//! What takes large pieces of memory: readers, and a method of each kind.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path as File;

use consilience::completion::Mccc;
use consilience::constrained::{Ccskl, CopKMeans, Fpc, MpckMeans, PckMeans};
use consilience::crowd::CrowdMethod;
use consilience::generate::{KMeans, KernelKMeans, MiniBatchKMeans, SphericalKMeans, USpec};
use consilience::io::{Input, OutputFile, read_answers};
use consilience::metric::Rca;
use consilience::ndarray::Array2;
use consilience::{Ensemble, MemoryBudget, Partition, Result, Seed};

use crate::methods;

/// Runs a path once, and says what comes out as one number.
pub(crate) type Job = Box<dyn Fn() -> Result<u64>>;

/// One way through the library.
pub(crate) struct Path {
    pub(crate) name: &'static str,
    /// Requests whose refusal ends the process: those of other crates, and what is not held yet.
    pub(crate) may_end: usize,
    pub(crate) prepare: fn(&File) -> Job,
}

const fn path(name: &'static str, may_end: usize, prepare: fn(&File) -> Job) -> Path {
    Path { name, may_end, prepare }
}

pub(crate) const PATHS: &[Path] = &[
    path("labels, CSV", 0, |f| labels(f, "labels.csv")),
    path("labels, CSV with ids", 0, |f| labels(f, "ids.csv")),
    path("labels, CSV of gzip", 0, |f| labels(f, "labels.csv.gz")),
    path("labels, npy", 0, |f| labels(f, "labels.npy")),
    path("labels, npz", 0, |f| labels(f, "labels.npz")),
    path("labels, Parquet", 0, |f| labels(f, "labels.parquet")),
    path("labels, Arrow", 0, |f| labels(f, "labels.arrow")),
    path("features, CSV", 0, |f| features(f, "x.csv")),
    path("features, npy", 0, |f| features(f, "x.npy")),
    path("features, npz", 0, |f| features(f, "x.npz")),
    path("features, Parquet", 12, |f| features(f, "x.parquet")),
    path("features, Arrow", 0, |f| features(f, "x.arrow")),
    path("memberships, npy", 0, |f| memberships(f, "soft.npy")),
    path("edges, CSV", 0, edges),
    path("sparse features, svmlight", 0, sparse),
    path("answers, CSV", 0, |f| answers_of(f, "answers.csv")),
    path("bytes", 0, bytes),
    path("microclusters", 0, |_| methods::microclusters()),
    path("pair counts", 0, |_| methods::pair_counts()),
    path("complete linkage", 0, |_| methods::bytes("eac-cl")),
    path("Ward's linkage", 0, |_| methods::square("eac-ward", 0)),
    path("LWEA", 0, |_| methods::square("lwea", 10)),
    path("PTA", 0, |_| methods::square("pta-al", 0)),
    path("PTGP", 2, |_| methods::square("ptgp", 0)),
    path("CSPA", 0, |_| methods::square("cspa", 0)),
    path("diffusion", 0, |_| methods::square("diffusion", 0)),
    path("EC-CMS", 0, |_| methods::square("ec-cms", 0)),
    path("MCLA", 0, |_| methods::long("mcla")),
    path("HBGF", 0, |_| methods::long("hbgf")),
    path("LWGP", 0, |_| methods::long("lwgp")),
    path("least squares", 0, |_| methods::long("least-squares")),
    path("voting", 0, |_| methods::long("voting")),
    path("U-SENC", 0, |_| methods::long("usenc")),
    path("WEAC", 0, |_| methods::square("weac-al", 5)),
    path("WCT", 0, |_| methods::square("wct-al", 0)),
    path("SRS", 0, |_| methods::square("srs-al", 0)),
    path("GP-MGLA", 5, |_| methods::long("gp-mgla")),
    path("HGPA", 0, |_| methods::long("hgpa")),
    path("SRW", 1, |_| methods::square("srw", 0)),
    path("ECPCS-MC", 20, |_| methods::long("ecpcs-mc")),
    path("QMI", 0, |_| methods::long("qmi")),
    path("mixture", 0, |_| methods::long("mm")),
    path("auto", 0, |_| methods::square("auto", 0)),
    path("U-SPEC", 0, |_| methods::u_spec()),
    path("k-means members", 0, |_| methods::k_means()),
    path("sparse rows, k-means", 0, |_| methods::many_rows(KMeans::new())),
    path("sparse rows, spherical k-means", 0, |_| methods::many_rows(SphericalKMeans::new())),
    path("sparse rows, mini-batches", 0, |_| methods::many_rows(MiniBatchKMeans::new())),
    path("sparse rows, kernel k-means", 0, |_| {
        methods::many_rows(KernelKMeans::new().landmarks(40))
    }),
    path("sparse rows, U-SPEC", 0, |_| methods::many_rows(USpec::new().representatives(20))),
    path("wide rows, k-means", 0, |_| methods::wide(KMeans::new(), 1.0)),
    path("wide rows, spherical k-means", 0, |_| methods::wide(SphericalKMeans::new(), 1.0)),
    path("wide rows, mini-batches", 0, |_| methods::wide(MiniBatchKMeans::new(), 1.0)),
    path("wide rows, kernel k-means", 0, |_| methods::wide(KernelKMeans::new(), 1.0)),
    path("wide rows, U-SPEC", 0, |_| methods::wide(USpec::new(), 1.0)),
    path("wide rows, farthest points", 0, |_| methods::wide(Fpc::new(4), 1.0)),
    path("wide rows, some columns", 6, |_| methods::wide(KMeans::new(), 0.5)),
    path("wide rows, nearest sets", 0, |_| methods::wide_nnc(3)),
    path("wide rows, sets that are united", 0, |_| methods::wide_nnc(2)),
    path("PCC", 0, |_| methods::square("pcc-l2", 5)),
    path("PCC, sampled", 0, |_| methods::sampled_pcc()),
    path("completion", 0, |_| methods::completion()),
    path("crowd, spectral", 0, |_| methods::crowd(CrowdMethod::Spectral)),
    path("crowd, Dawid-Skene", 0, |_| methods::crowd(CrowdMethod::DawidSkene)),
    path("crowd, block model", 0, |_| methods::crowd(CrowdMethod::Block)),
    path("crowd, log-odds", 2, |_| methods::crowd(CrowdMethod::LogOdds)),
    path("crowd, completion", 1, |_| methods::crowd(CrowdMethod::Rmc)),
    path("crowd, Bayesian", 0, |_| methods::crowd(CrowdMethod::Bayesian)),
    path("crowd, pairs", 3, |_| methods::crowd(CrowdMethod::Pairs)),
    path("crowd, planted partition", 3, |_| methods::crowd(CrowdMethod::PlantedPartition)),
    path("MCCC", 2, |_| methods::constrained(SOME, Mccc::new(3).seed(Seed(1)))),
    path("PCK-Means", 0, |_| methods::constrained(MANY, PckMeans::new(3).seed(Seed(1)))),
    path("MPCK-Means", 6, |_| methods::constrained(MANY, MpckMeans::new(3).seed(Seed(1)))),
    path("COP-KMeans", 0, |_| methods::constrained(MANY, CopKMeans::new(3).seed(Seed(1)))),
    path("CCSKL", 3, |_| methods::constrained(SOME, Ccskl::new(3).seed(Seed(1)))),
    path("RCA", 10, |_| methods::learned(Rca::new())),
    path("report", 0, |_| methods::report()),
    path("updater, start", 0, |_| methods::updater_start()),
    path("updater, a batch", 0, |_| methods::updater_batch()),
];

/// Objects of methods over features and links, of those that take more than a row of numbers for
/// each, and of the others.
const SOME: usize = 600;
const MANY: usize = 40_000;

/// Rows of files.
const ROWS: usize = 300_000;

pub(crate) fn number(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn bits<'a>(values: impl IntoIterator<Item = &'a f64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.into_iter().for_each(|v| v.to_bits().hash(&mut hasher));
    hasher.finish()
}

pub(crate) fn of_labels(partitions: &[Partition]) -> u64 {
    let mut hasher = DefaultHasher::new();
    partitions.iter().flat_map(Partition::iter).for_each(|label| label.hash(&mut hasher));
    hasher.finish()
}

/// Members that agree on six clusters and else on nothing, some in a hundred labels missing.
pub(crate) fn distinct(objects: usize, missing: usize) -> Ensemble {
    let mut dice = Seed(3).stream();
    let member = |_| {
        let label = |i: usize| {
            let own = if dice.below(4) == 0 { dice.below(30) } else { i % 6 * 5 + dice.below(4) };
            (dice.below(100) >= missing).then_some(own as u64)
        };
        let labels: Vec<Option<u64>> = (0..objects).map(label).collect();
        Partition::from_fn(objects, |i| labels[i]).unwrap()
    };
    Ensemble::new((0..10).map(member).collect()).unwrap()
}

pub(crate) fn cloud(objects: usize) -> Array2<f64> {
    let mut dice = Seed(4).stream();
    Array2::from_shape_fn((objects, 4), |(i, j)| 9.0 * ((i % 3 + j) % 3) as f64 + dice.normal())
}

fn written(folder: &File, name: &str, write: impl FnOnce(&mut OutputFile) -> Result<()>) {
    let mut file = OutputFile::table(folder.join(name)).unwrap();
    write(&mut file).unwrap();
    file.commit().unwrap();
}

/// The files that the readers read.
pub(crate) fn write_files(folder: &File) {
    use std::fmt::Write;

    let some = distinct(ROWS, 5).select(&[0, 1, 2]).unwrap();
    for ending in ["csv", "csv.gz", "npy", "npz", "parquet", "arrow"] {
        written(folder, &format!("labels.{ending}"), |file| {
            file.write_labels(consilience::io::Labelled::All(&some), &())
        });
    }
    let x = cloud(ROWS / 3);
    for ending in ["csv", "npy", "npz", "parquet", "arrow"] {
        written(folder, &format!("x.{ending}"), |file| file.write_numbers(x.view(), &()));
    }
    let soft = Array2::from_elem((ROWS / 3, 4), 0.25);
    written(folder, "soft.npy", |file| file.write_numbers(soft.view(), &()));
    let (mut ids, mut answers) = ("id,a,b\n".to_owned(), "worker,task,item,group\n".to_owned());
    let (mut edges, mut rows) = ("i,j\n".to_owned(), String::new());
    for i in 0..ROWS / 3 {
        writeln!(ids, "object-{i},name{},{}", i % 50_000, i % 7).unwrap();
        writeln!(answers, "w{},{},{},{}", i % 70, i / 5, i % 30_011, i % 3).unwrap();
        writeln!(edges, "{i},{}", (i * 7 + 1) % (ROWS / 3)).unwrap();
        writeln!(rows, "1 {}:0.5 {}:2", i % 5 + 1, i % 90 + 7).unwrap();
    }
    for (name, text) in
        [("ids.csv", ids), ("answers.csv", answers), ("edges.csv", edges), ("x.svmlight", rows)]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

fn labels(folder: &File, name: &str) -> Job {
    let path = folder.join(name);
    Box::new(move || {
        let table = Input::file(&path)?.label_table(&())?.output;
        Ok(of_labels(table.ensemble().members()))
    })
}

fn features(folder: &File, name: &str) -> Job {
    let path = folder.join(name);
    Box::new(move || {
        let table = Input::file(&path)?.features(&())?.output;
        table.view().check()?;
        Ok(table.view().n_objects() as u64)
    })
}

fn memberships(folder: &File, name: &str) -> Job {
    let path = folder.join(name);
    Box::new(move || Ok(bits(Input::file(&path)?.memberships(&())?.output.values())))
}

fn edges(folder: &File) -> Job {
    let path = folder.join("edges.csv");
    Box::new(move || {
        let edges = Input::file(&path)?.edges(ROWS / 3, None, &())?.output;
        Ok(number(edges))
    })
}

fn sparse(folder: &File) -> Job {
    let path = folder.join("x.svmlight");
    Box::new(move || Ok(Input::file(&path)?.features(&())?.output.view().n_objects() as u64))
}

fn answers_of(folder: &File, name: &str) -> Job {
    let path = folder.join(name);
    Box::new(move || Ok(number(read_answers(&path)?.rows())))
}

fn bytes(folder: &File) -> Job {
    let path = folder.join("x.npy");
    let budget = MemoryBudget::default();
    Box::new(move || Ok(number(consilience::io::read_bytes(&path, budget)?)))
}
