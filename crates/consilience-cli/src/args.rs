//! The command line.

mod values;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use values::{Count, Numbers, Picture};

use crate::failure::{Failure, Outcome};

/// Combine clusterings: one consensus from many answers.
///
/// Files are known by their ending: .csv, .tsv (a first row of text is a header; also .csv.gz,
/// .csv.zst and so on), .npy, .npz (FILE.npz:NAME chooses an array), .parquet, .arrow, .feather;
/// sparse features also .mtx, .svmlight, .libsvm, .svm. A dash (-) is standard input, in any of
/// these forms, or standard output, as CSV. Labels are whole numbers or text; negative numbers,
/// empty cells and nulls are unlabelled. Rows and columns count from 0; a column of ids joins
/// tables.
#[derive(Parser)]
#[command(
    name = "consilience",
    version,
    about,
    long_about,
    before_help = "Example: consilience demo\n         consilience consensus pool.npz -o \
                   labels.csv\n         consilience report pool.npz -o report.html"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What a command does and examples of it come first.
const HELP: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}";

/// The command line as clap sees it.
pub(crate) fn command() -> clap::Command {
    Cli::command().help_template(HELP).mut_subcommands(|c| {
        let c = c.help_template(HELP);
        // What all commands take and some have no use for is not offered there.
        match c.get_name() {
            "demo" => c.mut_arg("id", |id| id.hide(true)),
            "score" | "predict" => c.mut_arg("seed", |seed| seed.hide(true)),
            _ => c,
        }
    })
}

