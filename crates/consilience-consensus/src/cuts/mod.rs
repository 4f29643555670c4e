//! Cuts of graphs of objects, of clusters, or of both.

mod clique_method;
mod cspa;
mod ecpcs_mc;
mod gp_mgla;
mod hbgf;
mod hgpa;
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

/// A membership in multiples of 2^-30, so that sums over members are exact in any order.
fn on_grid(membership: f64) -> f64 {
    const UNITS: f64 = (1u64 << 30) as f64;
    (membership * UNITS).round() / UNITS
}
