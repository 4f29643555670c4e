//! Consensus on the edges of a network: 3 million nodes, 20 million edges, 20 clusterings.

use consilience::consensus::{NetworkComponents, NetworkLinkage, NetworkPropagation};
use consilience::graph::Network;
use consilience::{ConsensusFunction, Ensemble, Partition, Seed};
use criterion::{Criterion, criterion_group, criterion_main};

const NODES: usize = 3_000_000;
const EDGES: usize = 20_000_000;
const MEMBERS: u64 = 20;
/// Nodes of a community.
const COMMUNITY: usize = 300;

/// Four of five edges inside of communities.
fn network() -> Network {
    let mut stream = Seed(1).stream();
    let pair = |_| loop {
        let i = stream.below(NODES);
        let j = match stream.below(5) {
            0 => stream.below(NODES),
            _ => i / COMMUNITY * COMMUNITY + stream.below(COMMUNITY),
        };
        if i != j {
            return (i, j);
        }
    };
    Network::new(NODES, (0..EDGES).map(pair)).expect("a network")
}

/// Members that join some neighbouring communities, and err about one node in twenty.
fn ensemble() -> Ensemble {
    let communities = NODES / COMMUNITY;
    let member = |m: u64| {
        let mut stream = Seed(2).derive("member", m).stream();
        let mut joined: Vec<usize> = (0..communities).collect();
        for c in 1..communities {
            if stream.below(10) == 0 {
                joined[c] = joined[c - 1];
            }
        }
        let labels: Vec<u64> = (0..NODES)
            .map(|i| match stream.below(20) {
                0 => stream.below(communities) as u64,
                _ => joined[i / COMMUNITY] as u64,
            })
            .collect();
        Partition::from_labels(&labels).expect("a member")
    };
    Ensemble::new((0..MEMBERS).map(member).collect()).expect("an ensemble")
}

fn networks(c: &mut Criterion) {
    let (network, ensemble) = (network(), ensemble());
    let methods: [Box<dyn ConsensusFunction<Output = Partition>>; 3] = [
        Box::new(NetworkComponents::new(network.clone())),
        Box::new(NetworkLinkage::new(network.clone(), NODES / COMMUNITY)),
        Box::new(NetworkPropagation::new(network.clone())),
    ];
    let mut group = c.benchmark_group("network of 3000000 nodes, 20000000 edges, 20 members");
    group.sample_size(10);
    for method in &methods {
        group.bench_function(method.name(), |b| {
            b.iter(|| method.consensus(&ensemble).expect("clusters"));
        });
    }
    group.finish();
}

criterion_group!(benches, networks);
criterion_main!(benches);
