//! The engine's tests on tables, in one program: each would be linked with all of DataFusion.

mod common;
mod damage;
mod equal;
mod follow;
mod generate;
mod remote;
mod soft;
mod streamed;