/// What a command needs unless it is asked for a list.
pub(crate) fn given<T>(value: Option<T>, what: &str) -> Outcome<T> {
    value.ok_or_else(|| Failure::Bad(format!("expected {what}, or --list; see --help")))
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show the main job on data that ships with the program: no argument, no download
    Demo(Demo),
    /// Turn features into an ensemble of base clusterings
    Generate(Generate),
    /// Combine an ensemble into one clustering
    Consensus(Consensus),
    /// Cluster what a crowd compared, from its answers alone
    Crowd(Crowd),
    /// Cluster features from pairs known to belong together or apart, or from a crowd's answers
    /// about some of the objects, by matrix completion
    Complete(Complete),
    /// Let a consensus follow constraints, batch by batch
    Update(Update),
    /// Cluster features with the help of a few labels or pairs
    Cluster(Cluster),
    /// Say what to ask people or language models next about objects with features, and cluster by
    /// features and answers
    Ask(Ask),
    /// Label new objects by the model that `cluster --method consensus --model` wrote
    Predict(Predict),
    /// Compare a clustering with the truth, or with another clustering
    Score(Score),
    /// Draw an ensemble or a clustering, as an SVG picture
    Plot(Plot),
    /// Write one page about an ensemble: its consensus, how far to trust it, and pictures
    Report(Report),
    /// Print what makes a shell complete commands and options
    Completions(Completions),
    /// Write the manual pages, one for each command
    Man(Man),
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    /// Seed of everything random; the same seed gives the same result at any number of threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// How much memory tables may take, for instance 4G [default: what is available]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// The column that holds the ids of the objects, by name or number; they go to every output
    /// and join truth, constraints and other tables [default: the first column, if it is named id,
    /// if all its values differ and most are not numbers, or if it counts the rows and has no name
    /// or one such as index]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bars, no notes
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// What there is to choose from.
#[derive(Args)]
pub(crate) struct Listing {
    /// Print what there is to choose from, with its parameters; with a NAME, explain the
    /// parameters of that one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub(crate) list: Option<String>,
}

/// Arguments of `demo`.
#[derive(Args)]
#[command(before_help = "Example: consilience demo --seed 7")]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `generate`.
#[derive(Args)]
#[command(
    override_usage = "consilience generate [OPTIONS] --output <ENSEMBLE> <FEATURES>\n       \
                      consilience generate --list [<NAME>]",
    before_help = "Example: consilience generate features.npy -o pool.npz --members 30 --clusters \
         10..30 --feature-fraction 0.5"
)]
pub(crate) struct Generate {
    /// Features: n rows, d columns of numbers
    #[arg(required_unless_present = "list")]
    pub(crate) features: Option<PathBuf>,
    /// Where the ensemble goes: n rows, one column of labels per member; of gaussian-mixture and
    /// fuzzy-c-means, which give memberships, an .npz file
    #[arg(short, long, value_name = "ENSEMBLE", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// kmeans, minibatch, spherical-kmeans, kernel-kmeans, rpcl, gaussian-mixture, fuzzy-c-means,
    /// spectral, agglomerative or uspec
    #[arg(long, value_name = "NAME", default_value = "kmeans")]
    pub(crate) method: String,
    /// Number of base clusterings
    #[arg(long, value_name = "M", default_value_t = 20)]
    pub(crate) members: usize,
    /// Number of clusters, drawn for each member from this range, both ends included [default: 2
    /// to the root of the number of objects, to 50 at most, and to 10 or half of them where they
    /// are fewer than 100]
    #[arg(long, value_name = "A..B")]
    pub(crate) clusters: Option<String>,
    /// Share of the features that each member sees, chosen at random
    #[arg(long, value_name = "F")]
    pub(crate) feature_fraction: Option<f64>,
    /// Share of the objects that each member labels, chosen at random
    #[arg(long, value_name = "F")]
    pub(crate) object_fraction: Option<f64>,
    /// Dimensions of a random projection of what each member sees [default: no projection]
    #[arg(long, value_name = "D")]
    pub(crate) projection: Option<usize>,
    /// Reduces the features to so many dimensions by a truncated SVD [default: none, and 100 for
    /// sparse features where the method needs a table]
    #[arg(long, value_name = "D")]
    pub(crate) svd: Option<usize>,
    /// A parameter of the method; --list NAME explains its parameters
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
    /// How the features are scaled first: none, minmax or zscore
    #[arg(long, value_name = "SCALE", default_value = "none")]
    pub(crate) scale: String,
    /// What is done about missing values: error, mean, median, nearest (the mean of the five
    /// nearest objects) or member (each member leaves out the objects that lack a feature that it
    /// sees)
    #[arg(long, value_name = "WAY", default_value = "error")]
    pub(crate) missing: String,
    /// Columns of categories, by name or number; each is a member, and so are crosses of two,
    /// unless --categorical-distance makes features of them
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// Makes features of the columns of categories, beside the numbers (scaled as --scale says):
    /// hamming (one for any two categories), goodall (less for frequent ones) or chi-square (more
    /// for rare ones)
    #[arg(long, value_name = "NAME", requires = "categorical")]
    pub(crate) categorical_distance: Option<String>,
    /// Columns that are left out, by name or number
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// True labels: adds each score, averaged over the members
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `consensus`.
#[derive(Args)]
#[command(
    override_usage = "consilience consensus [OPTIONS] <ENSEMBLE>\n       consilience consensus \
                      --list [<NAME>]",
    before_help = "Example: consilience consensus pool.csv\n         consilience consensus \
         pool.npz --method lwea --clusters 10 -o labels.csv --truth truth.csv"
)]
pub(crate) struct Consensus {
    /// The ensemble: n rows, one column of labels per base clustering
    #[arg(required_unless_present = "list")]
    pub(crate) ensemble: Option<PathBuf>,
    /// The consensus function; --list shows them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// Number of clusters, or auto: that of eigengap, PAC and lifetime where these agree and none
    /// has a warning, that of two of them where it is more than the directions, else the geometric
    /// mean of eigengap, lifetime and directions, drawn towards 7 the more they differ (median
    /// error 40 % on our benchmark). It is looked for from 2 to the root of the number of distinct
    /// rows of labels or to what three quarters of the members do not exceed, to one more than a
    /// member has where members nearly agree, and to 30 at most [default: as many as the method
    /// itself finds, and auto for methods that find none]
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<Count>,
    /// Use only these base clusterings, by number (ids do not count) or name, for instance 3,17,20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// How many objects each row stands for: one column of whole numbers
    #[arg(long, value_name = "FILE")]
    pub(crate) counts: Option<PathBuf>,
    /// The edges of a network whose nodes are the objects, two columns: the consensus looks at
    /// them alone, by network-propagation (the default then), network-components or
    /// network-linkage
    #[arg(long, value_name = "FILE")]
    pub(crate) edges: Option<PathBuf>,
    /// How often each base clustering counts: numbers such as 1,2,0.5, of which 0 leaves one out.
    /// Some methods know none but 0 and 1
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) member_weights: Vec<f64>,
    /// Take the most probable clusters of base clusterings that give memberships
    #[arg(long)]
    pub(crate) harden: bool,
    /// A parameter of the method; --list NAME explains its parameters
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// Where the labels go: one column
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Where the memberships go: n rows, one column of probabilities per cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) soft: Option<PathBuf>,
    /// Say how far the result can be trusted: agreement with the members, confidence, stability
    #[arg(long)]
    pub(crate) diagnose: bool,
    #[command(flatten)]
    pub(crate) listing: Listing,
    /// True labels: adds every score of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// How features are read.
