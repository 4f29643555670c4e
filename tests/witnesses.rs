//! The published methods against golden values that lie in the repository: computed from the
//! papers' formulas over single objects, by a program that uses nothing of the library
//! (`eval/src/bin/witnesses`, see `tests/witnesses/README.md`). A checkout alone is enough.

use std::path::Path;

use consilience::bregman::{KullbackLeibler, Pcc, Solver, SquaredEuclidean, Start};
use consilience::completion::{
    Basis, CompletionSolver, Eigenvectors, LossWeight, Mccc, ObservedPairs, Penalty,
    RobustCompletion,
};
use consilience::consensus::{GpMgla, LocallyWeighted, Lwea, Lwgp, Weac, WeightedCoAssociation};
use consilience::graph::{
    ClusterIncidence, ensemble_driven_cluster_index, normalized_crowd_agreement,
};
use consilience::ndarray::{Array2, ArrayView2};
use consilience::simplex::{
    AdditiveUpdate, ExactUpdate, MultiplicativeUpdate, UpdateRule, WeightUpdater,
    WeightUpdaterSetup,
};
use consilience::walk::{ProbabilityTrajectories, Pta, Ptgp};
use consilience::{
    ConsensusFunction, Constraints, Dendrogram, Ensemble, Hierarchy, Linkage, Microclusters, Pair,
    Partition, SideInformation, Similarity, SimilarityGraph,
};
use serde_json::Value;

/// Golden values have twelve digits; sums of a few hundred terms add some units of the last place.
const CLOSE: f64 = 1e-10;
/// A few steps of 2^-31, the grid on which the updater keeps weights.
const GRID: f64 = 2e-9;
/// Eigenvalues of completed matrices below this are the solver's rounding.
const SMALL: f64 = 1e-3;

/// One case of a file.
struct Case(Value);

fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("witnesses/{file}.json"));
    let text = std::fs::read_to_string(path).unwrap();
    let Value::Array(cases) = serde_json::from_str(&text).unwrap() else { panic!("{file}") };
    assert!(cases.len() > 2, "{file}");
    cases.into_iter().map(Case).collect()
}

impl Case {
    fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    fn whole(&self, key: &str) -> usize {
        self.0[key].as_u64().unwrap() as usize
    }

    fn number(&self, key: &str) -> f64 {
        self.0[key].as_f64().unwrap()
    }

    fn numbers(&self, key: &str) -> Vec<f64> {
        numbers(&self.0[key])
    }

    fn rows(&self, key: &str) -> Vec<Vec<f64>> {
        self.0[key].as_array().unwrap().iter().map(numbers).collect()
    }

    fn partition(&self, key: &str) -> Partition {
        partition(&self.0[key])
    }

    fn ensemble(&self) -> Ensemble {
        let members = self.0["members"].as_array().unwrap();
        Ensemble::new(members.iter().map(partition).collect()).unwrap()
    }

    /// (i, j, value).
    fn pairs(&self, key: &str) -> Vec<(usize, usize, f64)> {
        let pair = |p: &Vec<f64>| (p[0] as usize, p[1] as usize, p[2]);
        self.rows(key).iter().map(pair).collect()
    }

    fn links(&self, key: &str) -> Vec<Pair> {
        let link = |&(i, j, must): &(usize, usize, f64)| {
            if must > 0.0 { Pair::must_link(i, j) } else { Pair::cannot_link(i, j) }
        };
        self.pairs(key).iter().map(link).collect()
    }

    fn near(&self, key: &str, found: f64, tolerance: f64) {
        let expected = self.number(key);
        let far = (found - expected).abs() / expected.abs().max(1.0);
        assert!(far < tolerance, "{}, {key}: {found} instead of {expected}", self.name());
    }

    fn all_near(&self, key: &str, found: &[f64], tolerance: f64) {
        let expected = self.numbers(key);
        assert_eq!(found.len(), expected.len(), "{}, {key}", self.name());
        for (at, (f, e)) in found.iter().zip(&expected).enumerate() {
            let far = (f - e).abs() / e.abs().max(1.0);
            assert!(far < tolerance, "{}, {key}, {at}: {f} instead of {e}", self.name());
        }
    }

    fn same(&self, key: &str, found: &Partition) {
        assert_eq!(found.to_signed(), self.partition(key).to_signed(), "{}, {key}", self.name());
    }

    /// The rows of a similarity of objects that were written, but for its diagonal.
    fn first_rows(&self, key: &str, graph: &SimilarityGraph) {
        let node = graph.grouping().of_object();
        for (i, row) in self.rows(key).iter().enumerate() {
            for (j, expected) in row.iter().enumerate().filter(|(j, _)| node[*j] != node[i]) {
                let found = graph.weights()[[node[i] as usize, node[j] as usize]];
                assert!((found - expected).abs() < CLOSE, "{}, {key}, {i} {j}", self.name());
            }
        }
    }

