//! What the feature `serde` writes: plain fields, from which every type is built again by its own
//! checks, so that damaged bytes are refused with the error that the constructor gives.

mod clustering;
mod fields;
mod parts;
mod table;

pub(crate) use fields::{
    ConstraintsFields, DendrogramFields, EnsembleFields, MembershipsFields, PartitionFields,
    SideInformationFields,
};
pub use parts::{Kind, Parts, Restored};
pub use table::Table;