#[derive(Args)]
pub(crate) struct Reading {
    /// What is done about missing values: error, mean, median or nearest (the mean of the five
    /// nearest objects)
    #[arg(long, value_name = "WAY", default_value = "error")]
    pub(crate) missing: String,
    /// Columns of categories, by name or number, which become features by --categorical-distance.
    /// Each counts as much as a column of numbers on average: those of other units want one scale
    /// first, in the file or, for `cluster --method consensus`, by --param scale=zscore
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// How far apart two categories of a column are: hamming (one for any two), goodall (less for
    /// frequent ones) or chi-square (more for rare ones)
    #[arg(long, value_name = "NAME", default_value = "hamming", requires = "categorical")]
    pub(crate) categorical_distance: String,
    /// Columns of features that are left out, by name or number
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Reduces the features to so many dimensions by a truncated SVD [default: none, and 100 for
    /// sparse features where the method needs a table]
    #[arg(long, value_name = "D")]
    pub(crate) svd: Option<usize>,
}

/// Where labels go, for commands that can label new objects.
#[derive(Args)]
pub(crate) struct Labelling {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Where the labels go: one column
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Features of new objects, which are labelled by what was found. A row of the old ones may
    /// get another label than it has, since links and known labels play no part; by mccc and ccskl
    /// it keeps its own
    #[arg(long, value_name = "FEATURES")]
    pub(crate) predict: Option<PathBuf>,
    /// Where the labels of the new objects go
    #[arg(long, value_name = "LABELS")]
    pub(crate) predicted: Option<PathBuf>,
    /// True labels: adds every score of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
}

/// Arguments of `cluster`.
#[derive(Args)]
#[command(
    override_usage = "consilience cluster [OPTIONS] <FEATURES>\n       consilience cluster --list \
                      [<NAME>]",
    before_help = "Example: consilience cluster features.csv --constraints pairs.csv --clusters 3 \
         -o labels.csv\n         consilience cluster features.csv --method consensus --clusters 5 \
         -o labels.csv --model model.bin"
)]
pub(crate) struct Cluster {
    /// Features: n rows, d columns of numbers
    #[arg(required_unless_present = "list")]
    pub(crate) features: Option<PathBuf>,
    /// auto (default with --labels or --constraints): cross-validates several methods on what is
    /// known and takes the best; plain k-means unless another is better by more than half a
    /// standard error; fpc, nnc, kmeans (seeded by the labels), constrained-kmeans
    /// (which keeps them), cop-kmeans, pck-means, mpck-means, ccskl or pmmc (these two follow
    /// descriptions, and were not checked against the formulas of their papers); or consensus,
    /// which takes no labels or pairs: an ensemble of base clusterings, and their consensus
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<String>,
    /// Number of clusters, or with consensus auto; without it as many as there are classes among
    /// the labels, or with consensus as many as the evidence says: the features where they fall
    /// into compact clusters far from each other (a mean silhouette of 0.5, of two
    /// clusters 0.7, and halves of the objects have the same ones), else the base clusterings, as
    /// `consensus` has it
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<Count>,
    /// Known labels: one column, negative or empty where none is known
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Known pairs: CSV rows i,j,link with link must or cannot
    #[arg(long, value_name = "FILE")]
    pub(crate) constraints: Option<PathBuf>,
    /// How distances are measured: euclidean, or learned from what is known by rsd-diagonal,
    /// rsd-full, mmc, itml, rca, dca or lmnn
    #[arg(long, value_name = "NAME", default_value = "euclidean")]
    pub(crate) metric: String,
    /// A parameter of the method or of the metric, for instance weight=2 or diagonal=true; --list
    /// NAME explains the parameters of either. A name that both have is the method's, and
    /// metric.NAME the metric's. An unknown name is refused with a list of the valid ones. Of
    /// consensus, generator.NAME are parameters of its generator, function.NAME of its function
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
    /// With consensus: where the model goes, by which `predict` labels new objects
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) labelling: Labelling,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `ask`.
#[derive(Args)]
#[command(before_help = "Example: consilience ask texts.npy --clusters 20 --answers answers.csv \
         --questions 10 --json\n         consilience ask texts.npy --clusters 20 --answers \
         answers.csv -o labels.csv\n\nCalled again whenever there are new answers, with all that \
         were given so far.")]
