//! The command line.

#[cfg(feature = "cluster")]
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
#[cfg(feature = "cluster")]
use consilience_ballista::Address;

/// Combine clusterings in tables larger than memory: one consensus from many answers.
///
/// A table is a Parquet file, a folder of them, or a pattern such as 'pool/part-*.parquet'; its
/// rows are those of all files in the order of their names. Negative numbers, nulls and empty text
/// are unlabelled. Rows and columns count from 0.
#[derive(Parser)]
#[command(
    name = "consilience-engine",
    version,
    about,
    long_about,
    after_help = "Example: consilience-engine consensus pool/ --clusters 10 -o labels/"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Combine an ensemble into one clustering
    Consensus(Consensus),
    /// Turn features into an ensemble of base clusterings
    Generate(Generate),
    /// Let a consensus follow constraints, batch by batch
    Update(Update),
    /// Compare a clustering with the truth, or with another clustering
    Score(Score),
    /// Write a made-up table to try things on
    Make(Make),
    /// Hand out work to executors, until this is ended
    #[cfg(feature = "cluster")]
    Scheduler(Scheduler),
    /// Work for a scheduler, until this is ended
    #[cfg(feature = "cluster")]
    Executor(Executor),
}

impl Command {
    /// The options of the commands that work on tables.
    pub(crate) fn common(&self) -> Option<&Common> {
        match self {
            Command::Consensus(args) => Some(&args.common),
            Command::Generate(args) => Some(&args.common),
            Command::Update(args) => Some(&args.common),
            Command::Score(args) => Some(&args.common),
            Command::Make(args) => Some(&args.common),
            #[cfg(feature = "cluster")]
            Command::Scheduler(_) | Command::Executor(_) => None,
        }
    }
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    /// Seed of everything random; the same seed gives the same result at any number of threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of threads, and of parts of a table that are worked on at once [default: all cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// How much memory to take, for instance 4G; what does not fit goes to disk [default: what is
    /// available]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// Where what does not fit in memory goes [default: the folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) spill: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bars, no notes
    #[arg(long)]
    pub(crate) quiet: bool,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) cluster: Cluster,
}

/// Who works on rows, if it is not this process.
#[cfg(feature = "cluster")]
#[derive(Args)]
#[command(next_help_heading = "On other machines")]
pub(crate) struct Cluster {
    /// Let the executors of the scheduler at this address do all work on rows, for instance
    /// 10.0.0.1:50050; they see all files under the same names
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) scheduler: Option<Address>,
    /// A folder that all machines see, for what they tell each other [default: the one of the
    /// output, else this one]
    #[arg(long, value_name = "FOLDER", requires = "scheduler")]
    pub(crate) shared: Option<PathBuf>,
    /// How many seconds one try waits for an answer, beside 20 microseconds for each row of the
    /// largest file
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "scheduler")]
    pub(crate) patience: u64,
    /// How often to hand out work without an answer in between
    #[arg(long, value_name = "N", default_value_t = 4, requires = "scheduler")]
    pub(crate) tries: usize,
    #[command(flatten)]
    pub(crate) certificates: Certificates,
}

/// Who one is, beyond loopback.
#[cfg(feature = "cluster")]
#[derive(Args)]
pub(crate) struct Certificates {
    /// A folder with ca.pem, the authority that all parties trust, and cert.pem and key.pem, this
    /// party's own; needed for addresses other than loopback
    #[arg(long, value_name = "FOLDER")]
    pub(crate) certificates: Option<PathBuf>,
    /// The name in the scheduler's certificate
    #[arg(long, value_name = "NAME", default_value = "scheduler", requires = "certificates")]
    pub(crate) scheduler_name: String,
}

/// Arguments of `scheduler`.
#[cfg(feature = "cluster")]
#[derive(Args)]
#[command(after_help = "Example: consilience-engine scheduler --listen 127.0.0.1:50050")]
pub(crate) struct Scheduler {
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50050")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) certificates: Certificates,
}

/// Arguments of `executor`.
#[cfg(feature = "cluster")]
#[derive(Args)]
#[command(
    after_help = "Example: consilience-engine executor --scheduler 127.0.0.1:50050 --memory \
                        4G"
)]
pub(crate) struct Executor {
    /// Where the scheduler listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50050")]
    pub(crate) scheduler: Address,
    /// Files that are worked on at the same time [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub(crate) tasks: Option<usize>,
    /// How much memory they take together, for instance 4G [default: what is available]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// Where what does not fit in memory goes [default: the folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) spill: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) certificates: Certificates,
}

/// Arguments of `consensus`.
#[derive(Args)]
#[command(after_help = "Example: consilience-engine consensus 'pool/part-*.parquet' --clusters \
                        10 -o labels/ --memory 4G")]
pub(crate) struct Consensus {
    /// The ensemble: one column of labels per base clustering
    #[arg(required_unless_present = "list")]
    pub(crate) ensemble: Option<PathBuf>,
    /// The consensus function; --list shows them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// Number of clusters, or auto: that of eigengap, PAC and lifetime where these agree and none
    /// has a warning, that of eigengap and lifetime where it is more than the directions, else the
    /// geometric mean of these three, drawn towards 7 the more they differ [default: as many as the
    /// method itself finds, and auto for methods that find none]
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<Count>,
    /// Use only these base clusterings, for instance 3,17,20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) columns: Vec<usize>,
    /// The column that tells rows apart: no base clustering, and written beside the labels
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Combine a sample of so many distinct rows, and place the others by their labels
    #[arg(long, value_name = "ROWS")]
    pub(crate) sample: Option<usize>,
    /// A parameter of the method; --list shows which it takes
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// Where the labels go: a new folder with a file for each file of the ensemble, or a name
    /// ending in .parquet for an ensemble in one file
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    /// Where the memberships go, as the labels: one column of probabilities per cluster
    #[arg(long, value_name = "PLACE")]
    pub(crate) soft: Option<PathBuf>,
    /// Say how far the result can be trusted: agreement with the members, confidence, stability
    #[arg(long)]
    pub(crate) diagnose: bool,
    /// Print the methods with their papers
    #[arg(long)]
    pub(crate) list: bool,
    /// True labels, a table of one column: adds every score of the result; needs -o
    #[arg(long, value_name = "TABLE", requires = "output")]
    pub(crate) truth: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A number of clusters, or the wish that one be found.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    /// So many.
    Fixed(usize),
    /// Chosen by several criteria.
    Auto,
}