    /// A tree's cut, and the similarities of its last merges.
    fn tree(&self, key: &str, tree: &Dendrogram, found: &Partition) {
        self.same(key, found);
        let last = &tree.merges()[tree.n_leaves() - self.whole("clusters")..];
        let similarities: Vec<f64> = last.iter().map(|m| 1.0 - m.height).collect();
        self.all_near(&format!("{key}_merges"), &similarities, CLOSE);
    }
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// A character for each object, a point where it is unlabelled.
fn partition(labels: &Value) -> Partition {
    let label = |c: char| c.to_digit(36).map_or(-1, i64::from);
    Partition::from_labels(&labels.as_str().unwrap().chars().map(label).collect::<Vec<_>>())
        .unwrap()
}

fn table(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

#[test]
fn probability_trajectories() {
    for case in cases("walks") {
        let (e, k) = (case.ensemble(), case.whole("clusters"));
        let (neighbours, steps) = (case.whole("elite_neighbours"), case.whole("walk_length"));
        let default = case.name().contains("default");
        let mut pts = ProbabilityTrajectories::default().published();
        if !default {
            pts = pts.elite_neighbours(neighbours).walk_length(steps);
        }
        let graph = pts.similarity(&e).unwrap();
        for (i, row) in case.rows("similarity_below_diagonal").iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                let found = graph.weights()[[i, j]];
                assert!((found - expected).abs() < CLOSE, "{}, {i} {j}: {found}", case.name());
            }
        }
        for (key, linkage) in [
            ("average", Linkage::Average),
            ("complete", Linkage::Complete),
            ("single", Linkage::Single),
        ] {
            let mut pta = Pta::new(k).published().linkage(linkage);
            if !default {
                pta = pta.elite_neighbours(neighbours).walk_length(steps);
            }
            let (_, tree) = pta.dendrogram(&e, &()).unwrap();
            case.tree(key, &tree, &pta.consensus(&e).unwrap());
        }
    }
}

#[test]
fn transfer_cut_of_trajectories() {
    for case in cases("walks") {
        let (e, k) = (case.ensemble(), case.whole("clusters"));
        let (neighbours, steps) = (case.whole("elite_neighbours"), case.whole("walk_length"));
        let mut ptgp = Ptgp::new(k).published().restarts(50);
        if !case.name().contains("default") {
            ptgp = ptgp.elite_neighbours(neighbours).walk_length(steps);
        }
        let graph = ptgp.bipartite(&Microclusters::of(&e).unwrap()).unwrap();
        for (i, row) in case.rows("bipartite_first_rows").iter().enumerate() {
            for (c, expected) in row.iter().enumerate() {
                let found = graph.weights[[i, c]];
                assert!((found - expected).abs() < CLOSE, "{}, {i} {c}: {found}", case.name());
            }
        }
        let found = ptgp.fit(&e, &()).unwrap();
        case.same("ptgp", &found.output);
        case.near("ptgp_inertia", found.report.objective.unwrap(), 1e-8);
    }
}

#[test]
fn weighted_members() {
    for case in cases("weights") {
        let (e, k) = (case.ensemble(), case.whole("clusters"));
        let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
        let agreement = normalized_crowd_agreement(&incidence, &()).unwrap();
        case.all_near("crowd_agreement", &agreement, CLOSE);
        let graph = WeightedCoAssociation::default().similarity(&e).unwrap();
        case.first_rows("weac_first_rows", &graph);
        let weac = Weac::new(k);
        let (_, tree) = weac.dendrogram(&e, &()).unwrap();
        case.tree("weac", &tree, &weac.consensus(&e).unwrap());
        case.same("gp_mgla", &GpMgla::new(k).consensus(&e).unwrap());
    }
}

#[test]
fn weighted_clusters() {
    for case in cases("weights") {
        let (e, k) = (case.ensemble(), case.whole("clusters"));
        let incidence = ClusterIncidence::of(&Microclusters::of(&e).unwrap()).unwrap();
        let index = ensemble_driven_cluster_index(&incidence, 0.4, &()).unwrap();
        case.all_near("cluster_index", &index, CLOSE);
        let graph = LocallyWeighted::default().similarity(&e).unwrap();
        case.first_rows("locally_weighted_first_rows", &graph);
        let lwea = Lwea::new(k);
        let (_, tree) = lwea.dendrogram(&e, &()).unwrap();
        case.tree("lwea", &tree, &lwea.consensus(&e).unwrap());
        let found = Lwgp::new(k).restarts(50).fit(&e, &()).unwrap();
        case.same("lwgp", &found.output);
        case.near("lwgp_inertia", found.report.objective.unwrap(), 1e-8);
    }
}

#[test]
fn robust_completion() {
    for case in cases("completion").iter().filter(|c| c.name().starts_with("rmc")) {
        let observed = ObservedPairs::new(case.whole("objects"), &case.pairs("known")).unwrap();
        let found = RobustCompletion::new()
            .penalty(Penalty::Absolute(case.number("c")))
            .tolerance(1e-9)
            .max_iterations(100_000)
            .complete(&observed)
            .unwrap();
        case.near("objective", found.objective, 1e-8);
        let mut values: Vec<f64> =
            found.values.iter().copied().filter(|v| v.abs() > SMALL).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        case.all_near("eigenvalues", &values, 1e-4);
        for (i, row) in case.rows("completed_first_rows").iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                let entry = found.entry(i, j);
                assert!((entry - expected).abs() < 1e-4, "{}, {i} {j}: {entry}", case.name());
            }
        }
    }
}