pub(crate) struct Ask {
    /// Features, for instance embeddings of texts: n rows, d columns of numbers
    pub(crate) features: PathBuf,
    /// Number of clusters
    #[arg(long, value_name = "K")]
    pub(crate) clusters: usize,
    /// All answers so far, a table whose columns have names: worker,i,j,same, or
    /// worker,task,item,group (items of one task in one group are alike) [default: none yet]
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// How many questions to propose
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(crate) questions: usize,
    /// Objects in a question at most: 2 for the same or different, up to 20 for which of these
    /// belong together
    #[arg(long, value_name = "S", default_value_t = 2)]
    pub(crate) group_size: usize,
    /// Answers that may be asked for in all; one about s objects counts as s - 1
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) budget: usize,
    /// What an answer costs, in objects: nothing is asked that is not expected to put so many
    /// objects right
    #[arg(long, value_name = "OBJECTS", default_value_t = 0.0)]
    pub(crate) price: f64,
    /// Small groups of objects that questions are about, at most [default: 300, or four for each
    /// cluster where that is more]
    #[arg(long, value_name = "M")]
    pub(crate) cells: Option<usize>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Where the labels go: one column
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// True labels: adds every score of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `predict`.
#[derive(Args)]
#[command(before_help = "Example: consilience predict model.bin new.csv -o labels.csv")]
pub(crate) struct Predict {
    /// The model that `cluster --method consensus --model` wrote
    pub(crate) model: PathBuf,
    /// Features of the new objects: as many columns as at the fit
    pub(crate) features: PathBuf,
    /// Columns of features that are left out, by name or number
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Where the labels go: one column, in the numbers of the clustering at the fit
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Where the votes of the members go: n rows, one column per cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) soft: Option<PathBuf>,
    /// Where two columns go: how sure each label is, and how far out the object lies, above 1
    /// outside of everything seen
    #[arg(long, value_name = "FILE")]
    pub(crate) details: Option<PathBuf>,
    /// True labels: adds every score of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `crowd`.