impl FromStr for Count {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Count::Auto),
            _ => text.parse().map(Count::Fixed).map_err(|_| "expected a whole number or auto"),
        }
    }
}

/// Arguments of `generate`.
#[derive(Args)]
#[command(after_help = "Example: consilience-engine generate features/ -o pool/ --members 30 \
                        --clusters 10..30 --feature-fraction 0.5")]
pub(crate) struct Generate {
    /// Features: columns of numbers
    pub(crate) features: PathBuf,
    /// Where the ensemble goes: a new folder with a file for each file of features, or a name
    /// ending in .parquet for features in one file
    #[arg(short, long, value_name = "ENSEMBLE")]
    pub(crate) output: PathBuf,
    /// Number of base clusterings
    #[arg(long, value_name = "M", default_value_t = 20)]
    pub(crate) members: usize,
    /// Number of clusters, drawn for each member from this range, both ends included [default: 2
    /// to the root of the number of objects, to 50 at most, and to 10 or half of them where they
    /// are fewer than 100]
    #[arg(long, value_name = "A..B")]
    pub(crate) clusters: Option<String>,
    /// The base clusterer: kmeans, minibatch or uspec
    #[arg(long, value_name = "NAME", default_value = "kmeans")]
    pub(crate) method: String,
    /// A parameter of the method: minibatch takes batch and batches; uspec representatives,
    /// neighbours, regularization and restarts
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// Brings features to a common scale: none, minmax or zscore
    #[arg(long, value_name = "NAME", default_value = "none")]
    pub(crate) scale: String,
    /// Share of the features that each member sees, chosen at random
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    pub(crate) feature_fraction: f64,
    /// Share of the objects that each member labels, chosen at random
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    pub(crate) object_fraction: f64,
    /// Objects that k-means members are started from [default: all that fit in memory, else
    /// 262144]; fewer than there are keep other methods from holding all in memory
    #[arg(long, value_name = "OBJECTS")]
    pub(crate) sample: Option<usize>,
    /// Most passes over all objects that move centres of k-means, where not all fit in memory
    #[arg(long, value_name = "P", default_value_t = 10)]
    pub(crate) passes: usize,
    /// The column that tells rows apart: no feature, and written beside the labels
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `update`.
#[derive(Args)]
#[command(after_help = "Example: consilience-engine update pool/ --constraints pairs.csv \
                        --clusters 10 --state pool.state -o labels/")]
pub(crate) struct Update {
    /// The ensemble: one column of labels per base clustering
    pub(crate) ensemble: PathBuf,
    /// New pairs: CSV rows i,j,link or i,j,link,batch with link must or cannot; objects are
    /// numbered through all files
    #[arg(long, value_name = "FILE", required_unless_present = "state")]
    pub(crate) constraints: Option<PathBuf>,
    /// Where the links so far are kept: resumed from if it is there, written at the end
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<PathBuf>,
    /// The consensus that members are aligned to: a consensus function by its name; a stored state
    /// has it
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) method: String,
    /// Number of clusters; a stored state knows it [default: as many as the method itself finds]
    #[arg(long, value_name = "K")]
    pub(crate) clusters: Option<usize>,
    /// How the clustering follows: metric, completion, or by the weights of the members exact,
    /// additive or multiplicative [default: metric, or that of the stored state]
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Option<String>,
    /// Use only these base clusterings, for instance 3,17,20
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) columns: Vec<usize>,
    /// The column that tells rows apart: no base clustering, and written beside the labels
    #[arg(long, value_name = "COLUMN")]
    pub(crate) id: Option<String>,
    /// Where the labels go: a new folder with a file for each file of the ensemble, or a name
    /// ending in .parquet for an ensemble in one file
    #[arg(short, long, value_name = "LABELS")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `score`.
#[derive(Args)]
#[command(after_help = "Example: consilience-engine score labels/ truth.parquet")]
pub(crate) struct Score {
    /// The clustering: one column of labels
    pub(crate) labels: PathBuf,
    /// The truth, or another clustering of the same objects
    pub(crate) truth: PathBuf,
    /// The column of the clustering [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
    /// The column of the truth [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) truth_column: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Arguments of `make`.
#[derive(Args)]
#[command(
    after_help = "Example: consilience-engine make ensemble pool/ --files 10 --rows 1000000 \
                        --columns 20 --distinct 3000"
)]
pub(crate) struct Make {
    /// What is made
    pub(crate) what: What,
    /// A new folder
    pub(crate) output: PathBuf,
    /// Number of files
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) files: usize,
    /// Rows of each file
    #[arg(long, value_name = "N", default_value_t = 250_000)]
    pub(crate) rows: u64,
    /// Base clusterings, or features
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) columns: usize,
    /// Distinct rows of an ensemble; 0 to draw each row by itself
    #[arg(long, value_name = "N", default_value_t = 3000)]
    pub(crate) distinct: usize,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What `make` makes.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum What {
    /// Base clusterings that follow ten classes most of the time
    Ensemble,
    /// Ten heaps of normal numbers
    Features,
}
