//! `consilience consensus --edges`: methods over the edges of a network.

use consilience::catalogue::AnyConsensus;
use consilience::consensus::{NetworkComponents, NetworkLinkage, NetworkPropagation};
use consilience::core::Named;
use consilience::graph::Network;
use consilience::{Clusters, ConsensusFunction, Linkage, Partition, Seed};

use crate::args::{Consensus, Count};
use crate::choices::{Choice, among, choice, count, find, number};
use crate::failure::Outcome;

/// What `--method` is where nothing is said.
const USUAL: &str = "network-propagation";

/// The one method that makes as many clusters as are asked for.
const LINKAGE: &str = "network-linkage";

/// What a method works on.
pub(crate) struct Ask {
    network: Network,
    clusters: Clusters,
    seed: Seed,
}

/// `--method`.
pub(crate) static METHODS: [Choice<AnyConsensus, Ask>; 3] = [
    choice!("network-propagation",
        [
            "nodes take over the label that co-association of edges gives most weight",
            "Raghavan, Albert & Kumara, Physical Review E 76, 2007",
        ],
        hard,
        |ask: &Ask| NetworkPropagation::new(ask.network.clone()).seed(ask.seed),
        threshold: number => NetworkPropagation::threshold;
            ["edges of less co-association are left out", "0", "at most 1"],
        max_iterations: count => NetworkPropagation::max_iterations;
            ["passes over all nodes at most", "100", "at least 1"],
    ),
    choice!("network-components",
        [
            "components of the edges on which enough members agree",
            "Lancichinetti & Fortunato, Scientific Reports 2, 2012; Tandon et al., 2019",
        ],
        hard,
        |ask: &Ask| NetworkComponents::new(ask.network.clone()),
        threshold: number => NetworkComponents::threshold;
            ["least co-association of an edge that joins its ends", "0.5", "above 0, at most 1"],
    ),
    choice!("network-linkage",
        [
            "the two clusters whose edges members keep together most are merged first",
            "no paper: consilience::consensus::NetworkLinkage describes it",
        ],
        hard,
        |ask: &Ask| NetworkLinkage::new(ask.network.clone(), ask.clusters),
        linkage: among(&Linkage::NAMES[..3]) => NetworkLinkage::linkage;
            [
                "how the edges between two clusters count: by their mean, the best or the worst",
                "average",
                "single, average, complete",
            ],
    ),
];

fn hard(method: impl ConsensusFunction<Output = Partition> + 'static) -> AnyConsensus {
    AnyConsensus::Hard(Box::new(method))
}

/// Whether a method needs the edges of a network.
pub(crate) fn needs_edges(method: &str) -> bool {
    METHODS.iter().any(|choice| choice.name == method)
}

/// A consensus function on a network that is yet to be read.
pub(crate) struct Request<'a> {
    method: &'static Choice<AnyConsensus, Ask>,
    clusters: Clusters,
    seed: Seed,
    params: &'a [String],
}

impl<'a> Request<'a> {
    /// Refuses at once what can be.
    pub(crate) fn parse(args: &'a Consensus) -> Outcome<Self> {
        let name = if args.method == "auto" { USUAL } else { &args.method };
        let method = find("--edges: --method", name, &METHODS)?;
        if let Some(Count::Fixed(k)) = args.clusters {
            ensure!(
                name == LINKAGE,
                "--clusters {k}: {name} finds the number of clusters itself; expected --method \
                 {LINKAGE}"
            );
        }
        let clusters = args.clusters.unwrap_or(Count::Auto).into();
        let request =
            Request { method, clusters, seed: Seed(args.common.seed), params: &args.params };
        request.on(Network::new(1, [])?)?;
        Ok(request)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.method.name
    }

    /// The function on this network.
    pub(crate) fn on(&self, network: Network) -> Outcome<AnyConsensus> {
        let ask = Ask { network, clusters: self.clusters, seed: self.seed };
        self.method.build(&ask, self.params)
    }
}