#[derive(Args)]
#[command(
    override_usage = "consilience crowd [OPTIONS] --clusters <K> <ANSWERS>\n       consilience \
                      crowd --list [<NAME>]",
    before_help = "Example: consilience crowd answers.csv --clusters 6 -o labels.csv --ask 10"
)]
pub(crate) struct Crowd {
    /// The answers, a table whose columns have names: worker,task,item,group (items of one task in
    /// one group are alike), worker,task,item,keyword, or worker,i,j,same; .csv or .tsv with a
    /// header, or .npz with arrays of these names
    #[arg(required_unless_present = "list")]
    pub(crate) answers: Option<PathBuf>,
    /// Number of clusters, or auto: as many as the answers' posterior says, or the answers
    /// themselves where none contradicts another
    #[arg(long, value_name = "K", required_unless_present = "list")]
    pub(crate) clusters: Option<Count>,
    /// auto, block, block-by-worker, latent-class, bayesian, rmc, log-odds, spectral, dawid-skene,
    /// pairs or planted-partition
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// A parameter of the method; --list NAME explains its parameters
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
    /// Number of objects [default: one more than the highest in the answers, or as many as --truth
    /// has]
    #[arg(long, value_name = "N")]
    pub(crate) objects: Option<usize>,
    /// Say which pairs to ask about next, so many
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub(crate) ask: usize,
    /// Where the labels go: one column
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Where the memberships go: n rows, one column of probabilities per cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) soft: Option<PathBuf>,
    /// Where the labels by another criterion go, if some workers group by one: one column
    #[arg(long, value_name = "LABELS")]
    pub(crate) second: Option<PathBuf>,
    /// True labels: adds every score of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `complete`.
#[derive(Args)]
#[command(
    override_usage = "consilience complete [OPTIONS] --clusters <K> <--constraints \
                      <FILE>|--answers <FILE>> <FEATURES>\n       consilience complete --list \
                      [<NAME>]",
    before_help = "Example: consilience complete features.npy --constraints pairs.csv --clusters \
         5 -o labels.csv\n         consilience complete features.npy --answers answers.csv \
         --clusters 5 -o labels.csv"
)]
pub(crate) struct Complete {
    /// Features: n rows, d columns of numbers
    #[arg(required_unless_present = "list")]
    pub(crate) features: Option<PathBuf>,
    /// Known pairs: CSV rows i,j,link with link must or cannot
    #[arg(long, value_name = "FILE", required_unless_present_any = ["answers", "list"])]
    pub(crate) constraints: Option<PathBuf>,
    /// In place of pairs, a crowd's answers about some of the objects, as `crowd` reads them: their
    /// similarity is completed, and a metric learned from it clusters all objects; of standardized
    /// features and features as they are, by those that keep more of the answers about objects left
    /// out, unless standardize is given
    #[arg(long, value_name = "FILE", conflicts_with = "constraints")]
    pub(crate) answers: Option<PathBuf>,
    /// Number of clusters
    #[arg(long, value_name = "K", required_unless_present = "list")]
    pub(crate) clusters: Option<usize>,
    /// mccc or rdml [default: mccc; with --answers rdml, which alone takes them]. The units of
    /// columns matter to mccc with its default basis; with --param basis=singular or
    /// basis=standardized-neighbours they do not
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<String>,
    /// A parameter of the method; --list NAME explains its parameters
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
    #[command(flatten)]
    pub(crate) labelling: Labelling,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `update`.
#[derive(Args)]
#[command(
    override_usage = "consilience update [OPTIONS] <ENSEMBLE>\n       consilience update --list \
                      [<NAME>]",
    before_help = "Example: consilience update pool.npz --clusters 10 --constraints pairs.csv \
         --state pool.state -o labels.csv"
)]
pub(crate) struct Update {
    /// The ensemble: n rows, one column of labels per base clustering
    #[arg(required_unless_present = "list")]
    pub(crate) ensemble: Option<PathBuf>,
    /// New pairs: CSV rows i,j,link with link must or cannot; a fourth column batch says which come
    /// together
    #[arg(long, value_name = "FILE", required_unless_present_any = ["state", "list"])]
    pub(crate) constraints: Option<PathBuf>,
    /// What is done about links that contradict those before them: refuse, or keep, where answers
    /// may be wrong: labels are then read out by all links, whichever came first, where links held
    /// out speak for it
    #[arg(long, value_name = "WAY", default_value = "refuse")]
    pub(crate) contradictions: String,
    /// Number of clusters; a stored state knows it
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// Where the state is kept: resumed from if it is there, written at the end
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<PathBuf>,
    /// metric, completion, exact, additive or multiplicative [default: metric, or that of the
    /// stored state]
    #[arg(long, value_name = "NAME")]
    pub(crate) rule: Option<String>,
    /// A parameter of the rule; --list NAME explains its parameters, and those that --features adds
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    #[command(flatten)]
    pub(crate) listing: Listing,
    /// How many objects each row stands for: one column of whole numbers
    #[arg(long, value_name = "FILE", conflicts_with = "new_objects")]
    pub(crate) counts: Option<PathBuf>,
    /// New objects: one row of labels for each, one column per member, in the labels of the
    /// ensemble's file. They are appended. A state written now expects the ensemble's file with
    /// these rows appended
    #[arg(long, value_name = "FILE")]
    pub(crate) new_objects: Option<PathBuf>,
    /// How labels are read out: metric, consensus, kmeans or rounding [default: metric with that
    /// rule, else consensus]
    #[arg(long, value_name = "NAME")]
    pub(crate) read_out: Option<String>,
    /// Features of the objects: after the last batch, members are grown from them under a metric
    /// learned from all constraints, read out where they prove themselves, and kept in the state
    #[arg(long, value_name = "FEATURES")]
    pub(crate) features: Option<PathBuf>,
    /// How the features are scaled first: none, minmax or zscore
    #[arg(long, value_name = "SCALE", default_value = "none", requires = "features")]
    pub(crate) scale: String,
    /// Say which pairs and objects to ask about next, so many of each
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub(crate) ask: usize,
    /// Earlier labels: says how many objects changed since
    #[arg(long, value_name = "LABELS")]
    pub(crate) since: Option<PathBuf>,
    /// Where the labels go: one column
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Where the memberships go: n rows, one column of probabilities per cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) soft: Option<PathBuf>,
    /// True labels: adds every score of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What the scores are.