#[test]
fn completion_in_a_basis() {
    for case in cases("completion").iter().filter(|c| c.name().starts_with("mccc")) {
        let (x, k) = (table(&case.rows("features")), case.whole("clusters"));
        let mut constraints = Constraints::new(x.nrows()).unwrap();
        constraints.extend(&case.links("links")).unwrap();
        let side = SideInformation::from_constraints(&constraints);
        // The thesis's problem, solved exactly: free, with its read-out, and as ours has it.
        let published = Mccc::new(k)
            .published()
            .loss_weight(LossWeight::Fixed(case.number("c")))
            .solver(CompletionSolver::Accelerated)
            .tolerance(1e-11)
            .max_iterations(100_000);
        let free = published.fit_completed(x.view(), &side, &()).unwrap();
        assert_eq!(free.output.similarity.basis(), Some(Basis::RawSingular));
        case.near("objective", free.report.objective.unwrap(), 1e-8);
        case.same("leading_eigenvectors", &free.output.clustering.partition);
        let ours = published.clone().semidefinite(true).read_out(Eigenvectors::Scaled);
        let ours = ours.fit_completed(x.view(), &side, &()).unwrap();
        case.near("semidefinite_objective", ours.report.objective.unwrap(), 1e-8);
        for (i, row) in case.rows("semidefinite_similarity_first_rows").iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                let found = ours.output.similarity.between(i, j).unwrap();
                assert!((found - expected).abs() < 1e-4, "{}, {i} {j}: {found}", case.name());
            }
        }
        // Algorithm 1, stochastic and of rank k where the optimum has more, comes near from above.
        let stochastic = published.solver(CompletionSolver::Stochastic).max_iterations(2000);
        let stochastic = stochastic.fit_completed(x.view(), &side, &()).unwrap();
        let ratio = stochastic.report.objective.unwrap() / case.number("objective");
        assert!((1.0 - 1e-9..1.1).contains(&ratio), "{}: {ratio}", case.name());
    }
}

/// Inner products of memberships: the same whatever the clusters are called.
fn products(y: ArrayView2<'_, f64>) -> Array2<f64> {
    y.dot(&y.t())
}

#[test]
fn probabilistic_consensus() {
    for case in cases("pcc") {
        let (e, k) = (case.ensemble(), case.whole("clusters"));
        let expected = products(table(&case.rows("memberships")).view());
        let pcc = Pcc::new(k).start(Start::Partition(case.partition("start"))).tolerance(1e-9);
        let pcc = if case.name().starts_with("kl") {
            pcc.divergence(KullbackLeibler)
        } else {
            pcc.divergence(SquaredEuclidean)
        };
        // The paper's algorithm over single objects, and the default from the same start.
        let published = pcc.clone().solver(Solver::LineSearch).collapse(false);
        for pcc in [published.max_iterations(10_000_000), pcc] {
            let found = pcc.fit(&e, &()).unwrap();
            case.near("objective", found.report.objective.unwrap(), 1e-8);
            let off = &products(found.output.values()) - &expected;
            let worst = off.iter().fold(0.0f64, |m, d| m.max(d.abs()));
            assert!(worst < 1e-4, "{}: {worst}", case.name());
        }
    }
}

fn updater(case: &Case, rule: impl Into<UpdateRule>) -> WeightUpdater {
    let setup = WeightUpdaterSetup::new(case.whole("clusters")).rule(rule);
    setup.updater(case.ensemble()).unwrap()
}

#[test]
fn weights_that_follow_links() {
    for case in cases("updates") {
        let (first, second) = (case.links("first_links"), case.links("second_links"));
        let mut exact = updater(&case, ExactUpdate::default().balance(false).gap(1e-12));
        for (batch, links) in [("first", &first), ("second", &second)] {
            let report = exact.update(links).unwrap();
            case.near(&format!("exact_{batch}_objective"), report.objective, 1e-8);
            case.all_near(&format!("exact_{batch}"), &exact.weights(), 1e-6);
        }
        case.same("exact_partition", &exact.partition().unwrap());
        // Eq. 11 with its C: step = C m p / (2 lambda), lambda = p.
        let step = 0.5 * case.number("additive_c") * exact.weights().len() as f64;
        let mut additive = updater(&case, AdditiveUpdate::default().balance(false).step(step));
        additive.update(&first).unwrap();
        case.all_near("additive_first", &additive.weights(), GRID);
        let step = case.number("multiplicative_step");
        let rule = MultiplicativeUpdate::default().balance(false).step(step);
        let mut multiplicative = updater(&case, rule);
        for (batch, links) in [("first", &first), ("second", &second)] {
            multiplicative.update(links).unwrap();
            case.all_near(&format!("multiplicative_{batch}"), &multiplicative.weights(), GRID);
        }
    }
}
