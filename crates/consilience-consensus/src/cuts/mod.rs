//! Cuts of graphs of objects, of clusters, or of both.

mod clique_method;
mod cspa;
mod ecpcs_mc;
mod gp_mgla;
mod hbgf;
mod hgpa;
mod incidence_cut;
mod lwgp;
mod mcla;
mod usenc;

pub use cspa::Cspa;
pub use ecpcs_mc::EcpcsMc;
pub use gp_mgla::GpMgla;
pub use hbgf::Hbgf;
pub use hgpa::Hgpa;
pub use lwgp::Lwgp;
pub use mcla::Mcla;
pub use usenc::USenc;
