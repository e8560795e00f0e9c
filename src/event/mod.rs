//! The events: generated types of all wires, the tracker and the fold of the native ones.

mod fold;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod number;
mod partial_json;
#[cfg(test)]
pub(crate) mod sample;
mod tag;
pub mod tracker;
#[allow(
    clippy::all,
    clippy::pedantic,
    reason = "generated; names and sizes are the schema's"
)]
#[rustfmt::skip]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/quipu.rs"));
}

/// What only the senpi wire has.
#[allow(
    clippy::all,
    clippy::pedantic,
    unused_imports,
    reason = "generated; names and sizes are the schema's"
)]
#[rustfmt::skip]
mod senpi {
    include!(concat!(env!("OUT_DIR"), "/senpi.rs"));
}

/// What only the dreb wire has.
#[allow(
    clippy::all,
    clippy::pedantic,
    unused_imports,
    reason = "generated; names and sizes are the schema's"
)]
#[rustfmt::skip]
mod dreb {
    include!(concat!(env!("OUT_DIR"), "/dreb.rs"));
}

pub use dreb::*;
pub use fold::*;
pub use generated::*;
pub use number::Number;
pub use partial_json::{JsonFault, MAX_DEPTH, OpenText, PartialJson};
pub use senpi::*;