const SCORES: &str = "Example: consilience score labels.csv truth.npz:y

Objects count that both label. Of vi lower is better, of all other scores higher:
  nmi_max, nmi_sqrt, nmi_arithmetic  mutual information over the larger entropy, the geometric
                                     mean, the arithmetic mean; v_measure is nmi_arithmetic
  homogeneity, completeness          mutual information over the entropy of classes, of clusters
  vi, mutual_information             variation of information, mutual information; in nats
  accuracy                           objects right under the best one-to-one matching of clusters
                                     and classes; purity lets clusters share a class
  ami, ari                           mutual information and Rand index, 0 on average by chance
  rand, jaccard, fowlkes_mallows, pair_precision, pair_recall, pair_f count pairs of objects
--soft: jensen_shannon, in bits; lower is better";

/// Arguments of `score`.
#[derive(Args)]
#[command(before_help = SCORES)]
pub(crate) struct Score {
    /// The clustering to judge: one column of labels
    pub(crate) labels: PathBuf,
    /// What it is compared with: one column of labels
    pub(crate) truth: PathBuf,
    /// Compare memberships instead (rows of probabilities) by their Jensen-Shannon divergence
    #[arg(long)]
    pub(crate) soft: bool,
    /// How many objects each row stands for: one column of whole numbers
    #[arg(long, value_name = "FILE", conflicts_with = "soft")]
    pub(crate) counts: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `plot`.
#[derive(Args)]
#[command(before_help = "Example: consilience plot co-association pool.npz -o pool.svg")]
pub(crate) struct Plot {
    /// What to draw: co-association, dendrogram, cdf, memberships or cluster-graph
    #[arg(hide_possible_values = true)]
    pub(crate) what: Picture,
    /// An ensemble (co-association, dendrogram, cdf) or memberships (memberships, cluster-graph)
    pub(crate) input: PathBuf,
    /// Where the picture goes
    #[arg(short, long, value_name = "FILE.svg")]
    pub(crate) output: PathBuf,
    /// Use only these base clusterings, by number (ids do not count) or name, for instance 3,17,20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// How many objects each row stands for: one column of whole numbers
    #[arg(long, value_name = "FILE")]
    pub(crate) counts: Option<PathBuf>,
    /// With dendrogram: whose [default: eac-al]
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<String>,
    /// With dendrogram: a parameter of the method; `consensus --list NAME` explains its parameters
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// With dendrogram: the number of clusters that the tree is for; only the tree of ecmc-al
    /// depends on it
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// With cdf: also the curves of consensus into 2 to K clusters
    #[arg(long, value_name = "K")]
    pub(crate) up_to: Option<usize>,
    /// With cluster-graph: memberships below this are no relation between clusters [default: 0.05]
    #[arg(long, value_name = "SHARE")]
    pub(crate) delta: Option<f64>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `report`.
#[derive(Args)]
#[command(
    before_help = "Example: consilience report pool.npz -o report.html --clusters 2..20 --truth \
         truth.csv"
)]
pub(crate) struct Report {
    /// The ensemble: n rows, one column of labels per base clustering
    pub(crate) ensemble: PathBuf,
    /// Where the page goes; with the ending .json the numbers alone
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: PathBuf,
    /// Use only these base clusterings, by number (ids do not count) or name, for instance 3,17,20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// How many objects each row stands for: one column of whole numbers
    #[arg(long, value_name = "FILE")]
    pub(crate) counts: Option<PathBuf>,
    /// Features of the objects: adds a projection, and what distinguishes the clusters
    #[arg(long, value_name = "FEATURES")]
    pub(crate) features: Option<PathBuf>,
    /// Columns of features that are left out, by name or number
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "features")]
    pub(crate) drop: Vec<String>,
    /// What is done about missing features: error, mean, median or nearest
    #[arg(long, value_name = "WAY", default_value = "error", requires = "features")]
    pub(crate) missing: String,
    /// True labels: adds every score and the table of clusters and classes
    #[arg(long, value_name = "FILE")]
    pub(crate) truth: Option<PathBuf>,
    /// Number of clusters, the range that it is chosen from, or auto: from 2 to the root of the
    /// number of distinct rows of labels or to what three quarters of the members do not exceed, to
    /// one more than a member has where members nearly agree, and to 30 at most [default: auto]
    #[arg(long, value_name = "K|A..B")]
    pub(crate) clusters: Option<Numbers>,
    /// Consensus functions: the first gives the answer, the others are compared with it [default:
    /// auto,lwea,pta-al,ptgp,mcla]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// The title of the page [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `completions`.
