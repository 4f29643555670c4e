//! The settings and the run that CSPA and HGPA share.

/// Makes a consensus function of a struct around a `CliqueCut`; `$weight` is that of a cluster of
/// so many objects, and `$accepts` what members it takes.
macro_rules! clique_method {
    ($method:ident, $name:literal, $accepts:ident, $weight:expr) => {
        $crate::cuts::clique_method::clique_settings!($method);

        impl consilience_core::NodeConsensus for $method {
            type Output = consilience_core::Partition;

            fn name(&self) -> &str {
                $name
            }

            fn clusters(&self) -> consilience_core::Clusters {
                self.0.clusters()
            }

            fn accepts(&self) -> consilience_core::Accepts {
                consilience_core::Accepts::$accepts
            }

            fn check(
                &self,
                _ensemble: &consilience_core::Ensemble,
            ) -> consilience_core::Result<()> {
                self.0.check()
            }

            fn nodes(
                &self,
                ensemble: &consilience_core::Ensemble,
                observer: &dyn consilience_core::Observer,
            ) -> consilience_core::Result<consilience_core::Microclusters> {
                consilience_core::Microclusters::observed(ensemble, observer)?
                    .canonical_observed(observer)
            }

            fn solve(
                &self,
                nodes: &consilience_core::Microclusters,
                report: &mut consilience_core::Report,
                observer: &dyn consilience_core::Observer,
            ) -> consilience_core::Result<Vec<usize>> {
                report.inner_stage("partition", |inner| {
                    self.0.cliques(nodes, $weight, inner, observer)
                })
            }
        }
    };
}

/// The constructor and the setters of a struct around a `CliqueCut`.
macro_rules! clique_settings {
    ($method:ident) => {
        impl $method {
            #[doc = concat!("`", stringify!($method), "` by the spectral cut; [`Clusters::Auto`]")]
            /// is the widest gap between eigenvalues.
            ///
            /// [`Clusters::Auto`]: consilience_core::Clusters::Auto
            pub fn new(clusters: impl Into<consilience_core::Clusters>) -> Self {
                $method(consilience_graph::CliqueCut::new(clusters))
            }

            consilience_core::setters! {
                /// What divides the graph. Default the spectral cut.
                pub fn cut_method(mut self, method: consilience_graph::CutMethod) {
                    self.0 = self.0.cut_method(method)
                }

                /// k-means starts of the spectral cut. Default 10; 1 to 10,000.
                pub fn restarts(mut self, restarts: usize) { self.0 = self.0.restarts(restarts) }

                /// Seed of the cut. Default `Seed(0)`.
                pub fn seed(mut self, seed: consilience_core::Seed) { self.0 = self.0.seed(seed) }

                /// How much memory the matrices may take. Default 8 GiB.
                pub fn memory_budget(mut self, budget: consilience_core::MemoryBudget) {
                    self.0 = self.0.memory_budget(budget)
                }
            }
        }
    };
}

pub(crate) use {clique_method, clique_settings};