#[derive(Args)]
#[command(before_help = "Example: consilience completions bash > \
                   ~/.local/share/bash-completion/completions/consilience")]
pub(crate) struct Completions {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(hide_possible_values = true)]
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Args)]
#[command(before_help = "Example: consilience man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The folder that the pages go to; it has to be there
    pub(crate) folder: PathBuf,
}

impl Command {
    /// The options that all commands share which work on data, and what `--list` asks for: a name,
    /// or everything where it is empty.
    pub(crate) fn common(&self) -> Option<(&Common, Option<&str>)> {
        let (common, listing) = match self {
            Command::Demo(a) => (&a.common, None),
            Command::Generate(a) => (&a.common, Some(&a.listing)),
            Command::Consensus(a) => (&a.common, Some(&a.listing)),
            Command::Crowd(a) => (&a.common, Some(&a.listing)),
            Command::Complete(a) => (&a.common, Some(&a.listing)),
            Command::Update(a) => (&a.common, Some(&a.listing)),
            Command::Cluster(a) => (&a.common, Some(&a.listing)),
            Command::Ask(a) => (&a.common, None),
            Command::Predict(a) => (&a.common, None),
            Command::Score(a) => (&a.common, None),
            Command::Plot(a) => (&a.common, None),
            Command::Report(a) => (&a.common, None),
            Command::Completions(_) | Command::Man(_) => return None,
        };
        Some((common, listing.and_then(|listing| listing.list.as_deref())))
    }
}

/// clap's many lines in one: what is wrong, what it suggests, and where help is.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let mut parts = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("Usage:") || line.starts_with("For more information") {
            break;
        }
        match line.strip_prefix("tip: ") {
            Some(tip) => parts.push(format!("({tip})")),
            None if !line.is_empty() => parts.push(line.to_owned()),
            None => {}
        }
    }
    let line = parts.join(" ");
    format!("{}; see --help", line.strip_prefix("error: ").unwrap_or(&line))
}
